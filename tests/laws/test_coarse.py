"""Joining neighbouring scores keeps the sums, the thresholds and the law of a resample."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halftruth.table._resampling import resampled_sums
from halftruth.table._score_table import ScoreTable
from halftruth.table._strata import StratumRows
from halftruth.table._support import Support

from .samples import examples

N_DRAWS = 4000


@st.composite
def supports(draw: st.DrawFn, *, min_rows: int = 1) -> Support:
    """Two strata of some dozens of rows, or one; plain, weighted, or weighted and valued."""
    grid = draw(st.sampled_from((8, 64, 4096)))
    strata = {}
    for name in draw(st.sampled_from((("positive",), ("positive", "unlabeled")))):
        size = draw(st.integers(min_rows, 60))
        rng = np.random.default_rng(draw(st.integers(0, 2**32)))
        weighted, valued = draw(st.tuples(st.booleans(), st.booleans()))
        strata[name] = StratumRows(
            score=rng.integers(0, grid, size) / grid,
            weight=rng.choice([0.5, 1.0, 2.0, 3.5], size) if weighted else None,
            value=rng.choice([1.0, 2.0, 8.0], size) if valued else None,
        )
    return ScoreTable(strata).support


thresholds = st.lists(st.integers(-1, 65).map(lambda i: i / 64), max_size=3)
sizes = st.integers(2, 24)


@examples(80)
@given(support=supports(), n_atoms=sizes, keep=thresholds)
def test_totals_of_every_stratum_are_kept(support: Support, n_atoms: int, keep: list[float]) -> None:
    coarse = support.coarse(n_atoms, keep)
    before, after = support.sums(), coarse.sums()
    assert before.keys() == after.keys()
    for column in before:
        np.testing.assert_allclose(after[column].sum(), before[column].sum(), rtol=1e-12)
    for name, cells in support.strata.items():
        assert coarse.strata[name].n_rows == cells.n_rows


@examples(80)
@given(support=supports(), n_atoms=sizes, keep=thresholds)
def test_nothing_is_joined_across_a_kept_threshold(support: Support, n_atoms: int, keep: list[float]) -> None:
    coarse = support.coarse(n_atoms, keep)
    before, after = support.sums(), coarse.sums()
    for threshold in keep:
        for column in before:
            one, other = (
                sums[column][own.score >= threshold].sum()
                for own, sums in ((support, before), (coarse, after))
            )
            np.testing.assert_allclose(one, other, rtol=1e-12, err_msg=str(column))


@examples(80)
@given(support=supports(), n_atoms=sizes, keep=thresholds)
def test_scores_stay_in_order_and_the_outermost_apart(
    support: Support, n_atoms: int, keep: list[float]
) -> None:
    coarse = support.coarse(n_atoms, keep)
    assert (np.diff(coarse.score) > 0).all()
    before, after = support.sums(), coarse.sums()
    for end in (0, -1):
        assert coarse.score[end] == support.score[end]
        for column in before:
            np.testing.assert_allclose(after[column][end], before[column][end], rtol=1e-12)


@examples(80)
@given(support=supports(), n_atoms=st.integers(4, 24), keep=thresholds)
def test_about_so_many_scores_are_left(support: Support, n_atoms: int, keep: list[float]) -> None:
    coarse = support.coarse(n_atoms, keep)
    assert len(coarse.score) <= 1.5 * n_atoms + 4 + len(keep)
    if len(support.strata) == 1:
        assert len(coarse.score) >= min(len(support.score), n_atoms) / 4


@examples(80)
@given(support=supports(), n_atoms=sizes)
def test_a_small_stratum_keeps_its_rows_apart(support: Support, n_atoms: int) -> None:
    coarse = support.coarse(n_atoms)
    for name, cells in support.strata.items():
        if cells.n_rows <= n_atoms // len(support.strata):
            assert len(np.unique(coarse.strata[name].atom)) == len(np.unique(cells.atom))


@examples(20)
@given(support=supports())
def test_a_support_that_is_small_enough_is_left_alone(support: Support) -> None:
    assert support.coarse(len(support.score)) is support


# --- The law of a resample ----------------------------------------------------------------------


def _rows(size: int, seed: int, *, weighted: bool, valued: bool) -> StratumRows:
    rng = np.random.default_rng(seed)
    return StratumRows(
        score=np.sort(rng.random(size)),
        weight=rng.choice([0.25, 1.0, 4.0], size) if weighted else None,
        value=rng.choice([1.0, 2.0, 8.0], size) if valued else None,
    )


def _of_one_row(table: ScoreTable, coarse: Support) -> tuple[list[tuple], np.ndarray]:
    """What each row adds to each (column, joined score): columns, and a matrix (rows, columns)."""
    # Squares only say how noisy values are.
    kinds = [column for column in coarse.sums() if column[1] != "square"]
    columns = [(column, i) for column in kinds for i in range(len(coarse.score))]
    edges = np.cumsum([len(rows) for rows in table.strata.values()])
    out = np.zeros((edges[-1], len(columns)))
    for (name, rows), end in zip(table.strata.items(), edges, strict=True):
        # A row belongs to the joined score that holds its rank; ranks are counted within the stratum.
        cells = coarse.strata[name]
        place = np.repeat(cells.atom, cells.count)
        adds = {"weight": rows.full_weight()}
        if rows.value is not None:
            adds["value"] = rows.full_weight() * rows.value
        for column, each in adds.items():
            for row, (i, amount) in enumerate(zip(place, each, strict=True), end - len(rows)):
                out[row, columns.index(((name, column), i))] = amount
    return columns, out


@pytest.mark.parametrize("one_sample", [True, False], ids=["one_sample", "two_samples"])
@pytest.mark.parametrize(("weighted", "valued"), [(False, False), (True, False), (False, True), (True, True)])
def test_resampled_sums_have_the_mean_and_covariance_of_resampled_rows(
    weighted: bool, valued: bool, one_sample: bool
) -> None:
    table = ScoreTable(
        {
            "positive": _rows(40, 1, weighted=weighted, valued=valued),
            "unlabeled": _rows(70, 2, weighted=weighted, valued=False),
        }
    )
    coarse = table.support.coarse(12)
    assert len(coarse.score) < 40
    columns, adds = _of_one_row(table, coarse)
    n_rows = np.asarray([len(rows) for rows in table.strata.values()])
    groups = [np.arange(n_rows.sum())] if one_sample else np.split(np.arange(n_rows.sum()), n_rows[:1])
    mean = adds.sum(axis=0)
    covariance = sum(
        adds[group].T @ adds[group] - np.outer(adds[group].sum(axis=0), adds[group].sum(axis=0)) / len(group)
        for group in groups
    )
    chunks = list(resampled_sums(coarse, N_DRAWS, np.random.default_rng(7), one_sample=one_sample))
    drawn = np.stack([np.concatenate([chunk[key][:, i] for chunk in chunks]) for key, i in columns], axis=1)
    assert drawn.shape == (N_DRAWS, len(columns))

    spread = np.sqrt(np.diag(covariance))
    assert (np.abs(drawn.mean(axis=0) - mean) <= 5 * spread / np.sqrt(N_DRAWS) + 1e-9).all()
    centred = drawn - mean
    products = centred[:, :, None] * centred[:, None, :]
    error = products.std(axis=0) / np.sqrt(N_DRAWS)
    assert (np.abs(products.mean(axis=0) - covariance) <= 5 * error + 1e-9).all()
