"""With a class empty, what needs it is NaN, with one warning that names it; the rest keeps its value."""

import warnings

import numpy as np
import pytest

import halftruth as ht
from halftruth._registry import REGISTRY

from . import numerical
from .agreement import assert_same
from .references import definition, tolerance_of
from .rows import Rows, labeled_rows

NEEDS_NEITHER = {
    "prevalence",
    "predicted_positive_rate",
    "accuracy",
    "net_benefit",
    "brier",
    "log_loss",
    "risk",
    *(name for name in REGISTRY if name.endswith("calibration_error")),
}
NEEDS_ONE = {"positive": {"recall", "recall_at_k"}, "negative": {"fpr", "specificity"}}
NEEDS_BOTH = set(REGISTRY) - NEEDS_NEITHER - NEEDS_ONE["positive"] - NEEDS_ONE["negative"]
NEEDS = {empty: NEEDS_BOTH | NEEDS_ONE[empty] for empty in NEEDS_ONE}
SCORE = np.array([0.0, 0.25, 0.25, 0.5, 0.75, 1.0])
WEIGHT = np.array([1.0, 0.5, 2.0, 0.3, 0.7, 1.1])
KINDS = ("labeled", "weighted", "weight zero", "soft")

each_empty_class = pytest.mark.parametrize("empty", ["positive", "negative"])
each_kind = pytest.mark.parametrize("kind", KINDS)


def one_class(empty: str, kind: str) -> ht.Labeled | ht.SoftLabeled:
    y = np.full(6, int(empty == "negative"))
    if kind == "soft":
        return ht.SoftLabeled(y.astype(float), SCORE, sample_weight=WEIGHT)
    if kind == "weight zero":  # one row of the other class is there, but stands for no case
        return ht.Labeled(np.append(y, 1 - y[0]), np.append(SCORE, 0.4), sample_weight=np.append(WEIGHT, 0.0))
    return ht.Labeled(y, SCORE, sample_weight=WEIGHT if kind == "weighted" else None)


def naive_rows(empty: str, kind: str) -> Rows:
    weight = None if kind == "labeled" else WEIGHT
    return labeled_rows(np.full(6, int(empty == "negative")), SCORE, weight)


@each_kind
@each_empty_class
@pytest.mark.parametrize("name", REGISTRY)
def test_metric_that_needs_the_class_is_nan_with_one_warning(name: str, empty: str, kind: str) -> None:
    metric, evidence = REGISTRY[name], one_class(empty, kind)
    kwargs = dict(metric.example) | ({"threshold": 0.5} if metric.threshold else {})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        value = metric.function(evidence, **kwargs)
    assert np.isnan(value) == (name in NEEDS[empty])
    if name in numerical.FITTED:  # its value is judged with those of both classes
        assert caught == []
    elif name not in NEEDS[empty]:
        wanted = float(definition(name)(naive_rows(empty, kind), **kwargs))
        assert_same(value, wanted, name, tolerance_of(name))
        assert caught == []
    else:
        assert [w.category for w in caught] == [ht.EmptyClassWarning]
        assert f"No {empty} case" in str(caught[0].message)


@each_kind
@each_empty_class
@pytest.mark.parametrize(
    ("curve", "columns"),
    [
        (ht.roc_curve, {"positive": "tpr", "negative": "fpr"}),
        (ht.det_curve, {"positive": "fnr", "negative": "fpr"}),
        (ht.precision_recall_curve, {"positive": "recall", "negative": None}),
        (ht.gain_curve, {"positive": "gain", "negative": None}),
        (ht.cost_curve, {"positive": "expected_cost", "negative": "expected_cost"}),
        (ht.decision_curve, {"positive": None, "negative": None}),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_curve_has_nan_in_the_rate_of_the_empty_class(curve, columns, empty: str, kind: str) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = curve(one_class(empty, kind))
    columns_of_rates = [(k, column) for k, column in vars(made).items() if k != "threshold"]
    for name, column in columns_of_rates:
        is_nan = np.isnan(column).all()
        assert is_nan == (name == columns[empty] or (name == "lift" and empty == "positive")), name
    if columns[empty] is not None or caught:
        assert [w.category for w in caught] == [ht.EmptyClassWarning]
        assert f"No {empty} case" in str(caught[0].message)
