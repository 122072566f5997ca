"""`halftruth prior FILE...`"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from halftruth._errors import InputError, Note, NotIdentifiable
from halftruth.cli._options import (
    By,
    ConfidenceLevel,
    Files,
    Format,
    Population,
    PopulationIs,
    RowOptions,
    Seed,
    Strict,
    Style,
    complete_estimate,
    complete_estimators,
    flag,
    option,
)

if TYPE_CHECKING:
    from halftruth.cli._option_values import Share
    from halftruth.cli._prior_view import PriorsView, Shares
    from halftruth.evidence import PositiveUnlabeled
    from halftruth.prior._belief import PriorEstimate
    from halftruth.table._score_table import ScoreTable

__all__ = ["EXAMPLES", "prior"]

EXAMPLES = """\b
Examples:
  halftruth prior lake/scores --engine spark --score p --label fraud --zeros unlabeled
  halftruth prior scores.csv --within 0.01..0.1 --labeled-sample 7/50 --population unlabeled
  halftruth prior scores.csv --all-methods --unlabeled -1 --weight n --format markdown
  halftruth prior scores.csv --method alphamax,dedpul --n-resamples 200 --by month --strict
  halftruth prior scores.csv --purity estimate --confidence-level 0.9 --rng 1 --format json
"""
AUTO, MIXTURE, SAMPLE = "auto", "mixture", "sample"
NEGATIVE, UNLABELED = "negative", "unlabeled"


@dataclass(frozen=True, kw_only=True)
class EstimatorOptions:
    """How the prior is estimated, and what is known besides the scores."""

    method: Annotated[
        list[str] | None, option("Methods to use.  [default: auto]", "NAME,...", complete_estimators)
    ] = None
    all_methods: Annotated[bool, flag("--all-methods", "All but km1 and km2, which take long.")] = False
    purity: Annotated[
        str | None, option("Of the known positives: 0.9, or estimate.", "SHARE", complete_estimate)
    ] = None
    within: Annotated[str | None, option("Where α is known to lie.", "LOW..HIGH")] = None
    labeled_sample: Annotated[str | None, option("K of M random unlabeled cases are positive.", "K/M")] = None
    confidence_level: ConfidenceLevel = 0.95
    n_resamples: Annotated[int | None, option("Resamples; auto draws its own.", "N", min=2)] = None
    rng: Seed = 0


def prior(
    *,
    files: Files,
    rows: RowOptions,
    population: PopulationIs = Population.all,
    by: By = None,
    estimators: EstimatorOptions,
    style: Style = Format.table,
    strict: Strict = False,
) -> int:
    """Which share of the unlabeled is positive: what scores say, and cannot.

    Methods: auto, alphamax, bbe, bbe-corrected, dedpul, km1, km2, tice, em, elkan-noto, elkan-noto-ratio,
    roc-slope, roc-curve, divergence; mixture with known negatives; sample with --labeled-sample.
    """
    from halftruth.cli._option_values import parse_knowledge, parse_names, parse_share
    from halftruth.cli._rendering import object_strictly, show
    from halftruth.cli._table_source import TableSource
    from halftruth.cli._views import by_group, view_of

    request = PriorRequest(
        methods=parse_names(estimators.method) or [],
        all_methods=estimators.all_methods,
        population=population,
        purity=1.0 if estimators.purity is None else parse_share(estimators.purity, "purity"),
        known=parse_knowledge(estimators.within, estimators.labeled_sample),
        settings={name: getattr(estimators, name) for name in ("confidence_level", "n_resamples", "rng")},
    )
    source = TableSource(files=files, by=by, **vars(rows))
    view = view_of(by_group(source.tables(), request.find, by), by)
    show(view, style)
    return object_strictly(view.objections() if strict else ())


@dataclass(frozen=True, kw_only=True)
class PriorRequest:
    """Methods, and what is known besides the scores; refused here where it cannot be right."""

    methods: list[str]
    all_methods: bool
    population: str
    purity: Share
    """A number, or the word that asks for an estimate."""
    known: dict[str, Any]  # between which values α lies, and a labeled random sample, where given
    settings: dict[str, Any]

    def __post_init__(self) -> None:
        from halftruth import _checks
        from halftruth.prior._inputs import read_knowledge
        from halftruth.prior._methods import get_method

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
        return self.purity == "estimate"

    def find(self, table: ScoreTable) -> PriorsView:
        """The estimates from one table."""
        from halftruth.cli._prior_view import PriorsView
        from halftruth.cli._table_source import refuse_without_positives
        from halftruth.evidence import PositiveUnlabeled
        from halftruth.inference._progress import progress

        if UNLABELED not in table.strata:
            raise InputError(
                "No row is unlabeled, so there is nothing to estimate: count the labels. Pass "
                "--zeros unlabeled if 0 means unlabeled."
            )
        refuse_without_positives(table)
        purity = 1.0 if self.noisy else self.purity
        evidence = PositiveUnlabeled.from_table(table, purity=purity, population="unlabeled")
        names, shares = self._names(table), []
        with progress("Estimating", len(names), long=len(names) > 1) as advance:
            for name in names:
                shares.append(self._shares(evidence, name))
                advance(1)
        alone = Note("unused", "--within and --labeled-sample are read by auto and sample alone.")
        return PriorsView(
            evidence=repr(evidence),
            population=self.population,
            identified=NEGATIVE in table.strata and not self.noisy,
            shares=tuple(shares),
            remarks=(alone,) if self.known and self.all_methods else (),
        )

    def _names(self, table: ScoreTable) -> list[str]:
        """The methods to use: with known negatives the mixture stands for auto."""
        from halftruth.prior._methods import METHODS, RESAMPLES

        negatives = NEGATIVE in table.strata and not self.noisy
        names = list(self.methods)
        if self.all_methods:
            quick = [name for name, method in METHODS.items() if method.n_resamples >= RESAMPLES]
            usual = [name for name in quick if negatives or name != MIXTURE]
            names = [*usual, *([SAMPLE] if "labeled_sample" in self.known else []), *names]
        elif not names:
            names = [AUTO]
        if MIXTURE in names and NEGATIVE not in table.strata:
            raise NotIdentifiable("--method mixture needs known negatives, and no row is labeled so.")
        return list(dict.fromkeys(MIXTURE if name == AUTO and negatives else name for name in names))

    def _shares(self, evidence: PositiveUnlabeled, name: str) -> Shares:
        from halftruth.cli._prior_view import Shares
        from halftruth.prior._estimate_prior import estimate_prior, estimate_prior_and_purity

        if self.noisy:
            both = estimate_prior_and_purity(evidence, method=name, **self.settings)
            alpha, purity = both.prior, both.purity
            return Shares(
                alpha, self._of_population(alpha, purity.value, purity.replicates, evidence), purity
            )
        # Asked for by name, a method that cannot use what is known refuses it; among all it goes without.
        known = {} if self.all_methods and name not in (AUTO, SAMPLE) else self.known
        alpha = estimate_prior(evidence, method=name, **known, **self.settings)
        return Shares(alpha, self._of_population(alpha, self.purity, self.purity, evidence))

    def _of_population(
        self, alpha: PriorEstimate, purity: Any, purities: Any, evidence: PositiveUnlabeled
    ) -> PriorEstimate:
        """π from α and the purity, replicate by replicate."""
        if self.population == "unlabeled":
            return alpha
        import numpy as np

        from halftruth.prior._belief import PriorEstimate
        from halftruth.prior._shares import Sizes

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
