"""Plans of what to review: their chances, their rounds, and what they expect."""

import numpy as np
import pytest

import halftruth as ht
from halftruth._errors import InputError

SCORE = np.random.default_rng(0).beta(0.5, 3.0, 60)


def plan(seed=0, n=12, **given):
    return ht.plan_review(SCORE, n, metrics=("recall", "roc_auc"), threshold=0.5, rng=seed, **given)


def test_so_many_rows_are_drawn_each_once_with_a_chance():
    for n in (1, 2, 3, 7, 12, 59, 60):
        made = plan(n=n)
        assert len(set(made.rows.tolist())) == len(made) == n
        assert made.probability.sum() == pytest.approx(n)
        assert (made.probability > 0).all()
        assert (made.probability <= 1).all()


def test_the_same_seed_gives_the_same_rows():
    assert plan(3).rows.tolist() == plan(3).rows.tolist() != plan(4).rows.tolist()


def test_rows_and_pairs_are_drawn_as_often_as_the_plan_says():
    draws = 1500
    together = np.zeros((60, 60))
    for seed in range(draws):
        drawn = np.zeros(60)
        drawn[plan(seed).rows] = 1
        together += np.outer(drawn, drawn)
    made = plan()
    joint = np.asarray([[made.joint(i, j) for j in range(60)] for i in range(60)])
    error = np.sqrt(joint * (1 - joint) / draws) + 1e-12
    # 3,600 comparisons: the largest of so many normal errors is below 5.
    assert (np.abs(together / draws - joint) / error).max() < 5


def test_known_and_reviewed_rows_are_left_out():
    known, done = np.arange(60) < 5, np.arange(60) >= 50
    made = plan(known_positive=known, reviewed=done)
    assert not (known | done)[made.rows].any()
    assert (made.probability[known | done] == 1).all()


def test_labels_of_all_rows_give_the_labels():
    y = (np.random.default_rng(1).random(60) < SCORE).astype(float)
    made = plan(n=60)
    evidence = ht.Reviewed.from_plan(made, SCORE, y[made.rows])
    assert ht.roc_auc(evidence) == pytest.approx(ht.roc_auc(ht.Labeled(y, SCORE)), abs=1e-12)


def test_rounds_are_combined_in_any_order_and_without_bias():
    rng = np.random.default_rng(2)
    y = (rng.random(60) < 0.3 + 0.4 * SCORE).astype(float)
    totals = []
    for seed in range(600):
        first = plan(seed)
        done = np.isin(np.arange(60), first.rows)
        # The second round looks where the first found positives: it hangs on what was seen.
        pilot = ht.Reviewed.from_plan(first, SCORE, y[first.rows])
        second = plan(seed + 10_000, 20, reviewed=done, round=2, evidence=pilot)
        said = [y[first.rows], y[second.rows]]
        both = ht.Reviewed.from_plan([first, second], SCORE, said, model="none")
        totals.append(float(both.measure().positives))
        if seed < 20:
            turned = ht.Reviewed.from_plan([second, first], SCORE, said[::-1], model="none")
            assert ht.average_precision(turned) == ht.average_precision(both)
    error = np.std(totals) / np.sqrt(len(totals))
    assert abs(np.mean(totals) - y.sum()) < 4 * error


def test_the_width_to_expect_is_the_width_that_comes():
    rng = np.random.default_rng(3)
    y = rng.random(5000) < 0.2
    score = 1 / (1 + np.exp(-(2 * rng.normal(np.where(y, 1.0, -1.0)) + np.log(0.25))))
    made = ht.plan_review(score, 400, metrics="precision", threshold=0.5)
    result = ht.evaluate(
        ht.Reviewed.from_plan(made, score, y[made.rows].astype(float)), "precision", threshold=0.5
    )
    width = result["precision"].high - result["precision"].low
    assert width == pytest.approx(made.expected["precision"], rel=0.5)
    # With ever more reviews what is left is the error of the rows themselves, all of them labeled.
    all_known = ht.evaluate(ht.Labeled(y, score), "precision", threshold=0.5)["precision"]
    assert made.expected_with(10**9)["precision"] == pytest.approx(all_known.high - all_known.low, rel=0.1)
    assert made.expected_with(10**9) == made.expected_with(5000)
    # What reviews add to the variance falls as 1/n, until some strata have no row left to review.
    a, b, c = (made.expected_with(n)["precision"] ** 2 for n in (100, 200, 400))
    assert a - b == pytest.approx(2 * (b - c))
    widths = [made.expected_with(n)["precision"] for n in range(400, 5001, 200)]
    assert (np.diff(widths) <= 1e-12).all()


def test_the_saved_file_holds_rows_chances_and_room_for_labels(tmp_path):
    made = plan()
    made.save(tmp_path / "to_review.csv")
    first, head, *lines = (tmp_path / "to_review.csv").read_text().splitlines()
    assert made.fingerprint in first
    assert head == "row,score,probability,stratum,round,label"
    cells = [line.split(",") for line in lines]
    assert [int(x[0]) for x in cells] == made.rows.tolist()
    assert [float(x[1]) for x in cells] == SCORE[made.rows].tolist()
    assert [float(x[2]) for x in cells] == made.chance.tolist()


def test_bad_input_is_refused():
    made = plan()
    labels = np.ones(12)
    with pytest.raises(InputError, match="60 at most"):
        plan(n=61)
    with pytest.raises(InputError, match="other scores"):
        ht.Reviewed.from_plan(made, SCORE[::-1], labels)
    with pytest.raises(InputError, match="missing for 1 of the 12"):
        ht.Reviewed.from_plan(made, SCORE, [*labels[:11], None])
    with pytest.raises(InputError, match="that another round has"):
        ht.Reviewed.from_plan([made, made], SCORE, [labels, labels])
    with pytest.raises(InputError, match="one array for each plan"):
        ht.Reviewed.from_plan([made], SCORE, [labels, labels])
    with pytest.raises(InputError, match="`evidence` must be Labeled"):
        ht.plan_review(SCORE, 5, evidence=np.ones(60))
    with pytest.raises(InputError, match="does not change smoothly"):
        ht.plan_review(SCORE, 5, metrics="calibration_error")


def test_plans_without_what_they_left_out_are_refused():
    known = np.arange(60) < 10
    first = ht.plan_review(SCORE, 20, known_positive=known)
    labels = np.ones(20)
    with pytest.raises(
        ht.InputError, match=r"when 50 rows were left to review, and .* 60 were.*`known_positive`"
    ):
        ht.Reviewed.from_plan(first, SCORE, labels)
    ht.Reviewed.from_plan(first, SCORE, labels, known_positive=known)
    taken = np.isin(np.arange(60), first.rows)
    second = ht.plan_review(SCORE, 15, known_positive=known, reviewed=taken, round=2)
    with pytest.raises(ht.InputError, match="every earlier round too"):
        ht.Reviewed.from_plan(second, SCORE, labels[:15], known_positive=known)
    both = ht.Reviewed.from_plan([second, first], SCORE, [labels[:15], labels], known_positive=known)
    assert both.n_reviewed == 35


def test_scores_that_expect_no_positive_are_read_as_ranks():
    score = 10 ** (-6 - 3 * np.random.default_rng(0).random(5_000))
    tiny = ht.plan_review(score, 100, metrics="roc_auc", rng=1)
    as_ranks = ht.plan_review(score * 1e9, 100, metrics="roc_auc", rng=1)
    assert tiny.expected["roc_auc"] == pytest.approx(as_ranks.expected["roc_auc"], rel=0.05)


def test_a_prior_too_high_leaves_reviews_where_it_is_surest():
    rng = np.random.default_rng(0)
    y = rng.random(20_000) < 0.1
    score = rng.normal(np.where(y, 2.0, 0.0))
    known = y & (rng.random(20_000) < 0.3)
    # With half as many positives as that, all rows from 2 on would be positive, and none worth a review.
    evidence = ht.PositiveUnlabeled.from_labels(known, score, unlabeled=0, prior=0.2)
    plan = ht.plan_review(
        score, 200, metrics="precision", threshold=1.5, evidence=evidence, known_positive=known
    )
    flagged = (score >= 1.5) & ~known
    even = 200 * 0.1 / (~known).sum() + 0.9 * 0.1 * 200 / flagged.sum()  # of the floor, and of the doubt
    assert np.quantile(plan.probability[flagged], 0.02) > 0.7 * even  # one bin has rows of both sides


@pytest.mark.parametrize("metrics", ["precision", ("roc_auc", "lift")])
def test_metrics_without_a_value_are_not_planned_for(metrics):
    text = "no score is at or above 2: they lie from 0 to 0.9"
    with pytest.raises(InputError, match=text):
        ht.plan_review(np.linspace(0, 0.9, 50), 20, metrics=metrics, threshold=2.0)


def test_forgotten_rows_are_refused_in_large_tables_too():
    score = np.random.default_rng(0).random(1_000_000)
    known = np.arange(len(score)) < 5
    plan = ht.plan_review(score, 50, known_positive=known)
    assert plan.left == 999_995
    labels = np.zeros(50)
    assert ht.Reviewed.from_plan(plan, score, labels, known_positive=known).n_reviewed == 50
    with pytest.raises(InputError, match=r"when 999995 rows were left to review, and .* 1000000 were"):
        ht.Reviewed.from_plan(plan, score, labels)


def test_what_is_no_plan_is_refused():
    for wrong in (None, 123, [None]):
        with pytest.raises(InputError, match="`plan` must be a ReviewPlan, a path of a file"):
            ht.Reviewed.from_plan(wrong, SCORE, np.ones(12))
