"""Many rows take another road through the code: every functional must give the same there."""

from __future__ import annotations

import numpy as np
import pytest

import halftruth as ht
from halftruth._registry import REGISTRY
from halftruth.inference._prior_range import alpha_bound
from halftruth.measure import _arithmetic, _mass_rule
from halftruth.measure._sorted_measure import ManyAtoms
from halftruth.table import _strata
from halftruth.table._sorted_rows import SortedRows

MODEL = ht.simulate.GaussianClasses(prior=0.3)


def _scores(kind: str) -> tuple[np.ndarray, np.ndarray]:
    strata = MODEL.draw_strata(80, 300, 4)
    p, u = strata.positive.score, strata.unlabeled.score
    return {
        "smooth": (p, u),
        "tied": (p.round(1), u.round(1)),
        "ends": (np.where(p > 0.7, 1.0, p), np.where(u < 0.2, 0.0, u)),
        "apart": (np.append(p, 0.99999), u * 0.9),
        "alike": (np.full(5, 0.5), np.full(7, 0.5)),
    }[kind]


def _labeled(p, u):
    return ht.Labeled(np.repeat([1, 0], [len(p), len(u)]), np.append(p, u))


KINDS = {
    "labeled": _labeled,
    "unlabeled": lambda p, u: ht.PositiveUnlabeled(p, u, prior=0.3),
    "all": lambda p, u: ht.PositiveUnlabeled(p, u, prior=0.5, population="all"),
    "purity": lambda p, u: ht.PositiveUnlabeled(p, u, prior=0.2, purity=0.8),
    "negatives": lambda p, u: ht.PositiveUnlabeled(p, u, prior=0.3, negative=u[::3] * 0.8),
    "unknown": lambda p, u: ht.PositiveUnlabeled(p, u),
}


def _weights(score):
    """Unequal, and the same for rows of one score only by chance."""
    return np.random.default_rng(len(score)).choice([0.3, 1.0, 2.0, 7.5], len(score))


def _weighted(p, u):
    score = np.append(p, u)
    return ht.Labeled(np.repeat([1, 0], [len(p), len(u)]), score, sample_weight=_weights(score))


def _two_samples(p, u, **shares):
    weights = {"positive_weight": _weights(p), "unlabeled_weight": _weights(u)}
    return ht.PositiveUnlabeled(p, u, prior=0.3, **weights, **shares)


VALUED = {
    "weights": _weighted,
    "soft": lambda p, u: ht.SoftLabeled(np.append(p, u) ** 1.3, np.append(p, u)),
    "soft, weights": lambda p, u: ht.SoftLabeled(u**1.3, u, sample_weight=_weights(u)),
    "unlabeled, weights": _two_samples,
    "purity, weights": lambda p, u: _two_samples(p, u, purity=0.8),
    "negatives, weights": lambda p, u: _two_samples(p, u, negative=u[::3] * 0.8),
    "propensity": lambda p, u: ht.PositiveUnlabeled(p, u, prior=0.3, propensity=0.2 + 0.7 * p),
    "propensity, all": lambda p, u: ht.PositiveUnlabeled(p, u, propensity=0.4 + 0.4 * p, population="all"),
    "confidence": lambda p, u: ht.PositiveConfidence(np.clip(p, 0.05, 1)),
}


def both_valued(monkeypatch, make):
    few = make()
    few.measure()
    monkeypatch.setattr(_strata, "COMPILED", 1)
    monkeypatch.setattr(_mass_rule, "COMPILED", 1)
    monkeypatch.setattr(_arithmetic, "MANY", 1)
    many = make()
    assert isinstance(many.measure(), ManyAtoms)
    assert not isinstance(few.measure(), ManyAtoms)
    return few, many


@pytest.mark.filterwarnings("ignore::halftruth.EmptyClassWarning")
@pytest.mark.parametrize("scores", ["smooth", "tied", "ends", "apart", "alike"])
@pytest.mark.parametrize("kind", VALUED)
def test_every_metric_is_the_same_of_rows_with_values(kind, scores, monkeypatch):
    few, many = both_valued(monkeypatch, lambda: VALUED[kind](*_scores(scores)))
    for metric in REGISTRY.values():
        x, y = (value(metric, e, 0.45) for e in (few, many))
        # A curve is fitted by a search, which ends where rounding says.
        digits = 1e-9 if metric.name == "bpm_calibration_error" else 1e-12
        assert x == y or x == pytest.approx(y, rel=digits, abs=1e-13, nan_ok=True), metric.name


@pytest.mark.parametrize("scores", ["smooth", "tied", "alike"])
@pytest.mark.parametrize("kind", VALUED)
def test_rows_with_values_are_drawn_alike(kind, scores, monkeypatch):
    few, many = both_valued(monkeypatch, lambda: VALUED[kind](*_scores(scores)))
    a, b = few.table.support, many.table.support
    np.testing.assert_array_equal(a.score, b.score)
    for name, cells in a.strata.items():
        for column in ("atom", "count", "weight", "value"):
            x, y = (getattr(of, column) for of in (cells, b.strata[name]))
            assert (x is None and y is None) or np.array_equal(x, y), (name, column)


def both(monkeypatch, make):
    few = make()
    few.measure()
    monkeypatch.setattr(_strata, "COMPILED", 1)
    many = make()
    assert isinstance(many.table.support, SortedRows)
    assert not isinstance(few.table.support, SortedRows)
    return few, many


def value(metric, evidence, threshold):
    try:
        return metric.bind(threshold, **metric.example)(evidence)
    except ht.NotIdentifiable as error:
        return str(error)


@pytest.mark.filterwarnings("ignore::halftruth.EmptyClassWarning")
@pytest.mark.parametrize("scores", ["smooth", "tied", "ends", "apart", "alike"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_metric_is_the_same(kind, scores, monkeypatch):
    few, many = both(monkeypatch, lambda: KINDS[kind](*_scores(scores)))
    naive = few.naive_measure(), many.naive_measure()
    pairs = [(few, many)]
    # Read naively, the other kinds are the rows of "unlabeled": that they stay so is enough.
    if kind in ("unlabeled", "negatives"):
        pairs.append(naive)
    else:
        for name in ("score", "mass", "pos_mass", "neg_mass", "size"):
            a, b = (getattr(measure, name) for measure in naive)
            np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-13, err_msg=name)
    for a, b in pairs:
        for metric in REGISTRY.values():
            x, y = (value(metric, e, 0.45) for e in (a, b))
            assert x == y or x == pytest.approx(y, rel=1e-12, abs=1e-13, nan_ok=True), metric.name


@pytest.mark.parametrize("scores", ["smooth", "tied", "ends", "apart", "alike"])
@pytest.mark.parametrize("kind", ["labeled", "all", "purity", "unknown"])
def test_read_naively_most_kinds_are_the_same_rows(kind, scores, monkeypatch):
    monkeypatch.setattr(_strata, "COMPILED", 1)
    one, other = (KINDS[name](*_scores(scores)).naive_measure() for name in (kind, "unlabeled"))
    for function in (ht.average_precision, ht.brier, ht.calibration_error):
        np.testing.assert_array_equal(function(one), function(other), err_msg=function.__name__)
    assert type(one) is type(other)
    for name in ("score", "mass", "pos_mass", "neg_mass", "size", "alpha", "unidentified"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


@pytest.mark.parametrize("kind", KINDS)
def test_arrays_are_made_when_asked_for(kind, monkeypatch):
    few, many = (e.measure() for e in both(monkeypatch, lambda: KINDS[kind](*_scores("tied"))))
    for name in ("score", "mass", "pos_mass", "neg_mass"):
        np.testing.assert_allclose(getattr(many, name), getattr(few, name), rtol=1e-13, atol=1e-13)
    assert many.total == pytest.approx(few.total)
    assert many.bounded
    assert many.shape == ()


def test_joined_rows_are_a_fair_summary():
    strata = MODEL.draw_strata(50_000, 500_000, 4)
    p, u = strata.positive.score, np.where(strata.unlabeled.score < 0.01, 0.0, strata.unlabeled.score)
    many = ht.PositiveUnlabeled(p, u, prior=0.3)
    support = many.table.support
    assert isinstance(support, SortedRows)
    joined = support.coarse(512, keep=(0.37,))
    assert 400 < len(joined.score) < 700
    assert (np.diff(joined.score) > 0).all()
    for name, rows in many.table.strata.items():
        cells = joined.strata[name]
        assert cells.n_rows == len(rows)
        reaching = cells.count[joined.score[cells.atom] >= 0.37].sum()
        assert reaching == (rows.score >= 0.37).sum()
    assert joined.score[0] == 0.0
    assert joined.strata["unlabeled"].count[0] == (u == 0).sum()
    assert joined.score[-1] == max(p.max(), u.max())
    sums = joined.sums()
    measure = many.rule(sums, many.scenario).apply(joined.score, sums)
    assert ht.roc_auc(measure) == pytest.approx(ht.roc_auc(many), abs=2e-5)
    assert ht.brier(measure) == pytest.approx(ht.brier(many), abs=2e-5)


def test_evaluations_agree(monkeypatch):
    few, many = both(monkeypatch, lambda: KINDS["unlabeled"](*_scores("smooth")))
    a, b = (ht.evaluate(e, threshold=0.5, n_resamples=0) for e in (few, many))
    for name in a:
        assert a[name].value == pytest.approx(b[name].value, rel=1e-12)
        assert a[name].naive == pytest.approx(b[name].naive, rel=1e-12)
        assert a[name].notes == b[name].notes
    assert a.notes == b.notes


def test_the_bound_on_the_prior_is_hardly_looser():
    strata = MODEL.draw_strata(50_000, 500_000, 4)
    p, u = strata.positive.score, strata.unlabeled.score
    many = ht.PositiveUnlabeled(p, u, prior=0.3)
    assert isinstance(many.table.support, SortedRows)
    exact, found = ht.prior_upper_bound(p, u), alpha_bound(many, 0.95)
    assert exact * (1 - 1e-6) <= found <= exact * 1.005
    assert 0.3 < exact < 0.4
