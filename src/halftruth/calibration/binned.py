"""Binned calibration error from any evidence."""

from __future__ import annotations

import numpy as np

from halftruth._errors import InputError
from halftruth.calibration.debiased import corrected, enough_bins, posterior
from halftruth.measure._score_measure import Number, ScoreMeasure, as_measure, ratio
from halftruth.metrics._record import distance


@distance(
    title="Calibration error",
    meaning="how far scores lie from frequencies; lower is better",
    aliases=("ece",),
    formula="Σ over bins of abs(gap) / n; bins of equal mass or width, norms 1, 2, max; `debias=`",
    paper="Naeini, Cooper & Hauskrecht 2015; Kiryo, Futami & Sugiyama",
    default=True,
    unit_laws=False,
    certificate="own",
)
def calibration_error(
    evidence: object,
    n_bins: int | str = "optimal",
    binning: str = "mass",
    norm: float | str = 1,
    debias: bool | str = False,
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
    debias : bool, "corrected" or "posterior"
        False: the plug-in estimate, which noise within bins inflates: a perfectly calibrated model has
        an error too. "corrected": less what noise adds to each bin (Ferro and Fricker's for norm 2, Kumar's
        for norm 1). "posterior": the error expected if the gaps are a smooth signal with noise; from
        positives and unlabeled it is nearest to the true calibration error where that signal does not change
        its sign many times. True: "corrected" where all rows have labels, else "posterior". The latter takes
        half as many bins more by default, from 8 to 40; bins of equal mass suit it best.

    Notes
    -----
    With few known positives the plug-in estimate is mostly noise, and more bins make it worse. "posterior"
    never quite reaches 0: few rows cannot show that nothing is wrong. Whole weights count rows; of others
    only the proportions matter. The noise is that of a given prior: the error of one that is estimated, or
    identified by known negatives, is in the interval of `evaluate` but is not taken off.

    Examples
    --------
    >>> import halftruth as ht
    >>> round(ht.calibration_error(ht.Labeled([1, 0, 1, 1], [0.2, 0.2, 0.9, 0.9]), n_bins=2), 12)
    0.2
    """
    measure = as_measure(evidence)
    measure.need_probabilities("Calibration error")
    if isinstance(norm, bool) or norm not in (1, 2, "max"):
        raise InputError(argument="norm", must='be 1, 2 or "max"', got=repr(norm))
    how = _remedy(debias, measure, norm)
    number = measure.number_of_bins(n_bins)
    if how == "posterior" and isinstance(n_bins, str):
        number = enough_bins(measure.size)
    bins = measure.in_bins(number, binning)
    if how is not None:
        value = posterior(bins, norm) if how == "posterior" else corrected(bins, norm)
        return measure.result(np.where(measure.total == 0, np.nan, value))
    gap, mass = np.abs(bins.gap), bins.mass
    if norm == 1:
        return measure.result(ratio(gap.sum(axis=-1), measure.total))
    each = np.where(mass == 0, 0.0, ratio(gap, mass))
    if norm == "max":
        return measure.result(np.where(measure.total == 0, np.nan, each.max(axis=-1)))
    return measure.result(np.sqrt(ratio((each**2 * mass).sum(axis=-1), measure.total)))


def _remedy(debias: bool | str, measure: ScoreMeasure, norm: float | str) -> str | None:
    """How noise is taken off; None where it is not."""
    if isinstance(debias, (bool, np.bool_)):
        if not debias:
            return None
        debias = "corrected" if measure.labeled and norm != "max" else "posterior"
    if debias not in ("corrected", "posterior"):
        raise InputError(
            argument="debias", must='be True, False, "corrected" or "posterior"', got=repr(debias)
        )
    if debias == "corrected" and norm == "max":
        raise InputError('`debias`="corrected" knows norms 1 and 2, got "max". Pass debias="posterior".')
    return debias


@distance(
    aliases=("ace",),
    formula="mean over bins of equal mass of abs(gap) / μ(bin), each bin alike",
    paper="Nixon et al. 2019",
    unit_laws=False,
)
def adaptive_calibration_error(evidence: object, n_bins: int | str = 15) -> Number:
    """ACE: the mean over bins of equal mass of |mean label − mean score|, each bin alike.

    Parameters
    ----------
    evidence : evidence or ScoreMeasure
        Scores must be probabilities.
    n_bins : int or "optimal"
        As in `calibration_error`. Bins that ties leave empty do not count.

    Examples
    --------
    >>> import halftruth as ht
    >>> evidence = ht.Labeled([1, 0, 1, 1], [0.2, 0.2, 0.9, 0.9])
    >>> round(ht.adaptive_calibration_error(evidence, n_bins=2), 12)
    0.2
    """
    measure = as_measure(evidence)
    measure.need_probabilities("Calibration error")
    bins = measure.in_bins(measure.number_of_bins(n_bins), "mass")
    held = bins.mass > 0
    each = np.where(held, ratio(np.abs(bins.gap), bins.mass), 0.0)
    return measure.result(ratio(each.sum(axis=-1), held.sum(axis=-1)))


@distance(
    aliases=("mce",),
    formula="largest abs(gap) / μ(bin) over the bins",
    paper="Naeini, Cooper & Hauskrecht 2015",
    unit_laws=False,
)
def maximum_calibration_error(
    evidence: object, n_bins: int | str = "optimal", binning: str = "mass"
) -> Number:
    """MCE: the largest |mean label − mean score| of a bin.

    Parameters
    ----------
    evidence : evidence or ScoreMeasure
        Scores must be probabilities.
    n_bins : int or "optimal"
    binning : {"mass", "width"}
        As in `calibration_error`, whose norm "max" this is.

    Examples
    --------
    >>> import halftruth as ht
    >>> evidence = ht.Labeled([1, 0, 1, 1], [0.2, 0.2, 0.9, 0.9])
    >>> round(ht.maximum_calibration_error(evidence, n_bins=2), 12)
    0.3
    """
    return calibration_error(evidence, n_bins, binning, "max")
