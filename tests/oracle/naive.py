"""Metrics of the registry by their definitions: plain loops over rows, in exact fractions.

Those that are integrals, roots or minima stand in `numerical`. Nothing here knows of halftruth. A function has the name and the parameters of the metric it defines.
"""

import math
import sys
from fractions import Fraction
from itertools import groupby, pairwise
from typing import NamedTuple

from scipy.integrate import quad

from .rows import NAN, Rows, at_or_above, cells, exact, falling, over, totals

# --- Rates at a threshold ----------------------------------------------------------------------


def prevalence(rows):
    mass, pos = totals(rows)
    return over(pos, mass)


def predicted_positive_rate(rows, threshold):
    return over(totals(at_or_above(rows, threshold)[0])[0], totals(rows)[0])


def precision(rows, threshold):
    c = cells(rows, threshold)
    return over(c.tp, c.tp + c.fp)


def recall(rows, threshold):
    c = cells(rows, threshold)
    return over(c.tp, c.tp + c.fn)


def fpr(rows, threshold):
    c = cells(rows, threshold)
    return over(c.fp, c.fp + c.tn)


def specificity(rows, threshold):
    return 1 - fpr(rows, threshold)


def npv(rows, threshold):
    c = cells(rows, threshold)
    return over(c.tn, c.tn + c.fn)


def fdr(rows, threshold):
    return 1 - precision(rows, threshold)


def fbeta(rows, threshold, beta=2.0):
    c, b = cells(rows, threshold), Fraction(beta) ** 2
    return over((1 + b) * c.tp, (1 + b) * c.tp + b * c.fn + c.fp)


def f1(rows, threshold):
    return fbeta(rows, threshold, beta=1.0)


def accuracy(rows, threshold):
    c = cells(rows, threshold)
    return over(c.tp + c.tn, sum(c))


def balanced_accuracy(rows, threshold):
    return (recall(rows, threshold) + specificity(rows, threshold)) / 2


def mcc(rows, threshold):
    c = cells(rows, threshold)
    margins = (c.tp + c.fp) * (c.tp + c.fn) * (c.tn + c.fp) * (c.tn + c.fn)
    if min(c.tp + c.fn, c.tn + c.fp) <= 0:
        return NAN
    return 0.0 if margins == 0 else float(c.tp * c.tn - c.fp * c.fn) / math.sqrt(margins)


def cohen_kappa(rows, threshold):
    c = cells(rows, threshold)
    n = sum(c)
    by_chance = ((c.tp + c.fp) * (c.tp + c.fn) + (c.tn + c.fp) * (c.tn + c.fn)) / n**2
    return over((c.tp + c.tn) / n - by_chance, 1 - by_chance)


def jaccard(rows, threshold):
    c = cells(rows, threshold)
    return over(c.tp, c.tp + c.fp + c.fn)


def youden_j(rows, threshold):
    return recall(rows, threshold) - fpr(rows, threshold)


def lift(rows, threshold):
    """How many times more positives than a random choice of as many cases holds."""
    return over(recall(rows, threshold), predicted_positive_rate(rows, threshold))


def net_benefit(rows, threshold):
    c, t = cells(rows, threshold), Fraction(threshold)
    return over(c.tp - c.fp * t / (1 - t), sum(c))


# --- Areas and budgets -------------------------------------------------------------------------


def roc_auc(rows):
    """Every pair of a positive and a negative: 1 where the positive is higher, ½ where they tie."""
    mass, pos = totals(rows)
    won = Fraction()
    for a in rows:
        for b in rows:
            if a.score >= b.score:
                won += a.pos * (b.mass - b.pos) / (2 if a.score == b.score else 1)
    return over(won, pos * (mass - pos))


def partial_auc(rows, max_fpr=0.1, standardize=True):
    """Trapezoids up to where the false-positive rate first passes ``max_fpr``."""
    mass, pos = totals(rows)
    if pos in (0, mass):
        return NAN
    end, area, x0, y0 = exact(max_fpr), Fraction(), Fraction(), Fraction()
    for _, above, tp in falling(rows):
        x1, y1 = (above - tp) / (mass - pos), tp / pos
        if x1 > end:
            y1 = y0 + (y1 - y0) * (end - x0) / (x1 - x0)
            area += (end - x0) * (y0 + y1) / 2
            break
        area += (x1 - x0) * (y0 + y1) / 2
        x0, y0 = x1, y1
    chance = end**2 / 2
    return (1 + (area - chance) / (end - chance)) / 2 if standardize else area


def clipped_precisions(rows: Rows) -> list[Fraction | float]:
    """Precision in [0, 1] at each falling threshold, read at the next case of the population."""
    points = list(falling(rows))
    out = []
    for i in range(len(points)):
        mass, pos = next(((m, p) for _, m, p in points[i:] if m != 0), (Fraction(), Fraction()))
        out.append(min(max(over(pos, mass), Fraction()), Fraction(1)))
    return out


def average_precision(rows, own=(0, 0)):
    """``own``: of μ₁, what a known positive adds to the precision at its score; a row of μ, if beside it."""
    mass, pos = totals(rows)
    area = sum(
        (tp1 - tp0) * over(tp1 - own[0], above + own[1]) if tp1 != tp0 else Fraction()
        for (_, _, tp0), (_, above, tp1) in pairwise(falling(rows))
    )
    return over(area * (mass + own[1]), (pos - own[0]) * mass)


def pr_auc(rows, own=(0, 0)):
    """Between two thresholds TP and FP grow in proportion; precision is integrated over recall there."""
    (mass, pos), area = totals(rows), 0.0
    for (_, p0, raw0), (_, p1, raw1) in pairwise(falling(rows)):
        tp0, tp1, start, growth = (float(x) for x in (raw0, raw1 - own[0], p0 + own[1], p1 - p0))

        def between(t, tp0=tp0, tp1=tp1, start=start, growth=growth):
            return (tp0 + t * (tp1 - tp0)) / (start + t * growth)

        if raw1 != raw0:
            end = over(raw1 - own[0], p1 + own[1])
            mean = end if p0 == 0 else quad(between, 0, 1, epsabs=1e-14, epsrel=1e-13)[0]
            area += float(raw1 - raw0) * float(mean)
    return over(area * float(mass + own[1]), float((pos - own[0]) * mass))


def true_positives_at(rows: Rows, k: float) -> tuple[Fraction, Fraction]:
    """Positives among the k highest cases, cases of one score sharing the last places; and k."""
    budget = exact(k) * totals(rows)[0] if isinstance(k, float) else Fraction(k)
    p0, tp0 = Fraction(), Fraction()
    for _, p1, tp1 in falling(rows):
        if p1 >= budget:
            break
        p0, tp0 = p1, tp1
    return tp0 + (tp1 - tp0) * (budget - p0) / (p1 - p0), budget


def precision_at_k(rows, k):
    found, budget = true_positives_at(rows, k)
    return over(found, budget)


def recall_at_k(rows, k):
    return over(true_positives_at(rows, k)[0], totals(rows)[1])


def recall_at_fpr(rows, max_fpr=0.05):
    """On the lines between ROC points, where the rate passes the limit for good."""
    mass, pos = totals(rows)
    if mass == pos or pos == 0:
        return NAN
    limit = exact(max_fpr)
    points = [(Fraction(), Fraction())]
    points += [((above - tp) / (mass - pos), tp / pos) for _, above, tp in falling(rows)]
    last = max(i for i, (x, _) in enumerate(points) if x <= limit)
    if last + 1 == len(points):
        return points[last][1]
    (x0, y0), (x1, y1) = points[last : last + 2]
    return y0 + (y1 - y0) * (limit - x0) / (x1 - x0)


# --- Probabilities -----------------------------------------------------------------------------


def brier(rows):
    loss = sum(r.mass * r.score**2 - 2 * r.score * r.pos + r.pos for r in rows)
    return over(loss, totals(rows)[0])


def brier_skill(rows):
    prior = prevalence(rows)
    return 1 - over(brier(rows), prior * (1 - prior))


def log_loss(rows):
    eps, loss = sys.float_info.epsilon, []
    for r in rows:
        p, q = (min(max(float(x), eps), 1 - eps) for x in (r.score, 1 - r.score))
        loss += [-float(r.pos) * math.log(p), -float(r.mass - r.pos) * math.log(q)]
    return math.fsum(loss) / float(totals(rows)[0])


def risk(rows, loss="logistic", threshold=0.0):
    """The mean loss: of a positive at its margin, of a negative at minus that."""
    if loss == "log":
        return log_loss(rows)
    if loss == "brier":
        return brier(rows)
    if loss == "zero_one":
        return 1 - accuracy(rows, threshold)
    if loss in ("squared", "ramp"):
        one = Fraction(1)
        at = {"squared": lambda z: (z - 1) ** 2, "ramp": lambda z: min(max((1 - z) / 2, 0 * one), one)}[loss]
        lost = sum(r.pos * at(r.score) + (r.mass - r.pos) * at(-r.score) for r in rows)
        return over(lost, totals(rows)[0])
    at = {"sigmoid": lambda z: 1 / (1 + math.exp(z)), "logistic": lambda z: math.log1p(math.exp(-z))}[loss]
    lost = [float(r.pos) * at(float(r.score)) + float(r.mass - r.pos) * at(-float(r.score)) for r in rows]
    return math.fsum(lost) / float(totals(rows)[0])


def least_cube_root(n: Fraction) -> int:
    """The smallest whole B with B³ ≥ n: one bin for each in ⌈n^(1/3)⌉."""
    return next(b for b in range(1, 10**6) if b**3 >= n)


def upper_edges(rows: Rows, n_bins: int, binning: str) -> list[Fraction]:
    """Right ends u_b of the bins (u_{b−1}, u_b], the last left open above."""
    if binning == "width":
        return [Fraction(b / n_bins) for b in range(1, n_bins)]
    total, counts = totals(rows)[0], all(r.mass.denominator == 1 for r in rows)
    rising, edges = sorted(rows), []
    for b in range(1, n_bins):
        rank, mass, edge = total * b / n_bins, Fraction(), Fraction(-1)
        rank = Fraction(math.floor(rank)) if counts else rank
        for row in rising:
            if mass >= rank:
                break
            mass, edge = mass + row.mass, row.score
        edges.append(edge)
    return edges


def number_of_bins(rows: Rows, n_bins: int | str) -> int:
    """By default the cube root of the rows that unequal weights leave in effect."""
    return (
        n_bins
        if n_bins != "optimal"
        else least_cube_root(totals(rows)[0] ** 2 / sum(r.mass**2 for r in rows))
    )


class Bin(NamedTuple):
    mass: Fraction
    pos: Fraction
    gap: Fraction


def bins_of(rows: Rows, n_bins: int, binning: str) -> list[Bin]:
    """Mass, positives and |positives − Σ score · mass| of each bin, also of the empty ones."""
    out = []
    for low, high in pairwise([Fraction(-1), *upper_edges(rows, n_bins, binning), Fraction(2)]):
        members = [r for r in rows if low < r.score <= high]
        mass, pos = totals(members)
        out.append(Bin(mass, pos, abs(pos - sum(r.score * r.mass for r in members))))
    return out


def calibration_error(rows, n_bins="optimal", binning="mass", norm=1):
    total = totals(rows)[0]
    bins = bins_of(rows, number_of_bins(rows, n_bins), binning)
    if norm == 1:
        return over(sum(b.gap for b in bins), total)
    if norm == "max":
        return max((b.gap / b.mass for b in bins if b.mass != 0), default=NAN)
    return math.sqrt(sum(b.gap**2 / b.mass for b in bins if b.mass != 0) / total)


def adaptive_calibration_error(rows, n_bins=15):
    each = [b.gap / b.mass for b in bins_of(rows, number_of_bins(rows, n_bins), "mass") if b.mass != 0]
    return over(sum(each), Fraction(len(each)))


def maximum_calibration_error(rows, n_bins="optimal", binning="mass"):
    return calibration_error(rows, n_bins, binning, "max")


def rises(rows: Rows, n_bins: int) -> bool:
    """Whether no bin of equal mass has a mean label below that of the bin before it.

    A score lies in the bin after the last target, ⌊b n/B⌋ of counts and b n/B of weights, that the mass below
    the score has met: the same bins as those between `upper_edges`.
    """
    total, counts = totals(rows)[0], all(r.mass.denominator == 1 for r in rows)
    bins, below = {}, Fraction()
    for _, tied in groupby(sorted(rows), key=lambda row: row.score):
        mass, pos = totals(list(tied))
        met = below * n_bins / total
        met = math.ceil(met + Fraction(n_bins) / total) - 1 if counts else math.floor(met)
        held = bins.get(at := min(met, n_bins - 1), (Fraction(), Fraction()))
        bins[at] = held[0] + mass, held[1] + pos
        below += mass
    means = [pos / mass for mass, pos in bins.values() if mass != 0]
    return all(earlier <= later for earlier, later in pairwise(means))


def sweep_calibration_error(rows, norm=1):
    """One bin more as long as mean labels rise, up to one for each row, or score where masses are no counts.

    Once a bin holds no more mass than any score has, every score has its own, and more bins change nothing.
    """
    total = totals(rows)[0]
    by_score = [totals(list(tied))[0] for _, tied in groupby(sorted(rows), key=lambda row: row.score)]
    apart = math.ceil(total / min(mass for mass in by_score if mass > 0))
    counts = all(row.mass.denominator == 1 for row in rows)
    each = math.ceil(total) if counts else sum(mass > 0 for mass in by_score)
    n_bins, most = 1, max(1, min(each, apart))
    while n_bins < most and rises(rows, n_bins + 1):
        n_bins += 1
    return calibration_error(rows, n_bins, "mass", norm)


def ks_calibration_error(rows, statistic="ks"):
    """The running sum of score · mass − positives, furthest from 0; or from its lowest to its highest point."""
    sums, total = [Fraction()], totals(rows)[0]
    for _, tied in groupby(sorted(rows), key=lambda row: row.score):
        sums.append(sums[-1] + sum(r.score * r.mass - r.pos for r in tied))
    return over(max(map(abs, sums)) if statistic == "ks" else max(sums) - min(sums), total)
