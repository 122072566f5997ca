"""What an estimate of the prior is made from, rows and knowledge, and how a fit becomes an estimate."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, Note, arg
from halftruth.measure._score_measure import Number
from halftruth.prior._belief import Belief, Curve, PriorEstimate
from halftruth.prior._samples import Fit, Knowledge, Samples
from halftruth.prior._shares import Sizes
from halftruth.prior._upper_bound import upper_bound
from halftruth.table._resampling import resampled_sums
from halftruth.table._score_table import NEGATIVE, POSITIVE, UNLABELED, ScoreTable
from halftruth.table._strata import StratumRows

__all__ = [
    "SAMPLE", "USES_NEGATIVES", "EstimateInputs", "read_inputs", "read_knowledge", "read_sample",
    "refuse_to_estimate",
]  # fmt: skip

SAMPLE = "sample"  # the method that takes a labeled random sample alone
USES_NEGATIVES = ("mixture", "em")
FEW_POSITIVES = 20  # below so many known positives the estimate is called rough
UNTOLD = 0.97  # where more of all shares than this is not refuted, the scores tell almost nothing
CERTAIN = 0.9999  # confidence at which a bound on α is taken for granted
MANY_DISTINCT = 20  # distinct positive scores of which chance would not find all among the unlabeled
MAX_ATOMS = 1024  # distinct scores on which an estimator is resampled


@dataclass(frozen=True, eq=False)
class EstimateInputs:
    """What an estimate is made from."""

    table: ScoreTable
    purity: float
    population: str
    # Whether unlabeled rows between two positives may stand at one score: not where roles are exchanged.
    joined: bool = True
    gamma: float = 1.0
    """How far the known positives may be from a random sample."""

    @cached_property
    def samples(self) -> Samples:
        if self.joined:
            return Samples.of(self.table)
        return Samples.from_sums(self.table, self.table.support, self.table.support.sums())

    @property
    def has_negatives(self) -> bool:
        return NEGATIVE in self.table.strata

    def upper(self, level: float) -> float:
        """The largest α that the scores do not refute: with purity ρ, α f_P ≤ ρ f_U; w f_P may be f_P/Γ."""
        samples = self.samples
        sizes = samples.n_positive, samples.n_unlabeled
        bound = self.gamma * self.purity * upper_bound(samples.positive, samples.unlabeled, *sizes, level)
        return min(bound, self.purity)

    def refuse_selection(self) -> None:
        """Raise where the evidence says that its known positives are no random sample."""
        if self.gamma > 1:
            raise InputError(
                f"An estimate of the prior takes the known positives for a random sample, which "
                f"{arg('selection')} denies. Leave that out, or pass {arg('prior', 'estimate')} beside it."
            )

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

    def with_replicates(
        self, fit: Callable[[Samples], tuple[Fit, ...]], n: int, rng: np.random.Generator
    ) -> list[Fit]:
        """The fits of all rows, with ``n`` replicates each."""
        # Estimators are slow on many distinct scores: replicates are made on joined ones, and moved by how
        # far the value on joined scores (the first of `resampled`) is from that on all of them.
        fits = fit(self.samples)
        values = np.asarray([[redone.value for redone in fit(samples)] for samples in self.resampled(n, rng)])
        moved = (x[1:] + fitted.value - x[0] for x, fitted in zip(values.T, fits, strict=True))
        return [replace(f, replicates=np.clip(x, 0, 1)) for f, x in zip(fits, moved, strict=True)]

    def estimate(
        self,
        fitted: Fit,
        method: str,
        assumption: str,
        level: float,
        *,
        purity: Fit | None = None,
        sampled: bool = False,
    ) -> PriorEstimate:
        """The estimate as the user sees it; ``purity`` where that was estimated too.

        ``sampled``: whether labels of a random sample of the unlabeled say what α is.
        """
        assert fitted.replicates is not None  # made or resampled before
        upper = self.upper(level)
        # The others take the known positives for pure: U = κ P + (1−κ) f₀ with κ = α/ρ.
        share = 1.0 if method in ("auto", SAMPLE) else self.purity
        value, replicates = (share * np.minimum(x, 1) for x in (fitted.value, fitted.replicates))
        identified = sampled or method == SAMPLE or (self.has_negatives and method in USES_NEGATIVES)
        rests = iter([Note("assumption", f"This estimate assumes that {assumption}.")])
        if not identified:
            rests = _unidentified(f"α from 0 to {upper:.4g} (confidence {level:g})", assumption)
        notes = (*rests, *fitted.notes, *_beyond(float(value), upper, method))
        rho = (self.purity, self.purity) if purity is None else (purity.value, purity.replicates)
        replicates = self._of_population(replicates, rho[1])
        middle = float(self._of_population(float(value), rho[0]))
        tail = (1 - level) / 2
        low, high = np.quantile(replicates, [tail, 1 - tail], method="closest_observation")
        return PriorEstimate(
            value=middle,
            # At the edge of what is possible, resamples may all lie on one side of the estimate.
            low=min(float(low), middle),
            high=max(float(high), middle),
            # A purity that was estimated is not known to be below 1: the bound holds for any.
            upper=float(self._of_population(upper, rho[0] if purity is None else 1.0)),
            replicates=replicates,
            method=method,
            assumption=assumption,
            population=self.population,
            confidence_level=level,
            notes=(*notes, *self._remarks(upper)),
            curve=_over_alpha(fitted.curve, self.purity) if share < 1 else fitted.curve,
        )

    def _of_population(self, alpha: Number, purity: Number) -> Number:
        """π from α, where the population is the whole table."""
        if self.population == "unlabeled":
            return alpha
        return np.clip(Sizes.of(self.table.support.sums()).pi(alpha, purity), 0, 1)

    def _remarks(self, upper: float) -> Iterator[Note]:
        """What makes an estimate weak, or suspect."""
        n = self.samples.n_positive
        if n < FEW_POSITIVES:
            yield Note("small_sample", f"Only {n:g} known positive(s): the estimate is rough.")
        if upper > UNTOLD * self.purity:
            yield Note(
                "identifiability",
                "The scores hardly tell the known positives from the unlabeled: nearly every α fits, and the "
                "estimate says little. Use scores that rank better.",
            )
        if self._positives_among_unlabeled():
            yield Note(
                "remark",
                "Every known positive's score also occurs among the unlabeled. If the known positives are "
                "part of the unlabeled sample, take them out of it.",
            )

    def _positives_among_unlabeled(self) -> bool:
        """Whether every positive's score is an unlabeled one's too, though scores are hardly ever tied."""
        samples = self.samples
        has_positive = samples.positive > 0
        few_ties = samples.n_positive < 1.1 * has_positive.sum() and has_positive.sum() >= MANY_DISTINCT
        return bool(few_ties and (samples.unlabeled[has_positive] > 0).all())


def _unidentified(allowed: str, assumption: str) -> Iterator[Note]:
    """That positives and unlabeled do not decide, and what does; then what an assumption's own words add."""
    premise, _, consequence = assumption.partition("; ")
    yield Note(
        "not_identified",
        f"Positives and unlabeled alone allow every {allowed}. The estimate, its interval and all that needs "
        f"it rest on this: {premise}. Label a random sample, or give a share known from elsewhere.",
    )
    if consequence:
        yield Note("assumption", f"{consequence[0].upper()}{consequence[1:]}.")


def _beyond(value: float, upper: float, method: str) -> Iterator[Note]:
    """Whether the scores refute the estimate."""
    if value > upper and method != SAMPLE:
        yield Note(
            "refuted",
            f"The estimate α = {value:.4g} is refuted by the data: it is above what they do not refute, "
            f"{upper:.4g}. Its assumption fails here, or noise is large.",
        )


def _over_alpha(curve: Curve | None, purity: float) -> Curve | None:
    """The curve of an estimator that took the positives for pure, over α instead of α/ρ."""
    if curve is None or curve.x_label != "α":
        return curve
    return replace(curve, x=purity * curve.x, chosen=purity * curve.chosen)


def read_inputs(
    positive: Any,
    unlabeled: ArrayLike | None,
    negative: ArrayLike | None,
    purity: float,
    weights: tuple[ArrayLike | None, ...],
) -> EstimateInputs:
    """Arrays, or one evidence."""
    if unlabeled is None:
        if purity != 1 or negative is not None or any(weight is not None for weight in weights):
            raise InputError(
                "An evidence has a purity, negatives and weights of its own. Give them to it, or pass arrays."
            )
        table = getattr(positive, "table", None)
        # Rows that nobody reviewed are unlabeled too, but positives that reviews found are no random sample.
        if (
            not isinstance(table, ScoreTable)
            or positive.population is None
            or not {POSITIVE, UNLABELED} <= set(table.strata)
        ):
            raise InputError(
                f"Pass the scores of the known positives and of the unlabeled, or one PositiveUnlabeled "
                f"evidence; got {type(positive).__name__} alone."
            )
        refuse_to_estimate(table, positive.purity, positive.population)
        gamma = positive.selection.gamma
        return EstimateInputs(table, positive.purity.value, positive.population, gamma=gamma)
    _refuse_labels(positive, unlabeled)
    named = zip((POSITIVE, UNLABELED, NEGATIVE), (positive, unlabeled, negative), weights, strict=True)
    strata = {}
    for name, values, weight in named:
        if values is None and weight is not None:
            raise InputError(f"`{name}_weight` was given without {arg(name)}. Pass both or neither.")
        if values is not None:
            score = _checks.scores(values, name)
            weight = _checks.weights(weight, f"{name}_weight", length=len(score))
            strata[name] = StratumRows(score=score, weight=weight)
    purity = _checks.share(purity, "purity", closed_at_one=True)
    return EstimateInputs(ScoreTable(strata), purity, "unlabeled")


def refuse_to_estimate(table: ScoreTable, purity: Belief, population: str) -> None:
    """Raise where estimating α would answer another question than the evidence asks."""
    if purity.is_range or purity.replicates is not None:
        raise InputError(
            "The prior is estimated at one purity. Pass it as a number, or have both estimated: "
            f"estimate_prior_and_purity, or {arg('prior', 'estimate')} with {arg('purity', 'estimate')}."
        )
    if table.strata[POSITIVE].meaning is not None and population == "all":
        text = "Propensities identify the prior of one table (Σ 1/e ÷ n): leave"
        raise InputError(f"{text} {arg('prior')} out, and it is used.")


def _refuse_labels(positive: ArrayLike, unlabeled: ArrayLike) -> None:
    """Labels and scores, as scikit-learn's functions take them, are no two samples of scores."""
    first, second = (_checks.native(x, name) for x, name in ((positive, POSITIVE), (unlabeled, UNLABELED)))
    alike = first.ndim == 1 and first.shape == second.shape and len(first) > 2
    if alike and first.dtype.kind in "fiub" and set(np.unique(first)) == {0, 1}:
        raise InputError(
            f"{arg('positive')} holds only 0 and 1, one for each unlabeled score: these look like labels. "
            "Pass scores of the known positives and of the unlabeled, or one made by from_labels(y, "
            "y_score)."
        )


def read_knowledge(
    purity: float, within: tuple[float, float] | None, labeled_sample: tuple[int, int] | None
) -> Knowledge:
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
    k, m = (0, 0) if labeled_sample is None else _checks.labeled_sample(labeled_sample)
    return Knowledge(purity=purity, within=(low, high), labeled_counts=(k, m - k))


def read_sample(labeled_sample: Any) -> tuple[Vector, int | None]:
    """The scores of the positives found, and the size of the sample where it was given whole."""
    name = "labeled_sample"
    is_pair = isinstance(labeled_sample, tuple) and len(labeled_sample) == 2
    if is_pair and all(isinstance(x, (int, np.integer)) for x in labeled_sample):
        text = "holds scores here: of the positives found, or a pair (scores, labels); got"
        raise InputError(f"{arg(name)} {text} {labeled_sample!r}.")
    if not (is_pair and np.ndim(labeled_sample[0])):
        return _checks.vector(labeled_sample, name) + 0.0, None
    score = _checks.scores(labeled_sample[0], name)
    return score[_checks.binary_labels(labeled_sample[1], f"{name}[1]", length=len(score))], len(score)
