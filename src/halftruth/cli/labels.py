"""From files to evidence without scores: soft labels, votes, positive confidences."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from halftruth.checks import Vector
from halftruth.errors import InputError
from halftruth.files.messages import quoted
from halftruth.files.numbers import Demand, Numbers, read_numbers

if TYPE_CHECKING:
    from halftruth.evidence import Evidence

TRUTH = {"true": 1.0, "false": 0.0}
"""Words for yes and no."""
SCORES = "score"
OWN = {
    "soft": ("labels", "sign", "predictions"),
    "classes": ("counts", "labels", "sign", "predictions"),
    "votes": ("ballots", "labels", "sign", "predictions"),
    "confidence": ("prior",),
    SCORES: ("label", "zeros", "unlabeled", "prior", "purity", "population", "calibrator", "n_folds"),
}
"""What a row may hold, by the option that names it, and the further options that are about it."""


@dataclass(frozen=True, kw_only=True)
class Held:
    """The evidence, and what else stands in its rows."""

    evidence: Evidence
    sign: Vector | None = None
    predictions: Vector | None = None


def kind_of(given: Mapping[str, Any]) -> str:
    """What the rows hold, of all options that were given; refused where two say it, or one is beside it."""
    named = [name for name in OWN if given.get(name) is not None]
    if len(named) > 1:
        raise InputError(
            f"{_option(named[0])} and {_option(named[1])} both say what a row holds. Pass one of "
            f"{', '.join(map(_option, OWN))}."
        )
    kind = named[0] if named else SCORES
    for name, value in given.items():
        if value is not None and name != kind and name not in OWN[kind]:
            owners = [owner for owner, own in OWN.items() if name in own]
            needs = " or ".join(map(_option, owners))
            remedy = f", got {_option(kind)}. Leave it out" if named else ". Pass that too, or leave it out"
            raise InputError(f"{_option(name)} goes with {needs}{remedy}.")
    return kind


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def read(files: list[str], kind: str, weight: str | None, given: Mapping[str, Any]) -> Held:
    """What the files hold, by the options that were given."""
    from halftruth.cli.options import Population
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
    table = source.tables()[""]
    return Held(evidence=evidence_of(table, given["prior"], given["purity"], population))


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
        numbers = Numbers(columns=list(self._columns()), weight=self.weight, words=dict(self._words()))
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

    def _words(self) -> Iterator[tuple[str, Mapping[str, float]]]:
        if self.classes is None:
            words: Mapping[str, float] = TRUTH
        else:
            words = {} if self._numbered else {name: float(k) for k, name in enumerate(self.classes)}
        yield from ((column, words) for column in (self.sign, self.predictions) if column is not None)

    @property
    def _numbered(self) -> dict[float, int]:
        """The places of classes whose names are numbers; empty where some are not."""
        try:
            return {float(name): k for k, name in enumerate(self.classes or ())}
        except ValueError:
            return {}

    # Demands -----------------------------------------------------------------------------------------

    def _demands(self) -> Iterator[Demand]:
        if self.soft is not None:
            yield self._soft_demand(self.soft)
        if self.confidence is not None:
            yield _shares([self.confidence], "Confidences", "a confidence is P(positive | x)")
        if self.classes is not None:
            yield from _counts(self.classes) if self.counts else _probabilities(self.classes)
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
        return _shares([column], "Soft labels")

    def _votes_demands(self, votes: str) -> Iterator[Demand]:
        yield _whole([votes])
        every = self._ballots
        if every is not None:
            must = f"Column {quoted(votes)} must not exceed --ballots {every}"
            yield Demand([votes], lambda k: k <= every, must, "Repair these rows, or name the column.")
        elif self.ballots is not None:
            some = f"Column {quoted(self.ballots)} must be at least 1"
            yield Demand([self.ballots], lambda m: m >= 1, some, "Drop rows without votes.")
            yield _whole([self.ballots])
            must = f"Column {quoted(votes)} must not exceed {quoted(self.ballots)}"
            yield Demand([votes, self.ballots], lambda k, m: k <= m, must, "Repair these rows.")

    def _class_demand(self, column: str) -> Demand:
        """A column that names one class a row."""

        def holds(cells: Vector) -> Any:
            signs = self.classes is None and column == self.sign and (cells == -1).any()
            return np.isin(cells, [-1.0, 1.0] if signs else codes)

        codes, said = [0.0, 1.0], "0 or 1"
        if self.classes is None and column == self.sign:
            said = "1 where positive is the likelier class, else 0, or else -1"
        elif self._numbered:
            codes, said = list(self._numbered), f"one of {', '.join(map(quoted, self.classes or ()))}"
        elif self.classes is not None:
            codes = [float(k) for k in range(len(self.classes))]
            said = f"the name of a class, or its place from 0 to {len(codes) - 1}"
        return Demand([column], holds, f"Column {quoted(column)} must hold {said}", "Repair these rows.")

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
        if not self._numbered:
            return cells
        return np.asarray([self._numbered[cell] for cell in cells.tolist()], dtype=np.float64)


def _shares(columns: Sequence[str], what: str, votes: str = "of votes, pass --votes") -> Demand:
    def holds(*cells: Vector) -> Any:
        return np.all([(cell >= 0) & (cell <= 1) for cell in cells], axis=0)

    must = f"{what} must be probabilities in [0, 1]"
    return Demand(columns, holds, must, f"Divide percentages by 100; {votes}.")


def _whole(columns: Sequence[str]) -> Demand:
    def holds(*cells: Vector) -> Any:
        return np.all([(cell >= 0) & (cell == np.floor(cell)) for cell in cells], axis=0)

    remedy = "Shares of votes are probabilities: --soft or --classes without --counts."
    return Demand(columns, holds, "Votes must be whole numbers from 0", remedy)


def _counts(classes: Sequence[str]) -> Iterator[Demand]:
    yield _whole(classes)
    must = "A row must have at least one vote"
    yield Demand(classes, lambda *k: np.sum(k, axis=0) >= 1, must, "Drop rows without votes.")


def _probabilities(classes: Sequence[str]) -> Iterator[Demand]:
    from halftruth.evidence.soft import UNEVEN

    yield _shares(classes, "The columns of --classes", "where they hold votes, pass --counts")
    remedy = "Name the columns of all classes; where they hold votes, pass --counts."
    yield Demand(
        classes,
        lambda *q: np.abs(np.sum(q, axis=0) - 1) <= UNEVEN,
        "The probabilities of all classes must sum to 1",
        remedy,
    )


def class_columns(texts: Sequence[str] | None) -> list[str] | None:
    """Columns from comma-separated lists; a name with a comma stands in double quotes, as in CSV."""
    if texts is None:
        return None
    found = [name.strip() for line in csv.reader(texts, skipinitialspace=True) for name in line]
    named = [name for name in found if name]
    if len(named) < 2 or len(set(named)) < len(named):
        raise InputError(
            f"--classes must name at least two columns, and none twice, got {', '.join(map(quoted, named))}. "
            f"The probability of one class alone is --soft."
        )
    return named
