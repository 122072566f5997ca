"""The public names: those of DESIGN §3 that exist so far, the same in code, stub and `dir`."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
from pathlib import Path
from typing import Any

import pytest

import halftruth as ht

CONTRACT: dict[str, list[str]] = {
    # name: parameters in order, keyword-only ones after "*"
    "Labeled": ["y_true", "y_score", "*", "sample_weight"],
    "SoftLabeled": ["q", "y_score", "*", "sample_weight"],
    "PositiveUnlabeled": [
        *("positive", "unlabeled", "*", "prior", "purity", "negative", "propensity", "population"),
        *("positive_weight", "unlabeled_weight", "negative_weight"),
    ],
    "PositiveConfidence": ["r", "y_score", "*", "prior", "sample_weight"],
    "evaluate": ["evidence", "metrics", "*", "threshold", "confidence_level", "n_resamples", "rng"],
    "make_scorer": ["metric", "*", "prior", "unlabeled", "purity", "population", "threshold"],
    "prior_upper_bound": ["positive", "unlabeled", "*", "confidence_level"],
    "confusion": ["evidence", "threshold"],
    "best_threshold": [
        "evidence",
        "*",
        "maximize",
        "precision_at_least",
        "recall_at_least",
        "fpr_at_most",
        "cost",
        "confidence_level",
    ],
    "calibration_error": ["evidence", "n_bins", "binning", "norm", "debias"],
    "adaptive_calibration_error": ["evidence", "n_bins"],
    "maximum_calibration_error": ["evidence", "n_bins", "binning"],
    "sweep_calibration_error": ["evidence", "norm"],
    "ks_calibration_error": ["evidence", "statistic"],
    "logit_smoothed_calibration_error": ["evidence", "sigma"],
    "bpm_calibration_error": ["evidence", "variant"],
    "reliability_curve": [
        *("evidence", "method", "*", "n_bins", "binning", "confidence_level", "n_resamples", "rng"),
    ],
    "calibration_test": ["evidence", "statistic", "*", "n_bins", "n_resamples", "rng"],
    "Calibrator": ["method", "*"],
    "cross_calibrate": ["evidence", "calibrator", "*", "n_folds", "rng"],
    "top_label": ["probabilities", "y"],
    "class_wise": ["probabilities", "y"],
    "precision_at_k": ["evidence", "k"],
    "recall_at_k": ["evidence", "k"],
    "partial_auc": ["evidence", "*", "max_fpr"],
    "recall_at_fpr": ["evidence", "*", "max_fpr"],
}
PLAIN = (
    *("roc_auc", "average_precision", "pr_auc", "brier", "brier_skill", "log_loss", "roc_curve"),
    *("precision_recall_curve", "det_curve", "gain_curve", "decision_curve", "cost_curve"),
    "smooth_calibration_error",
)
CONTRACT |= {name: ["evidence"] for name in PLAIN}
DEFAULTS: dict[str, dict[str, Any]] = {
    "PositiveUnlabeled": {"prior": None, "purity": 1.0, "population": "unlabeled"},
    "evaluate": {"threshold": None, "confidence_level": 0.95, "n_resamples": 2000, "rng": 0},
    "make_scorer": {"purity": 1.0, "population": "all", "threshold": None},
    "prior_upper_bound": {"confidence_level": 0.95},
    "calibration_error": {"n_bins": "optimal", "binning": "mass", "norm": 1, "debias": False},
    "adaptive_calibration_error": {"n_bins": 15},
    "maximum_calibration_error": {"n_bins": "optimal", "binning": "mass"},
    "sweep_calibration_error": {"norm": 1},
    "ks_calibration_error": {"statistic": "ks"},
    "logit_smoothed_calibration_error": {"sigma": 1 / 15},
    "bpm_calibration_error": {"variant": "paper"},
    "reliability_curve": {"method": "binned", "n_bins": "optimal", "confidence_level": 0.95, "rng": 0},
    "calibration_test": {"statistic": "combined", "n_bins": 10, "n_resamples": 2000, "rng": 0},
    "Calibrator": {"method": "beta"},
    "cross_calibrate": {"calibrator": "beta", "n_folds": 5, "rng": 0},
}
METHODS = {
    "SoftLabeled": ["from_votes"],
    "PositiveUnlabeled": ["from_labels", "from_table"],
    "ScoreTable": ["merge"],
    "Evaluation": ["to_frame", "to_dict", "_repr_html_"],
    "Estimate": ["interval", "__float__"],
    "Calibrator": ["fit", "predict", "save", "load", "get_params", "set_params"],
}
FIELDS = {
    "PriorEstimate": {"value", "low", "high", "upper", "method", "assumption", "replicates", "population"},
    "Estimate": {
        *("value", "low", "high", "naive", "confidence_level"),
        *("method", "notes", "replicates", "reference", "bound"),
    },
    "CalibrationTest": {"statistic", "value", "p_value", "method", "notes"},
    "ReliabilityCurve": {"score", "frequency", "low", "high", "mass", "method", "confidence_level", "notes"},
}
# What a call gives back, and what it raises: shown in the examples of the calls.
RESULTS = {
    "Estimate",
    "Evaluation",
    "ScoreMeasure",
    "Comparison",
    "Difference",
    "PriorAndPurity",
    "ScarTest",
    "SelectionBenchmark",
    "CurveBounds",
    "MetricBounds",
    "CalibrationTest",
    "ReliabilityCurve",
    "ReviewCheck",
    "ReviewerAgreement",
    "TooGood",
}
ROOT = Path(inspect.getfile(ht)).parent
CALLABLE = [name for name in ht.__all__ if callable(getattr(ht, name))]


def parameters(function: Any) -> list[str]:
    out = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in out:
            out.append("*")
        out.append(parameter.name)
    return out


# --- the contract ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CONTRACT)
def test_parameters(name: str) -> None:
    got = parameters(getattr(ht, name))
    expected = CONTRACT[name]
    cut = expected.index("*") if "*" in expected else len(expected)
    assert got[:cut] == expected[:cut]
    assert set(got) >= set(expected)
    if cut < len(expected):
        assert got[cut] == "*"


@pytest.mark.parametrize("name", DEFAULTS)
def test_defaults(name: str) -> None:
    given = inspect.signature(getattr(ht, name)).parameters
    assert {key: given[key].default for key in DEFAULTS[name]} == DEFAULTS[name]


def test_from_labels_takes_the_whole_table() -> None:
    given = inspect.signature(ht.PositiveUnlabeled.from_labels).parameters
    assert list(given)[:2] == ["y", "y_score"]
    defaults = {"prior": None, "purity": 1.0, "propensity": None, "population": "all", "unlabeled": None}
    assert {key: given[key].default for key in defaults} == defaults


def test_a_scorer_cannot_be_made_without_prior_and_code() -> None:
    given = inspect.signature(ht.make_scorer).parameters
    assert given["prior"].default is given["unlabeled"].default is inspect.Parameter.empty


@pytest.mark.parametrize(
    ("name", "method"), [(name, method) for name, own in METHODS.items() for method in own]
)
def test_methods(name: str, method: str) -> None:
    assert callable(getattr(getattr(ht, name), method))


@pytest.mark.parametrize("name", FIELDS)
def test_fields(name: str) -> None:
    assert set(inspect.signature(getattr(ht, name)).parameters) >= FIELDS[name]


def test_curves_have_their_columns() -> None:
    evidence = ht.Labeled([1, 0], [0.9, 0.1])
    for curve, columns in (
        (ht.roc_curve, ("fpr", "tpr", "threshold")),
        (ht.precision_recall_curve, ("precision", "recall", "threshold")),
        (ht.det_curve, ("fpr", "fnr", "threshold")),
        (ht.gain_curve, ("gain", "lift", "threshold")),
        (ht.decision_curve, ("net_benefit", "threshold")),
        (ht.cost_curve, ("expected_cost", "threshold")),
    ):
        made = curve(evidence)
        assert len({len(getattr(made, column)) for column in columns}) == 1
        assert not any(getattr(made, column).flags.writeable for column in columns)


def test_errors_are_value_errors() -> None:
    for name in ("InputError", "NotIdentifiable", "MergeError"):
        assert issubclass(getattr(ht, name), ht.HalftruthError)
    assert issubclass(ht.HalftruthError, ValueError)
    assert issubclass(ht.MissingDependency, ImportError)
    assert issubclass(ht.EmptyClassWarning, UserWarning)


# --- code, stub and dir agree ----------------------------------------------------------------------------


def stub() -> dict[str, str]:
    """Name → module of each import in `__init__.pyi`."""
    tree = ast.parse((ROOT / "__init__.pyi").read_text(encoding="utf-8"))
    assert all(isinstance(node, ast.ImportFrom) for node in tree.body)
    return {
        str(alias.asname): str(node.module)
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def test_code_and_stub_list_the_same_names() -> None:
    homes = {name: f"halftruth.{home}" for name, home in ht._HOMES.items()}
    modules = dict.fromkeys(ht._MODULES, "halftruth")
    assert stub() == homes | modules | {"__version__": "halftruth._version"}


def test_dir_and_all() -> None:
    assert dir(ht) == sorted(ht.__all__)
    assert len(set(ht.__all__)) == len(ht.__all__)
    assert set(ht.__all__) == set(stub())
    assert not {name for name in dir(ht) if name.startswith("_")} - {"__version__"}


@pytest.mark.parametrize("name", ht._HOMES)
def test_a_name_lives_where_it_says(name: str) -> None:
    home = importlib.import_module(f"halftruth.{ht._HOMES[name]}")
    assert getattr(ht, name) is getattr(home, name)
    assert getattr(ht, name) is getattr(ht, name)


def test_unknown_names() -> None:
    with pytest.raises(AttributeError, match=r"module 'halftruth' has no attribute 'auc'"):
        ht.auc  # noqa: B018


def test_version() -> None:
    assert ht.__version__.count(".") == 2


# --- docstrings ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CALLABLE)
def test_every_public_callable_is_documented_by_an_example(name: str) -> None:
    what = getattr(ht, name)
    text = inspect.getdoc(what) or ""
    assert len(text.splitlines()[0]) > 10
    if name in RESULTS or (isinstance(what, type) and issubclass(what, Exception)):
        return
    examples = doctest.DocTestParser().get_examples(text)
    assert any(name in example.source + example.want for example in examples), f"{name} has no example"


@pytest.mark.parametrize("name", [name for name in CALLABLE if inspect.isfunction(getattr(ht, name))])
def test_every_parameter_is_documented(name: str) -> None:
    text = inspect.getdoc(getattr(ht, name)) or ""
    own = [
        p
        for p in parameters(getattr(ht, name))
        if p not in ("*", "evidence", "positive_weight", "unlabeled_weight")
    ]
    missing = [parameter for parameter in own if parameter not in text]
    assert not missing, f"{name} says nothing of {', '.join(missing)}"
