"""What `halftruth prior` asks of every table, and what it finds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from halftruth import _checks
from halftruth._errors import InputError, Note, NotIdentifiable
from halftruth.cli.source import refuse_without_positives
from halftruth.evidence import PositiveUnlabeled
from halftruth.inference._progress import progress
from halftruth.prior._belief import ESTIMATE, PriorEstimate
from halftruth.prior._estimate_prior import estimate_prior, estimate_prior_and_purity
from halftruth.prior._inputs import read_knowledge
from halftruth.prior._methods import METHODS, RESAMPLES, get_method
from halftruth.prior._shares import Sizes
from halftruth.table._score_table import NEGATIVE, UNLABELED, ScoreTable

AUTO, MIXTURE, SAMPLE = "auto", "mixture", "sample"
SLOW = tuple(name for name, method in METHODS.items() if method.n_resamples < RESAMPLES)


@dataclass(frozen=True)
class Shares:
    """What one method finds: α among the unlabeled, π in the population, perhaps the purity."""

    alpha: PriorEstimate
    prior: PriorEstimate
    purity: PriorEstimate | None = None

    def named(self) -> Iterator[tuple[str, PriorEstimate]]:
        """The shares by name."""
        yield from (("alpha", self.alpha), ("prior", self.prior))
        if self.purity is not None:
            yield "purity", self.purity


@dataclass(frozen=True)
class Found:
    """What was found in one table, method by method."""

    evidence: str
    population: str
    identified: bool
    """Whether known negatives say which α it is."""
    shares: tuple[Shares, ...]
    notes: tuple[Note, ...] = ()

    @property
    def upper(self) -> float:
        """The largest α that the scores do not refute, whatever the method."""
        return float(self.shares[0].alpha.upper or 0.0)


@dataclass(frozen=True, kw_only=True)
class Request:
    """Methods, and what is known besides the scores; refused here where it cannot be right."""

    methods: list[str]
    all_methods: bool
    population: str
    purity: Any
    """A number, or the word that asks for an estimate."""
    known: dict[str, Any]
    """Between which values α lies, and a labeled random sample, where given."""
    settings: dict[str, Any]

    def __post_init__(self) -> None:
        _checks.confidence_level(self.settings["confidence_level"])
        for name in self.methods:
            if name != SAMPLE:
                get_method(name)
            elif "labeled_sample" not in self.known:
                raise InputError("--method sample needs --labeled-sample, e.g. 7/50.")
        if isinstance(self.purity, tuple):
            raise InputError("--purity must be one number here, such as 0.9, or the word estimate.")
        if not self.noisy:
            purity = _checks.share(self.purity, "purity", closed_at_one=True)
            read_knowledge(purity, self.known.get("within"), self.known.get("labeled_sample"))
        elif self.known:
            option = next(iter(self.known)).replace("_", "-")
            raise InputError(f"--{option} does not go with --purity estimate. Pass the purity as a number.")

    @property
    def noisy(self) -> bool:
        """Whether the purity is to be estimated too."""
        return bool(self.purity == ESTIMATE)

    def find(self, table: ScoreTable) -> Found:
        """The estimates from one table."""
        if UNLABELED not in table.strata:
            raise InputError(
                "No row is unlabeled, so there is nothing to estimate: count the labels. Pass "
                "--zeros unlabeled if 0 means unlabeled."
            )
        refuse_without_positives(table)
        purity = 1.0 if self.noisy else self.purity
        evidence = PositiveUnlabeled.from_table(table, purity=purity, population="unlabeled")
        names, found = self._names(table), []
        with progress("Estimating", len(names), long=len(names) > 1) as advance:
            for name in names:
                found.append(self._shares(evidence, name))
                advance(1)
        alone = Note("unused", "--within and --labeled-sample are read by auto and sample alone.")
        return Found(
            evidence=repr(evidence),
            population=self.population,
            identified=NEGATIVE in table.strata and not self.noisy,
            shares=tuple(found),
            notes=(alone,) if self.known and self.all_methods else (),
        )

    def _names(self, table: ScoreTable) -> list[str]:
        negatives = NEGATIVE in table.strata and not self.noisy
        names = list(self.methods)
        if self.all_methods:
            usual = [name for name in METHODS if name not in SLOW and (negatives or name != MIXTURE)]
            names = [*usual, *([SAMPLE] if "labeled_sample" in self.known else []), *names]
        elif not names:
            names = [AUTO]
        if MIXTURE in names and NEGATIVE not in table.strata:
            raise NotIdentifiable("--method mixture needs known negatives, and no row is labeled so.")
        return list(dict.fromkeys(MIXTURE if name == AUTO and negatives else name for name in names))

    def _shares(self, evidence: PositiveUnlabeled, name: str) -> Shares:
        if self.noisy:
            both = estimate_prior_and_purity(evidence, method=name, **self.settings)
            alpha, purity = both.prior, both.purity
            return Shares(
                alpha, self._of_population(alpha, purity.value, purity.replicates, evidence), purity
            )
        known = {} if self.all_methods and name not in (AUTO, SAMPLE) else self.known
        alpha = estimate_prior(evidence, method=name, **known, **self.settings)
        return Shares(alpha, self._of_population(alpha, self.purity, self.purity, evidence))

    def _of_population(
        self, alpha: PriorEstimate, purity: float, purities: Any, evidence: PositiveUnlabeled
    ) -> PriorEstimate:
        """π from α and the purity, replicate by replicate."""
        if self.population == "unlabeled":
            return alpha
        sizes = Sizes.of(evidence.table.support.sums())

        def share(alpha: Any, purity: Any) -> Any:
            return np.clip(sizes.pi(np.asarray(alpha), purity), 0, 1)

        return PriorEstimate(
            value=float(share(alpha.value, purity)),
            replicates=share(alpha.replicates, purities),
            # Where the purity is estimated, the largest π not refuted is that of pure positives.
            upper=float(share(alpha.upper, 1.0 if self.noisy else purity)),
            method=alpha.method,
            assumption=alpha.assumption,
            population="all",
            confidence_level=alpha.confidence_level,
        )
