"""The picture of the report in the README: `python -m tools.picture` (group `browser`, and chromium)."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from halftruth import demo

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "report.png"
WIDTH, HEIGHT = 1120, 1300


def main() -> None:
    """Open the demo's report in a real browser and take its top."""
    from playwright.sync_api import sync_playwright

    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        sys.exit("The picture needs chromium: install it, or name it by $CHROMIUM.")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        report = Path(folder, "report.html")
        demo.run()[0].to_html(report, title=demo.TITLE)
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, device_scale_factor=1.5)
        page.goto(report.as_uri())
        PICTURE.parent.mkdir(exist_ok=True)
        page.screenshot(path=PICTURE)
        browser.close()
    print(f"{PICTURE}: {PICTURE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
