"""One in five known positives is a negative."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from .story_files import StoryFile, census_incomes
from .told import Told

FEW = ["--metrics", "roc_auc,recall,precision", "--threshold", "0.5", "--n-resamples", "200"]
PURITY = 0.8


@pytest.fixture(scope="module")
def incomes(data_dir: Path) -> StoryFile:
    return census_incomes(data_dir, right=480, wrong=120)


@pytest.fixture
def evaluate(incomes: StoryFile, tmp_path: Path) -> list[str]:
    return ["evaluate", incomes.write(tmp_path / "noisy.csv"), *FEW, "--prior", f"{incomes.prior:.4f}"]


def truths(incomes: StoryFile) -> dict[str, float]:
    """From the full labels, by counting."""
    called = (incomes.frame["score"] >= 0.5).to_numpy()
    return {
        "roc_auc": incomes.auc,
        "recall": float(np.mean(called[incomes.y])),
        "precision": float(np.mean(incomes.y[called])),
    }


@pytest.mark.parametrize("purity", [f"{PURITY}", "0.75..0.85"])
def test_the_right_purity_ends_with_the_right_numbers(
    incomes: StoryFile, evaluate: list[str], told: Callable[..., Told], purity: str
) -> None:
    result = told(*evaluate, "--purity", purity, "--strict")
    assert result.status == 0
    result.nothing_is_wrong()
    for metric, truth in truths(incomes).items():
        low, high = result.interval(metric)
        assert low < truth < high
        assert low < result.value(metric) < high
        assert result.json["metrics"][metric]["naive"] < low


def test_without_a_purity_the_numbers_are_too_low_on_a_condition_that_is_named(
    incomes: StoryFile, evaluate: list[str], told: Callable[..., Told]
) -> None:
    """Nothing in such data shows wrong labels, which score too low; the note says so."""
    result = told(*evaluate)
    for metric, truth in truths(incomes).items():
        assert result.interval(metric)[1] < truth
    for text in (result.page, result.json["notes"][0], *result.notes.values()):
        assert "Positives and unlabeled cannot show known positives that score too low" in text


def test_a_purity_that_is_too_low_is_refuted_by_name(
    incomes: StoryFile, evaluate: list[str], told: Callable[..., Told], run: Any
) -> None:
    args = [*evaluate, "--purity", "0.65"]
    result = told(*args)
    result.says_everywhere("refuted", "The purity is refuted by the data: less than 0.7")
    for form in ("table", "markdown"):
        assert result.out[form].startswith("REFUTED: The purity is refuted by the data")
    assert result.json["metrics"]["roc_auc"]["low"] > incomes.auc  # the numbers are wrong indeed
    assert run(*args, "--strict")[0] == 3
    assert run(*args, "--require", "roc_auc>=0.5")[0] == 3


def test_a_purity_far_too_low_is_named_among_what_the_data_refute(
    evaluate: list[str], told: Callable[..., Told]
) -> None:
    result = told(*evaluate, "--purity", "0.5")
    result.says_everywhere("refuted", "doubt the purity")
    assert all("The purity is refuted by the data" in text for text in (result.page, *result.notes.values()))
