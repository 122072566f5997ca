"""The stored answers, where they were made, and how two answers differ."""

from __future__ import annotations

import hashlib
import json
import math
import platform
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

PATH = Path(__file__).with_name("evaluations.tsv")
LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "duckdb")
NOUGHT = 1e-12
"""What rounding can leave of a zero."""


def machine() -> dict[str, str]:
    """What last digits depend on: vector instructions, and the versions of whoever adds up."""
    cpu, flags = platform.processor() or platform.machine(), ""
    if (info := Path("/proc/cpuinfo")).is_file():
        lines = dict(line.split(":", 1) for line in info.read_text().splitlines() if ":" in line)
        fields = {name.strip(): value.strip() for name, value in lines.items()}
        cpu, flags = fields.get("model name", cpu), fields.get("flags", fields.get("Features", ""))
    python = ".".join(platform.python_version_tuple()[:2])
    digest = hashlib.sha256(" ".join(sorted(flags.split())).encode()).hexdigest()[:16]
    return {"cpu": cpu, "flags": digest, "python": python} | {name: version(name) for name in LIBRARIES}


def save(answers: Mapping[str, str]) -> None:
    """The machine in the first line, then a case, a tab and its JSON in each."""
    lines = [f"machine\t{json.dumps(machine())}", *(f"{case}\t{text}" for case, text in answers.items())]
    PATH.write_text("\n".join(lines) + "\n", encoding="utf-8")


@cache
def load() -> tuple[dict[str, str], dict[str, str]]:
    """The machine, and the answers by case."""
    rows = [line.split("\t") for line in PATH.read_text(encoding="utf-8").splitlines()]
    (_, made_on), *answers = rows
    return json.loads(made_on), dict(answers)


def differences(old: str, new: str, *, close: float = 0.0) -> list[str]:
    """Where two answers differ, one line a path; numbers may by ``close``, relatively."""
    return list(_differences("", json.loads(old), json.loads(new), close))


def _differences(path: str, old: Any, new: Any, close: float) -> Iterator[str]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}):
            yield from _differences(f"{path}/{key}", old.get(key, "absent"), new.get(key, "absent"), close)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, pair in enumerate(zip(old, new, strict=True)):
            yield from _differences(f"{path}/{index}", *pair, close)
    elif repr(old) != repr(new) and not (close and _are_close(old, new, close)):
        yield f"{path}: {old!r} became {new!r}"


def _are_close(old: Any, new: Any, close: float) -> bool:
    numbers = isinstance(old, float | int) and isinstance(new, float | int)
    return numbers and math.isclose(old, new, rel_tol=close, abs_tol=NOUGHT)
