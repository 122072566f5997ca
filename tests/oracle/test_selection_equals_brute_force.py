"""Bounds over selection against brute force: every law that Γ allows, on samples small enough for that.

What is linear in w has its extremes at vertices of {1/Γ ≤ w ≤ Γ, Σ w p = 1}, where all but one w are at an
end; so has what only rises or falls with the true positives.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest

import halftruth as ht
from halftruth import _registry
from halftruth.inference._requests import ModelRows, Request, read_requests

THRESHOLD = 0.55
# At steps of an empirical curve more true positives above one known positive can lower the precision read at
# the next one: only of laws with a density does average precision never fall with them.
STEPWISE = {"average_precision"}


def _weights(share: np.ndarray, least: float, most: float) -> Iterator[np.ndarray]:
    """The vertices of what w may be."""
    for free in range(len(share)):
        rest = np.arange(len(share)) != free
        for ends in product((least, most), repeat=len(share) - 1):
            w = np.empty(len(share))
            w[rest] = ends
            w[free] = (1 - share[rest] @ w[rest]) / share[free]
            if least - 1e-12 <= w[free] <= most + 1e-12:
                yield w


def _requests(evidence: ht.PositiveUnlabeled) -> tuple[Request, ...]:
    metrics: dict[str, Any] = {
        name: partial(metric.function, **metric.example) if metric.example else name
        for name, metric in _registry.REGISTRY.items()
    }
    return read_requests(metrics, [evidence.measure()], THRESHOLD)


def _bounds(evidence: ht.PositiveUnlabeled) -> dict[str, tuple[float, float]]:
    requests = _requests(evidence)
    scenarios = tuple(replace(evidence.scenario, extreme=x) for x in evidence.selection.extremes)
    values = ModelRows(evidence, evidence.table.support).exact(requests, scenarios)
    return {r.label: (float(min(values[r])), float(max(values[r]))) for r in requests}


def _brute(evidence: ht.PositiveUnlabeled, gamma: float) -> dict[str, tuple[float, float]]:
    """The least and the largest value over all laws, by the plain functionals."""
    base, requests = evidence.measure(), _requests(evidence)
    rule = evidence.rule(
        evidence.table.support.sums(), replace(evidence.scenario, extreme=evidence.selection.extremes[0])
    )
    share = base.pos_mass / base.pos_mass.sum()
    at = np.flatnonzero(share)
    # In one table no positive is rarer than those that are known.
    known = len(evidence.table.strata["positive"]) / (base.prior * float(base.total))
    least = max(1 / gamma, known) if evidence.population == "all" else 1 / gamma
    values: dict[str, list[float]] = {r.label: [] for r in requests}
    for w in _weights(share[at], least, gamma):
        pos = base.pos_mass.copy()
        pos[at] *= w
        measure = replace(base, pos_mass=pos, neg_mass=base.mass - pos, own=rule.own, memo={})
        for r in requests:
            values[r.label].append(
                float(np.clip(r.at(measure), *r.limits)) if r.is_distance else r.at(measure)
            )
    return {label: (np.nanmin(x), np.nanmax(x)) for label, x in values.items()}


@pytest.mark.parametrize("population", ["unlabeled", "all"])
@pytest.mark.parametrize(("seed", "gamma", "tied"), [(0, 1.3, False), (1, 2.5, True), (2, 1.7, False)])
def test_bounds_are_those_of_every_law(population: str, seed: int, gamma: float, tied: bool) -> None:
    rng = np.random.default_rng(seed)
    positive, unlabeled = rng.beta(3, 2, 6), rng.beta(2, 3, 14)
    if tied:
        positive, unlabeled = np.round(positive, 1), np.round(unlabeled, 1)
    prior = 0.5 if population == "all" else 0.3
    evidence = ht.PositiveUnlabeled(positive, unlabeled, prior=prior, population=population, selection=gamma)
    ours, brute = _bounds(evidence), _brute(evidence, gamma)
    for name, (low, high) in brute.items():
        if name in STEPWISE:
            continue
        if _registry.REGISTRY[name].distance:  # outer bounds
            assert ours[name][0] <= low + 1e-12, name
            assert ours[name][1] >= high - 1e-12, name
        else:
            np.testing.assert_allclose(ours[name], (low, high), rtol=0, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("upward", [False, True])
def test_blocks_limit_the_law_as_a_linear_program_does(upward: bool) -> None:
    """Where positives would exceed all rows of a block, the law is still the largest (or smallest)."""
    from scipy.optimize import linprog

    rng = np.random.default_rng(5)
    # Nearly pure at the top: a tilt by 2 would make more positives of it than there are rows.
    evidence = ht.PositiveUnlabeled(
        rng.normal(2.5, 0.7, 64),
        np.append(rng.normal(0, 1, 60), rng.normal(2.5, 0.7, 90)),
        prior=0.55,
        selection=2,
    )
    base = evidence.measure()
    extreme = evidence.selection.extremes[upward]
    measure = evidence.measure_at(replace(evidence.scenario, extreme=extreme))
    block = np.searchsorted(evidence._blocks, base.score, side="right")
    at = np.flatnonzero(base.pos_mass)
    pos = base.pos_mass[at]
    in_block = np.asarray([block[at] == b for b in range(block.max() + 1)], dtype=float) * pos
    rows = np.bincount(block, base.mass)
    slack = 1 + 64 ** (-1 / 3)
    limit = np.clip(slack * rows / in_block.sum(axis=1), 1, 2) * in_block.sum(axis=1)
    assert (limit < 1.9 * in_block.sum(axis=1)).any()  # some block is full
    for first in (5, 20, 40, 55):
        tail = np.where(np.arange(len(at)) >= first, pos, 0.0)
        best = linprog(
            -tail if upward else tail,
            A_ub=in_block, b_ub=limit, A_eq=[pos], b_eq=[pos.sum()], bounds=[(0.5, 2.0)] * len(at),
        )  # fmt: skip
        ours = measure.pos_mass[at][first:].sum()
        np.testing.assert_allclose(ours, abs(best.fun), rtol=1e-9)


def test_average_precision_is_off_by_steps_alone() -> None:
    """No law found by exchanging weights passes its bounds by more than the steps of some rows."""
    rng = np.random.default_rng(3)
    evidence = ht.PositiveUnlabeled(
        rng.normal(1.5, 1, 60),
        np.append(rng.normal(0, 1, 500), rng.normal(1.5, 1, 100)),
        prior=1 / 6,
        selection=1.5,
    )
    extreme = evidence.selection.extremes[1]
    best = evidence.measure_at(replace(evidence.scenario, extreme=extreme))
    base, top = evidence.measure(), ht.average_precision(best)
    at = np.flatnonzero(base.pos_mass)
    pos, found = best.pos_mass.copy(), top
    for i, j in product(range(len(at)), repeat=2):  # move as much as can be from row i to row j
        moved = min(pos[at[i]] - base.pos_mass[at[i]] / 1.5, 1.5 * base.pos_mass[at[j]] - pos[at[j]])
        if i != j and moved > 1e-12:
            trial = pos.copy()
            trial[at[i]] -= moved
            trial[at[j]] += moved
            value = ht.average_precision(replace(best, pos_mass=trial, neg_mass=best.mass - trial, memo={}))
            if value > found:
                pos, found = trial, value
    # Each of the exchanges that pay gains a part of 1/n²; together less than one row of n.
    assert top <= found <= top + 1 / len(at)


LINEAR = [name for name, metric in _registry.REGISTRY.items() if metric.linear and name != "prevalence"]


@pytest.mark.parametrize("gamma", [1.3, 2.5])
def test_differences_are_those_of_every_law_of_the_same_cases(gamma: float) -> None:
    """Two models of the same cases: w belongs to the case, so that one w serves both."""
    rng = np.random.default_rng(7)
    positive, unlabeled = rng.beta(3, 2, (2, 6)), rng.beta(2, 3, (2, 14))
    models = {
        name: ht.PositiveUnlabeled(p, u, prior=0.3, selection=gamma)
        for name, p, u in zip("ab", positive, unlabeled, strict=True)
    }
    metrics = {r.label: r.call for r in _requests(models["a"]) if r.label in LINEAR}
    comparison = ht.compare(models, metrics, threshold=THRESHOLD, n_resamples=0)
    weighted = []
    for w in _weights(np.full(6, 1 / 6), 1 / gamma, gamma):
        a, b = (
            ht.PositiveUnlabeled(p, u, prior=0.3, positive_weight=w)
            for p, u in zip(positive, unlabeled, strict=True)
        )
        weighted.append([call_at(a, call) - call_at(b, call) for call in metrics.values()])
    brute = np.asarray(weighted)
    for name, values in zip(metrics, brute.T, strict=True):
        row = comparison[name]
        np.testing.assert_allclose(
            row.selection_range, (values.min(), values.max()), rtol=0, atol=1e-12, err_msg=name
        )


def call_at(evidence: ht.PositiveUnlabeled, call: Any) -> float:
    return float(call(evidence.measure()))


@pytest.mark.parametrize("name", LINEAR)
def test_what_is_called_linear_is(name: str) -> None:
    """The value of a mixture of two laws is that of their values, where μ and π are the same."""
    rng = np.random.default_rng(1)
    evidence = ht.PositiveUnlabeled(rng.beta(3, 2, 30), rng.beta(2, 3, 90), prior=0.3, selection=2.0)
    (request,) = (r for r in _requests(evidence) if r.label == name)
    laws = [evidence.measure_at(replace(evidence.scenario, extreme=x)) for x in evidence.selection.extremes]
    mixed = 0.3 * laws[0].pos_mass + 0.7 * laws[1].pos_mass
    value = request.at(replace(laws[0], pos_mass=mixed, neg_mass=laws[0].mass - mixed, memo={}))
    np.testing.assert_allclose(
        value, 0.3 * request.at(laws[0]) + 0.7 * request.at(laws[1]), rtol=0, atol=1e-12
    )
