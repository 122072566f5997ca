"""What is run for the paper on binomial process modeling, and what is made of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from itertools import product
from pathlib import Path

from halftruth import _checks
from halftruth_papers import logits
from halftruth_papers.bpm import experiments, settings, tables
from halftruth_papers.bpm import page as bpm_page
from halftruth_papers.bpm.settings import KINDS, processes
from halftruth_papers.bpm.tables import HOW
from halftruth_papers.page import Page
from halftruth_papers.reproduction import Reproduction, Results, Step, SummaryTable, blocks
from halftruth_papers.store import Store


class BinomialProcessModeling(Reproduction):
    """Figure 1 and Table 1: curves and metrics on simulated distributions, calibrators on networks' outputs.

    From full labels, and from positives and unlabeled. Without the outputs Table 1 is left out.
    """

    def __init__(self, data: str | Path | None, *, quick: bool, rng: int = 0) -> None:
        self.seed = _checks.count(rng, "rng", least=0)
        self.quick = quick
        self.plan = settings.QUICK if quick else settings.FULL
        self.networks = logits.read(data, self.seed)
        self.settings = {
            "plan": asdict(self.plan),
            "rng": self.seed,
            "networks": list(self.networks),
        }

    def steps(self, store: Store) -> dict[str, Step]:
        steps: dict[str, Step] = {}
        plan, seed = self.plan, self.seed
        for (k, kind), (j, (name, process)) in product(enumerate(KINDS), enumerate(processes().items())):
            for i, repeats in enumerate(blocks(plan.curves, plan.block)):
                seeds = [seed, 1, k, j, i]
                steps[f"curves-{kind}-{name}-{i}"] = partial(
                    experiments.curves, process, kind, seeds, repeats
                )
            for n, (i, repeats) in product(plan.sizes, enumerate(blocks(plan.repeats, plan.block))):
                seeds = [seed, 2, k, j, n, i]
                steps[f"errors-{kind}-{name}-{n}-{i}"] = partial(
                    experiments.errors, process, kind, n, seeds, repeats
                )
        for name, split in self.networks.items():
            steps[f"about-{name}"] = partial(experiments.about, split)
            steps[f"real-{name}"] = partial(experiments.real_curves, split)
            for how in HOW:
                steps[f"table-{how}-{name}"] = partial(experiments.table, split, how, [seed, 3])
            steps[f"calibrated-{name}"] = partial(experiments.if_calibrated, split, [seed, 5], plan.draws)
        return steps

    def notes(self) -> list[str]:
        return bpm_page.remarks(self.networks, quick=self.quick)

    def page(self, results: Results, notes: Sequence[str]) -> Page:
        return bpm_page.page(results, notes)

    def summary(self, results: Results) -> list[SummaryTable]:
        return tables.summary_tables(results)
