"""Bands and bounds hold what was realised as often as they say, over simulated rankings."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
from scipy import stats

import halftruth as ht
from halftruth import InputError

bounds = partial(ht.bounds, prior_of="rows")
FULL = 500
LEVEL = 0.95
SIZES = {"1 to 20": (100, 2000), "1 to 1": (500, 500), "4 to 1": (400, 100)}
N_NEGATIVE = 3000


@dataclass(frozen=True)
class Ranking:
    """Scores with all labels; which positives are known is chance."""

    known: np.ndarray
    latent: np.ndarray
    negative: np.ndarray

    @property
    def unlabeled(self) -> np.ndarray:
        return np.concatenate([self.latent, self.negative])

    @property
    def alpha(self) -> float:
        return len(self.latent) / len(self.unlabeled)

    def evidence(self, alpha: float | tuple[float, float] | None = None, population: str = "unlabeled"):
        n_known, n_unlabeled = len(self.known), len(self.unlabeled)

        def prior(share: float) -> float:
            if population == "unlabeled":
                return share
            return (n_known + share * n_unlabeled) / (n_known + n_unlabeled)

        ends = self.alpha if alpha is None else alpha
        given = tuple(map(prior, ends)) if isinstance(ends, tuple) else prior(ends)
        return ht.PositiveUnlabeled(self.known, self.unlabeled, prior=given, population=population)

    def truth(self, population: str = "unlabeled") -> ht.Labeled:
        """What the evidence would be if all labels were known."""
        positive = self.latent if population == "unlabeled" else np.append(self.latent, self.known)
        y = np.append(np.ones(len(positive)), np.zeros(len(self.negative)))
        return ht.Labeled(y, np.append(positive, self.negative))


def draw(seed: int, sizes: tuple[int, int], *, tied: bool = False, n_negative: int = N_NEGATIVE) -> Ranking:
    rng = np.random.default_rng([seed, *sizes, tied])
    positive, negative = rng.normal(1.5, 1, sum(sizes)), rng.normal(0, 1, n_negative)
    if tied:
        positive, negative = np.round(positive, 1), np.round(negative, 1)
    return Ranking(positive[: sizes[0]], positive[sizes[0] :], negative)


def fewest(n: int, level: float = LEVEL) -> int:
    """Fewer hits than this have a chance below 1e-4 where the level is held."""
    return int(stats.binom.ppf(1e-4, n, level))


def holds_curve(ranking: Ranking, band: str, seed: int) -> bool:
    """Whether the band of the latent positives' ranks holds their realised curve at every threshold."""
    try:
        found = bounds(ranking.evidence(), "roc", band=band, confidence_level=LEVEL, rng=seed).band
    except InputError as error:  # the realised share is refuted: a miss
        if "refute" not in str(error):
            raise
        return False
    above = len(ranking.latent) - np.searchsorted(np.sort(ranking.latent), found.threshold)
    tpr = above / len(ranking.latent)
    return bool((found.low <= tpr + 1e-12).all() and (tpr <= found.high + 1e-12).all())


def show(capsys: pytest.CaptureFixture[str], what: str, hits: int, n: int) -> None:
    with capsys.disabled():
        sys.stdout.write(f"\n{what}: {hits} of {n} ({100 * hits / n:.1f}%)\n")


@pytest.mark.slow
@pytest.mark.parametrize("tied", [False, True], ids=["distinct", "tied"])
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("band", ["bootstrap", "dkw"])
def test_a_simultaneous_band_holds_the_realised_curve(
    band: str,
    sizes: tuple[int, int],
    tied: bool,
    draws: Callable[[int], int],
    capsys: pytest.CaptureFixture[str],
) -> None:
    n = draws(FULL)
    hits = sum(holds_curve(draw(seed, sizes, tied=tied), band, seed) for seed in range(n))
    show(capsys, f"{band}, {sizes}, {'tied' if tied else 'distinct'}", hits, n)
    assert hits >= fewest(n)
    if n >= FULL:
        assert hits / n >= 0.93


@pytest.mark.slow
def test_the_bootstrap_band_is_not_wider_than_it_must_be(draws, capsys) -> None:
    """Its level is exact but for ties of whole numbers: with many rows hardly more than 95% are held."""
    n, sizes = draws(FULL), SIZES["1 to 1"]
    hits = sum(holds_curve(draw(seed + 10_000, sizes), "bootstrap", seed) for seed in range(n))
    show(capsys, "bootstrap, not too wide", hits, n)
    assert hits <= stats.binom.isf(1e-4, n, 0.97)


@pytest.mark.slow
@pytest.mark.parametrize("band", ["claesen-dkw", "claesen-bootstrap", "claesen-exact", "exact"])
def test_other_bands_miss_the_realised_curve(band: str, draws, capsys) -> None:
    """One-sample bands leave out the noise of the latent ranks, pointwise ones all ranks but one."""
    n, sizes = draws(FULL), SIZES["4 to 1"]
    hits = sum(holds_curve(draw(seed, sizes), band, seed) for seed in range(n))
    show(capsys, f"{band}, {sizes}", hits, n)
    assert hits < stats.binom.ppf(1e-4, n, 0.9)


@pytest.mark.slow
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_the_exact_band_holds_at_one_threshold(sizes: tuple[int, int], draws, capsys) -> None:
    n, at, hits = draws(FULL), (-0.5, 1.0, 2.5), np.zeros(3, dtype=int)
    for seed in range(n):
        ranking = draw(seed, sizes)
        band = bounds(ranking.evidence(), "roc", band="exact", confidence_level=LEVEL).band
        for i, threshold in enumerate(at):
            row = np.searchsorted(-band.threshold, -threshold, side="right") - 1
            tpr = np.mean(ranking.latent >= band.threshold[row])
            hits[i] += band.low[row] - 1e-12 <= tpr <= band.high[row] + 1e-12
    for threshold, hit in zip(at, hits, strict=True):
        show(capsys, f"exact at {threshold}, {sizes}", int(hit), n)
        assert hit >= fewest(n)


METRICS = {"roc_auc": None, "average_precision": None, "f1": 1.0}


def metric_of(truth: ht.Labeled, name: str, threshold: float | None) -> float:
    return ht.confusion(truth, threshold).f1 if name == "f1" else getattr(ht, name)(truth)


def count_hits(n: int, of: Callable[[int, str, float | None], tuple[float, float, float]]) -> dict[str, int]:
    hits = dict.fromkeys(METRICS, 0)
    for seed in range(n):
        for name, threshold in METRICS.items():
            try:
                low, high, truth = of(seed, name, threshold)
            except InputError as error:  # what was realised is refuted: a miss
                if "refute" not in str(error):
                    raise
                continue
            hits[name] += low - 1e-12 <= truth <= high + 1e-12
    return hits


@pytest.mark.slow
@pytest.mark.parametrize("population", ["unlabeled", "all"])
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_bounds_hold_the_metrics_of_the_hidden_labels(
    sizes: tuple[int, int], population: str, draws: Callable[[int], int], capsys: pytest.CaptureFixture[str]
) -> None:
    def one(seed: int, name: str, threshold: float | None) -> tuple[float, float, float]:
        ranking = draw(seed, sizes)
        found = bounds(ranking.evidence(population=population), name, threshold=threshold, rng=seed)
        return found.low, found.high, metric_of(ranking.truth(population), name, threshold)

    n = draws(FULL)
    for name, hits in count_hits(n, one).items():
        show(capsys, f"{name}, {sizes}, {population}", hits, n)
        assert hits >= fewest(n), name


@pytest.mark.slow
@pytest.mark.parametrize("band", ["bootstrap", "dkw"])
def test_bounds_hold_over_a_range_with_the_realised_share(band: str, draws, capsys) -> None:
    """The worst case: the realised share is at an end of the range."""

    def one(seed: int, name: str, threshold: float | None) -> tuple[float, float, float]:
        ranking = draw(seed, (100, 200), n_negative=600)
        ends = (ranking.alpha, ranking.alpha + 0.1) if seed % 2 else (ranking.alpha - 0.1, ranking.alpha)
        found = bounds(ranking.evidence(ends), name, band=band, threshold=threshold, rng=seed)
        return found.low, found.high, metric_of(ranking.truth(), name, threshold)

    n = draws(FULL // 4)
    for name, hits in count_hits(n, one).items():
        show(capsys, f"{name}, a range of α, {band}", hits, n)
        assert hits >= fewest(n), name


@pytest.mark.first
@pytest.mark.slow
@pytest.mark.parametrize("n_read", [20, 200])
def test_bounds_hold_with_a_labeled_sample(n_read: int, draws, capsys) -> None:
    """Some unlabeled rows, drawn at random, are read: their positives say what α is."""

    def one(seed: int, name: str, threshold: float | None) -> tuple[float, float, float]:
        ranking = draw(seed, (100, 200), n_negative=600)
        rng = np.random.default_rng([seed, n_read])
        k = int(rng.hypergeometric(len(ranking.latent), len(ranking.negative), n_read))
        evidence = ht.PositiveUnlabeled(ranking.known, ranking.unlabeled)
        found = bounds(evidence, name, labeled_sample=(k, n_read), threshold=threshold, rng=seed)
        return found.low, found.high, metric_of(ranking.truth(), name, threshold)

    n = draws(FULL // 2)
    for name, hits in count_hits(n, one).items():
        show(capsys, f"{name}, {n_read} rows read", hits, n)
        assert hits >= fewest(n), name


@pytest.mark.slow
@pytest.mark.parametrize("population", ["unlabeled", "all"])
def test_bounds_hold_with_known_negatives(population: str, draws, capsys) -> None:
    def one(seed: int, name: str, threshold: float | None) -> tuple[float, float, float]:
        ranking = draw(seed, (150, 300), n_negative=900)
        known, hidden = ranking.negative[:200], ranking.negative[200:]
        unlabeled = np.append(ranking.latent, hidden)
        prior = 300 / 1000 if population == "unlabeled" else 450 / 1350
        evidence = ht.PositiveUnlabeled(
            ranking.known, unlabeled, negative=known, prior=prior, population=population
        )
        found = bounds(evidence, name, threshold=threshold, rng=seed)
        judged = ranking if population == "all" else Ranking(ranking.known, ranking.latent, hidden)
        return found.low, found.high, metric_of(judged.truth(population), name, threshold)

    n = draws(FULL)
    for name, hits in count_hits(n, one).items():
        show(capsys, f"{name}, known negatives, {population}", hits, n)
        assert hits >= fewest(n), name


@pytest.mark.slow
@pytest.mark.parametrize("population", ["unlabeled", "all"])
@pytest.mark.parametrize("band", ["bootstrap", "dkw", "exact"])
def test_bounds_hold_where_the_prior_is_that_of_the_population(band: str, population: str, draws) -> None:
    """How many positives the rows hold is chance; taken as exact, it left accuracy in half of the draws."""
    n, prior, rows = draws(FULL // 5), 0.3 if population == "unlabeled" else 0.6, 900
    at = {"accuracy": 3.0, "precision": 1.0}
    hits = dict.fromkeys(at, 0)
    for seed in range(n):
        rng = np.random.default_rng([seed, 77])
        y = rng.random(rows) < prior
        score = rng.normal(1.5 * y, 1)
        known = y & (rng.random(rows) < (0.5 if population == "all" else 0))
        positive = score[known] if population == "all" else rng.normal(1.5, 1, 300)
        evidence = ht.PositiveUnlabeled(positive, score[~known], prior=prior, population=population)
        for name, threshold in at.items():
            truth = getattr(ht.confusion(ht.Labeled(y, score), threshold), name)
            try:
                found = ht.bounds(evidence, name, band=band, threshold=threshold, rng=seed, n_resamples=200)
            except ht.Refuted:  # what was realised is refuted: a miss
                continue
            hits[name] += found.low - 1e-12 <= truth <= found.high + 1e-12
    assert min(hits.values()) >= fewest(n), hits
