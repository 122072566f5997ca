"""Tests of calibration from any evidence: could scores that are right look like this?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any, Literal, TypeAlias

import numpy as np

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import Note, notes_to_dict
from halftruth.calibration._null_models import Groups, Null, chances, null_of
from halftruth.evidence import Evidence, Scenario, as_evidence
from halftruth.measure._score_measure import as_measure
from halftruth.prior._belief import Belief
from halftruth.results._estimate import figure, json_number
from halftruth.table._score_table import NEGATIVE, POSITIVE, SOFT, UNLABELED

__all__ = ["STATISTICS", "CalibrationTest", "calibration_test"]

StatisticName: TypeAlias = Literal["combined", "ks", "kuiper", "spiegelhalter", "hosmer-lemeshow"]
STATISTICS: tuple[StatisticName, ...] = ("combined", "ks", "kuiper", "spiegelhalter", "hosmer-lemeshow")
PARTS = ("ks", "spiegelhalter", "mean and spread", "hosmer-lemeshow")  # of the combined one
RARE = 0.95  # a part is measured by the value that so many calibrated data sets stay below
N_GRID = 9  # purities, and priors where each needs resamples of its own, over a range


@dataclass(frozen=True, kw_only=True)
class CalibrationTest:
    """Whether the data refute that the scores are calibrated.

    Attributes
    ----------
    statistic : str
    value : float
        Of "combined" the largest of its parts, 1 being what each passes in one of twenty data sets if the
        scores are calibrated; of "ks" and "kuiper" a share of the population; of "spiegelhalter" a z-score,
        positive where labels are less extreme than the scores; of "hosmer-lemeshow" a χ², about as large as
        the number of bins if the scores are calibrated.
    p_value : float
        The chance of a value at least as far from 0 if the scores were calibrated. It is never below
        1/(n_resamples + 1), but where a row contradicts a score of 0 or 1: then it is 0.
    method : str
        How that chance was found.
    n_resamples : int
    notes : tuple of str
    evidence : str
    """

    statistic: str
    value: float
    p_value: float
    method: str
    n_resamples: int
    notes: tuple[Note, ...] = ()
    evidence: str = ""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.statistic} = {figure(self.value)}, p = {figure(self.p_value)})"

    def __str__(self) -> str:
        head = f"{self.evidence}: {self.statistic} = {figure(self.value)}, p = {figure(self.p_value)}"
        return "\n".join([head, *(f"Note: {note}" for note in self.notes)])

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready; undefined numbers are None."""
        words = {name: getattr(self, name) for name in ("statistic", "method", "n_resamples", "evidence")}
        numbers = {name: json_number(getattr(self, name)) for name in ("value", "p_value")}
        return words | numbers | notes_to_dict(self.notes)


def calibration_test(
    evidence: Evidence,
    statistic: StatisticName = "combined",
    *,
    n_bins: int = 10,
    n_resamples: int = 2000,
    rng: int | np.random.Generator = 0,
) -> CalibrationTest:
    """Test whether the scores are calibrated.

    The null hypothesis: P(Y=1 | s) = s, that is μ₁ = s μ.

    Parameters
    ----------
    evidence : Labeled, SoftLabeled, PositiveUnlabeled or PositiveConfidence
        Scores must be probabilities.
    statistic : {"combined", "ks", "kuiper", "spiegelhalter", "hosmer-lemeshow"}
        "combined": the largest of "ks", "spiegelhalter", "hosmer-lemeshow" and the χ² of two sums at once, ∫
        (dμ₁ − s dμ) and Spiegelhalter's, each in units of what it passes in one of twenty draws. "ks": the
        largest |μ₁ − ∫ s dμ| over all scores up to a threshold. "kuiper": over all intervals of scores.
        "spiegelhalter": ∫ (1 − 2s)(dμ₁ − s dμ) in standard errors, which sees scores that are too extreme, or
        too timid. "hosmer-lemeshow": the gaps of bins in the inverse of their covariance.
    n_bins : int
        Bins of equal mass, for "hosmer-lemeshow", also as a part of "combined".
    n_resamples : int
        Data sets drawn with calibrated scores.
    rng : int or numpy Generator
        Same seed, same result.

    Returns
    -------
    CalibrationTest

    Notes
    -----
    With labels, new ones are drawn at the scores given, so that the p-value is exact for any number of
    rows. From positives and unlabeled, both samples are drawn from the likeliest population with calibrated
    scores: positives in proportion to s (with purity ρ the others in proportion to 1 − s, as known negatives
    are); of one table, rows are resampled and made known with the chance that their scores imply. The prior
    given is part of what is tested: calibrated scores have it as their mean. Gaps of soft rows, and of
    labeled rows whose weights differ within a class, take random signs. Propensities, positive confidence
    and unequal weights elsewhere take the bootstrap around the gaps seen, which needs some hundreds of rows
    (and with a prior beside confidences r, a finite E₊[1/r²]).

    More than 1,024 distinct scores are joined to about as many groups.

    Over a range of priors or purities the p-value is the largest: the scores are refuted if they are
    calibrated for none of them. Replicates of an estimate are carried into the resamples.

    No statistic is best against all errors. "combined" is near the best of its parts against each: a shift,
    scores that are too extreme or too timid, and waves; the law of the largest part comes from the same
    draws, so that its p-value is as exact as theirs.

    In simulations calibrated scores are refuted as often as the level says; with weights that differ within a
    class, rare soft labels, or a prior beside confidences, at the level .05 in up to .08 of data sets.

    Examples
    --------
    >>> import halftruth as ht
    >>> right, wrong = ht.simulate.logistic_model(0, 2), ht.simulate.logistic_model(-0.5, 1.5)
    >>> calibration_test(right.positive_unlabeled(500, 5000, rng=1)).p_value > 0.05
    True
    >>> calibration_test(wrong.positive_unlabeled(500, 5000, rng=1)).p_value < 0.001
    True
    """
    as_evidence(evidence).refuse_selection("The test of calibration")
    _checks.choice(statistic, "statistic", STATISTICS)
    _checks.count(n_bins, "n_bins", least=1)
    _checks.count(n_resamples, "n_resamples", least=1)
    as_measure(evidence).need_probabilities("A test of calibration")
    groups = Groups(evidence)
    search = _Search(groups, Statistic(groups, statistic, n_bins), n_resamples, np.random.default_rng(rng))
    verdict = search.largest()
    against = _contradictions(groups)
    return CalibrationTest(
        statistic=statistic,
        value=verdict.value,
        p_value=0.0 if against else verdict.p_value,
        method=verdict.method,
        n_resamples=n_resamples,
        notes=tuple(_notes(groups, verdict, against, n_resamples)),
        evidence=repr(evidence),
    )


class Statistic:
    """What a statistic keeps of the gaps, and how far that lies from 0."""

    def __init__(self, groups: Groups, name: str, n_bins: int) -> None:
        self.name, self.groups = name, groups
        self.first = np.flatnonzero(np.diff(groups.measure.bin_index(n_bins, "mass"), prepend=-1))
        self.parts = [Statistic(groups, part, n_bins) for part in PARTS] if name == "combined" else []

    @property
    def width(self) -> int:
        """The number of its features."""
        return {"hosmer-lemeshow": len(self.first), "mean and spread": 2}.get(self.name, 1)

    def features(self, gaps: Vector) -> Vector:
        """(n, k) from gaps (n, n_scores)."""
        if self.parts:
            return np.concatenate([part.features(gaps) for part in self.parts], axis=1)
        if self.name == "mean and spread":
            weights = np.stack([np.ones_like(self.groups.score), 1 - 2 * self.groups.score], axis=1)
            return _unrounded(gaps @ weights)
        if self.name == "spiegelhalter":
            # The part of the Brier score that has mean 0 under calibration (Spiegelhalter 1986).
            return _unrounded(gaps @ (1 - 2 * self.groups.score))[:, None]
        if self.name == "hosmer-lemeshow":
            return _unrounded(np.add.reduceat(gaps, self.first, axis=1))
        # The running sum starts at 0, so that its extremes include 0.
        running = np.cumsum(gaps, axis=1)
        high, low = np.maximum(running.max(axis=1), 0), np.minimum(running.min(axis=1), 0)
        far = high - low if self.name == "kuiper" else np.maximum(high, -low)
        return np.asarray(far)[:, None]

    def fit(self, null: Null, drawn: Vector) -> Callable[[Vector], Vector]:
        """How far features (n, k) lie from 0, by those that were drawn if the scores are calibrated."""
        if not self.parts:
            return partial(self.size, covariance=self.covariance(null, drawn))
        ends = np.cumsum([part.width for part in self.parts])[:-1]
        columns = np.split(drawn, ends, axis=1)
        fits = [part.fit(null, own) for part, own in zip(self.parts, columns, strict=True)]
        units = [_rare(fit(own)) for fit, own in zip(fits, columns, strict=True)]

        def largest(features: Vector) -> Vector:
            own = np.split(features, ends, axis=1)
            sizes = [fit(x) / unit for fit, x, unit in zip(fits, own, units, strict=True)]
            sizes[-1] = np.sqrt(sizes[-1])  # of bins it is a square
            return np.asarray(np.max(sizes, axis=0))

        return largest

    def covariance(self, null: Null, drawn: Vector) -> Vector:
        """Of the features if the scores are calibrated, (k, k), or (k,) where they are independent.

        With labels it is known, else that of the draws. Where these are made of the rows' own gaps, bins that
        happen to hold none but small ones would weigh far too much: gaps are then compared with what those
        of plain rows would be, up to a factor.
        """
        if len(drawn) == 0:
            return np.zeros(drawn.shape[1])
        score = self.groups.score
        if null.independent:
            rows, chance, adds = chances(self.groups)
            variance = rows * chance * (1 - chance) * adds**2
            if self.name == "spiegelhalter":
                return np.asarray([variance @ (1 - 2 * score) ** 2])
            if self.name == "mean and spread":
                return np.asarray([[variance @ (1 - 2 * score) ** (i + j) for i in (0, 1)] for j in (0, 1)])
            return np.add.reduceat(variance, self.first)
        if null.plain or self.name != "hosmer-lemeshow":
            return np.asarray(drawn.T @ drawn / len(drawn))
        reference = self._reference()
        size = self.size(drawn, reference).mean() / max(np.count_nonzero(np.diag(reference)), 1)
        return np.asarray(reference * size)

    def _reference(self) -> Vector:
        """The covariance of the gaps if rows were plain."""
        evidence, score = self.groups.evidence, self.groups.score
        share = self.groups.mass / self.groups.mass.sum()
        if evidence.population is None:
            return np.diag(np.add.reduceat(share * score * (1 - score), self.first))
        # The gap of a bin is π times a share of the positives, less a mean of s over the population: two
        # multinomial covariances, diag(p) − p pᵀ over the rows of each sample.
        claimed = np.add.reduceat(share * score, self.first)
        square = np.add.reduceat(share * score**2, self.first)
        prior, product = claimed.sum(), np.outer(claimed, claimed)
        of_positives = (np.diag(claimed) * prior - product) / self.groups.effective_rows(POSITIVE)
        return np.asarray(of_positives + (np.diag(square) - product) / self.groups.effective_rows(UNLABELED))

    def size(self, features: Vector, covariance: Vector) -> Vector:
        """How far features (n, k) lie from 0."""
        if self.name in ("ks", "kuiper"):
            return features[:, 0]
        spread = np.sqrt(covariance if covariance.ndim == 1 else np.diag(covariance))
        used = spread > 0
        unit = features[:, used] / spread[used]
        if covariance.ndim == 1:
            square = np.sum(unit**2, axis=1)
        else:
            # In standard errors: the cut-off of the pseudoinverse must not depend on the sizes of bins.
            inner = covariance[np.ix_(used, used)] / np.outer(spread[used], spread[used])
            square = np.einsum("ni,ij,nj->n", unit, np.linalg.pinv(inner, 1e-10, hermitian=True), unit)
        return np.asarray(square if self.name == "hosmer-lemeshow" else np.sqrt(square))


def _rare(sizes: Vector) -> float:
    """The size that few pass; where hardly one is above 0, the largest, or 1."""
    if len(sizes) == 0:
        return 1.0
    return float(np.quantile(sizes, RARE)) or float(sizes.max()) or 1.0


def _unrounded(shares: Vector) -> Vector:
    """Shares of the population, nothing where only rounding left something."""
    return np.asarray(np.where(np.abs(shares) < 1e-13, 0.0, shares))


@dataclass(frozen=True, kw_only=True)
class _Verdict:
    value: float
    p_value: float
    scenario: Scenario
    method: str

    @property
    def rank(self) -> tuple[float, float]:
        return self.p_value, -abs(self.value)


Ends = tuple[Any, Any]


class _Search:
    """The p-value of a scenario, and the largest over all that the user holds possible."""

    def __init__(
        self, groups: Groups, statistic: Statistic, n_resamples: int, rng: np.random.Generator
    ) -> None:
        self.groups, self.statistic, self.n = groups, statistic, n_resamples
        self.seed = rng.integers(2**32, size=4)  # every scenario sees the same draws

    def largest(self) -> _Verdict:
        prior, purity = self.groups.evidence.prior, self.groups.evidence.purity
        if (own := self.groups.evidence.scenarios(())) is not None:
            return max((self._judged(x, *self._drawn(x)) for x in own[0]), key=lambda x: x.rank)
        purities = purity.grid(N_GRID)
        if purity.is_range:
            start = self.groups.evidence.scenario
            purities += (self._nearest(_ends(prior), _ends(purity), *self._drawn(start)).purity,)
        verdicts = (verdict for candidate in purities for verdict in self._over_priors(candidate))
        return max(verdicts, key=lambda verdict: verdict.rank)

    def _over_priors(self, purity: float | None) -> Iterator[_Verdict]:
        prior = self.groups.evidence.prior
        middle = Scenario(prior=prior.value, purity=purity)
        null, drawn = self._drawn(middle)
        if not prior.is_range:
            yield self._judged(middle, null, drawn)
            return
        best = self._nearest(_ends(prior), (purity, purity), null, drawn)
        if null.at_own_prior:  # the draws are the same for all priors, so that the least value decides
            yield self._judged(best, null, drawn)
            return
        for scenario in (best, *(Scenario(prior=x, purity=purity) for x in prior.grid(N_GRID))):
            yield self._judged(scenario, *self._drawn(scenario))

    def _drawn(self, scenario: Scenario) -> tuple[Null, Vector]:
        null = null_of(self.groups, scenario)
        rng = np.random.default_rng(self.seed)
        return null, null.features(self.statistic.features, len(self.groups.score), self.n, rng)

    def _nearest(self, priors: Ends, purities: Ends, null: Null, drawn: Vector) -> Scenario:
        """Where in the ranges the statistic is least, by grids that close in on it."""
        size_of = self.statistic.fit(null, _defined(drawn))
        ends = [priors, purities]
        for _ in range(10):  # a quarter of the range each time: to a millionth of it
            axes = [[None] if low is None else np.unique(np.linspace(low, high, 17)) for low, high in ends]
            points = list(product(*axes))
            prior, purity = (None if x[0] is None else np.asarray(x) for x in zip(*points, strict=True))
            with np.errstate(divide="ignore", invalid="ignore"):
                gaps = self.groups.gaps(Scenario(prior=prior, purity=purity))
            size = size_of(self.statistic.features(gaps))
            at = points[int(np.argmin(np.where(np.isnan(size), np.inf, size)))]
            ends = [_around(axis, x) for axis, x in zip(axes, at, strict=True)]
        return Scenario(prior=at[0], purity=at[1])

    def _judged(self, scenario: Scenario, null: Null, drawn: Vector) -> _Verdict:
        statistic = self.statistic
        observed = statistic.features(self.groups.gaps(scenario))
        defined = _defined(drawn)
        value = float(statistic.fit(null, defined)(observed)[0])
        # With the data among the draws that make the units, all are alike if the scores are calibrated:
        # their ranks are exchangeable, and the p-value is valid (Davison & Hinkley 1997, section 4.2).
        size_of = statistic.fit(null, np.concatenate([defined, observed]))
        threshold, sizes = size_of(observed)[0], size_of(defined)
        if (observed[0] != 0)[(defined == 0).all(axis=0)].any():
            threshold = np.inf  # there is something where no draw has anything
        # What is undefined in a draw could be anything; equal values differ by rounding.
        extreme = int(np.sum(sizes >= threshold * (1 - 1e-9) - 1e-12)) + len(drawn) - len(defined)
        if statistic.name == "spiegelhalter":
            value = float(np.copysign(value, observed[0, 0]))
        # The data count as one of the draws, so that the p-value is valid for any number of them.
        p_value = (1 + extreme) / (1 + self.n)
        return _Verdict(value=value, p_value=p_value, scenario=scenario, method=null.method)


def _defined(drawn: Vector) -> Vector:
    return drawn[np.isfinite(drawn).all(axis=1)]


def _ends(belief: Belief) -> Ends:
    grid = belief.grid(2)
    return grid[0], grid[-1]


def _around(axis: Vector | list[None], at: float | None) -> Ends:
    """Two steps of a grid to either side."""
    if at is None or len(axis) == 1 or isinstance(axis, list):
        return at, at
    step = 2 * (axis[1] - axis[0])
    return max(axis[0], at - step), min(axis[-1], at + step)


def _contradictions(groups: Groups) -> int:
    """Rows that cannot be if the scores are right: a positive at 0, a negative at 1."""
    never, surely = groups.score == 0, groups.score == 1
    soft, count = groups.support.strata.get(SOFT), 0.0
    if soft is not None and soft.value is not None:
        at, (weight, value, _) = soft.atom, soft.full
        wrong = (never[at] & (value > 0)) | (surely[at] & (value < weight * (1 - 1e-12)))
        count += soft.count[wrong].sum()
    if groups.evidence.labels_err:
        return int(count)
    purity = groups.evidence.purity
    if purity.value == 1 and not purity.is_range:
        count += groups.rows(POSITIVE)[never].sum()
    return int(count + groups.rows(NEGATIVE)[surely].sum())


def _notes(groups: Groups, verdict: _Verdict, against: int, n_resamples: int) -> Iterator[Note]:
    evidence = groups.evidence
    if evidence.assumption:
        yield evidence.assumption
    if against:
        yield Note(
            "contradiction",
            f"{against} row(s) contradict a score of exactly 0 or 1, as none could if the scores were right. "
            f"Cut the scores to what the model can know, e.g. [0.001, 0.999].",
        )
    if evidence.population is not None and verdict.scenario.prior is not None:
        prior = float(groups.prior(verdict.scenario))
        ranged = evidence.prior.is_range
        where = "the prior most favourable to them, of the range given," if ranged else "the prior"
        yield Note(
            "prior",
            f"The prior is part of what is tested: calibrated scores have it as their mean. Here {where} is "
            f"{prior:.4g}, the mean score {groups.claimed:.4g}.",
        )
    if evidence.prior.is_range or evidence.purity.is_range:
        text = "The p-value is the largest over the range given: calibrated for some prior or purity in it."
        yield Note("prior", text)
    if groups.joined:
        yield Note(
            "histogram",
            f"Neighbouring scores were joined into {len(groups.score):,} groups; the statistic and its law "
            f"are both those of the groups.",
        )
    if n_resamples < 99:
        text = f"Only {n_resamples} resamples: no p-value can be below {1 / (n_resamples + 1):.2g}."
        yield Note("interval", text)
