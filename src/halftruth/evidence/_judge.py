"""Reviewers who err: their rates from cases checked besides, and whether what they said bears these out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, Note, NotIdentifiable, arg
from halftruth.prior._belief import Belief, PriorEstimate
from halftruth.table._score_table import NEGATIVE, POSITIVE, ScoreTable
from halftruth.table._strata import StratumRows

__all__ = ["against_rates", "columns_of", "judge_rates"]

N_DRAWS = 2000  # of a reviewer's rates
SURE, LIKELY = 2.576, 1.96  # standard errors: 99% and 95%, on two sides


def judge_rates(said: Any, truth: Any, *, rng: int = 0) -> tuple[PriorEstimate, PriorEstimate]:
    """Sensitivity and specificity of a reviewer, from cases of which the truth is known too.

    Parameters
    ----------
    said, truth : (n,) arrays of 0 and 1
        What the reviewer said of each case, and what it is, e.g. by a second review that is trusted. Cases
        are a random part of all, or of each true class: not chosen by what the reviewer said.
    rng : int

    Returns
    -------
    (sensitivity, specificity) : PriorEstimate
        With draws of Jeffreys' posterior as replicates, for `Reviewed`.

    Examples
    --------
    >>> import halftruth as ht
    >>> sensitivity, specificity = ht.judge_rates([1, 1, 0, 0, 1, 0], [1, 1, 1, 0, 0, 0])
    >>> round(sensitivity.value, 3), round(specificity.value, 3)
    (0.667, 0.667)
    """
    told = _checks.binary_labels(said, "said")
    true = _checks.binary_labels(truth, "truth", length=len(told))
    stream, out = np.random.default_rng(rng), []
    for name, right in (("positive", told[true]), ("negative", ~told[~true])):
        n, k = len(right), int(right.sum())
        if n == 0:
            raise InputError(f"{arg('truth')} has no {name} case: nothing says how often those are found.")
        draws = stream.beta(k + 0.5, n - k + 0.5, N_DRAWS)
        out.append(PriorEstimate(value=k / n, replicates=draws, method=f"{k} of {n}"))
    return out[0], out[1]


def against_rates(table: ScoreTable, sensitivity: Belief, specificity: Belief) -> Iterator[Note]:
    """Whether reviewers called positive as many as their rates of error allow.

    Of all rows they call positive the share π a + (1 − π)(1 − b), which lies between their false alarms 1 − b
    and their sensitivity a, whatever π is.
    """
    said = {name: columns_of(table.strata.get(name)) for name in (POSITIVE, NEGATIVE)}
    mass = {name: weight * times for name, (_, weight, times) in said.items()}
    total = sum(float(x.sum()) for x in mass.values())
    share = float(mass[POSITIVE].sum()) / total
    squares = {POSITIVE: (1 - share) ** 2, NEGATIVE: share**2}
    noise = sum(float((x**2).sum()) * squares[name] for name, x in mass.items()) / total**2
    for few, rate in ((True, specificity), (False, sensitivity)):
        most = float(rate.ends()[1] if rate.replicates is None else rate.value or 1.0)
        limit = 1 - most if few else most
        error = float(np.sqrt(noise + (0.0 if rate.replicates is None else np.var(rate.replicates))))
        room = (share - limit) * (1 if few else -1) / max(error, 1e-300)
        words = (
            f"a specificity of {most:.4g} alone makes that {limit:.4g}"
            if few
            else f"a sensitivity of {most:.4g} allows {limit:.4g}"
        )
        text = f"Reviewers called {share:.4g} of all rows positive, and {words}"
        if room < -SURE:
            yield Note(
                "refuted",
                f"{text}: too {'few' if few else 'many'}. At fault is that rate, or the chances of review. A "
                "rate is that of all rows: check cases at random, not as many called positive as negative.",
            )
        elif room < LIKELY:
            yield Note(
                "not_identified",
                f"{text}: as far as chance tells, all may be {'negative' if few else 'positive'}, and recall "
                "or areas can be anything. Check more cases of which the truth can be found.",
            )


def columns_of(rows: Any) -> tuple[Vector, Vector, Vector]:
    """Score, weight and 1/e of the rows of a stratum."""
    if rows is None:
        return np.zeros(0), np.zeros(0), np.zeros(0)
    if not isinstance(rows, StratumRows):
        raise NotIdentifiable("A histogram does not hold chances of review. Keep the rows.")
    return rows.score, rows.full_weight(), np.ones(len(rows)) if rows.value is None else rows.value
