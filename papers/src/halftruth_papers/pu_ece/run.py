"""The PU-ECE paper done again: how far its estimate is from the truth, and how fast it nears it."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import asdict
from functools import cache, partial
from pathlib import Path
from typing import Any

from halftruth import _checks, _storage
from halftruth._errors import InputError, MissingDependency
from halftruth._version import __version__
from halftruth.figures import canvas
from halftruth.simulate import logistic_model
from halftruth_papers.page import as_csv
from halftruth_papers.pu_ece import cells, tables
from halftruth_papers.pu_ece import page as pu_ece_page
from halftruth_papers.pu_ece import sources as pu_ece_sources
from halftruth_papers.pu_ece.logit_mixture import LogitMixture
from halftruth_papers.pu_ece.recipes import NNPU, RECIPES
from halftruth_papers.pu_ece.settings import (
    CIFAR,
    DESIGNS,
    DEVICES,
    FULL,
    LIMITS,
    QUICK,
    SYNTHETIC,
    TITLES,
    Plan,
)
from halftruth_papers.store import Outcome, Say, Step, Store, kept_or_made

NAME = "pu-ece"
TITLE = "PU-ECE"
CPU = "cpu"


def pu_ece(
    data: str | Path | None = None,
    out: str | Path = "halftruth-pu-ece",
    *,
    quick: bool = False,
    device: str = "auto",
    rng: int = 0,
    progress: bool = True,
) -> Path:
    """Reproduce Figures 1 to 3 of the PU-ECE paper, theirs beside ours, as one HTML page.

    What is done is kept: a run that was stopped goes on where it was, also on another machine. Networks that
    were trained need neither PyTorch nor their data there.

    Parameters
    ----------
    data : path, optional
        Folder of the data sets, of which MNIST, Fashion-MNIST, bank and CIFAR-10 are used; by default what
        HALFTRUTH_DATA names. Models whose data is not there are left out, and the page says so. Files are
        checked before the work begins.
    out : path
        Folder for the page, its tables as CSV, and the results by which a stopped run goes on.
    quick : bool
        Fewer trials, sizes and passes, within two minutes on two cores.
    device : {"auto", "cpu", "cuda"}
        Where networks are trained: a hundred of each kind side by side with CUDA, three on the CPU. "auto"
        is CUDA where there is one. Without PyTorch none are trained, and the page says so.
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
    >>> from halftruth_papers.pu_ece.run import pu_ece
    >>> pu_ece(quick=True)  # doctest: +SKIP
    PosixPath('halftruth-pu-ece/pu-ece.html')
    """
    return run(data, out, quick=quick, device=device, rng=rng, progress=progress).page


def run(
    data: str | Path | None,
    out: str | Path,
    *,
    quick: bool,
    rng: int,
    progress: bool,
    device: str = "auto",
    say: Say | None = None,
) -> Outcome:
    """What `pu_ece` does; also what the command line shows."""
    canvas.new_figure()  # where matplotlib is missing, say so before the work
    plan, store, steps, notes = _prepared(data, out, quick=quick, rng=rng, device=device)
    title = f"{TITLE}, quick run" if quick else TITLE
    results = kept_or_made(title, steps, store, progress, say)
    page = pu_ece_page.page(results, plan, notes)
    _storage.write(Path(out) / "all.csv", as_csv(*tables.everything(results)))
    return Outcome(page.write(out, NAME), results, notes)


def train(
    data: str | Path | None, out: str | Path, *, quick: bool = False, device: str = "auto", rng: int = 0
) -> None:
    """Train the networks only and keep what they tell: `pu_ece` goes on from there, on any machine."""
    _, store, steps, _ = _prepared(data, out, quick=quick, rng=rng, device=device)
    alone = {key: step for key, step in steps.items() if key in map(_networks, RECIPES)}
    kept_or_made(f"{TITLE}, networks", alone, store, True, None)


def _prepared(
    data: str | Path | None, out: str | Path, *, quick: bool, rng: int, device: str
) -> tuple[Plan, Store, dict[str, Step], list[str]]:
    seed = _checks.count(rng, "rng", least=0)
    plan = QUICK if quick else FULL
    where = _device(device)
    sources = pu_ece_sources.found(data)
    # Which models there are is no setting: they do not touch each other, and more may come.
    settings = {"paper": NAME, "halftruth": __version__, "quick": quick, "plan": asdict(plan), "rng": seed}
    store = Store(out, settings)
    trained = [name for name in RECIPES if store.get(_networks(name)) is not None]
    # Hours on a CPU, which one has to ask for.
    hours = where == CPU and device != CPU
    left_out = [
        name for name in sources if name not in trained and (where is None or (name == CIFAR and hours))
    ]
    notes = pu_ece_page.remarks({*sources, *trained}, left_out, quick=quick)
    real = {
        name: sources.get(name)
        for name in RECIPES
        if name in trained or (name in sources and name not in left_out)
    }
    for name, path in real.items():
        if name not in trained and path is not None:
            if store.get(f"{name}-mixture") is not None:
                raise InputError(
                    f"`out` ({out}) holds figures of {TITLES[name]} without the networks that they are of. "
                    f"Pass another folder, or delete it."
                )
            pu_ece_sources.check(name, path)
    return plan, store, _steps(plan, seed, real, where or CPU, store), notes


def _networks(name: str) -> str:
    """The key of what the networks of a model tell: all ways of learning together, from one device."""
    return f"{name}-networks"


def _device(device: str) -> str | None:
    """Where networks are trained; None without PyTorch."""
    wanted = _checks.choice(device, "device", DEVICES)
    if importlib.util.find_spec("torch") is None:
        if wanted == "cuda":
            raise MissingDependency("device='cuda' needs PyTorch: pip install 'halftruth[torch]'")
        return None
    from halftruth_papers.pu_ece import networks as pu_ece_networks

    return pu_ece_networks.chosen(wanted)


def _steps(plan: Plan, seed: int, real: dict[str, Path | None], device: str, store: Store) -> dict[str, Step]:
    """What is to be done, by the key of its result, in the order of the page."""
    steps: dict[str, Step] = {}
    models: dict[str, Callable[[], Any]] = {
        name: partial(logistic_model, *beta) for name, beta in SYNTHETIC.items()
    }
    for name, path in real.items():
        own = [seed, 1, list(TITLES).index(name)]
        steps[_networks(name)] = partial(_learned, name, path, plan, own, device)
        steps[f"{name}-mixture"] = partial(_fitted, store, name)
        models[name] = cache(partial(_mixture, store, name))
    for name, model in models.items():
        steps[f"{name}.about"] = partial(_about, model)
        steps[f"{name}.bins"] = partial(_bins, model, plan.sizes[-1])
        which = list(TITLES).index(name)
        for i, design in enumerate(DESIGNS):
            for n in plan.sizes:
                own = [seed, 2, which, i, n]
                steps[f"{name}.{design}.{n}"] = partial(_cell, model, design, n, plan.trials, own)
        for n in LIMITS:
            own = [seed, 3, which, n]
            steps[f"{name}.limit.{n}"] = partial(_limit, model, n, plan.trials, own)
    return steps


def _learned(name: str, path: Path | None, plan: Plan, seed: list[int], device: str) -> dict[str, Any]:
    from halftruth_papers.pu_ece import networks as pu_ece_networks

    assert path is not None  # else they are kept
    recipe = RECIPES[name]
    return pu_ece_networks.learned(
        pu_ece_sources.read(name, path),
        recipe,
        n=min(plan.networks[device], recipe.most or plan.networks[device]),
        passes=min(recipe.passes, plan.passes or recipe.passes),
        seed=seed,
        device=device,
    )


def _cell(model: Callable[[], Any], design: str, n: int, trials: int, seed: list[int]) -> dict[str, Any]:
    return cells.cell(model(), design, n, trials, seed)


def _limit(model: Callable[[], Any], n: int, trials: int, seed: list[int]) -> dict[str, Any]:
    return cells.limit(model(), n, trials, seed)


def _about(model: Callable[[], Any]) -> dict[str, Any]:
    one = model()
    found = {"truth": float(one.truth("calibration_error")), "prior": float(one.prior)}
    mixed = isinstance(one, LogitMixture)
    return {**found, "components": [len(one.positive), len(one.negative)] if mixed else None}


def _bins(model: Callable[[], Any], n: int) -> dict[str, Any]:
    """For as many bins as any estimate takes up to this N, and one more."""
    one = model()
    return cells.binned_errors(one, cells.n_bins(n / one.prior**2) + 1)


def _fitted(store: Store, name: str) -> dict[str, Any]:
    found = store.get(_networks(name))
    assert found is not None  # a step before this one
    return asdict(LogitMixture.fit(found[NNPU]["logits"], found[NNPU]["y"]))


def _mixture(store: Store, name: str) -> LogitMixture:
    found = store.get(f"{name}-mixture")
    assert found is not None  # a step before this one
    return LogitMixture(**found)
