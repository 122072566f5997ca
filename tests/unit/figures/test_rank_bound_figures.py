"""Figures of bounds: what is drawn where, from bounds made by hand and by the call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from halftruth._errors import InputError
from halftruth.evidence import PositiveUnlabeled
from halftruth.figures._rank_bound_figures import FINEST, curve_bounds, rank_band
from halftruth.metrics._curves import PrecisionRecallCurve, RocCurve
from halftruth.rank_bounds._bound_results import CurveBounds
from halftruth.rank_bounds._bounds import bounds
from halftruth.rank_bounds._rank_paths import Paths, Ranking

matplotlib_figure = pytest.importorskip("matplotlib.figure")
THRESHOLD = np.array([np.inf, 4.0, 3.0, 2.0, 1.0])


def roc(fpr: Any, tpr: Any) -> RocCurve:
    return RocCurve(fpr=fpr, tpr=tpr, threshold=THRESHOLD[: len(fpr)])


def pr(recall: Any, precision: Any) -> PrecisionRecallCurve:
    return PrecisionRecallCurve(precision=precision, recall=recall, threshold=THRESHOLD[: len(recall)])


LOWER = roc([0, 0.5, 1, 1, 1], [0, 0.2, 0.4, 0.8, 1])
UPPER = roc([0, 0, 0.25, 0.5, 1], [0, 0.6, 0.9, 1, 1])


def made(lower: Any = LOWER, upper: Any = UPPER, **settings: Any) -> CurveBounds:
    """Two known positives and four unlabeled, two of them positive: one of the latter at each threshold."""
    ranking = Ranking(
        threshold=THRESHOLD,
        positive=np.array([0, 1, 1, 2, 2]),
        unlabeled=np.array([0, 1, 2, 3, 4]),
        negative=np.zeros(5, dtype=int),
        population="all",
    )
    paths = Paths(total=2, low=np.array([0, 0, 0, 1, 2]), high=np.array([0, 1, 2, 2, 2]))
    given = {"lower": lower, "upper": upper, "area": (0.3, 0.8), "alpha": (0.5, 0.5), "ranking": ranking}
    rest = {"every": (paths,), "band_name": "by hand", "confidence_level": 0.9}
    return CurveBounds(**{**given, **rest, **settings})


def named(ax: Any, label: str) -> Any:
    (found,) = [artist for artist in ax.get_children() if artist.get_label() == label]
    return found


def legend_texts(holder: Any) -> list[str]:
    return [text.get_text() for text in holder.get_texts()]


def lines_of(ax: Any) -> list[list[tuple[float, float]]]:
    return [list(zip(*line.get_data(), strict=True)) for line in ax.lines]


def test_ranks_are_shares_of_all_rows_and_the_band_lies_around_the_known() -> None:
    figure = rank_band(made())
    (ax,) = figure.axes
    known = named(ax, "known positives")
    assert known.get_xdata() == pytest.approx(np.array([0, 2, 3, 5, 6]) / 6)
    assert list(known.get_ydata()) == [0, 0.5, 0.5, 1, 1]
    heights = [list(line.get_ydata()) for line in ax.lines]
    assert [0, 0, 0, 0.5, 1] in heights
    assert [0, 0.5, 1, 1, 1] in heights
    assert legend_texts(figure.legends[0]) == ["90% band", "known positives"]


def test_latent_positives_are_counted_at_every_threshold() -> None:
    figure = rank_band(made(), latent=[3.5, 3.0, 1.0, 1.0])
    assert list(named(figure.axes[0], "latent positives").get_ydata()) == [0, 0, 0.5, 0.5, 1]


def test_several_bands_are_told_apart_without_colour() -> None:
    figure = rank_band({"theirs": made(), "ours": made(confidence_level=0.95)})
    (ax,) = figure.axes
    assert legend_texts(figure.legends[0])[:2] == ["90% band, theirs", "95% band, ours"]
    dashes = {named(ax, name).get_linestyle() for name in ("90% band, theirs", "95% band, ours")}
    assert len(dashes) == 2


def test_roc_bounds_are_both_curves_and_the_region_between() -> None:
    figure = curve_bounds(made())
    (ax,) = figure.axes
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("false-positive rate", "true-positive rate")
    lines = lines_of(ax)
    for curve in (LOWER, UPPER):
        assert list(zip(curve.fpr, curve.tpr, strict=True)) in lines
    (region,) = ax.patches
    corners = region.get_xy()  # the last is the first, (0, 0)
    assert np.array_equal(corners[:5], np.transpose([LOWER.fpr, LOWER.tpr]))
    assert np.array_equal(corners[5:], np.transpose([UPPER.fpr, UPPER.tpr])[::-1])
    assert legend_texts(figure.legends[0]) == ["90% bounds, α = 0.5"]


def test_the_legend_says_level_and_share_of_each() -> None:
    figure = curve_bounds({"one": made(), "range": made(alpha=(0.25, 0.5), confidence_level=0.95)})
    assert legend_texts(figure.legends[0]) == ["one: 90%, α = 0.5", "range: 95%, α = 0.25 to 0.5"]


def test_precision_over_a_range_has_no_thresholds_and_is_drawn() -> None:
    rng = np.random.default_rng(1)
    evidence = PositiveUnlabeled(rng.normal(1, 1, 60), rng.normal(0.2, 1, 300), prior=(0.1, 0.3))
    found = bounds(evidence, "pr", n_resamples=200)
    assert np.isnan(found.lower.threshold).all()
    (ax,) = curve_bounds(found).axes
    corners = ax.patches[0].get_xy()
    assert np.isfinite(corners).all()
    assert corners[:, 0].min() == 0
    assert corners[:, 0].max() == 1


def test_precision_is_drawn_over_recall_with_the_truth() -> None:
    curve = pr([0, 0.5, 1], [1, 0.8, 0.5])
    figure = curve_bounds(made(curve, curve), true=pr([0, 1], [0.9, 0.6]))
    (ax,) = figure.axes
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("recall", "precision")
    assert list(named(ax, "true curve").get_xdata()) == [0, 1]
    assert list(named(ax, "true curve").get_ydata()) == [0.9, 0.6]


def test_undefined_points_are_left_out() -> None:
    curve = pr([0, 0.5, 1], [np.nan, 0.8, 0.5])
    (ax,) = curve_bounds(made(curve, curve)).axes
    assert np.isfinite(ax.patches[0].get_xy()).all()


def test_a_long_curve_is_drawn_by_few_points_and_keeps_its_ends_and_its_corner() -> None:
    t = np.linspace(0, 2, 50_001)
    fpr, tpr = np.maximum(t - 1, 0), np.minimum(t, 1)  # up, then to the right
    long = RocCurve(fpr=fpr, tpr=tpr, threshold=-t)
    (ax,) = curve_bounds(made(long, long)).axes
    line = max(ax.lines, key=lambda each: len(each.get_xdata()))
    x, y = line.get_data()
    assert len(x) <= FINEST + 1
    assert (x[0], y[0], x[-1], y[-1]) == (0, 0, 1, 1)
    assert np.abs(np.interp(0.01, x, y) - 1) < 1e-9
    assert np.min(np.hypot(x, y - 1)) < 2 / FINEST


def test_own_axes_are_drawn_into_and_keep_their_figure() -> None:
    figure = matplotlib_figure.Figure()
    left, right = figure.subplots(1, 2)
    assert curve_bounds(made(), ax=left) is figure
    assert rank_band(made(), ax=right) is figure
    assert left.get_title() == "ROC bounds"
    assert legend_texts(left.get_legend()) == ["90% bounds, α = 0.5"]
    assert not figure.legends


def test_bounds_of_the_call_are_drawn() -> None:
    rng = np.random.default_rng(0)
    evidence = PositiveUnlabeled(rng.normal(1, 1, 60), rng.normal(0.2, 1, 300), prior=0.2)
    found = bounds(evidence, "roc", n_resamples=200)
    (ax,) = curve_bounds(found).axes
    drawn = [line for line in ax.lines if len(line.get_xdata()) > 2]
    assert len(drawn) == 2
    (ax,) = rank_band(found).axes
    assert named(ax, "known positives").get_xdata()[-1] == 1


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: rank_band(0.3), "must be CurveBounds"),
        (lambda: curve_bounds({}), "must be CurveBounds"),
        (lambda: curve_bounds({str(i): made() for i in range(5)}), "at most 4"),
        (lambda: curve_bounds(made(), true=pr([0, 1], [1, 0.5])), "of one kind"),
        (
            lambda: curve_bounds({"a": made(), "b": made(pr([0, 1], [1, 1]), pr([0, 1], [1, 1]))}),
            "of one kind",
        ),
        (lambda: rank_band(made(), latent=[np.nan]), "`latent`"),
    ],
)
def test_what_cannot_be_drawn_is_refused(call: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        call()
