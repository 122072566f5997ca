"""A table by month: October has four times the share of positives, and in November labels came another way."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from .story_files import StoryFile, bank_calls, found_by_score, known_at_random, labeled_as
from .told import Told

FEW = ["--metrics", "roc_auc", "--n-resamples", "200"]
SIZES = {"jul": 1200, "aug": 1200, "nov": 1200, "oct": 600}


@pytest.fixture(scope="module")
def calls(data_dir: Path) -> StoryFile:
    """Half of the positives known at random in every month."""
    file = bank_calls(data_dir, SIZES)
    return labeled_as(file, known_at_random(file.y, 0.5, np.random.default_rng(0)))


@pytest.fixture
def by_month(calls: StoryFile, tmp_path: Path) -> list[str]:
    return ["evaluate", calls.write(tmp_path / "calls.parquet"), "--by", "month", *FEW]


def own_priors(calls: StoryFile) -> str:
    return ",".join(f"{month}={calls.rows('month', month).prior:.4f}" for month in SIZES)


def test_each_month_at_its_own_prior_holds_its_truth(
    calls: StoryFile, by_month: list[str], told: Callable[..., Told]
) -> None:
    result = told(*by_month, "--prior", own_priors(calls), "--strict")
    assert result.status == 0
    result.nothing_is_wrong()
    for month in SIZES:
        low, high = result.interval("roc_auc", "month", month)
        assert low < calls.rows("month", month).auc < high
    # The drift is real: the model is worse in October, beyond the intervals.
    assert result.interval("roc_auc", "month", "oct")[1] < result.interval("roc_auc", "month", "jul")[0]


def test_one_prior_for_all_months_is_doubted_and_impossible_in_october(
    calls: StoryFile, by_month: list[str], told: Callable[..., Told], run: Any
) -> None:
    args = [*by_month, "--prior", f"{calls.prior:.3f}"]
    result = told(*args)
    assert result.status == 0
    result.says_everywhere("not evaluated", "--prior must lie in [0.", "month", "oct")
    known = calls.frame["label"].notna().groupby(calls.frame["month"]).mean()
    least = known.idxmin()
    lines = (
        f"One prior, π = {calls.prior:.3f}, was taken for every month.",
        f"Known positives are {known.min():.2%} of month = {least} and {known['oct']:.2%} of month = oct",
    )
    for line in lines:
        assert all(line in text for text in (*result.texts.values(), *result.notes.values()))
        assert any(note.startswith(line) for note in result.json["notes"])
    assert {row["prior_source"] for row in result.csv} == {"one for every month", ""}
    assert run(*args, "--strict")[0] == 3
    assert run(*args, "--require", "roc_auc>=0.1")[0] == 3


def test_a_month_whose_labels_came_by_score_is_refuted_and_no_other(
    calls: StoryFile, told: Callable[..., Told], run: Any, tmp_path: Path
) -> None:
    label, november = calls.frame["label"].to_numpy(copy=True), (calls.frame["month"] == "nov").to_numpy()
    score = calls.frame["score"].to_numpy()[november]
    label[november] = found_by_score(calls.y[november], score, 0.3, 3.0, np.random.default_rng(0))
    path = labeled_as(calls, label).write(tmp_path / "found.csv")
    args = ["evaluate", path, "--by", "month", *FEW, "--prior", own_priors(calls)]
    result = told(*args)
    result.says_everywhere("refuted", "The prior is refuted by the data", "month", "nov")
    assert "REFUTED in nov: do not rely on the numbers there." in result.page
    for month in ("jul", "aug", "oct"):
        assert result.group(month)["status"] == "ok"
        low, high = result.interval("roc_auc", "month", month)
        assert low < calls.rows("month", month).auc < high
    status, _, err = run(*args, "--strict")
    assert (status, "month = nov: the data refute what was given (--strict)" in err) == (3, True)


def test_stored_months_merge_to_the_whole(
    calls: StoryFile, by_month: list[str], run: Any, tmp_path: Path
) -> None:
    assert run(*by_month, "--prior", own_priors(calls), "--save-table", str(tmp_path / "calls.npz"))[0] == 0
    stored = [str(tmp_path / f"calls-{month}.npz") for month in SIZES]
    prior = ["--prior", f"{calls.prior:.4f}", *FEW, "--format", "json"]
    status, merged, _ = run("evaluate", *stored, *prior)
    assert status == 0
    assert merged == run("evaluate", by_month[1], *prior)[1]
    auc = json.loads(merged)["metrics"]["roc_auc"]
    assert auc["low"] < calls.auc < auc["high"]
    # One month too few is another result.
    assert json.loads(run("evaluate", *stored[1:], *prior)[1])["metrics"]["roc_auc"]["value"] != auc["value"]
