"""Is TCE_bpm Lipschitz in the data, as Theorems 1 and 2 of the binomial process paper say?

W(D1, D2) is the least mean of |Y1 − Y2| + |S1 − S2| over couplings; moving rows by known amounts bounds it from above.
What is true: moves of whole samples change TCE_bpm by little more than W, but no finite L holds for all pairs. Two rows
with different labels that change places at the edge of a bin move W by next to nothing and the means of two
bins by 1/n_b. The jump is of the order 1/n.
"""

from __future__ import annotations

import numpy as np
import pytest

import halftruth as ht
from halftruth.calibration._binomial_process import bpm_calibration_error

LAWS = {
    "apart": (2, 4, 4, 2, 0.5),
    "asymmetric": (1, 2, 2, 1, 0.3),
    "at the ends": (0.5, 2, 3, 0.2, 0.8),
}
"""Beta laws of the scores of negatives and positives, and the prior."""


def drawn(name, n, seed=0):
    a0, b0, a1, b1, prior = LAWS[name]
    rng = np.random.default_rng([seed, list(LAWS).index(name), n])
    y = rng.random(n) < prior
    s = np.where(y, rng.beta(a1, b1, n), rng.beta(a0, b0, n))
    order = np.argsort(s)
    return s[order], y[order].astype(float)


def tce(s, y):
    return bpm_calibration_error(ht.Labeled(y, s))


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("move", ["shift", "squeeze", "labels"])
def test_moves_of_the_whole_sample_change_it_by_little_more_than_their_distance(name, move):
    s, y = drawn(name, 1_000)
    before = tce(s, y)
    rng = np.random.default_rng(1)
    for size in (0.1, 0.01, 0.001):
        s2, y2 = s, y
        if move == "shift":
            s2 = np.clip(s + size, 0, 1)
        elif move == "squeeze":
            s2 = 0.5 + (s - 0.5) * (1 - size)
        else:
            flipped = rng.choice(1_000, int(1_000 * size), replace=False)
            y2 = y.copy()
            y2[flipped] = 1 - y[flipped]
        distance = np.abs(s - s2).mean() + np.abs(y - y2).mean()
        # The largest ratio over ten seeds is 1.12, of a shift.
        assert 0 < abs(tce(s2, y2) - before) <= 1.25 * distance, size


def swapped_at_edges(y):
    """The labels with two neighbours that differ in each other's place, by the index of the first."""
    cases = {}
    for at in np.flatnonzero(y[1:] != y[:-1]):
        cases[at] = y.copy()
        cases[at][[at, at + 1]] = y[[at + 1, at]]
    return cases


def test_there_is_no_finite_lipschitz_constant():
    n = 200
    s, y = drawn("apart", n)
    cases, before = swapped_at_edges(y), tce(s, y)
    worst = max(cases, key=lambda at: abs(tce(s, cases[at]) - before))
    other = cases[worst]
    ratios = []
    for gap in (1e-6, 1e-9, 1e-12):
        near = s.copy()
        near[worst + 1] = near[worst] + gap  # remains below the next row
        assert (np.diff(near) > 0).all()
        jump = abs(tce(near, other) - tce(near, y))
        assert jump > 1e-4  # not smaller with the gap
        ratios.append(jump / (2 * gap / n))
    assert ratios[0] > 1e3
    assert ratios[1] / ratios[0] == pytest.approx(1e3, rel=0.01)
    assert ratios[2] / ratios[1] == pytest.approx(1e3, rel=0.01)


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("n", [200, 1_000])
def test_a_jump_is_of_the_order_of_one_row(name, n):
    s, y = drawn(name, n)
    cases, before = list(swapped_at_edges(y).values()), tce(s, y)
    for other in cases[:: max(1, len(cases) // 40)]:
        assert abs(tce(s, other) - before) <= 1 / n
