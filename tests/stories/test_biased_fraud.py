"""Cases that became known because they scored high, evaluated at a prior that is right."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from .story_files import StoryFile, bank_calls, found_by_score, labeled_as
from .told import Told

FEW = ["--metrics", "roc_auc,average_precision", "--n-resamples", "200"]
STRONG, WEAK = 2.0, 0.3


@pytest.fixture(scope="module")
def calls(data_dir: Path) -> StoryFile:
    return bank_calls(data_dir, {"may": 2000, "jul": 1500, "aug": 1500, "apr": 1000})


def command(calls: StoryFile, k: float, folder: Path) -> list[str]:
    """A third of the positives known, in proportion to exp(k x)."""
    label = found_by_score(calls.y, calls.frame["score"].to_numpy(), 1 / 3, k, np.random.default_rng(0))
    path = labeled_as(calls, label).write(folder / "fraud.csv")
    return ["evaluate", path, *FEW, "--prior", f"{calls.prior:.4f}"]


def test_known_cases_that_were_found_by_their_score_refute_the_numbers(
    calls: StoryFile, told: Callable[..., Told], run: Any, tmp_path: Path
) -> None:
    args = command(calls, STRONG, tmp_path)
    result = told(*args)
    assert result.status == 0
    result.says_everywhere("refuted", "The prior is refuted by the data")
    for form in ("table", "markdown"):
        assert result.out[form].startswith("REFUTED: ")
        assert "doubt the purity or SCAR" in result.out[form]
    assert "REFUTED: do not rely on these numbers." in result.page
    assert result.json["metrics"]["roc_auc"]["low"] > calls.auc  # the numbers are wrong indeed
    status, _, err = run(*args, "--require", "roc_auc>=0.5")
    assert (status, "the data refute what was given, so its numbers decide nothing" in err) == (3, True)
    assert run(*args, "--strict")[0] == 3


def test_the_same_cases_known_at_random_end_with_the_right_number(
    calls: StoryFile, told: Callable[..., Told], run: Any, tmp_path: Path
) -> None:
    args = command(calls, 0.0, tmp_path)
    result = told(*args)
    result.nothing_is_wrong()
    low, high = result.interval("roc_auc")
    assert low < calls.auc < high
    assert low < result.value("roc_auc") < high
    assert run(*args, "--strict", "--require", "roc_auc>=0.5")[0] == 0


def test_a_bias_too_weak_to_be_noticed_is_named_as_what_the_numbers_hang_on(
    calls: StoryFile, told: Callable[..., Told], tmp_path: Path
) -> None:
    result = told(*command(calls, WEAK, tmp_path))
    assert result.json["status"] == "ok"
    assert result.interval("roc_auc")[0] > calls.auc  # wrong, and the data cannot show it
    scar = "Assumes that the known positives are a random sample of all positives (SCAR)."
    noticed = "show those that score too high only where the excess is large."
    for text in (result.page, result.json["notes"][0], *result.notes.values()):
        assert scar in text
        assert noticed in text
    assert "Positives that became known because they scored high are no random sample" in result.page
