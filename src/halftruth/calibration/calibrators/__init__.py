"""Calibrators: scores into probabilities, fitted on any evidence."""

from halftruth.calibration.calibrators._calibrator import Calibrator
from halftruth.calibration.calibrators._classes import class_wise, top_label
from halftruth.calibration.calibrators._cross_fitting import cross_calibrate

__all__ = ["Calibrator", "class_wise", "cross_calibrate", "top_label"]
