"""What the numbers of the PU-ECE experiment say in words; each word hangs on a number."""

from __future__ import annotations

import numpy as np

from halftruth_papers.pu_ece import tables, training
from halftruth_papers.pu_ece.experiments import bins_of
from halftruth_papers.pu_ece.lines import Line
from halftruth_papers.pu_ece.recipes import NNPU, UPU
from halftruth_papers.pu_ece.settings import (
    BINNINGS,
    CALIBRATED_SLOPES,
    FIGURE_1,
    LIMITS,
    PLAIN,
    STEEPEST_ALLOWED,
    TITLES,
    WORSE,
)
from halftruth_papers.pu_ece.tables import NORMAL, Key
from halftruth_papers.pu_ece.words import capital, listed, signed, spans
from halftruth_papers.reproduction import Results

STRAIGHT = 3.0
"""Points that lie so many standard errors off their line are not moved by the draws alone."""
FEW = 4
"""Fewer bins than this are not looked at: they hide most of any error."""
CLOSE = 0.1
"""PU-ECE that is so near to ECE, as a share of it, is said to say the same."""


def steep(results: Results, model: str) -> str:
    """Whether the slopes of Figure 1 are as steep as they must be."""
    least, most = CALIBRATED_SLOPES if tables.exact(results, model) else (-np.inf, STEEPEST_ALLOWED)
    beyond: list[tuple[float, str, Key, Line]] = []
    for binning in BINNINGS:
        for key in FIGURE_1:
            one = tables.line(results, model, binning, key)
            far = max(least - one.slope, one.slope - most)
            if far > 0:
                beyond.append((far, binning, key, one))
    if not beyond:
        return "yes"
    sure = [
        entry for entry in beyond if entry[0] > NORMAL * entry[3].slope_error or entry[3].misfit > STRAIGHT
    ]
    if not sure:
        return "no, but within noise"
    _, binning, key, one = max(sure, key=lambda entry: entry[0])
    answer = f"no: {signed(one.slope)} for {FIGURE_1[key]} with bins of {BINNINGS[binning]}"
    if one.misfit > STRAIGHT:
        answer += (
            f", whose points lie {one.misfit:.0f} standard errors off a straight line, so that its slope is "
            f"that of no power of N"
        )
    alone = tables.binned(results, model, binning, tables.bins_at_end(results, model, key)) - one.truth
    if abs(alone) > one.mean[-1] / 2:
        answer += (
            f"; at the largest N the bins alone are off by {signed(alone, '+.4f')}, where the bias is "
            f"{one.mean[-1]:.4f}"
        )
    return answer


def hidden(results: Results, model: str) -> str:
    """What odd and even numbers of bins of uniform mass show of the true calibration error."""
    shares = np.array(results[f"{model}.bins"]["mass"]) / tables.about(results, model)["truth"]
    numbers = np.arange(1, len(shares) + 1)
    parts = []
    for name, rest in (("odd", 1), ("even", 0)):
        chosen = shares[(numbers >= FEW) & (numbers % 2 == rest)]
        low, high = f"{chosen.min():.0%}", f"{chosen.max():.0%}"
        parts.append(f"{name} B {low}" if low == high else f"{name} B {low} to {high}")
    return f"{TITLES[model]}, {' and '.join(parts)}"


def ended(results: Results) -> str:
    """Where the lines of Figure 2 are at the largest N as far off as with n_U = ∞, and where not."""
    apart: dict[str, list[str]] = {}
    for model in tables.models(results):
        for binning, name in BINNINGS.items():
            for n_positive in LIMITS:
                key = f"{n_positive}-n", PLAIN
                end = tables.line(results, model, binning, key)
                ratio, noise = tables.beside_limit(end, tables.limit(results, model, binning, n_positive))
                if abs(ratio - 1) > noise:
                    n_bins = tables.bins_at_end(results, model, key)
                    last = bins_of("n-inf", PLAIN, n_positive, tables.about(results, model)["prior"])
                    where = f"n_P = {n_positive}, bins of {name}, {n_bins} of them and {last} in the limit"
                    apart.setdefault(model, []).append(f"{ratio:.2f} times it ({where})")
    there = [TITLES[model] for model in tables.models(results) if model not in apart]
    sentences = [f"{capital(TITLES[model])}: {listed(cases)}." for model, cases in apart.items()]
    if there:
        sentences.insert(0, f"Within noise (1.96 standard errors) it has got there for {listed(there)}.")
    return " ".join(sentences)


def not_better(results: Results) -> list[str]:
    """Where our estimate has an RMSE larger by more than a twentieth."""
    sentences = []
    for binning, name in BINNINGS.items():
        columns, rows = tables.debiased(results, binning)
        sizes = [int(column.replace(",", "")) for column in columns[2:]]
        for row in rows:
            worse = [
                n for n, x in zip(sizes, row[2:], strict=True) if row[1] == "÷" and float(x or 0) > WORSE
            ]
            if worse:
                most = max(float(x or 0) for x in row[2:])
                sentences.append(f"{row[0]}, {name}, at N = {spans(worse, sizes)} (up to {most:.2f} times)")
    return sentences


def learning(results: Results, model: str) -> str:
    """What the correction of the risk did."""
    nnpu, upu = (training.training(results, model, way) for way in (NNPU, UPU))
    name = capital(TITLES[model])
    if all(nnpu[key] == upu[key] for key in ("error", "risk", "errors")):
        return f"{name}: nnPU and uPU agree in every number, for the correction never acted."
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
    apart = f"{abs(gain.mean()):.2f} points {'below' if gain.mean() > 0 else 'above'} uPU's{sure}"
    return (
        f"{name}: the risk of nnPU {risks}; nnPU's test error is "
        f"{apart if gain.any() else 'the same as that of uPU'}."
    )


def agreement(results: Results, model: str) -> str:
    """Whether PU-ECE says of the networks of nnPU what ECE says."""
    nnpu = training.training(results, model, NNPU)
    ece, plain, ours = (np.array(nnpu[key]) for key in ("ece", "pu_ece", "debiased"))
    ratio = float(plain.mean() / ece.mean())
    yes = abs(ratio - 1) <= CLOSE
    off, spread = ours - ece, training.spread(ours - ece)
    sd = "" if np.isnan(spread) else f" (sd {spread:.4f})"
    return (
        f"{capital(TITLES[model])}: {'yes' if yes else 'no'}, PU-ECE is {ratio:.2f} times ECE, "
        f"{plain.mean():.4f} against {ece.mean():.4f}; debiased, it differs by "
        f"{signed(off.mean(), '+.4f')}{sd}, {signed(off.mean() / ece.mean(), '+.1%')} of it."
    )


def bins_of_networks(results: Results) -> str:
    """How many bins the networks' calibration errors have."""
    parts = []
    for model in training.learned(results):
        n_bins = training.training(results, model, NNPU)["n_bins"]
        low, high = min(n_bins), max(n_bins)
        parts.append(f"{TITLES[model]} {low}" if low == high else f"{TITLES[model]} {low} to {high}")
    return ", ".join(parts)
