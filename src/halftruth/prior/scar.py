"""Is "selected completely at random" refuted: are the known positives no random sample of the positives?

SCAR cannot be proved from scores, but some of what it implies can fail, and each implication has its check.

- prior: f₀ ≥ 0 means (α/ρ) f_P ≤ f_U. Between two positives of fixed ranks P has a Beta mass whatever its
  law, so the chance of as few unlabeled rows there is a binomial tail under a Beta; ranks share the error.
- sources: the positives of every source have one law. Neyman's smooth test with the number of components
  chosen by the data (Fan 1996), by permutation: exact with any ties. At n = 200 + 200 its power against a
  shift of .3 sd, a scale of 1.3 and 10% from elsewhere was .75, .76, .76; Anderson–Darling had .79, .54, .54,
  Kolmogorov–Smirnov .70, .25, .31.
- negatives: U = λ P + (1−λ) N with λ = α/ρ. The least distance over λ, against samples drawn from the
  likeliest laws for which that is true.
- labeled sample: the positives found there and P have one law; with purity ρ, P = λ f₁ + (1−λ) U with
  λ = (ρ−α)/(1−α).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from halftruth import checks
from halftruth.belief import Belief, belief
from halftruth.checks import Vector
from halftruth.errors import InputError
from halftruth.prior.bounds import FEWEST_RANKED, LOWER_SIDE, _ranks, _Tail
from halftruth.results import figure, json_number
from halftruth.table import NEGATIVE, POSITIVE, UNLABELED

MIDDLE = 0.3
"""Part of the error spent on intervals of ranks: half-lines miss positives that pile up in the middle."""
DEPTH = 4
"""Intervals hold from a half to 2⁻⁴ of the positives: narrower ones have too few to refute much."""
SMALLEST = 1e-12
"""Tails are accurate down to there, and smaller p-values are told as this one."""
N_GROUPS = 400
"""Scores are joined into so many groups at most; polynomials of low degree lose nothing by that."""
MOST_ORDERS = 8
"""Components that the smooth test may choose from: beyond, only laws finer than samples show differ."""
MIXTURE_ORDERS = 4
"""Components of the test of a mixture, one of which the fit of λ uses up."""
KNOWN_IN_GROUP = 10
"""Rows of the two parts of a mixture in each group: a score that neither shows may still be theirs."""
FEWEST_MIXED = 50
"""Rows of the mixture itself: with 5 in place of 50 its test had a size of .10 for .05."""
N_STEPS = 500
"""Of expectation-maximization, from near the end: with 200 from λ = ½ the size was .06 at n_U = 20,000."""
CHUNK = 1 << 22
"""Counts drawn at a time."""
SCAR = "SCAR"
WORDS = {"prior": "the prior", "purity": "the purity", "random negatives": "the random choice of negatives"}
UNSEEN = (
    "Every check looks at scores alone: selection by features that leaves their law as it is stays unseen."
)
LITTLE = (
    "Without a prior, known negatives, sources or a labeled sample nothing can be refuted: unlabeled scores "
    "fit any positives if few enough of them are positive."
)

Sample = tuple[Vector, Vector]
"""Distinct scores, ascending, and the number of rows at each."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """One implication and what the data say to it.

    ``p_value`` is None where the check could not be made; ``concerns`` names what cannot all be true if it is
    refuted.
    """

    name: str
    p_value: float | None
    refuted: bool = False
    concerns: tuple[str, ...] = (SCAR,)
    says: str = ""


@dataclass(frozen=True, kw_only=True)
class ScarTest:
    """What refutes SCAR, and what does not.

    Attributes
    ----------
    refuted : bool
        Whether a check refutes SCAR, alone or together with what it also rests on.
    p_value : float
        The least of these checks' p-values times their number; 1 where none could be made.
    checks : tuple of Check
        Which of them refute was found by Holm's method, so that all hold at the confidence level.
    confidence_level : float
    notes : tuple of str
        What the checks cannot see.
    """

    checks: tuple[Check, ...]
    confidence_level: float
    notes: tuple[str, ...] = ()

    @property
    def refuted(self) -> bool:
        return any(check.refuted for check in self.checks if SCAR in check.concerns)

    @property
    def p_value(self) -> float:
        made = [c.p_value for c in self.checks if SCAR in c.concerns and c.p_value is not None]
        return min(1.0, len(made) * min(made, default=1.0)) if made else 1.0

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        head = {"refuted": self.refuted, "p_value": self.p_value, "confidence_level": self.confidence_level}
        rows = [
            asdict(c) | {"p_value": json_number(c.p_value), "concerns": list(c.concerns)} for c in self.checks
        ]
        return head | {"checks": rows, "notes": list(self.notes)}

    def __str__(self) -> str:
        made = any(SCAR in c.concerns and c.p_value is not None for c in self.checks)
        verdict = f"is {'' if self.refuted else 'not '}refuted" if made else "could not be tested"
        lines = [f"SCAR {verdict} (p = {figure(self.p_value)}, confidence {self.confidence_level:g})", ""]
        width = max(len(check.name) for check in self.checks)
        lines += [f"{'check':<{width}}  p-value", "-" * (width + 9)]
        lines += [f"{c.name:<{width}}  {figure(c.p_value):>7}  {c.says}" for c in self.checks]
        return "\n".join([*lines, "", *(f"Note: {note}" for note in self.notes)])


def scar_test(
    positive: Any,
    unlabeled: Any = None,
    *,
    prior: Any = None,
    purity: Any = 1.0,
    negative: Any = None,
    source: Any = None,
    labeled_sample: Any = None,
    confidence_level: float = 0.95,
    n_resamples: int = 2000,
    rng: int | np.random.Generator = 0,
) -> ScarTest:
    """Whether the data refute that the known positives are a random sample of the positives (SCAR).

    Parameters
    ----------
    positive : array or PositiveUnlabeled
        Scores of the known positives; or evidence, which then holds the next four too.
    unlabeled : array, optional
    prior : float, (low, high) or PriorEstimate, optional
        α, the share of positives among the unlabeled. A range is refuted only as a whole.
    purity : float, (low, high) or PriorEstimate
        Share of the known positives that are positive.
    negative : array, optional
        Scores of known negatives, a random sample of the negatives.
    source : array, optional
        Where each positive comes from, e.g. its hospital or year.
    labeled_sample : array or (scores, y), optional
        Scores of the positives found in a random sample of the unlabeled; or of the whole sample with its
        labels 0 and 1, which then test the prior too.
    confidence_level : float
    n_resamples : int
        Permutations and bootstrap samples. The prior's check needs none.
    rng : int or numpy Generator

    Returns
    -------
    ScarTest

    Examples
    --------
    >>> import numpy as np
    >>> from halftruth.prior.scar import scar_test
    >>> rng = np.random.default_rng(0)
    >>> unlabeled = np.append(rng.normal(0, 1, 1_600), rng.normal(2, 1, 400))
    >>> scar_test(rng.normal(2, 1, 200), unlabeled, prior=0.2).refuted
    False
    >>> scar_test(rng.normal(3, 1, 200), unlabeled, prior=0.2).refuted
    True
    """
    level = checks.confidence_level(confidence_level)
    n = checks.count(n_resamples, "n_resamples", least=1)
    random = np.random.default_rng(rng)
    given = _read(positive, unlabeled, prior, purity, negative)
    found = [_prior_check(given)]
    if source is not None:
        found.append(_source_check(given, source, n, random))
    if given.samples.get(NEGATIVE) is not None:
        found.append(_negative_check(given, n, random))
    if labeled_sample is not None:
        found += _labeled_checks(given, labeled_sample, n, random)
    judged = _judged(found, 1 - level)
    return ScarTest(checks=judged, confidence_level=level, notes=tuple(_notes(judged, n, 1 - level)))


@dataclass(frozen=True, kw_only=True, eq=False)
class _Given:
    """The samples, the positives row by row, and the extreme pairs (α, ρ) that prior and purity allow."""

    samples: dict[str, Sample]
    rows: Vector | None
    purity: list[float]
    shares: list[tuple[float, float]]

    def range_of(self, share: Callable[[float, float], float], highest: float = 1.0) -> tuple[float, float]:
        """Of a share of α and ρ, over the pairs; from 0 to ``highest`` without a prior."""
        each = [min(max(share(*pair), 0.0), 1.0) for pair in self.shares] or [0.0, highest]
        return min(each), max(each)


def _read(positive: Any, unlabeled: Any, prior: Any, purity: Any, negative: Any) -> _Given:
    if hasattr(positive, "table"):
        if not (unlabeled is None and prior is None and negative is None and purity == 1.0):
            raise InputError(
                "Evidence holds `unlabeled`, `prior`, `purity` and `negative` itself: pass them only there."
            )
        return _of_evidence(positive)
    if negative is not None and unlabeled is None:
        raise InputError("`negative` was given without `unlabeled`. Pass both: their scores are compared.")
    arrays = {POSITIVE: positive, UNLABELED: unlabeled, NEGATIVE: negative}
    scores = {name: checks.scores(x, name) for name, x in arrays.items() if x is not None}
    samples = {name: _counted(x) for name, x in scores.items()}
    known = belief(prior, "prior"), belief(purity, "purity", closed_at_one=True)
    return _with_shares(samples, scores[POSITIVE], *known, population=UNLABELED)


def _of_evidence(evidence: Any) -> _Given:
    support, strata = evidence.table.support, evidence.table.strata
    if UNLABELED not in strata or POSITIVE not in strata:
        raise InputError(f"`positive` must be scores or PositiveUnlabeled evidence, got {evidence!r}.")
    if any(cells.weight is not None or cells.value is not None for cells in support.strata.values()):
        raise InputError(
            "scar_test takes rows of weight one, and no propensities: with those SCAR is not assumed."
        )
    samples = {k: (support.score[cells.atom], cells.count) for k, cells in support.strata.items()}
    rows = None if evidence.table.grid is not None else strata[POSITIVE].score
    return _with_shares(samples, rows, evidence.prior, evidence.purity, population=evidence.population)


def _with_shares(
    samples: dict[str, Sample], rows: Vector | None, prior: Belief, purity: Belief, *, population: str
) -> _Given:
    """Convert the prior into α: π n = ρ n_P + α n_U where it is that of all rows."""
    sizes = {name: int(count.sum()) for name, (_, count) in samples.items()}

    def alpha(share: float, rho: float) -> float:
        if (prior.population or population) == UNLABELED:
            return share
        return (share * sum(sizes.values()) - rho * sizes[POSITIVE]) / sizes[UNLABELED]

    pairs = [(alpha(share, rho), rho) for share in prior.ends() for rho in purity.ends()]
    if purity.value is None:
        raise InputError("`purity` must be a number in (0, 1], a pair or an estimate, got None.")
    if prior.value is not None and 1 > purity.value <= (claimed := alpha(prior.value, purity.value)):
        raise InputError(
            f"`purity` must exceed the share of positives among the unlabeled, got purity={purity.value:g} "
            f"and α={claimed:.4g}. Check which share is which."
        )
    return _Given(samples=samples, rows=rows, purity=purity.ends(), shares=pairs)


def _prior_check(given: _Given) -> tuple[Check, str]:
    check = Check(name="prior", p_value=None, concerns=(SCAR, "prior", "purity"))
    if UNLABELED not in given.samples:
        return replace(check, says="Not made: it needs unlabeled scores."), ""
    if not given.shares:
        says = "Not made: without a prior it can refute nothing, since α = 0 fits any scores."
        return replace(check, says=says), ""
    claimed, _ = given.range_of(_share_of_known)
    p, u = _aligned(given.samples[POSITIVE], given.samples[UNLABELED])
    alpha, rho = min(given.shares, key=lambda pair: _share_of_known(*pair))
    held = f"α = {alpha:.4g} and purity {rho:.4g}"
    return (
        replace(check, p_value=_pile_up(p, u, claimed), says=f"The scores are possible with {held}."),
        f"Known positives pile up more than the unlabeled allow with {held}. {_jointly(check.concerns)}",
    )


def _source_check(given: _Given, source: Any, n: int, rng: np.random.Generator) -> tuple[Check, str]:
    rows = _exact(given, "source")
    if np.shape(source) != rows.shape:
        raise InputError(
            f"`source` must have one label for each of {len(rows)} positives, got {np.shape(source)}."
        )
    name, label = np.unique(np.asarray(source).astype(str), return_inverse=True)
    if len(name) < 2:
        raise InputError(f"`source` must name two sources or more, got only {str(name[0])!r}.")
    counts = _aligned(*(_counted(rows[label == k]) for k in range(len(name))))
    check = Check(name="sources", p_value=_one_law(counts, n, rng), says="The sources' scores agree.")
    return check, (
        f"The scores of the {len(name)} sources differ: not all of them are a random sample of the positives."
    )


def _negative_check(given: _Given, n: int, rng: np.random.Generator) -> tuple[Check, str]:
    concerns = (SCAR, "random negatives", *(["prior", "purity"] if given.shares else []))
    check = Check(name="negatives", p_value=None, concerns=concerns)
    counts = _aligned(*(given.samples[name] for name in (UNLABELED, POSITIVE, NEGATIVE)))
    if counts[0].sum() < FEWEST_MIXED:
        return replace(check, says=f"Not made: it needs {FEWEST_MIXED} unlabeled scores or more."), ""
    share = "the given share" if given.shares else "some share"
    p_value = _mixture(counts, given.range_of(_share_of_known), n, rng)
    return (
        replace(
            check, p_value=p_value, says=f"The unlabeled can be a mixture of both, with {share} of positives."
        ),
        f"The unlabeled are no mixture of known positives and negatives with {share.replace('some', 'any')} "
        f"of positives. {_jointly(concerns)}",
    )


def _labeled_checks(
    given: _Given, labeled_sample: Any, n: int, rng: np.random.Generator
) -> Iterator[tuple[Check, str]]:
    rows = _exact(given, "labeled_sample")
    found, size = _found(labeled_sample)
    check = Check(
        name="labeled sample", p_value=None, says="The positives found there score like the known ones."
    )
    refuted = (
        "The positives found in the labeled sample score otherwise than the known ones. This refutes SCAR."
    )
    if len(found) == 0:
        check = replace(check, says="Not made: no positive was found in the labeled sample.")
    elif min(given.purity) == 1:
        check = replace(check, p_value=_one_law(_aligned(_counted(rows), _counted(found)), n, rng))
    elif UNLABELED not in given.samples or len(rows) < FEWEST_MIXED:
        says = f"Not made: with purity < 1 it needs unlabeled scores and {FEWEST_MIXED} known positives."
        check = replace(check, says=says)
    else:
        weights = given.range_of(lambda alpha, rho: (rho - alpha) / max(1 - alpha, 1e-300), max(given.purity))
        counts = _aligned(_counted(rows), _counted(found), given.samples[UNLABELED])
        concerns = (SCAR, "purity", *(["prior"] if given.shares else []))
        check = replace(check, p_value=_mixture(counts, weights, n, rng), concerns=concerns)
        refuted = f"The known positives are no mixture of those found and of negatives. {_jointly(concerns)}"
    yield check, refuted
    if size is not None and given.shares:
        limits = given.range_of(lambda alpha, _: alpha)
        share = Check(name="share", p_value=_binomial(len(found), size, *limits), concerns=("prior",))
        seen = f"{len(found)} of {size} in the labeled sample are positive"
        yield replace(share, says=f"{seen}, as the prior allows."), f"{seen}: the prior is refuted, not SCAR."


def _share_of_known(alpha: float, rho: float) -> float:
    """λ with U = λ P + (1−λ) N; also what P may not exceed: λ f_P ≤ f_U."""
    return alpha / rho


def _jointly(concerns: tuple[str, ...]) -> str:
    words = [WORDS.get(word, word) for word in concerns]
    return f"This refutes {', '.join(words[:-1])} and {words[-1]} jointly, not SCAR alone."


def _judged(found: Sequence[tuple[Check, str]], error: float) -> tuple[Check, ...]:
    """Holm's method over the checks of SCAR. What tests the prior alone is judged alone."""
    p = [c.p_value for c, _ in found if c.p_value is not None and SCAR in c.concerns]
    passed = [k for k, value in enumerate(sorted(p)) if value * (len(p) - k) > error]
    highest = sorted(p)[passed[0]] if passed else 1.0

    def judged(check: Check, refuted: str) -> Check:
        p_value = 1.0 if check.p_value is None else check.p_value
        bad = p_value < highest if SCAR in check.concerns else p_value <= error
        return replace(check, refuted=bad, says=refuted if bad else check.says)

    return tuple(judged(*pair) for pair in found)


def _notes(judged: tuple[Check, ...], n: int, error: float) -> Iterator[str]:
    made = [c for c in judged if c.p_value is not None and SCAR in c.concerns]
    yield UNSEEN
    if not made:
        yield LITTLE
    elif not any(check.refuted for check in made):
        yield "What is not refuted need not be true: few rows refute little."
    if len(made) > error * (n + 1) and any(check.name != "prior" for check in made):
        yield f"Only {n} resamples: they cannot refute at this level. Pass n_resamples of 2000 or more."
    if any(check.refuted and SCAR not in check.concerns for check in judged):
        yield "The labeled sample refutes the prior: what is refuted jointly with it may be its fault alone."


def _exact(given: _Given, name: str) -> Vector:
    if given.rows is None:
        raise InputError(f"`{name}` needs the positives as they came, not a histogram. Pass their scores.")
    return given.rows


def _found(labeled_sample: Any) -> tuple[Vector, int | None]:
    """The scores of the positives found, and the size of the sample where it was given whole."""
    name = "labeled_sample"
    if not (isinstance(labeled_sample, tuple) and len(labeled_sample) == 2 and np.ndim(labeled_sample[0])):
        return checks.vector(labeled_sample, name) + 0.0, None
    score = checks.scores(labeled_sample[0], name)
    return score[checks.binary_labels(labeled_sample[1], f"{name}[1]", length=len(score))], len(score)


def _counted(score: Vector) -> Sample:
    distinct, count = np.unique(score, return_counts=True)
    return distinct, count.astype(np.float64)


def _aligned(*samples: Sample) -> Vector:
    """Counts of each sample at the distinct scores of all."""
    score = np.unique(np.concatenate([own for own, _ in samples]))
    out = np.zeros((len(samples), len(score)))
    for row, (own, count) in zip(out, samples, strict=True):
        row[np.searchsorted(score, own)] = count
    return out


def _pile_up(p: Vector, u: Vector, claimed: float) -> float:
    """At most the chance of regions so poor in unlabeled rows if claimed · P ≤ U; regions share the error.

    From the positive of rank i to that of rank j > i, both included, P has a mass that is at least
    Beta(j − i, n_P + 1 − j + i) in law, at any ties. Ranks 0 and n_P + 1 are the ends of the axis.
    """
    from scipy.special import ndtr

    n_p, n_u = p.sum(), u.sum()
    first, last, part = _regions(int(n_p))
    reached, below = np.cumsum(p), np.append(0.0, np.cumsum(u))
    start, stop = np.searchsorted(reached, first), np.searchsorted(reached, last)
    count, rank = below[np.minimum(stop + 1, len(u))] - below[start], last - first
    poor = count / n_u < claimed * rank / n_p
    if not poor.any():
        return 1.0
    count, rank = count[poor], rank[poor]
    x, y = (rank, n_p + 1 - rank), (count + 1, n_u - count)
    tail = _Tail(x, y, y[1] / y[0] / n_u < x[1] / x[0] / n_p)
    chance = ndtr(tail(np.log(claimed), np.arange(len(rank))))
    return float(np.clip(np.min(chance / part[poor]), SMALLEST, 1.0))


def _regions(n: int) -> tuple[Vector, Vector, Vector]:
    """Ranks of the first and the last positive of each region, and its part of the error."""
    top, low = _ranks(n), _ranks(n)[::-3]
    widths = [w for w in (n // 2**depth for depth in range(1, DEPTH + 1)) if w >= FEWEST_RANKED]
    middle = MIDDLE if widths else 0.0
    halves = (1 - middle) * (1 - LOWER_SIDE), (1 - middle) * LOWER_SIDE
    regions = [(n + 1 - top, np.full(len(top), n + 1.0), halves[0]), (np.zeros(len(low)), low, halves[1])]
    for width in widths:
        start = np.floor(np.arange(1, n - width + 0.5, width / 2))
        regions.append((start, start + width, middle / len(widths)))
    first, last = (np.concatenate([region[k] for region in regions]) for k in (0, 1))
    return first, last, np.concatenate([np.full(len(r[0]), r[2] / len(r[0])) for r in regions])


def _one_law(counts: Vector, n: int, rng: np.random.Generator) -> float:
    """Permutation test that samples have one law. Groups and polynomials depend on all rows together."""
    from scipy.stats import random_table

    pool = counts.sum(axis=0)
    counts = _joined(counts, pool, pool.sum() / N_GROUPS)
    pool, size = counts.sum(axis=0), counts.sum(axis=1)
    score = _polynomials(pool, MOST_ORDERS)
    freedom = (len(counts) - 1) * np.arange(1, score.shape[1] + 1)

    def statistic(tables: Vector) -> Vector:
        mean = tables @ score / size[:, None]
        apart = np.cumsum((size[:, None] * mean**2).sum(axis=-2), axis=-1)
        return np.asarray(((apart - freedom) / np.sqrt(freedom)).max(axis=-1, initial=-np.inf))

    def drawn(m: int) -> Vector:
        margins = size.astype(np.int64), pool.astype(np.int64)
        return statistic(random_table.rvs(*margins, size=m, random_state=rng))

    return _share_beyond(statistic(counts), drawn, n, counts.size)


def _mixture(counts: Vector, weights: tuple[float, float], n: int, rng: np.random.Generator) -> float:
    """Test that the first sample is λ times the second's law plus 1 − λ times the third's, λ in a range."""
    size = counts.sum(axis=1)
    known = counts[1] + counts[2]
    counts = _joined(counts, known, max(KNOWN_IN_GROUP, known.sum() / N_GROUPS))
    score = _polynomials((counts / size[:, None]).sum(axis=0), MIXTURE_ORDERS)
    if score.shape[1] == 0:
        return 1.0
    laws, share = _likeliest(counts, float(_nearest(counts @ score / size[:, None], weights)), weights)
    covariance = [(score.T * law) @ score - np.outer(law @ score, law @ score) for law in laws]
    noise = np.tensordot(np.array([1, share**2, (1 - share) ** 2]) / size, covariance, axes=1)
    noise += 1e-9 * np.trace(noise) * np.eye(len(noise))
    whitened = np.linalg.solve(np.linalg.cholesky(noise), score.T).T

    def statistic(tables: Vector) -> Vector:
        mean = tables @ whitened / size[:, None]
        return _distance(mean, _nearest(mean, weights))

    def drawn(m: int) -> Vector:
        tables = [rng.multinomial(int(rows), law, m) for rows, law in zip(size, laws, strict=True)]
        return statistic(np.stack(tables, axis=1))

    return _share_beyond(statistic(counts), drawn, n, counts.size)


def _nearest(mean: Vector, weights: tuple[float, float]) -> Vector:
    """λ in a range that brings the mixture nearest, from means of the three samples, (..., 3, orders)."""
    apart, off = mean[..., 1, :] - mean[..., 2, :], mean[..., 0, :] - mean[..., 2, :]
    length = (apart**2).sum(axis=-1)
    best = np.divide((apart * off).sum(axis=-1), length, out=np.zeros_like(length), where=length > 0)
    return np.asarray(np.clip(best, *weights))


def _distance(mean: Vector, share: Vector) -> Vector:
    weight = np.stack([np.ones_like(share), -share, share - 1], axis=-1)
    return np.asarray((np.einsum("...k,...kj->...j", weight, mean) ** 2).sum(axis=-1))


def _likeliest(counts: Vector, share: float, weights: tuple[float, float]) -> tuple[Vector, float]:
    """Laws of the three samples for which the mixture is exact, and λ: expectation-maximization.

    The mixture's own rows count too, so a score that the known rows happen to miss is not ruled out.
    """
    mixed, *known = counts
    share = float(np.clip(share, 0.01, 0.99).clip(*weights))  # steps never leave 0 and 1
    pool = (counts / counts.sum(axis=1, keepdims=True)).mean(axis=0)
    first, second = ((x + pool) / (x.sum() + 1) for x in known)
    for _ in range(N_STEPS):
        own, other = share * first, (1 - share) * second
        part = np.divide(own, own + other, out=np.zeros_like(own), where=own + other > 0)
        share = float(np.clip(mixed @ part / mixed.sum(), *weights))
        first, second = known[0] + mixed * part, known[1] + mixed * (1 - part)
        first, second = first / first.sum(), second / second.sum()
    law = share * first + (1 - share) * second
    return np.stack([law / law.sum(), first, second]), share


def _joined(counts: Vector, mass: Vector, least: float) -> Vector:
    """Neighbouring scores joined into groups of about ``least`` of a mass."""
    step = np.floor((np.cumsum(mass) - mass / 2) / least)
    return np.add.reduceat(counts, np.flatnonzero(np.diff(step, prepend=-1)), axis=1)


def _polynomials(mass: Vector, orders: int) -> Vector:
    """Polynomials in the mid-rank, of order 1 and up, orthonormal under this mass."""
    share = mass / mass.sum()
    root = np.sqrt(share)[:, None]
    powers = np.polynomial.legendre.legvander(2 * np.cumsum(share) - share - 1, min(orders, len(mass) - 1))
    made, _ = np.linalg.qr(powers * root)
    return np.asarray(made[:, 1:] / root)


def _share_beyond(seen: Vector, drawn: Callable[[int], Vector], n: int, width: int) -> float:
    """(1 + draws at least as far) / (1 + draws), which is valid at any number of draws."""
    step = max(1, CHUNK // width)
    limit = float(seen) - 1e-9 * (1 + abs(float(seen)))
    beyond = sum(int((drawn(min(step, n - at)) >= limit).sum()) for at in range(0, n, step))
    return (1 + beyond) / (1 + n)


def _binomial(k: int, n: int, low: float, high: float) -> float:
    """Exact two-sided test that a share lies in [low, high]."""
    from scipy.special import bdtr, bdtrc

    if low <= k / n <= high:
        return 1.0
    return min(1.0, 2 * float(bdtr(k, n, low) if k / n < low else bdtrc(k - 1, n, high)))
