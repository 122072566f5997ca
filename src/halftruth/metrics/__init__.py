"""Metrics: pure functions of the measure, for any evidence that identifies it."""
