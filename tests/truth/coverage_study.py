"""Coverage of the default intervals over simulated data sets; `test_coverage.py` holds it to account."""

from __future__ import annotations

import functools
import itertools
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np

import halftruth as ht

THRESHOLD = 0.5
METRICS = ("roc_auc", "average_precision", "f1", "precision", "brier")
N_RESAMPLES = 300
PRIOR_ERROR = 0.1  # standard error of an estimated prior, relative to the prior


@dataclass(frozen=True)
class Cell:
    n_positive: int
    prior: float
    purity: float
    population: str


CELLS = tuple(
    Cell(*values) for values in itertools.product((200, 2000), (0.1, 0.4), (1.0, 0.85), ("unlabeled", "all"))
)


@functools.cache
def truths(prior: float) -> dict[str, float]:
    model = ht.simulate.GaussianClasses(prior=prior)
    at = {name: {"threshold": THRESHOLD} for name in ("f1", "precision")}
    return {name: model.truth(name, **at.get(name, {})) for name in METRICS}


def _evidence(cell: Cell, rng: np.random.Generator, *, estimated: bool) -> ht.PositiveUnlabeled:
    """One data set; drawn again where more positives are known than the exact prior allows."""
    model = ht.simulate.GaussianClasses(prior=cell.prior)
    prior: object = cell.prior
    if estimated:
        error = PRIOR_ERROR * cell.prior
        value = cell.prior + error * rng.standard_normal()
        replicates = value + error * rng.standard_normal(500)
        prior = ht.PriorEstimate(value=value, replicates=replicates, population=cell.population)
    sizes = cell.n_positive, 10 * cell.n_positive
    given = {"purity": cell.purity, "population": cell.population, "prior": prior}
    for _ in range(100):
        try:
            return model.positive_unlabeled(*sizes, rng, **given)
        except ht.InputError as error:
            if "what the counts allow" not in str(error):
                raise
    raise AssertionError("no data set agrees with the prior")


def hits(cell: Cell, seed: int, *, estimated: bool) -> np.ndarray:
    """Which metrics' intervals hold the truth on one simulated data set."""
    rng = np.random.default_rng([CELLS.index(cell), seed, estimated])
    evidence = _evidence(cell, rng, estimated=estimated)
    result = ht.evaluate(evidence, METRICS, threshold=THRESHOLD, n_resamples=N_RESAMPLES, rng=rng)
    truth = truths(cell.prior)
    return np.asarray([result[name].low <= truth[name] <= result[name].high for name in METRICS])


def _block(task: tuple[Cell, range, bool]) -> np.ndarray:
    cell, seeds, estimated = task
    return sum((hits(cell, seed, estimated=estimated) for seed in seeds), np.zeros(len(METRICS), int))


def coverage(n_sets: int, *, estimated: bool) -> np.ndarray:
    """Coverage by cell and metric, (n_cells, n_metrics)."""
    blocks = [range(start, min(start + 50, n_sets)) for start in range(0, n_sets, 50)]
    tasks = [(cell, block, estimated) for cell in CELLS for block in blocks]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        counts = list(pool.map(_block, tasks))
    return np.asarray(counts).reshape(len(CELLS), len(blocks), len(METRICS)).sum(axis=1) / n_sets


def report(result: np.ndarray) -> str:
    lines = [f"{'n_P':>5} {'π':>4} {'ρ':>5} {'population':>10}  " + "  ".join(METRICS)]
    for cell, row in zip(CELLS, result, strict=True):
        figures = "  ".join(f"{100 * x:{len(name)}.1f}" for x, name in zip(row, METRICS, strict=True))
        head = f"{cell.n_positive:5d} {cell.prior:4.1f} {cell.purity:5.2f} {cell.population:>10}"
        lines.append(f"{head}  {figures}")
    lines.append(
        f"mean {100 * result.mean():.2f}, least {100 * result.min():.1f}, most {100 * result.max():.1f}"
    )
    return "\n".join(lines)
