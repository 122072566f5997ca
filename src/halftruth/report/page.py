"""The page: one file that holds its numbers, its looks and its scripts, and asks for nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from importlib import resources
from string import Template
from typing import Any

import numpy as np

from halftruth._version import __version__
from halftruth.evidence import Scenario
from halftruth.inference._requests import Request
from halftruth.report import collect, parts, words
from halftruth.report.embedded import (
    SCHEMA,
    metric_of,
    model_of,
    origin_of,
    plainly,
    priors_to_try,
    table_of,
)
from halftruth.report.figures_at import measure_at
from halftruth.report.names import named
from halftruth.results._comparison import Comparison
from halftruth.results._estimate import Evaluation, figure, json_number

SCRIPTS = (
    "numbers.js",
    "measure.js",
    "metrics.js",
    "intervals.js",
    "charts.js",
    "state.js",
    "tables.js",
    "view.js",
)
ASSETS = ("page.html", "report.css", *SCRIPTS)
PAGE_BYTES = 370_000
"""For the whole page of up to five models, with some to spare: sizes are reckoned, not measured."""
LEAST_BYTES = 40_000
ROW_BYTES = 420
"""Of a row, in the data and in its table."""
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""Nothing is loaded from anywhere, and no script runs but the page's own."""
MOST_DRAWN = 5
"""Models or groups with pictures; more are a table."""


@dataclass(frozen=True, kw_only=True)
class Report:
    """What a page tells: one evaluation, or several with their names, or a comparison."""

    results: Mapping[str, Evaluation]
    title: str
    comparison: Comparison | None = None
    by: str = ""
    left_out: Mapping[str, Evaluation] = field(default_factory=dict)
    """Groups of which nothing can be said but why."""

    @property
    def drawn(self) -> bool:
        """Whether there are pictures, and sliders under them."""
        return len(self.results) <= MOST_DRAWN and all(r.origin for r in self.results.values())

    @property
    def level(self) -> float:
        return next(iter(self.results.values())).confidence_level

    @cached_property
    def models(self) -> list[dict[str, Any]]:
        if not self.drawn:
            return [
                {"name": name, "evidence": result.evidence, "home": home_of(result)}
                for name, result in self.results.items()
            ]
        models = [model_of(name, result) for name, result in self.results.items()]
        # Scores take what the rest of the page leaves.
        pairs = 0 if self.comparison is None else len(self.comparison.pairs)
        rows = max(map(len, self.results.values())) * (len(models) + pairs)
        rest = len(json.dumps(models)) + ROW_BYTES * rows + sum(len(_asset(name)) for name in ASSETS)
        n_bytes = max(PAGE_BYTES - rest, LEAST_BYTES) // len(models)
        for model, result in zip(models, self.results.values(), strict=True):
            model["table"] = table_of(result, n_bytes)
            model["home"] = home_of(result, model)
            model["sensitivity"] = _sensitivity(result, model)
        return models

    @cached_property
    def data(self) -> dict[str, Any]:
        """What the scripts read, as JSON holds it."""
        first = next(iter(self.results.values()))
        kind = "comparison" if self.comparison else "groups" if len(self.results) > 1 else "evaluation"
        return {
            "schema": SCHEMA,
            "title": self.title,
            "kind": kind,
            "confidence_level": self.level,
            "threshold": json_number(first.threshold),
            "metrics": [metric_of(r) | {"title": named(r.label)[0]} for r in self._requests()],
            "models": self.models,
            "differences": self._differences(),
        }

    def _requests(self) -> list[Request]:
        """The rows of all models: groups whose scores are no probabilities have fewer."""
        if not self.drawn:
            return []
        each = (origin_of(result).requests for result in self.results.values())
        return list({request.label: request for requests in each for request in requests}.values())

    def _differences(self) -> list[dict[str, Any]]:
        if self.comparison is None:
            return []
        names = list(self.results)
        return [
            {
                "first": names.index(a),
                "second": names.index(b),
                "rows": {
                    label: {
                        "value": json_number(row.value),
                        "low": json_number(row.low),
                        "high": json_number(row.high),
                        "flips": [json_number(prior) for prior in row.flips],
                    }
                    for label, row in rows.items()
                },
            }
            for (a, b), rows in self.comparison.pairs.items()
        ]

    def html(self) -> str:
        """The whole page."""
        script = "(() => {\n'use strict';\n" + "\n".join(map(_asset, SCRIPTS)) + "\n})();"
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        many = not self.drawn and len(self.results) > 1
        table = parts.metrics_table(self.models, self.level, "metrics")
        if many:
            table = parts.groups_table(self.models, self.by)
        return Template(_asset("page.html")).substitute(
            title=escape(self.title),
            csp=f"{POLICY}; script-src 'sha256-{digest}'",
            style=_asset("report.css"),
            script=script,
            data=_in_script(self.data),
            answer=escape(words.answer(self._told(), self.comparison, self.by)),
            shares=escape(self._shares()),
            table=table,
            differences=self._differences_table(),
            notes=parts.items(words.refuted(self.results), "refuted") + parts.items(self._notes()),
            collect=parts.items(self._next()),
            version=escape(__version__),
        )

    def _told(self) -> dict[str, Evaluation]:
        """The results with the values that the tables of the page show."""
        return {
            name: replace(
                result,
                rows={
                    label: replace(row, value=_or_nan(model["home"][label]["value"]))
                    for label, row in result.items()
                },
            )
            for (name, result), model in zip(self.results.items(), self.models, strict=True)
        }

    def _shares(self) -> str:
        lines = [result._shares() for result in self.results.values()]
        shares = lines[0] if len(set(lines)) == 1 else ""
        threshold = next(iter(self.results.values())).threshold
        at = "" if threshold is None else f"rates are at the threshold {threshold:g}"
        return "; ".join(part for part in (words.rows_of(self.results), shares, at) if part)

    def _differences_table(self) -> str:
        if self.comparison is None:
            return ""
        return parts.differences_table(self.comparison, list(self.results), "differences")

    def _notes(self) -> list[str]:
        notes = words.remarks(self.results, self.comparison)
        notes += [f"{name}: {note}" for name, each in self.left_out.items() for note in each.notes]
        changed = self._changed()
        if changed:
            held = max(len(model["table"]["score"]) for model in self.models)
            each = " of each" if len(self.models) > 1 else ""
            notes.append(
                f"The page holds rows joined to {held:,} scores{each}, and its figures are of these; none "
                f"that was evaluated differs from that of the rows by more than {figure(changed)}."
            )
        return notes

    def _changed(self) -> float:
        """By how much joining scores changed a figure, at most."""
        if not self.drawn:
            return 0.0
        pairs = [
            (model["home"][label]["value"], row.value)
            for model, result in zip(self.models, self.results.values(), strict=True)
            for label, row in result.items()
        ]
        gaps = [abs(a - b) for a, b in pairs if a is not None and not np.isnan(b)]
        most = max(gaps, default=0.0)
        return most if most > 1e-9 else 0.0

    def _next(self) -> list[str]:
        if len(self.results) > 1 or not self.drawn:
            return []
        (result,) = self.results.values()
        if result.refuted:  # more of the same data would not mend what was given
            return []
        origin = origin_of(result)
        steps = collect.next_steps(
            origin.evidence[""], origin.requests, confidence_level=self.level, one_sample=origin.one_sample
        )
        return collect.in_words(steps)


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value


def home_of(result: Evaluation, model: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The figures as evaluated: values from the embedded table, where it is there and can give them."""
    values = {label: row.value for label, row in result.items()}
    if model is not None:
        origin = origin_of(result)
        evidence = origin.evidence[""]
        measure = measure_at(model, evidence, json_number(result.prior.value), evidence.purity.value)
        twins = [r for r in origin.requests if metric_of(r)["twin"]]
        values |= {r.label: r.at(measure) for r in twins if not np.isnan(values[r.label])}
    return {
        label: {
            "naive": json_number(row.naive),
            "value": json_number(values[label]),
            "low": json_number(row.low),
            "high": json_number(row.high),
        }
        for label, row in result.items()
    }


def _sensitivity(result: Evaluation, model: Mapping[str, Any]) -> dict[str, Any]:
    """Lines over the priors, of what the page cannot compute."""
    origin = origin_of(result)
    evidence = plainly(origin.evidence[""])
    purity = origin.evidence[""].purity.value
    alone = [r for r in origin.requests if not metric_of(r)["twin"]]
    priors: Sequence[float] = priors_to_try(model["shares"]) if alone else []
    measures = [(prior, evidence.measure_at(Scenario(prior=prior, purity=purity))) for prior in priors]
    return {r.label: [[prior, json_number(r.at(measure))] for prior, measure in measures] for r in alone}


def _asset(name: str) -> str:
    return (resources.files("halftruth.report") / "assets" / name).read_text("utf-8")


def _in_script(data: Mapping[str, Any]) -> str:
    """JSON that cannot end the element it stands in."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
