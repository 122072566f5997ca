"""Pictures of results, drawn by matplotlib: ``pip install 'halftruth[plot]'``.

Every function gives back a matplotlib Figure, shows nothing and leaves pyplot alone: save the figure with
``savefig``, or pass ``ax`` to draw into one of your own.

Examples
--------
>>> import halftruth as ht
>>> estimate = ht.PriorEstimate(value=0.3, low=0.25, high=0.33, upper=0.4)
>>> ht.figures.prior(estimate).axes[0].get_xlabel()
'α, the share of positives among the unlabeled'
"""

from __future__ import annotations

from halftruth.figures._model_figures import precision_recall, roc, scores
from halftruth.figures._prior_figures import prior, prior_and_purity, priors
from halftruth.figures._rank_bound_figures import curve_bounds, rank_band
from halftruth.figures._reliability_diagram import reliability
from halftruth.figures._sensitivity import sensitivity

__all__ = [
    "curve_bounds", "precision_recall", "prior", "prior_and_purity", "priors", "rank_band", "reliability",
    "roc", "scores", "sensitivity",
]  # fmt: skip
