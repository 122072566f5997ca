"""`bounds`: what it refuses, what it returns, and the corner cases."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import pytest

import halftruth as ht
from halftruth import InputError, PositiveUnlabeled, PriorEstimate

bounds = partial(ht.bounds, prior_of="rows")  # the priors here are the shares of the rows at hand
BANDS = ("bootstrap", "dkw", "exact", "claesen-bootstrap", "claesen-dkw", "claesen-exact")
P, U = [0.9, 0.7, 0.4], [0.95, 0.8, 0.6, 0.5, 0.3, 0.2, 0.15, 0.1]


def pu(**options: Any) -> PositiveUnlabeled:
    return PositiveUnlabeled(P, U, **{"prior": 0.25} | options)


@pytest.fixture(scope="module")
def normal() -> PositiveUnlabeled:
    """80 known positives; 100 of 400 unlabeled rows are positive."""
    rng = np.random.default_rng(6)
    unlabeled = np.append(rng.normal(1.5, 1, 100), rng.normal(0, 1, 300))
    return PositiveUnlabeled(rng.normal(1.5, 1, 80), unlabeled, prior=0.25)


@pytest.fixture(scope="module")
def purest() -> PositiveUnlabeled:
    """60 known positives, all above all but 20 of 400 unlabeled rows."""
    rng = np.random.default_rng(6)
    unlabeled = np.append(rng.uniform(2, 3, 20), rng.uniform(0, 1, 380))
    return PositiveUnlabeled(rng.uniform(2, 3, 60), unlabeled, prior=0.05)


# --- What is refused ---------------------------------------------------------------------------

EVIDENCE: dict[str, tuple[Callable[[], Any], str]] = {
    "labeled": (lambda: ht.Labeled([1, 0], [0.9, 0.1]), "must be PositiveUnlabeled, got Labeled"),
    "soft": (lambda: ht.SoftLabeled([0.7, 0.1]), "must be PositiveUnlabeled, got SoftLabeled"),
    "an array": (lambda: np.array(U), "must be PositiveUnlabeled, got ndarray"),
    "purity": (lambda: pu(purity=0.9), "purity < 1"),
    "purity range": (lambda: pu(purity=(0.9, 1.0)), "purity < 1"),
    "propensity": (lambda: pu(propensity=[0.5, 0.6, 0.7]), "propensities"),
    "weights": (lambda: pu(unlabeled_weight=[2.0] + [1.0] * 7), "weights"),
    "positive weights": (lambda: pu(positive_weight=[2.0, 1, 1]), "weights"),
    "histogram": (lambda: PositiveUnlabeled.from_table(pu().table.compress(), prior=0.4), "histogram|rows"),
}


@pytest.mark.parametrize(("make", "message"), EVIDENCE.values(), ids=EVIDENCE)
def test_evidence_without_ranks_is_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        bounds(make(), "roc")


ARGUMENTS: dict[str, tuple[dict[str, Any], str]] = {
    "band": ({"band": "bayes"}, r"`band` must be 'bootstrap' or 'dkw'.*got 'bayes'"),
    "metric": ({"of": "auc"}, r"no metric 'auc'.*'roc_auc'"),
    "nonsense": ({"of": 3}, "must be a curve, a metric or a function, got 3"),
    "no threshold": ({"of": "precision"}, r"`precision` is a rate at a threshold\. Pass threshold="),
    "callable without threshold": ({"of": lambda tp, fp, fn, tn: tp}, "threshold"),
    "no bounds": ({"of": "calibration_error"}, "'calibration_error' has no bounds here"),
    "no bounds of a function": ({"of": ht.ks_calibration_error}, "'ks_calibration_error' has no bounds here"),
    "level": ({"confidence_level": 95}, r"`confidence_level` must lie in \(0, 1\), got 95"),
    "resamples": ({"n_resamples": 0}, "`n_resamples` must be a whole number of at least 1"),
    "threshold": ({"of": "precision", "threshold": "high"}, "`threshold` must be a real number"),
    "NaN threshold": ({"of": "precision", "threshold": float("nan")}, "`threshold` must be a real number"),
    "no k": ({"of": "precision_at_k"}, "`precision_at_k` cannot be called"),
    "unknown parameter": ({"of": "roc_auc", "k": 3}, "`roc_auc` cannot be called"),
    "parameter of a curve": ({"of": "roc", "k": 3}, "k"),
    "prior backward": ({"prior": (0.5, 0.2)}, r"pair \(low, high\) with low <= high, got \(0\.5, 0\.2\)"),
    "prior outside": ({"prior": 1.2}, r"`prior` must lie in \(0, 1\), got 1\.2"),
    "whose prior": ({"prior_of": "us"}, "`prior_of` must be 'population' or 'rows', got 'us'"),
    "ranks": ({"ranks": "all"}, "`ranks` must be 'positive' or 'negative' or 'both', got 'all'"),
    "reversed without negatives": ({"ranks": "negative"}, "'negative' needs known negatives"),
    "sample of one number": ({"labeled_sample": 3}, "`labeled_sample` must be"),
    "sample of three": ({"labeled_sample": (1, 2, 3)}, "`labeled_sample` must be"),
    "more than read": ({"labeled_sample": (5, 3)}, "`labeled_sample` has 5 positives among 3 cases"),
    "negative count": ({"labeled_sample": (-1, 3)}, "`labeled_sample` must be"),
    "half a row": ({"labeled_sample": (0.5, 3)}, "`labeled_sample` must be"),
    "none read": ({"labeled_sample": (0, 0)}, "`labeled_sample` must be"),
    "more than there are": ({"labeled_sample": (3, 9)}, "`labeled_sample`.* 9 .*8 unlabeled"),
    "sample and prior": (
        {"labeled_sample": (1, 3), "prior": 0.2},
        "`labeled_sample`.*`prior`|`prior`.*`labeled_sample`",
    ),
}


@pytest.mark.parametrize(("options", "message"), ARGUMENTS.values(), ids=ARGUMENTS)
def test_arguments_that_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        bounds(PositiveUnlabeled(P, U), **options)


@pytest.mark.parametrize("band", ["bootstrap", "dkw"])
def test_a_refuted_prior_is_an_error_that_says_so(purest: PositiveUnlabeled, band: str) -> None:
    with pytest.raises(InputError, match=r"refute α = 0\.5 at confidence 0\.9: .*`prior`.*scar_test"):
        bounds(purest, "roc", band=band, prior=0.5, confidence_level=0.9)


@pytest.mark.parametrize("band", ["bootstrap", "dkw"])
def test_the_refuted_part_of_a_range_is_cut_off_and_noted(purest: PositiveUnlabeled, band: str) -> None:
    found = bounds(purest, "roc_auc", band=band, prior=(0.02, 0.12), n_resamples=200)
    assert found.alpha[0] == 0.02
    assert 0.05 <= found.alpha[1] < 0.1
    assert any("refute" in note for note in found.notes)
    kept = bounds(purest, "roc_auc", band=band, prior=(0.02, 0.045), n_resamples=200)
    assert kept.alpha == pytest.approx((0.02, 0.045))
    assert not any("refute" in note for note in kept.notes)


@pytest.mark.parametrize("band", ["exact", "claesen-bootstrap", "claesen-dkw", "claesen-exact"])
def test_a_band_for_one_rank_refutes_nothing(purest: PositiveUnlabeled, band: str) -> None:
    """A count that does not fit is moved to the nearest that does, as in Eq. 11 of Claesen et al."""
    table = bounds(purest, "roc", band=band, prior=0.5).tables[1]
    at = int(np.flatnonzero(table.threshold < 2)[0])
    assert table.tp[at - 1] == 20  # all of the unlabeled above 2
    assert table.fp[at - 1] == 0


def test_a_range_without_a_whole_number_of_rows_means_the_nearest() -> None:
    found = bounds(pu(), "recall", threshold=0.5, prior=(0.26, 0.27))
    assert found.alpha == (0.25, 0.25)


# --- What α is taken to be ---------------------------------------------------------------------


def ends(found: Any) -> tuple[float, float]:
    return found.low, found.high


def test_prior_in_the_call_stands_in_for_that_of_the_evidence(normal: PositiveUnlabeled) -> None:
    other = PositiveUnlabeled.from_table(normal.table, prior=0.3, population="unlabeled")
    assert ends(bounds(normal, "f1", threshold=1, prior=0.3)) == ends(bounds(other, "f1", threshold=1))
    assert ends(bounds(normal, "f1", threshold=1)) != ends(bounds(other, "f1", threshold=1))


@pytest.mark.parametrize("population", ["unlabeled", "all"])
@pytest.mark.parametrize("of", ["roc_auc", "average_precision", "recall", "fpr", "npv"])
def test_the_less_is_known_of_alpha_the_wider(of: str, population: str) -> None:
    rng = np.random.default_rng(6)
    unlabeled = np.append(rng.normal(2, 1, 40), rng.normal(0, 1, 120))
    evidence = PositiveUnlabeled(rng.normal(2, 1, 40), unlabeled, population=population)
    share = {"unlabeled": lambda a: a, "all": lambda a: (40 + a * 160) / 200}[population]
    at = None if of in ("roc_auc", "average_precision") else 1.0
    call = partial(bounds, evidence, of, band="dkw", threshold=at)
    number, narrow, wide, nothing = (
        call(prior=prior)
        for prior in (share(0.25), (share(0.22), share(0.28)), (share(0.15), share(0.35)), None)
    )
    assert number.low < number.high
    for inner, outer in ((number, narrow), (narrow, wide), (wide, nothing)):
        assert outer.low <= inner.low <= inner.high <= outer.high
        assert outer.alpha[0] <= inner.alpha[0] <= inner.alpha[1] <= outer.alpha[1]
    assert nothing.alpha[1] < 1  # the ranks refute that nearly all of the unlabeled are positive


def test_an_estimate_is_taken_by_its_interval_at_half_of_the_error(normal: PositiveUnlabeled) -> None:
    estimate = PriorEstimate(value=0.25, replicates=np.linspace(0.2, 0.3, 2001))
    found = bounds(normal, "roc_auc", prior=estimate, confidence_level=0.9)
    tails = np.quantile(np.linspace(0.2, 0.3, 2001), [0.025, 0.975])
    assert found.alpha == pytest.approx(tails, abs=1 / 400)
    same = bounds(normal, "roc_auc", prior=(found.alpha[0], found.alpha[1]), confidence_level=0.95)
    assert ends(found) == pytest.approx(ends(same), abs=1e-12)


def test_a_labeled_sample_gives_beta_limits_at_half_of_the_error(normal: PositiveUnlabeled) -> None:
    from scipy.stats import beta

    bare = PositiveUnlabeled.from_table(normal.table, population="unlabeled")
    found = bounds(bare, "roc_auc", labeled_sample=(26, 100), confidence_level=0.9)
    limits = beta.ppf(0.025, 26, 75), beta.ppf(0.975, 27, 74)
    n = len(bare.table.strata["unlabeled"])
    assert found.alpha == (np.floor(limits[0] * n) / n, np.ceil(limits[1] * n) / n)
    same = bounds(bare, "roc_auc", prior=found.alpha, confidence_level=0.95)
    assert ends(found) == pytest.approx(ends(same), abs=1e-12)


@pytest.mark.parametrize("population", ["unlabeled", "all"])
@pytest.mark.parametrize("prior", ["number", "range", "estimate"])
def test_rows_of_a_population_hold_a_binomial_number_of_positives(
    normal: PositiveUnlabeled, population: str, prior: str
) -> None:
    """At half of the error; of all 480 rows 80 are known to be positive."""
    from scipy.stats import binom

    drawn, known, share = (400, 0, 0.25) if population == "unlabeled" else (480, 80, 0.375)
    evidence = PositiveUnlabeled.from_table(normal.table, population=population)
    low, high = (share, share) if prior != "range" else (share - 0.05, share + 0.05)
    given: Any = {"number": share, "range": (low, high)}.get(prior)
    if given is None:
        given = PriorEstimate(value=share, replicates=[share] * 3, population=population)
    found = ht.bounds(evidence, "accuracy", threshold=3.0, prior=given, confidence_level=0.9, band="dkw")
    least, most = binom.ppf(0.025, drawn, low) - known, binom.ppf(0.975, drawn, high) - known
    assert found.alpha == (least / 400, most / 400)
    same = bounds(evidence, "accuracy", threshold=3.0, prior=_prior_of(found, population), band="dkw")
    assert ends(found) == ends(same)
    assert any(f"{least:,.0f} to {most:,.0f} positives" in note for note in found.notes)


def _prior_of(found: Any, population: str) -> tuple[float, float]:
    low, high = found.alpha
    return (low, high) if population == "unlabeled" else ((80 + low * 400) / 480, (80 + high * 400) / 480)


# --- Corner cases ------------------------------------------------------------------------------


@pytest.mark.parametrize("band", BANDS)
def test_all_scores_tied(band: str) -> None:
    evidence = PositiveUnlabeled([0.5] * 4, [0.5] * 20, prior=0.3)
    assert ends(bounds(evidence, "roc_auc", band=band)) == (0.5, 0.5)
    for of in ("average_precision", "pr_auc"):
        assert ends(bounds(evidence, of, band=band)) == pytest.approx((0.3, 0.3), abs=1e-15)
    assert ends(bounds(evidence, "precision", threshold=0.5, band=band)) == (0.3, 0.3)
    assert ends(bounds(evidence, "recall", threshold=0.6, band=band)) == (0.0, 0.0)
    roc = bounds(evidence, "roc", band=band)
    for curve in (roc.lower, roc.upper):
        assert curve.fpr.tolist() == curve.tpr.tolist() == [0, 1]
    assert roc.area == (0.5, 0.5)


@pytest.mark.parametrize("band", BANDS[:3])
def test_one_known_positive_says_hardly_anything(band: str) -> None:
    evidence = PositiveUnlabeled([0.5], np.linspace(0, 1, 40), prior=0.25)
    assert ends(bounds(evidence, "recall", threshold=0.5, band=band)) == (0.0, 1.0)
    found = bounds(evidence, "roc_auc", band=band)
    assert ends(found) == (0.0, 1.0)


@pytest.mark.parametrize("band", BANDS)
def test_no_latent_positive(band: str) -> None:
    """Then the labels are known: the known rows alone are positive."""
    evidence = pu(prior=3 / 11, population="all")
    truth = ht.Labeled([1] * 3 + [0] * 8, P + U)
    for of in ("roc_auc", "average_precision", "pr_auc"):
        assert ends(bounds(evidence, of, band=band)) == pytest.approx([getattr(ht, of)(truth)] * 2, abs=1e-12)
    for of in ("precision", "mcc", "npv"):
        wanted = getattr(ht.confusion(truth, 0.5), of)
        assert ends(bounds(evidence, of, threshold=0.5, band=band)) == pytest.approx(
            (wanted, wanted), abs=1e-12
        )
    assert bounds(evidence, "roc", band=band).alpha == (0, 0)


def test_all_unlabeled_rows_latent() -> None:
    evidence = PositiveUnlabeled(P, U, negative=[0.05, 0.65], prior=11 / 13, population="all")
    truth = ht.Labeled([1] * 11 + [0] * 2, [*P, *U, 0.05, 0.65])
    for of in ("roc_auc", "average_precision", "pr_auc"):
        assert ends(bounds(evidence, of)) == pytest.approx([getattr(ht, of)(truth)] * 2, abs=1e-12)


@pytest.mark.parametrize("prior", [0.01, 0.99])
def test_an_empty_class_leaves_what_compares_the_classes_undefined(prior: float) -> None:
    """Of 8 unlabeled rows 0.08 or 7.92 are none or all."""
    evidence = pu(prior=prior)
    with pytest.warns(ht.EmptyClassWarning, match="No (positive|negative) case"):
        assert np.isnan(ends(bounds(evidence, "roc_auc"))).all()
    accuracy = bounds(evidence, "accuracy", threshold=0.5)
    assert ends(accuracy) == (0.5, 0.5)


# --- What is returned --------------------------------------------------------------------------


@pytest.mark.parametrize("band", BANDS)
@pytest.mark.parametrize("population", ["unlabeled", "all"])
def test_curves_tables_and_band_belong_together(
    normal: PositiveUnlabeled, band: str, population: str
) -> None:
    prior = 0.25 if population == "unlabeled" else 180 / 480
    evidence = PositiveUnlabeled.from_table(normal.table, prior=prior, population=population)
    roc, pr = (bounds(evidence, of, band=band) for of in ("roc", "pr"))
    n_positive, n = (100, 400) if population == "unlabeled" else (180, 480)
    every = np.unique(np.concatenate([rows.score for rows in normal.table.strata.values()]))[::-1]
    assert roc.band.threshold.tolist() == [np.inf, *every]
    known = np.array([np.mean(normal.table.strata["positive"].score >= t) for t in roc.band.threshold])
    np.testing.assert_allclose(roc.band.known, known, atol=1e-12)
    assert (roc.band.low <= roc.band.high).all()
    for found, table, latent in zip(
        (roc.lower, roc.upper), roc.tables, (roc.band.low, roc.band.high), strict=True
    ):
        assert ((table.tp + table.fn) == n_positive).all()
        assert ((table.tp + table.fp + table.fn + table.tn) == n).all()
        counted = 100 * latent + (0 if population == "unlabeled" else 80 * known)
        np.testing.assert_allclose(table.tp, counted, atol=1e-9)
        np.testing.assert_allclose(found.tpr, table.tp / n_positive, atol=1e-12)
        np.testing.assert_allclose(found.fpr, table.fp / (n - n_positive), atol=1e-12)
        assert type(found).__name__ == "RocCurve"
    assert (roc.lower.tpr <= roc.upper.tpr).all()
    assert (roc.lower.fpr >= roc.upper.fpr).all()
    np.testing.assert_array_equal(pr.lower.recall, roc.lower.tpr)
    assert (pr.lower.precision <= pr.upper.precision).all()
    assert roc.area[0] < ht.roc_auc(evidence) < roc.area[1]
    assert not roc.upper.tpr.flags.writeable


def test_areas_of_the_curves_are_the_bounds_of_the_areas(normal: PositiveUnlabeled) -> None:
    for of, area in (("roc", "roc_auc"), ("pr", "pr_auc")):
        found = bounds(normal, area)
        assert bounds(normal, of).area == pytest.approx(ends(found), abs=1e-12)


def test_the_stricter_the_level_the_wider(normal: PositiveUnlabeled) -> None:
    for band in BANDS:
        widths = [
            np.subtract(*reversed(ends(bounds(normal, "roc_auc", band=band, confidence_level=level))))
            for level in (0.5, 0.8, 0.95, 0.999)
        ]
        assert np.all(np.diff(widths) > 0), band


def test_bands_from_narrow_to_wide(normal: PositiveUnlabeled) -> None:
    """One rank is less than all ranks; the population's curve is less than the realised one."""
    width = {}
    for band in BANDS:
        found = bounds(normal, "roc", band=band).band
        width[band] = np.mean(found.high - found.low)
    assert width["claesen-bootstrap"] < width["exact"] < width["bootstrap"]
    assert width["claesen-exact"] < width["exact"]
    assert width["claesen-dkw"] < width["dkw"]


def test_the_same_seed_gives_the_same_bounds(normal: PositiveUnlabeled) -> None:
    first, again, other = (bounds(normal, "roc", rng=seed, n_resamples=50) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.upper.tpr, again.upper.tpr)
    assert (first.upper.tpr != other.upper.tpr).any()
    drawn = [bounds(normal, "roc_auc", rng=np.random.default_rng(8), n_resamples=50) for _ in range(2)]
    assert ends(drawn[0]) == ends(drawn[1])


def test_notes_say_what_was_assumed(normal: PositiveUnlabeled, purest: PositiveUnlabeled) -> None:
    notes = {band: " ".join(bounds(normal, "roc_auc", band=band).notes) for band in BANDS}
    assert all("SCAR" in text for text in notes.values())
    for band, text in notes.items():
        assert ("one threshold" in text or "pointwise" in text) == (
            band in ("exact", "claesen-bootstrap", "claesen-exact")
        )
        assert ("population" in text) == band.startswith("claesen"), text


def test_results_can_be_read(normal: PositiveUnlabeled) -> None:
    found = bounds(normal, "roc_auc", prior=(0.2, 0.3))
    assert f"roc_auc: {found.low:.4f} to {found.high:.4f}" in repr(found)
    assert "95%" in repr(found)
    assert "α = 0.2 to 0.3" in repr(found)
    made = found.to_dict()
    assert made["low"] == found.low
    assert made["alpha"] == [0.2, 0.3]
    assert "RocCurve" in repr(bounds(normal, "roc"))


def test_metrics_with_a_budget(normal: PositiveUnlabeled) -> None:
    """Precision among the k highest unlabeled rows is the share of latent positives among them."""
    found = bounds(normal, "precision_at_k", k=100)
    table = bounds(normal, "roc").tables
    unlabeled = np.sort(normal.table.strata["unlabeled"].score)[::-1]
    at = int(np.flatnonzero(table[0].threshold == unlabeled[99])[0])
    assert ends(found) == pytest.approx([t.tp[at] / 100 for t in table], abs=1e-12)


# --- Sensitivity to α (Eq. 15) -----------------------------------------------------------------


def test_sensitivities_are_the_slopes_of_the_rates_among_the_unlabeled(normal: PositiveUnlabeled) -> None:
    """Slopes of the unrounded formulas at a fixed share T of the latent positives above the threshold."""
    found, n, alpha, step = bounds(normal, "roc"), 400, 0.25, 1e-6
    unlabeled = np.sort(normal.table.strata["unlabeled"].score)
    head = n - np.searchsorted(unlabeled, found.band.threshold)
    for slopes, share in zip(found.sensitivity, (found.band.low, found.band.high), strict=True):

        def rates(a: float, share: Any = share) -> list[Any]:
            tp = a * share * n
            with np.errstate(invalid="ignore"):
                return [tp / (a * n), (head - tp) / ((1 - a) * n), tp / head]

        wanted = [
            (up - down) / (2 * step)
            for up, down in zip(rates(alpha + step), rates(alpha - step), strict=True)
        ]
        for ours, slope in zip((slopes.tpr, slopes.fpr, slopes.precision), wanted, strict=True):
            np.testing.assert_allclose(ours[head > 0], slope[head > 0], atol=1e-7, rtol=1e-7)


# --- Long ranges of α --------------------------------------------------------------------------


def apart(n: int, share: float, seed: int = 0) -> PositiveUnlabeled:
    """Known rows of both classes and unlabeled ones, so many that only a narrow range of α is possible."""
    rng = np.random.default_rng(seed)
    latent = round(share * n)
    unlabeled = np.append(rng.normal(3, 1, latent), rng.normal(0, 1, n - latent))
    return PositiveUnlabeled(rng.normal(3, 1, n), unlabeled, negative=rng.normal(0, 1, n))


@pytest.mark.parametrize("share", [0.334, 0.117])
def test_a_narrow_range_that_is_possible_is_found(share: float) -> None:
    """Between two of the numbers that are looked at first."""
    found = bounds(apart(20_000, share), "roc_auc", band="dkw")
    assert found.alpha[0] < share < found.alpha[1]
    assert found.alpha[1] - found.alpha[0] < 0.06


@pytest.mark.parametrize("prior", [None, (0.0005, 0.35), (0.1, 0.9999)])
@pytest.mark.parametrize("sign", [1, -1])
def test_curves_over_a_long_range_have_the_areas_of_the_metrics(prior: Any, sign: int) -> None:
    rng = np.random.default_rng(5)
    positive = rng.normal(1.5, 1, 150)
    unlabeled = np.append(rng.normal(1.5, 1, 900), rng.normal(0, 1, 2100))
    evidence = PositiveUnlabeled(sign * positive, sign * unlabeled)
    for curve, metric in (("roc", "roc_auc"), ("pr", "pr_auc")):
        found = bounds(evidence, curve, prior=prior, band="dkw")
        assert found.area == ends(bounds(evidence, metric, prior=prior, band="dkw"))
        for alpha in (0.0005, 0.002, 0.01, 0.1, 0.25, 0.34):
            if found.alpha[0] <= alpha <= found.alpha[1]:
                one = bounds(evidence, curve, prior=alpha, band="dkw")
                assert found.area[0] <= one.area[0] + 1e-3
                assert one.area[1] <= found.area[1] + 1e-3


# --- Many rows ---------------------------------------------------------------------------------


@cache
def normals(n_known: int, n_unlabeled: int, prior: float = 0.3) -> ht.PositiveUnlabeled:
    """True area .921: N(2, 1) against N(0, 1)."""
    rng = np.random.default_rng(1)
    latent = round(prior * n_unlabeled)
    unlabeled = np.append(rng.normal(2, 1, latent), rng.normal(0, 1, n_unlabeled - latent))
    return ht.PositiveUnlabeled(rng.normal(2, 1, n_known), unlabeled, prior=prior)


@pytest.mark.parametrize("band", ["dkw", "claesen-dkw"])
@pytest.mark.parametrize("n_known", [1, 2, 50, 2000])
def test_the_dkw_band_works(band: str, n_known: int) -> None:
    evidence = normals(n_known, 20_000)
    for of in ("roc", "pr"):
        found = bounds(evidence, of, band=band)
        assert 0 <= found.area[0] < found.area[1] <= 1
    if n_known == 2000:
        low, high = bounds(evidence, "roc", band=band).area
        assert low < 0.921 < high
        assert high - low < 0.1


@pytest.mark.parametrize("band", BANDS)
def test_a_million_rows_are_done_in_a_call(band: str) -> None:
    """A lookup of each of a million points among a million ranks would never end."""
    found = bounds(normals(100_000, 900_000), "roc", band=band)
    assert len(found.upper.tpr) == 1_000_001
    low, high = found.area
    assert low < 0.921 < high
    assert high - low < 0.02
