"""`halftruth evaluate FILE...`"""

from __future__ import annotations

from typing import Any

from halftruth.cli import options

EXAMPLES = """\b
Examples:
  halftruth evaluate scores.parquet --prior 0.3 --threshold 0.5 --html report.html
  halftruth evaluate scores.csv --score p --label fraud --zeros unlabeled --prior 0.02..0.05
  halftruth evaluate scores.csv --prior estimate --within 0.01..0.1 --labeled-sample 7/50
  halftruth evaluate scores.csv --unlabeled -1 --prior 0.3 --purity 0.9 --population unlabeled
  halftruth evaluate 'day-*.csv.gz' --by month --weight n --format json --strict > result.json
  halftruth evaluate scores.csv --zeros negative --confidence-level 0.9 --require 'roc_auc.low>=0.85'
  halftruth evaluate scores.csv --prior 0.3 --metrics 'roc_auc,partial_auc(max_fpr=0.1),recall_at_k(k=100)'
  halftruth evaluate scores.csv --prior 0.3 --n-resamples 5000 --rng 1 --method basic --stratified
  halftruth evaluate lake/scores --engine spark --prior 0.3 --by month --save-table scores.npz
  halftruth evaluate scores --engine postgres://me@host/db --prior 0.3 --grid margin --save-table today.npz
  halftruth evaluate monday.npz tuesday.npz --prior 0.02
  cat scores.csv | halftruth evaluate - --prior 0.3 --metrics calibration_error --lipschitz 2
"""


def evaluate(
    files: options.Files,
    engine: options.Engine = None,
    score: options.Score = "score",
    label: options.Label = "label",
    weight: options.Weight = None,
    zeros: options.ZerosMean = None,
    unlabeled: options.Unlabeled = None,
    prior: options.Prior = None,
    purity: options.Purity = None,
    population: options.PopulationIs = options.Population.all,
    within: options.Within = None,
    labeled_sample: options.LabeledSample = None,
    by: options.By = None,
    threshold: options.Threshold = None,
    metrics: options.Metrics = None,
    confidence_level: options.ConfidenceLevel = 0.95,
    n_resamples: options.Resamples = 2000,
    rng: options.Seed = 0,
    method: options.Method = None,
    stratified: options.Stratified = None,
    lipschitz: options.Lipschitz = None,
    style: options.Style = options.Format.table,
    html: options.Html = None,
    save_table: options.SaveTable = None,
    grid: options.Grid = None,
    require: options.Require = None,
    strict: options.Strict = False,
) -> int:
    """True metrics, with intervals, from a file or table of scores and labels."""
    from halftruth.cli import flagged, gates, groups, pages, reading, stored
    from halftruth.cli import strict as strictly
    from halftruth.cli.render import show
    from halftruth.cli.source import Source, evidence_of
    from halftruth.cli.views import Evaluations
    from halftruth.evaluation import _evaluate

    required = [gates.Gate.read(text) for text in require or ()]
    settings = reading.settings(
        metrics,
        threshold=threshold,
        confidence_level=confidence_level,
        n_resamples=n_resamples,
        rng=rng,
        method=method,
        stratified=stratified,
        lipschitz=lipschitz,
    )
    shares = reading.shares(prior, purity, within, labeled_sample) | {"population": population}
    pages.check(html, files)
    stored.check(save_table, files)
    for gate in required:
        gate.check(settings["metrics"], threshold, pairs=False)
    columns: dict[str, Any] = {"score": score, "label": label, "weight": weight, "by": by}
    source = Source(files=files, engine=engine, grid=grid, zeros=zeros, unlabeled=unlabeled, **columns)
    tables = source.tables()
    stored.write(tables, save_table, by)
    found = groups.each(
        tables, lambda table: _evaluate.evaluate(evidence_of(table, **shares), **settings), by
    )
    view = Evaluations(groups.evaluations(found), by)
    show(view, style)
    flagged.remark(tables.values(), threshold)
    pages.write(view.groups if by else view.groups[""], html, pages.titled(files, source.scored), by)
    codes = [gates.judge(required, view.titled)]
    if strict:
        codes.append(strictly.judge({name: strictly.evaluation(x) for name, x in view.titled.items()}))
    return gates.worst(codes)
