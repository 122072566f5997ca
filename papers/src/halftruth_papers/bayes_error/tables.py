"""The tables of the page on the Bayes error: what is printed beside what comes out, in percent."""

from __future__ import annotations

from typing import Any

from halftruth_papers.bayes_error.lines import Table, error_of_mean, percent, rmse, truth, values
from halftruth_papers.bayes_error.settings import (
    CLASSES,
    CLEAN,
    FIGURES_PRINTED,
    HARD,
    NOISY,
    PCONF,
    PRIOR,
    SETUPS,
    SIGNED,
    SOFT,
    TASKS,
    YEARS,
)
from halftruth_papers.logits import SOURCES
from halftruth_papers.reproduction import Results, SummaryTable

NETWORKS = {**{name: source.title for name, source in SOURCES.items()}, "labels": "the published labels"}
"""What is judged in Figure 4: networks, and for once the labels themselves."""
COLUMNS = {"pn": "PN", "pconf": "Pconf"}


# --- Table 1 ------------------------------------------------------------------------------------------


def printed(cell: Any) -> str:
    """A value and its interval as the paper prints them.

    Examples
    --------
    >>> printed((0.5, 0.449, 0.551))
    '0.50 (0.45, 0.55)'
    """
    value, low, high = (f"{number:.2f}" for number in cell)
    return f"{value} ({low}, {high})"


def equal_figures(results: Results) -> int:
    """How many of the figures of Table 1 come out, at the precision at which they are printed."""
    pairs = [
        (f"{theirs:.2f}", f"{ours:.2f}")
        for name, task in TASKS.items()
        for column in COLUMNS
        for theirs, ours in zip(task.printed[column], percent(results[f"table-{name}"][column]), strict=True)
    ]
    assert len(pairs) == FIGURES_PRINTED
    return sum(theirs == ours for theirs, ours in pairs)


def table_1(results: Results) -> Table:
    """Table 1 as it is printed, and as it comes out."""
    columns = [""]
    for heading in COLUMNS.values():
        columns += [f"{heading}, paper", f"{heading}, ours"]
    rows = []
    for name, task in TASKS.items():
        cell = results[f"table-{name}"]
        row: list[Any] = [task.title]
        for column in COLUMNS:
            row += [printed(task.printed[column]), printed(percent(cell[column]))]
        rows.append(row)
    return columns, rows


def priors(results: Results) -> Table:
    """Positive confidences with the paper's prior and with the share of the labels; both intervals scaled."""
    columns = ["", "PN", "low", "high", "Pconf, π = ½", "low", "high", "label share", "Pconf", "low", "high"]
    rows = []
    for name, task in TASKS.items():
        cell = results[f"table-{name}"]
        rows.append(
            [
                task.title,
                *percent(cell["pn"]).tolist(),
                *percent(cell["scaled"]).tolist(),
                cell["prior"],
                *percent(cell["own"]).tolist(),
            ]
        )
    return columns, rows


def from_votes(results: Results) -> Table:
    """The share of votes taken for the probability, and what the votes say as votes."""
    columns = ["", "plug-in", "identified: from", "to", "by votes", "low", "high"]
    rows = []
    for name, task in TASKS.items():
        cell = results[f"votes-{name}"]
        known = percent(cell["identified"]).tolist()
        rows.append([task.title, 100 * cell["plug_in"], *known, *percent(cell["value"]).tolist()])
    return columns, rows


def all_classes(results: Results) -> Table:
    """The ten classes together."""
    cell = results["classes"]
    return ["", "1 − E max", "low", "high"], [[f"{len(CLASSES)} classes", *percent(cell["value"]).tolist()]]


# --- Figure 4 -----------------------------------------------------------------------------------------


def judged(results: Results) -> dict[str, dict[str, Any]]:
    """By network and task."""
    out: dict[str, dict[str, Any]] = {}
    for network in NETWORKS:
        by_task = {name: results.get(f"judged-{network}-{name}") for name in TASKS}
        if all(by_task.values()):
            out[network] = by_task
    return out


def figure_4(results: Results) -> Table:
    """Errors by network and task, by the published labels and by drawn ones, against the Bayes error."""
    columns = [
        "",
        "task",
        "test error",
        "Bayes error",
        "p",
        "too good",
        "drawn, mean",
        "± se",
        "drawn, expected",
    ]
    rows: list[list[Any]] = []
    for network, by_task in judged(results).items():
        for name, cell in by_task.items():
            drawn = percent(cell["drawn"])
            rows.append(
                [
                    NETWORKS[network],
                    TASKS[name].title,
                    100 * cell["error"],
                    100 * cell["bayes"][0],
                    cell["p_value"],
                    "yes" if cell["too_good"] else "no",
                    float(drawn.mean()),
                    error_of_mean(drawn),
                    100 * cell["expected"][0],
                ]
            )
    return columns, rows


# --- review scores ------------------------------------------------------------------------------------


def reviews(results: Results) -> Table:
    """By year: the recipe of the published code, and the error of the fitted rule on other rows."""
    columns = ["year", "papers", "accepted", "paper", "in-sample", "low", "high", "errors, same rows"]
    columns += ["errors, other rows", "low", "high"]
    rows: list[list[Any]] = []
    for year in YEARS:
        cell = results[f"reviews-{year}"]
        inside, held_out = (percent(cell[key]).tolist() for key in ("inside", "held_out"))
        row = [year, cell["n"], 100 * cell["accepted"], None, *inside, 100 * cell["counted"], *held_out]
        rows.append(row)
    return columns, rows


# --- the command line ---------------------------------------------------------------------------------


def summary_tables(results: Results) -> list[SummaryTable]:
    """What the command shows of a run."""
    tables = [_table_1_summary(results)] if "classes" in results else []
    tables += [_judged_summary(results)] if judged(results) else []
    tables.append(_simulated_summary(results))
    return tables + ([_reviews_summary(results)] if f"reviews-{YEARS[0]}" in results else [])


def _table_1_summary(results: Results) -> SummaryTable:
    lines = [
        (task.title, heading, percent(cell[column]), task.printed[column])
        for name, task in TASKS.items()
        for cell in [results[f"table-{name}"]]
        for column, heading in COLUMNS.items()
    ]
    return SummaryTable(
        title="Table 1",
        legend=(
            f"Bayes error in %, with 95% intervals; Pconf with the prior {PRIOR:g}. "
            f"{equal_figures(results)} of {FIGURES_PRINTED} printed figures are equal",
        ),
        header=("task", "", "ours", "low", "high", "paper", "paper low", "paper high"),
        labels=[(title, heading) for title, heading, _, _ in lines],
        numbers=[[*ours.tolist(), *theirs] for _, _, ours, theirs in lines],
    )


def _judged_summary(results: Results) -> SummaryTable:
    lines = [(n, name, cell) for n, by_task in judged(results).items() for name, cell in by_task.items()]
    return SummaryTable(
        title="Figure 4, networks at hand",
        legend=("Errors in %; p of a test error so low; error if labels are drawn from the votes",),
        header=("network", "task", "test error", "Bayes error", "p", "drawn"),
        labels=[(NETWORKS[network], TASKS[name].title) for network, name, _ in lines],
        numbers=[
            [100 * cell["error"], 100 * cell["bayes"][0], cell["p_value"], 100 * cell["expected"][0]]
            for _, _, cell in lines
        ],
    )


def _simulated_summary(results: Results) -> SummaryTable:
    labels, numbers = [], []
    for setup in SETUPS:
        true, direct = truth(results, setup), values(results, "direct", setup)
        learned = values(results, "mlp", setup)
        for n in direct[CLEAN]:
            labels.append((setup, n))
            estimators = (
                direct[CLEAN],
                learned[HARD],
                learned[SOFT],
                direct[NOISY],
                direct[SIGNED],
                direct[PCONF],
            )
            numbers.append([true, *(rmse(sizes[n], true) for sizes in estimators)])
    return SummaryTable(
        title="Figures 1 to 3",
        legend=("RMSE of the trials in %, by setup and rows of each class; hard and soft: of an MLP",),
        header=("setup", "n", "Bayes error", "proposed", "hard", "soft", "noisy", "signs", "Pconf"),
        labels=labels,
        numbers=numbers,
    )


def _reviews_summary(results: Results) -> SummaryTable:
    cells = [results[f"reviews-{year}"] for year in YEARS]
    return SummaryTable(
        title="Review scores",
        legend=("In %: mean of min(p, 1 − p) by a fit to the same rows; errors by fits to other rows",),
        header=("year", "papers", "in-sample", "low", "high", "errors", "errors low", "errors high"),
        labels=[(str(year), cell["n"]) for year, cell in zip(YEARS, cells, strict=True)],
        numbers=[percent([*cell["inside"], *cell["held_out"]]).tolist() for cell in cells],
    )
