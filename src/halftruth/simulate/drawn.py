"""Evidence of the kinds that need no more than rows drawn from a population."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from halftruth import _checks
from halftruth._errors import InputError
from halftruth.simulate.draw import Draw, IntArray
from halftruth.simulate.strata import Design, alpha_of

if TYPE_CHECKING:
    from halftruth.evidence import Labeled, PositiveConfidence, SoftLabeled


class Drawn(ABC):
    """A population that rows can be drawn from."""

    prior: float

    @abstractmethod
    def _share(self, n: int, share: float, rng: np.random.Generator) -> Draw:
        """Draw `n` rows, each positive with probability `share`."""

    @abstractmethod
    def _rows(self, y: IntArray, rng: np.random.Generator) -> Draw:
        """Draw one row for each true class in `y`."""

    def draw(self, n: int, rng: int | np.random.Generator) -> Draw:
        """Draw `n` rows of the population.

        Parameters
        ----------
        n : int
        rng : int or Generator

        Examples
        --------
        >>> from halftruth.simulate import GaussianClasses
        >>> len(GaussianClasses(prior=0.5).draw(4, rng=0))
        4
        """
        generator = np.random.default_rng(rng)
        return self._share(_checks.count(n, "n", least=1), self.prior, generator)

    def draw_class(self, y: int, n: int, rng: int | np.random.Generator) -> Draw:
        """Draw `n` rows of the class `y`, 0 or 1.

        Parameters
        ----------
        y : {0, 1}
        n : int
        rng : int or Generator

        Examples
        --------
        >>> from halftruth.simulate import GaussianClasses
        >>> GaussianClasses(prior=0.5).draw_class(0, 3, rng=0).y.tolist()
        [0, 0, 0]
        """
        if y not in (0, 1):
            raise InputError(f"`y` must be 0 or 1, got {y!r}. Pass the class to draw from.")
        classes = np.full(_checks.count(n, "n", least=1), int(y), dtype=np.int64)
        return self._rows(classes, np.random.default_rng(rng))

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
        >>> from halftruth.simulate import GaussianClasses
        >>> model = GaussianClasses(prior=0.5)
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
        >>> from halftruth.simulate import GaussianClasses
        >>> type(GaussianClasses(prior=0.5).labeled(10, rng=0)).__name__
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
        >>> from halftruth.simulate import GaussianClasses
        >>> type(GaussianClasses(prior=0.5).soft(10, rng=0)).__name__
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
        >>> from halftruth.simulate import GaussianClasses
        >>> type(GaussianClasses(prior=0.5).positive_confidence(10, rng=0)).__name__
        'PositiveConfidence'
        """
        from halftruth.evidence import PositiveConfidence

        draw = self.draw_class(1, n, rng)
        return PositiveConfidence(draw.posterior, draw.score, prior=self._known(prior))

    def _known(self, prior: Any) -> Any:
        return self.prior if isinstance(prior, str) and prior == "true" else prior
