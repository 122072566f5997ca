"""Notes: what was assumed (`Evidence.assumption` has the words), what is thin, refuted or undefined."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from halftruth._errors import InputError, Note, bare, call
from halftruth._registry import headline
from halftruth.evidence import Evidence
from halftruth.inference._requests import ModelRows, Request
from halftruth.measure._arithmetic import NOTHING
from halftruth.measure._score_measure import ScoreMeasure
from halftruth.metrics._record import Metric
from halftruth.results._estimate import Estimate, figure
from halftruth.results._standing import SHOWN
from halftruth.table._score_table import NEGATIVE, POSITIVE, SOFT, UNLABELED
from halftruth.table._strata import StratumRows

__all__ = ["MATTERS", "bias_bound", "compressed", "on_evidence", "on_prior", "on_resamples", "on_row"]
__all__ += ["NOTHING_HANGS", "USUAL", "on_selection"]

FEW_POSITIVES = 20
FEW_EFFECTIVE = 300  # rows of unequal weights
FEW_REVIEWS = 50  # in effect: below, intervals of rates held the truth less often than they say
FEW_SOFT = 30  # positives that soft labels add up to
RARE, HARDLY_FOUND = 0.01, 0.1  # share of positives, and average precision
USUAL = 1.5  # selection at which a result is read where none was granted, to show what hangs on it
NOTHING_HANGS = 1e-9  # what selection moves less than this, as a share that was given, it does not move
FEWEST_RESAMPLES = 40  # below this a 95% interval reaches beyond what was drawn
MATTERS = 0.05  # of an interval's width: what compression changes below that is not worth a note


def on_evidence(evidence: Evidence, *, by_default: bool) -> Iterator[Note]:
    """What the correction rests on, and what is thin."""
    if evidence.assumption:
        yield evidence.assumption
    yield from _on_few_rows(evidence)
    measure = evidence.measure()
    if by_default and not measure.bounded:
        low, high = measure.span
        yield Note(
            "undefined",
            f"Scores run from {low:g} to {high:g}, so they are no probabilities: "
            f"brier, log_loss and calibration_error are left out.",
        )
    grid = evidence.table.grid
    if grid is not None and not evidence.bins_are_certified:
        text = f"Rows were joined to bins ({grid}); with known negatives no bound on that is certified."
        yield Note("histogram", text)
    for name in measure.empty_classes:
        yield Note("undefined", f"No {name} case: metrics that need one are undefined.")
    yield from evidence.remarks()


def _on_few_rows(evidence: Evidence) -> Iterator[Note]:
    """Where `make interval-study` found intervals that hold the truth too seldom."""
    known, texts = evidence.table.strata.get(POSITIVE), []
    if evidence.lone_positive:
        texts.append("One known positive says nothing of its own error: there are no intervals.")
    elif known is not None and len(known) < FEW_POSITIVES:
        few = f"Only {len(known)} known positive(s)"
        if evidence.multiplied:
            few = f"Reviews found only {len(known)} positive(s)"
        texts.append(f"{few}: intervals are rough and may be too narrow.")
    elif evidence.multiplied and (in_effect := evidence.measure().size) < FEW_REVIEWS:
        texts.append(
            f"Some reviews stand for far more rows than others: all weigh as {in_effect:.3g} even ones, and "
            "intervals of rates may be too narrow."
        )
    elif known is not None and (known.weight is not None or evidence.propensity_given):
        (in_effect,) = evidence.table.support.strata[POSITIVE].in_effect(soft=False) or [0.0]
        if in_effect < min(FEW_EFFECTIVE, 0.98 * len(known)):
            texts.append(
                f"The known positives have unequal weights, {in_effect:.3g} rows in effect, and the heaviest "
                "may not have been seen: 95% intervals of recall and ROC AUC held the truth in 85 to 95% of "
                "simulations."
            )
    soft = evidence.table.strata.get(SOFT)
    if soft is not None and (n := float(evidence.measure().positives)) < FEW_SOFT:
        texts.append(f"The labels add up to {n:.3g} positives: intervals are rough and may be too narrow.")
    for text in texts:
        yield Note("small_sample", text)


def on_selection(evidence: Evidence, requests: Sequence[Request]) -> Iterator[Note]:
    """How far the first number hangs on the known positives being a random sample, where that is taken."""
    if evidence.population is None or evidence.selection.gamma > 1 or evidence.lone_positive:
        return
    told_first = headline(r.label for r in requests)
    ordered = sorted(requests, key=lambda r: r.label != told_first)
    # Without a prior the first that has a value all the same.
    valued = (r for r in ordered if not r.is_distance and not np.isnan(r.at(evidence.measure())))
    request = next(valued, None)
    if request is None:
        return
    first = request.label
    try:
        extremes = evidence.with_selection(USUAL).selection.extremes
    except InputError:  # what else was given leaves no room for it
        return
    laws = tuple(replace(evidence.scenario, extreme=extreme) for extreme in extremes)
    values = ModelRows(evidence, evidence.table.support).exact([request], laws)[request]
    low, high = np.sort(np.clip(values, *request.limits))
    if high - low < NOTHING_HANGS:
        return
    what = (
        f"the propensities off by a factor of up to {USUAL:g} at some scores"
        if evidence.propensity_given
        else f"positives of some scores up to {USUAL:g} times as likely to be known as the average one, or "
        "as unlikely"
    )
    yield Note(
        "selection",
        f"Were {what}, {first} would be {figure(low)} to {figure(high)}, sampling error "
        f"apart ({call(f'selection={USUAL:g}', f'--selection {USUAL:g}')}).",
    )


def on_resamples(n: int) -> Iterator[Note]:
    """Whether resamples are too few for intervals."""
    if 0 < n < FEWEST_RESAMPLES:
        text = f"Only {n} resample(s): intervals are rough. Pass {bare('n_resamples')} of 1000 or more, or 0."
        yield Note("interval", text)


def on_prior(evidence: Evidence, identified: tuple[float, float] | None) -> Iterator[Note]:
    """Where the prior came from, and whether the evidence, by the 99% range it identifies, contradicts it."""
    yield from _on_estimates(evidence)
    population, of_prior = evidence.population, evidence.prior.population
    if population is not None and of_prior not in (None, population):
        share = "α, of the unlabeled sample" if of_prior == "unlabeled" else "π, of all rows"
        yield Note(
            "prior",
            f"The prior's estimate is {share}; it was converted to this population by π n = ρ n_P + α n_U.",
        )
    alpha = evidence.measure().alpha
    if alpha is not None and not -1e-12 <= alpha <= 1 + 1e-12:
        yield Note(
            "refuted",
            f"The prior's estimate puts a share of {alpha:.4g} positives among the unlabeled, which the "
            f"counts do not allow: it is too {'small' if alpha < 0 else 'large'} for this table.",
        )
    if identified is None:
        return
    low, high = identified
    remedy = "leave them out" if population == "unlabeled" else "leave their label empty"
    negatives = f"that the known negatives are a random sample of the negatives (if not, {remedy})"
    suspect = "the propensities" if evidence.propensity_given else "the confidences"
    if evidence.values_are_estimated:
        suspect += ", which should be estimated with this prior"
    suspect = negatives if NEGATIVE in evidence.table.strata else suspect
    ends = evidence.prior_ends()
    if not ends:
        text = f"The prior is identified by the evidence itself: {low:.4g} to {high:.4g} (99%)."
        yield Note("prior", text)
    elif ends[1] < low or ends[0] > high:
        yield Note(
            "refuted",
            f"The prior given ({evidence.measure().prior:.4g}) is refuted: the evidence itself puts it "
            f"between {low:.4g} and {high:.4g} (99%). At fault is the prior, or {suspect}.",
        )
    elif evidence.prior.is_range and not low <= evidence.measure().prior <= high:
        yield Note(
            "partly_refuted",
            f"The evidence itself puts the prior between {low:.4g} and {high:.4g} (99%), beside the middle "
            f"of the range given, where values are read. Narrow it, or doubt {suspect}.",
        )


def _on_estimates(evidence: Evidence) -> Iterator[Note]:
    """How shares were estimated, and what that rests on."""
    for name, share in (("prior", evidence.prior.estimate), ("purity", evidence.purity.estimate)):
        if share is None or not share.assumption:
            continue
        symbol = "ρ" if name == "purity" else "α" if share.population == "unlabeled" else "π"
        condition = "if what it assumes holds, " if share.status == "not identified" else ""
        yield Note(
            "prior",
            f"The {name} was estimated ({share.method}): {symbol} = {share.value:.4g}, {condition}"
            f"{share.low:.4g} to {share.high:.4g}.",
        )
        yield from share.notes or (Note("assumption", f"It assumes that {share.assumption}."),)


def on_row(
    request: Request, measure: ScoreMeasure, estimate: Estimate, *, reviewed: bool = False
) -> tuple[Note, ...]:
    """What happened to one metric."""
    metric = request.metric
    if metric is not None:
        return tuple(_on_metric(metric, request, measure, estimate, reviewed=reviewed))
    if len(estimate.selected) > 1 and not request.counts_rows:
        return (
            Note("selection", "over selection its interval holds if it only rises or falls with recall."),
        )
    return ()


def _on_metric(
    metric: Metric, request: Request, measure: ScoreMeasure, estimate: Estimate, *, reviewed: bool
) -> Iterator[Note]:
    known = measure.unidentified is None
    signed = known and min(float(measure.positives), float(measure.negatives)) < 0
    if signed and metric.undefined and np.isnan(estimate.value):
        yield Note("undefined", f"undefined: {metric.undefined}.")
    if request.of_margins and measure.bounded:
        yield Note(
            "remark",
            "all scores lie in [0, 1], and were read as margins, such as logits. If they are "
            "probabilities, pass loss='log' or 'brier'.",
        )
    beyond = abs(estimate.value - np.clip(estimate.value, *metric.limits)) >= SHOWN
    if beyond or not estimate.possible:
        yield _on_impossible(metric, estimate, signed=signed, reviewed=reviewed)
    judges_itself = metric.name == "average_precision" and known and measure.own is NOTHING
    if judges_itself and measure.prior < RARE and estimate.value < HARDLY_FOUND:
        text = (
            "of rare positives that are hardly found it is a little too high; 95% intervals held the truth in"
        )
        yield Note("bias", f"{text} 88% of simulations.")
    width = estimate.high - estimate.low
    if estimate.compression is not None and not estimate.compression <= MATTERS * width + 1e-9:
        yield compressed(estimate.compression)
    if request.inflated:
        yield Note("bias", "noise inflates the value; the interval allows for that and may lie below it.")
    if len(estimate.selected) > 1:
        if metric.selection == "unknown":
            yield Note("selection", "nothing bounds what selection may change in it: all is possible.")
        elif metric.distance:
            yield Note("selection", "over selection its interval is an outer bound, wider than need be.")
    replicates = estimate.replicates
    undefined = 0 if replicates is None else int(np.isnan(replicates).sum())
    if replicates is not None and 0 < undefined < replicates.size:
        text = f"{undefined} of {replicates.size} resamples leave it undefined and were left out."
        yield Note("interval", text)


def _on_impossible(metric: Metric, estimate: Estimate, *, signed: bool, reviewed: bool) -> Note:
    limits = "[{:g}, {:g}]".format(*metric.limits)
    if not estimate.possible:
        given = (
            "a reviewer or the chances of review are"
            if reviewed
            else "the prior, the purity or the sampling is"
        )
        why = f"{given} not as given, or by rare noise"
        return Note("impossible", f"leaves {limits}, what is possible: {why}.")
    if signed and metric.name != "prevalence":
        return Note("interval", "noise makes a class negative: read the interval alone.")
    text = f"noise carries it out of {limits}, if what was given is right: read it as"
    return Note("interval", f"{text} {estimate.shown[0]:g}.")


def compressed(bound: float) -> Note:
    """What a bound on compression means."""
    if np.isinf(bound):
        return Note("histogram", "no bound is known on what joining rows to bins changed.")
    return Note("histogram", f"joining rows to bins changed it by {bound:.2g} at most.")


DESIGN = Note(
    "theory",
    "No bound from theory: it holds for clean positives and unlabeled, two samples of rows without weights, "
    "and a prior that is one number.",
)
PLAIN = Note("theory", "No bound from theory: it holds for the plug-in error with norm 1.")
FEW = Note(
    "theory", "No bound from theory: with bins of equal mass it needs two unlabeled rows for each bin."
)


def bias_bound(
    request: Request, evidence: Evidence, lipschitz: float, level: float
) -> tuple[float | None, Note | None]:
    """With probability ``level`` a calibration error lies no farther from the true one; a note to it.

    From positives and unlabeled, by the first theorem of `halftruth.theory`, where scores have a density and
    the frequency of positives rises with the score no faster than ``lipschitz``. Of other metrics nothing is
    said.
    """
    if request.metric is None or request.metric.name != "calibration_error":
        return None, None
    parameters = request.metric.with_defaults(request.parameters)
    if parameters["norm"] != 1 or parameters["debias"]:
        return None, PLAIN
    if not _as_assumed(evidence):
        return None, DESIGN
    n_bins = evidence.measure().number_of_bins(parameters["n_bins"])
    binning, rows = parameters["binning"], evidence.table.strata
    if binning == "mass" and len(rows[UNLABELED]) < 2 * n_bins:
        return None, FEW
    from halftruth import theory

    assert evidence.prior.value is not None
    bound = theory.bias_bound(
        len(rows[POSITIVE]),
        len(rows[UNLABELED]),
        evidence.prior.value,
        n_bins,
        lipschitz=lipschitz,
        binning=binning,
        confidence_level=level,
    )
    within = f"by theory it lies within {float(bound):.3g} of the true one, the slope being as granted."
    return float(bound), Note("theory", within if bound.informative else bound.note)


def _as_assumed(evidence: Evidence) -> bool:
    if evidence.population != "unlabeled":
        return False
    rows, prior, purity = evidence.table.strata, evidence.prior, evidence.purity
    plain = all(isinstance(x, StratumRows) and x.is_plain for x in rows.values()) and NEGATIVE not in rows
    known = prior.value is not None and not prior.is_range and prior.replicates is None
    plain = plain and evidence.selection.gamma == 1
    return plain and known and purity.value == 1 and not purity.is_range
