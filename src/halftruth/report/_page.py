"""The page: one file that holds its numbers, its looks and its scripts, and asks for nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources
from string import Template

from halftruth._registry import headline, titled
from halftruth._version import __version__
from halftruth.report import _html, _summary_text
from halftruth.report._page_record import ModelData, PageData
from halftruth.results._comparison import Comparison
from halftruth.results._estimate import json_number

__all__ = ["bytes_for_scores", "page_of", "preview_of"]

SCHEMA = 1  # of the data that the scripts read
MODULES = ("numbers", "measure", "tilt", "metrics", "intervals", "charts", "state", "tables", "view")
SCRIPTS = tuple(f"{name}.js" for name in MODULES)
ASSETS = ("page.html", "report.css", *SCRIPTS)
PAGE_BYTES = 370_000  # of up to five models, with some to spare: sizes are reckoned, not measured
LEAST_BYTES = 40_000
ROW_BYTES = 420  # of a row, in the data and in its table
# Nothing is loaded from anywhere, and no script runs but the page's own.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def bytes_for_scores(models: Sequence[ModelData], n_rows: int) -> int:
    """How many bytes a page with so many rows in its tables leaves to the scores of each model."""
    rest = len(json.dumps(models)) + ROW_BYTES * n_rows + sum(len(_asset(name)) for name in ASSETS)
    return max(PAGE_BYTES - rest, LEAST_BYTES) // len(models)


def page_of(page: PageData) -> str:
    """The whole page as HTML."""
    script = "(() => {\n'use strict';\n" + "\n".join(map(_asset, SCRIPTS)) + "\n})();"
    # The browser runs only the script of this digest, so that no name in the data can become one.
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    if len(page.results) > 1 and not page.drawn:
        table = _html.groups_table(page.results, page.by)
    else:
        table = _html.metrics_table(page.results, _level(page), "metrics")
    differences = ""
    if page.comparison is not None:
        differences = _html.differences_table(page.comparison, list(page.results), "differences")
    review = list(_summary_text.review(page))
    design = next((subject.design for subject in page.subjects.values()), None)
    bands, widths = _html.review_tables(design, page.steps) if review and design else ("", "")
    refuted = _html.items(_summary_text.refuted(page), "refuted")
    return Template(_asset("page.html")).substitute(
        title=escape(page.title),
        csp=f"{POLICY}; script-src 'sha256-{digest}'",
        style=_asset("report.css"),
        script=script,
        data=_in_script(_script_data(page)),
        answer=escape(_summary_text.answer(page)),
        standing=_summary_text.standing(page).status.replace(" ", "-"),
        shares=escape(_summary_text.shares(page)),
        both=_html.both_table(page.both),
        checked=escape(_summary_text.checked(page)),
        against=" refuted" if any(note.kind == "contradiction" for note in page.verdicts) else "",
        table=table,
        differences=differences,
        notes=refuted + _html.items(_summary_text.notes(page)),
        review=escape(" ".join(review)),
        bands=bands,
        more=escape(_summary_text.more_reviews(page)),
        widths=widths,
        collect=_html.items(_summary_text.advice(page.steps)),
        version=escape(__version__),
    )


def preview_of(page: PageData) -> str:
    """The answer, the table and the notes of a page, for a notebook."""
    if page.comparison is not None:
        about, notes = "", [str(note) for note in page.comparison.notes]
        table = _html.differences_table(page.comparison, list(page.comparison.evidence))
    else:
        ((name, result),) = page.results.items()
        about = f"{result._title()}; {_summary_text.prior_line(result, page.subjects.get(name))}"
        notes = [*_summary_text.refuted(page), *_summary_text.remarks(page)]
        table = _html.metrics_table(page.results, _level(page))
    head = f"<p><strong>{escape(_summary_text.answer(page))}</strong></p>"
    head += f"<p>{escape(about)}</p>" if about else ""
    return f"{head}{table}<ul>{_html.items(notes)}</ul>"


def _level(page: PageData) -> float:
    """The confidence level of the intervals, which all results share."""
    return next(iter(page.results.values())).confidence_level


def _script_data(page: PageData) -> dict[str, object]:
    """What the scripts read."""
    first = next(iter(page.results.values()))
    kind = "comparison" if page.comparison else "groups" if len(page.results) > 1 else "evaluation"
    return {
        "schema": SCHEMA,
        "title": page.title,
        "kind": kind,
        "linked": page.one_population and kind != "groups",
        "confidence_level": _level(page),
        "threshold": json_number(first.threshold),
        "headline": headline(first),
        "metrics": [{**metric, "title": titled(metric["label"])[0]} for metric in page.metrics],
        "models": page.models,
        "differences": _differences(page.comparison, list(page.results)) if page.comparison else [],
    }


def _differences(comparison: Comparison, names: list[str]) -> list[dict[str, object]]:
    """The differences by pair; models are named by their places in the page."""
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
        for (a, b), rows in comparison.pairs.items()
    ]


def _asset(name: str) -> str:
    return (resources.files("halftruth.report") / "assets" / name).read_text("utf-8")


def _in_script(data: Mapping[str, object]) -> str:
    """JSON that cannot end the element it stands in."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
