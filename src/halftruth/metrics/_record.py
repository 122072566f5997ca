"""The record of a metric: all that the package knows of it, declared once, beside its function.

``@metric(...)`` stands above a function of evidence, `halftruth.metrics._rates.rate` above a property of a
confusion table. The registry collects the records; what evaluates, bounds, draws or documents metrics reads
them there.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, TypeVar

import numpy as np

from halftruth import _checks
from halftruth._errors import InputError, arg
from halftruth.measure._tilt import Tilt

__all__ = ["DECLARED", "Metric", "Scale", "distance", "metric"]

Functional = Callable[..., Any]
"""``function(evidence, **parameters)``, along the last axis of the masses where it is given a measure."""
Scale = Literal["score", "probability", "margin"]  # what a metric takes the scores for
INFINITY = float("inf")

Function = TypeVar("Function", bound=Functional)


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A functional of the measure, and all that the package knows of it."""

    name: str
    """The key everywhere."""
    function: Functional
    title: str = ""
    """What people call it; without one the name is written in words."""
    meaning: str = ""
    """What it says, for people."""
    aliases: tuple[str, ...] = ()
    """What it is called elsewhere, for those who look for it here."""
    formula: str = ""
    """In the masses, for the index of metrics: TP = μ₁[s ≥ t], FP = (μ − μ₁)[s ≥ t], FN = μ₁[s < t],
    TN = (μ − μ₁)[s < t], n = μ(all), π = μ₁(all)/n, gap(A) = μ₁(A) − ∫_A s dμ."""
    paper: str = ""
    """Where it was proposed; empty for the rates of every textbook."""
    better: Literal["high", "low"] | None = "high"
    limits: tuple[float, float] = (0.0, 1.0)
    """What is possible; noisy evidence may leave it."""
    needs: Literal["prior", "shape", "nothing"] = "prior"
    """What of the positives must be identified."""
    probability: bool = False
    """Whether scores must lie in [0, 1]."""
    scale_of_loss: Callable[[object], Scale] | None = None
    """For a metric with a ``loss=``: what a loss takes the scores for."""
    threshold: bool = False
    """Whether it takes a threshold."""
    example: Mapping[str, Any] = field(default_factory=dict)
    """Parameters without a default, or worth showing; tests use them."""
    default: bool = False
    """Whether an evaluation shows it unasked, as it does headlines, where scores or a threshold allow it."""
    headline: int | None = None
    """Its place among those that are spoken of first."""
    interval: Literal["percentile", "envelope"] = "percentile"
    """The bootstrap interval with the best coverage for it."""
    influence: Literal["smooth", "unsigned"] | None = "smooth"
    """Whether it has a derivative that shows its error: always, only where no mass is negative (where masses
    are signed, curves turn back), or never."""
    local: bool = False
    """Whether a few rows decide it, as at a fixed budget, rather than an average over many."""
    distance: bool = False
    """Whether it is one, which noise inflates."""
    undefined: str = ""
    """Why it has no value where both classes have cases, for a note; empty where that cannot be."""
    unit_laws: bool = True
    """False where the number of rows, not only their distribution, enters."""
    of_confusion: Callable[..., Any] | None = None
    """``of_confusion(confusion, **parameters)``, where the four cells at its threshold say all."""
    denominator: Callable[..., Any] | None = None
    """What that divides by, where it can change its sign with the threshold; else the mass of all rows."""
    certificate: Literal["corners", "pure corners", "own"] | None = None
    """How far a histogram can be off. Extremes lie at the corners of what the cells can be: always, or only
    where no stratum adds to positives and negatives alike; or a function of the metric's name in
    `halftruth.certificate` bounds it; or nothing does."""
    rank_bound: Literal["ends", "ties"] | None = "ends"
    """What bounds it over all labels of unlabeled rows: the outermost labels, because it only grows or only
    falls with the true positives; these unless rows are tied, else a search; nothing."""
    selection: Literal["ends", "variation", "cumulative", "largest", "unknown"] = "ends"
    """What bounds it where known positives were selected: the two extreme laws, because it only rises or only
    falls with the true positives; what their mass moves by, in all, up to a score or in one bin; nothing."""
    linear: bool = False
    """Whether it is linear in μ₁ where μ and π are fixed."""
    twin: bool = True
    """Whether ``report/assets/metrics.js`` computes it too; else the page shows Python's figures."""

    @property
    def ranking(self) -> bool:
        """Whether only the order of the scores (and of the threshold among them) matters."""
        return not self.probability and self.scale_of_loss is None

    def __reduce__(self) -> tuple[Callable[..., Metric], tuple[str, str]]:
        """A copy or a pickle is the record that was declared: formulas of properties cannot be pickled."""
        return _declared, (self.function.__module__, self.name)

    def bind(self, threshold: float | None = None, /, **parameters: Any) -> Functional:
        """The function of the measure alone; an error where a parameter is missing or unknown."""
        if self.threshold and "threshold" not in parameters:
            if threshold is None:
                raise InputError(
                    f"{arg(self.name)} is a rate at a threshold. Pass {arg('threshold', ...)}, on the "
                    "scale of the scores."
                )
            parameters["threshold"] = _checks.threshold(threshold)
        try:
            inspect.signature(self.function).bind(None, **parameters)
        except TypeError as error:
            raise InputError(
                f"{arg(self.name)} cannot be called: {error}. Give its parameters, e.g. {{label: "
                f"partial(ht.{self.name}, {', '.join(f'{k}={v!r}' for k, v in self.example.items())})}}."
            ) from None
        return partial(self.function, **parameters) if parameters else self.function

    def with_defaults(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Its parameters, those left out at their defaults."""
        call = inspect.signature(self.function).bind(None, **parameters)
        call.apply_defaults()
        return {name: value for name, value in call.arguments.items() if name != "evidence"}

    def reach(self, prior: Any, tilt: Tilt, parameters: Mapping[str, Any]) -> Any:
        """How far, at most, a tilt of the positives moves a distance: by the triangle inequality."""
        given = self.with_defaults(parameters)
        kind, most = self.selection, np.asarray(tilt.high) - 1
        if given.get("norm") == 2:
            # √Σ Δ²/μ over bins, with Δ at most (b − 1) μ₁ and μ₁ at most μ in each.
            return most * np.sqrt(prior)
        if given.get("norm") == "max" or kind == "largest":
            return most
        if kind == "cumulative" and given.get("statistic") != "kuiper":
            return prior * tilt.moved
        return np.inf if kind == "unknown" else 2 * prior * tilt.moved

    def smooth(self, *, unsigned: bool) -> bool:
        """Whether it has a derivative that shows its error, where masses are ``unsigned`` or not."""
        return self.influence == "smooth" or (unsigned and self.influence == "unsigned")

    def scale(self, parameters: Mapping[str, Any]) -> Scale:
        """What it takes the scores for."""
        if self.scale_of_loss is not None:
            return self.scale_of_loss(self.with_defaults(parameters)["loss"])
        return "probability" if self.probability else "score"


DECLARED: dict[str, Metric] = {}
"""The records of the modules that have been imported; `halftruth._registry` imports all of them."""


def _declared(home: str, name: str) -> Metric:
    importlib.import_module(home)
    return DECLARED[name]


def metric(**properties: Any) -> Callable[[Function], Function]:
    """Declares the function below it a metric of its name, with these properties of `Metric`."""

    def declare(function: Function) -> Function:
        name = function.__name__
        DECLARED[name] = Metric(name=name, function=function, **properties)
        return function

    return declare


def distance(**properties: Any) -> Callable[[Function], Function]:
    """Declares a calibration error: how far the scores lie from the frequencies.

    It has a kink at 0, so no derivative there, and moves either way with the true positives.
    """
    fixed: dict[str, Any] = {
        "better": "low",
        "probability": True,
        "interval": "envelope",
        "influence": None,
        "distance": True,
        "rank_bound": None,
        "selection": "variation",
    }
    return metric(**fixed | properties)
