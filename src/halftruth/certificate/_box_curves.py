"""Areas under curves and points of curves: bins end at exact points, and lie in a box between."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from halftruth._checks import Vector
from halftruth.certificate._boxes import ANYTHING, Boxes, Interval, quotient
from halftruth.measure._arithmetic import OwnMass
from halftruth.metrics._areas import bend as bend_of

__all__ = ["average_precision", "partial_auc", "pr_auc", "precision_at_k", "recall_at_fpr", "recall_at_k"]
__all__ += ["roc_auc"]

TIE = 1e-12  # by how much a rate or a budget must be passed, in `metrics.areas`


# --- The ROC curve --------------------------------------------------------------------------------


def _swaps(box: Boxes) -> tuple[Vector, Vector]:
    """Limits of what the order inside each bin adds to ∫ TP dFP, beside half of all pairs.

    Pairs within a stratum add one half however they lie. Of the pairs of strata j and k, S are in the
    order j above k (ties half): they add (b_j d_k − b_k d_j) S, with S from 0 to n_j n_k, from or up to
    half of that where no row of one lies beyond the other's, and known where the scores are apart. Soft
    labels that hardly differ inside a bin leave less open.
    """
    low, high = np.zeros(box.n.shape[1]), np.zeros(box.n.shape[1])
    for j, k in combinations(range(len(box.n)), 2):
        weight = _pairs(box, j, k)
        # +1 above: all rows of j lie above those of k; −1 below: all lie below; 0: they touch.
        above, below = np.sign(box.low[j] - box.high[k]), np.sign(box.high[j] - box.low[k])
        least = np.where(above >= 0, above, -1.0)
        most = np.where(below <= 0, below, 1.0)
        ends = weight * np.where(weight == 0, 0.0, least), weight * np.where(weight == 0, 0.0, most)
        low, high = low + np.minimum(*ends), high + np.maximum(*ends)
    return low, high


def _pairs(box: Boxes, j: int, k: int) -> Vector:
    """What the order of the rows of two strata can add in each bin, of either sign."""
    out = (box.pos[j] * box.neg[k] - box.pos[k] * box.neg[j]) * box.n[j] * box.n[k] / 2
    return np.asarray(out if box.split is None else np.minimum(out, box.split.disorder))


def _areas(box: Boxes) -> tuple[Vector, Vector]:
    """Limits of ∫ TP dFP from the top to each bin's start, and to the end."""
    tp, fp = box.pos @ box.n, box.neg @ box.n
    middle = fp * (box.pos @ box.before + tp / 2)
    low, high = (np.concatenate([[0.0], np.cumsum(middle + swap)]) for swap in _swaps(box))
    off = _area_error(box)
    return low - off, high + off


def _area_error(box: Boxes) -> float:
    """What rounded weights can do to ∫ TP dFP, which is bilinear in the two measures."""
    # |(P + e₁)(N + e₀) − P N| with the masses taken without their signs, which may cancel in P and N.
    (_, off_pos), (_, off_neg) = box.whole(box.pos), box.whole(box.neg)
    pos, neg = np.abs(box.pos) @ box.totals, np.abs(box.neg) @ box.totals
    return float(off_pos * neg + pos * off_neg + off_pos * off_neg)


def _both(box: Boxes) -> tuple[float, float]:
    """P·N, and how far it can be off."""
    (one, e1), (other, e0) = box.whole(box.pos), box.whole(box.neg)
    return one * other, abs(one) * e0 + e1 * abs(other) + e1 * e0


def roc_auc(box: Boxes) -> Interval:
    """∫ TP dFP over the whole curve, divided by P·N."""
    low, high = _areas(box)
    return quotient(float(low[-1]), float(high[-1]), _both(box))


@dataclass(frozen=True, kw_only=True, eq=False)
class Passage:
    """The bins where a curve can pass a level, and limits of TP at the level in each."""

    bins: NDArray[np.intp]
    never: bool
    level: float
    slack: Vector
    low: Vector
    high: Vector


def _passage(
    box: Boxes, part: Vector, passed: float, level: float, level_slack: float, *, for_good: bool = False
) -> Passage:
    """The first passage of a sum over strata, or that ``for_good``, and the TP there.

    The first is in a bin with a row that can reach the level, and not after a bin that ends above it; the
    last in one with a row that can be below it, and not before a bin that ends there. The point read off the
    curve lies on a chord of the exact curve, so in the box, and on the level.
    """
    extreme = np.minimum if for_good else np.maximum
    farthest, end = part @ box.before, part @ box.after
    # A sum with coefficients of both signs is farthest where each stratum is at the end that carries it.
    for j, held in enumerate(box.held):
        reach = sum(extreme(*(c * x for x in ends)) for c, *ends in zip(part, *box.points(j), strict=True))
        farthest = np.where(held, extreme(farthest, reach), farthest)
    slack = box.error(part) + level_slack
    if part is not box.mass or box.weighted:  # counts of rows are exact, other sums round
        slack = slack + 1e-13 * (np.abs(part) @ box.after)
    if for_good:
        never = bool(end[-1] <= passed + slack[-1])
        before = np.flatnonzero(end <= passed - slack)
        first = before[-1] + 1 if len(before) else 0
        bins = first + np.flatnonzero(farthest[first:] <= (passed + slack)[first:])
    else:
        must = end > passed + slack
        never = not must.any()
        last = len(end) if never else int(np.argmax(must)) + 1
        bins = np.flatnonzero(farthest[:last] > (passed - slack)[:last])
    slack = slack[bins] + abs(passed - level)
    low, high = _true_positives(box, part, bins, level, slack)
    return Passage(bins=bins, never=never, level=level, slack=slack, low=low, high=high)


def _true_positives(
    box: Boxes, part: Vector, bins: NDArray[np.intp], level: float, slack: Vector
) -> tuple[Vector, Vector]:
    """Limits of Σ pos x over each bin's box where Σ part x is within ``slack`` of ``level``.

    By duality Σ pos x = Σ (pos − λ part) x + λ level for every λ; one that cancels a stratum is best.
    Where all rows have one score the curve is a straight line.
    """
    before, after = box.before[:, bins], box.after[:, bins]
    low, high = np.full(len(slack), -np.inf), np.full(len(slack), np.inf)
    for price in {0.0, *(box.pos[part != 0] / part[part != 0]).tolist()}:
        rest = (box.pos - price * part)[:, None]
        shift, give = price * level, abs(price) * slack
        low = np.maximum(low, np.minimum(rest * before, rest * after).sum(axis=0) + shift - give)
        high = np.minimum(high, np.maximum(rest * before, rest * after).sum(axis=0) + shift + give)
    # Where the curve is a straight line, TP grows in the share of the bin at which the level is reached.
    start, growth = part @ before, part @ (after - before)
    flat = growth == 0
    shares = [
        np.where(flat, end, np.clip((level + sign * slack - start) / np.where(flat, 1.0, growth), 0.0, 1.0))
        for sign, end in ((-1, 0.0), (1, 1.0))
    ]
    line = [box.pos @ before + share * (box.pos @ (after - before)) for share in shares]
    known, off = box.one_score[bins], box.error(box.pos)[bins]
    return (np.where(known, np.minimum(*line), low) - off, np.where(known, np.maximum(*line), high) + off)


def _at_rate(box: Boxes, max_fpr: float, *, for_good: bool = False) -> Passage:
    negatives, error = box.whole(box.neg)
    passed, level, slack = (max_fpr + TIE) * negatives, max_fpr * negatives, max_fpr * error
    return _passage(box, box.neg, passed, level, slack, for_good=for_good)


def recall_at_fpr(box: Boxes, max_fpr: float) -> Interval:
    """TP where FP passes its limit for good; all positives where it never does."""
    at = _at_rate(box, max_fpr, for_good=True)
    positives, error = box.whole(box.pos)
    if not abs(positives) > error or not box.whole(box.neg)[0] > box.whole(box.neg)[1]:
        return ANYTHING
    ends = np.concatenate([at.low, at.high, [positives] if at.never else []])
    return quotient(float(ends.min()), float(ends.max()), (positives, error))


def partial_auc(box: Boxes, max_fpr: float, standardize: bool = True) -> Interval:
    """∫ TP dFP up to the first passage: the bins before it, and a path in the box of the bin of passage.

    From a bin's start to the point where it passes, the path adds the trapezoid between them, give or
    take what the order of all pairs in the bin can add.
    """
    if not box.whole(box.neg)[0] > box.whole(box.neg)[1]:
        return ANYTHING
    at, (low, high) = _at_rate(box, max_fpr), _areas(box)
    tp, fp = (of_class @ box.before[:, at.bins] for of_class in (box.pos, box.neg))
    steps = [at.level + sign * at.slack - fp for sign in (-1, 1)]
    trapezoids = [step * (tp + end) / 2 for step in steps for end in (at.low, at.high)]
    open_pairs = np.where(box.one_score[at.bins], 0.0, _all_pairs(box)[at.bins])
    below = low[:-1][at.bins] + np.min(trapezoids, axis=0) - open_pairs
    above = high[:-1][at.bins] + np.max(trapezoids, axis=0) + open_pairs
    if at.never:
        below, above = np.append(below, low[-1]), np.append(above, high[-1])
    ends = quotient(float(below.min()), float(above.max()), _both(box))
    if not standardize or max_fpr == 1:
        return ends
    chance = max_fpr**2 / 2
    return tuple((1 + (end - chance) / (max_fpr - chance)) / 2 for end in ends)  # type: ignore[return-value]


def _all_pairs(box: Boxes) -> Vector:
    """What the order inside each bin can add at most, wherever in the bin the path ends."""
    out = np.zeros(box.n.shape[1])
    for j, k in combinations(range(len(box.n)), 2):
        out += np.abs(_pairs(box, j, k))
    return out


# --- Budgets --------------------------------------------------------------------------------------


def _at_budget(box: Boxes, k: float) -> tuple[Interval, tuple[float, float]]:
    """Limits of TP among the k highest cases; the budget in rows, and how far it can be off."""
    total, error = box.whole(box.mass)
    if isinstance(k, (int, np.integer)):
        budget = (float(k), 0.0) if k < total - error else (total, error)
    else:
        budget = k * total, k * error
    at = _passage(box, box.mass, budget[0] * (1 - TIE), budget[0], budget[1])
    return (float(at.low.min()), float(at.high.max())), budget


def precision_at_k(box: Boxes, k: float) -> Interval:
    """TP at a budget of cases, which every bin's end meets exactly, per case."""
    true_positives, budget = _at_budget(box, k)
    return quotient(*true_positives, budget)


def recall_at_k(box: Boxes, k: float) -> Interval:
    """The same per positive."""
    return quotient(*_at_budget(box, k)[0], box.whole(box.pos))


# --- The precision-recall curve -------------------------------------------------------------------


def average_precision(box: Boxes) -> Interval:
    """Σ precision × Δ recall, precision read at each row."""
    return _precision_area(box, interpolated=False)


def pr_auc(box: Boxes) -> Interval:
    """∫ precision d recall, precision interpolated between rows."""
    return _precision_area(box, interpolated=True)


def _precision_area(box: Boxes, *, interpolated: bool) -> Interval:
    """Σ precision × Δ recall: the precision at each row lies between its extremes at the box's corners.

    Interpolated precision lies between the precisions at both ends of its segment, of which the first lies
    above the row.
    """
    ends = [_area_without(box, own, interpolated=interpolated) for own in box.owns]
    return min(low for low, _ in ends), max(high for _, high in ends)


def _area_without(box: Boxes, own: OwnMass, *, interpolated: bool) -> Interval:
    """The area where this is a known positive's own part in its precision."""
    low = high = off = 0.0
    positives, error = box.whole(box.pos)
    for j in range(len(box.n)):
        limits = _precisions(box, j, own)
        if interpolated:
            above = _precisions(box, j, OwnMass(mass=own.mass), strict=True)
            limits = np.fmin(limits[0], above[0]), np.fmax(limits[1], above[1])
            limits = _in_known_bins(box, limits, own)
        ends = [box.pos[j] * np.where(box.n[j] > 0, box.n[j] * limit, 0.0) for limit in limits]
        low, high = low + float(np.minimum(*ends).sum()), high + float(np.maximum(*ends).sum())
        # A rounded weight moves the sum by its share of the precision; what it does to that is in the limits.
        steepest = np.max(np.abs(limits), initial=1.0, where=box.n[j] > 0)
        off = max(off, error * float(steepest)) if error else 0.0
    low, high = quotient(low - off, high + off, (positives - own.pos, error))
    total, error = box.whole(box.mass)
    scales = [1 + own.mass / (total + sign * error) for sign in (-1, 1)]
    ends = [end * scale for end in (low, high) for scale in scales]
    return min(ends), max(ends)


def _precisions(box: Boxes, j: int, own: OwnMass, *, strict: bool = False) -> tuple[Vector, Vector]:
    """Limits of the precision at (``strict``: above) the rows of a stratum, by bin; NaN without a case."""
    least, most = np.full(box.n.shape[1], np.nan), np.full(box.n.shape[1], np.nan)
    for corner in box.corners(*box.points(j, strict=strict)):
        cases = box.mass @ corner + own.mass
        cases = np.where(cases > 0, cases, np.nan)
        precision = (box.pos @ corner - own.pos) / cases
        give = _give(box, precision, cases) if box.split is None else box.split.grain
        least, most = np.fmin(least, precision - give), np.fmax(most, precision + give)
    return _possible(box, own, least), _possible(box, own, most)


def _give(box: Boxes, precision: Vector, cases: Vector) -> Vector:
    """By how much rounded weights can move a precision."""
    of_mass = box.error(box.mass)
    return np.asarray((box.error(box.pos) + np.maximum(np.abs(precision), 1) * of_mass) / (cases - of_mass))


def _possible(box: Boxes, own: OwnMass, precision: Vector) -> Vector:
    """In [0, 1], where no mass is negative."""
    unsigned = not any(own) and (box.pos >= 0).all() and (box.neg >= 0).all()
    return np.clip(precision, 0.0, 1.0) if unsigned else precision


def _in_known_bins(box: Boxes, limits: tuple[Vector, Vector], own: OwnMass) -> tuple[Vector, Vector]:
    """The limits, made one number where all rows of a bin have one score: its segment is known."""
    p0, tp0 = box.mass @ box.before, box.pos @ box.before
    p1, tp1 = box.mass @ box.after + own.mass, box.pos @ box.after - own.pos
    known = box.one_score & (p1 > 0)
    start = np.where(p0 > 0, p0, 1.0) + own.mass
    # The mean of precision over the segment, as in `metrics.pr_auc`.
    growth = (p1 - p0 - own.mass) / start
    bend = bend_of(growth)
    mean = (tp1 - tp0) / start * bend + tp0 / start * (1 - growth * bend)
    mean = np.where(p0 > 0, mean, tp1 / np.where(p1 > 0, p1, 1.0))
    give = _give(box, mean, np.where(p0 > 0, start, p1))
    return tuple(  # type: ignore[return-value]
        np.where(known, _possible(box, own, mean + sign * give), limit)
        for sign, limit in zip((-1, 1), limits, strict=True)
    )
