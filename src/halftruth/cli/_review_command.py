"""`halftruth plan-review FILE...`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from halftruth._errors import InputError
from halftruth.cli._options import Files, Seed, column, complete_estimate, complete_metrics, option

if TYPE_CHECKING:
    from halftruth.evaluation._review_plan import ReviewPlan

__all__ = ["EXAMPLES", "plan_review"]

EXAMPLES = """\b
Examples:
  halftruth plan-review scores.csv --n 300 --metrics recall,precision --threshold 0.5 --output to_review.csv
  halftruth plan-review scores.csv --n 300 --copy id --copy customer --output to_review.csv
  halftruth plan-review scores.parquet --score p --n 100 --known-positive found --rng 1 --output to_review.csv
  halftruth plan-review scores.csv --n 300 --known-positive found --prior 0.02..0.05 --output to_review.csv
  halftruth plan-review scores.csv --n 100 --reviewed to_review.csv --output second_round.csv
"""


def plan_review(
    *,
    files: Files,
    n: Annotated[int, option("How many rows to review.", "N", min=1)],
    output: Annotated[str, option("Where the rows to review go, as CSV.", "FILE")],
    score: Annotated[str, column("Column of the scores.")] = "score",
    metrics: Annotated[
        list[str] | None,
        option(
            "Whose intervals are to be narrow; else those of the earlier round, or roc_auc, and with "
            "--threshold precision and recall too.",
            "NAME,...",
            complete_metrics,
        ),
    ] = None,
    threshold: Annotated[float | None, option("Call score >= threshold positive.", "NUMBER")] = None,
    known_positive: Annotated[
        str | None, column("Column of 1 for rows known to be positive, else 0 or empty.")
    ] = None,
    prior: Annotated[
        str | None,
        option(
            "With --known-positive: share of positives, 0.02, 0.02..0.05 or estimate, which with these says "
            "where to look; if it is wrong, intervals are wider, not wrong.",
            "SHARE",
            complete_estimate,
        ),
    ] = None,
    reviewed: Annotated[
        list[str] | None, option("A file of an earlier round, with its labels; may be repeated.", "FILE")
    ] = None,
    copy: Annotated[
        list[str] | None,
        column("Column to copy to --output, such as an id, by which people find the case; may be repeated."),
    ] = None,
    rng: Seed = 0,
) -> int:
    """Which cases to review, for narrow intervals of the metrics named.

    Fill in the column label of the file that it writes, 1 or 0, and pass it to `evaluate --reviewed`.
    """
    import typer

    from halftruth.cli._option_values import parse_metrics, parse_share
    from halftruth.cli._outputs import refuse_input
    from halftruth.cli._reviews import read_cells
    from halftruth.cli._table_source import TABLE_SUFFIX
    from halftruth.cli._terminal import say
    from halftruth.evaluation._review_plan import plan_rows
    from halftruth.evidence import PositiveUnlabeled, Reviewed
    from halftruth.evidence._review_files import ReviewFile, check_rounds
    from halftruth.evidence._reviewed import fingerprint
    from halftruth.files._cell_meanings import Columns
    from halftruth.files._write_column import check_target

    if not output.endswith(".csv"):
        raise InputError(f"--output writes CSV, so its FILE must end in .csv; got {output!r}.")
    saved = next((file for file in files if file.endswith(TABLE_SUFFIX)), None)
    if saved is not None:
        raise InputError(
            f"{saved} is a saved table, and a plan names rows of files. Pass those with its scores."
        )
    if copy and "-" in files:
        raise InputError("--copy reads FILE twice, and standard input can be read once. Name a file.")
    check_target(output)
    refuse_input("--output", output, [*files, *(reviewed or ())])
    ReviewFile.check_target(output)
    share: Any = parse_share(prior, "prior")
    if share is not None and (known_positive is None or reviewed):
        raise InputError(
            "--prior goes with --known-positive in a first round; later the reviews of --reviewed say where "
            "to look."
        )
    earlier = [ReviewFile.read(path) for path in reviewed or ()]
    if earlier:  # whose metrics are those of this round, unless others are named
        last = max(earlier, key=lambda x: x.round)
        metrics = metrics or [*last.metrics] or None
        threshold = last.threshold if threshold is None else threshold
    cells = read_cells(files, Columns(scores=(score,), label=None, known=known_positive))
    # Rows may be all that memory holds: nothing is copied, and what is not needed is dropped.
    scores, known = cells["s0"], None if known_positive is None else cells["k"] == 0
    scores += 0.0
    cells.clear()
    pilot: PositiveUnlabeled | Reviewed | None = None
    if share is not None:
        pilot = PositiveUnlabeled.from_labels(known, scores, prior=share, unlabeled=0)
    done = None
    if earlier:
        done = check_rounds(earlier, {fingerprint(scores): scores}, elsewhere=False)
        for each in earlier:
            each.refuse_missing(known)
        pilot = Reviewed.from_plan(earlier, scores, [x.labels for x in earlier], known_positive=known)
    plan = plan_rows(
        scores,
        n,
        parse_metrics(metrics) or ["roc_auc", *([] if threshold is None else ["precision", "recall"])],
        evidence=pilot,
        threshold=threshold,
        known_positive=known,
        reviewed=done,
        round=1 + max((x.round for x in earlier), default=0),
        rng=rng,
    )
    plan.save(output, copy=_copied(files, copy, plan))
    typer.echo(f"{len(plan)} of {len(scores)} rows to review are in {output}.")
    _tell_widths(plan)
    if earlier:
        cut = "" if threshold is None else f" at --threshold {threshold:g}"
        say(f"Note: This round is planned for {', '.join(plan.expected)}{cut}.")
    alone, guide = "", "the scores are"
    if pilot is not None:
        alone, guide = (" of this round alone", "the earlier rounds are") if earlier else ("", "the prior is")
    say(
        f"Note: Widths are those of 95% intervals{alone} if {guide} right about who is positive; if not, "
        "they may come out wider."
    )
    too = "" if known_positive is None else f" --known-positive {known_positive}"
    rounds = " ".join(f"--reviewed {file}" for file in (*(reviewed or ()), output))
    say(
        "Note: Column row counts from 0, the first row of the data. Fill in column label, 1 or 0, in every "
        f"line, and leave the rest; then halftruth evaluate with {rounds}{too}."
    )
    return 0


def _copied(files: list[str], columns: list[str] | None, plan: ReviewPlan) -> dict[str, list[str]]:
    """What people know the rows to review by, in the order of the plan."""
    import numpy as np

    from halftruth.files._write_column import cells_of

    if not columns:
        return {}
    chosen = np.zeros(len(plan.score), dtype=bool)
    chosen[plan.rows] = True
    place = np.argsort(np.argsort(plan.rows))  # in the files the rows ascend
    return {k: [cells[i] for i in place] for k, cells in cells_of(files, columns, chosen).items()}


def _tell_widths(plan: ReviewPlan) -> None:
    """The widths to expect, with more reviews too."""
    import typer

    n = len(plan)
    sizes = sorted({min(size, plan.left) for size in (n, n + 100, 4 * n)})
    heads = (f"{size} review{'s' if size > 1 else ''}" for size in sizes)
    typer.echo("width to expect     " + "".join(f"{head:>16s}" for head in heads))
    widths = [plan.expected_with(size) for size in sizes]
    for name in plan.expected:
        typer.echo(f"{name:20s}" + "".join(f"{width[name]:16.3f}" for width in widths))
