"""Bounds equal the extremes over every surrogate set and every α, one by one, on small rankings."""

import math
from fractions import Fraction
from functools import cache
from itertools import pairwise, product

import numpy as np
import pytest

import halftruth as ht
from halftruth import _registry
from halftruth._errors import HalftruthError

from . import naive
from .agreement import assert_same
from .bound_cases import BANDS, CASES, KINDS, LEVELS, POPULATIONS, Case, draw, draw_ranking
from .rows import Row, labeled_rows
from .surrogates import AREAS, Path, Ranking, extremes, rate

pytestmark = pytest.mark.usefixtures("bands_once")

RATES = (
    *("precision", "recall", "fpr", "specificity", "npv", "accuracy", "f1", "mcc"),
    *("balanced_accuracy", "jaccard", "cohen_kappa", "youden_j"),
)


def wavy(tp, fp, fn, tn):
    """Monotone in nothing."""
    return np.cos(2 * tp - fn) * (1 + tn) - 0.1 * (tp - 2.5) ** 2 + 0.05 * fp * fn


METRICS = (*AREAS, *RATES, wavy)


def values(case: Case, of, k: int, paths: list[Path]) -> list[float]:
    """The metric of each of these sets."""
    if of in AREAS:
        return [AREAS[of](case.ranking.groups(k, path)) for path in paths]
    tables = {case.ranking.table(k, path[case.at], case.at) for path in paths}
    return [float(wavy(*table)) if of is wavy else rate(of, table) for table in tables]


@pytest.mark.parametrize(("kind", "population", "negatives"), KINDS)
@pytest.mark.parametrize("n_metrics", [5, pytest.param(len(METRICS), marks=pytest.mark.slow)])
def test_bounds_are_the_extremes_over_all_surrogate_sets(
    kind, population, negatives, n_metrics, draws
) -> None:
    """For some of the metrics in each case, in turn, or for all."""
    n_cases = max(12, draws(CASES)) if n_metrics == len(METRICS) else CASES
    compared = narrowed = 0
    for seed in range(3 * n_cases):
        case = draw(seed, kind, population, negatives)
        possible = case.possible()
        for of in [METRICS[(seed * n_metrics + i) % len(METRICS)] for i in range(n_metrics)]:
            at = None if of in AREAS else case.threshold
            if not possible:
                with pytest.raises(HalftruthError, match="refute"):
                    case.bounds(of, threshold=at)
                break
            here = {k: values(case, of, k, paths) for k, paths in possible.items()}
            wanted = extremes([v for each in here.values() for v in each])
            got = case.bounds(of, defined=not math.isnan(wanted[0]), threshold=at)
            assert_same((got.low, got.high), wanted, f"{of} of case {seed}: {case}")
            for value, alpha in ((got.low, got.alpha_at_low), (got.high, got.alpha_at_high)):
                if not math.isnan(value):
                    k = round(alpha * len(case.ranking.unlabeled))
                    assert min(abs(v - value) for v in here[k] if not math.isnan(v)) < 1e-12
        anything = sum(len(case.ranking.surrogates[k]) for k in case.numbers)
        narrowed += 0 < sum(map(len, possible.values())) < anything
        compared += bool(possible)
        if compared >= n_cases and narrowed >= n_cases / 4:
            return
    pytest.fail(f"only {compared} cases were possible, and the band mattered in {narrowed}")


OPTIONS = {
    "partial_auc": {"max_fpr": 0.3},
    "precision_at_k": {"k": 3},
    "recall_at_k": {"k": 0.4},
    "recall_at_fpr": {"max_fpr": 0.3},
    "risk": {"loss": "ramp"},
}
OTHERS = {
    name: OPTIONS.get(name, dict(metric.example))
    for name, metric in _registry.REGISTRY.items()
    if metric.rank_bound is not None and name not in METRICS
}


def test_only_calibration_errors_are_not_tried() -> None:
    untried = {*_registry.REGISTRY} - {*METRICS, *OTHERS}
    assert untried == {name for name in _registry.REGISTRY if name.endswith("calibration_error")}


@pytest.mark.parametrize("of", [name for name in _registry.REGISTRY if name.endswith("calibration_error")])
def test_calibration_errors_have_no_bounds(of) -> None:
    with pytest.raises(ht.InputError, match=f"'{of}' has no bounds here"):
        ht.bounds(ht.PositiveUnlabeled([0.9, 0.4], [0.9, 0.6, 0.3], prior=0.3), of)


@cache
def cases_of_probabilities() -> list[tuple[Case, list[list[Row]]]]:
    """Cases with scores in (0, 1) and both classes in every population, and the rows of each surrogate set."""
    made = []
    for seed in range(2 * CASES):
        drawn = draw_ranking(np.random.default_rng([seed, 77]), POPULATIONS[seed % 2], seed % 3 == 0)
        strata = [
            [1 / (1 + math.exp(-s)) for s in part] for part in (drawn.known, drawn.unlabeled, drawn.negative)
        ]
        r = Ranking(strata[0], strata[1][:6], strata[2], drawn.population)
        n_u, n_known, n = len(r.unlabeled), len(r.known), len(r.known) + len(r.unlabeled) + len(r.negative)
        numbers = range(1, n_u)
        ends = [k / n_u if r.population == "unlabeled" else (n_known + k) / n for k in (1, n_u - 1)]
        case = Case(r, tuple(ends), numbers, BANDS[seed % 2], LEVELS[seed % 4], 0.5, -1)
        rows = [
            [Row(Fraction(s), Fraction(p + q), Fraction(p)) for s, (p, q) in r.scored_groups(k, path)]
            for k, paths in case.possible().items()
            for path in paths
        ]
        if rows:
            made.append((case, rows))
    return made[:CASES]


@pytest.mark.parametrize("of", OTHERS)
def test_other_metrics_by_their_definitions(of) -> None:
    cases = cases_of_probabilities()
    assert len(cases) == CASES
    options = OTHERS[of] | ({"threshold": 0.5} if _registry.get(of).threshold else {})
    for case, rows in cases:
        wanted = extremes([float(getattr(naive, of)(each, **options)) for each in rows])
        got = case.bounds(of, defined=not math.isnan(wanted[0]), **options)
        assert_same((got.low, got.high), wanted, f"{of} of {case}")


@pytest.mark.parametrize(("population", "negatives"), list(product(POPULATIONS, (False, True))))
def test_tables_and_curves_are_the_extremes_at_each_threshold(population, negatives) -> None:
    compared = 0
    for seed in range(2 * CASES):
        case = draw(seed, "number", population, negatives)
        (k,), paths = case.numbers, case.possible().get(case.numbers[0])
        if not paths:
            continue
        if (compared := compared + 1) > CASES:
            return
        both = 0 < sum(case.ranking.table(k, 0, 0)[2:3]) < sum(case.ranking.table(k, 0, 0))
        roc, pr = (case.bounds(of, defined=both) for of in ("roc", "pr"))
        for end, pick in enumerate((min, max)):
            extreme = [pick(x) for x in zip(*paths, strict=True)]
            tables = np.array([case.ranking.table(k, x, at) for at, x in enumerate(extreme)], dtype=float)
            ours = roc.tables[end]
            assert_same(ours.threshold, case.ranking.thresholds)
            assert_same(np.ravel([ours.tp, ours.fp, ours.fn, ours.tn]), np.ravel(tables.T), f"{case}")
            tp, fp, fn, tn = tables.T
            if both:
                curve = (roc.lower, roc.upper)[end]
                assert_same(curve.tpr, tp / (tp + fn))
                assert_same(curve.fpr, fp / (fp + tn))
                assert_same(roc.area[end], AREAS["roc_auc"](case.ranking.groups(k, tuple(extreme))))
                assert_same((pr.lower, pr.upper)[end].recall, tp / (tp + fn))
                seen = tp + fp > 0
                assert_same((pr.lower, pr.upper)[end].precision[seen], (tp / (tp + fp + ~seen))[seen])
    pytest.fail(f"only {compared} cases were possible")


def height(curve, fpr: float) -> tuple[float, float]:
    """The least and the greatest TPR of a curve, drawn with straight lines, at a false-positive rate."""
    found = []
    for (x0, x1), (y0, y1) in zip(pairwise(curve.fpr), pairwise(curve.tpr), strict=True):
        if x0 - 1e-12 <= fpr <= x1 + 1e-12:
            found += [y0, y1] if x1 - x0 < 1e-12 else [y0 + (y1 - y0) * (fpr - x0) / (x1 - x0)]
    return min(found), max(found)


@pytest.mark.parametrize(("kind", "population"), list(product(("range", "none"), POPULATIONS)))
def test_every_curve_over_a_range_of_alpha_lies_between_the_two(kind, population) -> None:
    compared = 0
    for seed in range(2 * CASES):
        case = draw(seed, kind, population, seed % 2 == 0)
        possible = case.possible()
        if not possible:
            continue
        if (compared := compared + 1) > CASES:
            return
        points, precise = set(), set()  # (FPR, TPR) and (recall, precision) of every curve
        for k, paths in possible.items():
            _, _, positives, negatives = case.ranking.table(k, 0, 0)
            if positives and negatives:
                tables = {case.ranking.table(k, x, at) for path in paths for at, x in enumerate(path)}
                points |= {(fp / negatives, tp / positives) for tp, fp, _, _ in tables}
                precise |= {(tp / positives, tp / (tp + fp)) for tp, fp, _, _ in tables if tp}
        roc = case.bounds("roc", defined=bool(points))
        for x, y in points:
            assert height(roc.lower, x)[0] <= y + 1e-12, f"{seed}: {case}"
            assert y - 1e-12 <= height(roc.upper, x)[1], f"{seed}: {case}"
        if len(possible) > 1:
            pr = case.bounds("pr", defined=bool(points))
            for x, y in precise:
                low, high = (np.interp(x, curve.recall, curve.precision) for curve in (pr.lower, pr.upper))
                assert low - 1e-12 <= y <= high + 1e-12, f"{seed}: {case}, recall {x}"
    pytest.fail(f"only {compared} cases were possible")


def test_the_areas_of_the_brute_force_equal_their_definitions() -> None:
    for seed in range(40):
        case = draw(seed, "range", "all", True)
        k = case.numbers[-1]
        paths = sorted(case.ranking.surrogates[k])
        groups = case.ranking.groups(k, paths[seed % len(paths)])
        y = [1] * sum(p for p, _ in groups) + [0] * sum(n for _, n in groups)
        score = [-s for i in (0, 1) for s, group in enumerate(groups) for _ in range(group[i])]
        for name, area in AREAS.items():
            assert_same(area(groups), float(getattr(naive, name)(labeled_rows(y, score))), name)


@pytest.mark.parametrize(("band", "scale"), [("dkw", 1), ("exact", 2)])
@pytest.mark.parametrize("sign", [1, -1])
def test_bounds_over_a_long_range_are_the_extremes_over_every_number_in_it(sign, band, scale) -> None:
    """Also where the metric rises and falls with α, and for a ranking worse than random."""
    rng, n = np.random.default_rng(3), 150 * scale
    unlabeled = np.append(rng.normal(1, 1, 2 * n // 5), rng.normal(0, 1, 3 * n // 5))
    evidence = ht.PositiveUnlabeled(sign * rng.normal(1, 1, 20 * scale), sign * unlabeled)
    for of in ("roc_auc", "average_precision", "accuracy", "npv", "mcc", wavy):
        options = {"band": band, "prior_of": "rows", "threshold": None if of in AREAS else 0.5}
        whole = ht.bounds(evidence, of, prior=(0.2, 2 / 3), **options)
        each = [ht.bounds(evidence, of, prior=k / n, **options) for k in range(n // 5, 2 * n // 3 + 1)]
        wanted = min(found.low for found in each), max(found.high for found in each)
        assert_same((whole.low, whole.high), wanted, f"{of}")
