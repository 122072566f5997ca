"""The law of q behind counts of votes: k of m votes are binomial given q, and q has an unknown law.

Only m moments of that law are identified, so that many explain the votes alike. Of those this takes the one
nearest to a fitted Beta.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import betainc, betaln, gammaln

from halftruth.checks import Vector

N_GRID = 257
FEW_VOTES = 3
BETA_SHARE = 0.3
"""With so few votes a law that piles up at 0 and 1 and one of two clusters inside cannot be told apart. This
weight of the first keeps the bias within half of the plug-in's for either, unless it is an extreme one."""
STRENGTH = 1.0
"""Rows that the nearness to the reference weighs."""
SLOWER = 10.0
MOST_STEPS = 50
PRECISE = 1e-6
"""In units of the log likelihood."""
LOG_LIMITS = (-7.0, 9.0)
"""Of the logarithms of a Beta's parameters: all votes alike, or all q alike."""


def grid() -> tuple[Vector, Vector]:
    """Places of q and the edges between them, as fine as votes tell apart: equal steps of arcsin √q."""
    angle = np.linspace(0, np.pi / 2, N_GRID)
    edges = np.concatenate([[0.0], np.sin((angle[1:] + angle[:-1]) / 2) ** 2, [1.0]])
    return np.sin(angle) ** 2, edges


@dataclass(frozen=True, kw_only=True, eq=False)
class Votes:
    """How often each (k, m) was seen.

    Attributes
    ----------
    k, m : (c,) arrays
    count : (c,) array
        Rows.
    """

    k: Vector
    m: Vector
    count: Vector

    @property
    def total(self) -> float:
        return float(self.count.sum())

    @cached_property
    def kernel(self) -> Vector:
        """(c, grid) P(k of m votes | q)."""
        q = grid()[0]
        k, m = self.k[:, None], self.m[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            log_q = np.where(k > 0, k * np.log(q), 0.0)
            log_rest = np.where(m - k > 0, (m - k) * np.log1p(-q), 0.0)
        return np.asarray(np.exp(_log_choose(self.m, self.k)[:, None] + log_q + log_rest))

    @cached_property
    def basis(self) -> Vector:
        """(r, grid) orthonormal directions in which the votes tell laws apart."""
        _, size, rows = np.linalg.svd(self.kernel, full_matrices=False)
        return np.asarray(rows[size > 1e-9 * size[0]])

    def resampled(self, rng: np.random.Generator) -> Votes:
        """As many rows, drawn with replacement."""
        n = max(round(self.total), 1)
        out = Votes(k=self.k, m=self.m, count=rng.multinomial(n, self.count / self.total).astype(np.float64))
        out.__dict__.update(kernel=self.kernel, basis=self.basis)  # the same places, and slow to find
        return out

    def plug_in(self) -> float:
        """The mean of min(q, 1 − q) at q = k/m."""
        return float(self.count @ (np.minimum(self.k, self.m - self.k) / self.m)) / self.total

    def log_likelihood(self, law: Vector) -> float:
        return float(self.count @ np.log(self.kernel @ law))


def _log_choose(m: Vector, k: Vector) -> Vector:
    return np.asarray(gammaln(m + 1) - gammaln(k + 1) - gammaln(m - k + 1))


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
    """A Beta law on the grid."""
    mass = np.maximum(np.diff(betainc(a, b, grid()[1])), 1e-300)
    return np.asarray(mass / mass.sum())


def nearest(votes: Votes, reference: Vector) -> Vector:
    """The law that explains the votes and is nearest to the reference.

    It maximises the log likelihood less `STRENGTH` times the divergence from the reference. There the law is
    the reference times the exponential of a combination of `Votes.basis`. Nearness counts for much at first
    and then for less, so that each search begins near its end.
    """
    tilt = np.zeros(len(votes.basis))
    strength = max(votes.total, STRENGTH)
    while True:
        tilt = _tilted(votes, reference, tilt, strength)
        if strength <= STRENGTH:
            return _law(votes, reference, tilt)[0]
        strength = max(strength / SLOWER, STRENGTH)


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


def fitted_law(votes: Votes) -> Vector:
    """The law of q on the grid: of all that explain the votes the one nearest to a Beta.

    With few votes also that nearest to a flat one, averaged.
    """
    near_beta = nearest(votes, beta_law(*fitted_beta(votes)))
    if votes.m.max() > FEW_VOTES:
        return near_beta
    return np.asarray(BETA_SHARE * near_beta + (1 - BETA_SHARE) * nearest(votes, beta_law(1.0, 1.0)))
