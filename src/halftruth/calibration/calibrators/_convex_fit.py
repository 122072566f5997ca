"""The logistic loss of a measure, ∫ softplus(z) dμ − ∫ z dμ₁, and where it is least.

Only μ, which is never negative, stands under the convex function: the loss is convex in the parameters also
where the masses of the positives are signed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from halftruth._checks import Vector
from halftruth._errors import Note
from halftruth.calibration._isotonic import Possible, possible
from halftruth.measure._score_measure import ScoreMeasure, integral

__all__ = ["LEAST", "Atoms", "Family", "Loss", "Pair", "least", "log_features", "notes_on"]

GAIN = 1e-10
"""What a last step may still gain, in rows of the rarer class: the step after it gains its square."""
FLAT = 1e-13
TINY = 1e-100
MOST = 200
LEAST = 2.0**-40
"""Scores nearer to 0 or 1 than this are read as this near (about 1e-12): their logit stays finite."""
REFUTED = Note(
    "contradiction",
    "At the highest scores the positives outnumber the population beyond noise: the prior is too large, or "
    "the known positives are no random sample of the positives.",
)


def log_features(score: Vector) -> tuple[Vector, Vector]:
    """Both features ln s and −ln(1 − s), of scores kept off 0 and 1."""
    s = np.clip(score, LEAST, 1 - LEAST)
    return np.log(s), -np.log1p(-s)


@dataclass(frozen=True, eq=False)
class Atoms:
    """Scores s with ln s, −ln(1−s) and their masses; many plain rows are condensed."""

    low: Vector
    high: Vector
    score: Vector
    mass: Vector

    @classmethod
    def at(cls, score: Vector, mass: Vector) -> Atoms:
        """Of scores as they are."""
        return cls(*log_features(score), score, mass)

    def joined(self, other: Atoms) -> Atoms:
        """These and others."""
        columns = zip(vars(self).values(), vars(other).values(), strict=True)
        return Atoms(*(np.append(x, y) for x, y in columns))

    def features(self) -> Vector:
        """(3, n), the last all one."""
        return np.stack([self.low, self.high, np.ones(len(self.low))])


@dataclass(frozen=True, eq=False)
class Pair:
    """Atoms of μ and of μ₁ on [0, 1], the latter as they are possible; ``notes`` where they were not."""

    population: Atoms
    positives: Atoms
    notes: tuple[Note, ...]

    @classmethod
    def of(cls, measure: ScoreMeasure) -> Pair:
        """Of a measure on [0, 1]."""
        repaired = possible(measure)
        log_s, log_odds, score, mass, pos = measure.log_atoms(LEAST)
        population, positives = Atoms(log_s, log_odds, score, mass), Atoms(log_s, log_odds, score, pos)
        if repaired is not None:
            population = population.joined(Atoms.at(*repaired.beyond))
            # The frequency has steps, which condensed rows would blur: of it the rows themselves.
            score, _, pos = repaired.filled(*measure.population())
            positives = Atoms.at(score, pos)
        return cls(population, positives, notes_on(repaired))


def notes_on(repaired: Possible | None) -> tuple[Note, ...]:
    """What a reader should know of positives that were not possible as they came."""
    if repaired is None:
        return ()
    moved = (
        f"At some scores the positives, as they come, are more than the population or fewer than none. The "
        f"curve is fitted to a rising frequency within [0, 1] that has the prior; it takes at most "
        f"{100 * repaired.moved:.2g}% of the positives across any score."
    )
    note = Note("impossible", moved)
    return (note, REFUTED) if repaired.refuted else (note,)


class Loss:
    """∫ softplus(z) dμ − ∫ z dμ₁ as a function of θ, where z = θ·φ; ``moments`` are ∫ φ dμ₁."""

    features: Vector
    mass: Vector

    def __init__(self, features: Vector, mass: Vector, moments: Vector) -> None:
        used = mass != 0
        self.features, self.mass = (features, mass) if used.all() else (features[:, used], mass[used])
        self.moments = moments
        self.total = float(mass.sum())

    def value(self, theta: Vector) -> float:
        """At θ."""
        soft = np.logaddexp(0.0, theta @ self.features)
        return float(integral(soft, self.mass) - theta @ self.moments)

    def derivatives(self, theta: Vector) -> tuple[Vector, Vector]:
        """Its gradient and its Hessian."""
        z = theta @ self.features
        # σ and σ(1−σ) by exp(−|z|), which never overflows.
        e = np.exp(-np.abs(z))
        slope = self.mass * np.where(z >= 0, 1.0, e) / (1 + e)
        weighed = self.features * (self.mass * e / (1 + e) ** 2)
        hessian = np.stack([integral(weighed, row) for row in self.features])
        return integral(self.features, slope) - self.moments, hessian

    def joined(self, n: int = 1 << 13) -> Loss:
        """The loss with neighbours joined at their means: a first guess."""
        first = self.features[0] + self.features[1]  # the logit, or the score itself
        low, high = float(first.min()), float(first.max())
        group = np.minimum(((first - low) * (n / max(high - low, 1e-300))).astype(np.intp), n - 1)
        mass: Vector = np.bincount(group, self.mass, minlength=n).astype(np.float64)
        used = mass > 0
        sums = np.stack([np.bincount(group, row * self.mass, minlength=n) for row in self.features])
        return Loss(sums[:, used] / mass[used], mass[used], self.moments)


@dataclass(frozen=True, eq=False)
class Family:
    """Parameters p within limits, and the θ = ``shape`` p that they stand for."""

    shape: Vector
    start: Vector
    low: Vector
    high: Vector


def least(loss: Loss, family: Family, start: Vector, unit: float) -> Vector:
    """The parameters where the loss is least: Newton steps, those that meet a limit held there.

    ``unit`` is the mass of the rarer class, the scale of what a step may gain.
    """
    low, high, shape = family.low, family.high, family.shape
    p = np.clip(start, low, high)
    # An active-set method: the loss is convex, so that freeing one limit at a time ends at the minimum.
    at_limit = np.zeros(len(p), dtype=bool)
    for _ in range(MOST):
        slope, curvature = loss.derivatives(shape @ p)
        g, h = shape.T @ slope, shape.T @ curvature @ shape
        step = _newton(g, h, ~at_limit, unit)
        gain = float(-g @ step) / 2
        reach = _reach(p, step, low, high)
        # Converged among the free parameters: done, unless one at its limit would gain by leaving it.
        if gain <= GAIN * unit and reach.min() >= 1:
            freed = _to_free(p, g, h, at_limit, family, unit)
            if freed is None:
                return np.asarray(p + step)
            at_limit[freed] = False
            continue
        t = min(1.0, float(reach.min()))
        if gain > GAIN * unit:
            t = _searched(loss, family, p, step, t, gain)
            if t == 0:
                return p
        p = np.clip(p + t * step, low, high)
        met = reach <= t
        p[met] = np.where(step[met] < 0, low[met], high[met])
        at_limit |= met
    return p


def _newton(g: Vector, h: Vector, free: Vector, unit: float) -> Vector:
    """−H⁻¹g of the free parameters; nothing along directions that change nothing."""
    out = np.zeros(len(g))
    if not free.any():
        return out
    # In units of each parameter's own curvature, so that what counts as flat depends on no scale.
    diagonal = np.sqrt(np.diag(h)[free])
    scale = np.where(diagonal > TINY, diagonal, 1.0)
    values, vectors = np.linalg.eigh(h[np.ix_(free, free)] / np.outer(scale, scale))
    along = vectors.T @ (g[free] / scale)
    flat = values <= FLAT * max(values[-1], FLAT)
    # A flat direction that the loss still falls along is one without an end: far out, to the limits.
    steep = np.where(along**2 > GAIN * unit, along / FLAT, 0.0)
    out[free] = -(vectors @ np.where(flat, steep, along / np.where(flat, 1.0, values))) / scale
    return out


def _reach(p: Vector, step: Vector, low: Vector, high: Vector) -> Vector:
    """How many steps each parameter is from its limit."""
    room = np.where(step < 0, p - low, high - p)
    size = np.abs(step)
    return np.asarray(np.divide(room, size, out=np.full(len(p), np.inf), where=size > 0))


def _to_free(p: Vector, g: Vector, h: Vector, at_limit: Vector, family: Family, unit: float) -> int | None:
    """The held parameter that gains most by leaving its limit, if one does."""
    inwards = at_limit & np.where(p <= family.low, g < 0, g > 0)
    gains = np.where(inwards, g**2 / np.maximum(2 * np.diag(h), 1e-300), 0.0)
    best = int(np.argmax(gains))
    return best if gains[best] > GAIN * unit else None


def _searched(loss: Loss, family: Family, p: Vector, step: Vector, t: float, gain: float) -> float:
    """The first of t, t/2, t/4, … that lowers the loss by a share of what its slope promises, or 0."""
    # Armijo's rule; the slack is the rounding of the loss, which near the minimum hides any gain.
    here = loss.value(family.shape @ p)
    slack = 1e-14 * (abs(here) + loss.total)
    # Where all probabilities are near 0 or 1 a step may be longer than any scale of the parameters.
    least_t = 1e-12 / max(1.0, float(np.abs(step).max()) / max(1.0, float(np.abs(p).max())))
    while not (loss.value(family.shape @ (p + t * step)) <= here - 2e-4 * t * gain + slack):
        t /= 2
        if t < least_t:
            return 0.0
    return t
