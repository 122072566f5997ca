"""SoftLabeled: each row has the probability that it is positive."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from halftruth import checks
from halftruth.belief import Belief
from halftruth.errors import InputError
from halftruth.evidence.base import Evidence, Scenario
from halftruth.evidence.labeled import Labeled
from halftruth.measure import ScoreMeasure
from halftruth.rows import Rows
from halftruth.rule import MassRule
from halftruth.support import Sums
from halftruth.table import SOFT, ScoreTable


class SoftLabeled(Evidence):
    """Scores with soft labels q = P(Y=1 | x): μ̂ = Σ w δ_s, μ̂₁ = Σ w q δ_s.

    Parameters
    ----------
    q : (n,) or (n, 2) array in [0, 1]
        Probability of the positive class; of two columns the second.
    y_score : (n,) array, optional
        The scores to evaluate; q itself where left out.
    sample_weight : (n,) array, optional

    Examples
    --------
    >>> import halftruth as ht
    >>> round(ht.brier(ht.SoftLabeled([1.0, 0.5, 0.0], [0.8, 0.5, 0.2])), 12)
    0.11
    """

    kind: ClassVar[str] = "soft"
    assumption = "Assumes that the soft labels are P(positive | x), right on average."

    def __init__(self, q: Any, y_score: Any = None, *, sample_weight: Any = None) -> None:
        soft = checks.probabilities(_positive_column(checks.native(q, "q")), "q")
        if len(soft) == 0:
            raise InputError("`q` is empty. Pass at least one soft label.")
        score = checks.scores(soft if y_score is None else y_score, "y_score", length=len(soft))
        weight = checks.weights(sample_weight, "sample_weight", length=len(soft))
        self._set_table(
            ScoreTable({SOFT: Rows(score=score, weight=weight, value=soft, meaning="soft label")})
        )

    @classmethod
    def from_table(cls, table: ScoreTable) -> SoftLabeled:
        """Soft-labeled evidence from a table of such rows, e.g. merged ones."""
        remedy = "Use the evidence class that the table came from."
        out = cls.__new__(cls)
        checks.instance(table, "table", ScoreTable).need((SOFT,), "soft label", remedy)
        out._set_table(table)
        return out

    def _set_table(self, table: ScoreTable) -> None:
        self.table = table
        self.prior = Belief(value=None)
        self.purity = Belief(value=1.0)

    @classmethod
    def from_votes(cls, k: Any, m: Any, y_score: Any = None, *, sample_weight: Any = None) -> SoftLabeled:
        """Soft labels q = k/m from k positive votes out of m, for each row (m: a number or one a row)."""
        votes = checks.vector(k, "k")
        ballots = (
            np.full(len(votes), float(checks.count(m, "m", least=1)))
            if np.ndim(m) == 0
            else checks.vector(m, "m", length=len(votes))
        )
        bad = (votes < 0) | (votes > ballots) | (ballots < 1)
        if bad.any():
            first = int(np.argmax(bad))
            raise InputError(
                f"`k` must lie between 0 and `m`, and `m` be at least 1; got k={votes[first]:g}, "
                f"m={ballots[first]:g} at index {first} ({int(bad.sum())} such row(s))."
            )
        return cls(votes / ballots, y_score, sample_weight=sample_weight)

    def rule(self, sums: Sums, scenario: Scenario) -> MassRule:
        size = self.table.effective_rows()
        return MassRule(
            mass={(SOFT, "weight"): 1.0},
            pos_mass={(SOFT, "value"): 1.0},
            size=size,
            units={SOFT: self.table.unit()},
        )

    def naive_measure(self) -> ScoreMeasure:
        rows = self.table.strata[SOFT]
        assert rows.value is not None  # soft rows always carry q
        return Labeled(rows.value >= 0.5, rows.score, sample_weight=rows.weight).measure()


def _positive_column(q: NDArray[Any]) -> NDArray[Any]:
    if q.ndim == 2 and q.shape[1] == 2:
        return q[:, 1]
    if q.ndim == 2:
        raise InputError(
            f"`q` must have shape (n,) or (n, 2) for binary metrics, got {q.shape}. Pass one class against "
            f"the rest, e.g. q[:, 0]."
        )
    return q
