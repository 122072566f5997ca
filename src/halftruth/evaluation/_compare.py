"""Which model is better: differences with intervals, and whether the answer hangs on the prior."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from numbers import Integral
from typing import Any

import numpy as np

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, Note, arg
from halftruth.evaluation._evaluate import evaluate
from halftruth.evidence import Evidence, as_evidence
from halftruth.inference import _notes as remarks
from halftruth.inference._influence import identified_range
from halftruth.inference._model_difference import Match, is_distance
from halftruth.inference._prior_range import Range, prior_range
from halftruth.inference._requests import ModelRows, read_requests
from halftruth.prior._belief import Belief
from halftruth.results._comparison import Comparison, Difference
from halftruth.results._estimate import Evaluation, Origin, Pages

__all__ = ["compare"]

MAX_ATOMS = 128
"""Distinct scores of each model on which rows are drawn for both: pairs of these are the cells."""
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
        At least two, of one kind and with the same prior and purity. Where each prior was estimated from its
        own scores, of the same cases, all take the one of the model whose scores say most of it.
    metrics, threshold, confidence_level, n_resamples, rng, stratified
        As in `evaluate`.
    paired : bool
        True: the models scored the same cases, in the same order within each stratum, and rows are drawn
        together: errors that the models share cancel. False: the samples are independent.

    Returns
    -------
    Comparison
        ``comparison["roc_auc"]`` is the difference of two models, first minus second; of more than two,
        ``comparison["a", "b"]["roc_auc"]``. Each has the two values, the interval of their difference and
        the priors at which the order flips; ``dominant`` names a model whose curve is never below.

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
    if stratified not in (None, True, False):
        raise InputError(argument="stratified", must="be True, False or None", got=repr(stratified))
    if paired not in (True, False):
        raise InputError(argument="paired", must="be True or False", got=repr(paired))
    evidence, of_prior = _with_one_prior(_checked(models), paired=bool(paired))
    _refuse_different(evidence)
    shared = _shared_range(evidence, level)
    requests = read_requests(metrics, [e.measure() for e in evidence.values()], limit)
    if metrics is None and paired:  # the same rows have the same share of positives
        requests = tuple(request for request in requests if request.label != "prevalence")
    keep = () if limit is None else (limit,)
    sides = {name: ModelRows(e, e.table.support.coarse(MAX_ATOMS, keep)) for name, e in evidence.items()}
    streams = np.random.default_rng(rng).spawn(len(sides) * (len(sides) - 1) // 2)
    pairs = {}
    for (a, b), stream in zip(combinations(sides, 2), streams, strict=True):
        match = Match(sides[a], sides[b], requests, shared, keep, paired=paired, stratified=stratified)
        pairs[a, b] = match.differences(n_resamples, stream, level)
    joined = [note for rows in pairs.values() for name, row in rows.items() for note in _joined(name, row)]
    distances = [Note("bias", INFLATED.format(r.label)) for r in requests if is_distance(r)]
    return Comparison(
        pairs=pairs,
        dominant=_dominant(evidence),
        evidence={name: repr(e) for name, e in evidence.items()},
        paired=bool(paired),
        threshold=limit,
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
        notes=tuple(
            dict.fromkeys([*of_prior, *_notes(evidence, level, metrics is None), *distances, *joined])
        ),
    )


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
    estimated = all(
        evidence.population is not None and getattr(evidence.prior.estimate, "upper", None) is not None
        for evidence in models.values()
    )
    if not paired or not estimated or len({prior.population for prior in priors}) > 1:
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


def _refuse_different(models: Mapping[str, Evidence]) -> None:
    (first, one), *others = models.items()
    for name, other in others:
        for share in ("population", "prior", "purity"):
            a, b = getattr(one, share), getattr(other, share)
            if not (a.equals(b) if isinstance(a, Belief) else a == b):
                estimated = all(isinstance(x, Belief) and x.estimate is not None for x in (a, b))
                why = ": it was estimated from each one's own cases" if estimated else ""
                raise InputError(
                    f"{first!r} and {name!r} have different {arg(share)}{why}. Models are compared on one "
                    "population: give both the same."
                )


def _shared_range(evidence: Mapping[str, Evidence], level: float) -> Range:
    """The scenarios of all models: without a prior, those that no model's scores refute."""
    ranges = [prior_range(e, level) for e in evidence.values()]
    return min(ranges, key=lambda span: max((s.prior or 0.0) for s in span.scenarios))


def _notes(evidence: Mapping[str, Evidence], level: float, by_default: bool) -> Iterator[Note]:
    """What any of the models' evidence has to say."""
    for e in evidence.values():
        yield from remarks.on_evidence(e, by_default=by_default)
        yield from prior_range(e, level).notes
        coarse = e.table.support.coarse(MAX_ATOMS)
        yield from remarks.on_prior(e, identified_range(e, coarse, one_sample=e.rows_are_one_sample))


def _joined(name: str, row: Difference) -> Iterator[Note]:
    """What joining rows to bins may have changed, where it matters."""
    if row.compression is not None and not row.compression <= remarks.MATTERS * (row.high - row.low) + 1e-9:
        yield remarks.compressed(row.compression).about(name)


def _dominant(evidence: Mapping[str, Evidence]) -> str | None:
    """The model whose ROC curve is nowhere below that of another.

    Where noise makes that curve turn back, the one that finds at least as many positives at every size of the
    selection, which is the same at every prior.
    """
    measures = {name: e.measure() for name, e in evidence.items()}
    if any(measure.shapeless for measure in measures.values()):
        return None
    roc = all(measure.unsigned for measure in measures.values())
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

    return _page_data.page(_evaluations(comparison), title=title, comparison=comparison, by="model")


def _preview(comparison: Comparison) -> str:
    from halftruth.evaluation import _page_data

    return _page_data.preview(comparison)


def _evaluations(comparison: Comparison) -> dict[str, Evaluation]:
    origin = comparison.origin
    if origin is None:
        raise InputError(f"This comparison no longer holds its evidence. Make it anew with {arg('compare')}.")
    return {
        name: evaluate(
            evidence,
            {request.label: request.call for request in origin.requests},
            threshold=comparison.threshold,
            confidence_level=comparison.confidence_level,
            n_resamples=origin.n_resamples,
            rng=origin.seed,
            stratified=not origin.one_sample,
        )
        for name, evidence in origin.evidence.items()
    }


PAGES: Pages[Comparison] = Pages(page=_page, preview=_preview)
