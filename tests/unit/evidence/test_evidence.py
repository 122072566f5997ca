"""A new kind of evidence is one class: what other rooms ask of it has an answer already."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import halftruth as ht
from halftruth.evidence import KINDS, Evidence, as_evidence
from halftruth.evidence._labeled import labels_as_given

SOURCE = Path(ht.__file__).parent
ASKED = re.compile(r"isinstance\(.*(Labeled|PositiveUnlabeled|PositiveConfidence|Evidence)\b")


class Doubled(Evidence):
    """Labels of which every row stands for two: the least that a kind has to say."""

    kind = "doubled"

    def __init__(self, y_true, y_score):
        self.table = ht.Labeled(y_true, y_score).table

    def rule(self, sums, scenario):
        return labels_as_given(sums, self.table)

    def naive_measure(self):
        return None


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    score = rng.random(300)
    return rng.random(300) < score, score


def test_a_kind_of_a_few_lines_is_evaluated_as_the_labels_it_wraps(rows):
    names = ["roc_auc", "average_precision", "brier", "calibration_error"]
    found, labeled = (ht.evaluate(e, names, n_resamples=100) for e in (Doubled(*rows), ht.Labeled(*rows)))
    assert [found[n].value for n in names] == [labeled[n].value for n in names]
    assert found["roc_auc"].low == labeled["roc_auc"].low
    assert found["roc_auc"].naive is None


def test_a_new_kind_has_every_other_answer(rows, tmp_path):
    evidence = Doubled(*rows)
    assert ht.calibration_test(evidence, n_resamples=99).method == "centred bootstrap"
    assert ht.bayes_error(evidence, n_resamples=0).identified is not None
    assert ht.compare({"a": evidence, "b": Doubled(*rows)}, ["roc_auc"], n_resamples=50)["roc_auc"].value == 0
    result = ht.evaluate(evidence, ["roc_auc"], n_resamples=50)
    result.to_html(tmp_path / "page.html")
    assert json.dumps(result.to_dict())
    assert ht.cross_calibrate(evidence, n_folds=2).kind == "doubled"


def test_what_is_no_evidence_is_told_all_kinds():
    with pytest.raises(
        ht.InputError,
        match="Labeled, SoftLabeled, PositiveUnlabeled, PositiveConfidence or Reviewed, got list",
    ):
        as_evidence([1, 0])
    assert all(getattr(ht, kind.__name__) is kind for kind in KINDS)


def test_other_rooms_hardly_ever_ask_for_the_kind():
    lines = [
        f"{path.relative_to(SOURCE)}: {line.strip()}"
        for path in sorted(SOURCE.rglob("*.py"))
        if "evidence" not in path.relative_to(SOURCE).parts
        for line in path.read_text().splitlines()
        if ASKED.search(line)
    ]
    assert len(lines) <= 8, lines


def test_with_shares_keeps_rows_and_population():
    evidence = ht.PositiveUnlabeled([0.9, 0.8], [0.7, 0.3, 0.2], prior=0.4, population="all")
    other = evidence.with_shares(0.5, 0.95)
    assert other.table is evidence.table
    assert (other.population, other.prior.value, other.purity.value) == ("all", 0.5, 0.95)
    labeled = ht.Labeled([1, 0], [0.9, 0.1])
    assert labeled.with_shares(0.5) is labeled
