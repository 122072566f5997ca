"""Arithmetic as SQL text, so that DuckDB is told the formulas that NumPy runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, eq=False)
class Term:
    """An expression of DOUBLEs, which grows by Python's own operators."""

    text: str

    def _with(self, sign: str, other: Any) -> Term:
        return Term(f"({self.text} {sign} {_text(other)})")

    def __add__(self, other: Any) -> Term:
        return self._with("+", other)

    def __sub__(self, other: Any) -> Term:
        return self._with("-", other)

    def __mul__(self, other: Any) -> Term:
        return self._with("*", other)

    def __truediv__(self, other: Any) -> Term:
        return self._with("/", other)

    def __rsub__(self, other: float) -> Term:
        return Term(f"({_text(other)} - {self.text})")

    def __rtruediv__(self, other: float) -> Term:
        return Term(f"({_text(other)} / {self.text})")

    def __eq__(self, other: Any) -> Any:
        return self._with("=", other)

    def __ge__(self, other: Any) -> Term:
        return self._with(">=", other)

    __hash__ = None  # type: ignore[assignment]


class Sql:
    """The functions of `halftruth.table._grid.Ops`, as SQL."""

    def sqrt(self, x: Any, /) -> Term:
        return Term(f"sqrt({_text(x)})")

    def abs(self, x: Any, /) -> Term:
        return Term(f"abs({_text(x)})")

    def floor(self, x: Any, /) -> Term:
        return Term(f"floor({_text(x)})")

    def minimum(self, x: Any, most: float, /) -> Term:
        return Term(f"least({_text(x)}, {_text(most)})")

    def where(self, condition: Any, yes: Any, no: Any, /) -> Term:
        return Term(f"(CASE WHEN {_text(condition)} THEN {_text(yes)} ELSE {_text(no)} END)")


def _text(x: Any) -> str:
    if isinstance(x, Term):
        return x.text
    number = repr(float(x))
    # Without an exponent it would be a DECIMAL.
    return number if "e" in number else f"{number}e0"
