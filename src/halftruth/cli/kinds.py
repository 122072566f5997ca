"""What a row may hold, by the option that says so."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from typing import Any

from halftruth._errors import InputError
from halftruth.files._file_paths import quoted

SCORES = "score"
OWN = {
    "soft": ("labels", "sign", "predictions"),
    "classes": ("counts", "labels", "sign", "predictions"),
    "votes": ("ballots", "labels", "sign", "predictions"),
    "confidence": ("prior",),
    SCORES: (
        "label",
        "zeros",
        "unlabeled",
        "prior",
        "purity",
        "population",
        "within",
        "labeled_sample",
        "calibrator",
        "n_folds",
    ),
}
"""What a row may hold, by the option that names it, and the further options that are about it."""
QUOTING = """A name with a comma stands in double quotes: --classes 'cat,"fish, other"'."""


def kind_of(given: Mapping[str, Any]) -> str:
    """What the rows hold, of all options that were given; refused where two say it, or one is beside it."""
    named = [name for name in OWN if given.get(name) is not None]
    if len(named) > 1:
        raise InputError(
            f"{_option(named[0])} and {_option(named[1])} both say what a row holds. Pass one of "
            f"{', '.join(map(_option, OWN))}."
        )
    kind = named[0] if named else SCORES
    for name, value in given.items():
        if value is not None and name != kind and name not in OWN[kind]:
            owners = [owner for owner, own in OWN.items() if name in own]
            needs = " or ".join(map(_option, owners))
            remedy = f", got {_option(kind)}. Leave it out" if named else ". Pass that too, or leave it out"
            raise InputError(f"{_option(name)} goes with {needs}{remedy}.")
    return kind


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def class_columns(texts: Sequence[str] | None) -> list[str] | None:
    """Columns from comma-separated lists; a name with a comma stands in double quotes, as in CSV."""
    if texts is None:
        return None
    found = [name.strip() for line in csv.reader(texts, skipinitialspace=True) for name in line]
    named = [name for name in found if name]
    if len(named) < 2 or len(set(named)) < len(named):
        remedy = "The probability of one class alone is --soft." if len(named) < 2 else QUOTING
        raise InputError(
            f"--classes must name at least two columns, and none twice, got {', '.join(map(quoted, named))}. "
            f"{remedy}"
        )
    return named


def on_commas(named: Sequence[str], there: Sequence[str]) -> str:
    """That a name with a comma is quoted, where such a column was taken for several."""
    pieces = {own: [piece.strip() for piece in own.split(",")] for own in there if "," in own}
    taken = [
        own
        for own, parts in pieces.items()
        if any(list(named[k : k + len(parts)]) == parts for k in range(len(named)))
    ]
    return f" Is {quoted(taken[0])} one class? {QUOTING}" if taken else ""
