"""TensorSupport: distinct scores and the rows on them, on the device where a measure of them is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halftruth._checks import Vector
from halftruth._pytorch import Tensor, functional, torch
from halftruth.engines.tensors import _tensor_pass
from halftruth.engines.tensors._dense_histogram import has_triton
from halftruth.engines.tensors._tensor_pass import Level, PassValues, between, block_sums, chunks, pyramid
from halftruth.engines.tensors._tensor_rows import Tensors
from halftruth.kernels._pass_sums import PassSums
from halftruth.table._groups import STRATA
from halftruth.table._histogram import COMPILED
from halftruth.table._sorted_rows import N_EDGES
from halftruth.table._support import Cells, Shares, SortedSupport, Support, depths

__all__ = ["TensorSupport"]


class TensorSupport(SortedSupport):
    """Distinct scores, ascending, and how many rows of each stratum lie below each of them."""

    atom: Tensor  # (m,) float64
    below: Tensor  # (n_strata, m + 1) int64: rows below each score, and last all of them
    held: Mapping[str, int]  # the strata in this order, and all rows of each

    def __init__(self, atom: Tensor, below: Tensor, held: Mapping[str, int]) -> None:
        for name, value in (("atom", atom), ("below", below), ("held", held)):
            object.__setattr__(self, name, value)

    @classmethod
    def of_rows(cls, rows: Tensors) -> TensorSupport:
        """The support of rows without weights, sorted on their device."""
        low, high = rows.span
        if rows.score.is_cuda and rows.score.dtype == torch.float32 and low >= 0 and high <= 1:
            return cls(*_of_keys(rows.score, rows.stratum, rows.n_rows), rows.n_rows)
        score, order = torch.sort(rows.score)
        differs = score[1:] != score[:-1]
        end = torch.cat([differs.nonzero()[:, 0], order.new_full((1,), len(differs))])
        below = order.new_zeros((len(rows.n_rows), len(end) + 1))
        stratum = rows.stratum[order]
        del order, differs
        *others, _ = rows.n_rows
        for counts, name in zip(below, others, strict=False):
            counts[1:] = torch.cumsum(stratum == STRATA.index(name), 0)[end]
        # All rows so far, less those of the other strata.
        below[-1, 1:] = end + 1 - below[:-1, 1:].sum(dim=0)
        return cls(score[end].to(torch.float64) + 0.0, below, rows.n_rows)  # −0.0 is 0.0

    @property
    def n_rows(self) -> Mapping[str, int]:
        return self.held

    @cached_property
    def span(self) -> tuple[float, float]:
        low, high = self.atom[[0, -1]].tolist()
        return low, high

    @cached_property
    def distinct(self) -> Support:
        """On the host."""
        counts = zip(self.held, _host(self.below.diff()), strict=True)
        cells = {name: Cells(atom=np.flatnonzero(n), count=n[n > 0]) for name, n in counts}
        return Support(score=_host(self.atom), strata=cells)

    def above(self, threshold: float) -> dict[str, int]:
        first = torch.searchsorted(self.atom, threshold).reshape(1)
        reached = (self.below[:, -1:] - self.below[:, first])[:, 0].tolist()
        return dict(zip(self.held, reached, strict=True))

    def pass_sums(self, mass: Shares, pos: Shares, neg: Shares, *, own: tuple[float, float]) -> PassSums:
        bounded = self.bounded
        n = np.asarray([float(number) for number in self.held.values()])
        a, b, d = (np.asarray([shares[name] for name in self.held]) for shares in (mass, pos, neg))
        values = self._one_pass(a, b, d, own=(float(own[0]), float(own[1])))
        # Of the pairs of a stratum with itself half are in order; a pair of two strata is in one order or in
        # the other, and ties are half in each.
        twice = np.diag(n**2)
        for (j, k), ordered in zip(combinations(range(len(n)), 2), values.pairs, strict=True):
            twice[j, k], twice[k, j] = ordered, 2 * n[j] * n[k] - ordered
        square, log = b @ values.positive + d @ values.negative if bounded else (np.nan, np.nan)
        return PassSums(
            positives=float(b @ n),
            negatives=float(d @ n),
            total=float(a @ n),
            roc_area=float(b @ twice @ d) / 2,
            pr_area=values.pr_area,
            square_loss=float(square),
            log_loss=float(log),
        )

    def _one_pass(self, *shares: NDArray[np.float64], own: tuple[float, float]) -> PassValues:
        mass, pos, neg = (array.tolist() for array in shares)
        if not (self.atom.is_cuda and has_triton()):
            return _tensor_pass.one_pass(self.atom, self.below, mass, pos, neg, own)
        from halftruth.engines.tensors import _triton_pass

        return _triton_pass.one_pass(self.atom, self.below, list(self.held.values()), mass, pos, own)

    def moments(self, mass: Shares, n_bins: int, binning: str) -> dict[str, Vector]:
        population = [mass[name] != 0 for name in self.held]
        n = sum(rows for rows, inside in zip(self.held.values(), population, strict=True) if inside)
        if binning == "mass" and self.atom.is_cuda and has_triton():
            from halftruth.engines.tensors import _triton_pass

            moments = _triton_pass.moments(self.atom, self.below, population, n, n_bins)
            return dict(zip(self.held, _host(moments), strict=True))
        device = self.atom.device
        if binning == "width":
            edge = torch.as_tensor(np.arange(1, n_bins) / n_bins, device=device)
            inner = torch.searchsorted(self.atom, edge, right=True)
        else:  # a bin ends at an order statistic of the population
            rank = torch.arange(1, n_bins, device=device) * n // n_bins
            inner = torch.searchsorted(self.below[torch.tensor(population, device=device)].sum(dim=0), rank)
        cut = torch.cat([inner.new_zeros(1), inner, inner.new_full((1,), len(self.atom))])
        number = self.below[:, cut].diff()
        moments = torch.cat([number[:, None], between(self._levels, cut)], dim=1)
        return dict(zip(self.held, _host(moments), strict=True))

    @cached_property
    def _levels(self) -> list[Level]:
        """Σ s and Σ s² (n_strata, 2, m) over the rows of each stratum, by score and by blocks of scores."""
        m = len(self.atom)
        first = torch.cat([block_sums(self._powers(*chunk)) for chunk in chunks(m)], dim=-1)
        return pyramid(self._powers_at, m, first)

    def _powers(self, at: slice | Tensor, after: slice | Tensor) -> Tensor:
        first = (self.below[:, after] - self.below[:, at]) * self.atom[at]
        return torch.stack([first, first * self.atom[at]], dim=1)

    def _powers_at(self, index: Tensor) -> Tensor:
        return self._powers(index, index + 1)

    def _ranked(self, stratum: int, rank: Tensor) -> Tensor:
        """The places of the scores of these rows of a stratum, 0 for the lowest row."""
        return torch.searchsorted(self.below[stratum, 1:], rank, right=True)

    def masses_around(self, stratum: str, column: str = "weight") -> dict[str, NDArray[np.int64]]:
        n = self.held[stratum]
        # Ranks that lie ever closer towards both ends of the stratum, beside others at equal steps.
        deep = np.unique(np.geomspace(1, n, N_EDGES // 2).astype(np.int64))
        even = np.linspace(0, n - 1, N_EDGES).astype(np.int64)
        rank = torch.as_tensor(np.concatenate([deep - 1, even, n - deep]), device=self.atom.device)
        at = torch.unique(self._ranked(list(self.held).index(stratum), rank))
        at = torch.cat([at.new_zeros(1), at, at.new_full((1,), len(self.atom))])
        return dict(zip(self.held, _host(self.below[:, at].diff()), strict=True))

    def coarse(self, n_atoms: int, keep: Iterable[float] = ()) -> Support:
        if sum(self.held.values()) < COMPILED:  # as rows on the host are
            return self.distinct.coarse(n_atoms, keep)
        low, high = self.span
        starts = torch.cat([self._steps(k, n_atoms / len(self.held)) for k in range(len(self.held))])
        edge = np.unique(np.concatenate([[low, high, *keep], _host(self.atom[starts])]))
        edge = edge[(edge >= low) & (edge <= high)]
        cut = torch.searchsorted(self.atom, torch.as_tensor(edge, device=self.atom.device))
        cut = torch.cat([cut, cut.new_full((1,), len(self.atom))])
        counts = _host(self.below[:, cut].diff())
        rows, total = counts.sum(axis=0), _host(between(self._levels, cut)[:, 0].sum(dim=0))
        used = rows > 0
        last = np.nextafter(np.append(edge[1:], np.inf), -np.inf)
        at = np.cumsum(used) - 1
        return Support(
            score=np.clip(total[used] / rows[used], edge[used], np.minimum(last, high)[used]),
            strata={
                name: Cells(atom=at[count > 0], count=count[count > 0])
                for name, count in zip(self.held, counts, strict=True)
            },
            edge=edge[used],
        )

    def _steps(self, stratum: int, n_levels: float) -> Tensor:
        """The places of the scores of a stratum where groups start, finer towards its top."""
        n, below = list(self.held.values())[stratum], self.below[stratum]
        rank = torch.as_tensor(n - depths(n, n_levels), device=below.device)
        return self._ranked(stratum, torch.cat([rank, below[1:2].clamp(max=n - 1)]))


def _of_keys(score: Tensor, stratum: Tensor, names: Iterable[str]) -> tuple[Tensor, Tensor]:
    """Scores and rows below, of float32 in [0, 1]: their bits leave two of 32 for the stratum.

    One sort of keys, without the places they come from, takes a third of the time.
    """
    bits = (score + 0.0).view(torch.int32)  # −0.0 is 0.0
    # Shifted bits reach the sign: it is flipped, so that signed integers sort as the scores do.
    key, count = torch.unique((bits << 2 | stratum) ^ (-1 << 31), return_counts=True)
    bits, of = ((key ^ (-1 << 31)) >> 2) & 0x3FFFFFFF, key & 3
    differs = bits[1:] != bits[:-1]
    end = torch.cat([differs.nonzero()[:, 0], count.new_full((1,), len(differs))])
    below = torch.stack(
        [torch.cumsum(torch.where(of == STRATA.index(name), count, 0), 0)[end] for name in names]
    )
    return bits[end].view(torch.float32).to(torch.float64), functional.pad(below, (1, 0))


def _host(tensor: Tensor) -> NDArray[Any]:
    return np.asarray(tensor.cpu().numpy())
