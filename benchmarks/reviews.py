"""Plans of what to review, and evaluations of what was, against one sort of the same scores."""

from __future__ import annotations

import numpy as np
from common import HEAD, compared, duration, row, seconds, section

METRICS = ("precision", "recall")
THRESHOLD, REVIEWS = 0.3, 300


def run(scale: float) -> None:
    """Cost against np.sort, and against rows."""
    import halftruth as ht

    def classes_and_scores(n: int) -> tuple[np.ndarray, np.ndarray]:
        draw = ht.simulate.GaussianClasses(prior=0.02).draw(n, 0)
        return draw.y, draw.score

    def plan(score: np.ndarray) -> ht.ReviewPlan:
        return ht.plan_review(score, REVIEWS, metrics=METRICS, threshold=THRESHOLD)

    def evaluated(made: ht.ReviewPlan, score: np.ndarray, y: np.ndarray, n_resamples: int) -> ht.Evaluation:
        evidence = ht.Reviewed.from_plan(made, score, y[made.rows].astype(float))
        return ht.evaluate(evidence, threshold=THRESHOLD, n_resamples=n_resamples)

    most = int(1e7 * scale)
    y, score = classes_and_scores(most)
    evaluated(plan(score), score, y, 100)  # compiled once
    made, sort = plan(score), seconds(lambda: np.sort(score))
    section(f"Reviewed cases: {most:,} scores, {REVIEWS} reviews / np.sort of the scores", *HEAD)
    compared("plan_review", seconds(lambda: plan(score)), sort, "≤ 3")
    for n_resamples in (0, 2000):
        taken = seconds(lambda n=n_resamples: evaluated(made, score, y, n))
        name = f"Reviewed.from_plan and evaluate, n_resamples={n_resamples}"
        compared(name, taken, sort, "≤ 3")
    columns = "rows", "np.sort", "plan_review", "ns a row", "from_plan and evaluate", "ns a row"
    section("Reviewed cases: growth", *columns)
    for n in [n for n in (10**5, 10**6, 10**7) if n <= 10**8 * scale]:
        y, score = classes_and_scores(n)
        made = plan(score)
        sort, a = seconds(lambda x=score: np.sort(x)), seconds(lambda x=score: plan(x))
        b = seconds(lambda made=made, x=score, y=y: evaluated(made, x, y, 2000))
        row(f"{n:,}", *map(duration, (sort, a)), f"{1e9 * a / n:.0f}", duration(b), f"{1e9 * b / n:.0f}")
