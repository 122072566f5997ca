"""What votes say of a mean over the law of q: the range of all laws that explain them."""

from __future__ import annotations

import numpy as np

from halftruth.checks import Vector
from halftruth.limits.tally import Votes

CLOSE = 0.01
"""How far below its maximum a log likelihood may be taken for the maximum."""
FASTER = 20.0
MOST_STEPS = 80
MOST_TRIALS = 20
ENOUGH = 0.05
"""How near the log likelihood at an end must come to what is asked; the end's error is of second order."""


def identified_set(votes: Votes, law: Vector, function: Vector) -> tuple[float, float]:
    """The smallest and the largest mean of ``function`` under laws that explain the votes as ``law`` does.

    A linear program: the mass at each place of q, and equal chances of each number of votes.
    """
    from scipy.optimize import linprog

    held = votes.basis @ law
    ends = []
    for sign in (1.0, -1.0):
        found = linprog(sign * function, A_eq=votes.basis, b_eq=held, bounds=(0, None), method="highs")
        # The law itself is a solution: only rounding leaves none.
        ends.append(sign * found.fun if found.status == 0 else float(function @ law))
    value = float(function @ law)
    return min(ends[0], value), max(ends[1], value)


def likely_range(votes: Votes, function: Vector, drop: float) -> tuple[float, float]:
    """The smallest and the largest mean of ``function`` under laws of likelihood no lower than e^−drop.

    Against the largest likelihood of any law. The set of such laws is convex and a mean is linear, so that
    the end of the range is the least over λ of max(λ · mean + log likelihood) − floor, divided by λ.
    """
    law, push = np.full(votes.kernel.shape[1], 1 / votes.kernel.shape[1]), 1 / votes.total
    nothing = np.zeros_like(law)
    while True:
        law = _centered(law, votes, nothing, push)
        if push >= len(law) / CLOSE:
            break
        push = min(push * FASTER, len(law) / CLOSE)
    low, high = (_end(votes, sign * function, law, push, drop) for sign in (-1.0, 1.0))
    return -low, high


def _end(votes: Votes, function: Vector, law: Vector, push: float, drop: float) -> float:
    """The largest mean of ``function``; ``law`` is the likeliest with mass everywhere, at this ``push``."""
    slack = len(law) / push  # a center is no further than this below the maximum
    highest = votes.log_likelihood(law)
    reach = float(function.max())
    trade, best = 4 * drop / (reach - float(function @ law) + 1e-9), reach
    below, above = 0.0, np.inf
    for _ in range(MOST_TRIALS):
        law = _centered(law, votes, trade * function, push)
        lost = max(highest - votes.log_likelihood(law), 0.0)
        best = min(best, float(function @ law) + (drop - lost + slack) / trade)
        ratio = (lost + slack) / drop
        if abs(ratio - 1) < ENOUGH:
            break
        below, above = (trade, above) if ratio < 1 else (below, trade)
        # What is lost grows as the square of the trade where laws give way smoothly.
        trade *= float(np.clip(ratio**-0.5, 0.05, 20.0))
        if not below < trade < above:
            trade = float(np.sqrt(below * above))
    return best


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
        gain = float(relative @ step)
        if gain < 1e-3:
            break
        size = min(1.0, 0.95 / max(1e-12, float(-step.min())))
        while size > 1e-10 and value(law * (1 + size * step)) < now + 0.1 * size * gain:
            size /= 2
        if size <= 1e-10:
            break
        law = law * (1 + size * step)
        law = law / law.sum()
        now = value(law)
    return law


def _solve(rows: Vector, right: Vector) -> Vector:
    """(1 + rowsᵀ rows)⁻¹ right, in the smaller of the two dimensions."""
    if len(rows) >= rows.shape[1]:
        return np.asarray(np.linalg.solve(np.eye(rows.shape[1]) + rows.T @ rows, right))
    inner = np.linalg.solve(np.eye(len(rows)) + rows @ rows.T, rows @ right)
    return np.asarray(right - rows.T @ inner)
