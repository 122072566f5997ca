"""Tables and lists of a page as HTML. Whatever comes from data is escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from math import isnan

from halftruth._registry import titled
from halftruth.evidence._review_design import ReviewDesign
from halftruth.report._page_record import Step
from halftruth.results._comparison import Comparison
from halftruth.results._estimate import (
    Estimate,
    Evaluation,
    estimate_text,
    figure,
    interval_name,
    interval_text,
    share_text,
)

__all__ = [
    "both_table",
    "differences_table",
    "groups_table",
    "items",
    "metrics_table",
    "range_text",
    "review_tables",
]

DASH = "–"


def metrics_table(results: Mapping[str, Evaluation], level: float, name: str = "") -> str:
    """Naive, corrected and interval; a block of rows for each metric where there are several models."""
    several = len(results) > 1
    head = ["metric", *(["of"] if several else []), "naive", "corrected", interval_name(level)]
    blocks = [_block(label, results, several=several) for label in _labels(results)]
    return _table(name, head, "".join(blocks))


def _labels(results: Mapping[str, Evaluation]) -> list[str]:
    return list(dict.fromkeys(label for result in results.values() for label in result))


def _block(label: str, results: Mapping[str, Evaluation], *, several: bool) -> str:
    title, says = titled(label)
    small = f"<br><small>{escape(says)}</small>" if says else ""
    having = [(i, model, row[label]) for i, (model, row) in enumerate(results.items()) if label in row]
    rows = []
    for k, (i, model, row) in enumerate(having):
        first = f'<th scope="rowgroup" rowspan="{len(having)}">' if several else '<th scope="row">'
        lead = f"{first}{escape(title)}{small}</th>" if k == 0 else ""
        name = f'<th scope="row" class="model">{escape(model)}</th>' if several else ""
        value = estimate_text(row)
        texts = {"naive": figure(row.naive), "value": value, "interval": _between(row)}
        cells = "".join(
            f'<td data-cell="{cell}" data-model="{i}">{escape(text)}</td>' for cell, text in texts.items()
        )
        rows.append(f'<tr data-metric="{escape(label)}" data-model="{i}">{lead}{name}{cells}</tr>')
    return f"<tbody>{''.join(rows)}</tbody>"


def groups_table(results: Mapping[str, Evaluation], by: str) -> str:
    """Too many groups for pictures: one row each."""
    labels = _labels(results)
    head = [by or "group", *(titled(label)[0] for label in labels)]
    rows = []
    for i, (name, result) in enumerate(results.items()):
        cells = "".join(
            f'<td data-model="{i}" data-metric="{escape(label)}">{_stacked(result.rows.get(label))}</td>'
            for label in labels
        )
        rows.append(f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>')
    return _table("groups", head, f"<tbody>{''.join(rows)}</tbody>")


def _stacked(row: Estimate | None) -> str:
    if row is None:
        return DASH
    naive = "" if row.naive is None else f" · naive {figure(row.naive)}"
    return f"{estimate_text(row)}<small>{_between(row)}{naive}</small>"


def differences_table(comparison: Comparison, names: list[str], name: str = "") -> str:
    """First minus second model, by metric, and where the order turns."""
    interval = interval_name(comparison.confidence_level)
    turns = [] if comparison.reviewed else ["order turns at π"]
    head = ["metric", "models", "difference", interval, "better", *turns]
    rows = []
    for (a, b), differences in comparison.pairs.items():
        pair = f"{names.index(a)}-{names.index(b)}"
        for label, row in differences.items():
            better = DASH if row.leader is None else (a, b)[row.leader]
            flips = ", ".join(map(figure, row.flips)) or DASH
            value, between = (figure(row.value), DASH) if isnan(row.low) else row.texts
            texts = {"value": value, "interval": between, "better": better}
            texts |= {"flips": flips} if turns else {}
            cells = "".join(f'<td data-cell="{cell}">{escape(text)}</td>' for cell, text in texts.items())
            rows.append(
                f'<tr data-pair="{pair}" data-metric="{escape(label)}">'
                f'<th scope="row">{escape(titled(label)[0])}</th>'
                f"<td>{escape(a)} − {escape(b)}</td>{cells}</tr>"
            )
    return _table(name, head, f"<tbody>{''.join(rows)}</tbody>")


def both_table(both: Mapping[str, tuple[Estimate, Estimate]]) -> str:
    """What reviews say, and what positives and unlabeled say."""
    if not both:
        return ""
    rows = [[titled(name)[0], share_text(x), share_text(pu)] for name, (pu, x) in both.items()]
    return _plain("both", ["metric", "by reviews", "by positives and unlabeled"], rows)


def review_tables(design: ReviewDesign, steps: Sequence[Step]) -> tuple[str, str]:
    """Reviews in bands of the score, and how wide intervals are, and would be with more reviews."""
    head = ["scores", "rows", "reviewed", "found positive", "chance", "rows one stands for"]
    if design.open_rows:
        head.append("nobody could look")
    rows = [
        [
            f"{x.low:.3g} to {x.high:.3g}", f"{x.rows:,}", f"{x.reviewed:,}", f"{x.positive:,}",
            range_text(x.chance), f"{x.stands_for:,.3g}" if x.reviewed else DASH,
            *([f"{x.open_rows:,}"] if design.open_rows else []),
        ]
        for x in design.bands
    ]  # fmt: skip
    more = max((step.rows for step in steps if not isnan(step.then)), default=0)
    wide = [[titled(x.metric)[0], figure(x.width)] for x in steps]
    for line, step in zip(wide, steps, strict=True):
        line += [DASH if isnan(step.then) else f"about {figure(step.then)}"] if more else []
    then = [f"with {more:,} more"] if more else []
    return _plain("bands", head, rows), _plain("widths", ["metric", "width now", *then], wide)


def range_text(ends: tuple[float, float]) -> str:
    """Two numbers, or one where they look alike."""
    low, high = (f"{end:.3g}" for end in ends)
    return low if low == high else f"{low} to {high}"


def _plain(name: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of texts."""
    cells = (
        f'<tr><th scope="row">{escape(first)}</th>{"".join(f"<td>{escape(x)}</td>" for x in rest)}</tr>'
        for first, *rest in rows
    )
    return _table(name, head, f"<tbody>{''.join(cells)}</tbody>")


def _table(name: str, head: Iterable[str], bodies: str) -> str:
    """A table; only those of a page have names, as a notebook may show several."""
    mark = f' id="{name}"' if name else ""
    cells = "".join(f'<th scope="col">{escape(word)}</th>' for word in head)
    return f"<table{mark}><thead><tr>{cells}</tr></thead>{bodies}</table>"


def items(texts: Iterable[str], kind: str = "") -> str:
    """Sentences as items of a list."""
    mark = f' class="{kind}"' if kind else ""
    return "".join(f"<li{mark}>{escape(text)}</li>" for text in texts)


def _between(row: Estimate) -> str:
    """An interval; a dash where there is none."""
    return DASH if isnan(row.low) and isnan(row.high) else interval_text(row)
