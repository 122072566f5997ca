"""What the cells of a column mean, as SQL: numbers, labels, groups, and arithmetic of them.

The formulas of a grid that NumPy runs are told to DuckDB by `Term`, whose operators write text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from halftruth._errors import InputError
from halftruth.files._duckdb_source import FileBatch
from halftruth.files._file_paths import quoted
from halftruth.table._groups import OUTSIDE

__all__ = ["Columns", "Sql", "Term", "group", "number", "numeric", "stratum"]

ABSENT = "|na|n/a|<na>|[-+]?nan|null|none"
SIZES = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
INTEGERS = (*SIZES, *("U" + size for size in SIZES))
NUMBERS = (*INTEGERS, "FLOAT", "DOUBLE", "BOOLEAN")
TEXTS = ("VARCHAR", '"NULL"')


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Which column holds what, and the code of unlabeled rows."""

    scores: tuple[str, ...]
    label: str | None  # without one no row has a label
    weight: str | None = None
    by: str | None = None
    unlabeled: float | None = None
    propensity: str | None = None  # read of positive rows alone
    chance: str | None = None  # of a review, of every row
    known: str | None = None  # 1 for positives that are known without a review, else 0 or nothing

    def names(self) -> tuple[str, ...]:
        """The columns to read, each once."""
        names = (*self.scores, self.label, self.weight, self.by, self.propensity, self.chance, self.known)
        return tuple(dict.fromkeys(name for name in names if name is not None))

    def select(self, batch: FileBatch) -> str:
        """s0, s1, … and the index of the stratum; w, e, c, k and g of what else there is."""
        values = [f"{number(*numeric(batch, name))} AS s{k}" for k, name in enumerate(self.scores)]
        label = "1" if self.label is None else stratum(*numeric(batch, self.label), self.unlabeled)
        values.append(f"({label})::TINYINT AS stratum")
        if self.known is not None:
            values.append(f"({stratum(*numeric(batch, self.known), 0.0)})::TINYINT AS k")
        for name, column in (("w", self.weight), ("e", self.propensity), ("c", self.chance)):
            if column is not None:
                values.append(f"{number(*numeric(batch, column))} AS {name}")
        if self.by is not None:
            values.append(f"{group(*batch.at(self.by))} AS g")
        return ", ".join(values)


def numeric(batch: FileBatch, name: str) -> tuple[str, str]:
    """The SQL reference and type of a column of numbers, or of text that may hold some."""
    at, kind = batch.at(name)
    if not (_is_number(kind) or kind in TEXTS):
        file = batch.files[0].name
        raise InputError(f"Column {quoted(name)} of {file} must hold numbers, it holds {kind}.")
    return at, kind


def _is_number(kind: str) -> bool:
    return kind in NUMBERS or kind.startswith("DECIMAL")


def number(at: str, kind: str) -> str:
    """A DOUBLE, NaN for what is no number."""
    value = at if kind == "DOUBLE" else f"{'' if _is_number(kind) else 'TRY_'}CAST({at} AS DOUBLE)"
    return f"coalesce({value}, 'nan'::DOUBLE)"


def group(at: str, kind: str) -> str:
    """The text of a group; zeros and NaN have no sign there."""
    if kind in ("FLOAT", "DOUBLE"):
        plain = f"CASE WHEN {_ordered(at)} THEN {at} + 0::{kind} WHEN {at} IS NOT NULL THEN 'nan'::{kind} END"
        return f"({plain})::VARCHAR"
    return f"{at}::VARCHAR"


def _ordered(value: str) -> str:
    """Whether a number is not NaN; isnan is taken for false where statistics of Parquet leave NaN out."""
    return f"isfinite({value}) OR abs({value}) = 'inf'::DOUBLE"


def stratum(at: str, kind: str, unlabeled: float | None) -> str:
    """The index of a label's stratum."""
    if _is_number(kind):
        value = at if kind in INTEGERS else f"{at}::{'TINYINT' if kind == 'BOOLEAN' else 'DOUBLE'}"
        absent = f"{at} IS NULL" + ("" if kind in (*INTEGERS, "BOOLEAN") else f" OR NOT ({_ordered(value)})")
        return f"CASE WHEN {absent} THEN 1 ELSE {_coded(value, unlabeled)} END"
    # The usual spellings first: a CASE computes the rest only for the rows that get there.
    text = f"lower(trim({at}::VARCHAR))"
    value = f"(CASE {text} WHEN 'true' THEN 1 WHEN 'false' THEN 0 ELSE TRY_CAST({text} AS DOUBLE) END)"
    # No IN: the planner makes a longer list a join, and a join does not keep the order of rows.
    absent = f"regexp_full_match({text}, '{ABSENT}')"
    zero = 1 if unlabeled == 0 else 2
    usual = f"WHEN {at} IS NULL THEN 1 WHEN {at} = '1' THEN 0 WHEN {at} = '0' THEN {zero}"
    return f"CASE {usual} WHEN {absent} THEN 1 ELSE {_coded(value, unlabeled)} END"


def _coded(value: str, unlabeled: float | None) -> str:
    other = ""
    if unlabeled is not None:
        # Whole codes are compared as integers; others are written as text, which loses no digit.
        whole = unlabeled.is_integer() and abs(unlabeled) < 1 << 31
        code = str(int(unlabeled)) if whole else f"'{unlabeled!r}'::DOUBLE"
        other = f"WHEN {value} = {code} THEN 1"
    return f"(CASE {other} WHEN {value} = 1 THEN 0 WHEN {value} = 0 THEN 2 ELSE {OUTSIDE} END)"


# --- Arithmetic ------------------------------------------------------------------------------------


def _infix(sign: str) -> Callable[[Term, Operand], Term]:
    """The method of an operator."""
    return lambda left, right: Term(f"({left.text} {sign} {_text(right)})")


@dataclass(frozen=True, eq=False)
class Term:
    """An expression of DOUBLEs, which grows by Python's own operators."""

    text: str

    __add__ = _infix("+")
    __sub__ = _infix("-")
    __mul__ = _infix("*")
    __truediv__ = _infix("/")
    __ge__ = _infix(">=")
    __eq__ = _infix("=")  # type: ignore[assignment]

    def __rsub__(self, other: float) -> Term:
        return Term(_text(other)) - self

    def __rtruediv__(self, other: float) -> Term:
        return Term(_text(other)) / self

    __hash__ = None  # type: ignore[assignment]


Operand: TypeAlias = Term | float


class Sql:
    """The functions of `halftruth.table._grid.Ops`, as SQL."""

    def sqrt(self, x: Operand, /) -> Term:
        return Term(f"sqrt({_text(x)})")

    def abs(self, x: Operand, /) -> Term:
        return Term(f"abs({_text(x)})")

    def floor(self, x: Operand, /) -> Term:
        return Term(f"floor({_text(x)})")

    def minimum(self, x: Operand, most: float, /) -> Term:
        return Term(f"least({_text(x)}, {_text(most)})")

    def where(self, condition: Operand, yes: Operand, no: Operand, /) -> Term:
        return Term(f"(CASE WHEN {_text(condition)} THEN {_text(yes)} ELSE {_text(no)} END)")


def _text(x: Operand) -> str:
    if isinstance(x, Term):
        return x.text
    number = repr(float(x))
    # Without an exponent it would be a DECIMAL.
    return number if "e" in number else f"{number}e0"
