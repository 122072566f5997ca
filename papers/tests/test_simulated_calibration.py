"""Populations of known calibration: truths against closed forms, other quadratures and draws."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, special, stats

import halftruth as ht
from halftruth._errors import InputError
from halftruth.simulate import Draw, GaussianClasses, logistic_model
from halftruth_papers.bpm.binomial_process import BinomialProcess, binomial_processes, sinusoidal
from halftruth_papers.bpm.response_curves import LogCurve, LogitCurve, LogRestCurve, WaveCurve
from halftruth_papers.pu_ece.limit_measures import exact_measure, labeled_measure, positive_unlabeled_measure
from halftruth_papers.pu_ece.logit_mixture import LogitMixture

PAPER = {"D1": 0.04973, "D2": 0.01293, "D3": 0.04099, "D4": 0.07383, "D5": 0.27541}
PROCESSES = {**binomial_processes(), "wave": sinusoidal()}
MIXTURE = LogitMixture(
    positive=[(0.6, 3.0, 1.0), (0.4, 0.0, 2.0)], negative=[(0.7, -3.0, 0.7), (0.3, -0.5, 1.5)], prior=0.3
)
MODELS = {**PROCESSES, "mixture": MIXTURE}
SURELY = 1e-9
"""Chance that a right generator fails one of the checks by draws."""


def within(count: int, n: int, share: float) -> bool:
    """Whether a count lies within exact binomial limits."""
    low, high = stats.binom.ppf([SURELY / 2, 1 - SURELY / 2], n, share)
    return bool(low <= count <= high)


def distance(n: int) -> float:
    """What the distance of n draws' distribution from the true one hardly ever exceeds."""
    return math.sqrt(math.log(2 / SURELY) / (2 * n))


# --- truths ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PAPER)
def test_the_true_errors_are_the_papers(name: str) -> None:
    assert round(PROCESSES[name].truth("calibration_error"), 5) == PAPER[name]


CURVES: dict[str, Callable[..., np.ndarray]] = {
    "D1": lambda a, b: special.expit(-0.88 + 0.49 * (a - b)),
    "D2": lambda a, b: -np.expm1(-0.12 + 0.58 * b),
    "D3": lambda a, b: np.exp(-0.03 + 1.27 * a),
    "D4": lambda a, b: special.expit(-0.77 - 0.80 * b),
    "D5": lambda a, b: special.expit(-0.97 + 0.34 * (a - b)),
    "wave": lambda a, b: np.exp(a) + 0.48 * np.exp(a + b) * np.sin(5 * np.pi * np.exp(a)),
}


@pytest.mark.parametrize("name", CURVES)
def test_truths_equal_plain_sums_over_a_fine_grid(name: str) -> None:
    model = PROCESSES[name]
    z = np.linspace(-60, 1500, 2_000_001)
    log_s, log_rest = special.log_expit(z), special.log_expit(-z)
    s, p = np.exp(log_s), CURVES[name](log_s, log_rest)
    f = np.exp(model.a1 * log_s + model.a2 * log_rest - special.betaln(model.a1, model.a2)) * (z[1] - z[0])
    running = np.cumsum(f * (p - s))
    floor = math.log(np.finfo(float).eps)
    loss = -p * np.maximum(log_s, floor) - (1 - p) * np.maximum(log_rest, floor)
    prior = (f * p).sum()
    above = np.cumsum((f * p)[::-1])[::-1] - f * p / 2
    truths = {
        ("prevalence", ""): prior,
        ("brier", ""): (f * (p * (1 - s) ** 2 + (1 - p) * s**2)).sum(),
        ("log_loss", ""): (f * loss).sum(),
        ("roc_auc", ""): (f * (1 - p) * above).sum() / (prior * (1 - prior)),
        ("calibration_error", ""): (f * np.abs(p - s)).sum(),
        ("calibration_error", 2): math.sqrt((f * (p - s) ** 2).sum()),
        ("ks_calibration_error", ""): np.abs(running).max(),
        ("ks_calibration_error", "kuiper"): max(running.max(), 0) - min(running.min(), 0),
    }
    for (metric, option), value in truths.items():
        key = "norm" if metric == "calibration_error" else "statistic"
        ours = model.truth(metric, **({key: option} if option else {}))
        # The sums err by the square of the step, 6e-7, where the integrand turns.
        assert ours == pytest.approx(value, abs=3e-7), (metric, option)


def test_truths_in_closed_form() -> None:
    calibrated = BinomialProcess(curve=LogitCurve(), a1=0.5, a2=1.7)
    total = calibrated.a1 + calibrated.a2
    assert calibrated.prior == pytest.approx(calibrated.a1 / total, abs=1e-13)
    assert calibrated.truth("calibration_error") == pytest.approx(0, abs=1e-14)
    uncertain = calibrated.a1 * calibrated.a2 / (total * (total + 1))
    assert calibrated.truth("brier") == pytest.approx(uncertain, abs=1e-13)
    uniform = BinomialProcess(curve=LogitCurve(), a1=1.0, a2=1.0)
    assert uniform.truth("roc_auc") == pytest.approx(5 / 6, abs=1e-12)
    assert uniform.truth("log_loss") == pytest.approx(0.5, abs=1e-11)
    assert uniform.truth("brier_skill") == pytest.approx(1 / 3, abs=1e-12)


@pytest.mark.parametrize(("a1", "a2"), [(2.77, 0.04), (0.05, 0.03), (1.3, 2.0), (400.0, 150.0)])
def test_truths_of_shrunk_scores(a1: float, a2: float) -> None:
    """p = r s has the gap (1 − r) s everywhere; 1 − p = r (1 − s) the gap (1 − r)(1 − s)."""
    mean, square = a1 / (a1 + a2), a1 * (a1 + 1) / ((a1 + a2) * (a1 + a2 + 1))
    low = BinomialProcess(curve=LogCurve(intercept=math.log(0.9)), a1=a1, a2=a2)
    assert low.prior == pytest.approx(0.9 * mean, abs=1e-13)
    assert low.truth("calibration_error") == pytest.approx(0.1 * mean, abs=1e-13)
    assert low.truth("calibration_error", norm=2) == pytest.approx(0.1 * math.sqrt(square), abs=1e-13)
    assert low.truth("ks_calibration_error") == pytest.approx(0.1 * mean, abs=1e-13)
    high = BinomialProcess(curve=LogRestCurve(intercept=math.log(0.8)), a1=a1, a2=a2)
    assert high.truth("calibration_error") == pytest.approx(0.2 * (1 - mean), abs=1e-13)
    bent = BinomialProcess(curve=LogCurve(slope=1.5), a1=a1, a2=a2)
    moment = math.exp(special.betaln(a1 + 1.5, a2) - special.betaln(a1, a2))
    assert bent.prior == pytest.approx(moment, abs=1e-12)


def test_a_mixture_of_one_normal_each_is_two_normal_classes() -> None:
    normals = GaussianClasses(prior=0.35, location=-1.0, separation=1.7, intercept=0.0, slope=1.0)
    mixture = LogitMixture(positive=[(1.0, 0.7, 1.0)], negative=[(1.0, -1.0, 1.0)], prior=0.35)
    for name in ("prevalence", "roc_auc", "brier", "brier_skill", "log_loss", "calibration_error"):
        assert mixture.truth(name) == pytest.approx(normals.truth(name), abs=1e-10), name
    two = normals.truth("calibration_error", norm=2)
    assert mixture.truth("calibration_error", norm=2) == pytest.approx(two, abs=1e-10)


@pytest.mark.parametrize(("n", "tolerance"), [(10_000, 1e-6), (1_000_000, 1e-10)])
def test_the_papers_trapezoidal_rule_agrees(n: int, tolerance: float) -> None:
    z = np.linspace(-20, 20, n)
    f1, f0 = (
        sum(w * stats.norm.pdf(z, m, sd) for w, m, sd in part)
        for part in (MIXTURE.positive, MIXTURE.negative)
    )
    joint = 0.3 * f1 + 0.7 * f0
    value = integrate.trapezoid(np.abs(0.3 * f1 - special.expit(z) * joint), z)
    assert MIXTURE.truth("calibration_error") == pytest.approx(value, abs=tolerance)


def test_the_wave_is_no_beta_curve_and_of_middling_error() -> None:
    model = PROCESSES["wave"]
    assert 0.045 < model.truth("calibration_error") < 0.055
    s = np.linspace(0.0, 1.0, 2002)
    gap = model.posterior(s) - s
    assert np.count_nonzero(np.diff(np.sign(gap[1:-1]))) == 4
    for amplitude in (-0.25, 0.25):
        extreme = s + 4 * amplitude * s * (1 - s) * np.sin(2 * np.pi * 3 * s)
        assert np.allclose(WaveCurve(amplitude=amplitude, waves=3.0)(s), extreme, atol=1e-15)


# --- draws -------------------------------------------------------------------------------------

N = 100_000
CUTS = np.array([0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 0.999, 0.999999])


def shares_below(model: BinomialProcess | LogitMixture) -> np.ndarray:
    """The population's and its positives' mass with a score of at most each cut, by other means."""
    if isinstance(model, LogitMixture):
        z = special.logit(CUTS)
        parts = [
            sum(w * stats.norm.cdf(z, m, sd) for w, m, sd in part)
            for part in (model.positive, model.negative)
        ]
        return np.stack([0.3 * parts[0] + 0.7 * parts[1], 0.3 * parts[0]])
    law = stats.beta(model.a1, model.a2)
    ends = [0.0, *CUTS]
    pieces = [
        integrate.quad(lambda u: float(model.curve(law.ppf(u))), *law.cdf(pair), epsabs=1e-9)[0]
        for pair in pairwise(ends)
    ]
    return np.stack([law.cdf(CUTS), np.cumsum(pieces)])


def empirical(scores: np.ndarray) -> np.ndarray:
    return np.searchsorted(np.sort(scores), CUTS, side="right") / len(scores)


@pytest.mark.parametrize("name", MODELS)
def test_draws_follow_the_law(name: str) -> None:
    model = MODELS[name]
    everything, positives = shares_below(model)
    draw = model.draw(N, rng=1)
    assert isinstance(draw, Draw)
    assert within(int(draw.y.sum()), N, model.prior)
    assert np.abs(empirical(draw.score) - everything).max() < distance(N)
    for y, law in ((1, positives / model.prior), (0, (everything - positives) / (1 - model.prior))):
        n = N // 5
        of_class = model.draw_class(y, n, rng=2)
        assert (of_class.y == y).all()
        assert np.abs(empirical(of_class.score) - law).max() < distance(n)
        seen = draw.score[draw.y == y]
        assert np.abs(empirical(seen) - law).max() < distance(len(seen))
    # |p − s| and (y − s)² lie in [0, 1]: Hoeffding's bound is the same.
    gap = np.abs(draw.posterior - draw.score).mean()
    assert abs(gap - model.truth("calibration_error")) < distance(N)
    assert abs(((draw.y - draw.score) ** 2).mean() - model.truth("brier")) < distance(N)


@pytest.mark.parametrize("name", MODELS)
def test_the_same_seed_draws_the_same_rows(name: str) -> None:
    model = MODELS[name]
    first, second, other = (model.draw(50, rng=seed).score for seed in (3, 3, 4))
    assert np.array_equal(first, second)
    assert not np.array_equal(first, other)


def test_saturated_scores_are_exactly_one() -> None:
    draw = PROCESSES["D1"].draw(N, rng=0)
    # As 1 − s falls below half the spacing of numbers next to 1, from one side or the other.
    least, most = (stats.beta.cdf(t, 0.04, 2.77) for t in (2.0**-54, 2.0**-52))
    ones = int((draw.score == 1.0).sum())
    assert stats.binom.ppf(SURELY, N, least) <= ones <= stats.binom.ppf(1 - SURELY, N, most)
    assert (draw.score <= 1.0).all()


@pytest.mark.parametrize("name", ["D5", "mixture"])
def test_impure_positives_and_one_table(name: str) -> None:
    model = MODELS[name]
    strata = model.draw_strata(20_000, 30_000, rng=0, purity=0.8, n_negative=10)
    assert (len(strata.positive), len(strata.unlabeled), len(strata.negative)) == (20_000, 30_000, 10)
    assert within(int(strata.positive.y.sum()), 20_000, 0.8)
    assert within(int(strata.unlabeled.y.sum()), 30_000, model.prior)
    assert not strata.negative.y.any()
    table = model.draw_strata(2_000, 30_000, rng=0, population="all")
    assert within(len(table.positive), 32_000, 2_000 / 32_000)
    alpha = model.true_alpha(2_000, 30_000, population="all")
    assert alpha == pytest.approx((model.prior * 32_000 - 2_000) / 30_000)
    assert within(int(table.unlabeled.y.sum()), len(table.unlabeled), alpha)


@pytest.mark.parametrize("name", ["D4", "mixture"])
def test_evidence_of_every_kind_estimates_the_truth(name: str) -> None:
    model = MODELS[name]
    evidence = {
        "labeled": model.labeled(40_000, rng=1),
        "soft": model.soft(40_000, rng=1),
        "clean": model.positive_unlabeled(40_000, 40_000, rng=1),
        "table": model.positive_unlabeled(8_000, 40_000, rng=1, population="all"),
        "impure": model.positive_unlabeled(40_000, 40_000, rng=1, purity=0.95, n_negative=100),
    }
    for kind, each in evidence.items():
        result = ht.evaluate(each, ["brier"], n_resamples=0, confidence_level=1 - 1e-6)["brier"]
        assert result.low < model.truth("brier") < result.high, kind
        assert result.high - result.low < 0.06, kind
    positives = model.positive_confidence(100, rng=1, prior="true")
    assert positives.measure().prior == pytest.approx(model.prior)


# --- fitted mixtures ---------------------------------------------------------------------------


def test_a_fit_finds_components_prior_and_error() -> None:
    draw = MIXTURE.draw(6000, rng=0)
    fitted = LogitMixture.fit(draw.x, draw.y, max_components=3)
    assert (len(fitted.positive), len(fitted.negative)) == (2, 2)
    assert fitted.prior == draw.y.mean()
    assert sorted(fitted.positive, key=lambda part: part[1]) == list(fitted.positive)
    # A gap moves with the noise of some 6000 rows: 0.013 is the root of 1/6000.
    assert fitted.truth("calibration_error") == pytest.approx(MIXTURE.truth("calibration_error"), abs=0.013)
    again = LogitMixture.fit(draw.x, draw.y, max_components=3)
    assert again == fitted
    likelihoods = [
        np.log(np.where(draw.y == 1, model.posterior(draw.x), 1 - model.posterior(draw.x))).mean()
        for model in (fitted, MIXTURE)
    ]
    assert abs(likelihoods[0] - likelihoods[1]) < 0.01


def test_few_distinct_logits_are_fitted_or_refused() -> None:
    fitted = LogitMixture.fit([0.0, 1.0, 0.0, 1.0, -1.0, -2.0, -1.0], [1, 1, 1, 1, 0, 0, 0], prior=0.2)
    assert fitted.prior == 0.2
    assert math.isfinite(fitted.truth("calibration_error"))
    with pytest.raises(InputError, match="two distinct values or more in each class, got 1 in the positive"):
        LogitMixture.fit([0.0, 0.0, 1.0, 2.0], [1, 1, 0, 0])


# --- infinite samples --------------------------------------------------------------------------

EVERY = {"logistic": logistic_model(), "better": logistic_model(-0.2, 1.9), **MODELS}


@pytest.mark.parametrize("name", EVERY)
def test_the_exact_measure_gives_every_metric_its_truth(name: str) -> None:
    model = EVERY[name]
    measure = exact_measure(model)
    assert measure.total == 10_000
    assert measure.prior == pytest.approx(model.prior, abs=1e-12)
    for binning in ("mass", "width"):
        value = ht.calibration_error(measure, binning=binning)
        assert value == pytest.approx(model.truth("calibration_error"), abs=1e-5)
    assert ht.brier(measure) == pytest.approx(model.truth("brier"), abs=1e-6)
    assert ht.roc_auc(measure) == pytest.approx(model.truth("roc_auc"), abs=1e-6)
    assert ht.log_loss(measure) == pytest.approx(model.truth("log_loss"), abs=5e-5)
    same = labeled_measure(model, math.inf)
    assert np.array_equal(same.pos_mass, measure.pos_mass)


def test_perfectly_calibrated_laws_have_no_error_in_any_bins() -> None:
    measure = exact_measure(logistic_model(0.0, 2.0))
    for n_bins in (1, 7, 15):
        assert ht.calibration_error(measure, n_bins=n_bins) < 1e-12


def test_finite_samples_are_the_evidence() -> None:
    model = logistic_model()
    measure = positive_unlabeled_measure(model, 30, 200, rng=5)
    expected = model.positive_unlabeled(30, 200, rng=5).measure()
    assert np.array_equal(measure.score, expected.score)
    assert np.array_equal(measure.pos_mass, expected.pos_mass)
    labels = labeled_measure(model, 200, rng=5)
    assert np.array_equal(labels.pos_mass, model.labeled(200, rng=5).measure().pos_mass)


def normal_parts(edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of the logistic model, between edges in x: the positives' mass and ∫ s dF, by other means."""
    density = lambda x: (stats.norm.pdf(x, 1) + stats.norm.pdf(x, -1)) / 2  # noqa: E731
    scored = [
        integrate.quad(lambda x: special.expit(-0.5 + 1.5 * x) * density(x), *pair, epsabs=1e-13)[0]
        for pair in pairwise(edges)
    ]
    return np.diff(stats.norm.cdf(edges, 1)) / 2, np.array(scored)


@pytest.mark.parametrize("binning", ["mass", "width"])
@pytest.mark.parametrize("n_bins", ["optimal", 5])
def test_infinitely_many_unlabeled_rows(binning: str, n_bins: int | str) -> None:
    model, n = logistic_model(), 300
    measure = positive_unlabeled_measure(model, n, math.inf, rng=2, n_bins=5)
    bins = math.ceil((0.25 / n) ** (-1 / 3)) if n_bins == "optimal" else 5
    assert measure.size == pytest.approx(n / 0.25)
    inner = np.arange(1, bins) / bins
    if binning == "mass":
        below = lambda x, u: (stats.norm.cdf(x, 1) + stats.norm.cdf(x, -1)) / 2 - u  # noqa: E731
        from scipy.optimize import brentq

        edges = np.array([brentq(below, -9, 9, args=(u,), xtol=1e-14) for u in inner])
    else:
        edges = (special.logit(inner) + 0.5) / 1.5
    _, scored = normal_parts(np.array([-12.0, *edges, 12.0]))
    x = model.draw_class(1, n, rng=2).x
    known = np.bincount(np.searchsorted(edges, x, side="left"), minlength=bins) / n / 2
    value = ht.calibration_error(measure, n_bins=n_bins, binning=binning)
    assert value == pytest.approx(np.abs(known - scored).sum(), abs=1e-11)


@pytest.mark.parametrize("binning", ["mass", "width"])
@pytest.mark.parametrize("n_bins", ["optimal", 5])
def test_infinitely_many_positives(binning: str, n_bins: int | str) -> None:
    model, n = logistic_model(), 300
    measure = positive_unlabeled_measure(model, math.inf, n, rng=2, n_bins=(3, 5))
    bins = math.ceil(n ** (1 / 3)) if n_bins == "optimal" else 5
    assert measure.size == pytest.approx(n)
    x = np.sort(model.draw(n, rng=2).x)
    score = special.expit(-0.5 + 1.5 * x)
    inner = np.arange(1, bins)
    edges = x[n * inner // bins - 1] if binning == "mass" else (special.logit(inner / bins) + 0.5) / 1.5
    positives, _ = normal_parts(np.array([-12.0, *edges, 12.0]))
    scored = np.bincount(np.searchsorted(edges, x, side="left"), score, minlength=bins) / n
    value = ht.calibration_error(measure, n_bins=n_bins, binning=binning)
    assert value == pytest.approx(np.abs(positives - scored).sum(), abs=1e-11)


@pytest.mark.parametrize("name", EVERY)
def test_measures_of_one_infinite_sample_are_whole(name: str) -> None:
    model = EVERY[name]
    for sizes, total in (((200, math.inf), 5000), ((math.inf, 200), 200)):
        measure = positive_unlabeled_measure(model, *sizes, rng=0, n_points=5000)
        assert measure.total == pytest.approx(total, rel=1e-12)
        assert measure.prior == pytest.approx(model.prior, rel=1e-9)
        assert measure.alpha == model.prior
        assert (measure.mass >= 0).all()
        assert (measure.pos_mass >= 0).all()
        mean = float(measure.score @ measure.mass) / total
        if sizes[1] == 200:
            assert mean == pytest.approx(model.draw(200, rng=0).score.mean(), abs=1e-12)
        elif isinstance(model, BinomialProcess):
            assert mean == pytest.approx(model.a1 / (model.a1 + model.a2), abs=1e-9)
        else:
            assert mean == pytest.approx(mean_score(model), abs=1e-9)


def mean_score(model: GaussianClasses | LogitMixture) -> float:
    if isinstance(model, GaussianClasses):
        parts = [(0.5, 1.0, 1.0), (0.5, -1.0, 1.0)]
        intercept, slope = model.coefficients
    else:
        parts = [(0.3 * w, m, sd) for w, m, sd in model.positive]
        parts += [(0.7 * w, m, sd) for w, m, sd in model.negative]
        intercept, slope = 0.0, 1.0
    x = np.linspace(-30, 30, 60_001)
    density = sum(w * stats.norm.pdf(x, m, sd) for w, m, sd in parts)
    return float(integrate.trapezoid(density * special.expit(intercept + slope * x), x))


# --- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: BinomialProcess(curve=LogitCurve(), a1=0.0, a2=1.0), "`a1` must lie in"),
        (lambda: BinomialProcess(curve=0.3, a1=1.0, a2=1.0), "`curve` must be a function"),
        (lambda: BinomialProcess(curve=lambda s: 2 * s, a1=1.0, a2=1.0), "values in \\[0, 1\\]"),
        (lambda: BinomialProcess(curve=lambda s: 0.5, a1=1.0, a2=1.0), "one value for each score"),
        (lambda: LogCurve(intercept=0.1), "at most 0"),
        (lambda: LogRestCurve(slope=-1.0), "at least 0"),
        (lambda: LogitCurve(rise=math.inf), "`rise` must be finite"),
        (lambda: sinusoidal(amplitude=0.3), "`amplitude` must lie in"),
        (lambda: sinusoidal().truth("mcc"), "a metric whose truth is known"),
        (lambda: sinusoidal().truth("calibration_error", norm=3), "`norm` must be 1 or 2"),
        (lambda: sinusoidal().truth("ks_calibration_error", statistic="mean"), "'ks' or 'kuiper'"),
        (lambda: sinusoidal().truth("brier", threshold=0.5), "`brier` takes the parameters"),
        (lambda: sinusoidal().draw(0, rng=0), "`n` must be a whole number"),
        (lambda: sinusoidal().draw_class(2, 1, rng=0), "`y` must be 0 or 1"),
        (lambda: BinomialProcess(curve=np.zeros_like, a1=1.0, a2=1.0).draw_class(1, 1, rng=0), "class 1"),
        (lambda: LogitMixture(positive=[(1.0, 0.0)], negative=[(1.0, 0.0, 1.0)], prior=0.5), "weight, mean"),
        (lambda: LogitMixture(positive=[(0.9, 0, 1)], negative=[(1.0, 0.0, 1.0)], prior=0.5), "sum to one"),
        (lambda: LogitMixture(positive=[(1.0, 0, 0)], negative=[(1.0, 0.0, 1.0)], prior=0.5), "deviations"),
        (lambda: LogitMixture(positive=[(1.0, 0, 1)], negative=[(1.0, 0.0, 1.0)], prior=1.0), "`prior`"),
        (lambda: exact_measure("D1"), "`model` must be"),
        (lambda: exact_measure(sinusoidal(), 0), "`n_points`"),
        (lambda: positive_unlabeled_measure(sinusoidal(), 10, math.inf), "`rng` must be"),
        (lambda: positive_unlabeled_measure(sinusoidal(), 0, math.inf, rng=0), "`n_positive`"),
        (lambda: positive_unlabeled_measure(sinusoidal(), math.inf, 10.5, rng=0), "`n_unlabeled`"),
        (lambda: labeled_measure(sinusoidal(), math.nan, rng=0), "`n` must be"),
    ],
)
def test_what_cannot_be_is_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()
