"""Figures: what is drawn where, from estimates made by hand and by every estimator."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import halftruth as ht
from halftruth.figures import _canvas
from halftruth.prior._belief import Curve
from halftruth.prior._methods import METHODS

matplotlib_figure = pytest.importorskip("matplotlib.figure")
GRID = np.linspace(0, 1, 101)
ALPHA, PI = "α, the share of positives among the unlabeled", "π, the share of positives among all"


def curve(x_label: str = "α", chosen: float = 0.2, x: Any = GRID, y: Any = None) -> Curve:
    heights = (np.asarray(x) - chosen) ** 2 if y is None else np.asarray(y, dtype=float)
    return Curve(x=np.asarray(x, dtype=float), y=heights, x_label=x_label, y_label="misfit", chosen=chosen)


def estimate(**settings: Any) -> ht.PriorEstimate:
    given = {"value": 0.2, "low": 0.15, "high": 0.26, "upper": 0.3, "method": "some", "curve": curve()}
    return ht.PriorEstimate(**given | settings)


def replicates(n: int = 200, *, mean: float = 0.2) -> np.ndarray:
    return np.random.default_rng(0).beta(100 * mean, 100 * (1 - mean), n)


def both(**settings: Any) -> ht.PriorAndPurity:
    purity = ht.PriorEstimate(value=0.8, low=0.7, high=0.9, replicates=replicates(mean=0.8))
    return ht.PriorAndPurity(estimate(curve=None, replicates=replicates(), **settings), purity)


def mine() -> Any:
    return matplotlib_figure.Figure().add_subplot()


def named(ax: Any, start: str) -> Any:
    """The one artist of the axes whose label starts so."""
    found = [artist for artist in ax.get_children() if str(artist.get_label()).startswith(start)]
    assert len(found) == 1, f"{start}: {len(found)} artists"
    return found[0]


def extent(span: Any) -> tuple[float, float]:
    x = span.get_patch_transform().transform(span.get_path().vertices)[:, 0]
    return pytest.approx((x.min(), x.max()))


def legend_texts(figure: Any) -> list[str]:
    (legend,) = figure.legends
    return [text.get_text() for text in legend.get_texts()]


def assert_texts_inside(figure: Any) -> None:
    """Every text lies within the figure, and no two of them on each other."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    FigureCanvasAgg(figure).draw()
    page = figure.bbox.padded(1)
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts_of(figure) if text.get_text()]
    assert len(boxes) > 5
    for legend in figure.legends:
        frame = legend.get_window_extent()
        assert page.x0 <= frame.x0 <= frame.x1 <= page.x1, "the legend leaves the figure"
    for i, (text, box) in enumerate(boxes):
        assert page.x0 <= box.x0 <= box.x1 <= page.x1, f"{text!r} leaves the figure"
        assert page.y0 <= box.y0 <= box.y1 <= page.y1, f"{text!r} leaves the figure"
        for other, below in boxes[:i]:
            assert not box.padded(-1).overlaps(below.padded(-1)), f"{text!r} lies on {other!r}"


def texts_of(figure: Any) -> Iterator[Any]:
    yield from figure.texts
    for legend in [*figure.legends, *[ax.get_legend() for ax in figure.axes if ax.get_legend()]]:
        yield from legend.get_texts()
    for ax in figure.axes:
        yield ax.title
        for axis in (ax.xaxis, ax.yaxis):
            yield axis.label
            low, high = sorted(axis.get_view_interval())
            yield from (tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high)


# --- one estimate -------------------------------------------------------------------------------------


def test_a_curve_over_alpha_is_one_panel_with_line_band_and_refuted_region() -> None:
    figure = ht.figures.prior(estimate())
    (ax,) = figure.axes
    assert (ax.get_xlabel(), ax.get_ylabel()) == (ALPHA, "misfit")
    assert figure.get_suptitle() == "Class prior by some: α = 0.2"
    assert list(named(ax, "estimate").get_xdata()) == [0.2, 0.2]
    assert extent(named(ax, "95% interval")) == (0.15, 0.26)
    assert extent(named(ax, "refuted")) == (0.3, 1.0)
    drawn = [line for line in ax.lines if len(line.get_xdata()) == len(GRID)]
    assert len(drawn) == 1
    assert np.array_equal(drawn[0].get_ydata(), (GRID - 0.2) ** 2)
    assert legend_texts(figure) == ["estimate 0.2", "95% interval 0.15 to 0.26", "refuted: α > 0.3"]


def test_the_axis_shows_what_is_not_refuted_and_some_more() -> None:
    (ax,) = ht.figures.prior(estimate()).axes
    assert ax.get_xlim() == pytest.approx((-0.02 * 0.45, 1.02 * 0.45))
    (ax,) = ht.figures.prior(estimate(upper=0.7)).axes
    assert ax.get_xlim() == pytest.approx((-0.02, 1.02))
    (ax,) = ht.figures.prior(ht.PriorEstimate(value=0, low=0, high=0)).axes
    assert ax.get_xlim()[1] > 0


@pytest.mark.parametrize(("upper", "said"), [(None, []), (1.0, ["no α is refuted"])])
def test_without_a_refuted_region_none_is_drawn(upper: float | None, said: list[str]) -> None:
    figure = ht.figures.prior(estimate(upper=upper))
    assert not [text for text in legend_texts(figure) if text.startswith("refuted")]
    assert legend_texts(figure)[2:] == said
    assert not [patch for patch in figure.axes[0].patches if patch.get_hatch()]


def test_a_curve_over_something_else_has_its_own_panel() -> None:
    other = curve("positives above", 0.7)
    figure = ht.figures.prior(estimate(curve=other, replicates=replicates()))
    beside, main = figure.axes
    assert (beside.get_xlabel(), beside.get_ylabel()) == ("positives above", "misfit")
    assert list(named(beside, "chosen").get_xdata()) == [0.7, 0.7]
    assert not [patch for patch in beside.patches if patch.get_hatch()]
    assert main.get_xlabel().replace("\n", " ") == ALPHA
    assert main.get_ylabel() == "replicates"
    assert extent(named(main, "refuted")) == (0.3, 1.0)
    assert extent(named(main, "95% interval")) == (0.15, 0.26)


@pytest.mark.parametrize(
    "settings",
    [
        {"population": "all", "curve": curve(chosen=0.1)},
        {"population": "all"},  # that π equals α at the choice is chance
        {"curve": curve(chosen=0.25)},  # of labels taken for pure, α = 0.8 × 0.25
        {"curve": curve("α/ρ")},
        {"curve": curve(x=[0.1, 0.2, 0.9])},  # hardly seen where the estimate lies
    ],
)
def test_alpha_of_another_share_or_scale_is_no_axis_of_the_estimate(settings: dict[str, Any]) -> None:
    assert len(ht.figures.prior(estimate(**settings)).axes) == 2


def test_alpha_by_a_formula_is_alpha() -> None:
    assert len(ht.figures.prior(estimate(curve=curve("α = (λ−1)/λ"))).axes) == 1


def test_without_a_curve_the_replicates_are_drawn() -> None:
    drawn = replicates()
    (ax,) = ht.figures.prior(estimate(curve=None, replicates=drawn)).axes
    assert ax.get_ylabel() == "replicates"
    (bars,) = [patch for patch in ax.patches if len(patch.get_xy()) > 5]
    assert bars.get_xy()[:, 0].min() == pytest.approx(drawn.min())
    assert bars.get_xy()[:, 0].max() == pytest.approx(drawn.max())


def test_replicates_that_are_all_alike_are_one_thin_bar() -> None:
    (ax,) = ht.figures.prior(ht.PriorEstimate(value=0.3, replicates=[0.3] * 50)).axes
    bar = ax.patches[-1].get_xy()
    assert np.ptp(bar[bar[:, 1] == 50, 0]) == pytest.approx(ax.get_xlim()[1] / 40)


def test_a_bare_estimate_is_a_low_figure_without_heights() -> None:
    figure = ht.figures.prior(ht.PriorEstimate(value=0.3, low=0.2, high=0.4))
    (ax,) = figure.axes
    assert len(ax.get_yticks()) == 0
    assert figure.get_figheight() < 3
    assert legend_texts(figure) == ["estimate 0.3", "95% interval 0.2 to 0.4"]


def test_the_population_names_the_share() -> None:
    figure = ht.figures.prior(estimate(population="all", curve=None))
    assert figure.axes[0].get_xlabel() == PI
    assert figure.get_suptitle() == "Class prior by some: π = 0.2"
    assert legend_texts(figure)[2] == "refuted: π > 0.3"


def test_a_steep_curve_is_cut_off_where_nothing_was_chosen() -> None:
    steep = np.where(GRID < 0.05, 1000.0, (GRID - 0.2) ** 2)
    (ax,) = ht.figures.prior(estimate(curve=curve(y=steep))).axes
    bottom, top = ax.get_ylim()
    assert bottom < 0 < (0.45 - 0.2) ** 2 / 4 < top < 1


def test_few_points_are_all_seen() -> None:
    x = np.linspace(0, 0.4, 9)
    (ax,) = ht.figures.prior(estimate(curve=curve(x=x, y=[1000, *[1, 2] * 4]))).axes
    assert ax.get_ylim()[1] > 1000
    assert ax.lines[-1].get_marker() == "o"


def test_a_curve_that_jumps_is_dots() -> None:
    jumps = np.arange(len(GRID)) % 2
    (ax,) = ht.figures.prior(estimate(curve=curve(y=jumps))).axes
    assert ax.lines[-1].get_linestyle() == "None"
    (ax,) = ht.figures.prior(estimate()).axes
    assert ax.lines[-1].get_linestyle() == "-"


@pytest.mark.parametrize("y", [np.full(101, np.nan), np.where(GRID < 0.1, np.inf, GRID), np.zeros(101)])
def test_heights_that_are_infinite_undefined_or_flat(y: np.ndarray) -> None:
    figure = ht.figures.prior(estimate(curve=curve(y=y)))
    assert_texts_inside(figure)
    assert np.isfinite(figure.axes[0].get_ylim()).all()


def test_the_level_is_said() -> None:
    made = ht.figures.prior(estimate(confidence_level=0.9))
    assert legend_texts(made)[1].startswith("90% interval")


# --- prior and purity ---------------------------------------------------------------------------------


def test_pairs_and_where_they_cannot_lie() -> None:
    pair = both()
    figure = ht.figures.prior_and_purity(pair)
    (ax,) = figure.axes
    assert ax.get_xlabel() == ALPHA
    assert ax.get_ylabel().startswith("ρ, the share of positives")
    assert figure.get_suptitle() == "Prior and purity by some: α = 0.2, ρ = 0.8"
    (points,) = [one for one in ax.collections if len(one.get_offsets()) > 1]
    expected = np.column_stack([pair.prior.replicates, pair.purity.replicates])
    assert np.array_equal(points.get_offsets(), expected)
    ht.figures.prior_and_purity(pair, ax=(given := mine()))
    assert ax.get_ylim() == given.get_ylim() == (-0.02, 1.02)
    assert given.get_title() == "Prior and purity by some:\nα = 0.2, ρ = 0.8"
    corners = named(ax, "ρ < α").get_xy()
    assert {tuple(corner) for corner in corners} == {(0, 0), (1, 0), (1, 1)}
    assert extent(named(ax, "refuted")) == (0.3, 1.0)
    assert named(ax, "estimate").get_xydata().tolist() == [[0.2, 0.8]]
    segments = [one.get_segments()[0].tolist() for one in ax.collections if hasattr(one, "get_segments")]
    assert [[0.15, 0.8], [0.26, 0.8]] in segments
    assert [[0.2, 0.7], [0.2, 0.9]] in segments


def test_many_pairs_are_one_picture_in_a_vector_file() -> None:
    (few,) = [one for one in ht.figures.prior_and_purity(both()).axes[0].collections if one.get_alpha()]
    draws = replicates(5000)
    pair = ht.PriorAndPurity(
        ht.PriorEstimate(value=0.2, replicates=draws), ht.PriorEstimate(value=0.9, replicates=1 - draws / 2)
    )
    (many,) = [one for one in ht.figures.prior_and_purity(pair).axes[0].collections if one.get_alpha()]
    assert (few.get_rasterized(), many.get_rasterized()) == (False, True)


def test_pairs_without_replicates_and_unpaired_ones() -> None:
    bare = ht.PriorAndPurity(estimate(curve=None), ht.PriorEstimate(value=0.8, low=0.7, high=0.9))
    assert "replicates" not in legend_texts(ht.figures.prior_and_purity(bare))
    odd = ht.PriorAndPurity(
        ht.PriorEstimate(value=0.2, replicates=[0.2] * 3), ht.PriorEstimate(value=0.8, replicates=[0.8] * 4)
    )
    with pytest.raises(ht.InputError, match=r"number 3 and 4\. Pass what ht\.estimate_prior_and_purity"):
        ht.figures.prior_and_purity(odd)


# --- several estimates --------------------------------------------------------------------------------


def test_dots_intervals_and_refuted_rows() -> None:
    shown = {"one": estimate(), "two": estimate(value=0.35, low=0.3, high=0.4, upper=None)}
    figure = ht.figures.priors(shown, truth=0.25)
    (ax,) = figure.axes
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["one", "two"]
    assert named(ax, "estimate").get_xydata().tolist() == [[0.2, 0], [0.35, 1]]
    assert [one.tolist() for one in named(ax, "95% interval").get_segments()] == [
        [[0.15, 0], [0.26, 0]],
        [[0.3, 1], [0.4, 1]],
    ]
    spans = [patch for patch in ax.patches if patch.get_hatch()]
    assert [(span.get_x(), span.get_width()) for span in spans] == [(0.3, pytest.approx(0.7)), (1.0, 0.0)]
    assert list(named(ax, "truth 0.25").get_xdata()) == [0.25, 0.25]
    assert ax.get_ylim() == (1.5, -0.5), "the first on top"


def test_neither_truth_nor_refuted_rows() -> None:
    levels = {"one": estimate(upper=None), "two": estimate(upper=1.0, confidence_level=0.9)}
    assert legend_texts(ht.figures.priors(levels)) == ["interval", "estimate"]


def test_the_truth_is_seen_wherever_it_lies() -> None:
    (ax,) = ht.figures.priors({"one": estimate()}, truth=0.9).axes
    assert ax.get_xlim()[1] > 0.9
    (ax,) = ht.figures.priors({"one": estimate()}, truth=0).axes
    assert ax.get_xlim()[0] < 0


# --- what cannot be drawn -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ht.figures.prior(0.3), "`estimate` must be a PriorEstimate, got float"),
        (lambda: ht.figures.prior(both()), "of a PriorAndPurity, its `.prior`"),
        (lambda: ht.figures.prior_and_purity(estimate()), "`both` must be a PriorAndPurity, got PriorEst"),
        (lambda: ht.figures.priors({}), "at least one; got {}"),
        (lambda: ht.figures.priors([estimate()]), "must be a mapping of names"),
        (lambda: ht.figures.priors({"a": 0.3}), r"`estimates\['a'\]` must be a PriorEstimate"),
        (lambda: ht.figures.priors({"a": estimate()}, truth=1.2), r"`truth` must lie in \[0, 1\], got 1.2"),
        (
            lambda: ht.figures.priors({"a": estimate(), "b": estimate(population="all")}),
            "which are different shares",
        ),
    ],
)
def test_errors(call: Any, message: str) -> None:
    with pytest.raises(ht.InputError, match=message):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: ht.figures.prior(estimate()),
        lambda: ht.figures.prior_and_purity(both()),
        lambda: ht.figures.priors({"one": estimate()}),
    ],
)
def test_without_matplotlib_the_call_says_what_to_install(call: Any, monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ht.MissingDependency, match=r"pip install 'halftruth\[plot\]'"):
        call()


# --- axes of the user, and files ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "draw",
    [
        lambda ax: ht.figures.prior(estimate(), ax=ax),
        lambda ax: ht.figures.prior(estimate(curve=curve("other"), replicates=replicates()), ax=ax),
        lambda ax: ht.figures.prior_and_purity(both(), ax=ax),
        lambda ax: ht.figures.priors({"one": estimate(), "two": estimate()}, truth=0.2, ax=ax),
    ],
)
@pytest.mark.parametrize("layout", ["constrained", None])
def test_axes_of_the_user_are_drawn_into(draw: Any, layout: str | None) -> None:
    figure = matplotlib_figure.Figure(figsize=(9, 4), layout=layout)
    left, right = figure.subfigures(1, 2)
    mine, other = left.subplots(), right.subplots()
    assert draw(mine) is figure
    assert figure.axes == [mine, other]
    assert mine.get_title()
    assert not figure.legends
    assert not other.has_data()
    if layout is None:  # nobody makes room for a long label
        assert mine.get_xlabel() == "α"
    else:
        assert mine.get_xlabel().replace("\n", " ") == ALPHA
        assert_texts_inside(figure)
    legend = mine.get_legend().get_window_extent()
    for one in mine.collections:
        points = mine.transData.transform(np.concatenate([one.get_offsets(), *segments_of(one)]))
        assert not any(legend.contains(*point) for point in points), "the legend hides data"


def segments_of(collection: Any) -> list[Any]:
    return collection.get_segments() if hasattr(collection, "get_segments") else []


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_files_are_written(kind: str, tmp_path: Path) -> None:
    signs = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    figures = (
        ht.figures.prior(estimate()),
        ht.figures.prior_and_purity(both()),
        ht.figures.priors({"one": estimate()}),
    )
    for figure in figures:
        path = tmp_path / f"figure.{kind}"
        figure.savefig(path)
        written = path.read_bytes()
        assert written.startswith(signs[kind])
        assert len(written) > 3000


def test_pyplot_and_the_settings_are_left_alone() -> None:
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    had_pyplot = "matplotlib.pyplot" in sys.modules
    ht.figures.prior(estimate())
    ht.figures.prior_and_purity(both())
    ht.figures.priors({"one": estimate()})
    assert ("matplotlib.pyplot" in sys.modules) == had_pyplot
    from matplotlib import pyplot as plt

    ht.figures.prior(estimate())
    assert plt.get_fignums() == []
    assert dict(mpl.rcParams) == before


# --- every estimator ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def strata() -> Any:
    return ht.simulate.GaussianClasses(prior=0.2, separation=2.0).draw_strata(60, 300, rng=1, n_negative=50)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_is_drawn_with_its_texts_apart(method: str, strata: Any) -> None:
    negative = strata.negative.score if method == "mixture" else None
    found = ht.estimate_prior(
        strata.positive.score, strata.unlabeled.score, negative=negative, method=method, n_resamples=5
    )
    figure = ht.figures.prior(found)
    assert_texts_inside(figure)
    assert extent(named(figure.axes[-1], "refuted")) == (found.upper, 1.0)
    assert _canvas.wrapped(found.curve.y_label, 36) == figure.axes[0].get_ylabel()


@pytest.mark.parametrize(
    ("positive", "unlabeled"),
    [
        ([3.0], [1.0]),
        ([1.0, 2.0, 3.0], [0.5, 1.5, 2.5, 9.0]),
        ([1.0] * 20, [1.0] * 50),
        (np.linspace(10, 11, 300), np.linspace(-11, -10, 900)),
    ],
    ids=["one and one", "tiny", "constant", "disjoint"],
)
@pytest.mark.parametrize("method", ["auto", "alphamax", "bbe", "km2", "tice"])
def test_hostile_scores_are_drawn(positive: Any, unlabeled: Any, method: str) -> None:
    found = ht.estimate_prior(positive, unlabeled, method=method, n_resamples=5)
    assert_texts_inside(ht.figures.prior(found))


def test_all_methods_and_the_longest_numbers_fit() -> None:
    shown = {name: estimate(value=0.000123456) for name in METHODS}
    assert_texts_inside(ht.figures.priors(shown, truth=0.000234567))
    small = {"value": 0.000123456, "low": 0.000112345, "high": 0.000134567, "upper": 0.000223456}
    assert_texts_inside(ht.figures.prior(estimate(**small, curve=None)))
    assert_texts_inside(ht.figures.prior_and_purity(both()))
