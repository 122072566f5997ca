"""`halftruth evaluate FILE...`"""

from __future__ import annotations

from halftruth.cli import options

EXAMPLES = """\b
Examples:
  halftruth evaluate scores.parquet --prior 0.3 --threshold 0.5
  halftruth evaluate scores.csv --label fraud --zeros unlabeled --prior 0.02..0.05
  halftruth evaluate scores.csv --zeros unlabeled --prior estimate
  halftruth evaluate 'day-*.csv.gz' --by month --format json > result.json
  halftruth evaluate scores.csv --zeros negative --require 'roc_auc.low>=0.85'
  cat scores.csv | halftruth evaluate - --prior 0.3 --metrics roc_auc,average_precision
"""


def evaluate(
    files: options.Files,
    score: options.Score = "score",
    label: options.Label = "label",
    weight: options.Weight = None,
    zeros: options.ZerosMean = None,
    unlabeled: options.Unlabeled = None,
    prior: options.Prior = None,
    purity: options.Purity = None,
    population: options.PopulationIs = options.Population.all,
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
    require: options.Require = None,
) -> int:
    """True metrics, with intervals, from a file of scores and labels."""
    from halftruth import evaluation
    from halftruth.cli.gates import Gate, judge
    from halftruth.cli.render import show
    from halftruth.cli.source import Source, evidence_of
    from halftruth.cli.views import Evaluations

    gates = [Gate.read(text) for text in require or ()]
    settings, shares = options.read(
        prior,
        purity,
        metrics,
        threshold=threshold,
        confidence_level=confidence_level,
        n_resamples=n_resamples,
        rng=rng,
        method=method,
        stratified=stratified,
        lipschitz=lipschitz,
    )
    for gate in gates:
        gate.check(settings["metrics"], threshold)
    source = Source(
        files=files, score=score, label=label, weight=weight, zeros=zeros, unlabeled=unlabeled, by=by
    )
    shares["population"] = population
    results = source.each(lambda table: evaluation.evaluate(evidence_of(table, **shares), **settings))
    view = Evaluations(results, by)
    show(view, style)
    return judge(gates, view.titled)
