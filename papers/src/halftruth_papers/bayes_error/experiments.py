"""What is measured for each part of the Bayes error paper, as results that a store keeps."""

from __future__ import annotations

from typing import Any

import numpy as np

from halftruth.calibration.calibrators import Calibrator
from halftruth.evidence import Labeled, PositiveConfidence, SoftLabeled
from halftruth.limits._bayes_error import bayes_error
from halftruth.limits._too_good import too_good_to_be_true
from halftruth.results._estimate import Estimate
from halftruth.simulate._draws import Draw
from halftruth_papers.bayes_error import models
from halftruth_papers.bayes_error.gaussian_pair import GaussianPair
from halftruth_papers.bayes_error.noisy_labels import Truncation, noisy_labels, noisy_plug_in
from halftruth_papers.bayes_error.settings import (
    BER,
    CLEAN,
    CODE_NOISY,
    CODE_SIGNED,
    DRAWINGS,
    KINDS,
    LEVEL,
    NOISE,
    NOISY,
    PCONF,
    PRIOR,
    SIGNED,
    Plan,
    Task,
)
from halftruth_papers.bayes_error.sources import Classes, Reviews, Votes

Cell = dict[str, Any]
Seeds = tuple[list[int], list[int], list[int]]
"""Of the samples, of the training, and of the rows that judge."""
TRUNCATIONS: dict[Truncation, tuple[str, str]] = {
    "paper": (NOISY, SIGNED),
    "authors": (CODE_NOISY, CODE_SIGNED),
}
"""Of the noise, and the estimators from labels with it, without and with signs."""


# --- Table 1 ------------------------------------------------------------------------------------------


def table(votes: Votes, task: Task) -> Cell:
    """A row of Table 1, and positive confidences with intervals and a prior of their own.

    The paper's intervals are Student's.
    """
    share = votes.share(task.positive)
    positive = np.isin(votes.label, task.positive)
    r = share[positive]
    relative = bayes_error(PositiveConfidence(r), confidence_level=LEVEL, method="t")
    # The printed intervals are those of the mean before it is multiplied by the prior.
    value, side = PRIOR * relative.value, relative.high - relative.value
    prior = float(positive.mean())
    return {
        "n": len(share),
        "pn": _ends(bayes_error(SoftLabeled(share), confidence_level=LEVEL, method="t")),
        "pconf": [value, value - side, value + side],
        "scaled": _ends(bayes_error(PositiveConfidence(r, prior=PRIOR), confidence_level=LEVEL, method="t")),
        "prior": prior,
        "own": _ends(bayes_error(PositiveConfidence(r, prior=prior), confidence_level=LEVEL, method="t")),
        "zeros": int(np.sum(r == 0)),
    }


def from_votes(votes: Votes, task: Task) -> Cell:
    """What the votes say of the Bayes error, as votes: each share is of some fifty people."""
    ballots = votes.counts.sum(axis=1)
    estimate = bayes_error(
        SoftLabeled.from_votes(votes.for_classes(task.positive), ballots), confidence_level=LEVEL
    )
    assert estimate.identified is not None  # of votes it always is
    return {
        "ballots": [int(ballots.min()), int(ballots.max())],
        "plug_in": estimate.naive,
        "value": _ends(estimate),
        "identified": list(estimate.identified),
    }


def all_classes(votes: Votes) -> Cell:
    """1 − E max over the ten classes."""
    share = votes.counts / votes.counts.sum(axis=1, keepdims=True)
    estimate = bayes_error(SoftLabeled(share), confidence_level=LEVEL)
    return {"n": len(share), "value": _ends(estimate)}


# --- Figure 4 -----------------------------------------------------------------------------------------


def judged(votes: Votes, predicted: Classes, task: Task, title: str, seed: list[int]) -> Cell:
    """A network's errors in one task, by the published labels and by labels drawn from the votes."""
    share = votes.share(task.positive)
    guess = np.isin(predicted, task.positive)
    wrong = guess != np.isin(votes.label, task.positive)
    soft = SoftLabeled(share)
    verdict = too_good_to_be_true(
        float(wrong.mean()), len(wrong), soft, predictions=guess.astype(int), confidence_level=LEVEL
    )
    assert verdict.adjusted is not None  # there are predictions
    rng = np.random.default_rng(seed)
    drawn = [float(np.mean(guess != (rng.random(len(share)) < share))) for _ in range(DRAWINGS)]
    return {
        "network": title,
        "n": len(wrong),
        "error": verdict.test_error,
        "bayes": _ends(verdict.bayes_error),
        "p_value": verdict.p_value,
        "too_good": verdict.too_good,
        "drawn": drawn,
        "expected": _ends(verdict.adjusted),
    }


# --- Figures 1 to 3 and 6 -----------------------------------------------------------------------------


def about(pair: GaussianPair, many: int, seed: list[int]) -> Cell:
    """The exact Bayes error of a setup, and what the mean of noisy labels tends to."""
    clean = pair.draw(many, np.random.default_rng(seed)).posterior
    least = np.minimum(clean, 1 - clean)
    # The exact Bayes error less the mean loss: of both means only the noise of their difference is left.
    lost = {how: least - noisy_plug_in(clean, NOISE, truncation=how) for how in TRUNCATIONS}
    return {
        "truth": pair.bayes_error,
        "dim": pair.dim,
        "limits": {
            plain: pair.bayes_error - float(lost[how].mean()) for how, (plain, _) in TRUNCATIONS.items()
        },
        "errors": {plain: float(lost[how].std() / np.sqrt(many)) for how, (plain, _) in TRUNCATIONS.items()},
    }


def drawn(pair: GaussianPair, n: int, trials: int, seed: list[int]) -> list[Draw]:
    """So many rows of each class, once for each trial."""
    return [pair.draw_per_class(n, n, rng) for rng in np.random.default_rng(seed).spawn(trials)]


def direct(pair: GaussianPair, n: int, trials: int, seed: list[int]) -> Cell:
    """What the labels of a sample say by themselves: clean, noisy, noisy with signs, positives alone."""
    values: dict[str, list[float]] = {}
    for draw, rng in zip(drawn(pair, n, trials, seed), _noise(seed).spawn(trials), strict=True):
        for name, value in _estimates(draw, rng).items():
            values.setdefault(name, []).append(value)
    return {"n": n, "values": values}


def _estimates(draw: Draw, rng: np.random.Generator) -> dict[str, float]:
    clean, sign = draw.posterior, draw.posterior >= 0.5
    out = {
        CLEAN: bayes_error(SoftLabeled(clean)).value,
        PCONF: bayes_error(PositiveConfidence(clean[draw.y == 1], prior=PRIOR)).value,
    }
    for how, (plain, signed) in TRUNCATIONS.items():
        noisy = SoftLabeled(noisy_labels(clean, NOISE, rng, truncation=how))
        out[plain] = bayes_error(noisy, labels="noisy").value
        out[signed] = bayes_error(noisy, labels="noisy", sign=sign).value
    return out


def learned(
    pair: GaussianPair, model: str, n: int, plan: Plan, seeds: Seeds, batch: int = models.BATCH
) -> Cell:
    """What classifiers say that learned from the same samples, their hard labels or their soft ones."""
    seed, train_seed, judge = seeds
    rng = np.random.default_rng(train_seed)
    draws = drawn(pair, n, plan.trials, seed)
    x = np.stack([draw.x for draw in draws]).astype(np.float32)
    labels = np.stack([np.stack([draw.y, draw.posterior]) for draw in draws]).astype(np.float32)
    hidden = models.HIDDEN if model == "mlp" else None
    start = models.first_models(labels.shape[:2], pair.dim, hidden, rng)
    trained = models.train(x, labels, start, rng, epochs=plan.epochs, batch=batch)
    test = pair.draw(plan.test_rows, np.random.default_rng(judge))
    chance = models.probabilities(trained, test.x[None].astype(np.float32))
    excess = models.excess_error(chance, test.posterior)
    believed = np.minimum(chance, 1 - chance).mean(axis=-1)
    values: dict[str, list[float]] = {}
    for k, kind in enumerate(KINDS):
        values[kind] = (pair.bayes_error + excess[:, k]).tolist()
        values[kind + BER] = believed[:, k].tolist()
    return {"n": n, "values": values}


# --- review scores ------------------------------------------------------------------------------------


def acceptance(reviews: Reviews, year: int) -> Cell:
    """What a year's mean review scores say of acceptance, by a fit to the same rows and by fits to others."""
    rows = reviews.year == year
    score, accepted = reviews.score[rows], reviews.accepted[rows]
    evidence = Labeled(accepted, score)
    by_score = Calibrator("platt", scale="score")
    chance = by_score.fit(evidence).predict(score)
    held_out = bayes_error(evidence, calibrator=by_score, confidence_level=LEVEL)
    return {
        "n": len(score),
        "accepted": float(accepted.mean()),
        "inside": _ends(bayes_error(SoftLabeled(chance), confidence_level=LEVEL)),
        "counted": float(np.mean((chance >= 0.5) != accepted)),
        "held_out": _ends(held_out),
        "notes": list(held_out.notes),
    }


def _ends(found: Estimate) -> list[float]:
    return [found.value, found.low, found.high]


def _noise(seed: list[int]) -> np.random.Generator:
    """For the noise on the labels of the samples of a seed."""
    return np.random.default_rng([*seed, 1])
