"""The classifiers of the Bayes error paper: one hidden layer or none, by gradient descent, many at once.

Two softmax outputs hold no more than their difference. It is what is kept, one logit: the step of the last
layer is then twice as long, and its first weights are differences of two draws.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halftruth._checks import Vector

HIDDEN = 500
EPOCHS = 150
STEP = 0.005
MOMENTUM = 0.9
BATCH = 32
"""Rows of one step of the descent. The paper does not say how many."""
BLOCK = 2000
"""Rows whose hidden units are held at once."""

Array = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Models:
    """Weights of classifiers side by side, the last axes first those of a layer's inputs, the last a 1.

    ``hidden`` is (..., d + 1, units), or None for linear models; ``output`` (..., units + 1, 1), or for
    linear models (..., d + 1, 1). The axes before these number the classifiers.
    """

    hidden: Array | None
    output: Array

    @property
    def layers(self) -> list[Array]:
        return [self.output] if self.hidden is None else [self.hidden, self.output]

    def units(self, x: Array, out: Array | None = None) -> Array:
        """What the last layer sees of rows that end in a 1."""
        if self.hidden is None:
            return x
        units = np.matmul(x, self.hidden, out=out)
        return np.maximum(units, 0, out=units)

    def logits(self, units: Array) -> Array:
        """Of the positive class, (..., rows)."""
        if self.hidden is None:
            return np.asarray((units @ self.output)[..., 0])
        # The constant by itself: a column of ones among 500 units would be a copy of them all.
        return np.asarray((units @ self.output[..., :-1, :])[..., 0] + self.output[..., -1:, 0])


def first_models(
    shape: tuple[int, ...], n_features: int, hidden: int | None, rng: np.random.Generator
) -> Models:
    """Uniform weights and constants within 1/√inputs.

    Examples
    --------
    >>> import numpy as np
    >>> models = first_models((10, 2), 4, 500, np.random.default_rng(0))
    >>> models.hidden.shape, models.output.shape, float(abs(models.hidden).max()) <= 0.5
    ((10, 2, 5, 500), (10, 2, 501, 1), True)
    """

    def drawn(inputs: int, outputs: int) -> Array:
        size = (*shape, inputs + 1, outputs)
        return rng.uniform(-(inputs**-0.5), inputs**-0.5, size).astype(np.float32)

    first = None if hidden is None else drawn(n_features, hidden)
    inputs = n_features if hidden is None else hidden
    return Models(first, drawn(inputs, 1) - drawn(inputs, 1))


def train(
    x: Array,
    labels: Array,
    start: Models,
    rng: np.random.Generator,
    *,
    epochs: int = EPOCHS,
    batch: int = BATCH,
) -> Models:
    """Descend on the mean log loss, with momentum, in batches of rows in an order new for every epoch.

    Parameters
    ----------
    x : array of shape (trials, n, d)
    labels : array of shape (trials, kinds, n)
        P(Y = 1 | x), or 0 and 1. The classifiers of a trial see the same rows in the same order.
    start : Models
        (trials, kinds) of them.
    rng : numpy Generator
    epochs, batch : int
        Times that all rows are seen, and how many at once.

    Returns
    -------
    Models

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = np.linspace(-1, 1, 100, dtype=np.float32).reshape(1, 100, 1)
    >>> models = train(x, (x[:, None, :, 0] > 0).astype("f"), first_models((1, 1), 1, 20, rng), rng)
    >>> (probabilities(models, x)[0, 0, ::33] > 0.5).tolist()
    [False, False, True, True]
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    models = Models(None if start.hidden is None else start.hidden.copy(), start.output.copy())
    speeds = [np.zeros_like(layer) for layer in models.layers]
    steps = [np.float32(STEP)] * (len(speeds) - 1) + [np.float32(2 * STEP)]
    trials, n, _ = x.shape
    rows = with_ones(x)
    trial = np.arange(trials)[:, None]
    shape = (2, *labels.shape[:2], min(batch, n))
    room = None if models.hidden is None else np.empty((*shape, models.hidden.shape[-1]), np.float32)
    # One thread: the rounding would hang on their number.
    with threadpool_limits(limits=1, user_api="blas"):
        for _ in range(epochs):
            order = rng.permuted(np.tile(np.arange(n), (trials, 1)), axis=1)
            mixed, targets = rows[trial, order], np.take_along_axis(labels, order[:, None], axis=2)
            for begin in range(0, n, batch):
                at = slice(begin, begin + batch)
                slopes = gradient(mixed[:, None, at], targets[..., at], models, room)
                for layer, speed, slope, step in zip(models.layers, speeds, slopes, steps, strict=True):
                    speed *= np.float32(MOMENTUM)
                    speed += slope
                    layer -= step * speed
    return models


def gradient(x: Array, labels: Array, models: Models, room: Array | None = None) -> list[Array]:
    """Slopes of the mean log loss of each classifier by its weights, layer by layer; rows end in a 1.

    ``room``, (2, ..., batch, units), is where the units are held: memory that is new costs more than they do.
    """
    units_room, alive = (None, None) if room is None else room[..., : x.shape[-2], :]
    units = models.units(x, units_room)
    error = (_logistic(models.logits(units)) - labels) / np.float32(x.shape[-2])
    if models.hidden is None:
        return [_transposed(units) @ error[..., None]]
    constant = error.sum(axis=-1)[..., None, None]
    last = np.concatenate([_transposed(units) @ error[..., None], constant], axis=-2)
    alive = np.greater(units, 0, out=np.empty_like(units) if alive is None else alive)
    # The weight of a unit is the same for all rows: it is applied to their sum.
    first = _transposed(x * error[..., None]) @ alive
    first *= np.swapaxes(models.output[..., :-1, :], -1, -2)
    return [first, last]


def probabilities(models: Models, x: Array) -> NDArray[np.float64]:
    """P(Y = 1 | x) by each classifier of a trial, (trials, kinds, n), for rows (trials, n, d)."""
    from threadpoolctl import threadpool_limits

    rows = with_ones(x)[:, None]
    blocks = [rows[..., begin : begin + BLOCK, :] for begin in range(0, x.shape[1], BLOCK)]
    with threadpool_limits(limits=1, user_api="blas"):
        logits = [models.logits(models.units(block)) for block in blocks]
    return np.asarray(_logistic(np.concatenate(logits, axis=-1).astype(np.float64)))


def with_ones(x: Any) -> Array:
    """Rows in single precision, each with a 1 at its end."""
    rows = np.asarray(x, dtype=np.float32)
    return np.concatenate([rows, np.ones((*rows.shape[:-1], 1), np.float32)], axis=-1)


def excess_error(chance: NDArray[np.float64], posterior: Vector) -> NDArray[np.float64]:
    """By how much the rule ``chance`` > ½ errs more than the best, expected over labels; last axis: rows.

    Examples
    --------
    >>> import numpy as np
    >>> float(excess_error(np.array([0.9, 0.2]), np.array([0.7, 0.6])).round(3))
    0.1
    """
    wrong = (chance > 0.5) != (posterior > 0.5)
    return np.asarray((wrong * np.abs(2 * posterior - 1)).mean(axis=-1))


def _logistic(logit: NDArray[Any]) -> NDArray[Any]:
    half = logit.dtype.type(0.5)
    return np.asarray(half + half * np.tanh(half * logit))


def _transposed(array: Array) -> Array:
    return np.swapaxes(array, -1, -2)
