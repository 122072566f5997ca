"""What the evidence does not say stays unsaid, whatever the rounding of the weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import halftruth as ht

from .functionals import ALL, ignore_empty_class
from .samples import dyadic_scores, examples

pytestmark = ignore_empty_class
BOTH = pytest.mark.parametrize("population", ["unlabeled", "all"])
some_scores = st.lists(dyadic_scores, min_size=1, max_size=6)
factors = st.floats(0.01, 10)


@BOTH
@examples(60)
@given(known=some_scores, unlabeled=some_scores, factor=factors)
@example(known=[0.25, 0.5, 0.75], unlabeled=[0.125, 0.5, 0.75], factor=0.7)
def test_positives_and_negatives_of_equal_scores_identify_no_prior(
    population: str, known: list[float], unlabeled: list[float], factor: float
) -> None:
    evidence = ht.PositiveUnlabeled(
        known,
        unlabeled,
        negative=known,
        negative_weight=np.full(len(known), factor),
        population=population,
    )
    with pytest.raises(ht.NotIdentifiable, match="same scores"):
        evidence.measure()


@BOTH
@examples(60)
@given(known=some_scores, negative=some_scores, factor=factors)
@example(known=[0.0625, 0.5, 0.5], negative=[0.0], factor=3.3)
def test_positives_no_purer_than_the_unlabeled_say_nothing(
    population: str, known: list[float], negative: list[float], factor: float
) -> None:
    """α comes out as ρ, but for rounding; the estimate divides by their difference."""
    evidence = ht.PositiveUnlabeled(
        known,
        known,
        negative=negative,
        purity=0.5625,
        unlabeled_weight=np.full(len(known), factor),
        population=population,
    )
    needing = [setting for setting in ALL if setting.metric.needs == "prior"]
    values = {str(setting): setting.of(evidence, 0.0) for setting in needing}
    assert {k: v for k, v in values.items() if isinstance(v, float) and not np.isnan(v)} == {}


@pytest.mark.parametrize("factor", [1.0, 3.0, 409.85792478631924])
def test_nothing_over_nothing_is_undefined_at_every_scale_of_weights(factor: float) -> None:
    """No case is called positive, and the positives below the threshold cancel, but for rounding."""
    evidence = ht.PositiveUnlabeled(
        [0.0, 0.0, 1.0, -1.0, -1.0, -1.0],
        [-1.0],
        prior=0.125,
        purity=0.5625,
        positive_weight=np.full(6, factor),
        unlabeled_weight=[factor],
    )
    assert np.isnan(ht.confusion(evidence, 0.0).jaccard)
