"""Results as the formats need them: evaluations, comparisons, priors, one or by group.

Each group is by itself: one of which nothing can be said stops none of the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from halftruth._errors import HalftruthError, Note, is_refuted, merged_notes, notes_to_dict
from halftruth.cli._rendering import Block, Cell, View
from halftruth.cli._terminal import shell_text
from halftruth.prior._belief import PriorEstimate
from halftruth.results._comparison import Comparison
from halftruth.results._estimate import Estimate, Evaluation, figure, interval_name

__all__ = [
    "ComparisonView", "EvaluationView", "Failed", "PriorsView", "Shares", "StrictView", "by_group",
    "group_heading", "note_objections", "number_objections", "view_of", "with_unevaluated",
]  # fmt: skip

SCHEMA = 1
Group = TypeVar("Group")
Result = TypeVar("Result")


# --strict: numbers that are refuted or missing are shown, and the command exits with 3 -----------------


class StrictView(View, Protocol):
    """A result that says itself what is wrong with it."""

    def objections(self) -> Iterator[str]:
        """What `--strict` refuses."""
        ...


def note_objections(notes: Iterable[Note]) -> Iterator[str]:
    """That a note says that something is refuted."""
    if is_refuted(notes):
        yield "the data refute what was given"


def number_objections(numbers: Mapping[str, float | None]) -> Iterator[str]:
    """Which numbers are undefined; what was never asked for is None."""
    missing = [name for name, value in numbers.items() if value is not None and math.isnan(value)]
    if missing:
        yield f"no value of {', '.join(missing)}"


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
        return [Block(above=(f"Not evaluated: {self.reason}",), header=(), lines=[])]

    def to_dict(self) -> dict[str, Any]:
        return {"schema": SCHEMA, "error": self.reason}

    def records(self) -> Iterator[Sequence[Cell]]:
        return iter(())

    def notes(self) -> list[str]:
        return [self.note]

    def objections(self) -> Iterator[str]:
        yield "not evaluated"


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

    reason: str

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready and versioned, with the error."""
        return super().to_dict() | {"error": self.reason}

    def _shares(self) -> str:
        return f"Not evaluated: {self.reason}"


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
            reason=result.reason,
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
        return {"schema": SCHEMA, "by": self.by, "groups": groups}

    def records(self) -> Iterator[Sequence[Cell]]:
        tables = {group: list(view.records()) for group, view in self.views.items()}
        header = next(table[0] for table in tables.values() if table)
        yield [self.by, *header]
        for group, table in tables.items():
            for row in table[1:] or [[None] * len(header)]:
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

NUMBERS = ("naive", "value", "low", "high", "confidence_level", "method")


@dataclass(frozen=True)
class EvaluationView:
    """One evaluation."""

    result: Evaluation

    def blocks(self) -> list[Block]:
        header, *lines = self.result._table()
        return [Block(above=(self.result._title(), self.result._shares()), header=header, lines=lines)]

    def to_dict(self) -> dict[str, Any]:
        return self.result.to_dict()

    def records(self) -> Iterator[Sequence[Cell]]:
        yield ["metric", *NUMBERS]
        for name, row in self.result.items():
            yield [name, *(getattr(row, column) for column in NUMBERS)]

    def notes(self) -> list[str]:
        return list(map(shell_text, self.result.all_notes()))

    def objections(self) -> Iterator[str]:
        if isinstance(self.result, Unevaluated):
            yield "not evaluated"
            return
        yield from note_objections(self.result.notes)
        yield from number_objections({name: row.value for name, row in self.result.items()})


@dataclass(frozen=True)
class ComparisonView:
    """A comparison of two models or more."""

    comparison: Comparison

    def blocks(self) -> list[Block]:
        evidence = self.comparison.evidence
        tables = {pair: self.comparison.table(pair) for pair in self.comparison}
        return [
            Block(
                heading=f"{a} against {b}" if len(tables) > 1 else "",
                above=(f"{a}: {evidence[a]}", f"{b}: {evidence[b]}"),
                header=lines[0],
                lines=lines[1:],
                below=(self.comparison.verdict,) if i == len(tables) - 1 else (),
            )
            for i, ((a, b), lines) in enumerate(tables.items())
        ]

    def to_dict(self) -> dict[str, Any]:
        return self.comparison.to_dict()

    def records(self) -> Iterator[Sequence[Cell]]:
        numbers = ("value", "low", "high", "confidence_level", "method")
        values = ("first_value", "second_value", "difference")
        yield ["first", "second", "metric", *values, *numbers[1:], "flips"]
        for pair, rows in self.comparison.pairs.items():
            for name, row in rows.items():
                flips = ";".join(map(repr, row.flips))
                yield [*pair, name, *row.values, *(getattr(row, number) for number in numbers), flips]

    def notes(self) -> list[str]:
        return list(map(shell_text, self.comparison.notes))

    def objections(self) -> Iterator[str]:
        yield from note_objections(self.comparison.notes)
        for (a, b), rows in self.comparison.pairs.items():
            yield from number_objections({f"{name} of {a} minus {b}": x.value for name, x in rows.items()})


# Priors ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shares:
    """What one method finds: α among the unlabeled, π in the population, perhaps the purity."""

    alpha: PriorEstimate
    prior: PriorEstimate
    purity: PriorEstimate | None = None

    def named(self) -> Iterator[tuple[str, PriorEstimate]]:
        """The shares by name."""
        yield from (("alpha", self.alpha), ("prior", self.prior))
        if self.purity is not None:
            yield "purity", self.purity

    def notes(self) -> list[Note]:
        """Of all shares, each once."""
        return list(dict.fromkeys(note for _, share in self.named() for note in share.notes))


@dataclass(frozen=True)
class PriorsView:
    """What was found of the prior in one table, method by method."""

    evidence: str
    population: str
    identified: bool
    """Whether known negatives say which α it is."""
    shares: tuple[Shares, ...]
    remarks: tuple[Note, ...] = ()

    def blocks(self) -> list[Block]:
        first = self.shares[0]
        interval = interval_name(first.alpha.confidence_level)
        header = ["method", "α", interval, "upper", "π", interval]
        population = {"all": "all rows", "unlabeled": "the unlabeled"}[self.population]
        legend = (
            f"α: positives among the unlabeled; upper: largest α not refuted; π: positives among {population}"
        )
        if first.purity is not None:
            header += ["ρ", interval]
            legend += "; ρ: positives among the known"
        lines = []
        for shares in self.shares:
            cells = [shares.alpha.method]
            for name, share in shares.named():
                cells += [figure(share.value), f"{figure(share.low)} to {figure(share.high)}"]
                cells += [figure(share.upper)] if name == "alpha" else []
            lines.append(tuple(cells))
        scores = "Without the known negatives the scores" if self.identified else "The scores"
        # The largest α that the scores do not refute is the same whatever the method.
        allowed = f"{scores} alone allow every α from 0 to {figure(first.alpha.upper or 0.0)}."
        return [Block(above=(self.evidence, legend), header=tuple(header), lines=lines, below=(allowed,))]

    def to_dict(self) -> dict[str, Any]:
        numbers = ("value", "low", "high", "upper")
        estimates = [
            {
                "method": shares.alpha.method,
                **{name: {n: getattr(share, n) for n in numbers} for name, share in shares.named()},
                "confidence_level": shares.alpha.confidence_level,
                "assumption": shares.alpha.assumption,
                **notes_to_dict(shares.notes()),
            }
            for shares in self.shares
        ]
        about = {"evidence": self.evidence, "population": self.population}
        return {"schema": SCHEMA, **about, "estimates": estimates}

    def records(self) -> Iterator[Sequence[Cell]]:
        numbers = ("value", "low", "high", "upper", "confidence_level")
        yield ["method", "share", *numbers]
        for shares in self.shares:
            for name, share in shares.named():
                yield [shares.alpha.method, name, *(getattr(share, number) for number in numbers)]

    def notes(self) -> list[str]:
        return list(map(shell_text, self._notes()))

    def _notes(self) -> Iterator[Note]:
        """What each method assumes, those together that assume the same; then what else is to be said."""
        methods_by_assumption: dict[str, list[str]] = {}
        for shares in self.shares:
            methods_by_assumption.setdefault(shares.alpha.assumption, []).append(shares.alpha.method)
        for assumption, methods in methods_by_assumption.items():
            verb = "assumes" if len(methods) == 1 else "assume"
            yield Note("assumption", f"{', '.join(methods)} {verb} that {assumption}.")
        for shares in self.shares:
            others = (note for note in shares.notes() if note.kind != "assumption")
            yield from (note.about(shares.alpha.method) for note in others)
        yield from self.remarks

    def objections(self) -> Iterator[str]:
        """That the scores refute an estimate, or the sample that it rests on."""
        for alpha in (shares.alpha for shares in self.shares):
            yield from note_objections(alpha.notes)
            if alpha.upper is not None and alpha.value > alpha.upper:
                most = f"the scores refute more than {alpha.upper:.4g}"
                yield f"{alpha.method} puts α at {alpha.value:.4g}, and {most}"
