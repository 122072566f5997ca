"""The study of reviews compares like with like, and writes a page whoever is installed."""

import numpy as np
import pytest
from scipy.stats import norm

from tools import review_coverage, review_methods, review_study


@pytest.mark.parametrize("with_known", [False, True])
def test_estimators_given_to_ppboot_are_those_of_scikit_learn(with_known):
    rng = np.random.default_rng(0)
    y, score = review_coverage.population(rng, 0.2, 3_000)
    known = y & (rng.random(3_000) < 0.3 * with_known)
    rest = np.flatnonzero(~known)
    rows = rng.choice(rest, 300, replace=True)  # a resample has ties
    rank = np.argsort(np.argsort(-score))
    weight = np.repeat([1.0, len(rest) / 300], [known.sum(), 300])
    chosen = np.concatenate([np.flatnonzero(known), rows])
    expected = review_methods.metrics_of(y[chosen], score[chosen], 0.3, weight)
    for name, value in expected.items():
        estimator = review_methods._estimator(name, int((score >= 0.3).sum()), 3_000, rank[known], len(rest))
        assert estimator(rank[rows], y[rows].astype(float)) == pytest.approx(value, abs=1e-12)


def test_the_page_is_written_without_the_peers(tmp_path, monkeypatch):
    monkeypatch.setattr(review_study, "ABSENT", set(review_methods.PEERS))
    monkeypatch.setattr(review_methods, "N", 5_000)
    monkeypatch.setattr(review_study, "CELLS", review_coverage.CELLS[::7])
    out = tmp_path / "page.md"
    review_study.main(["--draws", "2", "--interval-draws", "1", "--out", str(out)])
    text = out.read_text(encoding="utf-8")
    assert "| oasis (absent) | – | – | – | – | – |" in text
    assert text.count("| halftruth, one plan |") == 10
    assert text.count("| planned | ") == 3


@pytest.mark.parametrize("prior", [0.005, 0.2])
def test_the_truth_of_the_populations_is_that_of_the_normal_laws(prior):
    threshold, true = review_coverage.truth(prior, 0.4)
    cut = (np.log(threshold ** (1 / 0.4) / (1 - threshold ** (1 / 0.4)) * (1 - prior) / prior) + 2) / 2
    recall, fpr = norm.sf(cut - 2), norm.sf(cut)
    assert prior * recall + (1 - prior) * fpr == pytest.approx(prior, rel=2e-3)  # a step of the grid
    expected = {
        "prevalence": prior,
        "roc_auc": norm.cdf(np.sqrt(2)),
        "recall": recall,
        "fpr": fpr,
        "precision": prior * recall / (prior * recall + (1 - prior) * fpr),
    }
    for name, value in expected.items():
        assert true[name] == pytest.approx(value, rel=1e-3)


def test_draws_without_an_interval_are_left_out_of_coverage():
    ends = np.array([[[0.1, 0.3, 0.2]], [[0.3, 0.4, 0.2]], [[np.nan, np.nan, 0.2]]])
    assert review_coverage.coverage(ends).tolist() == [0.5]
