"""Resampled sums: rows drawn again as the data came, as counts or weights on the distinct rows.

Counts are those of the bootstrap. Weights are those of the Bayesian bootstrap (Rubin 1981), Gamma(1) for each
row, and a part of a row more in each stratum for what the sample did not show: where nothing varies in the
sample, a bootstrap's interval has no width, and one that is honest has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from halftruth._checks import Vector
from halftruth.table._support import SOFT, Cells, Sums, Support

MANY_ROWS = 200  # of which one percent of the variance of a mean is left out
AT_END = 6  # reviewed rows that are an end of the scores
NEAR = 12  # reviewed rows around a score that say how many cases one of them stands for there
CHUNK = 1 << 17  # numbers in one array of a chunk of resamples: small enough to stay in a processor's cache
Places = Literal["anywhere", "ends"]
"""Where the part of a row falls: at the score of any row, or one at either end."""


def resampled_sums(
    support: Support, n_resamples: int, rng: np.random.Generator, *, one_sample: bool
) -> Iterator[Sums]:
    """Sums of ``n_resamples`` resamples, in chunks along the first axis.

    ``one_sample``: rows of all strata are drawn together, so that stratum sizes vary; else each
    stratum is drawn by itself.
    """
    for size in chunks(n_resamples, len(support.score)):
        yield resample(support, size, rng, one_sample=one_sample)


def weighted_sums(
    support: Support, n_resamples: int, rng: np.random.Generator, extra: UnseenRows, *, one_sample: bool
) -> Iterator[Sums]:
    """The same with random weights on the rows, and a part of a row more in each stratum."""
    for size in chunks(n_resamples, len(support.score)):
        yield reweigh(support, size, rng, extra, one_sample=one_sample)


def chunks(n_resamples: int, width: int) -> Iterator[int]:
    """Numbers of resamples that are drawn at once, each ``width`` numbers wide."""
    step = max(1, CHUNK // width)
    for start in range(0, n_resamples, step):
        yield min(step, n_resamples - start)


def resample(support: Support, n: int, rng: np.random.Generator, *, one_sample: bool) -> Sums:
    """Sums of ``n`` resamples."""
    drawn = draw_sizes(support.strata, n, rng, one_sample=one_sample)
    counts = {name: draw_counts(cells, drawn[name], rng) for name, cells in support.strata.items()}
    return support.sums(counts, rng)


def part_of(places: Places, cells: Cells, *, known: bool) -> float:
    """How much of a row is added to a stratum; ``known``: of which it is known what a row stands for.

    Jeffreys' prior of a rate has half a row on either side. The others are from `make interval-study`: rows
    of unequal weights are fewer than they look, and the heaviest may not have been seen. Soft labels lie
    between 0 and 1, and of reviewed rows those around a score say what one stands for there.
    """
    equal = known or (cells.weight is None and cells.value is None)
    return 0.25 if places == "anywhere" and equal else 0.5


def usual_rows(
    support: Support, name: str, multiplied: tuple[str, ...], threshold: float | None = None
) -> list[dict[str, Any]]:
    """What a row of a stratum adds in effect, by column.

    In strata that are ``multiplied``, as reviewed rows are by the chance of a review, what a row adds hangs
    on where it lies, and rows of all of them tell it: at each score Σu²/Σu of those around it, on its side of
    the threshold. Beside them, it is known which rows stand for such as nobody could look at: a row that was
    not seen does not.
    """
    cells = support.strata[name]
    rows = cells.usual_rows(soft=name == SOFT)
    if multiplied and name not in (SOFT, *multiplied) and cells.value is not None:
        return [{"weight": rows[0]["weight"], "value": 0.0, "square": 0.0}]
    if name not in multiplied or not any(support.strata[x].value is not None for x in multiplied):
        return rows
    count, total, squares = np.zeros((3, len(support.score)))
    for other in (support.strata[x] for x in multiplied):
        _, value, square = other.full
        for sums, each in ((count, 1.0), (total, value), (squares, square)):
            sums += np.bincount(other.atom, other.count * each, len(sums))
    (row,) = rows
    times = np.ones(len(count))
    for side in _sides(support, count, threshold):
        around = _around(count[side])
        times[side] = around(squares[side]) / around(total[side])
    return [{"weight": row["weight"], "value": row["weight"] * times, "square": row["weight"] * times**2}]


def _sides(support: Support, count: Vector, threshold: float | None) -> list[slice]:
    """The scores below a threshold, and the others; all where one side has no row, or there is none."""
    first = support.score if support.edge is None else support.edge
    cut = 0 if threshold is None else int(np.searchsorted(first, threshold))
    sides = [slice(0, cut), slice(cut, None)]
    return sides if all(count[side].any() for side in sides) else [slice(None)]


def _around(count: Vector) -> Callable[[Vector], Vector]:
    """Sums over the rows around each score: of its own, and of neighbours until they are `NEAR`."""
    below = np.append(0.0, np.cumsum(count))
    middle = (below[1:] + below[:-1]) / 2
    half = np.maximum(count, min(NEAR, below[-1])) / 2
    # A window of ranks that does not pass either end.
    low = np.clip(middle - half, 0.0, below[-1] - 2 * half)
    high = low + 2 * half

    def sums(values: Vector) -> Vector:
        cumulative = np.append(0.0, np.cumsum(values))
        return np.asarray(np.interp(high, below, cumulative) - np.interp(low, below, cumulative))

    return sums


def place_shares(
    support: Support, places: Places, multiplied: tuple[str, ...] = (), threshold: float | None = None
) -> Vector:
    """How much of each part falls on each score, (parts, scores).

    One part at either end; or one anywhere, in every power of ten of ranks from the top and from the bottom
    equally often: few rows among many, the highest or the lowest, decide means of skewed scores.

    Of rows that are ``multiplied`` a place is where some of them are: the more one stands for, the fewer were
    reviewed there. Rates have a part on either side of their ``threshold``, where the rows are that reviews
    stand for; other ends are several rows wide, since at the very end a guess knows best.
    """
    if multiplied:
        return np.stack(_among_multiplied(support, places, multiplied, threshold))
    if places == "ends":
        return np.eye(len(support.score))[sorted({0, len(support.score) - 1})]
    below = np.append(0.0, np.cumsum(support.pool))
    above = below[-1] - below
    return np.asarray(np.diff(np.log1p(below) - np.log1p(above)) / (2 * np.log1p(below[-1])))[None]


def _among_multiplied(
    support: Support, places: Places, multiplied: tuple[str, ...], threshold: float | None
) -> list[Vector]:
    strata, n = [support.strata[name] for name in multiplied], len(support.score)
    rows = np.sum([np.bincount(x.atom, x.count, n) for x in strata], axis=0)
    times = [x.count * x.full[1] for x in strata]
    stand_for = np.sum([np.bincount(x.atom, of, n) for x, of in zip(strata, times, strict=True)], axis=0)
    if places == "anywhere":
        # Where rows were looked at, and as much where few stand for many: a row not seen there moves most.
        return [(rows / rows.sum() + stand_for / stand_for.sum()) / 2]
    if threshold is None:
        reach = [np.minimum(np.cumsum(of), AT_END) for of in (rows, rows[::-1])]
        top, bottom = (np.diff(of, prepend=0.0) / of[-1] for of in reach)
        return [top, bottom[::-1]]
    above = (support.score if support.edge is None else support.edge) >= threshold
    out = []
    for side in (above, ~above):
        # On a side without a review, any row may be what was not seen.
        of_side = np.where(side, stand_for if np.any(stand_for[side]) else support.pool, 0.0)
        if of_side.any():
            out.append(of_side / of_side.sum())
    return out


class UnseenRows:
    """What the rows of each stratum did not show, as a part of a usual row."""

    def __init__(
        self,
        support: Support,
        places: Places,
        multiplied: tuple[str, ...] = (),
        threshold: float | None = None,
    ) -> None:
        self.places = places
        multiplied = tuple(name for name in multiplied if name in support.strata)
        self.reach = np.cumsum(place_shares(support, places, multiplied, threshold), axis=1)
        self.rows = {
            name: (
                part_of(places, cells, known=name in (SOFT, *multiplied)),
                usual_rows(support, name, multiplied, threshold),
            )
            for name, cells in support.strata.items()
        }

    def draw(self, n: int, rng: np.random.Generator) -> dict[str, list[Unseen]]:
        """For each of ``n`` resamples, by stratum."""
        return {
            name: [
                Unseen(place, rng.standard_gamma(part, n), row)
                for row in rows
                for place in self._where(n, rng)
            ]
            for name, (part, rows) in self.rows.items()
        }

    def _where(self, n: int, rng: np.random.Generator) -> list[NDArray[Any]]:
        out: list[NDArray[Any]] = []
        for reach in self.reach:
            first = int(np.searchsorted(reach, 0.0, side="right"))
            if self.places == "ends" and reach[first] == reach[-1]:
                out.append(np.full(n, first))
            else:
                out.append(np.searchsorted(reach, rng.random(n) * reach[-1], side="right"))
        return out


class Unseen(NamedTuple):
    """Parts of a row: at which scores, how much, and what a whole one adds by column."""

    place: NDArray[Any]
    part: Vector
    row: dict[str, Any]  # numbers, or one for each score


def reweigh(
    support: Support, n: int, rng: np.random.Generator, extra: UnseenRows, *, one_sample: bool
) -> Sums:
    """Sums of ``n`` sets of random weights."""
    weights, strata = {}, support.strata
    for name, cells in strata.items():
        # Weights of shape a make the variance of a mean Σ(x − x̄)²/n/(na + 1), which is to be s²/n. A rate has
        # that of Jeffreys' posterior; of many rows it is the same, and weights of shape 1 are drawn faster.
        plain = extra.places == "ends" or cells.n_rows >= MANY_ROWS or cells.n_rows == 0
        shape = 1.0 if plain else max(1 - 2 / cells.n_rows, 0.5)
        weights[name] = rng.standard_gamma(cells.count * shape, (n, len(cells.count))) / shape
    unseen = extra.draw(n, rng)
    size = {name: x.sum(axis=1) + sum(y.part for y in unseen[name]) for name, x in weights.items()}
    # The table keeps its number of rows, or each stratum where that was fixed.
    if one_sample:
        size = dict.fromkeys(size, sum(size.values()))
    rows = sum(cells.n_rows for cells in strata.values())
    scale = {name: (rows if one_sample else strata[name].n_rows) / x for name, x in size.items()}
    for name, x in weights.items():
        x *= scale[name][:, None]
    sums = dict(support.sums(weights, rng))
    for name, parts in unseen.items():
        for place, part, row in parts:
            for column, adds in row.items():
                if (name, column) in sums:
                    each = adds[place] if np.ndim(adds) else adds
                    sums[name, column][np.arange(n), place] += part * scale[name] * each
    return sums


def draw_sizes(
    strata: Mapping[str, Cells], n: int, rng: np.random.Generator, *, one_sample: bool
) -> dict[str, NDArray[Any]]:
    """How many rows of each stratum are in each of ``n`` resamples."""
    rows = np.asarray([cells.n_rows for cells in strata.values()])
    if one_sample:
        drawn = rng.multinomial(rows.sum(), rows / rows.sum(), size=n).T
    else:
        drawn = np.repeat(rows[:, None], n, axis=1)
    return dict(zip(strata, drawn, strict=True))


def draw_counts(cells: Cells, n_drawn: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    """How often each cell is drawn, (len(n_drawn), n_cells), by ``n_drawn`` draws of rows each."""
    n_cells, n_rows = len(cells.count), cells.n_rows
    if n_rows > 8 * n_cells:
        return rng.multinomial(n_drawn, cells.count / n_rows)
    row = rng.integers(0, n_rows, size=int(n_drawn.sum()), dtype=np.int32)
    cell = row if n_rows == n_cells else np.repeat(np.arange(n_cells, dtype=np.int32), cells.count)[row]
    flat = cell + np.repeat(np.arange(len(n_drawn)) * n_cells, n_drawn)
    return np.bincount(flat, minlength=len(n_drawn) * n_cells).reshape(len(n_drawn), n_cells)
