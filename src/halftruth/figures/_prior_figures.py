"""Estimates of the prior: one and what its estimator looked at, several, one with the purity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, arg
from halftruth.figures import _canvas
from halftruth.figures._canvas import DATA, ESTIMATE, MARGIN, MEANINGS, NARROW, PALE, SYMBOLS, Canvas
from halftruth.prior._belief import Curve, PriorEstimate
from halftruth.prior._estimate_prior import PriorAndPurity

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["prior", "prior_and_purity", "priors"]

FEW = 30  # points of a curve that are all shown, one by one
STEEP = 4.0  # a curve that rises so many times more elsewhere than near the choice is cut off there
ROUGH = 20.0  # a curve that goes up and down by so many times its height is shown by dots
ENOUGH = 4  # points of a curve that must be seen, lest it say nothing of where the estimate lies
BARS = 40
MANY = 1000  # points that a vector file holds as one picture


def prior(estimate: PriorEstimate, *, ax: Axes | None = None) -> Figure:
    """Draw an estimate of the prior: its diagnostic curve, its interval, and the priors that the data refute.

    A curve that does not run over the prior itself has a panel of its own, beside one of the replicates.

    Parameters
    ----------
    estimate : PriorEstimate
    ax : matplotlib Axes, optional
        Where to draw. There is one panel then, of the prior: a curve over something else is left out.

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
    curve = _checked(estimate).curve
    of_share = curve is not None and _runs_over_share(estimate, curve)
    bare = curve is None and estimate.replicates is None
    canvas = Canvas.open(ax, height=2.4 if bare else 4.0)
    if ax is None and curve is not None and not of_share:
        beside, main = canvas.figure.subplots(1, 2)
        chosen = {"color": "0.3", "linestyle": ":", "linewidth": 1.8, "label": f"chosen {curve.chosen:.3g}"}
        beside.axvline(curve.chosen, **chosen)
        beside.set_xlabel(_canvas.wrapped(curve.x_label, NARROW))
        _draw_curve(beside, curve)
    else:
        main = canvas.main()
    _draw_share(main, estimate)
    if curve is not None and of_share:
        _draw_curve(main, curve)
    else:
        _draw_replicates(main, estimate.replicates)
    symbol = SYMBOLS[estimate.population]
    return canvas.finish(canvas.fitted(f"Class prior by {estimate.method}: {symbol} = {estimate.value:.3g}"))


def _checked(estimate: object, name: str = "estimate") -> PriorEstimate:
    remedy = "Pass what ht.estimate_prior gives; of a PriorAndPurity, its `.prior`."
    return _checks.instance(estimate, name, PriorEstimate, remedy)


def _runs_over_share(estimate: PriorEstimate, curve: Curve) -> bool:
    """Whether the curve's x is the share itself, and enough of it is seen where the share lies.

    The curve of an estimate of π runs over α, and so does one that took impure labels for pure ones.
    """
    over_alpha = curve.x_label.partition(" ")[0] == "α" and estimate.population == "unlabeled"
    shown = np.count_nonzero(curve.x <= _axis_end(estimate))
    return over_alpha and bool(np.isclose(curve.chosen, estimate.value) and shown >= ENOUGH)


def _draw_share(ax: Axes, estimate: PriorEstimate) -> None:
    """The estimate as a line, its interval as a band and what the data refute, on the x axis."""
    low, high = _ends(estimate)
    label = f"estimate {estimate.value:.3g}"
    ax.axvline(estimate.value, color=ESTIMATE, linestyle="--", linewidth=1.8, zorder=3, label=label)
    label = f"{_interval_name(estimate)} {low:.3g} to {high:.3g}"
    ax.axvspan(low, high, color=_canvas.INTERVAL, linewidth=1, zorder=0, label=label)
    _draw_refuted(ax, estimate.upper, SYMBOLS[estimate.population])
    _set_axis(ax, _axis_end(estimate), estimate.population)


def _draw_refuted(ax: Axes, upper: float | None, symbol: str) -> None:
    """The shares that the data refute, hatched; that there are none, in the legend alone."""
    if upper is None:
        return
    if upper < 1:
        ax.axvspan(upper, 1, zorder=0.5, label=f"refuted: {symbol} > {upper:.3g}", **_canvas.REFUTED)
    else:
        ax.plot([], [], " ", label=f"no {symbol} is refuted")


def _axis_end(estimate: PriorEstimate, truth: float | None = None) -> float:
    """Where an axis from 0 ends that shows an estimate well, and the truth where it is known."""
    shares = (estimate.value, estimate.high, estimate.upper, truth)
    largest = max(share for share in shares if share is not None)
    return 1.0 if largest > 0.6 else max(1.5 * largest, 0.001)


def _set_axis(ax: Axes, end: float, population: str) -> None:
    """An x axis of the share from 0 to ``end``, with no more words than there is room for."""
    ax.set_xlim(-MARGIN * end, (1 + MARGIN) * end)
    symbol, figure = SYMBOLS[population], _canvas.root_figure(ax)
    label = f"{symbol}, {MEANINGS[population]}"
    if len(figure.axes) > 1:
        label = symbol if figure.get_layout_engine() is None else _canvas.wrapped(label, NARROW)
    ax.set_xlabel(label)


def _ends(estimate: PriorEstimate) -> tuple[float, float]:
    """Of its interval, which every estimate has."""
    assert estimate.low is not None
    assert estimate.high is not None
    return estimate.low, estimate.high


def _interval_name(estimate: PriorEstimate) -> str:
    return f"{_canvas.percent(estimate.confidence_level)} interval"


def _draw_curve(ax: Axes, curve: Curve) -> None:
    order = np.argsort(curve.x, kind="stable")
    x, y = curve.x[order], curve.y[order]
    finite = np.isfinite(y)
    x, y = x[finite], y[finite]
    rough = len(y) > FEW and np.abs(np.diff(y)).sum() > ROUGH * np.ptp(y)
    look = {"linestyle": "none", "marker": "."} if rough else {"marker": "o" if len(x) <= FEW else None}
    ax.plot(x, y, color=DATA, linewidth=1.6, markersize=3.5, **look)
    ax.set_ylabel(_canvas.wrapped(curve.y_label, 36))
    left, right = ax.get_xlim()
    shown = (left <= x) & (x <= right)
    if (limits := _heights(x[shown], y[shown], curve.chosen, right - left)) is not None:
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
    ax.hist(replicates, edges, histtype="stepfilled", facecolor=PALE, edgecolor=DATA)
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

    Examples
    --------
    >>> import halftruth as ht
    >>> strata = ht.simulate.GaussianClasses(prior=0.2).draw_strata(200, 1000, rng=0)
    >>> p, u = strata.positive.score, strata.unlabeled.score
    >>> estimates = {name: ht.estimate_prior(p, u, method=name) for name in ("auto", "bbe")}
    >>> figure = ht.figures.priors(estimates, truth=0.2)
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['auto', 'bbe']
    """
    population = _one_population(estimates)
    if truth is not None and not 0 <= _checks.number(truth, "truth") <= 1:
        raise InputError(
            argument="truth", must="lie in [0, 1]", got=repr(truth), remedy="Pass a share of positives."
        )
    canvas = Canvas.open(ax, height=max(2.4, 1.6 + 0.27 * len(estimates)))
    main, drawn = canvas.main(), list(estimates.values())
    _draw_rows(main, drawn)
    if truth is not None:
        main.axvline(truth, color="black", linestyle="--", zorder=1, label=f"truth {truth:.3g}")
    main.set_yticks(range(len(drawn)), labels=list(estimates))
    main.set_ylim(len(drawn) - 0.5, -0.5)
    _set_axis(main, max(_axis_end(estimate, truth) for estimate in drawn), population)
    return canvas.finish("Class prior by method")


def _draw_rows(ax: Axes, estimates: list[PriorEstimate]) -> None:
    """A dot, its interval and what the data refute for each estimate, the first at 0."""
    rows = range(len(estimates))
    low, high = np.transpose([_ends(estimate) for estimate in estimates])
    names = {_interval_name(estimate) for estimate in estimates}
    label = names.pop() if len(names) == 1 else "interval"
    ax.hlines(rows, low, high, color=DATA, linewidth=2.5, label=label)
    ax.plot([estimate.value for estimate in estimates], rows, "o", color=ESTIMATE, label="estimate")
    upper = np.array([1.0 if estimate.upper is None else estimate.upper for estimate in estimates])
    if (upper < 1).any():
        label = "refuted by the data"
        ax.barh(rows, 1 - upper, left=upper, height=1, zorder=0.5, label=label, **_canvas.REFUTED)


def _one_population(estimates: Mapping[str, PriorEstimate]) -> str:
    if not isinstance(estimates, Mapping) or not estimates:
        raise InputError(
            f"{arg('estimates')} must be a mapping of names to PriorEstimates, at least one; got "
            f'{estimates!r}. Pass {{"auto": ht.estimate_prior(...), ...}}.'
        )
    populations = {_checked(one, f"estimates[{name!r}]").population for name, one in estimates.items()}
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

    Examples
    --------
    >>> import halftruth as ht
    >>> simulated = ht.simulate.GaussianClasses(prior=0.2, separation=4.0)
    >>> strata = simulated.draw_strata(100, 400, rng=1, purity=0.8)
    >>> both = ht.estimate_prior_and_purity(strata.positive.score, strata.unlabeled.score)
    >>> ht.figures.prior_and_purity(both).axes[0].get_xlabel()
    'α, the share of positives among the unlabeled'
    """
    _checks.instance(both, "both", PriorAndPurity, "Pass what ht.estimate_prior_and_purity gives.")
    share, purity = both.prior, both.purity
    symbol = SYMBOLS[share.population]
    canvas = Canvas.open(ax, height=4.6)
    main = canvas.main()
    label = f"ρ < {symbol}: worse than chance"
    main.fill([0, 1, 1], [0, 0, 1], color="0.8", linewidth=0, zorder=0, label=label)
    _draw_refuted(main, share.upper, symbol)
    _draw_pairs(main, share, purity)
    # White below the lines keeps them apart from the replicates, in grey too.
    for color, width, label in (("white", 3.5, "_"), (ESTIMATE, 2.0, f"{_interval_name(share)}s")):
        main.hlines(purity.value, *_ends(share), color=color, linewidth=width)
        main.vlines(share.value, *_ends(purity), color=color, linewidth=width, label=label)
    main.plot(share.value, purity.value, "o", color=ESTIMATE, mec="white", ms=8, label="estimate")
    _set_axis(main, 1.0, share.population)
    main.set_ylim(-MARGIN, 1 + MARGIN)
    main.set_ylabel("ρ, the share of positives\namong the known positives")
    title = f"Prior and purity by {share.method}: {symbol} = {share.value:.3g}, ρ = {purity.value:.3g}"
    return canvas.finish(canvas.fitted(title), "lower right")


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
        color=DATA,
        alpha=0.35,
        linewidths=0,
        rasterized=len(share.replicates) > MANY,
    )
    ax.plot([], [], "o", color=DATA, markersize=3, label="replicates")
