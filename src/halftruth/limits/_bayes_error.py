"""The Bayes error: what nobody's error rate gets below, from any evidence."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
from numpy.typing import ArrayLike

from halftruth import _checks
from halftruth._errors import InputError, Note, arg, bare, call
from halftruth.calibration.calibrators import Calibrator, cross_calibrate
from halftruth.evaluation._evaluate import evaluate
from halftruth.evidence import Evidence, as_evidence
from halftruth.evidence._soft_labeled import SoftRows
from halftruth.limits._confidences import from_confidences
from halftruth.limits._row_means import (
    BOOTSTRAP,
    BOUNDED,
    METHODS,
    IntervalMethod,
    LimitEstimate,
    Settings,
    cut,
)
from halftruth.limits._soft_labels import NOISY, SOFT, UNCERTAINTY, LabelKind, from_soft_labels
from halftruth.limits._vote_law import as_probabilities
from halftruth.limits._vote_limits import LIKELIHOOD, FittedVotes
from halftruth.measure._score_measure import Number, ScoreMeasure, as_measure, integral, ratio, scalar
from halftruth.results._estimate import Estimate

__all__ = ["bayes_error", "overlap"]


def overlap(evidence: object) -> Number:
    """∫ min(dμ₁, dμ₀) / μ(all): the Bayes error where scores are posteriors, or rise with them.

    One more functional of the measure: with the posterior η as the score it is ∫ min(η, 1 − η) dμ. Of hard
    labels with distinct scores it is 0, which says nothing; `bayes_error` calibrates such scores first.

    >>> import halftruth as ht
    >>> round(overlap(ht.SoftLabeled([0.9, 0.2, 0.6])), 12)
    0.233333333333
    """
    measure = as_measure(evidence)
    return scalar(ratio(np.minimum(measure.pos_mass, measure.neg_mass).sum(axis=-1), measure.total))


def bayes_error(
    evidence: Evidence,
    *,
    labels: LabelKind = SOFT,
    sign: ArrayLike | None = None,
    method: IntervalMethod | None = None,
    calibrator: Calibrator | str = "beta",
    n_folds: int = 5,
    confidence_level: float = 0.95,
    n_resamples: int = 2000,
    rng: int | np.random.Generator = 0,
) -> Estimate:
    """The error rate that no classifier gets below.

    β = E min(η, 1 − η) with η = P(positive | x).

    Parameters
    ----------
    evidence : SoftLabeled, PositiveConfidence, Labeled or PositiveUnlabeled
    labels : {"soft", "uncertainty", "noisy"}
        What the labels of `SoftLabeled` are: probabilities, exactly; the probability of the less likely
        class; or probabilities that are right only on average. Shares of votes are known as such.
    sign : (n,) array, optional
        For noisy labels, the class that is likelier in truth: booleans, 0 and 1, or −1 and 1; of K ≥ 3
        classes its number from 0.
    method : {"bounded", "t", "hoeffding", "bootstrap", "likelihood"}, optional
        How the interval is made. By default "bounded" for means (soft labels, confidences), "likelihood" for
        votes and "bootstrap" for scores. "bounded" allows for unlike rows that are rare or were not seen,
        which "t" and "bootstrap" do not. "hoeffding" holds for any number of rows, and is wide.
    calibrator : Calibrator or str
        For scores, as in `cross_calibrate`.
    n_folds : int
        For scores: parts of the rows, each calibrated by the others.
    confidence_level : float
    n_resamples : int
        Of the bootstrap; for scores 0 gives an interval from the standard error.
    rng : int or numpy Generator
        Same seed, same result.

    Returns
    -------
    Estimate
        ``identified`` is what no amount of such data would narrow, None where the Bayes error is one number;
        ``naive`` is what one would have reported who ignores the noise, or trusts the scores.

    Notes
    -----
    - Soft labels: the mean of min(q, 1 − q), of K classes 1 − max q, unbiased if the labels are exact.
    - Noisy labels: with the signs the mean of 1 − u where positive is likelier and of u elsewhere, unbiased.
      Without them the mean of min(u, 1 − u), which is too small; the interval reaches to what is possible.
    - Votes: that of a law of η fitted to them; of K ≥ 3 classes the plug-in, with an upper bound from how
      often two voters disagree.
    - Confidences r of positives: π times the mean of min(1, (1 − r)/r); without a prior the value is β/π.
    - Scores (`Labeled`, `PositiveUnlabeled`): the measured error of calling cases positive at ½ or more, once
      calibrated on other rows. It is an upper bound: who sees more may err less, and so may another threshold
      ("isotonic" seeks it among all curves that rise).

    Hoeffding's interval is ± √(log(2/δ) / 8n) for soft labels of two classes, ± √(log(2/δ) / 2n) for noisy
    ones with signs and π times that for confidences; with weights n is (Σw)²/Σw². Intervals are cut to what
    is possible.

    Examples
    --------
    >>> import halftruth as ht
    >>> found = bayes_error(ht.SoftLabeled([0.9, 0.2, 0.6, 1.0]))
    >>> round(found.value, 12)
    0.175
    >>> round(bayes_error(ht.PositiveConfidence([1.0, 0.8, 0.4, 0.0], prior=0.4)).value, 12)
    0.225
    """
    _checks.choice(labels, "labels", (SOFT, UNCERTAINTY, NOISY))
    if method is not None:
        _checks.choice(method, "method", (*METHODS, LIKELIHOOD))
    settings = Settings(method or BOUNDED, confidence_level, n_resamples, rng)
    wrap = f"Wrap your arrays, e.g. {call('SoftLabeled(q)', 'soft')}."
    rows = as_evidence(evidence, remedy=wrap).labels
    if rows is not None:
        return _from_soft(rows, labels, sign, method, settings)
    evidence.refuse_selection("The Bayes error")
    kind = type(evidence).__name__
    if labels != SOFT or sign is not None:
        argument = arg("labels", labels) if labels != SOFT else arg("sign")
        raise InputError(f"{argument} is for SoftLabeled evidence, got {kind}. Leave it out.")
    if evidence.confidences is not None:
        _refuse(method, METHODS, kind)
        return from_confidences(evidence, _checked(settings))
    _refuse(method, (BOOTSTRAP,), f"scores ({kind})")
    return through_scores(evidence, calibrator, n_folds, settings)


def _from_soft(
    soft: SoftRows, labels: LabelKind, sign: ArrayLike | None, method: str | None, settings: Settings
) -> Estimate:
    rows = as_probabilities(soft)
    if rows is not soft and method == LIKELIHOOD:
        method = None
        settings = replace(settings, method=BOUNDED)
    if sign is not None and labels == UNCERTAINTY:
        other = arg("labels", "uncertainty")
        raise InputError(f"{arg('sign')} goes with noisy labels, not with {other}. Leave one out.")
    labels = NOISY if sign is not None else labels
    if labels == SOFT and rows.ballots is not None and rows.n_classes == 2:
        hint = f" Or pass {arg('labels', NOISY)}, which takes shares of votes for noisy soft labels."
        _refuse(method, (LIKELIHOOD,), "votes", hint)
        return FittedVotes(rows=rows).bayes_error(settings.level)
    votes = call("SoftLabeled.from_votes", "votes")
    hint = f" It is for votes on two classes, {votes}." if method == LIKELIHOOD else ""
    of_votes = rows.ballots is not None and labels == SOFT
    source = "votes on three classes or more" if of_votes else "soft labels"
    _refuse(method, METHODS, source, hint)
    return from_soft_labels(rows, labels, sign, _checked(settings))


def _refuse(method: str | None, allowed: tuple[str, ...], source: str, hint: str = "") -> None:
    if method is not None and method not in allowed:
        words = " or ".join(repr(word) for word in allowed)
        text = f"{arg('method', method)} makes no interval from {source}. Pass {words}, or leave"
        raise InputError(f"{text} {arg('method')} out.{hint}")


def _checked(settings: Settings) -> Settings:
    if settings.method == BOOTSTRAP and settings.n_resamples == 0:
        text = f"{arg('method', 'bootstrap')} needs {bare('n_resamples')} > 0, got 0. Pass some, or"
        raise InputError(f"{text} {arg('method', BOUNDED)}.")
    return settings


POSSIBLE = (0.0, 0.5)
BOUND = Note(
    "identifiability",
    "An upper bound of the Bayes error: the measured error of calling a case positive where its score, "
    "calibrated on other rows, is ½ or more. Another rule may err less where the calibrator misses the score "
    "at which positives become the majority, and who sees more of the cases may, down to 0. The interval is "
    "that of the bound.",
)


def through_scores(
    evidence: Evidence, calibrator: Calibrator | str, n_folds: int, settings: Settings
) -> Estimate:
    """The error of the rule "calibrated score ≥ ½" on rows that did not calibrate it."""
    evidence.measure().need_prior()
    rng = np.random.default_rng(settings.rng)
    calibrated = _calibrated(evidence, calibrator, n_folds, rng)
    result = evaluate(calibrated, "accuracy", threshold=0.5, **settings.shared | {"rng": rng})
    right = result["accuracy"]
    wrong = replace(
        right,
        value=1 - right.value,
        naive=trusting(evidence.measure()),
        replicates=None if right.replicates is None else 1 - right.replicates,
        centers=None if right.centers is None else 1 - right.centers,
        notes=(BOUND, *result.notes, *right.notes),
    )
    low, high = cut((1 - right.high, 1 - right.low), POSSIBLE, wrong.value)
    # Over a range of priors each has a bound of its own, and the truth may be below the highest.
    most = wrong.value if wrong.centers is None else float(np.max(wrong.centers))
    columns = {field.name: getattr(wrong, field.name) for field in fields(Estimate)}
    changed = {"low": low, "high": high, "limits": POSSIBLE, "identified": cut((0.0, most), POSSIBLE)}
    return LimitEstimate(**(columns | changed), ends=wrong.interval)


def _calibrated(
    evidence: Evidence, calibrator: Calibrator | str, n_folds: int, rng: np.random.Generator
) -> Evidence:
    try:
        return cross_calibrate(evidence, calibrator, n_folds=n_folds, rng=rng)
    except InputError as error:
        if evidence.measure().bounded:
            raise
        remedy = f'Here: {arg("calibrator")}="isotonic", or Calibrator("platt", scale="score").'
        raise error.also(remedy) from None


def trusting(measure: ScoreMeasure) -> float | None:
    """∫ min(s, 1 − s) dμ: the Bayes error if the scores were P(positive | x); None where they cannot be."""
    if not measure.bounded:
        return None
    return float(integral(np.minimum(measure.score, 1 - measure.score), measure.mass) / measure.total)
