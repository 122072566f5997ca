"""Soft labels with noise of mean zero that leaves them in [0, 1], and what it does to the plug-in."""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erf, erfinv

from halftruth import _checks
from halftruth._errors import InputError, arg
from halftruth.simulate._draws import FloatArray, Rng

__all__ = ["Truncation", "noisy_labels", "noisy_plug_in"]

Truncation: TypeAlias = Literal["paper", "authors"]

_ROOT_2 = math.sqrt(2.0)
_FAR = 40.0
"""Standard deviations beyond which a normal density is 0 in doubles."""


def noisy_labels(
    c: ArrayLike, sd: float = 0.4, rng: Rng = 0, *, truncation: Truncation = "paper"
) -> FloatArray:
    """Draw a noisy soft label for each clean one: normal noise, cut off at equal distances of the mean.

    Parameters
    ----------
    c : (n,) array in [0, 1]
        The clean labels; the mean of each noisy one.
    sd : float > 0
        Standard deviation of the normal before it is cut off.
    rng : int or Generator
        The same int draws the same noise.
    truncation : {"paper", "authors"}
        Where the normal is cut off: at c ± min(c, 1−c), as Ishida et al. (2023) write, or at
        c ± sd·min(c, 1−c), as the code behind their figures does; that takes sd <= 1.

    Returns
    -------
    (n,) ndarray in [0, 1]

    Examples
    --------
    >>> u = noisy_labels(np.full(10_000, 0.2), rng=0)
    >>> bool(u.min() >= 0 and u.max() <= 0.4), round(float(u.mean()), 2)
    (True, 0.2)
    >>> noisy_labels([0.0, 1.0]).tolist()
    [0.0, 1.0]
    """
    clean, spread, reach = _read(c, sd, truncation)
    sign = np.random.default_rng(rng).uniform(-1.0, 1.0, len(clean))
    # The error function and its inverse keep all digits near 0, where differences of Φ lose them.
    noise = _ROOT_2 * spread * erfinv(sign * erf(_in_sd(reach, spread) / _ROOT_2))
    return np.asarray(clean + np.clip(noise, -reach, reach))


def noisy_plug_in(c: ArrayLike, sd: float = 0.4, *, truncation: Truncation = "paper") -> FloatArray:
    """E min(u, 1−u) of the noisy label u of each clean one: at most min(c, 1−c), by what the noise hides.

    Parameters
    ----------
    c, sd, truncation
        As in `noisy_labels`.

    Returns
    -------
    (n,) ndarray
        In closed form; min(c, 1−c) less this is the bias of the plug-in estimate.

    Examples
    --------
    >>> noisy_plug_in([0.1, 0.4, 0.5]).round(4).tolist()
    [0.1, 0.3015, 0.2806]
    """
    clean, spread, reach = _read(c, sd, truncation)
    mean = np.minimum(clean, 1.0 - clean)
    gap = 0.5 - mean
    near, far = _in_sd(gap, spread), _in_sd(reach, spread)
    # By symmetry a label and its opposite lose alike; min(u, 1−u) = mean + z − 2(z − gap)₊ with E z = 0.
    # E(z − gap)₊ of the noise z = σ(φ(near) − φ(far)) − gap (Φ(far) − Φ(near)), before division by the mass
    # kept; expm1 keeps the difference of the densities where near and far are close.
    density = np.exp(-0.5 * near**2) / math.sqrt(2.0 * math.pi)
    height = -spread * density * np.expm1(np.minimum(-0.5 * (far - near) * (far + near), 0.0))
    over = height - 0.5 * gap * (erf(far / _ROOT_2) - erf(near / _ROOT_2))
    crossing = reach > gap
    inside = np.where(crossing, erf(far / _ROOT_2), 1.0)
    return np.asarray(mean - 2.0 * np.where(crossing, np.maximum(over, 0.0) / inside, 0.0))


def _read(c: ArrayLike, sd: float, truncation: Truncation) -> tuple[FloatArray, float, FloatArray]:
    """The clean labels, the standard deviation, and how far the noise reaches."""
    clean = _checks.probabilities(c, "c")
    spread = _checks.finite(sd, "sd")
    by_authors = _checks.choice(truncation, "truncation", ("paper", "authors")) == "authors"
    if spread <= 0.0:
        remedy = f"Use the labels {arg('c')} where there is no noise."
        raise InputError(argument="sd", must="be greater than 0", got=repr(sd), remedy=remedy)
    if by_authors and spread > 1.0:
        must, got = "be at most 1 with truncation='authors'", f"{sd!r}: labels would leave [0, 1]"
        raise InputError(argument="sd", must=must, got=got, remedy="Use truncation='paper'.")
    reach = np.minimum(clean, 1.0 - clean)
    return clean, spread, reach * spread if by_authors else reach


def _in_sd(distance: FloatArray, sd: float) -> FloatArray:
    with np.errstate(over="ignore"):
        return np.asarray(np.minimum(distance / sd, _FAR))
