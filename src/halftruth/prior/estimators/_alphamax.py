"""AlphaMax: the largest share of the positives' law that the likelihood of both samples still allows.

Jain, White, Trosset and Radivojac (2016), arXiv:1601.01944, and Jain, White and Radivojac (2016), NIPS.

In bins with shares p of P and w of U, a part v ≤ w of each bin of U, Σv = α, is taken for the positives.
The profile is max over v of Σ p log(v/α) + Σ w log(w − v + αp): the mean log likelihood of P plus that of U,
so both samples weigh the same. Widths of bins drop out. While α ≤ min w/p, v = αp is allowed, and both sums
are at their largest (Gibbs): a plateau. Beyond it the profile falls, and its elbow is the estimate.

Where the fall is noise: near v = αp it is Σ (αp − v)²/(2αp) · (1 + 1/α), while αp − w has the variance
αp(α/n_P + 1/n_U) in a bin that holds positives only. So ``_unit`` makes twice the fall a sum of squared
one-sided standard normals, ½ expected for each such bin. The elbow is the largest α whose fall is no more.
(Other bins that hold positives must take up what these lack. If few do, the fall is steeper and α̂ lower.)

Mutual irreducibility (no law holds a part of the other): U − aP has the coefficients α − aρ and
(1−α) − a(1−ρ) of f₁ and f₀, both to be ≥ 0. So for ρ ≥ α the largest a in U is a_U = α/ρ, and that of U in P
is 1 − a_L = (1−ρ)/(1−α). Solved: ρ = a_L/D and α = a_U ρ, D = 1 − a_U(1−a_L).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from halftruth._checks import Vector
from halftruth._errors import Note
from halftruth.prior._samples import Curve, Fit, Samples

__all__ = ["fit_alphamax", "fit_noisy"]

# Rules tried on (normals 1.5, 2, 3, 4 apart; f₁ = U(0,1), f₀ = U(−1,.5)) × (α = .02, .1, .3, .6, .9), 40
# draws each, n_P/n_U = 100/1000 and 1000/10,000. Mean |α̂ − α|: this rule .055 and .022; end of the plateau
# .102 and .059; fall of 2 units .053 and .028; ½ for each of all bins .054 and .024; two lines .088 and .087.
# With twice the bins: this rule .069 and .024, fall of 2 units .096 and .054. BINS and MAY_BIND were chosen
# on other draws of the same laws.

BINS = 1.2  # per cube root of the smaller sample: more make an early elbow by noise, fewer blur pure bins
BINS_RANGE = (3, 64)  # three tell positives from what lies above and below; 64, from 150,000 rows on, suffice
MAY_BIND = 2.0  # standard errors of unlabeled above α's share that 98% of bins of positives only stay below
FALL_PER_BIN = 0.5  # mean of the squared positive part of a standard normal
PRIOR_ROWS = 1.0  # unlabeled rows added, spread as P: a bin without any must not forbid every α
N_GRID = 100  # values of α at which the profile is computed
ZOOM = 12  # points of each of the two finer grids in the cell that holds the elbow: an error of 1e-4 at most
STEPS = 100  # enough to halve the bracket of a multiplier down to rounding; about ten are taken
ENOUGH = 1e-12  # relative error of Σv = α: above the rounding of 64 terms, far below what shows
NEAR_EDGE = 0.05  # where the authors warn: so near to 0 or 1 the elbow is short or missing
UNRESOLVED = 0.05  # below this D is mostly noise: P and U are too alike to tell α from ρ


def fit_alphamax(samples: Samples) -> Fit:
    """AlphaMax on bins of equal numbers of positives, for clean positives."""
    # Only the order of scores matters. Where negatives lie among all positives, α̂ is too high by nature.
    # Near 1 and in small samples it is low: many bins then hold positives only, and the poorest by chance
    # decides. The curve is the profile log likelihood, 0 on the plateau.
    n = (samples.n_positive, samples.n_unlabeled)
    p, w = _binned(samples, int(np.clip(round(BINS * min(n) ** (1 / 3)), *BINS_RANGE)))
    # Equal steps of arcsin √α: denser near 0 and 1, where a small step of α changes much.
    alpha = np.sin(np.pi / 2 * np.arange(1, N_GRID + 1) / (N_GRID + 1)) ** 2
    profile = _profile(p, w, alpha)
    value = _elbow(p, w, alpha, profile, n)
    unsure = Note("method", "AlphaMax is unreliable near 0 and 1: the elbow may be missing.")
    notes = (unsure,) if min(value, 1 - value) < NEAR_EDGE else ()
    curve = Curve(x=alpha, y=profile, x_label="α", y_label="profile log likelihood", chosen=value)
    return Fit(value=value, curve=curve, notes=notes)


def fit_noisy(samples: Samples, one_way: Callable[[Samples], Fit] = fit_alphamax) -> tuple[Fit, Fit]:
    """AlphaMaxN: α and the purity ρ of the known positives, by AlphaMax (or another fit) both ways."""
    # α̂ ≤ ρ̂ always. If P and U cannot be told apart (D = 0), both are 1, as for clean positives. The curves
    # are those of the two runs: over α/ρ for α, over (1−ρ)/(1−α) for ρ.
    forth, back = one_way(samples), one_way(samples.swapped())
    alpha, purity, determinant = _unmixed(forth.value, 1 - back.value)
    alike = Note("identifiability", "P and U are so alike that α and ρ are hardly identified.")
    notes = (alike,) if determinant < UNRESOLVED else ()
    return (
        Fit(value=alpha, curve=_relabeled(forth, "α/ρ"), notes=forth.notes + notes),
        Fit(value=purity, curve=_relabeled(back, "(1−ρ)/(1−α)"), notes=back.notes + notes),
    )


def _unmixed(in_unlabeled: float, lack: float) -> tuple[float, float, float]:
    """α, ρ and D from a_U and a_L."""
    determinant = 1 - in_unlabeled * (1 - lack)
    purity = min(lack / determinant, 1.0) if determinant > 0 else 1.0
    return in_unlabeled * purity, purity, determinant


def _relabeled(fitted: Fit, label: str) -> Curve | None:
    return None if fitted.curve is None else replace(fitted.curve, x_label=label)


def _binned(samples: Samples, n_bins: int) -> tuple[Vector, Vector]:
    """Shares of P and of U in bins that end at quantiles of P, without bins empty in both."""
    middle = np.cumsum(samples.p) - samples.p / 2
    index = np.clip((middle * n_bins).astype(np.intp), 0, n_bins - 1)
    p, w = (
        np.asarray(np.bincount(index, share, minlength=n_bins), dtype=np.float64)
        for share in (samples.p, samples.u)
    )
    w = (samples.n_unlabeled * w + PRIOR_ROWS * p) / (samples.n_unlabeled + PRIOR_ROWS)
    return p[w > 0], w[w > 0]


def _profile(p: Vector, w: Vector, alpha: Vector) -> Vector:
    """The log likelihood at its best v for each α, less its value on the plateau."""
    from scipy.special import rel_entr

    a = alpha[:, None]
    v = _best_parts(p, w, alpha)
    return -np.asarray((rel_entr(p, v / a) + rel_entr(w, np.maximum(w + a * p - v, 0))).sum(axis=1))


def _best_parts(p: Vector, w: Vector, alpha: Vector) -> Vector:
    """The v of each α (a row) and bin (a column) that maximises the likelihood, 0 ≤ v ≤ w, Σv = α."""
    # With the multiplier λ of Σv, p/v − w/(w + αp − v) = λ where v < w. The sum falls in λ: Newton's steps,
    # or halving the bracket where these leave it or do not halve the gap. At λ = 1/α − 1 all v ≤ αp, and at λ
    # = −1/(1−α) all v ≥ αw.
    parts = np.minimum(alpha[:, None] * p, w)
    rows = np.flatnonzero(parts.sum(axis=1) < alpha * (1 - ENOUGH))
    a = alpha[rows]
    low, high, before = -1 / (1 - a), 1 / a - 1, np.full_like(a, np.inf)
    at = high
    for _ in range(STEPS):
        parts[rows], slope = _parts_at(at, p, w, w + a[:, None] * p)
        gap = parts[rows].sum(axis=1) - a
        if not (open_ := np.abs(gap) > ENOUGH * a).any():
            break
        rows, a, at, low, high, before, gap, slope = (
            x[open_] for x in (rows, a, at, low, high, before, gap, slope)
        )
        low, high = np.where(gap > 0, at, low), np.where(gap > 0, high, at)
        at = at + np.divide(gap, slope, out=np.full_like(gap, np.inf), where=slope > 0)
        good = (low < at) & (at < high) & (np.abs(gap) <= before / 2)
        at, before = np.where(good, at, (low + high) / 2), np.abs(gap)
    return parts


def _parts_at(multiplier: Vector, p: Vector, w: Vector, total: Vector) -> tuple[Vector, Vector]:
    """The parts v at each multiplier, and how fast their sum falls: roots of quadratics, cut at w."""
    m = multiplier[:, None]
    half = m * total + p + w
    root = np.maximum(np.sqrt((m * total + w - p) ** 2 + 4 * p * w), np.finfo(float).tiny)
    # Of the two forms of the root, the one that does not cancel. A sum ≤ 0 has m < 0.
    upper = half > 0
    v = np.where(upper, 2 * p * total, root - half) / np.where(upper, half + root, -2 * m)
    # dv/dm of the quadratic, written with the root.
    slope = np.where(v < w, v * (total - v) / root, 0.0)
    return np.minimum(v, w), slope.sum(axis=1)


def _unit(alpha: Vector, n: tuple[float, float]) -> Vector:
    """What twice the fall is multiplied with to be a sum of squared standard normals."""
    return 1 / ((1 + 1 / alpha) * (alpha / n[0] + 1 / n[1]))


def _excess(p: Vector, w: Vector, alpha: Vector, profile: Vector, n: tuple[float, float]) -> Vector:
    """The fall less what noise makes of it, given the bins that may hold positives only."""
    mean = alpha[:, None] * p
    error = np.sqrt(mean * (alpha / n[0] + 1 / n[1])[:, None])
    # Where none may, the fall is rounding.
    may_bind = np.maximum((w - mean < MAY_BIND * error).sum(axis=1), 1)
    return np.asarray(-2 * profile * _unit(alpha, n) - FALL_PER_BIN * may_bind)


def _elbow(p: Vector, w: Vector, alpha: Vector, profile: Vector, n: tuple[float, float]) -> float:
    """The largest α whose excess is not positive."""
    points = np.append(0.0, alpha)
    last = _last(_excess(p, w, alpha, profile, n))
    if last == len(alpha):
        return 1.0
    for _ in range(2):
        points = np.linspace(points[last], points[last + 1], ZOOM + 1)
        inner = points[1:-1]
        last = _last(_excess(p, w, inner, _profile(p, w, inner), n))
    return float(points[last])


def _last(excess: Vector) -> int:
    """Which is the last not to be positive, counted from one."""
    return int(np.flatnonzero(np.append(True, excess <= 0))[-1])
