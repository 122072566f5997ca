"""From files, or the table of an engine, to evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from halftruth._errors import InputError, MissingColumn, OutsideGrid
from halftruth.cli import engine, stored
from halftruth.cli.options import GridKind, Population, Zeros

if TYPE_CHECKING:
    from halftruth.evidence import Evidence
    from halftruth.prior._belief import PriorEstimate
    from halftruth.table._grid import Grid
    from halftruth.table._score_table import ScoreTable


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
    engine: str | None = None
    grid: GridKind | None = None

    def __post_init__(self) -> None:
        two = self.zeros is not None and self.unlabeled is not None
        if two and (self.zeros is Zeros.unlabeled or self.unlabeled == 0):
            raise InputError(
                f"--zeros {self.zeros} and --unlabeled {self.unlabeled:g} do not go together: one code means "
                f"unlabeled. Pass one of them."
            )
        self._refuse_one_for_two()
        if self.engine is not None:
            engine.check(self.files, self._saved)
        self._refuse_columns_of_saved()
        if self.grid is not None and len(self._saved) == len(self.files):
            raise InputError(
                f"--grid is about rows that are read; the saved table {self._saved[0]} has its own, or none. "
                f"Leave --grid out, or pass the rows."
            )

    def _refuse_columns_of_saved(self) -> None:
        """Refuse what is said of columns where all tables are saved; beside rows it is said of these."""
        columns: dict[str, Any] = {"--by": self.by, "--id": self.id}
        if len(self._saved) == len(self.files):
            columns |= {
                "--weight": self.weight,
                "--zeros": self.zeros,
                "--unlabeled": self.unlabeled,
                "--score": None if self.score == "score" else self.score,
                "--label": None if self.label == "label" else self.label,
            }
        given = [name for name, value in columns.items() if value is not None]
        if self._saved and given:
            raise InputError(
                f"{given[0]} is about the columns of a file; the saved table {self._saved[0]} has none: its "
                f"rows are already positive, unlabeled or negative. Leave {given[0]} out, or pass the rows."
            )

    def _refuse_one_for_two(self) -> None:
        """Refuse a column that is named for two things which no column can be."""
        scores = [self.score] if isinstance(self.score, str) else self.score
        if self.label in scores:
            raise InputError(
                f"--score and --label both name the column {self.label!r}. Name the column of each."
            )
        if self.by is not None and self.by == self.label:
            raise InputError(
                f"--by and --label both name the column {self.by!r}, so a group would have one label only. "
                f"Name another column by --by."
            )

    @property
    def _saved(self) -> list[str]:
        return stored.among(self.files)

    @property
    def _rows(self) -> list[str]:
        return [file for file in self.files if file not in self._saved]

    @property
    def scored(self) -> list[str]:
        """The columns of scores; none where all rows come from saved tables."""
        if len(self._saved) == len(self.files):
            return []
        return [self.score] if isinstance(self.score, str) else self.score

    def tables(self) -> dict[str, ScoreTable]:
        """The table of each group, or joined file; under the empty name, where there is one for all."""
        tables = stored.load(self._saved)
        if self._rows:
            grid = next((table.grid for table in tables.values() if table.grid is not None), None)
            found = self._read(self._rows, self.grid or grid)
            if isinstance(found, dict):
                return self._settled(found)
            tables |= {", ".join(self._rows): self._settled({"": found})[""]}
        return {"": stored.merged(tables)}

    def models(self) -> dict[str, dict[str, ScoreTable]]:
        """The table of each score column, by group; under the empty name, where there is one for all."""
        if self._saved:
            raise InputError(
                f"The saved table {self._saved[0]} has one score a row. Pass the rows, with a column for "
                f"each model."
            )
        found = self._read(self.files)
        groups: dict[str, dict[str, ScoreTable]] = {"": found} if self.by is None else found
        self._settled({group: next(iter(tables.values())) for group, tables in groups.items()})
        return groups

    def _read(self, files: list[str], grid: Grid | str | None = None) -> Any:
        from halftruth.table._score_table import ScoreTable

        columns: dict[str, Any] = {
            "score": self.score,
            "label": self.label,
            "weight": self.weight,
            "unlabeled": self.code,
            "by": self.by,
        }
        try:
            if self.engine is not None:
                return engine.read(self.engine, files[0], grid, **columns)
            return ScoreTable.from_file(files, **columns, id=self.id, grid=grid)
        except MissingColumn as error:
            option = self._option_of(error.column)
            if option is None:
                raise
            raise error.also(f"It is named by {option}.") from error
        except OutsideGrid as error:
            if not self._saved:
                raise
            raise error.advised(stored.REMEDY) from error

    def _option_of(self, column: str) -> str | None:
        """The option by which a column is named."""
        columns = {"--label": self.label, "--weight": self.weight, "--by": self.by, "--id": self.id}
        scores = [self.score] if isinstance(self.score, str) else self.score
        named = [*(("--score", name) for name in scores), *columns.items()]
        return next((option for option, name in named if name == column), None)

    @property
    def code(self) -> float | None:
        """What unlabeled rows hold in the column of labels, besides nothing."""
        return 0.0 if self.zeros is Zeros.unlabeled else self.unlabeled

    def _settled(self, tables: dict[str, ScoreTable]) -> dict[str, ScoreTable]:
        """The same tables, once it is certain what 0 means in them."""
        if self.zeros is Zeros.negative or any("unlabeled" in table.strata for table in tables.values()):
            return tables
        where = ", ".join(self._rows[:3]) + (", …" if len(self._rows) > 3 else "")
        if self.code is not None:
            raise InputError(
                f"{where}: No row is unlabeled: the column {self.label!r} has no empty cell and no "
                f"{self.code:g}. If 0 means negative and every row has its label, pass --zeros negative."
            )
        if not any("negative" in table.strata for table in tables.values()):
            raise InputError(
                f"{where}: The column {self.label!r} holds only 1: nothing to tell the positives from. Pass "
                f"the other rows too, with an empty cell where a label is unknown."
            )
        raise InputError(
            f"{where}: The column {self.label!r} holds only 1 and 0, which does not say whether 0 means "
            f"negative or unlabeled. Pass --zeros negative or --zeros unlabeled."
        )


def evidence_of(
    table: ScoreTable,
    prior: Any,
    purity: Any,
    population: Population,
    known: Mapping[str, Any] | None = None,
) -> Evidence:
    """The evidence that a table holds, with what the user knows of its shares."""
    from halftruth import evidence

    if "unlabeled" in table.strata:
        refuse_without_positives(table)
        purity = 1.0 if purity is None else purity
        if known:
            prior = _estimated(table, purity, known)
        return evidence.PositiveUnlabeled.from_table(table, prior=prior, purity=purity, population=population)
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


def refuse_without_positives(table: ScoreTable) -> None:
    """Refuse unlabeled rows without one that is known to be positive."""
    if "positive" not in table.strata:
        raise InputError(
            f"None of {len(table)} row(s) has the label 1: without a known positive nothing can be said of "
            f"the others. Pass rows of both kinds, or name another column by --label."
        )


def _estimated(table: ScoreTable, purity: Any, known: Mapping[str, Any]) -> PriorEstimate:
    """α, with what is known of it besides the scores."""
    from halftruth.evidence import PositiveUnlabeled
    from halftruth.prior._estimate_prior import estimate_prior

    two_samples = PositiveUnlabeled.from_table(table, purity=purity, population="unlabeled")
    return estimate_prior(two_samples, **known)
