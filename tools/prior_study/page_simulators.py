"""The section on simulated populations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tools.prior_study.markdown import (
    best_in_bold,
    mean,
    mean_size,
    named,
    names,
    number,
    signed,
    table,
    times,
)
from tools.prior_study.settings import SLOW

from halftruth.prior._methods import METHODS

Cell = Mapping[str, Any]
Errors = Mapping[str, Mapping[str, float | None]]
ENOUGH_ANCHOR = 0.05
"""Share of the positives above all negatives from which a member counts as anchored."""
KINDS = ("anchored", "no anchor, floor 0", "floor above 0")
ALL = "mean"
OUTSIDE = [name for name, method in METHODS.items() if method.needs_negatives]
"""What is given more than the others does not compete with them."""

TEXT = """## Simulated populations

Families of `tools/prior_study/families.py`, {n_members} populations in all, each with α = {alphas}
and each with {sizes} known positives/unlabeled: {n_cells:,} cells. In each {draws} ({slow_draws} for
{slow}, which are slow). `auto` was tuned on other draws of these populations, so that its figures are
somewhat flattered; tests hold it to further shapes (`tests/unit/prior/estimators/test_auto.py`).

### Mean |α̂ − α|

The best of each column is bold; the last column is the mean of the families. `mixture` is given as many known
negatives as known positives, and does not compete.

{errors}

### Does it converge where an anchor set exists?

Mean |α̂ − α| by size, over the populations of whatever family in which at least 5% of the positives score
above all negatives: {n_anchored} here.

{convergence}

### Too high where classes overlap

Mean α̂ − α at {largest}, the largest size. The floor is the least ratio of the densities of negatives and
positives. Where it is above 0 irreducibility fails, and the methods that rest on it go for the limit of what
can be refuted, which lies above α by the number in the first line.

{bias}

### Intervals of auto

Share of the 95% intervals that hold α, and of the draws in which `.upper` is not below α. Coverage is
promised where an anchor set exists; elsewhere only `.upper` is claimed.

{coverage}
"""


def render(found: Mapping[str, Any]) -> str:
    """The section."""
    cells = found["cells"]
    sizes = sorted({tuple(cell["size"]) for cell in cells})
    anchored = [cell for cell in cells if _kind(cell) == KINDS[0]]
    return TEXT.format(
        n_members=len({(cell["family"], cell["member"]) for cell in cells}),
        n_cells=len(cells),
        alphas=names([f"{alpha:g}" for alpha in sorted({cell["alpha"] for cell in cells})]),
        sizes=names([_size(size) for size in sizes]),
        draws=times(found["draws"], "draw"),
        slow=names([named(name) for name in SLOW]),
        slow_draws=min(found["slow_draws"], found["draws"]),
        errors=_errors(cells),
        n_anchored=len({(cell["family"], cell["member"]) for cell in anchored}),
        convergence=_convergence(anchored, sizes),
        largest=_size(sizes[-1]),
        bias=_bias([cell for cell in cells if tuple(cell["size"]) == sizes[-1]]),
        coverage=_coverage(cells),
    )


def _size(size: Sequence[int]) -> str:
    return f"{size[0]:,}/{size[1]:,}"


def _kind(cell: Cell) -> str:
    if cell["anchor"] >= ENOUGH_ANCHOR:
        return KINDS[0]
    return KINDS[2] if cell["floor"] > 0 else KINDS[1]


def _by(cells: Sequence[Cell], key: Callable[[Cell], str]) -> dict[str, list[Cell]]:
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(key(cell), []).append(cell)
    return groups


def _over(
    cells: Sequence[Cell], method: str, summed: Callable[[Sequence[float]], float | None]
) -> float | None:
    """The mean over cells, each with one weight however many draws it has."""
    return mean([summed([x - cell["alpha"] for x in cell["estimates"].get(method, [])]) for cell in cells])


def _errors(cells: Sequence[Cell]) -> str:
    families = _by(cells, lambda cell: str(cell["family"]))
    rows: dict[str, dict[str, float | None]] = {}
    for method in METHODS:
        rows[method] = {family: _over(group, method, mean_size) for family, group in families.items()}
        rows[method][ALL] = mean(list(rows[method].values()))
    columns = [*families, ALL]
    ratios = " | ".join(_ratio(rows, column) for column in columns)
    return best_in_bold(columns, rows, OUTSIDE) + f"\n| auto / best other | {ratios} |"


def _ratio(rows: Errors, column: str) -> str:
    others = [row[column] for name, row in rows.items() if name not in ("auto", *OUTSIDE)]
    best, ours = min((x for x in others if x is not None), default=None), rows["auto"][column]
    return number(ours / best, 2) if ours is not None and best else "–"


def _convergence(anchored: Sequence[Cell], sizes: Sequence[Sequence[int]]) -> str:
    groups = _by(anchored, lambda cell: _size(cell["size"]))
    rows = {
        method: {size: _over(group, method, mean_size) for size, group in groups.items()}
        for method in METHODS
    }
    return best_in_bold([_size(size) for size in sizes], rows, OUTSIDE)


def _bias(cells: Sequence[Cell]) -> str:
    found = _by(cells, _kind)
    groups = {kind: found[kind] for kind in KINDS if kind in found}
    limits = [mean([cell["limit"] - cell["alpha"] for cell in group]) for group in groups.values()]
    rows = [["the limit, less α", *map(signed, limits)]]
    rows += [
        [named(method), *(signed(_over(group, method, mean)) for group in groups.values())]
        for method in METHODS
    ]
    return table(["method", *groups], rows)


def _coverage(cells: Sequence[Cell]) -> str:
    families = _by(cells, lambda cell: str(cell["family"]))
    rows = [[name, *_covered(group)] for name, group in families.items()]
    head = ["family", "anchored: α in the interval", "others: α in the interval", "α ≤ upper"]
    return table(head, [*rows, ["all", *_covered(cells)]])


def _covered(cells: Sequence[Cell]) -> list[str]:
    def share(chosen: Sequence[Cell], low: float | None = None, high: str = "high") -> str:
        held = [
            (each["low"] if low is None else low) <= cell["alpha"] <= each[high]
            for cell in chosen
            for each in cell["auto"]
        ]
        return f"{100 * sum(held) / len(held):.1f}% of {len(held):,}" if held else "–"

    anchored = [cell for cell in cells if _kind(cell) == KINDS[0]]
    others = [cell for cell in cells if _kind(cell) != KINDS[0]]
    return [share(anchored), share(others), share(cells, 0.0, "upper")]
