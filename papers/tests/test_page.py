"""The page: one file that asks for nothing, its text inert, its tables also as CSV."""

from __future__ import annotations

import csv
import math
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from halftruth._errors import InputError
from halftruth_papers.drawing import error_boxes
from halftruth_papers.page import Page, as_csv, shown

HOSTILE = "<script>alert('x')</script> & \"quotes\""


class Outline(HTMLParser):
    """Tags that are open in the end, text of all cells, and every id."""

    VOID = ("meta", "path", "use", "rect")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.said: dict[str, list[str]] = {}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        named = dict(attrs)
        self.ids += [named["id"]] if "id" in named else []
        self.links += [value for name, value in attrs if name in ("href", "xlink:href", "src")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open:
            self.said.setdefault(self.open[-1], []).append(data)


def figure() -> Any:
    drawn = pytest.importorskip("matplotlib.figure").Figure(figsize=(2, 2))
    ax = drawn.add_subplot()
    ax.plot([0, 1], [0, 1])
    ax.bar([0], [1], hatch="//")
    return drawn


def test_all_text_is_escaped() -> None:
    page = Page(HOSTILE)
    page.heading(HOSTILE)
    page.text(HOSTILE)
    page.table([HOSTILE, "b"], [[HOSTILE, 1.0]], HOSTILE)
    page.figure(figure(), "one", HOSTILE)
    text = page.html()
    seen = Outline(text)
    assert seen.open == []
    assert "script" not in seen.tags
    for tag in ("title", "h1", "h2", "p", "caption", "th", "td", "figcaption"):
        assert HOSTILE in seen.said[tag], tag


def test_numbers_for_people_and_in_full(tmp_path: Path) -> None:
    page = Page("t")
    rows = [["a,b", 1 / 3, 7, None], ["c", math.nan, 0, "x"]]
    page.table(["data", "area", "n", "more"], rows, csv="areas")
    path = page.write(tmp_path, "report")
    cells = Outline(path.read_text(encoding="utf-8")).said["td"]
    assert cells == ["a,b", "0.333", "7", "–", "c", "–", "0", "x"]
    with (tmp_path / "areas.csv").open(encoding="utf-8", newline="") as file:
        found = list(csv.reader(file))
    assert found == [["data", "area", "n", "more"], ["a,b", repr(1 / 3), "7", ""], ["c", "", "0", "x"]]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["areas.csv", "report.html"]


@pytest.mark.parametrize(
    ("cell", "text"),
    [(0.12345, "0.123"), (-0.0004, "-0.000"), (3, "3"), ("α", "α"), (None, "–"), (math.nan, "–")],
)
def test_a_cell_for_people(cell: Any, text: str) -> None:
    assert shown(cell) == text


def test_a_row_of_another_length_is_refused() -> None:
    with pytest.raises(InputError, match=r"must have 2 cells.*got \['a'\]"):
        Page("t").table(["a", "b"], [["a"]])


@pytest.mark.parametrize("name", ["", "../x", "a.b", "a b"])
def test_names_of_files_are_plain(name: str, tmp_path: Path) -> None:
    page = Page("t")
    with pytest.raises(InputError, match="A name must be"):
        page.table(["a"], [], csv=name)
    with pytest.raises(InputError, match="A name must be"):
        page.figure(figure(), name, "caption")
    with pytest.raises(InputError, match="A name must be"):
        page.write(tmp_path, name)


def test_a_page_asks_for_nothing_and_keeps_figures_apart() -> None:
    page = Page("t")
    page.figure(figure(), "one", "first")
    page.figure(figure(), "two", "second")
    text = page.html()
    seen = Outline(text)
    assert seen.open == []
    assert seen.tags.count("svg") == 2
    assert len(seen.ids) == len(set(seen.ids)) > 10
    inner = [link for link in seen.links if not link.startswith("http")]
    inner += [f"#{name}" for name in re.findall(r"url\(#([^)]+)\)", text)]
    assert inner
    assert {link.removeprefix("#") for link in inner} <= set(seen.ids)
    outside = set(re.findall(r"https?://[^\s\"'<>]+", text))
    assert all(each.startswith("http://www.w3.org/") for each in outside), outside  # names, not addresses
    assert not re.search(r"@import|src=|<link", text)


def test_the_same_page_has_the_same_bytes() -> None:
    def made() -> str:
        page = Page("t")
        page.figure(figure(), "one", "first")
        return page.html()

    assert made() == made()


def test_light_and_dark_and_tables_that_scroll() -> None:
    page = Page("t")
    page.table(["a"], [[1]])
    text = page.html()
    assert "prefers-color-scheme: dark" in text
    assert re.search(r"\.table \{[^}]*overflow-x: auto", text)
    assert '<div class="table"><table>' in text
    # What moves with the table covers the shade at the edge: it is seen where there is more to scroll to.
    assert re.search(r"\.table \{[^}]*var\(--paper\)[^}]* local,[^}]*var\(--shade\)[^}]* scroll;", text)


def test_a_card_is_as_wide_as_its_figure() -> None:
    page = Page("t")
    page.figure(figure(), "one", "first")
    assert re.search(r"figure > div \{[^}]*width: fit-content[^}]*background: #fff", page.html())


def test_csv_keeps_every_digit() -> None:
    numbers = [0.1 + 0.2, 1e-300, 12345678901234567.0, -0.0]
    lines = as_csv(["x"], [[number] for number in numbers]).splitlines()[1:]
    assert [float(line) for line in lines] == numbers


def test_boxes_stand_in_their_groups_and_an_empty_one_is_left_out() -> None:
    pytest.importorskip("matplotlib")
    errors = {"PU": [[-0.2, -0.1, -0.3], []], "IR": [[0.0, 0.1, 0.2], [0.3]]}
    drawn = error_boxes(["1", ".75"], errors, ylabel="error", xlabel="ρ", title="AUC")
    (ax,) = drawn.axes
    boxes = [patch for patch in ax.patches if type(patch).__name__ == "PathPatch"]
    centres = [box.get_path().get_extents().x0 + box.get_path().get_extents().width / 2 for box in boxes]
    assert [round(centre) for centre in centres] == [0, 0, 1]
    assert centres[0] < centres[1]  # in the order of the methods
    medians = [line.get_ydata()[0] for line in ax.lines if line.get_linewidth() == 1.2]
    assert medians == [-0.2, 0.1, 0.3]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["1", ".75"]
    assert [text.get_text() for text in drawn.legends[0].get_texts()] == ["PU", "IR"]
    assert len({(box.get_facecolor(), box.get_hatch()) for box in boxes}) == 2


def test_figures_are_files_too(tmp_path: Path) -> None:
    """Each stands alone: well-formed XML, drawn as in the page."""
    page = Page("t")
    page.figure(figure(), "one", "first")
    page.write(tmp_path, "page")
    text = (tmp_path / "one.svg").read_text(encoding="utf-8")
    assert ET.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"
    assert text in (tmp_path / "page.html").read_text(encoding="utf-8")
