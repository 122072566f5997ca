"""Populations whose α is known: every family, member, α and size."""

from __future__ import annotations

from itertools import product
from typing import Any

from tools.prior_study.estimates import points, summary
from tools.prior_study.families import TwoClasses, prior_families
from tools.prior_study.settings import SLOW, Settings, say

import halftruth as ht
from halftruth.prior._methods import METHODS


def run(settings: Settings) -> dict[str, Any]:
    """A record for each cell: a member, an α and a size."""
    cells = []
    for family, members in _chosen(settings).items():
        for member in members:
            say(f"simulators: {family}, {member.name}")
            cells += [
                {"family": family, **_cell(settings, member, alpha, size)}
                for alpha, size in product(settings.alphas, settings.sizes)
            ]
    return {"draws": settings.draws, "slow_draws": settings.slow_draws, "cells": cells}


def _chosen(settings: Settings) -> dict[str, tuple[TwoClasses, ...]]:
    families = prior_families()
    names = settings.families or tuple(families)
    if unknown := set(names) - set(families):
        raise SystemExit(f"No family {', '.join(sorted(unknown))}. There are {', '.join(families)}.")
    return {name: families[name][: settings.members] for name in names}


def _cell(settings: Settings, member: TwoClasses, alpha: float, size: tuple[int, int]) -> dict[str, Any]:
    estimates: dict[str, list[float]] = {name: [] for name in METHODS}
    auto = []
    for draw in range(settings.draws):
        rng = settings.rng(member.name, alpha, size, draw)
        drawn = member.draw(*size, alpha, rng, n_negative=size[0])
        auto.append(summary(ht.estimate_prior(drawn.positive, drawn.unlabeled, rng=rng)))
        estimates["auto"].append(auto[-1]["value"])
        names = [name for name in METHODS if name not in SLOW or draw < settings.slow_draws]
        found = points(names, drawn.positive, drawn.unlabeled, rng, drawn.negative)
        for name, value in found.items():
            estimates[name].append(value)
    return {
        "member": member.name,
        "anchor": member.anchor,
        "floor": member.floor,
        "limit": member.upper(alpha),
        "alpha": alpha,
        "size": size,
        "estimates": estimates,
        "auto": [{name: each[name] for name in ("low", "high", "upper")} for each in auto],
    }
