"""What the user believes of α, as numbers of latent positives, and the confidence left for the ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from halftruth import _checks
from halftruth._errors import InputError
from halftruth.evidence import PositiveUnlabeled
from halftruth.table._score_table import UNLABELED


@dataclass(frozen=True, kw_only=True)
class Believed:
    """The numbers of latent positives that are allowed, from ``low`` to ``high``."""

    low: int
    high: int
    confidence_level: float
    """Of the band: what is left where α has an error of its own."""
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, evidence: PositiveUnlabeled, labeled_sample: Any, level: float) -> Believed:
        """From a prior (a number, a range, an estimate, nothing) or from a sample with labels."""
        n = len(evidence.table.strata[UNLABELED])
        halved = (1 + level) / 2
        if labeled_sample is not None:
            return cls._sampled(evidence, labeled_sample, n, halved)
        prior = evidence.prior
        if prior.value is None:
            return cls(low=0, high=n, confidence_level=level)
        if prior.replicates is not None:
            tails = np.quantile(prior.replicates, [(1 - halved) / 2, (1 + halved) / 2])
            low, high = np.clip(evidence.alpha_of(tails), 0, 1)
        else:
            low, high = evidence.alpha_ends()
        least, most = max(_up(low * n), 0), min(_down(high * n), n)
        notes: tuple[str, ...] = ()
        if least > most or (low == high and least != most):
            least = most = round((low + high) / 2 * n)
            share = f"α = {low:.4g}" if low == high else f"α from {low:.4g} to {high:.4g}"
            notes = (f"{share} of {n:,} unlabeled rows is no whole number of positives: taken as {least:,}.",)
        own = level if prior.estimate is None else halved
        return cls(low=least, high=most, confidence_level=own, notes=notes)

    @classmethod
    def _sampled(cls, evidence: PositiveUnlabeled, labeled_sample: Any, n: int, level: float) -> Believed:
        """The Beta limits of Clopper and Pearson, within what the labels found leave possible."""
        from scipy.special import betaincinv

        if evidence.prior.value is not None:
            raise InputError("Pass `prior` or `labeled_sample`, not both: each says what α can be.")
        found, drawn = _checks.labeled_sample(labeled_sample)
        if drawn > n:
            raise InputError(
                f"`labeled_sample` has {drawn} cases, and there are {n} unlabeled rows to draw them from. "
                f"Pass (positives, cases) of a random part of these."
            )
        missed, tail = drawn - found, (1 - level) / 2
        low = betaincinv(found, missed + 1, tail) if found else 0.0
        high = betaincinv(found + 1, missed, 1 - tail) if missed else 1.0
        return cls(
            low=max(_down(low * n), found), high=min(_up(high * n), n - missed), confidence_level=level
        )


def _up(number: float) -> int:
    return int(np.ceil(number - 1e-9))


def _down(number: float) -> int:
    return int(np.floor(number + 1e-9))
