"""Evidence: a score table, and the rule that turns it into a measure."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

from halftruth.measure._mass_rule import MassRule
from halftruth.measure._score_measure import Number, ScoreMeasure
from halftruth.prior._belief import Belief
from halftruth.table._score_table import ScoreTable
from halftruth.table._support import Sums


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """One setting of what the data do not say: numbers, or one number for each resample."""

    prior: Number = None
    purity: Number = 1.0


class Evidence(ABC):
    """What every kind of evidence has in common.

    Attributes
    ----------
    table : ScoreTable
        The raw rows, by stratum.
    prior, purity : Belief
        What the user knows of the two shares.
    """

    kind: ClassVar[str]
    table: ScoreTable
    prior: Belief
    purity: Belief

    rows_are_one_sample: bool = True
    """Whether rows of all strata were drawn together, so that stratum sizes are random too."""

    assumption: str | None = None
    """What the correction rests on, in one sentence."""

    @property
    def lone_positive(self) -> bool:
        """Whether one known positive stands for all, so that resampling it shows no error."""
        return False

    @abstractmethod
    def rule(self, sums: Sums, scenario: Scenario) -> MassRule:
        """The coefficients for these sums under a scenario."""

    @property
    def scenario(self) -> Scenario:
        """The scenario of the point estimate."""
        return Scenario(prior=self.prior.value, purity=self.purity.value)

    def measure(self) -> ScoreMeasure:
        """The measure (μ̂, μ̂₁) at the value of the prior: the middle of a range, an estimate's value."""
        return self._measure

    @cached_property
    def _measure(self) -> ScoreMeasure:
        return self.measure_at(self.scenario)

    def measure_at(self, scenario: Scenario) -> ScoreMeasure:
        """The measure of the rows as they came, under a scenario."""
        support = self.table.support
        return self.rule(support.sums(), scenario).over(support)

    def to_host(self) -> Self:
        """The same evidence; a histogram on a device is brought to the host.

        What is resampled and written from it is then the same to the bit, wherever the histogram was made.
        """
        table = self.table.to_host()
        if table is self.table:
            return self
        out = copy(self)
        for name in [k for k in vars(out) if isinstance(getattr(type(out), k, None), cached_property)]:
            del vars(out)[name]
        out.table = table
        return out

    @abstractmethod
    def naive_measure(self) -> ScoreMeasure | None:
        """The measure of one who does not know better; None where there is no such thing."""

    def prior_ends(self) -> list[float]:
        """The lowest and the highest π that the user's prior stands for; none without one."""
        return self.prior.ends()

    def identified_prior(self, sums: Sums, purity: Number) -> Number:
        """The prior that the evidence itself identifies, or None."""
        return None

    def __repr__(self) -> str:
        sizes = ", ".join(f"{len(rows)} {name}" for name, rows in self.table.strata.items())
        return f"{type(self).__name__}({sizes})"
