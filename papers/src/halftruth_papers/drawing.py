"""What the pages of reproduced papers show: errors as boxes, by setting and by method; figures as SVG."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from halftruth.figures import _canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#D55E00", "#E69F00", "#009E73", "#0072B2", "#CC79A7", "#56B4E9", "#999999", "#F0E442")
"""Okabe and Ito's, in the order of the methods; hatches tell the same in grey."""
HATCHES = ("", "//", "\\\\", "xx", "--", "||", "++", "/")
WIDTH = 0.8
"""Of a group of boxes, in units of the distance between groups."""

Errors = Mapping[str, Sequence[Sequence[float]]]
"""By method, the errors in each group."""


def error_boxes(groups: Sequence[str], errors: Errors, *, ylabel: str, xlabel: str, title: str) -> Figure:
    """Boxes of errors, one group of them for each setting, one box in it for each method.

    Parameters
    ----------
    groups : list of str
        Names of the settings, along the x axis.
    errors : dict
        By method, a list of errors for each group. A group without any has no box.
    ylabel, xlabel, title : str

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> import halftruth as ht
    >>> from halftruth_papers.drawing import error_boxes
    >>> errors = {"PU": [[-0.2, -0.1], [-0.3]], "IR": [[0.0, 0.01], [0.02]]}
    >>> figure = error_boxes(["1", ".95"], errors, ylabel="error", xlabel="ρ", title="AUC")
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['PU', 'IR']
    """
    figure = _canvas.new_figure(7.5, 4.2)
    ax = figure.add_subplot()
    handles = [
        _boxes(ax, place, len(errors), method, per_group)
        for place, (method, per_group) in enumerate(errors.items())
    ]
    ax.axhline(0, color="0.3", linewidth=0.8, zorder=0)
    ax.set_xticks(range(len(groups)), list(groups))
    ax.set_xlim(-0.5, len(groups) - 0.5)
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    figure.suptitle(title)
    figure.legend(handles, list(errors), loc="outside lower center", ncols=len(errors), fontsize="small")
    return figure


def panels(
    n: int, columns: int, size: tuple[float, float], *, pad: float | None = None, **settings: Any
) -> tuple[Figure, list[Axes]]:
    """A figure of this size with ``n`` panels in so many columns; ``pad``: inches above and below each."""
    figure = _canvas.new_figure(*size)
    engine = figure.get_layout_engine()
    if pad is not None and engine is not None:
        engine.set(h_pad=pad)  # type: ignore[call-arg]
    axes = list(figure.subplots(-(-n // columns), columns, squeeze=False, **settings).flat)
    for unused in axes[n:]:
        unused.set_axis_off()
    return figure, axes[:n]


def label_panels(
    figure: Figure, axes: Sequence[Axes], columns: int, *, left: str, below: str | None, **legend: Any
) -> None:
    """Names of the axes at the left and below, and one legend for all panels."""
    for i, ax in enumerate(axes):
        if i % columns == 0:
            ax.set_ylabel(left)
        if below is not None and i + columns >= len(axes):
            ax.set_xlabel(below)
    handles, labels = axes[0].get_legend_handles_labels()
    look = {"ncols": 3, "handlelength": 3.2} | legend
    figure.legend(handles, labels, loc="outside lower center", fontsize="small", **look)


def _boxes(ax: Axes, place: int, n_methods: int, method: str, per_group: Sequence[Sequence[float]]) -> Any:
    """The boxes of one method, and what stands for them in the legend."""
    step = WIDTH / n_methods
    filled = [(group, list(values)) for group, values in enumerate(per_group) if len(values)]
    look: dict[str, Any] = {
        "facecolor": COLOURS[place % len(COLOURS)],
        "hatch": HATCHES[place % len(HATCHES)],
    }
    look["alpha"] = 0.75
    if filled:
        ax.boxplot(
            [values for _, values in filled],
            positions=[group - WIDTH / 2 + (place + 0.5) * step for group, _ in filled],
            widths=0.8 * step,
            patch_artist=True,
            manage_ticks=False,
            boxprops={**look, "linewidth": 0.7},
            medianprops={"color": "black", "linewidth": 1.2},
            whiskerprops={"linewidth": 0.7},
            capprops={"linewidth": 0.7},
            flierprops={"marker": ".", "markersize": 2.5, "markeredgecolor": "0.4"},
        )
    return ax.bar([0], [0], **look, label=method)


def svg(figure: Figure, name: str) -> str:
    """The figure as an SVG element that can stand in a page among others.

    Its ids begin with ``name``, and the same figure gives the same text.

    Examples
    --------
    >>> from halftruth_papers.drawing import error_boxes, svg
    >>> figure = error_boxes(["1"], {"IR": [[0.0, 0.1]]}, ylabel="error", xlabel="ρ", title="AUC")
    >>> svg(figure, "auc").startswith("<svg")
    True
    """
    from matplotlib import rc_context

    out = io.StringIO()
    with rc_context({"svg.hashsalt": name}):
        figure.savefig(out, format="svg")
    text = out.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)  # a date, among others
    text = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', text)
    text = re.sub(r'href="#([^"]+)"', rf'href="#{name}-\1"', text)
    return re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", text)
