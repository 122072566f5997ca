"""`halftruth plan-review FILE...`, and reviews that come back to `halftruth evaluate --reviewed`."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from halftruth._errors import InputError
from halftruth.cli._options import Files, Seed, column, complete_metrics, option

if TYPE_CHECKING:
    from halftruth._checks import Vector
    from halftruth.evidence import Reviewed

__all__ = ["EXAMPLES", "ReviewFile", "plan_review", "reviewed_evidence"]

EXAMPLES = """\b
Examples:
  halftruth plan-review scores.csv --n 300 --metrics recall,precision --threshold 0.5 --output to_review.csv
  halftruth plan-review scores.parquet --score p --n 100 --known-positive found --rng 1 --output to_review.csv
  halftruth plan-review scores.csv --n 100 --reviewed to_review.csv --output second_round.csv
"""
HEAD = re.compile(r"# halftruth review plan 1; scores ([0-9a-f]{16}); round (\d+)\s*")
NEEDED = ("row", "probability", "label")


@dataclass(frozen=True, eq=False)
class ReviewFile:
    """Rows that were to be reviewed, as they came back; what `Reviewed.from_plan` asks of a plan."""

    path: str
    fingerprint: str
    round: int
    rows: Any
    chance: Vector
    labels: Vector

    @classmethod
    def read(cls, path: str) -> ReviewFile:
        """A file that `plan-review` wrote, with its labels filled in."""
        import numpy as np

        try:
            text = Path(path).read_text(encoding="utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{path} cannot be read: {error}") from error
        head = HEAD.fullmatch(text[0]) if text else None
        if head is None:
            raise InputError(
                f"{path} is no file of `halftruth plan-review`: its first line must stay as it was written. "
                "Fill in the column label, and leave the rest."
            )
        cells = list(csv.DictReader(text[1:]))
        missing = [name for name in NEEDED if not cells or name not in cells[0]]
        if missing:
            raise InputError(
                f"{path} has no column {missing[0]}. Fill in the column label, and leave the rest."
            )
        try:
            rows = np.asarray([int(x["row"]) for x in cells], dtype=np.intp)
            chance = np.asarray([float(x["probability"]) for x in cells])
            labels = np.asarray([float((x["label"] or "").strip() or "nan") for x in cells])
        except (TypeError, ValueError) as error:
            raise InputError(f"{path} has a cell that is no number: {error}. Labels are 1 or 0.") from error
        if len(set(rows.tolist())) < len(rows):
            values, counts = np.unique(rows, return_counts=True)
            raise InputError(f"{path} has row {values[counts > 1][0]} twice. Keep one line for each row.")
        if not ((chance > 0) & (chance <= 1)).all():
            raise InputError(f"{path} has a probability outside (0, 1]. Leave that column as it was written.")
        return cls(path, head[1], int(head[2]), rows, chance, labels)


def plan_review(
    *,
    files: Files,
    n: Annotated[int, option("How many rows to review.", "N", min=1)],
    output: Annotated[str, option("Where the rows to review go, as CSV.", "FILE")],
    score: Annotated[str, column("Column of the scores.")] = "score",
    metrics: Annotated[
        list[str] | None,
        option("Whose intervals are to be narrow; else roc_auc.", "NAME,...", complete_metrics),
    ] = None,
    threshold: Annotated[float | None, option("Call score >= threshold positive.", "NUMBER")] = None,
    known_positive: Annotated[
        str | None, column("Column of 1 for rows known to be positive, else 0.")
    ] = None,
    reviewed: Annotated[
        list[str] | None, option("A file of an earlier round, with its labels; may be repeated.", "FILE")
    ] = None,
    rng: Seed = 0,
) -> int:
    """Which cases to review, so that the named metrics get narrow intervals.

    Fill in the column label of the file that it writes, 1 or 0, and pass it to `evaluate --reviewed`.
    """
    import numpy as np
    import typer

    from halftruth.evaluation import _review_plan
    from halftruth.evidence import Reviewed
    from halftruth.files._write_column import check_target

    if not output.endswith(".csv"):
        raise InputError(f"--output writes CSV, so its FILE must end in .csv; got {output!r}.")
    check_target(output)
    if output in (*files, *(reviewed or ())):
        raise InputError(f"--output would replace {output}, which is read. Name another file.")
    earlier = [ReviewFile.read(path) for path in reviewed or ()]
    scores, known, _ = _columns(files, score, known_positive, None)
    done, pilot = np.zeros(len(scores), dtype=bool), None
    if earlier:
        pilot = Reviewed.from_plan(earlier, scores, [x.labels for x in earlier], known_positive=known)
        done[np.concatenate([x.rows for x in earlier])] = True
    plan = _review_plan.plan_review(
        scores,
        n,
        metrics=[name.strip() for text in metrics or ["roc_auc"] for name in text.split(",")],
        evidence=pilot,
        threshold=threshold,
        known_positive=known,
        reviewed=done,
        round=1 + max((x.round for x in earlier), default=0),
        rng=rng,
    )
    plan.save(output)
    typer.echo(f"{len(plan)} of {len(scores)} rows to review are in {output}.")
    typer.echo(f"{'metric':20s}{'width to expect':>18s}{'with ' + str(4 * n) + ' reviews':>24s}")
    more = plan.expected_with(4 * n)
    for name, width in plan.expected.items():
        typer.echo(f"{name:20s}{width:18.3f}{more[name]:24.3f}")
    return 0


def reviewed_evidence(
    files: Sequence[str], score: str, weight: str | None, known_positive: str | None, reviews: Sequence[str]
) -> Reviewed:
    """Evidence from scores and the reviews of some of them."""
    from halftruth.evidence import Reviewed

    rounds = [ReviewFile.read(path) for path in reviews]
    scores, known, weights = _columns(files, score, known_positive, weight)
    for each in rounds:
        beyond = each.rows[(each.rows < 0) | (each.rows >= len(scores))]
        if len(beyond):
            raise InputError(f"{each.path} has row {beyond[0]}, and {len(scores)} rows were read.")
    said = [each.labels for each in rounds]
    return Reviewed.from_plan(rounds, scores, said, sample_weight=weights, known_positive=known)


def _columns(
    files: Sequence[str], score: str, known_positive: str | None, weight: str | None
) -> tuple[Vector, Vector | None, Vector | None]:
    from halftruth.files._number_columns import Numbers, read_numbers

    wanted = tuple(name for name in (score, known_positive) if name is not None)
    cells = read_numbers(list(files), Numbers(columns=wanted, weight=weight))
    known = None if known_positive is None else cells[known_positive]
    return cells[score], known, None if weight is None else cells[weight]
