"""The threshold to use: what attains an aim in the sample, or keeps a bound in the population."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np

from halftruth import _checks
from halftruth._errors import EmptyClassWarning, InputError, arg
from halftruth.evidence import Evidence
from halftruth.inference._guaranteed_threshold import guaranteed_threshold
from halftruth.measure._arithmetic import scalar
from halftruth.measure._score_measure import Measurable, as_measure
from halftruth.metrics._decision import AIMS, TO_MAXIMIZE, chosen

__all__ = ["BOUNDS", "best_threshold", "read_aim"]

BOUNDS = {"precision_at_least": "precision>=", "recall_at_least": "recall>=", "fpr_at_most": "fpr<="}
"""The aims that can be guaranteed, and how they are written."""
_WRITTEN = re.compile(r"(precision>=|recall>=|fpr<=|max(?=\w))(\S+)")


def best_threshold(
    evidence: Measurable,
    *,
    maximize: str | None = None,
    precision_at_least: float | None = None,
    recall_at_least: float | None = None,
    fpr_at_most: float | None = None,
    cost: tuple[float, float] | None = None,
    confidence_level: float | None = None,
) -> float:
    """The threshold to use, by one of five aims.

    Parameters
    ----------
    evidence : evidence or ScoreMeasure
    maximize : str
        A rate of `Confusion` that is better high, e.g. "f1", "mcc", "youden_j", "balanced_accuracy".
    precision_at_least : float in (0, 1]
        The lowest threshold with this precision: the largest recall that keeps it.
    recall_at_least : float in (0, 1]
        The highest threshold with this recall; needs no prior.
    fpr_at_most : float in (0, 1]
        The lowest threshold with this false positive rate.
    cost : (cost of a false positive, cost of a false negative)
        The threshold of least expected cost.
    confidence_level : float, optional
        With a bound on precision, recall or fpr: with at least this probability the bound holds in the
        population, for every prior of a range. Left out, it holds in the sample, which promises nothing: the
        population's precision often falls short by a little, more often than not.

    Returns
    -------
    float
        A score, or inf where calling no case positive is best; NaN with a warning where no threshold
        attains the aim. Precision is clipped to [0, 1]; the highest threshold wins a tie. Where the prior
        is a range, the answer without a confidence level is for its middle.

    Notes
    -----
    With a confidence level thresholds are tested one after the other (Learn then Test, Angelopoulos et al.
    2021): with labels by exact binomial tests, else by what generalises them, Dirichlet weights on the rows
    and on one row more, the worst that could have come. An estimated prior adds its own error.

    Examples
    --------
    >>> import halftruth as ht
    >>> evidence = ht.Labeled([1, 1, 0, 0], [0.9, 0.4, 0.6, 0.1])
    >>> ht.best_threshold(evidence, maximize="f1")
    0.4
    >>> ht.best_threshold(evidence, precision_at_least=0.9)
    0.9
    >>> model = ht.simulate.GaussianClasses(prior=0.3)
    >>> sure = ht.best_threshold(model.labeled(5000, rng=0), precision_at_least=0.8, confidence_level=0.95)
    >>> model.truth("precision", threshold=sure) >= 0.8
    True
    """
    values: tuple[Any, ...] = (maximize, precision_at_least, recall_at_least, fpr_at_most, cost)
    aims = {aim: wanted for aim, wanted in zip(AIMS, values, strict=True) if wanted is not None}
    if len(aims) != 1:
        raise InputError(
            f"`best_threshold` takes exactly one of {', '.join(AIMS)}; got {', '.join(aims) or 'none'}."
        )
    ((aim, wanted),) = aims.items()
    line = as_measure(evidence, "shape" if aim == "recall_at_least" else "prior").sweep
    index, attained = chosen(line, aim, wanted)  # what is no aim is refused here
    if confidence_level is None:
        threshold, what = scalar(np.where(attained, line.threshold[index], np.nan)), f"attains {aim}"
    elif aim not in BOUNDS or not isinstance(evidence, Evidence):
        raise InputError(
            f"{arg('confidence_level')} goes with evidence and a bound: {', '.join(BOUNDS)}. Leave it out."
        )
    else:
        level = _checks.confidence_level(confidence_level)
        threshold = guaranteed_threshold(evidence, aim, wanted, level)
        what = f"could be certified (confidence {level:g}) to have {BOUNDS[aim]}{wanted:g}"
    if np.ndim(threshold) == 0 and np.isnan(threshold):
        warnings.warn(f"No threshold {what}: NaN.", EmptyClassWarning, stacklevel=2)
    return threshold


def read_aim(text: str) -> dict[str, Any]:
    """The aim of a threshold that is written as text, e.g. "precision>=0.9" or "max f1"."""
    match = _WRITTEN.fullmatch("".join(text.split()))
    kinds = {written: aim for aim, written in BOUNDS.items()}
    try:
        if match and match[1] == "max":
            return {"maximize": _checks.choice(match[2], "threshold", TO_MAXIMIZE)}
        if match:
            return {kinds[match[1]]: _checks.share(float(match[2]), "threshold", closed_at_one=True)}
    except ValueError as error:
        if isinstance(error, InputError):
            raise
    raise InputError(
        argument="threshold",
        must="be a number on the scale of the scores, or say what it is for: 'precision>=0.9', "
        "'recall>=0.8', 'fpr<=0.05' or 'max f1'",
        got=repr(text),
    )
