"""Evidence made from a labeled sample without noise: each stratum an exact mixture of the two classes.

Then every kind of evidence knows the two measures exactly, and must say what the labels say.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

import halftruth as ht

from .samples import BY_NAME, Sample, probabilities, samples, score_kinds, shares

amounts = st.sampled_from((1.0, 2.5, 7.0))


@dataclass(frozen=True, eq=False)
class Mixture:
    """Two classes (scores and their distribution), shares and amounts of the strata."""

    positive: np.ndarray
    negative: np.ndarray
    f1: np.ndarray
    f0: np.ndarray
    propensity: np.ndarray
    alpha: float
    purity: float
    n_positive: float
    n_unlabeled: float
    n_negative: float
    threshold: float

    @property
    def score(self) -> np.ndarray:
        return np.concatenate([self.positive, self.negative])

    def rows(self, of_positives: float, of_negatives: float) -> np.ndarray:
        """Weights of all rows that give the classes these amounts."""
        return np.concatenate([of_positives * self.f1, of_negatives * self.f0])

    def labeled(self, of_positives: float, of_negatives: float) -> ht.Labeled:
        y = np.repeat([1, 0], [len(self.f1), len(self.f0)])
        return ht.Labeled(y, self.score, sample_weight=self.rows(of_positives, of_negatives))

    def partial(self, what: str, population: str, *, negative: bool, known: bool) -> tuple[object, object]:
        """(partial evidence, the labels that it stands for); ``known``: whether the prior is given."""
        given = {"population": population}
        alpha, n_u = self.alpha, self.n_unlabeled
        n_p, n_n = self.n_positive, self.n_negative if negative else 0.0
        unlabeled = self.rows(n_u * alpha, n_u * (1 - alpha))
        positives = n_p + alpha * n_u
        if what == "clean":
            given |= {"positive": self.positive, "positive_weight": n_p * self.f1}
        elif what == "purity":
            known_rows = self.rows(n_p * self.purity, n_p * (1 - self.purity))
            given |= {"positive": self.score, "positive_weight": known_rows, "purity": self.purity}
            positives = self.purity * n_p + alpha * n_u
        else:
            given |= {"positive": self.positive, "positive_weight": n_p * self.f1 * self.propensity}
            given |= {"propensity": self.propensity}
            positives = n_p
            if population == "all":  # What was not labeled is left among the unlabeled.
                rest = n_p * self.f1 * (1 - self.propensity)
                unlabeled = np.concatenate([rest, n_u * (1 - alpha) * self.f0])
        if negative:
            given |= {"negative": self.negative, "negative_weight": n_n * self.f0}
        total = float(given["positive_weight"].sum() + unlabeled.sum() + n_n)
        prior = alpha if population == "unlabeled" else positives / total
        evidence = ht.PositiveUnlabeled(
            unlabeled=self.score, unlabeled_weight=unlabeled, prior=prior if known else None, **given
        )
        return evidence, self.labeled(prior, 1 - prior)


@st.composite
def mixtures(draw: st.DrawFn) -> Mixture:
    """Classes that differ clearly, so that they identify each other's shares."""
    scores = draw(score_kinds)
    parts = [draw(samples(BY_NAME["confidence"], scores=scores)) for _ in range(2)]
    f1, f0 = (_distribution(part) for part in parts)
    assume(_contrast(parts[0].score, f1, parts[1].score, f0) > 0.05)
    alpha = draw(shares)
    return Mixture(
        positive=parts[0].score,
        negative=parts[1].score,
        f1=f1,
        f0=f0,
        propensity=draw(st.lists(probabilities, min_size=len(f1), max_size=len(f1)).map(np.asarray)),
        alpha=alpha,
        purity=alpha + (1 - alpha) * draw(st.sampled_from((0.25, 0.5, 0.875))),
        n_positive=draw(amounts),
        n_unlabeled=draw(amounts),
        n_negative=draw(amounts),
        threshold=draw(st.sampled_from(np.concatenate([part.score for part in parts]).tolist())),
    )


def _distribution(sample: Sample) -> np.ndarray:
    return sample.full_weight / sample.full_weight.sum()


def _contrast(positive: np.ndarray, f1: np.ndarray, negative: np.ndarray, f0: np.ndarray) -> float:
    """The largest distance between the distribution functions."""
    return max(
        abs(f1[positive <= t].sum() - f0[negative <= t].sum()) for t in np.concatenate([positive, negative])
    )
