"""The command line's frame: statuses, streams, gates, formats. Files are the matter of test_evaluation_commands.py."""

from __future__ import annotations

import csv
import inspect
import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import halftruth as ht
from halftruth.cli import main
from halftruth.cli._gates import Gate, judge_results
from halftruth.cli._how_known import QUESTION
from halftruth.cli._option_values import parse_names, parse_share
from halftruth.cli._options import Population
from halftruth.cli._rendering import plain, render
from halftruth.cli._terminal import visible
from halftruth.cli._views import EvaluationView, StrictView, view_of
from halftruth.evaluation._compare import compare
from halftruth.results._estimate import Estimate
from halftruth.simulate import GaussianClasses

MODEL = GaussianClasses(prior=0.3)
EVIDENCE = MODEL.positive_unlabeled(60, 300, rng=0)
KNOWN = ht.evaluate(EVIDENCE, ["roc_auc", "recall"], threshold=0.5, n_resamples=50)
UNKNOWN = ht.evaluate(MODEL.positive_unlabeled(60, 300, rng=0, prior=None), ["roc_auc"], n_resamples=50)
FEW = ["--n-resamples", "50"]
HOSTILE = "=cmd|'/C calc'!A0"
ESCAPES = "[red]\x1b[31mx\x1b]0;owned\x07\u202e</script>\r\n|`"


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("cli") / "table.npz"
    EVIDENCE.table.save(path)
    return str(path)


def process(*args: str, **settings: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "halftruth", *args]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False, **settings)


# --- The frame ----------------------------------------------------------------------------------------


def test_help_loads_neither_numpy_nor_rich() -> None:
    code = (
        "import sys; from halftruth.cli import main; status = main(['--help']);"
        "print([m for m in ('numpy', 'rich', 'duckdb', 'halftruth.evaluation._evaluate') if m in sys.modules]);"
        "sys.exit(status)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stdout.startswith("Usage: halftruth ")
    assert done.stdout.endswith("[]\n")


def test_version_and_module(saved: str) -> None:
    done = process("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"halftruth {ht.__version__}\n", "")


def test_no_command_shows_help_and_is_an_error(run: Any) -> None:
    status, out, err = run()
    assert (status, out) == (2, "")
    assert "evaluate" in err


@pytest.mark.parametrize("args", [["nope"], ["evaluate"], ["evaluate", "--nope", "x"], ["reproduce", "nope"]])
def test_bad_usage(run: Any, args: list[str]) -> None:
    status, out, err = run(*args)
    assert (status, out) == (2, "")
    assert err.startswith("Error: ")
    assert "--help" in err


def test_reproduce_names_the_papers(run: Any) -> None:
    text = run("reproduce", "--help")[1]
    assert "jain" in text
    assert "claesen" in text
    assert run("reproduce")[0] == 2


@pytest.mark.parametrize("function", [ht.evaluate, compare])
def test_every_keyword_is_an_option_with_help(run: Any, function: Any) -> None:
    command = function.__name__
    text = run(command, "--help")[1]
    shown = set(re.findall(r"^  --([a-z-]+)", text, flags=re.MULTILINE))
    calls = (function, ht.PositiveUnlabeled.from_table)
    keywords = {word.replace("_", "-") for call in calls for word in inspect.signature(call).parameters}
    assert shown >= keywords - {"evidence", "models", "table"}
    for option in shown:
        assert re.search(rf"--{option}[^\n]*\s+\S[^\n]*[a-z]{{3}}", text)
    assert f"  halftruth {command} " in text[text.index("Examples:") :]


def test_demo(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("halftruth.demo.main", lambda html, csv: sys.stdout.write("the demo\n"))
    assert run("demo") == (0, "the demo\n", "")


def test_interrupt(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(html: str, csv: str | None) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("halftruth.demo.main", interrupted)
    assert run("demo") == (130, "", "Interrupted.\n")


def test_the_unexpected_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(html: str, csv: str | None) -> None:
        raise RuntimeError("so\nwrong")

    monkeypatch.setattr("halftruth.demo.main", broken)
    monkeypatch.delenv("HALFTRUTH_DEBUG", raising=False)
    assert main(["demo"]) == 70
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "unexpected RuntimeError: so wrong" in err
    assert "report" in err
    monkeypatch.setenv("HALFTRUTH_DEBUG", "1")
    assert main(["demo"]) == 70
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize("error", [ht.InputError, ht.MergeError, ht.MissingDependency, ht.NotIdentifiable])
def test_status_of_errors(run: Any, monkeypatch: pytest.MonkeyPatch, error: type[Exception]) -> None:
    def refuses(html: str, csv: str | None) -> None:
        raise error("no \x1b[31m")

    monkeypatch.setattr("halftruth.demo.main", refuses)
    expected = 3 if error is ht.NotIdentifiable else 2
    assert run("demo") == (expected, "", "Error: no \\x1b[31m\n")


def test_a_reader_who_left_is_no_error(saved: str) -> None:
    for args, expected in (
        (["evaluate", saved, *FEW, "--format", "json"], 0),
        (["evaluate", saved, *FEW, "--prior", "0.3", "--require", "roc_auc>2"], 1),
        (["evaluate", "--help"], 0),
    ):
        command = [sys.executable, "-m", "halftruth", *args]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as started:
            assert started.stdout is not None
            started.stdout.close()
            assert started.stderr is not None
            err = started.stderr.read().decode()
        assert started.returncode == expected
        assert "Error" not in err
        assert "Traceback" not in err


def test_a_poor_encoding_does_not_matter(saved: str) -> None:
    done = process("evaluate", saved, *FEW, "--prior", "0.3", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0
    assert "π = 0.300" in done.stdout


# --- Options ------------------------------------------------------------------------------------------


def test_shares() -> None:
    assert parse_share(None, "prior") is None
    assert parse_share("0.3", "prior") == 0.3
    assert parse_share("0.02..0.05", "prior") == (0.02, 0.05)
    for text in ("", "x", "0.1..", "..0.1", "0.1..0.2..0.3", "0.1-0.2", "30%"):
        with pytest.raises(ht.InputError, match=r"--purity must be a number such as 0\.3 or a range"):
            parse_share(text, "purity")
    with pytest.raises(ht.InputError, match=r"got '30%'\. Write 0\.3 for 30%\."):
        parse_share("30%", "prior")


def test_names() -> None:
    assert parse_names(None) is None
    assert parse_names([" , "]) is None
    assert parse_names(["a, b", "c"]) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--prior", "1.2"], "must lie in (0, 1), got 1.2"),
        (["--prior", "estimates"], "or the word estimate"),
        (["--purity", "1.2"], "must lie in (0, 1]"),
        (["--confidence-level", "95"], "Pass 0.95 for 95%"),
        (["--method", "guess"], "--method must be"),
        (["--metrics", "rocauc"], "Did you mean 'roc_auc'?"),
        (["--metrics", "precision"], "threshold"),
        (["--threshold", "nan"], "--threshold"),
        (["--rng", "-1"], "--rng"),
        (["--n-resamples", "-1"], "--n-resamples"),
        (["--format", "xml"], "--format"),
        (["--population", "some"], "--population"),
        (["--zeros", "unlabeled", "--unlabeled", "0"], "do not go together"),
        (["--zeros", "negative", "--unlabeled", "0"], "do not go together"),
        (["--unlabeled", "u"], "--unlabeled"),
    ],
)
def test_bad_options_are_refused_before_the_file_is_read(run: Any, args: list[str], message: str) -> None:
    status, out, err = run("evaluate", "there-is-no-such-file.csv", *args)
    assert (status, out) == (2, "")
    assert err.startswith("Error: ")
    assert message in err


def test_remarks_show_no_control_characters() -> None:
    assert visible(ESCAPES) == "[red]\\x1b[31mx\\x1b]0;owned\\x07\\u202e</script>\\r\\n|`"
    assert visible("é π 🙂 \udc80") == "é π 🙂 \\udc80"


# --- Saved tables -------------------------------------------------------------------------------------


def test_json_is_what_evaluate_gives_and_the_same_twice(run: Any, saved: str) -> None:
    args = ["evaluate", saved, "--prior", "0.3..0.4", "--population", "unlabeled", "--threshold", "0.5"]
    status, out, err = run(*args, *FEW, "--format", "json")
    evidence = ht.PositiveUnlabeled.from_table(EVIDENCE.table, prior=(0.3, 0.4), population="unlabeled")
    expected = ht.evaluate(evidence, threshold=0.5, n_resamples=50)
    assert status == 0
    assert out == json.dumps(expected.to_dict(), indent=2, ensure_ascii=False) + "\n"
    *said, asked = err.replace("--selection 1.5", "selection=1.5").splitlines()
    assert said == [line for line in str(expected).splitlines() if line.startswith("Note: ")]
    assert asked == f"Note: {QUESTION}".replace("--selection 1.5", "selection=1.5")
    assert run(*args, *FEW, "--format", "json") == (status, out, err)


def test_table_has_its_notes_on_stderr(run: Any, saved: str) -> None:
    status, out, err = run("evaluate", saved, *FEW)
    assert status == 0
    assert "Note" not in out
    assert "\x1b" not in out
    assert "No prior was given" in err
    assert {line.partition(":")[0] for line in err.splitlines()} == {"Note"}


def test_all_settings_reach_the_library(run: Any, saved: str) -> None:
    args = "--purity 0.9 --prior 0.3 --metrics roc_auc --metrics brier --confidence-level 0.8 --rng 7"
    args += " --method basic --stratified --format json --population unlabeled"
    out = run("evaluate", saved, *FEW, *args.split())[1]
    evidence = ht.PositiveUnlabeled.from_table(EVIDENCE.table, prior=0.3, purity=0.9, population="unlabeled")
    expected = ht.evaluate(
        evidence,
        ["roc_auc", "brier"],
        n_resamples=50,
        confidence_level=0.8,
        rng=7,
        method="basic",
        stratified=True,
    )
    assert json.loads(out) == expected.to_dict()


def test_saved_tables_merge(run: Any, saved: str, tmp_path: Path) -> None:
    another = shutil.copy(saved, tmp_path / "another.npz")
    out = run("evaluate", saved, str(another), *FEW, "--format", "json")[1]
    assert json.loads(out)["evidence"] == "PositiveUnlabeled(120 positive, 600 unlabeled)"


def test_saved_tables_of_every_kind(run: Any, tmp_path: Path) -> None:
    kinds = {
        "labeled": ht.Labeled([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.1]),
        "soft": ht.SoftLabeled([0.9, 0.4, 0.6, 0.1]),
        "confidence": ht.PositiveConfidence([1.0, 0.5, 0.25, 0.25]),
    }
    for name, evidence in kinds.items():
        path = tmp_path / f"{name}.npz"
        evidence.table.save(path)
        out = run("evaluate", str(path), *FEW, "--format", "json")[1]
        assert json.loads(out) == ht.evaluate(evidence, n_resamples=50).to_dict()
    status, _, err = run("evaluate", str(tmp_path / "labeled.npz"), "--prior", "0.3")
    assert (status, "--prior says nothing" in err) == (2, True)


@pytest.mark.parametrize("option", [["--zeros", "negative"], ["--by", "month"], ["--weight", "w"]])
def test_a_saved_table_has_no_columns(run: Any, saved: str, option: list[str]) -> None:
    status, _, err = run("evaluate", saved, *option)
    assert status == 2
    assert f"{option[0]} is about the columns of a file" in err


# --- Gates --------------------------------------------------------------------------------------------


def test_gates_read_and_print() -> None:
    assert Gate.read("roc_auc>=0.9") == Gate("roc_auc", "value", ">=", 0.9)
    assert Gate.read(" brier.high < 1e-1 ") == Gate("brier", "high", "<", 0.1)
    assert str(Gate.read("roc_auc.low>=.85")) == "roc_auc.low>=0.85"


@pytest.mark.parametrize(
    "text", ["", "roc_auc", "roc_auc>=", ">=0.9", "roc_auc=0.9", "roc_auc==1", "roc_auc=>1", "a b>1"]
)
def test_malformed_gates(run: Any, text: str) -> None:
    status, out, err = run("evaluate", "there-is-no-such-file.csv", "--require", text)
    assert (status, out) == (2, "")
    assert "--require must read like" in err


@pytest.mark.parametrize("text", ["roc_auc>x", "roc_auc>nan", "roc_auc>inf", "roc_auc.middle>1"])
def test_gates_on_what_is_no_number(text: str) -> None:
    with pytest.raises(ht.InputError, match="--require must read like"):
        Gate.read(text)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--require", "rocauc>=0.9"], "Did you mean 'roc_auc'?"),
        (["--require", "f1>=0.9"], "f1 needs --threshold"),
        (["--require", "brier<=0.9", "--metrics", "roc_auc"], "not among --metrics roc_auc"),
    ],
)
def test_gates_on_rows_that_will_not_be(run: Any, args: list[str], message: str) -> None:
    status, _, err = run("evaluate", "there-is-no-such-file.csv", *args)
    assert status == 2
    assert message in err


def test_a_gate_on_a_row_that_turns_out_missing() -> None:
    with pytest.raises(ht.InputError, match="the result has no row brier, only roc_auc, recall"):
        judge_results([Gate.read("brier<1")], {"": KNOWN})


@pytest.mark.parametrize(
    ("gates", "status"),
    [
        (["roc_auc>=0.5", "roc_auc.low>0", "roc_auc.high<=1.5", "roc_auc.naive<1"], 0),
        (["roc_auc>=0.5", "roc_auc>=2"], 1),
        (["roc_auc.low>2", "recall<0", "roc_auc>0"], 1),
    ],
)
def test_every_failed_gate_is_named(
    capsys: pytest.CaptureFixture[str], gates: list[str], status: int
) -> None:
    assert judge_results([Gate.read(text) for text in gates], {"": KNOWN}) == status
    out, err = capsys.readouterr()
    failed = [text for text in gates if text.endswith(("=2", ">2", "recall<0"))]
    assert out == ""
    lines = [line for line in err.splitlines() if not line.startswith("Passed: ")]
    for line, text in zip(lines, failed, strict=True):
        assert line.startswith(f"Failed: {Gate.read(text)}: ")


def test_gates_are_exact_at_their_limit() -> None:
    value = KNOWN["roc_auc"].value
    status = {sign: Gate("roc_auc", "value", sign, value).judge(KNOWN)[0] for sign in (">=", ">", "<=", "<")}
    assert status == {">=": 0, ">": 1, "<=": 0, "<": 1}


def test_a_gate_without_a_value(capsys: pytest.CaptureFixture[str]) -> None:
    assert judge_results([Gate.read("roc_auc>=0.1")], {"": UNKNOWN}) == 3
    assert "Not identifiable: roc_auc>=0.1: roc_auc has no value; all that is known is" in (
        capsys.readouterr().err
    )
    # The low end of the range holds whatever the prior, so a gate on it can be decided.
    assert judge_results([Gate.read("roc_auc.low>=0.1")], {"": UNKNOWN}) == 0
    assert judge_results([Gate.read("roc_auc>=0.1")], {"a": UNKNOWN, "b": KNOWN}) == 3
    assert judge_results([Gate.read("roc_auc>=2")], {"a": UNKNOWN, "b": KNOWN}) == 1
    assert "Failed: b: roc_auc>=2" in capsys.readouterr().err


def test_statuses_of_gates_in_a_process(saved: str) -> None:
    held = process("evaluate", saved, *FEW, "--prior", "0.3", "--require", "roc_auc>=0.5")
    failed = process("evaluate", saved, *FEW, "--prior", "0.3", "--require", "roc_auc>=0.999")
    open_ = process("evaluate", saved, *FEW, "--require", "roc_auc>=0.5")
    assert [x.returncode for x in (held, failed, open_)] == [0, 1, 3]
    assert held.stdout == failed.stdout
    assert "Failed: roc_auc>=0.999: roc_auc is 0." in failed.stderr


# --- Formats ------------------------------------------------------------------------------------------


def views(results: Iterable[ht.Evaluation], names: Iterable[str], by: str) -> StrictView:
    return view_of(dict(zip(names, map(EvaluationView, results), strict=True)), by)


def grouped(*names: str) -> StrictView:
    return views([KNOWN if i % 2 == 0 else UNKNOWN for i in range(len(names))], names, "month")


def test_csv_holds_every_digit() -> None:
    rows = list(csv.DictReader(io.StringIO(render(EvaluationView(KNOWN), "csv"))))
    assert [row["metric"] for row in rows] == ["roc_auc", "recall"]
    for row in rows:
        known = KNOWN[row["metric"]]
        assert tuple(float(row[column]) for column in ("value", "low", "high")) == known.shown
        raw = (known.value, known.low, known.high)
        assert tuple(float(row[f"raw_{column}"]) for column in ("value", "low", "high")) == raw
        assert float(row["naive"]) == known.naive
    unknown = next(csv.DictReader(io.StringIO(render(EvaluationView(UNKNOWN), "csv"))))
    assert unknown["value"] == ""


def test_csv_of_groups_is_inert() -> None:
    hostile = [HOSTILE, "+1", "-1", "@x", "\tx", "\rx", 'a,"b"\n', ESCAPES]
    rows = list(csv.DictReader(io.StringIO(render(grouped(*hostile), "csv"))))
    groups = list(dict.fromkeys(row["month"] for row in rows))
    assert groups[:6] == [f"'{HOSTILE}", "'+1", "'-1", "'@x", "'\\tx", "'\\rx"]
    assert groups[6] == 'a,"b"\\n'
    assert "\x1b" not in groups[7]
    header = render(views([KNOWN], "a", HOSTILE), "csv").splitlines()[0]
    assert header.startswith(f"'{HOSTILE},metric,")


def test_json_of_groups() -> None:
    out = render(grouped("2024-01", ESCAPES), "json")
    found = json.loads(out)
    assert list(found) == ["schema", "by", "status", "reason", "groups"]
    assert (found["schema"], found["by"]) == (1, "month")
    assert found["groups"] == {"2024-01": KNOWN.to_dict(), ESCAPES: UNKNOWN.to_dict()}
    assert "\x1b" not in out


def test_a_plain_table_is_what_python_prints() -> None:
    for result in (KNOWN, UNKNOWN):
        assert plain(EvaluationView(result)) == str(result).partition("\n\nNote: ")[0] + "\n"


def test_tables_of_groups() -> None:
    lines = render(grouped("1", ESCAPES), "table").splitlines()
    assert lines[:2] == ["month = 1", "=" * len("month = 1")]
    assert f"month = {visible(ESCAPES)}" in lines
    assert sum(line.startswith("roc_auc") for line in lines) == 2


def test_markdown() -> None:
    text = render(grouped("1", ESCAPES), "markdown")
    assert text.startswith("### month = 1\n\n")
    assert "| metric | naive | halftruth | 95% interval |\n|:---|---:|---:|---:|\n| roc_auc |" in text
    assert r"month = \[red\]\\x1b\[31mx\\x1b\]0;owned\\x07\\u202e\</script\>\\r\\n\|\`" in text


def test_notes_of_groups_are_said_once() -> None:
    notes = grouped("1", "2", "3").notes()
    scar = [note for note in notes if "SCAR" in note]
    (assumed,) = scar
    assert assumed.startswith("Assumes that the known positives are a random sample of all positives (SCAR).")
    assert any(note.startswith("month = 2: No prior was given") for note in notes)
    many = views([*[UNKNOWN] * 5, KNOWN], "abcdef", "g").notes()
    assert any(note.startswith("g = a, g = b, g = c and 2 more: No prior was given") for note in many)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_terminal_gets_colors_and_whole_numbers(saved: str) -> None:
    import pty

    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "halftruth", "evaluate", saved, *FEW, "--prior", "0.3"]
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "20"}
    environment.pop("NO_COLOR", None)
    done = subprocess.run(command, stdout=theirs, stderr=subprocess.DEVNULL, env=environment, check=False)
    os.close(theirs)
    text = os.read(ours, 100_000).decode()
    os.close(ours)
    assert done.returncode == 0
    assert "\x1b[1m" in text
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    expected = ht.evaluate(ht.PositiveUnlabeled.from_table(EVIDENCE.table, prior=0.3), n_resamples=50)
    for name, row in expected.items():
        found = next(line for line in plain.splitlines() if line.strip().startswith(name))
        value, low, high = row.shown
        assert f"{value:.3f}" in found
        assert f"{low:.3f} to {high:.3f}" in found


def test_rich_takes_no_markup_from_names(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    text = render(grouped(ESCAPES, "[bold]x[/bold]"), "table")
    assert "month = [bold]x[/bold]" in text
    assert visible(ESCAPES) in text


def test_populations_are_the_library_s() -> None:
    from halftruth.evidence._positive_unlabeled import POPULATIONS

    assert set(Population) == set(POPULATIONS)


# --- What a new user meets ------------------------------------------------------------------------------


def test_an_option_that_takes_one_value_is_not_repeated(run: Any, saved: str) -> None:
    status, out, err = run("evaluate", saved, "--prior", "0.3", "--prior=0.4")
    assert (status, out) == (2, "")
    assert "--prior was given 2 times; it takes one value." in err
    status, _, err = run("evaluate", saved, "--score", "a", "--score", "b")
    assert status == 2
    assert "use: halftruth compare" in err


@pytest.mark.parametrize("gate", ["roc_auc>=0.9", "roc_auc.low>=0.9", "roc_auc<=0.9"])
def test_no_gate_is_decided_by_a_prior_that_the_data_refute(run: Any, saved: str, gate: str) -> None:
    status, _, err = run(
        "evaluate", saved, "--prior", "0.9", "--population", "unlabeled", "--require", gate, *FEW
    )
    assert status == 3
    assert "the data refute what was given, so its numbers decide nothing. The prior is refuted by" in err


def test_no_gate_is_decided_by_an_impossible_value() -> None:
    beyond = Estimate(value=1.2, low=1.1, high=1.3, limits=(0.0, 1.0))
    result = replace(KNOWN, rows={"roc_auc": beyond}, notes=())
    assert result["roc_auc"].status == "impossible"
    status, why = Gate.read("roc_auc>=0.5").judge(result)
    assert status == 3
    assert "not possible" in why


def test_gates_judge_what_is_shown() -> None:
    """Noise carries a value and an end beyond what is possible: people read 1, and so does a gate."""
    result = replace(KNOWN, rows={"roc_auc": Estimate(value=1.02, low=0.9, high=1.08, limits=(0.0, 1.0))})
    assert result["roc_auc"].status == "ok"
    for gate in ("roc_auc<=1", "roc_auc.high<=1", "roc_auc>=1"):
        assert Gate.read(gate).judge(result)[0] == 0
    assert Gate.read("roc_auc>1").judge(result) == (1, "roc_auc is 1.")
    assert list(EvaluationView(result).objections()) == []


def test_what_the_library_calls_arguments_are_options_here(run: Any, saved: str) -> None:
    _, _, err = run("evaluate", saved, "--prior", "0.3", "--metrics", "precision")
    assert "Pass --threshold, on the scale" in err
    _, _, err = run("evaluate", saved, "--prior", "0.01")
    assert err.startswith("Error: --prior must lie in [")
    assert "pass --population unlabeled if" in err


def test_the_demo_saves_csv_only(run: Any, tmp_path: Path) -> None:
    status, out, err = run("demo", "--save", str(tmp_path / "a.parquet"))
    assert (status, out) == (2, "")
    assert "must end in .csv" in err
    assert list(tmp_path.iterdir()) == []


def test_too_few_resamples_are_noted(run: Any, saved: str) -> None:
    _, _, err = run("evaluate", saved, "--prior", "0.3", "--metrics", "roc_auc", "--n-resamples", "5")
    assert "Only 5 resample(s): intervals are rough" in err


def test_json_shows_no_control_characters() -> None:
    view = views([KNOWN], [ESCAPES], "g\x9b")
    text = render(view, "json")
    assert all(x.isprintable() or x == "\n" for x in text)
    assert list(json.loads(text)["groups"]) == [ESCAPES]
