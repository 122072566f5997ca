"""Reviewed: somebody looked at some of the cases, each with a chance that is known or can be estimated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from itertools import product
from typing import Any, ClassVar, NamedTuple, Self
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, Note, arg
from halftruth.evidence._evidence import Evidence, Scenario
from halftruth.evidence._labeled import labels_as_given
from halftruth.evidence._review_design import SAID, ReviewDesign, Reviews, design_of
from halftruth.evidence._review_files import labeled_rounds
from halftruth.evidence._review_guess import best_guess, guess_from, review_rates
from halftruth.evidence._review_inputs import (
    chance_of_others,
    plan_labels,
    read_labels,
    refuse_all_found,
    refuse_denied,
    refuse_found_as_known,
    refuse_lost_rows,
    shares_of,
    times_of,
)
from halftruth.evidence._reviewers import against_rates
from halftruth.evidence._soft_labeled import PseudoLabeled
from halftruth.measure._mass_rule import MassRule
from halftruth.measure._pseudo_labels import Fill, PseudoLabels
from halftruth.measure._score_measure import ScoreMeasure
from halftruth.prior._belief import Belief, Share, belief
from halftruth.table._score_table import NEGATIVE, POSITIVE, SOFT, UNLABELED, ScoreTable
from halftruth.table._strata import (
    OF_REVIEWS,
    OPEN_ROWS,
    REVIEW_RATE,
    REVIEWED,
    SOFT_LABEL,
    STRATA,
    StratumRows,
)
from halftruth.table._support import Sums

__all__ = ["Reviewed", "fingerprint"]

N_CUTS = 16  # scores from which rows that nobody could look at may be positive
LEAST_YOUDEN = 0.05  # of sensitivity + specificity − 1: below, reviewers say next to nothing
FEW_REVIEWED = 20
GUESSES = {
    "none": "none, each review counts 1/chance times",
    "blocks": "the rates of blocks of scores",
    "logistic": "a logistic curve of the scores",
    "score": "the scores as probabilities",
}
FEW = 4096  # rows left out of many
_MODELS = '"auto", "none", "score", "blocks", "logistic", a Calibrator or a function of the scores'


class Looks(NamedTuple):
    """Rows that somebody looked at, ascending: what was said, and how many rows each stands for, 1/e."""

    rows: NDArray[np.intp]
    said: Vector
    times: Vector
    open_rows: NDArray[np.intp]
    """Rows whose class nobody could find out, or did."""
    open_times: Vector

    def among(self, kept: NDArray[np.bool_]) -> Looks:
        """Those at the rows that are kept, which close ranks."""
        place, seen, left_open = np.cumsum(kept) - 1, kept[self.rows], kept[self.open_rows]
        rows, open_rows = place[self.rows[seen]], place[self.open_rows[left_open]]
        return Looks(rows, self.said[seen], self.times[seen], open_rows, self.open_times[left_open])

    def with_positives(self, rows: NDArray[np.intp]) -> Looks:
        """With these rows, which are positive for certain."""
        every = np.concatenate([self.rows, rows])
        order, ones = np.argsort(every), np.ones(len(rows))
        said, times = (np.concatenate([x, ones])[order] for x in (self.said, self.times))
        return Looks(every[order], said, times, self.open_rows, self.open_times)


class Reviewed(Evidence):
    """Scores of all rows, labels of those that were reviewed: μ̂ = Σ δ_s, μ̂₁ = Σ (p̂ + R (y − p̂)/e) δ_s.

    e is the chance of a row to be reviewed, R whether it was, p̂ a guess of P(positive | score). Whatever the
    guess, the estimate is right on average; where it is good, it is narrow. With p̂ = 0 it is inverse
    probability weighting, with the rates of blocks of scores it is calibrated to the known law of the scores.

    Parameters
    ----------
    y_score : (n,) array
        Scores of all rows of the population, whether anybody looked at them or not.
    label : (n,) array of 1, 0 and NaN
        What reviewers said; NaN or None where nobody looked.
    probability : number or (n,) array, optional
        The chance of each row to be reviewed, known by design. Where it is 0 nothing can be known of a row:
        results are then intervals over what such rows could be. None: estimated from the score; a review
        must then hang on nothing else, and stretches of scores that nobody looked at are left open.
    features : (n, k) array or frame of numbers, optional
        What else a review may have hung on, where chances are estimated: they follow a logistic regression on
        the score and these. Categories are columns of 0 and 1.
    sample_weight : (n,) array, optional
    sensitivity, specificity : float, (low, high) or PriorEstimate
        Of the reviewer, who may err: a number, a range, or an estimate, e.g. of `judge_rates`.
    known_positive : (n,) array of bool, optional
        Rows that are known to be positive otherwise, not by these reviews. They are certain, and need none.
    model : str, Calibrator or callable
        The guess p̂. "auto" takes the one with the least estimated variance and says so: "none", "blocks",
        "logistic" (fitted to the reviews), or "score" itself where scores lie in [0, 1].

    Examples
    --------
    >>> import halftruth as ht
    >>> score, label = [0.9, 0.8, 0.7, 0.3, 0.2, 0.1], [1, None, 1, 0, None, None]
    >>> evidence = ht.Reviewed(score, label, [1, 0.5, 0.5, 0.5, 0.5, 0.5], model="none")
    >>> ht.prevalence(evidence)
    0.5
    """

    kind: ClassVar[str] = "reviewed"
    classes = (POSITIVE, NEGATIVE)
    null_models = ("bootstrap",)
    sensitivity: Belief
    specificity: Belief
    estimated: bool = False
    estimated_from: str = "its score"
    doubt: str | None = None
    """What speaks against the chances that were given."""

    def __init__(
        self,
        y_score: Any,
        label: Any,
        probability: Any = None,
        *,
        features: Any = None,
        sample_weight: Any = None,
        sensitivity: Share = 1.0,
        specificity: Share = 1.0,
        known_positive: Any = None,
        model: Any = "auto",
    ) -> None:
        score = _checks.scores(y_score, "y_score")
        said = read_labels(label, len(score))
        self._judge(sensitivity, specificity)
        known = np.zeros(0, dtype=np.intp)
        if known_positive is not None:
            known = np.flatnonzero(_checks.binary_labels(known_positive, "known_positive", length=len(score)))
            refuse_denied(known[said[known] == 0], errs=self.labels_err)
        weight = _checks.weights(sample_weight, "sample_weight", length=len(score))
        reviewed = ~np.isnan(said)
        reviewed[known] = False
        self.estimated = probability is None
        if probability is None:
            if not np.isnan(said).any():  # 0 mostly stands for "nobody looked"
                raise InputError(
                    f"{arg('label')} says 1 or 0 of all {len(said)} rows, so that nothing says how they were "
                    "chosen. Leave it empty (NaN) where nobody looked; if all were reviewed, give "
                    f"{arg('probability', 1)}."
                )
            times = review_rates(score, reviewed, known, weight, features)
            self.estimated_from = "its score" if features is None else "its score, on the features"
        elif features is not None:
            raise InputError(
                f"{arg('features')} go with chances that are estimated. Leave out {arg('probability')}, or "
                "them."
            )
        else:
            times, self.doubt = times_of(probability, score, said, known)
        never = np.flatnonzero(np.isinf(times) & ~reviewed)
        rows = np.flatnonzero(reviewed)
        looks = Looks(rows, said[rows], times[rows], never, np.ones(len(never)))
        self._make(score, looks, weight, known, model)

    def _make(
        self, score: Vector, looks: Looks, weight: Vector | None, known: NDArray[np.intp], model: Any
    ) -> None:
        if weight is not None and not weight.all():  # rows of weight zero are no rows
            kept = weight > 0
            known = (np.cumsum(kept) - 1)[known[kept[known]]]
            score, weight, looks = score[kept], weight[kept], looks.among(kept)
        self.table = self._strata(score, looks, weight, known)
        self._model = model
        self._guess_of(model)

    def _strata(
        self, score: Vector, looks: Looks, weight: Vector | None, known: NDArray[np.intp]
    ) -> ScoreTable:
        """Rows by stratum. Few of many rows were looked at: only those are asked what they are."""
        certain = bool((looks.times == 1).all())
        if not self.labels_err and certain:
            # Every review was certain and right: what is known otherwise is known in the same way.
            looks = looks.with_positives(known)
            known = known[:0]
        strata: dict[str, StratumRows] = {}

        def add(name: str, rows: NDArray[np.intp], value: Vector | None, meaning: str | None) -> None:
            if len(rows):
                weights = None if weight is None else weight[rows]
                strata[name] = StratumRows(score=score[rows], weight=weights, value=value, meaning=meaning)

        # Both strata or none: where all that were found are certain, what was not seen need not be.
        taken = np.sort(np.concatenate([looks.rows, known]))
        of_some = not certain or len(known) or len(taken) < len(score)
        meaning = (REVIEW_RATE if self.estimated else REVIEWED) if of_some else None
        for name, label in SAID.items():
            chosen = looks.said == label
            add(name, looks.rows[chosen], looks.times[chosen] if meaning else None, meaning)
        add(SOFT, known, np.ones(len(known)), SOFT_LABEL)
        if len(taken) < len(score):
            value = None
            if len(looks.open_rows):
                value = np.zeros(len(score))
                value[looks.open_rows] = looks.open_times
            columns = [None if x is None else _without(x, taken) for x in (score, weight, value)]
            named = dict(zip(("score", "weight", "value"), columns, strict=True))
            strata[UNLABELED] = StratumRows(**named, meaning=None if value is None else OPEN_ROWS)  # type: ignore[arg-type]
        return ScoreTable(strata)

    @classmethod
    def from_table(
        cls, table: ScoreTable, *, sensitivity: Share = 1.0, specificity: Share = 1.0, model: Any = "auto"
    ) -> Self:
        """From a table of reviewed rows, e.g. those of several days merged; it does not say who errs."""
        _checks.instance(table, "table", ScoreTable)
        meanings = {rows.meaning for rows in table.strata.values()}
        census = meanings == {None} and set(table.strata) <= {*SAID}  # everybody was looked at
        if not meanings <= {None, *OF_REVIEWS, SOFT_LABEL} or not (census or meanings & {*OF_REVIEWS}):
            raise InputError(
                f"Reviewed evidence takes a table of reviewed rows, got {table!r}. Use the evidence class "
                "that the table came from."
            )
        known: Any = table.strata.get(SOFT)
        if known is not None and not (known.value == 1).all():
            raise InputError(
                "Among reviewed rows, soft ones are positives that are known otherwise, of value 1. The "
                "table holds other soft labels: evaluate them apart, as SoftLabeled."
            )
        out = cls.__new__(cls)
        out.table, out._model, out.estimated = _certain(table), model, REVIEW_RATE in meanings
        out.estimated_from = "that from which the chances were estimated"
        out._judge(sensitivity, specificity)
        out._guess_of(model)
        return out

    @classmethod
    def from_plan(
        cls,
        plan: Any,
        y_score: Any,
        labels: Any = None,
        *,
        sample_weight: Any = None,
        sensitivity: Share = 1.0,
        specificity: Share = 1.0,
        known_positive: Any = None,
        model: Any = "auto",
        missing: str = "error",
        planned_by: Any = None,
    ) -> Self:
        """From the rows that `plan_review` named, and a label for each of them, in the plan's order.

        Parameters
        ----------
        plan : ReviewPlan or path, or a list of these
            Several are the rounds of one audit, in any order; each was made of the rows that were left. A
            path is of a file that `ReviewPlan.save` or `halftruth plan-review` wrote, its labels filled in.
        y_score : (n,) array
            The scores for which the plans were made.
        labels : array, or a list of arrays
            1 or 0 for each row of a plan, in its order, or a Series that names the rows. Files have them.
        missing : {"error", "bounds"}
            What to do where labels are missing, as NaN or None. "bounds" leaves open what these rows are, and
            all those that they stand for: who could not be judged is seldom a random part.
        planned_by : (n,) array, optional
            The scores for which the plans were made, where ``y_score`` are those of another model.

        Notes
        -----
        Each round estimates μ₁ without bias, given the rounds before: rows reviewed earlier are certain in
        it. What counts is their mean, weighted by the reviews of each over the share of the rows that they
        leave out (a round that leaves none is all that counts), so that a plan may be made from what
        earlier rounds showed. How many it reviews must not hang on what they showed: who reviews more where
        the first numbers were low gives those less weight.
        """
        score = _checks.scores(y_score, "y_score")
        by = score if planned_by is None else _checks.scores(planned_by, "planned_by", length=len(score))
        rounds = labeled_rounds(plan, labels, {fingerprint(by): by})
        certain = np.zeros(len(score), dtype=bool)
        if known_positive is not None:
            certain = _checks.binary_labels(known_positive, "known_positive", length=len(score))
        in_order, times = [each for each, _ in rounds], np.zeros(0)
        for each, share in zip(in_order, shares_of(in_order), strict=True):
            # Rows of earlier rounds are certain in this one.
            times = np.concatenate([times + share, share / np.asarray(each.chance, dtype=np.float64)])
        looked = np.concatenate([each.rows for each in in_order])
        said_of = [plan_labels(each, told, missing, certain) for each, told in rounds]
        order = np.argsort(looked)
        looked, told_of, times = looked[order], np.concatenate(said_of)[order], times[order]
        out = cls.__new__(cls)
        out._judge(sensitivity, specificity)
        for each, said in zip(in_order, said_of, strict=True):
            refuse_denied(each.rows[certain[each.rows] & (said == 0)], errs=out.labels_err, plan=each)
        twice, known = certain[looked], np.flatnonzero(certain)
        refuse_lost_rows(in_order, len(score), known)
        refuse_found_as_known(in_order, len(score), known)
        if twice.any():
            refuse_all_found(told_of == 1, twice, chance_of_others(in_order[0], score, certain, looked), 0)
        kept = ~twice
        looked, told_of, times = looked[kept], told_of[kept], times[kept]
        seen = ~np.isnan(told_of)
        looks = Looks(looked[seen], told_of[seen], times[seen], looked[~seen], times[~seen])
        weight = _checks.weights(sample_weight, "sample_weight", length=len(score))
        out._make(score, looks, weight, known, model)
        return out

    def _judge(self, sensitivity: Share, specificity: Share) -> None:
        self.sensitivity = belief(sensitivity, "sensitivity", closed_at_one=True)
        self.specificity = belief(specificity, "specificity", closed_at_one=True)
        both = [x.ends() for x in (self.sensitivity, self.specificity)]
        if not all(both):
            raise InputError(
                f"{arg('sensitivity')} and {arg('specificity')} must be known: 1 if nobody errs."
            )
        if both[0][0] + both[1][0] - 1 < LEAST_YOUDEN:
            checked = any(x.replicates is not None for x in (self.sensitivity, self.specificity))
            raise InputError(
                f"{arg('sensitivity')} + {arg('specificity')} must be at least {1 + LEAST_YOUDEN:g}, got "
                f"{both[0][0]:.2g} + {both[1][0]:.2g}{' at the least' if checked else ''}: such a reviewer "
                "tells next to nothing. "
                + ("Check more cases of either class." if checked else "Were rates of error given instead?")
            )

    def _guess_of(self, model: Any) -> None:
        if isinstance(model, str):
            _checks.choice(model, "model", ("auto", "none", "score", "blocks", "logistic"))
            if self.estimated and model == "auto":
                model = "blocks"  # what was estimated of the chances is taken out with the rates of blocks
            self.guess, self.candidates = best_guess(model, self.reviews, self.measured)
        else:
            self.guess, self.candidates = guess_from(model, self.measured, _MODELS), {}

    def likely(self, score: Vector) -> Vector:
        # Blocks in which a few reviews found no positive are not known to have none.
        guess, _ = best_guess("logistic", self.reviews, self.measured)
        return guess.at(score)

    @cached_property
    def reviews(self) -> Reviews:
        """The rows that were reviewed."""
        return Reviews.of(self.table, self.sensitivity, self.specificity)

    def __repr__(self) -> str:
        names = {POSITIVE: "reviewed positive", NEGATIVE: "reviewed negative", UNLABELED: "not reviewed"}
        names[SOFT] = "known positive"
        sizes = (f"{len(rows)} {names[name]}" for name, rows in self.table.strata.items())
        return f"Reviewed({', '.join(sizes)})"

    @property
    def measured(self) -> tuple[float, float]:
        """The lowest and the highest score of the table."""
        spans = [rows.span for rows in self.table.strata.values()]
        return min(x[0] for x in spans), max(x[1] for x in spans)

    @property
    def naive_reading(self) -> str:  # type: ignore[override]
        if UNLABELED in self.table.strata:
            return "the reviewed cases alone, as if chosen at random"
        return "all that reviewers said, as if they never erred"

    @property
    def _said(self) -> dict[str, Any]:
        """The strata of the rows that somebody looked at."""
        return {name: self.table.strata[name] for name in SAID if name in self.table.strata}

    @property
    def n_reviewed(self) -> int:
        """How many rows somebody looked at."""
        return sum(map(len, self._said.values()))

    def design(self) -> ReviewDesign:
        """How many rows were reviewed, with which chances, along the score."""
        known: dict[str, Any] = {name: getattr(self, name).span for name in ("sensitivity", "specificity")}
        return design_of(self.table, self.reviews, self.guess, chance_estimated=self.estimated, **known)

    @cached_property
    def for_page(self) -> PseudoLabeled:
        return PseudoLabeled(self.measure(), self._said)

    @property
    def is_census(self) -> bool:
        """Whether all rows are known for certain."""
        plain = all(rows.value is None for rows in self.table.strata.values())
        return plain and UNLABELED not in self.table.strata and not self.labels_err

    @property
    def labels_err(self) -> bool:  # type: ignore[override]
        # An estimate of 1, as of a judge who was right in all cases checked, is not without error.
        judge = self.sensitivity, self.specificity
        return any(x.span != (1.0, 1.0) or x.replicates is not None for x in judge)

    @property
    def multiplied(self) -> tuple[str, ...]:  # type: ignore[override]
        return () if self.is_census else tuple(SAID)

    @property
    def is_proper(self) -> bool:  # type: ignore[override]
        return self.is_census

    @cached_property
    def _open(self) -> StratumRows | None:
        """The rows whose class nobody could find out, where there are some."""
        rows = self.table.strata.get(UNLABELED)
        if not isinstance(rows, StratumRows) or rows.value is None:
            return None
        at = rows.value > 0
        return replace(rows, score=rows.score[at], weight=None, value=rows.value[at])

    @property
    def scenario(self) -> Scenario:
        return Scenario(sensitivity=self.sensitivity.value, specificity=self.specificity.value)

    def scenarios(self, thresholds: Iterable[float]) -> tuple[tuple[Scenario, ...], tuple[Note, ...]]:
        judges = list(product(self.sensitivity.grid(3), self.specificity.grid(3)))
        fills: list[Fill | None] = (
            [None] if self._open is None else list(self._fills(self._open.score, thresholds))
        )
        every = tuple(Scenario(sensitivity=a, specificity=b, fill=fill) for fill in fills for a, b in judges)
        return every, tuple(self._open_notes())

    def _open_notes(self) -> Iterator[Note]:
        rows: Any = self._open
        if rows is None:
            return
        n, (low, high) = len(rows), rows.span
        ends = f"of {len(self.table)} rows (scores {low:.4g} to {high:.4g})"
        looked = "looked" if self.estimated else "could look"
        which, remedy = f"Nobody {looked} at {n} {ends}", "A few reviews there would narrow them"
        if (rows.value > 1).any():
            which = f"{n} row(s) to review have no label, and stand for {rows.value.sum():.5g} {ends}"
            remedy = "Labels for them would narrow these"
        yield Note("identifiability", f"{which}: intervals cover all that they could be. {remedy}.")

    def _fills(self, score: Vector, thresholds: Iterable[float]) -> Iterator[Fill]:
        """Rows that nobody could look at: positive from a score up, or up to it; or so as to calibrate.

        Of so many positives among them, the metrics are most extreme where these score highest or lowest; a
        rate is at its ends where all rows on one side of its threshold are positive, or none; losses of
        probabilities where those on one side of ½ are; errors of calibration where they make up for others.
        """
        cuts = np.unique(np.append(np.quantile(score, np.linspace(0, 1, N_CUTS)), [0.5, np.inf, *thresholds]))
        for cut in cuts:
            yield Fill(float(cut), upward=True)
            yield Fill(float(cut), upward=False)
        if self.measured[0] >= 0 and self.measured[1] <= 1:
            yield Fill(0.0, calibrates=True)

    def drawn(self, scenario: Scenario, n: int, rng: np.random.Generator) -> Scenario:
        if self.sensitivity.replicates is None and self.specificity.replicates is None:
            return scenario
        ranks = rng.random(n)  # those of one estimate of both belong together
        both = {
            name: of.draw(ranks, n, rng) if of.replicates is not None else getattr(scenario, name)
            for name, of in (("sensitivity", self.sensitivity), ("specificity", self.specificity))
        }
        return replace(scenario, **both)

    def rule(self, sums: Sums, scenario: Scenario) -> MassRule:
        if self.is_census:
            return labels_as_given(sums, self.table)
        unknown = self._open is not None and scenario.fill is None
        labels = PseudoLabels(
            guess=self.guess,
            sensitivity=scenario.sensitivity,
            specificity=scenario.specificity,
            fill=scenario.fill,
            units=self._units,
        )
        return MassRule(
            # Of all strata: resamples have a part of a row of a class that no review found, too. Stratum by
            # stratum, so that a class that is nowhere is 0 to the bit in the difference of the two.
            mass={(name, x): float(x == "weight") for name in STRATA for x in ("weight", "value")},
            pos_mass={(name, "value"): np.nan if unknown else 1.0 for name in STRATA},
            size=self.reviews.effective,
            units=dict.fromkeys(self.table.strata, self.table.unit()),
            labels=labels,
            unidentified=next(self._open_notes()) if unknown else None,
        )

    @cached_property
    def _units(self) -> dict[str, tuple[Vector, Vector]]:
        """What a review weighs at each score; nothing where weights are whole, and count rows."""
        return {} if self.table.unit() == 1 else self.reviews.unit_weights()

    @property
    def assumption(self) -> Note:  # type: ignore[override]
        text = "Assumes that each row had the chance of a review that was given"
        if self.estimated:
            text = (
                f"Assumes that whether a row was reviewed hung on {self.estimated_from} and on nothing else"
            )
        if self.labels_err:
            text += f", and that reviewers err as often as given, whatever the score ({self._rates})"
        return Note("assumption", f"{text}.")

    @property
    def _rates(self) -> str:
        def text(name: str, rate: Belief) -> str:
            low, high = rate.span
            return f"{name} {rate.value:.3g}" + (f", {low:.3g} to {high:.3g}" if low < high else "")

        return "; ".join([text("sensitivity", self.sensitivity), text("specificity", self.specificity)])

    def remarks(self) -> Iterator[Note]:
        if self.is_census:
            return
        guess = GUESSES.get(self.guess.name, self.guess.name)
        text = seen = f"{self.n_reviewed} row{' was' if self.n_reviewed == 1 else 's were'} reviewed"
        if UNLABELED in self.table.strata:
            text += f". Guess of the others, which the reviews correct: {guess}"
        if UNLABELED in self.table.strata and len(self.candidates) > 1:
            errors = sorted(self.candidates.items(), key=lambda x: x[1])
            by_guess = ", ".join(f"{name} {x:.3g}" for name, x in errors)
            text += f". Standard error of the prevalence with each guess: {by_guess}"
        yield Note("remark", f"{text}.")
        if self.doubt is not None:
            yield Note("remark", f"{self.doubt}.")
        if self.labels_err:
            rows = "all rows but the known positives" if SOFT in self.table.strata else "all rows"
            yield from against_rates(self.reviews, self.sensitivity, self.specificity, rows)
        if self.n_reviewed < FEW_REVIEWED:
            yield Note("small_sample", f"Only {seen}: intervals are rough.")
        elif NEGATIVE not in self.table.strata:
            yield Note(
                "remark",
                f"All {self.n_reviewed} reviews found a positive. If those that found none were not written "
                "down, these are no reviews: evaluate them as positives among unlabeled rows.",
            )

    def naive_measure(self) -> ScoreMeasure | None:
        plain = ScoreTable({k: replace(x, value=None, meaning=None) for k, x in self._said.items()})
        return labels_as_given(plain.support.sums(), plain).over(plain.support)

    def with_table(self, table: ScoreTable) -> Self:
        out = super().with_table(_certain(table))
        out._guess_of(self._model)
        return out


def fingerprint(score: Vector) -> str:
    """Of scores in their order: other rows have another. It tells files apart, and keeps nobody out."""
    data = np.ascontiguousarray(score, dtype="<f8")
    bits = int(np.bitwise_xor.reduce(data.view("<u8")))
    return f"{crc32(data.data):08x}{(bits ^ bits >> 32) & 0xFFFFFFFF:08x}"


def _without(column: Vector, rows: NDArray[np.intp]) -> Vector:
    """All but these rows, which ascend."""
    if len(rows) > FEW:
        return np.delete(column, rows)
    # Of many rows a few are left out: their neighbours are copied as they lie.
    starts, stops = np.append(0, rows + 1), np.append(rows, len(column))
    return np.concatenate([column[a:b] for a, b in zip(starts, stops, strict=True)])


def _certain(table: ScoreTable) -> ScoreTable:
    """The same without values that say nothing: reviews that were all certain, and no row that is open."""
    rows: Any = table.strata

    def plain(names: Iterable[str], value: float) -> dict[str, StratumRows]:
        there = {name: rows[name] for name in names if name in rows}
        certain = all(x.value is None or (x.value == value).all() for x in there.values())
        return {k: replace(x, value=None, meaning=None) for k, x in there.items()} if certain else {}

    said = {} if SOFT in rows or UNLABELED in rows else plain(SAID, 1.0)
    return ScoreTable({**rows, **said, **plain((UNLABELED,), 0.0)})
