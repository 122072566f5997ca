"""What a network classifier asks of PyTorch: rows and a loss in, arrays and a history out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halftruth._errors import InputError
from halftruth._pytorch import Tensor, torch
from halftruth.inference._progress import progress
from halftruth.learn.layers import BLOCK, Layer, Matrix
from halftruth.learn.networks import Networks
from halftruth.learn.training import Batches, History, Risk, train

Rows = Sequence[NDArray[np.intp]]
"""Row numbers of each stratum."""
STEPS = 20
"""A pass over few rows makes at least so many steps where the size of the batches is left open."""
SMALLEST, LARGEST = 32, 512
LONG = 5_000_000
"""Rows learned from, over all passes, from which progress is shown."""


@dataclass(frozen=True)
class Plan:
    """How a network is trained, whatever its loss."""

    hidden: tuple[int, ...]
    learning_rate: float
    weight_decay: float
    batch_size: int | None
    max_epochs: int
    patience: int
    device: str
    seeds: tuple[int, int]
    verbose: bool


@dataclass(frozen=True)
class Trained:
    """The arrays of the network that was kept, and what was seen after each pass."""

    layers: list[Layer]
    training_risk: list[float]
    held_out_risk: list[float]
    n_epochs: int


def fitted(
    plan: Plan,
    loss: Callable[..., Tensor],
    watched: Callable[..., Tensor],
    x: Matrix,
    learned: Rows,
    held_out: Rows | None,
    given: Matrix | None = None,
) -> Trained:
    """Train one network on rows of ``x``; with rows held out, stop early by their risk.

    Parameters
    ----------
    plan : Plan
    loss, watched : callable
        Of the logits of each stratum (and of the values ``given``): what is made small, what is watched.
    x : (n, k) array
        Standardised features.
    learned, held_out : arrays of row numbers
        Of each stratum.
    given : (n,) array, optional
        A value for each row that the losses take.
    """
    device = _device(plan.device)
    # Whatever the caller has set, gradients are needed, of float32.
    with torch.inference_mode(False), torch.enable_grad(), torch.autocast(device.type, enabled=False):
        return _fitted(plan, loss, watched, x, learned, held_out, given, device)


def _fitted(
    plan: Plan,
    loss: Callable[..., Tensor],
    watched: Callable[..., Tensor],
    x: Matrix,
    learned: Rows,
    held_out: Rows | None,
    given: Matrix | None,
    device: Any,
) -> Trained:
    rows = torch.as_tensor(x, dtype=torch.float32, device=device)
    values = None if given is None else torch.as_tensor(given, dtype=torch.float32, device=device)
    network = Networks((x.shape[1], *plan.hidden, 1), seed=plan.seeds[0]).to(device)
    n = sum(map(len, learned))
    size = plan.batch_size or min(max(n // STEPS, SMALLEST), LARGEST)
    batches = Batches(
        [torch.as_tensor(part, device=device)[None] for part in learned], size, seed=plan.seeds[1]
    )
    watch = None if held_out is None else _watch(network, watched, rows, values, held_out)
    return _kept(network, _run(plan, network, loss, rows, batches, watch, values), plan)


def _run(
    plan: Plan,
    network: Networks,
    loss: Callable[..., Tensor],
    rows: Tensor,
    batches: Batches,
    watch: Risk | None,
    values: Tensor | None,
) -> History:
    """The training itself, with what is told of it."""
    history = History()
    long = len(rows) * plan.max_epochs > LONG
    with progress("Training", plan.max_epochs, long=long) as advance:

        def after(epoch: int) -> None:
            advance(1)
            if plan.verbose:
                _tell(history)

        return train(
            network,
            loss,
            rows,
            batches,
            epochs=plan.max_epochs,
            learning_rate=plan.learning_rate,
            weight_decay=plan.weight_decay,
            watch=watch,
            patience=plan.patience,
            given=values,
            after=after,
            history=history,
        )


def _kept(network: Networks, history: History, plan: Plan) -> Trained:
    """What was learned, if anything was."""
    training_risk, held_out_risk = ([each for (each,) in seen] for seen in (history.loss, history.watched))
    n_epochs = history.best[0] + 1 if held_out_risk else len(training_risk)
    layers = network.arrays()
    if n_epochs == 0 or not all(np.isfinite(part).all() for layer in layers for part in layer):
        raise InputError(
            f"The training ran away: its risk or weights are not finite. Pass a `learning_rate` below "
            f"{plan.learning_rate:g}, or look for rows far from all others."
        )
    return Trained(layers, training_risk, held_out_risk, n_epochs)


def _watch(
    network: Networks, risk: Callable[..., Tensor], x: Tensor, values: Tensor | None, held_out: Rows
) -> Risk:
    """The risk of the rows held out; its sums are not made in float32."""
    every = torch.as_tensor(np.concatenate(held_out), device=x.device)
    blocks, sizes = torch.split(x[every], BLOCK), [len(part) for part in held_out]
    own = () if values is None else (values[every].double(),)

    def watch() -> Tensor:
        logits = torch.cat([network(block) for block in blocks], 1).double()
        return risk(*torch.split(logits, sizes, dim=1), *own)

    return watch


def _device(name: str) -> Any:
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if name == "cuda" and not torch.cuda.is_available():
        raise InputError('`device`="cuda", but PyTorch finds no CUDA device here. Pass "cpu" or "auto".')
    return torch.device(name)


def _tell(history: History) -> None:
    """The risks of the last pass, to stderr."""
    beside = f", held-out risk {history.watched[-1][0]:.4f}" if history.watched else ""
    sys.stderr.write(f"pass {len(history.loss)}: training risk {history.loss[-1][0]:.4f}{beside}\n")
