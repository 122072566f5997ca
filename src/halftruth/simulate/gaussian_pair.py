"""Two normal classes in any number of dimensions: exact posteriors, and the exact Bayes error."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from halftruth import _checks
from halftruth._errors import InputError
from halftruth.simulate.chernoff import Chernoff, log_odds, of_equal_covariances
from halftruth.simulate.draw import Draw, FloatArray, IntArray
from halftruth.simulate.drawn import Drawn

if TYPE_CHECKING:
    from halftruth.evidence import PositiveConfidence


class _Class(NamedTuple):
    """Mean and covariance of a class, as tuples: hashable, and nobody can write into them."""

    mean: tuple[float, ...]
    cov: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, kw_only=True, repr=False)
class GaussianPair(Drawn):
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
            object.__setattr__(self, name, _class(getattr(self, name), name))
        sizes = [len(mean) for mean in self._means]
        if sizes[0] != sizes[1]:
            raise InputError(
                f"`positive` and `negative` must have one dimension, got means of {sizes[1]} and {sizes[0]} "
                f"numbers. Pass means of equal length."
            )

    def __repr__(self) -> str:
        return f"GaussianPair(dim={self.dim}, prior={self.prior:g})"

    @property
    def dim(self) -> int:
        """Number of features."""
        return len(self._means[0])

    @cached_property
    def _means(self) -> tuple[FloatArray, FloatArray]:
        """Of the class 0, and of the class 1."""
        negative, positive = (np.array(each[0], dtype=np.float64) for each in (self.negative, self.positive))
        return negative, positive

    @cached_property
    def _covs(self) -> tuple[FloatArray, FloatArray]:
        negative, positive = (np.array(each[1], dtype=np.float64) for each in (self.negative, self.positive))
        return negative, positive

    @cached_property
    def _roots(self) -> tuple[FloatArray, FloatArray]:
        """Lower triangles whose squares are the covariances."""
        negative, positive = (np.asarray(np.linalg.cholesky(cov), dtype=np.float64) for cov in self._covs)
        return negative, positive

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
        pairs = zip(self._means, self._roots, strict=True)
        zn, zp = (np.linalg.solve(root, (rows - mean).T) for mean, root in pairs)
        # |zn|² − |zp|² as a product: neither cancels where the covariances agree, nor overflows.
        size = np.maximum(1.0, np.maximum(np.abs(zn).max(axis=0), np.abs(zp).max(axis=0)))
        gap = np.einsum("ij,ij->j", zn / size - zp / size, zn / size + zp / size)
        volumes = [np.log(np.diag(root)).sum() for root in self._roots]
        with np.errstate(over="ignore"):
            return np.asarray(log_odds(self.prior) + (volumes[0] - volumes[1]) + 0.5 * gap * size * size)

    def posterior(self, x: ArrayLike) -> FloatArray:
        """P(Y=1 | x).

        Parameters
        ----------
        x : (n, d) array

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
        if np.array_equal(*self._covs):
            shift = np.linalg.solve(self._roots[0], self._means[1] - self._means[0])
            return of_equal_covariances(float(np.sqrt(shift @ shift)), self.prior)
        return Chernoff.of(self._means, self._covs, self._roots, self.prior).overlap()

    def draw_per_class(self, n_positive: int, n_negative: int, rng: int | np.random.Generator) -> Draw:
        """Draw so many rows of each class, the positives first.

        Parameters
        ----------
        n_positive, n_negative : int
        rng : int or Generator

        Examples
        --------
        >>> bayes_setups()["C"].draw_per_class(2, 1, rng=0).y.tolist()
        [1, 1, 0]
        """
        sizes = [
            _checks.count(n_positive, "n_positive", least=0),
            _checks.count(n_negative, "n_negative", least=0),
        ]
        if sum(sizes) == 0:
            raise InputError("`n_positive` and `n_negative` must not both be 0. Pass the rows to draw.")
        return self._rows(np.repeat(np.array([1, 0], dtype=np.int64), sizes), np.random.default_rng(rng))

    def positive_confidence(
        self, n: int, rng: int | np.random.Generator, prior: Any = "true"
    ) -> PositiveConfidence:
        """Draw `n` positives whose confidence is the exact P(Y=1 | x).

        Parameters
        ----------
        n : int
        rng : int or Generator
        prior
            "true" hands on the population's, anything else (None: unknown) is handed on as it is.

        Examples
        --------
        >>> bayes_setups()["A"].positive_confidence(10, rng=0).prior.value
        0.5
        """
        return super().positive_confidence(n, rng, prior)

    def _share(self, n: int, share: float, rng: np.random.Generator) -> Draw:
        return self._rows((rng.random(n) < share).astype(np.int64), rng)

    def _rows(self, y: IntArray, rng: np.random.Generator) -> Draw:
        x = rng.standard_normal((y.size, self.dim))
        for each in (0, 1):
            chosen = y == each
            x[chosen] = self._means[each] + x[chosen] @ self._roots[each].T
        posterior = self.posterior(x)
        return Draw(score=posterior, y=y, posterior=posterior, x=x)


def _class(value: Any, name: str) -> _Class:
    try:
        mean, cov = value
    except (TypeError, ValueError):
        raise InputError(f"`{name}` must be a pair (mean, covariance), got {value!r}.") from None
    centre, spread = _checks.native(mean, f"{name} mean"), _checks.native(cov, f"{name} covariance")
    if (
        centre.ndim != 1
        or centre.size == 0
        or spread.shape != centre.shape * 2
        or spread.dtype.kind not in "fiu"
    ):
        raise InputError(
            f"`{name}` must have a mean of shape (d,) and a covariance of shape (d, d), d >= 1, got shapes "
            f"{centre.shape} and {spread.shape}. Pass numbers, np.eye(d) for unit variances."
        )
    centre, spread = _checks.vector(centre, f"{name} mean"), spread.astype(np.float64)
    turned, largest = spread.T, np.abs(spread).max()
    if not np.isfinite(largest) or (np.abs(spread - turned) > 1e-12 * largest).any() or not _definite(spread):
        raise InputError(
            f"`{name}` must have a covariance that is symmetric and positive definite, got "
            f"{spread.tolist()}. Symmetrise it with (cov + cov.T) / 2; drop features that others determine."
        )
    spread = (spread + turned) / 2.0
    return _Class(tuple(centre.tolist()), tuple(tuple(row) for row in spread.tolist()))


def _definite(matrix: FloatArray) -> bool:
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return False
    return True


def _features(x: ArrayLike, dim: int) -> FloatArray:
    rows = _checks.native(x, "x")
    if rows.ndim != 2 or rows.shape[1] != dim or rows.dtype.kind not in "fiub":
        raise InputError(
            f"`x` must be numeric with shape (n, {dim}), got shape {rows.shape} of dtype {rows.dtype}. Pass "
            f"one row of features for each case."
        )
    rows = rows.astype(np.float64)
    if not np.isfinite(rows).all():
        raise InputError("`x` must be finite, got NaN or infinite values. Drop or repair these rows.")
    return rows


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
    c = GaussianPair(positive=(origin, [[7, -6], [-6, 7]]), negative=([-2, 5], 2 * np.eye(2)))
    d = GaussianPair(positive=(origin, [[5, 3], [3, 5]]), negative=([0, 4], [[5, -3], [-3, 5]]))
    return {"A": _unit(10), "B": _unit(20), "C": c, "D": d}


def _unit(dim: int) -> GaussianPair:
    return GaussianPair(positive=(np.zeros(dim), np.eye(dim)), negative=(np.ones(dim), np.eye(dim)))
