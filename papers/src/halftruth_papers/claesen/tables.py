"""Results of Claesen et al. as tables. All areas, widths and shares are numbers from 0 to 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from halftruth_papers.claesen import experiments
from halftruth_papers.claesen.settings import INTERVAL, METHODS, OURS, RATIOS, THEIRS
from halftruth_papers.reproduction import Results, SummaryTable

PAPER_ALPHA = {
    10: ((15, 18, 23, 31, 47), (15, 18, 23, 31, 47)),
    30: ((12, 15, 19, 26, 41), (12, 14, 18, 25, 41)),
    50: ((9, 11, 14, 20, 33), (9, 11, 14, 20, 33)),
    70: ((6, 7, 9, 13, 23), (5, 6, 9, 13, 23)),
}
"""By % of the positives known, the column β in % of Tables 1 and 2, for the shares of known negatives."""
TABLES = {"direct": 1, "both": 2}
"""Numbers of the paper's tables, by whose ranks they use."""
ALONGSIDE = {**METHODS, INTERVAL: "evaluate"}
SAID = {
    THEIRS: "the paper's bootstrap band",
    "claesen-dkw": "one-sample DKW band",
    "dkw": "two-sample band",
    OURS: "our default",
}

AREAS_LEGEND = (
    "Where the α assumed is the true one: mean width of the bounds, share of settings that hold the truth"
)

Row = dict[str, Any]
Table = tuple[list[str], list[list[Any]]]


def of_kind(results: Results, kind: str) -> list[Row]:
    """The results whose names begin so."""
    return [cell for key, cell in results.items() if key.startswith(f"{kind}-")]


def areas(rows: Sequence[Row], which: str) -> Table:
    """Table 1 or 2: sizes, shares, and the bounds for each α̂."""
    columns = ["|P_L|/|P|", "|N_L|/|N|", "α (paper)", "α", "largest α not refuted"]
    columns += [
        f"{ratio}α {name} {end}" for ratio in RATIOS for name in METHODS.values() for end in ("low", "high")
    ]
    return columns, [[*_sizes(row, which), row["upper"], *_ends(row, which)] for row in rows]


def _sizes(row: Row, which: str) -> list[Any]:
    known, negative = round(100 * row["known"]), round(100 * row["known_negative"])
    paper = PAPER_ALPHA[known][TABLES[which] - 1][negative // 20]
    return [f"{row['known']:g}", f"{row['known_negative']:g}", f"{paper / 100:.2f}", row["alpha"]]


def _ends(row: Row, which: str) -> list[Any]:
    pairs = [case[which][method] for case in row["cases"] for method in METHODS]
    return [end for pair in pairs for end in (pair or [None, None])]


def refuted(rows: Sequence[Row], which: str) -> list[str]:
    """Where the data refute an α̂, and why."""
    where: dict[str, list[str]] = {}
    for row in rows:
        for case in row["cases"]:
            for method, why in case["refuted"][which].items():
                reason = f"{case['ratio']}α {why} ({METHODS[method]})"
                where.setdefault(reason, []).append(f"{row['known']:g}/{row['known_negative']:g}")
    return [f"{reason} at {', '.join(sizes)}" for reason, sizes in where.items()]


def widths(rows: Sequence[Row], which: str, method: str) -> tuple[float, int]:
    """Mean width, and how many intervals hold the truth, where α̂ = α."""
    pairs = [row["cases"][RATIOS.index(1.0)][which][method] for row in rows]
    n_holding = sum(bool(p and p[0] <= r["truth"] <= p[1]) for p, r in zip(pairs, rows, strict=True))
    sizes = [pair[1] - pair[0] for pair in pairs if pair]
    return float(np.mean(sizes)) if sizes else float("nan"), n_holding


def growing(results: Results) -> dict[int, tuple[Any, dict[str, Any]]]:
    """Of Figure 2, by the number of known positives: the truth, and by method both ends, of all repeats."""
    sizes: dict[int, list[Row]] = {}
    for cell in of_kind(results, "growing"):
        sizes.setdefault(cell["n_known"], []).append(cell)
    return {n: _stacked(blocks) for n, blocks in sizes.items()}


def _stacked(blocks: list[Row]) -> tuple[Any, dict[str, Any]]:
    """One repeat below the other; a refuted one has no ends and holds nothing."""
    none = [np.nan, np.nan]
    by_method = {
        method: np.array([pair or none for block in blocks for pair in block[method]]) for method in ALONGSIDE
    }
    return np.concatenate([block["truth"] for block in blocks]), by_method


def growing_table(ends: dict[int, tuple[Any, dict[str, Any]]]) -> Table:
    """Means of Figure 2."""
    columns = ["|P_L|"] + [
        f"{name} {end}"
        for name in ALONGSIDE.values()
        for end in ("low", "high", "width", "holds the realised AUROC")
    ]
    rows = []
    for n, (truth, by_method) in ends.items():
        row: list[Any] = [n]
        for method in ALONGSIDE:
            low, high = by_method[method].T
            share_holding = np.mean((low <= truth) & (truth <= high))
            row += [float(np.nanmean(x)) for x in (low, high, high - low)] + [float(share_holding)]
        rows.append(row)
    return columns, rows


def coverage(results: Results) -> list[Row]:
    """Blocks of runs of each setting as one."""
    blocks: dict[tuple[int, int], list[Row]] = {}
    for cell in of_kind(results, "coverage"):
        blocks.setdefault((cell["n_known"], cell["n_latent"]), []).append(cell)
    return [experiments.joined(cell) for cell in blocks.values()]


def held(whole: Row, band: str) -> list[float]:
    """How often a band holds at every threshold, its area holds the AUROC, and its mean width."""
    counts, runs = whole["counts"][band], whole["runs"]
    width = counts["width"] / counts["made"] if counts["made"] else float("nan")
    return [counts["band"] / runs, counts["area"] / runs, width]


def coverage_table(results: Results) -> Table:
    """Every band in every setting."""
    columns = ["known / latent positives", "runs"]
    columns += [f"{name}: {column}" for name in SAID.values() for column in ("band", "AUROC", "width")]
    rows = [
        [sizes_of(setting), setting["runs"], *(x for band in SAID for x in held(setting, band))]
        for setting in coverage(results)
    ]
    return columns, rows


def sizes_of(whole: Row) -> str:
    """Known and latent positives, for people."""
    return f"{whole['n_known']:,} / {whole['n_latent']:,}"


# --- the command --------------------------------------------------------------------------------------


def summary_tables(results: Results) -> list[SummaryTable]:
    """What the command shows of a run."""
    settings, rows = coverage(results), of_kind(results, "table")
    areas = [(whose, method, *widths(rows, whose, method)) for whose in TABLES for method in METHODS]
    return [
        SummaryTable(
            title="Do the bands hold?",
            legend=(
                "Band: share of rankings whose latent positives lie in the 95% band at every threshold",
                "AUROC: share of rankings whose realised AUROC lies in the bounds; width: mean, of the band",
            ),
            header=("known / latent positives", "", "band", "AUROC", "width"),
            labels=[(sizes_of(setting), SAID[band]) for setting in settings for band in METHODS],
            numbers=[held(setting, band) for setting in settings for band in METHODS],
        ),
        SummaryTable(
            title="Bounds of the AUROC",
            legend=(AREAS_LEGEND,),
            header=("", "", "width", "holds"),
            labels=[(f"Table {TABLES[whose]}", METHODS[method]) for whose, method, *_ in areas],
            numbers=[[width, holding / len(rows)] for *_, width, holding in areas],
        ),
    ]
