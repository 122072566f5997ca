"""Bounds on curves and metrics from the ranks of known positives (Claesen et al. 2015, made to hold)."""
