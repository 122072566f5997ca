"""Audits in rounds, looked at after each: who stops when a gate is decided is seldom wrong.

`pytest -s` prints the shares of audits that were ever wrong, of which docs/reviewed.md tells.
"""

import numpy as np
import pytest

import halftruth as ht

pytestmark = pytest.mark.slow
METRICS = ("recall", "precision", "roc_auc")
N_ROWS, PRIOR, LOOKS, REVIEWS = 4000, 0.05, 20, 30
SHARED = 4  # audits whose labels are drawn anew over the same plans, since plans take half the time


def rounds(rng):
    """Scores that are the chances of their rows, a threshold, and plans of which each takes what was left."""
    x = rng.normal(np.where(rng.random(N_ROWS) < PRIOR, 2.0, 0.0))
    score = 1 / (1 + np.exp(-(2 * x - 2 + np.log(PRIOR / (1 - PRIOR)))))
    threshold, plans, done = float(np.quantile(score, 0.9)), [], np.zeros(N_ROWS, dtype=bool)
    for k in range(1, LOOKS + 1):
        more = {"reviewed": done, "round": k, "rng": rng}
        plans.append(ht.plan_review(score, REVIEWS, metrics=METRICS, threshold=threshold, **more))
        done[plans[-1].rows] = True
    return score, threshold, plans


def wrong_once(score, y, threshold, plans, n_resamples):
    """Metric, rule and end of each gate that some look decides wrongly.

    The gates are the hardest there are, at the truth itself: one just above it must not pass ("low"), and one
    just below must not fail either ("either").
    """
    cells, labeled = ht.confusion(ht.Labeled(y, score), threshold), ht.Labeled(y, score)
    truth = {"recall": cells.recall, "precision": cells.precision, "roc_auc": ht.roc_auc(labeled)}
    said, out = [y[plan.rows].astype(float) for plan in plans], set()
    for k in range(1, LOOKS + 1):
        evidence = ht.Reviewed.from_plan(plans[:k], score, said[:k])
        level = ht.level_of_look(k)
        result = ht.evaluate(
            evidence, METRICS, threshold=threshold, confidence_level=level, n_resamples=n_resamples
        )
        for name in METRICS:
            row = result[name]
            if np.isnan(row.low):  # no positive was found yet
                continue
            for rule, (low, high) in (("by look", (row.low, row.high)), ("95%", row.interval(0.95))):
                out |= {(name, rule, "low")} if low > truth[name] else set()
                out |= {(name, rule, "either")} if low > truth[name] or high < truth[name] else set()
    return out


@pytest.mark.parametrize(("n_resamples", "n_audits"), [(0, 2000), (200, 400)])
@pytest.mark.filterwarnings("ignore::halftruth.EmptyClassWarning")
def test_looks_after_each_of_twenty_rounds_are_seldom_ever_wrong(draws, n_resamples, n_audits):
    number, found = draws(n_audits), []
    for seed in range(number):
        rng = np.random.default_rng((seed, n_resamples))
        if seed % SHARED == 0:
            score, threshold, plans = rounds(rng)
        found.append(wrong_once(score, rng.random(N_ROWS) < score, threshold, plans, n_resamples))
    share = {
        (name, rule, end): sum((name, rule, end) in each for each in found) / number
        for name in METRICS
        for rule in ("by look", "95%")
        for end in ("low", "either")
    }
    for key, wrong in share.items():
        print(n_resamples, number, *key, f"{wrong:.4f}")  # noqa: T201
    most = 0.05 + 3 * np.sqrt(0.05 * 0.95 / number)
    assert max(x for (_, rule, _), x in share.items() if rule == "by look") <= most, share
    # The audits are such that the rule is needed.
    assert max(x for (_, rule, _), x in share.items() if rule == "95%") > 0.05, share
