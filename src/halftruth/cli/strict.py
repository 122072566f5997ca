"""`--strict`: numbers that are refuted or missing are shown, and the command exits with 3."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from halftruth._errors import Note, is_refuted
from halftruth.cli import status, streams
from halftruth.cli.groups import Failed, Unevaluated

if TYPE_CHECKING:
    from halftruth.cli.estimates import Found
    from halftruth.results._comparison import Comparison
    from halftruth.results._estimate import Evaluation

Objections = Iterator[str]
REFUTED = "the data refute what was given"


def judge(objections: Mapping[str, Iterable[str]]) -> int:
    """Name on stderr what is wrong with each result, by its heading, and give the exit status."""
    code = status.FINE
    for title, found in objections.items():
        for objection in found:
            code = status.UNIDENTIFIED
            streams.say(f"Not identifiable: {f'{title}: ' if title else ''}{objection} (--strict).")
    return code


def evaluation(result: Evaluation) -> Objections:
    """What is wrong with an evaluation."""
    if isinstance(result, Unevaluated):
        yield "not evaluated"
        return
    yield from notes(result.notes)
    yield from numbers({name: row.value for name, row in result.items()})


def comparison(result: Comparison | Failed) -> Objections:
    """What is wrong with a comparison."""
    if isinstance(result, Failed):
        yield "not evaluated"
        return
    yield from notes(result.notes)
    for (a, b), rows in result.pairs.items():
        yield from numbers({f"{name} of {a} minus {b}": row.value for name, row in rows.items()})


def prior(result: Found | Failed) -> Objections:
    """What is wrong with estimates of the prior: that the scores refute them, or the sample they rest on."""
    if isinstance(result, Failed):
        yield "not evaluated"
        return
    for shares in result.shares:
        found = shares.alpha
        yield from notes(found.notes)
        if found.upper is not None and found.value > found.upper:
            yield (
                f"{found.method} puts α at {found.value:.4g}, and the scores refute more than "
                f"{found.upper:.4g}"
            )


def notes(said: Iterable[Note]) -> Objections:
    """That a note says that something is refuted."""
    if is_refuted(said):
        yield REFUTED


def numbers(named: Mapping[str, float | None]) -> Objections:
    """Which numbers are undefined; what was never asked for is None."""
    missing = [name for name, value in named.items() if value is not None and math.isnan(value)]
    if missing:
        yield f"no value of {', '.join(missing)}"
