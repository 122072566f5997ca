"""Our own estimator: the posterior of α (and of the purity) over a broad prior of ROC shapes.

The scores say U = α f₁ + (1−α) f₀, and of f₀ only that it is nowhere negative: any α up to the least ratio
f_U/f_P fits. Estimators that take that ratio land too high wherever classes overlap, and too high or too low
where few rows decide it. Here the ratio is known at every rank with its noise, f₀ is one of many shapes
(`Shapes`), and α is averaged over all that fit. Many shapes have an anchor, so that with many rows and an
anchor the posterior closes in on α; where classes overlap everywhere it stays as wide as the shapes leave it.

Draws from the posterior come by tempering: from the prior in steps that keep half of the draws alive.
Parameters live in the unit cube with a uniform prior. After each step the draws are resampled and moved by
Metropolis steps that leave the tempered posterior as it is (Del Moral, Doucet & Jasra 2006).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from halftruth._checks import Vector
from halftruth._errors import Note
from halftruth.prior._samples import Curve, Fit, Knowledge, Samples

__all__ = ["N_DRAWS", "fit_auto", "fit_auto_noisy", "fit_of"]

N_DRAWS = 2000
# Quantile of the posterior that is the estimate. The median leans low, since negatives that resemble the
# positives are always possible; .5, .55 and .6 were tried on the simulators.
POINT = 0.55
N_BINS = 28  # half of them, ever finer, in the top 30% of the positives, where α shows
FINEST = 0.004  # share of the positives in the first bin, where they are enough
MISFIT = 1.3  # deviance per degree of freedom beyond which all counts are taken as so much fewer
GROSS = 4.0  # beyond this that would cost too much: only the top is looked at, where shapes are simpler
TOPS = (1.0, 0.6, 0.3, 0.15)  # shares of the positives, from the top, that are looked at
FEWEST_BINS = 6  # that are looked at from the top: shapes have seven parameters
PURE = 0.15  # prior probability that every known positive is one, where the purity is estimated
LEAST_PURE = 0.15  # least purity considered: labels are made by people who try to get them right


@dataclass(frozen=True)
class Posterior:
    """Draws of α and of the purity, and how badly the best shape fits."""

    alpha: Vector
    purity: Vector
    misfit: float

    @property
    def notes(self) -> tuple[Note, ...]:
        if self.misfit <= 2 * MISFIT:
            return ()
        text = (
            f"No usual shape of the classes fits the scores (deviance {self.misfit:.1f} times the usual); "
            f"the interval was widened. Check that higher scores mean more positive."
        )
        return (Note("method", text),)


def fit_auto(samples: Samples, *, known: Knowledge | None = None, rng: np.random.Generator) -> Fit:
    """A middle point of the posterior of α."""
    drawn = posterior(samples, known or Knowledge(), rng)
    return fit_of(drawn.alpha, float(np.quantile(drawn.alpha, POINT)), notes=drawn.notes)


def fit_auto_noisy(samples: Samples, known: Knowledge, rng: np.random.Generator) -> tuple[Fit, Fit]:
    """Middle points of the posteriors of α and of the purity."""
    drawn = posterior(samples, known, rng)
    alpha, purity = (float(np.quantile(draws, POINT)) for draws in (drawn.alpha, drawn.purity))
    return fit_of(drawn.alpha, alpha, notes=drawn.notes), fit_of(drawn.purity, purity, label="ρ")


def fit_of(draws: Vector, value: float, *, label: str = "α", notes: tuple[Note, ...] = ()) -> Fit:
    """A value with the draws it stands for; their density is the diagnostic."""
    low, high = draws.min(), max(draws.max(), draws.min() + 1e-6)
    edge = np.linspace(max(0.0, low - (high - low) / 20), min(1.0, high + (high - low) / 20), 41)
    density = np.histogram(draws, edge, density=True)[0]
    middle = (edge[1:] + edge[:-1]) / 2
    curve = Curve(x=middle, y=density, x_label=label, y_label="posterior density", chosen=value)
    return Fit(value=value, curve=curve, notes=notes, replicates=draws)


def posterior(samples: Samples, known: Knowledge, rng: np.random.Generator) -> Posterior:
    """Draws from the posterior."""
    # Shapes that fit badly would give an interval that is too narrow. First less of the data is looked at,
    # from the top, where shapes are simpler; what misfit is left divides all counts (a quasi-likelihood).
    ranked = _Ranked.of(samples)
    # The purity shows at the bottom, among the negatives.
    for share in TOPS if known.purity is not None else TOPS[:1]:
        ranked_top = ranked.top(share)
        model = _Model(ranked_top, known)
        draws, likelihood = draw_posterior(model, model.n_parameters, N_DRAWS, rng)
        misfit = ranked_top.misfit(float((likelihood - model.of_sample(draws)).max()))
        if misfit <= GROSS:
            break
    if misfit > MISFIT:
        model = _Model(ranked_top.thinned(misfit), known)
        draws, _ = draw_posterior(model, model.n_parameters, N_DRAWS, rng)
    alpha, purity = model.shares(draws)
    return Posterior(alpha, purity, misfit)


@dataclass(frozen=True)
class _Ranked:
    """Counts of positives and unlabeled in bins from the highest scores down, cut at positive scores.

    The n positives cut the line into n + 1 gaps of equal expected share, so half a gap stands at either end.
    """

    positive: Vector
    unlabeled: Vector
    v: Vector  # share of the positives above the lower end of each bin; the last is 1
    ratio: float  # n_U/(n_P + 1)

    @classmethod
    def of(cls, samples: Samples) -> _Ranked:
        n_p, n_u = samples.n_positive, samples.n_unlabeled
        p, u = np.cumsum(samples.p[::-1]), np.cumsum(samples.u[::-1])
        fine = np.geomspace(max(FINEST, 1 / n_p), 0.3, N_BINS // 2) if n_p > 3 else np.asarray([])
        share = np.concatenate([fine, np.linspace(0.3, 1, N_BINS // 2)])
        at = np.unique(np.searchsorted(p, np.minimum(share, p[-1]) * (1 - 1e-12)))
        x = np.append(p[at] * n_p + 0.5, n_p + 1)
        y = np.append(u[at] * n_u, n_u)
        if y[-1] - y[-2] < 1e-9 * n_u and samples.unlabeled[::-1][at[-1]] > 0:
            # The lowest score of all is a tie, which does not say who would be lower: there is no gap below.
            x, y = np.delete(x, -2), np.delete(y, -2)
        return cls(np.diff(x, prepend=0), np.diff(y, prepend=0), x / (n_p + 1), n_u / (n_p + 1))

    def log_likelihood(self, theta: Vector) -> Vector:
        """Of which rows are unlabeled, given the rows, where f_U/f_P is theta (n_draws, n_bins)."""
        # Given that a row lies in a bin, it is unlabeled with odds n_U f_U/(n_P f_P): the law of the scores
        # themselves, on which no model is wanted, drops out.
        odds = np.maximum(self.ratio * theta, 1e-300)
        both = self.positive + self.unlabeled
        return np.asarray((self.unlabeled * np.log(odds) - both * np.log1p(odds)).sum(axis=1))

    def misfit(self, best: float) -> float:
        """Deviance per degree of freedom."""
        theta = np.maximum(self.unlabeled, 1e-12) / self.positive / self.ratio
        freedom = max(len(self.v) - N_PARAMETERS - 1, 5)
        return 2 * (float(self.log_likelihood(theta[None])[0]) - best) / freedom

    def top(self, share: float) -> _Ranked:
        """The bins down to a share of the positives alone: what lies lower says less of α."""
        n_bins = max(int((self.v <= share + 1e-9).sum()), min(len(self.v), FEWEST_BINS))
        return _Ranked(self.positive[:n_bins], self.unlabeled[:n_bins], self.v[:n_bins], self.ratio)

    def thinned(self, factor: float) -> _Ranked:
        return _Ranked(self.positive / factor, self.unlabeled / factor, self.v, self.ratio)


class _Model:
    """The log likelihood of draws in the unit cube: α/ρ, a shape, and perhaps ρ."""

    def __init__(self, ranked: _Ranked, known: Knowledge) -> None:
        self.ranked, self.known = ranked, known
        self.n_parameters = 1 + N_PARAMETERS + (known.purity is None)
        self.width = np.diff(ranked.v, prepend=0)
        # Dense towards both ends, where the curve may be steep.
        half = np.append(0, np.geomspace(1e-5, 0.5, 40))
        self.grid = np.unique(np.concatenate([half, 1 - half]))

    def shares(self, cube: Vector) -> tuple[Vector, Vector]:
        """α and the purity."""
        if self.known.purity is None:
            purity = LEAST_PURE + (1 - LEAST_PURE) * np.minimum(cube[:, -1] / (1 - PURE), 1)
        else:
            purity = np.full(len(cube), self.known.purity)
        low, high = (np.minimum(end, purity) for end in self.known.within)
        return low + (high - low) * cube[:, 0], purity

    def __call__(self, cube: Vector) -> Vector:
        alpha, purity = self.shares(cube)
        above = self._unlabeled_above(alpha[:, None], purity[:, None], Shapes(cube[:, 1 : 1 + N_PARAMETERS]))
        theta = np.diff(above, axis=1, prepend=0) / self.width
        return self.ranked.log_likelihood(theta) + self.of_sample(cube)

    def of_sample(self, cube: Vector) -> Vector:
        """Log likelihood of the labeled random sample."""
        if not any(self.known.labeled_counts):
            return np.zeros(len(cube))
        alpha = np.clip(self.shares(cube)[0], 1e-12, 1 - 1e-12)
        positives, negatives = self.known.labeled_counts
        return np.asarray(positives * np.log(alpha) + negatives * np.log1p(-alpha))

    def _unlabeled_above(self, alpha: Vector, purity: Vector, shapes: Shapes) -> Vector:
        """Share of the unlabeled above the scores that a share v of the known positives exceeds."""
        if self.known.purity == 1:
            v = self.ranked.v
            return alpha * v + (1 - alpha) * shapes(v)
        negatives = shapes(self.grid)
        known = purity * self.grid + (1 - purity) * negatives
        return _interpolate(self.ranked.v, known, alpha * self.grid + (1 - alpha) * negatives)


def _interpolate(at: Vector, x: Vector, y: Vector) -> Vector:
    """np.interp, row by row: x and y (n, k) ascending."""
    right = np.clip((x[:, None, :] < at[:, None]).sum(axis=2), 1, x.shape[1] - 1)
    x0, x1, y0, y1 = (np.take_along_axis(z, i, 1) for z in (x, y) for i in (right - 1, right))
    return np.asarray(y0 + (y1 - y0) * (at - x0) / np.maximum(x1 - x0, 1e-300))


N_PARAMETERS = 7
BINORMAL = 0.4  # prior probability of the first kind
NO_ANCHOR = 0.2  # prior probability that the second kind has no anchor
# Prior probability that no negatives resemble the positives, without an anchor and with one: negatives that
# leave an anchor free, of which another part lies all over the positives, would be strange.
NO_LIKENESS = (0.35, 0.9)
NONE_BELOW = 0.5  # prior probability that no separate share of the negatives is below every positive
STRAIGHT = 0.25  # prior probability of b = 1, and of c = 1
EQUAL_SPREADS = 0.5  # prior probability that both normal classes have one spread
RARELY_ALIKE = 5.0  # the part of the negatives that resembles the positives is Beta(1, this): mostly small
FARTHEST_APART = 5.0  # largest d of the binormal shapes
SPREADS = (0.6, 1.3)  # range of the negatives' standard deviation, in units of the positives'
MOST_ALIKE, STEEPEST, LOWEST = 3.0, 40.0, 300.0  # largest a, b and 1/c; their logarithms are uniform


@dataclass(frozen=True, eq=False)
class Shapes:
    """How the negatives may lie among the positives: curves G, one for each uniform draw (n, 7).

    Let v be the share of the positives that score higher, and G(v) the share of the negatives that do. Scores
    that rank well make G convex, from 0 to 1. Here G is one of

    - binormal: Φ(Φ⁻¹(v) − d), or with another spread of the negatives than the positives';
    - anchored: 1 − (1 − x^b)^c with x = (v − anchor)/(1 − anchor): no negative scores like the top share
      `anchor` of the positives, which may be 0, and a share `below` of them, which may be 0, is below
      every positive;

    and a part of the negatives, which may be none, resembles the positives: v^a.
    """

    cube: Vector

    def __call__(self, v: Vector) -> Vector:
        """G at each v, ascending: (n_draws, n)."""
        kind, anchor, b, c, below, alike, a = (self.cube[:, k, None] for k in range(N_PARAMETERS))
        normal = kind[:, 0] < BINORMAL
        anchor = np.where(normal[:, None], 0.0, _beyond(anchor, NO_ANCHOR) ** 2)
        out = np.empty((len(self.cube), len(v)))
        out[normal] = _binormal(v, b[normal], c[normal])
        other = ~normal
        out[other] = _anchored(v, anchor[other], b[other], c[other], below[other])
        none = np.where(anchor > 0, NO_LIKENESS[1], NO_LIKENESS[0])
        share = 1 - (1 - _beyond(alike, none)) ** (1 / RARELY_ALIKE)
        return np.asarray(out + share * (v ** (MOST_ALIKE**a) - out))


def _binormal(v: Vector, apart: Vector, spread: Vector) -> Vector:
    from scipy.special import ndtr, ndtri

    low, high = SPREADS
    unequal = 1 - EQUAL_SPREADS
    scale = np.where(spread > unequal, 1.0, low * (high / low) ** (spread / unequal))
    return np.asarray(ndtr((ndtri(v) - FARTHEST_APART * apart) / scale))


def _anchored(v: Vector, anchor: Vector, b: Vector, c: Vector, below: Vector) -> Vector:
    x = np.clip((v - anchor) / np.maximum(1 - anchor, 1e-12), 0, 1)
    inside = 1 - (1 - x ** (STEEPEST ** _beyond(b, STRAIGHT))) ** (LOWEST ** -_beyond(c, STRAIGHT))
    return np.where(v < 1, (1 - _beyond(below, NONE_BELOW)) * inside, 1.0)


def _beyond(x: Vector, spike: float | Vector) -> Vector:
    """Zero up to the spike, then evenly up to 1."""
    return np.clip((x - spike) / (1 - spike), 0, 1)


LogLikelihood = Callable[[Vector], Vector]  # (n_draws, n_parameters) in the unit cube → (n_draws,)

MOVES = 8  # Metropolis steps at each temperature, and twice as many at the last
ALIVE = 0.5  # share of the draws that a step of the temperature leaves in effect
ANYWHERE = 0.3  # how often a parameter is drawn from its prior: the way between kinds of shapes


def draw_posterior(
    log_likelihood: LogLikelihood, n_parameters: int, n_draws: int, rng: np.random.Generator
) -> tuple[Vector, Vector]:
    """Draws (n_draws, n_parameters) from the posterior, and their log likelihoods."""
    draws = rng.random((n_draws, n_parameters))
    fit = log_likelihood(draws)
    heat = 0.0
    while heat < 1:
        step = _next_step(fit, 1 - heat)
        heat = 1.0 if step == 1 - heat else heat + step
        share = np.cumsum(np.exp(step * (fit - fit.max())))
        # Systematic resampling: one random number, even steps; less noise than independent draws.
        chosen = np.searchsorted(share, share[-1] * (rng.random() + np.arange(n_draws)) / n_draws)
        draws, fit = draws[chosen], fit[chosen]
        for move in range(MOVES if heat < 1 else 2 * MOVES):
            proposed = _one_moved(draws, rng) if move % 2 else _all_moved(draws, rng)
            other = log_likelihood(proposed)
            # Proposals are symmetric and the prior is uniform, so that likelihoods alone decide.
            accepted = np.log1p(-rng.random(n_draws)) < heat * (other - fit)
            draws[accepted], fit[accepted] = proposed[accepted], other[accepted]
    return draws, fit


def _next_step(fit: Vector, left: float) -> float:
    """The largest step of the temperature that keeps enough draws in effect."""

    def alive(step: float) -> float:
        weight = np.exp(step * (fit - fit.max()))
        return float(weight.sum() ** 2 / (weight**2).sum() / len(fit))

    if alive(left) >= ALIVE:
        return left
    low, high = 0.0, left
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if alive(middle) >= ALIVE else (low, middle)
    return high


def _all_moved(draws: Vector, rng: np.random.Generator) -> Vector:
    """A normal step of every parameter, as the draws are spread; now and then a short one."""
    n, k = draws.shape
    away = draws - draws.mean(axis=0)
    factor = np.linalg.cholesky(away.T @ away / n + 1e-10 * np.eye(k))
    # 2.4/√k standard deviations: the best step of a random walk in k dimensions (Roberts et al. 1997).
    size = 2.4 / np.sqrt(k) * rng.choice([0.3, 1.0], (n, 1))
    return _into_cube(draws + size * rng.standard_normal((n, k)) @ factor.T)


def _one_moved(draws: Vector, rng: np.random.Generator) -> Vector:
    """A step of one parameter, short or anywhere."""
    n, k = draws.shape
    row, column = np.arange(n), rng.integers(0, k, n)
    near = draws[row, column] + rng.standard_normal(n) * draws.std(axis=0)[column]
    moved = draws.copy()
    moved[row, column] = _into_cube(np.where(rng.random(n) < ANYWHERE, rng.random(n), near))
    return moved


def _into_cube(x: Vector) -> Vector:
    """Reflected at 0 and 1, so that a step and its reverse are as likely."""
    x = np.abs(x) % 2
    return np.where(x > 1, 2 - x, x)
