"""Only the order of the scores matters to a ranking; classes trade places when labels and scores turn over."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import halftruth as ht
from halftruth._registry import REGISTRY

from .functionals import ALL, RANKING, Setting, differences, ignore_empty_class, same
from .samples import BY_NAME, KINDS, Kind, Sample, cases, dyadic_scores, examples, one_each

pytestmark = ignore_empty_class
GENUINE = [BY_NAME[name] for name in ("labeled", "soft", "confidence-no_prior")]
"""Kinds whose μ̂₁ is never negative nor above μ̂."""


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.ranked], ids=str)
@examples(8)
@given(data=st.data())
def test_rankings_see_only_the_order_of_scores(kind: Kind, data: st.DataObject) -> None:
    case = data.draw(cases(kind))
    distinct, rank = np.unique(case.sample.score, return_inverse=True)
    steps = data.draw(one_each(distinct, st.integers(1, 64)), "steps of the transform, in 1/64")
    levels = np.append(np.cumsum(steps) / 64 - 0.5, 1e3)
    one, other = case.evidence(), case.evidence(case.sample.scored(levels[rank]))
    threshold = levels[np.searchsorted(distinct, case.threshold)]
    assert differences(one, other, case.threshold, other_threshold=threshold, settings=RANKING) == {}


# metric → (its partner, whether it is one minus the partner)
TURNED = {
    "prevalence": ("prevalence", True),
    "predicted_positive_rate": ("predicted_positive_rate", True),
    "precision": ("npv", False),
    "npv": ("precision", False),
    "recall": ("specificity", False),
    "specificity": ("recall", False),
    "fpr": ("recall", True),
    "fdr": ("npv", True),
    "accuracy": ("accuracy", False),
    "balanced_accuracy": ("balanced_accuracy", False),
    "mcc": ("mcc", False),
    "cohen_kappa": ("cohen_kappa", False),
    "youden_j": ("youden_j", False),
    "roc_auc": ("roc_auc", False),
    "brier": ("brier", False),
    "brier_skill": ("brier_skill", False),
    "log_loss": ("log_loss", False),
}


@pytest.mark.parametrize("kind", GENUINE[:2], ids=str)
@examples(50)
@given(data=st.data())
def test_classes_trade_places_when_labels_and_scores_turn_over(kind: Kind, data: st.DataObject) -> None:
    case = data.draw(cases(kind, scores=dyadic_scores))
    rows = case.sample
    swap = {"positive": "negative", "negative": "positive", "soft": "soft"}
    stratum = np.asarray([swap[name] for name in rows.stratum])
    turned = Sample(stratum, 1 - rows.score, 1 - rows.value, rows.weight)
    # s ≥ t is called positive; turned over, those with 1 − s > 1 − t are what was called negative.
    threshold = data.draw(dyadic_scores, "threshold")
    below = float(np.nextafter(1 - threshold, np.inf))
    one, other = case.evidence(), case.evidence(turned)
    failed = {}
    for name, (partner, complement) in TURNED.items():
        mine = Setting(REGISTRY[name]).of(one, threshold)
        theirs = Setting(REGISTRY[partner]).of(other, below)
        expected = 1 - theirs if complement else theirs
        if not same(mine, expected, 1e-12):
            failed[name] = mine, expected
    assert failed == {}


@pytest.mark.parametrize("kind", GENUINE, ids=str)
@examples(50)
@given(data=st.data())
def test_every_metric_stays_within_its_limits(kind: Kind, data: st.DataObject) -> None:
    case = data.draw(cases(kind))
    evidence = case.evidence()
    outside = {}
    for setting in ALL:
        value = setting.of(evidence, case.threshold)
        low, high = setting.metric.limits
        if not isinstance(value, str) and (value < low - 1e-12 or value > high + 1e-12):
            outside[str(setting)] = value
    assert outside == {}


@pytest.mark.parametrize("setting", ALL, ids=str)
def test_every_metric_has_a_value_on_plain_labels(setting: Setting) -> None:
    evidence = ht.Labeled([1, 0, 1, 0, 0], [0.75, 0.5, 0.625, 0.25, 0.875])
    value = setting.of(evidence, 0.5)
    assert isinstance(value, float)
    assert setting.metric.limits[0] <= value <= setting.metric.limits[1]
