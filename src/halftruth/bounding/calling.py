"""`bounds`: between what the truth lies, whichever unlabeled rows are positive."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from halftruth import checks
from halftruth.bounding.bands import KINDS
from halftruth.bounding.extremes import extremes
from halftruth.bounding.outcome import (
    CurveBounds,
    MetricBounds,
    tables_of,
)
from halftruth.bounding.paths import Bander, Paths
from halftruth.bounding.ranking import Ranking
from halftruth.bounding.totals import Totals, calibration_points
from halftruth.errors import InputError
from halftruth.evidence import PositiveUnlabeled
from halftruth.metrics.curves import PrecisionRecallCurve, RocCurve
from halftruth.sweep import Sweep
from halftruth.table import NEGATIVE, POSITIVE, UNLABELED

CURVES = {"roc": "roc_auc", "pr": "pr_auc"}
"""Curves, and the metrics that are the areas under them."""


def bounds(
    evidence: PositiveUnlabeled,
    of: str | Callable[..., Any] = "roc",
    *,
    band: str = "bootstrap",
    ranks: str | None = None,
    prior: Any = None,
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
    band : str
        For the latent positives at hand: "bootstrap" (all ranks at once, calibrated by simulated choices of
        which positives are known), "dkw" (all ranks at once, by the two-sample distance) or "exact" (any one
        rank). As published, for the population they come from: "claesen-bootstrap", "claesen-dkw",
        "claesen-exact"; with few latent positives these do not hold.
    ranks : {"positive", "negative", "both"}, optional
        Whose ranks are used; by default those of all known rows, each at its part of the error. "negative" is
        the reversed method.
    prior : optional
        π as in the evidence, in its place. The share α of positives among the unlabeled that follows from it
        is taken as that of the rows at hand; an estimate is taken by its interval, at half of the error.
        Without any prior every α is allowed that the ranks do not refute.
    labeled_sample : (k, m), optional
        k positives among m random unlabeled rows: α from its Beta posterior, at half of the error.
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
    >>> found = ht.bounds(evidence, "roc_auc")
    >>> 0.8 < found.low < 0.921 < found.high < 0.99  # 0.921 is the area of the two normal laws
    True
    >>> ht.bounds(evidence, "roc").upper
    RocCurve(2301 points: fpr, tpr, threshold)
    >>> ht.bounds(evidence, "recall", threshold=2.0, prior=(0.08, 0.12)).low > 0.3
    True
    """
    level = checks.confidence_level(confidence_level)
    checks.choice(band, "band", tuple(KINDS))
    n_resamples = checks.count(n_resamples, "n_resamples", least=1)
    limit = None if threshold is None else checks.threshold(threshold)
    ranking = Ranking.of(evidence)
    if prior is not None:
        evidence = PositiveUnlabeled.from_table(evidence.table, prior=prior, population=evidence.population)
    low, high, of_band = _believed(evidence, labeled_sample, level)
    seed = (
        int(np.random.default_rng(rng).integers(2**32)) if isinstance(rng, np.random.Generator) else int(rng)
    )
    least, most = _whole(low, high, ranking.n_unlabeled)
    bander = Bander(
        ranking=ranking,
        band=band,
        ranks=_ranks(ranks, ranking),
        confidence_level=of_band,
        n_resamples=n_resamples,
        seed=seed,
        calibrated_at=calibration_points(least, most, ranking.n_unlabeled),
    )
    totals = Totals.possible(bander, least, most)
    said: dict[str, Any] = {
        "alpha": totals.range,
        "band_name": band,
        "confidence_level": level,
        "notes": _notes(evidence, totals, band, nothing_said=(low, high) == (0.0, 1.0)),
    }
    if of in CURVES:
        if parameters:
            raise InputError(f"Bounds on a curve take no {', '.join(parameters)}. Leave it out.")
        return _curve(str(of), totals, said)
    name, ends = extremes(of, ranking, limit, parameters)
    low_end, high_end = totals.extremes(ends)
    totals.warned([low_end.value], [high_end.value])
    return MetricBounds(
        metric=name,
        low=low_end.value,
        high=high_end.value,
        alpha_at_low=low_end.alpha,
        alpha_at_high=high_end.alpha,
        **said,
    )


def _ranks(asked: str | None, ranking: Ranking) -> tuple[str, ...]:
    """The strata whose ranks are used."""
    known = (POSITIVE, NEGATIVE) if ranking.n_negative else (POSITIVE,)
    if asked is None:
        return known
    checks.choice(asked, "ranks", (POSITIVE, NEGATIVE, "both"))
    if asked != POSITIVE and not ranking.n_negative:
        raise InputError(f"`ranks`={asked!r} needs known negatives, and there are none. Leave it out.")
    return known if asked == "both" else (asked,)


def _believed(evidence: PositiveUnlabeled, labeled_sample: Any, level: float) -> tuple[float, float, float]:
    """The lowest and the highest α that is allowed, and the confidence that is left for the band."""
    halved = (1 + level) / 2
    tails = [(1 - halved) / 2, (1 + halved) / 2]
    if labeled_sample is not None:
        if evidence.prior.value is not None:
            raise InputError("Pass `prior` or `labeled_sample`, not both: each says what α can be.")
        from scipy.special import betaincinv

        found, drawn = checks.labeled_sample(labeled_sample)
        if drawn > (rows := len(evidence.table.strata[UNLABELED])):
            raise InputError(
                f"`labeled_sample` has {drawn} cases, and there are {rows} unlabeled rows to draw them from. "
                f"Pass (positives, cases) of a random part of these."
            )
        low, high = betaincinv(found + 1.0, drawn - found + 1.0, tails)
        return float(low), float(high), halved
    if evidence.prior.replicates is not None:
        shares = evidence.alpha_of(np.quantile(evidence.prior.replicates, tails))
        low, high = np.clip(shares, 0, 1)
        return float(low), float(high), halved
    low, high = evidence.alpha_ends() or (0.0, 1.0)
    return low, high, level


def _whole(low: float, high: float, n: int) -> tuple[int, int]:
    """The numbers of latent positives among n rows whose share lies in a range, or the nearest."""
    least, most = int(np.ceil(low * n - 1e-9)), int(np.floor(high * n + 1e-9))
    if least > most:
        least = most = round((low + high) / 2 * n)
    return max(least, 0), min(most, n)


def _notes(evidence: PositiveUnlabeled, totals: Totals, band: str, *, nothing_said: bool) -> tuple[str, ...]:
    notes = [evidence.assumption]
    kind = KINDS[band]
    if not kind.prediction:
        notes.append(
            f"band={band!r} is for the population of positives, not for the latent ones at hand, whose own "
            f"noise it leaves out."
        )
    if not kind.simultaneous:
        notes.append(f"band={band!r} holds at any one threshold, not at all of them together.")
    if nothing_said:
        low, high = totals.range
        notes.append(
            f"No prior was given: α may be from {low:.4g} to {high:.4g}, which the ranks do not refute."
        )
    elif totals.cut:
        low, high = totals.range
        notes.append(f"Of the α allowed, the ranks refute all but {low:.4g} to {high:.4g}.")
    return tuple(notes)


def _curve(of: str, totals: Totals, said: dict[str, Any]) -> CurveBounds:
    ranking = totals.bander.ranking
    every = [paths for paths in totals.paths() if paths.possible]
    lower, upper = (_joined(of, ranking, every, worst=worst) for worst in (True, False))
    _, area = extremes(CURVES[of], ranking, None, {})
    areas = totals.warned(*zip(*map(area, every), strict=True))
    return CurveBounds(
        lower=lower,
        upper=upper,
        area=areas,
        ranking=ranking,
        every=tuple(every),
        **said,
    )


def _joined(of: str, ranking: Ranking, every: list[Paths], *, worst: bool) -> RocCurve | PrecisionRecallCurve:
    """The curve through the worst (best) rates at each threshold, over the numbers of latent positives."""
    least, most = (np.fmin, np.fmax) if worst else (np.fmax, np.fmin)
    fpr = tpr = precision = np.full(len(ranking.threshold), np.nan)
    for paths in every:
        table = tables_of(ranking, paths.low if worst else paths.high, paths.total)
        line = Sweep(threshold=ranking.threshold, tp=table.tp, fp=table.fp, predicted=table.tp + table.fp)
        fpr, tpr, precision = most(fpr, line.fpr), least(tpr, line.tpr), least(precision, line.precision)
    if of == "roc":
        return RocCurve(fpr=fpr, tpr=tpr, threshold=ranking.threshold)
    return PrecisionRecallCurve(precision=precision, recall=tpr, threshold=ranking.threshold)
