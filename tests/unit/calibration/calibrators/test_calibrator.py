"""Calibrators as objects: settings, storage, cross-fitting, many classes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

import halftruth as ht
from halftruth._errors import InputError
from halftruth.calibration.calibrators import Calibrator, class_wise, cross_calibrate, top_label
from halftruth.calibration.calibrators._calibration_methods import METHODS
from halftruth.evidence import Evidence

RNG = np.random.default_rng(0)
SCORE = RNG.random(600)
LABEL = RNG.random(600) < SCORE**2
EVIDENCE = ht.Labeled(LABEL, SCORE)
EVERY = tuple(METHODS)


def fitted(method: str = "beta", **settings: Any) -> Calibrator:
    return Calibrator(method, **settings).fit(EVIDENCE)


def scores_of(evidence: Evidence) -> dict[str, Any]:
    return {name: getattr(rows, "score") for name, rows in evidence.table.strata.items()}  # noqa: B009


# --- Settings --------------------------------------------------------------------------------------------


def test_manners_of_scikit_learn() -> None:
    first = Calibrator("histogram", n_bins=7).fit(EVIDENCE)
    again = clone(first)
    assert again.get_params() == first.get_params()
    assert not hasattr(again, "curve_")
    assert first.set_params(method="isotonic") is first
    assert first.get_params()["method"] == "isotonic"
    assert repr(Calibrator()) == "Calibrator('beta')"
    assert repr(Calibrator("spline", n_knots=9)) == "Calibrator('spline', n_knots=9)"


def test_scikit_learn_knows_what_is_fitted() -> None:
    first = Calibrator("platt")
    with pytest.raises(NotFittedError, match="Calibrator"):
        check_is_fitted(first)
    check_is_fitted(first.fit(EVIDENCE))
    with pytest.raises(NotFittedError):
        check_is_fitted(clone(first))


def test_scikit_learn_is_not_loaded_for_a_fit() -> None:
    code = (
        "import sys, halftruth as ht\n"
        "ht.Calibrator().fit(ht.Labeled([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4])).predict([0.2])\n"
        "sys.exit('sklearn' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_fit_stays_while_settings_change() -> None:
    found = fitted("beta")
    before = found.predict(SCORE)
    found.set_params(method="platt", scale="score")
    assert (found.predict(SCORE) == before).all()
    again = Calibrator.from_dict(found.to_dict())
    assert again.method == "beta"
    assert (again.predict(SCORE) == before).all()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"method": "betta"}, "`method` must be 'platt' or"),
        ({"n_bins": 0}, "`n_bins` must be a whole number of at least 1, got 0"),
        ({"n_bins": "best"}, "`n_bins` must be 'optimal'"),
        ({"binning": "equal"}, "`binning`"),
        ({"scale": "raw"}, "`scale`"),
        ({"n_knots": 2}, "`n_knots`"),
        ({"variant": "mine"}, "`variant`"),
    ],
)
def test_wrong_settings_are_refused_at_once(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Calibrator(**settings)
    kept = Calibrator()
    with pytest.raises(InputError, match=words):
        kept.set_params(**settings)
    assert kept.get_params() == Calibrator().get_params()


def test_unknown_settings_and_missing_fits_are_named() -> None:
    with pytest.raises(InputError, match="'n_bin'"):
        Calibrator().set_params(n_bin=3)
    for call in (lambda: Calibrator().predict([0.1]), lambda: Calibrator().to_dict()):
        with pytest.raises(InputError, match=r"not fitted. Call fit"):
            call()
    with pytest.raises(InputError, match="evidence alone"):
        Calibrator().fit(SCORE, LABEL)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="Labeled"):
        Calibrator().fit(SCORE)


# --- Predictions -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", EVERY)
def test_predictions_keep_the_shape_and_take_any_container(method: str) -> None:
    found = fitted(method)
    expected = found.predict(SCORE)
    assert expected.dtype == np.float64
    assert ((expected >= 0) & (expected <= 1)).all()
    assert (found.predict(SCORE.tolist()) == expected).all()
    assert (found.predict(pd.Series(SCORE)) == expected).all()
    assert (found.predict(SCORE.reshape(20, 30)) == expected.reshape(20, 30)).all()
    assert found.predict(0.5).shape == ()
    assert found.predict([]).shape == (0,)
    assert found.predict(np.asarray([0.5], dtype=np.float32)).dtype == np.float64


def test_bad_scores_are_refused() -> None:
    found = fitted()
    for bad in ([np.nan], [np.inf], ["a"], np.ones((5, 2))):
        with pytest.raises(InputError, match="`scores`"):
            found.predict(bad)


# --- Storage ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", EVERY)
def test_what_is_loaded_predicts_to_the_bit(method: str, tmp_path: Path) -> None:
    path = tmp_path / "calibrator.json"
    found = fitted(method, n_bins=11)
    found.save(path)
    again = Calibrator.load(path)
    assert again.get_params() == found.get_params()
    assert (again.predict(SCORE) == found.predict(SCORE)).all()
    assert again.to_dict() == found.to_dict() == json.loads(path.read_text())
    assert again.prior_ == found.prior_ == pytest.approx(LABEL.mean())


def test_platt_of_margins_is_stored_too(tmp_path: Path) -> None:
    found = Calibrator("platt", scale="score").fit(ht.Labeled(LABEL, 10 * SCORE - 5))
    found.save(tmp_path / "c.json")
    assert (Calibrator.load(tmp_path / "c.json").predict([-7.0, 9.0]) == found.predict([-7.0, 9.0])).all()


def changed(**changes: Any) -> dict[str, Any]:
    return fitted("isotonic").to_dict() | changes


def beta_with(**changes: Any) -> dict[str, Any]:
    return fitted().to_dict() | {"curve": {"a": 1, "b": 1, "c": 0} | changes}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not a saved calibrator"),
        ("{", "not a saved calibrator"),
        ("[" * 100_000, "not a saved calibrator"),
        ("[]", "not a saved calibrator"),
        ('{"what": "something else"}', "not a saved calibrator"),
        (json.dumps(changed(schema=2)), "schema 2; this halftruth reads schema 1"),
        (json.dumps(changed(curve={})), "damaged"),
        (json.dumps(changed(curve={"score": [0.1, 0.1], "value": [0, 1]})), "`score` must ascend"),
        (json.dumps(changed(curve={"score": [0.1, 0.2], "value": [0, 2]})), r"`value` must lie in \[0, 1\]"),
        (json.dumps(changed(curve={"score": [0.1], "value": [0, 1]})), "one length"),
        (json.dumps(changed(curve={"score": ["x"], "value": [0]})), "damaged"),
        (json.dumps(changed(settings={"method": "magic"})), "damaged"),
        (json.dumps(changed(settings={"metod": "beta"})), "damaged"),
        (json.dumps(changed(settings=None)), "damaged"),
        (json.dumps(changed(prior=None)), "damaged"),
        (json.dumps(changed(schema=True)), "schema True"),
        (json.dumps(changed(schema=1.0)), "schema 1.0"),
        (json.dumps(changed(prior=7)), r"`prior` must lie in \(0, 1\)"),
        (json.dumps(changed(prior=True)), "`prior` must be a number"),
        (json.dumps(changed(notes="abc")), "`notes` must be a list, got str"),
        (json.dumps(changed(notes=[1])), "`notes` must be a str, got int"),
        (json.dumps({k: v for k, v in changed().items() if k != "notes"}), "'notes' is missing"),
        (json.dumps(changed(curve={"score": [0.1, 0.2], "value": [1, 0]})), "`value` must not fall"),
        (json.dumps(changed(curve={"score": [0.1, 10**400], "value": [0, 1]})), "`score` must be numeric"),
        (json.dumps(beta_with(a=10**400)), "`a` must be a number from"),
        (json.dumps(beta_with(a=1e308)), "`a` must be a number from"),
        (json.dumps(beta_with(c=-1e308)), "`c` must be a number from"),
        (json.dumps(beta_with(b=True)), "`b` must be a number from"),
        (json.dumps(beta_with(b="1")), "`b` must be a number from"),
        (json.dumps(fitted().to_dict() | {"curve": {"a": -1, "b": 1, "c": 0}}), "`a` must not be negative"),
        (json.dumps(fitted().to_dict() | {"curve": {"a": float("nan"), "b": 1, "c": 0}}), "`a` must be"),
    ],
)
def test_foreign_and_damaged_files_are_refused(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text(text)
    with pytest.raises(InputError, match=words) as caught:
        Calibrator.load(path)
    assert str(path) in str(caught.value)


def test_files_that_cannot_be_read_or_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no file"):
        Calibrator.load(tmp_path / "absent.json")
    with pytest.raises(InputError, match="cannot be opened"):
        Calibrator.load(tmp_path)
    with pytest.raises(InputError, match="cannot be written"):
        fitted().save(tmp_path / "absent" / "c.json")
    (tmp_path / "c.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not a saved calibrator"):
        Calibrator.load(tmp_path / "c.json")


# --- Cross-fitting ---------------------------------------------------------------------------------------


def kinds() -> dict[str, Any]:
    rng = np.random.default_rng(1)
    known = SCORE[LABEL]
    weight = rng.integers(1, 4, len(SCORE)).astype(float)
    return {
        "labeled": ht.Labeled(LABEL, SCORE, sample_weight=weight),
        "soft": ht.SoftLabeled(SCORE**2, SCORE, sample_weight=weight),
        "unlabeled": ht.PositiveUnlabeled(known, SCORE, prior=(0.2, 0.4), purity=0.95),
        "all": ht.PositiveUnlabeled(known, SCORE, prior=0.5, population="all", positive_weight=weight[LABEL]),
        "estimate": ht.PositiveUnlabeled(
            known, SCORE, prior=ht.PriorEstimate(value=0.3, replicates=[0.29, 0.31])
        ),
        "negatives": ht.PositiveUnlabeled(known[:90], SCORE, negative=SCORE[~LABEL][:80], prior=0.3),
        "propensity": ht.PositiveUnlabeled(known, SCORE, prior=0.3, propensity=0.2 + known / 2),
        "confidence": ht.PositiveConfidence(0.1 + 0.9 * known, known),
    }


@pytest.mark.parametrize("kind", kinds())
def test_cross_fitting_keeps_everything_but_the_scores(kind: str) -> None:
    evidence = kinds()[kind]
    found = cross_calibrate(evidence, "platt", n_folds=3)
    assert type(found) is type(evidence)
    assert found.prior.equals(evidence.prior)
    assert found.purity.equals(evidence.purity)
    assert getattr(found, "population", None) == getattr(evidence, "population", None)
    for name, rows in evidence.table.strata.items():
        new = found.table.strata[name]
        assert new.meaning == rows.meaning
        np.testing.assert_array_equal(new.full_weight(), rows.full_weight())
        np.testing.assert_array_equal(new.value, rows.value)
        # Three curves that rise: the ranks of the rows of each hardly change.
        assert np.corrcoef(new.score, rows.score)[0, 1] > 0.8
        assert not np.array_equal(new.score, rows.score)
    assert found.measure().positives == pytest.approx(evidence.measure().positives)
    assert 0 <= ht.calibration_error(found) <= 1


def test_no_row_is_calibrated_by_itself() -> None:
    """Of distinct scores an isotonic fit to itself is perfect on the classes' extremes; others' is not."""
    rng = np.random.default_rng(0)
    noise = ht.Labeled(rng.random(400) < 0.5, rng.random(400))
    inside = Calibrator("isotonic").fit(noise)
    rows = scores_of(noise)
    own = ht.Labeled(
        [1] * len(rows["positive"]) + [0] * len(rows["negative"]),
        inside.predict(np.concatenate([rows["positive"], rows["negative"]])),
    )
    assert ht.log_loss(own) < np.log(2)
    assert ht.log_loss(cross_calibrate(noise, "isotonic")) > np.log(2)


def test_folds_by_definition() -> None:
    """With the fit of a histogram of one bin, a held-out row gets the share of positives among the others."""
    evidence = ht.Labeled([1, 1, 1, 0, 0, 0, 0, 0, 0], np.arange(9) / 10)
    found = cross_calibrate(evidence, Calibrator("histogram", n_bins=1), n_folds=3)
    for score in scores_of(found).values():
        np.testing.assert_allclose(score, 2 / 6)


def test_cross_fitting_follows_its_seed() -> None:
    one, same, other = (scores_of(cross_calibrate(EVIDENCE, rng=seed)) for seed in (1, 1, 2))
    assert np.array_equal(one["positive"], same["positive"])
    assert not np.array_equal(one["positive"], other["positive"])


def test_cross_fitting_refuses_what_it_cannot_do() -> None:
    with pytest.raises(InputError, match="`n_folds`"):
        cross_calibrate(EVIDENCE, n_folds=1)
    with pytest.raises(InputError, match="at least 2 positive rows, got 1"):
        cross_calibrate(ht.Labeled([1, 0, 0], [0.3, 0.2, 0.1]))
    with pytest.raises(InputError, match="ScoreMeasure"):
        cross_calibrate(EVIDENCE.measure())  # type: ignore[type-var]
    with pytest.raises(InputError, match="`calibrator`"):
        cross_calibrate(EVIDENCE, 3)
    with pytest.raises(InputError, match="`method`"):
        cross_calibrate(EVIDENCE, "betta")


# --- Many classes ----------------------------------------------------------------------------------------


def test_the_top_class_and_each_class() -> None:
    rng = np.random.default_rng(0)
    table = rng.dirichlet([1, 1, 1, 1], 500)
    y = rng.integers(0, 4, 500)
    weight = rng.random(500) + 0.5
    top = top_label(table, y, sample_weight=weight)
    assert ht.prevalence(top) == pytest.approx(np.average(table.argmax(axis=1) == y, weights=weight))
    np.testing.assert_array_equal(np.unique(top.measure().score), np.unique(table.max(axis=1)))
    each = class_wise(table, y)
    assert list(each) == [0, 1, 2, 3]
    for k, evidence in each.items():
        brier = np.mean((table[:, k] - (y == k)) ** 2)
        assert ht.brier(evidence) == pytest.approx(brier)


@pytest.mark.parametrize("helper", [top_label, class_wise])
def test_bad_classes_are_refused(helper: Any) -> None:
    table = [[0.5, 0.5], [0.2, 0.8]]
    for y in ([0, 2], [0, -1], [0, 0.5]):
        with pytest.raises(InputError, match="`y` must hold columns"):
            helper(table, y)
    with pytest.raises(InputError, match="length"):
        helper(table, [0])
    for bad in ([0.5, 0.5], [[0.5], [0.2]]):
        with pytest.raises(InputError, match="`probabilities` must have one row"):
            helper(bad, [0, 1])
    with pytest.raises(InputError, match=r"\[0, 1\]"):
        helper([[1.5, -0.5], [0.2, 0.8]], [0, 1])
