"""Scores of two classes whose overlap is known exactly: truths for studies of the class prior.

From scores alone a share α of positives is known only up to α + (1−α) ess inf f₀/f₁ (Blanchard, Lee and
Scott 2010), so a study needs that infimum beside α.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise, product
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.special import ndtri
from tools.prior_study.laws import Beta, FloatArray, Laplace, Law, Normal, Part, Reading, Shape, Student

from halftruth import _checks

IntArray: TypeAlias = NDArray[np.int64]
Rng: TypeAlias = int | np.random.Generator


@dataclass(frozen=True, kw_only=True, eq=False)
class OverlapDraw:
    """Scores drawn from `TwoClasses`, with the classes that real data hide.

    Attributes
    ----------
    positive, unlabeled : ndarray
        Scores of the rows called positive and of the unlabeled rows.
    negative : ndarray or None
        Scores of the known negatives, where some were asked for.
    y : ndarray
        The true class of each unlabeled row, 0 or 1.

    Examples
    --------
    >>> drawn = prior_families()["gaussian"][2].draw(50, 200, 0.3, rng=0, fixed=True)
    >>> drawn.positive.size, int(drawn.y.sum())
    (50, 60)
    """

    positive: FloatArray
    unlabeled: FloatArray
    negative: FloatArray | None
    y: IntArray

    def __post_init__(self) -> None:
        for array in (self.positive, self.unlabeled, self.negative, self.y):
            if array is not None:
                array.flags.writeable = False


@dataclass(frozen=True, kw_only=True)
class TwoClasses:
    """Laws of the scores of positives, f₁, and negatives, f₀, with the facts about their overlap.

    Parameters
    ----------
    name : str
    positive, negative : Law
        Laws of x in the two classes.
    anchor : float in [0, 1]
        The share of f₁ that lies where f₀ has no mass.
    floor : float in [0, 1]
        ess inf f₀/f₁ over the scores of f₁: 0 where f₀ is irreducible.
    reading : Reading
        How x becomes the score.

    Notes
    -----
    Wherever `rng` is an int, the same int draws the same rows; samples that belong together take one
    Generator, or come from `draw`. `prior_families` has the populations to use.

    Examples
    --------
    >>> member = prior_families()["heavy"][1]
    >>> member.name, round(member.floor, 6), round(member.roc_auc, 4)
    ('t3 d=2', 0.111111, 0.8562)
    >>> round(member.upper(0.1), 6)
    0.2
    """

    name: str
    positive: Law
    negative: Law
    anchor: float
    floor: float
    reading: Reading = field(default_factory=Reading)

    def __post_init__(self) -> None:
        advice = "Pass a share."
        anchor = _checks.inside(self.anchor, "anchor", 0.0, 1.0, closed="both", advice=advice)
        advice = "Where f₀ has no mass on a part of f₁ (anchor > 0), the ratio is 0 there."
        most = 1.0 if anchor == 0.0 else 0.0
        _checks.inside(self.floor, "floor", 0.0, most, closed="both", advice=advice)

    @cached_property
    def roc_auc(self) -> float:
        """P(S₁ > S₀) + P(S₁ = S₀)/2, by quadrature, good to 1e-9."""
        p, q = self.reading.masses(self.positive), self.reading.masses(self.negative)
        if p.size:
            return float(p @ (np.cumsum(q) - q / 2.0))
        bends = [x for _, part in self.negative.parts for x in (part.location, part.high)]
        bends += [part.location + part.scale for _, part in self.negative.parts]
        return math.fsum(w * self._mean_below(part, part.below(bends)) for w, part in self.positive.parts)

    def _mean_below(self, part: Part, bends: Iterable[float]) -> float:
        """E F₀(X) of a part of the positives, as an integral over its own share."""
        edges = sorted({0.0, 1.0, *(float(u) for u in bends)})

        def below(u: float) -> float:
            return float(self.negative.below(part.quantile(u)))

        # Between the points where F₀ bends the integrand is smooth, as the quadrature expects.
        areas = (
            quad(below, low, high, epsabs=1e-11, epsrel=1e-11, limit=200) for low, high in pairwise(edges)
        )
        return math.fsum(area for area, _ in areas)

    def upper(self, alpha: float) -> float:
        """The largest share of positives that scores alone cannot refute, where the true one is `alpha`."""
        share = _share(alpha, "alpha")
        return share + (1.0 - share) * self.floor

    def draw_positive(self, n: int, rng: Rng) -> FloatArray:
        """Draw the scores of `n` positives."""
        return self.draw_unlabeled(n, 1.0, rng)

    def draw_negative(self, n: int, rng: Rng) -> FloatArray:
        """Draw the scores of `n` negatives."""
        return self.draw_unlabeled(n, 0.0, rng)

    def draw_unlabeled(self, n: int, alpha: float, rng: Rng, *, fixed: bool = False) -> FloatArray:
        """Draw the scores of `n` rows, each positive with chance `alpha`, or round(alpha n) if `fixed`."""
        share = _share(alpha, "alpha")
        return self._rows(_checks.count(n, "n", least=1), share, np.random.default_rng(rng), fixed)[0]

    def draw(
        self,
        n_positive: int,
        n_unlabeled: int,
        alpha: float,
        rng: Rng,
        *,
        purity: float = 1.0,
        n_negative: int = 0,
        fixed: bool = False,
    ) -> OverlapDraw:
        """Draw rows called positive, of which `purity` are, unlabeled rows and perhaps negatives.

        With `fixed` the true positives number round(purity n_positive) and round(alpha n_unlabeled).

        Examples
        --------
        >>> member = prior_families()["tied"][0]
        >>> drawn = member.draw(50, 200, 0.3, rng=0, purity=0.9, n_negative=20)
        >>> drawn.unlabeled.size, drawn.negative.size
        (200, 20)
        """
        known = _checks.count(n_positive, "n_positive", least=1)
        free = _checks.count(n_unlabeled, "n_unlabeled", least=1)
        others = _checks.count(n_negative, "n_negative", least=0)
        rho = _checks.share(purity, "purity", closed_at_one=True)
        share, generator = _share(alpha, "alpha"), np.random.default_rng(rng)
        positive, _ = self._rows(known, rho, generator, fixed)
        unlabeled, y = self._rows(free, share, generator, fixed)
        negative = self._rows(others, 0.0, generator, fixed)[0] if others else None
        return OverlapDraw(positive=positive, unlabeled=unlabeled, negative=negative, y=y)

    def _rows(
        self, n: int, share: float, rng: np.random.Generator, fixed: bool
    ) -> tuple[FloatArray, IntArray]:
        is_positive = rng.permutation(n) < round(share * n) if fixed else rng.random(n) < share
        x = np.empty(n)
        for chosen, law in ((is_positive, self.positive), (~is_positive, self.negative)):
            x[chosen] = law.draw(int(chosen.sum()), rng)
        return self.reading.score(x), is_positive.astype(np.int64)


def _share(value: float, name: str) -> float:
    return _checks.inside(value, name, 0.0, 1.0, closed="both", advice="Pass the share of positives.")


def prior_families() -> dict[str, tuple[TwoClasses, ...]]:
    """Return the populations of studies of the class prior, by what makes them hard.

    Returns
    -------
    dict of str to tuple of TwoClasses
        anchored : part of f₁ lies where f₀ has no mass; f₀ ends there with a jump or smoothly.
        gaussian : unit normals; floor 0, but no anchor.
        unequal : normals with positives wider (floor 0) or narrower (floor > 0); the ratio turns.
        overlapping : a share of the negatives scores like positives, which is the floor.
        heavy : tails in which the ratio stays above a floor.
        tied : few distinct scores, rounded probabilities.
        saturated : probabilities piled near 0 and 1, in full and with three digits.

    Examples
    --------
    >>> families = prior_families()
    >>> [member.name for member in families["gaussian"]]
    ['normal d=1', 'normal d=1.5', 'normal d=2', 'normal d=3', 'normal d=4']
    >>> {member.floor for member in families["anchored"]}
    {0.0}
    """
    flat = [_flat(anchor) for anchor in (0.05, 0.2, 0.5, 0.9)]
    bent = [_flat(anchor, *shape) for anchor, shape in ((0.2, (2, 1)), (0.2, (2, 2)), (0.5, (2, 4)))]
    cut = [_cut_normal(2.0, anchor) for anchor in (0.05, 0.2)]
    unit = {d: _normal(d) for d in (1.0, 1.5, 2.0, 3.0, 4.0)}
    laplace = [_shifted("laplace", Laplace(), d, math.exp(-d)) for d in (1.0, 2.0, 3.0)]
    tied = (
        (unit[1.5], Reading(1.5, 0.75)),
        (unit[3.0], Reading(3.0, 1.5)),
        (laplace[1], Reading(1.0, 1.0)),
        # Rounding leaves nothing of an anchor of 0.05, and most of one of 0.2.
        (flat[0], Reading(8.0, 0.5)),
        (flat[1], Reading(8.0, 0.5)),
    )
    sharp = (
        (unit[2.0], Reading(5.0, 1.0)),
        (unit[3.0], Reading(5.0, 1.5)),
        (laplace[2], Reading(2.5, 1.5)),
        (cut[1], Reading(5.0, 1.0)),
    )
    return {
        "anchored": (*flat, *bent, *cut),
        "gaussian": tuple(unit.values()),
        "unequal": tuple(_normal(d, sd) for d, sd in ((1.0, 0.7), (2.0, 0.7), (1.0, 1.5), (2.0, 1.5))),
        "overlapping": tuple(
            _reached(g, share) for g, share in product((flat[1], unit[2.0]), (0.05, 0.2, 0.4))
        ),
        "heavy": (*(_shifted("t3", Student(3.0), d, _t3_floor(d)) for d in (1.0, 2.0, 4.0)), *laplace),
        "tied": tuple(_read(base, replace(how, levels=n)) for (base, how), n in product(tied, (10, 30))),
        "saturated": tuple(_read(base, replace(how, levels=n)) for n in (None, 1001) for base, how in sharp),
    }


def _law(shape: Shape, location: float = 0.0, scale: float = 1.0, high: float = math.inf) -> Law:
    return Law(((1.0, Part(shape, location, scale, high)),))


def _flat(anchor: float, a: float = 1.0, b: float = 1.0) -> TwoClasses:
    """Positives uniform on [0, 1], negatives Beta(a, b) stretched from −1 to the anchor."""
    top = 1.0 - anchor
    negative = _law(Beta(a, b), -1.0, 1.0 + top, high=top)
    name = f"beta({a:g},{b:g}) anchor={anchor:g}" if (a, b) != (1.0, 1.0) else f"uniform anchor={anchor:g}"
    return TwoClasses(name=name, positive=_law(Beta(1.0, 1.0)), negative=negative, anchor=anchor, floor=0.0)


def _cut_normal(d: float, anchor: float) -> TwoClasses:
    negative = _law(Normal(), high=d - float(ndtri(anchor)))
    name = f"normal d={d:g} anchor={anchor:g}"
    return TwoClasses(name=name, positive=_law(Normal(), d), negative=negative, anchor=anchor, floor=0.0)


def _shifted(word: str, shape: Shape, d: float, floor: float) -> TwoClasses:
    name = f"{word} d={d:g}"
    return TwoClasses(name=name, positive=_law(shape, d), negative=_law(shape), anchor=0.0, floor=floor)


def _normal(d: float, sd: float = 1.0) -> TwoClasses:
    """Positives N(d, sd²), negatives N(0, 1): ln f₀/f₁ is a parabola, with a bottom where sd < 1."""
    floor = sd * math.exp(-d * d / (2.0 * (1.0 - sd * sd))) if sd < 1.0 else 0.0
    member = _shifted("normal", Normal(), d, floor)
    if sd == 1.0:
        return member
    return replace(member, name=f"{member.name} sd={sd:g}", positive=_law(Normal(), d, sd))


def _t3_floor(d: float) -> float:
    """The ratio ((3 + (x−d)²) / (3 + x²))² is least at the upper root of x² − d x − 3."""
    x = (d + math.sqrt(d * d + 12.0)) / 2.0
    return ((3.0 + (x - d) ** 2) / (3.0 + x * x)) ** 2


def _reached(base: TwoClasses, share: float) -> TwoClasses:
    """The `share` of the negatives scores like positives."""
    return replace(
        base,
        name=f"{base.name} shared={share:g}",
        negative=base.positive.mixed(share, base.negative),
        anchor=0.0,
        floor=share + (1.0 - share) * base.floor,
    )


def _read(base: TwoClasses, reading: Reading) -> TwoClasses:
    """Read x otherwise: a rising function leaves the facts, rounding makes them those of the levels."""
    levels = "" if reading.levels is None else f" levels={reading.levels}"
    name = f"{base.name} slope={reading.slope:g}{levels}"
    p, q = reading.masses(base.positive), reading.masses(base.negative)
    if not p.size:
        return replace(base, name=name, reading=reading)
    reached = p > 0.0
    anchor = float(p[q == 0.0].sum())
    return replace(
        base, name=name, reading=reading, anchor=anchor, floor=float((q[reached] / p[reached]).min())
    )
