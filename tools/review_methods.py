"""Populations with few known positives, and the ways to estimate metrics from a few reviews of their rows."""

from __future__ import annotations

import importlib
import io
import warnings
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from sklearn import metrics as sk
from tools.review_coverage import population

import halftruth as ht

METRICS = ("precision", "recall", "f1", "roc_auc", "average_precision")
ALPHA = {"precision": 1.0, "recall": 0.0, "f1": 0.5}  # of the weighted F-measure
RATES = tuple(ALPHA)
N, PRIOR, KNOWN, REVIEWS, CUT = 100_000, 0.02, 0.3, 300, 0.3
Values = dict[str, float]


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


def powered(case: Case, known: bool = False) -> Values:
    """ppi-python with the rows of plain review, without or with known positives; cut to [0, 1]."""
    rows = case.rows(np.flatnonzero(~case.known) if known else np.arange(N))
    alone = (plain_and_known if known else plain)(case)
    found = ppboot(case, rows, alone, known=known)
    return {name: float(np.clip(value, 0, 1)) for name, value in found.items()}


def audit(case: Case, names: Sequence[str] = METRICS, pu: bool = False) -> ht.Reviewed:
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
    labels = case.y[plan.rows].astype(float)
    return ht.Reviewed.from_plan(plan, case.score, labels, known_positive=case.known)


def planned(case: Case, names: Sequence[str] = METRICS, pu: bool = False) -> Values:
    """Point estimates."""
    reviewed = audit(case, names, pu)
    cells, out = ht.confusion(reviewed, case.threshold), {}
    for name in names:
        out[name] = float(getattr(cells, name) if name in RATES else getattr(ht, name)(reviewed))
    return out


def alone(case: Case) -> Values:
    """A plan for each metric."""
    return {name: value for each in METRICS for name, value in planned(case, (each,)).items()}


def installed(name: str) -> bool:
    """Whether a peer is there, and fit for use."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            importlib.import_module(name)
        except ImportError:
            return False
    return True


def oasis(case: Case, strata: int | None = None) -> Values:
    """For each metric its own labels, drawn as adaptive importance sampling asks for them.

    Known positives are in its cache from the start: they cost no label.
    """
    for name in ("percentile", "ptp"):  # oasis 0.1.3 takes these of a SciPy that had them
        if not hasattr(scipy, name):
            setattr(scipy, name, getattr(np, name))
    sampler_of = importlib.import_module("oasis").OASISSampler
    said, out = (case.score >= case.threshold).astype(int), {}
    options = {} if strata is None else {"stratification_n_strata": strata}
    for name, alpha in ALPHA.items():
        np.random.seed(case.seed)  # noqa: NPY002  its source of chance
        with redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sampler = sampler_of(alpha, said, case.score, lambda row: int(case.y[row]), proba=True, **options)
            sampler.cached_labels_[case.known] = 1
            sampler.sample_distinct(REVIEWS)
        out[name] = float(sampler.estimate_[-1])
    return out


def ppboot(case: Case, rows: np.ndarray, of_rows: Values, *, known: bool) -> Values:
    """The score as prediction of the class, labels of ``rows``; ``of_rows`` is what these alone say.

    With ``known`` the estimator adds the known positives to what it is given, which are then other rows.
    """
    taken, rest = np.zeros(len(case.y), dtype=bool), np.ones(len(case.y), dtype=bool)
    taken[rows] = True
    if known:
        rest &= ~case.known
    rank = np.empty(len(case.y), dtype=np.intp)
    rank[np.argsort(-case.score, kind="stable")] = np.arange(len(case.y))
    others = np.flatnonzero(rest & ~taken)
    data = (case.y[rows].astype(float), case.score[rows], case.score[others], rank[rows], rank[others])
    n_said = int((case.score >= case.threshold).sum())
    extra = rank[case.known] if known else rank[:0]
    out = {}
    for name, value in of_rows.items():
        estimator = _estimator(name, n_said, len(rank), extra, int(rest.sum()))
        out[name] = np.nan if np.isnan(value) else _point(estimator, data, case.seed)
    return out


def _point(estimator: Callable[..., float], data: tuple[np.ndarray, ...], seed: int) -> float:
    """The estimate within ppboot, which returns only intervals: q and 2θ − q, of the same q."""
    call = importlib.import_module("ppi_py").ppboot
    ends = []
    for method in ("percentile", "basic"):
        np.random.seed(seed)  # noqa: NPY002  its source of chance
        ends.append(call(estimator, *data, n_resamples=1, method=method)[0])
    return float(np.mean(ends))


def _estimator(
    name: str, n_said: int, n: int, extra: np.ndarray, n_rest: int
) -> Callable[[np.ndarray, np.ndarray], float]:
    """A metric of ranks (0 is the highest score) and shares of positives, which stand for n_rest rows."""

    def rate(rank: np.ndarray, share: np.ndarray) -> float:
        times, said = n_rest / len(rank), rank < n_said
        known = np.count_nonzero(extra < n_said)
        both, flagged = times * share[said].sum() + known, times * np.count_nonzero(said) + known
        positive = times * share.sum() + len(extra)
        return _ratio(both, ALPHA[name] * flagged + (1 - ALPHA[name]) * positive, 0.0)

    def masses(rank: np.ndarray, share: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of positives, of negatives, and the positives from the top."""
        times, rank, n_ranks = n_rest / len(rank), np.concatenate([rank, extra]), n
        weight = np.repeat([times, 1.0], [len(share), len(extra)])
        if 10 * len(rank) < n:
            ranks, rank = np.unique(rank, return_inverse=True)
            n_ranks = len(ranks)
        positive = np.bincount(rank, weight * np.append(share, np.ones(len(extra))), minlength=n_ranks)
        return positive, np.bincount(rank, weight, minlength=n_ranks) - positive, np.cumsum(positive)

    def roc_auc(rank: np.ndarray, share: np.ndarray) -> float:
        positive, negative, reach = masses(rank, share)
        return _ratio(np.sum(negative * (reach - positive / 2)), negative.sum() * reach[-1], 0.5)

    def average_precision(rank: np.ndarray, share: np.ndarray) -> float:
        positive, negative, reach = masses(rank, share)
        precision = reach / np.maximum(reach + np.cumsum(negative), 1e-300)
        return _ratio(np.sum(positive * precision), reach[-1], 0.0)

    return {"roc_auc": roc_auc, "average_precision": average_precision}.get(name, rate)


def _ratio(above: float, below: float, otherwise: float) -> float:
    """A resample may have no positive; ppboot needs a number all the same."""
    return float(above / below) if below > 1e-9 else otherwise


PLAIN, PLAIN_KNOWN = "random rows", "random rows, known positives"
WAYS: dict[str, Callable[[Case], Values]] = {
    PLAIN: plain,
    PLAIN_KNOWN: plain_and_known,
    "ppi-python": powered,
    "ppi-python, known positives": lambda case: powered(case, known=True),
    "oasis": oasis,
    "oasis, 30 strata": lambda case: oasis(case, 30),
    "halftruth, one plan": planned,
    "halftruth, one plan from PU evidence": lambda case: planned(case, pu=True),
    "halftruth, a plan for each metric": alone,
}
PEERS = {"ppi-python": "ppi_py", "oasis": "oasis"}
ABSENT = {name for name, module in PEERS.items() if not installed(module)}


def library(way: str) -> str:
    """The name before the comma."""
    return way.partition(",")[0]
