"""DEDPUL: the prior from the density ratio of scores (Ivanov, 2020, arXiv:1902.06965).

With r = f_P/f_U, a row of U is positive with probability min(1, a r) if the prior is a. The authors' EM
repeats a ← mean_U min(1, a r) (they write it for the negatives' share 1 − a: 1 − a ← mean_U max(0, 1 − a r)).
The step it takes is the discrepancy D(a) = a − mean_U min(1, a r). D is convex, D(0) = 0, and if mean_U r = 1
it vanishes for every a ≤ 1/max r and grows beyond: EM from 1 stops at 1/max r, which is α where some scores
have no negatives. Estimated ratios break this. If mean_U r < 1 the only zero of D is 0 and EM collapses;
one score with r too large drags it far down. What survives is the bend of D at α. So the answer is where
EM stops, or the sharpest bend (the largest second difference) where EM went past that.

Three choices of ours keep the cost linear. Scores are replaced by logits of their ranks in the pooled
sample (both samples weighing the same): nothing depends on the scale of scores. Densities are Gaussian
kernel sums by FFT on one grid, with one bandwidth, so that smoothing cancels in the ratio where U holds
positives only. The ratio is made monotone by isotonic regression, which also takes out its noise; the
authors' running maximum would push the ratio up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from halftruth._checks import Vector
from halftruth._errors import Note
from halftruth.prior._samples import Curve, Fit, Samples

__all__ = ["fit_dedpul"]

GRID = 2048  # points of the grid of logits: the bandwidth is many of its steps at any size in memory
EXTREME_RANK = 1e-12  # ranks are kept this far from 0 and 1, where logits end
NEGLIGIBLE = 1e-12  # a share of U below this is lost in the rounding of the FFT
TOLERANCE = 1e-5  # EM has stopped when it moves by less
GROWTH = 1.02  # ratio of trial priors: small ones are resolved as finely as large ones
SMALLEST = 1e-5  # the least trial prior
LARGEST_DISCREPANCY = 0.05  # it is 0 at the prior but for noise: a bend above this is another one


class Ratio(NamedTuple):
    """The density ratio r = f_P/f_U along the score, and the share of U it applies to."""

    r: Vector
    mass: Vector


def fit_dedpul(samples: Samples) -> Fit:
    """α where EM on the monotone density ratio stops, or at the sharpest bend of its discrepancy."""
    # The curve is that discrepancy. Scores must be held out; only their order matters.
    ratio = monotone(density_ratio(samples))
    trial = _trials()
    gap = discrepancy(trial, ratio)
    stopped, bend = _em(trial, gap), _sharpest_bend(trial, gap, ratio)
    value = max(stopped, bend)
    bent = Note("method", f"EM went down to {stopped:.3g}: the sharpest bend was taken.")
    notes = () if value == stopped else (bent,)
    inside = slice(0, -1)
    curve = Curve(x=trial[inside], y=gap[inside], x_label="a", y_label="a − EM(a)", chosen=value)
    return Fit(value=value, curve=curve, notes=notes)


def density_ratio(samples: Samples) -> Ratio:
    """f_P/f_U at the points of the grid that hold unlabeled rows, from low scores to high ones."""
    pooled = samples.p + samples.u
    used = pooled > 0
    pooled = pooled[used] / 2
    rank = np.clip(np.cumsum(pooled) - pooled / 2, EXTREME_RANK, 1 - EXTREME_RANK)
    logit = np.log(rank) - np.log1p(-rank)
    step = float(max(logit[-1] - logit[0], 1.0)) / (GRID - 1)
    place = (logit - logit[0]) / step
    positive, unlabeled = _binned(place, samples.p[used]), _binned(place, samples.u[used])
    width = _bandwidth(positive, min(samples.n_positive, samples.n_unlabeled))
    kernel = np.exp(-0.5 * (np.minimum(np.arange(2 * GRID), np.arange(2 * GRID, 0, -1)) / width) ** 2)
    f_p, f_u = _smoothed(positive, kernel), _smoothed(unlabeled, kernel)
    there = unlabeled > NEGLIGIBLE
    # A row's own kernel is part of the sum, whatever rounding says.
    return Ratio(f_p[there] / np.maximum(f_u, unlabeled)[there], unlabeled[there] / unlabeled[there].sum())


def monotone(ratio: Ratio) -> Ratio:
    """The nearest ratio that does not fall with the score."""
    from sklearn.isotonic import isotonic_regression

    return ratio._replace(r=isotonic_regression(ratio.r, sample_weight=ratio.mass))


def discrepancy(a: Vector, ratio: Ratio) -> Vector:
    """D(a) = a − mean_U min(1, a r) at every a > 0; r must not fall."""
    below = np.searchsorted(ratio.r, 1 / a)
    weight = np.append(0.0, np.cumsum(ratio.r * ratio.mass))[below]
    clipped = np.append(np.cumsum(ratio.mass[::-1])[::-1], 0.0)[below]
    return np.asarray(a * (1 - weight) - clipped)


def _binned(place: Vector, mass: Vector) -> Vector:
    """Mass at grid points, each row's shared by the two next to it."""
    left = np.minimum(place.astype(np.intp), GRID - 2)
    right_part = mass * (place - left)
    binned = np.bincount(left, mass - right_part, minlength=GRID)
    binned[1:] += np.bincount(left, right_part, minlength=GRID)[:-1]
    return np.asarray(binned)


def _bandwidth(mass: Vector, n: float) -> float:
    """Silverman's rule of thumb, in steps of the grid, and no less than two of them."""
    place = np.arange(GRID)
    spread = np.sqrt(mass @ (place - mass @ place) ** 2)
    low, high = np.searchsorted(np.cumsum(mass), (0.25, 0.75))
    return float(max(0.9 * min(spread, (high - low) / 1.34) * n**-0.2, 2.0))


def _smoothed(mass: Vector, kernel: Vector) -> Vector:
    """Sum of kernels. They wrap around at twice the grid: nothing comes back."""
    full = np.fft.irfft(np.fft.rfft(mass, 2 * GRID) * np.fft.rfft(kernel), 2 * GRID)
    return np.asarray(np.maximum(full[:GRID], 0.0))


def _trials() -> Vector:
    """Trial priors, up to 1 and one beyond, where a bend at 1 ends."""
    count = int(np.ceil(np.log(1 / SMALLEST) / np.log(GROWTH)))
    return np.asarray(GROWTH ** np.arange(-count, 2.0))


def _em(trial: Vector, gap: Vector) -> float:
    """Where EM from 1 stops. It moves down by the discrepancy, which is convex and so falls with a."""
    last = int(np.flatnonzero(gap <= TOLERANCE)[-1])
    if trial[last] >= 1:
        return 1.0
    return float(np.interp(TOLERANCE, gap[last : last + 2], trial[last : last + 2]))


def _sharpest_bend(trial: Vector, gap: Vector, ratio: Ratio) -> float:
    """The prior at the largest change of slope, or 0 if there is none."""
    # The slope of D changes at a = 1/r by the share of P that has this r. So the bend is the ratio held by
    # most positives, and the prior is how many of U they meet there.
    change = np.diff(np.diff(gap) / np.diff(trial))
    change[gap[1:-1] >= LARGEST_DISCREPANCY] = 0.0
    best = int(np.argmax(change))
    # Ratios of exactly one bend.
    near = np.abs(np.log(np.maximum(trial[best + 1] * ratio.r, 1e-300))) < np.log(GROWTH)
    if not near.any():
        return 0.0
    return float(min(ratio.mass[near].sum() / (ratio.r * ratio.mass)[near].sum(), 1.0))
