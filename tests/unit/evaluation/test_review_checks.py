"""What reviews say of the prior, the purity and SCAR: populations whose truth is known, and bad input."""

import json

import numpy as np
import pytest

import halftruth as ht
from halftruth._errors import InputError, NotIdentifiable

SHIFT = 1.4307272992954576  # two thirds of the positives of N(1, 1) lie below


def drawn(seed=0, n=6000, prior=0.2, *, selected=False, chance=0.25):
    """y, score, review chance, and scores of 400 known positives: SCAR, or w = 2 below SHIFT and ½ above."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < prior
    score = rng.normal(np.where(y, 1.0, -1.0))
    more = rng.normal(1.0, 1.0, 8000)
    kept = rng.random(8000) < (np.where(more < SHIFT, 0.25, 1.0) if selected else 1.0)
    looked = rng.random(n) < chance
    reviewed = ht.Reviewed(score, np.where(looked, y, np.nan), chance)
    return y, score, more[kept][:400], reviewed, looked


def check(*, prior=0.2, metrics="roc_auc", given=None, **how):
    _, score, known, reviewed, _ = drawn(**how)
    pu = ht.PositiveUnlabeled(known, score, prior=prior)
    return ht.check_by_reviews(pu, reviewed, metrics, n_resamples=200, **(given or {}))


def test_what_holds_is_kept():
    made = check()
    assert not made.scar.refuted
    assert not made.checks["prior"].refuted
    assert made.gamma.low == 1.0
    assert made.direction == "any"
    assert made.disagree == ()
    assert made.status == "ok"


def test_selection_is_found_with_its_size_and_its_direction():
    made = check(selected=True)
    assert made.scar.refuted
    assert made.gamma.low <= 2.0 <= made.gamma.high < 4.0
    assert made.gamma.low > 1.0
    assert made.direction == "rising"
    assert not made.checks["prior"].refuted
    # The lowest fifth of the known positives has twice as many positives behind it, the highest half.
    assert made.selection[0].low <= 2.0 <= made.selection[0].high
    assert made.selection[-1].low <= 0.5 <= made.selection[-1].high
    assert made.status == "refuted"
    assert f'selection=("rising", {made.gamma.value:.2f})' in made.reason


@pytest.mark.parametrize(("chance_below", "n_blocks"), [(1.0, 5), (0.02, 3)])
def test_blocks_are_as_many_as_positives_in_effect_tell_apart(chance_below, n_blocks):
    # Hundreds of positives are found; where few of them stand for most, five blocks refute SCAR too often.
    y, score, known, _, _ = drawn()
    chance = np.where(score > 0.5, 1.0, chance_below)
    looked = np.random.default_rng(1).random(len(score)) < chance
    reviewed = ht.Reviewed(score, np.where(looked, y, np.nan), chance)
    assert y[looked].sum() > 500
    made = ht.check_by_reviews(
        ht.PositiveUnlabeled(known, score, prior=0.2), reviewed, "prevalence", n_resamples=100
    )
    assert len(made.selection) == n_blocks


def test_a_wrong_prior_is_refuted_and_moves_what_hangs_on_it():
    made = check(prior=0.3, metrics=["prevalence", "roc_auc"])
    assert made.checks["prior"].refuted
    assert not made.scar.refuted
    assert made.prior.low < 0.2 < made.prior.high
    assert "prevalence" in made.disagree
    assert made.side_by_side["prevalence"][0].value == pytest.approx(0.3)
    assert made.status == "refuted"
    assert "The prior 0.300 is refuted" in made.reason


def test_a_range_is_refuted_only_as_a_whole():
    assert not check(prior=(0.15, 0.3)).checks["prior"].refuted
    assert check(prior=(0.28, 0.35)).checks["prior"].refuted
    assert check(prior=None).checks["prior"].p_value is None


def test_answers_are_those_of_evaluate():
    _, score, known, reviewed, _ = drawn()
    pu = ht.PositiveUnlabeled(known, score, prior=0.2)
    made = ht.check_by_reviews(pu, reviewed, ["roc_auc", "precision"], threshold=0.0, n_resamples=100, rng=5)
    for k, evidence in enumerate((pu, reviewed)):
        alone = ht.evaluate(evidence, ["roc_auc", "precision"], threshold=0.0, n_resamples=100, rng=5)
        for name in alone:
            assert made.side_by_side[name][k].value == alone[name].value
            assert made.side_by_side[name][k].low == alone[name].low


@pytest.mark.parametrize(("right", "refuted"), [(100, False), (95, False), (80, True)])
def test_the_purity_by_the_binomial_law(right, refuted):
    from scipy.stats import binomtest

    _, score, known, reviewed, _ = drawn()
    pu = ht.PositiveUnlabeled(known, score, prior=0.2, purity=(0.93, 1.0))
    made = ht.check_by_reviews(pu, reviewed, "roc_auc", purity_sample=(right, 100), n_resamples=100)
    exact = binomtest(right, 100).proportion_ci(0.95, method="exact")
    assert (made.purity.low, made.purity.high) == pytest.approx((exact.low, exact.high), abs=1e-9)
    assert made.checks["purity"].refuted is refuted


def test_a_purity_below_one_is_part_of_what_scar_says():
    y, score, known, reviewed, _ = drawn()
    mixed = np.append(known, score[~y][:200])  # a third are negatives
    right = ht.PositiveUnlabeled(mixed, score, prior=0.2, purity=2 / 3)
    assert not ht.check_by_reviews(right, reviewed, "roc_auc", n_resamples=200).scar.refuted
    wrong = ht.check_by_reviews(right.with_shares(0.2, 1.0), reviewed, "roc_auc", n_resamples=200)
    assert wrong.scar.refuted
    assert wrong.direction == "falling"


def test_one_table_whose_known_positives_are_part_of_the_population():
    rng = np.random.default_rng(99)
    y, score, *_, looked = drawn(seed=1)
    # Γ is against the average: known with chance .1 below SHIFT and .4 above, .2 on average.
    known = y & (rng.random(len(y)) < np.where(score < SHIFT, 0.1, 0.4))
    reviewed = ht.Reviewed(score, np.where(looked & ~known, y, np.nan), 0.25, known_positive=known)
    pu = ht.PositiveUnlabeled.from_labels(known, score, prior=0.2, unlabeled=0)
    made = ht.check_by_reviews(pu, reviewed, "roc_auc", n_resamples=200)
    assert made.gamma.low <= 2.0 <= made.gamma.high
    assert made.direction == "rising"
    # w has the mass one over the known positives, block by block.
    shares = [np.mean((score[known] >= b.start) & (score[known] < b.end)) for b in made.selection]
    assert np.dot(shares, [b.w for b in made.selection]) == pytest.approx(1.0, abs=1e-9)
    assert made.prior.value == pytest.approx(ht.prevalence(reviewed))


def test_a_selection_that_was_granted_is_not_refuted():
    _, score, known, reviewed, _ = drawn(selected=True)
    for granted, status in (
        (3.0, "ok"),
        (("rising", 3.0), "ok"),
        (("falling", 3.0), "refuted"),
        (1.1, "refuted"),
    ):
        pu = ht.PositiveUnlabeled(known, score, prior=0.2, selection=granted)
        assert ht.check_by_reviews(pu, reviewed, "roc_auc", n_resamples=200).status == status


def test_callables_of_one_evaluation_see_the_same_resamples():
    *_, reviewed, _ = drawn(n=500)
    parts = {"low": lambda m: m.split(0.5)["pos"][1], "high": lambda m: m.split(0.5)["pos"][0]}
    rows = ht.evaluate(reviewed, parts | {"all": lambda m: float(m.positives)}, n_resamples=50)
    together = rows["low"].replicates + rows["high"].replicates
    assert together == pytest.approx(rows["all"].replicates, rel=1e-9)
    assert np.std(rows["low"].replicates) > 0


def test_reviewers_who_err_leave_room():
    y, score, known, _, looked = drawn(selected=True)
    errs = {"sensitivity": (0.8, 1.0), "specificity": (0.95, 1.0)}
    made, sure = (
        ht.check_by_reviews(
            ht.PositiveUnlabeled(known, score, prior=0.2),
            ht.Reviewed(score, np.where(looked, y, np.nan), 0.25, **given),
            "roc_auc",
            n_resamples=200,
        )
        for given in (errs, {})
    )
    assert made.gamma.low <= sure.gamma.low <= 2.0 <= sure.gamma.high <= made.gamma.high


def test_few_positives_and_one_score():
    made = check(chance=0.01)
    assert any(note.kind == "small_sample" for note in made.notes)
    assert len(made.selection) == 2
    *_, reviewed, _ = drawn()
    same = ht.PositiveUnlabeled(np.full(30, 0.5), drawn()[1], prior=0.2)
    assert ht.check_by_reviews(same, reviewed, "roc_auc", n_resamples=100).scar.p_value is None


def test_it_is_shown_and_stored():
    made = check(selected=True, given={"purity_sample": (50, 50)})
    stored = json.loads(json.dumps(made.to_dict()))
    assert stored["direction"] == "rising"
    assert stored["side_by_side"]["roc_auc"]["reviews"]["value"] == made.side_by_side["roc_auc"][1].value
    assert "scar refuted, prior not refuted, purity not refuted" in repr(made)
    assert made.reason in str(made)
    assert made._repr_html_().startswith("<pre>")


def test_what_is_not_the_same_population_is_refused():
    y, score, known, reviewed, looked = drawn()
    pu = ht.PositiveUnlabeled(known, score, prior=0.2)
    mine = y & (score > 1)
    part = ht.Reviewed(score, np.where(looked & ~mine, y, np.nan), 0.25, known_positive=mine)
    whole = ht.PositiveUnlabeled.from_labels(mine, score, prior=0.2, unlabeled=0)
    for one, other, text in (
        (pu, part, "no part of the unlabeled sample"),
        (whole, reviewed, "of which .* are known_positive"),
        (whole.with_shares(0.2, 0.9), part, "for certain"),
        (ht.PositiveUnlabeled(known, score, propensity=np.full(400, 0.5)), reviewed, "propensities"),
        (reviewed, pu, "`pu` must be a PositiveUnlabeled"),
    ):
        with pytest.raises(InputError, match=text):
            ht.check_by_reviews(one, other)
    never = ht.Reviewed(score, np.where(looked & (score > 0), y, np.nan), np.where(score > 0, 0.25, 0.0))
    with pytest.raises(NotIdentifiable, match="Nobody could look"):
        ht.check_by_reviews(pu, never)
    with pytest.raises(InputError, match="purity_sample"):
        ht.check_by_reviews(pu, reviewed, purity_sample=(5, 3))


@pytest.mark.parametrize("case", ["no positive was found", "one score"])
def test_where_there_is_no_law_to_compare_nothing_is_said_of_selection(case):
    _, score, known, reviewed, looked = drawn()
    if case == "one score":
        known = np.full(50, score.max())
    else:
        reviewed = ht.Reviewed(score, np.where(looked, 0.0, np.nan), 0.25)
    made = ht.check_by_reviews(ht.PositiveUnlabeled(known, score, prior=0.2), reviewed, n_resamples=200)
    assert made.scar.p_value is None
    assert not made.scar.refuted
    assert "no law to compare" in made.scar.says
    assert (made.gamma.low, made.gamma.high) == (1.0, np.inf)  # it was 1 to 1, and SCAR was refuted
    assert made.checks["prior"].refuted == (case == "no positive was found")
    assert json.loads(json.dumps(made.to_dict()))["gamma"]["value"] is None


def test_a_prior_without_an_interval_was_given_all_the_same():
    _, score, _, reviewed, _ = drawn()
    made = ht.check_by_reviews(ht.PositiveUnlabeled([1.0], score, prior=0.2), reviewed, n_resamples=200)
    assert made.checks["prior"].says.startswith("There is no interval to compare it with; reviews say 0.198")
