"""Bounds that are proved: formulas by another way, limits, brute force."""
