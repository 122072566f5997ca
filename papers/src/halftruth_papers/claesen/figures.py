"""The figures of the page of Claesen et al."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from halftruth._checks import Vector
from halftruth.figures import _canvas
from halftruth.figures._canvas import COLORS
from halftruth.figures._rank_bound_figures import curve_bounds, rank_band
from halftruth.metrics._curves import precision_recall_curve, roc_curve
from halftruth.rank_bounds._bound_results import CurveBounds
from halftruth_papers.claesen import experiments
from halftruth_papers.claesen import models as claesen_models
from halftruth_papers.claesen.rankings import AREA, Ranking, table_curve
from halftruth_papers.claesen.settings import METHODS, OURS, RATIOS, THEIRS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOOKS = {THEIRS: ("theirs", COLORS[0], "-"), OURS: ("ours", COLORS[1], "--")}
AXIS = (0.62, 0.90)
"""Of the AUROC. The paper's, 0.67 to 0.87, would cut our bounds off."""
POINTS = 800


def curves(ranking: Ranking, found: dict[str, dict[str, dict[str, CurveBounds]]]) -> Figure:
    """Figure 5: theirs above, ours below; ranks, ROC and precision-recall."""
    labeled = experiments.truth_of(ranking)
    true: dict[str, Any] = {"roc": roc_curve(labeled), "pr": precision_recall_curve(labeled)}
    figure = _canvas.new_figure(12, 8)
    for row, (band, name) in zip(figure.subplots(2, 3), METHODS.items(), strict=True):
        one = next(iter(found[band]["roc"].values()))
        rank_band(one, ranking.latent, ax=row[0])
        row[0].set_title(f"Ranks of the positives, {name}")
        for ax, of, title in ((row[1], "roc", "ROC"), (row[2], "pr", "Precision-recall")):
            curve_bounds(found[band][of], true[of], ax=ax)
            ax.set_title(f"{title}, {name}")
    return figure


def bands(ranking: Ranking, found: Mapping[str, CurveBounds]) -> Figure:
    """The bands of Figure 5a, less the rank CDF of the known positives, so that their width is seen."""
    figure = _canvas.new_figure(7, 4)
    ax = figure.add_subplot()
    for method, bounds in found.items():
        name, color, dash = LOOKS[method]
        table, band = bounds.tables[1], bounds.band
        rank = (np.asarray(table.tp) + np.asarray(table.fp)) / len(experiments.truth_of(ranking).table)
        drawn = np.unique(np.linspace(0, len(rank) - 1, POINTS).astype(int))
        for i, end in enumerate((band.low, band.high)):
            label = name if i == 0 else None
            ax.plot(rank[drawn], (end - band.known)[drawn], dash, color=color, linewidth=1.1, label=label)
    latent = np.sort(ranking.latent)
    share = 1 - np.searchsorted(latent, band.threshold, side="left") / len(latent)
    ax.plot(rank[drawn], (share - band.known)[drawn], ":", color="black", label="latent positives")
    ax.set_xlabel("rank, as a share of all")
    ax.set_ylabel("rank CDF, less that of the known")
    ax.legend(fontsize="small")
    return figure


def bars(rows: list[dict[str, Any]], which: str) -> Figure:
    """Tables 1 and 2 as the paper shows them: one panel for each α̂, one row for each setting."""
    figure = _canvas.new_figure(11, 7)
    axes = figure.subplots(1, len(RATIOS), sharey=True)
    settings = [f"{row['known']:g}/{row['known_negative']:g}" for row in rows]
    truth = rows[0]["truth"]
    for i, (ax, ratio) in enumerate(zip(axes, RATIOS, strict=True)):
        ax.axvline(truth, color="black", linestyle=":", linewidth=1.4, label=f"truth {truth:.3g}")
        for place, method in enumerate(METHODS):
            draw_bars(ax, [row["cases"][i][which][method] for row in rows], place, METHODS[method])
        ax.set_yticks(range(len(rows)), labels=settings)
        ax.set_ylim(len(rows) - 0.5, -0.5)
        ax.use_sticky_edges = False  # a bar would hold the axis to its lower end
        ax.set_xlabel("AUROC")
        ax.set_title(f"α̂/α = {ratio}")
        ax.set_xlim(*AXIS)
    axes[0].legend(loc="best", fontsize="small")
    axes[0].set_ylabel("share of positives / of negatives known")
    return figure


def draw_bars(ax: Axes, bounds: Sequence[Sequence[float] | None], place: int, name: str) -> None:
    """A bar for each row, beside those of the other methods; a cross where the data refute α̂."""
    n, color = len(METHODS), COLORS[place]
    y = np.arange(len(bounds)) + 0.8 * ((place + 0.5) / n - 0.5)
    refuted = np.array([pair is None for pair in bounds])
    low, high = np.transpose([pair or (np.nan, np.nan) for pair in bounds])
    look: dict[str, Any] = {"facecolor": color, "edgecolor": color, "alpha": 0.75}
    hatch = "////" if place else ""
    ax.barh(y, high - low, left=low, height=0.64 / n, hatch=hatch, label=name, **look)
    if refuted.any():
        # x is a share of the axis here, so that the cross is seen wherever the bars lie.
        middle, across = np.full(refuted.sum(), 0.5), ax.get_yaxis_transform()
        label = f"refuted, {name}"
        ax.plot(middle, y[refuted], "x", color=color, markersize=4, transform=across, label=label)


def growing(ends: dict[int, tuple[Any, dict[str, Any]]]) -> Figure:
    """Figure 2: mean bounds and where most repeats lie, by the number of known positives."""
    figure = _canvas.new_figure(7, 4.4)
    ax = figure.add_subplot()
    x = np.array(list(ends))
    for method, (name, color, dash) in LOOKS.items():
        for end in (0, 1):
            values = [by_method[method][:, end] for _, by_method in ends.values()]
            low, high = np.transpose([np.nanquantile(sample, [0.025, 0.975]) for sample in values])
            ax.fill_between(x, low, high, color=color, alpha=0.2, linewidth=0)
            mean = [np.nanmean(sample) for sample in values]
            ax.plot(x, mean, dash, color=color, marker=".", label=name if end else None)
    ax.axhline(AREA, color="black", linestyle=":", label="AUROC of the law")
    ax.set_xscale("log")
    ax.set_xlabel("known positives")
    ax.set_ylabel("bounds of the AUROC")
    ax.legend(fontsize="small")
    return figure


def models() -> Figure:
    """Figure 4: the rank CDF of the known positives, and the curves that the paper's tables make of them."""
    figure = _canvas.new_figure(10, 4.4)
    left, right = figure.subplots(1, 2)
    for (name, (known, unlabeled)), color in zip(claesen_models.two_models().items(), COLORS, strict=False):
        fpr, tpr = table_curve(known, unlabeled, 0.0)
        left.plot(*_few(fpr, tpr), color=color, label=name)
        for alpha, dash in ((0.0, "-"), (claesen_models.ALPHA_4, "--")):
            fpr, tpr = table_curve(known, unlabeled, alpha)
            right.plot(*_few(fpr, tpr), dash, color=color, label=f"{name}, α̂ = {alpha:g}")
    left.set_xlabel("rank among the unlabeled")
    left.set_ylabel("share of the known positives above")
    right.set_xlabel("false-positive rate")
    right.set_ylabel("true-positive rate")
    for ax in (left, right):
        ax.legend(fontsize="small", loc="lower right")
    return figure


def _few(x: Vector, y: Vector) -> tuple[Vector, Vector]:
    drawn = np.unique(np.linspace(0, len(x) - 1, POINTS).astype(int))
    return x[drawn], y[drawn]
