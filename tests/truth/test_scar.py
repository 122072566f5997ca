"""The checks of SCAR refute it no more often than they say where it holds, and often where it fails."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import halftruth as ht
from halftruth.inference._prior_range import refutations
from halftruth.prior._scar_test import scar_test

ERROR = 0.05
MEASURED_IN = 1_000


def chosen(rng, n, propensity):
    """Positive scores, N(2, 1), labeled with this chance at each score."""
    score = rng.normal(2, 1, 40 * n)
    return score[rng.random(len(score)) < propensity(score)][:n]


def at_random(_score):
    return np.ones_like(_score)


def rising(score):
    return 1 / (1 + np.exp(-1.5 * (score - 2)))


def rising_little(score):
    return 1 / (1 + np.exp(-0.8 * (score - 2)))


def falling(score):
    return rising(4 - score)


def falling_little(score):
    return rising_little(4 - score)


def middle(score):
    return np.exp(-((score - 2) ** 2))


def setting(n_p, n_u, alpha, *, propensity=at_random, n_n=0, purity=1.0, sample=0, digits=9, **options):
    """One draw of the arguments: negatives are N(0, 1), scores are rounded to ``digits``."""

    def draw(rng):
        def mixed(n, share):
            y = rng.random(n) < share
            return rng.normal(2 * y, 1), y

        positive = chosen(rng, n_p, propensity)
        wrong = rng.random(n_p) >= purity
        positive[wrong] = rng.normal(0, 1, wrong.sum())
        arrays = {"positive": positive, "unlabeled": mixed(n_u, alpha)[0]}
        if n_n:
            arrays["negative"] = rng.normal(0, 1, n_n)
        arrays = {name: np.round(x, digits) for name, x in arrays.items()}
        if sample:
            score, y = mixed(sample, alpha)
            arrays["labeled_sample"] = np.round(score, digits), y
        return arrays | {"purity": purity} | options

    return draw


def sources(sizes, law, digits=9):
    def draw(rng):
        label = np.repeat(np.arange(len(sizes)), sizes)
        return {"positive": np.round(law(rng, label), digits), "source": label}

    return draw


def same(rng, label):
    return rng.normal(0, 1, len(label))


def shifted(rng, label):
    return rng.normal(0.3 * label, 1)


def wider(rng, label):
    return rng.normal(0, 1 + 0.3 * label)


def contaminated(rng, label):
    return rng.normal(-3 * ((rng.random(len(label)) < 0.1) & (label == 0)), 1)


def tied_at_worst(rng):
    """Least favourable to the prior's check: above 0 all of the unlabeled are positives, at five scores."""
    y = rng.random(1_000) < 0.3
    return {
        "positive": rng.integers(1, 6, 100),
        "unlabeled": np.where(y, rng.integers(1, 6, 1_000), 0),
        "prior": 0.3,
    }


def untied_at_worst(rng):
    y = rng.random(1_000) < 0.3
    return {"positive": rng.random(60), "unlabeled": np.where(y, rng.random(1_000), -1), "prior": 0.3}


def pure_unlabeled(rng):
    return {"positive": rng.random(40), "unlabeled": rng.random(300), "prior": 0.999}


HOLDS = {
    # name: check, draw
    "prior": ("prior", setting(200, 2_000, 0.3, prior=0.3)),
    "prior, worst law": ("prior", untied_at_worst),
    "prior, worst law, ties": ("prior", tied_at_worst),
    "prior, all unlabeled are positive": ("prior", pure_unlabeled),
    "prior, purity": ("prior", setting(100, 1_000, 0.5, purity=0.6, prior=0.5)),
    "sources": ("sources", sources((200, 200), same)),
    "sources, unequal": ("sources", sources((5, 300), same)),
    "sources, ties": ("sources", sources((30, 100), same, digits=0)),
    "sources, five": ("sources", sources((10, 20, 30, 40, 50), same)),
    "negatives": ("negatives", setting(200, 2_000, 0.3, n_n=200)),
    "negatives, prior": ("negatives", setting(200, 2_000, 0.3, n_n=200, prior=0.3)),
    "negatives, end of a range": ("negatives", setting(100, 1_000, 0.3, n_n=100, prior=(0.3, 0.5))),
    "negatives, few": ("negatives", setting(10, 1_000, 0.3, n_n=10)),
    "negatives, one positive": ("negatives", setting(1, 500, 0.3, n_n=200)),
    "negatives, few unlabeled": ("negatives", setting(300, 50, 0.3, n_n=300)),
    "negatives, unequal": ("negatives", setting(1_000, 200, 0.3, n_n=15)),
    "negatives, no positive among the unlabeled": ("negatives", setting(200, 500, 0.0, n_n=200)),
    "negatives, ties": ("negatives", setting(60, 600, 0.3, n_n=60, digits=0)),
    "negatives, purity": ("negatives", setting(200, 1_000, 0.3, n_n=200, purity=0.7, prior=0.3)),
    "labeled sample": ("labeled sample", setting(200, 10, 0.3, sample=100)),
    "labeled sample, ties": ("labeled sample", setting(30, 10, 0.3, sample=300, digits=0)),
    "labeled sample, purity": ("labeled sample", setting(200, 2_000, 0.3, sample=200, purity=0.8, prior=0.3)),
    "labeled sample, purity, no prior": ("labeled sample", setting(100, 1_000, 0.3, sample=100, purity=0.8)),
    "share": ("share", setting(5, 10, 0.3, sample=100, prior=0.3)),
    "share, end of a range": ("share", setting(5, 10, 0.1, sample=57, prior=(0.1, 0.4))),
    "all together": (None, setting(100, 1_000, 0.3, n_n=100, sample=100, prior=0.3)),
}

FAILS = {
    # name: check, draw, power as measured in 1,000 draws
    "prior, rising": ("prior", setting(200, 2_000, 0.3, propensity=rising, prior=0.3), 0.983),
    "prior, middle": ("prior", setting(200, 2_000, 0.5, propensity=middle, prior=0.5), 0.899),
    "sources, shift": ("sources", sources((200, 200), shifted), 0.774),
    "sources, scale": ("sources", sources((200, 200), wider), 0.75),
    "sources, contaminated": ("sources", sources((200, 200), contaminated), 0.778),
    "sources, three": ("sources", sources((100, 100, 100), shifted), 0.941),
    "negatives, rising": ("negatives", setting(200, 2_000, 0.3, propensity=rising, n_n=200), 0.511),
    "negatives, prior": (
        "negatives",
        setting(200, 2_000, 0.3, propensity=rising_little, n_n=200, prior=0.3),
        0.77,
    ),
    "labeled sample, rising": ("labeled sample", setting(200, 10, 0.3, propensity=rising, sample=300), 0.988),
    "labeled sample, purity": (
        "labeled sample",
        setting(200, 2_000, 0.3, propensity=rising, sample=300, purity=0.9, prior=0.3),
        0.939,
    ),
    # Known positives that score too low: the prior says nothing of them, other evidence does.
    "negatives, falling": ("negatives", setting(200, 2_000, 0.3, propensity=falling, n_n=200), 0.989),
    "negatives, falling little": (
        "negatives",
        setting(200, 2_000, 0.3, propensity=falling_little, n_n=200),
        0.64,
    ),
    "negatives, prior, falling little": (
        "negatives",
        setting(200, 2_000, 0.3, propensity=falling_little, n_n=200, prior=0.3),
        0.757,
    ),
    "labeled sample, falling": (
        "labeled sample",
        setting(200, 10, 0.3, propensity=falling, sample=300),
        0.991,
    ),
    "share": ("share", setting(5, 10, 0.3, sample=100, prior=0.2), 0.605),
}


def refuted(check, draw, n, rng):
    """Share of n draws in which this check, or the verdict, refutes."""
    hits = 0
    for _ in range(n):
        result = scar_test(**draw(rng), n_resamples=199, rng=rng)
        p = {made.name: made.p_value for made in result.checks}.get(check, result.p_value)
        hits += p <= ERROR
    return hits / n


BY_CHANCE = 1e-4
"""Probability with which a count leaves its limit: there are some forty of them."""


@pytest.mark.slow
@pytest.mark.parametrize("name", HOLDS)
def test_what_holds_is_seldom_refuted(name, draws):
    n = draws(1_000)
    share = refuted(*HOLDS[name], n, np.random.default_rng([31, list(HOLDS).index(name)]))
    assert share <= stats.binom.isf(BY_CHANCE, n, ERROR) / n


@pytest.mark.slow
@pytest.mark.parametrize("name", FAILS)
def test_what_fails_is_refuted_as_often_as_was_measured(name, draws):
    check, draw, power = FAILS[name]
    n = draws(300)
    share = refuted(check, draw, n, np.random.default_rng([32, list(FAILS).index(name)]))
    measured = power - 3 * np.sqrt(power * (1 - power) / MEASURED_IN)
    assert share >= stats.binom.ppf(BY_CHANCE, n, measured) / n


# --- In closed form, as an evaluation with known negatives makes it ------------------------------------

SURE = 0.01


def t_laws(rng):
    return {
        "positive": 1.5 + rng.standard_t(1, 100),
        "unlabeled": 1.5 * (rng.random(1_000) < 0.3) + rng.standard_t(1, 1_000),
        "negative": rng.standard_t(1, 50),
    }


MIXED = {
    "few": setting(50, 50, 0.3, n_n=50),
    "few known": setting(50, 5_000, 0.3, n_n=50),
    "few negatives": setting(300, 5_000, 0.3, n_n=50),
    "few positives": setting(50, 300, 0.3, n_n=300),
    "many": setting(300, 3_000, 0.3, n_n=300),
    "rare": setting(50, 5_000, 0.005, n_n=300),
    "none among the unlabeled": setting(50, 1_000, 0.0, n_n=50),
    "nothing else among the unlabeled": setting(50, 1_000, 1.0, n_n=50),
    "purity": setting(200, 1_000, 0.3, n_n=200, purity=0.7),
    "ties": setting(100, 1_000, 0.3, n_n=50, digits=0),
    "heavy tails": t_laws,
}
UNMIXED = {
    # name: draw, power as measured in 1,000 draws
    "falling": (setting(200, 2_000, 0.3, propensity=falling, n_n=200), 0.953),
    "falling, few negatives": (setting(300, 3_000, 0.3, propensity=falling, n_n=50), 0.683),
    "rising": (setting(300, 3_000, 0.3, propensity=rising, n_n=300), 0.397),
}


def unmixed(draw, n, rng):
    """Share of n draws in which an evaluation is refuted for its known rows."""
    hits = 0
    for _ in range(n):
        drawn = draw(rng)
        evidence = ht.PositiveUnlabeled(
            drawn["positive"], drawn["unlabeled"], negative=drawn["negative"], purity=drawn.get("purity", 1.0)
        )
        hits += len(refutations(evidence, 0.95))
    return hits / n


@pytest.mark.slow
@pytest.mark.parametrize("name", MIXED)
def test_random_samples_are_seldom_said_not_to_mix(name, draws):
    n = draws(4_000)
    share = unmixed(MIXED[name], n, np.random.default_rng([33, list(MIXED).index(name)]))
    assert share <= stats.binom.isf(BY_CHANCE, n, SURE) / n


@pytest.mark.slow
@pytest.mark.parametrize("name", UNMIXED)
def test_known_rows_that_do_not_mix_are_refuted_as_often_as_was_measured(name, draws):
    draw, power = UNMIXED[name]
    n = draws(300)
    share = unmixed(draw, n, np.random.default_rng([34, list(UNMIXED).index(name)]))
    measured = power - 3 * np.sqrt(power * (1 - power) / MEASURED_IN)
    assert share >= stats.binom.ppf(BY_CHANCE, n, measured) / n
