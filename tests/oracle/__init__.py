"""Answers that do not come from halftruth: scikit-learn's, and naive loops over the rows."""
