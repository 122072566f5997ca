"""What every simulated population can do: draw rows of it, and make evidence of every kind of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from halftruth import _checks
from halftruth._errors import InputError
from halftruth.simulate._draws import (
    Draw,
    FloatArray,
    IntArray,
    PopulationChoice,
    Propensity,
    PuDesign,
    Rng,
    Strata,
)

if TYPE_CHECKING:
    from halftruth.evidence import Labeled, PositiveConfidence, PositiveUnlabeled, SoftLabeled

__all__ = ["DrawnPopulation", "LinePopulation"]

# A propensity so small that this many candidates per row do not suffice is a mistake of scale.
_CANDIDATES_PER_ROW = 10_000


class DrawnPopulation(ABC):
    """A population that rows can be drawn from.

    In every method `n` is a number of rows and `rng` an int or Generator; the same int draws the same rows.
    """

    prior: float

    @abstractmethod
    def _rows(self, y: IntArray, rng: np.random.Generator) -> Draw:
        """Draw one row for each true class in `y`."""

    def _share(self, n: int, share: float, rng: np.random.Generator) -> Draw:
        """Draw `n` rows, each positive with probability `share`."""
        return self._rows((rng.random(n) < share).astype(np.int64), rng)

    def draw(self, n: int, rng: Rng) -> Draw:
        """Draw `n` rows of the population.

        Examples
        --------
        >>> from halftruth.simulate import GaussianClasses
        >>> len(GaussianClasses(prior=0.5).draw(4, rng=0))
        4
        """
        generator = np.random.default_rng(rng)
        return self._share(_checks.count(n, "n", least=1), self.prior, generator)

    def draw_class(self, y: int, n: int, rng: Rng) -> Draw:
        """Draw `n` rows of the class `y`, 0 or 1.

        Examples
        --------
        >>> from halftruth.simulate import GaussianClasses
        >>> GaussianClasses(prior=0.5).draw_class(0, 3, rng=0).y.tolist()
        [0, 0, 0]
        """
        if y not in (0, 1):
            remedy = "Pass the class to draw from."
            raise InputError(argument="y", must="be 0 or 1", got=repr(y), remedy=remedy)
        classes = np.full(_checks.count(n, "n", least=1), int(y), dtype=np.int64)
        return self._rows(classes, np.random.default_rng(rng))

    def true_alpha(
        self,
        n_positive: int,
        n_unlabeled: int,
        n_negative: int = 0,
        purity: float = 1.0,
        population: PopulationChoice = "unlabeled",
    ) -> float:
        """Return the share of positives among the unlabeled rows of `positive_unlabeled`.

        It is the prior for population="unlabeled", and (prior n - purity n_P) / n_U for "all".

        Examples
        --------
        >>> from halftruth.simulate import GaussianClasses
        >>> model = GaussianClasses(prior=0.5)
        >>> round(model.true_alpha(100, 900, population="all"), 6)
        0.444444
        """
        return PuDesign(n_positive, n_unlabeled, n_negative, purity, population).alpha(self.prior)

    def labeled(self, n: int, rng: Rng) -> Labeled:
        """Draw `n` rows with their true classes."""
        from halftruth.evidence import Labeled

        draw = self.draw(n, rng)
        return Labeled(draw.y, draw.score)

    def soft(self, n: int, rng: Rng) -> SoftLabeled:
        """Draw `n` rows whose soft label is the exact P(Y=1 | score)."""
        from halftruth.evidence import SoftLabeled

        draw = self.draw(n, rng)
        return SoftLabeled(draw.posterior, draw.score)

    def positive_confidence(self, n: int, rng: Rng, prior: Any = None) -> PositiveConfidence:
        """Draw `n` positives whose confidence is the exact P(Y=1 | score).

        The `prior` "true" hands on the population's, anything else is handed on as it is.
        """
        from halftruth.evidence import PositiveConfidence

        draw = self.draw_class(1, n, rng)
        return PositiveConfidence(draw.posterior, draw.score, prior=self._known(prior))

    def _known(self, prior: Any) -> Any:
        return self.prior if isinstance(prior, str) and prior == "true" else prior


class LinePopulation(DrawnPopulation):
    """A population along one coordinate x, of which positive-unlabeled data can be drawn."""

    @abstractmethod
    def _described(self, x: FloatArray, y: IntArray) -> Draw:
        """Rows with their scores and posteriors."""

    def draw_strata(
        self,
        n_positive: int,
        n_unlabeled: int,
        rng: Rng,
        *,
        purity: float = 1.0,
        n_negative: int = 0,
        population: PopulationChoice = "unlabeled",
        propensity: Propensity | None = None,
    ) -> Strata:
        """Draw the rows that `positive_unlabeled` makes evidence of, with their true classes.

        It takes the same `purity`, `n_negative`, `population` and `propensity`.

        Examples
        --------
        >>> from halftruth.simulate import GaussianClasses
        >>> strata = GaussianClasses().draw_strata(3, 10, rng=0)
        >>> strata.positive.y.tolist()
        [1, 1, 1]
        """
        design = PuDesign(n_positive, n_unlabeled, n_negative, purity, population, propensity)
        return self._drawn(design, np.random.default_rng(rng))

    def _drawn(self, design: PuDesign, rng: np.random.Generator) -> Strata:
        if design.propensity is None:
            return self._strata(design, rng)
        if design.population == "all":
            return self._labeled_by(design.propensity, design, rng)
        positive, chance = self._selected_by(design.propensity, design.n_positive, rng)
        unlabeled = self._share(design.n_unlabeled, self.prior, rng)
        negative = self._share(design.n_negative, 0.0, rng)
        return Strata(positive=positive, unlabeled=unlabeled, negative=negative, propensity=chance)

    def positive_unlabeled(
        self,
        n_positive: int,
        n_unlabeled: int,
        rng: Rng,
        *,
        purity: float = 1.0,
        n_negative: int = 0,
        population: PopulationChoice = "unlabeled",
        prior: Any = "true",
        propensity: Propensity | None = None,
    ) -> PositiveUnlabeled:
        """Draw known positives, unlabeled rows and perhaps known negatives.

        Parameters
        ----------
        n_positive, n_unlabeled, n_negative : int
            Sizes: exact for population="unlabeled", expected for "all", where each row of one
            table falls into a stratum by chance.
        rng : int or Generator
        purity : float in (0, 1]
            P(Y=1) of a row called positive.
        population : {"unlabeled", "all"}
            Two samples, the unlabeled one being the population; or one table whose rows together
            have the prior, so that the unlabeled rows have `true_alpha`.
        prior
            "true" hands on the population's, anything else is handed on as it is.
        propensity : callable or None
            P(labeled | Y=1, x) of an array x, in (0, 1]. With "unlabeled" the known positives'
            density is weighted by it. With "all" each positive of n_positive + n_unlabeled +
            n_negative rows is labeled with that chance: `n_positive` only adds to the total.

        Examples
        --------
        >>> import halftruth as ht
        >>> evidence = ht.simulate.GaussianClasses(prior=0.3).positive_unlabeled(2000, 20_000, rng=0)
        >>> round(ht.roc_auc(evidence), 2)
        0.92
        """
        from halftruth.evidence import PositiveUnlabeled

        design = PuDesign(n_positive, n_unlabeled, n_negative, purity, population, propensity)
        strata = self._drawn(design, np.random.default_rng(rng))
        return PositiveUnlabeled(
            strata.positive.score,
            strata.unlabeled.score,
            prior=self._known(prior),
            purity=purity,
            negative=strata.negative.score if n_negative else None,
            propensity=strata.propensity,
            population=population,
        )

    def _strata(self, design: PuDesign, rng: np.random.Generator) -> Strata:
        """Known positives that are a random sample of the positives, but for the impure ones."""
        alpha = design.alpha(self.prior)
        sizes = [design.n_positive, design.n_unlabeled, design.n_negative]
        if design.population == "all":
            # Each row of one table falls into a stratum by chance.
            sizes = rng.multinomial(design.total, np.divide(sizes, design.total)).tolist()
        shares = zip(sizes, (design.purity, alpha, 0.0), strict=True)
        positive, unlabeled, negative = (self._share(n, share, rng) for n, share in shares)
        return Strata(positive=positive, unlabeled=unlabeled, negative=negative)

    def _labeled_by(self, propensity: Propensity, design: PuDesign, rng: np.random.Generator) -> Strata:
        """One table, each positive labeled by its propensity and each negative by one chance for all."""
        expected = design.total * (1.0 - self.prior)
        share = design.n_negative / expected
        if share > 1.0:
            must = f"be at most the expected number of negatives, {expected:.6g}"
            remedy = "Pass fewer, or more unlabeled rows."
            raise InputError(argument="n_negative", must=must, got=design.n_negative, remedy=remedy)
        table = self._share(design.total, self.prior, rng)
        chance = _chances(propensity, table.x)
        labeled = rng.random(design.total) < np.where(table.y == 1, chance, share)
        kinds = (labeled & (table.y == 1), ~labeled, labeled & (table.y == 0))
        positive, unlabeled, negative = (self._described(table.x[rows], table.y[rows]) for rows in kinds)
        return Strata(positive=positive, unlabeled=unlabeled, negative=negative, propensity=chance[kinds[0]])

    def _selected_by(
        self, propensity: Propensity, n: int, rng: np.random.Generator
    ) -> tuple[Draw, FloatArray]:
        """Positives whose density is weighted by the propensity, by rejection."""
        accepted = np.empty((2, 0))  # x and its chance
        n_tried = 0
        candidates = np.ones(2 * n + 100, dtype=np.int64)
        while accepted.shape[1] < n:
            if n_tried > _CANDIDATES_PER_ROW * n:
                must, got = "not be small everywhere", f"{accepted.shape[1]} labeled of {n_tried} positives"
                remedy = "Multiply it by a constant: only ratios matter for two samples."
                raise InputError(argument="propensity", must=must, got=got, remedy=remedy)
            x = self._rows(candidates, rng).x
            chance = _chances(propensity, x)
            rows = np.stack([x, chance])[:, rng.random(x.size) < chance]
            accepted, n_tried = np.concatenate([accepted, rows], axis=1), n_tried + x.size
        x, chance = accepted[:, :n].copy()
        return self._described(x, np.ones(n, dtype=np.int64)), chance


def _chances(propensity: Propensity, x: FloatArray) -> FloatArray:
    chance = np.asarray(propensity(x), dtype=np.float64)
    if chance.shape != x.shape:
        must, got = f"return one value per row, shape {x.shape}", f"shape {chance.shape}"
        raise InputError(argument="propensity", must=must, got=got, remedy="Pass a function of an array.")
    wrong = np.flatnonzero(~((chance > 0.0) & (chance <= 1.0)))
    if wrong.size:
        got = f"{wrong.size} others, the first {chance[wrong[0]]:.6g} at x={x[wrong[0]]:.6g}"
        remedy = "Return the probability that a positive with that x is labeled."
        raise InputError(argument="propensity", must="return values in (0, 1]", got=got, remedy=remedy)
    return chance
