"""ScoreMetrics: all metrics at once, from the batches of a training loop."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from torchmetrics import Metric

from halftruth import _checks
from halftruth._errors import EmptyClassWarning, HalftruthError, InputError, MergeError, NotIdentifiable, arg
from halftruth._pytorch import Tensor, torch
from halftruth.engines.tensors._dense_histogram import bins_of
from halftruth.evidence import Evidence, Labeled, PositiveUnlabeled, SoftLabeled
from halftruth.evidence._evidence import Population
from halftruth.evidence._positive_unlabeled import POPULATIONS
from halftruth.inference._notes import on_row
from halftruth.inference._prior_range import refutations
from halftruth.inference._requests import Request, read_requests
from halftruth.measure._score_measure import ScoreMeasure
from halftruth.prior._belief import ESTIMATE, Belief, belief
from halftruth.results._estimate import Estimate
from halftruth.table._grid import Grid
from halftruth.table._groups import STRATA
from halftruth.table._histogram import MOST
from halftruth.table._score_table import NEGATIVE, POSITIVE, SOFT, UNLABELED, ScoreTable
from halftruth.training._metric_batches import Batch, Reader, coarse_weights, joined, overflown

__all__ = ["ScoreMetrics"]

KINDS = {"labeled": (POSITIVE, NEGATIVE), "positive_unlabeled": STRATA, "soft": (SOFT,)}
"""What targets can be, and the strata they make."""
CONFIDENCE = 0.999  # with which rows have to refute a prior or a purity before it is said, epoch after epoch
NOTHING = Estimate(value=np.nan, low=np.nan, high=np.nan)
UNDEFINED = "undefined"


class ScoreMetrics(Metric):
    """Metrics of a classifier from batches of scores and targets, for torchmetrics and Lightning.

    The state is the histogram of a `ScoreTable`: sums of integers on a fixed grid. Its size does not depend
    on the number of batches, and however the rows are dealt out to batches and processes, and in whatever
    order, the same rows give the same state to the bit and so the same values.

    Parameters
    ----------
    kind : {"labeled", "positive_unlabeled", "soft"}
        What targets are: 0 and 1; 1, 0 and NaN for unlabeled; or probabilities that the row is positive.
    metrics : names, callables or {label: name or callable}, optional
        As in `evaluate`, which has the same default rows.
    prior, purity, population
        As in `PositiveUnlabeled`, here of the rows of all batches; ranges are refused, of a `PriorEstimate`
        the value is taken. Noisy positives have purity < 1.
    unlabeled : number, optional
        Another code for unlabeled rows, e.g. 0 where targets say only "known positive or not".
    threshold : float, optional
        On the scale of the scores.
    grid : Grid, "probability" or "margin"
        "probability" takes scores in [0, 1], "margin" any, e.g. logits. Scores are never transformed.
    weighted : bool
        Whether `update` takes weights.
    **settings
        Of ``torchmetrics.Metric``, e.g. ``process_group``.

    Notes
    -----
    Values are those of the histogram, 65,536 bins by default; `evaluate` gives a bound on how far they can be
    from those of the rows. What the data do not give, because a class is missing or the prior is
    not possible, is NaN, with one warning that names the metrics and says why.

    Values from positive and unlabeled rows are differences of frequencies, and noise may carry them out of
    what is possible: a precision above 1, a false positive rate below 0. ``ht.evaluate(metric.evidence())``
    says how far noise goes.

    On a processor, bad batches are refused at once. Elsewhere they are counted, and `compute` refuses
    the whole; an update without weights does not wait for the device.

    Examples
    --------
    >>> import torch, halftruth as ht
    >>> metric = ht.training.ScoreMetrics("labeled", ["roc_auc", "brier"])
    >>> metric.update(torch.tensor([0.9, 0.4]), torch.tensor([1, 1]))
    >>> metric.update(torch.tensor([0.6, 0.1]), torch.tensor([0, 0]))
    >>> {name: round(float(value), 4) for name, value in metric.compute().items()}
    {'roc_auc': 0.75, 'brier': 0.185}
    """

    is_differentiable = False
    full_state_update = False

    histogram: Tensor
    weights: Tensor
    refused: Tensor
    identity: Tensor

    def __init__(
        self,
        kind: Literal["labeled", "positive_unlabeled", "soft"],
        metrics: Any = None,
        *,
        prior: Any = None,
        purity: Any = 1.0,
        population: Population = "all",
        unlabeled: float | None = None,
        threshold: float | None = None,
        grid: Grid | Literal["probability", "margin"] = "probability",
        weighted: bool = False,
        **settings: Any,
    ) -> None:
        super().__init__(**settings)
        self.kind = _checks.choice(kind, "kind", tuple(KINDS))
        self.grid = _checks.instance(Grid(grid) if isinstance(grid, str) else grid, "grid", Grid)
        self.weighted = bool(weighted)
        of_unlabeled = (prior, purity, unlabeled, population)
        if self.kind != "positive_unlabeled" and of_unlabeled != (None, 1.0, None, "all"):
            raise InputError(
                f"{arg('prior')}, {arg('purity')}, {arg('population')} and {arg('unlabeled')} go with "
                f'kind="positive_unlabeled", got kind={kind!r}. Leave them out.'
            )
        if isinstance(prior, str) and prior == ESTIMATE:
            raise InputError(
                f"A metric takes no {arg('prior', 'estimate')}: every epoch would have its own prior. "
                "Estimate it once, prior=ht.estimate_prior(positive, unlabeled)."
            )
        _refuse_range(prior, "prior", belief(prior, "prior"))
        _refuse_range(purity, "purity", belief(purity, "purity", closed_at_one=True))
        _checks.choice(population, "population", POPULATIONS)
        self.shares = {"prior": prior, "purity": purity, "population": population}
        code = np.nan if unlabeled is None else _checks.unlabeled_code(unlabeled)
        self.reader = Reader(grid=self.grid, names=KINDS[self.kind], unlabeled=code)
        limit = None if threshold is None else _checks.threshold(threshold)
        self.requests = read_requests(metrics, [_example(self.grid)], limit)
        # All integers: no conversion of the model that holds the metric changes them.
        self.add_state("histogram", self.reader.empty(weighted=self.weighted), joined)
        self.add_state("identity", self.reader.identity(weighted=self.weighted), "max")
        self.add_state("weights", torch.zeros(2, dtype=torch.int64), "sum")
        self.add_state("refused", torch.zeros(4, dtype=torch.int64), "sum")

    def update(self, preds: Tensor, target: Tensor, sample_weight: Tensor | None = None) -> None:
        """Add a batch.

        Parameters
        ----------
        preds : floating tensor of any shape
            Scores; higher means more positive.
        target : tensor of the same shape
        sample_weight : tensor of the same shape, optional
            Where the metric is ``weighted``; rows of weight zero are left out.
        """
        if sample_weight is not None and not self.weighted:
            raise InputError(
                f"{arg('sample_weight')} was given to a metric without weights. Pass weighted=True to it."
            )
        if self.weighted and sample_weight is None and isinstance(preds, Tensor):
            sample_weight = torch.ones_like(preds)
        batch = Batch.read(preds, target, sample_weight, self.histogram.device)
        if self.histogram.device.type == "cpu":
            self.reader.add_on_host(batch, self.histogram)
        else:
            self.refused += self.reader.add_on_device(batch, self.histogram)
        if batch.weight is not None:
            self.weights += coarse_weights(batch.weight)

    def forward(self, *args: Any, **kwargs: Any) -> dict[str, Tensor]:
        """Add a batch as `update` does, and give its own values; a batch that is refused changes nothing."""
        before = dict(vars(self))
        if self.dist_sync_on_step:  # then it is added to all batches first, in place
            before |= self._copy_state_dict()
        try:
            values: dict[str, Tensor] = super().forward(*args, **kwargs)
        except BaseException:  # torchmetrics has put the state of all batches aside by then
            vars(self).update(before)
            raise
        return values

    def compute(self) -> dict[str, Tensor]:
        """Every metric as a tensor of one float64, over the batches of all processes.

        What is NaN is named in one warning that says why, and a prior or a purity that the rows refute in
        another. Values of positive and unlabeled rows may leave what is possible by noise;
        ``ht.evaluate(metric.evidence())`` says how far noise goes.
        """
        values = dict.fromkeys((request.label for request in self.requests), np.nan)
        measure = self._measure()
        if measure is not None:
            values = values_of(self.requests, measure, stacklevel=3)
        return {
            label: torch.tensor(value, dtype=torch.float64, device=self.histogram.device)
            for label, value in values.items()
        }

    def _measure(self) -> ScoreMeasure | None:
        """The measure of the rows; None where they do not give one."""
        table = self.table
        if not len(table):  # where no batch came at all, torchmetrics has said so
            return None
        needed = (POSITIVE, UNLABELED) if self.kind == "positive_unlabeled" else ()
        for name in needed:
            if name not in table.strata:
                zeros = name == UNLABELED and NEGATIVE in table.strata and np.isnan(self.reader.unlabeled)
                remedy = " If 0 means unlabeled, pass unlabeled=0." if zeros else ""
                warnings.warn(f"No {name} case: metrics are NaN.{remedy}", EmptyClassWarning, stacklevel=4)
                return None
        try:
            evidence = _evidence(self.kind, table, self.shares)
            measure = evidence.measure()
        except HalftruthError as error:  # settings were checked: the rows rule them out
            warnings.warn(f"Metrics are NaN: {error}", UserWarning, stacklevel=4)
            return None
        if evidence.scores_bound_prior:
            for note in refutations(evidence, CONFIDENCE):
                warnings.warn(note, UserWarning, stacklevel=4)
        return measure

    @property
    def table(self) -> ScoreTable:
        """The histogram as a table: of this process, and within ``sync_context()`` of all."""
        self.reader.refuse(self.refused.tolist())
        state = self.reader.named(self.histogram, weighted=self.weighted)
        if int(state["rows"].max()) > MOST or (self.weighted and overflown(state, self.weights)):
            raise InputError(
                "One bin holds more than 2^30 rows, or rows whose weights or their squares add up to more: "
                "too many to add up exactly. Reset the metric more often, or divide all weights by a number."
            )
        strata: Any = bins_of(state, self.grid, self.reader.names)
        return ScoreTable(strata)

    def evidence(self) -> Evidence:
        """What `evaluate` takes, for intervals: of this process, and within ``sync_context()`` of all."""
        return _evidence(self.kind, self.table, self.shares)

    def merge(self, *others: ScoreMetrics) -> None:
        """Add the batches of other metrics, as if this one had seen them too."""
        for other in others:
            self.merge_state(_checks.instance(other, "other", ScoreMetrics))

    def merge_state(self, incoming_state: dict[str, Any] | Metric) -> None:
        """Add the state of another metric, or a state of the same shape."""
        count = 1
        if isinstance(incoming_state, ScoreMetrics):
            mine, theirs = ((metric.kind, metric.grid, metric.weighted) for metric in (self, incoming_state))
            if mine != theirs:
                raise MergeError(
                    f"Metrics merge that have one kind, one grid and weights alike; got {mine} and {theirs}."
                )
            count = incoming_state._update_count
        super().merge_state(incoming_state)
        self._update_count += count
        self._computed = None

    def set_dtype(self, dst_type: Any) -> ScoreMetrics:
        """The metric as it is: sums are integers whatever the type of the model."""
        return self

    def extra_repr(self) -> str:
        return f"kind={self.kind!r}, metrics={[request.label for request in self.requests]}"


def _refuse_range(share: Any, name: str, read: Belief) -> None:
    """A metric has one value: no range of a share is taken at its middle in silence."""
    if read.is_range and read.estimate is None:
        raise InputError(
            f"{arg(name)} of a metric must be a number or a PriorEstimate, got the range {share!r}. Pass "
            f"the middle, {name}={read.value:g}, and for the range evaluate "
            f"ht.PositiveUnlabeled.from_table(metric.table, {name}={share!r}, ...)."
        )


def _evidence(kind: str, table: ScoreTable, shares: dict[str, Any]) -> Evidence:
    if kind == "positive_unlabeled":
        return PositiveUnlabeled.from_table(table, **shares)
    return Labeled.from_table(table) if kind == "labeled" else SoftLabeled.from_table(table)


def _example(grid: Grid) -> ScoreMeasure:
    """A measure of scores that the grid takes, by which default rows are chosen before there are any."""
    return Labeled([1, 0], [1.0 if grid.kind == "probability" else 2.0, 0.0]).measure()


def values_of(requests: Sequence[Request], measure: ScoreMeasure, *, stacklevel: int) -> dict[str, float]:
    """The value of each request by its label; what is NaN is named in one warning that says why."""
    values = {request.label: request.at(measure) for request in requests}
    labels: dict[str, list[str]] = {}
    for request in requests:
        if np.isnan(values[request.label]):
            labels.setdefault(_why(request, measure), []).append(f"`{request.label}`")
    if labels:
        sentences = (
            f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} NaN: {why}"
            for why, names in labels.items()
        )
        category = EmptyClassWarning if measure.empty_classes else UserWarning
        warnings.warn(" ".join(sentences), category, stacklevel=stacklevel + 1)
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
