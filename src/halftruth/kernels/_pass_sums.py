"""PassSums: what one walk down the scores gives of a measure, on any engine."""

from typing import NamedTuple


class PassSums(NamedTuple):
    """What the functionals need of a measure; sums, not yet divided by anything."""

    positives: float
    negatives: float
    total: float
    roc_area: float
    """Σ (TP before + TP after)/2 · neg_mass, from the top down."""
    pr_area: float
    """Σ precision · pos_mass, without a known positive's own part; NaN where there is no population."""
    square_loss: float  # Σ (1−s)² pos_mass + s² neg_mass; NaN unless bounded, as is the next
    log_loss: float
