"""Reviewed cases: every row has the label p̂ + R (y − p̂)/e, written out in fractions, row by row.

Areas under precision are sums over pairs of rows, from which what a row would say of itself is left out: Σ over
rows i, j with s_j ≥ s_i of w_i w_j v_i v_j / μ[s ≥ s_i], and w_i² v_i in the place of w_i² v_i² where i is j.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import halftruth as ht
from halftruth._registry import REGISTRY

from .agreement import assert_same
from .references import REFERENCES
from .rows import Row, Rows, over, totals
from .test_positive_unlabeled_by_definition import assert_metric_is_that_of

ONE = Fraction(1)


@dataclass(frozen=True, eq=False)
class Audit:
    """Rows, what was said of those that were reviewed (None: nobody looked), chances, a guess and a judge."""

    name: str
    score: list[float]
    said: list[float | None]
    chance: list[float]
    weight: list[float] | None = None
    known: list[bool] | None = None
    guess: float = 0.0
    judge: tuple[float, float] = (1.0, 1.0)

    @property
    def evidence(self) -> ht.Reviewed:
        return ht.Reviewed(
            self.score,
            self.said,
            self.chance,
            sample_weight=self.weight,
            known_positive=self.known,
            sensitivity=self.judge[0],
            specificity=self.judge[1],
            model=lambda score: np.full(len(score), self.guess),
        )

    def labels(self) -> list[Fraction]:
        """The pseudo-label of each row."""
        p, (a, b) = Fraction(self.guess), map(Fraction, self.judge)
        out = []
        for i, (said, chance) in enumerate(zip(self.said, self.chance, strict=True)):
            if self.known is not None and self.known[i]:
                out.append(ONE)
            elif said is None:
                out.append(p)
            else:
                y = (Fraction(said) - 1 + b) / (a + b - 1)
                out.append(p + (y - p) / Fraction(chance))
        return out

    def rows(self) -> Rows:
        weight = [1.0] * len(self.score) if self.weight is None else self.weight
        every = zip(self.score, weight, self.labels(), strict=True)
        return [Row(Fraction(s), Fraction(w), Fraction(w) * v) for s, w, v in every]


def draw(seed: int, weighted: bool, what: str) -> Audit:
    """8 to 16 rows on a grid of eighths, so that many tie; chances are short fractions."""
    rng = np.random.default_rng([seed, weighted, len(what)])
    n = int(rng.integers(8, 17))
    y = rng.random(n) < 0.5
    y[:2] = True, False
    score = (np.clip(np.round(8 * (0.5 * rng.random(n) + 0.4 * y)), 0, 8) / 8).tolist()
    chance = rng.integers(3, 16, n) / 16
    looked = rng.random(n) < chance
    looked[:2] = True
    known = y & ~looked if what == "known" else None
    said = [float(label) if seen else None for label, seen in zip(y, looked, strict=True)]
    return Audit(
        f"{what}, {'weights' if weighted else 'no weights'}, seed {seed}",
        score,
        said,
        chance.tolist(),
        rng.integers(1, 5, n).astype(float).tolist() if weighted else None,
        None if known is None else known.tolist(),
        guess={"plain": 0.0, "guess": 0.375}.get(what, 0.25),
        judge=(0.875, 0.8125) if what == "judge" else (1.0, 1.0),
    )


CASES = [
    draw(seed, weighted, what)
    for seed, weighted, what in product(range(3), (False, True), ("plain", "guess", "judge", "known"))
]
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
OF_PAIRS = ("average_precision", "pr_auc")


@each_case
def test_every_metric_of_reviewed_cases(case: Audit) -> None:
    rows, thresholds = case.rows(), sorted({*case.score, 0.55, 1.5})
    for name in REFERENCES:
        if name not in OF_PAIRS:
            assert_metric_is_that_of(rows, case.evidence, name, thresholds)


def precision_area(rows: Rows, counts: list[Fraction]) -> Fraction | float:
    """By pairs; ``counts`` are the numbers of rows that each row is."""
    pos, area = totals(rows)[1], Fraction()
    for i, row in enumerate(rows):
        above = totals([other for other in rows if other.score >= row.score])[0]
        for j, other in enumerate(rows):
            if other.score >= row.score:
                area += row.pos * other.pos / above
            if i == j and counts[i]:  # its own label, not the square of what it stands for
                label = row.pos / row.mass
                area += row.mass * (row.mass / counts[i]) * (label - label**2) / above
    return over(area, pos)


@pytest.mark.parametrize("case", [c for c in CASES if c.judge == (1, 1)], ids=lambda case: case.name)
def test_average_precision_leaves_out_what_a_row_says_of_itself(case: Audit) -> None:
    rows = case.rows()
    looked = [said is not None for said in case.said]
    counts = [row.mass if seen else Fraction() for row, seen in zip(rows, looked, strict=True)]
    assert_same(ht.average_precision(case.evidence), float(precision_area(rows, counts)), case.name)


def every_review(y: list[float], score: list[float], chance: list[float], guess: float, weight=None):
    """(chance of it, evidence) of every set of rows that may be reviewed, but the empty one."""
    for looked in product([False, True], repeat=len(y)):
        p = np.prod([c if seen else 1 - c for c, seen in zip(chance, looked, strict=True)])
        said = [label if seen else None for label, seen in zip(y, looked, strict=True)]
        if any(looked):
            yield p, Audit("", score, said, chance, weight, guess=guess).evidence


@pytest.mark.filterwarnings("ignore::halftruth._errors.EmptyClassWarning")  # some reviews find no positive
@pytest.mark.parametrize("guess", [0.0, 0.25])
@pytest.mark.parametrize("weight", [None, [0.3] * 6, [2.0, 2.0, 2.0, 2.0, 2.0, 2.0]])
def test_linear_totals_are_right_on_average_over_all_reviews(guess, weight) -> None:
    y, score = [1.0, 0.0, 1.0, 0.0, 1.0, 0.0], [0.875, 0.75, 0.75, 0.5, 0.25, 0.125]
    chance = [0.75, 0.5, 0.5, 0.25, 0.375, 0.25]
    labeled = ht.Labeled(y, score, sample_weight=weight)
    # What is divided by nothing but the law of the scores, which is known.
    linear = {
        "prevalence": ht.prevalence,
        # From the cells: precision itself is NaN where no positive was found at all.
        "precision": lambda e: (c := ht.confusion(e, 0.5)).tp / (c.tp + c.fp),
        "npv": lambda e: (c := ht.confusion(e, 0.5)).tn / (c.tn + c.fn),
        "accuracy": lambda e: ht.confusion(e, 0.5).accuracy,
        "net_benefit": lambda e: ht.net_benefit(e, 0.25),
        "brier": ht.brier,
        "log_loss": ht.log_loss,
        "risk": ht.risk,
    }
    none = float(np.prod([1 - c for c in chance]))
    # Where nobody was reviewed there is no evidence: what the guess alone would say.
    guessed = ht.SoftLabeled([guess] * 6, score, sample_weight=weight)
    for name, metric in linear.items():
        found = [p * metric(evidence) for p, evidence in every_review(y, score, chance, guess, weight)]
        assert_same(sum(found) + none * metric(guessed), metric(labeled), name)


@pytest.mark.parametrize("weight", [None, [0.3] * 5])
def test_the_area_under_precision_is_right_on_average_without_a_guess(weight) -> None:
    y, score = [1.0, 0.0, 1.0, 1.0, 0.0], [0.875, 0.75, 0.75, 0.5, 0.25]
    chance = [0.5, 0.75, 0.625, 0.375, 0.5]
    found = 0.0
    for p, evidence in every_review(y, score, chance, 0.0, weight):
        found += p * np.nan_to_num(evidence.measure().pr_area().area)
    labeled = ht.Labeled(y, score, sample_weight=weight)
    assert_same(found, float(labeled.measure().pr_area().area))


def test_all_reviewed_is_labeled_in_every_metric() -> None:
    for seed in range(4):
        rng = np.random.default_rng(seed)
        n = 60
        y, score = (rng.random(n) < 0.4).astype(float), rng.integers(0, 33, n) / 32
        for weight in (None, rng.uniform(0.5, 2.0, n)):
            labeled = ht.Labeled(y, score, sample_weight=weight)
            # An extra row whose weight is nothing was not reviewed, so that nothing is special about "all".
            more = np.append(np.ones(n) if weight is None else weight, 0.0)
            for one in (
                ht.Reviewed(score, y, 1.0, sample_weight=weight),
                ht.Reviewed(
                    np.append(score, 0.5),
                    np.append(y, np.nan),
                    np.append(np.ones(n), 0.5),
                    sample_weight=more,
                ),
            ):
                for name, metric in REGISTRY.items():
                    kwargs = dict(metric.example) | ({"threshold": 0.5} if metric.threshold else {})
                    assert_same(metric.function(one, **kwargs), metric.function(labeled, **kwargs), name)


def test_equal_chances_without_a_guess_are_the_survey_estimator() -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        n, m = 50, 20
        score, y = rng.integers(0, 9, n) / 8, rng.random(n) < 0.5
        chosen = rng.choice(n, m, replace=False)
        label = np.full(n, np.nan)
        label[chosen] = y[chosen]
        evidence = ht.Reviewed(score, label, m / n, model="none")
        # Each reviewed row stands for n/m rows.
        up = n / m
        high = score >= 0.5
        tp, positives = up * y[chosen][high[chosen]].sum(), up * y[chosen].sum()
        cells = ht.confusion(evidence, 0.5)
        assert_same(ht.prevalence(evidence), positives / n)
        assert_same(cells.precision, tp / high.sum())
        assert_same(cells.recall, tp / positives)
        assert_same(cells.fpr, (high.sum() - tp) / (n - positives))
        gap = up * np.sum(y[chosen] * (1 - 2 * score[chosen]))
        assert_same(ht.brier(evidence), (np.sum(score**2) + gap) / n)
