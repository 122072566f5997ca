"""What is measured for each part of the paper on binomial process modeling, as results that a store keeps."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from halftruth._checks import Vector
from halftruth.calibration._binomial_process import fit_curve
from halftruth.calibration.calibrators import Calibrator
from halftruth.evidence import Labeled, PositiveUnlabeled
from halftruth.measure._score_measure import ScoreMeasure, as_measure
from halftruth_papers import logits
from halftruth_papers.bpm.binomial_process import BinomialProcess
from halftruth_papers.bpm.settings import (
    BINNINGS,
    COLUMNS,
    METHODS,
    METRICS,
    N_BINS,
    N_CURVE,
)
from halftruth_papers.logits import Hits, Outputs, Split

GRID = np.arange(1, 100, 2) / 100
"""Where curves are compared, as in the released code: 50 scores from .01 to .99."""
CURVES = {
    "bpm": "BPM",
    "authors": "BPM, code",
    "histograms": "histograms, mean",
    "histogram": "15 bins",
    "isotonic": "isotonic",
    "beta": "beta",
}
N_QUANTILES = 2000

Cell = dict[str, Any]


def sample(process: BinomialProcess, kind: str, n: int, rng: np.random.Generator) -> ScoreMeasure:
    """So many labeled rows; or so many known positives, and as many unlabeled rows."""
    if kind == "labeled":
        return as_measure(process.labeled(n, rng))
    return as_measure(process.positive_unlabeled(n, n, rng))


def curves(process: BinomialProcess, kind: str, seed: list[int], repeats: int) -> Cell:
    """Figure 1(b): distances of estimated curves from the true one, and the curves of the first sample."""
    quantiles = _quantiles(process)
    at = np.concatenate([GRID, quantiles])
    true = np.asarray(process.curve(at))
    errors: dict[str, dict[str, list[float]]] = {name: {"grid": [], "scores": []} for name in CURVES}
    first: Cell = {}
    for rng in np.random.default_rng(seed).spawn(repeats):
        estimates, ends = estimated(sample(process, kind, N_CURVE, rng), at)
        for name, curve in estimates.items():
            gap = np.abs(curve - true)
            errors[name]["grid"].append(float(gap[: len(GRID)].mean()))
            errors[name]["scores"].append(float(gap[len(GRID) :].mean()))
        if not first:
            first = _on_grid({"true": true, **estimates}, ends)
    return {"kind": kind, "repeats": repeats, "errors": errors, "first": first}


def estimated(measure: ScoreMeasure, at: Vector) -> tuple[dict[str, Vector], tuple[Vector, Vector]]:
    """Calibration curves by every method, and the lowest and the highest of the histograms."""
    histograms = np.array([_calibrated("histogram", measure, at, n_bins=n) for n in BINNINGS])
    curves = {
        "bpm": np.asarray(fit_curve(measure)(at)),
        "authors": np.asarray(fit_curve(measure, variant="authors")(at)),
        "histograms": histograms.mean(axis=0),
        "histogram": histograms[N_BINS - BINNINGS[0]],
        "isotonic": _calibrated("isotonic", measure, at),
        "beta": _calibrated("beta", measure, at),
    }
    return curves, (histograms.min(axis=0), histograms.max(axis=0))


def real_curves(split: Split) -> Cell:
    """Figure 1(a): the same on the rows of a network that others judge by."""
    measure = as_measure(Labeled(split.judge.hit, split.judge.confidence()))
    rows = np.quantile(split.judge.confidence(), (np.arange(N_QUANTILES) + 0.5) / N_QUANTILES)
    estimates, ends = estimated(measure, np.concatenate([GRID, rows]))
    inside = (ends[0] <= estimates["bpm"]) & (estimates["bpm"] <= ends[1])
    shares = {"grid": float(inside[: len(GRID)].mean()), "scores": float(inside[len(GRID) :].mean())}
    return {**_on_grid(estimates, ends), "inside": shares}


def errors(process: BinomialProcess, kind: str, n: int, seed: list[int], repeats: int) -> Cell:
    """Figure 1(c): every metric on fresh samples of one size."""
    values: dict[str, list[float]] = {name: [] for name in METRICS}
    for rng in np.random.default_rng(seed).spawn(repeats):
        measure = sample(process, kind, n, rng)
        for name, metric in METRICS.items():
            values[name].append(float(metric(measure)))
    return {"kind": kind, "n": n, "truth": process.truth("calibration_error"), "values": values}


def table(split: Split, how: str, seed: list[int]) -> Cell:
    """Table 1: errors on the rows to judge by, after every calibration.

    ``how`` is from which rows a calibrator learns: ``"held"``: its own; ``"same"``: those that it is judged
    by; ``"pu"``: its own, the hits of one half known, the other half unlabeled.
    """
    judge = split.judge
    learn = judge if how == "same" else split.learn
    evidence = _known_hits(learn, seed) if how == "pu" else Labeled(learn.hit, learn.confidence())
    measure = as_measure(evidence)
    rows = {}
    for method in METHODS:
        if method == "temperature" and how == "pu":
            continue  # the classes are not known
        rows[method] = every_error(calibrated(method, measure, learn, judge), judge.hit)
    return {"how": how, "n_learn": len(learn.y), "n": len(judge.y), "rows": rows}


def calibrated(method: str, measure: ScoreMeasure, learn: Outputs, judge: Outputs) -> Vector:
    """Confidences of the rows to judge by, after a calibration."""
    score = judge.confidence()
    if method == "uncalibrated":
        return score
    if method == "temperature":
        return judge.confidence(logits.best_temperature(learn))
    if method == "bpm-code":
        return _calibrated("bpm", measure, score, variant="authors")
    return _calibrated("temperature" if method == "confidence" else method, measure, score)


def every_error(score: Vector, hit: Hits) -> Cell:
    """All metrics of the table, and the equal-mass error as the paper has it."""
    measure = as_measure(Labeled(hit, score))
    values = {name: float(METRICS[name](measure)) for name in (*COLUMNS, "authors", "ours")}
    return {**values, "dropped": logits.dropped_tail_error(score, hit, N_BINS)}


def if_calibrated(split: Split, seed: list[int], draws: int) -> Cell:
    """The same errors where confidences are right: hits are drawn from those that BPM gives."""
    measure = as_measure(Labeled(split.learn.hit, split.learn.confidence()))
    score = calibrated("bpm", measure, split.learn, split.judge)
    rows = [
        every_error(score, rng.random(len(score)) < score) for rng in np.random.default_rng(seed).spawn(draws)
    ]
    return {"draws": draws, "values": {name: [row[name] for row in rows] for name in rows[0]}}


def about(split: Split) -> Cell:
    """Rows, hits and confidences of both parts."""
    parts = {"learn": split.learn, "judge": split.judge}
    return {
        "title": split.title,
        **{
            name: {
                "n": len(rows.y),
                "hit": float(rows.hit.mean()),
                "confidence": float(rows.confidence().mean()),
            }
            for name, rows in parts.items()
        },
    }


def _known_hits(learn: Outputs, seed: list[int]) -> PositiveUnlabeled:
    order = np.random.default_rng(seed).permutation(len(learn.y))
    known, rest = order[: len(order) // 2], order[len(order) // 2 :]
    score, hit = learn.confidence(), learn.hit
    return PositiveUnlabeled(score[known][hit[known]], score[rest], prior=float(hit.mean()))


def _calibrated(method: str, measure: ScoreMeasure, at: Vector, **settings: Any) -> Vector:
    return np.asarray(Calibrator(method, **settings).fit(measure).predict(at))


def _quantiles(process: BinomialProcess) -> Vector:
    """Scores as the process draws them, evenly spread over its law."""
    from scipy.special import betaincinv

    return np.asarray(betaincinv(process.a1, process.a2, (np.arange(N_QUANTILES) + 0.5) / N_QUANTILES))


def _on_grid(curves: dict[str, NDArray[np.float64]], ends: tuple[Vector, Vector]) -> Cell:
    named = {**curves, "low": ends[0], "high": ends[1]}
    return {name: curve[: len(GRID)].tolist() for name, curve in named.items()}
