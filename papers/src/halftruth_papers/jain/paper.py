"""What is run for Jain et al., and what is made of it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import product
from pathlib import Path

from halftruth import _checks
from halftruth._errors import InputError, arg
from halftruth_papers import datasets
from halftruth_papers.datasets import DatasetFile
from halftruth_papers.jain import BLOCKS, tables
from halftruth_papers.jain import page as jain_page
from halftruth_papers.jain.experiments import PURITIES, Cell, Experiments, Sizes
from halftruth_papers.jain.tables import Experiment
from halftruth_papers.page import Page
from halftruth_papers.published import DATASETS
from halftruth_papers.reproduction import Reproduction, Results, Step, SummaryTable
from halftruth_papers.store import Store

FULL = Sizes()
QUICK = Sizes(n_networks=25, n_trees=60, most_unlabeled=3_000, most_rows=4_000)
REPEATS = 10
"""The paper has 50."""
QUICK_REPEATS = 1


class TruePerformance(Reproduction):
    """Tables 1 and 2 and Figure 2: the paper's data sets that are there, labels of purity 1, .95 and .75.

    A run with more repeats does only those.
    """

    def __init__(
        self,
        data: str | Path | None,
        *,
        quick: bool,
        repeats: int | None = None,
        blocks: Sequence[str] = BLOCKS,
        jobs: int | None = None,
    ) -> None:
        self.quick = quick
        default = QUICK_REPEATS if quick else REPEATS
        self.repeats = _checks.count(default if repeats is None else repeats, "repeats", least=1)
        self.blocks = _chosen(blocks)
        self.jobs = _cores() if jobs is None else _checks.count(jobs, "jobs", least=1)
        self.sizes = QUICK if quick else FULL
        self.sets = datasets.datasets_in(data)
        self.settings = {"sizes": asdict(self.sizes)}

    def tasks(self) -> list[Task]:
        """All experiments, in the order of the page."""
        return [
            Task(block, one.dataset.name, one.path, _digest(one.path), purity, repeat, self.sizes)
            for block, one, repeat, purity in product(
                self.blocks, self.sets, range(self.repeats), (None, *PURITIES)
            )
        ]

    def steps(self, store: Store) -> dict[str, Step]:
        """What takes longest first, so that no process is left waiting for it at the end."""
        return {task.key: task.make for task in sorted(self.tasks(), key=lambda task: -task.cost)}

    def notes(self) -> list[str]:
        return jain_page.remarks(self.sets, quick=self.quick, repeats=self.repeats)

    def page(self, results: Results, notes: Sequence[str]) -> Page:
        return jain_page.page(self.experiments(results), notes)

    def summary(self, results: Results) -> list[SummaryTable]:
        return tables.summary_tables(self.experiments(results))

    def experiments(self, results: Results) -> list[Experiment]:
        """The repeats of each data set and purity together, beside the areas of the supervised model."""
        sets = {one.dataset.name: one for one in self.sets}
        repeats: dict[tuple[str, str, float], list[Cell]] = {}
        supervised: Cell = {}
        for task in self.tasks():
            if task.purity is None:  # the first of each repeat
                supervised = results[task.key]
                continue
            areas = {"auc": supervised["auc"], "auc_pr": supervised[f"auc_pr_{task.purity:g}"]}
            cells = repeats.setdefault((task.block, task.name, task.purity), [])
            cells.append({**areas, **results[task.key]})
        return [
            Experiment(
                block=block,
                data=name,
                purity=purity,
                complete=sets[name].complete,
                d=sets[name].x.shape[1],
                n_positive=int(sets[name].y.sum()),
                n=len(sets[name].y),
                repeats=tuple(cells),
            )
            for (block, name, purity), cells in repeats.items()
        ]


@dataclass(frozen=True)
class Task:
    """One experiment; without a purity the supervised model."""

    block: str
    name: str
    path: Path
    digest: str
    purity: float | None
    repeat: int
    sizes: Sizes

    @property
    def key(self) -> str:
        """Its name, which tells versions of a file apart."""
        kind = "supervised" if self.purity is None else f"{self.purity:g}"
        return f"{self.block}-{self.name}-{self.digest}-{kind}-{self.repeat}"

    def make(self) -> Cell:
        """Do it, with one thread: the digits of a product must not depend on how many there are."""
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

        rows = _loaded(self.name, self.path)
        experiments = Experiments(self.block, self.name, rows.x, rows.y, rows.dataset.n_labeled, self.sizes)
        with threadpool_limits(1):
            if self.purity is None:
                return experiments.supervised(self.repeat)
            return experiments.unlabeled(self.purity, self.repeat)

    @property
    def cost(self) -> int:
        """Roughly."""
        rows = DATASETS[self.name].n
        return rows if self.purity is None else min(rows, 10_000)


@lru_cache(maxsize=1)
def _loaded(name: str, path: Path) -> DatasetFile:
    return DatasetFile(DATASETS[name], path, complete=True)


@lru_cache(maxsize=32)
def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:8]


def _chosen(blocks: Sequence[str]) -> list[str]:
    names = [blocks] if isinstance(blocks, str) else list(blocks)
    if not names:
        raise InputError(f"{arg('blocks')} is empty. Pass one or more of {', '.join(BLOCKS)}.")
    return list(dict.fromkeys(_checks.choice(name, "blocks", BLOCKS) for name in names))


def _cores() -> int:
    from joblib import cpu_count  # type: ignore[import-untyped]

    return int(cpu_count())
