"""The time of each method, as multiples of one sort of the same scores."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from tools.prior_study.estimates import point
from tools.prior_study.families import OverlapDraw, prior_families
from tools.prior_study.settings import Settings, say

import halftruth as ht
from halftruth.prior._methods import METHODS

ALPHA = 0.3
POPULATION = ("gaussian", 2)
UPPER = "upper bound"


def run(settings: Settings) -> dict[str, Any]:
    """Seconds of each method at each size."""
    return {"sizes": [_one(settings, size) for size in settings.time_sizes]}


def _one(settings: Settings, size: tuple[int, int]) -> dict[str, Any]:
    family, member = POPULATION
    population = prior_families()[family][member]
    drawn = population.draw(*size, ALPHA, settings.rng("time", size), n_negative=size[0])
    small = population.draw(100, 1000, ALPHA, 0, n_negative=100)
    both = np.append(drawn.positive, drawn.unlabeled)
    sort = min(_seconds(lambda: np.sort(both)) for _ in range(3))
    say(f"time: {size[0]:,} + {size[1]:,} scores")
    calls: dict[str, Callable[[OverlapDraw], float]] = {
        UPPER: lambda rows: ht.prior_upper_bound(rows.positive, rows.unlabeled)
    }
    calls |= {name: partial(_point, name) for name in METHODS}
    # What is compiled or imported at first use is no part of a method; large tables have code of their own.
    calls["bbe"](drawn)
    found = {}
    for name, call in calls.items():
        call(small)
        found[name] = _seconds(partial(call, drawn))
    return {"size": size, "sort": sort, "seconds": found}


def _point(name: str, rows: OverlapDraw) -> float:
    return point(name, rows.positive, rows.unlabeled, np.random.default_rng(0), rows.negative)


def _seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start
