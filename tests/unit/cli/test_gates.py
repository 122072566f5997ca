"""`--strict` exits with 3 where numbers are refuted or missing; what is known of α besides the scores."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import halftruth as ht
from halftruth.prior._estimate_prior import estimate_prior

RNG = np.random.default_rng(3)
N = 900
TRUTH = RNG.random(N) < 0.4
SCORE = np.round(np.clip(RNG.normal(0.3 + 0.35 * TRUTH, 0.2), 0, 1), 3)
KNOWN = np.where(TRUTH & (RNG.random(N) < 0.5), 1, np.nan)
FEW = ["--n-resamples", "50"]


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("strict") / "rows.csv"
    columns = {"score": SCORE, "other": SCORE[::-1], "label": KNOWN, "g": np.arange(N) % 2}
    pd.DataFrame(columns).to_csv(path, index=False)
    return str(path)


@pytest.fixture
def run(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    return run


TWO = ["--score", "score", "--score", "other"]
COMMANDS = {
    "evaluate": ["--metrics", "roc_auc", *FEW],
    "compare": [*TWO, "--metrics", "roc_auc", *FEW],
    "calibrate": ["--output", "calibrator.json"],
    "bayes-error": FEW,
}


@pytest.mark.parametrize("command", list(COMMANDS))
def test_a_refuted_prior(run: Any, rows: str, command: str) -> None:
    args = [command, rows, *COMMANDS[command], "--prior", "0.9"]
    loose, strict = run(*args), run(*args, "--strict")
    assert (loose[0], strict[0]) == (0, 3)
    shown = loose[1]
    if command == "calibrate":
        shown = re.sub(r"The calibrator is in .*\.\n", "Nothing was written (--strict).\n", shown)
    assert strict[1] == shown  # what was found is shown all the same
    assert strict[2].startswith(loose[2])
    assert "Not identifiable: the data refute what was given (--strict).\n" in strict[2]


@pytest.mark.parametrize("command", list(COMMANDS))
def test_nothing_to_object_to(run: Any, rows: str, command: str) -> None:
    status, _, err = run(command, rows, *COMMANDS[command], "--prior", "0.4", "--strict")
    assert status == 0
    assert "--strict" not in err


@pytest.mark.parametrize(
    ("command", "name"), [("evaluate", "roc_auc"), ("compare", "roc_auc of score minus other")]
)
def test_a_row_without_a_value(run: Any, rows: str, command: str, name: str) -> None:
    args = [command, rows, *COMMANDS[command]]
    assert run(*args)[0] == 0
    status, out, err = run(*args, "--strict")
    assert status == 3
    assert "roc_auc" in out
    assert f"Not identifiable: no value of {name} (--strict)." in err


def test_a_failed_gate_outranks_it(run: Any, rows: str) -> None:
    args = ["evaluate", rows, "--metrics", "recall,precision", "--threshold", "0.5", *FEW, "--strict"]
    assert run(*args)[0] == 3
    assert run(*args, "--require", "recall>=0")[0] == 3
    assert run(*args, "--require", "recall>=2")[0] == 1


def test_groups_are_named(run: Any, rows: str) -> None:
    status, _, err = run("evaluate", rows, "--metrics", "roc_auc", "--by", "g", "--strict", *FEW)
    assert status == 3
    assert "Not identifiable: g = 0: no value of roc_auc (--strict)." in err
    assert "Not identifiable: g = 1: no value of roc_auc (--strict)." in err


def test_an_estimate_that_the_scores_refute(run: Any, rows: str) -> None:
    args = ["prior", rows, "--method", "sample", "--labeled-sample", "48/50"]
    assert run(*args)[0] == 0
    status, out, err = run(*args, "--strict")
    assert status == 3
    assert "sample" in out
    assert "Not identifiable: sample puts α at 0.9" in err
    assert run("prior", rows, "--method", "bbe", "--n-resamples", "20", "--strict")[0] == 0


def test_notes_of_the_prior_are_in_words_of_the_shell(run: Any, rows: str) -> None:
    err = run("prior", rows, "--labeled-sample", "48/50")[2]
    assert "trust the sample (--method sample)" in err


# --- What is known besides the scores -----------------------------------------------------------------


KNOWLEDGE = ["--prior", "estimate", "--within", "0.1..0.3", "--labeled-sample", "9/50"]


def evidence(score: Any = SCORE) -> ht.PositiveUnlabeled:
    two_samples = ht.PositiveUnlabeled.from_labels(KNOWN, score, population="unlabeled")
    made = estimate_prior(two_samples, within=(0.1, 0.3), labeled_sample=(9, 50))
    return ht.PositiveUnlabeled.from_labels(KNOWN, score, prior=made)


def test_evaluate_knows_it(run: Any, rows: str) -> None:
    status, out, _ = run("evaluate", rows, *KNOWLEDGE, *COMMANDS["evaluate"], "--format", "json")
    assert status == 0
    expected = ht.evaluate(evidence(), ["roc_auc"], n_resamples=50)
    assert json.loads(out) == expected.to_dict()
    assert 0.1 < expected.alpha.value < 0.3
    without = run("evaluate", rows, "--prior", "estimate", *COMMANDS["evaluate"], "--format", "json")[1]
    assert json.loads(without)["alpha"]["value"] != expected.alpha.value


def test_compare_knows_it(run: Any, rows: str) -> None:
    status, out, _ = run("compare", rows, *KNOWLEDGE, *COMMANDS["compare"], "--format", "json")
    models = {"score": evidence(), "other": evidence(SCORE[::-1])}
    assert status == 0
    assert json.loads(out) == ht.compare(models, ["roc_auc"], n_resamples=50).to_dict()


def test_calibrate_and_bayes_error_know_it(run: Any, rows: str) -> None:
    prior = evidence().measure().prior
    out = run("calibrate", rows, *KNOWLEDGE, *COMMANDS["calibrate"], "--format", "json")[1]
    assert json.loads(out)["prior"] == pytest.approx(float(prior), rel=1e-12)
    out = run("bayes-error", rows, *KNOWLEDGE, *COMMANDS["bayes-error"], "--format", "json")[1]
    assert json.loads(out)["prior"]["value"] == pytest.approx(float(prior), rel=1e-12)


@pytest.mark.parametrize("command", list(COMMANDS))
@pytest.mark.parametrize(
    ("args", "message"),
    [
        ("--prior 0.3 --within 0.1..0.3", "--within goes with --prior estimate. Pass that too"),
        ("--labeled-sample 7/50", "--labeled-sample goes with --prior estimate"),
        (
            "--prior estimate --purity estimate --within 0.1..0.3",
            "--within does not go with --purity estimate",
        ),
        ("--prior estimate --within 0.3", "--within must read like 0.01..0.1, got '0.3'"),
        ("--prior estimate --within 0.3..0.1", "--within must satisfy 0 <= low < high <= 1"),
        ("--prior estimate --labeled-sample 50/7", "50 positives among 7 cases. Pass positives/cases."),
        ("--prior estimate --purity 0.2 --within 0.3..0.4", "above the purity 0.2"),
        ("--purity estimate --prior 0.3", "--purity estimate goes with --prior estimate"),
    ],
)
def test_refused_before_the_file_is_read(run: Any, command: str, args: str, message: str) -> None:
    status, out, err = run(command, "there-is-no-such-file.csv", *COMMANDS[command], *args.split())
    assert (status, out) == (2, "")
    assert message in err


def test_settings_of_a_calibrator(run: Any, rows: str) -> None:
    args = ["calibrate", rows, "--prior", "0.4", "--output", "c.json", "--format", "json"]
    for method, option, value, keyword in (
        ("spline", "--n-knots", "4", {"n_knots": 4}),
        ("bpm", "--variant", "authors", {"variant": "authors"}),
    ):
        assert run(*args, "--method", method, option, value)[0] == 0
        kept = ht.Calibrator.load("c.json")
        assert {name: kept.get_params()[name] for name in keyword} == keyword
        status, _, err = run(*args, "--method", "beta", option, value)
        assert status == 2
        assert f"{option} counts for --method {method} alone, got --method beta" in err
