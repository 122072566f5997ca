"""Measure the house: how large the package is, how its modules hang together, how its names read.

``python -m tools.house [FOLDER]`` prints the figures of ``src/halftruth``, or of the package in that folder.
All but the walks are read from syntax trees; ``tests/shape/test_house.py`` holds the figures to limits.
"""

from __future__ import annotations

import ast
import inspect
import io
import sys
import tempfile
import tokenize
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from itertools import chain, product
from pathlib import Path
from types import FrameType

PACKAGE = Path(__file__).parents[1] / "src" / "halftruth"

HOMES = {"measure": {"ScoreMeasure", "Support"}, "evidence": {"Evidence"}}
"""Folders, and the classes whose subclasses (storages, kinds) only the code in that folder may tell apart."""

VAGUE = {"asked", "each", "every", "found", "given", "held", "kept", "made", "others", "own", "part", "said"}
VAGUE |= {"seen", "shown", "taken", "told", "wanted", "what", "which", "whole"}
"""Names of local variables that do not say what they hold."""


def sources(package: Path) -> dict[str, Path]:
    """The modules of a package by dotted name; a package is named like its folder."""
    files = {path.relative_to(package.parent).with_suffix("").parts: path for path in package.rglob("*.py")}
    return {".".join(parts).removesuffix(".__init__"): path for parts, path in sorted(files.items())}


@cache
def trees(package: Path) -> dict[str, list[ast.AST]]:
    """All nodes of the syntax tree of each module."""
    return {name: list(ast.walk(ast.parse(path.read_bytes()))) for name, path in sources(package).items()}


def size(package: Path) -> tuple[int, int]:
    """Files and lines of all that the wheel holds of the package."""
    files = [path for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    return len(files), sum(len(path.read_bytes().splitlines()) for path in files)


def shared_names(package: Path) -> dict[str, list[str]]:
    """Base names that several modules have, and these modules."""
    modules: dict[str, list[str]] = {}
    for name, path in sources(package).items():
        if not path.stem.startswith("__"):
            # An underscore alone does not tell two modules apart for a reader.
            modules.setdefault(path.stem.lstrip("_"), []).append(name)
    return {stem: names for stem, names in sorted(modules.items()) if len(names) > 1}


def imports(package: Path) -> dict[str, set[str]]:
    """For each module those of the package that it imports: at its top, in a function, or for types."""
    modules = trees(package)
    graph = {}
    for name, nodes in modules.items():
        targets: set[str] = set()
        for node in nodes:
            if isinstance(node, ast.Import):
                targets |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                # From a package comes one of its modules, or a name of its __init__.
                full = {f"{node.module}.{alias.name}" for alias in node.names}
                targets |= {target if target in modules else target.rpartition(".")[0] for target in full}
        graph[name] = (targets & modules.keys()) - {name}
    return graph


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """The sets of modules that import one another, directly or by way of others; the largest first."""
    reached = {name: set(targets) for name, targets in graph.items()}
    for middle, targets in product(graph, reached.values()):
        if middle in targets:  # whoever reaches a module reaches what that one reaches (Warshall)
            targets |= reached[middle]
    rings = {frozenset(b for b in reached[a] if a in reached[b]) for a in graph if a in reached[a]}
    return sorted(map(sorted, rings), key=lambda ring: (-len(ring), ring))


def type_checks(package: Path, home: str) -> list[str]:
    """Places outside of a folder of ``HOMES`` that ask of which of its classes something is."""
    modules = trees(package)
    bases: dict[str, set[str]] = {}
    for node in chain.from_iterable(modules.values()):
        if isinstance(node, ast.ClassDef):
            bases.setdefault(node.name, set()).update(ast.unparse(base).split(".")[-1] for base in node.bases)
    below = set(HOMES[home])
    while more := {name for name, parents in bases.items() if parents & below} - below:
        below |= more
    classes = below - HOMES[home]
    outside = {name: nodes for name, nodes in modules.items() if home not in name.split(".")[1:2]}
    return [f"{name}:{line}" for name, nodes in outside.items() for line in _asking(nodes, classes)]


def _asking(nodes: list[ast.AST], classes: set[str]) -> Iterator[int]:
    """The lines of ``isinstance(x, …)``, ``type(x) is …`` and ``case …():`` with one of the classes."""
    for node in nodes:
        against: list[ast.expr] = []
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {"isinstance", "issubclass"}:
            against = node.args[1:]
        elif isinstance(node, ast.Compare) and ast.unparse(node.left).startswith("type("):
            against = node.comparators
        elif isinstance(node, ast.MatchClass):
            against = [node.cls]
        named = {ast.unparse(tree).split(".")[-1] for expression in against for tree in ast.walk(expression)}
        if named & classes:
            yield node.lineno  # type: ignore[attr-defined]


def vague_share(package: Path) -> float:
    """The share of the names that functions bind, arguments left out, that do not say what they hold."""
    count: Counter[str] = Counter()
    for function in chain.from_iterable(trees(package).values()):
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            names = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
            count.update({node.id for node in names if isinstance(node.ctx, ast.Store)})
    return sum(count[name] for name in VAGUE) / count.total()


def comments(package: Path) -> float:
    """Comments per 100 lines of code; blank lines and docstrings are neither."""
    n_comments, n_code = 0, 0
    for name, path in sources(package).items():
        code: set[int] = set()
        for token in tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline):
            n_comments += token.type == tokenize.COMMENT
            if token.type in {tokenize.NAME, tokenize.NUMBER, tokenize.STRING, tokenize.OP}:
                code.update(range(token.start[0], token.end[0] + 1))
        for node in trees(package)[name]:
            if isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", None), str):
                code.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        n_code += len(code)
    return 100 * n_comments / n_code


def any_types(package: Path) -> int:
    """How often ``Any`` stands for a type."""
    return sum(
        isinstance(x, ast.Name) and x.id == "Any" for x in chain.from_iterable(trees(package).values())
    )


def walk(call: Callable[[], object], package: Path) -> list[str]:
    """The files of the package whose functions a call enters, once all is imported."""
    entered: set[str] = set()

    def enter(frame: FrameType, event: str, _: object) -> None:
        # The bodies of modules and classes run only to define what is in them: they are not optimized.
        if event == "call" and frame.f_code.co_flags & inspect.CO_OPTIMIZED:
            entered.add(frame.f_code.co_filename)

    call()
    sys.setprofile(enter)
    try:
        call()
    finally:
        sys.setprofile(None)
    return sorted(str(Path(x).relative_to(package)) for x in entered if Path(x).is_relative_to(package))


def walks(package: Path) -> dict[str, list[str]]:
    """The files that the two commonest calls enter: a command that writes a page, and one metric."""
    sys.path.insert(0, str(package.parent))
    import halftruth as ht
    from halftruth.cli import main as command

    score, label = [i * 77 % 200 / 200 for i in range(200)], [int(i % 5 == 0) for i in range(200)]
    silent = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(silent), redirect_stderr(silent):
        Path(folder, "rows.csv").write_text("score,label\n" + "\n".join(map("{},{}".format, score, label)))
        line = f"evaluate {folder}/rows.csv --prior .3 --zeros unlabeled --html {folder}/page.html"
        to_page = walk(lambda: command(line.split()), package)
    return {"CSV to page": to_page, "ht.roc_auc": walk(lambda: ht.roc_auc(ht.Labeled(label, score)), package)}


def main() -> None:
    """Print the figures, and what they count."""
    package = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else PACKAGE
    lists = {"modules with the base name of another": [x for y in shared_names(package).values() for x in y]}
    lists["import cycles"] = [" ".join(ring) for ring in cycles(imports(package))]
    lists |= {f"types asked outside {home}": type_checks(package, home) for home in HOMES}
    lists |= {f"files on the walk, {name}": files for name, files in walks(package).items()}
    print("{:6} files\n{:6} lines".format(*size(package)))
    print(f"{100 * vague_share(package):6.1f} vague names in 100 local ones")
    print(f"{comments(package):6.1f} comments per 100 lines of code\n{any_types(package):6} times Any")
    for name, items in lists.items():
        print(f"{len(items):6} {name}", *items, sep="\n         ")


if __name__ == "__main__":
    main()
