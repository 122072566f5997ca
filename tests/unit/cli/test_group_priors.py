"""Groups with priors of their own, and what is said where they were taken to have one."""

from __future__ import annotations

import csv
import html
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr

import halftruth as ht
from halftruth.cli._group_priors import GroupShares
from halftruth.cli._options import Population, ShareOptions

PRIORS = {"a": 0.05, "b, south": 0.1, "c=d": 0.2}
OWN = 'a=0.05,"b, south=0.1",c=d=0.2'
AUC = float(ndtr(2 / np.sqrt(2)))  # scores are normal, positives two standard deviations higher
FEW = ["--metrics", "roc_auc", "--n-resamples", "200"]
ONE = "One prior, π = 0.08 to 0.12, was taken for every site."
UNLIKE = "Known positives are "


def frame(priors: dict[str, float], n: int = 6000) -> pd.DataFrame:
    """As many rows of each site, three positives in ten known everywhere."""
    rng = np.random.default_rng(5)
    site = np.repeat(list(priors), n)
    y = rng.random(len(site)) < np.repeat(list(priors.values()), n)
    known = np.where(y & (rng.random(len(y)) < 0.3), 1, np.nan)
    return pd.DataFrame({"score": rng.normal(2.0 * y).round(4), "label": known, "site": site})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("groups")
    frame(PRIORS).to_csv(path / "sites.csv", index=False)
    frame(dict.fromkeys("xyz", 0.1)).to_csv(path / "alike.csv", index=False)
    for name, rows in frame(PRIORS).groupby("site"):
        rows.to_csv(path / f"{name[0]}.csv", index=False)
    return path


@pytest.fixture
def run(run: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(folder)
    return run


def evaluate(run: Any, *args: str) -> Any:
    return run("evaluate", "sites.csv", "--by", "site", *args, *FEW)


# --- One prior for all ----------------------------------------------------------------------------------


@pytest.mark.parametrize("style", ["table", "markdown", "csv", "json"])
def test_one_prior_for_all_is_said_in_every_output(run: Any, folder: Path, style: str) -> None:
    status, out, err = evaluate(run, "--prior", "0.08..0.12", "--format", style, "--html", "page.html")
    assert status == 0
    shares = frame(PRIORS).label.notna().groupby(frame(PRIORS).site).mean()
    figures = f"{shares['a']:.2%} of site = a and {shares['c=d']:.2%} of site = c=d"
    assert f"Note: {ONE}\n" in err
    assert f"Note: {UNLIKE}{figures}" in err
    page = (folder / "page.html").read_text("utf-8")
    assert (ONE in page, UNLIKE in page) == (True, True)
    if style == "csv":
        rows = list(csv.DictReader(io.StringIO(out)))
        assert [row["prior_source"] for row in rows] == ["one for every site"] * 3
        assert [round(float(row["prior_high"]), 9) for row in rows] == [0.12] * 3
    elif style == "json":
        found = json.loads(out)
        assert found["notes"][0] == ONE
        assert found["note_kinds"] == ["prior", "contradiction"]
        assert found["priors"]["a"]["prior_source"] == "one for every site"
    else:
        assert out.startswith(f"{ONE}{'  ' if style == 'markdown' else ''}\n{UNLIKE}{figures}")


def test_one_prior_misses_the_truth_that_own_priors_hold(run: Any) -> None:
    def intervals(prior: str) -> dict[str, Any]:
        groups = json.loads(evaluate(run, "--prior", prior, "--format", "json")[1])["groups"]
        return {name: group["metrics"]["roc_auc"] for name, group in groups.items()}

    assert intervals("0.08..0.12")["c=d"]["high"] < AUC
    for auc in intervals(OWN).values():
        assert auc["low"] < AUC < auc["high"]


def test_groups_that_are_alike_bring_no_warning(run: Any) -> None:
    for prior, lines in (("0.1", ["One prior, π = 0.1, was taken for every site."]), ("estimate", None)):
        found = json.loads(
            run("evaluate", "alike.csv", "--by", "site", "--prior", prior, *FEW, "--format", "json")[1]
        )
        assert found["notes"] == (lines or ["The prior was estimated for each site by itself."])


@pytest.mark.parametrize(
    ("options", "texts"),
    [
        (
            {"prior": "0.1", "purity": "0.9"},
            ["One prior, π = 0.1 and one purity, ρ = 0.9, were taken", UNLIKE],
        ),
        ({"prior": "0.1", "population": Population.unlabeled}, ["One prior, π = 0.1, was taken"]),
        ({"prior": "estimate"}, ["The prior was estimated for each site by itself."]),
        (
            {"prior": "estimate", "labeled_sample": "7/50"},
            ["The prior was estimated", "One labeled sample, 7/50, was taken for every site.", UNLIKE],
        ),
        ({"prior": "estimate", "within": "0.1..0.2"}, ["The prior", "One range of α, 0.1 to 0.2, was taken"]),
        ({}, []),
        ({"prior": OWN}, []),
    ],
)
def test_whatever_is_one_for_all_is_said(folder: Path, options: dict[str, Any], texts: list[str]) -> None:
    tables = ht.ScoreTable.from_file(folder / "sites.csv", by="site")
    notes = list(GroupShares.read(ShareOptions(**options), "site").remarks(tables))
    assert len(notes) == len(texts)
    assert all(note.startswith(text) for note, text in zip(notes, texts, strict=True))
    assert list(GroupShares.read(ShareOptions(**options), None, models=True).remarks(tables)) == []


def test_known_shares_differ_at_one_percent() -> None:
    """χ² of two groups passes 6.63 between 62 and 63 of 1,000 against 100."""

    def warns(*counts: tuple[int, int]) -> bool:
        tables = {
            str(i): ht.PositiveUnlabeled(np.ones(known), np.zeros(n - known), prior=0.5).table
            for i, (known, n) in enumerate(counts)
        }
        shares = GroupShares.read(ShareOptions(prior="0.5"), "g")
        return any(note.kind == "contradiction" for note in shares.remarks(tables))

    p = (100 + np.arange(50, 80)) / 2000
    chi2 = 2 * (100 - 1000 * p) ** 2 / (1000 * p * (1 - p))
    least = int(np.arange(50, 80)[chi2 < 6.6349][0])
    assert warns((100, 1000), (least - 1, 1000))
    assert not warns((100, 1000), (least, 1000))
    # Few rows, where χ² does not hold: one in five is no sign.
    assert not warns((100, 10_000), (100, 10_000), (1, 5))
    assert not warns((100, 1000))


def test_a_prior_refuted_in_one_group_is_doubted_in_the_others(run: Any, folder: Path) -> None:
    """Known positives are as frequent everywhere, as in folds, and the share of positives is not."""
    rng, fold = np.random.default_rng(3), np.repeat(["first", "last"], 4000)
    y = rng.random(8000) < np.where(fold == "first", 0.55, 0.05)
    known = y & (rng.random(8000) < np.where(fold == "first", 0.04 / 0.55, 0.04 / 0.05))
    frame = pd.DataFrame({"score": rng.normal(2.0 * y), "label": np.where(known, 1, np.nan), "fold": fold})
    frame.to_csv(folder / "folds.csv", index=False)
    doubt = "The data refute the prior or the purity in fold = 'last'. A prior that is right for all rows"
    args = ["evaluate", "folds.csv", "--by", "fold", *FEW, "--format", "json"]
    status, out, err = run(*args, "--prior", "0.3", "--html", "folds.html")
    found = json.loads(out)
    assert (status, found["note_kinds"]) == (0, ["prior", "contradiction"])
    assert {name: group["status"] for name, group in found["groups"].items()} == {
        "first": "ok",
        "last": "refuted",
    }
    assert found["groups"]["first"]["metrics"]["roc_auc"]["high"] < AUC  # wrong, and it cannot know that
    page = html.unescape((folder / "folds.html").read_text("utf-8"))
    assert all(doubt in text for text in (found["notes"][1], err, page))
    # Where each has its own, or all are refuted alike, nothing is to be said of the others.
    for prior in ("first=0.55,last=0.3", "0.9"):
        assert "do not rely on theirs either" not in run(*args, "--prior", prior)[2]


# --- One for each ---------------------------------------------------------------------------------------


def test_each_group_has_its_own(run: Any) -> None:
    own = 'a=0.05,"b, south=0.08..0.12",c=d=estimate'
    status, out, err = evaluate(run, "--prior", own, "--format", "json")
    assert status == 0
    assert ONE not in err
    assert UNLIKE not in err
    found = json.loads(out)
    tables = ht.ScoreTable.from_file("sites.csv", by="site")
    priors: list[Any] = [0.05, (0.08, 0.12), "estimate"]
    for (name, table), prior in zip(tables.items(), priors, strict=True):
        evidence = ht.PositiveUnlabeled.from_table(table, prior=prior, population="all")
        alone = ht.evaluate(evidence, ["roc_auc"], n_resamples=200)
        assert found["groups"][name] == alone.to_dict()
        assert found["priors"][name]["prior"] == alone.prior.value
    assert [x["prior_source"].split()[0] for x in found["priors"].values()] == ["given", "given", "estimated"]
    rows = list(csv.DictReader(io.StringIO(evaluate(run, "--prior", own, "--format", "csv")[1])))
    for row in rows:
        assert float(row["prior"]) == found["priors"][row["site"]]["prior"]
        assert float(row["prior_low"]) == found["priors"][row["site"]]["prior_low"]


def test_an_estimate_for_all_is_made_for_each(run: Any) -> None:
    found = json.loads(evaluate(run, "--prior", "estimate", "--format", "json")[1])
    used = [x["prior"] for x in found["priors"].values()]
    for name, table in ht.ScoreTable.from_file("sites.csv", by="site").items():
        evidence = ht.PositiveUnlabeled.from_table(table, prior="estimate", population="all")
        assert found["groups"][name]["prior"]["value"] == ht.evaluate(evidence, ["roc_auc"]).prior.value
    assert used[0] < used[1] < used[2]


def test_what_is_known_besides_goes_with_the_estimates(run: Any) -> None:
    own = 'a=0.05,"b, south=0.1",c=d=estimate'
    found = json.loads(evaluate(run, "--prior", own, "--within", "0.1..0.12", "--format", "json")[1])
    assert found["groups"]["c=d"]["alpha"]["value"] <= 0.12
    assert found["priors"]["a"]["prior"] == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("prior", "text"),
    [
        ("a=0.05,c=d=0.2", "--prior has no share for 'b, south'. Name every one"),
        (
            f"{OWN},e=0.1",
            "--prior names 'e', which is no value of the column 'site'. It must name 'a', 'b, s",
        ),
        ("a=0.05,0.2", "--prior must name each group once"),
        ("a=0.05,a=0.2", "--prior must name each group once"),
        ("a=0.05,c=x", "c: --prior must be a number such as 0.3"),
        ("a=0.05,c=1.2", "c: --prior must lie in (0, 1)"),
        ("a=estimate", "--prior has no share for 'b, south', 'c=d'"),
    ],
)
def test_wrong_names_and_shares_are_refused(run: Any, prior: str, text: str) -> None:
    status, out, err = evaluate(run, "--prior", prior)
    assert (status, out) == (2, "")
    assert text in err


def test_names_need_groups_or_samples(run: Any) -> None:
    status, _, err = run("evaluate", "sites.csv", "--prior", OWN)
    assert (status, "--prior NAME=SHARE is about groups" in err) == (2, True)
    args = ["compare", "a.csv", "c.csv", "--id", "site", "--prior", "a.csv=0.05,c.csv=0.2"]
    assert run(*args)[0] == 2
    status, _, err = evaluate(run, "--prior", OWN, "--within", "0.1..0.2")
    assert (status, "--within goes with --prior estimate" in err) == (2, True)


# --- A column of priors ---------------------------------------------------------------------------------

HOSTILE = 'p"); DROP TABLE x; --'


@pytest.fixture(scope="module")
def column(folder: Path) -> None:
    """Priors as text and as numbers, in files that the reader takes; the name of one column is SQL."""
    rows = frame(PRIORS)
    rows[HOSTILE] = rows.site.map({"a": "0.05", "b, south": " 0.08..0.12", "c=d": "estimate"})
    rows["number"] = rows.site.map(PRIORS)
    rows["text"] = np.where(np.arange(len(rows)) % 2, rows.number.astype(str), rows.number.astype(str) + "0")
    rows["mixed"] = np.where(rows.site == "a", np.arange(len(rows)) % 5 == 0, 0) * 0.1 + 0.1
    rows["gap"] = rows.number.where(rows.site != "c=d")
    rows["holes"] = rows.number.where(np.arange(len(rows)) % 3 > 0)
    rows["wrong"] = rows.site.map({"a": "0.05", "b, south": "5%", "c=d": "0.2"})
    rows.to_csv(folder / "priors.csv", index=False)
    rows.to_parquet(folder / "priors.parquet", index=False)


@pytest.mark.usefixtures("column")
def test_a_column_gives_each_group_its_prior(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    args = ["--by", "site", *FEW, "--format", "json"]
    named = json.loads(run("evaluate", "sites.csv", *args, "--prior", OWN)[1])
    for file, name in (("priors.csv", "number"), ("priors.csv", "text"), ("priors.parquet", "number")):
        status, out, err = run("evaluate", file, *args, "--prior-column", name)
        found = json.loads(out)
        assert (status, "taken for every" in err) == (0, False)
        assert found["groups"] == named["groups"]
        assert {x["prior_source"] for x in found["priors"].values()} == {f"column {name}"}
    # A stream is read twice; what a cell says of a prior is what --prior takes.
    with Path("priors.csv").open("rb") as stream:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(stream))
        status, out, _ = run("evaluate", "-", *args, "--prior-column", HOSTILE)
    kinds = {name: x["prior_source"].split()[0] for name, x in json.loads(out)["priors"].items()}
    assert (status, kinds) == (0, {"a": "column", "b, south": "column", "c=d": "estimated"})
    assert json.loads(out)["priors"]["b, south"]["prior_low"] == pytest.approx(0.08)


@pytest.mark.usefixtures("column")
@pytest.mark.parametrize(
    ("args", "text"),
    [
        (
            "--by site --prior-column mixed",
            "where site = a it holds both '0.1' and '0.2'. Write the same prior",
        ),
        ("--by site --prior-column gap", "where site = c=d it holds nothing."),
        ("--by site --prior-column holes", "where site = a it holds both empty cells and '0.05'."),
        ("--by site --prior-column wrong", "Column 'wrong', site = b, south: --prior must be a number"),
        ("--by site --prior-column there", "priors.csv has no column 'there'."),
        ("--prior-column number", "--prior-column holds the priors of groups: name the column of these"),
        ("--by site --prior-column number --prior 0.1", "and leave --prior out."),
        ("--by site --prior-column number --engine spark", "--prior-column reads files, and no --engine."),
    ],
)
def test_columns_that_give_no_priors(run: Any, args: str, text: str) -> None:
    status, out, err = run("evaluate", "priors.csv", *args.split(), *FEW)
    assert (status, out, text in err) == (2, "", True), err


# --- A threshold that a group cannot have ---------------------------------------------------------------


@pytest.mark.parametrize("style", ["table", "markdown", "csv", "json"])
def test_a_group_without_its_threshold_keeps_the_other_rows(run: Any, folder: Path, style: str) -> None:
    rng, site = np.random.default_rng(0), np.repeat(["a", "b"], [3000, 100])
    y = rng.random(3100) < 0.3
    rows = pd.DataFrame({"score": rng.normal(1.5 * y).round(3), "label": y.astype(int), "site": site})
    rows.to_csv(folder / "labels.csv", index=False)
    why = (
        "No threshold could be certified (confidence 0.95) to have precision>=0.85: to choose among many takes "
        "more rows than to judge one. Ask for less, give your own threshold, or get more rows."
    )
    metrics = "roc_auc,precision,recall,recall(threshold=1)"
    args = ["evaluate", "labels.csv", "--zeros", "negative", "--by", "site", "--threshold", "precision>=0.85"]
    args += ["--metrics", metrics, "--n-resamples", "50", "--format", style]
    status, out, err = run(*args, "--html", "labels.html")
    assert status == 0
    assert f"Note: site = b: precision, recall: {why}" in err
    assert "NOT EVALUATED" not in out
    if style == "csv":
        found = {row["metric"]: row for row in csv.DictReader(io.StringIO(out)) if row["site"] == "b"}
        assert [row["status"] for row in found.values()] == ["ok", "undefined", "undefined", "ok"]
        assert (found["precision"]["reason"], found["roc_auc"]["value"] != "") == (why, True)
    elif style == "json":
        group = json.loads(out)["groups"]["b"]
        assert (group["status"], group["threshold"]) == ("ok", None)
        assert (group["metrics"]["precision"]["value"], group["metrics"]["precision"]["reason"]) == (
            None,
            why,
        )
        alone = ht.evaluate(
            ht.Labeled(y[3000:], rows.score[3000:]), ["roc_auc"], n_resamples=50, threshold=None
        )
        assert group["metrics"]["roc_auc"]["value"] == alone["roc_auc"].value
    else:
        written = why.replace(">", "\\>") if style == "markdown" else why
        assert f"precision, recall: {written}" in out
    assert run(*args, "--strict")[0] == 3
    assert run(*args, "--require", "precision>=0.5")[0] == 3
    # With the rates alone there is nothing left to say of the group; without groups, of nothing.
    assert "NOT EVALUATED" in run(*(x.replace(metrics, "precision") for x in args[:-1]), "table")[1]
    rows[3000:].to_csv(folder / "b_labels.csv", index=False)
    status, _, err = run("evaluate", "b_labels.csv", *args[2:4], *args[6:])
    assert (status, err) == (3, f"Error: {why}\n")


# --- Comparisons ----------------------------------------------------------------------------------------


def test_samples_are_compared_each_at_its_own_prior(run: Any) -> None:
    args = ["compare", "a.csv", "c.csv", "--no-paired", *FEW, "--format", "json"]
    status, out, _ = run(*args, "--prior", "a.csv=0.05,c.csv=0.15..0.25")
    assert status == 0
    both = {
        name: ht.PositiveUnlabeled.from_table(ht.ScoreTable.from_file(name), prior=prior, population="all")
        for name, prior in (("a.csv", 0.05), ("c.csv", (0.15, 0.25)))
    }
    assert json.loads(out) == ht.compare(both, ["roc_auc"], paired=False, n_resamples=200).to_dict()
    status, _, err = run(*args, "--prior", "a.csv=0.05,x.csv=0.2")
    assert (status, "'x.csv', which is no model. It must name 'a.csv', 'c.csv'." in err) == (2, True)


def test_compared_groups_have_their_own_too(run: Any, folder: Path) -> None:
    rows = frame(PRIORS)
    rows.assign(other=rows.score + np.random.default_rng(1).normal(size=len(rows))).to_csv(
        folder / "two.csv", index=False
    )
    args = ["compare", "two.csv", "--score", "score", "--score", "other", "--by", "site", *FEW]
    out, err = run(*args, "--prior", OWN, "--format", "csv")[1:]
    found = {row["site"]: float(row["prior"]) for row in csv.DictReader(io.StringIO(out))}
    assert found == pytest.approx(PRIORS)
    assert "taken for every" not in err
    assert run(*args, "--prior", "0.1")[1].startswith("One prior, π = 0.1, was taken for every site.\nKnown")


# --- Groups of one file against each other --------------------------------------------------------------


@pytest.mark.usefixtures("column")
def test_groups_of_one_file_are_compared(run: Any, folder: Path) -> None:
    args = ["compare", "priors.csv", "--between", "site", *FEW]
    tables = ht.ScoreTable.from_file("priors.csv", by="site")
    own = {
        name: ht.PositiveUnlabeled.from_table(table, prior=PRIORS[name], population="all")
        for name, table in tables.items()
    }
    expected = ht.compare(own, ["roc_auc"], paired=False, n_resamples=200)
    for prior in (["--prior", OWN], ["--prior-column", "number"]):
        status, out, _ = run(*args, *prior, "--format", "json")
        found = json.loads(out)
        assert (status, found["pairs"]) == (0, expected.to_dict()["pairs"])
        assert {name: x["prior"] for name, x in found["priors"].items()} == pytest.approx(PRIORS)
    status, out, _ = run(*args, "--prior-column", "number", "--html", "between.html")
    assert out.startswith("π = 0.050 in a, 0.100 in b, south, 0.200 in c=d\n\na against b, south\n")
    assert "dominates" not in out
    assert (folder / "between.html").stat().st_size > 10_000
    rows = list(csv.DictReader(io.StringIO(run(*args, "--prior-column", "number", "--format", "csv")[1])))
    assert [(row["first"], row["second"]) for row in rows] == list(expected)
    assert float(rows[1]["second_prior"]) == pytest.approx(0.2)
    gate = ["--prior", OWN, "--require", "a,c=d:roc_auc>=-0.2", "--require", "c=d,a:roc_auc.low>=0.3"]
    assert run(*args, *gate)[0] == 1


def test_one_prior_of_groups_that_are_compared_is_said(run: Any, folder: Path) -> None:
    args = ["compare", "sites.csv", "--between", "site", "--prior", "0.08..0.12", *FEW]
    for style in ("table", "markdown"):
        assert run(*args, "--format", style)[1].startswith(ONE)
    status, out, err = run(*args, "--format", "json", "--html", "one.html")
    found = json.loads(out)
    assert (status, found["notes"][0], f"Note: {ONE}\n" in err) == (0, ONE, True)
    assert found["notes"][1].startswith(UNLIKE)
    assert len(found["notes"]) == len(found["note_kinds"])
    assert ONE in (folder / "one.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (["sites.csv", "--by", "site"], "goes without --by and --id, with one FILE and one --score."),
        (["a.csv", "c.csv"], "--between compares the groups of one file by one score"),
        (["sites.csv", "--score", "score", "--score", "label"], "--between compares the groups of one file"),
        (["a.csv"], "compares every pair of groups, of 2 to 12; the column has 1 value(s)."),
        (["sites.csv", "--prior", "a=0.1"], "--prior has no share for 'b, south', 'c=d'"),
        (["sites.csv", "--prior", "0.1", "--require", "a,b:roc_auc>0"], "there is no pair 'a,b'."),
    ],
)
def test_groups_that_are_not_compared(run: Any, args: list[str], text: str) -> None:
    status, out, err = run("compare", *args, "--between", "site", *FEW)
    assert (status, out, text in err) == (2, "", True), err


def test_too_many_groups_and_one_without_positives(run: Any, folder: Path) -> None:
    rows = frame(dict.fromkeys("xyz", 0.1), 100)
    rows.assign(site=np.arange(300) % 13).to_csv(folder / "many.csv", index=False)
    status, _, err = run("compare", "many.csv", "--between", "site", "--prior", "0.1")
    assert (status, "the column has 13 value(s). Keep the rows of some, or see each by evaluate" in err) == (
        2,
        True,
    )
    rows.assign(label=rows.label.where(rows.site != "y")).to_csv(folder / "lone.csv", index=False)
    status, _, err = run("compare", "lone.csv", "--between", "site", "--prior", "0.1")
    assert (status, err.startswith("Error: site = y: None of 100 row(s) has the label 1")) == (2, True)
