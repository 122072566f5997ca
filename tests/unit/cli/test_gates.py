"""`--strict` exits with 3 where numbers are refuted or missing; what is known of α besides the scores."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import halftruth as ht
from halftruth._errors import Note
from halftruth.cli._gates import Gate
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
    status, _, err = run("prior", rows, "--method", "bbe", "--n-resamples", "20", "--strict")
    assert (status, err.splitlines()[-1][-32:]) == (3, "known from elsewhere (--strict).")


def test_notes_of_the_prior_are_in_words_of_the_shell(run: Any, rows: str) -> None:
    err = run("prior", rows, "--labeled-sample", "48/50")[2]
    assert "trust the sample (--method sample)" in err


# --- On stdout, whatever the format; and gates -----------------------------------------------------------


@pytest.mark.parametrize("command", list(COMMANDS))
def test_every_format_says_that_it_is_refuted(run: Any, rows: str, command: str) -> None:
    args = [command, rows, *COMMANDS[command], "--prior", "0.9", "--format"]
    table, markdown, text, told = (run(*args, style)[1] for style in ("table", "markdown", "csv", "json"))
    assert table.startswith("REFUTED: ")
    assert markdown.startswith("REFUTED: ")
    result = json.loads(told)
    assert (result["status"], result["refuted"]) == ("refuted", True)
    assert table.splitlines()[0] == f"REFUTED: {result['reason']}"
    records = pd.read_csv(io.StringIO(text))
    assert set(records["status"]) == {"refuted"}
    assert set(records["reason"]) == {result["reason"]}


@pytest.mark.parametrize("command", list(COMMANDS))
def test_no_format_says_so_where_nothing_is_wrong(run: Any, rows: str, command: str) -> None:
    args = [command, rows, *COMMANDS[command], "--prior", "0.4", "--format"]
    assert "REFUTED" not in run(*args, "table")[1]
    records = pd.read_csv(io.StringIO(run(*args, "csv")[1]))
    assert set(records["status"]) == {"ok"}
    assert records["reason"].isna().all()
    assert json.loads(run(*args, "json")[1])["status"] == "ok"


def test_a_row_that_is_not_identified_says_so_in_csv(run: Any, rows: str) -> None:
    args = ["evaluate", rows, "--metrics", "roc_auc,recall", "--threshold", "0.5", *FEW]
    assert run(*args)[1].startswith("NOT IDENTIFIED: No prior was given")
    records = pd.read_csv(io.StringIO(run(*args, "--format", "csv")[1]))
    assert list(records["status"]) == ["not identified", "ok"]


def test_groups_that_are_refuted_say_so_each(run: Any, rows: str) -> None:
    args = ["evaluate", rows, "--metrics", "roc_auc", "--by", "g", "--prior", "0.9", *FEW]
    assert run(*args)[1].count("\nREFUTED: ") == 2
    assert {x["status"] for x in json.loads(run(*args, "--format", "json")[1])["groups"].values()} == {
        "refuted"
    }


def test_intervals_are_shown_as_far_as_they_are_possible(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "few.csv"
    path.write_text("score,label\n0.9,1\n0.8,1\n0.7,1\n0.1,\n0.2,\n0.3,\n0.9,\n")
    args = [
        "evaluate",
        str(path),
        "--population",
        "unlabeled",
        "--prior",
        "0.6",
        "--metrics",
        "roc_auc",
        *FEW,
    ]
    for style in ("table", "markdown"):
        (shown,) = (line for line in run(*args, "--format", style)[1].splitlines() if "roc_auc" in line)
        assert re.search(r"1\.000 \(raw 1\.229\)[ |]+\S+ to 1\.000", shown)
    record = pd.read_csv(io.StringIO(run(*args, "--format", "csv")[1])).loc[0]
    assert (record["value"], record["high"], record["status"]) == (1, 1, "ok")
    raw = json.loads(run(*args, "--format", "json")[1])["metrics"]["roc_auc"]  # as it came out
    assert min(raw["value"], raw["high"]) > 1
    assert list(record[["raw_value", "raw_low", "raw_high"]]) == [raw["value"], raw["low"], raw["high"]]
    gates = ["--require", "roc_auc<=1", "--require", "roc_auc.high<=1", "--strict"]
    assert run(*args, *gates)[0] == 0


def test_a_gate_over_a_range_that_is_refuted_in_part(run: Any, rows: str) -> None:
    """Values over the priors that the data leave open decide, or leave it undecided."""
    args = ["evaluate", rows, "--metrics", "brier", "--prior", "0.3..0.65", *FEW]
    result = ht.evaluate(
        ht.PositiveUnlabeled.from_labels(KNOWN, SCORE, prior=(0.3, 0.65)), "brier", n_resamples=50
    )
    assert result.status == "partly refuted"
    values = result["brier"].over(result.unrefuted).centers
    low, high, beyond = values.min(), values.max(), result["brier"].centers[-1]
    assert not low <= beyond <= high  # at the refuted end: it must not count
    between = (low + high) / 2
    status, _, err = run(*args, "--require", f"brier<={high + 1e-9}")
    assert (status, "Note: brier<=" in err, "holds over the part of the prior's range" in err) == (
        0,
        True,
        True,
    )
    assert run(*args, "--require", f"brier>={low - 1e-9}")[0] == 0
    status, _, err = run(*args, "--require", f"brier<={low - 1e-9}")
    assert (status, "Failed: brier<=" in err) == (1, True)
    status, _, err = run(*args, "--require", f"brier<={between}")
    assert (status, "Not identifiable: brier<=" in err) == (3, True)
    assert f"brier is {low:.6g} to {high:.6g} over the part of the prior's range" in err
    # Ends are those of the part that is left.
    left = result["brier"].over(result.unrefuted)
    assert run(*args, "--require", f"brier.low>={left.low - 1e-9}")[0] == 0
    assert run(*args, "--require", f"brier.low>={left.low + 1e-9}")[0] == 1
    status, _, err = run(*args, "--strict")
    assert status == 3
    assert "Not identifiable: the data refute part of the prior's range (--strict)." in err


def test_a_gate_on_a_comparison_over_a_range_that_is_refuted_in_part(run: Any, rows: str) -> None:
    args = ["compare", rows, *TWO, "--metrics", "brier", "--prior", "0.3..0.65", *FEW]
    models = {
        name: ht.PositiveUnlabeled.from_labels(KNOWN, score, prior=(0.3, 0.65))
        for name, score in (("score", SCORE), ("other", SCORE[::-1]))
    }
    comparison = ht.compare(models, "brier", n_resamples=50)
    assert comparison.status == "partly refuted"
    left = comparison["brier"].over(comparison.unrefuted["score", "other"])
    values = left.centers
    assert len(values) < len(comparison["brier"].centers)
    status, _, err = run(*args, "--require", f"brier<={values.max() + 1e-9}")
    assert (status, "holds over the part of the prior's range that the data do not refute" in err) == (
        0,
        True,
    )
    assert run(*args, "--require", f"other,score:brier.low>={-left.high - 1e-9}")[0] == 0
    assert run(*args, "--require", f"other,score:brier.low>={-left.high + 1e-9}")[0] == 1
    assert run(*args, "--require", f"brier<={values.min() - 1e-9}")[0] == 1
    assert run(*args, "--require", f"brier<={values.mean()}")[0] == 3
    assert run(*args, "--require", f"other,score:brier<={-values.mean()}")[0] == 3
    assert run(*args, "--require", f"other,score:brier>={-values.max() - 1e-9}")[0] == 0


def test_a_gate_where_it_is_not_known_which_part_is_refuted() -> None:
    """Values over the whole range decide; over a part of it the ends lie between those over the whole."""
    row = ht.evaluate(
        ht.PositiveUnlabeled.from_labels(KNOWN, SCORE, prior=(0.3, 0.4)), "brier", n_resamples=50
    )
    refuted = Note("partly_refuted", "The evidence itself puts the prior beside the middle.")
    result = replace(row, notes=(refuted,), unrefuted=None)
    assert (result.status, row.status) == ("partly refuted", "ok")
    brier = result["brier"]
    between = (brier.low + brier.high) / 2
    for field, limit, status in (
        ("value", brier.centers.max() + 1e-9, 0),
        ("value", brier.centers.mean(), 3),
        ("low", between, 3),
        ("low", brier.high + 1e-9, 0),
        ("high", brier.low - 1e-9, 1),
    ):
        found, why = Gate("brier", field, "<=", limit).judge(result)
        assert (found, "over the whole of the prior's range, part of which the data refute" in why) == (
            status,
            True,
        )
        assert "do not refute" not in why


def test_a_gate_on_an_estimate_that_the_scores_contradict(run: Any, rows: str) -> None:
    args = [
        "evaluate",
        rows,
        "--prior",
        "estimate",
        "--labeled-sample",
        "48/50",
        "--metrics",
        "roc_auc",
        *FEW,
    ]
    status, out, err = run(*args)
    assert (status, out.splitlines()[0][:43]) == (0, "REFUTED: The prior's estimate is refuted by")
    assert "The labeled sample contradicts the scores: " in err
    status, _, err = run(*args, "--require", "roc_auc>=0")
    assert status == 3
    assert (
        "Not identifiable: roc_auc>=0.0: the data refute what was given, so its numbers decide nothing. The prior's"
        in err
    )
    assert run(*args, "--strict")[0] == 3
    assert run(*args, "--require", "roc_auc.naive>=0")[0] == 0


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
