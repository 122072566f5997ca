"""From files to evidence without scores: soft labels, votes, positive confidences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from halftruth._checks import Vector
from halftruth._errors import InputError, MissingColumn
from halftruth.cli import demands
from halftruth.cli.kinds import OWN, SCORES, on_commas
from halftruth.files._file_paths import quoted
from halftruth.files._number_columns import FOREIGN, MOSTLY, SHOWN, Demand, Numbers, read_numbers

if TYPE_CHECKING:
    from halftruth.evidence import Evidence
    from halftruth.table._score_table import ScoreTable

TRUTH = {"true": 1.0, "false": 0.0}
"""Words for yes and no."""
UNNAMED = (
    "Say which column holds what: --soft a probability, --classes those of all classes, --votes the positive "
    "votes, --confidence the probability of a known positive, or --score and --label a score and its label."
)


@dataclass(frozen=True, kw_only=True)
class Held:
    """The evidence, and what else stands in its rows."""

    evidence: Evidence
    sign: Vector | None = None
    predictions: Vector | None = None


def read(files: list[str], kind: str, weight: str | None, given: Mapping[str, Any]) -> Held:
    """What the files hold, by the options that were given."""
    from halftruth.cli.options import Population
    from halftruth.cli.reading import known_besides
    from halftruth.cli.source import Source, evidence_of

    if kind != SCORES:
        own = {name: given[name] for name in (kind, *OWN[kind])}
        return Rows(files=files, weight=weight, **own).read()
    source = Source(
        files=files,
        score=given["score"] or "score",
        label=given["label"] or "label",
        weight=weight,
        zeros=given["zeros"],
        unlabeled=given["unlabeled"],
    )
    population = given["population"] or Population.all
    try:
        table = source.tables()[""]
    except MissingColumn as error:
        if given["score"] is None and error.column == "score":
            raise error.also(UNNAMED) from None
        raise
    saved = all(file.endswith(".npz") for file in files)
    _refuse_one_class(table, "" if saved else f" in the column {quoted(source.label)}")
    known = known_besides(given["within"], given["labeled_sample"])
    return Held(evidence=evidence_of(table, given["prior"], given["purity"], population, known))


def _refuse_one_class(table: ScoreTable, where: str) -> None:
    """Say that a column of labels tells nothing apart before a calibrator says it in other words."""
    held = set(table.strata)
    if held == {"positive"} and table.strata["positive"].meaning is None:
        raise InputError(
            f"All rows have the label 1{where}: nothing to tell the positives from. Pass "
            f"rows of both classes; positives alone need --confidence."
        )
    if held and held <= {"negative", "unlabeled"}:
        raise InputError(
            f"No row has the label 1{where}: nothing says what a positive is like. Pass "
            f"rows of both classes, or name another column by --label."
        )


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Which columns hold what; one of ``soft``, ``classes``, ``votes`` and ``confidence`` is given."""

    files: list[str]
    soft: str | None = None
    labels: str | None = None
    sign: str | None = None
    classes: list[str] | None = None
    counts: bool | None = None
    votes: str | None = None
    ballots: str | None = None
    confidence: str | None = None
    prior: Any = None
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

    def read(self) -> Held:
        """Read the files; errors name the first bad row."""
        coded = [name for name in (self.sign, self.predictions) if name is not None]
        numbers = Numbers(
            columns=list(self._columns()),
            weight=self.weight,
            words=dict.fromkeys(coded, self._words),
            said={name: self._codes(name)[1] for name in coded},
            hint=lambda there: on_commas(self.classes or (), there),
        )
        found = read_numbers(self.files, numbers, list(self._demands()))
        weight = None if self.weight is None else found[self.weight]
        return Held(
            evidence=self._evidence(found, weight),
            sign=None if self.sign is None else self._places(found[self.sign]),
            predictions=None if self.predictions is None else self._places(found[self.predictions]),
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
            yield demands.shares([self.confidence], "Confidences", "a confidence is P(positive | x)")
        if self.classes is not None:
            yield from demands.counts(self.classes) if self.counts else demands.probabilities(self.classes)
        if self.votes is not None:
            yield from self._votes_demands(self.votes)
        yield from (self._class_demand(name) for name in (self.sign, self.predictions) if name is not None)

    def _soft_demand(self, column: str) -> Demand:
        if self.labels == "uncertainty":
            return Demand(
                [column],
                lambda u: (u >= 0) & (u <= 0.5),
                "Uncertainty labels must lie in [0, 0.5], the probability of the less likely class",
                "Repair these rows, or pass probabilities of the positive class without --labels.",
            )
        return demands.shares([column], "Soft labels")

    def _votes_demands(self, votes: str) -> Iterator[Demand]:
        yield demands.whole([votes])
        every = self._ballots
        if every is not None:
            must = f"Column {quoted(votes)} must not exceed --ballots {every}"
            yield Demand([votes], lambda k: k <= every, must, "Repair these rows, or name the column.")
        elif self.ballots is not None:
            some = f"Column {quoted(self.ballots)} must be at least 1"
            yield Demand([self.ballots], lambda m: m >= 1, some, "Drop rows without votes.")
            yield demands.whole([self.ballots])
            must = f"Column {quoted(votes)} must not exceed {quoted(self.ballots)}"
            yield Demand([votes, self.ballots], lambda k, m: k <= m, must, "Repair these rows.")

    def _class_demand(self, column: str) -> Demand:
        """A column that names one class a row."""
        codes, said = self._codes(column)

        def holds(cells: Vector) -> Any:
            signs = self.classes is None and (cells == -1).any()
            return np.isin(cells, [-1.0, 1.0] if signs else codes)

        def remedy(bad: NDArray[np.bool_], cells: Vector) -> str:
            if self.classes is None and np.isin(cells, [-1.0, 0.0, 1.0]).all():
                return "It holds both 0 and -1: write one of them for the other class."
            if bad.mean() <= MOSTLY:
                return "Repair these rows."
            shares = ((cells >= 0) & (cells <= 1)).all()
            return f"{FOREIGN} It holds probabilities, not classes." if shares else FOREIGN

        return Demand([column], holds, f"Column {quoted(column)} must hold {said}", remedy)

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

    def _evidence(self, found: dict[str, Vector], weight: Vector | None) -> Evidence:
        from halftruth.evidence import PositiveConfidence, SoftLabeled

        if self.confidence is not None:
            confidence = found[self.confidence]
            if not confidence.any():
                raise InputError(
                    f"Column {quoted(self.confidence)} is 0 in all {len(confidence)} row(s): a case that "
                    f"cannot be positive is none. Pass P(positive | x) of each known positive."
                )
            return PositiveConfidence(confidence, prior=self.prior, sample_weight=weight)
        if self.votes is not None:
            every = self._ballots
            ballots = found[str(self.ballots)] if every is None else every
            return SoftLabeled.from_votes(found[self.votes], ballots, sample_weight=weight)
        if self.classes is not None:
            columns = np.column_stack([found[name] for name in self.classes])
            make = SoftLabeled.from_votes if self.counts else SoftLabeled
            return make(columns, sample_weight=weight)
        return SoftLabeled(found[str(self.soft)], sample_weight=weight)

    def _places(self, cells: Vector) -> Vector:
        """The places of the classes that are named."""
        if self.classes is None:
            return (cells > 0).astype(np.float64)
        if not self._numbered:
            return cells
        return np.asarray([self._numbered[cell] for cell in cells.tolist()], dtype=np.float64)
