"""Two normal classes in any number of dimensions: exact posteriors, and the exact Bayes error."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, ndtr

from halftruth import _checks
from halftruth._errors import InputError, arg
from halftruth.simulate._draws import Draw, FloatArray, IntArray, Rng
from halftruth.simulate._population import DrawnPopulation

if TYPE_CHECKING:
    from halftruth.evidence import PositiveConfidence

__all__ = ["GaussianPair", "bayes_setups"]

_REACH = 40.0
"""The integrand of the Bayes error falls at least as e^−u: nothing of a double is left beyond this u."""
_BEND = 0.3
"""Slope of the arms of the contour; below 1 the Gaussian factors still fall along them."""
_FEWEST_POINTS, _MOST_POINTS = 2**8, 2**17
_AGREE = 1e-12
_UNDERFLOW = -745.0
"""The exponential of anything less is 0 in doubles."""


class _ClassLaw(NamedTuple):
    """Mean and covariance of a class, as tuples: hashable, and nobody can write into them."""

    mean: tuple[float, ...]
    cov: tuple[tuple[float, ...], ...]


class _Moments(NamedTuple):
    """The same as arrays, with the lower triangle whose square is the covariance."""

    mean: FloatArray
    cov: FloatArray
    root: FloatArray

    @classmethod
    def of(cls, law: tuple[ArrayLike, ArrayLike]) -> _Moments:
        mean, cov = (np.array(x, dtype=np.float64) for x in law)
        return cls(mean, cov, np.asarray(np.linalg.cholesky(cov), dtype=np.float64))


@dataclass(frozen=True, kw_only=True, repr=False)
class GaussianPair(DrawnPopulation):
    """A population of two normal classes in d dimensions, with its exact posterior and Bayes error.

    X | Y=1 ~ N(mean₊, cov₊), X | Y=0 ~ N(mean₋, cov₋), P(Y=1) = prior; the score of a row is its
    posterior P(Y=1 | x).

    Parameters
    ----------
    positive, negative : (mean, cov)
        Of each class: a mean of shape (d,), and a covariance of shape (d, d), positive definite.
    prior : float in (0, 1)
        P(Y=1) in the population.

    Notes
    -----
    Wherever `rng` is an int, the same int draws the same rows. A draw's `x` has shape (n, d).

    Examples
    --------
    >>> pair = GaussianPair(positive=([0, 0], np.eye(2)), negative=([3, 4], np.eye(2)), prior=0.5)
    >>> round(pair.bayes_error, 6)  # the normal mass beyond half the distance, 2.5
    0.00621
    >>> pair.posterior([[0, 0], [1.5, 2]]).round(4).tolist()
    [1.0, 0.5]
    >>> pair.draw(3, rng=0).x.shape
    (3, 2)
    """

    positive: tuple[ArrayLike, ArrayLike]
    negative: tuple[ArrayLike, ArrayLike]
    prior: float = 0.5

    def __post_init__(self) -> None:
        object.__setattr__(self, "prior", _checks.share(self.prior, "prior"))
        for name in ("positive", "negative"):
            object.__setattr__(self, name, _class_law(getattr(self, name), name))
        negative, positive = (len(moments.mean) for moments in self._moments)
        if positive != negative:
            raise InputError(
                f"{arg('positive')} and {arg('negative')} must have one dimension, got means of {positive} "
                f"and {negative} numbers. Pass means of equal length."
            )

    def __repr__(self) -> str:
        return f"GaussianPair(dim={self.dim}, prior={self.prior:g})"

    @property
    def dim(self) -> int:
        """Number of features."""
        return len(self._moments[0].mean)

    @cached_property
    def _moments(self) -> tuple[_Moments, _Moments]:
        """Of the class 0, and of the class 1."""
        return _Moments.of(self.negative), _Moments.of(self.positive)

    def log_odds(self, x: ArrayLike) -> FloatArray:
        """Log-odds of the positive class, ln P(Y=1 | x) − ln P(Y=0 | x).

        Parameters
        ----------
        x : (n, d) array

        Examples
        --------
        >>> pair = GaussianPair(positive=([1.0], [[1.0]]), negative=([0.0], [[1.0]]))
        >>> pair.log_odds([[1.5], [2.5]]).round(9).tolist()
        [1.0, 2.0]
        """
        rows = _features(x, self.dim)
        zn, zp = (np.linalg.solve(root, (rows - mean).T) for mean, _, root in self._moments)
        # |zn|² − |zp|² as a product: neither cancels where the covariances agree, nor overflows.
        size = np.maximum(1.0, np.maximum(np.abs(zn).max(axis=0), np.abs(zp).max(axis=0)))
        gap = np.einsum("ij,ij->j", zn / size - zp / size, zn / size + zp / size)
        volumes = [np.log(np.diag(moments.root)).sum() for moments in self._moments]
        with np.errstate(over="ignore"):
            return np.asarray(_logit(self.prior) + (volumes[0] - volumes[1]) + 0.5 * gap * size * size)

    def posterior(self, x: ArrayLike) -> FloatArray:
        """P(Y=1 | x) of the rows of an (n, d) array.

        Examples
        --------
        >>> pair = GaussianPair(positive=([1.0], [[1.0]]), negative=([0.0], [[1.0]]))
        >>> pair.posterior([[0.5], [-400.0], [1e9]]).round(4).tolist()
        [0.5, 0.0, 1.0]
        """
        return np.asarray(expit(self.log_odds(x)))

    @cached_property
    def bayes_error(self) -> float:
        """E min(P(Y=1 | x), P(Y=0 | x)), exact to 1e-11 of itself, in any number of dimensions.

        Notes
        -----
        A closed form where the covariances are equal. Else, with p and q the classes' densities times
        their priors, min(p, q) = 1/(2πi) ∫ pˢ q¹⁻ˢ / (s(1−s)) ds along any line 0 < Re s < 1. Of pˢ q¹⁻ˢ the
        integral over x is in closed form (Chernoff's), which leaves one integral over s.
        """
        negative, positive = self._moments
        if np.array_equal(negative.cov, positive.cov):
            shift = np.linalg.solve(negative.root, positive.mean - negative.mean)
            return _overlap_of_equal_covariances(float(np.sqrt(shift @ shift)), self.prior)
        return _ChernoffIntegral.of(negative, positive, self.prior).overlap()

    def draw_per_class(self, n_positive: int, n_negative: int, rng: Rng) -> Draw:
        """Draw so many rows of each class, the positives first.

        Examples
        --------
        >>> bayes_setups()["C"].draw_per_class(2, 1, rng=0).y.tolist()
        [1, 1, 0]
        """
        _checks.count(n_positive, "n_positive", least=0)
        _checks.count(n_negative, "n_negative", least=0)
        if n_positive + n_negative == 0:
            raise InputError(
                f"{arg('n_positive')} and {arg('n_negative')} must not both be 0. Pass the rows to draw."
            )
        y = np.repeat(np.array([1, 0], dtype=np.int64), [n_positive, n_negative])
        return self._rows(y, np.random.default_rng(rng))

    def positive_confidence(self, n: int, rng: Rng, prior: Any = "true") -> PositiveConfidence:
        """Draw `n` positives whose confidence is the exact P(Y=1 | x), by default with the true prior.

        Any other `prior` is handed on as it is, None for one that is not known.

        Examples
        --------
        >>> bayes_setups()["A"].positive_confidence(10, rng=0).prior.value
        0.5
        """
        return super().positive_confidence(n, rng, prior)

    def _rows(self, y: IntArray, rng: np.random.Generator) -> Draw:
        x = rng.standard_normal((y.size, self.dim))
        for label, (mean, _, root) in enumerate(self._moments):
            rows = y == label
            x[rows] = mean + x[rows] @ root.T
        posterior = self.posterior(x)
        return Draw(score=posterior, y=y, posterior=posterior, x=x)


def _class_law(value: Any, name: str) -> _ClassLaw:
    try:
        mean, cov = value
    except (TypeError, ValueError):
        raise InputError(argument=name, must="be a pair (mean, covariance)", got=repr(value)) from None
    centre, spread = _checks.native(mean, f"{name} mean"), _checks.native(cov, f"{name} covariance")
    fits = centre.ndim == 1 and centre.size > 0 and spread.shape == centre.shape * 2
    if not fits or spread.dtype.kind not in "fiu":
        must = "have a mean of shape (d,) and a covariance of shape (d, d), d >= 1"
        got = f"shapes {centre.shape} and {spread.shape}"
        remedy = "Pass numbers, np.eye(d) for unit variances."
        raise InputError(argument=name, must=must, got=got, remedy=remedy)
    centre, spread = _checks.vector(centre, f"{name} mean"), spread.astype(np.float64)
    turned, largest = spread.T, np.abs(spread).max()
    if not np.isfinite(largest) or (np.abs(spread - turned) > 1e-12 * largest).any() or not _definite(spread):
        must = "have a covariance that is symmetric and positive definite"
        remedy = "Symmetrise it with (cov + cov.T) / 2; drop features that others determine."
        raise InputError(argument=name, must=must, got=spread.tolist(), remedy=remedy)
    spread = (spread + turned) / 2.0
    return _ClassLaw(tuple(centre.tolist()), tuple(tuple(row) for row in spread.tolist()))


def _definite(matrix: FloatArray) -> bool:
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return False
    return True


def _features(x: ArrayLike, dim: int) -> FloatArray:
    rows = _checks.native(x, "x")
    if rows.ndim != 2 or rows.shape[1] != dim or rows.dtype.kind not in "fiub":
        must, got = f"be numeric with shape (n, {dim})", f"shape {rows.shape} of dtype {rows.dtype}"
        raise InputError(argument="x", must=must, got=got, remedy="Pass one row of features for each case.")
    rows = rows.astype(np.float64)
    if not np.isfinite(rows).all():
        got, remedy = "NaN or infinite values", "Drop or repair these rows."
        raise InputError(argument="x", must="be finite", got=got, remedy=remedy)
    return rows


class _ChernoffIntegral(NamedTuple):
    """∫ pˢ q¹⁻ˢ dx of two classes, in axes where q has unit variances and p the variances `ratio`."""

    ratio: FloatArray
    shift: FloatArray
    prior: float

    @classmethod
    def of(cls, negative: _Moments, positive: _Moments, prior: float) -> _ChernoffIntegral:
        # Whiten by the negatives' root, then turn to the axes of what is left of the positives' covariance.
        half = np.linalg.solve(negative.root, positive.cov)
        white = np.linalg.solve(negative.root, half.T)
        ratio, axes = np.linalg.eigh((white + white.T) / 2.0)
        return cls(ratio, axes.T @ np.linalg.solve(negative.root, positive.mean - negative.mean), prior)

    def log(self, s: NDArray[np.complex128]) -> NDArray[np.complex128]:
        """The logarithm of ∫ pˢ q¹⁻ˢ dx at complex s."""
        out = s * math.log(self.prior) + (1.0 - s) * math.log1p(-self.prior)
        for ratio, shift in zip(self.ratio, self.shift, strict=True):
            mixed = ratio + (1.0 - ratio) * s
            out -= 0.5 * shift * shift * s * ((1.0 - s) / mixed)
            out -= 0.5 * (np.log(mixed) - (1.0 - s) * math.log(ratio))
        return np.asarray(out)

    def overlap(self) -> float:
        """∫ min(p, q) dx, along a contour through the saddle point, with exponential convergence.

        The contour is a hyperbola. Far out, the integrand is a power of s times exp(κ s), with κ the
        log-odds where they are flat: the arms bend to the side on which this falls. No singularity is
        crossed, for all of these lie on the real axis, outside (0, 1).
        """
        from scipy.optimize import minimize_scalar

        def height(s: NDArray[np.complex128]) -> NDArray[np.complex128]:
            return np.asarray(self.log(s) - np.log(s) - np.log(1.0 - s))

        def on_axis(s: float) -> float:
            return float(height(np.array([s], dtype=np.complex128))[0].real)

        # On the axis the integrand is least at the saddle: across it, along the contour, it is largest there
        # and does not oscillate. The width is that of the peak, from the second derivative.
        saddle = float(minimize_scalar(on_axis, bounds=(1e-9, 1 - 1e-9), method="bounded").x)
        mixed = self.ratio + (1.0 - self.ratio) * saddle
        curved = (self.shift**2 * self.ratio / mixed**3 + 0.5 * ((1.0 - self.ratio) / mixed) ** 2).sum()
        width = 1.0 / math.sqrt(curved + saddle**-2 + (1.0 - saddle) ** -2)
        bend = -_BEND * np.sign(self._flat())
        top = on_axis(saddle)
        if top < _UNDERFLOW:
            return 0.0

        def mean_height(u: FloatArray) -> float:
            s = saddle + width * (1j * np.sinh(u) + bend * (np.cosh(u) - 1.0))
            along = width * (np.cosh(u) - 1j * bend * np.sinh(u))
            return float(np.mean((np.exp(height(s) - top) * along).real))

        overlap = math.exp(top) * _REACH / math.pi * _even_integral(mean_height)
        return min(overlap, self.prior, 1.0 - self.prior)

    def _flat(self) -> float:
        """The log-odds where their gradient vanishes, along the axes that have such a point."""
        bent = np.abs(1.0 - self.ratio) > 1e-12
        peaks = 0.5 * self.shift[bent] ** 2 / (1.0 - self.ratio[bent])
        return float(_logit(self.prior) - 0.5 * np.log(self.ratio).sum() + peaks.sum())


def _even_integral(mean_height: Callable[[FloatArray], float]) -> float:
    """Mean height of an even function up to the reach: the midpoint rule, refined until it stands."""
    n, last = _FEWEST_POINTS, math.inf
    while n <= _MOST_POINTS:
        value = mean_height(np.arange(0.5, n, dtype=np.float64) * (_REACH / n))
        if abs(value - last) <= _AGREE * abs(value):
            return float(value)
        last, n = value, 2 * n
    raise ArithmeticError(f"the Bayes error was not found to {_AGREE:g} with {_MOST_POINTS} points")


def _overlap_of_equal_covariances(distance: float, prior: float) -> float:
    """The same of two normal classes whose means are so many standard deviations apart."""
    if distance == 0.0:
        return min(prior, 1.0 - prior)
    # Along the line between the means the log-odds are linear, so that the boundary lies `tilt` beyond the
    # middle; each class errs by its normal mass on the other side.
    tilt = _logit(prior) / distance
    missed, alarms = ndtr(-0.5 * distance - tilt), ndtr(-0.5 * distance + tilt)
    return float(prior * missed + (1.0 - prior) * alarms)


def _logit(prior: float) -> float:
    """Ln prior − ln(1 − prior)."""
    return math.log(prior) - math.log1p(-prior)


def bayes_setups() -> dict[str, GaussianPair]:
    """Return the four populations on which estimators of the Bayes error are compared, prior 0.5.

    Returns
    -------
    dict of str to GaussianPair
        A : 10 dimensions, means 0 and 1, unit covariances.
        B : the same in 20 dimensions.
        C, D : 2 dimensions, covariances that differ: the first two of Ishida, Niu and Sugiyama (2018).

    Examples
    --------
    >>> {name: round(pair.bayes_error, 4) for name, pair in bayes_setups().items()}
    {'A': 0.0569, 'B': 0.0127, 'C': 0.0943, 'D': 0.1688}
    """
    origin = np.zeros(2)
    a, b = (
        GaussianPair(positive=(np.zeros(dim), np.eye(dim)), negative=(np.ones(dim), np.eye(dim)))
        for dim in (10, 20)
    )
    c = GaussianPair(positive=(origin, [[7, -6], [-6, 7]]), negative=([-2, 5], 2 * np.eye(2)))
    d = GaussianPair(positive=(origin, [[5, 3], [3, 5]]), negative=([0, 4], [[5, -3], [-3, 5]]))
    return {"A": a, "B": b, "C": c, "D": d}
