"""One model, or a few by name, in one figure: how they are read, told apart and named."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from halftruth._errors import InputError, arg
from halftruth.evidence import Evidence
from halftruth.figures import _canvas
from halftruth.figures._reliability_diagram import COLORS, DASHES
from halftruth.measure._score_measure import ScoreMeasure, as_measure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["BASELINE", "NAIVE", "finish", "look", "measures", "naive_of", "named", "only_one", "plain"]

NAIVE: dict[str, Any] = {"color": "0.55", "linestyle": (0, (4, 2)), "linewidth": 1.2, "zorder": 2}
"""What one sees who does not know better: dashed and pale."""
BASELINE: dict[str, Any] = {"color": "0.7", "linestyle": "-", "linewidth": 0.8, "zorder": 1}


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


def finish(figure: Figure, ax: Axes | None, title: str, corner: Any) -> Figure:
    """Title and legend: of a figure of ours around the panels, else in a corner of the user's axes."""
    if ax is not None:
        ax.set_title(title)
        ax.legend(loc=corner, fontsize="small")
        return figure
    figure.suptitle(title)
    parts = [one.get_legend_handles_labels() for one in figure.axes]
    handles = [handle for part, _ in parts for handle in part]
    labels = [_canvas.wrapped(label, _canvas.ROW) for _, part in parts for label in part]
    place: Any = "outside lower center"
    for columns in (2, 1) if len(labels) == 4 else (3, 2, 1):
        legend = figure.legend(handles, labels, loc=place, ncols=columns, fontsize="small", handlelength=1.8)
        if columns == 1 or legend.get_window_extent().width <= figure.bbox.width:
            break
        legend.remove()
    return figure
