"""What a page tells, as plain data: `evaluation` fills it in, and the rest of this room renders it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NotRequired, TypedDict

from halftruth._errors import Note
from halftruth.evidence._review_design import ReviewDesign
from halftruth.results._comparison import Comparison
from halftruth.results._estimate import Estimate, Evaluation

__all__ = [
    "Figures", "MetricData", "ModelData", "PageData", "SelectionData", "Shares", "Step", "Subject",
    "SumsAtScores",
]  # fmt: skip


class Figures(TypedDict):
    """A row of a table as JSON holds it: None where a number is undefined."""

    naive: float | None
    value: float | None
    low: float | None
    high: float | None
    plain: NotRequired[list[float | None]]
    """Where known positives may be biased: the interval if they are a random sample,"""
    selected: NotRequired[list[float | None]]
    """and what the value may be through that alone."""


class SumsAtScores(TypedDict):
    """The scores of a model, and the sums of each stratum's columns at them."""

    score: list[float]
    sums: dict[str, dict[str, list[float]]]


class Shares(TypedDict):
    """The prior and the purity as evaluated, and between which values the sliders may move them."""

    prior: float | None
    purity: float | None
    moves: bool
    noisy: bool
    purity_low: float | None
    alpha_high: float | None
    kappa: float | None
    low: float | None
    high: float | None


class SelectionData(TypedDict):
    """How far the known positives may be from a random sample, as evaluated."""

    gamma: float
    direction: str
    edge: list[float]
    """Scores at which blocks begin; in each, positives are at most all rows."""
    slack: float  # and by how much they may pass them, for noise


class ModelData(TypedDict):
    """One model or group, as the scripts of the page read it.

    A page without pictures holds only the figures; the keys that come last are for its scripts.
    """

    name: str
    evidence: str
    status: str  # of the result as evaluated
    home: NotRequired[dict[str, Figures]]  # the figures as evaluated, by row
    kind: NotRequired[str]
    bounded: NotRequired[bool]
    rule: NotRequired[Mapping[str, object]]
    errors: NotRequired[Mapping[str, object] | None]
    """Few joined scores, from which the scripts compute standard errors; None where there are none."""
    shares: NotRequired[Shares]
    selection: NotRequired[SelectionData | None]  # None where no row is known as positive alone
    table: NotRequired[SumsAtScores]
    sensitivity: NotRequired[dict[str, list[tuple[float, float | None]]]]
    """Lines over the priors of what only Python computes."""


class MetricData(TypedDict):
    """What the scripts have to know of a row."""

    label: str
    name: str | None
    parameters: Mapping[str, object]
    better: str | None
    limits: list[float | None]
    twin: bool  # whether the scripts compute it too
    smooth: bool
    places: str  # where rows that were not seen count
    curve: bool
    selection: str  # what bounds it where known positives are biased: "ends" are the extreme laws


@dataclass(frozen=True, kw_only=True)
class Subject:
    """Whom a result is about: its rows, their population, and where the share of positives comes from."""

    rows: Mapping[str, int]  # by stratum
    population: Literal["unlabeled", "all"] | None  # None where no row is unlabeled
    naive_reading: str  # what the naive figure takes the rows for
    assumption: str | None
    assumes_scar: bool  # whether the known positives are taken for a random sample of the positives
    prior_is_counted: bool  # whether the labels say the share of positives
    given_prior: float | tuple[float, float] | None
    """A number taken as exact, or a range; None where it is unknown or was estimated."""
    design: ReviewDesign | None = None  # of reviewed rows


@dataclass(frozen=True, kw_only=True)
class Step:
    """Rows to collect, and what they would do to one interval."""

    what: Literal["positives", "unlabeled", "negatives", "labels", "reviews"]
    """ "labels" are of random cases; "reviews" are drawn as those that there are."""
    rows: int
    metric: str
    width: float  # of the interval now
    then: float  # its width to expect with these rows; NaN where nothing is known of that
    how: str = ""  # what to do with labels to get it
    rough: bool = False  # whether few known positives stand behind it


@dataclass(frozen=True, kw_only=True)
class PageData:
    """One evaluation, several with their names, or a comparison, with all that a page says of them."""

    title: str = ""
    results: Mapping[str, Evaluation]
    """With the values that the page shows: those of the scores that it holds."""
    subjects: Mapping[str, Subject] = field(default_factory=dict)  # of the results whose evidence is at hand
    models: Sequence[ModelData] = ()
    metrics: Sequence[MetricData] = ()
    comparison: Comparison | None = None
    one_population: bool = True  # whether models see one, so that a slider moves the prior of all
    by: str = ""  # what the names of groups are values of
    left_out: Mapping[str, Evaluation] = field(default_factory=dict)
    """Groups of which nothing can be said but why."""
    drawn: bool = False  # whether there are pictures, and sliders under them
    joining_changed: float = 0.0
    """By how much a figure of the scores that the page holds differs from that of the rows, at most."""
    steps: Sequence[Step] = ()
    both: Mapping[str, tuple[Estimate, Estimate]] = field(default_factory=dict)
    """Answers by positives and unlabeled, and by the reviews that check what these take for granted,"""
    verdicts: Sequence[Note] = ()  # and what they say of it
