"""`halftruth compare FILE...`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from halftruth._errors import InputError
from halftruth.cli import options

if TYPE_CHECKING:
    from halftruth.results._comparison import Comparison
    from halftruth.table._score_table import ScoreTable

EXAMPLES = """\b
Examples:
  halftruth compare scores.parquet --score model_a --score model_b --prior 0.3 --html report.html
  halftruth compare scores.csv --score old --score new --label y --zeros negative --format markdown
  halftruth compare scores.csv --score new --score old --prior 0.3 --require 'roc_auc.low>=-0.01'
  halftruth compare scores.csv --score a --score b --score c --prior 0.3 --require 'a,c:roc_auc>0'
  halftruth compare scores.csv --score new --score old --prior 0.3 --by region --weight n --strict
  halftruth compare data.csv --score a --score b --unlabeled -1 --purity 0.9 --population unlabeled
  halftruth compare old.csv new.csv --id case --prior estimate --within 0.01..0.1 --labeled-sample 7/50
  halftruth compare monday.csv tuesday.csv --no-paired --prior 0.02..0.05 --n-resamples 5000 --stratified
  halftruth compare data.csv --score a --score b --metrics f1 --threshold 0.5 --confidence-level 0.9 --rng 1
"""


def compare(
    files: options.Files,
    score: Annotated[
        list[str] | None,
        options.column("Column of one model's scores; repeat it for each. Default: score."),
    ] = None,
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
    paired: Annotated[
        bool,
        typer.Option("--paired/--no-paired", help="Whether the models scored the same cases."),
    ] = True,
    threshold: options.Threshold = None,
    metrics: options.Metrics = None,
    confidence_level: options.ConfidenceLevel = 0.95,
    n_resamples: options.Resamples = 2000,
    rng: options.Seed = 0,
    stratified: options.Stratified = None,
    id: Annotated[  # noqa: A002  the name of the option
        str | None, options.column("Column that joins the files of the models, case by case.")
    ] = None,
    style: options.Style = options.Format.table,
    html: options.Html = None,
    require: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GATE",
            help="Exit 1 unless this holds for first minus second of every pair, e.g. 'roc_auc.low>=-0.01', "
            "or of one pair, e.g. 'old,new:roc_auc<=0'; may be repeated.",
        ),
    ] = None,
    strict: options.Strict = False,
) -> int:
    """Which model is better: differences with intervals, and where the order hangs on the prior."""
    from halftruth.cli import differences, flagged, gates, groups, pages, reading
    from halftruth.cli import strict as strictly
    from halftruth.cli.render import show
    from halftruth.cli.source import evidence_of
    from halftruth.cli.views import Compared, heading
    from halftruth.evaluation import _compare

    required = [gates.Gate.read(text) for text in require or ()]
    settings = reading.settings(
        metrics,
        threshold=threshold,
        confidence_level=confidence_level,
        n_resamples=n_resamples,
        rng=rng,
        stratified=stratified,
    )
    shares = reading.shares(prior, purity, within, labeled_sample) | {"population": population}
    pages.check(html, files)
    if html is not None and by is not None:
        raise InputError("--html does not go with --by: a page compares models in one table. Leave one out.")
    models = _models(files, score or ["score"], joined_by=id, paired=paired)
    for gate in required:
        gate.check(settings["metrics"], threshold, pairs=True)
        differences.check(gate, models)

    def compared(tables: dict[str, ScoreTable]) -> Comparison:
        if by is not None:
            _refuse_missing(tables, models)
        evidence = {name: evidence_of(table, **shares) for name, table in tables.items()}
        return _compare.compare(evidence, paired=paired, **settings)

    columns = {"label": label, "weight": weight, "zeros": zeros, "unlabeled": unlabeled, "by": by}
    tables = _tables(files, score or ["score"], columns, id)
    found = groups.each(tables, compared, by)
    views = {name: x if isinstance(x, groups.Failed) else Compared(x) for name, x in found.items()}
    show(groups.view_of(views, by), style)
    for name in models:
        flagged.remark([own[name] for own in tables.values() if name in own], threshold, name)
    if html is not None:
        pages.write(found[""], html, pages.titled(files, score or ["score"]))
    titled = {heading(by, group): result for group, result in found.items()}
    codes = [differences.judge(required, titled)]
    if strict:
        codes.append(strictly.judge({name: strictly.comparison(x) for name, x in titled.items()}))
    return gates.worst(codes)


def _models(files: list[str], scores: list[str], *, joined_by: str | None, paired: bool) -> list[str]:
    """The names of the models, columns or files; refused where these cannot be compared."""
    if joined_by is not None and (len(scores) > 1 or len(set(files)) < 2 or not paired):
        raise InputError(
            "--id joins one file for each model: pass two or more, one --score, and no --no-paired."
        )
    if len(scores) > 1:
        return scores
    if len(set(files)) < 2:
        raise InputError("A comparison takes two models or more: repeat --score, or pass one file for each.")
    if paired and joined_by is None:
        raise InputError(
            "Rows of different files are not known to be the same cases. Pass --id COLUMN if one tells them "
            "apart, or --no-paired if each file has cases of its own."
        )
    return list(dict.fromkeys(files))


def _tables(
    files: list[str], scores: list[str], columns: dict[str, Any], joined_by: str | None
) -> dict[str, dict[str, ScoreTable]]:
    """By group, the table of each model: columns of the same rows, files of the same cases, or of others."""
    from halftruth.cli.source import Source

    if len(scores) > 1:
        return Source(files=files, score=scores, **columns).models()
    if joined_by is not None:
        if columns["by"] is not None:
            raise InputError("--by does not go with --id. Write the scores of all models into one file.")
        return {"": Source(files=files, score=scores[0], id=joined_by, **columns).tables()}
    from halftruth.table._groups import ordered

    groups: dict[str, dict[str, ScoreTable]] = {}
    for file in dict.fromkeys(files):
        for group, table in Source(files=[file], score=scores[0], **columns).tables().items():
            groups.setdefault(group, {})[file] = table
    return {name: groups[name] for name in ordered(groups)}


def _refuse_missing(tables: dict[str, ScoreTable], models: list[str]) -> None:
    """Refuse a group that not every file has."""
    missing = [name for name in models if name not in tables]
    if missing:
        raise InputError(f"no row of {', '.join(missing)}. Models are compared on groups that all have.")
