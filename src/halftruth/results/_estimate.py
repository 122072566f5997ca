"""Results: an Estimate with its interval, and the Evaluation that holds one for each metric."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from halftruth import _checks, _storage
from halftruth._checks import Vector
from halftruth._errors import InputError, MissingDependency, Note, NoteKind, arg, bare, notes_to_dict
from halftruth.results._intervals import interval_of, normal_interval, score_interval
from halftruth.results._standing import OK, SHOWN, Judged, Standing, is_possible, reaches, standing_of

__all__ = [
    "INFLUENCE", "SCORE", "SOURCES", "Estimate", "Evaluation", "Origin", "Paged", "Pages", "aligned",
    "data_frame", "figure", "interval_name", "interval_text", "json_number", "judged", "share_text",
    "value_text",
]  # fmt: skip

SCHEMA = 1
INFLUENCE, SCORE = "influence", "influence, score"
SOURCES = ("sampling", "prior_range", "selection_range")  # of doubt: what each gives alone


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimate(Judged):
    """A number with its interval.

    Attributes
    ----------
    value, low, high : float
        NaN where undefined. Without a known prior the value is NaN, and the interval covers every
        prior that the data do not refute.
    naive : float or None
        What one would have reported who takes unlabeled for negative.
    confidence_level : float
    method : str
        How the interval was made: from the standard error ("influence", or "influence, score" of shares,
        which has a width at 0 and 1 too), by the bootstrap (its method), or "none".
    notes : tuple of str
    replicates : array or None
        Resampled values, (n_resamples,); over a range of priors (n_priors, n_resamples).
    standard_error : float or None
        Where the interval was made from it; at the value, whatever the range of the prior, and without what
        rows that were not seen add to the interval.
    sampling, prior_range, selection_range : (low, high)
        What each source of doubt would give alone: the rows; the range of prior and purity; the selection
        allowed. The last two are without sampling error.
    reference : float or None
        A figure to compare with, where one is known.
    bound : float or None
        A bound from theory, where its assumptions hold.
    identified : (low, high) or None
        What the value lies between where no amount of such data says more; None where they say it.
    compression : float or None
        Of a histogram: no table of rows with this histogram has a value farther from this one. None for exact
        rows, and where nothing is certified.
    status, reason : str
        "ok"; or "refuted", "partly refuted", "not identified", "impossible" (nothing of the interval is
        possible) or "undefined", and why.
    """

    value: float
    low: float
    high: float
    naive: float | None = None
    confidence_level: float = 0.95
    method: str = "none"
    notes: tuple[Note, ...] = ()
    replicates: Vector | None = None
    centers: Vector | None = None
    errors: Vector | None = None
    """Standard errors, one for each of ``centers``."""
    unseen: Vector | None = None
    """What rows that were not seen may add to the variances."""
    share_rows: Vector | None = None
    """Of shares: in how many rows a share has all of that error."""
    degrees: float = math.inf
    """Degrees of freedom behind the errors and the replicates."""
    limits: tuple[float, float] = (-math.inf, math.inf)
    """What is possible; noisy evidence may leave it."""
    reference: float | None = None
    bound: float | None = None
    identified: tuple[float, float] | None = None
    compression: float | None = None
    scenario: int | None = None
    """Of what is not known for sure, the setting of the value: its place in ``centers``; None: the middle."""
    n_plain: int | None = None
    """How many of ``centers``, the first ones, take the known positives for a random sample; None: all."""
    selected: tuple[int, ...] = ()
    """Those of ``centers`` that differ from the value by selection alone."""
    prior_ends: tuple[float, float] | None = None
    """Of a prior that was estimated: the values over its interval."""
    prior_free: bool = False
    """Whether it has a value without a prior too, so that nothing of how that was found matters to it."""
    standing: Standing = OK
    """Of the evaluation that it is a row of."""

    @property
    def possible(self) -> bool:
        """Whether the value lies within ``limits``, or its interval reaches into them: then it is noise."""
        return is_possible(self.value, self.limits) or reaches(self.low, self.high, self.limits)

    @property
    def shown(self) -> tuple[float, float, float]:
        """Value, low and high as people read them: what is possible of them, if anything."""
        if not reaches(self.low, self.high, self.shown_limits):
            return self.value, self.low, self.high
        value, low, high = np.clip((self.value, self.low, self.high), *self.shown_limits)
        return float(value), float(low), float(high)

    @property
    def shown_limits(self) -> tuple[float, float]:
        """What the ends of an interval are cut at where people read them."""
        return self.limits

    def over(self, scenarios: Sequence[int] | None) -> Estimate:
        """Over some of the scenarios alone; all of them where None."""
        if scenarios is None or self.centers is None:
            return self
        kept = list(scenarios)
        columns = {name: getattr(self, name) for name in ("centers", "errors", "unseen", "share_rows")}
        columns["replicates"] = None if self.replicates is None else np.atleast_2d(self.replicates)
        fewer = replace(
            self,
            **{name: x[kept] for name, x in columns.items() if x is not None},
            scenario=kept.index(self._place) if self._place in kept else len(kept) // 2,
            n_plain=None if self.n_plain is None else sum(i < self.n_plain for i in kept),
            selected=(),
        )
        if self.method == "none":
            return fewer
        low, high = fewer.interval(self.confidence_level)
        return replace(fewer, low=low, high=high)

    @property
    def standard_error(self) -> float | None:
        if self.errors is None or math.isnan(self.value):
            return None
        return float(self.errors[self._place])

    # What each source of doubt gives alone. Together they give (low, high), which is no sum of them.

    @property
    def sampling(self) -> tuple[float, float]:
        """The interval from the rows (and an estimate's error) alone, at the value's own prior under SCAR."""
        if math.isnan(self.value) or self.method == "none":
            return math.nan, math.nan
        alone = self.over([self._place])
        return alone.low, alone.high

    @property
    def _place(self) -> int:
        if self.scenario is not None or self.centers is None:
            return self.scenario or 0
        return len(self.centers) // 2

    @property
    def prior_range(self) -> tuple[float, float]:
        """What the value may be over the range of the prior and the purity alone, without sampling error."""
        return self.prior_ends or self._range(slice(self.n_plain))

    @property
    def selection_range(self) -> tuple[float, float]:
        """What the value may be over the selection allowed alone, without sampling error."""
        return self._range(list(self.selected or (self._place,)))

    def _range(self, scenarios: Any) -> tuple[float, float]:
        if self.centers is None:
            return self.value, self.value
        values = self.centers[scenarios]
        if np.isnan(values).all():
            return math.nan, math.nan
        return float(np.nanmin(values)), float(np.nanmax(values))

    def interval(self, confidence_level: float, method: str | None = None) -> tuple[float, float]:
        """(low, high) at another level or by another method, from the replicates or the error at hand.

        Parameters
        ----------
        confidence_level : float in (0, 1)
        method : {"percentile", "basic", "normal", "bias-corrected", "fitted"}, optional
            The estimate's own where left out; without replicates there is only "normal", value ± Student's
            quantile times the error. All but "percentile" and "bias-corrected" are cut at what is possible.
        """
        level = _checks.confidence_level(confidence_level)
        if self.centers is not None and self.errors is not None and method in (None, self.method, "normal"):
            if self.share_rows is not None and method != "normal":
                return score_interval(self.centers, self.share_rows, level, self.degrees)
            errors = self.errors if self.unseen is None else np.sqrt(self.errors**2 + self.unseen)
            return normal_interval(self.centers, errors, level, self.limits, self.degrees)
        if self.replicates is None or self.centers is None:
            text = "This estimate has no replicates, so no other interval. Evaluate with "
            raise InputError(f"{text}{bare('n_resamples')} > 0.")
        method = method or self.method
        return interval_of(self.replicates, self.centers, level, method, self.limits, self.degrees)

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        # That a value is impossible or undefined can be seen.
        seen = self.status in ("impossible", "undefined")
        standing = "" if seen else "".join(f", {line}" for line in self.standing.lines)
        return f"{type(self).__name__}({estimate_text(self)}, {interval_text(self)}{standing})"

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, without the replicates; undefined numbers are None."""
        names = ("value", "low", "high", "naive", "confidence_level", "reference", "bound")
        numbers: dict[str, Any] = {name: json_number(getattr(self, name)) for name in names}
        numbers["identified"] = None if self.identified is None else [json_number(x) for x in self.identified]
        unbounded = self.compression is not None and math.isinf(self.compression)
        numbers["compression"] = "unbounded" if unbounded else json_number(self.compression)
        if len(self.selected) > 1:
            for name in SOURCES:
                numbers[name] = [json_number(end) for end in getattr(self, name)]
        return {**numbers, "method": self.method, **self.standing.to_dict(), **notes_to_dict(self.notes)}


Row = TypeVar("Row", bound=Estimate)


def judged(rows: Mapping[str, Row], whole: Standing) -> dict[str, Row]:
    """The rows of a result, each with its standing."""
    if whole.status == "refuted":  # which makes of numbers what no interval allows for
        rows = {
            k: replace(x, notes=tuple(n for n in x.notes if n.kind != "interval")) for k, x in rows.items()
        }
    standings = {name: _row_standing(row, whole) for name, row in rows.items()}
    changed = {name: row for name, row in rows.items() if row.standing != standings[name]}
    return {**rows, **{name: replace(row, standing=standings[name]) for name, row in changed.items()}}


def _row_standing(row: Estimate, whole: Standing) -> Standing:
    if whole.status not in ("ok", "partly refuted", "not identified"):
        return whole
    undefined = math.isnan(row.value)
    if undefined and whole.status == "not identified" and not any(n.kind == "undefined" for n in row.notes):
        return whole
    if undefined or not row.possible:
        kind: NoteKind = "undefined" if undefined else "impossible"
        text = "no value" if undefined else "beyond what is possible"
        return Standing(kind, [Note(kind, text), *(note for note in row.notes if note.kind == kind)][-1])
    # Without a prior, rows that have a value need none; where one was estimated, most rest on that.
    unconcerned = row.prior_free or whole.reason.kind == "identifiability"
    return OK if whole.status == "not identified" and unconcerned else whole


@dataclass(frozen=True, kw_only=True, eq=False)
class Origin:
    """What a result was made from, for its report: evidence by name, and the rows that were asked for."""

    evidence: Mapping[str, Any]
    requests: tuple[Any, ...]
    one_sample: bool
    n_resamples: int
    method: str | None = None
    """By which intervals were asked for."""
    model: Any = None
    """How rows are drawn again, where a threshold was chosen by them."""
    check: Any = None
    """What its reviews say of a prior, of SCAR and of a purity, where that was asked."""
    seed: int = 0
    """With which the page of a comparison evaluates each model by itself."""


Result = TypeVar("Result")


@dataclass(frozen=True)
class Pages(Generic[Result]):
    """What can be made of a result: functions of whoever made it, since results know nothing of pages.

    They are functions of a module, so that they are stored by name and a stored result still has its page.
    """

    page: Callable[[Result, str], str]  # the whole page of a result, under a title
    preview: Callable[[Result], str]  # the answer, the table and the notes, for a notebook
    tipping: Callable[..., float] | None = None  # how much selection a claim on a result bears


class Paged:
    """A result that holds, while it lives, the evidence it was made from, and can be shown as a page."""

    origin: Origin | None
    pages: Pages[Any] | None

    def __getstate__(self) -> dict[str, Any]:
        """Without the evidence: a result that is stored or sent is its numbers."""
        return self.__dict__ | {"origin": None}

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>" if self.pages is None else self.pages.preview(self)

    def to_html(self, path: str | Path | None = None, *, title: str = "halftruth report") -> str | None:
        """An interactive page in one file: it needs no network and no program but a browser.

        Parameters
        ----------
        path : str or Path, optional
            Where to write it, whole or not at all.
        title : str

        Returns
        -------
        str or None
            The page; None where it was written.
        """
        if self.pages is None:
            makers = f"{arg('evaluate')} or {arg('compare')}"
            raise InputError(f"Only a result of {makers} has a page. Make it so.")
        page = self.pages.page(self, title)
        if path is None:
            return page
        _storage.write(path, page)
        return None


@dataclass(frozen=True, kw_only=True, eq=False)
class Evaluation(Judged, Paged, Mapping[str, Estimate]):
    """Estimates by metric, with what was assumed.

    ``result["roc_auc"]`` is an `Estimate`; ``prior`` is π, the share of positives in the population,
    ``alpha`` is α, their share among the unlabeled (None where no row is unlabeled).
    """

    rows: Mapping[str, Estimate]
    evidence: str
    prior: Estimate
    alpha: Estimate | None
    notes: tuple[Note, ...] = ()
    threshold: float | None = None
    unrefuted: tuple[int, ...] | None = None
    """Of a range of priors that is refuted in part: the scenarios that are not."""
    selection: Mapping[str, Any] | None = None
    """How far known positives may be from a random sample, gamma and direction, where that was granted."""
    origin: Origin | None = field(default=None, repr=False)
    pages: Pages[Evaluation] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        whole = self.standing
        object.__setattr__(self, "rows", judged(self.rows, whole))
        for name in ("prior", "alpha"):
            share = getattr(self, name)
            if share is not None:
                object.__setattr__(self, name, judged({name: share}, whole)[name])

    @property
    def standing(self) -> Standing:
        """How far the whole can be relied on; every format shows it, and gates ask it."""
        unknown = math.isnan(self.prior.value) and any(math.isnan(row.value) for row in self.rows.values())
        return standing_of(self.notes, missing=unknown)

    @property
    def confidence_level(self) -> float:
        """Of its intervals."""
        return next((row.confidence_level for row in self.rows.values()), 0.95)

    @property
    def refuted(self) -> bool:
        """Whether the data refute the prior that was given, so that no number here can be relied on."""
        return self.status == "refuted"

    def __getitem__(self, name: str) -> Estimate:
        if name not in self.rows:
            raise KeyError(f"{name!r}: this evaluation has {', '.join(self.rows)}")
        return self.rows[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def tipping(self, metric: str, limit: float, *, sampling: bool = True, claim: str | None = None) -> float:
        """How wrong SCAR would have to be: the least Γ at which a claim is no longer supported.

        Parameters
        ----------
        metric : str
            A row of this evaluation.
        limit : float
        sampling : bool
            Whether the end of the interval must keep the limit, or the value alone.
        claim : {">=", "<="}, optional
            Which side of the limit is claimed; by default the better one.

        Returns
        -------
        float
            inf where the claim stands whatever the selection, 1.0 where it never stood.

        Examples
        --------
        >>> import halftruth as ht
        >>> evidence = ht.simulate.GaussianClasses(prior=0.3).positive_unlabeled(500, 5000, rng=1)
        >>> result = ht.evaluate(evidence, ["roc_auc"], n_resamples=200)
        >>> result.tipping("roc_auc", 0.7) > result.tipping("roc_auc", 0.8) >= 1.0
        True
        """
        if self.pages is None or self.pages.tipping is None:
            raise InputError(f"Only a result of {arg('evaluate')} has a tipping point. Make it so.")
        return self.pages.tipping(self, metric, limit, sampling=sampling, claim=claim)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready and versioned."""
        return {
            "schema": SCHEMA,
            "evidence": self.evidence,
            "prior": self.prior.to_dict(),
            "alpha": None if self.alpha is None else self.alpha.to_dict(),
            "threshold": json_number(self.threshold),
            "metrics": {name: row.to_dict() for name, row in self.rows.items()},
            "refuted": self.refuted,
            **self.standing.to_dict(),
            **notes_to_dict(self.notes),
            **({} if self.selection is None else {"selection": dict(self.selection)}),
        }

    def to_frame(self) -> Any:
        """A data frame, one row a metric: pandas where installed, else polars."""
        columns: dict[str, list[Any]] = {"metric": list(self.rows)}
        for name in ("value", "low", "high", "naive", "method", "status"):
            columns[name] = [getattr(row, name) for row in self.rows.values()]
        return data_frame(columns, ["metric"])

    def _table(self) -> list[tuple[str, ...]]:
        """A header and one line a metric, for people."""
        header = ("metric", "naive", "halftruth", interval_name(self.confidence_level))
        lines = ((k, figure(x.naive), estimate_text(x), interval_text(x)) for k, x in self.rows.items())
        return [header, *lines]

    def _shares(self) -> str:
        if np.isnan(self.prior.value):
            return f"π unknown: more than {figure(self.prior.high)} positive in the population is refuted"
        parts = [f"π = {share_text(self.prior)} positive in the population"]
        if self.alpha is not None:
            parts.append(f"α = {share_text(self.alpha)} among the unlabeled")
        return "; ".join(parts)

    def __str__(self) -> str:
        headline = self.standing.lines
        notes = [f"Note: {note}" for note in self.all_notes() if not headline or note != self.reason]
        lines = [*headline, self._title(), self._shares(), "", *aligned(self._table())]
        return "\n".join([*lines, *([""] if notes else []), *notes])

    def _title(self) -> str:
        return self.evidence + ("" if self.threshold is None else f"; threshold {self.threshold:g}")

    def all_notes(self) -> list[Note]:
        """Those of the whole, then those of the rows, each once and with the rows it is about."""
        about: dict[Note, list[str]] = {}
        for name, row in self.rows.items():
            for note in row.notes:
                about.setdefault(note, []).append(name)
        return [*self.notes, *(note.about(", ".join(names)) for note, names in about.items())]

    __repr__ = __str__


def data_frame(columns: dict[str, list[Any]], index: list[str]) -> Any:
    """A data frame of pandas with this index where that is installed, else of polars without one."""
    try:
        import pandas as pd
    except ImportError:
        try:
            import polars as pl
        except ImportError as error:
            raise MissingDependency(
                "to_frame() needs pandas or polars: pip install pandas. to_dict() needs neither."
            ) from error
        return pl.DataFrame(columns)
    return pd.DataFrame(columns).set_index(index if len(index) > 1 else index[0])


def json_number(value: float | None) -> float | None:
    """A number as JSON can hold it; undefined is None."""
    return None if value is None or not math.isfinite(value) else float(value)


def figure(value: float | None) -> str:
    """A number for people: three decimals, or three digits where it is small."""
    if value is None or np.isnan(value):
        return "–"
    value = float(f"{value:.12g}") + 0.0  # ties whatever the last bits of a sum; no zero is negative
    return f"{value:.3f}" if abs(value) >= 0.01 or value == 0 else f"{value:.3g}"


def interval_name(level: float) -> str:
    """What a column of intervals is called: with two decimals, or as many as keep it below 100%."""
    shown = next(x for x in (round(100 * level, digits) for digits in range(2, 17)) if x < 100)
    return f"{shown:.15g}% interval"


def value_text(
    value: float, limits: tuple[float, float], interval: tuple[float, float] = (math.nan, math.nan)
) -> str:
    """A value for people: cut where noise carried it too far, marked where it is impossible."""
    if is_possible(value, limits):
        return figure(value)
    if reaches(*interval, limits):
        cut = min(max(value, limits[0]), limits[1])
        return figure(cut) + (f" (raw {figure(value)})" if abs(value - cut) >= SHOWN else "")
    return f"impossible: {figure(value)}"


def estimate_text(row: Estimate) -> str:
    """The value of a row for people."""
    return value_text(row.value, row.limits, (row.low, row.high))


def interval_text(row: Estimate) -> str:
    """An interval for people: what is possible of it."""
    if not math.isnan(row.low + row.high) and not reaches(row.low, row.high, row.shown_limits):
        return "none possible"
    return f"{figure(row.shown[1])} to {figure(row.shown[2])}"


def share_text(row: Estimate) -> str:
    """A share with its interval, where it has one."""
    certain = figure(row.low) == figure(row.high)
    return estimate_text(row) + ("" if certain else f" ({interval_text(row)})")


def aligned(table: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table, its header first and a rule below: names to the left, numbers to the right."""
    first, *others = (max(map(len, column)) for column in zip(*table, strict=True))
    header, *lines = (
        "  ".join([f"{name:<{first}}", *(f"{x:>{width}}" for x, width in zip(cells, others, strict=True))])
        for name, *cells in table
    )
    return [header, "-" * len(header), *lines]
