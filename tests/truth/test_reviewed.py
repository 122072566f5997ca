"""Intervals from reviewed cases hold the truth as often as they say."""

import numpy as np
import pytest

import halftruth as ht

pytestmark = pytest.mark.slow
METRICS = ("prevalence", "roc_auc", "average_precision", "brier", "log_loss")
RATES = ("precision", "recall", "fpr", "f1", "mcc", "accuracy")


def population(rng, prior, n=20_000):
    y = rng.random(n) < prior
    x = rng.normal(np.where(y, 2.0, 0.0))
    return y, 1 / (1 + np.exp(-(2 * x - 2 + np.log(prior / (1 - prior)))))


@pytest.mark.parametrize("calibrated", [True, False])
@pytest.mark.parametrize("prior", [0.02, 0.2])
@pytest.mark.parametrize("n", [300, 1000])
def test_intervals_of_a_planned_audit_hold_the_truth(draws, prior, n, calibrated):
    number = draws(400)
    held = dict.fromkeys((*METRICS, *RATES), 0)
    for seed in range(number):
        rng = np.random.default_rng((seed, n, int(1000 * prior)))
        y, posterior = population(rng, prior)
        score = posterior if calibrated else posterior**0.4
        threshold = float(np.quantile(score, 1 - prior))
        plan = ht.plan_review(
            score, n, metrics=("precision", "recall", "roc_auc"), threshold=threshold, rng=seed
        )
        evidence = ht.Reviewed.from_plan(plan, score, y[plan.rows].astype(float))
        result = ht.evaluate(evidence, (*METRICS, *RATES), threshold=threshold, n_resamples=500)
        cells, labeled = ht.confusion(ht.Labeled(y, score), threshold), ht.Labeled(y, score)
        truth = {name: getattr(ht, name)(labeled) for name in METRICS}
        truth |= {name: getattr(cells, name) for name in RATES}
        for name, value in truth.items():
            held[name] += result[name].low <= value <= result[name].high
    # Three binomial errors below what the least of them is to hold.
    least = 0.93 - 3 * np.sqrt(0.93 * 0.07 / number)
    assert min(held.values()) / number >= least, {k: v / number for k, v in held.items()}


def test_reviewers_who_err_are_carried_into_intervals(draws):
    number, held = draws(400), 0
    for seed in range(number):
        rng = np.random.default_rng(seed)
        y, score = population(rng, 0.2)
        checked = rng.choice(len(y), 400, replace=False)
        said = np.where(y, rng.random(len(y)) < 0.9, rng.random(len(y)) < 0.05)
        rates = ht.judge_rates(said[checked], y[checked])
        plan = ht.plan_review(score, 500, metrics="precision", threshold=0.5, rng=seed)
        errs = {"sensitivity": rates[0], "specificity": rates[1]}
        evidence = ht.Reviewed.from_plan(plan, score, said[plan.rows].astype(float), **errs)
        row = ht.evaluate(evidence, "prevalence", n_resamples=500)["prevalence"]
        held += row.low <= y.mean() <= row.high
    assert held / number >= 0.93 - 3 * np.sqrt(0.93 * 0.07 / number)
