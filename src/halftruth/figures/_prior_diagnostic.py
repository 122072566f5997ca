"""One estimate of the prior: what its estimator looked at, the interval, and what the data refute."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from halftruth._checks import Vector
from halftruth.figures import _canvas
from halftruth.prior._belief import Curve, PriorEstimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["prior"]

FEW = 30
"""Points of a curve that are all shown, one by one."""
STEEP = 4.0
"""A curve that rises so many times more elsewhere than near the choice is cut off there."""
ROUGH = 20.0
"""A curve that goes up and down by so many times its height is shown by dots."""
ENOUGH = 4
"""Points of a curve that must be seen, lest it say nothing of where the estimate lies."""
BARS = 40


def prior(estimate: PriorEstimate, *, ax: Axes | None = None) -> Figure:
    """Draw an estimate of the prior: its diagnostic curve, its interval, and the priors that the data refute.

    A curve that does not run over the prior itself has a panel of its own, beside one of the replicates.

    Parameters
    ----------
    estimate : PriorEstimate
    ax : matplotlib Axes, optional
        Where to draw. There is one panel then, of the prior: a curve over something else is left out.

    Returns
    -------
    matplotlib Figure
        A new one, or that of ``ax``.

    Examples
    --------
    >>> import halftruth as ht
    >>> strata = ht.simulate.GaussianClasses(prior=0.2).draw_strata(200, 1000, rng=0)
    >>> estimate = ht.estimate_prior(strata.positive.score, strata.unlabeled.score)
    >>> figure = ht.figures.prior(estimate)
    >>> figure.axes[0].get_ylabel()
    'posterior density'
    >>> figure.savefig("prior.png")  # doctest: +SKIP
    """
    curve = _canvas.checked(estimate).curve
    symbol = _canvas.SYMBOLS[estimate.population]
    of_share = curve is not None and _runs_over_share(estimate, curve)
    if ax is not None:
        figure, main = _canvas.root_figure(ax), ax
    elif of_share or curve is None:
        figure = _canvas.new_figure(height=2.4 if curve is None and estimate.replicates is None else 4)
        main = figure.add_subplot()
    else:
        figure = _canvas.new_figure()
        beside, main = figure.subplots(1, 2)
        _draw_beside(beside, curve)
    _canvas.show_share(main, estimate)
    if curve is not None and of_share:
        _draw_curve(main, curve)
    else:
        _draw_replicates(main, estimate.replicates)
    return _canvas.finish(figure, ax, f"Class prior by {estimate.method}: {symbol} = {estimate.value:.3g}")


def _runs_over_share(estimate: PriorEstimate, curve: Curve) -> bool:
    """Whether the curve's x is the share itself, and enough of it is seen where the share lies.

    The curve of an estimate of π runs over α, and so does one that took impure labels for pure ones.
    """
    over_alpha = curve.x_label.partition(" ")[0] == "α" and estimate.population == "unlabeled"
    seen = np.count_nonzero(curve.x <= _canvas.reach_of(estimate))
    return over_alpha and bool(np.isclose(curve.chosen, estimate.value) and seen >= ENOUGH)


def _draw_beside(ax: Axes, curve: Curve) -> None:
    """A curve over something else than the prior, with what was chosen."""
    ax.axvline(curve.chosen, color="0.3", linestyle=":", linewidth=1.8, label=f"chosen {curve.chosen:.3g}")
    ax.set_xlabel(_canvas.wrapped(curve.x_label, _canvas.NARROW))
    _draw_curve(ax, curve)


def _draw_curve(ax: Axes, curve: Curve) -> None:
    order = np.argsort(curve.x, kind="stable")
    x, y = curve.x[order], curve.y[order]
    finite = np.isfinite(y)
    x, y = x[finite], y[finite]
    rough = len(y) > FEW and np.abs(np.diff(y)).sum() > ROUGH * np.ptp(y)
    look = {"linestyle": "none", "marker": "."} if rough else {"marker": "o" if len(x) <= FEW else None}
    ax.plot(x, y, color=_canvas.DATA, linewidth=1.6, markersize=3.5, **look)
    ax.set_ylabel(_canvas.wrapped(curve.y_label, 36))
    left, right = ax.get_xlim()
    seen = (left <= x) & (x <= right)
    if (limits := _heights(x[seen], y[seen], curve.chosen, right - left)) is not None:
        ax.set_ylim(*limits)


def _heights(x: Vector, y: Vector, chosen: float, width: float) -> tuple[float, float] | None:
    """Limits of y that show where the choice was made; None if the curve is flat."""
    near = y[np.abs(x - chosen) <= width / 3]
    if len(y) > FEW and len(near) and 0 < STEEP * np.ptp(near) < np.ptp(y):
        y = near
    if len(y) == 0 or np.ptp(y) == 0:
        return None
    room = 0.06 * float(np.ptp(y))
    return float(y.min()) - room, float(y.max()) + room


def _draw_replicates(ax: Axes, replicates: Vector | Sequence[float] | None) -> None:
    """The replicates as bars; without them the axis of the prior says all."""
    if replicates is None:
        ax.set_yticks([])
        return
    thin = ax.get_xlim()[1] / 40
    low, spread = float(np.min(replicates)), float(np.ptp(replicates))
    half = max(spread, thin) / 2
    middle = low + spread / 2
    bins = min(int(2 * np.cbrt(len(replicates))), BARS) if spread > thin else 1
    edges = np.linspace(middle - half, middle + half, bins + 1).tolist()
    ax.hist(replicates, edges, histtype="stepfilled", facecolor=_canvas.PALE, edgecolor=_canvas.DATA)
    ax.locator_params(axis="y", integer=True)
    ax.set_ylabel("replicates")
