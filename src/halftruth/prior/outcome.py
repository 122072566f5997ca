"""From fits to estimates: their replicates, their interval, and what the data refute."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from halftruth._errors import Note
from halftruth.prior._belief import Curve, PriorEstimate
from halftruth.prior.fit import Fit
from halftruth.prior.given import Given
from halftruth.prior.samples import Samples

FEW_POSITIVES = 20
UNTOLD = 0.97
"""Of all shares: where more than that is not refuted, the scores have said almost nothing."""
SAMPLE = "sample"
"""The method that takes a labeled random sample alone."""


def with_replicates(
    given: Given, fit: Callable[[Samples], tuple[Fit, ...]], n: int, rng: np.random.Generator
) -> list[Fit]:
    """The fits of all rows, with replicates from joined rows moved by what the joining changed."""
    fitted = fit(given.samples)
    values = np.asarray([[each.value for each in fit(samples)] for samples in given.resampled(n, rng)])
    near, replicates = values[0], values[1:]
    return [
        Fit(
            value=each.value,
            curve=each.curve,
            notes=each.notes,
            replicates=np.clip(replicates[:, k] + each.value - near[k], 0, 1),
        )
        for k, each in enumerate(fitted)
    ]


def result(
    fitted: Fit, given: Given, method: str, assumption: str, level: float, *, purity: Fit | None = None
) -> PriorEstimate:
    """The estimate as the user sees it: for the population, with what the data refute.

    ``purity``: where it was estimated too.
    """
    assert fitted.replicates is not None  # made or resampled before
    upper = given.upper(level)
    # The others take the known positives for pure: U = κ P + (1−κ) f₀ with κ = α/ρ.
    share = 1.0 if method in ("auto", SAMPLE) else given.purity
    value, replicates = (share * np.minimum(x, 1) for x in (fitted.value, fitted.replicates))
    notes = fitted.notes
    if method in (SAMPLE, "mixture"):
        notes = (Note("assumption", f"This estimate assumes that {assumption}."), *notes)
    else:
        within = f"Within that, this estimate assumes that {assumption}."
        text = f"The scores alone allow every α from 0 to {upper:.4g}. {within}"
        notes = (Note("assumption", text), *notes)
    if value > upper and method != SAMPLE:
        notes += (
            Note(
                "impossible",
                f"The estimate α = {value:.4g} is above what the data do not refute, {upper:.4g}: its "
                f"assumption fails here, or noise is large.",
            ),
        )
    notes += tuple(_remarks(given, upper))
    rho = (given.purity, given.purity) if purity is None else (purity.value, purity.replicates)
    replicates = given.of_population(replicates, rho[1])
    middle = float(given.of_population(float(value), rho[0]))
    tail = (1 - level) / 2
    low, high = np.quantile(replicates, [tail, 1 - tail], method="closest_observation")
    return PriorEstimate(
        value=middle,
        # At the edge of what is possible, resamples may all lie on one side of the estimate.
        low=min(float(low), middle),
        high=max(float(high), middle),
        upper=float(given.of_population(upper, rho[0] if purity is None else 1.0)),
        replicates=replicates,
        method=method,
        assumption=assumption,
        population=given.population,
        confidence_level=level,
        notes=notes,
        curve=_labeled(fitted.curve, given.purity) if share < 1 else fitted.curve,
    )


def _remarks(given: Given, upper: float) -> Iterator[Note]:
    """What makes an estimate weak, or suspect."""
    n = given.samples.n_positive
    if n < FEW_POSITIVES:
        yield Note("small_sample", f"Only {n:g} known positive(s): the estimate is rough.")
    if upper > UNTOLD * given.purity:
        yield Note(
            "identifiability",
            "The scores hardly tell the known positives from the unlabeled: nearly every α fits, and the "
            "estimate says little. Use scores that rank better.",
        )
    if given.positives_among_unlabeled:
        yield Note(
            "remark",
            "Every known positive's score also occurs among the unlabeled. If the known positives are part "
            "of the unlabeled sample, take them out of it.",
        )


def _labeled(curve: Curve | None, purity: float) -> Curve | None:
    """The curve of an estimator that took the positives for pure, over α."""
    if curve is None or curve.x_label != "α":
        return curve
    return replace(curve, x=purity * curve.x, chosen=purity * curve.chosen)
