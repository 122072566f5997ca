"""The figures of the page on the Bayes error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from halftruth.figures import _canvas
from halftruth_papers.bayes_error import lines, tables
from halftruth_papers.bayes_error.lines import Sizes, percent
from halftruth_papers.bayes_error.settings import (
    BER,
    CLEAN,
    CODE_NOISY,
    CODE_SIGNED,
    DIRECT,
    FIGURE_2,
    FIGURE_3,
    HARD,
    MODELS,
    NOISY,
    PCONF,
    SETUPS,
    SIGNED,
    SOFT,
    TASKS,
    YEARS,
)
from halftruth_papers.drawing import COLOURS, label_panels, panels
from halftruth_papers.reproduction import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOOKS: dict[str, dict[str, Any]] = {
    CLEAN: {"color": COLOURS[4], "linestyle": "-", "marker": "o"},
    HARD: {"color": COLOURS[3], "linestyle": "--", "marker": "s"},
    SOFT: {"color": COLOURS[2], "linestyle": "-.", "marker": "^"},
    HARD + BER: {"color": COLOURS[1], "linestyle": "--", "marker": "D"},
    SOFT + BER: {"color": COLOURS[0], "linestyle": "-.", "marker": "v"},
    NOISY: {"color": COLOURS[0], "linestyle": "--", "marker": "s"},
    SIGNED: {"color": COLOURS[3], "linestyle": "-.", "marker": "^"},
    CODE_NOISY: {"color": COLOURS[1], "linestyle": "--", "marker": "D"},
    CODE_SIGNED: {"color": COLOURS[5], "linestyle": "-.", "marker": "v"},
    PCONF: {"color": COLOURS[2], "linestyle": "--", "marker": "s"},
}
"""Dashes and markers tell the same as the colours, in grey too."""
COLUMNS = 2
PAD = 0.1
"""Inches between a panel and what is above and below it."""
APART = 0.12
"""Between two points of one network, or of one year, in units of the distance between these."""


def classifiers(results: Results, model: str) -> Figure:
    """Figures 1 and 6: the proposed estimate, test errors of classifiers, and what these believe."""
    model_name = MODELS[model]
    names = {
        CLEAN: DIRECT[CLEAN],
        HARD: f"{model_name}, hard labels",
        SOFT: f"{model_name}, soft labels",
        HARD + BER: "classifier-BER, hard labels",
        SOFT + BER: "classifier-BER, soft labels",
    }
    return _panels(
        results,
        {s: {**lines.values(results, "direct", s), **lines.values(results, model, s)} for s in SETUPS},
        names,
    )


def noise(results: Results) -> Figure:
    """Figure 2: labels with and without noise; where the noisy ones lead without signs."""

    def limits(ax: Axes, setup: str) -> None:
        for name in (NOISY, CODE_NOISY):
            look = {"color": LOOKS[name]["color"], "linestyle": (0, (1, 1)), "linewidth": 1.2}
            ax.axhline(lines.limit(results, setup, name), label=f"{DIRECT[name]}: tends to", zorder=0, **look)

    by_setup = {setup: lines.values(results, "direct", setup) for setup in SETUPS}
    return _panels(results, by_setup, {name: DIRECT[name] for name in FIGURE_2}, limits)


def confidences(results: Results) -> Figure:
    """Figure 3: labels of both classes, and confidences of positives alone."""
    by_setup = {setup: lines.values(results, "direct", setup) for setup in SETUPS}
    names = {CLEAN: "positive and negative", PCONF: DIRECT[PCONF]}
    return _panels(results, by_setup, {name: names[name] for name in FIGURE_3})


def networks(results: Results) -> Figure:
    """Figure 4: errors by the published labels and by labels drawn from the votes, and the Bayes error."""
    by_network = {name: by_task for name, by_task in tables.judged(results).items() if name != "labels"}
    figure, axes = _grid(len(TASKS), 4.2)
    at = np.arange(len(by_network))
    for ax, (task, about) in zip(axes, TASKS.items(), strict=True):
        cells = [by_task[task] for by_task in by_network.values()]
        value, low, high = percent(results[f"table-{task}"]["pn"])
        ax.axhspan(low, high, color=COLOURS[1], alpha=0.35, linewidth=0)
        ax.axhline(value, color=COLOURS[1], linewidth=1.6, label="Bayes error, 95% interval")
        errors = percent([cell["error"] for cell in cells])
        ax.plot(at - APART, errors, "s", color=COLOURS[5], label="test error")
        drawn = percent([cell["drawn"] for cell in cells])
        spread = drawn.std(axis=1, ddof=1)
        look: dict[str, Any] = {"fmt": "o", "color": COLOURS[4], "capsize": 3}
        ax.errorbar(at + APART, drawn.mean(axis=1), spread, **look, label="labels drawn from votes, ± one sd")
        ax.set_yscale("log")
        ax.set_ylim(0.75 * value, 1.4 * drawn.max())
        ticks = [tick for tick in (0.5, 1, 2, 5, 10, 20) if 0.75 * value <= tick <= 1.4 * drawn.max()]
        ax.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
        ax.minorticks_off()
        ax.set_xticks(at, [tables.NETWORKS[name].replace(" of ", "\nof ") for name in by_network])
        ax.set_xlim(-0.5, len(by_network) - 0.5)
        ax.set_title(about.title)
    label_panels(figure, axes, COLUMNS, left="error, %", below=None)
    return figure


def reviews(results: Results) -> Figure:
    """By year: the mean of min(p, 1 − p) in-sample, and the errors on other rows."""
    figure = _canvas.new_figure(7.5, 4.2)
    ax = figure.add_subplot()
    years = np.array(YEARS)
    labels = {
        "inside": "mean of min(p, 1 − p), fit to the same rows",
        "held_out": "errors of the rule p ≥ ½, fit to other rows",
    }
    for (key, label), side, colour, mark in zip(
        labels.items(), (-APART, APART), (COLOURS[1], COLOURS[3]), "os", strict=True
    ):
        value, low, high = percent([results[f"reviews-{year}"][key] for year in YEARS]).T
        bars = [value - low, high - value]
        ax.errorbar(years + side, value, bars, fmt=mark, color=colour, capsize=3, label=label)
    ax.set_ylim(0, None)
    ax.set_xlabel("year")
    ax.set_ylabel("error, %")
    figure.legend(loc="outside lower center", ncols=2, fontsize="small")
    return figure


def _panels(
    results: Results, values: Mapping[str, Mapping[str, Sizes]], names: Mapping[str, str], more: Any = None
) -> Figure:
    """One panel for each setup; bands of standard errors; one legend below."""
    figure, axes = _grid(len(values), 3.6)
    for ax, (setup, by_estimator) in zip(axes, values.items(), strict=True):
        for name, title in names.items():
            n, mean, error = lines.means(by_estimator[name])
            colour = LOOKS[name]["color"]
            ax.fill_between(n, mean - error, mean + error, color=colour, alpha=0.12, linewidth=0)
            ax.plot(n, mean, markersize=3.5, linewidth=1.4, label=title, **LOOKS[name])
        if more is not None:
            more(ax, setup)
        true = lines.truth(results, setup)
        ax.axhline(true, color="black", linestyle=":", linewidth=1.6, label="Bayes error, exact")
        dim = results[f"about-{setup}"]["dim"]
        ax.set_title(f"{setup}: {dim} dimensions, Bayes error {true:.2f}%")
        ax.set_xscale("log", base=2)
        ticks = n[:: max(1, len(n) // 5)]
        ax.set_xticks(ticks, [f"{tick}" for tick in ticks])
        ax.minorticks_off()
        ax.set_ylim(max(0.0, ax.get_ylim()[0]), None)
        ax.grid(color="0.9", linewidth=0.6)
        ax.set_axisbelow(True)
    label_panels(figure, axes, COLUMNS, left="error, %", below="rows of each class")
    return figure


def _grid(n: int, height: float) -> tuple[Figure, list[Axes]]:
    return panels(n, COLUMNS, (10, height * -(-n // COLUMNS) + 0.8), pad=PAD)
