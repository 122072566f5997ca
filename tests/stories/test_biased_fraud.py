"""Cases that became known because they scored high, evaluated at a prior that is right."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from .story_files import (
    FoundCases,
    StoryFile,
    bank_calls,
    found_by_score,
    found_by_the_old_model,
    labeled_as,
    true_gamma,
)
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
    assert "Were the known positives found because they score high?" in result.json["reason"]
    for form in ("table", "markdown"):
        assert result.out[form].startswith("REFUTED: ")
        cause = result.out[form].splitlines()[0]  # selection first, the prior after it
        assert cause.index("found because they score high?") < cause.index("lower the prior")
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


# --- With selection -------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [STRONG, 1.0, WEAK])
def test_with_the_true_selection_the_interval_holds_the_truth(
    calls: StoryFile, told: Callable[..., Told], run: Any, tmp_path: Path, k: float
) -> None:
    score = calls.frame["score"].to_numpy()
    gamma = true_gamma(calls.y, score, lambda rng: found_by_score(calls.y, score, 1 / 3, k, rng))
    args = [*command(calls, k, tmp_path), "--selection", f"rising:{gamma:.4f}"]
    result = told(*args)
    assert (result.status, result.json["status"]) == (0, "ok")
    low, high = result.interval("roc_auc")
    assert low < calls.auc < high
    found = result.json["metrics"]["roc_auc"]
    assert found["sampling"][0] > calls.auc  # as a random sample would have it
    assert found["selection_range"][0] < calls.auc
    assert result.json["selection"] == {"gamma": round(gamma, 4), "direction": "rising"}
    assert "How did the positives become known?" not in result.notes["table"]


@pytest.fixture(scope="module", params=["bank", "adult"])
def found(request: pytest.FixtureRequest, data_dir: Path) -> FoundCases:
    return found_by_the_old_model(data_dir, request.param, k=1.0)


def test_a_new_model_on_cases_that_the_old_one_found(
    found: FoundCases, told: Callable[..., Told], run: Any, tmp_path: Path
) -> None:
    """By the command line alone: as a random sample it misses; the true Γ holds; the tipping point is finite."""
    args = ["evaluate", found.write(tmp_path / "fraud.csv"), *FEW, "--prior", f"{found.prior:.4f}"]
    status, _, err = run(*args)
    assert status == 0
    assert err.count("How did the positives become known?") == 1
    as_random = told(*args, "--selection", "1")
    assert as_random.json["metrics"]["roc_auc"]["low"] > found.auc
    held = told(*args, "--selection", f"rising:{found.gamma:.4f}")
    assert held.json["status"] == "ok"
    low, high = held.interval("roc_auc")
    assert low < found.auc < high
    # What the sample as if drawn at random would have let pass does not pass, and the truth does.
    wrong, right = found.auc + 0.005, low - 0.005
    gated = [*args, "--selection", f"rising:{found.gamma:.4f}", "--require"]
    assert run(*gated, f"roc_auc.low>={wrong}")[0] == 1
    status, _, err = run(*gated, f"roc_auc.low>={right}")
    assert status == 0
    stands = re.search(r"Passed: .* stands up to a selection of Γ = ([\d.]+), rising with the score", err)
    assert stands is not None
    assert found.gamma <= float(stands[1]) < 50
