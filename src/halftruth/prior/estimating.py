"""estimate_prior: one call for every estimator of the class prior, with its interval and what it rests on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from halftruth import _checks
from halftruth._errors import InputError, Note, NotIdentifiable, arg
from halftruth.prior import alphamax, auto, methods
from halftruth.prior._belief import PriorEstimate
from halftruth.prior.fit import Fit
from halftruth.prior.given import Given, knowledge, read
from halftruth.prior.outcome import SAMPLE, result, with_replicates
from halftruth.prior.samples import Samples
from halftruth.table._score_table import POSITIVE, ScoreTable

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
    given = read(positive, unlabeled, negative, purity, weights)
    known = knowledge(given.purity, within, labeled_sample)
    level = _checks.confidence_level(confidence_level)
    return _alpha(given, method, known, level, n_resamples, rng)


def _alpha(
    given: Given, method: str, known: auto.Knowledge, level: float, n_resamples: int | None, rng: Any
) -> PriorEstimate:
    generator = np.random.default_rng(rng)
    if method == SAMPLE:
        fitted, assumption = _from_sample(known, generator), methods.SAMPLE
    else:
        wanted = "mixture" if method == "auto" and given.has_negatives else method
        chosen = methods.get(wanted, also=f", or 'sample' with {arg('labeled_sample')}")
        method, assumption = chosen.name, chosen.assumption_with(negatives=given.has_negatives)
        if given.table.strata[POSITIVE].meaning is not None:
            assumption = assumption.replace(methods.SCAR, "the propensities given are right")
        _refuse(chosen, given, known)
        if chosen.name == "auto":
            fitted = auto.fit(given.samples, known=given.possible(known), rng=generator)
        else:
            fitted = _resampled(given, chosen, _count(chosen, n_resamples), generator)
    if given.has_negatives and method not in USES_NEGATIVES:
        unused = Note("unused", f"Known negatives were not used by {method}; mixture does.")
        fitted = replace(fitted, notes=(*fitted.notes, unused))
    fitted = replace(fitted, notes=fitted.notes + _conflict(known, given.upper(level)))
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
    given = replace(given, purity=1.0)  # what an evidence says of it is not asked for
    return _both(given, method, _checks.confidence_level(confidence_level), n_resamples, rng)


def estimate_alpha(table: ScoreTable, purity: float) -> PriorEstimate:
    """α of the rows of a table, by default settings: what evidence means by "estimate"."""
    given = Given(table, purity, "unlabeled")
    made = _alpha(given, "auto", knowledge(purity, None, None), 0.95, None, 0)
    # At 0 or 1 one class would be empty, and no metric that compares classes would have a value.
    least = 0.5 / given.samples.n_unlabeled
    if least <= made.value <= 1 - least:
        return made
    value = min(max(made.value, least), 1 - least)
    text = f"The estimate is {made.value:g}; {value:.3g} is taken, half a row away: no class is empty."
    return replace(made, value=value, notes=(*made.notes, Note("prior", text)))


def estimate_both(table: ScoreTable) -> PriorAndPurity:
    """α and ρ of the rows of a table, by default settings."""
    return _both(Given(table, 1.0, "unlabeled"), "auto", 0.95, None, 0)


def _both(given: Given, method: str, level: float, n_resamples: int | None, rng: Any) -> PriorAndPurity:
    generator = np.random.default_rng(rng)
    chosen = methods.get(method)
    if chosen.needs_negatives:
        raise InputError(
            f"{arg('method', method)} does not estimate a purity. Leave it out, or pass 'alphamax'."
        )
    if chosen.name == "auto":
        pair = auto.fit_noisy(given.samples, given.possible(auto.Knowledge(purity=None)), generator)
    else:
        pair = _resampled_pair(given, chosen, _count(chosen, n_resamples), generator)
    assumption = (
        f"{chosen.assumption}; the mislabeled ones are a random sample of the negatives, and some scores are "
        f"reached by negatives only"
    )
    prior = result(pair[0], given, chosen.name, assumption, level, purity=pair[1])
    if given.has_negatives:
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


def _refuse(chosen: methods.Method, given: Given, known: auto.Knowledge) -> None:
    if chosen.needs_negatives and not given.has_negatives:
        raise NotIdentifiable(f"{arg('method', chosen.name)} needs known negatives. Pass {arg('negative')}.")
    told = {"within": known.within != (0.0, 1.0), "labeled_sample": any(known.found)}
    for name, given_too in told.items():
        if given_too and chosen.name != "auto":
            raise InputError(
                f"{arg(name)} is read by method 'auto' without known negatives, not by {chosen.name!r}."
            )


def _count(chosen: methods.Method, n_resamples: int | None) -> int:
    return chosen.n_resamples if n_resamples is None else _checks.count(n_resamples, "n_resamples", least=2)


def _from_sample(known: auto.Knowledge, rng: np.random.Generator) -> Fit:
    """The posterior of α from the labeled cases alone, Beta(k + ½, m − k + ½) within the range given."""
    from scipy.special import betainc, betaincinv

    if not any(known.found):
        raise InputError(
            f"{arg('method', 'sample')} needs {arg('labeled_sample')}: (positives found, cases labeled)."
        )
    a, b = known.found[0] + 0.5, known.found[1] + 0.5
    low, high = (float(betainc(a, b, end)) for end in known.within)
    if high - low < SMALLEST:
        raise InputError(
            f"{arg('labeled_sample')} leaves nothing of {arg('within')}: they contradict each other."
        )
    share = (rng.permutation(auto.N_DRAWS) + 0.5) / auto.N_DRAWS
    draws = np.clip(betaincinv(a, b, low + (high - low) * share), 0, 1)
    return auto.fit_of(draws, float(np.median(draws)))


def _conflict(known: auto.Knowledge, upper: float) -> tuple[Note, ...]:
    """What to say where the labeled sample and the scores contradict each other."""
    from scipy.special import betaincinv

    if not any(known.found):
        return ()
    positives, negatives = known.found
    least = float(betaincinv(positives, negatives + 1, CONTRADICTS)) if positives else 0.0
    if least <= upper:
        return ()
    text = (
        f"The labeled sample contradicts the scores: it puts α above {least:.4g}, they allow {upper:.4g} "
        "at most. The known positives are then no random sample of the positives (SCAR), or not pure: trust "
        f"the sample ({arg('method', SAMPLE)}), and see `scar_test`."
    )
    return (Note("contradiction", text),)


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

    alpha, purity = with_replicates(replace(given, joined=False), both, n, rng)
    return alpha, purity
