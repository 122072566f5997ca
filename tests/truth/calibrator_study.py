"""Calibrators fitted on positives and unlabeled of real sets, against the same fitted on full labels.

`test_calibrators_real.py` holds it to account. Run this file for the table alone.
"""

from __future__ import annotations

import argparse
import functools
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import halftruth as ht

METHODS = ("platt", "temperature", "beta", "isotonic", "histogram", "spline", "bpm", "mix-n-match")
N_POSITIVE, N_UNLABELED = 2000, 20_000
FITS = ("labels", "prior known", "prior estimated")


@dataclass(frozen=True)
class Setting:
    """A data set, what its classifier is trained on, and how many rows are kept for the test."""

    data: str
    classifier: str
    train_positive: int
    train_unlabeled: int
    n_test: int


SETTINGS = {
    "adult": Setting("adult", "logistic", 500, 2400, 15_000),
    "covtype": Setting("covtype_sub", "trees", 2000, 20_000, 30_000),
}


@dataclass(frozen=True)
class Split:
    """Scores of disjoint rows: known positives, unlabeled with their hidden labels, and test rows."""

    positive: np.ndarray
    unlabeled: np.ndarray
    y_unlabeled: np.ndarray
    test: np.ndarray
    y_test: np.ndarray
    prior: float


@functools.cache
def data_of(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    with np.load(folder / f"{name}.npz", allow_pickle=False) as file:
        return file["X"].astype(np.float32), file["y"] == 1


def _classifier(kind: str, seed: int) -> Any:
    if kind == "trees":
        from sklearn.ensemble import HistGradientBoostingClassifier

        return HistGradientBoostingClassifier(max_iter=60, early_stopping=False, random_state=seed)
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression(C=0.01, max_iter=300))


def rows_of(folder: Path, setting: Setting, seed: int) -> dict[str, np.ndarray]:
    """Disjoint rows: test, unlabeled and training-unlabeled are random samples, positives of the rest."""
    _, y = data_of(folder, setting.data)
    rng = np.random.default_rng([60, *setting.data.encode(), seed])
    sizes = (setting.n_test, N_UNLABELED, setting.train_unlabeled)
    test, unlabeled, train, rest = np.split(rng.permutation(len(y)), np.cumsum(sizes))
    known = rest[y[rest]][: N_POSITIVE + setting.train_positive]
    assert len(known) == N_POSITIVE + setting.train_positive
    positive, train_positive = np.split(known, [N_POSITIVE])
    return {
        "test": test,
        "unlabeled": unlabeled,
        "train": train,
        "positive": positive,
        "train_positive": train_positive,
    }


def split(folder: Path, setting: Setting, seed: int) -> Split:
    """Trained as if no unlabeled row were positive: the score is the probability of being a known one."""
    x, y = data_of(folder, setting.data)
    rows = rows_of(folder, setting, seed)
    trained = np.concatenate([rows["train_positive"], rows["train"]])
    is_known = np.arange(len(trained)) < setting.train_positive
    model = _classifier(setting.classifier, seed).fit(x[trained], is_known)
    score = {
        k: model.predict_proba(x[rows[k]])[:, 1].astype(float) for k in ("positive", "unlabeled", "test")
    }
    return Split(
        positive=score["positive"],
        unlabeled=score["unlabeled"],
        y_unlabeled=y[rows["unlabeled"]],
        test=score["test"],
        y_test=y[rows["test"]],
        prior=float(y.mean()),
    )


def error(y: np.ndarray, score: np.ndarray) -> float:
    return float(ht.calibration_error(ht.Labeled(y, score), debias=True))


def evidences(data: Split, *, estimate: bool) -> dict[str, Any]:
    """By the names of `FITS`: the labels of the unlabeled rows alone, or both samples with a prior."""
    out: dict[str, Any] = {
        "labels": ht.Labeled(data.y_unlabeled, data.unlabeled),
        "prior known": ht.PositiveUnlabeled(data.positive, data.unlabeled, prior=data.prior),
    }
    if estimate:
        prior = ht.estimate_prior(data.positive, data.unlabeled, n_resamples=20)
        out["prior estimated"] = ht.PositiveUnlabeled(data.positive, data.unlabeled, prior=prior.value)
    return out


def errors(data: Split, *, estimate: bool = False) -> np.ndarray:
    """(1 + number of fits, n_methods): test errors before, and after each fit."""
    out = [np.full(len(METHODS), error(data.y_test, data.test))]
    for evidence in evidences(data, estimate=estimate).values():
        fitted = [ht.Calibrator(method).fit(evidence) for method in METHODS]
        out.append(np.asarray([error(data.y_test, each.predict(data.test)) for each in fitted]))
    return np.stack(out)


def study(folder: Path, name: str, n_splits: int, *, estimate: bool = False) -> np.ndarray:
    """(n_splits, 1 + number of fits, n_methods)."""
    return np.stack(
        [errors(split(folder, SETTINGS[name], seed), estimate=estimate) for seed in range(n_splits)]
    )


def shares(found: np.ndarray, fit: int = 2) -> np.ndarray:
    """(n_splits, n_methods): the reduction that a fit reaches ÷ the one that labels reach."""
    return np.asarray((found[:, 0] - found[:, fit]) / (found[:, 0] - found[:, 1]))


def means(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean over splits and its standard error."""
    n = len(values)
    spread = values.std(axis=0, ddof=1) if n > 1 else np.full(values.shape[1:], np.nan)
    return values.mean(axis=0), spread / np.sqrt(n)


def report(results: Mapping[str, np.ndarray]) -> str:
    lines = []
    for name, found in results.items():
        fits = FITS[: found.shape[1] - 1]
        before = means(found[:, 0, 0])[0]
        lines.append(f"{name}: {len(found)} splits, error before {before:.4f}")
        lines.append(f"{'':12}" + "".join(f"{fit:>18}" for fit in fits) + "  share of the reduction")
        mean, se = means(found)
        of = [means(shares(found, k)) for k in range(2, len(fits) + 1)]
        for m, method in enumerate(METHODS):
            cells = "".join(f"{mean[k, m]:10.4f} ±{se[k, m]:.4f}" for k in range(1, len(fits) + 1))
            lines.append(f"{method:12}{cells}" + "".join(f"  {s[m]:.3f} ±{e[m]:.3f}" for s, e in of))
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--estimate", action="store_true")
    given = parser.parse_args()
    data = Path(os.environ["HALFTRUTH_DATA"])
    for name in SETTINGS:
        found = study(data, name, given.splits, estimate=given.estimate)
        sys.stdout.write(report({name: found}) + "\n")
