"""Real networks' scores, piled up at 0 and 1: through a file, a histogram and closed-form intervals."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, brier_score_loss, roc_auc_score

import halftruth as ht

NAMES = ("roc_auc", "average_precision", "brier", "log_loss", "calibration_error")


@pytest.fixture(scope="module")
def scores(data_dir):
    """Class 3 against the rest, of a ResNet-110 on CIFAR-10: probabilities and labels."""
    with np.load(data_dir / "resnet110_c10_logits.npz", allow_pickle=False) as file:
        logits, labels = file["test_logits"].astype(float), file["test_labels"]
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    return (odds / odds.sum(axis=1, keepdims=True))[:, 3], labels == 3


def test_the_scores_pile_up(scores):
    score, _ = scores
    assert np.mean(score < 1e-6) > 0.3
    assert np.mean(score > 1 - 1e-3) > 0.05


def test_a_histogram_of_real_scores_is_within_its_bounds(scores):
    score, y = scores
    exact = ht.evaluate(ht.Labeled(y, score), NAMES, n_resamples=0)
    table = ht.Labeled(y, score).table.compress()
    binned = ht.evaluate(ht.Labeled.from_table(table), NAMES, n_resamples=0)
    for name in NAMES:
        assert abs(binned[name].value - exact[name].value) <= binned[name].compression
    assert binned["roc_auc"].value == pytest.approx(exact["roc_auc"].value, abs=1e-5)
    assert binned["roc_auc"].compression < 1e-4
    even = np.floor(score * 65_536)  # equal steps lose what is piled up
    assert abs(ht.roc_auc(ht.Labeled(y, even)) - exact["roc_auc"].value) > 1e-4


def test_a_file_of_real_scores_gives_scikit_learns_numbers(scores, tmp_path):
    score, y = scores
    path = tmp_path / "scores.csv"
    rows = "\n".join(f"{s!r},{int(label)}" for s, label in zip(score.tolist(), y, strict=True))
    path.write_text(f"score,label\n{rows}\n")
    evidence = ht.Labeled.from_table(ht.ScoreTable.from_file(path))
    assert ht.roc_auc(evidence) == pytest.approx(roc_auc_score(y, score), rel=1e-12)
    assert ht.average_precision(evidence) == pytest.approx(average_precision_score(y, score), rel=1e-12)
    assert ht.brier(evidence) == pytest.approx(brier_score_loss(y, score), rel=1e-12)


def test_closed_form_and_bootstrap_agree_on_real_scores(scores):
    score, y = scores
    rng = np.random.default_rng(0)
    known = np.where(y & (rng.random(len(y)) < 0.5), 1.0, np.nan)
    for evidence in (
        ht.Labeled(y, score),
        ht.PositiveUnlabeled.from_labels(known, score, prior=float(y.mean())),
    ):
        names = [*NAMES[:4], "precision", "recall", "f1"]
        drawn, closed = (ht.evaluate(evidence, names, threshold=0.5, n_resamples=n) for n in (4000, 0))
        for name in names:
            widths = [r[name].high - r[name].low for r in (drawn, closed)]
            # Widths from 4,000 draws are known to about 2%.
            assert widths[1] == pytest.approx(widths[0], rel=0.1), name
