"""Results of the experiments as tables: errors, their means and standard errors, and the sign test."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from halftruth import _checks
from halftruth._checks import Vector
from halftruth_papers.published import printed_rows
from halftruth_papers.reproduction import SummaryTable

Number = float | None
PRINTED = ("jain_auc", "jain_auc_pr")
Reported = dict[tuple[str, float], dict[str, float]]
"""Columns of a row, by data set and purity."""

SHARES = {"R": "real", "E": "alphamax", "E₁": "alphamax_clean", "A": "auto", "A₁": "auto_clean"}
"""By the letter of a column: which α and ρ were used. ₁: the labels are known to be clean."""
WAYS = {"I": "indirect", "D": "direct", "C": "concave"}
AUC = {"PU": "auc_pu"} | {way + by: f"{SHARES[by]}_{WAYS[way]}" for by in SHARES for way in WAYS}
"""Estimates of the AUC, by the name of their column."""
AUC_PR = {"PU": "auc_pr_pu"} | {way + by: f"{SHARES[by]}_pr_{WAYS[way]}" for by in SHARES for way in "IC"}
ESTIMATES = {"auc": AUC, "auc_pr": AUC_PR}
AREAS = {"auc": "AUC", "auc_pr": "AUC-PR"}
LEGEND = (
    "Mean absolute errors over the complete data sets: (a) against a supervised model, (b) hidden labels",
    "PU not corrected; I indirect, D direct, C concave; with R real α and ρ, E AlphaMax's, A those of auto",
)
PAPER = {"auc": ("PU", "IR", "DR", "IE", "DE"), "auc_pr": ("PU", "IR", "IE")}
"""Columns that the paper has."""
SHOWN = {
    "auc": ("PU", "IR", "DR", "CR", "IE", "DE", "IA", "CA"),
    "auc_pr": ("PU", "IR", "CR", "IE", "IA", "CA"),
}
"""Columns of figures and summaries; the tables of the page have them all."""
PAPER_BLOCK = "networks"
"""The family of models that the paper has."""
TRUTHS = {"a": "", "b": "hidden_"}
"""What errors are against: (a) a supervised model, (b) the hidden labels of the same scores."""


def reported(table: str) -> Reported:
    """A table of Jain et al. 2017, by data set and purity.

    Columns of both: alpha, rho (the purity, β in the paper), d, n_positive, n, and e, the mean absolute
    error of the estimates of ρ − α. Then the supervised area, the area from positives and unlabeled rows as
    they are, and the mean absolute errors of PU (as is), IR and DR (recovered, indirect and direct, with
    the real α and ρ), IE and DE (with estimates).

    Parameters
    ----------
    table : str
        ``"jain_auc"``: Table 1, of areas under the ROC curve. ``"jain_auc_pr"``: Table 2, of areas under the
        precision-recall curve, which has no direct recovery.

    Returns
    -------
    dict

    Examples
    --------
    >>> row = reported("jain_auc")["pima", 0.95]
    >>> row["auc"], row["auc_pu"], row["ir"]
    (0.838, 0.71, 0.038)
    """
    name = _checks.choice(table, "table", PRINTED)
    rows = [
        (row.pop("data"), {column: float(value) for column, value in row.items()})
        for row in printed_rows(name)
    ]
    return {(data, row["rho"]): row for data, row in rows}


@dataclass(frozen=True, kw_only=True)
class Mean:
    """A mean with its standard error; NaN where there is nothing to say."""

    value: float
    error: float

    @classmethod
    def of(cls, values: Vector) -> Mean:
        """Of repeats."""
        n = len(values)
        spread = float(np.std(values, ddof=1)) / math.sqrt(n) if n > 1 else math.nan
        return cls(value=float(np.mean(values)) if n else math.nan, error=spread)

    @classmethod
    def over(cls, means: Iterable[Mean]) -> Mean:
        """The mean of means that do not depend on each other."""
        terms = list(means)
        if not terms:
            return cls(value=math.nan, error=math.nan)
        value = sum(mean.value for mean in terms) / len(terms)
        return cls(value=value, error=math.hypot(*(mean.error for mean in terms)) / len(terms))

    def __str__(self) -> str:
        if math.isnan(self.value):
            return "–"
        return f"{self.value:.3f}" + ("" if math.isnan(self.error) else f" ± {self.error:.3f}")


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """All repeats on one data set with one purity and one family of models."""

    block: str
    data: str
    purity: float
    complete: bool
    d: int
    n_positive: int
    n: int
    repeats: tuple[dict[str, float], ...]

    def values(self, name: str) -> Vector:
        """One number of each repeat; none where it was not asked for."""
        return np.array([repeat[name] for repeat in self.repeats if name in repeat], dtype=np.float64)

    def mean(self, name: str) -> Mean:
        """Over the repeats."""
        return Mean.of(self.values(name))

    def errors(self, area: str, column: str, truth: str = "a") -> Vector:
        """Estimate less truth, of each repeat."""
        estimate = self.values(ESTIMATES[area][column])
        return estimate - self.values(TRUTHS[truth] + area) if len(estimate) else estimate

    def error(self, area: str, column: str, truth: str = "a") -> Mean:
        """Mean absolute error."""
        return Mean.of(np.abs(self.errors(area, column, truth)))

    def gap_errors(self, by: str = "E") -> Vector:
        """Absolute errors of the estimates of ρ − α, which the paper calls e."""
        alpha, rho = (self.values(f"{SHARES[by]}_{share}") for share in ("alpha", "rho"))
        if not len(alpha):
            return alpha
        return np.abs(rho - alpha - (self.values("rho") - self.values("alpha")))

    def both_1(self, by: str) -> int:
        """Repeats in which both areas of the indirect curve are 1: set so, or the curve is perfect."""
        names = f"{SHARES[by]}_indirect", f"{SHARES[by]}_pr_indirect"
        return sum(all(repeat.get(name) == 1.0 for name in names) for repeat in self.repeats)


@dataclass(frozen=True, kw_only=True)
class SignTest:
    """How often each of two won, and how likely the indirect would win so often if neither were better."""

    direct: int
    indirect: int
    ties: int
    k: int
    """Wins of the indirect, ties shared out."""
    p_value: float

    @property
    def n(self) -> int:
        """Experiments."""
        return self.direct + self.indirect + self.ties


def sign_test(direct: Sequence[float], indirect: Sequence[float]) -> SignTest:
    """Direct against indirect recovery: who has the smaller error, over experiments.

    As in the paper, ties are shared out in turn, the first to the direct, and the test is one-sided.

    Parameters
    ----------
    direct, indirect : sequences of float
        Errors, one pair for each experiment, rounded so that ties are ties.

    Returns
    -------
    SignTest

    Examples
    --------
    >>> from halftruth_papers.jain.tables import sign_test
    >>> test = sign_test([0.02, 0.03, 0.01, 0.05], [0.01, 0.02, 0.01, 0.04])
    >>> test.indirect, test.ties, test.k, test.p_value
    (3, 1, 3, 0.3125)
    """
    pairs = list(zip(direct, indirect, strict=True))
    wins = sum(i < d for d, i in pairs)
    ties = sum(i == d for d, i in pairs)
    k, n = wins + ties // 2, len(pairs)
    p_value = sum(math.comb(n, j) for j in range(k, n + 1)) / 2**n
    return SignTest(direct=n - wins - ties, indirect=wins, ties=ties, k=k, p_value=p_value)


def nearer(experiments: Sequence[Experiment], area: str, one: str, other: str) -> tuple[Mean, int]:
    """How much larger the error (b) of one column is than another's, and in how many experiments smaller."""
    gaps = [
        Mean.of(np.abs(experiment.errors(area, one, "b")) - np.abs(experiment.errors(area, other, "b")))
        for experiment in experiments
    ]
    return Mean.over(gaps), sum(gap.value < 0 for gap in gaps)


def compared(experiments: Sequence[Experiment], by: str, truth: str = "a") -> SignTest:
    """The sign test over experiments, mean errors of the AUC rounded as in the paper's table."""
    direct, indirect = (
        [round(one.error("auc", way + by, truth).value, 3) for one in experiments] for way in "DI"
    )
    return sign_test(direct, indirect)


@dataclass(frozen=True, kw_only=True)
class Summary:
    """Mean errors over data sets, by column: the paper's, or ours against one of the truths."""

    purity: float
    who: str
    means: dict[str, Mean]


def paper_name(experiments: Sequence[Experiment]) -> str:
    """What the paper's figures are called beside these: they are of its own family of models."""
    same = all(one.block == PAPER_BLOCK for one in experiments)
    return "paper" if same else f"paper ({PAPER_BLOCK})"


def summary(area: str, experiments: Sequence[Experiment], paper: Reported) -> list[Summary]:
    """The paper's mean errors and ours over the same data sets, by purity."""
    lines = []
    paper_model = paper_name(experiments)
    for purity in dict.fromkeys(one.purity for one in experiments):
        here = [one for one in experiments if one.purity == purity]
        there = [paper[one.data, purity] for one in here if (one.data, purity) in paper]
        theirs = {name: Mean.of(np.array([row[name.lower()] for row in there])).value for name in PAPER[area]}
        means = {name: Mean(value=theirs.get(name, math.nan), error=math.nan) for name in ESTIMATES[area]}
        lines.append(Summary(purity=purity, who=paper_model, means=means))
        for truth in TRUTHS:
            means = {
                name: Mean.over(one.error(area, name, truth) for one in here) for name in ESTIMATES[area]
            }
            lines.append(Summary(purity=purity, who=f"ours ({truth})", means=means))
    return lines


def summary_table(
    area: str, experiments: Sequence[Experiment], paper: Reported
) -> tuple[list[str], list[list[Any]]]:
    """Columns and rows of the mean errors, for a CSV file."""
    names = list(ESTIMATES[area])
    columns = [
        "block",
        "area",
        "rho",
        "who",
        *(f"{plain(name)}{end}" for name in names for end in ("", "_se")),
    ]
    rows = [
        [
            block,
            area,
            line.purity,
            line.who,
            *(x for mean in line.means.values() for x in (mean.value, mean.error)),
        ]
        for block in dict.fromkeys(one.block for one in experiments)
        for line in summary(area, [one for one in experiments if one.block == block], paper)
    ]
    return columns, rows


def repeats_table(experiments: Sequence[Experiment]) -> tuple[list[str], list[list[Any]]]:
    """Columns and rows of every repeat."""
    names = list(dict.fromkeys(name for one in experiments for repeat in one.repeats for name in repeat))
    columns = ["block", "data", "complete", "purity", "repeat", *names]
    rows = [
        [
            one.block,
            one.data,
            str(one.complete),
            one.purity,
            number,
            *(repeat.get(name) for name in names),
        ]
        for one in experiments
        for number, repeat in enumerate(one.repeats)
    ]
    return columns, rows


def means_table(
    area: str, experiments: Sequence[Experiment], paper: Reported
) -> tuple[list[str], list[list[Any]]]:
    """Columns and rows of the paper's table, its figures beside ours, with standard errors."""
    reported = [area, f"{area}_pu", "e", *(name.lower() for name in PAPER[area])]
    readers: dict[str, Callable[[Experiment], Mean]] = {
        area: lambda one: one.mean(area),
        f"hidden_{area}": lambda one: one.mean(f"hidden_{area}"),
        f"{area}_pu": lambda one: one.mean(f"{area}_pu"),
        "e": lambda one: Mean.of(one.gap_errors()),
        "e_auto": lambda one: Mean.of(one.gap_errors("A")),
    }
    for truth in TRUTHS:
        for name in ESTIMATES[area]:
            readers[f"{plain(name)}_{truth}"] = partial(Experiment.error, area=area, column=name, truth=truth)
    columns = ["block", "data", "complete", "alpha", "rho", "d", "n_positive", "n", "n_repeats"]
    columns += [f"paper_{name}" for name in reported]
    columns += [one for name in readers for one in (f"ours_{name}", f"ours_{name}_se")]
    rows = []
    for one in experiments:
        line: list[Any] = [one.block, one.data, str(one.complete), one.mean("alpha").value, one.purity]
        line += [one.d, one.n_positive, one.n, len(one.repeats)]
        there = paper.get((one.data, one.purity), {})
        line += [there.get(name) for name in reported]
        for read in readers.values():
            mean = read(one)
            line += [mean.value, mean.error]
        rows.append(line)
    return columns, rows


def plain(name: str) -> str:
    """The name of a column in ASCII, small."""
    return name.lower().replace("₁", "_clean")


# --- the command --------------------------------------------------------------------------------------


def summary_tables(experiments: Sequence[Experiment]) -> list[SummaryTable]:
    """What the command shows of a run: means over the complete data sets."""
    complete = [one for one in experiments if one.complete]
    tables: list[SummaryTable] = []
    for block in dict.fromkeys(one.block for one in experiments):
        for area, title in AREAS.items():
            lines = summary(area, [one for one in complete if one.block == block], reported(f"jain_{area}"))
            tables.append(
                SummaryTable(
                    title=f"{block}, {title}",
                    legend=() if tables else LEGEND,
                    header=("ρ", "", *SHOWN[area]),
                    labels=[(line.purity, line.who) for line in lines],
                    numbers=[[line.means[name].value for name in SHOWN[area]] for line in lines],
                )
            )
    return tables
