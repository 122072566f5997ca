"""How rows were reviewed: counted by hand, row by row."""

import json

import numpy as np
import pytest

import halftruth as ht


def drawn(n=3000, seed=0, low=0.05):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.2).astype(float)
    score = 1 / (1 + np.exp(-(2 * rng.normal(np.where(y == 1, 1.0, -1.0)) - 1)))
    chance = np.where(score >= 0.5, 1.0, low)
    return y, score, chance, np.where(rng.random(n) < chance, y, np.nan)


def test_every_band_is_a_count_of_rows():
    _, score, chance, label = drawn()
    design = ht.Reviewed(score, label, chance).design()
    looked = ~np.isnan(label)
    assert (design.rows, design.reviewed, design.positive) == (3000, looked.sum(), np.nansum(label))
    assert design.chance == pytest.approx((0.05, 1.0))
    assert (design.known_positive, design.open_rows, design.reviewers_err) == (0, 0, False)
    assert 8 <= len(design.bands) <= 10
    assert sum(band.rows for band in design.bands) == 3000
    tops = [band.low for band in design.bands]
    assert tops == sorted(tops, reverse=True)
    for band in design.bands:
        inside = (score >= band.low) & (score <= band.high)
        among = inside & looked
        assert (band.rows, band.reviewed) == (inside.sum(), among.sum())
        assert band.positive == np.nansum(label[inside])
        assert band.chance == pytest.approx((chance[among].min(), chance[among].max()))
        assert band.stands_for == pytest.approx(np.mean(1 / chance[among]))
        assert band.chance[0] == band.chance[1]  # cut at 0.5, where it jumps
        assert 0.04 < band.rows / design.rows + band.reviewed / design.reviewed < 0.4
    assert min(band.low for band in design.bands if band.chance == (1.0, 1.0)) >= 0.5


def test_bands_are_cut_where_chances_jump():
    """From below: all rows looked at, nobody could look, one in twenty, all."""
    n = 4000
    score = np.random.default_rng(0).permutation(n) / n
    chance = np.select([score < 0.1, score < 0.3, score < 0.8], [1.0, 0.0, 0.05], 1.0)
    looked = np.random.default_rng(1).random(n) < chance
    design = ht.Reviewed(score, np.where(looked, score > 0.9, np.nan), chance).design()
    assert {band.chance for band in design.bands} == {(1.0, 1.0), (0.0, 0.0), (0.05, 0.05)}
    (nobody,) = (band for band in design.bands if band.open_rows)
    assert (nobody.rows, nobody.reviewed, nobody.stands_for) == (nobody.open_rows, 0, 0.0)
    assert nobody.low == 0.1
    assert nobody.high < 0.3
    assert sum(band.reviewed for band in design.bands) == design.reviewed
    assert sum(band.rows for band in design.bands if band.chance == (0.05, 0.05)) == n / 2
    # Chances that do not hang on the score have no place to jump at.
    mixed = np.where(np.arange(n) % 2, 1.0, 0.1)
    looked = np.random.default_rng(2).random(n) < mixed
    assert len(ht.Reviewed(score, np.where(looked, 1.0, np.nan), mixed).design().bands) == 10


def test_rows_that_nobody_could_look_at_known_positives_and_judges():
    y, score, chance, label = drawn()
    nobody = score < 0.05
    known = (y == 1) & ~nobody & (score > 0.9)
    evidence = ht.Reviewed(
        score,
        np.where(nobody | known, np.nan, label),
        np.where(nobody, 0.0, chance),
        known_positive=known,
        sensitivity=(0.8, 0.9),
        specificity=0.95,
    )
    design = evidence.design()
    assert design.open_rows == nobody.sum() == sum(band.open_rows for band in design.bands)
    assert design.known_positive == known.sum()
    assert (design.sensitivity, design.specificity) == ((0.8, 0.9), (0.95, 0.95))
    assert design.reviewers_err
    assert design.left == np.sum(np.isnan(label) & ~nobody & ~known)
    assert json.loads(json.dumps(design.to_dict()))["bands"][0]["rows"] == design.bands[0].rows


def test_chances_that_are_estimated_are_said_to_be():
    _, score, _, label = drawn()
    assert ht.Reviewed(score, label).design().chance_estimated
    assert ht.Labeled([1, 0], [0.3, 0.2]).design() is None


@pytest.mark.parametrize(("score", "label"), [([0.5], [1.0]), ([0.3] * 4, [1, 0, None, None])])
def test_one_score_is_one_band(score, label):
    (band,) = ht.Reviewed(score, label, 0.5).design().bands
    assert (band.rows, band.low, band.high) == (len(score), score[0], score[0])


def test_noise_is_the_variance_of_repeated_reviews():
    """Reviews of one population, drawn many times: Σ noise is the variance of the positives counted."""
    rng = np.random.default_rng(1)
    y, score, chance, _ = drawn(400)
    found, noise, later = [], [], []
    for _ in range(800):
        label = np.where(rng.random(400) < 0.2 + 0.8 * (chance == 1), y, np.nan)
        evidence = ht.Reviewed(score, label, np.where(chance == 1, 1.0, 0.2), model="score")
        found.append(400 * ht.prevalence(evidence))
        reviews = evidence.design().reviews
        noise.append(reviews.noise(evidence.guess).sum())
        later.append(
            reviews.noise(evidence.guess, int(np.sum(reviews.times > 1))).sum()
        )  # as many again: chances of .4
    assert np.mean(noise) == pytest.approx(np.var(found), rel=4 * np.sqrt(2 / 800))
    assert np.mean(later) / np.mean(noise) == pytest.approx((1 / 0.4 - 1) / (1 / 0.2 - 1), rel=0.01)
