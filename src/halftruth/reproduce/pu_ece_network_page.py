"""The section on the networks of the page of the PU-ECE paper."""

from __future__ import annotations

import numpy as np

from halftruth.reproduce import pu_ece_figures as figures
from halftruth.reproduce import pu_ece_training as training
from halftruth.reproduce.page import Page
from halftruth.reproduce.pu_ece_recipes import NNPU, RECIPES, REPORTED, UPU, Recipe
from halftruth.reproduce.pu_ece_settings import BANK, CIFAR, FASHION, MNIST, TITLES
from halftruth.reproduce.pu_ece_tables import Results

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
        "The networks learn by a non-negative risk (nnPU), with the losses, rates and numbers of known "
        "positives of the paper. How many passes it made, over what batches, and what test errors came out "
        "it does not say. All training rows are the unlabeled ones. For comparison the same networks learned "
        "by the unbiased risk (uPU), from the same known positives and first weights, and from all labels "
        "by cross-entropy."
    )
    for model in models:
        out.text(f"{_capital(TITLES[model])}: {_told(model, RECIPES[model])}")
    out.text(f"Time of the training, all three ways together: {training.times(results)}.")
    out.table(
        *training.errors(results),
        "Test error after the last pass: means over the networks, ± 1.96 standard errors.",
        csv="networks",
    )
    out.table(
        *training.risks(results),
        "Unbiased risk over all training rows, as uPU makes it small: the least of any network and pass, "
        "and the mean after the last pass. A true risk is never below zero.",
        csv="networks-risk",
    )
    out.text(" ".join(_verdict(results, model) for model in models))
    caption = (
        "Means over the networks by pass; shaded: one standard deviation. Left, the test error; right, the "
        "unbiased risk over all training rows (with labels: their cross-entropy). Figure 1 of Kiryo et al. "
        "2017 shows the same of their networks: uPU falls below zero and gets worse, nnPU does not."
    )
    out.figure(figures.learning(results), "networks", caption)
    _agreement(out, results)


def _agreement(out: Page, results: Results) -> None:
    out.text(
        "Does PU-ECE say of a real network what ECE says? Here no mixture stands for the data: ECE is from "
        "all labels of the test rows, PU-ECE from the positives of one half of them and the other half "
        "without labels, drawn anew for each network; bins are of uniform mass. PU-ECE compares two samples, "
        "whose noise adds up bin by bin, the more the surer the scores are: with labels a bin of sure scores "
        "has next to none. Debiased is ht.calibration_error(evidence, debias=True)."
    )
    out.table(
        *training.agreement(results),
        "Means and standard deviations over the networks, after the last pass.",
        csv="networks-calibration",
    )


def _told(model: str, recipe: Recipe) -> str:
    shape = "a residual network of 18 layers" if recipe.hidden is None else _layers(recipe.hidden)
    said = [
        f"positive are {POSITIVE[model]}; {shape}, {recipe.loss} loss, rate {recipe.learning_rate:g}, "
        f"{recipe.n_known:,} known positives, batches of {recipe.batch:,}."
    ]
    if recipe.target_prior is not None:
        said.append(
            f"Few are positive, and as in the paper the classes were brought to a share of "
            f"{recipe.target_prior:g} (imbalanced nnPU, Su et al. 2021), in the other two ways alike; test "
            f"errors are at this share too."
        )
    if model not in REPORTED:
        said.append("The paper has no such data.")
    elif REPORTED[model].data != TITLES[model]:
        said.append(f"This is in the place of the paper's {REPORTED[model].data}.")
    return " ".join(said)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _layers(hidden: tuple[int, ...]) -> str:
    return f"two hidden layers of {hidden[0]}" if len(set(hidden)) == 1 else f"hidden layers of {hidden}"


def _verdict(results: Results, model: str) -> str:
    nnpu, upu = (training.training(results, model, way) for way in (NNPU, UPU))
    risks = {
        (False, True): "does not fall below zero, that of uPU does",
        (False, False): "does not fall below zero, nor does that of uPU",
        (True, True): "falls below zero, as does that of uPU",
        (True, False): "falls below zero, that of uPU does not",
    }[min(nnpu["least_risk"]) < 0, min(upu["least_risk"]) < 0]
    gain = 100 * (np.array(upu["errors"]) - np.array(nnpu["errors"]))
    noise = training.half_width(gain)
    beyond = abs(gain.mean()) > noise if noise == noise else None
    sure = {True: "", False: ", which may be noise", None: " in the one trial"}[beyond]
    same = "the same as uPU's"
    apart = f"{abs(gain.mean()):.2f} points {'below' if gain.mean() > 0 else 'above'} uPU's{sure}"
    return (
        f"{_capital(TITLES[model])}: the risk of nnPU {risks}; nnPU's test error is "
        f"{apart if gain.any() else same}."
    )
