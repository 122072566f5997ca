"""α as the slope at the end of the ROC curve of positives against unlabeled rows.

Ordered by score, the unlabeled share above a threshold is G_U = α v + (1 − α) G(v), where v is the positives'
share above it and G the negatives'. If negatives vanish at the top, G′(0) = 0 and the slope at 0 is α.
Two ways to read it: the least ratio of confidence bounds (Blanchard, Lee & Scott 2010, "Semi-Supervised
Novelty Detection") and a smooth curve fitted to it (Sanderson & Scott 2014, "Class Proportion Estimation
with Application to Multiclass Anomaly Rejection").

Best bin estimation: the ratio of tails at the threshold with the least upper bound, and its correction.
Garg et al. 2021, "Mixture Proportion Estimation and PU Learning: A Modern Approach". Above a threshold,
q_U/q_P = α + (1 − α) q_N/q_P, and the second part is the bias of the ratio. The corrected form, ours, lets it
grow like a power of q_P and extrapolates to q_P = 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from halftruth._checks import Vector
from halftruth._errors import Note
from halftruth.prior._samples import Curve, Fit, Samples

__all__ = ["fit_bbe", "fit_bbe_corrected", "fit_roc_curve", "fit_roc_slope"]

DELTA = 0.1  # chance that a bound of Blanchard et al. or of Garg et al. fails, as published
GAMMA = 0.01  # margin of the bound of Garg et al., as published
N_CELLS = 60  # groups of positives: three are the top 5%, and the cost does not grow with rows
FAINT = 1e-3  # Expected rows below which a cell is as good as empty. It keeps logarithms and weights finite.
ROUNDS = 8  # of reweighting: forty moved values by less than 1e-4, or .02 where no shape fits
SEPARATIONS = np.linspace(0.25, 8, 32)  # of binormal classes, from hardly any to no overlap
ANCHORS = np.linspace(0, 0.9, 10)  # share of the positives above the highest negative, in the power curve
POWERS = np.array([1, 1.5, 2, 3, 5, 8, 15, 30])  # how fast negatives come in below the anchor


def fit_roc_slope(samples: Samples) -> Fit:
    """The least (q_U + ε_U)/(q_P − ε_P) over thresholds at positive scores, at most 1."""
    # The ε are one-sided Dvoretzky–Kiefer–Wolfowitz terms that hold together with confidence 1 − `DELTA`. The
    # value is therefore an upper confidence bound on α that shrinks to it where negatives do not reach the
    # top; the published form has Vapnik–Chervonenkis terms, which for half-lines are the same but wider.
    slack_p, slack_u = (
        np.sqrt(np.log(2 / DELTA) / (2 * n)) for n in (samples.n_positive, samples.n_unlabeled)
    )
    usable = (samples.positive > 0) & (samples.p_above > slack_p * (1 + 1e-9))
    if not usable.any():
        return Fit(value=1.0, notes=(Note("small_sample", "Too few positives for a bound below 1."),))
    above = samples.p_above[usable]
    bound = (samples.u_above[usable] + slack_u) / (above - slack_p)
    best = int(np.argmin(bound))
    return Fit(value=min(1.0, float(bound[best])), curve=_of_bounds(above, bound, best))


def _of_bounds(above: Vector, bound: Vector, best: int) -> Curve:
    labels = "positives at or above the threshold", "upper bound on the ratio of unlabeled to positives"
    return Curve(x=above, y=bound, x_label=labels[0], y_label=labels[1], chosen=float(above[best]))


def fit_roc_curve(samples: Samples) -> Fit:
    """The slope at the end of a curve α v + (1 − α) G(v) fitted to the whole ROC curve."""
    # From the paper: a parametric concave ROC curve with a straight part, whose slope at the end is the
    # answer, fitted to the empirical curve. Ours: the two families of G (binormal with equal variances;
    # powers of the distance from an anchor), the binomial likelihood on sixty groups of positives, and the
    # mean over shapes by their likelihood instead of the single best one. Outside these families the value
    # has a bias that more rows do not remove. Negatives that end abruptly at some score are such a case, for
    # the place of the edge among the positives is noisy: errors of 0.01 to 0.02 remain.
    cells = Cells.of(samples)
    # How many negatives lie below every positive is left open: a curve through (1, 1) would be bent to it.
    known = np.append(np.ones(len(cells.width) - 1), 0.0)
    line = cells.n_unlabeled * cells.width
    bend = cells.n_unlabeled * np.diff(_shapes(cells.above), prepend=0, axis=1)
    expected = np.broadcast_to((cells.count + line) / 2, bend.shape)
    for _ in range(ROUNDS):
        alpha, beta = bent_line(known * cells.weight(expected), line, bend, cells.count)
        expected = alpha[:, None] * line + beta[:, None] * bend
    weight = likelihood_weights(-cells.deviance(expected) @ known / 2)
    curve = Curve(
        x=cells.above[:-1],
        y=(weight @ (expected / line))[:-1],
        x_label="positives above",
        y_label="fitted slope of the ROC curve of positives against unlabeled",
        chosen=0.0,
    )
    return Fit(value=min(1.0, float(weight @ alpha)), curve=curve)


@dataclass(frozen=True, eq=False)
class Cells:
    """Groups of positives of about one size in falling order of score, and the unlabeled rows among them.

    n positives cut the true positives' law into n + 1 parts of one law, the last below them all. So the mass
    of a cell of a parts is a gamma variable, nearly, and its ``count`` of unlabeled rows, given the ``count``
    and the ``parts`` together, binomial: that is the likelihood here.
    """

    above: Vector
    width: Vector
    parts: Vector
    count: Vector
    n_unlabeled: float

    @classmethod
    def of(cls, samples: Samples) -> Cells:
        """At most ``N_CELLS`` cells that end at positive scores, and one for what lies below."""
        p, u = samples.p_above[::-1], samples.u_above[::-1]
        n_cells = max(1, min(N_CELLS, int(samples.n_positive)))
        # Sums are rounded: a rank that is reached but for that is reached.
        rank = np.arange(1, n_cells + 1) / n_cells * p[-1] * (1 - 1e-12)
        at = np.unique(np.searchsorted(p, rank))
        n = samples.n_positive
        above = np.append(p[at] * (n / (n + 1)), 1.0)
        width = np.diff(above, prepend=0)
        count = samples.n_unlabeled * np.maximum(np.diff(np.append(u[at], 1.0), prepend=0), 0)
        return cls(above, width, (n + 1) * width, count, samples.n_unlabeled)

    def weight(self, expected: Vector) -> Vector:
        """One over the variance of the counts."""
        expected = np.maximum(expected, FAINT)
        return np.asarray(1 / (expected + expected**2 / self.parts))

    def deviance(self, expected: Vector) -> Vector:
        """Of each cell: twice what the log likelihood lacks of its largest value."""
        from scipy.special import xlogy

        expected = np.maximum(expected, FAINT)
        change = np.log((expected + self.parts) / (self.count + self.parts))
        fitted = xlogy(self.count, np.maximum(self.count, FAINT) / expected)
        return np.asarray(2 * (fitted + (self.count + self.parts) * change))


def likelihood_weights(log_likelihood: Vector) -> Vector:
    """Weights proportional to a likelihood."""
    weight = np.exp(log_likelihood - log_likelihood.max())
    return np.asarray(weight / weight.sum())


def bent_line(weight: Vector, line: Vector, bend: Vector, count: Vector) -> tuple[Vector, Vector]:
    """Weighted least squares of count on line and bend: coefficients in [0, 1] and not below 0."""
    bent = weight * bend
    a, b, c = weight @ line**2, bent @ line, (bent * bend).sum(-1)
    x, y = weight @ (line * count), bent @ count
    determinant = a * c - b * b
    solvable = determinant > 1e-9 * a * c
    determinant = np.where(solvable, determinant, 1)
    beta = np.maximum(np.where(solvable, (a * y - b * x) / determinant, 0), 0)
    alpha = np.where(beta > 0, (c * x - b * y) / determinant, x / a)
    clipped = np.clip(alpha, 0, 1)
    refit = np.maximum(y - clipped * b, 0) / np.where(c > 0, c, 1)
    return clipped, np.where(clipped == alpha, beta, refit)


def _shapes(above: Vector) -> Vector:
    """G of every shape at these shares of the positives, one row each."""
    from scipy.special import ndtr, ndtri

    binormal = ndtr(ndtri(above) - SEPARATIONS[:, None])
    anchor, power = (grid.ravel()[1:] for grid in np.meshgrid(ANCHORS, POWERS, indexing="ij"))
    below = np.maximum(above - anchor[:, None], 0) / (1 - anchor[:, None])
    return np.concatenate([binormal, below ** power[:, None]])


# Shares of the cells that a curve may be fitted to. The least is the smallest anchor we promise to find.
TAILS = np.array([0.05, 0.08, 0.1, 0.14, 0.2, 0.27, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.92, 0.96, 1])
FEWEST_CELLS = 3  # a curve of three parameters has something to say about no fewer
# Of the negatives' tail in the positives' tail. Below 2 it could hardly be told from α itself.
TAIL_POWERS = np.array([2, 2.5, 3, 4, 5.5, 8, 12, 20])
COST_OF_LEAVING = 0.7  # log likelihood a cell outside the tail costs: Akaike's 1 keeps bad cells too long
FOR_NO_NEGATIVES = 1.0  # log likelihood for a tail without negatives: Akaike's charge for a parameter


def fit_bbe(samples: Samples) -> Fit:
    """Best bin estimation as published, with thresholds at the distinct positive scores."""
    # The threshold minimises q_U/q_P + (1 + γ)/q_P · (√(ln(4/δ)/2n_P) + √(ln(4/δ)/2n_U)), and the value is
    # q_U/q_P there. It lies too high by the negatives above the threshold: about 0.34 for 0.30 with 500
    # positives from N(2, 1) and 5,000 unlabeled rows. Scores must come from held-out rows.
    known = samples.positive > 0
    p, u = samples.p_above[known], samples.u_above[known]
    slack = sum(np.sqrt(np.log(4 / DELTA) / (2 * n)) for n in (samples.n_positive, samples.n_unlabeled))
    with np.errstate(over="ignore"):  # a row of almost no weight has an infinite bound
        bound = (u + (1 + GAMMA) * slack) / p
    best = int(np.argmin(bound))
    return Fit(value=min(1.0, float(u[best] / p[best])), curve=_of_bounds(p, bound, best))


def fit_bbe_corrected(samples: Samples) -> Fit:
    """Best bin estimation, less the negatives above the threshold."""
    # In tails of the positives of many sizes, unlabeled counts follow α v + β vᵏ with β ≥ 0, v the positives'
    # share above. Each tail and k give an α by maximum likelihood, also β = 0. Their mean is taken with
    # weights exp(log likelihood) where cells outside the tail have a free count each, at a cost: a tail so
    # wide that its curve does not fit drops out, and wide ones are preferred to narrow ones. Where no
    # negative reaches the positives' top 5 %, the tails above them remain as rows grow, and the value is
    # consistent. The published form stands in where fewer than three distinct positive scores leave no curve.
    published = fit_bbe(samples)
    cells = Cells.of(samples)
    if len(cells.width) <= FEWEST_CELLS:
        return published
    size = np.unique(np.maximum(np.round(len(cells.width) * TAILS), FEWEST_CELLS).astype(int))
    alpha, log_likelihood = _tail_fits(cells, size)
    weight = likelihood_weights(log_likelihood)
    of_tail = weight.sum(1)
    weighty = of_tail > 0
    curve = Curve(
        x=cells.above[size[weighty] - 1],
        y=(weight * alpha).sum(1)[weighty] / of_tail[weighty],
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
    tail = np.minimum(cells.above / reach, 1)[:, None] ** TAIL_POWERS[:, None]
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
    log_likelihood[:, :-1] -= np.log(len(TAIL_POWERS))
    log_likelihood[:, -1] += FOR_NO_NEGATIVES
    return alpha, log_likelihood
