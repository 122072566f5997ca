"""How the negatives may lie among the positives: a broad prior of ROC curves.

Let v be the share of the positives that score higher, and G(v) the share of the negatives that do. Scores
that rank well make G convex, from 0 to 1. Here G is one of

- binormal: Φ(Φ⁻¹(v) − d), or with another spread of the negatives than the positives';
- anchored: 1 − (1 − x^b)^c with x = (v − anchor)/(1 − anchor): no negative scores like the top share `anchor`
  of the positives, which may be 0, and a share `below` of them, which may be 0, is below every positive;

and a part of the negatives, which may be none, resembles the positives: v^a.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from halftruth._checks import Vector

N_PARAMETERS = 7
BINORMAL = 0.4
"""Prior probability of the first kind."""
NO_ANCHOR = 0.2
"""Prior probability that the second kind has no anchor."""
NO_LIKENESS = (0.35, 0.9)
"""Prior probability that no negatives resemble the positives, without an anchor and with one: negatives that
leave an anchor free, of which another part lies all over the positives, would be strange."""
NONE_BELOW = 0.5
"""Prior probability that no separate share of the negatives is below every positive."""
STRAIGHT = 0.25
"""Prior probability of b = 1, and of c = 1."""
EQUAL_SPREADS = 0.5
"""Prior probability that both normal classes have one spread."""
RARELY_ALIKE = 5.0
"""The larger, the smaller is the part of the negatives that resembles the positives: it is Beta(1, this)."""
FARTHEST_APART = 5.0
"""Largest d."""
SPREADS = (0.6, 1.3)
"""Of the negatives, as a multiple of the positives'."""
MOST_ALIKE, STEEPEST, LOWEST = 3.0, 40.0, 300.0
"""Largest a, b and 1/c; their logarithms are uniform."""


@dataclass(frozen=True, eq=False)
class Shapes:
    """Curves G, one for each uniform draw (n, 7) of the parameters."""

    cube: Vector

    def __call__(self, v: Vector) -> Vector:
        """G at each v, ascending: (n_draws, n)."""
        kind, anchor, b, c, below, alike, a = (self.cube[:, k, None] for k in range(N_PARAMETERS))
        normal = kind[:, 0] < BINORMAL
        anchor = np.where(normal[:, None], 0.0, _beyond(anchor, NO_ANCHOR) ** 2)
        out = np.empty((len(self.cube), len(v)))
        out[normal] = _binormal(v, b[normal], c[normal])
        other = ~normal
        out[other] = _anchored(v, anchor[other], b[other], c[other], below[other])
        none = np.where(anchor > 0, NO_LIKENESS[1], NO_LIKENESS[0])
        share = 1 - (1 - _beyond(alike, none)) ** (1 / RARELY_ALIKE)
        return np.asarray(out + share * (v ** (MOST_ALIKE**a) - out))


def _binormal(v: Vector, apart: Vector, spread: Vector) -> Vector:
    from scipy.special import ndtr, ndtri

    low, high = SPREADS
    unequal = 1 - EQUAL_SPREADS
    scale = np.where(spread > unequal, 1.0, low * (high / low) ** (spread / unequal))
    return np.asarray(ndtr((ndtri(v) - FARTHEST_APART * apart) / scale))


def _anchored(v: Vector, anchor: Vector, b: Vector, c: Vector, below: Vector) -> Vector:
    x = np.clip((v - anchor) / np.maximum(1 - anchor, 1e-12), 0, 1)
    inside = 1 - (1 - x ** (STEEPEST ** _beyond(b, STRAIGHT))) ** (LOWEST ** -_beyond(c, STRAIGHT))
    return np.where(v < 1, (1 - _beyond(below, NONE_BELOW)) * inside, 1.0)


def _beyond(x: Vector, spike: float | Vector) -> Vector:
    """Zero up to the spike, then evenly up to 1."""
    return np.clip((x - spike) / (1 - spike), 0, 1)
