"""`ScoreTable.from_file(propensity=…)`: the chance that a positive is known, row by row."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import halftruth as ht

FRAME = pd.DataFrame(
    {
        "score": [0.9, 0.2, 0.8, 0.4, 0.7],
        "other": [0.1, 0.2, 0.3, 0.4, 0.5],
        "label": [1, np.nan, 1, 0, 1],
        "e": [0.5, np.nan, 1.0, 7.0, 0.25],
        "w": [1, 2, 0, 1, 3],
        "site": ["a", "a", "b", "b", "a"],
    }
)


@pytest.fixture(scope="module", params=["csv", "tsv", "parquet", "jsonl"])
def path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("propensities") / f"rows.{request.param}"
    if request.param == "parquet":
        FRAME.to_parquet(path, index=False)
    elif request.param == "jsonl":
        FRAME.to_json(path, orient="records", lines=True)
    else:
        FRAME.to_csv(path, index=False, sep="\t" if request.param == "tsv" else ",")
    return path


def test_positives_have_values_and_the_others_none(path: Path) -> None:
    table = ht.ScoreTable.from_file(path, propensity="e")
    positive = table.strata["positive"]
    assert positive.value.tolist() == [2.0, 1.0, 4.0]
    assert positive.meaning == "1/propensity"
    assert {table.strata[name].meaning for name in ("unlabeled", "negative")} == {None}
    made = ht.PositiveUnlabeled.from_labels(FRAME["label"], FRAME["score"], propensity=FRAME["e"])
    assert ht.roc_auc(ht.PositiveUnlabeled.from_table(table)) == ht.roc_auc(made)


def test_with_weights_groups_and_several_scores(path: Path) -> None:
    table = ht.ScoreTable.from_file(path, propensity="e", weight="w")
    assert table.strata["positive"].value.tolist() == [2.0, 4.0]  # a row of weight zero is none
    groups = ht.ScoreTable.from_file(path, propensity="e", by="site")
    assert {name: x.strata["positive"].value.tolist() for name, x in groups.items()} == {
        "a": [2.0, 4.0],
        "b": [1.0],
    }
    models = ht.ScoreTable.from_file(path, score=["score", "other"], propensity="e")
    assert models["other"].strata["positive"].value.tolist() == [2.0, 1.0, 4.0]


def test_a_saved_table_keeps_them(path: Path, tmp_path: Path) -> None:
    table = ht.ScoreTable.from_file(path, propensity="e")
    table.save(tmp_path / "t.npz")
    assert ht.ScoreTable.load(tmp_path / "t.npz").strata["positive"].value.tolist() == [2.0, 1.0, 4.0]


def test_a_histogram_cannot_hold_them(path: Path) -> None:
    with pytest.raises(ht.InputError, match="Propensities stay row by row, which a histogram cannot"):
        ht.ScoreTable.from_file(path, propensity="e", max_rows=3)


def test_a_bad_cell_of_a_positive_is_named(path: Path) -> None:
    with pytest.raises(
        ht.InputError, match=r"column 'w' holds 2 on positive row\(s\) that are none: .* row 3"
    ):
        ht.ScoreTable.from_file(path, propensity="w")
    with pytest.raises(ht.InputError, match="`propensity` must be the name of a column"):
        ht.ScoreTable.from_file(path, propensity=0.5)
    with pytest.raises(ht.InputError, match="nothing"):
        ht.ScoreTable.from_file(path, propensity="nothing")


def test_many_rows_stay_rows(tmp_path: Path) -> None:
    from halftruth.files._read_files import MAX_ROWS

    n = MAX_ROWS + 10
    rows = pd.DataFrame({"score": np.arange(n) / n, "label": np.where(np.arange(n) % 5, np.nan, 1), "e": 0.5})
    rows.to_parquet(tmp_path / "many.parquet", index=False)
    assert ht.ScoreTable.from_file(tmp_path / "many.parquet").grid is not None
    assert ht.ScoreTable.from_file(tmp_path / "many.parquet", propensity="e").grid is None
