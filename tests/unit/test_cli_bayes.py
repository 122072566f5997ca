"""`halftruth bayes-error`: the library's limits, from files."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import halftruth as ht
from halftruth import files
from halftruth.cli import main
from halftruth.errors import InputError
from halftruth.files.numbers import Demand, Numbers, read_numbers
from halftruth.limits.attainable import ROWS, best_attainable
from halftruth.limits.floor import bayes_error
from halftruth.limits.too_good import too_good_to_be_true

RNG = np.random.default_rng(11)
N = 300
Q = np.round(RNG.beta(0.5, 0.5, N), 3)
TRUTH = RNG.random(N) < Q
BALLOTS = RNG.integers(2, 6, N)
VOTES = RNG.binomial(BALLOTS, Q)
SHARES = RNG.dirichlet([0.4, 0.4, 0.4], N)
COUNTS = np.stack([RNG.multinomial(6, share) for share in SHARES])
NAMES = np.asarray(["cat", "dog", "fox"])
TABLE = pd.DataFrame(
    {
        "q": Q,
        "u": np.minimum(Q, 1 - Q),
        "noisy": np.round(np.clip(Q + RNG.normal(0, 0.1, N), 0, 1), 3),
        "likelier": np.where(Q > 0.5, 1, -1),
        "surer": Q > 0.5,
        "k": VOTES,
        "m": BALLOTS,
        "weight": RNG.integers(1, 4, N),
        "called": (Q > 0.4).astype(int),
        "margin": np.round(10 * Q - 5, 3),
        "full": TRUTH.astype(int),
        "label": np.where(TRUTH & (RNG.random(N) < 0.5), 1, np.nan),
        "coded": np.where(TRUTH & (RNG.random(N) < 0.5), 1, -1),
        **{name: SHARES[:, i] for i, name in enumerate(NAMES)},
        **{f"n_{name}": COUNTS[:, i] for i, name in enumerate(NAMES)},
        "animal": NAMES[SHARES.argmax(axis=1)],
    }
)
POSITIVES = TABLE[TRUTH]


@pytest.fixture
def rows(tmp_path: Path) -> str:
    path = tmp_path / "rows.csv"
    TABLE.to_csv(path, index=False)
    return str(path)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)

    def call(*args: str) -> tuple[int, str, str]:
        status = main(["bayes-error", *args])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return status, out, err

    return call


@pytest.fixture
def found(run: Any) -> Any:
    """The JSON of a run that is fine."""

    def call(*args: str) -> dict[str, Any]:
        status, out, err = run(*args, "--format", "json")
        assert status == 0, err
        result: dict[str, Any] = json.loads(out)
        return result

    return call


def test_help(run: Any) -> None:
    status, text, _ = run("--help")
    assert status == 0
    assert text.count("  halftruth bayes-error ") >= 6
    for option in ("--soft", "--classes", "--votes", "--confidence", "--score", "--best", "--test-error"):
        assert f"  {option} " in text


# --- What a row holds ------------------------------------------------------------------------------------

SOFT = ht.SoftLabeled
KINDS: dict[str, tuple[list[str], Any, dict[str, Any]]] = {
    "soft": (["--soft", "q"], SOFT(Q), {}),
    "weighted": (["--soft", "q", "--weight", "weight"], SOFT(Q, sample_weight=TABLE["weight"]), {}),
    "hoeffding": (["--soft", "q", "--method", "hoeffding"], SOFT(Q), {"method": "hoeffding"}),
    "uncertainty": (
        ["--soft", "u", "--labels", "uncertainty"],
        SOFT(TABLE["u"]),
        {"labels": "uncertainty"},
    ),
    "noisy": (["--soft", "noisy", "--labels", "noisy"], SOFT(TABLE["noisy"]), {"labels": "noisy"}),
    "signs": (
        ["--soft", "noisy", "--labels", "noisy", "--sign", "likelier"],
        SOFT(TABLE["noisy"]),
        {"labels": "noisy", "sign": TABLE["likelier"]},
    ),
    "booleans": (
        ["--soft", "noisy", "--sign", "surer"],
        SOFT(TABLE["noisy"]),
        {"labels": "noisy", "sign": TABLE["surer"]},
    ),
    "classes": (["--classes", "cat,dog", "--classes", "fox"], SOFT(SHARES), {}),
    "counts": (["--classes", "n_cat,n_dog,n_fox", "--counts"], SOFT.from_votes(COUNTS), {}),
    "named signs": (
        ["--classes", "cat,dog,fox", "--labels", "noisy", "--sign", "animal"],
        SOFT(SHARES),
        {"labels": "noisy", "sign": SHARES.argmax(axis=1)},
    ),
    "votes": (["--votes", "k", "--ballots", "m"], SOFT.from_votes(VOTES, BALLOTS), {}),
    "a jury": (["--votes", "n_cat", "--ballots", "6"], SOFT.from_votes(COUNTS[:, 0], 6), {}),
    "labeled": (
        ["--score", "q", "--label", "full", "--zeros", "negative"],
        ht.Labeled(TRUTH, Q),
        {},
    ),
    "margins": (
        ["--score", "margin", "--label", "full", "--zeros", "negative", "--calibrator", "isotonic"],
        ht.Labeled(TRUTH, TABLE["margin"]),
        {"calibrator": "isotonic"},
    ),
    "unlabeled": (
        ["--score", "q", "--prior", "0.5", "--calibrator", "platt", "--n-folds", "3", "--rng", "4"],
        ht.PositiveUnlabeled.from_labels(TABLE["label"], Q, prior=0.5),
        {"calibrator": "platt", "n_folds": 3, "rng": 4},
    ),
    "impure": (
        [
            *("--score", "q", "--label", "coded", "--unlabeled", "-1", "--prior", "0.4"),
            *("--purity", "0.9", "--population", "unlabeled", "--n-resamples", "200"),
        ],
        ht.PositiveUnlabeled.from_labels(
            TABLE["coded"], Q, unlabeled=-1, prior=0.4, purity=0.9, population="unlabeled"
        ),
        {"n_resamples": 200},
    ),
}


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_the_estimate_of_the_library(kind: str, form: str, found: Any, tmp_path: Path) -> None:
    args, evidence, how = KINDS[kind]
    name = f"it's {{rows}}.{form}"
    if form == "csv":
        TABLE.to_csv(name, index=False)
    else:
        TABLE.to_parquet(name)
    result = found(name, *args, "--confidence-level", "0.9")
    expected = bayes_error(evidence, confidence_level=0.9, **how)
    assert result["schema"] == 1
    assert result["evidence"] == repr(evidence)
    assert result["relative_to_prior"] is False
    assert result["bayes_error"] == expected.to_dict()
    assert (result["best"], result["too_good"]) == (None, None)


def test_positive_confidences(run: Any, found: Any, tmp_path: Path) -> None:
    POSITIVES.to_csv("positives.csv", index=False)
    args = ["positives.csv", "--confidence", "q"]
    for prior, text in ((0.5, "0.5"), ((0.4, 0.6), "0.4..0.6")):
        evidence = ht.PositiveConfidence(POSITIVES["q"], prior=prior)
        result = found(*args, "--prior", text)
        assert result["bayes_error"] == bayes_error(evidence).to_dict()
        assert evidence.assumption in result["notes"]
    result = found(*args)
    assert result["relative_to_prior"] is True
    assert result["bayes_error"] == bayes_error(ht.PositiveConfidence(POSITIVES["q"])).to_dict()
    _, out, _ = run(*args)
    assert re.search(r"^bayes_error/prior +– ", out, flags=re.MULTILINE)
    assert "π unknown" in out
    # A confidence of 0 is one more case; nothing but them is none.
    POSITIVES.assign(q=0).to_csv("zeros.csv", index=False)
    status, _, err = run("zeros.csv", "--confidence", "q", "--prior", "0.3")
    assert status == 2
    assert f"'q' is 0 in all {len(POSITIVES)} row(s)" in err
    POSITIVES.assign(q=np.where(np.arange(len(POSITIVES)) < 5, 0, POSITIVES["q"])).to_csv("some.csv")
    assert found("some.csv", "--confidence", "q", "--prior", "0.3")["bayes_error"]["value"] > 0


def test_a_refuted_prior_is_said(found: Any, tmp_path: Path) -> None:
    POSITIVES.to_csv("positives.csv", index=False)
    for prior, refuted in (("0.5", False), ("0.05", True)):
        result = found("positives.csv", "--confidence", "q", "--prior", prior)
        assert result["refuted"] is refuted
        assert any("refuted" in note for note in result["notes"]) is refuted


def test_without_a_prior_scores_say_nothing(run: Any, rows: str) -> None:
    status, out, err = run(rows, "--score", "q")
    assert (status, out) == (3, "")
    assert "--prior" in err


def test_saved_tables(run: Any, found: Any, tmp_path: Path) -> None:
    for name, evidence in (("labeled", ht.Labeled(TRUTH, Q)), ("soft", SOFT(Q))):
        evidence.table.save(f"{name}.npz")
        assert found(f"{name}.npz")["bayes_error"] == bayes_error(evidence).to_dict()
    status, _, err = run("soft.npz", "--soft", "q")
    assert status == 2
    assert "The saved table soft.npz has no columns to name" in err


def test_many_rows(found: Any, rows: str, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = found(rows, "--soft", "q")
    labeled = [rows, "--score", "q", "--label", "full", "--zeros", "negative"]
    before = found(*labeled)
    monkeypatch.setattr(files, "MAX_ROWS", 100)
    assert found(rows, "--soft", "q") == exact
    # The rows of a bin are drawn into parts anew; the bound is that of other parts, of the same rows.
    after = found(*labeled)
    assert after["bayes_error"]["low"] < before["bayes_error"]["value"] < after["bayes_error"]["high"]


# --- More than the Bayes error ---------------------------------------------------------------------------


def test_the_best_attainable(run: Any, found: Any, rows: str) -> None:
    others = [name for name in ROWS if name != "bayes_error"]
    resamples = ["--n-resamples", "100"]
    result = found(rows, "--soft", "q", "--best", *resamples)
    expected = best_attainable(SOFT(Q), n_resamples=100)
    assert list(result["best"]["metrics"]) == others
    for name in others:
        assert result["best"]["metrics"][name] == expected[name].to_dict()
    _, out, _ = run(rows, "--soft", "q", "--best", *resamples)
    assert [line.split()[0] for line in out.splitlines()[5:]] == ["bayes_error", *others]
    result = found(rows, "--soft", "u", "--labels", "uncertainty", "--best", *resamples)
    assert list(result["best"]["metrics"]) == ["log_loss", "brier"]
    result = found(rows, "--classes", "cat,dog,fox", "--best")
    expected = best_attainable(SOFT(SHARES))
    assert result["best"]["metrics"] == {"log_loss": expected["log_loss"].to_dict()}
    status, _, err = run(rows, "--score", "q", "--label", "full", "--zeros", "negative", "--best")
    assert status == 3
    assert "Scores do not say what is best" in err
    status, _, err = run(rows, "--soft", "noisy", "--labels", "noisy", "--best")
    assert status == 2
    assert "--best needs the probabilities themselves" in err


def test_the_best_from_votes(found: Any, rows: str) -> None:
    result = found(rows, "--votes", "k", "--ballots", "m", "--best", "--n-resamples", "10")
    expected = best_attainable(SOFT.from_votes(VOTES, BALLOTS), n_resamples=10)
    for name, row in result["best"]["metrics"].items():
        assert row == expected[name].to_dict()
    assert set(expected.notes) <= set(result["notes"])


@pytest.mark.parametrize(("error", "too_good"), [("0.02", True), ("0.3", False)])
def test_the_verdict(error: str, too_good: bool, run: Any, found: Any, rows: str) -> None:
    args = [rows, "--soft", "q", "--test-error", error, "--n-test", "400"]
    expected = too_good_to_be_true(float(error), 400, SOFT(Q))
    result = found(*args)
    assert expected.too_good is too_good
    assert result["too_good"] == expected.to_dict()
    assert result["bayes_error"] == bayes_error(SOFT(Q)).to_dict()
    _, out, _ = run(*args)
    assert expected.verdict in out
    assert ("Other than overfitting:" in out) is too_good
    assert all(f"\n- {each}\n" in out for each in expected.alternatives)
    _, out, _ = run(*args, "--format", "csv")
    lines = {line[0]: line[2] for line in csv.reader(io.StringIO(out))}
    assert lines["test_error"] == error
    assert float(lines["p_value"]) == expected.p_value
    assert float(lines["too_good"]) == too_good


def test_the_verdict_with_signs_and_a_method(found: Any, rows: str) -> None:
    how = ["--labels", "noisy", "--sign", "likelier", "--method", "hoeffding"]
    result = found(rows, "--soft", "noisy", *how, "--test-error", "0.01", "--n-test", "300")
    expected = too_good_to_be_true(
        0.01, 300, SOFT(TABLE["noisy"]), labels="noisy", sign=TABLE["likelier"], method="hoeffding"
    )
    assert result["too_good"] == expected.to_dict()


PREDICTED = {
    "numbers": (["--soft", "q"], "called", SOFT(Q), TABLE["called"]),
    "votes": (["--votes", "k", "--ballots", "m"], "called", SOFT.from_votes(VOTES, BALLOTS), TABLE["called"]),
    "booleans": (["--soft", "q"], "surer", SOFT(Q), TABLE["surer"]),
    "names": (["--classes", "cat,dog,fox"], "animal", SOFT(SHARES), SHARES.argmax(axis=1)),
    "places": (["--classes", "cat,dog,fox"], "called", SOFT(SHARES), TABLE["called"]),
}


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("kind", PREDICTED)
def test_predictions(kind: str, form: str, found: Any, tmp_path: Path) -> None:
    args, column, evidence, predictions = PREDICTED[kind]
    if form == "csv":
        TABLE.to_csv("rows.csv", index=False)
    else:
        TABLE.to_parquet("rows.parquet")
    test = ["--test-error", "0.1", "--n-test", "300"]
    result = found(f"rows.{form}", *args, *test, "--predictions", column)
    expected = too_good_to_be_true(0.1, 300, evidence, predictions=np.asarray(predictions))
    assert expected.adjusted is not None
    assert result["too_good"] == expected.to_dict()


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_classes_may_be_named_by_numbers(form: str, found: Any, tmp_path: Path) -> None:
    """The name counts then, not the place, whatever the type of the column."""
    table = TABLE.rename(columns={"cat": "3", "dog": "1", "fox": "2"})
    for kind in (int, float):
        table = table.assign(animal=np.asarray([3, 1, 2])[SHARES.argmax(axis=1)].astype(kind))
        if form == "csv":
            table.to_csv("rows.csv", index=False)
        else:
            table.to_parquet("rows.parquet")
        test = ["--test-error", "0.1", "--n-test", "300", "--predictions", "animal"]
        result = found(f"rows.{form}", "--classes", "3,1,2", *test)
        expected = too_good_to_be_true(0.1, 300, SOFT(SHARES), predictions=SHARES.argmax(axis=1))
        assert result["too_good"] == expected.to_dict()


# --- Formats ---------------------------------------------------------------------------------------------


def test_formats(run: Any, rows: str) -> None:
    noisy = [rows, "--soft", "noisy", "--labels", "noisy"]
    status, out, err = run(*noisy)
    assert status == 0
    lines = out.splitlines()
    assert lines[:2] == [f"SoftLabeled({N} soft)", "2 classes; noisy labels"]
    assert re.split("  +", lines[3]) == [
        "metric",
        "naive",
        "halftruth",
        "95% interval",
        "identified",
        "method",
    ]
    estimate = bayes_error(SOFT(TABLE["noisy"]), labels="noisy")
    assert estimate.identified is not None
    ends = " to ".join(f"{x:.3f}" for x in estimate.identified)
    interval = f"{estimate.low:.3f} to {estimate.high:.3f}"
    value = f"{estimate.value:.3f}"
    assert re.split("  +", lines[5]) == ["bayes_error", value, value, interval, ends, "t"]
    assert "Pass --sign" in err
    _, out, _ = run(*noisy, "--format", "csv")
    table = list(csv.DictReader(io.StringIO(out)))
    numbers = {name: float(x) for name, x in table[0].items() if name not in ("metric", "method")}
    assert numbers == {
        "naive": estimate.naive,
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "identified_low": estimate.identified[0],
        "identified_high": estimate.identified[1],
        "confidence_level": 0.95,
    }
    assert (table[0]["metric"], table[0]["method"]) == ("bayes_error", "t")
    _, out, _ = run(rows, "--soft", "q", "--format", "markdown")
    assert "| metric | naive | halftruth | 95% interval | method |" in out
    status, out, err = run(*noisy, "--format", "json")
    assert json.loads(out)["notes"] == [line.removeprefix("Note: ") for line in err.splitlines()]


def test_notes_are_in_words_of_the_shell(run: Any, rows: str) -> None:
    for args in (
        ["--soft", "q"],
        ["--soft", "noisy", "--labels", "noisy"],
        ["--votes", "k", "--ballots", "m"],
    ):
        status, _, err = run(rows, *args, "--test-error", "0.1234", "--n-test", "77")
        assert status == 0
        assert "--test-error × --n-test" in err
        assert not re.search(r"SoftLabeled|labels=|`(sign|labels|test_error|n_test)`", err)


def test_several_files_and_stdin(found: Any, rows: str, monkeypatch: pytest.MonkeyPatch) -> None:
    TABLE[:100].to_csv("a.csv", index=False)
    TABLE[100:].to_parquet("b.parquet")
    whole = found(rows, "--soft", "q")
    assert found("a.csv", "b.parquet", "--soft", "q") == whole
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(rows).read_bytes())))
    assert found("-", "--soft", "q") == whole


def test_names_are_data(run: Any, found: Any, tmp_path: Path) -> None:
    odd = {"q": 'a", count(*) --', "cat": "x, y", "dog": "it's; DROP", "fox": "*", "animal": "a b"}
    words = dict(zip(NAMES, (odd[name] for name in NAMES), strict=True))
    table = TABLE.rename(columns=odd).assign(**{"a b": TABLE["animal"].map(words)})
    table.to_csv("rows.csv", index=False)
    assert found("rows.csv", "--soft", odd["q"])["bayes_error"] == bayes_error(SOFT(Q)).to_dict()
    args = ["--classes", f'"{odd["cat"]}",{odd["dog"]},*', "--test-error", "0.1", "--n-test", "50"]
    result = found("rows.csv", *args, "--predictions", "a b")
    expected = too_good_to_be_true(0.1, 50, SOFT(SHARES), predictions=SHARES.argmax(axis=1))
    assert result["too_good"] == expected.to_dict()
    status, _, err = run("rows.csv", "--soft", "\x1b[31m")
    assert status == 2
    assert "\x1b" not in err


# --- Refusals --------------------------------------------------------------------------------------------

BAD = """q,text,k,m,s,p,none,w
0.5,0.1,1,2,1,0,0,1
0.2,x,3,2,0,0,0,1
1.5,0.3,1,0,-1,2,0,-1
-0.1,,0.5,3,1,1,0,1
"""
REFUSED = {
    "missing cells": (
        ["--soft", "text"],
        r"'text' must hold finite numbers; got 2 .* 'x' in row 2 of bad\.csv",
    ),
    "no probability": (
        ["--soft", "q"],
        r"Soft labels must be probabilities in \[0, 1\]; got 2 row\(s\).*'q' 1\.5 in row 3 of bad\.csv",
    ),
    "no confidence": (["--confidence", "q"], r"Confidences must be probabilities.*got 2 .*row 3 of bad\.csv"),
    "no uncertainty": (["--soft", "p", "--labels", "uncertainty"], r"\[0, 0\.5\].*got 2 .*'p' 2 in row 3"),
    "no column": (["--soft", "absent"], r"has no column 'absent'. Its columns: 'q', 'text'"),
    "no column of ballots": (["--votes", "p", "--ballots", "n"], "has no column 'n'"),
    "no column of weights": (["--soft", "s", "--weight", "v"], "has no column 'v'"),
    "half votes": (["--votes", "k", "--ballots", "m"], r"whole numbers from 0; got 1 .*'k' 0\.5 in row 4"),
    "zero votes": (["--votes", "p", "--ballots", "m"], r"'m' must be at least 1; got 1 .*'m' 0 in row 3"),
    "more than all": (
        ["--votes", "p", "--ballots", "1"],
        r"must not exceed --ballots 1; got 1 .*'p' 2 in row 3",
    ),
    "more than cast": (
        ["--votes", "m", "--ballots", "w2"],
        r"'m' must not exceed 'w2'; got 3 .*'m' 2, 'w2' 1 in row 1",
    ),
    "half ballots": (
        ["--votes", "none", "--ballots", "k"],
        r"'k' must be at least 1; got 1 .*'k' 0\.5 in row 4",
    ),
    "no ballots": (["--votes", "p"], "--votes needs --ballots"),
    "ballots": (
        ["--votes", "p", "--ballots", "1.5"],
        r"--ballots must be a column or a whole number.*got 1\.5",
    ),
    "no votes at all": (
        ["--classes", "none,p", "--counts"],
        r"at least one vote; got 2 .*in row 1 of bad\.csv",
    ),
    "uneven": (["--classes", "none,s"], r"The columns of --classes.*got 1 .*'s' -1 in row 3"),
    "no sum": (["--classes", "none,none2"], r"sum to 1; got 4 .*'none' 0, 'none2' 0 in row 1"),
    "one class": (["--classes", "p"], r"at least two columns, and none twice, got 'p'\. .* --soft"),
    "a class twice": (["--classes", "p,p"], "none twice"),
    "negative weight": (
        ["--soft", "none", "--weight", "w"],
        r"Weights .* got 1 in column 'w'.*'-1' in row 3",
    ),
    "no weight": (
        ["--soft", "none", "--weight", "none"],
        r"'none' of bad\.csv is zero in all rows.*--weight",
    ),
    "both codes": (
        ["--soft", "none", "--labels", "noisy", "--sign", "s"],
        r"'s' must hold 1.* got 1 .*'s' 0",
    ),
    "two kinds": (["--soft", "q", "--votes", "k"], "--soft and --votes both say what a row holds"),
    "score and soft": (["--soft", "q", "--score", "k"], "--soft and --score both say"),
    "no noise": (
        ["--soft", "none", "--labels", "uncertainty", "--sign", "p"],
        "--sign goes with noisy labels, not with --labels uncertainty",
    ),
    "ballots of soft": (
        ["--soft", "q", "--ballots", "m"],
        "--ballots goes with --votes, got --soft. Leave it",
    ),
    "label of soft": (["--soft", "q", "--label", "m"], "--label goes with --score, got --soft"),
    "prior of soft": (["--soft", "q", "--prior", "0.3"], "--prior goes with --confidence or --score"),
    "counts alone": (["--counts"], "--counts goes with --classes. Pass that too"),
    "an estimate": (["--confidence", "none", "--prior", "estimate"], "--prior estimate is for scores"),
    "prior": (["--confidence", "none", "--prior", "1.2"], r"--prior must lie in \(0, 1\)"),
    "level": (["--soft", "none", "--confidence-level", "95"], r"--confidence-level must lie in \(0, 1\)"),
    "likelihood": (["--soft", "none", "--method", "likelihood"], "--method likelihood makes no interval"),
    "predictions of scores": (
        ["--predictions", "p"],
        "--predictions goes with --soft or --classes or --votes",
    ),
    "method": (["--soft", "none", "--method", "guess"], "--method"),
    "calibrator": (["--calibrator", "guess"], "--calibrator must be 'platt' or .* got 'guess'"),
    "half a test": (["--soft", "none", "--test-error", "0.1"], "--test-error and --n-test go together"),
    "no test": (["--soft", "none", "--predictions", "p"], "--predictions goes with --test-error"),
    "percent": (
        ["--soft", "none", "--test-error", "3", "--n-test", "9"],
        r"--test-error must lie in \[0, 1\]",
    ),
    "no class": (
        ["--soft", "none", "--test-error", "0.1", "--n-test", "9", "--predictions", "p"],
        r"'p' must hold 0 or 1; got 1 .*'p' 2 in row 3",
    ),
    "no place": (
        ["--classes", "p,w2", "--counts", "--test-error", "0.1", "--n-test", "9", "--predictions", "m"],
        r"'m' must hold the name of a class, or its place from 0 to 1; got 3 .*'m' 2 in row 1",
    ),
    "no name": (
        ["--classes", "p,w2", "--counts", "--test-error", "0.1", "--n-test", "9", "--predictions", "text"],
        r"'text' must hold finite numbers, or one of 'p', 'w2'; got 2 .*'x' in row 2",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case: str, run: Any, tmp_path: Path) -> None:
    args, message = REFUSED[case]
    lines = BAD.splitlines()
    text = "\n".join([lines[0] + ",none2,w2", *(line + ",0,1" for line in lines[1:])])
    Path("bad.csv").write_text(text + "\n")
    status, out, err = run("bad.csv", *args)
    assert (status, out) == (2, ""), err
    assert re.search(message, err), err


def test_a_verdict_needs_a_prior(run: Any, tmp_path: Path) -> None:
    POSITIVES.to_csv("positives.csv", index=False)
    status, _, err = run("positives.csv", "--confidence", "q", "--test-error", "0.1", "--n-test", "9")
    assert status == 3
    assert "Without --prior" in err


def test_margins_need_a_calibrator_that_takes_them(run: Any, rows: str) -> None:
    margins = [rows, "--score", "margin", "--label", "full", "--zeros", "negative"]
    status, _, err = run(*margins)
    assert status == 2
    assert "--calibrator beta needs probabilities in [0, 1]" in err
    assert "--calibrator isotonic" in err
    status, _, err = run(*margins, "--calibrator", "isotonic", "--method", "t")
    assert status == 2
    assert "--method t makes no interval from scores" in err


def test_the_first_bad_row_of_several_files(tmp_path: Path, run: Any) -> None:
    for name, cells in (("a", "0.1 0.2"), ("b", "0.3 0.4 2"), ("c", "3")):
        Path(f"{name}.csv").write_text("\n".join(["q", *cells.split()]) + "\n")
    pd.DataFrame({"q": [0.5, 4.0]}).to_parquet("d.parquet")
    status, _, err = run("*.csv", "d.parquet", "--soft", "q")
    assert status == 2
    assert "got 3 row(s)" in err
    assert "'q' 2 in row 3 of b.csv" in err
    status, _, err = run("d.parquet", "a.csv", "--soft", "q")
    assert "got 1 row(s)" in err
    assert "'q' 4 in row 2 of d.parquet" in err


# --- Columns of numbers ----------------------------------------------------------------------------------


def test_columns_of_numbers(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(
        '{"x": 1, "y": "Yes", "w": 2}\n{"x": -0.0, "y": " no ", "w": 0}\n{"x": 3, "y": "7", "w": 1}\n'
    )
    wanted = Numbers(columns=["x", "y"], weight="w", words={"y": {"yes": 1.0, "no": 0.0}})
    found = read_numbers(path, wanted, threads=1)
    assert {name: column.tolist() for name, column in found.items()} == {
        "x": [1, 0, 3],
        "y": [1, 0, 7],
        "w": [2, 0, 1],
    }
    assert not np.signbit(found["x"]).any()
    with pytest.raises(InputError, match=r"Less is more; got 2 row\(s\).*'x' 1, 'w' 2 in row 1 .*jsonl\. Do"):
        read_numbers(path, wanted, [Demand(["x", "w"], lambda x, w: x + w < 3, "Less is more", "Do.")])


def test_words_that_differ_only_in_case(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("y\na\nA\na \n")
    wanted = Numbers(columns=["y"], words={"y": {"a": 1.0, "A": 2.0}})
    assert read_numbers(path, wanted)["y"].tolist() == [1, 2, 1]


def test_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("q\n")
    with pytest.raises(InputError, match="has no rows"):
        read_numbers(path, Numbers(columns=["q"]))
