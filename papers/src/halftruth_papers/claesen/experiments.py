"""What is measured for each part of Claesen et al., as results that a store keeps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from halftruth._checks import Vector
from halftruth._errors import Refuted
from halftruth.evaluation._evaluate import evaluate
from halftruth.evidence import Labeled, PositiveUnlabeled
from halftruth.metrics._curves import RocCurve, roc_curve
from halftruth.prior._estimate_prior import prior_upper_bound
from halftruth.rank_bounds._bound_results import CurveBounds
from halftruth.rank_bounds._bounds import bounds
from halftruth_papers.claesen.rankings import (
    AREA,
    Ranking,
    draw,
    split,
    with_area,
)
from halftruth_papers.claesen.settings import (
    ALPHA_2,
    BANDS,
    INTERVAL,
    N_NEGATIVE,
    N_NEGATIVE_HELD,
    N_POSITIVE,
    N_UNLABELED_2,
    OURS,
    RATIOS,
    THEIRS,
)
from halftruth_papers.datasets import DatasetFile

GRID = 1001
MOST_TRAINED = 50_000
"""Rows of each class from which the model learns, where there are more."""

Cell = dict[str, Any]
Interval = list[float] | None


def covtype_scores(rows_file: DatasetFile, seed: list[int]) -> Cell:
    """Scores of 20,000 positives and as many negatives by a model of known positives and unlabeled.

    Gradient boosting, known positives against all others, on the rows that are left; 5% of the positives are
    known there as in the test set.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier

    rng = np.random.default_rng(seed)
    positive, negative = (rng.permutation(np.flatnonzero(rows_file.y == y)) for y in (True, False))
    n_test = min(20_000, len(positive) // 2, len(negative) // 2)
    positive_left, negative_left = (rows[n_test : n_test + MOST_TRAINED] for rows in (positive, negative))
    train = np.append(positive_left, negative_left)
    known = np.arange(len(train)) < round(0.05 * len(positive_left))
    model = HistGradientBoostingClassifier(random_state=0).fit(rows_file.x[train], known)
    score = [model.predict_proba(rows_file.x[rows[:n_test]])[:, 1] for rows in (positive, negative)]
    return {"positive": score[0].tolist(), "negative": score[1].tolist()}


def covtype_ranking(cell: Cell) -> Ranking:
    """5% of the positives are known; they came in random order."""
    positive, negative = np.array(cell["positive"]), np.array(cell["negative"])
    return split(positive, negative, round(0.05 * len(positive)))


def covtype_cases(ranking: Ranking) -> dict[str, float | tuple[float, float]]:
    """What is assumed of α, by its name."""
    alpha = ranking.alpha
    return {"true α": alpha, "0": 0.0, "0.8α to 1.2α": (0.8 * alpha, 1.2 * alpha)}


def truth_of(ranking: Ranking) -> Labeled:
    """All rows with their classes."""
    positive = np.append(ranking.known, ranking.latent)
    negative = np.append(ranking.negative, ranking.known_negative)
    y = np.arange(len(positive) + len(negative)) < len(positive)
    return Labeled(y, np.append(positive, negative))


def of_curve(
    evidence: PositiveUnlabeled, of: str, band: str, n_resamples: int, ranks: str | None = None
) -> CurveBounds:
    """Bounds of a ROC or precision-recall curve."""
    # A simulated ranking has exactly so many positives: its α is that of the rows, as in the paper.
    curve_bounds = bounds(evidence, of, band=band, prior_of="rows", n_resamples=n_resamples, ranks=ranks)
    assert isinstance(curve_bounds, CurveBounds)
    return curve_bounds


def covtype_bounds(ranking: Ranking, band: str, of: str, n_resamples: int) -> dict[str, CurveBounds]:
    """Bounds of a curve by what is assumed of α."""
    return {
        name: of_curve(ranking.evidence(alpha), of, band, n_resamples)
        for name, alpha in covtype_cases(ranking).items()
    }


def band_holds(found: CurveBounds, latent: Vector) -> bool:
    """Whether the realised share of the latent positives above is within the band at every threshold."""
    share = 1 - np.searchsorted(np.sort(latent), found.band.threshold, side="left") / len(latent)
    slack = 1e-9
    return bool(((found.band.low <= share + slack) & (share <= found.band.high + slack)).all())


def band_width(found: CurveBounds, ranking: Ranking) -> float:
    """Mean width of the band over the ranks of the known positives."""
    at = np.searchsorted(-found.band.threshold, -ranking.known)
    return float(np.mean((found.band.high - found.band.low)[at]))


def share_inside(found: CurveBounds, true: RocCurve) -> float:
    """The part of the true ROC, by FPR, that lies between the two curves."""
    at = np.linspace(0, 1, GRID)
    # At one FPR a curve has many TPRs where it rises: the least of the lower one, the most of the upper one.
    least = _height(found.lower, at, "left")
    most = _height(found.upper, at, "right")
    value = np.interp(at, true.fpr, true.tpr)
    return float(np.mean((least - 1e-9 <= value) & (value <= most + 1e-9)))


def _height(curve: RocCurve, at: Vector, side: Any) -> Vector:
    fpr = np.maximum.accumulate(curve.fpr)
    if side == "right":
        last = np.searchsorted(fpr, at, side="right") - 1
        return np.maximum(np.interp(at, fpr, curve.tpr), curve.tpr[last])
    first = np.minimum(np.searchsorted(fpr, at, side="left"), len(fpr) - 1)
    return np.minimum(np.interp(at, fpr, curve.tpr), curve.tpr[first])


def covtype_summary(ranking: Ranking, band: str, n_resamples: int) -> Cell:
    """Areas and what they hold, for one band."""
    roc = covtype_bounds(ranking, band, "roc", n_resamples)
    pr = covtype_bounds(ranking, band, "pr", n_resamples)
    true = roc_curve(truth_of(ranking))
    upper = prior_upper_bound(ranking.known, ranking.unlabeled)
    cases = [
        {
            "case": name,
            "roc": list(roc[name].area),
            "pr": list(pr[name].area),
            "inside": share_inside(roc[name], true),
            "refuted": float(np.max(alpha)) > upper,
        }
        for name, alpha in covtype_cases(ranking).items()
    ]
    first = next(iter(roc.values()))
    band_summary = {"holds": band_holds(first, ranking.latent), "width": band_width(first, ranking)}
    return {"band": band, "cases": cases, "upper": upper, **band_summary}


def simulated_classes(seed: list[int]) -> tuple[Vector, Vector]:
    """The one ranking of both tables, its realised AUC that of the paper; classes in random order."""
    return with_area(np.random.default_rng(seed), N_POSITIVE, N_NEGATIVE, AREA)


def table_row(seed: list[int], known: float, known_negative: float, n_resamples: int) -> Cell:
    """One row of both tables: bounds of the AUC for every α̂, theirs and ours; None where α̂ is refuted."""
    positive, negative = simulated_classes(seed)
    ranking = split(positive, negative, round(known * N_POSITIVE), round(known_negative * N_NEGATIVE))
    cases = []
    for ratio in RATIOS:
        alpha = ratio * ranking.alpha
        direct = {band: _area(ranking, alpha, band, n_resamples, "positive") for band in (THEIRS, OURS)}
        both = direct
        if known_negative:
            tighter = [direct[THEIRS], _area(ranking, alpha, THEIRS, n_resamples, "negative")]
            both = {
                THEIRS: min(
                    (pair for pair in tighter if pair), key=lambda pair: pair[1] - pair[0], default=None
                ),
                OURS: _area(ranking, alpha, OURS, n_resamples),
            }
        refuted = {
            whose: {
                band: verdict(ranking, alpha, band, n_resamples, ranks)
                for band, pair in areas.items()
                if pair is None
            }
            for whose, areas, ranks in (("direct", direct, "positive"), ("both", both, None))
        }
        cases.append({"ratio": ratio, "alpha": alpha, "direct": direct, "both": both, "refuted": refuted})
    upper = prior_upper_bound(ranking.known, ranking.unlabeled)
    sizes = {"known": known, "known_negative": known_negative, "alpha": ranking.alpha}
    return {**sizes, "truth": ranking.area(), "upper": upper, "cases": cases}


def verdict(ranking: Ranking, alpha: float, band: str, n_resamples: int, ranks: str | None) -> str:
    """Why a share is refuted: by where those lie that are not."""
    n_unlabeled = len(ranking.unlabeled)
    possible = _unless_refuted(ranking.evidence((0.0, 1 - 1 / n_unlabeled)), band, n_resamples, ranks)
    if possible is None:
        return "as every other"
    low, high = possible.alpha
    return "too small" if alpha < low else "too large" if alpha > high else "between others"


def _area(ranking: Ranking, alpha: float, band: str, n_resamples: int, ranks: str | None = None) -> Interval:
    """Bounds of the AUC from the ranks of the known of one class, or of both; None where they refute α̂."""
    curve_bounds = _unless_refuted(ranking.evidence(alpha), band, n_resamples, ranks)
    return None if curve_bounds is None else list(curve_bounds.area)


def _unless_refuted(
    evidence: PositiveUnlabeled, band: str, n_resamples: int, ranks: str | None = None
) -> CurveBounds | None:
    try:
        return of_curve(evidence, "roc", band, n_resamples, ranks)
    except Refuted:
        return None


def growing(seed: list[int], n_known: int, repeats: int, n_resamples: int) -> Cell:
    """AUC bounds of fresh rankings of Figure 2, for so many known positives."""
    out: Cell = {"n_known": n_known, THEIRS: [], OURS: [], INTERVAL: [], "truth": []}
    for rng in np.random.default_rng([*seed, n_known]).spawn(repeats):
        n_latent = round(ALPHA_2 * N_UNLABELED_2)
        ranking = draw(rng, n_known, n_latent, N_UNLABELED_2 - n_latent)
        out["truth"].append(ranking.area())
        for band in (THEIRS, OURS):
            out[band].append(_area(ranking, ranking.alpha, band, n_resamples))
        alone = evaluate(ranking.evidence(), ["roc_auc"], n_resamples=0)["roc_auc"]
        out[INTERVAL].append([alone.low, alone.high])
    return out


def coverage(seed: list[int], n_known: int, n_latent: int, runs: int, n_resamples: int) -> Cell:
    """How often each band holds the realised ranks of the latent positives, and its area the realised AUC."""
    counts = {band: {"band": 0, "area": 0, "width": 0.0, "made": 0} for band in BANDS}
    for rng in np.random.default_rng([*seed, n_known, n_latent]).spawn(runs):
        ranking = draw(rng, n_known, n_latent, N_NEGATIVE_HELD)
        table, true = ranking.evidence(), ranking.area()
        for band in BANDS:
            curve_bounds = _unless_refuted(table, band, n_resamples)
            if curve_bounds is None:  # the true share of positives refuted: the band fails
                continue
            low, high = curve_bounds.area
            counts[band]["band"] += band_holds(curve_bounds, ranking.latent)
            counts[band]["area"] += bool(low <= true <= high)
            counts[band]["width"] += band_width(curve_bounds, ranking)
            counts[band]["made"] += 1
    return {"n_known": n_known, "n_latent": n_latent, "runs": runs, "counts": counts}


def joined(cells: Iterable[Cell]) -> Cell:
    """Blocks of runs of one setting as one."""
    blocks = list(cells)
    counts = {
        band: {name: sum(block["counts"][band][name] for block in blocks) for name in sums}
        for band, sums in blocks[0]["counts"].items()
    }
    return {**blocks[0], "runs": sum(block["runs"] for block in blocks), "counts": counts}
