"""Metrics over the class prior: what hangs on it, among the priors that the data do not refute."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, arg
from halftruth._registry import default_rows
from halftruth.evidence import Evidence, Scenario, as_evidence
from halftruth.figures import _canvas
from halftruth.figures._canvas import NAIVE, Canvas, look, naive_of, named, plain
from halftruth.inference._prior_range import MOST, open_priors
from halftruth.inference._requests import PRIOR, Request, read_requests
from halftruth.measure._score_measure import ScoreMeasure, as_measure
from halftruth.results._estimate import figure as number_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["sensitivity"]

N_PRIORS = 41
OUTSIDE = 0.05  # how far beyond what is possible values are shown, as a share of that
STEEP = 3.0  # a line so many times steeper with the lowest tenth of the priors than without is cut off there
BESIDE = 0.08  # room beside the priors, as a share of their range; on the right it shows what is refuted
PANEL = (2.35, 2.1)  # inches of one of several


def sensitivity(
    evidence: Evidence | Mapping[str, Evidence],
    metrics: str | Iterable[Any] | Mapping[str, Any] | None = None,
    *,
    priors: Any = None,
    threshold: float | None = None,
    confidence_level: float = 0.95,
    naive: bool = True,
    ax: Axes | None = None,
    title: str | None = None,
) -> Figure:
    """Draw metrics over the class priors that the data do not refute, one panel a metric.

    Parameters
    ----------
    evidence : PositiveUnlabeled or PositiveConfidence, or up to four by the names to show
        The prior need not be known; where it is, it is marked.
    metrics : names, callables or {label: name or callable}, optional
        As in `evaluate`, and by default the same rows without the prevalence, which is the prior.
    priors : array, optional
        Where to compute the metrics. By default 41 priors from next to 0 to the highest that is not refuted;
        where the evidence identifies the prior, over its 99% range.
    threshold : float, optional
        On the scale of the scores, for metrics at one.
    confidence_level : float
        At which priors are refuted.
    naive : bool
        Whether to draw the naive figures too, where one model is drawn and its evidence has such figures.
    ax : matplotlib Axes, optional
        Where to draw, one metric.
    title : str, optional

    Notes
    -----
    Each value is that of the evidence with this prior, and with its purity at the value given. Values beyond
    what is possible leave the axes: there the prior does not go with the scores.

    Examples
    --------
    >>> import halftruth as ht
    >>> evidence = ht.simulate.GaussianClasses(prior=0.3).positive_unlabeled(200, 2000, rng=0)
    >>> figure = ht.figures.sensitivity(evidence, ["roc_auc", "average_precision"])
    >>> [axes.get_title() for axes in figure.axes]
    ['roc_auc', 'average_precision']
    """
    several = {name: _movable(model) for name, model in named(evidence).items()}
    requests = _requests(metrics, [model.measure() for model in several.values()], threshold)
    canvas = Canvas.open(ax, *_size(len(requests)))
    panels = canvas.panels(len(requests), _columns(len(requests)), "metric")
    level = _checks.confidence_level(confidence_level)
    models = {name: _Model.of(model, priors, level) for name, model in several.items()}
    naive_measure = naive_of(several) if naive else None
    values = zip(*(model.values(requests) for model in models.values()), strict=True)
    for request, panel, lines in zip(requests, panels, values, strict=True):
        _draw(panel, request, models, lines, naive_measure, labeled=panel is panels[0])
    _label(ax, panels, requests, list(several.values()))
    return canvas.finish(title or "Metrics over the class prior", "best", models=True)


@dataclass(frozen=True, eq=False)
class _Model:
    """Evidence whose prior moves, and the priors to draw."""

    evidence: Evidence
    moved: Evidence
    """The same rows, with nothing but the range believed of the prior, so that a scenario's prior is π."""
    priors: Vector
    refuted: float | None  # the prior above which the data refute all

    @classmethod
    def of(cls, evidence: Evidence, priors: Any, level: float) -> _Model:
        low, high, refuted = _span(evidence, level)
        if priors is None:
            if not low < high:
                raise InputError(
                    f"The data leave no range of priors: from {low:.4g} to {high:.4g}. Pass "
                    f"{arg('priors')}, or doubt the purity."
                )
            chosen = np.linspace(low, high, N_PRIORS)
        else:
            chosen = np.unique([_checks.share(x, "priors") for x in _checks.vector(priors, "priors")])
            if len(chosen) < 2:
                raise InputError(argument="priors", must="hold at least 2 different shares", got=len(chosen))
        ends = float(chosen[0]), float(chosen[-1])
        return cls(evidence, evidence.with_shares(ends, evidence.purity.value), chosen, refuted)

    def values(self, requests: Sequence[Request]) -> Vector:
        """Of each request at each prior."""
        purity = self.evidence.purity.value
        at = (self.moved.measure_at(Scenario(prior=float(x), purity=purity)) for x in self.priors)
        return np.transpose([[request.at(measure) for request in requests] for measure in at])

    @property
    def prior(self) -> float:
        """The prior given or identified; NaN where there is none."""
        return PRIOR.at(self.evidence.measure())


def _movable(evidence: object) -> Evidence:
    what = type(evidence).__name__
    if as_measure(evidence, "nothing") is evidence:
        raise InputError(f"A {what} holds one prior. Pass the evidence that it was made from.")
    movable = as_evidence(evidence)
    if movable.prior_is_free:
        return movable
    raise InputError(
        f"The prior of {what} follows from its labels: there is none to vary. Pass PositiveUnlabeled or "
        f"PositiveConfidence evidence."
    )


def _requests(metrics: Any, measures: Sequence[ScoreMeasure], threshold: float | None) -> tuple[Request, ...]:
    limit = None if threshold is None else _checks.threshold(threshold)
    if metrics is None:
        least = next((measure for measure in measures if not measure.bounded), measures[0])
        metrics = [name for name in default_rows(least, limit) if name != "prevalence"]
    return read_requests(metrics, measures, limit)


def _span(evidence: Evidence, level: float) -> tuple[float, float, float | None]:
    """The lowest and the highest prior to draw, and the one above which the data refute all."""
    span = open_priors(evidence, level, one_sample=evidence.rows_are_one_sample)
    if span is None:  # confidences so unequal that they say nothing of the prior
        return 1e-6, 1 - 1e-6, None
    refuting = span.alpha_high is not None and span.alpha_high < MOST
    return span.low, span.high, span.high if refuting else None


def _columns(n: int) -> int:
    return n if n < 3 else 2 if n == 4 else 3


def _size(n: int) -> tuple[float, float]:
    """Width and height of a figure of so many panels."""
    rows = -(-n // _columns(n))
    return (6.0, 4.0) if n == 1 else (max(PANEL[0] * _columns(n), 6.0), 1.6 + PANEL[1] * rows)


def _draw(
    ax: Axes,
    request: Request,
    models: Mapping[str, _Model],
    values: Sequence[Vector],
    naive: ScoreMeasure | None,
    *,
    labeled: bool,
) -> None:
    heights: list[float] = []
    for i, ((name, model), line) in enumerate(zip(models.items(), values, strict=True)):
        value, color = request.at(model.evidence.measure()), look(i)["color"]
        label = plain(name) or "corrected"
        ax.plot(model.priors, line, label=label if labeled else "_", **look(i))
        ax.plot([model.prior], [value], "o", color=color, markeredgecolor="white", ms=6, zorder=8)
        heights += [*_shown(line[np.isfinite(line)]), value]
    if naive is not None:
        heights.append(request.at(naive))
        ax.axhline(heights[-1], label="naive" if labeled else "_", **NAIVE)
    _mark(ax, list(models.values()), labeled=labeled)
    _set_limits(ax, models.values(), np.asarray(heights), request)


def _mark(ax: Axes, models: list[_Model], *, labeled: bool) -> None:
    """The prior given, and what the data refute."""

    def once(label: str) -> str:
        return label if labeled else "_"

    known = [model.prior for model in models if np.isfinite(model.prior)]
    if len(models) == 1 and known:
        label = once(f"prior {number_text(known[0])}")
        ax.axvline(known[0], color=_canvas.ESTIMATE, linestyle=":", linewidth=1.4, zorder=2, label=label)
        evidence, ends = models[0].evidence, models[0].evidence.prior_ends()
        if ends and ends[0] < ends[1]:
            estimate = evidence.prior.estimate
            name = f"{_canvas.percent(estimate.confidence_level)} interval" if estimate else "range"
            label = once(f"{name} {number_text(ends[0])} to {number_text(ends[1])}")
            ax.axvspan(*ends, color=_canvas.INTERVAL, linewidth=0, zorder=0, label=label)
    elif known:
        ax.plot([], [], "o", color="0.4", ms=6, label=once("at the prior given"))
    if all(model.refuted is not None for model in models):
        upper = max(model.refuted or 0.0 for model in models)
        ax.axvspan(
            upper, 1, zorder=0.5, label=once(f"refuted: above {number_text(upper)}"), **_canvas.REFUTED
        )


def _shown(values: Vector) -> Vector:
    """The values that the axis must show: not those at the lowest priors where a metric runs off there."""
    rest = values[len(values) // 10 :]
    return np.asarray(rest if np.ptp(values) > STEEP * np.ptp(rest) else values)


def _set_limits(ax: Axes, models: Iterable[_Model], heights: Vector, request: Request) -> None:
    low, high = request.limits
    room = OUTSIDE * (high - low) if np.isfinite(high - low) else 0.0
    heights = np.clip(heights[np.isfinite(heights)], low - room, high + room)
    if len(heights):
        beside = max(float(np.ptp(heights)), 0.02) * BESIDE
        ax.set_ylim(heights.min() - beside, heights.max() + beside)
    places = [
        x for model in models for x in (*model.priors[[0, -1]], model.prior, *model.evidence.prior_ends())
    ]
    left, right = np.nanmin(places), np.nanmax(places)
    beside = BESIDE * (right - left)
    ax.set_xlim(max(left - beside / 2, -beside / 2), min(right + beside, 1.0 + beside / 2))


def _label(ax: Axes | None, panels: list[Axes], requests: Sequence[Request], several: list[Evidence]) -> None:
    """Each panel by its metric, and the lowest of each column by the prior."""
    populations = {evidence.population or "all" for evidence in several}
    population = populations.pop()
    label = f"{_canvas.SYMBOLS[population]}, {_canvas.MEANINGS[population]}"
    if populations:
        label = "π, the share of positives in the population"
    for panel, request in zip(panels, requests, strict=True):
        if ax is None:
            panel.set_title(plain(request.label), fontsize="medium")
        else:
            panel.set_ylabel(plain(request.label))
    for panel in panels[-_columns(len(panels)) :]:
        panel.set_xlabel(label if len(panels) == 1 else _canvas.wrapped(label, _canvas.NARROW))
