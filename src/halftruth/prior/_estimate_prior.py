"""The calls on scores: estimates of α, of α and the purity together, and the bound on α."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from halftruth import _checks
from halftruth._errors import InputError, Note, NotIdentifiable, arg
from halftruth.prior._belief import PriorEstimate
from halftruth.prior._inputs import SAMPLE, USES_NEGATIVES, EstimateInputs, read_inputs, read_knowledge
from halftruth.prior._methods import SAMPLE as SAMPLE_ASSUMPTION
from halftruth.prior._methods import Method, get_method
from halftruth.prior._samples import Fit, Knowledge
from halftruth.prior.estimators._alphamax import fit_noisy
from halftruth.prior.estimators._auto import N_DRAWS, fit_auto, fit_auto_noisy, fit_of
from halftruth.table._score_table import POSITIVE, ScoreTable

__all__ = [
    "PriorAndPurity", "estimate_alpha", "estimate_both", "estimate_prior", "estimate_prior_and_purity",
    "fit_with_replicates", "prior_upper_bound",
]  # fmt: skip

Seed = int | np.random.Generator
CONTRADICTS = 0.005  # chance of so many positives in a labeled sample below which it contradicts a smaller α
SMALLEST = 1e-12  # the smallest probability that stands out from rounding
OF_PURITY = Note(
    "not_identified",
    "Positives and unlabeled alone allow every purity up to 1: its estimate rests on what the prior's does.",
)
UNUSED = Note(
    "unused",
    "Known negatives were not used: with positives of unknown purity they identify only α/ρ. Pass the purity "
    "and the prior is estimated with them.",
)


def estimate_prior(
    positive: Any,
    unlabeled: ArrayLike | None = None,
    *,
    negative: ArrayLike | None = None,
    method: str = "auto",
    purity: float = 1.0,
    within: tuple[float, float] | None = None,
    labeled_sample: tuple[int, int] | None = None,
    confidence_level: float = 0.95,
    n_resamples: int | None = None,
    rng: int | np.random.Generator = 0,
    positive_weight: ArrayLike | None = None,
    unlabeled_weight: ArrayLike | None = None,
    negative_weight: ArrayLike | None = None,
) -> PriorEstimate:
    """The share α of positives among the unlabeled, from scores.

    The data alone identify only a set: every α in [0, ``upper``] fits. A point within it needs an assumption,
    or a little more evidence: a few labeled cases, a range, or known negatives. Without these
    the result's ``status`` is "not identified", and its ``reason`` names what value and interval rest on.

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
    inputs.refuse_selection()
    known = read_knowledge(inputs.purity, within, labeled_sample)
    level = _checks.confidence_level(confidence_level)
    return _alpha(inputs, method, known, level, n_resamples, rng)


def _alpha(
    inputs: EstimateInputs, method: str, known: Knowledge, level: float, n_resamples: int | None, rng: Seed
) -> PriorEstimate:
    generator = np.random.default_rng(rng)
    if method == SAMPLE:
        fitted, assumption = _from_sample(known, generator), SAMPLE_ASSUMPTION
    else:
        name = "mixture" if method == "auto" and inputs.has_negatives else method
        estimator = get_method(name, also=f", or 'sample' with {arg('labeled_sample')}")
        propensities = inputs.table.strata[POSITIVE].meaning is not None
        assumption = estimator.assumption_with(negatives=inputs.has_negatives, propensities=propensities)
        method = estimator.name
        _refuse(estimator, inputs, known)
        fitted = fit_with_replicates(inputs, estimator, known, n_resamples, generator)
    if inputs.has_negatives and method not in USES_NEGATIVES:
        unused = Note("unused", f"Known negatives were not used by {method}; mixture does.")
        fitted = replace(fitted, notes=(*fitted.notes, unused))
    fitted = replace(fitted, notes=fitted.notes + _conflict(known, inputs.upper(level)))
    return inputs.estimate(fitted, method, assumption, level, sampled=any(known.labeled_counts))


def fit_with_replicates(
    inputs: EstimateInputs,
    estimator: Method,
    known: Knowledge,
    n_resamples: int | None,
    rng: np.random.Generator,
) -> Fit:
    """The fit of one estimator: "auto" has draws of its own, the others are resampled."""
    if estimator.name == "auto":
        return fit_auto(inputs.samples, known=inputs.possible(known), rng=rng)
    n = estimator.resamples(n_resamples)
    return inputs.with_replicates(lambda samples: (estimator.fit(samples, rng),), n, rng)[0]


@dataclass(frozen=True)
class PriorAndPurity:
    """α and ρ, whose replicates belong together one by one."""

    prior: PriorEstimate
    purity: PriorEstimate


def estimate_prior_and_purity(
    positive: Any,
    unlabeled: ArrayLike | None = None,
    *,
    method: str = "auto",
    confidence_level: float = 0.95,
    n_resamples: int | None = None,
    rng: int | np.random.Generator = 0,
    positive_weight: ArrayLike | None = None,
    unlabeled_weight: ArrayLike | None = None,
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
    >>> strata = simulated.draw_strata(300, 1000, rng=1, purity=0.8)
    >>> p, u = strata.positive.score, strata.unlabeled.score
    >>> both = ht.estimate_prior_and_purity(p, u)
    >>> both.purity.low < 0.8 < both.purity.high
    True
    >>> noisy = ht.PositiveUnlabeled(p, u, prior=both.prior, purity=both.purity)
    """
    inputs = read_inputs(positive, unlabeled, None, 1.0, (positive_weight, unlabeled_weight, None))
    inputs.refuse_selection()
    inputs = replace(inputs, purity=1.0)  # what an evidence says of it is not asked for
    return _both(inputs, method, _checks.confidence_level(confidence_level), n_resamples, rng)


def prior_upper_bound(
    positive: Any,
    unlabeled: ArrayLike | None = None,
    *,
    confidence_level: float = 0.95,
    positive_weight: ArrayLike | None = None,
    unlabeled_weight: ArrayLike | None = None,
) -> float:
    """One-sided confidence bound on α: P_U ≥ α P₁ on every set of scores.

    Above, below and between thresholds the positives' share α of the unlabeled is at most P_U/P₁. Thresholds
    are positive scores of fixed ranks, for which the bound holds at any sample size and with any ties.

    Parameters
    ----------
    positive, unlabeled : array
        Scores of clean positives (a random sample of the positives) and of the unlabeled; or one evidence as
        ``positive``, whose purity counts.
    confidence_level : float
    positive_weight, unlabeled_weight : array, optional
        Unequal weights count as (Σw)²/Σw² rows, and the bound is then approximate.

    Returns
    -------
    float in (0, 1]

    Examples
    --------
    >>> import numpy as np, halftruth as ht
    >>> rng = np.random.default_rng(0)
    >>> unlabeled = np.append(rng.normal(0, 1, 18_000), rng.normal(4, 1, 2_000))
    >>> ht.prior_upper_bound(rng.normal(4, 1, 2_000), unlabeled) < 0.12
    True
    """
    inputs = read_inputs(positive, unlabeled, None, 1.0, (positive_weight, unlabeled_weight, None))
    return inputs.upper(_checks.confidence_level(confidence_level))


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
    inputs: EstimateInputs, method: str, level: float, n_resamples: int | None, rng: Seed
) -> PriorAndPurity:
    generator = np.random.default_rng(rng)
    estimator = get_method(method)
    if estimator.needs_negatives:
        raise InputError(
            f"{arg('method', method)} does not estimate a purity. Leave it out, or pass 'alphamax'."
        )
    if estimator.name == "auto":
        alpha, rho = fit_auto_noisy(inputs.samples, inputs.possible(Knowledge(purity=None)), generator)
    else:
        alpha, rho = replace(inputs, joined=False).with_replicates(
            lambda samples: fit_noisy(samples, lambda one_way: estimator.fit(one_way, generator)),
            estimator.resamples(n_resamples),
            generator,
        )
    premise, *consequence = estimator.assumption.split("; ")
    noise = "the mislabeled ones a random sample of the negatives, and some scores reached by negatives only"
    assumption = "; ".join([f"{premise}, {noise}", *consequence])
    prior = inputs.estimate(alpha, estimator.name, assumption, level, purity=rho)
    if inputs.has_negatives:
        prior = replace(prior, notes=(*prior.notes, UNUSED))
    purity = PriorEstimate(
        value=rho.value,
        replicates=rho.replicates,
        method=estimator.name,
        assumption=assumption,
        confidence_level=level,
        notes=(OF_PURITY, *rho.notes),
        curve=rho.curve,
    )
    return PriorAndPurity(prior, purity)


def _refuse(estimator: Method, inputs: EstimateInputs, known: Knowledge) -> None:
    if estimator.needs_negatives and not inputs.has_negatives:
        raise NotIdentifiable(
            f"{arg('method', estimator.name)} needs known negatives. Pass {arg('negative')}."
        )
    passed = {"within": known.within != (0.0, 1.0), "labeled_sample": any(known.labeled_counts)}
    for name, is_passed in passed.items():
        if is_passed and estimator.name != "auto":
            raise InputError(
                f"{arg(name)} is read by method 'auto' without known negatives, not by {estimator.name!r}."
            )


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
    return (Note("refuted", text),)
