"""What the figures have in common: matplotlib where it is needed, the palette, legends, models by name."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from halftruth._checks import Vector
from halftruth._errors import InputError, MissingDependency, arg
from halftruth.evidence import Evidence
from halftruth.measure._score_measure import Measurable, ScoreMeasure
from halftruth.metrics._curves import PrecisionRecallCurve, RocCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "BASELINE", "COLORS", "DASHES", "DATA", "ESTIMATE", "INTERVAL", "MARGIN", "MEANINGS", "NAIVE", "NARROW",
    "PALE", "REFUTED", "ROW", "SYMBOLS", "Canvas", "Models", "curve_points", "look", "naive_of", "named",
    "new_figure", "percent", "plain", "root_figure", "thinned", "unit_axes", "wrapped",
]  # fmt: skip

# Okabe and Ito's colours, told apart by colour-blind readers. Dashes and hatches tell the same in grey.
DATA = "#0072B2"
PALE = "#A6CEE6"
ESTIMATE = "#D55E00"
INTERVAL = "#F7DDB0"
REFUTED: dict[str, Any] = {"facecolor": (0, 0, 0, 0.07), "edgecolor": "0.6", "hatch": "///", "linewidth": 0}
COLORS = (DATA, ESTIMATE, "#009E73", "#CC79A7")
DASHES = ("-", "--", "-.", ":")
NAIVE: dict[str, Any] = {"color": "0.55", "linestyle": (0, (4, 2)), "linewidth": 1.2, "zorder": 2}
BASELINE: dict[str, Any] = {"color": "0.7", "linestyle": "-", "linewidth": 0.8, "zorder": 1}

SYMBOLS = {"unlabeled": "α", "all": "π"}
MEANINGS = {
    "unlabeled": "the share of positives among the unlabeled",
    "all": "the share of positives among all",
}
MARGIN = 0.02  # room beside the ends of a share's axis, so that a line at 0 or 1 is seen
NARROW = 30  # characters of a label below one of several axes
LONG = 40  # characters of a title that needs two lines above one of several axes
HEADROOM = 0.45  # for a legend within the user's axes, as a share of what is drawn
ROW = 64  # characters of three labels that fit in one row of the legend
Models = Measurable | Mapping[str, Measurable]  # one model, or several by the names to show
T = TypeVar("T")
Corner = Literal["best", "lower right", "upper left"]  # where a legend has room within the user's axes


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


@dataclass(frozen=True)
class Canvas:
    """Where a picture is drawn: a new figure, or the axes that the user passed."""

    figure: Figure
    ax: Axes | None  # the user's axes

    @classmethod
    def open(cls, ax: Axes | None, width: float = 6.0, height: float = 4.0) -> Canvas:
        """The user's axes, or else a figure of this size in inches."""
        return cls(new_figure(width, height), None) if ax is None else cls(root_figure(ax), ax)

    def main(self) -> Axes:
        """The axes of a picture that has one panel."""
        return self.figure.add_subplot() if self.ax is None else self.ax

    def panels(self, n: int, columns: int, what: str) -> list[Axes]:
        """``n`` axes, row by row in so many columns; the user's axes can hold one."""
        if self.ax is not None:
            if n > 1:
                raise InputError(
                    f"{arg('ax')} takes one {what}, got {n}. Draw them one by one, or leave {arg('ax')} out."
                )
            return [self.ax]
        axes = list(self.figure.subplots(-(-n // columns), columns, squeeze=False).flat)
        for unused in axes[n:]:
            unused.remove()
        return axes[:n]

    def fitted(self, title: str) -> str:
        """A title of ours: in two lines where it is long and the user's axes may be narrow."""
        return title if self.ax is None or len(title) < LONG else title.replace(": ", ":\n")

    def finish(self, title: str, corner: Corner | None = None, *, models: bool = False) -> Figure:
        """Title and legend: around the axes of a figure of ours, else within the user's axes.

        These have room for a legend in ``corner``, or it is made above what is drawn. The names of ``models``
        are the user's, of any length.
        """
        if self.ax is not None:
            if corner is None:
                bottom, top = self.ax.get_ylim()
                self.ax.set_ylim(bottom, top + HEADROOM * (top - bottom))
            self.ax.set_title(title)
            self.ax.legend(loc=corner or "upper right", fontsize="small")
            return self.figure
        self.figure.suptitle(title)
        entries = [
            pair for ax in self.figure.axes for pair in zip(*ax.get_legend_handles_labels(), strict=True)
        ]
        handles = [handle for handle, _ in entries]
        labels = [wrapped(label, ROW) if models else label for _, label in entries]
        choices = [2, 1] if len(labels) == 4 else [3, 2, 1]
        if not models:  # our own labels have known lengths
            choices = [2 if sum(map(len, labels[:3])) > ROW else choices[0]]
        for columns in choices:
            legend = self.figure.legend(
                handles, labels, loc="outside lower center", ncols=columns, fontsize="small", handlelength=1.8
            )
            if columns == choices[-1] or legend.get_window_extent().width <= self.figure.bbox.width:
                break
            legend.remove()
        return self.figure


def unit_axes(ax: Axes, x_label: str, y_label: str) -> None:
    """Both axes from 0 to 1, with room for lines at their ends."""
    ax.set_xlim(-MARGIN, 1 + MARGIN)
    ax.set_ylim(-MARGIN, 1 + MARGIN)
    ax.set_xlabel(x_label)
    ax.set_ylabel(y_label)


def percent(level: float) -> str:
    """A confidence level as it is read."""
    return f"{100 * level:.4g}%"


def wrapped(label: str, width: int) -> str:
    """The label in lines of at most so many characters."""
    return "\n".join(textwrap.wrap(label, width))


def curve_points(curve: RocCurve | PrecisionRecallCurve) -> tuple[Vector, Vector]:
    """Along x and y."""
    return (curve.fpr, curve.tpr) if isinstance(curve, RocCurve) else (curve.recall, curve.precision)


def thinned(
    x: Vector, y: Vector, most: int, length: Callable[[Vector, Vector], Vector] = np.hypot
) -> tuple[Vector, Vector]:
    """What is defined of a curve; of more than ``most`` points, some at equal steps along it.

    ``length`` is that of a step, from how far it goes along x and along y.
    """
    defined = np.isfinite(x) & np.isfinite(y)
    x, y = x[defined], y[defined]
    if len(x) <= most:
        return x, y
    # What lies outside the unit square is not seen: steps there count as short.
    steps = (np.diff(np.clip(values, -MARGIN, 1 + MARGIN)) for values in (x, y))
    along = np.append(0.0, np.cumsum(length(*steps)))
    shown = np.searchsorted(along, np.linspace(0, along[-1], most))
    shown = np.unique(np.append(shown, len(x) - 1))
    return x[shown], y[shown]


# --- one model, or a few by name ----------------------------------------------------------------------


def named(evidence: T | Mapping[str, T], what: str = "models") -> dict[str, T]:
    """By name what a figure draws, from one to four; one that stands alone has no name."""
    several = dict(evidence) if isinstance(evidence, Mapping) else {"": evidence}
    if not 0 < len(several) <= len(COLORS):
        raise InputError(
            argument="evidence",
            must=f"hold 1 to {len(COLORS)} {what}",
            got=len(several),
            remedy="Draw fewer at once.",
        )
    return {str(name): model for name, model in several.items()}


def naive_of(several: Mapping[str, object]) -> ScoreMeasure | None:
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
