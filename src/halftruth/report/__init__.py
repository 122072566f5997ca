"""The report: one page that anyone can open."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path

from halftruth import _storage
from halftruth._errors import InputError, arg
from halftruth.evaluation._evaluate import evaluate
from halftruth.report import parts, words
from halftruth.report.page import Report, home_of
from halftruth.results._comparison import Comparison
from halftruth.results._estimate import Evaluation


def page_of(
    result: Evaluation | Comparison | Mapping[str, Evaluation],
    path: str | Path | None = None,
    *,
    title: str,
    by: str = "",
) -> str | None:
    """The page of a result, or of groups by name; None where a path is given: there it is written whole."""
    if isinstance(result, Comparison):
        report = Report(results=_each(result), title=title, comparison=result, by="model")
    elif isinstance(result, Evaluation):
        report = Report(results={"": result}, title=title)
    else:
        known = {name: each for name, each in result.items() if each.origin is not None}
        rest = {name: each for name, each in result.items() if name not in known}
        report = Report(results=known or rest, left_out=rest if known else {}, title=title, by=by)
    page = report.html()
    if path is None:
        return page
    _storage.write(path, page)
    return None


def _each(comparison: Comparison) -> dict[str, Evaluation]:
    """The models of a comparison, each evaluated by itself."""
    origin = comparison.origin
    if origin is None:
        raise InputError(f"This comparison no longer holds its evidence. Make it anew with {arg('compare')}.")
    return {
        name: evaluate(
            evidence,
            {request.label: request.call for request in origin.requests},
            threshold=comparison.threshold,
            confidence_level=comparison.confidence_level,
            n_resamples=origin.n_resamples,
            stratified=not origin.one_sample,
        )
        for name, evidence in origin.evidence.items()
    }


def in_notebook(result: Evaluation | Comparison) -> str:
    """The answer, the table and the notes of the page, for a notebook."""
    if isinstance(result, Comparison):
        text, about, notes = words.answer({}, result), "", list(map(str, result.notes))
        table = parts.differences_table(result, list(result.evidence))
    else:
        report = Report(results={"": result}, title="")
        text, notes = words.answer(report.results), words.remarks(report.results)
        about = f"{result._title()}; {result._shares()}"
        notes = [*words.refuted(report.results), *notes]
        table = parts.metrics_table([{"name": "", "home": home_of(result)}], report.level)
    head = f"<p><strong>{escape(text)}</strong></p>" + (f"<p>{escape(about)}</p>" if about else "")
    return f"{head}{table}<ul>{parts.items(notes)}</ul>"
