"""Small random samples of every evidence kind, as one list of rows that a law can act on."""

from __future__ import annotations

import copy
import os
from collections.abc import Sized
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import Phase, assume, settings
from hypothesis import strategies as st

import halftruth as ht
from halftruth._errors import NotIdentifiable
from halftruth.evidence import Evidence
from halftruth.table._score_table import ScoreTable
from halftruth.table._strata import StratumRows

from . import reviews

# Explaining a failure takes far longer than finding and shrinking it.
_PHASES = (Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink)


def examples(n: int) -> settings:
    """So many examples of a law, times HALFTRUTH_EXAMPLES."""
    factor = float(os.environ.get("HALFTRUTH_EXAMPLES") or 1)
    return settings(max_examples=max(1, round(n * factor)), phases=_PHASES)


DYADIC = tuple(i / 16 for i in range(17))
LABEL = {"positive": 1.0, "negative": 0.0, "unlabeled": np.nan}

dyadic_scores = st.sampled_from(DYADIC)
score_kinds = st.sampled_from(
    (dyadic_scores, dyadic_scores, st.floats(0, 1), st.floats(-100, 100, allow_subnormal=False))
)
weight_kinds = st.sampled_from((None, st.integers(1, 4).map(float), st.floats(0.125, 4)))
shares = st.one_of(st.sampled_from((0.125, 0.25, 0.5)), st.floats(0.05, 0.6))
probabilities = st.one_of(st.sampled_from((0.25, 0.5, 1.0)), st.floats(0.1, 1))
soft_labels = st.one_of(st.sampled_from((0.0, 0.0, 0.5, 1.0, 1.0)), st.floats(0.1, 0.9))


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows of all strata. ``value`` is the soft label, propensity, confidence or chance of a review."""

    stratum: np.ndarray
    score: np.ndarray
    value: np.ndarray
    weight: np.ndarray | None = None

    def __repr__(self) -> str:
        weight = [None] * len(self) if self.weight is None else self.weight.tolist()
        rows = zip(self.stratum, self.score.tolist(), weight, self.value.tolist(), strict=True)
        return f"Sample((stratum, score, weight, value): {list(rows)})"

    def __len__(self) -> int:
        return len(self.score)

    @property
    def full_weight(self) -> np.ndarray:
        return np.ones(len(self)) if self.weight is None else self.weight

    def take(self, index: Any) -> Sample:
        weight = None if self.weight is None else self.weight[index]
        return Sample(self.stratum[index], self.score[index], self.value[index], weight)

    def weighted(self, weight: np.ndarray) -> Sample:
        return replace(self, weight=np.asarray(weight, dtype=float))

    def scored(self, score: np.ndarray) -> Sample:
        return replace(self, score=np.asarray(score, dtype=float))

    def joined(self, other: Sample) -> Sample:
        both = (np.concatenate([getattr(x, k) for x in (self, other)]) for k in ("stratum", "score", "value"))
        return Sample(*both, np.concatenate([self.full_weight, other.full_weight]))

    def part(self, name: str) -> dict[str, Any]:
        """Score, weight and value of one stratum."""
        own = self.take(self.stratum == name)
        return {"score": own.score, "weight": own.weight, "value": own.value}

    def size(self, name: str) -> float:
        return float(self.full_weight[self.stratum == name].sum())


@dataclass(frozen=True)
class Kind:
    """A kind of evidence: its strata, which of them carries values, and what else is known."""

    name: str
    strata: tuple[str, ...]
    valued: str | None = None
    population: str | None = None
    purity: bool = False
    prior: bool = False

    def __repr__(self) -> str:
        return self.name

    @property
    def reviewed(self) -> bool:
        return self.name in reviews.SETTINGS

    @property
    def merges(self) -> bool:
        """Whether the tables of some of the rows do not hang on the others."""
        return self.name not in reviews.APART

    @property
    def ranked(self) -> bool:
        """Whether nothing but the order of scores makes the measure."""
        return not self.reviewed or reviews.SETTINGS[self.name].get("model") == "none"

    @property
    def fitted(self) -> bool:
        """Whether something was fitted to rows of which each counts once, whatever its weight."""
        return self.name in reviews.FITTED


def _pu_kinds() -> list[Kind]:
    out = []
    for population in ("unlabeled", "all"):
        for negative in (False, True):
            strata = ("positive", "unlabeled", *(("negative",) if negative else ()))
            for what in ("clean", "purity", "propensity"):
                name = f"pu-{population}-{what}{'-negative' * negative}"
                valued = "positive" if what == "propensity" else None
                kind = Kind(name, strata, valued, population, what == "purity", True)
                out += [kind, replace(kind, name=f"{name}-no_prior", prior=False)]
    return out


KINDS = (
    Kind("labeled", ("positive", "negative")),
    Kind("soft", ("soft",), "soft"),
    *_pu_kinds(),
    Kind("confidence", ("positive",), "positive", prior=True),
    Kind("confidence-no_prior", ("positive",), "positive"),
    *(
        Kind(name, (*reviews.STRATA, *(("soft",) if name == "reviewed-known" else ())))
        for name in reviews.SETTINGS
    ),
)
BY_NAME = {kind.name: kind for kind in KINDS}


@dataclass(frozen=True)
class Case:
    """A sample with what is known beside it: α, the purity, and a threshold."""

    kind: Kind
    sample: Sample
    threshold: float
    alpha: float
    purity: float = 1.0

    def on(self, sample: Sample) -> Case:
        """The same for another sample, whose prior is its own."""
        return replace(self, sample=sample)

    @property
    def prior(self) -> float | None:
        """π that the counts of this sample allow; None where the kind gives none."""
        if not self.kind.prior or self.kind.population != "all":
            return self.alpha if self.kind.prior else None
        known, unlabeled = self.sample.size("positive"), self.sample.size("unlabeled")
        return float((self.purity * known + self.alpha * unlabeled) / self.sample.full_weight.sum())

    @property
    def well_posed(self) -> bool:
        """Whether a prior that only the evidence identifies is well inside what is possible.

        Near its ends a class is empty, or the known positives no purer than the unlabeled, but for
        rounding, and nothing about them is defined.
        """
        if self.kind.prior or (self.kind.population is None and not self.kind.reviewed):
            return True
        if self.kind.name in reviews.APART and "unlabeled" not in self.sample.stratum:
            return False  # labels of all rows do not say how these were chosen
        try:
            measure = self.evidence().measure()
        except NotIdentifiable:
            return False
        if measure.unidentified is not None:
            return True
        if self.kind.reviewed:  # whatever was found stands for many: by chance for all rows, but for rounding
            return abs(float(measure.prior) - 1) > 1e-9
        return bool(0.02 < measure.prior < 0.98 and measure.alpha < self.purity - 0.02 * self.kind.purity)

    def evidence(self, sample: Sample | None = None, **changed: Any) -> Evidence:
        """Evidence of this kind from the sample, or from what a law has made of it."""
        rows = self.sample if sample is None else sample
        kind = self.kind
        if kind.name == "labeled":
            return ht.Labeled(rows.stratum == "positive", rows.score, sample_weight=rows.weight)
        if kind.name == "soft":
            return ht.SoftLabeled(rows.value, rows.score, sample_weight=rows.weight)
        if kind.reviewed:
            return reviews.evidence(kind.name, rows)
        known = {"prior": self.prior} | changed
        if kind.population is None:
            return ht.PositiveConfidence(rows.value, rows.score, sample_weight=rows.weight, **known)
        known = {"purity": self.purity, "population": kind.population} | known
        if known["population"] == "all":
            y = np.asarray([LABEL[name] for name in rows.stratum])
            value = rows.value if kind.valued else None
            return ht.PositiveUnlabeled.from_labels(
                y, rows.score, propensity=value, sample_weight=rows.weight, **known
            )
        return self._two_samples(rows, known)

    def _two_samples(self, rows: Sample, known: dict[str, Any]) -> Evidence:
        parts = {name: rows.part(name) for name in self.kind.strata}
        weights = {f"{name}_weight": part["weight"] for name, part in parts.items()}
        if self.kind.valued:
            known = known | {"propensity": parts["positive"]["value"]}
        scores = {name: part["score"] for name, part in parts.items()}
        return ht.PositiveUnlabeled(**scores, **weights, **known)

    def places(self, rows: Sample, place: np.ndarray) -> np.ndarray:
        """The places drawn for the rows, changed so that those of each can be a table of this kind."""
        return reviews.joined(rows, place) if self.kind.reviewed else place

    def table(self, sample: Sample) -> ScoreTable:
        """The table of some of the rows, which need not make up evidence by themselves."""
        if self.kind.reviewed:
            return reviews.table(sample, always=self.kind.name == "reviewed-rounds")
        strata = {}
        for name in self.kind.strata:
            part = sample.part(name)
            value = part["value"] if name == self.kind.valued else None
            part["value"] = value if value is None or name == "soft" else 1 / value
            strata[name] = StratumRows(**part)
        return ScoreTable(strata)

    def on_table(self, table: ScoreTable) -> Evidence:
        """The case's evidence with another table in its place."""
        if self.kind.reviewed:
            return self.evidence().with_table(table)
        out = copy.copy(self.evidence())
        for made in ("_measure", "_noise"):
            out.__dict__.pop(made, None)
        out.table = table
        return out


def one_each(rows: Sized, elements: st.SearchStrategy) -> st.SearchStrategy:
    """An array with one element for each row."""
    return st.lists(elements, min_size=len(rows), max_size=len(rows)).map(np.asarray)


@st.composite
def samples(draw: st.DrawFn, kind: Kind, *, max_rows: int = 7, scores: Any = None) -> Sample:
    """One to ``max_rows`` rows a stratum, many of them tied; of labeled rows one class may be missing."""
    score = draw(score_kinds) if scores is None else scores
    weight = draw(weight_kinds)
    strata = kind.strata
    if kind.name == "labeled":
        strata = draw(st.sampled_from((strata, strata, strata, strata[:1], strata[1:])))
    elif kind.reviewed:
        without = [tuple(x for x in strata if x != name) for name in reviews.STRATA]
        strata = draw(st.sampled_from((strata, strata, *without)))
    flat, sizes = [], []
    for name in strata:
        value = st.just(1.0)
        if name == kind.valued:
            value = soft_labels if name == "soft" else probabilities
        elif kind.reviewed:
            value = reviews.chances(kind.name, name)
        row = st.tuples(score, st.just(1.0) if weight is None else weight, value)
        rows = draw(st.lists(row, min_size=1, max_size=max_rows))
        flat += rows
        sizes.append(len(rows))
    columns = np.asarray(flat)
    return Sample(
        np.repeat(np.asarray(strata), sizes),
        columns[:, 0],
        columns[:, 2],
        None if weight is None else columns[:, 1],
    )


@st.composite
def cases(draw: st.DrawFn, kind: Kind, **how: Any) -> Case:
    """A sample of a kind with shares that its counts allow."""
    sample = draw(samples(kind, **how))
    on_a_score = st.sampled_from(sorted(set(sample.score.tolist())))
    threshold = draw(st.one_of(dyadic_scores, on_a_score))
    alpha = draw(shares)
    purity = alpha + (1 - alpha) * draw(st.sampled_from((0.25, 0.5, 0.875))) if kind.purity else 1.0
    case = Case(kind, sample, threshold, alpha, purity)
    assume(case.well_posed)
    return case
