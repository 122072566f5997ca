"""Results as the formats need them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from halftruth._errors import Note, notes_to_dict
from halftruth.cli import words
from halftruth.cli.render import Block, Cell

if TYPE_CHECKING:
    from halftruth.cli.estimates import Found, Shares
    from halftruth.results._comparison import Comparison
    from halftruth.results._estimate import Evaluation

SCHEMA = 1
NUMBERS = ("naive", "value", "low", "high", "confidence_level", "method")


@dataclass(frozen=True)
class Evaluations:
    """One evaluation, under the empty name, or one for each value of the column ``by``."""

    groups: dict[str, Evaluation]
    by: str | None = None

    @cached_property
    def titled(self) -> dict[str, Evaluation]:
        """By heading; an empty one where nothing is split."""
        return {heading(self.by, group): result for group, result in self.groups.items()}

    def blocks(self) -> list[Block]:
        return [
            Block(
                heading=title,
                above=(result._title(), result._shares()),
                header=result._header,
                lines=list(result._table()),
            )
            for title, result in self.titled.items()
        ]

    def to_dict(self) -> dict[str, Any]:
        results = {group: result.to_dict() for group, result in self.groups.items()}
        return results[""] if self.by is None else {"schema": SCHEMA, "by": self.by, "groups": results}

    def records(self) -> Iterator[Sequence[Cell]]:
        yield [*([] if self.by is None else [self.by]), "metric", *NUMBERS]
        for group, result in self.groups.items():
            for name, row in result.items():
                lead = [] if self.by is None else [group]
                yield [*lead, name, *(getattr(row, column) for column in NUMBERS)]

    def notes(self) -> list[str]:
        return once(
            {title: list(map(words.shell_text, result.all_notes())) for title, result in self.titled.items()}
        )


def heading(by: str | None, group: str) -> str:
    """The name of a group."""
    return "" if by is None else f"{by} = {group}"


def once(notes: Mapping[str, Iterable[str]]) -> list[str]:
    """Every note once, with the groups it is about where it is not about all."""
    about: dict[str, list[str]] = {}
    for title, lines in notes.items():
        for line in dict.fromkeys(lines):
            about.setdefault(line, []).append(title)
    return [
        note if len(titles) == len(notes) else f"{_several(titles)}: {note}" for note, titles in about.items()
    ]


def _several(titles: Sequence[str], shown: int = 3) -> str:
    more = len(titles) - shown
    return ", ".join(titles[:shown]) + (f" and {more} more" if more > 0 else "")


@dataclass(frozen=True)
class Compared:
    """A comparison of two models or more."""

    comparison: Comparison

    def blocks(self) -> list[Block]:
        c = self.comparison
        tables = {pair: c.table(pair) for pair in c}
        return [
            Block(
                heading=f"{a} against {b}" if len(tables) > 1 else "",
                above=(f"{a}: {c.evidence[a]}", f"{b}: {c.evidence[b]}"),
                header=lines[0],
                lines=lines[1:],
                below=(c.verdict,) if i == len(tables) - 1 else (),
            )
            for i, ((a, b), lines) in enumerate(tables.items())
        ]

    def to_dict(self) -> dict[str, Any]:
        return self.comparison.to_dict()

    def records(self) -> Iterator[Sequence[Cell]]:
        numbers = ("value", "low", "high", "confidence_level", "method")
        yield [
            "first",
            "second",
            "metric",
            "first_value",
            "second_value",
            "difference",
            *numbers[1:],
            "flips",
        ]
        for pair, rows in self.comparison.pairs.items():
            for name, row in rows.items():
                flips = ";".join(map(repr, row.flips))
                yield [*pair, name, *row.values, *(getattr(row, number) for number in numbers), flips]

    def notes(self) -> list[str]:
        return list(map(words.shell_text, self.comparison.notes))


@dataclass(frozen=True)
class Priors:
    """What was found of the prior, method by method."""

    found: Found

    def blocks(self) -> list[Block]:
        return [_block(self.found)]

    def to_dict(self) -> dict[str, Any]:
        return {"schema": SCHEMA, **_as_dict(self.found)}

    def records(self) -> Iterator[Sequence[Cell]]:
        numbers = ("value", "low", "high", "upper", "confidence_level")
        yield ["method", "share", *numbers]
        for shares in self.found.shares:
            for name, share in shares.named():
                yield [shares.alpha.method, name, *(getattr(share, number) for number in numbers)]

    def notes(self) -> list[str]:
        return list(map(words.shell_text, _remarks(self.found)))


def _block(found: Found) -> Block:
    from halftruth.results._estimate import figure

    first = found.shares[0]
    level = f"{100 * first.alpha.confidence_level:g}% interval"
    header = ["method", "α", level, "upper", "π", level]
    population = {"all": "all rows", "unlabeled": "the unlabeled"}[found.population]
    legend = (
        f"α: positives among the unlabeled; upper: largest α not refuted; π: positives among {population}"
    )
    if first.purity is not None:
        header += ["ρ", level]
        legend += "; ρ: positives among the known"
    lines = []
    for shares in found.shares:
        cells = [shares.alpha.method]
        for name, share in shares.named():
            cells += [figure(share.value), f"{figure(share.low)} to {figure(share.high)}"]
            cells += [figure(share.upper)] if name == "alpha" else []
        lines.append(tuple(cells))
    scores = "Without the known negatives the scores" if found.identified else "The scores"
    said = f"{scores} alone allow every α from 0 to {figure(found.upper)}."
    return Block(above=(found.evidence, legend), header=tuple(header), lines=lines, below=(said,))


def _as_dict(found: Found) -> dict[str, Any]:
    numbers = ("value", "low", "high", "upper")
    estimates = [
        {
            "method": shares.alpha.method,
            **{name: {n: getattr(share, n) for n in numbers} for name, share in shares.named()},
            "confidence_level": shares.alpha.confidence_level,
            "assumption": shares.alpha.assumption,
            **notes_to_dict(_own_notes(shares)),
        }
        for shares in found.shares
    ]
    return {"evidence": found.evidence, "population": found.population, "estimates": estimates}


def _remarks(found: Found) -> Iterator[Note]:
    """What each method assumes, those together that assume the same; then what else is to be said."""
    about: dict[str, list[str]] = {}
    for shares in found.shares:
        about.setdefault(shares.alpha.assumption, []).append(shares.alpha.method)
    for assumption, methods in about.items():
        verb = "assumes" if len(methods) == 1 else "assume"
        yield Note("assumption", f"{', '.join(methods)} {verb} that {assumption}.")
    for shares in found.shares:
        others = (note for note in _own_notes(shares) if note.kind != "assumption")
        yield from (note.about(shares.alpha.method) for note in others)
    yield from found.notes


def _own_notes(shares: Shares) -> list[Note]:
    return list(dict.fromkeys(note for _, share in shares.named() for note in share.notes))
