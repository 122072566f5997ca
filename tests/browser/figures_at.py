"""Python's figures from the table that a page holds: what its scripts must show, to the last digit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from halftruth.evaluation import _page_data
from halftruth.evaluation._page_data import without_prior
from halftruth.evidence import Evidence, Scenario
from halftruth.evidence._selection import Extreme
from halftruth.inference._influence import Errors, degrees_of, gradients, unseen, variance
from halftruth.inference._requests import Request
from halftruth.measure._score_measure import ScoreMeasure
from halftruth.results._intervals import normal_interval, score_interval
from halftruth.table._support import Cells, Sums, Support

Model = Mapping[str, Any]
Figures = dict[str, tuple[float, float, float]]
"""Value, low and high by label; NaN where the page shows none."""


def measure_at(
    model: Model,
    evidence: Evidence,
    prior: float | None,
    purity: float | None,
    extreme: Extreme | None = None,
) -> ScoreMeasure:
    """The measure of the embedded scores at a prior and a purity, where positives have this law."""
    return _page_data.measure_at(model["table"], evidence, prior, purity, extreme)


def figures_at(
    model: Model,
    evidence: Evidence,
    requests: Sequence[Request],
    prior: float,
    purity: float = 1.0,
    confidence_level: float = 0.95,
    extreme: Extreme | None = None,
) -> Figures:
    """Values at a prior that is taken as exact, with their intervals where these have a closed form."""
    measure = measure_at(model, evidence, prior, purity, extreme)
    regular = measure.unsigned
    smooth = [r for r in requests if r.smooth(curves=regular)]
    errors = _errors(model, evidence, smooth, Scenario(prior=prior, purity=purity, extreme=extreme))
    out = {}
    for request in requests:
        value, low, high = request.at(measure), np.nan, np.nan
        if request in errors:
            center, found = np.asarray([value]), errors[request]
            degrees = degrees_of(_support_of(model["errors"])) if request.places == "anywhere" else np.inf
            if regular and request.limits == (0.0, 1.0):
                low, high = score_interval(center, found.share_rows(center), confidence_level, degrees)
            else:
                error = np.sqrt(found.variance + found.unseen)
                low, high = normal_interval(center, error, confidence_level, request.limits, degrees)
        out[request.label] = value, low, high
    return out


def _errors(
    model: Model, evidence: Evidence, requests: Iterable[Request], scenario: Scenario
) -> dict[Request, Errors]:
    if model["errors"] is None:
        return {}
    support = _support_of(model["errors"])
    plain = without_prior(evidence)

    def values(sums: Sums) -> dict[Request, Any]:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            measure = plain.rule(sums, scenario).apply(support.score, sums)
            return {request: request.over(measure) for request in requests}

    one_sample, out = bool(model["errors"]["one_sample"]), {}
    for request, slope in gradients(partial(values), support).items():
        shift, added = unseen(slope, support, request.places)
        squared = variance(slope, support, one_sample=one_sample)
        out[request] = Errors(*(np.asarray([x]) for x in (squared, added, shift)))
    return out


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
