"""Calibration error without bins or widths: the running sum of the residuals."""

from __future__ import annotations

import numpy as np

from halftruth import _checks
from halftruth.measure._score_measure import Number, as_measure, ratio
from halftruth.metrics._record import distance

STATISTICS = ("ks", "kuiper")


@distance(
    aliases=("ks",),
    formula='max over t of abs(gap[s ≤ t]) / n; `statistic="kuiper"`: its range',
    paper="Gupta et al. 2021",
)
def ks_calibration_error(evidence: object, statistic: str = "ks") -> Number:
    """Largest gap between what the scores claim and what happens, over all scores up to a limit.

    max over t of |∫_{s ≤ t} (s dμ − dμ₁)| / μ(all): no bins and no width to choose. It never exceeds the
    calibration error of the distinct scores, E|P(Y=1 | s) − s|, and equals it where the scores are all too
    high or all too low.

    Parameters
    ----------
    evidence : evidence or ScoreMeasure
        Scores must be probabilities.
    statistic : {"ks", "kuiper"}
        "ks" takes the running sum furthest from 0 (Gupta et al. 2021); "kuiper" its range from the lowest to
        the highest point, 0 included, which sees a gap in the middle of the scores as well as one at an end.

    Notes
    -----
    Cases of one score enter together. With a calibrated model the value is noise of order n^(−1/2).

    Examples
    --------
    >>> import halftruth as ht
    >>> evidence = ht.Labeled([0, 1, 1, 1], [0.25, 0.25, 0.75, 0.75])
    >>> ht.ks_calibration_error(evidence)
    0.25
    >>> ht.ks_calibration_error(ht.Labeled([1, 1, 0, 0], [0.25, 0.25, 0.75, 0.75]), statistic="kuiper")
    0.375
    """
    _checks.choice(statistic, "statistic", STATISTICS)
    measure = as_measure(evidence)
    measure.need_probabilities("KS calibration error")
    low, high = measure.gap_extremes()
    furthest = np.maximum(high, 0.0 - low) if statistic == "ks" else high - low
    return measure.result(ratio(furthest, measure.total))
