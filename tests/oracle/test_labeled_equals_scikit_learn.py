"""Labeled evidence equals scikit-learn, or a naive definition, on every metric of the registry."""

from itertools import product

import numpy as np
import pytest
from sklearn.calibration import calibration_curve

import halftruth as ht
from halftruth._registry import REGISTRY

from . import numerical
from .agreement import assert_same
from .cases import CASES, Case
from .references import (
    PARAMETERS,
    REFERENCES,
    by_hand,
    definition,
    is_naive,
    parameters_of,
    tolerance_of,
)
from .rows import cells


def test_every_metric_of_the_registry_has_a_reference() -> None:
    assert {*REFERENCES, *numerical.FITTED} == set(REGISTRY)
    assert set(PARAMETERS) <= set(REGISTRY)


def test_every_metric_of_the_registry_has_a_definition() -> None:
    assert [name for name in REFERENCES if not callable(definition(name))] == []


def test_only_what_is_numerical_has_a_tolerance_of_its_own() -> None:
    assert {name for name in REFERENCES if tolerance_of(name) > 1e-12} == set(numerical.TOLERANCE)


def calls(name: str, case: Case) -> list[dict[str, object]]:
    """Every set of parameters, at every threshold where the metric takes one."""
    metric = REGISTRY[name]
    wanted = parameters_of(name, dict(metric.example))
    wanted = [kwargs for kwargs in wanted if kwargs.get("k", 0) <= case.total]
    if not metric.threshold:
        return wanted
    thresholds = [t for t in case.thresholds if not metric.probability or 0 <= t < 1]
    return [kwargs | {"threshold": t} for kwargs, t in product(wanted, thresholds)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_metric_equals_its_reference(case: Case) -> None:
    for name in REFERENCES:
        metric = REGISTRY[name]
        if metric.probability and not case.probabilities:
            threshold = {"threshold": 0.5} if metric.threshold else {}
            with pytest.raises(ht.InputError, match=r"\[0, 1\]"):
                metric.function(case.evidence, **metric.example, **threshold)
            continue
        for kwargs in calls(name, case):
            ours, wanted = metric.function(case.evidence, **kwargs), REFERENCES[name](case, **kwargs)
            assert_same(ours, wanted, f"{name} {kwargs}", tolerance_of(name))


@pytest.mark.parametrize("case", [case for case in CASES if len(case.y) == 11], ids=lambda case: case.name)
def test_naive_definitions_equal_scikit_learn(case: Case) -> None:
    """So that the loops which judge partial evidence are themselves judged."""
    for name in REFERENCES:
        if is_naive(REFERENCES[name]) or (REGISTRY[name].probability and not case.probabilities):
            continue
        loops = by_hand(definition(name))
        for kwargs in calls(name, case):
            assert_same(loops(case, **kwargs), REFERENCES[name](case, **kwargs), f"{name} {kwargs}")


def test_public_functions_are_those_of_the_registry() -> None:
    public = {name for name in REGISTRY if hasattr(ht, name)}
    assert public >= {name for name, metric in REGISTRY.items() if not metric.threshold}
    assert {name for name in public if getattr(ht, name) is not REGISTRY[name].function} == set()


@pytest.mark.parametrize("case", CASES[::5], ids=lambda case: case.name)
def test_confusion_holds_every_rate(case: Case) -> None:
    for threshold in case.thresholds:
        table = ht.confusion(case.evidence, threshold)
        wanted = cells(case.rows, threshold)
        for name in wanted._fields:
            assert_same(getattr(table, name), float(getattr(wanted, name)), name)
        for name in [n for n, metric in REGISTRY.items() if metric.threshold and hasattr(table, n)]:
            rate = getattr(table, name)
            rate = rate(beta=2.0) if name == "fbeta" else rate
            assert_same(rate, REFERENCES[name](case, threshold=threshold, **REGISTRY[name].example), name)


@pytest.mark.parametrize("seed", range(10))
def test_largest_gap_over_bins_of_equal_width_is_that_of_scikit_learns_calibration_curve(seed: int) -> None:
    rng = np.random.default_rng(seed)
    score = rng.random(500)
    y = rng.random(500) < score**1.5
    observed, predicted = calibration_curve(y, score, n_bins=12)
    ours = ht.calibration_error(ht.Labeled(y, score), n_bins=12, binning="width", norm="max")
    assert_same(ours, np.max(np.abs(observed - predicted)))
