"""A population of two normal classes: data of every kind from it, and the truth about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from halftruth.simulate._draws import Draw, FloatArray, IntArray
from halftruth.simulate._gaussian_scores import GaussianScores
from halftruth.simulate._population import LinePopulation
from halftruth.simulate._truths import TRUTHS, truth

__all__ = ["GaussianClasses", "logistic_model"]


@dataclass(frozen=True, kw_only=True)
class GaussianClasses(LinePopulation, GaussianScores):
    """A population of two normal classes, with the exact truth of every metric.

    X | Y=1 ~ N(location + separation, 1), X | Y=0 ~ N(location, 1), P(Y=1) = prior, and the score
    is low + (high - low) sigmoid(intercept + slope x), or x itself.

    Parameters
    ----------
    prior : float in (0, 1)
        P(Y=1) in the population.
    separation, location : float
        Distance between the classes' means, and the mean of the negatives.
    intercept, slope : float or None
        Of the score, slope > 0. None takes the exact posterior's, so that with neither given and
        full `limits` the score is P(Y=1 | x). With separation 0 the slope must be given.
    limits : (float, float)
        Between which the score moves, 0 <= low < high <= 1.
    margin : bool
        The score is x, no probability; `intercept`, `slope` and `limits` have no part then.

    Notes
    -----
    The truths come from closed forms and quadrature, not from the package's estimators, and are good
    to 1e-9 or better. Wherever `rng` is an int, the same int draws the same rows.

    Examples
    --------
    >>> model = GaussianClasses(prior=0.3, separation=2.0)
    >>> round(model.truth("precision", threshold=0.5), 3)
    0.799
    >>> round(model.truth("f1", threshold=0.5), 3)
    0.756
    >>> GaussianClasses(margin=True).score([-1.0, 2.5]).tolist()
    [-1.0, 2.5]
    """

    def truth(self, name: str, **params: Any) -> float:
        """Return the exact value of a metric in the population.

        Parameters
        ----------
        name : str
            One of `TRUTH_NAMES`.
        **params
            What the metric takes: `threshold` (score >= threshold is positive), `beta`, `max_fpr`
            and `standardize`, `k` (a share of the population), `norm`.

        Returns
        -------
        float
            NaN where a rate has an empty denominator.

        Examples
        --------
        >>> model = GaussianClasses(prior=0.3, separation=2.0)
        >>> round(model.truth("average_precision"), 3)
        0.85
        >>> round(model.truth("recall_at_fpr", max_fpr=0.1), 3)
        0.764
        """
        return truth(self, name, params, TRUTHS)

    def _rows(self, y: IntArray, rng: np.random.Generator) -> Draw:
        return self._described(np.asarray(self.means)[y] + rng.standard_normal(y.size), y)

    def _described(self, x: FloatArray, y: IntArray) -> Draw:
        return Draw(score=self.score(x), y=y, posterior=self.posterior(x), x=x)


def logistic_model(beta0: float = -0.5, beta1: float = 1.5) -> GaussianClasses:
    """Return the synthetic model of the PU-ECE paper.

    X | Y ~ N(+-1, 1) with prior 0.5, so that P(Y=1 | x) = sigmoid(2x), and the score is
    sigmoid(beta0 + beta1 x). The paper's two settings are (-0.5, 1.5), less calibrated, and
    (-0.2, 1.9), better calibrated.

    Examples
    --------
    >>> less, better = logistic_model(), logistic_model(-0.2, 1.9)
    >>> less.truth("calibration_error") > better.truth("calibration_error")
    True
    """
    return GaussianClasses(
        prior=0.5, separation=2.0, location=-1.0, intercept=float(beta0), slope=float(beta1)
    )
