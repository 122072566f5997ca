"""Ishida et al. (2023): the Bayes error from soft labels."""
