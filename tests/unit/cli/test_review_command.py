"""`halftruth plan-review` and `halftruth evaluate --reviewed`: the library's numbers, from files."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import halftruth as ht
from halftruth.evidence._review_files import ReviewFile

N = 600
RNG = np.random.default_rng(0)
SCORE = np.round(RNG.beta(0.6, 2.0, N), 4)
TRUTH = (RNG.random(N) < SCORE).astype(float)
FOUND = (TRUTH == 1) & (RNG.random(N) < 0.3)
PLAN = ("plan-review", "scores.csv", "--n", "80", "--metrics", "recall,precision", "--threshold", "0.5")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [f"{s},{int(f)}" for s, f in zip(SCORE, FOUND, strict=True)]
    (tmp_path / "scores.csv").write_text("\n".join(["score,found", *lines, ""]))
    return tmp_path


def fill(path, leave_out=0):
    first, head, *lines = path.read_text().splitlines()
    said = [f"{line}{int(TRUTH[int(line.split(',')[0])])}" for line in lines[leave_out:]]
    path.write_text("\n".join([first, head, *lines[:leave_out], *said, ""]))


def test_two_commands_give_the_numbers_of_the_library(run, folder):
    status, out, error = run(*PLAN, "--known-positive", "found", "--output", "to_review.csv")
    assert status == 0
    assert "80 of 600 rows" in out
    assert "row counts from 0" in error
    assert "--reviewed to_review.csv --known-positive found." in error
    fill(folder / "to_review.csv")
    words = ("--known-positive", "found", "--threshold", "0.5", "--format", "json")
    status, out, _ = run("evaluate", "scores.csv", "--reviewed", "to_review.csv", *words)
    assert status == 0
    plan = ht.plan_review(SCORE, 80, metrics=["recall", "precision"], threshold=0.5, known_positive=FOUND)
    evidence = ht.Reviewed.from_plan(plan, SCORE, TRUTH[plan.rows], known_positive=FOUND)
    expected = ht.evaluate(evidence, threshold=0.5)
    told = json.loads(out)["metrics"]
    for name in ("recall", "precision", "roc_auc"):
        assert told[name]["value"] == pytest.approx(expected[name].value, abs=1e-12)
        assert told[name]["low"] == pytest.approx(expected[name].low, abs=1e-12)


def test_a_plan_has_the_names_by_which_people_know_the_rows(run, folder):
    lines = [f"{s},case {k},{'a;b' if k % 2 else ''}" for k, s in enumerate(SCORE)]
    (folder / "scores.csv").write_text("\n".join(["score,id,note", *lines, ""]))
    run(*PLAN, "--output", "plain.csv")
    assert run(*PLAN, "--copy", "id", "--copy", "note", "--output", "named.csv")[0] == 0
    plain, named = (pd.read_csv(name, comment="#") for name in ("plain.csv", "named.csv"))
    assert named["id"].tolist() == [f"case {row}" for row in plain["row"]]
    assert named["note"].fillna("").tolist() == ["a;b" if row % 2 else "" for row in plain["row"]]
    assert named.drop(columns=["id", "note"]).equals(plain)
    fill(folder / "named.csv")
    assert len(ReviewFile.read("named.csv").rows) == 80


REFUSED = {
    "a column of plans": ("scores.csv --copy score", "--copy has 'score', a column of every plan"),
    "no such column": ("scores.csv --copy id", "no column 'id'"),
    "standard input": ("- --copy found", "standard input can be read once"),
    "a saved table": ("monday.npz", "monday.npz is a saved table"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_no_plan_can_be_made_of_is_refused(run, folder, case):
    words, message = REFUSED[case]
    status, out, error = run("plan-review", *words.split(), *PLAN[2:], "--output", "p.csv")
    assert (status, out) == (2, "")
    assert message in error
    assert not (folder / "p.csv").exists()


def test_copied_cells_are_one_for_each_row(tmp_path):
    plan = ht.plan_review(SCORE, 80)
    with pytest.raises(ht.InputError, match="for each of the 80 rows to review, got 600"):
        plan.save(tmp_path / "p.csv", copy={"id": range(N)})


def test_a_second_round_adds_to_the_first_in_any_order(run, folder):
    run(*PLAN, "--output", "one.csv")
    fill(folder / "one.csv")
    status, _, error = run(*PLAN, "--rng", "1", "--reviewed", "one.csv", "--output", "two.csv")
    assert status == 0
    assert "of this round alone if the earlier rounds are right" in error
    fill(folder / "two.csv")
    first, second = ReviewFile.read("one.csv"), ReviewFile.read("two.csv")
    assert (first.round, second.round) == (1, 2)
    assert not set(first.rows) & set(second.rows)
    outs = [
        run("evaluate", "scores.csv", "--reviewed", a, "--reviewed", b, "--format", "json")[1]
        for a, b in (("one.csv", "two.csv"), ("two.csv", "one.csv"))
    ]
    assert json.loads(outs[0])["metrics"] == json.loads(outs[1])["metrics"]


def _free(path):
    """A row that the plan does not have."""
    return min(set(range(N)) - set(ReviewFile.read(str(path)).rows.tolist()))


BAD = {
    "missing labels": (lambda p: fill(p, 3), "missing for 3 of the 80"),
    "another first line": (lambda p: p.write_text(p.read_text().partition("\n")[2]), "no file of"),
    "a row twice": (lambda p: p.write_text(p.read_text() + p.read_text().splitlines()[-1] + "\n"), "twice"),
    "a word": (lambda p: p.write_text(p.read_text().rstrip("\n") + "yes\n"), "has 'yes' as label of row"),
    "a chance": (
        lambda p: p.write_text(p.read_text() + "599,0.1,1.5,1,1\n".replace("599", str(_free(p)))),
        "outside",
    ),
    "no label column": (
        lambda p: p.write_text(p.read_text().replace(",label", ",said", 1)),
        "no column label",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_refused(run, folder, case):
    run(*PLAN, "--output", "to_review.csv")
    damage, words = BAD[case]
    damage(folder / "to_review.csv")
    status, out, error = run("evaluate", "scores.csv", "--reviewed", "to_review.csv")
    assert (status, out) == (2, "")
    assert words in error


def test_a_plan_of_another_file_is_refused(run, folder):
    run(*PLAN, "--output", "to_review.csv")
    fill(folder / "to_review.csv")
    (folder / "scores.csv").write_text((folder / "scores.csv").read_text() + "0.5,0\n")
    status, _, error = run("evaluate", "scores.csv", "--reviewed", "to_review.csv")
    assert status == 2
    assert "other scores" in error


def test_what_says_how_many_are_positive_is_refused(run, folder):
    status, _, error = run("evaluate", "scores.csv", "--reviewed", "x.csv", "--prior", "0.1")
    assert status == 2
    assert "goes without --prior" in error
    status, _, error = run(*PLAN, "--output", "scores.csv")
    assert status == 2
