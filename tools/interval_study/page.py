"""docs/intervals.md: what was drawn, a summary, what falls short, and every cell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from tools.interval_study.cells import KINDS, MAX_ROWS, Cell
from tools.interval_study.coverage import (
    AVERAGES,
    BUDGETS,
    DEFAULT_RESAMPLES,
    METRICS,
    N_RESAMPLES,
    RATES,
    Outcome,
    Tally,
)
from tools.prior_study.markdown import table, wrapped

FLOOR = 92.0
"""Coverage, in percent, below which a cell is named."""
TEXT = """\
# Coverage of the intervals

<!-- Written by make interval-study STUDY_ARGS="--draws {draws}". -->

How often do the default 95% intervals of `evaluate` hold the truth, and how wide are they?
`make interval-study` draws data sets from populations whose true metrics are known by quadrature, and
counts. This page is its result: {n_cells} cells of {draws} data sets each, so that a coverage near 95%
has a binomial error of {error:.1f} points.

## The rule

An interval is that of the percentiles of a Bayesian bootstrap: each row has a random weight, and each
stratum a part of a row more for what the sample did not show, so that no interval has a width of zero.
Rates at a threshold and metrics at a budget have half a row at either end of the scores, which for a
share of labeled rows is Jeffreys' interval. Averages over all rows (areas and losses) have a quarter of a
row, or half a row where weights are unequal, in every power of ten of ranks from the top and from the
bottom equally often, and the tails of Student's law. Without resamples (`n_resamples=0`) intervals come
from standard errors, of shares as Wilson's. Where intervals fall short below, a note of the result says so.

## What was drawn

Scores are the true probabilities P(positive | x). Negatives and positives are unit normals; the distance
of their means gives the AUC. *Heavy*: Student's law with three degrees instead. *Tied*: normals of which
five scores are left. The threshold flags about as many cases as there are positives, a share π, which is
also the budget k; `recall_at_fpr` is at 5%.

{kinds}

n_P is the number of known positives, or of those expected: of all positives in labeled rows and soft
labels, of the known ones in one table. Tables and unlabeled samples have n_P/π rows, or twice as many in
one table of which half the positives are known, but never more than {max_rows:,}: for π = 0.005 and n_P =
200 labeled and soft tables expect 100 positives, and one table, which would have 50, is left out. Data
sets with fewer than two known positives, or fewer than two negatives in labeled data, are drawn again
({n_redrawn} of {n_sets:,}), as is one table that has more known positives than its exact prior allows.
Intervals of a metric that has no value, such as the precision where nothing is flagged, are left out
({n_missing} of {n_intervals:,}).

The study makes {n_resamples} resamples where the default is {default_resamples:,}. Ends are order
statistics that leave the nominal share outside whatever their number, so that coverage is the same; the
table below has both. The calibration error has the true value 0, which {zero:.1f}% of its intervals hold;
it is not in the means.

## Summary

Coverage is in percent. *Short*: cells whose coverage is below {floor:.0f}% by more than two binomial
errors. *Width* is the mean over cells, within what is possible. *Ratio* is the mean width over that of
the narrowest rival that covers {floor:.0f}% in the same cell: of rates Clopper and Pearson's, Wilson's
and Jeffreys' intervals; of the AUC DeLong's and Newcombe's score interval (method 5). Partial labels have
no rival.

{summary}

{total}

## Rivals on labeled rows

Mean and least coverage over the cells, and the share of cells of {floor:.0f}% or more.

{rivals}

## Cells below {floor:.0f}%

All that were counted below; in bold those that are so by more than two binomial errors. The others may be
chance.

{short}

## Without resamples

Labeled rows and two samples, π = 0.02 and 0.3, normal scores: coverage and mean width of `n_resamples=0`,
beside those of resamples in the same cells.

{closed}

## As many resamples as by default

π = 0.3, AUC 0.95: coverage with {default_resamples:,} resamples, and in brackets with the {n_resamples}
of the study, on the same data sets.

{more}

## Every cell

Coverage in percent, and after the point the mean width.

{cells}
"""
KIND_TEXTS = {
    "labeled": "a table of labeled rows",
    "soft labels": "the same rows with the share of ten votes for the positive class",
    "two samples": "known positives, and unlabeled rows that are the population; π is known",
    "one table": "a table in which half the positives are known, at random; π is known",
    "weights": "two samples, in which rows above the middle of the two classes were drawn three times "
    "as often as others, and weights that undo it; π is known",
    "propensities": "a table in which positives are known with chances between 0.25 and 0.75 that grow "
    "with x; the chances of the known ones are given, π is not",
    "purity 0.9": "two samples, a tenth of whose known positives are negatives; purity and π are known",
}


def render(outcomes: Sequence[Outcome], draws: int) -> str:
    """The page."""
    tallies = [tally for outcome in outcomes for tally in outcome.default.values()]
    n_intervals = sum(len(outcome.default) for outcome in outcomes) * draws
    kinds = [kind for kind in KINDS if any(outcome.cell.kind == kind for outcome in outcomes)]
    return wrapped(
        TEXT.format(
            n_cells=len(outcomes),
            draws=draws,
            error=100 * np.sqrt(0.95 * 0.05 / draws),
            kinds="\n".join(f"- *{kind}*: {KIND_TEXTS[kind]}." for kind in kinds),
            max_rows=MAX_ROWS,
            n_redrawn=sum(outcome.n_redrawn for outcome in outcomes),
            n_sets=draws * len(outcomes),
            n_missing=n_intervals - sum(tally.n for tally in tallies),
            n_intervals=n_intervals,
            n_resamples=N_RESAMPLES,
            default_resamples=DEFAULT_RESAMPLES,
            zero=np.mean([outcome.holds_zero for outcome in outcomes]),
            floor=FLOOR,
            summary=_summary(outcomes, kinds),
            total=_total(tallies),
            rivals=_rivals(outcomes),
            short=_below(outcomes, kinds),
            closed=_closed(outcomes, kinds),
            more=_more(outcomes),
            cells="\n\n".join(_every_cell(outcomes, kinds)),
        )
    )


def is_short(tally: Tally) -> bool:
    """Whether coverage is below the floor by more than two binomial errors."""
    return tally.coverage < FLOOR - 2.0 * tally.error


def width_ratio(outcome: Outcome, metric: str) -> float | None:
    """The width over that of the narrowest rival that covers."""
    widths = [rival.width for rival in outcome.rivals.get(metric, {}).values() if rival.coverage >= FLOOR]
    return outcome.default[metric].width / min(widths) if widths else None


def _summary(outcomes: Sequence[Outcome], kinds: Iterable[str]) -> str:
    head = ["evidence", "metric", "cells", f"≥ {FLOOR:.0f}%", "short", "mean", "least", "width", "ratio"]
    rows = []
    for kind in kinds:
        for metric in METRICS:
            chosen = [o for o in outcomes if o.cell.kind == kind and metric in o.default]
            if not chosen:
                continue
            tallies = [outcome.default[metric] for outcome in chosen]
            worst = min(chosen, key=lambda outcome: outcome.default[metric].coverage)
            ratios = [ratio for o in chosen if (ratio := width_ratio(o, metric)) is not None]
            rows.append(
                [
                    *(kind, f"`{metric}`", str(len(chosen))),
                    _percent([tally.coverage >= FLOOR for tally in tallies]),
                    str(sum(map(is_short, tallies))),
                    f"{np.mean([tally.coverage for tally in tallies]):.1f}",
                    f"{worst.default[metric].coverage:.1f}: {worst.cell}",
                    _width(np.mean([tally.width for tally in tallies])),
                    f"{np.mean(ratios):.2f}" if ratios else "–",
                ]
            )
    return table(head, rows)


def _total(tallies: Sequence[Tally]) -> str:
    coverage = [tally.coverage for tally in tallies]
    return (
        f"In all {len(tallies)} cells and metrics the mean coverage is {np.mean(coverage):.1f}%; "
        f"{_percent([x >= FLOOR for x in coverage])} have {FLOOR:.0f}% or more, "
        f"and {sum(map(is_short, tallies))} are short."
    )


def _rivals(outcomes: Sequence[Outcome]) -> str:
    labeled = [outcome for outcome in outcomes if outcome.rivals]
    rows = []
    for metric in METRICS:
        for rival in labeled[0].rivals.get(metric, {}) if labeled else ():
            tallies = [outcome.rivals[metric][rival] for outcome in labeled]
            rows.append([f"`{metric}`", rival, *_means(tallies)])
        if labeled and metric in labeled[0].rivals:
            rows.append(
                [f"`{metric}`", "halftruth", *_means([outcome.default[metric] for outcome in labeled])]
            )
    return table(["metric", "interval", "mean", "least", f"≥ {FLOOR:.0f}%", "width"], rows)


def _means(tallies: Sequence[Tally]) -> list[str]:
    coverage = [tally.coverage for tally in tallies]
    return [
        *(f"{np.mean(coverage):.1f}", f"{min(coverage):.1f}", _percent([x >= FLOOR for x in coverage])),
        _width(np.mean([tally.width for tally in tallies])),
    ]


def _below(outcomes: Sequence[Outcome], kinds: Iterable[str]) -> str:
    lines = []
    for kind in kinds:
        for metric in METRICS:
            cells = [o for o in outcomes if o.cell.kind == kind and metric in o.default]
            low = sorted(
                (o for o in cells if o.default[metric].coverage < FLOOR),
                key=lambda o: o.default[metric].coverage,
            )
            if low:
                named = "; ".join(_named(outcome.cell, outcome.default[metric]) for outcome in low)
                lines.append(f"- {kind}, `{metric}`: {named}")
    return "\n".join(lines) or "None."


def _named(cell: Cell, tally: Tally) -> str:
    coverage = f"{tally.coverage:.1f}"
    law = cell.population
    shape = "" if law.shape == "normal" else f" {law.shape}"
    text = f"n_P {cell.n_positive} π {law.prior:g} AUC {law.auc:g}{shape}: {coverage}"
    return f"**{text}**" if is_short(tally) else text


def _closed(outcomes: Sequence[Outcome], kinds: Iterable[str]) -> str:
    rows = []
    for kind in kinds:
        chosen = [outcome for outcome in outcomes if outcome.cell.kind == kind and outcome.closed]
        for metric in chosen[0].closed if chosen else ():
            closed = [outcome.closed[metric] for outcome in chosen]
            resampled = [outcome.default[metric] for outcome in chosen]
            rows.append([kind, f"`{metric}`", *_means(closed), *(_means(resampled)[i] for i in (0, 3))])
    head = [
        "evidence",
        "metric",
        "mean",
        "least",
        f"≥ {FLOOR:.0f}%",
        "width",
        "mean, resampled",
        "width, resampled",
    ]
    return table(head, rows)


def _more(outcomes: Sequence[Outcome]) -> str:
    chosen = [outcome for outcome in outcomes if outcome.more_resamples]
    head = ["metric", *(f"{outcome.cell.kind}, n_P = {outcome.cell.n_positive}" for outcome in chosen)]
    rows = []
    for metric in METRICS:
        pairs = [(o.more_resamples.get(metric), o.default.get(metric)) for o in chosen]
        cells = [f"{more.coverage:.1f} ({few.coverage:.1f})" if more and few else "–" for more, few in pairs]
        if any(cell != "–" for cell in cells):
            rows.append([f"`{metric}`", *cells])
    return table(head, rows)


def _every_cell(outcomes: Sequence[Outcome], kinds: Iterable[str]) -> Iterator[str]:
    for kind in kinds:
        chosen = [outcome for outcome in outcomes if outcome.cell.kind == kind]
        for title, group in (("", ("prevalence", *AVERAGES, *BUDGETS)), (" at the threshold", RATES)):
            metrics = [metric for metric in group if metric in chosen[0].default]
            rows = [
                [*_coordinates(outcome.cell), *(_both(outcome.default[metric]) for metric in metrics)]
                for outcome in chosen
            ]
            yield f"**{kind}{title}**"
            yield table(["scores", "n_P", "π", "AUC", *(f"`{metric}`" for metric in metrics)], rows)


def _coordinates(cell: Cell) -> list[str]:
    law = cell.population
    return [law.shape, str(cell.n_positive), f"{law.prior:g}", f"{law.auc:g}"]


def _both(tally: Tally) -> str:
    return f"{tally.coverage:.0f} · {_width(tally.width)}" if tally.n else "–"


def _width(value: float) -> str:
    return f"{value:.2g}" if value < 0.1 else f"{value:.2f}"


def _percent(flags: Sequence[bool]) -> str:
    return f"{100 * np.mean(flags):.0f}%"
