"""The study of the intervals: its truths are those of large samples, its rivals are the published ones."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics
from tools.interval_study.__main__ import main
from tools.interval_study.cells import KINDS, Cell, all_cells
from tools.interval_study.coverage import BUDGETS, METRICS, Outcome, Tally, run
from tools.interval_study.laws import MAX_FPR, SHAPES, Population
from tools.interval_study.page import is_short, width_ratio
from tools.interval_study.rivals import clopper_pearson, delong, jeffreys, newcombe, rate_counts, wilson

import halftruth as ht


def in_sample(law, n, rng):
    """Every metric of a sample, by scikit-learn or by counting."""
    y = rng.random(n) < law.prior
    score = law.score(law.draw(y, rng))
    called = score >= law.threshold
    false, true, _ = metrics.roc_curve(y, score, drop_intermediate=False)
    # Cases of one score share what is left of the budget.
    values, where = np.unique(-score, return_inverse=True)
    positives, cases = (np.cumsum(np.bincount(where, weight)) for weight in (y, np.ones(n)))
    hits = np.interp(law.prior * n, [0, *cases], [0, *positives])
    assert len(values) == 5 or law.shape != "tied"
    return {
        "prevalence": y.mean(),
        "roc_auc": metrics.roc_auc_score(y, score),
        "average_precision": metrics.average_precision_score(y, score),
        "brier": metrics.brier_score_loss(y, score),
        "log_loss": metrics.log_loss(y, score),
        "precision": metrics.precision_score(y, called),
        "recall": metrics.recall_score(y, called),
        "fpr": called[~y].mean(),
        "f1": metrics.f1_score(y, called),
        "mcc": metrics.matthews_corrcoef(y, called),
        "accuracy": (called == y).mean(),
        "precision_at_k": hits / (law.prior * n),
        "recall_at_k": hits / y.sum(),
        "recall_at_fpr": np.interp(MAX_FPR, false, true),
    }


@pytest.mark.parametrize("auc", [0.75, 0.999])
@pytest.mark.parametrize("shape", SHAPES)
def test_truths_are_those_of_a_large_sample(shape, auc):
    law, rng = Population(shape, 0.2, auc), np.random.default_rng(5)
    blocks = [in_sample(law, 30_000, rng) for _ in range(10)]
    assert set(law.truth) == set(METRICS)
    assert law.truth["roc_auc"] == pytest.approx(auc, abs=1e-9)
    for name, truth in law.truth.items():
        values = [block[name] for block in blocks]
        error = np.std(values, ddof=1) / np.sqrt(len(values))
        assert abs(np.mean(values) - truth) < 5 * error, name


def test_the_threshold_flags_as_many_as_there_are_positives():
    for prior in (0.005, 0.3):
        law = Population("normal", prior, 0.95)
        rng = np.random.default_rng(1)
        score = law.score(law.draw(rng.random(200_000) < prior, rng))
        assert np.mean(score >= law.threshold) == pytest.approx(prior, rel=0.15)


def test_weights_undo_the_oversampling():
    law = Population("normal", 0.3, 0.95)
    evidence, tries = Cell("weights", law, 6_000).evidence(np.random.default_rng(2))
    assert tries == 0
    assert {name: len(rows.score) for name, rows in evidence.table.strata.items()} == {
        "positive": 6_000, "unlabeled": 20_000,
    }  # fmt: skip
    assert ht.recall_at_k(evidence, law.prior) == pytest.approx(law.truth["recall_at_k"], abs=0.02)
    assert ht.roc_auc(evidence) == pytest.approx(0.95, abs=0.02)


@pytest.mark.parametrize("kind", KINDS)
def test_a_large_cell_of_each_kind_estimates_the_truth(kind):
    law = Population("normal", 0.3, 0.95)
    evidence, _ = Cell(kind, law, 3_000).evidence(np.random.default_rng(3))
    for name in ("roc_auc", "brier", "log_loss"):
        estimate = getattr(ht, name)(evidence)
        assert estimate == pytest.approx(law.truth[name], abs=0.03), name


def test_published_intervals_of_a_rate():
    # Newcombe (1998), table I: 15 of 148 and 0 of 20.
    hits, n = np.asarray([15.0, 0.0]), np.asarray([148.0, 20.0])
    assert np.transpose(wilson(hits, n)) == pytest.approx(
        np.asarray([[0.0624, 0.1605], [0, 0.1611]]), abs=5e-5
    )
    exact = np.asarray([[0.0578, 0.1617], [0, 0.1684]])
    assert np.transpose(clopper_pearson(hits, n)) == pytest.approx(exact, abs=5e-5)
    low, high = jeffreys(hits, n)
    assert low[1] == 0
    # Brown, Cai and DasGupta (2001): it lies within the exact one, here with a tail of 2.5% at either end.
    assert low[0] > exact[0, 0]
    assert (high < exact[:, 1]).all()


def test_rivals_of_the_area():
    positive, negative = np.asarray([0.9, 0.8, 0.3]), np.asarray([0.5, 0.2, 0.1, 0.3])
    area, low, high = delong(positive, negative)
    above = [1, 1, 2.5 / 4]
    below = [2 / 3, 1, 1, 2.5 / 3]
    assert area == pytest.approx(np.mean(above))
    side = 1.959964 * np.sqrt(np.var(above, ddof=1) / 3 + np.var(below, ddof=1) / 4)
    assert (low, high) == (pytest.approx(area - side), 1.0)

    m, n = 20.0, 50.0
    for ends in newcombe(np.asarray([0.8, 1.0]), np.asarray([m, m]), np.asarray([n, n])):
        q1, q2, pooled = ends / (2 - ends), 2 * ends**2 / (1 + ends), (m + n) / 2 - 1
        variance = ends * (1 - ends) + pooled * (q1 - ends**2) + pooled * (q2 - ends**2)
        distance = (ends - [0.8, 1.0]) ** 2
        assert distance == pytest.approx(1.959964**2 * variance / (m * n), abs=1e-9)


def test_counts_of_rates():
    counts = rate_counts(np.asarray([0.9, 0.4]), np.asarray([0.6, 0.5, 0.1]), 0.5)
    assert counts == {
        "prevalence": (2, 5), "precision": (1, 3), "recall": (1, 2), "fpr": (2, 3), "accuracy": (2, 5),
    }  # fmt: skip


def test_a_tally_counts_what_is_there_within_what_is_possible():
    nan = float("nan")
    tally = Tally.of([(-0.5, 0.5), (0.6, 0.8), (nan, nan), (0.1, 1.5)], 0.3, "precision")
    assert (tally.n, tally.coverage) == (3, pytest.approx(200 / 3))
    assert tally.width == pytest.approx((0.5 + 0.2 + 0.9) / 3)


def test_short_is_by_two_binomial_errors_and_rivals_must_cover():
    # At 92% of 400 an error is 1.36 points.
    assert [is_short(Tally(x, 0.1, 400)) for x in (89.0, 89.5, 95.0)] == [True, False, False]
    rivals = {"narrow": Tally(80, 0.1, 100), "wide": Tally(99, 0.4, 100), "good": Tally(95, 0.2, 100)}
    cell = Cell("labeled", Population("normal", 0.3, 0.95), 10)
    default = {"recall": Tally(95, 0.25, 100), "f1": Tally(95, 0.25, 100)}
    outcome = Outcome(cell=cell, n_redrawn=0, default=default, holds_zero=100.0, rivals={"recall": rivals})
    assert width_ratio(outcome, "recall") == pytest.approx(1.25)
    assert width_ratio(outcome, "f1") is None


def test_a_cell_repeats_itself_and_data_sets_of_one_class_are_drawn_again():
    cell = Cell("labeled", Population("normal", 0.3, 0.95), 2)
    first, again = (run(cell, 4) for _ in range(2))
    assert first == again
    assert first.n_redrawn > 0
    assert set(first.default) == set(METRICS)
    assert first.closed.keys() < first.default.keys()


def test_the_cells_are_all_different_and_keep_to_the_limit():
    cells = list(all_cells(tuple(KINDS), quick=False))
    assert len(set(cells)) == len(cells)
    assert max(cell.n_rows for cell in cells) == 20_000
    assert {cell.population.shape for cell in cells if cell.kind == "two samples"} == set(SHAPES)


def test_the_study_from_end_to_end(tmp_path):
    out = tmp_path / "page.md"
    main(["--quick", "--draws", "2", "--kinds", "labeled", "purity 0.9", "--jobs", "1", "--out", str(out)])
    page = out.read_text()
    summary = page.partition("## Summary")[2].partition("## Rivals")[0]
    for metric in METRICS:
        assert (f"| purity 0.9 | `{metric}` |" in summary) == (metric != "prevalence")
        assert f"| labeled | `{metric}` |" in summary
    assert "Clopper–Pearson" in page
    every = page.partition("## Every cell")[2]
    assert every.count("| normal | 50 | 0.3 | 0.95 |") == 4
    assert all(f"`{metric}`" in every for metric in BUDGETS)
