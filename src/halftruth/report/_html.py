"""Tables and lists of a page as HTML. Whatever comes from data is escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from halftruth._registry import titled
from halftruth.report._page_record import ModelData
from halftruth.results._comparison import Comparison
from halftruth.results._estimate import figure, interval_name

__all__ = ["differences_table", "groups_table", "items", "metrics_table"]

DASH = "–"


def metrics_table(models: Sequence[ModelData], level: float, name: str = "") -> str:
    """Naive, corrected and interval; a block of rows for each metric where there are several models."""
    several = len(models) > 1
    head = ["metric", *(["of"] if several else []), "naive", "corrected", interval_name(level)]
    labels = list(dict.fromkeys(label for model in models for label in model["home"]))
    blocks = [_block(label, models, several=several) for label in labels]
    return _table(name, head, "".join(blocks))


def _block(label: str, models: Sequence[ModelData], *, several: bool) -> str:
    title, says = titled(label)
    small = f"<br><small>{escape(says)}</small>" if says else ""
    having = [(i, model) for i, model in enumerate(models) if label in model["home"]]
    rows = []
    for k, (i, model) in enumerate(having):
        row = model["home"][label]
        first = f'<th scope="rowgroup" rowspan="{len(having)}">' if several else '<th scope="row">'
        lead = f"{first}{escape(title)}{small}</th>" if k == 0 else ""
        name = f'<th scope="row" class="model">{escape(model["name"])}</th>' if several else ""
        interval = _between(row["low"], row["high"])
        texts = {"naive": figure(row["naive"]), "value": figure(row["value"]), "interval": interval}
        cells = "".join(
            f'<td data-cell="{cell}" data-model="{i}">{escape(text)}</td>' for cell, text in texts.items()
        )
        rows.append(f'<tr data-metric="{escape(label)}" data-model="{i}">{lead}{name}{cells}</tr>')
    return f"<tbody>{''.join(rows)}</tbody>"


def groups_table(models: Sequence[ModelData], by: str) -> str:
    """Too many groups for pictures: one row each."""
    labels = list(dict.fromkeys(label for model in models for label in model["home"]))
    head = [by or "group", *(titled(label)[0] for label in labels)]
    rows = []
    for i, model in enumerate(models):
        cells = "".join(
            f'<td data-model="{i}" data-metric="{escape(label)}">{_stacked(model, label)}</td>'
            for label in labels
        )
        rows.append(f'<tr><th scope="row">{escape(model["name"])}</th>{cells}</tr>')
    return _table("groups", head, f"<tbody>{''.join(rows)}</tbody>")


def _stacked(model: ModelData, label: str) -> str:
    row = model["home"].get(label)
    if row is None:
        return DASH
    naive = "" if row["naive"] is None else f" · naive {figure(row['naive'])}"
    return f"{figure(row['value'])}<small>{_between(row['low'], row['high'])}{naive}</small>"


def differences_table(comparison: Comparison, names: list[str], name: str = "") -> str:
    """First minus second model, by metric, and where the order turns."""
    interval = interval_name(comparison.confidence_level)
    head = ["metric", "models", "difference", interval, "better", "order turns at π"]
    rows = []
    for (a, b), differences in comparison.pairs.items():
        pair = f"{names.index(a)}-{names.index(b)}"
        for label, row in differences.items():
            better = DASH if row.leader is None else (a, b)[row.leader]
            flips = ", ".join(map(figure, row.flips)) or DASH
            texts = {
                "value": figure(row.value),
                "interval": _between(row.low, row.high),
                "better": better,
                "flips": flips,
            }
            cells = "".join(f'<td data-cell="{cell}">{escape(text)}</td>' for cell, text in texts.items())
            rows.append(
                f'<tr data-pair="{pair}" data-metric="{escape(label)}">'
                f'<th scope="row">{escape(titled(label)[0])}</th>'
                f"<td>{escape(a)} − {escape(b)}</td>{cells}</tr>"
            )
    return _table(name, head, f"<tbody>{''.join(rows)}</tbody>")


def _table(name: str, head: Iterable[str], bodies: str) -> str:
    """A table; only those of a page have names, as a notebook may show several."""
    mark = f' id="{name}"' if name else ""
    cells = "".join(f'<th scope="col">{escape(word)}</th>' for word in head)
    return f"<table{mark}><thead><tr>{cells}</tr></thead>{bodies}</table>"


def items(texts: Iterable[str], kind: str = "") -> str:
    """Sentences as items of a list."""
    mark = f' class="{kind}"' if kind else ""
    return "".join(f"<li{mark}>{escape(text)}</li>" for text in texts)


def _between(low: float | None, high: float | None) -> str:
    """An interval; a dash where there is none."""
    ends = figure(low), figure(high)
    return DASH if ends == (DASH, DASH) else f"{ends[0]} to {ends[1]}"
