"""Batches: tensors as a training loop has them, checked and added to a histogram on their device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from halftruth._errors import InputError, arg
from halftruth._pytorch import Tensor, torch
from halftruth.engines.tensors._dense_histogram import State, add_rows, empty
from halftruth.kernels import _row_bins
from halftruth.table._grid import Grid
from halftruth.table._histogram import HEAVIEST, LIGHTEST, UNIT, sums_of

__all__ = ["Batch", "Reader", "coarse_weights", "joined", "overflown"]

TARGETS = {
    1: "soft labels in [0, 1]",
    2: "0 (negative) and 1 (positive)",
    3: "1 (positive), 0 (negative), and NaN or the code named by `unlabeled`",
}
"""What targets are, by the number of strata."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Batch:
    """Rows side by side (n,) on one device: scores and targets of few types, weights as float64."""

    score: Tensor
    target: Tensor
    weight: Tensor | None = None

    @classmethod
    def read(cls, preds: Any, target: Any, weight: Any, device: torch.device) -> Batch:
        """The tensors of one update, flattened; only what the host knows of them is checked."""
        if device.type == "mps":
            raise InputError(
                f"The metric is on {device}, which has no float64. Move it and the batches by .cpu()."
            )
        tensors = {"preds": preds, "target": target, "sample_weight": weight}
        rows = {name: _rows(x, name, preds, device) for name, x in tensors.items() if x is not None}
        if not preds.is_floating_point():
            remedy = "Pass what the model gives before it is turned into classes."
            got = f"dtype {preds.dtype}"
            raise InputError(argument="preds", must="be floating-point scores", got=got, remedy=remedy)
        if weight is None:
            return cls(score=rows["preds"], target=rows["target"])
        weights = rows["sample_weight"].to(torch.float64)
        counts = weights != 0  # a row of weight zero is left out
        return cls(score=rows["preds"][counts], target=rows["target"][counts], weight=weights[counts])


@dataclass(frozen=True, kw_only=True, eq=False)
class Reader:
    """What the numbers of a batch mean, and how they are added to a state.

    A state (strata · slots, columns) is of int64: the sums of a histogram, and in the last two columns the
    bits of the lowest and highest score of each bin.
    """

    grid: Grid
    names: Sequence[str]
    """The strata: soft labels alone; positive and negative; or positive, unlabeled and negative."""
    unlabeled: float  # a code for unlabeled rows beside NaN; NaN where there is none

    def empty(self, *, weighted: bool) -> Tensor:
        """The state of no rows."""
        return _packed(empty(self.grid, n_strata=len(self.names), weighted=weighted, soft=self.soft))

    def named(self, state: Tensor, *, weighted: bool) -> State:
        """The columns of a state by their names."""
        names = (*sums_of(self.grid, weighted=weighted, soft=self.soft), "low", "high")
        ends = state.view(torch.float64)
        return {name: (ends if name in ("low", "high") else state)[:, k] for k, name in enumerate(names)}

    def identity(self, *, weighted: bool) -> Tensor:
        """What tells readers apart, as integers: torchmetrics lets metrics of equal states share them."""
        numbers = np.asarray([self.unlabeled, self.grid.center, self.grid.scale]).view(np.int64)
        kinds = [len(self.names), self.grid.kind == "margin", self.grid.n_bins, weighted]
        return torch.tensor([*kinds, *numbers.tolist()], dtype=torch.int64)

    def add_on_host(self, batch: Batch, state: Tensor) -> None:
        """Add the rows to a state in place; a batch with a bad row is refused whole."""
        usual = batch.weight is None or bool(_usual(batch.weight).all())
        bad = not usual or _row_bins.add_rows(
            batch.score.numpy(),
            batch.target.numpy(),
            None if batch.weight is None else batch.weight.numpy(),
            state.numpy(),
            n_strata=len(self.names),
            unlabeled=self.unlabeled,
            **self.grid.to_dict(),
        )
        if bad:
            self.refuse(self._look(batch)[0].tolist())

    def add_on_device(self, batch: Batch, state: Tensor) -> Tensor:
        """The same without waiting for the device; how many rows are bad, as `refuse` takes it.

        What is added of a batch with a bad row is worth nothing.
        """
        refused, stratum = self._look(batch)
        # Bad scores are set to one that has a bin: an index beyond the histogram is an error on the device.
        score = torch.where(self._in_range(batch.score), batch.score, 0.0)
        weighted, device = batch.weight is not None, score.device
        added = empty(self.grid, n_strata=len(self.names), weighted=weighted, soft=self.soft, device=device)
        add_rows(added, self.grid, score, stratum, batch.weight, batch.target if self.soft else None)
        state.copy_(joined(torch.stack([state, _packed(added)])))
        return refused

    @property
    def soft(self) -> bool:
        return len(self.names) == 1

    def _in_range(self, score: Tensor) -> Tensor:
        if self.grid.kind == "probability":
            return (score >= 0) & (score <= 1)
        return score.isfinite()

    def _look(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """How many rows are bad, as `refuse` takes it; and the stratum of each row."""
        y = batch.target
        stratum = torch.zeros_like(y, dtype=torch.int64)
        if self.soft:
            known = (y >= 0) & (y <= 1)
        else:
            # In float64, as the compiled loop compares, which has no other numbers.
            hidden = (y.isnan() | (y.to(torch.float64) == self.unlabeled)) & (len(self.names) == 3)
            known = hidden | (y == 0) | (y == 1)
            stratum = torch.where(hidden, 1, torch.where(y == 0, len(self.names) - 1, stratum))
        usual = torch.ones_like(known) if batch.weight is None else _usual(batch.weight)
        nan = batch.score.isnan()
        good = (~nan, self._in_range(batch.score) | nan, known, usual)
        refused = torch.stack([(~rows).sum() for rows in good])
        return refused, stratum

    def _bad_scores(self, nan: int, outside: int) -> str:
        """What is wrong with scores that are NaN, and with those outside the grid."""
        faults = [f"{nan} NaN (drop these rows, or look into the model that gave them)"] if nan else []
        if self.grid.kind == "margin":
            faults += [f"{outside} infinite value(s) (drop or repair these rows)"] if outside else []
            return f"`preds` must be finite, got {' and '.join(faults)}."
        remedy = 'apply torch.sigmoid if these are logits, or use grid="margin"'
        faults += [f"{outside} value(s) outside ({remedy})"] if outside else []
        return f"`preds` must be probabilities in [0, 1], got {' and '.join(faults)}."

    def refuse(self, refused: Sequence[int]) -> None:
        """Raise where rows have no score (NaN), one outside the grid, a bad target or a bad weight."""
        nan, outside, targets, weights = refused
        if nan or outside:
            raise InputError(self._bad_scores(nan, outside))
        if targets:
            raise InputError(
                f"{arg('target')} must hold {TARGETS[len(self.names)]}; got {targets} other value(s). Map "
                "the labels to these, or drop the rows."
            )
        if weights:
            raise InputError(
                argument="sample_weight",
                must="be zero or lie in [2^-10, 2^15]",
                got=f"{weights} other value(s)",
                remedy="Multiply all weights by one number: metrics do not depend on their scale.",
            )


def _packed(state: State) -> Tensor:
    return torch.stack([column.view(torch.int64) for column in state.values()], dim=1)


def joined(states: Tensor) -> Tensor:
    """One state (slots, columns) of many along the first axis: sums added up, the outermost ends kept."""
    ends = states.view(torch.float64)
    out = states.sum(dim=0)  # of the ends it adds up bits, which are written over
    out[:, -2] = ends[..., -2].amin(dim=0).view(torch.int64)
    out[:, -1] = ends[..., -1].amax(dim=0).view(torch.int64)
    return out


def coarse_weights(weight: Tensor) -> Tensor:
    """Σ w in steps of 2⁻¹⁰ and Σ w² in whole ones, of which 64 bits hold those of 2³³ rows."""
    steps = torch.stack([weight / LIGHTEST, weight * weight])
    return torch.floor(steps + 0.5).to(torch.int64).sum(dim=1)


def overflown(state: State, weights: Tensor) -> bool:
    """Whether a sum of weights passed 2⁶³ in a bin: it then lacks 2⁶⁴, and with it the total of all bins."""
    # Sums wrap around without a sign of it; those of coarse steps, which cannot, tell what the total must be.
    totals = torch.stack([state[name].to(torch.float64).sum() for name in ("weight", "square")])
    steps = totals.new_tensor([LIGHTEST, 1.0])
    return bool(((totals / UNIT - weights * steps).abs() > UNIT / 2).any())


def _usual(weight: Tensor) -> Tensor:
    return (weight >= LIGHTEST) & (weight <= HEAVIEST)


def _rows(values: Any, name: str, preds: Any, device: torch.device) -> Tensor:
    """A tensor of the shape of the scores, on the device of the metric, flat and of a type loops take."""
    if not isinstance(values, Tensor):
        raise InputError(argument=name, must="be a PyTorch tensor", got=type(values).__name__)
    if values.shape != preds.shape:
        two = preds.ndim == values.ndim + 1 and preds.shape[-1] == 2
        hint = "the scores of the positive class, preds[..., 1]" if two else "one value for each score"
        shapes = f"{tuple(preds.shape)}, got {tuple(values.shape)}"
        raise InputError(f"{arg(name)} must have the shape of {arg('preds')}, {shapes}. Pass {hint}.")
    if values.device != device:
        raise InputError(
            f"{arg(name)} is on {values.device} and the metric on {device}. Move the metric, "
            f"metric.to({str(values.device)!r})."
        )
    rows = values.detach().reshape(-1)
    if rows.dtype in (torch.float32, torch.float64, torch.int64):
        return rows
    return rows.to(torch.float32 if rows.is_floating_point() else torch.int64)
