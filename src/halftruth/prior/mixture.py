"""Known negatives: α is the share for which U = α P + (1−α) N, with no further assumption.

For any function h of the score α = (E_U h − E_N h)/(E_P h − E_N h). With noise in all three samples the
variance of the plug-in is least for h = f_P/(A f_P + B f_N), A = α/n_U + α²/n_P and
B = (1−α)/n_U + (1−α)²/n_N: the solution of V h = f_P − f_N with V the covariance of the empirical
U − αP − (1−α)N. f_P/f_N comes from a logistic regression on the normal scores of the pooled ranks and
their squares. If that is a poor fit, α̂ is still consistent, only less precise.
"""

from __future__ import annotations

import numpy as np

from halftruth._checks import Vector
from halftruth._errors import Note, NotIdentifiable, arg
from halftruth.prior import em
from halftruth.prior.fit import Curve, Fit
from halftruth.prior.samples import Samples

CELLS = 4096
"""Scores are joined into so many cells of the pooled ranks: h hardly changes within one."""
RIDGE = (0.0, 0.3, 10.0)
"""Penalty, in rows, on the coefficients of 1, z and z²: the best of seven in simulations of small samples."""
STEPS = 30
"""Most steps of Newton and of the iteration of α, h. Both take four to eight."""
HARDLY = 2.0
"""Standard errors by which E_P h and E_N h differ at least, or a note says that α̂ is mostly noise."""
ROUNDS = 4
"""Rounds of α, h. The estimate is consistent after each; the variance settles after the second."""
OUTERMOST = 1e-12
"""Ranks are kept this far from 0 and 1, where only scores without mass can be."""


def fit(samples: Samples) -> Fit:
    """α from P, U and N by the linear functional of least variance.

    Only the order of the scores matters. The noise of all three samples counts, by their rows in effect.
    """
    if samples.negative is None:
        raise NotIdentifiable(
            f"A mixture of positives and negatives needs known negatives. Pass {arg('negative')}."
        )
    shares = np.stack([samples.p, samples.u, em.share_of(samples.negative)])
    rank = em.mid_ranks(*shares)
    if len(rank) > CELLS:
        shares = np.stack(em.joined(tuple(shares), rank, CELLS))
        rank = em.mid_ranks(*shares)
    sizes = np.array([samples.n_positive, samples.n_unlabeled, samples.n_negative])
    posterior = _posterior(shares[0], shares[2], rank, sizes)
    alpha, error = 0.5, 0.5
    for _ in range(ROUNDS):
        h = _weight(posterior, alpha, error, sizes)
        mean = shares @ h
        variance = shares @ h**2 - mean**2
        contrast = abs(mean[0] - mean[2])
        if contrast <= 1e-9 * h.max():  # rounding, or P and N are one law
            return _uninformed(samples)
        alpha = float(np.clip((mean[1] - mean[2]) / (mean[0] - mean[2]), 0.0, 1.0))
        error = np.sqrt(np.maximum(variance, 0) / sizes @ [alpha**2, 1.0, (1 - alpha) ** 2]) / contrast
    return _result(alpha, mean, variance, sizes)


def _posterior(positive: Vector, negative: Vector, rank: Vector, sizes: Vector) -> Vector:
    """f_P/(f_P + f_N) by ridge logistic regression with the classes weighted equally."""
    from scipy.special import expit, ndtri

    z = ndtri(np.clip(rank, OUTERMOST, 1 - OUTERMOST))
    design = np.stack([np.ones_like(z), z, z**2])
    penalty = np.array(RIDGE) * (1 / sizes[0] + 1 / sizes[2]) / 2
    theta = np.zeros(3)
    for _ in range(STEPS):
        chance = expit(theta @ design)
        gradient = design @ (positive * (1 - chance) - negative * chance) - penalty * theta
        curvature = (design * ((positive + negative) * chance * (1 - chance))) @ design.T
        step = np.linalg.solve(curvature + np.diag(penalty + 1e-12), gradient)
        theta = theta + np.clip(step, -3, 3)
        if np.abs(step).max() < 1e-6:
            break
    return np.asarray(expit(theta @ design))


def _weight(posterior: Vector, alpha: float, error: float, sizes: Vector) -> Vector:
    """The h of least variance at this α, kept one standard error (and half a row) inside (0, 1).

    An α nearer to an end than it is known would give a few extreme rows nearly all the weight.
    """
    n_positive, n_unlabeled, n_negative = sizes
    inside = min(max(error, 0.5 / n_unlabeled), 0.5)
    a = min(max(alpha, inside), 1 - inside)
    of_positive = a / n_unlabeled + a**2 / n_positive
    of_negative = (1 - a) / n_unlabeled + (1 - a) ** 2 / n_negative
    return np.asarray(posterior / (of_positive * posterior + of_negative * (1 - posterior)))


def _result(alpha: float, mean: Vector, variance: Vector, sizes: Vector) -> Fit:
    noise = variance / sizes
    grid = np.linspace(0, 1, 101)
    misfit = mean[1] - grid * mean[0] - (1 - grid) * mean[2]
    spread = noise[1] + grid**2 * noise[0] + (1 - grid) ** 2 * noise[2]
    least = 1e-12 * (mean**2).max()  # a sample of one score has no noise of its own
    curve = Curve(
        x=grid,
        y=misfit**2 / np.maximum(spread, least),
        x_label="α",
        y_label="misfit of αP + (1−α)N to U, in squared standard errors",
        chosen=alpha,
    )
    notes: tuple[Note, ...] = ()
    if (mean[0] - mean[2]) ** 2 < HARDLY**2 * (noise[0] + noise[2]):
        text = "Known positives and negatives hardly differ in score, so the value is mostly noise."
        notes = (Note("identifiability", text),)
    return Fit(value=alpha, curve=curve, notes=notes)


def _uninformed(samples: Samples) -> Fit:
    """P and N say nothing: what P and U say by themselves, under the assumption of `em.presence_only`."""
    rest = em.presence_only(samples.without_negatives())
    text = "Known positives and negatives have the same scores: the value comes from P and U alone."
    return Fit(value=rest.value, curve=rest.curve, notes=(Note("identifiability", text), *rest.notes))
