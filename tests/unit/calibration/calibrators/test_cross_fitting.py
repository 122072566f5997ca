"""Parts of a histogram's rows, each to be measured by a curve that was fitted on the others."""

import numpy as np
import pytest

from halftruth.calibration.calibrators import _cross_fitting

ROWS = np.asarray([4000, 0, 1003, 1, 2500])


@pytest.mark.parametrize("many", [_cross_fitting.MANY, 1000])
def test_every_row_is_in_one_part(monkeypatch, many):
    monkeypatch.setattr(_cross_fitting, "MANY", many)
    parts = _cross_fitting._counts(ROWS, 4, np.random.default_rng(0))
    assert len(parts) == 4
    assert (np.asarray(parts) >= 0).all()
    np.testing.assert_array_equal(np.sum(parts, axis=0), ROWS)


def test_parts_differ_by_one_row_at_most():
    sizes = [part.sum() for part in _cross_fitting._counts(ROWS, 7, np.random.default_rng(0))]
    assert max(sizes) - min(sizes) <= 1


def test_parts_of_very_many_rows_differ_by_chance(monkeypatch):
    monkeypatch.setattr(_cross_fitting, "MANY", 1000)
    n, share = ROWS.sum(), 1 / 4
    sizes = np.asarray([part.sum() for part in _cross_fitting._counts(ROWS, 4, np.random.default_rng(0))])
    # Each is binomial: five standard errors.
    assert (np.abs(sizes - n * share) < 5 * np.sqrt(n * share * (1 - share))).all()
    assert len(set(sizes)) > 1
