"""Binned calibration error from any evidence."""

from __future__ import annotations

import numpy as np

from halftruth import checks
from halftruth.checks import Vector
from halftruth.errors import InputError
from halftruth.folded import FoldedMeasure
from halftruth.measure import Number, ScoreMeasure, as_measure, ratio


def calibration_error(
    evidence: object,
    n_bins: int | str = "optimal",
    binning: str = "mass",
    norm: float | str = 1,
) -> Number:
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

    Notes
    -----
    The plug-in estimate: biased upwards, by the noise within bins, when the scores are well calibrated.

    Examples
    --------
    >>> import halftruth as ht
    >>> round(ht.calibration_error(ht.Labeled([1, 0, 1, 1], [0.2, 0.2, 0.9, 0.9]), n_bins=2), 12)
    0.2
    """
    measure = as_measure(evidence)
    measure.need_probabilities("Calibration error")
    checks.choice(binning, "binning", ("mass", "width"))
    if norm not in (1, 2, "max"):
        raise InputError(f'`norm` must be 1, 2 or "max", got {norm!r}.')
    if isinstance(n_bins, str):
        checks.choice(n_bins, "n_bins", ("optimal",))
        n_bins = max(1, int(np.ceil(measure.size ** (1 / 3) - 1e-9)))
    else:
        checks.count(n_bins, "n_bins", least=1)
    gap, mass = _gaps(measure, n_bins, binning)
    if norm == 1:
        return measure.result(ratio(gap.sum(axis=-1), measure.total))
    each = np.where(mass == 0, 0.0, ratio(gap, mass))
    if norm == "max":
        return measure.result(np.where(measure.total == 0, np.nan, each.max(axis=-1)))
    return measure.result(np.sqrt(ratio((each**2 * mass).sum(axis=-1), measure.total)))


def _gaps(measure: ScoreMeasure, n_bins: int, binning: str) -> tuple[Vector, Vector]:
    """|μ₁(bin) − ∫_bin s dμ| and μ(bin)."""
    if isinstance(measure, FoldedMeasure) and binning == "mass":
        gap, mass = measure.support.gaps(measure.of_mass, measure.of_pos, n_bins)
        return np.abs(gap), mass
    index = _width_bins(measure, n_bins) if binning == "width" else _mass_bins(measure, n_bins)
    gap = np.abs(_by_bin(measure.pos_mass - measure.score * measure.mass, index, n_bins))
    return gap, _by_bin(measure.mass, index, n_bins)


def _width_bins(measure: ScoreMeasure, n_bins: int) -> np.ndarray:
    """Bins (b/B, (b+1)/B], the first closed at 0; edges are the correctly rounded quotients."""
    edges = np.arange(1, n_bins) / n_bins
    index = np.searchsorted(edges, measure.score, side="left")
    return np.broadcast_to(index, measure.mass.shape)


def _mass_bins(measure: ScoreMeasure, n_bins: int) -> np.ndarray:
    """Score s lies in bin b where μ(< s) is below the b-th target and not below the one before."""
    below = np.cumsum(measure.mass, axis=-1) - measure.mass
    steps = measure.total[..., None] * np.arange(1, n_bins)
    # Of counts the ⌊n b/B⌋-th order statistic, without rounding; weights that miss a target by rounding
    # have met it.
    counts = (measure.mass == np.floor(measure.mass)).all(axis=-1, keepdims=True)
    targets = np.where(counts, np.floor_divide(steps, n_bins), steps / n_bins * (1 - 1e-12))
    n = int(np.prod(measure.shape, dtype=np.intp))
    flat = below.reshape(n, -1), targets.reshape(n, n_bins - 1)
    rows = [np.searchsorted(t, b, side="right") for b, t in zip(*flat, strict=True)]
    return np.asarray(rows).reshape(below.shape)


def _by_bin(values: Vector, index: np.ndarray, n_bins: int) -> Vector:
    lead = values.shape[:-1]
    n = int(np.prod(lead, dtype=np.intp))
    offset = np.arange(n)[:, None] * n_bins
    flat = index.reshape(n, -1) + offset
    sums = np.bincount(flat.ravel(), values.reshape(n, -1).ravel(), minlength=n * n_bins)
    return np.asarray(sums.reshape(*lead, n_bins))
