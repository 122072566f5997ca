"""Networks of the PU-ECE experiment on tiny data: what is drawn, learned and told of them."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import halftruth as ht
from halftruth._errors import InputError
from halftruth_papers.page import Page
from halftruth_papers.pu_ece import experiments, network_page, training, verdicts
from halftruth_papers.pu_ece.recipes import WAYS, Recipe
from halftruth_papers.pu_ece.sources import Source

TINY = Recipe(hidden=(8, 8), n_known=100, batch=100, learning_rate=1e-2)


def blobs(n_train: int = 800, n_test: int = 2_000, prior: float = 0.4) -> Source:
    """Two round classes, two standard deviations from each other: the least error is Φ(−1) = .16."""
    rng = np.random.default_rng(0)
    y = rng.random(n_train + n_test) < prior
    x = rng.normal(size=(len(y), 4))
    x[:, 0] += np.where(y, 1.0, -1.0)
    return Source(x.astype(np.float32), y, n_train)


@pytest.fixture(scope="module")
def networks(require: Callable[[str], ModuleType]) -> Any:
    require("torch")
    from halftruth_papers.pu_ece import networks as pu_ece_networks

    return pu_ece_networks


@pytest.fixture(scope="module")
def told(networks: Any) -> dict[str, dict[str, Any]]:
    found: dict[str, Any] = networks.learned(blobs(), TINY, n=2, passes=12, seed=[3], device="cpu")
    assert {name: found.pop(name) for name in ("networks", "passes", "device")} == {
        "networks": 2,
        "passes": 12,
        "device": "one core",
    }
    assert list(found) == list(WAYS)
    return found


# --- training -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", list(WAYS))
def test_every_way_learns(told: dict[str, Any], way: str) -> None:
    found = told[way]
    assert len(found["errors"]) == len(found["debiased"]) == len(found["n_bins"]) == 2
    assert found["seen"] == [*range(1, 11), 12]
    assert {len(found[name]) for name in ("error", "error_sd", "risk", "least_risk")} == {11}
    assert 0.13 < found["error"][-1] < 0.25  # 2,000 test rows have a standard error of .008
    assert found["error"][-1] == pytest.approx(np.mean(found["errors"]))
    assert found["error_sd"][-1] == pytest.approx(np.std(found["errors"], ddof=1))
    assert found["least_risk"][-1] <= found["risk"][-1]
    assert found["seconds"] > 0
    assert ("logits" in found) == (way == "nnpu")


def test_the_logits_are_those_of_the_network_of_median_ece(told: dict[str, Any]) -> None:
    found, source = told["nnpu"], blobs()
    which = found["which"]
    assert found["ece"][which] == min(found["ece"])  # of two the lower one
    logits, y = np.array(found["logits"]), np.array(found["y"]) == 1
    assert (y == source.y[source.n_train :]).all()
    assert np.mean((logits >= 0) != y) == pytest.approx(found["errors"][which], abs=1e-12)
    score, n_bins = 1 / (1 + np.exp(-logits)), found["n_bins"][which]
    assert ht.calibration_error(ht.Labeled(y, score), n_bins) == pytest.approx(found["ece"][which], abs=1e-12)


@pytest.mark.parametrize(
    ("ece", "which"), [([0.3], 0), ([0.3, 0.1, 0.2], 2), ([0.4, 0.1, 0.3, 0.2], 3), ([0.1, 0.1, 0.1], 1)]
)
def test_the_median_network(networks: Any, ece: list[float], which: int) -> None:
    logits = np.arange(len(ece))[:, None] * np.ones(3)
    found = networks._median(ece, logits, np.array([True, False, True]))
    assert found == {"which": which, "logits": [which] * 3, "y": [1, 0, 1]}


@pytest.fixture
def lessons(networks: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[[Recipe], dict[str, Any]]:
    """What each way is trained with: first weights, loss, rows of the strata, batches of one pass."""
    train = networks.train

    def given(recipe: Recipe) -> dict[str, Any]:
        seen: list[Any] = []

        def spied(module: Any, loss: Any, x: Any, batches: Any, **settings: Any) -> Any:
            weights = [part.detach().clone() for part in module.parameters()]
            rows = [part.numpy().copy() for part in batches.rows]
            seen.append((weights, loss, rows, len(batches), settings["learning_rate"]))
            return train(module, loss, x, batches, **settings)

        monkeypatch.setattr(networks, "train", spied)
        networks.learned(blobs(), recipe, n=2, passes=1, seed=[3], device="cpu")
        return dict(zip(WAYS, seen, strict=True))

    return given


@pytest.mark.parametrize("target_prior", [None, 0.5])
@pytest.mark.parametrize("kind", ["sigmoid", "logistic"])
def test_each_way_has_its_loss(
    lessons: Callable[[Recipe], dict[str, Any]], kind: str, target_prior: float | None
) -> None:
    """By hand, of logits at which the part of the negatives is below zero."""
    import torch

    found = lessons(Recipe(hidden=(8,), n_known=100, batch=300, loss=kind, target_prior=target_prior))
    known, rest = np.array([3.0, 1.0, 2.0]), np.array([-3.0, -2.0, 1.0, -4.0])
    loss = {
        "sigmoid": lambda z: 1 / (1 + np.exp(z)),
        "logistic": lambda z: np.log1p(np.exp(-z)),
    }
    y = blobs().y[: blobs().n_train]
    prior, ell = y.mean(), loss[kind]
    share = prior if target_prior is None else target_prior
    of_positives = share * ell(known).mean()
    of_negatives = (1 - share) / (1 - prior) * (ell(-rest).mean() - prior * ell(-known).mean())
    assert of_negatives < 0
    tensors = [torch.from_numpy(part)[None] for part in (known, rest)]
    assert float(found["upu"][1](*tensors)) == pytest.approx(of_positives + of_negatives)
    # The value of nnPU is that without the negative part, or its step back: not the unbiased one.
    assert float(found["nnpu"][1](*tensors)) != pytest.approx(of_positives + of_negatives)
    entropy = share * loss["logistic"](known).mean() + (1 - share) * loss["logistic"](-rest).mean()
    assert float(found["supervised"][1](*tensors)) == pytest.approx(entropy)


@pytest.mark.parametrize("way", ["nnpu", "upu"])
def test_the_risk_that_is_looked_at_has_no_correction(networks: Any, way: str) -> None:
    """One that could not fall below zero would say nothing of nnPU."""
    import torch

    source, rng = blobs(), np.random.default_rng(0)
    lesson = networks._lesson(source, TINY, way, 1, rng, "cpu")
    known, rest = torch.full((1, 3), 9.0), torch.full((1, 4), -9.0)
    prior = source.y[: source.n_train].mean()
    assert float(lesson.risk(known, rest)) == pytest.approx(-prior, abs=1e-3)


def test_each_way_has_its_rows_and_the_same_start(lessons: Callable[[Recipe], dict[str, Any]]) -> None:
    found = lessons(TINY)
    y = blobs().y[: blobs().n_train]
    for way in ("nnpu", "upu"):
        known, unlabeled = found[way][2]
        assert known.shape == (2, TINY.n_known)
        assert y[known].all()
        assert set(known[0]) != set(known[1])  # each network has its own
        assert (unlabeled == np.arange(len(y))).all()
    assert (found["nnpu"][2][0] == found["upu"][2][0]).all()
    positive, negative = found["supervised"][2]
    assert (positive == np.flatnonzero(y)).all()
    assert (negative == np.flatnonzero(~y)).all()
    for way in WAYS:
        assert all((a == b).all() for a, b in zip(found["nnpu"][0], found[way][0], strict=True))
    assert {own[3] for own in found.values()} == {9}  # 800 unlabeled and 100 known rows, a hundred a step
    assert {own[4] for own in found.values()} == {TINY.learning_rate}


def test_the_same_seed_gives_the_same_networks(networks: Any, told: dict[str, Any]) -> None:
    import torch

    threads = torch.get_num_threads()
    settings: dict[str, Any] = {"n": 2, "passes": 12, "device": "cpu"}
    again = networks.trained(blobs(), TINY, "nnpu", **settings, seed=[3])
    other = networks.trained(blobs(), TINY, "nnpu", **settings, seed=[4])
    del again["seconds"]
    assert again.items() <= told["nnpu"].items()
    assert other["risk"] != again["risk"]
    assert torch.get_num_threads() == threads


def test_the_risk_that_is_told_is_that_of_all_training_rows(networks: Any) -> None:
    """Of a network that never moves, by hand: π E_P[ℓ(g)] + E_U[ℓ(−g)] − π E_P[ℓ(−g)]."""
    from halftruth.learn._network_arrays import logits
    from halftruth.learn._network_training import Networks

    source, recipe = blobs(), Recipe(hidden=(8, 8), n_known=100, batch=200, learning_rate=0.0)
    found = networks.trained(source, recipe, "upu", n=1, passes=1, seed=[5], device="cpu")
    rng = np.random.default_rng([5])
    first, *_ = (int(rng.integers(2**31)) for _ in range(3))
    y = source.y[: source.n_train]
    known = rng.permutation(np.flatnonzero(y))[:100]
    g = logits(Networks((4, 8, 8, 1), seed=first).arrays(), source.x[: source.n_train].astype(float))
    called = 1 / (1 + np.exp(-g))  # the sigmoid loss of the negative class
    prior = y.mean()
    by_hand = prior * (1 - called[known]).mean() + called.mean() - prior * called[known].mean()
    assert found["risk"][0] == pytest.approx(by_hand, abs=1e-6)


def test_errors_are_at_the_share_that_was_learned_for(networks: Any) -> None:
    source = blobs(prior=0.1)
    recipe = Recipe(hidden=(8, 8), n_known=50, loss="logistic", batch=200, target_prior=0.5)
    for way in WAYS:
        found = networks.trained(source, recipe, way, n=1, passes=40, seed=[0], device="cpu")
        assert found["error_sd"] is None
        # Always "no" would be wrong for half; were the classes left as they come, for .1 of the rows.
        assert 0.13 < found["error"][-1] < 0.3
        if way == "nnpu":
            logits, y = np.array(found["logits"]), np.array(found["y"])
            missed, raised = np.mean(logits[y == 1] < 0), np.mean(logits[y == 0] >= 0)
            assert found["errors"][0] == pytest.approx((missed + raised) / 2, abs=1e-12)


def test_cross_entropy_is_that_of_scikit_learn(networks: Any) -> None:
    import torch
    from sklearn.metrics import log_loss

    rng = np.random.default_rng(2)
    g, y = rng.normal(size=50), np.arange(50) < 20
    parts = [torch.from_numpy(g[rows])[None] for rows in (y, ~y)]
    own = networks._cross_entropy(0.4, *parts)
    assert own.shape == (1,)
    assert float(own[0]) == pytest.approx(log_loss(y, 1 / (1 + np.exp(-g))))


def test_devices(networks: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    for there in (True, False):
        monkeypatch.setattr(torch.cuda, "is_available", lambda there=there: there)
        assert networks.chosen("cpu") == "cpu"
        assert networks.chosen("auto") == ("cuda" if there else "cpu")
    with pytest.raises(InputError, match="PyTorch does not see"):
        networks.chosen("cuda")


# --- the residual network -----------------------------------------------------------------------------


def resnet_parameters(width: int, channels: int) -> int:
    """9 weights a pair of channels, 2 constants a channel after each convolution, by stages."""
    total = 9 * channels * width + 2 * width
    before = width
    for stage in range(4):
        own = width * 2**stage
        total += 9 * before * own + 3 * 9 * own * own + 4 * 2 * own
        if own != before:
            total += before * own + 2 * own
        before = own
    return total + before + 1


@pytest.mark.usefixtures("networks")
@pytest.mark.parametrize(("width", "channels"), [(4, 3), (8, 1), (64, 3)])
def test_the_residual_network_has_eighteen_layers_and_their_weights(width: int, channels: int) -> None:
    from halftruth._pytorch import nn
    from halftruth_papers.pu_ece.resnet import ResNet18

    network = ResNet18(width=width, channels=channels)
    assert sum(part.numel() for part in network.parameters()) == resnet_parameters(width, channels)
    layers = [part for part in network.modules() if isinstance(part, (nn.Conv2d, nn.Linear))]
    assert sum(layer.weight.shape[-1] != 1 or layer is network.last for layer in layers) == 18
    assert resnet_parameters(64, 3) == 11_168_832 + 513  # that of 32×32 images in He et al.'s form


@pytest.mark.usefixtures("networks")
def test_the_residual_network_learns_and_a_row_does_not_hang_on_the_others() -> None:
    import torch

    from halftruth.learn._network_training import Batches, train
    from halftruth.learn._torch_losses import PULoss
    from halftruth_papers.pu_ece.resnet import ResNet18

    rng = np.random.default_rng(0)
    y = np.arange(120) % 2 == 0
    images = rng.normal(size=(120, 1, 8, 8))
    images[:, :, :4] += np.where(y, 1.0, -1.0)[:, None, None, None]  # light above, or dark
    x = torch.from_numpy(images.astype(np.float32))
    network, twin = ResNet18(width=2, channels=1, seed=1), ResNet18(width=2, channels=1, seed=1)
    assert all((a == b).all() for a, b in zip(network.parameters(), twin.parameters(), strict=True))
    known = torch.from_numpy(np.flatnonzero(y)[:40])[None]
    batches = Batches([known, torch.arange(120)[None]], 80, seed=0)
    train(network, PULoss(0.5), x, batches, epochs=30, learning_rate=1e-2)
    network.eval()
    with torch.no_grad():
        logits = network(x)
        assert logits.shape == (1, 120)
        assert torch.allclose(logits[:, :5], network(x[None, :5]), atol=1e-5)
    assert np.mean((logits[0].numpy() >= 0) == y) > 0.8  # how far it gets hangs on the number of threads


# --- both calibration errors of real networks -----------------------------------------------------------


def test_pu_ece_of_a_network_is_that_of_its_halves() -> None:
    rng = np.random.default_rng(6)
    y = rng.random(400) < 0.3
    logits = rng.normal(size=(3, 400)) + y
    found = experiments.calibration_errors(logits, y, 9)
    again = np.random.default_rng(9)
    for row, *own in zip(
        logits, *(found[name] for name in ("ece", "pu_ece", "debiased", "n_bins")), strict=True
    ):
        score = 1 / (1 + np.exp(-row))
        first, second = np.split(again.permutation(400), 2)
        known = score[[i for i in first if y[i]]]
        pu = ht.PositiveUnlabeled(known, score[second], prior=float(y.mean()))
        n_bins = int(np.ceil((y.mean() ** 2 / len(known) + 1 / 200) ** (-1 / 3)))
        assert n_bins != np.ceil(400 ** (1 / 3))  # which is the default with labels
        with_labels = ht.calibration_error(ht.Labeled(y, score), n_bins)
        debiased = ht.calibration_error(pu, n_bins, debias=True)
        assert own == pytest.approx([with_labels, ht.calibration_error(pu), debiased, n_bins], abs=1e-12)


# --- what the page says ---------------------------------------------------------------------------------


def kept(errors: dict[str, list[float]], least: dict[str, float]) -> dict[str, Any]:
    """Results of networks on MNIST."""
    n = len(errors["nnpu"])
    ways: dict[str, Any] = {
        way: {
            "seconds": 20.0,
            "seen": [1, 2],
            "error": [0.3, float(np.mean(own))],
            "error_sd": [0.1, 0.1] if n > 1 else None,
            "risk": [0.2, least[way] + 0.01],
            "least_risk": [0.1, least[way]],
            "errors": own,
            "ece": [0.03 + 0.01 * i for i in range(n)],
            "pu_ece": [0.04 + 0.01 * i for i in range(n)],
            "debiased": [0.01] * n,
            "n_bins": [15] * n,
        }
        for way, own in errors.items()
    }
    ways["nnpu"]["which"] = n - 1
    return {"mnist-networks": {"networks": n, "passes": 2, "device": "NVIDIA H200", **ways}}


ERRORS = {"nnpu": [0.04, 0.05], "upu": [0.06, 0.07], "supervised": [0.01, 0.02]}
LEAST = {"nnpu": 0.0, "upu": -0.05, "supervised": 0.0}


def test_tables_of_the_networks() -> None:
    results = kept(ERRORS, LEAST)
    columns, (row,) = training.errors(results)
    named = dict(zip(columns, row, strict=False))
    assert named["nnPU: error, %"] == "4.50"
    assert row[3:] == ["4.50", "0.98", "6.50", "0.98", "1.50", "0.98", "2.00", "0.00"]
    _, (row,) = training.risks(results)
    assert row[2:] == ["0.0000", "+0.0100", "−0.0500", "−0.0400"]
    _, rows = training.agreement(results)
    assert rows[0][2:] == [
        "0.0350",
        "0.0071",
        "0.0450",
        "0.0071",
        "+0.0100",
        "0.0000",
        "0.0100",
        "0.0000",
        "−0.0250",
        "0.0071",
    ]
    assert training.chosen_ece(results, "mnist") == "0.04000"
    assert training.chosen_ece(results, "less") is None
    assert training.times(results) == "MNIST, 2 networks side by side on NVIDIA H200 in 60 s"
    one = kept({way: own[:1] for way, own in ERRORS.items()}, LEAST)
    _, (row,) = training.errors(one)
    assert row[3:5] == ["4.00", None]


@pytest.mark.parametrize(
    ("errors", "least", "said"),
    [
        ({}, {}, ["does not fall below zero, that of uPU does;", "2.00 points below uPU's."]),
        ({}, {"upu": 0.0}, ["does not fall below zero, nor does that of uPU;"]),
        ({"nnpu": [0.08, 0.09]}, {}, ["2.00 points above uPU's."]),
        ({"nnpu": [0.02, 0.09]}, {}, ["1.00 points below uPU's, which may be noise."]),
        ({"nnpu": [0.06, 0.07]}, {}, ["the same as that of uPU."]),
        ({}, {"nnpu": -0.1, "upu": 0.0}, ["nnPU falls below zero, that of uPU does not;"]),
    ],
)
def test_the_page_says_what_came_out(errors: Any, least: Any, said: list[str]) -> None:
    verdict = verdicts.learning(kept({**ERRORS, **errors}, {**LEAST, **least}), "mnist")
    for part in said:
        assert part in verdict


def test_a_correction_that_never_acted_is_told() -> None:
    same = kept({**ERRORS, "upu": ERRORS["nnpu"]}, {**LEAST, "upu": 0.0})
    said = verdicts.learning(same, "mnist")
    assert said == "MNIST: nnPU and uPU agree in every number, for the correction never acted."
    same["mnist-networks"]["upu"]["risk"] = [0.3, 0.01]
    assert "never acted" not in verdicts.learning(same, "mnist")


def test_the_question_of_pu_ece_is_answered_by_its_ratio() -> None:
    results = kept(ERRORS, LEAST)
    assert verdicts.agreement(results, "mnist") == (
        "MNIST: no, PU-ECE is 1.29 times ECE, 0.0450 against 0.0350; debiased, it differs by −0.0250 (sd "
        "0.0071), −71.4% of it."
    )
    results["mnist-networks"]["nnpu"]["pu_ece"] = [0.033, 0.043]
    assert verdicts.agreement(results, "mnist").startswith("MNIST: yes, PU-ECE is 1.09 times ECE")
    results["mnist-networks"]["nnpu"]["pu_ece"] = [0.02, 0.02]
    assert verdicts.agreement(results, "mnist").startswith("MNIST: no, PU-ECE is 0.57 times ECE")
    assert verdicts.bins_of_networks(results) == "MNIST 15"
    results["mnist-networks"]["nnpu"]["n_bins"] = [16, 15]
    assert verdicts.bins_of_networks(results) == "MNIST 15 to 16"


def test_the_section_on_the_networks(require: Callable[[str], ModuleType]) -> None:
    require("matplotlib")
    out = Page("networks")
    network_page.networks(out, {})
    assert "h2" not in out.html().partition("<body>")[2]
    results = kept(ERRORS, LEAST)
    for name in ("fashion", "bank"):
        results[f"{name}-networks"] = results["mnist-networks"]
    network_page.networks(out, results)
    html = out.html()
    for part in (
        "the text at hand, without its appendices, does not say; here the steps are Adam&#x27;s",
        "in the place of the paper&#x27;s drug interactions, with its loss and number of known positives; the "
        "network and its rate are ours",
        "The paper has no such data; all of this is ours.",
        "imbalanced nnPU",
        "it is least after 2 (4.50%; 4.50% at the end)",
        "two hidden layers of 100, sigmoid loss, rate 0.001, 10,000 known positives",
        "the prior is the share of positives among all test rows",
        "passes that were looked at",
        "no, PU-ECE is 1.29 times ECE",
    ):
        assert part in html, part
    assert html.count("rate and number of known positives are the paper&#x27;s") == 1
    assert html.count("<figure") == 1
    assert html.count("<table>") == 3
