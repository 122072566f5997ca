"""What a row of labels holds, by the options that name its columns; and the evidence in it.

Rows without scores: soft labels, votes, positive confidences; or scores with labels, as for other commands.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halftruth._checks import Vector
from halftruth._errors import InputError, MissingColumn
from halftruth.cli._how_known import parse_propensity
from halftruth.cli._option_values import Share, parse_knowledge
from halftruth.cli._options import LabelColumnOptions, Labels, Population
from halftruth.cli._table_source import TableSource, evidence_of
from halftruth.evidence import Evidence, PositiveConfidence, SoftLabeled
from halftruth.evidence._soft_labeled import UNEVEN
from halftruth.files._file_paths import quoted
from halftruth.files._number_columns import FOREIGN, MOSTLY, SHOWN, Demand, Numbers, read_numbers
from halftruth.table._score_table import ScoreTable

__all__ = ["LabeledRows", "class_columns", "read_rows", "row_kind"]

# Which kind of rows -----------------------------------------------------------------------------------

SCORES = "score"
FURTHER = {
    "soft": ("labels", "sign", "predictions"),
    "classes": ("counts", "labels", "sign", "predictions"),
    "votes": ("ballots", "labels", "sign", "predictions"),
    "confidence": ("prior",),
    SCORES: (
        "label",
        "zeros",
        "unlabeled",
        "prior",
        "purity",
        "propensity",
        "population",
        "within",
        "labeled_sample",
        "calibrator",
        "n_folds",
    ),
}
"""What a row may hold, by the option that names it, and the further options that are about it."""
QUOTING = """A name with a comma stands in double quotes: --classes 'cat,"fish, other"'."""


def row_kind(options: Mapping[str, Any]) -> str:
    """What the rows hold, of all options that were given; refused where two say it, or one is beside it."""
    named = [name for name in FURTHER if options.get(name) is not None]
    if len(named) > 1:
        raise InputError(
            f"{_option(named[0])} and {_option(named[1])} both say what a row holds. Pass one of "
            f"{', '.join(map(_option, FURTHER))}."
        )
    kind = named[0] if named else SCORES
    for name, value in options.items():
        if value is not None and name != kind and name not in FURTHER[kind]:
            owners = [owner for owner, further in FURTHER.items() if name in further]
            needs = " or ".join(map(_option, owners))
            remedy = f", got {_option(kind)}. Leave it out" if named else ". Pass that too, or leave it out"
            raise InputError(f"{_option(name)} goes with {needs}{remedy}.")
    return kind


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def class_columns(texts: Sequence[str] | None) -> list[str] | None:
    """Columns from comma-separated lists; a name with a comma stands in double quotes, as in CSV."""
    if texts is None:
        return None
    words = [name.strip() for line in csv.reader(texts, skipinitialspace=True) for name in line]
    named = [name for name in words if name]
    if len(named) < 2 or len(set(named)) < len(named):
        remedy = "The probability of one class alone is --soft." if len(named) < 2 else QUOTING
        raise InputError(
            f"--classes must name at least two columns, and none twice, got {', '.join(map(quoted, named))}. "
            f"{remedy}"
        )
    return named


def _on_commas(named: Sequence[str], there: Sequence[str]) -> str:
    """That a name with a comma is quoted, where such a column was taken for several."""
    pieces = {name: [piece.strip() for piece in name.split(",")] for name in there if "," in name}
    taken = [
        name
        for name, parts in pieces.items()
        if any(list(named[k : k + len(parts)]) == parts for k in range(len(named)))
    ]
    return f" Is {quoted(taken[0])} one class? {QUOTING}" if taken else ""


# Reading them ----------------------------------------------------------------------------------------

TRUTH = {"true": 1.0, "false": 0.0}  # words for yes and no
UNNAMED = (
    "Say which column holds what: --soft a probability, --classes those of all classes, --votes the positive "
    "votes, --confidence the probability of a known positive, or --score and --label a score and its label."
)


@dataclass(frozen=True, kw_only=True)
class LabeledRows:
    """The evidence, and what else stands in its rows."""

    evidence: Evidence
    sign: Vector | None = None
    predictions: Vector | None = None


def read_rows(files: list[str], kind: str, weight: str | None, options: Mapping[str, Any]) -> LabeledRows:
    """What the files hold, by the options that were given."""
    if kind != SCORES:
        named = {name: options[name] for name in (kind, *FURTHER[kind])}
        return LabelColumns(files=files, weight=weight, **named).read()
    source = TableSource(
        files=files,
        score=options["score"] or "score",
        label=options["label"] or "label",
        weight=weight,
        zeros=options["zeros"],
        unlabeled=options["unlabeled"],
        propensity=parse_propensity(options["propensity"]),
    )
    try:
        table = source.tables()[""]
    except MissingColumn as error:
        if options["score"] is None and error.column == "score":
            raise error.also(UNNAMED) from None
        raise
    saved = not source.score_columns
    _refuse_one_class(table, "" if saved else f" in the column {quoted(source.label)}")
    evidence = evidence_of(
        table,
        prior=options["prior"],
        purity=options["purity"],
        population=options["population"] or Population.all,
        known=parse_knowledge(options["within"], options["labeled_sample"]),
    )
    return LabeledRows(evidence=evidence)


def _refuse_one_class(table: ScoreTable, where: str) -> None:
    """Say that a column of labels tells nothing apart before a calibrator says it in other words."""
    strata = set(table.strata)
    if strata == {"positive"} and table.strata["positive"].meaning is None:
        raise InputError(
            f"All rows have the label 1{where}: nothing to tell the positives from. Pass "
            f"rows of both classes; positives alone need --confidence."
        )
    if strata and strata <= {"negative", "unlabeled"}:
        raise InputError(
            f"No row has the label 1{where}: nothing says what a positive is like. Pass "
            f"rows of both classes, or name another column by --label."
        )


@dataclass(frozen=True, kw_only=True)
class LabelColumns(LabelColumnOptions):
    """Which columns hold what; one of ``soft``, ``classes``, ``votes`` and ``confidence`` is given."""

    files: list[str]
    prior: Share = None
    weight: str | None = None
    predictions: str | None = None

    def __post_init__(self) -> None:
        saved = next((file for file in self.files if file.endswith(".npz")), None)
        if saved is not None:
            raise InputError(
                f"The saved table {saved} has no columns to name: it says itself what its rows hold. Leave "
                f"out what names them, or pass the rows."
            )
        if self.votes is not None and self.ballots is None:
            raise InputError(
                "--votes needs --ballots: the column, or the number, of all votes that a row has."
            )

    def read(self) -> LabeledRows:
        """Read the files; errors name the first bad row."""
        coded = [name for name in (self.sign, self.predictions) if name is not None]
        numbers = Numbers(
            columns=list(self._columns()),
            weight=self.weight,
            words=dict.fromkeys(coded, self._words),
            contents={name: self._codes(name)[1] for name in coded},
            hint=lambda there: _on_commas(self.classes or (), there),
        )
        cells = read_numbers(self.files, numbers, list(self._demands()))
        weight = None if self.weight is None else cells[self.weight]
        return LabeledRows(
            evidence=self._evidence(cells, weight),
            sign=None if self.sign is None else self._places(cells[self.sign]),
            predictions=None if self.predictions is None else self._places(cells[self.predictions]),
        )

    # Columns -----------------------------------------------------------------------------------------

    def _columns(self) -> Iterator[str]:
        single = (self.soft, self.votes, self.confidence, self.sign, self.predictions)
        yield from (name for name in single if name is not None)
        yield from self.classes or ()
        if self.ballots is not None and self._ballots is None:
            yield self.ballots

    @property
    def _ballots(self) -> int | None:
        """The number of ballots, where it is one for all rows."""
        try:
            number = float(str(self.ballots))
        except ValueError:
            return None
        if number < 1 or not number.is_integer():
            raise InputError(f"--ballots must be a column or a whole number from 1, got {self.ballots}.")
        return int(number)

    @property
    def _words(self) -> Mapping[str, float]:
        """What stands for a class in a column of text."""
        if self.classes is None:
            return TRUTH
        return {} if self._numbered else {name: float(k) for k, name in enumerate(self.classes)}

    @property
    def _numbered(self) -> dict[float, int]:
        """The places of classes whose names are numbers; empty where some are not."""
        try:
            places = {float(name): k for k, name in enumerate(self.classes or ())}
        except ValueError:
            return {}
        return places if len(places) == len(self.classes or ()) else {}

    # Demands -----------------------------------------------------------------------------------------

    def _demands(self) -> Iterator[Demand]:
        if self.soft is not None:
            yield self._soft_demand(self.soft)
        if self.confidence is not None:
            yield _share_demand([self.confidence], "Confidences", "a confidence is P(positive | x)")
        if self.classes is not None:
            yield from _count_demands(self.classes) if self.counts else _probability_demands(self.classes)
        if self.votes is not None:
            yield from self._votes_demands(self.votes)
        yield from (self._class_demand(name) for name in (self.sign, self.predictions) if name is not None)

    def _soft_demand(self, column: str) -> Demand:
        if self.labels is Labels.uncertainty:
            return Demand(
                [column],
                lambda u: (u >= 0) & (u <= 0.5),
                "Uncertainty labels must lie in [0, 0.5], the probability of the less likely class",
                "Repair these rows, or pass probabilities of the positive class without --labels.",
            )
        return _share_demand([column], "Soft labels")

    def _votes_demands(self, votes: str) -> Iterator[Demand]:
        yield _whole_demand([votes])
        every = self._ballots
        if every is not None:
            must = f"Column {quoted(votes)} must not exceed --ballots {every}"
            yield Demand([votes], lambda k: k <= every, must, "Repair these rows, or name the column.")
        elif self.ballots is not None:
            some = f"Column {quoted(self.ballots)} must be at least 1"
            yield Demand([self.ballots], lambda m: m >= 1, some, "Drop rows without votes.")
            yield _whole_demand([self.ballots])
            must = f"Column {quoted(votes)} must not exceed {quoted(self.ballots)}"
            yield Demand([votes, self.ballots], lambda k, m: k <= m, must, "Repair these rows.")

    def _class_demand(self, column: str) -> Demand:
        """A column that names one class a row."""
        codes, meaning = self._codes(column)

        def holds(cells: Vector) -> NDArray[np.bool_]:
            # A column is coded by 0 and 1 or by -1 and 1; both at once would leave open what 0 means.
            signs = self.classes is None and (cells == -1).any()
            return np.isin(cells, [-1.0, 1.0] if signs else codes)

        def remedy(bad: NDArray[np.bool_], cells: Vector) -> str:
            if self.classes is None and np.isin(cells, [-1.0, 0.0, 1.0]).all():
                return "It holds both 0 and -1: write one of them for the other class."
            if bad.mean() <= MOSTLY:
                return "Repair these rows."
            shares = ((cells >= 0) & (cells <= 1)).all()
            return f"{FOREIGN} It holds probabilities, not classes." if shares else FOREIGN

        return Demand([column], holds, f"Column {quoted(column)} must hold {meaning}", remedy)

    def _codes(self, column: str) -> tuple[list[float], str]:
        """The numbers that stand for classes in a column, and how to say it."""
        if self.classes is None:
            what = "where positive is the likelier class" if column == self.sign else "for the positive class"
            return [0.0, 1.0], f"1 {what}, else 0 (or -1)"
        names = ", ".join(map(quoted, self.classes[:SHOWN])) + (", …" if len(self.classes) > SHOWN else "")
        if self._numbered:
            return list(self._numbered), f"one of {names}"
        last = len(self.classes) - 1
        return [float(k) for k in range(last + 1)], f"a class, {names}, or its place from 0 to {last}"

    # Evidence ----------------------------------------------------------------------------------------

    def _evidence(self, cells: dict[str, Vector], weight: Vector | None) -> Evidence:
        if self.confidence is not None:
            confidence = cells[self.confidence]
            if not confidence.any():
                raise InputError(
                    f"Column {quoted(self.confidence)} is 0 in all {len(confidence)} row(s): a case that "
                    f"cannot be positive is none. Pass P(positive | x) of each known positive."
                )
            return PositiveConfidence(confidence, prior=self.prior, sample_weight=weight)
        if self.votes is not None:
            every = self._ballots
            ballots = cells[str(self.ballots)] if every is None else every
            return SoftLabeled.from_votes(cells[self.votes], ballots, sample_weight=weight)
        if self.classes is not None:
            columns = np.column_stack([cells[name] for name in self.classes])
            make = SoftLabeled.from_votes if self.counts else SoftLabeled
            return make(columns, sample_weight=weight)
        return SoftLabeled(cells[str(self.soft)], sample_weight=weight)

    def _places(self, cells: Vector) -> Vector:
        """The places of the classes that are named."""
        if self.classes is None:
            return (cells > 0).astype(np.float64)
        if not self._numbered:
            return cells
        return np.asarray([self._numbered[cell] for cell in cells.tolist()], dtype=np.float64)


# What cells must be, with what to do where they are not ----------------------------------------------


def _share_demand(columns: Sequence[str], what: str, votes: str = "of votes, pass --votes") -> Demand:
    """Columns of probabilities."""

    def holds(*cells: Vector) -> NDArray[np.bool_]:
        return np.asarray(np.all([(cell >= 0) & (cell <= 1) for cell in cells], axis=0))

    must = f"{what} must be probabilities in [0, 1]"
    return Demand(columns, holds, must, f"Divide percentages by 100; {votes}.")


def _whole_demand(columns: Sequence[str]) -> Demand:
    """Columns of votes."""

    def holds(*cells: Vector) -> NDArray[np.bool_]:
        return np.asarray(np.all([(cell >= 0) & (cell == np.floor(cell)) for cell in cells], axis=0))

    def remedy(bad: NDArray[np.bool_], *cells: Vector) -> str:
        if any((cell != np.floor(cell)).any() for cell in cells):
            return "Shares of votes are probabilities: --soft or --classes without --counts."
        return "Repair or drop these rows."

    return Demand(columns, holds, "Votes must be whole numbers from 0", remedy)


def _count_demands(classes: Sequence[str]) -> Iterator[Demand]:
    """The votes of all classes, a column each."""
    yield _whole_demand(classes)
    must = "A row must have at least one vote"
    yield Demand(classes, lambda *k: np.sum(k, axis=0) >= 1, must, "Drop rows without votes.")


def _probability_demands(classes: Sequence[str]) -> Iterator[Demand]:
    """The probabilities of all classes, a column each."""
    yield _share_demand(classes, "The columns of --classes", "where they hold votes, pass --counts")
    remedy = "Name the columns of all classes; where they hold votes, pass --counts."
    yield Demand(
        classes,
        lambda *q: np.abs(np.sum(q, axis=0) - 1) <= UNEVEN,
        "The probabilities of all classes must sum to 1",
        remedy,
    )
