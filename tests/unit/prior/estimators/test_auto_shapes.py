"""The prior of ROC curves: every curve is one, and its special cases have their stated probabilities."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from halftruth.prior.estimators import _auto as shapes
from halftruth.prior.estimators._auto import N_PARAMETERS, Shapes

KIND, ANCHOR, B, C, BELOW, ALIKE, A = range(N_PARAMETERS)
V = np.linspace(0, 1, 401)
NORMAL, OTHER = 0.1, 0.9
"""Values of the first parameter for either kind."""


def cubes(n=4000, seed=0, **fixed):
    cube = np.random.default_rng(seed).random((n, N_PARAMETERS))
    for name, value in fixed.items():
        cube[:, globals()[name.upper()]] = value
    return cube


def curve(v=V, **fixed):
    """One curve, with every parameter that is not named in its special case (kind: anchored)."""
    plain = {"kind": OTHER, "anchor": 0, "b": 0, "c": 0, "below": 0, "alike": 0, "a": 0}
    return Shapes(cubes(1, **(plain | fixed)))(np.asarray(v))[0]


@pytest.mark.parametrize("seed", range(3))
def test_every_curve_climbs_from_0_to_1(seed):
    corners = np.random.default_rng(seed).integers(0, 2, (500, N_PARAMETERS)).astype(float)
    g = Shapes(np.concatenate([cubes(seed=seed), corners]))(V)
    assert g.shape == (4500, len(V))
    assert ((g >= 0) & (g <= 1)).all()
    assert (g[:, 0] == 0).all()
    assert (g[:, -1] == 1).all()
    assert (np.diff(g, axis=1) >= -1e-12).all()


def test_anchored_curves_are_convex():
    g = Shapes(cubes(kind=OTHER))(V)
    assert (np.diff(g, n=2, axis=1) >= -1e-9).all()


def test_normal_classes_of_one_spread_are_convex_and_others_need_not_be():
    g = Shapes(cubes(kind=NORMAL, c=1.0))(V)
    assert (np.diff(g, n=2, axis=1) >= -1e-9).all()
    assert (np.diff(Shapes(cubes(kind=NORMAL))(V), n=2, axis=1) < -1e-4).any()


def test_no_negative_is_above_the_anchor():
    cube = cubes(kind=OTHER, alike=0.0)
    anchor = np.clip((cube[:, ANCHOR] - shapes.NO_ANCHOR) / (1 - shapes.NO_ANCHOR), 0, 1)[:, None] ** 2
    g = Shapes(cube)(V)
    assert (g[np.broadcast_to(V, g.shape) <= anchor] == 0).all()
    # Just below it, straight curves have some.
    straight = curve(anchor=0.6)
    assert straight[V > 0.25 + 1e-9].min() > 0
    assert straight[V < 0.25 - 1e-9].max() == 0


def test_formulas():
    at = np.asarray([0.1, 0.5, 0.9])
    np.testing.assert_allclose(curve(at), at)  # negatives like positives
    np.testing.assert_allclose(curve(at, kind=NORMAL, b=0.4, c=1), ndtr(ndtri(at) - 2))
    np.testing.assert_allclose(curve(at, kind=NORMAL, b=0.4, c=0), ndtr((ndtri(at) - 2) / 0.6))
    np.testing.assert_allclose(curve(at, b=1), at**40, atol=1e-16)
    np.testing.assert_allclose(curve(at, c=1), 1 - (1 - at) ** (1 / 300))
    np.testing.assert_allclose(curve(at, anchor=0.6), np.maximum(at - 0.25, 0) / 0.75)
    np.testing.assert_allclose(curve(at, below=0.75), at / 2)
    np.testing.assert_allclose(curve(at, b=1, alike=1), at)
    np.testing.assert_allclose(curve(at, b=1, alike=1, a=1), at**3)
    # Half of what is above the spike: Beta(1, 5) has the median 1 − 2^(−1/5).
    share = 1 - 2**-0.2
    np.testing.assert_allclose(
        curve(at, b=1, alike=1 - (1 - shapes.NO_LIKENESS[0]) / 2),
        share * at + (1 - share) * at**40,
        atol=1e-16,
    )


@pytest.mark.parametrize(
    ("parameter", "spike", "others"),
    [
        ("anchor", shapes.NO_ANCHOR, {}),
        ("b", shapes.STRAIGHT, {}),
        ("c", shapes.STRAIGHT, {}),
        ("below", shapes.NONE_BELOW, {}),
        ("alike", shapes.NO_LIKENESS[0], {"b": 1}),
        ("alike", shapes.NO_LIKENESS[1], {"b": 1, "anchor": 0.6}),
    ],
)
def test_spikes_are_as_probable_as_stated(parameter, spike, others):
    special, edge, beyond = (curve(**others, **{parameter: x}) for x in (0.0, spike - 1e-9, spike + 1e-3))
    np.testing.assert_array_equal(edge, special)
    assert np.abs(beyond - special).max() > 1e-9


def test_kinds_and_equal_spreads_are_as_probable_as_stated():
    edge = shapes.BINORMAL
    assert not np.allclose(curve(kind=edge - 1e-9, b=0.4), curve(kind=edge, b=0.4))
    np.testing.assert_array_equal(curve(kind=0.0, b=0.4), curve(kind=edge - 1e-9, b=0.4))
    np.testing.assert_array_equal(curve(kind=1.0, b=0.4), curve(kind=edge, b=0.4))
    equal, at_edge, below = (
        curve(kind=NORMAL, b=0.4, c=c) for c in (1.0, shapes.EQUAL_SPREADS + 1e-9, shapes.EQUAL_SPREADS - 0.1)
    )
    np.testing.assert_array_equal(at_edge, equal)
    assert np.abs(below - equal).max() > 1e-3


def test_shares_of_special_curves_among_draws():
    n = 20_000
    error = 4 * np.sqrt(0.25 / n)
    # An anchor of more than 5%, and no negatives that resemble the positives.
    at_anchor = Shapes(cubes(n, b=0.0))(np.asarray([0.05]))[:, 0]
    long = (1 - shapes.NO_ANCHOR) * (1 - np.sqrt(0.05))
    assert abs((at_anchor == 0).mean() - (1 - shapes.BINORMAL) * long * shapes.NO_LIKENESS[1]) < error
    # A jump at the end: some negatives are below every positive.
    jump = 1 - Shapes(cubes(n, kind=OTHER, c=0.0, alike=0.0))(np.asarray([1 - 1e-9]))[:, 0]
    assert abs((jump > 1e-6).mean() - (1 - shapes.NONE_BELOW)) < error
