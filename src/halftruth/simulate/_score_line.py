"""A population along one coordinate that orders its scores: expectations over it, panel by panel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Self, TypeAlias

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import ArrayLike

from halftruth.simulate._draws import FloatArray

__all__ = ["NODES", "WEIGHTS", "Function", "NodeValues", "ScoreLine", "integral", "panels"]

Function: TypeAlias = Callable[[FloatArray], FloatArray]

NODES, WEIGHTS = legendre.leggauss(8)
"""Gauss–Legendre on [−1, 1]: with eight nodes exact for polynomials up to degree 15."""
_HALVINGS = 60
_ROUNDING = 1e-13  # of a difference of two probabilities; below it their order means nothing


class NodeValues(NamedTuple):
    """Coordinate, score s, 1 − s and P(Y=1) at each node: arrays of shape (panels, 8)."""

    z: FloatArray
    s: FloatArray
    rest: FloatArray
    p: FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoreLine:
    """The laws of both classes along a coordinate z, and the score, which rises with z.

    Attributes
    ----------
    edges : ndarray
        Ends of the panels, ascending. Within a panel everything is smooth; outside them no mass lies.
    positive, negative : callable
        Densities of the classes at an array of z, each times the share of its class.
    posterior, score, rest : callable
        P(Y=1 | z), the score s of z, and 1 − s with all its digits.
    coordinate : callable
        The z of an array of scores: the inverse of `score`, infinite at scores that no z has.
    """

    edges: FloatArray
    positive: Function
    negative: Function
    posterior: Function
    score: Function
    rest: Function
    coordinate: Function

    @cached_property
    def nodes(self) -> NodeValues:
        """The nodes of all panels, and what stands at them."""
        z = _nodes(self.edges)
        return NodeValues(z=z, s=self.score(z), rest=self.rest(z), p=self.posterior(z))

    @cached_property
    def class_masses(self) -> tuple[FloatArray, FloatArray]:
        """The masses of positives and of negatives that stand at each node."""
        weights = WEIGHTS * np.diff(self.edges)[:, None] / 2.0
        z = self.nodes.z
        return self.positive(z) * weights, self.negative(z) * weights

    @cached_property
    def mass(self) -> FloatArray:
        """The mass that stands at each node."""
        positive, negative = self.class_masses
        return np.asarray(positive + negative)

    def mean(self, values: FloatArray) -> float:
        """The mean of a function, from its values at the nodes."""
        return float((self.mass * values).sum())

    def expected_loss(self, of_positives: FloatArray, of_negatives: FloatArray) -> float:
        """The mean of what positives and negatives lose at each node."""
        positive, negative = self.class_masses
        return float((positive * of_positives).sum() + (negative * of_negatives).sum())

    def cut(self, points: ArrayLike) -> Self:
        """The same line with panels that end at these points too."""
        return replace(self, edges=panels(self.edges, points))

    @cached_property
    def by_gap(self) -> Self:
        """The same line, cut where score and posterior cross: there |p − s| has a corner."""
        z, gap = self.nodes.z.ravel(), (self.nodes.p - self.nodes.s).ravel()
        # A crossing lies between two consecutive nodes at which the gap is clear, with opposite signs.
        clear = np.flatnonzero(np.abs(gap) > _ROUNDING)
        turns = np.flatnonzero(np.diff(np.sign(gap[clear])) != 0)
        low, high = z[clear[turns]], z[clear[turns + 1]]
        left = np.sign(gap[clear[turns]])
        # All brackets are halved together; 60 halvings leave nothing of a panel in doubles.
        for _ in range(_HALVINGS):
            middle = (low + high) / 2.0
            same = np.sign(self.posterior(middle) - self.score(middle)) == left
            low, high = np.where(same, middle, low), np.where(same, high, middle)
        return self.cut((low + high) / 2.0)


def integral(function: Function, edges: FloatArray) -> float:
    """∫ of a function that is smooth between consecutive `edges`."""
    return float((function(_nodes(edges)) * WEIGHTS * np.diff(edges)[:, None] / 2.0).sum())


def _nodes(edges: FloatArray) -> FloatArray:
    half = np.diff(edges)[:, None] / 2.0
    return np.asarray(edges[:-1, None] + half * (1.0 + NODES))


def panels(*points: ArrayLike) -> FloatArray:
    """Ascending ends of panels, of which two that differ by rounding are one."""
    edges = np.unique(np.concatenate([np.ravel(np.asarray(group, dtype=np.float64)) for group in points]))
    apart = np.diff(edges, prepend=-np.inf) > 1e-12 * np.maximum(1.0, np.abs(edges))
    return np.asarray(edges[apart])
