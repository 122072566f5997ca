"""Blocks of reviews whose mean is a rate, and chances by features that cannot be."""

import numpy as np
import pytest

import halftruth as ht
from halftruth._errors import InputError
from halftruth.evidence._review_guess import IN_BLOCK, _steps, review_rates


def blocks(score, mass):
    """Masses of the reviews by block."""
    steps = _steps(score, mass)
    block = np.searchsorted(steps, score, side="right")
    assert np.isin(np.arange(len(steps) + 1), block).all()
    return [mass[block == k] for k in range(len(steps) + 1)]


def in_effect(mass):
    return mass.sum() ** 2 / (mass**2).sum()


@pytest.mark.parametrize("ties", [False, True])
def test_every_block_has_enough_reviews_in_effect(ties):
    rng = np.random.default_rng(0)
    score = rng.random(2000)
    mass = np.where(rng.random(2000) < 0.1, 100.0, 1.0)
    made = blocks(np.round(score, 2) if ties else score, mass)
    assert len(made) > 5
    assert min(map(in_effect, made)) >= IN_BLOCK - 1e-6


def test_blocks_of_equal_reviews_are_equally_large():
    assert [len(x) for x in blocks(np.arange(250.0), np.ones(250))] == [25] * 10
    assert 60 <= len(blocks(np.arange(10_000.0), np.ones(10_000))) <= 64
    assert len(blocks(np.arange(49.0), np.ones(49))) == 1


def test_one_review_that_stands_for_a_hundred_rows_is_no_rate():
    # Beside 24 certain ones each of these would be a block whose mean is the label of one row.
    mass = np.where(np.arange(300) % 25 == 0, 100.0, 1.0)
    assert len(blocks(np.arange(300.0), mass)) == 1


def test_a_channel_that_nobody_looks_at_is_refused():
    rng = np.random.default_rng(3)
    y, channel = rng.random(8000) < 0.1, rng.random(8000) < 0.3
    score = 1 / (1 + np.exp(-rng.normal(np.where(y, 1.0, -1.0))))
    looked = rng.random(8000) < np.where(channel, 0, 0.2)
    label = np.where(looked, y, np.nan)
    with pytest.raises(InputError, match=r"estimated from the score and .*hardly looked at"):
        ht.Reviewed(score, label, features=channel[:, None])
    looked = rng.random(8000) < np.where(channel, 0.05, 0.2)
    made = ht.Reviewed(score, np.where(looked, y, np.nan), features=channel[:, None])
    assert made.n_reviewed == looked.sum()


def chance_estimated(score, chance, seed):
    looked = np.random.default_rng(seed).random(len(score)) < chance
    return 1 / review_rates(score, looked, np.zeros(0, dtype=int), None)


@pytest.mark.parametrize("low", [0.01, 0.2])
@pytest.mark.parametrize("decimals", [2, 9])
def test_rates_do_not_reach_over_a_jump_of_the_chance(low, decimals):
    score = np.random.default_rng(1).beta(1, 9, 20_000).round(decimals)
    chance = np.where(score >= 0.3, 1.0, low)
    for seed in range(10):
        found = chance_estimated(score, chance, seed)
        assert (found[score >= 0.3] > 0.9).all()
        # All rows below the jump, by the blocks of 25 reviews that are there.
        below = score < 0.3
        assert np.mean(found[below]) == pytest.approx(low, rel=0.35)
        # But for rows next to it, each of which happened to be reviewed.
        assert (found[below & (score > 0.25)] > 3 * low).sum() <= 3


def test_a_chance_that_does_not_jump_is_taken_for_one():
    # Eight blocks of 25 reviews each: edges lie where they lie without a search for jumps.
    score = np.random.default_rng(2).random(5_000)
    numbers = [len(np.unique(chance_estimated(score, 0.04, seed))) for seed in range(40)]
    assert np.mean([n <= 200 / IN_BLOCK + 2 for n in numbers]) > 0.9
