"""What of scikit-learn's checks goes against the labels that learners read, and how it is checked nonetheless."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.estimator_checks import check_estimators_dtypes, check_fit2d_1feature

LABELS = (
    "labels are 1 (known positive) and the code of unlabeled rows; others are refused, in words of its own"
)
MAPPED = {"check_estimators_dtypes": check_estimators_dtypes, "check_fit2d_1feature": check_fit2d_1feature}
"""Checks that draw labels of other codes, run with `OfLabels`."""
EXPECTED = {
    **dict.fromkeys(MAPPED, f"{LABELS}; run with mapped labels"),
    "check_classifier_data_not_an_array": LABELS,
    "check_classifiers_classes": LABELS,
    "check_classifiers_regression_target": LABELS,
    "check_classifier_not_supporting_multiclass": LABELS,
}


class OfLabels:
    """Before a learner: reads labels of any codes as known positive or not."""

    def fit(self, X: Any, y: Any) -> Any:
        return super().fit(X, (np.asarray(y) == np.max(y)).astype(int))  # type: ignore[misc]
