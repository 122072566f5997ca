"""Hide labels not at random, estimate who got one, and write docs/propensity-estimators.md.

make propensity-study                                everything, some minutes
make propensity-study STUDY_ARGS="--draws 2"         fewer draws
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tools.prior_study.markdown import best_in_bold, number, table, wrapped
from tools.prior_study.settings import ROOT, Settings, _named_folder, say

import halftruth as ht

SETS = ("pima", "concrete", "wine", "pendigits", "mushroom", "bank", "adult", "shuttle")
MOST_ROWS = 4_000
SIZES = (1_000, 4_000, 12_000)
MIDDLE = SIZES[1]
KNOWN_SHARE = 0.3  # mean propensity of the positives, in every law
LAWS = ("random", "feature", "step", "old score")
REPLICATES, DRAWS_WITH = 40, 5  # replicates cost most, so only the first draws have them

TRUE = "true propensities"
TRUE_PI = "true propensities, π known"
SCAR = "SCAR, π known"
COLUMN, COLUMN_PI = "sar-em, the right column", "sar-em, the right column, π known"
REFERENCE = (TRUE, TRUE_PI)
# Way → its call, and whether it is told the column and the prior.
WAYS: dict[str, tuple[dict[str, Any], bool, bool]] = {
    "sar-em": ({}, False, False),
    "lbe": ({"method": "lbe"}, False, False),
    COLUMN: ({}, True, False),
    "sar-em, π known": ({}, False, True),
    "lbe, π known": ({"method": "lbe"}, False, True),
    COLUMN_PI: ({}, True, True),
}
WITHOUT_PI = (TRUE, *(way for way, (_, _, told) in WAYS.items() if not told))
WITH_PI = (TRUE_PI, SCAR, *(way for way, (_, _, told) in WAYS.items() if told))


@dataclass(frozen=True, eq=False)
class Rows:
    """Features with the old score as the last column, the truth, and the score to be judged."""

    x: np.ndarray
    positive: np.ndarray
    score: np.ndarray
    feature: int

    def columns(self, law: str) -> list[int]:
        """The column on which labelling depends."""
        return [self.x.shape[1] - 1 if law == "old score" else self.feature]

    def propensity(self, law: str) -> np.ndarray:
        """Its mean over the positives is the same in every law."""
        z = self.x[:, self.columns(law)[0]]
        z = (z - z.mean()) / z.std()
        z *= np.sign(np.corrcoef(z, self.positive)[0, 1])
        if law == "random":
            return np.full(len(z), KNOWN_SHARE)
        if law == "step":
            above = z > np.median(z[self.positive])
            share = above[self.positive].mean()
            low = KNOWN_SHARE / (1 - share + 5 * share)  # five times as likely above the median
            return np.where(above, 5 * low, low)
        level = brentq(lambda a: expit(a + z[self.positive]).mean() - KNOWN_SHARE, -20, 20)
        return np.asarray(expit(level + z))


def simulated(n: int, curved: bool, rng: np.random.Generator) -> Rows:
    """Four normal columns; the class is logistic in three of them, or in their squares as well."""
    x = rng.normal(size=(n, 4))
    z = 2 * x[:, 0] + 1.5 * x[:, 1] + x[:, 3]
    level = -1.5 + z + (0.8 * (x[:, 1] ** 2 - 1) if curved else 0)
    positive = rng.random(n) < expit(level)
    old = x[:, 0] + x[:, 1] + rng.normal(size=n)
    return Rows(np.column_stack([x, old]), positive, x @ [2, 1.5, 0, 0.3], 0)


def real(name: str, data: Path) -> Rows:
    """The old model is linear and sees every second column, the new one is trees; both cross-fitted."""
    with np.load(data / f"{name}.npz") as stored:
        x, positive = stored["X"].astype(float), stored["y"] == 1
    chosen = np.random.default_rng(0).permutation(len(x))[:MOST_ROWS]
    x, positive = x[chosen], positive[chosen]
    x = x[:, x.std(axis=0) > 0]
    linear = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    trees = HistGradientBoostingClassifier(max_iter=50, random_state=0)
    old = cross_val_predict(linear, x[:, ::2], positive, method="decision_function")
    score = cross_val_predict(trees, x, positive, method="predict_proba")[:, 1]
    feature = int(np.argmax(np.abs(np.corrcoef(x.T, positive)[-1, :-1])))
    return Rows(np.column_stack([x, old]), positive, score, feature)


Errors = dict[str, dict[str, float]]


def errors(rows: Rows, law: str, rng: np.random.Generator, replicates: int = 0) -> Errors:
    """Of each way: the mean |ê − e| of the known positives, the errors of AUC and π, coverage of e."""
    e, pi = rows.propensity(law), float(rows.positive.mean())
    known = rows.positive & (rng.random(len(e)) < e)
    truth = ht.roc_auc(ht.Labeled(rows.positive, rows.score))

    def auc(**options: Any) -> float:
        evidence = ht.PositiveUnlabeled.from_labels(known.astype(int), rows.score, unlabeled=0, **options)
        return ht.roc_auc(evidence) - truth

    found: Errors = {
        TRUE: {"auc": auc(propensity=e)},
        TRUE_PI: {"auc": auc(propensity=e, prior=pi)},
        SCAR: {"auc": auc(prior=pi), "e": float(np.abs(known.sum() / pi / len(e) - e[known]).mean())},
    }
    for way, (options, told_column, told_pi) in WAYS.items():
        columns = rows.columns(law) if told_column else None
        made = ht.estimate_propensity(
            rows.x, known, propensity_columns=columns, prior=pi if told_pi else None,
            n_replicates=replicates, rng=int(rng.integers(2**31)), **options,
        ).at(known)  # fmt: skip
        found[way] = {
            "e": float(np.abs(made.value - e[known]).mean()),
            "auc": auc(propensity=made.value, **({"prior": pi} if told_pi else {})),
            "pi": made.prior - pi,
        }
        if made.replicates is not None:
            low, high = np.quantile(made.replicates, [0.025, 0.975], axis=0)
            found[way]["held"] = float(np.mean((low <= e[known]) & (e[known] <= high)))
    return found


class Tally:
    """Errors by place (a law, a size, a set), as means over draws."""

    def __init__(self) -> None:
        self.values: dict[tuple[Any, str, str], list[float]] = defaultdict(list)

    def add(self, place: Any, found: Errors) -> None:
        """One draw."""
        for way, numbers in found.items():
            for what, value in numbers.items():
                self.values[place, way, what].append(value)

    def mean(self, place: Any, way: str, what: str) -> float | None:
        """The mean size of an error; of coverage the mean."""
        values = self.values.get((place, way, what))
        return None if not values else float(np.mean(np.abs(values)))

    def table(self, places: dict[str, Any], ways: Sequence[str], what: str) -> str:
        """Ways by places, the best in bold; the true propensities do not compete."""
        rows = {way: {name: self.mean(place, way, what) for name, place in places.items()} for way in ways}
        return best_in_bold(list(places), rows, REFERENCE)


def run_simulated(draws: int, seed: int) -> Tally:
    """Two populations, three sizes, all laws."""
    tally, settings = Tally(), Settings(seed=seed)
    for curved in (False, True):
        for n in SIZES:
            say(f"simulated: {n} rows, {'curved' if curved else 'linear'}")
            for law in LAWS if n == MIDDLE else ("feature",):
                for draw in range(draws):
                    rng = settings.rng(curved, n, law, draw)
                    replicates = REPLICATES if n == MIDDLE and not curved and draw < DRAWS_WITH else 0
                    place = (curved, n, law)
                    tally.add(place, errors(simulated(n, curved, rng), law, rng, replicates))
    return tally


def run_real(repetitions: int, seed: int, data: Path) -> Tally:
    """Labels of each set hidden by each law, anew in each repetition."""
    tally, settings = Tally(), Settings(seed=seed)
    for name in SETS:
        say(f"real: {name}")
        rows = real(name, data)
        for law in LAWS:
            for repetition in range(repetitions):
                tally.add((name, law), errors(rows, law, settings.rng(name, law, repetition)))
    return tally


def page(drawn: Tally, hidden: Tally, draws: int, repetitions: int) -> Iterator[str]:
    """The page, block by block."""
    yield INTRODUCTION
    linear = {law: (False, MIDDLE, law) for law in LAWS}
    curved = {law: (True, MIDDLE, law) for law in LAWS}
    estimates = (SCAR, *WAYS)
    yield SIMULATED.format(draws=draws, sizes=", ".join(f"{n:,}" for n in SIZES), middle=f"{MIDDLE:,}")
    yield "### Propensities: mean |ê − e| of the known positives"
    yield "Both models have the right shape:"
    yield drawn.table(linear, estimates, "e")
    yield "The class is curved, its model is not:"
    yield drawn.table(curved, estimates, "e")
    yield "### ROC AUC: mean |error|"
    yield "Right shapes, π not known (it follows as Σ 1/e ÷ n):"
    yield drawn.table(linear, WITHOUT_PI, "auc")
    yield "Right shapes, π known:"
    yield drawn.table(linear, WITH_PI, "auc")
    yield "Curved class, π not known:"
    yield drawn.table(curved, WITHOUT_PI, "auc")
    yield "Curved class, π known:"
    yield drawn.table(curved, WITH_PI, "auc")
    yield "### More rows"
    yield (
        "Mean |error| of the AUC where labelling rises with a feature, by the number of rows. Errors that do "
        "not fall are those of a model with the wrong shape."
    )
    by_size = {
        f"{shape}, {n:,}": (is_curved, n, "feature")
        for is_curved, shape in ((False, "right"), (True, "curved"))
        for n in SIZES
    }
    yield drawn.table(by_size, (*WITHOUT_PI, *WITH_PI), "auc")
    yield "### Do replicates show the error?"
    yield COVERAGE.format(middle=f"{MIDDLE:,}", replicates=REPLICATES, draws=min(draws, DRAWS_WITH))
    held = [[way, *(number(drawn.mean(place, way, "held"), 2) for place in linear.values())] for way in WAYS]
    yield table(["method", *linear], held)
    yield REAL.format(most=f"{MOST_ROWS:,}", repetitions=repetitions)
    for law in LAWS:
        yield f"### Labels by law: {law}"
        places = {name: (name, law) for name in SETS}
        yield "Mean |error| of the ROC AUC:"
        yield hidden.table(places, (*WITHOUT_PI, *WITH_PI), "auc")
        yield "Mean |ê − e| of the known positives:"
        yield hidden.table(places, estimates, "e")
    yield "### Better than SCAR?"
    yield (
        "In how many sets the mean error of the AUC is below that of SCAR, which is told π in every line. "
        "The last column is the mean |error| over all sets and laws."
    )
    yield table(["method", *LAWS, "mean error"], [_against_scar(hidden, way) for way in (SCAR, *WAYS)])


def _against_scar(hidden: Tally, way: str) -> list[str]:
    """How often a way is nearer the truth than SCAR, by law."""
    error = {
        (name, law): [hidden.mean((name, law), which, "auc") or 0.0 for which in (way, SCAR)]
        for name in SETS
        for law in LAWS
    }
    better = [sum(error[name, law][0] < error[name, law][1] for name in SETS) for law in LAWS]
    cells = ["–" if way == SCAR else f"{count} of {len(SETS)}" for count in better]
    return [way, *cells, number(float(np.mean([mine for mine, _ in error.values()])))]


INTRODUCTION = f"""# Propensity estimators compared

How well `ht.estimate_propensity` tells who gets a label, where known positives are no random sample
of the positives, and what that is worth for the ROC AUC. Written by `make propensity-study`, with
halftruth {ht.__version__} and NumPy {np.__version__}.

## What the labels say, and what they cannot

1. The chance of a label is a product: P(labeled | x) = f(x) e(x), the chance to be positive and the
   propensity, the chance that a positive is known. The data show the product only.
2. `"sar-em"` (Bekker, Robberechts and Davis 2019) splits it by shapes: e is logistic in the columns that
   you name, f is logistic in all columns, or what your classifier fits. `"lbe"` (Gong et al. 2021) takes
   both as logistic in all columns.
3. With all columns in both, the two maximize one likelihood, and class and labelling can change places in
   it. `"lbe"` takes the steeper for the class, `"sar-em"` stays near where it set out. The estimate's
   `status` is then "not identified".
4. The level of e is what the data show least: it is seen only where f nears 1. A known share of positives,
   `prior=`, sets it. Pass it to the estimate and to the evidence.
5. If positives were found by a score, put that score among the columns and name it: `propensity_columns=`.
6. Nothing here is a test of the shapes. Where you cannot defend them, say how wrong SCAR may be instead,
   and read the range."""

SIMULATED = """## Simulated populations

Four normal columns and an old score, a noisy sum of two of them. The class is logistic in three
columns ("right shapes"), or has a square besides ("curved"). Positives are known by one of four
laws, each with a mean propensity of 0.3: at *random*; logistic in a *feature* that matters for the
class; a *step*, five times as likely above the median of that feature, which no logistic model
fits; logistic in the *old score*. "The right column" is the one by which labels were given (at
random: that feature). Means over {draws} draws, of {sizes} rows; {middle} where nothing is said.
True propensities are what the best estimate could do; they do not compete for bold."""

COVERAGE = """Share of the known positives whose e lies between the 2.5% and 97.5% quantiles of {replicates}
replicates, at {middle} rows and right shapes, over {draws} draws. A step is no logistic curve, so that
replicates cannot hold it; and no replicate changes the places of class and labelling. Coverage of the AUC's
own interval was not measured here."""

REAL = """## Real data, labels hidden not at random

At most {most} rows of each set. The score judged is that of boosted trees, the old score that of a
linear model which sees every second column; both cross-fitted on the true classes. The feature is
the one that correlates most with the class. Laws as above; the estimate sees all columns and the
old score. Means over {repetitions} repetitions, in which labels are drawn anew. Here no model of
the class is right."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run both parts, write the page."""
    parser = argparse.ArgumentParser(
        prog="propensity-study", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--draws", type=int, default=5, help="of each simulated population")
    parser.add_argument("--repetitions", type=int, default=2, help="for each data set")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", type=Path, default=_named_folder(), help="default: $HALFTRUTH_DATA")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "propensity-estimators.md")
    given = parser.parse_args(arguments)
    start = time.perf_counter()
    data = Settings(data=given.data).folder_of_data()
    drawn = run_simulated(given.draws, given.seed)
    hidden = run_real(given.repetitions, given.seed, data)
    blocks = page(drawn, hidden, given.draws, given.repetitions)
    given.out.write_text(wrapped("\n\n".join(blocks)) + "\n", encoding="utf-8")
    say(f"{given.out} written, {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
