"""ScoreTable: the rows of each stratum, as they came or as a histogram. It knows no prior; tables merge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from halftruth import _checks, _storage
from halftruth._checks import Vector
from halftruth._errors import InputError
from halftruth.table._grid import Grid
from halftruth.table._histogram import COMPILED, Bins
from halftruth.table._strata import (
    BINNED,
    MEANINGS,
    NEGATIVE,
    POSITIVE,
    PROPENSITY,
    SOFT,
    STRATA,
    UNLABELED,
    Strata,
    StratumRows,
)
from halftruth.table._support import Support

__all__ = ["NEGATIVE", "POSITIVE", "SOFT", "STRATA", "UNLABELED", "ScoreTable"]

SCHEMA = 1


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Scores by stratum, prior-free and mergeable.

    Parameters
    ----------
    strata : mapping of str to Rows or Bins
        Any of "positive", "unlabeled" and "negative"; or "soft" alone. All are rows, or all are
        histograms on one grid.

    Examples
    --------
    >>> import halftruth as ht
    >>> monday = ht.Labeled([1, 0], [0.9, 0.2]).table
    >>> tuesday = ht.Labeled([1, 0, 0], [0.8, 0.3, 0.1]).table
    >>> week = monday.merge(tuesday)
    >>> week
    ScoreTable(positive=2, negative=3)
    >>> week.compress()
    ScoreTable(positive=2, negative=3; probability grid of 65,536 bins)
    """

    strata: Mapping[str, StratumRows | Bins]

    def __post_init__(self) -> None:
        if not isinstance(self.strata, Strata):
            object.__setattr__(self, "strata", Strata(self.strata))

    @property
    def _strata(self) -> Strata:
        return cast("Strata", self.strata)

    @classmethod
    def from_file(
        cls,
        path: Any,
        score: str | Sequence[str] = "score",
        label: str = "label",
        weight: str | None = None,
        unlabeled: float | None = None,
        by: str | None = None,
        *,
        id: str | None = None,  # noqa: A002  the word that users know
        propensity: str | None = None,
        grid: Grid | str | None = None,
        max_rows: int | None = None,
    ) -> Any:
        r"""Read a table from files of any size, through an embedded DuckDB.

        Parameters
        ----------
        path : path, glob, directory, "-" for standard input, or a list of these
            CSV or TSV with a header, JSON lines (also .gz, .zst), Parquet, Arrow; several are one table.
        score : str or list of str
            The column of the scores. Several give one table each, row-aligned: {column: table}.
        label : str
            Its column holds 1 (positive), 0 (negative), and nothing or NaN (unlabeled).
        weight : str, optional
        unlabeled : number, optional
            Another code for unlabeled rows: 0 where the column says only "known positive or not".
        by : str, optional
            One table for each value of this column, at most 1,000, numbers by size: {value as text: table}.
        grid : Grid, "probability", "margin", optional
            Of the histogram; by default "probability" where all scores lie in [0, 1], else "margin".
        id : str, optional
            A column that tells cases apart, where each of several files holds other scores of the same cases:
            one table for each file, row-aligned: {file: table}.
        propensity : str, optional
            Its column holds, for each positive, the chance that such a positive is known; cells of other
            rows are not read. Rows with it are always kept as they are.
        max_rows : int, optional
            Up to this many rows are kept as they are, and results equal those of arrays; more become a
            histogram, and every metric has a certified bound on what that changes. By default 500,000;
            tables that are row-aligned are always kept as they are.

        Examples
        --------
        >>> import halftruth as ht, pathlib, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = pathlib.Path(folder.name, "scores.csv")
        >>> _ = path.write_text("score,label\n0.9,1\n0.8,\n0.1,\n")
        >>> ht.ScoreTable.from_file(path)
        ScoreTable(positive=1, unlabeled=2)
        >>> folder.cleanup()
        """
        from halftruth import files

        if isinstance(path, (str, Path)) and str(path).endswith(".npz"):
            raise InputError(f"{path} looks like a saved table: use ScoreTable.load.")
        columns: dict[str, Any] = {"score": score, "label": label, "weight": weight, "by": by, "id": id}
        columns["propensity"] = propensity
        read = files.read(path, **columns, unlabeled=unlabeled, grid=_as_grid(grid), max_rows=max_rows)

        def tables(rows: Any) -> Any:
            if isinstance(rows, files.BinnedRows):
                return cls(rows.strata)
            others = rows.stratum, rows.weight, rows.propensity
            every = {k: cls(_of_columns(x, *others)) for k, x in rows.scores.items()}
            return every[score] if isinstance(score, str) else every

        one = by is None and id is None
        return tables(read) if one else {key: tables(rows) for key, rows in read.items()}

    @classmethod
    def from_ibis(
        cls,
        table: Any,
        score: Any = "score",
        label: Any = "label",
        weight: Any = None,
        unlabeled: float | None = None,
        by: Any = None,
        *,
        grid: Grid | str | None = None,
    ) -> Any:
        """Have any SQL engine make the table: one GROUP BY, of which only the histogram comes back.

        Parameters
        ----------
        table : ibis.Table
            Of DuckDB, Spark, PostgreSQL, BigQuery, Snowflake, … (``pip install 'halftruth[ibis]'``).
        score, label, weight, by : str or Ibis expression
            As in `from_file`: columns of numbers; labels may be booleans.
        unlabeled, grid
            As in `from_file`.

        Returns
        -------
        ScoreTable
            Always a histogram, the same to the bit as `from_file` makes of the same rows with ``max_rows=0``.
            With ``by`` a dict {value as text: table}. Evidence is made of it by
            ``PositiveUnlabeled.from_table(table, prior=…)`` or ``Labeled.from_table(table)``.

        Examples
        --------
        >>> import halftruth as ht, ibis
        >>> rows = ibis.memtable({"score": [0.9, 0.8, 0.1], "label": [1, None, None]})
        >>> ht.ScoreTable.from_ibis(rows)
        ScoreTable(positive=1, unlabeled=2; probability grid of 65,536 bins)
        """
        from halftruth.engines import sql

        columns = {"score": score, "label": label, "weight": weight, "by": by}
        groups = sql.read(table, **columns, unlabeled=unlabeled, grid=_as_grid(grid))
        tables = {group: cls(strata) for group, strata in groups.items()}
        return tables[""] if by is None else tables

    @classmethod
    def from_torch(
        cls, score: Any, label: Any, *, weight: Any = None, unlabeled: float | None = None, by: Any = None
    ) -> Any:
        """Take rows that lie on any device of PyTorch; they stay there, and are sorted and added up there.

        Parameters
        ----------
        score : (n,) tensor of finite numbers
        label : (n,) tensor
            1 (positive), 0 (negative), NaN (unlabeled).
        weight : (n,) tensor, optional
        unlabeled : number, optional
            Another code for unlabeled rows, e.g. 0 or −1.
        by : (n,) tensor of whole numbers, optional
            One table for each value: {value as text: table}.

        Returns
        -------
        ScoreTable
            Of exact rows; `compress` makes the histogram, on the same device. Evidence is made of it by
            ``PositiveUnlabeled.from_table`` or ``Labeled.from_table``.

        Examples
        --------
        >>> import halftruth as ht, torch
        >>> score, label = torch.tensor([0.9, 0.8, 0.1]), torch.tensor([1.0, torch.nan, torch.nan])
        >>> ht.ScoreTable.from_torch(score, label)
        ScoreTable(positive=1, unlabeled=2)
        """
        from halftruth.engines import tensors

        if by is None:
            return cls(tensors.read(score, label, weight=weight, unlabeled=unlabeled))
        groups = tensors.read_groups(score, label, by=by, weight=weight, unlabeled=unlabeled)
        return {group: cls(strata) for group, strata in groups.items()}

    def __repr__(self) -> str:
        sizes = ", ".join(f"{k}={len(rows)}" for k, rows in self.strata.items())
        return f"ScoreTable({sizes}{'' if self.grid is None else f'; {self.grid}'})"

    def __len__(self) -> int:
        return sum(len(rows) for rows in self.strata.values())

    @property
    def grid(self) -> Grid | None:
        """The grid of a histogram; None where the table holds exact rows."""
        return self._strata.grid

    @property
    def reviewed(self) -> bool:
        """Whether somebody looked at some of its rows, each by a chance of its own."""
        return self._strata.reviewed

    def merge(self, *others: ScoreTable) -> ScoreTable:
        """The table of all rows together; the same, to the bit, as one made from all rows at once.

        Histograms merge on one grid; exact rows that join a histogram are put on its grid.
        """
        tables = [_checks.instance(other, "other", ScoreTable) for other in others]
        return ScoreTable(self._strata.merge([table._strata for table in tables]))

    def compress(self, grid: Grid | str | None = None) -> ScoreTable:
        """The table as a histogram of exact integer sums, some megabytes at most whatever the rows.

        Parameters
        ----------
        grid : Grid, "probability", "margin" or None
            Where left out, "probability" if all scores lie in [0, 1], else "margin".
        """
        strata = self._strata.compress(_as_grid(grid))
        return self if strata is self.strata else ScoreTable(strata)

    def to_host(self) -> ScoreTable:
        """The same table, on the host if it is a histogram."""
        strata = self._strata.to_host()
        return self if strata is self.strata else ScoreTable(strata)

    def save(self, path: str | Path) -> None:
        """Write the table to one file, whole or not at all; `load` reads it on any machine."""
        arrays = {
            f"{stratum}.{column.name}": array
            for stratum, rows in self.strata.items()
            for column in fields(rows)
            if isinstance(array := getattr(rows, column.name), np.ndarray)
        }
        header = {
            "grid": None if self.grid is None else self.grid.to_dict(),
            "meaning": {name: rows.meaning for name, rows in self.strata.items()},
        }
        _storage.save(path, "ScoreTable", SCHEMA, header, arrays)

    @classmethod
    def load(cls, path: str | Path) -> ScoreTable:
        """Read a table that `save` wrote. Nothing in the file is run."""
        header, arrays = _storage.load(path, "ScoreTable", SCHEMA)
        strata: dict[str, dict[str, Any]] = {}
        try:
            grid = None if header["grid"] is None else Grid(**header["grid"])
            for name, array in arrays.items():
                stratum, _, column = name.partition(".")
                strata.setdefault(stratum, {})[column] = array
            checked = {k: _stratum(grid, header["meaning"][k], columns) for k, columns in strata.items()}
        except (TypeError, KeyError, AttributeError, ValueError) as error:
            raise InputError(f"{path} is a damaged ScoreTable: {error}") from error
        return cls(checked)

    def need(self, strata: tuple[str, ...], meaning: str | None, remedy: str) -> None:
        """Raise unless the table holds only these strata, all of their rows with values of this meaning."""
        meanings = {rows.meaning for rows in self.strata.values()}
        if not self.strata or not set(self.strata) <= set(strata) or meanings != {meaning}:
            raise InputError(f"This evidence takes {' and '.join(strata)} rows, got {self!r}. {remedy}")

    def effective_rows(self, *names: str) -> float:
        """(Σw)²/Σw² over these strata, or all: the rows that unequal weights leave in effect."""
        total, squares = np.sum([self.strata[name].size for name in names or self.strata], axis=0)
        return float(total**2 / squares)

    def unit(self, *names: str) -> float:
        """What one row of these strata, or of all, weighs: 1 where weights are whole, which count rows."""
        rows = [self.strata[name] for name in names or self.strata]
        if all(x.weight is None or (isinstance(x, StratumRows) and _whole(x.weight)) for x in rows):
            return 1.0
        total, squares = np.sum([x.size for x in rows], axis=0)
        return float(squares / total)

    def sorted_scores(self) -> Mapping[str, Vector]:
        """The scores of the exact rows of each stratum, ascending."""
        # Many plain rows are sorted for their measure anyway: a sort of their own would be one too many.
        ordered = self.support.sorted_scores if len(self) >= COMPILED else None
        return ordered or {name: np.sort(rows.score) for name, rows in self._strata.exact.items()}

    @cached_property
    def support(self) -> Support:
        """The distinct scores of all strata, and each stratum's distinct rows on them."""
        return self._strata.support()


def _of_columns(
    score: Vector, stratum: NDArray[np.int8], weight: Vector | None, propensity: Vector | None = None
) -> dict[str, StratumRows]:
    """The rows of each stratum, in their order; ``stratum`` counts in the order of `STRATA`."""
    masks = {name: stratum == k for k, name in enumerate(STRATA[:3])}

    def rows(name: str, mask: NDArray[np.bool_]) -> StratumRows:
        value = None if propensity is None or name != POSITIVE else 1 / propensity[mask]
        return StratumRows(
            score=score[mask],
            weight=None if weight is None else weight[mask],
            value=value,
            meaning=None if value is None else PROPENSITY,
        )

    return {name: rows(name, mask) for name, mask in masks.items()}


def _as_grid(grid: Grid | str | None) -> Grid | None:
    return Grid(grid) if isinstance(grid, str) else grid


def _whole(weight: Vector) -> bool:
    return bool((weight == np.floor(weight)).all())


def _stratum(grid: Grid | None, meaning: str | None, columns: dict[str, Any]) -> StratumRows | Bins:
    """A stratum from stored columns, checked as if a user had passed them."""
    if grid is not None:
        if meaning not in (None, *BINNED):
            raise InputError(f"a histogram holds no {meaning}")
        return Bins.checked(grid, columns, meaning)
    score = _checks.scores(columns.pop("score"), "score")
    weight = _checks.weights(columns.pop("weight", None), "weight", length=len(score))
    value = columns.pop("value", None)
    if columns or (value is None) != (meaning is None) or meaning not in (None, *MEANINGS):
        raise InputError(f"unexpected columns {sorted(columns) or 'for its meaning'}")
    if value is not None:
        low, high = MEANINGS[str(meaning)]
        zero = np.isposinf(value) & (meaning == "1/confidence")  # a confidence may be 0
        _checks.vector(np.where(zero, low, value), "value", length=len(score))
        value = np.asarray(value, dtype=np.float64)
        if not ((value >= low) & (value <= high)).all():
            raise InputError(f"a {meaning} must lie in [{low:g}, {high:g}]")
    return StratumRows(score=score, weight=weight, value=value, meaning=meaning)
