"""Estimates against the rows of each class, Figures 1 to 3 and 6, and what the paper says of them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np

from halftruth._checks import Vector
from halftruth_papers.bayes_error.settings import (
    BATCH_SIZE,
    BATCHES,
    BER,
    CLEAN,
    CODE_NOISY,
    CODE_SIGNED,
    HARD,
    KINDS,
    LEARNED,
    MODELS,
    NOISY,
    PCONF,
    SETUPS,
    SIGNED,
    SOFT,
)
from halftruth_papers.reproduction import Results

Table = tuple[list[str], list[list[Any]]]
Sizes = dict[int, Vector]
"""The values of all trials, by the rows of each class."""


def percent(values: Any) -> Vector:
    """As an array, in percent."""
    return 100 * np.asarray(values, dtype=np.float64)


def truth(results: Results, setup: str) -> float:
    """The exact Bayes error of a setup."""
    return 100 * float(results[f"about-{setup}"]["truth"])


def limit(results: Results, setup: str, name: str) -> float:
    """What the mean of noisy labels without signs tends to."""
    return 100 * float(results[f"about-{setup}"]["limits"][name])


def values(results: Results, part: str, setup: str) -> dict[str, Sizes]:
    """By estimator and size: the values of all trials. ``part`` is "direct" or a model."""
    out: dict[str, Sizes] = {}
    for key, cell in results.items():
        if key.startswith(f"{part}-{setup}-"):
            for name, trials in cell["values"].items():
                out.setdefault(name, {})[cell["n"]] = percent(trials)
    return out


def means(sizes: Sizes) -> tuple[Vector, Vector, Vector]:
    """Sizes, means over the trials and their standard errors."""
    trials = list(sizes.values())
    return (
        np.array(list(sizes)),
        np.array([v.mean() for v in trials]),
        np.array([error_of_mean(v) for v in trials]),
    )


def rmse(own: Vector, true: float) -> float:
    """Root mean square distance of the trials from the truth."""
    return float(np.sqrt(np.mean((own - true) ** 2)))


def bias(own: Vector, true: float) -> float:
    """Distance of the mean of the trials from the truth."""
    return abs(float(own.mean()) - true)


DISTANCES = {"by the mean": bias, "by RMSE": rmse}


def nearer(one: Sizes, other: Sizes, true: float, how: str) -> list[bool]:
    """At each size, whether the one is nearer to the truth."""
    far = DISTANCES[how]
    return [far(one[n], true) < far(other[n], true) for n in one]


def up_to(holds: list[bool], sizes: list[int]) -> int | None:
    """The largest size up to which something holds at every size; None if not even at the smallest.

    Examples
    --------
    >>> up_to([True, True, False, True], [2, 4, 8, 16]), up_to([False, True], [2, 4])
    (4, None)
    """
    last = None
    for n, holds_here in zip(sizes, holds, strict=True):
        if not holds_here:
            break
        last = n
    return last


def classifier_words(results: Results, model: str) -> Table:
    """What the paper says in words of Figure 1 (or 6), in numbers, by setup."""
    model_name = MODELS[model]
    rows: dict[str, list[Any]] = {}
    for setup in SETUPS:
        true = truth(results, setup)
        ours = values(results, "direct", setup)[CLEAN]
        learned = values(results, model, setup)
        sizes = list(ours)
        for kind, how in product(KINDS, DISTANCES):
            holds = nearer(ours, learned[kind], true, how)
            words = f"proposed nearer than {model_name}, {kind}, {how}"
            _put(rows, f"{words}: at sizes", _count(holds))
            _put(rows, f"{words}: at every size up to", up_to(holds, sizes))
        for how in DISTANCES:
            holds = nearer(learned[SOFT], learned[HARD], true, how)
            _put(rows, f"{model_name}, soft nearer than hard, {how}: at sizes", _count(holds))
        for kind, how in product(KINDS, DISTANCES):
            holds = nearer(ours, learned[kind + BER], true, how)
            _put(rows, f"proposed nearer than classifier-BER, {kind}, {how}: at sizes", _count(holds))
        for kind in KINDS:
            below = [bool(v.mean() < true) for v in learned[kind + BER].values()]
            _put(rows, f"classifier-BER, {kind}, below the truth: at sizes", _count(below))
    return ["", *SETUPS], [[words, *cells] for words, cells in rows.items()]


def batches(results: Results) -> Table:
    """How much the rows of one step matter, which the paper leaves open: means over the trials, by setup."""
    columns = ["", "rows of a step", "Bayes error", *LEARNED.values()]
    rows: list[list[Any]] = []
    for setup, batch in product(SETUPS, BATCHES):
        learned = values(results, f"batch{batch}", setup)
        means = [float(learned[name][BATCH_SIZE].mean()) for name in LEARNED]
        rows.append([setup, batch, truth(results, setup), *means])
    return columns, rows


def noise_words(results: Results) -> Table:
    """Of Figure 2: how far the means are from the truth at the largest size, by setup."""
    rows: dict[str, list[Any]] = {}
    for setup in SETUPS:
        true, direct = truth(results, setup), values(results, "direct", setup)
        most = max(direct[CLEAN])
        for name, words in (
            (CLEAN, "clean"),
            (NOISY, "noisy"),
            (SIGNED, "noisy, with signs"),
            (CODE_NOISY, "noisy, code"),
            (CODE_SIGNED, "noisy, with signs, code"),
        ):
            _put(rows, f"{words}: mean − truth", float(direct[name][most].mean()) - true)
            _put(rows, f"{words}: ± se", error_of_mean(direct[name][most]))
            if name in (NOISY, CODE_NOISY):
                _put(rows, f"{words}: what it tends to − truth", limit(results, setup, name) - true)
    return ["", *SETUPS], [[words, *cells] for words, cells in rows.items()]


def confidence_words(results: Results) -> Table:
    """Of Figure 3: both distances from the truth at every size, by setup."""
    columns = ["rows of each class"]
    for setup in SETUPS:
        columns += [f"{setup}, PN", f"{setup}, Pconf"]
    both = {setup: values(results, "direct", setup) for setup in SETUPS}
    rows: list[list[Any]] = []
    for n in both[SETUPS[0]][CLEAN]:
        row: list[Any] = [n]
        for setup, by_estimator in both.items():
            row += [rmse(by_estimator[name][n], truth(results, setup)) for name in (CLEAN, PCONF)]
        rows.append(row)
    return columns, rows


def by_size(results: Results, part: str, names: Mapping[str, str]) -> Table:
    """Mean, standard error and distance from the truth of every estimator, by setup and size."""
    columns = ["", "rows of each class", "Bayes error"]
    for label in names.values():
        columns += [label, "± se", "RMSE"]
    rows: list[list[Any]] = []
    for setup in SETUPS:
        true, by_estimator = truth(results, setup), values(results, part, setup)
        for n in next(iter(by_estimator.values())):
            row: list[Any] = [setup, n, true]
            for name in names:
                trials = by_estimator[name][n]
                row += [float(trials.mean()), error_of_mean(trials), rmse(trials, true)]
            rows.append(row)
    return columns, rows


def error_of_mean(trials: Vector) -> float:
    """Standard error of the mean."""
    return float(trials.std(ddof=1) / np.sqrt(len(trials)))


def _count(holds: list[bool]) -> str:
    return f"{sum(holds)} of {len(holds)}"


def _put(rows: dict[str, list[Any]], words: str, cell: Any) -> None:
    rows.setdefault(words, []).append(cell)
