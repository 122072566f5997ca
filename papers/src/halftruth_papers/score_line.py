"""A population along one coordinate that orders its scores: integrals over it, panel by panel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import ArrayLike

from halftruth.simulate.draw import FloatArray

Function: TypeAlias = Callable[[FloatArray], FloatArray]

_NODES, _WEIGHTS = legendre.leggauss(8)
_HALVINGS = 60


@dataclass(frozen=True, kw_only=True, eq=False)
class Line:
    """The law of a coordinate z, P(Y=1 | z), and the score, which rises with z.

    Attributes
    ----------
    edges : ndarray
        Ends of the panels, ascending. Within a panel everything is smooth; outside them no mass lies.
    density, posterior, score : callable
        Of an array of z.
    coordinate : callable
        The z of an array of scores: the inverse of `score`, infinite at scores that no z has.

    Notes
    -----
    Each panel has eight Gauss–Legendre nodes. Panels are cut where an integrand turns (`cut`).

    Examples
    --------
    >>> import numpy as np
    >>> line = Line(
    ...     edges=np.linspace(0.0, 1.0, 5),
    ...     density=np.ones_like,
    ...     posterior=np.sqrt,
    ...     score=lambda z: z,
    ...     coordinate=lambda s: s,
    ... )
    >>> line.below(np.array([0.5]))[0].tolist(), line.quantile(np.array([0.25])).round(12).tolist()
    ([0.5], [0.25])
    """

    edges: FloatArray
    density: Function
    posterior: Function
    score: Function
    coordinate: Function
    memo: dict[int, FloatArray] = field(default_factory=dict, repr=False)

    @cached_property
    def z(self) -> FloatArray:
        """The nodes, (panels, 8)."""
        half = np.diff(self.edges)[:, None] / 2.0
        return np.asarray(self.edges[:-1, None] + half * (1.0 + _NODES))

    @cached_property
    def mass(self) -> FloatArray:
        """The mass that stands at each node."""
        return self.density(self.z) * _WEIGHTS * np.diff(self.edges)[:, None] / 2.0

    @cached_property
    def s(self) -> FloatArray:
        """The score of each node."""
        return self.score(self.z)

    @cached_property
    def p(self) -> FloatArray:
        """P(Y=1) at each node."""
        return self.posterior(self.z)

    def mean(self, values: FloatArray) -> float:
        """The mean of a function, from its values at the nodes."""
        return float((self.mass * values).sum())

    def running(self, values: FloatArray) -> FloatArray:
        """∫ values dF up to each edge."""
        return np.concatenate([[0.0], np.cumsum((self.mass * values).sum(axis=-1))])

    def up_to_nodes(self, values: FloatArray) -> FloatArray:
        """∫ values dF up to each node."""
        within = (self.mass * values / _WEIGHTS) @ _INSIDE.T
        return np.asarray(self.running(values)[:-1, None] + within)

    def below(self, z: FloatArray) -> FloatArray:
        """∫ dF, ∫ p dF, ∫ s dF and ∫ s p dF up to each z: shape (4, n)."""
        z, panel = self._panel(z)
        nodes, mass = self._nodes_up_to(z, panel)
        p, s = self.posterior(nodes), self.score(nodes)
        parts = np.stack([(mass * values).sum(axis=-1) for values in (np.ones_like(p), p, s, s * p)])
        return np.asarray(self._running_sums[:, panel] + parts)

    def quantile(self, u: FloatArray) -> FloatArray:
        """The z below which the share `u` of the population lies."""
        running = self._running_sums[0]
        target = np.asarray(u, dtype=np.float64) * running[-1]
        panel = np.clip(np.searchsorted(running, target, side="right") - 1, 0, len(self.edges) - 2)
        low, high = self.edges[panel].copy(), self.edges[panel + 1].copy()
        z = (low + high) / 2.0
        for _ in range(_HALVINGS):
            excess = running[panel] + self._nodes_up_to(z, panel)[1].sum(axis=-1) - target
            if np.abs(excess).max(initial=0.0) < 1e-15:
                break
            low, high = np.where(excess < 0.0, z, low), np.where(excess < 0.0, high, z)
            with np.errstate(divide="ignore", invalid="ignore"):
                step = z - excess / self.density(z)
            z = np.where((low < step) & (step < high), step, (low + high) / 2.0)
        return np.asarray(z)

    def quantiles(self, n: int) -> FloatArray:
        """The n − 1 points that cut the population into n equal shares."""
        if n not in self.memo:
            self.memo[n] = self.quantile(np.arange(1, n) / n)
        return self.memo[n]

    def cut(self, points: ArrayLike) -> Line:
        """The same line with panels that end at these points too."""
        return replace(self, edges=panels(self.edges, np.asarray(points, dtype=np.float64)), memo={})

    @cached_property
    def by_gap(self) -> Line:
        """The same line, cut where score and posterior cross."""
        return self.cut(self._crossings())

    def _crossings(self) -> FloatArray:
        """Where p − s changes its sign, by halving between nodes."""
        z, gap = self.z.ravel(), (self.p - self.s).ravel()
        # Differences below this are rounding: their signs mean nothing.
        told = np.flatnonzero(np.abs(gap) > 1e-13)
        turns = np.flatnonzero(np.diff(np.sign(gap[told])) != 0)
        low, high = z[told[turns]], z[told[turns + 1]]
        left = np.sign(gap[told[turns]])
        for _ in range(_HALVINGS):
            middle = (low + high) / 2.0
            same = np.sign(self.posterior(middle) - self.score(middle)) == left
            low, high = np.where(same, middle, low), np.where(same, high, middle)
        return np.asarray((low + high) / 2.0)

    @cached_property
    def _running_sums(self) -> FloatArray:
        ones = np.ones_like(self.p)
        return np.stack([self.running(values) for values in (ones, self.p, self.s, self.s * self.p)])

    def _panel(self, z: FloatArray) -> tuple[FloatArray, np.ndarray]:
        z = np.clip(z, self.edges[0], self.edges[-1])
        return z, np.clip(np.searchsorted(self.edges, z, side="right") - 1, 0, len(self.edges) - 2)

    def _nodes_up_to(self, z: FloatArray, panel: np.ndarray) -> tuple[FloatArray, FloatArray]:
        """Nodes and masses between the start of a panel and a point of it."""
        start = self.edges[panel][:, None]
        half = (z[:, None] - start) / 2.0
        nodes = start + half * (1.0 + _NODES)
        return nodes, self.density(nodes) * _WEIGHTS * half


def panels(*points: ArrayLike) -> FloatArray:
    """Ascending ends of panels, of which two that differ by rounding are one.

    Examples
    --------
    >>> panels([0.0, 1.0], [0.5, 1e-15]).tolist()
    [0.0, 0.5, 1.0]
    """
    edges = np.unique(np.concatenate([np.ravel(np.asarray(each, dtype=np.float64)) for each in points]))
    apart = np.diff(edges, prepend=-np.inf) > 1e-12 * np.maximum(1.0, np.abs(edges))
    return np.asarray(edges[apart])


def _inside() -> FloatArray:
    """Integrals from −1 to each node of the polynomials that are one at one node and zero at the others."""
    basis = legendre.legvander(_NODES, len(_NODES) - 1)
    up = np.stack([legendre.legval(_NODES, legendre.legint(row, lbnd=-1)) for row in np.eye(len(_NODES))], 1)
    return np.asarray(up @ np.linalg.inv(basis))


_INSIDE = _inside()
