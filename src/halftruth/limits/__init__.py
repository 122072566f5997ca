"""Limits: what no classifier's error gets below, from soft labels, votes, confidences or scores.

`_bayes_error` is the entry; `_soft_labels`, `_confidences` and `_vote_limits` (votes, by `_vote_law`) do
the work, on means with intervals (`_row_means`). `_best_attainable` has the other metrics, `_too_good` tests
a test error, and `_verdict` puts the outcome into words.
"""
