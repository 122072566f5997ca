"""How networks are trained: side by side, in batches of every stratum, by Adam, until a risk is least.

`fit_network` is what a network classifier asks of PyTorch: rows and a loss in, arrays and a history out.
"""

from __future__ import annotations

import copy
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from halftruth._errors import InputError, arg
from halftruth._pytorch import Tensor, nn, torch
from halftruth.inference._progress import progress
from halftruth.learn._network_arrays import BLOCK, Layer, Matrix

__all__ = ["FEWEST", "Batches", "History", "Networks", "Plan", "Trained", "fit_network", "train"]

Risk: TypeAlias = Callable[..., Tensor]
"""Of the logits of each stratum, and of the values of the rows where these have any; one number a network."""
WatchedRisk: TypeAlias = Callable[[], Tensor]
StratumRows: TypeAlias = Sequence[NDArray[np.intp]]  # row numbers of each stratum

FEWEST = 32  # rows of a small stratum in each batch, where it has so many: the mean of fewer would be noise
STEPS = 20  # a pass over few rows makes at least so many steps where the size of the batches is left open
SMALLEST, LARGEST = 32, 512
LONG = 5_000_000  # rows learned from, over all passes, from which progress is shown


class Networks(nn.Module):
    """Networks of one shape, each with its own weights; one of them is the common case.

    ``sizes`` are features, hidden units of each layer, and 1; without hidden units the networks are linear.
    First weights are uniform within ±1/√inputs; a linear network starts at zero.

    Examples
    --------
    >>> import torch
    >>> Networks((3, 4, 1), n=2, seed=0)(torch.zeros(5, 3)).shape
    torch.Size([2, 5])
    """

    def __init__(self, sizes: Sequence[int], *, n: int = 1, seed: int = 0) -> None:
        super().__init__()
        generator = torch.Generator(device="cpu").manual_seed(seed)
        # Named, so that defaults that the caller has set for PyTorch change nothing.
        kind: dict[str, Any] = {"dtype": torch.float32, "device": torch.device("cpu")}
        linear = len(sizes) == 2
        weights: list[nn.Parameter] = []
        constants: list[nn.Parameter] = []
        for inputs, outputs in pairwise(sizes):
            reach = 0.0 if linear else inputs**-0.5
            for parameters, shape in ((weights, (n, inputs, outputs)), (constants, (n, 1, outputs))):
                uniform = 2 * torch.rand(shape, generator=generator, **kind) - 1
                parameters.append(nn.Parameter(uniform * reach))
        self.weights, self.constants = nn.ParameterList(weights), nn.ParameterList(constants)

    def forward(self, x: Tensor) -> Tensor:
        """Logits (networks, rows) of rows (rows, features), or of each network's own (networks, rows, …)."""
        n = len(self.weights[0])
        unit = x.expand(n, *x.shape) if x.ndim == 2 else x
        for i, (weight, constant) in enumerate(zip(self.weights, self.constants, strict=True)):
            unit = torch.baddbmm(constant, unit if i == 0 else torch.relu(unit), weight)
        return unit[..., 0]

    def arrays(self, network: int = 0) -> list[Layer]:
        """Weights and constants of one network, layer by layer, for `logits`."""
        return [
            tuple(parameter[network].detach().cpu().double().numpy() for parameter in layer)
            for layer in zip(self.weights, self.constants, strict=True)
        ]


class Batches:
    """Batches of row numbers, as many of each stratum as its share of the rows, ``size`` together.

    ``rows`` are tensors (networks, n_k), one a stratum: each network has rows of its own. In one pass every
    row of a large stratum comes once; a small one is passed over again, in another order, so that some of its
    rows are in every batch.

    Examples
    --------
    >>> import torch
    >>> known, unlabeled = torch.arange(90)[None], torch.arange(90, 900)[None]
    >>> batches = Batches([known, unlabeled], 300, seed=0)
    >>> [[rows.shape[1] for rows in batch] for batch in batches]
    [[32, 270], [32, 270], [32, 270]]
    """

    def __init__(self, rows: Sequence[Tensor], size: int, *, seed: int) -> None:
        self.rows = list(rows)
        self.steps = max(1, round(sum(stratum.shape[1] for stratum in rows) / size))
        self.generator = torch.Generator(device=rows[0].device).manual_seed(seed)

    def __len__(self) -> int:
        return self.steps

    def __iter__(self) -> Iterator[tuple[Tensor, ...]]:
        yield from zip(*(self._shuffled(stratum) for stratum in self.rows), strict=True)

    def _shuffled(self, rows: Tensor) -> Sequence[Tensor]:
        n_rows = rows.shape[1]
        least = min(n_rows, FEWEST) * self.steps
        passes = max(1, math.ceil(least / n_rows))
        kind: dict[str, Any] = {"generator": self.generator, "device": rows.device, "dtype": torch.float32}
        orders = [torch.rand(rows.shape, **kind).argsort(-1) for _ in range(passes)]
        order = torch.cat(orders, -1)[:, : max(least, n_rows)]
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
    loss: Risk,
    x: Tensor,
    batches: Batches,
    *,
    epochs: int,
    learning_rate: float = 1e-3,
    weight_decay: float = 0.0,
    watch: WatchedRisk | None = None,
    patience: int | None = None,
    row_values: Tensor | None = None,
    after: Callable[[int], None] | None = None,
    history: History | None = None,
) -> History:
    """Train in place; with ``watch`` the weights of each network's least watched risk are kept.

    Parameters
    ----------
    networks : module
        Rows (networks, n, …) to logits (networks, n); parameters have a first axis for the networks.
    loss : callable
        Of the logits of each stratum, and of the ``row_values`` where there are any; one value a network.
    x, batches
        All rows, and which of them a step learns from.
    epochs, learning_rate, weight_decay
        Passes at most, and of Adam; the decay is decoupled from its steps and spares the constants.
    watch, patience
        Gives the risk on held-out rows after each pass; passes without a lower one that end the training.
    after, history
        Called after each pass with its number, and an empty history for it to look at.
    """
    # One fused pass over the parameters a step: their update costs as much as a small network's gradient.
    optimizer = torch.optim.AdamW(_groups(networks, weight_decay), lr=learning_rate, fused=True)
    best = _Best(networks)
    history = History() if history is None else history
    for epoch in range(epochs):
        history.loss.append(_one_pass(networks, loss, x, batches, optimizer, row_values))
        if watch is not None:
            with torch.no_grad():
                risk = watch()
            history.watched.append(risk.tolist())
            best.update(epoch, risk)
        if after is not None:
            after(epoch)
        if watch is not None and patience is not None and epoch - max(best.epoch) >= patience:
            break
    if watch is not None:
        best.restore()
    history.best[:] = best.epoch
    return history


def _groups(networks: nn.Module, decay: float) -> list[dict[str, Any]]:
    """Parameters that decay and those that do not: a constant says how many positives there are."""
    free: list[nn.Parameter] = []
    decayed: list[nn.Parameter] = []
    for name, parameter in networks.named_parameters():
        (free if name.startswith("constants") or parameter.ndim == 1 else decayed).append(parameter)
    return [{"params": free, "weight_decay": 0.0}, {"params": decayed, "weight_decay": decay}]


def _one_pass(
    networks: nn.Module,
    loss: Risk,
    x: Tensor,
    batches: Batches,
    optimizer: torch.optim.Optimizer,
    row_values: Tensor | None,
) -> list[float]:
    """The mean loss of each network."""
    total: Tensor | None = None
    for batch in batches:
        rows = torch.cat(batch, 1)
        logits = networks(x[rows])
        strata = logits.split([stratum.shape[1] for stratum in batch], dim=1)
        value = loss(*strata) if row_values is None else loss(*strata, row_values[rows])
        optimizer.zero_grad(set_to_none=True)
        value.sum().backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        total = value.detach() if total is None else total + value.detach()
    assert total is not None
    return [float(mean) for mean in total / len(batches)]


class _Best:
    """The weights of each network where its risk was least."""

    def __init__(self, networks: nn.Module) -> None:
        self.networks = networks
        self.weights = copy.deepcopy(list(networks.parameters()))
        self.risk: Tensor | None = None
        self.epoch: list[int] = [-1]

    def update(self, epoch: int, risk: Tensor) -> None:
        if self.risk is None:
            self.risk, self.epoch = torch.full_like(risk, math.inf), [-1] * len(risk)
        better = risk < self.risk
        self.risk = torch.where(better, risk, self.risk)
        self.epoch = [epoch if new else old for new, old in zip(better.tolist(), self.epoch, strict=True)]
        with torch.no_grad():
            for best, now in zip(self.weights, self.networks.parameters(), strict=True):
                best[better] = now[better]

    def restore(self) -> None:
        with torch.no_grad():
            for best, now in zip(self.weights, self.networks.parameters(), strict=True):
                now.copy_(best)


# --- One network for a classifier -----------------------------------------------------------------


@dataclass(frozen=True)
class Plan:
    """How a network is trained, whatever its loss."""

    hidden: tuple[int, ...]
    learning_rate: float
    weight_decay: float
    batch_size: int | None
    max_epochs: int
    patience: int
    device: Literal["auto", "cpu", "cuda"]
    seeds: tuple[int, int]
    verbose: bool


@dataclass(frozen=True)
class Trained:
    """The arrays of the network that was kept, and what was seen after each pass."""

    layers: list[Layer]
    training_risk: list[float]
    held_out_risk: list[float]
    n_epochs: int


def fit_network(
    plan: Plan,
    loss: Risk,
    watched: Risk,
    x: Matrix,
    learned: StratumRows,
    held_out: StratumRows | None,
    row_values: Matrix | None = None,
) -> Trained:
    """Train one network on standardised rows; with rows held out, stop early by their ``watched`` risk.

    Both risks take the logits of each stratum, and the ``row_values`` where there are any.
    """
    device = _device(plan.device)
    history = History()
    # Whatever the caller has set, gradients are needed, of float32.
    with torch.inference_mode(False), torch.enable_grad(), torch.autocast(device.type, enabled=False):
        rows = torch.as_tensor(x, dtype=torch.float32, device=device)
        values = None if row_values is None else rows.new_tensor(row_values)
        network = Networks((x.shape[1], *plan.hidden, 1), seed=plan.seeds[0]).to(device)
        size = plan.batch_size or min(max(sum(map(len, learned)) // STEPS, SMALLEST), LARGEST)
        numbers = [torch.as_tensor(stratum, device=device)[None] for stratum in learned]
        long = len(rows) * plan.max_epochs > LONG
        with progress("Training", plan.max_epochs, long=long) as advance:

            def after(epoch: int) -> None:
                advance(1)
                if plan.verbose:
                    _print_risks(history)

            train(
                network,
                loss,
                rows,
                Batches(numbers, size, seed=plan.seeds[1]),
                epochs=plan.max_epochs,
                learning_rate=plan.learning_rate,
                weight_decay=plan.weight_decay,
                watch=None if held_out is None else _watch(network, watched, rows, values, held_out),
                patience=plan.patience,
                row_values=values,
                after=after,
                history=history,
            )
        return _kept(network, history, plan)


def _kept(network: Networks, history: History, plan: Plan) -> Trained:
    """What was learned, if anything was."""
    # There is one network, so one number after each pass.
    training_risk, held_out_risk = ([risk for (risk,) in risks] for risks in (history.loss, history.watched))
    n_epochs = history.best[0] + 1 if held_out_risk else len(training_risk)
    layers = network.arrays()
    if n_epochs == 0 or not all(np.isfinite(array).all() for layer in layers for array in layer):
        raise InputError(
            f"The training ran away: its risk or weights are not finite. Pass a {arg('learning_rate')} "
            f"below {plan.learning_rate:g}, or look for rows far from all others."
        )
    return Trained(layers, training_risk, held_out_risk, n_epochs)


def _watch(
    network: Networks, risk: Risk, x: Tensor, values: Tensor | None, held_out: StratumRows
) -> WatchedRisk:
    """The risk of the rows held out; its sums are not made in float32."""
    rows = torch.as_tensor(np.concatenate(held_out), device=x.device)
    blocks, sizes = torch.split(x[rows], BLOCK), [len(stratum) for stratum in held_out]
    row_values = () if values is None else (values[rows].double(),)

    def watch() -> Tensor:
        logits = torch.cat([network(block) for block in blocks], 1).double()
        return risk(*torch.split(logits, sizes, dim=1), *row_values)

    return watch


def _device(name: str) -> torch.device:
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if name == "cuda" and not torch.cuda.is_available():
        raise InputError('`device`="cuda", but PyTorch finds no CUDA device here. Pass "cpu" or "auto".')
    return torch.device(name)


def _print_risks(history: History) -> None:
    """The risks of the last pass, to stderr."""
    held_out = f", held-out risk {history.watched[-1][0]:.4f}" if history.watched else ""
    sys.stderr.write(f"pass {len(history.loss)}: training risk {history.loss[-1][0]:.4f}{held_out}\n")
