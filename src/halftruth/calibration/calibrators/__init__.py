"""Calibrators: scores into probabilities, fitted on any evidence."""

from halftruth.calibration.calibrators.calibrator import Calibrator
from halftruth.calibration.calibrators.classes import class_wise, top_label
from halftruth.calibration.calibrators.crossing import cross_calibrate

__all__ = ["Calibrator", "class_wise", "cross_calibrate", "top_label"]
