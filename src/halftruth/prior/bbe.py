"""Best bin estimation: the ratio of tails at the threshold with the least upper bound, and its correction.

Garg et al. 2021, "Mixture Proportion Estimation and PU Learning: A Modern Approach". Above a threshold,
q_U/q_P = α + (1 − α) q_N/q_P, and the second part is the bias of the ratio. The corrected form, ours, lets it
grow like a power of q_P and extrapolates to q_P = 0.
"""

from __future__ import annotations

import numpy as np

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import Note
from halftruth.prior.fit import Curve, Fit
from halftruth.prior.roc_slope import ROUNDS, Cells, bent_line, likelihood_weights
from halftruth.prior.samples import Samples

TAILS = np.array([0.05, 0.08, 0.1, 0.14, 0.2, 0.27, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.92, 0.96, 1])
"""Shares of the cells that a curve may be fitted to. The least is the smallest anchor we promise to find."""
FEWEST_CELLS = 3
"""A curve of three parameters has something to say about no fewer."""
POWERS = np.array([2, 2.5, 3, 4, 5.5, 8, 12, 20])
"""Of the negatives' tail in the positives' tail. Below 2 it could hardly be told from α itself."""
COST_OF_LEAVING = 0.7
"""Log likelihood that a cell outside the tail costs. Akaike's 1 keeps cells that do not fit too long."""
FOR_NO_NEGATIVES = 1.0
"""Log likelihood in favour of a tail without negatives: Akaike's charge for the parameter it spares."""


def fit(samples: Samples, *, delta: float = 0.1, gamma: float = 0.01) -> Fit:
    """Best bin estimation as published, with thresholds at the distinct positive scores.

    The threshold minimises q_U/q_P + (1 + γ)/q_P · (√(ln(4/δ)/2n_P) + √(ln(4/δ)/2n_U)), and the value is
    q_U/q_P there. It lies too high by the negatives above the threshold: about 0.34 for 0.30 with 500
    positives from N(2, 1) and 5,000 unlabeled rows. Scores must come from held-out rows.

    Parameters
    ----------
    samples : Samples
    delta, gamma : float
        Error and margin of the bound.

    Returns
    -------
    Fit
    """
    delta = _checks.inside(delta, "delta", 0.0, 1.0, advice="Pass 0.1, as published.")
    gamma = _checks.inside(gamma, "gamma", 0.0, 1.0, closed="left", advice="Pass 0.01, as published.")
    known = samples.positive > 0
    p, u = samples.p_above[known], samples.u_above[known]
    slack = sum(np.sqrt(np.log(4 / delta) / (2 * n)) for n in (samples.n_positive, samples.n_unlabeled))
    with np.errstate(over="ignore"):  # a row of almost no weight has an infinite bound
        bound = (u + (1 + gamma) * slack) / p
    best = int(np.argmin(bound))
    curve = Curve(
        x=p,
        y=bound,
        x_label="positives at or above the threshold",
        y_label="upper bound on the ratio of unlabeled to positives",
        chosen=float(p[best]),
    )
    return Fit(value=min(1.0, float(u[best] / p[best])), curve=curve)


def fit_corrected(samples: Samples, *, delta: float = 0.1, gamma: float = 0.01) -> Fit:
    """Best bin estimation, less the negatives above the threshold.

    In tails of the positives of many sizes, unlabeled counts follow α v + β vᵏ with β ≥ 0, v the positives'
    share above. Each tail and k give an α by maximum likelihood, also β = 0. Their mean is taken with weights
    exp(log likelihood) where cells outside the tail have a free count each, at a cost: a tail so wide
    that its curve does not fit drops out, and wide ones are preferred to narrow ones. Where no negative
    reaches the positives' top 5 %, the tails above them remain as rows grow, and the value is consistent.

    Parameters
    ----------
    samples : Samples
    delta, gamma : float
        Of the published form, which stands in where fewer than three distinct positive scores leave no curve.

    Returns
    -------
    Fit
    """
    published = fit(samples, delta=delta, gamma=gamma)
    cells = Cells.of(samples)
    if len(cells.width) <= FEWEST_CELLS:
        return published
    size = np.unique(np.maximum(np.round(len(cells.width) * TAILS), FEWEST_CELLS).astype(int))
    alpha, log_likelihood = _tail_fits(cells, size)
    weight = likelihood_weights(log_likelihood)
    of_tail = weight.sum(1)
    seen = of_tail > 0
    curve = Curve(
        x=cells.above[size[seen] - 1],
        y=(weight * alpha).sum(1)[seen] / of_tail[seen],
        x_label="positives in the tail",
        y_label="α extrapolated from the tail",
        chosen=float(cells.above[size[np.argmax(of_tail)] - 1]),
    )
    note = Note("method", f"Without the correction: {published.value:.3g}.")
    return Fit(value=min(1.0, float((weight * alpha).sum())), curve=curve, notes=(note,))


def _tail_fits(cells: Cells, size: Vector) -> tuple[Vector, Vector]:
    """α and penalised log likelihood, a row for each tail, a column for each power and one for β = 0."""
    inside = np.arange(len(cells.width)) < size[:, None]
    reach = cells.above[size - 1][:, None]
    tail = np.minimum(cells.above / reach, 1)[:, None] ** POWERS[:, None]
    bend = cells.n_unlabeled * np.diff(tail, prepend=0, axis=2)
    bend = np.concatenate([bend, np.zeros_like(bend[:, :1])], axis=1)
    line = cells.n_unlabeled * cells.width
    share = cells.count.sum() * cells.width
    expected = np.broadcast_to((cells.count + share) / 2, bend.shape)
    inside = inside[:, None]
    for _ in range(ROUNDS):
        alpha, beta = bent_line(inside * cells.weight(expected), line, bend, cells.count)
        expected = alpha[..., None] * line + beta[..., None] * bend
    log_likelihood = -(inside * cells.deviance(expected)).sum(2) / 2 + COST_OF_LEAVING * size[:, None]
    log_likelihood[:, :-1] -= np.log(len(POWERS))
    log_likelihood[:, -1] += FOR_NO_NEGATIVES
    return alpha, log_likelihood
