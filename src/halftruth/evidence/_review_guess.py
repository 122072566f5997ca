"""Guesses p̂ of who is positive, along the score, and chances of a review, both from the reviews."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, arg
from halftruth.evidence._review_design import Reviews
from halftruth.measure._fitted_guess import FittedGuess, Guess, LineGuess

__all__ = ["best_guess", "guess_from", "review_rates"]

KNOTS = 1025  # of a guess that is a function: lines between them
IN_BLOCK, MOST_BLOCKS = 25, 64  # reviews in effect whose mean is a rate
LEAST_CHANCE = 1e-9
WEAK_PULL = 100.0  # of the regression on features, to no effect: hardly any
BALANCE, SLACK = 5.0, 0.02  # errors and share by which rows that reviews stand for may differ from all
SURELY_A_JUMP = 10.0  # of the log-likelihood: what two rates explain better than one
SURELY_LEFT_OUT = 13.0  # reviews to expect among rows of which none was reviewed: e⁻¹³ is the chance of that


def best_guess(wanted: str, reviews: Reviews, span: tuple[float, float]) -> tuple[Guess, dict[str, float]]:
    """The guess with the least estimated variance of the number of positives, and all standard errors."""
    shares = span[0] >= 0 and span[1] <= 1
    if wanted == "score" and not shares:
        raise InputError(argument="model", must="be another where scores leave [0, 1]", got="'score'")
    names = [wanted] if wanted != "auto" else ["none", "blocks", "logistic", *(["score"] if shares else [])]
    mass = reviews.times * reviews.weight
    guesses = {name: _guess(name, reviews.score, reviews.target, mass, span) for name in names}
    errors = {
        name: free * float(np.sqrt(np.sum(reviews.noise(guess))) / np.sum(mass))
        for name, (guess, free) in guesses.items()
    }
    best = min(errors, key=lambda name: (errors[name], names.index(name)))
    return guesses[best][0], errors


def _guess(
    name: str, score: Vector, target: Vector, mass: Vector, span: tuple[float, float]
) -> tuple[Guess, float]:
    """A guess, and by how much residuals look smaller than they are, where it was fitted to few reviews."""
    ends, n = np.asarray(span), len(score)
    if name in ("none", "score"):
        return LineGuess(ends, ends if name == "score" else np.zeros(2), name), 1.0
    steps = _steps(score, mass) if name == "blocks" else None
    guess = FittedGuess.of(score, target * mass, mass, steps, of_shares=bool(span[0] >= 0 and span[1] <= 1))
    n_fitted = 2 if steps is None else len(steps) + 1
    return guess, float(np.sqrt(n / max(n - n_fitted, 1)))


def _steps(score: Vector, mass: Vector) -> Vector:
    """Half-way from the last score of a block of reviews to the first of the next.

    What counts is (Σ mass)²/Σ mass²: of reviews that were certain beside one that stands for a hundred rows,
    the mean is the label of that one.
    """
    order = np.argsort(score, kind="stable")
    seen, n = score[order], len(score)
    first, second = (np.append(0.0, np.cumsum(mass[order] ** k)) for k in (1, 2))

    def enough(start: np.intp | int, stop: NDArray[np.intp]) -> NDArray[np.bool_]:
        whole, squares = first[stop] - first[start], second[stop] - second[start]
        return np.asarray(whole**2 >= (IN_BLOCK - 1e-6) * squares)

    least, start, ends = max(IN_BLOCK, -(-n // MOST_BLOCKS)), 0, []
    gaps = np.append(np.flatnonzero(np.diff(seen)) + 1, n)  # where a block may end
    while n - start >= 2 * least:
        stop = gaps[np.searchsorted(gaps, start + least) :]
        if not enough(start, stop[:1])[0]:
            stop = stop[enough(start, stop)]
        # The rest is a block of its own, or none is made.
        if not len(stop) or stop[0] == n or not enough(stop[0], gaps[-1:])[0]:
            break
        start = int(stop[0])
        ends.append(start)
    at = np.asarray(ends, dtype=np.intp)
    return np.asarray((seen[at - 1] + seen[at]) / 2)


def guess_from(model: Any, span: tuple[float, float], allowed: str) -> Guess:
    """A guess from a calibrator or a function of the scores."""
    if isinstance(model, (LineGuess, FittedGuess)):
        return model
    predict = getattr(model, "predict", model)
    if not callable(predict):
        raise InputError(argument="model", must=f"be {allowed}", got=repr(model))
    knots = _knots(span)
    share = np.asarray(predict(knots), dtype=np.float64)
    if share.shape != knots.shape or not ((share >= 0) & (share <= 1)).all():
        raise InputError(argument="model", must="give one probability for each score", got=f"{share[:3]}…")
    return LineGuess(knots, share, "given")


def _knots(span: tuple[float, float]) -> Vector:
    low, high = span
    if low < 0 or high > 1 or low == high:
        return np.linspace(low, high, KNOTS) if high > low else np.asarray([low, high + 1.0])
    # Scores pile up near 0 and 1: steps there are steps of the logit.
    z = np.linspace(-14, 14, KNOTS - 2)
    inner = 1 / (1 + np.exp(-z))
    return np.unique(np.concatenate([[low], inner[(inner > low) & (inner < high)], [high]]))


def review_rates(
    score: Vector,
    reviewed: NDArray[np.bool_],
    known: NDArray[np.intp],
    weight: Vector | None,
    features: Any = None,
) -> Vector:
    """1/e estimated from the score: rows over reviewed rows, in blocks of equally many reviews.

    With ``features``, chances differ within a block as a logistic regression on them has it.

    Rows of a stretch of scores where reviews should have been and none is have no chance that could be
    estimated: inf. Positives ``known`` otherwise are no rows of which some were reviewed.
    """
    each = np.ones(len(score)) if weight is None else weight.copy()
    each[known] = 0.0
    seen = np.sort(score[reviewed & (each > 0)])
    if not len(seen):
        raise InputError("`label` has no reviewed row. Pass 1 or 0 for the rows that somebody looked at.")
    # Weights that are no whole numbers do not count rows; they are added up in one order, whatever the rows'.
    count = each if (each == np.floor(each)).all() else (each > 0).astype(float)
    order = slice(None) if weight is None else np.argsort(weight, kind="stable")
    distinct = np.unique(seen)
    # Rows at each score that was looked at, and between two of them.
    gap = np.searchsorted(distinct, score, side="left") + np.searchsorted(distinct, score, side="right")
    looked, rows = (
        np.asarray(np.bincount(gap, of, 2 * len(distinct) + 1), dtype=np.float64)
        for of in (count * reviewed, count)
    )
    left_out = _surely_left_out(looked, rows)
    open_rows = left_out[gap]
    edges = _block_edges(seen, looked, rows * ~left_out)
    block = np.searchsorted(edges, score, side="right")
    in_reviews, in_block = (
        np.bincount(block[order], (each * x)[order], len(edges) + 1) for x in (reviewed, ~open_rows)
    )
    chance = np.clip(in_reviews / np.maximum(in_block, 1e-300), 0, 1)[block]
    if features is not None:
        asked = (each > 0) & ~open_rows
        x = _checks.matrix(features, "features", length=len(score))
        chance = _within_blocks(chance, reviewed, x, each * asked)
        # As many reviews in each block as there were: what the blocks know is not undone.
        found = np.bincount(block, each * asked * chance, len(edges) + 1)
        times = np.divide(in_reviews, found, out=np.ones_like(found), where=found > 0)
        chance = np.clip(chance * times[block], LEAST_CHANCE, 1)
        _refuse_unseen(x, reviewed, each * asked, chance)
    out = 1 / chance
    out[open_rows & ~reviewed] = np.inf
    out[known] = 1.0
    return out


def _surely_left_out(looked: Vector, rows: Vector) -> NDArray[np.bool_]:
    """Gaps between neighbouring reviews that hold far more rows than the reviews beside them explain.

    The lower rate of either side: where chances jump, a gap is of the side that was looked at less.
    """
    n_seen, gaps = np.arange(len(rows) // 2 + 1), rows[::2]
    inside, gap_rows, reviews = (np.append(0.0, np.cumsum(x)) for x in (rows[1::2], gaps, looked[1::2]))
    rate = np.full(len(gaps), np.inf)
    for first, stop in (
        (np.maximum(n_seen - IN_BLOCK, 0), n_seen),
        (n_seen, np.minimum(n_seen + IN_BLOCK, n_seen[-1])),
    ):
        some = stop > first
        among = inside[stop] - inside[first] + gap_rows[stop] - gap_rows[np.minimum(first + 1, stop)]
        # The last review ends what it was counted in: of one review alone there is no rate.
        between = (reviews[stop] - reviews[first]) * (1 - 1 / np.maximum(stop - first, 1))
        rate[some] = np.minimum(rate, between / np.maximum(among, 1e-300))[some]
    out = np.zeros(len(rows), dtype=bool)
    out[::2] = gaps * rate > SURELY_LEFT_OUT
    return out


def _block_edges(seen: Vector, looked: Vector, rows: Vector) -> Vector:
    """Scores at which blocks of about equally many reviews begin; none lies on both sides of a jump.

    ``seen`` are the scores that were looked at, ascending. ``looked`` and ``rows`` count below the first of
    them, at it, between it and the next, and so on. The chance of a review often jumps, as from 1% to all
    above a score: a rate over both sides is that of neither.
    """
    distinct, jumps = np.unique(seen), []
    before = [np.append(0.0, np.cumsum(x)) for x in (looked, rows)]
    for start in range(0, max(len(distinct) - IN_BLOCK, 1), IN_BLOCK):
        stop = min(start + 2 * IN_BLOCK, len(distinct))
        # Before or after a score that was looked at, between the first and the last of two blocks.
        cut = np.arange(2 * start + 2, 2 * stop)
        low, middle, high = (np.asarray([x[at] for x in before]) for at in (2 * start, cut, 2 * stop + 1))
        whole = _log_likelihood(*(high - low))
        gain = _log_likelihood(*(middle - low[:, None])) + _log_likelihood(*(high[:, None] - middle)) - whole
        if gain.max(initial=0.0) > SURELY_A_JUMP:
            jumps.append((gain.max(), int(cut[np.argmax(gain)])))
    kept: list[int] = []
    for _, cut_at in sorted(jumps, reverse=True):  # what several windows saw is one jump
        if all(abs(cut_at - other) >= 2 * IN_BLOCK for other in kept):
            kept.append(cut_at)
    beside = [(i, distinct[(i - 1) // 2]) for i in kept]
    edges = [float(at if i % 2 else np.nextafter(at, np.inf)) for i, at in beside]
    parts = np.split(seen, np.sort(np.searchsorted(seen, edges)))
    for part in parts:
        n_blocks = max(1, len(part) // IN_BLOCK)
        starts = np.searchsorted(part, part[np.arange(n_blocks) * len(part) // n_blocks])
        starts = starts[starts > 0]
        edges.extend((part[starts] + part[starts - 1]) / 2)
    return np.unique(edges)


def _log_likelihood(k: Vector, n: Vector) -> Vector:
    """Of k of n, at the rate k/n."""
    of_k, of_rest, of_all = (x * np.log(np.maximum(x, 1e-300)) for x in (k, n - k, n))
    return np.asarray(of_k + of_rest - of_all)


def _refuse_unseen(features: Vector, reviewed: NDArray[np.bool_], mass: Vector, chance: Vector) -> None:
    """Refuse estimated chances by which reviewed rows do not stand for the others, feature by feature.

    Where hardly anybody looks, the regression finds a tiny chance, and no review that stands for many rows.
    """
    x = np.column_stack([np.ones(len(mass)), features])
    times = mass * reviewed / chance
    gap = (times - mass) @ x
    noise = np.sqrt((times * np.maximum(1 / chance - 1, 0)) @ x**2)
    bad = np.flatnonzero(np.abs(gap) > BALANCE * noise + SLACK * (mass @ np.abs(x)))
    if len(bad):
        where = "the features" if bad[0] == 0 else f"feature {bad[0] - 1}"
        raise InputError(
            f"By the chances estimated from the score and {where}, reviewed rows stand for "
            f"{times.sum():.5g} of {mass.sum():.5g}: some of the rows, as those of a channel, were hardly "
            f"looked at, or chances hang on the features in another way. Give these rows, by "
            f"{arg('probability')}, the chance 0 where nobody could look, or leave them out."
        )


def _within_blocks(chance: Vector, reviewed: NDArray[np.bool_], x: Vector, mass: Vector) -> Vector:
    """Chances of a review by the features, beside those by the score."""
    from sklearn.linear_model import LogisticRegression

    asked = mass > 0
    if reviewed[asked].all():
        return chance
    spread = x[asked].std(axis=0)
    x = (x - x[asked].mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    inner = np.clip(chance, LEAST_CHANCE, 1 - LEAST_CHANCE)
    design = np.column_stack([np.log(inner / (1 - inner)), x])
    model = LogisticRegression(C=WEAK_PULL, max_iter=1000)
    model.fit(design[asked], reviewed[asked], sample_weight=mass[asked])
    return np.asarray(model.predict_proba(design)[:, 1])
