"""The page on binomial process modeling: what the paper reports beside what comes out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from halftruth_papers.bpm import figures as bpm_figures
from halftruth_papers.bpm import tables
from halftruth_papers.bpm.settings import (
    AS_RELEASED,
    BINNINGS,
    COLUMNS,
    COMPARED,
    KINDS,
    METHODS,
    N_BINS,
    N_CURVE,
    PAPER_CLOSEST,
    PAPER_CURVE,
    RELEASED_SCORES,
    SAID,
    processes,
    reported,
)
from halftruth_papers.bpm.tables import HOW
from halftruth_papers.known_files import VARIABLE
from halftruth_papers.logits import RESNET, SOURCES
from halftruth_papers.page import Page
from halftruth_papers.reproduction import Results

WHERE = {"grid": "at even scores", "scores": "over the law of the scores"}
PAPER_GAIN = 50.15
"""What Section 5.3 says of Table 1."""
BOUNDED = "KS and smECE do not pass the TCE in the population, and are not meant to estimate it"

SHORT = dict(zip(SOURCES, ("resnet", "lenet", "verified"), strict=True))
"""Names of files."""


def remarks(networks: Mapping[str, object], *, quick: bool) -> list[str]:
    """What the reader must know of this run."""
    notes = []
    if quick:
        notes.append("This is a quick run: few repeats. Its figures are rough.")
    missing = [name for name in SOURCES if name not in networks]
    if missing:
        files = ", ".join(f"{name}.npz" for name in missing)
        left_out = (
            "Figure 1(a) and Table 1 are left out" if RESNET in missing else "their tables are left out"
        )
        notes.append(f"Not found: {files}; {left_out}. Name the folder, or let {VARIABLE} name it.")
    return notes


def page(results: Results, notes: Sequence[str] = ()) -> Page:
    """The whole page, from the results of a run."""
    out = Page("Confidence calibration based on binomial process modeling")
    out.text(
        "Dong, Jiang, Pan and Yu (2025), done again. All errors are in percent, 100 times the paper's. TCE "
        "is the true calibration error E|P(Y = 1 | s) − s|. TCE_bpm fits a curve of three parameters to the "
        "means of many binnings (Algorithm 1), and integrates its distance from s over a Beta law with the "
        "moments of the scores (Algorithm 2). The authors' released code differs from Algorithm 1: bins "
        "count alike whatever they hold, and nothing keeps the curve from falling. It is shown beside, as "
        "“code”."
    )
    out.text(
        f"ECE width and ECE mass have {N_BINS} bins of equal width or mass; debiased: equal mass, less what "
        f"noise within bins adds (Kumar's); debiased, ours: what halftruth does by itself, which from labels "
        f"is the same with its own number of bins, and from positives and unlabeled the error to be expected "
        f"if the gaps of the bins are a smooth signal with noise. LS-ECE is logit-smoothed. TCE_bpm, "
        f"empirical, integrates over the scores as they came, not over a Beta law."
    )
    for note in notes:
        out.text(note)
    if RESNET in tables.networks(results):
        _real(out, results)
    _curves(out, results)
    _metrics(out, results)
    for network in tables.networks(results):
        _table(out, results, network)
    return out


def _real(out: Page, results: Results) -> None:
    out.heading("Figure 1(a): curves of real networks")
    names = tables.networks(results)
    inside = "; ".join(
        f"{results[f'about-{name}']['title']} {100 * share['grid']:.0f}% and {100 * share['scores']:.0f}%"
        for name in names
        for share in [results[f"real-{name}"]["inside"]]
    )
    out.text(
        f"Top-label confidences on CIFAR-10, against the share of hits. Paper, ResNet-110: the curve always "
        f"lies within the range of histograms of {BINNINGS[0]} to {BINNINGS[-1]} bins. Here it does in these "
        f"shares of 50 even scores, and of the rows: {inside}. Where there are no rows, all curves are "
        f"extrapolations, and that of the released code may fall."
    )
    estimates = {results[f"about-{name}"]["title"]: results[f"real-{name}"] for name in names}
    out.figure(
        bpm_figures.curves(estimates), "figure-1a", "Estimated calibration curves on the rows to judge by."
    )


def _curves(out: Page, results: Results) -> None:
    out.heading("Figure 1(b): estimated curves and the true ones")
    errors = tables.curve_errors(results, "labeled")
    repeats = len(errors["D1"]["bpm"]["grid"])
    a1, a2 = RELEASED_SCORES
    out.text(
        f"{N_CURVE:,} rows from each true distribution, {repeats} repeats (the paper shows one). From "
        f"positives and unlabeled: {N_CURVE:,} known positives and as many unlabeled rows. Mean absolute "
        f"error at 50 even scores from .01 to .99, and over the law of the scores, which is what a user "
        f"meets. The paper does not say in its main text over what it averages. Where the released code "
        f"draws from D1's curve, its scores are Beta({a1}, {a2}), not those of D1, which lie nearly all "
        f"above one half: the last distribution, “{tables.name_of(AS_RELEASED)}”."
    )
    caption = "Mean absolute error at 50 even scores: mean and standard deviation over the repeats, in %."
    out.table(*tables.curve_table(results, "grid"), caption, csv="figure-1b-even")
    caption = "Mean absolute error over the law of the scores, in %."
    out.table(*tables.curve_table(results, "scores"), caption, csv="figure-1b-scores")
    out.text(_said_of_curves(errors))
    for kind, label in KINDS.items():
        first = {name: results[f"curves-{kind}-{name}-0"]["first"] for name in processes()}
        figure = bpm_figures.curves({tables.name_of(name): curve for name, curve in first.items()})
        out.figure(figure, f"figure-1b-{kind}", f"Curves from the first sample, {label}.")


def _said_of_curves(found: Mapping[str, Any]) -> str:
    means = {
        (process, where): tuple(float(found[process][name][where].mean()) for name in PAPER_CURVE)
        for process in ("D1", AS_RELEASED)
        for where in WHERE
    }
    theirs = tuple(100 * value for value in PAPER_CURVE.values())
    ours = "; ".join(
        f"{tables.name_of(process)}, {WHERE[where]}, {bpm:.2f} against {histograms:.2f}"
        for (process, where), (bpm, histograms) in means.items()
    )
    process, where = min(means, key=lambda key: float(np.abs(np.log(np.divide(means[key], theirs))).sum()))
    nearer = ", ".join(
        f"{tables.name_of(name)} {100 * np.mean(by_curve['bpm']['scores'] < by_curve['beta']['scores']):.0f}%"
        for name, by_curve in found.items()
    )
    return (
        f"BPM against the mean of the histograms, full labels. Paper, D1: {theirs[0]:.2f} against "
        f"{theirs[1]:.2f}. Ours: {ours}. Nearest to the paper's: {tables.name_of(process)}, {WHERE[where]}. "
        f"The family of curves is that of beta calibration, which is fitted to the rows by log loss, without "
        f"bins. BPM is nearer to the truth than beta calibration, {WHERE['scores']}, in this share of the "
        f"repeats: {nearer}."
    )


def _metrics(out: Page, results: Results) -> None:
    for kind, label in KINDS.items():
        out.heading(f"Figure 1(c): metrics against the true calibration error, {label}")
        values = tables.metric_values(results, kind)
        repeats = len(next(iter(values["D1"].values()))["bpm"])
        out.text(_sampled(kind, repeats))
        columns, rows = tables.overview(results, kind)
        caption = (
            f"Root mean square distance from the true TCE over all sizes, in %; how often each is the "
            f"closest of the paper's {len(COMPARED)} metrics, and of all. {BOUNDED}."
        )
        out.table(columns, rows, caption, csv=f"figure-1c-{kind}")
        out.text(_said_of_metrics(results, kind))
        figure = bpm_figures.means(values)
        out.figure(
            figure,
            f"figure-1c-{kind}-means",
            f"Means over the repeats, {label}. The axes end at {bpm_figures.HIGHEST} times the TCE.",
        )
        figure = bpm_figures.distances(values)
        out.figure(figure, f"figure-1c-{kind}-rmse", f"Root mean square distance from the TCE, {label}.")
        for statistic, of in (("mean", "Means"), ("sd", "Standard deviations")):
            table = tables.by_size(results, kind, statistic)
            out.table(*table, f"{of} over the repeats, in %.", csv=f"figure-1c-{kind}-{statistic}")


def _sampled(kind: str, repeats: int) -> str:
    if kind == "labeled":
        won, sizes = PAPER_CLOSEST
        return (
            f"n labeled rows, {repeats} repeats; binned errors have {N_BINS} bins. In the paper TCE_bpm is "
            f"the closest of {len(COMPARED)} metrics at {won} of {sizes} sizes from 500 to 5,000, on D1. How "
            f"many draws that averages it does not say in its main text; the released code takes 100, with "
            f"the scores of “{tables.name_of(AS_RELEASED)}”."
        )
    return (
        f"The same from n known positives and n unlabeled rows, the share of positives known, {repeats} "
        f"repeats. Every metric and curve here is the same functional of the masses of all and of the "
        f"positives, so that nothing else changes."
    )


def _said_of_metrics(results: Results, kind: str) -> str:
    values = tables.metric_values(results, kind)
    mean = {
        name: np.mean([tables.rmse(tables.pooled(sizes), name) for sizes in values.values()]) for name in SAID
    }
    order = sorted(mean, key=lambda name: float(np.nan_to_num(mean[name], nan=np.inf)))
    best = ", ".join(f"{SAID[name]} {mean[name]:.2f}" for name in order[:3])
    on_one = "; ".join(
        f"{tables.name_of(process)}, {100 * tables.closest(tables.pooled(sizes), COMPARED)['bpm']:.0f}% of "
        f"the samples, and by the means over the repeats {tables.sizes_won(sizes, 'bpm')} of "
        f"{len(sizes)} sizes"
        for process in ("D1", AS_RELEASED)
        for sizes in [values[process]]
    )
    return (
        f"Nearest to the truth by the mean of the RMSE over the distributions: {best}. TCE_bpm is number "
        f"{order.index('bpm') + 1} of {len(order)} with {mean['bpm']:.2f}. Where it is the closest of the "
        f"paper's {len(COMPARED)}: {on_one}."
    )


def _table(out: Page, results: Results, network: str) -> None:
    about, is_paper = results[f"about-{network}"], network == RESNET
    out.heading(f"{'Table 1' if is_paper else 'The same table'}: {about['title']} on CIFAR-10")
    learn, judge = about["learn"], about["judge"]
    out.text(
        f"{learn['n']:,} rows to learn from (hits {100 * learn['hit']:.2f}%, mean confidence "
        f"{100 * learn['confidence']:.2f}%), {judge['n']:,} to judge by ({100 * judge['hit']:.2f}%, "
        f"{100 * judge['confidence']:.2f}%). All calibrators see the top-label confidence alone, but for the "
        f"first temperature, which divides the logits of all classes."
    )
    if is_paper:
        before = results[f"table-held-{network}"]["rows"]["uncalibrated"]
        out.text(
            f"The paper's ECE has {N_BINS} bins of ⌊n/{N_BINS}⌋ rows, and the rows left over are dropped; "
            f"that is the first table, ECE mass in the others drops none. Without calibration nearly all "
            f"differences have one sign, so that KS ({100 * before['ks']:.3f}) and every metric that keeps "
            f"their mass agree; the paper's smECE is lower."
        )
        line = ["uncalibrated", 100 * before["dropped"], 100 * reported()["uncalibrated"]["ece"]]
        caption = "ECE as in the paper, in %."
        out.table(["", "ours", "paper"], [line], caption, csv="table-1-definition")
    for how, label in HOW.items():
        caption = f"Errors in %, calibrators {label}."
        before = tables.table_1(results, network, how, paper=is_paper and how != "pu")
        out.table(*before, caption, csv=f"table-1-{how}-{SHORT[network]}")
    drawn = results[f"calibrated-{network}"]["draws"]
    caption = f"If confidences were right: hits drawn from what BPM gives, {drawn} times. Errors in %."
    out.table(
        *tables.calibrated_table(results, network, paper=is_paper),
        caption,
        csv=f"calibrated-{SHORT[network]}",
    )
    if is_paper:
        out.text(_said_of_table(results, network))


def _said_of_table(results: Results, network: str) -> str:
    theirs = reported()["bpm"]
    ours = {
        f"{METHODS[method]}, {label}": results[f"table-{how}-{network}"]["rows"][method]
        for how, label in HOW.items()
        for method in ("bpm", "bpm-code")
        if how != "pu"
    }
    nearest = min(ours, key=lambda key: sum(abs(np.log(ours[key][name] / theirs[name])) for name in COLUMNS))
    values = results[f"calibrated-{network}"]["values"]
    lower = [SAID[name] for name in COLUMNS if theirs[name] < np.quantile(values[name], 0.05)]
    least = (
        f"A model whose confidences are right scores that low in fewer than 5% of the draws by "
        f"{', '.join(lower)}."
        if lower
        else "A model whose confidences are right can score as low."
    )
    listed = "; ".join(f"{key}: {_list(row)}" for key, row in ours.items())
    return (
        f"In the order of the columns, the paper's BPM row: {_list(theirs)}. Ours: {listed}. Nearest to the "
        f"paper's: {nearest}. {least} The paper does not say in its main text which rows its calibrators "
        f"learned from. It says that the errors of BPM are {PAPER_GAIN}% less on average than those of the "
        f"second place; its table gives {_gain():.1f}%."
    )


def _gain() -> float:
    """By how much BPM is below the best of the others in the paper's table, mean over the metrics, in %."""
    printed = reported()
    best = {name: min(row[name] for method, row in printed.items() if method != "bpm") for name in COLUMNS}
    return float(np.mean([100 * (1 - printed["bpm"][name] / best[name]) for name in COLUMNS]))


def _list(row: Mapping[str, float]) -> str:
    return ", ".join(f"{100 * row[name]:.3f}" for name in COLUMNS)
