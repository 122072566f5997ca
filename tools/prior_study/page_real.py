"""The sections on real data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tools.prior_study.markdown import (
    assumed,
    best_in_bold,
    interval,
    mean,
    mean_size,
    named,
    names,
    number,
    table,
    times,
)
from tools.prior_study.real import MOST_UNLABELED, PAPER, PURITIES
from tools.prior_study.settings import SLOW

from halftruth.prior._methods import METHODS

One = Mapping[str, Any]
ALL = "mean"
PUBLISHED = "AlphaMax in the paper"
NOISY_METHODS = {"auto": "auto", "alphamax": "AlphaMaxN"}

CLEAN = """## Real data, clean labels

The protocol of Jain, White and Radivojac, *Recovering true classifier performance in positive-unlabeled
learning* (AAAI 2017): 1,000 random positives are labeled (100 in {small}), all else is unlabeled, at most
{most:,} rows of it drawn at random, and α is the share of positives among these. Scores are the held-out
scores of the default classifier of `ht.estimate_prior_from_features`, one set for all methods; "features"
means that the method looked at the features themselves. Mean |α̂ − α| of {repetitions} (for {slow}, which
are slow, {slow_repetitions}). The paper's own line is its column e at β = 1 (Table 1: the mean error of
β̂ − α̂; fifty repetitions; scores of 100 bagged neural networks). The default classifier and `auto` were
chosen on other draws of these sets, among others.

{errors}

The interval of `auto` on these scores, which leaves out the variability of the classifier, held α in
{covered}; `.upper` was not below α in {below}.

### Classes that overlap everywhere

A census does not tell for sure who earns more than 50,000, nor a map where the lodgepole pine grows: few
scores, if any, are reached by positives only. One repetition with 1,000 known positives. `auto` is the
one call `ht.estimate_prior_from_features(X, labeled)`, whose interval holds the variability of the classifier
({refits}); the others are on one set of held-out scores.

{overlapping}

{moved}

### Positive and unlabeled from the start

Here the truth is not known.

{unknown}
"""

NOISY = """## Real data, some labels wrong

The same protocol with a share 1 − ρ of negatives among the labeled. Mean |(ρ̂ − α̂) − (ρ − α)|, the error of
the difference on which a recovered AUC hangs, of `ht.estimate_prior_and_purity(p, u)` and of AlphaMaxN
(`method="alphamax"`), over {repetitions}, against the paper's column e.

{table}

Over both purities: {both}.
"""


def render(found: Mapping[str, Any]) -> str:
    """Clean labels, overlapping classes, unknown truth."""
    clean = found["clean"]
    made = [(alpha, each) for one in clean for alpha, each in zip(one["alpha"], one["auto"], strict=True)]
    covered = sum(each["low"] <= alpha <= each["high"] for alpha, each in made)
    below = sum(alpha <= each["upper"] for alpha, each in made)
    return CLEAN.format(
        small=names([name for name, published in PAPER.items() if published.n_labeled == 100]),
        most=MOST_UNLABELED,
        repetitions=times(found["repetitions"], "repetition"),
        slow=names([named(name) for name in SLOW]),
        slow_repetitions=min(found["slow_repetitions"], found["repetitions"]),
        errors=_errors(clean),
        covered=f"{covered} of {len(made)} cases",
        below=f"{below} of {len(made)}",
        refits=times(found["refits"], "refit"),
        overlapping=_overlapping(found["overlapping"]),
        moved="\n".join(_moved(one) for one in found["overlapping"]),
        unknown=_unknown(found["truth_unknown"]),
    )


def _errors(clean: Sequence[One]) -> str:
    methods = dict.fromkeys(method for one in clean for method in one["error"])
    columns = [one["name"] for one in clean]
    rows: dict[str, dict[str, float | None]] = {
        method: {one["name"]: mean_size(one["error"].get(method, [])) for one in clean} for method in methods
    }
    rows[PUBLISHED] = {name: PAPER[name].error[1.0] for name in columns}
    for row in rows.values():
        row[ALL] = mean(list(row.values()))
    truths = [number(mean(one["alpha"]), 2) for one in clean]
    errors = best_in_bold([*columns, ALL], rows, [PUBLISHED])
    return errors + "\n| true α | " + " | ".join([*truths, "–"]) + " |"


def _overlapping(found: Sequence[One]) -> str:
    rows = [
        ["true α", *(number(one["alpha"]) for one in found)],
        ["upper bound", *(number(one["auto"]["upper"]) for one in found)],
        [named("auto"), *(f"{number(one['auto']['value'])} ({interval(one['auto'])})" for one in found)],
    ]
    methods = dict.fromkeys(method for one in found for method in one["points"])
    rows += [[named(method), *(number(one["points"].get(method)) for one in found)] for method in methods]
    return table(["", *(one["name"] for one in found)], rows)


def _moved(one: One) -> str:
    """Which assumption put the estimates where they are."""
    truth, auto = one["alpha"], one["auto"]
    by = {assumed(METHODS["auto"]): [auto["value"]]}
    for name, value in one["points"].items():
        by.setdefault(assumed(METHODS[name]), []).append(value)
    inside = "" if truth <= auto["upper"] else "not "
    moved = "; ".join(f"*{short}* puts it at {_range(values, truth)}" for short, values in by.items())
    lines = [f"- {one['name']}: α = {number(truth)} is {inside}in [0, {number(auto['upper'])}]; {moved}."]
    return "\n".join([*lines, *(f"  - A note of the estimate: {note}" for note in auto["notes"])])


def _range(values: Sequence[float], truth: float) -> str:
    low, high = (number(end) for end in (min(values), max(values)))
    above = sum(value > truth for value in values)
    if len(values) == 1:
        return f"{low} (too {'high' if above else 'low'})"
    put = low if low == high else f"{low} to {high}"
    return f"{put} ({above} of {len(values)} methods too high)"


def _unknown(found: Sequence[One]) -> str:
    rows = [
        [
            one["name"],
            *(f"{count:,}" for count in one["n"]),
            f"{number(one['auto']['value'])} ({interval(one['auto'])})",
            number(one["auto"]["upper"]),
        ]
        for one in found
    ]
    return table(["data set", "known positives", "unlabeled", named("auto"), "upper bound"], rows)


def render_noisy(found: Mapping[str, Any]) -> str:
    """Labels of which some are wrong."""
    sets = dict.fromkeys(one["name"] for one in found["sets"])
    errors = {(one["name"], one["purity"]): one["error"] for one in found["sets"]}
    columns: dict[tuple[float, str], list[float | None]] = {}
    for purity in PURITIES:
        for method, title in NOISY_METHODS.items():
            columns[purity, title] = [mean_size(errors[name, purity][method]) for name in sets]
        columns[purity, "the paper"] = [PAPER[name].error[purity] for name in sets]
    rows = [[name, *(number(cells[i]) for cells in columns.values())] for i, name in enumerate(sets)]
    rows.append([ALL, *(number(mean(cells)) for cells in columns.values())])
    head = ["data set", *(f"ρ = {purity:g}: {title}" for purity, title in columns)]
    both = [
        f"{title} {number(mean([x for purity in PURITIES for x in columns[purity, title]]))}"
        for title in (*NOISY_METHODS.values(), "the paper")
    ]
    return NOISY.format(
        repetitions=times(found["repetitions"], "repetition"), table=table(head, rows), both=names(both)
    )
