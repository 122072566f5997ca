"""Gates: `--require "roc_auc>=0.9"` makes a command fail where a number is not what it must be.

On a comparison a gate is about the difference, first minus second model, of every pair, or of the one that
is named: `--require "old,new:roc_auc<=0"`.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from halftruth._errors import InputError
from halftruth.cli import metrics, status, streams

if TYPE_CHECKING:
    from halftruth.results._estimate import Estimate, Evaluation

OPERATORS = {">=": operator.ge, ">": operator.gt, "<=": operator.le, "<": operator.lt}
FIELDS = ("value", "low", "high", "naive")
_GATE = re.compile(
    r"(?:(?P<pair>.+):)?\s*(?P<row>\w+(?:\s*\([^()]*\))?)(?:\.(?P<field>\w+))?"
    r"\s*(?P<sign>>=|<=|>|<)\s*(?P<limit>\S+)\s*"
)
REFUTED = "the data refute the prior given, so its numbers decide nothing."


@dataclass(frozen=True)
class Gate:
    """One requirement on one number of a result."""

    row: str
    field: str
    sign: str
    limit: float
    pair: str = ""
    """Of a comparison: the two models as "first,second"; all pairs where it is empty."""

    @classmethod
    def read(cls, text: str) -> Gate:
        """A gate from its text, or an error that shows how one is written."""
        found = _GATE.fullmatch(text)
        parts: dict[str, Any] = found.groupdict() if found else {"limit": ""}
        try:
            limit = float(parts["limit"])
        except ValueError:
            limit = math.nan
        field = parts.get("field") or "value"
        if field not in FIELDS or not math.isfinite(limit):
            raise InputError(
                f"--require must read like 'roc_auc>=0.9' or 'roc_auc.low>0.85': a metric, perhaps "
                f".{', .'.join(FIELDS)}, one of {' '.join(OPERATORS)}, and a number; got {text!r}."
            )
        row = metrics.canonical(parts["row"])
        return cls(row, field, parts["sign"], limit, (parts["pair"] or "").strip())

    @property
    def name(self) -> str:
        row = self.row if self.field == "value" else f"{self.row}.{self.field}"
        return f"{self.pair}:{row}" if self.pair else row

    def __str__(self) -> str:
        return f"{self.name}{self.sign}{self.limit!r}"

    def check(self, asked: Iterable[str] | None, threshold: float | None, *, pairs: bool) -> None:
        """Refuse, before anything is read, a gate on a row that the result will not have."""
        if self.pair and not pairs:
            raise InputError(f"--require {self}: one model has no pair. Leave {self.pair + ':'!r} out.")
        metric = metrics.metric(self.row)
        if asked is not None and self.row not in asked:
            raise InputError(
                f"--require {self}: {self.row} is not among --metrics {','.join(asked)}. Add it."
            )
        if asked is None and metric.parameters:
            raise InputError(f"--require {self}: pass --metrics '{self.row}' too.")
        if metric.metric.threshold and threshold is None and "threshold" not in dict(metric.parameters):
            raise InputError(f"--require {self}: {self.row} needs --threshold.")

    def holds(self, number: float) -> bool:
        """Whether a number is what it must be."""
        return bool(OPERATORS[self.sign](number, self.limit))

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
            return status.UNIDENTIFIED, REFUTED
        if self.field != "naive" and (row.value < row.limits[0] or row.value > row.limits[1]):
            return status.UNIDENTIFIED, f"{self.row} is {row.value:.6g}, which is not possible."
        if self.holds(number):
            return status.FINE, ""
        return status.FAILED, f"{self.name} is {number:.6g}."


def _range(row: Estimate) -> str:
    known = math.isfinite(row.low) and math.isfinite(row.high)
    between = f"; all that is known is {row.low:.4g} to {row.high:.4g}" if known else ""
    return f"{between}. Pass --prior, or gate on .low or .high" if known else between


def judge(gates: Iterable[Gate], results: Mapping[str, Evaluation]) -> int:
    """Try every gate on every result, name on stderr each that does not hold, and give the exit status."""
    return said((name, gate, *gate.judge(result)) for name, result in results.items() for gate in gates)


def said(judged: Iterable[tuple[str, Gate, int, str]]) -> int:
    """Name the gates that do not hold, each with what it is about, its status and why; the status of all.

    A gate that fails is certain, so it outranks one that cannot be decided.
    """
    found = {status.FINE}
    for name, gate, code, why in judged:
        found.add(code)
        if code:
            kind = "Failed" if code == status.FAILED else "Not identifiable"
            streams.say(f"{kind}: {f'{name}: ' if name else ''}{gate}: {why}")
    return worst(found)


def worst(codes: Iterable[int]) -> int:
    """The status of several."""
    found = {status.FINE, *codes}
    return status.FAILED if status.FAILED in found else max(found)
