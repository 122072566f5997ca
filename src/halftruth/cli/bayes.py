"""`halftruth bayes-error FILE...`"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from halftruth.cli import completion, options, reading, status

EXAMPLES = """\b
Examples:
  halftruth bayes-error labels.csv --soft probability --weight n
  halftruth bayes-error votes.csv --votes yes --ballots asked --best --n-resamples 500 --rng 1
  halftruth bayes-error votes.parquet --classes cat,dog,fox --counts --test-error 0.021 --n-test 10000
  halftruth bayes-error answers.csv --votes yes --ballots 5 --test-error 0.02 --n-test 500 --predictions said
  halftruth bayes-error labels.csv --soft probability --labels noisy --sign likelier --method hoeffding
  halftruth bayes-error positives.csv --confidence p --prior 0.3 --confidence-level 0.9 --format json
  halftruth bayes-error scores.csv --label known --zeros unlabeled --prior 0.3 --calibrator isotonic --strict
  halftruth bayes-error scores.csv --prior estimate --within 0.01..0.1 --labeled-sample 7/50 --n-folds 10
  halftruth bayes-error scores.csv --score p --unlabeled -1 --prior 0.3 --purity 0.9 --population unlabeled
"""


class Labels(StrEnum):
    """What a soft label is."""

    soft = "soft"
    uncertainty = "uncertainty"
    noisy = "noisy"


class Interval(StrEnum):
    """How an interval is made."""

    t = "t"
    hoeffding = "hoeffding"
    bootstrap = "bootstrap"
    likelihood = "likelihood"


def _test_error(text: str | None) -> float | None:
    from halftruth._errors import InputError
    from halftruth.files._number_columns import share_of

    try:
        return None if text is None else float(text)
    except ValueError:
        share = share_of(str(text)) or "0.04 for 4%"
        raise InputError(f"--test-error must be a share of the cases, {share}; got {text!r}.") from None


def bayes_error(
    files: options.Files,
    soft: Annotated[
        str | None,
        options.column("Soft labels: the probability of the positive class."),
    ] = None,
    labels: Annotated[
        Labels | None,
        typer.Option(
            help="What --soft holds: the probability, that of the less likely class, or one with noise.  "
            "[default: soft]"
        ),
    ] = None,
    sign: Annotated[
        str | None,
        options.column("Of noisy --soft labels: 1 where positive is the likelier class, else -1 or 0."),
    ] = None,
    classes: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN,...",
            help="Probabilities of all classes, a column each; may be repeated. A "
            "name with a comma stands in double quotes: 'cat,\"fish, other\"'.",
            autocompletion=completion.several_columns,
        ),
    ] = None,
    counts: Annotated[
        bool,
        typer.Option(
            "--counts", help="The columns of --classes hold votes, e.g. --classes cat,dog --counts."
        ),
    ] = False,
    votes: Annotated[str | None, options.column("Votes for the positive class.")] = None,
    ballots: Annotated[
        str | None,
        typer.Option(metavar="COLUMN|N", help="All votes of a row, with --votes."),
    ] = None,
    confidence: Annotated[
        str | None,
        options.column("Rows are positives; this is the probability of each that it is."),
    ] = None,
    score: Annotated[
        str | None,
        options.column("Higher is more positive.  [default: score]"),
    ] = None,
    label: Annotated[
        str | None,
        options.column("1 positive, 0 negative, empty unlabeled.  [default: label]"),
    ] = None,
    zeros: options.ZerosMean = None,
    unlabeled: options.Unlabeled = None,
    prior: options.Prior = None,
    purity: options.Purity = None,
    population: Annotated[
        options.Population | None,
        typer.Option(
            help="All rows, or the unlabeled alone, where positives were drawn apart.  [default: all]"
        ),
    ] = None,
    within: options.Within = None,
    labeled_sample: options.LabeledSample = None,
    calibrator: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Of scores, as in halftruth calibrate.  [default: beta]",
            autocompletion=completion.calibrators,
        ),
    ] = None,
    n_folds: Annotated[
        int | None,
        typer.Option(metavar="N", min=2, max=100, help="Parts of the calibration; else 5."),
    ] = None,
    weight: options.Weight = None,
    method: Annotated[
        Interval | None,
        typer.Option(help="How the interval is made; else what suits the rows."),
    ] = None,
    best: Annotated[
        bool,
        typer.Option("--best", help="Also the best attainable AUC, average precision, F1, …"),
    ] = False,
    test_error: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="A reported error, 0.04 for 4%: is it too good to be true?",
        ),
    ] = None,
    n_test: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Test cases that --test-error is from."),
    ] = None,
    predictions: Annotated[
        str | None,
        options.column(
            "With --test-error: the predicted class, 1 or 0; with --classes its name or place from 0."
        ),
    ] = None,
    confidence_level: options.ConfidenceLevel = 0.95,
    n_resamples: Annotated[int, typer.Option(metavar="N", min=0, help="Bootstrap resamples.")] = 2000,
    rng: options.Seed = 0,
    style: options.Style = options.Format.table,
    strict: options.Strict = False,
) -> int:
    """How good could anyone be? The Bayes error, from what the rows hold.

    Rows hold soft labels (--soft, --classes), votes (--votes, or --classes with --counts), confidences of
    positives (--confidence), or scores and labels: then the error of the calibrated scores, which bounds it.
    """
    from halftruth.cli import kinds
    from halftruth.cli import labels as held
    from halftruth.cli import strict as strictly
    from halftruth.cli.limits import Request
    from halftruth.cli.render import show

    given = {
        "soft": soft,
        "labels": labels,
        "sign": sign,
        "classes": kinds.class_columns(classes),
        "counts": counts or None,
        "votes": votes,
        "ballots": ballots,
        "confidence": confidence,
        "score": score,
        "label": label,
        "zeros": zeros,
        "unlabeled": unlabeled,
        "prior": reading.share(prior, "prior"),
        "purity": reading.share(purity, "purity"),
        "population": population,
        "within": within,
        "labeled_sample": labeled_sample,
        "calibrator": calibrator,
        "n_folds": n_folds,
        "predictions": predictions,
    }
    kind = kinds.kind_of(given)
    request = Request(
        kind=kind,
        labels=str(labels or (Labels.soft if sign is None else Labels.noisy)),
        calibrator=calibrator or "beta",
        n_folds=n_folds or 5,
        method=None if method is None else str(method),
        best=best,
        test_error=_test_error(test_error),
        n_test=n_test,
        settings={"confidence_level": confidence_level, "n_resamples": n_resamples, "rng": rng},
    )
    request.check(given)
    limits = request.find(held.read(files, kind, weight, given))
    show(limits, style)
    return strictly.judge({"": limits.objections()}) if strict else status.FINE
