"""The record of a metric: what it promises holds, and the registry is the same however modules were imported."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

import halftruth as ht
from halftruth._registry import REGISTRY, get, titled
from halftruth.metrics._decision import TO_MAXIMIZE
from halftruth.metrics._rates import Rate


@pytest.mark.parametrize("name", REGISTRY)
def test_a_copy_is_the_record_itself(name):
    assert pickle.loads(pickle.dumps(REGISTRY[name])) is REGISTRY[name]


@pytest.mark.parametrize("name", REGISTRY)
def test_what_is_certified_at_corners_is_made_of_cells(name):
    metric = REGISTRY[name]
    assert (metric.certificate in ("corners", "pure corners")) == (metric.of_confusion is not None)
    # A few rows, or a kink, have no derivative.
    assert metric.influence is None or not (metric.local or metric.distance)


def test_the_order_of_imports_does_not_change_the_registry():
    code = (
        "import halftruth as ht; ht.ks_calibration_error, ht.brier; from halftruth._registry import REGISTRY"
    )
    found = subprocess.run(
        [sys.executable, "-c", f"{code}; print(*REGISTRY)"], check=True, capture_output=True, text=True
    )
    assert found.stdout.split() == list(REGISTRY)


def test_a_threshold_can_maximise_every_rate_that_is_better_high():
    rates = {name for name, metric in REGISTRY.items() if isinstance(metric.function, Rate)}
    assert set(TO_MAXIMIZE) == {name for name in rates if REGISTRY[name].better == "high"}
    assert {"f1", "mcc", "recall"} <= set(TO_MAXIMIZE)
    assert not {"fpr", "fdr", "predicted_positive_rate"} & set(TO_MAXIMIZE)


def test_no_alias_is_a_name_or_stands_for_two():
    aliases = [alias for metric in REGISTRY.values() for alias in metric.aliases]
    assert len({*aliases, *REGISTRY}) == len(aliases) + len(REGISTRY)


@pytest.mark.parametrize(("word", "name"), [("AUC", "roc_auc"), ("tpr", "recall"), ("roc-auc", "roc_auc")])
def test_a_name_from_elsewhere_leads_here(word, name):
    with pytest.raises(ht.InputError, match=f"There is no metric {word!r}. Did you mean {name!r}"):
        get(word)


def test_titles():
    assert titled("roc_auc") == ("ROC AUC", "chance that a positive scores above a negative")
    assert titled("cohen_kappa") == ("cohen kappa", "")
    assert titled("of_my_own") == ("of my own", "")


def test_what_a_loss_takes_scores_for():
    assert [REGISTRY["risk"].scale({"loss": loss}) for loss in ("log", "ramp", (abs, abs))] == [
        *("probability", "margin", "score"),
    ]
    assert REGISTRY["risk"].scale({}) == "margin"
    assert (REGISTRY["brier"].scale({}), REGISTRY["roc_auc"].scale({})) == ("probability", "score")
