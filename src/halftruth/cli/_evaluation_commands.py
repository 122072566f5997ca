"""`halftruth evaluate FILE...` and `halftruth compare FILE...`"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from halftruth._errors import HalftruthError, InputError, Note, NotIdentifiable, source_of
from halftruth.cli._options import (
    By,
    Files,
    Format,
    GridKind,
    Html,
    LabelOptions,
    MetricOptions,
    PriorColumn,
    ReviewOptions,
    RowOptions,
    ShareOptions,
    Strict,
    Style,
    column,
    complete_intervals,
    flag,
    option,
)

if TYPE_CHECKING:
    from halftruth.evidence import Evidence
    from halftruth.results._comparison import Comparison
    from halftruth.results._estimate import Evaluation
    from halftruth.table._score_table import ScoreTable

__all__ = ["COMPARE_EXAMPLES", "EVALUATE_EXAMPLES", "compare", "evaluate"]

MOST_COMPARED = 12  # groups, each with every other
IN_TAILS = 4  # resamples beyond the ends of an interval, at least
MOST_RESAMPLES = 100_000  # beyond which an interval goes on as a normal law does
MOST_LOOKS = 10_000
EVALUATE_EXAMPLES = """\b
Examples:
  halftruth evaluate scores.parquet --prior 0.3 --threshold 0.5 --html report.html
  halftruth evaluate scores.csv --zeros negative --threshold 'precision>=0.9'
  halftruth evaluate scores.csv --score p --label fraud --zeros unlabeled --prior 0.02..0.05
  halftruth evaluate scores.csv --by site --prior 'north=0.2,south=0.08..0.12,east=estimate'
  halftruth evaluate scores.csv --by site --prior-column share
  halftruth evaluate scores.csv --prior 0.02 --selection rising:1.5 --require 'roc_auc>=0.8'
  halftruth evaluate scores.csv --prior 0.02 --propensity chance_known
  halftruth evaluate scores.csv --prior 0.02 --propensity 0:0.1,0.5:0.3,0.8:0.9 --selection 1.2
  halftruth evaluate scores.csv --prior estimate --within 0.01..0.1 --labeled-sample 7/50
  halftruth evaluate scores.csv --unlabeled -1 --prior 0.3 --purity 0.9 --population unlabeled
  halftruth evaluate 'day-*.csv.gz' --by month --weight n --format json --strict > result.json
  halftruth evaluate scores.csv --zeros negative --confidence-level 0.9 --require 'roc_auc.low>=0.85'
  halftruth evaluate scores.csv --prior 0.3 --metrics 'roc_auc,partial_auc(max_fpr=0.1),recall_at_k(k=100)'
  halftruth evaluate scores.csv --prior 0.3 --n-resamples 5000 --rng 1 --method basic --stratified
  halftruth evaluate lake/scores --engine spark --prior 0.3 --by month --save-table scores.npz
  halftruth evaluate scores --engine postgres://me@host/db --prior 0.3 --grid margin --save-table today.npz
  halftruth evaluate scores.csv --reviewed to_review.csv --known-positive found --threshold 0.5
  halftruth evaluate a.csv --reviewed r1.csv --known-positive found --prior 0.02..0.05 --purity-sample 45/50
  halftruth evaluate scores.csv --reviewed r1.csv --reviewed r2.csv --until 'roc_auc.low>=0.8' --look 3
  halftruth evaluate scores.csv --reviewed r1.csv --by site --missing-reviews bounds --save-table monday.npz
  halftruth evaluate scores.csv --label verdict --review-chance 0:0.01,0.9:1 --reviewer-check twice.csv
  halftruth evaluate scores.csv --review-chance chance --sensitivity 0.8..0.95 --specificity 0.98
  halftruth evaluate scores.csv --score new --reviewed to_review.csv --planned-by old
  halftruth evaluate monday.npz tuesday.npz --prior 0.02
  cat scores.csv | halftruth evaluate - --prior 0.3 --metrics calibration_error --lipschitz 2
"""
COMPARE_EXAMPLES = """\b
Examples:
  halftruth compare scores.parquet --score model_a --score model_b --prior 0.3 --html report.html
  halftruth compare scores.csv --score old --score new --label y --zeros negative --format markdown
  halftruth compare scores.csv --score new --score old --prior 0.3 --require 'roc_auc.low>=-0.01'
  halftruth compare scores.csv --score a --score b --score c --prior 0.3 --require 'a,c:roc_auc>0'
  halftruth compare scores.csv --score new --score old --prior 0.3 --by region --weight n --strict
  halftruth compare data.csv --score a --score b --unlabeled -1 --purity 0.9 --population unlabeled
  halftruth compare data.csv --score a --score b --prior 0.02 --propensity chance_known --selection 1.2
  halftruth compare old.csv new.csv --id case --prior estimate --within 0.01..0.1 --labeled-sample 7/50
  halftruth compare monday.csv tuesday.csv --no-paired --prior 0.02..0.05 --n-resamples 5000 --stratified
  halftruth compare north.csv south.csv --no-paired --prior north.csv=0.2,south.csv=0.08..0.12
  halftruth compare scores.csv --between site --prior-column share
  halftruth compare scores.csv --score a --score b --reviewed r1.csv --planned-by c --known-positive found
  halftruth compare scores.csv --score a --score b --review-chance chance --reviewer-check twice.csv
  halftruth compare scores.csv --between site --reviewed r1.csv --missing-reviews bounds
  halftruth compare scores.csv --score a --score b --review-chance 0.05 --sensitivity 0.9 --specificity 0.98
  halftruth compare data.csv --score a --score b --metrics f1 --threshold 0.5 --confidence-level 0.9 --rng 1
"""


def evaluate(
    *,
    files: Files,
    rows: RowOptions,
    shares: ShareOptions,
    prior_column: PriorColumn = None,
    by: By = None,
    numbers: MetricOptions,
    method: Annotated[
        str | None,
        option(
            "Bootstrap interval: percentile, basic, normal, bias-corrected, fitted; else each metric's own.",
            "NAME",
            complete_intervals,
        ),
    ] = None,
    lipschitz: Annotated[
        float | None, option("Limit of the calibration curve's slope, for a bound from theory.", "NUMBER")
    ] = None,
    style: Style = Format.table,
    html: Html = None,
    save_table: Annotated[
        str | None,
        option(
            "Also write the table that was read, .npz, to pass as a FILE on another day, with others or "
            "with another --prior; with --by one for each group, FILE-GROUP.npz.",
            "FILE",
        ),
    ] = None,
    grid: Annotated[
        GridKind | None,
        option("Of the histogram that many rows become; margin where any day's scores leave [0, 1]."),
    ] = None,
    require: Annotated[
        list[str] | None,
        option(
            "Exit 1 unless this holds, e.g. 'roc_auc>=0.9' or 'roc_auc.low>0.85'; may be repeated.", "GATE"
        ),
    ] = None,
    until: Annotated[
        str | None,
        option(
            "After each round of reviews: exit 0 if this holds, 1 if it fails, 3 if more reviews are needed; "
            "intervals allow for having looked before.",
            "GATE",
        ),
    ] = None,
    look: Annotated[
        int | None,
        option(
            "How many times you will have looked, this time included; else one a round.",
            "K",
            min=1,
            max=MOST_LOOKS,
        ),
    ] = None,
    review: ReviewOptions,
    purity_sample: Annotated[
        str | None,
        option("Where reviews check a --prior: K of M random known positives were found right.", "K/M"),
    ] = None,
    strict: Strict = False,
) -> int:
    """True metrics, with intervals, from a file or table of scores and labels."""
    from halftruth.cli._gates import Gate, decide, judge_results, remark_on_threshold, worst
    from halftruth.cli._group_priors import GroupShares, with_priors
    from halftruth.cli._how_known import ask_how_known, parse_propensity
    from halftruth.cli._option_values import metric_settings
    from halftruth.cli._outputs import (
        check_page,
        check_table_file,
        page_title,
        readable_twice,
        write_page,
        write_tables,
    )
    from halftruth.cli._rendering import object_strictly, show
    from halftruth.cli._reviews import Reviews
    from halftruth.cli._table_source import TableSource, evidence_of
    from halftruth.cli._views import EvaluationView, by_group, group_heading, view_of, with_unevaluated

    # Whatever can be refused is refused here, before long files are read.
    gates = [Gate.read(text) for text in require or ()]
    settings = metric_settings(numbers, method=method, lipschitz=lipschitz)
    shares_given, prior_given = shares != ShareOptions() or prior_column is not None, shares.prior is not None
    reviews = Reviews.read(review, shares_given=shares_given, checked=prior_given)
    goal = None if until is None else Gate.until(until)
    told = _looked(settings, look or (len(reviews.rounds) if goal else None))
    known = GroupShares.read(shares, by, column=prior_column, engine=rows.engine)
    chances = parse_propensity(shares.propensity)
    check = None
    if purity_sample is not None or (reviews and prior_given):
        from halftruth.cli._beside_reviews import check_settings

        check = check_settings(reviews, shares, settings, purity_sample, by)
    check_page(html, files)
    check_table_file(save_table, files)
    for gate in (*gates, *([goal] if goal else ())):
        gate.check(settings["metrics"], settings["threshold"])
    with readable_twice(files, needed=prior_column is not None) as paths:
        source = TableSource(files=paths, by=by, grid=grid, propensity=chances, reviews=reviews, **vars(rows))
        tables = source.tables()
        # The table is kept even if nothing can be said of it: to read the rows may have taken long.
        write_tables(tables, save_table, by)
        known = known.with_column(paths)
    known.check(tables)

    def evaluated(group: tuple[str, ScoreTable]) -> Evaluation:
        name, table = group
        evidence = evidence_of(table, **(known.of(name) if check is None else {}), reviewer=reviews.reviewer)
        result = _evaluated(evidence, settings, grouped=by is not None)
        return replace(result, notes=(*told, *result.notes))

    results = with_unevaluated(by_group({name: (name, tables[name]) for name in tables}, evaluated, by))
    remarks = tuple(known.remarks(tables, [name for name, x in results.items() if x.status == "refuted"]))
    views = {name: EvaluationView(result, selection=known.selection) for name, result in results.items()}
    if check is not None:
        from halftruth.cli._beside_reviews import CheckedView

        checked = CheckedView.of(results[""], known.of(""), check)
        views, results, remarks = {"": checked}, {"": checked.result}, ()
    view = view_of(views, by)
    view = with_priors(view, known, results, remarks)
    show(view, style)
    ask_how_known(tables.values(), shares.selection)
    if not isinstance(settings["threshold"], str):  # chosen among the scores
        remark_on_threshold(tables.values(), settings["threshold"])
    noted = {name: replace(result, notes=(*remarks, *result.notes)) for name, result in results.items()}
    write_page(noted if by else noted[""], html, page_title(files, source.score_columns), by)
    by_heading = {group_heading(by, name): result for name, result in results.items()}
    decided = [] if goal is None else [decide(goal, by_heading)]
    objected = object_strictly(view.objections() if strict else ())
    return worst([judge_results(gates, by_heading), *decided, objected])


def _looked(settings: dict[str, Any], look: int | None) -> tuple[Note, ...]:
    """Set the level of this look, and say why intervals are wide; nothing where nobody looks again."""
    from halftruth.inference._looks import level_of_look

    if look is None:
        return ()
    if not look:
        raise InputError("--until counts the rounds of --reviewed as looks. Without rounds, pass --look K.")
    asked = settings["confidence_level"]
    settings["confidence_level"] = level_of_look(look, asked)
    if settings["n_resamples"]:  # an end of a wide interval must lie among the resamples
        least = math.ceil(IN_TAILS / (1 - settings["confidence_level"]))
        settings["n_resamples"] = max(settings["n_resamples"], min(least, MOST_RESAMPLES))
    return (
        Note(
            "remark",
            f"Look {look}: intervals are at {settings['confidence_level']:.6g}, wider than at {asked:g}, so "
            f"that those of all looks together, this and any number more, hold at {asked:g}.",
        ),
    )


def _evaluated(evidence: Evidence, settings: dict[str, Any], *, grouped: bool) -> Evaluation:
    """The evaluation; of a group without the threshold that was asked for, with rates that are undefined."""
    from halftruth import _registry
    from halftruth.cli._option_values import parse_metric
    from halftruth.evaluation import _evaluate
    from halftruth.results._estimate import Estimate

    try:
        return _evaluate.evaluate(evidence, **settings)
    except NotIdentifiable as error:
        metrics = settings["metrics"]
        labels = _registry.default_rows(evidence.measure(), 0.0) if metrics is None else list(metrics)
        kept: Any = [label for label in labels if not parse_metric(label).needs_threshold]
        if not (grouped and kept and isinstance(settings["threshold"], str)):
            raise
        why = Note("undefined", source_of(error))
    if metrics is None or isinstance(metrics, dict):
        kept = metrics and {label: metrics[label] for label in kept}
    result = _evaluate.evaluate(evidence, **settings | {"metrics": kept, "threshold": None})
    level = settings["confidence_level"]
    nothing = Estimate(value=math.nan, low=math.nan, high=math.nan, confidence_level=level, notes=(why,))
    return replace(result, rows={label: result.rows.get(label, nothing) for label in labels})


def compare(
    *,
    files: Files,
    score: Annotated[
        list[str] | None, column("Column of one model's scores; repeat it for each. Default: score.")
    ] = None,
    labels: LabelOptions,
    shares: ShareOptions,
    review: ReviewOptions,
    prior_column: PriorColumn = None,
    by: By = None,
    between: Annotated[
        str | None, column("Compare the values of this column with each other, not models.")
    ] = None,
    paired: Annotated[bool, flag("--paired/--no-paired", "Whether the models scored the same cases.")] = True,
    numbers: MetricOptions,
    id: Annotated[  # noqa: A002  the name of the option
        str | None, column("Column that joins the files of the models, case by case.")
    ] = None,
    style: Style = Format.table,
    html: Html = None,
    require: Annotated[
        list[str] | None,
        option(
            "Exit 1 unless this holds for first minus second of every pair, e.g. 'roc_auc.low>=-0.01', "
            "or of one pair, e.g. 'old,new:roc_auc<=0'; may be repeated.",
            "GATE",
        ),
    ] = None,
    strict: Strict = False,
) -> int:
    """Which model is better: differences with intervals, and where the order hangs on the prior."""
    from halftruth.cli._gates import Gate, judge_results, remark_on_threshold, worst
    from halftruth.cli._group_priors import GroupShares, with_priors
    from halftruth.cli._how_known import ask_how_known, parse_propensity
    from halftruth.cli._option_values import metric_settings
    from halftruth.cli._outputs import check_page, page_title, readable_twice, write_page
    from halftruth.cli._rendering import object_strictly, show
    from halftruth.cli._reviews import Reviews
    from halftruth.cli._views import ComparisonView, Failed, by_group, group_heading, view_of
    from halftruth.evaluation import _compare

    scores = score or ["score"]
    # Whatever can be refused is refused here, before long files are read.
    gates = [Gate.read(text) for text in require or ()]
    settings = metric_settings(numbers)
    if isinstance(settings["threshold"], str):
        raise InputError("compare takes --threshold as a number: choose it by evaluate on other rows.")
    reviews = Reviews.read(review, shares_given=shares != ShareOptions() or prior_column is not None)
    paired = paired and between is None  # groups have cases of their own
    known = GroupShares.read(shares, by or between, models=not paired, column=prior_column)
    chances = parse_propensity(shares.propensity)
    check_page(html, files)
    if html is not None and by is not None:
        raise InputError("--html does not go with --by: a page compares models in one table. Leave one out.")
    with readable_twice(files, needed=prior_column is not None) as paths:
        columns = vars(labels) | {"by": by, "propensity": chances, "reviews": reviews}
        groups = {} if between is None else _groups_of(paths, scores, columns, id, between)
        models = list(groups[""]) if groups else _models(paths, scores, joined_by=id, paired=paired)
        for gate in gates:
            gate.check(settings["metrics"], settings["threshold"], models)
        groups = groups or _tables(paths, scores, columns, id)
        known = known.with_column(paths)
    known.check(models if by is None else groups)

    def compared(group: tuple[str, dict[str, ScoreTable]]) -> Comparison:
        group_name, tables = group
        missing = [name for name in models if name not in tables]
        if by is not None and missing:
            raise InputError(f"no row of {', '.join(missing)}. Models are compared on groups that all have.")
        evidence = {}
        for name, table in tables.items():
            shares_of_it = known.of(name if by is None else group_name) | {"reviewer": reviews.reviewer}
            evidence[name] = _evidence(table, shares_of_it, name, between)
        return _compare.compare(evidence, paired=paired, **settings)

    results: dict[str, Any] = by_group({name: (name, groups[name]) for name in groups}, compared, by)
    of_groups = between is not None
    views = {
        name: x if isinstance(x, Failed) else ComparisonView(x, of_groups, selection=known.selection)
        for name, x in results.items()
    }
    first_tables = {name: next(iter(tables.values())) for name, tables in groups.items()}
    remarks = tuple(known.remarks(groups[""] if between else first_tables))
    view = with_priors(view_of(views, by), known, results, remarks, pairs=of_groups)
    show(view, style)
    ask_how_known((table for tables in groups.values() for table in tables.values()), shares.selection)
    for name in models:
        its_tables = [tables[name] for tables in groups.values() if name in tables]
        remark_on_threshold(its_tables, settings["threshold"], name)
    if html is not None:
        noted = replace(results[""], notes=(*remarks, *results[""].notes))
        write_page(noted, html, page_title(files, scores))
    required = judge_results(gates, {group_heading(by, name): result for name, result in results.items()})
    return worst([required, object_strictly(view.objections() if strict else ())])


def _evidence(table: ScoreTable, shares: dict[str, Any], name: str, between: str | None) -> Evidence:
    """Of one model, or of one of the groups that are compared, which an error then names."""
    from halftruth.cli._table_source import evidence_of
    from halftruth.cli._views import group_heading

    try:
        return evidence_of(table, **shares)
    except HalftruthError as error:
        raise (error.about(group_heading(between, name)) if between else error) from error


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


def _groups_of(
    files: list[str], scores: list[str], columns: dict[str, Any], joined_by: str | None, between: str
) -> dict[str, dict[str, ScoreTable]]:
    """The tables of the groups that are compared, as `_tables` gives those of models."""
    from halftruth.cli._table_source import TableSource

    if columns["by"] is not None or joined_by is not None or len(scores) > 1 or len(set(files)) > 1:
        raise InputError(
            "--between compares the groups of one file by one score: it goes without --by and --id, with one "
            "FILE and one --score."
        )
    tables = TableSource(files=files, score=scores[0], **columns | {"by": between}).tables()
    if not 2 <= len(tables) <= MOST_COMPARED:
        raise InputError(
            f"--between {between} compares every pair of groups, of 2 to {MOST_COMPARED}; the column has "
            f"{len(tables)} value(s). Keep the rows of some, or see each by evaluate --by {between}."
        )
    return {"": tables}


def _tables(
    files: list[str], scores: list[str], columns: dict[str, Any], joined_by: str | None
) -> dict[str, dict[str, ScoreTable]]:
    """By group, the table of each model: columns of the same rows, files of the same cases, or of others."""
    from halftruth.cli._table_source import TableSource

    if len(scores) > 1:
        return TableSource(files=files, score=scores, **columns).models()
    if joined_by is not None:
        if columns["by"] is not None:
            raise InputError("--by does not go with --id. Write the scores of all models into one file.")
        return {"": TableSource(files=files, score=scores[0], id=joined_by, **columns).tables()}
    from halftruth.table._groups import ordered

    groups: dict[str, dict[str, ScoreTable]] = {}
    for file in dict.fromkeys(files):
        for group, table in TableSource(files=[file], score=scores[0], **columns).tables().items():
            groups.setdefault(group, {})[file] = table
    return {name: groups[name] for name in ordered(groups)}
