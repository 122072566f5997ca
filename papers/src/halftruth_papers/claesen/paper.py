"""What is run for Claesen et al., and what is made of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from halftruth import _checks
from halftruth_papers.claesen import experiments, models, settings, tables
from halftruth_papers.claesen import page as claesen_page
from halftruth_papers.datasets import covertype
from halftruth_papers.page import Page
from halftruth_papers.reproduction import Reproduction, Results, Step, SummaryTable, blocks
from halftruth_papers.store import Store


class RankingBounds(Reproduction):
    """The tables and figures, by the paper's bands and by ours; Figure 5 if the covertype rows are there."""

    def __init__(self, data: str | Path | None, *, quick: bool, rng: int = 0) -> None:
        self.seed = _checks.count(rng, "rng", least=0)
        self.quick = quick
        self.plan = settings.QUICK if quick else settings.FULL
        self.rows = covertype(data)
        self.settings = {
            "plan": asdict(self.plan),
            "rng": self.seed,
            "covertype": None if self.rows is None else len(self.rows.y),
        }

    def steps(self, store: Store) -> dict[str, Step]:
        steps: dict[str, Step] = {}
        seed, n_resamples = self.seed, self.plan.n_resamples
        if self.rows is not None:
            steps["covtype-scores"] = partial(experiments.covtype_scores, self.rows, [seed, 1])
            for band in (settings.THEIRS, settings.OURS):
                steps[f"covtype-{band}"] = partial(_covtype_summary, store, band, n_resamples)
        for known, negative in product(settings.KNOWN, settings.KNOWN_NEGATIVE):
            key = f"table-{100 * known:.0f}-{100 * negative:.0f}"
            steps[key] = partial(experiments.table_row, [seed, 2], known, negative, n_resamples)
        for n_known in self.plan.n_known:
            for i, size in enumerate(blocks(self.plan.repeats, self.plan.block)):
                steps[f"growing-{n_known}-{i}"] = partial(
                    experiments.growing, [seed, 3, i], n_known, size, n_resamples
                )
        steps["models"] = partial(models.models, n_resamples)
        for n_known, n_latent in settings.SIZES:
            for i, size in enumerate(blocks(self.plan.runs, self.plan.block)):
                steps[f"coverage-{n_known}-{n_latent}-{i}"] = partial(
                    experiments.coverage, [seed, 4, i], n_known, n_latent, size, n_resamples
                )
        return steps

    def notes(self) -> list[str]:
        return claesen_page.remarks(self.rows, quick=self.quick)

    def page(self, results: Results, notes: Sequence[str]) -> Page:
        return claesen_page.page(results, self.plan.n_resamples, self.seed, notes)

    def summary(self, results: Results) -> list[SummaryTable]:
        return tables.summary_tables(results)


def _covtype_summary(store: Store, band: str, n_resamples: int) -> dict[str, Any]:
    scores = store.get("covtype-scores")
    assert scores is not None  # the step before this one
    return experiments.covtype_summary(experiments.covtype_ranking(scores), band, n_resamples)
