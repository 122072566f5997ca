"""What a run of the study is made of, and where its results are kept between runs."""

from __future__ import annotations

import argparse
import json
import os
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]
ALPHAS = (0.02, 0.1, 0.3, 0.6, 0.9)
SIZES = ((100, 1_000), (500, 5_000), (2_000, 20_000))
TIME_SIZES = ((20_000, 200_000), (90_909, 909_091))
"""The second is a million scores."""
SLOW = ("km1", "km2")
"""Their draws and repetitions are fewer."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """One run."""

    families: tuple[str, ...] | None = None
    """None: all."""
    members: int | None = None
    """Of each family, the first so many; None: all."""
    alphas: tuple[float, ...] = ALPHAS
    sizes: tuple[tuple[int, int], ...] = SIZES
    draws: int = 4
    slow_draws: int = 1
    sets: tuple[str, ...] | None = None
    """Data sets; None: all."""
    repetitions: int = 5
    slow_repetitions: int = 2
    refits: int = 5
    """Of the classifier, where an interval is given."""
    time_sizes: tuple[tuple[int, int], ...] = TIME_SIZES
    seed: int = 0
    data: Path | None = None

    def rng(self, *words: Any) -> np.random.Generator:
        """The same for the same words, whatever else is run."""
        return np.random.default_rng([self.seed, *(zlib.crc32(str(word).encode()) for word in words)])

    def wants(self, name: str) -> bool:
        """Whether a data set is part of the run."""
        return self.sets is None or name in self.sets

    def folder_of_data(self) -> Path:
        """Where the data sets are."""
        if self.data is None:
            raise SystemExit("Name the folder of the data sets: HALFTRUTH_DATA=... or --data ...")
        return self.data


def pair(text: str) -> tuple[int, int]:
    """Known positives and unlabeled, as in 100/1000."""
    known, unlabeled = text.split("/")
    return int(known), int(unlabeled)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The settings as options."""
    plain = Settings()
    parser.add_argument("--families", nargs="+", help="of tools/prior_study/families.py")
    parser.add_argument("--members", type=int, help="the first so many of each family")
    parser.add_argument("--alphas", nargs="+", type=float, default=plain.alphas)
    parser.add_argument("--sizes", nargs="+", type=pair, default=plain.sizes, metavar="POSITIVES/UNLABELED")
    parser.add_argument("--draws", type=int, default=plain.draws, help="per member, α and size")
    parser.add_argument("--slow-draws", type=int, default=plain.slow_draws, help=f"for {', '.join(SLOW)}")
    parser.add_argument("--sets", nargs="+", help="data sets")
    parser.add_argument("--repetitions", type=int, default=plain.repetitions, help="per data set")
    parser.add_argument("--slow-repetitions", type=int, default=plain.slow_repetitions)
    parser.add_argument("--refits", type=int, default=plain.refits, help="of the classifier, for an interval")
    parser.add_argument("--time-sizes", nargs="+", type=pair, default=plain.time_sizes)
    parser.add_argument("--seed", type=int, default=plain.seed)
    parser.add_argument("--data", type=Path, default=_named_folder(), help="default: $HALFTRUTH_DATA")


def _named_folder() -> Path | None:
    named = os.environ.get("HALFTRUTH_DATA", "")
    return Path(named) if named else None


def read(given: argparse.Namespace) -> Settings:
    """The settings of the command line."""
    values: dict[str, Any] = {name: getattr(given, name) for name in Settings.__dataclass_fields__}
    for name, value in values.items():
        if isinstance(value, list):
            values[name] = tuple(value)
    return Settings(**values)


def say(text: str) -> None:
    """Progress."""
    print(text, file=sys.stderr, flush=True)


def save(folder: Path, part: str, found: dict[str, Any]) -> None:
    """Keep the results of a part."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{part}.json").write_text(json.dumps(found, ensure_ascii=False), encoding="utf-8")


def load(folder: Path, part: str) -> dict[str, Any] | None:
    """The results of a part, if it was ever run."""
    path = folder / f"{part}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
