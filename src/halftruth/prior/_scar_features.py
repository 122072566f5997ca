"""Is SCAR refuted by the features of the rows, or by when they came?

- features: artificial labels, after Teisseyre, Furmańczyk and Mielniczuk (2024). The rows that score highest,
  of the unlabeled as many as the prior says, are taken for positives. Labels given at random would know each
  with one chance, c = n_P / (n_P + α n_U). A fit on some of these rows foretells where more are known, the
  others show whether it is so, labels drawn at random how often it seems so by chance. The published test
  refutes random labels where classes overlap, so two things differ. Known positives that score low are left
  out, as unlabeled ones are. And only more labels than c count: negatives among the likely positives dilute
  known ones, so fewer say nothing (α f_P ≤ f_U is all that SCAR implies).
- time: if neither labels nor the class at equal features depend on it, known and unlabeled rows of one score
  came at the same times. Permutations in groups of like score, of what the features leave of the time.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, Note, arg
from halftruth.prior._belief import ESTIMATE, Share, belief
from halftruth.prior._from_features import HeldOut
from halftruth.prior._law_tests import largest_sum, share_beyond
from halftruth.prior._scar_test import SCAR, Check, Outcome, ScarTest, jointly, judged_by_holm, notes_on
from halftruth.prior._shares import Sizes

__all__ = ["scar_test_from_features"]

N_FOLDS = 5  # of the likely positives: four foretell where more are known, one shows whether it is so
FEWEST_LIKELY = 20  # unlabeled rows taken for positives
N_GROUPS = 10  # of like score, as many known positives in each
TIME_ORDERS = 3  # polynomials of time: earlier or later, both or neither, a turn
N_NAMED = 3  # features named as those that differ most

OVERLAP = Note(
    "identifiability",
    "Only known positives denser than the unlabeled allow are seen. Where the classes overlap, labels that "
    "follow the features look like a class with fewer positives there.",
)
LATE = "Times cannot tell labels that come late from positives that get commoner or rarer at equal features."
DRIFT = Note("identifiability", LATE)


def scar_test_from_features(
    X: Any,
    labeled: Any,
    *,
    prior: Share | None = None,
    time: ArrayLike | None = None,
    classifier: Any = None,
    confidence_level: float = 0.95,
    n_resamples: int = 999,
    rng: int | np.random.Generator = 0,
) -> ScarTest:
    """Whether features or times refute that the known positives are a random sample of the positives (SCAR).

    Parameters
    ----------
    X : (n, k) array or data frame of numbers
    labeled : (n,) bool
        True for known positives, False for unlabeled rows.
    prior : float, (low, high) or PriorEstimate, optional
        α, the share of positives among the unlabeled, known otherwise than from these rows. The check of the
        features needs it. A range is refuted only as a whole.
    time : (n,) array of numbers or dates, optional
        When each row came. This check needs no prior. Leave what follows from the time out of ``X``.
    classifier : scikit-learn classifier, optional
        Finds the likely positives, as in `estimate_prior_from_features`.
    confidence_level : float
    n_resamples : int
        Artificial labels, and permutations.
    rng : int or numpy Generator

    Returns
    -------
    ScarTest
        Of "features" the ``statistic`` is in standard errors; ``differs`` has the features that differ most,
        and how much it loses without each. Of "time" it is a distance; ``differs``: how much later.

    Examples
    --------
    >>> import halftruth as ht, numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(4_000) < 0.4
    >>> X = rng.normal(0, 1, (4_000, 2)) + 3 * y[:, None]
    >>> chance = 0.6 / (1 + np.exp(3 - X[:, 0]))  # the more of the first feature, the likelier known
    >>> for labeled in (y & (rng.random(4_000) < 0.3), y & (rng.random(4_000) < chance)):
    ...     options = {"prior": y[~labeled].mean(), "classifier": LogisticRegression()}
    ...     print(ht.scar_test_from_features(X, labeled, **options).refuted)
    False
    True
    """
    level = _checks.confidence_level(confidence_level)
    n = _checks.count(n_resamples, "n_resamples", least=1)
    x = _checks.matrix(X, "X")
    known = _checks.binary_labels(labeled, "labeled", length=len(x))
    if prior is None and time is None:
        text = "or both: features alone fit any labels, if few enough of the unlabeled are positive."
        raise InputError(f"Pass {arg('prior')} or {arg('time')}, {text}")
    when = None if time is None else _moments(time, len(x))
    alpha = None if prior is None else _least_share(prior, known)
    random = np.random.default_rng(rng)
    rows = _Rows(_normal_scores(x, 2), known, HeldOut(x, known, classifier).of(random))
    checks, unseen = [], []
    if alpha is not None:
        names = [str(name) for name in getattr(X, "columns", [f"column {j}" for j in range(x.shape[1])])]
        checks.append(_feature_check(rows, alpha, names, n, random))
        unseen.append(OVERLAP)
    if when is not None:
        checks.append(_time_check(rows, when, n, random))
        unseen.append(DRIFT)
    judged = judged_by_holm(checks, 1 - level)
    notes = notes_on(judged, n, 1 - level, unseen)
    return ScarTest(checks=judged, confidence_level=level, notes=tuple(notes))


class _Rows(NamedTuple):
    basis: Vector  # (n, k, 2)
    known: NDArray[np.bool_]
    score: Vector  # by models that have not seen the row


def _least_share(prior: object, known: NDArray[np.bool_]) -> float:
    """The least α that the prior allows: a range is refuted only as a whole."""
    if isinstance(prior, str) and prior == ESTIMATE:
        raise InputError(f"{arg('prior')} must be known otherwise: an estimate from these rows assumes SCAR.")
    share = belief(prior, "prior")
    of_all = Sizes(float(known.sum()), float((~known).sum()), 0.0).alpha(min(share.ends()), 1.0)
    return float(np.clip(of_all, 0, 1)) if share.population == "all" else min(share.ends())


def _moments(time: Any, n: int) -> Vector:
    """Times as numbers; of dates, microseconds."""
    values = time.to_numpy() if hasattr(time, "to_numpy") else np.asarray(time)
    if values.dtype.kind not in "fiub":
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "no explicit representation of timezones")  # UTC will do
                dates = values.astype("datetime64[us]")
        except (TypeError, ValueError):
            raise InputError(argument="time", must="hold numbers or dates", got=repr(values[:1])) from None
        if missing := int(np.isnat(dates).sum()):
            raise InputError(argument="time", must="be known for every row", got=f"{missing} missing")
        values = dates.astype(np.int64)
    return _checks.vector(values, "time", length=n)


def _normal_scores(x: Vector, orders: int) -> Vector:
    """Hermite polynomials of each column's normal scores, (n, k, orders)."""
    from scipy.special import ndtri
    from scipy.stats import rankdata

    z = ndtri((rankdata(x, axis=0) - 0.5) / len(x))
    return np.stack([z, (z**2 - 1) / np.sqrt(2), (z**3 - 3 * z) / np.sqrt(6)][:orders], axis=-1)


def _excess(
    columns: Vector, fold: NDArray[np.int64], labels: Vector, n_known: int, expected: float, fixed: float
) -> tuple[Vector, Vector]:
    """How many more are known where other folds foretell more: in standard errors, and as a ratio.

    For each of (m, rows) ``labels``. ``expected`` is α n_U; ``fixed`` takes noise off, see below.
    """
    chance = n_known / (n_known + expected)
    hits, total, squares = np.zeros((3, len(labels)))
    for k in range(N_FOLDS):
        held = fold == k
        middle = columns[~held].mean(axis=0)
        learned, shown = columns[~held] - middle, columns[held] - middle
        gram = learned.T @ learned + np.eye(learned.shape[1])  # a little more: columns may be constant
        slope = np.linalg.solve(gram, learned.T @ labels[:, ~held].T)
        weight = np.maximum(labels[:, ~held].mean(axis=1) + shown @ slope - chance, 0).T
        hits += (weight * labels[:, held]).sum(axis=1)
        total += weight.sum(axis=1)
        squares += (weight**2).sum(axis=1)
    mean, square = total / (n_known + expected), squares / (n_known + expected)
    noise = square / n_known + square / expected - fixed * mean**2
    gap = hits / n_known - (total - hits) / expected
    z = np.divide(gap, np.sqrt(np.maximum(noise, 0)), out=np.zeros_like(gap), where=noise > 0)
    return z, np.divide(hits, chance * total, out=np.ones_like(total), where=total > 0)


def _feature_check(rows: _Rows, alpha: float, names: list[str], n: int, rng: np.random.Generator) -> Outcome:
    check = Check(name="features", p_value=None, concerns=(SCAR, "prior"))
    n_known, expected = int(rows.known.sum()), alpha * float((~rows.known).sum())
    if expected < FEWEST_LIKELY:
        says = f"Not made: it needs {FEWEST_LIKELY} positives among the unlabeled, α says {expected:.3g}."
        return replace(check, says=says), ""
    likely = rows.score >= np.quantile(rows.score[~rows.known], 1 - alpha)
    basis, labels = rows.basis[likely], rows.known[None, likely].astype(np.float64)
    fold, every = rng.permutation(len(basis)) % N_FOLDS, basis.reshape(len(basis), -1)

    def real(columns: Vector) -> tuple[float, float]:
        # Labels drawn one by one have the noise of a Poisson law; the number of the real ones is fixed.
        z, ratio = _excess(columns, fold, labels, n_known, expected, 1 / n_known + alpha / expected)
        return float(z[0]), float(ratio[0])

    def artificial(m: int) -> Vector:
        drawn = rng.random((m, len(basis))) < n_known / (n_known + expected)
        return _excess(every, fold, drawn.astype(np.float64), n_known, expected, 0.0)[0]

    z, ratio = real(every)
    p_value = share_beyond(np.asarray(z), artificial, n, len(basis))
    others = (np.delete(basis, j, axis=1).reshape(len(basis), -1) for j in range(len(names)))
    lost = z - np.asarray([real(columns)[0] for columns in others])
    most = tuple((names[j], float(lost[j])) for j in np.argsort(-lost, kind="stable")[:N_NAMED])
    says = f"Likely positives are known as at random, with α = {alpha:.4g}."
    check = replace(check, p_value=p_value, says=says, statistic=z, differs=most)
    return check, (
        f"Of some likely positives {ratio:.2f} times as many are known as labels at random would give, with "
        f"α = {alpha:.4g}; they differ most by {', '.join(dict(most))}. {jointly(check.concerns)}"
    )


def _time_check(rows: _Rows, when: Vector, n: int, rng: np.random.Generator) -> Outcome:
    check = Check(name="time", p_value=None, concerns=(SCAR, "no drift"))
    cuts = np.quantile(rows.score[rows.known], np.arange(1, N_GROUPS) / N_GROUPS)
    group = np.searchsorted(cuts, rows.score)
    # Rows of one score may still differ in features, and features in time: what they foretell is taken out.
    flat = np.column_stack([np.ones(len(when)), rows.basis.reshape(len(when), -1)])
    left = _normal_scores(when[:, None], TIME_ORDERS)[:, 0]
    left -= flat @ np.linalg.lstsq(flat, left, rcond=None)[0]
    noise, sums, parts = np.zeros((TIME_ORDERS, TIME_ORDERS)), np.zeros(TIME_ORDERS), []
    for k in np.unique(group[rows.known]):
        centered, mine = left[group == k] - left[group == k].mean(axis=0), rows.known[group == k]
        size, m = len(mine), int(mine.sum())
        if m < size:
            noise += m * (size - m) / (size * (size - 1)) * centered.T @ centered
            sums += centered[mine].sum(axis=0)
            parts.append((centered, m))
    if np.ptp(when) == 0 or not parts:
        return replace(check, says="Not made: no unlabeled row of a like score came at another time."), ""
    root = np.linalg.cholesky(noise + 1e-9 * np.trace(noise) * np.eye(TIME_ORDERS))

    def distance(gaps: Vector) -> Vector:
        return largest_sum(np.asarray(np.linalg.solve(root, gaps.T).T, dtype=float) ** 2)  # as for sources

    def shuffled() -> Vector:
        picked = (part[rng.choice(len(part), m, replace=False, shuffle=False)] for part, m in parts)
        return np.asarray(sum(chosen.sum(axis=0) for chosen in picked))

    (far,) = distance(sums[None])
    p_value = share_beyond(far, lambda m: distance(np.stack([shuffled() for _ in range(m)])), n, TIME_ORDERS)
    later = float(sums[0] / np.sqrt(noise[0, 0]))
    says = "Known positives came when unlabeled rows of their score did."
    check = replace(check, p_value=p_value, says=says, statistic=float(far), differs=(("time", later),))
    word = "at other times" if abs(later) < 2 else "earlier" if later < 0 else "later"
    return check, f"Known positives came {word} than unlabeled rows of their score. {jointly(check.concerns)}"
