"""Bounds where others fail: a band that crashed, and a lookup of every curve point in every rank."""

from __future__ import annotations

import numpy as np
import pytest

import halftruth as ht


def normals(n_known: int, n_unlabeled: int, prior: float = 0.3) -> ht.PositiveUnlabeled:
    """True area .921: N(2, 1) against N(0, 1)."""
    rng = np.random.default_rng(1)
    latent = round(prior * n_unlabeled)
    unlabeled = np.append(rng.normal(2, 1, latent), rng.normal(0, 1, n_unlabeled - latent))
    return ht.PositiveUnlabeled(rng.normal(2, 1, n_known), unlabeled, prior=prior)


@pytest.mark.parametrize("band", ["dkw", "claesen-dkw"])
@pytest.mark.parametrize("n_known", [1, 2, 50, 2000])
def test_the_dkw_band_works(band: str, n_known: int) -> None:
    evidence = normals(n_known, 20_000)
    for of in ("roc", "pr"):
        found = ht.bounds(evidence, of, band=band)
        assert 0 <= found.area[0] < found.area[1] <= 1
    if n_known == 2000:
        low, high = ht.bounds(evidence, "roc", band=band).area
        assert low < 0.921 < high
        assert high - low < 0.1


@pytest.mark.parametrize(
    "band", ["bootstrap", "dkw", "exact", "claesen-bootstrap", "claesen-dkw", "claesen-exact"]
)
def test_a_million_rows_are_done_in_a_call(band: str) -> None:
    """A lookup of each of a million points among a million ranks would never end."""
    found = ht.bounds(normals(100_000, 900_000), "roc", band=band)
    assert len(found.upper.tpr) == 1_000_001
    low, high = found.area
    assert low < 0.921 < high
    assert high - low < 0.02
