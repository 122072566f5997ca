"""Figures that the papers report, to stand beside ours."""

from __future__ import annotations

import csv
from importlib import resources

from halftruth import _checks

TABLES = ("jain_auc", "jain_auc_pr")
Reported = dict[tuple[str, float], dict[str, float]]
"""Columns of a row, by data set and purity."""


def reported(table: str) -> Reported:
    """A table of Jain et al. 2017, by data set and purity.

    Columns of both: alpha, rho (the purity, β in the paper), d, n_positive, n, and e, the mean absolute
    error of the estimates of ρ − α. Then the supervised area, the area from positives and unlabeled rows as
    they are, and the mean absolute errors of PU (as is), IR and DR (recovered, indirect and direct, with
    the real α and ρ), IE and DE (with estimates).

    Parameters
    ----------
    table : str
        ``"jain_auc"``: Table 1, of areas under the ROC curve. ``"jain_auc_pr"``: Table 2, of areas under the
        precision-recall curve, which has no direct recovery.

    Returns
    -------
    dict

    Examples
    --------
    >>> from halftruth_papers.jain.reported import reported
    >>> row = reported("jain_auc")["pima", 0.95]
    >>> row["auc"], row["auc_pu"], row["ir"]
    (0.838, 0.71, 0.038)
    """
    name = _checks.choice(table, "table", TABLES)
    path = resources.files("halftruth_papers") / "paper_tables" / f"{name}.csv"
    with path.open(encoding="utf-8") as lines:
        rows = [
            (row.pop("data"), {column: float(value) for column, value in row.items()})
            for row in csv.DictReader(lines)
        ]
    return {(data, row["rho"]): row for data, row in rows}
