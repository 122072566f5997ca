"""The experiments of Jain, White and Radivojac (2017), one at a time.

A supervised model gives the truth. Then some rows are labeled, of which a share ρ (the purity, the paper's β)
is positive, up to 10,000 others are unlabeled, and a model of the same family learns labeled against
unlabeled. From its scores out of bag the areas are recovered, with the real shares and with estimated ones.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halftruth import recover
from halftruth._checks import Vector
from halftruth._errors import InputError
from halftruth.evidence import Labeled, PositiveUnlabeled
from halftruth.metrics._areas import pr_auc, roc_auc
from halftruth.metrics._curves import roc_curve
from halftruth.prior._estimate_prior import estimate_prior, estimate_prior_and_purity
from halftruth_papers.networks import bagged_scores

Bools = NDArray[np.bool_]
Cell = dict[str, float]

PURITIES = (1.0, 0.95, 0.75)
LEAF = 20
"""Rows in a leaf of the forest. Smaller leaves rank hidden positives worse: they learn which were labeled."""
LEAST_GAP = 1e-3
"""Between estimates of ρ and α: where they meet, nothing can be recovered."""


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """How much is done in one experiment."""

    n_networks: int = 100
    n_trees: int = 300
    most_unlabeled: int = 10_000
    most_rows: int | None = None
    """Of the supervised model; None for all, as in the paper."""


def generator(*names: object) -> np.random.Generator:
    """Random numbers that depend on these names alone, so that no experiment depends on another."""
    digest = hashlib.sha256("/".join(map(str, names)).encode()).digest()
    return np.random.default_rng(np.random.SeedSequence(int.from_bytes(digest, "big")))


@dataclass(frozen=True, eq=False)
class Split:
    """Rows of an experiment, the labeled ones first."""

    rows: NDArray[np.intp]
    labeled: Bools
    alpha: float
    """Share of positives among the unlabeled."""


def split(y: Bools, n_labeled: int, purity: float, most_unlabeled: int, rng: np.random.Generator) -> Split:
    """Label rows of which a share ``purity`` is positive; others are unlabeled, up to a limit."""
    n_right = round(purity * n_labeled)
    positive, negative = (rng.permutation(np.flatnonzero(y == side)) for side in (True, False))
    if len(positive) <= n_right or len(negative) <= n_labeled - n_right:
        raise InputError(
            f"{n_labeled} rows cannot be labeled with purity {purity:g}: there are {len(positive)} positives "
            f"and {len(negative)} negatives, and some of both must be left."
        )
    labeled = np.concatenate([positive[:n_right], negative[: n_labeled - n_right]])
    rest = rng.permutation(np.concatenate([positive[n_right:], negative[n_labeled - n_right :]]))
    rest = rest[:most_unlabeled]
    rows = np.concatenate([labeled, rest])
    return Split(rows, np.arange(len(rows)) < n_labeled, float(y[rest].mean()))


def network_scores(x: Vector, labels: Bools, rng: np.random.Generator, sizes: Sizes) -> Vector:
    """Out-of-bag scores of bagged networks, as in the paper."""
    return bagged_scores(x, labels, rng, n_networks=sizes.n_networks)


def forest_scores(x: Vector, labels: Bools, rng: np.random.Generator, sizes: Sizes) -> Vector:
    """Out-of-bag scores of a random forest."""
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(
        sizes.n_trees,
        min_samples_leaf=LEAF,
        class_weight="balanced_subsample",
        oob_score=True,
        random_state=int(rng.integers(2**31)),
    )
    return np.asarray(forest.fit(x.astype(np.float32), labels).oob_decision_function_[:, 1])


MODELS: dict[str, Callable[[Vector, Bools, np.random.Generator, Sizes], Vector]] = {
    "networks": network_scores,
    "forest": forest_scores,
}


@dataclass(frozen=True, eq=False)
class Experiments:
    """Of one data set with one family of models."""

    block: str
    name: str
    x: Vector
    y: Bools
    n_labeled: int
    sizes: Sizes

    def split(self, purity: float, repeat: int) -> Split:
        """The rows of one repeat, the same for every family."""
        rng = generator("split", self.name, f"{purity:g}", repeat)
        return split(self.y, self.n_labeled, purity, self.sizes.most_unlabeled, rng)

    def supervised(self, repeat: int) -> Cell:
        """Areas of a model that sees all labels.

        Precision depends on the share of positives, so that its area is that among the unlabeled of each
        experiment, α.
        """
        rng = generator("supervised", self.block, self.name, repeat)
        rows = rng.permutation(len(self.y))[: self.sizes.most_rows]
        y = self.y[rows]
        score = MODELS[self.block](self.x[rows], y, rng, self.sizes)
        cell = {"auc": float(roc_auc(Labeled(y, score)))}
        for purity in PURITIES:
            alpha = self.split(purity, repeat).alpha
            weight = np.where(y, alpha / y.mean(), (1 - alpha) / (1 - y.mean()))
            cell[f"auc_pr_{purity:g}"] = float(pr_auc(Labeled(y, score, sample_weight=weight)))
        return cell

    def unlabeled(self, purity: float, repeat: int) -> Cell:
        """Areas of a model of labeled against unlabeled: as they seem, recovered, and in truth."""
        drawn = self.split(purity, repeat)
        rng = generator("unlabeled", self.block, self.name, f"{purity:g}", repeat)
        score = MODELS[self.block](self.x[drawn.rows], drawn.labeled, rng, self.sizes)
        hidden = Labeled(self.y[drawn.rows][~drawn.labeled], score[~drawn.labeled])
        as_labels = Labeled(drawn.labeled, score)
        cell = {
            "alpha": drawn.alpha,
            "rho": purity,
            "hidden_auc": float(roc_auc(hidden)),
            "hidden_auc_pr": float(pr_auc(hidden)),
            "auc_pu": float(roc_auc(as_labels)),
            "auc_pr_pu": float(pr_auc(as_labels)),
        }
        recovery = Recovery.of(score[drawn.labeled], score[~drawn.labeled])
        cell |= _named("real", recovery.areas(drawn.alpha, purity))
        for shares, (alpha, rho) in recovery.estimates(known_clean=purity == 1).items():
            cell |= _named(shares, {"alpha": alpha, "rho": rho, **recovery.areas(alpha, rho)})
        return cell


@dataclass(frozen=True, eq=False)
class Recovery:
    """What can be recovered from scores of labeled and unlabeled rows."""

    positive: Vector
    unlabeled: Vector
    tpr_pu: Vector
    fpr_pu: Vector
    auc_pu: float

    @classmethod
    def of(cls, positive: Vector, unlabeled: Vector) -> Recovery:
        """From scores."""
        score = np.concatenate([positive, unlabeled])
        as_labels = Labeled(np.arange(len(score)) < len(positive), score)
        curve = roc_curve(as_labels)
        return cls(positive, unlabeled, curve.tpr, curve.fpr, float(roc_auc(as_labels)))

    def areas(self, alpha: float, rho: float) -> Cell:
        """With these shares: AUC directly, from Jain's curve, from the nearest possible one; AUC-PR."""
        alpha, rho = self.possible(alpha, rho)
        measure = recover.project(PositiveUnlabeled(self.positive, self.unlabeled, prior=alpha, purity=rho))
        return {
            "direct": float(recover.auc(self.auc_pu, alpha, rho, clip=True)),
            **self._indirect(alpha, rho),
            "concave": float(roc_auc(measure)),
            "pr_concave": float(pr_auc(measure)),
        }

    def _indirect(self, alpha: float, rho: float) -> Cell:
        points = self.tpr_pu, self.fpr_pu, alpha, rho
        try:
            curve, precision = recover.roc_curve(*points), recover.precision_recall_curve(*points)
        except InputError:
            # No point of the curve is possible. The paper sets what is infeasible to 1.
            return {"indirect": 1.0, "pr_indirect": 1.0}
        return {"indirect": recover.area(curve), "pr_indirect": recover.area(precision)}

    def possible(self, alpha: float, rho: float) -> tuple[float, float]:
        """Shares that something can be recovered with: no empty class, ρ above α."""
        half_a_row = 0.5 / len(self.unlabeled)
        rho = min(max(rho, half_a_row + LEAST_GAP), 1.0)
        return min(max(alpha, half_a_row), rho - LEAST_GAP), rho

    def estimates(self, *, known_clean: bool) -> dict[str, tuple[float, float]]:
        """α and ρ by method; where labels are known to be clean, also α alone."""
        shares = {}
        for method in ("alphamax", "auto"):
            # The value alone is used: as few resamples as may be.
            settings: dict[str, Any] = {"method": method, "n_resamples": 2}
            both = estimate_prior_and_purity(self.positive, self.unlabeled, **settings)
            shares[method] = (both.prior.value, both.purity.value)
            if known_clean:
                shares[f"{method}_clean"] = (
                    estimate_prior(self.positive, self.unlabeled, **settings).value,
                    1.0,
                )
        return shares


def _named(shares: str, cell: Cell) -> Cell:
    return {f"{shares}_{name}": value for name, value in cell.items()}
