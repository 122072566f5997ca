"""Evidence: a score table, and the rule that turns it into a measure."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal, Self

import numpy as np

from halftruth._checks import Vector
from halftruth._errors import InputError, Note, arg
from halftruth.evidence._positive_mass import StrataNoise
from halftruth.evidence._selection import Extreme, GivenSelection, Selection
from halftruth.measure._arithmetic import NOTHING, Number, OwnMass
from halftruth.measure._mass_rule import Coefficients, MassRule
from halftruth.measure._pseudo_labels import Fill
from halftruth.measure._score_measure import ScoreMeasure
from halftruth.prior._belief import Belief, Share
from halftruth.table._score_table import ScoreTable
from halftruth.table._support import Sums, Support

if TYPE_CHECKING:
    from halftruth.evidence._review_design import ReviewDesign

__all__ = ["Evidence", "GivenShare", "NullModel", "Population", "Scenario", "SoftRows", "Units"]

Population = Literal["unlabeled", "all"]
Units = dict[str, dict[str, float]]
"""What one row is: stratum → column → number."""
GivenShare = Share | str | None
"""A prior or a purity as a user passes it; the word "estimate" asks for one from the scores."""
NullModel = Literal["labels", "strata", "signs", "bootstrap"]
"""Labels drawn at the scores; strata from their laws; rows' own gaps with random signs; rows drawn again."""


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """One setting of what the data do not say: numbers, or one number for each resample."""

    prior: Number = None
    purity: Number = 1.0
    extreme: Extreme | None = None
    """Which law the positives have, of those that selection allows; None: that of the known ones (SCAR)."""
    identified_by: Extreme | None = None
    """Under which law the evidence identifies the prior, where it does: any that selection allows may."""
    sensitivity: Number = 1.0
    specificity: Number = 1.0
    """Of whoever reviewed the rows."""
    fill: Fill | None = None
    """What rows are taken for that nobody could look at."""
    times: float = 1.0
    """What replicates of an estimated prior are multiplied by: with selection it may be off by a factor."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SoftRows:
    """The soft labels as they were given, one for each row."""

    q: Vector  # (n,) shares or probabilities, or (n, K) for K ≥ 3 classes
    weight: Vector | None = None
    ballots: Vector | None = None
    """How many votes q is the share of; None where q is the probability itself."""

    @property
    def n_classes(self) -> int:
        return 2 if self.q.ndim == 1 else int(self.q.shape[1])

    def __len__(self) -> int:
        return len(self.q)


class Evidence(ABC):
    """What every kind of evidence has in common, and the questions that the rooms above ask of any kind.

    The answers below are those of a kind that knows nothing special; a kind overrides what it does better.

    Attributes
    ----------
    table : ScoreTable
        The raw rows, by stratum.
    prior, purity : Belief
        What the user knows of the two shares.
    """

    kind: ClassVar[str]
    table: ScoreTable
    prior: Belief = Belief(value=None)
    purity: Belief = Belief(value=1.0)

    rows_are_one_sample: bool = True
    """Whether rows of all strata were drawn together, so that stratum sizes are random too."""

    population: Population | None = None
    """Of evidence with unlabeled rows, which rows are the population; None where no row is unlabeled."""

    propensity_given: bool = False  # whether known positives carry the chance that such a positive is known

    lone_positive: bool = False
    """Whether one known positive stands for all, so that resampling it shows no error."""

    bins_are_certified: bool = False  # whether it is known how far joining rows to bins can move a metric

    scores_bound_prior: bool = False
    """Whether only the scores can refute a prior, as of positives and unlabeled alone."""

    selection: Selection = Selection()
    """How far known positives may be from a random sample of the positives; Γ = 1 is SCAR."""

    assumes_scar: bool = False
    """Whether known positives are taken for a random sample of the positives (or of a share of them)."""

    prior_is_free: ClassVar[bool] = False
    """Whether the prior may be another while the rows stay as they are: not where labels count it."""

    is_proper: ClassVar[bool] = False
    """Whether 0 ≤ μ̂₁ ≤ μ̂ whatever the rows, so that no metric leaves its limits."""

    holds_posteriors: ClassVar[bool] = False
    """Whether rows carry P(Y=1 | x) itself, as `labels` or as `confidences`, beside any score."""

    classes: ClassVar[tuple[str, ...]] = ()
    """Strata that are the classes themselves: one without a row may still have some in the population."""
    null_models: ClassVar[tuple[NullModel, ...]] = ("bootstrap",)
    """How rows of calibrated scores may be drawn, the sharpest first; the last one always can be."""

    labels_err: bool = False  # whether who gave the labels may have been wrong

    multiplied: tuple[str, ...] = ()
    """Strata whose rows stand for as many others as a known chance along the score says."""

    assumption: Note | None = None  # what the correction rests on, in one sentence

    naive_reading: ClassVar[str] = "unlabeled cases counted as negatives"
    """What the naive measure takes the rows for."""

    @property
    def labels(self) -> SoftRows | None:
        """The soft label of each row; None where rows carry none."""
        return None

    @property
    def confidences(self) -> tuple[Vector, Vector | None] | None:
        """The confidences of known positives, and their weights; None where rows carry none."""
        return None

    @property
    def noise(self) -> StrataNoise | None:
        """How uncertain the strata's distributions are, where several estimates of μ₁ are mixed by it."""
        return None

    @property
    def own_units(self) -> Units:
        """What one row of each stratum is in its columns, where precision leaves a known positive out."""
        return {}

    def own_mass(self, sums: Sums, pos_mass: Coefficients, units: Units) -> OwnMass:
        """A known positive's own part in precision, where these are the coefficients and the units."""
        return NOTHING

    @property
    def population_strata(self) -> tuple[str, ...]:
        """The strata that make up the population sample."""
        return tuple(self.table.strata)

    def likely(self, score: Vector) -> Vector | None:
        """P(positive) at these scores, smoothed where few rows say it; None where the measure says it."""
        return None

    def remarks(self) -> Iterator[Note]:
        """What is thin in these rows, a sentence each."""
        return iter(())

    @property
    def values_are_estimated(self) -> bool:
        """Whether what rows carry was estimated, and has replicates that show its error."""
        return False

    def redrawn(self, sums: Sums, support: Support, ranks: Vector) -> Sums:
        """Resampled sums with what was estimated of the rows drawn again: the replicates at these ranks."""
        return sums

    @abstractmethod
    def rule(self, sums: Sums, scenario: Scenario) -> MassRule:
        """The coefficients for these sums under a scenario."""

    @property
    def scenario(self) -> Scenario:
        """The scenario of the point estimate."""
        return Scenario(prior=self.prior.value, purity=self.purity.value)

    def scenarios(self, thresholds: Iterable[float]) -> tuple[tuple[Scenario, ...], tuple[Note, ...]] | None:
        """Settings that intervals must cover, with notes; None where only shares are unknown.

        ``thresholds`` are those of the rates that are asked for.
        """
        return None

    def drawn(self, scenario: Scenario, n: int, rng: np.random.Generator) -> Scenario:
        """The scenario of ``n`` resamples, with what was estimated beside the shares drawn again."""
        return scenario

    def measure(self) -> ScoreMeasure:
        """The measure (μ̂, μ̂₁) at the value of the prior: the middle of a range, an estimate's value."""
        return self._measure

    @cached_property
    def _measure(self) -> ScoreMeasure:
        return self.measure_at(self.scenario)

    def measure_at(self, scenario: Scenario) -> ScoreMeasure:
        """The measure of the rows as they came, under a scenario."""
        numbers = (scenario.prior, scenario.purity, scenario.sensitivity, scenario.specificity)
        if not any(map(np.ndim, numbers)) and "_measure" in vars(self) and scenario == self.scenario:
            return self._measure
        support = self.table.support
        return self.rule(support.sums(), scenario).over(support)

    def design(self) -> ReviewDesign | None:
        """How rows were chosen for review; None where nobody chose."""
        return None

    @property
    def for_page(self) -> Evidence:
        """The same measure from strata that the scripts of a page know."""
        return self

    def to_host(self) -> Self:
        """The same evidence; a histogram on a device is brought to the host.

        What is resampled and written from it is then the same to the bit, wherever the histogram was made.
        """
        table = self.table.to_host()
        return self if table is self.table else self.with_table(table)

    def with_table(self, table: ScoreTable) -> Self:
        """The same evidence of other rows: what is known of its shares stays, what was computed goes."""
        out = copy(self)
        computed = [k for k in vars(out) if isinstance(getattr(type(out), k, None), cached_property)]
        for name in computed:
            delattr(out, name)
        out.table = table
        return out

    def with_shares(self, prior: Share | None = None, purity: Share | None = 1.0) -> Self:
        """The same rows with another prior and purity; the evidence itself where labels count the prior."""
        return self

    def with_selection(self, selection: GivenSelection) -> Self:
        """The same rows with another selection; the evidence itself where none is known as positive alone."""
        return self

    def refuse_selection(self, what: str) -> None:
        """Raise where selection was granted and something does not account for it."""
        if self.selection.gamma > 1:
            raise InputError(
                f"{what} takes the known positives for a random sample, and {arg('selection')} says that "
                f"they are none. Leave it out, or use {arg('evaluate')}, whose intervals cover it."
            )

    @abstractmethod
    def naive_measure(self) -> ScoreMeasure | None:
        """The measure of one who does not know better; None where there is no such thing."""

    def prior_ends(self) -> list[float]:
        """The lowest and the highest π that the user's prior stands for; none without one."""
        return self.prior.ends()

    def alpha_ends(self) -> list[float]:
        """The lowest and the highest α that the user's prior stands for; none without one, or without α."""
        return []

    def alpha_of(self, prior: Number) -> Number:
        """α where the prior, of the population that the user gave it for, has this value."""
        return prior

    def identified_prior(self, sums: Sums, purity: Number, extreme: Extreme | None = None) -> Number:
        """The prior that the evidence itself identifies under a law of the positives, or None."""
        return None

    def __repr__(self) -> str:
        sizes = ", ".join(f"{len(rows)} {name}" for name, rows in self.table.strata.items())
        return f"{type(self).__name__}({sizes})"
