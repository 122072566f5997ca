"""Nobody knows the share of positives: ranges over all that the data do not refute."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from .story_files import StoryFile, vehicle_sensors
from .told import Told

THRESHOLD = 0.6
FEW = ["--metrics", "roc_auc,average_precision,recall", "--threshold", str(THRESHOLD), "--n-resamples", "200"]
REASON = "No prior was given: intervals of what needs one cover every prior that the data do not refute"


@pytest.fixture(scope="module")
def vehicles(data_dir: Path) -> StoryFile:
    return vehicle_sensors(data_dir, share_known=0.3)


@pytest.fixture
def evaluate(vehicles: StoryFile, tmp_path: Path) -> list[str]:
    return ["evaluate", vehicles.write(tmp_path / "scores.parquet"), *FEW]


def test_ranges_hold_the_truth_in_every_format(
    vehicles: StoryFile, evaluate: list[str], told: Callable[..., Told]
) -> None:
    result = told(*evaluate)
    assert result.status == 0
    found, score = result.json, vehicles.frame["score"]
    assert (found["status"], found["reason"][: len(REASON)]) == ("not identified", REASON)
    for form in ("table", "markdown"):
        assert result.out[form].startswith(f"NOT IDENTIFIED: {REASON}")
    assert "NOT IDENTIFIED: ROC AUC lies between" in result.page
    assert REASON in result.page
    truths = {"roc_auc": vehicles.auc, "average_precision": average_precision_score(vehicles.y, score)}
    rows = {row["metric"]: row for row in result.csv}
    for metric, truth in truths.items():
        low, high = result.interval(metric)
        assert low < truth < high
        assert found["metrics"][metric]["value"] is None
        assert found["metrics"][metric]["status"] == rows[metric]["status"] == "not identified"
        assert (rows[metric]["value"], rows[metric]["reason"]) == ("", found["metrics"][metric]["reason"])
        assert REASON in rows[metric]["reason"]
    # Recall needs no prior.
    low, high = result.interval("recall")
    assert low < np.mean(score[vehicles.y] >= THRESHOLD) < high
    assert rows["recall"]["status"] == "ok"
    assert result.value("recall") == pytest.approx(np.mean(score[vehicles.frame["label"] == 1] >= THRESHOLD))


def test_gates_say_that_nothing_can_be_said(evaluate: list[str], run: Any) -> None:
    status, _, err = run(*evaluate, "--require", "roc_auc>=0.5")
    assert (status, "roc_auc has no value; all that is known is" in err) == (3, True)
    status, _, err = run(*evaluate, "--strict")
    assert (status, "no value of roc_auc" in err) == (3, True)
    assert run(*evaluate, "--require", "recall>=0.1")[0] == 0


def test_the_prior_that_was_missing_ends_with_the_right_number(
    vehicles: StoryFile, evaluate: list[str], told: Callable[..., Told]
) -> None:
    unknown = told(*evaluate).interval("roc_auc")
    result = told(*evaluate, "--prior", f"{vehicles.prior:.4f}", "--strict", "--require", "roc_auc>=0.5")
    assert result.status == 0
    result.nothing_is_wrong()
    low, high = result.interval("roc_auc")
    assert unknown[0] < low < vehicles.auc < high < unknown[1]


def test_a_prior_that_the_unknown_range_leaves_out_is_refuted(
    evaluate: list[str], told: Callable[..., Told]
) -> None:
    told(*evaluate, "--prior", "0.8").says_everywhere("refuted", "The prior is refuted by the data")
