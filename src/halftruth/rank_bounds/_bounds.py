"""`bounds`: between what the truth lies, whichever unlabeled rows are positive."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from halftruth import _checks
from halftruth._errors import InputError, Note
from halftruth.evidence import PositiveUnlabeled
from halftruth.prior._belief import Share
from halftruth.rank_bounds._bound_results import CurveBounds, MetricBounds
from halftruth.rank_bounds._extremes import AREAS, bounded_curve, extremes
from halftruth.rank_bounds._positive_counts import POPULATION, ROWS, AllowedTotals, Totals, calibration_points
from halftruth.rank_bounds._rank_bands import KINDS, RESAMPLED
from halftruth.rank_bounds._rank_paths import Bander, Ranking
from halftruth.table._score_table import NEGATIVE, POSITIVE

__all__ = ["bounds"]


def bounds(
    evidence: PositiveUnlabeled,
    of: str | Callable[..., Any] = "roc",
    *,
    band: str = "bootstrap",
    ranks: str | None = None,
    prior: Share | None = None,
    prior_of: str = POPULATION,
    labeled_sample: tuple[int, int] | None = None,
    threshold: float | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 2000,
    rng: int | np.random.Generator = 0,
    **parameters: Any,
) -> CurveBounds | MetricBounds:
    """Bounds on a curve or a metric over all labels that the unlabeled rows can have.

    The known positives are a random sample of the positives, so the latent ones among the unlabeled rows have
    ranks like theirs, within a band. Every choice of α·n_U unlabeled rows within the band is a possible
    truth; the bounds are the least and the greatest that any of them gives.

    Parameters
    ----------
    evidence : PositiveUnlabeled
        Of clean, unweighted rows. With known negatives the ranks of the latent negatives are bounded too.
        ``population="unlabeled"`` judges the unlabeled rows alone, ``"all"`` all rows.
    of : "roc", "pr", the name of a metric, or a function ``f(tp, fp, fn, tn)``
        A function gets arrays, one place for each possible table.
    band : str
        For the latent positives at hand: "bootstrap" (all ranks at once, calibrated by simulated choices of
        which positives are known), "dkw" (all ranks at once, by the two-sample distance) or "exact" (any one
        rank). As published, for the population they come from: "claesen-bootstrap", "claesen-dkw",
        "claesen-exact"; with few latent positives these do not hold.
    ranks : {"positive", "negative", "both"}, optional
        Whose ranks are used; by default those of all known rows, each at its part of the error. "negative" is
        the reversed method.
    prior : optional
        π as in the evidence, in its place; an estimate is taken by its interval, at half of the error.
        Without any prior every α is allowed that the ranks do not refute.
    prior_of : {"population", "rows"}
        Whose share of positives the prior is. Rows drawn from a population hold a binomial number of
        positives, which takes half of the error; "rows": it is the share among the rows at hand, exactly.
    labeled_sample : (k, m), optional
        k positives among m random unlabeled rows: α from the Beta limits of Clopper and Pearson, at half of
        the error.
    threshold : float, optional
        For metrics at a threshold.
    confidence_level : float
    n_resamples, rng
        Of the band "bootstrap".
    **parameters
        Of the metric, e.g. ``k=100``.

    Returns
    -------
    CurveBounds
        For a curve: ``.lower`` and ``.upper``, ``.area``, ``.tables``, ``.band``, ``.sensitivity``.
    MetricBounds
        For a metric: ``.low`` and ``.high``.

    Examples
    --------
    >>> import numpy as np, halftruth as ht
    >>> rng = np.random.default_rng(0)
    >>> unlabeled = np.append(rng.normal(0, 1, 1800), rng.normal(2, 1, 200))
    >>> evidence = ht.PositiveUnlabeled(rng.normal(2, 1, 300), unlabeled, prior=0.1)
    >>> area = ht.bounds(evidence, "roc_auc")
    >>> 0.8 < area.low < 0.921 < area.high < 0.99  # 0.921 is the area of the two normal laws
    True
    >>> ht.bounds(evidence, "roc").upper
    RocCurve(2301 points: fpr, tpr, threshold)
    >>> ht.bounds(evidence, "recall", threshold=2.0, prior=(0.08, 0.12)).low > 0.3
    True
    """
    level = _checks.confidence_level(confidence_level)
    _checks.choice(band, "band", tuple(KINDS))
    _checks.choice(prior_of, "prior_of", (POPULATION, ROWS))
    n_resamples = _checks.count(n_resamples, "n_resamples", least=1)
    limit = None if threshold is None else _checks.threshold(threshold)
    ranking = Ranking.of(evidence)
    if prior is not None:
        evidence = evidence.with_shares(prior)
    allowed = AllowedTotals.of(evidence, prior_of, labeled_sample, level)
    bander = Bander(
        ranking=ranking,
        band=band,
        ranks=_ranks(ranks, ranking),
        confidence_level=allowed.confidence_level,
        n_resamples=n_resamples,
        seed=_seed(rng),
        selection=evidence.selection,
        calibrated_at=calibration_points(allowed.low, allowed.high, ranking.n_unlabeled),
    )
    if band == RESAMPLED:
        _refuse_few(n_resamples, bander.error)
    name, ends = extremes(AREAS.get(of, of) if isinstance(of, str) else of, ranking, limit, parameters)
    totals = Totals.possible(bander, allowed.low, allowed.high)
    notes = (*_notes(evidence, totals, band, labeled_sample is None), *allowed.notes)
    rests_on: dict[str, Any] = {"alpha": totals.range, "band_name": band, "confidence_level": level}
    if isinstance(of, str) and of in AREAS:
        return bounded_curve(of, totals, rests_on | {"notes": notes})
    low_end, high_end = totals.extremes(ends)
    if np.isnan(low_end.value):
        text = f"{name} has no value: a class is empty, or no row is called positive."
        notes += (Note("undefined", text),)
    return MetricBounds(
        metric=name,
        low=low_end.value,
        high=high_end.value,
        alpha_at_low=low_end.alpha,
        alpha_at_high=high_end.alpha,
        notes=notes,
        **rests_on,
    )


def _ranks(ranks: str | None, ranking: Ranking) -> tuple[str, ...]:
    """The strata whose ranks are used."""
    known = (POSITIVE, NEGATIVE) if ranking.n_negative else (POSITIVE,)
    if ranks is None:
        return known
    _checks.choice(ranks, "ranks", (POSITIVE, NEGATIVE, "both"))
    if ranks != POSITIVE and not ranking.n_negative:
        raise InputError(f"`ranks`={ranks!r} needs known negatives, and there are none. Leave it out.")
    return known if ranks == "both" else (ranks,)


def _seed(rng: int | np.random.Generator) -> int:
    """A whole number, so that every α is judged with the same random numbers."""
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(2**32))
    return _checks.count(rng, "rng", least=0)


def _refuse_few(n_resamples: int, error: float) -> None:
    # Of n simulated merges and the one at hand, the strangest has a chance of 1/(n + 1): no error below it.
    fewest = int(np.ceil(1 / error - 1e-9)) - 1
    if n_resamples < fewest:
        raise InputError(
            argument="n_resamples",
            must=f"be at least {fewest} for a band of confidence {1 - error:.4g}",
            got=f"{n_resamples}: fewer cannot be so strict",
            remedy="Pass more, or band='dkw', which needs none.",
        )


def _notes(evidence: PositiveUnlabeled, totals: Totals, band: str, no_sample: bool) -> Iterator[Note]:
    yield evidence.assumption
    low, high = totals.range
    if totals.searched:
        yield Note(
            "method",
            f"α was looked at in {len(totals.numbers)} places from {low:.4g} to {high:.4g}, and closer "
            f"around the extremes of a number.",
        )
    kind = KINDS[band]
    if not kind.prediction:
        yield Note(
            "interval",
            f"band={band!r} is for the population of positives, not for the latent ones at hand, whose own "
            f"noise it leaves out.",
        )
    if not kind.simultaneous:
        text = f"band={band!r} holds at any one threshold, not at all of them together."
        yield Note("interval", text)
    if no_sample and evidence.prior.value is None:
        yield Note(
            "identifiability",
            f"No prior was given: α may be from {low:.4g} to {high:.4g}, which the ranks do not refute. "
            f"A few hidden positives may lie anywhere: a prior that rules out the least α says much more.",
        )
    elif totals.cut:
        yield Note("prior", f"Of the α allowed, the ranks refute all but {low:.4g} to {high:.4g}.")
