"""Does the rest hold? What reviews say of the prior, the purity and SCAR, which other evidence rests on.

Reviews give the law f₁ of all positives without any of the three; known positives give f_known. SCAR says
that both are one, and w(s) = f₁/f_known is the selection that was at work.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from html import escape
from typing import Any

import numpy as np

from halftruth import _checks
from halftruth._errors import InputError, Note, NoteKind, NotIdentifiable, arg, call, notes_to_dict, source_of
from halftruth.evaluation._evaluate import evaluate
from halftruth.evaluation._review_laws import N_BLOCKS, Laws, SelectionBlock
from halftruth.evidence import PositiveUnlabeled, Reviewed
from halftruth.evidence._selection import Direction, Selection
from halftruth.prior._law_tests import share_within
from halftruth.prior._scar_test import Check
from halftruth.results._estimate import (
    Estimate,
    Evaluation,
    aligned,
    figure,
    interval_text,
    json_number,
    share_text,
)
from halftruth.results._standing import Judged
from halftruth.table._score_table import POSITIVE, SOFT, ScoreTable

__all__ = ["ReviewCheck", "check_by_reviews"]

FEW_POSITIVES = 20  # found by reviews
STEPS = 24  # of halving, to a p-value
TITLES = {"scar": "SCAR", "prior": "Prior", "purity": "Purity"}
LEAN = {"any": "otherwise than", "rising": "higher than", "falling": "lower than"}


@dataclass(frozen=True, kw_only=True, eq=False)
class ReviewCheck(Judged):
    """What reviews say of the rest of the evidence, and both answers side by side.

    Attributes
    ----------
    checks : mapping of str to Check
        "scar", "prior" and "purity", as far as they could be tested: .p_value, .refuted, .says.
    prior : Estimate
        π by the reviews.
    purity : Estimate or None
        By ``purity_sample``.
    selection : tuple of SelectionBlock
        w = f₁/f_known by blocks of the score. All of (low, high) hold together, at the confidence level.
    gamma : Estimate
        The least Γ that allows this selection; (low, high) are those of the band of all blocks.
    direction : {"rising", "falling", "any"}
        "rising": the known positives score higher than the positives in general.
    side_by_side : mapping of str to (Estimate, Estimate)
        By positives and unlabeled, and by reviews.
    disagree : tuple of str
        Metrics of which the two differ by more than both errors.
    status, reason : str
        "refuted" where a check refutes something, and what.
    """

    checks: Mapping[str, Check]
    prior: Estimate
    purity: Estimate | None
    selection: tuple[SelectionBlock, ...]
    gamma: Estimate
    direction: Direction
    side_by_side: Mapping[str, tuple[Estimate, Estimate]]
    disagree: tuple[str, ...]
    confidence_level: float
    notes: tuple[Note, ...] = ()

    @property
    def scar(self) -> Check:
        """Whether known positives have the law of all positives along the score."""
        return self.checks["scar"]

    @property
    def verdicts(self) -> dict[str, Note]:
        """What each check says, in a line; known positives that are not positive refuse the reviews too."""
        notes = {}
        for name, one in self.checks.items():
            p = "" if one.p_value is None else f" (p = {figure(one.p_value)})"
            text = f"{TITLES[name]}{' REFUTED' if one.refuted else ''}{p}: {source_of(one.says)}"
            against: NoteKind = "refuted" if name == "purity" else "contradiction"
            notes[name] = Note(against if one.refuted else "remark", text)
        return notes

    def __str__(self) -> str:
        rows: list[tuple[str, ...]] = [("", "positives and unlabeled", "reviews", "")]
        for name, both in self.side_by_side.items():
            rows.append((name, *map(share_text, both), "differ" if name in self.disagree else ""))
        checks = [f"{name}: p = {figure(c.p_value)}. {c.says}" for name, c in self.checks.items()]
        said = {c.says for c in self.checks.values()}
        notes = [f"Note: {note}" for note in self.notes if note not in said]
        return "\n".join([*checks, "", *aligned(rows), "", *notes])

    def __repr__(self) -> str:
        found = ", ".join(f"{k} {'refuted' if c.refuted else 'not refuted'}" for k, c in self.checks.items())
        return f"ReviewCheck({found}; Γ {_gamma_text(self.gamma)})"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        checks = {
            name: {"p_value": json_number(c.p_value), "refuted": c.refuted, "says": c.says}
            for name, c in self.checks.items()
        }
        blocks = [{k: json_number(x) for k, x in block._asdict().items()} for block in self.selection]
        both = {k: {"pu": a.to_dict(), "reviews": b.to_dict()} for k, (a, b) in self.side_by_side.items()}
        purity = None if self.purity is None else self.purity.to_dict()
        return {
            **self.standing.to_dict(), "checks": checks, "prior": self.prior.to_dict(), "purity": purity,
            "selection": blocks, "gamma": self.gamma.to_dict(), "direction": self.direction,
            "side_by_side": both, "disagree": list(self.disagree), "confidence_level": self.confidence_level,
            **notes_to_dict(self.notes),
        }  # fmt: skip


def check_by_reviews(
    pu: PositiveUnlabeled,
    reviewed: Reviewed,
    metrics: str | Iterable[Any] | Mapping[str, Any] | None = None,
    *,
    purity_sample: tuple[int, int] | None = None,
    threshold: float | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 2000,
    rng: int | np.random.Generator = 0,
) -> ReviewCheck:
    """Whether SCAR, the prior and the purity hold, by reviews of some of the unlabeled rows.

    Parameters
    ----------
    pu : PositiveUnlabeled
    reviewed : Reviewed
        Of the same population. With ``population="all"`` it holds the known positives as `known_positive`;
        else it holds the unlabeled rows alone.
    metrics : names, callables or {label: metric}, optional
        What to show side by side, as in `evaluate`.
    purity_sample : (right, checked), optional
        So many of a random sample of the known positives were found to be positive.
    threshold : float, optional
    confidence_level : float
        Of each check by itself.
    n_resamples : int
    rng : int or numpy Generator

    Returns
    -------
    ReviewCheck

    Notes
    -----
    The check of SCAR compares the two laws where a fifth, two fifths, … of the known positives lie below: the
    largest difference in its errors, against resamples of both. It sees the score alone. Answers differ
    where the interval of their difference (Zou & Donner 2008), as if both were independent, leaves out 0.

    Examples
    --------
    >>> import numpy as np, halftruth as ht
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(4_000) < 0.2
    >>> score = rng.normal(np.where(y, 1.5, 0.0))
    >>> known = rng.normal(2.0, 1.0, 300)  # found by their scores
    >>> looked = rng.random(4_000) < 0.2
    >>> reviewed = ht.Reviewed(score, np.where(looked, y, np.nan), 0.2)
    >>> pu = ht.PositiveUnlabeled(known, score, prior=0.2)
    >>> check = ht.check_by_reviews(pu, reviewed, "roc_auc", n_resamples=500)
    >>> check.scar.refuted, check.direction, check.checks["prior"].refuted
    (True, 'rising', False)
    """
    level = _checks.confidence_level(confidence_level)
    n = _checks.count(n_resamples, "n_resamples", least=100)
    rest = _rest(pu, reviewed)
    how: dict[str, Any] = {"threshold": threshold, "confidence_level": level, "n_resamples": n, "rng": rng}
    answers = evaluate(pu, metrics, **how), evaluate(reviewed, metrics, **how)
    laws = Laws.of(pu, rest, n, rng)
    blocks, gamma = laws.selection(level)
    scar, direction = _scar_check(pu.selection, laws, gamma, 1 - level)
    purity, checks = None, {"scar": scar, "prior": _prior_check(pu, *answers, n, 1 - level)}
    if purity_sample is not None:
        purity, checks["purity"] = _purity_check(pu, purity_sample, level)
    both = {name: (row, answers[1][name]) for name, row in answers[0].items() if name in answers[1]}
    disagree = tuple(name for name, (a, b) in both.items() if _apart(a, b, level))
    notes = (
        *(Note("refuted" if c.refuted else "remark", source_of(c.says)) for c in checks.values()),
        *_on_rows(reviewed, rest, disagree),
    )
    return ReviewCheck(
        checks=checks, prior=answers[1].prior, purity=purity, selection=blocks, gamma=gamma,
        direction=direction, side_by_side=both, disagree=disagree, confidence_level=level, notes=notes,
    )  # fmt: skip


def _rest(pu: PositiveUnlabeled, reviewed: Reviewed) -> Reviewed:
    """The reviewed rows without the known positives: they say who else is positive."""
    _checks.instance(pu, "pu", PositiveUnlabeled)
    _checks.instance(reviewed, "reviewed", Reviewed)
    strata, whole = reviewed.table.strata, pu.population == "all"
    n_known, n_here = len(pu.table.strata[POSITIVE]), len(strata.get(SOFT, ()))
    if pu.propensity_given:
        raise InputError(f"{arg('pu')} must not have propensities: what is checked is a random sample.")
    if whole and min(pu.purity.ends()) < 1:
        raise InputError(
            f"{arg('reviewed')} takes known positives for certain, which {arg('purity')} says they are not. "
            f'Leave them out of it; give {arg("pu")} population="unlabeled", and the prior of the unlabeled.'
        )
    if whole and (n_here != n_known or len(reviewed.table) != len(pu.table)):
        raise InputError(
            f"{arg('reviewed')} must hold the {len(pu.table)} rows of {arg('pu')}, of which {n_known} are "
            f"known_positive; got {len(reviewed.table)} and {n_here}. Or leave the known ones out of it, and "
            f'give {arg("pu")} population="unlabeled" and the prior of the unlabeled.'
        )
    if n_here and not whole:
        raise InputError(
            f"{arg('reviewed')} has {n_here} known_positive rows, which are no part of the unlabeled sample. "
            f'Leave them out, or give {arg("pu")} population="all".'
        )
    if n_here:
        reviewed = reviewed.with_table(ScoreTable({k: x for k, x in strata.items() if k != SOFT}))
    if reviewed.measure().unidentified is not None:
        raise NotIdentifiable(
            "Nobody could look at some of the rows, so that the law of all positives is not known. Review a "
            "few of them, with a chance that is known."
        )
    return reviewed


def _apart(a: Estimate, b: Estimate, level: float) -> bool:
    """Whether two estimates differ by more than both errors: Zou & Donner's (2008) interval leaves out 0."""
    if "none" in (a.method, b.method):
        return False
    ends = a.interval(level), b.interval(level)
    if np.isnan(ends).any():
        return False
    inside = all(low <= x.value <= high for x, (low, high) in zip((a, b), ends, strict=True))
    ranges = any(x.centers is not None and len(x.centers) > 1 for x in (a, b))
    if ranges or not inside:  # a range adds up as it is
        return bool(ends[0][1] < ends[1][0] or ends[1][1] < ends[0][0])
    low, high = sorted(((a.value, *ends[0]), (b.value, *ends[1])))
    return bool(high[0] - low[0] > np.hypot(low[2] - low[0], high[0] - high[1]))


def _gamma_text(gamma: Estimate) -> str:
    if np.isinf(gamma.high):
        return f"at least {gamma.low:.2f}"
    return f"about {gamma.value:.2f} ({gamma.low:.2f} to {gamma.high:.2f})"


def _scar_check(granted: Selection, laws: Laws, gamma: Estimate, error: float) -> tuple[Check, Direction]:
    """Of the selection that was granted, SCAR where none was; and which way the known positives lean."""
    largest, p, lean = laws.test(error)
    check = Check(name="scar", p_value=p, statistic=largest)
    if p is None:
        why = "Reviews found no positive" if len(laws.edges) else "All known positives have one score"
        return replace(check, says=f"{why}: there is no law to compare."), lean
    if p > error:
        most = f"is up to {gamma.high:.2f}" if np.isfinite(gamma.high) else "has no bound by so few reviews"
        says = f"Not refuted: the known positives may score as the positives in general do. Γ {most}."
        return replace(check, says=says), lean
    found = f"Γ {_gamma_text(gamma)} was at work"
    says = f"The known positives score {LEAN[lean]} the positives in general: {found}"
    if granted.gamma > 1 and gamma.low <= granted.gamma and granted.direction in ("any", lean):
        return replace(check, says=f"{says}, and {granted} was granted."), lean
    value = f"{gamma.value if np.isfinite(gamma.value) else gamma.low:.2f}"
    grant, words = (value, value) if lean == "any" else (f'("{lean}", {value})', f"{lean}:{value}")
    selection = call(f"selection={grant}", f"--selection {words}")
    note = Note("refuted", f"{says}. Grant {selection}, or use the reviews.")
    return replace(check, refuted=True, says=note), lean


def _prior_check(pu: PositiveUnlabeled, given: Evaluation, found: Evaluation, n: int, error: float) -> Check:
    a, b = given.prior, found.prior
    reviews = f"reviews say {share_text(b)}"
    if pu.prior.value is None or "none" in (a.method, b.method):
        why = "None was given" if pu.prior.value is None else "There is no interval to compare it with"
        return Check(name="prior", p_value=None, concerns=("prior",), says=f"{why}; {reviews}.")
    low, high = 1 / (n + 1), 1.0  # of 1 − level: resamples tell no less
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if _apart(a, b, 1 - middle) else (middle, high)
    says = f"The prior {share_text(a)} is {'' if high <= error else 'not '}refuted: {reviews}."
    return Check(name="prior", p_value=high, refuted=high <= error, concerns=("prior",), says=says)


def _purity_check(pu: PositiveUnlabeled, sample: Any, level: float) -> tuple[Estimate, Check]:
    """Exact, by the binomial law (Clopper & Pearson 1934)."""
    from scipy.special import betaincinv

    right, n = _checks.labeled_sample(sample, "purity_sample")
    tail = (1 - level) / 2
    low = float(betaincinv(right, n - right + 1, tail)) if right else 0.0
    high = float(betaincinv(right + 1, n - right, 1 - tail)) if right < n else 1.0
    exact: dict[str, Any] = {"confidence_level": level, "method": "exact", "limits": (0.0, 1.0)}
    row = Estimate(value=right / n, low=low, high=high, **exact)
    p = share_within(right, n, *pu.purity.ends())
    refuted = p <= 1 - level
    purity = f"the purity {figure(pu.purity.value)} is {'' if refuted else 'not '}refuted"
    says = f"{right} of {n} known positives were found right ({interval_text(row)}): {purity}."
    return row, Check(name="purity", p_value=p, refuted=refuted, concerns=("purity",), says=says)


def _on_rows(reviewed: Reviewed, rest: Reviewed, disagree: tuple[str, ...]) -> Iterator[Note]:
    if disagree:
        text = f"The two answers differ by more than their errors: {', '.join(disagree)}."
        yield Note("contradiction", text)
    found = len(rest.table.strata.get(POSITIVE, ()))
    if found < FEW_POSITIVES:
        yield Note("small_sample", f"Reviews found {found} positives only: they refute little.")
    yield reviewed.assumption
    yield Note(
        "identifiability",
        f"Laws are compared in {N_BLOCKS} blocks of the score: within a block selection may be stronger.",
    )
