"""Check the wheels and sdists of halftruth and its papers: what they hold, that the wheels run alone.

Usage: ``python tools/check_dist.py dist``, where ``dist`` holds one wheel and one sdist of each.
"""

import os
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path, PurePosixPath

PACKAGE, PAPERS = "halftruth", "halftruth_papers"
WHEEL_NEEDS = ("halftruth/py.typed", "halftruth/__init__.pyi", "halftruth/_version.py")
PAPERS_NEED = tuple(f"halftruth_papers/{name}" for name in ("py.typed", "paper_tables/jain_auc.csv"))
SDIST_NEEDS = ("LICENSE", "README.md", "pyproject.toml", *(f"src/{name}" for name in WHEEL_NEEDS))
# Hatchling adds PKG-INFO, and .gitignore because it obeys it; the rest is chosen in pyproject.toml.
SDIST_TOP = {
    *(".gitignore", "PKG-INFO", "pyproject.toml", "Makefile", "mkdocs.yml", "LICENSE", "README.md"),
    *("CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "SECURITY.md", "conftest.py"),
    *("src", "papers", "tests", "docs", "examples", "benchmarks", "tools"),
}
JUNK_PARTS = {"__pycache__", ".venv", ".git", ".hypothesis", ".DS_Store", ".ipynb_checkpoints"}
JUNK_ENDS = (".pyc", ".pyo", ".so", ".orig", ".rej", ".swp", "~", "_cache")
LARGEST_SDIST = 5_000_000


def junk(names: list[str]) -> list[str]:
    """Return the names that no distribution should hold."""
    return [
        name
        for name in names
        if any(part in JUNK_PARTS or part.endswith(JUNK_ENDS) for part in PurePosixPath(name).parts)
    ]


def wheel_problems(wheel: Path, package: str, needs: tuple[str, ...]) -> list[str]:
    """Return what is wrong with the contents of the wheel of a package."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    problems = [f"lacks {name}" for name in needs if name not in names]
    if not any(name.endswith(".dist-info/licenses/LICENSE") for name in names):
        problems.append("lacks the LICENSE in its metadata")
    info = "-".join(wheel.name.split("-")[:2]) + ".dist-info"
    tops = {PurePosixPath(name).parts[0] for name in names}
    problems += [f"holds {name} at its top" for name in sorted(tops - {package, info})]
    return problems + [f"holds junk: {name}" for name in junk(names)]


def sdist_problems(sdist: Path) -> list[str]:
    """Return what is wrong with the contents of the sdist."""
    root = sdist.name.removesuffix(".tar.gz")
    with tarfile.open(sdist) as archive:
        inside = [member.name.removeprefix(f"{root}/") for member in archive if member.isfile()]
    problems = [f"lacks {name}" for name in SDIST_NEEDS if name not in inside]
    tops = {PurePosixPath(name).parts[0] for name in inside}
    problems += [f"holds {name} at its top" for name in sorted(tops - SDIST_TOP)]
    if sdist.stat().st_size > LARGEST_SDIST:
        problems.append(f"is {sdist.stat().st_size:,} bytes, more than {LARGEST_SDIST:,}")
    return problems + [f"holds junk: {name}" for name in junk(inside)]


def run_from(wheel: Path, papers: Path) -> None:
    """Install the wheels into a clean environment, away from the sources; run the demo, find the papers."""
    with tempfile.TemporaryDirectory(prefix="halftruth-dist-") as folder:
        home = Path(folder).resolve()
        venv.create(home / "venv", with_pip=True)
        python = str(home / "venv" / "bin" / "python")
        outside = {
            key: value
            for key, value in os.environ.items()
            if key not in {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"}
        }

        def run(*arguments: str) -> None:
            subprocess.run([python, *arguments], cwd=home, env=outside, check=True)

        quiet = ("--quiet", "--disable-pip-version-check")
        run("-m", "pip", "install", *quiet, str(wheel))
        # The package that runs is the one of the wheel, and it has its version.
        version = wheel.name.split("-")[1]
        run(
            "-c",
            "import halftruth, sys\n"
            "assert halftruth.__file__.startswith(sys.prefix), halftruth.__file__\n"
            f"assert halftruth.__version__ == {version!r}, halftruth.__version__\n",
        )
        run("-m", "halftruth", "demo")
        run("-m", "pip", "install", *quiet, str(papers))
        run("-m", "halftruth", "reproduce", "jain", "--help")


def only(folder: Path, pattern: str) -> Path:
    """Return the one file of the folder that fits the pattern."""
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        sys.exit(f"expected one {pattern} in {folder}, found {len(found)}")
    return found[0].resolve()


def main() -> None:
    """Check the wheel and the sdist of the folder named on the command line."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    wheel, papers = (only(folder, f"{name}-*.whl") for name in (PACKAGE, PAPERS))
    sdist = only(folder, f"{PACKAGE}-*.tar.gz")
    only(folder, f"{PAPERS}-*.tar.gz")
    problems = [f"{wheel.name} {problem}" for problem in wheel_problems(wheel, PACKAGE, WHEEL_NEEDS)]
    problems += [f"{papers.name} {problem}" for problem in wheel_problems(papers, PAPERS, PAPERS_NEED)]
    problems += [f"{sdist.name} {problem}" for problem in sdist_problems(sdist)]
    if problems:
        sys.exit("\n".join(problems))
    print(f"{wheel.name}, {papers.name} and {sdist.name} hold what they should; the demo from the wheel:")
    sys.stdout.flush()
    run_from(wheel, papers)


if __name__ == "__main__":
    main()
