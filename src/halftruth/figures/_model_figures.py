"""Models: ROC and precision-recall curves, corrected and naive, and the scores of the inferred classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from halftruth import _checks
from halftruth._errors import InputError
from halftruth.figures import _canvas
from halftruth.figures._canvas import BASELINE, NAIVE, Canvas, Models, look, naive_of, named, plain, thinned
from halftruth.measure._score_measure import Measurable, ScoreMeasure, as_measure, ratio
from halftruth.metrics._areas import average_precision, roc_auc
from halftruth.metrics._curves import PrecisionRecallCurve, RocCurve, precision_recall_curve, roc_curve
from halftruth.results._estimate import figure as number_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["precision_recall", "roc", "scores"]

FINEST = 2000  # points of a curve that are drawn: more are not seen, and swell a vector file
PANEL = 2.1  # inches of one of several


def roc(evidence: Models, *, naive: bool = True, ax: Axes | None = None, title: str | None = None) -> Figure:
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
    canvas, main, drawn = _draw_curves(evidence, naive, ax, roc_curve, roc_auc, "AUC")
    main.plot([0, 1], [0, 1], label="chance", **BASELINE)
    _canvas.unit_axes(main, "false-positive rate", "true-positive rate")
    return canvas.finish(title or f"ROC curve{'s' * (len(drawn) > 1)}", "lower right", models=True)


def precision_recall(
    evidence: Models, *, naive: bool = True, ax: Axes | None = None, title: str | None = None
) -> Figure:
    """Draw precision-recall curves, with the average precision of each and the prior, which chance gives.

    Parameters
    ----------
    evidence, naive, ax, title
        As in `roc`.

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
    canvas, main, drawn = _draw_curves(
        evidence, naive, ax, precision_recall_curve, average_precision, "AP", drawstyle="steps-pre"
    )
    _draw_priors(main, [measure.prior for measure in drawn])
    _canvas.unit_axes(main, "recall", "precision")
    return canvas.finish(title or f"Precision-recall curve{'s' * (len(drawn) > 1)}", "best", models=True)


def _draw_curves(
    evidence: Models,
    naive: bool,
    ax: Axes | None,
    curve_of: Callable[[ScoreMeasure], RocCurve | PrecisionRecallCurve],
    area_of: Callable[[ScoreMeasure], float],
    area_name: str,
    **style: Any,
) -> tuple[Canvas, Axes, list[ScoreMeasure]]:
    """The curve of each model, and the naive one where there is one, on a square; and the measures drawn."""
    several: dict[str, Measurable] = named(evidence)
    drawn = _measures(several)
    canvas = Canvas.open(ax, 4.6, 5.0)
    main = canvas.main()
    if ax is None:
        main.set_box_aspect(1)
    naive_measure = naive_of(several) if naive else None

    def draw(measure: ScoreMeasure, name: str, **line: Any) -> None:
        label = f"{name and f'{name}: '}{area_name} {number_text(area_of(measure))}"
        x, y = thinned(*_canvas.curve_points(curve_of(measure)), FINEST)
        main.plot(x, y, label=label, **line, **style)

    for i, (name, measure) in enumerate(drawn.items()):
        draw(measure, plain(name) or ("corrected" if naive_measure is not None else ""), **look(i))
    if naive_measure is not None:
        draw(naive_measure, "naive", **NAIVE)
    return canvas, main, list(drawn.values())


def _measures(several: Mapping[str, Measurable]) -> dict[str, ScoreMeasure]:
    """The measure of each model, whose prior must be known."""
    by_name = {name: as_measure(model) for name, model in several.items()}
    if many := next((measure.shape for measure in by_name.values() if measure.shape), None):
        raise InputError(
            argument="evidence", must="be one measure", got=f"{many} of them", remedy="Pass one by one."
        )
    return by_name


def _draw_priors(ax: Axes, priors: list[float]) -> None:
    """One line where all models have one prior, else one for each, in its colour."""
    if np.allclose(priors, priors[0], rtol=0, atol=1e-12):
        ax.axhline(priors[0], label=f"prior {number_text(priors[0])}", **BASELINE)
        return
    for i, prior in enumerate(priors):
        ax.axhline(prior, **BASELINE | {"color": look(i)["color"], "alpha": 0.6})
    ax.plot([], [], label="priors", **BASELINE)


def scores(evidence: Models, n_bins: int = 40, *, ax: Axes | None = None, title: str | None = None) -> Figure:
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
    drawn = _measures(named(evidence))
    n_bins = _checks.count(n_bins, "n_bins", least=1)
    canvas = Canvas.open(ax, height=4.0 if len(drawn) == 1 else 1.2 + PANEL * len(drawn))
    panels = canvas.panels(len(drawn), columns=1, what="model")
    for i, ((name, measure), panel) in enumerate(zip(drawn.items(), panels, strict=True)):
        _draw_classes(panel, measure, n_bins, labels=("positives", "negatives") if i == 0 else ("", ""))
        if name and ax is None:
            panel.set_title(_canvas.wrapped(plain(name), _canvas.ROW), fontsize="medium", loc="left")
    panels[-1].set_xlabel("score")
    return canvas.finish(title or "Scores by class", "best", models=True)


def _draw_classes(ax: Axes, measure: ScoreMeasure, n_bins: int, labels: tuple[str, str]) -> None:
    """Both classes from one line: the positives filled, the negatives a dashed outline over them."""
    filled: dict[str, Any] = {"facecolor": _canvas.PALE, "edgecolor": _canvas.DATA, "linewidth": 0.9}
    outline: dict[str, Any] = {"edgecolor": _canvas.ESTIMATE, "linestyle": "--", "linewidth": 1.4}
    for masses, whole, label, style in (
        (measure.pos_mass, measure.positives, labels[0], filled | {"fill": True}),
        (measure.neg_mass, measure.negatives, labels[1], outline),
    ):
        heights, edges = np.histogram(measure.score, n_bins, weights=masses)
        ax.stairs(ratio(heights, whole), edges, label=label, **style)
    ax.axhline(0, color="0.3", linewidth=0.8, zorder=0.5)
    beside = _canvas.MARGIN * (edges[-1] - edges[0])
    ax.set_xlim(edges[0] - beside, edges[-1] + beside)
    ax.set_ylabel("share of the class")
