"""The study behind docs/prior-estimators.md: every estimator of the prior, on simulators and real data."""
