"""From files, saved tables or the table of an engine to score tables, and from these to evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from glob import escape, glob
from pathlib import Path
from typing import Any

from halftruth._errors import InputError, MergeError, MissingColumn, MissingDependency, OutsideGrid
from halftruth.cli._how_known import NO_PROPENSITIES, Propensities, has_propensities
from halftruth.cli._option_values import ESTIMATE, Share
from halftruth.cli._options import GridKind, LabelOptions, Population, Zeros
from halftruth.cli._reviews import NO_REVIEWS, Reviews
from halftruth.evidence import Evidence, Labeled, PositiveConfidence, PositiveUnlabeled, Reviewed, SoftLabeled
from halftruth.evidence._selection import Selection
from halftruth.files._cell_meanings import Columns
from halftruth.files._file_paths import quoted
from halftruth.files._read_files import EVERY
from halftruth.prior._belief import PriorEstimate
from halftruth.table._grid import Grid
from halftruth.table._score_table import ScoreTable

__all__ = [
    "TABLE_SUFFIX", "TableSource", "evidence_of", "few_of", "refuse_margins", "refuse_without_positives",
]  # fmt: skip

TABLE_SUFFIX = ".npz"  # of saved tables
COMPRESS_FIRST = (
    "First save the table of each file by halftruth evaluate FILE --grid margin --save-table TABLE.npz."
)


@dataclass(frozen=True, kw_only=True)
class TableSource(LabelOptions):
    """Where the rows are and what their labels mean. Several score columns are several models."""

    files: list[str]
    score: str | list[str]
    by: str | None = None
    id: str | None = None
    engine: str | None = None
    grid: GridKind | None = None
    propensity: Propensities = NO_PROPENSITIES
    reviews: Reviews = NO_REVIEWS

    # Refusals before anything is read --------------------------------------------------------------------

    def __post_init__(self) -> None:
        two_codes = self.zeros is not None and self.unlabeled is not None
        if two_codes and (self.zeros is Zeros.unlabeled or self.unlabeled == 0):
            raise InputError(
                f"--zeros {self.zeros} and --unlabeled {self.unlabeled:g} do not go together: one code means "
                f"unlabeled. Pass one of them."
            )
        self._refuse_one_column_for_two()
        if self.engine is not None:
            self._check_engine()
        self._refuse_columns_of_saved()
        self._refuse_propensity()
        self._refuse_beside_reviews()
        if self.grid is not None and not self._row_files:
            raise InputError(
                f"--grid is about rows that are read; the saved table {self._saved[0]} has its own, or none. "
                f"Leave --grid out, or pass the rows."
            )

    def _refuse_one_column_for_two(self) -> None:
        """Refuse a column that is named for two things which no column can be."""
        if self.label in self._scores:
            raise InputError(
                f"--score and --label both name the column {self.label!r}. Name the column of each."
            )
        if self.by is not None and self.by == self.label:
            raise InputError(
                f"--by and --label both name the column {self.by!r}, so a group would have one label only. "
                f"Name another column by --by."
            )

    def _refuse_propensity(self) -> None:
        """Refuse propensities where they cannot be, or would not be the same for all models."""
        given = self.propensity != NO_PROPENSITIES
        histogram = {"--engine": self.engine, "--grid": self.grid}
        made = next((option for option, x in histogram.items() if x is not None), None)
        if given and made is not None:
            raise InputError(
                f"--propensity needs the positives row by row, and {made} makes a histogram. Leave one "
                f"out{', or write the rows to a file' if made == '--engine' else ''}."
            )
        if self.propensity.ranges and (len(self._scores) > 1 or self.id is not None):
            raise InputError(
                "--propensity by ranges of the score would differ from model to model, and a case has one. "
                "Write the propensities into a column, and name it."
            )
        if self.propensity.column == self.label:
            raise InputError(
                f"--propensity and --label both name the column {self.label!r}. Name the column of each."
            )

    def _refuse_beside_reviews(self) -> None:
        """Refuse what says something else of the labels, or where chances of rows are not to be had."""
        others: dict[str, Any] = {"--engine": self.engine, "--grid": self.grid, "--id": self.id}
        others["--zeros"] = self.zeros
        if self.reviews.rounds:
            others["--label"] = None if self.label == "label" else self.label
            others["--unlabeled"] = self.unlabeled
        beside = next((option for option, x in others.items() if x is not None), None)
        if self.reviews and beside is not None:
            raise InputError(
                f"{beside} does not go with reviews: rows are read one by one, in their order, and what "
                f"reviewers said are their labels. Leave {beside} out."
            )

    def _check_engine(self) -> None:
        """Refuse what is no table of an engine; saved tables may stand beside one."""
        tables = self._row_files
        if "-" in tables:
            raise InputError(
                "--engine reads a table that the engine holds, got - for standard input. Name the table, or "
                "leave --engine out."
            )
        if not tables:
            raise InputError(
                f"--engine needs the name of a table, got the saved table {self._saved[0]} alone, which "
                f"holds all that is known of its rows. Leave --engine out."
            )
        if len(tables) > 1:
            raise InputError(
                f"--engine reads one table, got {len(tables)}: {tables[0]}, {tables[1]}"
                f"{', …' if len(tables) > 2 else ''}. Pass a view of them all; of files, a folder or a "
                f"pattern in quotes; or save each by halftruth evaluate --save-table, and pass the files."
            )

    def _refuse_columns_of_saved(self) -> None:
        """Refuse what is said of columns where all tables are saved; beside rows it is said of these."""
        columns: dict[str, Any] = {"--by": self.by, "--id": self.id}
        if not self._row_files:
            columns |= {
                "--weight": self.weight,
                "--zeros": self.zeros,
                "--unlabeled": self.unlabeled,
                "--score": None if self.score == "score" else self.score,
                "--label": None if self.label == "label" else self.label,
                "--propensity": self.propensity.column,
                "--reviewed": self.reviews.rounds or None,
                "--review-chance": self.reviews.chance,
            }
        named = [option for option, column in columns.items() if column is not None]
        if self._saved and named:
            raise InputError(
                f"{named[0]} is about the columns of a file; the saved table {self._saved[0]} has none: its "
                f"rows are already positive, unlabeled or negative. Leave {named[0]} out, or pass the rows."
            )

    # What there is ---------------------------------------------------------------------------------------

    @property
    def _saved(self) -> list[str]:
        """The names of saved tables, or patterns of them."""
        return [file for file in self.files if file.endswith(TABLE_SUFFIX)]

    @property
    def _row_files(self) -> list[str]:
        return [file for file in self.files if not file.endswith(TABLE_SUFFIX)]

    @property
    def _scores(self) -> list[str]:
        return [self.score] if isinstance(self.score, str) else self.score

    @property
    def score_columns(self) -> list[str]:
        """The columns of scores; none where all rows come from saved tables."""
        return self._scores if self._row_files else []

    @property
    def code(self) -> float | None:
        """What unlabeled rows hold in the column of labels, besides nothing."""
        return 0.0 if self.zeros is Zeros.unlabeled else self.unlabeled

    # Reading ---------------------------------------------------------------------------------------------

    def tables(self) -> dict[str, ScoreTable]:
        """The table of each group, or joined file; under the empty name, where there is one for all."""
        tables = _load(self._saved)
        if self._row_files:
            # Rows that join a saved histogram are binned as it was, so that the two can be merged.
            grid = next((table.grid for table in tables.values() if table.grid is not None), None)
            rows = self._read(self._row_files, self.grid or grid)
            if isinstance(rows, dict):
                settled = self._settled(rows)
                return {name: self.propensity.of_ranges(table) for name, table in settled.items()}
            tables |= {", ".join(self._row_files): self._settled({"": rows})[""]}
        return {"": self.propensity.of_ranges(_merged(tables))}

    def models(self) -> dict[str, dict[str, ScoreTable]]:
        """The table of each score column, by group; under the empty name, where there is one for all."""
        if self._saved:
            raise InputError(
                f"The saved table {self._saved[0]} has one score a row. Pass the rows, with a column for "
                f"each model."
            )
        tables = self._read(self.files)
        groups: dict[str, dict[str, ScoreTable]] = {"": tables} if self.by is None else tables
        # All models have the labels of the same rows: one table of each group tells what 0 means.
        self._settled({group: next(iter(models.values())) for group, models in groups.items()})
        return groups

    def _read(self, files: list[str], grid: Grid | str | None = None) -> Any:
        columns: dict[str, Any] = {
            "score": self.score,
            "label": self.label,
            "weight": self.weight,
            "unlabeled": self.code,
            "by": self.by,
        }
        try:
            if self.reviews:
                return self._read_reviews(files)
            if self.engine is not None:
                return _read_engine(self.engine, files[0], grid, **columns)
            columns |= {"id": self.id, "propensity": self.propensity.column}
            most = EVERY if self.propensity.ranges else None  # propensities stay row by row
            return ScoreTable.from_file(files, **columns, grid=grid, max_rows=most)
        except MissingColumn as error:
            option = self._option_of(error.column)
            if option is None:
                raise
            raise error.also(f"It is named by {option}.") from error
        except OutsideGrid as error:
            if not self._saved:
                raise
            raise error.advised(COMPRESS_FIRST) from error

    def _read_reviews(self, files: list[str]) -> Any:
        """As `ScoreTable.from_file` gives tables."""
        named: Any = {name: getattr(self, name) for name in ("label", "weight", "by", "unlabeled")}
        columns = Columns(scores=tuple(self._scores), **named)
        groups: dict[str, Any] = dict(self.reviews.tables(files, columns))
        if isinstance(self.score, str):
            groups = {group: models[self.score] for group, models in groups.items()}
        return groups[""] if self.by is None else groups

    def _option_of(self, column: str) -> str | None:
        """The option by which a column is named."""
        columns = {"--label": self.label, "--weight": self.weight, "--by": self.by, "--id": self.id}
        columns |= {"--propensity": self.propensity.column, **self.reviews.columns}
        named = [*(("--score", name) for name in self._scores), *columns.items()]
        return next((option for option, name in named if name == column), None)

    def _settled(self, tables: dict[str, ScoreTable]) -> dict[str, ScoreTable]:
        """The same tables, once it is certain what 0 means in them."""
        certain = self.reviews or self.zeros is Zeros.negative
        if certain or any("unlabeled" in table.strata for table in tables.values()):
            return tables
        where = few_of(self._row_files)
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
        what = f"{where}: The column {self.label!r} holds only 1 and 0"
        if self.reviews.reviewer:
            raise InputError(
                f"{what}. If reviewers who err said it of every row, pass --review-chance 1 too."
            )
        raise InputError(
            f"{what}, which does not say whether 0 means negative or unlabeled. Pass --zeros negative or "
            f"--zeros unlabeled."
        )


# Saved tables: read again on another day or under another prior --------------------------------------


def _load(files: Sequence[str]) -> dict[str, ScoreTable]:
    """The saved tables of these names and patterns, by file."""
    paths = [path for file in files for path in _matched(file)]
    count = Counter(Path(path).resolve() for path in paths)
    for path in paths:
        if count[Path(path).resolve()] > 1:
            raise InputError(f"{path} was named more than once, so its rows would count twice. Name it once.")
    return {path: ScoreTable.load(path) for path in paths}


def _matched(file: str) -> list[str]:
    # Path.glob takes no absolute pattern. Of a name that matches nothing, `ScoreTable.load` says so.
    found = [file] if Path(file).exists() else sorted(glob(file, recursive=True))  # noqa: PTH207
    of_groups = [] if found else sorted(glob(f"{escape(file.removesuffix(TABLE_SUFFIX))}-*{TABLE_SUFFIX}"))  # noqa: PTH207
    if of_groups:
        raise InputError(f"There is no file {file}, but of groups there are {few_of(of_groups)}. Name these.")
    return found or [file]


def few_of(names: Iterable[str]) -> str:
    """The first names of many."""
    every = [*names]
    return ", ".join([*every[:3], "…"] if len(every) > 3 else every)


def _merged(tables: Mapping[str, ScoreTable]) -> ScoreTable:
    """One table of them all; each is named by where it comes from."""
    binned = next((name for name, table in tables.items() if table.grid is not None), None)
    if binned is not None:
        tables = {name: _on_grid_of(tables[binned], binned, table, name) for name, table in tables.items()}
    first, *others = tables.values()
    return first.merge(*others)


def _on_grid_of(binned: ScoreTable, where: str, table: ScoreTable, name: str) -> ScoreTable:
    if table.grid not in (None, binned.grid):
        raise MergeError(
            f"{where} and {name} have different grids: {binned.grid}, and {table.grid}. {COMPRESS_FIRST}"
        )
    try:
        return table.compress(binned.grid)
    except OutsideGrid as error:
        raise error.advised(COMPRESS_FIRST).about(name) from error
    except InputError as error:
        raise error.about(name) from error


# Engines ---------------------------------------------------------------------------------------------


def _read_engine(engine: str, name: str, grid: Grid | str | None, **columns: Any) -> Any:
    """The table by its histogram, which the engine makes; with ``by``, one for each group."""
    try:
        from halftruth.engines.sql._connections import open_table
    except MissingDependency as error:
        if engine == "spark":
            raise MissingDependency("Spark needs PySpark and Ibis: pip install 'halftruth[spark]'") from error
        raise
    with open_table(engine, name) as table:
        _check_numbers(table, columns)
        return ScoreTable.from_ibis(table, **columns, grid=grid)


def _check_numbers(table: Any, columns: dict[str, Any]) -> None:
    """Refuse words where numbers are needed, with what can be done outside Python."""
    from halftruth.engines.sql._sql_columns import holds_numbers

    for role in ("score", "label", "weight"):
        name = columns[role]
        if name in table.columns and not holds_numbers(table[name]):
            label = role == "label"
            raise InputError(
                f"Column {quoted(name)} must hold {'numbers or booleans' if label else 'numbers'} for "
                f"--{role}, it holds {table[name].type()}. Make a view of the table that has "
                f"{'1, 0 and NULL' if label else 'numbers'} in it, or name another column by --{role}."
            )


# Evidence --------------------------------------------------------------------------------------------


def evidence_of(
    table: ScoreTable,
    *,
    prior: Share = None,
    purity: Share = None,
    population: Population = Population.all,
    selection: Selection | None = None,
    known: Mapping[str, Any] | None = None,
    reviewer: Mapping[str, Any] | None = None,
) -> Evidence:
    """The evidence that a table holds, with what the user knows of its shares, or of who reviewed it."""
    if reviewer and not table.reviewed:
        raise InputError(
            f"--{next(iter(reviewer))} is about reviews, and nothing says that the labels are some. Pass "
            "--reviewed or --review-chance too, --review-chance 1 if all rows were reviewed."
        )
    if "unlabeled" in table.strata and not table.reviewed:
        refuse_without_positives(table)
        purity = 1.0 if purity is None else purity
        estimate = _estimated(table, purity, known) if known and prior == ESTIMATE else prior
        given: Any = {"population": population, "selection": (selection or Selection()).as_given()}
        return PositiveUnlabeled.from_table(table, prior=estimate, purity=purity, **given)
    confidences = any(rows.meaning == "1/confidence" for rows in table.strata.values())
    pointless = {
        "--prior": prior is not None and not confidences,
        "--purity": purity is not None,
        "--selection": selection is not None,
        "--propensity": has_propensities(table),
        "--population unlabeled": population is Population.unlabeled,
    }
    for option, is_there in pointless.items():
        if is_there:
            raise InputError(
                f"{option} says nothing where rows were reviewed: the reviews decide. Leave it out."
                if table.reviewed
                else f"{option} says nothing where no row is unlabeled: the labels decide. Leave it out, or "
                f"pass --zeros unlabeled if 0 means unlabeled."
            )
    if table.reviewed:
        if not {"positive", "negative"} & set(table.strata):
            raise InputError(f"None of {len(table)} row(s) was reviewed: nothing can be said of them.")
        return Reviewed.from_table(table, **reviewer or {})
    if confidences:
        return PositiveConfidence.from_table(table, prior=prior)
    kind = SoftLabeled if "soft" in table.strata else Labeled
    return kind.from_table(table)


def refuse_without_positives(table: ScoreTable) -> None:
    """Refuse unlabeled rows without one that is known to be positive."""
    if "positive" not in table.strata:
        raise InputError(
            f"None of {len(table)} row(s) has the label 1: without a known positive nothing can be said of "
            f"the others. Pass rows of both kinds, or name another column by --label."
        )


def refuse_margins(evidence: Evidence, option: str, remedy: str) -> None:
    """Refuse scores that are no probabilities where a method needs these."""
    measure = evidence.measure()
    if not measure.bounded:
        low, high = measure.span
        raise InputError(
            f"{option} needs probabilities in [0, 1], got scores from {low:g} to {high:g}. For margins pass "
            f"{remedy}."
        )


def _estimated(table: ScoreTable, purity: Share, known: Mapping[str, Any]) -> PriorEstimate:
    """α, with what is known of it besides the scores."""
    from halftruth.prior._estimate_prior import estimate_prior

    two_samples = PositiveUnlabeled.from_table(table, purity=purity, population="unlabeled")
    return estimate_prior(two_samples, **known)
