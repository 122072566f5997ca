"""Reliability diagrams: the share of positives against the score, and where the scores lie."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from halftruth._checks import Vector
from halftruth.calibration._reliability import CurveMethod, ReliabilityCurve, reliability_curve
from halftruth.figures import _canvas
from halftruth.figures._canvas import COLORS, DASHES, MARGIN, Canvas
from halftruth.measure._score_measure import Measurable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["reliability"]

MARKERS = ("o", "s", "^", "D")  # dashes and markers tell the same as the colours, in grey too
OUTSIDE = 0.2  # how far beyond [0, 1] noisy shares of positives are shown
CORNER = 0.6  # a legend fits above left of the diagonal if no curve passes this height there; below alike


def reliability(
    evidence: Measurable | ReliabilityCurve | Mapping[str, Measurable | ReliabilityCurve],
    *,
    method: CurveMethod = "binned",
    ax: Axes | None = None,
    title: str | None = None,
    **settings: Any,
) -> Figure:
    """Draw reliability curves with their bands, above a histogram of the scores.

    Parameters
    ----------
    evidence : evidence, measure or ReliabilityCurve, or up to four by the names to show
    method : {"binned", "isotonic", "smooth", "bpm"}
        Of the curves that are made here, see `reliability_curve`.
    ax : matplotlib Axes, optional
        Where to draw. There is no histogram then.
    title : str, optional
    **settings
        Passed on to `reliability_curve`.

    Notes
    -----
    The (calibration) error in the legend is the mean distance of the curve from the diagonal, over the
    population.

    Examples
    --------
    >>> import halftruth as ht
    >>> evidence = ht.simulate.GaussianClasses(prior=0.3).labeled(500, rng=0)
    >>> figure = ht.figures.reliability(evidence, n_resamples=100)
    >>> [axes.get_ylabel() for axes in figure.axes]
    ['share of positives', 'share of cases']
    """
    several: dict[str, Measurable | ReliabilityCurve] = _canvas.named(evidence, "curves")
    curves = {
        name: model if isinstance(model, ReliabilityCurve) else reliability_curve(model, method, **settings)
        for name, model in several.items()
    }
    canvas = Canvas.open(ax, width=5.2, height=6.2)
    if ax is None:
        main, bars = canvas.figure.subplots(2, 1, sharex=True, height_ratios=[4.5, 1])
    else:
        main, bars = ax, None
    main.plot([0, 1], [0, 1], color="0.55", linewidth=1, linestyle=(0, (5, 3)), zorder=1)
    what = "calibration error" if len(curves) == 1 else "error"
    for i, (name, curve) in enumerate(curves.items()):
        _draw_curve(main, curve, i, f"{name or curve.method}: {what} {curve.error:.3g}")
        if bars is not None:
            _draw_bars(bars, curve.histogram, i, alone=len(curves) == 1)
    _label_bands(main, list(curves.values()))
    _set_limits(main, list(curves.values()))
    (main if bars is None else bars).set_xlabel("score")
    return _finish(canvas, title or "Reliability", list(curves.values()))


def _draw_curve(ax: Axes, curve: ReliabilityCurve, i: int, label: str) -> None:
    look: dict[str, Any] = {"color": COLORS[i], "linestyle": DASHES[i], "label": label, "zorder": 3 + i}
    if curve.method != "binned":
        steps = "steps-mid" if curve.method == "isotonic" else "default"
        ax.plot(curve.score, curve.frequency, linewidth=1.8, drawstyle=steps, **look)
        if curve.low is not None and curve.high is not None:
            ax.fill_between(curve.score, curve.low, curve.high, color=COLORS[i], alpha=0.2, linewidth=0)
        return
    ax.plot(curve.score, curve.frequency, linewidth=1, marker=MARKERS[i], markersize=4.5, **look)
    if curve.low is not None and curve.high is not None:
        ax.vlines(curve.score, curve.low, curve.high, color=COLORS[i], alpha=0.55, linewidth=2.2, zorder=2)


def _draw_bars(ax: Axes, histogram: Vector, i: int, *, alone: bool) -> None:
    edges = np.linspace(0, 1, len(histogram) + 1)
    face = _canvas.PALE if alone else "none"
    ax.stairs(histogram, edges, fill=alone, facecolor=face, edgecolor=COLORS[i], linestyle=DASHES[i])
    ax.set_ylabel("share of cases")
    ax.set_ylim(bottom=0)


def _label_bands(ax: Axes, curves: list[ReliabilityCurve]) -> None:
    levels = {curve.confidence_level for curve in curves if curve.low is not None}
    if levels:
        bands = f"{_canvas.percent(levels.pop())} band" if len(levels) == 1 else "bands"
        color = COLORS[0] if len(curves) == 1 else "0.4"
        ax.plot([], [], color=color, alpha=0.4, linewidth=6, label=f"{bands}, at each score")


def _set_limits(ax: Axes, curves: list[ReliabilityCurve]) -> None:
    """The unit square, and a little more where a curve leaves it."""
    heights = np.concatenate([curve.frequency for curve in curves])
    low = max(min(0.0, float(np.nanmin(heights))), -OUTSIDE)
    high = min(max(1.0, float(np.nanmax(heights))), 1 + OUTSIDE)
    ax.set_xlim(-MARGIN, 1 + MARGIN)
    ax.set_ylim(low - MARGIN, high + MARGIN)
    ax.set_ylabel("share of positives")


def _finish(canvas: Canvas, title: str, curves: list[ReliabilityCurve]) -> Figure:
    """The legend in the user's axes goes to the side of the diagonal that is free, if one is."""
    above = any(((c.score < 1 - CORNER) & (c.frequency > CORNER)).any() for c in curves)
    below = any(((c.score > 1 - CORNER) & (c.frequency < CORNER)).any() for c in curves)
    if above and below:
        return canvas.finish(canvas.fitted(title))
    return canvas.finish(title, "lower right" if above else "upper left")
