"""What no learner gives: an accuracy that counts unlabeled rows as negative."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

import halftruth as ht

RNG = np.random.default_rng(3)
TRUTH = RNG.random(400) < 0.4
X = RNG.normal(2.0 * TRUTH[:, None], 1.0, (400, 2))
Y = (TRUTH & (RNG.random(400) < 0.5)).astype(int)


@pytest.mark.parametrize(
    "learner", [ht.learn.BaggedPU(n_estimators=6, prior=0.4, random_state=0), ht.learn.ElkanNoto(prior=0.4)]
)
def test_there_is_no_score(learner: Any) -> None:
    fitted = learner.fit(X, Y)
    assert not hasattr(fitted, "score")
    with pytest.raises(AttributeError, match=f"{type(learner).__name__} has no score.*make_scorer"):
        fitted.score(X, Y)
    # A search without a corrected metric is refused, one with it runs.
    grid = {"prior": [0.35, 0.4]}
    with pytest.raises(TypeError, match="score"):
        GridSearchCV(learner, grid, cv=2).fit(X, Y)
    scorer = ht.make_scorer("brier", prior=0.4, unlabeled=0)
    assert GridSearchCV(learner, grid, cv=2, scoring=scorer).fit(X, Y).best_params_["prior"] in (0.35, 0.4)


def test_scores_that_only_rank_are_no_margins() -> None:
    fitted = ht.learn.BaggedPU(n_estimators=6, prior=0.4, random_state=0).fit(X, Y)
    with pytest.raises(ht.InputError, match="only rank"):
        ht.make_scorer("risk", prior=0.4, unlabeled=0)(fitted, X, Y)
    # On the rows it was fitted to the known positives score too high, which a scorer tells.
    with pytest.warns(UserWarning, match="refuted by the data"):
        log = ht.make_scorer("risk", prior=0.4, unlabeled=0, loss="log")(fitted, X, Y)
    with pytest.warns(UserWarning, match="refuted by the data"):
        same = ht.make_scorer("log_loss", prior=0.4, unlabeled=0)(fitted, X, Y)
    assert log == pytest.approx(same, rel=1e-12)
