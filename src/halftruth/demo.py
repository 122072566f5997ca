"""The demo: hide most labels of a real data set, evaluate on what is left, then reveal the truth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from halftruth import _storage
from halftruth.evaluation._evaluate import evaluate
from halftruth.evidence import Labeled, PositiveUnlabeled
from halftruth.results._estimate import Evaluation, figure, interval_text

ROWS = ("roc_auc", "average_precision", "precision", "recall", "f1", "mcc", "brier")
KNOWN_SHARE = 0.3
THRESHOLD = 0.5
TITLE = "Odd digits, three in ten of them labeled"


def odd_digits(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(scores, known, odd): out-of-fold scores of a model that saw a share of the positives.

    The data ship with scikit-learn: 1,797 images of handwritten digits, the odd ones positive. A random
    30% of those are labeled; the model learns them against all the rest.
    """
    from sklearn.datasets import load_digits
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    data: Any = load_digits()
    odd = data.target % 2 == 1
    rng = np.random.default_rng(seed)
    known = odd & (rng.random(len(odd)) < KNOWN_SHARE)
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.01))
    labeled = cross_val_predict(model, data.data, known, cv=5, method="predict_proba")[:, 1]
    # Elkan & Noto: P(labeled | x) over the share of positives that are labeled is P(positive | x).
    return np.minimum(labeled / labeled[known].mean(), 1.0), known, odd


def run(seed: int = 0) -> tuple[Evaluation, Evaluation]:
    """What halftruth says from the known positives alone, and the truth."""
    return _evaluated(*odd_digits(seed))


def _evaluated(score: np.ndarray, known: np.ndarray, odd: np.ndarray) -> tuple[Evaluation, Evaluation]:
    evidence = PositiveUnlabeled.from_labels(known.astype(float), score, unlabeled=0, prior=float(odd.mean()))
    estimated = evaluate(evidence, ROWS, threshold=THRESHOLD)
    truth = evaluate(Labeled(odd, score), ROWS, threshold=THRESHOLD, n_resamples=0)
    return estimated, truth


def save(path: str | Path, seed: int = 0) -> None:
    """Write the scores and labels of the demo to a CSV file, the hidden truth beside them."""
    _save(path, *odd_digits(seed))


def _save(path: str | Path, score: np.ndarray, known: np.ndarray, odd: np.ndarray) -> None:
    lines = ["score,label,truth"]
    lines += [f"{s!r},{1 if k else ''},{int(t)}" for s, k, t in zip(score.tolist(), known, odd, strict=True)]
    _storage.write(path, "\n".join(lines) + "\n")


def table(estimated: Evaluation, truth: Evaluation) -> str:
    """Naive, halftruth with its interval, and the truth, one metric a line."""
    lines = [("metric", "naive", "halftruth", "95% interval", "truth")]
    lines += [
        (
            name,
            figure(estimated[name].naive),
            figure(estimated[name].value),
            interval_text(estimated[name]),
            figure(truth[name].value),
        )
        for name in ROWS
    ]
    widths = [max(len(line[i]) for line in lines) for i in range(5)]
    text = ["  ".join(f"{cell:>{w}}" for cell, w in zip(line, widths, strict=True)) for line in lines]
    return "\n".join([text[0], "-" * len(text[0]), *text[1:]])


def main(html: str | Path | None = None, csv: str | Path | None = None) -> None:
    """Print the demo; where places are given, write its report, and its scores and labels, there."""
    rows = odd_digits(seed=0)
    estimated, truth = _evaluated(*rows)
    if csv is not None:
        _save(csv, *rows)
    print("Handwritten digits of scikit-learn: 1,797 images, the odd digits are the positives.")
    print(f"Only {KNOWN_SHARE:.0%} of the positives are labeled; every other image is unlabeled.")
    print("A classifier learns the labeled against the unlabeled; its scores are out of fold.\n")
    print(f"{estimated.evidence}, prior π = {figure(estimated.prior.value)}, threshold {THRESHOLD:g}\n")
    print(table(estimated, truth))
    print()
    for note in estimated.notes:
        print(f"Note: {note}")
    if html is not None:
        estimated.to_html(html, title=TITLE)
        print(f"\nReport: {Path(html).resolve()}")
