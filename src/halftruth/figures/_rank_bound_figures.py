"""Bounds of a ranking: the ranks of the latent positives, and curves between two curves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, arg
from halftruth.figures import _canvas
from halftruth.figures._canvas import COLORS, DASHES
from halftruth.metrics._curves import PrecisionRecallCurve, RocCurve
from halftruth.rank_bounds._bound_results import CurveBounds

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["FINEST", "curve_bounds", "rank_band"]

FINEST = 400
"""Points of a curve that are drawn: more are not seen, and swell a vector file."""
FREE = 0.45
"""A precision-recall curve that ends above it leaves the corner below right free for a legend."""


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

    Returns
    -------
    matplotlib Figure
        A new one, or that of ``ax``.

    Examples
    --------
    >>> import halftruth as ht
    >>> strata = ht.simulate.GaussianClasses(prior=0.2).draw_strata(200, 1000, rng=0)
    >>> evidence = ht.PositiveUnlabeled(strata.positive.score, strata.unlabeled.score, prior=0.2)
    >>> figure = ht.figures.rank_band(ht.bounds(evidence, n_resamples=200))
    >>> figure.axes[0].get_xlabel()
    'rank, as a share of all'
    """
    several = _named(bounds)
    figure, main = _axes(ax)
    for (name, each), color, dash in zip(several.items(), COLORS, DASHES, strict=False):
        x, band = _rank(each), each.band
        said = f"{100 * each.confidence_level:.4g}% band" + (f", {name}" if name else "")
        _region(main, (x, band.low), (x, band.high), color, dash, said)
    main.plot(*_thinned(x, band.known), color="0.25", linewidth=1.2, label="known positives")
    if latent is not None:
        found = _share_above(_checks.scores(latent, "latent"), band.threshold)
        main.plot(*_thinned(x, found), color="black", linestyle=":", linewidth=1.8, label="latent positives")
    _canvas.unit_axes(main, "rank, as a share of all", "share of the positives above")
    return _finish(figure, ax, "Ranks of the positives", "lower right")


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
        Where to draw.

    Returns
    -------
    matplotlib Figure
        A new one, or that of ``ax``.

    Examples
    --------
    >>> import halftruth as ht
    >>> strata = ht.simulate.GaussianClasses(prior=0.2).draw_strata(200, 1000, rng=0)
    >>> evidence = ht.PositiveUnlabeled(strata.positive.score, strata.unlabeled.score, prior=0.2)
    >>> figure = ht.figures.curve_bounds(ht.bounds(evidence, "pr", n_resamples=200))
    >>> figure.axes[0].get_ylabel()
    'precision'
    """
    several = _named(bounds)
    kinds = {type(each.lower) for each in several.values()}
    kind = kinds.pop()
    if kinds or (true is not None and type(true) is not kind):
        raise InputError(
            f"ROC and precision-recall curves are drawn on different axes. Pass `bounds` and {arg('true')} "
            "of one kind."
        )
    figure, main = _axes(ax)
    for (name, each), color, dash in zip(several.items(), COLORS, DASHES, strict=False):
        _region(main, _points(each.lower), _points(each.upper), color, dash, _said(name, each))
    if true is not None:
        main.plot(*_thinned(*_points(true)), color="black", linestyle=":", linewidth=1.8, label="true curve")
    if kind is RocCurve:
        main.plot([0, 1], [0, 1], color="0.7", linewidth=0.8, zorder=0)
        _canvas.unit_axes(main, "false-positive rate", "true-positive rate")
        return _finish(figure, ax, "ROC bounds", "lower right")
    _canvas.unit_axes(main, "recall", "precision")
    ends = [float(each.lower.precision[-1]) for each in several.values()]
    corner = "lower right" if min(ends) > FREE else "best"
    return _finish(figure, ax, "Precision-recall bounds", corner)


def _named(bounds: Any) -> dict[str, CurveBounds]:
    several = dict(bounds) if isinstance(bounds, Mapping) else {"": bounds}
    wrong = next((each for each in several.values() if not isinstance(each, CurveBounds)), None)
    if wrong is not None or not 0 < len(several) <= len(COLORS):
        raise InputError(
            f"`bounds` must be CurveBounds or a mapping of names to at most {len(COLORS)} of them, got "
            f"{type(wrong).__name__ if several else 'none'}. Pass what ht.bounds(evidence, 'roc') gives."
        )
    return {str(name): each for name, each in several.items()}


def _said(name: str, bounds: CurveBounds) -> str:
    """Level and α, in the legend."""
    level, (low, high) = f"{100 * bounds.confidence_level:.4g}%", bounds.alpha
    share = f"α = {low:.3g}" + ("" if low == high else f" to {high:.3g}")
    return f"{name}: {level}, {share}" if name else f"{level} bounds, {share}"


def _rank(bounds: CurveBounds) -> Vector:
    """Rows at or above each threshold, as a share."""
    table = bounds.tables[1]
    above = np.asarray(table.tp) + np.asarray(table.fp)
    return np.asarray(above / above[-1])


def _share_above(score: Vector, threshold: Vector) -> Vector:
    return np.asarray(1 - np.searchsorted(np.sort(score), threshold, side="left") / len(score))


def _points(curve: RocCurve | PrecisionRecallCurve) -> tuple[Vector, Vector]:
    if isinstance(curve, RocCurve):
        return curve.fpr, curve.tpr
    return curve.recall, curve.precision


def _thinned(x: Vector, y: Vector) -> tuple[Vector, Vector]:
    """A curve by few of its points, at about equal steps along it."""
    seen = np.isfinite(x) & np.isfinite(y)
    x, y = x[seen], y[seen]
    if len(x) <= FINEST:
        return x, y
    along = np.append(0.0, np.cumsum(np.abs(np.diff(x)) + np.abs(np.diff(y))))
    kept = np.unique(np.searchsorted(along, np.linspace(0, along[-1], FINEST)))
    kept = np.union1d(kept, [0, len(x) - 1])
    return x[kept], y[kept]


def _region(
    ax: Axes, lower: tuple[Vector, Vector], upper: tuple[Vector, Vector], color: str, dash: str, label: str
) -> None:
    (x0, y0), (x1, y1) = _thinned(*lower), _thinned(*upper)
    around = np.append(x0, x1[::-1]), np.append(y0, y1[::-1])
    ax.fill(*around, facecolor=color, alpha=0.22, linewidth=0)
    for x, y in ((x0, y0), (x1, y1)):
        ax.plot(x, y, color=color, linestyle=dash, linewidth=1.1)
    ax.plot([], [], color=color, linestyle=dash, linewidth=4, alpha=0.6, label=label)


def _axes(ax: Axes | None, height: float = 4.6) -> tuple[Figure, Axes]:
    if ax is not None:
        return _canvas.root_figure(ax), ax
    figure = _canvas.new_figure(height=height)
    return figure, figure.add_subplot()


def _finish(figure: Figure, ax: Axes | None, title: str, corner: Any) -> Figure:
    """As elsewhere, but that the legend in the user's axes goes where a curve leaves room."""
    if ax is None:
        return _canvas.finish(figure, None, title)
    ax.set_title(title)
    ax.legend(loc=corner, fontsize="small")
    return figure
