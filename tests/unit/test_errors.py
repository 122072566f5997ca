"""Errors and notes: their parts, and references that each reader sees in words of their own."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from halftruth import _checks
from halftruth._errors import (
    InputError,
    MissingColumn,
    MissingDependency,
    Note,
    Reference,
    arg,
    as_notes,
    bare,
    call,
    is_refuted,
    note_kinds,
    pair,
    render,
)


@pytest.mark.parametrize(
    ("text", "python"),
    [
        (f"{arg('prior')} must lie in (0, 1).", "`prior` must lie in (0, 1)."),
        (f"Pass {arg('prior', 0.3)}.", "Pass prior=0.3."),
        (f"Pass {arg('prior', ...)}, the share.", "Pass prior=…, the share."),
        (f"Pass {arg('prior', 'estimate')}.", 'Pass prior="estimate".'),
        (f"Pass {bare('n_resamples')} of 1000.", "Pass n_resamples of 1000."),
        (f"got {pair(0.5, 0.2)}", "got (0.5, 0.2)"),
        (f"Pass {call('SoftLabeled(q)', 'soft')}.", "Pass SoftLabeled(q)."),
        ("Column 'prior=1' is `there`.", "Column 'prior=1' is `there`."),
    ],
)
def test_references_in_python(text: str, python: str) -> None:
    assert render(text) == python
    assert str(InputError(text)) == str(Note("remark", text)) == python


def test_references_in_other_words() -> None:
    said: list[Reference] = []

    def words(reference: Reference) -> str:
        said.append(reference)
        return "X"

    text = f"{arg('prior')} {arg('prior', 0.3)} {pair(1, 2)} {call('f(x)', 'votes')} `prior`"
    assert render(text, words) == "X X X X `prior`"
    assert said == [
        Reference("argument", "prior"),
        Reference("setting", "prior", "0.3"),
        Reference("pair", "1", "2"),
        Reference("call", "f(x)", "votes"),
    ]


def test_parts_of_an_error() -> None:
    with pytest.raises(InputError) as caught:
        _checks.share(1.2, "purity")
    error = caught.value
    assert (error.argument, error.must, error.got) == ("purity", "lie in (0, 1)", "1.2")
    assert str(error) == f"`purity` must lie in (0, 1), got 1.2. {error.remedy}"
    assert str(error.advised("Repair it.")) == "`purity` must lie in (0, 1), got 1.2. Repair it."
    assert str(error.about("a.csv")) == f"a.csv: {error}"
    assert str(error.also("Or not.")) == f"{error} Or not."
    assert error.about("a.csv").argument == "purity"


def test_what_an_error_holds_survives_a_pickle() -> None:
    error = MissingColumn(f"No column for {arg('score')}.", remedy="Name another.")
    error.column = "p"
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.source, again.column) == (str(error), error.source, "p")
    assert isinstance(MissingDependency(f"{arg('engine')} needs Ibis"), ImportError)


def test_no_mark_reaches_a_reader() -> None:
    golden = Path(__file__).parents[1] / "golden" / "evaluations.tsv"
    marks = {*arg("prior")} - {*"argument prior"}
    assert marks
    assert not marks & {*golden.read_text(encoding="utf-8")}


def test_a_note_is_its_text_and_a_kind() -> None:
    note = Note("refuted", f"The data refute {arg('prior', 0.3)}.")
    assert note == "The data refute prior=0.3."
    assert pickle.loads(pickle.dumps(note)).kind == "refuted"
    assert note.about("a model").source == f"a model: {note.source}"
    stored = as_notes([str(note), "of old", "of tomorrow"], [*note_kinds([note]), "", "unheard of"])
    assert note_kinds(stored) == ["refuted", "remark", "remark"]
    assert is_refuted(stored)
    assert not is_refuted(stored[1:])
