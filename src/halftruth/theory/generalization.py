"""How far PU-ECE of the training rows can be from the truth: Theorem 3 of the PU-ECE paper."""

from __future__ import annotations

import math

from halftruth import _checks
from halftruth._errors import InputError, arg
from halftruth.theory.bias import BINNINGS
from halftruth.theory.bound import Bound, lipschitz_constant, total, variance
from halftruth.theory.information import Information

_NATS = "Pass nats, from one of the functions theory.fcmi_…."


def generalization_bound(
    n_positive: float,
    n_unlabeled: float,
    prior: float,
    n_bins: int,
    *,
    lipschitz: float,
    fcmi: float | Information,
    fcmi_unlabeled: float | None = None,
    binning: str = "mass",
) -> Bound:
    """A bound on the mean of |PU-ECE − TCE| for scores learned from the same rows (Theorem 3).

    Parameters
    ----------
    n_positive, n_unlabeled : int or math.inf
        Training rows: known positives and unlabeled.
    prior : float in (0, 1)
        Share of positives in the population.
    n_bins : int
        Number of bins.
    lipschitz : float
        Largest slope of E[Y | score] along the score, of every function that may be learned.
    fcmi : float or Information
        The functional conditional mutual information of the learner in nats, or a bound on it: `fcmi_finite`,
        `fcmi_grid`, `fcmi_vc`, `fcmi_of_learner`. At most (n_P + n_U) ln 2.
    fcmi_unlabeled : float or None
        The same of the predictions for unlabeled rows only, at most `fcmi`; None takes what `fcmi` holds of
        it, or `fcmi` itself. Used for "mass".
    binning : {"mass", "width"}
        Bins of equal mass or width.

    Returns
    -------
    Bound
        Terms "binning", "sampling" and, for "mass", "bin masses".

    Notes
    -----
    A deterministic learner with real-valued outputs tells its training rows exactly: fCMI is then
    (n_P + n_U) ln 2 and the bound exceeds 1, whatever the sizes. It says something for finite classes
    (fCMI at most ln K) and for outputs on a grid. Outputs on a grid have no density: use binning="width",
    whose bound needs none.

    Examples
    --------
    >>> from halftruth import theory
    >>> few = theory.fcmi_finite(100)
    >>> round(float(theory.generalization_bound(10**4, 10**5, 0.5, 20, lipschitz=1.0, fcmi=few)), 3)
    0.249
    >>> all_of_it = (10**4 + 10**5) * 0.6931
    >>> theory.generalization_bound(10**4, 10**5, 0.5, 20, lipschitz=1.0, fcmi=all_of_it).informative
    False
    """
    noise = variance(n_positive, n_unlabeled, prior)
    slope = 1 + lipschitz_constant(lipschitz)
    n_bins = _checks.count(n_bins, "n_bins", least=1)
    _checks.choice(binning, "binning", BINNINGS)
    every, unlabeled = _nats(fcmi, fcmi_unlabeled, n_positive + n_unlabeled)
    patterns = n_bins * math.log(2)
    terms = {"binning": slope / n_bins, "sampling": math.sqrt(8 * noise * (every + patterns))}
    if binning == "mass":
        terms["bin masses"] = slope * math.sqrt(8 / n_unlabeled * (unlabeled + patterns))
    return total(terms, "Bounds the mean of |PU-ECE − TCE| on the training rows.")


def _nats(
    fcmi: float | Information, fcmi_unlabeled: float | Information | None, n: float
) -> tuple[float, float]:
    """Of all predictions and of those for unlabeled rows."""
    every = _checks.inside(float(fcmi), "fcmi", 0.0, math.inf, closed="left", advice=_NATS)
    if every > n * math.log(2) * (1 + 1e-12):
        raise InputError(
            f"{arg('fcmi')} must be at most (n_positive + n_unlabeled) ln 2 = {n * math.log(2):.6g}, all "
            f"that there is to tell of the training rows; got {every:.6g}. {_NATS}"
        )
    if fcmi_unlabeled is None:
        return every, fcmi.unlabeled if isinstance(fcmi, Information) else every
    unlabeled = _checks.inside(
        float(fcmi_unlabeled), "fcmi_unlabeled", 0.0, math.inf, closed="left", advice=_NATS
    )
    if unlabeled > every * (1 + 1e-12):
        raise InputError(
            f"{arg('fcmi_unlabeled')} must be at most {arg('fcmi')}, of which it is a part; got "
            f"{unlabeled:.6g} and {every:.6g}. Leave it out to use {arg('fcmi')} for both."
        )
    return every, unlabeled
