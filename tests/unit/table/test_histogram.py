"""Histogram tables: exact integer sums on a grid that holds where scores pile up."""

from __future__ import annotations

import io
import itertools
import zipfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import halftruth as ht
from halftruth.files._cell_meanings import Sql, Term
from halftruth.table import _histogram
from halftruth.table._grid import Grid
from halftruth.table._histogram import UNIT, Bins
from halftruth.table._score_table import ScoreTable
from halftruth.table._strata import StratumRows

MODEL = ht.simulate.GaussianClasses(prior=0.3)
PROBABILITY, MARGIN = Grid("probability"), Grid("margin")
COLUMNS = ("index", "rows", "position", "weight", "square", "low", "high")

probabilities = hnp.arrays(np.float64, st.integers(1, 60), elements=st.floats(0, 1))
margins = hnp.arrays(np.float64, st.integers(1, 60), elements=st.floats(-1e300, 1e300)).map(
    lambda score: score + 0.0  # −0.0 is 0.0, as in every table
)


def assert_same(a: Bins, b: Bins) -> None:
    assert a.grid == b.grid
    for name in COLUMNS:
        x, y = getattr(a, name), getattr(b, name)
        assert (x is None) == (y is None), name
        if x is not None:
            assert x.tobytes() == y.tobytes(), name


@pytest.mark.parametrize(("grid", "low", "high"), [(PROBABILITY, 0, 1), (MARGIN, -1e308, 1e308)])
def test_bins_never_fall_as_the_score_rises(grid, low, high):
    rng = np.random.default_rng(0)
    x = np.concatenate(
        [rng.random(20_000), 10 ** rng.uniform(-300, 0, 20_000), 1 - 10 ** rng.uniform(-16, 0, 20_000)]
    )
    if grid is MARGIN:
        x = np.concatenate([x, -x, 10 ** rng.uniform(0, 307, 20_000), -(10 ** rng.uniform(0, 307, 20_000))])
    edges = np.concatenate([[low, high, 0.0, 1.0, 0.5, 5e-324], x, np.nextafter(x, 2), np.nextafter(x, -2)])
    x = np.sort(edges[(edges >= low) & (edges <= high)])
    bins = grid.bins(x)
    assert (np.diff(bins) >= 0).all()
    assert bins.min() >= 0
    assert bins.max() < grid.n_slots


def test_zero_and_one_have_bins_of_their_own():
    tiny = np.asarray([0.0, 5e-324, 0.5, 1 - 2.0**-53, 1.0])
    bins = PROBABILITY.bins(tiny)
    assert bins[0] == 0
    assert bins[-1] == PROBABILITY.n_slots - 1
    assert bins[1] > 0
    assert bins[3] < PROBABILITY.n_slots - 1


def test_sums_are_what_they_say():
    score, weight = np.asarray([0.25, 0.25, 0.75]), np.asarray([0.5, 2.0, 3.0])
    bins = Bins.of(PROBABILITY, score, weight)
    assert bins.rows.tolist() == [2, 1]
    assert (bins.weight / UNIT).tolist() == [2.5, 3.0]
    assert (bins.square / UNIT).tolist() == [4.25, 9.0]
    assert (bins.position / UNIT).tolist() == [0.625, 2.25]
    assert bins.low.tolist() == bins.high.tolist() == [0.25, 0.75]


@given(probabilities, probabilities, st.randoms(use_true_random=False))
def test_merging_equals_concatenation_to_the_bit(a, b, random):
    both = np.concatenate([a, b])
    shuffled = both[random.sample(range(len(both)), len(both))]
    one, two = Bins.of(PROBABILITY, a), Bins.of(PROBABILITY, b)
    assert_same(one.concatenate(two), Bins.of(PROBABILITY, shuffled))
    assert_same(two.concatenate(one), Bins.of(PROBABILITY, shuffled))


@given(margins, margins)
def test_margins_of_any_range_merge_too(a, b):
    assert_same(Bins.of(MARGIN, a).concatenate(Bins.of(MARGIN, b)), Bins.of(MARGIN, np.concatenate([a, b])))


def test_weighted_and_plain_rows_merge():
    a, b = np.asarray([0.1, 0.2]), np.asarray([0.2, 0.9])
    w = np.asarray([0.5, 4.0])
    merged = Bins.of(PROBABILITY, a).concatenate(Bins.of(PROBABILITY, b, w))
    assert_same(merged, Bins.of(PROBABILITY, np.append(a, b), np.append([1.0, 1.0], w)))


def test_many_rows_give_the_same_sums_as_few_merged():
    rng = np.random.default_rng(1)
    score = np.concatenate([rng.random(500_000), rng.beta(0.01, 0.01, 50_000)])
    parts = [Bins.of(PROBABILITY, part) for part in np.array_split(score, 7)]
    merged = parts[0]
    for part in parts[1:]:
        merged = merged.concatenate(part)
    assert_same(merged, Bins.of(PROBABILITY, score))
    weight = rng.integers(1, 50, len(score)) / 16
    merged = Bins.of(PROBABILITY, score[:1000], weight[:1000]).concatenate(
        Bins.of(PROBABILITY, score[1000:], weight[1000:])
    )
    assert_same(merged, Bins.of(PROBABILITY, score, weight))


def test_tables_with_different_grids_refuse_to_merge_and_print_both():
    a = ht.Labeled([1, 0], [0.9, 0.2]).table.compress()
    b = ht.Labeled([1, 0], [9.0, -2.0]).table.compress()
    with pytest.raises(ht.MergeError, match=r"probability grid of 65,536 bins, and margin grid"):
        a.merge(b)
    fine = ht.Labeled([1, 0], [0.9, 0.2]).table.compress(Grid("probability", n_bins=1024))
    with pytest.raises(ht.MergeError, match=r"65,536 bins, and probability grid of 1,024 bins"):
        a.merge(fine)


def test_exact_rows_join_a_histogram_on_its_grid():
    rows = ht.Labeled([1, 0, 0], [0.9, 0.2, 0.4]).table
    other = ht.Labeled([1, 1], [0.8, 0.3]).table
    expected = rows.merge(other).compress()
    for table in (rows.compress().merge(other), rows.merge(other.compress())):
        for name in table.strata:
            assert_same(table.strata[name], expected.strata[name])


def test_a_table_of_propensities_stays_exact():
    with pytest.raises(ht.InputError, match="stay exact rows"):
        ht.PositiveUnlabeled([0.9], [0.2], prior=0.3, propensity=[0.5]).table.compress()


@pytest.mark.parametrize("weight", [2.0**-11, 2.0**16])
def test_weights_out_of_range_are_refused_with_the_remedy(weight):
    with pytest.raises(ht.InputError, match="Multiply all weights"):
        ht.Labeled([1, 0], [0.9, 0.2], sample_weight=[1.0, weight]).table.compress()


@pytest.mark.parametrize("compiled_from", [1, 3])
@pytest.mark.parametrize("soft", [[0.5, 1.001], [-0.001, 0.5], [np.nan, 0.5]])
def test_soft_labels_out_of_range_are_refused(soft, compiled_from, monkeypatch):
    monkeypatch.setattr(_histogram, "COMPILED", compiled_from)
    with pytest.raises(ht.InputError, match=r"Soft labels must lie in \[0, 1\], got "):
        Bins.of(Grid("probability"), np.array([0.2, 0.4]), value=np.array(soft))


def test_sums_that_would_overflow_are_refused():
    n = 1 << 12
    score, weight = np.full(n, 0.5), np.full(n, 2.0**10)
    with pytest.raises(ht.InputError, match="add up to more than"):
        Bins.of(PROBABILITY, score, weight)


SATURATED = {
    "near 0": lambda z: 1 / (1 + np.exp(14 - 3 * z)),
    "near 1": lambda z: 1 / (1 + np.exp(-14 - 3 * z)),
    "both": lambda z: 1 / (1 + np.exp(-14 * z)),
    "smooth": lambda z: 1 / (1 + np.exp(-z)),
}


@pytest.mark.parametrize("shape", SATURATED)
def test_auc_holds_where_scores_pile_up(shape):
    draw = ht.simulate.GaussianClasses(prior=0.3).draw(50_000, 3)
    z = np.log(draw.score / (1 - draw.score))
    exact = ht.Labeled(draw.y, SATURATED[shape](z))
    compressed = ht.Labeled.from_table(exact.table.compress())
    assert abs(ht.roc_auc(compressed) - ht.roc_auc(exact)) < 1e-5
    assert abs(ht.average_precision(compressed) - ht.average_precision(exact)) < 1e-4
    assert abs(ht.brier(compressed) - ht.brier(exact)) < 1e-6
    assert ht.log_loss(compressed) == pytest.approx(ht.log_loss(exact), rel=1e-4)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_margins_of_any_scale_keep_their_ranking_on_a_grid_that_fits(scale):
    draw = ht.simulate.GaussianClasses(prior=0.3).draw(50_000, 3)
    z = scale * np.log(draw.score / (1 - draw.score))
    exact = ht.Labeled(draw.y, z)
    compressed = ht.Labeled.from_table(exact.table.compress(Grid("margin", scale=scale)))
    assert abs(ht.roc_auc(compressed) - ht.roc_auc(exact)) < 1e-5


def _tables() -> dict[str, ScoreTable]:
    labeled = ht.Labeled([1, 0, 0], [0.9, 0.2, 0.4], sample_weight=[1.0, 2.0, 0.5]).table
    return {
        "rows": labeled,
        "histogram": labeled.compress(),
        "margins": ht.Labeled([1, 0], [-3.0, 8.0]).table.compress(),
        "soft": ht.SoftLabeled([0.2, 0.9], [0.5, 0.7]).table,
        "propensity": ht.PositiveUnlabeled([0.9, 0.8], [0.1, 0.3], propensity=[0.5, 0.25]).table,
    }


@pytest.mark.parametrize("kind", _tables())
def test_saved_tables_come_back_whole(kind, tmp_path):
    table = _tables()[kind]
    table.save(tmp_path / "a.npz")
    back = ScoreTable.load(tmp_path / "a.npz")
    assert repr(back) == repr(table)
    assert back.grid == table.grid
    for name, rows in table.strata.items():
        for column in ("score", "weight", "value", "meaning") if isinstance(rows, StratumRows) else COLUMNS:
            assert np.array_equal(getattr(rows, column), getattr(back.strata[name], column)), column
    table.save(tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.npz", "b.npz"]


def test_an_unknown_schema_is_a_clear_error(tmp_path):
    table = _tables()["histogram"]
    table.save(tmp_path / "t.npz")
    with np.load(tmp_path / "t.npz") as file:
        arrays = dict(file)
    arrays["header"] = np.asarray(str(arrays["header"]).replace('"schema": 1', '"schema": 99'))
    np.savez(tmp_path / "t.npz", **arrays)
    with pytest.raises(ht.InputError, match=r"has schema 99; this halftruth reads schema 1"):
        ScoreTable.load(tmp_path / "t.npz")


def _npz(**arrays: object) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


GOOD = '{"what": "ScoreTable", "schema": 1, "grid": null, "meaning": {"positive": null}}'
DAMAGED = {
    "empty": b"",
    "text": b"score,label\n",
    "pickle": _npz(header=np.asarray(GOOD), **{"positive.score": np.asarray([{}], dtype=object)}),
    "no header": _npz(a=np.ones(2)),
    "another thing": _npz(header=np.asarray('{"what": "Calibrator", "schema": 1}')),
    "nan": _npz(header=np.asarray(GOOD), **{"positive.score": np.asarray([np.nan])}),
    "stratum": _npz(header=np.asarray(GOOD), **{"weird.score": np.asarray([0.5])}),
    "column": _npz(header=np.asarray(GOOD), **{"positive.score": np.ones(1), "positive.x": np.ones(1)}),
    "length": _npz(header=np.asarray(GOOD), **{"positive.score": np.ones(1), "positive.weight": np.ones(2)}),
    "array": _npz(header=np.asarray("[1]")),
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_damaged_files_are_refused(kind, tmp_path):
    (tmp_path / "t.npz").write_bytes(DAMAGED[kind])
    with pytest.raises(ht.InputError):
        ScoreTable.load(tmp_path / "t.npz")


def test_a_truncated_file_is_refused(tmp_path):
    _tables()["histogram"].save(tmp_path / "t.npz")
    whole = (tmp_path / "t.npz").read_bytes()
    for share in (0.2, 0.5, 0.9):
        (tmp_path / "t.npz").write_bytes(whole[: int(share * len(whole))])
        with pytest.raises(ht.InputError, match="damaged"):
            ScoreTable.load(tmp_path / "t.npz")


def test_a_histogram_whose_scores_lie_outside_their_bins_is_refused(tmp_path):
    _tables()["histogram"].save(tmp_path / "t.npz")
    with np.load(tmp_path / "t.npz") as file:
        arrays = dict(file)
    arrays["positive.low"] = arrays["positive.low"] / 2
    np.savez(tmp_path / "t.npz", **arrays)
    with pytest.raises(ht.InputError, match="bins"):
        ScoreTable.load(tmp_path / "t.npz")


def test_what_cannot_be_written_leaves_the_old_file(tmp_path, monkeypatch):
    table = _tables()["rows"]
    path = tmp_path / "t.npz"
    table.save(path)
    before = path.read_bytes()

    def interrupted(*args: object, **kwargs: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(zipfile.ZipFile, "open", interrupted)
    with pytest.raises(KeyboardInterrupt):
        table.save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["t.npz"]
    with pytest.raises(ht.InputError, match="cannot be written"):
        table.save(tmp_path / "missing" / "t.npz")


def test_evidence_from_a_histogram_is_close_to_that_of_the_rows():
    strata = ht.simulate.GaussianClasses(prior=0.3).draw_strata(2000, 20_000, 5)
    exact = ht.PositiveUnlabeled(strata.positive.score, strata.unlabeled.score, prior=0.3)
    binned = ht.PositiveUnlabeled.from_table(exact.table.compress(), prior=0.3, population="unlabeled")
    a, b = (ht.evaluate(e, threshold=0.5, n_resamples=0) for e in (exact, binned))
    for name, end in itertools.product(a, ("value", "low", "high", "naive")):
        # Resampled 500 times, on cells that are not quite the same: an end of AP has an error of .004.
        loose = {"average_precision": 0.016, "calibration_error": 3e-3}.get(name, 1e-6)
        assert getattr(a[name], end) == pytest.approx(getattr(b[name], end), abs=loose), (name, end)


def test_weighted_rows_and_their_histogram_have_the_same_intervals():
    rng = np.random.default_rng(0)
    draw = MODEL.draw(60_000, 3)
    exact = ht.Labeled(draw.y, draw.score, sample_weight=np.clip(rng.lognormal(0, 1.2, 60_000), 0.01, 100))
    for grid in (Grid("probability"), Grid("probability", n_bins=4096), Grid("probability", n_bins=256)):
        binned = ht.Labeled.from_table(exact.table.compress(grid))
        a, b = (ht.evaluate(e, ["prevalence", "roc_auc", "brier"], n_resamples=0) for e in (exact, binned))
        for name in a:
            assert b[name].high - b[name].low == pytest.approx(a[name].high - a[name].low, rel=0.03), name


def test_sizes_of_heavy_tables_do_not_overflow():
    rng = np.random.default_rng(0)
    weight = rng.uniform(60, 140, 400_000)
    exact = ht.Labeled(rng.random(400_000) < 0.3, rng.random(400_000), sample_weight=weight).table
    assert exact.compress().effective_rows() == pytest.approx(exact.effective_rows(), rel=1e-9)


def test_more_rows_than_integers_can_add_up_are_refused():
    many = Bins(
        grid=PROBABILITY,
        index=np.asarray([0], dtype=np.int32),
        rows=np.asarray([1 << 29]),
        position=np.asarray([0]),
        low=np.zeros(1),
        high=np.zeros(1),
    )
    twice = many.concatenate(many)
    with pytest.raises(ht.InputError, match="too many to add up exactly"):
        twice.concatenate(many)


def test_a_grid_takes_numpys_numbers(tmp_path):
    grid = Grid("margin", center=np.float64(0.5), scale=np.float64(2), n_bins=np.int64(64))
    assert "np" not in grid.index(Term("s"), Sql()).text
    ht.Labeled([1, 0], [0.9, 0.2]).table.compress(grid).save(tmp_path / "t.npz")
    assert ScoreTable.load(tmp_path / "t.npz").grid == grid


FORGED = {
    "negative weights": {"negative.weight": lambda x: -x},
    "no weight": {"negative.weight": lambda x: 0 * x},
    "float rows": {"positive.rows": lambda x: 1.5 * x},
    "unsigned rows": {"positive.rows": lambda x: x.astype(np.uint64) + np.uint64(1 << 63)},
    "position": {"positive.position": lambda x: x * 0 - 7},
    "square": {"negative.square": lambda x: x * 0 - 5},
    "complex": {"positive.low": lambda x: x.astype(complex)},
    "extra": {"positive.value": lambda x: np.ones(1)},
    "meaning": {"positive.meaning": lambda x: np.ones(1)},
}


@pytest.mark.parametrize("kind", FORGED)
def test_forged_histograms_are_refused(kind, tmp_path):
    _tables()["histogram"].save(tmp_path / "t.npz")
    with np.load(tmp_path / "t.npz") as file:
        arrays = dict(file)
    for name, change in FORGED[kind].items():
        arrays[name] = change(arrays.get(name))
    np.savez(tmp_path / "t.npz", **arrays)
    with pytest.raises(ht.InputError):
        ScoreTable.load(tmp_path / "t.npz")


@pytest.mark.parametrize(("meaning", "value"), [("soft label", 5.0), ("1/propensity", 0.5), ("odd", 0.5)])
def test_forged_values_are_refused(meaning, value, tmp_path):
    header = GOOD.replace('{"positive": null}', f'{{"positive": "{meaning}"}}')
    arrays = {"positive.score": np.asarray([0.5]), "positive.value": np.asarray([value])}
    np.savez(tmp_path / "t.npz", header=np.asarray(header), **arrays)
    with pytest.raises(ht.InputError):
        ScoreTable.load(tmp_path / "t.npz")


def test_a_header_without_an_end_is_refused(tmp_path):
    np.savez(tmp_path / "t.npz", header=np.asarray("[" * 100_000))
    with pytest.raises(ht.InputError, match="damaged"):
        ScoreTable.load(tmp_path / "t.npz")


def test_two_that_save_at_once_do_not_disturb_each_other(tmp_path):
    table = _tables()["rows"]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: table.save(tmp_path / "t.npz"), range(40)))
    assert [p.name for p in tmp_path.iterdir()] == ["t.npz"]
    assert repr(ScoreTable.load(tmp_path / "t.npz")) == repr(table)
