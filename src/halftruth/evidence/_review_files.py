"""Files of `plan-review`, as they come back from people and their spreadsheets."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from halftruth._checks import Vector
from halftruth._errors import InputError, arg

__all__ = ["ReviewFile", "check_rounds", "code_of", "labeled_rounds", "named", "refuse_missing"]

HEAD = re.compile(
    r"# halftruth review plan 1; *scores ([0-9a-f]{16}); *round (\d+); *rows (\d+) of (\d+) as ([0-9a-f]{8})"
    r"(?:; *metrics ([^;]+))?(?:; *threshold (-?inf|[-+.\de]+))?"  # older files have none
)
AROUND = '",;\t '  # what spreadsheets put around the first line
NEEDED = ("row", "score", "probability", "stratum", "label")
LABELS = {"": np.nan, "nan": np.nan, "true": 1.0, "false": 0.0}  # besides 1 and 0
SAME_NUMBER = 1e-4  # spreadsheets write fewer digits


@dataclass(frozen=True, eq=False)
class ReviewFile:
    """Rows that were to be reviewed, as they came back; what `Reviewed.from_plan` asks of a plan."""

    path: str
    fingerprint: str
    round: int
    left: int
    rows: Any
    score: Vector
    chance: Vector
    labels: Vector
    metrics: tuple[str, ...] = ()
    """For which it was planned."""
    threshold: float | None = None

    @classmethod
    def read(cls, path: str) -> ReviewFile:
        """A file that `plan-review` wrote, with its labels filled in."""
        head, rest = _head(path)
        if head is None:
            raise InputError(
                f"{path} is no file of `halftruth plan-review`: its first line must stay as it was written. "
                "Fill in the column label, and leave the rest."
            )
        # Where numbers have a decimal comma, spreadsheets part cells by semicolons.
        sign = next((x for x in ",;\t" if x in rest.partition("\n")[0]), ",")
        lines = csv.DictReader(StringIO(rest), delimiter=sign)
        try:
            cells = [line for line in lines if any(line.values())]
        except csv.Error as error:
            raise InputError(f"{path} cannot be read as CSV: {error}.") from error
        missing = [f"column {name}" for name in NEEDED if name not in (lines.fieldnames or ())]
        if missing or not cells:
            raise InputError(
                f"{path} has no {[*missing, 'row'][0]}. Fill in the column label, and leave the rest."
            )
        point = "." if sign == "," else ","
        number, score, chance, stratum, labels = (
            np.asarray([_number(path, line, name, point) for line in cells]) for name in NEEDED
        )
        rows = number.astype(np.intp)
        if len(set(rows.tolist())) < len(rows):
            values, counts = np.unique(rows, return_counts=True)
            raise InputError(f"{path} has row {values[counts > 1][0]} twice. Keep one line for each row.")
        if not ((chance > 0) & (chance <= 1)).all():
            raise InputError(f"{path} has a probability outside (0, 1]. Leave that column as it was written.")
        _refuse_changed(path, rows, (int(head[3]), head[5]), chance, stratum)
        purpose = tuple(map(unquote, (head[6] or "").split())), None if head[7] is None else float(head[7])
        return cls(path, head[1], int(head[2]), int(head[4]), rows, score, chance, labels, *purpose)

    @classmethod
    def check_target(cls, path: str) -> None:
        """Refuse to write a plan over labels that somebody has filled in, or over what is no plan."""
        if not Path(path).is_file():
            return
        if _head(path)[0] is None:
            raise InputError(f"{path} is there, and is no plan as it was written. Name another file.")
        if not np.isnan(cls.read(path).labels).all():
            raise InputError(f"{path} holds labels of reviews, which would be lost. Name another file.")

    def refuse_missing(self, known: NDArray[np.bool_] | None, bounds: str = "") -> None:
        """Refuse rows to review that have no label, and are not ``known`` to be positive."""
        refuse_missing(
            self, self.labels if known is None else np.where(known[self.rows], 1, self.labels), bounds
        )


def refuse_missing(plan: Any, said: Vector, bounds: str = "") -> None:
    """Refuse rows to review without a label; ``bounds`` is what leaves open what they are."""
    none = np.isnan(said)
    if none.any():
        remedy = f" With {bounds} intervals cover all that they could be." if bounds else ""
        raise InputError(
            f"{named(plan)}: the label is missing for {none.sum()} of the {len(none)} rows to review, the "
            f"first is row {plan.rows[np.argmax(none)]}. Label them all: those that were left out are seldom "
            f"a random part, and each stands for many other rows.{remedy}"
        )


def named(plan: Any) -> str:
    return getattr(plan, "path", f"The plan of round {plan.round}")


def code_of(rows: Any) -> str:
    """Of the rows to review, in any order: a file that has others has another."""
    return f"{crc32(np.sort(np.asarray(rows, dtype='<i8')).data):08x}"


def _refuse_changed(path: str, rows: Any, planned: tuple[int, str], chance: Vector, stratum: Vector) -> None:
    """Refuse other rows than were planned, and chances that differ within a stratum: it has one."""
    n, code = planned
    if len(rows) != n or code_of(rows) != code:
        raise InputError(
            f"{path} was written with {n} rows to review, and now has {len(rows)}, or others. Fill in the "
            "column label, and leave the rest: who was reviewed besides goes into a plan of its own."
        )
    order = np.lexsort((chance, stratum))
    same = stratum[order][1:] == stratum[order][:-1]
    gap = np.diff(chance[order]) > SAME_NUMBER * chance[order][1:]
    if (same & gap).any():
        row = rows[order][1:][same & gap][0]
        raise InputError(
            f"{path} has chances that were changed, near row {row}. Leave the column probability as it was "
            "written."
        )


def check_rounds(rounds: Iterable[Any], scores: Mapping[str, Vector], *, elsewhere: bool = True) -> Any:
    """Which rows the rounds reviewed; refused where one is for none of the ``scores``, by fingerprint.

    These may be named ``elsewhere`` than the scores that are evaluated.
    """
    done = np.zeros(len(next(iter(scores.values()))), dtype=bool)
    for each in sorted(rounds, key=lambda x: int(x.round)):
        if each.fingerprint not in scores:
            besides = f" To judge another model, name them by {arg('planned_by')}, or compare the two."
            raise InputError(
                f"{named(each)} was planned for other scores than those of the {len(done)} rows"
                f"{_difference(each, next(iter(scores.values())))}. Pass the scores for which it was "
                f"planned, with its rows in their order.{besides if elsewhere else ''}"
            )
        again = each.rows[done[each.rows]]
        if len(again):
            raise InputError(
                f"{named(each)} has {len(again)} row(s) that another round has, such as {again[0]}. Name "
                f"each round once, and plan a later one with {arg('reviewed')}, so that it has other rows."
            )
        if isinstance(each, ReviewFile):
            score = scores[each.fingerprint]
            for k in _other_scores(each, score)[:1]:
                raise InputError(
                    f"{each.path} has the score {each.score[k]:g} at row {each.rows[k]}, which scores "
                    f"{score[each.rows[k]]:g}. Sort all of its columns together, or none."
                )
        done[each.rows] = True
    return done


def _other_scores(plan: ReviewFile, score: Vector) -> NDArray[np.intp]:
    """Where in a file the scores are others, the first row first."""
    order = np.argsort(plan.rows)
    same = np.isclose(score[plan.rows], plan.score, rtol=SAME_NUMBER, atol=SAME_NUMBER)
    return np.asarray(order[~same[order]])


def _difference(plan: Any, score: Vector) -> str:
    """How the rows that a file was planned for differ from those of the ``score``."""
    if not isinstance(plan, ReviewFile):
        return ""
    most = max(plan.left, int(plan.rows.max()) + 1)
    if most > len(score):
        return f": it was planned for {most} or more"
    other = _other_scores(plan, score)
    if not len(other):
        return ": its own rows score as they did, so that others were changed, added or left out"
    row, planned = plan.rows[other[0]], plan.score[other[0]]
    return (
        f": {len(other)} of its {len(plan.rows)} score otherwise, the first is row {row}, which scored "
        f"{planned:g} then and {score[row]:g} now"
    )


def labeled_rounds(plan: Any, labels: Any, scores: Mapping[str, Vector]) -> list[tuple[Any, Any]]:
    """Each plan with the labels of its rows, round after round; files that are read here have their own."""
    several = isinstance(plan, (list, tuple))
    plans: list[Any] = list(plan) if several else [plan]
    plans = [ReviewFile.read(str(x)) if isinstance(x, (str, Path)) else x for x in plans]
    told = list(labels) if several and labels is not None else [labels] * len(plans)
    if not plans or not all(hasattr(x, "left") for x in plans):
        raise InputError(
            argument="plan", must="be a ReviewPlan, a path of a file, or a list of these", got=repr(plan)
        )
    if len(plans) != len(told):
        raise InputError(
            f"{arg('labels')} must have one array for each plan, got {len(told)} for {len(plans)}."
        )
    if labels is None:
        told = [getattr(x, "labels", None) for x in plans]
    if any(x is None for x in told):
        raise InputError(
            f"{arg('labels')} must be given: 1 or 0 for each of the plan's rows, in their order. Files with "
            "labels are passed by their path."
        )
    check_rounds(plans, scores)
    return sorted(zip(plans, told, strict=True), key=lambda x: int(x[0].round))


def _head(path: str) -> tuple[re.Match[str] | None, str]:
    """What the first line says, and the lines below it."""
    try:
        first, _, rest = Path(path).read_text(encoding="utf-8-sig").partition("\n")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is no text in UTF-8. Save it as CSV in UTF-8.") from error
    return HEAD.fullmatch(first.strip(AROUND)), rest


def _number(path: str, line: Mapping[str, Any], name: str, point: str) -> float:
    """A cell as a number; a label is 1, 0, TRUE, FALSE or missing."""
    text = (line[name] or "").strip()
    if name == "label" and text.lower() in LABELS:
        return LABELS[text.lower()]
    try:
        number = float(text.replace(point, "."))
    except ValueError:
        number = np.nan
    if name == "label" and number not in (0, 1):
        raise InputError(
            f"{path} has {text!r} as label of row {line['row']}. A label is 1 or TRUE for positive, 0 or "
            "FALSE for negative."
        )
    if not np.isfinite(number) or (name == "row" and not number.is_integer()):
        raise InputError(f"{path} has {text!r} as {name}. Leave that column as it was written.")
    return number
