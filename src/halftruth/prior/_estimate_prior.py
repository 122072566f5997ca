"""estimate_prior: one call for every estimator of the class prior, with its interval and what it rests on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from halftruth import _checks
from halftruth._errors import InputError, Note, NotIdentifiable, arg
from halftruth.prior._belief import Curve, PriorEstimate
from halftruth.prior._inputs import EstimateInputs, read_inputs, read_knowledge
from halftruth.prior._methods import SAMPLE as SAMPLE_ASSUMPTION
from halftruth.prior._methods import Method, get_method
from halftruth.prior._samples import Fit, Knowledge, Samples
from halftruth.prior.estimators._alphamax import fit_noisy
from halftruth.prior.estimators._auto import N_DRAWS, fit_auto, fit_auto_noisy, fit_of
from halftruth.table._score_table import POSITIVE, ScoreTable

__all__ = [
    "PriorAndPurity",
    "as_estimate",
    "estimate_alpha",
    "estimate_both",
    "estimate_prior",
    "estimate_prior_and_purity",
    "with_replicates",
]

USES_NEGATIVES = ("mixture", "em")
CONTRADICTS = 0.005
"""Chance of so many positives in a labeled sample below which it contradicts a smaller α."""
SMALLEST = 1e-12
"""Of a probability that can still be told from rounding."""
UNUSED = Note(
    "unused",
    "Known negatives were not used: with positives of unknown purity they identify only α/ρ. Pass the purity "
    "and the prior is estimated with them.",
)


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
        "sample" takes them alone, and needs no assumption on the scores or the known positives.
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
    inputs = read_inputs(positive, unlabeled, negative, purity, weights)
    known = read_knowledge(inputs.purity, within, labeled_sample)
    level = _checks.confidence_level(confidence_level)
    return _alpha(inputs, method, known, level, n_resamples, rng)


def _alpha(
    inputs: EstimateInputs, method: str, known: Knowledge, level: float, n_resamples: int | None, rng: Any
) -> PriorEstimate:
    generator = np.random.default_rng(rng)
    if method == SAMPLE:
        fitted, assumption = _from_sample(known, generator), SAMPLE_ASSUMPTION
    else:
        wanted = "mixture" if method == "auto" and inputs.has_negatives else method
        chosen = get_method(wanted, also=f", or 'sample' with {arg('labeled_sample')}")
        propensities = inputs.table.strata[POSITIVE].meaning is not None
        method = chosen.name
        assumption = chosen.assumption_with(negatives=inputs.has_negatives, propensities=propensities)
        _refuse(chosen, inputs, known)
        if chosen.name == "auto":
            fitted = fit_auto(inputs.samples, known=inputs.possible(known), rng=generator)
        else:
            fitted = _resampled(inputs, chosen, _count(chosen, n_resamples), generator)
    if inputs.has_negatives and method not in USES_NEGATIVES:
        unused = Note("unused", f"Known negatives were not used by {method}; mixture does.")
        fitted = replace(fitted, notes=(*fitted.notes, unused))
    fitted = replace(fitted, notes=fitted.notes + _conflict(known, inputs.upper(level)))
    return as_estimate(fitted, inputs, method, assumption, level)


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
    inputs = read_inputs(positive, unlabeled, None, 1.0, (positive_weight, unlabeled_weight, None))
    inputs = replace(inputs, purity=1.0)  # what an evidence says of it is not asked for
    return _both(inputs, method, _checks.confidence_level(confidence_level), n_resamples, rng)


def estimate_alpha(table: ScoreTable, purity: float) -> PriorEstimate:
    """α of the rows of a table, by default settings: what evidence means by "estimate"."""
    inputs = EstimateInputs(table, purity, "unlabeled")
    estimate = _alpha(inputs, "auto", read_knowledge(purity, None, None), 0.95, None, 0)
    # At 0 or 1 one class would be empty, and no metric that compares classes would have a value.
    least = 0.5 / inputs.samples.n_unlabeled
    if least <= estimate.value <= 1 - least:
        return estimate
    value = min(max(estimate.value, least), 1 - least)
    text = f"The estimate is {estimate.value:g}; {value:.3g} is taken, half a row away: no class is empty."
    return replace(estimate, value=value, notes=(*estimate.notes, Note("prior", text)))


def estimate_both(table: ScoreTable) -> PriorAndPurity:
    """α and ρ of the rows of a table, by default settings."""
    return _both(EstimateInputs(table, 1.0, "unlabeled"), "auto", 0.95, None, 0)


def _both(
    inputs: EstimateInputs, method: str, level: float, n_resamples: int | None, rng: Any
) -> PriorAndPurity:
    generator = np.random.default_rng(rng)
    chosen = get_method(method)
    if chosen.needs_negatives:
        raise InputError(
            f"{arg('method', method)} does not estimate a purity. Leave it out, or pass 'alphamax'."
        )
    if chosen.name == "auto":
        pair = fit_auto_noisy(inputs.samples, inputs.possible(Knowledge(purity=None)), generator)
    else:
        pair = _resampled_pair(inputs, chosen, _count(chosen, n_resamples), generator)
    assumption = (
        f"{chosen.assumption}; the mislabeled ones are a random sample of the negatives, and some scores are "
        f"reached by negatives only"
    )
    prior = as_estimate(pair[0], inputs, chosen.name, assumption, level, purity=pair[1])
    if inputs.has_negatives:
        prior = replace(prior, notes=(*prior.notes, UNUSED))
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


def _refuse(chosen: Method, inputs: EstimateInputs, known: Knowledge) -> None:
    if chosen.needs_negatives and not inputs.has_negatives:
        raise NotIdentifiable(f"{arg('method', chosen.name)} needs known negatives. Pass {arg('negative')}.")
    knows = {"within": known.within != (0.0, 1.0), "labeled_sample": any(known.labeled_counts)}
    for name, known_too in knows.items():
        if known_too and chosen.name != "auto":
            raise InputError(
                f"{arg(name)} is read by method 'auto' without known negatives, not by {chosen.name!r}."
            )


def _count(chosen: Method, n_resamples: int | None) -> int:
    return chosen.n_resamples if n_resamples is None else _checks.count(n_resamples, "n_resamples", least=2)


def _from_sample(known: Knowledge, rng: np.random.Generator) -> Fit:
    """The posterior of α from the labeled cases alone, Beta(k + ½, m − k + ½) within the range given."""
    from scipy.special import betainc, betaincinv

    if not any(known.labeled_counts):
        raise InputError(
            f"{arg('method', 'sample')} needs {arg('labeled_sample')}: (positives found, cases labeled)."
        )
    a, b = known.labeled_counts[0] + 0.5, known.labeled_counts[1] + 0.5
    low, high = (float(betainc(a, b, end)) for end in known.within)
    if high - low < SMALLEST:
        raise InputError(
            f"{arg('labeled_sample')} leaves nothing of {arg('within')}: they contradict each other."
        )
    # Draws at even quantiles of the posterior (with Jeffreys' prior), cut to the range, in random order.
    share = (rng.permutation(N_DRAWS) + 0.5) / N_DRAWS
    draws = np.clip(betaincinv(a, b, low + (high - low) * share), 0, 1)
    return fit_of(draws, float(np.median(draws)))


def _conflict(known: Knowledge, upper: float) -> tuple[Note, ...]:
    """What to say where the labeled sample and the scores contradict each other."""
    from scipy.special import betaincinv

    if not any(known.labeled_counts):
        return ()
    positives, negatives = known.labeled_counts
    # The lower limit of Clopper and Pearson.
    least = float(betaincinv(positives, negatives + 1, CONTRADICTS)) if positives else 0.0
    if least <= upper:
        return ()
    text = (
        f"The labeled sample contradicts the scores: it puts α above {least:.4g}, they allow {upper:.4g} "
        "at most. The known positives are then no random sample of the positives (SCAR), or not pure: trust "
        f"the sample ({arg('method', SAMPLE)}), and see `scar_test`."
    )
    return (Note("contradiction", text),)


def _resampled(inputs: EstimateInputs, chosen: Method, n: int, rng: np.random.Generator) -> Fit:
    def one(samples: Samples) -> tuple[Fit]:
        return (chosen.fit(samples, rng),)

    (fitted,) = with_replicates(inputs, one, n, rng)
    return fitted


def _resampled_pair(
    inputs: EstimateInputs, chosen: Method, n: int, rng: np.random.Generator
) -> tuple[Fit, Fit]:
    def both(samples: Samples) -> tuple[Fit, Fit]:
        return fit_noisy(samples, lambda one: chosen.fit(one, rng))

    alpha, purity = with_replicates(replace(inputs, joined=False), both, n, rng)
    return alpha, purity


FEW_POSITIVES = 20
UNTOLD = 0.97
"""Of all shares: where more than that is not refuted, the scores have said almost nothing."""
SAMPLE = "sample"
"""The method that takes a labeled random sample alone."""


def with_replicates(
    inputs: EstimateInputs, fit: Callable[[Samples], tuple[Fit, ...]], n: int, rng: np.random.Generator
) -> list[Fit]:
    """The fits of all rows, with replicates from joined rows moved by what the joining changed."""
    # Estimators are slow on many distinct scores: replicates are made on joined ones, and moved by how far
    # the value on joined scores (the first of `resampled`) is from that on all of them.
    fitted = fit(inputs.samples)
    values = np.asarray(
        [[fitted_one.value for fitted_one in fit(samples)] for samples in inputs.resampled(n, rng)]
    )
    near, replicates = values[0], values[1:]
    return [
        Fit(
            value=fitted_one.value,
            curve=fitted_one.curve,
            notes=fitted_one.notes,
            replicates=np.clip(replicates[:, k] + fitted_one.value - near[k], 0, 1),
        )
        for k, fitted_one in enumerate(fitted)
    ]


def as_estimate(
    fitted: Fit,
    inputs: EstimateInputs,
    method: str,
    assumption: str,
    level: float,
    *,
    purity: Fit | None = None,
) -> PriorEstimate:
    """The estimate as the user sees it: for the population, with what the data refute.

    ``purity``: where it was estimated too.
    """
    assert fitted.replicates is not None  # made or resampled before
    upper = inputs.upper(level)
    # The others take the known positives for pure: U = κ P + (1−κ) f₀ with κ = α/ρ.
    share = 1.0 if method in ("auto", SAMPLE) else inputs.purity
    value, replicates = (share * np.minimum(x, 1) for x in (fitted.value, fitted.replicates))
    notes = fitted.notes
    if method in (SAMPLE, "mixture"):
        notes = (Note("assumption", f"This estimate assumes that {assumption}."), *notes)
    else:
        within = f"Within that, this estimate assumes that {assumption}."
        text = f"The scores alone allow every α from 0 to {upper:.4g}. {within}"
        notes = (Note("assumption", text), *notes)
    if value > upper and method != SAMPLE:
        notes += (
            Note(
                "impossible",
                f"The estimate α = {value:.4g} is above what the data do not refute, {upper:.4g}: its "
                f"assumption fails here, or noise is large.",
            ),
        )
    notes += tuple(_remarks(inputs, upper))
    rho = (inputs.purity, inputs.purity) if purity is None else (purity.value, purity.replicates)
    replicates = inputs.of_population(replicates, rho[1])
    middle = float(inputs.of_population(float(value), rho[0]))
    tail = (1 - level) / 2
    low, high = np.quantile(replicates, [tail, 1 - tail], method="closest_observation")
    return PriorEstimate(
        value=middle,
        # At the edge of what is possible, resamples may all lie on one side of the estimate.
        low=min(float(low), middle),
        high=max(float(high), middle),
        upper=float(inputs.of_population(upper, rho[0] if purity is None else 1.0)),
        replicates=replicates,
        method=method,
        assumption=assumption,
        population=inputs.population,
        confidence_level=level,
        notes=notes,
        curve=_labeled(fitted.curve, inputs.purity) if share < 1 else fitted.curve,
    )


def _remarks(inputs: EstimateInputs, upper: float) -> Iterator[Note]:
    """What makes an estimate weak, or suspect."""
    n = inputs.samples.n_positive
    if n < FEW_POSITIVES:
        yield Note("small_sample", f"Only {n:g} known positive(s): the estimate is rough.")
    if upper > UNTOLD * inputs.purity:
        yield Note(
            "identifiability",
            "The scores hardly tell the known positives from the unlabeled: nearly every α fits, and the "
            "estimate says little. Use scores that rank better.",
        )
    if inputs.positives_among_unlabeled:
        yield Note(
            "remark",
            "Every known positive's score also occurs among the unlabeled. If the known positives are part "
            "of the unlabeled sample, take them out of it.",
        )


def _labeled(curve: Curve | None, purity: float) -> Curve | None:
    """The curve of an estimator that took the positives for pure, over α."""
    if curve is None or curve.x_label != "α":
        return curve
    return replace(curve, x=purity * curve.x, chosen=purity * curve.chosen)
