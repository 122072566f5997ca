"""Reliability diagrams: what is drawn where, from curves made by hand and by the call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import halftruth as ht
from halftruth.calibration._reliability import METHODS, ReliabilityCurve, reliability_curve
from halftruth.figures._reliability_diagram import reliability

matplotlib_figure = pytest.importorskip("matplotlib.figure")
SCORE = np.array([0.1, 0.5, 0.9])
MODEL = ht.simulate.GaussianClasses(prior=0.3, slope=3.0, intercept=-2.0)


def curve(**settings: Any) -> ReliabilityCurve:
    given: dict[str, Any] = {
        "score": SCORE,
        "frequency": np.array([0.05, 0.3, 0.95]),
        "low": np.array([0.0, 0.2, 0.8]),
        "high": np.array([0.1, 0.4, 1.0]),
        "mass": np.full(3, 1 / 3),
        "left": SCORE - 0.1,
        "right": SCORE + 0.1,
        "histogram": np.array([0.5, 0.1, 0.1, 0.3]),
        "error": 0.1,
        "method": "binned",
        "confidence_level": 0.9,
    }
    return ReliabilityCurve(**given | settings)


def panels(*given: Any, **settings: Any) -> Any:
    return reliability(*given, **settings).axes


def texts(holder: Any) -> list[str]:
    return [text.get_text() for text in holder.get_texts()]


def mine() -> Any:
    return matplotlib_figure.Figure(layout="constrained").add_subplot()


def test_a_binned_curve_has_dots_with_bars_over_a_histogram() -> None:
    figure: Any = reliability(curve())
    main, bars = figure.axes
    assert figure.get_suptitle() == "Reliability"
    assert (main.get_ylabel(), bars.get_ylabel(), bars.get_xlabel()) == (
        "share of positives",
        "share of cases",
        "score",
    )
    diagonal, drawn = main.lines[:2]
    assert np.array_equal(diagonal.get_xydata(), [[0, 0], [1, 1]])
    assert np.array_equal(drawn.get_xydata(), np.column_stack([SCORE, [0.05, 0.3, 0.95]]))
    assert drawn.get_marker() == "o"
    (limits,) = main.collections
    assert [segment[:, 1].tolist() for segment in limits.get_segments()] == [
        [0.0, 0.1],
        [0.2, 0.4],
        [0.8, 1.0],
    ]
    (stairs,) = bars.patches
    assert stairs.get_data().values.tolist() == [0.5, 0.1, 0.1, 0.3]
    assert stairs.get_data().edges.tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert texts(figure.legends[0]) == ["binned: calibration error 0.1", "90% band, at each score"]


@pytest.mark.parametrize("method", METHODS[1:])
def test_other_curves_are_lines_within_an_area(method: str) -> None:
    main, _ = panels(curve(method=method))
    drawn = main.lines[1]
    assert drawn.get_marker() == "None"
    assert drawn.get_drawstyle() == ("steps-mid" if method == "isotonic" else "default")
    (area,) = main.collections
    vertices = area.get_paths()[0].vertices
    for x, low, high in zip(SCORE, [0.0, 0.2, 0.8], [0.1, 0.4, 1.0], strict=True):
        heights = vertices[np.isclose(vertices[:, 0], x), 1]
        assert (heights.min(), heights.max()) == pytest.approx((low, high))


def test_without_a_band_none_is_drawn_or_named() -> None:
    figure = reliability(curve(low=None, high=None))
    assert len(figure.axes[0].collections) == 0
    assert texts(figure.legends[0]) == ["binned: calibration error 0.1"]


def test_several_curves_differ_in_colour_dash_and_marker() -> None:
    figure = reliability({"before": curve(), "after": curve(error=0.012, confidence_level=0.8)}, title="Two")
    main, bars = figure.axes
    first, second = main.lines[1:3]
    for look in ("get_color", "get_linestyle", "get_marker"):
        assert getattr(first, look)() != getattr(second, look)()
    assert len(bars.patches) == 2
    assert figure.get_suptitle() == "Two"
    assert texts(figure.legends[0]) == [
        "before: error 0.1",
        "after: error 0.012",
        "bands, at each score",
    ]


def test_in_my_axes_there_is_one_panel_and_a_legend_on_the_free_side() -> None:
    ax = mine()
    assert reliability(curve(), ax=ax) is ax.figure
    assert ax.figure.axes == [ax]
    assert ax.get_title() == "Reliability"
    assert ax.get_xlabel() == "score"
    upper_left, lower_right = 2, 4
    assert ax.get_legend()._loc == upper_left
    above = mine()
    reliability(curve(frequency=np.array([0.7, 0.9, 0.95])), ax=above)
    assert above.get_legend()._loc == lower_right
    both = mine()
    reliability({"a": curve(), "b": curve(frequency=np.array([0.7, 0.9, 0.2]))}, ax=both)
    assert both.get_ylim()[1] > 1.3  # room above what is drawn


def test_shares_beyond_zero_and_one_are_shown_if_not_far() -> None:
    main, _ = reliability(curve(frequency=np.array([-0.1, 0.3, 3.0]))).axes
    assert main.get_ylim() == pytest.approx((-0.12, 1.22))
    main, _ = reliability(curve()).axes
    assert main.get_ylim() == pytest.approx((-0.02, 1.02))


@pytest.mark.parametrize("method", METHODS)
def test_evidence_is_drawn_by_its_curve(method: str, tmp_path: Path) -> None:
    evidence = MODEL.positive_unlabeled(60, 500, 0, prior=0.3)
    figure = reliability(evidence, method=method, n_resamples=20, confidence_level=0.8)
    made = reliability_curve(evidence, method, n_resamples=20, confidence_level=0.8)
    assert np.array_equal(figure.axes[0].lines[1].get_ydata(), made.frequency)
    assert texts(figure.legends[0])[1] == "80% band, at each score"
    figure.savefig(tmp_path / "figure.svg")
    assert (tmp_path / "figure.svg").stat().st_size < 200_000


def test_texts_keep_off_each_other() -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = reliability({f"model number {i}": curve() for i in range(4)})
    FigureCanvasAgg(figure).draw()  # type: ignore[no-untyped-call]
    main, bars = figure.axes
    labels = [main.yaxis.label, bars.yaxis.label, bars.xaxis.label, *figure.texts, *figure.legends]
    boxes = [label.get_window_extent() for label in labels]
    for i, box in enumerate(boxes):
        assert figure.bbox.x0 <= box.x0
        assert box.x1 <= figure.bbox.x1
        assert not any(box.overlaps(other) for other in boxes[:i])


@pytest.mark.parametrize("wrong", [{}, {str(i): curve() for i in range(5)}])
def test_no_curve_or_too_many_are_refused(wrong: Any) -> None:
    with pytest.raises(ht.InputError, match="`evidence` must hold 1 to 4 curves"):
        reliability(wrong)


def test_what_is_no_evidence_is_refused() -> None:
    with pytest.raises(ht.InputError, match="Expected evidence"):
        reliability([0.1, 0.9])
