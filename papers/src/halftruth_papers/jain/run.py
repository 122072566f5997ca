"""Jain, White and Radivojac (2017) done again on the data sets at hand."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

from halftruth import _checks
from halftruth._errors import InputError
from halftruth._version import __version__
from halftruth.figures import canvas
from halftruth.inference._progress import progress as show_progress
from halftruth_papers.datasets import Found, found
from halftruth_papers.jain import page as jain_page
from halftruth_papers.jain.protocol import MODELS, PURITIES, Cell, Experiments, Sizes
from halftruth_papers.jain.tables import Experiment
from halftruth_papers.published import DATASETS
from halftruth_papers.store import Say, Store, begin

NAME = "jain"
TITLE = "Jain et al."
BLOCKS = tuple(MODELS)
FULL = Sizes()
QUICK = Sizes(n_networks=25, n_trees=60, most_unlabeled=3_000, most_rows=4_000)
REPEATS = 10
QUICK_REPEATS = 1


def jain(
    data: str | Path | None = None,
    out: str | Path = "halftruth-jain",
    *,
    quick: bool = False,
    repeats: int | None = None,
    blocks: Sequence[str] = BLOCKS,
    jobs: int | None = None,
    progress: bool = True,
) -> Path:
    """Reproduce Tables 1 and 2 and Figure 2 of Jain et al. (2017), theirs beside ours, as one HTML page.

    Every data set of the paper found in the folder is used, with labels of purity 1, .95 and .75. What is
    done is kept: a run that was stopped goes on where it was, and one with more repeats does only those.

    Parameters
    ----------
    data : path, optional
        Folder of the data sets; by default what HALFTRUTH_DATA names.
    out : path
        Folder for the page, its tables as CSV, and the results by which a stopped run goes on.
    quick : bool
        One repeat, smaller samples and ensembles: within two minutes on two cores.
    repeats : int, optional
        10 where left out (the paper has 50), 1 if quick.
    blocks : list of str
        Families of models: "networks", as in the paper, and "forest".
    jobs : int, optional
        Processes; by default as many as there are cores. The results do not depend on it.
    progress : bool
        Show progress on a terminal.

    Returns
    -------
    Path
        Of the page.

    Examples
    --------
    >>> from halftruth_papers.jain.run import jain
    >>> jain(quick=True)  # doctest: +SKIP
    PosixPath('halftruth-jain/jain.html')
    """
    return run(data, out, quick=quick, repeats=repeats, blocks=blocks, jobs=jobs, progress=progress).page


@dataclass(frozen=True, eq=False)
class Outcome:
    """The page, and what it was made from."""

    page: Path
    experiments: list[Experiment]
    notes: list[str]


def run(
    data: str | Path | None,
    out: str | Path,
    *,
    quick: bool,
    repeats: int | None,
    blocks: Sequence[str],
    jobs: int | None,
    progress: bool,
    say: Say | None = None,
) -> Outcome:
    """What `jain` does; also what the command line shows."""
    n = _checks.count(
        (QUICK_REPEATS if quick else REPEATS) if repeats is None else repeats, "repeats", least=1
    )
    chosen = _blocks(blocks)
    n_jobs = _cores() if jobs is None else _checks.count(jobs, "jobs", least=1)
    canvas.new_figure()  # without matplotlib there is no page: known before the work, not after
    sizes = QUICK if quick else FULL
    sets = found(data)
    store = Store(out, {"paper": NAME, "halftruth": __version__, "quick": quick, "sizes": asdict(sizes)})
    tasks = [
        Task(block, each.dataset.name, each.path, _digest(each.path), purity, repeat, sizes)
        for block, each, repeat, purity in product(chosen, sets, range(n), (None, *PURITIES))
    ]
    title = f"{TITLE}, quick run" if quick else TITLE
    cells = _kept_or_made(title, tasks, store, n_jobs, progress, say)
    experiments = _experiments(tasks, cells, sets)
    notes = jain_page.remarks(sets, quick=quick, repeats=n)
    return Outcome(jain_page.write(out, NAME, experiments, notes), experiments, notes)


@dataclass(frozen=True, kw_only=False)
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
        what = "supervised" if self.purity is None else f"{self.purity:g}"
        return f"{self.block}-{self.name}-{self.digest}-{what}-{self.repeat}"

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
        """Roughly, to begin with what takes longest."""
        rows = DATASETS[self.name].n
        return rows if self.purity is None else min(rows, 10_000)


@lru_cache(maxsize=1)
def _loaded(name: str, path: Path) -> Found:
    return Found(DATASETS[name], path, complete=True)


@lru_cache(maxsize=32)
def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:8]


def _blocks(blocks: Sequence[str]) -> list[str]:
    names = [blocks] if isinstance(blocks, str) else list(blocks)
    if not names:
        raise InputError(f"`blocks` is empty. Pass one or more of {', '.join(BLOCKS)}.")
    return list(dict.fromkeys(_checks.choice(name, "blocks", BLOCKS) for name in names))


def _cores() -> int:
    from joblib import cpu_count  # type: ignore[import-untyped]

    return int(cpu_count())


def _kept_or_made(
    title: str, tasks: list[Task], store: Store, jobs: int, progress: bool, say: Say | None
) -> dict[str, Cell]:
    cells = store.kept(task.key for task in tasks)
    begin(title, len(cells), len(tasks), say)
    missing = sorted((task for task in tasks if task.key not in cells), key=lambda task: -task.cost)
    with show_progress(title, len(tasks), long=progress and bool(missing)) as advance:
        advance(len(cells))
        for key, cell in _made(missing, jobs):
            store.put(key, cell)
            cells[key] = cell
            advance(1)
    return cells


def _made(tasks: list[Task], jobs: int) -> Iterator[tuple[str, Cell]]:
    """Results as they come."""
    if min(jobs, len(tasks)) <= 1:
        yield from map(_one, tasks)
        return
    from joblib import Parallel, delayed, parallel_config

    with parallel_config(backend="loky", inner_max_num_threads=1):
        pool = Parallel(n_jobs=min(jobs, len(tasks)), return_as="generator_unordered", batch_size=1)
        yield from pool(delayed(_one)(task) for task in tasks)


def _one(task: Task) -> tuple[str, Cell]:
    return task.key, task.make()


def _experiments(tasks: list[Task], cells: dict[str, Any], sets: list[Found]) -> list[Experiment]:
    about = {each.dataset.name: each for each in sets}
    supervised = {
        (task.block, task.name, task.repeat): cells[task.key] for task in tasks if task.purity is None
    }
    repeats: dict[tuple[str, str, float], list[Cell]] = {}
    for task in tasks:
        if task.purity is None:
            continue
        truth = supervised[task.block, task.name, task.repeat]
        areas = {"auc": truth["auc"], "auc_pr": truth[f"auc_pr_{task.purity:g}"]}
        repeats.setdefault((task.block, task.name, task.purity), []).append({**areas, **cells[task.key]})
    return [
        Experiment(
            block=block,
            data=name,
            purity=purity,
            complete=about[name].complete,
            d=about[name].x.shape[1],
            n_positive=int(about[name].y.sum()),
            n=len(about[name].y),
            repeats=tuple(found_there),
        )
        for (block, name, purity), found_there in repeats.items()
    ]
