"""Evidence of the kinds that need no more than rows drawn from a population."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from halftruth.simulate.draw import Draw
from halftruth.simulate.strata import Design, alpha_of

if TYPE_CHECKING:
    from halftruth.evidence import Labeled, PositiveConfidence, SoftLabeled


class Drawn(ABC):
    """A population that rows can be drawn from."""

    prior: float

    @abstractmethod
    def draw(self, n: int, rng: int | np.random.Generator) -> Draw:
        """Draw `n` rows of the population."""

    @abstractmethod
    def draw_class(self, y: int, n: int, rng: int | np.random.Generator) -> Draw:
        """Draw `n` rows of the class `y`, 0 or 1."""

    def true_alpha(
        self,
        n_positive: int,
        n_unlabeled: int,
        n_negative: int = 0,
        purity: float = 1.0,
        population: str = "unlabeled",
    ) -> float:
        """Return the share of positives among the unlabeled rows.

        It is the prior for population="unlabeled", and (prior n - purity n_P) / n_U for "all".

        Parameters
        ----------
        n_positive, n_unlabeled, n_negative : int
        purity : float in (0, 1]
        population : {"unlabeled", "all"}

        Examples
        --------
        >>> from halftruth.simulate import BinomialProcess, LogitCurve
        >>> model = BinomialProcess(curve=LogitCurve(), a1=2.0, a2=2.0)
        >>> round(model.true_alpha(100, 900, population="all"), 6)
        0.444444
        """
        design = Design(
            n_positive=n_positive,
            n_unlabeled=n_unlabeled,
            n_negative=n_negative,
            purity=purity,
            population=population,
        )
        return alpha_of(self.prior, design)

    def labeled(self, n: int, rng: int | np.random.Generator) -> Labeled:
        """Draw `n` rows with their true classes.

        Parameters
        ----------
        n : int
        rng : int or Generator

        Examples
        --------
        >>> from halftruth.simulate import binomial_processes
        >>> type(binomial_processes()["D1"].labeled(10, rng=0)).__name__
        'Labeled'
        """
        from halftruth.evidence import Labeled

        draw = self.draw(n, rng)
        return Labeled(draw.y, draw.score)

    def soft(self, n: int, rng: int | np.random.Generator) -> SoftLabeled:
        """Draw `n` rows whose soft label is the exact P(Y=1 | score).

        Parameters
        ----------
        n : int
        rng : int or Generator

        Examples
        --------
        >>> from halftruth.simulate import binomial_processes
        >>> type(binomial_processes()["D1"].soft(10, rng=0)).__name__
        'SoftLabeled'
        """
        from halftruth.evidence import SoftLabeled

        draw = self.draw(n, rng)
        return SoftLabeled(draw.posterior, draw.score)

    def positive_confidence(
        self, n: int, rng: int | np.random.Generator, prior: Any = None
    ) -> PositiveConfidence:
        """Draw `n` positives whose confidence is the exact P(Y=1 | score).

        Parameters
        ----------
        n : int
        rng : int or Generator
        prior
            "true" hands on the population's, anything else is handed on as it is.

        Examples
        --------
        >>> from halftruth.simulate import binomial_processes
        >>> type(binomial_processes()["D1"].positive_confidence(10, rng=0)).__name__
        'PositiveConfidence'
        """
        from halftruth.evidence import PositiveConfidence

        draw = self.draw_class(1, n, rng)
        return PositiveConfidence(draw.posterior, draw.score, prior=self._known(prior))

    def _known(self, prior: Any) -> Any:
        return self.prior if isinstance(prior, str) and prior == "true" else prior
