"""`halftruth calibrate FILE...`"""

from __future__ import annotations

import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from halftruth.cli import options, status
from halftruth.cli.render import Block, Cell
from halftruth.errors import InputError

if TYPE_CHECKING:
    from halftruth.calibration.calibrators.assessment import Assessment
    from halftruth.calibration.calibrators.calibrator import Calibrator
    from halftruth.cli.source import Source
    from halftruth.evidence import Evidence

SCHEMA = 1
EXAMPLES = """\b
Examples:
  halftruth calibrate scores.parquet --prior 0.3 --output calibrator.json
  halftruth calibrate scores.csv --zeros unlabeled --prior estimate --output calibrator.json --scores new.csv
  halftruth calibrate scores.csv --zeros negative --method isotonic --output calibrator.json --format json
"""


class Binning(StrEnum):
    """What the bins of a histogram have in common."""

    mass = "mass"
    width = "width"


class Scale(StrEnum):
    """What the line of Platt's method is drawn over."""

    logit = "logit"
    score = "score"


def calibrate(
    files: options.Files,
    output: Annotated[str, typer.Option(metavar="FILE", help="Where the calibrator goes, as JSON.")],
    score: options.Score = "score",
    label: options.Label = "label",
    weight: options.Weight = None,
    zeros: options.ZerosMean = None,
    unlabeled: options.Unlabeled = None,
    prior: options.Prior = None,
    purity: options.Purity = None,
    population: options.PopulationIs = options.Population.all,
    method: Annotated[str, typer.Option(metavar="NAME", help="One of the methods named above.")] = "beta",
    scale: Annotated[
        Scale, typer.Option(help="Of platt: score where scores are margins, not probabilities.")
    ] = Scale.logit,
    n_bins: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Of histogram; else as many as the evidence allows."),
    ] = None,
    binning: Annotated[Binning, typer.Option(help="Of histogram.")] = Binning.mass,
    n_folds: Annotated[
        int, typer.Option(metavar="N", min=2, help="Parts for the values after calibration.")
    ] = 5,
    scores: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Also write each row's calibrated score, .parquet or .csv."),
    ] = None,
    rng: options.Seed = 0,
    style: options.Style = options.Format.table,
) -> int:
    """Scores into probabilities: fit a calibrator, and say what it changes.

    Methods: beta, platt, mix-n-match, temperature, isotonic, histogram, spline, bpm. The values after
    calibration are cross-fitted: no row is measured by a curve that was fitted on it.
    """
    from halftruth.calibration.calibrators import Calibrator
    from halftruth.calibration.calibrators.assessment import assess
    from halftruth.cli.render import show
    from halftruth.cli.source import Source, evidence_of

    bins = "optimal" if n_bins is None else n_bins
    calibrator = Calibrator(method, scale=scale.value, n_bins=bins, binning=binning.value)
    shares = {name: options.share(text, name) for name, text in (("prior", prior), ("purity", purity))}
    _check_targets(files, output, scores)
    source = Source(files=files, score=score, label=label, weight=weight, zeros=zeros, unlabeled=unlabeled)
    evidence = evidence_of(source.tables()[""], population=population, **shares)
    assessment = assess(evidence, calibrator.fit(evidence), n_folds=n_folds, rng=rng)
    calibrator.save(output)
    if scores is not None:
        _write_scores(scores, source, calibrator)
    show(Calibrated(evidence, calibrator, assessment, output, scores), style)
    return status.FINE


def _check_targets(files: Sequence[str], output: str, scores: str | None) -> None:
    """Refuse to write over what is read, and to read twice what comes once."""
    from halftruth.files.writing import check_form

    for name, target in (("output", output), ("scores", scores)):
        if target is not None and any(_holds(file, Path(target)) for file in files):
            raise InputError(
                f"--{name} {target} is one of the files that are read. Choose another name, so that none is "
                f"lost."
            )
    if scores is None:
        return
    check_form(scores, "scores")
    if Path(scores).resolve() == Path(output).resolve():
        raise InputError(f"--output and --scores both name {output}. Give each its own file.")
    for file in files:
        if file.endswith(".npz"):
            raise InputError(f"--scores needs the rows in their order; the saved table {file} has none.")
        if file == "-" or (Path(file).exists() and stat.S_ISFIFO(Path(file).stat().st_mode)):
            raise InputError("--scores reads the rows twice, which a stream cannot give. Save it to a file.")


def _holds(file: str, target: Path) -> bool:
    """Whether the target is this file, or one of this folder or pattern."""
    if not target.exists() or file == "-":
        return False
    path = Path(file)
    if path.is_dir():
        return target.resolve().is_relative_to(path.resolve())
    # Path.glob takes no absolute pattern.
    found = [file] if path.exists() else glob(file, recursive=True)  # noqa: PTH207
    return any(Path(one).samefile(target) for one in found)


def _write_scores(path: str, source: Source, calibrator: Calibrator) -> None:
    """The rows in their order: score, label and weight as they came, and the calibrated score."""
    import numpy as np

    from halftruth import files
    from halftruth.files.joined import EVERY
    from halftruth.files.writing import write_columns

    rows: Any = files.read(
        source.files,
        score=source.score,
        label=source.label,
        weight=source.weight,
        unlabeled=source._code,
        max_rows=EVERY,
    )
    score = rows.scores[source.score]
    unlabeled = rows.stratum == files.STRATA.index("unlabeled")
    label = np.ma.masked_array((rows.stratum == files.STRATA.index("positive")).astype(np.int8), unlabeled)
    columns = {"score": score, "label": label}
    columns |= {} if rows.weight is None else {"weight": rows.weight}
    write_columns(path, columns | {"calibrated": calibrator.predict(score)})


@dataclass(frozen=True)
class Calibrated:
    """A fitted calibrator and what it changes."""

    evidence: Evidence
    calibrator: Calibrator
    assessment: Assessment
    output: str
    scores: str | None

    def blocks(self) -> list[Block]:
        from halftruth.results import figure

        after = "after, cross-fitted" if self.assessment.cross_fitted else "after, same rows"
        written = [f"The calibrator is in {self.output}."]
        written += [] if self.scores is None else [f"The calibrated scores are in {self.scores}."]
        return [
            Block(
                above=(
                    f"{self.evidence!r}, {len(self.evidence.table)} rows",
                    f"π = {figure(self.calibrator.prior_)} positive in the population; method "
                    f"{self.calibrator.method}",
                ),
                header=("metric", "before", after),
                lines=[
                    (name, figure(before), figure(value))
                    for name, (before, value) in self.assessment.errors.items()
                ],
                below=tuple(written),
            )
        ]

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "evidence": repr(self.evidence),
            "rows": len(self.evidence.table),
            "prior": self.calibrator.prior_,
            "method": self.calibrator.method,
            "output": self.output,
            "scores": self.scores,
            "cross_fitted": self.assessment.cross_fitted,
            "metrics": {
                name: {"before": before, "after": after}
                for name, (before, after) in self.assessment.errors.items()
            },
            "notes": self.notes(),
        }

    def records(self) -> Iterator[Sequence[Cell]]:
        yield ["metric", "before", "after"]
        for name, (before, after) in self.assessment.errors.items():
            yield [name, before, after]

    def notes(self) -> list[str]:
        assumption = self.evidence.assumption
        return [
            *([] if assumption is None else [assumption]),
            *self.calibrator.notes_,
            *self.assessment.notes,
        ]
