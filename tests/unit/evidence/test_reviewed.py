"""Evidence from reviewed cases: against labels, the survey estimator by hand, enumeration and bad input."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import beta

import halftruth as ht
from halftruth._errors import InputError, NotIdentifiable
from halftruth.table._score_table import ScoreTable

METRICS = ("prevalence", "roc_auc", "average_precision", "brier", "log_loss", "calibration_error")
RATES = ("precision", "recall", "fpr", "f1", "mcc", "accuracy")


def rows(n=400, seed=0, prior=0.3):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < prior
    score = 1 / (1 + np.exp(-(2 * rng.normal(np.where(y, 1.0, -1.0)) - 0.8)))
    return y.astype(float), np.round(score, 3), rng


def test_a_census_equals_labels_in_every_number():
    y, score, rng = rows()
    weight = rng.uniform(0.5, 2, len(y))
    for w in (None, weight):
        labeled = ht.evaluate(ht.Labeled(y, score, sample_weight=w), threshold=0.5, n_resamples=200)
        reviewed = ht.evaluate(ht.Reviewed(score, y, 1.0, sample_weight=w), threshold=0.5, n_resamples=200)
        for name in (*METRICS, *RATES):
            for end in ("value", "low", "high"):
                assert getattr(reviewed[name], end) == pytest.approx(getattr(labeled[name], end), abs=1e-12)


def test_known_positives_and_certain_reviews_are_labels():
    y, score, _ = rows()
    known = y.astype(bool) & (score > 0.8)
    evidence = ht.Reviewed(score, np.where(known, np.nan, y), 1.0, known_positive=known)
    for name in METRICS:
        function = getattr(ht, name)
        assert function(evidence) == pytest.approx(function(ht.Labeled(y, score)), abs=1e-12)


def test_equal_chances_without_a_guess_are_the_survey_estimator():
    y, score, rng = rows()
    n, chosen = len(y), rng.choice(len(y), 100, replace=False)
    label = np.full(n, np.nan)
    label[chosen] = y[chosen]
    evidence = ht.Reviewed(score, label, 100 / n, model="none")

    # By hand: each reviewed row stands for n/100 rows, and all rows are known by their scores.
    def positives(mask):
        return np.sum(y[chosen] * mask[chosen]) * n / 100

    high = score >= 0.5
    tp, p = positives(high), positives(np.ones(n, dtype=bool))
    fp = high.sum() - tp
    cells = ht.confusion(evidence, 0.5)
    assert ht.prevalence(evidence) == pytest.approx(p / n, abs=1e-12)
    assert cells.precision == pytest.approx(tp / high.sum(), abs=1e-12)
    assert cells.recall == pytest.approx(tp / p, abs=1e-12)
    assert cells.fpr == pytest.approx(fp / (n - p), abs=1e-12)
    above = np.asarray([(score < s).mean() + (score == s).mean() / 2 for s in score])
    rank = np.sum((y * above)[chosen]) * n / 100  # Σ over positives of the rows below each
    negatives_below = rank * n - p * p / 2
    assert ht.roc_auc(evidence) == pytest.approx(negatives_below / (p * (n - p)), abs=1e-12)


@pytest.mark.parametrize("guess", [0.0, 0.3, 0.9])
def test_it_is_right_on_average_over_all_reviews_whatever_is_guessed(guess):
    y, score = np.asarray([1.0, 0.0, 1.0, 0.0]), np.asarray([0.9, 0.6, 0.4, 0.1])
    chance = np.asarray([0.9, 0.5, 0.25, 0.4])
    mean = np.zeros(4)
    for looked in product([False, True], repeat=4):
        if not any(looked):  # no evidence: what it would say is the guess
            mean += np.prod(1 - chance) * guess
            continue
        label = np.where(looked, y, np.nan)
        evidence = ht.Reviewed(score, label, chance, model=lambda s: np.full(len(s), guess))
        weight = np.prod(np.where(looked, chance, 1 - chance))
        mean += weight * evidence.measure().pos_mass[::-1]
    np.testing.assert_allclose(mean, y, atol=1e-12)


def test_average_precision_has_no_bias_from_rows_that_judge_themselves():
    y, score = np.asarray([1.0, 0.0, 1.0, 1.0, 0.0]), np.asarray([0.9, 0.8, 0.7, 0.4, 0.2])
    chance = np.asarray([0.5, 0.9, 0.6, 0.5, 0.7])
    # ∫ precision dμ₁ is a sum over pairs of rows: its mean over all reviews is the truth.
    mean = 0.0
    for looked in product([False, True], repeat=5):
        if any(looked):
            evidence = ht.Reviewed(score, np.where(looked, y, np.nan), chance, model="none")
            area = np.nan_to_num(evidence.measure().pr_area().area)  # no positive was seen: none was found
            mean += np.prod(np.where(looked, chance, 1 - chance)) * area
    labeled = float(ht.Labeled(y, score).measure().pr_area().area)
    assert mean == pytest.approx(labeled, abs=1e-12)


def test_reviewers_who_err_are_corrected_by_rogan_and_gladen():
    y, score, _ = rows()
    evidence = ht.Reviewed(score, y, 1.0, sensitivity=0.9, specificity=0.8, model="none")
    assert ht.prevalence(evidence) == pytest.approx((y.mean() - 0.2) / 0.7, abs=1e-12)
    wide = ht.evaluate(ht.Reviewed(score, y, 1.0, sensitivity=(0.85, 0.95), specificity=0.8), "prevalence")
    narrow = ht.evaluate(evidence, "prevalence")
    assert wide["prevalence"].low < narrow["prevalence"].low
    assert wide["prevalence"].high > narrow["prevalence"].high
    rates = ht.PriorEstimate(value=0.9, replicates=np.linspace(0.8, 0.98, 200))
    drawn = ht.evaluate(ht.Reviewed(score, y, 1.0, sensitivity=rates, specificity=0.8), "prevalence")
    shown, plain = (x["prevalence"].high - x["prevalence"].low for x in (drawn, narrow))
    assert shown > plain


def test_positives_known_otherwise_are_certain_though_reviewers_err():
    y, score, _ = rows()
    known = y.astype(bool) & (score > 0.8)
    label = np.where(known, np.nan, y)
    evidence = ht.Reviewed(score, label, 1.0, sensitivity=0.9, specificity=0.8, known_positive=known)
    said = np.nansum(label)
    others = (said - 0.2 * (~known).sum()) / 0.7  # Rogan & Gladen, of the rows that were reviewed
    assert ht.prevalence(evidence) == pytest.approx((known.sum() + others) / len(y), abs=1e-12)


def test_a_reviewer_who_was_always_right_may_still_err():
    y, score, _ = rows()
    rates = ht.judge_rates(np.repeat([1, 0], 10), np.repeat([1, 0], 10))
    sure, unsure = (
        ht.evaluate(ht.Reviewed(score, y, 1.0, sensitivity=a, specificity=b), "prevalence")["prevalence"]
        for a, b in ((1.0, 1.0), rates)
    )
    assert sure.value == unsure.value == y.mean()
    assert unsure.high - unsure.low > 1.5 * (sure.high - sure.low)


def test_rates_of_a_reviewer_come_from_cases_reviewed_twice():
    said, truth = np.repeat([1, 0, 0, 1], [45, 5, 160, 40]), np.repeat([1, 1, 0, 0], [45, 5, 160, 40])
    sensitivity, specificity = ht.judge_rates(said, truth)
    assert (sensitivity.value, specificity.value) == (0.9, 0.8)
    # Jeffreys' intervals of 45 of 50 and 160 of 200, from a table of the beta distribution.
    assert (sensitivity.low, sensitivity.high) == pytest.approx((0.795, 0.960), abs=0.01)
    assert (specificity.low, specificity.high) == pytest.approx((0.741, 0.851), abs=0.01)
    with pytest.raises(InputError, match="no positive case"):
        ht.judge_rates([1, 0], [0, 0])
    with pytest.raises(InputError, match=r"No case of `said` is negative.*Check cases at random"):
        ht.judge_rates([1, 1], [1, 0])  # those that the reviewer called positive


def test_rows_that_nobody_could_look_at_are_bounded_by_all_that_they_could_be():
    y, score, rng = rows(60)
    chance = np.where(score < 0.2, 0.0, 1.0)
    evidence = ht.Reviewed(score, np.where(chance > 0, y, np.nan), chance)
    with pytest.raises(NotIdentifiable, match="Nobody could look"):
        ht.roc_auc(evidence)
    asked = ("prevalence", "roc_auc", "recall", "precision")
    result = ht.evaluate(evidence, asked, threshold=0.5, n_resamples=50)
    assert np.isnan(result["roc_auc"].value)
    assert result.status == "not identified"
    assert result["precision"].value == pytest.approx(ht.confusion(ht.Labeled(y, score), 0.5).precision)
    # Any labels of the others give values inside.
    for _ in range(50):
        filled = ht.Labeled(np.where(chance > 0, y, rng.random(len(y)) < rng.random()), score)
        assert result["roc_auc"].low <= ht.roc_auc(filled) <= result["roc_auc"].high
        assert result["recall"].low <= ht.confusion(filled, 0.5).recall <= result["recall"].high


@pytest.mark.parametrize("threshold", [0.15, 0.3, 0.62])
def test_bounds_of_rates_are_those_of_all_that_the_rows_could_be(threshold):
    y, score, _ = rows(40, seed=3)
    open_rows = np.zeros(40, dtype=bool)
    open_rows[::4] = True  # ten rows, on both sides of each threshold
    chance = np.where(open_rows, 0.0, 1.0)
    evidence = ht.Reviewed(score, np.where(open_rows, np.nan, y), chance)
    found = {name: [] for name in (*RATES, "roc_auc", "brier")}
    for labels in product([0.0, 1.0], repeat=10):
        filled = y.copy()
        filled[open_rows] = labels
        labeled = ht.Labeled(filled, score)
        cells = ht.confusion(labeled, threshold)
        found["roc_auc"].append(ht.roc_auc(labeled))
        found["brier"].append(ht.brier(labeled))
        for name in RATES:
            found[name].append(getattr(cells, name))
    result = ht.evaluate(evidence, tuple(found), threshold=threshold, n_resamples=40)
    for name, values in found.items():
        ends = result[name].centers.min(), result[name].centers.max()
        exact = name != "roc_auc"  # of which the cuts of a grid miss little
        assert ends == pytest.approx((min(values), max(values)), abs=1e-12 if exact else 0.02), name
        assert result[name].low <= min(values) + 1e-12
        assert result[name].high >= max(values) - 1e-12


def test_stretches_without_a_review_are_left_open_where_chances_are_estimated():
    y, score, rng = rows(2000)
    looked = (score > 0.2) & (rng.random(2000) < 0.3)
    result = ht.evaluate(ht.Reviewed(score, np.where(looked, y, np.nan)), "roc_auc", n_resamples=50)
    assert "Nobody looked at" in result.reason
    everywhere = rng.random(2000) < 0.3
    assert ht.evaluate(ht.Reviewed(score, np.where(everywhere, y, np.nan)), "roc_auc").status == "ok"


def test_tables_merge():
    y, score, rng = rows()
    looked = rng.random(len(y)) < 0.3
    label = np.where(looked, y, np.nan)
    whole = ht.Reviewed(score, label, 0.3, model="none")
    halves = [ht.Reviewed(score[x], label[x], 0.3, model="none") for x in (slice(200), slice(200, None))]
    merged = halves[0].table.merge(halves[1].table)
    assert ht.roc_auc(ht.Reviewed.from_table(merged, model="none")) == ht.roc_auc(whole)


def test_a_saved_table_comes_back(tmp_path):
    y, score, rng = rows()
    evidence = ht.Reviewed(score, np.where(rng.random(len(y)) < 0.3, y, np.nan), 0.3)
    evidence.table.save(tmp_path / "reviewed.npz")
    again = ht.Reviewed.from_table(ScoreTable.load(tmp_path / "reviewed.npz"))
    assert ht.roc_auc(again) == ht.roc_auc(evidence)


BAD = {
    "chance above one": (([0.1, 0.9], [0, 1], [0.5, 1.5]), r"first \(1\.5\) at index 1"),
    "negative chance": (([0.1, 0.9], [0, 1], -0.5), r"got 2 .*first \(-0\.5\) at index 0"),
    "reviewed without a chance": (([0.1, 0.9], [0, 1], [0.5, 0.0]), "reviewed though their"),
    "certain but not reviewed": (([0.1, 0.9], [None, 1], [1.0, 1.0]), "is missing for 1 row"),
    "no review": (([0.1, 0.9], [None, None], 0.5), "no reviewed row"),
    "another label": (([0.1, 0.9], [2, 1], 0.5), r"first \(2\) at index 0"),
    "another length": (([0.1, 0.9], [1], 0.5), "label"),
    "no scores": (([0.1, 0.9], [0, 1], [0.5, 0.5, 0.5]), "probability"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused(case):
    given, words = BAD[case]
    with pytest.raises(InputError, match=words):
        ht.Reviewed(*given)


def test_reviewers_who_tell_nothing_are_refused():
    with pytest.raises(InputError, match="next to nothing"):
        ht.Reviewed([0.1, 0.9], [0, 1], 0.5, sensitivity=0.5, specificity=0.5)
    with pytest.raises(InputError, match="says that row 0 is positive"):
        ht.Reviewed([0.1, 0.9], [0, 1], 0.5, known_positive=[1, 0])


@pytest.mark.parametrize("found", [0, 9])
def test_rates_are_as_uncertain_without_resamples(found):
    # 36 of the 400 rows from .5 on are reviewed, and 300 of the others, of which 3 are positive.
    rng = np.random.default_rng(1)
    score = np.concatenate([rng.uniform(0.5, 1, 400), rng.uniform(0, 0.5, 19_600)])
    label = np.full(20_000, np.nan)
    label[:36] = np.arange(36) < found
    label[400:700] = np.arange(300) < 3
    evidence = ht.Reviewed(score, label, np.where(score >= 0.5, 36 / 400, 300 / 19_600), model="none")
    closed, drawn = (ht.evaluate(evidence, "precision", threshold=0.5, n_resamples=n) for n in (0, 2000))
    a, b = closed["precision"], drawn["precision"]
    assert b.high - 0.03 < a.high < b.high + 0.06
    assert abs(a.low - b.low) < 0.03
    assert a.high > beta.ppf(0.975, found + 0.5, 36 - found + 0.5)  # Jeffreys'; a normal's of 0 was .04


def test_a_table_of_rows_that_were_all_looked_at_comes_back():
    y, score, _ = rows()
    census = ht.Reviewed(score, y.astype(float), 1)
    again = ht.Reviewed.from_table(census.table)
    assert again.is_census
    assert ht.roc_auc(again) == ht.roc_auc(census) == ht.roc_auc(ht.Labeled(y, score))


def test_rates_of_a_later_plan_are_never_zero():
    y, score, rng = rows()
    said = np.where(rng.random(len(y)) < 0.3, (y == 1) & (score > np.median(score)), np.nan)
    likely = ht.Reviewed(score, said, 0.3).likely(score)
    assert likely.min() > 0
    assert (np.diff(likely[np.argsort(score)]) >= 0).all()
