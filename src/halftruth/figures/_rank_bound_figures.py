"""Bounds of a ranking: the ranks of the latent positives, and curves between two curves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, arg
from halftruth.figures import _canvas
from halftruth.figures._canvas import COLORS, DASHES, Canvas, curve_points
from halftruth.metrics._curves import PrecisionRecallCurve, RocCurve
from halftruth.rank_bounds._bound_results import CurveBounds

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["FINEST", "curve_bounds", "rank_band"]

FINEST = 400  # points of a curve that are drawn: more are not seen, and swell a vector file
HEIGHT = 4.6  # inches of a new figure
TRUTH: dict[str, Any] = {"color": "black", "linestyle": ":", "linewidth": 1.8}
FREE = 0.45  # a precision-recall curve that ends above it leaves the corner below right free for a legend


def rank_band(
    bounds: CurveBounds | Mapping[str, CurveBounds], latent: Any = None, *, ax: Axes | None = None
) -> Figure:
    """Draw the share of the positives that lie at or above each rank: the known, and the band of the latent.

    Parameters
    ----------
    bounds : CurveBounds, or several by the names to show
        Of one ranking.
    latent : array, optional
        Scores of the latent positives, where they are known: their realised line is drawn.
    ax : matplotlib Axes, optional
        Where to draw.

    Examples
    --------
    >>> import halftruth as ht
    >>> evidence = ht.simulate.GaussianClasses(prior=0.2).positive_unlabeled(200, 1000, rng=0)
    >>> figure = ht.figures.rank_band(ht.bounds(evidence, n_resamples=200))
    >>> figure.axes[0].get_xlabel()
    'rank, as a share of all'
    """
    several = _named(bounds)
    canvas = Canvas.open(ax, height=HEIGHT)
    main = canvas.main()
    for (name, bound), color, dash in zip(several.items(), COLORS, DASHES, strict=False):
        rank, band = _rank(bound), bound.band
        label = f"{_canvas.percent(bound.confidence_level)} band" + (f", {name}" if name else "")
        _draw_region(main, (rank, band.low), (rank, band.high), color, dash, label)
    main.plot(*_thinned(rank, band.known), color="0.25", linewidth=1.2, label="known positives")
    if latent is not None:
        ordered = np.sort(_checks.scores(latent, "latent"))
        above = 1 - np.searchsorted(ordered, band.threshold, side="left") / len(ordered)
        main.plot(*_thinned(rank, above), label="latent positives", **TRUTH)
    _canvas.unit_axes(main, "rank, as a share of all", "share of the positives above")
    return canvas.finish("Ranks of the positives", "lower right")


def curve_bounds(
    bounds: CurveBounds | Mapping[str, CurveBounds],
    true: RocCurve | PrecisionRecallCurve | None = None,
    *,
    ax: Axes | None = None,
) -> Figure:
    """Draw ROC or precision-recall bounds: the region between the lower and the upper curve.

    Parameters
    ----------
    bounds : CurveBounds, or several by the names to show
        All ROC or all precision-recall.
    true : RocCurve or PrecisionRecallCurve, optional
        The curve itself, where it is known.
    ax : matplotlib Axes, optional
        As in `rank_band`.

    Examples
    --------
    >>> import halftruth as ht
    >>> evidence = ht.simulate.GaussianClasses(prior=0.2).positive_unlabeled(200, 1000, rng=0)
    >>> bounds = ht.bounds(evidence, "pr", n_resamples=200)
    >>> ht.figures.curve_bounds(bounds).axes[0].get_ylabel()
    'precision'
    """
    several = _named(bounds)
    kinds = {type(bound.lower) for bound in several.values()}
    kind = kinds.pop()
    if kinds or (true is not None and type(true) is not kind):
        raise InputError(
            f"ROC and precision-recall curves are drawn on different axes. Pass `bounds` and {arg('true')} "
            "of one kind."
        )
    canvas = Canvas.open(ax, height=HEIGHT)
    main = canvas.main()
    for (name, bound), color, dash in zip(several.items(), COLORS, DASHES, strict=False):
        ends = curve_points(bound.lower), curve_points(bound.upper)
        _draw_region(main, *ends, color, dash, _label(name, bound))
    if true is not None:
        main.plot(*_thinned(*curve_points(true)), label="true curve", **TRUTH)
    if kind is RocCurve:
        main.plot([0, 1], [0, 1], color="0.7", linewidth=0.8, zorder=0)
        _canvas.unit_axes(main, "false-positive rate", "true-positive rate")
        return canvas.finish("ROC bounds", "lower right")
    _canvas.unit_axes(main, "recall", "precision")
    least = min(float(bound.lower.precision[-1]) for bound in several.values())
    return canvas.finish("Precision-recall bounds", "lower right" if least > FREE else "best")


def _named(bounds: CurveBounds | Mapping[str, CurveBounds]) -> dict[str, CurveBounds]:
    several = dict(bounds) if isinstance(bounds, Mapping) else {"": bounds}
    wrong = next((bound for bound in several.values() if not isinstance(bound, CurveBounds)), None)
    if wrong is not None or not 0 < len(several) <= len(COLORS):
        raise InputError(
            f"`bounds` must be CurveBounds or a mapping of names to at most {len(COLORS)} of them, got "
            f"{type(wrong).__name__ if several else 'none'}. Pass what ht.bounds(evidence, 'roc') gives."
        )
    return {str(name): bound for name, bound in several.items()}


def _label(name: str, bounds: CurveBounds) -> str:
    """Level and α, in the legend."""
    level, (low, high) = _canvas.percent(bounds.confidence_level), bounds.alpha
    share = f"α = {low:.3g}" + ("" if low == high else f" to {high:.3g}")
    return f"{name}: {level}, {share}" if name else f"{level} bounds, {share}"


def _rank(bounds: CurveBounds) -> Vector:
    """Rows at or above each threshold, as a share."""
    table = bounds.tables[1]
    above = np.asarray(table.tp) + np.asarray(table.fp)
    return np.asarray(above / above[-1])


def _thinned(x: Vector, y: Vector) -> tuple[Vector, Vector]:
    """A curve that rises by steps: its length is how far it goes along both axes."""
    return _canvas.thinned(x, y, FINEST, length=lambda dx, dy: np.abs(dx) + np.abs(dy))


def _draw_region(
    ax: Axes, lower: tuple[Vector, Vector], upper: tuple[Vector, Vector], color: str, dash: str, label: str
) -> None:
    (x0, y0), (x1, y1) = _thinned(*lower), _thinned(*upper)
    ax.fill(np.append(x0, x1[::-1]), np.append(y0, y1[::-1]), facecolor=color, alpha=0.22, linewidth=0)
    for x, y in ((x0, y0), (x1, y1)):
        ax.plot(x, y, color=color, linestyle=dash, linewidth=1.1)
    ax.plot([], [], color=color, linestyle=dash, linewidth=4, alpha=0.6, label=label)
