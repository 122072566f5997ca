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

from halftruth.simulate.draw import Draw
from halftruth.simulate.gaussian import GaussianClasses, logistic_model
from halftruth.simulate.gaussian_pair import GaussianPair, bayes_setups
from halftruth.simulate.label_noise import noisy_labels, noisy_plug_in
from halftruth.simulate.strata import Strata
from halftruth.simulate.truth import TRUTH_NAMES
from halftruth.simulate.vote_mixture import VoteDraw, VoteMixture

__all__ = [
    "TRUTH_NAMES",
    "Draw",
    "GaussianClasses",
    "GaussianPair",
    "Strata",
    "VoteDraw",
    "VoteMixture",
    "bayes_setups",
    "logistic_model",
    "noisy_labels",
    "noisy_plug_in",
]
