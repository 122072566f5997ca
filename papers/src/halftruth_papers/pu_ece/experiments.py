"""What is measured for one model, design and size in the PU-ECE paper's experiment."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from halftruth._checks import Vector
from halftruth.calibration._binned_errors import calibration_error
from halftruth.evidence import Labeled, PositiveUnlabeled
from halftruth.measure._score_measure import ScoreMeasure
from halftruth_papers.pu_ece.limit_measures import exact_measure, positive_unlabeled_measure
from halftruth_papers.pu_ece.settings import (
    BINNINGS,
    BOTH_GROW,
    DEBIASED,
    DESIGNS,
    LABELED,
    PLAIN,
    PRIOR_BINS,
    RATIOS,
    perturbed,
)

POINTS = 100_000
"""Atoms that stand for a population without noise: its binned error is right to 1e-5."""

Cell = dict[str, Any]
Named = tuple[str, float]


def cell(model: Any, design: str, n: int, trials: int, seed: list[int]) -> Cell:
    """Estimates of the calibration error from fresh samples, by the name of the estimator.

    Parameters
    ----------
    model
        A population of `halftruth.simulate`.
    design : str
        Of `DESIGNS`.
    n : int
        N.
    trials : int
    seed : list of int
        The same seed gives the same estimates.

    Returns
    -------
    dict
        ``n``, and ``estimates``: for each estimator one number a trial.

    Examples
    --------
    >>> from halftruth.simulate import logistic_model
    >>> found = cell(logistic_model(), "labeled", 50, 3, [0])
    >>> found["n"], len(found["estimates"]["mass"])
    (50, 3)
    """
    rng = np.random.default_rng(seed)
    draw = _from_labels if design == LABELED else _from_positives
    return {"n": n, "estimates": _collected(draw(model, design, n, rng) for _ in range(trials))}


def limit(model: Any, n_positive: int, trials: int, seed: list[int]) -> Cell:
    """Estimates from positives where the population's scores are known exactly."""
    rng = np.random.default_rng(seed)
    estimates = (_plain(positive_unlabeled_measure(model, n_positive, math.inf, rng)) for _ in range(trials))
    return {"n": n_positive, "estimates": _collected(estimates)}


def binned_errors(model: Any, most: int) -> dict[str, list[float]]:
    """The error that bins show of the population itself, without any noise, by binning: B = 1, 2, … most.

    Examples
    --------
    >>> from halftruth.simulate import logistic_model
    >>> found = binned_errors(logistic_model(), 3)
    >>> len(found["mass"]), round(found["mass"][0], 3)  # one bin: the mean score less the prior
    (3, 0.07)
    """
    measure = exact_measure(model, POINTS)
    numbers = range(1, most + 1)
    return {name: [float(calibration_error(measure, b, binning=name)) for b in numbers] for name in BINNINGS}


def calibration_errors(logits: Vector, y: NDArray[np.bool_], seed: int) -> dict[str, list[Any]]:
    """Of networks: ECE with all labels; PU-ECE, as it is and debiased, from half of the rows each.

    Known are the positives of one half; the other half has no labels. The prior is the share of positives
    among all rows. All three have the bins of PU-ECE's own default.

    Parameters
    ----------
    logits : array of shape (networks, n)
    y : array of n bool
    seed : int
        Of the halves, which each network has its own.

    Returns
    -------
    dict
        ``ece``, ``pu_ece``, ``debiased`` and ``n_bins``, each one number a network.

    Examples
    --------
    >>> found = calibration_errors(np.zeros((1, 1000)), np.arange(1000) % 2 == 0, 0)
    >>> found["ece"], round(found["pu_ece"][0], 12)
    ([0.0], 0.0)
    """
    rng = np.random.default_rng(seed)
    errors: dict[str, list[Any]] = {"ece": [], "pu_ece": [], "debiased": [], "n_bins": []}
    for score in expit(logits):
        order = rng.permutation(len(y))
        first, second = order[: len(y) // 2], order[len(y) // 2 :]
        partial = PositiveUnlabeled(score[first][y[first]], score[second], prior=float(y.mean()))
        bins = n_bins(float(partial.measure().size))
        errors["ece"].append(float(calibration_error(Labeled(y, score), bins)))
        errors["pu_ece"].append(float(calibration_error(partial, bins)))
        errors["debiased"].append(float(calibration_error(partial, bins, debias=True)))
        errors["n_bins"].append(bins)
    return errors


def n_bins(size: float) -> int:
    """⌈size^(1/3)⌉, without a bin more by rounding.

    Examples
    --------
    >>> n_bins(1000.0), n_bins(1001.0)
    (10, 11)
    """
    return max(1, math.ceil(float(size ** (1 / 3)) - 1e-9))


def bins_of(design: str, estimator: str, n: int, prior: float) -> int:
    """How many bins an estimate takes where N = n.

    Examples
    --------
    >>> bins_of("labeled", "", 1000, 0.5), bins_of("n-inf", "", 1000, 0.5)
    (10, 16)
    """
    if design == LABELED:
        return n_bins(n / prior**2 if estimator == PRIOR_BINS else n)
    n_positive, n_unlabeled = DESIGNS[design].sizes(n)
    return n_bins(1 / (prior**2 / n_positive + 1 / n_unlabeled))


def _from_labels(model: Any, _: str, n: int, rng: np.random.Generator) -> Iterator[Named]:
    measure = model.labeled(n, rng).measure()
    more = n_bins(n / model.prior**2)
    for binning in BINNINGS:
        yield binning + PLAIN, calibration_error(measure, binning=binning)
        yield binning + PRIOR_BINS, calibration_error(measure, more, binning=binning)
        yield binning + DEBIASED, calibration_error(measure, binning=binning, debias=True)


def _from_positives(model: Any, design: str, n: int, rng: np.random.Generator) -> Iterator[Named]:
    sizes = DESIGNS[design].sizes(n)
    if math.inf in sizes:
        yield from _plain(positive_unlabeled_measure(model, *sizes, rng))
        return
    measure = model.positive_unlabeled(int(sizes[0]), int(sizes[1]), rng).measure()
    yield from _plain(measure)
    if design == BOTH_GROW:
        for binning in BINNINGS:
            yield binning + DEBIASED, calibration_error(measure, binning=binning, debias=True)
            yield from _with_wrong_priors(measure, binning)


def _plain(measure: ScoreMeasure) -> Iterator[Named]:
    for binning in BINNINGS:
        yield binning + PLAIN, calibration_error(measure, binning=binning)


def _with_wrong_priors(measure: ScoreMeasure, binning: str) -> Iterator[Named]:
    # Theorem 2 is about one set of bins: those of the true prior. μ₁ is proportional to the prior.
    bins = measure.in_bins(n_bins(measure.size), binning)
    for ratio in RATIOS:
        gap = np.abs(ratio * bins.pos - bins.score).sum()
        yield binning + perturbed(ratio), float(gap / measure.total)


def _collected(trials: Iterator[Iterator[Named]]) -> dict[str, list[float]]:
    by_name: dict[str, list[float]] = {}
    for trial in trials:
        for name, value in trial:
            by_name.setdefault(name, []).append(float(value))
    return by_name
