"""Propensities from features: how likely a positive with these features is to be known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, Note, arg, as_notes, notes_to_dict
from halftruth.prior._from_features import need
from halftruth.prior._label_models import Fit, Task
from halftruth.results._standing import Judged

__all__ = ["PropensityEstimate", "estimate_propensity"]

SAR_EM, LBE = "sar-em", "lbe"
STARTS = (0.1, 0.3, 0.6, 0.9)  # mean propensities from which LBE sets out
LEAST = 0.05  # the floor of e, as a share of its mean: a labeled row stands for at most 20 average ones
FEW_LABELED = 50
FAR_APART = 1.25  # ratio of two estimates of π from which on they contradict each other


@dataclass(frozen=True, kw_only=True, eq=False)
class PropensityEstimate(Judged):
    """The chance e(x) = P(labeled | positive, x) of each row, with its uncertainty.

    Parameters
    ----------
    value : (n,) array
        e of every row, in (0, 1].
    replicates : (R, n) array, optional
        The same from refits on reweighted rows; they show the error of ``value``.
    prior : float
        π, the share of positives among all rows that the fit implies: the mean of P(Y=1 | x).
    method, assumption : str
        How it was estimated and what that rests on.
    notes : tuple of str
        What a reader should know.

    Examples
    --------
    >>> import halftruth as ht
    >>> estimate = ht.PropensityEstimate(value=[0.2, 0.5, 1.0], prior=0.4)
    >>> estimate.at([True, False, True]).value
    array([0.2, 1. ])
    """

    value: Vector | Sequence[float]
    replicates: NDArray[np.float64] | None = None
    prior: float
    method: str = "given"
    assumption: str = ""
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        why = "A positive that cannot be labeled is represented by none."
        value = _checks.positive_probabilities(self.value, "value", why=why)
        replicates = self.replicates if self.replicates is None else np.array(self.replicates, dtype=float)
        if replicates is not None:
            if replicates.ndim != 2 or replicates.shape[1] != len(value):
                got = f"shape {replicates.shape}"
                raise InputError(argument="replicates", must=f"have shape (R, {len(value)})", got=got)
            _checks.positive_probabilities(replicates.ravel(), "replicates", why=why)
            replicates.flags.writeable = False
        value.flags.writeable = False
        _checks.share(self.prior, "prior", closed_at_one=True)
        for name, new in (("value", value), ("replicates", replicates), ("notes", as_notes(self.notes))):
            object.__setattr__(self, name, new)

    def at(self, mask: ArrayLike) -> PropensityEstimate:
        """The same for some of the rows, named by a mask or by their positions."""
        chosen = np.asarray(mask)
        if chosen.dtype == bool and chosen.shape != (len(self),):
            must = f"be one truth value for each of {len(self)} rows"
            raise InputError(argument="mask", must=must, got=f"shape {chosen.shape}")
        replicates = None if self.replicates is None else self.replicates[:, chosen]
        return replace(self, value=np.asarray(self.value)[chosen], replicates=replicates)

    def __len__(self) -> int:
        return len(self.value)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.value, dtype=dtype)

    def __repr__(self) -> str:
        low, middle, high = np.quantile(self.value, [0, 0.5, 1]) if len(self) else (np.nan,) * 3
        spread = f"{low:.3g} to {high:.3g}, median {middle:.3g}"
        how = f"prior={self.prior:.4g}, method={self.method!r}"
        return f"PropensityEstimate({len(self)} rows, {spread}, {how})"

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, without replicates."""
        fields = {name: getattr(self, name) for name in ("prior", "method", "assumption")}
        fields["value"] = np.asarray(self.value).tolist()
        return {**fields, **self.standing.to_dict(), **notes_to_dict(self.notes)}


def estimate_propensity(
    X: Any,
    labeled: Any,
    *,
    method: str = SAR_EM,
    classifier: Any = None,
    propensity_columns: Sequence[int | str] | None = None,
    prior: float | None = None,
    n_replicates: int = 50,
    rng: int | np.random.Generator = 0,
) -> PropensityEstimate:
    """The chance of each row to be labeled if it is positive, where labels are not given at random.

    Parameters
    ----------
    X : (n, k) array or data frame of numbers
        One table: known positives are rows of the population as all others are.
    labeled : (n,) bool
        True for known positives, False for unlabeled rows.
    method : {"sar-em", "lbe"}
        "sar-em" (Bekker, Robberechts and Davis 2019): e is logistic in ``propensity_columns``, P(Y=1 | x) is
        what ``classifier`` fits. "lbe" (Gong et al. 2021): both logistic in all columns, by maximum
        likelihood from several starts; the steeper of the two is taken for the class.
    classifier : scikit-learn classifier, optional
        For "sar-em": with ``predict_proba``, and ``sample_weight`` in ``fit``. By default a logistic
        regression. It sees its own training rows, so take a smooth one: a deep tree remembers labels.
    propensity_columns : sequence of int or str, optional
        For "sar-em": the columns on which labelling depends, by position or name; by default all. The fewer,
        the better e is identified.
    prior : float, optional
        π, the share of positives among all rows, if it is known from elsewhere. It helps more than anything
        else: without it the level of e rests on the shapes of the models alone. Not with ``classifier``.
    n_replicates : int
        How often the fit is repeated on rows weighted at random (Bayesian bootstrap).
    rng : int or numpy Generator

    Returns
    -------
    PropensityEstimate
        Pass it, or its ``value``, as ``propensity=`` to `PositiveUnlabeled.from_labels`.

    Notes
    -----
    Both maximize Σ log(f e) over labeled rows plus Σ log(1 − f e) over the others, with a small penalty on
    standardized columns. EM does that by weighting an unlabeled row as positive with
    f (1 − e) / (1 − f e); where both models are logistic, quasi-Newton steps finish what EM nears slowly.
    If f and e use the same columns they may change places without any change in likelihood: no amount of such
    data says which is which.

    Examples
    --------
    >>> import halftruth as ht, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(4000, 2))
    >>> positive = X[:, 0] + rng.normal(0, 0.3, 4000) > 0.5
    >>> labeled = positive & (rng.random(4000) < np.where(X[:, 1] > 0, 0.8, 0.2))
    >>> e = ht.estimate_propensity(X, labeled, propensity_columns=[1], n_replicates=0).value
    >>> bool(e[X[:, 1] > 0.5].mean() > 2 * e[X[:, 1] < -0.5].mean())
    True
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    method = _checks.choice(method, "method", (SAR_EM, LBE))
    n_replicates = _checks.count(n_replicates, "n_replicates", least=0)
    x = np.ascontiguousarray(
        _checks.matrix(X, "X")
    )  # by row, as frames are not: sums would differ in the last digit
    known = _checks.binary_labels(labeled, "labeled", length=len(x))
    need(known, 5, "propensities")
    for name, given in (("classifier", classifier), ("propensity_columns", propensity_columns)):
        if method == LBE and given is not None:
            raise InputError(f"{arg(name)} goes with {arg('method', SAR_EM)}. Leave it out, or pass that.")
    _refuse_classifier(classifier)
    _refuse_prior(prior, known, classifier)
    columns = _positions(propensity_columns, X, x.shape[1])
    generator = np.random.default_rng(rng)
    task = Task(x, known, columns, classifier, seed=int(generator.integers(2**31)), prior=prior)
    with threadpool_limits(limits=1, user_api="blas"):  # matrices this thin lose by threads
        fit = task.best_of(STARTS) if method == LBE else task.by_em()
        refits = [task.again(fit, generator.exponential(size=len(x))).e for _ in range(n_replicates)]
    least = LEAST * min(1.0, known.sum() / fit.f.sum())
    return PropensityEstimate(
        value=np.clip(fit.e, least, 1),
        replicates=np.clip(refits, least, 1) if refits else None,
        prior=float(fit.f.mean()),
        method=method,
        assumption=_assumption(method, task),
        notes=tuple(_notes(task, fit, method, least)),
    )


def _refuse_classifier(classifier: Any) -> None:
    from sklearn.utils.validation import has_fit_parameter

    if classifier is None:
        return
    fits = not isinstance(classifier, type) and hasattr(classifier, "fit")
    if not (fits and hasattr(classifier, "predict_proba") and has_fit_parameter(classifier, "sample_weight")):
        must = "have predict_proba, and sample_weight in fit, as scikit-learn's LogisticRegression()"
        raise InputError(argument="classifier", must=must, got=repr(classifier))


def _refuse_prior(prior: float | None, known: NDArray[np.bool_], classifier: Any) -> None:
    if prior is None:
        return
    if classifier is not None:
        raise InputError(f"{arg('prior')} is held for the default {arg('classifier')} only. Leave one out.")
    if _checks.share(prior, "prior") <= known.mean():
        must = f"be above the share of the known positives, {known.mean():.4g}"
        raise InputError(argument="prior", must=must, got=prior)


def _positions(columns: Sequence[int | str] | None, X: Any, k: int) -> NDArray[np.intp]:
    """Where the columns of the propensity model stand."""
    if columns is None:
        return np.arange(k)
    names = [str(name) for name in getattr(X, "columns", ())]
    positions: list[int] = []
    for column in [columns] if isinstance(columns, (str, int)) else columns:
        known = column in names if isinstance(column, str) else column in range(k)
        if not known:
            must = f"name columns of `X`, or positions from 0 to {k - 1}"
            raise InputError(argument="propensity_columns", must=must, got=repr(column))
        positions.append(names.index(column) if isinstance(column, str) else int(column))
    return np.unique(np.asarray(positions, dtype=np.intp))


def _assumption(method: str, task: Task) -> str:
    shape = "is logistic in all columns"
    if task.classifier is not None:
        shape = f"has the shape of {type(task.classifier).__name__}"
    of_e = "all columns" if len(task.columns) == task.x.shape[1] else f"{len(task.columns)} column(s)"
    whose = "; the class hangs on them more than labelling does" if method == LBE else ""
    known = "" if task.prior is None else f"; the prior is {task.prior:g}"
    return f"P(Y=1 | x) {shape} and P(labeled | positive, x) logistic in {of_e}{whose}{known}"


def _notes(task: Task, fit: Fit, method: str, least: float) -> Iterator[Note]:
    """What it rests on, and what makes it weak."""
    rests = f"Propensities rest on this: {_assumption(method, task)}."
    if task.can_swap(fit):
        yield Note(
            "not_identified",
            f"{rests} Class and labelling could change places and explain the labels as well. "
            f"Pass the columns that labelling depends on, {arg('propensity_columns', ...)}, or a prior.",
        )
    else:
        yield Note("assumption", rests)
    n_known = int(task.known.sum())
    if n_known < FEW_LABELED:
        yield Note("small_sample", f"Only {n_known} known positive(s): the propensities are rough.")
    if not fit.converged:
        yield Note("method", f"{method} did not converge; the propensities may still be far from its end.")
    at_floor = int((fit.e[task.known] < least).sum())
    if at_floor:
        yield Note("bias", f"{at_floor} known positive(s) had a propensity below {least:.3g}, raised to it.")
    implied, counted = fit.f.mean(), (1 / np.maximum(fit.e[task.known], least)).sum() / len(task.x)
    if max(counted / implied, implied / counted) > FAR_APART:
        yield Note(
            "contradiction",
            f"The model of the class implies π = {implied:.3g}, the known positives by Σ 1/e ÷ n "
            f"{counted:.3g}: few rows, or one of the two models has the wrong shape.",
        )
