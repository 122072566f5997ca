"""Compiled loops: the same numbers as the plain ones, whatever the threads; and they say when they compile."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import halftruth as ht
from halftruth.kernels import _compiling, _one_pass, _row_bins, _sorting
from halftruth.metrics import _mean_losses
from halftruth.table import _histogram

STRATA = ("positive", "unlabeled", "negative")


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many chunks and buckets, and recursion, at a size that is quick."""
    monkeypatch.setattr(_compiling, "CHUNK_ROWS", 100)
    monkeypatch.setattr(_sorting, "BUCKET_ROWS", 200)
    monkeypatch.setattr(_sorting, "LEAF_ROWS", 1000)


def with_threads(threads: int, call: Any) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_compiling, "THREADS", threads)
        return call()


# --- sort -----------------------------------------------------------------------------------------


def shapes(n: int) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    uniform, coin = rng.random(n), rng.random(n) < 0.3
    return {
        "uniform": uniform,
        "normal": rng.standard_normal(n),
        "equal": np.full(n, 0.3),
        "two": coin * 1.0,
        "sorted": np.sort(uniform),
        "reversed": np.sort(uniform)[::-1],
        "pile-up": 10 ** -rng.uniform(0, 300, n),
        "signed pile-up": np.where(coin, -1, 1) * 10 ** rng.uniform(-300, 300, n),
        "subnormal": uniform * 1e-310,
        "zeros": np.where(coin, 0.0, uniform),
        "ends": np.where(coin, -1e308, 1e308),
        "one far above": np.append(0.5 + 1e-9 * uniform[1:], 1e308),
        "one far below": np.append(0.5 + 1e-9 * uniform[1:], -1e308),
        "two clusters": coin * 0.8 + 0.1 + 1e-9 * uniform,
        "neighbours": 0.5 + rng.integers(0, 99, n) * 2.0**-53,
        "nested clusters": 0.5 + 10.0 ** -rng.integers(1, 15, n) * (1 + 1e-3 * uniform),
        "rounded": np.round(uniform, 3),
        "float32": uniform.astype(np.float32).astype(np.float64),
    }


@pytest.mark.parametrize("name", shapes(2))
def test_sort_of_any_shape(name: str) -> None:
    score = shapes(300_000)[name]
    before = score.copy()
    np.testing.assert_array_equal(_sorting.sort(score), np.sort(score))
    np.testing.assert_array_equal(score, before)


@pytest.mark.parametrize("name", shapes(2))
@pytest.mark.usefixtures("small_pieces")
def test_sort_in_many_pieces(name: str) -> None:
    score = shapes(20_000)[name]
    np.testing.assert_array_equal(_sorting.sort(score), np.sort(score))


@given(arrays(np.float64, st.integers(0, 300), elements=st.floats(allow_nan=False, allow_infinity=False)))
def test_sort_of_any_floats(score: Any) -> None:
    score = score + 0.0
    np.testing.assert_array_equal(_sorting.sort(score), np.sort(score))


def test_a_bucket_whose_high_bits_say_little() -> None:
    rng = np.random.default_rng(8)
    score = np.concatenate([[0.0, 1.0], 0.5 + 1e-12 * rng.random(5000)])
    assert not _sorting._insert(score.copy(), 8 * len(score), None)
    bits = score.copy().view(np.int64)
    _sorting._sort_bucket(bits, np.empty_like(bits), None, None)
    np.testing.assert_array_equal(bits.view(np.float64), np.sort(score))


def test_sort_of_read_only_and_strided_scores() -> None:
    score = np.random.default_rng(2).random(2000)[::2]
    score.flags.writeable = False
    np.testing.assert_array_equal(_sorting.sort(score), np.sort(score))


# --- fold -----------------------------------------------------------------------------------------


def unfold(evidence: Any) -> tuple[list[Any], list[Any]]:
    """Sorted strata, and the coefficients (mass, pos, neg) on them."""
    sums = evidence.table.support.sums()
    rule = evidence.rule(sums, evidence.scenario)
    names = [name for name in STRATA if name in evidence.table.strata]
    mass, pos = (
        np.asarray([float(part.get((name, "weight"), 0.0)) for name in names])
        for part in (rule.mass, rule.pos_mass)
    )
    return [np.sort(evidence.table.strata[name].score) for name in names], [mass, pos, mass - pos]


def assert_agree(evidence: Any) -> None:
    strata, (mass, pos, neg) = unfold(evidence)
    measure = evidence.measure()
    found = _one_pass.pass_sums(strata, mass, pos, neg, measure.own, bounded=measure.bounded)
    line = measure.sweep

    def assert_same(value: float, expected: float) -> None:
        np.testing.assert_allclose(value, expected, rtol=1e-12, atol=1e-12)

    assert_same(found.positives, line.positives)
    assert_same(found.negatives, line.negatives)
    assert found.total == line.total
    assert_same(found.roc_area / found.positives / found.negatives, ht.roc_auc(measure))
    area = found.pr_area * measure.own.scale(found.positives, found.total)
    assert_same(area / found.positives, ht.average_precision(measure))
    if not measure.bounded:
        assert np.isnan([found.square_loss, found.log_loss]).all()
        return
    assert_same(found.square_loss / found.total, ht.brier(measure))
    assert_same(found.log_loss / found.total, ht.log_loss(measure))
    rows = sum(map(len, strata))
    # A thousand bins take their time, and say something new only of as many rows.
    for n_bins in (1, 2, 7, 40, *([1000] if rows > 1000 else [])):
        parts = _one_pass.mass_moments(strata, [share != 0 for share in mass], n_bins)
        gap = sum(b * n - a * s for a, b, (n, s, _) in zip(mass, pos, parts, strict=True))
        size = sum(a * n for a, (n, _, _) in zip(mass, parts, strict=True))
        assert_same(np.abs(gap).sum() / found.total, ht.calibration_error(measure, n_bins))
        each = np.divide(np.abs(gap), size, out=np.zeros(n_bins), where=size > 0)
        assert_same(each.max(), ht.calibration_error(measure, n_bins, norm="max"))


def draws(kind: str, n: int, rng: np.random.Generator) -> tuple[Any, Any, Any]:
    p, u, q = rng.beta(4, 2, n), rng.beta(2, 3, 5 * n), rng.beta(2, 4, 2 * n)
    if kind == "ties":
        return tuple(np.round(part, 1) for part in (p, u, q))  # type: ignore[return-value]
    if kind == "ends":
        return tuple(np.clip(2 * part - 0.5, 0, 1) for part in (p, u, q))  # type: ignore[return-value]
    if kind == "above":
        return 0.7 + 0.3 * p, 0.6 * u, 0.65 * q
    if kind == "margins":
        return 3 * p, 4 * u - 2, 2 * q - 2
    return p, u, q


KINDS = ("smooth", "ties", "ends", "above", "margins")


@pytest.mark.parametrize("n", [1, 3, 400])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.usefixtures("small_pieces")
def test_fold_agrees_with_the_functionals(kind: str, n: int) -> None:
    p, u, q = draws(kind, n, np.random.default_rng(n))
    assert_agree(ht.Labeled(np.repeat([1, 0], [len(p), len(q)]), np.concatenate([p, q])))
    assert_agree(ht.PositiveUnlabeled(p, u, prior=0.4))
    assert_agree(ht.PositiveUnlabeled(p, u, prior=0.4, population="all"))
    assert_agree(ht.PositiveUnlabeled(p, u, prior=0.3, purity=0.9))
    assert_agree(ht.PositiveUnlabeled(p, u, prior=0.4, negative=q))
    assert_agree(ht.PositiveUnlabeled(p, u, prior=0.4, negative=q, purity=0.9, population="all"))


def test_fold_of_perfect_scores_is_exact() -> None:
    found = _one_pass.pass_sums([np.ones(3), np.zeros(5)], [1, 1], [1, 0], [0, 1], bounded=True)
    assert found[:5] == (3.0, 5.0, 8.0, 15.0, 3.0)
    assert found.square_loss == 0


@pytest.mark.parametrize("at", range(3))
def test_an_empty_stratum_changes_nothing(at: int) -> None:
    rng = np.random.default_rng(3)
    strata = [np.sort(rng.random(50)), np.sort(rng.random(200))]
    coefficients = [[0, 1], [1.5, 0.01], [-1.5, 0.99]]
    wider = [[*part[:at], 1, *part[at:]] for part in coefficients]
    expected = _one_pass.pass_sums(strata, *coefficients, bounded=True)
    strata.insert(at, np.empty(0))
    np.testing.assert_allclose(_one_pass.pass_sums(strata, *wider, bounded=True), expected, rtol=1e-14)


def test_no_population_no_precision() -> None:
    found = _one_pass.pass_sums([np.asarray([0.2, 0.4])], [0], [1], [-1], bounded=False)
    assert found.total == 0
    assert np.isnan(found.pr_area)
    empty = _one_pass.pass_sums([], [], [], [], bounded=True)
    assert empty[:4] == (0.0, 0.0, 0.0, 0.0)


def test_log_loss_is_clipped_at_the_same_place() -> None:
    assert _one_pass.EPSILON == _mean_losses.EPSILON


def test_ranks_among_strata() -> None:
    rng = np.random.default_rng(4)
    for sizes in ((0, 40, 0), (7, 30, 1), (100, 1, 50), (33, 33, 33)):
        parts = [_compiling.frozen(np.sort(rng.integers(0, 25, n) / 8)) for n in sizes]
        union = np.sort(np.concatenate(parts))
        found = _one_pass._ranked(*parts, np.arange(len(union) + 1))
        np.testing.assert_array_equal(found, np.append(-np.inf, union))


# --- histogram ------------------------------------------------------------------------------------


def root(x: Any) -> Any:
    return np.sqrt(np.sqrt(np.sqrt(x)))


def plain_bins(score: Any, kind: str, center: float, scale: float, n_bins: int) -> Any:
    if kind == "probability":
        t = root(score) - root(1 - score)
        index = 1 + np.minimum(np.floor((t + 1) * (n_bins / 2)), n_bins - 1)
        return np.where(score == 0, 0, np.where(score == 1, n_bins + 1, index)).astype(np.int64)
    z = (score - center) / scale
    q = root(1 / (1 + np.abs(z)))
    t = np.where(z >= 0, 1 - q, q - 1)
    return np.minimum(np.floor((t + 1) * (n_bins / 2)), n_bins - 1).astype(np.int64)


def plain_sums(score: Any, weight: Any, index: Any, n: int, kind: str) -> dict[str, Any]:
    names, w = ["rows"], np.ones(len(score)) if weight is None else weight
    adds = {"rows": np.ones(len(score)) / 2**32, "position": w * score, "weight": w, "square": w * w}
    names += ["position"] * (kind == "probability") + ["weight", "square"] * (weight is not None)
    out = {name: np.zeros(n, np.int64) for name in names}
    for name, column in out.items():
        np.add.at(column, index, np.floor(adds[name] * 2**32 + 0.5).astype(np.int64))
    out |= {"low": np.full(n, np.inf), "high": np.full(n, -np.inf)}
    np.minimum.at(out["low"], index, score)
    np.maximum.at(out["high"], index, score)
    return out


def binned(score: Any, weight: Any, kind: str, center: float, scale: float, n_bins: int) -> list[Any]:
    state = _row_bins.bin_rows(score, weight, kind=kind, center=center, scale=scale, n_bins=n_bins)
    return [*state[:, :-2].T, *state.view(np.float64)[:, -2:].T]


def adversarial(n_bins: int) -> Any:
    """Scores about the edges of bins, the ends, and every power of two."""
    edges = np.arange(1, n_bins) / (n_bins / 2) - 1
    left, right = np.zeros(len(edges)), np.ones(len(edges))
    for _ in range(60):
        middle = (left + right) / 2
        below = root(middle) - root(1 - middle) < edges
        left, right = np.where(below, middle, left), np.where(below, right, middle)
    near = [np.nextafter(left, 0), left, right, np.nextafter(right, 1)]
    powers = 2.0 ** -np.arange(1, 1075)
    ends = [0.0, 1.0, 5e-324, np.nextafter(1, 0), np.nextafter(0.5, 0), 0.5, np.nextafter(0.5, 1)]
    return np.concatenate([*near, powers, 1 - powers, ends])


@pytest.mark.parametrize("n_bins", [1, 7, 4096, 1 << 16, 1 << 18, 1 << 20])
def test_bins_of_probabilities_to_the_bit(n_bins: int) -> None:
    rng = np.random.default_rng(5)
    score = np.concatenate([rng.random(500_000), rng.beta(0.05, 0.05, 500_000), adversarial(n_bins)])
    found = binned(score, None, "probability", 0.0, 1.0, n_bins)
    index = plain_bins(score, "probability", 0.0, 1.0, n_bins)
    expected = plain_sums(score, None, index, n_bins + 2, "probability")
    for mine, plain in zip(found, expected.values(), strict=True):
        np.testing.assert_array_equal(mine, plain)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["probability", "margin"])
def test_bins_of_weighted_rows_to_the_bit(kind: str, weighted: bool) -> None:
    rng = np.random.default_rng(6)
    score = rng.random(300_000)
    if kind == "margin":
        score = np.concatenate([3 * rng.standard_cauchy(300_000), [1e308, -1e308, 0.1, 5e-324, 0.0]])
    weight = rng.exponential(3, len(score)) if weighted else None
    found = binned(score, weight, kind, 0.1, 1.7, 4096)
    index = plain_bins(score, kind, 0.1, 1.7, 4096)
    n = 4098 if kind == "probability" else 4096
    expected = plain_sums(score, weight, index, n, kind)
    for mine, plain in zip(found, expected.values(), strict=True):
        np.testing.assert_array_equal(mine, plain)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["probability", "margin"])
def test_bins_of_soft_labels_to_the_bit(kind: str, weighted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(8)
    score = rng.random(300_000) * (3 if kind == "margin" else 1)
    soft = np.concatenate([rng.random(299_996), [0.0, 0.5, np.nextafter(0.5, 0), 1.0]])
    weight = rng.exponential(3, len(score)) + 0.01 if weighted else None

    def columns(compiled_from: int) -> dict[str, Any]:
        monkeypatch.setattr(_histogram, "COMPILED", compiled_from)
        return vars(_histogram.Bins.of(ht.Grid(kind, n_bins=4096), score, weight, value=soft))

    fast, plain = columns(1), columns(len(score) + 1)
    assert fast.keys() == plain.keys()
    for name, column in plain.items():
        np.testing.assert_array_equal(fast[name], column, err_msg=name)


# --- threads --------------------------------------------------------------------------------------


@pytest.mark.usefixtures("small_pieces")
def test_results_do_not_depend_on_threads() -> None:
    rng = np.random.default_rng(7)
    p, u, q = (np.sort(rng.beta(a, 3, n)) for a, n in ((4, 3001), (2, 9002), (1, 2003)))
    shuffled, weight = rng.permutation(u), rng.exponential(1, len(u))
    coefficients = [0, 1, 0], [0.9, -0.01, 0.02], [-0.9, 1.01, -0.02]

    def all_of_it() -> list[Any]:
        return [
            np.asarray(_one_pass.pass_sums([p, u, q], *coefficients, bounded=True)),
            *_one_pass.mass_moments([p, u, q], [share != 0 for share in coefficients[0]], 20),
            *binned(u, weight, "probability", 0.0, 1.0, 512),
            _sorting.sort(shuffled),
        ]

    one = with_threads(1, all_of_it)
    for threads in (2, 3):
        for mine, other in zip(one, with_threads(threads, all_of_it), strict=True):
            assert mine.tobytes() == other.tobytes()


@pytest.mark.parametrize(("bins", "threads"), [(50, 3), (100, 2), (150, 1), (1000, 1)])
def test_threads_hold_no_more_than_a_given_number_of_integers(
    bins: int, threads: int, small_pieces: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_row_bins, "MOST_HELD", 600)  # a bin of margins takes three
    held: list[int] = []
    joined = _row_bins.joined

    def counted(states: list[Any]) -> Any:
        held.append(len(states))
        return joined(states)

    monkeypatch.setattr(_row_bins, "joined", counted)
    score = np.random.default_rng(9).standard_normal(1000)
    state = with_threads(3, lambda: binned(score, None, "margin", 0.0, 1.0, bins))
    assert held == [threads]
    assert state[0].sum() == len(score)


# --- compiling ------------------------------------------------------------------------------------

# A loop that compiles soon, for two kinds of data.
USE = (
    "from halftruth.kernels._monotone import _falls as f; assert f(1.0, 2.0, 1.0, 1.0) and not f(1, 0, 1, 1)"
)
NOWHERE = "import numba.core.caching as c; c.CacheImpl._locator_classes = []; "


def stderr_of(code: str, cache: Path) -> str:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_first_compile_says_so_once(tmp_path: Path) -> None:
    said = "halftruth: compiling kernels for this machine, once for each kind of data; this takes some seconds.\n"
    assert stderr_of(USE, tmp_path) == said
    assert stderr_of(USE, tmp_path) == ""


def test_nowhere_to_cache(tmp_path: Path) -> None:
    said = "halftruth: compiling kernels that no writable cache can keep; this takes some seconds.\n"
    assert stderr_of(NOWHERE + USE, tmp_path) == said
    assert list(tmp_path.iterdir()) == []


def test_a_cache_directory_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "Traceback" not in stderr_of(USE, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == b""
