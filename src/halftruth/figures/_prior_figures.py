"""Estimates of the prior: one and what its estimator looked at, several, one with the purity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, arg
from halftruth.figures import _canvas
from halftruth.prior._belief import Curve, PriorEstimate
from halftruth.prior._estimate_prior import PriorAndPurity

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["prior", "prior_and_purity", "priors"]

FEW = 30
"""Points of a curve that are all shown, one by one."""
STEEP = 4.0
"""A curve that rises so many times more elsewhere than near the choice is cut off there."""
ROUGH = 20.0
"""A curve that goes up and down by so many times its height is shown by dots."""
ENOUGH = 4
"""Points of a curve that must be seen, lest it say nothing of where the estimate lies."""
BARS = 40
MANY = 1000
"""Points that a vector file holds as one picture."""


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


def priors(
    estimates: Mapping[str, PriorEstimate], truth: float | None = None, *, ax: Axes | None = None
) -> Figure:
    """Draw several estimates of one prior below each other, with their intervals and what the data refute.

    Parameters
    ----------
    estimates : mapping of str to PriorEstimate
        By the names to show. All of one population.
    truth : float, optional
        The prior, where it is known.
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
    >>> p, u = strata.positive.score, strata.unlabeled.score
    >>> found = {name: ht.estimate_prior(p, u, method=name) for name in ("auto", "bbe")}
    >>> figure = ht.figures.priors(found, truth=0.2)
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['auto', 'bbe']
    """
    population = _one_population(estimates)
    if truth is not None and not 0 <= _checks.number(truth, "truth") <= 1:
        raise InputError(
            argument="truth", must="lie in [0, 1]", got=repr(truth), remedy="Pass a share of positives."
        )
    if ax is None:
        figure = _canvas.new_figure(height=max(2.4, 1.6 + 0.27 * len(estimates)))
        main = figure.add_subplot()
    else:
        figure, main = _canvas.root_figure(ax), ax
    shown = list(estimates.values())
    _draw_rows(main, shown)
    if truth is not None:
        main.axvline(truth, color="black", linestyle="--", zorder=1, label=f"truth {truth:.3g}")
    main.set_yticks(range(len(shown)), labels=list(estimates))
    main.set_ylim(len(shown) - 0.5, -0.5)
    end = max(_canvas.reach([truth or 0.0]), *map(_canvas.reach_of, shown))
    _canvas.show_axis(main, end, population)
    return _canvas.finish(figure, ax, "Class prior by method")


def _draw_rows(ax: Axes, shown: list[PriorEstimate]) -> None:
    """A dot, its interval and what the data refute for each estimate, the first at 0."""
    rows = range(len(shown))
    low, high = np.transpose([_canvas.ends(each) for each in shown])
    levels = {_canvas.level(each) for each in shown}
    said = levels.pop() if len(levels) == 1 else "interval"
    ax.hlines(rows, low, high, color=_canvas.DATA, linewidth=2.5, label=said)
    ax.plot([each.value for each in shown], rows, "o", color=_canvas.ESTIMATE, label="estimate")
    upper = np.array([1.0 if each.upper is None else each.upper for each in shown])
    if (upper < 1).any():
        said = "refuted by the data"
        ax.barh(rows, 1 - upper, left=upper, height=1, zorder=0.5, label=said, **_canvas.REFUTED)


def _one_population(estimates: Mapping[str, PriorEstimate]) -> str:
    if not isinstance(estimates, Mapping) or not estimates:
        raise InputError(
            f"{arg('estimates')} must be a mapping of names to PriorEstimates, at least one; got "
            f'{estimates!r}. Pass {{"auto": ht.estimate_prior(...), ...}}.'
        )
    populations = {
        _canvas.checked(each, f"estimates[{name!r}]").population for name, each in estimates.items()
    }
    if len(populations) > 1:
        raise InputError(
            f"{arg('estimates')} holds priors of the unlabeled and of all rows, which are different "
            "shares. Pass those of one population."
        )
    return populations.pop()


def prior_and_purity(both: PriorAndPurity, *, ax: Axes | None = None) -> Figure:
    """Draw the prior and the purity together: their paired replicates, intervals, and where they cannot lie.

    Parameters
    ----------
    both : PriorAndPurity
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Figure
        A new one, or that of ``ax``.

    Examples
    --------
    >>> import halftruth as ht
    >>> simulated = ht.simulate.GaussianClasses(prior=0.2, separation=4.0)
    >>> strata = simulated.draw_strata(500, 2000, rng=1, purity=0.8)
    >>> both = ht.estimate_prior_and_purity(strata.positive.score, strata.unlabeled.score)
    >>> ht.figures.prior_and_purity(both).axes[0].get_xlabel()
    'α, the share of positives among the unlabeled'
    """
    if not isinstance(both, PriorAndPurity):
        raise InputError(
            argument="both",
            must="be a PriorAndPurity",
            got=type(both).__name__,
            remedy="Pass what ht.estimate_prior_and_purity gives.",
        )
    share, purity = both.prior, both.purity
    symbol = _canvas.SYMBOLS[share.population]
    if ax is None:
        figure = _canvas.new_figure(height=4.6)
        main = figure.add_subplot()
    else:
        figure, main = _canvas.root_figure(ax), ax
    said = f"ρ < {symbol}: worse than chance"
    main.fill([0, 1, 1], [0, 0, 1], color="0.8", linewidth=0, zorder=0, label=said)
    _canvas.show_refuted(main, share.upper, symbol)
    _draw_pairs(main, share, purity)
    # White below the lines keeps them apart from the replicates, in grey too.
    for color, width, label in (("white", 3.5, "_"), (_canvas.ESTIMATE, 2.0, f"{_canvas.level(share)}s")):
        main.hlines(purity.value, *_canvas.ends(share), color=color, linewidth=width)
        main.vlines(share.value, *_canvas.ends(purity), color=color, linewidth=width, label=label)
    main.plot(share.value, purity.value, "o", color=_canvas.ESTIMATE, mec="white", ms=8, label="estimate")
    _canvas.show_axis(main, 1.0, share.population)
    main.set_ylim(-_canvas.MARGIN, 1 + _canvas.MARGIN)
    main.set_ylabel("ρ, the share of positives\namong the known positives")
    title = f"Prior and purity by {share.method}: {symbol} = {share.value:.3g}, ρ = {purity.value:.3g}"
    return _canvas.finish(figure, ax, title, free_corner=True)


def _draw_pairs(ax: Axes, share: PriorEstimate, purity: PriorEstimate) -> None:
    if share.replicates is None or purity.replicates is None:
        return
    if len(share.replicates) != len(purity.replicates):
        raise InputError(
            f"The replicates of prior and purity belong together one by one, but number "
            f"{len(share.replicates)} and {len(purity.replicates)}. "
            f"Pass what ht.estimate_prior_and_purity gives."
        )
    ax.scatter(
        np.asarray(share.replicates),
        np.asarray(purity.replicates),
        s=8,
        color=_canvas.DATA,
        alpha=0.35,
        linewidths=0,
        rasterized=len(share.replicates) > MANY,
    )
    ax.plot([], [], "o", color=_canvas.DATA, markersize=3, label="replicates")
