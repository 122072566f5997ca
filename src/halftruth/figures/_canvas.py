"""What the figures have in common: matplotlib where it is needed, the palette, shares, and models by name."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from halftruth._errors import InputError, MissingDependency, arg
from halftruth.evidence import Evidence
from halftruth.measure._score_measure import ScoreMeasure, as_measure
from halftruth.prior._belief import PriorEstimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "BASELINE",
    "COLORS",
    "DASHES",
    "DATA",
    "ESTIMATE",
    "INTERVAL",
    "MARGIN",
    "MEANINGS",
    "NAIVE",
    "NARROW",
    "PALE",
    "REFUTED",
    "ROW",
    "SYMBOLS",
    "checked",
    "ends",
    "finish",
    "finish_models",
    "level",
    "look",
    "measures",
    "naive_of",
    "named",
    "new_figure",
    "only_one",
    "plain",
    "reach",
    "reach_of",
    "root_figure",
    "show_axis",
    "show_refuted",
    "show_share",
    "unit_axes",
    "wrapped",
]

# Okabe and Ito's colours, told apart by colour-blind readers. Dashes and hatches tell the same in grey.
DATA = "#0072B2"
PALE = "#A6CEE6"
ESTIMATE = "#D55E00"
INTERVAL = "#F7DDB0"
REFUTED: dict[str, Any] = {"facecolor": (0, 0, 0, 0.07), "edgecolor": "0.6", "hatch": "///", "linewidth": 0}
COLORS = (DATA, ESTIMATE, "#009E73", "#CC79A7")
DASHES = ("-", "--", "-.", ":")
"""Of several models or methods; dashes tell the same as the colours, in grey too."""
NAIVE: dict[str, Any] = {"color": "0.55", "linestyle": (0, (4, 2)), "linewidth": 1.2, "zorder": 2}
"""What one sees who does not know better: dashed and pale."""
BASELINE: dict[str, Any] = {"color": "0.7", "linestyle": "-", "linewidth": 0.8, "zorder": 1}

SYMBOLS = {"unlabeled": "α", "all": "π"}
MEANINGS = {
    "unlabeled": "the share of positives among the unlabeled",
    "all": "the share of positives among all",
}
MARGIN = 0.02
"""Room beside the ends of a share's axis, so that a line at 0 or 1 is seen."""
NARROW = 30
"""Characters of a label below one of several axes."""
LONG = 40
"""Characters of a title that needs two lines above one of several axes."""
HEADROOM = 0.45
"""For a legend within the user's axes, as a share of what is drawn."""
ROW = 64
"""Characters of three labels that fit in one row of the legend."""


def new_figure(width: float = 6.0, height: float = 4.0) -> Figure:
    """An empty figure of this size in inches, outside pyplot."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingDependency(
            "Figures need matplotlib, which is not installed. Run: pip install 'halftruth[plot]'"
        ) from error
    return Figure(figsize=(width, height), layout="constrained")


def root_figure(ax: Axes) -> Figure:
    """The figure that an axes lies in, whatever subfigures lie between."""
    figure: Figure = ax.figure.figure
    return figure


def checked(estimate: Any, name: str = "estimate") -> PriorEstimate:
    """The estimate, or an error that says what to pass."""
    if not isinstance(estimate, PriorEstimate):
        raise InputError(
            argument=name,
            must="be a PriorEstimate",
            got=type(estimate).__name__,
            remedy="Pass what ht.estimate_prior gives; of a PriorAndPurity, its `.prior`.",
        )
    return estimate


def reach(shares: Iterable[float | None]) -> float:
    """The end of an axis from 0 that shows these shares well; none: what is not known."""
    largest = max(share for share in shares if share is not None)
    return 1.0 if largest > 0.6 else max(1.5 * largest, 0.001)


def reach_of(estimate: PriorEstimate) -> float:
    """The end of an axis that shows an estimate."""
    return reach([estimate.value, estimate.high, estimate.upper])


def show_share(ax: Axes, estimate: PriorEstimate) -> None:
    """The estimate as a line, its interval as a band and what the data refute, on the x axis."""
    symbol = SYMBOLS[estimate.population]
    low, high = ends(estimate)
    said = f"estimate {estimate.value:.3g}"
    ax.axvline(estimate.value, color=ESTIMATE, linestyle="--", linewidth=1.8, zorder=3, label=said)
    said = f"{level(estimate)} {low:.3g} to {high:.3g}"
    ax.axvspan(low, high, color=INTERVAL, linewidth=1, zorder=0, label=said)
    show_refuted(ax, estimate.upper, symbol)
    show_axis(ax, reach_of(estimate), estimate.population)


def show_refuted(ax: Axes, upper: float | None, symbol: str) -> None:
    """The shares that the data refute, hatched; that there are none, in the legend alone."""
    if upper is None:
        return
    if upper < 1:
        ax.axvspan(upper, 1, zorder=0.5, label=f"refuted: {symbol} > {upper:.3g}", **REFUTED)
    else:
        ax.plot([], [], " ", label=f"no {symbol} is refuted")


def show_axis(ax: Axes, end: float, population: str) -> None:
    """An x axis of the share from 0 to ``end``, with no more words than there is room for."""
    ax.set_xlim(-MARGIN * end, (1 + MARGIN) * end)
    symbol, figure = SYMBOLS[population], root_figure(ax)
    label = f"{symbol}, {MEANINGS[population]}"
    if len(figure.axes) > 1:
        label = symbol if figure.get_layout_engine() is None else wrapped(label, NARROW)
    ax.set_xlabel(label)


def unit_axes(ax: Axes, x_label: str, y_label: str) -> None:
    """Both axes from 0 to 1, with room for lines at their ends."""
    ax.set_xlim(-MARGIN, 1 + MARGIN)
    ax.set_ylim(-MARGIN, 1 + MARGIN)
    ax.set_xlabel(x_label)
    ax.set_ylabel(y_label)


def ends(estimate: PriorEstimate) -> tuple[float, float]:
    """Of its interval, which every estimate has."""
    assert estimate.low is not None
    assert estimate.high is not None
    return estimate.low, estimate.high


def level(estimate: PriorEstimate) -> str:
    """What its interval is called."""
    return f"{100 * estimate.confidence_level:.4g}% interval"


def finish(figure: Figure, ax: Axes | None, title: str, *, free_corner: bool = False) -> Figure:
    """Title and legend: of a figure of ours around the axes, else within the user's axes.

    Those have room for a legend in a corner below that is free, or it is made above what is drawn.
    """
    if ax is not None:
        if not free_corner:
            bottom, top = ax.get_ylim()
            ax.set_ylim(bottom, top + HEADROOM * (top - bottom))
        ax.set_title(title if len(title) < LONG else title.replace(": ", ":\n"))
        ax.legend(loc="lower right" if free_corner else "upper right", fontsize="small")
        return figure
    figure.suptitle(title)
    named = [pair for one in figure.axes for pair in zip(*one.get_legend_handles_labels(), strict=True)]
    handles, labels = zip(*named, strict=True)
    long = len(labels) == 4 or sum(map(len, labels[:3])) > ROW
    columns = 2 if long else 3
    figure.legend(
        handles, labels, loc="outside lower center", ncols=columns, fontsize="small", handlelength=1.8
    )
    return figure


def wrapped(label: str, width: int) -> str:
    """The label in lines of at most so many characters."""
    return "\n".join(textwrap.wrap(label, width))


# --- one model, or a few by name ----------------------------------------------------------------------


def named(evidence: Any) -> dict[str, Any]:
    """By name what a figure draws, from one to four; one that stands alone has no name."""
    several = dict(evidence) if isinstance(evidence, Mapping) else {"": evidence}
    if not 0 < len(several) <= len(COLORS):
        raise InputError(
            argument="evidence",
            must=f"hold 1 to {len(COLORS)} models",
            got=len(several),
            remedy="Draw fewer at once.",
        )
    return {str(name): each for name, each in several.items()}


def measures(several: Mapping[str, Any]) -> dict[str, ScoreMeasure]:
    """The measure of each, whose prior must be known."""
    out = {name: as_measure(each) for name, each in several.items()}
    if many := next((measure.shape for measure in out.values() if measure.shape), None):
        raise InputError(
            argument="evidence", must="be one measure", got=f"{many} of them", remedy="Pass one by one."
        )
    return out


def naive_of(several: Mapping[str, Any]) -> ScoreMeasure | None:
    """The naive measure where one model is drawn, and there is another than its own."""
    (only, *others) = several.values()
    if others or not isinstance(only, Evidence):
        return None
    naive = only.naive_measure()
    return None if naive is only.measure() else naive


def plain(name: str) -> str:
    """A name as it is: matplotlib would read dollars as formulas, and leave ``_name`` out of the legend."""
    return (" " if name.startswith("_") else "") + name.replace("$", r"\$")


def look(i: int) -> dict[str, Any]:
    """Colour and dash of a model."""
    return {"color": COLORS[i], "linestyle": DASHES[i], "linewidth": 1.6, "zorder": 3 + i}


def only_one(ax: Axes | None, names: Iterable[str], what: str) -> None:
    """Raise where the user's axes would have to hold several panels."""
    n = len(list(names))
    if ax is not None and n > 1:
        raise InputError(
            f"{arg('ax')} takes one {what}, got {n}. Draw them one by one, or leave {arg('ax')} out."
        )


def finish_models(figure: Figure, ax: Axes | None, title: str, corner: Any) -> Figure:
    """Title and legend: of a figure of ours around the panels, else in a corner of the user's axes."""
    if ax is not None:
        ax.set_title(title)
        ax.legend(loc=corner, fontsize="small")
        return figure
    figure.suptitle(title)
    parts = [one.get_legend_handles_labels() for one in figure.axes]
    handles = [handle for part, _ in parts for handle in part]
    labels = [wrapped(label, ROW) for _, part in parts for label in part]
    place: Any = "outside lower center"
    for columns in (2, 1) if len(labels) == 4 else (3, 2, 1):
        legend = figure.legend(handles, labels, loc=place, ncols=columns, fontsize="small", handlelength=1.8)
        if columns == 1 or legend.get_window_extent().width <= figure.bbox.width:
            break
        legend.remove()
    return figure
