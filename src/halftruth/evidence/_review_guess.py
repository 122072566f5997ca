"""Guesses p̂ of who is positive, along the score, and chances of a review, both from the reviews."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from halftruth._checks import Vector
from halftruth._errors import InputError
from halftruth.measure._pseudo_labels import Guess

__all__ = ["best_guess", "guess_from", "review_rates"]

KNOTS = 1025  # of a guess that is a function: lines between them
IN_BLOCK = 25  # reviews whose mean is a rate
SURELY_LEFT_OUT = 9.0  # reviews to expect among rows of which none was reviewed: e⁻⁹ is the chance of that


def best_guess(
    wanted: str, score: Vector, target: Vector, times: Vector, weight: Vector, span: tuple[float, float]
) -> tuple[Guess, dict[str, float]]:
    """The guess with the least estimated variance of the number of positives, and all standard errors."""
    shares = span[0] >= 0 and span[1] <= 1
    if wanted == "score" and not shares:
        raise InputError(argument="model", must="be another where scores leave [0, 1]", got="'score'")
    names = [wanted] if wanted != "auto" else ["none", "blocks", "logistic", *(["score"] if shares else [])]
    guesses = {name: _guess(name, score, target, times * weight, span) for name in names}
    # Σ u (u − 1) (y − p̂)² estimates the variance that reviewing some rows only leaves.
    left = weight**2 * times * np.maximum(times - 1, 0.0)
    errors = {
        name: float(
            np.sqrt(np.sum(left * (_free(times) * (target - guess.at(score))) ** 2)) / np.sum(times * weight)
        )
        for name, (guess, _free) in guesses.items()
    }
    best = min(errors, key=lambda name: (errors[name], names.index(name)))
    return guesses[best][0], errors


def _guess(
    name: str, score: Vector, target: Vector, mass: Vector, span: tuple[float, float]
) -> tuple[Guess, Any]:
    ends = np.asarray(span)
    n_blocks = max(1, len(score) // IN_BLOCK)
    if name == "none":
        return Guess(ends, np.zeros(2), name), lambda _: 1.0
    if name == "score":
        return Guess(ends, ends, name), lambda _: 1.0
    if name == "logistic":
        # Two parameters are fitted: residuals of few reviews look smaller than they are.
        return _logistic(score, target, mass, span), lambda _: np.sqrt(len(score) / max(len(score) - 2, 1))
    free = np.sqrt(len(score) / max(len(score) - n_blocks, 1))
    return _blocks(score, target, mass, n_blocks, span), lambda _: free


def _blocks(score: Vector, target: Vector, mass: Vector, n_blocks: int, span: tuple[float, float]) -> Guess:
    """Rates of blocks of equally many reviews, never less than 0 or more than 1.

    Within a block the rate follows a logistic curve: where chances rise with the score, the reviewed rows of
    a block are its upper ones, and a flat rate would give their share to the lower ones.
    """
    shape = _logistic(score, target, mass, span)
    order = np.argsort(score, kind="stable")
    score, target, mass = score[order], target[order], mass[order]
    starts = np.unique(np.searchsorted(score, score[np.arange(n_blocks) * len(score) // n_blocks]))
    expected = np.add.reduceat(shape.at(score) * mass, starts)
    times = np.add.reduceat(target * mass, starts) / np.maximum(expected, 1e-300)
    # A step lies half-way between the last score of a block and the first of the next.
    step = (score[starts[1:]] + score[starts[1:] - 1]) / 2
    knots = np.unique(np.concatenate([shape.score, step, np.nextafter(step, np.inf)]))
    block = np.searchsorted(step, knots, side="left")  # a step is the last of its block
    return Guess(knots, np.clip(shape.at(knots) * times[block], 0, 1), "blocks")


def _logistic(score: Vector, target: Vector, mass: Vector, span: tuple[float, float]) -> Guess:
    """1/(1 + exp(−a − b x)), x the logit of a score in [0, 1] or the score itself, by Newton."""
    shares = span[0] >= 0 and span[1] <= 1

    def feature(s: Vector) -> Vector:
        inner = np.clip(s, 1e-6, 1 - 1e-6)
        return np.log(inner / (1 - inner)) if shares else s

    x = feature(score)
    scale = float(np.sqrt(np.average((x - np.average(x, weights=mass)) ** 2, weights=mass))) or 1.0
    design = np.stack([np.ones(len(x)), (x - np.average(x, weights=mass)) / scale], axis=1)
    share = mass / mass.sum() * len(mass)
    mean = float(np.clip(np.average(target, weights=mass), 1 / (len(x) + 2), 1 - 1 / (len(x) + 2)))
    beta = np.asarray([np.log(mean / (1 - mean)), 0.0])
    for _ in range(50):
        p = 1 / (1 + np.exp(-np.clip(design @ beta, -30, 30)))
        # A weak pull to a flat curve keeps classes that a score separates from an infinite slope.
        pull = np.asarray([0.0, 1.0])
        slope = design.T @ (share * (target - p)) - pull * beta
        curve = (design * (share * p * (1 - p))[:, None]).T @ design + np.diag(pull) + 1e-9 * np.eye(2)
        step = np.linalg.solve(curve, slope)
        beta = beta + np.clip(step, -2, 2)
        if np.abs(step).max() < 1e-8:
            break
    knots = _knots(span)
    z = beta[0] + beta[1] * (feature(knots) - np.average(x, weights=mass)) / scale
    return Guess(knots, 1 / (1 + np.exp(-np.clip(z, -30, 30))), "logistic")


def _knots(span: tuple[float, float]) -> Vector:
    low, high = span
    if low < 0 or high > 1 or low == high:
        return np.linspace(low, high, KNOTS) if high > low else np.asarray([low, high + 1.0])
    # Scores pile up near 0 and 1: steps there are steps of the logit.
    z = np.linspace(-14, 14, KNOTS - 2)
    inner = 1 / (1 + np.exp(-z))
    return np.unique(np.concatenate([[low], inner[(inner > low) & (inner < high)], [high]]))


def guess_from(model: Any, span: tuple[float, float], allowed: str) -> Guess:
    """A guess from a calibrator or a function of the scores."""
    if isinstance(model, Guess):
        return model
    predict = getattr(model, "predict", model)
    if not callable(predict):
        raise InputError(argument="model", must=f"be {allowed}", got=repr(model))
    knots = _knots(span)
    share = np.asarray(predict(knots), dtype=np.float64)
    if share.shape != knots.shape or not ((share >= 0) & (share <= 1)).all():
        raise InputError(argument="model", must="give one probability for each score", got=f"{share[:3]}…")
    return Guess(knots, share, "given")


def review_rates(
    score: Vector, reviewed: NDArray[np.bool_], known: NDArray[np.intp], weight: Vector | None
) -> Vector:
    """1/e estimated from the score: rows over reviewed rows, in blocks of equally many reviews.

    Rows of a stretch of scores where reviews should have been and none is have no chance that could be
    estimated: inf. Positives ``known`` otherwise are no rows of which some were reviewed.
    """
    if not reviewed.any():
        raise InputError("`label` has no reviewed row. Pass 1 or 0 for the rows that somebody looked at.")
    each = np.ones(len(score)) if weight is None else weight.copy()
    each[known] = 0.0
    seen = np.sort(score[reviewed])
    n_blocks = max(1, len(seen) // IN_BLOCK)
    starts = np.unique(np.searchsorted(seen, seen[np.arange(n_blocks) * len(seen) // n_blocks]))
    edges = (seen[starts[1:]] + seen[starts[1:] - 1]) / 2
    block = np.searchsorted(edges, score, side="right")
    looked = np.bincount(block, each * reviewed, len(edges) + 1)
    out = np.full(len(score), np.inf)
    open_rows = np.zeros(len(score), dtype=bool)
    # Gaps between neighbouring reviews that hold far more rows than the reviews of their block explain.
    gap = np.searchsorted(seen, score, side="left") + np.searchsorted(seen, score, side="right")
    at_review = np.isin(score, seen)
    for _ in range(3):  # leaving rows open raises the rates of the others
        rows = np.bincount(block, each * ~open_rows, len(edges) + 1)
        rate = np.clip(looked / np.maximum(rows, 1e-300), 0, 1)
        expected = np.bincount(gap, each * rate[block] * ~at_review * ~open_rows, 2 * len(seen) + 1)
        left_out = (expected > SURELY_LEFT_OUT)[gap] & ~at_review
        if not (left_out & ~open_rows).any():
            break
        open_rows |= left_out
    out = 1 / rate[block]
    out[open_rows & ~reviewed] = np.inf
    out[known] = 1.0
    return out
