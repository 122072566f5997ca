"""What a metric of a histogram can be off is bounded, whatever the order of the rows inside its bins."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import halftruth as ht
from halftruth._errors import EmptyClassWarning
from halftruth._registry import REGISTRY
from halftruth.certificate import _compression as certificate
from halftruth.evidence import Evidence
from halftruth.table._grid import Grid
from halftruth.table._histogram import UNIT
from halftruth.table._score_table import ScoreTable
from halftruth.table._strata import StratumRows

from .samples import examples

pytestmark = pytest.mark.filterwarnings("ignore::halftruth._errors.EmptyClassWarning")

PARAMETERS: dict[str, list[dict[str, Any]]] = {
    "partial_auc": [{"max_fpr": 0.1}, {"max_fpr": 0.5, "standardize": False}, {"max_fpr": 1.0}],
    "recall_at_fpr": [{}, {"max_fpr": 0.0}, {"max_fpr": 0.3}, {"max_fpr": 1.0}],
    "precision_at_k": [{"k": 0.2}, {"k": 1}, {"k": 3}, {"k": 0.7}],
    "recall_at_k": [{"k": 0.2}, {"k": 1}, {"k": 0.7}],
    "risk": [
        *({"loss": loss} for loss in ("logistic", "sigmoid", "squared", "ramp", "zero_one")),
        {"loss": "zero_one", "threshold": 0.5},
    ],
    "calibration_error": [
        {"n_bins": n, "binning": binning, "norm": norm}
        for n in ("optimal", 1, 5)
        for binning in ("mass", "width")
        for norm in (1, 2, "max")
    ],
}
SCORES: dict[str, Callable[..., np.ndarray]] = {
    "smooth": lambda rng, n, shift: rng.beta(1 + shift, 2 - shift, n),
    "rough": lambda rng, n, shift: np.round(rng.beta(1 + shift, 2 - shift, n), 2),
    "tied": lambda rng, n, _: rng.integers(0, 9, n) / 8,
    "saturated": lambda rng, n, shift: _piled_up(rng, 1 / (1 + np.exp(-rng.normal(16 * shift - 8, 4, n)))),
    "heavy": lambda rng, n, shift: rng.standard_t(1.2, n) + shift,
}
WEIGHTS: dict[str, Callable[..., np.ndarray | None]] = {
    "none": lambda rng, n: None,
    "any": lambda rng, n: rng.uniform(0.01, 3, n),
    "counts": lambda rng, n: rng.integers(1, 5, n).astype(float),
    "halves": lambda rng, n: rng.choice([0.5, 1.0, 1.5, 2.0], n),
    "light": lambda rng, n: rng.uniform(2.0**-10, 2.0**-9, n),
    "heavy": lambda rng, n: rng.uniform(1, 1000, n),
}

UNCERTIFIED = {
    *("adaptive_calibration_error", "maximum_calibration_error", "sweep_calibration_error"),
    *("ks_calibration_error", "smooth_calibration_error", "logit_smoothed_calibration_error"),
    "bpm_calibration_error",
}
"""Metrics of which nobody has worked out what a histogram does to them; evaluations then say nothing of it."""

JUDGED = {"average_precision", "pr_auc"}
MOVED_BY_ROUNDING = {"calibration_error", "recall_at_fpr", "partial_auc", "precision_at_k", "recall_at_k"}


def _piled_up(rng: np.random.Generator, score: np.ndarray) -> np.ndarray:
    at = rng.random(len(score))
    return np.where(at < 0.1, 0.0, np.where(at > 0.9, 1.0, score))


def _pushed(
    rng: np.random.Generator, grid: Grid, strata: dict[str, StratumRows], how: str
) -> dict[str, StratumRows]:
    """All positives at the top, or at the bottom, of what their bins hold; the others at the other end."""
    everything = np.concatenate([rows.score for rows in strata.values()])
    bins, place = np.unique(grid.bins(everything), return_inverse=True)
    low, high = np.full(len(bins), np.inf), np.full(len(bins), -np.inf)
    np.minimum.at(low, place, everything)
    np.maximum.at(high, place, everything)
    out = {}
    for name, rows in strata.items():
        i = np.searchsorted(bins, grid.bins(rows.score))
        ends = (0.9, 1.0) if (name == "positive") == (how == "top") else (0.0, 0.1)
        score = np.clip(low[i] + (high[i] - low[i]) * rng.choice(ends, len(i)), low[i], high[i])
        out[name] = StratumRows(score=score, weight=rows.weight)
    return out


@dataclass(frozen=True)
class Setting:
    """Rows, the evidence they are for, and the grid they are put on."""

    table: ScoreTable
    grid: Grid
    evidence: Callable[[ScoreTable], Evidence]
    threshold: float
    said: str

    def __repr__(self) -> str:
        return self.said


def _setting(
    kind: str, evidence: str, weights: str, order: str, purity: float, n_bins: int, margin: bool, seed: int
) -> Setting:
    rng = np.random.default_rng(seed)
    sizes = np.exp(rng.uniform(0, rng.choice([2, 5, 6.5]), 2)).astype(int)
    other = "negative" if evidence == "labeled" else "unlabeled"
    strata = {
        name: StratumRows(score=SCORES[kind](rng, n, shift) + 0.0, weight=WEIGHTS[weights](rng, n))
        for name, n, shift in (("positive", int(sizes[0]), 0.8), (other, int(sizes[1]), 0.3))
    }
    grid = Grid("margin" if margin or kind == "heavy" else "probability", n_bins=n_bins)
    if order != "any":
        strata = _pushed(rng, grid, strata, order)
    table = ScoreTable(strata)
    make: Callable[[ScoreTable], Evidence] = ht.Labeled.from_table
    if evidence != "labeled":
        alpha = float(rng.uniform(0.05, 0.6))
        n_p, n_u = (rows.size[0] for rows in table.strata.values())
        prior = alpha if evidence == "unlabeled" else (purity * n_p + alpha * n_u) / (n_p + n_u)
        make = partial(
            ht.PositiveUnlabeled.from_table, prior=float(prior), purity=purity, population=evidence
        )
    scores = np.concatenate([rows.score for rows in table.strata.values()])
    threshold = float(rng.choice([rng.choice(scores), 0.5, rng.random()]))
    said = f"{kind} {evidence} weights={weights} order={order} {purity} {grid} sizes={sizes} seed={seed}"
    return Setting(table, grid, make, threshold, said)


settings_of = partial(
    st.builds,
    _setting,
    kind=st.sampled_from(sorted(SCORES)),
    evidence=st.sampled_from(("labeled", "unlabeled", "all")),
    weights=st.sampled_from(("none", "none", *WEIGHTS)),
    order=st.sampled_from(("any", "top", "bottom")),
    purity=st.sampled_from((1.0, 0.8)),
    n_bins=st.sampled_from((2, 16, 32, 256, 1 << 16)),
    margin=st.booleans(),
    seed=st.integers(0, 2**32),
)


def _parameters(name: str, threshold: float) -> list[dict[str, Any]]:
    if name == "fbeta":
        return [{"threshold": threshold}, {"threshold": threshold, "beta": 0.5}]
    if REGISTRY[name].threshold:
        return [{"threshold": threshold}]
    return PARAMETERS.get(name, [{}])


def _calls(evidence: Evidence, threshold: float) -> list[tuple[str, dict[str, Any]]]:
    measure = evidence.measure()
    out = []
    for name, metric in REGISTRY.items():
        if name in UNCERTIFIED or (metric.probability and not (measure.bounded and 0 <= threshold < 1)):
            continue
        for parameters in _parameters(name, threshold):
            k = parameters.get("k")
            if not isinstance(k, int) or k < 0.999 * measure.total:
                out.append((name, parameters))
    return out


def _check(exact: Evidence, compressed: Evidence, threshold: float) -> None:
    for name, parameters in _calls(exact, threshold):
        function = REGISTRY[name].function
        one, other = float(function(exact, **parameters)), float(function(compressed, **parameters))
        bound = certificate.bound(compressed, name, parameters)
        assert bound is not None, name
        # inf where it is not defined, so that a NaN on either side is no surprise.
        assert bound == np.inf or abs(one - other) <= bound, (name, parameters, one, other, bound)


@examples(300)
@given(setting=settings_of())
def test_no_metric_is_off_by_more_than_its_bound(setting: Setting) -> None:
    table = setting.table
    _check(setting.evidence(table), setting.evidence(table.compress(setting.grid)), setting.threshold)


@examples(60)
@given(
    setting=settings_of(
        evidence=st.sampled_from(("unlabeled", "all")), purity=st.just(1.0), kind=st.just("rough")
    ),
    given_for=st.sampled_from(("unlabeled", "all", None)),
)
def test_also_with_an_estimate_for_the_other_population_or_without_a_prior(
    setting: Setting, given_for: str | None
) -> None:
    make, table = setting.evidence, setting.table
    n_p, n_u = (rows.size[0] for rows in table.strata.values())
    prior = None
    if given_for is not None:
        value = 0.25 if given_for == "unlabeled" else (n_p + 0.25 * n_u) / (n_p + n_u)
        prior = ht.PriorEstimate(
            value=value, method="test", replicates=np.full(3, value), population=given_for
        )
    make = partial(make, prior=prior)
    exact, compressed = make(table), make(table.compress(setting.grid))
    if given_for is not None:
        return _check(exact, compressed, setting.threshold)
    for name in ("predicted_positive_rate", "recall", "lift", "recall_at_k"):
        parameters = {"k": 0.2} if name == "recall_at_k" else {"threshold": setting.threshold}
        one, other = (REGISTRY[name].function(x, **parameters) for x in (exact, compressed))
        bound = certificate.bound(compressed, name, parameters)
        assert bound is not None
        assert bound == np.inf or abs(one - other) <= bound, (name, parameters, one, other, bound)
    return None


@examples(60)
@given(setting=settings_of(kind=st.just("tied"), n_bins=st.just(1 << 16), order=st.just("any")))
def test_ties_cost_nothing(setting: Setting) -> None:
    compressed = setting.evidence(setting.table.compress(setting.grid))
    weighted = any(rows.weight is not None for rows in setting.table.strata.values())
    # Whole weights count rows, and sums of weights do not say that these were whole: a known positive that is
    # left out is one of those, or one of the typical weight.
    strata = [bins for bins in compressed.table.strata.values() if bins.weight is not None]
    whole = [not (bins.weight % UNIT).any() and not (bins.square % UNIT).any() for bins in strata]
    unknown = JUDGED if any(whole) else set()
    for name, parameters in _calls(compressed, setting.threshold):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EmptyClassWarning)
            value = float(REGISTRY[name].function(compressed, **parameters))
        # Rounded weights can move an edge of equal mass, a first passage or the last row of a budget.
        if np.isnan(value) or (weighted and name in MOVED_BY_ROUNDING) or name in unknown:
            continue
        bound = certificate.bound(compressed, name, parameters)
        assert bound is not None
        # A known positive that is left out has a rounded weight, once more.
        limit = (2e-4 if name in JUDGED else 1e-4) if weighted else 1e-8
        if bound != np.inf or not weighted:
            # A small denominator makes a ratio large, and enlarges what rounding costs by the ratio squared.
            assert bound <= limit * (1 + value**2), (name, parameters, value, bound)


def _large(make: Callable[..., np.ndarray], n: int = 100_000) -> tuple[Evidence, Evidence]:
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2 == 0
    exact = ht.Labeled(y, np.where(y, make(rng, n, 1), make(rng, n, 0)))
    return exact, ht.Labeled.from_table(exact.table.compress())


def test_bounds_are_of_use() -> None:
    exact, compressed = _large(lambda rng, n, y: rng.beta(2 + y, 3 - y, n))
    limits = {
        "roc_auc": 1e-4,
        "average_precision": 1e-4,
        "brier": 1e-6,
        "brier_skill": 1e-6,
        "log_loss": 1e-6,
        "risk": 1e-6,
    }
    for name, limit in limits.items():
        bound = certificate.bound(compressed, name)
        assert bound is not None
        error = abs(REGISTRY[name].function(exact) - REGISTRY[name].function(compressed))
        assert error <= bound < limit, (name, error, bound)


def test_bounds_of_risks_are_of_use_on_margins() -> None:
    """There only the ends of what a bin holds are known, and not its mean."""
    exact, compressed = _large(lambda rng, n, y: rng.normal(3 * y - 1.5, 2, n))
    limits = {"logistic": 1e-4, "sigmoid": 1e-4, "ramp": 1e-4, "squared": 3e-3, "zero_one": 1e-9}
    for loss, limit in limits.items():
        bound = certificate.bound(compressed, "risk", {"loss": loss})
        assert bound is not None
        assert abs(ht.risk(exact, loss) - ht.risk(compressed, loss)) <= bound < limit, (loss, bound)


def test_of_a_users_own_losses_nothing_is_known() -> None:
    _, compressed = _large(lambda rng, n, y: rng.normal(size=n), n=1000)
    own = (lambda s: s**2, lambda s: np.exp(s))
    assert certificate.bound(compressed, "risk", {"loss": own}) == np.inf


def test_saturated_scores_keep_their_area() -> None:
    exact, compressed = _large(lambda rng, n, y: 1 / (1 + np.exp(-rng.normal(16 * y - 8, 4, n))))
    error = abs(ht.roc_auc(exact) - ht.roc_auc(compressed))
    bound = certificate.bound(compressed, "roc_auc")
    assert bound is not None
    assert error <= min(bound, 1e-5)


def test_what_is_not_certified_is_none() -> None:
    known = ht.PositiveUnlabeled([0.9, 0.4], [0.9, 0.6, 0.3], negative=[0.1, 0.2], prior=0.3)
    compressed = ht.PositiveUnlabeled.from_table(known.table.compress(), prior=0.3, population="unlabeled")
    assert certificate.bound(compressed, "roc_auc") is None
    labeled = ht.Labeled.from_table(ht.Labeled([1, 0], [0.9, 0.1]).table.compress())
    assert certificate.bound(labeled, "no such metric") is None
    assert certificate.bound(known, "roc_auc") == 0.0


def test_every_metric_of_the_registry_has_a_bound_or_is_known_to_have_none() -> None:
    assert {name for name, metric in REGISTRY.items() if metric.certificate} == set(REGISTRY) - UNCERTIFIED
    assert set(REGISTRY) >= UNCERTIFIED


@pytest.mark.parametrize("name", sorted(UNCERTIFIED))
def test_without_a_bound_an_evaluation_has_a_value_and_claims_nothing(name: str) -> None:
    _, compressed = _large(lambda rng, n, y: rng.beta(2 + y, 3 - y, n), n=1000)
    assert certificate.bound(compressed, name) is None
    row = ht.evaluate(compressed, [name], n_resamples=20)[name]
    assert row.value == REGISTRY[name].function(compressed)
    assert row.compression is None


@pytest.mark.parametrize("debias", ["corrected", "posterior"])
def test_an_error_less_its_noise_is_within_any_bound_it_has(debias: str) -> None:
    exact, compressed = _large(lambda rng, n, y: rng.beta(2 + y, 3 - y, n), n=1000)
    one, other = (ht.calibration_error(x, debias=debias) for x in (exact, compressed))
    bound = certificate.bound(compressed, "calibration_error", {"debias": debias})
    assert bound is None or abs(one - other) <= bound
    row = ht.evaluate(compressed, [partial(ht.calibration_error, debias=debias)], n_resamples=20)
    assert row["calibration_error"].value == other


def test_a_bound_takes_milliseconds() -> None:
    _, compressed = _large(lambda rng, n, y: rng.beta(2 + y, 3 - y, n))
    certificate.bound(compressed, "roc_auc")
    start = time.perf_counter()
    for name, parameters in _calls(compressed, 0.5):
        certificate.bound(compressed, name, parameters)
    # Some fifty calls; far more than they take, so that a busy machine passes too.
    assert time.perf_counter() - start < 10
