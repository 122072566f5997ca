"""The law of the positives by reviews against that of the known ones, in blocks of the score."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from halftruth._checks import Vector
from halftruth.evaluation._evaluate import evaluate
from halftruth.evidence import PositiveUnlabeled, Reviewed
from halftruth.evidence._selection import Direction
from halftruth.measure._score_measure import ScoreMeasure
from halftruth.results._estimate import Estimate
from halftruth.table._score_table import POSITIVE

__all__ = ["N_BLOCKS", "Laws", "SelectionBlock"]

N_BLOCKS = 5  # of equally many known positives: nine cuts had a size of .11 for .05 where reviews found few
IN_BLOCK = 20  # positives in effect that reviews found, on average: 10 by number had a size of .14 for .05
FINE_ATOMS = 4096  # distinct scores among which blocks begin
ONE_WAY = 1.0  # errors by which a gap may lean the other way, and known positives still lean one way
ROUNDING = 1e-12


class SelectionBlock(NamedTuple):
    """Scores from ``start`` on, below ``end``: how much commoner positives are there than known ones."""

    start: float
    end: float
    w: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Laws:
    """Laws as shares of blocks of the score, (resamples + 1, blocks); the first are those of the rows."""

    edges: Vector
    known: Vector
    cases: list[tuple[Vector, Vector]]
    """By setting of reviewers and purity, the values' own first: f_known as SCAR has it, and w."""

    @classmethod
    def of(cls, pu: PositiveUnlabeled, rest: Reviewed, n: int, rng: int | np.random.Generator) -> Laws:
        support = pu.table.support.coarse(FINE_ATOMS)
        mass = np.asarray(support.sums()[POSITIVE, "weight"])
        reach = np.cumsum(mass) / mass.sum()
        found = rest.table.support.strata.get(POSITIVE)
        in_effect = 0.0 if found is None else found.in_effect(soft=False)[0]
        n_blocks = int(np.clip(in_effect // IN_BLOCK, 2, N_BLOCKS))
        after = np.searchsorted(reach, np.arange(1, n_blocks) / n_blocks - ROUNDING) + 1
        starts = np.unique(after[reach[after - 1] < 1 - ROUNDING])
        edges = (support.score if support.edge is None else support.edge)[starts]
        shares = np.diff(reach[starts - 1], prepend=0.0, append=1.0)
        # Sums of Gamma(1) weights of the known positives: a Bayesian bootstrap, as of the other rows.
        stream = np.random.default_rng(rng).spawn(3)[-1]
        drawn = stream.standard_gamma(shares * pu.table.effective_rows(POSITIVE), (n, len(shares)))
        known = np.concatenate([shares[None], drawn / drawn.sum(axis=1, keepdims=True)])
        # Callables of one evaluation see the same resamples.
        cuts = dict(enumerate([*edges.tolist(), np.inf]))
        purities = dict.fromkeys([pu.purity.value or 1.0, *(x or 1.0 for x in pu.purity.grid(3))])
        classes = ("pos", "neg") if min(purities) < 1 else ("pos",)
        below = {f"{name}{k}": partial(_below, name, cut) for name in classes for k, cut in cuts.items()}
        rows = evaluate(rest, below, n_resamples=n, rng=rng)
        masses = [_between([rows[f"{name}{k}"] for k in cuts]) for name in classes]
        own = rows["pos0"].scenario or 0
        counted = float(mass.sum()) if pu.population == "all" else 0.0
        judges = [own, *(k for k in range(len(masses[0])) if k != own)]
        cases = [_case([x[k] for x in masses], known, rho, counted) for k in judges for rho in purities]
        return cls(edges=edges, known=known, cases=cases)

    @property
    def comparable(self) -> bool:
        """Whether there are two blocks or more, and positives that reviews found."""
        return bool(len(self.edges)) and all(np.isfinite(law[0]).all() for law, _ in self.cases)

    def test(self, error: float) -> tuple[float | None, float | None, Direction]:
        """The largest difference of the two distribution functions in its error, its p-value, its lean."""
        if not self.comparable:
            return None, None, "any"
        found = [_largest(np.cumsum(law - self.known, axis=1)[:, :-1]) for law, _ in self.cases]
        largest, p, _ = max(found, key=lambda x: x[1])  # what one of the settings explains is not refuted
        gaps = found[0][2]
        if p <= error and (gaps > -ONE_WAY).all():
            return largest, p, "rising"
        return largest, p, "falling" if p <= error and (gaps < ONE_WAY).all() else "any"

    def selection(self, level: float) -> tuple[tuple[SelectionBlock, ...], Estimate]:
        """Of w: by block, in a band for all of them, and the Γ of it."""
        w = self.cases[0][1][0]
        bands = [_band(each, level) for _, each in self.cases]
        low, high = np.min([x[0] for x in bands], axis=0), np.max([x[1] for x in bands], axis=0)
        ends = np.concatenate([[-np.inf], self.edges, [np.inf]])
        rows = zip(ends[:-1], ends[1:], w, low, high, strict=True)
        with np.errstate(divide="ignore"):
            least = np.maximum(1.0, np.maximum(low, 1 / np.maximum(high, 0.0)).max())
            most = np.maximum(high, 1 / np.maximum(low, 0.0)).max()
            value = np.maximum(w, 1 / np.maximum(w, 0.0)).max()
        if not self.comparable:  # any selection is possible
            value, least, most = np.nan, 1.0, np.inf
        gamma = Estimate(
            value=float(value), low=float(least), high=float(most), confidence_level=level,
            method="band of all blocks", limits=(1.0, np.inf),
        )  # fmt: skip
        return tuple(SelectionBlock(*map(float, row)) for row in rows), gamma


def _below(name: str, cut: float, measure: ScoreMeasure) -> float:
    """The mass of a class below a score."""
    return float(measure.split(cut)[name][1])


def _between(below: list[Estimate]) -> Vector:
    """Masses of the blocks, (settings, resamples + 1, blocks)."""
    both = ((np.asarray(x.centers), np.atleast_2d(np.asarray(x.replicates))) for x in below)
    sums = [np.concatenate([centers[:, None], replicates], axis=1) for centers, replicates in both]
    return np.diff(np.stack(sums, axis=-1), axis=-1, prepend=0.0)


def _case(masses: list[Vector], known: Vector, purity: float, counted: float) -> tuple[Vector, Vector]:
    """f_known as SCAR has it, ρ f₁ + (1−ρ) f₀; and w, where ``counted`` known ones are positives too."""
    with np.errstate(divide="ignore", invalid="ignore"):
        total = masses[0].sum(axis=1, keepdims=True)
        total[total <= 0] = np.nan
        positive, negative = masses[0] / total, masses[-1] / masses[-1].sum(axis=1, keepdims=True)
        impure = (1 - purity) * negative  # nothing where the purity is 1
        share = counted / (counted + total)
        pure = np.maximum((known - impure) / purity, 0.0)
        return purity * positive + impure, share + (1 - share) * positive / pure


def _largest(gaps: Vector) -> tuple[float, float, Vector]:
    """The largest of some gaps in its error, the chance of such a one, and all of them in their errors."""
    drawn = gaps[1:][np.isfinite(gaps[1:]).all(axis=1)]
    drawn = drawn - drawn.mean(axis=0)
    error = drawn.std(axis=0)
    in_errors = gaps[0] / error
    largest = float(np.abs(in_errors).max())
    beyond = int((np.abs(drawn / error).max(axis=1) >= largest).sum())
    return largest, (1 + beyond) / (1 + len(drawn)), in_errors


def _band(w: Vector, level: float) -> tuple[Vector, Vector]:
    """Ends between which all blocks of a resample lie together, in so many of them: equal ranks for each."""
    drawn = w[1:][~np.isnan(w[1:]).any(axis=1)]
    n = len(drawn)
    rank = np.argsort(np.argsort(drawn, axis=0), axis=0)
    depth = np.minimum(rank, n - 1 - rank).min(axis=1)
    k = int(np.quantile(depth, 1 - level, method="lower"))
    ordered = np.sort(drawn, axis=0)
    return np.minimum(ordered[k], w[0]), np.maximum(ordered[n - 1 - k], w[0])
