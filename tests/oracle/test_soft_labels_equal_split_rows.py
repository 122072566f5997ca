"""A soft label q is a positive row of weight q and a negative row of weight 1 − q."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest
from sklearn import metrics as sk

import halftruth as ht
from halftruth._registry import REGISTRY

from .agreement import assert_same
from .cases import SCORES, Case, draw_scores
from .references import REFERENCES, tolerance_of
from .rows import Rows, labeled_rows
from .test_labeled_equals_scikit_learn import calls


@dataclass(frozen=True, eq=False)
class SoftCase(Case):
    """Rows split in two for scikit-learn; whole, with their soft labels, for the naive loops."""

    soft: tuple[np.ndarray, np.ndarray, np.ndarray | None]

    @cached_property
    def evidence(self) -> ht.SoftLabeled:
        q, score, weight = self.soft
        return ht.SoftLabeled(q, score, sample_weight=weight)

    @cached_property
    def rows(self) -> Rows:
        return labeled_rows(*self.soft)


def draw_soft(scores: str, weighted: bool, seed: int) -> SoftCase:
    rng = np.random.default_rng([seed, weighted])
    n = (4, 30, 120)[seed % 3]
    q = rng.random(n) if weighted else rng.integers(0, 9, n) / 8
    q[:3] = 1, 0, 0.25
    score = draw_scores(scores, q, rng)
    weight = rng.exponential(size=n) + 0.01 if weighted else None
    full = np.ones(n) if weight is None else weight
    return SoftCase(
        name=f"{scores}, {'weights' if weighted else 'no weights'}, {n} rows",
        y=np.repeat([1, 0], n),
        score=np.tile(score, 2),
        weight=np.concatenate([full * q, full * (1 - q)]),
        soft=(q, score, weight),
    )


SOFT = [
    draw_soft(scores, weighted, seed)
    for seed, scores in enumerate(s for s in SCORES if s != "margins")
    for weighted in (False, True)
]
each_case = pytest.mark.parametrize("case", SOFT, ids=lambda case: case.name)


@each_case
def test_every_metric_of_soft_labels(case: SoftCase) -> None:
    for name, reference in REFERENCES.items():
        for kwargs in calls(name, case):
            ours = REGISTRY[name].function(case.evidence, **kwargs)
            assert_same(ours, reference(case, **kwargs), f"{name} {kwargs}", tolerance_of(name))


@each_case
def test_curves_of_soft_labels(case: SoftCase) -> None:
    curve = ht.roc_curve(case.evidence)
    fpr, tpr, threshold = sk.roc_curve(case.y, case.wide, sample_weight=case.weight, drop_intermediate=False)
    assert_same(curve.threshold, threshold)
    assert_same(curve.fpr, fpr)
    assert_same(curve.tpr, tpr)
    precision, recall, _ = sk.precision_recall_curve(case.y, case.wide, sample_weight=case.weight)
    pr = ht.precision_recall_curve(case.evidence)
    assert_same(pr.precision[1:], precision[-2::-1])
    assert_same(pr.recall[1:], recall[-2::-1])


@pytest.mark.parametrize("seed", range(5))
def test_votes_and_two_columns_are_the_same_soft_labels(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m = rng.integers(1, 9, 40)
    k = rng.integers(0, m + 1)
    score = rng.random(40).round(1)
    q = k / m
    wanted = sk.roc_auc_score(
        np.repeat([1, 0], 40), np.tile(score, 2), sample_weight=np.concatenate([q, 1 - q])
    )
    assert_same(ht.roc_auc(ht.SoftLabeled.from_votes(k, m, score)), wanted)
    assert_same(ht.roc_auc(ht.SoftLabeled(np.column_stack([1 - q, q]), score)), wanted)


def test_soft_labels_are_their_own_scores_where_none_are_given() -> None:
    q = np.array([0.0, 0.25, 0.5, 1.0])
    assert_same(ht.brier(ht.SoftLabeled(q)), np.mean(q * (1 - q)))
