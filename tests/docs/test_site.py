"""The site of the documentation: nothing public is missing from it, its tables and examples are those of the code."""

from __future__ import annotations

import doctest
import importlib
import json
import logging
import pkgutil
import re
import shlex
import tomllib
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

import halftruth as ht
from halftruth._registry import REGISTRY, Metric
from halftruth.cli import main
from halftruth_papers import logits as bpm_logits
from halftruth_papers.bayes_error import sources as bayes_sources
from halftruth_papers.pu_ece import sources as pu_ece_sources
from halftruth_papers.published import COVTYPE, DATASETS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = {str(page.relative_to(DOCS)): page.read_text() for page in sorted(DOCS.rglob("*.md"))}
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
COMMAND = re.compile(r"^\$ halftruth (.*)\n((?:(?!\$ ).*\n)*)", re.M)


@pytest.fixture
def tool(monkeypatch):
    """``tool(name)``: a module of tools/, which is no part of the installed package."""
    monkeypatch.syspath_prepend(str(ROOT))
    return lambda name: importlib.import_module(f"tools.{name}")


# --- Navigation and API --------------------------------------------------------------------------


def test_every_page_is_in_the_navigation_once():
    listed = re.findall(r"^ +- (?:\w+: )?(\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.M)
    assert sorted(listed) == sorted(PAGES)


def documented():
    return [name for page in PAGES.values() for name in re.findall(r"^::: (\S+)$", page, re.M)]


def test_every_public_name_is_documented_once():
    names = [f"halftruth.{name}" for name in ht.__all__ if name != "__version__"]
    shown = documented()
    assert sorted(name for name in shown if re.fullmatch(r"halftruth\.\w+", name)) == sorted(names)
    assert len(shown) == len(set(shown))


def test_the_stub_lists_the_same_names():
    stub = (ROOT / "src/halftruth/__init__.pyi").read_text()
    assert set(re.findall(r" as (\w+),?$", stub, re.M)) == set(ht.__all__)


def test_what_is_documented_says_what_it_is():
    for name in documented():
        assert pkgutil.resolve_name(name).__doc__, name


def test_the_index_of_the_api_has_every_name():
    shown = re.findall(r"\]\[halftruth\.(\w+)\]|`(\w+)\.…`", PAGES["api/index.md"])
    assert sorted(a or b for a, b in shown) == sorted(set(ht.__all__) - {"__version__"})


# --- Generated tables, and lists that the code has too -------------------------------------------


def test_the_metric_index_is_that_of_the_registry(tool):
    page = PAGES["metrics.md"]
    assert tool("metric_index").filled(page) == page, "run python -m tools.metric_index"


def test_a_metric_that_changes_changes_the_index(tool, monkeypatch):
    index = tool("metric_index")
    monkeypatch.setitem(REGISTRY, "recall", Metric(name="recall", function=len, threshold=True))
    monkeypatch.setattr(index, "_evidence_table", str)
    assert "| `recall` |  | prior |" in index.filled(PAGES["metrics.md"])


def test_every_metric_has_a_formula_that_fits_a_table():
    for metric in REGISTRY.values():
        assert metric.formula, metric.name
        assert "|" not in metric.formula + metric.paper, metric.name


def test_the_layers_are_those_that_are_checked():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (layers,) = [contract["layers"] for contract in settings["contracts"] if "layers" in contract]
    shown = re.search(r"```\n(_errors ◄.*?)```", PAGES["architecture.md"], re.S)
    assert [re.sub(r"\s+", " ", layer).strip() for layer in shown[1].split("◄")] == layers[::-1]


def test_the_map_names_every_module_there_is_and_no_other():
    page = PAGES["architecture.md"]
    named = set(re.findall(r"(?<![\w.])(_[a-z]\w*)(?=`|\.py\*\*)", page))
    package = ROOT / "src" / "halftruth"
    modules = {path.stem for path in package.rglob("_[a-z]*.py")} - {"_version"}
    assert named == modules
    folders = {path.parent.relative_to(package).parts[0] for path in package.glob("*/**/*.py")}
    assert {folder for folder in folders if f"**{folder}/**" not in page} == set()


def test_the_map_fits_on_two_screens():
    assert len(PAGES["architecture.md"].splitlines()) <= 100


def test_the_page_on_data_names_every_file_that_is_read():
    sets = [*DATASETS.values(), COVTYPE]
    files = {one.file for one in sets} | {one.partial for one in sets if one.partial}
    files |= set(pu_ece_sources.PLACES.values())
    files |= {f"{name}.npz" for name in (*bpm_logits.SOURCES, *bayes_sources.SHA256)}
    assert {file for file in files if f"`{file}`" not in PAGES["data.md"]} == set()
    for one in sets:
        assert re.search(rf"{one.n:,}\D.*{one.n_positive:,}", PAGES["data.md"]), one.name


def test_the_page_on_data_is_about_the_files_there_are(data_dir):
    entries = json.loads((data_dir / "MANIFEST.json").read_text())
    for name, entry in entries.items():
        (row,) = [line for line in PAGES["data.md"].splitlines() if line.startswith(f"| `{entry['file']}`")]
        assert "rows" not in entry or f"{entry['rows']:,}" in row, name


# --- Nothing is loaded from elsewhere ------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        '<script src="https://a.example/x.js"></script>',
        '<link rel="stylesheet" href="http://a.example/x.css">',
        '<link href="//a.example/x.css" rel="preconnect">',
        '<img alt="" src="HTTPS://a.example/x.png">',
        '<svg><use xlink:href="https://a.example/x.svg"/></svg>',
        "<style>@import 'https://a.example/x.css';</style>",
        '<p style="background: url(https://a.example/x.png)">',
    ],
)
def test_what_a_page_loads_from_elsewhere_is_found(tool, text):
    (address,) = tool("offline").loads(f"<html><body>{text}</body></html>")
    assert "//a.example/x." in address


def test_links_and_own_files_are_no_loads(tool):
    text = (
        '<link rel="canonical" href="https://a.example/"><a href="https://a.example/">there</a>'
        '<script src="assets/x.js"></script><img src="data:image/png;base64,AA=="><p>url(https://a.example)</p>'
    )
    assert tool("offline").loads(text) == []


def test_a_load_from_elsewhere_is_a_warning_of_the_build(tool, tmp_path, caplog):
    (tmp_path / "api").mkdir()
    (tmp_path / "index.html").write_text("<p>fine</p>")
    (tmp_path / "api/x.css").write_text("a { background: url('https://a.example/x.png') }")
    with caplog.at_level(logging.WARNING, logger="mkdocs"):
        tool("offline").on_post_build({"site_dir": str(tmp_path)})
    assert caplog.messages == ["api/x.css loads https://a.example/x.png"]


# --- Examples ------------------------------------------------------------------------------------


NUMBER = re.compile(r"-?\d+\.\d+")
LAST_DIGIT = 0.004
"""Other versions of libraries move the last of three digits."""


def alike(shown, own, tolerance):
    """Whether two lines say the same, but for that much in their fractions."""
    if NUMBER.sub("#", shown).split() != NUMBER.sub("#", own).split():
        return False
    numbers, others = ([float(x) for x in NUMBER.findall(line)] for line in (shown, own))
    return numbers == pytest.approx(others, rel=0, abs=tolerance)


def missing(shown, own, tolerance=LAST_DIGIT):
    """The lines shown that the others do not have, in this order."""
    left = iter(own)
    return [line for line in shown if not any(alike(line, other, tolerance) for other in left)]


def assert_shows(shown, printed):
    """What a page shows is what was printed; dots stand for what is left out, and only for that."""
    words, own_words = (NUMBER.sub("#", text) for text in (shown, printed))
    assert doctest.OutputChecker().check_output(words, own_words, FLAGS), printed
    whole = [line for line in shown.splitlines() if line.strip() and "..." not in line]
    assert missing(whole, printed.splitlines()) == [], printed


def assert_pictures(page, folder):
    """What a page shows of its files stands in one that it wrote."""
    files = [path.read_text().splitlines() for path in folder.glob("*.csv")]
    for picture in re.findall(r"^```csv\n(.*?)^```", page, re.M | re.S):
        header, *rows = picture.splitlines()
        bodies = [body for head, *body in files if head == header]
        assert any(missing(rows, body, 0.0005) == [] for body in bodies), picture


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("a  0.512\n", "a 0.510\n"),
        ("...\na 0.500 to 0.600\n", "first\nsecond\na  0.501 to 0.600\n"),
        ("a 0.1\n...\nc -0.3\n", "a 0.1\nb 0.2\nc -0.3\n"),
    ],
)
def test_an_output_is_shown(shown, printed):
    assert_shows(shown, printed)


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("a 0.512\n", "a 0.520\n"),
        ("a 0.1\n", "a -0.1\n"),
        ("a 0.1\n", "b 0.1\n"),
        ("a 0.1\n", "a 0.1\nb 0.2\n"),
        ("...\na 0.500\n", "first\na 0.600\n"),
        ("a 0.1\n...\nc 0.3\n", "a 0.1\nb 0.2\nc 0.4\n"),
        ("b 0.2\na 0.1\n...\n", "a 0.1\nb 0.2\nc 0.4\n"),
    ],
)
def test_another_output_is_not(shown, printed):
    with pytest.raises(AssertionError):
        assert_shows(shown, printed)


def test_a_picture_of_a_file_is_of_one_that_was_written(tmp_path):
    (tmp_path / "rows.csv").write_text("score,label\n0.1234,1\n0.5,\n0.7,0\n")
    assert_pictures("```csv\nscore,label\n0.1231,1\n0.7,0\n```\n", tmp_path)
    for wrong in ("score\n0.7", "score,label\n0.7,1", "score,label\n0.125,1", "score,label\n0.7,0\n0.5,"):
        with pytest.raises(AssertionError):
            assert_pictures(f"```csv\n{wrong}\n```\n", tmp_path)


def with_examples():
    """Pages in folders (tests/docs/test_readme.py runs the others), and those that show commands."""
    return [page for page, text in PAGES.items() if COMMAND.search(text) or ("/" in page and ">>>" in text)]


def run_session(page, text, line, names):
    """The examples of a part of a page, with what the parts before have named; gives all names."""
    part = doctest.DocTestParser().get_doctest(text, names, page, str(DOCS / page), line)
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    assert runner.run(part, clear_globs=False).failed == 0
    return part.globs


def run_commands(block, capsys):
    """The commands of a block: each shows its output, and its exit status where the page asks for that."""
    for line, shown in COMMAND.findall(block):
        command, asked, _ = line.partition("; echo $?")
        capsys.readouterr()
        status = main(shlex.split(command))
        assert asked or status == 0, command
        assert_shows(shown, capsys.readouterr().out + (f"{status}\n" if asked else ""))


@pytest.mark.parametrize("page", with_examples())
def test_examples_and_commands_of_a_page_run(page, tmp_path, monkeypatch, capsys, libraries, request):
    if "HALFTRUTH_DATA" in PAGES[page]:
        request.getfixturevalue("data_dir")
    libraries(PAGES[page])
    monkeypatch.chdir(tmp_path)  # what one part writes, the next ones read
    names, line = {"__name__": "__main__"}, 0
    for k, part in enumerate(re.split(r"^(```console\n.*?^```)", PAGES[page], flags=re.M | re.S)):
        if k % 2:
            run_commands(part, capsys)
        else:
            names = run_session(page, part, line, names)
        line += part.count("\n")
    for value in names.values():
        if isinstance(value, np.lib.npyio.NpzFile):
            value.close()  # or the collector tells of it in another test
    assert_pictures(PAGES[page], tmp_path)


@pytest.mark.parametrize(
    ("shown", "right"),
    [("{}\n", False), ("{}\n0\n", False), ("{}\n1\n", True)],
)
def test_a_command_that_fails_shows_its_status(shown, right, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("score,label\n" + "0.9,1\n0.1,0\n" * 20)
    command = "evaluate rows.csv --zeros negative --metrics roc_auc --require 'roc_auc<0.5'"
    assert main(shlex.split(command)) == 1
    table = capsys.readouterr().out.rstrip("\n")
    echo = "" if shown == "{}\n" else "; echo $?"
    with nullcontext() if right else pytest.raises(AssertionError):
        run_commands(f"$ halftruth {command}{echo}\n{shown.format(table)}", capsys)


# --- Notebooks -------------------------------------------------------------------------------------


def test_the_notebooks_are_those_of_the_tutorials(tool):
    notebooks = tool("notebooks")
    pages = {page.stem: notebooks.notebook(page) for page in notebooks.PAGES.glob("*.md")}
    written = {path.stem: path.read_text(encoding="utf-8") for path in notebooks.FOLDER.glob("*.ipynb")}
    assert written == pages, "run make examples"


def test_links_of_the_notebooks_lead_somewhere(tool):
    folder = tool("notebooks").FOLDER
    links = [
        link for path in folder.glob("*.ipynb") for link in re.findall(r"\]\(([^)#]+)", path.read_text())
    ]
    assert links
    assert [link for link in links if not (folder / link).is_file()] == []


def test_a_cell_ends_with_the_output_that_the_page_shows(tool, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# Head\n\n```python\n>>> def f():\n...     return 2\n\n>>> f()\n2\n>>> x = 1\n\n```\n\nSee [that](../a.md).\n"
        "\n```python\nclass Shown: ...\n```\n\n```console\n$ halftruth demo\nout\n\nput\n$ halftruth evaluate\n```\n"
    )
    _, *cells = json.loads(tool("notebooks").notebook(page))["cells"]
    assert [
        ("".join(cell["source"]), *("".join(o["text"]) for o in cell.get("outputs", []))) for cell in cells
    ] == [
        ("# Head",),
        ("def f():\n    return 2\n\nf()", "2\n"),
        ("x = 1",),
        ("See [that](../docs/a.md).\n\n```python\nclass Shown: ...\n```",),
        ("!halftruth demo", "out\n\nput\n"),
        ("!halftruth evaluate",),
    ]
