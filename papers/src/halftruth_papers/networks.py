"""Bags of small feed-forward networks, all trained at once.

As in Jain et al. 2017: each network has one layer of a few hidden units, sees its own bootstrap sample,
keeps a quarter of it apart to know when to stop, and learns by resilient propagation (Riedmiller & Braun
1993). A row is scored by the networks that never saw it. The networks stand side by side, so that the layer
of all of them is one matrix product.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError

Array = NDArray[Any]
"""float32 where networks are trained; float64 where the arithmetic is checked."""

HELD_OUT = 0.25
"""Share of the rows in a bag that only tell when to stop."""
FEWEST_ROWS = 8
FIRST_STEP, LEAST_STEP, LARGEST_STEP = 0.1, 1e-6, 50.0
FASTER, SLOWER = 1.2, 0.5
CELLS = 2**17
"""Hidden units times rows in one block: it stays in the cache."""


def bagged_scores(
    x: Any,
    labels: Any,
    rng: int | np.random.Generator = 0,
    *,
    n_networks: int = 100,
    n_hidden: int = 5,
    max_epochs: int = 500,
    patience: int = 6,
) -> Vector:
    """Score every row by the networks that did not see it.

    Features are standardised and constant ones dropped. A network is trained on three quarters of the
    distinct rows of its bag and stops when its log loss on the last quarter has not improved for
    ``patience`` epochs; the best weights are kept. A row that fell into every bag is taken out of one, so
    that no score is of a row seen.

    Parameters
    ----------
    x : array of shape (n, d)
    labels : array of n
        True or 1: labeled positive. False or 0: the rest.
    rng : int or numpy Generator
        The same seed gives the same scores on the same machine, whatever the number of threads.
    n_networks, n_hidden : int
        Networks, and hidden units in each.
    max_epochs : int
        Passes over the rows at most.
    patience : int
        Passes without improvement that end the training of a network.

    Returns
    -------
    array of n float64
        Mean of the networks' probabilities of a label, in (0, 1).

    Examples
    --------
    >>> import numpy as np
    >>> from halftruth_papers.networks import bagged_scores
    >>> x = np.random.default_rng(0).normal(size=(400, 2))
    >>> circle = (x**2).sum(axis=1) < 1
    >>> score = bagged_scores(x, circle, n_networks=20)
    >>> bool(score[circle].mean() > 0.8 and score[~circle].mean() < 0.2)
    True
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    n_networks = _checks.count(n_networks, "n_networks", least=2)
    n_hidden = _checks.count(n_hidden, "n_hidden", least=1)
    max_epochs = _checks.count(max_epochs, "max_epochs", least=1)
    patience = _checks.count(patience, "patience", least=1)
    rows, positive = prepared(x, labels)
    random = np.random.default_rng(rng)
    bags = draw_bags(len(rows), n_networks, random)
    start = first_weights(rows.shape[1], n_hidden, n_networks, random, share=positive.mean())
    # The products are too small to share: threads would cost more than they bring, and change the rounding.
    with threadpool_limits(limits=1, user_api="blas"):
        weights = train(rows, positive, bags, start, max_epochs=max_epochs, patience=patience)
        return out_of_bag(rows, bags, weights)


@dataclass(frozen=True)
class Bags:
    """How often each row (down) is trained on, or held out to stop, by each network (across)."""

    training: Array
    stopping: Array

    def of(self, networks: Array) -> Bags:
        return Bags(self.training.compress(networks, axis=1), self.stopping.compress(networks, axis=1))


@dataclass(frozen=True)
class Weights:
    """Networks side by side: one column each, a row for each parameter.

    The first ``n_inputs · n_hidden`` rows lead from the inputs to the hidden units, the next ``n_hidden``
    from those to the output, and the last is the output's constant.
    """

    values: Array
    n_inputs: int
    n_hidden: int

    def __post_init__(self) -> None:
        # The parts below are views, which one writes through.
        assert self.values.flags.c_contiguous

    @property
    def n_networks(self) -> int:
        return int(self.values.shape[1])

    @property
    def hidden(self) -> Array:
        """One matrix (inputs, units · networks), the units of one rank of all networks beside each other."""
        return self.values[: self.n_inputs * self.n_hidden].reshape(self.n_inputs, -1)

    @property
    def output(self) -> Array:
        """One row for each unit, and the constant."""
        return self.values[self.n_inputs * self.n_hidden :]

    def like(self, values: Array) -> Weights:
        return Weights(values, self.n_inputs, self.n_hidden)

    def of(self, networks: Array) -> Weights:
        return self.like(self.values.compress(networks, axis=1))


def draw_bags(n_rows: int, n_networks: int, random: np.random.Generator) -> Bags:
    """Bootstrap samples; copies of one row are on the same side, training or stopping."""
    counts = np.empty((n_rows, n_networks), dtype=np.uint16)
    for network in range(n_networks):
        counts[:, network] = np.bincount(random.integers(n_rows, size=n_rows), minlength=n_rows)
    always = np.flatnonzero((counts > 0).all(axis=1))
    counts[always, random.integers(n_networks, size=len(always))] = 0
    held_out = np.zeros(counts.shape, dtype=bool)
    for network in range(n_networks):
        bag = np.flatnonzero(counts[:, network])
        held_out[random.permutation(bag)[: max(1, round(HELD_OUT * len(bag)))], network] = True
    return Bags(training=counts * ~held_out, stopping=counts * held_out)


def first_weights(
    n_inputs: int, n_hidden: int, n_networks: int, random: np.random.Generator, *, share: float
) -> Weights:
    """Small random weights: hidden units start near their linear part, outputs near the base rate."""
    hidden = random.normal(scale=n_inputs**-0.5, size=(n_inputs * n_hidden, n_networks))
    output = random.normal(scale=n_hidden**-0.5, size=(n_hidden, n_networks))
    constant = np.full((1, n_networks), np.log(share / (1 - share)))
    return Weights(np.concatenate([hidden, output, constant]), n_inputs, n_hidden)


def train(
    rows: Array, positive: Array, bags: Bags, start: Weights, *, max_epochs: int, patience: int
) -> Weights:
    """The weights of least loss on the rows held out. A network that stopped costs nothing more."""
    weights = start.like(start.values.astype(rows.dtype))
    best = weights.values.copy()
    active = np.arange(weights.n_networks)
    least = np.full(len(active), np.inf)
    age = np.zeros(len(active), dtype=int)
    rule = Resilient(weights.values)
    for _ in range(max_epochs):
        slope, loss = gradient(rows, positive, bags, weights)
        better = loss < least
        least = np.where(better, loss, least)
        best[:, active[better]] = weights.values[:, better]
        age = np.where(better, 0, age + 1)
        going = age < patience
        if not going.all():
            if not going.any():
                break
            active, least, age = active[going], least[going], age[going]
            bags, weights, slope = bags.of(going), weights.of(going), slope.compress(going, axis=1)
            rule.keep(going)
        weights = weights.like(weights.values + rule.move(slope))
    return start.like(best)


class Resilient:
    """Resilient propagation: the sign of a slope says where to, its own history how far.

    A step grows while the sign stays, and shrinks where it turns; there the weight rests for one epoch.
    """

    def __init__(self, values: Array) -> None:
        self.step = np.full_like(values, FIRST_STEP)
        self.sign = np.zeros_like(values)

    def keep(self, networks: Array) -> None:
        self.step, self.sign = self.step.compress(networks, axis=1), self.sign.compress(networks, axis=1)

    def move(self, slope: Array) -> Array:
        sign = np.sign(slope)
        turn = sign * self.sign
        self.step *= np.where(turn > 0, FASTER, np.where(turn < 0, SLOWER, 1)).astype(self.step.dtype)
        np.clip(self.step, LEAST_STEP, LARGEST_STEP, out=self.step)
        sign[turn < 0] = 0
        self.sign = sign
        return -sign * self.step


def gradient(rows: Array, positive: Array, bags: Bags, weights: Weights) -> tuple[Array, Vector]:
    """Slope of each network's summed log loss on its training rows, and its mean loss on those held out."""
    hidden, output = weights.hidden, weights.output
    slope = weights.like(np.zeros(weights.values.shape, weights.values.dtype))
    loss = np.zeros(weights.n_networks)
    for block in _blocks(len(rows), hidden.shape[1]):
        x, y = rows[block], positive[block, None]
        unit = _units(x, weights)
        logit = _logits(unit, output)
        loss += np.einsum("nk,nk->k", _log_loss(logit, y), bags.stopping[block], dtype=np.float64)
        error = (_logistic(logit) - y) * bags.training[block]
        slope.output[-1] += error.sum(axis=0)
        pull = unit * error[:, None]
        slope.output[:-1] += pull.sum(axis=0)
        # d tanh = 1 − tanh², so that error · (1 − unit²) = error − pull · unit
        pull *= unit
        np.subtract(error[:, None], pull, out=pull)
        slope.hidden[:] += x.T @ pull.reshape(len(x), -1)
    slope.hidden[:] *= output[:-1].reshape(-1)
    return slope.values, loss / bags.stopping.sum(axis=0)


def out_of_bag(rows: Array, bags: Bags, weights: Weights) -> Vector:
    """Mean probability over the networks that saw a row neither in training nor to stop."""
    unseen = (bags.training == 0) & (bags.stopping == 0)
    total = np.empty(len(rows))
    for block in _blocks(len(rows), weights.hidden.shape[1]):
        logit = _logits(_units(rows[block], weights), weights.output)
        # float64: in float32 sure rows would tie at 1
        total[block] = (_logistic(logit.astype(np.float64)) * unseen[block]).sum(axis=1)
    return np.asarray(total / unseen.sum(axis=1))


def _units(x: Array, weights: Weights) -> Array:
    unit: Array = x @ weights.hidden
    np.tanh(unit, out=unit)
    return unit.reshape(len(x), weights.n_hidden, weights.n_networks)


def _logits(unit: Array, output: Array) -> Array:
    return np.asarray(np.einsum("nhk,hk->nk", unit, output[:-1]) + output[-1])


def _logistic(logit: Array) -> Array:
    return np.asarray(0.5 + 0.5 * np.tanh(0.5 * logit))


def _log_loss(logit: Array, y: Array) -> Array:
    return np.asarray(np.maximum(logit, 0) - y * logit + np.log1p(np.exp(-np.abs(logit))))


def _blocks(n_rows: int, width: int) -> list[slice]:
    size = max(64, CELLS // width)
    return [slice(start, start + size) for start in range(0, n_rows, size)]


def prepared(x: Any, labels: Any) -> tuple[Array, Array]:
    """Standardised features with a column of ones, and labels 0 and 1, both float32."""
    features = np.asarray(x)
    if features.ndim != 2 or features.dtype.kind not in "fiub":
        raise InputError(
            f"`x` must be a table of numbers, one row for each case, got shape {features.shape} of dtype "
            f"{features.dtype}. Code categories as columns of 0 and 1."
        )
    features = features.astype(np.float64)
    if len(features) < FEWEST_ROWS:
        raise InputError(f"`x` must have at least {FEWEST_ROWS} rows, got {len(features)}. Pass more cases.")
    if not np.isfinite(features).all():
        row = int(np.argmin(np.isfinite(features).all(axis=1)))
        raise InputError(
            f"`x` must be finite, got a NaN or infinite value in row {row}. Drop or fill such rows."
        )
    y = _checks.vector(labels, "labels", length=len(features))
    if set(np.unique(y)) != {0.0, 1.0}:
        raise InputError(
            f"`labels` must hold both 0 and 1, got {np.unique(y)[:5].tolist()}. "
            f"Pass 1 for labeled rows, 0 for the rest."
        )
    spread = features.std(axis=0)
    varies = spread > 1e-12 * np.abs(features).max(axis=0)
    if not varies.any():
        raise InputError("`x` must have a feature that varies, got constant columns only. Pass the features.")
    scaled = (features[:, varies] - features[:, varies].mean(axis=0)) / spread[varies]
    return np.column_stack([scaled, np.ones(len(scaled))]).astype(np.float32), y.astype(np.float32)
