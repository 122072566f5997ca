"""What metrics are called for people, and which of them is told first."""

from __future__ import annotations

from collections.abc import Iterable

NAMES = {
    "prevalence": ("Share of positives", "in the population"),
    "roc_auc": ("ROC AUC", "chance that a positive scores above a negative"),
    "average_precision": ("Average precision", "mean precision as more and more cases are flagged"),
    "pr_auc": ("PR AUC", "area under the precision-recall curve"),
    "brier": ("Brier score", "mean squared error of the scores; lower is better"),
    "log_loss": ("Log loss", "price of confident mistakes; lower is better"),
    "risk": ("Risk", "expected loss of a case; lower is better"),
    "calibration_error": ("Calibration error", "how far scores lie from frequencies; lower is better"),
    "precision": ("Precision", "share of flagged cases that are positive"),
    "recall": ("Recall", "share of positives that are flagged"),
    "fpr": ("False-positive rate", "share of negatives that are flagged; lower is better"),
    "f1": ("F1", "precision and recall in one number"),
    "mcc": ("MCC", "correlation of flag and class"),
    "accuracy": ("Accuracy", "share of cases called right"),
}
"""For people: what a metric is called, and what it says."""
HEADLINES = ("roc_auc", "average_precision", "precision")


def named(label: str) -> tuple[str, str]:
    """How a row is called in sentences and tables, and what it says, where that is known."""
    return NAMES.get(label, (label.replace("_", " "), ""))


def headline(labels: Iterable[str]) -> str:
    """The row that is told first."""
    rows = list(labels)
    return next((name for name in HEADLINES if name in rows), rows[0])
