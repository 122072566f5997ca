"""What the command tells: the same result in four formats on stdout, on a page, and the notes beside it."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FORMATS = ("table", "markdown", "csv", "json")


@dataclass(frozen=True)
class Told:
    """All forms of one result; ``page`` is what a reader sees of it without JavaScript."""

    status: int
    out: dict[str, str]
    notes: dict[str, str]
    page: str

    @property
    def json(self) -> dict[str, Any]:
        return json.loads(self.out["json"])

    @property
    def csv(self) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(self.out["csv"])))

    @property
    def texts(self) -> dict[str, str]:
        """What people read."""
        return {"table": self.out["table"], "markdown": self.out["markdown"], "page": self.page}

    def group(self, name: str | None = None) -> dict[str, Any]:
        """The JSON of one group, or of the whole."""
        return self.json if name is None else self.json["groups"][name]

    def records(self, by: str | None = None, name: str | None = None) -> list[dict[str, str]]:
        """The lines of CSV of one group, or all."""
        return [row for row in self.csv if by is None or row[by] == name]

    def interval(self, metric: str, by: str | None = None, name: str | None = None) -> tuple[float, float]:
        """Of JSON, after a look whether CSV, table, Markdown and page have the same."""
        found = self.group(name)["metrics"][metric]
        low, high = found["low"], found["high"]
        (row,) = (row for row in self.records(by, name) if row["metric"] == metric)
        assert (float(row["raw_low"]), float(row["raw_high"])) == (low, high)
        assert (float(row["low"]), float(row["high"])) == (max(low, 0), min(high, 1))
        shown = f"{max(low, 0):.3f} to {min(high, 1):.3f}"
        for form, text in self.texts.items():
            assert shown in text, (form, shown)
        return low, high

    def value(self, metric: str, by: str | None = None, name: str | None = None) -> float:
        """Of JSON, after a look whether CSV, table, Markdown and page have the same."""
        value = self.group(name)["metrics"][metric]["value"]
        (row,) = (row for row in self.records(by, name) if row["metric"] == metric)
        assert float(row["value"]) == value
        for form, text in self.texts.items():
            assert f"{value:.3f}" in text, (form, value)
        return value

    def says_everywhere(
        self, status: str, reason: str, by: str | None = None, name: str | None = None
    ) -> None:
        """Every form names the status and has the reason in full."""
        found = self.group(name)
        assert found["status"] == status
        assert reason in found["reason"]
        rows = self.records(by, name)
        assert {row["status"] for row in rows} == {status}
        # A cell that begins with a sign is quoted, lest a spreadsheet takes it for a formula.
        assert all(found["reason"] == row["reason"].removeprefix("'") for row in rows)
        for form, text in self.texts.items():
            assert status.upper() in text, form
        for form in ("table", "markdown"):
            plain = self.out[form].replace("\\", "")  # Markdown has backslashes before its own signs
            assert f"{status.upper()}: {found['reason']}" in plain
        assert found["reason"] in self.page

    def nothing_is_wrong(self) -> None:
        """No form has a word against the numbers."""
        for found in self.json.get("groups", {"": self.json}).values():
            assert (found["status"], found["reason"]) == ("ok", None)
        assert {(row["status"], row["reason"]) for row in self.csv} == {("ok", "")}
        for form, text in self.texts.items():
            assert not re.search("REFUTED|NOT IDENTIFIED|NOT EVALUATED|impossible", text), form


def visible(page: str) -> str:
    """The words of a page, without scripts, styles and drawings."""
    bare = re.sub(r"<(script|style|svg)\b.*?</\1>", "", page, flags=re.S)
    return html.unescape(re.sub(r"<[^>]+>", " ", bare))


def tell(run: Callable[..., tuple[int, str, str]], folder: Path, *args: str) -> Told:
    """One command in all four formats and as a page; its status must not hang on the format."""
    page = folder / "page.html"
    answers = {form: run(*args, "--format", form) for form in FORMATS[1:]}
    answers[FORMATS[0]] = run(*args, "--format", FORMATS[0], "--html", str(page))
    (status,) = {answer[0] for answer in answers.values()}
    return Told(
        status,
        {form: answer[1] for form, answer in answers.items()},
        {form: answer[2] for form, answer in answers.items()},
        visible(page.read_text("utf-8")),
    )
