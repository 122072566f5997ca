"""A line of scores whose running sums and quantiles are known: samples without end are cut from it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from numpy.polynomial import legendre

from halftruth.simulate._draws import FloatArray
from halftruth.simulate._score_line import NODES, WEIGHTS, ScoreLine

__all__ = ["QuantileLine"]

_HALVINGS = 60


@dataclass(frozen=True, kw_only=True, eq=False)
class QuantileLine(ScoreLine):
    """A line of scores with its sums up to any point, and the point of any share.

    Examples
    --------
    >>> line = QuantileLine(
    ...     edges=np.linspace(0.0, 1.0, 5),
    ...     positive=np.sqrt,
    ...     negative=lambda z: 1.0 - np.sqrt(z),
    ...     posterior=np.sqrt,
    ...     score=lambda z: z,
    ...     rest=lambda z: 1.0 - z,
    ...     coordinate=lambda s: s,
    ... )
    >>> line.below(np.array([0.5]))[0].round(12).tolist(), line.quantile(np.array([0.25])).round(12).tolist()
    ([0.5], [0.25])
    """

    @classmethod
    def of(cls, line: ScoreLine) -> QuantileLine:
        """The same line."""
        return cls(**{field.name: getattr(line, field.name) for field in fields(ScoreLine)})

    def density(self, z: FloatArray) -> FloatArray:
        """The population's density of the coordinate."""
        return np.asarray(self.positive(z) + self.negative(z))

    def running(self, values: FloatArray) -> FloatArray:
        """∫ values dF up to each edge."""
        return np.concatenate([[0.0], np.cumsum((self.mass * values).sum(axis=-1))])

    def up_to_nodes(self, values: FloatArray) -> FloatArray:
        """∫ values dF up to each node."""
        within = (self.mass * values / WEIGHTS) @ _INSIDE.T
        return np.asarray(self.running(values)[:-1, None] + within)

    def below(self, z: FloatArray) -> FloatArray:
        """∫ dF, ∫ p dF, ∫ s dF and ∫ s p dF up to each z: shape (4, n)."""
        z, panel = self._panel(z)
        nodes, mass = self._nodes_up_to(z, panel)
        p, s = self.posterior(nodes), self.score(nodes)
        within = np.stack([(mass * values).sum(axis=-1) for values in (np.ones_like(p), p, s, s * p)])
        return np.asarray(self._running_sums[:, panel] + within)

    def quantile(self, u: FloatArray) -> FloatArray:
        """The z below which the share `u` of the population lies."""
        running = self._running_sums[0]
        target = np.asarray(u, dtype=np.float64) * running[-1]
        panel = np.clip(np.searchsorted(running, target, side="right") - 1, 0, len(self.edges) - 2)
        low, high = self.edges[panel].copy(), self.edges[panel + 1].copy()
        z = (low + high) / 2.0
        # Newton's steps, and halves of the bracket where a step would leave it.
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
        if n not in self._known_quantiles:
            self._known_quantiles[n] = self.quantile(np.arange(1, n) / n)
        return self._known_quantiles[n]

    @cached_property
    def _known_quantiles(self) -> dict[int, FloatArray]:
        return {}

    @cached_property
    def _running_sums(self) -> FloatArray:
        p, s = self.nodes.p, self.nodes.s
        return np.stack([self.running(values) for values in (np.ones_like(p), p, s, s * p)])

    def _panel(self, z: FloatArray) -> tuple[FloatArray, np.ndarray]:
        z = np.clip(z, self.edges[0], self.edges[-1])
        return z, np.clip(np.searchsorted(self.edges, z, side="right") - 1, 0, len(self.edges) - 2)

    def _nodes_up_to(self, z: FloatArray, panel: np.ndarray) -> tuple[FloatArray, FloatArray]:
        """Nodes and masses between the start of a panel and a point of it."""
        start = self.edges[panel][:, None]
        half = (z[:, None] - start) / 2.0
        nodes = start + half * (1.0 + NODES)
        return nodes, self.density(nodes) * WEIGHTS * half


def _inside() -> FloatArray:
    """Integrals from −1 to each node of the polynomials that are one at one node and zero at the others."""
    basis = legendre.legvander(NODES, len(NODES) - 1)
    up = np.stack([legendre.legval(NODES, legendre.legint(row, lbnd=-1)) for row in np.eye(len(NODES))], 1)
    return np.asarray(up @ np.linalg.inv(basis))


_INSIDE = _inside()
