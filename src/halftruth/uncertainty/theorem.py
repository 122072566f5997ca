"""What theory says of an estimate: how far it can lie from the truth, where the assumptions are granted."""

from __future__ import annotations

import inspect
from functools import partial

from halftruth.calibration.bins import number_of_bins
from halftruth.evidence import Evidence, PositiveUnlabeled
from halftruth.table._score_table import NEGATIVE, POSITIVE, UNLABELED
from halftruth.table._strata import StratumRows
from halftruth.uncertainty.requests import Request

DESIGN = (
    "No bound from theory: it holds for clean positives and unlabeled, two samples of rows without weights, "
    "and a prior that is one number."
)
PLAIN = "No bound from theory: it holds for the plug-in error with norm 1."
FEW = "No bound from theory: with bins of equal mass it needs two unlabeled rows for each bin."


def bias_bound(
    request: Request, evidence: Evidence, lipschitz: float, level: float
) -> tuple[float | None, str | None]:
    """With probability ``level`` a calibration error lies no farther from the true one; a note to it.

    From positives and unlabeled, by the first theorem of `halftruth.theory`, where scores have a density and
    the frequency of positives rises with the score no faster than ``lipschitz``. Of other metrics nothing is
    said.
    """
    if request.metric is None or request.metric.name != "calibration_error":
        return None, None
    given = request.call.keywords if isinstance(request.call, partial) else {}
    called = inspect.signature(request.metric.function).bind(None, **given)
    called.apply_defaults()
    if called.arguments["norm"] != 1 or called.arguments["debias"]:
        return None, PLAIN
    if not _as_assumed(evidence):
        return None, DESIGN
    n_bins = number_of_bins(evidence.measure(), called.arguments["n_bins"])
    binning, rows = called.arguments["binning"], evidence.table.strata
    if binning == "mass" and len(rows[UNLABELED]) < 2 * n_bins:
        return None, FEW
    from halftruth import theory

    assert evidence.prior.value is not None
    bound = theory.bias_bound(
        len(rows[POSITIVE]),
        len(rows[UNLABELED]),
        evidence.prior.value,
        n_bins,
        lipschitz=lipschitz,
        binning=binning,
        confidence_level=level,
    )
    within = f"by theory it lies within {float(bound):.3g} of the true one, the slope being as granted."
    return float(bound), within if bound.informative else bound.note


def _as_assumed(evidence: Evidence) -> bool:
    if not isinstance(evidence, PositiveUnlabeled) or evidence.population != "unlabeled":
        return False
    rows, prior, purity = evidence.table.strata, evidence.prior, evidence.purity
    plain = all(isinstance(x, StratumRows) and x.is_plain for x in rows.values()) and NEGATIVE not in rows
    known = prior.value is not None and not prior.is_range and prior.replicates is None
    return plain and known and purity.value == 1 and not purity.is_range
