"""True areas under curves, and rates at a share of the population or of the negatives."""

from __future__ import annotations

import math

from scipy.special import ndtr, ndtri

from halftruth import _checks
from halftruth.simulate.quadrature import break_points, integrate, normal_density
from halftruth.simulate.rates import precision_above
from halftruth.simulate.scores import GaussianScores


def roc_auc(model: GaussianScores) -> float:
    """Phi(separation / sqrt 2): the difference of two unit normals has variance 2."""
    return float(ndtr(model.separation / math.sqrt(2.0)))


def partial_auc(model: GaussianScores, *, max_fpr: float, standardize: bool = True) -> float:
    """Area left of `max_fpr`; standardized after McClish: chance is 0.5, perfect 1."""
    limit = _fpr_limit(max_fpr)
    if limit == 1.0:
        return roc_auc(model)
    m0, m1 = model.means
    cut = m0 - float(ndtri(limit))

    # The mean TPR rather than the area, so that a small limit loses no digits.
    def mean_tpr(x: float) -> float:
        return float(ndtr(m1 - x)) * normal_density(x - m0) / limit

    near = [cut + step for step in (0.05, 0.2, 0.5, 1.0, 2.0)]
    mean = integrate(mean_tpr, break_points(model, near, lower=cut))
    if not standardize:
        return mean * limit
    return 0.5 * (1.0 + (mean - limit / 2.0) / (1.0 - limit / 2.0))


def average_precision(model: GaussianScores) -> float:
    """Integral of precision over TPR, in the population."""
    m1 = model.means[1]
    return integrate(lambda x: precision_above(model, x) * normal_density(x - m1), break_points(model))


def precision_at_k(model: GaussianScores, *, k: float) -> float:
    """Precision among the share `k` of the population with the highest scores."""
    return precision_above(model, _cut_at_share(model, k))


def recall_at_k(model: GaussianScores, *, k: float) -> float:
    """Recall of the share `k` of the population with the highest scores."""
    return float(ndtr(model.means[1] - _cut_at_share(model, k)))


def recall_at_fpr(model: GaussianScores, *, max_fpr: float) -> float:
    """Recall where FPR is `max_fpr`."""
    return float(ndtr(model.separation + float(ndtri(_fpr_limit(max_fpr)))))


def _fpr_limit(max_fpr: float) -> float:
    advice = "Pass the largest false positive rate that counts."
    return _checks.inside(max_fpr, "max_fpr", 0.0, 1.0, closed="right", advice=advice)


def _cut_at_share(model: GaussianScores, k: float) -> float:
    """Return the feature above which the share `k` of the population lies."""
    from scipy.optimize import brentq

    advice = "Pass a share of the population, not a number of rows."
    share = _checks.inside(k, "k", 0.0, 1.0, advice=advice)
    m0, m1 = model.means

    def excess(x: float) -> float:
        above = model.prior * float(ndtr(m1 - x)) + (1.0 - model.prior) * float(ndtr(m0 - x))
        return above / share - 1.0

    # The mixture's quantile lies between the classes' quantiles; the pad covers rounding.
    quantiles = [mean - float(ndtri(share)) for mean in (m0, m1)]
    low, high = min(quantiles) - 0.01, max(quantiles) + 0.01
    return float(brentq(excess, low, high, xtol=1e-14, rtol=1e-14))
