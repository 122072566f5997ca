"""Claesen et al. (2015): bounds of rankings from the ranks of known positives."""
