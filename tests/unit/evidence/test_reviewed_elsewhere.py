"""What the rest of the package makes of reviewed cases: a right answer, or a refusal that helps."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import halftruth as ht
from halftruth._errors import InputError, NotIdentifiable
from halftruth.calibration.calibrators._calibration_methods import METHODS

N = 4000


@pytest.fixture(scope="module")
def calibrated():
    """Probabilities that are true, their labels, and who was reviewed: the likelier, the more often."""
    rng = np.random.default_rng(5)
    score = np.round(rng.beta(0.7, 2.0, N), 3)
    y = rng.random(N) < score
    chance = np.clip(score, 0.1, 0.6)
    return score, y, chance, rng.random(N) < chance


def reviewed(calibrated, **more):
    score, y, chance, looked = calibrated
    return ht.Reviewed(score, np.where(looked, y, np.nan), chance, **more)


def said_by(judge, calibrated, seed=6):
    """What a reviewer says who finds and clears these shares of the cases."""
    score, y, chance, looked = calibrated
    right = np.random.default_rng(seed).random(N) < np.where(y, *judge)
    return score, np.where(right, y, ~y), chance, looked


@pytest.mark.parametrize("method", ["binned", "isotonic", "smooth", "bpm"])
def test_bands_of_reliability_hold_the_curve_of_all_labels(method, calibrated):
    score, y, *_ = calibrated
    curve = ht.reliability_curve(reviewed(calibrated), method, n_bins=8, n_resamples=300)
    if method == "binned":  # the same bins: these are of equal mass, and all rows are there
        truth = ht.reliability_curve(ht.Labeled(y, score), method, n_bins=8, n_resamples=0).frequency
    else:
        truth = curve.score  # the scores are right
    assert np.mean((curve.low <= truth) & (truth <= curve.high)) >= 0.75
    assert (curve.high - curve.low).mean() < 0.25


def test_a_bin_in_which_no_positive_was_found_may_hold_some(calibrated):
    score, y, chance, looked = calibrated
    none = looked & ~(y & (score < 0.2))  # as if the few that are there had been missed
    evidence = ht.Reviewed(score, np.where(none, y, np.nan), chance)
    curve = ht.reliability_curve(evidence, "binned", n_bins=10, binning="width", n_resamples=300)
    seen = np.sum(none & (score < 0.1))
    # Of so many, one chance in forty of finding none leaves 1 − 0.025^(1/n), and Jeffreys' prior less.
    assert 0.2 * (1 - 0.025 ** (1 / seen)) < curve.high[0] < 2 * (1 - 0.025 ** (1 / seen))


def test_bands_and_tests_of_calibration_take_the_reviewer_for_what_he_is(calibrated):
    judge = (0.85, 0.8)
    rows = said_by(judge, calibrated)
    right = reviewed(rows, sensitivity=judge[0], specificity=judge[1])
    wrong = reviewed(rows)
    assert ht.calibration_test(right, n_resamples=200).p_value > 0.05
    assert ht.calibration_test(wrong, n_resamples=200).p_value < 0.01
    wide = reviewed(rows, sensitivity=(0.8, 0.95), specificity=(0.75, 0.9))
    assert ht.calibration_test(wide, n_resamples=200).p_value > 0.05
    for method in ("binned", "smooth"):
        bands = [ht.reliability_curve(x, method, n_bins=6, n_resamples=100) for x in (right, wide, wrong)]
        one, covering, off = [np.mean((x.low <= x.score) & (x.score <= x.high)) for x in bands]
        assert min(one, covering) >= 0.75, method
        assert off < 0.5, method
        assert (bands[1].high - bands[1].low).mean() > 1.2 * (bands[0].high - bands[0].low).mean()


def test_an_estimated_reviewer_widens_the_bands(calibrated):
    judge = (0.85, 0.8)
    rates = [ht.PriorEstimate(value=x, replicates=np.linspace(x - 0.1, x + 0.1, 200)) for x in judge]
    rows = said_by(judge, calibrated)
    known, estimated = (
        ht.reliability_curve(
            reviewed(rows, sensitivity=a, specificity=b), "binned", n_bins=6, n_resamples=200
        )
        for a, b in (judge, rates)
    )
    assert (estimated.high - estimated.low).mean() > 1.2 * (known.high - known.low).mean()


@pytest.mark.parametrize("method", METHODS)
def test_every_calibrator_learns_from_reviews_what_it_learns_from_labels(method, calibrated):
    score, y, chance, looked = calibrated
    at = np.asarray([0.1, 0.3, 0.5, 0.7])
    crooked = score**2  # the probability is its root
    evidence = ht.Reviewed(crooked, np.where(looked, y, np.nan), chance)
    fitted = ht.Calibrator(method).fit(evidence).predict(at**2)
    labeled = ht.Calibrator(method).fit(ht.Labeled(y, crooked)).predict(at**2)
    np.testing.assert_allclose(fitted, labeled, atol=0.12)
    census = ht.Calibrator(method).fit(ht.Reviewed(crooked, y, 1.0)).predict(at**2)
    np.testing.assert_allclose(census, labeled, atol=1e-12)


@pytest.mark.parametrize("curve", ["roc_curve", "precision_recall_curve", "gain_curve", "decision_curve"])
def test_curves_of_a_census_are_those_of_labels(curve, calibrated):
    score, y, *_ = calibrated
    one, other = (getattr(ht, curve)(e) for e in (ht.Reviewed(score, y, 1.0), ht.Labeled(y, score)))
    for name in one.__dataclass_fields__:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_best_thresholds_are_near_those_of_all_labels(calibrated):
    score, y, *_ = calibrated
    for asked in ({"cost": (1.0, 4.0)}, {"recall_at_least": 0.8}, {"precision_at_least": 0.5}):
        found, best = (ht.best_threshold(e, **asked) for e in (reviewed(calibrated), ht.Labeled(y, score)))
        assert found == pytest.approx(best, abs=0.08), asked


REFUSED = {
    "estimate_prior": (ht.estimate_prior, InputError, "got Reviewed alone"),
    "prior_upper_bound": (ht.prior_upper_bound, InputError, "got Reviewed alone"),
    "scar_test": (ht.scar_test, InputError, "must be scores or PositiveUnlabeled evidence"),
    "bounds": (lambda e: ht.bounds(e, "roc_auc"), InputError, "got Reviewed"),
    "recover": (ht.recover.performance, InputError, "got Reviewed"),
    "best_attainable": (ht.best_attainable, NotIdentifiable, "Scores do not say"),
    "too_good": (lambda e: ht.too_good_to_be_true(0.05, 300, e), NotIdentifiable, "only from above"),
    "compress": (lambda e: e.table.compress(), InputError, "chances of review"),
    "sensitivity": (ht.figures.sensitivity, InputError, "prior of Reviewed follows"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_reviews_cannot_answer_is_refused_in_words(case, calibrated):
    call, error, words = REFUSED[case]
    with pytest.raises(error, match=words):
        call(reviewed(calibrated))


@pytest.mark.parametrize("name", ["roc", "precision_recall", "reliability", "scores"])
def test_figures_are_drawn_and_open_rows_refused(name, calibrated):
    score, y, chance, looked = calibrated
    draw = getattr(ht.figures, name)
    assert isinstance(draw(reviewed(calibrated)), Figure)
    shut = score < 0.2
    evidence = ht.Reviewed(score, np.where(looked & ~shut, y, np.nan), np.where(shut, 0, chance))
    if name != "scores":
        with pytest.raises(NotIdentifiable, match="Nobody could look"):
            draw(evidence)
