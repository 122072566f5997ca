"""Projection onto what is possible: the closest measure without negative mass whose ROC curve is concave.

"Closest" is by the noise of the rows: the likeliest one, given the scores of the labeled and the unlabeled.
`performance` sets the projected areas beside the direct ones, with intervals.

Labeled rows follow f_L = ρ f₁ + (1−ρ) f₀, unlabeled rows f_U = α f₁ + (1−α) f₀. That f₁ and f₀ are nowhere
negative keeps f_L/f_U between (1−ρ)/(1−α) and ρ/α, and a concave ROC curve lets it only rise with the score.
Only this ratio is bound, so at the maximum of the likelihood B f_L + A f_U are the rows at each score, for
two multipliers with A + B = n. The rows are labeled with chance q = B f_L/(B f_L + A f_U), the isotonic
regression of the labels on the score, cut off at the bounds. B is such that both laws sum to one; where no
bound is reached it is n_L.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError
from halftruth.evaluation._evaluate import evaluate
from halftruth.evidence import PositiveUnlabeled, Scenario
from halftruth.measure._mass_rule import MassRule
from halftruth.measure._score_measure import Number, ScoreMeasure, as_measure
from halftruth.metrics._areas import pr_auc, roc_auc
from halftruth.prior._shares import Sizes
from halftruth.recover._recovered_curves import indirect_areas
from halftruth.results._estimate import Estimate, Evaluation
from halftruth.table._score_table import NEGATIVE, POSITIVE, UNLABELED
from halftruth.table._support import Sums, Support

__all__ = ["Possible", "from_measure", "likeliest", "performance", "project"]


def project(evidence: object, projection: str = "concave") -> ScoreMeasure:
    """The closest possible measure: no negative mass, no more positives than cases, a concave ROC curve.

    From noisy evidence curves leave [0, 1] and step back. Every metric and curve of the projected measure is
    possible, e.g. ``ht.roc_auc(ht.recover.project(evidence))``. Share and number of the positives stay.

    Parameters
    ----------
    evidence : evidence or ScoreMeasure
    projection : {"concave"}
        From positives and unlabeled: the maximum of the likelihood of both samples, at the α and the
        purity given. From other evidence, known negatives and propensities among them, and from a measure:
        the maximum of the likelihood of the positives, with the mass of all cases as it is.

    Returns
    -------
    ScoreMeasure
        On the same scores.

    Notes
    -----
    A prior that the data refute gives a possible measure all the same: see the notes of `evaluate`. Of a
    range the middle is taken.

    A score that rises with P(Y=1) has a concave ROC curve. Of one that does not, the projection shows what it
    could be turned into. A concave fit follows noise upward more than downward, so its area is a little too
    high, by more the smaller purity − α is.

    Examples
    --------
    >>> import halftruth as ht
    >>> evidence = ht.PositiveUnlabeled([0.9, 0.8, 0.7], [0.85, 0.75, 0.3, 0.2, 0.1], prior=0.45)
    >>> round(ht.roc_auc(evidence), 3)
    1.045
    >>> round(ht.roc_auc(ht.recover.project(evidence)), 3)
    0.997
    """
    _checks.choice(projection, "projection", ("concave",))
    if isinstance(evidence, PositiveUnlabeled):
        measure = Possible.of(evidence).measure()
        measure.need_prior()
        return measure
    return from_measure(as_measure(evidence))


def from_measure(measure: ScoreMeasure) -> ScoreMeasure:
    """The projection where the mass of all cases is taken as known."""
    mass = np.maximum(measure.mass, 0.0)
    flat_mass, flat_pos = (x.reshape(-1, x.shape[-1]) for x in np.broadcast_arrays(mass, measure.pos_mass))
    share = np.stack([_shares(m, p) for m, p in zip(flat_mass, flat_pos, strict=True)]).reshape(mass.shape)
    return _measure_like(measure, mass * share, mass * (1 - share))


def _shares(mass: Vector, pos_mass: Vector) -> Vector:
    """P(Y=1) at each score: isotonic, times what keeps the positives' number once it is cut off at 1."""
    # Positives at a score without mass are read at the next one below with some.
    from scipy.optimize import brentq, isotonic_regression

    total, positives = mass.sum(), pos_mass.sum()
    if not 0 <= positives <= total or total == 0:
        return np.full(len(mass), np.nan)
    used = np.flatnonzero(mass > 0)
    below = np.maximum(np.searchsorted(used, np.arange(len(mass)), side="right") - 1, 0)
    used_mass, pos = mass[used], np.bincount(below, pos_mass, minlength=len(used))
    share = np.maximum(isotonic_regression(pos / used_mass, weights=used_mass).x, 0.0)

    def over(log_scale: float) -> float:
        return float(used_mass @ np.minimum(share * np.exp(log_scale), 1.0) - positives)

    if positives > 0 and abs(over(0.0)) > 1e-12 * total:
        share = np.maximum(share, TINY * positives / total)
        share = share * np.exp(brentq(over, -60.0, 60.0, xtol=1e-13))
    return np.asarray(np.minimum(share, 1.0)[below])


def _measure_like(like: ScoreMeasure, pos_mass: Vector, neg_mass: Vector) -> ScoreMeasure:
    return ScoreMeasure(
        score=like.score,
        mass=pos_mass + neg_mass,
        pos_mass=pos_mass,
        neg_mass=neg_mass,
        size=like.size,
        alpha=like.alpha,
    )


class Possible(PositiveUnlabeled):
    """The same evidence, every measure of it projected: also those of resamples and of other priors."""

    @classmethod
    def of(cls, evidence: PositiveUnlabeled) -> Possible:
        # Checked when it was made: what it knows is taken over, what it computed is not.
        out = cls.__new__(cls)
        for name in ("table", "prior", "purity", "population", "rows_are_one_sample", "propensity_given"):
            setattr(out, name, getattr(evidence, name))
        return out

    def rule(self, sums: Sums, scenario: Scenario) -> MassRule:
        raw = super().rule(sums, scenario)
        fields = {name: getattr(raw, name) for name in MassRule.__dataclass_fields__}
        return _Projected(**fields, purity=scenario.purity, evidence=self)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Projected(MassRule):
    """A rule whose measure is projected."""

    purity: Number
    evidence: Possible

    def over(self, support: Support) -> ScoreMeasure:
        return self.apply(support.score, support.sums())

    def apply(self, score: Vector, sums: Sums) -> ScoreMeasure:
        raw = super().apply(score, sums)
        if self.unidentified is not None:
            return raw
        if self.evidence.propensity_given or NEGATIVE in self.evidence.table.strata:
            return from_measure(raw)
        return self._likeliest(raw, sums)

    def _likeliest(self, raw: ScoreMeasure, sums: Sums) -> ScoreMeasure:
        rows = [self._rows(name, sums) for name in (POSITIVE, UNLABELED)]
        labeled, unlabeled = (x.reshape(-1, x.shape[-1]) for x in np.broadcast_arrays(*rows))
        alpha, purity = (
            np.broadcast_to(np.asarray(x, dtype=np.float64), raw.shape).ravel()
            for x in (self.alpha, self.purity)
        )
        laws = [likeliest(*sample) for sample in zip(labeled, unlabeled, alpha, purity, strict=True)]
        f1, f0 = (np.reshape([law[k] for law in laws], raw.mass.shape) for k in (0, 1))
        return _measure_like(raw, raw.positives[..., None] * f1, raw.negatives[..., None] * f0)

    def _rows(self, name: str, sums: Sums) -> Vector:
        """Rows of a stratum at each score; weighted ones by how many they are in effect."""
        table = self.evidence.table
        weight = sums[name, "weight"]
        total = Sizes.of(table.support.sums())
        stratum_weight = float(total.positive if name == POSITIVE else total.unlabeled)
        return np.maximum(weight, 0.0) * (table.effective_rows(name) / stratum_weight)


TINY = 1e-12  # chance of a label where no row has one, so that every pair of shares is fitted by some laws
ROUNDING = 1e-12
FARTHEST = 40.0  # log B/A is sought within so much of 0


def likeliest(labeled: Vector, unlabeled: Vector, alpha: float, purity: float) -> tuple[Vector, Vector]:
    """f₁ and f₀ at each score, ascending, from the rows of both kinds there; NaN where alpha ≥ purity."""
    rows = labeled + unlabeled
    if not (0 <= alpha < purity <= 1 and labeled.sum() > 0 and unlabeled.sum() > 0):
        return np.full(len(rows), np.nan), np.full(len(rows), np.nan)
    used = rows > 0
    blocks = _Blocks.of(labeled[used], rows[used])
    f1, f0 = blocks.laws(alpha, purity)
    out = np.zeros((2, len(rows)))
    out[:, used] = np.stack([f1, f0])[:, blocks.number] * (rows[used] / blocks.size[blocks.number])
    return out[0], out[1]


@dataclass(frozen=True)
class _Blocks:
    """Neighbouring scores where the isotonic regression is constant."""

    number: NDArray[np.intp]  # of the block, at each score
    size: Vector  # rows
    labeled: Vector

    @property
    def unlabeled(self) -> Vector:
        return self.size - self.labeled

    @classmethod
    def of(cls, labeled: Vector, rows: Vector) -> _Blocks:
        from scipy.optimize import isotonic_regression

        start = isotonic_regression(labeled / rows, weights=rows).blocks
        number = np.repeat(np.arange(len(start) - 1), np.diff(start))
        return cls(number, np.add.reduceat(rows, start[:-1]), np.add.reduceat(labeled, start[:-1]))

    def laws(self, alpha: float, purity: float) -> tuple[Vector, Vector]:
        """f₁ and f₀ of each block."""
        low, high = (1 - purity) / (1 - alpha), purity / alpha if alpha > 0 else np.inf
        cut = _Cut(np.clip(self.labeled / self.size, TINY, 1 - TINY), self.size, low, high)
        with_label, without = cut.rows(cut.balanced(float(np.log(self.labeled.sum() / self.unlabeled.sum()))))
        f_l, f_u = with_label / with_label.sum(), without / without.sum()
        f1 = np.maximum((1 - alpha) * f_l - (1 - purity) * f_u, 0.0)
        f0 = np.maximum(purity * f_u - alpha * f_l, 0.0)
        # What is zero at a bound shall not be there by rounding.
        f1, f0 = (np.where(f > ROUNDING * (f_l + f_u), f, 0.0) for f in (f1, f0))
        return f1 / f1.sum(), f0 / f0.sum()


@dataclass(frozen=True)
class _Cut:
    """Chances of a label, cut off at what the bounds on f_L/f_U make of them."""

    chance: Vector
    size: Vector
    low: float
    high: float

    def rows(self, odds: float) -> tuple[Vector, Vector]:
        """With and without a label in each block, where log B/A is ``odds``."""
        low, high = self.low * np.exp(odds), self.high * np.exp(odds)
        with_label = np.clip(self.chance, low / (1 + low), 1 / (1 + 1 / high))
        without = np.clip(1 - self.chance, 1 / (1 + high), 1 / (1 + low))
        return self.size * with_label, self.size * without

    def balanced(self, start: float) -> float:
        """The log of B/A for which the rows with a label number B."""
        from scipy.optimize import brentq

        if abs(self._over(start)) <= ROUNDING * self.size.sum():
            return start
        return float(brentq(self._over, -FARTHEST, FARTHEST, xtol=1e-13))

    def _over(self, odds: float) -> float:
        """How many rows too many have a label; by those without, where they are fewer."""
        with_label, without = self.rows(odds)
        if odds < 0:
            return float(with_label.sum() - self.size.sum() / (1 + np.exp(-odds)))
        return float(self.size.sum() / (1 + np.exp(odds)) - without.sum())


# Functions of their own: what is certified of registered metrics holds for evidence as it is.
INDIRECT: dict[str, Callable[[ScoreMeasure], float]] = {
    "roc_auc_indirect": lambda measure: indirect_areas(measure)[0],
    "pr_auc_indirect": lambda measure: indirect_areas(measure)[1],
}
CONCAVE: dict[str, Callable[[ScoreMeasure], float]] = {
    "roc_auc_concave": lambda measure: float(roc_auc(measure)),
    "pr_auc_concave": lambda measure: float(pr_auc(measure)),
}
FULL_LABELS = "With full labels there is nothing to recover: use ht.evaluate."
ROWS = ("roc_auc", "roc_auc_indirect", "roc_auc_concave", "pr_auc_indirect", "pr_auc_concave")


def performance(
    evidence: PositiveUnlabeled,
    *,
    confidence_level: float = 0.95,
    n_resamples: int = 2000,
    rng: int | np.random.Generator = 0,
) -> Evaluation:
    """AUC and area under the precision-recall curve by every way of recovery, with intervals.

    The ways: Eq. 4 of Jain et al. (2017), their Algorithm 1, and the projection onto possible measures.

    Parameters
    ----------
    evidence : PositiveUnlabeled
        With a prior: a number, a range or an estimate, which goes into the intervals. The purity likewise.
    confidence_level : float
    n_resamples : int
        Bootstrap resamples, at least one; the same for all rows.
    rng : int or numpy Generator

    Returns
    -------
    Evaluation
        ``roc_auc``, the direct conversion; ``roc_auc_indirect`` and ``pr_auc_indirect``, of the curve after
        Algorithm 1 of Jain et al.; ``roc_auc_concave`` and ``pr_auc_concave``, of the evidence projected by
        `project`.

    Notes
    -----
    Intervals are percentiles of resamples; docs/recovery.md shows how often they hold the truth.

    Examples
    --------
    >>> import halftruth as ht
    >>> simulated = ht.simulate.GaussianClasses(prior=0.3)
    >>> evidence = simulated.positive_unlabeled(300, 3000, rng=1, purity=0.9)
    >>> result = ht.recover.performance(evidence, n_resamples=100)
    >>> list(result)
    ['roc_auc', 'roc_auc_indirect', 'roc_auc_concave', 'pr_auc_indirect', 'pr_auc_concave']
    >>> result["roc_auc"].low < simulated.truth("roc_auc") < result["roc_auc"].high
    True
    """
    _checks.count(n_resamples, "n_resamples", least=1)
    if not isinstance(evidence, PositiveUnlabeled):
        raise InputError(
            argument="evidence", must="be PositiveUnlabeled", got=type(evidence).__name__, remedy=FULL_LABELS
        )
    evidence.measure().need_prior()
    source = np.random.default_rng(rng)
    evaluated = partial(evaluate, confidence_level=confidence_level, n_resamples=n_resamples)
    # Both see the same resamples, so that differences between the rows are those of the ways.
    raw = evaluated(evidence, {"roc_auc": "roc_auc", **INDIRECT}, rng=copy.deepcopy(source))
    projected = evaluated(Possible.of(evidence), CONCAVE, rng=source)
    rows = {**raw.rows, **projected.rows}
    possible = {name: _cut(rows[name]) for name in ROWS if name != "roc_auc"}
    return replace(raw, rows={name: possible.get(name, rows[name]) for name in ROWS})


def _cut(row: Estimate) -> Estimate:
    """Within [0, 1], which joined rows can make replicates leave by a little."""
    low, high = np.clip([row.low, row.high], 0.0, 1.0)
    return replace(row, low=float(low), high=float(high), limits=(0.0, 1.0))
