"""`halftruth reproduce` as the door to a package that may be missing."""

from __future__ import annotations

import importlib.metadata
from types import SimpleNamespace
from typing import Any

import pytest
import typer

from halftruth import cli
from halftruth.cli import main


@pytest.fixture(autouse=True)
def commands_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process keeps the commands it has loaded; these tests make their own."""
    monkeypatch.setattr(cli, "_commands", cli._commands.__wrapped__)


MISSING = (
    "Error: The papers come with a package of their own, which is not installed. "
    "In a clone of the repository, run: pip install ./papers\n"
)


def offer(monkeypatch: pytest.MonkeyPatch, *entries: Any) -> None:
    def found(*, group: str) -> list[Any]:
        assert group == "halftruth.reproductions"
        return list(entries)

    monkeypatch.setattr(importlib.metadata, "entry_points", found)


@pytest.mark.parametrize("words", [[], ["jain"], ["jain", "--quick"]])
def test_without_the_package_one_line_says_how_to_install_it(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    offer(monkeypatch)
    assert main(["reproduce", *words]) == 2
    assert capsys.readouterr() == ("", MISSING)


def test_without_the_package_there_is_help(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    offer(monkeypatch)
    assert main(["reproduce", "--help"]) == 0
    assert "PAPER" in capsys.readouterr().out


def test_any_package_may_offer_papers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    app = typer.Typer()

    @app.command()
    def ours(quick: bool = False) -> None:
        """Ours."""
        typer.echo(f"quick={quick}")

    @app.command()
    def theirs() -> None:
        """Theirs."""

    offer(monkeypatch, SimpleNamespace(load=lambda: app))
    assert main(["reproduce", "ours", "--quick"]) == 0
    assert capsys.readouterr().out == "quick=True\n"
    assert main(["reproduce"]) == 2
    assert "theirs" in capsys.readouterr().err
    assert main(["reproduce", "others"]) == 2
    assert "No such command 'others'" in capsys.readouterr().err


def test_other_commands_look_for_no_package(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def looked(*, group: str) -> list[Any]:
        raise AssertionError(group)

    monkeypatch.setattr(importlib.metadata, "entry_points", looked)
    assert main(["--help"]) == 0
    assert "reproduce" in capsys.readouterr().out
    assert main(["prior", "--help"]) == 0
