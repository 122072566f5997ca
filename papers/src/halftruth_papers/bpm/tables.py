"""Results on binomial process modeling as tables. All errors are in percent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from halftruth._checks import Vector
from halftruth_papers.bpm.experiments import CURVES
from halftruth_papers.bpm.settings import (
    AS_RELEASED,
    BRIEF,
    COLUMNS,
    COMPARED,
    KINDS,
    METHODS,
    METRICS,
    PAPER_CURVE,
    SAID,
    reported,
)
from halftruth_papers.reproduction import Results, SummaryTable

HOW = {
    "held": "learned from other rows",
    "same": "learned from the rows that judge",
    "pu": "learned from positives and unlabeled",
}
"""From which rows a calibrator learned."""

Table = tuple[list[str], list[list[Any]]]


def name_of(process: str) -> str:
    """What a process is called on the page."""
    return "D1, code" if process == AS_RELEASED else process


def percent(values: Any) -> Vector:
    """As an array, in percent."""
    return 100 * np.asarray(values, dtype=np.float64)


def curve_errors(results: Results, kind: str) -> dict[str, dict[str, dict[str, Vector]]]:
    """Of Figure 1(b), by process, method and where they are averaged: the errors of all repeats."""
    errors: dict[str, dict[str, dict[str, Vector]]] = {}
    for process, blocks in _blocks(results, "curves", kind).items():
        errors[process] = {
            name: {
                where: percent([x for block in blocks for x in block["errors"][name][where]])
                for where in ("grid", "scores")
            }
            for name in CURVES
        }
    return errors


def curve_table(results: Results, where: str) -> Table:
    """Mean and standard deviation of the errors of curves, averaged over even scores or over their law."""
    columns = ["", "from"]
    for name, label in CURVES.items():
        columns += [label, "±", *(["paper"] if where == "grid" and name in PAPER_CURVE else [])]
    rows = []
    for kind, brief in BRIEF.items():
        for process, by_name in curve_errors(results, kind).items():
            row: list[Any] = [name_of(process), brief]
            printed = (process, kind) == ("D1", "labeled")
            for name in CURVES:
                values = by_name[name][where]
                row += [float(values.mean()), float(values.std())]
                if where == "grid" and name in PAPER_CURVE:
                    row.append(100 * PAPER_CURVE[name] if printed else None)
            rows.append(row)
    return columns, rows


def metric_values(results: Results, kind: str) -> dict[str, dict[int, dict[str, Vector]]]:
    """Of Figure 1(c), by process, size and metric: the values of all repeats. ``"truth"`` is among them."""
    values: dict[str, dict[int, dict[str, Vector]]] = {}
    for process, blocks in _blocks(results, "errors", kind).items():
        sizes = values.setdefault(process, {})
        for n in dict.fromkeys(block["n"] for block in blocks):
            here = [block for block in blocks if block["n"] == n]
            sizes[n] = {
                name: percent([x for block in here for x in block["values"][name]]) for name in METRICS
            }
            sizes[n]["truth"] = np.full_like(sizes[n]["ece"], 100 * here[0]["truth"])
    return values


def rmse(values: Mapping[str, Vector], name: str) -> float:
    """Root mean square distance of a metric from the truth; NaN if a sample has no value."""
    return float(np.sqrt(np.mean((values[name] - values["truth"]) ** 2)))


def closest(values: Mapping[str, Vector], names: Sequence[str]) -> dict[str, float]:
    """In which share of the samples each metric is the closest to the truth; a tie is shared."""
    gaps = np.abs(np.array([values[name] - values["truth"] for name in names]))
    won = gaps == np.nanmin(gaps, axis=0)
    return dict(zip(names, (won / won.sum(axis=0)).mean(axis=1).tolist(), strict=True))


def sizes_won(sizes: Mapping[int, Mapping[str, Vector]], name: str) -> int:
    """At how many sizes the mean of a metric over the repeats is the closest of the paper's."""
    means = [
        {key: np.atleast_1d(column.mean()) for key, column in values.items()} for values in sizes.values()
    ]
    return sum(closest(sample, COMPARED)[name] > 0 for sample in means)


def overview(results: Results, kind: str) -> Table:
    """By metric: its RMSE in every process over all sizes, and how often it is the closest to the truth."""
    values = {process: pooled(sizes) for process, sizes in metric_values(results, kind).items()}
    all_of_them = pooled(dict(enumerate(values.values())))
    seven, of_all = closest(all_of_them, COMPARED), closest(all_of_them, list(METRICS))
    columns = ["", *map(name_of, values), "mean"]
    columns += ["closest of seven, %", "closest of all, %"]
    rows = []
    for name in METRICS:
        distances = [rmse(pooled, name) for pooled in values.values()]
        shares = [100 * seven[name] if name in seven else None, 100 * of_all[name]]
        rows.append([SAID[name], *distances, float(np.mean(distances)), *shares])
    return columns, rows


def by_size(results: Results, kind: str, what: str) -> Table:
    """Means of all metrics in every process and size, or their standard deviations."""
    columns = ["", "n", "TCE", *SAID.values()]
    take = np.mean if what == "mean" else np.std
    rows: list[list[Any]] = []
    for process, sizes in metric_values(results, kind).items():
        for n, values in sizes.items():
            cells = [float(take(values[name])) for name in METRICS]
            rows.append([name_of(process), n, float(values["truth"][0]), *cells])
    return columns, rows


def table_1(results: Results, network: str, how: str, *, paper: bool) -> Table:
    """Errors after every calibration, the paper's beside them."""
    printed = reported()
    columns = [""]
    for name in COLUMNS:
        columns += [SAID[name], "paper"] if paper else [SAID[name]]
    columns += [SAID["authors"], SAID["ours"]]
    rows = []
    for method, errors in results[f"table-{how}-{network}"]["rows"].items():
        row: list[Any] = [METHODS[method]]
        for name in COLUMNS:
            theirs = 100 * printed[method][name] if method in printed else None
            row += [100 * errors[name], theirs] if paper else [100 * errors[name]]
        rows.append([*row, 100 * errors["authors"], 100 * errors["ours"]])
    return columns, rows


def calibrated_table(results: Results, network: str, *, paper: bool) -> Table:
    """What a model scores whose confidences are right, and where the paper's last row lies among these."""
    values = results[f"calibrated-{network}"]["values"]
    columns = ["", *(SAID[name] for name in COLUMNS)]
    rows: list[list[Any]] = [
        ["mean", *(float(percent(values[name]).mean()) for name in COLUMNS)],
        ["5% of the draws lie below", *(float(np.quantile(percent(values[name]), 0.05)) for name in COLUMNS)],
    ]
    if paper:
        theirs = reported()["bpm"]
        below = [100 * float(np.mean(np.array(values[name]) <= theirs[name])) for name in COLUMNS]
        rows.append(["the paper's BPM row", *(100 * theirs[name] for name in COLUMNS)])
        rows.append(["draws not above it, % of all", *below])
    return columns, rows


def networks(results: Results) -> list[str]:
    """Those whose outputs were found."""
    return [key.removeprefix("about-") for key in results if key.startswith("about-")]


def pooled(sizes: Mapping[Any, Mapping[str, Vector]]) -> dict[str, Vector]:
    """All values of each metric, of whatever size."""
    names = next(iter(sizes.values()))
    return {name: np.concatenate([values[name] for values in sizes.values()]) for name in names}


def _blocks(results: Results, part: str, kind: str) -> dict[str, list[Any]]:
    """Stored blocks by process. Keys are part, kind, process and further numbers."""
    blocks: dict[str, list[Any]] = {}
    for key, cell in results.items():
        own_part, own_kind, *rest = key.split("-")
        if (own_part, own_kind) == (part, kind):
            blocks.setdefault(rest[0], []).append(cell)
    return blocks


def summary_tables(results: Results) -> list[SummaryTable]:
    """What the command shows of a run."""
    overviews = {kind: overview(results, kind) for kind in KINDS}
    columns = next(iter(overviews.values()))[0]
    lines = [(kind, row) for kind, (_, rows) in overviews.items() for row in rows]
    metrics = SummaryTable(
        title="Metrics against the true calibration error",
        legend=("RMSE by distribution in %, its mean, and how often each is the closest, in %",),
        header=("from", "metric", *columns[1:]),
        labels=[(KINDS[kind], row[0]) for kind, row in lines],
        numbers=[[float("nan") if cell is None else cell for cell in row[1:]] for _, row in lines],
    )
    return [metrics, *(_summary(results, network) for network in networks(results))]


def _summary(results: Results, network: str) -> SummaryTable:
    by_source = {how: table_1(results, network, how, paper=False) for how in HOW}
    columns = next(iter(by_source.values()))[0]
    lines = [(how, row) for how, (_, rows) in by_source.items() for row in rows]
    return SummaryTable(
        title=f"Calibrators, {results[f'about-{network}']['title']}",
        legend=("Errors in %",),
        header=("calibrator", "method", *columns[1:]),
        labels=[(HOW[how], row[0]) for how, row in lines],
        numbers=[row[1:] for _, row in lines],
    )
