"""`halftruth bayes-error FILE...`: its options, what is asked of the evidence, and how it is shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

from halftruth._errors import InputError, Note, note_kinds
from halftruth.cli._options import (
    ConfidenceLevel,
    Files,
    Format,
    LabelColumnOptions,
    LabeledSample,
    Labels,
    Population,
    Prior,
    Propensity,
    Purity,
    Seed,
    Strict,
    Style,
    Unlabeled,
    Weight,
    Within,
    ZerosMean,
    column,
    complete_calibrators,
    flag,
    option,
)
from halftruth.cli._terminal import shell_text

if TYPE_CHECKING:
    from halftruth.cli._bayes_error_rows import LabeledRows
    from halftruth.cli._rendering import Block, Cell
    from halftruth.evidence import Evidence
    from halftruth.limits._verdict import TooGood
    from halftruth.results._estimate import Estimate, Evaluation
    from halftruth.results._standing import Standing

__all__ = ["EXAMPLES", "bayes_error"]

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
  halftruth bayes-error scores.csv --prior 0.02 --propensity chance_known
  halftruth bayes-error scores.csv --score p --unlabeled -1 --prior 0.3 --purity 0.9 --population unlabeled
"""


Interval = StrEnum("Interval", ["bounded", "t", "hoeffding", "bootstrap", "likelihood"])
"""How an interval is made."""


@dataclass(frozen=True, kw_only=True)
class ScoreOptions:
    """Columns of scores and labels, what is known of their shares, and how they are calibrated."""

    score: Annotated[str | None, column("Higher is more positive.  [default: score]")] = None
    label: Annotated[str | None, column("1 positive, 0 negative, empty unlabeled.  [default: label]")] = None
    zeros: ZerosMean = None
    unlabeled: Unlabeled = None
    prior: Prior = None
    purity: Purity = None
    propensity: Propensity = None
    population: Annotated[
        Population | None,
        option("All rows, or the unlabeled alone, where positives were drawn apart.  [default: all]"),
    ] = None
    within: Within = None
    labeled_sample: LabeledSample = None
    calibrator: Annotated[
        str | None,
        option("Of scores, as in halftruth calibrate.  [default: beta]", "NAME", complete_calibrators),
    ] = None
    n_folds: Annotated[int | None, option("Parts of the calibration; else 5.", "N", min=2, max=100)] = None


@dataclass(frozen=True, kw_only=True)
class LimitOptions:
    """What is asked besides the Bayes error, and how intervals are made."""

    method: Annotated[Interval | None, option("How the interval is made; else what suits the rows.")] = None
    best: Annotated[bool, flag("--best", "Also the best attainable AUC, average precision, F1, …")] = False
    test_error: Annotated[
        str | None, option("A reported error, 0.04 for 4%: is it too good to be true?", "SHARE")
    ] = None
    n_test: Annotated[int | None, option("Test cases that --test-error is from.", "N", min=1)] = None
    predictions: Annotated[
        str | None,
        column("With --test-error: the predicted class, 1 or 0; with --classes its name or place from 0."),
    ] = None
    confidence_level: ConfidenceLevel = 0.95
    n_resamples: Annotated[int, option("Bootstrap resamples.", "N", min=0)] = 2000
    rng: Seed = 0


def bayes_error(
    *,
    files: Files,
    columns: LabelColumnOptions,
    scores: ScoreOptions,
    weight: Weight = None,
    limits: LimitOptions,
    style: Style = Format.table,
    strict: Strict = False,
) -> int:
    """How good could anyone be? The Bayes error, from what the rows hold.

    Rows hold soft labels (--soft, --classes), votes (--votes, or --classes with --counts), confidences of
    positives (--confidence), or scores and labels: then the error of the calibrated scores, which bounds it.
    """
    from halftruth.cli._bayes_error_rows import class_columns, read_rows, row_kind
    from halftruth.cli._option_values import parse_share
    from halftruth.cli._rendering import object_strictly, show

    # By name whatever says what the rows hold; None where it was not given.
    named = {**vars(columns), **vars(scores), "predictions": limits.predictions} | {
        "classes": class_columns(columns.classes),
        "counts": columns.counts or None,
        "prior": parse_share(scores.prior, "prior"),
        "purity": parse_share(scores.purity, "purity"),
    }
    request = LimitRequest(
        kind=row_kind(named),
        labels=columns.labels or (Labels.soft if columns.sign is None else Labels.noisy),
        calibrator=scores.calibrator or "beta",
        n_folds=scores.n_folds or 5,
        options=limits,
        test_error=_test_error(limits.test_error),
    )
    request.check(named)
    view = request.find(read_rows(files, request.kind, weight, named))
    show(view, style)
    return object_strictly(view.objections() if strict else ())


def _test_error(text: str | None) -> float | None:
    from halftruth.files._number_columns import share_of

    try:
        return None if text is None else float(text)
    except ValueError:
        share = share_of(str(text)) or "0.04 for 4%"
        raise InputError(f"--test-error must be a share of the cases, {share}; got {text!r}.") from None


# What is asked of the evidence -----------------------------------------------------------------------

SCHEMA = 1
BAYES_ERROR = "bayes_error"
NUMBERS = ("naive", "value", "low", "high")
OF_CLASSES = {"votes": "--counts", "counts": "--counts"}
"""How votes are passed where --classes is there already."""


@dataclass(frozen=True, kw_only=True)
class LimitRequest:
    """What is asked of the evidence."""

    kind: str
    labels: Labels
    calibrator: str
    n_folds: int
    options: LimitOptions
    test_error: float | None

    @property
    def settings(self) -> dict[str, Any]:
        """How intervals are made."""
        names = ("confidence_level", "n_resamples", "rng")
        return {name: getattr(self.options, name) for name in names}

    def check(self, named: Mapping[str, Any]) -> None:
        """Refuse what cannot be right before a long file is read."""
        from halftruth import _checks
        from halftruth.calibration.calibrators._calibration_methods import METHODS
        from halftruth.cli._option_values import ESTIMATE, check_shares, parse_knowledge

        _checks.confidence_level(self.options.confidence_level)
        _checks.choice(self.calibrator, "calibrator", tuple(METHODS))
        if (self.test_error is None) != (self.options.n_test is None):
            raise InputError("--test-error and --n-test go together: pass both, or neither.")
        if self.test_error is not None:
            advice = "Pass a share of the cases, 0.02 for 2%."
            _checks.inside(self.test_error, "test_error", 0.0, 1.0, closed="both", advice=advice)
        elif named["predictions"] is not None:
            raise InputError("--predictions goes with --test-error and --n-test. Pass these too.")
        if named["sign"] is not None and self.labels is not Labels.noisy:
            raise InputError(
                f"--sign goes with noisy labels, not with --labels {self.labels}. Leave one out."
            )
        if self.options.best and self.labels is Labels.noisy:
            about = "--labels noisy" if named["labels"] is not None else "--sign"
            raise InputError(
                f"--best needs the probabilities themselves: noise makes every limit look better than it is, "
                f"and {about} says that there is noise. Leave --best out, or {about} where there is none."
            )
        if self.kind == "confidence" and named["prior"] == ESTIMATE:
            raise InputError(
                "--prior estimate is for scores. Pass a number or a range, or leave --prior out for the "
                "Bayes error relative to it."
            )
        known = parse_knowledge(named["within"], named["labeled_sample"])
        check_shares(known, named["prior"], named["purity"])

    def find(self, rows: LabeledRows) -> LimitsView:
        """The limits, and the verdict; first what may not be identifiable, as that is known at once."""
        from halftruth.limits._bayes_error import bayes_error
        from halftruth.limits._best_attainable import best_attainable
        from halftruth.limits._too_good import too_good_to_be_true

        evidence, n_test = rows.evidence, self.options.n_test
        self._refuse_margins(evidence)
        method = None if self.options.method is None else str(self.options.method)
        how = {"labels": str(self.labels), "sign": rows.sign, "method": method, **self.settings}
        # The verdict estimates the Bayes error for itself; that estimate is shown, so that the two agree.
        test = best = None
        if self.test_error is not None and n_test is not None:
            test = too_good_to_be_true(self.test_error, n_test, evidence, predictions=rows.predictions, **how)
        if self.options.best and not _zeros(evidence):
            best = best_attainable(evidence, self._metrics(evidence), **self.settings)
        if test is not None:
            error = test.bayes_error
        else:
            error = bayes_error(evidence, calibrator=self.calibrator, n_folds=self.n_folds, **how)
        about, remarks = self._about(evidence), tuple(self._remarks(evidence))
        return LimitsView(
            kind=self.kind, evidence=evidence, error=error, best=best, test=test, about=about, remarks=remarks
        )

    def _refuse_margins(self, evidence: Evidence) -> None:
        """Say which calibrators take scores that are no probabilities."""
        from halftruth.calibration.calibrators._calibration_methods import METHODS
        from halftruth.cli._table_source import refuse_margins

        # Posteriors do not go through a calibrator.
        if not evidence.holds_posteriors and METHODS[self.calibrator].probability:
            refuse_margins(evidence, f"--calibrator {self.calibrator}", "--calibrator isotonic")

    def _remarks(self, evidence: Evidence) -> Iterator[Note]:
        """What was asked for and is not there."""
        zeros = _zeros(evidence)
        if self.options.best and zeros:
            yield Note(
                "undefined",
                f"Of --best there is only the Bayes error: the other rows need confidences above 0, and "
                f"{zeros} of {len(evidence.table.strata['positive'])} are 0.",
            )

    def _metrics(self, evidence: Evidence) -> list[str]:
        """The rows beside the Bayes error that the evidence has."""
        from halftruth.limits._best_attainable import ROWS

        if evidence.labels is not None and evidence.labels.n_classes > 2:
            return ["log_loss"]
        if self.labels is Labels.uncertainty:  # the same whichever class is the likelier
            return ["log_loss", "brier"]
        return [name for name in ROWS if name != BAYES_ERROR]

    def _about(self, evidence: Evidence) -> str:
        """What was read, in a line."""
        prior = prior_text(evidence)
        if evidence.confidences is not None:
            return "π unknown: the Bayes error is relative to it" if prior is None else str(prior)
        rows = evidence.labels
        if rows is None:
            how = f"scores through the calibrator {self.calibrator}, cross-fitted in {self.n_folds} parts"
            return how if prior is None else f"{prior!s}; {how}"
        what = f"{rows.n_classes} classes"
        if rows.ballots is None:
            return f"{what}; {self.labels} labels"
        low, high = rows.ballots.min(), rows.ballots.max()
        return f"{what}; {low:g}{'' if low == high else f' to {high:g}'} votes a row"


def _zeros(evidence: Evidence) -> int:
    """How many confidences are 0."""
    return 0 if evidence.confidences is None else int((evidence.confidences[0] == 0).sum())


@dataclass(frozen=True, kw_only=True)
class LimitsView:
    """The Bayes error, other limits beside it, and the verdict on a test error."""

    kind: str
    evidence: Evidence
    error: Estimate
    best: Evaluation | None
    test: TooGood | None
    about: str
    remarks: tuple[Note, ...] = ()

    @property
    def _bound(self) -> bool:
        """Whether the Bayes error may be anything below the figure."""
        return not self.evidence.holds_posteriors

    @property
    def _relative(self) -> bool:
        """Whether the Bayes error is in units of the prior."""
        return self.evidence.confidences is not None and self.evidence.prior.value is None

    @property
    def _rows(self) -> dict[str, Estimate]:
        name = f"{BAYES_ERROR}/prior" if self._relative else BAYES_ERROR
        name += " (upper bound)" if self._bound else ""
        return {name: self.error, **(self.best or {})}

    @property
    def _standing(self) -> Standing:
        from halftruth.results._standing import standing_of

        return standing_of(list(self._notes()))

    def objections(self) -> Iterator[str]:
        """What `--strict` refuses."""
        from halftruth.cli._views import number_objections, standing_objections

        yield from standing_objections(self._standing)
        yield from number_objections({name: row.value for name, row in self._rows.items()})

    def blocks(self) -> list[Block]:
        from halftruth.cli._rendering import Block
        from halftruth.cli._views import headline
        from halftruth.results._estimate import estimate_text, figure, interval_name, interval_text

        header = ["metric", "naive", "halftruth", interval_name(self.error.confidence_level), "method"]
        lines = [
            [name, figure(row.naive), estimate_text(row), interval_text(row), row.method]
            for name, row in self._rows.items()
        ]
        if self.error.identified is not None:
            header.insert(4, "identified")
            for line, row in zip(lines, self._rows.values(), strict=True):
                line.insert(4, "–" if row.identified is None else " to ".join(map(figure, row.identified)))
        below: list[str] = []
        if self.test is not None:
            below = [self.test.verdict]
            below += ["Other than overfitting:"] if self.test.alternatives else []
            below += [f"- {alternative}" for alternative in self.test.alternatives]
        return [
            Block(
                above=(*headline(self._standing), repr(self.evidence), self.about),
                header=tuple(header),
                lines=[tuple(line) for line in lines],
                below=tuple(below),
            )
        ]

    def to_dict(self) -> dict[str, Any]:
        prior = prior_text(self.evidence)
        return {
            "schema": SCHEMA,
            "evidence": repr(self.evidence),
            "about": self.about,
            "prior": None if prior is None else asdict(prior),
            "relative_to_prior": self._relative,
            "upper_bound": self._bound,
            BAYES_ERROR: self.error.to_dict(),
            "best": None if self.best is None else self.best.to_dict(),
            "too_good": None if self.test is None else self.test.to_dict(),
            "refuted": self._standing.status == "refuted",
            **self._standing.to_dict(),
            "notes": self.notes(),
            "note_kinds": note_kinds(dict.fromkeys(self._notes())),
        }

    def records(self) -> Iterator[Sequence[Cell]]:
        of_method = ["identified_low", "identified_high", "confidence_level", "method", "status", "reason"]
        yield ["metric", *NUMBERS, *of_method]
        standing = list(map(shell_text, self._standing))
        rows = self._rows
        if self.test is not None and self.test.adjusted is not None:
            rows["adjusted_error"] = self.test.adjusted
        for name, row in rows.items():
            numbers = [row.naive, *row.shown]
            identified = row.identified or (None, None)
            yield [name, *numbers, *identified, row.confidence_level, row.method, *standing]
        if self.test is not None:
            numbers_of_test: dict[str, Cell] = {
                "test_error": self.test.test_error,
                "n_test": str(self.test.n_test),
                "p_value": self.test.p_value,
                "too_good": str(int(self.test.too_good)),
            }
            yield from (
                [name, None, value, *[None] * 6, *standing] for name, value in numbers_of_test.items()
            )

    def notes(self) -> list[str]:
        votes = OF_CLASSES if self.kind == "classes" else {}
        return [shell_text(note, **votes) for note in dict.fromkeys(self._notes())]

    def _notes(self) -> Iterator[Note]:
        yield from self.remarks
        assumption = None if self.evidence.confidences is None else self.evidence.assumption
        yield from [] if assumption is None else [assumption]
        yield from self.error.notes
        yield from [] if self.best is None else self.best.all_notes()
        yield from [] if self.test is None else self.test.notes


@dataclass(frozen=True)
class PriorText:
    """What is taken for the share of positives in the population."""

    kind: str  # "number", "range" or "estimate"
    value: float
    low: float
    high: float

    def __str__(self) -> str:
        value, low, high = (f"{share:.4g}" for share in (self.value, self.low, self.high))
        if self.kind == "range":
            return f"π = {low} to {high}"
        return f"π = {value}" + (f", estimated ({low} to {high})" if self.kind == "estimate" else "")


def prior_text(evidence: Evidence) -> PriorText | None:
    """The prior as it was given, or estimated, for the population of the evidence; None without one."""
    belief = evidence.prior
    if belief.value is None:
        return None
    low, high = evidence.prior_ends()
    if belief.estimate is None:
        return PriorText("range" if belief.is_range else "number", (low + high) / 2, low, high)
    value = belief.value
    if evidence.population is not None:  # an estimate is that of the unlabeled alone
        value = float(evidence.measure().prior)
    return PriorText("estimate", value, low, high)
