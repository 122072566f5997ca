"""How wrong a recovered AUC is where the shares are: one map, and many for a range of truths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from halftruth.figures import _canvas
from halftruth_papers.jain.share_regions import ErrorMap, error_map, landmarks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.figure import Figure

__all__ = ["recovery_error_map", "recovery_regions"]

ERRORS = "viridis_r"
LARGEST = 0.5
"""Error at the dark end of the colours."""
ERROR = "error of the recovered AUC"
SINGLE = 5.0, 5.0
"""Width and height of a map that stands alone, in inches."""
BAR = 1.1
"""Width of the colours' own panel, in inches."""
LINES = {
    "AUC": ("-", "the true AUC"),
    "1": ("--", "1, impossible beyond"),
    "0": ("-.", "0, impossible beyond"),
    "1 − AUC": (":", "1 − the true AUC"),
}


def recovery_error_map(
    aucs: float | Sequence[float] | ErrorMap = (0.65, 0.80, 0.95),
    alphas: float | Sequence[float] = (0.05, 0.25, 0.50),
    purities: float | Sequence[float] = (1.00, 0.95, 0.75),
) -> Figure:
    """Draw the error of the recovered AUC over all estimated shares, for every combination of the truth.

    Figure 3 of Jain, White and Radivojac (2017): a group for each AUC, with a column for each α and a row for
    each purity. Grey is where the recovered AUC lies outside [0, 1]; dotted lines cross at the truth.

    Parameters
    ----------
    aucs : float, sequence of float, or ErrorMap
        The truth. An `ErrorMap` is drawn by itself, without what it does not know: the truth.
    alphas, purities : float or sequence of float
        The truth.

    Examples
    --------
    >>> figure = recovery_error_map(0.8, alphas=0.25, purities=0.95)
    >>> figure.axes[0].get_title()
    'α = 0.25, ρ = 0.95'
    """
    if isinstance(aucs, ErrorMap):
        return _one_map(aucs)
    aucs, alphas, purities = _listed(aucs), _listed(alphas), _listed(purities)
    alone = len(aucs) == len(alphas) == len(purities) == 1
    width, height = max(2.5, 1.35 * len(alphas)), max(2.5, 1.35 * len(purities) + 0.5)
    if alone:
        width, height = SINGLE
    small = "medium" if alone else "x-small"
    figure = _canvas.new_figure(width=width * len(aucs) + BAR, height=height)
    ratios = [*(width for _ in aucs), BAR]
    *groups, beside = figure.subfigures(1, len(aucs) + 1, squeeze=False, width_ratios=ratios)[0]
    drawn: Any = None
    for group, auc in zip(groups, aucs, strict=True):
        group.suptitle(f"AUC = {auc:g}")
        panels = group.subplots(len(purities), len(alphas), sharex=True, sharey=True, squeeze=False)
        for row, purity in zip(panels, purities, strict=True):
            for ax, alpha in zip(row, alphas, strict=True):
                drawn = _draw_errors(ax, error_map(auc, alpha, purity))
                _draw_truth(ax, alpha, purity)
                ax.set_title(f"α = {alpha:g}, ρ = {purity:g}", fontsize=small, pad=6 if alone else 2)
                ax.set_xticks([0, 0.5, 1])
                ax.set_yticks([0, 0.5, 1])
                ax.tick_params(labelsize=small)
        group.supxlabel("estimated α")
        group.supylabel("estimated ρ")
    beside.colorbar(drawn, cax=beside.add_axes((0.05, 0.15, 0.2, 0.7)), extend="max", label=ERROR)
    return figure


def _listed(values: float | Sequence[float]) -> list[float]:
    return [float(values)] if np.ndim(values) == 0 else list(values)  # type: ignore[arg-type]


def _one_map(errors: ErrorMap) -> Figure:
    figure = _canvas.new_figure(width=SINGLE[0] + BAR, height=SINGLE[1])
    ax = figure.add_subplot()
    figure.colorbar(_draw_errors(ax, errors), ax=ax, extend="max", shrink=0.8, label=ERROR)
    ax.set_xlabel("estimated α")
    ax.set_ylabel("estimated ρ")
    return figure


def recovery_regions(
    auc: float = 0.9, alpha: float = 0.25, purity: float = 0.75, *, ax: Axes | None = None
) -> Figure:
    """Draw the error of the recovered AUC with the lines on which it is right, 1, 0 or turned round.

    Figure 4 of Jain, White and Radivojac (2017).

    Parameters
    ----------
    auc, alpha, purity : float
        The truth.
    ax : matplotlib Axes, optional
        Where to draw.

    Examples
    --------
    >>> figure = recovery_regions(auc=0.9, alpha=0.25, purity=0.75)
    >>> figure.axes[0].get_ylabel()
    'estimated ρ'
    """
    marks, errors = landmarks(auc, alpha, purity), error_map(auc, alpha, purity, n_points=201)
    canvas = _canvas.Canvas.open(ax, width=6.4, height=6.2)
    main = canvas.main()
    canvas.figure.colorbar(_draw_errors(main, errors), ax=main, extend="max", shrink=0.8, label=ERROR)
    _draw_truth(main, alpha, purity)
    for what, line in marks.lines.items():
        style, meaning = LINES[what]
        x, y = np.transpose(line.ends)
        main.plot(x, y, "-", color="white", linewidth=4)
        main.plot(x, y, style, color="black", linewidth=1.8, label=f"recovered AUC = {meaning}")
    corners = ((0, 1, "s", f"AUC_pu, {marks.auc_pu:.3g}"), (1, 0, "D", f"1 − AUC_pu, {1 - marks.auc_pu:.3g}"))
    for x, y, marker, value in corners:
        label = f"recovered AUC = {value}"
        main.plot(
            x, y, marker, color=_canvas.ESTIMATE, mec="white", ms=9, clip_on=False, zorder=4, label=label
        )
    main.set_xlabel("estimated α")
    main.set_ylabel("estimated ρ")
    title = f"Recovered AUC: true AUC {auc:g}, α = {alpha:g}, ρ = {purity:g}"
    if ax is None:
        return canvas.finish(title)
    # The whole square says something, so the legend lies below it.
    main.set_title(title.replace(": ", ":\n"))
    main.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), fontsize="small")
    return canvas.figure


def _draw_errors(ax: Axes, errors: ErrorMap) -> QuadMesh:
    """The errors as colours; grey where the AUC is impossible."""
    ax.set_facecolor("0.75")
    ax.set_aspect("equal")
    return ax.pcolormesh(
        errors.alpha,
        errors.purity,
        np.ma.masked_invalid(errors.error),
        cmap=ERRORS,
        vmin=0,
        vmax=LARGEST,
        rasterized=True,
    )


def _draw_truth(ax: Axes, alpha: float, purity: float) -> None:
    ax.axvline(alpha, color="white", linestyle=":", linewidth=1.2)
    ax.axhline(purity, color="white", linestyle=":", linewidth=1.2)
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1)
