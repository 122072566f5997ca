"""What all learners share: labels in part, no score, and for some another estimator inside."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_consistent_length, check_random_state, column_or_1d, get_tags
from sklearn.utils.validation import has_fit_parameter, validate_data

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, arg
from halftruth.evidence._evidence import Population
from halftruth.prior._belief import PriorEstimate

__all__ = [
    "Estimator", "Features", "Learner", "Population", "Prior", "Purity", "RandomState", "Strata",
    "StratumSizes", "WrappingLearner", "check_estimator", "random_seed", "read_labels", "seeded_clone",
    "split_labels", "unlabeled_code", "weight_argument",
]  # fmt: skip

Features: TypeAlias = Any
"""Rows by features: an array, a sparse matrix or a data frame, which have no type in common."""
Estimator: TypeAlias = Any  # a classifier of scikit-learn, which has no types
RandomState: TypeAlias = int | np.random.RandomState | None
Purity: TypeAlias = float | tuple[float, float] | PriorEstimate
Prior: TypeAlias = Purity | Literal["estimate"] | None
Mask: TypeAlias = NDArray[np.bool_]
StratumSizes: TypeAlias = tuple[int, int, int]

LEAST = 2  # known positives and unlabeled rows: one is scored while another is learned


# --- Labels ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Strata:
    """Which rows are known positives, unlabeled, and known negatives."""

    positive: Mask
    unlabeled: Mask
    negative: Mask

    @property
    def masks(self) -> tuple[Mask, Mask, Mask]:
        return self.positive, self.unlabeled, self.negative

    @property
    def sizes(self) -> StratumSizes:
        n_positive, n_unlabeled, n_negative = (int(mask.sum()) for mask in self.masks)
        return n_positive, n_unlabeled, n_negative

    @property
    def with_nan(self) -> Vector:
        """1 positive, 0 negative, NaN unlabeled: the code of `PositiveUnlabeled.from_labels`."""
        return np.where(self.positive, 1.0, np.where(self.negative, 0.0, np.nan))


def split_labels(y: ArrayLike, unlabeled: float | None) -> Strata:
    """The strata of y: 1 positive, ``unlabeled`` or NaN unlabeled, 0 negative where it is not the code.

    Examples
    --------
    >>> split_labels([1, 0, 0], 0).sizes
    (1, 2, 0)
    >>> split_labels([1, -1, 0], -1).sizes
    (1, 1, 1)
    """
    code = unlabeled_code(unlabeled)
    values = _checks.vector(y, "y", missing=True, length=np.shape(y)[0] if np.ndim(y) else 0)
    positive, missing = values == 1, np.isnan(values)
    negative = (values == 0) & (code != 0)
    strata = Strata(positive, missing | (values == code), negative)
    _refuse_other_codes(values, strata, code)
    if code == 0 and missing.any() and (values == 0).any():
        raise InputError(
            f"{arg('y')} holds both 0 ({int((values == 0).sum())} rows) and NaN ({int(missing.sum())}), "
            f"and {arg('unlabeled')} is 0. Pass unlabeled=np.nan if 0 is a known negative, or replace NaN "
            "by 0 if both are unlabeled."
        )
    if not positive.any():
        raise InputError(
            f"{arg('y')} has no positive row (no 1), so there is nothing to learn from. Mark known "
            "positives by 1."
        )
    if not strata.unlabeled.any():
        raise InputError(
            f"{arg('y')} has no unlabeled row (no {_code_text(code)}). An ordinary classifier learns full "
            f"labels; if another code means unlabeled, name it: {arg('unlabeled', ...)}"
        )
    return strata


def unlabeled_code(unlabeled: float | None) -> float:
    """The code of unlabeled rows as a number; NaN, which needs none, where it is None or NaN."""
    missing = unlabeled is None or (isinstance(unlabeled, (float, np.floating)) and np.isnan(unlabeled))
    return np.nan if missing else _checks.unlabeled_code(unlabeled)


def _refuse_other_codes(values: Vector, strata: Strata, code: float) -> None:
    others = ~(strata.positive | strata.unlabeled | strata.negative)
    if others.any():
        codes = np.unique(values[others])
        examples = ", ".join(f"{x:g}" for x in codes[:5]) + (", …" if len(codes) > 5 else "")
        negatives = "" if code == 0 else ", 0 for known negatives"
        raise InputError(
            f"{arg('y')} must hold 1 for known positives{negatives} and {_code_text(code)} for unlabeled "
            f"rows; got {examples} in {int(others.sum())} row(s), the first at index "
            f"{int(np.argmax(others))}. Map your labels, or name the code of unlabeled rows: "
            f"{arg('unlabeled', ...)}"
        )


def _code_text(code: float) -> str:
    return "NaN" if np.isnan(code) else f"{code:g}"


def read_labels(learner: Learner, X: Features, y: ArrayLike | None) -> Strata:
    """The strata of y, with enough rows of those that a learner cannot do without."""
    if y is None:
        raise InputError(f"{type(learner).__name__} requires y to be passed, but the target y is None.")
    y = column_or_1d(y, warn=True)
    check_consistent_length(X, y)
    strata = split_labels(y, learner.unlabeled)
    for stratum, count in zip(("known positive", "unlabeled"), strata.sizes, strict=False):
        if count < LEAST:
            must = f"have at least {LEAST} {stratum} rows"
            got = f"{count}: one is scored by a model that learned from another"
            raise InputError(argument="y", must=must, got=got, remedy="Pass more rows.")
    return strata


# --- Learners -------------------------------------------------------------------------------------


class Learner(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of 1 against 0 without a ``score``: there is no accuracy against partial labels."""

    learns_from: ClassVar[Literal["labels", "confidences"]] = "labels"
    """What ``y`` is: labels in part, or the confidences of known positives."""

    ranks_only: ClassVar[bool] = False  # whether ``decision_function`` is no margin, with no cut at zero

    unlabeled: float
    classes_: NDArray[np.int64]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    @property
    def score(self) -> Any:
        """Left out: it would count unlabeled rows as negative."""
        raise AttributeError(
            f"{type(self).__name__} has no score: against partial labels accuracy counts unlabeled rows as "
            f"negative. Pass scoring=ht.make_scorer(…), or evaluate ht.cross_val_evidence(…)."
        )

    @abstractmethod
    def predict_proba(self, X: Features) -> Vector:
        """Probabilities of 0 and of 1."""

    def predict(self, X: Features) -> NDArray[np.int64]:
        """1 where positive is at least as probable as not, else 0; (n,)."""
        likely = self.predict_proba(X)[:, 1] >= 0.5
        return np.asarray(self.classes_[likely.astype(np.intp)])


# Learners are dataclasses: scikit-learn reads the settings of an estimator from the signature of `__init__`,
# and a dataclass makes that of its fields, so that shared settings stand once. What `fit` learns is no field.
@dataclass(eq=False, repr=False)
class WrappingLearner(Learner):
    """A learner around another estimator, whose features it takes as that one takes them."""

    default_inputs: ClassVar[type]  # a classifier that takes what the default estimator takes

    estimator: Estimator = None
    _: KW_ONLY
    prior: Prior = None
    population: Population = "all"
    unlabeled: float = 0
    random_state: RandomState = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inputs = get_tags(self.default_inputs() if self.estimator is None else self.estimator).input_tags
        tags.input_tags.sparse, tags.input_tags.allow_nan = inputs.sparse, inputs.allow_nan
        return tags

    def fit(self, X: Features, y: ArrayLike) -> Self:
        """Learn from rows labeled in part.

        Parameters
        ----------
        X : (n, k) array, sparse matrix or data frame
            As the base takes it.
        y : (n,) array
            1 known positive, ``unlabeled`` or NaN unlabeled, 0 known negative where it is not that code.
        """
        base = self._checked_base(X)
        rows = self._features(X, base, reset=True)
        strata = read_labels(self, rows, y)
        self._learn(base, rows, strata, random_seed(check_random_state(self.random_state)))
        return self

    @abstractmethod
    def _checked_base(self, X: Features) -> Estimator:
        """The estimator to clone; wrong settings are refused before any row is looked at."""

    @abstractmethod
    def _learn(self, base: Estimator, rows: Features, strata: Strata, seed: int) -> None:
        """Train on checked rows."""

    def _features(self, X: Features, base: Estimator, *, reset: bool) -> Features:
        """X as the base takes it: a data frame as it is, all else a checked array or sparse matrix."""
        if hasattr(X, "columns"):
            validate_data(self, X, reset=reset, skip_check_array=True)
            return X
        inputs = get_tags(base).input_tags
        return validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csr" if inputs.sparse else False,
            ensure_all_finite="allow-nan" if inputs.allow_nan else True,
            ensure_min_samples=2 * LEAST if reset else 1,
        )


# --- The estimator inside -------------------------------------------------------------------------


def check_estimator(estimator: Estimator) -> None:
    """Refuse what is no estimator."""
    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        must = "be a classifier such as scikit-learn's LogisticRegression()"
        raise InputError(argument="estimator", must=must, got=repr(estimator), remedy="Pass an instance.")


def weight_argument(estimator: Estimator, why: str, remedy: str) -> str:
    """What ``fit`` calls the weights of rows; a pipeline hands them to its last step, a search on."""
    prefix, inner = "", estimator
    while not has_fit_parameter(inner, "sample_weight"):
        if steps := getattr(inner, "steps", None):
            prefix, inner = f"{prefix}{steps[-1][0]}__", steps[-1][1]
        elif hasattr(inner, "refit"):
            inner = inner.estimator
        else:
            raise InputError(f"{why}, and {type(inner).__name__} takes no sample_weight in fit. {remedy}")
    return f"{prefix}sample_weight"


def seeded_clone(estimator: Estimator, seed: int) -> Estimator:
    """A clone; wherever it takes a random state, that is the seed."""
    model = clone(estimator)
    names = [name for name in model.get_params() if name.rpartition("__")[2] == "random_state"]
    return model.set_params(**dict.fromkeys(names, seed)) if names else model


def random_seed(rng: np.random.RandomState) -> int:
    """The next seed of a generator, as scikit-learn's own ensembles draw theirs."""
    return int(rng.randint(2**31 - 1))
