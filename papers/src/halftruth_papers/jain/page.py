"""The page of Jain et al. (2017): their tables beside ours, the sign test, Figure 2, and what falls short."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

from halftruth_papers import drawing as reproduction
from halftruth_papers.datasets import DatasetFile
from halftruth_papers.jain import tables
from halftruth_papers.jain.experiments import LEAST_GAP, PURITIES
from halftruth_papers.jain.tables import AREAS, Experiment, Mean, Reported, reported
from halftruth_papers.page import Cell, Page
from halftruth_papers.published import DATASETS

TITLES = {"networks": "Bagged networks, as in the paper", "forest": "Random forest, a stronger model"}
WITH = {"R": "real α, ρ", "E": "AlphaMax", "A": "auto"}
"""Which α and ρ, by the letter of a column."""
BINS = ((0.0, 0.1), (0.1, 0.2), (0.2, math.inf))
"""Of e, as in the paper's Figure 2."""
INTRODUCTION = (
    "A model learns labeled rows against unlabeled ones; its true area under the ROC curve (AUC) and under "
    "the precision-recall curve (AUC-PR) is recovered from its scores. α is the share of positives among the "
    "unlabeled, ρ (β in the paper) that among the labeled. A data set has n rows, n₁ of them positive, and d "
    "features. Scores are out of bag."
)
LEGEND = (
    "PU: not corrected. First letter: I indirect, by the curve cleaned as in the paper (its Algorithm 1); D "
    "direct, by its Equation 4, clipped to [0, 1]; C ours, the possible concave ROC curve nearest to the "
    "data. Second letter: R the real α and ρ; E both estimated by AlphaMax, as in the paper; A both "
    "estimated by our method auto; ₁ only α is estimated, the labels being known to be clean. e: mean "
    "absolute error of the estimates of ρ − α."
)
ERRORS = (
    "All errors are mean absolute errors over the repeats, ± their standard error. (a): against a supervised "
    "model of the same family that saw all labels, as in the paper; its AUC-PR is taken at the α of the "
    "experiment. (b): against the hidden labels of the very scores that were recovered from, which is what "
    "recovery is about: error (a) also holds what the model lost by not seeing the labels."
)
SIGNS = (
    "Experiments (data set, ρ) in which either has the smaller mean error of the AUC, rounded to three "
    "decimals as in the paper's table; ties are shared out in turn, the first to the direct. P: one-sided, "
    "that the indirect wins k times or more if neither is better. The paper's rows are computed from its "
    "printed table, which has one tie more with AlphaMax than its text counts; k and P are the same."
)


def remarks(sets: Sequence[DatasetFile], *, quick: bool, repeats: int) -> list[str]:
    """What the reader must know of this run."""
    present = {one.dataset.name for one in sets}
    partial = [one.dataset.name for one in sets if not one.complete]
    missing = [name for name in DATASETS if name not in present]
    notes = []
    if quick:
        notes.append(
            "This is a quick run: few repeats, smaller samples and ensembles. Its figures are rough. The PU "
            "areas of precision depend on the size of the unlabeled sample, which is smaller here, and so "
            "differ from the paper's."
        )
    notes.append(f"Repeats: {repeats} (the paper: 50).")
    if missing:
        notes.append(f"Data sets of the paper that were not found: {', '.join(missing)}.")
    if partial:
        notes.append(
            f"Of {', '.join(partial)} only a part of the rows is at hand. It is shown, and left out of all "
            f"means, tests and figures."
        )
    return notes


def page(experiments: Sequence[Experiment], notes: Sequence[str]) -> Page:
    """The whole page, from the results of a run."""
    paper = {area: reported(f"jain_{area}") for area in AREAS}
    complete = [one for one in experiments if one.complete]
    out = Page("Recovering true classifier performance (Jain, White and Radivojac 2017): paper and ours")
    for text in (INTRODUCTION, *notes, LEGEND, ERRORS):
        out.text(text)
    for block in dict.fromkeys(one.block for one in experiments):
        _block(out, block, [one for one in experiments if one.block == block], paper)
    out.file("repeats", *tables.repeats_table(experiments))
    for number, area in enumerate(AREAS, 1):
        out.file(f"table_{number}", *tables.means_table(area, experiments, paper[area]))
        out.file(f"means_{number}", *tables.summary_table(area, complete, paper[area]))
    out.heading("Files")
    out.text(
        "repeats.csv: every repeat. table_1.csv, table_2.csv: AUC and AUC-PR of every data set, with "
        "standard errors. means_1.csv, means_2.csv: mean errors over the data sets. Figures are files, too."
    )
    return out


def _block(page: Page, block: str, experiments: list[Experiment], paper: dict[str, Reported]) -> None:
    complete = [one for one in experiments if one.complete]
    page.heading(f"{TITLES[block]}: means over {len({one.data for one in complete})} data sets")
    for area, title in AREAS.items():
        page.table(*_means(area, complete, paper[area]), f"{title}: mean absolute errors.")
    _shortfalls(page, complete, paper)
    page.text(_set_to_1(experiments))
    page.heading(f"{TITLES[block]}: direct against indirect")
    _sign_tests(page, complete, paper["auc"])
    _projections(page, complete)
    for (area, title), number in zip(AREAS.items(), (1, 2), strict=True):
        page.heading(f"{TITLES[block]}: Table {number}, {title}")
        page.table(*_published(area, experiments, paper[area]), "Errors (a).")
        page.table(*_further(area, experiments), "What the paper does not have.")
    if complete:
        page.heading(f"{TITLES[block]}: Figure 2")
        for area in AREAS:
            _figures(page, block, area, complete)


def _set_to_1(experiments: Sequence[Experiment]) -> str:
    n = sum(len(one.repeats) for one in experiments)
    counts = {by: sum(one.both_1(by) for one in experiments) for by in WITH}
    listed = ", ".join(f"{counts[by]} with {name}" for by, name in WITH.items())
    return (
        f"Where no point of the indirect curve is possible, both of its areas count as 1, as in the paper. "
        f"That is so in at most as many of the {n} repeats as have exactly 1 for both, which a perfect curve "
        f"has too: {listed}. Estimates of α and ρ nearer to each other than {LEAST_GAP:g} are moved so far "
        f"apart."
    )


def _means(
    area: str, experiments: Sequence[Experiment], paper: Reported
) -> tuple[list[str], list[list[str]]]:
    rows = [
        [f"{line.purity:g}", line.who, *map(str, line.means.values())]
        for line in tables.summary(area, experiments, paper)
    ]
    return ["ρ", "", *tables.ESTIMATES[area]], rows


def _shortfalls(page: Page, experiments: Sequence[Experiment], paper: dict[str, Reported]) -> None:
    """Where our mean error (a) is above the paper's on the same data sets."""
    worse: list[list[Cell]] = []
    for (area, title), purity in product(AREAS.items(), PURITIES):
        at_purity = [one for one in experiments if one.purity == purity and (one.data, purity) in paper[area]]
        for name in tables.PAPER[area][1:] if at_purity else ():
            theirs = [paper[area][one.data, purity][name.lower()] for one in at_purity]
            ours = Mean.over(one.error(area, name) for one in at_purity)
            if ours.value > (mean := sum(theirs) / len(theirs)):
                by_set = {
                    one.data: one.error(area, name).value - there
                    for one, there in zip(at_purity, theirs, strict=True)
                }
                most = max(by_set, key=lambda data: by_set[data])
                worse.append([title, f"{purity:g}", name, mean, str(ours), f"{most} (+{by_set[most]:.3f})"])
    if worse:
        columns = ["area", "ρ", "column", "paper", "ours (a)", "most on"]
        page.table(columns, worse, "Where our mean error is larger than the paper's, on the same data sets.")
    elif experiments:
        page.text(
            "In no column of the paper is our mean error (a) larger than the paper's on these data sets."
        )


def _sign_tests(page: Page, experiments: Sequence[Experiment], paper: Reported) -> None:
    rows = []
    paper_model = tables.paper_name(experiments)
    for by, label in WITH.items():
        if by != "A":
            direct, indirect = ([row[way + by.lower()] for row in paper.values()] for way in "di")
            rows.append(
                [
                    label,
                    f"{paper_model}, its {len({name for name, _ in paper})} data sets",
                    *_test_cells(tables.sign_test(direct, indirect)),
                ]
            )
        rows += [
            [label, f"ours ({truth})", *_test_cells(tables.compared(experiments, by, truth))]
            for truth in tables.TRUTHS
        ]
    page.text(SIGNS)
    page.table(["α, ρ", "", "direct wins", "indirect wins", "ties", "k", "of", "P"], rows)


def _projections(page: Page, experiments: Sequence[Experiment]) -> None:
    """Whether the concave projection is nearer to the hidden labels than the paper's ways."""
    rows: list[list[Cell]] = []
    for (area, title), by, way in product(AREAS.items(), ("R", "A"), "ID"):
        if way + by in tables.ESTIMATES[area]:
            gap, better = tables.nearer(experiments, area, "C" + by, way + by)
            difference = "–" if math.isnan(gap.value) else f"{gap.value:+.4f} ± {gap.error:.4f}"
            rows.append([title, WITH[by], f"C{by} − {way}{by}", difference, better, len(experiments)])
    caption = "Error (b) of the concave projection less that of the paper's ways; negative: it is nearer."
    page.table(["area", "α, ρ", "columns", "mean ± standard error", "nearer in", "of"], rows, caption)


def _test_cells(test: tables.SignTest) -> list[str | int]:
    return [test.direct, test.indirect, test.ties, test.k, test.n, f"{test.p_value:.2g}"]


def _published(
    area: str, experiments: Sequence[Experiment], paper: Reported
) -> tuple[list[str], list[list[Cell]]]:
    """The paper's table, its figures and ours side by side."""
    title = AREAS[area]
    errors = {name.lower(): name for name in tables.PAPER[area]}
    beside = {area: title, f"{area}_pu": f"{title} PU", "e": "e"}
    columns = ["data", "ρ"]
    columns += [f"{name} {who}" for name in (*errors.values(), *beside.values()) for who in ("paper", "ours")]
    columns += ["α paper", "α ours", "d", "n₁", "n"]
    rows: list[list[Cell]] = []
    for one in experiments:
        there = paper.get((one.data, one.purity), {})
        ours = [one.error(area, name) for name in errors.values()]
        ours += [one.mean(area), one.mean(f"{area}_pu"), Mean.of(one.gap_errors())]
        row: list[Cell] = [_name(one), f"{one.purity:g}"]
        for key, mean in zip((*errors, *beside), ours, strict=True):
            row += [there.get(key), str(mean)]
        row += [there.get("alpha"), one.mean("alpha").value, one.d, one.n_positive, one.n]
        rows.append(row)
    return columns, rows


def _further(area: str, experiments: Sequence[Experiment]) -> tuple[list[str], list[list[str]]]:
    """Our own columns: errors (a) of what the paper does not have, then errors (b) of all."""
    names = list(tables.ESTIMATES[area])
    ours = [name for name in names if name not in tables.PAPER[area]]
    columns = ["data", "ρ", "e auto", *(f"{name} (a)" for name in ours), f"hidden {AREAS[area]}"]
    columns += [f"{name} (b)" for name in names]
    rows = []
    for one in experiments:
        cells = [Mean.of(one.gap_errors("A")), *(one.error(area, name) for name in ours)]
        cells += [one.mean(f"hidden_{area}"), *(one.error(area, name, "b") for name in names)]
        rows.append([_name(one), f"{one.purity:g}", *map(str, cells)])
    return columns, rows


def _name(experiment: Experiment) -> str:
    return experiment.data if experiment.complete else f"{experiment.data} (part)"


def _figures(page: Page, block: str, area: str, experiments: Sequence[Experiment]) -> None:
    title = AREAS[area]
    by_purity = {
        name: [
            [error for one in experiments if one.purity == purity for error in one.errors(area, name)]
            for purity in PURITIES
        ]
        for name in tables.SHOWN[area]
    }
    drawn = reproduction.error_boxes(
        [f"{purity:g}" for purity in PURITIES],
        by_purity,
        ylabel=f"{title}: estimate − supervised",
        xlabel="ρ, the purity of the labels",
        title=f"Errors of the {title} by purity",
    )
    page.figure(drawn, f"{block}-{area}-purity", f"Errors (a) of the {title} in every repeat, by purity.")
    by_e = {
        name: [
            [
                error
                for one in experiments
                for error, e in zip(one.errors(area, name), one.gap_errors(), strict=True)
                if low <= e < high
            ]
            for low, high in BINS
        ]
        for name in tables.SHOWN[area]
    }
    drawn = reproduction.error_boxes(
        ["below 0.1", "0.1 to 0.2", "0.2 and above"],
        by_e,
        ylabel=f"{title}: estimate − supervised",
        xlabel="e, the absolute error of AlphaMax's ρ − α",
        title=f"Errors of the {title} by the error of the shares",
    )
    page.figure(
        drawn, f"{block}-{area}-e", "The same by e, the absolute error of AlphaMax's estimate of ρ − α."
    )
