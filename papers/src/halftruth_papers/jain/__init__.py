"""Jain, White and Radivojac (2017): the true performance recovered from positives and unlabeled."""
