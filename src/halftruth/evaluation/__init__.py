"""The daily calls: evaluate one model, compare several, score for scikit-learn."""
