"""The section on the networks of the page of the PU-ECE paper."""

from __future__ import annotations

from halftruth_papers.page import Page
from halftruth_papers.pu_ece import figures, training, verdicts
from halftruth_papers.pu_ece.recipes import NNPU, RECIPES, REPORTED, Recipe
from halftruth_papers.pu_ece.settings import BANK, CIFAR, FASHION, MNIST, TITLES
from halftruth_papers.pu_ece.words import capital, counted, listed
from halftruth_papers.reproduction import Results

POSITIVE = {
    MNIST: "digits 5 to 9",
    FASHION: "sandals, shirts, sneakers, bags and boots (classes 5 to 9)",
    BANK: "clients who subscribed",
    CIFAR: "vehicles",
}


def networks(out: Page, results: Results) -> None:
    """How the networks learned; nothing where there are none."""
    models = training.learned(results)
    if not models:
        return
    out.heading("The networks")
    out.text(
        "The networks learn by a non-negative risk (nnPU). By what kind of steps the paper's learned, in how "
        "many passes, over what batches, and what test errors came out, the text at hand, without its "
        "appendices, does not say; here the steps are Adam's. All training rows are the unlabeled ones. For "
        "comparison the same networks learned by the unbiased risk (uPU), from the same known positives and "
        "first weights, and from all labels by cross-entropy, with as many steps a pass."
    )
    for model in models:
        out.text(f"{capital(TITLES[model])}: {_told(results, model, RECIPES[model])}")
    out.text(f"Time of the training, all three ways together: {training.times(results)}.")
    out.table(
        *training.errors(results),
        "Test error after the last pass: means over the networks, ± 1.96 standard errors.",
        csv="networks",
    )
    out.table(
        *training.risks(results),
        "Unbiased risk over all training rows, as uPU makes it small: the least of any network in the "
        "passes that were looked at (the first ten, then every fifth), and the mean after the last pass. A "
        "true risk is never below zero.",
        csv="networks-risk",
    )
    out.text(" ".join(verdicts.learning(results, model) for model in models))
    caption = (
        "Means over the networks by pass; shaded: one standard deviation. Left, the test error; right, the "
        "unbiased risk over all training rows (with labels: their cross-entropy). Figure 1 of Kiryo et al. "
        "2017 shows the same of their networks: uPU falls below zero and gets worse, nnPU does not."
    )
    out.figure(figures.learning(results), "networks", caption)
    _agreement(out, results)


def _agreement(out: Page, results: Results) -> None:
    out.text(
        f"Does PU-ECE say of a real network what ECE says? Here no mixture stands for the data: ECE is from "
        f"all labels of the test rows, PU-ECE from the positives of one half of them and the other half "
        f"without labels, drawn anew for each network; the prior is the share of positives among all test "
        f"rows. All have the same bins, of uniform mass and in number as PU-ECE takes by default (B: "
        f"{verdicts.bins_of_networks(results)}). PU-ECE compares two samples, whose noise adds up bin by "
        f"bin, the more the surer the scores are: with labels a bin of sure scores has next to none. "
        f"Debiased is ht.calibration_error(evidence, debias=True)."
    )
    out.table(
        *training.agreement(results),
        "Means and standard deviations over the networks, after the last pass.",
        csv="networks-calibration",
    )
    answers = " ".join(verdicts.agreement(results, model) for model in training.learned(results))
    out.text(
        f"Of the networks that learned by nnPU, where “yes” is within {verdicts.CLOSE:.0%} of ECE: {answers}"
    )


def _told(results: Results, model: str, recipe: Recipe) -> str:
    shape = "a residual network of 18 layers" if recipe.hidden is None else layers(recipe.hidden)
    nnpu = training.training(results, model, NNPU)
    sentences = [
        f"positive are {POSITIVE[model]}; {shape}, {recipe.loss} loss, rate {recipe.learning_rate:g}, "
        f"{recipe.n_known:,} known positives, batches of {recipe.batch:,}, {nnpu['passes']} passes."
    ]
    if recipe.target_prior is not None:
        sentences.append(
            f"Few are positive: by imbalanced nnPU (Su et al. 2021), as the paper had it for its own such "
            f"data, the classes were brought to a share of {recipe.target_prior:g}, our choice, and in the "
            f"other two ways alike; test errors are at this share too."
        )
    if recipe.passes < Recipe().passes:
        least = min(range(len(nnpu["seen"])), key=lambda i: nnpu["error"][i])
        sentences.append(
            f"Passes are fewer than for the others, since the test error soon rises: it is least after "
            f"{nnpu['seen'][least]} ({nnpu['error'][least]:.2%}; {nnpu['error'][-1]:.2%} at the end)."
        )
    sentences.append(_beside_the_paper(model))
    return " ".join(sentences)


def _beside_the_paper(model: str) -> str:
    if model not in REPORTED:
        return "The paper has no such data; all of this is ours."
    if REPORTED[model].data != TITLES[model]:
        return (
            f"This is in the place of the paper's {REPORTED[model].data}, with its loss and number of known "
            f"positives; the network and its rate are ours."
        )
    return "Network, loss, rate and number of known positives are the paper's."


def layers(hidden: tuple[int, ...]) -> str:
    """Hidden layers, in words.

    Examples
    --------
    >>> layers((100, 100)), layers((8,)), layers((30, 10))
    ('two hidden layers of 100', 'one hidden layer of 8', 'two hidden layers of 30 and 10')
    """
    units = [str(hidden[0])] if len(set(hidden)) == 1 else [str(unit) for unit in hidden]
    return f"{counted(len(hidden))} hidden layer{'s' if len(hidden) > 1 else ''} of {listed(units)}"
