"""Which model is better: differences with intervals, and whether the answer hangs on the prior."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from numbers import Integral
from typing import Any

import numpy as np

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, Note, arg, is_refuted
from halftruth._registry import headline
from halftruth.evaluation._estimation import check_stratified
from halftruth.evaluation._evaluate import evaluate
from halftruth.evidence import Evidence, as_evidence
from halftruth.inference import _notes as remarks
from halftruth.inference._influence import identified_range
from halftruth.inference._model_difference import Match
from halftruth.inference._prior_range import Range, prior_range
from halftruth.inference._requests import ModelRows, Request, read_requests, thresholds_of
from halftruth.prior._belief import Belief
from halftruth.results._comparison import Comparison, Difference
from halftruth.results._estimate import Evaluation, Origin, Pages, figure

__all__ = ["compare"]

MAX_ATOMS = 128
"""Distinct scores of each model on which rows are drawn for both: pairs of these are the cells."""
JUDGE = ("sensitivity", "specificity")  # of whoever reviewed the rows, where somebody did
ONE_NUMBER = "The same prior was given for all samples: it is taken to hold in each."
INFLATED = "{}: noise inflates the values; intervals correct for that and may not hold their difference."


def compare(
    models: Mapping[str, Evidence],
    metrics: str | Iterable[Any] | Mapping[str, Any] | None = None,
    *,
    paired: bool = True,
    threshold: float | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 2000,
    rng: int | np.random.Generator = 0,
    stratified: bool | None = None,
) -> Comparison:
    """Differences between models, each with its interval, for every metric and every pair.

    Parameters
    ----------
    models : {name: evidence}
        At least two, of one kind. Of the same cases they have one prior and purity; where each prior was
        estimated from its own scores, all take the one of the model whose scores say most of it. Of
        independent samples, such as groups, each may have its own. Of reviewed cases, the models have the
        same labels and the same chances of a review; of independent samples, each its own.
    metrics, threshold, confidence_level, n_resamples, rng, stratified
        As in `evaluate`; the threshold is a number, and is not chosen by the rows.
    paired : bool
        True: the models scored the same cases, in the same order within each stratum, and rows are drawn
        together: errors that the models share cancel. False: the samples are independent, each with a prior
        of its own: a range, or none, leaves it open in each, and intervals are unions over all pairs of
        priors; one number is taken to hold in each.

    Returns
    -------
    Comparison
        ``comparison["roc_auc"]`` is the difference of two models, first minus second; of more than two,
        ``comparison["a", "b"]["roc_auc"]``. Each has the two values, the interval of their difference and,
        of the same cases, the priors at which the order flips; ``dominant`` names a model whose curve is
        never below.

    Examples
    --------
    >>> import numpy as np, halftruth as ht
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(2000) < 0.3
    >>> good, poor = (ht.Labeled(y, rng.normal(shift * y)) for shift in (2, 1))
    >>> comparison = ht.compare({"good": good, "poor": poor}, ["roc_auc"])
    >>> comparison["roc_auc"].low > 0
    True
    """
    level = _checks.confidence_level(confidence_level)
    n_resamples = _checks.count(n_resamples, "n_resamples", least=0)
    limit = None if threshold is None else _checks.threshold(threshold)
    if paired not in (True, False):
        raise InputError(argument="paired", must="be True or False", got=repr(paired))
    evidence, of_prior = _with_one_prior(_checked(models), paired=bool(paired))
    check_stratified(stratified, *evidence.values())
    difference = _difference_of_shares(evidence)
    if paired and difference:
        raise InputError(difference)
    requests = read_requests(metrics, [e.measure() for e in evidence.values()], limit)
    spans = {name: prior_range(e, level, thresholds_of(requests)) for name, e in evidence.items()}
    told = list(_notes(evidence, spans, metrics is None))
    notes = [*of_prior, *(note for note, _ in told)]
    if paired:
        _refuse_open_rows(evidence, spans)
        spans = dict.fromkeys(spans, _shared_range(list(spans.values())))
    if metrics is None and paired:  # the same rows have the same share of positives
        requests = tuple(request for request in requests if request.label != "prevalence")
    # Rates have rows of their own, but for those of mixed estimates and of reviewed rows, of which each has a
    # guess along the score: no other row moves with the threshold.
    keep: tuple[float, ...] = ()
    if any(e.multiplied for e in evidence.values()):
        keep = tuple(thresholds_of(requests))
    elif limit is not None and any(e.noise is not None for e in evidence.values()):
        keep = (limit,)
    sides = {
        name: ModelRows(e, e.table.support.coarse(MAX_ATOMS, keep).with_strata(e.multiplied))
        for name, e in evidence.items()
    }
    streams = np.random.default_rng(rng).spawn(len(sides) * (len(sides) - 1) // 2)
    pairs, unrefuted = {}, {}
    for (a, b), stream in zip(combinations(sides, 2), streams, strict=True):
        span = spans[a], spans[b]
        match = Match(sides[a], sides[b], requests, span, keep, paired=paired, stratified=stratified)
        pairs[a, b] = match.differences(n_resamples, stream, level)
        unrefuted[a, b] = match.unrefuted
    notes += _on_selection(evidence, requests, keep, level, stratified) if paired else []
    reviewed = any(e.kind == "reviewed" for e in evidence.values())
    joined = [note for rows in pairs.values() for name, row in rows.items() for note in _joined(name, row)]
    distances = [Note("bias", INFLATED.format(r.label)) for r in requests if r.is_distance]
    return Comparison(
        pairs=pairs,
        dominant=None
        if is_refuted(notes) or reviewed
        else _dominant(evidence, one_prior=paired or _one_population(evidence)),
        evidence={name: repr(e) for name, e in evidence.items()},
        paired=bool(paired),
        reviewed=reviewed,
        threshold=limit,
        unrefuted=unrefuted,
        origin=Origin(
            evidence=evidence,
            requests=requests,
            one_sample=all(e.rows_are_one_sample for e in evidence.values())
            if stratified is None
            else not stratified,
            n_resamples=n_resamples,
            # A generator has no seed to keep: one is drawn from a stream of its own, which nobody else reads.
            seed=int(rng if isinstance(rng, Integral) else streams[0].integers(2**32)),
        ),
        pages=PAGES,
        notes=tuple(dict.fromkeys([*notes, *distances, *joined])),
        subjects={} if paired else {str(note): names for note, names in told},
    )


def _on_selection(
    evidence: Mapping[str, Evidence],
    requests: tuple[Request, ...],
    keep: tuple[float, ...],
    level: float,
    stratified: bool | None,
) -> list[Note]:
    """How far the first difference of two models hangs on the known positives being a random sample."""
    first = headline(r.label for r in requests)
    request = next(r for r in requests if r.label == first)
    if any(e.population is None or e.selection.gamma > 1 or e.lone_positive for e in evidence.values()):
        return []
    (a, b), several = list(evidence)[:2], len(evidence) > 2
    try:
        sides = [evidence[name].with_selection(remarks.USUAL) for name in (a, b)]
    except InputError:  # what else was given leaves no room for it
        return []
    span = _shared_range([prior_range(e, level) for e in sides])
    rows = [ModelRows(e, e.table.support.coarse(MAX_ATOMS, keep)) for e in sides]
    match = Match(rows[0], rows[1], (request,), (span, span), keep, paired=True, stratified=stratified)
    low, high = match.over_selection(request)
    if not high - low > remarks.NOTHING_HANGS:
        return []
    of = f" of {a} and {b}" if several else ""
    text = (
        f"Were positives of some scores up to {remarks.USUAL:g} times as likely to be known as the average "
        f"one, or as unlikely, the difference of {first}{of} would be {figure(low)} to {figure(high)}, "
        "sampling error apart."
    )
    return [Note("selection", text)]


def _checked(models: Mapping[str, Evidence]) -> dict[str, Evidence]:
    if not isinstance(models, Mapping) or len(models) < 2:
        raise InputError(
            argument="models", must="be {name: evidence} of at least two models", got=repr(models)
        )
    for name, evidence in models.items():
        as_evidence(evidence, f"models[{name!r}]")
    (first, one), *others = models.items()
    for name, other in others:
        if other.kind != one.kind:
            raise InputError(f"{first!r} and {name!r} are different kinds of evidence: {one!r}, {other!r}.")
    named = {str(name): evidence.to_host() for name, evidence in models.items()}
    if len(named) < len(models):
        raise InputError(argument="models", must="have different names", got=list(models))
    return named


def _with_one_prior(
    models: dict[str, Evidence], *, paired: bool
) -> tuple[dict[str, Evidence], tuple[Note, ...]]:
    """The same cases have one prior: of the models' own estimates, that of the scores that say most."""
    priors = [evidence.prior for evidence in models.values()]
    if not paired:
        return models, (Note("prior", ONE_NUMBER),) if _one_number(priors) else ()
    estimated = all(
        evidence.population is not None and getattr(evidence.prior.estimate, "upper", None) is not None
        for evidence in models.values()
    )
    if not estimated or len({prior.population for prior in priors}) > 1:
        return models, ()
    if all(prior.equals(priors[0]) for prior in priors):
        return models, ()
    best = min(models, key=lambda name: _left_open(models[name]))
    noisy = all(evidence.purity.estimate is not None for evidence in models.values())
    prior, purity = models[best].prior.estimate, models[best].purity.estimate
    shared = {
        name: evidence.with_shares(prior, purity if noisy else evidence.purity.as_given())
        for name, evidence in models.items()
    }
    what = "The prior and the purity are" if noisy else "The prior is"
    text = f"{what} one for all models: estimated from {best!r}, whose scores say most of it."
    return shared, (Note("prior", text),)


def _left_open(evidence: Evidence) -> float:
    """How much the scores leave open of the prior that was estimated from them."""
    estimate = evidence.prior.estimate
    if estimate is None or estimate.upper is None or not evidence.scores_bound_prior:
        low, high = evidence.prior.ends()
        return high - low
    return estimate.upper


def _difference_of_shares(models: Mapping[str, Evidence]) -> str:
    """An error's text on the first model with another population, prior or purity than the first; or ""."""
    (first, one), *others = models.items()
    for name, other in others:
        for share in ("population", "prior", "purity", "selection", *JUDGE):
            a, b = (getattr(of, share, None) for of in (one, other))
            if not (a.equals(b) if isinstance(a, Belief) and isinstance(b, Belief) else a == b):
                why = "were reviewed once" if share in JUDGE else "are of one population"
                return (
                    f"{first!r} and {name!r} have different {arg(share)}. The same cases {why}: give both "
                    f"the same, or pass paired=False if each has cases of its own."
                )
    return ""


def _refuse_open_rows(models: Mapping[str, Evidence], spans: Mapping[str, Range]) -> None:
    """Raise where nobody could look at some rows: a difference is farthest where the models disagree on them.

    Where each model has its own extremes, both cannot be at once.
    """
    for name, evidence in models.items():
        if evidence.multiplied and spans[name].unknown:
            raise InputError(
                f"{name!r} has rows whose class nobody could tell: their chance of a review is 0, or their "
                "label is missing. What they are is the same for all models, and no interval is known for "
                f"the difference over all that they could be. Evaluate each with {arg('evaluate')}, or "
                "compare the other rows alone."
            )


def _one_number(shares: Iterable[Belief]) -> bool:
    """Whether all are the same number, and no range or estimate."""
    first, *others = (share.as_given() for share in shares)
    return isinstance(first, float) and all(other == first for other in others)


def _one_population(models: Mapping[str, Evidence]) -> bool:
    """Whether independent samples were said to have the same share of positives."""
    one = next(iter(models.values()))
    return _one_number([one.prior]) and _one_number([one.purity]) and not _difference_of_shares(models)


def _shared_range(ranges: list[Range]) -> Range:
    """The scenarios of all models: those that no model's scores refute."""
    narrowest = min(ranges, key=lambda span: max((s.prior or 0.0) for s in span.scenarios))
    # A range that was given has the same scenarios for all; each model may refute another part of it.
    kept = [span.unrefuted for span in ranges if span.unrefuted is not None]
    return replace(narrowest, unrefuted=min(kept, key=len, default=None))


def _notes(
    evidence: Mapping[str, Evidence], spans: Mapping[str, Range], by_default: bool
) -> Iterator[tuple[Note, tuple[str, ...]]]:
    """What the models' evidence has to say, and whose; with the names where it is not said of all."""
    notes: dict[Note, list[str]] = {}
    for name, e in evidence.items():
        coarse = e.table.support.coarse(MAX_ATOMS)
        of_prior = remarks.on_prior(e, identified_range(e, coarse, one_sample=e.rows_are_one_sample))
        for note in (*remarks.on_evidence(e, by_default=by_default), *spans[name].notes, *of_prior):
            notes.setdefault(note, []).append(name)
    for note, names in notes.items():
        models = tuple(dict.fromkeys(names))
        yield note if len(models) == len(evidence) else note.about(", ".join(models)), models


def _joined(name: str, row: Difference) -> Iterator[Note]:
    """What joining rows to bins may have changed, where it matters."""
    if row.compression is not None and not row.compression <= remarks.MATTERS * (row.high - row.low) + 1e-9:
        yield remarks.compressed(row.compression).about(name)


def _dominant(evidence: Mapping[str, Evidence], *, one_prior: bool) -> str | None:
    """The model whose ROC curve is nowhere below that of another.

    Where noise makes that curve turn back, the one that finds at least as many positives at every size of the
    selection, which is the same at every prior that the models have in common.
    """
    measures = {name: e.measure() for name, e in evidence.items()}
    roc = all(measure.unsigned for measure in measures.values())
    if any(measure.shapeless for measure in measures.values()) or not (roc or one_prior):
        return None
    sweeps = {name: measure.sweep for name, measure in measures.items()}
    curves = {
        name: (sweep.fpr if roc else sweep.predicted / sweep.total, sweep.tpr)
        for name, sweep in sweeps.items()
    }
    x = np.unique(np.concatenate([curve[0] for curve in curves.values()]))
    heights = {name: _limits_at(x, *curve) for name, curve in curves.items()}
    best = np.max(list(heights.values()), axis=0)
    names = [name for name, height in heights.items() if (height >= best - 1e-12).all()]
    return names[0] if len(names) == 1 else None


def _limits_at(x: Vector, x_of: Vector, y_of: Vector) -> Vector:
    """Where a line comes to and where it goes on, at each x; they differ where it rises upright."""
    return np.concatenate([np.interp(-x, -x_of[::-1], y_of[::-1]), np.interp(x, x_of, y_of)])


# --- The page -------------------------------------------------------------------------------------------


def _page(comparison: Comparison, title: str) -> str:
    """The models, each evaluated by itself as it was compared, and their differences."""
    from halftruth.evaluation import _page_data

    results = _evaluations(comparison)
    assert comparison.origin is not None  # or there are no evaluations
    one_population = comparison.paired or _one_population(comparison.origin.evidence)
    by = "model" if comparison.paired else "sample"
    return _page_data.page(results, title=title, comparison=comparison, one_population=one_population, by=by)


def _preview(comparison: Comparison) -> str:
    from halftruth.evaluation import _page_data

    return _page_data.preview(comparison)


def _evaluations(comparison: Comparison) -> dict[str, Evaluation]:
    origin = comparison.origin
    if origin is None:
        raise InputError(f"This comparison no longer holds its evidence. Make it anew with {arg('compare')}.")
    as_they_came = origin.one_sample == all(e.rows_are_one_sample for e in origin.evidence.values())
    return {
        name: evaluate(
            evidence,
            {request.label: request.call for request in origin.requests},
            threshold=comparison.threshold,
            confidence_level=comparison.confidence_level,
            n_resamples=origin.n_resamples,
            rng=origin.seed,
            stratified=None if as_they_came else not origin.one_sample,
        )
        for name, evidence in origin.evidence.items()
    }


def _tipping(comparison: Comparison, metric: str | None, pair: tuple[str, str] | None, **how: Any) -> float:
    from halftruth.evaluation._tipping import tipping_of_order

    return tipping_of_order(comparison, compare, metric, pair, **how)


PAGES: Pages[Comparison] = Pages(page=_page, preview=_preview, tipping=_tipping)
