"""Tables: evidence made again from merged tables, and evidence that travels between processes."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import halftruth as ht

MODEL = ht.simulate.GaussianClasses(prior=0.3)
KINDS = {
    "labeled": lambda n, rng: MODEL.labeled(n, rng),
    "soft": lambda n, rng: MODEL.soft(n, rng),
    "confidence": lambda n, rng: MODEL.positive_confidence(n, rng),
    "pu": lambda n, rng: MODEL.positive_unlabeled(n // 4, n, rng, population="all"),
}


def remade(evidence, table):
    if isinstance(evidence, ht.PositiveUnlabeled):
        return ht.PositiveUnlabeled.from_table(table, prior=0.3, population="all")
    return type(evidence).from_table(table)


@pytest.mark.parametrize("kind", KINDS)
def test_evidence_from_a_merged_table_is_evidence_from_all_rows(kind):
    one, two = KINDS[kind](40, 1), KINDS[kind](60, 2)
    merged = remade(one, one.table.merge(two.table))
    assert len(merged.table) == len(one.table) + len(two.table)
    other = remade(one, two.table.merge(one.table))
    assert ht.roc_auc(merged) == ht.roc_auc(other)
    assert ht.brier(merged) == ht.brier(other)
    assert ht.roc_auc(merged) != ht.roc_auc(one)


@pytest.mark.parametrize("kind", KINDS)
def test_evidence_can_be_sent_to_another_process(kind):
    evidence = KINDS[kind](50, 3)
    for other in (pickle.loads(pickle.dumps(evidence)), copy.deepcopy(evidence)):
        assert ht.roc_auc(other) == ht.roc_auc(evidence)


def test_a_table_of_one_kind_makes_no_evidence_of_another():
    soft, confidence = MODEL.soft(10, 0).table, MODEL.positive_confidence(10, 0).table
    for build, table in (
        (ht.Labeled.from_table, soft),
        (ht.Labeled.from_table, confidence),
        (ht.SoftLabeled.from_table, confidence),
        (ht.PositiveConfidence.from_table, soft),
        (ht.PositiveUnlabeled.from_table, confidence),
    ):
        with pytest.raises(ht.InputError, match="got ScoreTable"):
            build(table)


def test_propensities_and_confidences_do_not_merge():
    confidence = ht.PositiveConfidence([0.9, 0.5]).table
    propensity = ht.PositiveUnlabeled([0.9, 0.5], [0.1], propensity=[0.5, 0.5], prior=0.3).table
    with pytest.raises(ht.MergeError, match="1/confidence, those of the other 1/propensity"):
        confidence.merge(propensity)


def test_a_measure_made_by_hand_is_checked():
    measure = ht.ScoreMeasure(score=[0.1, 0.9], mass=[1, 1], pos_mass=[0, 1])
    assert ht.roc_auc(measure) == 1.0
    with pytest.raises(ht.InputError, match="ascending"):
        ht.ScoreMeasure(score=np.array([0.9, 0.1]), mass=np.ones(2), pos_mass=np.array([1.0, 0.0]))


def test_a_table_of_many_classes_is_no_binary_one(tmp_path):
    many = ht.SoftLabeled([[0.4, 0.3, 0.3]] * 3).table
    with pytest.raises(ht.InputError, match="many classes come from arrays alone"):
        ht.SoftLabeled.from_table(many)
    with pytest.raises(ht.MergeError, match="largest of many classes"):
        many.merge(ht.SoftLabeled([0.4]).table)


def test_shares_of_votes_come_back_from_a_table_but_not_how_many_they_were(tmp_path):
    votes = ht.SoftLabeled.from_votes([0, 1, 3], 3, [0.2, 0.3, 0.9])
    votes.table.save(tmp_path / "votes.npz")
    back = ht.SoftLabeled.from_table(ht.ScoreTable.load(tmp_path / "votes.npz"))
    assert ht.brier(back) == ht.brier(votes)
    with pytest.raises(ht.InputError, match=r"how many votes.* Pass the votes: SoftLabeled\.from_votes"):
        ht.bayes_error(back)
    with pytest.raises(ht.MergeError, match="share of votes"):
        votes.table.merge(ht.SoftLabeled([0.4]).table)


def test_confidences_of_zero_are_saved_and_come_back(tmp_path):
    zero = ht.PositiveConfidence([0.0, 0.5, 1.0], prior=0.3)
    zero.table.save(tmp_path / "zero.npz")
    back = ht.PositiveConfidence.from_table(ht.ScoreTable.load(tmp_path / "zero.npz"), prior=0.3)
    assert back.confidences[0].tolist() == [0.0, 0.5, 1.0]
    assert ht.bayes_error(back).value == ht.bayes_error(zero).value
