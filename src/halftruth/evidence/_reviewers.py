"""How good reviewers are: from cases checked besides, by what they said, and where two agree.

Equally good reviewers who err independently say 1 with the share m = π a + (1−π)(1−b), a their sensitivity
and b their specificity, and their answers have the covariance c = π(1−π)(a + b − 1)². Two numbers for three
unknowns: π is anywhere between c/(c + (1−m)²), where a = 1, and m²/(m² + c), where b = 1. On the way a falls
to (m² + c)/m, the share of one's positives that the other confirms, and b rises from the same of negatives.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, Note, NotIdentifiable, Refuted, arg, notes_to_dict
from halftruth.evidence._review_design import Reviews
from halftruth.measure._arithmetic import ratio
from halftruth.prior._belief import Belief, PriorEstimate, Share
from halftruth.results._estimate import Estimate, figure

__all__ = ["ReviewerAgreement", "against_rates", "judge_rates", "reviewer_agreement"]

N_DRAWS = 2000  # of a reviewer's rates
TAIL = 0.025
SURE, LIKELY = 2.576, 1.96  # standard errors: 99% and 95%, on two sides
INDEPENDENT = (
    "Assumes that the two are equally good, err equally often at every score and independently of each other "
    "given the truth. Errors that they share make agreement look too good, and both rates too high."
)


@dataclass(frozen=True, kw_only=True, eq=False)
class ReviewerAgreement:
    """How far two reviewers agree, and what that implies.

    Attributes
    ----------
    agreement, kappa, positive_agreement, negative_agreement : Estimate
        The share of cases on which both say the same; Cohen's κ; and 2n₁₁/(2n₁₁ + n₁₀ +
        n₀₁), 2n₀₀/(2n₀₀ + n₁₀ + n₀₁), the shares of one's positives and negatives that the other confirms.
    identified : dict of str to (low, high)
        What the table as it is leaves possible of "sensitivity", "specificity" and "prevalence".
    sensitivity, specificity : (low, high) or PriorEstimate
        For `Reviewed`: the range with the table's sampling error (97.5%) in its low end; with a prevalence,
        an estimate with replicates.
    """

    agreement: Estimate
    kappa: Estimate
    positive_agreement: Estimate
    negative_agreement: Estimate
    identified: dict[str, tuple[float, float]]
    sensitivity: Share
    specificity: Share
    notes: tuple[Note, ...] = ()

    def __repr__(self) -> str:
        rates = (f"{name} {figure(x[0])} to {figure(x[1])}" for name, x in self.identified.items())
        return f"ReviewerAgreement(κ {figure(self.kappa.value)}; {', '.join(rates)})"

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        names = ("agreement", "kappa", "positive_agreement", "negative_agreement")
        rows = {name: getattr(self, name).to_dict() for name in names}
        identified = {k: list(x) for k, x in self.identified.items()}
        return {**rows, "identified": identified, **notes_to_dict(self.notes)}


def reviewer_agreement(a: Any, b: Any, *, prevalence: float | None = None, rng: int = 0) -> ReviewerAgreement:
    """Agreement of two reviewers, and the sensitivity and specificity that it lets them have.

    Parameters
    ----------
    a, b : (n,) arrays of 0 and 1
        What each said of the same cases, without knowing what the other said.
    prevalence : float, optional
        The share of these cases that are positive. With it the two rates are identified; without, ranges are.
    rng : int

    Returns
    -------
    ReviewerAgreement

    Examples
    --------
    >>> import halftruth as ht
    >>> both = ht.reviewer_agreement([1] * 40 + [0] * 60, [1] * 36 + [0] * 60 + [1] * 4)
    >>> round(both.agreement.value, 2), [round(x, 2) for x in both.identified["sensitivity"]]
    (0.92, [0.9, 1.0])
    """
    first = _checks.binary_labels(a, "a")
    second = _checks.binary_labels(b, "b", length=len(first))
    if not len(first):
        raise InputError(f"{arg('a')} is empty. Pass what each reviewer said of the cases.")
    cells = np.bincount(2 * first + second, minlength=4)[::-1].astype(np.float64)  # 11, 10, 01, 00
    drawn = np.random.default_rng(rng).dirichlet(cells + 0.5, N_DRAWS)  # Jeffreys' posterior
    shares = np.concatenate([cells[None] / cells.sum(), drawn])
    both, n10, n01, none = shares.T
    same, (m1, m2) = both + none, (both + n10, both + n01)
    chance = m1 * m2 + (1 - m1) * (1 - m2)
    m = (m1 + m2) / 2
    positive, negative = ratio(both, m), ratio(none, 1 - m)
    c = both - m**2
    notes = [Note("assumption", INDEPENDENT)]
    if cells[1] + cells[2] and abs(cells[1] - cells[2]) > 1.96 * np.sqrt(cells[1] + cells[2]):
        text = f"One says 1 more often than the other ({cells[1]:.0f} against {cells[2]:.0f} of those they "
        notes.append(Note("contradiction", f"{text}differ on; McNemar's test): they are not equally good."))
    if not c[0] > 0:
        text = "The two agree no more than chance would have it, or say the same of every case:"
        raise NotIdentifiable(f"{text} nothing is known of how often they are right.")
    identified = {
        "sensitivity": (float(positive[0]), 1.0),
        "specificity": (float(negative[0]), 1.0),
        "prevalence": (float(c[0] / (c[0] + (1 - m[0]) ** 2)), float(m[0] ** 2 / (m[0] ** 2 + c[0]))),
    }
    least = [float(np.quantile(x[1:], TAIL)) for x in (positive, negative)]
    rates: tuple[Share, Share] = (least[0], 1.0), (least[1], 1.0)
    if prevalence is not None:
        rates = _rates_at(_checks.share(prevalence, "prevalence"), m, c, identified["prevalence"])
    return ReviewerAgreement(
        agreement=_estimate(same, 0.0),
        kappa=_estimate(ratio(same - chance, 1 - chance), -1.0),
        positive_agreement=_estimate(positive, 0.0),
        negative_agreement=_estimate(negative, 0.0),
        identified=identified,
        sensitivity=rates[0],
        specificity=rates[1],
        notes=tuple(notes),
    )


def _rates_at(prevalence: float, m: Vector, c: Vector, span: tuple[float, float]) -> tuple[Share, Share]:
    """Sensitivity and specificity with a known prevalence; noise may carry them past 1."""
    odds, spread = prevalence / (1 - prevalence), np.sqrt(np.maximum(c, 0.0))
    rates = m + spread / np.sqrt(odds), 1 - m + spread * np.sqrt(odds)
    if any(np.quantile(x[1:], TAIL) > 1 for x in rates):
        raise Refuted(
            argument="prevalence", must=f"be {span[0]:.3g} to {span[1]:.3g}", got=f"{prevalence:g}",
            remedy="Beyond, no equally good reviewers who err independently agree so often.",
        )  # fmt: skip
    values = (np.minimum(x, 1.0) for x in rates)
    first, second = (
        PriorEstimate(value=float(x[0]), replicates=x[1:], method="two reviewers, known prevalence")
        for x in values
    )
    return first, second


def _estimate(values: Vector, least: float) -> Estimate:
    low, high = np.quantile(values[1:], [TAIL, 1 - TAIL])
    return Estimate(
        value=float(values[0]),
        low=float(low),
        high=float(high),
        method="percentile",
        replicates=values[1:],
        centers=values[:1],
        limits=(least, 1.0),
    )


def judge_rates(said: Any, truth: Any, *, rng: int = 0) -> tuple[PriorEstimate, PriorEstimate]:
    """Sensitivity and specificity of a reviewer, from cases of which the truth is known too.

    Parameters
    ----------
    said, truth : (n,) arrays of 0 and 1
        What the reviewer said of each case, and what it is, e.g. by a second review that is trusted. Cases
        are a random part of all, or of each true class: not chosen by what the reviewer said.
    rng : int

    Returns
    -------
    (sensitivity, specificity) : PriorEstimate
        With draws of Jeffreys' posterior as replicates, for `Reviewed`.

    Examples
    --------
    >>> import halftruth as ht
    >>> sensitivity, specificity = ht.judge_rates([1, 1, 0, 0, 1, 0], [1, 1, 1, 0, 0, 0])
    >>> round(sensitivity.value, 3), round(specificity.value, 3)
    (0.667, 0.667)
    """
    told = _checks.binary_labels(said, "said")
    true = _checks.binary_labels(truth, "truth", length=len(told))
    stream, out = np.random.default_rng(rng), []
    for name, sign in (("positive", True), ("negative", False)):
        right = told[true == sign] == sign
        n, k = len(right), int(right.sum())
        if n == 0 or not (told == sign).any():
            what = f"{arg('truth')} has no {name} case" if n == 0 else f"No case of {arg('said')} is {name}"
            raise InputError(f"{what}: nothing says how often reviewers are right. Check cases at random.")
        draws = stream.beta(k + 0.5, n - k + 0.5, N_DRAWS)
        out.append(PriorEstimate(value=k / n, replicates=draws, method=f"{k} of {n}"))
    return out[0], out[1]


def against_rates(reviews: Reviews, sensitivity: Belief, specificity: Belief, rows: str) -> Iterator[Note]:
    """Whether reviewers called positive as many of the ``rows`` as their rates of error allow.

    Of all rows they call positive the share π a + (1 − π)(1 − b), which lies between their false alarms 1 − b
    and their sensitivity a, whatever π is.
    """
    mass = reviews.weight * reviews.times
    mass /= mass.sum()
    share = float(mass @ reviews.positive)
    noise = float(np.sum((mass * (reviews.positive - share)) ** 2))
    for few, rate in ((True, specificity), (False, sensitivity)):
        most = float(rate.ends()[1] if rate.replicates is None else rate.value or 1.0)
        limit = 1 - most if few else most
        error = float(np.sqrt(noise + (0.0 if rate.replicates is None else np.var(rate.replicates))))
        room = (share - limit) * (1 if few else -1) / max(error, 1e-300)
        words = (
            f"a specificity of {most:.4g} alone makes that {limit:.4g}"
            if few
            else f"a sensitivity of {most:.4g} allows {limit:.4g}"
        )
        text = f"Reviewers called {share:.4g} of {rows} positive, and {words}"
        if room < -SURE:
            yield Note(
                "refuted",
                f"{text}: too {'few' if few else 'many'}. At fault is that rate, or the chances of review. A "
                "rate is that of all rows: check cases at random, not as many called positive as negative.",
            )
        elif room < LIKELY:
            yield Note(
                "not_identified",
                f"{text}: as far as chance tells, all of these may be {'negative' if few else 'positive'}, "
                "and recall or areas can be anything. Check more cases of which the truth can be found.",
            )
