"""What is known of a share (the prior, the purity): a number, a range, an estimate, or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, Note, arg, as_notes, call, notes_to_dict, pair
from halftruth.measure._score_measure import Number
from halftruth.results._standing import Judged

__all__ = ["ESTIMATE", "Belief", "Curve", "PriorEstimate", "Share", "belief"]

ESTIMATE = "estimate"  # the word with which a user asks that a share be estimated from the scores


@dataclass(frozen=True, kw_only=True, eq=False)
class Curve:
    """What an estimator looked at to choose its value: y against x, and the x it chose."""

    x: Vector
    y: Vector
    x_label: str
    y_label: str
    chosen: float


@dataclass(frozen=True, kw_only=True, eq=False)
class PriorEstimate(Judged):
    """An estimate of a class prior with its uncertainty.

    ``value`` is α, the share of positives in the unlabeled sample, unless ``population`` is "all";
    evidence of the other population converts it replicate by replicate (π n = ρ n_P + α n_U).
    Given to evidence as ``prior=`` (or as ``purity=``), its replicates are carried into every interval.

    Parameters
    ----------
    value : float
    replicates : array, optional
        Draws that show the estimate's error, e.g. its bootstrap replicates. Without them
        (``low``, ``high``) is used as a range that nothing narrows.
    low, high : float, optional
        Taken from the replicates (2.5% and 97.5% at the level 0.95) where not given.
    upper : float, optional
        The largest prior that the data do not refute: a one-sided bound, which the two-sided interval may
        pass by a little.
    method, assumption : str
        How it was estimated and what that rests on.
    population : {"unlabeled", "all"}
    confidence_level : float
        Of (``low``, ``high``) and of ``upper``.
    notes : tuple of str
        What a reader should know.
    curve : Curve, optional
        What the estimator looked at to choose its value; `halftruth.figures.prior` draws it.

    Notes
    -----
    ``status`` is "not identified" where the data leave a range and only ``assumption`` says where in it the
    value and (``low``, ``high``) lie, "refuted" where the data refute it, else "ok"; ``reason`` says why.

    Examples
    --------
    >>> import halftruth as ht
    >>> ht.PriorEstimate(value=0.3, replicates=[0.28, 0.30, 0.31, 0.33])
    PriorEstimate(0.3, low=0.28, high=0.33, population='unlabeled')
    """

    value: float
    replicates: Vector | Sequence[float] | None = None
    low: float | None = None
    high: float | None = None
    upper: float | None = None
    method: str = "given"
    assumption: str = ""
    population: str = "unlabeled"
    confidence_level: float = 0.95
    notes: tuple[Note, ...] = ()
    curve: Curve | None = None

    def __post_init__(self) -> None:
        _checks.number(self.value, "value")
        _checks.inside(self.value, "value", 0.0, 1.0, closed="both", advice="Pass a share of positives.")
        _checks.choice(self.population, "population", ("unlabeled", "all"))
        object.__setattr__(self, "notes", as_notes(self.notes))
        if self.replicates is not None:
            replicates = _checks.probabilities(self.replicates, "replicates")
            if len(replicates) == 0:
                raise InputError(f"{arg('replicates')} is empty. Leave it out, or pass draws.")
            replicates.flags.writeable = False
            object.__setattr__(self, "replicates", replicates)
            tail = (1 - _checks.confidence_level(self.confidence_level)) / 2
            low, high = np.quantile(replicates, [tail, 1 - tail], method="closest_observation")
            object.__setattr__(self, "low", float(low) if self.low is None else self.low)
            object.__setattr__(self, "high", float(high) if self.high is None else self.high)
        both = f"{arg('low')} and {arg('high')}"
        if self.low is None or self.high is None:
            raise InputError(
                f"A PriorEstimate needs {arg('replicates')}, or both {both}. Pass a plain number as the "
                "prior if it has no error."
            )
        ends = [_checks.number(x, name) for x, name in ((self.low, "low"), (self.high, "high"))]
        if not 0 <= ends[0] <= ends[1] <= 1:
            got = f"{self.low!r} and {self.high!r}"
            raise InputError(f"{both} must satisfy 0 <= low <= high <= 1, got {got}.")

    def __str__(self) -> str:
        symbol, where = ("α", "the unlabeled") if self.population == "unlabeled" else ("π", "all rows")
        interval, level = f"{self.low:.4g} to {self.high:.4g}", f"confidence {self.confidence_level:g}"
        lines = [*self.standing.lines, f"{symbol} = {self.value:.4g}"]
        lines[-1] += "" if self.status == "not identified" else f" ({interval}, {level})"
        lines[-1] += f": share of positives among {where}, by {self.method}"
        if self.status == "not identified":
            lines.append(f"if what it assumes holds: {interval}")
        if self.upper is not None:
            lines.append(f"not refuted: up to {self.upper:.4g} ({level})")
        return "\n".join([*lines, *(f"Note: {note}" for note in self.notes if note != self.reason)])

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, without replicates and curve."""
        names = ("value", "low", "high", "upper", "confidence_level", "method", "assumption", "population")
        numbers = {name: getattr(self, name) for name in names}
        return {**numbers, **self.standing.to_dict(), **notes_to_dict(self.notes)}

    def __repr__(self) -> str:
        return (
            f"PriorEstimate({self.value:.4g}, low={self.low:.4g}, high={self.high:.4g}, "
            f"population={self.population!r}{''.join(f', {line}' for line in self.standing.lines)})"
        )


Share = float | tuple[float, float] | PriorEstimate  # as a user gives it


@dataclass(frozen=True, kw_only=True, eq=False)
class Belief:
    """A share as the user gave it, in one form."""

    value: float | None
    low: float | None = None
    high: float | None = None
    replicates: Vector | None = None
    population: str | None = None  # whose share: "unlabeled" or "all"; None: the population of the evidence
    estimate: PriorEstimate | None = None  # where it came from, if it was estimated

    def equals(self, other: Belief) -> bool:
        """Whether both say the same."""
        names = ("value", "low", "high", "population")
        same = all(getattr(self, name) == getattr(other, name) for name in names)
        return same and np.array_equal(self.replicates, other.replicates)  # type: ignore[arg-type]

    def as_given(self) -> PriorEstimate | tuple[float, float] | float | None:
        """What the user passed for it."""
        if self.estimate is not None:
            return self.estimate
        return self.value if self.low is None or self.high is None else (self.low, self.high)

    @property
    def is_range(self) -> bool:
        """Whether only a range is known, so that results are unions over it."""
        return len(self.grid(2)) > 1

    def grid(self, n: int) -> tuple[float | None, ...]:
        """``n`` values over the range, or the one value."""
        if self.low is None or self.high is None or self.low == self.high or self.replicates is not None:
            return (self.value,)
        return tuple(float(x) for x in np.linspace(self.low, self.high, n))

    def ends(self) -> list[float]:
        """Both ends of what is believed, an estimate's interval too; twice a number; nothing if unknown."""
        if self.low is not None and self.high is not None:
            return [self.low, self.high]
        return [] if self.value is None else [self.value, self.value]

    @property
    def span(self) -> tuple[float, float]:
        """The same ends of a share of which something is known."""
        low, high = self.ends()
        return low, high

    def draw(self, chosen: Vector | None, n: int, rng: np.random.Generator) -> Number:
        """``n`` values, one a resample: the number itself, or replicates (at the ranks ``chosen``)."""
        if self.replicates is None:
            return self.value
        ranks = rng.random(n) if chosen is None else chosen
        return self.replicates[np.asarray(ranks * len(self.replicates), dtype=np.intp)]


def belief(share: object, name: str, *, closed_at_one: bool = False) -> Belief:
    """Read a `prior` or `purity` argument."""
    if share is None:
        return Belief(value=None)
    if isinstance(share, PriorEstimate):
        if name == "prior":
            _checks.share(share.value, name)
        numbers = {x: getattr(share, x) for x in ("value", "low", "high", "replicates")}
        population = share.population if name == "prior" else None
        return Belief(**numbers, population=population, estimate=share)
    a_pair = call("a pair (low, high)", "range")
    if isinstance(share, str):
        raise InputError(
            f"{arg(name)}={share!r} is not understood here. Pass a number, {a_pair} or a PriorEstimate, "
            f"e.g. of estimate_prior; PositiveUnlabeled also takes {ESTIMATE!r}."
        )
    if isinstance(share, (tuple, list)):
        if len(share) != 2:
            raise InputError(f"{arg(name)} as a range must be {a_pair}, got {share!r}.")
        low, high = (_checks.share(end, name, closed_at_one=closed_at_one) for end in share)
        if low > high:
            got = pair(*share) if isinstance(share, tuple) else repr(share)
            raise InputError(argument=name, must=f"be {a_pair} with low <= high", got=got)
        return Belief(value=(low + high) / 2, low=low, high=high)
    return Belief(value=_checks.share(share, name, closed_at_one=closed_at_one))
