"""What every population with a line has: its truths, and data of every kind drawn from it."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from halftruth.simulate.draw import Draw, FloatArray, IntArray
from halftruth.simulate.drawn import Drawn
from halftruth.simulate.strata import Design, Strata, alpha_of
from halftruth.simulate.truth import truth
from halftruth_papers.line_truth import LINE_TRUTHS
from halftruth_papers.score_line import Line

if TYPE_CHECKING:
    from halftruth.evidence import PositiveUnlabeled


class Population(Drawn):
    """A population of scores in [0, 1] with a known P(Y=1 | score).

    Wherever `rng` is an int, the same int draws the same rows.

    Examples
    --------
    >>> from halftruth_papers.bpm import BinomialProcess, LogitCurve
    >>> isinstance(BinomialProcess(curve=LogitCurve(), a1=2.0, a2=1.0), Population)
    True
    """

    prior: float

    @property
    @abstractmethod
    def line(self) -> Line:
        """The population along the logit of its score."""

    @abstractmethod
    def _of_class(self, y: int, n: int, rng: np.random.Generator) -> FloatArray:
        """Draw x of `n` rows of a class."""

    @abstractmethod
    def _described(self, x: FloatArray, y: IntArray) -> Draw:
        """Rows with their scores and posteriors."""

    def truth(self, name: str, **params: Any) -> float:
        """Return the exact value of a metric in the population.

        Parameters
        ----------
        name : {"prevalence", "roc_auc", "brier", "brier_skill", "log_loss", "calibration_error", \
"ks_calibration_error"}
        **params
            `norm` (1 or 2) of the calibration error, `statistic` ("ks" or "kuiper") of the KS error.

        Examples
        --------
        >>> from halftruth_papers.bpm import binomial_processes
        >>> round(binomial_processes()["D1"].truth("calibration_error"), 5)
        0.04973
        """
        return truth(self.line, name, params, LINE_TRUTHS)

    def draw_strata(
        self,
        n_positive: int,
        n_unlabeled: int,
        rng: int | np.random.Generator,
        *,
        purity: float = 1.0,
        n_negative: int = 0,
        population: str = "unlabeled",
    ) -> Strata:
        """Draw the rows that `positive_unlabeled` makes evidence of, with their true classes.

        Parameters
        ----------
        n_positive, n_unlabeled, n_negative, rng, purity, population
            As there.

        Examples
        --------
        >>> from halftruth_papers.bpm import binomial_processes
        >>> binomial_processes()["D5"].draw_strata(3, 10, rng=0).positive.y.tolist()
        [1, 1, 1]
        """
        design = Design(
            n_positive=n_positive,
            n_unlabeled=n_unlabeled,
            n_negative=n_negative,
            purity=purity,
            population=population,
        )
        generator = np.random.default_rng(rng)
        alpha = alpha_of(self.prior, design)
        sizes = [n_positive, n_unlabeled, n_negative]
        if population == "all":
            # Each row of one table falls into a stratum by chance.
            sizes = generator.multinomial(design.total, np.divide(sizes, design.total)).tolist()
        shares = (purity, alpha, 0.0)
        parts = [self._share(n, share, generator) for n, share in zip(sizes, shares, strict=True)]
        return Strata(positive=parts[0], unlabeled=parts[1], negative=parts[2])

    def positive_unlabeled(
        self,
        n_positive: int,
        n_unlabeled: int,
        rng: int | np.random.Generator,
        *,
        purity: float = 1.0,
        n_negative: int = 0,
        population: str = "unlabeled",
        prior: Any = "true",
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

        Examples
        --------
        >>> from halftruth_papers.bpm import binomial_processes
        >>> binomial_processes()["D4"].positive_unlabeled(50, 500, rng=0)
        PositiveUnlabeled(50 positive, 500 unlabeled)
        """
        from halftruth.evidence import PositiveUnlabeled

        strata = self.draw_strata(
            n_positive, n_unlabeled, rng, purity=purity, n_negative=n_negative, population=population
        )
        return PositiveUnlabeled(
            strata.positive.score,
            strata.unlabeled.score,
            prior=self._known(prior),
            purity=purity,
            negative=strata.negative.score if n_negative else None,
            population=population,
        )

    def _share(self, n: int, share: float, rng: np.random.Generator) -> Draw:
        """Draw `n` rows, each positive with probability `share`."""
        return self._rows((rng.random(n) < share).astype(np.int64), rng)

    def _rows(self, y: IntArray, rng: np.random.Generator) -> Draw:
        """Draw one row for each true class in `y`."""
        x = np.empty(y.size)
        for each in (1, 0):
            chosen = y == each
            x[chosen] = self._of_class(each, int(chosen.sum()), rng)
        return self._described(x, y)
