"""True values of metrics: of a line of scores by quadrature, of two normal classes in closed form as well.

At the threshold whose coordinate is x, two unit normals have TPR = Φ(m₁ − x) and FPR = Φ(m₀ − x). Rates are
made of these by the arithmetic of `Confusion`, which is held to scikit-learn; everything else is computed
here, so that no truth rests on the estimator that it judges.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy.special import expit, log_expit, log_ndtr, logit, ndtr, ndtri

from halftruth import _checks
from halftruth._errors import InputError, arg
from halftruth.metrics._rates import Confusion, Rate
from halftruth.metrics._record import DECLARED
from halftruth.simulate._draws import FloatArray
from halftruth.simulate._gaussian_scores import GaussianScores
from halftruth.simulate._score_line import Function, ScoreLine, integral, panels

__all__ = [
    "TRUTHS", "TRUTH_NAMES", "gaussian_line", "line_brier", "line_calibration_error", "line_skill", "truth",
]  # fmt: skip

_REACH = 12.0  # beyond twelve standard deviations a normal law has less than 1e-32 of its mass
_SATURATED = 40.0  # beyond this logit a sigmoid is 0 or 1 up to 4e-18


def truth(
    population: Any, name: str, params: Mapping[str, Any], truths: Mapping[str, Callable[..., float]]
) -> float:
    """The true value of the metric `name`, by the function of `truths` that bears the name."""
    function = truths.get(name)
    if function is None:
        must, remedy = "be a metric whose truth is known", f"Pass one of: {', '.join(truths)}."
        raise InputError(argument="name", must=must, got=repr(name), remedy=remedy)
    signature = inspect.signature(function)
    try:
        signature.bind(population, **params)
    except TypeError:
        accepted = ", ".join(
            key if parameter.default is inspect.Parameter.empty else f"{key}={parameter.default!r}"
            for key, parameter in list(signature.parameters.items())[1:]
        )
        passed = ", ".join(f"{key}={value!r}" for key, value in params.items())
        raise InputError(
            f"{arg(name)} takes the parameters ({accepted}), got ({passed}). Pass those without a default, "
            "by name, and no others."
        ) from None
    return function(population, **params)


def line_brier(line: ScoreLine) -> float:
    """E (Y − s)²."""
    return line.expected_loss(line.nodes.rest**2, line.nodes.s**2)


def line_skill(line: ScoreLine, prior: float) -> float:
    """1 − brier / (π (1 − π)): the share of the constant forecast's loss that is saved."""
    return 1.0 - line_brier(line) / (prior * (1.0 - prior))


def line_calibration_error(line: ScoreLine, *, norm: int = 1) -> float:
    """E |P(Y=1 | s) − s| for norm 1, the root of E (P(Y=1 | s) − s)² for norm 2.

    The score rises along the line, so that P(Y=1 | s) is the posterior at its coordinate.
    """
    if norm not in (1, 2):
        raise InputError(argument="norm", must="be 1 or 2", got=repr(norm), remedy="Pass 1 for the mean gap.")
    split = line.by_gap
    total = split.mean(np.abs(split.nodes.p - split.nodes.s) ** norm)
    return total if norm == 1 else math.sqrt(total)


@lru_cache(maxsize=32)
def gaussian_line(model: GaussianScores) -> ScoreLine:
    """The population along x, with panels that resolve both densities and both sigmoids."""
    m0, m1 = model.means
    low, high = min(m0, m1) - _REACH, max(m0, m1) + _REACH
    steps, logits = np.arange(-_REACH, _REACH, 0.05), np.arange(-_SATURATED, _SATURATED + 0.5, 0.5)
    points = [m0 + steps, m1 + steps]
    sigmoids = [model.posterior_coefficients] + ([] if model.margin else [model.coefficients])
    points += [(logits - intercept) / slope for intercept, slope in sigmoids if slope != 0.0]
    inner = np.concatenate(points)
    return ScoreLine(
        edges=panels([low, high], inner[(low < inner) & (inner < high)]),
        positive=lambda x: model.prior * _normal_density(x - m1),
        negative=lambda x: (1.0 - model.prior) * _normal_density(x - m0),
        posterior=model.posterior,
        score=model.score,
        rest=model.rest,
        coordinate=model.coordinate,
    )


def _normal_density(deviation: FloatArray) -> FloatArray:
    return np.asarray(np.exp(-0.5 * deviation * deviation) / math.sqrt(2.0 * math.pi))


def _confusion(model: GaussianScores, threshold: float) -> Confusion:
    """The four cells as shares of the population."""
    x = model.x_at(threshold)
    m0, m1 = model.means
    tp, fn = (model.prior * float(ndtr(side * (m1 - x))) for side in (1.0, -1.0))
    fp, tn = ((1.0 - model.prior) * float(ndtr(side * (m0 - x))) for side in (1.0, -1.0))
    cells = {"pos_above": tp, "pos_below": fn, "neg_above": fp, "neg_below": tn}
    return Confusion(threshold=threshold, predicted=tp + fp, rest=fn + tn, unidentified=None, **cells)


def _rate(name: str) -> Callable[..., float]:
    """The truth of a property of `Confusion`; a rate whose denominator is empty is NaN."""
    return lambda model, *, threshold: float(getattr(_confusion(model, threshold), name))


def _share_above(model: GaussianScores, x: FloatArray | float) -> FloatArray:
    """P(Y=1 | X >= x); by logarithms, so that a far tail is still a ratio."""
    m0, m1 = model.means
    # Beyond every x there is nobody, of whom the share is ∞ − ∞, NaN.
    with np.errstate(invalid="ignore"):
        return np.asarray(expit(logit(model.prior) + log_ndtr(m1 - x) - log_ndtr(m0 - x)))


def _precision(model: GaussianScores, *, threshold: float) -> float:
    return float(_share_above(model, model.x_at(threshold)))


def _npv(model: GaussianScores, *, threshold: float) -> float:
    m0, m1 = model.means
    x = model.x_at(threshold)
    # Not 1 − share of positives: that would lose the digits of a small share of negatives.
    with np.errstate(invalid="ignore"):
        return float(expit(-logit(model.prior) - log_ndtr(x - m1) + log_ndtr(x - m0)))


def _mcc(model: GaussianScores, *, threshold: float) -> float:
    cells = _confusion(model, threshold)
    # A correlation with a constant is not defined; the estimator calls it 0, as scikit-learn does.
    return float(cells.mcc) if cells.predicted > 0.0 and cells.rest > 0.0 else math.nan


def _net_benefit(model: GaussianScores, *, threshold: float) -> float:
    """TP − FP t / (1 − t) per case."""
    model.require_probability("net_benefit")
    advice = "Pass the probability at which one would act."
    t = _checks.inside(threshold, "threshold", 0.0, 1.0, closed="left", advice=advice)
    cells = _confusion(model, t)
    return float(cells.tp - cells.fp * t / (1.0 - t))


def _roc_auc(model: GaussianScores) -> float:
    """Φ(separation / √2): the difference of two unit normals has variance 2."""
    return float(ndtr(model.separation / math.sqrt(2.0)))


def _partial_auc(model: GaussianScores, *, max_fpr: float, standardize: bool = True) -> float:
    """Area left of `max_fpr`; standardized after McClish (1989): chance is 0.5, perfect 1."""
    limit = _fpr_limit(max_fpr)
    if limit == 1.0:
        return _roc_auc(model)
    m0, m1 = model.means
    cut = m0 - float(ndtri(limit))

    # The mean TPR rather than the area, so that a small limit loses no digits.
    def mean_tpr(x: FloatArray) -> FloatArray:
        return np.asarray(ndtr(m1 - x) * _normal_density(x - m0) / limit)

    # Above x the negatives have a rate of decay of about x − m₀: steps of 0.05 resolve it in every double.
    mean = integral(mean_tpr, np.arange(cut, max(cut, m0) + _REACH, 0.05))
    if not standardize:
        return mean * limit
    return 0.5 * (1.0 + (mean - limit / 2.0) / (1.0 - limit / 2.0))


def _average_precision(model: GaussianScores) -> float:
    """∫ precision dTPR, in the population."""
    line, m1 = gaussian_line(model), model.means[1]
    return integral(lambda x: _share_above(model, x) * _normal_density(x - m1), line.edges)


def _fpr_limit(max_fpr: float) -> float:
    advice = "Pass the largest false positive rate that counts."
    return _checks.inside(max_fpr, "max_fpr", 0.0, 1.0, closed="right", advice=advice)


def _x_at_share(model: GaussianScores, k: float) -> float:
    """The x above which the share `k` of the population lies."""
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


def _probability_line(model: GaussianScores, name: str) -> ScoreLine:
    """The line of a model whose score is a probability, as the metric `name` needs."""
    model.require_probability(name)
    return gaussian_line(model)


def _log_loss(model: GaussianScores) -> float:
    """−E [Y ln s + (1 − Y) ln(1 − s)]."""
    line = _probability_line(model, "log_loss")
    (low, high), (intercept, slope) = model.limits, model.coefficients
    log_odds = intercept + slope * line.nodes.z
    log_score = _log_sum(low, high - low, log_expit(log_odds))
    log_rest = _log_sum(1.0 - high, high - low, log_expit(-log_odds))
    return -line.expected_loss(log_score, log_rest)


def _log_sum(floor: float, width: float, log_share: FloatArray) -> FloatArray:
    """ln(floor + width · share), also where the share underflows."""
    if floor == 0.0:
        return np.asarray(math.log(width) + log_share)
    return np.asarray(np.log(floor + width * np.exp(log_share)))


_MARGIN_LOSSES: Mapping[str, Function] = {
    "sigmoid": lambda margin: expit(-margin),
    "logistic": lambda margin: -log_expit(margin),
    "squared": lambda margin: (1.0 - margin) ** 2,
    "ramp": lambda margin: np.clip((1.0 - margin) / 2.0, 0.0, 1.0),
}


def _risk(model: GaussianScores, *, loss: str = "logistic") -> float:
    """E ℓ(s) of positives and E ℓ(−s) of negatives, the score read as a margin."""
    margin_loss = _MARGIN_LOSSES[_checks.choice(loss, "loss", tuple(_MARGIN_LOSSES))]
    line = gaussian_line(model)
    if model.margin:
        # The ramp has corners at the margins −1 and 1, which probabilities do not pass.
        line = line.cut([corner for corner in (-1.0, 1.0) if line.edges[0] < corner < line.edges[-1]])
    return line.expected_loss(margin_loss(line.nodes.s), margin_loss(-line.nodes.s))


TRUTHS: Mapping[str, Callable[..., float]] = MappingProxyType(
    {
        # Takes a threshold so that all the rates can be asked for in one loop.
        "prevalence": lambda model, *, threshold=None: model.prior,
        **{name: _rate(name) for name, metric in DECLARED.items() if isinstance(metric.function, Rate)},
        "precision": _precision,
        "npv": _npv,
        "fdr": lambda model, *, threshold: 1.0 - _precision(model, threshold=threshold),
        "fbeta": lambda model, *, beta, threshold: float(_confusion(model, threshold).fbeta(beta)),
        "mcc": _mcc,
        "lift": lambda model, *, threshold: _precision(model, threshold=threshold) / model.prior,
        "net_benefit": _net_benefit,
        "roc_auc": _roc_auc,
        "partial_auc": _partial_auc,
        "average_precision": _average_precision,
        "pr_auc": _average_precision,
        "precision_at_k": lambda model, *, k: float(_share_above(model, _x_at_share(model, k))),
        "recall_at_k": lambda model, *, k: float(ndtr(model.means[1] - _x_at_share(model, k))),
        "recall_at_fpr": lambda model, *, max_fpr: float(
            ndtr(model.separation + float(ndtri(_fpr_limit(max_fpr))))
        ),
        "brier": lambda model: line_brier(_probability_line(model, "brier")),
        "brier_skill": lambda model: line_skill(_probability_line(model, "brier_skill"), model.prior),
        "log_loss": _log_loss,
        "risk": _risk,
        "calibration_error": lambda model, *, norm=1: line_calibration_error(
            _probability_line(model, "calibration_error"), norm=norm
        ),
    }
)
"""The truth of each metric in a population of two normal classes."""

TRUTH_NAMES: tuple[str, ...] = tuple(TRUTHS)  # metrics whose truth a population of two normal classes knows
