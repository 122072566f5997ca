"""`--prior` beside reviews: they say whether it holds, and SCAR with it; both answers side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

from halftruth import _checks
from halftruth._errors import InputError, Note, NotIdentifiable
from halftruth.cli._option_values import parse_pair
from halftruth.cli._options import Population, ShareOptions
from halftruth.cli._rendering import Block, Cell
from halftruth.cli._reviews import Reviews
from halftruth.cli._table_source import evidence_of
from halftruth.cli._terminal import shell_text
from halftruth.cli._views import EvaluationView
from halftruth.evaluation._review_checks import TITLES, ReviewCheck, check_by_reviews
from halftruth.prior._scar_test import Check
from halftruth.results._estimate import Evaluation, estimate_text, interval_name, interval_text
from halftruth.table._score_table import NEGATIVE, POSITIVE, SOFT, UNLABELED, ScoreTable
from halftruth.table._strata import StratumRows

__all__ = ["CheckedView", "check_settings"]

WHOSE = "The answer is that of the reviews, which rest on neither the prior nor SCAR."
TOO_SURE = (
    "The reviews take all of them for certain too: mend the column of --known-positive, and plan and review "
    "anew the rows that leave it."
)


def check_settings(
    reviews: Reviews,
    shares: ShareOptions,
    settings: Mapping[str, Any],
    purity_sample: str | None,
    by: str | None,
) -> dict[str, Any]:
    """What `check_by_reviews` is to be called with, refused here where it cannot be."""
    if not reviews or shares.prior is None:
        raise InputError(
            "--purity-sample goes with --prior beside reviews, by --reviewed or --review-chance. Elsewhere "
            "--purity takes a number or a range."
        )
    beside = {
        "--by": by,
        "--purity": shares.purity,
        "--propensity": shares.propensity,
        "--population unlabeled": shares.population is Population.unlabeled or None,
        "--threshold with an aim": settings["threshold"] if isinstance(settings["threshold"], str) else None,
        "--method": settings["method"],
        "--stratified": settings["stratified"],
    }
    refused = next((option for option, value in beside.items() if value is not None), None)
    if refused is not None:
        raise InputError(
            f"{refused} does not go with --prior beside reviews, which say of all rows at once whether "
            f"known positives that are certain are a random sample. Leave {refused} out, or --prior."
        )
    _checks.count(settings["n_resamples"], "n_resamples", least=100)
    names = ("metrics", "threshold", "confidence_level", "n_resamples", "rng")
    sample = parse_pair(purity_sample, "purity-sample", "/", int, "45/50")
    if sample is not None:
        _checks.labeled_sample(sample, "purity_sample")
    return {name: settings[name] for name in names} | {"purity_sample": sample}


@dataclass(frozen=True)
class CheckedView(EvaluationView):
    """One evaluation of reviewed rows, and what these say of a prior and of SCAR."""

    check: ReviewCheck

    @classmethod
    def of(cls, result: Evaluation, shares: Mapping[str, Any], how: Mapping[str, Any]) -> CheckedView:
        """Of what was evaluated; what is refuted stands among its notes."""
        assert result.origin is not None
        reviewed = result.origin.evidence[""]
        pu: Any = evidence_of(_as_unlabeled(reviewed.table), **shares)
        try:
            check = check_by_reviews(pu, reviewed, **how)
        except NotIdentifiable as error:
            raise error.also("Or leave --prior out: the reviews alone need none.") from error
        check = _for_the_shell(check)
        notes = [*check.verdicts.values(), *check.notes[len(check.checks) :]]
        new = (note for note in notes if note not in result.notes)
        origin = replace(result.origin, check=check)
        return cls(replace(result, notes=(*result.notes, *new), origin=origin), check)

    def blocks(self) -> list[Block]:
        interval = interval_name(self.check.confidence_level)
        lines: list[tuple[str, ...]] = [
            (
                name,
                estimate_text(pu),
                interval_text(pu),
                estimate_text(x),
                interval_text(x),
                self._word(name),
            )
            for name, (pu, x) in self.check.side_by_side.items()
        ]
        header = ("metric", "positives and unlabeled", interval, "reviews", interval, "")
        # What is refuted stands on top: of the purity as the headline, since it takes the answer along.
        verdicts = self.check.verdicts.values()
        first, *rest = super().blocks()
        against = tuple(note for note in verdicts if note.kind == "contradiction")
        whose = (WHOSE,) if self.result.status == "ok" else ()
        n = len(self.result.standing.lines)
        first = replace(
            first, above=(*first.above[:n], *against, *(whose if against else ()), *first.above[n:])
        )
        above = tuple(note for note in verdicts if note.kind == "remark")
        below = () if against else whose
        return [first, *rest, Block(above=above, header=header, lines=lines, below=below)]

    def notes(self) -> list[str]:
        # What holds stands in the result; what is refuted is said beside it, too.
        held = {note for note in self.check.verdicts.values() if note.kind == "remark"}
        return [note for note in super().notes() if note not in held]

    def objections(self) -> Iterator[str]:
        yield from super().objections()
        refuted = [TITLES[name] for name, one in self.check.checks.items() if one.refuted]
        if refuted:
            yield f"the reviews refute what was given ({', '.join(refuted)})"

    def _word(self, name: str) -> str:
        return "differ" if name in self.check.disagree else ""

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {"check": self.check.to_dict()}

    def records(self) -> Iterator[Sequence[Cell]]:
        checks, gamma = self.check.checks, self.check.gamma
        header, *rows = super().records()
        names = [f"{name}_{what}" for name in checks for what in ("p_value", "check")]
        of_gamma = ("gamma", "gamma_low", "gamma_high", "direction")
        yield [*header, "pu_value", "pu_low", "pu_high", "answers", *names, *of_gamma]
        told: list[Cell] = [x for c in checks.values() for x in (c.p_value, "refuted" if c.refuted else "")]
        told += [gamma.value, gamma.low, gamma.high, self.check.direction]
        for row in rows:
            name = str(row[0])
            pu = self.check.side_by_side.get(name, (None,))[0]
            word = "differ" if name in self.check.disagree else ""
            yield [*row, *((None,) * 3 if pu is None else pu.shown), word, *told]


def _for_the_shell(check: ReviewCheck) -> ReviewCheck:
    """The same in the words of the command, in every format; what mends a wrong purity, too."""

    def told(name: str, one: Check) -> str:
        says = shell_text(one.says)
        return f"{says} {TOO_SURE}" if name == "purity" and one.refuted else says

    checks = {name: replace(one, says=told(name, one)) for name, one in check.checks.items()}
    notes = (Note(note.kind, shell_text(note)) for note in check.notes)
    return replace(check, checks=checks, notes=tuple(notes))


def _as_unlabeled(table: ScoreTable) -> ScoreTable:
    """The same rows as if nobody had reviewed any: known positives, and the others."""
    strata: Any = table.strata
    if SOFT not in strata:
        raise InputError(
            "No row is positive by --known-positive alone, so there is nothing that --prior and SCAR could "
            "be checked with. Leave --prior out, or name the column of the known positives."
        )
    plain = {name: replace(rows, value=None, meaning=None) for name, rows in strata.items()}
    rest = (plain[name] for name in (POSITIVE, NEGATIVE, UNLABELED) if name in plain)
    return ScoreTable({POSITIVE: plain[SOFT], UNLABELED: reduce(StratumRows.concatenate, rest)})
