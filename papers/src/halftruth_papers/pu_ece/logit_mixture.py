"""Scores whose logits are normal mixtures in each class: the truth behind a real model's scores, fitted."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from halftruth import _checks
from halftruth._errors import InputError
from halftruth.simulate._draws import Draw, FloatArray, IntArray
from halftruth.simulate._score_line import panels
from halftruth_papers.population import Population
from halftruth_papers.quantile_line import QuantileLine

_REACH = 12.0
"""Beyond twelve standard deviations a normal law has less than 1e-32 of its mass."""
_INITS = 3
_ROOT_2_PI = math.sqrt(2.0 * math.pi)


@dataclass(frozen=True, kw_only=True)
class LogitMixture(Population):
    """Logits that are normal mixtures in each class; the score is the sigmoid of the logit.

    Parameters
    ----------
    positive, negative : sequence of (weight, mean, sd)
        Components of the logits of each class; weights sum to one.
    prior : float in (0, 1)
        P(Y=1) in the population.

    Notes
    -----
    P(Y=1 | score) follows from the densities exactly; truths come from quadrature along the logit and
    are good to 1e-9.

    Examples
    --------
    >>> model = LogitMixture(positive=[(1.0, 1.0, 1.0)], negative=[(1.0, -1.0, 1.0)], prior=0.5)
    >>> model.posterior(np.array([0.0, 1.0])).round(4).tolist()
    [0.5, 0.8808]
    >>> round(model.truth("calibration_error"), 4)
    0.1061
    """

    positive: Sequence[tuple[float, float, float]]
    negative: Sequence[tuple[float, float, float]]
    prior: float

    def __post_init__(self) -> None:
        _checks.share(self.prior, "prior")
        for name in ("positive", "negative"):
            object.__setattr__(self, name, _components(getattr(self, name), name))

    @classmethod
    def fit(
        cls,
        logits: ArrayLike,
        y: ArrayLike,
        *,
        max_components: int = 10,
        rng: int | np.random.Generator = 0,
        prior: float | None = None,
    ) -> LogitMixture:
        """Fit a mixture to the logits of each class, its number of components chosen by BIC.

        Parameters
        ----------
        logits : array
            Logits of the scores, finite.
        y : array
            True classes, 0 and 1.
        max_components : int
            The largest number of components tried in a class.
        rng : int or Generator
            Of the starting points; each number of components is started three times.
        prior : float in (0, 1), optional
            The share of the positives among the rows by default.

        Examples
        --------
        >>> true = LogitMixture(positive=[(1.0, 2.0, 1.0)], negative=[(1.0, -2.0, 1.0)], prior=0.4)
        >>> drawn = true.draw(2000, rng=0)
        >>> fitted = LogitMixture.fit(drawn.x, drawn.y, max_components=2)
        >>> len(fitted.positive), len(fitted.negative)
        (1, 1)
        """
        values = _checks.vector(logits, "logits")
        positive = _checks.binary_labels(y, "y", length=len(values))
        _checks.count(max_components, "max_components", least=1)
        generator = np.random.default_rng(rng)
        parts = {
            name: _fitted(values[rows], name, max_components, generator)
            for name, rows in (("positive", positive), ("negative", ~positive))
        }
        share = float(positive.mean()) if prior is None else prior
        return cls(positive=parts["positive"], negative=parts["negative"], prior=share)

    def posterior(self, x: ArrayLike) -> FloatArray:
        """Return P(Y=1 | logit x).

        Parameters
        ----------
        x : array
            Logits.

        Examples
        --------
        >>> model = LogitMixture(positive=[(1.0, 0.5, 1.0)], negative=[(1.0, -0.5, 1.0)], prior=0.5)
        >>> bool(np.allclose(model.posterior([-2.0, 3.0]), model.score([-2.0, 3.0])))
        True
        """
        z = np.asarray(x, dtype=np.float64)
        log_odds = logit(self.prior) + _log_density(self.positive, z) - _log_density(self.negative, z)
        return np.asarray(expit(log_odds))

    def score(self, x: ArrayLike) -> FloatArray:
        """Return the score of the logit x, its sigmoid.

        Parameters
        ----------
        x : array
            Logits.

        Examples
        --------
        >>> model = LogitMixture(positive=[(1.0, 1.0, 1.0)], negative=[(1.0, -1.0, 1.0)], prior=0.5)
        >>> model.score([0.0]).tolist()
        [0.5]
        """
        return np.asarray(expit(np.asarray(x, dtype=np.float64)))

    @cached_property
    def line(self) -> QuantileLine:
        """The population along the logit of its score."""
        _, means, sds = np.transpose((*self.positive, *self.negative))
        steps = np.linspace(-_REACH, _REACH, 241)
        reached = (means[:, None] + sds[:, None] * steps).ravel()
        near = np.arange(-40.0, 40.0, 0.1)
        return QuantileLine(
            edges=panels(reached, near[(reached.min() < near) & (near < reached.max())]),
            positive=lambda z: self.prior * np.exp(_log_density(self.positive, z)),
            negative=lambda z: (1.0 - self.prior) * np.exp(_log_density(self.negative, z)),
            posterior=self.posterior,
            score=self.score,
            rest=lambda z: expit(-z),
            coordinate=logit,
        )

    def _of_class(self, y: int, n: int, rng: np.random.Generator) -> FloatArray:
        weights, means, sds = np.transpose(self.positive if y == 1 else self.negative)
        component = rng.choice(len(weights), size=n, p=weights / weights.sum())
        return np.asarray(means[component] + sds[component] * rng.standard_normal(n))

    def _described(self, x: FloatArray, y: IntArray) -> Draw:
        return Draw(score=self.score(x), y=y, posterior=self.posterior(x), x=x)


def _log_density(components: Sequence[tuple[float, float, float]], z: FloatArray) -> FloatArray:
    logs = [math.log(w / sd / _ROOT_2_PI) - 0.5 * ((z - mean) / sd) ** 2 for w, mean, sd in components]
    top = np.maximum.reduce(logs)
    return np.asarray(top + np.log(sum(np.exp(one - top) for one in logs)))


def _components(given: Any, name: str) -> tuple[tuple[float, float, float], ...]:
    """Components as tuples of floats, or an error."""
    try:
        table = np.array([tuple(row) for row in given], dtype=np.float64)
    except (TypeError, ValueError):
        table = np.empty(0)
    if table.ndim != 2 or table.shape[1] != 3 or not np.isfinite(table).all():
        raise InputError(f"`{name}` must be (weight, mean, sd) of each component, got {given!r}.")
    weights, _, sds = table.T
    if (weights <= 0.0).any() or abs(weights.sum() - 1.0) > 1e-9:
        raise InputError(
            f"`{name}` must have positive weights that sum to one, got {weights.tolist()}. Divide them by "
            "their sum."
        )
    if (sds <= 0.0).any():
        raise InputError(f"`{name}` must have positive standard deviations, got {sds.tolist()}.")
    return tuple((float(w), float(m), float(sd)) for w, m, sd in table)


def _fitted(
    values: FloatArray, name: str, most: int, rng: np.random.Generator
) -> list[tuple[float, float, float]]:
    """The mixture with the least BIC."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import GaussianMixture

    distinct = len(np.unique(values))
    if distinct < 2:
        raise InputError(
            f"`logits` must have two distinct values or more in each class, got {distinct} in the {name}. "
            "Pass more rows."
        )
    column = values[:, None]
    best: tuple[float, Any] = (math.inf, None)
    for n in range(1, min(most, distinct) + 1):
        mixture = GaussianMixture(
            n_components=n,
            n_init=_INITS,
            max_iter=300,
            reg_covar=1e-6 * float(values.var()),
            random_state=int(rng.integers(2**31)),
        )
        with warnings.catch_warnings():
            # A fit that could climb on is still a mixture, and BIC judges it by where it stands.
            warnings.simplefilter("ignore", ConvergenceWarning)
            mixture.fit(column)
        best = min(best, (float(mixture.bic(column)), mixture), key=lambda pair: pair[0])
    chosen = best[1]
    weights, means = chosen.weights_ / chosen.weights_.sum(), chosen.means_[:, 0]
    rows = zip(weights, means, np.sqrt(chosen.covariances_[:, 0, 0]), strict=True)
    return sorted(((float(w), float(m), float(sd)) for w, m, sd in rows if w > 0.0), key=lambda row: row[1])
