"""The prior in `evaluate`: a number, a range, an estimate, nothing; converted, carried, refuted."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import halftruth as ht
from halftruth.simulate import GaussianClasses

MODEL = GaussianClasses(prior=0.4)
POPULATIONS = ("unlabeled", "all")
both_populations = pytest.mark.parametrize("population", POPULATIONS)

quick = partial(ht.evaluate, threshold=0.5, n_resamples=200)
draw = partial(MODEL.positive_unlabeled, 300, 2000, rng=1)

ROWS = ["prevalence", "roc_auc", "average_precision", "recall", "precision", "predicted_positive_rate"]
NEED_NO_PRIOR = ("recall", "predicted_positive_rate")


def ends(row: ht.Estimate | None) -> tuple[float, float]:
    assert row is not None
    return row.low, row.high


def sizes(evidence: ht.PositiveUnlabeled) -> tuple[int, int, int]:
    counts = {name: len(rows) for name, rows in evidence.table.strata.items()}
    return counts["positive"], counts["unlabeled"], sum(counts.values())


# --- a number -----------------------------------------------------------------------------------------


@both_populations
def test_a_number_is_taken_as_it_is(population: str) -> None:
    evidence = draw(population=population, prior=0.35)
    result = quick(evidence, ROWS)
    n_p, n_u, n = sizes(evidence)
    assert ends(result.prior) == pytest.approx((0.35, 0.35))
    assert result.alpha is not None
    assert float(result.alpha) == pytest.approx(0.35 if population == "unlabeled" else (0.35 * n - n_p) / n_u)
    assert f"π = 0.350 positive in the population; α = {float(result.alpha):.3f}" in str(result)


# --- nothing ------------------------------------------------------------------------------------------


@both_populations
@pytest.mark.parametrize("purity", [1.0, 0.9])
def test_without_a_prior_intervals_cover_what_is_not_refuted(population: str, purity: float) -> None:
    evidence = draw(population=population, prior=None, purity=purity)
    result = quick(evidence, ROWS)
    for name, row in result.items():
        known = name == "predicted_positive_rate" or (name == "recall" and purity == 1)
        assert np.isnan(row.value) != known
        truth = MODEL.truth(name, **({"threshold": 0.5} if name in (*NEED_NO_PRIOR, "precision") else {}))
        assert row.low < truth < row.high
    assert "π unknown" in str(result)
    assert "is refuted" in str(result)
    assert any("No prior was given" in note for note in result.notes)
    assert result["prevalence"].naive is not None


def test_the_range_without_a_prior_ends_at_the_upper_bound() -> None:
    evidence = draw(prior=None)
    rows = evidence.table.strata
    upper = ht.prior_upper_bound(rows["positive"].score, rows["unlabeled"].score)
    assert ends(quick(evidence, ROWS).prior)[1] == pytest.approx(upper)
    assert MODEL.prior < upper < 0.8


@both_populations
def test_no_range_holds_an_impossible_alpha(population: str) -> None:
    evidence = draw(population=population, prior=None)
    wide = ht.PositiveUnlabeled.from_table(evidence.table, purity=(0.7, 0.9), population=population)
    alpha = quick(wide, ROWS).alpha
    assert alpha is not None
    assert alpha.centers is not None
    assert np.nanmin(alpha.centers) >= 0
    assert np.nanmax(alpha.centers) <= 0.9


def test_without_prior_or_resamples_the_range_is_the_same() -> None:
    evidence = draw(prior=None)
    row = quick(evidence, ROWS, n_resamples=0)["roc_auc"]
    assert np.isnan(row.value)
    assert ends(row) == pytest.approx(ends(quick(evidence, ROWS)["roc_auc"]), abs=0.02)


# --- a range ------------------------------------------------------------------------------------------


@both_populations
def test_over_a_range_the_value_is_at_its_middle_and_the_interval_a_union(population: str) -> None:
    def result(prior: Any) -> ht.Evaluation:
        return quick(draw(population=population, prior=prior), ROWS)

    wide, low, middle, high = (result(prior) for prior in ((0.3, 0.5), 0.3, 0.4, 0.5))
    for name in ROWS:
        assert float(wide[name]) == pytest.approx(float(middle[name]), rel=1e-12)
        # All of these are monotone in the prior, and the resamples are the same.
        each = np.array([ends(low[name]), ends(high[name])])
        assert ends(wide[name]) == pytest.approx((each[:, 0].min(), each[:, 1].max()), rel=1e-12)
    assert ends(wide.prior) == pytest.approx((0.3, 0.5))
    assert "π = 0.400 (0.300 to 0.500)" in str(wide)


def test_a_range_of_purities_is_a_union_too() -> None:
    table = draw(purity=0.9).table

    def row(purity: Any) -> ht.Estimate:
        evidence = ht.PositiveUnlabeled.from_table(table, prior=0.4, purity=purity, population="unlabeled")
        return quick(evidence, ROWS)["roc_auc"]

    wide, low, middle, high = (row(purity) for purity in ((0.8, 1.0), 0.8, 0.9, 1.0))
    assert float(wide) == pytest.approx(float(middle), rel=1e-12)
    assert ends(wide) == pytest.approx((high.low, low.high), rel=1e-12)  # purer positives, lower AUC


def test_an_estimate_without_replicates_is_a_range_around_its_value() -> None:
    given = quick(draw(prior=ht.PriorEstimate(value=0.35, low=0.3, high=0.5)), ROWS)
    wide = quick(draw(prior=(0.3, 0.5)), ROWS)
    assert float(given.prior) == pytest.approx(0.35)
    for name in ROWS:
        assert ends(given[name]) == pytest.approx(ends(wide[name]), rel=1e-12)


# --- an estimate --------------------------------------------------------------------------------------

REPLICATES = np.linspace(0.3, 0.44, 29)


@both_populations
@pytest.mark.parametrize("own", POPULATIONS)
def test_an_estimate_is_converted_replicate_by_replicate(population: str, own: str) -> None:
    n_p, n_u, n = sizes(draw(population=population))
    estimate = ht.PriorEstimate(value=0.37, replicates=REPLICATES, population=own)
    # Stratum sizes fixed: each resample's π and α come from one replicate by π n = n_P + α n_U.
    result = quick(draw(population=population, prior=estimate), ROWS, stratified=True)
    given = np.array([0.37, *REPLICATES])
    alpha = given if own == "unlabeled" else (given * n - n_p) / n_u
    pi = alpha if population == "unlabeled" else (n_p + alpha * n_u) / n
    assert result.alpha is not None
    for row, expected in ((result.prior, pi), (result.alpha, alpha)):
        assert float(row) == pytest.approx(expected[0], rel=1e-12)
        distance = np.abs(np.asarray(row.replicates)[:, None] - expected[1:])
        assert distance.min(axis=1).max() < 1e-12
        assert len(np.unique(distance.argmin(axis=1))) > 20
    converted = [note for note in result.notes if "π n = ρ n_P + α n_U" in note]
    assert len(converted) == (own != population)


def test_stratum_sizes_vary_in_the_conversion_too() -> None:
    estimate = ht.PriorEstimate(value=0.37, replicates=[0.37, 0.37])
    result = quick(draw(population="all", prior=estimate), ROWS)
    assert result.alpha is not None
    assert np.ptp(result.alpha.replicates) == pytest.approx(0, abs=1e-12)
    assert np.ptp(result.prior.replicates) > 0.005  # π = (n_P + α n_U)/n with n_P drawn anew


def test_the_error_of_an_estimate_widens_every_interval_that_needs_it() -> None:
    sure, unsure = (
        quick(draw(prior=prior), ROWS)
        for prior in (0.37, ht.PriorEstimate(value=0.37, replicates=REPLICATES))
    )
    for name in ("prevalence", "roc_auc", "precision"):
        assert np.ptp(ends(unsure[name])) > 1.2 * np.ptp(ends(sure[name]))
    for name in NEED_NO_PRIOR:
        assert np.ptp(ends(unsure[name])) == pytest.approx(np.ptp(ends(sure[name])), rel=0.3)


def test_replicates_of_prior_and_purity_are_paired() -> None:
    prior = ht.PriorEstimate(value=0.37, replicates=REPLICATES)
    purity = ht.PriorEstimate(value=0.9, replicates=1.2 - 0.75 * REPLICATES)
    evidence = ht.PositiveUnlabeled.from_table(
        draw(purity=0.9).table, prior=prior, purity=purity, population="unlabeled"
    )
    # Recall is [(1−α) F_P − (1−ρ) F_U]/(ρ−α), and ρ = 1.2 − .75 α in every pair of replicates.
    result = quick(evidence, ["recall", "predicted_positive_rate"])
    alpha = np.asarray(result.prior.replicates)
    drawn = REPLICATES[np.abs(alpha[:, None] - REPLICATES).argmin(axis=1)]
    recall, above = (np.asarray(result[name].replicates) for name in ("recall", "predicted_positive_rate"))
    rho = 1.2 - 0.75 * drawn
    known = (recall * (rho - drawn) + (1 - rho) * above) / (1 - drawn)
    # F_P, which varies like a share of 300 rows whatever the shares are; unpaired, it would vary with them.
    share = np.mean(known)
    assert np.std(known) == pytest.approx(np.sqrt(share * (1 - share) / 301), rel=0.15)
    assert abs(np.corrcoef(known, drawn)[0, 1]) < 5 / np.sqrt(len(drawn))


def test_a_confidence_prior_is_not_converted() -> None:
    estimate = ht.PriorEstimate(value=0.4, replicates=[0.38, 0.4, 0.42])
    notes = quick(MODEL.positive_confidence(500, rng=0, prior=estimate), ROWS).notes
    assert not any("converted" in note for note in notes)


# --- refuted, or not ----------------------------------------------------------------------------------


def half_known(x: np.ndarray) -> np.ndarray:
    return 0.3 + 0.3 / (1 + np.exp(-x))


IDENTIFIED: dict[str, Callable[[Any], Any]] = {
    "positive confidence": lambda prior: MODEL.positive_confidence(2000, rng=3, prior=prior),
    "propensity": lambda prior: MODEL.positive_unlabeled(
        100, 3000, rng=3, population="all", propensity=half_known, prior=prior
    ),
    "negatives": lambda prior: draw(n_negative=300, prior=prior),
    "negatives in one table": lambda prior: draw(n_negative=300, prior=prior, population="all"),
    "negatives and purity": lambda prior: draw(n_negative=300, prior=prior, purity=0.9),
}


def refuted(result: ht.Evaluation) -> bool:
    return any("refuted:" in note or "refuted by" in note for note in result.notes)


@pytest.mark.parametrize("build", IDENTIFIED.values(), ids=IDENTIFIED)
def test_a_prior_against_the_identified_one_is_refuted(build: Callable[[Any], Any]) -> None:
    for wrong in (0.25, 0.6, (0.55, 0.65)):
        result = quick(build(wrong), ROWS)
        assert refuted(result)
        assert any("the evidence itself puts it between" in note for note in result.notes)
    for right in (0.4, (0.35, 0.45), (0.3, 0.41)):
        assert not refuted(quick(build(right), ROWS))


@pytest.mark.parametrize("build", IDENTIFIED.values(), ids=IDENTIFIED)
def test_a_prior_that_is_identified_need_not_be_given(build: Callable[[Any], Any]) -> None:
    result = quick(build(None), ROWS)
    low, high = ends(result.prior)
    assert low < float(result.prior) < high
    assert abs(float(result.prior) - MODEL.prior) < 3 * (high - low) / 4
    assert any("identified by the evidence itself" in note for note in result.notes)
    assert not refuted(result)


@both_populations
@pytest.mark.parametrize("purity", [1.0, 0.9])
def test_a_prior_too_large_for_the_scores_is_refuted(population: str, purity: float) -> None:
    for wrong in (0.75, (0.75, 0.8), (0.3, 0.8)):
        assert refuted(quick(draw(population=population, purity=purity, prior=wrong), ROWS)), wrong
    for right in (0.4, (0.3, 0.45)):
        assert not refuted(quick(draw(population=population, purity=purity, prior=right), ROWS)), right


def test_a_range_is_refuted_where_its_middle_is() -> None:
    known = draw(prior=0.4)
    upper = ht.prior_upper_bound(known)
    told = {
        (upper - 0.05, upper + 0.2): (True, "The prior's range, from below its middle"),
        (upper - 0.3, upper + 0.05): (False, "The upper part of the prior's range"),
        (upper + 0.01, upper + 0.2): (True, "The prior is refuted"),
    }
    for prior, (wrong, words) in told.items():
        result = quick(draw(prior=prior), ROWS)
        assert result.refuted == wrong, prior
        assert any(note.startswith(words) for note in result.notes), (prior, result.notes)


def test_a_right_estimate_of_the_other_population_is_not_refuted() -> None:
    # α and π are far apart where many positives are known.
    table = MODEL.positive_unlabeled(600, 1200, n_negative=100, rng=1, population="all", prior=None)
    alpha = float(table.measure().alpha)
    assert abs(alpha - ht.prevalence(table)) > 0.2
    for extra in ({"low": alpha - 0.02, "high": alpha + 0.02}, {"replicates": [alpha - 0.02, alpha + 0.02]}):
        estimate = ht.PriorEstimate(value=alpha, **extra)
        assert not refuted(quick(ht.PositiveUnlabeled.from_table(table.table, prior=estimate), ROWS)), extra
