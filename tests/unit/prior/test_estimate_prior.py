"""estimate_prior: what every method's result has in common, what may be told besides, and what is refused."""

from __future__ import annotations

import gc
import time
import weakref
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.stats import beta

import halftruth as ht
from halftruth.prior import _estimate_prior as estimating
from halftruth.prior._methods import METHODS, get_method
from halftruth.prior._samples import Samples
from halftruth.prior.estimators import _auto as auto
from halftruth.simulate import GaussianClasses

MODEL = GaussianClasses(prior=0.3, separation=2.5)
STRATA = MODEL.draw_strata(80, 300, rng=3, n_negative=60)
P, U, N = (getattr(STRATA, name).score for name in ("positive", "unlabeled", "negative"))
RESAMPLES = 3
DRAWS = 300
SEEDED = ("auto", "km1", "km2", "divergence")
every = pytest.mark.parametrize("method", METHODS)
resampled = pytest.mark.parametrize("method", [name for name in METHODS if name != "auto"])


@pytest.fixture(autouse=True)
def _fewer_draws(monkeypatch):
    monkeypatch.setattr(auto, "N_DRAWS", DRAWS)


def estimate(method, positive=P, unlabeled=U, **options):
    if METHODS[method].needs_negatives:
        options.setdefault("negative", N)
    return ht.estimate_prior(positive, unlabeled, method=method, n_resamples=RESAMPLES, **options)


@cache
def plain_estimate(method):
    """By this method of these rows, with nothing else said."""
    return estimate(method)


def evidence(population="unlabeled", negative=None, **options):
    return ht.PositiveUnlabeled(P, U, negative=negative, population=population, **options)


def of_evidence(method, given, **options):
    return ht.estimate_prior(given, method=method, n_resamples=RESAMPLES, **options)


def assert_same(one, other):
    np.testing.assert_array_equal(one.replicates, other.replicates)
    assert (one.value, one.low, one.high, one.upper) == (other.value, other.low, other.high, other.upper)
    assert (one.notes, one.assumption, one.method) == (other.notes, other.assumption, other.method)


# --- every method -------------------------------------------------------------------------------------


@every
def test_what_every_estimate_has(method):
    made = plain_estimate(method)
    assert 0 <= made.value <= 1
    assert 0 <= made.low <= made.high <= 1
    assert made.replicates.shape == (DRAWS if method == "auto" else RESAMPLES,)
    assert ((made.replicates >= 0) & (made.replicates <= 1)).all()
    assert made.low in (*made.replicates, made.value)
    assert made.high in (*made.replicates, made.value)
    assert made.low <= made.value <= made.high
    assert made.method == method
    assert made.assumption == METHODS[method].assumption
    assert made.population == "unlabeled"
    assert made.upper == pytest.approx(ht.prior_upper_bound(P, U), rel=1e-9)
    assert made.curve is not None
    assert len(made.curve.x) == len(made.curve.y) > 1
    assert np.isfinite(made.curve.y).any()


@every
def test_most_methods_are_near_the_truth_of_separated_classes(method):
    far = GaussianClasses(prior=0.3, separation=5.0).draw_strata(300, 900, rng=1, n_negative=200)
    options = {"negative": far.negative.score} if method == "mixture" else {}
    made = estimate(method, far.positive.score, far.unlabeled.score, **options)
    truth = far.unlabeled.y.mean()
    # Upper bounds, not estimates in the middle.
    slack = 0.1 if method in ("roc-slope", "tice") else 0.05
    assert abs(made.value - truth) < slack


@every
def test_same_seed_same_estimate(method):
    made = estimate(method, rng=7)
    assert_same(made, estimate(method, rng=np.random.default_rng(7)))
    assert not np.array_equal(made.replicates, estimate(method, rng=8).replicates)


@every
def test_an_evidence_gives_what_its_arrays_give(method):
    weight = np.linspace(0.5, 2, len(P))
    negative = N if method == "mixture" else None
    given = ht.PositiveUnlabeled(P, U, negative=negative, positive_weight=weight, purity=0.9)
    assert_same(
        of_evidence(method, given), estimate(method, positive_weight=weight, purity=0.9, negative=negative)
    )


@every
def test_of_all_rows_every_replicate_is_converted(method):
    negative = N if method == "mixture" else None
    n_p, n_u, n = len(P), len(U), len(P) + len(U) + (0 if negative is None else len(N))
    for purity in (1.0, 0.9):
        alpha = of_evidence(method, evidence("unlabeled", negative, purity=purity))
        pi = of_evidence(method, evidence("all", negative, purity=purity))
        for name in ("value", "low", "high", "upper", "replicates"):
            expected = (purity * n_p + getattr(alpha, name) * n_u) / n
            assert getattr(pi, name) == pytest.approx(expected, rel=1e-12), name
        assert pi.population == "all"
        assert pi.curve.chosen == alpha.curve.chosen


@resampled
def test_a_purity_is_a_factor(method):
    pure, noisy = plain_estimate(method), estimate(method, purity=0.7)
    for name in ("value", "low", "high", "upper", "replicates"):
        assert getattr(noisy, name) == pytest.approx(0.7 * getattr(pure, name), rel=1e-12), name


def test_auto_reads_the_purity_itself():
    pure, noisy = plain_estimate("auto"), estimate("auto", purity=0.7)
    assert noisy.replicates.max() <= 0.7
    assert noisy.upper == pytest.approx(0.7 * pure.upper)
    assert not np.allclose(noisy.replicates, 0.7 * pure.replicates)


@pytest.mark.parametrize("method", [name for name in METHODS if name not in SEEDED])
def test_a_weight_is_a_number_of_rows(method):
    """Masses of weights are those of repeated rows; how many rows are in effect is another question."""
    rng = np.random.default_rng(0)
    strata = {"positive": P, "unlabeled": U, "negative": N}
    times = {name: rng.integers(0, 4, len(rows)) for name, rows in strata.items()}
    weights = {f"{name}_weight": count.astype(float) for name, count in times.items()}
    if method != "mixture":
        del weights["negative_weight"], strata["negative"]
    repeated = {name: np.repeat(rows, times[name]) for name, rows in strata.items()}
    tables = [ht.PositiveUnlabeled(**strata, **weights).table, ht.PositiveUnlabeled(**repeated).table]
    one, two = (Samples.from_sums(table, table.support, table.support.sums()) for table in tables)
    np.testing.assert_allclose(one.p_above, two.p_above)
    np.testing.assert_allclose(one.u_above, two.u_above)
    of_rows = {"n_positive": two.n_positive, "n_unlabeled": two.n_unlabeled, "n_negative": two.n_negative}
    assert one.n_positive < two.n_positive
    fit = METHODS[method].fit
    expected = fit(two, rng).value
    assert fit(replace(one, **of_rows), rng).value == pytest.approx(expected, abs=1e-9)
    # The public call goes through the same masses; equal weights say nothing at all.
    twice = {name: np.full(len(weight), 2.0) for name, weight in weights.items()}
    plain = plain_estimate(method).value
    assert estimate(method, **twice).value == pytest.approx(plain, abs=0.006)
    assert estimate(method, **weights).value == pytest.approx(fit(one, rng).value, rel=1e-12)


def test_an_estimate_leaves_nothing_behind():
    # 10^7 scores that stay after their estimate would be noticed.
    given = estimating.read_inputs(P, U, None, 1.0, (None,) * 3)
    given.upper(0.95)
    table = weakref.ref(given.table)
    del given
    gc.collect()
    assert table() is None


# --- known negatives, a labeled sample, a range -------------------------------------------------------


def test_with_negatives_auto_is_the_mixture():
    assert_same(estimate("auto", negative=N), estimate("mixture", negative=N))
    weighted = estimate("auto", negative=N, negative_weight=np.linspace(1, 3, len(N)))
    assert weighted.value != estimate("auto", negative=N).value
    assert_same(of_evidence("auto", evidence(negative=N)), estimate("mixture", negative=N))


def test_negatives_find_a_share_that_scores_alone_cannot():
    # Two fifths of the negatives score like positives.
    rng = np.random.default_rng(5)

    def negatives(n):
        return np.where(rng.random(n) < 0.4, rng.normal(3, 1, n), rng.normal(0, 1, n))

    p, u = rng.normal(3, 1, 1000), np.append(rng.normal(3, 1, 800), negatives(3200))
    with_them = ht.estimate_prior(p, u, negative=negatives(1000), n_resamples=60)
    without = ht.estimate_prior(p, u, method="bbe", n_resamples=60)
    assert with_them.low < 0.2 < with_them.high
    assert with_them.high - with_them.low < 0.15
    assert without.low > 0.4
    assert without.upper > 0.4


@pytest.mark.parametrize(("k", "m"), [(0, 5), (9, 50), (50, 50)])
@pytest.mark.parametrize("purity", [1.0, 0.8])
def test_a_labeled_sample_alone_is_its_beta_law_and_contradictions_are_said(k, m, purity):
    made = ht.estimate_prior(P, U, method="sample", labeled_sample=(k, m), purity=purity)
    law = beta(k + 0.5, m - k + 0.5)
    upper = purity * ht.prior_upper_bound(P, U)
    reached = law.cdf([made.low, made.value, made.high])
    assert reached == pytest.approx([0.025, 0.5, 0.975], abs=2 / DRAWS)
    assert made.upper == pytest.approx(upper)
    assert any("contradicts the scores" in note for note in made.notes) == (k > 9)
    assert made.assumption == "the labeled cases are a random sample of the unlabeled; nothing else"
    assert made.method == "sample"
    assert made.curve is not None


def test_a_labeled_sample_and_a_range():
    law = beta(9.5, 41.5)
    made = ht.estimate_prior(P, U, method="sample", labeled_sample=(9, 50), within=(0.15, 0.2))
    ends = law.cdf(0.15), law.cdf(0.2)
    assert made.value == pytest.approx(law.ppf((ends[0] + ends[1]) / 2), abs=1e-3)
    assert 0.15 <= made.replicates.min() <= made.replicates.max() <= 0.2


def test_auto_weighs_a_labeled_sample_with_the_scores():
    alone = plain_estimate("auto")
    few, many = (estimate("auto", labeled_sample=(k, 4 * k)) for k in (5, 100))
    assert many.high - many.low < few.high - few.low < alone.high - alone.low
    assert abs(many.value - 0.25) < 0.03


@pytest.mark.parametrize("within", [(0.0, 0.1), [0.2, 0.25], np.array([0.5, 1.0])])
def test_auto_stays_within_a_range(within):
    made = estimate("auto", within=within)
    assert within[0] <= made.replicates.min()
    assert made.replicates.max() <= within[1] + 1e-9


def test_a_lower_level_gives_a_shorter_interval():
    wide, narrow = (estimate("auto", confidence_level=level) for level in (0.95, 0.5))
    np.testing.assert_array_equal(wide.replicates, narrow.replicates)
    assert narrow.high - narrow.low < 0.6 * (wide.high - wide.low)
    assert narrow.upper < wide.upper
    assert narrow.confidence_level == 0.5


def test_resamples_are_as_many_as_asked_for():
    assert len(ht.estimate_prior(P, U, method="bbe").replicates) == METHODS["bbe"].n_resamples == 500
    assert len(ht.estimate_prior(P, U, method="bbe", n_resamples=17).replicates) == 17


def test_joined_scores_move_no_replicates():
    """With more scores than are resampled, replicates stay around the value of all rows."""
    drawn = MODEL.draw_strata(2000, 8000, rng=0)
    for method in ("bbe", "tice", "elkan-noto"):
        made = ht.estimate_prior(drawn.positive.score, drawn.unlabeled.score, method=method, n_resamples=60)
        assert abs(made.replicates.mean() - made.value) < 2 * made.replicates.std()


def test_an_estimate_above_what_is_not_refuted_says_so():
    made = ht.estimate_prior([0.0] * 50, [1.0] * 200, method="bbe", n_resamples=2)
    assert made.value == 1
    assert any("is refuted by the data" in note and note.kind == "refuted" for note in made.notes)


# --- both shares --------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["auto", "alphamax", "bbe"])
def test_prior_and_purity_belong_together(method):
    drawn = GaussianClasses(prior=0.2, separation=5.0).draw_strata(800, 3000, rng=1, purity=0.8)
    p, u = drawn.positive.score, drawn.unlabeled.score
    both = ht.estimate_prior_and_purity(p, u, method=method, n_resamples=20)
    assert both.prior.value == pytest.approx(0.2, abs=0.05)
    assert both.purity.value == pytest.approx(0.8, abs=0.05)
    assert len(both.prior.replicates) == len(both.purity.replicates)
    assert (both.prior.replicates <= both.purity.replicates + 1e-12).all()
    for share in (both.prior, both.purity):
        assert share.low <= share.high
        assert share.curve is not None
        assert share.method == method
        assert "the mislabeled ones a random sample of the negatives" in share.assumption
        assert share.status == "not identified"
    again = ht.estimate_prior_and_purity(p, u, method=method, n_resamples=20)
    assert_same(both.prior, again.prior)
    assert_same(both.purity, again.purity)


@pytest.mark.parametrize("method", ["auto", "alphamax"])
def test_prior_and_purity_of_all_rows_are_converted_together(method):
    # What an evidence holds for its purity is not asked for.
    alpha, pi = (
        ht.estimate_prior_and_purity(given, method=method, n_resamples=5)
        for given in (evidence("unlabeled"), evidence("all", purity=0.6))
    )
    np.testing.assert_array_equal(alpha.purity.replicates, pi.purity.replicates)
    for name in ("value", "replicates"):
        rho, share = getattr(alpha.purity, name), getattr(alpha.prior, name)
        expected = (rho * len(P) + share * len(U)) / (len(P) + len(U))
        assert getattr(pi.prior, name) == pytest.approx(expected, rel=1e-12)
    assert pi.prior.population == "all"


def test_purity_is_not_estimated_with_negatives():
    with pytest.raises(
        ht.InputError, match=r'"mixture" does not estimate a purity\. Leave it out, or pass \'alphamax\''
    ):
        ht.estimate_prior_and_purity(P, U, method="mixture")


# --- refusals -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "bayes"}, r"`method` must be one of auto, alphamax, .*mixture, or 'sample' with .*; got 'bayes'\."),
        ({"method": 3}, r"`method` must be one of .*; got 3\."),
        ({"within": 0.3}, r"`within` must be a pair \(low, high\), got 0\.3\."),
        ({"within": (0.1, 0.2, 0.3)}, r"`within` must be a pair \(low, high\)"),
        ({"within": (0.3, 0.1)}, r"`within` must satisfy 0 <= low < high <= 1, got \(0\.3, 0\.1\)"),
        ({"within": (0.3, 0.3)}, r"`within` must satisfy 0 <= low < high <= 1"),
        ({"within": (-0.1, 0.3)}, r"`within` must satisfy 0 <= low < high <= 1"),
        ({"within": (0.1, 30)}, r"`within` must satisfy 0 <= low < high <= 1"),
        ({"within": ("a", 0.3)}, r"`within` must be a pair \(low, high\), got \('a', 0\.3\)"),
        ({"within": (0.1, np.nan)}, r"`within` must be a pair \(low, high\), got \(0\.1, nan\)"),
        ({"within": (0.8, 0.9), "purity": 0.7}, r"`within` starts at 0\.8, above the purity 0\.7, which no α can exceed"),
        ({"labeled_sample": 9}, r"`labeled_sample` must be a pair \(positives found, cases labeled\), got 9\."),
        ({"labeled_sample": (1, 2, 3)}, r"`labeled_sample` must be a pair"),
        ({"labeled_sample": (9, 5)}, r"`labeled_sample` has 9 positives among 5 cases\. Pass \(positives, cases\)"),
        ({"labeled_sample": (0.5, 5)}, r"`labeled_sample` must be a whole number of at least 0, got 0\.5"),
        ({"labeled_sample": (-1, 5)}, r"`labeled_sample` must be a whole number of at least 0, got -1"),
        ({"labeled_sample": (0, 0)}, r"`labeled_sample` must be a whole number of at least 1, got 0"),
        ({"method": "sample"}, r'method="sample" needs `labeled_sample`: \(positives found, cases labeled\)\.'),
        ({"method": "alphamax", "within": (0.1, 0.3)}, r"`within` is read by method 'auto' without known negatives, not by 'alphamax'"),
        ({"method": "em", "labeled_sample": (1, 3)}, r"`labeled_sample` is read by method 'auto' without known negatives, not by 'em'"),
        ({"negative": N, "within": (0.1, 0.3)}, r"`within` is read by method 'auto' without known negatives, not by 'mixture'"),
        ({"negative_weight": [1.0]}, r"`negative_weight` was given without `negative`\. Pass both or neither"),
        ({"positive_weight": [1.0]}, r"`positive_weight` has length 1, but the rows it belongs to number 80"),
        ({"unlabeled_weight": -np.ones(300)}, r"`unlabeled_weight` must not be negative"),
        ({"purity": 0.0}, r"`purity` must lie in \(0, 1\], got 0\.0"),
        ({"purity": 1.2}, r"`purity` must lie in \(0, 1\], got 1\.2"),
        ({"confidence_level": 95}, r"`confidence_level` must lie in \(0, 1\), got 95\. Pass 0\.95 for 95%"),
        ({"method": "bbe", "n_resamples": 1}, r"`n_resamples` must be a whole number of at least 2, got 1"),
        ({"method": "bbe", "n_resamples": 2.5}, r"`n_resamples` must be a whole number of at least 2"),
    ],
)  # fmt: skip
def test_what_is_refused(options, message):
    with pytest.raises(ht.InputError, match=message):
        ht.estimate_prior(P, U, **options)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ((P,), r"Pass the scores of the known positives and of the unlabeled, or one PositiveUnlabeled evidence; got ndarray alone"),
        ((ht.Labeled([0, 1], [0.1, 0.9]),), r"or one PositiveUnlabeled evidence; got Labeled alone"),
        ((None,), r"got NoneType alone"),
        (([], U), r"`positive` is empty\. Pass at least one score"),
        ((P, []), r"`unlabeled` is empty\. Pass at least one score"),
        (([0.5, np.nan], U), r"`positive` must be finite, got 1 NaN or infinite value\(s\), the first \(nan\) at index 1"),
        ((P, [np.inf]), r"`unlabeled` must be finite"),
        ((P, "abc"), r"`unlabeled` must be one-dimensional"),
        ((np.ones((5, 2)), U), r"`positive` must be one-dimensional, got shape \(5, 2\)"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("call", [ht.estimate_prior, ht.estimate_prior_and_purity])
def test_what_are_no_scores(call, arrays, message):
    with pytest.raises(ht.InputError, match=message):
        call(*arrays)


@pytest.mark.parametrize(
    "options", [{"purity": 0.9}, {"negative": N}, {"positive_weight": [1.0]}, {"unlabeled_weight": [1.0]}]
)
def test_an_evidence_is_not_told_twice(options):
    with pytest.raises(ht.InputError, match=r"An evidence has a purity, negatives and weights of its own"):
        ht.estimate_prior(evidence(), **options)


def test_a_mixture_without_negatives_is_not_identified():
    with pytest.raises(
        ht.NotIdentifiable, match=r'method="mixture" needs known negatives\. Pass `negative`\.'
    ):
        ht.estimate_prior(P, U, method="mixture")


def test_a_method_is_looked_up_by_its_name():
    assert all(get_method(name).name == name for name in METHODS)


# --- hard data ----------------------------------------------------------------------------------------

GRID = np.linspace(0, 1, 200)
HARD = {
    "one row each": ([1.0], [0.0]),
    "one row each, tied": ([1.0], [1.0]),
    "one row each, reversed": ([0.0], [1.0]),
    "two and one": ([0.3, 0.6], [0.5]),
    "constant": (np.ones(30), np.ones(70)),
    "heavy ties": ([1.0, 2, 2, 3] * 15, [0.0, 0, 1, 2, 3] * 40),
    "tiny and huge": ([1e300, 5e-324], [1e300, 5e-324, -1e300, -1e300]),
    "reversed": (GRID, GRID + 2),
}


@every
@pytest.mark.parametrize("name", HARD)
def test_hard_data_have_an_estimate(method, name):
    positive, unlabeled = HARD[name]
    options = {"negative": [-1.0, 0.0, 0.5, 1.0]} if method == "mixture" else {}
    made = ht.estimate_prior(
        positive, unlabeled, method=method, n_resamples=None if method == "auto" else 2, **options
    )
    assert 0 <= made.value <= 1
    assert 0 <= made.low <= made.high <= 1
    assert 0 < made.upper <= 1


@every
def test_one_law_refutes_no_share(method):
    x = np.random.default_rng(2).normal(0, 1, 150)
    made = estimate(method, x, x)
    assert made.upper > 0.99
    assert made.value > 0.85
    if method == "auto":
        assert made.high > 0.99


@every
def test_constant_scores_refute_no_share(method):
    made = estimate(method, np.ones(30), np.ones(70), **({"negative": [0.0]} if method == "mixture" else {}))
    assert made.upper == 1
    if method == "auto":  # which has nothing but its prior
        assert made.low < 0.06
        assert made.high > 0.94
    else:
        assert made.value == 1


@every
def test_disjoint_samples_have_no_positives_among_the_unlabeled(method):
    negative = {"negative": GRID[:50]} if method == "mixture" else {}
    made = estimate(method, GRID + 2, np.linspace(0, 1, 500), **negative)
    assert made.upper < 0.03
    if method == "km2":  # its threshold is below every slope
        assert made.value == 1
        assert any("is refuted by the data" in note and note.kind == "refuted" for note in made.notes)
    else:
        assert made.value < (0.1 if method == "roc-slope" else 0.02)


@every
def test_a_histogram_gives_nearly_the_estimate_of_its_rows(method):
    scores = MODEL.draw_strata(200, 800, rng=0, n_negative=300)
    p, u, n = (1 / (1 + np.exp(-getattr(scores, x).score)) for x in ("positive", "unlabeled", "negative"))
    table = ht.PositiveUnlabeled(p, u, negative=n if method == "mixture" else None).table
    exact, binned = (
        of_evidence(method, ht.PositiveUnlabeled.from_table(each, population="unlabeled"))
        for each in (table, table.compress())
    )
    assert table.compress().grid is not None
    assert binned.value == pytest.approx(exact.value, abs=0.03)


@every
def test_many_rows_are_quick(method):
    drawn = MODEL.draw_strata(20_000, 80_000, rng=0, n_negative=5000)
    negative = drawn.negative.score if method == "mixture" else None
    start = time.process_time()
    made = ht.estimate_prior(
        drawn.positive.score, drawn.unlabeled.score, negative=negative, method=method, n_resamples=2
    )
    # Some tenths of a second each; the limit is for slow machines, and still fails what is quadratic.
    assert time.process_time() - start < 20
    assert made.value == pytest.approx(0.3, abs=0.15)


def test_a_range_that_the_scores_refute_is_an_error():
    with pytest.raises(
        ht.InputError, match=r"`within` starts at 0\.9, and the scores refute every α above 0\.\d+"
    ):
        estimate("auto", within=(0.9, 0.95))


def test_labels_are_no_scores():
    with pytest.raises(ht.InputError, match="these look like labels"):
        ht.estimate_prior(np.arange(len(U)) % 2, U)


def test_positives_left_among_the_unlabeled_are_noticed():
    note = "also occurs among the unlabeled"
    assert any(note in n for n in ht.estimate_prior(P, np.concatenate([P, U])).notes)
    assert not any(note in n for n in plain_estimate("auto").notes)


def test_scores_that_say_nothing_are_called_so():
    rng = np.random.default_rng(3)
    made = ht.estimate_prior(rng.normal(size=200), rng.normal(size=2000))
    assert any("hardly tell" in note for note in made.notes)
    assert any("Only 2 known positive(s)" in note for note in ht.estimate_prior(P[:2], U).notes)
    assert not any("hardly tell" in note for note in plain_estimate("auto").notes)


@pytest.mark.parametrize("spread", [1, 2])
def test_an_estimate_says_that_the_data_do_not_identify_it(spread):
    """N(1.5, 1) among N(0, 2): the shapes assumed put the value far above the truth, .3."""
    rng = np.random.default_rng(5)
    unlabeled = np.append(rng.normal(1.5, 1, 1_200), rng.normal(0, spread, 2_800))
    positive = rng.normal(1.5, 1, 500)
    made = ht.estimate_prior(positive, unlabeled)
    premise, _, consequence = made.assumption.partition("; ")
    assert made.status == "not identified"
    assert made.reason.startswith(
        f"Positives and unlabeled alone allow every α from 0 to {made.upper:.4g} (confidence 0.95). "
    )
    assert f" rest on this: {premise}. " in made.reason
    assert made.notes[1] == f"I{consequence[1:]}."
    for text in (str(made), repr(made)):
        assert text.count(f"NOT IDENTIFIED: {made.reason}") == text.count(premise) == 1
    interval = f"{made.low:.4g} to {made.high:.4g}"
    assert f"\nif what it assumes holds: {interval}\nnot refuted: up to {made.upper:.4g} (conf" in str(made)
    told = made.to_dict()
    assert (told["status"], told["reason"], told["value"]) == (made.status, made.reason, made.value)
    assert (made.value > 0.5) == (spread == 2)
    negatives = {"negative": rng.normal(0, spread, 300)}
    for known in (negatives, {"labeled_sample": (12, 40)}, {"labeled_sample": (12, 40), "method": "sample"}):
        made = ht.estimate_prior(positive, unlabeled, **known)
        assert (made.status, made.reason) == ("ok", "")
        assert f" ({made.low:.4g} to {made.high:.4g}, confidence 0.95): share" in str(made)
        assert made.low < 0.3 < made.high or "method" not in known


def test_an_estimate_prints_what_it_rests_on():
    text = str(plain_estimate("auto"))
    assert "share of positives among the unlabeled, by auto" in text
    assert "not refuted: up to" in text
    assert text.startswith("NOT IDENTIFIED: Positives and unlabeled alone allow every α from 0 to ")
    assert plain_estimate("auto").to_dict()["method"] == "auto"


def test_what_identifies_alpha():
    rng = np.random.default_rng(5)
    known = {"negative": rng.normal(0, 1, 100), "n_resamples": 5}
    assert {m: ht.estimate_prior(P, U, method=m, **known).status for m in ("mixture", "em", "bbe")} == {
        "mixture": "ok",
        "em": "ok",
        "bbe": "not identified",  # it does not use them
    }
    assert ht.estimate_prior(P, U, within=(0.05, 0.4)).status == "not identified"


def test_a_purity_that_is_no_number_is_refused():
    evidence = ht.PositiveUnlabeled(P, U, purity=(0.7, 0.9), prior=0.2)
    with pytest.raises(ht.InputError, match="at one purity"):
        ht.estimate_prior(evidence)
    with pytest.raises(ht.InputError, match="at one purity"):
        ht.PositiveUnlabeled(P, U, purity=(0.7, 0.9), prior="estimate")


def test_propensities_identify_the_prior_of_one_table():
    y = np.append(np.ones(len(P)), np.full(len(U), np.nan))
    score = np.concatenate([P, U])
    with pytest.raises(ht.InputError, match="Propensities identify the prior"):
        ht.PositiveUnlabeled.from_labels(
            y, score, prior="estimate", propensity=np.full(len(P), 0.5), population="all"
        )


def test_exchanged_roles_see_every_row():
    """Unlabeled rows joined between positives would be lumps of the component, where the roles are exchanged."""
    p, u = P[:30], U[:400]
    plain = ht.estimate_prior_and_purity(p, u, method="alphamax", n_resamples=2)
    weighted = ht.estimate_prior_and_purity(
        p, u, method="alphamax", n_resamples=2, unlabeled_weight=np.full(len(u), 1.0 + 1e-12)
    )
    assert plain.purity.value == pytest.approx(weighted.purity.value, abs=1e-6)


def test_em_rests_on_the_negatives_where_there_are_some():
    alone, beside = (ht.estimate_prior(P, U, negative=n, method="em", n_resamples=2) for n in (None, N))
    assert "exponential tilt" in alone.assumption
    assert "known negatives a random sample of the negatives" in beside.assumption


def test_propensities_take_the_place_of_scar():
    evidence = ht.PositiveUnlabeled(P, U, propensity=np.linspace(0.2, 0.9, len(P)))
    assert ht.estimate_prior(evidence).assumption.startswith("the propensities given are right")
