"""Labeled: every row has its class. Supervised evaluation is one evidence type among others."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from halftruth import _checks
from halftruth._checks import Vector
from halftruth.engines import tensors
from halftruth.evidence._evidence import Evidence, Scenario
from halftruth.measure._mass_rule import MassRule
from halftruth.measure._score_measure import ScoreMeasure
from halftruth.table._histogram import COMPILED
from halftruth.table._score_table import NEGATIVE, POSITIVE, UNLABELED, ScoreTable
from halftruth.table._strata import StratumRows
from halftruth.table._support import Sums

__all__ = ["Labeled", "labels_as_given"]

NAMES = ("y_score", "y_true", "sample_weight")


class Labeled(Evidence):
    """Scores with full labels: μ̂ = Σ w δ_s, μ̂₁ = Σ w y δ_s.

    Parameters
    ----------
    y_true : (n,) array of 0 and 1
    y_score : (n,) array
        Higher means more positive. Probabilities where a metric needs them.
    sample_weight : (n,) array, optional

    Examples
    --------
    >>> import halftruth as ht
    >>> evidence = ht.Labeled([1, 1, 0, 0], [0.9, 0.4, 0.6, 0.1])
    >>> ht.roc_auc(evidence)
    0.75
    """

    kind: ClassVar[str] = "labeled"
    is_proper = True
    bins_are_certified = True
    classes = (POSITIVE, NEGATIVE)
    null_models = ("labels", "signs")

    def __init__(self, y_true: Any, y_score: Any, *, sample_weight: Any = None) -> None:
        if tensors.on_device(y_score, y_true, sample_weight):
            strata = tensors.read(y_score, y_true, weight=sample_weight, names=NAMES)
            if UNLABELED not in strata:
                self.table = ScoreTable(strata)
                return
        score = _checks.scores(y_score, "y_score")
        positive = _checks.binary_labels(y_true, "y_true", length=len(score))
        weight = _checks.weights(sample_weight, "sample_weight", length=len(score))
        weights = (None, None) if weight is None else (weight[positive], weight[~positive])
        of_class = zip((POSITIVE, NEGATIVE), _by_class(score, positive), weights, strict=True)
        self.table = ScoreTable({name: StratumRows(score=s, weight=w) for name, s, w in of_class})

    @classmethod
    def from_table(cls, table: ScoreTable) -> Self:
        """Labeled evidence from a table of positive and negative rows."""
        remedy = "Use PositiveUnlabeled.from_table where rows are unlabeled."
        _checks.instance(table, "table", ScoreTable).need((POSITIVE, NEGATIVE), None, remedy)
        out = cls.__new__(cls)
        out.table = table
        return out

    def rule(self, sums: Sums, scenario: Scenario) -> MassRule:
        return labels_as_given(sums, self.table)

    def naive_measure(self) -> ScoreMeasure:
        return self.measure()


def labels_as_given(sums: Sums, table: ScoreTable) -> MassRule:
    """Known positives are the positives, every other row is a negative."""
    mass = {column: 1.0 for column in sums if column[1] == "weight"}
    return MassRule(
        mass=mass,
        pos_mass={(POSITIVE, "weight"): 1.0},
        size=table.effective_rows(),
        units=dict.fromkeys(table.strata, table.unit()),
    )


def _by_class(score: Vector, positive: NDArray[np.bool_]) -> tuple[Vector, Vector]:
    """The scores of the positives and of the others."""
    if len(score) < COMPILED:
        return score[positive], score[~positive]
    from halftruth.kernels._sorting import split

    return split(score, positive)
