"""Figures of recovery: panels, lines and marks where they belong."""

from __future__ import annotations

import numpy as np
import pytest

import halftruth as ht
from halftruth_papers.jain.recovery_maps import recovery_error_map, recovery_regions
from halftruth_papers.jain.share_regions import error_map, landmarks

pytest.importorskip("matplotlib")


def test_the_grid_has_a_panel_for_each_truth():
    figure = recovery_error_map(aucs=[0.65, 0.95], alphas=[0.05, 0.5], purities=[1.0, 0.75, 0.6])
    panels = [ax for ax in figure.axes if ax.get_title()]
    assert len(panels) == 12
    titles = [ax.get_title() for ax in panels]
    assert titles[0] == "α = 0.05, ρ = 1"
    mesh = panels[-1].collections[0]
    shown = np.ma.filled(mesh.get_array(), np.nan)
    np.testing.assert_array_equal(shown, error_map(0.95, 0.5, 0.6).error)


def test_one_truth_needs_no_list_and_has_room():
    figure = recovery_error_map(0.8, alphas=0.25, purities=0.95)
    (panel,) = [ax for ax in figure.axes if ax.get_title()]
    assert panel.get_title() == "α = 0.25, ρ = 0.95"
    same = recovery_error_map([0.8], [0.25], [0.95])
    shown = [np.ma.filled(each.axes[0].collections[0].get_array(), np.nan) for each in (figure, same)]
    np.testing.assert_array_equal(*shown)
    figure.canvas.draw()
    assert min(panel.get_window_extent().size) / figure.dpi > 3, "inches"


def test_a_map_is_drawn_as_it_is():
    found = error_map(0.8, 0.25, 0.95, n_points=21)
    figure = recovery_error_map(found)
    ax = figure.axes[0]
    np.testing.assert_array_equal(np.ma.filled(ax.collections[0].get_array(), np.nan), found.error)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("estimated α", "estimated ρ")


def test_the_map_has_the_lines_and_both_corners():
    figure = recovery_regions(0.9, 0.25, 0.75)
    ax = figure.axes[0]
    labels = {
        line.get_label(): line.get_xydata() for line in ax.lines if not line.get_label().startswith("_")
    }
    marks = landmarks(0.9, 0.25, 0.75)
    np.testing.assert_allclose(labels["recovered AUC = the true AUC"], marks.right.ends)
    np.testing.assert_allclose(labels["recovered AUC = 1, impossible beyond"], marks.one.ends)
    np.testing.assert_allclose(labels["recovered AUC = 0, impossible beyond"], marks.zero.ends)
    np.testing.assert_allclose(labels["recovered AUC = 1 − the true AUC"], marks.reversed.ends)
    assert labels["recovered AUC = AUC_pu, 0.7"].tolist() == [[0, 1]]
    assert labels["recovered AUC = 1 − AUC_pu, 0.3"].tolist() == [[1, 0]]


def test_it_can_be_drawn_into_axes():
    from matplotlib.figure import Figure

    figure = Figure()
    ax = figure.add_subplot()
    assert recovery_regions(0.8, 0.2, ax=ax) is figure
    assert ax.get_legend() is not None
    assert ax.get_ylim() == (0, 1)


def test_impossible_truths_are_refused():
    with pytest.raises(ht.InputError, match="`purity` must exceed"):
        recovery_regions(0.9, 0.5, 0.5)
    with pytest.raises(ht.InputError, match="`auc` must lie in"):
        recovery_error_map(aucs=[1.5])
