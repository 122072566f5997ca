"""Histograms of rows with soft labels: exact sums of their values, and bounds on what joining rows changes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import halftruth as ht
from halftruth import _storage
from halftruth._registry import REGISTRY
from halftruth.certificate import _compression as certificate
from halftruth.table._grid import Grid
from halftruth.table._histogram import UNIT, Bins, fixed, sums_of
from halftruth.table._score_table import ScoreTable

pytestmark = pytest.mark.filterwarnings("ignore::halftruth._errors.EmptyClassWarning")

PROBABILITY, MARGIN, COARSE = Grid("probability"), Grid("margin"), Grid("probability", n_bins=16)
OF_VALUES = sorted(
    set(sums_of(PROBABILITY, weighted=True, soft=True)) - {*sums_of(PROBABILITY, weighted=True)}
)
PARAMETERS: dict[str, list[dict[str, Any]]] = {
    "partial_auc": [{"max_fpr": 0.1}, {"max_fpr": 0.5, "standardize": False}],
    "recall_at_fpr": [{"max_fpr": 0.0}, {"max_fpr": 0.3}],
    "precision_at_k": [{"k": 0.2}, {"k": 0.7}],
    "recall_at_k": [{"k": 0.2}, {"k": 0.7}],
    "risk": [
        {"loss": loss} for loss in ("logistic", "sigmoid", "squared", "ramp", "zero_one", "brier", "log")
    ],
    "calibration_error": [
        {"n_bins": n, "binning": binning, "norm": norm}
        for n in ("optimal", 5)
        for binning in ("mass", "width")
        for norm in (1, 2, "max")
    ],
}
MOVED_BY_ROUNDING = {"calibration_error", "recall_at_fpr", "partial_auc", "precision_at_k", "recall_at_k"}


def _soft(n: int, seed: int, *, weighted: bool, noise: float = 0.2) -> ht.SoftLabeled:
    rng = np.random.default_rng(seed)
    score = rng.beta(1, 2, n)
    q = np.clip(score + noise * rng.normal(size=n), 0, 1)
    return ht.SoftLabeled(q, score, sample_weight=rng.uniform(0.1, 3, n) if weighted else None)


def _compressed(evidence: ht.SoftLabeled, grid: Grid | None = None) -> ht.SoftLabeled:
    return ht.SoftLabeled.from_table(evidence.table.compress(grid))


def _calls(bounded: bool, threshold: float) -> list[tuple[str, dict[str, Any]]]:
    out = []
    for name, metric in REGISTRY.items():
        ours = [{"threshold": threshold}] if metric.threshold else PARAMETERS.get(name, [{}])
        losses = ("brier", "log") if not bounded else ()
        if bounded or not metric.probability:
            out += [(name, given) for given in ours if given.get("loss") not in losses]
    return out


def assert_same(a: Bins, b: Bins) -> None:
    assert (a.grid, a.meaning, a.sums) == (b.grid, b.meaning, b.sums)
    for name in ("index", "low", "high", *a.sums):
        assert getattr(a, name).tobytes() == getattr(b, name).tobytes(), name


# --- Sums -----------------------------------------------------------------------------------------


def test_sums_are_what_they_say() -> None:
    score, weight, q = np.asarray([[0.25, 0.25, 0.75], [0.5, 2.0, 3.0], [0.5, 0.25, 1.0]])
    bins = Bins.of(PROBABILITY, score, weight, value=q)
    wanted = {
        "value": [0.75, 3.0],
        "value_position": [0.1875, 2.25],
        "value_square": [0.25, 3.0],
        "hard": [0.5, 3.0],
        "cross": [1.125, 9.0],
        "product": [0.3125, 9.0],
    }
    assert {name: (getattr(bins, name) / UNIT).tolist() for name in wanted} == wanted
    assert bins.meaning == "soft label"


def test_without_weights_or_positions_their_sums_are_left_out() -> None:
    rows = np.asarray([0.2, 0.2]), None
    assert Bins.of(PROBABILITY, *rows, value=rows[0]).sums == (
        *("rows", "position", "value", "value_square", "hard", "value_position"),
    )
    assert Bins.of(MARGIN, *rows, value=rows[0]).sums == ("rows", "value", "value_square", "hard")


def test_columns_that_do_not_belong_together_are_refused() -> None:
    bins = Bins.of(PROBABILITY, np.asarray([0.2, 0.7]), value=np.asarray([0.1, 0.9]))
    columns = {name: getattr(bins, name) for name in ("index", "low", "high", *bins.sums)}
    assert Bins(grid=PROBABILITY, **columns).meaning == "soft label"
    for name in ("value_position", "hard", "value"):
        with pytest.raises(ht.InputError, match="has the columns"):
            Bins(grid=PROBABILITY, **{k: x for k, x in columns.items() if k != name})


@given(st.integers(0, 2**32), st.sampled_from([PROBABILITY, COARSE, MARGIN]), st.sampled_from([0, 1, 2]))
def test_merging_equals_concatenation_to_the_bit(seed: int, grid: Grid, weighted: int) -> None:
    """Also where the first table has weights and the second none."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 60, 2)
    score = [rng.random(n).round(1) for n in sizes]
    q = [rng.choice([0, 0.5, 1, rng.random()], n) for n in sizes]
    weight = [rng.uniform(0.01, 9, n) if weighted > k else None for k, n in enumerate(sizes)]
    one, two = (ht.SoftLabeled(*x[:2], sample_weight=x[2]).table for x in zip(q, score, weight, strict=True))
    wanted = one.merge(two).compress(grid).strata["soft"]
    for merged in (one.compress(grid).merge(two.compress(grid)), two.compress(grid).merge(one)):
        assert_same(merged.strata["soft"], wanted)


def test_moved_rows_keep_their_values() -> None:
    bins = _soft(500, 0, weighted=True).table.compress(COARSE).strata["soft"]
    moved = bins.moved(np.full(len(bins.index), 0.25), COARSE)
    for name in set(bins.sums) - {"position", "value_position"}:
        assert getattr(moved, name).tolist() == [getattr(bins, name).sum()], name
    assert moved.value_position[0] == pytest.approx(0.25 * bins.value.sum(), abs=len(bins.index))
    assert bins.moved(bins.low, MARGIN).value_position is None


def test_a_part_of_the_rows_has_its_share_of_every_sum() -> None:
    bins = _soft(500, 0, weighted=True).table.compress(COARSE).strata["soft"]
    half = bins.part(bins.rows // 2)
    held = bins.rows // 2 > 0
    for name in set(bins.sums) - {"rows"}:
        share = (bins.rows // 2 / bins.rows)[held]
        np.testing.assert_allclose(getattr(half, name), getattr(bins, name)[held] * share, atol=1)
    assert half.meaning == bins.meaning


# --- Metrics --------------------------------------------------------------------------------------


def _case(seed: int) -> tuple[ht.SoftLabeled, Grid, float]:
    """Rows of all kinds; inside bins the labels may rise or fall with the score, the worst order there is."""
    rng = np.random.default_rng(seed)
    n = int(np.exp(rng.uniform(0, rng.choice([1.5, 3, 5, 6]))))
    margin = rng.random() < 0.3
    score = rng.standard_t(1.5, n) if margin else rng.beta(0.5, 1, n).round(rng.choice([1, 2, 9]))
    q = {
        0: lambda: rng.random(n),
        1: lambda: (rng.random(n) < 0.4).astype(float),
        2: lambda: rng.integers(0, 9, n) / 8,
        3: lambda: np.clip(1 / (1 + np.exp(-score)) + 0.01 * rng.normal(size=n), 0, 1),
        4: lambda: 10 ** rng.uniform(-12, 0, n),
        5: lambda: rng.choice([0, 1, 1e-11, 1 - 1e-11, 0.3], n),
    }[rng.integers(6)]()
    lightest, heaviest = ((0, 0), (0.01, 3), (1, 900), (2**-10, 2**-9))[rng.integers(4)]
    weight = rng.uniform(lightest, heaviest, n) if heaviest else None
    grid = Grid("margin" if margin else "probability", n_bins=int(rng.choice([2, 16, 64, 1 << 16])))
    order = rng.integers(3)
    if order:
        bins = grid.bins(score)
        for k in np.unique(bins):
            rows = np.flatnonzero(bins == k)
            q[rows[np.argsort(score[rows])]] = np.sort(q[rows])[:: (-1) ** order]
    return ht.SoftLabeled(q, score, sample_weight=weight), grid, float(rng.choice([0.5, *score]))


@pytest.mark.parametrize("seeds", np.array_split(np.arange(160), 8), ids=lambda x: f"{x[0]}-{x[-1]}")
def test_no_metric_is_off_by_more_than_its_bound(seeds: np.ndarray) -> None:
    finite = 0
    for seed in seeds:
        exact, grid, threshold = _case(int(seed))
        compressed = _compressed(exact, grid)
        bounded = exact.measure().bounded and 0 <= threshold < 1
        for name, parameters in _calls(bounded, threshold):
            bound = certificate.bound(compressed, name, parameters)
            if bound is None:
                assert REGISTRY[name].certificate is None
                if seed > seeds[0]:
                    continue
            one, other = (float(REGISTRY[name].function(x, **parameters)) for x in (exact, compressed))
            if bound is None:  # nothing is promised but a value
                assert np.isnan(one) == np.isnan(other), (seed, name, parameters, one, other)
                continue
            # inf where it is not defined, so that a NaN on either side is no surprise.
            assert bound == np.inf or abs(one - other) <= bound, (seed, name, parameters, one, other, bound)
            finite += bound < np.inf
    assert finite > 20 * len(seeds)


@pytest.mark.parametrize("weighted", [False, True])
def test_ties_cost_nothing(weighted: bool) -> None:
    rng = np.random.default_rng(0)
    score, q = rng.integers(0, 9, (2, 400)) / 8
    weight = rng.choice([0.5, 1, 1.5], 400) if weighted else None
    exact = ht.SoftLabeled(q, score, sample_weight=weight)
    compressed = _compressed(exact)
    for name, parameters in _calls(bounded=True, threshold=0.5):
        one, other = (REGISTRY[name].function(x, **parameters) for x in (exact, compressed))
        assert other == pytest.approx(one, rel=1e-12, abs=1e-12), name
        bound = certificate.bound(compressed, name, parameters)
        if bound is not None and not (weighted and name in MOVED_BY_ROUNDING):
            assert bound < 1e-5 * (1 + abs(one)), (name, parameters, bound)
    for name in ("roc_auc", "brier", "calibration_error"):
        one, other = (REGISTRY[name].function(x.naive_measure()) for x in (exact, compressed))
        assert other == pytest.approx(one, rel=1e-12), name


@pytest.mark.parametrize("weighted", [False, True])
def test_bounds_are_of_use(weighted: bool) -> None:
    exact = _soft(50_000, 0, weighted=weighted)
    compressed = _compressed(exact)
    limits = {"roc_auc": 2e-5, "average_precision": 2e-4, "brier": 1e-7, "log_loss": 1e-6, "risk": 1e-6}
    for name, limit in limits.items():
        bound = certificate.bound(compressed, name)
        assert bound is not None
        error = abs(REGISTRY[name].function(exact) - REGISTRY[name].function(compressed))
        assert error <= bound < limit, (name, error, bound)


def test_labels_that_hardly_differ_inside_a_bin_leave_little_open() -> None:
    coarse = Grid("probability", n_bins=256)
    bounds = []
    for noise in (0.2, 0.001):
        exact = _soft(20_000, 1, weighted=False, noise=noise)
        compressed = _compressed(exact, coarse)
        bound = certificate.bound(compressed, "roc_auc")
        assert bound is not None
        assert abs(ht.roc_auc(exact) - ht.roc_auc(compressed)) <= bound
        bounds.append(bound)
    assert bounds[1] < bounds[0] / 10


@pytest.mark.parametrize("weighted", [False, True])
def test_an_evaluation_agrees_with_that_of_the_rows(weighted: bool, tmp_path: Path) -> None:
    exact = _soft(4000, 2, weighted=weighted)
    compressed = _compressed(exact, Grid("probability", n_bins=2048))
    one, other = (ht.evaluate(x, threshold=0.5, n_resamples=2000) for x in (exact, compressed))
    for name, row in one.rows.items():
        joined = other[name]
        assert joined.compression is not None, name
        assert abs(joined.value - row.value) <= joined.compression, name
        width = row.high - row.low
        # Gaps of bins that are cut elsewhere have other noise.
        loose = 0.2 if name == "calibration_error" else 0.12
        assert joined.high - joined.low == pytest.approx(width, rel=loose), name
        assert [joined.low, joined.high] == pytest.approx([row.low, row.high], abs=0.15 * width), name
        assert joined.naive == pytest.approx(row.naive, rel=0.01), name
    assert other.to_dict()["metrics"]["roc_auc"]["compression"] == other["roc_auc"].compression
    other.to_html(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])
    sums = data["models"][0]["table"]["sums"]["soft"]
    assert sum(sums["value"]) / sum(sums["weight"]) == pytest.approx(other["prevalence"].value, rel=1e-8)


def test_noise_of_calibration_gaps_is_that_of_the_rows() -> None:
    for weighted in (False, True):
        exact = _soft(4000, 3, weighted=weighted)
        compressed = _compressed(exact)
        one, other = (ht.calibration_error(x, n_bins=10, debias=True) for x in (exact, compressed))
        assert other == pytest.approx(one, rel=5e-3)


# --- What is refused ------------------------------------------------------------------------------


def test_what_needs_each_label_names_the_remedy() -> None:
    compressed = _compressed(_soft(100, 0, weighted=False))
    with pytest.raises(ht.InputError, match="sums of soft labels, not each of them"):
        ht.bayes_error(compressed)
    votes = ht.SoftLabeled.from_votes([0, 1, 3], 3, [0.2, 0.4, 0.9])
    assert ht.roc_auc(_compressed(votes)) == pytest.approx(ht.roc_auc(votes), abs=1e-9)
    with pytest.raises(ht.InputError, match="sums of soft labels, not each of them"):
        ht.bayes_error(_compressed(votes))


def test_other_values_stay_exact_rows() -> None:
    for evidence in (
        ht.SoftLabeled([[0.2, 0.3, 0.5], [0.1, 0.8, 0.1]]),
        ht.PositiveConfidence([0.3, 0.9], [0.3, 0.8]),
        ht.PositiveUnlabeled([0.9, 0.8], [0.1, 0.2], prior=0.3, propensity=[0.5, 0.6]),
    ):
        with pytest.raises(ht.InputError, match="stay exact rows"):
            evidence.table.compress()


def test_tables_of_another_meaning_do_not_merge() -> None:
    soft = ht.SoftLabeled([0.2, 0.9], [0.1, 0.8]).table.compress()
    votes = ht.SoftLabeled.from_votes([0, 2], 2, [0.1, 0.8]).table.compress()
    with pytest.raises(ht.MergeError, match="carry soft label, those of the other share of votes"):
        soft.merge(votes)
    with pytest.raises(ht.MergeError, match="cannot share a table"):
        soft.merge(ht.Labeled([0, 1], [0.1, 0.8]).table.compress())
    with pytest.raises(ht.MergeError, match="different grids"):
        soft.merge(ht.SoftLabeled([0.2, 0.9], [-1.0, 8.0]).table.compress())


# --- Files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("grid", [PROBABILITY, MARGIN])
def test_a_saved_table_comes_back_to_the_bit(weighted: bool, grid: Grid, tmp_path: Path) -> None:
    table = _soft(300, 4, weighted=weighted).table.compress(grid)
    table.save(tmp_path / "soft.npz")
    loaded = ScoreTable.load(tmp_path / "soft.npz")
    assert_same(loaded.strata["soft"], table.strata["soft"])
    assert repr(loaded) == repr(table)
    assert ht.roc_auc(ht.SoftLabeled.from_table(loaded)) == ht.roc_auc(ht.SoftLabeled.from_table(table))


def test_shares_of_votes_stay_shares_of_votes(tmp_path: Path) -> None:
    table = ht.SoftLabeled.from_votes([0, 1, 3], 3, [0.2, 0.4, 0.9]).table.compress()
    table.save(tmp_path / "votes.npz")
    assert ScoreTable.load(tmp_path / "votes.npz").strata["soft"].meaning == "share of votes"


def _shift(name: str, by: float) -> Any:
    def damage(header: dict[str, Any], arrays: dict[str, Any]) -> None:
        arrays[f"soft.{name}"] = arrays[f"soft.{name}"] + int(by * UNIT)

    return damage


DAMAGES: dict[str, Any] = {
    **{f"more {name}": _shift(name, 8000) for name in OF_VALUES},
    **{f"negative {name}": _shift(name, -8000) for name in OF_VALUES},
    "value of another bin": lambda _, arrays: arrays.update(
        {"soft.value": arrays["soft.value"][::-1].copy()}
    ),
    "no column": lambda _, arrays: arrays.pop("soft.hard"),
    "floats": lambda _, arrays: arrays.update({"soft.value": arrays["soft.value"] / 2}),
    "no meaning": lambda header, _: header["meaning"].update(soft=None),
    "another meaning": lambda header, _: header["meaning"].update(soft="1/propensity"),
    "a made-up meaning": lambda header, _: header["meaning"].update(soft="anything"),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_file_is_refused(damage: Any, tmp_path: Path) -> None:
    path = tmp_path / "soft.npz"
    _soft(300, 5, weighted=True).table.compress(COARSE).save(path)
    header, arrays = _storage.load(path, "ScoreTable", 1)
    damage(header, arrays)
    written = {k: v for k, v in header.items() if k not in ("what", "schema")}
    _storage.save(path, "ScoreTable", 1, written, arrays)
    with pytest.raises(ht.InputError, match="damaged ScoreTable"):
        ScoreTable.load(path)


def test_rounding_is_no_damage(tmp_path: Path) -> None:
    """Sums of many rows, each rounded the same way, still go together."""
    n = 20_000
    q, weight = np.full(n, 0.3 / UNIT), np.full(n, 100.3)
    for each, given_weight in ((q, None), (1 - q, weight), (np.full(n, 0.5), weight)):
        table = ht.SoftLabeled(each, np.full(n, 0.7), sample_weight=given_weight).table.compress(COARSE)
        table.save(tmp_path / "soft.npz")
        assert_same(ScoreTable.load(tmp_path / "soft.npz").strata["soft"], table.strata["soft"])
    assert fixed(q).sum() == 0
