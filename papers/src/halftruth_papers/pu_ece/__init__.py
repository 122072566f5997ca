"""Kiryo, Futami and Sugiyama: the calibration error from positives and unlabeled."""
