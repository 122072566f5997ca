"""Intervals from reviewed cases hold the truth of the population as often as they say."""

import numpy as np
import pytest

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
    # Three binomial errors, of the least number of draws that have a value.
    values = np.isfinite(found[..., 0]).sum(axis=0).min()
    assert min(held.values()) >= least - 3 * np.sqrt(least * (1 - least) / values), held
