"""Bounds that are proved: how far calibration errors from positives and unlabeled can be from the truth.

Each bound comes with the terms it is the sum of and says when it says nothing. At practical sizes it is often
larger than the calibration error itself; intervals are what `halftruth.evaluate` is for.

Examples
--------
>>> from halftruth import theory
>>> bound = theory.bias_bound(1_000, 10_000, 0.5, 20, lipschitz=1.5)
>>> round(bound.value, 3), bound.informative
(0.367, True)
"""

from __future__ import annotations

from halftruth.theory._bin_numbers import (
    BestBins,
    best_bins,
    bias_rate,
    bpm_sample_size,
    generalization_rate,
    histogram_sample_size,
    optimal_bins,
    optimal_bins_of_labels,
)
from halftruth.theory._calibration_bounds import Bound, bias_bound, generalization_bound, prior_error_bound
from halftruth.theory._learner_information import (
    Information,
    fcmi_finite,
    fcmi_grid,
    fcmi_of_learner,
    fcmi_vc,
)

__all__ = [
    "BestBins",
    "Bound",
    "Information",
    "best_bins",
    "bias_bound",
    "bias_rate",
    "bpm_sample_size",
    "fcmi_finite",
    "fcmi_grid",
    "fcmi_of_learner",
    "fcmi_vc",
    "generalization_bound",
    "generalization_rate",
    "histogram_sample_size",
    "optimal_bins",
    "optimal_bins_of_labels",
    "prior_error_bound",
]
