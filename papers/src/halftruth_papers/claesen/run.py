"""Claesen et al. (2015) done again: bounds of rankings from positives and unlabeled, theirs and ours."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from halftruth import _checks
from halftruth._version import __version__
from halftruth.figures import canvas
from halftruth_papers.claesen import cells
from halftruth_papers.claesen import models as claesen_models
from halftruth_papers.claesen import page as claesen_page
from halftruth_papers.datasets import Found, covertype
from halftruth_papers.store import Outcome, Say, Step, Store, kept_or_made

KNOWN = (0.1, 0.3, 0.5, 0.7)
KNOWN_NEGATIVE = (0.0, 0.2, 0.4, 0.6, 0.8)
SIZES = ((1_000, 19_000), (200, 2_000), (2_000, 2_000), (2_000, 200))
"""Known and latent positives of the table of coverage."""
NAME = "claesen"
TITLE = "Claesen et al."


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How much is done."""

    n_known: tuple[int, ...]
    repeats: int
    runs: int
    block: int
    """Repeats or runs that make one stored result."""
    n_resamples: int


FULL = Plan(
    n_known=(100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000),
    repeats=200,
    runs=500,
    block=20,
    n_resamples=2000,
)
QUICK = Plan(n_known=(100, 1_000, 10_000), repeats=4, runs=40, block=20, n_resamples=1000)


def claesen(
    data: str | Path | None = None,
    out: str | Path = "halftruth-claesen",
    *,
    quick: bool = False,
    rng: int = 0,
    progress: bool = True,
) -> Path:
    """Reproduce the tables and figures of Claesen et al. (2015), theirs beside ours, as one HTML page.

    What is done is kept: a run that was stopped goes on where it was.

    Parameters
    ----------
    data : path, optional
        Folder of the data sets, of which the covertype rows are used; by default what HALFTRUTH_DATA names.
        Without them that section is left out, and the page says so.
    out : path
        Folder for the page, its tables as CSV, and the results by which a stopped run goes on.
    quick : bool
        Fewer repeats, within two minutes on two cores.
    rng : int
        Seed.
    progress : bool
        Show progress on a terminal.

    Returns
    -------
    Path
        Of the page.

    Examples
    --------
    >>> from halftruth_papers.claesen.run import claesen
    >>> claesen(quick=True)  # doctest: +SKIP
    PosixPath('halftruth-claesen/claesen.html')
    """
    return run(data, out, quick=quick, rng=rng, progress=progress).page


def run(
    data: str | Path | None,
    out: str | Path,
    *,
    quick: bool,
    rng: int,
    progress: bool,
    say: Say | None = None,
) -> Outcome:
    """What `claesen` does; also what the command line shows."""
    seed = _checks.count(rng, "rng", least=0)
    plan = QUICK if quick else FULL
    canvas.new_figure()  # where matplotlib is missing, say so before the work
    rows = covertype(data)
    settings = {
        "paper": NAME,
        "halftruth": __version__,
        "quick": quick,
        "plan": asdict(plan),
        "rng": seed,
        "covertype": None if rows is None else len(rows.y),
    }
    store = Store(out, settings)
    steps = _steps(plan, seed, rows, store)
    title = f"{TITLE}, quick run" if quick else TITLE
    results = kept_or_made(title, steps, store, progress, say)
    notes = claesen_page.remarks(rows, quick=quick)
    page = claesen_page.page(results, plan.n_resamples, seed, notes)
    return Outcome(page.write(out, NAME), results, notes)


def _steps(plan: Plan, seed: int, rows: Found | None, store: Store) -> dict[str, Step]:
    """What is to be done, by the key of its result, in the order of the page."""
    steps: dict[str, Step] = {}
    if rows is not None:
        steps["covtype-scores"] = partial(cells.covtype_scores, rows, [seed, 1])
        for band in (cells.THEIRS, cells.OURS):
            steps[f"covtype-{band}"] = partial(_summary, store, band, plan.n_resamples)
    for known, negative in product(KNOWN, KNOWN_NEGATIVE):
        key = f"table-{100 * known:.0f}-{100 * negative:.0f}"
        steps[key] = partial(cells.table_row, [seed, 2], known, negative, plan.n_resamples)
    for n_known in plan.n_known:
        for i, size in enumerate(_blocks(plan.repeats, plan.block)):
            steps[f"growing-{n_known}-{i}"] = partial(
                cells.growing, [seed, 3, i], n_known, size, plan.n_resamples
            )
    steps["models"] = partial(claesen_models.models, plan.n_resamples)
    for n_known, n_latent in SIZES:
        for i, size in enumerate(_blocks(plan.runs, plan.block)):
            key = f"coverage-{n_known}-{n_latent}-{i}"
            steps[key] = partial(cells.coverage, [seed, 4, i], n_known, n_latent, size, plan.n_resamples)
    return steps


def _summary(store: Store, band: str, n_resamples: int) -> dict[str, Any]:
    scores = store.get("covtype-scores")
    assert scores is not None  # the step before this one
    return cells.covtype_summary(cells.covtype_ranking(scores), band, n_resamples)


def _blocks(total: int, size: int) -> list[int]:
    return [min(size, total - done) for done in range(0, total, size)]
