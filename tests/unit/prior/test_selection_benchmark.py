"""selection_benchmark: groups whose rates are known, equal rates, small groups, what it takes and refuses."""

from __future__ import annotations

import json

import numpy as np
import pytest

import halftruth as ht
from halftruth._errors import InputError
from halftruth.prior._known_rates import counts, expected, log_rates

RATES = {"A": 0.4, "B": 0.2}


def rows(rng, n=4_000, rates=RATES, *, tilt=0.0, turn=0.0, sep=1.5, prior=0.25):
    """Score, group and whether known: P(Y | s) is the same in all groups.

    ``tilt`` makes groups differ in their scores, ``turn`` the first group's rate fall with the score.
    """
    y = rng.random(n) < prior
    score = rng.normal(sep * y, 1)
    pull = np.exp(tilt * score[:, None] * np.linspace(-0.5, 0.5, len(rates)))
    at = (rng.random(n)[:, None] > np.cumsum(pull / pull.sum(1, keepdims=True), 1)).sum(1)
    rate = np.array(list(rates.values()))[at] * np.exp(np.where(at == 0, -turn, turn) * (score - sep) / 2)
    return score, np.array(list(rates))[at], y & (rng.random(n) < rate)


def one_table(score, group, known, **options):
    evidence = ht.PositiveUnlabeled.from_labels(known, score, unlabeled=0, **options)
    return evidence, {"positive": group[known], "unlabeled": group[~known]}


def two_samples(rng, n=4_000, rates=RATES, **options):
    score, group, known = rows(rng, n, rates, **options)
    other, other_group, _ = rows(rng, n, rates, **options)
    return ht.PositiveUnlabeled(score[known], other), {"positive": group[known], "unlabeled": other_group}


DATA = rows(np.random.default_rng(3))
EVIDENCE, BY = one_table(*DATA)
RESULT = ht.selection_benchmark(EVIDENCE, BY)


def tables_by(score, group, known):
    return {
        str(g): ht.PositiveUnlabeled.from_labels(known[group == g], score[group == g], unlabeled=0).table
        for g in np.unique(group)
    }


# --- The rates ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("tilt", [0.0, 1.0])
@pytest.mark.parametrize("rates", [{"A": 0.4, "B": 0.2}, {"A": 0.9, "B": 0.225}])
def test_the_ratio_of_two_rates_is_found(rates, tilt):
    result = ht.selection_benchmark(*one_table(*rows(np.random.default_rng(0), 200_000, rates, tilt=tilt)))
    assert result.pair == ("A", "B")
    assert result.ratio == pytest.approx(rates["A"] / rates["B"], rel=0.03)
    if tilt == 0:  # groups of one size: the lower rate against the mean of both
        assert result.low < (rates["A"] + rates["B"]) / 2 / rates["B"] < result.high


def test_groups_are_measured_against_the_whole():
    result = ht.selection_benchmark(*one_table(*rows(np.random.default_rng(0), 200_000)))
    assert result.groups["A"].ratio == pytest.approx(4 / 3, rel=0.02)  # 0.4 and 0.2 against 0.3
    assert result.groups["B"].ratio == pytest.approx(2 / 3, rel=0.02)
    assert result.groups["B"].gamma == pytest.approx(3 / 2, rel=0.05)
    assert result.typical == pytest.approx(2 ** (1 / np.sqrt(2)), rel=0.03)  # two groups, ln 2 apart


def test_two_samples():
    result = ht.selection_benchmark(*two_samples(np.random.default_rng(0), 200_000, tilt=1.0))
    assert result.ratio == pytest.approx(2, rel=0.03)
    assert any("sample of their own" in note for note in result.notes)


def test_two_groups_are_mantel_and_haenszel():
    score, group, known = DATA
    sums = counts(list(tables_by(score, group, known).values()), nested=True)
    found = log_rates(sums)
    assert found is not None
    extra = 0.5 / expected(sums).sum(1, keepdims=True)
    k, n = sums[0] + extra * expected(sums), (sums[1] + sums[2]) * (1 + extra)
    weight = (sums[0] + sums[2]).sum(0)
    by_hand = (k[0] * n[1] / weight).sum() / (k[1] * n[0] / weight).sum()
    assert found[0][0] - found[0][1] == pytest.approx(np.log(by_hand), rel=1e-12)


def test_bins_hold_what_the_rows_are():
    sums = counts(list(tables_by(*DATA).values()), nested=True)
    assert sums[0].sum() == DATA[2].sum()
    assert (sums[0].sum(0) >= 5).all()
    assert sums[2].sum() == (~DATA[2] & (DATA[0] >= DATA[0][DATA[2]].min())).sum()


# --- Noise ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "names"), [("one", "AB"), ("two", "AB"), ("one", "ABCDEF")], ids=["one", "two samples", "six"]
)
def test_equal_rates_give_an_interval_that_touches_one(make, names):
    rng, draws, equal = np.random.default_rng(5), 150, dict.fromkeys(names, 0.3)
    results = []
    for _ in range(draws):
        given = (
            two_samples(rng, 1_500, equal) if make == "two" else one_table(*rows(rng, 1_500, equal, tilt=0.5))
        )
        results.append(ht.selection_benchmark(*given))
    touches = np.mean([x.low == 1 for x in results])
    # Three standard deviations of a share of 95%; six groups share the error by Bonferroni, so more touch.
    assert touches > 0.95 - 3 * np.sqrt(0.95 * 0.05 / draws)
    if len(names) == 2:
        assert touches < 1
    assert np.median([x.ratio for x in results]) < 1.05
    raw = [max(g.ratio for g in x.groups.values()) / min(g.ratio for g in x.groups.values()) for x in results]
    assert np.mean([x.ratio for x in results]) - 1 < 0.5 * (np.mean(raw) - 1)


def test_unequal_rates_are_covered_and_unbiased():
    rng, draws = np.random.default_rng(6), 150
    results = [ht.selection_benchmark(*one_table(*rows(rng, 2_000, tilt=0.5))) for _ in range(draws)]
    covered = np.mean([x.low <= 1.5 <= x.high for x in results])  # groups of one size, a ratio of 2
    assert covered > 0.95 - 3 * np.sqrt(0.95 * 0.05 / draws)
    log = np.log([x.ratio for x in results])
    assert np.mean(log) == pytest.approx(np.log(2), abs=4 * np.std(log) / np.sqrt(draws) + 0.02)


def test_a_group_without_known_positives_has_no_upper_limit():
    result = ht.selection_benchmark(
        *one_table(*rows(np.random.default_rng(0), 6_000, {"A": 0.3, "B": 0.3, "C": 0.0}))
    )
    assert result.pair[1] == "C"
    assert result.groups["C"].known == 0
    assert result.high == np.inf
    assert result.low > 5
    assert any("no upper limit" in note for note in result.notes)
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False))["high"] is None


def test_a_small_group_is_left_out_and_named():
    score, group, known = DATA
    group = np.where(np.arange(len(group)) < 40, "tiny", group)
    result = ht.selection_benchmark(*one_table(score, group, known))
    assert set(result.groups) == {"A", "B"}
    assert any("1 group(s) with too few" in note and "'tiny'" in note for note in result.notes)


# --- Along the score ------------------------------------------------------------------------------------


def test_a_constant_ratio_does_not_change_along_the_score():
    assert RESULT.along is not None
    assert RESULT.along.low == 1 < RESULT.low


def test_a_ratio_that_turns_over_shows_along_the_score():
    equal = {"A": 0.3, "B": 0.3}
    result = ht.selection_benchmark(*one_table(*rows(np.random.default_rng(0), 100_000, equal, turn=0.4)))
    assert result.along is not None
    assert result.along.pair == ("B", "A")  # B's rate rises
    assert result.along.low > 1.5
    assert result.gamma < 1.1


# --- What it takes --------------------------------------------------------------------------------------


def same(one, other, rel=1e-9):
    for name in ("gamma", "low", "high", "typical"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), rel=rel)
    assert one.pair == other.pair


def test_tables_and_evidence_by_group_are_the_same():
    tables = tables_by(*DATA)
    evidences = {g: ht.PositiveUnlabeled.from_table(table) for g, table in tables.items()}
    for given in ((tables,), (evidences,), (EVIDENCE, tables), (EVIDENCE, evidences)):
        assert ht.selection_benchmark(*given) == RESULT


def test_files_by_group(tmp_path):
    score, group, known = DATA
    lines = [f"{s!r},{int(k)},{g}" for s, g, k in zip(score.tolist(), group, known, strict=True)]
    (tmp_path / "scores.csv").write_text("\n".join(["score,label,site", *lines]))
    for max_rows in (None, 0):
        tables = ht.ScoreTable.from_file(tmp_path / "scores.csv", unlabeled=0, by="site", max_rows=max_rows)
        same(ht.selection_benchmark(tables), RESULT, rel=0.02 if max_rows == 0 else 1e-9)  # bins of the score


def test_weights_of_one_number_change_nothing():
    same(ht.selection_benchmark(one_table(*DATA, sample_weight=np.full(len(DATA[0]), 2.5))[0], BY), RESULT)


def test_unequal_weights_widen():
    score, group, known = rows(np.random.default_rng(1), 20_000)
    weight = np.random.default_rng(2).exponential(size=len(score)) + 0.1
    plain = ht.selection_benchmark(*one_table(score, group, known))
    weighed = ht.selection_benchmark(*one_table(score, group, known, sample_weight=weight))
    assert np.log(weighed.high / weighed.low) > 1.15 * np.log(plain.high / plain.low)
    assert weighed.low < 1.5 < weighed.high


def test_a_weight_makes_up_for_a_rate():
    score, group, known = rows(np.random.default_rng(1), 100_000)
    rate = np.where(group == "A", 0.4, 0.2)[known]
    evidence = ht.PositiveUnlabeled.from_labels(known, score, unlabeled=0, propensity=rate)
    result = ht.selection_benchmark(evidence, {"positive": group[known], "unlabeled": group[~known]})
    assert result.low == 1
    assert result.gamma < 1.1


@pytest.mark.parametrize("digits", [0, 1])
def test_ties(digits):
    score, group, known = rows(np.random.default_rng(0), 50_000)
    result = ht.selection_benchmark(*one_table(score.round(digits), group, known))
    assert result.ratio == pytest.approx(2, rel=0.06)


def test_one_score_for_all_rows_compares_plain_shares():
    score, group, known = rows(np.random.default_rng(0), 50_000)
    result = ht.selection_benchmark(*one_table(0 * score, group, known))
    share = [known[group == g].mean() for g in "AB"]
    assert result.ratio == pytest.approx(share[0] / share[1], rel=0.01)
    assert result.along is None


def test_negatives_belong_to_one_table_and_to_no_two_samples():
    score, group, known = DATA
    label = np.where(known, 1.0, np.where(np.arange(len(score)) % 3 == 0, 0.0, np.nan))
    by = {"positive": group[label == 1], "unlabeled": group[np.isnan(label)], "negative": group[label == 0]}
    assert ht.selection_benchmark(ht.PositiveUnlabeled.from_labels(label, score), by) == RESULT
    two = ht.PositiveUnlabeled(score[known], score[~known], negative=[0.0])
    assert ht.selection_benchmark(two, BY).ratio > 1.5


def test_groups_may_be_numbers_or_missing():
    score, group, known = DATA
    year = np.where(group == "A", 2024, 2023)
    result = ht.selection_benchmark(*one_table(score, year, known))
    assert result.pair == ("2024", "2023")
    assert result.gamma == pytest.approx(RESULT.gamma)
    cells = np.where(group == "A", "A", None)
    assert ht.selection_benchmark(*one_table(score, cells, known)).pair == ("A", "missing")


# --- What it says ---------------------------------------------------------------------------------------


def test_the_sentence():
    assert RESULT.sentence == (
        "As strong as the difference between A and B, where a case of equal score is "
        f"{RESULT.ratio:.2f} times as likely to be known in A: Γ = {RESULT.gamma:.2f} "
        f"({RESULT.low:.2f} to {RESULT.high:.2f})."
    )
    text = str(RESULT).splitlines()
    assert text[0] == RESULT.sentence
    assert text[1].startswith("From low to high scores the ratio changes most between ")
    assert text[2].startswith("Note: Assumes that positives of equal score are as frequent in every group")


def test_groups_that_do_not_differ():
    score, group, known = DATA
    halves = np.where(np.arange(len(group)) % 2, "A", "B")
    result = ht.selection_benchmark(*one_table(score, halves, known))
    assert "no more than noise explains: Γ is up to 1.2" in result.sentence


def test_to_dict_is_json():
    stored = json.loads(json.dumps(RESULT.to_dict(), allow_nan=False))
    assert stored["gamma"] == RESULT.gamma
    assert stored["pair"] == ["A", "B"]
    assert stored["groups"]["A"]["known"] == int((DATA[2] & (DATA[1] == "A")).sum())
    assert stored["groups"]["A"]["rows"] == int((DATA[1] == "A").sum())
    assert len(stored["notes"]) == len(stored["note_kinds"]) == len(RESULT.notes)


def test_a_wider_level_widens():
    wider = ht.selection_benchmark(EVIDENCE, BY, confidence_level=0.99)
    assert wider.low < RESULT.low < RESULT.gamma == wider.gamma < RESULT.high < wider.high


# --- What it refuses ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("by", "text"),
    [
        (None, r"`by` must be a mapping: groups by kind of row, or tables by group, got PositiveUnlabeled"),
        (DATA[1], r"`by` must be a mapping.*got ndarray\. Pass e\.g\. \{\"positive\": site\[y == 1\]"),
        ({**BY, "positive": ["A"]}, r"`by` must have the group of each of the \d+ positive rows .* got 1"),
        ({"positive": BY["positive"]}, r"each of the \d+ unlabeled rows of a weight above 0, got none"),
        ({k: np.full(len(x), "A") for k, x in BY.items()}, "No two groups have enough known positives"),
        ({"A": 3}, r"`by` must be a ScoreTable, got int"),
    ],
)
def test_bad_groups(by, text):
    with pytest.raises(InputError, match=text):
        ht.selection_benchmark(EVIDENCE, by)


@pytest.mark.parametrize("evidence", [[0.1, 0.9], tables_by(*DATA)])
def test_bad_evidence(evidence):
    with pytest.raises(InputError, match=r"`evidence` must be a ScoreTable.*Pass PositiveUnlabeled evidence"):
        ht.selection_benchmark(evidence, BY)


def test_groups_without_common_scores():
    score, _, known = DATA
    with pytest.raises(InputError, match=r"No two groups .* at scores that they share"):
        ht.selection_benchmark(*one_table(score, np.where(score > 1.0, "A", "B"), known))


def test_too_few_known_positives():
    evidence = ht.PositiveUnlabeled([0.9, 0.8, 0.7], np.linspace(0, 1, 50))
    by = {"positive": ["A", "B", "A"], "unlabeled": ["A", "B"] * 25}
    with pytest.raises(InputError, match="No two groups have enough known positives"):
        ht.selection_benchmark(evidence, by)


def test_tables_of_labels_are_refused():
    table = ht.Labeled([1, 0], [0.9, 0.1]).table
    with pytest.raises(InputError, match="`by` has no group with unlabeled rows"):
        ht.selection_benchmark({"A": table, "B": table})


def test_a_histogram_has_no_rows_to_tell_apart():
    evidence = ht.PositiveUnlabeled.from_table(EVIDENCE.table.compress())
    with pytest.raises(InputError, match="A histogram no longer has the rows"):
        ht.selection_benchmark(evidence, BY)


def test_populations_are_not_mixed():
    table = EVIDENCE.table
    mixed = {g: ht.PositiveUnlabeled.from_table(table, population=g) for g in ("all", "unlabeled")}
    with pytest.raises(InputError, match="All groups must have the same `population`"):
        ht.selection_benchmark(mixed)


@pytest.mark.parametrize("level", [0, 1, 95])
def test_levels(level):
    with pytest.raises(InputError, match="confidence_level"):
        ht.selection_benchmark(EVIDENCE, BY, confidence_level=level)
