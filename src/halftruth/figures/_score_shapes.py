"""Score distributions of the inferred positives and negatives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from halftruth import _checks
from halftruth.figures import _canvas
from halftruth.figures._drawn_models import finish, measures, named, only_one, plain
from halftruth.measure._score_measure import ScoreMeasure, ratio

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["scores"]

PANEL = 2.1
"""Inches of one of several."""


def scores(evidence: Any, n_bins: int = 40, *, ax: Axes | None = None, title: str | None = None) -> Figure:
    """Draw how the scores of the inferred positives and negatives are distributed, one panel a model.

    Parameters
    ----------
    evidence : evidence or measure, or up to four by the names to show
        The prior must be known.
    n_bins : int
        Bins of equal width, from the lowest to the highest score.
    ax : matplotlib Axes, optional
        Where to draw, one model.
    title : str, optional

    Returns
    -------
    matplotlib Figure
        A new one, or that of ``ax``.

    Notes
    -----
    Heights are the masses μ₁ and μ − μ₁ of the bins as shares of their class, which sum to 1. From partial
    evidence noise can make them negative; they are shown as they are. Many deep ones say that the prior is
    too high, or that the known positives are not a random sample of the positives.

    Examples
    --------
    >>> import halftruth as ht
    >>> evidence = ht.simulate.GaussianClasses(prior=0.3).positive_unlabeled(200, 2000, rng=0)
    >>> figure = ht.figures.scores(evidence, n_bins=30)
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['positives', 'negatives']
    """
    drawn = measures(named(evidence))
    n_bins = _checks.count(n_bins, "n_bins", least=1)
    only_one(ax, drawn, "model")
    if ax is None:
        figure = _canvas.new_figure(height=4.0 if len(drawn) == 1 else 1.2 + PANEL * len(drawn))
        panels = list(figure.subplots(len(drawn), 1, squeeze=False)[:, 0])
    else:
        figure, panels = _canvas.root_figure(ax), [ax]
    for i, ((name, measure), panel) in enumerate(zip(drawn.items(), panels, strict=True)):
        _draw(panel, measure, n_bins, labels=("positives", "negatives") if i == 0 else ("", ""))
        if name and ax is None:
            panel.set_title(_canvas.wrapped(plain(name), _canvas.ROW), fontsize="medium", loc="left")
    panels[-1].set_xlabel("score")
    return finish(figure, ax, title or "Scores by class", "best")


def _draw(ax: Axes, measure: ScoreMeasure, n_bins: int, labels: tuple[str, str]) -> None:
    """Both classes from one line: the positives filled, the negatives a dashed outline over them."""
    filled: dict[str, Any] = {
        "fill": True,
        "facecolor": _canvas.PALE,
        "edgecolor": _canvas.DATA,
        "linewidth": 0.9,
    }
    outline: dict[str, Any] = {"edgecolor": _canvas.ESTIMATE, "linestyle": "--", "linewidth": 1.4}
    for masses, whole, label, look in (
        (measure.pos_mass, measure.positives, labels[0], filled),
        (measure.neg_mass, measure.negatives, labels[1], outline),
    ):
        heights, edges = np.histogram(measure.score, n_bins, weights=masses)
        ax.stairs(ratio(heights, whole), edges, label=label, **look)
    ax.axhline(0, color="0.3", linewidth=0.8, zorder=0.5)
    beside = _canvas.MARGIN * (edges[-1] - edges[0])
    ax.set_xlim(edges[0] - beside, edges[-1] + beside)
    ax.set_ylabel("share of the class")
