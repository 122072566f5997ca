"""How far PU-ECE can be from the true calibration error: Theorems 1 and 2 of Kiryo, Futami and Sugiyama.

They hold for scores from a fixed function of the features; `halftruth_papers.theory` has Theorem 3, for one
that was learned from the same rows. Scores must have a density, and E[Y | score] must be Lipschitz. Known
positives are a random sample of the positives, the unlabeled one of the population.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Literal, TypeAlias

from halftruth import _checks
from halftruth._errors import InputError, arg

__all__ = [
    "BINNINGS", "Binning", "Bound", "bias_bound", "check_sizes", "inverse", "least_root",
    "lipschitz_constant", "noise_variance", "optimal_bins", "prior_error_bound", "row_count", "sum_of",
]  # fmt: skip

Binning: TypeAlias = Literal["mass", "width"]
BINNINGS = ("mass", "width")
_ROUNDING = Fraction(1, 2**50)
"""By which a cube may be missed because a prior such as 1/3 is no binary number."""


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


def optimal_bins(n_positive: float, n_unlabeled: float, prior: float) -> int:
    """The paper's number of bins ⌈(π²/n_P + 1/n_U)^(−1/3)⌉ (Corollary 1, and Corollary 2 of training rows).

    The corollaries give it up to a factor; the paper's experiments, and `calibration_error` by default, use
    the factor 1.

    Parameters
    ----------
    n_positive, n_unlabeled : int or math.inf
        Known positives and unlabeled rows, one of them finite.
    prior : float in (0, 1)
        Share of positives in the population.

    Examples
    --------
    >>> import math
    >>> from halftruth import theory
    >>> theory.optimal_bins(1_000, 10_000, 0.5)
    15
    >>> theory.optimal_bins(90, math.inf, 0.3)
    10
    """
    check_sizes(n_positive, n_unlabeled, prior)
    return least_root(Fraction(float(prior)) ** 2 * inverse(n_positive) + inverse(n_unlabeled))


def check_sizes(n_positive: float, n_unlabeled: float, prior: float) -> None:
    """Refuse what no bound takes, and two infinite samples: no number of bins is too large for them."""
    noise_variance(n_positive, n_unlabeled, prior)
    if math.isinf(n_positive) and math.isinf(n_unlabeled):
        raise InputError(
            f"{arg('n_positive')} and {arg('n_unlabeled')} must not both be infinite: more bins are then "
            "always better. Pass one finite size."
        )


def inverse(n: float) -> Fraction:
    return Fraction(0) if math.isinf(n) else 1 / Fraction(float(n))


def least_root(v: Fraction) -> int:
    """The least whole B with B³ ≥ 1/v, exactly."""
    # In fractions, as a float cube root of 1000 is 9.999999999999998; the root only starts the search.
    target = (1 - _ROUNDING) / v
    root = max(1, int(float(1 / v) ** (1 / 3)) - 1)
    while root**3 < target:
        root += 1
    return root


def row_count(value: float, name: str) -> float:
    """A number of rows: whole, or infinite for an expectation that is known exactly."""
    out = _checks.number(value, name, "Pass a number of rows, or math.inf.")
    if out < 1 or (math.isfinite(out) and out != math.floor(out)):
        must = "be a whole number of at least 1 or math.inf"
        raise InputError(argument=name, must=must, got=repr(value), remedy="Pass a number of rows.")
    return out
