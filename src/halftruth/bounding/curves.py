"""Bounds on whole curves: the two between which the curve of any possible labels lies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from halftruth._checks import Vector
from halftruth.bounding.extremes import extremes
from halftruth.bounding.outcome import CurveBounds, tables_of
from halftruth.bounding.paths import Paths
from halftruth.bounding.ranking import Ranking
from halftruth.bounding.totals import Totals
from halftruth.measure._score_measure import ratio
from halftruth.measure._sweep import Sweep
from halftruth.metrics.curves import PrecisionRecallCurve, RocCurve

AREAS = {"roc": "roc_auc", "pr": "pr_auc"}
"""Curves, and the metrics that are the areas under them."""
MOST_RECALLS = 2001
"""Recalls at which precision-recall curves for several α are compared, unless fewer occur."""


def bounded_curve(of: str, totals: Totals, said: dict[str, Any]) -> CurveBounds:
    """The curves of the fewest and of the most latent positives, over all numbers of them."""
    ranking = totals.bander.ranking
    every = totals.paths()
    low, high = totals.extremes(extremes(AREAS[of], ranking, None, {})[1])
    curve: Callable[..., Any] = _roc
    if of == "pr":
        curve = _precision_recall if len(every) == 1 else _precision_by_recall
    lower, upper = (curve(ranking, every, worst=worst) for worst in (True, False))
    area = (low.value, high.value)
    return CurveBounds(lower=lower, upper=upper, area=area, ranking=ranking, every=tuple(every), **said)


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
    found = np.full(len(recall), np.nan)
    for line in lines:
        found = (np.fmin if worst else np.fmax)(found, _precision_at(recall, line, worst=worst))
    if len(recall) == MOST_RECALLS:  # what may lie between two of them
        around = np.stack([found, np.append(found[1:], found[-1]), np.append(found[0], found[:-1])])
        found = around.min(axis=0) if worst else around.max(axis=0)
    return PrecisionRecallCurve(precision=found, recall=recall, threshold=np.full(len(recall), np.nan))


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
    wanted = np.minimum(recall * line.positives, line.positives)
    # A count that is whole but for rounding is whole.
    wanted = np.where(np.abs(wanted - np.round(wanted)) < 1e-9, np.round(wanted), wanted)
    after = np.clip(np.searchsorted(tp, wanted, side="right" if worst else "left"), 1, len(tp) - 1)
    part = np.clip(ratio(wanted - tp[after - 1], tp[after] - tp[after - 1]), 0, 1)
    part = np.where(tp[after] == tp[after - 1], 1.0 if worst else 0.0, part)
    needed = predicted[after - 1] + part * (predicted[after] - predicted[after - 1])
    out = ratio(wanted, needed)
    return np.asarray(np.where(wanted > 0, out, 0.0 if worst else 1.0))
