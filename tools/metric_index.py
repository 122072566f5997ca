"""The tables of docs/metrics.md, from the registry of metrics.

``python -m tools.metric_index`` writes them anew; the text between them is the page's own. Which evidence
identifies a metric is found by asking for it, not taken from what the registry says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

import halftruth as ht
from halftruth._registry import REGISTRY, Metric
from halftruth.evidence import Evidence

PAGE = Path(__file__).parents[1] / "docs" / "metrics.md"
NEEDS = ("prior", "shape", "nothing")
VALID = {"prior": "any; PU if it has a prior", "shape": "any; noisy PU if it has a prior", "nothing": "any"}


def filled(page: str) -> str:
    """The page with its tables as the registry has them."""
    tables = {"evidence": _evidence_table(), **{name: _table(rows) for name, rows in _sections().items()}}

    def table(match: re.Match[str]) -> str:
        return f"{match[1]}\n\n{tables.pop(match[2])}\n\n{match[3]}"

    out = re.sub(r"(<!-- table: (\w+) -->).*?(<!-- end -->)", table, page, flags=re.DOTALL)
    if tables:
        raise ValueError(f"The page has no place for the tables {', '.join(tables)}.")
    return out


def _sections() -> Mapping[str, list[Metric]]:
    out: dict[str, list[Metric]] = {"rates": [], "ranking": [], "probabilities": [], "calibration": []}
    for metric in REGISTRY.values():
        out[_section(metric)].append(metric)
    return out


def _section(metric: Metric) -> str:
    if metric.threshold:
        return "rates"
    if metric.distance:
        return "calibration"
    return "ranking" if metric.ranking else "probabilities"


def _table(metrics: Iterable[Metric]) -> str:
    head = ("name", "formula", "needs", "valid evidence", "better", "interval", "paper")
    return _markdown(head, (_cells(metric) for metric in metrics))


def _cells(metric: Metric) -> tuple[str, ...]:
    needs = f"{metric.needs}, probabilities" if metric.probability else metric.needs
    valid, better = VALID[metric.needs], metric.better or "–"
    return (f"`{metric.name}`", metric.formula, needs, valid, better, _interval(metric), metric.paper or "–")


def _interval(metric: Metric) -> str:
    if metric.smooth(unsigned=False):
        return f"{metric.interval}; closed form"
    return (
        f"{metric.interval}; closed form unless signed" if metric.smooth(unsigned=True) else metric.interval
    )


def _evidence_table() -> str:
    rows = [
        (words, *("yes" if _all_identified(evidence, need) else "a range" for need in NEEDS))
        for words, evidence in _examples().items()
    ]
    return _markdown(("evidence", *(f"needs {need}" for need in NEEDS)), rows)


def _all_identified(evidence: Evidence, need: str) -> bool:
    """Whether every metric of this need has a value from the evidence."""
    found = {_identified(metric, evidence) for metric in REGISTRY.values() if metric.needs == need}
    if len(found) > 1:
        raise ValueError(f"Metrics that need {need!r} do not agree on {evidence!r}.")
    return found.pop()


def _identified(metric: Metric, evidence: Evidence) -> bool:
    try:
        metric.bind(0.5, **metric.example)(evidence.measure())
    except ht.NotIdentifiable:
        return False
    return True


def _examples() -> dict[str, Evidence]:
    """Every kind of evidence there is, in words."""
    drawn = ht.simulate.logistic_model(0, 1).draw_strata(100, 1000, rng=0, n_negative=100)
    p, u, n = drawn.positive.score, drawn.unlabeled.score, drawn.negative.score
    share = np.full(len(p), 0.2)
    two = ht.PositiveUnlabeled
    return {
        "`Labeled`": ht.Labeled(drawn.unlabeled.y, u),
        "`SoftLabeled`": ht.SoftLabeled(u, u),
        "`PositiveUnlabeled` with a prior": two(p, u, prior=0.5),
        "… and a purity below 1": two(p, u, prior=0.5, purity=0.9),
        "… without a prior": two(p, u),
        "… without a prior, a purity below 1": two(p, u, purity=0.9),
        "… without a prior, with known negatives": two(p, u, negative=n),
        '… without a prior, propensities, `population="all"`': two(p, u, propensity=share, population="all"),
        "… without a prior, propensities up to a factor": two(p, u, propensity=share),
        "`PositiveConfidence`": ht.PositiveConfidence(np.clip(p, 0.2, 1.0), p),
    }


def _markdown(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = tuple(head)
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    """Write the tables of the page anew."""
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
