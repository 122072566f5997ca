"""Cases in which other tools' priors are wrong: f₁ = N(2, 1), f₀ = N(0, 1), 30% positive."""

from __future__ import annotations

import numpy as np
import pytest

import halftruth as ht

TRUTH = 0.3
MODEL = ht.simulate.GaussianClasses(prior=TRUTH)
BIASED = {(500, 5_000): 0.336, (2_000, 20_000): 0.329, (20_000, 200_000): 0.320}
"""What plain BBE was found to say by others, who did not name the number of draws."""
SPREADS = {(500, 5_000): (0.019, 0.032), (2_000, 20_000): (0.015, 0.018), (20_000, 200_000): (0.004, 0.011)}
"""Standard deviations of plain BBE and of the corrected form, from 40, 40 and 10 draws."""


# One table of which a tenth of the positives carries a label. Tools that take the unlabeled for negatives say
# .061 and .070, and their bootstrap intervals are as wrong: they must not follow the share that is labeled.
@pytest.mark.parametrize("share_labeled", [0.02, 0.1, 0.5])
@pytest.mark.parametrize("method", ["auto", "em", "alphamax"])
def test_the_prior_of_a_table_does_not_follow_the_share_that_is_labeled(method, share_labeled):
    n = 20_000
    known = round(TRUTH * share_labeled * n)
    evidence = MODEL.positive_unlabeled(known, n - known, rng=6, population="all", prior=None)
    estimate = ht.estimate_prior(evidence, method=method, n_resamples=60)
    assert estimate.population == "all"
    assert estimate.low < TRUTH < estimate.high
    assert abs(estimate.value - TRUTH) < TRUTH / 2  # theirs is off by more than three quarters
    assert estimate.upper > TRUTH


def test_evaluate_with_an_estimated_prior_holds_the_truth_of_such_a_table():
    evidence = MODEL.positive_unlabeled(600, 19_400, rng=6, population="all", prior="estimate")
    result = ht.evaluate(evidence, ["prevalence", "roc_auc", "average_precision"], n_resamples=200)
    truths = {"prevalence": TRUTH} | {m: MODEL.truth(m) for m in ("roc_auc", "average_precision")}
    for name, truth in truths.items():
        assert result[name].low < truth < result[name].high


# The bias of BBE is its published form, so the figures must come out; the default must not have it.
@pytest.mark.parametrize("sizes", BIASED)
def test_bbe_is_biased_up_and_the_default_is_not(sizes):
    rng, n = np.random.default_rng([9, *sizes]), 3
    values = {"bbe": [], "bbe-corrected": [], "auto": []}
    for _ in range(n):
        strata = MODEL.draw_strata(*sizes, rng)
        scores = strata.positive.score, strata.unlabeled.score
        for method, found in values.items():
            found.append(ht.estimate_prior(*scores, method=method, n_resamples=2, rng=rng).value)
    bias = {method: np.mean(found) - TRUTH for method, found in values.items()}
    plain, corrected = SPREADS[sizes]
    assert abs(np.mean(values["bbe"]) - BIASED[sizes]) < 3 * plain
    assert bias["bbe"] > 0.005
    for method in ("bbe-corrected", "auto"):
        assert bias[method] < bias["bbe"] / 2 + 2 * corrected / np.sqrt(n)
        assert bias[method] < bias["bbe"]
