"""Rows by stratum, exact or as a histogram: what engines make, what merges and what is stored."""
