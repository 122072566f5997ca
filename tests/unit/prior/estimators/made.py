"""Samples of arrays, made without the package's own way of sorting them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from halftruth.prior._samples import Samples


def samples(positive, unlabeled, negative=None) -> Samples:
    """Counts at the distinct scores of all."""
    parts = [np.asarray(x, dtype=float) for x in (positive, unlabeled, negative) if x is not None]
    score, at = np.unique(np.concatenate(parts), return_inverse=True)
    cuts = np.cumsum([len(part) for part in parts])[:-1]
    counts = [np.bincount(part, minlength=len(score)).astype(float) for part in np.split(at, cuts)]
    return Samples(
        score=score,
        positive=counts[0],
        unlabeled=counts[1],
        negative=counts[2] if negative is not None else None,
        n_positive=float(len(parts[0])),
        n_unlabeled=float(len(parts[1])),
        n_negative=0.0 if negative is None else float(len(parts[2])),
    )


def assert_only_order_counts(fit, s: Samples) -> None:
    """Neither the scale of scores nor of masses matters to a fit, nor scores that hold no row."""
    assert fit(replace(s, score=np.exp(s.score))).value == fit(s).value
    padded = {
        name: np.insert(getattr(s, name), [0, 700, 2_300], 0.0) for name in ("score", "positive", "unlabeled")
    }
    empty = Samples(n_positive=s.n_positive, n_unlabeled=s.n_unlabeled, **padded)
    assert fit(empty).value == pytest.approx(fit(s).value, rel=1e-9)
    scaled = replace(s, positive=0.3 * s.positive, unlabeled=7 * s.unlabeled)
    assert fit(scaled).value == pytest.approx(fit(s).value, rel=1e-9)
