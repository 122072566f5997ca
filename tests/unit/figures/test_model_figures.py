"""Curves, score distributions and metrics over the prior: the numbers drawn are those of the calls."""

from __future__ import annotations

import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import halftruth as ht
from halftruth.evidence import Scenario
from halftruth.figures import _model_figures, _sensitivity
from halftruth.inference._prior_range import prior_span, share_bounds
from halftruth.results._estimate import figure as said

matplotlib_figure = pytest.importorskip("matplotlib.figure")
MODEL = ht.simulate.GaussianClasses(prior=0.3, slope=3.0, intercept=-2.0)
OTHER = ht.simulate.GaussianClasses(prior=0.3, separation=1.2)
EVIDENCE = MODEL.positive_unlabeled(80, 600, 0, prior=0.3)
LABELED = MODEL.labeled(300, 1)
LONG = "a gradient-boosted model of the second kind, with features of the year before last"
DRAWN = MODEL.draw_strata(80, 600, rng=5)
NEGATIVES = DRAWN.unlabeled.score[DRAWN.unlabeled.y == 0]
CURVES = (ht.figures.roc, ht.figures.precision_recall)
ALL = (*CURVES, ht.figures.scores)


def pu(seed: int = 0, model: Any = MODEL, **settings: Any) -> ht.PositiveUnlabeled:
    strata = model.draw_strata(80, 600, rng=seed)
    return ht.PositiveUnlabeled(strata.positive.score, strata.unlabeled.score, **settings)


def points(name: str, evidence: Any) -> np.ndarray:
    if name == "roc":
        curve = ht.roc_curve(evidence)
        return np.column_stack([curve.fpr, curve.tpr])
    found = ht.precision_recall_curve(evidence)
    return np.column_stack([found.recall, found.precision])


def area(name: str, evidence: Any) -> str:
    if name == "roc":
        return f"AUC {said(ht.roc_auc(evidence))}"
    return f"AP {said(ht.average_precision(evidence))}"


def texts(figure: Any) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def mine() -> Any:
    return matplotlib_figure.Figure(layout="constrained").add_subplot()


def line(ax: Any, label: str) -> Any:
    (found,) = [each for each in ax.lines if each.get_label() == label]
    return found


def spans(ax: Any) -> dict[str, tuple[float, float]]:
    """The bands along x, by label."""
    return {each.get_label(): (each.get_x(), each.get_x() + each.get_width()) for each in ax.patches}


def drawn(figure: Any) -> None:
    """Draw it; no text may lie on another or outside."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    FigureCanvasAgg(figure).draw()  # type: ignore[no-untyped-call]
    labels = [*figure.texts, *figure.legends]
    for ax in figure.axes:
        labels += [ax.title, ax._left_title, ax.xaxis.label, ax.yaxis.label]
    boxes = [(each, each.get_window_extent()) for each in labels]
    boxes = [(each, box) for each, box in boxes if box.width > 0]
    assert len(boxes) > 3
    for i, (each, box) in enumerate(boxes):
        assert figure.bbox.padded(1).x0 <= box.x0 <= box.x1 <= figure.bbox.padded(1).x1, each
        assert figure.bbox.padded(1).y0 <= box.y0 <= box.y1 <= figure.bbox.padded(1).y1, each
        assert not [other for other, below in boxes[:i] if box.padded(-1).overlaps(below.padded(-1))], each


# --- curves ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("draw", CURVES)
def test_the_corrected_and_the_naive_curve_are_those_of_the_calls(draw: Any) -> None:
    name, naive = draw.__name__, EVIDENCE.naive_measure()
    figure = draw(EVIDENCE)
    (ax,) = figure.axes
    first, second, third = ax.lines
    assert np.array_equal(first.get_xydata(), points(name, EVIDENCE))
    assert np.array_equal(second.get_xydata(), points(name, naive))
    assert not np.array_equal(points(name, EVIDENCE), points(name, naive))
    assert np.array_equal(third.get_xydata(), [[0, 0], [1, 1]] if name == "roc" else [[0, 0.3], [1, 0.3]])
    chance = "chance" if name == "roc" else "prior 0.300"
    assert texts(figure) == [
        f"corrected: {area(name, EVIDENCE)}",
        f"naive: {area(name, naive)}",
        chance,
    ]
    assert first.get_linestyle() == "-"
    assert second.get_linestyle() == "--"
    assert (ax.get_xlim(), ax.get_ylim()) == ((-0.02, 1.02), (-0.02, 1.02))
    drawn(figure)


def test_axes_and_titles() -> None:
    roc, pr = (draw(EVIDENCE) for draw in CURVES)
    assert (roc.get_suptitle(), pr.get_suptitle()) == ("ROC curve", "Precision-recall curve")
    assert (roc.axes[0].get_xlabel(), roc.axes[0].get_ylabel()) == (
        "false-positive rate",
        "true-positive rate",
    )
    assert (pr.axes[0].get_xlabel(), pr.axes[0].get_ylabel()) == ("recall", "precision")
    for draw in ALL:
        assert draw(EVIDENCE, title="Mine").get_suptitle() == "Mine"


def test_the_area_under_the_steps_is_the_average_precision() -> None:
    step = ht.figures.precision_recall(LABELED).axes[0].lines[0]
    assert step.get_drawstyle() == "steps-pre"
    x, y = step.get_xdata(), step.get_ydata()
    assert np.sum(np.diff(x) * y[1:]) == pytest.approx(ht.average_precision(LABELED), abs=1e-12)


@pytest.mark.parametrize("draw", CURVES)
@pytest.mark.parametrize(
    "given", [LABELED, EVIDENCE.measure(), ht.PositiveConfidence([0.9, 0.5, 0.3, 0.2])], ids=repr
)
def test_where_nothing_is_naive_one_curve_is_drawn(draw: Any, given: Any) -> None:
    figure = draw(given)
    assert len(figure.axes[0].lines) == 2
    assert texts(figure)[0] == area(draw.__name__, given)


@pytest.mark.parametrize("draw", CURVES)
def test_the_naive_curve_can_be_left_out_and_soft_labels_have_one(draw: Any) -> None:
    assert texts(draw(EVIDENCE, naive=False))[0] == area(draw.__name__, EVIDENCE)
    soft = ht.SoftLabeled([0.9, 0.6, 0.4, 0.1], [0.8, 0.3, 0.6, 0.2])
    assert texts(draw(soft))[:2] == [
        f"corrected: {area(draw.__name__, soft)}",
        f"naive: {area(draw.__name__, soft.naive_measure())}",
    ]


@pytest.mark.parametrize("draw", CURVES)
def test_several_models_differ_in_colour_and_dash_and_have_no_naive_curve(draw: Any) -> None:
    several = {"a": EVIDENCE, "b": OTHER.positive_unlabeled(80, 600, 1, prior=0.3), "c": LABELED}
    figure = draw(several)
    lines = figure.axes[0].lines[:3]
    for (name, each), own in zip(several.items(), lines, strict=True):
        assert np.array_equal(own.get_xydata(), points(draw.__name__, each))
        assert own.get_label() == f"{name}: {area(draw.__name__, each)}"
    for look in ("get_color", "get_linestyle"):
        assert len({getattr(own, look)() for own in lines}) == 3
    assert figure.get_suptitle().endswith("curves")
    assert not [text for text in texts(figure) if "naive" in text]
    drawn(figure)


def test_models_of_one_prior_share_a_line_and_others_have_their_own() -> None:
    same = ht.figures.precision_recall({"a": EVIDENCE, "b": OTHER.positive_unlabeled(80, 600, 1, prior=0.3)})
    assert texts(same)[2:] == ["prior 0.300"]
    other = ht.figures.precision_recall({"a": EVIDENCE, "b": pu(prior=0.2)})
    assert texts(other)[2:] == ["priors"]
    assert [own.get_ydata()[0] for own in other.axes[0].lines[2:4]] == pytest.approx([0.3, 0.2])


def test_a_curve_that_leaves_the_square_is_drawn_as_it_is() -> None:
    figure = ht.figures.precision_recall(pu(prior=0.9), naive=False)
    (ax,) = figure.axes
    assert ax.lines[0].get_ydata().max() > 1.1
    assert ax.get_ylim() == (-0.02, 1.02)


@pytest.mark.parametrize("draw", CURVES)
def test_of_very_many_points_some_along_the_curve_are_drawn(draw: Any, tmp_path: Path) -> None:
    many = MODEL.positive_unlabeled(2000, 30_000, 0, prior=0.3)
    own = draw(many, naive=False).axes[0].lines[0].get_xydata()
    full = points(draw.__name__, many)
    assert len(own) <= _model_figures.FINEST + 1 < len(full)
    assert set(map(tuple, own)) <= set(map(tuple, full))
    assert np.array_equal(own[[0, -1]], full[[0, -1]])
    gaps = np.abs(np.diff(np.clip(own, -0.02, 1.02), axis=0))
    widest = np.abs(np.diff(np.clip(full, -0.02, 1.02), axis=0)).max()
    assert gaps.max() <= widest + 0.02
    draw(many).savefig(tmp_path / "curve.svg")
    assert (tmp_path / "curve.svg").stat().st_size < 250_000


def test_without_a_class_the_curve_is_empty_and_its_area_a_dash() -> None:
    with pytest.warns(ht.EmptyClassWarning):
        figure = ht.figures.roc(ht.Labeled([1, 1], [0.2, 0.9]))
    assert texts(figure)[0] == "AUC –"
    assert len(figure.axes[0].lines[0].get_xdata()) == 0


# --- score distributions ---------------------------------------------------------------------------------


def stairs(ax: Any) -> dict[str, Any]:
    return {each.get_label(): each.get_data() for each in ax.patches}


def test_bars_are_shares_of_each_class_in_bins_of_equal_width() -> None:
    measure = EVIDENCE.measure()
    figure = ht.figures.scores(EVIDENCE, n_bins=7)
    (ax,) = figure.axes
    found = stairs(ax)
    assert list(found) == texts(figure) == ["positives", "negatives"]
    low, high = measure.score[0], measure.score[-1]
    place = np.minimum(((measure.score - low) / (high - low) * 7).astype(int), 6)
    for name, masses in (("positives", measure.pos_mass), ("negatives", measure.neg_mass)):
        shares = [masses[place == k].sum() / masses.sum() for k in range(7)]
        assert found[name].values == pytest.approx(shares, abs=1e-12)
        assert found[name].values.sum() == pytest.approx(1)
        assert found[name].edges == pytest.approx(np.linspace(low, high, 8))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("score", "share of the class")
    drawn(figure)


def test_signed_masses_are_shown_as_they_are() -> None:
    figure = ht.figures.scores(pu(prior=0.8))
    heights = stairs(figure.axes[0])["negatives"].values
    assert heights.min() < -0.05
    assert figure.axes[0].get_ylim()[0] < heights.min()


def test_one_score_has_bins_around_it() -> None:
    data = stairs(ht.figures.scores(ht.Labeled([1, 0], [3.0, 3.0]), 2).axes[0])["positives"]
    assert data.edges.tolist() == [2.5, 3.0, 3.5]
    assert data.values.tolist() == [0, 1]


def test_each_model_has_a_panel_with_bins_of_its_own() -> None:
    several = {"a": EVIDENCE, "b": ht.Labeled([1, 0, 0], [5.0, 1.0, 0.0])}
    figure = ht.figures.scores(several, 5)
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["a", "b"]
    first, second = ([each.get_data() for each in ax.patches] for ax in figure.axes)
    assert first[0].edges[-1] < 1
    assert second[0].values.tolist() == [0, 0, 0, 0, 1]
    assert second[1].values.tolist() == [0.5, 0.5, 0, 0, 0]
    assert texts(figure) == ["positives", "negatives"]
    drawn(figure)


@pytest.mark.parametrize("wrong", [0, 2.5, True])
def test_wrong_bins_are_refused(wrong: Any) -> None:
    with pytest.raises(ht.InputError, match="`n_bins` must be a whole number"):
        ht.figures.scores(EVIDENCE, wrong)


# --- metrics over the prior ------------------------------------------------------------------------------


def test_lines_are_the_metrics_at_the_priors_that_are_not_refuted() -> None:
    figure = ht.figures.sensitivity(EVIDENCE, ["roc_auc", "average_precision"])
    low, high = prior_span(EVIDENCE, *share_bounds(EVIDENCE, 0.95), 1.0)
    assert 0 < low < 0.001
    assert 0.3 < high < 0.5
    for ax, name in zip(figure.axes, ("roc_auc", "average_precision"), strict=True):
        corrected, dot, naive, prior = ax.lines
        x, y = corrected.get_xdata(), corrected.get_ydata()
        assert np.array_equal(x, np.linspace(low, high, _sensitivity.N_PRIORS))
        for i in (0, 17, 40):
            moved = pu(prior=float(x[i]))
            assert y[i] == pytest.approx(getattr(ht, name)(moved), abs=1e-12)
        assert dot.get_xydata().tolist() == [[pytest.approx(0.3), getattr(ht, name)(EVIDENCE)]]
        assert naive.get_ydata() == [getattr(ht, name)(EVIDENCE.naive_measure())] * 2
        assert naive.get_linestyle() == "--"
        assert prior.get_xdata() == pytest.approx([0.3, 0.3])
        ((left, right),) = spans(ax).values()
        assert (left, right) == pytest.approx((high, 1))
        assert ax.get_title() == name
        assert ax.get_xlabel() == "α, the share of positives\namong the unlabeled"
    assert texts(figure) == ["corrected", "naive", "prior 0.300", f"refuted: above {said(high)}"]
    drawn(figure)


def test_the_default_metrics_are_those_of_an_evaluation_without_the_prevalence() -> None:
    figure = ht.figures.sensitivity(EVIDENCE, threshold=0.5)
    rows = list(ht.evaluate(EVIDENCE, n_resamples=0, threshold=0.5))
    assert [ax.get_title() for ax in figure.axes] == [row for row in rows if row != "prevalence"]
    drawn(figure)
    margins = ht.figures.sensitivity(ht.PositiveUnlabeled([3.0, 2.0, 1.0], [3.0, 1.0, 0.0, -1.0], prior=0.3))
    assert [ax.get_title() for ax in margins.axes] == ["roc_auc", "average_precision"]


def test_an_unknown_prior_is_not_marked() -> None:
    figure = ht.figures.sensitivity(pu(), "roc_auc")
    assert [text.partition(":")[0] for text in texts(figure)] == ["corrected", "naive", "refuted"]
    corrected, dot = figure.axes[0].lines[:2]
    assert np.isfinite(corrected.get_ydata()).all()
    assert np.isnan(dot.get_xydata()).all()
    assert len(ht.figures.sensitivity(pu(), "roc_auc", naive=False).axes[0].lines) == 2


def test_what_is_believed_of_the_prior_is_a_band() -> None:
    of_range = ht.figures.sensitivity(pu(prior=(0.2, 0.32)), "roc_auc").axes[0]
    assert spans(of_range)["range 0.200 to 0.320"] == pytest.approx((0.2, 0.32))
    estimate = ht.PriorEstimate(value=0.25, low=0.2, high=0.3, confidence_level=0.9)
    evidence = pu(prior=estimate, population="all")
    ax = ht.figures.sensitivity(evidence, "roc_auc").axes[0]
    ends = [(80 + 600 * alpha) / 680 for alpha in (0.2, 0.3)]
    assert spans(ax)[f"90% interval {said(ends[0])} to {said(ends[1])}"] == pytest.approx(ends)
    middle = (80 + 600 * 0.25) / 680
    assert line(ax, f"prior {said(middle)}").get_xdata() == pytest.approx([middle] * 2)
    corrected = line(ax, "corrected")
    moved = pu(prior=float(corrected.get_xdata()[20]), population="all")
    assert corrected.get_ydata()[20] == pytest.approx(ht.roc_auc(moved), abs=1e-12)
    assert ax.get_xlabel() == "π, the share of positives among all"


def test_priors_may_be_given_and_pass_what_is_refuted() -> None:
    figure = ht.figures.sensitivity(EVIDENCE, "roc_auc", priors=[0.6, 0.1, 0.3, 0.3])
    (ax,) = figure.axes
    corrected = line(ax, "corrected")
    assert corrected.get_xdata().tolist() == [0.1, 0.3, 0.6]
    assert corrected.get_ydata() == pytest.approx([ht.roc_auc(pu(prior=p)) for p in (0.1, 0.3, 0.6)])
    assert ax.get_xlim()[1] > 0.6
    assert ax.get_ylim()[1] < 1.1 < corrected.get_ydata()[-1]


def test_the_purity_is_kept_and_bounds_the_prior() -> None:
    strata = MODEL.draw_strata(200, 1000, rng=1, purity=0.8)
    settings: dict[str, Any] = {"purity": 0.8}
    arrays = strata.positive.score, strata.unlabeled.score
    evidence = ht.PositiveUnlabeled(*arrays, prior=0.3, **settings)
    corrected = line(ht.figures.sensitivity(evidence, "roc_auc").axes[0], "corrected")
    alpha_high, kappa = share_bounds(evidence, 0.95)
    x, y = corrected.get_xdata(), corrected.get_ydata()
    assert x[-1] == pytest.approx(min(alpha_high * 0.8, 1 - 0.2 / kappa))
    moved = ht.PositiveUnlabeled(*arrays, prior=float(x[20]), **settings)
    assert y[20] == pytest.approx(ht.roc_auc(moved), abs=1e-12)


def test_the_level_decides_what_is_refuted() -> None:
    ends = [
        line(ht.figures.sensitivity(pu(), "roc_auc", confidence_level=level).axes[0], "corrected").get_xdata()
        for level in (0.5, 0.99)
    ]
    assert ends[0][-1] < ends[1][-1]


def test_an_identified_prior_moves_within_its_range_and_nothing_is_refuted() -> None:
    confidence = np.random.default_rng(0).beta(4, 2, 300)
    evidence = ht.PositiveConfidence(confidence)
    figure = ht.figures.sensitivity(evidence, "brier")
    ax = figure.axes[0]
    corrected, own = line(ax, "corrected"), evidence.measure().prior
    x, y = corrected.get_xdata(), corrected.get_ydata()
    assert x[0] < own < x[-1]
    assert x[-1] - x[0] < 0.2
    assert y[0] == pytest.approx(ht.brier(evidence.measure_at(Scenario(prior=float(x[0])))), abs=1e-12)
    assert texts(figure) == ["corrected", f"prior {said(own)}"]


def test_known_negatives_identify_the_prior_at_the_purity_given() -> None:
    strata = MODEL.draw_strata(300, 1500, rng=0, purity=0.8)
    evidence = ht.PositiveUnlabeled(
        strata.positive.score, strata.unlabeled.score, negative=NEGATIVES, purity=0.8
    )
    x = line(ht.figures.sensitivity(evidence, "roc_auc").axes[0], "corrected").get_xdata()
    own = evidence.measure().prior
    assert x[0] < own < x[-1]
    assert x.mean() == pytest.approx(own, abs=1e-6)


def test_several_models_have_a_line_each_over_their_own_priors() -> None:
    several = {"a": EVIDENCE, "b": OTHER.positive_unlabeled(80, 600, 1, prior=0.3)}
    figure = ht.figures.sensitivity(several, ["roc_auc", "brier", "log_loss"])
    ends = {name: prior_span(each, *share_bounds(each, 0.95), 1.0)[1] for name, each in several.items()}
    for name, end in ends.items():
        assert line(figure.axes[0], name).get_xdata()[-1] == pytest.approx(end)
    assert ends["a"] != ends["b"]
    refuted = f"refuted: above {said(max(ends.values()))}"
    assert texts(figure) == ["a", "b", "at the prior given", refuted]
    drawn(figure)


def test_a_metric_that_runs_off_at_low_priors_does_not_flatten_the_rest() -> None:
    ax = ht.figures.sensitivity(EVIDENCE, "brier_skill").axes[0]
    assert line(ax, "corrected").get_ydata().min() < -500
    assert ax.get_ylim()[0] > -100
    plain = ht.figures.sensitivity(EVIDENCE, "log_loss").axes[0]
    low, high = plain.get_ylim()
    heights = line(plain, "corrected").get_ydata()
    assert low < heights.min() < heights.max() < high


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (LABELED, "The prior of Labeled follows from its labels"),
        (ht.SoftLabeled([0.9, 0.2], [0.9, 0.1]), "The prior of SoftLabeled follows from its labels"),
        (EVIDENCE.measure(), "A ScoreMeasure holds one prior"),
        ([0.1, 0.9], "Expected evidence"),
    ],
    ids=["labeled", "soft", "measure", "list"],
)
def test_without_a_prior_to_vary_it_says_why(given: Any, why: str) -> None:
    with pytest.raises(ht.InputError, match=why):
        ht.figures.sensitivity(given)
    with pytest.raises(ht.InputError, match=why):
        ht.figures.sensitivity({"a": EVIDENCE, "b": given})


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"priors": [0.2]}, "`priors` must hold at least 2 different shares, got 1"),
        ({"priors": [0.2, 1.0]}, "`priors` must"),
        ({"priors": [0.2, np.nan]}, "`priors` must be finite"),
        ({"metrics": "auc_roc"}, "There is no metric"),
        ({"metrics": []}, "`metrics` must name each row once"),
        ({"metrics": "f1"}, "threshold"),
        ({"confidence_level": 95}, "confidence_level"),
    ],
)
def test_wrong_settings_are_refused(settings: Any, why: str) -> None:
    with pytest.raises(ht.InputError, match=why):
        ht.figures.sensitivity(EVIDENCE, **settings)


def test_priors_that_the_counts_rule_out_are_refused() -> None:
    with pytest.raises(ht.InputError, match="what the counts allow"):
        ht.figures.sensitivity(pu(population="all"), "roc_auc", priors=[0.01, 0.3])


def test_scores_that_leave_no_range_are_told() -> None:
    strata = MODEL.draw_strata(80, 600, rng=0)
    evidence = ht.PositiveUnlabeled(strata.positive.score + 2, strata.unlabeled.score, purity=0.7)
    with pytest.raises(ht.InputError, match="The data leave no range of priors"):
        ht.figures.sensitivity(evidence, "roc_auc")
    (ax,) = ht.figures.sensitivity(evidence, "roc_auc", priors=[0.1, 0.2]).axes
    assert line(ax, "corrected").get_xdata().tolist() == [0.1, 0.2]


# --- all -------------------------------------------------------------------------------------------------


def sensitivity_of_one(evidence: Any, **settings: Any) -> Any:
    return ht.figures.sensitivity(evidence, "roc_auc", **settings)


@pytest.mark.parametrize("draw", [*ALL, sensitivity_of_one])
def test_in_my_axes_there_is_a_title_and_a_legend(draw: Any) -> None:
    ax = mine()
    assert draw(EVIDENCE, ax=ax, title="Mine") is ax.figure
    assert ax.figure.axes == [ax]
    assert ax.get_title() == "Mine"
    assert len(ax.get_legend().get_texts()) >= 2
    assert ax.figure.legends == []


def test_my_axes_take_one_panel() -> None:
    with pytest.raises(ht.InputError, match="`ax` takes one model, got 2"):
        ht.figures.scores({"a": EVIDENCE, "b": EVIDENCE}, ax=mine())
    with pytest.raises(ht.InputError, match="`ax` takes one metric, got 5"):
        ht.figures.sensitivity(EVIDENCE, ax=mine())


@pytest.mark.parametrize("draw", [*ALL, ht.figures.sensitivity])
@pytest.mark.parametrize("wrong", [{}, {str(i): EVIDENCE for i in range(5)}])
def test_no_model_or_too_many_are_refused(draw: Any, wrong: Any) -> None:
    with pytest.raises(ht.InputError, match="`evidence` must hold 1 to 4 models"):
        draw(wrong)


@pytest.mark.parametrize("draw", ALL)
def test_what_cannot_be_drawn_is_refused(draw: Any) -> None:
    with pytest.raises(ht.InputError, match="Expected evidence"):
        draw([0.1, 0.9])
    with pytest.raises(ht.NotIdentifiable, match="The class prior is not identified"):
        draw(pu())
    two = EVIDENCE.measure_at(Scenario(prior=np.array([0.2, 0.3])))
    with pytest.raises(ht.InputError, match="must be one measure"):
        draw(two)


@pytest.mark.parametrize("draw", [*ALL, partial(ht.figures.sensitivity, metrics=["roc_auc", "brier"])])
@pytest.mark.parametrize("names", [(r"$\wrong{", r"a $x^2$ b", "_hidden", "<b>&amp;</b>"), (LONG, "other")])
def test_names_are_shown_as_they_are(draw: Any, names: tuple[str, ...]) -> None:
    figure = draw(dict.fromkeys(names, EVIDENCE))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drawn(figure)
    shown = [*texts(figure), *(ax.get_title(loc="left") for ax in figure.axes)]
    for name in names:
        assert [text for text in shown if name in text.replace(r"\$", "$").replace("\n", " ")], name
