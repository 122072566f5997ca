"""Gates: `--require "roc_auc>=0.9"` makes a command fail where a number is not what it must be."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from halftruth.cli import status, streams
from halftruth.errors import InputError

if TYPE_CHECKING:
    from halftruth.results import Estimate, Evaluation

OPERATORS = {">=": operator.ge, ">": operator.gt, "<=": operator.le, "<": operator.lt}
FIELDS = ("value", "low", "high", "naive")
_GATE = re.compile(r"\s*(\w+)(?:\.(\w+))?\s*(>=|<=|>|<)\s*(\S+)\s*")


@dataclass(frozen=True)
class Gate:
    """One requirement on one number of a result."""

    row: str
    field: str
    sign: str
    limit: float

    @classmethod
    def read(cls, text: str) -> Gate:
        """A gate from its text, or an error that shows how one is written."""
        found = _GATE.fullmatch(text)
        try:
            row, field, sign, limit = found.groups() if found else (None, None, None, "")
            gate = cls(str(row), field or "value", str(sign), float(limit))
        except ValueError:
            gate = None
        if gate is None or gate.field not in FIELDS or not math.isfinite(gate.limit):
            raise InputError(
                f"--require must read like 'roc_auc>=0.9' or 'roc_auc.low>0.85': a metric, perhaps "
                f".{', .'.join(FIELDS)}, one of {' '.join(OPERATORS)}, and a number; got {text!r}."
            )
        return gate

    @property
    def name(self) -> str:
        return self.row if self.field == "value" else f"{self.row}.{self.field}"

    def __str__(self) -> str:
        return f"{self.name}{self.sign}{self.limit!r}"

    def check(self, metrics: Iterable[str] | None, threshold: float | None) -> None:
        """Refuse, before anything is read, a gate on a row that the result will not have."""
        from halftruth import registry

        metric = registry.get(self.row)
        if metrics is not None and self.row not in metrics:
            raise InputError(
                f"--require {self}: {self.row} is not among --metrics {','.join(metrics)}. Add it."
            )
        if metric.threshold and threshold is None:
            raise InputError(f"--require {self}: {self.row} needs --threshold.")

    def judge(self, result: Evaluation) -> tuple[int, str]:
        """The status of this gate, and why."""
        if self.row not in result:
            raise InputError(
                f"--require {self}: the result has no row {self.row}, only {', '.join(result)}. Ask for it "
                f"with --metrics {self.row}."
            )
        row = result[self.row]
        number = getattr(row, self.field)
        if number is None or math.isnan(number):
            return status.UNIDENTIFIED, f"{self.name} has no value{_range(row)}."
        if self.field != "naive" and result.refuted:
            return status.UNIDENTIFIED, "the data refute the prior given, so its numbers decide nothing."
        if self.field != "naive" and (row.value < row.limits[0] or row.value > row.limits[1]):
            return status.UNIDENTIFIED, f"{self.row} is {row.value:.6g}, which is not possible."
        if OPERATORS[self.sign](number, self.limit):
            return status.FINE, ""
        return status.FAILED, f"{self.name} is {number:.6g}."


def _range(row: Estimate) -> str:
    known = math.isfinite(row.low) and math.isfinite(row.high)
    between = f"; all that is known is {row.low:.4g} to {row.high:.4g}" if known else ""
    return f"{between}. Pass --prior, or gate on .low or .high" if known else between


def judge(gates: Iterable[Gate], results: Mapping[str, Evaluation]) -> int:
    """Try every gate on every result, name on stderr each that does not hold, and give the exit status.

    A gate that fails is certain, so it outranks one that cannot be decided.
    """
    found = {status.FINE}
    for name, result in results.items():
        for gate in gates:
            code, why = gate.judge(result)
            found.add(code)
            if code:
                kind = "Failed" if code == status.FAILED else "Not identifiable"
                streams.say(f"{kind}: {f'{name}: ' if name else ''}{gate}: {why}")
    return status.FAILED if status.FAILED in found else max(found)
