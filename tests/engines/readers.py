"""One way of asking each engine for a table: {group: table}, or {"": table} without groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

import halftruth as ht
from halftruth.table._strata import StratumRows

from .data import TYPES, Case, Data
from .reference import MISSING, stratum

Tables = dict[str, ht.ScoreTable]
Reader = Callable[[Data, Case], Tables]

POSTGRES = {
    pa.float64(): "double precision",
    pa.float32(): "real",
    pa.int64(): "bigint",
    pa.bool_(): "boolean",
    pa.string(): "text",
}


def from_arrays(data: Data, case: Case) -> Tables:
    """NumPy, each group apart."""
    parts: dict[str, list[Any]] = {name: [] for name in data.expected(case)}
    for *row, group in data.rows(case):
        parts.get(_of(group), []).append(row)
    tables = {}
    for name, rows in parts.items():
        score, label, weight = zip(*rows, strict=True)
        weights = None if case.weight is None else weight
        evidence = ht.PositiveUnlabeled.from_labels(
            list(label), score, unlabeled=case.unlabeled, sample_weight=weights
        )
        tables[name] = evidence.table.compress(case.kind)
    return tables


def from_strata(data: Data, case: Case) -> Tables:
    """NumPy, also where a group lacks positive or unlabeled rows, which no evidence does."""
    parts: dict[str, dict[str, list[Any]]] = {name: {} for name in data.expected(case)}
    for score, label, weight, group in data.rows(case):
        parts.get(_of(group), {}).setdefault(stratum(label, case.unlabeled), []).append((score + 0.0, weight))
    tables = {}
    for name, strata in parts.items():
        rows = {part: np.asarray(own).T.copy() for part, own in strata.items()}
        tables[name] = ht.ScoreTable({part: StratumRows(score=s, weight=w) for part, (s, w) in rows.items()})
    return {name: table.compress(case.kind) for name, table in tables.items()}


def from_files(data: Data, case: Case) -> Tables:
    """The embedded DuckDB."""
    return _named(ht.ScoreTable.from_file(data.parquet, max_rows=0, **_columns(case)), case)


def from_ibis(load: Callable[[Data], Any]) -> Reader:
    """Any engine of Ibis, over the table that `load` gives."""
    return lambda data, case: _named(ht.ScoreTable.from_ibis(load(data), **_columns(case)), case)


def from_torch(torch: Any, device: str) -> Reader:
    """Tensors: what is missing is NaN or the code of unlabeled rows, and groups are numbered."""

    def read(data: Data, case: Case) -> Tables:
        absent = float("nan") if case.unlabeled is None else int(case.unlabeled)
        label = [absent if x is None else x for x in data.columns[case.label]]
        kind = torch.float32 if TYPES[case.score] == pa.float32() else torch.float64
        given = {
            "score": torch.tensor(data.columns[case.score], dtype=kind, device=device),
            "label": torch.tensor(label, device=device),
            "unlabeled": case.unlabeled,
        }
        if case.weight is not None:
            given["weight"] = torch.tensor(data.columns[case.weight], dtype=torch.float64, device=device)
        if case.by is None:
            return {"": ht.ScoreTable.from_torch(**given).compress(case.kind)}
        groups = [row[3] for row in data.rows(case)]
        names = list(dict.fromkeys(groups))
        given["by"] = torch.tensor([names.index(name) for name in groups], device=device)
        found = {_of(names[int(k)]): table for k, table in ht.ScoreTable.from_torch(**given).items()}
        return {name: found.pop(name).compress(case.kind) for name in data.expected(case)} | found

    return read


def into_postgres(connection: Any, data: Data) -> Any:
    """The data as a table of PostgreSQL, each value as it is: neither NaN nor a whole number changes."""
    from psycopg import sql

    if data.name not in connection.list_tables():
        typed = [
            sql.SQL(f"{{}} {POSTGRES[TYPES[name]]}").format(sql.Identifier(name)) for name in data.columns
        ]
        table = sql.Identifier(data.name)
        with connection.con.cursor() as cursor:
            cursor.execute(sql.SQL("CREATE TABLE {} ({})").format(table, sql.SQL(", ").join(typed)))
            with cursor.copy(sql.SQL("COPY {} FROM STDIN").format(table)) as copy:
                for row in zip(*data.columns.values(), strict=True):
                    copy.write_row(row)
        connection.con.commit()
    return connection.table(data.name)


def _columns(case: Case) -> dict[str, Any]:
    return {name: getattr(case, name) for name in ("score", "label", "weight", "unlabeled", "by", "grid")}


def _named(found: Any, case: Case) -> Tables:
    return {"": found} if case.by is None else found


def _of(group: str | None) -> str:
    return MISSING if group is None else group
