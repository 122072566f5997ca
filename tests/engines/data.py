"""The one data set that every engine reads, with all that engines treat unlike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from .reference import Group, Row, tables

N_ROWS = 6000
PROBABILITIES = [0.0, -0.0, 1.0, 0.5, 1 - 2.0**-53, 2.0**-53, 5e-324, 2.2e-308, 1e-300, 1e-16, 1 / 3]
MARGINS = [*PROBABILITIES, -1.0, -5e-324, 1e300, -1e300, 2.0**53, -1 / 3, 1 + 2.0**-52, 88.0]
GROUPS = ["9", "10", "1e1", "north", "North", 'O\'Brien; "x" --', "é", "", " ", "-0.5", "idle", None]
LABELS = {"double": None, "unsaid": None, "whole": None, "truth": None, "coded": -1.0, "known": 0.0}
"""The columns of labels, and the code of unlabeled rows in each."""
TYPES = {
    **dict.fromkeys(["score", "margin", "double", "unsaid", "weight", "ones"], pa.float64()),
    **dict.fromkeys(["whole", "coded", "known", "month"], pa.int64()),
    "single": pa.float32(),
    "truth": pa.bool_(),
    "group": pa.string(),
}


@dataclass(frozen=True)
class Case:
    """What is read: columns, and the code of unlabeled rows."""

    score: str
    label: str
    weight: str | None
    by: str | None
    grid: str | None = None

    @property
    def unlabeled(self) -> float | None:
        return LABELS[self.label]

    @property
    def kind(self) -> str:
        """Of the grid, which engines find out where it is not named."""
        return self.grid or ("margin" if self.score == "margin" else "probability")

    def __str__(self) -> str:
        return "-".join(filter(None, (self.score, self.label, self.weight, self.by)))


SCORES = [("score", label) for label in LABELS]
SCORES += [("margin", "double"), ("margin", "coded"), ("single", "whole")]
PLAIN = Case("score", "double", None, None)
GROUPED = Case("score", "double", "weight", "group")
MARGIN = Case("margin", "double", "weight", "group")
CASES = [
    Case(score, label, weight, by)
    for score, label in SCORES
    for weight in (None, "weight")
    for by in (None, "group")
]
CASES += [Case("score", "double", "weight", "month"), Case("score", "known", "ones", "group")]


class Data:
    """Columns of Python's values, None for what is missing; also as Parquet, and as the table they stand for."""

    def __init__(self, name: str, columns: Mapping[str, Sequence[Any]], folder: Path) -> None:
        self.name, self.columns = name, columns
        self.path = folder / f"{name}.parquet"
        self._expected: dict[Case, dict[str, Group]] = {}
        self._split: dict[int, list[Data]] = {}

    @cached_property
    def parquet(self) -> Path:
        types = {name: TYPES[name] for name in self.columns}
        # From lists: through NumPy or pandas NaN and nothing would become one.
        pq.write_table(pa.table({k: pa.array(self.columns[k], t) for k, t in types.items()}), self.path)
        return self.path

    def rows(self, case: Case) -> list[Row]:
        """The rows as the case reads them; without groups all are in one, ""."""
        n = len(self.columns[case.score])
        weight = [1.0] * n if case.weight is None else self.columns[case.weight]
        groups = [""] * n if case.by is None else self.columns[case.by]
        named = [group if group is None else str(group) for group in groups]
        return list(zip(self.columns[case.score], self.columns[case.label], weight, named, strict=True))

    def expected(self, case: Case) -> dict[str, Group]:
        """The tables by group, made by plain loops."""
        if case not in self._expected:
            self._expected[case] = tables(self.rows(case), case.kind, case.unlabeled)
        return self._expected[case]

    def split(self, n: int) -> list[Data]:
        """The rows dealt out to n parts."""
        if n not in self._split:
            dealt = [{name: column[k::n] for name, column in self.columns.items()} for k in range(n)]
            self._split[n] = [
                Data(f"{self.name}_{k}_of_{n}", own, self.path.parent) for k, own in enumerate(dealt)
            ]
        return self._split[n]


def made(n_rows: int = N_ROWS, seed: int = 10) -> dict[str, list[Any]]:
    """The columns of the data set.

    Scores: `score` in [0, 1], `margin` beyond, `single` the first in single precision. Labels: `double` has
    both missing cells and NaN, `unsaid` only NaN (of which Parquet's statistics say nothing), `coded` has −1 and missing cells, `known` says only who is a known positive.
    """
    rng = np.random.default_rng(seed)
    group = rng.integers(0, len(GROUPS), n_rows)
    label = rng.choice(np.asarray([1.0, 0.0, np.nan]), n_rows, p=[0.15, 0.1, 0.75])
    gone = rng.random(n_rows) < 0.5
    score, margin = _scores(rng, n_rows)
    codes = list(zip(label.tolist(), gone.tolist(), strict=True))
    return {
        "score": score.tolist(),
        "margin": margin.tolist(),
        "single": score.astype(np.float32).tolist(),
        "double": [None if x != x and missing else x for x, missing in codes],
        "unsaid": label.tolist(),
        "whole": [None if x != x else int(x) for x, _ in codes],
        "truth": [None if x != x else x == 1 for x, _ in codes],
        "coded": [(None if missing else -1) if x != x else int(x) for x, missing in codes],
        "known": [(None if missing else 0) if x != 1 else 1 for x, missing in codes],
        "weight": _weights(rng, label, group).tolist(),
        "ones": [1.0] * n_rows,
        "group": [GROUPS[k] for k in group.tolist()],
        "month": [k or None for k in group.tolist()],
    }


def _scores(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores in [0, 1] and beyond: smooth ones, ties, some that pile up at 0 and 1, and the special ones."""
    smooth, tied, piled = rng.random(n), rng.integers(0, 21, n) / 20, rng.beta(0.02, 0.02, n)
    normal = rng.standard_normal(n) * 10.0 ** rng.integers(-3, 4, n)
    shape = rng.choice(4, n, p=[0.4, 0.3, 0.2, 0.1])
    of_shape = [shape == k for k in range(3)]
    score = np.select(of_shape, [smooth, tied, piled], rng.choice(PROBABILITIES, n))
    margin = np.select(of_shape, [normal, np.round(normal), piled], rng.choice(MARGINS, n))
    return score, margin


def _weights(rng: np.random.Generator, label: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Uneven weights, zeros and ones; a group and a stratum of ones, and a group without weight."""
    n = len(label)
    weight = np.where(
        rng.random(n) < 0.6, rng.uniform(0.1, 5, n), rng.choice([0.0, 1.0, 2.0, 2 / 3, 2.0**-10], n)
    )
    weight[(group == 0) | ((group == 1) & (label == 1))] = 1.0
    weight[group == GROUPS.index("idle")] = 0.0
    return weight
