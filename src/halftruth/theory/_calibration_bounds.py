"""How far PU-ECE can be from the true calibration error: Theorems 1 to 3 of Kiryo, Futami and Sugiyama.

Theorems 1 and 2 are for scores from a fixed function of the features, Theorem 3 is for one that was learned
from the same rows. Scores must have a density, and E[Y | score] must be Lipschitz. Known positives are a
random sample of the positives, the unlabeled one of the population.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

from halftruth import _checks
from halftruth._errors import InputError, arg
from halftruth.theory._learner_information import Information, row_count

__all__ = [
    "BINNINGS",
    "Binning",
    "Bound",
    "bias_bound",
    "generalization_bound",
    "noise_variance",
    "prior_error_bound",
]

Binning: TypeAlias = Literal["mass", "width"]
BINNINGS = ("mass", "width")
_NATS = "Pass nats, from one of the functions theory.fcmi_…."


@dataclass(frozen=True)
class Bound:
    """An upper bound, with the terms it is the sum of.

    Parameters
    ----------
    value : float
        The bound, as the theorem has it: never clipped.
    terms : mapping of str to float
        What `value` is the sum of.
    note : str
        What is bounded, and that the bound says nothing where it does not.

    Examples
    --------
    >>> from halftruth import theory
    >>> bound = theory.bias_bound(1_000, 10_000, 0.5, 9, lipschitz=1.5)
    >>> round(float(bound), 2), bound.informative
    (0.44, True)
    >>> list(bound.terms)
    ['binning', 'edges', 'bin masses', 'sampling']
    """

    value: float
    terms: Mapping[str, float]
    note: str

    @property
    def informative(self) -> bool:
        """Whether the bound is below 1, the most that an error of probabilities can be anyway."""
        return self.value < 1

    def __float__(self) -> float:
        return self.value


def sum_of(terms: dict[str, float], note: str) -> Bound:
    """The sum of the terms; a sum of 1 or more is kept, and said to say nothing."""
    value = math.fsum(terms.values())
    if not value < 1:
        note = f"{note} The bound, {value:.3g}, is not below 1: it says nothing."
    return Bound(value=value, terms=MappingProxyType(dict(terms)), note=note)


def noise_variance(n_positive: float, n_unlabeled: float, prior: float) -> float:
    """π²/n_P + 1/n_U: what stands for 1/n in every bound from positives and unlabeled."""
    positive, unlabeled = row_count(n_positive, "n_positive"), row_count(n_unlabeled, "n_unlabeled")
    return _checks.share(prior, "prior") ** 2 / positive + 1 / unlabeled


def lipschitz_constant(value: float) -> float:
    """A finite number not below 0."""
    advice = "Pass the largest slope of E[Y | score] along the score; 1 for calibrated scores."
    return _checks.inside(value, "lipschitz", 0.0, math.inf, closed="left", advice=advice)


def bias_bound(
    n_positive: float,
    n_unlabeled: float,
    prior: float,
    n_bins: int,
    *,
    lipschitz: float,
    binning: Binning = "mass",
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
    noise = noise_variance(n_positive, n_unlabeled, prior)
    slope = 1 + lipschitz_constant(lipschitz)
    n_bins = _checks.count(n_bins, "n_bins", least=1)
    _checks.choice(binning, "binning", BINNINGS)
    # A sum over bins of absolute values is the largest of 2^B signed sums: the union bound costs B ln 2.
    patterns = n_bins * math.log(2)
    note = "Bounds the mean of |PU-ECE − TCE| over samples."
    if confidence_level is not None:
        level = _checks.confidence_level(confidence_level)
        patterns += -math.log1p(-level)
        note = f"Bounds |PU-ECE − TCE| with probability at least {level:g}."
    terms = {"binning": slope / n_bins}
    if binning == "width":
        terms["sampling"] = math.sqrt(2 * noise * patterns)
        return sum_of(terms, note)
    # Of equal mass, B rows are spent on the edges; given these, the rest are independent within the bins.
    rest = _inside_bins(n_unlabeled, n_bins)
    noise = prior**2 / row_count(n_positive, "n_positive") + 1 / rest
    terms["edges"] = (1 + 2 * slope) * n_bins / rest
    terms["bin masses"] = slope * math.sqrt(2 * patterns / rest)
    terms["sampling"] = math.sqrt(2 * noise * patterns)
    return sum_of(terms, note)


def _inside_bins(n_unlabeled: float, n_bins: int) -> float:
    """Unlabeled rows that are not edges of bins of equal mass."""
    if n_unlabeled < 2 * n_bins:
        must = f"be at least twice {arg('n_bins')} for bins of equal mass"
        got = f"{n_unlabeled:g} rows and {n_bins} bins"
        remedy = f"Pass at most {int(n_unlabeled // 2)} bins, or {arg('binning', 'width')}."
        raise InputError(argument="n_unlabeled", must=must, got=got, remedy=remedy)
    return row_count(n_unlabeled, "n_unlabeled") - n_bins


def prior_error_bound(prior: float, estimate: float) -> Bound:
    """The most that PU-ECE changes when `estimate` stands for the true prior: |π − π̂| (Theorem 2).

    It holds for every sample, score and number of bins, of equal mass or width, without any assumption.

    Parameters
    ----------
    prior, estimate : float in (0, 1)
        The true share of positives and the one used.

    Examples
    --------
    >>> from halftruth import theory
    >>> round(float(theory.prior_error_bound(0.3, 0.33)), 12)
    0.03
    """
    apart = abs(_checks.share(prior, "prior") - _checks.share(estimate, "estimate"))
    return sum_of({"prior": apart}, "Bounds the change of PU-ECE, for any data and bins.")


def generalization_bound(
    n_positive: float,
    n_unlabeled: float,
    prior: float,
    n_bins: int,
    *,
    lipschitz: float,
    fcmi: float | Information,
    fcmi_unlabeled: float | None = None,
    binning: Binning = "mass",
) -> Bound:
    """A bound on the mean of |PU-ECE − TCE| for scores learned from the same rows (Theorem 3).

    Parameters
    ----------
    n_positive, n_unlabeled, prior, n_bins, binning
        As in `bias_bound`, of the training rows.
    lipschitz : float
        Largest slope of E[Y | score] along the score, of every function that may be learned.
    fcmi : float or Information
        The functional conditional mutual information of the learner in nats, or a bound on it: `fcmi_finite`,
        `fcmi_grid`, `fcmi_vc`, `fcmi_of_learner`. At most (n_P + n_U) ln 2.
    fcmi_unlabeled : float or None
        The same of the predictions for unlabeled rows only, at most `fcmi`; None takes what `fcmi` holds of
        it, or `fcmi` itself. Used for "mass".

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
    noise = noise_variance(n_positive, n_unlabeled, prior)
    slope = 1 + lipschitz_constant(lipschitz)
    n_bins = _checks.count(n_bins, "n_bins", least=1)
    _checks.choice(binning, "binning", BINNINGS)
    # The 2^B signs of the bins as in Theorem 1; what the predictions tell of the rows is paid on top.
    nats, unlabeled = _nats(fcmi, fcmi_unlabeled, n_positive + n_unlabeled)
    patterns = n_bins * math.log(2)
    terms = {"binning": slope / n_bins, "sampling": math.sqrt(8 * noise * (nats + patterns))}
    if binning == "mass":
        terms["bin masses"] = slope * math.sqrt(8 / n_unlabeled * (unlabeled + patterns))
    return sum_of(terms, "Bounds the mean of |PU-ECE − TCE| on the training rows.")


def _nats(
    fcmi: float | Information, fcmi_unlabeled: float | Information | None, n: float
) -> tuple[float, float]:
    """Of all predictions and of those for unlabeled rows."""
    nats = _checks.inside(float(fcmi), "fcmi", 0.0, math.inf, closed="left", advice=_NATS)
    if nats > n * math.log(2) * (1 + 1e-12):
        raise InputError(
            f"{arg('fcmi')} must be at most (n_positive + n_unlabeled) ln 2 = {n * math.log(2):.6g}, all "
            f"that there is to tell of the training rows; got {nats:.6g}. {_NATS}"
        )
    if fcmi_unlabeled is None:
        return nats, fcmi.unlabeled if isinstance(fcmi, Information) else nats
    unlabeled = _checks.inside(
        float(fcmi_unlabeled), "fcmi_unlabeled", 0.0, math.inf, closed="left", advice=_NATS
    )
    if unlabeled > nats * (1 + 1e-12):
        raise InputError(
            f"{arg('fcmi_unlabeled')} must be at most {arg('fcmi')}, of which it is a part; got "
            f"{unlabeled:.6g} and {nats:.6g}. Leave it out to use {arg('fcmi')} for both."
        )
    return nats, unlabeled
