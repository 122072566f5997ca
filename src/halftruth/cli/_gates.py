"""Gates: `--require "roc_auc>=0.9"` makes a command fail, status 1, where the number is not what it must be.

On a comparison a gate is about the difference, first minus second model, of every pair, or of the one that is
named: `--require "old,new:roc_auc<=0"`.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from halftruth._errors import HalftruthError, InputError
from halftruth.cli._option_values import parse_metric, row_label
from halftruth.cli._terminal import Status, say, shell_text
from halftruth.cli._views import Failed
from halftruth.results._comparison import Comparison, Pair
from halftruth.results._estimate import Estimate, Evaluation, interval_name
from halftruth.table._score_table import ScoreTable

__all__ = ["Gate", "decide", "judge_results", "remark_on_threshold", "worst"]

OPERATORS = {">=": operator.ge, ">": operator.gt, "<=": operator.le, "<": operator.lt}
FIELDS = ("value", "low", "high", "naive")
DECIDED: dict[tuple[bool, ...], tuple[Status, str]] = {
    (True,): (Status.FINE, "Holds"),
    (False,): (Status.FAILED, "Fails"),
}
"""Of a claim, by whether it holds at the ends of an interval."""
# The names of two models may hold any sign, so a pair is all that stands before the last colon.
_GATE = re.compile(
    r"(?:(?P<pair>.+):)?\s*(?P<row>\w+(?:\s*\([^()]*\))?)(?:\.(?P<field>\w+))?"
    r"\s*(?P<sign>>=|<=|>|<)\s*(?P<limit>\S+)\s*"
)
REFUTED = "the data refute what was given, so its numbers decide nothing. {}"
UNREFUTED = "the part of the prior's range that the data do not refute"
GRANTED = " over the selection that was granted"
WHOLE = "the whole of the prior's range, part of which the data refute"
Verdict = tuple[Status, str]  # the status of a gate, and why


@dataclass(frozen=True)
class Gate:
    """One requirement on one number of a result."""

    row: str
    field: str
    sign: str
    limit: float
    pair: str = ""
    """Of a comparison: the two models as "first,second"; all pairs where it is empty."""
    option: str = "--require"

    @classmethod
    def until(cls, text: str) -> Gate:
        """A claim that an interval can prove or refute."""
        gate = cls.read(text, "--until")
        end = "low" if gate.sign.startswith(">") else "high"
        if gate.field not in ("value", end):
            raise InputError(
                f"--until {gate}: an interval decides what the truth is at least, .low>=, or at most, "
                f".high<=. Write {gate.row}.{end}{gate.sign}{gate.limit!r}."
            )
        return gate

    @classmethod
    def read(cls, text: str, option: str = "--require") -> Gate:
        """A gate from its text, or an error that shows how one is written."""
        match = _GATE.fullmatch(text)
        parts: dict[str, Any] = match.groupdict() if match else {"limit": ""}
        try:
            limit = float(parts["limit"])
        except ValueError:
            limit = math.nan
        field = parts.get("field") or "value"
        if field not in FIELDS or not math.isfinite(limit):
            raise InputError(
                f"{option} must read like 'roc_auc>=0.9' or 'roc_auc.low>0.85': a metric, perhaps "
                f".{', .'.join(FIELDS)}, one of {' '.join(OPERATORS)}, and a number; got {text!r}."
            )
        return cls(
            row_label(parts["row"]), field, parts["sign"], limit, (parts["pair"] or "").strip(), option
        )

    @property
    def number_name(self) -> str:
        """The number it is about."""
        return self.row if self.field == "value" else f"{self.row}.{self.field}"

    @property
    def name(self) -> str:
        return f"{self.pair}:{self.number_name}" if self.pair else self.number_name

    def __str__(self) -> str:
        return f"{self.name}{self.sign}{self.limit!r}"

    def holds(self, number: float) -> bool:
        """Whether a number is what it must be."""
        return bool(OPERATORS[self.sign](number, self.limit))

    # Before anything is read -----------------------------------------------------------------------------

    def check(
        self, metrics: Iterable[str] | None, threshold: float | None, models: Iterable[str] | None = None
    ) -> None:
        """Refuse a gate on a row that the result will not have; ``models`` are those of a comparison."""
        if self.pair and models is None:
            raise InputError(f"{self.option} {self}: one model has no pair. Leave {self.pair + ':'!r} out.")
        request = parse_metric(self.row)
        if metrics is not None and self.row not in metrics:
            raise InputError(
                f"{self.option} {self}: {self.row} is not among --metrics {','.join(metrics)}. Add it."
            )
        if metrics is None and request.parameters:
            raise InputError(f"{self.option} {self}: pass --metrics '{self.row}' too.")
        if request.needs_threshold and threshold is None:
            raise InputError(f"{self.option} {self}: {self.row} needs --threshold.")
        if models is None:
            return
        if self.field == "naive":
            raise InputError(
                f"{self.option} {self}: a difference has no .naive. Gate on its value, .low or .high."
            )
        if self.pair:
            self._pair_among(list(models))

    def _pair_among(self, models: list[str]) -> Pair:
        """The pair that the gate names; either may come first, and a name may hold a comma."""
        pairs = [(a, b) for a in models for b in models if a != b and f"{a},{b}" == self.pair]
        if len(pairs) != 1:
            shown = ", ".join(f"'{a},{b}'" for i, a in enumerate(models) for b in models[i + 1 :])
            raise InputError(f"{self.option} {self}: there is no pair {self.pair!r}. The pairs: {shown}.")
        return pairs[0]

    # On a result -----------------------------------------------------------------------------------------

    def judge(self, result: Evaluation) -> Verdict:
        """Whether an evaluation meets it."""
        self._refuse_missing_row(result, "result")
        row = result[self.row]
        if self.field == "naive":
            return self._judge([math.nan if row.naive is None else row.naive], self.name)
        if math.isnan(getattr(row, self.field)):
            return Status.UNIDENTIFIED, f"{self.name} has no value{_range_text(row)}."
        return self._judge_row(row, result.unrefuted, self.name)

    def judge_pairs(self, comparison: Comparison | Failed) -> Iterator[Verdict]:
        """Whether each pair of a comparison meets it."""
        if isinstance(comparison, Failed):
            yield Status.UNIDENTIFIED, "not evaluated."
            return
        pairs = [self._pair_among(list(comparison.evidence))] if self.pair else list(comparison)
        for a, b in pairs:
            pair, turned = ((a, b), False) if (a, b) in comparison.pairs else ((b, a), True)
            rows = comparison.pairs[pair]
            self._refuse_missing_row(rows, "comparison")
            what = f"{self.number_name} of {a} minus {b}"
            yield self._judge_row(rows[self.row], comparison.unrefuted.get(pair), what, turned=turned)

    def _judge_row(
        self, row: Estimate, unrefuted: Sequence[int] | None, what: str, *, turned: bool = False
    ) -> Verdict:
        """On a row as it is shown; of a range of priors refuted in part, on the scenarios that are left."""
        # A number that is missing, refuted or impossible decides nothing, on whichever side of the limit.
        if row.status == "refuted":
            return Status.UNIDENTIFIED, REFUTED.format(shell_text(row.standing.reason))
        if row.status == "impossible":
            values = " and ".join(f"{value:.6g}" for value in getattr(row, "values", (row.value,)))
            return Status.UNIDENTIFIED, f"{self.row} is {values}, which is not possible."
        left = row.over(unrefuted)
        value, low, high = left.shown
        centers = [value] if left.centers is None else np.clip(left.centers, *row.shown_limits).tolist()
        if turned:  # second minus first: what was the low end is the high end of the difference turned round
            value, low, high, centers = -value, -high, -low, [-center for center in centers]
        numbers = [{"value": value, "low": low, "high": high}[self.field]]
        if self.field == "value" and len(row.selected) > 1 and row.status == "ok":
            # The value is that of a random sample: what was granted says that it may be another.
            ends = np.clip(row.selection_range, *row.shown_limits).tolist()
            return self._judge([-end for end in ends] if turned else ends, what, GRANTED)
        if row.status != "partly refuted":
            return self._judge(numbers, what)
        if self.field == "value":
            numbers = centers
        elif unrefuted is None:  # over a part that is not known ends lie between those over the whole
            numbers = [low, high]
        return self._judge(numbers, what, f" over {WHOLE if unrefuted is None else UNREFUTED}")

    def _judge(self, numbers: list[float], what: str, over: str = "") -> Verdict:
        """On a number, or on those of a range."""
        low, high = min(numbers), max(numbers)
        shown = f"{low:.6g}" if low == high else f"{low:.6g} to {high:.6g}"
        answers = {self.holds(number) for number in numbers}
        if any(map(math.isnan, numbers)):
            return Status.UNIDENTIFIED, f"{what} has no value."
        if len(answers) > 1:
            return Status.UNIDENTIFIED, f"{what} is {shown}{over}."
        if answers == {True}:
            return Status.FINE, over and f"holds{over}: {what} is {shown} there."
        return Status.FAILED, f"{what} is {shown}{over}."

    def stands(self, result: Evaluation) -> str:
        """How far the known positives may be from a random sample before it is no longer supported."""
        above = self.sign.startswith(">")
        # A gate on the other end, or on the naive value, is no claim that selection could take away.
        if result.origin is None or self.field not in ("value", "low" if above else "high"):
            return ""
        evidence = result.origin.evidence[""]
        if evidence.population is None:  # no row is unlabeled
            return ""
        try:
            gamma = result.tipping(self.row, self.limit, claim=">=" if above else "<=")
        except HalftruthError:  # rows that were put together in another way
            return ""
        if math.isinf(gamma):
            return "stands whatever selection made the positives known."
        if gamma == 1:
            return "holds for the value; the interval does not support it, even from a random sample (Γ = 1)."
        at_most = replace(evidence.selection, gamma=math.floor(100 * gamma) / 100)
        bears = "propensities that are off by" if evidence.propensity_given else "a selection of"
        return f"stands up to {bears} {at_most}, with sampling error."

    def _refuse_missing_row(self, rows: Mapping[str, Any], what: str) -> None:
        if self.row not in rows:
            raise InputError(
                f"{self.option} {self}: the {what} has no row {self.row}, only {', '.join(rows)}. Ask for it "
                f"with --metrics {self.row}."
            )


def _range_text(row: Estimate) -> str:
    if not (math.isfinite(row.low) and math.isfinite(row.high)):
        return ""
    known = f"; all that is known is {row.low:.4g} to {row.high:.4g}"
    return f"{known}. Pass --prior, or gate on .low or .high"


def judge_results(
    gates: Iterable[Gate], results: Mapping[str, Evaluation] | Mapping[str, Comparison | Failed]
) -> Status:
    """Try every gate on every result, name on stderr each that does not hold, and give the exit status."""
    codes = {Status.FINE}
    for (name, result), gate in product(results.items(), gates):
        verdicts = [gate.judge(result)] if isinstance(result, Evaluation) else gate.judge_pairs(result)
        for code, why in verdicts:
            codes.add(code)
            if why:
                kind = {Status.FINE: "Note", Status.FAILED: "Failed"}.get(code, "Not identifiable")
                say(f"{kind}: {f'{name}: ' if name else ''}{gate}: {why}")
            # Of many groups it would take long to find, and to read.
            if code is Status.FINE and isinstance(result, Evaluation) and len(results) == 1:
                _say_how_far(gate, result)
    return worst(codes)


def decide(gate: Gate, results: Mapping[str, Evaluation]) -> Status:
    """Say of each result whether a claim holds, fails or is undecided, and give the exit status."""
    codes = {Status.FINE}
    for name, result in results.items():
        gate._refuse_missing_row(result, "result")
        row = result[gate.row]
        _, *ends = row.shown
        known = row.status not in ("refuted", "impossible") and not any(map(math.isnan, ends))
        answers = {gate.holds(end) for end in ends if known}
        code, word = DECIDED.get(tuple(answers), (Status.UNIDENTIFIED, "Undecided"))
        codes.add(code)
        more = " Review more rows: plan-review --reviewed." if code is Status.UNIDENTIFIED else ""
        say(
            f"{word}: {f'{name}: ' if name else ''}{gate}. The "
            f"{interval_name(row.confidence_level)} of {gate.row} is {ends[0]:.6g} to {ends[1]:.6g}.{more}"
        )
    return worst(codes)


def _say_how_far(gate: Gate, result: Evaluation) -> None:
    stands = gate.stands(result)
    if stands:
        say(f"Passed: {gate}: {stands}")


def worst(codes: Iterable[Status]) -> Status:
    """The status of several; a gate that fails is certain, so it outranks one that cannot be decided."""
    unique = {Status.FINE, *codes}
    return Status.FAILED if Status.FAILED in unique else max(unique)


# A threshold beside the scores -----------------------------------------------------------------------


def remark_on_threshold(tables: Iterable[ScoreTable], threshold: float | None, model: str = "") -> None:
    """Say on stderr where a threshold flags all cases or none: it is then hardly on the scores' scale."""
    if threshold is None:
        return
    spans = [rows.span for table in tables for rows in table.strata.values()]
    low, high = min(low for low, _ in spans), max(high for _, high in spans)
    if low < threshold <= high:
        return
    of = f" of {model}" if model else ""
    what = "no case is" if threshold > high else "all cases are"
    say(
        f"Note: The scores{of} lie from {low:g} to {high:g}, so {what} flagged by --threshold {threshold:g}. "
        f"Give it on the scale of the scores."
    )
