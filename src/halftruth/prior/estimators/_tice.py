"""TIcE: the prior from the label frequency in subsets (Bekker and Davis, AAAI 2018).

Put P and U into one table. A positive row is labeled with frequency c = n_P / (n_P + α n_U), so
α = (n_P/n_U)(1 − c)/c. In any subset of T rows, L of them labeled, L/T is at most c but for noise, and
equals it where the subset has no negatives. By the one-sided Chebyshev inequality, with probability 1 − δ,
c ≥ L/T − √(c(1−c)(1−δ)/(δT)). The estimate is the largest of these bounds over promising subsets, with
c = ½ under the root first and then with what came out. As α ≤ 1, c is never below n_P/(n_P + n_U).

Nothing here needs the table to be one random sample: L/T = c at the purest subset says U/P = α there, as
in any comparison of two samples. But the bound, and so the bias of α upwards, depends on n_P/n_U.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from halftruth._checks import Vector
from halftruth.prior._samples import Curve, Fit, Samples

__all__ = ["fit_tice", "fit_tice_features"]

ITERATIONS = 2  # rounds in which c under the root becomes what came out, as published
FEWEST_ROWS = 10  # subsets of fewer rows say nothing, as published
LEAST_ERROR = 0.025  # δ of large tables, as published
ERROR_RATE = 0.004  # δ = 1/(1 + 0.004 T) in small tables of T rows, as published
FOLDS = 5  # each finds subsets once, for the others to count in
SPLITS = 500  # most splits of a tree, as published
WIDTH = 32  # most promising nodes of a level that are split further; a level takes one pass over the rows
UNPROMISING = 5  # rows without label charged to a node when shares of labels are compared, as published
QUANTILES = 32  # Cells of a feature. A tree of ten levels seldom cuts one feature finer.
QUARTERS = (0.25, 0.5, 0.75)  # shares of a node's rows at which a feature may split it
CURVE_POINTS = 1000  # a curve to be looked at needs no more

Counts = NDArray[np.intp]
SIDES: tuple[Literal["left"], Literal["right"]] = ("left", "right")
CODES = 2 * QUANTILES - 1  # quantiles of a feature and what lies between them


def fit_tice(samples: Samples) -> Fit:
    """α from the largest lower bound on the label frequency over half-lines of the score."""
    # A tree on one score looks for the half-line richest in labels. Here every half-line is tried, on all
    # rows. They are fixed before labels are seen, so no fold has to be set aside to find them, and they are
    # nested, so the largest of them is hardly larger by chance. Only the order of scores matters. The curve
    # is the lower bound on c against the share of all rows in the half-line.
    above = samples.n_positive * samples.p_above
    rows_above = above + samples.n_unlabeled * samples.u_above
    n = samples.n_positive + samples.n_unlabeled
    sides = (above, rows_above), (samples.n_positive - above, n - rows_above)
    labeled, rows = (np.concatenate(pair) for pair in zip(*sides, strict=True))
    return _fitted([_Bounds(labeled, rows, n)], samples.n_positive, samples.n_unlabeled)


def fit_tice_features(positive_x: ArrayLike, unlabeled_x: ArrayLike, *, rng: np.random.Generator) -> Fit:
    """α from the largest lower bound on the label frequency over the nodes of decision trees."""
    # One fold of the rows grows a tree that splits towards labels, level by level, at quartiles of a feature
    # in a node. The rows of the other folds are counted in its nodes. Folds take turns and are averaged. Only
    # the order within each feature matters; a category is coded by columns of 0 and 1. The largest of
    # hundreds of bounds may exceed c by chance, which lowers a large α in small samples: .9 came out as .47
    # from 100 positives and 1000 unlabeled rows.
    positive, unlabeled = (np.asarray(x, dtype=np.float64) for x in (positive_x, unlabeled_x))
    code = np.array([_cells(feature) for feature in np.concatenate([positive, unlabeled]).T])
    n = len(positive) + len(unlabeled)
    labeled = np.arange(n) < len(positive)
    fold = rng.permutation(np.arange(n) % FOLDS)
    nodes = [_nodes(code, labeled, fold == turn) for turn in range(FOLDS)]
    return _fitted([_Bounds(*node, node[1][0]) for node in nodes], len(positive), len(unlabeled))


def error(n: float) -> float:
    """δ, the chance of error allowed to a bound, for a table of this many rows."""
    return max(LEAST_ERROR, 1 / (1 + ERROR_RATE * n))


class _Bounds:
    """Lower bounds on the label frequency from subsets of a table of n rows, for any c under the root."""

    def __init__(self, labeled: Vector, rows: Vector, n: float) -> None:
        enough = rows >= FEWEST_ROWS
        delta = error(n)
        self.size = rows[enough] / n
        self.share = labeled[enough] / rows[enough]
        self.noise = np.sqrt((1 - delta) / (delta * rows[enough]))

    def at(self, c: float) -> Vector:
        return np.asarray(self.share - np.sqrt(c * (1 - c)) * self.noise)


def _fitted(folds: list[_Bounds], n_positive: float, n_unlabeled: float) -> Fit:
    """α from the largest bound of each fold, averaged."""
    least = n_positive / (n_positive + n_unlabeled)
    c = used = 0.5
    for _ in range(ITERATIONS):
        largest = [float(np.max(fold.at(c), initial=least)) for fold in folds]
        used, c = c, min(float(np.mean(largest)), 1.0)
    value = 1.0 if c <= least else n_positive / n_unlabeled * (1 - c) / c
    return Fit(value=min(value, 1.0), curve=_curve(folds[0], used))


def _curve(bounds: _Bounds, c: float) -> Curve | None:
    """The bounds by size of subset; none if every subset is too small to say anything."""
    if len(bounds.size) == 0:
        return None
    y = bounds.at(c)
    best = int(np.argmax(y))
    evenly = np.linspace(0, len(y) - 1, min(len(y), CURVE_POINTS)).astype(np.intp)
    points = np.unique(np.append(evenly, best))
    points = points[np.argsort(bounds.size[points], kind="stable")]
    labels = {"x_label": "share of rows in the subset", "y_label": "lower bound on c"}
    return Curve(x=bounds.size[points], y=y[points], chosen=float(bounds.size[best]), **labels)


def _cells(feature: Vector) -> NDArray[np.uint8]:
    """Where each value stands among quantiles of its feature: at one of them or between two."""
    edge = np.quantile(feature, np.arange(1, QUANTILES) / QUANTILES, method="lower")
    below, up_to = (np.searchsorted(edge, feature, side) for side in SIDES)
    return (below + up_to).astype(np.uint8)


def _nodes(
    code: NDArray[np.uint8], labeled: NDArray[np.bool_], seeks: NDArray[np.bool_]
) -> tuple[Vector, Vector]:
    """Counts of labels and rows in the nodes of a tree, the whole table first."""
    # Rows that seek grow the tree, the others are counted.
    kind = labeled + 2 * ~seeks
    rows, node = np.arange(len(kind)), np.zeros(len(kind), dtype=np.intp)
    total = np.bincount(kind, minlength=4)[None]
    counts, budget = [total], SPLITS
    while len(total) and budget > 0:
        feature, cut, left, splits = _best_splits(code, kind[rows], rows, node, total)
        budget -= int(splits.sum())
        child = np.stack([left, total - left], axis=1)
        counts.append(child[splits].reshape(-1, 4))
        # Below a node of too few rows there is nothing to count.
        fertile = splits[:, None] & (child[..., 2:].sum(axis=-1) >= FEWEST_ROWS)
        ranked = np.argsort(np.where(fertile, -_promise(child), np.inf), axis=None, kind="stable")
        promising = ranked[: min(int(fertile.sum()), WIDTH, max(budget, 0))]
        renamed = np.full(fertile.size, -1)
        renamed[promising] = np.arange(len(promising))
        node = renamed[2 * node + (code[feature[node], rows] > cut[node])]
        rows, node = rows[node >= 0], node[node >= 0]
        total = child.reshape(-1, 4)[promising]
    count = np.concatenate(counts).astype(np.float64)
    return count[:, 3], count[:, 2] + count[:, 3]


def _best_splits(
    code: NDArray[np.uint8], kind: Counts, rows: Counts, node: Counts, total: Counts
) -> tuple[Counts, Counts, Counts, NDArray[np.bool_]]:
    """For each node the feature, the last code on the left, the counts there, and whether it can be split."""
    # The split that isolates labels best, among the quartiles of each feature in the node.
    width, nodes = len(total), np.arange(len(total))
    best = np.full(width, -1.0)
    feature, cut, left = np.zeros(width, np.intp), np.zeros(width, np.intp), np.zeros_like(total)
    seeking = total[:, 0] + total[:, 1]
    base = node * (4 * CODES) + kind
    for number, column in enumerate(code):
        table = np.bincount(base + 4 * column[rows].astype(np.intp), minlength=width * CODES * 4)
        below = np.cumsum(table.reshape(width, CODES, 4), axis=1)
        seeking_below = below[..., 0] + below[..., 1]
        for quarter in QUARTERS:
            at = np.argmax(seeking_below >= quarter * seeking[:, None], axis=1)
            side = below[nodes, at]
            both = (seeking_below[nodes, at] > 0) & (seeking_below[nodes, at] < seeking)
            promise = np.where(both, np.maximum(_promise(side), _promise(total - side)), -1.0)
            better = promise > best
            best[better], feature[better], cut[better] = promise[better], number, at[better]
            left[better] = side[better]
    return feature, cut, left, best >= 0


def _promise(count: Counts) -> Vector:
    """Share of labels among the rows that seek, charged for being few."""
    return np.asarray(count[..., 1] / (count[..., 0] + count[..., 1] + UNPROMISING))
