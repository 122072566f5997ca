"""Cross-fitting: each row calibrated by a curve that did not see it, and what calibration changes there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, Note, arg
from halftruth.calibration._binned_errors import calibration_error
from halftruth.calibration.calibrators._calibrator import Calibrator
from halftruth.evidence import Evidence, as_evidence
from halftruth.measure._score_measure import Measurable
from halftruth.metrics._mean_losses import brier, log_loss
from halftruth.table._grid import Grid
from halftruth.table._histogram import Bins
from halftruth.table._score_table import ScoreTable
from halftruth.table._strata import StratumRows

__all__ = ["Assessment", "FoldedBins", "assess", "cross_calibrate"]

MANY = 1_000_000_000  # rows from which NumPy draws no parts of fixed size; parts then differ by chance


class FoldedRows:
    """The rows of a stratum split at random into parts that differ by one row at most."""

    def __init__(self, rows: StratumRows, n_folds: int, rng: np.random.Generator) -> None:
        self.rows = rows
        self.fold = rng.permutation(np.arange(len(rows)) % n_folds)

    def others(self, k: int) -> StratumRows:
        """The rows outside part ``k``."""
        rows, outside = self.rows, self.fold != k
        weight, value = (None if x is None else x[outside] for x in (rows.weight, rows.value))
        return replace(rows, score=rows.score[outside], weight=weight, value=value)

    def score(self, k: int) -> Vector:
        """The scores of part ``k``."""
        return np.asarray(self.rows.score[self.fold == k])

    def joined(self, score: Sequence[Vector]) -> StratumRows:
        """All rows, with new scores for each part."""
        out = np.empty(len(self.rows))
        for k, fold_score in enumerate(score):
            out[self.fold == k] = fold_score
        return replace(self.rows, score=out)


class FoldedBins:
    """The same of bins: how many rows of each are in a part is drawn as if the rows were there."""

    def __init__(self, bins: Bins, n_folds: int, rng: np.random.Generator) -> None:
        self.bins = bins
        self.counts = _counts(bins.rows, n_folds, rng)

    def others(self, k: int) -> Bins:
        return self.bins.part(self.bins.rows - self.counts[k])

    def score(self, k: int) -> Vector:
        fold = self.bins.part(self.counts[k])
        if fold.position is None:  # margins: only their ends are known
            return fold.low / 2 + fold.high / 2
        return np.clip(fold.position / fold.full("weight"), fold.low, fold.high)

    def joined(self, score: Sequence[Vector]) -> Bins:
        # Calibrated scores are probabilities, whatever the scale of the bins was.
        grid = Grid("probability", n_bins=self.bins.grid.n_bins)
        folds = [self.bins.part(rows).moved(s, grid) for rows, s in zip(self.counts, score, strict=True)]
        return reduce(Bins.concatenate, folds)


def _counts(rows: NDArray[np.int64], n_folds: int, rng: np.random.Generator) -> list[NDArray[np.int64]]:
    """Rows of each bin in each part."""
    n = int(rows.sum())
    if n >= MANY:
        return list(rng.multinomial(rows, np.full(n_folds, 1 / n_folds)).T)
    rest, out = rows.copy(), []
    # Rows drawn without replacement until the last part is what remains: each part has its size exactly.
    for k in range(n_folds - 1):
        size = n // n_folds + (k < n % n_folds)
        out.append(rng.multivariate_hypergeometric(rest, size, method="marginals"))
        rest = rest - out[-1]
    return [*out, rest]


Kind = TypeVar("Kind", bound=Evidence)
MOST_FOLDS = 100


def cross_calibrate(
    evidence: Kind,
    calibrator: Calibrator | str = "beta",
    *,
    n_folds: int = 5,
    rng: int | np.random.Generator = 0,
) -> Kind:
    """The same evidence with calibrated scores, each from a fit on other rows.

    A curve looks better on the rows it was fitted on than on others. Metrics of what this gives do not
    share rows with the fit.

    Parameters
    ----------
    evidence : evidence
        Of a histogram, how many rows of each bin are in a part is drawn at random; rows of one bin count as
        alike.
    calibrator : Calibrator or str
        Its settings, or the name of its method.
    n_folds : int
        The rows of each stratum are split at random into so many parts; from 2 to 100, and not more than the
        smallest stratum has rows.
    rng : int or numpy Generator
        Same seed, same parts.

    Returns
    -------
    evidence of the same kind, with the same prior, purity, population, weights and values

    Examples
    --------
    >>> import halftruth as ht
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> s = rng.random(2000)
    >>> evidence = ht.Labeled(rng.random(2000) < s**2, s)
    >>> bool(ht.calibration_error(ht.cross_calibrate(evidence)) < ht.calibration_error(evidence) / 2)
    True
    """
    as_evidence(evidence)
    settings = _settings(calibrator)
    n_folds = _number_of_folds(evidence, n_folds)
    generator = np.random.default_rng(rng)
    strata = evidence.table.strata
    folds = {
        name: FoldedBins(rows, n_folds, generator)
        if isinstance(rows, Bins)
        else FoldedRows(rows, n_folds, generator)
        for name, rows in strata.items()
    }
    calibrated: dict[str, list[Vector]] = {name: [] for name in strata}
    for k in range(n_folds):
        others = {name: split.others(k) for name, split in folds.items()}
        fitted = Calibrator(**settings).fit(evidence.with_table(ScoreTable(others)))
        for name, split in folds.items():
            calibrated[name].append(fitted.predict(split.score(k)))
    joined = {name: split.joined(calibrated[name]) for name, split in folds.items()}
    return evidence.with_table(ScoreTable(joined))


def _settings(calibrator: object) -> dict[str, Any]:
    if isinstance(calibrator, str):
        return {"method": calibrator}
    if not isinstance(calibrator, Calibrator):
        must, got = "be a Calibrator or the name of a method", type(calibrator).__name__
        raise InputError(argument="calibrator", must=must, got=got)
    return calibrator.get_params()


def smallest_stratum(evidence: Evidence) -> tuple[int, str]:
    """The rows of the stratum that has fewest, and its name."""
    return min((len(rows), name) for name, rows in evidence.table.strata.items())


def _number_of_folds(evidence: Evidence, n_folds: int) -> int:
    n_folds = _checks.count(n_folds, "n_folds", least=2)
    if n_folds > MOST_FOLDS:
        must, remedy = f"be at most {MOST_FOLDS}", "Each part costs a fit: 5 or 10 will do."
        raise InputError(argument="n_folds", must=must, got=n_folds, remedy=remedy)
    n, name = smallest_stratum(evidence)
    if n < 2:
        raise InputError(
            f"Cross-fitting needs at least 2 {name} rows, got {n}: each must be calibrated by others."
        )
    if n_folds > n:
        must, remedy = f"be at most {n}, the number of {name} rows", f"Pass {arg('n_folds', n)}."
        raise InputError(argument="n_folds", must=must, got=n_folds, remedy=remedy)
    return n_folds


ERRORS: Mapping[str, Callable[[Measurable], float]] = {
    "calibration_error": calibration_error,
    "debiased_calibration_error": partial(calibration_error, debias=True),
    "brier": brier,
    "log_loss": log_loss,
}
N_FOLDS = 5
NO_BEFORE = Note(
    "undefined",
    "Scores outside [0, 1] are no probabilities: there is nothing to say of them before calibration.",
)
NO_AFTER = (
    "One {} row cannot be measured by a curve that was fitted on others like it: there are no values after "
    "calibration."
)
BELOW = (
    "{} below 0 is not possible: by noise, or because the prior, the purity or the sampling is not as given."
)


@dataclass(frozen=True)
class Assessment:
    """Errors by name, before and after; None where there is nothing to measure."""

    errors: Mapping[str, tuple[float | None, float | None]]
    notes: tuple[Note, ...]


def assess(
    evidence: Evidence,
    calibrator: Calibrator,
    *,
    n_folds: int | None = None,
    rng: int | np.random.Generator = 0,
) -> Assessment:
    """Errors of the scores, and of cross-fitted ones: in 5 parts, or fewer where a stratum has fewer rows."""
    measure = evidence.measure()
    fewest, name = smallest_stratum(evidence)
    before = measure if measure.bounded else None
    after = None
    if fewest > 1:
        number = min(N_FOLDS, fewest) if n_folds is None else n_folds
        after = cross_calibrate(evidence, calibrator, n_folds=number, rng=rng).measure()
    errors = {
        label: (None if before is None else float(f(before)), None if after is None else float(f(after)))
        for label, f in ERRORS.items()
    }
    notes = [NO_BEFORE] if before is None else []
    notes += [Note("small_sample", NO_AFTER.format(name))] if after is None else []
    below = [label for label, pair in errors.items() if any(x is not None and x < 0 for x in pair)]
    notes += [Note("impossible", BELOW.format(", ".join(below)))] if below else []
    return Assessment(errors=errors, notes=tuple(notes))
