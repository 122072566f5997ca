"""SoftLabeled: each row has the probability that it is positive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, Note, arg, call
from halftruth.evidence._evidence import Evidence, Scenario, SoftRows
from halftruth.evidence._labeled import Labeled, labels_as_given
from halftruth.measure._mass_rule import MassRule
from halftruth.measure._score_measure import ScoreMeasure
from halftruth.table._histogram import UNIT, Bins
from halftruth.table._score_table import NEGATIVE, POSITIVE, SOFT, ScoreTable
from halftruth.table._strata import REVIEWED, SOFT_LABEL, TOP_CLASS, VOTE_SHARE, StratumRows
from halftruth.table._support import Sums

__all__ = ["PseudoLabeled", "SoftLabeled", "SoftRows"]

UNEVEN = 1e-3
"""How far the probabilities of a row may be from summing to one: what rounding to some digits leaves."""


class SoftLabeled(Evidence):
    """Scores with soft labels q = P(Y=1 | x): μ̂ = Σ w δ_s, μ̂₁ = Σ w q δ_s.

    Parameters
    ----------
    q : (n,) or (n, K) array in [0, 1]
        Probability of the positive class; of two columns the second. Three classes or more are for the Bayes
        error alone: every other metric is binary.
    y_score : (n,) array, optional
        The scores to evaluate; q itself where left out.
    sample_weight : (n,) array, optional

    Examples
    --------
    >>> import halftruth as ht
    >>> round(ht.brier(ht.SoftLabeled([1.0, 0.5, 0.0], [0.8, 0.5, 0.2])), 12)
    0.11
    """

    kind: ClassVar[str] = "soft"
    is_proper = True
    bins_are_certified = True
    holds_posteriors = True
    null_models = ("signs",)
    naive_reading = "hard labels"
    _soft_rows: SoftRows | None = None  # with what a table cannot hold: votes, and many classes
    assumption = Note("assumption", "Assumes that the soft labels are P(positive | x), right on average.")

    def __init__(self, q: Any, y_score: Any = None, *, sample_weight: Any = None) -> None:
        soft = _soft_labels(q)
        top = soft if soft.ndim == 1 else soft.max(axis=1)
        if y_score is not None and soft.ndim == 2:
            raise InputError(
                f"{arg('q')} has {soft.shape[1]} classes, and scores are for binary metrics. Leave "
                f"{arg('y_score')} out for the Bayes error, or pass one class against the rest, e.g. q[:, "
                "0]."
            )
        score = _checks.scores(top if y_score is None else y_score, "y_score", length=len(soft))
        weight = _checks.weights(sample_weight, "sample_weight", length=len(soft))
        meaning = SOFT_LABEL if soft.ndim == 1 else TOP_CLASS
        rows = StratumRows(score=score, weight=weight, value=top, meaning=meaning)
        self.table = ScoreTable({SOFT: rows})
        self._soft_rows = SoftRows(q=soft, weight=weight)

    @classmethod
    def from_table(cls, table: ScoreTable) -> Self:
        """Soft-labeled evidence from a table of such rows, e.g. merged ones.

        A table holds shares of votes, not how many votes they are of: the metrics are the same, and the Bayes
        error needs the votes. It holds no labels of three classes or more.
        """
        remedy = "Use the evidence class that the table came from; many classes come from arrays alone."
        out = cls.__new__(cls)
        meanings = {rows.meaning for rows in _checks.instance(table, "table", ScoreTable).strata.values()}
        table.need((SOFT,), VOTE_SHARE if meanings == {VOTE_SHARE} else SOFT_LABEL, remedy)
        out.table = table
        return out

    @property
    def labels(self) -> SoftRows:
        """The soft labels, with how many votes each is the share of where that is known."""
        if self._soft_rows is not None:
            return self._soft_rows
        rows = self.table.strata[SOFT]
        if isinstance(rows, Bins):
            raise InputError(
                "A histogram holds sums of soft labels, not each of them, which this needs. Pass the soft "
                f"labels themselves: {call('SoftLabeled(q)', 'soft')}, or the table of exact rows."
            )
        assert rows.value is not None  # soft rows always carry q
        if rows.meaning == VOTE_SHARE:
            raise InputError(
                "A table does not hold how many votes its shares are of, which this needs. Pass the votes: "
                f"{call('SoftLabeled.from_votes(k, m)', 'votes')}."
            )
        return SoftRows(q=rows.value, weight=rows.weight)

    @classmethod
    def from_votes(
        cls, k: Any, m: Any = None, y_score: Any = None, *, sample_weight: Any = None
    ) -> SoftLabeled:
        """Soft labels q = k/m from k positive votes out of m, for each row.

        Parameters
        ----------
        k : (n,) array, or (n, K) array
            Positive votes; or the votes for each of K classes, where ``m`` is their sum.
        m : int or (n,) array, optional
            Votes, at least one for each row. Left out where ``k`` has a column for each class.
        y_score, sample_weight : (n,) array, optional
            As for soft labels.

        Examples
        --------
        >>> import halftruth as ht
        >>> ht.SoftLabeled.from_votes([0, 1, 3], 3).labels.q.round(2).tolist()
        [0.0, 0.33, 1.0]
        """
        votes, ballots = _votes(_checks.native(k, "k"), m)
        shares = votes / (ballots if votes.ndim == 1 else ballots[:, None])
        out = cls(shares, y_score, sample_weight=sample_weight)
        out._soft_rows = replace(out.labels, ballots=ballots)
        rows = out.table.strata[SOFT]
        if rows.meaning == SOFT_LABEL:
            out.table = ScoreTable({SOFT: replace(rows, meaning=VOTE_SHARE)})
        return out

    def rule(self, sums: Sums, scenario: Scenario) -> MassRule:
        if self._soft_rows is not None and self._soft_rows.n_classes > 2:
            raise InputError(
                f"Binary metrics need one class against the rest, got soft labels of "
                f"{self._soft_rows.n_classes} classes. Pass e.g. q[:, 0]; `bayes_error` takes all classes."
            )
        mass, pos_mass = {(SOFT, "weight"): 1.0}, {(SOFT, "value"): 1.0}
        size, unit = self.table.effective_rows(), self.table.unit()
        return MassRule(mass=mass, pos_mass=pos_mass, size=size, units={SOFT: unit})

    def naive_measure(self) -> ScoreMeasure:
        rows = self.table.strata[SOFT]
        if isinstance(rows, Bins):
            hard = rows.full("hard") / UNIT
            sums = {(POSITIVE, "weight"): hard, (NEGATIVE, "weight"): rows.full("weight") / UNIT - hard}
            rule = labels_as_given(sums, self.table)
            units = dict.fromkeys((POSITIVE, NEGATIVE), self.table.unit())
            return replace(rule, units=units).apply(self.table.support.score, sums)
        assert rows.value is not None  # soft rows always carry q
        return Labeled(rows.value >= 0.5, rows.score, sample_weight=rows.weight).measure()


class PseudoLabeled(SoftLabeled):
    """What reviewed rows make of the measure, as soft labels that noise may carry out of [0, 1].

    The reviews alone, positive and negative, lie beside them and add nothing.
    """

    kind = "reviewed"

    def __init__(self, measure: ScoreMeasure, reviews: Mapping[str, Any]) -> None:
        some = measure.mass > 0
        score, mass = measure.score[some], measure.mass[some]
        value = measure.pos_mass[some] / mass
        soft = StratumRows(score=score, weight=mass, value=value, meaning=SOFT_LABEL)
        alone = {name: replace(rows, value=None, meaning=REVIEWED) for name, rows in reviews.items()}
        self.table, self._size = ScoreTable({SOFT: soft, **alone}), measure.size

    def rule(self, sums: Sums, scenario: Scenario) -> MassRule:
        return replace(super().rule(sums, scenario), size=self._size)


def _soft_labels(q: Any) -> NDArray[np.float64]:
    """(n,) probabilities of the positive class, or (n, K) of K ≥ 3 classes, checked."""
    array = _checks.native(q, "q")
    if array.ndim not in (1, 2) or (array.ndim == 2 and array.shape[1] < 2):
        raise InputError(
            argument="q",
            must="have shape (n,) or (n, K) with K ≥ 2 classes",
            got=array.shape,
            remedy="Pass one probability a row, or one for each class.",
        )
    if len(array) == 0:
        raise InputError(f"{arg('q')} is empty. Pass at least one soft label.")
    flat = _checks.probabilities(array.ravel(), "q").reshape(array.shape)
    if flat.ndim == 1:
        return flat
    uneven = np.abs(flat.sum(axis=1) - 1) > UNEVEN
    if uneven.any():
        first = int(np.argmax(uneven))
        raise InputError(
            argument="q",
            must="sum to 1 in each row",
            got=f"{flat[first].sum():g} at row {first} ({int(uneven.sum())} such row(s))",
            remedy="Pass probabilities of all classes; of votes, "
            f"{call('SoftLabeled.from_votes(counts)', 'counts')}.",
        )
    return np.ascontiguousarray(flat[:, 1]) if array.shape[1] == 2 else flat


def _votes(k: NDArray[Any], m: Any) -> tuple[NDArray[np.float64], Vector]:
    """Votes (n,) or (n, K), and how many there are for each row."""
    if k.ndim == 2:
        if k.shape[1] < 2:
            raise InputError(argument="k", must="have shape (n,), or (n, K) with K ≥ 2 classes", got=k.shape)
        if m is not None:
            raise InputError(
                f"{arg('m')} is the sum of each row of {arg('k')} where that has a column for each class. "
                "Leave it out."
            )
        votes = _checks.vector(k.ravel(), "k").reshape(k.shape)
        ballots = votes.sum(axis=1)
    elif m is None:
        raise InputError(f"{arg('m')} must say how many votes each row has: a number, or one for each row.")
    else:
        votes = _checks.vector(k, "k")
        number = np.full(len(votes), _checks.number(m, "m")) if np.ndim(m) == 0 else m
        ballots = _checks.vector(number, "m", length=len(votes))
    most = ballots if votes.ndim == 1 else ballots[:, None]
    wrong = (votes < 0) | (votes > most) | (most < 1) | (votes != np.floor(votes)) | (most != np.floor(most))
    bad = wrong if votes.ndim == 1 else wrong.any(axis=1)
    if bad.any():
        first = int(np.argmax(bad))
        raise InputError(
            f"{arg('k')} must be a whole number from 0 to {arg('m')}, and {arg('m')} one from 1; got "
            f"k={_shown(votes[first])}, m={ballots[first]:g} at index {first} ({int(bad.sum())} such "
            "row(s)). Drop rows without votes; shares of votes are soft labels, "
            f"{call('SoftLabeled(q)', 'soft')}."
        )
    return votes, ballots


def _shown(votes: Any) -> str:
    return f"{votes:g}" if np.ndim(votes) == 0 else "[" + ", ".join(f"{v:g}" for v in votes) + "]"
