"""Groups of rows, each by itself: one of which nothing can be said stops none of the others."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from halftruth._errors import HalftruthError, Note
from halftruth.cli.render import Block, Cell, View
from halftruth.cli.views import heading, once
from halftruth.results._estimate import Estimate, Evaluation

SCHEMA = 1
Given = TypeVar("Given")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Failed:
    """A group of which nothing can be said, and why."""

    reason: str

    @property
    def note(self) -> Note:
        """For stderr."""
        return Note("undefined", f"not evaluated: {self.reason}")


def each(
    groups: Mapping[str, Given], call: Callable[[Given], Result], by: str | None
) -> dict[str, Result | Failed]:
    """What a call gives for each group, or why nothing; the error itself where there is no other group."""
    from halftruth.cli import words

    results: dict[str, Result | Failed] = {}
    errors: dict[str, HalftruthError] = {}
    for group, given in groups.items():
        try:
            results[group] = call(given)
        except HalftruthError as error:
            if by is None:
                raise
            errors[group] = error
            results[group] = Failed(words.shell_text(error))
    if len(errors) == len(results):
        group, first = next(iter(errors.items()))
        others = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        raise first.about(f"{heading(by, group)}{others}") from first
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


def evaluations(found: Mapping[str, Evaluation | Failed]) -> dict[str, Evaluation]:
    """The same with the rows of the others where a group has none of its own."""
    labels = [label for result in found.values() if isinstance(result, Evaluation) for label in result]
    level = next((r.prior.confidence_level for r in found.values() if isinstance(r, Evaluation)), 0.95)
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
        for group, result in found.items()
    }


@dataclass(frozen=True)
class Grouped:
    """A view for each value of the column ``by``."""

    views: Mapping[str, View | Failed]
    by: str

    def blocks(self) -> list[Block]:
        return [block for group, view in self.views.items() for block in self._blocks(group, view)]

    def _blocks(self, group: str, view: View | Failed) -> Iterator[Block]:
        title = heading(self.by, group)
        if isinstance(view, Failed):
            yield Block(heading=title, above=(f"Not evaluated: {view.reason}",), header=(), lines=[])
            return
        for block in view.blocks():
            yield replace(block, heading=f"{title}, {block.heading}" if block.heading else title)

    def to_dict(self) -> dict[str, Any]:
        groups = {
            group: {"schema": SCHEMA, "error": view.reason} if isinstance(view, Failed) else view.to_dict()
            for group, view in self.views.items()
        }
        return {"schema": SCHEMA, "by": self.by, "groups": groups}

    def records(self) -> Iterator[Sequence[Cell]]:
        tables = {
            group: [] if isinstance(view, Failed) else list(view.records())
            for group, view in self.views.items()
        }
        header = next(table[0] for table in tables.values() if table)
        yield [self.by, *header]
        for group, table in tables.items():
            for row in table[1:] or [[None] * len(header)]:
                yield [group, *row]

    def notes(self) -> list[str]:
        return once(
            {
                heading(self.by, group): [view.note] if isinstance(view, Failed) else view.notes()
                for group, view in self.views.items()
            }
        )


def view_of(views: Mapping[str, View | Failed], by: str | None) -> View:
    """The one view, or all of the groups."""
    if by is not None:
        return Grouped(views, by)
    (view,) = views.values()
    assert not isinstance(view, Failed)  # alone it is an error
    return view
