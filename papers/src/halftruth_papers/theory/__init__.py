"""What the papers prove besides `halftruth.theory`: of scores learned from the same rows, of bins and rows.

Examples
--------
>>> from halftruth_papers import theory
>>> theory.best_bins(1_000, 10_000, 0.5, lipschitz=1.5).n_bins
20
"""

from __future__ import annotations

from halftruth.theory import Bound, bias_bound, optimal_bins, prior_error_bound
from halftruth_papers.theory._bin_numbers import (
    BestBins,
    best_bins,
    bias_rate,
    bpm_sample_size,
    generalization_rate,
    histogram_sample_size,
    optimal_bins_of_labels,
)
from halftruth_papers.theory._learner_information import (
    Information,
    fcmi_finite,
    fcmi_grid,
    fcmi_of_learner,
    fcmi_vc,
    generalization_bound,
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
