"""A step of `make docs`: the built site must load nothing from elsewhere.

A link that a reader may follow is no load; a script, a style, a font or a picture is. What is found is a
warning, and so an error of the strict build.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

LOADING = {"src", "srcset", "poster", "data", "href", "xlink:href"}
FOLLOWED = {"a", "area"}
ELSEWHERE = re.compile(r"\s*(https?:)?//", re.IGNORECASE)
# A canonical address says where a page lives; it is not fetched.
NOT_FETCHED = {"canonical", "next", "prev"}
IN_STYLE = re.compile(r"""(?:url\(|@import)\s*["']?((?:https?:)?//[^"')\s]+)""", re.IGNORECASE)


class _Loads(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.style = tag == "style"
        given = {name: value or "" for name, value in attrs}
        self.found += IN_STYLE.findall(given.get("style", ""))
        if tag in FOLLOWED or (tag == "link" and given.get("rel") in NOT_FETCHED):
            return
        self.found += [given[name] for name in LOADING & given.keys() if ELSEWHERE.match(given[name])]

    def handle_data(self, data: str) -> None:
        if self.style:
            self.found += IN_STYLE.findall(data)


def loads(text: str, *, style: bool = False) -> list[str]:
    """Addresses elsewhere that a page, or a style sheet, makes a browser fetch."""
    if style:
        return IN_STYLE.findall(text)
    page = _Loads()
    page.feed(text)
    return page.found


def site_loads(site: Path) -> Iterator[tuple[str, str]]:
    """File and address of everything that a built site fetches from elsewhere."""
    for path in sorted([*site.rglob("*.html"), *site.rglob("*.css")]):
        for address in loads(path.read_text(encoding="utf-8"), style=path.suffix == ".css"):
            yield str(path.relative_to(site)), address


def on_post_build(config: Any) -> None:
    """Called by mkdocs when the site stands."""
    for name, address in site_loads(Path(config["site_dir"])):
        logging.getLogger("mkdocs.plugins.offline").warning("%s loads %s", name, address)
