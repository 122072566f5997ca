"""The priors of groups: one for all, which every output then says, or one for each by its name."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from halftruth._errors import InputError, MissingColumn, Note, notes_to_dict
from halftruth.cli._how_known import parse_selection
from halftruth.cli._option_values import ESTIMATE, share_settings
from halftruth.cli._options import Population, ShareOptions
from halftruth.cli._rendering import Block, Cell
from halftruth.cli._terminal import shell_text
from halftruth.cli._views import StrictView, selection_to_dict
from halftruth.evidence import Evidence
from halftruth.evidence._selection import Selection
from halftruth.files import Source
from halftruth.files._cell_meanings import group
from halftruth.files._checked_rows import relation
from halftruth.files._duckdb_source import FileBatch
from halftruth.files._file_paths import quoted
from halftruth.inference._requests import PRIOR
from halftruth.results._comparison import Comparison
from halftruth.results._estimate import Evaluation, figure, json_number
from halftruth.table._groups import named
from halftruth.table._score_table import POSITIVE, UNLABELED, ScoreTable

__all__ = ["GroupShares", "with_priors"]

SYNTAX = "'a=0.2,b=0.1..0.15,c=estimate'; an item with a comma in its name in double quotes, '\"a, b=0.2\"'"
LEVEL = 0.01  # at which groups have different shares of known positives
LEAST_EXPECTED = 5  # known positives of a group for which χ² holds
PRIOR_FIELDS = ("prior", "prior_low", "prior_high", "prior_source")
SYMBOLS = {
    "prior": "prior, π = {}",
    "purity": "purity, ρ = {}",
    "selection": "selection, {}",
    "within": "range of α, {}",
    "labeled_sample": "labeled sample, {}",
}


@dataclass(frozen=True)
class GroupShares:
    """What is known of the shares of each group, or model, as `evidence_of` takes it."""

    by: str | None
    options: ShareOptions
    named: Mapping[str | None, dict[str, Any]]
    """By name; for all, under None."""
    column: str | None = None
    """That holds the priors; until it is read they have no name."""

    @classmethod
    def read(
        cls,
        options: ShareOptions,
        by: str | None,
        *,
        models: bool = False,
        column: str | None = None,
        engine: str | None = None,
    ) -> GroupShares:
        """As the options say, refused here where they cannot be right; ``models`` may have priors by name."""
        if column is not None:
            if by is None or options.prior is not None:
                raise InputError(
                    "--prior-column holds the priors of groups: name the column of these by --by (compare: "
                    "or by --between), and leave --prior out."
                )
            if engine is not None:
                raise InputError(
                    "--prior-column reads files, and no --engine. Name each: --prior a=0.2,b=0.1."
                )
            parse_selection(options.selection)
            return cls(by, options, {}, column)
        if options.prior is None or "=" not in options.prior:
            return cls(by, options, {None: share_settings(options)})
        if by is None and not models:
            raise InputError(
                "--prior NAME=SHARE is about groups. Name their column by --by, or pass one share."
            )
        items = [item.rpartition("=") for item in next(csv.reader([options.prior], skipinitialspace=True))]
        names = [name for name, _, _ in items]
        if not all(sign for _, sign, _ in items) or len(set(names)) < len(names):
            raise InputError(f"--prior must name each group once, like {SYNTAX}; got {options.prior!r}.")
        return cls(by, options, _settings_by_name(options, {name: share for name, _, share in items}))

    def with_column(self, files: Sequence[str]) -> GroupShares:
        """The same with the priors that the column holds, where one is named."""
        if self.column is None:
            return self
        about = f"Column {quoted(self.column)}, {self.by} = "
        return replace(
            self,
            named=_settings_by_name(self.options, column_priors(files, str(self.by), self.column), about),
        )

    def of(self, name: str) -> dict[str, Any]:
        """Of one group."""
        return self.named[None if self.is_shared else name]

    @property
    def selection(self) -> Selection | None:
        """What is granted of how the positives became known, by all groups; None where nothing was said."""
        return parse_selection(self.options.selection)

    @property
    def is_shared(self) -> bool:
        """Whether all groups have the same."""
        return None in self.named

    def check(self, names: Iterable[str]) -> None:
        """Refuse names that are no groups, and groups without a prior."""
        if self.is_shared or self.column is not None:
            return
        there = list(names)
        what = "model" if self.by is None else f"value of the column {self.by!r}"
        for name in self.named:
            if name not in there:
                raise InputError(
                    f"--prior names {name!r}, which is no {what}. It must name {_listed(there)}."
                )
        missing = [name for name in there if name not in self.named]
        if missing:
            raise InputError(f"--prior has no share for {_listed(missing)}. Name every one, like {SYNTAX}.")

    def source(self, name: str) -> str:
        """Where the prior of a group comes from; nothing without one."""
        own = f"given for this {self.by}" if self.column is None else f"column {self.column}"
        given = f"one for every {self.by}" if self.is_shared else own
        return {None: "", ESTIMATE: f"estimated for each {self.by}"}.get(self.of(name)["prior"], given)

    def remarks(self, tables: Mapping[str, ScoreTable], refuted: Sequence[str] = ()) -> Iterator[Note]:
        """What all groups were taken to have in common, and what speaks against it, also in those refuted."""
        if self.by is None or not self.is_shared:
            return
        alike = {name: getattr(self.options, name) for name in SYMBOLS}
        # A random sample of the positives is the same for all, whatever their number.
        selected = self.selection is not None and self.selection.gamma > 1
        alike["selection"] = str(self.selection) if selected else None
        if alike["prior"] == ESTIMATE:
            yield Note("prior", f"The prior was estimated for each {self.by} by itself.")
        shared = [
            "one " + SYMBOLS[name].format(text.replace("..", " to "))
            for name, text in alike.items()
            if text not in (None, ESTIMATE)
        ]
        if shared and any(UNLABELED in table.strata for table in tables.values()):
            text, verb = " and ".join(shared), "was" if len(shared) == 1 else "were"
            yield Note("prior", f"{text[0].upper()}{text[1:]}, {verb} taken for every {self.by}.")
        prior_given = alike["prior"] not in (None, ESTIMATE)
        given = alike["labeled_sample"] is not None or prior_given
        unlike = self._unlike(tables) if given and self.options.population is Population.all else None
        if unlike is not None:
            yield unlike
        elif prior_given and 0 < len(refuted) < len(tables):
            yield Note(
                "contradiction",
                f"The data refute the prior or the purity in {self.by} = {_listed(refuted)}. A prior that is "
                f"right for all rows together is then too small for some of the others, which no scores "
                f"show: do not rely on theirs either. Name each: --prior '{refuted[0]}=…,…'.",
            )

    def _unlike(self, tables: Mapping[str, ScoreTable]) -> Note | None:
        """That known positives are more frequent in some groups, beyond chance."""
        from scipy.special import chdtrc

        counts = {
            name: (len(table.strata[POSITIVE]), len(table))
            for name, table in tables.items()
            if {POSITIVE, UNLABELED} <= set(table.strata)
        }
        whole = sum(n for _, n in counts.values())
        share = sum(known for known, _ in counts.values()) / max(whole, 1)
        counts = {name: (known, n) for name, (known, n) in counts.items() if n * share >= LEAST_EXPECTED}
        distance = sum((known - n * share) ** 2 / (n * share * (1 - share)) for known, n in counts.values())
        if len(counts) < 2 or chdtrc(len(counts) - 1, distance) > LEVEL:
            return None
        shares = {name: known / n for name, (known, n) in counts.items()}
        low, high = min(shares, key=shares.__getitem__), max(shares, key=shares.__getitem__)
        return Note(
            "contradiction",
            f"Known positives are {shares[low]:.2%} of {self.by} = {low} and {shares[high]:.2%} of {self.by} "
            f"= {high}: chance does not explain that. If positives are found alike everywhere, the priors "
            f"differ by the same factor, and one is wrong for some: name each, --prior '{low}=…,{high}=…'. "
            "If not, --selection says how far the known ones may be from a random sample.",
        )


def _settings_by_name(
    options: ShareOptions, shares: Mapping[str, str], about: str = ""
) -> dict[str | None, dict[str, Any]]:
    """What is known of each group, from the text of its prior."""
    # What is known besides the scores is about the priors that are estimated, where any is.
    other = replace(options, within=None, labeled_sample=None)
    settings: dict[str | None, dict[str, Any]] = {}
    for name, share in shares.items():
        used = options if share == ESTIMATE or ESTIMATE not in shares.values() else other
        try:
            settings[name] = share_settings(replace(used, prior=share))
        except InputError as error:
            raise error.about(about + name) from error
    return settings


# --prior-column COLUMN -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _PriorCells:
    by: str
    column: str

    def names(self) -> tuple[str, ...]:
        return self.by, self.column

    def select(self, batch: FileBatch) -> str:
        """The group as it is named elsewhere, and the prior as text; 0.2 and 0.20 are one."""
        share = f"trim({group(*batch.at(self.column))})"
        one = f"coalesce(TRY_CAST({share} AS DOUBLE)::VARCHAR, {share}, '')"
        return f"{group(*batch.at(self.by))} AS g, {one} AS share"


def column_priors(files: Sequence[str], by: str, column: str) -> dict[str, str]:
    """The text of the prior of each group, which must be the same in all of its rows."""
    cells = _PriorCells(by, column)
    try:
        with Source(list(files), cells.names()) as source:
            rows, parameters = relation(source, cells)
            sql = f"SELECT g, min(share) AS first, max(share) AS last FROM ({rows}) GROUP BY g ORDER BY g"
            found = source.fetch(sql, parameters)
    except MissingColumn as error:
        raise (error.also("It is named by --prior-column.") if error.column == column else error) from error
    groups = zip(named(found["g"], by).tolist(), found["first"].tolist(), found["last"].tolist(), strict=True)
    shares = {}
    for name, first, last in groups:
        if first != last or not first:
            two = (
                f"both {quoted(first) if first else 'empty cells'} and {quoted(last)}" if last else "nothing"
            )
            raise InputError(
                f"Column {quoted(column)} must hold one prior for each value of {quoted(by)}: where {by} = "
                f"{name} it holds {two}. Write the same prior into all of these rows."
            )
        shares[name] = first
    return shares


def _listed(names: Sequence[str], shown: int = 5) -> str:
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(map(repr, names[:shown])) + more


def with_priors(
    view: StrictView,
    shares: GroupShares,
    results: Mapping[str, Any],
    remarks: Sequence[Note],
    *,
    pairs: bool = False,
) -> StrictView:
    """The view of groups, or of their ``pairs``, with the prior of each, and what is to be said of all."""
    if shares.by is None:
        return view
    groups = results[""].origin.evidence if pairs else results
    used = {name: _used(group) for name, group in groups.items()}
    priors = {
        name: dict(zip(PRIOR_FIELDS, (*prior, shares.source(name)), strict=True)) if any(prior) else {}
        for name, prior in used.items()
    }
    sides = ("first_", "second_") if pairs else ("",)
    return _WithPriors(view, priors, tuple(remarks), sides, shares.selection)


def _used(result: Any) -> list[float | None]:
    """The prior that a result took, and its ends; nothing where there is none, or each model has its own."""
    if isinstance(result, Evaluation):
        return [json_number(x) for x in (result.prior.value, result.prior.low, result.prior.high)]
    if isinstance(result, Evidence):
        return [json_number(x) for x in (PRIOR.at(result.measure()), *(result.prior_ends() or (None, None)))]
    if isinstance(result, Comparison) and result.origin is not None:
        first, *others = result.origin.evidence.values()
        if all(other.prior.equals(first.prior) for other in others):
            return _used(first)
    return [None] * 3


@dataclass(frozen=True)
class _WithPriors:
    view: StrictView
    priors: Mapping[str, dict[str, Cell]]
    remarks: tuple[Note, ...]
    sides: tuple[str, ...]
    """Of the groups that a row of CSV is about, and begins with: what stands before the names of columns."""
    selection: Selection | None

    def _lines(self) -> list[str]:
        return list(map(shell_text, self.remarks))

    def blocks(self) -> list[Block]:
        told = [*self._lines(), *self._pairs_line()]
        return [*([Block(above=tuple(told), header=(), lines=[])] if told else []), *self.view.blocks()]

    def _pairs_line(self) -> Iterator[str]:
        """The priors of groups that are compared: a table of their differences has no place for them."""
        spans = []
        for name, prior in self.priors.items() if len(self.sides) > 1 else ():
            ends = [end for end in map(prior.get, PRIOR_FIELDS[1:3]) if isinstance(end, float)]
            spans += [f"{' to '.join(dict.fromkeys(map(figure, ends)))} in {name}"] if ends else []
        if spans:
            yield f"π = {', '.join(spans)}"

    def to_dict(self) -> dict[str, Any]:
        told = self.view.to_dict() | selection_to_dict(self.selection)
        notes = {name: [*texts, *told.get(name, ())] for name, texts in notes_to_dict(self.remarks).items()}
        return told | {"priors": dict(self.priors)} | notes

    def records(self) -> Iterator[Sequence[Cell]]:
        header, *rows = self.view.records()
        n = len(self.sides)
        yield [*header[:n], *(side + field for side in self.sides for field in PRIOR_FIELDS), *header[n:]]
        for row in rows:
            priors = (self.priors[str(name)].get(field) for name in row[:n] for field in PRIOR_FIELDS)
            yield [*row[:n], *priors, *row[n:]]

    def notes(self) -> list[str]:
        return [*self._lines(), *self.view.notes()]

    def objections(self) -> Iterator[str]:
        return self.view.objections()
