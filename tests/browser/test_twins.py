"""The arithmetic of the page is that of the library: every twin, from every kind of evidence, in a real browser."""

from __future__ import annotations

import json
import math
import random
import struct
from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib import resources
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import halftruth as ht
from halftruth._registry import REGISTRY
from halftruth.evaluation._page_data import (
    ATOMS_OF_ERRORS,
    metric_of,
    model_of,
    table_of,
    without_prior,
)
from halftruth.evidence import Evidence, Scenario
from halftruth.evidence._selection import Extreme
from halftruth.inference._influence import Errors, degrees_of, gradients, unseen, variance
from halftruth.inference._prior_range import prior_span
from halftruth.inference._requests import Request, read_requests
from halftruth.results._estimate import figure
from halftruth.results._intervals import normal_interval, score_interval
from halftruth.table._support import Sums, Support

from .figures_at import measure_at

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

SCRIPTS = ("numbers.js", "measure.js", "tilt.js", "metrics.js", "intervals.js")
NAMES = (
    "figure percent normalQuantile METRICS shares priorRange rule measureOf confusion rocCurve prCurve reliability "
    "distribution standardErrors interval unsigned reachOf"
)
THRESHOLD, LEVEL = 0.4, 0.9

AT = """({ model, metrics, prior, purity, extreme }) => {
    const { score, sums } = model.table;
    const fine = twins.measureOf(score, sums, twins.rule(model, sums, prior, purity, undefined, extreme));
    const errors = twins.standardErrors(model, metrics, prior, purity, fine, extreme);
    const regular = twins.unsigned(fine);
    return Object.fromEntries(metrics.map(({ label, name, parameters, limits }) => {
        const value = twins.METRICS[name](fine, parameters);
        const ends = twins.interval(value, errors[label], limits, regular);
        return [label, [value, errors[label]?.error ?? null, ...ends]];
    }));
}"""
TILTED = """({ model, metrics, prior, purity, extreme }) => {
    const { score, sums } = model.table;
    const plain = twins.measureOf(score, sums, twins.rule(model, sums, prior, purity));
    const { pos, neg, own, tilt } =
        twins.measureOf(score, sums, twins.rule(model, sums, prior, purity, undefined, extreme));
    const reach = metrics.map((metric) => twins.reachOf(metric, plain.positives / plain.total, tilt));
    return { pos: Array.from(pos), neg: Array.from(neg), own: [own.pos, own.mass], ends: [tilt.low, tilt.high], reach };
}"""
DRAWN = """({ model, prior, purity, threshold, bins }) => {
    const { score, sums } = model.table;
    const measure = twins.measureOf(score, sums, twins.rule(model, sums, prior, purity));
    const plain = (curve) => Object.fromEntries(Object.entries(curve).map(([key, x]) => [key, Array.from(x)]));
    return {
        roc: plain(twins.rocCurve(measure)), pr: plain(twins.prCurve(measure)),
        reliability: plain(twins.reliability(measure)), distribution: plain(twins.distribution(measure, bins)),
        confusion: twins.confusion(measure, threshold), shares: twins.shares(model, prior, purity),
    };
}"""
# Numbers travel as text: playwright looks at each by itself, and JSON has no word for what is not finite.
AS_TEXT = """(text) => JSON.stringify((%s)(JSON.parse(text)), (key, x) =>
    typeof x === "number" && !Number.isFinite(x) ? String(x) : x)"""


def _evaluated(page: Page, script: str, **given: Any) -> Any:
    text = page.evaluate(AS_TEXT % script, json.dumps(given))
    for word in ("NaN", "Infinity", "-Infinity"):
        text = text.replace(f'"{word}"', word)
    return json.loads(text)


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    """A blank page with the scripts in one function, as a report has them."""
    assets = resources.files("halftruth.report") / "assets"
    scripts = "\n".join((assets / name).read_text(encoding="utf-8") for name in SCRIPTS)
    blank = browser.new_page()
    blank.evaluate(
        f'(() => {{ "use strict"; {scripts}\nwindow.twins = {{ {", ".join(NAMES.split())} }}; }})()'
    )
    yield blank
    blank.close()


# --- Evidence of every kind, with priors and purities to try.


def _samples(n_positive: int, n_unlabeled: int, seed: int = 0) -> tuple[Any, ...]:
    """Scores of known positives, of unlabeled (a quarter positive) and of known negatives, and a generator."""
    rng = np.random.default_rng(seed)
    positive, more = rng.beta(3, 2, n_positive), rng.beta(3, 2, n_unlabeled // 4)
    unlabeled = np.concatenate([more, rng.beta(2, 4, n_unlabeled - len(more))])
    return positive, unlabeled, rng.beta(2, 4, n_positive // 2), rng


def _labeled(*, weighted: bool = False, digits: int = 17) -> ht.Labeled:
    score, _, _, rng = _samples(900, 4)
    y = rng.random(len(score)) < score
    weight = rng.uniform(0.1, 3, len(score)) if weighted else None
    return ht.Labeled(y, score.round(digits), sample_weight=weight)


def _soft(*, weighted: bool = False) -> ht.SoftLabeled:
    score, _, _, rng = _samples(700, 4, 1)
    q = np.clip(score + rng.normal(0, 0.2, len(score)), 0, 1)
    return ht.SoftLabeled(q, score, sample_weight=rng.uniform(0.1, 3, len(score)) if weighted else None)


def _unlabeled(
    population: str,
    *,
    negatives: bool = False,
    propensity: bool = False,
    weighted: bool = False,
    change: Callable[[Any], Any] = np.asarray,
) -> ht.PositiveUnlabeled:
    positive, unlabeled, negative, rng = _samples(300, 1200, 2)
    return ht.PositiveUnlabeled(
        change(positive),
        change(unlabeled),
        prior=0.4,
        negative=change(negative) if negatives else None,
        propensity=rng.uniform(0.2, 1, len(positive)) if propensity else None,
        population=population,
        positive_weight=rng.uniform(0.5, 2, len(positive)) if weighted else None,
        unlabeled_weight=rng.uniform(0.5, 2, len(unlabeled)) if weighted else None,
    )


def _confident() -> ht.PositiveConfidence:
    score, _, _, rng = _samples(500, 4, 3)
    return ht.PositiveConfidence(np.clip(score + rng.normal(0, 0.1, len(score)), 0.1, 1), score)


def _apart() -> ht.PositiveUnlabeled:
    """Known positives above all others: no mass of the population at the highest scores."""
    positive, unlabeled, _, _ = _samples(60, 400, 4)
    return ht.PositiveUnlabeled(0.9 + positive / 20, unlabeled * 0.8, prior=0.2)


PRIORS = [(0.05, 1.0), (0.2, 1.0), (0.31, 1.0), (0.5, 1.0)]
PURE_AND_NOT = [*PRIORS, (0.35, 0.95), (0.4, 0.7)]
FREE = [(None, 1.0)]
CASES: dict[str, tuple[Callable[[], Evidence], list[tuple[float | None, float]]]] = {
    "labeled": (_labeled, FREE),
    "labeled, weighted": (partial(_labeled, weighted=True), FREE),
    "labeled, tied": (partial(_labeled, digits=1), FREE),
    "labeled, weighted, tied": (partial(_labeled, weighted=True, digits=1), FREE),
    "labeled, equal weights": (
        lambda: ht.Labeled(np.arange(70) % 3 == 0, np.arange(70) / 70, sample_weight=np.full(70, 0.3)),
        FREE,
    ),
    "labeled, a trace of negatives": (
        lambda: ht.Labeled([1, 1, 0], [0.9, 0.4, 0.2], sample_weight=[1, 2, 1e-14]),
        FREE,
    ),
    "labeled, one score": (lambda: ht.Labeled([1, 0, 1, 1, 0], [0.5] * 5), FREE),
    "labeled, no negative": (lambda: ht.Labeled([1, 1, 1], [0.1, 0.5, 0.5]), FREE),
    "labeled, four rows": (lambda: ht.Labeled([1, 1, 0, 0], [1.0, 0.4, 0.4, 0.0]), FREE),
    "labeled, perfect": (lambda: ht.Labeled([1, 1, 0, 0], [1.0, 0.9, 0.1, 0.0]), FREE),
    "soft": (_soft, FREE),
    "soft, weighted": (partial(_soft, weighted=True), FREE),
    "positive confidence": (_confident, [*FREE, (0.3, 1.0), (0.6, 1.0)]),
    "PU, apart": (_apart, PRIORS),
    "PU, no purer than the unlabeled": (partial(_unlabeled, "unlabeled"), [(0.7, 0.7), (0.8, 0.7)]),
    "PU, one score": (lambda: ht.PositiveUnlabeled([0.5, 0.5], [0.5] * 4, prior=0.3), PURE_AND_NOT),
    "PU, one positive": (lambda: ht.PositiveUnlabeled([0.8], [0.1, 0.2, 0.8, 0.9], prior=0.3), PRIORS),
    "PU, outside [0, 1]": (partial(_unlabeled, "unlabeled", change=lambda x: 9 * x - 4), PURE_AND_NOT),
    "labeled, far margins": (lambda: ht.Labeled([1, 0, 1, 0, 1], [1e4, -1e4, -1e4, 800.0, 40.0]), FREE),
    "labeled, outside [0, 1]": (lambda: ht.Labeled([1, 0, 1, 1], [3.0, 0.2, -1.0, 0.2]), FREE),
}
for _population in ("unlabeled", "all"):
    _of = partial(_unlabeled, _population)
    CASES |= {
        f"PU, {_population}": (_of, PURE_AND_NOT),
        f"PU, {_population}, weighted": (partial(_of, weighted=True), PURE_AND_NOT),
        f"PU, {_population}, tied": (partial(_of, change=lambda x: x.round(1)), PURE_AND_NOT),
        f"PU, {_population}, negatives": (partial(_of, negatives=True), PURE_AND_NOT),
        f"PU, {_population}, negatives, weighted": (
            partial(_of, negatives=True, weighted=True),
            PURE_AND_NOT,
        ),
        f"PU, {_population}, propensity": (partial(_of, propensity=True), PRIORS),
        f"PU, {_population}, propensity, weighted": (partial(_of, propensity=True, weighted=True), PRIORS),
        f"PU, {_population}, propensity, negatives": (partial(_of, propensity=True, negatives=True), PRIORS),
    }

VARIANTS = {
    "partial_auc, raw": partial(ht.partial_auc, max_fpr=0.3, standardize=False),
    "partial_auc, whole": partial(ht.partial_auc, max_fpr=1.0),
    "precision_at_k, rows": partial(ht.precision_at_k, k=2),
    "recall_at_fpr, none": partial(ht.recall_at_fpr, max_fpr=0.0),
    "fbeta, half": partial(ht.fbeta, beta=0.5),
    "calibration_error, width": partial(ht.calibration_error, n_bins=10, binning="width"),
    "calibration_error, squares": partial(ht.calibration_error, n_bins=7, norm=2),
    "calibration_error, largest": partial(ht.calibration_error, norm="max", binning="width"),
    "adaptive, optimal": partial(ht.adaptive_calibration_error, n_bins="optimal"),
    "maximum, fifteen": partial(ht.maximum_calibration_error, n_bins=15),
    "kuiper": partial(ht.ks_calibration_error, statistic="kuiper"),
    "risk, plain": ht.risk,
    **{
        f"risk, {loss}": partial(ht.risk, loss=loss)
        for loss in ("squared", "ramp", "zero_one", "log", "brier")
    },
    "risk, zero-one": partial(ht.risk, loss="zero_one", threshold=THRESHOLD),
    "risk, at a score": partial(ht.risk, loss="zero_one", threshold=0.5),
}
OF_PROBABILITIES = ("risk, log", "risk, brier")
TWINS = [name for name, metric in REGISTRY.items() if metric.twin]


@cache
def _evidence(case: str) -> Evidence:
    return CASES[case][0]()


@cache
def _model(case: str) -> dict[str, Any]:
    how = {"threshold": THRESHOLD, "confidence_level": LEVEL, "n_resamples": 0}
    result = ht.evaluate(_evidence(case), "prevalence", **how)
    return model_of(case, result) | {"table": table_of(result, 200_000)}


def _requests(case: str) -> tuple[Request, ...]:
    bounded = _model(case)["bounded"]
    wanted = {
        name: partial(metric.function, **metric.example) if metric.example else name
        for name, metric in REGISTRY.items()
        if name in TWINS
    } | {label: call for label, call in VARIANTS.items() if bounded or label not in OF_PROBABILITIES}
    requests = read_requests(wanted, [_evidence(case).measure()], THRESHOLD)
    return tuple(r for r in requests if r.metric is not None and (bounded or not r.metric.probability))


def _support(case: str) -> Support:
    rows = _evidence(case).table.support
    return rows.coarse(ATOMS_OF_ERRORS, [THRESHOLD]).with_both_sides(THRESHOLD)


def _errors(case: str, requests: list[Request], scenario: Scenario) -> dict[Request, Errors]:
    """Variances from the evidence's own rows, as an evaluation without resamples joins them."""
    evidence, support = _evidence(case), _support(case)

    def values(sums: Sums) -> dict[Request, Any]:
        with np.errstate(all="ignore"):
            measure = without_prior(evidence).rule(sums, scenario).apply(support.score, sums)
            return {request: request.over(measure) for request in requests}

    slopes = gradients(values, support)
    one_sample = evidence.rows_are_one_sample
    out = {}
    for r, slope in slopes.items():
        shift, added = unseen(slope, support, r.places)
        of_rows = variance(slope, support, one_sample=one_sample)
        out[r] = Errors(*(np.asarray([x]) for x in (of_rows, added, shift)))
    return out


SCENARIOS = [(case, *scenario) for case, (_, scenarios) in CASES.items() for scenario in scenarios]


@pytest.mark.parametrize(("case", "prior", "purity"), SCENARIOS)
def test_every_metric_with_its_error_and_interval(
    page: Page, case: str, prior: float | None, purity: float
) -> None:
    _matches_python(page, case, prior, purity)


def _matches_python(
    page: Page, case: str, prior: float | None, purity: float, extreme: Extreme | None = None
) -> None:
    model, requests = _model(case), _requests(case)
    metrics = [metric_of(request) for request in requests]
    assert all(metric["twin"] for metric in metrics)
    law = extreme and {**vars(extreme), **{k: model["selection"][k] for k in ("edge", "slack")}}
    found = _evaluated(page, AT, model=model, metrics=metrics, prior=prior, purity=purity, extreme=law)
    with np.errstate(all="ignore"):
        measure = measure_at(model, _evidence(case), prior, purity, extreme)
    regular = measure.unsigned
    smooth = [] if _evidence(case).lone_positive else [r for r in requests if r.smooth(curves=regular)]
    errors = _errors(case, smooth, Scenario(prior=prior, purity=purity, extreme=extreme))
    for request in requests:
        value, error, *interval = found[request.label]
        expected = request.at(measure)
        assert value == pytest.approx(expected, rel=1e-12, abs=1e-14, nan_ok=True), request.label
        if request not in errors:
            assert error is None
            assert np.isnan(interval).all()
            continue
        of_request, center = errors[request], np.asarray([expected])
        assert error == pytest.approx(np.sqrt(of_request.variance[0]), rel=1e-6, abs=1e-12, nan_ok=True)
        degrees = np.inf if request.places == "ends" else degrees_of(_support(case))
        if regular and request.limits == (0.0, 1.0):
            ends = score_interval(center, of_request.share_rows(center), LEVEL, degrees)
        else:
            spread = np.sqrt(of_request.variance + of_request.unseen)
            ends = normal_interval(center, spread, LEVEL, request.limits, degrees)
        slack = 1e-9 if extreme is None else 1e-7  # weights of errors are embedded to seven digits
        assert interval == pytest.approx(ends, rel=1e-6, abs=slack, nan_ok=True), request.label


# --- Known positives that may be biased.

BIASED = [
    (case, prior, purity, gamma, upward)
    for case, prior, purity in SCENARIOS
    if case.startswith("PU") and case != "PU, one positive"
    for gamma, upward in ((1.5, False), (3.0, True))
]


@pytest.mark.parametrize(("case", "prior", "purity", "gamma", "upward"), BIASED)
def test_the_largest_and_the_smallest_law(
    page: Page, case: str, prior: float, purity: float, gamma: float, upward: bool
) -> None:
    model, evidence, extreme = _model(case), _evidence(case), Extreme(gamma, upward)
    requests = [request for request in _requests(case) if request.is_distance]
    metrics = [metric_of(request) for request in requests]
    law = {**vars(extreme), **{k: model["selection"][k] for k in ("edge", "slack")}}
    found = _evaluated(page, TILTED, model=model, metrics=metrics, prior=prior, purity=purity, extreme=law)
    with np.errstate(all="ignore"):
        plain = measure_at(model, evidence, prior, purity)
        measure = measure_at(model, evidence, prior, purity, extreme)
        scenario = Scenario(prior=prior, purity=purity, extreme=extreme)
        tilt = without_prior(evidence).rule(evidence.table.support.sums(), scenario).tilt
        assert tilt is not None
        reach = [r.metric.reach(plain.prior, tilt, r.parameters) for r in requests if r.metric is not None]
    close = partial(pytest.approx, rel=1e-9, abs=1e-9, nan_ok=True)  # weights are embedded to ten digits
    assert found["ends"] == close([float(tilt.low), float(tilt.high)])
    assert found["pos"] == close(measure.pos_mass.tolist())
    assert found["neg"] == close(measure.neg_mass.tolist())
    assert found["own"] == close([float(measure.own.pos), float(measure.own.mass)])
    assert found["reach"] == close([float(x) for x in reach])


@pytest.mark.parametrize(("case", "prior", "purity", "gamma", "upward"), BIASED[::3])
def test_every_metric_under_an_extreme_law(
    page: Page, case: str, prior: float, purity: float, gamma: float, upward: bool
) -> None:
    _matches_python(page, case, prior, purity, Extreme(gamma, upward))


def _matches(found: dict[str, Any], expected: dict[str, Any]) -> None:
    for name, values in expected.items():
        assert np.allclose(found[name], values, rtol=1e-12, atol=1e-13, equal_nan=True), name


@pytest.mark.parametrize(("case", "prior", "purity"), SCENARIOS)
def test_curves_and_shares(page: Page, case: str, prior: float | None, purity: float) -> None:
    model, evidence = _model(case), _evidence(case)
    found = _evaluated(page, DRAWN, model=model, prior=prior, purity=purity, threshold=THRESHOLD, bins=20)
    measure = measure_at(model, evidence, prior, purity)
    if not measure.empty_classes:
        _matches(found["roc"], vars(ht.roc_curve(measure)))
        _matches(found["pr"], vars(ht.precision_recall_curve(measure)))
        cells = ht.confusion(measure, THRESHOLD)
        names = ("threshold", "tp", "fp", "fn", "tn", "predicted", "rest", "positives", "negatives", "total")
        _matches(found["confusion"], {name: getattr(cells, name) for name in names})
    if measure.bounded:
        curve = ht.reliability_curve(measure, n_resamples=0)
        _matches(
            found["reliability"], {name: getattr(curve, name) for name in ("score", "frequency", "mass")}
        )
    edges = found["distribution"]["edges"]
    _matches(found["distribution"], {"edges": np.histogram_bin_edges(measure.score, 20)})
    bins = np.minimum(np.searchsorted(edges, measure.score, side="right") - 1, 19)
    for name, masses in (("positive", measure.pos_mass), ("negative", measure.neg_mass)):
        _matches(found["distribution"], {name: np.bincount(bins, masses, minlength=20)})
    alpha = math.nan if measure.alpha is None else measure.alpha
    shares = [
        math.nan if share is None else share for share in (found["shares"]["pi"], found["shares"]["alpha"])
    ]
    pi = measure.prior if prior is None else prior
    assert shares == pytest.approx([pi, alpha], rel=1e-12, nan_ok=True)


@pytest.mark.parametrize("case", [case for case in CASES if case.startswith("PU")])
def test_priors_not_refuted(page: Page, case: str) -> None:
    model, evidence = _model(case), _evidence(case)
    assert isinstance(evidence, ht.PositiveUnlabeled)
    shares = model["shares"]
    for purity in (1.0, 0.97, 0.8):
        script = "({ model, purity }) => twins.priorRange(model, purity)"
        found = _evaluated(page, script, model=model, purity=purity)
        if shares["alpha_high"] is None:
            assert found == [shares["low"], shares["high"]]
        else:  # the page has weights to ten digits
            span = prior_span(evidence, shares["alpha_high"], shares["kappa"], purity)
            assert found == pytest.approx(list(span), rel=1e-9)


def _doubles() -> list[float]:
    source = random.Random(0)
    ties = [k / 16 for k in range(-2000, 2000)] + [2.0**48 + k / 16 for k in range(64)]
    decimals = [k / 2000 for k in range(-2000, 4000)] + [k / 10_000_000 for k in range(0, 200_000, 77)]
    powers = [sign * 2.0**k for k in range(-1074, 1024) for sign in (-1, 1)]
    edges = [
        0.0,
        -0.0,
        0.01,
        math.nextafter(0.01, 0),
        0.0099949,
        0.0099951,
        1e21,
        math.inf,
        -math.inf,
        math.nan,
    ]
    bits = [struct.unpack("<d", source.randbytes(8))[0] for _ in range(4000)]
    shares = [source.random() for _ in range(4000)]
    sizes = [source.gauss(0, 1) * 10 ** source.uniform(-9, 6) for _ in range(4000)]
    return [*ties, *decimals, *powers, *edges, *bits, *shares, *sizes]


def test_figures_are_written_as_python_writes_them(page: Page) -> None:
    numbers = _doubles()
    spelled = [str(x).replace("inf", "Infinity") for x in numbers]
    found = _evaluated(page, "({ all }) => all.map((x) => twins.figure(Number(x)))", all=spelled)
    assert [(x, text) for x, text in zip(numbers, found, strict=True) if text != figure(x)] == []
    assert _evaluated(page, "() => [null, undefined].map(twins.figure)") == ["–", "–"]


def test_percents_are_written_as_python_writes_them(page: Page) -> None:
    levels = [k / 1000 for k in range(1001)] + [x for x in _doubles() if 1e-6 < abs(x) < 1e6]
    found = _evaluated(page, "({ all }) => all.map(twins.percent)", all=levels)
    assert [(x, text) for x, text in zip(levels, found, strict=True) if text != f"{100 * x:g}%"] == []


def test_normal_quantiles(page: Page) -> None:
    source = random.Random(1)
    middle = [source.uniform(0, 1) for _ in range(1000)]
    shares = [*middle, 0.5, 0.075, 0.925, *(10 ** -source.uniform(1, 300) for _ in range(300)), 1 - 1e-13]
    found = _evaluated(page, "({ all }) => all.map(twins.normalQuantile)", all=shares)
    assert found == pytest.approx(list(map(NormalDist().inv_cdf, shares)), rel=1e-14, abs=1e-15)


def test_every_metric_of_the_registry_has_a_twin_or_is_known_to_have_none(page: Page) -> None:
    assert set(page.evaluate("() => Object.keys(twins.METRICS)")) == set(TWINS)
