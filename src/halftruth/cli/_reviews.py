"""Reviews that came back: by files of `plan-review`, or as labels in the rows with the chance of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from halftruth._checks import Vector
from halftruth._errors import InputError, arg
from halftruth.cli._how_known import NO_PROPENSITIES, Propensities, parse_propensity
from halftruth.cli._option_values import ESTIMATE, parse_share
from halftruth.evidence import Reviewed
from halftruth.evidence._review_design import SAID
from halftruth.evidence._review_files import ReviewFile, check_rounds
from halftruth.evidence._reviewed import fingerprint
from halftruth.evidence._reviewers import judge_rates
from halftruth.files import Source
from halftruth.files._cell_meanings import Columns
from halftruth.files._checked_rows import checked_rows
from halftruth.files._number_columns import Numbers, read_numbers
from halftruth.files._read_files import EVERY
from halftruth.prior._belief import belief
from halftruth.table._groups import places
from halftruth.table._score_table import SOFT, UNLABELED, ScoreTable
from halftruth.table._strata import OPEN_ROWS, REVIEWED, SOFT_LABEL, StratumRows

if TYPE_CHECKING:
    from halftruth.cli._options import ReviewOptions

__all__ = ["NO_REVIEWS", "Reviews", "read_cells"]

LABELS = np.asarray([1.0, np.nan, 0.0])  # of the strata, in their order
RATES = ("sensitivity", "specificity")
CHANCE = arg("probability")  # as errors name it


@dataclass(frozen=True, kw_only=True)
class Reviews:
    """Who was reviewed, and by whom."""

    rounds: tuple[ReviewFile, ...] = ()
    chance: Propensities | None = None
    """Of each row, where labels stand in the rows; NO_PROPENSITIES: it is estimated from the score."""
    known_positive: str | None = None
    reviewer: Mapping[str, Any] = field(default_factory=dict)
    """Sensitivity and specificity, where they were given."""
    missing: Mapping[str, Any] = field(default_factory=dict)
    planned_by: str | None = None

    @classmethod
    def read(cls, options: ReviewOptions, *, shares_given: bool, checked: bool = False) -> Reviews:
        """As the options say, refused here where they cannot be right.

        Shares are ``checked`` by reviews where known positives stand beside these.
        """
        rounds, chance = options.reviewed or [], None
        option = "--reviewed" if rounds else "--review-chance"
        if options.review_chance is not None:
            if rounds:
                raise InputError(
                    "--reviewed and --review-chance do not go together: the files of plan-review have the "
                    "chances. Pass one of them."
                )
            chance = NO_PROPENSITIES
            if options.review_chance != ESTIMATE:
                chance = parse_propensity(options.review_chance, option)
        given = bool(rounds) or chance is not None
        if given and shares_given and not (checked and options.known_positive is not None):
            raise InputError(
                f"{option} goes without --prior and what else says how many are positive: the reviews say "
                "it. To check a prior by them, halftruth evaluate takes --prior with --known-positive."
            )
        if options.known_positive is not None and not given:
            raise InputError(
                "--known-positive goes with --reviewed or --review-chance. Elsewhere a label of 1 says it."
            )
        if options.planned_by is not None and not rounds:
            raise InputError("--planned-by goes with --reviewed, which has plans.")
        if options.missing_reviews is not None and not rounds:
            raise InputError(
                "--missing-reviews goes with --reviewed. With --review-chance a chance of 0 bounds a row."
            )
        return cls(
            rounds=tuple(map(ReviewFile.read, rounds)),
            chance=chance,
            known_positive=options.known_positive,
            reviewer=_reviewer(options),
            missing={} if options.missing_reviews is None else {"missing": str(options.missing_reviews)},
            planned_by=options.planned_by,
        )

    def __bool__(self) -> bool:
        return bool(self.rounds) or self.chance is not None

    @property
    def columns(self) -> dict[str, str | None]:
        """The columns of the rows by the options that name them."""
        chance = None if self.chance is None else self.chance.column
        return {
            "--review-chance": chance,
            "--known-positive": self.known_positive,
            "--planned-by": self.planned_by,
        }

    def tables(self, files: Sequence[str], columns: Columns) -> dict[str, dict[str, ScoreTable]]:
        """By group, the table of each column of scores; they share labels and chances."""
        (chance, known, by), models = self.columns.values(), columns.scores
        if self.rounds:
            columns = replace(columns, label=None)
        if by is not None and by not in models:
            columns = replace(columns, scores=(*models, by))
        cells = read_cells(files, replace(columns, chance=chance, known=known))
        first, *_ = scores = [cells[f"s{k}"] + 0.0 for k in range(len(columns.scores))]
        if self.chance is not None and self.chance.ranges:
            cells["c"] = self.chance.at(first, "--review-chance", "row(s)")
        if self.chance == NO_PROPENSITIES and len(scores) > 1:
            raise InputError(
                "--review-chance estimate is of one score, and rows were chosen once, whatever the model. "
                "Name the column of their chances, or give a rule for the first --score."
            )
        cells["known"] = cells["k"] == 0 if "k" in cells else None
        cells["label"] = LABELS[cells["stratum"]]
        if self.chance == NO_PROPENSITIES and not np.isnan(cells["label"]).any():
            raise InputError(
                f"--review-chance estimate: all {len(first)} rows have a label, so that none is left to "
                "review. Leave the label empty where nobody looked. If all were reviewed, pass --zeros "
                "negative instead."
            )
        # Of a group without any review: whom nobody could look at, as far as that is known.
        cells["open"] = cells["c"] == 0 if "c" in cells else np.full(len(first), not self.rounds)
        prints = [fingerprint(score) for score in scores] if self.rounds else [""] * len(scores)
        check_rounds(self.rounds, dict(zip(prints, scores, strict=True)))
        for each in self.rounds:
            if self.missing.get("missing") != "bounds":
                each.refuse_missing(cells["known"], "--missing-reviews bounds")
            cells["label"][each.rows] = each.labels
            cells["open"][each.rows] = np.isnan(each.labels)
        try:
            return {
                group: {
                    name: self._table(cells, score, own, rows)
                    for name, score, own in zip(models, scores, prints, strict=False)
                }
                for group, rows in places(cells.get("g"))
            }
        except InputError as error:
            if not (len(models) > 1 and self.chance and self.chance.ranges and CHANCE in error.source):
                raise
            raise error.also(f"The ranges were read on {models[0]}, the first --score.") from error

    def _table(self, cells: Mapping[str, Any], score: Vector, own: str, rows: Any) -> ScoreTable:
        """The rows of one group, which all say how they were reviewed."""
        label, weight, known = cells["label"], cells.get("w"), cells["known"]
        if np.isnan(label[rows]).all():
            return _unseen(
                score[rows], cells["open"][rows], *(x if x is None else x[rows] for x in (weight, known))
            )
        if not self.rounds:
            chance = None if "c" not in cells else cells["c"][rows]
            more = {"sample_weight": weight, "known_positive": known}
            of_group: Any = {name: None if x is None else x[rows] for name, x in more.items()}
            evidence = Reviewed(score[rows], label[rows], chance, **of_group, **self.reviewer)
        else:
            # Chances of a plan are those of all rows; the rows of other groups weigh nothing.
            inside = weight
            if not isinstance(rows, slice):
                inside = np.zeros(len(score))
                inside[rows] = 1.0 if weight is None else weight[rows]
            # A plan was made by one of several scores: the rows are the same.
            rounds = [replace(x, fingerprint=own, score=score[x.rows]) for x in self.rounds]
            more = {"sample_weight": inside, "known_positive": known, **self.missing}
            said = [each.labels for each in rounds]
            evidence = Reviewed.from_plan(rounds, score, said, **more, **self.reviewer)
        strata: Any = evidence.table.strata
        certain = {k: x.valued(REVIEWED) for k, x in strata.items() if k in SAID and x.meaning is None}
        return ScoreTable({**strata, **certain})


NO_REVIEWS = Reviews()


def read_cells(files: Sequence[str], columns: Columns) -> dict[str, Any]:
    """The columns of all rows, however many."""
    with Source(list(files), columns.names()) as source:
        cells = checked_rows(source, columns, EVERY)
    assert cells is not None  # there is no limit
    return cells


def _unseen(score: Vector, never: Any, weight: Vector | None, known: Any) -> ScoreTable:
    """Rows that nobody reviewed, though others of their file were."""
    known = np.zeros(len(score), dtype=bool) if known is None else known

    def rows(mask: Any, **value: Any) -> StratumRows:
        return StratumRows(score=score[mask], weight=None if weight is None else weight[mask], **value)

    certain = rows(known, value=np.ones(int(known.sum())), meaning=SOFT_LABEL)
    others = rows(~known, value=never[~known].astype(np.float64), meaning=OPEN_ROWS)
    return ScoreTable({UNLABELED: others, SOFT: certain})


def _reviewer(options: ReviewOptions) -> dict[str, Any]:
    """Sensitivity and specificity, as given or by the cases of which the truth is known."""
    given = {name: getattr(options, name) for name in RATES if getattr(options, name) is not None}
    check = options.reviewer_check
    if check is None:
        rates = {name: parse_share(text, name) for name, text in given.items()}
        for name, rate in rates.items():
            if rate == ESTIMATE:
                raise InputError(f"--{name} is a number or a range; --reviewer-check FILE estimates it.")
            belief(rate, name, closed_at_one=True)
        if len(rates) == 1:
            other = next(name for name in RATES if name not in rates)
            raise InputError(
                f"--{next(iter(rates))} goes with --{other}: reviewers err in both ways. Pass --{other} 1 if "
                "these never do in that one."
            )
        return rates
    if given:
        raise InputError(f"--reviewer-check estimates --{next(iter(given))} too. Pass one of them.")
    cells = read_numbers([check], Numbers(columns=("said", "truth")))
    try:
        return dict(zip(RATES, judge_rates(cells["said"], cells["truth"]), strict=True))
    except InputError as error:
        raise error.about(f"--reviewer-check {check}") from error
