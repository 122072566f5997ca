"""One cell: how often intervals hold the truth, how wide they are, and the same of their rivals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from tools.interval_study.cells import LABELED, TWO_SAMPLES, Cell
from tools.interval_study.laws import MAX_FPR
from tools.interval_study.rivals import RATE_RIVALS, delong, newcombe, rate_counts

import halftruth as ht

AVERAGES = ("roc_auc", "average_precision", "brier", "log_loss")
RATES = ("precision", "recall", "fpr", "f1", "mcc", "accuracy")
BUDGETS = ("precision_at_k", "recall_at_k", "recall_at_fpr")
CALIBRATION = "calibration_error"
METRICS = ("prevalence", *AVERAGES, *RATES, *BUDGETS)
SMOOTH = ("roc_auc", "brier", "log_loss", *RATES)
"""What has an interval in closed form, whatever the evidence."""
N_RESAMPLES = 250
DEFAULT_RESAMPLES = 2_000
LIMITS = {"mcc": (-1.0, 1.0), "log_loss": (0.0, np.inf)}


@dataclass(frozen=True)
class Tally:
    """Intervals of one metric over the draws of a cell."""

    coverage: float
    """In percent, of the intervals that there are."""
    width: float
    """On average, within what is possible."""
    n: int

    @classmethod
    def of(cls, ends: Iterable[tuple[float, float]], truth: float, metric: str) -> Tally:
        """Of (low, high) for each draw; NaN where a metric has no value."""
        low, high = np.asarray(list(ends), dtype=float).T
        there = np.isfinite(low) & np.isfinite(high)
        low, high = low[there], high[there]
        # A truth at the end of an interval is held, whatever rounding says.
        held = (low <= truth + 1e-12) & (truth - 1e-12 <= high)
        limits = LIMITS.get(metric, (0.0, 1.0))
        width = np.clip(high, *limits) - np.clip(low, *limits)
        return cls(100.0 * float(held.mean()), float(width.mean()), len(low))

    @property
    def error(self) -> float:
        """The binomial error of the coverage, were it 92%."""
        return 100.0 * float(np.sqrt(0.92 * 0.08 / self.n))


@dataclass(frozen=True)
class Outcome:
    """What a cell gave."""

    cell: Cell
    n_redrawn: int
    default: dict[str, Tally]
    holds_zero: float
    """Percent of the intervals of the calibration error that hold its true value, 0."""
    closed: dict[str, Tally] = field(default_factory=dict)
    more_resamples: dict[str, Tally] = field(default_factory=dict)
    rivals: dict[str, dict[str, Tally]] = field(default_factory=dict)


def has_closed_form(cell: Cell) -> bool:
    """Whether the road without resamples is part of the study here."""
    law = cell.population
    return cell.kind in (LABELED, TWO_SAMPLES) and law.shape == "normal" and law.prior >= 0.02


def has_more_resamples(cell: Cell) -> bool:
    """Whether as many resamples as by default are tried too."""
    law = cell.population
    simple = cell.kind in (LABELED, TWO_SAMPLES) and law.shape == "normal"
    return simple and cell.n_positive in (10, 50) and (law.prior, law.auc) == (0.3, 0.95)


@dataclass
class Draws:
    """Ends of the intervals on each data set: (low, high) by road and metric."""

    ends: dict[str, dict[str, list[tuple[float, float]]]] = field(default_factory=dict)
    counts: list[dict[str, tuple[int, int]]] = field(default_factory=list)
    """Of labeled data, the hits of each rate and of how many."""
    areas: list[tuple[float, float, float]] = field(default_factory=list)
    """Of labeled data, the area with DeLong's interval."""
    n_redrawn: int = 0


def run(cell: Cell, draws: int) -> Outcome:
    """Draw data sets, evaluate each and sum up."""
    return summed(cell, simulated(cell, range(draws)))


def simulated(cell: Cell, draws: Iterable[int]) -> Draws:
    """Draw data sets and evaluate each by every road that is studied here."""
    law, out = cell.population, Draws()
    roads = _roads(cell)
    for draw in draws:
        evidence, tries = cell.evidence(cell.rng(draw))
        out.n_redrawn += tries
        for road, (names, n_resamples) in roads.items():
            result = ht.evaluate(evidence, names, threshold=law.threshold, n_resamples=n_resamples, rng=draw)
            by_name = out.ends.setdefault(road, {})
            for name in names:
                by_name.setdefault(name, []).append((result[name].low, result[name].high))
        if cell.kind == LABELED:
            positive, negative = (evidence.table.strata[name].score for name in ("positive", "negative"))
            out.counts.append(rate_counts(positive, negative, law.threshold))
            out.areas.append(delong(positive, negative))
    return out


def _roads(cell: Cell) -> dict[str, tuple[dict[str, Any], int]]:
    """Metrics and numbers of resamples."""
    share = cell.population.prior
    metrics = METRICS if cell.estimates_prior else METRICS[1:]
    asked: dict[str, Any] = {name: name for name in metrics}
    asked |= {
        "precision_at_k": partial(ht.precision_at_k, k=share),
        "recall_at_k": partial(ht.recall_at_k, k=share),
        "recall_at_fpr": partial(ht.recall_at_fpr, max_fpr=MAX_FPR),
    }
    roads = {"default": (asked | {CALIBRATION: CALIBRATION}, N_RESAMPLES)}
    if has_closed_form(cell):
        roads["closed"] = ({name: name for name in SMOOTH}, 0)
    if has_more_resamples(cell):
        roads["more"] = (asked, DEFAULT_RESAMPLES)
    return roads


def summed(cell: Cell, drawn: Draws) -> Outcome:
    """Coverage and width of all that was drawn."""
    truth = cell.population.truth | {CALIBRATION: 0.0}
    tallies = {
        road: {name: Tally.of(pairs, truth[name], name) for name, pairs in by_name.items()}
        for road, by_name in drawn.ends.items()
    }
    zero = tallies["default"].pop(CALIBRATION)
    return Outcome(
        cell=cell,
        n_redrawn=drawn.n_redrawn,
        default=tallies["default"],
        holds_zero=zero.coverage,
        closed=tallies.get("closed", {}),
        more_resamples=tallies.get("more", {}),
        rivals=_rivals(drawn, truth) if drawn.counts else {},
    )


def _rivals(drawn: Draws, truth: Mapping[str, float]) -> dict[str, dict[str, Tally]]:
    """Of labeled data."""
    out: dict[str, dict[str, Tally]] = {}
    for name in drawn.counts[0]:
        hits, n = np.asarray([count[name] for count in drawn.counts if count[name][1]], dtype=float).T
        out[name] = {
            rival: Tally.of(zip(*interval(hits, n), strict=True), truth[name], name)
            for rival, interval in RATE_RIVALS.items()
        }
    areas = np.asarray(drawn.areas)
    m, of_all = np.asarray([count["prevalence"] for count in drawn.counts], dtype=float).T
    pairs = {
        "DeLong": areas[:, 1:],
        "Newcombe 5": zip(*newcombe(areas[:, 0], m, of_all - m), strict=True),
    }
    out["roc_auc"] = {rival: Tally.of(ends, truth["roc_auc"], "roc_auc") for rival, ends in pairs.items()}
    return out
