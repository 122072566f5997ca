"""Python's figures from the table that a page holds: what its scripts must show, to the last digit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from halftruth.evaluation import _page_data
from halftruth.evaluation._page_data import without_prior
from halftruth.evidence import Evidence, Scenario
from halftruth.inference._influence import gradients, variance
from halftruth.inference._requests import Request
from halftruth.measure._score_measure import ScoreMeasure
from halftruth.results._intervals import normal_interval
from halftruth.table._support import Cells, Sums, Support

Model = Mapping[str, Any]
Figures = dict[str, tuple[float, float, float]]
"""Value, low and high by label; NaN where the page shows none."""


def measure_at(model: Model, evidence: Evidence, prior: float | None, purity: float | None) -> ScoreMeasure:
    """The measure of the embedded scores at a prior and a purity."""
    return _page_data.measure_at(model["table"], evidence, prior, purity)


def figures_at(
    model: Model,
    evidence: Evidence,
    requests: Sequence[Request],
    prior: float,
    purity: float = 1.0,
    confidence_level: float = 0.95,
) -> Figures:
    """Values at a prior that is taken as exact, with their intervals where these have a closed form."""
    measure = measure_at(model, evidence, prior, purity)
    regular = measure.unsigned
    smooth = [r for r in requests if r.smooth(curves=regular)]
    errors = _errors(model, evidence, smooth, Scenario(prior=prior, purity=purity))
    out = {}
    for request in requests:
        value, low, high = request.at(measure), np.nan, np.nan
        if request in errors:
            center, error = np.asarray([value]), np.asarray([errors[request]])
            logit = regular and request.limits == (0.0, 1.0)
            low, high = normal_interval(center, error, confidence_level, request.limits, logit=logit)
        out[request.label] = value, low, high
    return out


def _errors(
    model: Model, evidence: Evidence, requests: Iterable[Request], scenario: Scenario
) -> dict[Request, float]:
    if model["errors"] is None:
        return {}
    support = _support_of(model["errors"])
    plain = without_prior(evidence)

    def values(sums: Sums) -> dict[Request, Any]:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            measure = plain.rule(sums, scenario).apply(support.score, sums)
            return {request: request.over(measure) for request in requests}

    slopes = gradients(partial(values), support)
    one_sample = bool(model["errors"]["one_sample"])
    squares = {r: variance(slope, support, one_sample=one_sample) for r, slope in slopes.items()}
    return {request: float(np.sqrt(square)) for request, square in squares.items()}


def _support_of(errors: Mapping[str, Any]) -> Support:
    def maybe(values: Any) -> Any:
        return None if values is None else np.asarray(values, dtype=np.float64)

    strata = {
        name: Cells(
            atom=np.asarray(cells["atom"], dtype=np.intp),
            count=np.asarray(cells["count"], dtype=np.int64),
            weight=maybe(cells["weight"]),
            value=maybe(cells["value"]),
            square=maybe(cells["value"]),  # is not read: it says how noisy bins are
            spread=maybe(cells["spread"]),
        )
        for name, cells in errors["strata"].items()
    }
    return Support(score=np.asarray(errors["score"], dtype=np.float64), strata=strata)
