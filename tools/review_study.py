"""Errors after 300 reviews, by plan and by peers, and coverage of intervals: writes docs/review-study.md.

make review-study                                            everything
make review-study STUDY_ARGS="--draws 20 --out -"            fewer draws, printed
make review-study STUDY_ARGS="--ways halftruth --out -"      without the peers
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from tools.prior_study.markdown import number, signed, table, wrapped
from tools.prior_study.settings import ROOT, say
from tools.review_coverage import CELLS, CHECKED, RESAMPLES, RIGHT, coverage, ends
from tools.review_coverage import METRICS as COVERED
from tools.review_methods import (
    ABSENT,
    CUT,
    KNOWN,
    METRICS,
    PEERS,
    PLAIN,
    PLAIN_KNOWN,
    PRIOR,
    REVIEWS,
    WAYS,
    N,
    case,
    library,
)

import halftruth as ht

SCORES = {"A calibrated score": 1.0, "A badly miscalibrated score": 0.4}  # the power of the posterior
GOAL = (0.3, 0.4, 0.4, 0.8, 0.5)  # set before the work, as shares of the RMSE of random rows

Errors = dict[str, np.ndarray]


def errors(draw: int, power: float, seed: int, ways: Sequence[str]) -> dict[str, list[float]]:
    """Estimate − truth of the population drawn, by way; NaN where there is no estimate."""
    drawn = case(draw, power, seed)
    truth = drawn.of_rows()
    found = {way: {} if library(way) in ABSENT else WAYS[way](drawn) for way in ways}
    return {way: [value.get(name, np.nan) - truth[name] for name in METRICS] for way, value in found.items()}


def run(power: float, draws: int, seed: int, ways: Sequence[str], jobs: int) -> Errors:
    """By way: draws × metrics."""
    found = Parallel(n_jobs=jobs)(delayed(errors)(draw, power, seed, ways) for draw in range(draws))
    return {way: np.array([each[way] for each in found]) for way in ways}


def mean(values: np.ndarray) -> np.ndarray:
    """Over the draws that have a value."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of methods that have no such metric
        return np.nanmean(values, axis=-2)


def rmse(error: np.ndarray) -> np.ndarray:
    """Over the draws that have a value."""
    return np.sqrt(mean(error**2))


def shares(error: np.ndarray, of: np.ndarray) -> list[str]:
    """RMSE as a share of another, ± its standard error (bootstrap of the draws, paired)."""
    rows = np.random.default_rng(0).integers(len(error), size=(400, len(error)))
    share, spread = rmse(error) / rmse(of), np.std(rmse(error[rows]) / rmse(of[rows]), axis=0)
    return [
        "–" if np.isnan(x) else f"{x:.2f}" if error is of else f"{x:.2f} ± {s:.2f}"
        for x, s in zip(share, spread, strict=True)
    ]


def of_score(found: Errors) -> list[str]:
    """Shares, RMSE, mean error and draws without a value, as tables by way and metric."""

    def of(cells: Callable[[np.ndarray], Sequence[str]], *more: Sequence[str]) -> str:
        names = {way: way + (" (absent)" if library(way) in ABSENT else "") for way in found}
        rows = [[names[way], *cells(error)] for way, error in found.items()]
        return table(["method", *METRICS], [*rows, *more])

    def missing(error: np.ndarray) -> list[str]:
        return ["–" if x == len(error) else str(x) for x in np.isnan(error).sum(axis=0)]

    return [
        f"RMSE as a share of that of {PLAIN}, ± one standard error of the simulation:",
        of(lambda error: shares(error, found[PLAIN]), ["*goal*", *(f"*{x:.2f}*" for x in GOAL)]),
        "RMSE as a share of that of random rows with the known positives:",
        of(lambda error: shares(error, found[PLAIN_KNOWN])),
        "RMSE:",
        of(lambda error: [number(x, 4) for x in rmse(error)]),
        "Mean error:",
        of(lambda error: [signed(x) for x in mean(error)]),
        "Draws without a value:",
        of(missing),
    ]


def of_cells(draws: int, jobs: int) -> str:
    """How often intervals hold the truth, in percent, a row for each cell."""
    rows = []
    for cell in CELLS:
        say(f"{cell.how}, {cell.n} reviews, prior {cell.prior:g}: {draws} intervals")
        found = np.array(Parallel(n_jobs=jobs)(delayed(ends)(cell, draw) for draw in range(draws)))
        score = "calibrated" if cell.power == 1 else "miscalibrated"
        held = (f"{100 * x:.1f}" for x in coverage(found))
        rows.append([cell.how, str(cell.n), f"{cell.prior:g}", score, *held])
    return table(["reviewed", "reviews", "prior", "score", *COVERED], rows)


INTRODUCTION = """# Errors after {reviews} reviews

<!-- Written by make review-study STUDY_ARGS="{arguments}". -->

Of {n:,} rows {prior:.0%} are positive; {known:.0%} of the positives are known, a random part of them.
Somebody may look at {reviews} rows. How far from the truth are then precision, recall and F1 at a
threshold, ROC AUC and average precision? Classes are drawn as y ~ Bernoulli({prior}), x ~ N(2y, 1). One
score is the exact P(y = 1 | x), with the threshold {cut}; the other is its power 0.4, at the same cut: the
order of the rows is the same, and the score is no chance any more. The truth is that of the {n:,} rows
drawn. Population, known positives and reviews are drawn {draws} times (seed {seed}), the same populations
for every method. {versions}

## The methods

- **{plain}**: {reviews} rows at random of all rows, scikit-learn's metrics of these. Where there is no
  value (no reviewed row is flagged, or none is positive), the draw is left out of the errors and counted in
  a table.
- **{plain_known}**: {reviews} rows at random of those not known, each with the weight of the rows it stands
  for, and the known positives with weight 1; scikit-learn's metrics with these weights.
- **ppi-python**: `ppboot`, its bootstrap for any estimator, with λ tuned as is its default. Labels of the
  same random rows; the score, read as the share of a positive, is the prediction. Each metric has its own
  call. `ppboot` returns intervals only: its point estimate follows from a percentile and a basic interval
  of one seed, and is cut to [0, 1] here. With known positives, the estimator adds them to the rows that it
  is given.
- **oasis**: adaptive importance sampling, {reviews} distinct labels for each metric: α = 1 for precision, 0
  for recall, ½ for F1; it has no other. Strata are its own choice, or 30. Known positives are in its cache
  from the start, and cost no label.
- **halftruth**: `plan_review` and `Reviewed.from_plan`, both told the known positives. One plan of
  {reviews} reviews serves all five metrics, made from the score, or from positive-unlabeled evidence
  (`prior="estimate"`). With a plan for each metric, each has its own {reviews} reviews, as with oasis."""

INTERVALS = """## Coverage

How often do the default 95% intervals of `evaluate` hold the truth of the population, in percent of
{draws} draws of 20,000 rows ({resamples} resamples)? Classes and scores are as above; the threshold flags
as many rows as there are positives. Draws in which no positive was found have no interval of some metrics,
and are left out of these. *planned*: one plan for precision, recall and AUC, made from the score alone.
*at random*: every row as likely. *planned for precision*: for that metric alone. *all above a score*: half
of the reviews are the highest scores, the others any of the rest. *chances estimated*: high scores were
looked at more often, and `Reviewed` is not told how often. *a judge who errs*: a plan, and a judge with
sensitivity {sensitivity} and specificity {specificity}, estimated from {checked} cases that were checked.
Where few positives are found, intervals of areas and losses are wider than they need be: a single positive
among the low scores, each of which stands for many rows, would move them far, and that none was found does
not exclude it."""


def versions() -> str:
    """Of the libraries that were run."""
    named = [f"{name} {version(name)}" for name in ("numpy", "scikit-learn", *PEERS) if name not in ABSENT]
    absent = f" Not installed, so absent: {', '.join(sorted(ABSENT))}." if ABSENT else ""
    return f"halftruth {ht.__version__}, {', '.join(named)}.{absent}"


def page(given: argparse.Namespace, ways: Sequence[str]) -> str:
    """Runs everything."""
    blocks = [
        INTRODUCTION.format(
            reviews=REVIEWS, n=N, prior=PRIOR, known=KNOWN, cut=CUT, draws=given.draws, seed=given.seed,
            arguments=f"--draws {given.draws} --interval-draws {given.interval_draws} --seed {given.seed}",
            versions=versions(), plain=PLAIN, plain_known=PLAIN_KNOWN,
        )
    ]  # fmt: skip
    for name, power in SCORES.items():
        say(f"{name}: {given.draws} draws")
        found = run(power, given.draws, given.seed, ways, given.jobs)
        blocks += [f"## {name}", *of_score(found)]
    if given.interval_draws:
        words = {"sensitivity": RIGHT[0], "specificity": RIGHT[1], "checked": CHECKED, "resamples": RESAMPLES}
        blocks.append(INTERVALS.format(draws=given.interval_draws, **words))
        blocks.append(of_cells(given.interval_draws, given.jobs))
    return wrapped("\n\n".join(blocks)) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run, write the page."""
    parser = argparse.ArgumentParser(
        prog="review-study", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--interval-draws", type=int, default=1000, help="0: no intervals")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--ways", nargs="+", help="words of which each method that is run has one")
    parser.add_argument("--out", default=str(ROOT / "docs" / "review-study.md"), help="- is the screen")
    given = parser.parse_args(arguments)
    start = time.perf_counter()
    words = given.ways or [""]
    ways = [way for way in WAYS if way in (PLAIN, PLAIN_KNOWN) or any(word in way for word in words)]
    text = page(given, ways)
    if given.out == "-":
        print(text)
    else:
        Path(given.out).write_text(text, encoding="utf-8")
    say(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
