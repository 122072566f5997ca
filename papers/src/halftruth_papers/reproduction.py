"""One runner for all papers: experiments kept as they are done, then a page and a summary."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from halftruth._version import __version__

if TYPE_CHECKING:  # the help of the command needs the records alone, and these no NumPy
    from halftruth._errors import Note
    from halftruth_papers.page import Page
    from halftruth_papers.store import Store

Results = Mapping[str, Any]
"""What the steps of a run gave, by key."""
Step = Callable[[], dict[str, Any]]
"""Makes one result, as JSON takes it."""
Say = Callable[[str], None]
"""Takes a line of text for people."""


@dataclass(frozen=True, kw_only=True)
class Option:
    """An option of one paper, for Python and for the command."""

    name: str
    kind: Any
    default: Any = None
    help: str
    metavar: str | None = None
    least: int | None = None
    choices: tuple[str, ...] = ()


SEED = Option(name="rng", kind=int, default=0, help="Same seed, same result.", metavar="SEED", least=0)


@dataclass(frozen=True, kw_only=True)
class Paper:
    """What is known of a paper before anything of it is imported.

    Parameters
    ----------
    name : str
        Of the command, of the page and of the default folder.
    title : str
        What a run is called while it goes on.
    citation : str
        One line of help.
    home : str
        Module and class of its `Reproduction`, as in an entry point.
    columns : tuple of str
        What a program reads of each number of the summary: its table, the two labels, the column, the number.
    options : tuple of Option
        Beside the folders and ``quick``.
    examples : (str, str)
        Options that the examples of the help show, of a quick run and of a full one.
    rows : str
        Under which the rows of the summary stand in JSON.
    """

    name: str
    title: str
    citation: str
    home: str
    columns: tuple[str, str, str, str, str]
    options: tuple[Option, ...] = (SEED,)
    examples: tuple[str, str] = ("", " --rng 1")
    rows: str = "results"

    def load(self) -> type[Reproduction]:
        """Its class."""
        module, _, name = self.home.partition(":")
        loaded: type[Reproduction] = getattr(importlib.import_module(module), name)
        return loaded


@dataclass(frozen=True, kw_only=True)
class SummaryTable:
    """Numbers under names, each line with two labels: what the command shows of a run."""

    title: str
    legend: tuple[str, ...] = ()
    header: tuple[str, ...]
    labels: Sequence[tuple[Any, Any]]
    numbers: Sequence[Sequence[float]]


class Reproduction(ABC):
    """The experiments of a paper on the data at hand.

    Parameters
    ----------
    data : path, optional
        Folder of the data sets, which are read and checked here; by default what HALFTRUTH_DATA names.
    quick : bool
        A rough version.
    **options
        Those of its `Paper`.

    Attributes
    ----------
    settings : dict
        What the results depend on beside the version and ``quick``, as JSON takes it.
    jobs : int
        Processes. More than one only where no step needs the result of another.
    """

    settings: dict[str, Any]
    jobs: int = 1

    @abstractmethod
    def __init__(self, data: str | Path | None, *, quick: bool, **options: Any) -> None: ...

    @abstractmethod
    def steps(self, store: Store) -> dict[str, Step]:
        """What is to be done, by the key of its result. The store has what earlier steps gave."""

    @abstractmethod
    def notes(self) -> list[str]:
        """What the reader must know of this run, arguments by reference. Asked for after `steps`."""

    @abstractmethod
    def page(self, results: Results, notes: Sequence[str]) -> Page:
        """Theirs beside ours."""

    @abstractmethod
    def summary(self, results: Results) -> list[SummaryTable]:
        """What the command shows."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Outcome:
    """The page, and what it was made from."""

    page: Path
    results: Results
    notes: list[Note]
    summary: list[SummaryTable]


def run(
    paper: Paper,
    data: str | Path | None,
    out: str | Path | None,
    *,
    quick: bool = False,
    progress: bool = True,
    say: Say | None = None,
    **options: Any,
) -> Outcome:
    """Do a paper again: what `reproduce` does, and the command shows."""
    from halftruth._errors import as_notes
    from halftruth.figures import _canvas

    _canvas.new_figure()  # without matplotlib there is no page: known before the work, not after
    folder = out_folder(paper, out)
    experiments, store, steps = prepare(paper, data, folder, quick=quick, **options)
    title = f"{paper.title}, quick run" if quick else paper.title
    results = kept_or_made(title, steps, store, jobs=experiments.jobs, progress=progress, say=say)
    notes = list(as_notes(experiments.notes()))
    page = experiments.page(results, notes).write(folder, paper.name)
    return Outcome(page=page, results=results, notes=notes, summary=experiments.summary(results))


def out_folder(paper: Paper, out: str | Path | None) -> Path:
    """Where the results of a run go."""
    return Path(f"halftruth-{paper.name}" if out is None else out)


def prepare(
    paper: Paper, data: str | Path | None, out: Path, *, quick: bool, **options: Any
) -> tuple[Reproduction, Store, dict[str, Step]]:
    """The experiments, where their results are kept, and the steps to be done."""
    from halftruth_papers.store import Store

    experiments = paper.load()(data, quick=quick, **options)
    fixed = {"paper": paper.name, "halftruth": __version__, "quick": quick}
    store = Store(out, fixed | experiments.settings)
    return experiments, store, experiments.steps(store)


def kept_or_made(
    title: str,
    steps: Mapping[str, Step],
    store: Store,
    *,
    jobs: int = 1,
    progress: bool = False,
    say: Say | None = None,
) -> dict[str, Any]:
    """The results of all steps by key: those that are kept, and the others made, in their order, and kept."""
    from halftruth.inference._progress import progress as show_progress

    results = store.kept(steps)
    missing = {key: step for key, step in steps.items() if key not in results}
    begin(title, len(results), len(steps), say)
    with show_progress(title, len(steps), long=progress and bool(missing)) as advance:
        advance(len(results))
        for key, result in _made(missing, jobs):
            store.put(key, result)
            results[key] = result
            advance(1)
    return {key: results[key] for key in steps}


def begin(title: str, done: int, total: int, say: Say | None) -> None:
    """Say what is run and how much of it is done, to where no bar is shown.

    Examples
    --------
    >>> begin("Jain et al.", 3, 720, print)
    Jain et al.: 3 of 720 parts done; the rest takes a while.
    """
    if say is not None:
        rest = "the rest takes a while" if done < total else "the page is written"
        say(f"{title}: {done} of {total} parts done; {rest}.")


def _made(steps: Mapping[str, Step], jobs: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Results as they come."""
    if min(jobs, len(steps)) <= 1:
        for key, step in steps.items():
            yield key, step()
        return
    from joblib import Parallel, delayed, parallel_config  # type: ignore[import-untyped]

    # One thread each: the processes fill the cores, and no digit hangs on the number of threads.
    with parallel_config(backend="loky", inner_max_num_threads=1):
        pool = Parallel(n_jobs=min(jobs, len(steps)), return_as="generator_unordered", batch_size=1)
        yield from pool(delayed(_keyed)(key, step) for key, step in steps.items())


def _keyed(key: str, step: Step) -> tuple[str, dict[str, Any]]:
    return key, step()


def blocks(total: int, size: int) -> list[int]:
    """Repeats in parts of at most ``size``, each of which makes one stored result.

    Examples
    --------
    >>> blocks(50, 20)
    [20, 20, 10]
    """
    return [min(size, total - done) for done in range(0, total, size)]
