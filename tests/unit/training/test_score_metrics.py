"""The metric of a training loop: the values and integers of all rows at once, however they come."""

from __future__ import annotations

import copy
import importlib
import os
import pickle
import sys
import warnings
from functools import partial

import numpy as np
import pytest

import halftruth as ht
from halftruth._errors import EmptyClassWarning, InputError, MergeError, MissingDependency

if os.environ.get("HALFTRUTH_REQUIRE_EXTRAS", "") in {"", "0"}:
    pytest.importorskip("torchmetrics")
import torch
from torchmetrics import MetricCollection
from torchmetrics.classification import BinaryAUROC

from halftruth.training import ScoreMetrics
from halftruth.training._metric_batches import Batch

from .batches import SHARES, at_once, columns, evidence_of, rows

KINDS = ("labeled", "positive_unlabeled", "soft")
each_kind = pytest.mark.parametrize("kind", KINDS)


def made(kind, metrics=None, **parameters):
    return ScoreMetrics(kind, metrics, **(SHARES if kind == "positive_unlabeled" else {}), **parameters)


def fed(metric, *arrays, size=257):
    """The metric after batches of this size."""
    tensors = [torch.as_tensor(array) for array in arrays]
    for start in range(0, len(tensors[0]), size):
        metric.update(*(tensor[start : start + size] for tensor in tensors))
    return metric


def elsewhere(metric, *tensors):
    """An update as on a device that nobody waits for, here with tensors of the processor."""
    batch = Batch.read(*tensors, *[None] * (3 - len(tensors)), metric.device)
    metric.refused += metric.reader.add_on_device(batch, metric.histogram)


# --- Values and integers -------------------------------------------------------------------------


@each_kind
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("grid", ["probability", "margin"])
def test_batches_give_the_integers_and_values_of_all_rows(kind, weighted, grid):
    score, target, weight = rows(kind)
    score = score if grid == "probability" else 8 * score - 4
    given = (score, target, weight) if weighted else (score, target)
    table = at_once(kind, *given, grid=grid)
    wanted = ht.evaluate(evidence_of(kind, table), threshold=0.6, n_resamples=0)
    for size in (1000, 257, len(score)):
        metric = fed(made(kind, threshold=0.6, grid=grid, weighted=weighted), *given, size=size)
        assert columns(metric.table) == columns(table)
        found = metric.compute()
        assert {name: float(value) for name, value in found.items()} == {
            name: wanted[name].value for name in wanted.rows
        }
        assert all(value.dtype == torch.float64 and value.ndim == 0 for value in found.values())


@each_kind
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("grid", ["probability", "margin"])
def test_devices_add_up_the_same_integers(kind, weighted, grid):
    score, target, weight = (torch.as_tensor(x) for x in rows(kind))
    score = score if grid == "probability" else 8 * score - 4
    metric = made(kind, grid=grid, weighted=weighted)
    for preds, part in ((score, slice(0, 1000)), (score.float(), slice(1000, None))):
        elsewhere(metric, *(x[part] for x in ((preds, target, weight) if weighted else (preds, target))))
    score[1000:] = score[1000:].float()
    given = (score, target, weight) if weighted else (score, target)
    assert columns(metric.table) == columns(fed(made(kind, grid=grid, weighted=weighted), *given).table)


@each_kind
def test_the_order_of_the_rows_changes_nothing(kind):
    score, target, _ = rows(kind)
    order = np.random.default_rng(1).permutation(len(score))
    first, second = fed(made(kind), score, target), fed(made(kind), score[order], target[order], size=64)
    assert columns(first.table) == columns(second.table)
    assert first.compute() == second.compute()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("of_target", [torch.bool, torch.uint8, torch.int32, torch.int64, torch.float16])
def test_any_type_of_scores_and_targets(dtype, of_target):
    score, target, _ = rows("labeled")
    preds = torch.as_tensor(score).to(dtype)
    metric = fed(ScoreMetrics("labeled"), preds, torch.as_tensor(target).to(of_target))
    assert columns(metric.table) == columns(at_once("labeled", preds.double().numpy(), target))


def test_any_shape_is_flattened_and_no_gradient_is_kept():
    score, target, _ = rows("labeled", n=240)
    preds = torch.as_tensor(score).reshape(4, 5, 12).transpose(0, 1).requires_grad_()
    metric = ScoreMetrics("labeled")
    values = metric(preds, torch.as_tensor(target).reshape(4, 5, 12).transpose(0, 1))
    assert columns(metric.table) == columns(at_once("labeled", score, target))
    assert not any(value.requires_grad for value in [*values.values(), *metric.metric_state.values()])


@pytest.mark.parametrize("code", [0, -1])
def test_another_code_for_unlabeled(code):
    score, target, _ = rows("positive_unlabeled")
    known = target == 1
    metric = ScoreMetrics("positive_unlabeled", ["roc_auc"], prior=0.4, unlabeled=code)
    fed(metric, score, np.where(known, 1, code))
    table = at_once("positive_unlabeled", score, np.where(known, 1.0, np.nan))
    assert columns(metric.table) == columns(table)
    assert float(metric.compute()["roc_auc"]) == ht.roc_auc(ht.PositiveUnlabeled.from_table(table, prior=0.4))


def test_rows_of_weight_zero_are_left_out():
    score, target, weight = rows("labeled")
    weight[::3] = 0
    metric = fed(ScoreMetrics("labeled", weighted=True), score, target, weight)
    assert columns(metric.table) == columns(
        at_once("labeled", *(x[weight > 0] for x in (score, target, weight)))
    )


def test_batches_without_weights_weigh_one():
    score, target, weight = rows("labeled")
    metric = fed(ScoreMetrics("labeled", weighted=True), score, target, weight)
    fed(metric, score, target)
    table = at_once("labeled", *(np.concatenate(x) for x in ([score] * 2, [target] * 2, [weight, weight**0])))
    assert columns(metric.table) == columns(table)


def test_metrics_by_name_by_function_and_by_label():
    score, target, _ = rows("labeled")
    wanted = ht.Labeled.from_table(at_once("labeled", score, target))
    part = partial(ht.partial_auc, max_fpr=0.1)
    for metrics, labels in (
        ("roc_auc", ["roc_auc"]),
        ([ht.brier, "f1"], ["brier", "f1"]),
        ({"low": part}, ["low"]),
    ):
        found = fed(ScoreMetrics("labeled", metrics, threshold=0.5), score, target).compute()
        assert list(found) == labels
    assert float(found["low"]) == part(wanted)


def test_the_evidence_has_intervals():
    score, target, _ = rows("positive_unlabeled")
    metric = fed(made("positive_unlabeled", ["roc_auc"]), score, target)
    estimate = ht.evaluate(metric.evidence(), ["roc_auc"], n_resamples=50)["roc_auc"]
    assert estimate.low < estimate.value == float(metric.compute()["roc_auc"]) < estimate.high


def test_the_size_of_the_state_does_not_depend_on_the_number_of_batches():
    def size(metric):
        return sum(tensor.nbytes for tensor in metric.metric_state.values())

    metric = ScoreMetrics("labeled", grid=ht.Grid("probability", n_bins=256))
    before = size(metric)
    score, target, _ = rows("labeled")
    for _ in range(20):
        fed(metric, score, target, size=50)
    assert size(metric) == before < 20_000
    assert len(pickle.dumps(metric)) < 60_000


def test_a_prior_that_the_rows_refute_is_said_to_be():
    strata = ht.simulate.GaussianClasses(prior=0.3).draw_strata(500, 3000, rng=0)
    score = np.append(strata.positive.score, strata.unlabeled.score)
    target = np.repeat([1.0, np.nan], [500, 3000])
    for prior, words in ((0.3, None), (0.8, "The prior is refuted by the data")):
        metric = ScoreMetrics("positive_unlabeled", ["roc_auc"], prior=prior, population="unlabeled")
        fed(metric, score, target)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            metric.compute()
        found = [str(warning.message) for warning in said]
        assert found == [] if words is None else (len(found) == 1 and found[0].startswith(words))


# --- What torchmetrics asks of a metric ----------------------------------------------------------


def held(metric):
    """All that a metric holds, tensors by their bytes."""
    return {
        name: value.numpy().tobytes() if isinstance(value, torch.Tensor) else value
        for name, value in vars(metric).items()
        if isinstance(value, (torch.Tensor, bool, int, type(None)))
    }


@pytest.mark.parametrize("synced", [False, True])
def test_a_batch_that_fails_in_forward_changes_nothing(synced):
    interrupted = []

    def area(measure):
        if interrupted:
            raise KeyboardInterrupt
        return ht.roc_auc(measure)

    metric = ScoreMetrics("labeled", {"roc_auc": area}, weighted=True, dist_sync_on_step=synced)
    good = torch.tensor([0.9, 0.4, 0.6]), torch.tensor([1, 1, 0]), torch.tensor([1.0, 2.0, 3.0])
    metric.update(*good)
    value = metric.compute()["roc_auc"]
    before = held(metric)
    with pytest.raises(InputError, match="outside"):
        metric(torch.tensor([0.5, 1.5]), torch.tensor([1, 0]))
    assert held(metric) == before
    interrupted.append(True)
    with pytest.raises(KeyboardInterrupt):
        metric(*good)
    assert held(metric) == before
    interrupted.clear()
    assert metric.compute()["roc_auc"] == value
    metric(*good)
    assert metric.table.strata["positive"].rows.sum() == 4


@each_kind
def test_forward_gives_the_value_of_the_batch_and_keeps_all(kind):
    score, target, _ = (torch.as_tensor(x) for x in rows(kind))
    metric = made(kind, ["roc_auc"])
    halves = [metric(score[part], target[part]) for part in (slice(0, 1500), slice(1500, None))]
    alone = fed(made(kind, ["roc_auc"]), score[1500:], target[1500:]).compute()
    assert halves[1] == alone != halves[0]
    assert metric.compute() == fed(made(kind, ["roc_auc"]), score, target).compute()


@each_kind
def test_metrics_merge(kind):
    score, target, _ = rows(kind)
    whole = fed(made(kind), score, target)
    one, two, three = (fed(made(kind), score[k::3], target[k::3]) for k in range(3))
    assert one.compute() != whole.compute()
    one.merge(two, three)
    assert one.compute() == whole.compute()
    assert columns(one.table) == columns(whole.table)
    fresh = made(kind)
    fresh.merge_state(whole.metric_state)
    assert fresh.compute() == whole.compute()


def test_only_metrics_of_one_kind_merge():
    with pytest.raises(MergeError, match="one kind, one grid"):
        ScoreMetrics("labeled").merge(ScoreMetrics("labeled", grid="margin"))
    with pytest.raises(InputError, match="must be a ScoreMetrics"):
        ScoreMetrics("labeled").merge(BinaryAUROC())


def test_reset_clone_pickle_and_state_dict():
    score, target, _ = rows("labeled")
    metric = fed(ScoreMetrics("labeled"), score, target)
    wanted = metric.compute()
    for other in (metric.clone(), copy.deepcopy(metric), pickle.loads(pickle.dumps(metric))):
        assert other.compute() == wanted
        fed(other, score, 1 - target)
        assert other.compute() != wanted
    assert metric.state_dict() == {}
    metric.persistent(True)
    stored = ScoreMetrics("labeled")
    stored.persistent(True)
    stored.load_state_dict(metric.state_dict())
    assert columns(stored.table) == columns(metric.table)
    metric.reset()
    assert len(metric.table) == 0
    assert fed(metric, score, target).compute() == wanted


def test_no_conversion_of_a_model_changes_the_state():
    score, target, _ = rows("labeled")
    metric = fed(ScoreMetrics("labeled"), score + 1e-12 * (score < 0.9), target)
    wanted = columns(metric.table)
    model = torch.nn.ModuleList([torch.nn.Linear(1, 1), metric])
    for convert in (
        lambda m: m.half(),
        lambda m: m.float(),
        lambda m: m.to(torch.bfloat16),
        lambda m: m.to("cpu", torch.float16),
        lambda m: m.double(),
    ):
        convert(model)
        metric.set_dtype(torch.float16)
        assert columns(metric.table) == wanted


def test_in_a_collection_with_others():
    score, target, _ = (torch.as_tensor(x) for x in rows("positive_unlabeled"))
    priors = {"few": 0.4, "many": 0.6}
    metrics = {
        name: ScoreMetrics("positive_unlabeled", ["roc_auc"], prior=prior) for name, prior in priors.items()
    }
    known = (target == 1).long()
    others = {"naive": BinaryAUROC(), "halftruth": ScoreMetrics("labeled", ["roc_auc"])}
    collection = MetricCollection(metrics, prefix="val/")
    beside = MetricCollection(others)
    for part in (slice(0, 1000), slice(1000, None)):
        collection.update(score[part], target[part])
        beside.update(score[part], known[part])
    found = {name: float(value) for name, value in collection.compute().items()}
    assert found == {
        f"val/{name}_roc_auc": ht.roc_auc(ht.PositiveUnlabeled.from_table(metrics["few"].table, prior=prior))
        for name, prior in priors.items()
    }
    found = beside.compute()
    assert float(found["roc_auc"]) == pytest.approx(float(found["naive"]), abs=1e-4)
    collection.reset()
    assert len(metrics["many"].table) == 0


# --- What the data do not give -------------------------------------------------------------------


def test_no_batch_gives_nan_and_the_warning_of_torchmetrics():
    metric = ScoreMetrics("soft")
    with pytest.warns(UserWarning, match="before the ``update`` method"):
        values = metric.compute()
    assert list(values) == [
        "prevalence",
        "roc_auc",
        "average_precision",
        "brier",
        "log_loss",
        "calibration_error",
    ]
    assert all(value.isnan() for value in values.values())


def test_an_empty_batch_adds_nothing():
    metric = ScoreMetrics("labeled")
    metric.update(torch.empty(0), torch.empty(0))
    assert all(value.isnan() for value in metric.compute().values())


@pytest.mark.parametrize("only", [0, 1])
def test_one_class_gives_nan_and_says_so(only):
    metric = ScoreMetrics("labeled", ["roc_auc", "brier"])
    metric.update(torch.tensor([0.2, 0.4]), torch.tensor([only, only]))
    with pytest.warns(EmptyClassWarning, match="^`roc_auc` is NaN: No (negative|positive) case") as caught:
        values = metric.compute()
    assert len(caught) == 1
    assert values["roc_auc"].isnan()
    assert float(values["brier"]) == pytest.approx(np.mean((np.array([0.2, 0.4]) - only) ** 2))


@pytest.mark.parametrize(("target", "missing"), [([1.0, 1.0], "unlabeled"), ([np.nan, 0.0], "positive")])
def test_positives_and_unlabeled_must_both_be_there(target, missing):
    metric = ScoreMetrics("positive_unlabeled", prior=0.3)
    metric.update(torch.tensor([0.2, 0.4]), torch.tensor(target))
    with pytest.warns(EmptyClassWarning, match=f"No {missing} case"):
        assert all(value.isnan() for value in metric.compute().values())


@pytest.mark.parametrize(("parameters", "hint"), [({}, True), ({"unlabeled": -1}, False)])
def test_zeros_that_may_mean_unlabeled_are_pointed_at(parameters, hint):
    metric = ScoreMetrics("positive_unlabeled", prior=0.3, **parameters)
    metric.update(torch.tensor([0.2, 0.4]), torch.tensor([1, 0]))
    with pytest.warns(EmptyClassWarning, match="No unlabeled case: metrics are NaN") as caught:
        metric.compute()
    assert ("If 0 means unlabeled, pass unlabeled=0." in str(caught[0].message)) == hint


def test_a_prior_that_the_rows_rule_out_gives_nan_and_says_so():
    metric = ScoreMetrics("positive_unlabeled", prior=0.1)
    metric.update(torch.tensor([0.2, 0.4]), torch.tensor([1.0, np.nan]))
    with pytest.warns(UserWarning, match="Metrics are NaN: `prior`"):
        assert all(value.isnan() for value in metric.compute().values())


def test_without_a_prior_only_what_needs_none_has_a_value():
    score, target, _ = rows("positive_unlabeled")
    metric = ScoreMetrics("positive_unlabeled", ["recall", "f1"], threshold=0.5, unlabeled=0)
    fed(metric, score, np.nan_to_num(target))
    with pytest.warns(UserWarning, match="^`f1` is NaN: The class prior is not identified") as caught:
        values = metric.compute()
    assert len(caught) == 1
    assert 0 < values["recall"] < 1
    assert values["f1"].isnan()


def test_one_warning_names_all_that_is_nan_and_why():
    # The unlabeled score above the known positives: those identify a prior of 1.01.
    score = torch.tensor([0.9, 0.4, 0.9, 0.8, 0.7, 0.1, 0.5, 0.5, 0.2])
    target = torch.tensor([1.0] * 2 + [np.nan] * 4 + [0.0] * 3)
    asked = {"mcc": "mcc", "precision": "precision", "odd": lambda measure: np.nan, "f1": "f1"}
    metric = ScoreMetrics("positive_unlabeled", asked, population="unlabeled", threshold=0.8)
    metric.update(score, target)
    with pytest.warns(UserWarning, match="NaN") as caught:
        values = metric.compute()
    assert [str(warning.message) for warning in caught] == [
        "`mcc` is NaN: undefined: the mass of a class is negative. "
        "`odd` is NaN: the callable gives it for these rows."
    ]
    assert caught[0].filename == __file__
    assert values["mcc"].isnan()
    assert values["precision"] > 1  # by noise, as the documentation says
    rows = ht.evaluate(metric.evidence(), ["precision"], threshold=0.8, n_resamples=0)
    assert float(values["precision"]) == rows["precision"].value


def test_no_score_at_the_threshold_gives_nan_and_says_so():
    metric = ScoreMetrics("labeled", ["precision", "recall"], threshold=0.9)
    metric.update(torch.tensor([0.2, 0.4]), torch.tensor([0, 1]))
    with pytest.warns(UserWarning, match="^`precision` is NaN: undefined: .* no score reaches the threshold"):
        values = metric.compute()
    assert values["precision"].isnan()
    assert values["recall"] == 0


# --- Bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "parameters", "preds", "target", "weight", "message"),
    [
        ("labeled", {}, [0.5, 1.5], [0, 1], None, r"probabilities in \[0, 1\], got 1 value.*torch.sigmoid"),
        ("labeled", {}, [0.5, np.nan], [0, 1], None, r"\[0, 1\], got 1 NaN \(drop these rows[^()]*\)\.$"),
        ("labeled", {}, [-np.inf, np.nan], [0, 1], None, r"got 1 NaN .* and 1 value\(s\) outside \(apply"),
        (
            "labeled",
            {"grid": "margin"},
            [np.inf, np.nan],
            [0, 1],
            None,
            r"finite, got 1 NaN .* and 1 infinite",
        ),
        ("labeled", {}, [0.5, 0.5], [0, 2], None, r"`target` must hold 0 \(negative\) and 1.*got 1 other"),
        ("labeled", {}, [0.5, 0.5], [0, np.nan], None, r"got 1 other value"),
        (
            "positive_unlabeled",
            {"unlabeled": -1},
            [0.5, 0.5],
            [2, -2],
            None,
            r"code named by `unlabeled`; got 2",
        ),
        ("soft", {}, [0.5, 0.5], [1.1, 0.2], None, r"soft labels in \[0, 1\]; got 1"),
        ("labeled", {"weighted": True}, [0.5, 0.5], [0, 1], [1.0, -1.0], r"zero or lie in .*got 1 other"),
        ("labeled", {"weighted": True}, [0.5, 0.5], [0, 1], [1e9, np.nan], r"got 2 other"),
    ],
)
def test_bad_rows_are_refused_and_none_of_the_batch_is_added(
    kind, parameters, preds, target, weight, message
):
    metric = ScoreMetrics(kind, **parameters)
    given = [torch.tensor(x) for x in (preds, target, weight) if x is not None]
    with pytest.raises(InputError, match=message):
        metric.update(*given)
    assert len(metric.table) == 0
    # Elsewhere they are counted, and refused in the end.
    elsewhere(metric, *given)
    with pytest.raises(InputError, match=message):
        metric.compute()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (([0.5], torch.tensor([1])), "`preds` must be a PyTorch tensor, got list"),
        ((torch.tensor([0.5]), [1]), "`target` must be a PyTorch tensor, got list"),
        ((torch.rand(3, 2), torch.ones(3)), r"\(3, 2\), got \(3,\). Pass the scores of the positive class"),
        ((torch.rand(3, 1), torch.ones(3)), r"\(3, 1\), got \(3,\). Pass one value for each score"),
        ((torch.tensor([1, 0]), torch.tensor([1, 0])), "floating-point scores, got dtype torch.int64"),
        ((torch.rand(2), torch.ones(2), torch.ones(2)), "without weights. Pass weighted=True"),
        ((torch.rand(2, device="meta"), torch.ones(2)), "is on meta and the metric on cpu"),
    ],
)
def test_bad_batches_are_refused(given, message):
    with pytest.raises(InputError, match=message):
        ScoreMetrics("labeled").update(*given)


def test_a_device_without_float64_is_refused():
    with pytest.raises(InputError, match="which has no float64"):
        Batch.read(torch.rand(2), torch.ones(2), None, torch.device("mps"))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"kind": "pu"}, "`kind` must be 'labeled' or 'positive_unlabeled' or 'soft', got 'pu'"),
        ({"kind": "labeled", "prior": 0.3}, "go with kind=.positive_unlabeled"),
        ({"kind": "soft", "unlabeled": 0}, "go with kind=.positive_unlabeled"),
        ({"kind": "positive_unlabeled", "prior": 1.2}, r"`prior` must lie in \(0, 1\)"),
        ({"kind": "positive_unlabeled", "prior": "estimate"}, "Estimate it once"),
        ({"kind": "positive_unlabeled", "purity": 0}, "`purity` must lie in"),
        (
            {"kind": "positive_unlabeled", "prior": (0.2, 0.4)},
            r"range \(0.2, 0.4\). Pass the middle, prior=0.3",
        ),
        (
            {"kind": "positive_unlabeled", "purity": [0.8, 1]},
            r"range \[0.8, 1\]. Pass the middle, purity=0.9",
        ),
        ({"kind": "positive_unlabeled", "population": "both"}, "`population` must be"),
        ({"kind": "labeled", "metrics": ["auroc"]}, "Did you mean 'roc_auc'"),
        ({"kind": "labeled", "metrics": ["f1"]}, "Pass threshold"),
        ({"kind": "labeled", "grid": "logit"}, "`grid` must be"),
        ({"kind": "labeled", "grid": 4}, "`grid` must be a Grid"),
    ],
)
def test_bad_settings_are_refused(given, message):
    with pytest.raises(InputError, match=message):
        ScoreMetrics(**given)


def test_sums_that_overflow_are_refused():
    metric = ScoreMetrics("labeled", weighted=True)
    preds, target = torch.full((8,), 0.5), torch.ones(8)
    metric.update(preds[:1], target[:1], torch.tensor([2.0**15]))
    assert len(metric.table) == 1
    metric.update(preds, target, torch.full((8,), 2.0**15))
    with pytest.raises(InputError, match="too many to add up exactly"):
        metric.compute()


def test_a_prior_that_was_estimated_counts_by_its_value():
    score, target, _ = rows("positive_unlabeled")
    estimate = ht.PriorEstimate(value=0.4, low=0.3, high=0.5, population="all")
    found, wanted = (
        fed(ScoreMetrics("positive_unlabeled", ["roc_auc"], prior=prior), score, target).compute()
        for prior in (estimate, 0.4)
    )
    assert found == wanted


def test_a_metric_shows_its_kind_and_metrics():
    metric = ScoreMetrics("labeled", ["roc_auc", "f1"], threshold=0.5)
    assert repr(metric) == "ScoreMetrics(kind='labeled', metrics=['roc_auc', 'f1'])"


@pytest.mark.parametrize("missing", [["torchmetrics"], ["torch", "torchmetrics"], ["torch"]])
def test_a_missing_library_says_what_to_install(monkeypatch, missing):
    for name in [*sys.modules]:
        if name.startswith(("halftruth.training", "halftruth._pytorch", "torchmetrics")):
            monkeypatch.delitem(sys.modules, name)
    for name in missing:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingDependency, match=r"PyTorch and torchmetrics: pip .*'halftruth\[training\]'"):
        importlib.import_module("halftruth.training").ScoreMetrics  # noqa: B018


def test_nothing_warns_where_all_is_well():
    score, target, _ = rows("labeled")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        values = fed(ScoreMetrics("labeled"), score, target).compute()
    assert all(value.isfinite() for value in values.values())


def test_codes_are_compared_as_numpy_compares_them():
    """In float64: a code that a float32 target cannot hold is no code of its, and no batch is lost."""
    metric = ScoreMetrics("positive_unlabeled", prior=0.3, unlabeled=-0.1)
    with pytest.raises(InputError, match="got 1 other value"):
        metric.update(torch.tensor([0.9, 0.2]), torch.tensor([1.0, -0.1]))
    metric.update(torch.tensor([0.9, 0.2]), torch.tensor([1.0, -0.1], dtype=torch.float64))
    assert len(metric.table) == 2


def test_metrics_that_read_targets_differently_share_no_state():
    shares = {"prior": 0.3, "metrics": ["roc_auc"]}
    both = MetricCollection(
        {
            "zeros": ScoreMetrics("positive_unlabeled", unlabeled=0, **shares),
            "nan": ScoreMetrics("positive_unlabeled", **shares),
        }
    )
    both.update(torch.tensor([0.9, 0.2]), torch.tensor([1.0, torch.nan]))  # which both read alike
    both.update(torch.tensor([0.3, 0.7]), torch.tensor([0.0, 1.0]))
    assert {k: len(v) for k, v in both["zeros"].table.strata.items()} == {"positive": 2, "unlabeled": 2}
    assert {k: len(v) for k, v in both["nan"].table.strata.items()} == {
        "positive": 2,
        "unlabeled": 1,
        "negative": 1,
    }


def test_a_population_goes_with_positives_and_unlabeled():
    with pytest.raises(InputError, match="`population`"):
        ScoreMetrics("labeled", population="unlabeled")
