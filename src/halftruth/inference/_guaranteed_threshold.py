"""Thresholds with a guarantee: the population's rate, not only the sample's, keeps its bound.

A threshold is tested by Dirichlet weights on the rows of each stratum and on one row more, at the worst end
of the scores: the share of draws that miss the bound is its p-value. With labels that is the exact binomial
test (Clopper & Pearson 1934), for bounded values the bound of Learned-Miller & Thomas (2019), between two
samples their melding (Fay, Proschan & Brittain 2015). The rule that makes measures of sums is part of every
draw, and so is the error of an estimated prior. Thresholds are tested in the order of the scores, each with
the error that those before it have won (Learn then Test, Angelopoulos et al. 2021; Wiens 2003).
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halftruth._checks import Vector
from halftruth.evidence import Evidence
from halftruth.inference._prior_range import drawn_scenarios, prior_range
from halftruth.measure._arithmetic import Sweep
from halftruth.table._resampling import chunks
from halftruth.table._score_table import NEGATIVE, POSITIVE, SOFT
from halftruth.table._support import Cells, Support

__all__ = ["guaranteed_threshold"]

MAX_ATOMS = 512  # distinct scores among which a threshold is sought; see `Support.coarse`
MISSES = 200  # draws that are expected to miss a bound that is just certified
FACTOR = 3  # between the numbers of rows above two thresholds at which testing starts


def guaranteed_threshold(evidence: Evidence, aim: str, wanted: float, confidence_level: float) -> float:
    """The best threshold at which the population's rate keeps its bound with this confidence; NaN if none.

    ``aim`` is "precision_at_least", "recall_at_least" or "fpr_at_most".
    """
    evidence, error = evidence.to_host(), 1 - confidence_level
    rows = evidence.table.support.coarse(MAX_ATOMS)
    p_values = _p_values(evidence, rows, aim, wanted, error)
    threshold = (rows.score if rows.edge is None else rows.edge)[::-1]
    if aim == "precision_at_least":
        return _last_certified(p_values, threshold, error * _starts(evidence, rows, wanted, error))
    # Recall is safest at the lowest threshold, the false positive rate at the highest.
    order = slice(None, None, -1 if aim == "recall_at_least" else 1)
    return _last_certified(p_values[order], threshold[order], error * np.eye(1, len(threshold))[0])


def _p_values(evidence: Evidence, rows: Support, aim: str, wanted: float, error: float) -> Vector:
    """For each threshold, falling, how often the rate misses the bound; the worst over a range of priors."""
    support = _with_worst_rows(evidence, rows, aim)
    n, rng = int(np.ceil(MISSES / error)), np.random.default_rng(0)
    of_shares = rng.spawn(1)[0]
    scenarios = prior_range(evidence, 1 - error).scenarios
    missed = np.zeros((len(scenarios), len(rows.score)))
    for size in chunks(n, len(support.score)):
        drawn = {
            name: rng.standard_gamma(x.count, (size, len(x.count))) for name, x in support.strata.items()
        }
        sums = support.sums(drawn, rng)
        if evidence.values_are_estimated:
            sums = evidence.redrawn(sums, support, of_shares.random(size))
        for i, scenario in enumerate(drawn_scenarios(evidence, scenarios, size, of_shares)):
            with np.errstate(divide="ignore", invalid="ignore"):
                line = evidence.rule(sums, scenario).apply(support.score, sums).sweep
                # The first two thresholds are +inf and that of worst rows, the last is theirs too.
                missed[i] += (~_kept(line, aim, wanted))[:, 2:-1].sum(axis=0)
    return np.asarray((1 + missed.max(axis=0)) / (1 + n))


def _kept(line: Sweep, aim: str, wanted: float) -> NDArray[np.bool_]:
    if aim == "precision_at_least":
        return np.asarray(line.tp >= wanted * line.predicted)
    if aim == "recall_at_least":
        return np.asarray(line.tp >= wanted * line.positives[:, None])
    return np.asarray(line.fp <= wanted * line.negatives[:, None])


def _with_worst_rows(evidence: Evidence, rows: Support, aim: str) -> Support:
    """With one row more in each stratum where it harms the aim most: a positive below, another row above.

    A row of a soft label or a confidence, which stands for both classes, is a positive below or a negative
    above; a confidence of ½ makes a positive and a negative.
    """
    strata = dict(rows.strata)
    any_cells = next(iter(strata.values()))
    for name in (POSITIVE, NEGATIVE) if evidence.kind == "labeled" else rows.strata:
        cells = strata.get(name, any_cells)
        below = aim == "recall_at_least" if evidence.holds_posteriors else name == POSITIVE
        weight, value = _typical(cells.weight, cells), _typical(cells.value, cells)
        if evidence.holds_posteriors and (name == SOFT or not below):
            value = 2 * weight if name == POSITIVE else weight if below else 0.0
        worst: dict[str, Any] = {
            "atom": 0 if below else len(rows.score) + 1,
            "count": 1,
            "weight": weight,
            "value": value,
            "square": value**2 / (weight or 1.0),
            "spread": np.zeros((3, 1)),
        }
        joined = {}
        for column in (field.name for field in fields(Cells)):
            held = getattr(cells, column)
            if held is not None:
                held = held[..., :0] if name not in strata else held + 1 if column == "atom" else held
                both = [np.atleast_1d(worst[column]), held]
                joined[column] = np.concatenate(both if below else both[::-1], axis=-1)
        strata[name] = Cells(**joined)
    return Support(
        score=np.concatenate([[rows.score[0] - 1], rows.score, [rows.score[-1] + 1]]), strata=strata
    )


def _typical(column: Vector | None, cells: Cells) -> float:
    """What a row adds, on average where what it adds counts."""
    if column is None:
        return 1.0
    total = float(np.sum(cells.count * column))
    return float(np.sum(cells.count * column**2)) / total if total > 0 else 0.0


def _starts(evidence: Evidence, rows: Support, wanted: float, error: float) -> Vector:
    """Shares of the error by threshold, falling: equal ones, each with `FACTOR` times the rows above it.

    Above the first are so few rows that even if all were positive that would not be enough, above the last as
    many as there are positives. Nothing here depends on which of the rows are positive.
    """
    wanted, sums, names = min(wanted, 1 - 1e-9), rows.sums(), evidence.population_strata
    mass = np.sum([sums[name, "weight"] for name in names], axis=0)[::-1]
    n, prior = evidence.table.effective_rows(*names), evidence.measure().prior
    least, most = np.log(error) / np.log(wanted), max(1.0, n * min(prior / wanted, 1.0))
    if evidence.population is not None:  # then it is a quotient of two counts
        known = evidence.table.effective_rows(POSITIVE)
        least = -np.log(error) * (1 + n * prior / known) / (1 / wanted - 1) ** 2
    n_starts = 1 + max(0, int(np.log(most / least) / np.log(FACTOR)))
    least *= 1 - np.log(n_starts) / np.log(error)
    # In the middle of each step: at the end of the last even the best of scores has no room for error.
    depths = np.maximum(most / FACTOR ** (0.5 + np.arange(n_starts)), least)
    starts = np.unique(np.searchsorted(np.cumsum(mass)[:-1], depths / n * mass.sum()))
    return np.asarray(np.bincount(starts, minlength=len(mass)) / len(starts))


def _last_certified(p_values: Vector, threshold: Vector, error: Vector) -> float:
    """The last threshold that passes: each with its own error, and that of the one before if it passed."""
    best, won = np.nan, 0.0
    for p_value, at, own in zip(p_values, threshold, error, strict=True):
        won += own
        if p_value <= won:
            best = at
        else:
            won = 0.0
    return float(best)
