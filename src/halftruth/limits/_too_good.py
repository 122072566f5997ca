"""Too good to be true: is a test error lower than anyone's can be?"""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, NotIdentifiable, Refuted, arg, call
from halftruth.evidence import Evidence
from halftruth.limits._bayes_error import bayes_error
from halftruth.limits._row_means import IntervalMethod, LimitEstimate, Mean, Settings, estimate, scaled
from halftruth.limits._soft_labels import NOISY, SOFT, UNCERTAINTY, LabelKind, need_posteriors
from halftruth.limits._verdict import TooGood, Wording
from halftruth.results._estimate import Estimate

__all__ = ["too_good_to_be_true"]

LEVEL = 0.95  # of the interval that gives the standard error, whatever the level of the test

OF_SCORES = (
    "Scores bound the Bayes error only from above: who sees more than the scores of {} evidence may err "
    "less, so that no test error is too good against them. Pass soft labels, votes or positive confidences."
)


def too_good_to_be_true(
    test_error: float,
    n_test: int,
    evidence: Evidence,
    *,
    predictions: ArrayLike | None = None,
    sign: ArrayLike | None = None,
    labels: LabelKind = SOFT,
    method: IntervalMethod | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 2000,
    rng: int | np.random.Generator = 0,
) -> TooGood:
    """Test whether a classifier errs less often than any classifier can.

    The null hypothesis: its true error is at least the Bayes error of the evidence.

    Parameters
    ----------
    test_error : float in [0, 1]
        The share of the test cases that the classifier gets wrong.
    n_test : int
        How many test cases.
    evidence : SoftLabeled or PositiveConfidence
        Soft labels, votes, or positive confidences with a prior, of the same population. Their own scores
        are not read.
    predictions : (n,) array, optional
        The classifier's class for each row of the soft labels: 0 or 1, or 0 … K − 1 for K classes. Then its
        error is also found with labels drawn from the soft labels instead of the test set's own.
    sign, labels, method, confidence_level, n_resamples, rng
        As in `bayes_error`. The test is at the level 1 − ``confidence_level``.

    Returns
    -------
    TooGood

    Notes
    -----
    With k errors, a Bayes error B and nothing known but that the classifier's true error is at least B, the
    chance of k errors or fewer is at most P(Bin(n_test, B) ≤ k). The p-value is its mean over B, normal
    around the estimate and cut to [0, 1]. Its standard error is what the lower limit of the 95% interval
    implies. To the variance of means is added the square of how far two more rows could move them,
    2 · range / n: of n rows that are all alike 3/n of all cases may differ still. With many cases the p-value
    is that of the two-sample z-test. Where the votes or noisy labels leave the Bayes error open, the lowest
    value that they allow takes its place, so that no verdict rests on what they do not say.

    The test takes the test cases and the rows of the soft labels as independent samples. Where they are the
    same rows, as for votes on the test set itself, both errors rise and fall together, and the test is
    conservative.

    Scores with labels bound the Bayes error only from above: nothing is too good against them. Nor is there
    a verdict where the evidence refutes the prior or the signs that were given with it.

    With q from Beta(½, ½), 1,000 soft labels and 1,000 test cases, errors of .02, .03, .04 and .06 below a
    Bayes error of .18 are found in about .43, .75, .94 and over .99 of the cases.

    Examples
    --------
    >>> import numpy as np, halftruth as ht
    >>> q = np.random.default_rng(0).beta(0.5, 0.5, 5000)
    >>> found = ht.too_good_to_be_true(0.10, 2000, ht.SoftLabeled(q))
    >>> found.too_good, round(found.bayes_error.value, 3)
    (True, 0.177)
    >>> ht.too_good_to_be_true(0.18, 2000, ht.SoftLabeled(q)).too_good
    False
    """
    advice = "Pass a share of the cases, 0.02 for 2%."
    error = _checks.inside(test_error, "test_error", 0.0, 1.0, closed="both", advice=advice)
    n_test = _checks.count(n_test, "n_test", least=1)
    level = _checks.confidence_level(confidence_level)
    need_posteriors(evidence, OF_SCORES)
    if evidence.labels is None and evidence.prior.value is None:
        raise NotIdentifiable(
            f"Without {arg('prior')} positive confidences give the Bayes error only relative to it, and a "
            "test error cannot be compared with that. Pass "
            f"{call('PositiveConfidence(r, prior=…)', 'prior')}."
        )
    labels = NOISY if sign is not None and labels == SOFT else labels
    classes = None if predictions is None else _classes(predictions, evidence, labels)
    how: dict[str, Any] = {"confidence_level": level, "n_resamples": n_resamples, "rng": rng}
    bayes = bayes_error(evidence, labels=labels, sign=sign, method=method, **how)
    for against in bayes.notes:
        if against.kind == "refuted":
            raise Refuted(
                f"The Bayes error found here, {bayes.value:.4g}, is none to judge a test error by. "
                f"{against.source} Correct what was given with the evidence, or pass more rows."
            )
    floor, spread = _floor(bayes)
    p_value = _p_value(error * n_test, n_test, floor, spread)
    adjusted, scatter = (None, None) if classes is None else _adjusted(classes, evidence, level)
    result = TooGood(
        test_error=error,
        n_test=n_test,
        bayes_error=bayes,
        difference=error - bayes.value,
        p_value=p_value,
        too_good=error < floor and p_value <= 1 - level,
        confidence_level=level,
        adjusted=adjusted,
        adjusted_spread=scatter,
    )
    words = Wording(result=result, floor=floor, evidence=evidence, labels=labels)
    reasons = tuple(words.alternatives()) if result.too_good else ()
    return replace(result, verdict=words.verdict(), alternatives=reasons, notes=tuple(words.notes()))


def _classes(predictions: ArrayLike, evidence: Evidence, labels: str) -> Vector:
    rows = evidence.labels
    if rows is None or labels == UNCERTAINTY:
        raise InputError(
            f"{arg('predictions')} must belong to rows of soft labels: positive confidences say nothing of "
            "the negative cases, uncertainty labels not which class is likelier. Leave "
            f"{arg('predictions')} out, or pass soft labels."
        )
    code = "0 or 1"
    if rows.n_classes > 2:
        code = f"whole numbers from 0 to {rows.n_classes - 1}, the column of `q` for each"
    array = _checks.native(predictions, "predictions")
    if array.dtype.kind not in "fiub":
        got, remedy = f"dtype {array.dtype}", "Pass the number of each class, not its name."
        raise InputError(argument="predictions", must=f"be {code}", got=got, remedy=remedy)
    out = _checks.vector(array, "predictions", length=len(rows))
    wrong = (out != np.floor(out)) | (out < 0) | (out >= rows.n_classes)
    must, remedy = f"be {code}", "Pass classes, not scores."
    _checks.refuse_values(wrong, out, "predictions", must, "other value(s)", remedy, digits="g")
    return out


def _floor(bayes: Estimate) -> tuple[float, float]:
    """The lowest Bayes error that the evidence allows, and its standard error."""
    lower, upper = bayes.identified or (bayes.value, bayes.value)
    low, high = bayes.interval(LEVEL)
    two_rows, cut = 0.0, low <= bayes.limits[0]
    if isinstance(bayes, LimitEstimate):
        low, high = bayes.ends(LEVEL) if cut else (low, high)
        # Over a range of priors rows move the lower end in proportion.
        two_rows = bayes.two_rows * (lower / bayes.value if bayes.value > 0 else 1.0)
    # Of an interval that ends at what is possible the other side says more.
    side = max(lower - low, high - upper) if cut else lower - low
    error = max(side, 0.0) / NormalDist().inv_cdf((1 + LEVEL) / 2)
    return min(lower, bayes.limits[1]), math.hypot(error, two_rows)


def _p_value(k: float, n: int, center: float, spread: float) -> float:
    """The mean of P(Bin(n, B) ≤ k) over B, normal and cut to [0, 1]; k need not be whole."""
    from scipy.special import betainc, ndtr

    def at_most(b: Vector) -> Vector:
        # P(Bin(n, b) ≤ k) is the chance that a Beta(k+1, n−k) exceeds b.
        return np.ones_like(b) if k >= n else np.asarray(betainc(n - k, k + 1, 1 - b))

    if math.isnan(center + spread):
        return math.nan
    # Seen as a function of B the chance falls around this mean, within a few of this width (a Beta's).
    mean = (k + 1) / (n + 2)
    width = math.sqrt(mean * (1 - mean) / (n + 3))
    if spread < 1e-5 * width:  # too narrow to matter, and to be told from rounding
        return float(at_most(np.clip(np.asarray([center]), 0.0, 1.0))[0])
    # Panels as narrow as the normal where that bends, and as the beta where that does.
    edges = np.concatenate([center + spread * np.arange(-40, 41), mean + width * np.arange(-40, 41)])
    edges = np.unique(np.clip(edges, 0.0, 1.0))
    nodes, weights = np.polynomial.legendre.leggauss(16)
    half = np.diff(edges)[:, None] / 2
    b = edges[:-1, None] + half * (1 + nodes)
    density = np.exp(-0.5 * ((b - center) / spread) ** 2) / (spread * math.sqrt(2 * math.pi))
    inside = float(np.sum(half * weights * density * at_most(b)))
    # What the normal puts outside [0, 1] counts at 0, where the chance is 1, and at 1, where it is 0 or 1.
    below = float(ndtr(-center / spread))
    above = float(ndtr((center - 1) / spread)) if k >= n else 0.0
    return min(1.0, below + inside + above)


def _adjusted(classes: Vector, evidence: Evidence, level: float) -> tuple[Estimate, float]:
    """The error where labels are drawn from the soft labels, and how far it scatters over drawings."""
    rows = evidence.labels
    assert rows is not None  # checked with the predictions
    q = np.stack([1 - rows.q, rows.q], axis=1) if rows.n_classes == 2 else rows.q
    right = np.take_along_axis(q, classes.astype(np.intp)[:, None], axis=1)[:, 0]
    weight = np.ones(len(right)) if rows.weight is None else scaled(rows.weight)
    out = estimate(Mean.of(1 - right, rows.weight, 1.0), (0.0, 1.0), Settings(level=level))
    share = weight / weight.sum()
    return out, math.sqrt(float(np.sum(share**2 * right * (1 - right))))
