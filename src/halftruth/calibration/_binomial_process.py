"""Binomial process modeling: a beta curve through the mean labels of bins, and the error that it implies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from halftruth import _checks
from halftruth._checks import Vector
from halftruth.measure._arithmetic import Index, Number, by_bin, integral, ratio, scalar
from halftruth.measure._score_measure import Measurable, ScoreMeasure, as_measure
from halftruth.metrics._record import distance

if TYPE_CHECKING:  # loads SciPy, which most evaluations do without
    from halftruth.calibration._beta_curve_fit import Points

__all__ = ["BetaCurve", "bpm_calibration_error", "fit_curve"]

Variant: TypeAlias = Literal["paper", "authors"]
VARIANTS: tuple[Variant, ...] = ("paper", "authors")
FEWEST, FEW, MOST = 3, 10, 500  # bins of the coarsest binning, and of the finest, at least and at most
TARGETS = (-1.0, 2.0)
"""Mean labels beyond, of bins with next to no mass, would outweigh all others by the exponential."""
FEW_POINTS = 400
CHUNK = 1 << 18  # numbers in one array of a chunk of measures
NODES = 1 << 10  # at which the integral over a Beta law is worked out
NARROW, WIDE = 1e9, 1e-8
"""A Beta law with a1 + a2 above the first is a point, with a1 or a2 below the second lies at 0 and 1."""


@dataclass(frozen=True)
class BetaCurve:
    """A calibration curve g(s) = 1 / (1 + s^−a (1−s)^b e^c), that is logit g = a ln s − b ln(1−s) − c.

    It rises with the score where a, b ≥ 0; a = b = 1 and c = 0 leave the scores as they are, but for those
    nearer to 0 or 1 than 1e-10, which count as so far from it. Arrays stand for several curves.
    """

    a: Number
    b: Number
    c: Number

    def __call__(self, score: Number) -> Number:
        """The curve at some scores; of several curves all of them, (..., n_scores)."""
        from scipy.special import expit

        log_s, log_odds = _logs(np.asarray(score, dtype=np.float64))
        a, b, c = (np.asarray(x, dtype=np.float64) for x in (self.a, self.b, self.c))
        if a.ndim:
            a, b, c = (x[..., None] for x in (a, b, c))
        return scalar(expit(a * log_s + b * log_odds - c))


def fit_curve(evidence: Measurable, variant: Variant = "paper") -> BetaCurve:
    """Estimate the calibration curve by binomial process modeling, as `bpm_calibration_error` does."""
    measure = as_measure(evidence).need_probabilities("Binomial process modeling")
    a, b, c = np.moveaxis(_fit(measure, _checks.choice(variant, "variant", VARIANTS)), -1, 0)
    return BetaCurve(scalar(a), scalar(b), scalar(c))


@distance(
    aliases=("tce_bpm",),
    selection="unknown",
    formula="∫ abs(g(s) − s) over a Beta law of the scores, g a beta curve through bins of several sizes",
    paper="Dong, Jiang, Pan & Yu 2025",
    unit_laws=False,
    twin=False,
)
def bpm_calibration_error(
    evidence: Measurable, variant: Variant = "paper", density: Literal["beta", "empirical"] = "beta"
) -> float:
    """Calibration error ∫ |g(s) − s| of the curve g fitted by binomial process modeling (TCE_bpm).

    Equal-mass binnings of several sizes give points (mean score, mean label); the beta curve g, with
    logit g = a ln s − b ln(1−s) − c, is the one nearest to all of them.

    Parameters
    ----------
    evidence : evidence or ScoreMeasure
        Scores must be probabilities.
    variant : {"paper", "authors"}
        "paper": Σ over binnings and bins of (share of mass) · exp((g − label)²) is least over a, b ≥ 0.
        "authors": as in the code of its authors, −Σ exp(−(g − label)²) over bins that count alike is lowered
        by Nelder and Mead's method from a = b = 5, without bounds.
    density : {"beta", "empirical"}
        Of the scores: the Beta law with the mean and the variance (divisor n − 1) of μ, or μ itself.

    Notes
    -----
    The binnings have from n//100 to n//20 bins, in ten steps, n being the rows of full labels that would say
    as much. With "paper" the coarsest has 3 to 100 bins, the finest 10 to 500. Scores that are equal stay in
    one bin. Mean labels outside [0, 1], as partial evidence may give them, are targets like others, if no
    farther than from −1 to 2. Where the points do not determine the curve, it stays near where the search
    began.

    Where all scores are equal, or their variance is more than any Beta law on (0, 1) has (scores of 0 and 1
    alone), the law is its limit: that one score, or the two ends.

    Examples
    --------
    >>> import numpy as np
    >>> import halftruth as ht
    >>> s = np.linspace(0.005, 0.995, 100)
    >>> round(ht.bpm_calibration_error(ht.SoftLabeled(s, s)), 6)
    0.0
    """
    measure = as_measure(evidence).need_probabilities("Calibration error")
    _checks.choice(density, "density", ("beta", "empirical"))
    theta = _fit(measure, _checks.choice(variant, "variant", VARIANTS))
    if density == "empirical":
        curve = BetaCurve(*np.moveaxis(theta, -1, 0))
        gap = np.abs(curve(measure.score) - measure.score)
        return measure.result(ratio(integral(gap, measure.mass), measure.total))
    flat = theta.reshape(-1, 3)
    mean, variance = (x.reshape(-1) for x in _moments(measure))
    step = max(1, CHUNK // NODES)
    chunks = [slice(start, start + step) for start in range(0, len(flat), step)]
    value = np.concatenate([_beta_gap(flat[chunk], mean[chunk], variance[chunk]) for chunk in chunks])
    return measure.result(value.reshape(measure.shape))


def _logs(score: Vector) -> tuple[Vector, Vector]:
    """Logarithms ln s and −ln(1−s), of scores kept off 0 and 1."""
    from halftruth.calibration._beta_curve_fit import EDGE

    inside = np.clip(score, EDGE, 1 - EDGE)
    return np.log(inside), -np.log1p(-inside)


def _sizes(size: float, variant: Variant) -> list[int]:
    """Numbers of bins, in ten steps."""
    low, high = int(size) // 100, int(size) // 20
    if variant == "paper":
        low, high = min(max(low, FEWEST), MOST // 5), min(max(high, FEW), MOST)
    low = max(low, 1)
    return list(range(low, max(high, low) + 1, max(1, (high - low) // 10)))


def _fit(measure: ScoreMeasure, variant: Variant) -> Vector:
    """(a, b, c) along a new last axis; NaN where the measure is empty or undefined."""
    from halftruth.calibration import _beta_curve_fit

    sizes = _sizes(measure.size, variant)
    n = int(np.prod(measure.shape, dtype=np.intp))
    out = np.full((n, 3), np.nan)
    good = ((measure.total > 0) & np.isfinite(measure.positives)).reshape(n)
    rows = max(1, CHUNK // (4 * sum(sizes)))
    # Minima are looked for with all points, or with one binning of a middle size where there are many.
    middle = len(sizes) // 2
    before = sum(sizes[:middle])
    pilot = slice(None) if sum(sizes) <= FEW_POINTS else slice(before, before + sizes[middle])
    for start in range(0, n, rows):
        chunk = np.arange(start, min(start + rows, n))[good[start : start + rows]]
        if len(chunk):
            points = _points(_rows(measure, chunk), sizes, variant)
            out[chunk] = _beta_curve_fit.fit(points, pilot) if variant == "paper" else _by_simplex(points)
    return out.reshape(*measure.shape, 3)


def _rows(measure: ScoreMeasure, rows: Index) -> ScoreMeasure:
    """Some of the measures along one axis; a single measure as it is, lest many rows be unfolded."""
    if measure.shape == ():
        return measure
    mass, pos_mass = (x.reshape(-1, len(measure.score))[rows] for x in (measure.mass, measure.pos_mass))
    return ScoreMeasure(score=measure.score, mass=mass, pos_mass=pos_mass, size=measure.size)


def _points(measure: ScoreMeasure, sizes: list[int], variant: Variant) -> Points:
    """Of every bin of every binning; empty bins weigh nothing."""
    from halftruth.calibration._beta_curve_fit import Points

    binnings = [measure.in_bins(size) for size in sizes]
    mass, pos, score = (
        np.atleast_2d(np.concatenate([getattr(bins, name) for bins in binnings], axis=-1))
        for name in ("mass", "pos", "score")
    )
    used = mass > 0
    label, mean = (np.divide(x, mass, out=np.full_like(mass, 0.5), where=used) for x in (pos, score))
    if variant == "paper":
        weight = np.where(used, mass, 0.0) / np.reshape(measure.total, (-1, 1))
    else:
        weight = np.concatenate([_filled(bins.mass > 0) for bins in binnings], axis=-1).reshape(mass.shape)
    log_s, log_odds = _logs(mean)
    return Points(log_s, log_odds, np.clip(label, *TARGETS), weight)


def _filled(used: NDArray[np.bool_]) -> Vector:
    """How many bins each one fills: scores that are equal may fill several, all but one of them empty."""
    number = np.arange(used.shape[-1])
    owner = np.maximum.accumulate(np.where(used, number, 0), axis=-1)
    return np.asarray(np.where(used, by_bin(np.ones(used.shape), owner, used.shape[-1]), 0.0))


def _by_simplex(points: Points) -> Vector:
    """The authors' way: each measure by itself."""
    from scipy.optimize import minimize

    out = np.empty((len(points.label), 3))
    for row in range(len(out)):
        one = points[np.asarray([row])]

        def loss(theta: Vector, one: Points = one) -> float:
            gap = one.at(theta[None]) - one.label
            return -float((one.weight * np.exp(-(gap**2))).sum())

        start = [5.0, 5.0, 10 * np.log(2)]
        out[row] = minimize(loss, start, method="Nelder-Mead", options={"fatol": 1e-10}).x
    return out


def _moments(measure: ScoreMeasure) -> tuple[Vector, Vector]:
    """Mean and variance of the scores; the divisor n − 1 counts rows, by mass or by what they are worth."""
    mean = ratio(integral(measure.score, measure.mass), measure.total)
    square = (measure.score - mean[..., None]) ** 2
    rows = np.maximum(measure.total, measure.size)
    factor = np.where(rows > 1, rows / np.maximum(rows - 1, 1e-9), 1.0)
    return mean, ratio(integral(square, measure.mass), measure.total) * factor


def _beta_gap(theta: Vector, mean: Vector, variance: Vector) -> Vector:
    """∫ |g − s| over the Beta laws with these moments, or over their limits."""
    from scipy.special import expit, log_expit

    from halftruth.calibration._beta_curve_fit import mean_gap

    curve = BetaCurve(*theta.T)
    spread = mean * (1 - mean)
    # The Beta law by its moments: a1 + a2 = m (1−m) / v − 1, of which a1 is the share m.
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.where(variance > 0, spread / variance, np.inf) - 1
        a1, a2 = mean * size, (1 - mean) * size
    at_mean, at_ends = (curve(x) for x in (mean[:, None], np.asarray([0.0, 1.0])))
    ends = mean * (1 - at_ends[:, 1]) + (1 - mean) * at_ends[:, 0]
    out = np.where(size > NARROW, np.abs(at_mean[:, 0] - mean), ends)
    out = np.where(np.isnan(theta[:, 0]), np.nan, out)
    inner = (np.minimum(a1, a2) >= WIDE) & (size <= NARROW) & ~np.isnan(out)
    if inner.any():
        parameters = theta[inner].T[..., None]

        def gap(x: Vector, rows: Index) -> Vector:
            a, b, c = parameters[:, rows]
            return np.asarray(expit(a * log_expit(x) - b * log_expit(-x) - c) - expit(x))

        out[inner] = mean_gap(gap, a1[inner], a2[inner])
    return np.asarray(out)
