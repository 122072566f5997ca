"""Generators whose every metric is known exactly: data to try, truths to test against.

Examples
--------
>>> from halftruth.simulate import GaussianClasses
>>> model = GaussianClasses(prior=0.3, separation=2.0)
>>> round(model.truth("roc_auc"), 5)
0.92135
>>> model.draw(4, rng=0).score.shape
(4,)
"""

from __future__ import annotations

from halftruth.simulate._draws import Draw, Strata
from halftruth.simulate._gaussian_classes import GaussianClasses, logistic_model
from halftruth.simulate._truths import TRUTH_NAMES
from halftruth.simulate._vote_mixture import VoteDraw, VoteMixture

__all__ = ["TRUTH_NAMES", "Draw", "GaussianClasses", "Strata", "VoteDraw", "VoteMixture", "logistic_model"]
