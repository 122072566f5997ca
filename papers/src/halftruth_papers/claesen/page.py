"""The page of Claesen et al.: what the paper reports beside what comes out, by its bands and by ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from halftruth.figures._rank_bound_figures import curve_bounds
from halftruth.metrics._areas import pr_auc
from halftruth.metrics._curves import roc_curve
from halftruth_papers.claesen import experiments, models, settings, tables
from halftruth_papers.claesen import figures as claesen_figures
from halftruth_papers.claesen.rankings import AREA, draw
from halftruth_papers.claesen.settings import METHODS, THEIRS
from halftruth_papers.claesen.tables import SAID
from halftruth_papers.datasets import DatasetFile
from halftruth_papers.known_files import VARIABLE
from halftruth_papers.page import Page
from halftruth_papers.published import COVTYPE
from halftruth_papers.reproduction import Results

RATIOS_3 = {"none": 0.0, "half": 0.5, "true": 1.0, "1.5 times": 1.5}
"""Of the α that is assumed in Figure 3 to the true one."""


def remarks(covertype: DatasetFile | None, *, quick: bool) -> list[str]:
    """What the reader must know of this run."""
    notes = []
    if quick:
        notes.append("This is a quick run: few repeats and resamples. Its figures are rough.")
    if covertype is None:
        notes.append(
            f"The covertype rows were not found, and Figure 5 is left out. Name the folder of {COVTYPE.file} "
            f"or {COVTYPE.partial}, or let {VARIABLE} name it."
        )
    elif not covertype.complete:
        notes.append(
            f"Of covertype only a part of the rows is at hand: {len(covertype.y):,} of {COVTYPE.n:,}."
        )
    return notes


def page(results: Results, n_resamples: int, seed: int, notes: Sequence[str] = ()) -> Page:
    """The whole page, from the results of a run."""
    out = Page("Assessing binary classifiers using only positive and unlabeled data")
    out.text(
        "Claesen, Davis, De Smet and De Moor (2015), done again. The paper writes β for the share of "
        "positives among the unlabeled; here it is α, and α̂ is what was assumed. Theirs: pointwise 95% "
        "limits of the bootstrapped rank CDF of the known positives. Ours: limits that hold the realised "
        "ranks of the latent positives at all thresholds together with probability 95%, and that the "
        "unlabeled rows can fill. Areas and shares are numbers from 0 to 1, also where the paper prints %."
    )
    for note in notes:
        out.text(note)
    if "covtype-scores" in results:
        _covtype(out, results, n_resamples)
    rows = tables.of_kind(results, "table")
    for whose in tables.TABLES:
        _areas(out, rows, whose)
    _growing(out, results)
    _assumed(out, n_resamples, seed)
    _models(out, results["models"])
    _coverage(out, results)
    return out


def _covtype(out: Page, results: Results, n_resamples: int) -> None:
    out.heading("Figure 5: covtype")
    ranking = experiments.covtype_ranking(results["covtype-scores"])
    true, area_pr = ranking.area(), pr_auc(experiments.truth_of(ranking))
    summaries = [results[f"covtype-{band}"] for band in METHODS]
    out.text(
        f"{len(ranking.known):,} known positives, {len(ranking.unlabeled):,} unlabeled, α = "
        f"{ranking.alpha:.3f}. The paper has a model of its own; ours is gradient boosting of known "
        f"positives against the others. True AUROC {true:.4f}, true AUC-PR {area_pr:.4f}. The largest α "
        f"that the scores do not refute at 95%: {summaries[0]['upper']:.3f}."
    )
    columns = ["α̂", "band", "AUROC low", "AUROC high", "AUC-PR low", "AUC-PR high"]
    columns += ["true ROC inside", "holds both areas", "α̂ refuted"]
    rows = [
        [
            case["case"],
            METHODS[summary["band"]],
            *case["roc"],
            *case["pr"],
            case["inside"],
            _yes(case["roc"][0] <= true <= case["roc"][1] and case["pr"][0] <= area_pr <= case["pr"][1]),
            _yes(case["refuted"]),
        ]
        for summary in summaries
        for case in summary["cases"]
    ]
    out.table(columns, rows, "True ROC inside: part of its points, by FPR.", csv="covtype")
    sentences = [
        f"{SAID[summary['band']]}: {_yes(summary['holds'])}, mean width {summary['width']:.4f}"
        for summary in summaries
    ]
    out.text(
        f"Does the rank CDF of the latent positives lie within the band at every rank? Paper, Figure 5a: "
        f"yes. Here, {'; '.join(sentences)}."
    )
    bounds = {
        band: {of: experiments.covtype_bounds(ranking, band, of, n_resamples) for of in ("roc", "pr")}
        for band in METHODS
    }
    out.figure(
        claesen_figures.curves(ranking, bounds), "figure-5", "Above: theirs. Below: ours. Dots: the truth."
    )
    known = {band: next(iter(bounds[band]["roc"].values())) for band in METHODS}
    caption = "The rank CDF of the latent positives and the bands, less that of the known positives."
    out.figure(claesen_figures.bands(ranking, known), "figure-5-band", caption)


def _areas(out: Page, rows: list[dict[str, Any]], which: str) -> None:
    number = tables.TABLES[which]
    name = "known positives" if number == 1 else "known positives and known negatives"
    out.heading(f"Table {number}: bounds of the AUROC from {name}")
    passage = (
        f"One simulated ranking of {settings.N_POSITIVE:,} positives and {settings.N_NEGATIVE:,} negatives, "
        f"two normal classes, true AUROC {rows[0]['truth']:.4f} (paper: {AREA}). |P_L|/|P| is the share of "
        f"the positives that are known, |N_L|/|N| that of the negatives. The paper shows bars on an axis "
        f"from 0.67 to 0.87, no numbers."
    )
    if number == 2:
        passage += (
            " Theirs: the narrower of the two intervals, each at 95%, which looks twice. Ours: both bands at "
            "97.5%, so that together they hold at 95%."
        )
    out.text(passage)
    empty = "–: no set of latent positives fits the band; the data refute α̂."
    out.table(*tables.areas(rows, which), empty, csv=f"table-{number}")
    why = tables.refuted(rows, which)
    out.text(f"Refuted, by |P_L|/|P| and |N_L|/|N|: {'; '.join(why)}." if why else "No α̂ is refuted.")
    passage = "; ".join(_widths(rows, which, method) for method in METHODS)
    out.text(
        f"With α̂ = α, {passage}. Rows with one share of known positives rest on one draw of them, so that "
        f"they hold or fail together."
    )
    out.figure(
        claesen_figures.bars(rows, which), f"table-{number}-bars", "Bars: bounds. Dots: the true AUROC."
    )


def _widths(rows: list[dict[str, Any]], which: str, method: str) -> str:
    width, n_holding = tables.widths(rows, which, method)
    return f"{METHODS[method]}: mean width {width:.4f}, {n_holding} of {len(rows)} hold the true AUROC"


def _growing(out: Page, results: Results) -> None:
    out.heading("Figure 2: more known positives")
    ends = tables.growing(results)
    repeats = len(next(iter(ends.values()))[0])
    out.text(
        f"{settings.N_UNLABELED_2:,} unlabeled, α̂ = α = {settings.ALPHA_2:g}, no known negatives; {repeats} "
        f"repeats (paper: 200). The paper does not say how rankings were simulated; ours are two normal "
        f"classes with AUROC {AREA}. For one number the interval of ht.evaluate is narrower: it is for the "
        f"AUROC of the law behind the rows, and need not hold at every threshold."
    )
    out.table(*tables.growing_table(ends), "Means over the repeats.", csv="figure-2")
    caption = "Mean bounds, and where 95% of the repeats lie (shaded)."
    out.figure(claesen_figures.growing(ends), "figure-2", caption)


def _assumed(out: Page, n_resamples: int, seed: int) -> None:
    out.heading("Figure 3: what is assumed of α")
    n_unlabeled, alpha = settings.N_UNLABELED_3, settings.ALPHA_3
    n_latent = round(alpha * n_unlabeled)
    ranking = draw(np.random.default_rng([seed, 5]), settings.N_KNOWN_3, n_latent, n_unlabeled - n_latent)
    out.text(
        f"{settings.N_KNOWN_3:,} known positives, {n_unlabeled:,} unlabeled, α = {alpha:g}, true AUROC "
        f"{ranking.area():.4f}. An α̂ too low gives a curve too low, one too high a curve too high, as long "
        f"as the ranking is better than chance."
    )
    bounds = {
        name: experiments.of_curve(ranking.evidence(ratio * alpha), "roc", THEIRS, n_resamples)
        for name, ratio in RATIOS_3.items()
    }
    rows = [[RATIOS_3[name] * alpha, *one_bounds.area] for name, one_bounds in bounds.items()]
    out.table(["α̂", "AUROC low", "AUROC high"], rows, "By the paper's band.", csv="figure-3")
    figure = curve_bounds(bounds, roc_curve(experiments.truth_of(ranking)))
    out.figure(figure, "figure-3", "ROC bounds by what is assumed of α. Dots: the true curve.")


def _models(out: Page, cell: dict[str, Any]) -> None:
    out.heading("Figure 4: which model is better")
    at = f"α̂ = {models.ALPHA_4:g}"
    out.text(
        f"{models.N_KNOWN_4:,} known positives, {models.N_UNLABELED_4:,} unlabeled. The paper explains by "
        f"the derivatives of FPR and precision that the order by AUROC can change with α̂. But along the "
        f"curve they add up: the AUROC is (AUC_pu − α̂/2)/(1 − α̂) for every ranking, AUC_pu being the "
        f"AUROC at α̂ = 0, and so the order by AUROC never changes. What changes it are the corner cases of "
        f"Eq. 11: positives that lie so close together at the top, or at the bottom, that α̂ does not fit "
        f"there. The two rankings below were made so: model 2 has positives above all of the unlabeled, "
        f"model 1 below all of them."
    )
    columns = ["", "α̂ = 0, paper", "α̂ = 0, ours", f"{at}, paper", f"{at}, Eq. 11", f"{at}, formula"]
    columns += ["most that Eq. 11 can give", "largest α not refuted"]
    rows = []
    for model in cell["models"]:
        (none, some), (ours, eq_11) = model["paper"], model["tables"]
        rows.append(
            [model["model"], none, ours, some, eq_11, model["formula"], model["highest"], model["upper"]]
        )
    out.table(columns, rows, "AUROC.", csv="figure-4")
    out.figure(
        claesen_figures.models(), "figure-4", "Left: ranks of the known positives. Right: ROC by Eq. 11."
    )
    refuted = [model["model"] for model in cell["models"] if model["upper"] < models.ALPHA_4]
    first = cell["models"][0]
    beyond = f"No ranking with AUROC {first['paper'][0]:g} at α̂ = 0 has the paper's {first['paper'][1]:g}"
    out.text(
        f"{at} is refuted as too large for: {', '.join(refuted) or 'neither'}. Where the corner cases change "
        f"the AUROC much, the data say that α̂ is wrong, or that the known positives are no random sample. "
        f"{beyond if first['highest'] < first['paper'][1] else 'A ranking can have these areas'} at "
        f"{models.ALPHA_4:g} by Eq. 11."
    )
    _compared(out, cell["compared"])


def _compared(out: Page, rows: list[dict[str, Any]]) -> None:
    (_, first), (_, second), (_, both) = (rows[i : i + 2] for i in range(0, len(rows), 2))
    if both["flips"]:
        order = f"By {both['metric']} it flips where the table says."
    elif (first["difference"][0] > 0) != (second["difference"][0] > 0):
        order = (
            f"By {both['metric']} the order at α̂ = {first['alpha']} is not that at {second['alpha']}, but "
            f"the data refute α̂ before it flips."
        )
    else:
        order = f"By {both['metric']} it does not either."
    out.text(
        f"What ht.compare says of the two, for either α̂ and for all between them. It names the priors at "
        f"which the order flips, of those that the data do not refute. By roc_auc it never does. {order}"
    )
    lines = [
        [
            row["metric"],
            row["alpha"],
            *row["values"],
            *row["difference"],
            ", ".join(f"{prior:.3g}" for prior in row["flips"]) or "none",
        ]
        for row in rows
    ]
    columns = ["metric", "α̂", *models.PAPER_MODELS, "difference", "low", "high", "flips at π"]
    caption = "Difference: first less second, with its 95% interval."
    out.table(columns, lines, caption, csv="figure-4-compare")


def _coverage(out: Page, results: Results) -> None:
    out.heading("Do the bands hold?")
    out.text(
        f"The share of fresh rankings (two normal classes, {settings.N_NEGATIVE_HELD:,} latent negatives, α̂ "
        f"the realised share) in which the realised rank CDF of the latent positives lies within the 95% "
        f"band at every threshold. A band for the population's CDF leaves out the noise of the latent "
        f"positives themselves, which is the larger the fewer they are; a pointwise one fails somewhere "
        f"nearly always."
    )
    caption = (
        "Band: the curve inside at every threshold. AUROC: the realised one inside. Width: mean, of the band."
    )
    out.table(*tables.coverage_table(results), caption, csv="coverage")


def _yes(what: bool) -> str:
    return "yes" if what else "no"
