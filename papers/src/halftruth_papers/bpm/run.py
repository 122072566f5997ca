"""Dong et al. (2025) done again: curves, metrics and calibrators by binomial process modeling and others."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from itertools import product
from pathlib import Path

from halftruth import _checks
from halftruth._version import __version__
from halftruth.figures import canvas
from halftruth_papers.bpm import cells
from halftruth_papers.bpm import page as bpm_page
from halftruth_papers.bpm import settings as bpm_settings
from halftruth_papers.bpm.settings import KINDS, Plan, processes
from halftruth_papers.bpm.tables import HOW
from halftruth_papers.logits import Split, found
from halftruth_papers.store import Outcome, Say, Step, Store, kept_or_made

NAME = "bpm"
TITLE = "Dong et al., binomial process modeling"


def bpm(
    data: str | Path | None = None,
    out: str | Path = "halftruth-bpm",
    *,
    quick: bool = False,
    rng: int = 0,
    progress: bool = True,
) -> Path:
    """Reproduce Figure 1 and Table 1 of Dong et al. (2025), theirs beside ours, as one HTML page.

    Confidence calibration by binomial process modeling: curves and metrics on the paper's five simulated
    distributions, from full labels and from positives and unlabeled, and calibrators on networks' outputs.
    What is done is kept: a run that was stopped goes on where it was.

    Parameters
    ----------
    data : path, optional
        Folder of the networks' outputs on CIFAR-10; by default what HALFTRUTH_DATA names. Without them
        Table 1 is left out, and the page says so.
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
    >>> from halftruth_papers.bpm.run import bpm
    >>> bpm(quick=True)  # doctest: +SKIP
    PosixPath('halftruth-bpm/bpm.html')
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
    """What `bpm` does; also what the command line shows."""
    seed = _checks.count(rng, "rng", least=0)
    plan = bpm_settings.QUICK if quick else bpm_settings.FULL
    canvas.new_figure()  # where matplotlib is missing, say so before the work
    networks = found(data, seed)
    settings = {
        "paper": NAME,
        "halftruth": __version__,
        "quick": quick,
        "plan": asdict(plan),
        "rng": seed,
        "networks": list(networks),
    }
    store = Store(out, settings)
    title = f"{TITLE}, quick run" if quick else TITLE
    results = kept_or_made(title, _steps(plan, seed, networks), store, progress, say)
    notes = bpm_page.remarks(networks, quick=quick)
    page = bpm_page.page(results, notes)
    return Outcome(page.write(out, NAME), results, notes)


def _steps(plan: Plan, seed: int, networks: dict[str, Split]) -> dict[str, Step]:
    """What is to be done, by the key of its result, in the order of the page."""
    steps: dict[str, Step] = {}
    for (k, kind), (j, (name, process)) in product(enumerate(KINDS), enumerate(processes().items())):
        for i, repeats in enumerate(_blocks(plan.curves, plan.block)):
            own = [seed, 1, k, j, i]
            steps[f"curves-{kind}-{name}-{i}"] = partial(cells.curves, process, kind, own, repeats)
        for n, (i, repeats) in product(plan.sizes, enumerate(_blocks(plan.repeats, plan.block))):
            own = [seed, 2, k, j, n, i]
            steps[f"errors-{kind}-{name}-{n}-{i}"] = partial(cells.errors, process, kind, n, own, repeats)
    for name, split in networks.items():
        steps[f"about-{name}"] = partial(cells.about, split)
        steps[f"real-{name}"] = partial(cells.real_curves, split)
        for how in HOW:
            steps[f"table-{how}-{name}"] = partial(cells.table, split, how, [seed, 3])
        steps[f"calibrated-{name}"] = partial(cells.if_calibrated, split, [seed, 5], plan.draws)
    return steps


def _blocks(total: int, size: int) -> list[int]:
    return [min(size, total - done) for done in range(0, total, size)]
