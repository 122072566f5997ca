"""Batches hold what they should; networks side by side train as alone; the best weights are kept."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from types import ModuleType
from typing import Any

import numpy as np
import pytest

Require = Callable[[str], ModuleType]


@pytest.fixture
def torch(require: Require) -> Any:
    return require("torch")


def strata(torch: Any, *sizes: int) -> list[Any]:
    ends = np.cumsum([0, *sizes])
    return [torch.arange(low, high)[None] for low, high in pairwise(ends)]


def test_a_pass_holds_every_row_of_a_large_stratum_once(torch: Any) -> None:
    from halftruth.learn._network_training import Batches

    rows = strata(torch, 700, 3000)
    batches = Batches(rows, 370, seed=0)
    parts = list(batches)
    assert len(parts) == len(batches) == 10
    for k, stratum in enumerate(rows):
        seen = torch.cat([part[k] for part in parts], 1)
        assert torch.equal(seen.sort().values, stratum)
    assert {part[0].shape[1] for part in parts} == {70}
    assert not torch.equal(torch.cat([part[1] for part in batches], 1), torch.cat([p[1] for p in parts], 1))


def test_a_small_stratum_is_in_every_batch(torch: Any) -> None:
    from halftruth.learn._network_training import FEWEST, Batches

    rows = strata(torch, 40, 5, 4000)
    parts = list(Batches(rows, 400, seed=0))
    assert {part[0].shape[1] for part in parts} == {FEWEST}
    assert {part[1].shape[1] for part in parts} == {5}
    times = torch.bincount(torch.cat([part[0] for part in parts], 1)[0])
    assert int(times.min()) >= FEWEST * 10 // 40
    assert int(times.max()) <= FEWEST * 10 // 40 + 1


def test_the_seed_makes_the_batches(torch: Any) -> None:
    from halftruth.learn._network_training import Batches

    orders = [torch.cat([p[0] for p in Batches(strata(torch, 100), 10, seed=s)], 1) for s in (0, 0, 1)]
    assert torch.equal(orders[0], orders[1])
    assert not torch.equal(orders[0], orders[2])


def test_defaults_of_the_caller_change_nothing(torch: Any) -> None:
    from halftruth.learn._network_training import Batches, Networks

    def made() -> Any:
        network = Networks((3, 4, 1), seed=0)
        return [*network.parameters(), *next(iter(Batches(strata(torch, 100), 10, seed=0)))]

    usual = made()
    torch.set_default_dtype(torch.float64)
    try:
        other = made()
    finally:
        torch.set_default_dtype(torch.float32)
    assert all(torch.equal(a, b) and a.dtype == b.dtype for a, b in zip(usual, other, strict=True))
    torch.set_default_device("meta")
    try:
        network = Networks((3, 4, 1), seed=0)
    finally:
        torch.set_default_device(None)
    assert all(torch.equal(a, b) for a, b in zip(network.parameters(), usual, strict=False))


def test_networks_side_by_side_train_as_each_alone(torch: Any) -> None:
    from halftruth.learn._network_training import Batches, Networks, train
    from halftruth.learn._torch_losses import PULoss

    x = torch.randn(60, 3, generator=torch.Generator().manual_seed(0))
    rows = [torch.stack([part, part]) for part in (torch.arange(20), torch.arange(20, 60))]
    both = Networks((3, 4, 1), n=2, seed=0)
    alone = [Networks((3, 4, 1), seed=0) for _ in range(2)]
    for k, network in enumerate(alone):
        for own, first in zip(network.parameters(), both.parameters(), strict=True):
            own.data.copy_(first.data[k : k + 1])
    # All rows in a batch: their order changes nothing but the rounding.
    loss = PULoss(0.5)
    seen = train(both, loss, x, Batches(rows, 60, seed=1), epochs=20, learning_rate=0.01)
    for k, network in enumerate(alone):
        one = [part[:1] for part in rows]
        own_history = train(network, loss, x, Batches(one, 60, seed=2), epochs=20, learning_rate=0.01)
        np.testing.assert_allclose(
            [each[0] for each in own_history.loss], [each[k] for each in seen.loss], atol=1e-5
        )
        for own, other in zip(network.arrays(), both.arrays(k), strict=True):
            np.testing.assert_allclose(own[0], other[0], atol=1e-4)


def test_the_weights_of_the_least_risk_are_kept_and_patience_ends_it(torch: Any) -> None:
    from halftruth.learn._network_training import Batches, Networks, train

    network = Networks((1, 1), seed=0)
    x, rows = torch.ones(4, 1), strata(torch, 4)
    risks = iter([3.0, 1.0, 2.0, 1.0, 4.0, 0.0])
    weights = []

    def watch() -> Any:
        weights.append(network.arrays()[0][0].item())
        return torch.tensor([next(risks)])

    history = train(
        network, lambda g: -g.mean(-1), x, Batches(rows, 4, seed=0), epochs=6, watch=watch, patience=3
    )
    assert [each for (each,) in history.watched] == [3.0, 1.0, 2.0, 1.0, 4.0]
    assert history.best == [1]
    assert network.arrays()[0][0].item() == weights[1] != weights[-1]


def test_values_of_the_rows_reach_the_loss(torch: Any) -> None:
    from halftruth.learn._network_training import Batches, Networks, train

    x = torch.arange(50.0)[:, None]
    network = Networks((1, 1), seed=0)
    with torch.no_grad():
        network.weights[0].fill_(1.0)
    seen = []

    def loss(logits: Any, given: Any) -> Any:
        seen.append((logits.detach(), given))
        return logits.mean(-1)

    train(
        network,
        loss,
        x,
        Batches(strata(torch, 50), 10, seed=0),
        epochs=1,
        learning_rate=1e-9,
        row_values=10 * x[:, 0],
    )
    logits, given = (torch.cat(parts, 1) for parts in zip(*seen, strict=True))
    np.testing.assert_allclose(10 * logits, given, rtol=1e-5, atol=1e-5)


def test_the_decay_spares_the_constants(torch: Any) -> None:
    from halftruth.learn._network_training import Batches, Networks, train

    network = Networks((1, 1), seed=0)
    with torch.no_grad():
        network.weights[0].fill_(1.0)
        network.constants[0].fill_(1.0)
    # No slope: what moves is the decay, (1 − rate · decay) in each of ten steps.
    train(
        network,
        lambda g: 0 * g.mean(-1),
        torch.ones(4, 1),
        Batches(strata(torch, 4), 4, seed=0),
        epochs=10,
        learning_rate=0.1,
        weight_decay=0.5,
    )
    ((weight, constant),) = network.arrays()
    assert weight.item() == pytest.approx(0.95**10)
    assert constant.item() == 1.0


def test_the_watched_risk_is_summed_in_double_precision_and_in_blocks(
    torch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from halftruth.learn import _network_training
    from halftruth.learn._network_training import Networks

    monkeypatch.setattr(_network_training, "BLOCK", 7)
    x = torch.randn(40, 3, generator=torch.Generator().manual_seed(0))
    network = Networks((3, 4, 1), seed=0)
    held_out = [np.array([3, 1, 2]), np.arange(10, 40)]
    seen: list[Any] = []
    values = torch.arange(40, dtype=torch.float32)
    with torch.no_grad():
        _network_training._watch(network, lambda *parts: seen.extend(parts), x, values, held_out)()
        (every,) = network(x)
    assert all(part.dtype == torch.float64 for part in seen)
    for part, rows in zip(seen, held_out, strict=False):
        np.testing.assert_allclose(part[0], every[rows], atol=1e-6)
    np.testing.assert_array_equal(seen[2], np.concatenate(held_out))
