"""How far PU-ECE can be from the true calibration error: Theorems 1 and 2 of Kiryo, Futami and Sugiyama.

The scores must come from a fixed function of the features, not one learned from the same rows
(`halftruth.theory.generalization_bound` is for those), have a density, and E[Y | score] must be Lipschitz.
Known positives are a random sample of the positives, the unlabeled one of the population.
"""

from __future__ import annotations

import math

from halftruth import _checks
from halftruth._errors import InputError, arg
from halftruth.theory.bound import Bound, lipschitz_constant, size, total, variance

BINNINGS = ("mass", "width")


def bias_bound(
    n_positive: float,
    n_unlabeled: float,
    prior: float,
    n_bins: int,
    *,
    lipschitz: float,
    binning: str = "mass",
    confidence_level: float | None = None,
) -> Bound:
    """A bound on |PU-ECE − TCE|, the error of `calibration_error` from positives and unlabeled (Theorem 1).

    Parameters
    ----------
    n_positive, n_unlabeled : int or math.inf
        Known positives and unlabeled rows; the latter at least twice `n_bins` for "mass".
    prior : float in (0, 1)
        Share of positives in the population, taken as known; `prior_error_bound` adds what an error
        of it can do.
    n_bins : int
        Number of bins B.
    lipschitz : float
        L: the largest slope of E[Y | score = v] along v. 1 for calibrated scores.
    binning : {"mass", "width"}
        Bins of equal mass of the unlabeled, or of equal width.
    confidence_level : float in (0, 1) or None
        The bound holds with at least this probability; None bounds the mean of |PU-ECE − TCE| over samples.

    Returns
    -------
    Bound
        Its terms: "binning", what averaging within bins hides, (1 + L)/B; "sampling", the noise of the
        sums in the bins; for "mass" also "edges" and "bin masses", as the bins come from the data.

    Notes
    -----
    At practical sizes the bound exceeds the calibration error itself. With a thousand known positives, ten
    thousand unlabeled, prior .5, L = 1.5 and the best number of bins it is .37 for equal mass and .20 for
    equal width; with a hundred times as many rows .08 and .04. It proves a rate, and is no interval.

    Labels are the case of infinitely many positives for binning="width": each row then has noise of at
    most 1.

    Examples
    --------
    >>> import math
    >>> from halftruth import theory
    >>> round(float(theory.bias_bound(1_000, 10_000, 0.5, 9, lipschitz=1.5, binning="width")), 3)
    0.344
    >>> theory.bias_bound(100, 1_000, 0.5, 50, lipschitz=1.5).informative
    False
    >>> float(theory.bias_bound(math.inf, math.inf, 0.5, 100, lipschitz=1))
    0.02
    """
    noise = variance(n_positive, n_unlabeled, prior)
    slope = 1 + lipschitz_constant(lipschitz)
    n_bins = _checks.count(n_bins, "n_bins", least=1)
    _checks.choice(binning, "binning", BINNINGS)
    patterns = n_bins * math.log(2)
    note = "Bounds the mean of |PU-ECE − TCE| over samples."
    if confidence_level is not None:
        level = _checks.confidence_level(confidence_level)
        patterns += -math.log1p(-level)
        note = f"Bounds |PU-ECE − TCE| with probability at least {level:g}."
    terms = {"binning": slope / n_bins}
    if binning == "width":
        terms["sampling"] = math.sqrt(2 * noise * patterns)
        return total(terms, note)
    rest = _inside_bins(n_unlabeled, n_bins)
    noise = prior**2 / size(n_positive, "n_positive") + 1 / rest
    terms["edges"] = (1 + 2 * slope) * n_bins / rest
    terms["bin masses"] = slope * math.sqrt(2 * patterns / rest)
    terms["sampling"] = math.sqrt(2 * noise * patterns)
    return total(terms, note)


def _inside_bins(n_unlabeled: float, n_bins: int) -> float:
    """Unlabeled rows that are not edges of bins of equal mass."""
    if n_unlabeled < 2 * n_bins:
        raise InputError(
            argument="n_unlabeled",
            must=f"be at least twice {arg('n_bins')} for bins of equal mass",
            got=f"{n_unlabeled:g} rows and {n_bins} bins",
            remedy=f"Pass at most {int(n_unlabeled // 2)} bins, or {arg('binning', 'width')}.",
        )
    return size(n_unlabeled, "n_unlabeled") - n_bins


def prior_error_bound(prior: float, estimate: float) -> Bound:
    """The most that PU-ECE changes when `estimate` stands for the true prior: |π − π̂| (Theorem 2).

    It holds for every sample, score and number of bins, of equal mass or width, without any assumption.

    Parameters
    ----------
    prior, estimate : float in (0, 1)
        The true share of positives and the one used.

    Returns
    -------
    Bound

    Examples
    --------
    >>> from halftruth import theory
    >>> round(float(theory.prior_error_bound(0.3, 0.33)), 12)
    0.03
    """
    apart = abs(_checks.share(prior, "prior") - _checks.share(estimate, "estimate"))
    return total({"prior": apart}, "Bounds the change of PU-ECE, for any data and bins.")
