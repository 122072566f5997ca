"""Reviewed rows as evidence and as tables: what the kinds whose name begins with "reviewed" are made of."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

import halftruth as ht
from halftruth.table._score_table import ScoreTable
from halftruth.table._strata import OPEN_ROWS, REVIEWED, SOFT_LABEL, StratumRows

STRATA = ("positive", "negative", "unlabeled")
SAID = {"positive": 1.0, "negative": 0.0}

some = st.one_of(st.sampled_from((0.25, 0.5)), st.floats(0.1, 0.9))
CHANCES: dict[str, st.SearchStrategy[float]] = {
    "reviewed": st.one_of(st.just(1.0), some),
    "reviewed-rounds": st.one_of(some, st.sampled_from((1.25, 4.0))),  # 1 / (Σ share/chance) of rounds
}


def a_guess(score: np.ndarray) -> np.ndarray:
    """Some probability at each score, whatever the rows."""
    return np.asarray(0.1 + 0.8 / (1 + np.exp(-score)))


SETTINGS: dict[str, dict[str, Any]] = {
    "reviewed": {"model": "none"},
    "reviewed-guess": {"model": a_guess},
    "reviewed-blocks": {"model": "blocks"},
    "reviewed-auto": {"model": "auto"},
    "reviewed-erring": {"model": "none", "sensitivity": 0.9, "specificity": 0.75},
    "reviewed-known": {"model": "none"},
    "reviewed-open": {"model": "none"},
    "reviewed-rounds": {"model": "none"},
    "reviewed-estimated": {},
}
"""The kinds of reviewed evidence, and what is known of each beside the rows."""

APART = ("reviewed-estimated",)
"""Whose chances are those of the table they were estimated in, and another's when tables merge."""

FITTED = ("reviewed-blocks", "reviewed-auto", "reviewed-estimated")
"""Whose guess or chances are fitted to the reviews, of which each counts once, whatever its weight."""


def chances(kind: str, stratum: str) -> st.SearchStrategy[float]:
    """Of rows of a stratum to be reviewed."""
    if stratum == "soft":
        return st.just(1.0)
    if stratum == "unlabeled":  # a certain review was not left out
        return st.one_of(st.just(0.0), some) if kind == "reviewed-open" else some
    return CHANCES.get(kind, some)


def evidence(kind: str, rows: Any) -> ht.Reviewed:
    """Of rows with strata, scores, chances and weights."""
    if kind == "reviewed-rounds":
        return ht.Reviewed.from_table(table(rows, always=True), **SETTINGS[kind])
    return ht.Reviewed(
        rows.score,
        np.asarray([SAID.get(name, np.nan) for name in rows.stratum]),
        None if kind == "reviewed-estimated" else rows.value,
        sample_weight=rows.weight,
        known_positive=rows.stratum == "soft" if kind == "reviewed-known" else None,
        **SETTINGS[kind],
    )


def joined(rows: Any, place: np.ndarray) -> np.ndarray:
    """The places, where rows that nobody reviewed lie beside reviews: alone they could be of any kind."""
    looked = np.isin(rows.stratum, list(SAID)) & (rows.full_weight > 0)
    alone = ~np.isin(rows.stratum, list(SAID)) & ~np.isin(place, place[looked])
    return np.where(alone, place[looked][0], place) if looked.any() else place


def table(rows: Any, *, always: bool = False) -> ScoreTable:
    """The table of some of the rows, as the evidence of all of them has it; ``always`` with chances."""
    looked = np.isin(rows.stratum, list(SAID))
    certain = not always and looked.all() and bool((rows.value == 1).all())
    strata = {}
    for name in dict.fromkeys(rows.stratum.tolist()):
        part = rows.part(name)
        if name == "soft":
            part["meaning"] = SOFT_LABEL
        elif name in SAID:
            part |= {"value": None} if certain else {"value": 1 / part["value"], "meaning": REVIEWED}
        elif (part["value"] == 0).any():
            part |= {"value": np.where(part["value"] == 0, 1.0, 0.0), "meaning": OPEN_ROWS}
        else:
            part["value"] = None
        strata[name] = StratumRows(**part)
    return ScoreTable(strata)
