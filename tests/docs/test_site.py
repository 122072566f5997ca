"""The site of the documentation: nothing public is missing from it, its tables and examples are those of the code."""

from __future__ import annotations

import doctest
import importlib
import json
import logging
import re
import shlex
import tomllib
from pathlib import Path

import pytest

import halftruth as ht
from halftruth.cli import main
from halftruth.registry import REGISTRY
from halftruth.reproduce import bayes_sources, bpm_logits, pu_ece_mnist
from halftruth.reproduce.published import COVTYPE, DATASETS

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
    assert sorted(name for name in shown if name.count(".") == 1) == sorted(names)
    assert len(shown) == len(set(shown))


def test_the_stub_lists_the_same_names():
    stub = (ROOT / "src/halftruth/__init__.pyi").read_text()
    assert set(re.findall(r" as (\w+)$", stub, re.M)) == set(ht.__all__)


def test_what_is_documented_says_what_it_is():
    for name in documented():
        module, _, last = name.rpartition(".")
        value = getattr(importlib.import_module(module), last)
        assert value.__doc__, name


def test_the_index_of_the_api_has_every_name():
    shown = re.findall(r"\]\[halftruth\.(\w+)\]|`(\w+)\.…`", PAGES["api/index.md"])
    assert sorted(a or b for a, b in shown) == sorted(set(ht.__all__) - {"__version__"})


# --- Generated tables, and lists that the code has too -------------------------------------------


def test_the_metric_index_is_that_of_the_registry(tool):
    page = PAGES["metrics.md"]
    assert tool("metric_index").filled(page) == page, "run python -m tools.metric_index"


def test_a_metric_that_changes_changes_the_index(tool, monkeypatch):
    index = tool("metric_index")
    monkeypatch.setitem(REGISTRY, "recall", ht.registry.Metric(name="recall", function=len, threshold=True))
    monkeypatch.setattr(index, "_evidence_table", str)
    assert "| `recall` |  | prior |" in index.filled(PAGES["metrics.md"])


def test_every_metric_has_a_formula_that_fits_a_table():
    for metric in REGISTRY.values():
        assert metric.formula, metric.name
        assert "|" not in metric.formula + metric.paper, metric.name


def test_the_layers_are_those_that_are_checked():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (layers,) = [contract["layers"] for contract in settings["contracts"] if "layers" in contract]
    shown = re.search(r"```\n(errors ◄.*?)```", PAGES["architecture.md"], re.S)
    assert [re.sub(r"\s+", " ", layer).strip() for layer in shown[1].split("◄")] == layers[::-1]


def test_the_page_on_data_names_every_file_that_is_read():
    sets = [*DATASETS.values(), COVTYPE]
    files = {one.file for one in sets} | {one.partial for one in sets if one.partial} | {pu_ece_mnist.FILE}
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


def numbers_apart(text):
    """The text without its fractions, and those."""
    return re.sub(r"\d+\.\d+", "#", text), [float(x) for x in re.findall(r"\d+\.\d+", text)]


def assert_shows(shown, printed):
    """What a page shows is what was printed, but for the last digit, which other versions of libraries move."""
    (words, numbers), (own_words, own_numbers) = numbers_apart(shown), numbers_apart(printed)
    assert doctest.OutputChecker().check_output(words, own_words, FLAGS), printed
    if "..." not in shown:
        assert numbers == pytest.approx(own_numbers, abs=0.004)


def with_examples():
    """Pages in folders (tests/docs/test_readme.py runs the others), and those that show commands."""
    return [page for page, text in PAGES.items() if COMMAND.search(text) or ("/" in page and ">>>" in text)]


@pytest.mark.parametrize("page", with_examples())
def test_examples_and_commands_of_a_page_run(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)  # what the sessions write, the commands read
    result = doctest.testfile(str(DOCS / page), module_relative=False, optionflags=FLAGS)
    assert result.failed == 0
    for block in re.findall(r"^```console\n(.*?)^```", PAGES[page], re.M | re.S):
        for command, shown in COMMAND.findall(block):
            capsys.readouterr()
            assert main(shlex.split(command)) == 0, command
            assert_shows(shown, capsys.readouterr().out)
