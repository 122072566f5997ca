"""Bins of equal mass and of equal width, and what a measure holds in each of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, arg
from halftruth.measure._noise import Index, Moments, by_bin, covariance_of, moments_of_rows
from halftruth.measure._score_measure import ScoreMeasure, ratio
from halftruth.measure._sorted_measure import FoldedMeasure

BINNINGS = ("mass", "width")


@dataclass(frozen=True, eq=False)
class Binned:
    """Of each bin: its gap μ₁ − ∫ s dμ, its mass μ and its ∫ s dμ, all in rows, (..., n_bins)."""

    gap: Vector
    mass: Vector
    score: Vector
    measure: ScoreMeasure
    index: Index | None = None
    moments: tuple[Moments, ...] = ()

    @property
    def pos(self) -> Vector:
        """μ₁ of each bin."""
        return self.gap + self.score

    @property
    def mean_score(self) -> Vector:
        """Of the rows in each bin; one half where there are none."""
        return np.where(self.mass > 0, ratio(self.score, self.mass), 0.5)

    @property
    def covariance(self) -> Vector:
        """Of the gaps, from sampling, (..., n_bins, n_bins)."""
        return covariance_of(self._moments, normalised=self._normalised)

    def smoothed_covariance(self, width: float) -> Vector:
        """The same, with the noise of a bin averaged over about this share of the population.

        What a bin of few rows shows of its own noise is itself noise, and little of it where they are none.
        """
        share = ratio(self.mass, self.mass.sum(axis=-1, keepdims=True))
        place = np.cumsum(share, axis=-1) - share / 2
        near = np.exp(-0.5 * ((place[..., :, None] - place[..., None, :]) / width) ** 2)
        mixing = share[..., :, None] * near / (near @ share[..., None])
        each = [part.mixed(mixing) for part in self._moments]
        return covariance_of(each, normalised=self._normalised)

    @property
    def _normalised(self) -> bool:
        if isinstance(self.measure, FoldedMeasure):
            return self.measure.normalised
        return self.measure.noise is not None and self.measure.noise.normalised

    @cached_property
    def _moments(self) -> tuple[Moments, ...]:
        if self.moments:
            return self.moments
        if self.measure.noise is None or self.index is None:
            raise InputError(
                "This measure was made by hand, so its sampling noise is not known. Pass evidence, or "
                f"leave {arg('debias')} out."
            )
        return self.measure.noise.moments(self.index, self.gap.shape[-1])


def labeled(measure: ScoreMeasure) -> bool:
    """Whether each row has its label, so that the frequency of positives in a bin is binomial."""
    if isinstance(measure, FoldedMeasure):
        return not measure.normalised
    return measure.noise is not None and measure.noise.labeled


def number_of_bins(measure: ScoreMeasure, n_bins: int | str) -> int:
    """The number, or for "optimal" ⌈size^(1/3)⌉."""
    if isinstance(n_bins, str):
        _checks.choice(n_bins, "n_bins", ("optimal",))
        return max(1, int(np.ceil(measure.size ** (1 / 3) - 1e-9)))
    return _checks.count(n_bins, "n_bins", least=1)


def binned(measure: ScoreMeasure, n_bins: int, binning: str = "mass") -> Binned:
    """What the measure holds in each of ``n_bins`` bins."""
    _checks.choice(binning, "binning", BINNINGS)
    if isinstance(measure, FoldedMeasure):
        return _from_rows(measure, n_bins, binning)
    index = width_bins(measure, n_bins) if binning == "width" else mass_bins(measure, n_bins)
    claimed = measure.score * measure.mass
    gap, mass, score = (by_bin(x, index, n_bins) for x in (measure.pos_mass - claimed, measure.mass, claimed))
    return Binned(gap, mass, score, measure, index)


def _from_rows(measure: FoldedMeasure, n_bins: int, binning: str) -> Binned:
    found = measure.support.moments(measure.of_mass, n_bins, binning)
    each = tuple(
        moments_of_rows(x, measure.of_pos[name], measure.of_mass[name], measure.moves.get(name))
        for name, x in found.items()
    )
    mass, score = (np.sum([measure.of_mass[k] * x[i] for k, x in found.items()], axis=0) for i in (0, 1))
    return Binned(np.sum([part.gap for part in each], axis=0), mass, score, measure, moments=each)


def width_bins(measure: ScoreMeasure, n_bins: int) -> Index:
    """Bins (b/B, (b+1)/B], the first closed at 0; edges are the correctly rounded quotients."""
    edges = np.arange(1, n_bins) / n_bins
    return np.asarray(np.searchsorted(edges, measure.score, side="left"))


def mass_bins(measure: ScoreMeasure, n_bins: int) -> Index:
    """Score s lies in bin b where μ(< s) is below the b-th target and not below the one before."""
    below = np.cumsum(measure.mass, axis=-1) - measure.mass
    steps = measure.total[..., None] * np.arange(1, n_bins)
    # Of counts the ⌊n b/B⌋-th order statistic, without rounding; weights that miss a target by rounding
    # have met it.
    counts = (measure.mass == np.floor(measure.mass)).all(axis=-1, keepdims=True)
    targets = np.where(counts, np.floor_divide(steps, n_bins), steps / n_bins * (1 - 1e-12))
    n = int(np.prod(measure.shape, dtype=np.intp))
    flat: tuple[Any, Any] = below.reshape(n, -1), targets.reshape(n, n_bins - 1)
    rows = [np.searchsorted(t, b, side="right") for b, t in zip(*flat, strict=True)]
    return np.asarray(rows).reshape(below.shape)
