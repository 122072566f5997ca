"""The Bayes error from soft labels: exact ones, uncertainties, noisy ones, and votes among many classes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, Note, NotIdentifiable, arg, call
from halftruth.evidence import as_evidence
from halftruth.evidence._soft_labeled import SoftRows
from halftruth.limits._row_means import ROUNDING, Ends, LimitEstimate, Mean, Settings, estimate

__all__ = ["EXACT", "NOISY", "SOFT", "UNCERTAINTY", "LabelKind", "from_soft_labels", "need_posteriors"]

LabelKind = Literal["soft", "uncertainty", "noisy"]
SOFT: Final = "soft"
UNCERTAINTY: Final = "uncertainty"
NOISY: Final = "noisy"
EXACT = Note(
    "assumption",
    "Assumes that the soft labels are the probabilities themselves. If they are right only on average, the "
    f"value is too small: pass {arg('labels', 'noisy')}, or votes by "
    f"{call('SoftLabeled.from_votes', 'votes')}.",
)
SIGNED = Note(
    "assumption",
    "Assumes that the labels are right on average at every case, and that the signs are those of the true "
    "probabilities.",
)
NOISE = Note(
    "bias",
    "Assumes that the labels are right on average at every case; noise that is cut off at 0 and 1, or pulls "
    "towards the middle, is not. Then the value is too small on average: noise makes cases look surer "
    "than they are. The Bayes error lies between it and the error of calling all cases alike "
    f"(`identified`). Pass {arg('sign')}, the class that is likelier in truth, for a value without that "
    "bias.",
)
VOTES = Note(
    "bias",
    "The value is too small on average: few votes make cases look surer than they are. The Bayes error "
    "lies between it and how often two voters of a case disagree, or the error of calling all cases alike "
    "where that is smaller (`identified`). Votes for one class against all others, as two classes, have a "
    "value with less of that bias.",
)
HARD = Note(
    "identifiability",
    "All labels are 0 or 1, which says that no case is uncertain. If they are hard labels, one observer's "
    "answer each, they say nothing of the Bayes error: pass Labeled(y, score), or the votes of several "
    "observers.",
)


def need_posteriors(evidence: object, why: str) -> None:
    """Refuse what is no evidence, and scores, which say nothing of each case's probability."""
    votes = call("SoftLabeled.from_votes(k, m)", "votes")
    remedy = f"Wrap your soft labels: {call('SoftLabeled(q)', 'soft')}, or votes: {votes}."
    if not as_evidence(evidence, remedy=remedy).holds_posteriors:
        raise NotIdentifiable(why.format(type(evidence).__name__))


def from_soft_labels(
    rows: SoftRows, labels: LabelKind, sign: ArrayLike | None, settings: Settings
) -> LimitEstimate:
    """By what the labels are, ``sign`` being the classes that are likelier in truth."""
    if labels == NOISY:
        return _noisy(rows, sign, settings)
    if labels == UNCERTAINTY:
        return _uncertain(rows, settings)
    return _clean(rows, settings) if rows.ballots is None else _votes_among_many(rows, settings)


def _clean(rows: SoftRows, settings: Settings) -> LimitEstimate:
    """From soft labels that are P(class | x): the mean of 1 − max q, min(q, 1 − q) of two classes."""
    top = most(rows)
    mean = Mean.of(losses(rows.q), rows.weight, top, settings)
    q = rows.q if rows.weight is None else rows.q[rows.weight > 0]
    hard = ((q == 0) | (q == 1)).all()
    return estimate(mean, (0.0, top), settings, notes=(EXACT, HARD) if hard else (EXACT,))


def _uncertain(rows: SoftRows, settings: Settings) -> LimitEstimate:
    """From uncertainty labels, the probability of the less likely class."""
    if rows.n_classes > 2 or rows.ballots is not None:
        raise InputError(
            f"{arg('labels', 'uncertainty')} takes one number a row, the probability of the less likely "
            f"class; got {'votes' if rows.ballots is not None else f'{rows.n_classes} classes'}. Leave "
            f"{arg('labels')} out."
        )
    must = "lie in [0, 0.5] as uncertainty labels"
    remedy = f"Pass {arg('labels', 'soft')} for P(positive | x)."
    _checks.refuse_values(rows.q > 0.5, rows.q, "q", must, "value(s) above", remedy)
    out = _clean(rows, settings)
    return replace(out, notes=tuple(note for note in out.notes if note != HARD))


def _noisy(rows: SoftRows, sign: ArrayLike | None, settings: Settings) -> LimitEstimate:
    """From noisy soft labels u, right on average: with the signs of the truth, or without."""
    if sign is None:
        return _between(rows, None, settings, (NOISE,))
    likelier = _read_sign(sign, rows)
    top, u = most(rows), rows.q
    if u.ndim == 1:
        lost = np.where(likelier == 1, 1 - u, u)
    else:
        lost = 1 - np.take_along_axis(u, likelier[:, None], axis=1)[:, 0]
    mean = Mean.of(lost, rows.weight, 1.0, settings)
    naive = Mean.of(losses(u), rows.weight, top).value
    notes = (SIGNED, *_on_signs(mean, top))
    return estimate(mean, (0.0, top), settings, naive=naive, notes=notes)


def _votes_among_many(rows: SoftRows, settings: Settings) -> LimitEstimate:
    """From votes among three classes or more: the plug-in, and how far above it the truth can be."""
    ballots, u = rows.ballots, rows.q
    assert ballots is not None  # asked for by the caller
    single = ballots == 1
    # max q ≥ Σ q², and two of a row's voters agree as often as Σ q² says: 1 − Σ q² bounds 1 − max q from
    # above. The factor m/(m−1) makes the share of pairs that disagree unbiased.
    disagree = (1 - np.einsum("ij,ij->i", u, u)) * ballots / np.where(single, 1, ballots - 1)
    disagreement = Mean.of(np.where(single, most(rows), disagree), rows.weight, 1.0, settings)
    notes: tuple[Note, ...] = (VOTES,)
    if single.any():
        text = f"{int(single.sum())} row(s) have one vote, and no second voter who might disagree: in that"
        text += f" bound they count as {most(rows):.4g}, the most that is possible."
        notes += (Note("identifiability", text),)
    return _between(rows, disagreement, settings, notes)


def _between(
    rows: SoftRows, disagreement: Mean | None, settings: Settings, notes: tuple[Note, ...]
) -> LimitEstimate:
    """The plug-in, with the interval from its lower limit to the upper limit of what bounds the truth."""
    top, u = most(rows), rows.q
    plug_in = Mean.of(losses(u), rows.weight, top, settings)
    # No Bayes error exceeds the error of calling all cases one class, whichever class that is.
    lost_by_class = [1 - u, u] if u.ndim == 1 else [1 - u[:, k] for k in range(u.shape[1])]
    above = [Mean.of(lost, rows.weight, 1.0, settings) for lost in lost_by_class]
    if disagreement is not None:
        above.append(disagreement)
    highest = min(mean.value for mean in above)
    identified = plug_in.value, max(plug_in.value, min(highest, top))
    ends = partial(_bounded_ends, plug_in, above, settings.method)
    known: dict[str, Any] = {"naive": plug_in.value, "notes": notes, "identified": identified}
    out = estimate(plug_in, (0.0, top), settings, ends=ends, **known)
    # An interval around the plug-in alone would not hold the truth: it is given no center.
    return replace(out, centers=None, replicates=None)


def _bounded_ends(below: Mean, above: list[Mean], method: str, level: float) -> Ends:
    """From the lower limit of a mean below the truth to the least upper limit of means above it."""
    # Any of what bounds from above may be too low by chance: all of them share one tail (Bonferroni).
    shared_level = 1 - (1 - level) / len(above)
    return below.ends(level, method)[0], min(mean.ends(shared_level, method)[1] for mean in above)


def losses(q: Vector) -> Vector:
    """How often the likeliest class is wrong, for each row."""
    return np.asarray(np.minimum(q, 1 - q) if q.ndim == 1 else 1 - q.max(axis=1))


def most(rows: SoftRows) -> float:
    """The largest Bayes error that so many classes can have."""
    return 1 - 1 / rows.n_classes


def _read_sign(sign: ArrayLike, rows: SoftRows) -> NDArray[np.intp]:
    """The class that is likelier in truth, for each row."""
    signs = _checks.vector(sign, "sign", length=len(rows))
    n_classes = rows.n_classes
    codes = np.arange(float(n_classes))
    if n_classes == 2 and (signs == -1).any():
        codes = np.asarray([-1.0, 1.0])
    must = "hold 0 and 1, −1 and 1, or booleans"
    if n_classes > 2:
        must = f"hold the number of the likeliest class, 0 to {n_classes - 1}"
    remedy = "Where classes are equally likely either will do."
    unknown = ~np.isin(signs, codes)
    _checks.refuse_values(unknown, signs, "sign", must, "other value(s)", remedy, digits="g")
    return np.asarray(signs > 0 if n_classes == 2 else signs, dtype=np.intp)


def _on_signs(mean: Mean, top: float) -> Iterator[Note]:
    if mean.value <= top + ROUNDING:
        return
    above = f"The value is above {top:.4g}, the most that is possible"
    advice = "check their order and their code"
    if mean.certain_low() > top:
        yield Note("refuted", f"{above}: the signs contradict the labels; {advice}.")
    else:
        text = f"{above}: by noise, or because the signs contradict the labels ({advice})."
        yield Note("impossible", text)
