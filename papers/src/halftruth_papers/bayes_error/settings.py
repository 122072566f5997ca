"""What the Bayes error paper varies: tasks, setups, sizes, estimators; what it prints; how much is done."""

from __future__ import annotations

from dataclasses import dataclass

CLASSES = ("plane", "car", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
"""Of CIFAR-10, by number."""
LEVEL = 0.95
PRIOR = 0.5
"""The paper's for positive confidences, in all tasks."""

Cell = tuple[float, float, float]
"""A value and the ends of its interval."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """Two groups of classes, and what Table 1 prints of them, in percent.

    Examples
    --------
    >>> [CLASSES[k] for k in TASKS["first"].positive], TASKS["first"].printed["pn"]
    (['plane', 'car', 'bird', 'cat', 'deer'], (3.26, 3.12, 3.4))
    """

    title: str
    positive: tuple[int, ...]
    printed: dict[str, Cell]


TASKS = {
    "animals": Task(
        title="Animals vs. artifacts",
        positive=(2, 3, 4, 5, 6, 7),
        printed={"pn": (0.50, 0.45, 0.55), "pconf": (0.22, 0.13, 0.31)},
    ),
    "land": Task(
        title="Land vs. other",
        positive=(1, 3, 4, 5, 7, 9),
        printed={"pn": (1.55, 1.46, 1.64), "pconf": (0.76, 0.59, 0.94)},
    ),
    "odd": Task(
        title="Odd vs. even",
        positive=(0, 2, 4, 6, 8),
        printed={"pn": (2.03, 1.93, 2.14), "pconf": (1.85, 1.53, 2.17)},
    ),
    "first": Task(
        title="First 5 vs. last 5",
        positive=(0, 1, 2, 3, 4),
        printed={"pn": (3.26, 3.12, 3.40), "pconf": (2.76, 2.37, 3.14)},
    ),
}
"""Of Appendix D.1, in the order of Table 1."""
FIGURES_PRINTED = 6 * len(TASKS)
DRAWINGS = 20
"""Times that test labels are drawn from the votes in Figure 4."""

SETUPS = ("A", "B", "C", "D")
NOISE = 0.4
"""Standard deviation of the noise on soft labels, before it is truncated."""
CLEAN, NOISY, SIGNED = "clean", "noisy", "signed"
CODE_NOISY, CODE_SIGNED = "noisy-code", "signed-code"
PCONF = "pconf"
DIRECT = {
    CLEAN: "proposed",
    NOISY: "noisy",
    SIGNED: "noisy, with signs",
    CODE_NOISY: "noisy, code",
    CODE_SIGNED: "noisy, with signs, code",
    PCONF: "positive confidence",
}
"""Estimators that need no classifier."""
FIGURE_2 = (CLEAN, NOISY, SIGNED, CODE_NOISY, CODE_SIGNED)
FIGURE_3 = (CLEAN, PCONF)

HARD, SOFT = "hard", "soft"
KINDS = (HARD, SOFT)
BER = "-ber"
LEARNED = {
    HARD: "test error, hard labels",
    SOFT: "test error, soft labels",
    HARD + BER: "classifier-BER, hard labels",
    SOFT + BER: "classifier-BER, soft labels",
}
"""What a classifier says of the Bayes error, by the labels that it learned from."""
MODELS = {"mlp": "MLP", "linear": "linear model"}
PAPER_FIGURES = {"mlp": "Figure 1", "linear": "Figure 6"}

BATCHES = (8, 32, 128)
"""Rows of one step of the descent, where it is asked how much they matter."""
BATCH_SIZE = 128
"""Rows of each class, there."""

YEARS = tuple(range(2017, 2024))


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How much is done."""

    sizes: tuple[int, ...]
    """Rows of each class."""
    trials: int
    test_rows: int
    """On which classifiers are judged."""
    epochs: int
    many: int
    """Rows of the mean that noisy labels tend to."""


FULL = Plan(
    sizes=(2, 4, 8, 16, 32, 64, 128, 256, 512, 1028), trials=10, test_rows=10_000, epochs=150, many=1_000_000
)
QUICK = Plan(sizes=(2, 8, 32, 128, 512), trials=4, test_rows=4_000, epochs=150, many=100_000)
