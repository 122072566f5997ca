"""Samples of arrays, made without the package's own way of sorting them."""

from __future__ import annotations

import numpy as np

from halftruth.prior.samples import Samples


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
