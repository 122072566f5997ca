"""The unbiased risk has the supervised risk as its expectation: every sample of a small law, with its probability.

Five cases x with their weights, their chances of being positive and their logits say everything. All samples of
two known positives, two unlabeled cases and two known negatives are listed; a mean over them is exact.
"""

from collections.abc import Callable
from functools import cache, partial
from itertools import product
from math import prod
from types import ModuleType

import numpy as np
import pytest

import halftruth as ht

Require = Callable[[str], ModuleType]

WEIGHT = np.array([0.3, 0.25, 0.2, 0.15, 0.1])
CHANCE = np.array([0.05, 0.2, 0.5, 0.75, 0.9])
LOGIT = np.array([-2.3, 0.4, -0.6, 1.7, 3.1])
PRIOR = float(WEIGHT @ CHANCE)
POSITIVE, NEGATIVE = WEIGHT * CHANCE / PRIOR, WEIGHT * (1 - CHANCE) / (1 - PRIOR)
SIZE = 2
PURITIES = (1.0, 0.9, 0.6)
ETAS = (-1.0, -0.6, 0.0, 0.3, 1.0)
TARGETS = (0.2, 0.5, 0.8)
EXACT = {"rel": 0, "abs": 1e-12}

LOSSES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "sigmoid": lambda z: 1 / (1 + np.exp(z)),
    "logistic": lambda z: np.log(1 + np.exp(-z)),
    "squared": lambda z: (z - 1) ** 2,
    "ramp": lambda z: np.clip((1 - z) / 2, 0, 1),
    "zero_one": lambda z: (z < 0) * 1.0,
}
SMOOTH = [name for name in LOSSES if name != "zero_one"]
each_loss = pytest.mark.parametrize("loss", LOSSES)
each_smooth_loss = pytest.mark.parametrize("loss", SMOOTH)
each_purity = pytest.mark.parametrize("purity", PURITIES)


def parts(loss: str) -> tuple[float, float]:
    """E[ℓ(g) | Y=1] and E[ℓ(−g) | Y=0]."""
    function = LOSSES[loss]
    return float(POSITIVE @ function(LOGIT)), float(NEGATIVE @ function(-LOGIT))


def supervised(loss: str, prior: float = PRIOR) -> float:
    of_positive, of_negative = parts(loss)
    return prior * of_positive + (1 - prior) * of_negative


def mixture(share: float) -> np.ndarray:
    """The law of a stratum with this share of positives."""
    return share * POSITIVE + (1 - share) * NEGATIVE


@cache
def listed(n_strata: int, n: int = SIZE) -> tuple[np.ndarray, ...]:
    """Of each stratum the cases (samples, n) in every joint sample."""
    one = np.array(list(product(range(len(LOGIT)), repeat=n)))
    chosen = np.array(list(product(range(len(one)), repeat=n_strata)))
    return tuple(one[chosen[:, k]] for k in range(n_strata))


def probability(samples: tuple[np.ndarray, ...], laws: tuple[np.ndarray, ...]) -> np.ndarray:
    """Of each joint sample."""
    out = prod(law[cases].prod(axis=1) for law, cases in zip(laws, samples, strict=True))
    assert out.sum() == pytest.approx(1, **EXACT)
    return np.asarray(out)


def expectation(value: Callable[..., np.ndarray], *laws: np.ndarray) -> float:
    """Of a function of the strata's logits, over every sample."""
    samples = listed(len(laws))
    return float(probability(samples, laws) @ np.asarray(value(*(LOGIT[cases] for cases in samples))))


def share_of_unlabeled(purity: float, n_positive: int, n_unlabeled: int, n_negative: int = 0) -> float:
    """α where strata of these sizes together have the prior."""
    n = n_positive + n_unlabeled + n_negative
    return (PRIOR * n - purity * n_positive) / n_unlabeled


# --- The losses of networks ---------------------------------------------------------------------


@pytest.fixture
def mean_loss(require: Require) -> Callable[..., float]:
    """``mean_loss(laws, loss=..., ...)``: the mean of an uncorrected PULoss over all samples."""
    torch = require("torch")
    from halftruth.learn import PULoss

    def mean(*laws: np.ndarray, **options: object) -> float:
        risk = PULoss(PRIOR, correction="none", **options)
        return expectation(lambda *logits: risk(*map(torch.from_numpy, logits)).numpy(), *laws)

    return mean


@each_purity
@each_smooth_loss
def test_two_samples(loss: str, purity: float, mean_loss: Callable[..., float]) -> None:
    got = mean_loss(mixture(purity), WEIGHT, loss=loss, purity=purity)
    assert got == pytest.approx(supervised(loss), **EXACT)


@each_loss
def test_the_law_is_one(loss: str) -> None:
    """Its classes make up the population, and so do their risks."""
    np.testing.assert_allclose(mixture(PRIOR), WEIGHT, rtol=1e-15)
    assert supervised(loss) == pytest.approx(
        float(WEIGHT @ (CHANCE * LOSSES[loss](LOGIT) + (1 - CHANCE) * LOSSES[loss](-LOGIT))), **EXACT
    )


@pytest.mark.parametrize("eta", ETAS)
@each_purity
@each_smooth_loss
def test_with_known_negatives(loss: str, purity: float, eta: float, mean_loss: Callable[..., float]) -> None:
    got = mean_loss(mixture(purity), WEIGHT, NEGATIVE, loss=loss, purity=purity, eta=eta)
    assert got == pytest.approx(supervised(loss), **EXACT)


@pytest.mark.parametrize("target", TARGETS)
@each_purity
@each_smooth_loss
def test_for_another_prior(loss: str, purity: float, target: float, mean_loss: Callable[..., float]) -> None:
    got = mean_loss(mixture(purity), WEIGHT, loss=loss, purity=purity, target_prior=target)
    assert got == pytest.approx(supervised(loss, target), **EXACT)


@pytest.mark.parametrize("eta", ETAS)
@pytest.mark.parametrize("target", TARGETS)
def test_for_another_prior_with_known_negatives(
    target: float, eta: float, mean_loss: Callable[..., float]
) -> None:
    laws = mixture(0.9), WEIGHT, NEGATIVE
    got = mean_loss(*laws, loss="logistic", purity=0.9, eta=eta, target_prior=target)
    assert got == pytest.approx(supervised("logistic", target), **EXACT)


@pytest.mark.parametrize("sizes", [(2, 2), (1, 2), (20, 70)], ids=str)
@each_purity
@each_smooth_loss
def test_one_table(loss: str, purity: float, sizes: tuple[int, int], mean_loss: Callable[..., float]) -> None:
    """The sizes of the table, not of the mini-batch, say how its strata make up the population."""
    alpha = share_of_unlabeled(purity, *sizes)
    if not 0 <= alpha < purity:
        with pytest.raises(ht.InputError, match=r"`prior`|`purity`"):
            mean_loss(mixture(purity), WEIGHT, loss=loss, purity=purity, population="all", sizes=sizes)
        return
    laws = mixture(purity), mixture(alpha)
    got = mean_loss(*laws, loss=loss, purity=purity, population="all", sizes=sizes)
    assert got == pytest.approx(supervised(loss), **EXACT)


@pytest.mark.parametrize("eta", ETAS)
@pytest.mark.parametrize("purity", [1.0, 0.9])
@pytest.mark.parametrize("target", [None, 0.5])
def test_one_table_with_known_negatives(
    eta: float, purity: float, target: float | None, mean_loss: Callable[..., float]
) -> None:
    sizes = 20, 70, 30
    laws = mixture(purity), mixture(share_of_unlabeled(purity, *sizes)), NEGATIVE
    got = mean_loss(
        *laws, loss="sigmoid", purity=purity, population="all", sizes=sizes, eta=eta, target_prior=target
    )
    assert got == pytest.approx(supervised("sigmoid", PRIOR if target is None else target), **EXACT)


@each_purity
@each_smooth_loss
def test_each_part_by_itself(loss: str, purity: float, require: Require) -> None:
    """R⁺ is the risk of the positives and R⁻ that of the negatives, not only their sum."""
    torch = require("torch")
    from halftruth.learn import PULoss

    risk = PULoss(PRIOR, loss=loss, purity=purity)
    laws = mixture(purity), WEIGHT
    got = [
        expectation(lambda *logits, k=k: risk.parts(*map(torch.from_numpy, logits))[k].numpy(), *laws)
        for k in (0, 1)
    ]
    of_positive, of_negative = parts(loss)
    assert got == pytest.approx([PRIOR * of_positive, (1 - PRIOR) * of_negative], **EXACT)


@each_smooth_loss
def test_positive_confidence(loss: str, require: Require) -> None:
    """Eq. 5: the mean over positives, times the prior."""
    torch = require("torch")
    from halftruth.learn import PositiveConfidenceLoss

    (cases,) = listed(1)
    risk = PositiveConfidenceLoss(loss=loss)
    each = [float(risk(torch.from_numpy(LOGIT[x]), torch.from_numpy(CHANCE[x]))) for x in cases]
    got = PRIOR * float(probability((cases,), (POSITIVE,)) @ np.array(each))
    assert got == pytest.approx(supervised(loss), **EXACT)


# --- The functional -----------------------------------------------------------------------------


@cache
def mean_risks(purity: float, population: str, n_unlabeled: int) -> dict[str, float]:
    """The mean of `risk` over all samples of two positives and two unlabeled cases, these each so often."""
    alpha = PRIOR if population == "unlabeled" else share_of_unlabeled(purity, SIZE, n_unlabeled)
    samples = listed(2)
    chance = probability(samples, (mixture(purity), mixture(alpha)))
    out = dict.fromkeys(LOSSES, 0.0)
    for p, positive, unlabeled in zip(chance, *samples, strict=True):
        measure = ht.PositiveUnlabeled(
            LOGIT[positive],
            LOGIT[unlabeled],
            prior=PRIOR,
            purity=purity,
            population=population,
            unlabeled_weight=np.full(SIZE, n_unlabeled / SIZE),
        ).measure()
        for loss in LOSSES:
            out[loss] += p * ht.risk(measure, loss)
    return out


@each_purity
@each_loss
def test_the_functional_of_two_samples(loss: str, purity: float) -> None:
    assert mean_risks(purity, "unlabeled", SIZE)[loss] == pytest.approx(supervised(loss), **EXACT)


@pytest.mark.parametrize("purity", [1.0, 0.9])
@each_loss
def test_the_functional_of_one_table(loss: str, purity: float) -> None:
    assert mean_risks(purity, "all", 3 * SIZE)[loss] == pytest.approx(supervised(loss), **EXACT)


@pytest.mark.parametrize("population", ["unlabeled", "all"])
@pytest.mark.parametrize("purity", [1.0, 0.8])
@each_loss
def test_the_functional_with_known_negatives_by_its_definition(
    loss: str, purity: float, population: str
) -> None:
    """How much negatives weigh depends on the rows, so that only the definition holds for every sample."""
    rng = np.random.default_rng(0)
    laws = mixture(purity), mixture(0.3), NEGATIVE
    p, u, n = (rng.choice(LOGIT, size, p=law) for size, law in zip((40, 150, 30), laws, strict=True))
    prior = 0.3 if population == "unlabeled" else (purity * 40 + 0.3 * 150) / 220
    measure = ht.PositiveUnlabeled(
        p, u, prior=prior, purity=purity, negative=n, population=population
    ).measure()
    lost = LOSSES[loss]
    expected = lost(measure.score) @ measure.pos_mass
    expected += lost(-measure.score) @ (measure.mass - measure.pos_mass)
    assert ht.risk(measure, loss) == pytest.approx(expected / measure.mass.sum(), rel=1e-12)


@each_loss
def test_the_functional_of_positive_confidences(loss: str) -> None:
    """Divided by the prior it is a mean over positives, and that has no bias."""
    (cases,) = listed(1)
    each = []
    for x in cases:
        evidence = ht.PositiveConfidence(CHANCE[x], LOGIT[x])
        each.append(ht.risk(evidence, loss) / evidence.measure().prior)
    got = PRIOR * float(probability((cases,), (POSITIVE,)) @ np.array(each))
    assert got == pytest.approx(supervised(loss), **EXACT)


# --- On simulators ------------------------------------------------------------------------------

MODEL = ht.simulate.GaussianClasses(prior=0.3, separation=1.5, margin=True)
POPULATIONS = ("unlabeled", "all")


@cache
def simulated_risk(loss: str) -> float:
    """E ℓ over the two normal classes, by the midpoint rule: no loss bends or jumps inside a step."""
    step = 1e-4
    x = np.arange(-12, 14, step) + step / 2

    def normal(mean: float) -> np.ndarray:
        return np.exp(-((x - mean) ** 2) / 2) / np.sqrt(2 * np.pi)

    return float(0.3 * normal(1.5) @ LOSSES[loss](x) + 0.7 * normal(0.0) @ LOSSES[loss](-x)) * step


def test_the_truth_of_the_simulator() -> None:
    assert simulated_risk("zero_one") == pytest.approx(1 - MODEL.truth("accuracy", threshold=0.0), abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("n_negative", [0, 60])
@pytest.mark.parametrize("population", POPULATIONS)
@each_purity
def test_mean_over_simulated_samples(
    purity: float, population: str, n_negative: int, draws: Callable[[int], int]
) -> None:
    """Within four standard errors; with negatives, whose weight the rows decide, a bias of order 1/n is left."""
    n = max(draws(2000), 50)
    values = np.empty((n, len(LOSSES)))
    for seed in range(n):
        measure = MODEL.positive_unlabeled(
            100, 600, rng=seed, purity=purity, population=population, n_negative=n_negative
        ).measure()
        values[seed] = [ht.risk(measure, loss) for loss in LOSSES]
    truth = np.array([simulated_risk(loss) for loss in LOSSES])
    error = values.std(axis=0, ddof=1) / np.sqrt(n)
    assert (np.abs(values.mean(axis=0) - truth) <= 4 * error + (truth / 160 if n_negative else 0)).all()


@pytest.mark.parametrize("n_negative", [0, 20_000])
@pytest.mark.parametrize("population", POPULATIONS)
@pytest.mark.parametrize("purity", [1.0, 0.8])
def test_a_large_sample_comes_near_the_truth(population: str, purity: float, n_negative: int) -> None:
    evidence = MODEL.positive_unlabeled(
        30_000, 120_000, rng=3, purity=purity, population=population, n_negative=n_negative
    )
    rows = ht.evaluate(evidence, {loss: partial(ht.risk, loss=loss) for loss in LOSSES}, n_resamples=0)
    for loss in LOSSES:
        row = rows[loss]
        assert 0 < row.high - row.low < 0.15
        # 1.96 standard errors to either side; 4 of them.
        reach = (row.high - row.low) / (2 * 1.96) * 4
        assert row.value == pytest.approx(simulated_risk(loss), abs=reach)
