"""Rows in the order of their classes, scored in folds that nobody shuffled."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import KFold, cross_val_score

import halftruth as ht

from .story_files import StoryFile, classifier, handwritten_digits
from .told import Told

FEW = ["--metrics", "roc_auc", "--n-resamples", "200"]
FOLDS = ["1", "2", "3", "4", "5"]
LATE = FOLDS[2:]  # with hardly an unlabeled positive


@pytest.fixture(scope="module")
def in_order(data_dir: Path) -> tuple[Any, StoryFile]:
    return handwritten_digits(data_dir, sorted_by_class=True)


@pytest.fixture(scope="module")
def mixed(data_dir: Path) -> tuple[Any, StoryFile]:
    return handwritten_digits(data_dir, sorted_by_class=False)


def fold_scores(X: Any, file: StoryFile, **options: Any) -> tuple[Any, list[str]]:
    """The AUC of each fold by a corrected scorer, and the warnings."""
    known = np.nan_to_num(file.frame["label"]).astype(int)
    scorer = ht.make_scorer("roc_auc", prior=file.prior, unlabeled=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        auc = cross_val_score(classifier(), X, known, scoring=scorer, error_score="raise", **options)
    return auc, [str(one.message) for one in caught]


def test_the_scorer_warns_in_every_fold_that_refutes_the_prior(in_order: Any, mixed: Any) -> None:
    auc, warned = fold_scores(*in_order)
    assert len(warned) == len(LATE)
    assert all("The prior is refuted by the data" in text and "shuffle the folds" in text for text in warned)
    assert (abs(auc - in_order[1].auc) > 0.1).all()
    assert (auc[2:] > 1).all()
    # The same rows in the order in which they came.
    auc, warned = fold_scores(*mixed)
    assert warned == []
    assert (abs(auc - mixed[1].auc) < 0.06).all()


def test_the_scorer_refuses_a_fold_without_a_known_positive(in_order: Any) -> None:
    with pytest.raises(ht.InputError, match="has no positive row"):
        fold_scores(*in_order, cv=KFold(5))


def test_a_file_of_such_scores_is_refuted_fold_by_fold(
    in_order: Any, told: Callable[..., Told], tmp_path: Path, run: Any
) -> None:
    _, file = in_order
    path, prior = file.write(tmp_path / "folds.parquet"), f"{file.prior:.4f}"
    args = ["evaluate", path, "--by", "fold", *FEW, "--prior", prior]
    result = told(*args)
    assert result.status == 0
    for fold in LATE:
        result.says_everywhere("refuted", "The prior is refuted by the data", "fold", fold)
    # What the other folds show is wrong, cannot be seen in them, and is said of them all.
    for fold in FOLDS[:2]:
        assert file.rows("fold", int(fold)).prior > 0.99
        assert result.group(fold)["status"] == "ok"
    doubt = "The data refute the prior or the purity in fold = '3', '4', '5'."
    for text in (*result.texts.values(), *result.json["notes"][1:], *result.notes.values()):
        assert doubt in text
        assert "do not rely on theirs either" in text
    assert {row["prior_source"] for row in result.csv} == {"one for every fold"}
    assert run(*args, "--strict")[0] == 3
    status, _, err = run(*args, "--require", "roc_auc>=0.1")
    assert (status, "fold = 3: roc_auc>=0.1: the data refute what was given" in err) == (3, True)


def test_shuffled_folds_end_with_the_right_number(
    mixed: Any, told: Callable[..., Told], tmp_path: Path
) -> None:
    _, file = mixed
    path, prior = file.write(tmp_path / "folds.csv"), f"{file.prior:.4f}"
    whole = told("evaluate", path, *FEW, "--prior", prior, "--strict")
    assert whole.status == 0
    whole.nothing_is_wrong()
    low, high = whole.interval("roc_auc")
    assert low < file.auc < high
    assert whole.json["metrics"]["roc_auc"]["naive"] < low
    parts = told("evaluate", path, *FEW, "--by", "fold", "--prior", prior)
    parts.nothing_is_wrong()
    for fold in FOLDS:
        low, high = parts.interval("roc_auc", "fold", fold)
        assert low < file.rows("fold", int(fold)).auc < high


def test_evidence_from_a_number_of_folds_shuffles_them(in_order: Any) -> None:
    X, file = in_order
    evidence = ht.cross_val_evidence(classifier(), X, file.frame["label"], prior=file.prior)
    auc = ht.evaluate(evidence, ["roc_auc"], n_resamples=200)["roc_auc"]
    assert auc.low < file.auc < auc.high


def test_a_pooled_file_of_such_scores_says_what_it_cannot_notice(
    in_order: Any, told: Callable[..., Told], tmp_path: Path
) -> None:
    """Known positives score too low here: the interval misses the truth, on a condition that is named."""
    _, file = in_order
    result = told("evaluate", file.write(tmp_path / "folds.csv"), *FEW, "--prior", f"{file.prior:.4f}")
    result.nothing_is_wrong()
    assert result.interval("roc_auc")[1] < file.auc
    for text in (result.page, " ".join(result.json["notes"]), *result.notes.values()):
        assert "cannot show known positives that score too low" in text
