"""Errors of five metrics after 300 reviews, by plan and by peers: writes docs/review-study.md.

make review-study                                    everything
make review-study STUDY_ARGS="--draws 20 --out -"    fewer draws, printed
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn import metrics as sk
from tools.prior_study.markdown import number, signed, table
from tools.prior_study.settings import ROOT, say

import halftruth as ht

METRICS = ("precision", "recall", "f1", "roc_auc", "average_precision")
RATES = METRICS[:3]
N, PRIOR, KNOWN, REVIEWS, CUT, POWER = 100_000, 0.02, 0.3, 300, 0.3, 0.4
SCORES = {"calibrated": 1.0, "miscalibrated": POWER}
Values = dict[str, float]


def population(rng: np.random.Generator, prior: float, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Classes, and the chance of each row to be positive."""
    y = rng.random(n) < prior
    x = rng.normal(np.where(y, 2.0, 0.0))
    return y, 1 / (1 + np.exp(-(2 * x - 2 + np.log(prior / (1 - prior)))))


@dataclass(frozen=True, eq=False)
class Case:
    """One population and its score; ``seed`` is that of the reviews."""

    y: np.ndarray
    score: np.ndarray
    known: np.ndarray
    threshold: float
    seed: int

    def rows(self, among: np.ndarray) -> np.ndarray:
        """A plain random draw of rows."""
        return np.random.default_rng((self.seed, 1)).choice(among, REVIEWS, replace=False)

    def of_rows(self, rows: Any = slice(None), weight: np.ndarray | None = None) -> Values:
        """What scikit-learn says of these rows."""
        return metrics_of(self.y[rows], self.score[rows], self.threshold, weight)


def case(draw: int, power: float, seed: int) -> Case:
    """The same rows for every power of the score."""
    rng = np.random.default_rng((seed, draw))
    y, posterior = population(rng, PRIOR, N)
    known = y & (rng.random(N) < KNOWN)
    return Case(y, posterior**power, known, CUT**power, int(rng.integers(2**31)))


def metrics_of(y: Any, score: Any, threshold: float, weight: Any = None) -> Values:
    """All five metrics; NaN where there are none, which scikit-learn would call 0."""
    said, out = score >= threshold, dict.fromkeys(METRICS, np.nan)
    given = {"sample_weight": weight, "zero_division": np.nan}
    for name in RATES:
        out[name] = float(getattr(sk, f"{name}_score")(y, said, **given))
    if 0 < y.sum() < len(y):
        out["roc_auc"] = float(sk.roc_auc_score(y, score, sample_weight=weight))
        out["average_precision"] = float(sk.average_precision_score(y, score, sample_weight=weight))
    return out


def plain(case: Case) -> Values:
    """Random rows, known or not."""
    return case.of_rows(case.rows(np.arange(N)))


def plain_and_known(case: Case) -> Values:
    """Random rows of those that are not known; known ones stand for themselves."""
    rest, known = np.flatnonzero(~case.known), np.flatnonzero(case.known)
    weight = np.repeat([1.0, len(rest) / REVIEWS], [len(known), REVIEWS])
    return case.of_rows(np.concatenate([known, case.rows(rest)]), weight)


def planned(case: Case, names: Sequence[str] = METRICS, pu: bool = False) -> Values:
    """One plan for the named metrics, which sees the scores, or positives and unlabeled besides."""
    evidence = None
    if pu:
        evidence = ht.PositiveUnlabeled.from_labels(
            case.known.astype(int), case.score, unlabeled=0, population="all", prior="estimate"
        )
    plan = ht.plan_review(
        case.score, REVIEWS, metrics=names, evidence=evidence, threshold=case.threshold,
        known_positive=case.known, rng=case.seed,
    )  # fmt: skip
    audit = ht.Reviewed.from_plan(
        plan, case.score, case.y[plan.rows].astype(float), known_positive=case.known
    )
    cells, out = ht.confusion(audit, case.threshold), {}
    for name in names:
        out[name] = float(getattr(cells, name) if name in RATES else getattr(ht, name)(audit))
    return out


def alone(case: Case) -> Values:
    """A plan for each metric."""
    return {name: value for each in METRICS for name, value in planned(case, (each,)).items()}


PLAIN, PLAIN_KNOWN = "random rows", "random rows and known positives"
WAYS: dict[str, Callable[[Case], Values]] = {
    PLAIN: plain,
    PLAIN_KNOWN: plain_and_known,
    "halftruth, one plan": planned,
    "halftruth, one plan, PU": lambda case: planned(case, pu=True),
    "halftruth, a plan for each metric": alone,
}


def errors(draw: int, power: float, seed: int, ways: Sequence[str]) -> dict[str, list[float]]:
    """Estimate − truth of the population drawn, by way."""
    drawn = case(draw, power, seed)
    truth = drawn.of_rows()
    found = {way: WAYS[way](drawn) for way in ways}
    return {way: [value.get(name, np.nan) - truth[name] for name in METRICS] for way, value in found.items()}


Errors = dict[str, np.ndarray]


def run(power: float, draws: int, seed: int, ways: Sequence[str], jobs: int) -> Errors:
    """By way: draws × metrics."""
    found = Parallel(n_jobs=jobs)(delayed(errors)(draw, power, seed, ways) for draw in range(draws))
    return {way: np.array([each[way] for each in found]) for way in ways}


def rmse(error: np.ndarray) -> np.ndarray:
    """Over the draws that have a value."""
    return np.sqrt(np.nanmean(error**2, axis=0))


def tables(found: Errors) -> dict[str, str]:
    """RMSE, ratios, bias and what has no value, by way and metric."""
    head = ["method", *METRICS]
    root = {way: rmse(error) for way, error in found.items()}

    def of(cells: Callable[[str], Sequence[str]]) -> str:
        return table(head, [[way, *cells(way)] for way in found])

    return {
        "RMSE": of(lambda way: [number(x, 4) for x in root[way]]),
        f"RMSE as a share of that of {PLAIN}": of(
            lambda way: [number(x, 2) for x in root[way] / root[PLAIN]]
        ),
        f"RMSE as a share of that of {PLAIN_KNOWN}": of(
            lambda way: [number(x, 2) for x in root[way] / root[PLAIN_KNOWN]]
        ),
        "Mean error": of(lambda way: [signed(x) for x in np.nanmean(found[way], axis=0)]),
        "Draws without a value": of(lambda way: [str(x) for x in np.isnan(found[way]).sum(axis=0)]),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Run, write the page."""
    parser = argparse.ArgumentParser(
        prog="review-study", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--ways", nargs="+", help="words of which each method that is run has one")
    parser.add_argument("--out", default=str(ROOT / "docs" / "review-study.md"), help="- is the screen")
    given = parser.parse_args(arguments)
    start, blocks = time.perf_counter(), []
    ways = [
        way
        for way in WAYS
        if given.ways is None or way in (PLAIN, PLAIN_KNOWN) or any(word in way for word in given.ways)
    ]
    for name, power in SCORES.items():
        blocks.append(f"## {name}")
        for title, text in tables(run(power, given.draws, given.seed, ways, given.jobs)).items():
            blocks += [f"{title}:", text]
    text = "\n\n".join(blocks) + "\n"
    if given.out == "-":
        print(text)
    else:
        Path(given.out).write_text(text, encoding="utf-8")
    say(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
