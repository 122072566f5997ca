"""What is asked of evidence by `halftruth bayes-error`, and how it is shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from halftruth._errors import InputError, Note, is_refuted, note_kinds
from halftruth.cli import reading, words
from halftruth.cli.given import prior_of
from halftruth.cli.render import Block, Cell

if TYPE_CHECKING:
    from halftruth.cli.labels import Held
    from halftruth.evidence import Evidence
    from halftruth.limits._verdict import TooGood
    from halftruth.results._estimate import Estimate, Evaluation

SCHEMA = 1
BAYES_ERROR = "bayes_error"
UNCERTAINTY, NOISY = "uncertainty", "noisy"
NUMBERS = ("naive", "value", "low", "high")
OF_CLASSES = {"votes": "--counts", "counts": "--counts"}
"""How votes are passed where --classes is there already."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is asked of the evidence."""

    kind: str
    labels: str
    calibrator: str
    n_folds: int
    method: str | None
    best: bool
    test_error: float | None
    n_test: int | None
    settings: dict[str, Any]

    def check(self, given: dict[str, Any]) -> None:
        """Refuse what cannot be right before a long file is read."""
        from halftruth import _checks
        from halftruth.calibration.calibrators._calibration_methods import METHODS

        _checks.confidence_level(self.settings["confidence_level"])
        _checks.choice(self.calibrator, "calibrator", tuple(METHODS))
        if (self.test_error is None) != (self.n_test is None):
            raise InputError("--test-error and --n-test go together: pass both, or neither.")
        if self.test_error is not None:
            advice = "Pass a share of the cases, 0.02 for 2%."
            _checks.inside(self.test_error, "test_error", 0.0, 1.0, closed="both", advice=advice)
        elif given["predictions"] is not None:
            raise InputError("--predictions goes with --test-error and --n-test. Pass these too.")
        if given["sign"] is not None and self.labels != NOISY:
            raise InputError(
                f"--sign goes with noisy labels, not with --labels {self.labels}. Leave one out."
            )
        if self.best and self.labels == NOISY:
            about = "--labels noisy" if given["labels"] is not None else "--sign"
            raise InputError(
                f"--best needs the probabilities themselves: noise makes every limit look better than it is, "
                f"and {about} says that there is noise. Leave --best out, or {about} where there is none."
            )
        if self.kind == "confidence" and given["prior"] == reading.ESTIMATE:
            raise InputError(
                "--prior estimate is for scores. Pass a number or a range, or leave --prior out for the "
                "Bayes error relative to it."
            )
        known = reading.known_besides(given["within"], given["labeled_sample"])
        reading.check_shares(known, given["prior"], given["purity"])

    def find(self, held: Held) -> Limits:
        """The limits, and the verdict; first what may not be identifiable, as that is known at once."""
        from halftruth.limits._bayes_error import bayes_error

        self._refuse_margins(held.evidence)
        how = {"labels": self.labels, "sign": held.sign, "method": self.method, **self.settings}
        test, best = self._judged(held, how), self._best(held.evidence)
        if test is not None:
            error = test.bayes_error
        else:
            error = bayes_error(held.evidence, calibrator=self.calibrator, n_folds=self.n_folds, **how)
        return Limits(
            kind=self.kind,
            held=held,
            error=error,
            best=best,
            test=test,
            about=self._about(held.evidence),
            remarks=tuple(self._remarks(held.evidence)),
        )

    def _refuse_margins(self, evidence: Evidence) -> None:
        """Say which calibrators take scores that are no probabilities."""
        from halftruth.calibration.calibrators._calibration_methods import METHODS

        if evidence.holds_posteriors:
            return  # not through a calibrator
        measure = evidence.measure()
        if measure.bounded or not METHODS[self.calibrator].probability:
            return
        low, high = measure.span
        raise InputError(
            f"--calibrator {self.calibrator} needs probabilities in [0, 1], got scores from {low:g} to "
            f"{high:g}. For margins pass --calibrator isotonic."
        )

    def _judged(self, held: Held, how: dict[str, Any]) -> TooGood | None:
        if self.test_error is None or self.n_test is None:
            return None
        from halftruth.limits._too_good import too_good_to_be_true

        return too_good_to_be_true(
            self.test_error, self.n_test, held.evidence, predictions=held.predictions, **how
        )

    def _best(self, evidence: Evidence) -> Evaluation | None:
        if not self.best or _zeros(evidence):
            return None
        from halftruth.limits._best_attainable import best_attainable

        return best_attainable(evidence, self._metrics(evidence), **self.settings)

    def _remarks(self, evidence: Evidence) -> Iterator[Note]:
        """What was asked for and is not there."""
        zeros = _zeros(evidence)
        if self.best and zeros:
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
        if self.labels == UNCERTAINTY:  # the same whichever class is the likelier
            return ["log_loss", "brier"]
        return [name for name in ROWS if name != BAYES_ERROR]

    def _about(self, evidence: Evidence) -> str:
        """What was read, in a line."""
        prior = prior_of(evidence)
        if evidence.confidences is not None:
            return "π unknown: the Bayes error is relative to it" if prior is None else prior.text()
        rows = evidence.labels
        if rows is None:
            how = f"scores through the calibrator {self.calibrator}, cross-fitted in {self.n_folds} parts"
            return how if prior is None else f"{prior.text()}; {how}"
        what = f"{rows.n_classes} classes"
        if rows.ballots is None:
            return f"{what}; {self.labels} labels"
        low, high = rows.ballots.min(), rows.ballots.max()
        return f"{what}; {low:g}{'' if low == high else f' to {high:g}'} votes a row"


def _zeros(evidence: Evidence) -> int:
    """How many confidences are 0."""
    return 0 if evidence.confidences is None else int((evidence.confidences[0] == 0).sum())


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The Bayes error, other limits beside it, and the verdict on a test error."""

    kind: str
    held: Held
    error: Estimate
    best: Evaluation | None
    test: TooGood | None
    about: str
    remarks: tuple[Note, ...] = ()

    @property
    def _bound(self) -> bool:
        """Whether the Bayes error may be anything below the figure."""
        return not self.held.evidence.holds_posteriors

    @property
    def _relative(self) -> bool:
        """Whether the Bayes error is in units of the prior."""
        evidence = self.held.evidence
        return evidence.confidences is not None and evidence.prior.value is None

    @property
    def _rows(self) -> dict[str, Estimate]:
        name = f"{BAYES_ERROR}/prior" if self._relative else BAYES_ERROR
        name += " (upper bound)" if self._bound else ""
        return {name: self.error, **(self.best or {})}

    def objections(self) -> Iterator[str]:
        """What `--strict` refuses."""
        from halftruth.cli import strict

        yield from strict.notes(self._notes())
        yield from strict.numbers({name: row.value for name, row in self._rows.items()})

    def blocks(self) -> list[Block]:
        from halftruth.results._estimate import figure, interval_text

        level = f"{100 * self.error.confidence_level:g}% interval"
        header = ["metric", "naive", "halftruth", level, "method"]
        lines = [
            [name, figure(row.naive), figure(row.value), interval_text(row), row.method]
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
            below += [f"- {each}" for each in self.test.alternatives]
        return [
            Block(
                above=(repr(self.held.evidence), self.about),
                header=tuple(header),
                lines=[tuple(line) for line in lines],
                below=tuple(below),
            )
        ]

    def to_dict(self) -> dict[str, Any]:
        prior = prior_of(self.held.evidence)
        return {
            "schema": SCHEMA,
            "evidence": repr(self.held.evidence),
            "about": self.about,
            "prior": None if prior is None else asdict(prior),
            "relative_to_prior": self._relative,
            "upper_bound": self._bound,
            BAYES_ERROR: self.error.to_dict(),
            "best": None if self.best is None else self.best.to_dict(),
            "too_good": None if self.test is None else self.test.to_dict(),
            "refuted": is_refuted(self._notes()),
            "notes": self.notes(),
            "note_kinds": note_kinds(dict.fromkeys(self._notes())),
        }

    def records(self) -> Iterator[Sequence[Cell]]:
        yield ["metric", *NUMBERS, "identified_low", "identified_high", "confidence_level", "method"]
        rows = self._rows
        if self.test is not None and self.test.adjusted is not None:
            rows["adjusted_error"] = self.test.adjusted
        for name, row in rows.items():
            numbers = [getattr(row, number) for number in NUMBERS]
            yield [name, *numbers, *(row.identified or (None, None)), row.confidence_level, row.method]
        if self.test is not None:
            found: dict[str, Cell] = {
                "test_error": self.test.test_error,
                "n_test": str(self.test.n_test),
                "p_value": self.test.p_value,
                "too_good": str(int(self.test.too_good)),
            }
            yield from ([name, None, value, *[None] * 6] for name, value in found.items())

    def notes(self) -> list[str]:
        votes = OF_CLASSES if self.kind == "classes" else {}
        return [words.shell_text(note, **votes) for note in dict.fromkeys(self._notes())]

    def _notes(self) -> Iterator[Note]:
        evidence = self.held.evidence
        yield from self.remarks
        assumption = None if evidence.confidences is None else evidence.assumption
        yield from [] if assumption is None else [assumption]
        yield from self.error.notes
        yield from [] if self.best is None else self.best.all_notes()
        yield from [] if self.test is None else self.test.notes
