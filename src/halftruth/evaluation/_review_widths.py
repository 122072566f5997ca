"""How wide the intervals of reviewed rows are, and about how wide they would be with some reviews more."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from halftruth._checks import Vector
from halftruth.evaluation._estimation import FEWER_ATOMS
from halftruth.evidence import Evidence
from halftruth.evidence._review_design import ReviewDesign
from halftruth.inference._influence import gradients
from halftruth.inference._requests import ModelRows, Request, thresholds_of
from halftruth.report._page_record import Step
from halftruth.results._estimate import Evaluation
from halftruth.results._intervals import student_quantile
from halftruth.table._support import SOFT

__all__ = ["review_steps"]

MORE = 100


def review_steps(result: Evaluation, design: ReviewDesign) -> tuple[Step, ...]:
    """Each interval's width, and with some reviews more, drawn alike: NaN where nothing is known of that.

    Of the variance only the part goes down that reviewing some rows only has left, Σ φ² w² u (1/e − 1)(y −
    p̂)² with φ what a positive at a score moves in the metric. What is due to the rows being a sample, to
    reviewers who err and to rows that nobody can look at stays.
    """
    assert result.origin is not None
    evidence, requests = result.origin.evidence[""], result.origin.requests
    more = min(MORE, design.left)
    quantile = student_quantile((1 + result.confidence_level) / 2, math.inf)
    moves = {} if not more or design.open_rows else _moves(evidence, requests, design.reviews.score)
    steps = []
    for label, row in result.items():
        width, then = row.shown[2] - row.shown[1], math.nan
        if label in moves:
            now, later = (
                (2 * quantile) ** 2 * float(np.sum(moves[label] ** 2 * design.reviews.noise(n)))
                for n in (0, more)
            )
            share = min(1.0, now / width**2) if width > 0 else 0.0
            then = width * math.sqrt(1 - share * (1 - later / now)) if now > 0 else width
        steps.append(Step(what="reviews", rows=more, metric=label, width=width, then=then))
    return tuple(steps)


def _moves(evidence: Evidence, requests: tuple[Request, ...], score: Vector) -> dict[str, Vector]:
    """What a positive at each of these scores moves in each metric that has a derivative."""
    smooth = [r for r in requests if r.smooth(curves=True)]
    soft = evidence.for_page
    joined = soft.table.support.coarse(2 * FEWER_ATOMS, thresholds_of(requests))
    support = replace(joined, strata={SOFT: joined.strata[SOFT]})
    model = ModelRows(soft, support)
    slopes = gradients(lambda sums: model.values(smooth, soft.scenario, sums), support)
    first = support.score if support.edge is None else support.edge
    atom = np.maximum(np.searchsorted(first, score, side="right") - 1, 0)
    return {r.label: slope[SOFT, "value"][atom] for r, slope in slopes.items()}
