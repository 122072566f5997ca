"""Files of scores and partial labels, made from real data sets whose full labels say what is true."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


@dataclass(frozen=True)
class StoryFile:
    """What a user holds, ``frame``, and the class of every row, which no command is ever shown."""

    frame: pd.DataFrame
    y: NDArray[np.bool_]

    def write(self, path: Path) -> str:
        """As Parquet or CSV, by the name; the path as an argument of the command."""
        if path.suffix == ".parquet":
            self.frame.to_parquet(path, index=False)
        else:
            self.frame.to_csv(path, index=False)
        return str(path)

    def rows(self, column: str, value: Any) -> StoryFile:
        """The rows of one group."""
        those = (self.frame[column] == value).to_numpy()
        return StoryFile(self.frame[those], self.y[those])

    @property
    def prior(self) -> float:
        return float(self.y.mean())

    @property
    def auc(self) -> float:
        """Against the full labels, by scikit-learn."""
        return float(roc_auc_score(self.y, self.frame["score"]))


def arrays(data_dir: Path, name: str) -> dict[str, NDArray[Any]]:
    """All arrays of one data set."""
    with np.load(data_dir / f"{name}.npz", allow_pickle=False) as file:
        return dict(file)


def classifier() -> Any:
    return make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=500))


def held_out_scores(X: NDArray[Any], y: NDArray[Any]) -> NDArray[np.float64]:
    """Probabilities for every row by a model trained on other rows, in shuffled folds."""
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    score = cross_val_predict(classifier(), X.astype(float), y, cv=folds, method="predict_proba")[:, 1]
    return np.round(score, 5)


def known_at_random(y: NDArray[Any], share: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """1 for a random share of the positives, else empty (SCAR)."""
    return np.where(y.astype(bool) & (rng.random(len(y)) < share), 1.0, np.nan)


def found_by_score(
    y: NDArray[Any], score: NDArray[np.float64], share: float, k: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """1 for a share of the positives, drawn in proportion to exp(k x), x the standardized log odds."""
    odds = np.log(score / (1 - score))
    x = (odds - odds.mean()) / odds.std()
    positives = np.flatnonzero(y)
    chance = np.exp(k * x[positives])
    label = np.full(len(y), np.nan)
    label[rng.choice(positives, round(share * len(positives)), replace=False, p=chance / chance.sum())] = 1
    return label


def fold_numbers(splits: Iterable[tuple[Any, NDArray[np.intp]]], n: int) -> NDArray[np.intp]:
    """Which fold scored each row, from 1."""
    fold = np.zeros(n, dtype=np.intp)
    for number, (_, scored) in enumerate(splits, start=1):
        fold[scored] = number
    return fold


def handwritten_digits(data_dir: Path, *, sorted_by_class: bool) -> tuple[NDArray[Any], StoryFile]:
    """Pen strokes, odd digits against even ones: features, and out-of-fold scores of unshuffled folds."""
    data, rng = arrays(data_dir, "pendigits"), np.random.default_rng(1)
    chosen = rng.permutation(len(data["label"]))[:3000]
    X, odd = data["X"][chosen].astype(float), data["label"][chosen] % 2 == 1
    order = np.argsort(~odd, kind="stable") if sorted_by_class else np.arange(len(odd))
    X, odd = X[order], odd[order]
    label = known_at_random(odd, 0.3, rng)
    known, folds = np.nan_to_num(label).astype(int), StratifiedKFold(5)
    score = cross_val_predict(classifier(), X, known, cv=folds, method="predict_proba")[:, 1]
    columns = {"score": score, "label": label, "fold": fold_numbers(folds.split(X, known), len(odd))}
    return X, StoryFile(pd.DataFrame(columns), odd)


def bank_calls(data_dir: Path, month_sizes: dict[str, int], seed: int = 0) -> StoryFile:
    """Calls of a bank, positive where the customer subscribed, with their month; no label yet."""
    data, rng = arrays(data_dir, "bank"), np.random.default_rng(seed)
    columns = [i for i, name in enumerate(data["names"]) if name.startswith("month_")]
    month = np.array([name.removeprefix("month_") for name in data["names"][columns]])
    month = month[data["X"][:, columns].argmax(axis=1)]
    drawn = [rng.permutation(np.flatnonzero(month == name))[:n] for name, n in month_sizes.items()]
    chosen = np.sort(np.concatenate(drawn))
    y = data["y"][chosen] == 1
    score = held_out_scores(data["X"][chosen], y)
    return StoryFile(pd.DataFrame({"score": score, "month": month[chosen]}), y)


@dataclass(frozen=True)
class FoundCases(StoryFile):
    """Rows with the scores of a new model, and labels that an old model's scores found."""

    gamma: float
    """The true Γ, along the new score."""


def found_by_the_old_model(data_dir: Path, name: str, k: float, share: float = 1 / 3) -> FoundCases:
    """A real data set; cases became known in proportion to exp(k x), x the log odds of another model."""
    data, rng = arrays(data_dir, name), np.random.default_rng(0)
    chosen = rng.permutation(len(data["y"]))[:8000]
    X, y = data["X"][chosen].astype(float), data["y"][chosen] == 1
    folds, how = StratifiedKFold(3, shuffle=True, random_state=1), {"method": "predict_proba"}
    old = cross_val_predict(classifier(), X[:, ::2], y, cv=folds, **how)[:, 1]  # saw half of the features
    trees = HistGradientBoostingClassifier(max_iter=60, random_state=0)
    new = np.round(cross_val_predict(trees, X, y, cv=folds, **how)[:, 1], 5)

    def found(rng: np.random.Generator) -> NDArray[np.float64]:
        return found_by_score(y, old, share, k, rng)

    frame = pd.DataFrame({"score": new, "label": found(np.random.default_rng(0))})
    return FoundCases(frame, y, true_gamma(y, new, found))


def true_gamma(
    y: NDArray[Any], score: NDArray[np.float64], found: Callable[[np.random.Generator], NDArray[np.float64]]
) -> float:
    """The largest of w and 1/w, w = f₁/f_known, by twentieths of the positives; of many draws of the law."""
    positives = y.astype(bool)
    edges = np.quantile(score[positives], np.linspace(0, 1, 21)[1:-1])
    place = np.searchsorted(edges, score, side="right")
    known = [np.bincount(place[found(np.random.default_rng(i)) == 1], minlength=20) for i in range(200)]
    every, of_known = np.bincount(place[positives], minlength=20), np.sum(known, axis=0)
    w = (every / every.sum()) / (of_known / of_known.sum())
    return float(max(w.max(), 1 / w.min()))


def labeled_as(file: StoryFile, label: NDArray[np.float64]) -> StoryFile:
    """The same rows with a column of labels."""
    return StoryFile(file.frame.assign(label=label), file.y)


def wine_cellars(data_dir: Path) -> StoryFile:
    """Wines of quality 6 and above at two sites, red and white; two positives in five known at each."""
    data, rng = arrays(data_dir, "wine"), np.random.default_rng(1)
    y = data["y"] == 1
    site = np.where(data["white"] == 1, "white", "red")
    columns = {"score": held_out_scores(data["X"], y), "label": known_at_random(y, 0.4, rng), "site": site}
    return StoryFile(pd.DataFrame(columns), y)


def vehicle_sensors(data_dir: Path, share_known: float) -> StoryFile:
    """Published decision values of a classifier of vehicles."""
    data, rng = arrays(data_dir, "claesen_rankings"), np.random.default_rng(0)
    chosen = rng.permutation(len(data["sensit_labels"]))[:4000]
    y = data["sensit_labels"][chosen] == 1
    label = known_at_random(y, share_known, rng)
    return StoryFile(pd.DataFrame({"score": data["sensit_decision_values"][chosen], "label": label}), y)


def census_incomes(data_dir: Path, *, right: int, wrong: int) -> StoryFile:
    """High incomes; of the known positives ``right`` are positive and ``wrong`` are random negatives."""
    data, rng = arrays(data_dir, "adult"), np.random.default_rng(0)
    chosen = rng.permutation(len(data["y"]))[:5000]
    y = data["y"][chosen] == 1
    label = np.full(len(y), np.nan)
    label[rng.choice(np.flatnonzero(y), right, replace=False)] = 1
    label[rng.choice(np.flatnonzero(~y), wrong, replace=False)] = 1
    return StoryFile(pd.DataFrame({"score": held_out_scores(data["X"][chosen], y), "label": label}), y)


@dataclass(frozen=True)
class Votes:
    """Few votes on each picture, and ``q``, the share among all people who were asked."""

    frame: pd.DataFrame
    q: NDArray[np.float64]


def cat_or_dog_votes(data_dir: Path, ballots: int) -> Votes:
    """Votes for "cat" on pictures of cats and dogs, and a network's score."""
    people, network = arrays(data_dir, "cifar10h"), arrays(data_dir, "netcal_lenet-5-cifar-10")
    cat, dog = (people["counts"][:, index].astype(int) for index in (3, 5))
    chosen = np.isin(people["label"], (3, 5)) & (cat + dog > 0)
    q = cat[chosen] / (cat + dog)[chosen]
    probs = network["probs"][chosen].astype(float)
    yes = np.random.default_rng(0).binomial(ballots, q)
    columns = {"yes": yes, "asked": ballots, "score": probs[:, 3] / (probs[:, 3] + probs[:, 5])}
    return Votes(pd.DataFrame(columns), q)
