"""What a shell offers behind an option: names of metrics and methods, columns of the file on the line.

A completion never fails and says nothing of its own: where something is wrong it offers nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import typer

from halftruth._errors import HalftruthError

# Some shells evaluate what is offered, and a name in a file is anyone's text.
_HARMLESS = re.compile(r"\w[\w.-]*", flags=re.ASCII)
LARGEST = 1 << 26
"""Bytes of a packed or JSON file beyond which it is not opened for its columns."""


def columns(context: typer.Context, incomplete: str) -> list[str]:
    """Columns of the files that stand on the line already."""
    found: dict[str, None] = {}
    # An option that still lacks its value leaves the files among what is not yet parsed.
    for file in (*(context.params.get("files") or ()), *context.args):
        with suppress(HalftruthError, OSError, ImportError):
            found.update(dict.fromkeys(_columns(str(file))))
    return [name for name in found if _HARMLESS.fullmatch(name) and name.startswith(incomplete)]


def several_columns(context: typer.Context, incomplete: str) -> list[str]:
    """Columns in a list with commas."""
    return extended(columns(context, ""), incomplete)


def _columns(file: str) -> list[str]:
    """The columns of one file; of none where that would mean to wait, to read a stream or much."""
    from halftruth.files import Source

    path = Path(file)
    quick = path.suffix in (".csv", ".tsv", ".parquet")
    if not path.is_file() or not (quick or path.stat().st_size <= LARGEST):
        return []
    with Source(file, threads=1) as source:
        return source.columns()


def estimate(incomplete: str) -> list[str]:
    """The word that asks for an estimate."""
    from halftruth.cli.reading import ESTIMATE

    return _beginning([ESTIMATE], incomplete)


def metrics(incomplete: str) -> list[str]:
    """Names of metrics, in a list with commas."""
    from halftruth._registry import REGISTRY

    return extended(REGISTRY, incomplete)


def engines(incomplete: str) -> list[str]:
    """Engines, and how the address of one begins."""
    return _beginning(("spark", "duckdb://", "postgres://"), incomplete)


def intervals(incomplete: str) -> list[str]:
    """Names of bootstrap intervals."""
    return _beginning(("percentile", "basic", "normal", "bias-corrected", "fitted"), incomplete)


def estimators(incomplete: str) -> list[str]:
    """Names of estimators of the prior, in a list with commas."""
    from halftruth.cli.estimates import SAMPLE
    from halftruth.prior._methods import METHODS

    return extended((*METHODS, SAMPLE), incomplete)


def calibrators(incomplete: str) -> list[str]:
    """Names of calibration methods."""
    from halftruth.calibration.calibrators._calibration_methods import METHODS

    return _beginning(METHODS, incomplete)


def _beginning(words: Iterable[str], text: str) -> list[str]:
    return [word for word in words if word.startswith(text)]


def extended(words: Iterable[str], text: str) -> list[str]:
    """The list with its last word completed by one that is not in it."""
    before, comma, last = text.rpartition(",")
    taken = before.split(",")
    return [before + comma + word for word in _beginning(words, last) if word not in taken]
