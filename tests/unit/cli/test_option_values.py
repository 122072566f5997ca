"""Metrics with parameters on the command line: literals only, and errors that say what there is."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import halftruth as ht
from halftruth.cli._gates import Gate
from halftruth.cli._option_values import parse_metric, parse_metrics, row_label
from halftruth.simulate import GaussianClasses

EVIDENCE = GaussianClasses(prior=0.3).positive_unlabeled(60, 300, rng=0)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("metrics") / "table.npz"
    EVIDENCE.table.save(path)
    return str(path)


@pytest.fixture
def run(run: Any) -> Any:
    return lambda *args: run(*args, "--n-resamples", "50")


def test_names_alone_stay_names() -> None:
    assert parse_metrics(None) is None
    assert parse_metrics(["roc_auc, brier", "f1"]) == ["roc_auc", "brier", "f1"]
    assert parse_metrics(["partial_auc()"]) == ["partial_auc"]


@pytest.mark.parametrize(
    ("text", "label", "name", "keywords"),
    [
        ("partial_auc(max_fpr=0.1)", "partial_auc(max_fpr=0.1)", "partial_auc", {"max_fpr": 0.1}),
        (" recall_at_k ( k = 100 ) ", "recall_at_k(k=100)", "recall_at_k", {"k": 100}),
        ("precision(threshold=.7)", "precision(threshold=0.7)", "precision", {"threshold": 0.7}),
        (
            "calibration_error(n_bins=15,binning=width,debias=True)",
            "calibration_error(n_bins=15, binning='width', debias=True)",
            "calibration_error",
            {"n_bins": 15, "binning": "width", "debias": True},
        ),
        (
            'ks_calibration_error(statistic="ks")',
            "ks_calibration_error(statistic='ks')",
            "ks_calibration_error",
            {"statistic": "ks"},
        ),
        ("recall(threshold=-1)", "recall(threshold=-1)", "recall", {"threshold": -1}),
        (
            "calibration_error(norm=2.0, n_bins=10.0)",
            "calibration_error(n_bins=10, norm=2)",
            "calibration_error",
            {"n_bins": 10, "norm": 2},
        ),
    ],
)
def test_parameters(text: str, label: str, name: str, keywords: dict[str, Any]) -> None:
    from halftruth._registry import REGISTRY

    found = parse_metrics([f"roc_auc,{text}"])
    assert isinstance(found, dict)
    assert list(found) == ["roc_auc", label]
    assert found["roc_auc"] == "roc_auc"
    assert found[label].func is REGISTRY[name].function
    assert found[label].keywords == keywords
    assert row_label(label) == label


@pytest.mark.parametrize(
    "text",
    [
        "partial_auc(0.1)",
        "partial_auc(max_fpr=0.1",
        "partial_auc(max_fpr=0.1))",
        "partial_auc(max_fpr=0.1)(1)",
        "partial_auc(max_fpr=)",
        "partial_auc(**{'max_fpr': 1})",
        "partial_auc(*[1])",
        "partial_auc(max_fpr=[1])",
        "partial_auc(max_fpr={})",
        "partial_auc(max_fpr=1+1)",
        "partial_auc(max_fpr=__import__('os').system('true'))",
        "partial_auc(max_fpr=(lambda: 1)())",
        "partial_auc(max_fpr=open)or(1)",
        "partial_auc(max_fpr=0.1 # )",
        "partial_auc(max_fpr=" + "(" * 5000 + ")" * 5000 + ")",
        "(max_fpr=1)",
    ],
)
def test_nothing_is_evaluated(text: str) -> None:
    with pytest.raises(ht.InputError, match="--metrics must read like roc_auc or 'partial_auc"):
        parse_metrics([text])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "partial_auc(max_fp=1)",
            "partial_auc has no parameter 'max_fp'; it takes max_fpr, standardize. Write",
        ),
        ("roc_auc(k=1)", "roc_auc has no parameter 'k'; it takes none. Write roc_auc."),
        ("recall_at_k", "recall_at_k needs k; it takes k. Write e.g. 'recall_at_k(k=0.2)'."),
        ("partial_auc(max_fpr=.1, max_fpr=.2)", "partial_auc was given 'max_fpr' twice"),
        ("rocauc(k=1)", "There is no metric 'rocauc'. Did you mean 'roc_auc'?"),
        ("roc_auc,roc_auc", "--metrics names roc_auc more than once"),
        (
            "partial_auc(max_fpr=0.1),partial_auc( max_fpr=.1 )",
            "names partial_auc(max_fpr=0.1) more than once",
        ),
        (
            "calibration_error(n_bins=10,norm=2),calibration_error(norm=2,n_bins=10.0)",
            "names calibration_error(n_bins=10, norm=2) more than once",
        ),
        ("partial_auc(max_fpr=7)", "--metrics partial_auc(max_fpr=7): `max_fpr` must lie in (0, 1], got 7."),
        ("calibration_error(norm=7)", "--metrics calibration_error(norm=7): `norm` must be 1, 2"),
        ("calibration_error(n_bins=1e8)", "(n_bins=100000000): n_bins must be at most 10,000."),
        ("recall_at_k(k=-3)", "--metrics recall_at_k(k=-3): k must be a number of cases from 1, or a"),
        ("recall_at_k(k=2.5)", "or a fraction in (0, 1), got 2.5."),
        ("", "--metrics names no metric."),
        (" , ", "--metrics names no metric."),
        ("precision", "Pass --threshold"),
        ("fbeta(beta=2)", "Pass --threshold"),
    ],
)
def test_errors_say_what_there_is_before_a_file_is_read(run: Any, text: str, message: str) -> None:
    status, out, err = run("evaluate", "there-is-no-such-file.csv", "--metrics", text)
    assert (status, out) == (2, "")
    assert message in err


def test_more_cases_than_there_are(run: Any, saved: str) -> None:
    status, out, err = run("evaluate", saved, "--prior", "0.3", "--metrics", "recall_at_k(k=5000)")
    assert (status, out) == (2, "")
    assert "got 5000" in err


def test_all_bins_that_are_taken_are_tried_cheaply() -> None:
    assert parse_metric("calibration_error(n_bins=10000, debias=posterior)").label == (
        "calibration_error(n_bins=10000, debias='posterior')"
    )


def test_rows_are_what_python_gives(run: Any, saved: str) -> None:
    asked = "roc_auc,partial_auc(max_fpr=0.2),recall_at_k(k=30),precision(threshold=0.9)"
    args = ["evaluate", saved, "--prior", "0.3", "--population", "unlabeled", "--metrics", asked]
    status, out, _ = run(*args, "--format", "json")
    evidence = ht.PositiveUnlabeled.from_table(EVIDENCE.table, prior=0.3, population="unlabeled")
    rows = {
        "roc_auc": "roc_auc",
        "partial_auc(max_fpr=0.2)": partial(ht.partial_auc, max_fpr=0.2),
        "recall_at_k(k=30)": partial(ht.recall_at_k, k=30),
        "precision(threshold=0.9)": lambda measure: ht.confusion(measure, 0.9).precision,
    }
    expected = ht.evaluate(evidence, rows, n_resamples=50)
    found = json.loads(out)["metrics"]
    assert status == 0
    assert list(found) == list(rows)
    for label, row in found.items():
        assert row["value"] == pytest.approx(expected[label].value, rel=1e-12)
    assert found["partial_auc(max_fpr=0.2)"]["low"] == expected["partial_auc(max_fpr=0.2)"].low


def test_gates_name_a_row_by_its_label(run: Any, saved: str) -> None:
    args = ["evaluate", saved, "--prior", "0.3", "--metrics", "partial_auc(max_fpr=0.2)"]
    assert run(*args, "--require", "partial_auc( max_fpr = .2 )>=0")[0] == 0
    status, _, err = run(*args, "--require", "partial_auc(max_fpr=0.2).low>=2")
    assert status == 1
    assert "Failed: partial_auc(max_fpr=0.2).low>=2.0: " in err
    for gate, message in (
        ("partial_auc>=0", "partial_auc is not among --metrics partial_auc(max_fpr=0.2). Add it."),
        ("partial_auc(max_fp=1)>=0", "has no parameter 'max_fp'"),
    ):
        status, out, err = run(*args, "--require", gate)
        assert (status, out) == (2, "")
        assert message in err
    status, _, err = run("evaluate", saved, "--require", "recall_at_k(k=5)>0")
    assert status == 2
    assert "pass --metrics 'recall_at_k(k=5)' too" in err


def test_gates_keep_labels_in_one_form() -> None:
    assert Gate.read("recall_at_k(k= 5).low>.1") == Gate("recall_at_k(k=5)", "low", ">", 0.1)
    assert Gate.read("a b,c:roc_auc>=0") == Gate("roc_auc", "value", ">=", 0.0, "a b,c")


def test_compare_takes_them_too(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    rows = [f"{i / 40},{(i * 7 % 40) / 40},{int(i > 20)}" for i in range(40)]
    path.write_text("\n".join(["a,b,label", *rows]) + "\n")
    args = ["compare", str(path), "--score", "a", "--score", "b", "--zeros", "negative"]
    gate = "recall_at_k(k=10)>0"
    status, out, _ = run(*args, "--metrics", "recall_at_k(k=10)", "--require", gate, "--format", "json")
    assert status == 0
    assert list(json.loads(out)["pairs"][0]["metrics"]) == ["recall_at_k(k=10)"]
