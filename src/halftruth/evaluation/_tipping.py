"""Tipping: how far the known positives must be from a random sample before a claim no longer stands."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from halftruth import _checks
from halftruth._errors import InputError, arg
from halftruth._registry import headline
from halftruth.evaluation._estimation import Estimation
from halftruth.evidence import Evidence
from halftruth.inference._prior_range import prior_range
from halftruth.inference._requests import ModelRows
from halftruth.results._comparison import Comparison, Pair
from halftruth.results._estimate import Evaluation, Origin

__all__ = ["tipping_of_metric", "tipping_of_order"]

Claim = Literal[">=", "<="]
MOST = 1e4  # a selection beyond which nobody looks: then all positives have the worst of the scores seen
PRECISE = 1e-4  # of Γ, relative: far below what sampling leaves of it


def tipping_of_metric(
    result: Evaluation, name: str, limit: float, *, sampling: bool = True, claim: Claim | None = None
) -> float:
    """See `Evaluation.tipping`."""
    row = result[name]
    limit, origin = _checks.finite(limit, "limit"), _origin_of(result.origin)
    evidence = _refuse_full_labels(origin.evidence[""])
    request = next(r for r in origin.requests if r.label == name)
    if claim is None:
        better = None if request.metric is None else request.metric.better
        if better is None:
            raise InputError(f"{name} is not better high or low. Say what is claimed: {arg('claim', '>=')}.")
        claim = ">=" if better == "high" else "<="
    sign = 1 if _checks.choice(claim, "claim", (">=", "<=")) == ">=" else -1

    def margin(gamma: float) -> float:
        """By how much the worst end still keeps the claim, where selection goes up to this."""
        selected = _with_gamma(evidence, gamma)
        span = prior_range(selected, row.confidence_level)
        if not sampling:
            values = ModelRows(selected, selected.table.support).exact([request], span.scenarios)[request]
            if span.unknown:
                values = np.clip(values, *request.limits)
            return float(np.min(sign * (values - limit)))
        how: dict[str, Any] = {"one_sample": origin.one_sample, "model": origin.model or ModelRows}
        run = Estimation(selected, (request,), span, result.threshold, origin.n_resamples, **how)
        rng = np.random.default_rng(origin.seed)
        drawn = run.estimates(rng, row.confidence_level, origin.method)[request]
        return sign * ((drawn.low if sign > 0 else drawn.high) - limit)

    return _least_gamma(margin)


def tipping_of_order(
    comparison: Comparison,
    compare: Callable[..., Comparison],
    metric: str | None,
    pair: Pair | None,
    *,
    sampling: bool = True,
) -> float:
    """See `Comparison.tipping`."""
    origin = _origin_of(comparison.origin)
    pair = next(iter(comparison.pairs)) if pair is None else pair
    pair = pair if pair in comparison.pairs else (pair[1], pair[0])
    rows = comparison[pair]
    name = headline(rows) if metric is None else metric
    if name not in rows:
        raise InputError(argument="metric", must=f"be one of {', '.join(rows)}", got=repr(metric))
    request = next(r for r in origin.requests if r.label == name)
    models = {model: _refuse_full_labels(origin.evidence[model]) for model in pair}
    as_they_came = origin.one_sample == all(e.rows_are_one_sample for e in origin.evidence.values())
    sign = 1 if rows[name].value > 0 else -1

    def margin(gamma: float) -> float:
        row = compare(
            {model: _with_gamma(evidence, gamma) for model, evidence in models.items()},
            {name: request.call},
            threshold=comparison.threshold,
            confidence_level=comparison.confidence_level,
            n_resamples=origin.n_resamples if sampling else 0,
            rng=origin.seed,
            paired=comparison.paired,
            stratified=None if as_they_came else not origin.one_sample,
        )[name]
        ends = (row.low, row.high) if sampling else (np.nanmin(row.centers), np.nanmax(row.centers))
        # An order that is told apart from none has all of its interval on one side of 0.
        return float(sign * ends[0 if sign > 0 else 1]) - np.finfo(float).tiny

    return _least_gamma(margin)


def _least_gamma(margin: Callable[[float], float]) -> float:
    """The least Γ at which a margin, which falls with it, is no longer kept; 1 if never, inf if always."""

    def at(log_gamma: float) -> float:
        try:
            return margin(float(np.exp(log_gamma)))
        except InputError:  # nothing stands where so much selection does not go with what else was given
            return -math.inf

    first = margin(1.0)
    if not first >= 0:  # also where there is no number at all
        return 1.0
    low, high = 0.0, np.log(2.0)
    while (last := at(high)) >= 0:
        low, first = high, last
        if high >= np.log(MOST):
            return float("inf")
        high = min(2 * high, float(np.log(MOST)))
    # A secant from both ends, the end that stays halved (Illinois): few steps on what is nearly a line.
    while high - low > PRECISE:
        # Where nothing is said beyond a point, halves.
        middle = low + (high - low) * (first / (first - last) if math.isfinite(last) else 0.5)
        middle = float(np.clip(middle, low + PRECISE / 4, high - PRECISE / 4))
        value = at(middle)
        if value >= 0:
            low, first, last = middle, value, last / 2
        else:
            high, last, first = middle, value, first / 2
    return float(np.exp(high))


def _origin_of(origin: Origin | None) -> Origin:
    """What a result was made from; an error where it is no longer there."""
    if origin is None:
        raise InputError("This result no longer holds its evidence, as one that was stored. Make it anew.")
    return origin


def _refuse_full_labels(evidence: Evidence) -> Evidence:
    """The evidence, where it has known positives beside unlabeled rows."""
    if evidence.population is not None:
        return evidence
    raise InputError(
        f"Only positives among unlabeled rows can be selected; {evidence!r} has none. A claim on full labels "
        "rests on the rows being a random sample, not on which positives are known."
    )


def _with_gamma(evidence: Evidence, gamma: float) -> Evidence:
    """The same evidence where selection, in the direction that was given, goes up to Γ."""
    return evidence.with_selection(replace(evidence.selection, gamma=gamma).as_given())
