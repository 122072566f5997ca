"""Parts of a page as HTML: tables and lists. Whatever comes from data is escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from halftruth.report.names import named
from halftruth.results._comparison import Comparison
from halftruth.results._estimate import figure

DASH = "–"


def metrics_table(models: Sequence[Mapping[str, Any]], level: float, name: str = "") -> str:
    """Naive, corrected and interval; a block of rows for each metric where there are several models."""
    several = len(models) > 1
    head = ["metric", *(["of"] if several else []), "naive", "corrected", f"{100 * level:g}% interval"]
    labels = list(dict.fromkeys(label for model in models for label in model["home"]))
    blocks = [_block(label, models, several=several) for label in labels]
    return _table(name, head, "".join(blocks))


def _block(label: str, models: Sequence[Mapping[str, Any]], *, several: bool) -> str:
    title, says = named(label)
    small = f"<br><small>{escape(says)}</small>" if says else ""
    held = [(i, model) for i, model in enumerate(models) if label in model["home"]]
    rows = []
    for k, (i, model) in enumerate(held):
        row = model["home"][label]
        first = f'<th scope="rowgroup" rowspan="{len(held)}">' if several else '<th scope="row">'
        lead = f"{first}{escape(title)}{small}</th>" if k == 0 else ""
        name = f'<th scope="row" class="model">{escape(model["name"])}</th>' if several else ""
        texts = {"naive": shown(row["naive"]), "value": shown(row["value"]), "interval": between(row)}
        cells = "".join(
            f'<td data-cell="{cell}" data-model="{i}">{escape(text)}</td>' for cell, text in texts.items()
        )
        rows.append(f'<tr data-metric="{escape(label)}" data-model="{i}">{lead}{name}{cells}</tr>')
    return f"<tbody>{''.join(rows)}</tbody>"


def groups_table(models: Sequence[Mapping[str, Any]], by: str) -> str:
    """Too many groups for pictures: one row each."""
    labels = list(dict.fromkeys(label for model in models for label in model["home"]))
    head = [by or "group", *(named(label)[0] for label in labels)]
    rows = []
    for i, model in enumerate(models):
        cells = "".join(
            f'<td data-model="{i}" data-metric="{escape(label)}">{_stacked(model, label)}</td>'
            for label in labels
        )
        rows.append(f'<tr><th scope="row">{escape(model["name"])}</th>{cells}</tr>')
    return _table("groups", head, f"<tbody>{''.join(rows)}</tbody>")


def _stacked(model: Mapping[str, Any], label: str) -> str:
    row = model["home"].get(label)
    if row is None:
        return DASH
    naive = "" if row["naive"] is None else f" · naive {shown(row['naive'])}"
    return f"{shown(row['value'])}<small>{between(row)}{naive}</small>"


def differences_table(comparison: Comparison, names: list[str], name: str = "") -> str:
    """First minus second model, by metric, and where the order turns."""
    level = f"{100 * comparison.confidence_level:g}% interval"
    head = ["metric", "models", "difference", level, "better", "order turns at π"]
    rows = []
    for (a, b), found in comparison.pairs.items():
        pair = f"{names.index(a)}-{names.index(b)}"
        for label, row in found.items():
            better = DASH if row.leader is None else (a, b)[row.leader]
            flips = ", ".join(map(figure, row.flips)) or DASH
            texts = {
                "value": figure(row.value),
                "interval": between({"low": row.low, "high": row.high}),
                "better": better,
                "flips": flips,
            }
            cells = "".join(f'<td data-cell="{cell}">{escape(text)}</td>' for cell, text in texts.items())
            rows.append(
                f'<tr data-pair="{pair}" data-metric="{escape(label)}">'
                f'<th scope="row">{escape(named(label)[0])}</th>'
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


def shown(value: float | None) -> str:
    """A number, or a dash where there is none."""
    return DASH if value is None else figure(value)


def between(row: Mapping[str, Any]) -> str:
    """An interval; a dash where there is none."""
    low, high = shown(row["low"]), shown(row["high"])
    return DASH if low == high == DASH else f"{low} to {high}"
