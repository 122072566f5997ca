"""Reliability curves: how often cases with a score are positive, from any evidence, with pointwise bands."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, Note
from halftruth.calibration._binomial_process import fit_curve
from halftruth.calibration._isotonic import isotonic_points
from halftruth.calibration._reliability_bands import Curve, Drawing
from halftruth.calibration._smooth_errors import smooth_calibration_error
from halftruth.evidence import Evidence
from halftruth.measure._arithmetic import Index, by_bin
from halftruth.measure._bins import BINNINGS
from halftruth.measure._score_measure import Measurable, ScoreMeasure, as_measure, integral, ratio

__all__ = ["METHODS", "N_POINTS", "CurveMethod", "ReliabilityCurve", "reliability_curve"]

CurveMethod: TypeAlias = Literal["binned", "isotonic", "smooth", "bpm"]
METHODS: tuple[CurveMethod, ...] = ("binned", "isotonic", "smooth", "bpm")
N_POINTS = 256  # scores at which a curve without bins is given, about
N_BARS = 40
N_CELLS = 4096  # of a kernel regression over many scores
NARROWEST = 1e-3


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ReliabilityCurve:
    """How often cases with a score are positive.

    Attributes
    ----------
    score, frequency : (n,) arrays
        Scores, and the share of positives there. Of bins: the mean score and the mean label.
    low, high : (n,) arrays or None
        Pointwise limits of the frequency at ``confidence_level``; None where nothing was drawn again.
    mass : (n,) array
        Share of the population that each point stands for.
    left, right : (n,) arrays
        The lowest and the highest score that each point stands for.
    histogram : (40,) array
        Share of the population with a score in each of 40 bins of equal width over [0, 1].
    error : float
        Mean distance of the curve from the score, over the population.
    method : str
    confidence_level : float
    notes : tuple of str
    """

    score: Vector
    frequency: Vector
    low: Vector | None
    high: Vector | None
    mass: Vector
    left: Vector
    right: Vector
    histogram: Vector
    error: float
    method: str
    confidence_level: float
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        for name, column in vars(self).items():
            if isinstance(column, np.ndarray):
                column = np.array(column)
                column.flags.writeable = False
                object.__setattr__(self, name, column)

    def __repr__(self) -> str:
        band = "no band" if self.low is None else f"{100 * self.confidence_level:.4g}% band"
        return f"ReliabilityCurve({self.method}, {len(self.score)} points, error {self.error:.4g}, {band})"


def reliability_curve(
    evidence: Measurable,
    method: CurveMethod = "binned",
    *,
    n_bins: int | Literal["optimal"] = "optimal",
    binning: str = "mass",
    confidence_level: float = 0.95,
    n_resamples: int = 500,
    rng: int | np.random.Generator = 0,
) -> ReliabilityCurve:
    """Share of positives against the score, with pointwise bands.

    The curve is dμ₁/dμ at each score: calibrated scores lie on the diagonal.

    Parameters
    ----------
    evidence : evidence or ScoreMeasure
        Scores must be probabilities. Only evidence has a band.
    method : {"binned", "isotonic", "smooth", "bpm"}
        "binned": mean label against mean score of each bin, as it comes: from partial evidence it may leave
        [0, 1]. "isotonic": the rising curve within [0, 1] nearest in squares. "smooth": kernel regression
        with a Gaussian reflected at 0 and 1, as wide as the smooth calibration error. "bpm": the beta curve
        of binomial process modeling.
    n_bins, binning
        Of "binned", as in `calibration_error`.
    confidence_level : float
        Of the band, at each score by itself.
    n_resamples : int
        How often the evidence is drawn again for the band; 0 for none.
    rng : int or Generator

    Returns
    -------
    ReliabilityCurve

    Notes
    -----
    The band of "binned" is about the share of positives within each bin; that of "isotonic" runs through such
    bands of equal-mass bins, and takes for granted that the true curve rises. Those of the other methods are
    percentiles of curves from resampled evidence: they show its noise, not that a smoothed or a parametric
    curve may lie off the true one. A prior's range or error goes into every band.

    Examples
    --------
    >>> import halftruth as ht
    >>> curve = ht.reliability_curve(ht.Labeled([1, 0, 1, 1], [0.2, 0.2, 0.9, 0.9]), n_bins=2)
    >>> curve.frequency
    array([0.5, 1. ])
    >>> curve.high.round(2)
    array([0.94, 1.  ])
    """
    measure = as_measure(evidence).need_probabilities("A reliability curve")
    if measure.shape:
        got = f"{measure.shape} of them"
        raise InputError(argument="evidence", must="be one measure", got=got, remedy="Pass one by one.")
    _checks.choice(method, "method", METHODS)
    _checks.choice(binning, "binning", BINNINGS)
    level = _checks.confidence_level(confidence_level)
    n = _checks.count(n_resamples, "n_resamples", least=0)
    source, notes = _source(evidence, n)
    drawing = Drawing(evidence=source, level=level, n=n, rng=np.random.default_rng(rng)) if source else None
    if method == "binned":
        shape, band = _of_bins(measure, measure.number_of_bins(n_bins), binning, drawing)
    else:
        shape, band = _of_curve(measure, method, drawing)
    frequency = shape.frequency
    first, last = _ends(measure, shape)
    return ReliabilityCurve(
        score=shape.score,
        frequency=frequency,
        # Noise that draws do not show (a bin without positives) leaves the curve at the end of its band.
        low=None if band is None else np.minimum(band[0], frequency),
        high=None if band is None else np.maximum(band[1], frequency),
        mass=_share(measure, shape.cell, len(frequency)),
        left=measure.score[first],
        right=measure.score[last],
        histogram=_share(measure, np.minimum((measure.score * N_BARS).astype(np.intp), N_BARS - 1), N_BARS),
        error=shape.error,
        method=method,
        confidence_level=level,
        notes=notes,
    )


class _Shape(NamedTuple):
    """Points of a curve; ``cell`` says to which of them each atom belongs, −1 to none."""

    score: Vector
    frequency: Vector
    cell: Index
    error: float


def _source(evidence: Measurable, n_resamples: int) -> tuple[Evidence | None, tuple[Note, ...]]:
    """The evidence to draw again, or none and why."""
    if n_resamples == 0:
        return None, ()
    if not isinstance(evidence, Evidence):
        text = "A measure has no rows to draw again, so there is no band. Pass evidence."
        return None, (Note("interval", text),)
    if evidence.lone_positive:
        text = "One known positive shows no sampling error, so there is no band."
        return None, (Note("small_sample", text),)
    return evidence, ()


def _share(measure: ScoreMeasure, cell: Index, n_cells: int) -> Vector:
    placed = cell >= 0
    return np.asarray(by_bin(measure.mass[placed], cell[placed], n_cells) / measure.total)


def _ends(measure: ScoreMeasure, shape: _Shape) -> tuple[Index, Index]:
    """The first and the last atom of each point that have mass."""
    atoms = np.flatnonzero((measure.mass != 0) & (shape.cell >= 0))
    cells = np.arange(len(shape.score))
    first = np.searchsorted(shape.cell[atoms], cells, side="left")
    last = np.searchsorted(shape.cell[atoms], cells, side="right") - 1
    return atoms[first], atoms[np.maximum(last, first)]


def _of_bins(
    measure: ScoreMeasure, n_bins: int, binning: str, drawing: Drawing | None
) -> tuple[_Shape, Vector | None]:
    """The bins that hold mass, and their band."""
    bins = measure.in_bins(n_bins, binning)
    index = measure.bin_index(n_bins, binning)
    used = bins.mass > 0
    cell = np.where(used, np.cumsum(used) - 1, -1)[index]
    error = float(ratio(np.abs(bins.gap).sum(), measure.total))
    mass = bins.mass[used]
    shape = _Shape(bins.score[used] / mass, bins.pos[used] / mass, cell, error)
    present, first = np.unique(index, return_index=True)
    return shape, drawing.within(measure.score[first])[:, used[present]] if drawing else None


def _of_curve(measure: ScoreMeasure, method: str, drawing: Drawing | None) -> tuple[_Shape, Vector | None]:
    """A curve at some of the scores, and its band."""
    at = _points(measure)
    curve = _curve(measure, method, at)
    # Each score belongs to the nearest of the points: cells end half way between two of them.
    cell = np.searchsorted((at[1:] + at[:-1]) / 2, measure.score)
    shape = _Shape(at, curve(measure), cell, _distance(measure, method))
    if drawing is None:
        return shape, None
    if method != "isotonic":
        band = drawing.around(curve)
        return shape, band if method == "smooth" else np.clip(band, 0.0, 1.0)
    # Resamples of a block without positives have none either: the limits come from bins. The rows of the
    # first and the last say nothing of how far a rising curve goes towards its ends.
    bins, limits = _of_bins(measure, measure.number_of_bins("optimal"), "mass", drawing)
    assert limits is not None
    low = np.interp(at, np.append(at[0], bins.score), np.append(0.0, limits[0]))
    high = np.interp(at, np.append(bins.score, at[-1]), np.append(limits[1], 1.0))
    rising = np.maximum.accumulate(low), np.minimum.accumulate(high[::-1])[::-1]
    return shape, np.clip(rising, 0.0, 1.0)


def _points(measure: ScoreMeasure) -> Vector:
    """Scores with mass: all of them, or some that are even in rank and some even in score."""
    score, mass = (x[measure.mass > 0] for x in (measure.score, measure.mass))
    if len(score) <= N_POINTS:
        return np.asarray(score)
    by_rank = np.searchsorted(np.cumsum(mass), measure.total * np.linspace(0, 1, N_POINTS // 2))
    by_score = np.searchsorted(score, np.linspace(score[0], score[-1], N_POINTS // 2))
    chosen = np.concatenate([[0], by_rank, by_score])
    return np.asarray(score[np.unique(np.minimum(chosen, len(score) - 1))])


def _curve(measure: ScoreMeasure, method: str, at: Vector) -> Curve:
    """The curve of any measure at these scores."""
    if method == "isotonic":
        return lambda resample: np.interp(at, *isotonic_points(resample))
    if method == "bpm":
        return lambda resample: fit_curve(resample)(at)
    width = max(float(smooth_calibration_error(measure)), NARROWEST)
    return lambda resample: _smooth(resample, at, width)


def _distance(measure: ScoreMeasure, method: str) -> float:
    """∫ |curve − s| dμ."""
    if method == "smooth":
        measure = _in_cells(measure)
    frequency = _curve(measure, method, measure.score)(measure)
    return float(ratio(integral(np.abs(frequency - measure.score), measure.mass), measure.total))


def _smooth(measure: ScoreMeasure, at: Vector, width: float) -> Vector:
    """Mean label around each score, weighed by a Gaussian that is reflected at 0 and 1."""
    measure = _in_cells(measure)
    kernel = np.zeros((len(at), len(measure.score)))
    # Reflections at 0 and 1 put images of s at ±s + 2k; those farther off add nothing at these widths.
    for turn, image in product((-2.0, 0.0, 2.0), (measure.score, -measure.score)):
        kernel += np.exp(-0.5 * ((at[:, None] - image - turn) / width) ** 2)
    pos, mass = (np.einsum("...m,pm->...p", x, kernel) for x in (measure.pos_mass, measure.mass))
    return ratio(pos, mass)


def _in_cells(measure: ScoreMeasure) -> ScoreMeasure:
    """The scores of each of many equal cells as one, where there are more scores than cells."""
    if len(measure.score) <= N_CELLS:
        return measure
    on_grid = np.minimum((measure.score * N_CELLS).astype(np.intp), N_CELLS - 1)
    _, cell = np.unique(on_grid, return_inverse=True)
    n = int(cell[-1]) + 1
    mean = np.bincount(cell, measure.score) / np.bincount(cell)
    mass, pos = (by_bin(x, cell, n) for x in (measure.mass, measure.pos_mass))
    return ScoreMeasure(score=mean, mass=mass, pos_mass=pos, size=measure.size)
