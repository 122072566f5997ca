"""Simulated rankings with latent positives, and the tables of Claesen et al. without a band.

Areas here come from counts and closed forms, not from the package's metrics, so that its bounds are
held against something else.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from halftruth._checks import Vector
from halftruth.evidence import PositiveUnlabeled

AREA = 0.768
"""The true AUROC of the paper's simulated ranking; also used where the paper names none."""
SEARCH_STEP = 0.002


@dataclass(frozen=True, kw_only=True, eq=False)
class Ranking:
    """Scores by what is known of them: positives known and latent, negatives known and latent."""

    known: Vector
    latent: Vector
    negative: Vector
    known_negative: Vector

    @property
    def unlabeled(self) -> Vector:
        return np.append(self.latent, self.negative)

    @property
    def alpha(self) -> float:
        """The realised share of positives among the unlabeled."""
        return len(self.latent) / (len(self.latent) + len(self.negative))

    def evidence(self, alpha: float | tuple[float, float] | None = None) -> PositiveUnlabeled:
        """One table of all rows, with this share of positives among the unlabeled (default: the true)."""
        shares = np.array(self.alpha if alpha is None else alpha)
        n_unlabeled = len(self.latent) + len(self.negative)
        rows = len(self.known) + n_unlabeled + len(self.known_negative)
        prior = (len(self.known) + shares * n_unlabeled) / rows
        return PositiveUnlabeled(
            self.known,
            self.unlabeled,
            negative=self.known_negative if len(self.known_negative) else None,
            prior=tuple(prior.tolist()) if prior.ndim else float(prior),
            population="all",
        )

    def area(self) -> float:
        """The realised AUC of all rows."""
        return exact_area(np.append(self.known, self.latent), np.append(self.negative, self.known_negative))


def separation(area: float) -> float:
    """Between two normal classes of equal variance 1, for this AUC.

    Examples
    --------
    >>> round(separation(0.76), 4)
    0.9989
    """
    from scipy.special import ndtri

    return float(np.sqrt(2) * ndtri(area))


def exact_area(positive: Vector, negative: Vector) -> float:
    """The share of pairs that stand in the right order, ties counted by half.

    Examples
    --------
    >>> exact_area(np.array([3.0, 1.0]), np.array([1.0, 0.0]))
    0.875
    """
    ascending = np.sort(negative)
    below = np.searchsorted(ascending, positive, side="left") + np.searchsorted(
        ascending, positive, side="right"
    )
    return float(below.mean() / (2 * len(negative)))


def draw(
    rng: np.random.Generator,
    n_known: int,
    n_latent: int,
    n_negative: int,
    n_known_negative: int = 0,
    *,
    area: float = AREA,
) -> Ranking:
    """Two normal classes of this AUC; the known are the first of the positives, who come in random order.

    Examples
    --------
    >>> draw(np.random.default_rng(0), 5, 10, 30).alpha
    0.25
    """
    positive = rng.normal(separation(area), 1, n_known + n_latent)
    negative = rng.normal(0, 1, n_negative + n_known_negative)
    return split(positive, negative, n_known, n_known_negative)


def split(positive: Vector, negative: Vector, n_known: int, n_known_negative: int = 0) -> Ranking:
    """The first of each class become known. Nested: who knows more also knows what others know."""
    return Ranking(
        known=positive[:n_known],
        latent=positive[n_known:],
        negative=negative[n_known_negative:],
        known_negative=negative[:n_known_negative],
    )


def with_area(
    rng: np.random.Generator, n_positive: int, n_negative: int, area: float = AREA
) -> tuple[Vector, Vector]:
    """Two normal classes whose realised AUC is as near to ``area`` as a shift between them can bring it.

    Examples
    --------
    >>> round(exact_area(*with_area(np.random.default_rng(0), 200, 1000)), 4)
    0.768
    """
    from scipy.optimize import brentq

    positive, negative = rng.normal(0, 1, n_positive), rng.normal(0, 1, n_negative)
    shift = brentq(lambda by: exact_area(positive + by, negative) - area, -10, 10, xtol=1e-9)
    return positive + shift, negative


def table_curve(known: Vector, unlabeled: Vector, alpha: float) -> tuple[Vector, Vector]:
    """FPR and TPR of the paper's tables (its Eq. 11), the known positives' own rank CDF being both bounds.

    Examples
    --------
    >>> fpr, tpr = table_curve(np.array([3.5]), np.array([4.0, 3.0, 2.0, 1.0]), 0.25)
    >>> fpr.round(3).tolist(), tpr.round(3).tolist()
    ([0.0, 0.333, 0.0, 0.333, 0.667, 1.0], [0.0, 0.0, 1.0, 1.0, 1.0, 1.0])
    """
    threshold = np.append(np.inf, np.unique(np.append(known, unlabeled))[::-1])
    n_known_above, head = (
        len(x) - np.searchsorted(np.sort(x), threshold, side="left") for x in (known, unlabeled)
    )
    latent = alpha * len(unlabeled)
    expected = n_known_above / len(known) * latent
    surrogates = np.clip(expected, np.maximum(0, latent - (len(unlabeled) - head)), np.minimum(head, latent))
    tpr = (n_known_above + surrogates) / (len(known) + latent)
    fpr = (head - surrogates) / (len(unlabeled) - latent)
    return fpr, tpr


def table_area(known: Vector, unlabeled: Vector, alpha: float) -> float:
    """AUC of `table_curve`.

    Where the surrogate positives fit on both sides of every rank this is (AUC_pu − α/2)/(1 − α), whatever the
    ranking: only where they do not can two rankings of one AUC_pu differ.

    Examples
    --------
    >>> known, unlabeled = np.array([4.5, 2.5]), np.array([5.0, 4.0, 3.0, 2.0, 1.0])
    >>> exact_area(known, unlabeled), round(table_area(known, unlabeled, 0.0), 12)
    (0.6, 0.6)
    """
    fpr, tpr = table_curve(known, unlabeled, alpha)
    return float(np.sum(np.diff(fpr) * (tpr[1:] + tpr[:-1]) / 2))


def formula_area(area_pu: float, alpha: float) -> float:
    """AUC from the AUC against the unlabeled, where no corner case meddles.

    Examples
    --------
    >>> round(formula_area(0.725, 0.1), 4)
    0.75
    """
    return (area_pu - alpha / 2) / (1 - alpha)


def highest_table_area(area_pu: float, alpha: float) -> float:
    """The most that `table_area` can be for a ranking of this AUC against the unlabeled.

    A share c of the positives lies below all of the unlabeled, the others as high as α lets them without
    the corner case above. There c + α(1 − c)²/2 = 1 − AUC_pu, and the corner case below adds αc²/(2(1 − α)).

    Examples
    --------
    >>> round(highest_table_area(0.725, 0.1), 4)
    0.7534
    """
    if alpha == 0:
        return area_pu
    # The smaller root of αc²/2 + (1 − α)c − (1 − AUC_pu − α/2) = 0.
    rest = 1 - area_pu - alpha / 2
    share = (np.sqrt((1 - alpha) ** 2 + 2 * alpha * rest) - (1 - alpha)) / alpha
    return float(formula_area(area_pu, alpha) + alpha * share**2 / (2 * (1 - alpha)))


def clustered(
    share: float, area_pu: float, *, at_top: bool, n_known: int, n_unlabeled: int
) -> tuple[Vector, Vector]:
    """Known positives and unlabeled of this AUC: a share of the positives above, or below, all of the others.

    Without chance: ranks are quantiles. The other positives lie evenly among the unlabeled of one part of the
    ranking, as near to the top as the AUC asks for.
    """
    unlabeled = (np.arange(n_unlabeled) + 0.5) / n_unlabeled
    n_cluster = round(share * n_known)
    n_rest = n_known - n_cluster
    mean = (area_pu * n_known - n_cluster * at_top) / n_rest
    width = 2 * min(mean, 1 - mean)
    even = (np.arange(n_rest) + 0.5) / n_rest * width
    rest = even if mean <= 0.5 else 1 - even
    cluster = np.arange(n_cluster) / max(n_cluster, 1)
    return np.append(1 + cluster if at_top else cluster - 1, rest), unlabeled


def matched(
    area_pu: float, corrected: float, alpha: float, *, n_known: int = 5_000, n_unlabeled: int = 45_000
) -> tuple[Vector, Vector]:
    """A ranking of AUC ``area_pu`` against the unlabeled, its `table_area` as near as can be to a wish.

    Above what the formula gives positives must cluster at the bottom, below it at the top.

    Examples
    --------
    >>> pair = matched(0.732, 0.747, 0.1, n_known=500, n_unlabeled=4500)
    >>> round(table_area(*pair, 0.0), 3), round(table_area(*pair, 0.1), 3)
    (0.732, 0.747)
    """
    at_top = corrected < formula_area(area_pu, alpha)
    shares = np.arange(0.0, 0.98 * (area_pu if at_top else 1 - area_pu), SEARCH_STEP)

    def miss(share: float) -> float:
        pair = clustered(share, area_pu, at_top=at_top, n_known=500, n_unlabeled=4_500)
        return abs(table_area(*pair, alpha) - corrected)

    best = min(shares.tolist(), key=miss)
    return clustered(best, area_pu, at_top=at_top, n_known=n_known, n_unlabeled=n_unlabeled)
