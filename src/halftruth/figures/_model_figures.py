"""Models: ROC and precision-recall curves, corrected and naive, and the scores of the inferred classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from halftruth import _checks
from halftruth._checks import Vector
from halftruth.figures import _canvas
from halftruth.figures._canvas import (
    BASELINE,
    NAIVE,
    finish_models,
    look,
    measures,
    naive_of,
    named,
    only_one,
    plain,
)
from halftruth.measure._score_measure import ScoreMeasure, ratio
from halftruth.metrics._areas import average_precision, roc_auc
from halftruth.metrics._curves import precision_recall_curve, roc_curve
from halftruth.results._estimate import figure as said

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["precision_recall", "roc", "scores"]

FINEST = 2000
"""Points of a curve that are drawn: more are not seen, and swell a vector file."""
PANEL = 2.1
"""Inches of one of several."""

Points = Callable[[ScoreMeasure], tuple[Vector, Vector]]


def roc(evidence: Any, *, naive: bool = True, ax: Axes | None = None, title: str | None = None) -> Figure:
    """Draw ROC curves, with the area under each.

    Parameters
    ----------
    evidence : evidence or measure, or up to four by the names to show
        The prior must be known.
    naive : bool
        Whether to draw the naive curve too, where one model is drawn and its evidence has such a curve:
        known positives against all other rows, or soft labels cut at one half.
    ax : matplotlib Axes, optional
        Where to draw.
    title : str, optional

    Returns
    -------
    matplotlib Figure
        A new one, or that of ``ax``.

    Notes
    -----
    Curves are raw, as `roc_curve` gives them: from partial evidence they may leave the unit square, which is
    all that is shown, and step back. Of very many points 2,000 along the curve are drawn.

    Examples
    --------
    >>> import halftruth as ht
    >>> evidence = ht.simulate.GaussianClasses(prior=0.3).positive_unlabeled(200, 2000, rng=0)
    >>> figure = ht.figures.roc(evidence)
    >>> [text.get_text().partition(":")[0] for text in figure.legends[0].get_texts()]
    ['corrected', 'naive', 'chance']
    >>> figure.savefig("roc.pdf")  # doctest: +SKIP
    """
    several = named(evidence)
    drawn = measures(several)
    figure, main = _square(ax)

    def points(measure: ScoreMeasure) -> tuple[Vector, Vector]:
        curve = roc_curve(measure)
        return curve.fpr, curve.tpr

    _draw(main, drawn, naive_of(several) if naive else None, points, roc_auc, "AUC")
    main.plot([0, 1], [0, 1], label="chance", **BASELINE)
    _canvas.unit_axes(main, "false-positive rate", "true-positive rate")
    return finish_models(figure, ax, title or f"ROC curve{'s' * (len(drawn) > 1)}", "lower right")


def precision_recall(
    evidence: Any, *, naive: bool = True, ax: Axes | None = None, title: str | None = None
) -> Figure:
    """Draw precision-recall curves, with the average precision of each and the prior, which chance gives.

    Parameters
    ----------
    evidence : evidence or measure, or up to four by the names to show
        The prior must be known.
    naive : bool
        Whether to draw the naive curve too, where one model is drawn and its evidence has such a curve:
        known positives against all other rows, or soft labels cut at one half.
    ax : matplotlib Axes, optional
        Where to draw.
    title : str, optional

    Returns
    -------
    matplotlib Figure
        A new one, or that of ``ax``.

    Notes
    -----
    Curves are raw, as `precision_recall_curve` gives them: from partial evidence they may leave the unit
    square, which is all that is shown. They are steps, so that the area below them is the average precision,
    which takes precisions outside [0, 1] as 0 or 1. Of very many points 2,000 along the curve are drawn.

    Examples
    --------
    >>> import halftruth as ht
    >>> evidence = ht.simulate.GaussianClasses(prior=0.3).labeled(500, rng=0)
    >>> figure = ht.figures.precision_recall({"a model": evidence})
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['a model: AP 0.848', 'prior 0.258']
    """
    several = named(evidence)
    drawn = measures(several)
    figure, main = _square(ax)

    def points(measure: ScoreMeasure) -> tuple[Vector, Vector]:
        curve = precision_recall_curve(measure)
        return curve.recall, curve.precision

    own = naive_of(several) if naive else None
    _draw(main, drawn, own, points, average_precision, "AP", drawstyle="steps-pre")
    _draw_priors(main, [measure.prior for measure in drawn.values()])
    _canvas.unit_axes(main, "recall", "precision")
    return finish_models(figure, ax, title or f"Precision-recall curve{'s' * (len(drawn) > 1)}", "best")


def _draw(
    ax: Axes,
    drawn: dict[str, ScoreMeasure],
    naive: ScoreMeasure | None,
    points: Points,
    area: Callable[[ScoreMeasure], float],
    what: str,
    **style: Any,
) -> None:
    for i, (name, measure) in enumerate(drawn.items()):
        start = plain(name) or ("corrected" if naive is not None else "")
        label = f"{start}: {what} {said(area(measure))}" if start else f"{what} {said(area(measure))}"
        ax.plot(*_thinned(*points(measure)), label=label, **look(i), **style)
    if naive is not None:
        ax.plot(*_thinned(*points(naive)), label=f"naive: {what} {said(area(naive))}", **NAIVE, **style)


def _draw_priors(ax: Axes, priors: list[float]) -> None:
    """One line where all models have one prior, else one for each, in its colour."""
    if np.allclose(priors, priors[0], rtol=0, atol=1e-12):
        ax.axhline(priors[0], label=f"prior {said(priors[0])}", **BASELINE)
        return
    for i, prior in enumerate(priors):
        ax.axhline(prior, **BASELINE | {"color": look(i)["color"], "alpha": 0.6})
    ax.plot([], [], label="priors", **BASELINE)


def _thinned(x: Vector, y: Vector) -> tuple[Vector, Vector]:
    """What is defined of a curve; of very many points, some at equal steps along it."""
    seen = np.isfinite(x) & np.isfinite(y)
    x, y = x[seen], y[seen]
    if len(x) <= FINEST:
        return x, y
    near = (
        np.clip(each, -_canvas.MARGIN, 1 + _canvas.MARGIN) for each in (x, y)
    )  # what is not seen is short
    along = np.append(0.0, np.cumsum(np.hypot(*map(np.diff, near))))
    kept = np.searchsorted(along, np.linspace(0, along[-1], FINEST))
    kept = np.unique(np.append(kept, len(x) - 1))
    return x[kept], y[kept]


def _square(ax: Axes | None) -> tuple[Figure, Axes]:
    if ax is not None:
        return _canvas.root_figure(ax), ax
    figure = _canvas.new_figure(4.6, 5.0)
    main = figure.add_subplot()
    main.set_box_aspect(1)
    return figure, main


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
        _draw_classes(panel, measure, n_bins, labels=("positives", "negatives") if i == 0 else ("", ""))
        if name and ax is None:
            panel.set_title(_canvas.wrapped(plain(name), _canvas.ROW), fontsize="medium", loc="left")
    panels[-1].set_xlabel("score")
    return finish_models(figure, ax, title or "Scores by class", "best")


def _draw_classes(ax: Axes, measure: ScoreMeasure, n_bins: int, labels: tuple[str, str]) -> None:
    """Both classes from one line: the positives filled, the negatives a dashed outline over them."""
    filled: dict[str, Any] = {
        "fill": True,
        "facecolor": _canvas.PALE,
        "edgecolor": _canvas.DATA,
        "linewidth": 0.9,
    }
    outline: dict[str, Any] = {"edgecolor": _canvas.ESTIMATE, "linestyle": "--", "linewidth": 1.4}
    for masses, whole, label, style in (
        (measure.pos_mass, measure.positives, labels[0], filled),
        (measure.neg_mass, measure.negatives, labels[1], outline),
    ):
        heights, edges = np.histogram(measure.score, n_bins, weights=masses)
        ax.stairs(ratio(heights, whole), edges, label=label, **style)
    ax.axhline(0, color="0.3", linewidth=0.8, zorder=0.5)
    beside = _canvas.MARGIN * (edges[-1] - edges[0])
    ax.set_xlim(edges[0] - beside, edges[-1] + beside)
    ax.set_ylabel("share of the class")
