"""`halftruth calibrate FILE...`"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

from halftruth._errors import InputError, Note, arg, note_kinds
from halftruth.cli._options import (
    Files,
    Format,
    RowOptions,
    Seed,
    ShareOptions,
    Strict,
    Style,
    complete_calibrators,
    option,
)

if TYPE_CHECKING:
    from halftruth.calibration.calibrators._calibrator import Calibrator
    from halftruth.calibration.calibrators._cross_fitting import Assessment
    from halftruth.cli._outputs import CalibratorFiles
    from halftruth.cli._rendering import Block, Cell
    from halftruth.evidence import Evidence
    from halftruth.results._standing import Standing

__all__ = ["EXAMPLES", "calibrate"]

SCHEMA = 1
EXAMPLES = """\b
Examples:
  halftruth calibrate scores.parquet --prior 0.3 --output calibrator.json --strict
  halftruth calibrate scores.csv --zeros unlabeled --prior estimate --output calibrator.json --scores new.csv
  halftruth calibrate scores.csv --prior estimate --within 0.01..0.1 --labeled-sample 7/50 --output c.json
  halftruth calibrate data.csv --unlabeled -1 --prior 0.3 --purity 0.9 --population unlabeled --output c.json
  halftruth calibrate scores.csv --prior 0.02 --propensity 0:0.1,0.5:0.3 --selection 1.5 --output c.json
  halftruth calibrate scores.csv --zeros negative --method isotonic --output calibrator.json --format json
  halftruth calibrate data.csv --score margin --label y --method platt --scale score --output c.json
  halftruth calibrate data.csv --weight n --method histogram --n-bins 15 --binning width --output c.json
  halftruth calibrate data.csv --method spline --n-knots 8 --n-folds 9 --rng 1 --output c.json
  halftruth calibrate scores --engine spark --zeros negative --method bpm --variant authors --output c.json
"""
METHOD_OF = {
    "scale": "platt",
    "n_bins": "histogram",
    "binning": "histogram",
    "n_knots": "spline",
    "variant": "bpm",
}
"""The one method that a setting is for."""
CONFIDENCE = 0.95
FEW_ATOMS = 128  # distinct scores on which the noise of an identified prior is judged, as `evaluate` does


Binning = StrEnum("Binning", ["mass", "width"])  # what the bins of a histogram have in common
Variant = StrEnum("Variant", ["paper", "authors"])
"""Which of the two versions of the binomial process is fitted."""
Scale = StrEnum("Scale", ["logit", "score"])  # what the line of Platt's method is drawn over


@dataclass(frozen=True, kw_only=True)
class CalibratorOptions:
    """Which curve is fitted."""

    method: Annotated[str, option("One of the methods named above.", "NAME", complete_calibrators)] = "beta"
    scale: Annotated[
        Scale | None, option("Of platt: score where scores are margins, not probabilities; else logit.")
    ] = None
    n_bins: Annotated[
        int | None, option("Of histogram; else as many as the evidence allows.", "N", min=1)
    ] = None
    binning: Annotated[Binning | None, option("Of histogram; else mass.")] = None
    n_knots: Annotated[int | None, option("Of spline; else 6.", "N", min=3)] = None
    variant: Annotated[Variant | None, option("Of bpm; else paper.")] = None

    def calibrator(self) -> Calibrator:
        """The calibrator; a setting that means nothing to the method is refused."""
        from halftruth.calibration.calibrators import Calibrator

        calibrator = Calibrator(self.method)
        settings = {name: getattr(self, name) for name in METHOD_OF if getattr(self, name) is not None}
        for name in settings:
            if self.method != METHOD_OF[name]:
                raise InputError(
                    f"{arg(name)} counts for {arg('method', METHOD_OF[name])} alone, got "
                    f"{arg('method', self.method)}. Leave it out."
                )
        return calibrator.set_params(
            **{name: str(x) if isinstance(x, StrEnum) else x for name, x in settings.items()}
        )


def calibrate(
    *,
    files: Files,
    output: Annotated[str, option("Where the calibrator goes, as JSON.", "FILE")],
    rows: RowOptions,
    shares: ShareOptions,
    curve: CalibratorOptions,
    n_folds: Annotated[
        int | None, option("Parts for the values after calibration; else 5.", "N", min=2, max=100)
    ] = None,
    scores: Annotated[
        str | None, option("Also write all rows with a column calibrated, .parquet or .csv.", "FILE")
    ] = None,
    rng: Seed = 0,
    style: Style = Format.table,
    strict: Strict = False,
) -> int:
    """Scores into probabilities: fit a calibrator, and say what it changes.

    Methods: beta, platt, mix-n-match, temperature, isotonic, histogram, spline, bpm. The values after
    calibration are cross-fitted: no row is measured by a curve that was fitted on it.
    """
    from halftruth.calibration.calibrators._calibration_methods import method_for
    from halftruth.calibration.calibrators._cross_fitting import assess
    from halftruth.cli._how_known import ask_how_known, parse_propensity
    from halftruth.cli._option_values import share_settings
    from halftruth.cli._outputs import CalibratorFiles, readable_twice
    from halftruth.cli._rendering import object_strictly, show
    from halftruth.cli._table_source import TableSource, evidence_of, refuse_margins

    calibrator = curve.calibrator()
    known = share_settings(shares)
    if rows.engine is not None and scores is not None:
        raise InputError(
            "--scores writes all rows anew, and those of --engine stay where they are. Leave it out, and "
            "apply the calibrator by Calibrator.load in Python."
        )
    targets = CalibratorFiles(output, scores)
    targets.check(files)
    # The rows are read to fit the curve, and once more to write them with their calibrated scores.
    with readable_twice(files, needed=scores is not None) as paths:
        source = TableSource(files=paths, propensity=parse_propensity(shares.propensity), **vars(rows))
        targets.check_columns(source)
        evidence = evidence_of(source.tables()[""], **known)
        if method_for(calibrator.method, calibrator.get_params()).probability:
            remedy = "--method platt --scale score, or --method isotonic"
            refuse_margins(evidence, f"--method {calibrator.method}", remedy)
        assessment = assess(evidence, calibrator.fit(evidence), n_folds=n_folds, rng=rng)
        result = CalibrationView(evidence, calibrator, assessment, targets, tuple(_on_prior(evidence)))
        objections = list(result.objections()) if strict else []
        # A calibrator that --strict refuses must not be found by the next step of a pipeline.
        if objections:
            result = replace(result, refused=True)
        else:
            targets.write(source, calibrator)
    show(result, style)
    ask_how_known([evidence.table], shares.selection)
    return object_strictly(objections)


def _on_prior(evidence: Evidence) -> Iterator[Note]:
    """What is to be said of the prior, and of the evidence against it."""
    from halftruth.inference._influence import identified_range
    from halftruth.inference._notes import on_prior
    from halftruth.inference._prior_range import prior_range

    yield from prior_range(evidence, CONFIDENCE).notes
    support = evidence.table.support.coarse(FEW_ATOMS)
    yield from on_prior(
        evidence, identified_range(evidence, support, one_sample=evidence.rows_are_one_sample)
    )


@dataclass(frozen=True)
class CalibrationView:
    """A fitted calibrator and what it changes."""

    evidence: Evidence
    calibrator: Calibrator
    assessment: Assessment
    targets: CalibratorFiles
    on_prior: tuple[Note, ...]
    refused: bool = False
    """Whether `--strict` keeps it from being written."""

    @property
    def _standing(self) -> Standing:
        from halftruth.results._standing import standing_of

        return standing_of(self.on_prior)

    def objections(self) -> Iterator[str]:
        """What `--strict` refuses."""
        from halftruth.cli._views import number_objections, standing_objections

        yield from standing_objections(self._standing)
        errors = self.assessment.errors.items()
        yield from number_objections({f"{name} before": before for name, (before, _) in errors})
        yield from number_objections({f"{name} after": after for name, (_, after) in errors})

    def blocks(self) -> list[Block]:
        from halftruth.cli._rendering import Block
        from halftruth.cli._views import headline
        from halftruth.results._estimate import figure, value_text

        written = ["Nothing was written (--strict)."] if self.refused else list(self._written())
        return [
            Block(
                above=(
                    *headline(self._standing),
                    f"{self.evidence!r}, {len(self.evidence.table)} rows",
                    f"π = {figure(self.calibrator.prior_)} positive in the population; method "
                    f"{self.calibrator.method}",
                ),
                header=("metric", "before", "after, cross-fitted"),
                lines=[
                    (name, *(value_text(math.nan if x is None else x, (0.0, math.inf)) for x in pair))
                    for name, pair in self.assessment.errors.items()
                ],
                below=tuple(written),
            )
        ]

    def _written(self) -> Iterator[str]:
        yield f"The calibrator is in {self.targets.output}."
        if self.targets.scores is not None:
            yield f"The rows with their calibrated scores are in {self.targets.scores}."

    def to_dict(self) -> dict[str, Any]:
        from halftruth.results._estimate import json_number

        return {
            "schema": SCHEMA,
            "evidence": repr(self.evidence),
            "rows": len(self.evidence.table),
            "prior": self.calibrator.prior_,
            "method": self.calibrator.method,
            "output": None if self.refused else self.targets.output,
            "scores": None if self.refused else self.targets.scores,
            "metrics": {
                name: {"before": json_number(before), "after": json_number(after)}
                for name, (before, after) in self.assessment.errors.items()
            },
            "refuted": self._standing.status == "refuted",
            **self._standing.to_dict(),
            "notes": self.notes(),
            "note_kinds": note_kinds(self._notes()),
        }

    def records(self) -> Iterator[Sequence[Cell]]:
        from halftruth.cli._terminal import shell_text

        yield ["metric", "before", "after", "status", "reason"]
        for name, (before, after) in self.assessment.errors.items():
            yield [name, before, after, *map(shell_text, self._standing)]

    def notes(self) -> list[str]:
        from halftruth.cli._terminal import shell_text

        return list(map(shell_text, self._notes()))

    def _notes(self) -> list[Note]:
        assumption = self.evidence.assumption
        return [
            *([] if assumption is None else [assumption]),
            *self.on_prior,
            *self.calibrator.notes_,
            *self.assessment.notes,
        ]
