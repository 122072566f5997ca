"""α as the share for which U = α P + (1−α) N: of three samples, or of two and an assumed form of N.

`fit_mixture` needs known negatives and no further assumption. For any function h of the score
α = (E_U h − E_N h)/(E_P h − E_N h). With noise in all three samples the
variance of the plug-in is least for h = f_P/(A f_P + B f_N), A = α/n_U + α²/n_P and
B = (1−α)/n_U + (1−α)²/n_N: the solution of V h = f_P − f_N with V the covariance of the empirical
U − αP − (1−α)N. f_P/f_N comes from a logistic regression on the normal scores of the pooled ranks and
their squares. If that is a poor fit, α̂ is still consistent, only less precise.

`fit_em` is EM under label shift: only the share of positives changes between the labeled rows and U.
With known negatives the ratio f_P/f_N is estimated on bins of the pooled ranks, and α is the
maximum-likelihood share of U (Saerens, Latinne & Decaestecker 2002). Without them f₀/f₁ = exp(a − b z) is
assumed on a stated scale z of the score, and (α, a, b) maximise the case-control likelihood (Lancaster &
Imbens 1996; EM by Ward et al. 2009). α is then identified through this form alone: no other part of the
data speaks of it. If log f₁/f₀ is not linear in z, α̂ does not approach α, and may be off in either direction.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from halftruth._checks import Vector
from halftruth._errors import Note
from halftruth.prior._samples import Curve, Fit, Samples

__all__ = ["fit_em", "fit_mixture", "joined", "mid_ranks"]

BINS_PER_CUBE_ROOT = 1.5  # of the smaller labeled sample: the best of several in simulations
PSEUDO_ROWS = 0.5  # added to each bin of the labeled samples, so that no bin excludes a class outright
TILT_CELLS = 128  # of a likelihood smooth in z: more change α̂ by less than its noise
STEEPEST = 30.0  # Largest |b| on the standardised scale. Classes this far apart do not overlap in any sample.
FREE_FIT = 5.99  # 95% of χ²(2): what a tilt gains in twice the log likelihood where there is none
CLIP = 1e-6  # probabilities are kept this far from 0 and 1 before taking logits
ENOUGH = 1e-4  # a step that gains less log likelihood than this is the last
GRID = 17  # values of α at which the likelihood is maximised at once, closing in twice on the best


def fit_em(samples: Samples) -> Fit:
    """α by EM: with known negatives if there are any, else presence-only on an exponential tilt."""
    # With negatives only the order of scores matters. Without them the result hangs on their scale: logits
    # for scores inside [0, 1], else the scores themselves.
    return presence_only(samples) if samples.negative is None else label_shift(samples)


def label_shift(samples: Samples) -> Fit:
    """The share of U that maximises Σ_U log(α f_P + (1−α) f_N), densities by bins of pooled ranks."""
    assert samples.negative is not None  # refused by the caller
    n = samples.negative / samples.negative.sum()
    count = max(2, round(BINS_PER_CUBE_ROOT * min(samples.n_positive, samples.n_negative) ** (1 / 3)))
    u, p, n = joined((samples.u, samples.p, n), mid_ranks(samples.p, n), count)
    positive, negative = (
        share_of(size * mass + PSEUDO_ROWS)
        for size, mass in ((samples.n_positive, p), (samples.n_negative, n))
    )
    grid = np.linspace(0, 1, 101)
    likelihood = np.log(np.outer(grid, positive) + np.outer(1 - grid, negative)) @ u
    if np.allclose(positive, negative, rtol=1e-9):
        text = "Known positives and negatives look alike, so any share fits; 1 is shown."
        value, notes = 1.0, [Note("identifiability", text)]
    else:
        value, notes = mixing_share(positive, negative, u), []
    curve = Curve(
        x=grid,
        y=likelihood - likelihood.max(),
        x_label="α",
        y_label="log likelihood for each unlabeled row, below its maximum",
        chosen=value,
    )
    return Fit(value=value, curve=curve, notes=tuple(notes))


def mixing_share(positive: Vector, negative: Vector, unlabeled: Vector) -> float:
    """The maximiser of Σ u log(α p + (1−α) n), where the iterations of EM end. p and n are above 0."""
    # The sum is concave in α: its derivative has one root, found by halving.
    contrast = positive - negative

    def slope(alpha: float) -> float:
        return float(unlabeled @ (contrast / (negative + alpha * contrast)))

    if slope(0.0) <= 0:
        return 0.0
    if slope(1.0) >= 0:
        return 1.0
    low, high = 0.0, 1.0
    while (middle := (low + high) / 2) not in (low, high) and high - low > 1e-12:
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    return middle


def presence_only(samples: Samples) -> Fit:
    """α from P and U alone, if log f₁/f₀ is linear in z: f_U/f_P = α + exp(c − b z)."""
    tilt = _Tilt.of(samples)
    grid = np.linspace(0, 1, GRID)
    height, theta = tilt.profile(grid, tilt.start(grid), 40)
    x, y, best = grid, height, int(np.argmax(height))
    for _ in range(2):
        step = x[1] - x[0]
        x = np.linspace(max(0.0, x[best] - step), min(1.0, x[best] + step), GRID)
        y, theta = tilt.profile(x, np.repeat(theta[:, best : best + 1], GRID, axis=1), 8)
        best = int(np.argmax(y))
    notes = [Note("identifiability", f"α is identified only if log f₁/f₀ is a line in the {tilt.scale}.")]
    if 2 * (y[best] - tilt.level()) < FREE_FIT:
        value = 1.0
        text = "Positives and unlabeled differ no more than two samples of one law: any share fits."
        notes.append(Note("identifiability", text))
    else:
        value = float(x[best])
    top = max(height.max(), y[best])
    curve = Curve(
        x=grid, y=height - top, x_label="α", y_label="log likelihood below its maximum", chosen=value
    )
    return Fit(value=value, curve=curve, notes=tuple(notes))


@dataclass(frozen=True, kw_only=True, eq=False)
class _Tilt:
    """Rows in effect of P and U at values of z, for the model f_U/f_P = α + exp(c − b z).

    Among all rows the odds of U are (n_U/n_P) f_U/f_P. For free α and c this binomial likelihood is also the
    empirical likelihood of both samples: its maximum obeys ∫ f_P (α + exp(c − b z)) = 1 by itself.
    """

    z: Vector
    positive: Vector
    unlabeled: Vector
    odds: float
    scale: str

    @classmethod
    def of(cls, samples: Samples) -> _Tilt:
        z, scale = _scaled(samples.score)
        pooled = (samples.p + samples.u) / 2
        z = z - pooled @ z
        spread = np.sqrt(pooled @ z**2)
        z = z / spread if spread > 0 else np.zeros_like(z)
        p, u, total, weight = joined(
            (samples.p, samples.u, pooled * z, pooled), mid_ranks(samples.p, samples.u), TILT_CELLS
        )
        used = weight > 0
        return cls(
            z=total[used] / weight[used],
            positive=samples.n_positive * p[used],
            unlabeled=samples.n_unlabeled * u[used],
            odds=samples.n_unlabeled / samples.n_positive,
            scale=scale,
        )

    def start(self, grid: Vector) -> Vector:
        """(c, b) for each α: a moderate tilt toward the side where the positives are."""
        side = share_of(self.positive) @ self.z - share_of(self.unlabeled) @ self.z
        return np.stack([np.log(np.maximum(1 - grid, 0.01)), np.full(len(grid), np.sign(side))])

    def level(self) -> float:
        """The log likelihood of no difference between P and U."""
        return float(self._height(np.zeros((1, len(self.z))))[0])

    def _height(self, log_ratio: Vector) -> Vector:
        eta = np.log(self.odds) + log_ratio
        rows = self.positive + self.unlabeled
        return np.asarray(eta @ self.unlabeled - np.logaddexp(0, eta) @ rows)

    def profile(self, alpha: Vector, theta: Vector, steps: int) -> tuple[Vector, Vector]:
        """The largest log likelihood at each α, and its (c, b): damped Fisher scoring, all α at once."""
        bound = np.array([[2 * STEEPEST], [STEEPEST]])
        fixed, z, rows = alpha[:, None], self.z, self.positive + self.unlabeled
        damping = np.full(len(alpha), 1e-2)
        ratio, tilted = self._ratio(fixed, theta)
        height = self._height(np.log(ratio))
        for _ in range(steps):
            chance = self.odds * ratio / (1 + self.odds * ratio)
            lean = tilted / ratio  # the derivative of log ratio by c; that by b is −z times it
            residual = lean * (self.unlabeled - rows * chance)
            weight = lean**2 * (rows * chance * (1 - chance))
            g0, g1 = residual.sum(axis=1), -(residual @ z)
            h00, h01, h11 = weight.sum(axis=1), -(weight @ z), weight @ z**2
            h00, h11 = h00 * (1 + damping) + 1e-9, h11 * (1 + damping) + 1e-9
            det = h00 * h11 - h01**2
            move = np.stack([h11 * g0 - h01 * g1, h00 * g1 - h01 * g0]) / det
            trial = np.clip(theta + np.clip(move, -5, 5), -bound, bound)
            trial_ratio, trial_tilted = self._ratio(fixed, trial)
            trial_height = self._height(np.log(trial_ratio))
            better = trial_height > height
            gain = np.where(better, trial_height - height, 0.0)
            theta, height = np.where(better, trial, theta), np.where(better, trial_height, height)
            ratio = np.where(better[:, None], trial_ratio, ratio)
            tilted = np.where(better[:, None], trial_tilted, tilted)
            damping = np.clip(np.where(better, damping / 5, damping * 10), 1e-8, 1e8)
            if better.any() and gain.max() < ENOUGH:
                break
        return height, theta

    def _ratio(self, alpha: Vector, theta: Vector) -> tuple[Vector, Vector]:
        """f_U/f_P and its second term, for each row of (c, b)."""
        tilted = np.exp(np.clip(theta[0][:, None] - theta[1][:, None] * self.z, -200, 200))
        return alpha + tilted, tilted


def _scaled(score: Vector) -> tuple[Vector, str]:
    """Logits of scores inside [0, 1]; others relative to the largest, so that no square overflows."""
    from scipy.special import logit

    if score[0] >= 0 and score[-1] <= 1:
        return np.asarray(logit(np.clip(score, CLIP, 1 - CLIP))), "logit of the score"
    return score / max(abs(score[0]), abs(score[-1])), "score"


def share_of(mass: Vector) -> Vector:
    """Masses as shares of their sum."""
    return np.asarray(mass / mass.sum())


def mid_ranks(*shares: Vector) -> Vector:
    """Rank of each score in the pool of the samples, each of weight one: in [0, 1], ties in the middle."""
    pooled = np.sum(shares, axis=0) / len(shares)
    return np.asarray(np.clip(np.cumsum(pooled) - pooled / 2, 0.0, 1.0))


def joined(masses: tuple[Vector, ...], rank: Vector, count: int) -> list[Vector]:
    """The masses of neighbouring scores summed into at most ``count`` cells of equal rank width."""
    if len(rank) <= count:
        return list(masses)
    cell = np.minimum((rank * count).astype(np.intp), count - 1)
    return [np.bincount(cell, mass, minlength=count).astype(np.float64) for mass in masses]


CELLS = 4096  # scores are joined into so many cells of the pooled ranks: h hardly changes within one
RIDGE = (0.0, 0.3, 10.0)  # penalty in rows on 1, z and z²: the best of seven for small samples
STEPS = 30  # Most steps of Newton and of the iteration of α, h. Both take four to eight.
HARDLY = 2.0  # standard errors between E_P h and E_N h below which a note says that α̂ is mostly noise
ROUNDS = 4  # Rounds of α, h. The estimate is consistent after each; the variance settles after the second.
OUTERMOST = 1e-12  # ranks are kept this far from 0 and 1, where only scores without mass can be


def fit_mixture(samples: Samples) -> Fit:
    """α from P, U and N by the linear functional of least variance."""
    # Only the order of the scores matters. The noise of all three samples counts, by their rows in effect.
    assert samples.negative is not None  # refused by the caller
    shares = np.stack([samples.p, samples.u, share_of(samples.negative)])
    rank = mid_ranks(*shares)
    if len(rank) > CELLS:
        shares = np.stack(joined(tuple(shares), rank, CELLS))
        rank = mid_ranks(*shares)
    sizes = np.array([samples.n_positive, samples.n_unlabeled, samples.n_negative])
    posterior = _posterior(shares[0], shares[2], rank, sizes)
    alpha, error = 0.5, 0.5
    for _ in range(ROUNDS):
        h = _weight(posterior, alpha, error, sizes)
        mean = shares @ h
        variance = shares @ h**2 - mean**2
        contrast = abs(mean[0] - mean[2])
        if contrast <= 1e-9 * h.max():  # rounding, or P and N are one law: what P and U say by themselves
            fit = presence_only(samples)
            text = "Known positives and negatives have the same scores: the value comes from P and U alone."
            return replace(fit, notes=(Note("identifiability", text), *fit.notes))
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
    """The h of least variance at this α, kept one standard error (and half a row) inside (0, 1)."""
    # An α nearer to an end than it is known would give a few extreme rows nearly all the weight.
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
