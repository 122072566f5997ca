"""Do the tests notice when the code is wrong? Small changes of it, one by one; each must fail a test.

python -m tools.mutants                      five mutants of every room
python -m tools.mutants prior metrics -n 10  ten of these two

A mutant is one comparison turned round, one operation replaced, one constant moved by one or one condition
negated, drawn with a fixed seed from the functions of a room. Each is tried on a copy of the package: the
tests of its room first, then golden answers, laws and oracles. What survives is printed with its
place: it is a gap in the tests, or a change that means nothing.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "halftruth"
WIDER = ("tests/golden", "tests/laws", "tests/oracle")
"""What is asked after the tests of the room."""
ELSEWHERE = {
    "certificate": ("tests/laws/test_certificate.py",),
    "engines": ("tests/engines",),
    "report": ("tests/unit/cli",),
    "cli": ("tests/unit/cli",),
}
"""Where the tests of a room are, if not only in its folder of `tests/unit`."""
SECONDS = 600
COMPARED = {
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}
COMPUTED = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}


@dataclass(frozen=True)
class Mutant:
    """A file, the line that changes, and its new source."""

    path: Path
    line: int
    change: str
    source: str


def changed(node: ast.AST) -> tuple[ast.AST, str] | None:
    """The node with another meaning, and what was done to it."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARED:
        ops: list[ast.cmpop] = [COMPARED[type(node.ops[0])]()]
        return ast.Compare(node.left, ops, node.comparators), "comparison turned round"
    if isinstance(node, ast.BinOp) and type(node.op) in COMPUTED:
        if any(isinstance(side, (ast.JoinedStr, ast.List, ast.Tuple)) for side in (node.left, node.right)):
            return None
        return ast.BinOp(node.left, COMPUTED[type(node.op)](), node.right), "operation replaced"
    if isinstance(node, ast.IfExp):
        return type(node)(
            test=ast.UnaryOp(ast.Not(), node.test), body=node.body, orelse=node.orelse
        ), "condition negated"
    if (
        isinstance(node, ast.Constant)
        and isinstance(node.value, (int, float))
        and not isinstance(node.value, bool)
    ):
        return ast.Constant(node.value + 1), f"{node.value} moved by one"
    return None


def mutants(path: Path) -> Iterator[Mutant]:
    """All mutants of the functions of one file."""
    text = path.read_text("utf-8")
    tree = ast.parse(text)
    inside = [
        n for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) for s in f.body for n in ast.walk(s)
    ]
    lines = text.encode().splitlines(keepends=True)
    starts = [sum(map(len, lines[:k])) for k in range(len(lines))]
    for node in dict.fromkeys(inside):
        replaced = changed(node)
        if replaced is None or not isinstance(node, ast.expr):
            continue
        begin = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[operator]
        data = text.encode()
        new = f"({ast.unparse(ast.fix_missing_locations(replaced[0]))})".encode()
        yield Mutant(path, node.lineno, replaced[1], (data[:begin] + new + data[end:]).decode())


def run(group: str, folder: Path, cache: Path) -> bool:
    """Whether a group of tests ends and passes on the copy of the package in a folder."""
    paths = os.pathsep.join([str(folder), str(ROOT / "papers" / "src")])
    # Bytecode is recognised by whole seconds and size, which two mutants may share.
    settings = {"PYTHONPATH": paths, "NUMBA_CACHE_DIR": str(cache), "PYTHONDONTWRITEBYTECODE": "1"}
    call = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", group]
    env = os.environ | settings
    try:
        done = subprocess.run(call, cwd=ROOT, env=env, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode in (0, 5)  # 5: there was no test


@cache
def check_unchanged(group: str, folder: Path) -> None:
    """A group that fails without any mutant would catch them all."""
    if not run(group, folder, folder / "cache"):
        raise SystemExit(f"{group} fails on the package as it is. Mend it first.")


def survives(mutant: Mutant, room: str, folder: Path) -> str | None:
    """The first group of tests that fails on the copy of the package in a folder, or None if none does."""
    copy = folder / "halftruth" / mutant.path.relative_to(PACKAGE)
    copy.write_text(mutant.source, "utf-8")
    # Numba recognises a file by its modification time, but not the files of the functions it calls.
    loops = Path(tempfile.mkdtemp(dir=folder)) if room == "kernels" else folder / "cache"
    groups = (f"tests/unit/{room.removesuffix('.py').lstrip('_')}", *ELSEWHERE.get(room, ()), *WIDER)
    try:
        tried = (group for group in dict.fromkeys(groups) if (ROOT / group).exists())
        caught = next((group for group in tried if not run(group, folder, loops)), None)
    finally:
        shutil.copy2(mutant.path, copy)
    if caught is not None:
        check_unchanged(caught, folder)
    return caught


def main() -> int:
    """Try the mutants of the rooms that are named."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    rooms = sorted(
        p.name for p in PACKAGE.iterdir() if p.is_dir() and any(p.rglob("*.py")) and p.name != "__pycache__"
    )
    parser.add_argument("rooms", nargs="*", default=rooms, metavar="ROOM")
    parser.add_argument("-n", type=int, default=5, help="mutants of a room")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    alive = 0
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(PACKAGE, Path(folder) / "halftruth", ignore=shutil.ignore_patterns("__pycache__"))
        for room in options.rooms:
            draw = random.Random(f"{room} {options.seed}")
            files = sorted((PACKAGE / room).rglob("*.py")) if (PACKAGE / room).is_dir() else [PACKAGE / room]
            everything = [mutant for file in files for mutant in mutants(file)]
            for mutant in draw.sample(everything, min(options.n, len(everything))):
                caught = survives(mutant, room, Path(folder))
                alive += caught is None
                place = f"{mutant.path.relative_to(PACKAGE)}:{mutant.line}"
                verdict = "SURVIVED" if caught is None else "caught"
                print(f"{verdict:9} {place:50} {mutant.change:26} {caught or ''}", flush=True)
    return int(alive > 0)


if __name__ == "__main__":
    sys.exit(main())
