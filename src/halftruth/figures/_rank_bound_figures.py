"""Bounds of a ranking: the ranks of the latent positives, curves between two curves, areas side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, arg
from halftruth.figures import _canvas
from halftruth.metrics._curves import PrecisionRecallCurve, RocCurve
from halftruth.rank_bounds._bound_results import CurveBounds, MetricBounds

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["COLORS", "FINEST", "area_bounds", "curve_bounds", "rank_band"]

COLORS = (_canvas.DATA, _canvas.ESTIMATE, "#009E73", "#CC79A7")
DASHES = ("-", "--", "-.", ":")
"""Edges tell the same as the colours, in grey too."""
FINEST = 400
"""Points of a curve that are drawn: more are not seen, and swell a vector file."""
FREE = 0.45
"""A precision-recall curve that ends above it leaves the corner below right free for a legend."""
ROW = 0.2
"""Inches of a bar."""
_ABSENT = (np.nan, np.nan)

Interval = tuple[float, float] | None


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
    _unit_axes(main, "rank, as a share of all", "share of the positives above")
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
        _unit_axes(main, "false-positive rate", "true-positive rate")
        return _finish(figure, ax, "ROC bounds", "lower right")
    _unit_axes(main, "recall", "precision")
    ends = [float(each.lower.precision[-1]) for each in several.values()]
    corner = "lower right" if min(ends) > FREE else "best"
    return _finish(figure, ax, "Precision-recall bounds", corner)


def area_bounds(
    rows: Mapping[str, Any], truth: float | None = None, *, label: str = "AUC", ax: Axes | None = None
) -> Figure:
    """Draw bounds of one metric below each other, as bars.

    Parameters
    ----------
    rows : mapping of str to bounds, or to a mapping of str to bounds
        By the names to show. Bounds are those of a metric or of a curve (its area), a pair (low, high), or
        None where there are none because the data refute what was assumed. With an inner mapping each row has
        one bar a name, as by method.
    truth : float, optional
        The value, where it is known.
    label : str
        Of the axis.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Figure
        A new one, or that of ``ax``.

    Examples
    --------
    >>> import halftruth as ht
    >>> figure = ht.figures.area_bounds({"α = 0.1": (0.71, 0.78), "α = 0.2": (0.74, 0.83)}, truth=0.77)
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['α = 0.1', 'α = 0.2']
    """
    bars = _bars(rows)
    names = list(dict.fromkeys(name for row in bars.values() for name in row))
    figure, main = _axes(ax, height=1.3 + ROW * len(bars) * max(1.2, len(names)))
    if truth is not None:
        value = _checks.finite(truth, "truth")
        main.axvline(value, color="black", linestyle=":", linewidth=1.4, label=f"truth {value:.3g}")
    for i, (name, color) in enumerate(zip(names, COLORS, strict=False)):
        _draw_bars(main, [row.get(name, _ABSENT) for row in bars.values()], i, len(names), color, name)
    main.set_yticks(range(len(bars)), labels=list(bars))
    main.set_ylim(len(bars) - 0.5, -0.5)
    main.use_sticky_edges = False  # a bar would hold the axis to its lower end
    main.margins(x=0.05)
    main.set_xlabel(label)
    return _finish(figure, ax, "Bounds", "best")


def _draw_bars(ax: Axes, ends: list[Interval], i: int, n: int, color: str, name: str) -> None:
    """Bar ``i`` of the ``n`` in every row; a cross in the middle where the data refute the row."""
    y = np.arange(len(ends)) + 0.8 * ((i + 0.5) / n - 0.5)
    refuted = np.array([each is None for each in ends])
    low, high = np.transpose([each or _ABSENT for each in ends])
    look: dict[str, Any] = {"facecolor": color, "edgecolor": color, "alpha": 0.75}
    hatch = "" if i == 0 else "////"
    ax.barh(y, high - low, left=low, height=0.64 / n, hatch=hatch, label=name or "bounds", **look)
    if refuted.any():
        # x is a share of the axis here, so that the cross is seen wherever the bars lie.
        middle, place = np.full(refuted.sum(), 0.5), ax.get_yaxis_transform()
        label = f"refuted, {name}" if name else "refuted"
        ax.plot(middle, y[refuted], "x", color=color, markersize=4, transform=place, label=label)


def _bars(rows: Mapping[str, Any]) -> dict[str, dict[str, Interval]]:
    if not isinstance(rows, Mapping) or not rows:
        raise InputError(
            f'{arg("rows")} must be a mapping of names to bounds, at least one; got {rows!r}. Pass {{"α = '
            '0.1": ht.bounds(...), ...}.'
        )
    return {
        str(key): {str(name): _ends(each, key) for name, each in row.items()}
        if isinstance(row, Mapping)
        else {"": _ends(row, key)}
        for key, row in rows.items()
    }


def _ends(bounds: Any, name: str) -> Interval:
    if bounds is None:
        return None
    if isinstance(bounds, MetricBounds):
        bounds = bounds.low, bounds.high
    pair = bounds.area if isinstance(bounds, CurveBounds) else bounds
    try:
        low, high = (_checks.number(end, f"rows[{name!r}]") for end in pair)
    except (TypeError, ValueError):
        raise InputError(
            f"`rows[{name!r}]` must be what ht.bounds gives, a pair (low, high) or None, got {bounds!r}."
        ) from None
    return low, high


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


def _unit_axes(ax: Axes, x_label: str, y_label: str) -> None:
    ax.set_xlim(-_canvas.MARGIN, 1 + _canvas.MARGIN)
    ax.set_ylim(-_canvas.MARGIN, 1 + _canvas.MARGIN)
    ax.set_xlabel(x_label)
    ax.set_ylabel(y_label)


def _finish(figure: Figure, ax: Axes | None, title: str, corner: Any) -> Figure:
    """As elsewhere, but that the legend in the user's axes goes where a curve leaves room."""
    if ax is None:
        return _canvas.finish(figure, None, title)
    ax.set_title(title)
    ax.legend(loc=corner, fontsize="small")
    return figure
