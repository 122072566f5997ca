"""Every recovered number of evidence, each with its interval."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np

from halftruth import _checks
from halftruth._errors import InputError
from halftruth.evaluation._evaluate import evaluate
from halftruth.evidence import PositiveUnlabeled
from halftruth.measure._score_measure import ScoreMeasure
from halftruth.metrics._areas import pr_auc, roc_auc
from halftruth.recover.curves import indirect_areas
from halftruth.recover.projection import Possible
from halftruth.results._estimate import Estimate, Evaluation

ROWS = ("roc_auc", "roc_auc_indirect", "roc_auc_concave", "pr_auc_indirect", "pr_auc_concave")


def performance(
    evidence: PositiveUnlabeled,
    *,
    confidence_level: float = 0.95,
    n_resamples: int = 2000,
    rng: int | np.random.Generator = 0,
) -> Evaluation:
    """AUC and area under the precision-recall curve by every way of recovery, with intervals.

    Parameters
    ----------
    evidence : PositiveUnlabeled
        With a prior: a number, a range or an estimate, which goes into the intervals. The purity likewise.
    confidence_level : float
    n_resamples : int
        Bootstrap resamples, at least one; the same for all rows.
    rng : int or numpy Generator

    Returns
    -------
    Evaluation
        ``roc_auc``, the direct conversion; ``roc_auc_indirect`` and ``pr_auc_indirect``, of the curve after
        Algorithm 1 of Jain et al.; ``roc_auc_concave`` and ``pr_auc_concave``, of the evidence projected by
        `project`.

    Notes
    -----
    Intervals are percentiles of resamples; docs/recovery.md shows how often they hold the truth.

    Examples
    --------
    >>> import halftruth as ht
    >>> simulated = ht.simulate.GaussianClasses(prior=0.3)
    >>> evidence = simulated.positive_unlabeled(300, 3000, rng=1, purity=0.9)
    >>> result = ht.recover.performance(evidence, n_resamples=100)
    >>> list(result)
    ['roc_auc', 'roc_auc_indirect', 'roc_auc_concave', 'pr_auc_indirect', 'pr_auc_concave']
    >>> result["roc_auc"].low < simulated.truth("roc_auc") < result["roc_auc"].high
    True
    """
    _checks.count(n_resamples, "n_resamples", least=1)
    if not isinstance(evidence, PositiveUnlabeled):
        raise InputError(
            argument="evidence",
            must="be PositiveUnlabeled",
            got=type(evidence).__name__,
            remedy="With full labels there is nothing to recover: use ht.evaluate.",
        )
    evidence.measure().need_prior()
    source = np.random.default_rng(rng)
    settings: dict[str, Any] = {"confidence_level": confidence_level, "n_resamples": n_resamples}
    raw = evaluate(
        evidence,
        {"roc_auc": "roc_auc", "roc_auc_indirect": _indirect_auc, "pr_auc_indirect": _indirect_pr_auc},
        rng=copy.deepcopy(source),
        **settings,
    )
    projected = evaluate(
        Possible.of(evidence),
        {"roc_auc_concave": _auc, "pr_auc_concave": _pr_auc},
        rng=source,
        **settings,
    )
    rows = {**raw.rows, **projected.rows}
    possible = {name: _cut(rows[name]) for name in ROWS if name != "roc_auc"}
    return replace(raw, rows={name: possible.get(name, rows[name]) for name in ROWS})


def _cut(row: Estimate) -> Estimate:
    """Within [0, 1], which joined rows can make replicates leave by a little."""
    low, high = np.clip([row.low, row.high], 0.0, 1.0)
    return replace(row, low=float(low), high=float(high), limits=(0.0, 1.0))


# Functions of their own: what is certified of registered metrics holds for evidence as it is.


def _auc(measure: ScoreMeasure) -> float:
    return float(roc_auc(measure))


def _pr_auc(measure: ScoreMeasure) -> float:
    return float(pr_auc(measure))


def _indirect_auc(measure: ScoreMeasure) -> float:
    return indirect_areas(measure)[0]


def _indirect_pr_auc(measure: ScoreMeasure) -> float:
    return indirect_areas(measure)[1]
