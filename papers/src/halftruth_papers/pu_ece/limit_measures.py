"""Samples without end: measures of populations whose laws stand in for a sample."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from halftruth import _checks
from halftruth._errors import InputError
from halftruth.measure._score_measure import ScoreMeasure
from halftruth.simulate._draws import FloatArray, Rng
from halftruth.simulate._gaussian_classes import GaussianClasses
from halftruth.simulate._truths import gaussian_line
from halftruth_papers.population import Population
from halftruth_papers.quantile_line import QuantileLine

if TYPE_CHECKING:
    from halftruth.evidence import Labeled

Model: TypeAlias = GaussianClasses | Population

_ATOMS_PER_BIN = 10


def exact_measure(model: GaussianClasses | Population, n_points: int = 10_000) -> ScoreMeasure:
    """Return the population itself as a measure: any metric of it is the true value.

    Parameters
    ----------
    model : GaussianClasses, BinomialProcess or LogitMixture
    n_points : int
        Number of equal shares of the population; each is one atom at its mean score. Shares whose scores
        are all the same number, such as 1, are one atom.

    Returns
    -------
    ScoreMeasure
        Its masses sum to `n_points`, and its `size` makes ten atoms to a bin by default.

    Notes
    -----
    With 10,000 points `calibration_error` (norm 1) with its default bins is within 1e-5 of the truth, the
    Brier score and ROC AUC within 1e-6, log loss within 5e-5 where scores come near 0 and 1.

    Examples
    --------
    >>> import halftruth as ht
    >>> model = ht.simulate.logistic_model()
    >>> measure = exact_measure(model)
    >>> round(ht.calibration_error(measure), 5), round(model.truth("calibration_error"), 5)
    (0.07444, 0.07444)
    """
    n_points = _checks.count(n_points, "n_points", least=1)
    line = _line(model)
    score, mass, positive = _atoms(line, n_points, line.quantiles(n_points))
    size = max(1.0, n_points / _ATOMS_PER_BIN) ** 3
    return ScoreMeasure(score=score, mass=mass, pos_mass=positive, size=size)


def labeled_measure(
    model: GaussianClasses | Population, n: float, rng: Rng | None = None, *, n_points: int = 10_000
) -> ScoreMeasure:
    """Return the measure of `n` labeled rows, or of all there could be.

    Parameters
    ----------
    model : GaussianClasses, BinomialProcess or LogitMixture
    n : int or math.inf
    rng : int or Generator
        Not needed where `n` is infinite.
    n_points : int
        Of `exact_measure`, where `n` is infinite.

    Examples
    --------
    >>> import math
    >>> import halftruth as ht
    >>> model = ht.simulate.logistic_model()
    >>> round(ht.brier(labeled_measure(model, math.inf)) - model.truth("brier"), 6)
    0.0
    """
    if n == math.inf:
        return exact_measure(model, n_points)
    evidence: Labeled = _model(model).labeled(_finite(n, "n"), _generator(rng))
    return evidence.measure()


def positive_unlabeled_measure(
    model: GaussianClasses | Population,
    n_positive: float,
    n_unlabeled: float,
    rng: Rng | None = None,
    *,
    n_bins: int | Sequence[int] = (),
    n_points: int = 10_000,
) -> ScoreMeasure:
    """Return the measure of positives and unlabeled rows (two samples), either of them perhaps infinite.

    Parameters
    ----------
    model : GaussianClasses, BinomialProcess or LogitMixture
        Its prior is the one that the measure takes.
    n_positive, n_unlabeled : int or math.inf
        An infinite sample is its exact law, on atoms.
    rng : int or Generator
        Not needed where both are infinite.
    n_bins : int or several
        Numbers of bins, beside the optimal one, whose edges the atoms of an infinite sample respect.
    n_points : int
        Atoms of an infinite sample, beside those that the edges add.

    Returns
    -------
    ScoreMeasure
        `size` is 1 / (π²/n_P + 1/n_U), so that ``n_bins="optimal"`` is the paper's number. Both infinite:
        `exact_measure`. Unlabeled rows, where finite, have mass 1 each; an infinite sample has the
        mass `n_points` in all. Only shares matter then, but a count of rows taken from it is made up.

    Notes
    -----
    The law is cut at every row of the finite sample, at the edges k/B of both binnings for B optimal and
    B in `n_bins`, and at equal shares in between. For these B the binned error is that of the law, to
    1e-12. For another B a bin can be wrong by one atom: with 10,000 points the error is then off by
    some 1e-4, and by 1e-5 with 100,000 to 300,000. So it is with bins of equal mass for every B where many
    scores are 1 up to the last digit, as in D1 to D3: ties there are known to one atom.

    Examples
    --------
    >>> import math
    >>> import halftruth as ht
    >>> model = ht.simulate.logistic_model()
    >>> measure = positive_unlabeled_measure(model, 100, math.inf, rng=0)
    >>> round(measure.size), measure.prior
    (400, 0.5)
    """
    n_points = _checks.count(n_points, "n_points", least=1)
    model = _model(model)
    infinite = n_positive == math.inf, n_unlabeled == math.inf
    if all(infinite):
        return exact_measure(model, n_points)
    generator = _generator(rng)
    known = 0 if infinite[0] else _finite(n_positive, "n_positive")
    free = 0 if infinite[1] else _finite(n_unlabeled, "n_unlabeled")
    if known and free:
        return model.positive_unlabeled(known, free, generator).measure()
    size = float(free or known / model.prior**2)
    bins = {max(1, math.ceil(size ** (1 / 3) - 1e-9))}
    wished = (n_bins,) if isinstance(n_bins, int) else n_bins
    bins.update(_checks.count(n, "n_bins", least=1) for n in wished)
    if infinite[0]:
        rows = model.draw(free, generator).score
        return _known_positives(_line(model), rows, model.prior, bins, n_points, size)
    rows = model.draw_class(1, known, generator).score
    return _known_population(_line(model), rows, model.prior, bins, n_points, size)


def _known_positives(
    line: QuantileLine, rows: FloatArray, prior: float, bins: set[int], n_points: int, size: float
) -> ScoreMeasure:
    """Unlabeled rows, and the positives' law."""
    score, _, positive = _atoms(line, n_points, line.quantiles(n_points), _edges(bins), rows, at="positives")
    everything, where = np.unique(np.concatenate([rows, score]), return_inverse=True)
    of_rows, of_law = where[: len(rows)], where[len(rows) :]
    return ScoreMeasure(
        score=everything,
        mass=_sums(of_rows, np.ones(len(rows)), len(everything)),
        pos_mass=_sums(of_law, len(rows) / n_points * positive, len(everything)),
        size=size,
        alpha=prior,
    )


def _known_population(
    line: QuantileLine, rows: FloatArray, prior: float, bins: set[int], n_points: int, size: float
) -> ScoreMeasure:
    """Known positives, and the population's law."""
    shares = np.concatenate([line.quantiles(n) for n in (n_points, *bins)])
    score, mass, _ = _atoms(line, n_points, shares, _edges(bins), rows)
    everything, where = np.unique(np.concatenate([rows, score]), return_inverse=True)
    of_rows, of_law = where[: len(rows)], where[len(rows) :]
    weight = np.full(len(rows), prior * n_points / len(rows))
    return ScoreMeasure(
        score=everything,
        mass=_sums(of_law, mass, len(everything)),
        pos_mass=_sums(of_rows, weight, len(everything)),
        size=size,
        alpha=prior,
    )


def _edges(bins: set[int]) -> FloatArray:
    return np.concatenate([np.arange(1, n) / n for n in bins])


def _atoms(
    line: QuantileLine, total: int, points: FloatArray, *scores: FloatArray, at: str = "population"
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Cut the law at the points and at the scores; the mean score, mass and positives of each piece.

    The mean is that of the pieces' population, or of their positives. Masses sum to `total`.
    """
    ends = np.unique(np.concatenate([points, *(line.coordinate(cuts) for cuts in scores)]))
    ends = ends[(line.edges[0] < ends) & (ends < line.edges[-1])]
    ends = np.concatenate([line.edges[:1], ends, line.edges[-1:]])
    below = line.below(ends)
    below *= total / below[0, -1]
    # On a grid of this step sums are exact: bins of equal mass end where the pieces do.
    step = 2.0 ** (total.bit_length() - 52)
    below[0] = np.round(below[0] / step) * step
    mass, positive, of_score, of_both = np.diff(below, axis=-1)
    weight, moment = (mass, of_score) if at == "population" else (positive, of_both)
    ends_at = line.score(ends)
    middle = (ends_at[:-1] + ends_at[1:]) / 2.0
    mean = np.divide(moment, weight, out=middle, where=weight > 1e-10)
    # Pieces in which a score is one number are one atom.
    score, atom = np.unique(np.clip(mean, ends_at[:-1], ends_at[1:]), return_inverse=True)
    return score, _sums(atom, mass, len(score)), _sums(atom, positive, len(score))


def _sums(which: NDArray[np.intp], values: FloatArray, n: int) -> FloatArray:
    return np.asarray(np.bincount(which, values, minlength=n), dtype=np.float64)


def _line(model: object) -> QuantileLine:
    checked = _model(model)
    return _gaussian_line(checked) if isinstance(checked, GaussianClasses) else checked.line


@lru_cache(maxsize=32)
def _gaussian_line(model: GaussianClasses) -> QuantileLine:
    """Kept for all the measures of a model: it remembers its quantiles."""
    return QuantileLine.of(gaussian_line(model))


def _model(model: object) -> Model:
    if not isinstance(model, GaussianClasses | Population):
        raise InputError(
            f"`model` must be GaussianClasses, BinomialProcess or LogitMixture, got {type(model).__name__}. "
            "Make one with halftruth.simulate."
        )
    return model


def _generator(rng: Rng | None) -> np.random.Generator:
    if rng is None:
        raise InputError(
            "`rng` must be an int or a Generator where a sample is finite, got None. Pass rng=0."
        )
    return np.random.default_rng(rng)


def _finite(n: float, name: str) -> int:
    is_whole = isinstance(n, float) and n.is_integer()
    return _checks.count(int(n) if is_whole else n, name, least=1)
