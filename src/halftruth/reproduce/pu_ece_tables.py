"""What the page of the PU-ECE paper shows as numbers: biases, how fast they fall, and where they end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from halftruth.reproduce.page import Cell
from halftruth.reproduce.pu_ece_lines import Line
from halftruth.reproduce.pu_ece_settings import (
    BINNINGS,
    BOTH_GROW,
    CALIBRATED_SLOPES,
    DEBIASED,
    DESIGNS,
    FIGURE_1,
    LIMITS,
    LINES,
    OURS,
    PLAIN,
    RATIOS,
    SHORT,
    STEEPEST_ALLOWED,
    TITLES,
    percent,
    perturbed,
)

Results = Mapping[str, Any]
Table = tuple[list[str], list[list[Cell]]]
Key = tuple[str, str]
"""A design and an estimator."""
NORMAL = 1.96
EXACT = 1e-9
"""A true calibration error below it is none."""


def models(results: Results) -> list[str]:
    """The models that were run, in the order of the page."""
    return [model for model in TITLES if f"{model}.about" in results]


def about(results: Results, model: str) -> dict[str, Any]:
    """The true calibration error, the prior, and of a mixture the number of its components."""
    return dict(results[f"{model}.about"])


def line(results: Results, model: str, binning: str, key: Key) -> Line:
    """The estimates of one line of a figure."""
    design, estimator = key
    parts = [each for name, each in results.items() if name.startswith(f"{model}.{design}.")]
    return Line(
        n=np.array([part["n"] for part in parts], dtype=float),
        estimates=np.array([part["estimates"][binning + estimator] for part in parts]),
        truth=about(results, model)["truth"],
    )


def limit(results: Results, model: str, binning: str, n_positive: int) -> Line:
    """The estimates where the population's scores are known exactly."""
    part = results[f"{model}.limit.{n_positive}"]
    return Line(
        n=np.array([float(n_positive)]),
        estimates=np.array([part["estimates"][binning]]),
        truth=about(results, model)["truth"],
    )


def everything(results: Results) -> Table:
    """Every point of every line."""
    columns = ["model", "binning", "samples", "estimate", "N", "mean bias", "5%", "95%"]
    columns += ["standard error", "RMSE", "mean estimate", "TCE"]
    rows: list[list[Cell]] = []
    for model in models(results):
        for binning in BINNINGS:
            for design, estimator in LINES:
                one = line(results, model, binning, (design, estimator))
                names = [TITLES[model], binning, DESIGNS[design].label, estimator.lstrip("-") or "plain"]
                parts = (
                    one.mean,
                    *one.percentiles,
                    one.error,
                    one.root_mean_square,
                    one.estimates.mean(axis=1),
                )
                for n, *numbers in zip(one.n, *parts, strict=True):
                    rows.append([*names, int(n), *map(float, numbers), one.truth])
    return columns, rows


def slopes(results: Results, binning: str) -> Table:
    """Of Figure 1, by model: the slope, and 1.96 of its standard errors."""
    columns = ["samples"]
    for model in models(results):
        columns += [f"{SHORT[model]}: slope", "±"]
    rows: list[list[Cell]] = []
    for key, label in FIGURE_1.items():
        row: list[Cell] = [label]
        for model in models(results):
            one = line(results, model, binning, key)
            row += [one.slope, NORMAL * one.slope_error]
        rows.append(row)
    return columns, rows


def ends(results: Results, binning: str) -> Table:
    """Of Figure 1, by model: at the largest N the bias, and the mean of the estimates less the truth."""
    columns = ["samples"]
    for model in models(results):
        columns += [f"{SHORT[model]}: bias", "signed"]
    rows: list[list[Cell]] = []
    for key, label in FIGURE_1.items():
        row: list[Cell] = [label]
        for model in models(results):
            one = line(results, model, binning, key)
            row += [f"{one.mean[-1]:.4f}", f"{one.estimates[-1].mean() - one.truth:+.4f}"]
        rows.append(row)
    return columns, rows


def steepness(results: Results, model: str) -> tuple[float, float]:
    """The least and the largest slope of Figure 1, of both binnings."""
    found = [line(results, model, binning, key).slope for binning in BINNINGS for key in FIGURE_1]
    return min(found), max(found)


def verdict(results: Results, model: str) -> str:
    """Whether the slopes of Figure 1 are as steep as they must be, in words."""
    least, most = CALIBRATED_SLOPES if exact(results, model) else (-np.inf, STEEPEST_ALLOWED)
    found = [line(results, model, binning, key) for binning in BINNINGS for key in FIGURE_1]
    beyond = [max(least - one.slope, one.slope - most) for one in found]
    if max(beyond) <= 0:
        return "yes"
    noise = [NORMAL * one.slope_error for one in found]
    return "no, but within noise" if all(b <= n for b, n in zip(beyond, noise, strict=True)) else "no"


def exact(results: Results, model: str) -> bool:
    """Whether the model is perfectly calibrated."""
    return bool(about(results, model)["truth"] < EXACT)


def finite_positives(results: Results) -> Table:
    """Of Figure 2: the bias at the largest N, and with n_U = ∞."""
    columns = ["model", "n_P"]
    for name in BINNINGS.values():
        columns += [f"{name}: at the largest N", "n_U = ∞", "±"]
    rows: list[list[Cell]] = []
    for model in models(results):
        for n_positive in LIMITS:
            row: list[Cell] = [TITLES[model], n_positive]
            for binning in BINNINGS:
                end = line(results, model, binning, (f"{n_positive}-n", PLAIN))
                last = limit(results, model, binning, n_positive)
                row += [float(end.mean[-1]), float(last.mean[0]), NORMAL * float(last.error[0])]
            rows.append(row)
    return columns, rows


def wrong_priors(results: Results, binning: str) -> Table:
    """Of Figure 3: the bias at the largest N beside the bound of Theorem 2."""
    columns = ["model", "true prior: bias"]
    for ratio in RATIOS:
        columns += [f"{percent(ratio)}: bias", "÷ bound"]
    rows: list[list[Cell]] = []
    for model in models(results):
        right = line(results, model, binning, (BOTH_GROW, PLAIN))
        row: list[Cell] = [TITLES[model], float(right.mean[-1])]
        for ratio in RATIOS:
            bias = float(line(results, model, binning, (BOTH_GROW, perturbed(ratio))).mean[-1])
            bound = abs(ratio - 1) * about(results, model)["prior"]
            row += [bias, bias / bound]
        rows.append(row)
    return columns, rows


def most_moved(results: Results) -> float:
    """The most that a wrong prior moved an estimate, over what Theorem 2 allows: over all trials."""
    most = 0.0
    for model in models(results):
        prior = about(results, model)["prior"]
        for binning in BINNINGS:
            right = line(results, model, binning, (BOTH_GROW, PLAIN))
            for ratio in RATIOS:
                wrong = line(results, model, binning, (BOTH_GROW, perturbed(ratio)))
                moved = np.abs(wrong.estimates - right.estimates).max()
                most = max(most, float(moved / (abs(ratio - 1) * prior)))
    return most


def debiased(results: Results, binning: str) -> Table:
    """By N and model, from n_P = N and n_U = 10N: RMSE of PU-ECE, of our estimate, and ours over theirs."""
    columns, parts = ["N"], []
    for model in models(results):
        columns += [SHORT[model], "debiased", "÷"]
        plain, ours = (
            line(results, model, binning, (BOTH_GROW, estimator)) for estimator in (PLAIN, DEBIASED)
        )
        both = plain.root_mean_square, ours.root_mean_square
        parts += [*both, both[1] / both[0]]
    return columns, [[int(n), *map(float, row)] for n, row in zip(plain.n, np.transpose(parts), strict=True)]


def not_better(results: Results) -> list[str]:
    """Where our estimate has the larger RMSE, in words."""
    said = []
    for binning, name in BINNINGS.items():
        _, rows = debiased(results, binning)
        for i, model in enumerate(models(results)):
            worse = [f"{row[0]:,}" for row in rows if float(row[3 * i + 3] or 0) > 1]
            if worse:
                said.append(f"{TITLES[model]}, {name}, at N = {' and '.join(worse)}")
    return said


def summary_tables(outcome: Any) -> list[dict[str, Any]]:
    """What the command line shows of a run: title, legend, header, and labels and numbers by line."""
    results: Results = outcome.results
    names = list(BINNINGS)
    slope: list[list[float]] = []
    rmse: list[list[float]] = []
    for model in models(results):
        for key in FIGURE_1:
            found = [line(results, model, binning, key) for binning in names]
            slope.append([one.slope for one in found] + [float(one.mean[-1]) for one in found])
        for key in OURS:
            found = [line(results, model, binning, key) for binning in names]
            rmse.append([float(one.root_mean_square[-1]) for one in found])
    return [
        {
            "title": "Figure 1",
            "legend": ("Slope of log mean |estimate − TCE| against log N; bias: that mean at the largest N",),
            "header": (
                "model",
                "samples",
                *(f"{what}, {name}" for what in ("slope", "bias") for name in names),
            ),
            "labels": [(TITLES[model], label) for model in models(results) for label in FIGURE_1.values()],
            "numbers": slope,
        },
        {
            "title": "Debiased",
            "legend": ("Root mean square error at the largest N: n_P = N, n_U = 10N; with labels n = N",),
            "header": ("model", "estimate", *names),
            "labels": [(TITLES[model], label) for model in models(results) for label in OURS.values()],
            "numbers": rmse,
        },
    ]
