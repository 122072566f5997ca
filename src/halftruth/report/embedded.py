"""What a page holds of each model: its scores, joined where they are many, and what figures need."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from halftruth._checks import Vector
from halftruth._errors import InputError
from halftruth.evidence import Evidence
from halftruth.inference._influence import CURVES
from halftruth.inference._prior_range import Span, open_priors
from halftruth.inference._requests import Request
from halftruth.results._estimate import Evaluation, Origin, json_number
from halftruth.table._score_table import ScoreTable
from halftruth.table._support import Support

SCHEMA = 1
LEAST_PURITY = 0.5
ATOMS_OF_ERRORS = 128
DIGITS_OF_ERRORS = 7
"""As for the standard errors of an evaluation."""
WITHOUT_TWIN = (
    "sweep_calibration_error",
    "smooth_calibration_error",
    "logit_smoothed_calibration_error",
    "bpm_calibration_error",
)
"""Metrics that only Python computes: the page shows them as evaluated, and their line over the priors."""
N_PRIORS = 21


def origin_of(result: Evaluation) -> Origin:
    """What an evaluation was made from."""
    if result.origin is None:
        raise InputError("This result does not hold its evidence. Make it with `evaluate`.")
    return result.origin


def metric_of(request: Request) -> dict[str, Any]:
    """What the page has to know of a row."""
    metric = request.metric
    given: Mapping[str, Any] = request.call.keywords if isinstance(request.call, partial) else {}
    plain = all(isinstance(value, (int, float, str, bool)) for value in given.values())
    twin = metric is not None and metric.name not in WITHOUT_TWIN and plain and not given.get("debias")
    return {
        "label": request.label,
        "name": None if metric is None else metric.name,
        "parameters": dict(given) if twin else {},
        "better": None if metric is None else metric.better,
        "limits": [json_number(limit) for limit in request.limits],
        "twin": twin,
        "smooth": request.smooth(curves=True),
        "curve": metric is not None and metric.name in CURVES,
    }


def model_of(name: str, result: Evaluation) -> dict[str, Any]:
    """What the page computes with of one evaluation, but for its scores."""
    origin = origin_of(result)
    evidence = plainly(origin.evidence[""])
    keep = () if result.threshold is None else (result.threshold,)
    full = evidence.table.support
    errors = full.coarse(ATOMS_OF_ERRORS, keep)
    return {
        "name": name,
        "kind": evidence.kind,
        "evidence": result.evidence,
        "bounded": evidence.measure().bounded,
        "rule": _rule_of(evidence),
        "errors": None if evidence.lone_positive else _cells_of(errors, one_sample=origin.one_sample),
        "shares": _shares_of(result),
    }


def table_of(result: Evaluation, n_bytes: int) -> dict[str, Any]:
    """The sums at the scores of an evaluation, joined until they take about so many bytes."""
    table = origin_of(result).evidence[""].table
    keep = () if result.threshold is None else (result.threshold,)
    # Joining leaves fewer scores than it is asked for, and none need be joined where all fit.
    most = _atoms_in(n_bytes, table)
    for asked in (len(table), 2 * most, int(1.5 * most)):
        if asked <= 3 * most:
            sums = _sums_of(table.support.coarse(asked, keep))
            if len(json.dumps(sums, separators=(",", ":"))) <= n_bytes:
                return sums
    return _sums_of(table.support.coarse(most, keep))


def plainly(evidence: Evidence) -> Evidence:
    """The same rows, with nothing believed of the prior, so that a scenario's prior is π."""
    return evidence.with_shares()


def _rule_of(evidence: Evidence) -> dict[str, Any]:
    table, noise = evidence.table, evidence.noise
    rows = {name: table.effective_rows(name) for name in table.strata}
    return {
        "population": evidence.population,
        "base": "value" if evidence.propensity_given else "weight",
        "rows": rows | {"population": table.effective_rows(*evidence.population_strata)},
        "noise": noise and {"within": noise.within.tolist(), "gram": noise.gram.tolist()},
    }


def _atoms_in(n_bytes: int, table: ScoreTable) -> int:
    """How many scores fit: one takes some twenty characters, a count few and a sum a dozen."""
    weights = [4 if rows.weight is None else 13 for rows in table.strata.values()]
    values = [0 if rows.value is None else 13 for rows in table.strata.values()]
    return n_bytes // (22 + sum(weights) + sum(values))


def _sums_of(support: Support) -> dict[str, Any]:
    sums: dict[str, dict[str, list[float]]] = {}
    for (stratum, column), values in support.sums().items():
        if column != "square":
            sums.setdefault(stratum, {})[column] = _short(values)
    return {"score": support.score.tolist(), "sums": sums}


def _cells_of(support: Support, *, one_sample: bool) -> dict[str, Any]:
    def maybe(values: Vector | None) -> list[float] | None:
        return None if values is None else _short(values, DIGITS_OF_ERRORS)

    strata = {
        name: {
            "atom": cells.atom.tolist(),
            "count": cells.count.tolist(),
            "weight": maybe(cells.weight),
            "value": maybe(cells.value),
            "spread": None
            if cells.spread is None
            else [_short(row, DIGITS_OF_ERRORS) for row in cells.spread],
        }
        for name, cells in support.strata.items()
    }
    return {"score": support.score.tolist(), "one_sample": one_sample, "strata": strata}


def _short(values: Iterable[float], digits: int = 10) -> list[float]:
    """Whole numbers as such, others to so many digits: what is embedded is the table, to the last of them."""
    return [int(x) if x == int(x) else float(f"{x:.{digits}g}") for x in map(float, values)]


def _shares_of(result: Evaluation) -> dict[str, Any]:
    """The prior and the purity as evaluated, and between which values the page may move them."""
    origin = origin_of(result)
    evidence: Evidence = origin.evidence[""]
    span = None
    if not evidence.lone_positive:
        span = open_priors(evidence, result.confidence_level, one_sample=origin.one_sample)
    moves = span is not None and span.wide
    return {
        "prior": json_number(result.prior.value),
        "purity": evidence.purity.value,
        "moves": moves,
        "noisy": moves and bool(span and span.kappa),
        "purity_low": _least_purity(evidence, span),
        "alpha_high": span and span.alpha_high,
        "kappa": span and span.kappa,
        "low": span and span.low,
        "high": span and span.high,
    }


def _least_purity(evidence: Evidence, span: Span | None) -> float | None:
    """Where the slider of the purity ends: above what leaves no prior, but not above the purity given."""
    if span is None or span.kappa is None:
        return None
    least = max(1 - span.kappa, LEAST_PURITY) + 0.01
    return min([least, *evidence.purity.ends(), evidence.purity.value or 1.0])


def priors_to_try(shares: Mapping[str, Any]) -> Sequence[float]:
    """Priors over the range of a page, for what only Python computes."""
    return [float(x) for x in np.linspace(shares["low"], shares["high"], N_PRIORS)] if shares["moves"] else []
