"""Regions and lines of estimated shares: points of them put into the formula for the AUC."""

from __future__ import annotations

import numpy as np
import pytest

import halftruth as ht
from halftruth import recover
from halftruth.recover._formulas import observed_auc
from halftruth_papers.jain.share_regions import error_map, landmarks, region

TRUTHS = [(0.9, 0.25, 0.75), (0.65, 0.05, 1.0), (0.95, 0.5, 0.95), (0.8, 0.0, 1.0), (0.3, 0.2, 0.9)]


@pytest.mark.parametrize(("auc", "alpha", "purity"), TRUTHS)
def test_on_each_line_the_recovered_auc_is_what_it_says(auc, alpha, purity):
    marks = landmarks(auc, alpha, purity)
    assert marks.auc_pu == pytest.approx(observed_auc(auc, alpha, purity))
    for name, line in marks.lines.items():
        (x0, y0), (x1, y1) = line.ends
        for step in (0.1, 0.5, 0.9):
            a, p = x0 + step * (x1 - x0), y0 + step * (y1 - y0)
            assert line.purity(a) == pytest.approx(p)
            if p > a:
                assert recover.auc(marks.auc_pu, a, p) == pytest.approx(line.auc, abs=1e-12), name
            else:  # the formula itself refuses labels that say less than nothing
                swapped = 1 - recover.auc(marks.auc_pu, p, a)
                assert swapped == pytest.approx(line.auc, abs=1e-12), name
    assert marks.right.purity(alpha) == pytest.approx(purity)
    said = [line.auc for line in marks.lines.values()]
    assert said == pytest.approx([auc, 1.0, 0.0, 1 - auc])


def test_lines_end_at_the_edges_of_the_unit_square():
    marks = landmarks(0.9, 0.25, 0.75)
    assert marks.right.ends == ((0.0, 0.5), (0.5, 1.0))
    assert np.ravel(marks.reversed.ends).tolist() == [0.5, 0.0, 1.0, 0.5]
    assert np.isnan(marks.right.purity(0.7))


@pytest.mark.parametrize("auc_pu", [0.7, 0.5, 0.3, 0.99])
def test_regions_are_where_the_formula_says(auc_pu):
    share = np.linspace(0, 1, 21) ** 1.1  # no point lies on an edge, where rounding would decide
    found = region(auc_pu, share, share[:, None])
    for i, p in enumerate(share):
        for j, a in enumerate(share):
            if p > a:
                possible = 0 <= recover.auc(auc_pu, a, p) <= 1
                assert found[i, j] == ("feasible" if possible else "infeasible")
            elif p < a:
                possible = 0 <= recover.auc(auc_pu, p, a) <= 1
                assert found[i, j] == ("reversed" if possible else "infeasible")
            else:
                assert found[i, j] == "infeasible"


def test_the_infeasible_band_lies_between_the_lines():
    auc, alpha, purity = 0.9, 0.25, 0.75
    marks = landmarks(auc, alpha, purity)
    for edge, inside, outside in (
        (marks.one, "infeasible", "feasible"),
        (marks.zero, "infeasible", "reversed"),
    ):
        (x0, y0), (x1, y1) = edge.ends
        a, p = (x0 + x1) / 2, (y0 + y1) / 2
        toward = -np.sign(edge.offset) * 1e-6
        assert region(marks.auc_pu, a, p + toward) == inside
        assert region(marks.auc_pu, a, p - toward) == outside


def test_the_error_map_is_the_formula_at_every_point():
    auc, alpha, purity = 0.8, 0.25, 0.95
    found = error_map(auc, alpha, purity, n_points=21)
    seen = observed_auc(auc, alpha, purity)
    for i, p in enumerate(found.purity):
        for j, a in enumerate(found.alpha):
            where = region(seen, a, p)
            assert found.region[i, j] == where
            assert np.isnan(found.error[i, j]) == (where == "infeasible")
            if where == "feasible":
                assert found.error[i, j] == pytest.approx(abs(recover.auc(seen, a, p) - auc), abs=1e-12)
    assert found.error[19, 5] == pytest.approx(0, abs=1e-12)
    assert np.isnan(found.auc[3, 3])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: landmarks(1.2, 0.2), r"`auc` must lie in \[0, 1\], got 1.2"),
        (lambda: landmarks(0.8, 0.5, 0.5), "`purity` must exceed `alpha`"),
        (lambda: landmarks(0.8, [0.1, 0.2], 0.5), "`alpha` must be a real number"),
        (lambda: error_map(0.8, 0.2, n_points=1), "`n_points` must be a whole number of at least 2"),
        (lambda: error_map(0.8, 0.9, 0.5), "`purity` must exceed `alpha`"),
        (lambda: region(0.7, 1.2, 0.5), r"`alpha` must lie in \[0, 1\], got 1.2"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ht.InputError, match=message):
        call()
