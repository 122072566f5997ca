"""The page of the PU-ECE paper: what it says beside what comes out."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from halftruth.reproduce import pu_ece_figures as figures
from halftruth.reproduce import pu_ece_tables as tables
from halftruth.reproduce.datasets import VARIABLE
from halftruth.reproduce.page import Cell, Page
from halftruth.reproduce.pu_ece_network_page import networks
from halftruth.reproduce.pu_ece_recipes import RECIPES, REPORTED
from halftruth.reproduce.pu_ece_settings import (
    BINNINGS,
    BOTH_GROW,
    CALIBRATED_SLOPES,
    CIFAR,
    LABELED,
    LIMITS,
    PLAIN,
    RATIOS,
    SHORT,
    STEEPEST_ALLOWED,
    SYNTHETIC,
    TITLES,
    Plan,
    percent,
    perturbed,
)
from halftruth.reproduce.pu_ece_tables import Results, line
from halftruth.reproduce.pu_ece_training import first_ece

FIRST = "mass"
"""The binning of the paper's main figures."""


def remarks(sources: Collection[str], left_out: Collection[str], *, quick: bool) -> list[str]:
    """What the reader must know of this run."""
    said = []
    if quick:
        said.append("This is a quick run: few trials, sizes and passes. Its figures are rough.")
    # CIFAR-10 is a gift to those who have it.
    missing = [TITLES[name] for name in RECIPES if name not in sources and name != CIFAR]
    if missing:
        said.append(
            f"Not found, and left out: the data of {_listed(missing)}. Name the folder of the data sets, or "
            f"let {VARIABLE} name it."
        )
    if left_out and set(left_out) != {CIFAR}:
        names = _listed([TITLES[name] for name in left_out])
        said.append(f"Left out: {names}. Networks need PyTorch: pip install 'halftruth[torch]'.")
    elif left_out:
        said.append(
            'CIFAR-10 is left out: without CUDA its network takes hours. device="cpu" trains it nonetheless.'
        )
    return said


def page(results: Results, plan: Plan, notes: Sequence[str] = ()) -> Page:
    """The whole page, from the results of a run."""
    out = Page("PU-ECE: calibration error from positives and unlabeled data")
    out.text(
        "The experiments of the PU-ECE paper, done again. TCE is the true calibration error, known here "
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
    every = tables.models(results)
    slopes = {model: tables.steepness(results, model) for model in every}
    rows: list[list[Cell]] = [
        [
            "Figure 1: slope of log bias against log N",
            "−1/3 (dashed line)",
            *(f"{_minus(low)} to {_minus(high)}" for low, high in slopes.values()),
        ],
        [
            "Figure 1: bias of PU-ECE (N, 10N) ÷ that of ECE",
            "comparable",
            *(f"{_beside_labels(results, model):.2f}" for model in every),
        ],
    ]
    rows += [
        [
            f"Figure 2: n_P = {n}, bias ÷ that with n_U = ∞",
            "nears 1",
            *(f"{_beside_limit(results, model, n):.2f}" for model in every),
        ]
        for n in LIMITS
    ]
    rows += [
        [
            f"Figure 3: prior {percent(ratio)}, bias ÷ bound of Theorem 2",
            "near 1 on synthetic data" if ratio > 1 else "below 1",
            *(f"{_beside_bound(results, model, ratio):.2f}" for model in every),
        ]
        for ratio in RATIOS
    ]
    caption = "At the largest N, with bins of uniform mass; slopes over all N and both binnings."
    out.table(["", "paper", *(SHORT[model] for model in every)], rows, caption, csv="paper-and-ours")


def _beside_labels(results: Results, model: str) -> float:
    pu, labeled = (line(results, model, FIRST, (design, PLAIN)) for design in (BOTH_GROW, LABELED))
    return float(pu.mean[-1] / labeled.mean[-1])


def _beside_limit(results: Results, model: str, n_positive: int) -> float:
    end = line(results, model, FIRST, (f"{n_positive}-n", PLAIN))
    return float(end.mean[-1] / tables.limit(results, model, FIRST, n_positive).mean[0])


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
            f"{_listed(real)}: the first network that learned by nnPU (see The networks). As in the paper, "
            f"mixtures of normals were fitted to its logits in each class (1 to 10 components, by BIC; here "
            f"on the test rows), and these mixtures are the population from which all samples are drawn."
        )
    rows: list[list[Cell]] = []
    for model in tables.models(results):
        about = tables.about(results, model)
        paper, ours = _made(model, about["components"])
        of_network = first_ece(results, model)
        rows.append([TITLES[model], paper, ours, about["prior"], f"{about['truth']:.5f}", of_network])
    caption = (
        "ECE: of the network itself, on the test rows with their labels. The mixture is near it, not it."
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
    own = REPORTED[model]
    paper = "{} + {} components, π = {:g}".format(*own.components, own.prior)
    return paper if own.data == TITLES[model] else f"{own.data}: {paper}", ours


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
    said = []
    for model in tables.models(results):
        must = f"from {_minus(low)} to {_minus(high)}"
        if not tables.exact(results, model):
            must = f"at most {_minus(STEEPEST_ALLOWED)}"
        said.append(f"{TITLES[model]} ({must}): {tables.verdict(results, model)}")
    out.text(f"Is every slope as it must be? {_capital('; '.join(said))}.")
    for binning, name in BINNINGS.items():
        caption = f"Bins of {name}. Slope of log bias against log N, with 1.96 standard errors (±)."
        out.table(*tables.slopes(results, binning), caption, csv=f"figure-1-{binning}")
    for binning, name in BINNINGS.items():
        caption = (
            f"Bins of {name}, at the largest N. Bias: mean |estimate − TCE|; signed: mean estimate − TCE."
        )
        out.table(*tables.ends(results, binning), caption, csv=f"figure-1-{binning}-ends")
    for binning, name in BINNINGS.items():
        figure = figures.convergence(results, binning)
        caption = f"Bins of {name}. Shaded: 90% of the trials. Dashed: the rate of the upper bound."
        out.figure(figure, f"figure-1-{binning}", caption)


def _finite_positives(out: Page, results: Results) -> None:
    out.heading("Figure 2: few positives, more and more unlabeled rows")
    out.text(
        "With n_P fixed the bias ends at that of n_U = ∞ (dotted), not at 0: unlabeled rows cannot make up "
        "for positives. Each dotted line is where the line n_P = N, n_U = ∞ stands at N = n_P. Where all "
        "gaps have one sign that line is near 0 at once, and what is seen at the largest N is the noise of "
        "the unlabeled rows."
    )
    out.table(
        *tables.finite_positives(results), "Bias; ±: 1.96 standard errors of the limit.", csv="figure-2"
    )
    for binning, name in BINNINGS.items():
        figure = figures.finite_positives(results, binning)
        out.figure(figure, f"figure-2-{binning}", f"Bins of {name}. Shaded: 90% of the trials.")


def _wrong_priors(out: Page, results: Results) -> None:
    out.heading("Figure 3: a prior that is wrong")
    out.text(
        f"n_P = N, n_U = 10N (the paper does not say which sizes it took), bins as for the true prior. By "
        f"Theorem 2 a prior off by Δ moves the estimate by at most Δ, whatever the data. The most seen in "
        f"any trial is {tables.most_moved(results):.4f} of that. The bias itself can be larger than the "
        f"bound where N is small, and smaller where two errors cancel."
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
        caption = f"Bins of {name}. RMSE of PU-ECE, of the debiased estimate, and the latter over the former."
        out.table(*tables.debiased(results, binning), caption, csv=f"debiased-{binning}")
    worse = tables.not_better(results)
    out.text(f"The debiased estimate is the worse one for: {'; '.join(worse) if worse else 'none'}.")
    for binning, name in BINNINGS.items():
        figure = figures.debiased(results, binning)
        out.figure(figure, f"debiased-{binning}", f"Bins of {name}. Shaded: 90% of the trials.")


def _minus(number: float) -> str:
    return f"{number:.2f}".replace("-", "−")


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
