"""Calibrator: scores into probabilities, fitted on any evidence, with the manners of scikit-learn."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np

from halftruth import _checks, _storage
from halftruth._checks import Vector
from halftruth._errors import HalftruthError, InputError, Note, arg, notes_to_dict
from halftruth.calibration.calibrators._calibration_methods import METHODS, Method, method_for
from halftruth.calibration.calibrators._serialization import (
    SCHEMA,
    WHAT,
    Curve,
    checked_content,
    damaged,
    opened,
)
from halftruth.measure._bins import BINNINGS
from halftruth.measure._score_measure import ScoreMeasure, as_measure

__all__ = ["FLAT", "Calibrator"]

SETTINGS = ("method", "scale", "n_bins", "binning", "n_knots", "variant")
FLAT = Note(
    "method",
    "The curve is flat: scores rank the positives no higher than the rest. Are labels or samples swapped?",
)
FOR_MARGINS = (
    f'For margins take {arg("method", "platt")} with {arg("scale", "score")}, "isotonic" or "histogram".'
)


class Calibrator:
    """A map from scores to probabilities, fitted by the log loss or the squared error of a measure.

    Both losses are integrals over (μ, μ₁), so that the fit takes any evidence: labels, soft labels, positives
    and unlabeled with a prior, confidences. With full labels it is the usual fit.

    Parameters
    ----------
    method : {"beta", "platt", "temperature", "isotonic", "histogram", "spline", "bpm", "mix-n-match"}
        "beta": σ(a ln s − b ln(1−s) + c) with a, b ≥ 0. "platt": σ(a logit s + c) with a ≥ 0. "temperature":
        σ(logit s / T). All three by log loss, at its exact minimum. "isotonic": the best curve that never
        falls, by squared error. "histogram": the share of positives in each bin. "spline": the slope of a
        natural cubic spline through the cumulative positives. "bpm": the beta curve by binomial process
        modelling. "mix-n-match": a mixture of the tempered score, the score and ½.
    scale : {"logit", "score"}
        Of "platt": whether the line is in logit s, which needs probabilities, or in s itself, for margins.
    n_bins : int or "optimal"
        Of "histogram". "optimal": the number where noise and what the curve changes within a bin are
        estimated to add up to the least squared error, at most 2 ⌈size^(1/3)⌉.
    binning : {"mass", "width"}
        Of "histogram", as in `calibration_error`.
    n_knots : int
        Of "spline", at equal shares of the population; at least 3.
    variant : {"paper", "authors"}
        Of "bpm", as in `bpm_calibration_error`.

    Attributes
    ----------
    curve_ : callable
        The fitted curve with its parameters.
    notes_ : tuple of str
        What a reader should know of the fit.
    prior_ : float
        π of the evidence it was fitted on.

    Notes
    -----
    Where logarithms are taken, in the fit and in `predict` alike, scores nearer to 0 or 1 than 2⁻⁴⁰ (about
    1e-12) are read as this near. A logistic fit has no minimum where a threshold separates the classes; the
    slope then stops, at most where the log odds change by 1000 for a standard deviation of the scores, and
    ``notes_`` says so. Where the scores leave parameters open, the fit nearest to no change is taken.

    From partial evidence μ₁ may be larger than μ at some scores, or negative: the log loss then has no
    minimum at all, or one that follows noise at extreme scores. So the methods by log loss, and
    "mix-n-match", take for μ₁ what is possible: its isotonic regression within [0, 1], scaled to the prior.
    ``notes_`` says so, and where positives outnumber the population beyond noise. Labels are possible as they
    are: nothing changes.

    Examples
    --------
    >>> import halftruth as ht
    >>> evidence = ht.PositiveUnlabeled([0.9, 0.8, 0.6], [0.9, 0.7, 0.4, 0.3, 0.2, 0.1], prior=0.3)
    >>> calibrator = ht.Calibrator(method="temperature").fit(evidence)
    >>> calibrator.predict([0.2, 0.5, 0.8]).round(2).tolist()
    [0.08, 0.5, 0.92]
    """

    curve_: Curve
    notes_: tuple[Note, ...]
    prior_: float
    _fitted: Method
    _fitted_with: dict[str, Any]

    def __init__(
        self,
        method: str = "beta",
        *,
        scale: str = "logit",
        n_bins: int | str = "optimal",
        binning: str = "mass",
        n_knots: int = 6,
        variant: str = "paper",
    ) -> None:
        self.method, self.scale, self.variant = method, scale, variant
        self.n_bins, self.binning, self.n_knots = n_bins, binning, n_knots
        self._check_settings()

    def _check_settings(self) -> None:
        """Raise unless every setting is one that there is; attributes may have been set since."""
        _checks.choice(self.method, "method", tuple(METHODS))
        _checks.choice(self.scale, "scale", ("logit", "score"))
        if isinstance(self.n_bins, str):
            _checks.choice(self.n_bins, "n_bins", ("optimal",))
        else:
            _checks.count(self.n_bins, "n_bins", least=1)
        _checks.choice(self.binning, "binning", BINNINGS)
        _checks.count(self.n_knots, "n_knots", least=3)
        _checks.choice(self.variant, "variant", ("paper", "authors"))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings by name, as scikit-learn asks for them; nothing lies deeper.

        Examples
        --------
        >>> import halftruth as ht
        >>> ht.Calibrator("isotonic").get_params()["method"]
        'isotonic'
        """
        return {name: getattr(self, name) for name in SETTINGS}

    def set_params(self, **settings: Any) -> Self:
        """Change settings; a fit stays what it was until `fit` is called again.

        Examples
        --------
        >>> import halftruth as ht
        >>> ht.Calibrator().set_params(method="histogram", n_bins=10)
        Calibrator('histogram', n_bins=10)
        """
        for name in settings:
            _checks.choice(name, "settings", SETTINGS)
        before = self.get_params()
        vars(self).update(settings)
        try:
            self._check_settings()
        except InputError:
            vars(self).update(before)
            raise
        return self

    def __repr__(self) -> str:
        usual = inspect.signature(type(self)).parameters
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if name != "method" and value != usual[name].default
        ]
        return f"{type(self).__name__}({', '.join([repr(self.method), *changed])})"

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import Tags, TargetTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=False))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "curve_")

    def fit(self, evidence: object, y: None = None) -> Calibrator:
        """Fit the curve on evidence.

        Parameters
        ----------
        evidence : evidence or ScoreMeasure
            Its prior must be known, a range counts at its middle; both classes must have mass.
        y : None
            Not used; there for scikit-learn.

        Examples
        --------
        >>> import halftruth as ht
        >>> ht.Calibrator("isotonic").fit(ht.Labeled([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4])).predict([0.25])
        array([0.5])
        """
        if y is not None:
            raise InputError(
                "`fit` takes evidence alone, e.g. Labeled(y_true, y_score); got a second argument."
            )
        self._check_settings()
        measure, method = as_measure(evidence), method_for(self.method, self.get_params())
        _check_measure(measure)
        if method.probability:
            try:
                measure.need_probabilities(f"The method {self.method!r}")
            except InputError as error:
                raise error.also(FOR_MARGINS) from None
        fitted = method.fit(measure, self.get_params())
        low, high = measure.span
        flat = low < high and np.ptp(fitted.curve(np.linspace(low, high, 9))) < 1e-9
        self.curve_, self.notes_ = fitted.curve, (*fitted.notes, FLAT) if flat else fitted.notes
        gamma = getattr(getattr(evidence, "selection", None), "gamma", 1.0)
        if gamma > 1:
            text = f"of a random sample; selection may make it {gamma:g} times as high or low."
            self.notes_ += (Note("selection", f"The curve is that {text}"),)
        self.prior_ = float(measure.prior)
        self._fitted, self._fitted_with = method, self.get_params()
        return self

    def predict(self, scores: Any) -> Vector:
        """The probability that a case with this score is positive.

        Parameters
        ----------
        scores : array of any shape
            On the scale of the scores that the calibrator was fitted on.

        Returns
        -------
        array of float64 in [0, 1], of the same shape

        Examples
        --------
        >>> import halftruth as ht
        >>> evidence = ht.Labeled([0, 1, 0, 1, 1], [0.2, 0.4, 0.6, 0.7, 0.9])
        >>> ht.Calibrator("histogram", n_bins=1).fit(evidence).predict([0.0, 1.0])
        array([0.6, 0.6])
        """
        self._need_fit()
        array = _checks.native(scores, "scores")
        if array.ndim == 2 and array.shape[1] == 2:
            _checks.vector(array, "scores")  # refuses it, and names the column to pass
        flat = _checks.vector(array.ravel(), "scores")
        if self._fitted.probability:
            _checks.probabilities(flat, "scores")
        out = self.curve_(flat) if len(flat) else flat
        return np.asarray(out, dtype=np.float64).reshape(array.shape)

    def _need_fit(self) -> None:
        if not hasattr(self, "curve_"):
            raise InputError(
                "This Calibrator is not fitted. Call fit(evidence) first, or read one with "
                "Calibrator.load(path)."
            )

    def to_dict(self) -> dict[str, Any]:
        """The fitted calibrator, JSON-ready.

        Examples
        --------
        >>> import halftruth as ht
        >>> stored = ht.Calibrator("isotonic").fit(ht.Labeled([0, 1], [0.1, 0.2])).to_dict()
        >>> stored["what"], stored["schema"], stored["curve"]
        ('halftruth calibrator', 1, {'score': [0.1, 0.2], 'value': [0.0, 1.0]})
        """
        self._need_fit()
        settings = self._fitted_with.items()
        return {
            "what": WHAT,
            "schema": SCHEMA,
            "settings": {name: x if isinstance(x, str) else int(x) for name, x in settings},
            "prior": self.prior_,
            **notes_to_dict(self.notes_),
            "curve": self.curve_.to_dict(),
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Calibrator:
        """A calibrator from what `to_dict` gave.

        Examples
        --------
        >>> import halftruth as ht
        >>> first = ht.Calibrator().fit(ht.Labeled([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4]))
        >>> again = ht.Calibrator.from_dict(first.to_dict())
        >>> bool(again.predict([0.3])[0] == first.predict([0.3])[0])
        True
        """
        return cls._read(stored, "The dict")

    def save(self, path: str | Path) -> None:
        """Write the fitted calibrator to a JSON file, whole or not at all.

        Examples
        --------
        >>> import halftruth as ht, pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "calibrator.json")
        ...     ht.Calibrator("isotonic").fit(ht.Labeled([0, 1], [0.1, 0.2])).save(path)
        ...     ht.Calibrator.load(path).predict([0.15]).round(3).tolist()
        [0.5]
        """
        _storage.write(path, json.dumps(self.to_dict(), indent=1, allow_nan=False) + "\n")

    @classmethod
    def load(cls, path: str | Path) -> Calibrator:
        """Read a calibrator that `save` wrote, as its example shows. Nothing in the file is run."""
        return cls._read(opened(Path(path)), str(path))

    @classmethod
    def _read(cls, stored: object, source: str) -> Calibrator:
        settings, curve, prior, notes = checked_content(stored, source)
        try:
            out = cls(**settings)
            out._fitted_with = out.get_params()
            out._fitted = method_for(out.method, out._fitted_with)
            out.curve_ = out._fitted.curve.from_dict(curve)
        except (HalftruthError, KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise damaged(source, error) from error
        out.prior_, out.notes_ = prior, notes
        return out


def _check_measure(measure: ScoreMeasure) -> None:
    """One measure, both classes with mass."""
    if measure.shape:
        must, remedy = "be one measure", "Fit each by itself."
        raise InputError(argument="evidence", must=must, got=repr(measure), remedy=remedy)
    positives, total = float(measure.positives), float(measure.total)
    if not 1e-12 * total < positives < (1 - 1e-12) * total:
        share = positives / total if total else np.nan
        raise InputError(
            f"A calibrator needs positives and negatives, got a share {share:g} of positives. Pass "
            f"evidence of both classes."
        )
