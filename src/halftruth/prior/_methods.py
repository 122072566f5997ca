"""The estimators of the prior by name, and what each of them rests on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from halftruth._errors import InputError, arg
from halftruth.prior._samples import Fit, Samples
from halftruth.prior.estimators import (
    _alphamax,
    _auto,
    _dedpul,
    _elkan_noto,
    _kernel_mean,
    _mixture,
    _roc_slope,
    _tice,
)

__all__ = ["METHODS", "RESAMPLES", "SAMPLE", "Method", "get_method"]

SCAR = "the known positives are a random sample of the positives"
PROPENSITIES = "the propensities given are right"
# What a method assumes besides, of the shapes of the classes.
IRREDUCIBLE = (
    "and some scores are reached by positives only (irreducibility); where negatives lie among all "
    "positives it lands above the truth, at the upper end of what the data allow"
)
SEPARABLE = "and the classes do not overlap; where they do it lands above the truth"
TILT = "and the classes' scores differ by an exponential tilt: α is identified by that form alone"
SHAPES = (
    "and negatives overlap them in one of the usual ways; its interval can be trusted where some "
    "scores are reached by positives only, and is too high where part of the negatives looks like them"
)
NEGATIVES = "and the known negatives a random sample of the negatives; nothing else"
SAMPLE = "the labeled cases are a random sample of the unlabeled; nothing else"

RESAMPLES = 500


@dataclass(frozen=True, kw_only=True)
class Method:
    """One estimator."""

    name: str
    fit: Callable[[Samples, np.random.Generator], Fit]
    shapes: str
    """What it assumes of the classes' scores, besides how the known positives came about."""
    paper: str
    fit_features: Callable[..., Fit] | None = None
    """Of known positives' and unlabeled rows' features, for estimators that need no scores."""
    needs_negatives: bool = False
    consistent: bool = True
    """Whether it converges to α wherever some scores are reached by positives only, however abruptly."""
    n_resamples: int = RESAMPLES
    """By default, for its interval."""

    @property
    def assumption(self) -> str:
        """What it rests on where the known positives are a random sample."""
        return self.assumption_with(negatives=False, propensities=False)

    def assumption_with(self, *, negatives: bool, propensities: bool) -> str:
        """What it rests on; EM is another estimator where there are known negatives."""
        shapes = NEGATIVES if negatives and self.name == "em" else self.shapes
        return f"{PROPENSITIES if propensities else SCAR}, {shapes}"


def _seedless(fit: Callable[..., Fit], **settings: Any) -> Callable[[Samples, np.random.Generator], Fit]:
    return lambda samples, rng: fit(samples, **settings)


def _seeded(fit: Callable[..., Fit], **settings: Any) -> Callable[[Samples, np.random.Generator], Fit]:
    return lambda samples, rng: fit(samples, rng=rng, **settings)


_ALL = (
    Method(name="auto", fit=_seeded(_auto.fit_auto), shapes=SHAPES, paper="ours"),
    Method(
        name="alphamax",
        fit=_seedless(_alphamax.fit_alphamax),
        shapes=IRREDUCIBLE,
        paper="Jain, White, Trosset, Radivojac 2016",
    ),
    Method(
        name="bbe",
        fit=_seedless(_roc_slope.fit_bbe),
        shapes=IRREDUCIBLE,
        paper="Garg, Wu, Smola, Balakrishnan, Lipton 2021",
    ),
    Method(
        name="bbe-corrected",
        fit=_seedless(_roc_slope.fit_bbe_corrected),
        shapes=IRREDUCIBLE,
        paper="ours, after Garg et al. 2021",
    ),
    Method(
        name="dedpul",
        fit=_seedless(_dedpul.fit_dedpul),
        shapes=IRREDUCIBLE,
        paper="Ivanov 2020",
        consistent=False,
    ),
    Method(
        name="km1",
        fit=_seeded(_kernel_mean.fit_km, form="km1"),
        fit_features=partial(_kernel_mean.fit_km_features, form="km1"),
        shapes=IRREDUCIBLE,
        paper="Ramaswamy, Scott, Tewari 2016",
        consistent=False,
        n_resamples=100,
    ),
    Method(
        name="km2",
        fit=_seeded(_kernel_mean.fit_km, form="km2"),
        fit_features=partial(_kernel_mean.fit_km_features, form="km2"),
        shapes=IRREDUCIBLE,
        paper="Ramaswamy, Scott, Tewari 2016",
        consistent=False,
        n_resamples=100,
    ),
    Method(
        name="tice",
        fit=_seedless(_tice.fit_tice),
        fit_features=_tice.fit_tice_features,
        shapes=IRREDUCIBLE,
        paper="Bekker, Davis 2018",
    ),
    Method(
        name="elkan-noto",
        fit=_seedless(_elkan_noto.fit_elkan_noto, form="mean"),
        shapes=SEPARABLE,
        paper="Elkan, Noto 2008",
        consistent=False,
    ),
    Method(
        name="elkan-noto-ratio",
        fit=_seedless(_elkan_noto.fit_elkan_noto, form="ratio"),
        shapes=SEPARABLE,
        paper="Elkan, Noto 2008",
        consistent=False,
    ),
    Method(
        name="roc-slope",
        fit=_seedless(_roc_slope.fit_roc_slope),
        shapes=IRREDUCIBLE,
        paper="Blanchard, Lee, Scott 2010",
    ),
    Method(
        name="roc-curve",
        fit=_seedless(_roc_slope.fit_roc_curve),
        shapes=IRREDUCIBLE,
        paper="Sanderson, Scott 2014",
        consistent=False,
    ),
    Method(
        name="em",
        fit=_seedless(_mixture.fit_em),
        shapes=TILT,
        paper="Saerens, Latinne, Decaestecker 2002; Ward et al. 2009",
        consistent=False,
    ),
    Method(
        name="divergence",
        fit=_seeded(_kernel_mean.fit_divergence),
        fit_features=_kernel_mean.fit_divergence_features,
        shapes=IRREDUCIBLE,
        paper="du Plessis, Niu, Sugiyama 2015",
        consistent=False,
    ),
    Method(
        name="mixture",
        fit=_seedless(_mixture.fit_mixture),
        shapes=NEGATIVES,
        paper="ours",
        needs_negatives=True,
    ),
)
METHODS: Mapping[str, Method] = {method.name: method for method in _ALL}


def get_method(name: Any, *, also: str = "") -> Method:
    """The method of this name, or an error that names them all."""
    if not isinstance(name, str) or name not in METHODS:
        raise InputError(f"{arg('method')} must be one of {', '.join(METHODS)}{also}; got {name!r}.")
    return METHODS[name]
