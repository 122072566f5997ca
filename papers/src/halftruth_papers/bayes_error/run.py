"""The Bayes error paper done again: Table 1, its figures, networks at hand, and review scores."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path

from halftruth import _checks
from halftruth._version import __version__
from halftruth.figures import canvas
from halftruth.simulate._gaussian_pair import bayes_setups
from halftruth_papers.bayes_error import cells
from halftruth_papers.bayes_error import page as bayes_page
from halftruth_papers.bayes_error import settings as bayes_settings
from halftruth_papers.bayes_error.settings import BATCH_SIZE, BATCHES, MODELS, SETUPS, TASKS, YEARS, Plan
from halftruth_papers.bayes_error.sources import Data, found
from halftruth_papers.bayes_error.tables import NETWORKS
from halftruth_papers.store import Outcome, Say, Step, Store, kept_or_made

NAME = "bayes-error"
TITLE = "Ishida et al., the Bayes error"


def bayes_error(
    data: str | Path | None = None,
    out: str | Path = "halftruth-bayes-error",
    *,
    quick: bool = False,
    rng: int = 0,
    progress: bool = True,
) -> Path:
    """Reproduce Table 1 and Figures 1 to 4 and 6 of Ishida et al. (2023), theirs beside ours, on one page.

    The least error that any classifier can have, from people's votes on CIFAR-10 and from simulated labels:
    clean, noisy, or of positives alone; classifiers beside it; and review scores of a conference. What is
    done is kept: a run that was stopped goes on where it was.

    Parameters
    ----------
    data : path, optional
        Folder of the votes, the networks' outputs and the review scores; by default what HALFTRUTH_DATA
        names. What is not found is left out, and the page says so.
    out : path
        Folder for the page, its tables as CSV, and the results by which a stopped run goes on.
    quick : bool
        Fewer trials and sizes, within a minute on two cores.
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
    >>> from halftruth_papers.bayes_error.run import bayes_error
    >>> bayes_error(quick=True)  # doctest: +SKIP
    PosixPath('halftruth-bayes-error/bayes-error.html')
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
    """What `bayes_error` does; also what the command line shows."""
    seed = _checks.count(rng, "rng", least=0)
    plan = bayes_settings.QUICK if quick else bayes_settings.FULL
    canvas.new_figure()  # where matplotlib is missing, say so before the work
    have = found(data)
    settings = {
        "paper": NAME,
        "halftruth": __version__,
        "quick": quick,
        "plan": asdict(plan),
        "rng": seed,
        "votes": have.votes is not None,
        "networks": list(have.predicted),
        "reviews": have.reviews is not None,
    }
    store = Store(out, settings)
    title = f"{TITLE}, quick run" if quick else TITLE
    results = kept_or_made(title, _steps(plan, seed, have), store, progress, say)
    notes = bayes_page.remarks(have, quick=quick)
    page = bayes_page.page(results, plan, notes)
    return Outcome(page.write(out, NAME), results, notes)


def _steps(plan: Plan, seed: int, have: Data) -> dict[str, Step]:
    """What is to be done, by the key of its result, in the order of the page."""
    return {**_on_votes(seed, have), **_simulated(plan, seed), **_on_reviews(have)}


def _on_votes(seed: int, have: Data) -> dict[str, Step]:
    """Table 1 and Figure 4."""
    steps: dict[str, Step] = {}
    votes = have.votes
    if votes is None:
        return steps
    for name, task in TASKS.items():
        steps[f"table-{name}"] = partial(cells.table, votes, task)
    for name, task in TASKS.items():
        steps[f"votes-{name}"] = partial(cells.from_votes, votes, task)
    steps["classes"] = partial(cells.all_classes, votes)
    predicted = {**have.predicted, "labels": votes.label}
    for i, (network, title) in enumerate(NETWORKS.items()):
        for j, (name, task) in enumerate(TASKS.items() if network in predicted else ()):
            own = [seed, 1, i, j]
            step = partial(cells.judged, votes, predicted[network], task, title, own)
            steps[f"judged-{network}-{name}"] = step
    return steps


def _simulated(plan: Plan, seed: int) -> dict[str, Step]:
    """Figures 1 to 3 and 6."""
    steps: dict[str, Step] = {}
    pairs = bayes_setups()
    for i, setup in enumerate(SETUPS):
        pair = pairs[setup]
        steps[f"about-{setup}"] = partial(cells.about, pair, plan.many, [seed, 2, i])
        for n in plan.sizes:
            rows = [seed, 3, i, n]
            steps[f"direct-{setup}-{n}"] = partial(cells.direct, pair, n, plan.trials, rows)
            for k, model in enumerate(MODELS):
                seeds = (rows, [seed, 4, k, i, n], [seed, 5, i])
                steps[f"{model}-{setup}-{n}"] = partial(cells.learned, pair, model, n, plan, seeds)
        for batch in BATCHES:
            n = BATCH_SIZE
            seeds = ([seed, 3, i, n], [seed, 6, i, batch], [seed, 5, i])
            steps[f"batch{batch}-{setup}-{n}"] = partial(cells.learned, pair, "mlp", n, plan, seeds, batch)
    return steps


def _on_reviews(have: Data) -> dict[str, Step]:
    reviews = have.reviews
    if reviews is None:
        return {}
    return {f"reviews-{year}": partial(cells.acceptance, reviews, year) for year in YEARS}
