"""What the page of the PU-ECE paper shows as numbers: biases, how fast they fall, and where they end."""

from __future__ import annotations

from typing import Any

import numpy as np

from halftruth_papers.page import Cell
from halftruth_papers.pu_ece.experiments import bins_of
from halftruth_papers.pu_ece.lines import Line
from halftruth_papers.pu_ece.settings import (
    BINNINGS,
    BOTH_GROW,
    DEBIASED,
    DESIGNS,
    FIGURE_1,
    LIMITS,
    LINES,
    OURS,
    PLAIN,
    RATIOS,
    TITLES,
    percent,
    perturbed,
)
from halftruth_papers.pu_ece.words import signed
from halftruth_papers.reproduction import Results, SummaryTable

Table = tuple[list[str], list[list[Cell]]]
Key = tuple[str, str]
"""A design and an estimator."""
NORMAL = 1.96
PAIRS = (4, 10, 16, 22, 34)
"""Numbers of bins that stand beside the next one."""
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
    parts = [cell for name, cell in results.items() if name.startswith(f"{model}.{design}.")]
    return Line(
        n=np.array([cell_at["n"] for cell_at in parts], dtype=float),
        estimates=np.array([cell_at["estimates"][binning + estimator] for cell_at in parts]),
        truth=about(results, model)["truth"],
    )


def limit(results: Results, model: str, binning: str, n_positive: int) -> Line:
    """The estimates where the population's scores are known exactly."""
    cell = results[f"{model}.limit.{n_positive}"]
    return Line(
        n=np.array([float(n_positive)]),
        estimates=np.array([cell["estimates"][binning]]),
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


def convergence(results: Results, binning: str) -> Table:
    """Of Figure 1, by model and line: the slope; at the largest N the bins, what they hide, and the bias."""
    columns = ["model", "samples", "slope", "±", "off the line", "B", "bins alone", "signed", "bias"]
    rows: list[list[Cell]] = []
    for model in models(results):
        for key, label in FIGURE_1.items():
            one = line(results, model, binning, key)
            alone = binned(results, model, binning, bins_at_end(results, model, key)) - one.truth
            rows.append(
                [
                    TITLES[model],
                    label,
                    signed(one.slope, ".3f"),
                    NORMAL * one.slope_error,
                    None if np.isnan(one.misfit) else f"{one.misfit:.1f}",
                    bins_at_end(results, model, key),
                    signed(alone, "+.4f"),
                    signed(one.estimates[-1].mean() - one.truth, "+.4f"),
                    f"{one.mean[-1]:.4f}",
                ]
            )
    return columns, rows


def bins_at_end(results: Results, model: str, key: Key) -> int:
    """How many bins an estimate takes at the largest N."""
    largest = int(line(results, model, next(iter(BINNINGS)), key).n[-1])
    return bins_of(*key, largest, about(results, model)["prior"])


def binned(results: Results, model: str, binning: str, n_bins: int) -> float:
    """The error that so many bins show of the population itself, without noise."""
    return float(results[f"{model}.bins"][binning][n_bins - 1])


def odd_and_even(results: Results) -> Table:
    """By model and binning: the true calibration error, and what B and B + 1 bins show of it."""
    most = min(len(results[f"{model}.bins"][name]) for model in models(results) for name in BINNINGS)
    numbers = [b + more for b in PAIRS for more in (0, 1) if b + 1 <= most]
    columns = ["model", "bins", "TCE", *(f"B = {b}" for b in numbers)]
    rows: list[list[Cell]] = []
    for model in models(results):
        for binning, name in BINNINGS.items():
            errors = (about(results, model)["truth"], *(binned(results, model, binning, b) for b in numbers))
            rows.append([TITLES[model], name, *(f"{error:.4f}" for error in errors)])
    return columns, rows


def steepness(results: Results, model: str) -> tuple[float, float]:
    """The least and the largest slope of Figure 1, of both binnings."""
    slopes = [line(results, model, binning, key).slope for binning in BINNINGS for key in FIGURE_1]
    return min(slopes), max(slopes)


def exact(results: Results, model: str) -> bool:
    """Whether the model is perfectly calibrated."""
    return bool(about(results, model)["truth"] < EXACT)


def finite_positives(results: Results) -> Table:
    """Of Figure 2: the bias at the largest N, with n_U = ∞, and the one over the other."""
    columns = ["model", "n_P"]
    for name in BINNINGS.values():
        columns += [f"{name}: bias", "n_U = ∞", "÷", "±"]
    rows: list[list[Cell]] = []
    for model in models(results):
        for n_positive in LIMITS:
            row: list[Cell] = [TITLES[model], n_positive]
            for binning in BINNINGS:
                end = line(results, model, binning, (f"{n_positive}-n", PLAIN))
                last = limit(results, model, binning, n_positive)
                row += [float(end.mean[-1]), float(last.mean[0]), *beside_limit(end, last)]
            rows.append(row)
    return columns, rows


def beside_limit(end: Line, last: Line) -> tuple[float, float]:
    """The bias at the largest N over that of the limit, and 1.96 of its standard errors."""
    ratio = float(end.mean[-1] / last.mean[0])
    relative = np.hypot(end.error[-1] / end.mean[-1], last.error[0] / last.mean[0])
    return ratio, NORMAL * ratio * float(relative)


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
    """By model and N, from n_P = N and n_U = 10N: RMSE of PU-ECE, of our estimate, and ours over theirs."""
    columns: list[str] = []
    rows: list[list[Cell]] = []
    for model in models(results):
        plain, ours = (
            line(results, model, binning, (BOTH_GROW, estimator)) for estimator in (PLAIN, DEBIASED)
        )
        columns = ["model", "RMSE", *(f"{int(n):,}" for n in plain.n)]
        both = plain.root_mean_square, ours.root_mean_square
        for name, numbers in (("PU-ECE", both[0]), ("debiased", both[1]), ("÷", both[1] / both[0])):
            rows.append([TITLES[model], name, *map(float, numbers)])
    return columns, rows


def summary_tables(results: Results) -> list[SummaryTable]:
    """What the command shows of a run."""
    names = list(BINNINGS)
    slope: list[list[float]] = []
    rmse: list[list[float]] = []
    for model in models(results):
        for key in FIGURE_1:
            both = [line(results, model, binning, key) for binning in names]
            slope.append([one.slope for one in both] + [float(one.mean[-1]) for one in both])
        for key in OURS:
            both = [line(results, model, binning, key) for binning in names]
            rmse.append([float(one.root_mean_square[-1]) for one in both])
    return [
        SummaryTable(
            title="Figure 1",
            legend=("Slope of log mean |estimate − TCE| against log N; bias: that mean at the largest N",),
            header=(
                "model",
                "samples",
                *(f"{quantity}, {name}" for quantity in ("slope", "bias") for name in names),
            ),
            labels=[(TITLES[model], label) for model in models(results) for label in FIGURE_1.values()],
            numbers=slope,
        ),
        SummaryTable(
            title="Debiased",
            legend=("Root mean square error at the largest N: n_P = N, n_U = 10N; with labels n = N",),
            header=("model", "estimate", *names),
            labels=[(TITLES[model], label) for model in models(results) for label in OURS.values()],
            numbers=rmse,
        ),
    ]
