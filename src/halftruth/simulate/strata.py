"""Known positives, unlabeled rows and known negatives, drawn as one of the two designs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from halftruth import _checks
from halftruth._errors import InputError
from halftruth.simulate.draw import Draw, FloatArray, IntArray
from halftruth.simulate.scores import GaussianScores

Propensity: TypeAlias = Callable[[FloatArray], FloatArray]

# A propensity so small that this many candidates per row do not suffice is a mistake of scale.
_CANDIDATES_PER_ROW = 10_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Strata:
    """The rows behind positive-unlabeled evidence, with their true classes.

    Attributes
    ----------
    positive, unlabeled, negative : Draw
        The rows called positive, the unlabeled rows, the known negatives (possibly none).
    propensity : ndarray of shape (n_positive,) or None
        P(labeled | Y=1, x) of each known positive, where the labels depend on x.

    Examples
    --------
    >>> from halftruth.simulate import GaussianClasses
    >>> strata = GaussianClasses().draw_strata(50, 200, rng=0, purity=0.8)
    >>> len(strata.positive), len(strata.unlabeled), len(strata.negative)
    (50, 200, 0)
    """

    positive: Draw
    unlabeled: Draw
    negative: Draw
    propensity: FloatArray | None = None


@dataclass(frozen=True, kw_only=True)
class Design:
    """Sizes and labeling of a positive-unlabeled sample."""

    n_positive: int
    n_unlabeled: int
    n_negative: int = 0
    purity: float = 1.0
    population: str = "unlabeled"
    propensity: Propensity | None = None

    def __post_init__(self) -> None:
        _checks.choice(self.population, "population", ("unlabeled", "all"))
        random_size = self.propensity is not None and self.population == "all"
        _checks.count(self.n_positive, "n_positive", least=0 if random_size else 1)
        _checks.count(self.n_unlabeled, "n_unlabeled", least=1)
        _checks.count(self.n_negative, "n_negative", least=0)
        advice = "Pass the share of the known positives that are positive."
        _checks.inside(self.purity, "purity", 0.0, 1.0, closed="right", advice=advice)
        if self.propensity is not None and self.purity < 1.0:
            raise InputError(
                f"`purity` must be 1 with a propensity, got {self.purity!r}: the two together "
                "are not identifiable. Drop one of them."
            )

    @property
    def total(self) -> int:
        """Number of rows in all strata."""
        return self.n_positive + self.n_unlabeled + self.n_negative


def alpha_of(prior: float, design: Design) -> float:
    """Return the share of positives among the unlabeled rows of a design without propensity."""
    if design.population == "unlabeled":
        return prior
    known = design.purity * design.n_positive
    alpha = (prior * design.total - known) / design.n_unlabeled
    if not -1e-12 <= alpha <= 1.0 + 1e-12:
        low, high = known / design.total, (known + design.n_unlabeled) / design.total
        raise InputError(
            f"`prior` must lie in [{low:.6g}, {high:.6g}] for these sizes, got {prior:g}: the "
            f"unlabeled rows would hold a share {alpha:.6g} of positives. Change n_positive, "
            "n_unlabeled, n_negative or purity."
        )
    return min(max(alpha, 0.0), 1.0)


def draw_strata(model: GaussianScores, design: Design, rng: int | np.random.Generator) -> Strata:
    """Draw the strata of `design` from `model`."""
    generator = np.random.default_rng(rng)
    if design.population == "all":
        if design.propensity is not None:
            return _labeled_by_propensity(model, design, design.propensity, generator)
        return _one_table(model, design, generator)
    if design.propensity is not None:
        positive, propensity = _selected(model, design, design.propensity, generator)
    else:
        positive = draw_share(model, design.n_positive, design.purity, generator)
        propensity = None
    return Strata(
        positive=positive,
        unlabeled=draw_share(model, design.n_unlabeled, model.prior, generator),
        negative=draw_share(model, design.n_negative, 0.0, generator),
        propensity=propensity,
    )


def draw_share(model: GaussianScores, n: int, share: float, rng: np.random.Generator) -> Draw:
    """Draw `n` rows, each positive with probability `share`."""
    return draw_rows(model, (rng.random(n) < share).astype(np.int64), rng)


def draw_rows(model: GaussianScores, y: IntArray, rng: np.random.Generator) -> Draw:
    """Draw one row for each true class in `y`."""
    return _described(model, y, np.asarray(model.means)[y] + rng.standard_normal(y.size))


def _described(model: GaussianScores, y: IntArray, x: FloatArray) -> Draw:
    """Return the rows (y, x) with their scores and posteriors."""
    return Draw(score=model.score(x), y=y, posterior=model.posterior(x), x=x)


def _one_table(model: GaussianScores, design: Design, rng: np.random.Generator) -> Strata:
    alpha = alpha_of(model.prior, design)
    sizes = np.array([design.n_positive, design.n_unlabeled, design.n_negative])
    n_positive, n_unlabeled, n_negative = rng.multinomial(design.total, sizes / design.total)
    return Strata(
        positive=draw_share(model, int(n_positive), design.purity, rng),
        unlabeled=draw_share(model, int(n_unlabeled), alpha, rng),
        negative=draw_share(model, int(n_negative), 0.0, rng),
    )


def _labeled_by_propensity(
    model: GaussianScores, design: Design, propensity: Propensity, rng: np.random.Generator
) -> Strata:
    share = design.n_negative / (design.total * (1.0 - model.prior))
    if share > 1.0:
        raise InputError(
            f"`n_negative` must be at most the expected number of negatives, "
            f"{design.total * (1.0 - model.prior):.6g}, got {design.n_negative}. Pass fewer, or "
            "more unlabeled rows."
        )
    table = draw_share(model, design.total, model.prior, rng)
    chance = _chances(propensity, table.x)
    told = rng.random(design.total) < np.where(table.y == 1, chance, share)
    kinds = (told & (table.y == 1), ~told, told & (table.y == 0))
    positive, unlabeled, negative = (_described(model, table.y[kind], table.x[kind]) for kind in kinds)
    return Strata(
        positive=positive,
        unlabeled=unlabeled,
        negative=negative,
        propensity=_frozen(chance[kinds[0]]),
    )


def _selected(
    model: GaussianScores, design: Design, propensity: Propensity, rng: np.random.Generator
) -> tuple[Draw, FloatArray]:
    """Draw positives whose density is weighted by the propensity, by rejection."""
    n = design.n_positive
    kept_x: list[FloatArray] = []
    kept_chance: list[FloatArray] = []
    found = tried = 0
    while found < n:
        if tried > _CANDIDATES_PER_ROW * n:
            raise InputError(
                f"`propensity` must not be small everywhere, got {found} labeled of {tried} "
                "positives. Multiply it by a constant: only ratios matter for two samples."
            )
        x = model.means[1] + rng.standard_normal(2 * n + 100)
        chance = _chances(propensity, x)
        kept = rng.random(x.size) < chance
        kept_x.append(x[kept])
        kept_chance.append(chance[kept])
        found, tried = found + int(kept.sum()), tried + x.size
    draw = _described(model, np.ones(n, dtype=np.int64), np.concatenate(kept_x)[:n])
    return draw, _frozen(np.concatenate(kept_chance)[:n])


def _chances(propensity: Propensity, x: FloatArray) -> FloatArray:
    chance = np.asarray(propensity(x), dtype=np.float64)
    if chance.shape != x.shape:
        raise InputError(
            f"`propensity` must return one value per row, shape {x.shape}, got shape "
            f"{chance.shape}. Pass a function of an array."
        )
    wrong = np.flatnonzero(~((chance > 0.0) & (chance <= 1.0)))
    if wrong.size:
        raise InputError(
            f"`propensity` must return values in (0, 1], got {wrong.size} others, the first "
            f"{chance[wrong[0]]:.6g} at x={x[wrong[0]]:.6g}. Return the probability that a "
            "positive with that x is labeled."
        )
    return chance


def _frozen(array: FloatArray) -> FloatArray:
    array.flags.writeable = False
    return array
