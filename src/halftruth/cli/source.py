"""From files to evidence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from halftruth.cli.options import Population, Zeros
from halftruth.cli.views import heading
from halftruth.errors import HalftruthError, InputError

if TYPE_CHECKING:
    from halftruth.evidence import Evidence
    from halftruth.table import ScoreTable

Result = TypeVar("Result")


@dataclass(frozen=True, kw_only=True)
class Source:
    """Where the rows are and what their labels mean. Several score columns are several models."""

    files: list[str]
    score: str | list[str]
    label: str
    weight: str | None = None
    zeros: Zeros | None = None
    unlabeled: float | None = None
    by: str | None = None
    id: str | None = None

    def __post_init__(self) -> None:
        two = self.zeros is not None and self.unlabeled is not None
        if two and (self.zeros is Zeros.unlabeled or self.unlabeled == 0):
            raise InputError(
                f"--zeros {self.zeros} and --unlabeled {self.unlabeled:g} do not go together: one code means "
                f"unlabeled. Pass one of them."
            )
        columns: dict[str, Any] = {
            "--weight": self.weight,
            "--zeros": self.zeros,
            "--unlabeled": self.unlabeled,
            "--by": self.by,
            "--id": self.id,
        }
        if len(self._saved) == len(self.files):
            columns |= {
                "--score": None if self.score == "score" else self.score,
                "--label": None if self.label == "label" else self.label,
            }
        given = [name for name, value in columns.items() if value is not None]
        if self._saved and given:
            raise InputError(
                f"{given[0]} is about the columns of a file; the saved table {self._saved[0]} has none: its "
                f"rows are already positive, unlabeled or negative. Leave {given[0]} out, or pass the rows."
            )

    @property
    def _saved(self) -> list[str]:
        return [file for file in self.files if file.endswith(".npz")]

    def tables(self) -> dict[str, ScoreTable]:
        """The table of each group or score column; under the empty name, where there is one for all."""
        from halftruth.table import ScoreTable

        tables = [ScoreTable.load(file) for file in self._saved]
        rows = [file for file in self.files if file not in self._saved]
        if rows:
            found = ScoreTable.from_file(
                rows,
                score=self.score,
                label=self.label,
                weight=self.weight,
                unlabeled=self.code,
                by=self.by,
                id=self.id,
            )
            if isinstance(found, dict):
                return self._settled(found)
            tables += self._settled({"": found}).values()
        return {"": tables[0].merge(*tables[1:])}

    def each(self, call: Callable[[ScoreTable], Result]) -> dict[str, Result]:
        """What a call gives for each table; an error names the group that it is about."""
        results = {}
        for group, table in self.tables().items():
            try:
                results[group] = call(table)
            except HalftruthError as error:
                if self.by is None:
                    raise
                raise type(error)(f"{heading(self.by, group)}: {error}") from error
        return results

    @property
    def code(self) -> float | None:
        """What unlabeled rows hold in the column of labels, besides nothing."""
        return 0.0 if self.zeros is Zeros.unlabeled else self.unlabeled

    def _settled(self, tables: dict[str, ScoreTable]) -> dict[str, ScoreTable]:
        """The same tables, once it is certain what 0 means in them."""
        if self.zeros is Zeros.negative or any("unlabeled" in table.strata for table in tables.values()):
            return tables
        if self.code is not None:
            raise InputError(
                f"No row is unlabeled: the column {self.label!r} has no empty cell and no {self.code:g}. If "
                f"0 means negative and every row has its label, pass --zeros negative."
            )
        if not any("negative" in table.strata for table in tables.values()):
            raise InputError(f"The column {self.label!r} holds only 1: nothing to tell the positives from.")
        raise InputError(
            f"The column {self.label!r} holds only 1 and 0, which does not say whether 0 means negative or "
            f"unlabeled. Pass --zeros negative or --zeros unlabeled."
        )


def evidence_of(table: ScoreTable, prior: Any, purity: Any, population: Population) -> Evidence:
    """The evidence that a table holds, with what the user knows of its shares."""
    from halftruth import evidence

    if "unlabeled" in table.strata:
        known = {} if purity is None else {"purity": purity}
        return evidence.PositiveUnlabeled.from_table(table, prior=prior, population=population, **known)
    confidences = any(rows.meaning == "1/confidence" for rows in table.strata.values())
    pointless = {
        "--prior": prior is not None and not confidences,
        "--purity": purity is not None,
        "--population unlabeled": population is Population.unlabeled,
    }
    for name, given in pointless.items():
        if given:
            raise InputError(
                f"{name} says nothing where no row is unlabeled: the labels decide. Leave it out, or pass "
                f"--zeros unlabeled if 0 means unlabeled."
            )
    if confidences:
        return evidence.PositiveConfidence.from_table(table, prior=prior)
    kind = evidence.SoftLabeled if "soft" in table.strata else evidence.Labeled
    return kind.from_table(table)
