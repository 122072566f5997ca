"""PositiveConfidence: positives only, each with its probability of being positive."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, Note, arg
from halftruth.evidence._evidence import Evidence, GivenShare, Scenario
from halftruth.evidence._selection import Extreme
from halftruth.measure._arithmetic import Number, integral
from halftruth.measure._mass_rule import MassRule, total
from halftruth.measure._score_measure import ScoreMeasure
from halftruth.prior._belief import Share, belief
from halftruth.table._score_table import POSITIVE, ScoreTable
from halftruth.table._strata import StratumRows
from halftruth.table._support import Sums

__all__ = ["PositiveConfidence"]

FEW_IN_EFFECT = 0.7  # share of the rows in effect below which a few of them carry the result


class PositiveConfidence(Evidence):
    """Positives with confidences r = P(Y=1 | x): μ̂ = Σ δ_s/r normalised, μ̂₁ = π P/n_P.

    E₊[1/r] = 1/π identifies the prior. E₊[1/r²] must be finite: a few tiny confidences can carry the
    whole population.

    Parameters
    ----------
    r : (n,) array in [0, 1]
        Confidence of each positive. Metrics divide by it, so that only `bayes_error` takes zeros.
    y_score : (n,) array, optional
        The scores to evaluate; r itself where left out.
    prior : float, (low, high), PriorEstimate or None
        π; identified by the confidences where left out.
    sample_weight : (n,) array, optional

    Examples
    --------
    >>> import halftruth as ht
    >>> evidence = ht.PositiveConfidence([1.0, 0.5, 0.25, 0.25])
    >>> round(evidence.measure().prior, 4)
    0.3636
    """

    kind: ClassVar[str] = "positive_confidence"
    prior_is_free = True
    holds_posteriors = True
    assumption = Note(
        "assumption",
        "Assumes that the positives are a random sample of the positives and the confidences are "
        "P(positive | x).",
    )

    def __init__(
        self, r: Any, y_score: Any = None, *, prior: GivenShare = None, sample_weight: Any = None
    ) -> None:
        confidence = _checks.probabilities(_checks.scores(r, "r"), "r")
        if not confidence.any():
            raise InputError(
                f"{arg('r')} is 0 for all {len(confidence)} positive(s): a case that cannot be positive is "
                "none. Pass P(positive | x) of each known positive."
            )
        score = _checks.scores(confidence if y_score is None else y_score, "y_score", length=len(confidence))
        weight = _checks.weights(sample_weight, "sample_weight", length=len(score))
        with np.errstate(divide="ignore"):
            rows = StratumRows(score=score, weight=weight, value=1 / confidence, meaning="1/confidence")
        self.table, self.prior = ScoreTable({POSITIVE: rows}), belief(prior, "prior")

    @classmethod
    def from_table(cls, table: ScoreTable, *, prior: GivenShare = None) -> Self:
        """Positive-confidence evidence from a table of such rows, e.g. merged ones."""
        remedy = "Use the evidence class that the table came from."
        out = cls.__new__(cls)
        _checks.instance(table, "table", ScoreTable).need((POSITIVE,), "1/confidence", remedy)
        out.table, out.prior = table, belief(prior, "prior")
        return out

    @property
    def confidences(self) -> tuple[Vector, Vector | None]:
        """The confidences r of the rows, and their weights."""
        rows = self.table.strata[POSITIVE]
        assert isinstance(rows, StratumRows)
        assert rows.value is not None  # rows carry 1/r
        return 1 / rows.value, rows.weight

    def identified_prior(self, sums: Sums, purity: Number, extreme: Extreme | None = None) -> Number:
        return total(sums, (POSITIVE, "weight")) / total(sums, (POSITIVE, "value"))

    def rule(self, sums: Sums, scenario: Scenario) -> MassRule:
        why = "Metrics divide by the confidence; r = 0 is allowed only for the Bayes error."
        _checks.refuse_zeros(self.confidences[0], "r", why)
        identified = self.identified_prior(sums, 1.0)
        prior = identified if scenario.prior is None else scenario.prior
        return MassRule(
            mass={(POSITIVE, "value"): 1.0},
            pos_mass={(POSITIVE, "weight"): prior / identified},
            size=self.table.effective_rows(),
            units={POSITIVE: self.table.unit()},
            normalised=scenario.prior is not None,
        )

    @property
    def effective_share(self) -> float:
        """Share of the rows that the weights 1/r leave in effect; small: a few rows carry it all."""
        cells = self.table.support.strata[POSITIVE]
        assert cells.value is not None  # rows carry 1/r
        mass, squares = integral(cells.value, cells.count), integral(cells.value**2, cells.count)
        return float(mass**2 / squares / cells.n_rows)

    def remarks(self) -> Iterator[Note]:
        if self.effective_share < FEW_IN_EFFECT:
            yield Note(
                "small_sample",
                f"Positives of low confidence carry much of the population (effective share of the rows "
                f"{self.effective_share:.2g}): intervals may be narrow, and fail if E[1/r²] is infinite.",
            )

    def with_shares(self, prior: Share | None = None, purity: Share | None = 1.0) -> Self:
        return type(self).from_table(self.table, prior=prior)

    def naive_measure(self) -> ScoreMeasure | None:
        return None
