"""How often cases of equal score are known in each group, and the two groups that differ most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from halftruth._checks import Vector
from halftruth._errors import InputError, arg
from halftruth.table._groups import MISSING, ordered, places
from halftruth.table._score_table import POSITIVE, UNLABELED, ScoreTable
from halftruth.table._strata import StratumRows

__all__ = ["Contrast", "by_group", "change_along", "counts", "expected", "log_rates", "overlap", "widest"]

EMPTY = ("None", "nan", "NaT", "<NA>")  # cells without a group, as text
IN_A_BIN, MOST_BINS = 5, 100  # known positives in a bin: few, since inside wide bins scores are not equal
LEAST = 5.0  # known positives of a group that other groups of equal score are compared with, in effect


@dataclass(frozen=True, kw_only=True)
class Contrast:
    """The two groups that differ most, the one with more known cases first, and the factor between them."""

    gamma: float
    low: float
    high: float
    pair: tuple[str, str]

    @property
    def between(self) -> str:
        """The pair, the factor and its interval in words."""
        doubt = ", which may be noise" if self.low == 1 else ""
        interval = f"by a factor of {self.gamma:.2f} ({self.low:.2f} to {self.high:.2f})"
        return f"{self.pair[0]} and {self.pair[1]}{doubt}: {interval}"


def by_group(table: ScoreTable, by: Mapping[str, Any], kinds: Sequence[str]) -> dict[str, ScoreTable]:
    """The rows of each group; ``by`` has the groups of each kind of row."""
    strata: dict[str, dict[str, StratumRows]] = {}
    for kind in (name for name in kinds if name in table.strata):
        rows = table.strata[kind]
        if not isinstance(rows, StratumRows):
            text = f"A histogram no longer has the rows that {arg('by')} tells apart."
            raise InputError(text, argument="by", remedy="Pass tables by group, as from_file gives them.")
        cells = [str(cell) for cell in np.asarray(by.get(kind, ())).tolist()]
        if len(cells) != len(rows):
            got = f"{len(cells)}" if kind in by else "none"
            must = f"have the group of each of the {len(rows)} {kind} rows of a weight above 0"
            raise InputError(argument="by", must=must, got=got)
        for group, at in places(np.array([MISSING if cell in EMPTY else cell for cell in cells])):
            weight, value = (None if x is None else x[at] for x in (rows.weight, rows.value))
            part = StratumRows(score=rows.score[at], weight=weight, value=value, meaning=rows.meaning)
            strata.setdefault(group, {})[kind] = part
    return {group: ScoreTable(strata[group]) for group in ordered(strata)}


def counts(tables: Sequence[ScoreTable], *, nested: bool) -> Vector:
    """By group and bin of equal score: known cases, those among all cases, others, variances of both.

    ``nested``: the known are compared with all cases, themselves included, else with the unlabeled.
    """
    columns = []
    for group, table in enumerate(tables):
        for name, cells in table.support.strata.items():
            weight, each, _ = cells.full  # of a known case, the value is 1/propensity
            square = each**2 if cells.spread is None else each**2 + cells.spread[0] ** 2
            none, score = np.zeros(len(each)), table.support.score[cells.atom]
            if name == POSITIVE:
                adds = [each, weight * nested, none, square, none]
            elif nested or name == UNLABELED:
                adds = [none, none, weight, none, square]
            else:
                continue
            columns.append(np.stack([none + group, score, *(cells.count * np.stack(adds))]))
    group, score, *sums = np.concatenate(columns, axis=1)
    known = sums[0] > 0
    order = np.argsort(score[known], kind="stable")
    reached = np.cumsum(sums[0][known][order])
    n_bins = min(max(int(known.sum()) // IN_A_BIN, 1), MOST_BINS)
    starts = np.searchsorted(reached, np.arange(n_bins) * reached[-1] / n_bins, side="right")
    # Ties stay together. Below the lowest known positive there is nothing to compare.
    edges = np.unique(score[known][order][starts])
    place = np.searchsorted(edges, score, side="right") - 1
    at = (group * len(edges) + place).astype(np.intp)[place >= 0]
    size = len(tables) * len(edges)
    binned = np.stack([np.bincount(at, x[place >= 0], size) for x in sums]).reshape(5, len(tables), -1)
    unit = binned[3].sum() / binned[0].sum()  # what a known case weighs in effect
    return np.asarray(binned / np.array([unit, unit, unit, unit**2, unit**2])[:, None, None])


def expected(sums: Vector) -> Vector:
    """Known cases by group and bin, if at equal score all groups had the same share of them."""
    known, inside, other = sums[:3]
    cases = inside + other
    return np.asarray(known.sum(axis=0) * cases / np.maximum(cases.sum(axis=0), 1e-300))


def overlap(sums: Vector) -> Vector:
    """Known cases to expect in each group beside those of others: Σ_b k_b q_gb (1 − q_gb), q its share."""
    due = expected(sums)
    return np.asarray((due * (1 - due / np.maximum(due.sum(axis=0), 1e-300))).sum(axis=1))


def log_rates(sums: Vector) -> tuple[Vector, Vector] | None:
    """Log rates, of mean rate one, and their covariance; None where groups share too few scores.

    Rates r solve Σ_b (k_gb Σ_h n_hb r_h − r_g n_gb k_b)/w_b = 0, k known of n cases: Mantel and Haenszel's,
    for any number of groups. It needs many known positives in all, not in any one bin.
    """
    sums = sums[:, :, (sums[0] + sums[2]).any(axis=0)]  # groups left out may leave bins empty
    known, inside, other, known_noise, other_noise = sums
    due = expected(sums)
    if len(due) < 2 or (overlap(sums) < LEAST / 2).any():  # leaving out groups may have cost others a part
        return None
    # Half a case more at the common rate, so that a group without known ones has a logarithm.
    half = due / due.sum(axis=1, keepdims=True) / 2
    k, n = known + half, (inside + other) * (1 + 0.5 / due.sum(axis=1, keepdims=True))
    weight = (known + other).sum(axis=0)
    met, due = (k / weight) @ n.T, (n * k.sum(axis=0) / weight).sum(axis=1)
    if np.linalg.matrix_rank(met / due[:, None] - np.eye(len(due))) < len(due) - 1:
        return None
    one = np.ones(len(due))
    rate = np.linalg.solve(met - np.diag(due) + due, one * due.sum())
    slope = np.linalg.inv(met * rate - np.diag(due * rate) + due * rate)
    own, noise = inside.sum() / known.sum(), np.zeros_like(met)
    for b in range(len(weight)):  # what a known case, and any other, moves
        by_case = (np.outer(k[:, b], rate) - np.diag(k[:, b].sum() * rate)) / weight[b]
        by_known = own * by_case + (np.diag(one * (n[:, b] @ rate)) - (n[:, b] * rate)[:, None]) / weight[b]
        noise += by_known * (known_noise + half)[:, b] @ by_known.T
        noise += by_case * other_noise[:, b] @ by_case.T
    return np.log(rate), np.asarray(slope @ noise @ slope.T)


def widest(
    log: Vector, noise: Vector, share: Vector, names: Sequence[str], level: float
) -> tuple[Contrast, float, Vector]:
    """The pair that differs most, the standard deviation τ of log rates, and each group against the whole.

    τ² is by moments. A contrast c of log rates counts as c √(τ²|c|²/(τ²|c|² + var c)): its square is then on
    average what it is without noise. The interval is Bonferroni's over all pairs, since one is picked.
    """
    centred = np.eye(len(log)) - share / share.sum()
    own_noise, own_size = np.diag(centred @ noise @ centred.T), (centred**2).sum(axis=1)
    excess = share @ ((centred @ log) ** 2 - own_noise) / (share @ own_size)
    variance = max(float(excess), 0.0)
    of_pair = np.diag(noise)[:, None] + np.diag(noise) - 2 * noise
    apart, error = log[:, None] - log, np.sqrt(np.maximum(of_pair, 1e-300))
    calm = apart * np.sqrt(2 * variance / (2 * variance + error**2))
    first, second = np.unravel_index(np.argmax(calm if variance else apart / error), apart.shape)
    margin = error[first, second] * float(ndtri(1 - (1 - level) / (len(log) * (len(log) - 1))))
    ends = [max(apart[first, second] - margin, 0.0), apart[first, second] + margin]
    gamma, low, high = np.exp([np.clip(calm[first, second], *ends), *ends]).tolist()
    each = log * np.sqrt(variance * own_size / (variance * own_size + own_noise))
    pair = (names[int(first)], names[int(second)])
    return Contrast(gamma=gamma, low=low, high=high, pair=pair), variance**0.5, np.asarray(each)


def change_along(sums: Vector, names: Sequence[str], level: float) -> Contrast | None:
    """The pair whose ratio changes most between the lower and the upper half of the known cases."""
    above = np.cumsum(sums[0].sum(axis=0)) > sums[0].sum() / 2
    low, high = log_rates(sums[:, :, ~above]), log_rates(sums[:, :, above])
    if low is None or high is None:  # too few known positives in one of them
        return None
    return widest(high[0] - low[0], high[1] + low[1], expected(sums).sum(axis=1), names, level)[0]
