"""The figures of the page of the PU-ECE paper: bias against N, one panel for each model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from halftruth_papers.drawing import COLOURS, label_panels, panels
from halftruth_papers.pu_ece import tables, training
from halftruth_papers.pu_ece.lines import Line
from halftruth_papers.pu_ece.recipes import NNPU, SUPERVISED, UPU, WAYS
from halftruth_papers.pu_ece.settings import FIGURE_1, FIGURE_2, FIGURE_3, LIMITS, OURS, RATIOS, TITLES
from halftruth_papers.pu_ece.tables import Key
from halftruth_papers.reproduction import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DASHES = ("-", "--", "-.", (0, (4, 1, 1, 1, 1, 1)), (0, (1, 1)))
MARKERS = ("o", "s", "^", "D", "v")
"""Dashes and markers tell the same as the colours, in grey too."""
OF_WAYS = {NNPU: "#0072B2", UPU: "#D55E00", SUPERVISED: "#009E73"}
"""Blue, vermilion and green of the same palette: the two that are compared must be far apart."""
COLUMNS = 2
FLOOR = 1e-6
"""Where panels end below: such a bias is that of the arithmetic."""
PAD = 0.1
"""Inches between a panel and what is above and below it."""


def convergence(results: Results, binning: str) -> Figure:
    """Figure 1: bias of PU-ECE and of ECE."""
    return _panels(results, binning, FIGURE_1, _rate)


def finite_positives(results: Results, binning: str) -> Figure:
    """Figure 2: few positives, ever more unlabeled."""

    def drawn(ax: Axes, model: str) -> None:
        _rate(ax, results, model, binning)
        for n_positive, colour in zip(LIMITS, COLOURS, strict=False):
            end = tables.limit(results, model, binning, n_positive).mean[0]
            ax.axhline(end, color=colour, linestyle=":", linewidth=1.4, label=f"n_P = {n_positive}, n_U = ∞")

    return _panels(results, binning, FIGURE_2, lambda ax, _, model, __: drawn(ax, model))


def wrong_priors(results: Results, binning: str) -> Figure:
    """Figure 3: priors that are wrong by 5% and by 10%."""

    def bounds(ax: Axes, _: Results, model: str, __: str) -> None:
        prior = tables.about(results, model)["prior"]
        for off, shade in zip(
            sorted({round(abs(ratio - 1), 9) for ratio in RATIOS}), ("0.6", "0.3"), strict=True
        ):
            ax.axhline(off * prior, color=shade, linestyle=":", linewidth=1.4, label=f"bound, ±{off:.0%}")

    return _panels(results, binning, FIGURE_3, bounds, errors=True)


def debiased(results: Results, binning: str) -> Figure:
    """Ours: the estimates of the paper, and debiased."""
    return _panels(results, binning, OURS, _rate)


def learning(results: Results) -> Figure:
    """Ours, after Kiryo et al. 2017: test error and training risk by pass, a row for each data set."""
    models = training.learned(results)
    size = (10, 3.2 * len(models) + 0.6)
    figure, axes = panels(2 * len(models), 2, size, pad=PAD)
    for left, right, model in zip(axes[::2], axes[1::2], models, strict=True):
        for i, (way, name) in enumerate(WAYS.items()):
            history = training.training(results, model, way)
            look: dict[str, Any] = {"color": OF_WAYS[way], "linestyle": DASHES[i], "linewidth": 1.4}
            passes, error = history["seen"], 100 * np.array(history["error"])
            left.plot(passes, error, **look, label=name)
            if history["error_sd"] is not None:
                sd = 100 * np.array(history["error_sd"])
                left.fill_between(passes, error - sd, error + sd, color=OF_WAYS[way], alpha=0.1, linewidth=0)
            right.plot(passes, history["risk"], **look)
        right.axhline(0, color="black", linewidth=0.8)
        for ax, quantity in ((left, "test error, %"), (right, "training risk")):
            ax.set_title(f"{TITLES[model]}: {quantity}")
            ax.set_xlabel("passes")
            ax.locator_params(axis="x", integer=True)
            ax.grid(color="0.9", linewidth=0.6)
            ax.set_axisbelow(True)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize="small", handlelength=3.2)
    return figure


def _panels(
    results: Results, binning: str, lines: Mapping[Key, str], more: Any, *, errors: bool = False
) -> Figure:
    """One panel for each model; bands of percentiles, or of standard errors; one legend below."""
    models = tables.models(results)
    height = 3.6 * -(-len(models) // COLUMNS) + 0.8
    figure, axes = panels(len(models), COLUMNS, (10, height), pad=PAD, sharex=True)
    for ax, model in zip(axes, models, strict=True):
        for i, (key, label) in enumerate(lines.items()):
            _draw(ax, tables.line(results, model, binning, key), i, label, errors=errors)
        more(ax, results, model, binning)
        truth = tables.about(results, model)["truth"]
        ax.set_title(f"{TITLES[model]}, TCE = {truth:.4f}")
        _log_axes(ax)
    label_panels(figure, axes, COLUMNS, left="mean |estimate − TCE|", below="N")
    return figure


def _log_axes(ax: Axes) -> None:
    """Plain numbers at the powers of ten, and nothing between them."""
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.minorticks_off()
    ax.set_ylim(bottom=max(FLOOR, ax.get_ylim()[0]))
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.yaxis.set_major_formatter("{x:g}")
    ax.tick_params(labelbottom=True)
    ax.grid(color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)


def _draw(ax: Axes, one: Line, i: int, label: str, *, errors: bool) -> None:
    colour = COLOURS[i]
    low, high = (one.mean - one.error, one.mean + one.error) if errors else one.percentiles
    ax.fill_between(one.n, low, high, color=colour, alpha=0.1, linewidth=0)
    look: dict[str, Any] = {"color": colour, "linestyle": DASHES[i], "marker": MARKERS[i]}
    ax.plot(one.n, one.mean, **look, markersize=3.5, linewidth=1.4, label=label)


def _rate(ax: Axes, results: Results, model: str, binning: str) -> None:
    """The rate of the upper bound, through the first point of the labeled estimate."""
    one = tables.line(results, model, binning, ("labeled", ""))
    ax.plot(
        one.n,
        one.mean[0] * (one.n / one.n[0]) ** (-1 / 3),
        color="black",
        linestyle=(0, (6, 3)),
        linewidth=1,
        label="N^(−1/3)",
    )
