"""Calibration: its errors, curves, tests and calibrators."""
