"""estimate_prior: one call for every estimator of the class prior, with its interval and what it rests on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np

from halftruth import checks
from halftruth.belief import PriorEstimate
from halftruth.errors import InputError, NotIdentifiable
from halftruth.prior import alphamax, auto, methods
from halftruth.prior.bounds import upper_bound
from halftruth.prior.fit import Fit
from halftruth.prior.samples import Samples
from halftruth.resampling import resampled_sums
from halftruth.rows import Rows
from halftruth.shares import Sizes
from halftruth.table import NEGATIVE, POSITIVE, UNLABELED, ScoreTable

CERTAIN = 0.9999
"""Confidence at which a bound on α is taken for granted."""
MAX_ATOMS = 1024
"""Distinct scores on which an estimator is resampled."""


def estimate_prior(
    positive: Any,
    unlabeled: Any = None,
    *,
    negative: Any = None,
    method: str = "auto",
    purity: float = 1.0,
    within: tuple[float, float] | None = None,
    labeled_sample: tuple[int, int] | None = None,
    confidence_level: float = 0.95,
    n_resamples: int | None = None,
    rng: int | np.random.Generator = 0,
    positive_weight: Any = None,
    unlabeled_weight: Any = None,
    negative_weight: Any = None,
) -> PriorEstimate:
    """The share α of positives among the unlabeled, from scores.

    The data alone identify only a set: every α in [0, ``upper``] fits. A point within it needs an assumption,
    which the result names, or a little more evidence: a few labeled cases, a range, or known negatives.

    Parameters
    ----------
    positive, unlabeled : array
        Scores of the known positives and of the unlabeled; higher is more positive. Or one evidence as
        ``positive``, whose table, purity and population are then used.
    negative : array, optional
        Scores of known negatives. α is then identified without a further assumption, and "auto" is "mixture".
    method : str
        "auto", or one of alphamax, bbe, bbe-corrected, dedpul, km1, km2, tice, elkan-noto, elkan-noto-ratio,
        roc-slope, roc-curve, em, divergence, and with known negatives mixture. See docs/prior-estimators.md.
    purity : float
        Share of the known positives that are positive, where it is known.
    within : (low, high), optional
        What is known of α beforehand. Only "auto" takes it.
    labeled_sample : (k, m), optional
        m random unlabeled cases were labeled, and k were positive. "auto" weighs them with the scores; method
        "sample" takes them alone, below ``upper``, and assumes nothing.
    confidence_level : float
    n_resamples : int, optional
        Bootstrap resamples; 500 where left out, fewer for slow methods. "auto" and "sample" have draws of
        their own and resample nothing.
    rng : int or numpy Generator
    positive_weight, unlabeled_weight, negative_weight : array, optional

    Returns
    -------
    PriorEstimate
        Of α; of π where an evidence with ``population="all"`` was given.

    Examples
    --------
    >>> import halftruth as ht
    >>> simulated = ht.simulate.GaussianClasses(prior=0.2, separation=3.0)
    >>> strata = simulated.draw_strata(500, 5000, rng=1)
    >>> estimate = ht.estimate_prior(strata.positive.score, strata.unlabeled.score)
    >>> estimate.low < 0.2 < estimate.high
    True
    >>> few = ht.estimate_prior(strata.positive.score, strata.unlabeled.score, labeled_sample=(9, 50))
    >>> few.method
    'auto'
    """
    weights = positive_weight, unlabeled_weight, negative_weight
    given = read(positive, unlabeled, negative, purity, weights)
    known = knowledge(given.purity, within, labeled_sample)
    level = checks.confidence_level(confidence_level)
    return _alpha(given, method, known, level, n_resamples, rng)


def _alpha(
    given: Given, method: str, known: auto.Knowledge, level: float, n_resamples: int | None, rng: Any
) -> PriorEstimate:
    generator = np.random.default_rng(rng)
    if method == "sample":
        fitted, assumption = _from_sample(known, given.upper(level), generator), methods.SAMPLE
    else:
        chosen = methods.get("mixture" if method == "auto" and given.has_negatives else method)
        method, assumption = chosen.name, chosen.assumption
        _refuse(chosen, given, known)
        if chosen.name == "auto":
            fitted = auto.fit(given.samples, known=given.possible(known), rng=generator)
        else:
            n = (
                chosen.n_resamples
                if n_resamples is None
                else checks.count(n_resamples, "n_resamples", least=2)
            )
            fitted = _resampled(given, chosen, n, generator)
    return result(fitted, given, method, assumption, level)


@dataclass(frozen=True)
class PriorAndPurity:
    """α and ρ, whose replicates belong together one by one."""

    prior: PriorEstimate
    purity: PriorEstimate


def estimate_prior_and_purity(
    positive: Any,
    unlabeled: Any = None,
    *,
    method: str = "auto",
    confidence_level: float = 0.95,
    n_resamples: int | None = None,
    rng: int | np.random.Generator = 0,
    positive_weight: Any = None,
    unlabeled_weight: Any = None,
) -> PriorAndPurity:
    """The share α of positives among the unlabeled and the purity ρ of the known positives, from scores.

    Parameters
    ----------
    positive, unlabeled : array
        Scores, or one evidence as ``positive``.
    method : str
        "auto", "alphamax" (then it is AlphaMaxN) or any other that takes positives and unlabeled alone.
    confidence_level, n_resamples, rng, positive_weight, unlabeled_weight
        As in `estimate_prior`.

    Returns
    -------
    PriorAndPurity
        ``.prior`` and ``.purity``, replicates paired by index; evidence takes both.

    Examples
    --------
    >>> import halftruth as ht
    >>> simulated = ht.simulate.GaussianClasses(prior=0.2, separation=4.0)
    >>> strata = simulated.draw_strata(1000, 5000, rng=1, purity=0.8)
    >>> p, u = strata.positive.score, strata.unlabeled.score
    >>> both = ht.estimate_prior_and_purity(p, u)
    >>> both.purity.low < 0.8 < both.purity.high
    True
    >>> noisy = ht.PositiveUnlabeled(p, u, prior=both.prior, purity=both.purity)
    """
    given = read(positive, unlabeled, None, 1.0, (positive_weight, unlabeled_weight, None))
    return _both(given, method, checks.confidence_level(confidence_level), n_resamples, rng)


def estimate_alpha(table: ScoreTable, purity: float) -> PriorEstimate:
    """α of the rows of a table, by default settings: what evidence means by "estimate"."""
    given = Given(table, purity, "unlabeled")
    return _alpha(given, "auto", knowledge(purity, None, None), 0.95, None, 0)


def estimate_both(table: ScoreTable) -> PriorAndPurity:
    """α and ρ of the rows of a table, by default settings."""
    return _both(Given(table, 1.0, "unlabeled"), "auto", 0.95, None, 0)


def _both(given: Given, method: str, level: float, n_resamples: int | None, rng: Any) -> PriorAndPurity:
    generator = np.random.default_rng(rng)
    chosen = methods.get(method)
    if chosen.needs_negatives:
        raise InputError(f"`method`={method!r} does not estimate a purity. Leave it out, or pass 'alphamax'.")
    if chosen.name == "auto":
        drawn = auto.posterior(given.samples, given.possible(auto.Knowledge(purity=None)), generator)
        pair = auto.fit_of(drawn.alpha, drawn.misfit), auto.fit_of(drawn.purity, drawn.misfit)
    else:
        pair = _resampled_pair(given, chosen, _count(chosen, n_resamples), generator)
    assumption = (
        f"{chosen.assumption}; the mislabeled ones are a random sample of the negatives, and some scores are "
        f"reached by negatives only"
    )
    prior = result(pair[0], given, chosen.name, assumption, level)
    purity = PriorEstimate(
        value=pair[1].value,
        replicates=pair[1].replicates,
        method=chosen.name,
        assumption=assumption,
        confidence_level=level,
        notes=pair[1].notes,
        curve=pair[1].curve,
    )
    return PriorAndPurity(prior, purity)


@dataclass(frozen=True, eq=False)
class Given:
    """What an estimate is made from."""

    table: ScoreTable
    purity: float
    population: str

    @cached_property
    def samples(self) -> Samples:
        return Samples.of(self.table)

    @property
    def has_negatives(self) -> bool:
        return NEGATIVE in self.table.strata

    @cache  # noqa: B019  it lives as long as one estimate
    def upper(self, level: float) -> float:
        """The largest α that the scores do not refute: with purity ρ, α f_P ≤ ρ f_U."""
        samples = self.samples
        sizes = samples.n_positive, samples.n_unlabeled
        return self.purity * upper_bound(samples.positive, samples.unlabeled, *sizes, level)

    def possible(self, known: auto.Knowledge) -> auto.Knowledge:
        """What is known, without what the scores refute beyond doubt."""
        low, high = known.within
        return replace(known, within=(low, max(min(high, self.upper(CERTAIN)), low + 1e-9)))

    def resampled(self, n: int, rng: np.random.Generator) -> Iterator[Samples]:
        """First the rows as they came, on joined scores; then ``n`` resamples of them, by stratum."""
        support = self.table.support.coarse(MAX_ATOMS)
        yield Samples.from_sums(self.table, support, support.sums())
        for sums in resampled_sums(support, n, rng, one_sample=False):
            for i in range(len(next(iter(sums.values())))):
                yield Samples.from_sums(self.table, support, {k: total[i] for k, total in sums.items()})

    def of_population(self, alpha: Any) -> Any:
        """π from α, where the population is the whole table."""
        if self.population == "unlabeled":
            return alpha
        return np.clip(Sizes.of(self.table.support.sums()).pi(alpha, self.purity), 0, 1)


def read(positive: Any, unlabeled: Any, negative: Any, purity: float, weights: tuple[Any, Any, Any]) -> Given:
    """Arrays, or one evidence."""
    if unlabeled is None:
        table = getattr(positive, "table", None)
        if not isinstance(table, ScoreTable) or not {POSITIVE, UNLABELED} <= set(table.strata):
            raise InputError(
                f"Pass the scores of the known positives and of the unlabeled, or one PositiveUnlabeled "
                f"evidence; got {type(positive).__name__} alone."
            )
        return Given(table, positive.purity.value, positive.population)
    named = zip((POSITIVE, UNLABELED, NEGATIVE), (positive, unlabeled, negative), weights, strict=True)
    strata = {}
    for name, values, weight in named:
        if values is None and weight is not None:
            raise InputError(f"`{name}_weight` was given without `{name}`. Pass both or neither.")
        if values is not None:
            score = checks.scores(values, name)
            strata[name] = Rows(
                score=score, weight=checks.weights(weight, f"{name}_weight", length=len(score))
            )
    return Given(ScoreTable(strata), checks.share(purity, "purity", closed_at_one=True), "unlabeled")


def knowledge(purity: float, within: Any, labeled_sample: Any) -> auto.Knowledge:
    """What the user knows besides the scores, checked."""
    low, high = 0.0, 1.0
    if within is not None:
        try:
            low, high = (checks.number(end, "within") for end in within)
        except (TypeError, ValueError):
            raise InputError(f"`within` must be a pair (low, high), got {within!r}.") from None
        if not 0 <= low < high <= 1:
            raise InputError(f"`within` must satisfy 0 <= low < high <= 1, got {within!r}.")
        if low >= purity:
            raise InputError(
                f"`within` starts at {low:g}, above the purity {purity:g}, which no α can exceed."
            )
    found = 0, 0
    if labeled_sample is not None:
        try:
            k, m = labeled_sample
        except (TypeError, ValueError):
            raise InputError(
                f"`labeled_sample` must be a pair (positives found, cases labeled), got {labeled_sample!r}."
            ) from None
        m = checks.count(m, "labeled_sample", least=1)
        k = checks.count(k, "labeled_sample", least=0)
        if k > m:
            raise InputError(f"`labeled_sample` has {k} positives among {m} cases. Pass (positives, cases).")
        found = k, m - k
    return auto.Knowledge(purity=purity, within=(low, high), found=found)


def _refuse(chosen: methods.Method, given: Given, known: auto.Knowledge) -> None:
    if chosen.needs_negatives and not given.has_negatives:
        raise NotIdentifiable(f"`method`={chosen.name!r} needs known negatives. Pass `negative`.")
    told = {"within": known.within != (0.0, 1.0), "labeled_sample": any(known.found)}
    for name, given_too in told.items():
        if given_too and chosen.name != "auto":
            raise InputError(
                f"`{name}` is read by method 'auto' without known negatives, not by {chosen.name!r}."
            )


def _count(chosen: methods.Method, n_resamples: int | None) -> int:
    return chosen.n_resamples if n_resamples is None else checks.count(n_resamples, "n_resamples", least=2)


def _from_sample(known: auto.Knowledge, upper: float, rng: np.random.Generator) -> Fit:
    """The posterior of α from the labeled cases alone, Beta(k + ½, m − k + ½), cut at what is not refuted."""
    from scipy.special import betainc, betaincinv

    if not any(known.found):
        raise InputError('`method`="sample" needs `labeled_sample`: (positives found, cases labeled).')
    a, b = known.found[0] + 0.5, known.found[1] + 0.5
    low, high = (float(betainc(a, b, min(end, upper))) for end in known.within)
    share = (rng.permutation(auto.N_DRAWS) + 0.5) / auto.N_DRAWS
    draws = np.clip(betaincinv(a, b, low + (high - low) * share), 0, 1)
    return auto.fit_of(draws, 0.0)


def _resampled(given: Given, chosen: methods.Method, n: int, rng: np.random.Generator) -> Fit:
    def one(samples: Samples) -> tuple[Fit]:
        return (chosen.fit(samples, rng),)

    (fitted,) = with_replicates(given, one, n, rng)
    return fitted


def _resampled_pair(
    given: Given, chosen: methods.Method, n: int, rng: np.random.Generator
) -> tuple[Fit, Fit]:
    def both(samples: Samples) -> tuple[Fit, Fit]:
        return alphamax.fit_noisy(samples, lambda one: chosen.fit(one, rng))

    alpha, purity = with_replicates(given, both, n, rng)
    return alpha, purity


def with_replicates(
    given: Given, fit: Callable[[Samples], tuple[Fit, ...]], n: int, rng: np.random.Generator
) -> list[Fit]:
    """The fits of all rows, with replicates from joined rows moved by what the joining changed."""
    fitted = fit(given.samples)
    values = np.asarray([[each.value for each in fit(samples)] for samples in given.resampled(n, rng)])
    near, replicates = values[0], values[1:]
    return [
        Fit(
            value=each.value,
            curve=each.curve,
            notes=each.notes,
            replicates=np.clip(replicates[:, k] + each.value - near[k], 0, 1),
        )
        for k, each in enumerate(fitted)
    ]


def result(fitted: Fit, given: Given, method: str, assumption: str, level: float) -> PriorEstimate:
    """The estimate as the user sees it: for the population, with what the data refute."""
    assert fitted.replicates is not None  # made or resampled before
    upper = given.upper(level)
    # The others take the known positives for pure: U = κ P + (1−κ) f₀ with κ = α/ρ.
    share = 1.0 if method in ("auto", "sample") else given.purity
    value, replicates = (share * np.minimum(x, 1) for x in (fitted.value, fitted.replicates))
    notes = fitted.notes
    if value > upper:
        notes += (
            f"The estimate α = {value:.4g} is above what the data do not refute, {upper:.4g}: its assumption "
            f"fails here, or noise is large.",
        )
    tail = (1 - level) / 2
    low, high = np.quantile(given.of_population(replicates), [tail, 1 - tail], method="closest_observation")
    return PriorEstimate(
        value=float(given.of_population(float(value))),
        low=float(low),
        high=float(high),
        upper=float(given.of_population(upper)),
        replicates=given.of_population(replicates),
        method=method,
        assumption=assumption,
        population=given.population,
        confidence_level=level,
        notes=notes,
        curve=fitted.curve,
    )
