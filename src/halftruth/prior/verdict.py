"""The verdict on SCAR: one check for each of its implications, judged together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from halftruth._errors import Note, bare, notes_to_dict
from halftruth.results._estimate import figure, json_number

SCAR = "SCAR"
UNSEEN = Note(
    "identifiability",
    "Every check looks at scores alone: selection by features that leaves their law as it is stays unseen.",
)
LITTLE = Note(
    "identifiability",
    "Without a prior, known negatives, sources or a labeled sample nothing can be refuted: unlabeled scores "
    "fit any positives if few enough of them are positive.",
)


@dataclass(frozen=True, kw_only=True)
class Check:
    """One implication and what the data say to it.

    ``p_value`` is None where the check could not be made; ``concerns`` names what cannot all be true if it is
    refuted.
    """

    name: str
    p_value: float | None
    refuted: bool = False
    concerns: tuple[str, ...] = (SCAR,)
    says: str = ""


@dataclass(frozen=True, kw_only=True)
class ScarTest:
    """What refutes SCAR, and what does not.

    Attributes
    ----------
    refuted : bool
        Whether a check refutes SCAR, alone or together with what it also rests on.
    p_value : float
        The least of these checks' p-values times their number; 1 where none could be made.
    checks : tuple of Check
        Which of them refute was found by Holm's method, so that all hold at the confidence level.
    confidence_level : float
    notes : tuple of str
        What the checks cannot see.

    Notes
    -----
    At the level 0.95 what is true was refuted in 0 to 5.9% of 1,000 simulations, over all checks, with and
    without ties (`tests/truth/test_scar.py`). With 200 known positives, what is false was found in these
    shares of them: labels likelier for higher scores, by the true prior .98, by 200 known negatives .51, by
    a labeled random sample of 300 .99; labels likelier for middling scores, by the prior .90; a second
    source of 200 shifted by .3 standard deviations .77, 1.3 times as wide .75, a tenth of it from elsewhere
    .78.
    """

    checks: tuple[Check, ...]
    confidence_level: float
    notes: tuple[Note, ...] = ()

    @property
    def refuted(self) -> bool:
        return any(check.refuted for check in self.checks if SCAR in check.concerns)

    @property
    def p_value(self) -> float:
        made = [c.p_value for c in self.checks if SCAR in c.concerns and c.p_value is not None]
        return min(1.0, len(made) * min(made, default=1.0)) if made else 1.0

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        head = {"refuted": self.refuted, "p_value": self.p_value, "confidence_level": self.confidence_level}
        rows = [
            asdict(c) | {"p_value": json_number(c.p_value), "concerns": list(c.concerns)} for c in self.checks
        ]
        return head | {"checks": rows, **notes_to_dict(self.notes)}

    def __str__(self) -> str:
        made = any(SCAR in c.concerns and c.p_value is not None for c in self.checks)
        verdict = f"is {'' if self.refuted else 'not '}refuted" if made else "could not be tested"
        lines = [f"SCAR {verdict} (p = {figure(self.p_value)}, confidence {self.confidence_level:g})", ""]
        width = max(len(check.name) for check in self.checks)
        lines += [f"{'check':<{width}}  p-value", "-" * (width + 9)]
        lines += [f"{c.name:<{width}}  {figure(c.p_value):>7}  {c.says}" for c in self.checks]
        return "\n".join([*lines, "", *(f"Note: {note}" for note in self.notes)])


def judged_by_holm(found: Sequence[tuple[Check, str]], error: float) -> tuple[Check, ...]:
    """Holm's method over the checks of SCAR. What tests the prior alone is judged alone."""
    p = [c.p_value for c, _ in found if c.p_value is not None and SCAR in c.concerns]
    passed = [k for k, value in enumerate(sorted(p)) if value * (len(p) - k) > error]
    highest = sorted(p)[passed[0]] if passed else 1.0

    def judged(check: Check, refuted: str) -> Check:
        p_value = 1.0 if check.p_value is None else check.p_value
        bad = p_value < highest if SCAR in check.concerns else p_value <= error
        return replace(check, refuted=bad, says=refuted if bad else check.says)

    return tuple(judged(*pair) for pair in found)


def notes_on(judged: tuple[Check, ...], n: int, error: float) -> Iterator[Note]:
    """What a reader should know of the checks."""
    made = [c for c in judged if c.p_value is not None and SCAR in c.concerns]
    yield UNSEEN
    if not made:
        yield LITTLE
    elif not any(check.refuted for check in made):
        yield Note("identifiability", "What is not refuted need not be true: few rows refute little.")
    if len(made) > error * (n + 1) and any(check.name != "prior" for check in made):
        yield Note(
            "interval",
            f"Only {n} resamples: they cannot refute at this level. Pass {bare('n_resamples')} of 2000 or "
            "more.",
        )
    if any(check.refuted and SCAR not in check.concerns for check in judged):
        text = "The labeled sample refutes the prior: what is refuted jointly with it may be its fault alone."
        yield Note("contradiction", text)
