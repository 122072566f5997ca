"""The cells of the study, and data sets drawn for them."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from tools.interval_study.laws import FloatArray, Population

import halftruth as ht

N_POSITIVES = (10, 20, 50, 200)
PRIORS = (0.005, 0.02, 0.3)
AUCS = (0.75, 0.95, 0.999)
MAX_ROWS = 20_000
LABELED_SHARE = 0.5
"""Of the positives of one table, how many are known."""
PURITY = 0.9
N_VOTES = 10
"""Of which a soft label is the share."""
OVERSAMPLING = 3.0
"""How much more often rows beyond the middle of the two classes are drawn, where rows have weights."""
MAX_TRIES = 1_000

LABELED, TWO_SAMPLES = "labeled", "two samples"
SOFT, ONE_TABLE, WEIGHTS = "soft labels", "one table", "weights"
PROPENSITIES, NOISY = "propensities", "purity 0.9"


@dataclass(frozen=True)
class Cell:
    """A kind of evidence, a number of positives and a population."""

    kind: str
    population: Population
    n_positive: int

    @property
    def n_rows(self) -> int:
        """Rows of the table, or unlabeled rows of the second sample."""
        share = LABELED_SHARE if self.kind in (ONE_TABLE, PROPENSITIES) else 1.0
        return min(round(self.n_positive / (share * self.population.prior)), MAX_ROWS)

    @property
    def estimates_prior(self) -> bool:
        """Whether the share of positives is estimated, not given."""
        return self.kind in (LABELED, SOFT, PROPENSITIES)

    def __str__(self) -> str:
        law = self.population
        shape = "" if law.shape == "normal" else f", {law.shape}"
        return f"{self.n_positive} positives, π = {law.prior:g}, AUC {law.auc:g}{shape}"

    def rng(self, draw: int) -> np.random.Generator:
        """The same for the same draw, whatever else is run."""
        return np.random.default_rng([zlib.crc32(f"{self.kind}, {self}".encode()), draw])

    def evidence(self, rng: np.random.Generator) -> tuple[ht.Evidence, int]:
        """A data set with two cases of each class or more, and how many others were drawn before it."""
        for tries in range(MAX_TRIES):
            evidence = KINDS[self.kind](self, rng)
            if evidence is not None:
                return evidence, tries
        raise RuntimeError(f"no usable data set of {self.kind}, {self}")


Draw = Callable[[Cell, np.random.Generator], "ht.Evidence | None"]


def _labeled(cell: Cell, rng: np.random.Generator) -> ht.Evidence | None:
    y, score, _ = _table(cell, rng)
    return ht.Labeled(y, score) if min(y.sum(), (~y).sum()) >= 2 else None


def _soft(cell: Cell, rng: np.random.Generator) -> ht.Evidence | None:
    _, score, _ = _table(cell, rng)
    votes = rng.binomial(N_VOTES, score)
    if min((votes > 0).sum(), (votes < N_VOTES).sum()) < 2:
        return None
    return ht.SoftLabeled(votes / N_VOTES, score)


def _two_samples(cell: Cell, rng: np.random.Generator) -> ht.Evidence | None:
    known = cell.population.draw(np.ones(cell.n_positive, dtype=bool), rng)
    _, unlabeled, _ = _table(cell, rng)
    return ht.PositiveUnlabeled(cell.population.score(known), unlabeled, prior=cell.population.prior)


def _noisy(cell: Cell, rng: np.random.Generator) -> ht.Evidence | None:
    known = cell.population.draw(rng.random(cell.n_positive) < PURITY, rng)
    _, unlabeled, _ = _table(cell, rng)
    score = cell.population.score(known)
    return ht.PositiveUnlabeled(score, unlabeled, prior=cell.population.prior, purity=PURITY)


def _weighted(cell: Cell, rng: np.random.Generator) -> ht.Evidence | None:
    law = cell.population
    (known, known_weight), (unlabeled, weight) = (
        _oversampled(law, n, share, rng) for n, share in ((cell.n_positive, 1.0), (cell.n_rows, law.prior))
    )
    return ht.PositiveUnlabeled(
        law.score(known),
        law.score(unlabeled),
        prior=law.prior,
        positive_weight=known_weight,
        unlabeled_weight=weight,
    )


def _oversampled(
    law: Population, n: int, share: float, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """The x of rows of which a share are positives, drawn unevenly, and the weights that undo it."""
    candidates = int(np.ceil(OVERSAMPLING * n)) * 2 + 50
    x = law.draw(rng.random(candidates) < share, rng)
    weight = np.where(x > law.shift / 2.0, 1.0, OVERSAMPLING)
    drawn = np.flatnonzero(rng.random(candidates) < 1.0 / weight)[:n]
    return x[drawn], weight[drawn]


def _one_table(cell: Cell, rng: np.random.Generator) -> ht.Evidence | None:
    y, score, _ = _table(cell, rng)
    known = y & (rng.random(len(y)) < LABELED_SHARE)
    # With an exact prior no more can be known than there are positives.
    if not 2 <= known.sum() <= cell.population.prior * len(y):
        return None
    return ht.PositiveUnlabeled(score[known], score[~known], prior=cell.population.prior, population="all")


def _with_propensities(cell: Cell, rng: np.random.Generator) -> ht.Evidence | None:
    y, score, x = _table(cell, rng)
    propensity = LABELED_SHARE * (0.5 + ndtr(x - cell.population.shift))
    known = y & (rng.random(len(y)) < propensity)
    # Too few rows can stand for more positives than there are rows.
    if known.sum() < 2 or np.sum(1.0 / propensity[known]) > len(y) - 2:
        return None
    return ht.PositiveUnlabeled(score[known], score[~known], propensity=propensity[known], population="all")


def _table(cell: Cell, rng: np.random.Generator) -> tuple[NDArray[np.bool_], FloatArray, FloatArray]:
    """Classes, scores and x of rows of the population."""
    y = rng.random(cell.n_rows) < cell.population.prior
    x = cell.population.draw(y, rng)
    return y, cell.population.score(x), x


KINDS: dict[str, Draw] = {
    LABELED: _labeled,
    SOFT: _soft,
    TWO_SAMPLES: _two_samples,
    ONE_TABLE: _one_table,
    WEIGHTS: _weighted,
    PROPENSITIES: _with_propensities,
    NOISY: _noisy,
}


def all_cells(kinds: tuple[str, ...], *, quick: bool) -> Iterator[Cell]:
    """The cells of a run."""
    sizes, priors, aucs = ((10, 50), (0.3,), (0.95,)) if quick else (N_POSITIVES, PRIORS, AUCS)
    for kind in kinds:
        # Other shapes where evidence is simplest.
        shapes = ("normal", "heavy", "tied") if kind in (LABELED, TWO_SAMPLES) else ("normal",)
        for shape, prior, auc, n in product(shapes, priors, aucs, sizes):
            if shape != "normal" and (prior == min(PRIORS) or n not in (10, 50)):
                continue
            # A table that is half labeled would need more rows than there may be, and be another cell's.
            if kind in (ONE_TABLE, PROPENSITIES) and n / (LABELED_SHARE * prior) > 2 * MAX_ROWS:
                continue
            yield Cell(kind, Population(shape, prior, auc), n)
