"""Reviews on the command line as every other evidence: rows, groups, saved tables, comparisons, gates."""

from __future__ import annotations

import json

import numpy as np
import pytest

import halftruth as ht
from halftruth.evidence._reviewed import fingerprint

N = 800
RNG = np.random.default_rng(1)
SCORE = np.round(RNG.beta(0.6, 2.0, N), 4)
OTHER = np.round(np.clip(SCORE + RNG.normal(0, 0.1, N), 0, 1), 4)
TRUTH = (RNG.random(N) < SCORE).astype(float)
FOUND = (TRUTH == 1) & (RNG.random(N) < 0.2)
SITE = np.where(np.arange(N) % 3 == 0, "north", np.where(np.arange(N) % 3 == 1, "south", "east"))
CHANCE = np.where(SCORE >= 0.5, 1.0, 0.2)
LOOKED = RNG.random(N) < CHANCE
VERDICT = np.where(LOOKED, TRUTH, np.nan)
RULE = ("--label", "verdict", "--review-chance", "0:0.2,0.5:1")
COLUMN = ("--label", "verdict", "--review-chance", "chance")
PLAN = ("plan-review", "scores.csv", "--metrics", "roc_auc")


def write(path, rows=slice(None), verdict=VERDICT, chance=CHANCE):
    cells = zip(SCORE, OTHER, verdict, chance, FOUND, SITE, strict=True)
    lines = [
        f"{s},{o},{'' if np.isnan(v) else int(v)},{c},{1 if f else ''},{g}"
        for s, o, v, c, f, g in list(cells)[rows]
    ]
    path.write_text("\n".join(["score,other,verdict,chance,found,site", *lines, ""]))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "scores.csv")
    return tmp_path


def plan(run, folder, name, *more, n=120):
    assert run(*PLAN, "--n", str(n), *more, "--output", name)[0] == 0
    first, head, *lines = (folder / name).read_text().splitlines()
    said = [f"{line}{int(TRUTH[int(line.split(',')[0])])}" for line in lines]
    (folder / name).write_text("\n".join([first, head, *said, ""]))


def numbers(run, *words, status=0):
    code, out, error = run(*words, "--format", "json")
    assert code == status, error
    return json.loads(out)


def same(told, evidence, **settings):
    expected = ht.evaluate(evidence, **settings)
    for name in ("prevalence", "roc_auc", "brier"):
        for end in ("value", "low", "high", "naive"):
            number = told["metrics"][name][end]
            wanted = pytest.approx(getattr(expected[name], end), abs=1e-12, nan_ok=True)
            assert (np.nan if number is None else number) == wanted, name


# Labels in the rows ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "chance"),
    [(RULE, CHANCE), (COLUMN, CHANCE), (("--label", "verdict", "--review-chance", "estimate"), None)],
    ids=["rule", "column", "estimate"],
)
def test_reviews_in_the_file_are_the_library_s(run, folder, words, chance):
    told = numbers(run, "evaluate", "scores.csv", *words)
    same(told, ht.Reviewed(SCORE, VERDICT, chance))


def test_known_positives_and_a_chance_for_all(run, folder):
    looked = np.random.default_rng(2).random(N) < 0.3
    verdict = np.where(looked, TRUTH, np.nan)
    write(folder / "scores.csv", verdict=verdict)
    words = ("--label", "verdict", "--review-chance", "0.3", "--known-positive", "found")
    told = numbers(run, "evaluate", "scores.csv", *words)
    same(told, ht.Reviewed(SCORE, verdict, 0.3, known_positive=FOUND))


def test_a_chance_of_0_bounds(run, folder):
    write(folder / "scores.csv", verdict=np.where(SCORE >= 0.5, TRUTH, np.nan))
    told = numbers(run, "evaluate", "scores.csv", "--label", "verdict", "--review-chance", "0:0,0.5:1")
    row = told["metrics"]["prevalence"]
    assert row["value"] is None
    found = TRUTH[SCORE >= 0.5].sum() / N
    assert row["low"] < found < found + (SCORE < 0.5).mean() < row["high"] + 1e-12


BAD = {
    "two ways": ((*RULE, "--reviewed", "x.csv"), "do not go together"),
    "a prior": ((*RULE, "--prior", "0.1"), "goes without --prior"),
    "a chance beyond 1": (("--review-chance", "0:0.1,0.5:1.5"), "chance in [0, 1]"),
    "far fewer reviews": ((*RULE[:3], "0.01"), "if it is not known: --review-chance estimate."),
    "a percentage": ((*RULE[:3], "1%"), "got '1%'. Write 0.01 for 1%."),
    "a rule that begins late": ((*RULE[:3], "0.3:0.5"), "row(s) score less"),
    "no such column": ((*RULE[:3], "chances"), "named by --review-chance"),
    "words for chances": ((*RULE[:3], "site"), "lie in [0, 1]"),
    "known positives alone": (("--known-positive", "found"), "goes with --reviewed"),
    "words for known": ((*RULE, "--known-positive", "site"), "'site' holds 800 label(s) outside"),
    "what 0 means there": (
        (*RULE, "--known-positive", "site"),
        "0 or empty not known; recode what is positive to 1 and all others to 0",
    ),
    "what zeros mean": ((*RULE, "--zeros", "negative"), "--zeros does not go with reviews"),
    "an engine": ((*RULE, "--engine", "spark"), "--engine does not go with reviews"),
    "missing labels": ((*RULE, "--missing-reviews", "bounds"), "goes with --reviewed"),
    "an estimated rate": ((*RULE, "--sensitivity", "estimate"), "--reviewer-check FILE estimates it"),
    "a rate beyond 1": ((*RULE, "--sensitivity", "1.2"), "--sensitivity must"),
    "rates twice": ((*RULE, "--sensitivity", "0.9", "--reviewer-check", "x.csv"), "Pass one of them"),
    "certain and not reviewed": ((*RULE[:3], "0:0.2,0.4:1"), "--label is missing for"),
    "looks without rounds": ((*RULE, "--until", "roc_auc>=0.8"), "pass --look K"),
    "a claim on the wrong end": ((*RULE, "--look", "1", "--until", "roc_auc.high>=0.8"), "roc_auc.low>=0.8"),
    "a claim that is none": ((*RULE, "--look", "1", "--until", "roc_auc"), "--until must read like"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_is_refused(run, folder, case):
    words, expected = BAD[case]
    status, out, error = run("evaluate", "scores.csv", *words)
    assert (status, out) == (2, "")
    assert expected in error


def test_rates_of_reviewers_need_reviews(run, folder):
    words = ("--label", "found", "--prior", "0.3", "--sensitivity", "0.9", "--specificity", "1")
    status, _, error = run("evaluate", "scores.csv", *words)
    assert status == 2
    assert "--sensitivity is about reviews" in error


# Reviewers who err -----------------------------------------------------------------------------------


def test_rates_of_reviewers(run, folder):
    words = ("--sensitivity", "0.9..0.95", "--specificity", "0.97")
    told = numbers(run, "evaluate", "scores.csv", *RULE, *words)
    same(told, ht.Reviewed(SCORE, VERDICT, CHANCE, sensitivity=(0.9, 0.95), specificity=0.97))


def test_rates_from_cases_whose_truth_is_known(run, folder):
    rng = np.random.default_rng(3)
    truth = (rng.random(200) < 0.5).astype(int)
    said = np.where(rng.random(200) < 0.9, truth, 1 - truth)
    rows = [f"{a},{b}" for a, b in zip(said, truth, strict=True)]
    (folder / "twice.csv").write_text("\n".join(["said,truth", *rows, ""]))
    a, b = ht.judge_rates(said, truth)
    plan(run, folder, "r1.csv")
    told = numbers(run, "evaluate", "scores.csv", "--reviewed", "r1.csv", "--reviewer-check", "twice.csv")
    made = ht.plan_review(SCORE, 120, metrics=["roc_auc"])
    same(told, ht.Reviewed.from_plan(made, SCORE, TRUTH[made.rows], sensitivity=a, specificity=b))
    (folder / "twice.csv").write_text("said,truth\n1,1\n0,1\n")
    status, _, error = run("evaluate", "scores.csv", *RULE, "--reviewer-check", "twice.csv")
    assert status == 2
    assert "--reviewer-check twice.csv" in error
    assert "no negative case" in error


# Groups ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [RULE, COLUMN], ids=["rule", "column"])
def test_a_group_has_its_own_rows_and_chances(run, folder, words):
    told = numbers(run, "evaluate", "scores.csv", *words, "--by", "site", "--known-positive", "found")
    assert list(told["groups"]) == ["east", "north", "south"]
    for name, group in told["groups"].items():
        inside = name == SITE
        columns = SCORE[inside], VERDICT[inside], CHANCE[inside]
        same(group, ht.Reviewed(*columns, known_positive=FOUND[inside]))


def test_rounds_by_group_add_up_to_the_whole(run, folder):
    plan(run, folder, "r1.csv")
    plan(run, folder, "r2.csv", "--rng", "1", "--reviewed", "r1.csv")
    words = ("evaluate", "scores.csv", "--reviewed", "r1.csv", "--reviewed", "r2.csv")
    status, *_ = run(*words, "--by", "site", "--save-table", "by.npz")
    assert status == 0
    run(*words, "--save-table", "all.npz")
    parts = [ht.ScoreTable.load(f"by-{name}.npz") for name in ("east", "north", "south")]
    merged, whole = parts[0].merge(*parts[1:]), ht.ScoreTable.load("all.npz")
    for name, rows in whole.strata.items():
        assert rows.weight is None
        columns = [
            (x.score, np.zeros(len(x)) if x.value is None else x.value) for x in (rows, merged.strata[name])
        ]
        one, two = (np.stack(pair)[:, np.lexsort(pair)] for pair in columns)
        assert np.array_equal(one, two)


def test_a_group_that_nobody_reviewed_stops_none_of_the_others(run, folder):
    verdict = np.where(SITE == "east", np.nan, VERDICT)
    write(folder / "scores.csv", verdict=verdict, chance=np.where(SITE == "east", 0.0, CHANCE))
    told = numbers(run, "evaluate", "scores.csv", *COLUMN, "--by", "site", "--save-table", "t.npz")
    assert "None of 266 row(s) was reviewed" in told["groups"]["east"]["error"]
    inside = SITE == "north"
    same(told["groups"]["north"], ht.Reviewed(SCORE[inside], VERDICT[inside], CHANCE[inside]))
    # Its table joins others, and counts there.
    merged = numbers(run, "evaluate", "t-east.npz", "t-north.npz")
    east_or_north = SITE != "south"
    chance = np.where(SITE == "east", 0.0, CHANCE)[east_or_north]
    same(merged, ht.Reviewed(SCORE[east_or_north], verdict[east_or_north], chance))


# Saved tables ----------------------------------------------------------------------------------------


def test_two_days_merged_are_the_rows_of_both(run, folder):
    write(folder / "monday.csv", slice(0, 300))
    write(folder / "tuesday.csv", slice(300, None))
    for day in ("monday", "tuesday"):
        assert run("evaluate", f"{day}.csv", *RULE, "--save-table", f"{day}.npz")[0] == 0
    errs = ("--sensitivity", "0.9", "--specificity", "1")
    one = numbers(run, "evaluate", "monday.npz", "tuesday.npz", *errs)
    same(one, ht.Reviewed(SCORE, VERDICT, CHANCE, sensitivity=0.9))
    beside = numbers(run, "evaluate", "monday.npz", "tuesday.csv", *RULE, *errs)
    assert beside["metrics"] == one["metrics"]


def test_saved_tables_know_whether_chances_were_estimated(run, folder):
    run("evaluate", "scores.csv", *RULE[:3], "estimate", "--save-table", "estimated.npz")
    direct = numbers(run, "evaluate", "scores.csv", *RULE[:3], "estimate")
    saved = numbers(run, "evaluate", "estimated.npz")
    assert saved["metrics"] == direct["metrics"]
    assert "hung on that from which the chances were estimated and on nothing else" in str(saved["notes"])
    loaded = ht.ScoreTable.load("estimated.npz")
    assert ht.Reviewed.from_table(loaded).estimated
    known = ht.Reviewed(SCORE, VERDICT, CHANCE).table
    assert ht.Reviewed.from_table(loaded.merge(known)).estimated


@pytest.mark.parametrize("open_rows", [False, True], ids=["census", "certain above a score"])
def test_reviews_that_were_certain_are_still_reviews_when_saved(run, folder, open_rows):
    verdict = np.where(SCORE >= 0.5, TRUTH, np.nan) if open_rows else TRUTH
    chance = np.where(SCORE >= 0.5, 1.0, 0.0) if open_rows else np.ones(N)
    write(folder / "scores.csv", verdict=verdict, chance=chance)
    direct = numbers(run, "evaluate", "scores.csv", *COLUMN, "--save-table", "day.npz")
    assert numbers(run, "evaluate", "day.npz")["metrics"] == direct["metrics"]
    same(direct, ht.Reviewed(SCORE, verdict, chance))


def test_reviewed_rows_do_not_join_positives_and_unlabeled(run, folder):
    run("evaluate", "scores.csv", *RULE, "--save-table", "reviewed.npz")
    run("evaluate", "scores.csv", "--label", "found", "--prior", "0.3", "--save-table", "found.npz")
    status, _, error = run("evaluate", "reviewed.npz", "found.npz")
    assert status == 2
    assert "cannot join reviewed rows" in error
    status, _, error = run("evaluate", "reviewed.npz", "--prior", "0.1")
    assert status == 2
    assert "--prior says nothing where rows were reviewed" in error
    status, _, error = run("evaluate", "reviewed.npz", "--review-chance", "0.5")
    assert status == 2
    assert "--review-chance is about the columns of a file" in error


# Two models ------------------------------------------------------------------------------------------


def compared(run, words, evidence):
    """As the library compares, or refuses to."""
    refusal, expected = "", None
    try:
        expected = ht.compare(evidence, ["roc_auc"])["roc_auc"]
    except ht.InputError as error:
        refusal = str(error).partition(":")[0]
    status, out, error = run("compare", *words, "--metrics", "roc_auc", "--format", "json")
    if expected is None:
        assert (status, refusal in error) == (2, True)
        return
    told = json.loads(out)["pairs"][0]["metrics"]["roc_auc"]
    assert [told[x] for x in ("value", "low", "high")] == pytest.approx(
        [expected.value, expected.low, expected.high], abs=1e-12
    )


@pytest.mark.parametrize("order", [("score", "other"), ("other", "score")])
def test_two_models_share_the_reviews(run, folder, order):
    plan(run, folder, "r1.csv")  # by the column score
    words = ("scores.csv", "--score", order[0], "--score", order[1], "--reviewed", "r1.csv")
    made = ht.plan_review(SCORE, 120, metrics=["roc_auc"])
    chance, label = made.probability, np.full(N, np.nan)
    label[made.rows] = TRUTH[made.rows]
    columns = {"score": SCORE, "other": OTHER}
    compared(run, words, {name: ht.Reviewed(columns[name], label, chance) for name in order})
    assert fingerprint(OTHER) != fingerprint(SCORE)


def test_a_plan_of_neither_score_is_refused(run, folder):
    plan(run, folder, "r1.csv")
    words = ("--score", "other", "--score", "chance", "--reviewed", "r1.csv")
    status, _, error = run("compare", "scores.csv", *words)
    assert status == 2
    assert "other scores" in error


def test_the_reviews_planned_for_one_score_judge_another(run, folder):
    plan(run, folder, "r1.csv")
    words = ("evaluate", "scores.csv", "--score", "other")
    status, _, error = run(*words, "--reviewed", "r1.csv")
    assert (status, "name them by --planned-by, or compare the two" in error) == (2, True)
    told = numbers(run, *words, "--reviewed", "r1.csv", "--planned-by", "score")
    made = ht.plan_review(SCORE, 120, metrics=["roc_auc"])
    same(told, ht.Reviewed.from_plan(made, OTHER, TRUTH[made.rows], planned_by=SCORE))
    assert "named by --planned-by" in run(*words, "--reviewed", "r1.csv", "--planned-by", "scores")[2]
    assert "--planned-by goes with --reviewed" in run(*words, *RULE, "--planned-by", "score")[2]


def test_a_rule_is_of_the_first_score(run, folder):
    words = ("scores.csv", "--score", "score", "--score", "other", *RULE)
    compared(
        run,
        words,
        {"score": ht.Reviewed(SCORE, VERDICT, CHANCE), "other": ht.Reviewed(OTHER, VERDICT, CHANCE)},
    )
    turned = ("--score", "other", "--score", "score", *RULE)
    status, _, error = run("compare", "scores.csv", *turned)
    assert status == 2
    assert "--label is missing for" in error
    assert "The ranges were read on other, the first --score." in error
    status, _, error = run("compare", *words[:-1], "estimate")
    assert status == 2
    assert "estimate is of one score" in error


def test_labels_of_all_rows_are_no_reviews_to_estimate_chances_from(run, folder):
    write(folder / "scores.csv", verdict=TRUTH)
    status, _, error = run("evaluate", "scores.csv", *RULE[:-1], "estimate")
    assert status == 2
    assert f"all {N} rows have a label" in error
    status, _, error = run("evaluate", "scores.csv", *RULE[:2], "--sensitivity", "0.9", "--specificity", "1")
    assert (status, "pass --review-chance 1 too" in error, "--zeros" in error) == (2, True, False)


# Looking again ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gate", "status", "word"),
    [("roc_auc.low>=0.5", 0, "Holds"), ("roc_auc>=0.99", 1, "Fails"), ("roc_auc.high<=0.86", 3, "Undecided")],
)
def test_until_a_claim_is_decided(run, folder, gate, status, word):
    plan(run, folder, "r1.csv")
    plan(run, folder, "r2.csv", "--rng", "1", "--reviewed", "r1.csv")
    rounds = ("--reviewed", "r1.csv", "--reviewed", "r2.csv")
    code, out, error = run("evaluate", "scores.csv", *rounds, "--until", gate)
    assert code == status
    assert f"{word}: {gate}. The 99.17% interval of roc_auc is " in error
    assert ("Review more" in error) == (status == 3)
    assert "Look 2" in error
    assert "99.17% interval" in out  # 1 − .05/6


def test_looks_may_be_counted_by_the_user(run, folder):
    plan(run, folder, "r1.csv")
    rounds = ("evaluate", "scores.csv", "--reviewed", "r1.csv")
    told = numbers(run, *rounds, "--look", "4")
    level = 1 - 0.05 / 20
    assert told["metrics"]["roc_auc"]["confidence_level"] == pytest.approx(level, abs=1e-12)
    made = ht.plan_review(SCORE, 120, metrics=["roc_auc"])
    same(told, ht.Reviewed.from_plan(made, SCORE, TRUTH[made.rows]), confidence_level=level)
    once = numbers(run, *rounds)["metrics"]["roc_auc"]
    assert told["metrics"]["roc_auc"]["low"] < once["low"]


# What the plan may know ------------------------------------------------------------------------------


def test_known_positives_with_a_prior_guide_the_plan(run, folder):
    words = ("--known-positive", "found", "--prior", "0.25")
    status, out, _ = run(*PLAN, "--n", "100", *words, "--output", "to_review.csv")
    assert status == 0
    evidence = ht.PositiveUnlabeled.from_labels(FOUND, SCORE, prior=0.25, unlabeled=0)
    made = ht.plan_review(SCORE, 100, metrics=["roc_auc"], evidence=evidence, known_positive=FOUND)
    rows = [int(x.split(",")[0]) for x in (folder / "to_review.csv").read_text().splitlines()[2:]]
    assert rows == made.rows.tolist()
    head, *lines = out.splitlines()[1:]
    assert head.split() == ["width", "to", "expect", "100", "reviews", "200", "reviews", "400", "reviews"]
    width = [float(x) for x in lines[0].split()[1:]]
    assert width[0] == pytest.approx(made.expected["roc_auc"], abs=5e-4)
    assert width[2] == pytest.approx(made.expected_with(400)["roc_auc"], abs=5e-4)


@pytest.mark.parametrize("words", [("--prior", "0.2"), ("--known-positive", "found", "--prior", "1.2")])
def test_a_prior_that_says_nothing_is_refused(run, folder, words):
    status, _, error = run(*PLAN, "--n", "100", *words, "--output", "to_review.csv")
    assert status == 2
    assert "--prior" in error


def test_missing_reviews_reach_the_library(run, folder, monkeypatch):
    plan(run, folder, "r1.csv")
    seen = []
    make = ht.Reviewed.from_plan.__func__

    def from_plan(cls, *args, **settings):
        seen.append(settings.pop("missing", None))
        return make(cls, *args, **settings)

    monkeypatch.setattr(ht.Reviewed, "from_plan", classmethod(from_plan))
    words = ("evaluate", "scores.csv", "--reviewed", "r1.csv")
    assert run(*words)[0] == run(*words, "--missing-reviews", "bounds")[0] == 0
    assert seen == [None, "bounds"]
