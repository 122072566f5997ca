"""`evaluate`: which rows, what is naive, how rows are drawn again, what is noted."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

import halftruth as ht
from halftruth.inference._progress import progress
from halftruth.results._estimate import Estimate, estimate_text
from halftruth.simulate import GaussianClasses

MODEL = GaussianClasses(prior=0.4)
EVIDENCE: dict[str, Any] = {
    "labeled": MODEL.labeled(300, rng=0),
    "soft": MODEL.soft(300, rng=0),
    "two samples": MODEL.positive_unlabeled(100, 300, rng=0),
    "one table": MODEL.positive_unlabeled(60, 300, rng=0, population="all"),
    "purity": MODEL.positive_unlabeled(100, 300, rng=0, purity=0.9),
    "negatives": MODEL.positive_unlabeled(100, 300, rng=0, n_negative=50, prior=None),
    "propensity": MODEL.positive_unlabeled(
        60, 300, rng=0, population="all", propensity=lambda x: 0.3 + 0.2 * (x > 1), prior=None
    ),
    "confidence": MODEL.positive_confidence(300, rng=0),
}
ALWAYS = ["prevalence", "roc_auc", "average_precision"]
PROPER = ["brier", "log_loss", "calibration_error"]
AT_THRESHOLD = ["precision", "recall", "fpr", "f1", "mcc", "accuracy"]
every_kind = pytest.mark.parametrize("kind", EVIDENCE)

quick = partial(ht.evaluate, n_resamples=50)


def notes_of(result: ht.Evaluation) -> str:
    return "\n".join([*result.notes, *(note for row in result.values() for note in row.notes)])


# --- rows -------------------------------------------------------------------------------------------


@every_kind
def test_default_rows(kind: str) -> None:
    assert list(quick(EVIDENCE[kind])) == ALWAYS + PROPER
    result = quick(EVIDENCE[kind], threshold=0.5)
    assert list(result) == ALWAYS + PROPER + AT_THRESHOLD
    assert result.threshold == 0.5
    for name, row in result.items():
        # The plug-in calibration error is biased upwards, its resamples twice.
        assert row.low <= row.value <= row.high or name == "calibration_error"
        assert row.replicates is not None
        assert row.replicates.shape == (50,)
    assert "are left out" not in notes_of(result)


@every_kind
def test_values_are_those_of_the_metrics(kind: str) -> None:
    evidence = EVIDENCE[kind]
    result = quick(evidence, threshold=0.5)
    for name in ("roc_auc", "average_precision", "brier", "log_loss", "prevalence"):
        assert float(result[name]) == pytest.approx(getattr(ht, name)(evidence), rel=1e-12)
    for name in AT_THRESHOLD:
        assert float(result[name]) == pytest.approx(getattr(ht.confusion(evidence, 0.5), name), rel=1e-12)


def test_scores_that_are_no_probabilities_leave_out_the_proper_rows() -> None:
    margins = ht.Labeled([1, 1, 0, 0], [3.5, 0.2, 0.4, -2])
    result = quick(margins, threshold=0.3)
    assert list(result) == ALWAYS + AT_THRESHOLD
    assert "Scores run from -2 to 3.5" in notes_of(result)
    assert "brier, log_loss and calibration_error are left out" in notes_of(result)
    assert "left out" not in "\n".join(quick(margins, ["prevalence"]).notes)  # asked for: nothing is missing


@every_kind
def test_prior_and_alpha_are_shown(kind: str) -> None:
    result = quick(EVIDENCE[kind])
    assert float(result.prior) == float(result["prevalence"])
    assert "π = " in str(result)
    if kind in ("labeled", "soft", "confidence"):
        assert result.alpha is None
        assert "α" not in str(result)
        return
    alpha = EVIDENCE[kind].measure().alpha
    assert result.alpha is not None
    assert float(result.alpha) == pytest.approx(float(alpha), rel=1e-12)
    assert f"α = {alpha:.3f}" in str(result)
    if kind in ("one table", "propensity"):
        assert float(result.prior) > float(result.alpha)
    else:
        assert float(result.prior) == pytest.approx(float(result.alpha), rel=1e-12)


def test_metrics_as_name_list_mapping_and_callable() -> None:
    evidence = EVIDENCE["labeled"]
    value = ht.roc_auc(evidence)
    assert float(quick(evidence, "roc_auc")["roc_auc"]) == value
    assert float(quick(evidence, ht.roc_auc)["roc_auc"]) == value
    assert list(quick(evidence, (name for name in ("brier", "roc_auc")))) == ["brier", "roc_auc"]
    assert list(quick(evidence, {"area": "roc_auc", "F2": ht.fbeta}, threshold=0.5)) == ["area", "F2"]


@pytest.mark.parametrize("label", ["prior", "alpha"])
def test_any_label_is_free(label: str) -> None:
    evidence = EVIDENCE["one table"]
    result = quick(evidence, {label: "roc_auc"})
    assert float(result[label]) == pytest.approx(ht.roc_auc(evidence))
    assert float(result.prior) == pytest.approx(ht.prevalence(evidence))


@pytest.mark.parametrize("kind", ["labeled", "one table", "confidence"])
def test_a_plain_function_does_what_a_registered_one_does(kind: str) -> None:
    rows = {
        "partial": partial(ht.partial_auc, max_fpr=0.2),
        "lambda": lambda measure: ht.partial_auc(measure, max_fpr=0.2),
        "area": "roc_auc",
        "own": lambda measure: ht.roc_auc(measure),
    }
    result = quick(EVIDENCE[kind], rows, threshold=0.9)
    for one, other in (("partial", "lambda"), ("area", "own")):
        for field in ("value", "low", "high"):
            assert getattr(result[one], field) == pytest.approx(getattr(result[other], field), rel=1e-9)
        assert (result[one].naive is None) == (result[other].naive is None) == (kind == "confidence")
        assert float(result[one].naive or 0) == pytest.approx(float(result[other].naive or 0), rel=1e-9)
        assert result[one].replicates == pytest.approx(result[other].replicates, rel=1e-9)


def test_no_resample_is_without_positives() -> None:
    evidence = ht.Labeled([1, 0, 0], [0.5, 0.4, 0.7])
    result = quick(evidence, {"own": lambda measure: ht.roc_auc(measure), "named": "roc_auc"})
    np.testing.assert_array_equal(result["own"].replicates, result["named"].replicates)
    assert np.isfinite(result["own"].replicates).all()
    assert 0 <= result["named"].low < result["named"].high <= 1


def test_a_row_does_not_depend_on_which_others_are_asked_for() -> None:
    evidence = EVIDENCE["two samples"]
    many = quick(evidence, ["brier", "recall_at_fpr", "f1", "roc_auc", "prevalence"], threshold=0.5)
    for name in many:
        alone = quick(evidence, [name], threshold=0.5)[name]
        assert (alone.value, alone.low, alone.high) == (many[name].value, many[name].low, many[name].high)


@pytest.mark.parametrize(
    ("evidence", "k", "options"),
    [
        (ht.Labeled([1, 1, 0, 0], [4, 3, 2, 1], sample_weight=[1, 2, 3, 4]), 10, {}),
        (ht.PositiveUnlabeled([3, 2], [4, 3, 2, 1], prior=0.4), 4, {"stratified": False}),
        (ht.PositiveConfidence([0.9, 0.5, 0.1]), 12, {}),
    ],
    ids=["weights", "sizes that vary", "confidences"],
)
def test_k_is_allowed_where_some_resample_is_smaller(evidence: Any, k: int, options: dict[str, Any]) -> None:
    result = quick(evidence, {"top": partial(ht.recall_at_k, k=k)}, **options)
    assert float(result["top"]) == pytest.approx(ht.recall_at_k(evidence, k))


# --- naive ------------------------------------------------------------------------------------------


def test_naive_of_pu_takes_unlabeled_for_negative() -> None:
    for population in ("unlabeled", "all"):
        pu = ht.PositiveUnlabeled(
            [0.9, 0.4], [0.8, 0.3, 0.2, 0.1], negative=[0.7], prior=0.35, population=population
        )
        hard = ht.Labeled([1, 1, 0, 0, 0, 0, 0], [0.9, 0.4, 0.8, 0.3, 0.2, 0.1, 0.7])
        result = quick(pu, threshold=0.5)
        for name, row in quick(hard, threshold=0.5).items():
            assert result[name].naive == pytest.approx(row.value)


def test_naive_of_labels_is_the_value_and_of_soft_labels_rounds() -> None:
    for row in quick(EVIDENCE["labeled"], threshold=0.5).values():
        assert row.naive == row.value
    soft = ht.SoftLabeled([0.9, 0.5, 0.49, 0.1], [0.9, 0.6, 0.7, 0.2], sample_weight=[1, 2, 3, 4])
    hard = ht.Labeled([1, 1, 0, 0], [0.9, 0.6, 0.7, 0.2], sample_weight=[1, 2, 3, 4])
    result = quick(soft, threshold=0.65)
    for name, row in quick(hard, threshold=0.65).items():
        assert result[name].naive == pytest.approx(row.value)


def test_positive_confidence_has_no_naive() -> None:
    assert all(row.naive is None for row in quick(EVIDENCE["confidence"], threshold=0.5).values())


# --- resampling -------------------------------------------------------------------------------------


def spread(row: ht.Estimate | None) -> float:
    assert row is not None
    assert row.replicates is not None
    return float(np.std(row.replicates))


def test_rows_of_one_table_are_drawn_together() -> None:
    # Label shares vary as a binomial; with sizes fixed by design they do not.
    rows, fixed = (ht.evaluate(EVIDENCE["labeled"], "prevalence", stratified=s) for s in (None, True))
    share = ht.prevalence(EVIDENCE["labeled"])
    assert spread(rows.prior) == pytest.approx(np.sqrt(share * (1 - share) / 300), rel=0.06)
    assert spread(fixed.prior) == pytest.approx(0, abs=1e-12)


def test_alpha_follows_the_stratum_sizes() -> None:
    # α = (π n − n_P)/(n − n_P), so dα/dn_P = −(1 − π) n/n_U², and n_P is binomial.
    evidence = EVIDENCE["one table"]
    n_p, n_u = (len(evidence.table.strata[name]) for name in ("positive", "unlabeled"))
    n = n_p + n_u
    slope = (1 - ht.prevalence(evidence)) * n / n_u**2
    rows = ht.evaluate(evidence, ["recall", "precision"], threshold=0.5)
    fixed = ht.evaluate(evidence, ["recall", "precision"], threshold=0.5, stratified=True)
    assert spread(rows.alpha) == pytest.approx(slope * np.sqrt(n_p * n_u / n), rel=0.06)
    assert spread(fixed.alpha) == pytest.approx(0, abs=1e-12)
    assert spread(rows["recall"]) == pytest.approx(spread(fixed["recall"]), rel=0.1)


def test_two_samples_are_drawn_each_by_itself() -> None:
    evidence = EVIDENCE["two samples"]
    recall = ht.confusion(evidence, 0.5).recall
    rows = ht.evaluate(evidence, ["recall", "predicted_positive_rate"], threshold=0.5)
    assert spread(rows["recall"]) == pytest.approx(np.sqrt(recall * (1 - recall) / 100), rel=0.06)
    share = float(rows["predicted_positive_rate"])
    assert spread(rows["predicted_positive_rate"]) == pytest.approx(
        np.sqrt(share * (1 - share) / 300), rel=0.06
    )
    same = ht.evaluate(evidence, ["recall"], threshold=0.5, stratified=True)
    np.testing.assert_array_equal(rows["recall"].replicates, same["recall"].replicates)
    loose = ht.evaluate(evidence, ["recall"], threshold=0.5, stratified=False)
    assert not np.array_equal(rows["recall"].replicates, loose["recall"].replicates)


@every_kind
def test_same_seed_same_result(kind: str) -> None:
    def draws(rng: Any) -> np.ndarray:
        replicates = quick(EVIDENCE[kind], ["brier"], rng=rng)["brier"].replicates
        assert replicates is not None
        return replicates

    np.testing.assert_array_equal(draws(7), draws(7))
    np.testing.assert_array_equal(draws(7), draws(np.random.default_rng(7)))
    assert not np.array_equal(draws(7), draws(8))


def test_the_order_of_the_rows_does_not_matter() -> None:
    rng = np.random.default_rng(0)
    y, score, weight = rng.random(200) < 0.4, rng.random(200).round(2), rng.integers(1, 4, 200)
    order = rng.permutation(200)
    one = quick(ht.Labeled(y, score, sample_weight=weight), threshold=0.5)
    other = quick(ht.Labeled(y[order], score[order], sample_weight=weight[order]), threshold=0.5)
    assert one.to_dict() == other.to_dict()


def test_no_resamples() -> None:
    result = ht.evaluate(EVIDENCE["two samples"], threshold=0.5, n_resamples=0)
    assert float(result["roc_auc"]) == ht.roc_auc(EVIDENCE["two samples"])
    for name, row in result.items():
        assert row.low <= row.value <= row.high or name == "calibration_error"
    assert (result["roc_auc"].method, result["roc_auc"].replicates) == ("influence", None)
    with pytest.raises(ht.InputError, match=r"no replicates.*Evaluate with n_resamples > 0"):
        result["roc_auc"].interval(0.9, "basic")


@pytest.mark.parametrize("population", ["unlabeled", "all"])
def test_one_positive(population: str) -> None:
    # Many resamples of one table hold no positive, some no unlabeled row: undefined, not a warning.
    # One row resampled is always itself, so an interval would be far too narrow.
    result = ht.evaluate(
        ht.PositiveUnlabeled([0.9], [0.5, 0.4], prior=0.5, population=population), threshold=0.45
    )
    assert "One known positive says nothing of its own error" in notes_of(result)
    assert all(np.isnan([row.low, row.high]).all() for row in result.values())
    assert all(np.isfinite(row.value) for name, row in result.items() if name != "mcc")


# --- notes and progress -----------------------------------------------------------------------------

ASSUMED = {
    "two samples": "(SCAR)",
    "one table": "(SCAR)",
    "purity": "a share 0.9 of the known positives",
    "negatives": "random sample of the negatives",
    "propensity": "Assumes the propensities given",
    "confidence": "the confidences are P(positive | x)",
    "soft": "the soft labels are P(positive | x)",
}


@every_kind
def test_one_note_on_the_assumption(kind: str) -> None:
    notes = [note for note in quick(EVIDENCE[kind]).notes if note.startswith("Assumes")]
    assert len(notes) == (kind in ASSUMED)
    assert all(ASSUMED[kind] in note for note in notes)
    # Where known positives stand alone for the positives, nothing shows that they are too hard.
    unseen = [note for note in notes if "cannot show known positives that score too low" in note]
    assert len(unseen) == (kind in ("two samples", "one table", "purity"))


def test_few_positives_are_noted() -> None:
    few, enough = (MODEL.positive_unlabeled(n, 200, rng=0) for n in (19, 20))
    assert "Only 19 known positive(s)" in notes_of(quick(few))
    assert "known positive(s)" not in notes_of(quick(enough))


def test_what_is_impossible_and_undefined_mcc_are_noted() -> None:
    noisy = ht.PositiveUnlabeled([0.95, 0.9, 0.85], [0.8, 0.4, 0.3, 0.2], prior=0.6)
    result = quick(noisy, ["average_precision", "pr_auc", "mcc", "precision"], threshold=0.8)
    for name, limits in {"average_precision": "[0, 1]", "pr_auc": "[0, 1]", "mcc": "[-1, 1]"}.items():
        assert float(result[name]) > 1
        assert any(note.startswith(f"noise carries it out of {limits}, ") for note in result[name].notes)
        assert any(note.endswith("read it as 1.") for note in result[name].notes)
    far = ht.PositiveUnlabeled([0.95, 0.9, 0.85] * 40, [0.9] * 10 + [0.2] * 90, prior=0.9)
    assert any("leaves [0, 1], what is possible" in note for note in quick(far, ["roc_auc"])["roc_auc"].notes)
    many = ht.PositiveUnlabeled([0.9, 0.4], [0.9, 0.8, 0.7, 0.1], propensity=[0.1, 0.1], population="all")
    undefined = quick(many, ["mcc"], threshold=0.5)["mcc"]
    assert np.isnan(float(undefined))
    assert any("undefined: the mass of a class is negative" in note for note in undefined.notes)
    clean = quick(EVIDENCE["labeled"], ["average_precision", "pr_auc", "mcc", "recall"], threshold=0.5)
    assert notes_of(clean) == ""


def test_reviews_are_called_too_few_only_where_their_intervals_were_measured_to_be() -> None:
    """A review of a low score stands for 100 rows, one of a high score for itself."""
    y = np.arange(12_000) % 10 == 0
    score = y + np.linspace(0, 1.5, 12_000)
    high = np.sort(score)[-200]
    for every, noted in ((100, False), (600, True)):
        sparse = (np.arange(12_000) % every < 2) | (score >= high)
        chance = np.where(score >= high, 1.0, 2 / every)
        reviewed = ht.Reviewed(score, np.where(sparse, y, np.nan), chance)
        notes = notes_of(quick(reviewed, ["recall"], threshold=1.5))
        assert ("weigh as" in notes) == noted == (reviewed.reviews.effective < 50)
        assert "heaviest" not in notes


def test_what_a_refuted_judge_makes_is_impossible_and_never_read_as_0() -> None:
    """A quarter is called positive, and false alarms alone would be a half: no noise makes that."""
    score = np.linspace(0, 1, 2000)
    said = (np.arange(2000) % 4 == 0).astype(float)
    rates = {"sensitivity": 0.88, "specificity": 0.5}
    for n in (200, 0):
        judged = ht.evaluate(ht.Reviewed(score, said, 1.0, **rates), threshold=0.5, n_resamples=n)
        assert judged.status == "refuted"
        assert "π = impossible: -0.65" in str(judged)
        for name in ("prevalence", "f1"):
            row = judged[name]
            assert row.low > 1 or row.high < 0, name
            assert "none possible" in repr(row), name
        assert "a reviewer or the chances of review are not as given" in str(judged)
        assert "read" not in str(judged)


def test_a_value_beyond_by_rounding_alone_is_no_note() -> None:
    near = Estimate(value=1.0004, low=0.9, high=1.1, limits=(0.0, 1.0))
    assert estimate_text(near) == "1.000"
    assert estimate_text(replace(near, value=1.0006)) == "1.000 (raw 1.001)"


def test_an_empty_class_is_noted() -> None:
    result = quick(ht.Labeled([1, 1], [0.5, 0.6]))
    assert "No negative case" in notes_of(result)
    assert np.isnan(float(result["roc_auc"]))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stderr", "long", "shown"),
    [(Terminal, True, True), (Terminal, False, False), (io.StringIO, True, False)],
)
def test_progress_is_for_long_work_on_a_terminal(
    stderr: Callable[[], io.StringIO], long: bool, shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", stderr())
    with progress("Resampling", 10, long=long) as advance:
        advance(10)
    assert isinstance(sys.stderr, io.StringIO)
    assert ("Resampling" in sys.stderr.getvalue()) == shown


def test_long_resampling_is_silent_in_a_pipe(capfd: pytest.CaptureFixture[str]) -> None:
    ht.evaluate(EVIDENCE["labeled"], "prevalence", n_resamples=110_000)
    assert capfd.readouterr() == ("", "")
