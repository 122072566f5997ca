"""How far a result can be relied on: its status and the reason, in words that every format repeats."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from halftruth._errors import Note, NoteKind

__all__ = [
    "OK",
    "ROUNDING",
    "SHOWN",
    "Judged",
    "Standing",
    "gravest",
    "is_possible",
    "reaches",
    "standing_of",
]

ROUNDING = 1e-9  # a value that leaves what is possible by less does so by rounding
SHOWN = 0.0005  # what three decimals do not show
GRAVEST_FIRST: Mapping[NoteKind, str] = {
    "refuted": "refuted",
    "partly_refuted": "partly refuted",
    "not_identified": "not identified",
    "identifiability": "not identified",
}


class Standing(NamedTuple):
    """A status, and the note that says why it is not "ok".

    Of a whole: "ok", "refuted", "partly refuted" (of a range of priors), "not identified" (no prior is
    known, so that a row has no value; or one was estimated where the data leave a range) or "not evaluated".
    Of a row also "impossible" or "undefined".
    """

    status: str = "ok"
    reason: Note = Note("remark", "")

    @property
    def lines(self) -> tuple[Note, ...]:
        """The line that stands above a table; none where all is well."""
        return () if self.status == "ok" else (self.reason.about(self.status.upper()),)

    def to_dict(self) -> dict[str, Any]:
        """For JSON; the reason is None where all is well."""
        return {"status": self.status, "reason": str(self.reason) or None}


OK = Standing()


class Judged:
    """What has a standing: a result, or a row of one."""

    notes: tuple[Note, ...]

    @property
    def standing(self) -> Standing:
        """Its status, and the note that says why."""
        return standing_of(self.notes)

    @property
    def status(self) -> str:
        """How far it can be relied on: "ok", "refuted", "not identified", …; see `Standing`."""
        return self.standing.status

    @property
    def reason(self) -> str:
        """Why the status is not "ok", in a line."""
        return str(self.standing.reason)


def standing_of(notes: Sequence[Note], *, missing: bool = False) -> Standing:
    """The gravest that the notes say; what no such data decide matters only where a value is ``missing``."""
    for kind, status in GRAVEST_FIRST.items():
        reason = next((note for note in notes if note.kind == kind), None)
        if reason is not None and (missing or kind != "identifiability"):
            return Standing(status, reason)
    return OK


def gravest(standings: Iterable[Standing]) -> Standing:
    """Of several results the one that matters most."""
    order = [*GRAVEST_FIRST.values(), "not evaluated", "ok"]
    return min(standings, key=lambda standing: order.index(standing.status), default=OK)


def is_possible(value: float, limits: tuple[float, float]) -> bool:
    """Whether a value lies within limits, but for rounding; what is undefined does not leave them."""
    return not (value < limits[0] - ROUNDING or value > limits[1] + ROUNDING)


def reaches(low: float, high: float, limits: tuple[float, float]) -> bool:
    """Whether something of an interval lies within limits, but for rounding."""
    if math.isnan(low) and math.isnan(high):
        return False
    return is_possible(low, (-math.inf, limits[1])) and is_possible(high, (limits[0], math.inf))
