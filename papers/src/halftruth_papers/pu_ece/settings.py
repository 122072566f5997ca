"""What the experiment of the PU-ECE paper varies: models, sizes, estimators; and how much is done."""

from __future__ import annotations

import math
from dataclasses import dataclass

SYNTHETIC = {"less": (-0.5, 1.5), "better": (-0.2, 1.9), "exact": (0.0, 2.0)}
"""β₀ and β₁ of the score sigmoid(β₀ + β₁ x), where P(Y=1 | x) = sigmoid(2x). The third is ours."""
MNIST, FASHION, BANK, CIFAR = "mnist", "fashion", "bank", "cifar"
TITLES = {
    "less": "less calibrated",
    "better": "better calibrated",
    "exact": "perfectly calibrated",
    MNIST: "MNIST",
    FASHION: "Fashion-MNIST",
    BANK: "bank clients",
    CIFAR: "CIFAR-10",
}
BINNINGS = {"mass": "uniform mass", "width": "uniform width"}

PLAIN = ""
DEBIASED = "-debiased"
PRIOR_BINS = "-prior-bins"
"""With full labels: B = ⌈(n/π²)^(1/3)⌉ in place of ⌈n^(1/3)⌉."""
RATIOS = (0.9, 0.95, 1.05, 1.1)
"""Of the prior that is assumed in Figure 3 to the true one."""

WORSE = 1.05
"""An RMSE of so many times another is said to be the worse one."""
STEEPEST_ALLOWED = -0.30
"""Slopes of Figure 1 must be at most this."""
CALIBRATED_SLOPES = (-0.37, -0.28)
"""Between which those of the perfectly calibrated model must lie."""


@dataclass(frozen=True, kw_only=True)
class Design:
    """Sizes of the samples, each a multiple of N plus a constant; infinite: known exactly.

    Parameters
    ----------
    label : str
        For people.
    positive, unlabeled : (float, float)
        The multiple and the constant.

    Examples
    --------
    >>> DESIGNS["100-n"].sizes(20)
    (100.0, 20.0)
    >>> DESIGNS["n-inf"].sizes(20)
    (20.0, inf)
    """

    label: str
    positive: tuple[float, float] = (1, 0)
    unlabeled: tuple[float, float] = (1, 0)

    def sizes(self, n: int) -> tuple[float, float]:
        """Positives and unlabeled where N = n."""
        return float(self.positive[0] * n + self.positive[1]), float(
            self.unlabeled[0] * n + self.unlabeled[1]
        )


LABELED = "labeled"
BOTH_GROW = "n-10n"
"""The sizes for which priors are perturbed, and whose estimate is also debiased."""
DESIGNS = {
    "n-inf": Design(label="PU-ECE, n_P = N, n_U = ∞", unlabeled=(0, math.inf)),
    "inf-n": Design(label="PU-ECE, n_P = ∞, n_U = N", positive=(0, math.inf)),
    BOTH_GROW: Design(label="PU-ECE, n_P = N, n_U = 10N", unlabeled=(10, 0)),
    "100-n": Design(label="PU-ECE, n_P = 100, n_U = N", positive=(0, 100)),
    "1000-n": Design(label="PU-ECE, n_P = 1000, n_U = N", positive=(0, 1000)),
    LABELED: Design(label="ECE, n = N"),
}
LIMITS = (100, 1000)
"""Positives of Figure 2, whose lines end where n_P is this and n_U infinite."""

FIGURE_1 = {
    ("n-inf", PLAIN): DESIGNS["n-inf"].label,
    ("inf-n", PLAIN): DESIGNS["inf-n"].label,
    (BOTH_GROW, PLAIN): DESIGNS[BOTH_GROW].label,
    (LABELED, PLAIN): f"{DESIGNS[LABELED].label}, B = ⌈n^(1/3)⌉",
    (LABELED, PRIOR_BINS): f"{DESIGNS[LABELED].label}, B = ⌈(n/π²)^(1/3)⌉",
}
"""Lines of Figure 1, by design and estimator."""
FIGURE_2 = {(key, PLAIN): DESIGNS[key].label for key in ("100-n", "1000-n", "n-inf")}
OURS = {
    (BOTH_GROW, PLAIN): "PU-ECE",
    (BOTH_GROW, DEBIASED): "PU-ECE, debiased",
    (LABELED, PLAIN): "ECE",
    (LABELED, DEBIASED): "ECE, debiased",
}
"""Lines of our own figure: the estimate as in the paper, and debiased."""


def perturbed(ratio: float) -> str:
    """The name of the estimator that takes this multiple of the prior.

    Examples
    --------
    >>> perturbed(1.05)
    '-prior-1.05'
    """
    return PLAIN if ratio == 1 else f"-prior-{ratio:g}"


def percent(ratio: float) -> str:
    """How far a multiple is from one, with its sign.

    Examples
    --------
    >>> percent(1.05), percent(0.9)
    ('+5%', '−10%')
    """
    return f"{100 * (ratio - 1):+.0f}%".replace("-", "−")


FIGURE_3 = {
    (BOTH_GROW, perturbed(ratio)): "true prior" if ratio == 1 else f"prior {percent(ratio)}"
    for ratio in (1.0, *RATIOS)
}
LINES = tuple(dict.fromkeys((*FIGURE_1, *FIGURE_2, *FIGURE_3, *OURS)))
"""All that is estimated, by design and estimator."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How much is done."""

    sizes: tuple[int, ...]
    """N."""
    trials: int
    networks: dict[str, int]
    """How many are trained side by side, by the kind of device."""
    passes: int | None = None
    """Over the training rows, at most; None: as many as the recipe says."""


FULL = Plan(
    sizes=(10, 22, 46, 100, 215, 464, 1_000, 2_154, 4_642, 10_000),
    trials=100,
    networks={"cpu": 3, "cuda": 100},
)
QUICK = Plan(sizes=(10, 100, 1_000, 10_000), trials=20, networks={"cpu": 1, "cuda": 3}, passes=10)
