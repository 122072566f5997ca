"""Projection onto what is possible: the closest measure without negative mass whose ROC curve is concave.

"Closest" is by the noise of the rows: the likeliest one, given the scores of the labeled and the unlabeled.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from halftruth import _checks
from halftruth._checks import Vector
from halftruth.evidence import PositiveUnlabeled, Scenario
from halftruth.measure._mass_rule import MassRule
from halftruth.measure._score_measure import Number, ScoreMeasure, as_measure
from halftruth.prior._shares import Sizes
from halftruth.recover.likelihood import TINY, likeliest
from halftruth.table._score_table import NEGATIVE, POSITIVE, UNLABELED
from halftruth.table._support import Sums, Support


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
    return _made(measure, mass * share, mass * (1 - share))


def _shares(mass: Vector, pos_mass: Vector) -> Vector:
    """P(Y=1) at each score: isotonic, times what keeps the positives' number once it is cut off at 1.

    Positives at a score without mass are read at the next one below with some.
    """
    from scipy.optimize import brentq, isotonic_regression

    total, wanted = mass.sum(), pos_mass.sum()
    if not 0 <= wanted <= total or total == 0:
        return np.full(len(mass), np.nan)
    used = np.flatnonzero(mass > 0)
    below = np.maximum(np.searchsorted(used, np.arange(len(mass)), side="right") - 1, 0)
    own, pos = mass[used], np.bincount(below, pos_mass, minlength=len(used))
    found = np.maximum(isotonic_regression(pos / own, weights=own).x, 0.0)

    def over(log_scale: float) -> float:
        return float(own @ np.minimum(found * np.exp(log_scale), 1.0) - wanted)

    if wanted > 0 and abs(over(0.0)) > 1e-12 * total:
        found = np.maximum(found, TINY * wanted / total)
        found = found * np.exp(brentq(over, -60.0, 60.0, xtol=1e-13))
    return np.asarray(np.minimum(found, 1.0)[below])


def _made(like: ScoreMeasure, pos_mass: Vector, neg_mass: Vector) -> ScoreMeasure:
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
        out = cls.__new__(cls)
        kept = ("table", "prior", "purity", "population", "rows_are_one_sample", "propensity_given")
        for name in kept:
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
        laws = [likeliest(*each) for each in zip(labeled, unlabeled, alpha, purity, strict=True)]
        f1, f0 = (np.reshape([law[k] for law in laws], raw.mass.shape) for k in (0, 1))
        return _made(raw, raw.positives[..., None] * f1, raw.negatives[..., None] * f0)

    def _rows(self, name: str, sums: Sums) -> Vector:
        """Rows of a stratum at each score; weighted ones by how many they are in effect."""
        table = self.evidence.table
        weight = sums[name, "weight"]
        total = Sizes.of(table.support.sums())
        own = float(total.positive if name == POSITIVE else total.unlabeled)
        return np.maximum(weight, 0.0) * (table.effective_rows(name) / own)
