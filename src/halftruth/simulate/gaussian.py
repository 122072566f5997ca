"""A population of two normal classes: data of every kind from it, and the truth about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from halftruth.simulate.draw import Draw, IntArray
from halftruth.simulate.drawn import Drawn
from halftruth.simulate.scores import GaussianScores
from halftruth.simulate.strata import (
    Design,
    Propensity,
    Strata,
    draw_rows,
    draw_share,
    draw_strata,
)
from halftruth.simulate.truth import truth

if TYPE_CHECKING:
    from halftruth.evidence import PositiveUnlabeled


@dataclass(frozen=True, kw_only=True)
class GaussianClasses(Drawn, GaussianScores):
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
    The truths come from closed forms and quadrature, not from the package's metrics, and are good
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
        return truth(self, name, params)

    def _share(self, n: int, share: float, rng: np.random.Generator) -> Draw:
        return draw_share(self, n, share, rng)

    def _rows(self, y: IntArray, rng: np.random.Generator) -> Draw:
        return draw_rows(self, y, rng)

    def draw_strata(
        self,
        n_positive: int,
        n_unlabeled: int,
        rng: int | np.random.Generator,
        *,
        purity: float = 1.0,
        n_negative: int = 0,
        population: str = "unlabeled",
        propensity: Propensity | None = None,
    ) -> Strata:
        """Draw the rows that `positive_unlabeled` makes evidence of, with their true classes.

        Examples
        --------
        >>> strata = GaussianClasses().draw_strata(3, 10, rng=0)
        >>> strata.positive.y.tolist()
        [1, 1, 1]
        """
        design = Design(
            n_positive=n_positive,
            n_unlabeled=n_unlabeled,
            n_negative=n_negative,
            purity=purity,
            population=population,
            propensity=propensity,
        )
        return draw_strata(self, design, rng)

    def positive_unlabeled(
        self,
        n_positive: int,
        n_unlabeled: int,
        rng: int | np.random.Generator,
        *,
        purity: float = 1.0,
        n_negative: int = 0,
        population: str = "unlabeled",
        prior: Any = "true",
        propensity: Propensity | None = None,
    ) -> PositiveUnlabeled:
        """Draw known positives, unlabeled rows and perhaps known negatives.

        Parameters
        ----------
        n_positive, n_unlabeled, n_negative : int
            Sizes: exact for population="unlabeled", expected for "all", where each row of one
            table falls into a stratum by chance.
        rng : int or Generator
        purity : float in (0, 1]
            P(Y=1) of a row called positive.
        population : {"unlabeled", "all"}
            Two samples, the unlabeled one being the population; or one table whose rows together
            have the prior, so that the unlabeled rows have `true_alpha`.
        prior
            "true" hands on the population's, anything else is handed on as it is.
        propensity : callable or None
            P(labeled | Y=1, x) of an array x, in (0, 1]. With "unlabeled" the known positives'
            density is weighted by it. With "all" each positive of n_positive + n_unlabeled +
            n_negative rows is labeled with that chance: `n_positive` only adds to the total.

        Examples
        --------
        >>> type(GaussianClasses().positive_unlabeled(50, 500, rng=0)).__name__
        'PositiveUnlabeled'
        """
        from halftruth.evidence import PositiveUnlabeled

        strata = self.draw_strata(
            n_positive,
            n_unlabeled,
            rng,
            purity=purity,
            n_negative=n_negative,
            population=population,
            propensity=propensity,
        )
        return PositiveUnlabeled(
            strata.positive.score,
            strata.unlabeled.score,
            prior=self._known(prior),
            purity=purity,
            negative=strata.negative.score if n_negative else None,
            propensity=strata.propensity,
            population=population,
        )


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
