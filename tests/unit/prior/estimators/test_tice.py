"""TIcE against exhaustive search, closed forms and simulations."""

import numpy as np
import pytest

from halftruth.prior._samples import Samples
from halftruth.prior.estimators import _tice as tice

from .made import samples as samples_of


def slow_half_lines(positive, unlabeled):
    """c and α by a loop over every half-line, rows counted one by one."""
    n_p, n_u = len(positive), len(unlabeled)
    delta = max(0.025, 1 / (1 + 0.004 * (n_p + n_u)))
    subsets = []
    for t in np.unique(np.concatenate([positive, unlabeled])):
        subsets += [
            (np.sum(positive >= t), np.sum(unlabeled >= t)),
            (np.sum(positive < t), np.sum(unlabeled < t)),
        ]
    c = 0.5
    for _ in range(2):
        bounds = [
            a / (a + b) - np.sqrt(c * (1 - c) * (1 - delta) / (delta * (a + b)))
            for a, b in subsets
            if a + b >= 10
        ]
        c = max([n_p / (n_p + n_u), *bounds])
    return n_p / n_u * (1 - c) / c


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("decimals", [0, 1, 8])
def test_exhaustive_search_over_half_lines(seed, decimals):
    rng = np.random.default_rng(seed)
    sign = 1 if seed % 2 else -1
    positive = np.round(sign * rng.normal(2, 1, rng.integers(5, 60)), decimals)
    unlabeled = np.round(rng.normal(0, 1, rng.integers(5, 300)), decimals)
    fit = tice.fit_tice(samples_of(positive, unlabeled))
    assert fit.value == pytest.approx(min(1, slow_half_lines(positive, unlabeled)))


def test_error_allowed_is_the_published_one():
    assert tice.error(250) == pytest.approx(0.5)
    assert tice.error(9750) == pytest.approx(0.025)
    assert tice.error(1e9) == 0.025


def two_scores(alpha, n_positive, n_unlabeled):
    """Half of the positives score above every negative; counts are exactly their expectations."""
    return Samples(
        score=np.array([0.0, 1.0]),
        positive=np.array([0.5, 0.5]) * n_positive,
        unlabeled=np.array([1 - alpha / 2, alpha / 2]) * n_unlabeled,
        n_positive=n_positive,
        n_unlabeled=n_unlabeled,
    )


@pytest.mark.parametrize("ratio", [0.1, 1, 10])
@pytest.mark.parametrize("alpha", [0.02, 0.3, 0.9])
def test_label_frequency_turns_into_the_prior_of_the_unlabeled(alpha, ratio):
    """Without noise the bound falls short of c = n_P/(n_P + α n_U) by a known amount, which vanishes."""
    for n_unlabeled in (1e6, 1e14):
        n_positive = ratio * n_unlabeled
        true = n_positive / (n_positive + alpha * n_unlabeled)
        rows = (n_positive + alpha * n_unlabeled) / 2
        c = true - np.sqrt(0.25 * 39 / rows)
        c = true - np.sqrt(c * (1 - c) * 39 / rows)
        expected = min(1, n_positive / n_unlabeled * (1 - c) / c)
        assert tice.fit_tice(two_scores(alpha, n_positive, n_unlabeled)).value == pytest.approx(expected)
    assert expected == pytest.approx(alpha, rel=1e-3)


def anchored(rng, alpha, n_positive, n_unlabeled):
    k = rng.binomial(n_unlabeled, alpha)
    unlabeled = np.append(rng.uniform(1, 3, k), rng.uniform(0, 2, n_unlabeled - k))
    return samples_of(rng.uniform(1, 3, n_positive), unlabeled)


def test_too_high_where_rows_are_few_and_right_where_they_are_many():
    rng = np.random.default_rng(0)
    value = [tice.fit_tice(anchored(rng, 0.3, n, 10 * n)).value for n in (2_000, 20_000, 200_000)]
    assert value[0] > value[1] > value[2] > 0.3
    # c is known to ±√(39 c(1 − c)/T), here with c = ¼ and T = 400,000: .0043, or .0069 in α.
    assert value[2] == pytest.approx(0.3, abs=0.01)


def test_overlapping_classes_bias_it_upwards():
    rng = np.random.default_rng(1)
    unlabeled = np.append(rng.normal(1.5, 1, 60_000), rng.normal(0, 1, 140_000))
    overlapping = tice.fit_tice(samples_of(rng.normal(1.5, 1, 20_000), unlabeled)).value
    assert overlapping > 0.3 + 2 * (tice.fit_tice(anchored(rng, 0.3, 20_000, 200_000)).value - 0.3)


def test_only_the_order_of_scores_matters_and_either_direction_serves():
    rng = np.random.default_rng(2)
    p, u = np.round(rng.normal(2, 1, 200), 2), np.round(rng.normal(0, 1, 2000), 2)
    expected = tice.fit_tice(samples_of(p, u)).value
    assert 0 < expected < 0.5
    for transform in (np.exp, lambda s: 1e300 * np.tanh(s), np.negative):
        assert tice.fit_tice(samples_of(transform(p), transform(u))).value == pytest.approx(expected)


def test_curve_shows_the_bounds_and_the_best_half_line():
    fit = tice.fit_tice(anchored(np.random.default_rng(3), 0.3, 2_000, 20_000))
    x, y = fit.curve.x, fit.curve.y
    assert len(x) <= 1001
    assert (np.diff(x) >= 0).all()
    assert fit.curve.chosen == x[np.argmax(y)]
    c = y.max()
    assert fit.value == pytest.approx(0.1 * (1 - c) / c)


rng = np.random.default_rng(4)
UNIFORM = rng.uniform(0, 1, 2000)
CASES = {
    "one row each": ([1.0], [0.0], 1, 1),
    "constant": ([2.0] * 9, [2.0] * 50, 1, 1),
    "above": (2 + UNIFORM[:200], UNIFORM, 0, 0.01),
    "below": (UNIFORM[:200] - 2, UNIFORM, 0, 0.01),
    "one law": (rng.normal(size=2000), rng.normal(size=20_000), 0.99, 1),
    "extreme scores": ([1e300, -1e300, 5e-324] * 10, [1e300, 0.0, -1e300] * 10, 0.5, 1),
}


@pytest.mark.parametrize("case", CASES)
def test_defined_for(case):
    positive, unlabeled, low, high = CASES[case]
    assert low <= tice.fit_tice(samples_of(np.asarray(positive), np.asarray(unlabeled))).value <= high


def slow_nodes(x, labeled, seeks):
    """The same tree by masks of rows, without cells, level by level."""
    promise = lambda rows: (rows & seeks & labeled).sum() / ((rows & seeks).sum() + 5)  # noqa: E731
    level = [np.ones(len(x), dtype=bool)]
    found = list(level)
    while level:
        children = []
        for rows in level:
            best, halves = -1.0, ()
            for column in x.T:
                ordered = np.sort(column[rows & seeks])
                for quarter in (0.25, 0.5, 0.75):
                    if len(ordered) == 0:
                        continue
                    left = rows & (column <= ordered[int(np.ceil(quarter * len(ordered))) - 1])
                    if not (0 < (left & seeks).sum() < len(ordered)):
                        continue
                    score = max(promise(left), promise(rows & ~left))
                    if score > best:
                        best, halves = score, (left, rows & ~left)
            children += halves
        found += children
        level = [rows for rows in children if (rows & ~seeks).sum() >= 10]
    return sorted(((rows & ~seeks & labeled).sum(), (rows & ~seeks).sum()) for rows in found)


@pytest.mark.parametrize("seed", range(5))
def test_tree_matches_masks_of_rows(seed):
    rng = np.random.default_rng(seed)
    # Few distinct values, so that each is a cell of its own; few rows, so that no limit of the tree binds.
    x = np.column_stack([rng.integers(0, 12, 200), rng.integers(0, 2, 200), np.round(rng.normal(size=200))])
    labeled = rng.uniform(size=200) < 0.1 + 0.05 * x[:, 0]
    seeks = rng.uniform(size=200) < 0.2
    code = np.array([tice._cells(column) for column in x.T.astype(float)])
    got = tice._nodes(code, labeled, seeks)
    expected = slow_nodes(x, labeled, seeks)
    assert len(expected) > 20
    assert sorted(zip(*got, strict=True)) == expected


@pytest.mark.parametrize("rare", [0.0, 1.0])
def test_a_rare_value_has_a_cell_of_its_own(rare):
    column = np.full(1000, 1 - rare)
    column[:3] = rare
    cell = tice._cells(column)
    assert len(set(cell[:3])) == 1
    assert cell[0] != cell[3]
    assert cell.max() < tice.CODES


def corner(rng, n, positive):
    """Five features, of which two tell: half of the positives lie where no negative is."""
    x = rng.uniform(size=(n, 5))
    if positive:
        moved = rng.uniform(size=n) < 0.5
        x[moved, :2] += 1
    return x


def features(rng, alpha, n_positive, n_unlabeled):
    k = rng.binomial(n_unlabeled, alpha)
    return corner(rng, n_positive, True), np.concatenate(
        [corner(rng, k, True), corner(rng, n_unlabeled - k, False)]
    )


def test_trees_on_features_approach_the_prior():
    rng = np.random.default_rng(5)
    value = [
        tice.fit_tice_features(*features(rng, 0.3, n, 10 * n), rng=rng).value for n in (1_000, 4_000, 16_000)
    ]
    assert value[0] > value[1] > value[2] > 0.3
    # A noiseless bound from T = .8·(8,000 + 24,000) rows without negatives: c is .25 less .0169.
    assert value[2] == pytest.approx(0.1 * 0.7669 / 0.2331, abs=0.02)


def test_features_of_one_law_have_prior_one():
    rng = np.random.default_rng(6)
    assert (
        tice.fit_tice_features(rng.normal(size=(2000, 3)), rng.normal(size=(20_000, 3)), rng=rng).value > 0.98
    )


def test_order_within_each_feature_is_all_that_matters_and_the_seed_decides_the_folds():
    p, u = features(np.random.default_rng(7), 0.3, 300, 3000)
    run = lambda p, u, seed: tice.fit_tice_features(p, u, rng=np.random.default_rng(seed)).value  # noqa: E731
    assert run(p, u, 0) == run(np.exp(3 * p), np.exp(3 * u), 0)
    assert run(p, u, 0) != run(p, u, 1)


def test_features_of_one_row_each():
    rng = np.random.default_rng(8)
    assert tice.fit_tice_features([[1.0]], [[0.0]], rng=rng).value == 1
