"""Scores, labels and weights on a device, checked there with one look from the host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf, isfinite
from typing import Any, TypeAlias

from halftruth import _checks
from halftruth._errors import InputError, arg
from halftruth._pytorch import Tensor, torch
from halftruth.engines.tensors._dense_histogram import has_triton
from halftruth.table._groups import OUTSIDE, STRATA, refuse_groups

__all__ = ["Names", "Tensors", "joined", "of_strata", "read", "read_groups"]

POSITIVE, UNLABELED, NEGATIVE = range(3)  # what an index into `STRATA` means
MOST = 1 << 31  # rows whose pairs 64 bits can count


@dataclass(frozen=True, kw_only=True, eq=False)
class Tensors:
    """Checked rows on one device."""

    score: Tensor  # (n,) float32 or float64
    stratum: Tensor  # (n,) uint8, index into `STRATA`
    weight: Tensor | None  # (n,) positive; None where all weights are one
    n_rows: Mapping[str, int]  # of each stratum that has rows, in the order of `STRATA`
    span: tuple[float, float]  # the lowest and the highest score
    weighted: frozenset[str] = frozenset()  # the strata with weights other than one
    weights: tuple[float, float] = (1.0, 1.0)  # the lightest and the heaviest
    kept: Tensor | None = None  # (m,) which of the rows read these are; None where all are

    def __post_init__(self) -> None:
        object.__setattr__(self, "versions", self._versions())

    versions: tuple[int, ...] = field(init=False)
    """How often the tensors had been written to when they were checked."""

    def _versions(self) -> tuple[int, ...]:
        # PyTorch counts how often a tensor was written to, but not in inference mode.
        columns = [x for x in (self.score, self.weight) if x is not None and not x.is_inference()]
        return tuple(column._version for column in columns)

    def unchanged(self) -> Tensors:
        """These rows, which are no copies: refused where they were written to since they were checked."""
        if self._versions() != self.versions:
            raise InputError(
                "The tensors of this table were written to after it was made of them. Make it again, or of "
                "copies, e.g. score.clone()."
            )
        return self

    @property
    def device(self) -> torch.device:
        return self.score.device

    @property
    def on_host(self) -> bool:
        """Whether the host can read these rows as they are: its loops are faster than PyTorch's there."""
        return self.device.type == "cpu"

    def of(self, name: str) -> tuple[Tensor, Tensor | None]:
        """The scores and weights of one stratum, in the order of the rows."""
        if len(self.n_rows) == 1:
            return self.score, self.weight
        mask = self.stratum == STRATA.index(name)
        return self.score[mask], None if self.weight is None else self.weight[mask]

    def full_weight(self) -> Tensor:
        """The weights, ones where all are one."""
        return torch.ones_like(self.score) if self.weight is None else self.weight


Names: TypeAlias = tuple[str, str, str]  # what the user calls scores, labels and weights
NAMES = ("score", "label", "weight")


def read(
    score: Any, label: Any = None, *, weight: Any = None, unlabeled: float | None = None, names: Names = NAMES
) -> Tensors:
    """Rows from tensors on one device: scores of whole numbers, or of floats of any width.

    Labels are 1 positive, 0 negative, NaN or the code ``unlabeled`` unlabeled; without labels all rows are
    unlabeled. Rows of weight zero are dropped. ``names`` are what messages call the three.
    """
    code = None if unlabeled is None else _checks.unlabeled_code(unlabeled)
    s = _scores(score, names[0])
    n = len(s)
    y = None if label is None else _beside(label, names[1], s)
    w = None if weight is None else _beside(weight, names[2], s).to(torch.float64)
    if y is not None and w is None and y.is_cuda and has_triton():
        from halftruth.engines.tensors._triton_pass import survey

        stratum, facts = survey(s, y, code)
        rows = _with_facts(s, stratum, w, facts)
    else:
        stratum = torch.full_like(s, UNLABELED, dtype=torch.uint8) if y is None else _strata(y, code)
        rows = _surveyed(s, stratum, w)
    lightest, heaviest = rows.weights
    # The host's own checks have the words for what is wrong; they cost a download, of rows that are refused.
    if not all(map(isfinite, rows.span)):
        _checks.scores(score, names[0])
    if sum(rows.n_rows.values()) < n:
        _checks.partial_labels(label, names[1], unlabeled=unlabeled, length=n)
    if w is not None and not (lightest >= 0 and 0 < heaviest < inf):
        _checks.weights(weight, names[2], length=n)
    if w is None or lightest > 0:
        return rows
    kept = w > 0
    return replace(_surveyed(s[kept], stratum[kept], w[kept]), kept=kept)


def of_strata(scores: Mapping[str, Any]) -> Tensors:
    """Rows of known strata, {stratum: scores}, all on one device."""
    tensors = {name: _scores(score, name) for name, score in scores.items()}
    first = next(iter(tensors.values()))
    for name, tensor in tensors.items():
        _refuse_device(tensor, name, first)
    stratum = torch.cat(
        [torch.full_like(x, STRATA.index(name), dtype=torch.uint8) for name, x in tensors.items()]
    )
    score = torch.cat(list(tensors.values()))
    _refuse_number(len(score), "scores")
    rows = _surveyed(score, stratum, None)
    if not all(map(isfinite, rows.span)):
        for name, values in scores.items():
            _checks.scores(values, name)
    return rows


def joined(tables: Sequence[Tensors]) -> Tensors:
    """The rows of all tables, which are on one device."""
    weighted = any(rows.weight is not None for rows in tables)
    n_rows = {name: sum(rows.n_rows.get(name, 0) for rows in tables) for name in STRATA}
    _refuse_number(sum(n_rows.values()), "score")
    return Tensors(
        score=torch.cat([rows.score for rows in tables]),
        stratum=torch.cat([rows.stratum for rows in tables]),
        weight=torch.cat([rows.full_weight() for rows in tables]) if weighted else None,
        n_rows={name: count for name, count in n_rows.items() if count},
        span=(min(rows.span[0] for rows in tables), max(rows.span[1] for rows in tables)),
        weighted=frozenset().union(*(rows.weighted for rows in tables)),
        weights=(min(rows.weights[0] for rows in tables), max(rows.weights[1] for rows in tables)),
    )


def read_groups(
    score: Any, label: Any = None, *, by: Any, weight: Any = None, unlabeled: float | None = None
) -> dict[str, Tensors]:
    """The rows of each value of ``by``, a tensor of whole numbers, smallest first: {value as text: rows}."""
    rows = read(score, label, weight=weight, unlabeled=unlabeled)
    group = _beside(by, "by", score)
    group = group if rows.kept is None else group[rows.kept]
    if group.is_floating_point():
        remedy = "Convert it, e.g. by .long()."
        raise InputError(argument="by", must="hold whole numbers", got=f"dtype {group.dtype}", remedy=remedy)
    value, place = torch.unique(group, return_inverse=True)
    refuse_groups(len(value))
    order = torch.argsort(place, stable=True)
    sizes = torch.bincount(place, minlength=len(value)).tolist()
    scores, strata = (torch.split(column[order], sizes) for column in (rows.score, rows.stratum))
    weights = [None] * len(sizes) if rows.weight is None else torch.split(rows.weight[order], sizes)
    groups = zip(value.tolist(), scores, strata, weights, strict=True)
    return {str(int(name)): _surveyed(s, of, w) for name, s, of, w in groups}


def _scores(values: Any, name: str) -> Tensor:
    out = _tensor(values, name)
    if out.is_complex() or out.ndim != 1 or len(out) == 0:
        _checks.scores(values, name)
    _refuse_number(len(out), name)
    if out.device.type == "meta":
        raise InputError(f"{arg(name)} is on the device meta, which holds no values. Pass real scores.")
    if out.device.type == "mps":
        raise InputError(f"{arg(name)} is on {out.device}, which has no float64. Move it by .cpu().")
    if not out.is_floating_point():
        return out.to(torch.float64)
    return out.to(torch.float32) if out.dtype.itemsize < 4 else out


def _beside(values: Any, name: str, score: Tensor) -> Tensor:
    """A column of the same rows."""
    out = _tensor(values, name)
    if out.is_complex() or out.ndim != 1 or len(out) != len(score):
        _checks.vector(values, name, missing=True, length=len(score))
    _refuse_device(out, name, score)
    return out


def _tensor(values: Any, name: str) -> Tensor:
    if not isinstance(values, Tensor):
        remedy = "Convert it by torch.as_tensor, or pass arrays to Labeled or PositiveUnlabeled."
        kind = type(values).__name__
        raise InputError(argument=name, must="be a PyTorch tensor", got=kind, remedy=remedy)
    if values.layout != torch.strided:
        remedy = "Convert it by .to_dense()."
        raise InputError(argument=name, must="be a dense tensor", got=values.layout, remedy=remedy)
    return values.detach()


def _refuse_device(column: Tensor, name: str, score: Tensor) -> None:
    if column.device != score.device:
        raise InputError(
            argument=name,
            must=f"be on the device of the scores, {score.device}",
            got=column.device,
            remedy=f"Move it by .to({str(score.device)!r}).",
        )


def _refuse_number(n: int, name: str) -> None:
    if n >= MOST:
        remedy = "Compress them in parts, and merge these."
        raise InputError(argument=name, must="have less than 2^31 rows", got=f"{n:,}", remedy=remedy)


def _strata(label: Tensor, code: float | None) -> Tensor:
    """The stratum of each row."""
    out = torch.full_like(label, OUTSIDE, dtype=torch.uint8)
    out.masked_fill_(label == 1, POSITIVE).masked_fill_(label == 0, NEGATIVE)
    if label.is_floating_point():
        out.masked_fill_(label.isnan(), UNLABELED)
    return out if code is None else out.masked_fill_(label.to(torch.float64) == code, UNLABELED)


def _facts(score: Tensor, stratum: Tensor) -> Tensor:
    """The rows of each stratum, −lowest and highest score, NaN or infinite if any is."""
    # −lowest, so that the parts of a survey by many programs are joined by the same maximum for both ends.
    low, high = torch.aminmax(score)
    facts = [*((stratum == k).sum() for k in range(len(STRATA))), -low, high]
    return torch.stack([fact.to(torch.float64) for fact in facts])


def _surveyed(score: Tensor, stratum: Tensor, weight: Tensor | None) -> Tensors:
    """Rows of which nothing but the strata is known yet; what the host must know, in one synchronisation."""
    facts = _facts(score, stratum)
    if weight is not None:
        uneven = [((stratum == k) & (weight != 1)).any().to(torch.float64) for k in range(len(STRATA))]
        facts = torch.cat([facts, torch.stack([*torch.aminmax(weight), *uneven])])
    return _with_facts(score, stratum, weight, facts.tolist())


def _with_facts(score: Tensor, stratum: Tensor, weight: Tensor | None, facts: list[float]) -> Tensors:
    """Rows with their `_facts`; of weights also the extremes, and in which strata any is not one."""
    counts, (minus_low, high) = facts[: len(STRATA)], facts[len(STRATA) : len(STRATA) + 2]
    lightest, heaviest, *uneven_in = facts[len(STRATA) + 2 :] or [1.0, 1.0]
    weighted = frozenset(name for name, uneven in zip(STRATA, uneven_in, strict=False) if uneven)
    return Tensors(
        score=score,
        stratum=stratum,
        weight=weight if weighted else None,
        n_rows={name: int(count) for name, count in zip(STRATA, counts, strict=True) if count},
        span=(-minus_low + 0.0, high + 0.0),  # −0.0 is 0.0
        weighted=weighted,
        weights=(lightest, heaviest),
    )
