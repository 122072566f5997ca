"""What `halftruth prior` shows: each method's shares, and how far the data identify them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from halftruth._errors import Note, notes_to_dict
from halftruth.cli._rendering import Block, Cell
from halftruth.cli._terminal import shell_text
from halftruth.prior._belief import PriorEstimate
from halftruth.results._estimate import figure, interval_name
from halftruth.results._standing import Standing, standing_of

__all__ = ["PriorsView", "Shares"]

SCHEMA = 1


@dataclass(frozen=True)
class Shares:
    """What one method finds: α among the unlabeled, π in the population, perhaps the purity."""

    alpha: PriorEstimate
    prior: PriorEstimate
    purity: PriorEstimate | None = None

    def named(self) -> Iterator[tuple[str, PriorEstimate]]:
        """The shares by name."""
        yield from (("alpha", self.alpha), ("prior", self.prior))
        if self.purity is not None:
            yield "purity", self.purity

    @property
    def standing(self) -> Standing:
        """Whether the data identify the estimate, or refute it or what it rests on."""
        alpha = self.alpha
        if alpha.upper is None or alpha.value <= alpha.upper:
            return standing_of(self.notes())
        most = f"the scores refute more than {alpha.upper:.4g}"
        return Standing("refuted", Note("refuted", f"{alpha.method} puts α at {alpha.value:.4g}, and {most}"))

    def notes(self) -> list[Note]:
        """Of all shares, each once."""
        return list(dict.fromkeys(note for _, share in self.named() for note in share.notes))


@dataclass(frozen=True)
class PriorsView:
    """What was found of the prior in one table, method by method."""

    evidence: str
    population: str
    identified: bool
    """Whether known negatives say which α it is."""
    shares: tuple[Shares, ...]
    remarks: tuple[Note, ...] = ()

    def blocks(self) -> list[Block]:
        first = self.shares[0]
        level = first.alpha.confidence_level
        # An interval that rests on what no data show is no 95% interval.
        assumed = any(shares.standing.status == "not identified" for shares in self.shares)
        interval = "if as assumed" if assumed else interval_name(level)
        header = ["method", "α", interval, f"not refuted ({level:.3g})", "π", interval]
        population = {"all": "all rows", "unlabeled": "the unlabeled"}[self.population]
        legend = f"α: positives among the unlabeled; π: positives among {population}"
        if first.purity is not None:
            header += ["ρ", interval]
            legend += "; ρ: positives among the known"
        lines = []
        for shares in self.shares:
            cells = [shares.alpha.method]
            for name, share in shares.named():
                cells += [figure(share.value), f"{figure(share.low)} to {figure(share.high)}"]
                cells += [f"0 to {figure(share.upper)}"] if name == "alpha" else []
            lines.append(tuple(cells))
        scores = "Without the known negatives the scores" if self.identified else "The scores"
        # The largest α that the scores do not refute is the same whatever the method.
        allowed = f"{scores} alone allow every α from 0 to {figure(first.alpha.upper or 0.0)}."
        above = (*map(shell_text, self._headlines()), self.evidence, legend)
        return [Block(above=above, header=tuple(header), lines=lines, below=() if assumed else (allowed,))]

    def _headlines(self) -> Iterator[Note]:
        """What is refuted or not identified, and of which methods where not of all."""
        methods_by_line: dict[Note, list[str]] = {}
        for shares in self.shares:
            for line in shares.standing.lines:
                methods_by_line.setdefault(line, []).append(shares.alpha.method)
        for line, methods in methods_by_line.items():
            # What is refuted names its method.
            named = len(self.shares) > 1 and line.kind == "not_identified"
            yield Note(line.kind, f"{line.source} ({', '.join(methods)})") if named else line

    def to_dict(self) -> dict[str, Any]:
        numbers = ("value", "low", "high", "upper")
        estimates = [
            {
                "method": shares.alpha.method,
                **{name: {n: getattr(share, n) for n in numbers} for name, share in shares.named()},
                "confidence_level": shares.alpha.confidence_level,
                "assumption": shares.alpha.assumption,
                **shares.standing.to_dict(),
                **notes_to_dict(shares.notes()),
            }
            for shares in self.shares
        ]
        about = {"evidence": self.evidence, "population": self.population}
        return {"schema": SCHEMA, **about, "estimates": estimates}

    def records(self) -> Iterator[Sequence[Cell]]:
        numbers = ("value", "low", "high", "upper", "confidence_level")
        yield ["method", "share", *numbers, "status", "reason"]
        for shares in self.shares:
            for name, share in shares.named():
                cells = [getattr(share, number) for number in numbers]
                yield [shares.alpha.method, name, *cells, *map(shell_text, shares.standing)]

    def notes(self) -> list[str]:
        return list(map(shell_text, self._notes()))

    def _notes(self) -> Iterator[Note]:
        """What else is to be said, methods of which the same is said together: a headline says the rest."""
        methods_by_note: dict[Note, list[str]] = {}
        for shares in self.shares:
            for note in shares.notes():
                if note != shares.standing.reason:
                    methods_by_note.setdefault(note, []).append(shares.alpha.method)
        yield from (note.about(", ".join(methods)) for note, methods in methods_by_note.items())
        yield from self.remarks

    def objections(self) -> Iterator[str]:
        """That the data refute an estimate, or the sample that it rests on, or do not identify it."""
        yield from (shell_text(x.standing.reason) for x in self.shares if x.standing.status != "ok")
