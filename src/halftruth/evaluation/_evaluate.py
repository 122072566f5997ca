"""The daily call: evidence in, true metrics with honest intervals out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, replace
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np

from halftruth import _checks
from halftruth._errors import InputError, arg, bare, is_refuted
from halftruth.evaluation._chosen_threshold import Choice, ChosenRequest, ChosenRows
from halftruth.evaluation._estimation import Estimation, check_stratified
from halftruth.evidence import Evidence, as_evidence
from halftruth.inference import _notes as remarks
from halftruth.inference._influence import identified_range
from halftruth.inference._notes import bias_bound
from halftruth.inference._prior_range import prior_range
from halftruth.inference._requests import ALPHA, PRIOR, ModelRows, read_requests, thresholds_of
from halftruth.results._estimate import Evaluation, Origin, Pages
from halftruth.results._intervals import METHODS
from halftruth.table._score_table import ScoreTable
from halftruth.table._support import Support

__all__ = ["PAGES", "evaluate"]


def evaluate(
    evidence: Evidence,
    metrics: str | Iterable[Any] | Mapping[str, Any] | None = None,
    *,
    threshold: float | str | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 2000,
    rng: int | np.random.Generator = 0,
    method: str | None = None,
    stratified: bool | None = None,
    lipschitz: float | None = None,
) -> Evaluation:
    """Metrics of a classifier from any evidence, each with its interval.

    Parameters
    ----------
    evidence : Labeled, SoftLabeled, PositiveUnlabeled or PositiveConfidence
    metrics : names, callables or {label: name or callable}, optional
        Names are those of the registry. A callable takes a ScoreMeasure and returns a number, e.g.
        ``partial(ht.partial_auc, max_fpr=0.1)``. By default prevalence, roc_auc and average_precision;
        brier, log_loss and calibration_error where all scores lie in [0, 1]; and precision, recall,
        fpr, f1, mcc and accuracy where a threshold is given.
    threshold : float or str, optional
        On the scale of the scores. Or what it is chosen for: "precision>=0.9", "recall>=0.8" and "fpr<=0.05"
        hold in the population with the confidence level (see `best_threshold`), "max f1" is the largest in
        the sample. Intervals at a threshold that was chosen account for the choice: each resample chooses
        again, and what the choice adds is taken off.
    confidence_level : float
    n_resamples : int
        Bootstrap resamples; 0 gives intervals from standard errors in closed form (DeLong's, for the AUC).
    rng : int or numpy Generator
        Same seed, same result.
    method : {"percentile", "basic", "normal", "bias-corrected", "fitted"}, optional
        The bootstrap interval; by default "percentile", and for calibration errors an envelope of two
        readings of their noise. Without resamples only "normal".
    stratified : bool, optional
        Whether stratum sizes were fixed by design. By default as the data came: two samples are drawn
        each by itself, the rows of one table together.
    lipschitz : float, optional
        How fast the frequency of positives can rise with the score, at most. Whoever grants this, and that
        scores have a density, gets `Estimate.bound` with calibration_error from positives and unlabeled:
        how far it can lie from the true one, at the confidence level (`theory.bias_bound`).

    Returns
    -------
    Evaluation

    Notes
    -----
    Resamples are those of a Bayesian bootstrap: random weights on the rows, and a part of a row more in each
    stratum for what was not seen, so that no interval is without width where nothing varies in the sample.
    Rates and budgets get half a row at either end (with labels, Jeffreys' intervals); rates are drawn on the
    two sides of their threshold alone. Averages, such as areas and losses, get a quarter of a row, half of
    one where rows have unequal weights, at a rank drawn log-evenly from both ends, and Student's quantiles.
    An interval holds its value, but for calibration errors. Distinct rows are joined to some hundreds where
    there are more, so that the cost does not grow with rows × resamples. Where the prior or the purity is a
    range, an interval is the union over it; where it is an estimate, each resample takes one of its
    replicates.

    With ``n_resamples=0`` an interval is from a standard error: of the influence of each row, of an
    estimate's replicates, and of the part of a row that was not seen. For shares that noise cannot carry out
    of [0, 1] it is Wilson's, with as many rows as give that error; else value ± t · error, cut at what is
    possible. Quantiles are Student's, of rates the normal's. What has no derivative is resampled 500 times
    all the same: calibration_error, metrics at a budget, callables of your own, rates at a threshold that
    was chosen, and areas under curves where noise makes those turn back or leave [0, 1], as from positives
    and unlabeled.

    Noise may carry a value beyond what is possible. Where its interval reaches back, it is shown cut, with
    the raw one in brackets: "1.000 (raw 1.020)"; where nothing of the interval is possible, its status is
    "impossible". Values and ends are raw as attributes, in frames and in JSON.

    Examples
    --------
    >>> import halftruth as ht
    >>> simulated = ht.simulate.GaussianClasses(prior=0.3)
    >>> evidence = simulated.positive_unlabeled(500, 5000, rng=1)
    >>> result = ht.evaluate(evidence, ["roc_auc"], n_resamples=200)
    >>> result["roc_auc"].low < simulated.truth("roc_auc") < result["roc_auc"].high
    True
    """
    evidence = as_evidence(evidence, remedy=_remedy(evidence)).to_host()
    level = _checks.confidence_level(confidence_level)
    n_resamples = _checks.count(n_resamples, "n_resamples", least=0)
    choice = Choice.of(threshold, evidence, level) if isinstance(threshold, str) else None
    limit = choice.threshold if choice else None if threshold is None else _checks.threshold(threshold)
    if method is not None:
        _checks.choice(method, "method", METHODS)
        if choice:
            raise InputError(f"{arg('method')} does not go with a threshold that is chosen. Leave one out.")
        if n_resamples == 0 and method != "normal":
            raise InputError(
                f"{arg('method', method)} needs resamples. Pass {bare('n_resamples')} > 0, or leave it out."
            )
    if lipschitz is not None:
        lipschitz = _checks.inside(
            lipschitz, "lipschitz", 0.0, np.inf, advice="Pass 1 for a calibrated model."
        )
    check_stratified(stratified, evidence)
    requests = read_requests(metrics, [evidence.measure()], limit)
    model: Callable[[Evidence, Support], ModelRows] = ModelRows
    if choice:
        requests = tuple(ChosenRequest.where_chosen(r, choice.threshold) for r in requests)
        model = partial(ChosenRows, choice=choice)
    shares = (PRIOR, ALPHA) if evidence.population is not None else (PRIOR,)
    span = prior_range(evidence, level, thresholds_of(requests))
    one_sample = evidence.rows_are_one_sample if stratified is None else not stratified
    run = Estimation(
        evidence, (*requests, *shares), span, limit, n_resamples, one_sample=one_sample, model=model
    )
    rows = run.estimates(np.random.default_rng(rng), level, method)
    if lipschitz is not None:
        for r in requests:
            bound, note = bias_bound(r, evidence, lipschitz, level)
            rows[r] = replace(rows[r], bound=bound, notes=(*rows[r].notes, *([note] if note else [])))
    return Evaluation(
        rows={request.label: rows[request] for request in requests},
        evidence=repr(evidence),
        prior=rows[PRIOR],
        alpha=rows.get(ALPHA),
        threshold=limit,
        unrefuted=span.unrefuted,
        selection=asdict(evidence.selection) if evidence.selection.gamma > 1 else None,
        origin=Origin(
            evidence={"": evidence},
            requests=requests,
            one_sample=one_sample,
            n_resamples=n_resamples,
            method=method,
            model=model,
            # A generator has no seed to keep.
            seed=int(rng) if isinstance(rng, Integral) else 0,
        ),
        pages=PAGES,
        notes=(
            *([choice.note] if choice else []),
            *remarks.on_evidence(evidence, by_default=metrics is None),
            *([] if is_refuted(span.notes) else remarks.on_selection(evidence, requests)),
            *remarks.on_resamples(n_resamples),
            *span.notes,
            *remarks.on_prior(evidence, identified_range(evidence, run.support, one_sample=one_sample)),
        ),
    )


def _remedy(given: object) -> str:
    if isinstance(given, ScoreTable):
        return "Say what a table is evidence of, e.g. PositiveUnlabeled.from_table(table, prior=…)."
    return "Wrap your arrays, e.g. Labeled(y_true, y_score)."


# Few evaluations are shown as a page, so what makes one is imported when it is asked for.


def _page(result: Evaluation, title: str) -> str:
    from halftruth.evaluation import _page_data

    return _page_data.page({"": result}, title=title)


def _preview(result: Evaluation) -> str:
    from halftruth.evaluation import _page_data

    return _page_data.preview(result)


def _tipping(result: Evaluation, metric: str, limit: float, **how: Any) -> float:
    from halftruth.evaluation._tipping import tipping_of_metric

    return tipping_of_metric(result, metric, limit, **how)


PAGES: Pages[Evaluation] = Pages(page=_page, preview=_preview, tipping=_tipping)
"""How evaluations are shown, those too that are not made by `evaluate`."""
