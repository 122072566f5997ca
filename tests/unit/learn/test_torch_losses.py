"""The losses for PyTorch: values and slopes by hand, corrections, far margins, bad input."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import halftruth as ht

if os.environ.get("HALFTRUTH_REQUIRE_EXTRAS", "") in {"", "0"}:
    pytest.importorskip("torch")
import torch

from halftruth.learn import PositiveConfidenceLoss, PULoss, risk_weights

PRIOR = 0.4
# Each loss with its slope, from its definition.
BY_HAND: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "sigmoid": (lambda z: 1 / (1 + np.exp(z)), lambda z: -1 / (2 + np.exp(z) + np.exp(-z))),
    "logistic": (lambda z: np.log(1 + np.exp(-z)), lambda z: -1 / (1 + np.exp(z))),
    "squared": (lambda z: (z - 1) ** 2, lambda z: 2 * (z - 1)),
    "ramp": (lambda z: np.clip((1 - z) / 2, 0, 1), lambda z: -0.5 * (np.abs(z) < 1)),
}
CORRECTIONS = ("none", "non-negative", "absolute", "leaky")
each_loss = pytest.mark.parametrize("loss", BY_HAND)
each_correction = pytest.mark.parametrize("correction", CORRECTIONS)

# Positives far above the unlabeled: the part of the negatives is below zero. The others are plain.
BELOW = np.array([3.0, 2.0, -0.3]), np.array([-1.5, -2.0, -0.9, -1.2])
ABOVE = np.array([2.0, 0.5, -0.3]), np.array([-0.5, 1.5, 0.2, -0.7])


def logits(*arrays: Any, dtype: torch.dtype = torch.float64) -> list[torch.Tensor]:
    return [torch.tensor(array, dtype=dtype, requires_grad=True) for array in arrays]


def slopes(value: torch.Tensor, at: list[torch.Tensor]) -> list[np.ndarray]:
    found = torch.autograd.grad(value.sum(), at, allow_unused=True)
    return [np.zeros(x.shape) if g is None else g.numpy() for g, x in zip(found, at, strict=True)]


def by_hand(
    loss: str, p: np.ndarray, u: np.ndarray
) -> tuple[float, float, np.ndarray, np.ndarray, np.ndarray]:
    """R⁺ and R⁻ of clean positives, the slope of R⁺ in p, and those of R⁻ in p and u."""
    at, slope = BY_HAND[loss]
    plus = PRIOR * at(p).mean()
    minus = at(-u).mean() - PRIOR * at(-p).mean()
    return plus, minus, PRIOR * slope(p) / len(p), PRIOR * slope(-p) / len(p), -slope(-u) / len(u)


# --- Values and slopes of the corrections -------------------------------------------------------


@pytest.mark.parametrize("rows", [ABOVE, BELOW], ids=["above zero", "below zero"])
@each_loss
def test_parts_by_hand(loss: str, rows: tuple[np.ndarray, np.ndarray]) -> None:
    plus, minus, *_ = by_hand(loss, *rows)
    assert (minus < 0) == (rows is BELOW)
    got = PULoss(PRIOR, loss=loss).parts(*logits(*rows))
    assert [float(part.detach()) for part in got] == pytest.approx([plus, minus], rel=1e-14)


@pytest.mark.parametrize("rows", [ABOVE, BELOW], ids=["above zero", "below zero"])
@each_correction
@each_loss
def test_value_and_slope_by_hand(loss: str, correction: str, rows: tuple[np.ndarray, np.ndarray]) -> None:
    plus, minus, plus_p, minus_p, minus_u = by_hand(loss, *rows)
    below = minus < 0
    value, of_plus, of_minus = {
        "none": (plus + minus, 1, 1),
        "non-negative": (plus + max(minus, 0), 0 if below else 1, -0.7 if below else 1),
        "absolute": (plus + abs(minus), 1, -1 if below else 1),
        "leaky": (plus + (-0.3 * minus if below else minus), 1, -0.3 if below else 1),
    }[correction]
    at = logits(*rows)
    got = PULoss(PRIOR, loss=loss, correction=correction, gamma=0.7, leak=-0.3)(*at)
    assert float(got.detach()) == pytest.approx(value, rel=1e-14)
    in_p, in_u = slopes(got, at)
    np.testing.assert_allclose(in_p, of_plus * plus_p + of_minus * minus_p, rtol=1e-13, atol=1e-16)
    np.testing.assert_allclose(in_u, of_minus * minus_u, rtol=1e-13, atol=1e-16)


@pytest.mark.parametrize(("beta", "turns"), [(0.0, True), (0.05, True), (10.0, False)])
def test_the_correction_sets_in_below_minus_beta(beta: float, turns: bool) -> None:
    plus, minus, plus_p, minus_p, minus_u = by_hand("sigmoid", *BELOW)
    assert (minus < -beta) == turns
    at = logits(*BELOW)
    got = PULoss(PRIOR, beta=beta)(*at)
    assert float(got.detach()) == pytest.approx(plus + max(minus, -beta), rel=1e-14)
    in_p, in_u = slopes(got, at)
    np.testing.assert_allclose(in_p, -minus_p if turns else plus_p + minus_p, rtol=1e-13)
    np.testing.assert_allclose(in_u, -minus_u if turns else minus_u, rtol=1e-13)


def test_gamma_zero_makes_no_step() -> None:
    at = logits(*BELOW)
    assert all((slope == 0).all() for slope in slopes(PULoss(PRIOR, gamma=0.0)(*at), at))


def test_a_leak_of_minus_one_is_the_absolute_value_and_of_zero_cuts_off() -> None:
    at = logits(*BELOW)
    with torch.no_grad():
        full, none = (float(PULoss(PRIOR, correction="leaky", leak=leak)(*at)) for leak in (-1.0, 0.0))
        assert full == float(PULoss(PRIOR, correction="absolute")(*at))
        assert none == float(PULoss(PRIOR)(*at)) == pytest.approx(by_hand("sigmoid", *BELOW)[0], rel=1e-14)


@pytest.mark.parametrize("purity", [1.0, 0.8])
@pytest.mark.parametrize("correction", ["non-negative", "absolute", "leaky"])
@pytest.mark.parametrize("loss", [*BY_HAND, "zero_one"])
def test_a_corrected_risk_is_never_below_zero(loss: str, correction: str, purity: float) -> None:
    rng = np.random.default_rng(0)
    p, u = (torch.from_numpy(3 * rng.normal(rng.normal(size=(500, 1)), 1, (500, n))) for n in (2, 3))
    parts = torch.stack(PULoss(PRIOR, loss=loss, purity=purity).parts(p, u))
    assert (parts[1] < 0).any()  # the sample tries it
    assert (PULoss(PRIOR, loss=loss, correction=correction, purity=purity)(p, u) >= 0).all()


def test_the_part_of_noisy_positives_is_corrected_alike() -> None:
    """ρ = 0.7 and π = 0.4: R⁺ = 0.4 · (0.6 P − 0.3 U) / 0.3, below zero where U loses much more than P."""
    p, u = np.array([3.0, 4.0]), np.array([-3.0, -2.0, -4.0])
    at, slope = BY_HAND["logistic"]
    plus = 0.8 * at(p).mean() - 0.4 * at(u).mean()
    # μ − μ₁ is U less that: 1.4 U − 0.8 P.
    minus = 1.4 * at(-u).mean() - 0.8 * at(-p).mean()
    assert plus < 0
    assert minus < 0
    tensors = logits(p, u)
    for correction, value in {
        "none": plus + minus,
        "non-negative": 0.0,
        "absolute": -plus - minus,
        "leaky": -0.5 * (plus + minus),
    }.items():
        risk = PULoss(0.4, loss="logistic", correction=correction, leak=-0.5, gamma=0.5, purity=0.7)
        got = risk(*tensors)
        assert float(got.detach()) == pytest.approx(value, rel=1e-12, abs=1e-15)
        factor = {"none": 1, "non-negative": -0.5, "absolute": -1, "leaky": -0.5}[correction]
        in_p, in_u = slopes(got, tensors)
        np.testing.assert_allclose(in_p, factor * (0.8 * slope(p) + 0.8 * slope(-p)) / 2, rtol=1e-12)
        np.testing.assert_allclose(in_u, factor * (-0.4 * slope(u) - 1.4 * slope(-u)) / 3, rtol=1e-12)


def test_where_only_one_part_is_below_zero_only_that_one_is_stepped_on() -> None:
    p, u = np.array([1.5, 0.5]), np.array([-3.0, 4.0, -4.0])
    at, slope = BY_HAND["squared"]
    plus, minus = 0.8 * at(p).mean() - 0.4 * at(u).mean(), 1.4 * at(-u).mean() - 0.8 * at(-p).mean()
    plus_below = plus < 0 < minus
    assert plus_below
    tensors = logits(p, u)
    got = PULoss(0.4, loss="squared", purity=0.7)(*tensors)
    assert float(got.detach()) == pytest.approx(minus, rel=1e-12)
    in_p, in_u = slopes(got, tensors)
    np.testing.assert_allclose(in_p, -0.8 * slope(p) / 2, rtol=1e-12)
    np.testing.assert_allclose(in_u, 0.4 * slope(u) / 3, rtol=1e-12)


# --- Networks side by side, batches of any size -------------------------------------------------


@each_correction
def test_networks_side_by_side_each_have_their_own_branch(correction: str) -> None:
    risk = PULoss(PRIOR, correction=correction, leak=-0.3)
    pairs = [ABOVE, BELOW, ABOVE]
    together = logits(*(np.stack(part) for part in zip(*pairs, strict=True)))
    values = risk(*together)
    found = slopes(values, together)
    assert values.shape == (3,)
    for i, rows in enumerate(pairs):
        alone = logits(*rows)
        value = risk(*alone)
        assert float(values[i].detach()) == pytest.approx(float(value.detach()), rel=1e-15)
        for one, own in zip(found, slopes(value, alone), strict=True):
            np.testing.assert_allclose(one[i], own, rtol=1e-14)


def test_more_leading_axes_stay() -> None:
    p, u, n = (torch.zeros(2, 3, size) for size in (2, 4, 1))
    assert PULoss(0.3)(p, u).shape == (2, 3)
    assert PULoss(0.3, eta=0.5)(p, u, n).shape == (2, 3)
    assert PositiveConfidenceLoss()(p, torch.full((2, 3, 2), 0.5)).shape == (2, 3)
    assert PositiveConfidenceLoss()(p, torch.full((2,), 0.5)).shape == (2, 3)


@pytest.mark.parametrize(
    "shapes", [((5, 1), (5, 1)), ((1, 1), (7, 1)), ((3, 2), (4, 2)), ((2,), (4, 2))], ids=str
)
def test_rows_along_the_first_axis_are_refused(shapes: Any) -> None:
    """What nn.Linear(…, 1) returns would be read as networks of one row each."""
    with pytest.raises(ht.InputError, match=r"network\(x\)\[:, 0\]; leading axes are networks side by side"):
        PULoss(0.3)(*(torch.zeros(shape) for shape in shapes))


@pytest.mark.parametrize("of_r", [(5, 1), (5,)], ids=str)
def test_confidences_of_a_column_of_logits_are_refused(of_r: Any) -> None:
    with pytest.raises(ht.InputError, match=r"network\(x\)\[:, 0\]"):
        PositiveConfidenceLoss()(torch.zeros(5, 1), torch.full(of_r, 0.5))
    with pytest.raises(ht.InputError, match="one confidence for each logit"):
        PositiveConfidenceLoss()(torch.zeros(5), torch.full((3, 5), 0.5))


@each_loss
def test_a_batch_counts_by_its_mean_whatever_its_size(loss: str) -> None:
    risk = PULoss(PRIOR, loss=loss)
    p, u = logits([0.7], [-0.2])
    once = float(risk(p, u).detach())
    many = float(risk(p.expand(5), u.expand(17)).detach())
    assert once == pytest.approx(many, rel=1e-14)
    at = BY_HAND[loss][0]
    by_one = PRIOR * at(0.7) + max(at(0.2) - PRIOR * at(-0.7), 0)
    assert once == pytest.approx(by_one, rel=1e-14)


def test_the_dtype_stays() -> None:
    for dtype in (torch.float32, torch.float64):
        for correction in CORRECTIONS:
            assert PULoss(PRIOR, correction=correction)(*logits(*BELOW, dtype=dtype)).dtype == dtype


# --- Slopes against differences -----------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"purity": 0.8}, {"eta": 0.5}, {"eta": -0.5}, {"target_prior": 0.5}])
@each_correction
@each_loss
def test_slopes_are_those_of_the_value(loss: str, correction: str, options: dict[str, Any]) -> None:
    """Where nnPU turns back its slope is not that of its value, so there it is tried above zero only."""
    risk = PULoss(PRIOR, loss=loss, correction=correction, leak=-0.4, **options)
    negative = [np.array([-0.4, 0.3])] if "eta" in options else []
    tried = 0
    for rows in (ABOVE, BELOW):
        at = logits(*rows, *negative)
        if correction == "non-negative" and min(float(part.detach()) for part in risk.parts(*at)) < 0:
            continue
        tried += 1
        assert torch.autograd.gradcheck(risk, at)
    assert tried


@each_loss
def test_slopes_of_positive_confidence(loss: str) -> None:
    (g,) = logits(ABOVE[1])
    r = torch.tensor([0.9, 0.5, 0.2, 1.0], dtype=torch.float64)
    assert torch.autograd.gradcheck(lambda x: PositiveConfidenceLoss(loss)(x, r), (g,))
    at = BY_HAND[loss][0]
    expected = np.mean(at(ABOVE[1]) + (1 - r.numpy()) / r.numpy() * at(-ABOVE[1]))
    assert float(PositiveConfidenceLoss(loss)(g, r).detach()) == pytest.approx(expected, rel=1e-14)


# --- Far margins --------------------------------------------------------------------------------

FAR = 1e4
LIMITS = {
    "sigmoid": (0.0, 1.0),
    "logistic": (0.0, FAR),
    "squared": ((FAR - 1) ** 2, (FAR + 1) ** 2),
    "ramp": (0, 1),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@each_loss
def test_far_margins_have_exact_values_and_finite_slopes(loss: str, dtype: torch.dtype) -> None:
    right, wrong = LIMITS[loss]
    for sign, of_positive, of_negative in ((1, right, wrong), (-1, wrong, right)):
        at = logits([sign * FAR], [sign * FAR], dtype=dtype)
        plus, minus = PULoss(0.5, loss=loss).parts(*at)
        rel = 1e-15 if dtype == torch.float64 else 1e-7
        assert float(plus.detach()) == pytest.approx(0.5 * of_positive, rel=rel, abs=0)
        assert float(minus.detach()) == pytest.approx(0.5 * of_negative, rel=rel, abs=0)
        for correction in CORRECTIONS:
            value = PULoss(0.5, loss=loss, correction=correction)(*at)
            assert np.isfinite([float(value.detach()), *np.concatenate(slopes(value, at))]).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_slopes_of_far_margins(dtype: torch.dtype) -> None:
    for loss, towards, away in (
        ("sigmoid", 0, 0),
        ("logistic", -1, 0),
        ("ramp", 0, 0),
        ("squared", None, None),
    ):
        for sign, expected in ((-1, towards), (1, away)):
            at = logits([sign * FAR], dtype=dtype)
            (slope,) = slopes(PositiveConfidenceLoss(loss)(at[0], torch.ones(1, dtype=dtype)), at)
            wanted = 2 * (sign * FAR - 1) if expected is None else expected
            assert slope[0] == pytest.approx(wanted, rel=1e-6, abs=0)


def test_below_zero_at_far_margins_the_correction_keeps_its_value() -> None:
    """All unlabeled rows far below, one positive among them: R⁻ is about −π · 1e4, and the value R⁺."""
    for dtype in (torch.float32, torch.float64):
        at = logits([FAR, -FAR], [-FAR] * 3, dtype=dtype)
        got = PULoss(PRIOR, loss="logistic")(*at)
        assert float(got.detach()) == pytest.approx(PRIOR * FAR / 2, rel=1e-6)
        assert np.isfinite(np.concatenate(slopes(got, at))).all()


# --- Zero-one ---------------------------------------------------------------------------------


def test_zero_one_counts_a_logit_of_zero_as_called_positive() -> None:
    p, u = torch.tensor([0.0, -1.0, 2.0, -0.5]), torch.tensor([0.0, 1.0, -1.0, -2.0, -3.0])
    plus, minus = PULoss(PRIOR, loss="zero_one").parts(p, u)
    assert float(plus) == pytest.approx(PRIOR * 2 / 4)
    assert float(minus) == pytest.approx(2 / 5 - PRIOR * 2 / 4)


@pytest.mark.parametrize("population", ["unlabeled", "all"])
@pytest.mark.parametrize("purity", [1.0, 0.8])
@pytest.mark.parametrize("loss", [*BY_HAND, "zero_one"])
def test_a_whole_table_has_the_risk_of_the_functional(loss: str, purity: float, population: str) -> None:
    rng = np.random.default_rng(1)
    p, u = rng.normal(0.8, 1, 40), rng.normal(-0.3, 1, 160)
    risk = PULoss(0.3, loss=loss, correction="none", purity=purity, population=population, sizes=(40, 160))
    evidence = ht.PositiveUnlabeled(p, u, prior=0.3, purity=purity, population=population)
    assert float(risk(torch.from_numpy(p), torch.from_numpy(u))) == pytest.approx(
        ht.risk(evidence, loss), rel=1e-13
    )


# --- Weights ------------------------------------------------------------------------------------


def test_weights_by_hand() -> None:
    """From the definitions: R_PN, R_PU and R_NU of Sakai et al. 2017, each of the two parts by itself."""
    pn = ((0.4, 0, 0), (0, 0, 0.6))
    pu = ((0.4, 0, 0), (-0.4, 1, 0))
    nu = ((0, 1, -0.6), (0, 0, 0.6))
    for eta, other, share in (
        (0.0, pu, 0.0),
        (0.25, pu, 0.25),
        (1.0, pu, 1.0),
        (-0.25, nu, 0.25),
        (-1.0, nu, 1.0),
    ):
        got = risk_weights(0.4, eta=eta)
        for k, part in enumerate((got.positive, got.negative)):
            expected = (1 - share) * np.array(pn[k]) + share * np.array(other[k])
            np.testing.assert_allclose(part, expected, atol=1e-15)


def test_a_target_prior_reweights_the_parts() -> None:
    plain, balanced = risk_weights(0.1, purity=0.9), risk_weights(0.1, purity=0.9, target_prior=0.5)
    np.testing.assert_allclose(balanced.positive, np.array(plain.positive) * 5, rtol=1e-14)
    np.testing.assert_allclose(balanced.negative, np.array(plain.negative) * 5 / 9, rtol=1e-14)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"purity": 0.7},
        {"eta": 0.4},
        {"eta": -0.4, "purity": 0.7},
        {"population": "all", "sizes": (20, 100)},
        {"population": "all", "sizes": (20, 100, 30), "purity": 0.8, "eta": 0.3},
        {"population": "all", "sizes": (20, 100, 30), "purity": 0.8, "eta": -0.3},
        {"population": "all", "sizes": (20, 100, 30)},
    ],
    ids=str,
)
def test_weights_add_up_to_the_classes(options: dict[str, Any]) -> None:
    """A loss of one for everyone: R⁺ is π and R⁻ is 1 − π, or as the target has them."""
    weights = risk_weights(0.4, **options)
    assert [sum(weights.positive), sum(weights.negative)] == pytest.approx([0.4, 0.6], rel=1e-14)
    targeted = risk_weights(0.4, **options, target_prior=0.7)
    assert [sum(targeted.positive), sum(targeted.negative)] == pytest.approx([0.7, 0.3], rel=1e-14)


def test_sizes_may_be_an_array() -> None:
    told = {"population": "all", "eta": 0.3}
    given = ((20, 100, 30), [20, 100, 30], np.array([20, 100, 30]))
    assert len({risk_weights(0.4, sizes=sizes, **told) for sizes in given}) == 1


# --- Bad input ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prior", "options", "match"),
    [
        (0.0, {}, r"`prior` must lie in \(0, 1\)"),
        (1.0, {}, r"`prior` must lie in \(0, 1\)"),
        (1.2, {}, r"`prior` must lie in \(0, 1\), got 1.2"),
        (float("nan"), {}, "`prior`"),
        ("0.4", {}, "`prior`"),
        (0.4, {"purity": 0.0}, "`purity`"),
        (0.4, {"purity": 1.1}, "`purity`"),
        (0.4, {"purity": 0.4}, "purity"),
        (0.4, {"purity": 0.3}, "purity"),
        (0.4, {"eta": 1.1}, r"`eta` must lie in \[-1, 1\]"),
        (0.4, {"eta": -1.1}, r"`eta` must lie in \[-1, 1\]"),
        (0.4, {"target_prior": 0.0}, "`target_prior`"),
        (0.4, {"target_prior": 1.0}, "`target_prior`"),
        (0.4, {"beta": -0.1}, "`beta`"),
        (0.4, {"gamma": 1.1}, "`gamma`"),
        (0.4, {"gamma": -0.1}, "`gamma`"),
        (0.4, {"leak": 0.1}, "`leak`"),
        (0.4, {"leak": -1.1}, "`leak`"),
        (0.4, {"loss": "hinge"}, "`loss` must be"),
        (0.4, {"loss": "log"}, "`loss` must be"),
        (0.4, {"correction": "nnPU"}, "`correction` must be"),
        (0.4, {"correction": None}, "`correction` must be"),
        (0.4, {"population": "U"}, "`population` must be"),
        (0.4, {"population": "all"}, "`sizes` must be"),
        (0.4, {"population": "all", "sizes": (10,)}, "`sizes` must be"),
        (0.4, {"population": "all", "sizes": 100}, "`sizes` must be"),
        (0.4, {"population": "all", "sizes": (0, 10)}, "sizes"),
        (0.4, {"population": "all", "sizes": (10, 0)}, "sizes"),
        (0.4, {"population": "all", "sizes": (50, 50)}, "`prior`"),
        (0.4, {"sizes": (10,)}, "`sizes` must be"),
        (0.4, {"sizes": (10, -3)}, "sizes"),
        (0.4, {"sizes": np.array([10.0, 20.0])}, "sizes"),
        (0.4, {"sizes": np.array([[10, 20]])}, "`sizes` must be"),
        (0.4, {"population": "all", "sizes": (1, 50), "purity": 0.3}, "purity"),
    ],
)
def test_a_loss_that_cannot_be(prior: Any, options: dict[str, Any], match: str) -> None:
    with pytest.raises(ht.InputError, match=match):
        PULoss(prior, **options)


def test_every_stratum_that_counts_must_have_a_row() -> None:
    one, none = torch.zeros(1), torch.zeros(0)
    for rows, name in (((none, one), "positive"), ((one, none), "unlabeled")):
        with pytest.raises(ht.InputError, match=f"`{name}` must hold at least one logit"):
            PULoss(0.3)(*rows)
    with pytest.raises(ht.InputError, match="`negative` must hold at least one logit"):
        PULoss(0.3, eta=0.5)(one, one, none)
    with pytest.raises(ht.InputError, match="`positive` must hold at least one logit"):
        PULoss(0.3)(torch.tensor(1.0), one)
    with pytest.raises(ht.InputError, match="`negative` must hold logits"):
        PULoss(0.3, eta=0.5)(one, one)


def test_negatives_that_nothing_was_said_of_are_refused() -> None:
    one = torch.zeros(1)
    with pytest.raises(ht.InputError, match="`negative` has no weight"):
        PULoss(0.3)(one, one, one)


def test_an_eta_of_one_takes_negatives_and_leaves_them_out() -> None:
    """So that a search over η in [−1, 1] has one way to call the loss."""
    p, u, n = (torch.tensor(x) for x in ([1.0, 0.5], [0.2, -1.0], [-2.0]))
    assert float(PULoss(0.3, eta=1.0)(p, u, n)) == float(PULoss(0.3)(p, u))


@pytest.mark.parametrize(
    ("confidence", "match"),
    [
        ([0.5, 0.0], r"`r` must lie in \(0, 1\]"),
        ([0.5, 1.1], r"`r` must lie in \(0, 1\]"),
        ([0.5, float("nan")], r"`r` must lie in \(0, 1\]"),
        ([0.5], "one confidence for each logit"),
    ],
)
def test_confidences_that_cannot_be(confidence: list[float], match: str) -> None:
    with pytest.raises(ht.InputError, match=match):
        PositiveConfidenceLoss()(torch.zeros(2), torch.tensor(confidence))
    with pytest.raises(ht.InputError, match="one confidence for each logit"):
        PositiveConfidenceLoss()(torch.zeros(0), torch.zeros(0))


@each_correction
def test_a_logit_that_is_no_number_shows(correction: str) -> None:
    """No check on every batch, which would wait for the device; but no correction hides it either."""
    risk = PULoss(0.3, correction=correction, leak=0.0)
    good, bad = torch.tensor([-3.0, -2.0]), torch.tensor([float("nan"), -2.0])
    assert torch.isnan(risk(good, bad))
    assert torch.isnan(risk(bad, good))


def test_without_torch_an_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "halftruth._pytorch")
    with pytest.raises(ht.MissingDependency, match=r"pip install 'halftruth\[torch\]'"):
        importlib.import_module("halftruth._pytorch")
