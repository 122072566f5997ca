"""Values: every metric of a measure, and one warning for all that are NaN."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from halftruth._errors import EmptyClassWarning, NotIdentifiable
from halftruth.inference._notes import on_row
from halftruth.inference._requests import Request
from halftruth.measure._score_measure import ScoreMeasure
from halftruth.results._estimate import Estimate

NOTHING = Estimate(value=np.nan, low=np.nan, high=np.nan)
UNDEFINED = "undefined"


def values_of(requests: Sequence[Request], measure: ScoreMeasure, *, stacklevel: int) -> dict[str, float]:
    """The value of each request by its label; what is NaN is named in one warning that says why."""
    values = {request.label: request.at(measure) for request in requests}
    labels: dict[str, list[str]] = {}
    for request in requests:
        if np.isnan(values[request.label]):
            labels.setdefault(_why(request, measure), []).append(f"`{request.label}`")
    if labels:
        said = (
            f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} NaN: {why}"
            for why, names in labels.items()
        )
        category = EmptyClassWarning if measure.empty_classes else UserWarning
        warnings.warn(" ".join(said), category, stacklevel=stacklevel + 1)
    return values


def _why(request: Request, measure: ScoreMeasure) -> str:
    """Why a value is NaN: in the words of the metric, or else in those of an evaluation."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", EmptyClassWarning)
            request.call(measure)
    except (NotIdentifiable, EmptyClassWarning) as error:
        return str(error)
    if request.metric is None:
        return "the callable gives it for these rows."
    noted = (note for note in on_row(request, measure, NOTHING) if note.startswith(UNDEFINED))
    return next(noted, f"{UNDEFINED}: it divides by zero, e.g. where no score reaches the threshold.")
