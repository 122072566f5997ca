"""Populations whose scores are the true probabilities, with the true value of each metric by quadrature.

Negatives have the law of X and positives that of X + shift. The line is cut into so many cells that nothing
is lost, and a metric is a sum over them: no truth rests on halftruth's own metrics.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.optimize import brentq
from scipy.special import expit, logit, xlogy

FloatArray: TypeAlias = NDArray[np.float64]

SHAPES = ("normal", "heavy", "tied")
"""Unit normals; Student's law with three degrees; unit normals of which five scores are left."""
MAX_FPR = 0.05
N_QUANTILES = 5_000
TIE_EDGES = np.asarray([0.2, 0.4, 0.6, 0.8])
"""Between the means of the two classes, where the line is cut into five scores."""


@dataclass(frozen=True, kw_only=True)
class ClassMasses:
    """What each class has in cells of one score each, the highest score first."""

    positive: FloatArray
    negative: FloatArray

    @property
    def roc_auc(self) -> float:
        """P(S₁ > S₀) + P(S₁ = S₀)/2."""
        below = 1.0 - np.cumsum(self.negative) + self.negative / 2.0
        return float(self.positive @ below)


@dataclass(frozen=True)
class Population:
    """Two classes with a share ``prior`` of positives, whose scores P(Y=1 | x) have the area ``auc``."""

    shape: str
    prior: float
    auc: float

    @cached_property
    def shift(self) -> float:
        """How far the positives lie above the negatives."""
        return _shift(self.shape, self.auc)

    @cached_property
    def _joint(self) -> tuple[FloatArray, FloatArray]:
        """Masses of positives and negatives in the population, the highest score first."""
        masses = _class_masses(self.shape, self.shift)
        return self.prior * masses.positive, (1.0 - self.prior) * masses.negative

    @cached_property
    def _scores(self) -> FloatArray:
        positive, negative = self._joint
        return positive / (positive + negative)

    def draw(self, is_positive: NDArray[np.bool_], rng: np.random.Generator) -> FloatArray:
        """The x of a row of each class named."""
        n = len(is_positive)
        noise = rng.standard_t(3, n) if self.shape == "heavy" else rng.standard_normal(n)
        return noise + self.shift * is_positive

    def score(self, x: FloatArray) -> FloatArray:
        """P(Y=1 | x), of tied scores that of all x that share one."""
        if self.shape == "tied":
            return self._scores[::-1][np.searchsorted(TIE_EDGES * self.shift, x)]
        law = _law(self.shape)
        return np.asarray(expit(logit(self.prior) + law.logpdf(x - self.shift) - law.logpdf(x)))

    @cached_property
    def _n_flagged(self) -> int:
        """How many cells lie above the threshold: those that hold a share of about π of the population."""
        above = np.cumsum(sum(self._joint))
        return 1 + int(np.argmin(np.abs(above[:-1] - self.prior)))

    @property
    def threshold(self) -> float:
        """A score that flags a share of about π."""
        return float(self._scores[self._n_flagged - 1 : self._n_flagged + 1].mean())

    @cached_property
    def truth(self) -> dict[str, float]:
        """The true value of each metric of the study."""
        positive, negative = self._joint
        tp, fp = np.cumsum(positive), np.cumsum(negative)
        everyone, pi = positive + negative, self.prior
        at_budget = float(np.interp(pi, *_from_zero(tp + fp, tp)))
        losses = xlogy(positive, self._scores) + xlogy(negative, negative / everyone)
        return {
            "prevalence": pi,
            "roc_auc": _class_masses(self.shape, self.shift).roc_auc,
            "average_precision": float(positive @ (tp / (tp + fp))) / pi,
            # A probability that is right loses p (1 − p) on average.
            "brier": float(np.sum(positive * negative / everyone)),
            "log_loss": -float(losses.sum()),
            **self._rates(float(tp[self._n_flagged - 1]), float(fp[self._n_flagged - 1])),
            "precision_at_k": at_budget / pi,
            "recall_at_k": at_budget / pi,
            "recall_at_fpr": float(np.interp(MAX_FPR, *_from_zero(fp / (1.0 - pi), tp / pi))),
        }

    def _rates(self, tp: float, fp: float) -> dict[str, float]:
        """At the threshold, from shares of the population."""
        fn, tn = self.prior - tp, 1.0 - self.prior - fp
        return {
            "precision": tp / (tp + fp),
            "recall": tp / (tp + fn),
            "fpr": fp / (fp + tn),
            "f1": 2.0 * tp / (2.0 * tp + fp + fn),
            "mcc": (tp * tn - fp * fn) / float(np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))),
            "accuracy": tp + tn,
        }


def _from_zero(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    return np.concatenate([[0.0], x]), np.concatenate([[0.0], y])


def _law(shape: str) -> Any:
    return stats.t(3) if shape == "heavy" else stats.norm


@lru_cache(maxsize=16)
def _shift(shape: str, auc: float) -> float:
    return float(brentq(lambda shift: _class_masses(shape, shift).roc_auc - auc, 0.05, 60.0, xtol=1e-10))


@lru_cache(maxsize=64)
def _class_masses(shape: str, shift: float) -> ClassMasses:
    edges = TIE_EDGES * shift if shape == "tied" else _fine_edges(shape, shift)
    positive, negative = _cell_masses(shape, edges - shift), _cell_masses(shape, edges)
    kept = positive + negative > 0.0
    positive, negative = positive[kept], negative[kept]
    # In heavy tails the probability falls again far above both classes: the order is not that of x.
    order = np.argsort(-(positive / (positive + negative)), kind="stable")
    return ClassMasses(positive=positive[order], negative=negative[order])


def _fine_edges(shape: str, shift: float) -> FloatArray:
    law = _law(shape)
    share = np.concatenate([np.geomspace(1e-18, 1e-4, 1_000), np.linspace(1e-4, 0.5, N_QUANTILES)])
    quantiles = np.concatenate([law.ppf(share), law.isf(share)])
    return np.unique(np.concatenate([quantiles, quantiles + shift]))


def _cell_masses(shape: str, edges: FloatArray) -> FloatArray:
    """Between the edges and beyond them; of each tail from its own end, so that its digits are kept."""
    law = _law(shape)
    ends = np.concatenate([[-np.inf], edges, [np.inf]])
    below, above = np.diff(law.cdf(ends)), -np.diff(law.sf(ends))
    return np.asarray(np.where(ends[1:] <= 0.0, below, above))
