"""The page of the PU-ECE paper: what it says beside what comes out."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from halftruth._errors import arg
from halftruth_papers.known_files import VARIABLE
from halftruth_papers.page import Cell, Page
from halftruth_papers.pu_ece import figures, tables, verdicts
from halftruth_papers.pu_ece.network_page import networks
from halftruth_papers.pu_ece.recipes import RECIPES, REPORTED
from halftruth_papers.pu_ece.settings import (
    BINNINGS,
    BOTH_GROW,
    CALIBRATED_SLOPES,
    CIFAR,
    LABELED,
    LIMITS,
    PLAIN,
    RATIOS,
    STEEPEST_ALLOWED,
    SYNTHETIC,
    TITLES,
    WORSE,
    Plan,
    percent,
    perturbed,
)
from halftruth_papers.pu_ece.tables import line
from halftruth_papers.pu_ece.training import chosen_ece
from halftruth_papers.pu_ece.words import capital, listed, signed
from halftruth_papers.reproduction import Results

FIRST = "mass"
"""The binning of the paper's main figures."""


def remarks(sources: Collection[str], left_out: Collection[str], *, quick: bool) -> list[str]:
    """What the reader must know of this run."""
    notes = []
    if quick:
        notes.append("This is a quick run: few trials, sizes and passes. Its figures are rough.")
    # CIFAR-10 is a gift to those who have it.
    missing = [TITLES[name] for name in RECIPES if name not in sources and name != CIFAR]
    if missing:
        notes.append(
            f"Not found, and left out: the data of {listed(missing)}. Name the folder of the data sets, or "
            f"let {VARIABLE} name it."
        )
    if left_out and set(left_out) != {CIFAR}:
        names = listed([TITLES[name] for name in left_out])
        notes.append(f"Left out: {names}. Networks need PyTorch: pip install 'halftruth[torch]'.")
    elif left_out:
        notes.append(
            f"CIFAR-10 is left out: without CUDA its network takes hours. {arg('device', 'cpu')} trains it "
            f"nonetheless."
        )
    return notes


def page(results: Results, plan: Plan, notes: Sequence[str] = ()) -> Page:
    """The whole page, from the results of a run."""
    out = Page("PU-ECE: calibration error from positives and unlabeled data")
    out.text(
        "The experiments of Kiryo, Futami and Sugiyama, “Estimating Expected Calibration Error for "
        "Positive-Unlabeled Learning”, done again. TCE is the true calibration error, known here "
        "exactly; ECE its estimate by bins with full labels; PU-ECE that from n_P positives, n_U unlabeled "
        "rows and the prior π. Bias is the mean of |estimate − TCE|, as in the paper; in a statistician's "
        "words that is the mean absolute error. A size of ∞ means that the scores' law was integrated. The "
        "paper shows its results in figures only and prints no numbers for them, so that what it says in "
        "words stands beside our numbers."
    )
    for note in notes:
        out.text(note)
    _compared(out, results)
    _models(out, results, plan)
    networks(out, results)
    _convergence(out, results)
    _finite_positives(out, results)
    _wrong_priors(out, results)
    _debiased(out, results)
    return out


def _compared(out: Page, results: Results) -> None:
    out.heading("Paper and ours")
    columns = ["", "slope", "PU-ECE ÷ ECE", "B of PU-ECE | ECE", *(f"n_P = {n}" for n in LIMITS)]
    columns += [f"π {percent(ratio)}" for ratio in RATIOS]
    paper: list[Cell] = ["paper", "−1/3 (dashed)", "comparable", None, *("nears 1" for _ in LIMITS)]
    paper += ["near 1" if ratio > 1 else "below 1" for ratio in RATIOS]
    rows = [paper, *(_ours(results, model) for model in tables.models(results))]
    caption = (
        "Figure 1: the slope of log bias against log N, over all lines and both binnings; the bias of PU-ECE "
        "(N, 10N) over that of ECE. Figure 2, n_P: bias over that with n_U = ∞. Figure 3, π: bias with a "
        "prior so wrong over the bound of Theorem 2 (near 1 the paper says of synthetic data). Ratios are at "
        "the largest N, with bins of uniform mass. What these hide hangs on B (see Figure 1): "
        "ratios of estimates with different B are to be read with that."
    )
    out.table(columns, rows, caption, csv="paper-and-ours")


def _ours(results: Results, model: str) -> list[Cell]:
    low, high = tables.steepness(results, model)
    bins = [tables.bins_at_end(results, model, (design, PLAIN)) for design in (BOTH_GROW, LABELED)]
    numbers = [
        *(_beside_limit(results, model, n) for n in LIMITS),
        *(_beside_bound(results, model, r) for r in RATIOS),
    ]
    return [
        TITLES[model],
        f"{signed(low)} to {signed(high)}",
        f"{_beside_labels(results, model):.2f}",
        "{} | {}".format(*bins),
        *(f"{number:.2f}" for number in numbers),
    ]


def _beside_labels(results: Results, model: str) -> float:
    pu, labeled = (line(results, model, FIRST, (design, PLAIN)) for design in (BOTH_GROW, LABELED))
    return float(pu.mean[-1] / labeled.mean[-1])


def _beside_limit(results: Results, model: str, n_positive: int) -> float:
    end = line(results, model, FIRST, (f"{n_positive}-n", PLAIN))
    return tables.beside_limit(end, tables.limit(results, model, FIRST, n_positive))[0]


def _beside_bound(results: Results, model: str, ratio: float) -> float:
    wrong = line(results, model, FIRST, (BOTH_GROW, perturbed(ratio)))
    return float(wrong.mean[-1] / (abs(ratio - 1) * tables.about(results, model)["prior"]))


def _models(out: Page, results: Results, plan: Plan) -> None:
    out.heading("The models")
    out.text(
        f"Synthetic: X given Y is normal around ±1, so that P(Y=1 | x) = sigmoid(2x), and the score is "
        f"sigmoid(β₀ + β₁x). The third setting is ours: its score is the probability itself. {plan.trials} "
        f"trials (paper: 100) for each N."
    )
    real = [TITLES[model] for model in tables.models(results) if model in RECIPES]
    if real:
        out.text(
            f"{listed(real)}: of the networks that learned by nnPU the one of median ECE (see The networks). "
            f"As in the paper, mixtures of normals were fitted to its logits in each class (1 to 10 "
            f"components, by BIC; here on the test rows), and these mixtures are the population from which "
            f"all samples are drawn."
        )
    rows: list[list[Cell]] = []
    for model in tables.models(results):
        about = tables.about(results, model)
        paper, ours = _made(model, about["components"])
        of_network = chosen_ece(results, model)
        rows.append([TITLES[model], paper, ours, about["prior"], f"{about['truth']:.5f}", of_network])
    caption = (
        "ECE: of the network itself, on the test rows with their labels, in as many bins as PU-ECE takes "
        "there. The mixture is near it, not it."
    )
    columns = ["model", "paper", "ours", "π", "TCE", "ECE"]
    out.table(columns, rows, caption if real else None, csv="models")


def _made(model: str, components: Sequence[int] | None) -> tuple[str, str]:
    """What a model is made of, in the paper and here."""
    if components is None:
        beta = "β = ({:g}, {:g})".format(*SYNTHETIC[model]).replace("-", "−")
        return "none" if SYNTHETIC[model] == (0.0, 2.0) else beta, beta
    ours = "{} + {} components".format(*components)
    if model not in REPORTED:
        return "none", ours
    reported = REPORTED[model]
    paper = "{} + {} components, π = {:g}".format(*reported.components, reported.prior)
    return paper if reported.data == TITLES[model] else f"{reported.data}: {paper}", ours


def _convergence(out: Page, results: Results) -> None:
    out.heading("Figure 1: the bias falls with N")
    low, high = CALIBRATED_SLOPES
    out.text(
        "The paper's dashed line, N^(−1/3), is an upper bound: Corollary 1 says that the bias falls at least "
        "so fast. A perfectly calibrated model attains it. There every gap in a bin is noise, B gaps of size "
        "1/√(BN) add up to √(B/N), and B = N^(1/3) makes that N^(−1/3). Where a model is wrong, most "
        "gaps have a sign that the noise cannot turn; their noise cancels in the sum, and the bias falls "
        "faster. Where the gap turns its sign within a bin, the bin hides a part of it: such a bias, below "
        "0, goes only as bins become finer there. Where all gaps have one sign, as in a model that learned "
        "for more positives than there are, the error is the mean score less π, known positives add nothing "
        "to it, and with n_U = ∞ hardly any bias is left."
    )
    sentences = []
    for model in tables.models(results):
        must = f"from {signed(low)} to {signed(high)}"
        if not tables.exact(results, model):
            must = f"at most {signed(STEEPEST_ALLOWED)}"
        sentences.append(f"{TITLES[model]} ({must}): {verdicts.steep(results, model)}")
    out.text(f"Is every slope as it must be? {capital('; '.join(sentences))}.")
    for binning, name in BINNINGS.items():
        caption = (
            f"Bins of {name}. Slope of log bias against log N over all N; ±: 1.96 standard errors, of the "
            f"draws alone; off the line: how many standard errors the points are from it, about 1 where it "
            f"is straight. At the largest N: bins alone, the error that B bins show of the population "
            f"without noise − TCE; signed, mean estimate − TCE; bias, mean |estimate − TCE|."
        )
        out.table(*tables.convergence(results, binning), caption, csv=f"figure-1-{binning}")
    _bins(out, results)
    for binning, name in BINNINGS.items():
        figure = figures.convergence(results, binning)
        caption = f"Bins of {name}. Shaded: 90% of the trials. Dashed: the rate of the upper bound."
        out.figure(figure, f"figure-1-{binning}", caption)


def _bins(out: Page, results: Results) -> None:
    wrong = [model for model in tables.models(results) if not tables.exact(results, model)]
    out.text(
        f"What bins hide. A bin in which the gap turns its sign hides the gaps on both sides of it, and "
        f"scores near 0 and 1 make bins of uniform mass wide between them. Whether an edge happens to be "
        f"there hangs on B, often on whether it is odd, so that lines go up and down as B grows with N. "
        f"Without any noise bins of uniform mass show of TCE, from B = {verdicts.FEW} on: "
        f"{'; '.join(verdicts.hidden(results, model) for model in wrong)}."
    )
    caption = "Binned error of the population itself: its law was integrated, nothing drawn."
    out.table(*tables.odd_and_even(results), caption, csv="figure-1-bins")


def _finite_positives(out: Page, results: Results) -> None:
    out.heading("Figure 2: few positives, more and more unlabeled rows")
    out.text(
        f"With n_P fixed the bias goes to that of n_U = ∞ (dotted), not to 0: unlabeled rows cannot make up "
        f"for positives. Each dotted line is where the line n_P = N, n_U = ∞ stands at N = n_P. Where all "
        f"gaps have one sign that line is near 0 at once, and what is seen at the largest N is the noise of "
        f"the unlabeled rows. Nor has B got to that of the limit. {verdicts.ended(results)}"
    )
    caption = "Bias at the largest N and in the limit; ÷: the one over the other, ± 1.96 standard errors."
    out.table(*tables.finite_positives(results), caption, csv="figure-2")
    for binning, name in BINNINGS.items():
        figure = figures.finite_positives(results, binning)
        out.figure(figure, f"figure-2-{binning}", f"Bins of {name}. Shaded: 90% of the trials.")


def _wrong_priors(out: Page, results: Results) -> None:
    out.heading("Figure 3: a prior that is wrong")
    out.text(
        f"n_P = N, n_U = 10N (which sizes the paper took, the text at hand, without its appendices, does not "
        f"say), bins as for the true prior. By Theorem 2 a prior off by Δ moves the estimate by at most Δ, "
        f"whatever the data. The most seen in any trial is {tables.most_moved(results):.4f} of that. The "
        f"bias itself can be larger than the bound where N is small, and smaller where two errors cancel."
    )
    for binning, name in BINNINGS.items():
        caption = f"Bins of {name}, by the error of the prior, at the largest N. ÷ bound: over |π̂ − π|."
        out.table(*tables.wrong_priors(results, binning), caption, csv=f"figure-3-{binning}")
    for binning, name in BINNINGS.items():
        figure = figures.wrong_priors(results, binning)
        out.figure(figure, f"figure-3-{binning}", f"Bins of {name}. Shaded: the standard error.")


def _debiased(out: Page, results: Results) -> None:
    out.heading("Ours: debiased")
    out.text(
        "ht.calibration_error(evidence, debias=True): from positives and unlabeled rows the error to be "
        "expected if the gaps along the score are smooth and the rest is noise; with labels the estimate "
        "less what noise adds in each bin. n_P = N, n_U = 10N; with labels n = N."
    )
    for binning, name in BINNINGS.items():
        caption = f"Bins of {name}. Root mean square errors by N, and the second over the first (÷)."
        out.table(*tables.debiased(results, binning), caption, csv=f"debiased-{binning}")
    worse = verdicts.not_better(results)
    out.text(
        f"The debiased estimate is the worse one, with an RMSE more than {WORSE:g} times that of PU-ECE, "
        f"for: {'; '.join(worse) if worse else 'none'}."
    )
    for binning, name in BINNINGS.items():
        figure = figures.debiased(results, binning)
        out.figure(figure, f"debiased-{binning}", f"Bins of {name}. Shaded: 90% of the trials.")
