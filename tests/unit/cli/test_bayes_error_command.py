"""`halftruth bayes-error`: the library's limits, from files."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import halftruth as ht
from halftruth._errors import InputError, Refuted
from halftruth.files._number_columns import Demand, Numbers, read_numbers
from halftruth.limits._bayes_error import bayes_error
from halftruth.limits._best_attainable import ROWS, best_attainable
from halftruth.limits._too_good import too_good_to_be_true

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
def run(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    return partial(run, "bayes-error")


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
    "bounded": (["--soft", "q", "--method", "bounded"], SOFT(Q), {"method": "bounded"}),
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
    assert result["upper_bound"] is not isinstance(evidence, SOFT)
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
    assert result["prior"] is None
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


def test_scores_give_an_upper_bound(run: Any, rows: str) -> None:
    labeled = [rows, "--score", "q", "--label", "full", "--zeros", "negative", "--n-resamples", "50"]
    name = "bayes_error (upper bound)"
    outs = {style: run(*labeled, "--format", style)[1] for style in ("table", "csv", "markdown")}
    assert f"\n{name}  " in outs["table"]
    assert f"\n| {name} |" in outs["markdown"]
    assert [line["metric"] for line in csv.DictReader(io.StringIO(outs["csv"]))] == [name]
    _, out, _ = run(rows, "--soft", "q")
    assert "upper bound" not in out


def test_the_prior_is_shown_as_it_was_given(run: Any, found: Any, rows: str) -> None:
    POSITIVES.to_csv("positives.csv", index=False)
    confidences, quick = ["positives.csv", "--confidence", "q"], ["--n-resamples", "20"]
    shares = {"0.5": ("number", 0.5, 0.5), "0.25..0.45": ("range", 0.25, 0.45)}
    for args in (confidences, [rows, "--score", "q", *quick]):
        for text, (kind, low, high) in shares.items():
            result = found(*args, "--prior", text)
            middle = pytest.approx((low + high) / 2, rel=1e-12)
            assert result["prior"] == {"kind": kind, "value": middle, "low": low, "high": high}
            words = f"π = {low:g}" if low == high else f"π = {low:g} to {high:g}"
            assert result["about"].split("; ")[0] == words
    result = found(rows, "--score", "q", "--prior", "estimate", *quick)
    evidence = ht.PositiveUnlabeled.from_labels(TABLE["label"], Q, prior="estimate")
    value, (low, high) = float(evidence.measure().prior), evidence.prior_ends()
    assert result["prior"] == {"kind": "estimate", "value": value, "low": low, "high": high}
    assert low < value < high
    assert result["about"].startswith(f"π = {value:.4g}, estimated ({low:.4g} to {high:.4g}); scores through")
    assert found(rows, "--soft", "q")["prior"] is None


def test_a_refuted_prior_is_said(found: Any, tmp_path: Path) -> None:
    POSITIVES.to_csv("positives.csv", index=False)
    for prior, refuted in (("0.5", False), ("0.95", True)):
        result = found("positives.csv", "--confidence", "q", "--prior", prior)
        assert result["refuted"] is refuted
        assert any("refuted" in note for note in result["notes"]) is refuted


def test_without_a_prior_scores_say_nothing(run: Any, rows: str) -> None:
    status, out, err = run(rows, "--score", "q")
    assert (status, out) == (3, "")
    assert "Pass --prior (a number, a range low..high, or the word estimate), or" in err


def test_what_the_data_rule_out_is_not_bad_usage(
    run: Any, rows: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refute(*args: Any, **how: Any) -> None:
        raise Refuted("The data rule this out.")

    monkeypatch.setattr("halftruth.limits._bayes_error.bayes_error", refute)
    status, out, err = run(rows, "--soft", "q")
    assert (status, out, err) == (3, "", "Error: The data rule this out.\n")


@pytest.mark.parametrize(
    ("label", "zeros", "message"),
    [
        ("one", "negative", "All rows have the label 1 in the column 'one'"),
        ("zero", "negative", "No row has the label 1 in the column 'zero'"),
        ("zero", "unlabeled", "No row has the label 1 in the column 'zero'"),
    ],
)
def test_labels_of_one_class(label: str, zeros: str, message: str, run: Any, tmp_path: Path) -> None:
    TABLE.assign(one=1, zero=0).to_csv("rows.csv", index=False)
    args = ["rows.csv", "--score", "q", "--label", label, "--zeros", zeros]
    status, _, err = run(*args, *(["--prior", "0.3"] if zeros == "unlabeled" else []))
    assert status == 2
    assert message in err


def test_a_saved_table_of_one_class(run: Any, tmp_path: Path) -> None:
    ht.Labeled(np.ones(N), Q).table.save("rows.npz")
    status, _, err = run("rows.npz")
    assert status == 2
    assert "All rows have the label 1: nothing" in err


def test_without_a_word_on_the_columns(run: Any, rows: str) -> None:
    for args in ([], ["--label", "full"]):
        status, _, err = run(rows, *args)
        assert status == 2
        assert "has no column 'score'. Its columns: 'q', " in err
        said = err.split("Say which column holds what: ")[1]
        assert all(option in said for option in ("--soft", "--classes", "--votes", "--confidence", "--label"))
    status, _, err = run(rows, "--score", "scores")
    assert status == 2
    assert "Say which" not in err


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
    monkeypatch.setattr("halftruth.files._read_files.MAX_ROWS", 100)
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
    for args in (["--labels", "noisy"], ["--sign", "likelier"], ["--labels", "noisy", "--sign", "likelier"]):
        status, _, err = run(rows, "--soft", "noisy", *args, "--best")
        assert status == 2
        assert "--best needs the probabilities themselves" in err
        assert f"Leave --best out, or {shlex.join(args[:2]) if '--labels' in args else '--sign'} where" in err
        assert ("--labels" in err) is ("--labels" in args)


def test_the_best_from_confidences_that_are_zero(run: Any, found: Any, tmp_path: Path) -> None:
    table = POSITIVES.assign(q=np.where(np.arange(len(POSITIVES)) < 5, 0, POSITIVES["q"]))
    table.to_csv("positives.csv", index=False)
    args = ["positives.csv", "--confidence", "q", "--prior", "0.3"]
    plain, best = found(*args), found(*args, "--best")
    note, *others = best["notes"]
    assert f"need confidences above 0, and 5 of {len(table)} are 0" in note
    assert (others, best["best"]) == (plain["notes"], None)
    assert best["bayes_error"] == plain["bayes_error"]
    POSITIVES.to_csv("positives.csv", index=False)
    result = found(*args, "--best", "--n-resamples", "10")
    assert list(result["best"]["metrics"]) == [name for name in ROWS if name != "bayes_error"]
    assert not any("above 0" in note for note in result["notes"])


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
    assert (lines["too_good"], lines["n_test"]) == (str(int(too_good)), "400")


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
    "signs": (["--soft", "q"], "likelier", SOFT(Q), TABLE["likelier"] > 0),
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
    assert re.split("  +", lines[5]) == ["bayes_error", value, value, interval, ends, "bounded"]
    assert "Pass --sign" in err
    _, out, _ = run(*noisy, "--format", "csv")
    table = list(csv.DictReader(io.StringIO(out)))
    words = {name: table[0].pop(name) for name in ("metric", "method", "status", "reason")}
    assert words == {"metric": "bayes_error", "method": "bounded", "status": "ok", "reason": ""}
    numbers = {name: float(x) for name, x in table[0].items()}
    assert numbers == {
        "naive": estimate.naive,
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "identified_low": estimate.identified[0],
        "identified_high": estimate.identified[1],
        "confidence_level": 0.95,
    }
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


def test_notes_on_classes_are_in_words_of_the_shell(run: Any, found: Any, rows: str) -> None:
    for args in (["cat,dog,fox"], ["n_cat,n_dog,n_fox", "--counts"], ["cat,dog,fox", "--labels", "noisy"]):
        result = found(rows, "--classes", *args, "--test-error", "0.1", "--n-test", "300")
        assert not any(re.search(r"SoftLabeled|\[:|labels=", note) for note in result["notes"])
        assert not any("by --votes" in note for note in result["notes"])
        assert len(set(result["notes"])) == len(result["notes"])
    _, _, err = run(rows, "--classes", "cat,dog,fox")
    assert "--counts" in err


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
        r"'p' must hold 1 for the positive class, else 0 \(or -1\); got 1 .*'p' 2 in row 3.*Repair these rows",
    ),
    "no place": (
        ["--classes", "p,w2", "--counts", "--test-error", "0.1", "--n-test", "9", "--predictions", "m"],
        r"'m' must hold a class, 'p', 'w2', or its place from 0 to 1; got 3 .*'m' 2 in row 1.*another column",
    ),
    "no name": (
        ["--classes", "p,w2", "--counts", "--test-error", "0.1", "--n-test", "9", "--predictions", "text"],
        r"'text' must hold a class, 'p', 'w2', or its place from 0 to 1; got 2 .*'x' in row 2.*repair these",
    ),
    "both codes predicted": (
        ["--soft", "none", "--test-error", "0.1", "--n-test", "9", "--predictions", "s"],
        r"'s' must hold 1 for .* got 1 .*'s' 0 in row 2 .*It holds both 0 and -1",
    ),
    "a percentage": (
        ["--soft", "none", "--test-error", "4%", "--n-test", "9"],
        r"--test-error must be a share of the cases, 0\.04 for 4%; got '4%'",
    ),
    "no figure": (
        ["--soft", "none", "--test-error", "low", "--n-test", "9"],
        r"--test-error must be a share of the cases, 0\.04 for 4%; got 'low'",
    ),
    "not even a number": (["--soft", "none", "--test-error", "nan", "--n-test", "9"], "--test-error must"),
    "percentages": (
        ["--soft", "percent"],
        r"'percent' must hold finite numbers; got 4 .*'50%' in row 1 .*Write shares as numbers, 0\.5 for 50%",
    ),
    "negative votes": (
        ["--votes", "s", "--ballots", "2"],
        r"whole numbers from 0; got 1 .*'s' -1 in row 3 of bad\.csv\. Repair or drop these rows\.$",
    ),
    "negative and half votes": (
        ["--classes", "k,s", "--counts"],
        r"whole numbers from 0; got 2 .*'k' 1, 's' -1 in row 3 .*Shares of votes are probabilities",
    ),
    "soft with a sign": (
        ["--soft", "none", "--labels", "soft", "--sign", "p"],
        "--sign goes with noisy labels, not with --labels soft",
    ),
    "a range": (
        ["--confidence", "none", "--prior", "0.6..0.3"],
        r"--prior must be a range low\.\.high with low <= high, got 0\.6\.\.0\.3",
    ),
    "a comma": (
        ["--classes", "none,fish, other"],
        r"no column 'fish'.*Is 'fish, other' one class\? .*quotes",
    ),
    "a comma alone": (["--classes", "fish, other"], r"no column 'fish'.*Is 'fish, other' one class\?"),
    "no comma": (["--classes", "none,fish,p"], r"no column 'fish'.* Name one of these\.$"),
    "a comma twice": (["--classes", "no, sure,no, not"], "none twice.*A name with a comma stands in double"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case: str, run: Any, tmp_path: Path) -> None:
    args, message = REFUSED[case]
    lines = BAD.splitlines()
    head = lines[0] + ',none2,w2,percent,"fish, other"'
    text = "\n".join([head, *(line + ",0,1,50%,0" for line in lines[1:])])
    Path("bad.csv").write_text(text + "\n")
    status, out, err = run("bad.csv", *args)
    assert (status, out) == (2, ""), err
    assert re.search(message, err.rstrip("\n")), err


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_another_column_than_was_meant(form: str, run: Any, tmp_path: Path) -> None:
    getattr(TABLE, f"to_{form}")(f"rows.{form}", index=False)
    test = ["--test-error", "0.1", "--n-test", "300"]
    for args, column, more in (
        (["--soft", "noisy", "--sign"], "q", " It holds probabilities, not classes."),
        (["--soft", "q", *test, "--predictions"], "noisy", " It holds probabilities, not classes."),
        (["--soft", "q", *test, "--predictions"], "margin", ""),
        (["--soft", "q", *test, "--predictions"], "animal", ""),
        (["--classes", "cat,dog,fox", *test, "--predictions"], "q", " It holds probabilities, not classes."),
    ):
        status, _, err = run(f"rows.{form}", *args, column)
        assert status == 2
        assert f"Column '{column}' must hold " in err
        assert f" in row 1 of rows.{form}. Most rows are like this: it looks like another column" in err
        assert err.endswith(f" that was meant.{more}\n")


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
