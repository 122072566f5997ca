"""Two reviewers: figures of agreement by hand, and the rates that a table allows by brute force."""

import numpy as np
import pytest

import halftruth as ht
from halftruth._errors import InputError, NotIdentifiable, Refuted


def labels(n11, n10, n01, n00):
    a = np.repeat([1, 1, 0, 0], (n11, n10, n01, n00))
    b = np.repeat([1, 0, 1, 0], (n11, n10, n01, n00))
    return a, b


def test_figures_of_a_table_by_hand():
    made = ht.reviewer_agreement(*labels(20, 5, 10, 15))  # the table of Cohen's κ that everybody has
    assert made.agreement.value == pytest.approx(0.7)
    assert made.kappa.value == pytest.approx(0.4)
    assert made.positive_agreement.value == pytest.approx(40 / 55)
    assert made.negative_agreement.value == pytest.approx(30 / 45)
    assert made.kappa.low < 0.4 < made.kappa.high
    # The large-sample error of κ (Fleiss, Cohen & Everitt 1969) is 0.128 here.
    assert made.kappa.replicates.std() == pytest.approx(0.128, rel=0.1)


@pytest.mark.parametrize("table", [(40, 5, 5, 50), (10, 8, 8, 174), (150, 20, 20, 10)])
def test_the_identified_set_is_that_of_a_grid(table):
    n11, n10, _, n00 = np.asarray(table) / sum(table)
    p, a, b = np.meshgrid(*[np.linspace(0.0, 1.0, 301)] * 3, indexing="ij", sparse=True)
    fits = (
        (np.abs(p * a**2 + (1 - p) * (1 - b) ** 2 - n11) < 0.004)
        & (np.abs(p * a * (1 - a) + (1 - p) * b * (1 - b) - n10) < 0.004)
        & (np.abs(p * (1 - a) ** 2 + (1 - p) * b**2 - n00) < 0.004)
        & (a + b > 1.0)
    )
    made = ht.reviewer_agreement(*labels(*table))
    for axis, name in enumerate(("prevalence", "sensitivity", "specificity")):
        seen = np.linspace(0.0, 1.0, 301)[fits.any(axis=tuple({0, 1, 2} - {axis}))]
        assert made.identified[name] == pytest.approx((seen.min(), seen.max()), abs=0.05)


@pytest.mark.parametrize(("prevalence", "a", "b"), [(0.3, 0.9, 0.95), (0.6, 0.75, 0.8)])
def test_a_known_prevalence_gives_the_rates_back(prevalence, a, b):
    positive, negative = prevalence, 1 - prevalence
    n11 = positive * a**2 + negative * (1 - b) ** 2
    n10 = positive * a * (1 - a) + negative * b * (1 - b)
    counts = np.round(np.array([n11, n10, n10, 1 - n11 - 2 * n10]) * 100_000).astype(int)
    made = ht.reviewer_agreement(*labels(*counts), prevalence=prevalence)
    assert made.sensitivity.value == pytest.approx(a, abs=1e-3)
    assert made.specificity.value == pytest.approx(b, abs=1e-3)
    assert np.ptp(made.sensitivity.replicates) > 0
    for name, rate in (("sensitivity", a), ("specificity", b)):
        low, high = made.identified[name]
        assert low <= rate <= high


def test_replicates_hold_the_rates_as_often_as_they_say():
    rng, held, n = np.random.default_rng(0), 0, 300
    for seed in range(n):
        y = rng.random(400) < 0.4
        one, two = (np.where(y, rng.random(400) < 0.8, rng.random(400) < 0.1) for _ in range(2))
        made = ht.reviewer_agreement(one, two, prevalence=0.4, rng=seed).sensitivity
        held += made.low <= 0.8 <= made.high
    # The prevalence that is known is that of the population: three binomial errors of 95%.
    assert 0.95 - 3 * np.sqrt(0.05 * 0.95 / n) <= held / n


def test_ranges_go_into_reviewed_evidence_and_widen_it():
    rng = np.random.default_rng(0)
    y, score = rng.random(2000) < 0.3, rng.random(2000)
    one, two = (np.where(y, rng.random(2000) < 0.9, rng.random(2000) < 0.05) for _ in range(2))
    made = ht.reviewer_agreement(one[:500], two[:500])
    assert made.sensitivity[0] < made.identified["sensitivity"][0]  # the table's own error
    given = {"sensitivity": made.sensitivity, "specificity": made.specificity}
    row = ht.evaluate(ht.Reviewed(score, one.astype(float), 1.0, **given), "prevalence", n_resamples=200)
    assert row["prevalence"].low < y.mean() < row["prevalence"].high
    assert any("share" in note for note in made.notes)
    assert "κ" in repr(made)
    assert made.to_dict()["identified"]["sensitivity"][1] == 1.0


def test_what_two_reviewers_cannot_say_is_refused():
    with pytest.raises(NotIdentifiable, match="no more than chance"):
        ht.reviewer_agreement(*labels(10, 10, 10, 10))
    with pytest.raises(NotIdentifiable, match="every case"):
        ht.reviewer_agreement(*labels(10, 0, 0, 0))
    with pytest.raises(Refuted, match="`prevalence` must be"):
        ht.reviewer_agreement(*labels(400, 20, 20, 560), prevalence=0.1)
    with pytest.raises(InputError, match="`b` has length 1"):
        ht.reviewer_agreement([1, 0], [1])
    apart = ht.reviewer_agreement(*labels(100, 50, 5, 100))
    assert any("McNemar" in note for note in apart.notes)


def told(share, **rates):
    """Kinds of notes where this share of all rows was called positive."""
    n = 2000
    said = np.arange(n) < share * n
    result = ht.evaluate(
        ht.Reviewed(np.linspace(0, 1, n), said.astype(float), 1, **rates), "prevalence", n_resamples=50
    )
    return {note.kind for note in result.notes}


@pytest.mark.parametrize(
    ("share", "rates", "kind"),
    [
        (0.02, {"sensitivity": 0.9, "specificity": 0.9}, "refuted"),  # false alarms alone make it .1
        (0.97, {"sensitivity": 0.9, "specificity": 0.9}, "refuted"),
        (0.105, {"sensitivity": 0.9, "specificity": 0.9}, "not_identified"),
        (0.895, {"sensitivity": 0.9, "specificity": 0.9}, "not_identified"),
        (0.3, {"sensitivity": 0.9, "specificity": 0.9}, None),
        (0.02, {"sensitivity": 0.9, "specificity": (0.9, 0.999)}, None),  # the range allows it
    ],
)
def test_what_was_said_is_held_against_the_rates(share, rates, kind):
    kinds = {"refuted", "not_identified"} & told(share, **rates)
    assert kinds == ({kind} if kind else set())


def test_rates_of_one_estimate_are_drawn_together():
    rates = ht.judge_rates(
        np.repeat([1, 0, 0, 1], [45, 5, 160, 40]), np.repeat([1, 1, 0, 0], [45, 5, 160, 40])
    )
    score = np.linspace(0, 1, 100)
    one = ht.Reviewed(score, score > 0.5, 1, sensitivity=rates[0], specificity=rates[0])
    drawn = one.drawn(one.scenario, 500, np.random.default_rng(0))
    np.testing.assert_array_equal(drawn.sensitivity, drawn.specificity)
