"""`--prior` beside reviews: the library's check, in every format, and what it cannot go with."""

from __future__ import annotations

import csv
import io
import json
import re

import numpy as np
import pytest

import halftruth as ht

N = 3000
RNG = np.random.default_rng(4)
SCORE = np.round(RNG.beta(0.6, 2.0, N), 4)
TRUTH = RNG.random(N) < SCORE
RANDOM = TRUTH & (RNG.random(N) < 0.3)
HIGH = TRUTH & (RNG.random(N) < SCORE**2)  # found by their scores
LOOKED = RNG.random(N) < 0.3
WEIGHT = 1 + np.arange(N) % 2
VERDICT = np.where(LOOKED, TRUTH, np.nan)
RATE = round(float(TRUTH.mean()), 3)
REVIEWS = ("evaluate", "scores.csv", "--label", "verdict", "--review-chance", "0.3")
FEW = ("--metrics", "prevalence,roc_auc", "--n-resamples", "200")
CHECK = {"metrics": ["prevalence", "roc_auc"], "n_resamples": 200}
BIASED = (*REVIEWS, *FEW, "--known-positive", "high", "--prior", str(RATE))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cells = zip(SCORE, VERDICT, RANDOM, HIGH, WEIGHT, strict=True)
    lines = [f"{s},{'' if np.isnan(v) else int(v)},{r:d},{h:d},{w},a" for s, v, r, h, w in cells]
    (tmp_path / "scores.csv").write_text("\n".join(["score,verdict,random,high,w,site", *lines, ""]))
    return tmp_path


def in_json(run, *words, status=0):
    code, out, error = run(*words, "--format", "json")
    assert code == status, error
    return json.loads(out)


def of_library(known, prior, sample_weight=None, **more):
    pu = ht.PositiveUnlabeled.from_labels(
        known, SCORE, prior=prior, unlabeled=0, sample_weight=sample_weight, **more
    )
    label = np.where(known, np.nan, VERDICT)
    return pu, ht.Reviewed(SCORE, label, 0.3, known_positive=known, sample_weight=sample_weight)


@pytest.mark.parametrize(
    ("words", "known", "prior", "more"),
    [
        (("random", "--prior", "0.1..0.3"), RANDOM, (0.1, 0.3), {}),
        (("high", "--prior", "0.3", "--selection", "rising:1.2"), HIGH, 0.3, {"selection": ("rising", 1.2)}),
        (("high", "--prior", "estimate"), HIGH, "estimate", {}),
        (("random", "--prior", "0.25", "--weight", "w"), RANDOM, 0.25, {"sample_weight": WEIGHT}),
    ],
    ids=["range", "selection", "estimate", "weights"],
)
def test_the_check_is_the_library_s(run, folder, words, known, prior, more):
    told = in_json(run, *REVIEWS, *FEW, "--known-positive", *words)
    expected = ht.check_by_reviews(*of_library(known, prior, **more), **CHECK).to_dict()
    for name in ("selection", "gamma", "direction", "side_by_side"):
        assert told["check"][name] == expected[name], name
    for name, check in expected["checks"].items():
        said = told["check"]["checks"][name]
        assert (said["p_value"], said["refuted"]) == (check["p_value"], check["refuted"])


def test_the_answer_stays_that_of_the_reviews(run, folder):
    alone = in_json(run, *REVIEWS, *FEW, "--known-positive", "high")
    told = in_json(run, *BIASED)
    assert told["metrics"] == alone["metrics"]
    for name, row in told["metrics"].items():
        both = told["check"]["side_by_side"][name]["reviews"]
        assert [both[x] for x in ("value", "low", "high")] == [row[x] for x in ("value", "low", "high")]


def test_scar_that_is_refuted_says_so_in_every_format(run, folder):
    told = in_json(run, *BIASED)
    assert in_json(run, *BIASED, "--strict", status=3) == told
    assert told["status"] == "ok"
    assert told["check"]["status"] == "refuted"
    assert told["check"]["checks"]["scar"]["refuted"]
    assert told["check"]["direction"] == "rising"
    assert "contradiction" in told["note_kinds"]
    status, out, error = run(*BIASED, "--strict", "--format", "csv")
    assert status == 3
    assert "the reviews refute what was given (SCAR) (--strict)" in error
    for row in csv.DictReader(io.StringIO(out)):
        assert (row["status"], row["scar_check"], row["prior_check"]) == ("ok", "refuted", "")
        assert float(row["scar_p_value"]) == told["check"]["checks"]["scar"]["p_value"]
        assert float(row["gamma_low"]) == told["check"]["gamma"]["low"] > 1
        assert row["direction"] == "rising"
        pu = told["check"]["side_by_side"][row["metric"]]["pu"]
        assert [float(row[f"pu_{x}"]) for x in ("value", "low", "high")] == [
            pu[x] for x in ("value", "low", "high")
        ]
        assert (row["answers"] == "differ") == (row["metric"] in told["check"]["disagree"])
    assert "selection=(" not in json.dumps(told)  # which is Python
    gamma = told["check"]["gamma"]["value"]
    for style in ("table", "markdown"):
        status, out, error = run(*BIASED, "--strict", "--format", style)
        assert status == 3
        assert out.startswith("SCAR REFUTED (p = ")  # above the numbers, and once
        assert (out.count("SCAR REFUTED"), error.count("SCAR REFUTED")) == (1, 1)
        assert (out + error).count("Prior (p = ") == 1
        assert f"--selection rising:{gamma:.2f}" in out
        assert out.count("rest on neither the prior nor SCAR") == 1
        assert "differ" in out


def test_scar_that_holds_is_not_refuted(run, folder):
    status, out, _ = run(*REVIEWS, *FEW, "--known-positive", "random", "--prior", str(RATE))
    assert status == 0
    assert "REFUTED" not in out
    assert f"The prior {RATE:.3f} is not refuted" in out


def test_a_prior_that_is_refuted_fails_a_strict_run(run, folder):
    words = (*REVIEWS, *FEW, "--known-positive", "random", "--prior", "0.5", "--require", "roc_auc>=0.5")
    status, out, _ = run(*words)
    assert status == 0
    assert run(*words, "--strict")[0] == 3
    assert "Prior REFUTED" in out


def test_known_positives_that_are_not_positive_refuse_the_reviews_too(run, folder):
    words = (*BIASED, "--purity-sample", "45/50")
    told = in_json(run, *words)
    assert told["status"] == "refuted"
    assert "45 of 50" in told["reason"]
    assert told["check"]["checks"]["purity"]["refuted"]
    assert in_json(run, *words, "--strict", status=3)["check"] == told["check"]
    status, out, _ = run(*words)
    assert (status, out.splitlines()[0].startswith("REFUTED: ")) == (0, True)
    assert "the purity 1.000 is not refuted" in run(*BIASED, "--purity-sample", "50/50")[1]


def test_plans_pages_looks_and_tables_go_with_it(run, folder):
    plan = ("plan-review", "scores.csv", "--n", "200", "--known-positive", "high", "--output", "r.csv")
    assert run(*plan)[0] == 0
    first, head, *lines = (folder / "r.csv").read_text().splitlines()
    said = [f"{line}{int(TRUTH[int(line.split(',')[0])])}" for line in lines]
    (folder / "r.csv").write_text("\n".join([first, head, *said, ""]))
    words = ("evaluate", "scores.csv", "--reviewed", "r.csv", *FEW, "--known-positive", "high")
    files = ("--html", "p.html", "--save-table", "t.npz")
    status, out, error = run(*words, "--prior", "0.5", "--until", "roc_auc.low>=0.5", *files)
    assert status == 0
    assert "Holds: roc_auc.low>=0.5" in error
    assert out.count("97.5% interval") == 3  # the answer, and both side by side
    page = (folder / "p.html").read_text()
    assert page.count("Prior REFUTED") == 1  # and no bullet repeats it
    assert page.index("Prior REFUTED") < page.index('<table id="both">') < page.index('<table id="metrics">')
    assert "selection=(" not in page
    body = re.search('<table id="both">(.*?)</table>', page)[1]
    assert re.findall('scope="col">([^<]*)<', body) == ["metric", "by reviews", "by positives and unlabeled"]
    assert re.search(
        "Share of positives</th><td>0[.][0-9]* [(]0[.][0-9]* to 0[.][0-9]*[)]</td><td>0.500", body
    )
    assert ht.ScoreTable.load("t.npz").reviewed


BAD = {
    "groups": (("--by", "site"), "--by does not go with --prior beside reviews"),
    "a purity": (("--purity", "0.9"), "--purity does not go"),
    "propensities": (("--propensity", "0:0.3"), "--propensity does not go"),
    "another population": (("--population", "unlabeled"), "--population unlabeled does not go"),
    "an aim": (("--threshold", "max f1"), "--threshold with an aim does not go"),
    "another interval": (("--method", "basic"), "--method does not go"),
    "no resamples": (("--n-resamples", "50"), "at least 100"),
    "no share": (("--prior", "2"), "--prior must lie in (0, 1)"),
    "no pair": (("--purity-sample", "0.9"), "--purity-sample must read like 45/50"),
    "more right than checked": (("--purity-sample", "51/50"), "51 positives among 50"),
    "nobody known": (("--known-positive", "site"), "label(s) outside the code"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_is_refused(run, folder, case):
    words, expected = BAD[case]
    replaced = {*words[::2]}
    kept = [
        x for pair in zip(BIASED[2::2], BIASED[3::2], strict=True) if pair[0] not in replaced for x in pair
    ]
    status, out, error = run(*BIASED[:2], *kept, *words)
    assert (status, out) == (2, "")
    assert expected in error


def test_what_has_nothing_to_check_is_refused(run, folder):
    status, out, error = run(*REVIEWS, "--prior", "0.2")
    assert (status, out) == (2, "")
    assert "takes --prior with --known-positive" in error
    compare = ("compare", *REVIEWS[1:], "--score", "score", "--score", "w", "--known-positive", "high")
    status, _, error = run(*compare, "--prior", "0.2")
    assert status == 2
    assert "goes without --prior" in error
    for words in (REVIEWS, ("evaluate", "scores.csv", "--label", "high", "--prior", "0.3")):
        status, _, error = run(*words, "--purity-sample", "45/50")
        assert status == 2
        assert "--purity-sample goes with --prior beside reviews" in error
    # All that is known of the positives comes from reviews.
    (folder / "scores.csv").write_text("score,verdict,high\n0.9,1,\n0.2,0,\n0.3,,\n")
    status, _, error = run(*REVIEWS, "--known-positive", "high", "--prior", "0.5")
    assert status == 2
    assert "No row is positive by --known-positive alone" in error


def test_rows_that_nobody_could_look_at_leave_nothing_to_check(run, folder):
    lines = (folder / "scores.csv").read_text().splitlines()
    kept = [x for x in lines[1:] if float(x.split(",")[0]) >= 0.4 or not x.split(",")[1]]
    (folder / "scores.csv").write_text("\n".join([lines[0], *kept, ""]))
    words = ("--review-chance", "0:0,0.4:0.3", "--known-positive", "high")
    assert run(*REVIEWS[:4], *FEW, *words)[0] == 0
    status, out, error = run(*REVIEWS[:4], *FEW, *words, "--prior", "0.2")
    assert (status, out) == (3, "")
    assert "leave --prior out" in error
