"""The page of Claesen et al.: what the paper reports beside what comes out, by its bands and by ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from halftruth.figures.ranking_bounds import curve_bounds
from halftruth.metrics.areas import pr_auc
from halftruth.metrics.curves import roc_curve
from halftruth.reproduce import claesen_cells as cells
from halftruth.reproduce import claesen_figures
from halftruth.reproduce.claesen_cells import INTERVAL, METHODS, OURS, RATIOS, THEIRS
from halftruth.reproduce.claesen_rankings import AREA, draw
from halftruth.reproduce.page import Page

PAPER_ALPHA = {
    10: ((15, 18, 23, 31, 47), (15, 18, 23, 31, 47)),
    30: ((12, 15, 19, 26, 41), (12, 14, 18, 25, 41)),
    50: ((9, 11, 14, 20, 33), (9, 11, 14, 20, 33)),
    70: ((6, 7, 9, 13, 23), (5, 6, 9, 13, 23)),
}
"""By % of the positives known, the column β in % of Tables 1 and 2, for the shares of known negatives."""
ALONGSIDE = {**METHODS, INTERVAL: "evaluate"}
SHARES_3 = (0.0, 0.15, 0.3, 0.45)
SAID = {
    THEIRS: "the paper's bootstrap band",
    "claesen-dkw": "one-sample DKW band",
    "dkw": "two-sample band",
    OURS: "our default",
}

Results = Mapping[str, Any]


def page(results: Results, n_resamples: int, seed: int) -> Page:
    """The whole page, from the results of a run."""
    out = Page("Assessing binary classifiers using only positive and unlabeled data")
    out.text(
        "Claesen, Davis, De Smet and De Moor (2015), done again. The paper writes β for the share of "
        "positives among the unlabeled; here it is α, and α̂ is what was assumed. Theirs: pointwise 95% "
        "limits of the bootstrapped rank CDF of the known positives. Ours: limits that hold the realised "
        "ranks of the latent positives at all thresholds together with probability 95%, and that the "
        "unlabeled rows can fill."
    )
    _covtype(out, results, n_resamples)
    rows = [results[key] for key in results if key.startswith("table-")]
    _areas(out, rows, "direct")
    _areas(out, rows, "both")
    _growing(out, results)
    _assumed(out, n_resamples, seed)
    _models(out, results["models"])
    _coverage(out, results)
    return out


def _covtype(out: Page, results: Results, n_resamples: int) -> None:
    out.heading("Figure 5: covtype")
    if "covtype-scores" not in results:
        out.text(
            "The covertype rows were not found. Name the folder of the data sets, or set HALFTRUTH_DATA."
        )
        return
    ranking = cells.covtype_ranking(results["covtype-scores"])
    true, area_pr = ranking.area(), pr_auc(cells.truth_of(ranking))
    summaries = [results[f"covtype-{band}"] for band in METHODS]
    out.text(
        f"{len(ranking.known):,} known positives, {len(ranking.unlabeled):,} unlabeled, α = "
        f"{ranking.alpha:.3f}. The paper has a model of its own; ours is gradient boosting of known "
        f"positives against the others. True AUROC {true:.4f}, true AUC-PR {area_pr:.4f}. The largest α "
        f"that the scores do not refute at 95%: {summaries[0]['upper']:.3f}."
    )
    columns = ["assumed", "band", "AUROC low", "AUROC high", "AUC-PR low", "AUC-PR high"]
    columns += ["true ROC inside", "holds both areas", "α̂ refuted"]
    rows = [
        [
            case["case"],
            METHODS[each["band"]],
            *case["roc"],
            *case["pr"],
            case["inside"],
            _yes(case["roc"][0] <= true <= case["roc"][1] and case["pr"][0] <= area_pr <= case["pr"][1]),
            _yes(case["refuted"]),
        ]
        for each in summaries
        for case in each["cases"]
    ]
    out.table(columns, rows, "True ROC inside: part of its points, by FPR.", csv="covtype")
    held = [
        f"{SAID[each['band']]}: {_yes(each['holds'])}, mean width {each['width']:.4f}" for each in summaries
    ]
    out.text(
        f"Does the rank CDF of the latent positives lie within the band at every rank? Paper, Figure 5a: "
        f"yes. Here, {'; '.join(held)}."
    )
    found = {
        band: {of: cells.covtype_bounds(ranking, band, of, n_resamples) for of in ("roc", "pr")}
        for band in METHODS
    }
    out.figure(
        claesen_figures.curves(ranking, found), "figure-5", "Above: theirs. Below: ours. Dots: the truth."
    )
    known = {band: next(iter(found[band]["roc"].values())) for band in METHODS}
    caption = "The rank CDF of the latent positives and the bands, less that of the known positives."
    out.figure(claesen_figures.bands(ranking, known), "figure-5-band", caption)


def _areas(out: Page, rows: list[dict[str, Any]], which: str) -> None:
    number = 1 if which == "direct" else 2
    name = "known positives" if number == 1 else "known positives and known negatives"
    out.heading(f"Table {number}: bounds of the AUROC from {name}")
    truth = rows[0]["truth"]
    said = (
        f"One simulated ranking of 2,000 positives and 10,000 negatives, two normal classes, true AUROC "
        f"{truth:.4f} (paper: {AREA}). The paper shows bars on an axis from 67% to 87%, no numbers."
    )
    if number == 2:
        said += (
            " Theirs: the narrower of the two intervals, each at 95%, which looks twice. Ours: both bands at "
            "97.5%, so that together they hold at 95%."
        )
    out.text(said)
    columns = ["|P_L|/|P| %", "|N_L|/|N| %", "α % (paper)", "α %", "largest α not refuted"]
    columns += [
        f"{ratio}α {name} {end}" for ratio in RATIOS for name in METHODS.values() for end in ("low", "high")
    ]
    lines = [[*_sizes(row, number - 1), row["upper"], *_ends(row, which)] for row in rows]
    empty = "–: no set of latent positives fits the band; the data refute α̂."
    out.table(columns, lines, empty, csv=f"table-{number}")
    out.text(_widths(rows, which))
    out.figure(
        claesen_figures.bars(rows, which), f"table-{number}-bars", "Bars: bounds. Dots: the true AUROC."
    )


def _sizes(row: dict[str, Any], table: int) -> list[Any]:
    known, negative = round(100 * row["known"]), round(100 * row["known_negative"])
    return [known, negative, PAPER_ALPHA[known][table][negative // 20], 100 * row["alpha"]]


def _ends(row: dict[str, Any], which: str) -> list[Any]:
    pairs = [case[which][method] for case in row["cases"] for method in METHODS]
    return [end for pair in pairs for end in (pair or [None, None])]


def _widths(rows: list[dict[str, Any]], which: str) -> str:
    """Mean width, and how many intervals hold the truth where α̂ = α."""
    said = []
    for method, name in METHODS.items():
        pairs = [row["cases"][1][which][method] for row in rows]
        width = np.mean([pair[1] - pair[0] for pair in pairs if pair])
        held = sum(bool(p and p[0] <= r["truth"] <= p[1]) for p, r in zip(pairs, rows, strict=True))
        said.append(f"{name}: mean width {width:.4f}, {held} of {len(rows)} hold the true AUROC")
    one = (
        "Rows with one share of known positives rest on one draw of them, so that they hold or fail together."
    )
    return f"With α̂ = α, {'; '.join(said)}. {one}"


def _growing(out: Page, results: Results) -> None:
    out.heading("Figure 2: more known positives")
    sizes: dict[int, list[dict[str, Any]]] = {}
    for key, each in results.items():
        if key.startswith("growing-"):
            sizes.setdefault(each["n_known"], []).append(each)
    repeats = sum(len(each["truth"]) for each in next(iter(sizes.values())))
    out.text(
        f"100,000 unlabeled, α̂ = α = 0.2, no known negatives; {repeats} repeats (paper: 200). The paper "
        f"does not say how rankings were simulated; ours are two normal classes with AUROC {AREA}. For one "
        f"number the interval of ht.evaluate is narrower: it is for the AUROC of the law behind the rows, "
        f"and need not hold at every threshold."
    )
    ends = {n: _stacked(blocks) for n, blocks in sizes.items()}
    columns = ["|P_L|"] + [
        f"{name} {what}"
        for name in ALONGSIDE.values()
        for what in ("low", "high", "width", "holds the realised AUROC")
    ]
    rows = []
    for n, (truth, by_method) in ends.items():
        row: list[Any] = [n]
        for method in ALONGSIDE:
            low, high = by_method[method].T
            held = np.mean((low <= truth) & (truth <= high))
            row += [float(np.nanmean(x)) for x in (low, high, high - low)] + [float(held)]
        rows.append(row)
    out.table(columns, rows, "Means over the repeats.", csv="figure-2")
    caption = "Mean bounds, and where 95% of the repeats lie (shaded)."
    out.figure(claesen_figures.growing(ends), "figure-2", caption)


def _stacked(blocks: list[dict[str, Any]]) -> tuple[Any, dict[str, Any]]:
    """The truth, and by method both ends, of all repeats; a refuted one has no ends and holds nothing."""
    none = [np.nan, np.nan]
    by_method = {
        method: np.array([pair or none for block in blocks for pair in block[method]]) for method in ALONGSIDE
    }
    return np.concatenate([block["truth"] for block in blocks]), by_method


def _assumed(out: Page, n_resamples: int, seed: int) -> None:
    out.heading("Figure 3: what is assumed of α")
    ranking = draw(np.random.default_rng([seed, 5]), 2_000, 30_000, 70_000)
    out.text(
        f"2,000 known positives, 100,000 unlabeled, α = 0.3, true AUROC {ranking.area():.4f}. An α̂ too "
        f"low gives a curve too low, one too high a curve too high, as long as the ranking is better than "
        f"chance."
    )
    found = {share: cells.of_curve(ranking.evidence(share), "roc", THEIRS, n_resamples) for share in SHARES_3}
    rows = [[share, *each.area] for share, each in found.items()]
    out.table(["α̂", "AUROC low", "AUROC high"], rows, "By the paper's band.", csv="figure-3")
    figure = curve_bounds(
        {f"α̂ = {share:g}": each for share, each in found.items()}, roc_curve(cells.truth_of(ranking))
    )
    out.figure(figure, "figure-3", "ROC bounds by what is assumed of α. Dots: the true curve.")


def _models(out: Page, cell: dict[str, Any]) -> None:
    out.heading("Figure 4: which model is better")
    out.text(
        "5,000 known positives, 45,000 unlabeled. The paper explains by the derivatives of FPR and "
        "precision that the order by AUROC can change with α̂. But along the curve they add up: the AUROC "
        "is (AUC_pu − α̂/2)/(1 − α̂) for every ranking, AUC_pu being the AUROC at α̂ = 0, and so the "
        "order by AUROC never changes. What changes it are the corner cases of Eq. 11: positives that lie "
        "so close together at the top, or at the bottom, that α̂ does not fit there. The two rankings "
        "below were made so: model 2 has positives above all of the unlabeled, model 1 below all of them."
    )
    columns = ["", "α̂ = 0, paper", "α̂ = 0, ours", "α̂ = 0.1, paper", "α̂ = 0.1, Eq. 11"]
    columns += ["α̂ = 0.1, formula", "most that Eq. 11 can give", "largest α not refuted"]
    rows = [
        [
            each["model"],
            each["paper"][0],
            each["tables"][0],
            each["paper"][1],
            each["tables"][1],
            each["formula"],
            each["highest"],
            each["upper"],
        ]
        for each in cell["models"]
    ]
    out.table(columns, rows, "AUROC.", csv="figure-4")
    out.figure(
        claesen_figures.models(), "figure-4", "Left: ranks of the known positives. Right: ROC by Eq. 11."
    )
    refuted = [each["model"] for each in cell["models"] if each["upper"] < cells.ALPHA_4]
    out.text(
        f"α̂ = 0.1 is refuted for: {', '.join(refuted) or 'neither'}. Where the corner cases change the "
        f"AUROC much, the data say that α̂ is wrong, or that the known positives are no random sample. No "
        f"ranking with AUROC 72.5% at α̂ = 0 has the paper's 75.5% at 0.1 by Eq. 11."
    )
    lines = []
    for metric, order in cell["compared"].items():
        for alpha, each in zip((0.0, cells.ALPHA_4), order, strict=True):
            lines.append([metric, alpha, *each["values"], *each["difference"]])
    said = "What ht.compare says of the two: first less second, with its 95% interval."
    out.table(
        ["metric", "α̂", "model 1", "model 2", "difference", "low", "high"],
        lines,
        said,
        csv="figure-4-compare",
    )


def _coverage(out: Page, results: Results) -> None:
    out.heading("Do the bands hold?")
    out.text(
        "The share of fresh rankings (two normal classes, 10,000 latent negatives, α̂ the realised share) "
        "in which the realised rank CDF of the latent positives lies within the 95% band at every "
        "threshold. A band for the population's CDF leaves out the noise of the latent positives "
        "themselves, which is the larger the fewer they are; a pointwise one fails somewhere nearly "
        "always."
    )
    blocks: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for key, each in results.items():
        if key.startswith("coverage-"):
            blocks.setdefault((each["n_known"], each["n_latent"]), []).append(each)
    columns = ["known / latent positives", "runs"]
    columns += [f"{name}: {what}" for name in SAID.values() for what in ("band", "AUROC", "width")]
    rows = []
    for (known, latent), each in blocks.items():
        whole = cells.joined(each)
        row: list[Any] = [f"{known:,} / {latent:,}", whole["runs"]]
        for band in SAID:
            own = whole["counts"][band]
            row += [own["band"] / whole["runs"], own["area"] / whole["runs"], own["width"] / own["made"]]
        rows.append(row)
    caption = (
        "Band: the curve inside at every threshold. AUROC: the realised one inside. Width: mean, of the band."
    )
    out.table(columns, rows, caption, csv="coverage")


def _yes(what: bool) -> str:
    return "yes" if what else "no"
