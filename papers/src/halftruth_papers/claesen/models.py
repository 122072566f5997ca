"""The two models of Figure 4 of Claesen et al., whose order hangs on what is assumed of α."""

from __future__ import annotations

from typing import Any

from halftruth._checks import Vector
from halftruth.evaluation._compare import compare
from halftruth.evidence import PositiveUnlabeled
from halftruth.prior._estimate_prior import prior_upper_bound
from halftruth_papers.claesen.rankings import (
    exact_area,
    formula_area,
    highest_table_area,
    matched,
    table_area,
)

N_KNOWN_4, N_UNLABELED_4 = 5_000, 45_000
PAPER_MODELS = {"model 1": (0.725, 0.755), "model 2": (0.732, 0.747)}
"""AUROC at α̂ = 0 and at `ALPHA_4`, as printed beside the paper's Figure 4."""
ALPHA_4 = 0.1
METRICS_4 = ("roc_auc", "average_precision")
NOTHING = 1e-9
"""Added to a share of 0, which no prior may be."""


def two_models() -> dict[str, tuple[Vector, Vector]]:
    """Known positives and unlabeled of the two models, by name."""
    sizes = {"n_known": N_KNOWN_4, "n_unlabeled": N_UNLABELED_4}
    return {name: matched(*areas, ALPHA_4, **sizes) for name, areas in PAPER_MODELS.items()}


def models(n_resamples: int) -> dict[str, Any]:
    """The two models of Figure 4: by the formula, by the paper's tables, and what `compare` says."""
    pairs = two_models()
    rows = [
        {
            "model": name,
            "paper": list(PAPER_MODELS[name]),
            "pu": exact_area(*pair),
            "formula": formula_area(exact_area(*pair), ALPHA_4),
            "tables": [table_area(*pair, alpha) for alpha in (0.0, ALPHA_4)],
            "highest": highest_table_area(PAPER_MODELS[name][0], ALPHA_4),
            "upper": prior_upper_bound(*pair),
        }
        for name, pair in pairs.items()
    ]
    n_rows = N_KNOWN_4 + N_UNLABELED_4
    low, high = ((N_KNOWN_4 + alpha * N_UNLABELED_4) / n_rows for alpha in (NOTHING, ALPHA_4))
    assumed: dict[str, Any] = {"0": low, f"{ALPHA_4:g}": high, f"0 to {ALPHA_4:g}": (low, high)}
    compared = []
    for name, prior in assumed.items():
        evidence = {
            model: PositiveUnlabeled(*pair, prior=prior, population="all") for model, pair in pairs.items()
        }
        comparison = compare(evidence, METRICS_4, paired=False, n_resamples=n_resamples)
        for metric in METRICS_4:
            one = comparison[metric]
            difference = [one.value, one.low, one.high]
            compared.append(
                {
                    "metric": metric,
                    "alpha": name,
                    "values": list(one.values),
                    "difference": difference,
                    "flips": list(one.flips),
                }
            )
    return {"models": rows, "compared": compared}
