"""The best that any classifier can reach, from the posterior of each case."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import entr

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, Note, arg
from halftruth.evaluation._evaluate import PAGES, evaluate
from halftruth.evidence import Evidence, PositiveConfidence, SoftLabeled
from halftruth.evidence._soft_labeled import SoftRows
from halftruth.inference._progress import progress
from halftruth.limits._bayes_error import bayes_error, overlap
from halftruth.limits._row_means import BOUNDED, Mean, Settings, estimate, scaled
from halftruth.limits._soft_labels import EXACT, need_posteriors
from halftruth.limits._vote_law import Q, as_probabilities
from halftruth.limits._vote_limits import ASSUMPTION, FittedVotes
from halftruth.measure._score_measure import Number, ScoreMeasure, ratio, scalar
from halftruth.metrics._areas import average_precision, pr_auc, roc_auc
from halftruth.metrics._mean_losses import brier, log_loss
from halftruth.results._estimate import Estimate, Evaluation

__all__ = ["OF_FEW_VOTES", "OF_LAW", "ROWS", "best_attainable"]

BAYES, LOG_LOSS, PRECISION = "bayes_error", "log_loss", "average_precision"
LONG = 300  # different counts of votes from which the limits take seconds, and show their progress
OF_LAW = Note(
    "interval",
    "The value is that of the law fitted to the votes; the interval spans the laws that they do not refute, "
    "as far as a search finds them.",
)
OF_SCORES = (
    "Scores do not say what is best: who sees more than the scores of {} evidence may do better. Pass soft "
    "labels, votes or positive confidences. `bayes_error` of scores is an upper bound."
)
OF_FEW_VOTES = Note(
    "bias",
    "Shares of few votes look surer than the posterior: the value is too small on average, and the "
    "interval reaches to that of cases all alike.",
)
Functional = Callable[[ScoreMeasure], Number]


def best_attainable(
    evidence: Evidence,
    metrics: str | Iterable[str] | None = None,
    *,
    confidence_level: float = 0.95,
    n_resamples: int = 2000,
    rng: int | np.random.Generator = 0,
) -> Evaluation:
    """The best value of each metric that any classifier can have, from the posterior of each case.

    The posterior P(Y=1 | x) is the best score there is: the metrics are those of the evidence with its own
    posterior in place of the scores.

    Parameters
    ----------
    evidence : SoftLabeled or PositiveConfidence
        Soft labels, votes, or positive confidences, all above 0, with a prior or with the one that they
        identify. Their own scores are not read. Soft labels of three classes or more have the rows
        bayes_error and log_loss.
    metrics : str or list of str, optional
        Which rows, by default all. No classifier is below: "bayes_error", the error rate; "balanced_error",
        the mean of the two classes' error rates; "log_loss"; "brier". None is above: "roc_auc";
        "average_precision"; "f1", at the best threshold.
    confidence_level, n_resamples, rng
        As in `bayes_error`. Votes need no resamples.

    Returns
    -------
    Evaluation
        The row bayes_error is that of `bayes_error`, but for positive confidences without a prior: there it
        takes the prior that they identify.

    Notes
    -----
    These are limits of the population, which a classifier may pass by chance on a small test set:
    `too_good_to_be_true` tests that. Average precision takes cases with one posterior as ties; a classifier
    that breaks them may be higher, up to `pr_auc` of the same evidence.

    Soft labels must be the posterior itself: noise that is right on average makes every row look better than
    it is. The rows of votes are those of a law fitted to them. Of uncertainty labels, min(q, 1−q), only
    bayes_error, log_loss and brier mean anything.

    Examples
    --------
    >>> import numpy as np, halftruth as ht
    >>> q = np.random.default_rng(0).beta(0.5, 0.5, 2000)
    >>> best = ht.best_attainable(ht.SoftLabeled(q), ["bayes_error", "roc_auc"], n_resamples=200)
    >>> {name: round(row.value, 2) for name, row in best.items()}
    {'bayes_error': 0.18, 'roc_auc': 0.91}
    """
    names = _names(metrics)
    settings = Settings(BOUNDED, confidence_level, n_resamples, rng)
    need_posteriors(evidence, OF_SCORES)
    if evidence.labels is None:
        return _from_confidences(evidence, names, settings)
    rows = as_probabilities(evidence.labels)
    if rows.n_classes > 2:
        return _many_classes(evidence, evidence.labels, None if metrics is None else names, settings)
    if rows.ballots is not None:
        return _from_votes(evidence, evidence.labels, names, settings)
    by_posterior = SoftLabeled(rows.q, sample_weight=None if rows.weight is None else scaled(rows.weight))
    return _evaluated(by_posterior, names, settings, _bayes(evidence, names, settings))


def balanced_error(measure: ScoreMeasure) -> Number:
    """The least mean of false-positive and false-negative rate over thresholds."""
    line = measure.sweep
    return scalar(np.min(line.fpr + 1 - line.tpr, axis=-1) / 2)


def best_f1(measure: ScoreMeasure) -> Number:
    """The highest F1 over thresholds."""
    line = measure.sweep
    return scalar(np.max(ratio(2 * line.tp, line.predicted + line.positives[..., None]), axis=-1))


ROWS: dict[str, Functional] = {
    BAYES: overlap,
    "balanced_error": balanced_error,
    "roc_auc": roc_auc,
    PRECISION: average_precision,
    "f1": best_f1,
    LOG_LOSS: log_loss,
    "brier": brier,
}
# Rows that are the mean of a function of the posterior.
MEANS: dict[str, Vector] = {LOG_LOSS: entr(Q) + entr(1 - Q), "brier": Q * (1 - Q)}


def _names(metrics: str | Iterable[str] | None) -> tuple[str, ...]:
    if metrics is None:
        return tuple(ROWS)
    names = (metrics,) if isinstance(metrics, str) or not isinstance(metrics, Iterable) else tuple(metrics)
    if not names or len(set(map(str, names))) < len(names):
        rows = f"Rows are {', '.join(ROWS)}."
        raise InputError(argument="metrics", must="name each row once", got=repr(metrics), remedy=rows)
    return tuple(_checks.choice(name, "metrics", tuple(ROWS)) for name in names)


def _bayes(evidence: Evidence, names: Iterable[str], settings: Settings) -> Estimate | None:
    return bayes_error(evidence, **settings.shared) if BAYES in names else None


def _evaluated(
    by_posterior: Evidence,
    names: tuple[str, ...],
    settings: Settings,
    bayes: Estimate | None,
    *,
    at_prior: bool = False,
) -> Evaluation:
    """The rows of evidence whose scores are its posterior."""
    functionals = {name: ROWS[name] for name in names if name != BAYES or bayes is None}
    if at_prior:
        functionals = {n: _at_prior(call, additive=n in MEANS) for n, call in functionals.items()}
    result = evaluate(by_posterior, functionals or {"prevalence": "prevalence"}, **settings.shared)
    # One who rounds posteriors to classes would call every metric perfect: that is no naive figure.
    rows = {name: replace(result[name], naive=None) for name in functionals}
    # Right on average is enough for other metrics, not for these.
    notes = tuple(EXACT if note == SoftLabeled.assumption else note for note in result.notes)
    if bayes is not None:
        rows[BAYES] = replace(bayes, notes=tuple(note for note in bayes.notes if note not in notes))
    # These are limits, not figures of scores: a page of scores would not show them.
    return replace(result, rows={name: rows[name] for name in names}, notes=notes, origin=None)


def _from_confidences(evidence: Evidence, names: tuple[str, ...], settings: Settings) -> Evaluation:
    assert evidence.confidences is not None  # the other kind of posterior
    r, weight = evidence.confidences
    why = "Only the Bayes error can be found with them: call `bayes_error`, which takes them."
    _checks.positive_probabilities(r, "r", why=why)
    has_prior = evidence.prior.value is not None
    by_posterior = PositiveConfidence(r, sample_weight=None if weight is None else scaled(weight))
    by_posterior.prior = evidence.prior
    bayes = _bayes(evidence, names, settings) if has_prior else None
    return _evaluated(by_posterior, names, settings, bayes, at_prior=has_prior)


def _at_prior(functional: Functional, *, additive: bool) -> Functional:
    """The functional where a prior stands beside the confidences: each positive brings (1−r)/r negatives."""
    # What adds up over cases is divided by as many cases as the prior says: far less noisy than by Σ 1/r.
    # What compares classes takes the negatives' distribution, and their number from the prior.

    def call(measure: ScoreMeasure) -> Number:
        positive, r = measure.pos_mass, measure.score
        if additive:
            negative = positive * (1 - r) / r
        else:
            negative = measure.mass * (1 - r)
            negative = negative * ratio(measure.negatives, negative.sum(axis=-1))[..., None]
        new = ScoreMeasure(score=r, mass=positive + negative, pos_mass=positive, neg_mass=negative)
        value = functional(new)
        return scalar(value * ratio(new.total, measure.total)) if additive else value

    return call


def _from_votes(evidence: Evidence, rows: SoftRows, names: tuple[str, ...], settings: Settings) -> Evaluation:
    """The rows of the law fitted to the votes, with intervals over all laws that they do not refute."""
    fitted = FittedVotes(rows=rows)
    estimates: dict[str, Estimate] = {}
    with progress("Limits", len(names), long=len(fitted.votes.count) > LONG) as advance:
        for name in names:
            if name == BAYES:
                estimates[name] = fitted.bayes_error(settings.level)
            elif name in MEANS:
                estimates[name] = fitted.mean(MEANS[name], (0.0, float(MEANS[name].max())), settings.level)
            else:
                # Ties of a law are those of its places: average precision is the area with ties broken.
                call = pr_auc if name == PRECISION else ROWS[name]
                estimates[name] = fitted.limit(call, (0.0, 1.0), settings.level)
                estimates[name] = replace(estimates[name], notes=(OF_LAW,))
            advance(1)
    prior, notes = _mean(rows.q, rows.weight, 1.0, settings), () if BAYES in names else (ASSUMPTION,)
    return Evaluation(rows=estimates, prior=prior, notes=notes, **_shown(evidence))


class _ManyClasses(Evaluation):
    """Limits for three classes or more, which have no prior of one class."""

    def _shares(self) -> str:
        return "More than two classes: only the Bayes error and the log loss."


def _many_classes(
    evidence: Evidence, rows: SoftRows, names: tuple[str, ...] | None, settings: Settings
) -> Evaluation:
    """1 − E max q and the mean entropy."""
    beyond = set(names or ()) - {BAYES, LOG_LOSS}
    if beyond:
        raise InputError(
            f"{arg('metrics')} of {rows.n_classes} classes are {BAYES} and {LOG_LOSS}, got "
            f"{sorted(beyond)}. Pass one class against the rest, e.g. q[:, 0], for the others."
        )
    names = names or (BAYES, LOG_LOSS)
    bayes = _bayes(evidence, names, settings)
    estimates: dict[str, Estimate] = {} if bayes is None else {BAYES: bayes}
    if LOG_LOSS in names:
        estimates[LOG_LOSS] = _entropy(rows, settings)
    estimates = {name: estimates[name] for name in names}
    unknown = Estimate(value=np.nan, low=np.nan, high=np.nan)
    notes = () if BAYES in names else (EXACT if rows.ballots is None else ASSUMPTION,)
    return _ManyClasses(rows=estimates, prior=unknown, notes=notes, **_shown(evidence))


def _shown(evidence: Evidence) -> dict[str, Any]:
    """What results without known positives have in common."""
    return {"evidence": repr(evidence), "alpha": None, "pages": PAGES}


def _entropy(rows: SoftRows, settings: Settings) -> Estimate:
    """The log loss of many classes; of votes, between the shares' and that of the shares of all cases."""
    most = float(np.log(rows.n_classes))
    plug_in = _mean(_uncertainty(rows.q), rows.weight, most, settings)
    if rows.ballots is None:
        return plug_in
    alike = float(_uncertainty(np.average(rows.q, axis=0, weights=rows.weight)))
    identified = plug_in.value, max(plug_in.value, alike)
    return replace(plug_in, high=max(plug_in.high, alike), identified=identified, notes=(OF_FEW_VOTES,))


def _uncertainty(q: Vector) -> Vector:
    return np.asarray(-np.sum(q * np.log(np.where(q > 0, q, 1.0)), axis=-1))


def _mean(values: Vector, weight: Vector | None, most: float, settings: Settings) -> Estimate:
    """A mean over rows with its interval."""
    return estimate(Mean.of(values, weight, most), (0.0, most), settings)
