"""Results of a comparison: differences between models, and what they hang on."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from halftruth._errors import InputError, Note, arg, notes_to_dict
from halftruth.results._estimate import (
    Estimate,
    Origin,
    Paged,
    Pages,
    aligned,
    data_frame,
    figure,
    interval_name,
    interval_text,
    json_number,
    judged,
    value_text,
)
from halftruth.results._standing import Judged, Standing, is_possible, standing_of

__all__ = ["Comparison", "Difference", "Pair"]

SCHEMA = 1


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Difference(Estimate):
    """First minus second model, with the interval of that difference.

    Attributes
    ----------
    values : (float, float)
        Of the two models.
    value_limits : (float, float)
        What is possible for each of them.
    better : {"high", "low", None}
        Which values of the metric are better.
    flips : tuple of float
        Priors, among those not refuted, at which the order of the two models changes.
    """

    values: tuple[float, float]
    value_limits: tuple[float, float] = (-math.inf, math.inf)
    better: str | None = None
    flips: tuple[float, ...] = ()

    @property
    def possible(self) -> bool:
        """Whether both values lie within their limits, but for noise: half of the interval's width."""
        low, high = self.value_limits
        return all(is_possible(value, (low - self._noise, high + self._noise)) for value in self.values)

    @property
    def _noise(self) -> float:
        return 0.0 if math.isnan(self.low + self.high) else (self.high - self.low) / 2

    @property
    def value_texts(self) -> list[str]:
        """The two values for people."""
        reach = self._noise
        return [value_text(value, self.value_limits, (value - reach, value + reach)) for value in self.values]

    @property
    def texts(self) -> tuple[str, str]:
        """The difference and its interval for people, all with the decimals of the largest of them."""
        text = interval_text(self)
        if math.isnan(self.value) or " to " not in text:
            return figure(self.value), text
        shown = self.shown
        most = max(map(abs, shown))
        decimals = 3 if most >= 0.01 or most == 0 else 2 - math.floor(math.log10(most))
        # Ties as `figure` has them; no zero is negative.
        ends = (float(f"{x:.12g}") for x in (self.value, *shown[1:]))
        value, low, high = (f"{x:z.{decimals}f}" for x in ends)
        return value, f"{low} to {high}"

    @property
    def shown_limits(self) -> tuple[float, float]:
        low, high = self.value_limits
        return low - high, high - low

    @property
    def leader(self) -> int | None:
        """0 or 1: the model that is better beyond noise.

        None where the interval holds 0, and where values are refuted, not identified or impossible.
        """
        if self.better is None or self.status not in ("ok", "partly refuted"):
            return None
        if not (self.low > 0 or self.high < 0):
            return None
        return 0 if (self.low > 0) == (self.better == "high") else 1

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, without the replicates; undefined numbers are None."""
        values, flips = (list(map(json_number, numbers)) for numbers in (self.values, self.flips))
        fields = super().to_dict()
        for name in ("naive", "reference", "bound"):  # a difference has none
            del fields[name]
        return {"values": values, **fields, "flips": flips}


Pair = tuple[str, str]


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparison(Judged, Paged):
    """Differences between models, by pair and metric.

    Of two models ``comparison["roc_auc"]`` is the first minus the second; of more,
    ``comparison["a", "b"]["roc_auc"]``.
    """

    pairs: Mapping[Pair, Mapping[str, Difference]]
    dominant: str | None
    """The model whose ROC curve, in these data, is nowhere below that of another; None where curves cross, or
    cases were reviewed: a few heavy reviews bend a curve."""
    evidence: Mapping[str, str]
    paired: bool
    threshold: float | None = None
    unrefuted: Mapping[Pair, tuple[int, ...] | None] = field(default_factory=dict)
    """Where a range of priors is refuted in part: the scenarios that are not, for `Difference.over`."""
    notes: tuple[Note, ...] = ()
    reviewed: bool = False
    """Whether people reviewed the cases: no prior is given, by which an order could turn."""
    subjects: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Notes that are of some independent samples alone, and of which."""
    origin: Origin | None = field(default=None, repr=False)
    pages: Pages[Comparison] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        judged_pairs = {pair: judged(rows, self.standing_of_pair(pair)) for pair, rows in self.pairs.items()}
        object.__setattr__(self, "pairs", judged_pairs)

    @property
    def standing(self) -> Standing:
        """How far the whole can be relied on; every format shows it, and gates ask it."""
        values = (row.value for rows in self.pairs.values() for row in rows.values())
        return standing_of(self.notes, missing=any(map(math.isnan, values)))

    def standing_of_pair(self, pair: Pair) -> Standing:
        """How far the difference of two can be relied on, whatever is wrong with a third sample."""
        notes = [note for note in self.notes if {*pair} & {*self.subjects.get(note, pair)}]
        return standing_of(notes, missing=any(math.isnan(row.value) for row in self.pairs[pair].values()))

    @property
    def confidence_level(self) -> float:
        """Of its intervals."""
        return next((row.confidence_level for rows in self.pairs.values() for row in rows.values()), 0.95)

    def __getitem__(self, key: str | Pair) -> Any:
        if isinstance(key, tuple):
            if key not in self.pairs:
                raise KeyError(f"{key!r}: this comparison has {', '.join(map(str, self.pairs))}")
            return self.pairs[key]
        if len(self.pairs) > 1:
            raise KeyError(f"{key!r}: of more than two models, name a pair first: {list(self.pairs)}")
        rows = next(iter(self.pairs.values()))
        if key not in rows:
            raise KeyError(f"{key!r}: this comparison has {', '.join(rows)}")
        return rows[key]

    def __iter__(self) -> Iterator[Pair]:
        return iter(self.pairs)

    def __len__(self) -> int:
        return len(self.pairs)

    def tipping(self, metric: str | None = None, pair: Pair | None = None, *, sampling: bool = True) -> float:
        """How wrong SCAR would have to be: the least Γ at which the order of two models is open.

        Parameters
        ----------
        metric : str, optional
            By default the one that is told first.
        pair : (str, str), optional
            By default the first two models.
        sampling : bool
            Whether the whole interval of the difference must lie on one side of 0, or the value alone.

        Returns
        -------
        float
            inf where the order stands whatever the selection, 1.0 where it never stood.
        """
        if self.pages is None or self.pages.tipping is None:
            raise InputError(f"Only a result of {arg('compare')} has a tipping point. Make it so.")
        return self.pages.tipping(self, metric, pair, sampling=sampling)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready and versioned."""
        return {
            "schema": SCHEMA,
            "evidence": dict(self.evidence),
            "paired": self.paired,
            "threshold": json_number(self.threshold),
            "dominant": self.dominant,
            "pairs": [
                {
                    "first": a,
                    "second": b,
                    **self.standing_of_pair((a, b)).to_dict(),
                    "metrics": {name: row.to_dict() for name, row in rows.items()},
                }
                for (a, b), rows in self.pairs.items()
            ],
            "refuted": self.status == "refuted",
            **self.standing.to_dict(),
            **notes_to_dict(self.notes),
        }

    def to_frame(self) -> Any:
        """A data frame, one row a pair and metric: pandas where installed, else polars."""
        index, numbers = ["first", "second", "metric"], ["difference", "low", "high", "method", "status"]
        names = [*index, "value_of_first", "value_of_second", *numbers]
        records = [
            (*pair, name, *row.values, row.value, row.low, row.high, row.method, row.status)
            for pair, rows in self.pairs.items()
            for name, row in rows.items()
        ]
        return data_frame({name: [record[i] for record in records] for i, name in enumerate(names)}, index)

    def table(self, pair: Pair) -> list[tuple[str, ...]]:
        """A header and one line a metric, for people."""
        interval = interval_name(self.confidence_level)
        header = ("metric", *pair, "difference", interval, "better", "flips at π")
        lines = [header, *(_line(name, row, pair) for name, row in self.pairs[pair].items())]
        return [line[:-1] for line in lines] if self.reviewed else lines

    def __str__(self) -> str:
        how = "paired by row order" if self.paired else "independent samples"
        blocks = [str(line) for line in self.standing.lines]
        blocks += ["; ".join(f"{name}: {text}" for name, text in self.evidence.items()) + f"; {how}"]
        blocks += ["\n".join(aligned(self.table(pair))) for pair in self.pairs]
        notes = [f"Note: {note}" for note in self.notes if note != self.reason]
        blocks.append("\n".join([*([self.verdict] if self.verdict else []), *notes]))
        return "\n\n".join(blocks)

    __repr__ = __str__

    @property
    def verdict(self) -> str:
        """What the curves say, in one sentence; nothing of reviewed cases."""
        if self.reviewed:
            return ""
        if self.dominant is None:
            return "No model dominates: in these data no ROC curve is on top everywhere."
        return f"{self.dominant} dominates: in these data its ROC curve is nowhere below that of another."


def _line(name: str, row: Difference, pair: Pair) -> tuple[str, ...]:
    leader = "–" if row.leader is None else pair[row.leader]
    flips = ", ".join(figure(prior) for prior in row.flips) or "–"
    return (name, *row.value_texts, *row.texts, leader, flips)
