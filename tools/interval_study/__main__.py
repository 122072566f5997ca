"""Count how often the default intervals hold the truth, and write docs/intervals.md.

make interval-study                                     everything
make interval-study STUDY_ARGS="--draws 40"             fewer data sets in each cell
make interval-study STUDY_ARGS="--quick --kinds labeled --out build/intervals.md"
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from tools.interval_study import page
from tools.interval_study.cells import KINDS, Cell, all_cells
from tools.interval_study.coverage import Outcome, run

ROOT = Path(__file__).parents[2]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the cells, write the page."""
    parser = argparse.ArgumentParser(
        prog="interval-study", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--draws", type=int, default=400, help="data sets in each cell")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=tuple(KINDS), help="of evidence")
    parser.add_argument("--quick", action="store_true", help="few cells of each kind")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "intervals.md")
    options = parser.parse_args(arguments)
    cells = list(all_cells(tuple(options.kinds), quick=options.quick))
    outcomes = []
    for outcome in _outcomes(cells, options.draws, options.jobs):
        outcomes.append(outcome)
        print(
            f"{len(outcomes)}/{len(cells)} {outcome.cell.kind}, {outcome.cell}", file=sys.stderr, flush=True
        )
    options.out.write_text(page.render(outcomes, options.draws), encoding="utf-8")


def _outcomes(cells: Sequence[Cell], draws: int, jobs: int) -> Iterator[Outcome]:
    if jobs == 1:
        yield from (run(cell, draws) for cell in cells)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(partial(run, draws=draws), cells)


if __name__ == "__main__":
    main()
