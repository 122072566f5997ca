"""Calibration against peers and against what the machine can do: errors, calibrators, resampled errors."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np
from common import HEAD, compared, row, seconds, section


def labeled(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores and labels of a model that is not quite calibrated."""
    rng = np.random.default_rng(0)
    score = rng.beta(0.8, 1.4, n)
    return score, (rng.random(n) < score**1.2).astype(np.int64)


def fused_histogram() -> Callable[..., Any]:
    """One loop over rows that bins and sums: about as fast as a binned error can be."""
    import numba

    @numba.njit
    def fused(score: Any, y: Any, n_bins: Any) -> Any:
        sums = np.zeros((n_bins, 3))
        for i in range(len(score)):
            b = min(int(score[i] * n_bins), n_bins - 1)
            sums[b, 0] += 1
            sums[b, 1] += score[i]
            sums[b, 2] += y[i]
        return np.abs(sums[:, 2] - sums[:, 1]).sum() / len(score)

    fused(np.ones(3), np.ones(3, np.int64), 15)
    return fused


def plain_sweep(score: np.ndarray, y: np.ndarray) -> float:
    """The sweep as one would write it: bins anew for each number of them."""
    order = np.argsort(score)
    s, y = score[order], y[order]
    best = abs(y.mean() - s.mean())
    for n_bins in range(2, len(s)):
        parts = [np.arange(a, b) for a, b in _ends(len(s), n_bins)]
        means = [y[part].mean() for part in parts]
        if any(a > b for a, b in pairwise(means)):
            return float(best)
        best = sum(len(p) * abs(y[p].mean() - s[p].mean()) for p in parts) / len(s)
    return float(best)


def _ends(n: int, n_bins: int) -> list[tuple[int, int]]:
    cuts = [n * b // n_bins for b in range(n_bins + 1)]
    return list(pairwise(cuts))


def netcal_ece(score: np.ndarray, y: np.ndarray) -> float:
    """Equal width, 15 bins."""
    from netcal.metrics import ECE

    return float(ECE(15).measure(score, y))


def relplot_smooth(score: np.ndarray, y: np.ndarray) -> float:
    """The smooth error by its authors."""
    import relplot

    return float(relplot.smECE(score, y))


def betacal_fit(score: np.ndarray, y: np.ndarray) -> Any:
    """The beta fit by its authors."""
    from betacal import BetaCalibration

    return BetaCalibration("abm").fit(score.reshape(-1, 1), y)


def sklearn_isotonic(score: np.ndarray, y: np.ndarray) -> Any:
    """The isotonic fit of scikit-learn."""
    from sklearn.isotonic import IsotonicRegression

    return IsotonicRegression(out_of_bounds="clip").fit(score, y)


def errors_and_fits(scale: float) -> None:
    """Everything from arrays, as a user calls it; the equal-width error also from evidence at hand."""
    import halftruth as ht

    fused = fused_histogram()

    def of(function: Callable[..., Any], **given: Any) -> Callable[..., Any]:
        return lambda score, y: function(ht.Labeled(y, score), **given)

    def fit(method: str) -> Callable[..., Any]:
        return lambda score, y: ht.Calibrator(method).fit(ht.Labeled(y, score))

    width = of(ht.calibration_error, n_bins=15, binning="width")
    against: list[tuple[str, Callable[..., Any], str, Callable[..., Any], str]] = [
        ("equal-width error", width, "netcal", netcal_ece, "≥ 8 × faster"),
        ("equal-mass error", of(ht.calibration_error), "np.argsort", lambda s, _: np.argsort(s), "≤ 0.6"),
        ("KS error", of(ht.ks_calibration_error), "np.argsort", lambda s, _: np.argsort(s), "≤ 0.6"),
        ("smooth error", of(ht.smooth_calibration_error), "relplot", relplot_smooth, "≥ 20 × faster"),
        ("sweep error", of(ht.sweep_calibration_error), "plain NumPy", plain_sweep, ""),
        ("beta fit", fit("beta"), "betacal", betacal_fit, "≥ 10 × faster"),
        ("isotonic fit", fit("isotonic"), "scikit-learn", sklearn_isotonic, "≥ 5 × faster"),
    ]
    for n in (int(1e6 * scale), int(1e7 * scale)):
        section(f"Calibration: {n:,} labeled scores, from arrays", *HEAD)
        one_size(*labeled(n), fused, width, against)


def one_size(score: Any, y: Any, fused: Any, width: Any, against: list[tuple[Any, ...]]) -> None:
    """All comparisons at one number of rows."""
    import halftruth as ht

    width(score, y)
    evidence = ht.Labeled(y, score)

    def at_hand() -> float:
        evidence.__dict__.pop("_measure", None)  # nothing is kept from an earlier call
        evidence.table.__dict__.pop("support", None)
        return float(ht.calibration_error(evidence, n_bins=15, binning="width"))

    best = seconds(lambda: fused(score, y, 15), 5)
    compared("equal-width error, evidence at hand / fused histogram", seconds(at_hand, 5), best, "≤ 3")
    compared("equal-width error / fused histogram", seconds(lambda: width(score, y), 5), best)
    for what, ours, peer, theirs, wanted in against:
        if peer in ("netcal", "relplot", "betacal") and find_spec(peer) is None:
            row(what, "–", f"{peer} is not installed", "", "", wanted)
        elif what != "sweep error" or len(score) < 2e6:  # that takes minutes
            ours(score, y)
            taken = seconds(partial(ours, score, y), 3)
            compared(f"{what} / {peer}", taken, seconds(partial(theirs, score, y), 1), wanted)


def resampled(scale: float) -> None:
    """What 2,000 resamples of each error cost."""
    import halftruth as ht
    from halftruth._registry import REGISTRY

    evidence = ht.simulate.logistic_model().positive_unlabeled(int(1_000 * scale), int(10_000 * scale), 0)
    names = [name for name in REGISTRY if name.endswith("calibration_error")]
    section("Calibration: intervals from 2,000 resamples, 11,000 rows", "metric", "seconds")
    for name in names:
        row(name, f"{seconds(partial(ht.evaluate, evidence, [name]), 1):.2f}")
