"""The PU-ECE paper done again: how far its estimate is from the truth, and how fast it nears it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from functools import cache, partial
from pathlib import Path
from typing import Any

from halftruth import checks, storage
from halftruth._version import __version__
from halftruth.figures import canvas
from halftruth.reproduce import pu_ece_cells as cells
from halftruth.reproduce import pu_ece_mnist as mnist
from halftruth.reproduce import pu_ece_page
from halftruth.reproduce import pu_ece_tables as tables
from halftruth.reproduce.page import as_csv
from halftruth.reproduce.pu_ece_settings import DESIGNS, FULL, LIMITS, MNIST, QUICK, SYNTHETIC, TITLES, Plan
from halftruth.reproduce.store import Outcome, Say, Step, Store, kept_or_made
from halftruth.simulate import LogitMixture, logistic_model

NAME = "pu-ece"
TITLE = "PU-ECE"
LOGITS, MIXTURE = "mnist-logits", "mnist-mixture"
"""Results on which others are built."""


def pu_ece(
    data: str | Path | None = None,
    out: str | Path = "halftruth-pu-ece",
    *,
    quick: bool = False,
    rng: int = 0,
    progress: bool = True,
) -> Path:
    """Reproduce Figures 1 to 3 of the PU-ECE paper, theirs beside ours, as one HTML page.

    What is done is kept: a run that was stopped goes on where it was.

    Parameters
    ----------
    data : path, optional
        Folder of the data sets, of which MNIST is used; by default what HALFTRUTH_DATA names. Without it the
        real model is left out, and the page says so.
    out : path
        Folder for the page, its tables as CSV, and the results by which a stopped run goes on.
    quick : bool
        Fewer trials and sizes, within two minutes on two cores.
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
    >>> import halftruth as ht
    >>> ht.reproduce.pu_ece(quick=True)  # doctest: +SKIP
    PosixPath('halftruth-pu-ece/pu-ece.html')
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
    """What `pu_ece` does; also what the command line shows."""
    seed = checks.count(rng, "rng", least=0)
    plan = QUICK if quick else FULL
    canvas.new_figure()  # where matplotlib is missing, say so before the work
    images = mnist.found(data)
    settings = {
        "paper": NAME,
        "halftruth": __version__,
        "quick": quick,
        "plan": asdict(plan),
        "rng": seed,
        "mnist": images is not None,
    }
    store = Store(out, settings)
    steps = _steps(plan, seed, images, store)
    title = f"{TITLE}, quick run" if quick else TITLE
    results = kept_or_made(title, steps, store, progress, say)
    notes = pu_ece_page.remarks(images, quick=quick)
    page = pu_ece_page.page(results, plan, notes)
    storage.write(Path(out) / "all.csv", as_csv(*tables.everything(results)))
    return Outcome(page.write(out, NAME), results, notes)


def _steps(plan: Plan, seed: int, images: Path | None, store: Store) -> dict[str, Step]:
    """What is to be done, by the key of its result, in the order of the page."""
    steps: dict[str, Step] = {}
    models: dict[str, Callable[[], Any]] = {
        name: partial(logistic_model, *beta) for name, beta in SYNTHETIC.items()
    }
    if images is not None:
        steps[LOGITS] = partial(mnist.held_out_logits, images, [seed, 1])
        steps[MIXTURE] = partial(_fitted, store)
        models[MNIST] = cache(partial(_mixture, store))
    for name, model in models.items():
        steps[f"{name}.about"] = partial(_about, model)
        which = list(TITLES).index(name)
        for i, design in enumerate(DESIGNS):
            for n in plan.sizes:
                own = [seed, 2, which, i, n]
                steps[f"{name}.{design}.{n}"] = partial(_cell, model, design, n, plan.trials, own)
        for n in LIMITS:
            own = [seed, 3, which, n]
            steps[f"{name}.limit.{n}"] = partial(_limit, model, n, plan.trials, own)
    return steps


def _cell(model: Callable[[], Any], design: str, n: int, trials: int, seed: list[int]) -> dict[str, Any]:
    return cells.cell(model(), design, n, trials, seed)


def _limit(model: Callable[[], Any], n: int, trials: int, seed: list[int]) -> dict[str, Any]:
    return cells.limit(model(), n, trials, seed)


def _about(model: Callable[[], Any]) -> dict[str, Any]:
    one = model()
    found = {"truth": float(one.truth("calibration_error")), "prior": float(one.prior)}
    mixed = isinstance(one, LogitMixture)
    return {**found, "components": [len(one.positive), len(one.negative)] if mixed else None}


def _fitted(store: Store) -> dict[str, Any]:
    found = store.get(LOGITS)
    assert found is not None  # the step before this one
    return asdict(LogitMixture.fit(found["logits"], found["y"]))


def _mixture(store: Store) -> LogitMixture:
    found = store.get(MIXTURE)
    assert found is not None  # a step before this one
    return LogitMixture(**found)
