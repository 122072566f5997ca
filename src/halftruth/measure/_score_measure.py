"""ScoreMeasure: the mass of the population and of its positives along the score.

Masses may carry leading axes (resamples, priors); every functional works along the last one.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Literal, Protocol, Self, cast, runtime_checkable

import numpy as np

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import EmptyClassWarning, InputError, NotIdentifiable, arg
from halftruth.measure._arithmetic import (
    NOTHING,
    Area,
    Index,
    IsotonicBlocks,
    LogAtoms,
    LogitNodes,
    Number,
    OwnMass,
    RankSums,
    Sweep,
    by_bin,
    integral,
    ratio,
    scalar,
    split_to_nodes,
    spread_to_nodes,
    within,
)
from halftruth.measure._bins import BINNINGS, BinSums, Noise, mass_bins, optimal_bins, width_bins

__all__ = ["HasMeasure", "MassName", "Measurable", "ScoreMeasure", "as_measure"]
# Who reads a measure mostly needs these as well.
__all__ += ["Number", "integral", "ratio", "scalar"]

EPSILON = float(np.finfo(np.float64).eps)
MassName = Literal["mass", "pos_mass", "neg_mass"]


def _sum_of(name: MassName) -> cached_property[Vector]:
    """The property that is the sum of one of the masses over all scores."""

    def add(measure: ScoreMeasure) -> Vector:
        return measure._sum(name)

    return cached_property(add)


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoreMeasure:
    """Atoms (score, mass, pos_mass), scores ascending and distinct.

    What functionals ask of a measure is done here in NumPy, along the last axis. `SortedMeasure` does the
    same for many rows in compiled loops, without making the atoms.

    Parameters
    ----------
    score : (m,) array
    mass, pos_mass : (..., m) arrays
        μ and μ₁ of each score, in rows: their sums are the size of the population sample and the
        number of positives in it. ``pos_mass`` may be signed.
    neg_mass : (..., m) array, optional
        μ − μ₁, where it is known without the rounding of that difference.
    size : float
        Rows of full labels that would be as informative; sets the default number of bins.
    alpha : float or None
        Share of positives among the unlabeled, where there are any.
    unidentified : str or None
        Why the prior is unknown. Then ``pos_mass`` is known only up to a factor, or NaN where its
        shape hangs on the prior too.
    own : OwnMass
        A known positive's own part in the precision at its score; none in a measure made by hand.
    noise : Noise or None
        How far sampling moves it, where that is known.
    """

    score: Vector
    mass: Vector
    pos_mass: Vector
    size: float = 1.0
    neg_mass: Number = None
    alpha: Number = None
    unidentified: str | None = None
    own: OwnMass = NOTHING
    noise: Noise | None = field(default=None, repr=False)
    memo: dict[str, Any] = field(default_factory=dict, repr=False)
    parted: Callable[[float], ScoreMeasure] | None = field(default=None, repr=False)
    """Where rows were joined: the same measure, with those on the two sides of a threshold apart."""

    def __post_init__(self) -> None:
        if self.neg_mass is not None:  # made by a rule, of sorted sums; by hand there are two masses
            return
        for name in ("score", "mass", "pos_mass"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=np.float64))
        if not (np.diff(self.score) > 0).all():
            raise InputError(f"{arg('score')} must be ascending and distinct. Make measures from evidence.")
        object.__setattr__(self, "neg_mass", self.mass - self.pos_mass)

    total = _sum_of("mass")
    positives = _sum_of("pos_mass")
    negatives = _sum_of("neg_mass")

    def _sum(self, name: MassName) -> Vector:
        return np.asarray(getattr(self, name).sum(axis=-1))

    @property
    def prior(self) -> float:
        """π = μ₁(all) / μ(all)."""
        self.need_prior()
        return scalar(ratio(self.positives, self.total))

    @property
    def shape(self) -> tuple[int, ...]:
        """The leading axes: () for one measure, (n,) for n resamples of one."""
        return self.mass.shape[:-1]

    @property
    def span(self) -> tuple[float, float]:
        """The lowest and the highest score."""
        return float(self.score[0]), float(self.score[-1])

    @property
    def bounded(self) -> bool:
        """Whether all scores lie in [0, 1]."""
        low, high = self.span
        return low >= 0 and high <= 1

    @property
    def shapeless(self) -> bool:
        """Whether not even the distribution of the positives is known."""
        return bool(np.isnan(self.pos_mass).all())

    def split(self, threshold: float) -> dict[str, tuple[Number, Number]]:
        """The masses with a score at or above the threshold, and below it."""
        if self.parted is not None:
            key = f"parted at {threshold!r}"
            if key not in self.memo:
                self.memo[key] = self.parted(threshold).split(threshold)
            return cast("dict[str, tuple[Number, Number]]", self.memo[key])
        first = int(np.searchsorted(self.score, threshold, side="left"))
        return {
            name: (scalar(masses[..., first:].sum(axis=-1)), scalar(masses[..., :first].sum(axis=-1)))
            for name, masses in (("pos", self.pos_mass), ("neg", self.neg_mass), ("all", self.mass))
        }

    def need_prior(self) -> None:
        """Raise unless the positives' mass is known in full."""
        if self.unidentified is not None:
            raise NotIdentifiable(self.unidentified)

    def need_probabilities(self, what: str) -> Self:
        """The measure, if its scores can be read as probabilities."""
        if not self.bounded:
            outside = (self.score < 0) | (self.score > 1)
            low, high = self.span
            raise InputError(
                f"{what} needs scores in [0, 1], got {int(outside.sum())} distinct score(s) outside, "
                f"from {low:g} to {high:g}. Pass probabilities; scores are never transformed by guess."
            )
        return self

    @property
    def empty_classes(self) -> tuple[str, ...]:
        """Which of the two classes have no mass, of a single measure."""
        if self.shape or self.unidentified is not None:
            return ()
        masses = {"positive": self.positives, "negative": self.negatives}
        # A class that is there only by rounding is empty.
        return tuple(name for name, mass in masses.items() if abs(mass) <= 1e-12 * abs(self.total))

    def result(self, value: Number) -> float:
        """A functional's value as it is returned; one warning where an empty class leaves it undefined."""
        if self.shape == () and np.isnan(value).any():
            self.warn_of_empty_class()
        return scalar(value)

    def warn_of_empty_class(self) -> None:
        for name in self.empty_classes:
            message = f"No {name} case: metrics that need one are NaN."
            warnings.warn(message, EmptyClassWarning, stacklevel=4)

    # --- Curves and losses --------------------------------------------------------------------------------

    @cached_property
    def sweep(self) -> Sweep:
        """The one cumulative pass from the highest score down that feeds every curve, made once."""
        return Sweep.of(self.score, self.mass, self.pos_mass, self.neg_mass)

    def roc_area(self) -> Area:
        """∫ μ₁(above s) d(μ − μ₁), cases of one score by half."""
        sweep = self.sweep
        # Half of the positives of one score count as above its negatives (Hanley & McNeil 1982).
        above = (sweep.tp[..., 1:] + sweep.tp[..., :-1]) / 2
        return Area(integral(above, self.neg_mass[..., ::-1]), sweep.positives, sweep.negatives)

    def pr_area(self) -> Area:
        """∫ precision dμ₁ over the falling thresholds, each known positive's read from the others."""
        sweep = self.sweep
        precision = sweep.without(self.own).precision[..., 1:]
        area = integral(precision, self.pos_mass[..., ::-1])
        if self.own.squares is not None:
            area = area - np.nansum(ratio(self.own.squares[..., ::-1], sweep.predicted[..., 1:]), axis=-1)
        return self.of_precision(area)

    def of_precision(self, area: Number) -> Area:
        """The area from ∫ precision dμ₁ without a known positive's own part."""
        return Area(area * self.own.scale(self.positives, self.total), self.positives, self.negatives)

    @property
    def unsigned(self) -> bool:
        """Whether no mass is negative, so that curves never turn back and shares stay in [0, 1]."""
        return bool((self.pos_mass >= 0).all() and (self.neg_mass >= 0).all())

    def squared_loss(self) -> Vector:
        """∫ (1−s)² dμ₁ + ∫ s² d(μ − μ₁): by class, so that a perfect score gives exactly 0."""
        s = self.score
        return integral((1 - s) ** 2, self.pos_mass) + integral(s**2, self.neg_mass)

    def log_loss(self) -> Vector:
        """−∫ log s dμ₁ − ∫ log(1−s) d(μ − μ₁); s is clipped at float64 eps."""
        # Clipped as by scikit-learn: a score that is certain and wrong costs −log ε.
        if_positive = -np.log(np.clip(self.score, EPSILON, 1 - EPSILON))
        if_negative = -np.log(np.clip(1 - self.score, EPSILON, 1 - EPSILON))
        return integral(if_positive, self.pos_mass) + integral(if_negative, self.neg_mass)

    # --- Bins ---------------------------------------------------------------------------------------------

    @property
    def noise_is_known(self) -> bool:
        """Whether `noise` says how far sampling moves the measure; not of one made by hand."""
        return self.noise is not None

    @property
    def labeled(self) -> bool:
        """Whether each row has its label, so that the frequency of positives in a bin is binomial."""
        return self.noise is not None and self.noise.labeled

    def number_of_bins(self, n_bins: int | str) -> int:
        """The number, or for "optimal" ⌈size^(1/3)⌉."""
        if isinstance(n_bins, str):
            _checks.choice(n_bins, "n_bins", ("optimal",))
            return optimal_bins(self.size)
        return _checks.count(n_bins, "n_bins", least=1)

    def bin_index(self, n_bins: int, binning: str) -> Index:
        """The bin of each score."""
        if _checks.choice(binning, "binning", BINNINGS) == "width":
            return width_bins(self.score, n_bins)
        return mass_bins(self.mass, self.total, n_bins)

    def in_bins(self, n_bins: int, binning: str = "mass") -> BinSums:
        """What the measure holds in each of ``n_bins`` bins of equal mass or width."""
        index = self.bin_index(n_bins, binning)
        claimed = self.score * self.mass
        gap, mass, score = (by_bin(x, index, n_bins) for x in (self.pos_mass - claimed, self.mass, claimed))
        noise = self.noise
        return BinSums(
            gap=gap,
            mass=mass,
            score=score,
            total=self.total,
            size=self.size,
            labeled=self.labeled,
            unit=1.0 if noise is None else noise.unit,
            normalised=noise is not None and noise.normalised,
            moments_of=None if noise is None else partial(noise.moments, index, n_bins),
        )

    def quantiles(self, n_bins: int) -> Vector:
        """The distinct ⌊n b/B⌋-th smallest scores of the population, b = 1, …, B − 1."""
        return np.asarray(self.score[np.flatnonzero(np.diff(mass_bins(self.mass, self.total, n_bins)))])

    def masses_between(self, edge: Vector) -> tuple[Vector, Vector]:
        """μ and μ₁ of the intervals that end at the edges, each with its upper end; the last has none."""
        index = np.searchsorted(edge, self.score, side="left")
        mass, pos = (by_bin(x, index, len(edge) + 1) for x in (self.mass, self.pos_mass))
        return mass, pos

    def population_from(self, edge: Vector) -> tuple[Vector, Vector]:
        """μ and ∫ s dμ from each edge, itself included, to the next."""
        group = np.searchsorted(edge, self.score, side="right") - 1
        mass, total = np.zeros(len(edge)), np.zeros(len(edge))
        np.add.at(mass, group, self.mass)
        np.add.at(total, group, self.mass * self.score)
        return mass, total

    def joined(self, edge: Vector) -> ScoreMeasure:
        """All that lies between two edges at the upper one, with its noise."""
        edge = edge[edge < self.span[1]]
        mass, pos = self.masses_between(edge)
        score = np.append(edge, self.span[1])
        noise = self._joined_noise(score, edge)
        return ScoreMeasure(score=score, mass=mass, pos_mass=pos, size=self.size, noise=noise)

    def _joined_noise(self, score: Vector, edge: Vector) -> Noise | None:
        index = np.searchsorted(edge, self.score, side="left")
        return None if self.noise is None else self.noise.joined(score, index)

    def variance_above(self, threshold: float) -> float | None:
        """Of μ₁ − μ over the scores from the threshold up, from sampling; None where that is not known."""
        if self.noise is None:
            return None
        # The gap μ₁ − s μ with every score read as 1.
        at_one = replace(self.noise, score=np.ones(len(self.score)))
        return float(at_one.covariance((self.score >= threshold).astype(np.intp), 2)[1, 1])

    def rank_sums(self) -> RankSums | None:
        """Masses up to ranks of the population's rows; None where arrays of distinct scores say the same."""
        return None

    # --- Gaps and fits along the score --------------------------------------------------------------------

    def gap_extremes(self) -> tuple[Vector, Vector]:
        """The lowest and the highest point of the running sum ∫_{≤t} s dμ − dμ₁, 0 included."""
        running = np.cumsum(self.score * self.mass - self.pos_mass, axis=-1)
        return np.minimum(running.min(axis=-1), 0.0), np.maximum(running.max(axis=-1), 0.0)

    def gap_nodes(self, finest: int) -> Callable[[Index, int], Vector]:
        """The gap μ₁ − s μ per unit of mass on grids of at most ``finest`` cells over [0, 1].

        What is returned takes some of the measures, counted along all leading axes, and a number of cells,
        and gives the gaps (n, n_cells + 1) at the nodes, each score's shared by the two nearest.
        """
        gap = ratio(self.pos_mass - self.score * self.mass, self.total[..., None])
        flat = gap.reshape(int(np.prod(self.shape, dtype=np.intp)), -1)
        return lambda which, n_cells: spread_to_nodes(flat[which], self.score, n_cells)

    def logit_nodes(self, step: float) -> LogitNodes:
        """The measure on the nodes ``step`` · i of the logit; scores of exactly 0 and 1 have none."""
        s, n = self.score, int(np.prod(self.shape, dtype=np.intp))
        mass, pos = self.mass.reshape(n, -1), self.pos_mass.reshape(n, -1)
        at_zero = self.pos_mass[..., s <= 0].sum(axis=-1)
        at_one = (self.pos_mass - self.mass)[..., s >= 1].sum(axis=-1)
        ends = np.asarray(np.abs(at_zero) + np.abs(at_one))
        inner = (s > 0) & (s < 1)
        position = (np.log(s[inner]) - np.log1p(-s[inner])) / step
        node, both = split_to_nodes(np.stack([mass[:, inner], pos[:, inner]]), position)
        return LogitNodes(ends, node, both[0], both[1])

    def log_atoms(self, nearest: float) -> LogAtoms:
        """The atoms with their logarithms; scores nearer to 0 or 1 than ``nearest`` are read as this near."""
        s = np.clip(self.score, nearest, 1 - nearest)
        return LogAtoms(np.log(s), -np.log1p(-s), self.score, self.mass, self.pos_mass)

    def population(self) -> tuple[Vector, Vector]:
        """Scores of the population, in any order, and the mass of each."""
        return self.score, self.mass

    def isotonic_blocks(self) -> IsotonicBlocks:
        """The pieces of the greatest convex minorant of the cumulative (μ, μ₁), of a single measure."""
        from halftruth.kernels import _monotone

        first, mass, pos = _monotone.isotonic(self.mass, self.pos_mass)
        last = np.append(first[1:], len(self.score)) - 1
        return IsotonicBlocks(self.score[first], self.score[last], mass, pos)

    @property
    def is_possible(self) -> bool:
        """Whether μ₁ lies between 0 and μ at every score, rounding apart."""
        return within(self.pos_mass, self.mass)

    def __getitem__(self, index: int) -> ScoreMeasure:
        """One of the measures along the first leading axis."""
        return replace(
            self,
            mass=self.mass[index],
            pos_mass=self.pos_mass[index],
            neg_mass=self.neg_mass[index],
            alpha=self.alpha[index] if np.ndim(self.alpha) else self.alpha,
            own=OwnMass(*(x[index] if np.ndim(x) else x for x in self.own)),
            noise=None if self.noise is None else self.noise[index],
            memo={},
            parted=None,
        )

    def __repr__(self) -> str:
        return f"ScoreMeasure({len(self.score)} scores, shape={self.shape})"


@runtime_checkable
class HasMeasure(Protocol):
    """Evidence of any kind."""

    def measure(self) -> ScoreMeasure: ...


Measurable = HasMeasure | ScoreMeasure  # what a functional takes


def as_measure(evidence: object, needs: str = "prior") -> ScoreMeasure:
    """The measure of evidence, or the measure itself.

    ``needs`` says what of the positives must be known: "prior" (all of their mass), "shape" (their
    distribution, up to a factor) or "nothing".
    """
    if isinstance(evidence, ScoreMeasure):
        measure = evidence
    elif isinstance(evidence, HasMeasure):
        measure = evidence.measure()
    else:
        raise InputError(
            f"Expected evidence (Labeled, SoftLabeled, PositiveUnlabeled, PositiveConfidence) or a "
            f"ScoreMeasure, got {type(evidence).__name__}. Wrap your arrays, e.g. Labeled(y_true, y_score)."
        )
    if needs == "prior" or (needs == "shape" and measure.shapeless):
        measure.need_prior()
    return measure
