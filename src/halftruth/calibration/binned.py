"""Binned calibration error from any evidence."""

from __future__ import annotations

import numpy as np

from halftruth.calibration.bins import binned, number_of_bins
from halftruth.errors import InputError
from halftruth.measure import Number, as_measure, ratio


def calibration_error(
    evidence: object,
    n_bins: int | str = "optimal",
    binning: str = "mass",
    norm: float | str = 1,
) -> Number:
    """Expected calibration error over bins: Σ_b |μ₁(bin) − ∫_bin s dμ| / μ(all) for norm 1.

    Parameters
    ----------
    evidence : evidence or ScoreMeasure
        Scores must be probabilities.
    n_bins : int or "optimal"
        "optimal" is ⌈(π²/n_P + 1/n_U)^(−1/3)⌉ from positives and unlabeled, ⌈n^(1/3)⌉ from labels.
    binning : {"mass", "width"}
        Bins (u_{b−1}, u_b] of equal population mass (u_b an order statistic) or of equal width.
    norm : 1, 2 or "max"
        Mean absolute, root mean square, or largest gap between mean label and mean score.

    Notes
    -----
    The plug-in estimate: biased upwards, by the noise within bins, when the scores are well calibrated.

    Examples
    --------
    >>> import halftruth as ht
    >>> round(ht.calibration_error(ht.Labeled([1, 0, 1, 1], [0.2, 0.2, 0.9, 0.9]), n_bins=2), 12)
    0.2
    """
    measure = as_measure(evidence)
    measure.need_probabilities("Calibration error")
    if norm not in (1, 2, "max"):
        raise InputError(f'`norm` must be 1, 2 or "max", got {norm!r}.')
    bins = binned(measure, number_of_bins(measure, n_bins), binning)
    gap, mass = np.abs(bins.gap), bins.mass
    if norm == 1:
        return measure.result(ratio(gap.sum(axis=-1), measure.total))
    each = np.where(mass == 0, 0.0, ratio(gap, mass))
    if norm == "max":
        return measure.result(np.where(measure.total == 0, np.nan, each.max(axis=-1)))
    return measure.result(np.sqrt(ratio((each**2 * mass).sum(axis=-1), measure.total)))
