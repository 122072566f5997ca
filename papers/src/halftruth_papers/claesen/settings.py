"""How much is run for Claesen et al."""

from __future__ import annotations

from dataclasses import dataclass

THEIRS, OURS = "claesen-bootstrap", "bootstrap"
INTERVAL = "evaluate"
METHODS = {THEIRS: "theirs", OURS: "ours"}
BANDS = (THEIRS, "claesen-dkw", "dkw", OURS)
"""For the table of coverage."""
RATIOS = (0.8, 1.0, 1.2)
"""Of the α that is assumed to the true one, as in the paper's tables."""
N_POSITIVE, N_NEGATIVE = 2_000, 10_000
"""Of the ranking of both tables."""
N_UNLABELED_2, ALPHA_2 = 100_000, 0.2
"""Of Figure 2."""
N_KNOWN_3, N_UNLABELED_3, ALPHA_3 = 2_000, 100_000, 0.3
"""Of Figure 3."""
N_NEGATIVE_HELD = 10_000
"""Of the table of coverage."""
KNOWN = (0.1, 0.3, 0.5, 0.7)
"""Shares of the positives that are known in Tables 1 and 2."""
KNOWN_NEGATIVE = (0.0, 0.2, 0.4, 0.6, 0.8)
SIZES = ((1_000, 19_000), (200, 2_000), (2_000, 2_000), (2_000, 200))
"""Known and latent positives of the table of coverage."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How much is done."""

    n_known: tuple[int, ...]
    """Of Figure 2."""
    repeats: int
    runs: int
    """Fresh rankings for each line of the table of coverage."""
    block: int
    """Repeats or runs that make one stored result."""
    n_resamples: int


FULL = Plan(
    n_known=(100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000),
    repeats=200,
    runs=500,
    block=20,
    n_resamples=2000,
)
QUICK = Plan(n_known=(100, 1_000, 10_000), repeats=4, runs=40, block=20, n_resamples=1000)
