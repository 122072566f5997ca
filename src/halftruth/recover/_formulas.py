"""True rates, precision and AUC from those of positives against unlabeled (Jain, White and Radivojac 2017).

γ and η are the true- and the false-positive rate, α the share of positives among the unlabeled, ρ that among
the labeled (the paper's β). With "pu" the unlabeled count as negative:

    γ_pu = ργ + (1 − ρ)η,    η_pu = αγ + (1 − α)η.

Both are solved in the form "what is seen, plus a multiple of γ_pu − η_pu": (0, 0) and (1, 1) stay what they
are to the last digit, and with pure labels so does γ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, arg
from halftruth.measure._score_measure import Number, ratio, scalar

__all__ = [
    "ALPHA", "Rates", "auc", "numbers", "observed_auc", "precision", "precision_from_pu", "rates", "shares",
    "within",
]  # fmt: skip

ROUNDING = 1e-9  # how far rounding may carry a computed rate out of [0, 1]
ALPHA = "Pass the share of positives among the unlabeled."


@dataclass(frozen=True, kw_only=True)
class Rates:
    """True- and false-positive rate: numbers, or arrays of one shape."""

    tpr: Number
    fpr: Number


def auc(auc_pu: ArrayLike, alpha: ArrayLike, purity: ArrayLike = 1.0, *, clip: bool = False) -> Number:
    """The AUC of positives against negatives from that of labeled against unlabeled (Eq. 4).

    AUC = ½ + (AUC_pu − ½) / (ρ − α). Arrays are broadcast.

    Parameters
    ----------
    auc_pu : float or array
        The AUC with every unlabeled case taken as negative.
    alpha : float or array in [0, 1)
        Share of positives among the unlabeled; not the prior of all rows.
    purity : float or array in (alpha, 1]
        Share of positives among the labeled.
    clip : bool
        Set what leaves [0, 1] to its nearer end, as in the paper. By default it is returned as it is, and
        says that a share is wrong or that noise is large.

    Returns
    -------
    float or array

    Examples
    --------
    >>> import halftruth as ht
    >>> round(ht.recover.auc(0.7, alpha=0.25, purity=0.75), 12)
    0.9
    >>> ht.recover.auc(0.9, alpha=0.5)
    1.3
    >>> ht.recover.auc(0.9, alpha=0.5, clip=True)
    1.0
    """
    alpha, purity = shares(alpha, purity)
    alpha, purity, observed = together(alpha=alpha, purity=purity, auc_pu=rate(auc_pu, "auc_pu"))
    out = 0.5 + (observed - 0.5) / (purity - alpha)  # Eq. 4
    return scalar(np.clip(out, 0.0, 1.0) if clip else out)


def rates(tpr_pu: ArrayLike, fpr_pu: ArrayLike, alpha: ArrayLike, purity: ArrayLike = 1.0) -> Rates:
    """True- and false-positive rate from those of labeled against unlabeled (Eqs. 1 and 2).

    Parameters
    ----------
    tpr_pu, fpr_pu : float or array
        Share of the labeled, and of the unlabeled, that is called positive.
    alpha, purity
        As in `auc`; arrays are broadcast.

    Returns
    -------
    Rates
        ``.tpr`` and ``.fpr``, raw: they leave [0, 1] by noise or where a share is wrong.

    Examples
    --------
    >>> import halftruth as ht
    >>> found = ht.recover.rates(0.65, 0.35, alpha=0.25, purity=0.75)
    >>> round(found.tpr, 12), round(found.fpr, 12)
    (0.8, 0.2)
    """
    alpha, purity = shares(alpha, purity)
    alpha, purity, observed_tpr, observed_fpr = together(
        alpha=alpha, purity=purity, tpr_pu=rate(tpr_pu, "tpr_pu"), fpr_pu=rate(fpr_pu, "fpr_pu")
    )
    # γ_pu − η_pu = (ρ − α)(γ − η): from here each rate is what is observed plus a multiple of γ − η.
    apart = (observed_tpr - observed_fpr) / (purity - alpha)
    tpr, fpr = np.broadcast_arrays(observed_tpr + (1 - purity) * apart, observed_fpr - alpha * apart)
    return Rates(tpr=scalar(tpr), fpr=scalar(fpr))


def precision(tpr: ArrayLike, fpr_pu: ArrayLike, alpha: ArrayLike) -> Number:
    """Precision among the unlabeled from the true recall (Eq. 3): α γ / η_pu.

    Parameters
    ----------
    tpr : float or array
        The recovered rate, `rates(...).tpr`; with pure labels the share of them that is found.
    fpr_pu : float or array
        Share of the unlabeled that is called positive.
    alpha : float or array in [0, 1)

    Returns
    -------
    float or array
        NaN where nothing is called positive.

    Examples
    --------
    >>> import halftruth as ht
    >>> round(ht.recover.precision(0.8, 0.35, alpha=0.25), 12)
    0.571428571429
    """
    alpha = within(alpha, "alpha", ALPHA, open_at_one=True)
    return scalar(ratio(alpha * numbers(tpr, "tpr"), numbers(fpr_pu, "fpr_pu")))


def precision_from_pu(
    precision_pu: ArrayLike, alpha: ArrayLike, purity: ArrayLike = 1.0, *, labeled_share: ArrayLike
) -> Number:
    """Precision among the unlabeled from that of labeled against unlabeled.

    The same number as `precision`, where only the precision was kept.

    Parameters
    ----------
    precision_pu : float or array
        Share of labeled cases among all that are called positive.
    alpha, purity
        As in `auc`; arrays are broadcast.
    labeled_share : float or array in (0, 1)
        Share of labeled cases among all, n_L / (n_L + n_U).

    Returns
    -------
    float or array
        NaN where only labeled cases are called positive.

    Examples
    --------
    >>> import halftruth as ht
    >>> found = ht.recover.precision_from_pu(0.65 / (0.65 + 3 * 0.35), 0.25, 0.75, labeled_share=0.25)
    >>> round(found, 12)
    0.571428571429
    """
    alpha, purity = shares(alpha, purity)
    c = within(labeled_share, "labeled_share", "Pass n_L / (n_L + n_U).", open_at_one=True)
    if (c == 0).any():
        raise InputError(
            argument="labeled_share", must="lie in (0, 1)", got="0", remedy="Pass n_L / (n_L + n_U)."
        )
    alpha, purity, c, observed = together(
        alpha=alpha, purity=purity, labeled_share=c, precision_pu=rate(precision_pu, "precision_pu")
    )
    # The odds of a labeled case among those called positive are c γ_pu : (1−c) η_pu. Their ratio γ_pu/η_pu is
    # the lift, and Eqs. 1 and 3 in terms of it leave the rates themselves out.
    lift = (1 - c) / c * ratio(observed, 1 - observed)
    return scalar(alpha * ((1 - alpha) * lift - (1 - purity)) / (purity - alpha))


def observed_auc(auc: ArrayLike, alpha: ArrayLike, purity: ArrayLike = 1.0) -> Number:
    """The inverse of `auc`: what labeled against unlabeled shows."""
    alpha, purity = shares(alpha, purity)
    return scalar(0.5 + (purity - alpha) * (numbers(auc, "auc") - 0.5))


def shares(alpha: ArrayLike, purity: ArrayLike) -> tuple[Vector, Vector]:
    """α in [0, 1) and ρ in (0, 1] as arrays, ρ above α."""
    alpha = within(alpha, "alpha", ALPHA, open_at_one=True)
    purity = within(purity, "purity", _checks.SHARES["purity"])
    wide = together(alpha=alpha, purity=purity)
    if (wrong := wide[1] <= wide[0]).any():
        a, p = (float(values[wrong].flat[0]) for values in wide)
        raise InputError(
            argument="purity",
            must=f"exceed {arg('alpha')}",
            got=f"purity={p:g} and alpha={a:g}: the labeled are then no richer in positives than the "
            "unlabeled, and their labels say nothing",
            remedy="Check which share is which.",
        )
    return alpha, purity


def together(**arrays: Vector) -> list[Vector]:
    """Arrays of one shape, numbers among them repeated."""
    try:
        return list(np.broadcast_arrays(*arrays.values()))
    except ValueError:
        shapes = ", ".join(f"`{name}` {array.shape}" for name, array in arrays.items())
        raise InputError(
            f"Arrays must be of shapes that go together, got {shapes}. Pass one number for each, or arrays "
            f"of one shape."
        ) from None


def rate(value: ArrayLike, name: str) -> Vector:
    """Shares in [0, 1]; NaN stays, as the rate of an empty class."""
    out = numbers(value, name)
    _refuse(out, (out < -ROUNDING) | (out > 1 + ROUNDING), name, "[0, 1]", "Pass a share, not a percentage.")
    return out


def within(value: ArrayLike, name: str, advice: str, *, open_at_one: bool = False) -> Vector:
    """Shares in [0, 1], perhaps without 1."""
    out = numbers(value, name)
    inside = (out >= 0) & ((out < 1) if open_at_one else (out <= 1))  # NaN is not
    _refuse(out, ~inside, name, "[0, 1)" if open_at_one else "[0, 1]", advice)
    return out


def _refuse(out: Vector, wrong: NDArray[np.bool_], name: str, interval: str, remedy: str) -> None:
    if wrong.any():
        got = f"{float(out[wrong].flat[0]):g}"
        raise InputError(argument=name, must=f"lie in {interval}", got=got, remedy=remedy)


def numbers(value: ArrayLike, name: str) -> Vector:
    """Real numbers of any shape; NaN stays, as the rate of an empty class."""
    array = _checks.native(value, name)
    if array.dtype.kind not in "fiu":
        remedy = "Pass a number or an array of them."
        raise InputError(argument=name, must="hold real numbers", got=repr(value), remedy=remedy)
    return np.asarray(array, dtype=np.float64)
