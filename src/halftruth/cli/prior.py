"""`halftruth prior FILE...`"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from halftruth.cli import completion, options, reading, status

EXAMPLES = """\b
Examples:
  halftruth prior lake/scores --engine spark --score p --label fraud --zeros unlabeled
  halftruth prior scores.csv --within 0.01..0.1 --labeled-sample 7/50 --population unlabeled
  halftruth prior scores.csv --all-methods --unlabeled -1 --weight n --format markdown
  halftruth prior scores.csv --method alphamax,dedpul --n-resamples 200 --by month --strict
  halftruth prior scores.csv --purity estimate --confidence-level 0.9 --rng 1 --format json
"""


def prior(
    files: options.Files,
    engine: options.Engine = None,
    score: options.Score = "score",
    label: options.Label = "label",
    weight: options.Weight = None,
    zeros: options.ZerosMean = None,
    unlabeled: options.Unlabeled = None,
    population: options.PopulationIs = options.Population.all,
    by: options.By = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME,...",
            help="Methods to use.  [default: auto]",
            autocompletion=completion.estimators,
        ),
    ] = None,
    all_methods: Annotated[
        bool,
        typer.Option("--all-methods", help="All but km1 and km2, which take long."),
    ] = False,
    purity: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="Of the known positives: 0.9, or estimate.",
            autocompletion=completion.estimate,
        ),
    ] = None,
    within: Annotated[
        str | None,
        typer.Option(metavar="LOW..HIGH", help="Where α is known to lie."),
    ] = None,
    labeled_sample: Annotated[
        str | None,
        typer.Option(metavar="K/M", help="K of M random unlabeled cases are positive."),
    ] = None,
    confidence_level: options.ConfidenceLevel = 0.95,
    n_resamples: Annotated[
        int | None,
        typer.Option(metavar="N", min=2, help="Resamples; auto draws its own."),
    ] = None,
    rng: options.Seed = 0,
    style: options.Style = options.Format.table,
    strict: options.Strict = False,
) -> int:
    """Which share of the unlabeled is positive: what scores say, and cannot.

    Methods: auto, alphamax, bbe, bbe-corrected, dedpul, km1, km2, tice, em, elkan-noto, elkan-noto-ratio,
    roc-slope, roc-curve, divergence; mixture with known negatives; sample with --labeled-sample.
    """
    from halftruth.cli import groups
    from halftruth.cli import strict as strictly
    from halftruth.cli.estimates import Request
    from halftruth.cli.render import show
    from halftruth.cli.source import Source
    from halftruth.cli.views import Priors, heading

    request = Request(
        methods=reading.names(method) or [],
        all_methods=all_methods,
        population=population,
        purity=1.0 if purity is None else reading.share(purity, "purity"),
        known=reading.known_besides(within, labeled_sample),
        settings={"confidence_level": confidence_level, "n_resamples": n_resamples, "rng": rng},
    )
    columns: dict[str, Any] = {"score": score, "label": label, "weight": weight, "by": by}
    source = Source(files=files, engine=engine, zeros=zeros, unlabeled=unlabeled, **columns)
    found = groups.each(source.tables(), request.find, by)
    views = {name: x if isinstance(x, groups.Failed) else Priors(x) for name, x in found.items()}
    show(groups.view_of(views, by), style)
    if not strict:
        return status.FINE
    return strictly.judge({heading(by, name): strictly.prior(x) for name, x in found.items()})
