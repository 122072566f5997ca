"""The law of q behind counts of votes: k of m votes are binomial given q, and q has an unknown law.

Only m moments of that law are identified, so that many explain the votes alike. Of those this takes the one
nearest to a fitted Beta.
"""

from __future__ import annotations

import numpy as np
from scipy.special import betainc, betaln

from halftruth._checks import Vector
from halftruth.limits.tally import EDGES, Votes
from halftruth.limits.threads import single_threaded

FEW_VOTES = 3
BETA_SHARE = (0.1, 0.5), (0.5, 0.3)
"""With so few votes a law that piles up at 0 and 1 and one of two clusters inside cannot be told apart. The
law nearest to a Beta is right for the first, that nearest to a flat one for the second. The former has a
weight of .5 where the fitted a + b is .1 or less, and of .3 where it is .5 or more: this keeps the bias
within half of the plug-in's for either, unless it is an extreme one."""
STRENGTH = 1.0
"""Rows that the nearness to the reference weighs: it keeps noise out of what votes tell apart faintly."""
FAINT = 1e-3
"""The same with few votes, which tell nothing faintly."""
SLOWER = 10.0
MOST_STEPS = 50
PRECISE = 1e-10
"""In units of the log likelihood."""
LOG_LIMITS = (-7.0, 9.0)
"""Of the logarithms of a Beta's parameters: all votes alike, or all q alike."""


def fitted_beta(votes: Votes) -> tuple[float, float]:
    """The Beta law under which the votes are likeliest."""
    from scipy.optimize import minimize

    def loss(logs: Vector) -> float:
        a, b = np.exp(logs)
        fit = betaln(votes.k + a, votes.m - votes.k + b) - betaln(a, b)
        return -float(votes.count @ fit) / votes.total

    starts = ([0.0, 0.0], [-1.5, -1.5], [-1.5, 1.0], [1.0, -1.5], [2.0, 2.0])
    best = min(
        (minimize(loss, s, method="L-BFGS-B", bounds=[LOG_LIMITS] * 2) for s in starts), key=lambda r: r.fun
    )
    a, b = np.exp(best.x)
    return float(a), float(b)


def beta_law(a: float, b: float) -> Vector:
    """A Beta law on the places of q."""
    mass = np.maximum(np.diff(betainc(a, b, EDGES)), 1e-300)
    return np.asarray(mass / mass.sum())


def nearest(votes: Votes, reference: Vector) -> Vector:
    """The law that explains the votes and is nearest to the reference.

    It maximises the log likelihood less `STRENGTH` times the divergence from the reference. There the law is
    the reference times the exponential of a combination of `Votes.basis`. Nearness counts for much at first
    and then for less, so that each search begins near its end.
    """
    tilt = np.zeros(len(votes.basis))
    # A stray row with more votes is not to be matched exactly: hence all rows, not only the usual ones.
    least = STRENGTH if votes.m.max() > FEW_VOTES else FAINT
    strength = max(votes.total, least)
    while True:
        tilt = _tilted(votes, reference, tilt, strength)
        if strength <= least:
            return _law(votes, reference, tilt)[0]
        strength = max(strength / SLOWER, least)


def _law(votes: Votes, reference: Vector, tilt: Vector) -> tuple[Vector, float]:
    """The tilted law and its divergence from the reference."""
    power = tilt @ votes.basis
    raw = np.log(reference) + power
    law = np.exp(raw - raw.max())
    total = law.sum()
    law /= total
    return law, float(law @ power) - float(raw.max() + np.log(total))


def _tilted(votes: Votes, reference: Vector, tilt: Vector, strength: float) -> Vector:
    """The best tilt where nearness weighs ``strength`` rows, by Fisher scoring."""
    kernel, basis, count = votes.kernel, votes.basis, votes.count

    def value(x: Vector) -> float:
        law, divergence = _law(votes, reference, x)
        with np.errstate(divide="ignore"):
            return float(count @ np.log(kernel @ law)) - strength * divergence

    now = value(tilt)
    for _ in range(MOST_STEPS):
        law, _divergence = _law(votes, reference, tilt)
        fitted = kernel @ law
        moved = basis * law - np.outer(basis @ law, law)  # (r, grid): how the law moves with the tilt
        slope = kernel @ moved.T
        gradient = slope.T @ (count / fitted) - strength * (moved @ (tilt @ basis))
        curvature = (slope.T * (count / fitted**2)) @ slope + strength * (moved @ basis.T)
        curvature[np.diag_indices(len(tilt))] += 1e-13 * np.trace(curvature)
        step = np.linalg.solve(curvature, gradient)
        gain, size = float(gradient @ step), 1.0
        while size > 1e-8 and not value(tilt + size * step) > now + 1e-4 * size * gain:
            size /= 2
        if gain < PRECISE or size <= 1e-8:
            break
        tilt = tilt + size * step
        now = value(tilt)
    return tilt


@single_threaded
def fitted_law(votes: Votes) -> Vector:
    """The law of q: of all that explain the votes the one nearest to a Beta.

    With few votes also that nearest to a flat one, averaged.
    """
    a, b = fitted_beta(votes)
    near_beta = nearest(votes, beta_law(a, b))
    if votes.usual[-1] > FEW_VOTES:
        return near_beta
    share = float(np.interp(a + b, *BETA_SHARE))
    return np.asarray(share * near_beta + (1 - share) * nearest(votes, beta_law(1.0, 1.0)))
