"""α from the label frequency c = P(labeled ∣ positive), read off g(x) = P(labeled ∣ x).

Elkan & Noto 2008, "Learning Classifiers from Only Positive and Unlabeled Data". Samples are two: n_P rows
of law f₁ and n_U rows of law α f₁ + (1 − α) f₀. Of all rows at x, the labeled are
g(x) = n_P f₁ / (n_P f₁ + n_U (α f₁ + (1 − α) f₀)). Where no negative lies, that is c = n_P / (n_P + α n_U),
so α = (n_P / n_U) (1 − c) / c. The same formula gives the α of the unlabeled rows if all come from one table
whose positives were labeled at random, since n_P and n_U are then simply the counts of its two kinds of rows.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from halftruth._checks import Vector
from halftruth.prior._samples import Curve, Fit, Samples

__all__ = ["fit_elkan_noto"]


def fit_elkan_noto(samples: Samples, *, form: Literal["mean", "ratio"] = "mean") -> Fit:
    """α from the mean of a calibrated g over the known positives.

    The isotonic regression of the label on the score gives g. In the sample it is too high at the positives,
    which raised it themselves. So each row is left out of its own pooled block: for a of n rows labeled, g is
    (a − 1)/(n − 1) at a positive and a/(n − 1) at an unlabeled row. The mean loses Σ g(1 − g)/n_P over
    blocks by that, Stein's count of the parameters of an isotonic fit. The value lies too high where the
    classes overlap, for g < c there, and more rows do not help.

    c is Σ g over the positives divided by n_P ("mean"), or by Σ g over all rows ("ratio"). For a g that is
    calibrated on these rows, as this one, the two agree, because Σ g over all rows is n_P. They are
    e₁ and e₂ of the paper; its third, the largest g, takes the noise of the highest scores for the answer.
    """
    labeled, rows = _blocks(samples.p * samples.n_positive, samples.u * samples.n_unlabeled)
    # The g of a positive and of an unlabeled row is that of the rest of its block; a lone row keeps its own.
    several, share = rows > 1, labeled / rows
    n_others = np.where(several, rows - 1, 1.0)
    at_positive = np.where(several, np.maximum(labeled - 1, 0) / n_others, share)
    at_unlabeled = np.where(several, np.minimum(labeled / n_others, 1), share)
    total = labeled @ at_positive  # Σ g over the positives, and with the unlabeled over all rows
    everywhere = total + (rows - labeled) @ at_unlabeled
    denominator = float(labeled.sum()) if form == "mean" else float(everywhere)
    c = float(total) / denominator if denominator > 0 else 0.0
    # c = n_P/(n_P + α n_U), solved for α.
    ratio = samples.n_positive / samples.n_unlabeled
    value = 1.0 if c <= 0 else min(1.0, ratio * max(0.0, 1 - c) / c)
    curve = Curve(
        x=share,
        y=np.minimum(np.cumsum(labeled) / labeled.sum(), 1.0),
        x_label="P(labeled ∣ score)",
        y_label="share of the positives with no more",
        chosen=c,
    )
    return Fit(value=value, curve=curve)


def _blocks(positive: Vector, unlabeled: Vector) -> tuple[Vector, Vector]:
    """Labeled rows and all rows of each block that the isotonic regression pools, ascending."""
    from sklearn.isotonic import isotonic_regression

    rows = positive + unlabeled
    present = rows > 0
    positive, rows = positive[present], rows[present]
    fitted = isotonic_regression(positive / rows, sample_weight=rows)
    start = np.append(0, np.flatnonzero(np.diff(fitted)) + 1)
    return np.add.reduceat(positive, start), np.add.reduceat(rows, start)
