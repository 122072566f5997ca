"""Reviewed cases as they come: any container, hardly any rows, one class, weights of nothing."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import halftruth as ht
from halftruth._errors import InputError

SCORE = [0.9, 0.8, 0.75, 0.5, 0.5, 0.25, 0.2, 0.125]
SAID = [1, None, 1, 0, 1, None, 0, None]
CHANCE = [0.75, 0.75, 0.75, 0.5, 0.5, 0.5, 0.25, 0.25]
GAPS = [np.nan if x is None else x for x in SAID]
NONE_AS_NA = [pd.NA if x is None else x for x in SAID]
CONTAINERS = {
    "arrays": (np.asarray(SCORE), np.asarray(GAPS, dtype=float), np.asarray(CHANCE)),
    "objects with None": (SCORE, np.asarray(SAID, dtype=object), CHANCE),
    "booleans with None": (SCORE, [None if x is None else bool(x) for x in SAID], CHANCE),
    "pandas": (pd.Series(SCORE), pd.Series(GAPS), pd.Series(CHANCE)),
    "pandas Int64": (pd.Series(SCORE), pd.Series(NONE_AS_NA, dtype="Int64"), pd.Series(CHANCE)),
    "pandas boolean": (pd.Series(SCORE), pd.Series(NONE_AS_NA, dtype="boolean"), pd.Series(CHANCE)),
    "pandas objects": (pd.Series(SCORE), pd.Series(NONE_AS_NA, dtype=object), pd.Series(CHANCE)),
    "pandas category": (pd.Series(SCORE), pd.Series(GAPS).astype("category"), pd.Series(CHANCE)),
    "polars": (pl.Series(SCORE), pl.Series(SAID), pl.Series(CHANCE)),
    "polars booleans": (pl.Series(SCORE), pl.Series(SAID).cast(pl.Boolean), pl.Series(CHANCE)),
    "masked": (SCORE, np.ma.masked_array([x or 0 for x in SAID], [x is None for x in SAID]), CHANCE),
}


def metrics(evidence):
    return [ht.prevalence(evidence), ht.roc_auc(evidence), ht.brier(evidence), ht.average_precision(evidence)]


@pytest.mark.parametrize("name", CONTAINERS)
def test_any_container_is_the_same_evidence(name):
    assert metrics(ht.Reviewed(*CONTAINERS[name])) == metrics(ht.Reviewed(SCORE, SAID, CHANCE))


@pytest.mark.parametrize("kind", ["float64", "float32"])
def test_tensors_are_the_same_evidence(kind, require):
    torch = require("torch")
    dtype = getattr(torch, kind)
    score = torch.tensor(SCORE, dtype=dtype, requires_grad=True)
    evidence = ht.Reviewed(score, torch.tensor(GAPS, dtype=dtype), torch.tensor(CHANCE, dtype=dtype))
    exact = np.asarray(SCORE, dtype=kind).astype(float)
    assert metrics(evidence) == metrics(ht.Reviewed(exact, SAID, CHANCE))


@pytest.mark.parametrize(
    ("label", "words"),
    [
        (["1", "", "1", "0", "1", "", "0", ""], "got ''|must hold a number"),
        (np.asarray(["yes"] * 8), "got 'yes'"),
        (np.asarray([1, -1, 1, 0, 1, -1, 0, -1]), r"got 3 other value\(s\), the first \(-1\) at index 1"),
        (np.asarray(GAPS)[:, None], "one-dimensional"),
    ],
)
def test_labels_that_are_none_are_refused(label, words):
    with pytest.raises(InputError, match=words):
        ht.Reviewed(SCORE, label, CHANCE)


def test_missing_or_worded_chances_are_refused():
    with pytest.raises(InputError, match="must be finite, got 1 NaN"):
        ht.Reviewed(SCORE, SAID, [*CHANCE[:-1], np.nan])
    with pytest.raises(InputError, match="`probability` must be a real number, got 'estimate'"):
        ht.Reviewed(SCORE, SAID, "estimate")


rng = np.random.default_rng(2)
Y = rng.random(60) < 0.4
SCORES = np.round(1 / (1 + np.exp(-rng.normal(np.where(Y, 1.0, -1.0)))), 2)
LOOKED = rng.random(60) < 0.5
FEW = {
    "one review": np.arange(60) == np.argmax(Y),
    "one positive": (LOOKED & ~Y) | (np.arange(60) == np.argmax(Y)),
    "no positive": LOOKED & ~Y,
    "no negative": LOOKED & Y,
    "all but one": np.arange(60) != 5,
}


@pytest.mark.filterwarnings("ignore::halftruth._errors.EmptyClassWarning")
@pytest.mark.parametrize("model", ["auto", "none", "blocks", "logistic", "score"])
@pytest.mark.parametrize("probability", [0.5, None])
@pytest.mark.parametrize("name", FEW)
def test_hardly_any_reviews_have_values_and_ranges(name, probability, model):
    evidence = ht.Reviewed(SCORES, np.where(FEW[name], Y, np.nan), probability, model=model)
    result = ht.evaluate(evidence, ["prevalence", "roc_auc", "brier"], threshold=0.5, n_resamples=100)
    row = result["prevalence"]
    assert 0 <= row.low < row.high <= 1  # never certain of anything
    if probability is None and model != "score":
        sure = {"no positive": 0.0, "no negative": 1.0, "one review": 1.0}
        error = 1e-12 if name in sure else 0.1
        assert row.value == pytest.approx(sure.get(name, Y[FEW[name]].mean()), abs=error)
    if name == "no positive" and model == "none":
        assert row.value == 0
        assert np.isnan(result["roc_auc"].value)
    few = FEW[name].sum() < 20
    assert few == any("reviewed: intervals are rough" in str(note) for note in result.notes)


@pytest.mark.filterwarnings("ignore::halftruth._errors.EmptyClassWarning")
def test_a_class_that_nobody_found_leaves_metrics_of_it_undefined_at_every_weight():
    looked = FEW["no negative"]
    for scale in (1.0, 0.3, 409.857924786):
        weight = scale * np.where(np.arange(60) % 3, 1.0, 0.7)
        evidence = ht.Reviewed(
            SCORES, np.where(looked, Y, np.nan), 0.3, sample_weight=weight, model=lambda s: np.ones(len(s))
        )
        assert ht.prevalence(evidence) == pytest.approx(1, abs=1e-12)
        assert np.isnan(ht.confusion(evidence, 0.5).fpr)
        assert np.isnan(ht.roc_auc(evidence))


@pytest.mark.parametrize("score", [np.round(SCORES), np.full(60, 0.5), SCORES * 0, SCORES * 8 - 4])
def test_scores_of_zero_and_one_or_all_alike(score):
    evidence = ht.Reviewed(score, np.where(LOOKED, Y, np.nan), 0.5, model="none")
    assert ht.prevalence(evidence) == pytest.approx(2 * Y[LOOKED].sum() / 60, abs=1e-12)
    if np.ptp(score) == 0:
        assert ht.roc_auc(evidence) == pytest.approx(0.5, abs=1e-12)
    assert ht.evaluate(ht.Reviewed(score, np.where(LOOKED, Y, np.nan)), "roc_auc", n_resamples=20)


def test_rows_of_weight_zero_are_no_rows_though_nobody_could_look_at_them():
    weight = np.where(np.arange(60) < 50, 1.5, 0.0)
    chance = np.where(weight > 0, 0.5, 0.0)
    label = np.where(LOOKED & (weight > 0), Y, np.nan)
    every = ht.Reviewed(SCORES, label, chance, sample_weight=weight)
    some = ht.Reviewed(SCORES[:50], label[:50], 0.5, sample_weight=weight[:50])
    assert metrics(every) == metrics(some)
    assert ht.evaluate(every, "roc_auc", n_resamples=20).status == "ok"


def test_reviews_of_weight_zero_estimate_no_chance():
    weight = np.where(LOOKED & (SCORES > 0.5), 0.0, 1.5)
    assert (weight == 0).sum() > 3
    label = np.where(LOOKED, Y, np.nan)
    every = ht.Reviewed(SCORES, label, sample_weight=weight)
    some = ht.Reviewed(SCORES[weight > 0], label[weight > 0], sample_weight=weight[weight > 0])
    assert metrics(every) == metrics(some)
    with pytest.raises(InputError, match="no reviewed row"):
        ht.Reviewed(SCORES, label, sample_weight=np.where(LOOKED, 0.0, 1.0))


def test_how_many_rows_say_what_was_left_out_and_not_the_scale_of_their_weights():
    n = 200
    score = np.linspace(0, 1, n)
    looked = score > 0.2  # forty rows below, of which none was reviewed
    looked &= np.arange(n) % 3 > 0
    label = np.where(looked, score > 0.6, np.nan)
    for scale in (0.0013, 0.37, 850.3):
        evidence = ht.Reviewed(score, label, sample_weight=np.full(n, scale))
        assert evidence.measure().unidentified is not None


def test_the_order_in_which_rows_come_changes_nothing():
    order = np.random.default_rng(1).permutation(60)
    weight = np.random.default_rng(3).uniform(0.5, 2.0, 60)
    label = np.where(LOOKED, Y, np.nan)
    for chance in (0.5, None):
        one = ht.Reviewed(SCORES, label, chance, sample_weight=weight)
        other = ht.Reviewed(SCORES[order], label[order], chance, sample_weight=weight[order])
        assert metrics(one) == metrics(other)


def test_rounds_in_any_order_are_the_same():
    first = ht.plan_review(SCORES, 20)
    second = ht.plan_review(SCORES, 10, reviewed=np.isin(np.arange(60), first.rows), round=2)
    labels = [Y[plan.rows].astype(float) for plan in (first, second)]
    one = ht.Reviewed.from_plan([first, second], SCORES, labels)
    other = ht.Reviewed.from_plan([second, first], SCORES, labels[::-1])
    assert metrics(one) == metrics(other)


def audit(kind):
    """Evidence of some kind, and what is known of it beside its rows."""
    label, weight = np.where(LOOKED, Y, np.nan), np.linspace(0.5, 2.0, 60)
    known = Y & ~LOOKED & (np.arange(60) % 2 == 0)
    if kind == "rounds":
        first = ht.plan_review(SCORES, 20)
        second = ht.plan_review(SCORES, 10, reviewed=np.isin(np.arange(60), first.rows), round=2)
        labels = [Y[plan.rows].astype(float) for plan in (first, second)]
        return ht.Reviewed.from_plan([first, second], SCORES, labels), {}
    judge = {"sensitivity": 0.9, "specificity": 0.8} if kind == "judge" else {}
    more = {
        "weights": {"sample_weight": weight},
        "known": {"known_positive": known},
    }.get(kind, judge)
    chance = {"estimated": None, "open": np.where(LOOKED, 0.5, 0.0)}.get(kind, 0.5)
    return ht.Reviewed(SCORES, label, chance, **more), judge


@pytest.mark.parametrize("kind", ["plain", "weights", "known", "judge", "estimated", "open", "rounds"])
def test_a_saved_table_gives_the_same_evaluation(kind, tmp_path):
    evidence, judge = audit(kind)
    evidence.table.save(tmp_path / "day.npz")
    again = ht.Reviewed.from_table(ht.ScoreTable.load(tmp_path / "day.npz"), **judge)
    one, other = (ht.evaluate(e, threshold=0.5, n_resamples=30) for e in (evidence, again))
    for name in one:
        for end in ("value", "low", "high"):
            np.testing.assert_array_equal(
                getattr(one[name], end), getattr(other[name], end), f"{end} of {name}"
            )
    assert [note.kind for note in one.notes] == [note.kind for note in other.notes]


# --- What else a review hung on -------------------------------------------------------------------


def by_channel(seed, n=20_000):
    """Cases of one channel are more often positive, and looked at more often at every score."""
    rng = np.random.default_rng(seed)
    channel = rng.random(n) < 0.3
    y = rng.random(n) < np.where(channel, 0.12, 0.03)
    score = 1 / (1 + np.exp(-rng.normal(np.where(y, 1.5, -1.5), 1.2)))
    looked = rng.random(n) < 0.01 + 0.05 * score + channel * (0.04 + 0.15 * score)
    return channel.astype(float), y, score, np.where(looked, y, np.nan)


def test_chances_follow_the_features_that_reviews_hung_on():
    held, blind = 0, 0
    for seed in range(20):
        channel, y, score, label = by_channel(seed)
        precision = ht.confusion(ht.Labeled(y, score), 0.5).precision
        for features in (channel[:, None], None):
            evidence = ht.Reviewed(score, label, features=features)
            row = ht.evaluate(evidence, "precision", threshold=0.5, n_resamples=100)["precision"]
            inside = row.low <= precision <= row.high
            held, blind = held + inside * (features is not None), blind + inside * (features is None)
    assert held >= 16  # of 20 at 95%: fewer come once in 380
    assert blind <= 10
    assert "hung on its score, on the features and on nothing else" in str(
        evidence_notes(channel, score, label)
    )


def evidence_notes(channel, score, label):
    return ht.evaluate(
        ht.Reviewed(score, label, features=channel[:, None]), "prevalence", n_resamples=50
    ).notes


def test_features_that_say_nothing_change_next_to_nothing():
    *_, score, label = by_channel(0)
    noise = np.random.default_rng(1).normal(size=(len(score), 2))
    alone, beside = (
        ht.confusion(ht.Reviewed(score, label, features=x, model="none"), 0.5) for x in (None, noise)
    )
    assert beside.precision == pytest.approx(alone.precision, rel=0.05)
    constant = ht.confusion(ht.Reviewed(score, label, features=np.ones((len(score), 1)), model="none"), 0.5)
    assert constant.precision == pytest.approx(alone.precision, rel=1e-3)


@pytest.mark.parametrize(
    ("features", "probability", "message"),
    [
        (np.ones((3, 1)), None, "`features` must have a row for each of the 20000 scores, got 3 rows"),
        (np.ones(20_000), None, "`features` must be two-dimensional"),
        (np.full((20_000, 1), np.nan), None, "`features` must be finite"),
        ([["a"]] * 20_000, None, "`features` must hold numbers only"),
        (np.ones((20_000, 1)), 0.5, "`features` go with chances that are estimated"),
    ],
)
def test_features_that_cannot_be(features, probability, message):
    *_, score, label = by_channel(0)
    with pytest.raises(ht.InputError, match=message):
        ht.Reviewed(score, label, probability, features=features)


def test_few_positives_that_reviews_found_are_not_called_known():
    score = np.linspace(0, 1, 500)
    label = np.where(np.arange(500) % 5 == 0, score > 0.9, np.nan)
    notes = str(ht.evaluate(ht.Reviewed(score, label, 0.2), "roc_auc", n_resamples=50).notes)
    assert "Reviews found only 10 positive(s)" in notes
    assert "known positive" not in notes


def audit_of_a_tenth():
    """2,000 rows, 201 of them reviewed with the chance 0.1, and three in ten positives known otherwise."""
    rng = np.random.default_rng(2)
    y = rng.random(2000) < 0.3
    score = rng.normal(np.where(y, 1.0, -1.0))
    return y, score, np.where(rng.random(2000) < 0.1, y, np.nan), y & (rng.random(2000) < 0.3)


def test_positives_that_reviews_found_are_not_known_positives():
    y, score, label, known = audit_of_a_tenth()
    found = label == 1
    with pytest.raises(InputError, match="has all 65 positives that reviews found"):
        ht.Reviewed(score, label, 0.1, known_positive=found)
    all_above = np.where(score >= 1, y, label)
    n = int((all_above == 1).sum())  # by chance or not
    with pytest.raises(InputError, match=f"has all {n} positives that reviews found"):
        ht.Reviewed(score, all_above, np.where(score >= 1, 1, 0.1), known_positive=all_above == 1)
    some = found & (score > 0)
    with pytest.raises(InputError, match=r"has 5\d row\(s\) that were reviewed by chance, where 5.\d were"):
        ht.Reviewed(score, label, 0.1, known_positive=some)
    with pytest.raises(InputError, match="known by the reviews"):
        ht.Reviewed(score, label, 0.1, known_positive=found | known)
    with pytest.raises(InputError, match="known otherwise, leave the label out"):
        ht.Reviewed(score, np.where(known, 1.0, label), 0.1, known_positive=known)
    one, other = (
        ht.Reviewed(score, x, 0.1, known_positive=known) for x in (label, np.where(known, np.nan, label))
    )
    assert ht.prevalence(one) == ht.prevalence(other)  # these are certain, whether or not somebody looked


@pytest.mark.parametrize("first", ["nobody", "known"])
def test_positives_of_a_plan_are_not_known_positives(first):
    y, score, _, known = audit_of_a_tenth()
    known &= first == "known"
    plan = ht.plan_review(score, 100, known_positive=known)
    label = y[plan.rows]
    assert len(ht.Reviewed.from_plan(plan, score, label, known_positive=known).table) == 2000
    found = known.copy()
    found[plan.rows[label]] = True
    with pytest.raises(InputError, match="known by the reviews"):
        ht.Reviewed.from_plan(plan, score, label, known_positive=found)


def test_rows_that_are_known_since_the_plan_may_be_in_it():
    y, score, _, known = audit_of_a_tenth()
    plan = ht.plan_review(score, 100)
    assert known[plan.rows].any()
    audit = ht.Reviewed.from_plan(plan, score, y[plan.rows], known_positive=known)
    assert audit.design().known_positive == known.sum()


@pytest.mark.parametrize(("chance", "sum_of_chances"), [(0.5, "1000"), (0.01, "20"), (1e-12, "2e-09")])
def test_chances_of_another_number_of_reviews(chance, sum_of_chances):
    _, score, label, _ = audit_of_a_tenth()
    with pytest.raises(InputError, match=f"adds up to {sum_of_chances} reviews, and 201 rows were reviewed"):
        ht.Reviewed(score, label, chance)
    assert ht.Reviewed(score, label, 0.08).n_reviewed == 201


def test_what_to_do_with_missing_labels_is_checked_though_none_is_missing():
    _, score, _, _ = audit_of_a_tenth()
    plan = ht.plan_review(score, 10)
    with pytest.raises(InputError, match="missing"):
        ht.Reviewed.from_plan(plan, score, np.zeros(10), missing="drop")


def test_unequal_weights_are_of_reviews_and_not_of_known_positives():
    _, score, label, _ = audit_of_a_tenth()
    weight = np.where(np.arange(2000) % 10, 1.0, 20.0)
    notes = str(
        ht.evaluate(ht.Reviewed(score, label, 0.1, sample_weight=weight), "recall", threshold=0).notes
    )
    assert "Some reviews stand for far more rows than others" in notes
    assert "known positives" not in notes


def test_chances_that_are_not_those_of_the_scores():
    """As many reviews as the chances expect, but of high scores: taken for random, they are off."""
    rng = np.random.default_rng(5)
    score = rng.random(5_000)
    looked = rng.random(5_000) < np.where(score >= 0.95, 0.5, 0.005)
    label = np.where(looked, score > 0.5, np.nan)
    with pytest.raises(InputError, match=r"reviews of rows that score 0\.9\d* or more, and \d+ rows were"):
        ht.Reviewed(score, label, looked.mean())
    ht.Reviewed(score, label, np.where(score >= 0.95, 0.5, 0.005))


def test_reviews_that_found_positives_alone_are_doubted():
    score = np.linspace(0, 1, 200)
    doubt = "All 20 reviews found a positive"
    for label, doubted in ((1.0, True), (score[:20] > 0.05, False)):
        said = np.full(200, np.nan)
        said[:20] = label
        notes = ht.evaluate(ht.Reviewed(score, said, 0.1), ["prevalence"], n_resamples=0).notes
        assert any(doubt in str(note) for note in notes) == doubted


def test_a_label_that_is_missing_below_a_threshold_does_not_move_precision():
    rng = np.random.default_rng(1)
    y = rng.random(20_000) < 0.0154
    score = 1 / (1 + np.exp(-(1.6 * y + rng.normal(size=20_000) - 3.5)))
    plan = ht.plan_review(score, 200, metrics="precision", threshold=0.3)
    said = y[plan.rows].astype(float)
    lowest = np.argmin(score[plan.rows])
    one_less = np.where(np.arange(200) == lowest, np.nan, said)
    full, less = (
        ht.evaluate(
            ht.Reviewed.from_plan(plan, score, x, missing="bounds"), ["precision", "recall"], threshold=0.3
        )
        for x in (said, one_less)
    )
    assert less["precision"].value == full["precision"].value
    assert less["precision"].high == pytest.approx(full["precision"].high, abs=0.01)
    assert less["precision"].low == pytest.approx(full["precision"].low, abs=0.01)
    assert np.isnan(less["recall"].value)  # the row stands for 248, any of which may be positive


def test_a_series_of_labels_may_name_its_rows():
    y, score, _, _ = audit_of_a_tenth()
    plan = ht.plan_review(score, 50)
    expected = ht.prevalence(ht.Reviewed.from_plan(plan, score, y[plan.rows]))
    named = pd.Series(y.astype(float))[plan.rows]
    for labels in (named, named.sort_index(), named.reset_index(drop=True)):
        assert ht.prevalence(ht.Reviewed.from_plan(plan, score, labels)) == expected


def test_a_plan_is_not_saved_over_labels(tmp_path):
    _, score, _, _ = audit_of_a_tenth()
    plan, path = ht.plan_review(score, 20), tmp_path / "plan.csv"
    plan.save(path)
    plan.save(path)  # nobody has reviewed any
    text = path.read_text()
    path.write_text(text[:-1] + "1\n")
    with pytest.raises(InputError, match="holds labels of reviews"):
        plan.save(path)
    assert path.read_text() == text[:-1] + "1\n"


def test_a_series_whose_index_may_be_rows_or_places_is_refused():
    y, score, _, _ = audit_of_a_tenth()
    plan = ht.plan_review(score, 2000)  # of all rows
    with pytest.raises(InputError, match="may be the rows, or places in the plan"):
        ht.Reviewed.from_plan(plan, score, pd.Series(y[plan.rows].astype(float)))


def test_known_positives_that_were_certain_to_be_reviewed_may_be_all_that_was_found():
    _, score, _, _ = audit_of_a_tenth()
    known = score > np.quantile(score, 0.98)
    chance = np.where(known, 1.0, 0.05)
    looked = known | (np.random.default_rng(5).random(2000) < 0.05)
    label = np.where(looked, known, np.nan)
    assert ht.prevalence(ht.Reviewed(score, label, chance, known_positive=known, model="none")) == 0.02


def test_rates_of_exactly_one_are_those_of_a_reviewer_who_never_errs():
    y, score, _, _ = audit_of_a_tenth()
    evidence = ht.Reviewed(score, y, 1.0, sensitivity=(1, 1), specificity=(1, 1))
    assert evidence.is_census
    assert ht.roc_auc(evidence) == ht.roc_auc(ht.Labeled(y, score))


def test_reviews_are_not_resampled_by_class():
    _, score, label, _ = audit_of_a_tenth()
    evidence = ht.Reviewed(score, label, 0.1)
    for call in (
        lambda: ht.evaluate(evidence, stratified=True),
        lambda: ht.compare({"a": evidence, "b": evidence}, stratified=True),
    ):
        with pytest.raises(InputError, match="`stratified` keeps the number of rows of each class"):
            call()


def test_areas_allow_for_rows_where_few_stand_for_many():
    # All high scores were looked at, and forty of the others, of which nobody was found positive.
    rng = np.random.default_rng(3)
    score = np.sort(rng.random(4000))
    looked = (score > 0.95) | (rng.random(4000) < 0.01)
    label = np.where(looked, score > 0.95, np.nan)
    evidence = ht.Reviewed(score, label, evidence_chance(score))
    result = ht.evaluate(evidence, ["roc_auc", "brier"])
    assert result["roc_auc"].low < 0.9 < result["roc_auc"].value
    one_more = np.zeros(4000)
    one_more[np.flatnonzero(looked & (score < 0.95))[20]] = 1  # of forty, one could well have been
    other = ht.roc_auc(ht.Reviewed(score, np.where(looked, label + one_more, np.nan), evidence_chance(score)))
    assert result["roc_auc"].low < other


def evidence_chance(score):
    return np.where(score > 0.95, 1, 0.01)


@pytest.mark.filterwarnings("ignore::halftruth._errors.EmptyClassWarning")
@pytest.mark.parametrize("found", [0.0, 1.0])
def test_rates_have_intervals_where_no_review_found_a_class(found):
    rng = np.random.default_rng(0)
    score, label = rng.random(2000), np.full(2000, np.nan)
    label[rng.choice(2000, 100, replace=False)] = found
    reviewed = ~np.isnan(label) & (score >= 0.5)
    row = ht.evaluate(ht.Reviewed(score, label, 0.05), ["precision", "roc_auc"], threshold=0.5)
    assert np.isnan(row["precision"].value)
    assert row["precision"].status == "undefined"
    # About the interval of none, or all, of the flagged reviews.
    low, high = row["precision"].low, row["precision"].high
    wide = 3.7 / reviewed.sum()
    assert (0 <= low <= high < wide) if found == 0 else (1 - wide < low <= high <= 1)
    assert high - low > 1.5 / reviewed.sum()
    assert np.isnan(row["roc_auc"].low)


def test_chances_that_are_off_beyond_noise_are_named():
    rng = np.random.default_rng(4)
    score = rng.random(20_000)
    looked = rng.random(20_000) < np.where(score >= 0.8, 1, 0.01)
    label = np.where(looked, score > 0.9, np.nan)
    for low, named in ((0.01, False), (0.0165, True)):
        given = np.where(score >= 0.8, 1, low)
        notes = [
            str(note) for note in ht.evaluate(ht.Reviewed(score, label, given), "recall", threshold=0.5).notes
        ]
        assert any("of rows with a chance of" in note and "errors off" in note for note in notes) == named
