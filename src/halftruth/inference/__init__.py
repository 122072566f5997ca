"""Uncertainty: resampling as the data came, and what the prior's own uncertainty adds."""
