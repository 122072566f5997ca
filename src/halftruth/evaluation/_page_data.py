"""What a page tells of results: their scores, joined where they are many, and what was computed from them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

import numpy as np

from halftruth._checks import Vector
from halftruth._errors import InputError, arg
from halftruth.evaluation._planning import next_steps, review_steps
from halftruth.evidence import Evidence, Scenario
from halftruth.evidence._selection import Extreme
from halftruth.inference._influence import degrees_of
from halftruth.inference._prior_range import Span, open_priors
from halftruth.inference._requests import Request
from halftruth.measure._score_measure import ScoreMeasure
from halftruth.report._page import bytes_for_scores, page_of, preview_of
from halftruth.report._page_record import (
    Figures,
    MetricData,
    ModelData,
    PageData,
    SelectionData,
    Shares,
    Step,
    Subject,
    SumsAtScores,
)
from halftruth.results._comparison import Comparison
from halftruth.results._estimate import Estimate, Evaluation, Origin, json_number
from halftruth.results._intervals import student_quantile
from halftruth.table._resampling import Places, part_of
from halftruth.table._score_table import ScoreTable
from halftruth.table._support import SOFT, Support

__all__ = ["groups_page", "page", "page_data", "preview"]

MOST_DRAWN = 5  # models or groups with pictures; more are a table
LEAST_PURITY = 0.5
ATOMS_OF_ERRORS = 128  # as for the standard errors of an evaluation
DIGITS_OF_ERRORS = 7
N_PRIORS = 21  # points of the lines over the priors of what only Python computes


# --- The page of a result -------------------------------------------------------------------------------


def page(results: Mapping[str, Evaluation], **about: Any) -> str:
    """The page of one evaluation, of several by name, or of the models of a comparison: see `page_data`."""
    return page_of(page_data(results, **about))


def groups_page(results: Mapping[str, Evaluation], *, title: str, by: str) -> str:
    """The page of groups by name: those without evidence are only named, where others have some."""
    evaluated = {name: result for name, result in results.items() if result.origin is not None}
    rest = {name: result for name, result in results.items() if name not in evaluated}
    return page(evaluated or rest, title=title, by=by, left_out=rest if evaluated else {})


def preview(result: Evaluation | Comparison) -> str:
    """What a notebook shows of a result."""
    if isinstance(result, Comparison):
        return preview_of(PageData(results={}, comparison=result))
    results = {"": result}
    return preview_of(PageData(results=results, subjects=subjects_of(results), models=_tables_only(results)))


def page_data(
    results: Mapping[str, Evaluation],
    *,
    title: str = "",
    comparison: Comparison | None = None,
    one_population: bool = True,
    by: str = "",
    left_out: Mapping[str, Evaluation] | None = None,
) -> PageData:
    """All that a page says of results, as plain data."""
    origins = [result.origin for result in results.values()]
    drawn = len(results) <= MOST_DRAWN and all(map(_can_be_drawn, origins))
    models = _models(results, comparison) if drawn else _tables_only(results)
    shown = {
        name: _as_shown(result, model["home"])
        for (name, result), model in zip(results.items(), models, strict=True)
    }
    checks = [origin.check for origin in origins if origin is not None and origin.check is not None]
    return PageData(
        title=title,
        results=shown,
        subjects=subjects_of(results),
        models=models,
        metrics=_metrics(results.values()) if drawn else (),
        comparison=comparison,
        one_population=one_population,
        by=by,
        left_out=left_out or {},
        drawn=drawn,
        joining_changed=_largest_gap(results, shown) if drawn else 0.0,
        steps=_steps(next(iter(results.values())), drawn=drawn) if len(results) == 1 else (),
        both=checks[0].side_by_side if checks else {},
        verdicts=tuple(checks[0].verdicts.values()) if checks else (),
    )


def _can_be_drawn(origin: Origin | None) -> bool:
    """Whether there is a measure to draw, or sliders that give one: not of rows that nobody could review."""
    if origin is None:
        return False
    evidence = origin.evidence[""]
    return not evidence.multiplied or evidence.measure().unidentified is None


def _as_shown(result: Evaluation, home: Mapping[str, Figures]) -> Evaluation:
    """The result with the values of its tables, so that sentences and tables agree."""
    values = {label: home[label]["value"] for label in result}
    rows = {
        label: replace(row, value=math.nan if (value := values[label]) is None else value)
        for label, row in result.items()
    }
    return replace(result, rows=rows)


def _largest_gap(results: Mapping[str, Evaluation], shown: Mapping[str, Evaluation]) -> float:
    """By how much joining scores changed a figure, at most; 0 where nothing but rounding did."""
    pairs = [(row.value, shown[name][label].value) for name, r in results.items() for label, row in r.items()]
    gap = max((abs(a - b) for a, b in pairs if not math.isnan(a) and not math.isnan(b)), default=0.0)
    return gap if gap > 1e-9 else 0.0


def _steps(result: Evaluation, *, drawn: bool) -> tuple[Step, ...]:
    # More of the same data would not mend what was given.
    if result.refuted or result.origin is None:
        return ()
    origin = result.origin
    design = origin.evidence[""].design()
    if design is not None:
        return review_steps(result, design)
    if not drawn:
        return ()
    return next_steps(
        origin.evidence[""],
        origin.requests,
        confidence_level=result.confidence_level,
        one_sample=origin.one_sample,
    )


def subjects_of(results: Mapping[str, Evaluation]) -> dict[str, Subject]:
    """Whom the results are about that hold their evidence, by name."""
    origins = {name: result.origin for name, result in results.items() if result.origin is not None}
    return {name: _subject(origin.evidence[""]) for name, origin in origins.items()}


def _subject(evidence: Evidence) -> Subject:
    prior = evidence.prior
    prior_given: float | tuple[float, float] | None = None
    if prior.estimate is None:
        low, high = prior.ends() or (None, None)
        prior_given = (low, high) if prior.is_range and low is not None and high is not None else prior.value
    return Subject(
        rows={name: len(rows) for name, rows in evidence.table.strata.items()},
        population=evidence.population,
        naive_reading=evidence.naive_reading,
        assumption=evidence.assumption,
        assumes_scar=evidence.assumes_scar,
        prior_is_counted=not evidence.prior_is_free,
        given_prior=prior_given,
        design=evidence.design(),
    )


def _origin(result: Evaluation) -> Origin:
    """What an evaluation was made from."""
    if result.origin is None:
        raise InputError(f"This result does not hold its evidence. Make it with {arg('evaluate')}.")
    return result.origin


# --- Rows -----------------------------------------------------------------------------------------------


def _metrics(results: Iterable[Evaluation]) -> list[MetricData]:
    """The rows of all models: groups whose scores are no probabilities have fewer."""
    requests = {request.label: request for result in results for request in _origin(result).requests}
    return [metric_of(request) for request in requests.values()]


def metric_of(request: Request) -> MetricData:
    """What the scripts have to know of a row."""
    metric = request.metric
    parameters = request.parameters
    # A parameter that JSON cannot hold, as a function, has no twin in the page.
    plain = all(isinstance(value, (int, float, str, bool)) for value in parameters.values())
    twin = metric is not None and metric.twin and plain and not parameters.get("debias")
    return {
        "label": request.label,
        "name": None if metric is None else metric.name,
        "parameters": dict(parameters) if twin else {},
        "better": None if metric is None else metric.better,
        "limits": [json_number(limit) for limit in request.limits],
        "twin": twin,
        "smooth": request.smooth(curves=True),
        "places": request.places,
        "curve": metric is not None and metric.influence == "unsigned",
        "selection": "ends" if metric is None else metric.selection,
    }


# --- Models ---------------------------------------------------------------------------------------------


def _tables_only(results: Mapping[str, Evaluation]) -> list[ModelData]:
    return [
        {"name": name, "evidence": result.evidence, "status": result.status, "home": _figures(result)}
        for name, result in results.items()
    ]


def _models(results: Mapping[str, Evaluation], comparison: Comparison | None) -> list[ModelData]:
    """The models with their scores, which take what the rest of the page leaves."""
    models = [model_of(name, result) for name, result in results.items()]
    pairs = 0 if comparison is None else len(comparison.pairs)
    n_bytes = bytes_for_scores(models, max(map(len, results.values())) * (len(models) + pairs))
    for model, result in zip(models, results.values(), strict=True):
        model["table"] = table_of(result, n_bytes)
        model["home"] = _figures(result, model)
        model["sensitivity"] = _sensitivity(result, model["shares"])
    return models


def model_of(name: str, result: Evaluation) -> ModelData:
    """What the page computes with of one evaluation, but for its scores."""
    origin = _origin(result)
    evidence = without_prior(origin.evidence[""])
    keep = () if result.threshold is None else (result.threshold,)
    errors = evidence.table.support.coarse(ATOMS_OF_ERRORS, keep).with_both_sides(result.threshold)
    return {
        "name": name,
        "kind": evidence.kind,
        "evidence": result.evidence,
        "status": result.status,
        "bounded": evidence.measure().bounded,
        "rule": _rule_of(evidence),
        "errors": None
        if evidence.lone_positive or evidence.kind == "reviewed"
        else _cells_of(errors, result.confidence_level, one_sample=origin.one_sample),
        "shares": _shares_of(result),
        "selection": _selection_of(origin.evidence[""]),
    }


def table_of(result: Evaluation, n_bytes: int) -> SumsAtScores:
    """The sums at the scores of an evaluation, joined until they take about so many bytes."""
    table = _origin(result).evidence[""].for_page.table
    keep = () if result.threshold is None else (result.threshold,)
    # Joining leaves fewer scores than it is asked for, and none need be joined where all fit.
    most = _atoms_in(n_bytes, table)
    for n_atoms in (len(table), 2 * most, int(1.5 * most)):
        if n_atoms <= 3 * most:
            sums = _sums_of(table.support.coarse(n_atoms, keep))
            if len(json.dumps(sums, separators=(",", ":"))) <= n_bytes:
                return sums
    return _sums_of(table.support.coarse(most, keep))


def measure_at(
    table: SumsAtScores,
    evidence: Evidence,
    prior: float | None,
    purity: float | None,
    extreme: Extreme | None = None,
) -> ScoreMeasure:
    """The measure of the embedded scores at a prior and a purity, where positives have this law."""
    sums = {
        (stratum, column): np.asarray(values, dtype=np.float64)
        for stratum, columns in table["sums"].items()
        for column, values in columns.items()
    }
    score = np.asarray(table["score"], dtype=np.float64)
    scenario = Scenario(prior=prior, purity=purity, extreme=extreme)
    return without_prior(evidence).rule(sums, scenario).apply(score, sums)


def without_prior(evidence: Evidence) -> Evidence:
    """The same rows, with nothing believed of the prior, so that a scenario's prior is π."""
    return evidence.for_page.with_shares()


def _figures(result: Evaluation, model: ModelData | None = None) -> dict[str, Figures]:
    """The figures as evaluated: values from the embedded table, where it is there and can give them."""
    values = {label: row.value for label, row in result.items()}
    origin = result.origin
    # Nothing moves the figures of reviewed rows, and the scripts do not know how they are judged by others.
    if model is not None and origin is not None and model["kind"] != "reviewed":
        evidence = origin.evidence[""]
        prior, purity = json_number(result.prior.value), evidence.purity.value
        measure = measure_at(model["table"], evidence, prior, purity)
        twins = [r for r in origin.requests if metric_of(r)["twin"]]
        values |= {r.label: r.at(measure) for r in twins if not np.isnan(values[r.label])}
    return {label: _figures_of(row, values[label]) for label, row in result.items()}


def _figures_of(row: Estimate, value: float) -> Figures:
    out: Figures = {
        "naive": json_number(row.naive),
        "value": json_number(value),
        "low": json_number(row.low),
        "high": json_number(row.high),
    }
    if row.selected:
        at_random = row.over(range(row.n_plain or 0))
        out["plain"] = [json_number(end) for end in (at_random.low, at_random.high)]
        out["selected"] = [json_number(end) for end in row.selection_range]
    return out


def _sensitivity(result: Evaluation, shares: Shares) -> dict[str, list[tuple[float, float | None]]]:
    """Lines over the priors, of what the page cannot compute."""
    origin = _origin(result)
    evidence = without_prior(origin.evidence[""])
    purity = origin.evidence[""].purity.value
    without_twin = [r for r in origin.requests if not metric_of(r)["twin"]]
    priors = _priors_to_try(shares) if without_twin else []
    measures = [(prior, evidence.measure_at(Scenario(prior=prior, purity=purity))) for prior in priors]
    return {
        r.label: [(prior, json_number(r.at(measure))) for prior, measure in measures] for r in without_twin
    }


def _priors_to_try(shares: Shares) -> Sequence[float]:
    if not shares["moves"] or shares["low"] is None or shares["high"] is None:
        return []
    return [float(x) for x in np.linspace(shares["low"], shares["high"], N_PRIORS)]


def _rule_of(evidence: Evidence) -> dict[str, object]:
    """What the scripts make the measure with at another prior: see `Evidence.rule`."""
    table, noise = evidence.table, evidence.noise
    rows = {name: table.effective_rows(name) for name in table.strata}
    size = evidence.measure().size
    if evidence.population is not None:
        size = table.effective_rows(*evidence.population_strata)
    return {
        "population": evidence.population,
        "base": "value" if evidence.propensity_given else "weight",
        "rows": rows | {"population": size},
        "units": evidence.own_units,
        "noise": noise and {"within": noise.within.tolist(), "gram": noise.gram.tolist()},
    }


def _atoms_in(n_bytes: int, table: ScoreTable) -> int:
    """How many scores fit: one takes some twenty characters, a count few and a sum a dozen."""
    weights = [4 if rows.weight is None else 13 for rows in table.strata.values()]
    values = [0 if rows.value is None else 13 for rows in table.strata.values()]
    return n_bytes // (22 + sum(weights) + sum(values))


def _sums_of(support: Support) -> SumsAtScores:
    sums: dict[str, dict[str, list[float]]] = {}
    for (stratum, column), values in support.sums().items():
        if column != "square":
            sums.setdefault(stratum, {})[column] = _short(values)
    if SOFT in sums:  # of weighted reviews, how many they are
        for stratum, cells in support.strata.items():
            if stratum != SOFT and cells.weight is not None:
                count = np.bincount(cells.atom, cells.count, minlength=len(support.score))
                sums[stratum]["count"] = _short(count)
    return {"score": support.score.tolist(), "sums": sums}


def _cells_of(support: Support, level: float, *, one_sample: bool) -> dict[str, object]:
    def short(values: Vector | None) -> list[float] | None:
        return None if values is None else _short(values, DIGITS_OF_ERRORS)

    strata = {
        name: {
            "atom": cells.atom.tolist(),
            "count": cells.count.tolist(),
            "weight": short(cells.weight),
            "value": short(cells.value),
            "spread": None if cells.spread is None else [short(row) for row in cells.spread],
            "usual": cells.usual_rows(soft=name == SOFT),
            "parts": {places: part_of(places, cells, known=name == SOFT) for places in get_args(Places)},
        }
        for name, cells in support.strata.items()
    }
    degrees: dict[Places, float] = {"anywhere": degrees_of(support), "ends": math.inf}
    quantile = {places: student_quantile((1 + level) / 2, df) for places, df in degrees.items()}
    about = {"one_sample": one_sample, "quantile": quantile}
    return {"score": support.score.tolist(), **about, "strata": strata}


def _short(values: Iterable[float], digits: int = 10) -> list[float]:
    """Whole numbers as such, others to so many digits: what is embedded is the table, to the last of them."""
    return [int(x) if x == int(x) else float(f"{x:.{digits}g}") for x in map(float, values)]


def _shares_of(result: Evaluation) -> Shares:
    """The prior and the purity as evaluated, and between which values the page may move them."""
    origin = _origin(result)
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
        "alpha_high": None if span is None else span.alpha_high,
        "kappa": None if span is None else span.kappa,
        "low": None if span is None else span.low,
        "high": None if span is None else span.high,
    }


def _selection_of(evidence: Evidence) -> SelectionData | None:
    """What the slider for biased known positives starts at and needs; None where there is nothing to move."""
    if evidence.population is None or evidence.lone_positive:
        return None
    try:
        biased = evidence.with_selection(2.0).with_shares()
    except InputError:  # every positive is known
        return None
    # The prior matters to how much positives move, not to where blocks of them begin.
    scenario = Scenario(prior=0.5, purity=1.0, extreme=biased.selection.extremes[0])
    tilt = biased.rule(biased.table.support.sums(), scenario).tilt
    edge = [] if tilt is None or tilt.edge is None else tilt.edge.tolist()
    given = evidence.selection
    slack = 1.0 if tilt is None else tilt.slack
    return {"gamma": given.gamma, "direction": given.direction, "edge": edge, "slack": slack}


def _least_purity(evidence: Evidence, span: Span | None) -> float | None:
    """Where the slider of the purity ends: above what leaves no prior, but not above the purity given."""
    if span is None or span.kappa is None:
        return None
    least = max(1 - span.kappa, LEAST_PURITY) + 0.01
    return min([least, *evidence.purity.ends(), evidence.purity.value or 1.0])
