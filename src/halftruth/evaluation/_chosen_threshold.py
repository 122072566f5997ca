"""A threshold that the same rows choose: what it is for, and intervals that account for the choice."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from halftruth._checks import Vector
from halftruth._errors import EmptyClassWarning, Note, NotIdentifiable
from halftruth.evidence import Evidence, Scenario
from halftruth.inference._best_threshold import BOUNDS, best_threshold, read_aim
from halftruth.inference._requests import ModelRows, Request, Values
from halftruth.measure._arithmetic import Sweep
from halftruth.metrics._decision import at_every_threshold, chosen
from halftruth.metrics._rates import confusion
from halftruth.table._support import Sums

__all__ = ["Choice", "ChosenRequest", "ChosenRows"]


@dataclass(frozen=True)
class Choice:
    """A threshold, what it was chosen for, and the value that it attains in the sample."""

    threshold: float
    aim: str
    attained: Any
    note: Note

    @classmethod
    def of(cls, text: str, evidence: Evidence, level: float) -> Choice:
        """By a text like "precision>=0.9", guaranteed at the confidence level, or "max f1"."""
        ((aim, wanted),) = read_aim(text).items()
        bound = BOUNDS.get(aim)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EmptyClassWarning)
            at = best_threshold(evidence, **{aim: wanted}, confidence_level=level if bound else None)
        if np.isnan(at):
            bounded = (
                f"could be certified (confidence {level:g}) to have {bound}{wanted:g}: to choose among many "
                "takes more rows than to judge one. Ask for less, give your own threshold, or get more rows"
            )
            raise NotIdentifiable(f"No threshold {bounded if bound else f'has a value of {wanted}'}.")
        told = f"was chosen for the largest {wanted} in the sample, a plug-in that promises nothing"
        attained = wanted
        if bound:
            told = f"was chosen for {bound}{wanted:g}, a one-sided bound guaranteed at confidence {level:g}"
            attained = float(np.clip(getattr(confusion(evidence, at), bound.rstrip("<=>")), 1e-12, 1.0))
        also = ", have two sides, and may pass the bound" if bound else ""
        text = f"The threshold {at:g} {told}. Intervals at it account for the choice{also}."
        return cls(at, aim, attained, Note("remark", text))


class ChosenRequest(Request):
    """A rate at a threshold that was chosen: it has no derivative, for the threshold moves with the rows."""

    counts_rows = False
    places = "ends"

    def smooth(self, *, curves: bool) -> bool:
        return False

    @classmethod
    def where_chosen(cls, request: Request, threshold: float) -> Request:
        at = request.parameters.get("threshold")
        if at != threshold or request.metric is None or request.metric.of_confusion is None:
            return request
        return cls(**vars(request))

    def along(self, line: Sweep) -> Vector:
        """The rate at every threshold."""
        parameters = {name: value for name, value in self.parameters.items() if name != "threshold"}
        assert self.metric is not None
        assert self.metric.of_confusion is not None
        return np.asarray(self.metric.of_confusion(at_every_threshold(line, line.tp, line.fp), **parameters))


@dataclass(frozen=True, eq=False)
class ChosenRows(ModelRows):
    """One model whose threshold is chosen again in every resample.

    A resample that chooses t* shows rate*(t*) where its sample, the rows as they came, has rate(t*): by so
    much more than chance at the sample's own t, rate*(t) − rate(t), does the choice flatter it. The value as
    chance moves it, less what the choice adds, stands for the truth: that covers, if anything, too often.
    """

    choice: Choice

    def values(self, requests: Iterable[Request], scenario: Scenario, sums: Sums) -> Values:
        """Values of these sums; of rates at the chosen threshold, what the truth there may be."""
        at_choice = [r for r in requests if isinstance(r, ChosenRequest)]
        out = super().values([r for r in requests if not isinstance(r, ChosenRequest)], scenario, sums)
        # An estimate's replicates are errors of its value, at which the sample is read.
        prior, purity = self.evidence.prior.value, self.evidence.purity.value
        center = replace(
            scenario,
            prior=scenario.times * (prior or 0.0) if np.ndim(scenario.prior) else scenario.prior,
            purity=purity if np.ndim(scenario.purity) else scenario.purity,
        )
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            line = self.evidence.rule(sums, scenario).apply(self.support.score, sums).sweep
            home = self.evidence.rule(self.joined, center).apply(self.support.score, self.joined).sweep
            index = chosen(line, self.choice.aim, self.choice.attained)[0]
            for request in at_choice:
                drawn, rates = request.along(line), request.along(home)[0]
                fixed = drawn[:, self._place] - rates[self._place]
                moved = np.take_along_axis(drawn, index[:, None], axis=-1)[:, 0] - rates[index]
                out[request] = rates[self._place] + fixed - (moved - fixed)
        return out

    @property
    def _place(self) -> int:
        """Where the threshold stands in a sweep: how many groups of scores reach it."""
        first = self.support.score if self.support.edge is None else self.support.edge
        return int(np.sum(first >= self.choice.threshold))
