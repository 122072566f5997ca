"""What estimated shares make of an AUC: where it is possible, where right, and how wrong it is elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from halftruth import _checks
from halftruth._checks import Vector
from halftruth.measure._score_measure import Number, ratio, scalar
from halftruth.recover import _formulas

__all__ = ["ErrorMap", "Landmarks", "Line", "error_map", "estimated_auc", "landmarks", "region"]

FEASIBLE, REVERSED, INFEASIBLE = "feasible", "reversed", "infeasible"


def region(auc_pu: ArrayLike, alpha: ArrayLike, purity: ArrayLike) -> str | NDArray[np.str_]:
    """Whether shares (α̂, ρ̂) make a possible AUC of one of labeled against unlabeled.

    Parameters
    ----------
    auc_pu : float or array
    alpha, purity : float or array in [0, 1]
        Any pair, also with purity ≤ alpha. Arrays are broadcast.

    Returns
    -------
    str or array of str
        "feasible": purity > alpha, and the recovered AUC lies in [0, 1]. "reversed": it does too, but with
        purity < alpha, the unlabeled richer in positives than the labeled, so that the ranking is turned
        round. "infeasible": it lies outside [0, 1], or purity = alpha and there is none.

    Examples
    --------
    >>> region(0.7, alpha=0.25, purity=[0.75, 0.5, 0.25]).tolist()
    ['feasible', 'infeasible', 'infeasible']
    >>> region(0.7, alpha=0.9, purity=0.1)
    'reversed'
    """
    alpha = _formulas.within(alpha, "alpha", _formulas.ALPHA)
    purity = _formulas.within(purity, "purity", _checks.SHARES["purity"])
    gap, recovered = np.broadcast_arrays(purity - alpha, estimated_auc(auc_pu, alpha, purity))
    possible = (recovered >= 0) & (recovered <= 1)
    out = np.where(possible, np.where(gap > 0, FEASIBLE, REVERSED), INFEASIBLE)
    return str(out) if out.ndim == 0 else out


def estimated_auc(auc_pu: ArrayLike, alpha: ArrayLike, purity: ArrayLike) -> Vector:
    """Eq. 4 for any pair of shares; NaN where they are equal."""
    gap = np.asarray(purity, dtype=np.float64) - np.asarray(alpha, dtype=np.float64)
    return np.asarray(0.5 + ratio(_formulas.numbers(auc_pu, "auc_pu") - 0.5, gap))


@dataclass(frozen=True, kw_only=True)
class Line:
    """The pairs ρ̂ = α̂ + offset, on which the recovered AUC is ``auc``."""

    auc: float
    offset: float

    def purity(self, alpha: ArrayLike) -> Number:
        """ρ̂ at α̂; NaN where it is no share."""
        out = _formulas.numbers(alpha, "alpha") + self.offset
        return scalar(np.where((out >= 0) & (out <= 1), out, np.nan))

    @property
    def ends(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Where the line enters and leaves the unit square, as (α̂, ρ̂)."""
        low, high = max(0.0, -self.offset), min(1.0, 1.0 - self.offset)
        return (low, low + self.offset), (high, high + self.offset)


@dataclass(frozen=True, kw_only=True)
class Landmarks:
    """Where estimated shares give an AUC that means something, with the true shares and AUC.

    Attributes
    ----------
    auc_pu : float
        The AUC of labeled against unlabeled, which (α̂, ρ̂) = (0, 1) leaves as it is and (1, 0) turns round.
    right : Line
        The true AUC: it takes only ρ̂ − α̂ to be right.
    one, zero : Line
        An AUC of 1 and of 0; between these lines it is impossible.
    reversed : Line
        One minus the true AUC.
    """

    auc_pu: float
    right: Line
    one: Line
    zero: Line
    reversed: Line

    @property
    def lines(self) -> dict[str, Line]:
        """All of them, by what the recovered AUC is there, from the upper left down."""
        return {"AUC": self.right, "1": self.one, "0": self.zero, "1 − AUC": self.reversed}


def landmarks(auc: float, alpha: float, purity: float = 1.0) -> Landmarks:
    """The lines of (α̂, ρ̂) on which the recovered AUC is right, 1, 0, or turned round.

    Parameters
    ----------
    auc : float in [0, 1]
        The true AUC.
    alpha, purity : float
        The true shares.

    Returns
    -------
    Landmarks

    Examples
    --------
    >>> found = landmarks(0.9, alpha=0.25, purity=0.75)
    >>> round(found.auc_pu, 12), round(found.one.offset, 12)
    (0.7, 0.4)
    """
    gap, auc = _gap(alpha, purity), _auc(auc)
    # Eq. 4 with AUC_pu − ½ = gap · (AUC − ½) is 1 where ρ̂ − α̂ = gap · (2 AUC − 1), and 0 where it is −1 times
    # that.
    edge = gap * (2 * auc - 1)
    return Landmarks(
        auc_pu=float(_formulas.observed_auc(auc, alpha, purity)),
        right=Line(auc=auc, offset=gap),
        one=Line(auc=1.0, offset=edge),
        zero=Line(auc=0.0, offset=-edge),
        reversed=Line(auc=1 - auc, offset=-gap),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class ErrorMap:
    """Recovered AUCs over a grid of estimated shares.

    Attributes
    ----------
    alpha, purity : (n,) arrays
        The estimates α̂, along columns, and ρ̂, along rows.
    auc : (n, n) array
        Recovered, raw; NaN where ρ̂ = α̂.
    region : (n, n) array of str
        As by `region`.
    error : (n, n) array
        How far it is from the truth; NaN where it is infeasible.
    """

    alpha: Vector
    purity: Vector
    auc: Vector
    region: NDArray[np.str_]
    error: Vector


def error_map(auc: float, alpha: float, purity: float = 1.0, *, n_points: int = 101) -> ErrorMap:
    """How wrong the recovered AUC is at every pair of estimated shares.

    Parameters
    ----------
    auc, alpha, purity : float
        The truth.
    n_points : int
        Of each estimate, even from 0 to 1.

    Returns
    -------
    ErrorMap

    Examples
    --------
    >>> found = error_map(0.9, alpha=0.25, purity=0.75, n_points=5)
    >>> found.error[3].round(3)  # ρ̂ = 0.75, α̂ = 0, ¼, …
    array([0.133, 0.   ,   nan,   nan,   nan])
    """
    share = np.linspace(0, 1, _checks.count(n_points, "n_points", least=2))
    _gap(alpha, purity)
    auc_pu = float(_formulas.observed_auc(_auc(auc), alpha, purity))
    recovered = estimated_auc(auc_pu, share, share[:, None])
    where = np.asarray(region(auc_pu, share, share[:, None]))
    error = np.where(where == INFEASIBLE, np.nan, np.abs(recovered - auc))
    return ErrorMap(alpha=share, purity=share, auc=recovered, region=where, error=error)


def _gap(alpha: float, purity: float) -> float:
    a, p = _formulas.shares(_checks.number(alpha, "alpha"), _checks.number(purity, "purity"))
    return float(p - a)


def _auc(auc: float) -> float:
    _checks.number(auc, "auc")
    return _checks.inside(auc, "auc", 0.0, 1.0, closed="both", advice="Pass the true area.")
