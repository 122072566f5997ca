"""Intervals from reviewed cases hold the truth of the population as often as they say."""

import numpy as np
import pytest

import halftruth as ht
from tools import review_coverage

pytestmark = pytest.mark.slow
# The interval of few positives must allow for one that no review showed: it holds more often, never less.
LEAST = {100: 0.91, 300: 0.93, 1000: 0.93}


# The study of all cells is `make review-study`.
@pytest.mark.parametrize("cell", review_coverage.CELLS[1::3], ids=lambda cell: "-".join(map(str, cell)))
def test_intervals_of_reviewed_cases_hold_the_truth(draws, cell):
    number = draws(400)
    found = np.array([review_coverage.ends(cell, draw) for draw in range(number)])
    held = dict(zip(review_coverage.METRICS, review_coverage.coverage(found), strict=True))
    least = LEAST[cell.n]
    print(*cell, *(f"{name} {share:.3f}" for name, share in held.items()))  # noqa: T201
    # Four binomial errors, of the least number of draws that have a value: the least of some 220 shares, eleven
    # metrics in twenty cells, is three errors off one time in four.
    values = np.isfinite(found[..., 0]).sum(axis=0).min()
    assert min(held.values()) >= least - 4 * np.sqrt(least * (1 - least) / values), held


def by_another_score(seed):
    """Ends of precision, recall and AUC, and the truth, where another model's high scores were reviewed."""
    rng = np.random.default_rng([71, seed])
    y = rng.random(20_000) < 0.05
    shared, own = rng.normal(size=(2, 20_000))
    score, other = (
        1 / (1 + np.exp(-(2 * x - 2 + np.log(0.05 / 0.95))))
        for x in (2 * y + shared, 2 * y + 0.6 * shared + 0.8 * own)
    )
    chance = np.where(other >= np.quantile(other, 0.985), 1, 0.01)
    looked = rng.random(20_000) < chance
    labeled, cells = ht.Labeled(y, score), ht.confusion(ht.Labeled(y, score), 0.3)
    truth = {"precision": cells.precision, "recall": cells.recall, "roc_auc": ht.roc_auc(labeled)}
    evidence = ht.Reviewed(score, np.where(looked, y, np.nan), chance)
    result = ht.evaluate(evidence, [*truth], threshold=0.3, n_resamples=250)
    return [(result[name].low, result[name].high, value) for name, value in truth.items()]


def test_reviews_chosen_by_another_score_hold_the_truth(draws):
    low, high, truth = np.moveaxis([by_another_score(seed) for seed in range(draws(600))], -1, 0)
    held = ((low <= truth) & (truth <= high)).mean(axis=0)
    print(held)  # noqa: T201
    assert held.min() >= 0.93 - 3 * np.sqrt(0.93 * 0.07 / len(low))
