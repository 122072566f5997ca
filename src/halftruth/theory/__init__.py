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

from halftruth.theory._calibration_bounds import Bound, bias_bound, optimal_bins, prior_error_bound

__all__ = ["Bound", "bias_bound", "optimal_bins", "prior_error_bound"]
