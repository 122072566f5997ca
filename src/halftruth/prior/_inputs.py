"""What an estimate of the prior is made from: rows, and what the user knows besides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from halftruth import _checks
from halftruth._errors import InputError, arg
from halftruth.prior._belief import Belief
from halftruth.prior._samples import Knowledge, Samples
from halftruth.prior._shares import Sizes
from halftruth.prior._upper_bound import upper_bound
from halftruth.table._resampling import resampled_sums
from halftruth.table._score_table import NEGATIVE, POSITIVE, UNLABELED, ScoreTable
from halftruth.table._strata import StratumRows

__all__ = ["EstimateInputs", "read_inputs", "read_knowledge", "refuse_to_estimate"]

CERTAIN = 0.9999
"""Confidence at which a bound on α is taken for granted."""
MANY_DISTINCT = 20
"""Distinct positive scores from which on chance would not find all of them among the unlabeled."""
MAX_ATOMS = 1024
"""Distinct scores on which an estimator is resampled."""


@dataclass(frozen=True, eq=False)
class EstimateInputs:
    """What an estimate is made from."""

    table: ScoreTable
    purity: float
    population: str
    joined: bool = True
    """Whether unlabeled rows between two positives may stand at one score: not where roles are exchanged."""

    @cached_property
    def samples(self) -> Samples:
        if self.joined:
            return Samples.of(self.table)
        return Samples.from_sums(self.table, self.table.support, self.table.support.sums())

    @property
    def has_negatives(self) -> bool:
        return NEGATIVE in self.table.strata

    def upper(self, level: float) -> float:
        """The largest α that the scores do not refute: with purity ρ, α f_P ≤ ρ f_U."""
        samples = self.samples
        sizes = samples.n_positive, samples.n_unlabeled
        return self.purity * upper_bound(samples.positive, samples.unlabeled, *sizes, level)

    @property
    def positives_among_unlabeled(self) -> bool:
        """Whether every positive's score is an unlabeled one's too, though scores are hardly ever tied."""
        samples = self.samples
        has_positive = samples.positive > 0
        few_ties = samples.n_positive < 1.1 * has_positive.sum() and has_positive.sum() >= MANY_DISTINCT
        return bool(few_ties and (samples.unlabeled[has_positive] > 0).all())

    def possible(self, known: Knowledge) -> Knowledge:
        """What is known, without what the scores refute beyond doubt."""
        low, high = known.within
        bound = self.upper(CERTAIN)
        if low >= bound:
            raise InputError(
                f"{arg('within')} starts at {low:g}, and the scores refute every α above {bound:.4g} "
                f"(confidence {CERTAIN:g}). Lower it, or doubt the purity or SCAR."
            )
        return replace(known, within=(low, min(high, bound)))

    def resampled(self, n: int, rng: np.random.Generator) -> Iterator[Samples]:
        """First the rows as they came, on joined scores; then ``n`` resamples of them, by stratum."""
        support = self.table.support.coarse(MAX_ATOMS)
        yield Samples.from_sums(self.table, support, support.sums())
        for sums in resampled_sums(support, n, rng, one_sample=False):
            for i in range(len(next(iter(sums.values())))):
                yield Samples.from_sums(self.table, support, {k: total[i] for k, total in sums.items()})

    def of_population(self, alpha: Any, purity: Any) -> Any:
        """π from α, where the population is the whole table."""
        if self.population == "unlabeled":
            return alpha
        return np.clip(Sizes.of(self.table.support.sums()).pi(alpha, purity), 0, 1)


def read_inputs(
    positive: Any, unlabeled: Any, negative: Any, purity: float, weights: tuple[Any, Any, Any]
) -> EstimateInputs:
    """Arrays, or one evidence."""
    if unlabeled is None:
        if purity != 1 or negative is not None or any(weight is not None for weight in weights):
            raise InputError(
                "An evidence has a purity, negatives and weights of its own. Give them to it, or pass arrays."
            )
        table = getattr(positive, "table", None)
        if not isinstance(table, ScoreTable) or not {POSITIVE, UNLABELED} <= set(table.strata):
            raise InputError(
                f"Pass the scores of the known positives and of the unlabeled, or one PositiveUnlabeled "
                f"evidence; got {type(positive).__name__} alone."
            )
        refuse_to_estimate(table, positive.purity, positive.population)
        return EstimateInputs(table, positive.purity.value, positive.population)
    _refuse_labels(positive, unlabeled)
    named = zip((POSITIVE, UNLABELED, NEGATIVE), (positive, unlabeled, negative), weights, strict=True)
    strata = {}
    for name, values, weight in named:
        if values is None and weight is not None:
            raise InputError(f"`{name}_weight` was given without {arg(name)}. Pass both or neither.")
        if values is not None:
            score = _checks.scores(values, name)
            strata[name] = StratumRows(
                score=score, weight=_checks.weights(weight, f"{name}_weight", length=len(score))
            )
    return EstimateInputs(
        ScoreTable(strata), _checks.share(purity, "purity", closed_at_one=True), "unlabeled"
    )


def refuse_to_estimate(table: ScoreTable, purity: Belief, population: str) -> None:
    """Raise where estimating α would answer another question than the evidence asks."""
    if purity.is_range or purity.replicates is not None:
        raise InputError(
            "The prior is estimated at one purity. Pass it as a number, or have both estimated: "
            f"estimate_prior_and_purity, or {arg('prior', 'estimate')} with {arg('purity', 'estimate')}."
        )
    if table.strata[POSITIVE].meaning is not None and population == "all":
        raise InputError(
            f"Propensities identify the prior of one table (Σ 1/e ÷ n): leave {arg('prior')} out, and it "
            "is used."
        )


def _refuse_labels(positive: Any, unlabeled: Any) -> None:
    """Labels and scores, as scikit-learn's functions take them, are no two samples of scores."""
    first, second = (_checks.native(x, name) for x, name in ((positive, POSITIVE), (unlabeled, UNLABELED)))
    alike = first.ndim == 1 and first.shape == second.shape and len(first) > 2
    if alike and first.dtype.kind in "fiub" and set(np.unique(first)) == {0, 1}:
        raise InputError(
            f"{arg('positive')} holds only 0 and 1, one for each unlabeled score: these look like labels. "
            "Pass scores of the known positives and of the unlabeled, or one made by from_labels(y, "
            "y_score)."
        )


def read_knowledge(purity: float, within: Any, labeled_sample: Any) -> Knowledge:
    """What the user knows besides the scores, checked."""
    low, high = 0.0, 1.0
    if within is not None:
        try:
            low, high = (_checks.number(end, "within") for end in within)
        except (TypeError, ValueError):
            raise InputError(argument="within", must="be a pair (low, high)", got=repr(within)) from None
        if not 0 <= low < high <= 1:
            raise InputError(argument="within", must="satisfy 0 <= low < high <= 1", got=repr(within))
        if low >= purity:
            raise InputError(
                f"{arg('within')} starts at {low:g}, above the purity {purity:g}, which no α can exceed."
            )
    labeled_counts = 0, 0
    if labeled_sample is not None:
        k, m = _checks.labeled_sample(labeled_sample)
        labeled_counts = k, m - k
    return Knowledge(purity=purity, within=(low, high), labeled_counts=labeled_counts)
