"""Results as the formats need them: evaluations, comparisons, one or by group.

Each group is by itself: one of which nothing can be said stops none of the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Protocol, TypeVar

from halftruth._errors import HalftruthError, Note, merged_notes
from halftruth.cli._rendering import Block, Cell, View
from halftruth.cli._terminal import shell_text
from halftruth.evidence._selection import Selection
from halftruth.results._comparison import Comparison
from halftruth.results._estimate import SOURCES, Estimate, Evaluation
from halftruth.results._standing import Standing, gravest

__all__ = [
    "ComparisonView", "EvaluationView", "Failed", "StrictView", "by_group",
    "group_heading", "headline", "number_objections", "selection_to_dict", "standing_objections", "view_of",
    "with_unevaluated",
]  # fmt: skip

SCHEMA = 1
NOT_EVALUATED = "not evaluated"
Group = TypeVar("Group")
Result = TypeVar("Result")


# --strict: numbers that are refuted or missing are shown, and the command exits with 3 -----------------


OBJECTIONS = {
    "refuted": "the data refute what was given",
    "partly refuted": "the data refute part of the prior's range",
    "not identified": "the data do not identify the prior",
    NOT_EVALUATED: NOT_EVALUATED,
}


class StrictView(View, Protocol):
    """A result that says itself what is wrong with it."""

    def objections(self) -> Iterator[str]:
        """What `--strict` refuses."""
        ...


def headline(standing: Standing) -> tuple[str, ...]:
    """What stands above a table where something is refuted or not identified."""
    return tuple(map(shell_text, standing.lines))


def standing_objections(standing: Standing) -> Iterator[str]:
    """That something is refuted."""
    if standing.status in OBJECTIONS:
        yield OBJECTIONS[standing.status]


def number_objections(numbers: Mapping[str, float | None]) -> Iterator[str]:
    """Which numbers are undefined; what was never asked for is None."""
    missing = [name for name, value in numbers.items() if value is not None and math.isnan(value)]
    if missing:
        yield f"no value of {', '.join(missing)}"


def row_objections(rows: Mapping[str, Estimate]) -> Iterator[str]:
    """Which rows have no value, or an impossible one."""
    yield from number_objections({name: row.value for name, row in rows.items()})
    beyond = [name for name, row in rows.items() if row.status == "impossible"]
    if beyond:
        yield f"no possible value of {', '.join(beyond)}"


# Groups ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Failed:
    """A group of which nothing can be said, and why; it is the view of itself."""

    reason: str

    @property
    def note(self) -> Note:
        """For stderr."""
        return Note("undefined", f"not evaluated: {self.reason}")

    def blocks(self) -> list[Block]:
        return [Block(above=(f"NOT EVALUATED: {self.reason}",), header=(), lines=[])]

    def to_dict(self) -> dict[str, Any]:
        return {"schema": SCHEMA, "status": NOT_EVALUATED, "reason": self.reason, "error": self.reason}

    def records(self) -> Iterator[Sequence[Cell]]:
        return iter(())

    def notes(self) -> list[str]:
        return [self.note]

    def objections(self) -> Iterator[str]:
        yield NOT_EVALUATED


def group_heading(by: str | None, group: str) -> str:
    """The name of a group; empty where nothing is split."""
    return "" if by is None else f"{by} = {group}"


def by_group(
    groups: Mapping[str, Group], call: Callable[[Group], Result], by: str | None
) -> dict[str, Result | Failed]:
    """What a call gives for each group, or why nothing; the error itself where there is no other group."""
    results: dict[str, Result | Failed] = {}
    errors: dict[str, HalftruthError] = {}
    for name, group in groups.items():
        try:
            results[name] = call(group)
        except HalftruthError as error:
            if by is None:
                raise
            errors[name] = error
            results[name] = Failed(shell_text(error))
    # Where nothing can be said of any group, the first reason is the error of the whole command.
    if len(errors) == len(results):
        name, first = next(iter(errors.items()))
        others = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        raise first.about(f"{group_heading(by, name)}{others}") from first
    return results


@dataclass(frozen=True, kw_only=True, eq=False)
class Unevaluated(Evaluation):
    """The evaluation of a group of which nothing can be said: its rows have no value."""

    error: str

    @property
    def standing(self) -> Standing:
        return Standing(NOT_EVALUATED, Note("undefined", self.error))

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready and versioned, with the error."""
        return super().to_dict() | {"error": self.error}

    def _shares(self) -> str:
        return "nothing can be said"


def with_unevaluated(results: Mapping[str, Evaluation | Failed]) -> dict[str, Evaluation]:
    """The same with the rows of the others where a group has none of its own."""
    evaluated = [result for result in results.values() if isinstance(result, Evaluation)]
    labels = [label for result in evaluated for label in result]
    level = next((result.prior.confidence_level for result in evaluated), 0.95)
    nothing = Estimate(value=math.nan, low=math.nan, high=math.nan, confidence_level=level)
    return {
        group: result
        if isinstance(result, Evaluation)
        else Unevaluated(
            rows=dict.fromkeys(labels, nothing),
            evidence="no evidence",
            prior=nothing,
            alpha=None,
            notes=(result.note,),
            error=result.reason,
        )
        for group, result in results.items()
    }


@dataclass(frozen=True)
class _Grouped:
    """A view for each value of the column ``by``."""

    views: Mapping[str, StrictView]
    by: str

    def _titled(self) -> Iterator[tuple[str, StrictView]]:
        return ((group_heading(self.by, group), view) for group, view in self.views.items())

    def blocks(self) -> list[Block]:
        return [
            replace(block, heading=f"{title}, {block.heading}" if block.heading else title)
            for title, view in self._titled()
            for block in view.blocks()
        ]

    def to_dict(self) -> dict[str, Any]:
        groups = {group: view.to_dict() for group, view in self.views.items()}
        # The gravest that a group says, for whoever asks the whole file one question.
        standings = [
            Standing(told["status"], Note("remark", f"{group}: {told['reason']}" if told["reason"] else ""))
            for group, told in groups.items()
            if "status" in told  # which a group's shares say each for itself
        ]
        worst = gravest(standings).to_dict() if standings else {}
        return {"schema": SCHEMA, "by": self.by, **worst, "groups": groups}

    def records(self) -> Iterator[Sequence[Cell]]:
        tables = {group: list(view.records()) for group, view in self.views.items()}
        header = next(table[0] for table in tables.values() if table)
        yield [self.by, *header]
        for group, view in self.views.items():
            told = {"status": NOT_EVALUATED, "reason": view.reason} if isinstance(view, Failed) else {}
            failed = [[told.get(str(column)) for column in header]] if told else []
            for row in (*failed, *tables[group][1:]):
                yield [group, *row]

    def notes(self) -> list[str]:
        return merged_notes({title: view.notes() for title, view in self._titled()})

    def objections(self) -> Iterator[str]:
        return (f"{title}: {text}" for title, view in self._titled() for text in view.objections())


def view_of(views: Mapping[str, StrictView], by: str | None) -> StrictView:
    """The one view, or all of the groups together."""
    if by is not None:
        return _Grouped(views, by)
    (only,) = views.values()
    return only


# Evaluations and comparisons -------------------------------------------------------------------------

RAW = ("raw_value", "raw_low", "raw_high")  # as they came out; value, low and high are what is possible
OF_ROW = ("confidence_level", "method")


def row_cells(row: Estimate, *more: Cell) -> list[Cell]:
    """The cells of CSV behind the numbers of a row: how they were made, how far to rely on them."""
    standing = map(shell_text, row.standing)
    return [row.confidence_level, row.method, *more, *standing, row.value, row.low, row.high]


SOURCE_COLUMNS = tuple(f"{name}_{end}" for name in SOURCES for end in ("low", "high"))


def selection_to_dict(selection: Selection | None) -> dict[str, Any]:
    """As JSON has it; nothing where nothing was said of it."""
    return {} if selection is None else {"selection": asdict(selection)}


@dataclass(frozen=True)
class _Selected:
    """A result of evidence whose positives may be selected."""

    selection: Selection | None = field(default=None, kw_only=True)
    """As it was given."""

    @property
    def _is_selected(self) -> bool:
        return self.selection is not None and self.selection.gamma > 1

    def _source_cells(self, row: Estimate) -> list[Cell]:
        return [end for name in SOURCES for end in getattr(row, name)] if self._is_selected else []


@dataclass(frozen=True)
class EvaluationView(_Selected):
    """One evaluation."""

    result: Evaluation

    def blocks(self) -> list[Block]:
        header, *lines = self.result._table()
        above = (*headline(self.result.standing), self.result._title(), self.result._shares())
        rows_without: dict[str, list[str]] = {}
        for name, row in self.result.items():
            if row.status in ("undefined", "impossible"):
                rows_without.setdefault(shell_text(row.standing.reason), []).append(name)
        why = tuple(f"{', '.join(names)}: {reason}" for reason, names in rows_without.items())
        return [Block(above=above, header=header, lines=lines, below=why)]

    def to_dict(self) -> dict[str, Any]:
        return self.result.to_dict() | selection_to_dict(self.selection)

    def records(self) -> Iterator[Sequence[Cell]]:
        header = ["metric", "naive", "value", "low", "high", *OF_ROW, "status", "reason", *RAW]
        yield [*header, *(SOURCE_COLUMNS if self._is_selected else ())]
        for name, row in self.result.items():
            yield [name, row.naive, *row.shown, *row_cells(row), *self._source_cells(row)]

    def notes(self) -> list[str]:
        return list(map(shell_text, self.result.all_notes()))

    def objections(self) -> Iterator[str]:
        yield from standing_objections(self.result.standing)
        if not isinstance(self.result, Unevaluated):
            yield from row_objections(self.result)


@dataclass(frozen=True)
class ComparisonView(_Selected):
    """A comparison of two models or more, or of groups, of which none is better by its curve."""

    comparison: Comparison
    of_groups: bool = False

    def blocks(self) -> list[Block]:
        evidence, standing = self.comparison.evidence, self.comparison.standing_of_pair
        tables = {pair: self.comparison.table(pair) for pair in self.comparison}
        verdict = self.comparison.verdict
        return [
            Block(
                heading=f"{a} against {b}" if len(tables) > 1 else "",
                above=(*headline(standing((a, b))), f"{a}: {evidence[a]}", f"{b}: {evidence[b]}"),
                header=lines[0],
                lines=lines[1:],
                below=(verdict,) if verdict and i == len(tables) - 1 and not self.of_groups else (),
            )
            for i, ((a, b), lines) in enumerate(tables.items())
        ]

    def to_dict(self) -> dict[str, Any]:
        return self.comparison.to_dict() | selection_to_dict(self.selection)

    def records(self) -> Iterator[Sequence[Cell]]:
        header = ["first", "second", "metric", "first_value", "second_value", "difference", "low", "high"]
        header += [*OF_ROW, "flips", "status", "reason", "raw_difference", *RAW[1:]]
        yield [*header, *(SOURCE_COLUMNS if self._is_selected else ())]
        for pair, rows in self.comparison.pairs.items():
            for name, row in rows.items():
                flips = ";".join(map(repr, row.flips))
                numbers = (*row.values, *row.shown, *row_cells(row, flips))
                yield [*pair, name, *numbers, *self._source_cells(row)]

    def notes(self) -> list[str]:
        return list(map(shell_text, self.comparison.notes))

    def objections(self) -> Iterator[str]:
        yield from standing_objections(self.comparison.standing)
        for (a, b), rows in self.comparison.pairs.items():
            yield from row_objections({f"{name} of {a} minus {b}": x for name, x in rows.items()})
