"""Three people were asked about each picture: how well could anyone tell cats from dogs, and how well does a network?"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import halftruth as ht

from .story_files import Votes, cat_or_dog_votes
from .told import FORMATS, visible


@pytest.fixture(scope="module")
def votes(data_dir: Path) -> Votes:
    return cat_or_dog_votes(data_dir, ballots=3)


@pytest.fixture
def bayes_error(votes: Votes, tmp_path: Path) -> list[str]:
    path = tmp_path / "votes.csv"
    votes.frame.to_csv(path, index=False)
    return ["bayes-error", str(path), "--votes", "yes", "--ballots", "asked", "--n-resamples", "200"]


def least_error(q: Any) -> float:
    """Of the best answer to every picture."""
    return float(np.minimum(q, 1 - q).mean())


def test_few_pictures_are_ambiguous(votes: Votes) -> None:
    assert 0.1 < np.mean(np.minimum(votes.q, 1 - votes.q) > 0.1) < 0.15


def test_the_least_error_is_in_the_interval_of_every_format(
    votes: Votes, bayes_error: list[str], run: Any
) -> None:
    answers = {form: run(*bayes_error, "--strict", "--format", form) for form in FORMATS}
    assert {status for status, _, _ in answers.values()} == {0}
    found = json.loads(answers["json"][1])
    error, truth = found["bayes_error"], least_error(votes.q)
    assert (found["status"], found["reason"]) == ("ok", None)
    assert error["low"] < truth < error["high"]
    assert error["identified"][0] < truth < error["identified"][1]
    (row,) = csv.DictReader(io.StringIO(answers["csv"][1]))
    assert (row["status"], row["reason"]) == ("ok", "")
    for field in ("naive", "value", "low", "high"):
        assert float(row[field]) == error[field]
    for form in ("table", "markdown"):
        out = answers[form][1]
        assert f"{error['low']:.3f} to {error['high']:.3f}" in out
        assert "3 votes a row" in out
    # Shares of three votes look surer than people are.
    assert error["naive"] == pytest.approx(least_error(votes.frame["yes"] / 3))
    assert error["naive"] < error["value"]
    assert abs(error["value"] - truth) < abs(error["naive"] - truth)
    for _, _, err in answers.values():
        assert "too small: votes make cases look surer than they are" in err


def test_one_vote_a_picture_says_nothing_of_the_least_error(votes: Votes, run: Any, tmp_path: Path) -> None:
    path = tmp_path / "single.csv"
    single = np.random.default_rng(0).binomial(1, votes.q)
    path.write_text("yes\n" + "\n".join(map(str, single)) + "\n")
    status, out, _ = run("bayes-error", str(path), "--votes", "yes", "--ballots", "1", "--format", "json")
    assert status == 0
    found = json.loads(out)["bayes_error"]
    assert found["low"] <= 0.001
    assert found["high"] > 0.4


@pytest.mark.parametrize(("test_error", "too_good"), [("0.005", True), ("0.05", False)])
def test_an_error_below_what_people_leave_open_is_too_good(
    votes: Votes, bayes_error: list[str], run: Any, test_error: str, too_good: bool
) -> None:
    assert (float(test_error) < least_error(votes.q)) == too_good
    args = [*bayes_error, "--test-error", test_error, "--n-test", "2000", "--format"]
    out = {form: run(*args, form)[1] for form in FORMATS}
    assert json.loads(out["json"])["too_good"]["too_good"] is too_good
    rows = {row["metric"]: row for row in csv.DictReader(io.StringIO(out["csv"]))}
    assert float(rows["too_good"]["value"]) == too_good
    for form in ("table", "markdown"):
        assert ("\nToo good to be true: a test error of 0.005" in out[form]) == too_good


def test_metrics_of_a_network_from_votes_hold_the_truth_in_every_form(votes: Votes) -> None:
    """Soft labels are evaluated in Python; the forms of that result, and its page."""
    score = votes.frame["score"].to_numpy()
    evidence = ht.SoftLabeled.from_votes(votes.frame["yes"], votes.frame["asked"], score)
    result = ht.evaluate(evidence, ["roc_auc", "brier"], n_resamples=200)
    classes, both = np.repeat([1, 0], len(score)), np.tile(score, 2)
    weight = np.append(votes.q, 1 - votes.q)
    truths = {
        "roc_auc": roc_auc_score(classes, both, sample_weight=weight),
        "brier": np.average((classes - both) ** 2, weights=weight),
    }
    assert result.status == "ok"
    page = visible(result.to_html())
    rows = result.to_frame()
    for metric, truth in truths.items():
        estimate = result[metric]
        assert estimate.low < truth < estimate.high
        shown = f"{estimate.low:.3f} to {estimate.high:.3f}"
        assert shown in page
        assert shown in str(result)
        assert (rows.loc[metric, "low"], rows.loc[metric, "status"]) == (estimate.low, "ok")
        assert result.to_dict()["metrics"][metric]["high"] == estimate.high
    # Votes of other pictures say nothing of this network.
    shuffled = ht.SoftLabeled.from_votes(votes.frame["yes"].to_numpy()[::-1], votes.frame["asked"], score)
    assert ht.evaluate(shuffled, ["roc_auc"], n_resamples=200)["roc_auc"].high < truths["roc_auc"]


def test_shares_of_votes_are_no_labels_of_the_command_evaluate(
    votes: Votes, run: Any, tmp_path: Path
) -> None:
    path = tmp_path / "shares.csv"
    votes.frame.assign(label=votes.frame["yes"] / 3).to_csv(path, index=False)
    status, out, err = run("evaluate", str(path))
    assert (status, out) == (2, "")
    assert "label(s) outside the code: '0.3333333333333333', '0.6666666666666666'" in err
