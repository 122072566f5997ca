"""Over all labels between two paths: the least and greatest value of a metric, and the outer curves."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from halftruth import _registry
from halftruth._checks import Vector
from halftruth._errors import EmptyClassWarning, InputError, arg
from halftruth.kernels._monotone import best_precisions
from halftruth.measure._arithmetic import Sweep, ratio
from halftruth.metrics._curves import PrecisionRecallCurve, RocCurve
from halftruth.rank_bounds._bound_results import CurveBounds, tables_of
from halftruth.rank_bounds._positive_counts import Totals
from halftruth.rank_bounds._rank_paths import Paths, Ranking

__all__ = ["AREAS", "bounded_curve", "extremes"]

Ends = Callable[[Paths], tuple[float, float]]

CURVES = ("roc", "pr", "roc_curve", "pr_curve", "precision_recall", "precision_recall_curve")
"""What users may call the curves."""
MOST_STEPS = 4_000_000_000
"""Beyond so many steps tied rows are not searched one number of positives at a time."""


def extremes(
    of: str | Callable[..., Any], ranking: Ranking, threshold: float | None, parameters: Mapping[str, Any]
) -> tuple[str, Ends]:
    """The name of a metric, and the function that gives its least and greatest value between two paths."""
    if callable(of):
        if (known := _registered(of)) is not None:
            return extremes(known[0], ranking, threshold, {**known[1], **parameters})
        if parameters:
            raise InputError(
                f"{arg('of')} is a function and takes no {', '.join(parameters)}. Bind it there."
            )
        at = _place(ranking, threshold, getattr(of, "__name__", "the function"))
        return getattr(of, "__name__", "function"), partial(_scanned, of, ranking, at)
    if not isinstance(of, str):
        raise InputError(
            argument="of",
            must="be a curve, a metric or a function",
            got=repr(of),
            remedy="Ask for one at a time.",
        )
    if of not in _registry.REGISTRY and str(of).lower() in CURVES:
        raise InputError(f"There is no metric {of!r}. For the curves pass 'roc' or 'pr'.")
    metric = _registry.get(of)
    # A user's own losses may rise and fall along the ranks.
    if metric.rank_bound is None or not isinstance(parameters.get("loss", ""), str):
        raise InputError(
            f"{metric.name!r} has no bounds here: it is no function of a contingency table, nor does it only "
            f"grow or fall with the ranks of the positives. Use evaluate."
        )
    if threshold is not None and not metric.threshold:
        raise InputError(f"{arg(metric.name)} has no threshold. Leave {arg('threshold')} out.")
    function = metric.bind(threshold, **parameters)
    if metric.rank_bound == "ties" and ranking.has_ties:
        return metric.name, partial(_precisions, ranking)

    # At a fixed number of positives and of predictions, all others grow or fall with the true positives.
    def ends(paths: Paths) -> tuple[float, float]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EmptyClassWarning)  # with no positive at all there is no value
            low, high = (float(function(ranking.measure(path))) for path in (paths.low, paths.high))
        return min(low, high), max(low, high)

    return metric.name, ends


def _registered(function: Callable[..., Any]) -> tuple[str, dict[str, Any]] | None:
    """The name and the parameters of a metric that was given as its function, or as a partial of it."""
    bound = function.keywords if isinstance(function, partial) and not function.args else {}
    base = function.func if isinstance(function, partial) else function
    names = (name for name, metric in _registry.REGISTRY.items() if metric.function is base)
    return next(((name, dict(bound)) for name in names), None)


def _place(ranking: Ranking, threshold: float | None, name: str) -> int:
    """The last of the ranking's thresholds that the user's does not exceed."""
    if threshold is None:
        raise InputError(
            f"{name!r} is a metric at a threshold. Pass `threshold=`, on the scale of the scores."
        )
    return int(np.searchsorted(-ranking.threshold, -threshold, side="right")) - 1


def _scanned(function: Callable[..., Any], ranking: Ranking, at: int, paths: Paths) -> tuple[float, float]:
    """A function's extremes at one threshold, over every count of true positives that is possible."""
    # Nothing is known of how it changes with them, so that each count is tried.
    x = np.arange(paths.low[at], paths.high[at] + 1)
    positive, negative = (int(known[at]) for known in ranking.known)
    positives = int(ranking.known[0][-1]) + paths.total
    tp, fp = positive + x, negative + int(ranking.unlabeled[at]) - x
    cells = tp, fp, positives - tp, int(ranking.predicted[-1]) - positives - fp
    with np.errstate(divide="ignore", invalid="ignore"):
        try:
            values = np.asarray(function(*(cell.astype(np.float64) for cell in cells)), dtype=np.float64)
        except Exception as error:
            raise InputError(
                f"{arg('of')} raised {type(error).__name__}: {error}. It must be a metric or a function of "
                "four arrays tp, fp, fn, tn that gives back one number for each place. Write it with NumPy."
            ) from error
    if values.shape != x.shape:
        raise InputError(
            argument="of",
            must="take arrays tp, fp, fn, tn and give back one value for each",
            got=f"shape {values.shape} for {x.shape}",
            remedy="Write it with NumPy.",
        )
    defined = values[~np.isnan(values)]
    return (float(defined.min()), float(defined.max())) if len(defined) else (np.nan, np.nan)


def _precisions(ranking: Ranking, paths: Paths) -> tuple[float, float]:
    """The least and the greatest average precision where rows are tied.

    With ties a positive that moves up may lower it: a tied group has one precision for all of its rows. So
    every number of positives above every threshold is looked at.
    """
    steps = np.diff(ranking.unlabeled)
    width = (paths.high - paths.low + 1)[1:]
    known, population = ranking.known[0], ranking.predicted
    positives = int(known[-1]) + paths.total
    if positives in (0, population[-1]):
        return np.nan, np.nan
    if float(np.minimum(steps + 1, width) @ width) > MOST_STEPS:
        raise InputError(
            "Too many tied rows to bound the average precision exactly. Ask for 'pr_auc', the area under the "
            "same curve, which needs no search."
        )
    low, high = (
        best_precisions(paths.low, paths.high, ranking.unlabeled, known, population, sign) / positives
        for sign in (1, -1)
    )
    return low, high


AREAS = {"roc": "roc_auc", "pr": "pr_auc"}  # curves, and the metrics that are the areas under them
MOST_RECALLS = 2001  # recalls at which precision-recall curves for several α are compared, unless fewer occur


def bounded_curve(of: str, totals: Totals, rests_on: Mapping[str, Any]) -> CurveBounds:
    """The curves of the fewest and of the most latent positives, over all numbers of them."""
    ranking, paths = totals.bander.ranking, totals.paths()
    low, high = totals.extremes(extremes(AREAS[of], ranking, None, {})[1])
    curve: Callable[..., RocCurve | PrecisionRecallCurve] = _roc
    if of == "pr":
        curve = _precision_recall if len(paths) == 1 else _precision_by_recall
    lower, upper = (curve(ranking, paths, worst=worst) for worst in (True, False))
    area = (low.value, high.value)
    return CurveBounds(lower=lower, upper=upper, area=area, ranking=ranking, every=tuple(paths), **rests_on)


def _sweep(ranking: Ranking, paths: Paths, *, worst: bool) -> Sweep:
    table = tables_of(ranking, paths.low if worst else paths.high, paths.total)
    return Sweep(threshold=ranking.threshold, tp=table.tp, fp=table.fp, predicted=table.tp + table.fp)


def _roc(ranking: Ranking, every: Sequence[Paths], *, worst: bool) -> RocCurve:
    """Through the worst (best) of both rates at each threshold: no curve can be beyond all of these."""
    least, most = (np.fmin, np.fmax) if worst else (np.fmax, np.fmin)
    fpr = tpr = np.full(len(ranking.threshold), np.nan)
    for paths in every:
        line = _sweep(ranking, paths, worst=worst)
        fpr, tpr = most(fpr, line.fpr), least(tpr, line.tpr)
    return RocCurve(fpr=fpr, tpr=tpr, threshold=ranking.threshold)


def _precision_recall(ranking: Ranking, every: Sequence[Paths], *, worst: bool) -> PrecisionRecallCurve:
    """Where there is one number of latent positives."""
    line = _sweep(ranking, every[0], worst=worst)
    return PrecisionRecallCurve(precision=line.precision, recall=line.tpr, threshold=ranking.threshold)


def _precision_by_recall(ranking: Ranking, every: Sequence[Paths], *, worst: bool) -> PrecisionRecallCurve:
    """The least (greatest) precision at each recall, over the curves for every number of latent positives.

    At one recall the thresholds differ with α, so that none belongs to a point.
    """
    lines = [line for paths in every if (line := _sweep(ranking, paths, worst=worst)).positives > 0]
    recall = _recalls(lines)
    nowhere = np.full(len(recall), np.nan)
    precision = nowhere
    for line in lines:
        precision = (np.fmin if worst else np.fmax)(precision, _precision_at(recall, line, worst=worst))
    if len(recall) == MOST_RECALLS:
        # Curves may leave the grid between two of its recalls: the worse (better) of a point's neighbours.
        after, before = np.append(precision[1:], precision[-1]), np.append(precision[0], precision[:-1])
        around = np.stack([precision, after, before])
        precision = around.min(axis=0) if worst else around.max(axis=0)
    return PrecisionRecallCurve(precision=precision, recall=recall, threshold=nowhere)


def _recalls(lines: Sequence[Sweep]) -> Vector:
    """All that occur, or evenly spread ones of many."""
    if sum(len(line.tp) for line in lines) > MOST_RECALLS:
        return np.linspace(0, 1, MOST_RECALLS)
    return np.unique(np.concatenate([line.tpr for line in lines]))


def _precision_at(recall: Vector, line: Sweep, *, worst: bool) -> Vector:
    """Precision at each recall, TP and predictions growing in proportion between thresholds.

    Where a recall lasts over several thresholds, the last has the least precision, the first the most.
    """
    tp, predicted = line.tp, line.predicted
    target = np.minimum(recall * line.positives, line.positives)
    # A count that is whole but for rounding is whole.
    target = np.where(np.abs(target - np.round(target)) < 1e-9, np.round(target), target)
    after = np.clip(np.searchsorted(tp, target, side="right" if worst else "left"), 1, len(tp) - 1)
    share = np.clip(ratio(target - tp[after - 1], tp[after] - tp[after - 1]), 0, 1)
    share = np.where(tp[after] == tp[after - 1], 1.0 if worst else 0.0, share)
    needed = predicted[after - 1] + share * (predicted[after] - predicted[after - 1])
    # At recall 0 nothing need be predicted, and any precision is possible.
    return np.asarray(np.where(target > 0, ratio(target, needed), 0.0 if worst else 1.0))
