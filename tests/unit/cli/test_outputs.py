"""`--html`: never over what is read, titles, and what `demo` writes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from halftruth import demo
from halftruth._errors import InputError
from halftruth.cli._outputs import check_page, page_title

ROWS = "".join(f"{i / 50},{i * 7 % 50 / 50},{1 if i % 5 == 0 else ''}\n" for i in range(50))
COMMANDS = {"evaluate": ["--score", "a"], "compare": ["--score", "a", "--score", "b"]}
FEW = ["--prior", "0.3", "--metrics", "roc_auc", "--n-resamples", "0"]


@pytest.fixture
def run(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    for name in ("rows.csv", "in.html", "folder/rows.csv"):
        Path(name).write_text("a,b,label\n" + ROWS)
    os.link("in.html", "linked.html")
    Path("soft.html").symlink_to("in.html")
    return run


@pytest.mark.parametrize("command", list(COMMANDS))
@pytest.mark.parametrize(
    ("files", "html"),
    [
        (["in.html"], "in.html"),
        (["rows.csv", "in.html"], "./folder/../in.html"),
        (["in.html"], "linked.html"),
        (["in.html"], "soft.html"),
        (["i*.html"], "in.html"),
        (["rows*"], "rows.html"),
        (["folder"], "folder/page.html"),
    ],
)
def test_what_is_read_is_not_written_over(run: Any, command: str, files: list[str], html: str) -> None:
    status, out, err = run(command, *files, *COMMANDS[command], *FEW, "--html", html)
    assert (status, out) == (2, "")
    assert f"--html {html} is one of the files that are read, or would be the next time by its folder" in err
    assert Path("in.html").read_text() == "a,b,label\n" + ROWS
    assert not Path("folder", "page.html").exists()
    assert not Path("rows.html").exists()


@pytest.mark.parametrize("command", [*COMMANDS, "demo"])
def test_places_that_cannot_be(run: Any, command: str) -> None:
    Path("x.html").mkdir()
    args = ["rows.csv", *COMMANDS[command], *FEW] if command in COMMANDS else []
    for html, message in (
        ("x.html", "--html x.html is a folder. Name a file in it, such as x.html/report.html."),
        ("nowhere/x.html", "--html nowhere/x.html: there is no folder nowhere. Make it first."),
        ("page.csv", "--html writes a page, so its FILE must end in .html; got 'page.csv'."),
    ):
        assert run(command, *args, "--html", html) == (2, "", f"Error: {message}\n")


def test_titles(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert page_title(["-"], ["p"]) == "standard input, p"
    assert page_title(["in/a.csv", "b.csv"], ["p"]) == "a.csv, b.csv, p"
    assert page_title([f"{i}.csv" for i in range(5)]) == "0.csv, 1.csv, 2.csv, 2 more files"
    for command, title in (("evaluate", "rows.csv, a"), ("compare", "rows.csv, a, b")):
        args = [command, "folder/rows.csv", *COMMANDS[command], *FEW, "--html", "out.html"]
        assert run(*args)[0] == 0
        assert title in Path("out.html").read_text()
    args = ["evaluate", "folder/rows.csv", "rows.csv", "--score", "b", *FEW, "--html", "out.html"]
    assert run(*args)[0] == 0
    assert "rows.csv, rows.csv, b" in Path("out.html").read_text()


def test_the_demo_checks_its_places_before_it_works(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "odd_digits", lambda seed: pytest.fail("it worked"))
    for save in ("nowhere/x.csv", "folder.csv"):
        Path("folder.csv").mkdir(exist_ok=True)
        status, out, err = run("demo", "--save", save)
        assert (status, out) == (2, "")
        assert f"{save} cannot be written" in err
    assert not Path("halftruth-demo.html").exists()


def test_the_demo_scores_once(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    really = demo.odd_digits

    def counted(seed: int) -> Any:
        calls.append(seed)
        return really(seed)

    monkeypatch.setattr(demo, "odd_digits", counted)
    status, out, err = run("demo", "--save", "x.csv", "--html", "demo.html")
    assert (status, calls) == (0, [0])
    assert "truth" in out
    assert err == "The scores and labels are in x.csv.\n"
    demo.save("y.csv")
    assert Path("x.csv").read_text() == Path("y.csv").read_text()
    assert Path("demo.html").stat().st_size > 10_000


def test_check_needs_no_files() -> None:
    check_page(None, ["rows.csv"])
    with pytest.raises(InputError, match="must end in"):
        check_page("rows.csv")
