"""What all learners are: binary classifiers of rows that are labeled in part."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.base import BaseEstimator, ClassifierMixin


class Learner(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of 1 against 0 without a ``score``: there is no accuracy against partial labels."""

    learns_from: ClassVar[str] = "labels"
    """What ``y`` is: "labels" in part, or the "confidences" of known positives."""

    ranks_only: ClassVar[bool] = False
    """Whether ``decision_function`` is no margin, with no cut at zero."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    @property
    def score(self) -> Any:
        """Left out: it would count unlabeled rows as negative."""
        raise AttributeError(
            f"{type(self).__name__} has no score: against partial labels accuracy counts unlabeled rows as "
            f"negative. Pass scoring=ht.make_scorer(…), or evaluate ht.cross_val_evidence(…)."
        )
