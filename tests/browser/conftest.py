"""A real browser, and pages that may neither complain nor ask for anything."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

# Only what keeps chromium quiet and lets it run as root in a container.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
# Two frames: one for the page to draw in, one to be sure that it did; then until nothing is left to compute.
DRAWN = """() => new Promise(done => {
    const settled = () => document.documentElement.dataset.settled !== 'false';
    const look = () => settled() ? done() : requestAnimationFrame(look);
    requestAnimationFrame(() => requestAnimationFrame(look));
})"""
MISSING = (
    "{} is no chromium that can be run. Install one (Debian: apt-get install chromium fonts-dejavu-core), or let "
    "$CHROMIUM name the program."
)


@pytest.fixture(scope="session")
def chromium() -> str:
    """The program: $CHROMIUM, else chromium on the PATH. Without one the tests fail; they never skip."""
    named = os.environ.get("CHROMIUM") or "chromium"
    found = shutil.which(named)
    if found is None:
        pytest.fail(MISSING.format(repr(named)), pytrace=False)
    return found


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield launched
        launched.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Callable[..., Page]]:
    """``open_page(path, ...)``: the file in a window of its own.

    Complaints on the console, errors, dialogs, new windows and requests other than for the file fail the test
    at its end.
    """
    contexts: list[Any] = []
    faults: list[str] = []

    def opened(
        path: str | Path,
        *,
        width: int = 1280,
        height: int = 900,
        color_scheme: str = "light",
        javascript: bool = True,
    ) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=color_scheme,
            java_script_enabled=javascript,
        )
        contexts.append(context)
        page = context.new_page()
        address = Path(path).resolve().as_uri()
        watch(page, address, faults)
        page.goto(address)
        if javascript:
            page.evaluate(DRAWN)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not faults, "the page is not quiet:\n" + "\n".join(faults)


def watch(page: Page, address: str, faults: list[str]) -> None:
    def dialog(shown: Any) -> None:
        faults.append(f"dialog: {shown.message}")
        shown.dismiss()

    def console(message: Any) -> None:
        if message.type in {"error", "warning"}:
            faults.append(f"console {message.type}: {message.text}")

    def request(asked: Any) -> None:
        # A download is a blob that the page itself made.
        if asked.url != address and not asked.url.startswith("blob:"):
            faults.append(f"request: {asked.url[:200]}")

    page.on("dialog", dialog)
    page.on("console", console)
    page.on("request", request)
    page.on("pageerror", lambda error: faults.append(f"error: {error}"))
    page.on("popup", lambda other: faults.append(f"new window: {other.url[:200]}"))
