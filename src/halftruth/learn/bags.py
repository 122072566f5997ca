"""Bags: who learns from which rows, and holds out which, so that all rows fare alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from halftruth.learn.labels import Strata

Index = NDArray[np.intp]

TURNS = 3
"""A round is so many models, and each row is held out by one of them."""


@dataclass(frozen=True)
class Bags:
    """Which rows each model learns, and which it holds out; known from the seed and its number."""

    rows: tuple[Index, ...]
    sizes: tuple[int, ...]
    seed: int

    @classmethod
    def of(cls, strata: Strata, max_unlabeled: int | None, seed: int) -> Bags:
        """Sizes are the same in all bags: else models without a positive would score low for that alone."""
        rows = tuple(np.flatnonzero(mask) for mask in (strata.positive, strata.unlabeled, strata.negative))
        positive, unlabeled, negative = (len(part) - -(-len(part) // TURNS) for part in rows)
        most = positive if max_unlabeled is None else max_unlabeled
        return cls(rows, (positive, min(unlabeled, most), min(negative, positive)), seed)

    def __call__(self, model: int) -> tuple[Index, Index]:
        """(rows of the bag, rows held out), no row twice."""
        turn = model % TURNS
        of_round = np.random.default_rng([self.seed, 0, model // TURNS])
        of_model = np.random.default_rng([self.seed, 1, model])
        bag, held_out = [], []
        for rows, size in zip(self.rows, self.sizes, strict=True):
            part = np.empty(len(rows), dtype=np.intp)
            part[of_round.permutation(len(rows))] = np.arange(len(rows)) % TURNS
            held_out.append(rows[part == turn])
            bag.append(of_model.choice(rows[part != turn], size, replace=False))
        return np.concatenate(bag), np.concatenate(held_out)
