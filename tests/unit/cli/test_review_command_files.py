"""Plans as they come back from people and spreadsheets: read, or refused with what to do; nothing is lost."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

N = 600
RNG = np.random.default_rng(7)
SCORE = np.round(RNG.beta(0.6, 2.0, N), 4)
TRUTH = RNG.random(N) < SCORE
FOUND = TRUTH & (RNG.random(N) < 0.3)
PLAN = ("plan-review", "scores.csv", "--metrics", "roc_auc", "--n")
WORDS = ("--metrics", "prevalence,roc_auc", "--n-resamples", "100", "--format", "json")


def write(path, score=SCORE):
    lines = [f"{s},{f:d}" for s, f in zip(score, FOUND, strict=True)]
    path.write_text("\n".join(["score,found", *lines, ""]))


def plan(run, name, *more, n="60", truth=TRUTH):
    """A plan with its labels; its first line, its header and its other lines."""
    status, _, error = run(*PLAN, n, *more, "--output", name)
    assert status == 0, error
    first, header, *lines = Path(name).read_text().splitlines()
    lines = [line + str(int(truth[int(line.split(",")[0])])) for line in lines]
    Path(name).write_text("\n".join([first, header, *lines, ""]))
    return first, header, lines


def metrics(run, *files, more=()):
    words = [x for file in files for x in ("--reviewed", file)]
    status, out, error = run("evaluate", "scores.csv", *words, *WORDS, *more)
    assert status == 0, error
    return json.loads(out)["metrics"]


def refusal(run, *files, more=()):
    words = [x for file in files for x in ("--reviewed", file)]
    status, out, error = run("evaluate", "scores.csv", *words, *WORDS, *more)
    assert (status, out) == (2, "")
    return error


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "scores.csv")
    return tmp_path


# What people and spreadsheets change that says the same ----------------------------------------------


def quoted(line):
    return ",".join(f'"{cell}"' for cell in line.split(","))


def column(line, place, change):
    cells = line.split(",")
    return ",".join([*cells[:place], change(cells[place]), *cells[place + 1 :]])


SAME = {
    "BOM and CRLF": lambda a, b, r: "\ufeff" + "\r\n".join([a, b, *r, ""]),
    "old line ends": lambda a, b, r: "\r".join([a, b, *r, ""]),
    "no newline at the end": lambda a, b, r: "\n".join([a, b, *r]),
    "commas for empty cells": lambda a, b, r: "\n".join([a + ",,,,,", b, *r, ",,,,,", ""]),
    "all quoted": lambda a, b, r: "\n".join([f'"{a}"', quoted(b), *map(quoted, r)]),
    "semicolons": lambda a, b, r: "\n".join(
        [f'"{a}";;;;;', b.replace(",", ";"), *(x.replace(",", ";").replace(".", ",") for x in r)]
    ),
    "first line parted": lambda a, b, r: "\n".join([a.replace("; ", ";"), b, *r]),
    "tabs": lambda a, b, r: "\n".join([a, b, *r]).replace(",", "\t"),
    "sorted by score": lambda a, b, r: "\n".join([a, b, *sorted(r, key=lambda x: x.split(",")[1])]),
    "truth values": lambda a, b, r: "\n".join([a, b, *(x[:-1] + ("FALSE", "true")[int(x[-1])] for x in r)]),
    "labels with a point": lambda a, b, r: "\n".join([a, b, *(x + ".0" for x in r)]),
    "spaces": lambda a, b, r: "\n".join([a, b, *(f"{x[:-1]} {x[-1]} " for x in r)]),
    "a column of comments": lambda a, b, r: "\n".join([a, b + ",comment", *(f'{x},"so,\nso"' for x in r)]),
    "columns in another order": lambda a, b, r: "\n".join(
        [a, *(",".join(reversed(x.split(","))) for x in (b, *r))]
    ),
}


@pytest.mark.parametrize("case", SAME)
def test_what_says_the_same_is_read(run, folder, case):
    parts = plan(run, "r.csv")
    expected = metrics(run, "r.csv")
    Path("r.csv").write_bytes(SAME[case](*parts).encode())
    assert metrics(run, "r.csv") == expected


def test_fewer_digits_change_no_more_than_these(run, folder):
    first, header, lines = plan(run, "r.csv")
    expected = metrics(run, "r.csv")
    short = [column(line, 2, lambda x: f"{float(x):.5E}") for line in lines]
    Path("r.csv").write_text("\n".join([first, header, *short]))
    for name, row in metrics(run, "r.csv").items():
        assert row["value"] == pytest.approx(expected[name]["value"], rel=1e-4)


# What is no plan of these rows any more --------------------------------------------------------------


def changed(place, text):
    return lambda a, b, r: "\n".join([a, b, column(r[0], place, lambda _: text), *r[1:]])


def added(a, b, r):
    row = min(set(range(N)) - {int(x.split(",")[0]) for x in r})
    return "\n".join([a, b, *r, f"{row},{SCORE[row]},0.1,1,1,1"])


def alone_sorted(place):
    def change(a, b, r):
        cells = sorted((x.split(",")[place] for x in r), key=float)
        return "\n".join([a, b, *(column(x, place, lambda _, c=c: c) for x, c in zip(r, cells, strict=True))])

    return change


CHANGED = {
    "a chance of 0": (changed(2, "0"), "probability outside (0, 1]"),
    "a chance above 1": (changed(2, "1.5"), "probability outside (0, 1]"),
    "a chance below 0": (changed(2, "-0.1"), "probability outside (0, 1]"),
    "no chance": (changed(2, ""), "has '' as probability. Leave that column"),
    "an undefined chance": (changed(2, "nan"), "has 'nan' as probability"),
    "another chance": (changed(2, "0.9"), "has chances that were changed, near row"),
    "a line added": (added, "was written with 60 rows to review, and now has 61"),
    "lines left out": (lambda a, b, r: "\n".join([a, b, *r[5:]]), "and now has 55"),
    "a row that is none": (changed(0, "600"), "now has 60, or others"),
    "a row before the first": (changed(0, "-1"), "now has 60, or others"),
    "half a row": (changed(0, "3.5"), "has '3.5' as row"),
    "a row twice": (lambda a, b, r: "\n".join([a, b, *r, r[0]]), "twice. Keep one line for each row"),
    "scores sorted alone": (alone_sorted(1), "Sort all of its columns together, or none"),
    "rows sorted alone": (alone_sorted(0), "Sort all of its columns together, or none"),
    "a yes": (changed(5, "Yes"), "A label is 1 or TRUE for positive, 0 or FALSE for negative"),
    "another number": (changed(5, "2"), "has '2' as label of row"),
    "a probability": (changed(5, "0.5"), "has '0.5' as label of row"),
    "no label": (changed(5, ""), "missing for 1 of the 60 rows to review"),
    "no labels": (lambda a, b, r: "\n".join([a, b, *(x[:-1] for x in r)]), "missing for 60 of the 60"),
    "another header": (lambda a, b, r: "\n".join([a, b.upper(), *r]), "has no column row"),
    "no header": (lambda a, b, r: "\n".join([a, *r]), "has no column row"),
    "no rows": (lambda a, b, r: f"{a}\n{b}", "has no row"),
    "no first line": (lambda a, b, r: "\n".join([b, *r]), "first line must stay as it was written"),
    "nothing": (lambda a, b, r: "", "is no file of `halftruth plan-review`"),
    "other scores": (
        lambda a, b, r: "\n".join([a.replace(a.split()[6], "0" * 16 + ";"), b, *r]),
        "other scores",
    ),
    "a cell of a million": (lambda a, b, r: "\n".join([a, b, r[0] + "," + "x" * 10**6, *r[1:]]), "as CSV"),
}


@pytest.mark.parametrize("case", CHANGED)
def test_what_was_changed_is_refused(run, folder, case):
    parts = plan(run, "r.csv")
    change, words = CHANGED[case]
    text = change(*parts)
    Path("r.csv").write_text(text)
    error = refusal(run, "r.csv")
    assert words in error
    assert "r.csv" in error
    assert Path("r.csv").read_text() == text


def test_what_is_no_text_is_refused(run, folder):
    parts = plan(run, "r.csv")
    Path("r.csv").write_bytes("\n".join([*parts[:2], *parts[2]]).encode("utf-16"))
    assert "Save it as CSV in UTF-8" in refusal(run, "r.csv")
    assert "nowhere.csv cannot be read: No such file" in refusal(run, "nowhere.csv")
    assert ". cannot be read: Is a directory" in refusal(run, ".")


def test_a_plan_is_not_the_rows(run, folder):
    plan(run, "one.csv")
    Path("two.csv").write_text(f'"{Path("one.csv").read_text()}'.replace("\n", '"\n', 1))  # as Excel quotes
    for file in ("one.csv", "two.csv"):
        for words in (("evaluate", file), ("evaluate", "scores.csv", "--reviewed", "one.csv", file)):
            status, _, error = run(*words)
            assert (status, f"{file} is a plan of reviews" in error, "by --reviewed, once" in error) == (
                2,
                True,
                True,
            )


def test_what_makes_other_scores_of_them_is_named(run, folder):
    rows = sorted(int(line.split(",")[0]) for line in plan(run, "r.csv")[2])
    write(folder / "scores.csv", SCORE[::-1])
    first = next(row for row in rows if SCORE[row] != SCORE[N - 1 - row])
    error = refusal(run, "r.csv")
    assert (
        f"the first is row {first}, which scored {SCORE[first]:g} then and {SCORE[N - 1 - first]:g} now"
        in error
    )
    assert "with its rows in their order. To judge another model, name them by --planned-by" in error
    (folder / "scores.csv").write_text("\n".join(["score", *map(str, SCORE[:-5]), ""]))
    assert "those of the 595 rows: it was planned for 600 or more" in refusal(run, "r.csv")
    (folder / "scores.csv").write_text("\n".join(["score", *map(str, [*SCORE, 0.5]), ""]))
    assert "others were changed, added or left out" in refusal(run, "r.csv")
    status, _, error = run(*PLAN, "60", "--reviewed", "r.csv", "--output", "two.csv")
    assert (status, "planned_by" in error, "--planned-by" in error) == (2, False, False)


# Rounds ----------------------------------------------------------------------------------------------


def test_rounds_that_do_not_follow_each_other_are_refused(run, folder):
    plan(run, "one.csv", n="100")
    plan(run, "two.csv", "--reviewed", "one.csv")
    plan(run, "by_itself.csv", "--rng", "5", n="100")
    assert metrics(run, "two.csv", "one.csv") == metrics(run, "one.csv", "two.csv")
    assert "that another round has" in refusal(run, "one.csv", "one.csv")
    Path("copy.csv").write_bytes(Path("one.csv").read_bytes())
    assert "that another round has" in refusal(run, "one.csv", "copy.csv")
    assert "when 500 rows were left to review, and by what was passed 600 were" in refusal(run, "two.csv")
    assert "that another round has" in refusal(run, "one.csv", "by_itself.csv")
    status, _, error = run(*PLAN, "50", "--reviewed", "two.csv", "--output", "three.csv")
    assert (status, "every earlier round too" in error) == (2, True), error
    assert not Path("three.csv").exists()


def test_a_round_planned_beside_another_and_not_after_it_is_refused(run, folder):
    plan(run, "one.csv", n="4")
    for seed in range(20):  # until the two happen to have no row in common
        rows = [{int(x.split(",")[0]) for x in plan(run, f"{seed}.csv", "--rng", str(seed), n="4")[2]}]
        rows += [{int(x.split(",")[0]) for x in Path("one.csv").read_text().splitlines()[2:]}]
        if not rows[0] & rows[1]:
            break
    assert "when 600 rows were left to review, and by what was passed 596 were" in refusal(
        run, "one.csv", f"{seed}.csv"
    )


def test_known_positives_that_were_left_out_of_a_plan_belong_to_it(run, folder):
    plan(run, "r.csv", "--known-positive", "found")
    assert "--known-positive if it was planned with" in refusal(run, "r.csv")
    metrics(run, "r.csv", more=("--known-positive", "found"))
    plan(run, "all.csv")  # by all rows: whoever is known by now is certain all the same
    metrics(run, "all.csv", more=("--known-positive", "found"))


def test_labels_of_known_positives_alone_may_be_missing(run, folder):
    first, header, lines = plan(run, "all.csv")
    known = FOUND[[int(line.split(",")[0]) for line in lines]]
    assert 0 < known.sum() < len(known)
    kept = [line[:-1] if k else line for line, k in zip(lines, known, strict=True)]
    Path("all.csv").write_text("\n".join([first, header, *kept, ""]))
    metrics(run, "all.csv", more=("--known-positive", "found"))
    Path("all.csv").write_text("\n".join([first, header, *(line[:-1] for line in lines), ""]))
    error = refusal(run, "all.csv", more=("--known-positive", "found"))
    assert f"missing for {(~known).sum()} of the 60" in error
    assert "--missing-reviews bounds" in error


def test_a_known_positive_that_a_file_calls_negative_is_refused_by_its_name(run, folder):
    plan(run, "r.csv", truth=np.zeros(N))
    error = refusal(run, "r.csv", more=("--known-positive", "found"))
    assert "is positive, and its label in r.csv is 0" in error
    assert "--label" not in error


def test_a_threshold_is_planned_for(run, folder):
    _, out, _ = run(*PLAN[:2], "--threshold", "0.5", "--n", "60", "--output", "r.csv")
    assert [line.split()[0] for line in out.splitlines()[2:5]] == ["roc_auc", "precision", "recall"]


def test_a_round_is_planned_for_the_metrics_of_the_one_before(run, folder):
    metric = "partial_auc(max_fpr=0.1)"
    words = ("plan-review", "scores.csv", "--n", "60")
    run(*words, "--metrics", f"recall,{metric}", "--threshold", "0.25", "--output", "one.csv")
    text = Path("one.csv").read_text()
    Path("one.csv").write_text("\n".join([*text.splitlines()[:2], *(x + "0" for x in text.splitlines()[2:])]))
    planned = {}
    for name, more in {
        "as before": (),
        "the same": ("--metrics", f"recall,{metric}", "--threshold", "0.25"),
        "others": ("--metrics", "roc_auc"),
    }.items():
        status, out, error = run(*words, *more, "--reviewed", "one.csv", "--output", "two.csv")
        assert status == 0
        planned[name] = out, Path("two.csv").read_text()
        rows = "roc_auc" if name == "others" else f"recall, {metric}"
        assert f"This round is planned for {rows} at --threshold 0.25." in error
    assert planned["as before"] == planned["the same"] != planned["others"]
    old = Path("one.csv").read_text().partition("\n")  # without them, as files were written before
    Path("one.csv").write_text(old[0].partition("; metrics")[0] + "\n" + old[2])
    error = run(*words, "--reviewed", "one.csv", "--output", "two.csv")[2]
    assert "This round is planned for roc_auc." in error


def test_a_plan_waits_for_the_labels_of_earlier_rounds(run, folder):
    plan(run, "one.csv")
    text = Path("one.csv").read_text()
    Path("one.csv").write_text(text[:-2] + "\n")
    status, _, error = run(*PLAN, "50", "--reviewed", "one.csv", "--output", "two.csv")
    assert (status, "missing for 1 of the 60" in error) == (2, True)


# What is written -------------------------------------------------------------------------------------


def test_labels_and_rows_are_never_written_over(run, folder):
    plan(run, "r.csv")
    Path("headless.csv").write_text(Path("r.csv").read_text().partition("\n")[2])
    for name, words in {
        "r.csv": "holds labels of reviews, which would be lost",
        "./scores.csv": "is one of the files that are read",
        "headless.csv": "is there, and is no plan as it was written",
        "nowhere/r.csv": "No such file or directory",
        "r.txt": "must end in .csv",
    }.items():
        before = Path(name).read_bytes() if Path(name).exists() else None
        status, _, error = run(*PLAN, "60", "--output", name)
        assert (status, words in error) == (2, True), name
        assert (Path(name).read_bytes() if Path(name).exists() else None) == before
    assert run(*PLAN, "60", "--output", "empty.csv")[0] == run(*PLAN, "50", "--output", "empty.csv")[0] == 0
    assert len(Path("empty.csv").read_text().splitlines()) == 52


def test_one_review_is_one(run, folder):
    _, out, _ = run(*PLAN[:2], "--metrics", "prevalence", "--n", "1", "--output", "r.csv")
    assert "width to expect             1 review       4 reviews" in out
    plan(run, "r.csv", n="1")
    _, _, error = run("evaluate", "scores.csv", "--reviewed", "r.csv", "--metrics", "prevalence")
    assert "Note: 1 row was reviewed" in error
    assert "Only 1 row was reviewed:" in error


@pytest.mark.parametrize("n", ["1", "2", "3", str(N)])
def test_few_rows_or_all_can_be_planned_and_evaluated(run, folder, n):
    plan(run, "r.csv", n=n)
    row = metrics(run, "r.csv")["prevalence"]
    assert row["low"] <= TRUTH.mean() <= row["high"]
    assert (row["value"] == pytest.approx(TRUTH.mean())) == (n == str(N))


def test_more_rows_than_there_are_cannot_be_planned(run, folder):
    status, _, error = run(*PLAN, str(N + 1), "--output", "r.csv")
    assert (status, "--n must be 600 at most" in error) == (2, True)
    assert not Path("r.csv").exists()
    _, out, _ = run(*PLAN, "550", "--output", "r.csv")
    assert out.splitlines()[1].split()[3:] == ["550", "reviews", "600", "reviews"]


@pytest.mark.parametrize("metric", ["partial_auc(max_fpr=0.1)", "prevalence, roc_auc"])
def test_plans_take_metrics_as_evaluate_does(run, folder, metric):
    status, out, _ = run(*PLAN[:2], "--metrics", metric, "--n", "60", "--output", "r.csv")
    assert status == 0
    assert out.splitlines()[2].startswith(metric.split(",")[0])
    status, _, error = run(*PLAN[:2], "--metrics", "", "--n", "60", "--output", "r.csv")
    assert (status, "names no metric" in error) == (2, True)


# Scores and files ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "score",
    [np.full(N, 0.5), SCORE * 1e6 - 5e5, np.round(SCORE), np.log(SCORE + 1e-3)],
    ids=["all equal", "large", "two values", "margins"],
)
def test_any_finite_scores_can_be_planned_and_evaluated(run, folder, score):
    write(folder / "scores.csv", score)
    plan(run, "r.csv")
    row = metrics(run, "r.csv")["prevalence"]
    assert row["low"] < TRUTH.mean() < row["high"]


@pytest.mark.parametrize("text", ["nan", "inf", "", "high"])
def test_scores_that_are_no_numbers_are_refused(run, folder, text):
    write(folder / "scores.csv", [text, *SCORE[1:]])
    status, _, error = run(*PLAN, "60", "--output", "r.csv")
    assert (status, "Scores must be finite numbers" in error) == (2, True)
    assert not Path("r.csv").exists()


def test_packed_rows_and_parquet_are_the_same_rows(run, folder):
    plan(run, "r.csv")
    expected = metrics(run, "r.csv")
    Path("scores.csv.gz").write_bytes(gzip.compress(Path("scores.csv").read_bytes()))
    import duckdb

    duckdb.sql("COPY (FROM 'scores.csv') TO 'scores.parquet' (FORMAT parquet)")
    for file in ("scores.csv.gz", "scores.parquet"):
        _, out, _ = run("evaluate", file, "--reviewed", "r.csv", *WORDS)
        assert json.loads(out)["metrics"] == expected


# Looks -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gate", "status"),
    [("prevalence.low>0", 0), ("prevalence<1", 0), ("prevalence.high<=0.001", 1), ("prevalence>=0.999", 1)],
)
def test_every_operator_decides(run, folder, gate, status):
    plan(run, "r.csv")
    assert run("evaluate", "scores.csv", "--reviewed", "r.csv", *WORDS, "--until", gate)[0] == status


@pytest.mark.parametrize(
    ("gate", "words"),
    [
        ("roc_auc==0.8", "must read like"),
        ("roc_auc>=nan", "must read like"),
        ("nope>=0.8", "There is no metric 'nope'"),
        ("brier<=0.1", "is not among --metrics"),
        ("roc_auc.naive>=0.8", "Write roc_auc.low>=0.8"),
    ],
)
def test_claims_that_no_interval_decides_are_refused(run, folder, gate, words):
    plan(run, "r.csv")
    assert words in refusal(run, "r.csv", more=("--until", gate))


def test_looks_are_limited(run, folder):
    plan(run, "r.csv")
    words = ("evaluate", "scores.csv", "--reviewed", "r.csv", "--metrics", "prevalence")
    status, out, _ = run(*words, "--look", "10000", "--format", "json")
    assert status == 0
    assert json.loads(out)["metrics"]["prevalence"]["confidence_level"] == 1 - 0.05 / (10_000 * 10_001)
    status, _, error = run(*words, "--look", "10001")
    assert (status, "--look" in error) == (2, True)
