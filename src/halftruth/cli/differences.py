"""Gates on the differences of a comparison."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from halftruth._errors import InputError, is_refuted
from halftruth.cli import metrics, status
from halftruth.cli.gates import REFUTED, Gate, said
from halftruth.cli.groups import Failed

if TYPE_CHECKING:
    from halftruth.results._comparison import Comparison, Difference, Pair


def check(gate: Gate, models: Iterable[str]) -> None:
    """Refuse a gate that no difference between these models can meet or fail."""
    if gate.field == "naive":
        raise InputError(f"--require {gate}: a difference has no .naive. Gate on its value, .low or .high.")
    if gate.pair:
        _order(gate, list(models))


def _order(gate: Gate, models: list[str]) -> Pair:
    """The pair that a gate names; either may come first, and a name may hold a comma."""
    pairs = [(a, b) for a in models for b in models if a != b and f"{a},{b}" == gate.pair]
    if len(pairs) != 1:
        shown = ", ".join(f"'{a},{b}'" for i, a in enumerate(models) for b in models[i + 1 :])
        raise InputError(f"--require {gate}: there is no pair {gate.pair!r}. The pairs: {shown}.")
    return pairs[0]


def judge(gates: Iterable[Gate], comparisons: Mapping[str, Comparison | Failed]) -> int:
    """Try every gate on every comparison, name on stderr each that does not hold, and give the status."""
    return said(
        (name, gate, code, why)
        for name, comparison in comparisons.items()
        for gate in gates
        for code, why in _judged(gate, comparison)
    )


def _judged(gate: Gate, comparison: Comparison | Failed) -> Iterator[tuple[int, str]]:
    if isinstance(comparison, Failed):
        yield status.UNIDENTIFIED, "not evaluated."
        return
    pairs = [_order(gate, list(comparison.evidence))] if gate.pair else list(comparison)
    for a, b in pairs:
        turned = (a, b) not in comparison.pairs
        rows = comparison.pairs[b, a] if turned else comparison.pairs[a, b]
        if gate.row not in rows:
            raise InputError(
                f"--require {gate}: the comparison has no row {gate.row}, only {', '.join(rows)}. Ask for it "
                f"with --metrics {gate.row}."
            )
        number = _number(rows[gate.row], gate.field, turned=turned)
        of = f"{gate.row if gate.field == 'value' else f'{gate.row}.{gate.field}'} of {a} minus {b}"
        if math.isnan(number):
            yield status.UNIDENTIFIED, f"{of} has no value."
        elif is_refuted(comparison.notes):
            yield status.UNIDENTIFIED, REFUTED
        elif not _possible(gate.row, rows[gate.row]):
            yield status.UNIDENTIFIED, f"{gate.row} is not possible for one of {a} and {b}."
        elif not gate.holds(number):
            yield status.FAILED, f"{of} is {number:.6g}."


def _number(row: Difference, field: str, *, turned: bool) -> float:
    if not turned:
        return float(getattr(row, field))
    return -float(getattr(row, {"low": "high", "high": "low"}.get(field, field)))


def _possible(label: str, row: Difference) -> bool:
    low, high = metrics.metric(label).metric.limits
    return all(low <= value <= high or math.isnan(value) for value in row.values)
