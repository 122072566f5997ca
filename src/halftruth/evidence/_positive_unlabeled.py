"""PositiveUnlabeled: known positives, a sea of unlabeled cases, perhaps known negatives."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from functools import cached_property
from itertools import product
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, Note, NotIdentifiable, arg, bare, call
from halftruth.engines import tensors
from halftruth.evidence._evidence import Evidence, GivenShare, Population, Scenario, Units
from halftruth.evidence._labeled import labels_as_given
from halftruth.evidence._positive_mass import StrataNoise, StrataSum, mixture_share, two_estimates
from halftruth.evidence._selection import Extreme, GivenSelection, selection_of
from halftruth.measure._arithmetic import Number, OwnMass, ratio, scalar
from halftruth.measure._mass_rule import Coefficients, MassRule, total
from halftruth.measure._score_measure import ScoreMeasure
from halftruth.measure._tilt import Tilt
from halftruth.prior._belief import ESTIMATE, Share, belief
from halftruth.prior._law_tests import enough_to_mix
from halftruth.prior._shares import NAMES, Sizes, refuse_prior, refuse_purity
from halftruth.table._score_table import NEGATIVE, POSITIVE, UNLABELED, ScoreTable
from halftruth.table._strata import StratumRows
from halftruth.table._support import Column, Sums, Support

__all__ = ["POPULATIONS", "PositiveUnlabeled"]

POPULATIONS: tuple[Population, ...] = ("unlabeled", "all")
PROPENSITY = "1/propensity"
BLOCK_ATOMS = 4096  # distinct scores among which blocks of known positives are sought
MOST_TILTED = 1e6  # where noise leaves no bound on what positives are multiplied by
MOST_MIXED = 0.999  # of α, where selection leaves it unbounded: at 1 there is no negative
ROUNDING = 1e-9  # of what is left of the positives without one known one
_SHARES = 'a number, a pair (low, high), a PriorEstimate or "estimate"'


class PositiveUnlabeled(Evidence):
    """Positives and unlabeled: μ̂ is the population sample, μ̂₁ = π f̂₁.

    With clean positives f̂₁ is their distribution; with purity ρ it is
    [(1−α) P/n_P − (1−ρ) U/n_U] / (ρ−α); with propensities e it is Σ_P δ_s/e ÷ Σ_P 1/e. Known negatives
    give a second estimate, μ̂ − (1−π) N/n_N, mixed in with the weight that makes the noise least.

    Parameters
    ----------
    positive, unlabeled : array
        Scores of the known positives and of the unlabeled cases.
    prior : float, (low, high), PriorEstimate, "estimate" or None
        π, the share of positives in the population. A pair is a range: values are at its middle,
        intervals are unions over it. "estimate": from the scores, as `estimate_prior` does; its replicates
        go into every interval. None: only what needs no prior has a value, unless known negatives, or
        propensities with ``population="all"``, identify it.
    purity : float, (low, high), PriorEstimate or "estimate"
        ρ, the share of the known positives that are positive. It is estimated only together with the prior.
    negative : array, optional
        Scores of known negatives, a random sample of the negatives.
    propensity : array or PropensityEstimate, optional
        For each positive, P(labeled | positive, x); only up to a factor if ``population="unlabeled"``. The
        replicates of an estimate go into every interval.
    population : {"unlabeled", "all"}
        "unlabeled": the unlabeled sample is the population (two samples, case-control).
        "all": known and unlabeled rows together are the population (one table).
    selection : float or (direction, float)
        Γ ≥ 1, how far the known positives may be from a random sample: at any score a positive's chance to be
        known is 1/Γ to Γ times the average. ``("rising", Γ)``: high scores have the higher chance, as where
        positives were found by this score; ``("falling", Γ)``: low ones have. Values are those of a random
        sample (Γ = 1, SCAR); intervals cover all that Γ allows.
    positive_weight, unlabeled_weight, negative_weight : array, optional

    Examples
    --------
    >>> import halftruth as ht
    >>> evidence = ht.PositiveUnlabeled([0.9, 0.8], [0.9, 0.8, 0.3, 0.2, 0.1], prior=0.4)
    >>> ht.roc_auc(evidence)
    1.0
    """

    kind: ClassVar[str] = "positive_unlabeled"
    population: Population
    propensity: Any = None
    """The estimate of the propensities, where they were estimated: its replicates show their error."""
    prior_is_free = True
    null_models = ("strata", "bootstrap")

    def __init__(
        self,
        positive: Any,
        unlabeled: Any,
        *,
        prior: GivenShare = None,
        purity: GivenShare = 1.0,
        negative: Any = None,
        propensity: Any = None,
        population: str = "unlabeled",
        selection: GivenSelection = 1.0,
        positive_weight: Any = None,
        unlabeled_weight: Any = None,
        negative_weight: Any = None,
    ) -> None:
        if negative is None and negative_weight is not None:
            both = f"{arg('negative_weight')} was given without {arg('negative')}"
            raise InputError(f"{both}. Pass both or neither.")
        plain = all(x is None for x in (propensity, positive_weight, unlabeled_weight, negative_weight))
        if plain and tensors.on_device(positive, unlabeled, negative):
            scores = {POSITIVE: positive, UNLABELED: unlabeled, NEGATIVE: negative}
            table = ScoreTable(tensors.from_strata(**{k: x for k, x in scores.items() if x is not None}))
        else:
            strata = {POSITIVE: _rows(positive, positive_weight, POSITIVE, propensity)}
            strata[UNLABELED] = _rows(unlabeled, unlabeled_weight, UNLABELED)
            if negative is not None:
                strata[NEGATIVE] = _rows(negative, negative_weight, NEGATIVE)
            table = ScoreTable(strata)
        self._set(table, prior=prior, purity=purity, population=population, selection=selection)
        self.propensity = _estimate_of(propensity, positive_weight)

    @classmethod
    def from_labels(
        cls,
        y: Any,
        y_score: Any,
        *,
        prior: GivenShare = None,
        purity: GivenShare = 1.0,
        propensity: Any = None,
        population: str = "all",
        selection: GivenSelection = 1.0,
        unlabeled: float | None = None,
        sample_weight: Any = None,
    ) -> PositiveUnlabeled:
        """From one label column: 1 positive, 0 negative, NaN/None unlabeled.

        Parameters
        ----------
        y, y_score : (n,) arrays
        unlabeled : number, optional
            Another code for unlabeled rows, e.g. 0 where the column says only "known positive or not".
        propensity : (n,) array, PropensityEstimate or one value for each positive, optional
            In a column of n, values on rows that are not positive are not read.
        prior, purity, population, selection, sample_weight
            As in the class; here the default population is "all", the whole table.

        Examples
        --------
        >>> import halftruth as ht
        >>> ht.PositiveUnlabeled.from_labels([1, 0, None, None], [0.9, 0.1, 0.7, 0.2], prior=0.5)
        PositiveUnlabeled(1 positive, 2 unlabeled, 1 negative)
        """
        shares: dict[str, Any] = {"prior": prior, "purity": purity}
        shares |= {"population": population, "selection": selection}
        if propensity is None and tensors.on_device(y_score, y, sample_weight):
            names = ("y_score", "y", "sample_weight")
            on_device = tensors.read(y_score, y, weight=sample_weight, unlabeled=unlabeled, names=names)
            if UNLABELED in on_device:
                return cls.from_table(ScoreTable(on_device), **shares)
        score = _checks.scores(y_score, "y_score")
        masks = _checks.partial_labels(y, "y", unlabeled=unlabeled, length=len(score))
        weight = _checks.weights(sample_weight, "sample_weight", length=len(score))
        given = propensity
        if hasattr(given, "replicates") and len(given) == len(score):
            given = given.at(masks[POSITIVE])
        if given is not None:
            propensity = _checks.at_rows(given, "propensity", masks[POSITIVE])

        def stratum(name: str, mask: NDArray[np.bool_]) -> StratumRows:
            if weight is not None and not weight[mask].any():
                text = f"is zero for all {mask.sum()} {name} row(s). Drop them or weigh some."
                raise InputError(f"{arg('sample_weight')} {text}")
            weights = None if weight is None else weight[mask]
            return _rows(score[mask], weights, name, propensity if name == POSITIVE else None)

        strata = {name: stratum(name, mask) for name, mask in masks.items() if mask.any()}
        out = cls.from_table(ScoreTable(strata), **shares)
        out.propensity = _estimate_of(given, None if weight is None else weight[masks[POSITIVE]])
        return out

    @classmethod
    def from_table(
        cls,
        table: ScoreTable,
        *,
        prior: GivenShare = None,
        purity: GivenShare = 1.0,
        population: str = "all",
        selection: GivenSelection = 1.0,
    ) -> Self:
        """From a table with positive and unlabeled (and perhaps negative) rows."""
        _checks.instance(table, "table", ScoreTable)
        out = cls.__new__(cls)
        out._set(table, prior=prior, purity=purity, population=population, selection=selection)
        return out

    def _set(
        self, table: ScoreTable, *, prior: GivenShare, purity: GivenShare, population: str, selection: object
    ) -> None:
        known = table.strata.get(POSITIVE)
        for name in (POSITIVE, UNLABELED):
            if name not in table.strata or (known and known.meaning not in (None, PROPENSITY)):
                remedy = "Use Labeled where every row has its label."
                if name == UNLABELED and NEGATIVE in table.strata:
                    remedy += f" If 0 means unlabeled, read the table with {arg('unlabeled', 0)}."
                if POSITIVE not in table.strata:
                    remedy = "Without a known positive nothing can be said of the others."
                raise InputError(f"PU evidence needs {name} rows, got {table!r}. {remedy}")
        self.table = table
        self.population = _checks.choice(population, "population", POPULATIONS)
        prior, purity = _estimated(table, prior, purity, self.population)
        self.prior = belief(prior, "prior")
        self.purity = belief(purity, "purity", closed_at_one=True)
        self.selection = selection_of(selection)
        self.rows_are_one_sample = population == "all"
        self._ask_strata()
        if self.purity.value is None:
            must = "be a number in (0, 1], a pair or an estimate"
            raise InputError(argument="purity", must=must, got="None")
        if self.propensity_given and min([self.purity.value, *self.purity.ends()]) < 1:
            raise NotIdentifiable(
                "Propensities together with purity < 1 are not identifiable: nothing says how noisy "
                f"labels depend on x. Pass {arg('propensity')} with {arg('purity', 1)}, or {arg('purity')} "
                "without propensity."
            )
        self._check_shares()
        self._check_selection()

    def _ask_strata(self) -> None:
        """What the rows at hand answer: again wherever they are others."""
        self.propensity_given = self.table.strata[POSITIVE].value is not None
        self.assumes_scar = not self.propensity_given and self.selection.gamma == 1
        self.lone_positive = len(self.table.strata[POSITIVE]) == 1
        self.scores_bound_prior = NEGATIVE not in self.table.strata
        # The weight of known negatives depends on the order of rows inside bins.
        self.bins_are_certified = NEGATIVE not in self.table.strata

    def with_table(self, table: ScoreTable) -> Self:
        out = super().with_table(table)
        out.propensity = None  # an estimate is of these very rows
        out._ask_strata()
        return out

    def with_shares(self, prior: Share | None = None, purity: Share | None = 1.0) -> Self:
        kept: dict[str, Any] = {"population": self.population, "selection": self.selection.as_given()}
        out = type(self).from_table(self.table, prior=prior, purity=purity, **kept)
        out.propensity = self.propensity
        return out

    def with_selection(self, selection: GivenSelection) -> Self:
        """The same rows and shares with another selection; what was computed without one stays."""
        out = copy(self)
        out.selection = selection_of(selection)
        out._ask_strata()
        out._check_selection()
        return out

    def _check_shares(self) -> None:
        """Refuse priors and purities that the counts rule out; an estimate may miss them by its error."""
        # Replicates of a prior and a purity may belong together one by one, so their ends are not crossed.
        priors, purities = (
            [x.value] if x.replicates is not None else [*x.ends(), x.value] for x in (self.prior, self.purity)
        )
        for prior, purity in product(priors, purities):
            if prior is not None and purity is not None:
                alpha = float(self._shares(prior, purity)[1])
                if self.prior.replicates is None:
                    refuse_prior(prior, purity, alpha, self._sizes, self.population)
                refuse_purity(purity, alpha)

    @cached_property
    def _sizes(self) -> Sizes:
        return Sizes.of(self.table.support.sums())

    @property
    def values_are_estimated(self) -> bool:
        return self.propensity is not None and self.propensity.replicates is not None

    def redrawn(self, sums: Sums, support: Support, ranks: Vector) -> Sums:
        """Sums whose positives count by the propensities of one replicate each."""
        if not self.values_are_estimated or self._positive_column not in sums:
            return sums
        known = self.table.strata[POSITIVE]
        assert isinstance(known, StratumRows)
        assert known.value is not None
        first = support.score if support.edge is None else support.edge
        atom = np.searchsorted(first, known.score, side="right") - 1

        def at_atoms(value: Vector) -> Vector:
            return np.asarray(np.bincount(atom, known.full_weight() * value, len(first)), dtype=float)

        factors = ratio([at_atoms(1 / e) for e in self.propensity.replicates], at_atoms(known.value))
        drawn = np.nan_to_num(factors, nan=1.0)[np.asarray(ranks * len(factors), dtype=np.intp)]
        return dict(sums) | {self._positive_column: sums[self._positive_column] * drawn}

    def remarks(self) -> Iterator[Note]:
        yield from () if self.propensity is None else self.propensity.notes

    @property
    def _positive_column(self) -> Column:
        """The column of the positives' distribution."""
        return (POSITIVE, "value" if self.propensity_given else "weight")

    def _by_column(self, by_positives: Vector, by_negatives: Vector) -> Iterator[tuple[Column, Vector]]:
        """Coefficients on the strata, in the order of `NAMES`, of μ̂₁ through positives and negatives."""
        for k, name in enumerate(NAMES):
            yield self._positive_column if name == POSITIVE else (name, "weight"), by_positives[..., k]
            yield (name, "weight"), by_negatives[..., k]

    @property
    def population_strata(self) -> tuple[str, ...]:
        return (UNLABELED,) if self.population == "unlabeled" else tuple(self.table.strata)

    @property
    def assumption(self) -> Note:  # type: ignore[override]
        gamma, purity = self.selection.gamma, self.purity.value
        of_known = f"Assumes that a share {purity:g} of the known positives"
        if self.propensity is not None:
            text = f"Assumes the propensities that were estimated ({self.propensity.method})"
            # Where it has notes, one of them says what it rests on.
            text += "" if self.propensity.notes else f": {self.propensity.assumption.removesuffix('.')}"
        elif self.propensity_given:
            text = "Assumes the propensities given: P(labeled | positive, x)"
        elif gamma > 1:
            impure = f"{of_known} are positive, the rest a random sample of the negatives, and"
            text = "Assumes" if purity == 1 else impure
            lean = {"any": "", "rising": ", higher at high scores", "falling": ", higher at low scores"}
            text += (
                f" that at any score a positive's chance to be known is {1 / gamma:.3g} to {gamma:g} times "
                f"the average{lean[self.selection.direction]} (selection, Γ = {gamma:g}). Values take "
                "them for a random sample; intervals cover the rest"
            )
        elif purity == 1:
            text = "Assumes that the known positives are a random sample of all positives (SCAR)"
        else:
            text = f"{of_known} are a random sample of the positives (SCAR) and the rest a random sample of "
            text += "the negatives"
        text += "."
        if self.propensity_given and gamma > 1:
            text += f" Values take them as right; intervals cover factors up to {gamma:g} (selection)."
        if NEGATIVE in self.table.strata:
            text += " Known negatives are taken as a random sample of the negatives."
            if not enough_to_mix(*(len(self.table.strata[x]) for x in (UNLABELED, POSITIVE, NEGATIVE))):
                text += " These rows are too few to check it."
        elif self.assumes_scar:
            text += (
                " Positives and unlabeled cannot show known positives that score too low, and show those "
                "that score too high only where the excess is large."
            )
        return Note("assumption", text)

    def _shares(self, prior: Number, purity: Number, sizes: Sizes | None = None) -> tuple[Number, Number]:
        """(π, α) of this evidence's population from a prior as the user gave it."""
        sizes, share_of = sizes or self._sizes, self.prior.population or self.population
        alpha = prior if share_of == "unlabeled" else sizes.alpha(prior, purity)
        if self.population == "unlabeled":
            return alpha, alpha
        return (prior if share_of == "all" else sizes.pi(alpha, purity)), alpha

    def prior_ends(self) -> list[float]:
        return [float(self._shares(x, self.purity.value)[0]) for x in self.prior.ends()]

    def alpha_ends(self) -> list[float]:
        return [float(self.alpha_of(x)) for x in self.prior.ends()]

    def alpha_of(self, prior: Number) -> Number:
        return self._shares(prior, self.purity.value)[1]

    def identified_prior(self, sums: Sums, purity: Number, extreme: Extreme | None = None) -> Number:
        """π from propensities over one table, or from known negatives; None from P and U alone."""
        sizes = Sizes.of(sums)
        if self.propensity_given and self.population == "all":
            prior = total(sums, self._positive_column) / sizes.n
            if extreme is None:
                return prior
            # Propensities that are all too high, or too low, by the factor granted; known ones are positive.
            factor = extreme.gamma if extreme.upward else 1 / extreme.gamma
            return np.clip(factor * prior, ratio(sizes.positive, sizes.n), MOST_MIXED)
        if NEGATIVE not in self.table.strata:
            return None
        if extreme is not None:  # the law that positives may have instead is what mixes with the negatives'
            column = self._positive_column
            sums = dict(sums) | {column: extreme.tilt.law(sums[column])}
        alpha = mixture_share(sums, self._positive_column, purity)
        if extreme is not None:
            # Where that law is no longer above the negatives', nothing bounds the share.
            alpha = np.where(alpha > 0, np.minimum(alpha, MOST_MIXED * purity), MOST_MIXED * purity)
        return alpha if self.population == "unlabeled" else sizes.pi(alpha, purity)

    def rule(self, sums: Sums, scenario: Scenario) -> MassRule:
        sizes, purity = Sizes.of(sums), np.asarray(scenario.purity, dtype=np.float64)
        if scenario.prior is not None:
            prior, alpha = self._shares(scenario.prior, purity, sizes)
        else:
            prior = self.identified_prior(sums, purity, scenario.identified_by)
            if prior is None:
                return self._rule_without_prior(scenario.extreme)
            alpha = prior if self.population == "unlabeled" else sizes.alpha(prior, purity)
        n = sizes.unlabeled if self.population == "unlabeled" else sizes.n
        # Propensities that identify the prior count the positives of the table, whatever their number.
        counted = scenario.prior is None and self.propensity_given and self.population == "all"
        one_sample = self.rows_are_one_sample
        first, second, mix = two_estimates(prior, purity, alpha, sizes, n, self.noise, one_sample=one_sample)
        by_positives, by_negatives = (1 - mix) * first.on, mix * second.on
        tilt = self._tilt(scenario.extreme, sizes, prior, purity, alpha)

        # Coefficients are those of distributions of mass one; sums of a stratum are divided by its total.
        pos_mass: dict[Column, Number] = {}
        for column, share in self._by_column(by_positives, by_negatives):
            if column in sums and np.any(share != 0):
                pos_mass[column] = pos_mass.get(column, 0.0) + share * n / total(sums, column)
        return MassRule(
            mass={(name, "weight"): 1.0 for name in self.population_strata},
            pos_mass=pos_mass,
            size=self._size(by_positives + by_negatives),
            units=self._units,
            alpha=scalar(alpha),
            normalised=not counted,
            moves={} if counted else self._moves(first, second, mix),
            own=self.own_mass(sums, pos_mass, self.own_units, 1.0 if tilt is None else tilt.mean_square),
            tilt=tilt,
        )

    def _tilt(
        self, extreme: Extreme | None, sizes: Sizes, prior: Number, purity: Number, alpha: Number
    ) -> Tilt | None:
        """What positives may be multiplied by, from what those among the known ones may be: w in [1/Γ, Γ]."""
        if extreme is None:
            return None
        least: Number = 1 / extreme.gamma
        if self.population == "all" and not self.propensity_given:
            # Known positives are among the positives: w falls nowhere below the share of these that is known.
            least = np.clip(ratio(purity * sizes.positive, prior * sizes.n), least, 1.0)
        low, high = (
            np.minimum(w * self._on_pure(w, sizes, prior, purity, alpha), MOST_TILTED)
            for w in (least, np.asarray(extreme.gamma))
        )
        # How many rows of a block are positive is known to a share of some n^(−1/3): so much leave they get.
        slack = 1 + self.table.effective_rows(POSITIVE) ** (-1 / 3)
        return replace(extreme.tilt, low=low, high=high, edge=self._blocks, slack=slack)

    def _on_pure(self, w: Number, sizes: Sizes, prior: Number, purity: Number, alpha: Number) -> Number:
        """What w of the known true positives is of SCAR's f̂₁, divided by w; inf where that has no bound."""
        # Of P = ρ K + (1−ρ) f₀ and U = α u K + (1−α) f₀ the positives' w K is so much of it. In two samples u
        # is w; in one table unlabeled positives are those of the population without the known ones.
        u = np.asarray(w, dtype=np.float64)
        if self.population == "all":
            u = ratio(prior * sizes.n * u - purity * sizes.positive, alpha * sizes.unlabeled)
            u = np.where(np.isnan(u), 1.0, u)
        rest = purity * (1 - alpha) - (1 - purity) * alpha * u
        return np.where(rest > 0, (purity - alpha) / np.where(rest > 0, rest, 1.0), np.inf)

    def _check_selection(self) -> None:
        """Refuse a selection that goes with nothing else that was given."""
        gamma = self.selection.gamma
        if gamma == 1:
            return
        known = self.table.strata[POSITIVE]
        value = known.value if isinstance(known, StratumRows) else None
        if self.population == "all" and value is not None and (value == 1).all():
            raise InputError(
                f"{arg('selection')} is about positives that are not known, and every {bare('propensity')} "
                f"is 1: all of them are. Leave {arg('selection')} out, or check the propensities."
            )
        purities = [self.purity.value, *self.purity.ends()]
        if min(x for x in purities if x is not None) == 1:
            return
        if self.prior.value is None or self.prior.replicates is not None:
            raise InputError(
                f"{arg('selection')} together with {bare('purity')} < 1 needs a {bare('prior')}: a number or "
                "a range. Without one nothing says how many of the unlabeled look like the known positives."
            )
        for prior, purity in product(self.prior.ends(), purities):
            pi, alpha = self._shares(prior, purity)
            if np.isinf(self._on_pure(gamma, self._sizes, pi, purity, alpha)):
                raise InputError(
                    f"{arg('selection')} must be smaller at a purity of {purity:g} and a share of "
                    f"{alpha:.3g} positives among the unlabeled, got Γ = {gamma:g}: known positives that are "
                    "none would then hide any law of the others. Grant less, or check the purity."
                )

    @cached_property
    def _blocks(self) -> Vector:
        """Scores at which blocks of known positives begin; in each, positives are at most all rows."""
        # Of n known positives n^(2/3) in each block: what is known of it and its size both become finer.
        masses = self.table.support.coarse(BLOCK_ATOMS)
        count = np.cumsum(masses.sums()[self._positive_column])
        n = int(np.cbrt(self.table.effective_rows(POSITIVE)))
        at = np.searchsorted(count, count[-1] * np.arange(1, n) / max(n, 1), side="right")
        return np.unique((masses.score if masses.edge is None else masses.edge)[at[at < len(count)]])

    def own_mass(self, sums: Sums, pos_mass: Coefficients, units: Units, times: Number = 1.0) -> OwnMass:
        known = units[POSITIVE]
        adds = times * sum(pos_mass.get((POSITIVE, column), 0.0) * unit for column, unit in known.items())
        if self.population == "all":
            adds, beside = adds - known["weight"], 0.0
        else:
            beside = units[UNLABELED]["weight"]
        # A lone positive has no others to be judged by; a histogram rounds its weight, and the square more.
        several = total(sums, (POSITIVE, "weight")) > 1.001 * known["weight"]
        # Nor has one of a few impure ones that adds as much as all positives: nothing but rounding is left.
        positives = sum(share * total(sums, column) for column, share in pos_mass.items())
        several = several & (adds < (1 - ROUNDING) * positives)
        return OwnMass(scalar(np.where(several, adds, 0.0)), beside)

    @cached_property
    def own_units(self) -> Units:
        units = {name: {"weight": unit} for name, unit in self._units.items()}
        if self.propensity_given:
            sums = self.table.support.sums()
            # A row counts by its value: Σ v · v / Σ v is what one has.
            squares, values = (float(total(sums, (POSITIVE, column))) for column in ("square", "value"))
            units[POSITIVE]["value"] = self._units[POSITIVE] * squares / values
        return units

    def _moves(self, first: StrataSum, second: StrataSum, mix: Number) -> dict[str, dict[Column, Number]]:
        """How the coefficients on the strata's distributions change with the share of each stratum."""
        if first.moves is None or (not np.any(first.moves) and np.all(mix == 0)):
            return {}
        by_positives = np.asarray(1 - mix)[..., None] * first.moves
        by_negatives = np.asarray(mix)[..., None] * second.moves
        out: dict[str, dict[Column, Number]] = {}
        for k, name in enumerate(NAMES):
            moves = out[name] = {}
            for column, change in self._by_column(by_positives[..., k, :], by_negatives[..., k, :]):
                moves[column] = moves.get(column, 0.0) + change
        return out

    def _size(self, on: Vector) -> float:
        """1 / (π²/n_P + 1/n_U) with clean positives; the same from any coefficients on the strata."""
        typical = np.median(on.reshape(-1, 3), axis=0)
        rows = self.table.effective_rows
        pairs = [(typical[k], name) for k, name in enumerate(NAMES) if name in self.table.strata]
        variance = sum(on**2 / rows(name) for on, name in pairs) + 1 / rows(*self.population_strata)
        return float(np.nan_to_num(1 / variance, nan=1.0))

    def _rule_without_prior(self, extreme: Extreme | None) -> MassRule:
        """Only the distribution of the positives, and that only where they are clean."""
        clean = self.purity.value == 1 and not self.purity.is_range
        return MassRule(
            mass={(name, "weight"): 1.0 for name in self.population_strata},
            pos_mass={self._positive_column: 1.0 if clean else np.nan},
            size=1.0,
            tilt=None if extreme is None else extreme.tilt,
            unidentified=Note(
                "identifiability",
                "The class prior is not identified by positives and unlabeled alone"
                f"{'' if clean else ', and with purity < 1 neither is recall'}. Pass {arg('prior')} "
                f"({call(_SHARES, 'share')}), or known negatives.",
            ),
        )

    @cached_property
    def _units(self) -> dict[str, float]:
        return {name: self.table.unit(name) for name in self.table.strata}

    @cached_property
    def noise(self) -> StrataNoise | None:  # decides what weight known negatives get
        known = NEGATIVE in self.table.strata
        return StrataNoise.of(self.table.support, self._positive_column) if known else None

    def naive_measure(self) -> ScoreMeasure:
        support = self.table.support
        return labels_as_given(support.sums(), self.table).over(support)


def _estimated(
    table: ScoreTable, prior: GivenShare, purity: GivenShare, population: str
) -> tuple[GivenShare, GivenShare]:
    """What the user wants estimated, estimated; the rest as it came."""
    wanted = [isinstance(share, str) and share == ESTIMATE for share in (prior, purity)]
    if not any(wanted):
        return prior, purity
    from halftruth.prior._estimate_prior import estimate_alpha, estimate_both
    from halftruth.prior._inputs import refuse_to_estimate

    if all(wanted):
        both = estimate_both(table)
        return both.prior, both.purity
    if wanted[1]:
        text = "scores say something of both together. Pass both, or a number for the purity."
        raise InputError(f"{arg('purity', ESTIMATE)} goes with {arg('prior', ESTIMATE)}: {text}")
    known = belief(purity, "purity", closed_at_one=True)
    refuse_to_estimate(table, known, population)
    return estimate_alpha(table, known.value or 1.0), purity


def _estimate_of(propensity: Any, weight: Any) -> Any:
    """An estimate of the propensities at the rows that count; None where they are given as they are."""
    if not hasattr(propensity, "replicates"):
        return None
    return propensity if weight is None else propensity.at(np.asarray(weight) > 0)


def _rows(values: Any, weight: Any, name: str, propensity: Any = None) -> StratumRows:
    score = _checks.scores(values, name)
    if propensity is not None:
        why = "A positive that can never be labeled is not among the labeled; check the propensities."
        propensity = _checks.positive_probabilities(propensity, "propensity", length=len(score), why=why)
    weight = _checks.weights(weight, f"{name}_weight", length=len(score))
    if propensity is None:
        return StratumRows(score=score, weight=weight)
    return StratumRows(score=score, weight=weight, value=1 / propensity, meaning=PROPENSITY)
