"""The estimators of the prior by name, and what each of them rests on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from halftruth import _checks
from halftruth._errors import InputError, arg
from halftruth.prior._samples import Fit, Samples
from halftruth.prior.estimators._alphamax import fit_alphamax
from halftruth.prior.estimators._auto import fit_auto
from halftruth.prior.estimators._dedpul import fit_dedpul
from halftruth.prior.estimators._elkan_noto import fit_elkan_noto
from halftruth.prior.estimators._kernel_mean import (
    fit_divergence,
    fit_divergence_features,
    fit_km,
    fit_km_features,
)
from halftruth.prior.estimators._mixture import fit_em, fit_mixture
from halftruth.prior.estimators._roc_slope import fit_bbe, fit_bbe_corrected, fit_roc_curve, fit_roc_slope
from halftruth.prior.estimators._tice import fit_tice, fit_tice_features

__all__ = ["METHODS", "RESAMPLES", "SAMPLE", "Method", "get_method"]

SCAR = "the known positives are a random sample of the positives"
PROPENSITIES = "the propensities given are right"
# What a method assumes besides, of the shapes of the classes.
IRREDUCIBLE = (
    "and some scores are reached by positives only (irreducibility); where negatives lie among all "
    "positives it lands above the truth, at the upper end of what the data allow"
)
SEPARABLE = "and the classes do not overlap; where they overlap it lands above the truth"
TILT = "and the classes' scores differ by an exponential tilt: α is identified by that form alone"
SHAPES = (
    "and negatives overlap them in one of the usual ways; its interval can be trusted where some "
    "scores are reached by positives only, and is too high where part of the negatives looks like them"
)
NEGATIVES = "and the known negatives a random sample of the negatives; nothing else"
SAMPLE = "the labeled cases are a random sample of the unlabeled; nothing else"

RESAMPLES = 500


@dataclass(frozen=True)
class Method:
    """One estimator."""

    name: str
    fit: Callable[[Samples, np.random.Generator], Fit]
    shapes: str  # what it assumes of the classes' scores, besides how the known positives came about
    paper: str
    # Of known positives' and unlabeled rows' features, for estimators that need no scores.
    fit_features: Callable[..., Fit] | None = None
    needs_negatives: bool = False
    # Whether it converges to α wherever some scores are reached by positives only, however abruptly.
    consistent: bool = True
    n_resamples: int = RESAMPLES  # by default, for its interval

    @property
    def assumption(self) -> str:
        """What it rests on where the known positives are a random sample."""
        return self.assumption_with(negatives=False, propensities=False)

    def assumption_with(self, *, negatives: bool, propensities: bool) -> str:
        """What it rests on; EM is another estimator where there are known negatives."""
        shapes = NEGATIVES if negatives and self.name == "em" else self.shapes
        return f"{PROPENSITIES if propensities else SCAR}, {shapes}"

    def resamples(self, n_resamples: int | None) -> int:
        """How many the user wants, or as many as it has by default."""
        return self.n_resamples if n_resamples is None else _checks.count(n_resamples, "n_resamples", least=2)


def _plain(fit: Callable[..., Fit], **settings: Any) -> Callable[[Samples, np.random.Generator], Fit]:
    return lambda samples, rng: fit(samples, **settings)


def _seeded(fit: Callable[..., Fit], **settings: Any) -> Callable[[Samples, np.random.Generator], Fit]:
    return lambda samples, rng: fit(samples, rng=rng, **settings)


_ALL = (
    Method("auto", _seeded(fit_auto), SHAPES, "ours"),
    Method("alphamax", _plain(fit_alphamax), IRREDUCIBLE, "Jain, White, Trosset, Radivojac 2016"),
    Method("bbe", _plain(fit_bbe), IRREDUCIBLE, "Garg, Wu, Smola, Balakrishnan, Lipton 2021"),
    Method("bbe-corrected", _plain(fit_bbe_corrected), IRREDUCIBLE, "ours, after Garg et al. 2021"),
    Method("dedpul", _plain(fit_dedpul), IRREDUCIBLE, "Ivanov 2020", consistent=False),
    *(
        Method(
            form,
            _seeded(fit_km, form=form),
            IRREDUCIBLE,
            "Ramaswamy, Scott, Tewari 2016",
            fit_features=partial(fit_km_features, form=form),
            consistent=False,
            n_resamples=100,
        )
        for form in ("km1", "km2")
    ),
    Method("tice", _plain(fit_tice), IRREDUCIBLE, "Bekker, Davis 2018", fit_features=fit_tice_features),
    *(
        Method(name, _plain(fit_elkan_noto, form=form), SEPARABLE, "Elkan, Noto 2008", consistent=False)
        for name, form in (("elkan-noto", "mean"), ("elkan-noto-ratio", "ratio"))
    ),
    Method("roc-slope", _plain(fit_roc_slope), IRREDUCIBLE, "Blanchard, Lee, Scott 2010"),
    Method("roc-curve", _plain(fit_roc_curve), IRREDUCIBLE, "Sanderson, Scott 2014", consistent=False),
    Method(
        "em", _plain(fit_em), TILT, "Saerens, Latinne, Decaestecker 2002; Ward et al. 2009", consistent=False
    ),
    Method(
        "divergence",
        _seeded(fit_divergence),
        IRREDUCIBLE,
        "du Plessis, Niu, Sugiyama 2015",
        fit_features=fit_divergence_features,
        consistent=False,
    ),
    Method("mixture", _plain(fit_mixture), NEGATIVES, "ours", needs_negatives=True),
)
METHODS: Mapping[str, Method] = {method.name: method for method in _ALL}


def get_method(name: object, *, also: str = "") -> Method:
    """The method of this name, or an error that names them all."""
    if not isinstance(name, str) or name not in METHODS:
        raise InputError(f"{arg('method')} must be one of {', '.join(METHODS)}{also}; got {name!r}.")
    return METHODS[name]
