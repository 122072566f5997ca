"""Evidence of every kind, by name, from small samples that are the same on every machine."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import halftruth as ht

Vector = NDArray[np.float64]
Evidence = ht.Labeled | ht.SoftLabeled | ht.PositiveUnlabeled | ht.PositiveConfidence

LARGE = 2**19
"""Rows from which the compiled loops are used."""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Rows of a population with 30% positives; numbers have few digits, so that no libm changes them."""

    y: NDArray[np.bool_]
    margin: Vector
    score: Vector
    """The probability of a positive, overconfident."""
    other: Vector
    """The score of a second, worse model."""
    posterior: Vector
    weight: Vector
    propensity: Vector
    known: NDArray[np.bool_]
    """Positives that are labeled, each with the chance ``propensity``."""
    random: NDArray[np.bool_]
    """Positives that are labeled, each with the chance ½."""


@cache
def sample(n: int = 300, seed: int = 1) -> Sample:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    x = rng.normal(np.where(y, 1.0, -1.0))
    posterior = _rounded(_logistic(2 * x + np.log(0.3 / 0.7)))
    propensity = _rounded(0.3 + 0.5 * posterior)
    return Sample(
        y=y,
        margin=_rounded(x),
        score=_rounded(_logistic(3 * x)),
        other=_rounded(_logistic(2 * x + rng.normal(0.0, 2.0, n))),
        posterior=np.clip(posterior, 0.02, 0.98),
        weight=np.round(rng.uniform(0.5, 2.0, n), 2),
        propensity=propensity,
        known=y & (rng.random(n) < propensity),
        random=y & (rng.random(n) < 0.5),
    )


def _logistic(x: Vector) -> Vector:
    return 1 / (1 + np.exp(-x))


def _rounded(x: Vector) -> Vector:
    return np.asarray(np.round(x, 5))


ROWS = sample()
MORE = sample(seed=2)
KNOWN = MORE.score[MORE.y]
"""The known positives of two samples."""
NEGATIVES = sample(200, seed=3).score[~sample(200, seed=3).y]
REPLICATES = ht.PriorEstimate(
    value=0.3, replicates=np.round(np.random.default_rng(4).normal(0.3, 0.03, 200), 4)
)


def two_samples(**settings: Any) -> ht.PositiveUnlabeled:
    return ht.PositiveUnlabeled(KNOWN, ROWS.score, **{"prior": 0.3} | settings)


def one_table(**settings: Any) -> ht.PositiveUnlabeled:
    """All rows are the population; half of the positives are known."""
    known = ROWS.random
    rest: dict[str, Any] = {"prior": 0.3, "population": "all"} | settings
    return ht.PositiveUnlabeled(ROWS.score[known], ROWS.score[~known], **rest)


def selected(**settings: Any) -> ht.PositiveUnlabeled:
    """Known positives that were chosen by their propensity."""
    known = ROWS.known
    return ht.PositiveUnlabeled(
        ROWS.score[known], ROWS.score[~known], propensity=ROWS.propensity[known], **settings
    )


def labels(*, negatives: bool) -> Vector:
    """1 for known positives, NaN for unlabeled rows, 0 for some negatives."""
    label = np.where(ROWS.random, 1.0, np.nan)
    if negatives:
        label[np.flatnonzero(~ROWS.y)[::4]] = 0.0
    return label


def from_csv(label: Vector, **settings: Any) -> ht.ScoreTable:
    lines = ["score,label,weight"]
    for score, y, weight in zip(ROWS.score, label, ROWS.weight, strict=True):
        lines.append(f"{score},{'' if np.isnan(y) else int(y)},{weight}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "scores.csv")
        path.write_text("\n".join(lines) + "\n")
        table: ht.ScoreTable = ht.ScoreTable.from_file(path, **settings)
        return table


def confident(**settings: Any) -> ht.PositiveConfidence:
    return ht.PositiveConfidence(ROWS.posterior[ROWS.y], **settings)


def labeled(y_score: Any = None, y: Any = None, **settings: Any) -> ht.Labeled:
    return ht.Labeled(ROWS.y if y is None else y, ROWS.score if y_score is None else y_score, **settings)


def soft(**settings: Any) -> ht.SoftLabeled:
    return ht.SoftLabeled(ROWS.posterior, ROWS.score, **settings)


def votes(m: Any) -> ht.SoftLabeled:
    return ht.SoftLabeled.from_votes(np.round(ROWS.posterior * m), m, ROWS.score)


@cache
def large(kind: str) -> Evidence:
    many = sample(LARGE + 5, seed=5)
    if kind == "labeled":
        return ht.Labeled(many.y, many.score)
    prior = None if kind == "pu without prior" else 0.3
    return ht.PositiveUnlabeled(many.score[many.y], many.score, prior=prior)


LABELED: Mapping[str, Callable[[], Evidence]] = {
    "labeled": labeled,
    "labeled weights": lambda: labeled(sample_weight=ROWS.weight),
    "labeled whole weights": lambda: labeled(sample_weight=np.ceil(2 * ROWS.weight)),
    "labeled ties": lambda: labeled(np.round(ROWS.score, 1)),
    "labeled float32": lambda: labeled(ROWS.score.astype(np.float32)),
    "labeled margins": lambda: labeled(ROWS.margin),
    "labeled margins weights": lambda: labeled(ROWS.margin, sample_weight=ROWS.weight),
    "labeled zeros and ones": lambda: labeled((ROWS.score > 0.5).astype(float)),
    "labeled constant score": lambda: labeled(np.full(len(ROWS.y), 0.3)),
    "labeled one positive": lambda: labeled(y=np.arange(len(ROWS.y)) == np.argmax(ROWS.score)),
    "labeled no positive": lambda: labeled(y=np.zeros(len(ROWS.y))),
    "labeled no negative": lambda: labeled(y=np.ones(len(ROWS.y))),
    "labeled two rows": lambda: ht.Labeled([1, 0], [0.8, 0.3]),
    "labeled histogram": lambda: ht.Labeled.from_table(labeled().table.compress()),
    "labeled histogram weights": lambda: ht.Labeled.from_table(
        labeled(sample_weight=ROWS.weight).table.compress()
    ),
    "labeled margins histogram": lambda: ht.Labeled.from_table(labeled(ROWS.margin).table.compress()),
    "labeled coarse histogram": lambda: ht.Labeled.from_table(
        labeled().table.compress(ht.Grid("probability", n_bins=64))
    ),
    "labeled file": lambda: ht.Labeled.from_table(from_csv(ROWS.y.astype(float), weight="weight")),
    "labeled large": lambda: large("labeled"),
}

SOFT: Mapping[str, Callable[[], Evidence]] = {
    "soft": soft,
    "soft weights": lambda: soft(sample_weight=ROWS.weight),
    "soft own score": lambda: ht.SoftLabeled(ROWS.posterior),
    "soft hard": lambda: ht.SoftLabeled(ROWS.y.astype(float), ROWS.score),
    "soft margins": lambda: ht.SoftLabeled(ROWS.posterior, ROWS.margin),
    "soft histogram": lambda: ht.SoftLabeled.from_table(soft().table.compress()),
    "soft merged": lambda: ht.SoftLabeled.from_table(
        soft().table.merge(ht.SoftLabeled(MORE.posterior, MORE.score).table)
    ),
    "votes": lambda: votes(5),
    "votes of rows": lambda: votes(2.0 + np.arange(len(ROWS.y)) % 3),
}

POSITIVE_UNLABELED: Mapping[str, Callable[[], Evidence]] = {
    "pu": two_samples,
    "pu prior range": lambda: two_samples(prior=(0.25, 0.35)),
    "pu prior replicates": lambda: two_samples(prior=REPLICATES),
    "pu prior estimated": lambda: two_samples(prior="estimate"),
    "pu without prior": lambda: two_samples(prior=None),
    "pu prior refuted": lambda: two_samples(prior=0.8),
    "pu purity": lambda: two_samples(purity=0.9),
    "pu purity range": lambda: two_samples(purity=(0.85, 0.95)),
    "pu prior and purity ranges": lambda: two_samples(prior=(0.25, 0.35), purity=(0.85, 0.95)),
    "pu prior and purity estimated": lambda: two_samples(prior="estimate", purity="estimate"),
    "pu weights": lambda: two_samples(positive_weight=MORE.weight[MORE.y], unlabeled_weight=ROWS.weight),
    "pu negatives": lambda: two_samples(negative=NEGATIVES),
    "pu negatives without prior": lambda: two_samples(negative=NEGATIVES, prior=None),
    "pu negatives weights": lambda: two_samples(
        negative=NEGATIVES, negative_weight=np.linspace(0.5, 1.5, len(NEGATIVES))
    ),
    "pu negatives purity": lambda: two_samples(negative=NEGATIVES, purity=0.9, prior=None),
    "pu propensity": lambda: selected(prior=0.3),
    "pu ties": lambda: ht.PositiveUnlabeled(np.round(KNOWN, 1), np.round(ROWS.score, 1), prior=0.3),
    "pu margins": lambda: ht.PositiveUnlabeled(MORE.margin[MORE.y], ROWS.margin, prior=0.3),
    "pu float32": lambda: ht.PositiveUnlabeled(
        KNOWN.astype(np.float32), ROWS.score.astype(np.float32), prior=0.3
    ),
    "pu one positive": lambda: ht.PositiveUnlabeled(KNOWN[:1], ROWS.score, prior=0.3),
    "pu constant score": lambda: ht.PositiveUnlabeled(np.full(9, 0.3), np.full(50, 0.3), prior=0.3),
    "pu histogram": lambda: ht.PositiveUnlabeled.from_table(two_samples().table.compress(), prior=0.3),
    "pu histogram without prior": lambda: ht.PositiveUnlabeled.from_table(two_samples().table.compress()),
    "pu merged": lambda: ht.PositiveUnlabeled.from_table(
        two_samples().table.merge(one_table().table), prior=(0.25, 0.35)
    ),
    "pu large": lambda: large("pu"),
    "pu large without prior": lambda: large("pu without prior"),
    "one table": one_table,
    "one table prior range": lambda: one_table(prior=(0.25, 0.35)),
    "one table prior replicates": lambda: one_table(prior=REPLICATES),
    "one table prior estimated": lambda: one_table(prior="estimate"),
    "one table without prior": lambda: one_table(prior=None),
    "one table purity": lambda: one_table(purity=0.9),
    "one table negatives": lambda: one_table(negative=NEGATIVES),
    "one table propensity": lambda: selected(population="all"),
    "one table propensity and prior": lambda: selected(population="all", prior=0.3),
    "one table labels": lambda: ht.PositiveUnlabeled.from_labels(
        labels(negatives=True), ROWS.score, prior=0.3, sample_weight=ROWS.weight
    ),
    "one table coded labels": lambda: ht.PositiveUnlabeled.from_labels(
        ROWS.random.astype(int), ROWS.score, prior=0.3, unlabeled=0
    ),
    "one table file": lambda: ht.PositiveUnlabeled.from_table(
        from_csv(labels(negatives=True)), prior=0.3, population="all"
    ),
    "one table file histogram": lambda: ht.PositiveUnlabeled.from_table(
        from_csv(labels(negatives=False), max_rows=0), prior=0.3, population="all"
    ),
}

POSITIVE_CONFIDENCE: Mapping[str, Callable[[], Evidence]] = {
    "confidence": confident,
    "confidence score": lambda: confident(y_score=ROWS.score[ROWS.y]),
    "confidence margins": lambda: confident(y_score=ROWS.margin[ROWS.y]),
    "confidence weights": lambda: confident(y_score=ROWS.score[ROWS.y], sample_weight=ROWS.weight[ROWS.y]),
    "confidence prior": lambda: confident(prior=0.3),
    "confidence prior range": lambda: confident(prior=(0.25, 0.35)),
    "confidence prior refuted": lambda: confident(prior=0.9),
    "confidence merged": lambda: ht.PositiveConfidence.from_table(
        confident().table.merge(ht.PositiveConfidence(MORE.posterior[MORE.y]).table)
    ),
}

KINDS: Mapping[str, Callable[[], Evidence]] = {
    **LABELED,
    **SOFT,
    **POSITIVE_UNLABELED,
    **POSITIVE_CONFIDENCE,
}
