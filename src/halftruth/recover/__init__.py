"""How good a classifier is from how well it tells labeled from unlabeled (Jain, White and Radivojac 2017).

α is the share of positives among the unlabeled (never the prior of all rows) and ρ, the purity, that among
the labeled; the paper calls them α and β. The same numbers follow from evidence: the direct AUC is
`halftruth.roc_auc`, the curve without projection `halftruth.roc_curve`, of
``PositiveUnlabeled(..., prior=alpha, purity=purity)``.

Examples
--------
>>> import halftruth as ht
>>> round(ht.recover.auc(0.7, alpha=0.25, purity=0.75), 12)
0.9
"""

from __future__ import annotations

from halftruth.recover._formulas import Rates, auc, precision, precision_from_pu, rates
from halftruth.recover._projection import performance, project
from halftruth.recover._recovered_curves import area, precision_recall_curve, roc_curve

__all__ = [
    "Rates", "area", "auc", "performance", "precision", "precision_from_pu", "precision_recall_curve",
    "project", "rates", "roc_curve",
]  # fmt: skip
