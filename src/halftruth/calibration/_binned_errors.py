"""Calibration errors over bins, as they come and without the noise that inflates them.

Bins add up |signal + noise|, so that noise alone looks like an error. Two remedies: take off what the noise
of each bin adds by itself (`corrected`), or infer the signal (`posterior`). The second takes the gap between
frequency and score, along the score, as a draw from a Gaussian process around the curves that Platt's and
beta calibration can straighten, weighs several widths and sizes of it by their likelihood, and gives the
error that is expected then.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Literal, TypeAlias

import numpy as np

from halftruth._checks import Vector
from halftruth._errors import InputError
from halftruth.measure._bins import BinSums, optimal_bins
from halftruth.measure._score_measure import Measurable, ScoreMeasure, as_measure, ratio
from halftruth.metrics._record import distance

__all__ = [
    "SIZES", "SLOPES", "SMOOTHING", "Norm", "adaptive_calibration_error", "calibration_error", "enough_bins",
    "maximum_calibration_error", "mean_distance", "posterior",
]  # fmt: skip

Norm: TypeAlias = Literal[1, 2, "max"]
"""Of the gaps between mean label and mean score: their mean, root mean square, or largest."""


@distance(
    title="Calibration error",
    meaning="how far scores lie from frequencies; lower is better",
    aliases=("ece",),
    formula="Σ over bins of abs(gap) / n; bins of equal mass or width, norms 1, 2, max; `debias=`",
    paper="Naeini, Cooper & Hauskrecht 2015; Kiryo, Futami & Sugiyama",
    default=True,
    unit_laws=False,
    certificate="own",
)
def calibration_error(
    evidence: Measurable,
    n_bins: int | Literal["optimal"] = "optimal",
    binning: str = "mass",
    norm: Norm = 1,
    debias: bool | Literal["corrected", "posterior"] = False,
) -> float:
    """Expected calibration error over bins: Σ_b |μ₁(bin) − ∫_bin s dμ| / μ(all) for norm 1.

    Parameters
    ----------
    evidence : evidence or ScoreMeasure
        Scores must be probabilities.
    n_bins : int or "optimal"
        "optimal" is ⌈(π²/n_P + 1/n_U)^(−1/3)⌉ from positives and unlabeled, ⌈n^(1/3)⌉ from labels.
    binning : {"mass", "width"}
        Bins (u_{b−1}, u_b] of equal population mass (u_b an order statistic) or of equal width.
    norm : 1, 2 or "max"
        Mean absolute, root mean square, or largest gap between mean label and mean score.
    debias : bool, "corrected" or "posterior"
        False: the plug-in estimate, which noise within bins inflates: a perfectly calibrated model has
        an error too. "corrected": less what noise adds to each bin (Ferro and Fricker's for norm 2, Kumar's
        for norm 1). "posterior": the error expected if the gaps are a smooth signal with noise; from
        positives and unlabeled it is nearest to the true calibration error where that signal does not change
        its sign many times. True: "corrected" where all rows have labels, else "posterior". The latter takes
        half as many bins more by default, from 8 to 40; bins of equal mass suit it best.

    Notes
    -----
    With few known positives the plug-in estimate is mostly noise, and more bins make it worse. "posterior"
    never quite reaches 0: few rows cannot show that nothing is wrong. Whole weights count rows; of others
    only the proportions matter. The noise is that of a given prior: the error of one that is estimated, or
    identified by known negatives, is in the interval of `evaluate` but is not taken off.

    Examples
    --------
    >>> import halftruth as ht
    >>> round(ht.calibration_error(ht.Labeled([1, 0, 1, 1], [0.2, 0.2, 0.9, 0.9]), n_bins=2), 12)
    0.2
    """
    measure = as_measure(evidence).need_probabilities("Calibration error")
    if isinstance(norm, bool) or norm not in (1, 2, "max"):
        raise InputError(argument="norm", must='be 1, 2 or "max"', got=repr(norm))
    remedy = _remedy(debias, measure, norm)
    number = measure.number_of_bins(n_bins)
    if remedy is posterior and isinstance(n_bins, str):
        number = enough_bins(measure.size)
    bins = measure.in_bins(number, binning)
    if remedy is not None:
        return measure.result(np.where(measure.total == 0, np.nan, remedy(bins, norm)))
    gap, mass = np.abs(bins.gap), bins.mass
    if norm == 1:
        return measure.result(ratio(gap.sum(axis=-1), measure.total))
    # A bin that ties left empty has no gap; 0/0 must not make the whole error undefined.
    gap_of_bin = np.where(mass == 0, 0.0, ratio(gap, mass))
    if norm == "max":
        return measure.result(np.where(measure.total == 0, np.nan, gap_of_bin.max(axis=-1)))
    return measure.result(np.sqrt(ratio((gap_of_bin**2 * mass).sum(axis=-1), measure.total)))


def _remedy(
    debias: bool | str, measure: ScoreMeasure, norm: Norm
) -> Callable[[BinSums, Norm], Vector] | None:
    """How noise is taken off; None where it is not."""
    if isinstance(debias, (bool, np.bool_)):
        if not debias:
            return None
        debias = "corrected" if measure.labeled and norm != "max" else "posterior"
    if debias not in ("corrected", "posterior"):
        must = 'be True, False, "corrected" or "posterior"'
        raise InputError(argument="debias", must=must, got=repr(debias))
    if debias == "corrected" and norm == "max":
        raise InputError('`debias`="corrected" knows norms 1 and 2, got "max". Pass debias="posterior".')
    return corrected if debias == "corrected" else posterior


@distance(
    aliases=("ace",),
    selection="largest",
    formula="mean over bins of equal mass of abs(gap) / μ(bin), each bin alike",
    paper="Nixon et al. 2019",
    unit_laws=False,
)
def adaptive_calibration_error(evidence: Measurable, n_bins: int | Literal["optimal"] = 15) -> float:
    """ACE: the mean over bins of equal mass of |mean label − mean score|, each bin alike.

    `n_bins` is a number or "optimal", as in `calibration_error`. Bins that ties leave empty do not count.

    Examples
    --------
    >>> import halftruth as ht
    >>> evidence = ht.Labeled([1, 0, 1, 1], [0.2, 0.2, 0.9, 0.9])
    >>> round(ht.adaptive_calibration_error(evidence, n_bins=2), 12)
    0.2
    """
    measure = as_measure(evidence).need_probabilities("Calibration error")
    bins = measure.in_bins(measure.number_of_bins(n_bins), "mass")
    used = bins.mass > 0
    # Each bin counts alike, so that empty ones must leave the mean and its divisor.
    gap_of_bin = np.where(used, ratio(np.abs(bins.gap), bins.mass), 0.0)
    return measure.result(ratio(gap_of_bin.sum(axis=-1), used.sum(axis=-1)))


@distance(
    aliases=("mce",),
    selection="largest",
    formula="largest abs(gap) / μ(bin) over the bins",
    paper="Naeini, Cooper & Hauskrecht 2015",
    unit_laws=False,
)
def maximum_calibration_error(
    evidence: Measurable, n_bins: int | Literal["optimal"] = "optimal", binning: str = "mass"
) -> float:
    """MCE: the largest |mean label − mean score| of a bin.

    It is `calibration_error` by the norm "max", and takes `n_bins` and `binning` as that does.

    Examples
    --------
    >>> import halftruth as ht
    >>> round(ht.maximum_calibration_error(ht.Labeled([1, 0, 1, 1], [0.2, 0.2, 0.9, 0.9]), n_bins=2), 12)
    0.3
    """
    return calibration_error(evidence, n_bins, binning, "max")


LENGTHS = (0.03, 0.07, 0.2)  # of what the curves leave over: over which share of the population it changes
SIZES = (0.15, 0.4, 1.0, 2.5)
"""Of what the curves leave over, in units of √(s (1−s)). The least is no smaller: what cannot be told from
calibrated is not declared calibrated."""
SLOPES = (0.0, 0.5, 2.5, 8.0)  # of the curves' three parameters
EDGE = 0.03  # scores nearer to 0 or 1 count as this near: a model may be sure and wrong
SMOOTHING = 2.0
"""Bins, of the number taken by default, over which the noise is averaged: a bin without a known positive is
not a bin without noise."""
RIDGE = 1e-10


def corrected(bins: BinSums, norm: Norm) -> Vector:
    """Less what noise adds to each bin: Ferro and Fricker's for norm 2, Kumar's for norm 1.

    With labels the noise is that of the bin's frequency a, a (1−a)/n, or /(n−1) for norm 2.
    """
    total, mass, gap = bins.total, bins.mass, np.abs(bins.gap)
    if norm == 2:
        spread = _variance(bins, lost=1)
        square = ratio(gap**2 - spread, mass)
        mean = ratio(np.where(mass > 0, square, 0.0).sum(axis=-1), total)
        return np.sqrt(np.maximum(mean, 0.0))
    # Were the gap seen the true one, noise would raise it to this on average; the rise is taken off
    # (Kumar, Liang & Ma 2019).
    expected = mean_distance(gap, np.sqrt(_variance(bins, lost=0)))
    return np.maximum(ratio((2 * gap - expected).sum(axis=-1), total), 0.0)


def _variance(bins: BinSums, lost: int) -> Vector:
    """Of each bin's gap, in rows²."""
    if not bins.labeled:
        return np.maximum(np.diagonal(bins.covariance, axis1=-2, axis2=-1), 0.0)
    unit = bins.unit
    n, pos = bins.mass / unit, bins.pos / unit
    share = np.clip(ratio(pos, n), 0.0, 1.0)
    known = n > lost  # a lone row says nothing of its noise
    spread = np.where(known, n**2 * share * (1 - share) / np.where(known, n - lost, 1.0), 0.0)
    return np.asarray(unit**2 * spread)


def enough_bins(size: float) -> int:
    """How many bins show the signal of so many rows: half as many more as `calibration_error` takes."""
    return int(np.clip(1.5 * optimal_bins(size), 8, 40))


def posterior(bins: BinSums, norm: Norm) -> Vector:
    """The error that is expected given the gaps, averaged over the processes that may have made them."""
    total = bins.total[..., None]
    mass, gap = ratio(bins.mass, total), ratio(bins.gap, total)
    width = SMOOTHING / enough_bins(bins.size)
    noise = ratio(bins.smoothed_covariance(width), total[..., None] ** 2)
    # A resample may leave a measure undefined: its own value, and not that of the others.
    defined = np.asarray(np.isfinite(gap).all(axis=-1) & np.isfinite(noise).all(axis=(-1, -2)))
    mass = np.where(defined[..., None], mass, 0.0)
    # Where nobody of the population is, there is neither signal nor noise. Known positives there would be
    # impossible under every process alike, and the rounding of their huge likelihood would choose among them.
    gap = np.where(defined[..., None] & (mass != 0), gap, 0.0)
    factor = _factor(np.where(defined[..., None, None], noise, 0.0))
    curves, rest = _prior(mass, bins.mean_score)
    fits = [_fits(factor, gap, curves, rest[length]) for length in LENGTHS]
    weight, mean, spread = (np.concatenate(columns) for columns in zip(*fits, strict=True))
    # Bayesian model averaging with equal prior weights; the largest is taken off lest all underflow.
    weight = np.exp(weight - weight.max(axis=0))
    weight /= weight.sum(axis=0)
    errors = _error(mean, spread, mass, norm)
    return np.where(defined, (weight * errors).sum(axis=0) ** (0.5 if norm == 2 else 1.0), np.nan)


def _factor(covariance: Vector) -> Vector:
    """A square root of the nearest covariance with no direction free of noise; averaging can leave such."""
    least = RIDGE * np.abs(np.trace(covariance, axis1=-2, axis2=-1))[..., None, None] + 1e-14
    try:
        return np.linalg.cholesky(covariance + least * np.eye(covariance.shape[-1]))
    except np.linalg.LinAlgError:
        sizes, directions = np.linalg.eigh(covariance)
        return np.asarray(directions * np.sqrt(np.maximum(sizes, least[..., 0]))[..., None, :])


def _prior(mass: Vector, score: Vector) -> tuple[Vector, dict[float, Vector]]:
    """What the curves' parameters move (..., n_bins, 3), and the covariance of the rest by its length."""
    s = np.clip(score, EDGE, 1 - EDGE)
    # How the gap of a bin moves with c, a and b of σ(a ln s − b ln(1−s) + c) at the curve that changes
    # nothing: the derivative of σ is s (1−s).
    slope = mass * s * (1 - s)
    basis = np.stack([slope, slope * np.log(s) / 1.5, slope * np.log1p(-s) / 1.5], axis=-1)
    place = np.cumsum(mass, axis=-1) - mass / 2
    apart = place[..., :, None] - place[..., None, :]
    # What is left over varies as labels do, and is a squared-exponential process in rank.
    scale = mass * np.sqrt(s * (1 - s))
    both = scale[..., :, None] * scale[..., None, :]
    return basis, {length: both * np.exp(-0.5 * (apart / length) ** 2) for length in LENGTHS}


def _fits(factor: Vector, gap: Vector, curves: Vector, rest: Vector) -> tuple[Vector, Vector, Vector]:
    """Log likelihood, and mean and standard deviation of the signal, of each size and slope (n_models, ...).

    In coordinates in which the noise is the identity and the rest diagonal, the gaps have covariance V =
    1 + size² λ + slope² B Bᵀ; given them the signal has mean g − V⁻¹ g and covariance 1 − V⁻¹.
    """
    whiten: Vector = np.asarray(np.linalg.inv(factor), dtype=np.float64)
    sizes, directions = np.linalg.eigh(whiten @ rest @ _t(whiten))
    to_bins, whiten = factor @ directions, _t(directions) @ whiten
    g, basis = whiten @ gap[..., None], whiten @ curves
    pairs = np.asarray(list(product(SIZES, SLOPES))).T
    size, slope = pairs.reshape(2, -1, *[1] * (gap.ndim + 1))  # before the axes of the gaps
    d = 1 / (1 + size**2 * np.maximum(sizes, 0.0)[..., None])
    # Three directions more than a diagonal: Woodbury's formula, and Sylvester's for the determinant.
    scaled = slope * d * basis
    inner = np.eye(3) + slope * _t(basis) @ scaled
    inverse_g = d * g - scaled @ np.linalg.solve(inner, _t(scaled) @ g)
    moved = to_bins @ scaled
    left = (to_bins**2 @ (1 - d))[..., 0] + (moved * _t(np.linalg.solve(inner, _t(moved)))).sum(axis=-1)
    # The determinant of the noise, which whitening takes off, is the same for all sizes and slopes.
    likelihood = np.log(d).sum(axis=(-2, -1)) - np.linalg.slogdet(inner)[1]
    likelihood = (likelihood - (g * inverse_g).sum(axis=(-2, -1))) / 2
    return likelihood, (to_bins @ (g - inverse_g))[..., 0], np.sqrt(np.maximum(left, 0.0))


def _t(matrix: Vector) -> Vector:
    return np.swapaxes(matrix, -1, -2)


def _error(mean: Vector, spread: Vector, mass: Vector, norm: Norm) -> Vector:
    if norm == 2:
        return np.asarray(np.where(mass > 0, ratio(mean**2 + spread**2, mass), 0.0).sum(axis=-1))
    size = mean_distance(mean, spread)
    if norm == "max":
        return np.asarray(np.where(mass > 0, ratio(size, mass), 0.0).max(axis=-1))
    return np.asarray(size.sum(axis=-1))


def mean_distance(mean: Vector, spread: Vector) -> Vector:
    """E |X| of a normal X, whose law is the folded normal."""
    from scipy.special import ndtr

    z = np.divide(mean, spread, out=np.zeros_like(mean), where=spread > 0)
    normal = spread * np.sqrt(2 / np.pi) * np.exp(-0.5 * z**2) + mean * (1 - 2 * ndtr(-z))
    return np.where(spread > 0, normal, np.abs(mean))
