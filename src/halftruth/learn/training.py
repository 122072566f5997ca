"""How networks are trained: batches of every stratum, steps of Adam, and when to stop."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from halftruth._pytorch import Tensor, nn, torch

FEWEST = 32
"""Rows of a small stratum in each batch, where it has so many: the mean of fewer would be noise."""
Risk = Callable[[], Tensor]


class Batches:
    """Batches of row numbers, as many of each stratum as its share of the rows.

    In one pass every row of a large stratum comes once; a small one is passed over again, in another order,
    so that some of its rows are in every batch.

    Parameters
    ----------
    rows : sequence of tensors (networks, n_k)
        Row numbers of each stratum, for each network its own.
    size : int
        Rows in a batch, of all strata together.
    seed : int

    Examples
    --------
    >>> import torch
    >>> known, unlabeled = torch.arange(90)[None], torch.arange(90, 900)[None]
    >>> batches = Batches([known, unlabeled], 300, seed=0)
    >>> [[part.shape[1] for part in batch] for batch in batches]
    [[32, 270], [32, 270], [32, 270]]
    """

    def __init__(self, rows: Sequence[Tensor], size: int, *, seed: int) -> None:
        self.rows = list(rows)
        self.steps = max(1, round(sum(part.shape[1] for part in rows) / size))
        self.generator = torch.Generator(device=rows[0].device).manual_seed(seed)

    def __len__(self) -> int:
        return self.steps

    def __iter__(self) -> Iterator[tuple[Tensor, ...]]:
        """One pass."""
        yield from zip(*(self._shuffled(part) for part in self.rows), strict=True)

    def _shuffled(self, rows: Tensor) -> Sequence[Tensor]:
        least = min(rows.shape[1], FEWEST) * self.steps
        passes = max(1, math.ceil(least / rows.shape[1]))
        orders = [
            torch.rand(rows.shape, generator=self.generator, device=rows.device, dtype=torch.float32).argsort(
                -1
            )
            for _ in range(passes)
        ]
        order = torch.cat(orders, -1)[:, : max(least, rows.shape[1])]
        return torch.gather(rows, 1, order).tensor_split(self.steps, dim=1)


@dataclass(frozen=True, eq=False)
class History:
    """What was seen after each pass, for each network: the mean training loss, the watched risk."""

    loss: list[list[float]] = field(default_factory=list)
    watched: list[list[float]] = field(default_factory=list)
    best: list[int] = field(default_factory=list)
    """The pass whose weights were kept, from 0."""


def train(
    networks: nn.Module,
    loss: Callable[..., Tensor],
    x: Tensor,
    batches: Batches,
    *,
    epochs: int,
    learning_rate: float = 1e-3,
    weight_decay: float = 0.0,
    watch: Risk | None = None,
    patience: int | None = None,
    given: Tensor | None = None,
    after: Callable[[int], None] | None = None,
    history: History | None = None,
) -> History:
    """Train in place; with ``watch`` the weights of each network's least watched risk are kept.

    Parameters
    ----------
    networks : module
        Rows (networks, n, …) to logits (networks, n); parameters have a first axis for the networks.
    loss : callable
        Of the logits of each stratum; one value a network.
    x : tensor
        All rows.
    batches : Batches
    epochs : int
        Passes at most.
    learning_rate, weight_decay : float
        Of Adam; the decay is decoupled from its steps and spares the constants.
    watch : callable, optional
        Gives the risk on held-out rows, one value a network, after each pass.
    patience : int, optional
        Passes without a lower risk of any network that end the training.
    given : tensor, optional
        A value for each row, such as its confidence, which the loss takes after the logits.
    after : callable, optional
        Called after each pass with its number.
    history : History, optional
        An empty one, filled as the training goes, for ``after`` to look at.

    Returns
    -------
    History
    """
    # One fused pass over the parameters a step: their update costs as much as a small network's gradient.
    optimizer = torch.optim.AdamW(_groups(networks, weight_decay), lr=learning_rate, fused=True)
    best = _Best(networks)
    seen = History() if history is None else history
    for epoch in range(epochs):
        seen.loss.append(_one_pass(networks, loss, x, batches, optimizer, given))
        if watch is not None:
            with torch.no_grad():
                risk = watch()
            seen.watched.append(risk.tolist())
            best.see(epoch, risk)
        if after is not None:
            after(epoch)
        if watch is not None and patience is not None and epoch - max(best.epoch) >= patience:
            break
    if watch is not None:
        best.restore()
    seen.best[:] = best.epoch
    return seen


def _groups(networks: nn.Module, decay: float) -> list[dict[str, Any]]:
    """Parameters that decay and those that do not: a constant says how many positives there are."""
    free: list[nn.Parameter] = []
    decayed: list[nn.Parameter] = []
    for name, parameter in networks.named_parameters():
        own = free if name.startswith("constants") or parameter.ndim == 1 else decayed
        own.append(parameter)
    return [{"params": free, "weight_decay": 0.0}, {"params": decayed, "weight_decay": decay}]


def _one_pass(
    networks: nn.Module,
    loss: Callable[..., Tensor],
    x: Tensor,
    batches: Batches,
    optimizer: torch.optim.Optimizer,
    given: Tensor | None,
) -> list[float]:
    """The mean loss of each network."""
    total: Tensor | None = None
    for parts in batches:
        rows = torch.cat(parts, 1)
        logits = networks(x[rows])
        strata = logits.split([part.shape[1] for part in parts], dim=1)
        value = loss(*strata) if given is None else loss(*strata, given[rows])
        optimizer.zero_grad(set_to_none=True)
        value.sum().backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        total = value.detach() if total is None else total + value.detach()
    assert total is not None
    return [float(each) for each in total / len(batches)]


class _Best:
    """The weights of each network where its risk was least."""

    def __init__(self, networks: nn.Module) -> None:
        self.networks = networks
        self.weights = copy.deepcopy(list(networks.parameters()))
        self.risk: Tensor | None = None
        self.epoch: list[int] = [-1]

    def see(self, epoch: int, risk: Tensor) -> None:
        if self.risk is None:
            self.risk, self.epoch = torch.full_like(risk, math.inf), [-1] * len(risk)
        better = risk < self.risk
        self.risk = torch.where(better, risk, self.risk)
        self.epoch = [epoch if new else old for new, old in zip(better.tolist(), self.epoch, strict=True)]
        with torch.no_grad():
            for kept, now in zip(self.weights, self.networks.parameters(), strict=True):
                kept[better] = now[better]

    def restore(self) -> None:
        with torch.no_grad():
            for kept, now in zip(self.weights, self.networks.parameters(), strict=True):
                now.copy_(kept)
