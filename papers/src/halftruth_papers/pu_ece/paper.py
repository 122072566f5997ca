"""What is run for the PU-ECE paper, and what is made of it."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import cache, partial
from pathlib import Path
from typing import Any

from halftruth import _checks
from halftruth._errors import InputError, MissingDependency, arg
from halftruth.simulate import logistic_model
from halftruth_papers.page import Page
from halftruth_papers.pu_ece import DEVICE, PAPER, experiments, settings, sources, tables
from halftruth_papers.pu_ece import page as pu_ece_page
from halftruth_papers.pu_ece.logit_mixture import LogitMixture
from halftruth_papers.pu_ece.recipes import NNPU, RECIPES
from halftruth_papers.pu_ece.settings import CIFAR, DESIGNS, LIMITS, SYNTHETIC, TITLES, Plan
from halftruth_papers.reproduction import Reproduction, Results, Step, SummaryTable, kept_or_made, prepare
from halftruth_papers.store import Store

CPU = "cpu"


class CalibrationError(Reproduction):
    """Figures 1 to 3: how far the estimate is from the truth, and how fast it nears it.

    Of the data sets MNIST, Fashion-MNIST, bank and CIFAR-10 are used; models whose data is not there are left
    out. Networks that were trained need neither PyTorch nor their data to go on from.
    """

    def __init__(self, data: str | Path | None, *, quick: bool, device: str = "auto", rng: int = 0) -> None:
        self.seed = _checks.count(rng, "rng", least=0)
        self.quick = quick
        self.plan = settings.QUICK if quick else settings.FULL
        self.asked_for_cpu = device == CPU
        self.device = trained_on(device)
        self.sources = sources.available(data)
        self.left_out: list[str] = []
        self.trained: list[str] = []
        # Which models there are is no setting: they do not touch each other, and more may come.
        self.settings = {"plan": asdict(self.plan), "rng": self.seed}

    def steps(self, store: Store) -> dict[str, Step]:
        self.trained = [name for name in RECIPES if store.get(networks_key(name)) is not None]
        # CIFAR-10 takes hours on a CPU, which one has to ask for.
        too_long = {CIFAR} if self.device == CPU and not self.asked_for_cpu else set()
        self.left_out = [
            name
            for name in self.sources
            if name not in self.trained and (self.device is None or name in too_long)
        ]
        real = [
            name
            for name in RECIPES
            if name in self.trained or (name in self.sources and name not in self.left_out)
        ]
        for name in real:
            if name not in self.trained:
                self._check_fresh(name, store)
                sources.check(name, self.sources[name])
        steps: dict[str, Step] = {}
        models: dict[str, Callable[[], Any]] = {
            name: partial(logistic_model, *beta) for name, beta in SYNTHETIC.items()
        }
        for name in real:
            seed = [self.seed, 1, list(TITLES).index(name)]
            path, device = self.sources.get(name), self.device or CPU
            steps[networks_key(name)] = partial(_learned, name, path, self.plan, seed, device)
            steps[f"{name}-mixture"] = partial(_fitted, store, name)
            models[name] = cache(partial(_mixture, store, name))
        for name, model in models.items():
            steps |= self._of_model(name, model)
        return steps

    def _check_fresh(self, name: str, store: Store) -> None:
        if store.get(f"{name}-mixture") is not None:
            raise InputError(
                f"{arg('out')} ({store.folder}) holds figures of {TITLES[name]} without the networks that "
                f"they are of. Pass another folder, or delete it."
            )

    def _of_model(self, name: str, model: Callable[[], Any]) -> dict[str, Step]:
        """Its truth, what bins hide of it, and the estimates by design and size."""
        plan, place = self.plan, list(TITLES).index(name)
        steps: dict[str, Step] = {
            f"{name}.about": partial(_about, model),
            f"{name}.bins": partial(_bins, model, plan.sizes[-1]),
        }
        for i, design in enumerate(DESIGNS):
            for n in plan.sizes:
                seed = [self.seed, 2, place, i, n]
                steps[f"{name}.{design}.{n}"] = partial(_cell, model, design, n, plan.trials, seed)
        for n in LIMITS:
            seed = [self.seed, 3, place, n]
            steps[f"{name}.limit.{n}"] = partial(_limit, model, n, plan.trials, seed)
        return steps

    def notes(self) -> list[str]:
        return pu_ece_page.remarks({*self.sources, *self.trained}, self.left_out, quick=self.quick)

    def page(self, results: Results, notes: Sequence[str]) -> Page:
        page = pu_ece_page.page(results, self.plan, notes)
        page.file("all", *tables.everything(results))
        return page

    def summary(self, results: Results) -> list[SummaryTable]:
        return tables.summary_tables(results)


def train(
    data: str | Path | None, out: str | Path, *, quick: bool = False, device: str = "auto", rng: int = 0
) -> None:
    """Train the networks only and keep what they tell: a run goes on from there, on any machine."""
    _, store, steps = prepare(PAPER, data, Path(out), quick=quick, device=device, rng=rng)
    alone = {key: step for key, step in steps.items() if key in map(networks_key, RECIPES)}
    kept_or_made(f"{PAPER.title}, networks", alone, store, progress=True)


def networks_key(name: str) -> str:
    """The key of what the networks of a model tell: all ways of learning together, from one device."""
    return f"{name}-networks"


def trained_on(device: str) -> str | None:
    """Where networks are trained; None without PyTorch."""
    device_name = _checks.choice(device, "device", DEVICE.choices)
    if importlib.util.find_spec("torch") is None:
        if device_name == "cuda":
            raise MissingDependency(f"{arg('device', 'cuda')} needs PyTorch: pip install 'halftruth[torch]'")
        return None
    from halftruth_papers.pu_ece import networks

    return networks.chosen(device_name)


def _learned(name: str, path: Path | None, plan: Plan, seed: list[int], device: str) -> dict[str, Any]:
    from halftruth_papers.pu_ece import networks

    assert path is not None  # else they are kept
    recipe = RECIPES[name]
    return networks.learned(
        sources.read(name, path),
        recipe,
        n=min(plan.networks[device], recipe.most or plan.networks[device]),
        passes=min(recipe.passes, plan.passes or recipe.passes),
        seed=seed,
        device=device,
    )


# The model of a network is known only when it was trained: steps take what makes it.


def _cell(model: Callable[[], Any], design: str, n: int, trials: int, seed: list[int]) -> dict[str, Any]:
    return experiments.cell(model(), design, n, trials, seed)


def _limit(model: Callable[[], Any], n: int, trials: int, seed: list[int]) -> dict[str, Any]:
    return experiments.limit(model(), n, trials, seed)


def _about(model: Callable[[], Any]) -> dict[str, Any]:
    population = model()
    mixed = isinstance(population, LogitMixture)
    return {
        "truth": float(population.truth("calibration_error")),
        "prior": float(population.prior),
        "components": [len(population.positive), len(population.negative)] if mixed else None,
    }


def _bins(model: Callable[[], Any], n: int) -> dict[str, Any]:
    """For as many bins as any estimate takes up to this N, and one more."""
    population = model()
    return experiments.binned_errors(population, experiments.n_bins(n / population.prior**2) + 1)


def _fitted(store: Store, name: str) -> dict[str, Any]:
    networks = store.get(networks_key(name))
    assert networks is not None  # a step before this one
    return asdict(LogitMixture.fit(networks[NNPU]["logits"], networks[NNPU]["y"]))


def _mixture(store: Store, name: str) -> LogitMixture:
    fitted = store.get(f"{name}-mixture")
    assert fitted is not None  # a step before this one
    return LogitMixture(**fitted)
