"""The real models of the PU-ECE experiment, trained: networks of all trials side by side."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halftruth._checks import Vector
from halftruth._errors import InputError
from halftruth._pytorch import Tensor, nn, torch
from halftruth.learn._network_training import Batches, Networks, train
from halftruth.learn._torch_losses import PULoss, loss_pair
from halftruth_papers.pu_ece.experiments import calibration_errors
from halftruth_papers.pu_ece.recipes import NNPU, SUPERVISED, WAYS, Recipe
from halftruth_papers.pu_ece.resnet import ResNet18
from halftruth_papers.pu_ece.sources import Source

CHUNK = 10_000
"""Rows whose logits are computed at a time."""
EVERY, FIRST = 5, 10
"""The networks are looked at after each of the first passes, then after every few."""

Loss = Callable[..., Tensor]


def chosen(device: str) -> str:
    """The kind of device to train on; "auto" is CUDA where there is one.

    Examples
    --------
    >>> chosen("cpu")
    'cpu'
    """
    there = torch.cuda.is_available()
    if device == "cuda" and not there:
        raise InputError(
            argument="device", must="be there", got="'cuda', which PyTorch does not see", remedy="Pass 'cpu'."
        )
    return device if device != "auto" else "cuda" if there else "cpu"


def learned(
    source: Source, recipe: Recipe, *, n: int, passes: int, seed: Sequence[int], device: str
) -> dict[str, Any]:
    """Train networks in every way, from the same seed, as many and on the same device.

    Returns
    -------
    dict
        ``networks``, ``passes`` and ``device``, and by way what `trained` tells.
    """
    settings: dict[str, Any] = {"n": n, "passes": passes, "seed": seed, "device": device}
    name = torch.cuda.get_device_name() if device == "cuda" else "one core"
    ways = {way: trained(source, recipe, way, **settings) for way in WAYS}
    return {"networks": n, "passes": passes, "device": name, **ways}


def trained(
    source: Source, recipe: Recipe, way: str, *, n: int, passes: int, seed: Sequence[int], device: str
) -> dict[str, Any]:
    """Train networks in one way, and look at them as they learn.

    The same seed gives nnPU and uPU the same known positives, first weights and order of rows. A pass has as
    many steps in every way.

    Parameters
    ----------
    source : Source
    recipe : Recipe
    way : {"nnpu", "upu", "supervised"}
    n : int
        Networks, each with its own draw of known positives.
    passes : int
        Over the training rows.
    seed : list of int
    device : {"cpu", "cuda"}

    Returns
    -------
    dict
        ``seen``: the passes looked at; by pass ``error`` and ``error_sd``, the mean and standard deviation
        over the networks of the test error, ``risk`` and ``least_risk``, the mean and the least of the
        unbiased risk over all training rows; by network, after the last pass, ``errors`` and what
        `calibration_errors` tells; ``seconds``. Of nnPU also ``which``, the network of median ECE, its
        ``logits`` of the test rows, and their ``y``.
    """
    begun = time.perf_counter()
    rng = np.random.default_rng(list(seed))
    first, order, halves = (int(rng.integers(2**31)) for _ in range(3))
    with _one_thread():
        x = torch.from_numpy(source.x).to(device)
        lesson = _lesson(source, recipe, way, n, rng, device)
        networks = _made(recipe, source, n, first).to(device)
        look = _Look(networks, x, source, lesson, recipe.target_prior, passes)
        batches = Batches(lesson.rows, _batch(source, recipe, lesson), seed=order)
        train(
            networks,
            lesson.loss,
            x,
            batches,
            epochs=passes,
            learning_rate=recipe.learning_rate,
            after=look.after,
        )
        logits = look.logits(source.n_train, len(x)).double().cpu().numpy()
    y = source.y[source.n_train :]
    calibration = calibration_errors(logits, y, halves)
    median = _median(calibration["ece"], logits, y) if way == NNPU else {}
    return {"seconds": time.perf_counter() - begun, **look.told(), **calibration, **median}


def _median(ece: Sequence[float], logits: Vector, y: NDArray[np.bool_]) -> dict[str, Any]:
    """The network of median ECE, of an even number the lower one; its logits."""
    network = int(np.argsort(ece, kind="stable")[(len(ece) - 1) // 2])
    return {"which": network, "logits": logits[network].tolist(), "y": y.astype(int).tolist()}


@dataclass(frozen=True, eq=False)
class _Lesson:
    """Rows of each stratum (networks, n_k), the loss of their logits, and the risk without correction."""

    rows: list[Tensor]
    loss: Loss
    risk: Loss


def _lesson(
    source: Source, recipe: Recipe, way: str, n: int, rng: np.random.Generator, device: str
) -> _Lesson:
    y = source.y[: source.n_train]
    positive = np.flatnonzero(y)
    known = np.stack([rng.permutation(positive)[: recipe.n_known] for _ in range(n)])
    prior = float(y.mean())
    if way == SUPERVISED:
        share = prior if recipe.target_prior is None else recipe.target_prior
        parts = [np.tile(rows, (n, 1)) for rows in (positive, np.flatnonzero(~y))]
        loss: Loss = partial(_cross_entropy, share)
        risk = loss
    else:
        parts = [known, np.tile(np.arange(len(y)), (n, 1))]
        loss_with = partial(PULoss, prior, loss=recipe.loss, target_prior=recipe.target_prior)
        loss = loss_with(correction="non-negative" if way == NNPU else "none")
        risk = loss_with(correction="none")
    return _Lesson([torch.from_numpy(rows).to(device) for rows in parts], loss, risk)


def _batch(source: Source, recipe: Recipe, lesson: _Lesson) -> int:
    """Rows in a batch. Those of full labels are fewer, so that their batches are smaller."""
    n_rows = sum(stratum.shape[1] for stratum in lesson.rows)
    return round(recipe.batch * n_rows / (source.n_train + recipe.n_known))


def _cross_entropy(share: float, positive: Tensor, negative: Tensor) -> Tensor:
    """Binary, with this share of positives."""
    of_positive, of_negative = loss_pair("logistic")
    return share * of_positive(positive).mean(-1) + (1 - share) * of_negative(negative).mean(-1)


def _made(recipe: Recipe, source: Source, n: int, seed: int) -> nn.Module:
    if recipe.hidden is None:
        return ResNet18(seed=seed)
    return Networks((source.x.shape[1], *recipe.hidden, 1), n=n, seed=seed)


@dataclass(eq=False)
class _Look:
    """What is seen of the networks after a pass."""

    networks: nn.Module
    x: Tensor
    source: Source
    lesson: _Lesson
    target_prior: float | None
    passes: int
    seen: list[int] = field(default_factory=list)
    errors: list[list[float]] = field(default_factory=list)
    risks: list[list[float]] = field(default_factory=list)

    def after(self, epoch: int) -> None:
        done = epoch + 1
        if done > FIRST and done % EVERY and done != self.passes:
            return
        training = self.logits(0, self.source.n_train)
        strata = [torch.gather(training, 1, rows) for rows in self.lesson.rows]
        self.seen.append(done)
        self.risks.append(self.lesson.risk(*strata).tolist())
        self.errors.append(self._error(self.logits(self.source.n_train, len(self.x))).tolist())

    def logits(self, start: int, stop: int) -> Tensor:
        """Of rows from ``start`` to before ``stop``."""
        self.networks.eval()
        with torch.no_grad():
            parts = [self.networks(rows) for rows in torch.split(self.x[start:stop], CHUNK)]
        self.networks.train()
        return torch.cat(parts, 1)

    def _error(self, logits: Tensor) -> Tensor:
        """Share of the test rows on the wrong side, where positives have the share that was learned for."""
        y = torch.from_numpy(self.source.y[self.source.n_train :]).to(logits.device)
        missed = (logits[:, y] < 0).double().mean(1)
        raised = (logits[:, ~y] >= 0).double().mean(1)
        share = float(y.double().mean()) if self.target_prior is None else self.target_prior
        return share * missed + (1 - share) * raised

    def told(self) -> dict[str, Any]:
        errors, risks = np.array(self.errors), np.array(self.risks)
        several = errors.shape[1] > 1
        return {
            "seen": self.seen,
            "error": errors.mean(1).tolist(),
            "error_sd": errors.std(1, ddof=1).tolist() if several else None,
            "risk": risks.mean(1).tolist(),
            "least_risk": risks.min(1).tolist(),
            "errors": self.errors[-1],
        }


@contextmanager
def _one_thread() -> Iterator[None]:
    """The rounding would hang on their number."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
