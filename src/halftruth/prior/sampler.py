"""Draws from a posterior by tempering: from the prior in steps that keep half of the draws alive.

Parameters live in the unit cube with a uniform prior. After each step the draws are resampled and moved by
Metropolis steps that leave the tempered posterior as it is (Del Moral, Doucet & Jasra 2006).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from halftruth._checks import Vector

LogLikelihood = Callable[[Vector], Vector]
"""(n_draws, n_parameters) in the unit cube → (n_draws,)."""

MOVES = 8
"""Metropolis steps at each temperature, and twice as many at the last."""
ALIVE = 0.5
"""Share of the draws that a step of the temperature leaves in effect."""
ANYWHERE = 0.3
"""How often one parameter is drawn afresh from its prior: the way from one kind of shape to another."""


def draw_posterior(
    log_likelihood: LogLikelihood, n_parameters: int, n_draws: int, rng: np.random.Generator
) -> tuple[Vector, Vector]:
    """Draws (n_draws, n_parameters) from the posterior, and their log likelihoods."""
    draws = rng.random((n_draws, n_parameters))
    fit = log_likelihood(draws)
    heat = 0.0
    while heat < 1:
        step = _next_step(fit, 1 - heat)
        heat = 1.0 if step == 1 - heat else heat + step
        share = np.cumsum(np.exp(step * (fit - fit.max())))
        chosen = np.searchsorted(share, share[-1] * (rng.random() + np.arange(n_draws)) / n_draws)
        draws, fit = draws[chosen], fit[chosen]
        for move in range(MOVES if heat < 1 else 2 * MOVES):
            proposed = _one_moved(draws, rng) if move % 2 else _all_moved(draws, rng)
            other = log_likelihood(proposed)
            accepted = np.log1p(-rng.random(n_draws)) < heat * (other - fit)
            draws[accepted], fit[accepted] = proposed[accepted], other[accepted]
    return draws, fit


def _next_step(fit: Vector, left: float) -> float:
    """The largest step of the temperature that keeps enough draws in effect."""

    def alive(step: float) -> float:
        weight = np.exp(step * (fit - fit.max()))
        return float(weight.sum() ** 2 / (weight**2).sum() / len(fit))

    if alive(left) >= ALIVE:
        return left
    low, high = 0.0, left
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if alive(middle) >= ALIVE else (low, middle)
    return high


def _all_moved(draws: Vector, rng: np.random.Generator) -> Vector:
    """A normal step of every parameter, as the draws are spread; now and then a short one."""
    n, k = draws.shape
    away = draws - draws.mean(axis=0)
    factor = np.linalg.cholesky(away.T @ away / n + 1e-10 * np.eye(k))
    size = 2.4 / np.sqrt(k) * rng.choice([0.3, 1.0], (n, 1))
    return _into_cube(draws + size * rng.standard_normal((n, k)) @ factor.T)


def _one_moved(draws: Vector, rng: np.random.Generator) -> Vector:
    """A step of one parameter, short or anywhere."""
    n, k = draws.shape
    row, which = np.arange(n), rng.integers(0, k, n)
    near = draws[row, which] + rng.standard_normal(n) * draws.std(axis=0)[which]
    moved = draws.copy()
    moved[row, which] = _into_cube(np.where(rng.random(n) < ANYWHERE, rng.random(n), near))
    return moved


def _into_cube(x: Vector) -> Vector:
    """Reflected at 0 and 1, so that a step and its reverse are as likely."""
    x = np.abs(x) % 2
    return np.where(x > 1, 2 - x, x)
