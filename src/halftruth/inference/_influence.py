"""Influence: how far each row moves a number, and the standard error that follows.

Every functional is a function f of the sums at each score. A row adds its weight w there, and perhaps a
value v, so where f is smooth the row's influence is φ = w ∂f/∂weight + v ∂f/∂value, and the sum of φ² is
f's variance: DeLong's for the AUC, the delta method's for rates, s²/n for means. The rule that makes
measures of sums is part of f: stratum sizes, mixing weights and an identified prior are taken care of.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from itertools import product
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from halftruth._checks import Vector
from halftruth.evidence import Evidence
from halftruth.results._intervals import normal_interval
from halftruth.table._resampling import Places, part_of, place_shares, usual_rows
from halftruth.table._support import SOFT, Cells, Column, Sums, Support, with_batch_axis

__all__ = [
    "Errors", "Gradient", "degrees_of", "gradients", "identified_range", "of_cells", "scatter", "spread_of",
    "unseen", "variance",
]  # fmt: skip

Key = TypeVar("Key", bound=Hashable)
Gradient = Mapping[Column, Vector]
"""∂f/∂sums by (stratum, "weight" or "value"), (n_scores,)."""

STEP = 1e-3  # part of a sum by which it moves up and down: far above rounding, and no sum changes its sign
REDRAWN = 500  # draws of what was estimated of the rows
ROUNDING = 1e-14  # smaller changes, relative to the value, are none


def gradients(functionals: Callable[[Sums], Mapping[Key, Any]], support: Support) -> dict[Key, Gradient]:
    """The gradients of many functionals at the sums of a support, by central differences.

    ``functionals`` takes sums with a leading axis and gives values along it, by key.
    """
    base = dict(with_batch_axis(support.sums()))
    out: dict[Key, dict[Column, Vector]] = {}
    for (stratum, name), values in base.items():
        if name == "square":  # says how noisy the others are, and moves nothing itself
            continue
        atom = rank = np.arange(len(support.score))
        size = np.abs(values[0])
        # Where a stratum has no row, what one would change is its influence all the same.
        step = STEP * np.where(size > 0, size, size.sum() / max(np.count_nonzero(size), 1) or 1.0)
        # One batch of measures: in the first half each sum in turn is raised, in the second it is lowered.
        moved = np.repeat(values, 2 * len(atom), axis=0)
        moved[rank, atom] += step
        moved[rank + len(atom), atom] -= step
        for key, changed in functionals(base | {(stratum, name): moved}).items():
            up, down = np.split(np.broadcast_to(changed, len(moved)), 2)
            change = np.where(np.abs(up - down) <= ROUNDING * np.abs(up), 0.0, up - down)
            out.setdefault(key, {})[stratum, name] = change / (2 * step)
    return dict(out)


def variance(gradient: Gradient, support: Support, *, one_sample: bool) -> float:
    """The sampling variance of a functional.

    ``one_sample``: rows of all strata were drawn together; else each stratum by itself.
    """
    parts = [(cells.count, *of_cells(gradient, name, cells)) for name, cells in support.strata.items()]
    if one_sample:
        count, mean, within = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        return scatter(mean, count, within)
    return sum(scatter(mean, count, within) for count, mean, within in parts)


def unseen(
    gradient: Gradient,
    support: Support,
    places: Places,
    multiplied: tuple[str, ...] = (),
    threshold: float | None = None,
) -> tuple[float, float]:
    """What a part of a row more in each stratum adds: to the value, and to its variance."""
    multiplied = tuple(name for name in multiplied if name in support.strata)
    share = place_shares(support, places, multiplied, threshold).sum(axis=0)
    shift = added = 0.0
    for name, cells in support.strata.items():
        part = part_of(places, cells, known=name in (SOFT, *multiplied))
        for row in usual_rows(support, name, multiplied, threshold):
            influence = sum(row[c] * gradient[name, c] for c in ("weight", "value") if (name, c) in gradient)
            shift += part * float(np.sum(share * influence))
            added += part * float(np.sum(share * influence**2))
    return shift, added


class Errors(NamedTuple):
    """Variances by scenario, and what a part of a row more adds: to the variance, and to the value."""

    variance: Vector
    unseen: Vector
    shift: Vector

    def share_rows(self, share: Vector) -> Vector:
        """In how many rows a share has this error, read where unseen rows keep it from 0 and 1."""
        # As Jeffreys' prior does, they draw it towards the middle, and never beyond.
        at = share + np.minimum(np.abs(self.shift), 0.5) * (1 - 2 * share)
        error = self.variance + self.unseen
        rows = np.full(np.shape(error), np.inf)  # without any error
        return np.asarray(np.divide(at * (1 - at), error, out=rows, where=error != 0))


def degrees_of(support: Support) -> float:
    """Degrees of freedom of the smallest sample, or class, for Student's quantiles.

    Twice those of normal values, since ranks and losses of probabilities are bounded: the variance of a
    uniform sample of n has a relative variance of 0.8/n, where that of a normal one has 2/n.
    """
    rows = [n for name, cells in support.strata.items() for n in cells.in_effect(soft=name == SOFT)]
    return 2 * (min(rows, default=2.0) - 1)


def identified_range(evidence: Evidence, support: Support, *, one_sample: bool) -> tuple[float, float] | None:
    """The 99% range of the prior that the evidence itself identifies, over what the purity may be."""
    # Over what the purity may be, and what laws selection allows.
    settings = list(product(evidence.purity.grid(2), (None, *evidence.selection.extremes)))

    def priors(sums: Sums) -> dict[int, Vector]:
        with np.errstate(divide="ignore", invalid="ignore"):
            found = {i: evidence.identified_prior(sums, *at) for i, at in enumerate(settings)}
        return {i: prior for i, prior in found.items() if prior is not None}

    if not priors(with_batch_axis(support.sums())):
        return None
    values = priors(with_batch_axis(evidence.table.support.sums()))
    slopes = gradients(priors, support)
    squares = np.asarray([variance(slopes[i], support, one_sample=one_sample) for i in values])
    if evidence.values_are_estimated:
        ranks = np.random.default_rng(0).random(REDRAWN)
        drawn = priors(evidence.redrawn(with_batch_axis(support.sums()), support, ranks))
        squares = squares + [spread_of(drawn[i]) for i in values]
    errors = np.sqrt(squares)
    low, high = normal_interval(np.concatenate(list(values.values())), errors, 0.99)
    return None if np.isnan(low) else (low, high)


def of_cells(gradient: Gradient, stratum: str, cells: Cells) -> tuple[Vector, Vector]:
    """For each cell of a stratum, the mean influence of its rows and their variance around it."""
    by_weight = gradient[stratum, "weight"][cells.atom]
    mean = by_weight if cells.weight is None else by_weight * cells.weight
    by_value = np.zeros_like(by_weight)
    if cells.value is not None:
        by_value = gradient[stratum, "value"][cells.atom]
        mean = mean + by_value * cells.value
    if cells.spread is None:
        return mean, np.zeros_like(mean)
    l11, l21, l22 = cells.spread
    return mean, (by_weight * l11 + by_value * l21) ** 2 + (by_value * l22) ** 2


def scatter(influence: Vector, count: NDArray[Any] | None = None, within: Vector | float = 0.0) -> float:
    """The variance that one sample of rows, or of cells of rows, gives: Σ (φ − mean φ)² n/(n−1)."""
    number = np.ones(len(influence)) if count is None else count
    n = float(number.sum())
    if n == 0:
        return 0.0
    around = (influence - np.sum(number * influence) / n) ** 2 + within
    return float(np.sum(number * around) * n / max(n - 1, 1.0))


def spread_of(values: Vector) -> float:
    """The variance of the values that are defined."""
    defined = values[np.isfinite(values)]
    return float(defined.var()) if len(defined) else np.nan
