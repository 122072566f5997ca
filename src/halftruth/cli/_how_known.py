"""How the positives became known: `--selection`, `--propensity`, and the question where neither was given."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from halftruth._checks import Vector
from halftruth._errors import InputError
from halftruth.cli._terminal import say
from halftruth.evidence._selection import Selection, selection_of
from halftruth.files._number_columns import share_of
from halftruth.table._score_table import NEGATIVE, POSITIVE, UNLABELED, ScoreTable
from halftruth.table._strata import PROPENSITY, StratumRows

__all__ = [
    "NO_PROPENSITIES", "Propensities", "ask_how_known", "has_propensities", "parse_propensity",
    "parse_selection",
]  # fmt: skip

QUESTION = (
    "How did the positives become known? As a random sample: --selection 1 says so. By this score: "
    "--selection rising:1.5. By another one, or by some sources: --selection 1.5. At known chances: "
    "--propensity COLUMN."
)
OR_REVIEWED = (
    " If somebody chose rows and said 1 or 0 of each, these are reviews: halftruth evaluate --review-chance, "
    "with the chance that each row had."
)
RANGES = "'0:0.1,0.5:0.3': 0.1 from score 0 up to 0.5, 0.3 from there"


def parse_selection(text: str | None) -> Selection | None:
    """What is granted of how the positives became known; None where nothing was said of it."""
    if text is None:
        return None
    direction, colon, number = text.rpartition(":")
    try:
        gamma = float(number)
    except ValueError:
        gamma = np.nan
    if np.isnan(gamma) or (colon and direction not in ("rising", "falling")):
        point = re.sub(r"(?<=\d),(?=\d)", ".", text)
        raise InputError(
            f"--selection must be Γ, a number from 1 such as 1.5, or a direction and Γ, rising:1.5 or "
            f"falling:1.5; got {text!r}.{f' Write {point}.' if point != text else ''}"
        )
    return selection_of((direction, gamma) if colon else gamma)


# --propensity COLUMN, or score ranges ----------------------------------------------------------------


@dataclass(frozen=True)
class Propensities:
    """The chance that a positive is known: a column of the file, or one for each range of scores."""

    column: str | None = None
    ranges: tuple[tuple[float, float], ...] = ()
    """The score at which each begins, ascending, and the propensity from there."""

    def of_ranges(self, table: ScoreTable) -> ScoreTable:
        """The table, its positives with the propensities of their ranges; as it is, where there are none."""
        known = table.strata.get(POSITIVE)
        if not self.ranges or known is None:
            return table
        if not isinstance(known, StratumRows):
            raise InputError(
                "--propensity needs the positives row by row, and this table is a histogram. Pass the rows."
            )
        if known.meaning is not None:
            raise InputError("The rows have propensities already. Leave --propensity out.")
        named = replace(known, value=1 / self.at(known.score), meaning=PROPENSITY)
        return ScoreTable({**table.strata, POSITIVE: named})

    def at(self, score: Vector, option: str = "--propensity", what: str = "positive(s)") -> Vector:
        """The chance at each score, by its range."""
        starts, chances = np.asarray(self.ranges).T
        place = np.searchsorted(starts, score, side="right") - 1
        below = int((place < 0).sum())
        if below:
            raise InputError(
                f"{option} begins at score {starts[0]:g}, and {below} {what} score less: the lowest "
                f"{score.min():g}. Begin there, or at -inf."
            )
        return np.asarray(chances[place])


NO_PROPENSITIES = Propensities()


def parse_propensity(text: str | None, option: str = "--propensity") -> Propensities:
    """A column by its name, also in double quotes; or ranges, which begin with a number and a colon.

    The chance of a review may also be one number for all rows, and 0.
    """
    review = option != "--propensity"
    if text is None:
        return NO_PROPENSITIES
    if text.startswith('"'):
        return Propensities(column=next(csv.reader([text]))[0])
    if not text:
        raise InputError(f"{option} must name a column, or ranges of scores such as {RANGES}.")
    if review and (share := share_of(text)):
        raise InputError(f"{option} must be a column, a number or ranges, got {text!r}. Write {share}.")
    ranges = f"-inf:{text}" if review and _is_number(text) else text
    if not _is_number(ranges.partition(":")[0]) or ":" not in ranges:
        return Propensities(column=text)
    try:
        starts, chances = np.array([list(map(float, item.split(":"))) for item in ranges.split(",")]).T
        right = not np.isnan(starts).any() and (starts[1:] > starts[:-1]).all()
    except ValueError:
        right, chances = False, np.empty(0)
    if not right or not ((chances > 0) | (review & (chances == 0))).all() or not (chances <= 1).all():
        raise InputError(
            f"{option} by ranges must have ascending scores, each with a "
            f"{'chance in [0, 1]' if review else 'propensity in (0, 1]'}, like "
            f"{RANGES}; got {text!r}. A column of such a name stands in double quotes."
        )
    return Propensities(ranges=tuple(zip(starts.tolist(), chances.tolist(), strict=True)))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def has_propensities(table: ScoreTable) -> bool:
    """Whether positives come with the chance at which each became known."""
    known = table.strata.get(POSITIVE)
    return known is not None and known.meaning == PROPENSITY


# Asked early -----------------------------------------------------------------------------------------


def ask_how_known(tables: Iterable[ScoreTable], selection: str | None) -> None:
    """Ask on stderr, once, where positives among unlabeled rows were taken for a random sample unsaid."""
    unsaid = [
        table
        for table in tables
        if {POSITIVE, UNLABELED} <= set(table.strata) and not (has_propensities(table) or table.reviewed)
    ]
    if selection is None and unsaid:
        say(f"Note: {QUESTION}{OR_REVIEWED if any(NEGATIVE in x.strata for x in unsaid) else ''}")
