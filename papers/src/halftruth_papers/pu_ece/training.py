"""What the networks of the PU-ECE experiment tell as numbers: errors, risks, and both calibration errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from halftruth._checks import Vector
from halftruth_papers.page import Cell
from halftruth_papers.pu_ece.recipes import NNPU, RECIPES, UPU, WAYS
from halftruth_papers.pu_ece.settings import TITLES
from halftruth_papers.pu_ece.tables import NORMAL, Table
from halftruth_papers.pu_ece.words import signed
from halftruth_papers.reproduction import Results


def learned(results: Results) -> list[str]:
    """The real models, in the order of the page."""
    return [model for model in TITLES if f"{model}-networks" in results]


def training(results: Results, model: str, way: str) -> dict[str, Any]:
    """What was kept of networks that learned in one way."""
    networks = results[f"{model}-networks"]
    return {**{name: networks[name] for name in ("networks", "passes", "device")}, **networks[way]}


def chosen_ece(results: Results, model: str) -> Cell:
    """ECE with labels of the network whose logits a mixture was fitted to; none of a synthetic model."""
    if model not in learned(results):
        return None
    nnpu = training(results, model, NNPU)
    return f"{nnpu['ece'][nnpu['which']]:.5f}"


def errors(results: Results) -> Table:
    """By data set: the test error of each way after the last pass, in percent."""
    columns = ["data", "networks", "passes"]
    for name in WAYS.values():
        columns += [f"{name}: error, %", "±"]
    columns += ["uPU − nnPU", "±"]
    rows: list[list[Cell]] = []
    for model in learned(results):
        by_way = {way: 100 * np.array(training(results, model, way)["errors"]) for way in WAYS}
        nnpu = training(results, model, NNPU)
        row: list[Cell] = [TITLES[model], nnpu["networks"], nnpu["passes"]]
        for sample in (*by_way.values(), by_way[UPU] - by_way[NNPU]):
            row += [signed(sample.mean(), ".2f"), _shown(half_width(sample))]
        rows.append(row)
    return columns, rows


def risks(results: Results) -> Table:
    """By data set: the unbiased risk over all training rows, at its least seen and after the last pass."""
    columns = ["data", "loss"]
    for way in (NNPU, UPU):
        columns += [f"{WAYS[way]}: least", "at the end"]
    rows: list[list[Cell]] = []
    for model in learned(results):
        row: list[Cell] = [TITLES[model], RECIPES[model].loss]
        for way in (NNPU, UPU):
            history = training(results, model, way)
            row += [signed(number, "+.4f") for number in (min(history["least_risk"]), history["risk"][-1])]
        rows.append(row)
    return columns, rows


def agreement(results: Results) -> Table:
    """By data set and way, over the networks: ECE with all labels, PU-ECE, and how far this is from that."""
    columns = [
        "data",
        "learned by",
        "ECE",
        "sd",
        "PU-ECE",
        "sd",
        "− ECE",
        "sd",
        "debiased",
        "sd",
        "− ECE",
        "sd",
    ]
    rows: list[list[Cell]] = []
    for model in learned(results):
        for way, name in WAYS.items():
            networks = training(results, model, way)
            ece, plain, ours = (np.array(networks[key]) for key in ("ece", "pu_ece", "debiased"))
            row: list[Cell] = [TITLES[model], name]
            for sample, sign in ((ece, ""), (plain, ""), (plain - ece, "+"), (ours, ""), (ours - ece, "+")):
                row += [signed(sample.mean(), f"{sign}.4f"), _shown(spread(sample), 4)]
            rows.append(row)
    return columns, rows


def times(results: Results) -> str:
    """How long the training took, in words."""
    sentences = []
    for model in learned(results):
        ways = [training(results, model, way) for way in WAYS]
        n, seconds = ways[0]["networks"], sum(history["seconds"] for history in ways)
        many = "1 network" if n == 1 else f"{n} networks side by side"
        sentences.append(f"{TITLES[model]}, {many} on {ways[0]['device']} in {seconds:,.0f} s")
    return "; ".join(sentences)


def spread(found: Vector) -> float:
    """Standard deviation; NaN of one number."""
    return float(found.std(ddof=1)) if len(found) > 1 else float("nan")


def half_width(found: Vector) -> float:
    """1.96 standard errors of the mean; NaN of one number.

    Examples
    --------
    >>> round(half_width(np.array([1.0, 3.0])), 2)
    1.96
    """
    return NORMAL * spread(found) / float(np.sqrt(len(found)))


def _shown(number: float, digits: int = 2) -> Cell:
    return None if np.isnan(number) else f"{number:.{digits}f}"
