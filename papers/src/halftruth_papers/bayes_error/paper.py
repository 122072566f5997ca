"""What is run for the Bayes error paper, and what is made of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

from halftruth import _checks
from halftruth_papers.bayes_error import experiments, settings, sources, tables
from halftruth_papers.bayes_error import page as bayes_page
from halftruth_papers.bayes_error.gaussian_pair import bayes_setups
from halftruth_papers.bayes_error.settings import BATCH_SIZE, BATCHES, MODELS, SETUPS, TASKS, YEARS
from halftruth_papers.bayes_error.tables import NETWORKS
from halftruth_papers.page import Page
from halftruth_papers.reproduction import Reproduction, Results, Step, SummaryTable
from halftruth_papers.store import Store


class BayesError(Reproduction):
    """The least error that any classifier can have, from votes on CIFAR-10 and from simulated labels.

    Votes, networks' outputs and review scores that are not in the folder are left out.
    """

    def __init__(self, data: str | Path | None, *, quick: bool, rng: int = 0) -> None:
        self.seed = _checks.count(rng, "rng", least=0)
        self.quick = quick
        self.plan = settings.QUICK if quick else settings.FULL
        self.data = sources.read(data)
        self.settings = {
            "plan": asdict(self.plan),
            "rng": self.seed,
            "votes": self.data.votes is not None,
            "networks": list(self.data.predicted),
            "reviews": self.data.reviews is not None,
        }

    def steps(self, store: Store) -> dict[str, Step]:
        return {**self.on_votes(), **self._simulated(), **self._on_reviews()}

    def on_votes(self) -> dict[str, Step]:
        """Table 1 and Figure 4."""
        steps: dict[str, Step] = {}
        votes = self.data.votes
        if votes is None:
            return steps
        for name, task in TASKS.items():
            steps[f"table-{name}"] = partial(experiments.table, votes, task)
        for name, task in TASKS.items():
            steps[f"votes-{name}"] = partial(experiments.from_votes, votes, task)
        steps["classes"] = partial(experiments.all_classes, votes)
        predicted = {**self.data.predicted, "labels": votes.label}
        for i, (network, title) in enumerate(NETWORKS.items()):
            for j, (name, task) in enumerate(TASKS.items() if network in predicted else ()):
                seed = [self.seed, 1, i, j]
                step = partial(experiments.judged, votes, predicted[network], task, title, seed)
                steps[f"judged-{network}-{name}"] = step
        return steps

    def _simulated(self) -> dict[str, Step]:
        """Figures 1 to 3 and 6."""
        steps: dict[str, Step] = {}
        pairs, plan, seed = bayes_setups(), self.plan, self.seed
        for i, setup in enumerate(SETUPS):
            pair = pairs[setup]
            steps[f"about-{setup}"] = partial(experiments.about, pair, plan.many, [seed, 2, i])
            for n in plan.sizes:
                rows = [seed, 3, i, n]
                steps[f"direct-{setup}-{n}"] = partial(experiments.direct, pair, n, plan.trials, rows)
                for k, model in enumerate(MODELS):
                    seeds = (rows, [seed, 4, k, i, n], [seed, 5, i])
                    steps[f"{model}-{setup}-{n}"] = partial(experiments.learned, pair, model, n, plan, seeds)
            for batch in BATCHES:
                n = BATCH_SIZE
                seeds = ([seed, 3, i, n], [seed, 6, i, batch], [seed, 5, i])
                steps[f"batch{batch}-{setup}-{n}"] = partial(
                    experiments.learned, pair, "mlp", n, plan, seeds, batch
                )
        return steps

    def _on_reviews(self) -> dict[str, Step]:
        reviews = self.data.reviews
        if reviews is None:
            return {}
        return {f"reviews-{year}": partial(experiments.acceptance, reviews, year) for year in YEARS}

    def notes(self) -> list[str]:
        return bayes_page.remarks(self.data, quick=self.quick)

    def page(self, results: Results, notes: Sequence[str]) -> Page:
        return bayes_page.page(results, self.plan, notes)

    def summary(self, results: Results) -> list[SummaryTable]:
        return tables.summary_tables(results)
