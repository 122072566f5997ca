"""Estimators on kernels, which take features as well as scores: KM1 and KM2, and the L₁ divergence.

Kernel mean embedding: how far U can be pushed away from P and still be a distribution.

λφ(U) + (1−λ)φ(P) is the embedding of the negatives at λ = 1/(1−α), and of no distribution beyond. Its
distance to the simplex of embedded rows is convex in λ, about 0 up to there and then rises; the estimate is
the λ at which the slope passes a threshold, and α = (λ−1)/λ (Ramaswamy, Scott & Tewari 2016).
KM1 takes the threshold 1/√min(n_P, n_U), KM2 .8 of the first slope (from λ = 1 to 1.05) plus .2 of the last
(the distance of φ(U) and φ(P)). If a part of the negatives has the law of the positives, it is counted as
positive: then the estimate is too high at any sample size.

Penalised L₁ divergence of α f_P from f_U: the largest part of U that P can fill.
The divergence takes 1 − t of the ratio t = α f_P/f_U below 1 and an unbounded penalty above, so negatives may
overlap positives. With Gaussian bases φ, weights w ≥ 0 and a ridge η its dual has the closed form
Σ max(0, β)²/η − α + 1, β = α E_P φ − E_U φ; α̂ is its minimum (du Plessis, Niu & Sugiyama 2015). Width and
ridge are chosen at each α by cross-validation: held-out violations α f_P > f_U are penalised, noise is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from halftruth._checks import Vector
from halftruth._errors import Note
from halftruth.prior._samples import Curve, Fit, Samples
from halftruth.prior.estimators._mixture import joined, mid_ranks

__all__ = ["fit_divergence", "fit_divergence_features", "fit_km", "fit_km_features"]

Form = Literal["km1", "km2"]
MAX_ROWS = 400  # rows used of each sample: a fit then takes a second at most, in any dimension
# Kernel widths tried, in medians of the distances; the one that tells P from U best is used.
WIDTHS = 10.0 ** np.linspace(-1, 1, 5)
FIRST_STEP = 0.05  # λ − 1 of the first slope
FIRST_PART = 0.8  # weight of the first slope in the threshold of KM2
LARGEST = 0.99  # Largest α looked at: λ = 100. If the slope is still low there, the positives are all of U.
HALVINGS = 9  # of the interval of α, down to 1/500: well below the noise of so few rows
SAME_LAW = 3.0  # standard deviations of the squared distance within which P and U count as one law
SUM_WEIGHT = 100.0  # weight of Σw = 1 among the equations, whose others are of size one at most


def fit_km(samples: Samples, *, form: Form = "km2", rng: np.random.Generator) -> Fit:
    """α from scores, on their ranks in the pool of P and U: only the order matters."""
    # Rows are drawn at even steps of the masses from a random start.
    rank = mid_ranks(samples.p, samples.u)
    drawn = [
        rank[_drawn(mass, min(MAX_ROWS, max(1, round(size))), rng)]
        for mass, size in ((samples.p, samples.n_positive), (samples.u, samples.n_unlabeled))
    ]
    sizes = samples.n_positive, samples.n_unlabeled
    # Rows at even steps stand for the whole sample: their noise is that of all its rows.
    return _fit_km(drawn[0][:, None], drawn[1][:, None], form, sizes, 1 / sizes[0] + 1 / sizes[1])


def fit_km_features(
    positive_x: ArrayLike, unlabeled_x: ArrayLike, *, form: Form = "km2", rng: np.random.Generator
) -> Fit:
    """α from features, a row for each case, standardised over both samples."""
    # Rows are drawn without replacement. In ten dimensions and more the few rows leave much noise, and small
    # α come out too high.
    p, u = np.asarray(positive_x, dtype=np.float64), np.asarray(unlabeled_x, dtype=np.float64)
    mean, spread = standard(p, u)
    drawn = [
        (x if len(x) <= MAX_ROWS else x[rng.choice(len(x), MAX_ROWS, replace=False)]) - mean for x in (p, u)
    ]
    noise = 1 / len(drawn[0]) + 1 / len(drawn[1])
    return _fit_km(drawn[0] / spread, drawn[1] / spread, form, (len(p), len(u)), noise)


def standard(positive: Vector, unlabeled: Vector) -> tuple[Vector, Vector]:
    """Mean and standard deviation of each feature over both samples; 1 for one that does not vary."""
    both = np.concatenate([positive, unlabeled])
    spread = both.std(axis=0)
    return both.mean(axis=0), np.where(spread > 0, spread, 1.0)


def _drawn(share: Vector, count: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Indices of rows at even steps of the masses. All rows, if there are ``count`` of equal weight."""
    cumulative = np.cumsum(share)
    at = (np.arange(count) + rng.uniform(0.01, 0.99)) / count * cumulative[-1]
    return np.asarray(np.searchsorted(cumulative, at))


def _fit_km(positive: Vector, unlabeled: Vector, form: Form, sizes: tuple[float, float], noise: float) -> Fit:
    used = len(positive), len(unlabeled)
    notes = tuple(
        Note("method", f"{few} of {round(size)} {name} rows were used.")
        for few, size, name in zip(used, sizes, ("positive", "unlabeled"), strict=True)
        if few < size
    )
    gap = _gap(positive, unlabeled, noise)
    if gap is None:
        text = "Positives and unlabeled differ no more than two samples of one law."
        same = Note("identifiability", text)
        return Fit(value=1.0, notes=(*notes, same))
    threshold = gap.threshold(form)
    low, high, slopes = 0.0, LARGEST, {LARGEST: gap.at(LARGEST)[1]}
    if slopes[LARGEST] < threshold:
        low = high = 1.0
    for _ in range(HALVINGS if high < 1 else 0):
        middle = (low + high) / 2
        slopes[middle] = gap.at(middle)[1]
        low, high = (low, middle) if slopes[middle] >= threshold else (middle, high)
    value = (low + high) / 2
    x = np.array(sorted(slopes))
    curve = Curve(
        x=x,
        y=np.array([slopes[alpha] for alpha in x]),
        x_label="α = (λ−1)/λ",
        y_label=f"slope of the distance to the simplex; threshold {threshold:.3g}",
        chosen=value,
    )
    return Fit(value=value, curve=curve, notes=notes)


@dataclass(frozen=True, kw_only=True, eq=False)
class Gap:
    """The distance of λφ(U) + (1−λ)φ(P) to the simplex of the rows.

    ``factor`` F has a row for each case with F Fᵀ the kernel matrix; ``positive`` and ``unlabeled`` are the
    weights of the rows in the two samples.
    """

    factor: Vector
    positive: Vector
    unlabeled: Vector
    n: int

    @cached_property
    def apart(self) -> Vector:
        """φ(U) − φ(P)."""
        return (self.unlabeled - self.positive) @ self.factor

    def at(self, alpha: float) -> tuple[float, float]:
        """Distance and its slope in λ at λ = 1/(1−α)."""
        # Non-negative least squares over the rows' weights, with their sum as one more equation. The slope
        # needs no second solution: the nearest point may be held fixed.
        from scipy.optimize import nnls

        target = self.unlabeled @ self.factor + alpha / (1 - alpha) * self.apart
        equations = np.vstack([self.factor.T, np.full(len(self.factor), SUM_WEIGHT)])
        weight, _ = nnls(equations, np.append(target, SUM_WEIGHT), maxiter=50 * len(self.factor))
        residual = target - weight / weight.sum() @ self.factor
        distance = float(np.sqrt(residual @ residual))
        return distance, float(residual @ self.apart / distance) if distance > 1e-12 else 0.0

    def threshold(self, form: Form) -> float:
        """The slope to pass. Where KM1's is above nearly every slope, KM2's is taken, as its authors do."""
        last = float(np.sqrt(self.apart @ self.apart))
        plain = 1 / np.sqrt(self.n)
        if form == "km1" and plain <= 0.9 * last:
            return float(plain)
        first = self.at(FIRST_STEP / (1 + FIRST_STEP))[0] / FIRST_STEP
        return FIRST_PART * first + (1 - FIRST_PART) * last


def _gap(positive: Vector, unlabeled: Vector, noise: float) -> Gap | None:
    """The kernel of the width that sets P and U furthest apart, or nothing where they are one law."""
    from scipy.spatial.distance import pdist, squareform

    rows = np.concatenate([positive, unlabeled])
    square = pdist(rows, "sqeuclidean")
    if not (square > 0).any():
        return None
    square /= np.median(square[square > 0])
    p, u = (np.repeat(pair, (len(positive), len(unlabeled))) for pair in ((1.0, 0.0), (0.0, 1.0)))
    p, u = p / p.sum(), u / u.sum()
    best, kernel = -np.inf, square
    for width in WIDTHS:
        trial = squareform(np.exp(-square / (2 * width**2)))
        np.fill_diagonal(trial, 1.0)
        # A narrow kernel sets any two samples apart: only what exceeds the mean under one law counts.
        excess = float((u - p) @ trial @ (u - p)) - noise * (1 - trial.mean())
        if excess > best:
            best, kernel = excess, trial
    if best <= SAME_LAW * noise * _deviation(kernel):
        return None
    return Gap(factor=_factor(kernel), positive=p, unlabeled=u, n=min(len(positive), len(unlabeled)))


def _deviation(kernel: Vector) -> float:
    """That of the squared distance of φ(U) and φ(P) under one law, for 1/n_P + 1/n_U = 1."""
    centred = kernel - kernel.mean(axis=0)
    centred -= centred.mean(axis=1)[:, None]
    return float(np.sqrt(2 * np.mean(centred**2)))


def _factor(kernel: Vector) -> Vector:
    """F with F Fᵀ = kernel, of as few columns as its rank: Cholesky with pivoting."""
    from scipy.linalg.lapack import dpstrf

    lower, pivot, rank, _ = dpstrf(kernel, lower=1, tol=1e-10)
    factor = np.empty((len(kernel), rank))
    factor[pivot - 1] = np.tril(lower)[:, :rank]
    return factor


GRID = np.linspace(0, 1, 201)  # values of α; the step is below the noise of any sample
FOLDS = 5
RIDGES = (1e-3, 1e-2, 1e-1, 1e0, 1e1)  # the held-out objective is linear in 1/η: mostly an end wins
RANK_WIDTHS = (0.02, 0.05, 0.1, 0.2, 0.5)  # widths of the bases on ranks, which run from 0 to 1
RANK_BASES = 50  # bases on ranks: as far apart as the narrowest is wide
CELLS = 250  # scores are joined into so many cells of the pooled ranks, a fifth of the narrowest width each
# Widths of the bases on features, in medians of the distances. Narrower ones hold few rows: more noise.
FEATURE_WIDTHS = (0.2, 0.35, 0.5, 1.0, 2.0)
BASES = 100  # bases on features, at rows drawn from both samples
MAX_FEATURE_ROWS = 20_000  # rows used of each sample: more take seconds, and add little to 100 means


def fit_divergence(samples: Samples, *, rng: np.random.Generator) -> Fit:
    """α from scores, with bases on the ranks in the pool of P and U: only the order matters."""
    p, u = joined((samples.p, samples.u), mid_ranks(samples.p, samples.u), CELLS)
    rank = mid_ranks(p, u)
    centre = (np.arange(RANK_BASES) + 0.5) / RANK_BASES
    square = (rank[:, None] - centre) ** 2
    bases = np.stack([np.exp(-square / (2 * width**2)) for width in RANK_WIDTHS])
    dealt = [
        rng.multinomial(np.floor(size * mass + rng.random(len(mass))).astype(np.int64), np.full(FOLDS, 0.2)).T
        for size, mass in ((samples.n_positive, p), (samples.n_unlabeled, u))
    ]
    totals = [folds @ bases for folds in dealt]
    counts = [folds.sum(axis=1) for folds in dealt]
    return _fit_divergence((p @ bases, u @ bases), totals, counts)


def fit_divergence_features(
    positive_x: ArrayLike, unlabeled_x: ArrayLike, *, rng: np.random.Generator
) -> Fit:
    """α from features, a row for each case, standardised over both samples."""
    # Gaussian bases see little in many dimensions: from about ten on, the result is far too high. Use scores.
    p, u = np.asarray(positive_x, dtype=np.float64), np.asarray(unlabeled_x, dtype=np.float64)
    mean, spread = standard(p, u)
    notes = tuple(
        Note("method", f"{MAX_FEATURE_ROWS} of {len(x)} {name} rows were used.")
        for name, x in (("positive", p), ("unlabeled", u))
        if len(x) > MAX_FEATURE_ROWS
    )
    # In random order the rows of one fold are those at every fifth place.
    drawn = [(x[rng.permutation(len(x))[:MAX_FEATURE_ROWS]] - mean) / spread for x in (p, u)]
    centre = np.concatenate([x[: BASES // 2] for x in drawn])
    squares = [_squares(x, centre) for x in drawn]
    middle = np.median(np.concatenate(squares))
    scale = middle if middle > 0 else 1.0
    totals, counts = [], []
    for square in squares:
        of_fold = np.arange(len(square)) % FOLDS
        counts.append(np.bincount(of_fold, minlength=FOLDS))
        total = np.zeros((len(FEATURE_WIDTHS), FOLDS, len(centre)))
        for k, width in enumerate(FEATURE_WIDTHS):
            bases = np.exp(-square / (2 * width**2 * scale))
            for fold in range(FOLDS):
                total[k, fold] = bases[fold::FOLDS].sum(axis=0)
        totals.append(total)
    means = totals[0].sum(axis=1) / len(drawn[0]), totals[1].sum(axis=1) / len(drawn[1])
    return _fit_divergence(means, totals, counts, notes)


def _squares(x: Vector, centre: Vector) -> Vector:
    """Squared distances of rows to centres, with no array of rows × centres × features."""
    product = (x**2).sum(axis=1)[:, None] + (centre**2).sum(axis=1) - 2 * x @ centre.T
    return np.asarray(np.maximum(product, 0.0))


def _fit_divergence(
    means: tuple[Vector, Vector],
    totals: list[Vector],
    counts: list[NDArray[np.int64]],
    notes: tuple[Note, ...] = (),
) -> Fit:
    """From the means of the bases, (widths, bases), and their sums in folds, (widths, folds, bases)."""
    inside = _violation(means, means)
    used = np.logical_and.reduce([(n > 0) & (n < n.sum()) for n in counts])
    if used.any():
        of_fold, of_others = [], []
        for total, n in zip(totals, counts, strict=True):
            of_fold.append(total[:, used] / n[used, None])
            of_others.append((total.sum(axis=1, keepdims=True) - total[:, used]) / (n.sum() - n[used, None]))
        outside = _violation(of_others, of_fold).mean(axis=2)
    else:  # no fold leaves rows of both samples on both sides
        outside = inside
    ridge = np.array(RIDGES)[:, None, None]
    score, fitted = ((violation.T / ridge).reshape(-1, len(GRID)) for violation in (outside, inside))
    best = score.argmax(axis=0)
    objective = fitted[best, np.arange(len(GRID))] - GRID + 1
    value = float(GRID[objective.argmin()])
    curve = Curve(x=GRID, y=objective, x_label="α", y_label="penalised L₁ divergence", chosen=value)
    return Fit(value=value, curve=curve, notes=notes)


def _violation(fitted: Sequence[Vector], counted: Sequence[Vector]) -> Vector:
    """Σ max(0, β) β′ over the bases for each α, first axis: β of the rows fitted, β′ of those counted."""
    alpha = GRID.reshape(-1, *[1] * fitted[0].ndim)
    weight = np.maximum(alpha * fitted[0] - fitted[1], 0.0)
    return np.asarray(np.einsum("...k,...k->...", weight, alpha * counted[0] - counted[1]))
