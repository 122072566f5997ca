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

from halftruth.simulate.binomial_process import BinomialProcess, binomial_processes, sinusoidal
from halftruth.simulate.curves import LogCurve, LogitCurve, LogRestCurve, WaveCurve
from halftruth.simulate.draw import Draw
from halftruth.simulate.gaussian import GaussianClasses, logistic_model
from halftruth.simulate.gaussian_pair import GaussianPair, bayes_setups
from halftruth.simulate.label_noise import noisy_labels, noisy_plug_in
from halftruth.simulate.limit import exact_measure, labeled_measure, positive_unlabeled_measure
from halftruth.simulate.mixture import LogitMixture
from halftruth.simulate.overlap import OverlapDraw, TwoClasses, prior_families
from halftruth.simulate.population import Population
from halftruth.simulate.strata import Strata
from halftruth.simulate.truth import TRUTH_NAMES
from halftruth.simulate.vote_mixture import VoteDraw, VoteMixture

__all__ = [
    "TRUTH_NAMES",
    "BinomialProcess",
    "Draw",
    "GaussianClasses",
    "GaussianPair",
    "LogCurve",
    "LogRestCurve",
    "LogitCurve",
    "LogitMixture",
    "OverlapDraw",
    "Population",
    "Strata",
    "TwoClasses",
    "VoteDraw",
    "VoteMixture",
    "WaveCurve",
    "bayes_setups",
    "binomial_processes",
    "exact_measure",
    "labeled_measure",
    "logistic_model",
    "noisy_labels",
    "noisy_plug_in",
    "positive_unlabeled_measure",
    "prior_families",
    "sinusoidal",
]
