"""Columns into a file, whole or not at all."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from halftruth.errors import InputError
from halftruth.files.messages import excerpt, printable

FORMS = {".parquet": "FORMAT parquet", ".csv": "FORMAT csv, HEADER"}


def check_form(path: str | Path, name: str) -> None:
    """Raise unless the suffix names a form that is written."""
    if Path(path).suffix.lower() not in FORMS:
        raise InputError(
            f"`{name}` must end in {' or '.join(FORMS)}, got {printable(str(path))}. Choose one of these."
        )


def write_columns(path: str | Path, columns: Mapping[str, Any]) -> None:
    """Write arrays of one length as the columns of a Parquet or CSV file; masked values are empty.

    Parameters
    ----------
    path : path
        Its suffix, .parquet or .csv, says the form.
    columns : mapping of str to array
    """
    import duckdb

    target = Path(path)
    check_form(target, "path")
    settings: dict[str, Any] = {"python_enable_replacements": False, "autoload_known_extensions": False}
    try:
        # Beside the target, so that the finished file takes its place in one step.
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as folder:
            part = Path(folder, "part")
            with duckdb.connect(config=settings) as engine:
                engine.register("columns", dict(columns))
                quoted = str(part).replace("'", "''")
                engine.execute(f"COPY columns TO '{quoted}' ({FORMS[target.suffix.lower()]})")
            part.replace(target)
    except (OSError, duckdb.Error) as error:
        reason = getattr(error, "strerror", None) or excerpt(str(error), 160)
        raise InputError(
            f"{printable(str(target))} cannot be written: {reason}. Choose another place."
        ) from error
