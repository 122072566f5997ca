"""`halftruth prior`, and `--prior estimate` elsewhere: the library's numbers, from files."""

from __future__ import annotations

import csv
import inspect
import io
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import halftruth as ht
from halftruth.cli._option_values import parse_share
from halftruth.prior._belief import ESTIMATE
from halftruth.prior._methods import METHODS

RNG = np.random.default_rng(5)
N = 400
TRUTH = RNG.random(N) < 0.4
SCORE = np.round(np.clip(RNG.normal(0.3 + 0.4 * TRUTH, 0.15), 0, 1), 3)
POOR = np.round(np.clip(RNG.normal(0.4 + 0.1 * TRUTH, 0.2), 0, 1), 3)
KNOWN = TRUTH & (RNG.random(N) < 0.5)
NEGATIVE = ~TRUTH & (RNG.random(N) < 0.3)
MONTH = np.where(RNG.random(N) < 0.5, "jan", "feb")
COLUMNS: dict[str, Any] = {
    "score": SCORE,
    "poor": POOR,
    "weight": RNG.integers(1, 4, N),
    "month": MONTH,
    "full": np.where(TRUTH, 1, 0),
    "label": np.where(KNOWN, 1, np.nan),
    "coded": np.where(KNOWN, 1, -1),
    "partial": np.where(KNOWN, 1, np.where(NEGATIVE, 0, np.nan)),
}
BBE = ["--method", "bbe", "--n-resamples", "20"]
JSON = ["--format", "json"]
from_labels = ht.PositiveUnlabeled.from_labels
fast = {"method": "bbe", "n_resamples": 20}


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("prior") / "rows.csv"
    pd.DataFrame(COLUMNS).to_csv(path, index=False)
    return str(path)


@pytest.fixture
def found(run: Any, rows: str) -> Any:
    def call(*args: str) -> list[dict[str, Any]]:
        status, out, _ = run("prior", rows, *args, *JSON)
        assert status == 0
        estimates: list[dict[str, Any]] = json.loads(out)["estimates"]
        return estimates

    return call


def numbers(estimate: ht.PriorEstimate) -> dict[str, Any]:
    return {name: getattr(estimate, name) for name in ("value", "low", "high", "upper")}


# --- The frame ----------------------------------------------------------------------------------------


def test_help(run: Any) -> None:
    status, text, _ = run("prior", "--help")
    assert status == 0
    assert len(text.splitlines()) < 44
    about = re.search(r"Methods: (.*?)Arguments:", text, flags=re.DOTALL)
    assert about is not None
    assert set(METHODS) | {"sample"} <= set(re.findall(r"[\w-]+", about[1]))
    assert "  halftruth prior " in text[text.index("Examples:") :]
    shown = set(re.findall(r"^  --([a-z-]+)", text, flags=re.MULTILINE))
    keywords = set(inspect.signature(ht.estimate_prior).parameters)
    keywords -= {"positive", "negative", "positive_weight", "unlabeled_weight", "negative_weight"}
    assert shown >= {word.replace("_", "-") for word in keywords}


def test_what_estimates_is_loaded_only_when_asked_for(rows: str) -> None:
    modules = ["sklearn", "halftruth.prior._estimate_prior", "halftruth.prior._methods"]
    code = (
        f"import shlex, sys; from halftruth.cli import main; modules = {modules}\n"
        "for line in sys.argv[1:]:\n"
        "    status = main(shlex.split(line))\n"
        "    sys.stderr.write(f'\\n{status} {[name for name in modules if name in sys.modules]}\\n')"
    )
    few = ["--prior", "0.4", "--n-resamples", "10"]
    lines = [shlex.join(["evaluate", rows, *few]), shlex.join(["prior", rows, *BBE])]
    done = subprocess.run([sys.executable, "-c", code, *lines], capture_output=True, text=True, check=False)
    assert re.findall(r"^(\d \[.*\])$", done.stderr, re.M) == ["0 []", f"0 {modules[1:]}"]


def test_a_pipe_gets_results_and_notes_alone(run: Any, rows: str) -> None:
    args = ["prior", rows, "--method", "bbe,tice", "--n-resamples", "20"]
    command = [sys.executable, "-m", "halftruth", *args]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stdout, done.stderr) == run(*args)  # in another process the same bytes
    assert done.returncode == 0
    assert all(line.startswith("Note: ") for line in done.stderr.splitlines())
    assert "\x1b" not in done.stdout + done.stderr


# --- The numbers --------------------------------------------------------------------------------------


CASES = [
    ("", lambda: from_labels(COLUMNS["label"], SCORE)),
    ("--label coded --unlabeled -1", lambda: from_labels(COLUMNS["label"], SCORE)),
    ("--purity 0.9", lambda: from_labels(COLUMNS["label"], SCORE, purity=0.9)),
    ("--weight weight", lambda: from_labels(COLUMNS["label"], SCORE, sample_weight=COLUMNS["weight"])),
    ("--label partial", lambda: from_labels(COLUMNS["partial"], SCORE)),
    ("--population unlabeled", lambda: from_labels(COLUMNS["label"], SCORE, population="unlabeled")),
]


@pytest.mark.parametrize(("args", "evidence"), CASES, ids=[args for args, _ in CASES])
def test_both_shares_are_the_library_s(found: Any, args: str, evidence: Any) -> None:
    (row,) = found(*args.split(), *BBE)
    given = evidence()
    of_population = ht.estimate_prior(given, **fast)
    assert of_population.population == given.population
    assert row["prior"] == pytest.approx(numbers(of_population))
    parts = {name: given.table.strata[name] for name in ("positive", "unlabeled")}
    weights = {f"{name}_weight": part.weight for name, part in parts.items()}
    alpha = ht.estimate_prior(
        *(part.score for part in parts.values()), purity=given.purity.value, **weights, **fast
    )
    assert row["alpha"] == pytest.approx(numbers(alpha))
    assert (row["method"], row["assumption"]) == ("bbe", alpha.assumption)
    notes = [note for note in row["notes"] if not note.startswith("Known negatives were not used")]
    assert notes == list(alpha.notes)
    assert (len(notes) < len(row["notes"])) == ("negative" in given.table.strata)
    assert "purity" not in row


def test_auto_is_the_default_and_reads_what_is_known(found: Any) -> None:
    positive, unlabeled = SCORE[KNOWN], SCORE[~KNOWN]
    (row,) = found("--rng", "3", "--confidence-level", "0.8")
    expected = ht.estimate_prior(positive, unlabeled, rng=3, confidence_level=0.8)
    assert (row["method"], row["confidence_level"]) == ("auto", 0.8)
    assert row["alpha"] == pytest.approx(numbers(expected))
    (row,) = found("--within", "0.1..0.3", "--labeled-sample", "7/50")
    expected = ht.estimate_prior(positive, unlabeled, within=(0.1, 0.3), labeled_sample=(7, 50))
    assert row["alpha"] == pytest.approx(numbers(expected))
    (row,) = found("--method", "sample", "--labeled-sample", "7/50")
    expected = ht.estimate_prior(positive, unlabeled, method="sample", labeled_sample=(7, 50))
    assert row["alpha"] == pytest.approx(numbers(expected))


def test_the_purity_can_be_estimated_too(run: Any, rows: str, found: Any) -> None:
    args = ["--purity", "estimate", *BBE]
    (row,) = found(*args)
    both = ht.estimate_prior_and_purity(SCORE[KNOWN], SCORE[~KNOWN], **fast)
    assert row["alpha"] == pytest.approx(numbers(both.prior))
    assert row["purity"] == pytest.approx(numbers(both.purity))
    share = KNOWN.mean()
    replicates = share * np.asarray(both.purity.replicates) + (1 - share) * np.asarray(both.prior.replicates)
    expected = ht.PriorEstimate(
        value=share * both.purity.value + (1 - share) * both.prior.value, replicates=replicates
    )
    for name in ("value", "low", "high"):
        assert row["prior"][name] == pytest.approx(getattr(expected, name))
    assert both.purity.value < 1
    of_all = ht.estimate_prior_and_purity(from_labels(COLUMNS["label"], SCORE), **fast)
    assert row["prior"] == pytest.approx(numbers(of_all.prior))
    out = run("prior", rows, *args)[1]
    assert "ρ: positives among the known" in out
    assert f" {both.purity.value:.3f}  " in out


def test_known_negatives_decide(run: Any, rows: str, found: Any) -> None:
    args = ["--label", "partial", "--n-resamples", "20"]
    (row,) = found(*args)
    assert row["method"] == "mixture"
    negative, rest = SCORE[NEGATIVE], SCORE[~KNOWN & ~NEGATIVE]
    expected = ht.estimate_prior(SCORE[KNOWN], rest, negative=negative, n_resamples=20)
    assert row["alpha"] == pytest.approx(numbers(expected))
    status, out, _ = run("prior", rows, *args)
    assert status == 0
    assert (
        f"Without the known negatives the scores alone allow every α from 0 to {expected.upper:.3f}." in out
    )


def test_groups(run: Any, rows: str) -> None:
    args = ["prior", rows, "--by", "month", *BBE]
    result = json.loads(run(*args, *JSON)[1])
    assert (result["schema"], result["by"], set(result["groups"])) == (1, "month", {"jan", "feb"})
    for month, group in result["groups"].items():
        own = month == MONTH
        expected = ht.estimate_prior(SCORE[own & KNOWN], SCORE[own & ~KNOWN], **fast)
        assert group["estimates"][0]["alpha"] == pytest.approx(numbers(expected))
    _, out, err = run(*args)
    assert "month = feb\n===========\n" in out
    assert out.count("NOT IDENTIFIED: Positives and unlabeled alone allow every α from 0 to ") == 1  # feb
    assert err.count("bbe: Where negatives lie among all positives") == 1
    table = list(csv.DictReader(io.StringIO(run(*args, "--format", "csv")[1])))
    assert [(row["month"], row["share"]) for row in table] == [
        (month, share) for month in result["groups"] for share in ("alpha", "prior")
    ]


# --- Several methods ----------------------------------------------------------------------------------


def test_several_methods_in_one_table(run: Any, rows: str) -> None:
    args = ["prior", rows, "--method", "bbe,tice", "--method", "roc-slope", "--n-resamples", "20"]
    status, out, err = run(*args)
    assert status == 0
    unidentified, refuted, *lines = out.splitlines()
    assert unidentified.startswith("NOT IDENTIFIED: Positives and unlabeled alone allow every α from 0 to 0.")
    assert unidentified.endswith(" (bbe, tice)")
    assert refuted.startswith("REFUTED: roc-slope puts α at 0.4")
    assert lines[0] == f"PositiveUnlabeled({KNOWN.sum()} positive, {N - KNOWN.sum()} unlabeled)"
    for name in ("bbe", "tice", "roc-slope"):
        made = ht.estimate_prior(SCORE[KNOWN], SCORE[~KNOWN], method=name, n_resamples=20)
        line = next(line for line in lines if line.startswith(name)).split("  ")
        shown = [cell.strip() for cell in line if cell.strip()]
        interval = f"{made.low:.3f} to {made.high:.3f}"
        assert shown[1:4] == [f"{made.value:.3f}", interval, f"0 to {made.upper:.3f}"]
    assert "Note: bbe, tice, roc-slope: Where negatives lie among all positives it lands above" in err
    assert "Note" not in out
    table = list(csv.DictReader(io.StringIO(run(*args, "--format", "csv")[1])))
    assert [row["method"] for row in table][::2] == ["bbe", "tice", "roc-slope"]
    assert [row["status"] for row in table][::2] == ["not identified", "not identified", "refuted"]
    assert f"REFUTED: {table[-1]['reason']}" == refuted
    estimates = json.loads(run(*args, "--format", "json")[1])["estimates"]
    assert [(x["status"], x["reason"]) for x in estimates] == [
        (row["status"], row["reason"]) for row in table[::2]
    ]
    assert unidentified == f"NOT IDENTIFIED: {table[0]['reason']} (bbe, tice)"
    assert float(table[-2]["upper"]) == made.upper
    page = run(*args, "--format", "markdown")[1]
    assert "| method | α | if as assumed | not refuted (0.95) | π | if as assumed |\n|:---|---:|" in page


def test_what_the_data_do_not_identify_is_said_once_on_stdout(run: Any, rows: str) -> None:
    for style in ("table", "csv", "markdown", "json"):
        status, out, err = run("prior", rows, "--format", style, "--strict")
        assert status == 3, style
        assert "Positives and unlabeled alone allow every α from 0 to " in out, style
        assert "95% interval" not in out, style
        assert "assumes that" not in err, style
        assert err.count("a random sample of the positives") == 1, style  # what --strict objects to
    status, out, err = run("prior", rows, "--labeled-sample", "12/40", "--strict")
    assert (status, "95% interval" in out, "NOT IDENTIFIED" in out) == (0, True, False)
    assert err.count("This estimate assumes that the known positives are") == 1


def test_all_methods(run: Any, rows: str, found: Any) -> None:
    usual = [name for name in METHODS if name not in ("km1", "km2", "mixture")]
    few = ["--all-methods", "--n-resamples", "2"]
    assert [row["method"] for row in found(*few)] == usual
    with_negatives = [row["method"] for row in found(*few, "--label", "partial")]
    assert with_negatives == ["mixture", *usual[1:]]
    known = [*few, "--labeled-sample", "7/50", "--method", "km2", "--within", "0.05..0.4"]
    status, out, err = run("prior", rows, *known, *JSON)
    assert status == 0
    by_name = {row["method"]: row for row in json.loads(out)["estimates"]}
    assert list(by_name) == [*usual, "sample", "km2"]
    assert "--within and --labeled-sample are read by auto and sample alone." in err
    assert 0.05 <= by_name["sample"]["alpha"]["low"] <= by_name["sample"]["alpha"]["high"] <= 0.4


# --- Refusals -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--method", "guess"], "must be one of auto, alphamax"),
        (["--method", "sample"], "--method sample needs --labeled-sample"),
        (["--purity", "0.8..0.9"], "--purity must be one number"),
        (["--purity", "1.2"], "--purity must lie in (0, 1]"),
        (["--purity", "estimate", "--within", "0.1..0.2"], "--within does not go with --purity estimate"),
        (["--purity", "estimate", "--labeled-sample", "1/5"], "--labeled-sample does not go"),
        (["--within", "0.1"], "--within must read like 0.01..0.1, got '0.1'"),
        (["--within", "0.3..0.2"], "--within must satisfy 0 <= low < high <= 1"),
        (["--within", "0.9..0.95", "--purity", "0.8"], "--within starts at 0.9, above the purity 0.8"),
        (["--labeled-sample", "7"], "--labeled-sample must read like 7/50, got '7'"),
        (["--labeled-sample", "0.5/7"], "--labeled-sample must read like 7/50"),
        (["--labeled-sample", "9/7"], "--labeled-sample has 9 positives among 7 cases"),
        (["--confidence-level", "95"], "Pass 0.95 for 95%"),
        (["--n-resamples", "1"], "--n-resamples"),
        (["--rng", "-1"], "--rng"),
        (["--format", "xml"], "--format"),
        (["--zeros", "unlabeled", "--unlabeled", "0"], "do not go together"),
    ],
)
def test_bad_options_are_refused_before_the_file_is_read(run: Any, args: list[str], message: str) -> None:
    status, out, err = run("prior", "there-is-no-such-file.csv", *args)
    assert (status, out) == (2, "")
    assert message in err


@pytest.mark.parametrize(
    ("args", "status", "message"),
    [
        ("--label full", 2, "--zeros negative or --zeros unlabeled"),
        ("--label full --zeros negative", 2, "No row is unlabeled, so there is nothing to estimate"),
        ("--label label --method mixture", 3, "--method mixture needs known negatives"),
        ("--label label --purity estimate --method mixture", 3, "--method mixture needs known negatives"),
        (
            "--label partial --purity estimate --method mixture",
            2,
            "Error: --method mixture does not estimate a purity",
        ),
        ("--label label --method bbe --within 0.1..0.2", 2, "--within is read by method 'auto'"),
        ("--label partial --labeled-sample 7/50", 2, "--labeled-sample is read by method 'auto'"),
    ],
)
def test_refusals(run: Any, rows: str, args: str, status: int, message: str) -> None:
    code, out, err = run("prior", rows, *args.split())
    assert (code, out) == (status, "")
    assert err.startswith("Error: ")
    assert message in err


def test_saved_tables(run: Any, tmp_path: Path) -> None:
    kinds = {"soft": ht.SoftLabeled([0.9, 0.4]), "confidence": ht.PositiveConfidence([1.0, 0.5])}
    for name, evidence in kinds.items():
        evidence.table.save(tmp_path / f"{name}.npz")
        status, _, err = run("prior", str(tmp_path / f"{name}.npz"))
        assert (status, "No row is unlabeled" in err) == (2, True)
    evidence = from_labels(COLUMNS["label"], SCORE)
    evidence.table.save(tmp_path / "pu.npz")
    status, out, _ = run("prior", str(tmp_path / "pu.npz"), *BBE, *JSON)
    assert status == 0
    assert json.loads(out)["estimates"][0]["prior"] == pytest.approx(
        numbers(ht.estimate_prior(evidence, **fast))
    )


def test_a_group_that_cannot_be_estimated_is_named(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("score,label,day\n0.9,1,mon\n0.2,,mon\n0.3,,tue\n0.4,,tue\n")
    status, out, err = run("prior", str(path), "--by", "day", *BBE)
    assert status == 0
    assert "day = tue\n=========\nNOT EVALUATED: None of 2 row(s) has the label 1: " in out
    assert "Note: day = tue: not evaluated: None of 2" in err
    assert run("prior", str(path), "--by", "day", "--strict", *BBE)[0] == 3


# --- --prior estimate ---------------------------------------------------------------------------------


def test_the_word_is_passed_on() -> None:
    assert parse_share("estimate", "prior") == parse_share("estimate", "purity") == ESTIMATE


@pytest.mark.parametrize(
    ("args", "given"),
    [
        ("--prior estimate", {"y": COLUMNS["label"]}),
        ("--prior estimate --purity estimate", {"y": COLUMNS["label"], "purity": "estimate"}),
        ("--prior estimate --label partial", {"y": COLUMNS["partial"]}),
    ],
)
def test_evaluate(run: Any, rows: str, args: str, given: dict[str, Any]) -> None:
    status, out, err = run("evaluate", rows, *args.split(), "--n-resamples", "50", *JSON)
    expected = ht.evaluate(from_labels(y_score=SCORE, prior="estimate", **given), n_resamples=50)
    assert status == 0
    assert json.loads(out) == expected.to_dict()
    assert "Note: The prior was estimated (" in err


def test_evaluate_refuses(run: Any, rows: str) -> None:
    for command in (["evaluate", "no-such.csv"], ["compare", "no-such.csv", "--score", "a", "--score", "b"]):
        status, _, err = run(*command, "--purity", "estimate", "--prior", "0.3")
        assert status == 2
        assert "--purity estimate goes with --prior estimate" in err
    status, _, err = run("evaluate", rows, "--label", "full", "--zeros", "negative", "--prior", "estimate")
    assert (status, "--prior says nothing where no row is unlabeled" in err) == (2, True)


def models(**given: Any) -> dict[str, ht.PositiveUnlabeled]:
    given = {"y": COLUMNS["label"], "prior": "estimate"} | given
    return {name: from_labels(y_score=COLUMNS[name], **given) for name in ("poor", "score")}


ONE = "The prior is one for all models: estimated from 'score', whose scores say most of it."


def test_models_of_the_same_cases_have_one_prior(run: Any, rows: str) -> None:
    own = models()
    best, other = own["score"].prior.estimate, own["poor"].prior.estimate
    assert best is not None
    assert other is not None
    assert best.upper < other.upper
    comparison = ht.compare(own, n_resamples=50)
    assert comparison.notes[0] == ONE
    # The same as if that estimate had been given for all, but for the note.
    given = ht.compare(models(prior=best), n_resamples=50)
    assert ONE not in given.notes
    no_notes: dict[str, list[str]] = {"notes": [], "note_kinds": []}
    assert comparison.to_dict() | no_notes == given.to_dict() | no_notes
    assert comparison["brier"].values[0] == ht.brier(models(prior=best)["poor"])
    assert own["poor"].prior.estimate is other  # what was passed is left as it was
    args = ["--score", "poor", "--score", "score", "--prior", "estimate", "--n-resamples", "50"]
    status, out, err = run("compare", rows, *args, *JSON)
    assert status == 0
    assert json.loads(out) == comparison.to_dict()
    assert f"Note: {ONE}" in err


def test_models_share_the_purity_with_the_prior() -> None:
    own = models(purity="estimate")
    comparison = ht.compare(own, ["brier"], n_resamples=50)
    assert comparison.notes[0].startswith(
        "The prior and the purity are one for all models: estimated from 'sc"
    )
    shared = {"prior": own["score"].prior.estimate, "purity": own["score"].purity.estimate}
    given = ht.compare(models(**shared), ["brier"], n_resamples=50)
    assert comparison["brier"].to_dict() == given["brier"].to_dict()


def test_a_purity_given_stays() -> None:
    own = models(purity=0.9)
    comparison = ht.compare(own, ["brier"], n_resamples=50)
    assert comparison.notes[0].startswith("The prior is one for all models")
    given = ht.compare(models(purity=0.9, prior=own["score"].prior.estimate), ["brier"], n_resamples=50)
    assert comparison["brier"].to_dict() == given["brier"].to_dict()


def test_with_known_negatives_the_narrowest_interval_is_taken() -> None:
    own = models(y=COLUMNS["partial"])
    width = {name: np.diff(e.prior.ends())[0] for name, e in own.items()}
    assert width["score"] < width["poor"]
    # The bound says nothing there: turned around, it must not change the choice.
    for name, upper in (("score", 0.9), ("poor", 0.1)):
        made = own[name].prior.estimate
        assert made is not None
        object.__setattr__(made, "upper", upper)
    comparison = ht.compare(own, ["brier"], n_resamples=20)
    assert "estimated from 'score'" in comparison.notes[0]


def test_priors_of_the_same_cases_that_are_not_all_estimates_must_be_the_same() -> None:
    own = models()
    with pytest.raises(ht.InputError, match=r"have different `prior`\. The same cases are of one population"):
        ht.compare({"a": own["poor"], "b": models(prior=0.4)["score"]})
    by_hand = [ht.PriorEstimate(value=x, low=x, high=x + 0.1) for x in (0.2, 0.3)]
    with pytest.raises(ht.InputError, match="have different `prior`"):
        ht.compare({str(i): models(prior=prior)["score"] for i, prior in enumerate(by_hand)})
    mixed = {"a": own["poor"], "b": models(purity="estimate")["score"]}
    with pytest.raises(ht.InputError, match="have different `purity`"):
        ht.compare(mixed)


def test_independent_samples_keep_the_priors_estimated_from_them(run: Any, tmp_path: Path) -> None:
    own = models()
    assert own["poor"].prior.value != own["score"].prior.value
    alone = [ht.evaluate(evidence, ["brier"], n_resamples=0)["brier"].value for evidence in own.values()]
    comparison = ht.compare(own, ["brier"], paired=False, n_resamples=50)
    assert list(comparison["brier"].values) == alone
    files = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for name, path in zip(("poor", "score"), files, strict=True):
        pd.DataFrame({"score": COLUMNS[name], "label": COLUMNS["label"]}).to_csv(path, index=False)
    args = ["--no-paired", "--prior", "estimate", "--metrics", "brier", "--n-resamples", "50"]
    status, out, _ = run("compare", *map(str, files), *args, "--format", "json")
    assert status == 0
    assert json.loads(out)["pairs"][0]["metrics"]["brier"]["values"] == alone
