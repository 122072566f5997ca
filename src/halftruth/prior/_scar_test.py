"""Is "selected completely at random" refuted: are the known positives no random sample of the positives?

SCAR cannot be proved from scores, but some of what it implies can fail, and each implication has its check.

- prior: f₀ ≥ 0 means (α/ρ) f_P ≤ f_U. Between two positives of fixed ranks P has a Beta mass whatever its
  law, so the chance of as few unlabeled rows there is a binomial tail under a Beta; ranks share the error.
  Of known positives that score too low it sees nothing: what they leave of U is a law like any other.
- sources: the positives of every source have one law. Neyman's smooth test with the number of components
  chosen by the data (Fan 1996), by permutation: exact with any ties.
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
from numpy.typing import ArrayLike

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, Note, arg, bare, notes_to_dict
from halftruth.prior._belief import ESTIMATE, Belief, Share, belief
from halftruth.prior._inputs import read_sample
from halftruth.prior._law_tests import Sample, aligned, counted, mixture_law, one_law, pile_up, share_within
from halftruth.prior._shares import NAMES, Sizes
from halftruth.results._estimate import figure, json_number
from halftruth.table._score_table import NEGATIVE, POSITIVE, UNLABELED

__all__ = ["ScarTest", "scar_test"]

FEWEST_MIXED = 50  # rows of the mixture itself: with 5 in place of 50 its test had a size of .10 for .05
WORDS = {
    "prior": "the prior",
    "purity": "the purity",
    "random negatives": "the random choice of negatives",
    "no drift": "a class that does not change with time at equal features",
}


def scar_test(
    positive: Any,
    unlabeled: ArrayLike | None = None,
    *,
    prior: Share | None = None,
    purity: Share = 1.0,
    negative: ArrayLike | None = None,
    source: ArrayLike | None = None,
    labeled_sample: ArrayLike | tuple[ArrayLike, ArrayLike] | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 2000,
    rng: int | np.random.Generator = 0,
) -> ScarTest:
    """Whether the data refute that the known positives are a random sample of the positives (SCAR).

    SCAR says f_P = ρ f₁ + (1−ρ) f₀: labels do not depend on the score, given the class.

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
    >>> import numpy as np, halftruth as ht
    >>> rng = np.random.default_rng(0)
    >>> unlabeled = np.append(rng.normal(0, 1, 1_600), rng.normal(2, 1, 400))
    >>> ht.scar_test(rng.normal(2, 1, 200), unlabeled, prior=0.2).refuted
    False
    >>> ht.scar_test(rng.normal(3, 1, 200), unlabeled, prior=0.2).refuted
    True
    """
    level = _checks.confidence_level(confidence_level)
    n = _checks.count(n_resamples, "n_resamples", least=1)
    random = np.random.default_rng(rng)
    inputs = _read(positive, unlabeled, prior, purity, negative)
    checks = [_prior_check(inputs)]
    if source is not None:
        checks.append(_source_check(inputs, source, n, random))
    if NEGATIVE in inputs.samples:
        checks.append(_negative_check(inputs, n, random))
    if labeled_sample is not None:
        checks += _labeled_checks(inputs, labeled_sample, n, random)
    judged = judged_by_holm(checks, 1 - level)
    return ScarTest(checks=judged, confidence_level=level, notes=tuple(notes_on(judged, n, 1 - level)))


@dataclass(frozen=True, kw_only=True, eq=False)
class _ScarInputs:
    """The samples, the positives row by row, and the extreme pairs (α, ρ) that prior and purity allow."""

    samples: dict[str, Sample]
    rows: Vector | None
    purity: list[float]
    shares: list[tuple[float, float]]

    def range_of(self, share: Callable[[float, float], float], highest: float = 1.0) -> tuple[float, float]:
        """Of a share of α and ρ, over the pairs; from 0 to ``highest`` without a prior."""
        values = [min(max(share(*pair), 0.0), 1.0) for pair in self.shares] or [0.0, highest]
        return min(values), max(values)

    def exact(self, name: str) -> Vector:
        """The positives row by row, which an argument needs."""
        if self.rows is None:
            text = f"{arg(name)} needs the positives as they came, not a histogram. Pass their scores."
            raise InputError(text)
        return self.rows


def _read(
    positive: Any, unlabeled: ArrayLike | None, prior: object, purity: object, negative: ArrayLike | None
) -> _ScarInputs:
    if hasattr(positive, "table"):
        if not (unlabeled is None and prior is None and negative is None and purity == 1.0):
            names = f"{arg('unlabeled')}, {arg('prior')}, {arg('purity')} and {arg('negative')}"
            raise InputError(f"Evidence holds {names} itself: pass them only there.")
        return _of_evidence(positive)
    if negative is not None and unlabeled is None:
        raise InputError(
            f"{arg('negative')} was given without {arg('unlabeled')}. Pass both: their scores are compared."
        )
    arrays = {POSITIVE: positive, UNLABELED: unlabeled, NEGATIVE: negative}
    scores = {name: _checks.scores(x, name) for name, x in arrays.items() if x is not None}
    samples = {name: counted(x) for name, x in scores.items()}
    if isinstance(prior, str) and prior == ESTIMATE:
        raise InputError(
            f"{arg('prior')} must be known otherwise: one estimated from these scores assumes SCAR itself."
        )
    known = belief(prior, "prior"), belief(purity, "purity", closed_at_one=True)
    return _with_shares(samples, scores[POSITIVE], *known, population=UNLABELED)


def _of_evidence(evidence: Any) -> _ScarInputs:
    support, strata = evidence.table.support, evidence.table.strata
    if evidence.population is None or UNLABELED not in strata or POSITIVE not in strata:
        must = "be scores or PositiveUnlabeled evidence"
        raise InputError(argument="positive", must=must, got=repr(evidence))
    if any(cells.weight is not None or cells.value is not None for cells in support.strata.values()):
        raise InputError(
            "scar_test takes rows of weight one, and no propensities: with those SCAR is not assumed."
        )
    samples = {k: (support.score[cells.atom], cells.count) for k, cells in support.strata.items()}
    rows = None if evidence.table.grid is not None else strata[POSITIVE].score
    return _with_shares(samples, rows, evidence.prior, evidence.purity, population=evidence.population)


def _with_shares(
    samples: dict[str, Sample], rows: Vector | None, prior: Belief, purity: Belief, *, population: str
) -> _ScarInputs:
    """Convert the prior into α: π n = ρ n_P + α n_U where it is that of all rows."""
    sizes = Sizes(*(float(samples[name][1].sum()) if name in samples else 0.0 for name in NAMES))

    def alpha(share: float, rho: float) -> float:
        of_unlabeled = (prior.population or population) == UNLABELED
        return share if of_unlabeled else float(sizes.alpha(share, rho))

    pairs = [(alpha(share, rho), rho) for share in prior.ends() for rho in purity.ends()]
    if purity.value is None:
        raise InputError(argument="purity", must="be a number in (0, 1], a pair or an estimate", got="None")
    if prior.value is not None and 1 > purity.value <= (claimed := alpha(prior.value, purity.value)):
        must, got = "exceed the share of positives among the unlabeled", f"{arg('purity', purity.value)} and"
        remedy = "Check which share is which."
        raise InputError(argument="purity", must=must, got=f"{got} α={claimed:.4g}", remedy=remedy)
    return _ScarInputs(samples=samples, rows=rows, purity=purity.ends(), shares=pairs)


def _prior_check(inputs: _ScarInputs) -> Outcome:
    check = Check(name="prior", p_value=None, concerns=(SCAR, "prior", "purity"))
    if UNLABELED not in inputs.samples:
        return replace(check, says="Not made: it needs unlabeled scores."), ""
    if not inputs.shares:
        says = "Not made: without a prior it can refute nothing, since α = 0 fits any scores."
        return replace(check, says=says), ""
    claimed, _ = inputs.range_of(_share_of_known)  # the least share: a range is refuted only as a whole
    p, u = aligned(inputs.samples[POSITIVE], inputs.samples[UNLABELED])
    alpha, rho = min(inputs.shares, key=lambda pair: _share_of_known(*pair))
    shares = f"α = {alpha:.4g} and purity {rho:.4g}"
    says = f"The scores are possible with {shares}."
    refuted = f"Known positives pile up more than the unlabeled allow with {shares}."
    return replace(check, p_value=pile_up(p, u, claimed), says=says), f"{refuted} {jointly(check.concerns)}"


def _source_check(inputs: _ScarInputs, source: ArrayLike, n: int, rng: np.random.Generator) -> Outcome:
    rows = inputs.exact("source")
    if np.shape(source) != rows.shape:
        must = f"have one label for each of {len(rows)} positives"
        raise InputError(argument="source", must=must, got=np.shape(source))
    name, label = np.unique(np.asarray(source).astype(str), return_inverse=True)
    if len(name) < 2:
        raise InputError(argument="source", must="name two sources or more", got=f"only {str(name[0])!r}")
    counts = aligned(*(counted(rows[label == k]) for k in range(len(name))))
    check = Check(name="sources", p_value=one_law(counts, n, rng), says="The sources' scores agree.")
    return check, (
        f"The scores of the {len(name)} sources differ: not all of them are a random sample of the positives."
    )


def _negative_check(inputs: _ScarInputs, n: int, rng: np.random.Generator) -> Outcome:
    concerns = (SCAR, "random negatives", *(["prior", "purity"] if inputs.shares else []))
    check = Check(name="negatives", p_value=None, concerns=concerns)
    counts = aligned(*(inputs.samples[name] for name in (UNLABELED, POSITIVE, NEGATIVE)))
    if counts[0].sum() < FEWEST_MIXED:
        return replace(check, says=f"Not made: it needs {FEWEST_MIXED} unlabeled scores or more."), ""
    share = "the given share" if inputs.shares else "some share"
    says = f"The unlabeled can be a mixture of both, with {share} of positives."
    check = replace(check, p_value=mixture_law(counts, inputs.range_of(_share_of_known), n, rng), says=says)
    return check, (
        f"The unlabeled are no mixture of known positives and negatives with {share.replace('some', 'any')} "
        f"of positives. {jointly(concerns)}"
    )


def _labeled_checks(
    inputs: _ScarInputs, labeled_sample: Any, n: int, rng: np.random.Generator
) -> Iterator[Outcome]:
    rows = inputs.exact("labeled_sample")
    positives, size = read_sample(labeled_sample)
    says = "The positives found there score like the known ones."
    check = Check(name="labeled sample", p_value=None, says=says)
    refuted = "The positives found in the labeled sample score otherwise than the known ones."
    refuted += " This refutes SCAR."
    if len(positives) == 0:
        check = replace(check, says="Not made: no positive was found in the labeled sample.")
    elif min(inputs.purity) == 1:
        check = replace(check, p_value=one_law(aligned(counted(rows), counted(positives)), n, rng))
    elif UNLABELED not in inputs.samples or len(rows) < FEWEST_MIXED:
        says = f"Not made: with purity < 1 it needs unlabeled scores and {FEWEST_MIXED} known positives."
        check = replace(check, says=says)
    else:
        # P = ρ f₁ + (1−ρ) f₀ and U = α f₁ + (1−α) f₀, without f₀: P = λ f₁ + (1−λ) U, λ = (ρ−α)/(1−α).
        weights = inputs.range_of(lambda a, r: (r - a) / max(1 - a, 1e-300), max(inputs.purity))
        counts = aligned(counted(rows), counted(positives), inputs.samples[UNLABELED])
        concerns = (SCAR, "purity", *(["prior"] if inputs.shares else []))
        check = replace(check, p_value=mixture_law(counts, weights, n, rng), concerns=concerns)
        refuted = f"The known positives are no mixture of those found and of negatives. {jointly(concerns)}"
    yield check, refuted
    if size is not None and inputs.shares:
        p_value = share_within(len(positives), size, *inputs.range_of(lambda alpha, _: alpha))
        count = f"{len(positives)} of {size} in the labeled sample are positive"
        says = f"{count}, as the prior allows."
        share = Check(name="share", p_value=p_value, concerns=("prior",), says=says)
        yield share, f"{count}: the prior is refuted, not SCAR."


def _share_of_known(alpha: float, rho: float) -> float:
    """λ with U = λ P + (1−λ) N; also what P may not exceed: λ f_P ≤ f_U."""
    return alpha / rho


def jointly(concerns: tuple[str, ...]) -> str:
    words = [WORDS.get(word, word) for word in concerns]
    return f"This refutes {', '.join(words[:-1])} and {words[-1]} jointly, not SCAR alone."


SCAR = "SCAR"
UNSEEN = Note(
    "identifiability",
    "Every check looks at scores alone: selection by features that leaves their law as it is stays unseen.",
)
ONE_SIDED = Note(
    "identifiability",
    "Positives and unlabeled cannot show known positives that score too low, and show those that score too "
    "high only where the excess is large. Known negatives or a labeled sample show both.",
)
LITTLE = Note(
    "identifiability",
    "Without a prior, known negatives, sources or a labeled sample nothing can be refuted: unlabeled scores "
    "fit any positives if few enough of them are positive.",
)


@dataclass(frozen=True, kw_only=True)
class Check:
    """One implication and what the data say to it."""

    name: str
    p_value: float | None  # None where the check could not be made
    refuted: bool = False
    concerns: tuple[str, ...] = (SCAR,)  # what cannot all be true if it is refuted
    says: str = ""
    statistic: float | None = None
    differs: tuple[tuple[str, float], ...] = ()  # features, the most different first, and how much

    @property
    def tests_scar(self) -> bool:
        """Whether it was made, and SCAR is among what it can refute."""
        return self.p_value is not None and SCAR in self.concerns


Outcome = tuple[Check, str]  # and what it says if it is refuted


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

    Notes
    -----
    At the level 0.95 what is true was refuted in 0 to 5.9% of 1,000 simulations, over all checks, with and
    without ties (`tests/truth/test_scar.py`). With 200 known positives, what is false was found in these
    shares of them: labels likelier for higher scores, by the true prior .98, by 200 known negatives .51, by
    a labeled random sample of 300 .99; for lower scores as much, by the prior 0, by the others .99; for
    middling scores, by the prior .90; a second source of 200 shifted by .3 standard deviations .77, 1.3
    times as wide .75, a tenth of it from elsewhere .78.
    """

    checks: tuple[Check, ...]
    confidence_level: float
    notes: tuple[Note, ...] = ()

    @property
    def refuted(self) -> bool:
        return any(check.refuted for check in self.checks if SCAR in check.concerns)

    @property
    def p_value(self) -> float:
        # Bonferroni over the checks that were made; `refuted` is Holm's, which refutes no less.
        p_values = [c.p_value for c in self.checks if c.p_value is not None and c.tests_scar]
        return min(1.0, len(p_values) * min(p_values)) if p_values else 1.0

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        head = {"refuted": self.refuted, "p_value": self.p_value, "confidence_level": self.confidence_level}
        rows = []
        for c in self.checks:
            row = asdict(c) | {"p_value": json_number(c.p_value), "concerns": list(c.concerns)}
            more = {"statistic": json_number(c.statistic), "differs": dict(c.differs)} if c.differs else {}
            rows.append({k: v for k, v in row.items() if k not in {"statistic", "differs"}} | more)
        return head | {"checks": rows, **notes_to_dict(self.notes)}

    def __str__(self) -> str:
        tested = any(check.tests_scar for check in self.checks)
        verdict = f"is {'' if self.refuted else 'not '}refuted" if tested else "could not be tested"
        lines = [f"SCAR {verdict} (p = {figure(self.p_value)}, confidence {self.confidence_level:g})", ""]
        width = max(len(check.name) for check in self.checks)
        lines += [f"{'check':<{width}}  p-value", "-" * (width + 9)]
        lines += [f"{c.name:<{width}}  {figure(c.p_value):>7}  {c.says}" for c in self.checks]
        return "\n".join([*lines, "", *(f"Note: {note}" for note in self.notes)])


def judged_by_holm(checks: Sequence[Outcome], error: float) -> tuple[Check, ...]:
    """Holm's method over the checks of SCAR. What tests the prior alone is judged alone."""
    p = sorted(c.p_value for c, _ in checks if c.p_value is not None and c.tests_scar)
    # In rising order the k-th of m p-values is compared with error/(m − k); from the first that fails on
    # nothing is refuted (Holm 1979).
    not_refuted = [value for k, value in enumerate(p) if value * (len(p) - k) > error]
    highest = not_refuted[0] if not_refuted else 1.0

    def judged(check: Check, refuted: str) -> Check:
        p_value = 1.0 if check.p_value is None else check.p_value
        bad = p_value < highest if SCAR in check.concerns else p_value <= error
        return replace(check, refuted=bad, says=refuted if bad else check.says)

    return tuple(judged(*pair) for pair in checks)


def notes_on(
    judged: tuple[Check, ...], n: int, error: float, unseen: Sequence[Note] = (UNSEEN,)
) -> Iterator[Note]:
    """What a reader should know of the checks."""
    tested = [check for check in judged if check.tests_scar]
    yield from unseen
    if [check.name for check in tested] == ["prior"]:
        yield ONE_SIDED
    if not tested:
        yield LITTLE
    elif not any(check.refuted for check in tested):
        yield Note("identifiability", "What is not refuted need not be true: few rows refute little.")
    if len(tested) > error * (n + 1) and any(check.name != "prior" for check in tested):
        remedy = f"Pass {bare('n_resamples')} of 2000 or more."
        yield Note("interval", f"Only {n} resamples: they cannot refute at this level. {remedy}")
    if any(check.refuted and SCAR not in check.concerns for check in judged):
        text = "The labeled sample refutes the prior: what is refuted jointly with it may be its fault alone."
        yield Note("contradiction", text)
