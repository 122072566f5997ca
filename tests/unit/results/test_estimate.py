"""Results: an Estimate as a number and as an interval, an Evaluation as text, HTML, frame and JSON."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

import halftruth as ht
from halftruth.simulate import GaussianClasses

MODEL = GaussianClasses(prior=0.3)
EVIDENCE = MODEL.positive_unlabeled(200, 1000, rng=0)
RESULT = ht.evaluate(EVIDENCE, threshold=0.5, n_resamples=400)
UNKNOWN = ht.evaluate(MODEL.positive_unlabeled(200, 1000, rng=0, prior=None), threshold=0.5, n_resamples=50)
METHODS = ("percentile", "basic", "normal", "bias-corrected")


def skewed(method: str = "percentile") -> ht.Estimate:
    """Ninety-nine replicates 1, …, 99 of a value 40: quantiles are whole numbers."""
    draws = np.arange(1.0, 100.0)
    return ht.Estimate(
        value=40.0, low=0.0, high=0.0, method=method, replicates=draws, centers=np.array([40.0])
    )


# --- Estimate -----------------------------------------------------------------------------------------


def test_an_estimate_is_a_number() -> None:
    row = RESULT["roc_auc"]
    assert float(row) == row.value == ht.roc_auc(EVIDENCE)
    assert f"{float(row):.3f}" in repr(row)


def test_fields_of_an_estimate() -> None:
    row = RESULT["roc_auc"]
    names = (
        "value",
        "low",
        "high",
        "naive",
        "confidence_level",
        "method",
        "notes",
        "replicates",
        "reference",
        "bound",
    )
    assert all(hasattr(row, name) for name in names)
    assert (row.confidence_level, row.reference, row.bound) == (0.95, None, None)
    with pytest.raises(dataclasses.FrozenInstanceError):
        row.value = 1.0  # type: ignore[misc]


def test_replicates_are_read_only() -> None:
    replicates = ht.evaluate(EVIDENCE, "brier", n_resamples=5)["brier"].replicates
    assert replicates is not None
    with pytest.raises(ValueError, match="read-only"):
        replicates[0] = 0.0


# Of 99 draws the 5% and 95% quantiles are 5 and 95.
def test_percentile() -> None:
    assert skewed().interval(0.9) == pytest.approx((5, 95))


def test_basic_is_the_percentile_mirrored() -> None:
    assert skewed("basic").interval(0.9) == pytest.approx((2 * 40 - 95, 2 * 40 - 5))


def test_normal() -> None:
    half = norm.ppf(0.95) * np.std(np.arange(1, 100), ddof=1)
    assert skewed("normal").interval(0.9) == pytest.approx((40 - half, 40 + half))


def test_bias_corrected() -> None:
    # Of the draws 39 lie below the value and one on it: z₀ = Φ⁻¹(39.5/99), tails Φ(2 z₀ ± 1.645).
    tails = norm.cdf(2 * norm.ppf(39.5 / 99) + norm.ppf([0.05, 0.95]))
    assert skewed("bias-corrected").interval(0.9) == pytest.approx(tuple(100 * tails))


@pytest.mark.parametrize("method", METHODS)
def test_every_method_at_every_level(method: str) -> None:
    row = RESULT["f1"]
    levels = [row.interval(level, method) for level in (0.5, 0.8, 0.95)]
    assert levels[0][0] > levels[1][0] > levels[2][0]
    assert levels[0][1] < levels[1][1] < levels[2][1]
    asked = ht.evaluate(
        EVIDENCE, ["f1"], threshold=0.5, n_resamples=400, method=method, confidence_level=0.8
    )["f1"]
    assert (asked.low, asked.high) == levels[1]
    assert (asked.method, asked.confidence_level) == (method, 0.8)
    assert asked.interval(0.8) == levels[1]


def test_the_estimates_own_interval() -> None:
    for row in RESULT.values():
        assert row.interval(0.95) == (row.low, row.high)


def test_over_several_priors_an_interval_is_their_union() -> None:
    draws = np.stack([np.arange(1.0, 100.0), np.arange(101.0, 200.0)])
    row = ht.Estimate(
        value=90, low=0, high=0, method="percentile", replicates=draws, centers=np.array([50.0, 150])
    )
    assert row.interval(0.9) == pytest.approx((5, 195))


def test_undefined_replicates_are_left_out() -> None:
    draws = np.concatenate([np.arange(1.0, 100.0), [np.nan] * 7])
    row = dataclasses.replace(skewed(), replicates=draws)
    assert row.interval(0.9) == pytest.approx((5, 95))
    assert np.isnan(dataclasses.replace(row, replicates=draws[-3:]).interval(0.9)).all()


def test_bad_intervals() -> None:
    with pytest.raises(ht.InputError, match=r"`confidence_level` must lie in \(0, 1\), got 95\. Pass 0\.95"):
        RESULT["f1"].interval(95)
    with pytest.raises(ht.InputError, match=r"`method` must be 'percentile' or .*got 'bca'"):
        RESULT["f1"].interval(0.95, "bca")


# --- Evaluation ---------------------------------------------------------------------------------------


def test_an_evaluation_is_a_mapping() -> None:
    assert len(RESULT) == 12
    assert "roc_auc" in RESULT
    assert "auc" not in RESULT
    assert dict(RESULT)["brier"] is RESULT["brier"]
    with pytest.raises(KeyError, match=r"'auc': this evaluation has prevalence, roc_auc"):
        RESULT["auc"]


def test_text() -> None:
    text = str(RESULT)
    assert repr(RESULT) == text
    lines = text.splitlines()
    assert lines[0] == "PositiveUnlabeled(200 positive, 1000 unlabeled); threshold 0.5"
    assert lines[1] == "π = 0.300 positive in the population; α = 0.300 among the unlabeled"
    assert lines[3].split() == ["metric", "naive", "halftruth", "95%", "interval"]
    row = RESULT["roc_auc"]
    shown = next(line for line in lines if line.startswith("roc_auc"))
    assert shown.split() == [
        "roc_auc",
        f"{row.naive:.3f}",
        f"{row.value:.3f}",
        f"{row.low:.3f}",
        "to",
        f"{row.high:.3f}",
    ]
    assert "Note: Assumes that the known positives are a random sample" in text
    assert len({len(line) for line in lines[3:17]}) == 1  # columns line up


def test_undefined_numbers_are_dashes() -> None:
    shown = next(line for line in str(UNKNOWN).splitlines() if line.startswith("roc_auc"))
    assert shown.split()[2] == "–"
    assert "nan" not in str(UNKNOWN)
    assert "nan" not in UNKNOWN._repr_html_()


def test_the_level_is_in_the_head() -> None:
    assert "80% interval" in str(ht.evaluate(EVIDENCE, "brier", n_resamples=20, confidence_level=0.8))


def test_html_is_escaped() -> None:
    rows = {"<b>&": "roc_auc", "<script>": lambda measure: 0.5}
    html = ht.evaluate(EVIDENCE, rows, n_resamples=20)._repr_html_()
    assert ">&lt;b&gt;&amp;</th>" in html
    assert "<script>" not in html
    assert html.count("<tr") == html.count("</tr>") == 3


def test_html_says_what_the_text_says() -> None:
    html = RESULT._repr_html_()
    for part in ("π = 0.300", "α = 0.300", "threshold 0.5", "95% interval", *RESULT, *RESULT.notes):
        assert part in html


def test_frame() -> None:
    frame = RESULT.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.index) == list(RESULT)
    assert list(frame.columns) == ["value", "low", "high", "naive", "method", "status"]
    assert frame.loc["roc_auc", "value"] == float(RESULT["roc_auc"])
    assert frame["low"].dtype == float


def test_frame_without_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "pandas", None)
    assert RESULT.to_frame()["metric"].to_list() == list(RESULT)
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ht.MissingDependency, match=r"needs pandas or polars: pip install pandas\. to_dict"):
        RESULT.to_frame()


def finite_or_none(tree: Any) -> bool:
    if isinstance(tree, dict):
        return all(isinstance(key, str) and finite_or_none(value) for key, value in tree.items())
    if isinstance(tree, list):
        return all(map(finite_or_none, tree))
    return tree is None or type(tree) in (str, int, bool) or (type(tree) is float and np.isfinite(tree))


@pytest.mark.parametrize("result", [RESULT, UNKNOWN], ids=["known", "unknown"])
def test_dict_is_json_and_versioned(result: ht.Evaluation) -> None:
    out = result.to_dict()
    assert finite_or_none(out)
    assert json.loads(json.dumps(out, allow_nan=False)) == out
    assert out["schema"] == 1
    assert list(out["metrics"]) == list(result)
    assert (out["threshold"], out["notes"]) == (0.5, list(result.notes))
    assert out["note_kinds"] == [note.kind for note in result.notes]
    assert set(out["metrics"]["roc_auc"]) >= {
        "value",
        "low",
        "high",
        "naive",
        "confidence_level",
        "method",
        "notes",
    }
    assert out["prior"]["high"] == pytest.approx(result.prior.high)
    assert out["alpha"]["high"] == pytest.approx(result.alpha.high if result.alpha else None)


def test_dict_of_undefined_numbers() -> None:
    out = UNKNOWN.to_dict()
    assert out["metrics"]["roc_auc"]["value"] is None
    assert out["metrics"]["roc_auc"]["low"] is not None
    assert ht.evaluate(MODEL.labeled(50, rng=0), n_resamples=0).to_dict()["alpha"] is None


def test_dict_of_numpy_threshold() -> None:
    out = ht.evaluate(EVIDENCE, "recall", threshold=np.float32(0.5), n_resamples=0).to_dict()
    assert finite_or_none(out)
