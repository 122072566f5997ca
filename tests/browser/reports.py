"""A report as Python knows it, and the same report as a page shows it."""

from __future__ import annotations

import json
import math
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import halftruth as ht
from halftruth._errors import EmptyClassWarning
from halftruth.evidence import Evidence
from halftruth.inference._requests import Request, read_requests
from halftruth.results._estimate import figure

from .conftest import DRAWN
from .figures_at import figures_at, measure_at

if TYPE_CHECKING:
    from playwright.sync_api import Page

NONE = "–"
RATES = ("precision", "recall", "fpr", "f1")
Cells = dict[tuple[Any, ...], str]

ALL_CELLS = """([table, row, names]) => [...document.querySelectorAll(`${table} tr`)]
    .filter(tr => tr.dataset[row] !== undefined)
    .flatMap(tr => [...tr.querySelectorAll('[data-cell]')].map(
        td => [...names.map(name => tr.dataset[name]), td.dataset.cell, td.dataset.model ?? null, td.textContent]))"""


@dataclass(frozen=True)
class Report:
    """A written page, what it embeds, and the evidence that it was made from."""

    path: Path
    evidence: tuple[Evidence, ...]
    requests: tuple[Request, ...]

    @classmethod
    def of(
        cls, path: Path, evidence: Sequence[Evidence], metrics: Any = None, threshold: float | None = None
    ) -> Report:
        requests = read_requests(metrics, [each.measure() for each in evidence], threshold)
        return cls(path, tuple(evidence), requests)

    @cached_property
    def data(self) -> dict[str, Any]:
        text = self.path.read_text(encoding="utf-8")
        found = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
        assert len(found) == 1
        return json.loads(found[0])

    def shares(self) -> dict[str, Any]:
        """Those of the sliders: of all models the first, which they share."""
        return self.data["models"][0]["shares"]

    @cached_property
    def limits(self) -> dict[str, Limits]:
        """What is possible, by row."""
        return {metric["label"]: metric["limits"] for metric in self.data["metrics"]}

    def home_cells(self) -> Cells:
        """The table of metrics as the page opens."""
        out: Cells = {}
        for i, model in enumerate(self.data["models"]):
            for label, row in model["home"].items():
                limits = self.limits[label]
                out[label, "naive", str(i)] = figure(row["naive"])
                out[label, "value", str(i)] = value_cell(row["value"], limits, row["low"], row["high"])
                out[label, "interval", str(i)] = interval(row["low"], row["high"], limits)
        return out

    def cells(self, prior: float | None, purity: float) -> Cells:
        """The table of metrics at a prior and a purity."""
        out: Cells = {}
        data = self.data
        level = data["confidence_level"]
        twins = {metric["label"]: metric["twin"] for metric in data["metrics"]}
        wanted = [request for request in self.requests if request.label in twins]
        for i, (model, evidence) in enumerate(zip(data["models"], self.evidence, strict=True)):
            found = figures_at(model, evidence, wanted, prior, purity, level)
            for label, (value, low, high) in found.items():
                value, low, high = (x if twins[label] else math.nan for x in (value, low, high))
                out[label, "naive", str(i)] = figure(model["home"][label]["naive"])
                out[label, "value", str(i)] = value_cell(value, self.limits[label], low, high)
                out[label, "interval", str(i)] = interval(low, high, self.limits[label])
        return out

    def rates(self, model: int, threshold: float, prior: float | None, purity: float) -> dict[str, float]:
        """What the page says of a threshold: rates, cells for one case, and the net benefit."""
        measure = measure_at(self.data["models"][model], self.evidence[model], prior, purity)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EmptyClassWarning)
            found = ht.confusion(measure, threshold)
            rates = {name: float(getattr(found, name)) for name in RATES}
            cells = {name: float(getattr(found, name) / found.total) for name in ("tp", "fp", "fn", "tn")}
            treated = measure.bounded and 0 <= threshold < 1
            benefit = float(ht.net_benefit(measure, threshold)) if treated else math.nan
        flagged = float(found.predicted_positive_rate)
        return {"flagged": flagged, "net_benefit": benefit} | rates | cells


Limits = Sequence[float | None]  # None: no limit on that side
ROUNDING = 1e-9
SHOWN = 0.0005  # what three decimals do not show


def value_cell(value: float | None, limits: Limits, low: float | None, high: float | None) -> str:
    """A value, cut where its interval says that it left its limits by noise, marked where it is impossible."""
    least, most = _ends(limits)
    if value is None or math.isnan(value) or least - ROUNDING <= value <= most + ROUNDING:
        return figure(value)
    if interval(low, high, limits) in (NONE, "none possible"):
        return f"impossible: {figure(value)}"
    cut = min(max(value, least), most)
    return figure(cut) + (f" (raw {figure(value)})" if abs(value - cut) >= SHOWN else "")


def interval(low: float | None, high: float | None, limits: Limits = (None, None)) -> str:
    """What is possible of an interval."""
    ends = figure(low), figure(high)
    if NONE in ends or low is None or high is None:
        return NONE if ends == (NONE, NONE) else f"{ends[0]} to {ends[1]}"
    least, most = _ends(limits)
    if low > most + ROUNDING or high < least - ROUNDING:
        return "none possible"
    return f"{figure(max(low, least))} to {figure(min(high, most))}"


def _ends(limits: Limits) -> tuple[float, float]:
    low, high = limits
    return -math.inf if low is None else low, math.inf if high is None else high


# --- What a page shows ----------------------------------------------------------------------------------


def shown(page: Page, table: str, *rows: str) -> Cells:
    """Every cell: by the data of its row, its own name and, where it has one, its model."""
    out: Cells = {}
    for *key, text in page.evaluate(ALL_CELLS, [table, rows[0], list(rows)]):
        named = tuple(part for part in key if part is not None)
        assert named not in out, f"{named} stands twice in {table}"
        out[named] = text.strip()
    return out


def metrics_of(page: Page) -> Cells:
    return shown(page, "#metrics", "metric")


def slide(page: Page, slider: str, position: float) -> None:
    """Move a slider as a hand would."""
    page.locator(slider).evaluate(
        """(input, to) => {
            input.value = to;
            input.dispatchEvent(new Event('input', {bubbles: true}));
            input.dispatchEvent(new Event('change', {bubbles: true}));
        }""",
        str(position),
    )
    page.evaluate(DRAWN)


def type_in(page: Page, field: str, value: float) -> None:
    page.fill(field, repr(value))
    page.press(field, "Enter")
    page.evaluate(DRAWN)


def number_in(page: Page, field: str) -> float:
    return float(page.input_value(field))
