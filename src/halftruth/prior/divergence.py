"""Penalised L₁ divergence of α f_P from f_U: the largest part of U that P can fill.

The divergence takes 1 − t of the ratio t = α f_P/f_U below 1 and an unbounded penalty above, so negatives may
overlap positives. With Gaussian bases φ, weights w ≥ 0 and a ridge η its dual has the closed form
Σ max(0, β)²/η − α + 1, β = α E_P φ − E_U φ; α̂ is its minimum (du Plessis, Niu & Sugiyama 2015). Width and
ridge are chosen at each α by cross-validation: held-out violations α f_P > f_U are penalised, noise is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from halftruth._checks import Vector
from halftruth._errors import Note
from halftruth.prior.em import joined, mid_ranks
from halftruth.prior.fit import Curve, Fit
from halftruth.prior.km import standard
from halftruth.prior.samples import Samples

GRID = np.linspace(0, 1, 201)
"""Values of α looked at. Their step is below the noise of any sample that fits this method."""
FOLDS = 5
RIDGES = (1e-3, 1e-2, 1e-1, 1e0, 1e1)
"""The held-out objective is linear in 1/η: the ends are what it mostly chooses."""
RANK_WIDTHS = (0.02, 0.05, 0.1, 0.2, 0.5)
"""Widths of the bases on ranks, which run from 0 to 1."""
RANK_BASES = 50
"""Bases on ranks: as far apart as the narrowest is wide."""
CELLS = 250
"""Scores are joined into so many cells of the pooled ranks, a fifth of the narrowest width each."""
WIDTHS = (0.2, 0.35, 0.5, 1.0, 2.0)
"""Widths of the bases on features, in medians of the distances. Narrower ones hold few rows: more noise."""
BASES = 100
"""Bases on features, at rows drawn from both samples."""
MAX_ROWS = 20_000
"""Rows of each sample that are used of features: more would take seconds, and add little to 100 means."""


def fit(samples: Samples, *, rng: np.random.Generator) -> Fit:
    """α from scores, with bases on the ranks in the pool of P and U: only the order matters.

    Parameters
    ----------
    samples : Samples
    rng : numpy.random.Generator
        Deals the rows into folds.
    """
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
    return _fit((p @ bases, u @ bases), totals, counts, ())


def fit_features(positive_x: Any, unlabeled_x: Any, *, rng: np.random.Generator) -> Fit:
    """α from features, a row for each case, standardised over both samples.

    Gaussian bases see little in many dimensions: from about ten on, the result is far too high. Use scores.

    Parameters
    ----------
    positive_x, unlabeled_x : (n, k) arrays
    rng : numpy.random.Generator
        Draws the centres of the bases and deals the rows into folds.
    """
    p, u = np.asarray(positive_x, dtype=np.float64), np.asarray(unlabeled_x, dtype=np.float64)
    mean, spread = standard(p, u)
    notes = tuple(
        Note("method", f"{MAX_ROWS} of {len(x)} {name} rows were used.")
        for name, x in (("positive", p), ("unlabeled", u))
        if len(x) > MAX_ROWS
    )
    # In random order the rows of one fold are those at every fifth place.
    drawn = [(x[rng.permutation(len(x))[:MAX_ROWS]] - mean) / spread for x in (p, u)]
    centre = np.concatenate([x[: BASES // 2] for x in drawn])
    squares = [_squares(x, centre) for x in drawn]
    middle = np.median(np.concatenate(squares))
    scale = middle if middle > 0 else 1.0
    totals, counts = [], []
    for square in squares:
        of_fold = np.arange(len(square)) % FOLDS
        counts.append(np.bincount(of_fold, minlength=FOLDS))
        total = np.zeros((len(WIDTHS), FOLDS, len(centre)))
        for which, width in enumerate(WIDTHS):
            bases = np.exp(-square / (2 * width**2 * scale))
            for fold in range(FOLDS):
                total[which, fold] = bases[fold::FOLDS].sum(axis=0)
        totals.append(total)
    means = totals[0].sum(axis=1) / len(drawn[0]), totals[1].sum(axis=1) / len(drawn[1])
    return _fit(means, totals, counts, notes)


def _squares(x: Vector, centre: Vector) -> Vector:
    """Squared distances of rows to centres, with no array of rows × centres × features."""
    product = (x**2).sum(axis=1)[:, None] + (centre**2).sum(axis=1) - 2 * x @ centre.T
    return np.asarray(np.maximum(product, 0.0))


def _fit(
    means: tuple[Vector, Vector], totals: list[Vector], counts: list[Any], notes: tuple[Note, ...]
) -> Fit:
    """From the means of the bases, (widths, bases), and their sums in folds, (widths, folds, bases)."""
    inside = _violation(means, means)
    used = np.logical_and.reduce([(n > 0) & (n < n.sum()) for n in counts])
    if used.any():
        held, rest = [], []
        for total, n in zip(totals, counts, strict=True):
            held.append(total[:, used] / n[used, None])
            rest.append((total.sum(axis=1, keepdims=True) - total[:, used]) / (n.sum() - n[used, None]))
        outside = _violation(rest, held).mean(axis=2)
    else:  # no fold leaves rows of both samples on both sides
        outside = inside
    ridge = np.array(RIDGES)[:, None, None]
    score, fitted = ((part.T / ridge).reshape(-1, len(GRID)) for part in (outside, inside))
    best = score.argmax(axis=0)
    objective = fitted[best, np.arange(len(GRID))] - GRID + 1
    value = float(GRID[objective.argmin()])
    curve = Curve(x=GRID, y=objective, x_label="α", y_label="penalised L₁ divergence", chosen=value)
    return Fit(value=value, curve=curve, notes=notes)


def _violation(fitted: Sequence[Vector], seen: Sequence[Vector]) -> Vector:
    """Σ max(0, β) β′ over the bases for each α, first axis: β of the rows fitted, β′ of the rows seen."""
    alpha = GRID.reshape(-1, *[1] * fitted[0].ndim)
    weight = np.maximum(alpha * fitted[0] - fitted[1], 0.0)
    return np.asarray(np.einsum("...k,...k->...", weight, alpha * seen[0] - seen[1]))
