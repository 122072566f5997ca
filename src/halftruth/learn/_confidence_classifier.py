"""PositiveConfidenceClassifier: positives alone, each with its probability of being positive."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_consistent_length, column_or_1d

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, Note, arg
from halftruth.evidence import PositiveConfidence
from halftruth.learn._learner import Features
from halftruth.learn._network_arrays import Matrix
from halftruth.learn._network_classifier import AUTO, NO_POSTERIOR, PLATT, PROPER, NetworkClassifier

__all__ = ["PositiveConfidenceClassifier"]

LEAST = 1e-6
"""Of a confidence: a positive of less would stand for more than a million negatives, in 32-bit numbers."""


class PositiveConfidenceClassifier(NetworkClassifier):
    """A classifier from positives and their confidences r = P(positive | x), without any negative.

    The risk is π · mean of ℓ(g) + (1−r)/r · ℓ(−g) (Ishida, Niu & Sugiyama 2018): a positive of confidence r
    stands for (1−r)/r negatives with the same features.

    Parameters
    ----------
    hidden : sequence of int
        Units of the hidden layers, with ReLU between them. Empty: a linear model.
    prior : float, (low, high), PriorEstimate or None
        π; identified by the confidences where left out. Learning does not need it, calibration does.
    loss : {"logistic", "sigmoid", "ramp", "squared"}
        Of the margin, as in `risk`.
    learning_rate, weight_decay, batch_size, max_epochs, patience, device, random_state, verbose
        As in `PUClassifier`.
    validation_fraction : float in [0, 1)
        Share of the rows that is held out for early stopping, and for calibration where there is any.
    calibration : str or None
        As in `PUClassifier`, but "auto" leaves the logistic loss as it is without a test: with confidences
        its logit is that of the posterior, free of the noise of labels.

    Attributes
    ----------
    prior_, layers_, scaling_, calibrator_, shift_, history_, n_epochs_, notes_
        As in `PUClassifier`; risks are divided by the prior.
    classes_, n_features_in_, feature_names_in_
        As scikit-learn sets them; the classes are 0 and 1.

    Notes
    -----
    E₊[1/r²] must be finite: few rows of tiny confidence carry all that is known of the negatives.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.special import expit
    >>> from halftruth.learn import PositiveConfidenceClassifier
    >>> X = np.random.default_rng(0).normal(1.0, 1.0, (500, 1))  # positives; negatives lie around −1
    >>> model = PositiveConfidenceClassifier(random_state=0).fit(X, expit(2 * X[:, 0]))
    >>> bool(abs(model.predict_proba([[0.5]])[0, 1] - expit(1.0)) < 0.05)
    True
    """

    learns_from = "confidences"

    def fit(self, X: Features, r: ArrayLike) -> PositiveConfidenceClassifier:
        """Learn from known positives alone.

        Parameters
        ----------
        X : (n, k) array or data frame of numbers
        r : (n,) array in (0, 1]
            Confidence of each, not below 1e-6.
        """
        from halftruth.learn._network_training import fit_network
        from halftruth.learn._torch_losses import PositiveConfidenceLoss

        plan, rng = self._plan()
        x = self._rows(X, reset=True)
        confidence = _confidences(x, r)
        # Refuses a prior that cannot be, before the training.
        self.prior_ = float(PositiveConfidence(confidence, prior=self.prior).measure().prior)
        learned, held_out = self._split([np.arange(len(x))], rng)
        risk = PositiveConfidenceLoss(self.loss)
        scaled = self._train(
            x, lambda rows: fit_network(plan, risk, risk, rows, learned, held_out, confidence)
        )
        method = self._method(held_out is not None)
        lacking = Note("method", NO_POSTERIOR.format(self.loss))
        notes = () if method or self.loss == PROPER else (lacking,)
        watched = slice(0) if held_out is None else held_out[0]

        def evidence(scores: list[Vector]) -> PositiveConfidence:
            return PositiveConfidence(confidence[watched], scores[0], prior=self.prior)

        self._calibrate(method, scaled, held_out, evidence, notes)
        return self

    def _method(self, held_out: bool) -> str | None:
        if not held_out or (self.calibration == AUTO and self.loss == PROPER):
            return None
        return PLATT if self.calibration == AUTO else self.calibration


def _confidences(x: Matrix, r: ArrayLike | None) -> Vector:
    if r is None:
        raise InputError("PositiveConfidenceClassifier requires y to be passed, but the target y is None.")
    values = column_or_1d(r, warn=True)
    check_consistent_length(x, values)
    why = "A positive of confidence 0 cannot be. Check the rows."
    confidence = _checks.positive_probabilities(values, "r", length=len(x), why=why)
    tiny = confidence < LEAST
    if tiny.any():
        row = int(np.argmax(tiny))
        raise InputError(
            argument="r",
            must=f"be at least {LEAST:g} to learn from",
            got=f"{int(tiny.sum())} value(s) below, the first ({confidence[row]:g}) in row {row}: such a "
            "row alone would decide the fit",
            remedy="Drop or repair these rows.",
        )
    if (confidence == 1).all():
        raise InputError(
            f"{arg('r')} is 1 for all {len(confidence)} positives: nothing tells what a negative looks "
            "like. Pass the probability that a case with these features is positive, or unlabeled rows to "
            "PUClassifier."
        )
    return confidence
