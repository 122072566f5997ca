"""Calibration: how far scores are from the probabilities they claim to be."""
