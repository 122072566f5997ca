"""A yardstick for Γ: how much the share of known cases differs between groups, at equal score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from halftruth import _checks
from halftruth._errors import InputError, Note, arg, call, notes_to_dict
from halftruth.prior import _known_rates
from halftruth.prior._known_rates import Contrast
from halftruth.results._estimate import json_number
from halftruth.table._score_table import POSITIVE, STRATA, UNLABELED, ScoreTable

__all__ = ["GroupShare", "SelectionBenchmark", "selection_benchmark"]

SAME = (
    "Assumes that positives of equal score are as frequent in every group: where they are not, that counts "
    "as selection too. This is a yardstick, no estimate: selection may be weaker or stronger than this."
)
SAMPLED = (
    "The unlabeled are a sample of their own: where it holds a larger part of one group than of another, "
    "that counts as selection too, except in the change along the score."
)


def selection_benchmark(
    evidence: Any, by: Mapping[str, Any] | None = None, *, confidence_level: float = 0.95
) -> SelectionBenchmark:
    """How much the share of known cases differs between groups, periods or sources, at equal score.

    Parameters
    ----------
    evidence : PositiveUnlabeled, or {group: evidence or ScoreTable}
        Tables by group are what ``ScoreTable.from_file(..., by="site")`` gives; ``by`` is then left out.
    by : mapping, optional
        The group of each row, by kind of row, in the order they came in: {"positive": groups, "unlabeled":
        groups}, and "negative" where known negatives are part of the population. Or {group: evidence or
        ScoreTable}. One column over all rows is refused: evidence has lost the order between kinds.
    confidence_level : float

    Examples
    --------
    >>> import numpy as np, halftruth as ht
    >>> rng = np.random.default_rng(0)
    >>> y, site = rng.random(20_000) < 0.2, rng.choice(["A", "B"], 20_000)
    >>> known = y & (rng.random(20_000) < np.where(site == "A", 0.4, 0.2))  # A finds twice as many
    >>> evidence = ht.PositiveUnlabeled.from_labels(known, rng.normal(y, 1), unlabeled=0)
    >>> ht.selection_benchmark(evidence, {"positive": site[known], "unlabeled": site[~known]}).sentence
    'As strong as the difference between A and B, where ... 1.89 times ...: Γ = 1.4... (1.3... to 1.5...).'
    """
    level = _checks.confidence_level(confidence_level)
    tables, nested = _tables(evidence, by)
    sums = _known_rates.counts(list(tables.values()), nested=nested)
    used = _known_rates.overlap(sums) >= _known_rates.LEAST
    names, sums = [name for name, kept in zip(tables, used, strict=True) if kept], sums[:, used]
    found = _known_rates.log_rates(sums)
    if found is None:
        text = "No two groups have enough known positives (about 10 each) at scores that they share."
        raise InputError(text, argument="by", remedy="Join groups, e.g. months to years.")
    share = _known_rates.expected(sums).sum(axis=1)
    pair, spread, calm = _known_rates.widest(*found, share, names, level)
    along = _known_rates.change_along(sums, names, level)
    gammas, ratios = np.exp(abs(calm)).tolist(), np.exp(found[0]).tolist()
    rows = [(len(tables[name].strata.get(POSITIVE, ())), len(tables[name])) for name in names]
    groups = {name: GroupShare(gammas[k], ratios[k], *rows[k]) for k, name in enumerate(names)}
    notes = [Note("assumption", text) for text in ([SAME] if nested else [SAME, SAMPLED])]
    if small := [name for name in tables if name not in groups]:
        text = f"{len(small)} group(s) with too few known positives to compare are left out, such as"
        notes.append(Note("small_sample", f"{text} {small[0]!r}."))
    if not groups[pair.pair[1]].known:
        pair = replace(pair, high=np.inf)
        notes.append(Note("interval", f"{pair.pair[1]!r} has no known positive: Γ has no upper limit."))
    # Γ is against the average positive: of the two groups by their sizes, as if there were no others.
    first, second = (share[names.index(name)] for name in pair.pair)
    part = first / (first + second)

    def against_average(ratio: float) -> float:
        average = 1 + part * (ratio - 1)
        return float(max(average, np.inf if np.isinf(ratio) else ratio / average))

    gamma, low, high = map(against_average, (pair.gamma, pair.low, pair.high))
    return SelectionBenchmark(
        gamma=gamma, low=low, high=high, pair=pair.pair, ratio=pair.gamma, typical=float(np.exp(spread)),
        along=along, groups=groups, confidence_level=level, notes=tuple(notes),
    )  # fmt: skip


@dataclass(frozen=True)
class GroupShare:
    """One group against the whole: Γ with noise taken off, the ratio as it came, known and all rows."""

    gamma: float
    ratio: float
    known: int
    rows: int


@dataclass(frozen=True, kw_only=True)
class SelectionBenchmark(Contrast):
    """How much likelier a case is to be known in one group than in another, at equal score, as Γ.

    If positives of some scores were known at the rate of the one group and others at that of the other, in
    the proportion of the groups, w(s) = f₁/f_known would lie in [1/Γ, Γ]: Γ is against the average rate.

    Attributes
    ----------
    gamma, low, high : float
        Of the pair that differs most; the interval allows for its choice and reaches 1 where it may be noise.
    pair : (str, str)
        The group with more known cases at equal score, and the one with fewer.
    ratio : float
        How many times as likely a case of the first is to be known as one of the second.
    typical : float
        exp of the standard deviation of the groups' log rates.
    along : Contrast or None
        The factor by which the ratio of two groups changes from the lower to the upper half of the scores. A
        constant ratio moves a ranking's figures only if groups differ in their scores; this always does.
    groups : mapping of str to GroupShare
        Each group against the whole: .gamma, .ratio, .known, .rows.

    Notes
    -----
    Noise is taken off the ratio; where groups do not differ, the interval reaches 1. Frequency looks like
    selection: where positives of equal score are more frequent in one group, that counts too.
    """

    ratio: float
    typical: float
    along: Contrast | None
    groups: Mapping[str, GroupShare]
    confidence_level: float
    notes: tuple[Note, ...] = ()

    @property
    def sentence(self) -> str:
        """The result in words."""
        first, second = self.pair
        if self.low == 1:
            return (
                f"{first} and {second} differ most, by no more than noise explains: Γ is up to "
                f"{self.high:.2f}. That says nothing of what all groups share, such as one alarm or score."
            )
        return (
            f"As strong as the difference between {first} and {second}, where a case of equal score is "
            f"{self.ratio:.2f} times as likely to be known in {first}: Γ = {self.gamma:.2f} ({self.low:.2f} "
            f"to {self.high:.2f})."
        )

    def __str__(self) -> str:
        lines = [self.sentence, *(f"Note: {note}" for note in self.notes)]
        if self.along is not None:
            lines.insert(1, f"From low to high scores the ratio changes most between {self.along.between}.")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return asdict(self) | {"high": json_number(self.high), **notes_to_dict(self.notes)}


def _tables(evidence: Any, by: Any) -> tuple[dict[str, ScoreTable], bool]:
    """The table of each group, and whether the known cases are among those that they are compared with."""
    given = evidence if by is None else by
    if not isinstance(given, Mapping):
        groups = call('{"positive": site[y == 1], "unlabeled": site[y != 1]}', "groups")
        must, got = "be a mapping: groups by kind of row, or tables by group", type(given).__name__
        raise InputError(argument="by", must=must, got=got, remedy=f"Pass e.g. {groups}.")
    populations = {getattr(x, "population", "all") for x in ([evidence] if given is by else given.values())}
    if len(populations) > 1:
        raise InputError(f"All groups must have the same {arg('population')}, got both.", argument="by")
    nested = populations == {"all"}
    parts = {str(name): getattr(part, "table", part) for name, part in given.items()}
    if given is by and POSITIVE in given:
        remedy = "Pass PositiveUnlabeled evidence."
        whole = _checks.instance(getattr(evidence, "table", evidence), "evidence", ScoreTable, remedy)
        parts = dict(_known_rates.by_group(whole, by, STRATA if nested else (POSITIVE, UNLABELED)))
    remedy = "Pass tables by group."
    tables = {name: _checks.instance(x, "by", ScoreTable, remedy) for name, x in parts.items()}
    for kind in (POSITIVE, UNLABELED):
        if not any(kind in table.strata for table in tables.values()):
            raise InputError(f"{arg('by')} has no group with {kind} rows.", argument="by")
    return tables, nested
