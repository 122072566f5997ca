"""The answer of a comparison in a sentence or two: who is ahead, how surely, and what says otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from halftruth._registry import headline, titled
from halftruth.results._comparison import Comparison, Difference, Pair
from halftruth.results._estimate import Evaluation, figure

__all__ = ["answer"]

Rows = Mapping[str, Difference]


def answer(comparison: Comparison, results: Mapping[str, Evaluation]) -> str:
    """Who is ahead by the metric that is told first; with two models, also what other metrics say.

    Where the models' own ``results`` are shown too, their values are told.
    """
    pairs = {pair: _as_shown(pair, rows, results) for pair, rows in comparison.pairs.items()}
    label = headline(next(iter(pairs.values())))
    if len(pairs) > 1:
        return _order(pairs, label)
    ((names, rows),) = pairs.items()
    row = rows[label]
    return f"By {titled(label)[0]} {_ahead(row, names)}.{_turns(row)}{_otherwise(rows, row, names)}"


def _as_shown(pair: Pair, rows: Rows, results: Mapping[str, Evaluation]) -> dict[str, Difference]:
    if not results:
        return dict(rows)
    first, second = (results[name] for name in pair)
    return {
        label: replace(row, values=(first[label].value, second[label].value)) for label, row in rows.items()
    }


def _ahead(row: Difference, names: tuple[str, str]) -> str:
    """The better one against the other, its lead above 0."""
    leader = row.leader or 0
    sign = -1 if leader else 1
    better, other = names[leader], names[1 - leader]
    low, high = sorted(sign * np.clip((row.low, row.high), *row.shown_limits))
    verdict = f"{better} is better than {other}" if row.leader is not None else "none is better beyond noise"
    if np.isnan(row.value):
        return f"{verdict}: the difference is {figure(low)} to {figure(high)} over all priors not refuted"
    shown = row.value_texts
    values = f"{better} has {shown[leader]}, {other} {shown[1 - leader]}"
    value, between = replace(row, value=sign * row.value, low=low, high=high).texts
    return f"{verdict}: {values}, difference {value} ({between})"


def _turns(row: Difference) -> str:
    if not row.flips:
        return ""
    return f" The order turns where the share of positives passes {', '.join(map(figure, row.flips))}."


def _otherwise(rows: Rows, first: Difference, names: tuple[str, str]) -> str:
    """Metrics by which another model is better beyond noise."""
    others: dict[int, list[str]] = {}
    for label, row in rows.items():
        if row.leader is not None and row.leader != first.leader:
            others.setdefault(row.leader, []).append(titled(label)[0])
    return "".join(f" By {', '.join(labels)} {names[k]} is better." for k, labels in others.items())


def _order(pairs: Mapping[Pair, Rows], label: str) -> str:
    """The models from best to worst by a metric, and how sure the first place is."""
    values: dict[str, float] = {}
    wins: dict[str, int] = {}
    for pair, rows in pairs.items():
        row = rows[label]
        values |= dict(zip(pair, row.values, strict=True))
        if row.leader is not None:
            wins[pair[row.leader]] = wins.get(pair[row.leader], 0) + 1
    name = titled(label)[0]
    best = next((model for model, n in wins.items() if n == len(values) - 1), None)
    if any(map(np.isnan, values.values())):
        ahead = f"{best} is better than every other" if best else "no model is better than every other"
        return f"By {name} {ahead}, over all priors not refuted."
    falling = next(iter(pairs.values()))[label].better != "low"
    order = sorted(values, key=values.__getitem__, reverse=falling)
    listed = ", ".join(f"{model} {figure(values[model])}" for model in order)
    sure = "beyond noise" if best == order[0] else "but not beyond noise"
    return f"By {name} the order is {listed}; {order[0]} is first, {sure}."
