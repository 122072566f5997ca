"""What votes identify of a limit: its range over all laws of q that explain them, or that they do not refute.

A functional of the law is partially identified: m votes a case fix m moments. Its identified set is the range
over all laws with those moments; its confidence set the range over all laws whose likelihood is high enough,
as in a profile likelihood. Both sets of laws are convex, so that means are found exactly.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np

from halftruth._checks import Vector
from halftruth._errors import Note
from halftruth.evidence._soft_labeled import SoftRows
from halftruth.limits._row_means import Ends, LimitEstimate, Mean, cut
from halftruth.limits._vote_law import LOSS, PLACES, Q, Votes, counted, difficulty, fitted_law, one_thread
from halftruth.measure._score_measure import Number, ScoreMeasure

__all__ = ["ASSUMPTION", "LIKELIHOOD", "FittedVotes"]

CLOSE = 0.01  # how far below its maximum a log likelihood may be taken for the maximum
PUSH = PLACES / CLOSE  # weight of the likelihood against the barrier Σ log law, which costs `CLOSE` at most
FASTER = 20.0  # factor by which that weight grows from one search to the next
MOST_STEPS = 80
MOST_TRIALS = 20
MOST_TRADE = 1e9  # beyond this the function is at its largest already
ENOUGH = 0.05  # relative error of the drop at an end, whose own error is of second order in it
MOST_CLIMBS = 12
STEP = 1e-3  # mass moved to a place, for the slope by differences
TINY = 1e-250  # least mass of a place, so that its logarithm stays finite
ROUNDING = 1e-9
GAIN = 1e-6  # a step that climbs less is the last
PARTS = np.asarray([1.0, 0.5, 0.25, 0.1])[:, None]  # of the way to the farthest law that are tried
# Functions whose largest and smallest means lie at corners of a set of laws.
CORNERS = (LOSS, Q, Q**2, (1 - Q) ** 2, np.where(Q >= 0.5, 1.0, 0.0), Q**8, (1 - Q) ** 8)
NOTHING = 1e-15  # a mass that no sum with another shows

Functional = Callable[[ScoreMeasure], Number]


class Laws(ABC):
    """A convex set of laws of q."""

    @abstractmethod
    def farthest(self, function: Vector) -> tuple[float, Vector]:
        """The largest mean of ``function``, and a law that has it."""

    @cached_property
    def corners(self) -> list[Vector]:
        """Laws far apart in the set."""
        ends = [self.farthest(sign * function)[1] for function in CORNERS for sign in (-1.0, 1.0)]
        return [*self.inside, *ends]

    inside: tuple[Vector, ...] = ()
    """Laws inside it that are worth a start too."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Explaining(Laws):
    """All laws that give each number of votes, seen or not, the same chance as ``law``."""

    votes: Votes
    law: Vector

    def farthest(self, function: Vector) -> tuple[float, Vector]:
        from scipy.optimize import linprog

        # A linear programme: the mean is linear in the law, and so are the chances of all votes.
        moments = self.votes.moments
        solution = linprog(-function, A_eq=moments, b_eq=moments @ self.law, bounds=(0, 1), method="highs")
        # The law itself is a solution, and no mass exceeds one: rounding alone leaves none, or none better.
        failed = solution.status != 0 or -solution.fun < function @ self.law
        law = self.law if failed else np.asarray(solution.x)
        return float(function @ law), law


@dataclass(frozen=True, kw_only=True, eq=False)
class Likely(Laws):
    """All laws whose likelihood is at least e^−drop of the largest."""

    votes: Votes
    center: Vector  # as `likeliest` gives it
    drop: float

    def farthest(self, function: Vector) -> tuple[float, Vector]:
        # A mean is linear and the set is convex, so that by Lagrange duality the largest mean is the least,
        # over λ, of [max(λ · mean + log likelihood) − floor] / λ. The trade is λ.
        votes, drop, law = self.votes, self.drop, self.center
        highest, slack = votes.log_likelihood(law), CLOSE  # no center is further below the maximum
        reach = float(function.max())
        trade, best = 4 * drop / max(reach - float(function @ law), TINY), reach
        if trade > MOST_TRADE:  # nothing to gain
            return reach, law
        below, above = 0.0, np.inf
        for _ in range(MOST_TRIALS):
            law = _centered(law, votes, trade * function, PUSH)
            lost = max(highest - votes.log_likelihood(law), 0.0)
            # Every trade gives an upper bound of the mean; the least of them counts.
            best = min(best, float(function @ law) + (drop - lost + slack) / trade)
            ratio = (lost + slack) / drop
            if abs(ratio - 1) < ENOUGH:
                break
            below, above = (trade, above) if ratio < 1 else (below, trade)
            # What is lost grows as the square of the trade where laws give way smoothly.
            trade *= float(np.clip(ratio**-0.5, 0.05, 20.0))
            if not below < trade < above:
                trade = float(np.sqrt(below * above))
        return min(best + ROUNDING, reach), law

    @property
    def inside(self) -> tuple[Vector, ...]:  # type: ignore[override]
        return (self.center,)


@one_thread
def likeliest(votes: Votes) -> Vector:
    """The likeliest law of those with mass everywhere, to within `CLOSE`."""
    law, push = np.full(PLACES, 1 / PLACES), min(1 / votes.total, PUSH)
    while True:
        law = _centered(law, votes, np.zeros(PLACES), push)
        if push >= PUSH:
            return law
        push = min(push * FASTER, PUSH)


@one_thread
def mean_range(laws: Laws, function: Vector) -> Ends:
    """The smallest and the largest mean of ``function`` under these laws."""
    return -laws.farthest(-function)[0], laws.farthest(function)[0]


@one_thread
def functional_range(laws: Laws, functional: Functional, law: Vector) -> Ends:
    """The smallest and the largest value of a functional under these laws, found by climbing."""
    # From ``law`` and from the best of the set's corners, each step goes towards the law that is farthest
    # along the slope. Of a functional that is not linear the ends are those of climbs, not proved to be the
    # farthest.
    starts = np.stack([law, *laws.corners])
    heights = np.asarray(functional(law_measure(starts)))
    ends = []
    for sign in (-1.0, 1.0):
        order = np.argsort(np.where(np.isfinite(heights), -sign * heights, np.inf))
        chosen = dict.fromkeys((0, *order[:2].tolist()))
        ends.append(sign * (max(_climb(laws, functional, sign, starts[i]) for i in chosen) + GAIN))
    return ends[0], ends[1]


def _climb(laws: Laws, functional: Functional, sign: float, here: Vector) -> float:
    """The highest sign · functional that is reached from a law."""
    best = sign * float(functional(law_measure(here)))
    for _ in range(MOST_CLIMBS):
        there = laws.farthest(sign * _slope(functional, here))[1]
        tried = here + PARTS * (there - here)
        values = sign * np.asarray(functional(law_measure(tried)))
        first = int(np.argmax(np.where(np.isfinite(values), values, -np.inf)))
        if not values[first] > best + GAIN:
            break
        here, best = tried[first], float(values[first])
    return best


def law_measure(law: Vector) -> ScoreMeasure:
    """The measure of a population whose posteriors have this law, with the posterior as the score."""
    mass = np.where(law > NOTHING, law, 0.0)
    return ScoreMeasure(score=Q, mass=mass, pos_mass=mass * Q, neg_mass=mass * (1 - Q))


def _slope(functional: Functional, law: Vector) -> Vector:
    """How the functional changes as mass goes to each place: its influence function, by differences."""
    moved = (1 - STEP) * law + STEP * np.eye(PLACES)
    change = np.asarray(functional(law_measure(moved))) - float(functional(law_measure(law)))
    return np.where(np.isfinite(change), change / STEP, 0.0)


def _centered(law: Vector, votes: Votes, reward: Vector, push: float) -> Vector:
    """The law that maximises push · (reward · law + log likelihood) + Σ log law, by Newton's method."""
    kernel, count = votes.kernel, votes.count

    def value(x: Vector) -> float:
        return push * (float(reward @ x) + float(count @ np.log(kernel @ x))) + float(np.log(x).sum())

    now = value(law)
    for _ in range(MOST_STEPS):
        fitted = kernel @ law
        curved = (np.sqrt(push * count) / fitted)[:, None] * kernel * law
        # In steps relative to the law the Hessian is one plus a matrix of low rank. Along laws of mass one
        # the total may be taken off the gradient, which saves it from cancellation.
        relative = push * (reward + kernel.T @ (count / fitted) - votes.total) * law + 1
        solved = _solve(curved, np.column_stack([relative, law]))
        step = solved[:, 0] - solved[:, 1] * (law @ solved[:, 0]) / (law @ solved[:, 1])
        gain = float(relative @ step)  # twice the distance to the maximum, as far as a parabola goes
        if gain < 1e-3:
            break
        size = min(1.0, 0.95 / max(1e-12, float(-step.min())))  # no mass falls to zero
        while size > 1e-10 and value(law * (1 + size * step)) < now + 0.1 * size * gain:
            size /= 2
        if size <= 1e-10:
            break
        law = np.maximum(law * (1 + size * step), TINY)
        law = law / law.sum()
        now = value(law)
    return law


def _solve(rows: Vector, right: Vector) -> Vector:
    """(1 + rowsᵀ rows)⁻¹ right, in the smaller of the two dimensions."""
    if len(rows) >= rows.shape[1]:
        return np.asarray(np.linalg.solve(np.eye(rows.shape[1]) + rows.T @ rows, right))
    # The identity of Sherman, Morrison and Woodbury.
    inner = np.linalg.solve(np.eye(len(rows)) + rows @ rows.T, rows @ right)
    return np.asarray(right - rows.T @ inner)


LIKELIHOOD = "likelihood"
ASSUMPTION = Note(
    "assumption",
    "Assumes that the votes on a case are independent given its probability, and that how many there are "
    "does not depend on it.",
)
MOST = 0.5  # no Bayes error of two classes is larger
PLAIN = 0.005  # a range is not worth a word where it is narrower than this share of the value


@dataclass(frozen=True, kw_only=True, eq=False)
class FittedVotes:
    """Votes with their fitted law of q, and what all laws that they do not refute say of a limit."""

    rows: SoftRows
    _regions: dict[float, Likely] = field(default_factory=dict, repr=False)

    @cached_property
    def votes(self) -> Votes:
        return counted(self.rows)

    @cached_property
    def law(self) -> Vector:
        return fitted_law(self.votes)

    @cached_property
    def _likeliest(self) -> Vector:
        return likeliest(self.votes)

    @cached_property
    def _explaining(self) -> Explaining:
        return Explaining(votes=self.votes, law=self.law)

    def _likely(self, level: float) -> Likely:
        # Half a quantile of χ² with two degrees of freedom: one for the value, and one for laws at the edge
        # of what is possible, where one is too few.
        if level not in self._regions:
            drop = -math.log(1 - level)
            self._regions[level] = Likely(votes=self.votes, center=self._likeliest, drop=drop)
        return self._regions[level]

    def bayes_error(self, level: float) -> LimitEstimate:
        """The mean of min(q, 1 − q), with what is to be said of votes."""
        naive = Mean.of(np.minimum(self.rows.q, 1 - self.rows.q), self.rows.weight, MOST).value
        limit = self.mean(LOSS, (0.0, MOST), level)
        notes = (*_in_words(naive, limit), ASSUMPTION, *difficulty(self.rows))
        return replace(limit, naive=naive, notes=notes)

    def mean(self, function: Vector, limits: Ends, level: float) -> LimitEstimate:
        """The mean of a function of q, exactly."""
        value = float(function @ self.law)
        return self._estimate(value, partial(mean_range, function=function), limits, level)

    def limit(self, functional: Functional, limits: Ends, level: float) -> LimitEstimate:
        """Any functional of the measure of posteriors."""
        value = float(functional(law_measure(self.law)))
        range_over = partial(functional_range, functional=functional, law=self.law)
        return self._estimate(value, range_over, limits, level)

    def _estimate(
        self, value: float, range_over: Callable[[Laws], Ends], limits: Ends, level: float
    ) -> LimitEstimate:
        low, high = range_over(self._explaining)
        identified = cut((min(low, value) + 0.0, max(high, value)), limits)  # never −0
        ends = partial(self._ends, range_over, identified)
        low, high = cut(ends(level), limits)
        return LimitEstimate(
            value=value,
            low=low,
            high=high,
            confidence_level=level,
            method=LIKELIHOOD,
            limits=limits,
            identified=identified,
            ends=ends,
        )

    def _ends(self, range_over: Callable[[Laws], Ends], identified: Ends, level: float) -> Ends:
        """The interval at a level, with what is identified inside."""
        low, high = range_over(self._likely(level))
        return min(low, identified[0]), max(high, identified[1])


def _in_words(naive: float, limit: LimitEstimate) -> Iterator[Note]:
    if naive < limit.value:
        yield Note(
            "bias",
            f"Taking the shares of votes for the probabilities would give {naive:.4g}, too small: votes make "
            f"cases look surer than they are, the more so the fewer they are.",
        )
    low, high = limit.identified or (limit.value, limit.value)
    if high - low > PLAIN * limit.value:
        yield Note(
            "identifiability",
            f"However many the cases, as few votes on each leave the Bayes error open between {low:.4g} and "
            f"{high:.4g}; the value is that of a smooth law of the probabilities that explains the votes.",
        )
