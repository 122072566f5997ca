"""The figures of the page on binomial process modeling."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from halftruth_papers.bpm import tables
from halftruth_papers.bpm.experiments import CURVES, GRID
from halftruth_papers.bpm.settings import METRICS, SAID
from halftruth_papers.drawing import COLOURS, label_panels, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOOKS: dict[str, dict[str, Any]] = {
    "width": {"color": COLOURS[6], "linestyle": "-", "marker": "x"},
    "ece": {"color": COLOURS[6], "linestyle": "--", "marker": "+"},
    "debiased": {"color": COLOURS[4], "linestyle": "-", "marker": "v"},
    "ours": {"color": COLOURS[2], "linestyle": "-", "marker": "s"},
    "sweep": {"color": COLOURS[1], "linestyle": "-", "marker": "^"},
    "ks": {"color": COLOURS[5], "linestyle": "-", "marker": "<"},
    "smooth": {"color": COLOURS[5], "linestyle": "--", "marker": ">"},
    "logit": {"color": COLOURS[1], "linestyle": "--", "marker": "D"},
    "bpm": {"color": COLOURS[0], "linestyle": "-", "marker": "o"},
    "authors": {"color": COLOURS[0], "linestyle": ":", "marker": "."},
    "empirical": {"color": COLOURS[3], "linestyle": "-", "marker": "p"},
}
HIGHEST = 3
"""Times the truth: where the axis of a metric ends."""
CURVE_LOOKS: dict[str, dict[str, Any]] = {
    "true": {"color": "black", "linestyle": "-", "linewidth": 2.2, "label": "true curve"},
    "histograms": {"color": COLOURS[3], "linestyle": "-", "label": CURVES["histograms"]},
    "bpm": {"color": COLOURS[0], "linestyle": "-", "label": CURVES["bpm"]},
    "authors": {"color": COLOURS[1], "linestyle": "--", "label": CURVES["authors"]},
}


def curves(found: Mapping[str, Mapping[str, Any]], *, columns: int = 3) -> Figure:
    """Figure 1(a, b): estimated curves by title, the true one where it is known, the range of histograms."""
    figure, axes = _panels(len(found), columns, 3.6)
    for ax, (title, curve) in zip(axes, found.items(), strict=True):
        low, high = (np.array(curve[end]) for end in ("low", "high"))
        ax.fill_between(GRID, low, high, color=COLOURS[3], alpha=0.15, linewidth=0, label="histograms, range")
        ax.plot([0, 1], [0, 1], color="0.6", linewidth=0.8)
        for name, look in CURVE_LOOKS.items():
            if name in curve:
                ax.plot(GRID, curve[name], **look)
        ax.set_title(title)
        ax.set_xlim(0, 1)
        ax.set_ylim(-0.02, 1.02)
    _label(figure, axes, columns, "score", "share of positives")
    return figure


def means(values: Mapping[str, Mapping[int, Mapping[str, Any]]]) -> Figure:
    """Figure 1(c): mean of each metric by the number of rows; shaded: one standard deviation of TCE_bpm."""
    figure, axes = _panels(len(values), 3, 3.4)
    for ax, (process, sizes) in zip(axes, values.items(), strict=True):
        _lines(ax, sizes, lambda at_size, name: float(np.mean(at_size[name])))
        middle, spread = (
            np.array([take(at_size["bpm"]) for at_size in sizes.values()]) for take in (np.mean, np.std)
        )
        band: dict[str, Any] = {"color": COLOURS[0], "alpha": 0.12, "linewidth": 0}
        ax.fill_between(list(sizes), middle - spread, middle + spread, label="TCE_bpm, one sd", **band)
        truth = next(iter(sizes.values()))["truth"][0]
        ax.axhline(truth, color="black", linewidth=1.6, label="true TCE", zorder=0)
        low, high = ax.get_ylim()
        ax.set_ylim(max(low, 0.0), min(high, HIGHEST * truth))
        ax.set_title(tables.name_of(process))
    _label(figure, axes, 3, "rows", "calibration error, %")
    return figure


def distances(values: Mapping[str, Mapping[int, Mapping[str, Any]]]) -> Figure:
    """Root mean square distance of each metric from the true TCE, by the number of rows."""
    figure, axes = _panels(len(values), 3, 3.4)
    for ax, (process, sizes) in zip(axes, values.items(), strict=True):
        _lines(ax, sizes, tables.rmse)
        ax.set_xscale("log")
        ax.set_yscale("log")
        ticks = sorted({min(sizes), max(sizes)} | {n for n in sizes if n in (1000, 2000)})
        ax.set_xticks(ticks, [f"{n:,}" for n in ticks])
        ax.minorticks_off()
        marks = [mark for mark in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50) if _within(ax, mark)]
        ax.set_yticks(marks, [f"{mark:g}" for mark in marks])
        ax.set_title(tables.name_of(process))
    _label(figure, axes, 3, "rows", "RMSE, %")
    return figure


def _within(ax: Axes, mark: float) -> bool:
    low, high = ax.get_ylim()
    return low <= mark <= high


def _lines(
    ax: Axes, sizes: Mapping[int, Mapping[str, Any]], height: Callable[[Mapping[str, Any], str], float]
) -> None:
    for name in METRICS:
        heights = [height(at_size, name) for at_size in sizes.values()]
        ax.plot(list(sizes), heights, markersize=4, linewidth=1.1, label=SAID[name], **LOOKS[name])


def _panels(n: int, columns: int, height: float) -> tuple[Figure, list[Axes]]:
    columns = min(n, columns)
    return panels(n, columns, (4.0 * columns, height * -(-n // columns) + 0.6))


def _label(figure: Figure, axes: list[Axes], columns: int, below: str, left: str) -> None:
    n_lines = len(axes[0].get_legend_handles_labels()[1])
    legend = {"ncols": min(4, n_lines), "handlelength": 2.6}
    label_panels(figure, axes, columns, left=left, below=below, **legend)
