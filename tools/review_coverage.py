"""How often intervals from reviewed cases hold the truth of the population, which is known by quadrature."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

import halftruth as ht

N = 20_000
AREAS = ("prevalence", "roc_auc", "average_precision", "brier", "log_loss")
RATES = ("precision", "recall", "fpr", "f1", "mcc", "accuracy")
METRICS = (*AREAS, *RATES)
PLANNED = ("precision", "recall", "roc_auc")
RIGHT = 0.9, 0.95  # sensitivity and specificity of a judge who errs
CHECKED = 400  # cases of which the truth is known besides what the judge said
RESAMPLES = 250
Rng = np.random.Generator


class Cell(NamedTuple):
    """One way to review, and what is reviewed; ``power`` 1 leaves the score the chance of its row."""

    how: str
    n: int
    prior: float
    power: float


class Sample(NamedTuple):
    """A population of rows."""

    y: np.ndarray
    score: np.ndarray
    posterior: np.ndarray


def posterior(x: np.ndarray, prior: float) -> np.ndarray:
    """P(y = 1 | x), where negatives are N(0, 1) and positives N(2, 1)."""
    return np.asarray(1 / (1 + np.exp(-(2 * x - 2 + np.log(prior / (1 - prior))))))


def population(rng: Rng, prior: float, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Classes, and the chance of each row to be positive."""
    y = rng.random(n) < prior
    return y, posterior(rng.normal(np.where(y, 2.0, 0.0)), prior)


@cache
def truth(prior: float, power: float) -> tuple[float, dict[str, float]]:
    """The threshold that flags a share ``prior`` of the population, and the metrics there."""
    x = np.linspace(-8, 10, 60_001)
    density = (1 - prior) * np.exp(-(x**2) / 2) + prior * np.exp(-((x - 2) ** 2) / 2)
    flagged = np.cumsum(density[::-1])[::-1] / density.sum()
    q = posterior(x, prior)
    threshold = float(q[np.argmin(abs(flagged - prior))]) ** power
    law = ht.SoftLabeled(q, q**power, sample_weight=density)
    cells = ht.confusion(law, threshold)
    areas = {name: float(getattr(ht, name)(law)) for name in AREAS}
    return threshold, areas | {name: float(getattr(cells, name)) for name in RATES}


def planned(cell: Cell, rows: Sample, threshold: float, rng: Rng, **judge: object) -> ht.Reviewed:
    """A plan made from the score alone."""
    plan = ht.plan_review(rows.score, cell.n, metrics=PLANNED, threshold=threshold, rng=rng)
    return ht.Reviewed.from_plan(plan, rows.score, rows.y[plan.rows].astype(float), **judge)


def planned_for_one(cell: Cell, rows: Sample, threshold: float, rng: Rng) -> ht.Reviewed:
    """A plan for precision, which leaves few reviews to the low scores."""
    plan = ht.plan_review(rows.score, cell.n, metrics="precision", threshold=threshold, rng=rng)
    return ht.Reviewed.from_plan(plan, rows.score, rows.y[plan.rows].astype(float))


def all_above(cell: Cell, rows: Sample, threshold: float, rng: Rng) -> ht.Reviewed:
    """Half of the reviews are the highest scores, all of them; each of the others stands for many rows."""
    cut = np.sort(rows.score)[-cell.n // 2]
    chance = np.where(rows.score >= cut, 1.0, cell.n / 2 / (rows.score < cut).sum())
    return ht.Reviewed(rows.score, np.where(rng.random(N) < chance, rows.y, np.nan), chance)


def at_random(cell: Cell, rows: Sample, threshold: float, rng: Rng) -> ht.Reviewed:
    """Any row as likely as any other."""
    label = np.full(N, np.nan)
    looked = rng.choice(N, cell.n, replace=False)
    label[looked] = rows.y[looked]
    return ht.Reviewed(rows.score, label, cell.n / N)


def estimated(cell: Cell, rows: Sample, threshold: float, rng: Rng) -> ht.Reviewed:
    """High scores were looked at more often, and nobody wrote down how often."""
    chance = rows.posterior**0.3
    looked = rng.random(N) < np.minimum(1, chance * cell.n / chance.sum())
    return ht.Reviewed(rows.score, np.where(looked, rows.y, np.nan))


def erring(cell: Cell, rows: Sample, threshold: float, rng: Rng) -> ht.Reviewed:
    """A plan, and a judge whose rates of error are estimated."""
    checked = rng.choice(N, CHECKED, replace=False)
    said = np.where(rows.y, rng.random(N) < RIGHT[0], rng.random(N) >= RIGHT[1])
    sensitivity, specificity = ht.judge_rates(said[checked], rows.y[checked])
    judge = {"sensitivity": sensitivity, "specificity": specificity}
    return planned(cell, rows._replace(y=said), threshold, rng, **judge)


HOW: dict[str, Callable[..., ht.Reviewed]] = {
    "planned": planned,
    "planned for precision": planned_for_one,
    "all above a score": all_above,
    "at random": at_random,
    "chances estimated": estimated,
    "a judge who errs": erring,
}
CELLS = [
    Cell(how, n, prior, power)
    for how, sizes, priors in (
        ("planned", (100, 300, 1000), (0.005, 0.02, 0.2)),
        ("at random", (100, 300, 1000), (0.02, 0.2)),
        ("chances estimated", (100, 300, 1000), (0.02, 0.2)),
        ("a judge who errs", (300, 1000), (0.2,)),
        ("planned for precision", (300,), (0.02, 0.2)),
        ("all above a score", (300, 1000), (0.02, 0.2)),
    )
    for n in sizes
    for prior in priors
    for power in (1.0, 0.4)
]


def ends(cell: Cell, seed: int) -> list[list[float]]:
    """Low end, high end and truth of each metric; ends are NaN where it has no value."""
    rng = np.random.default_rng((seed, CELLS.index(cell)))
    threshold, true = truth(cell.prior, cell.power)
    y, chance = population(rng, cell.prior, N)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ht.EmptyClassWarning)  # few reviews may find no positive
        evidence = HOW[cell.how](cell, Sample(y, chance**cell.power, chance), threshold, rng)
        result = ht.evaluate(evidence, METRICS, threshold=threshold, n_resamples=RESAMPLES)
    return [[result[name].low, result[name].high, true[name]] for name in METRICS]


def coverage(found: np.ndarray) -> np.ndarray:
    """By metric, of draws × metrics × (low, high, truth); draws without a value are left out."""
    low, high, true = np.moveaxis(found, -1, 0)
    held = (low <= true) & (true <= high)
    return np.asarray(held.sum(axis=0) / np.isfinite(low).sum(axis=0))
