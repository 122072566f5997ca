"""Selection: what may be granted, what it does to intervals of every kind of PU evidence, what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import halftruth as ht
from halftruth.evidence import Scenario
from halftruth.evidence._selection import Selection, selection_of

METRICS = ["prevalence", "roc_auc", "average_precision", "brier", "recall", "calibration_error"]


def _rows() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    unlabeled = np.append(rng.beta(2, 4, 900), rng.beta(4, 2, 100))
    return rng.beta(4, 2, 150), unlabeled, rng.beta(2, 4, 80)


POSITIVE, UNLABELED, NEGATIVE = _rows()
KINDS: dict[str, dict[str, Any]] = {
    "two samples": {"prior": 0.1},
    "range": {"prior": (0.08, 0.12)},
    "unknown": {},
    "one table": {"prior": 0.2, "population": "all"},
    "purity": {"prior": 0.1, "purity": 0.9},
    "purity in one table": {"prior": 0.2, "purity": (0.85, 0.95), "population": "all"},
    "negatives": {"prior": 0.1, "negative": NEGATIVE},
    "negatives alone": {"negative": NEGATIVE},
    "propensities": {"prior": 0.1, "propensity": 0.2 + 0.6 * POSITIVE},
    "propensities in one table": {"propensity": 0.4 + 0.5 * POSITIVE, "population": "all"},
    "weights": {"prior": 0.1, "positive_weight": 1 + POSITIVE, "unlabeled_weight": 1 + UNLABELED},
    "estimate": {"prior": ht.PriorEstimate(value=0.1, replicates=[0.08, 0.1, 0.11, 0.12])},
}


def _evaluate(kind: str, selection: Any, **how: Any) -> ht.Evaluation:
    evidence = ht.PositiveUnlabeled(POSITIVE, UNLABELED, selection=selection, **KINDS[kind])
    return ht.evaluate(evidence, METRICS, threshold=0.6, **{"n_resamples": 100} | how)


@pytest.mark.parametrize(
    ("given", "gamma", "direction"),
    [
        (1, 1.0, "any"),
        (np.float32(2), 2.0, "any"),
        (("rising", 1.5), 1.5, "rising"),
        (["falling", 3], 3.0, "falling"),
    ],
)
def test_what_is_granted_is_read(given: Any, gamma: float, direction: str) -> None:
    assert selection_of(given) == Selection(gamma, direction)


@pytest.mark.parametrize(
    "given",
    [
        *(0.9, 0, -1, np.nan, np.inf, "1.5", None, True, (), {}, (1, 2, 3)),
        *(("up", 1.5), ("rising",), ("rising", 0.5), ("rising", "1.5")),
    ],
)
def test_what_cannot_be_granted_is_refused(given: Any) -> None:
    with pytest.raises(ht.InputError, match="selection"):
        ht.PositiveUnlabeled(POSITIVE, UNLABELED, prior=0.1, selection=given)


def test_no_positive_is_left_to_be_selected_where_all_are_known() -> None:
    with pytest.raises(ht.InputError, match="every propensity is 1"):
        ht.PositiveUnlabeled(POSITIVE, UNLABELED, propensity=np.ones(150), population="all", selection=1.5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", [{}, {"n_resamples": 0}], ids=["resampled", "closed form"])
def test_gamma_of_one_changes_no_bit(kind: str, how: dict[str, Any]) -> None:
    plain = ht.PositiveUnlabeled(POSITIVE, UNLABELED, **KINDS[kind])
    one = ht.evaluate(plain, METRICS, threshold=0.6, **{"n_resamples": 100} | how).to_dict()
    assert one == _evaluate(kind, 1.0, **how).to_dict()
    assert one == _evaluate(kind, ("rising", 1), **how).to_dict()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_resamples", [100, 0])
def test_intervals_grow_with_gamma_and_values_stay(kind: str, n_resamples: int) -> None:
    none, some, more = (_evaluate(kind, gamma, n_resamples=n_resamples) for gamma in (1, 1.3, 2))
    for name in METRICS:
        values = [result[name].value for result in (none, some, more)]
        np.testing.assert_array_equal(values, values[:1] * 3)
        lows, highs = np.asarray([(result[name].low, result[name].high) for result in (none, some, more)]).T
        assert (np.diff(lows) <= 1e-9).all(), name  # rounding apart
        assert (np.diff(highs) >= -1e-9).all(), name
        if name != "prevalence":
            assert more[name].high - more[name].low > none[name].high - none[name].low, name


@pytest.mark.parametrize("kind", ["two samples", "one table", "purity", "propensities", "weights"])
def test_each_source_of_doubt_is_kept_apart(kind: str) -> None:
    none, some = _evaluate(kind, 1), _evaluate(kind, 1.5)
    for name in METRICS:
        row = some[name]
        assert row.sampling == pytest.approx((none[name].low, none[name].high), abs=1e-12)
        assert row.selection_range[0] <= row.value <= row.selection_range[1]
        assert row.low <= row.selection_range[0] + 1e-9
        assert none[name].selection_range == (row.value, row.value)
    ranged = _evaluate("range", 1.5)["roc_auc"]
    assert ranged.prior_range[0] < ranged.value < ranged.prior_range[1]
    assert ranged.selection_range == pytest.approx(_evaluate("two samples", 1.5)["roc_auc"].selection_range)
    estimated = _evaluate("estimate", 1)["roc_auc"]
    assert estimated.prior_range[0] < estimated.value < estimated.prior_range[1]


@pytest.mark.parametrize(("direction", "opens"), [("rising", "low"), ("falling", "high")])
def test_labels_that_lean_one_way_open_one_side(direction: str, opens: str) -> None:
    none, both, one = (_evaluate("two samples", x) for x in (1, 1.5, (direction, 1.5)))
    shut = {"low": "high", "high": "low"}[opens]
    for name in ("roc_auc", "average_precision", "recall"):
        assert getattr(one[name], opens) == getattr(both[name], opens)
        assert getattr(one[name], shut) == getattr(none[name], shut)


def test_an_extreme_law_has_the_mass_of_the_positives() -> None:
    for kind in KINDS:
        evidence = ht.PositiveUnlabeled(POSITIVE, UNLABELED, selection=2.0, **KINDS[kind])
        for extreme in evidence.selection.extremes:
            scenario = replace(evidence.scenario, extreme=extreme)
            measure = evidence.measure_at(scenario)
            if kind == "negatives alone":  # another law mixes to another prior
                continue
            np.testing.assert_allclose(measure.positives, evidence.measure().positives, rtol=1e-12)
            np.testing.assert_allclose(measure.mass, evidence.measure().mass)


def test_in_one_table_no_positive_is_rarer_than_those_known() -> None:
    """Half of all positives are known: selection cannot halve them anywhere."""
    evidence = ht.PositiveUnlabeled(POSITIVE, UNLABELED, prior=300 / 1150, population="all", selection=10.0)
    tilt = evidence.rule(
        evidence.table.support.sums(), replace(evidence.scenario, extreme=evidence.selection.extremes[0])
    ).tilt
    assert tilt is not None
    assert float(tilt.low) == pytest.approx(0.5)


def test_rows_stay_what_they_are_with_other_shares() -> None:
    evidence = ht.PositiveUnlabeled(POSITIVE, UNLABELED, prior=0.1, selection=("rising", 1.5))
    assert evidence.with_shares(0.2).selection == Selection(1.5, "rising")
    assert evidence.with_selection(1).selection == Selection()
    assert ht.Labeled([0, 1], [0.1, 0.9]).with_selection(2.0).selection == Selection()
    y = np.append(np.ones(150), np.full(1000, np.nan))
    scores = np.append(POSITIVE, UNLABELED)
    labels = ht.PositiveUnlabeled.from_labels(y, scores, prior=0.2, selection=1.5)
    table = ht.PositiveUnlabeled.from_table(labels.table, prior=0.2, selection=1.5)
    rows = [ht.evaluate(e, ["roc_auc"], n_resamples=0)["roc_auc"] for e in (labels, table)]
    assert (rows[0].low, rows[0].high) == (rows[1].low, rows[1].high)


def test_a_refuted_prior_names_selection_first_and_the_gamma_that_explains_it() -> None:
    rng = np.random.default_rng(1)
    unlabeled = np.append(rng.normal(0, 1, 3000), rng.normal(1.5, 1, 600))
    known = np.sort(rng.normal(1.5, 1, 1200))[-250:]  # the highest are known
    result = ht.evaluate(ht.PositiveUnlabeled(known, unlabeled, prior=1 / 6), ["roc_auc"], n_resamples=100)
    assert result.status == "refuted"
    assert "random sample" in result.reason
    gamma = float(result.reason.split("Less than Γ = ")[1].split(" does")[0])
    explained = ht.PositiveUnlabeled(known, unlabeled, prior=1 / 6, selection=("rising", gamma))
    assert not ht.evaluate(explained, ["roc_auc"], n_resamples=100).refuted
    too_little = ht.PositiveUnlabeled(known, unlabeled, prior=1 / 6, selection=1 + (gamma - 1) / 2)
    assert ht.evaluate(too_little, ["roc_auc"], n_resamples=100).refuted


def test_what_does_not_account_for_selection_refuses_it() -> None:
    evidence = ht.PositiveUnlabeled(POSITIVE, UNLABELED, prior=0.1, selection=1.5)
    for call in (ht.calibration_test, ht.bayes_error):
        with pytest.raises(ht.InputError, match="random sample"):
            call(evidence)


def test_thresholds_and_curves_hold_under_every_law() -> None:
    none, some = (ht.PositiveUnlabeled(POSITIVE, UNLABELED, prior=0.1, selection=gamma) for gamma in (1, 1.3))
    safe = [ht.best_threshold(e, recall_at_least=0.5, confidence_level=0.95) for e in (none, some)]
    assert safe[1] < safe[0]
    low, high = (ht.reliability_curve(some).low, ht.reliability_curve(some).high)
    plain = ht.reliability_curve(none)
    assert (low <= plain.low).all()
    assert (high >= plain.high).all()
    wide, narrow = (ht.bounds(e, "roc_auc", n_resamples=200) for e in (some, none))
    assert wide.low < narrow.low < narrow.high < wide.high


def test_every_result_says_what_hangs_on_scar() -> None:
    result = _evaluate("two samples", 1)
    (note,) = (note for note in result.notes if note.kind == "selection")
    row = _evaluate("two samples", 1.5)["prevalence"]
    assert row.value == 0.1
    low, high = _evaluate("two samples", 1.5)["roc_auc"].selection_range
    assert f"{low:.3f} to {high:.3f}" in note
    assert not [n for n in _evaluate("two samples", 1.5).notes if n.kind == "selection"]


def test_scenarios_without_selection_are_as_they_were() -> None:
    assert Scenario(prior=0.1) == Scenario(prior=0.1, extreme=None, times=1.0)


def test_impure_positives_bear_only_so_much_selection_and_need_a_prior() -> None:
    purity = {"purity": 0.8, "prior": 0.5}
    with pytest.raises(ht.InputError, match=r"must be smaller at a purity of 0\.8"):
        ht.PositiveUnlabeled(POSITIVE, UNLABELED, selection=5, **purity)
    # Γ may reach ρ(1−α)/((1−ρ)α) = 4.
    assert ht.PositiveUnlabeled(POSITIVE, UNLABELED, selection=3.9, **purity).selection.gamma == 3.9
    with pytest.raises(ht.InputError, match="needs a prior"):
        ht.PositiveUnlabeled(POSITIVE, UNLABELED, selection=1.5, purity=0.9)


def test_what_estimates_the_prior_by_a_random_sample_refuses_or_widens() -> None:
    none, some = (ht.PositiveUnlabeled(POSITIVE, UNLABELED, selection=x) for x in (1, 1.5))
    assert ht.prior_upper_bound(some) == pytest.approx(1.5 * ht.prior_upper_bound(none))
    with pytest.raises(ht.InputError, match="random sample"):
        ht.estimate_prior(some)


def test_callables_and_calibrators_say_what_they_leave_out() -> None:
    evidence = ht.PositiveUnlabeled(POSITIVE, UNLABELED, prior=0.1, selection=1.5)
    result = ht.evaluate(evidence, {"own": lambda measure: float(measure.total)}, n_resamples=50)
    assert any("only rises or falls" in note for note in result["own"].notes)
    assert any("random sample" in note for note in ht.Calibrator("isotonic").fit(evidence).notes_)


def test_a_result_says_under_which_selection_it_was_made() -> None:
    stored = _evaluate("two samples", ("rising", 1.5)).to_dict()
    assert stored["selection"] == {"gamma": 1.5, "direction": "rising"}
    assert set(stored["metrics"]["roc_auc"]) >= {"sampling", "prior_range", "selection_range"}
    assert "selection" not in _evaluate("two samples", 1).to_dict()


def test_propensities_that_may_all_be_wrong_leave_the_prior_open() -> None:
    row = _evaluate("propensities in one table", 1.5)["prevalence"]
    low, high = row.selection_range
    assert (low, high) == pytest.approx((max(row.value / 1.5, 150 / 1150), 1.5 * row.value))
