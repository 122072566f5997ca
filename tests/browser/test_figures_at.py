"""The figures that pages are held to are those of `evaluate`; this needs no browser."""

from __future__ import annotations

import json

import numpy as np
import pytest

import halftruth as ht
from halftruth.evaluation._page_data import model_of, table_of

from .figures_at import figures_at

SIMULATED = ht.simulate.GaussianClasses(prior=0.3)
PU = SIMULATED.positive_unlabeled(300, 3000, rng=1)
RESULT = ht.evaluate(PU, threshold=0.5, n_resamples=0)


def embedded(result, n_bytes=200_000):
    """What a page holds of an evaluation, as its scripts read it."""
    return json.loads(json.dumps(model_of("", result) | {"table": table_of(result, n_bytes)}))


def test_figures_at_the_prior_given_are_those_of_evaluate():
    model = embedded(RESULT)
    found = figures_at(model, PU, RESULT.origin.requests, 0.3)
    closed = [label for label, row in RESULT.items() if row.method.startswith("influence")]
    assert {"roc_auc", "brier", "precision", "mcc"} <= set(closed)
    for label in closed:
        row = RESULT[label]
        # Rates have two scores of their own in an evaluation, and the threshold parts no others.
        assert found[label] == pytest.approx((row.value, row.low, row.high), rel=1e-4, nan_ok=True)
    assert np.isnan(found["calibration_error"][1:]).all()


def test_an_estimated_share_of_the_unlabeled_is_moved_as_a_share_of_the_population():
    estimate = ht.PriorEstimate(value=0.3, low=0.25, high=0.35)
    evidence = ht.PositiveUnlabeled.from_table(PU.table, prior=estimate, population="all")
    result = ht.evaluate(evidence, ["precision"], threshold=0.5, n_resamples=0)
    model = embedded(result)
    assert model["shares"]["prior"] == pytest.approx((300 + 0.3 * 3000) / 3300)
    value = figures_at(model, evidence, result.origin.requests, model["shares"]["prior"])["precision"][0]
    assert value == pytest.approx(result["precision"].value, rel=1e-12)


def test_weights_and_many_rows_stay_within_their_bytes():
    rng = np.random.default_rng(0)
    y = rng.random(60_000) < 0.3
    score, weight = rng.normal(y), rng.exponential(size=60_000)
    evidence = ht.Labeled(y, 1 / (1 + np.exp(-score)), sample_weight=weight)
    result = ht.evaluate(evidence, n_resamples=0)
    model = embedded(result, 40_000)
    assert 15_000 < len(json.dumps(model["table"], separators=(",", ":"))) < 44_000
    for label in ("roc_auc", "average_precision", "brier", "log_loss"):
        value = figures_at(model, evidence, result.origin.requests, 0.3)[label][0]
        assert value == pytest.approx(result[label].value, abs=1e-3)
