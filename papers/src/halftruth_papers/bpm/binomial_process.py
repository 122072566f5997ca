"""Scores from a beta law, classes from a curve: populations whose calibration is known exactly."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import betaincinv, betaln, expit, log_expit, logit, polygamma, psi

from halftruth import _checks
from halftruth._errors import InputError
from halftruth.simulate._draws import Draw, FloatArray, IntArray
from halftruth.simulate._score_line import panels
from halftruth_papers.bpm.response_curves import LogCurve, LogitCurve, LogRestCurve, WaveCurve
from halftruth_papers.population import Population
from halftruth_papers.quantile_line import QuantileLine

_TAIL = 1e-18
"""Mass left out beyond either end of the line."""
_SATURATED = 40.0
"""Beyond this logit a score is 0 or 1 to the last digit."""
_RAREST = 1e-6


@dataclass(frozen=True, kw_only=True)
class BinomialProcess(Population):
    """Scores s ~ Beta(a1, a2) and Y ~ Bernoulli(curve(s)), as Algorithm 3 of the BPM paper.

    Parameters
    ----------
    curve : callable
        P(Y=1 | s) of an array of scores; smooth, with values in [0, 1].
    a1, a2 : float > 0
        Shape of the scores' law.

    Notes
    -----
    Scores are float64 numbers and the curve is read there: of Beta(2.77, 0.04) a fourth is exactly 1.
    Truths come from quadrature along the logit of the score, where the law stays smooth however small
    `a2` is. They are good to 1e-9, or 1e-7 where much of the mass is saturated, if the curve is smooth
    and bends no faster than every 0.01 of a score.

    Examples
    --------
    >>> model = BinomialProcess(curve=LogitCurve(intercept=-0.5), a1=2.0, a2=2.0)
    >>> round(model.prior, 4), round(model.truth("calibration_error"), 4)
    (0.4012, 0.0988)
    >>> model.draw(3, rng=0).score.shape
    (3,)
    """

    curve: Callable[[FloatArray], Any]
    a1: float
    a2: float

    def __post_init__(self) -> None:
        for name in ("a1", "a2"):
            _checks.inside(getattr(self, name), name, 1e-3, 1e6, closed="both", advice="Pass a shape.")
        if not callable(self.curve):
            raise InputError(
                f"`curve` must be a function of an array of scores, got {self.curve!r}. Pass P(Y=1 | s)."
            )
        self.posterior(np.linspace(0.0, 1.0, 1001))

    def posterior(self, s: FloatArray) -> FloatArray:
        """Return P(Y=1 | s).

        Parameters
        ----------
        s : array
            Scores.

        Examples
        --------
        >>> BinomialProcess(curve=LogitCurve(), a1=1.0, a2=1.0).posterior(np.array([0.5])).tolist()
        [0.5]
        """
        s = np.asarray(s, dtype=np.float64)
        p = np.asarray(self.curve(s), dtype=np.float64)
        if p.shape != s.shape:
            raise InputError(
                f"`curve` must return one value for each score, shape {s.shape}, got shape {p.shape}. Pass a "
                "function of an array."
            )
        wrong = np.flatnonzero(~((p >= 0.0) & (p <= 1.0)))
        if wrong.size:
            raise InputError(
                f"`curve` must return values in [0, 1], got {p.flat[wrong[0]]:.6g} at the score "
                f"{s.flat[wrong[0]]:.6g}. Return the probability that a row with that score is positive."
            )
        return p

    @cached_property
    def prior(self) -> float:  # type: ignore[override]
        """P(Y=1), the mean of the curve."""
        return self.truth("prevalence")

    @cached_property
    def line(self) -> QuantileLine:
        """The population along the logit of its score."""
        low, high = -_reach(self.a1, self.a2), _reach(self.a2, self.a1)
        near = np.arange(-_SATURATED, _SATURATED, 0.05)
        middle = float(psi(self.a1) - psi(self.a2))
        spread = math.sqrt(float(polygamma(1, self.a1) + polygamma(1, self.a2)))
        fine = np.concatenate([near, middle + spread * np.linspace(-12.0, 12.0, 481)])
        return QuantileLine(
            edges=panels(np.linspace(low, high, 401), fine[(low < fine) & (fine < high)]),
            positive=lambda z: self._density(z) * self.posterior(expit(z)),
            negative=lambda z: self._density(z) * (1.0 - self.posterior(expit(z))),
            posterior=lambda z: self.posterior(expit(z)),
            score=expit,
            rest=lambda z: expit(-z),
            coordinate=logit,
        )

    def _density(self, z: FloatArray) -> FloatArray:
        """Of the logit of the score."""
        log_density = self.a1 * log_expit(z) + self.a2 * log_expit(-z) - betaln(self.a1, self.a2)
        return np.asarray(np.exp(log_density))

    def draw(self, n: int, rng: int | np.random.Generator) -> Draw:
        """Draw `n` rows of the population: scores first, then their classes.

        Parameters
        ----------
        n : int
        rng : int or Generator

        Examples
        --------
        >>> draw = binomial_processes()["D1"].draw(1000, rng=0)
        >>> 0.2 < float((draw.score == 1.0).mean()) < 0.3
        True
        """
        generator = np.random.default_rng(rng)
        s = generator.beta(self.a1, self.a2, _checks.count(n, "n", least=1))
        return self._described(s, (generator.random(s.size) < self.posterior(s)).astype(np.int64))

    def _of_class(self, y: int, n: int, rng: np.random.Generator) -> FloatArray:
        """By rejection: the rows of a population draw that fell into the class."""
        share = self.prior if y == 1 else 1.0 - self.prior
        if n and share < _RAREST:
            raise InputError(
                f"`curve` must give the class {y} a share of at least {_RAREST:g} to draw from it, got "
                f"{share:.3g}. Use a curve that leaves more of it."
            )
        accepted = [np.empty(0)]
        missing = n
        while missing > 0:
            s = rng.beta(self.a1, self.a2, min(int(1.1 * missing / share) + 100, 1_000_000))
            accepted.append(s[(rng.random(s.size) < self.posterior(s)) == bool(y)])
            missing -= accepted[-1].size
        return np.concatenate(accepted)[:n]

    def _described(self, x: FloatArray, y: IntArray) -> Draw:
        return Draw(score=x + 0.0, y=y, posterior=self.posterior(x), x=x)


def _reach(a: float, b: float) -> float:
    """−logit of the value below which Beta(a, b) has hardly any mass."""
    value = float(betaincinv(a, b, _TAIL))
    if value > 1e-100:
        return -float(logit(value))
    # So near to 0 the distribution function is z^a / (a B(a, b)).
    return -(math.log(_TAIL) + math.log(a) + float(betaln(a, b))) / a


def binomial_processes() -> dict[str, BinomialProcess]:
    """Return the five true distributions D1 to D5 of the BPM paper.

    Examples
    --------
    >>> {name: round(d.truth("calibration_error"), 5) for name, d in binomial_processes().items()}
    {'D1': 0.04973, 'D2': 0.01293, 'D3': 0.04099, 'D4': 0.07383, 'D5': 0.27541}
    """
    rows: dict[str, tuple[Callable[[FloatArray], Any], float, float]] = {
        "D1": (LogitCurve(intercept=-0.88, rise=0.49, fall=0.49), 2.77, 0.04),
        "D2": (LogRestCurve(intercept=-0.12, slope=0.58), 2.17, 0.03),
        "D3": (LogCurve(intercept=-0.03, slope=1.27), 1.12, 0.11),
        "D4": (LogitCurve(intercept=-0.77, rise=0.0, fall=0.80), 1.13, 0.20),
        "D5": (LogitCurve(intercept=-0.97, rise=0.34, fall=0.34), 1.19, 0.22),
    }
    return {name: BinomialProcess(curve=curve, a1=a1, a2=a2) for name, (curve, a1, a2) in rows.items()}


def sinusoidal(
    amplitude: float = 0.12, waves: float = 2.5, a1: float = 0.8, a2: float = 1.2
) -> BinomialProcess:
    """Return a population whose curve waves about the diagonal, outside every parametric family.

    Parameters
    ----------
    amplitude : float in [-0.25, 0.25]
        Of the residual 4 s (1 − s) sin(2π waves s).
    waves : float
        Periods between 0 and 1.
    a1, a2 : float > 0
        Shape of the scores' beta law.

    Examples
    --------
    >>> round(sinusoidal().truth("calibration_error"), 3)
    0.049
    """
    return BinomialProcess(curve=WaveCurve(amplitude=amplitude, waves=waves), a1=a1, a2=a2)
