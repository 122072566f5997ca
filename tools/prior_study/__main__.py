"""Compare the estimators of the class prior, and write docs/prior-estimators.md.

make prior-study                                        everything
make prior-study STUDY_ARGS="--part real --part noisy"  these anew, the rest from the last run
make prior-study STUDY_ARGS="--part page"               only the page, from the last runs
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tools.prior_study import example, page, real, simulators, timing
from tools.prior_study.settings import ROOT, Settings, add_arguments, load, read, save, say

PARTS: dict[str, Callable[[Settings], dict[str, Any]]] = {
    "example": example.run,
    "simulators": simulators.run,
    "real": real.run,
    "noisy": real.run_noisy,
    "time": timing.run,
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the parts, keep what they found, write the page."""
    parser = argparse.ArgumentParser(
        prog="prior-study", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", action="append", choices=[*PARTS, "page"], help="default: all")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "prior-estimators.md")
    parser.add_argument("--cache", type=Path, default=ROOT / "build" / "prior-study")
    parser.add_argument("--record", type=Path, default=ROOT / "tools" / "auto_record.md")
    add_arguments(parser)
    given = parser.parse_args(arguments)
    settings = read(given)
    for part in given.part or PARTS:
        if part != "page":
            start = time.perf_counter()
            save(given.cache, part, PARTS[part](settings))
            say(f"{part}: {time.perf_counter() - start:.0f} s")
    found = {part: load(given.cache, part) for part in PARTS}
    record = given.record.read_text(encoding="utf-8") if given.record.is_file() else None
    given.out.write_text(page.render(found, record), encoding="utf-8")
    say(f"{given.out} written")


if __name__ == "__main__":
    main()
