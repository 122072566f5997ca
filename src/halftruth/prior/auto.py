"""Our own estimator: the posterior of α (and of the purity) over a broad prior of ROC shapes.

The scores say U = α f₁ + (1−α) f₀, and of f₀ only that it is nowhere negative: any α up to the least ratio
f_U/f_P fits. Estimators that take that ratio land too high wherever classes overlap, and too high or too low
where few rows decide it. Here the ratio is known at every rank with its noise, f₀ is one of many shapes
(`shapes`), and α is averaged over all that fit. Many shapes have an anchor, so that with many rows and an
anchor the posterior closes in on α; where classes overlap everywhere it stays as wide as the shapes leave it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from halftruth._checks import Vector
from halftruth._errors import Note
from halftruth.prior.fit import Curve, Fit
from halftruth.prior.sampler import draw_posterior
from halftruth.prior.samples import Samples
from halftruth.prior.shapes import N_PARAMETERS, Shapes

N_DRAWS = 2000
POINT = 0.55
"""Quantile of the posterior that is the estimate. The median leans low, since negatives that resemble the
positives are always possible; .5, .55 and .6 were tried on the simulators."""
N_BINS = 28
FINEST = 0.004
"""Share of the positives in the first bin, where they are enough."""
MISFIT = 1.3
"""Deviance per degree of freedom beyond which no shape fits well: all counts are taken as so much fewer."""
GROSS = 4.0
"""Beyond this that would cost too much: only the top is looked at, where shapes are simpler."""
TOPS = (1.0, 0.6, 0.3, 0.15)
"""Shares of the positives, from the top, that are looked at."""
FEWEST_BINS = 6
PURE = 0.15
"""Prior probability that every known positive is one, where the purity is estimated."""
LEAST_PURE = 0.15
"""Least purity considered: labels are made by people who try to get them right."""


@dataclass(frozen=True)
class Knowledge:
    """What is known besides the scores."""

    purity: float | None = 1.0
    """None: to be estimated."""
    within: tuple[float, float] = (0.0, 1.0)
    """Between which values α lies."""
    found: tuple[float, float] = (0.0, 0.0)
    """Positives and negatives in a labeled random sample of the unlabeled."""


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


def fit(samples: Samples, *, known: Knowledge | None = None, rng: np.random.Generator) -> Fit:
    """A middle point of the posterior of α."""
    drawn = posterior(samples, known or Knowledge(), rng)
    return fit_of(drawn.alpha, float(np.quantile(drawn.alpha, POINT)), notes=drawn.notes)


def fit_noisy(samples: Samples, known: Knowledge, rng: np.random.Generator) -> tuple[Fit, Fit]:
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
    ranked = _Ranked.of(samples)
    # The purity shows at the bottom, among the negatives.
    for share in TOPS if known.purity is not None else TOPS[:1]:
        part = ranked.top(share)
        model = _Model(part, known)
        draws, likelihood = draw_posterior(model, model.n_parameters, N_DRAWS, rng)
        misfit = part.misfit(float((likelihood - model.of_sample(draws)).max()))
        if misfit <= GROSS:
            break
    if misfit > MISFIT:
        model = _Model(part.thinned(misfit), known)
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
    v: Vector
    """Share of the positives above the lower end of each bin; the last is 1."""
    ratio: float
    """n_U/(n_P + 1)."""

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
        kept = max(int((self.v <= share + 1e-9).sum()), min(len(self.v), FEWEST_BINS))
        return _Ranked(self.positive[:kept], self.unlabeled[:kept], self.v[:kept], self.ratio)

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
        if not any(self.known.found):
            return np.zeros(len(cube))
        alpha = np.clip(self.shares(cube)[0], 1e-12, 1 - 1e-12)
        positives, negatives = self.known.found
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
