"""PUClassifier: a linear model or a network that learns from positives and unlabeled rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logit

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, Note, NotIdentifiable, arg
from halftruth.evidence import PositiveUnlabeled
from halftruth.evidence._positive_unlabeled import POPULATIONS
from halftruth.learn._learner import (
    Features,
    Population,
    Purity,
    Strata,
    StratumSizes,
    random_seed,
    read_labels,
)
from halftruth.learn._network_arrays import Matrix
from halftruth.learn._network_classifier import AUTO, NO_POSTERIOR, PLATT, PROPER, NetworkClassifier
from halftruth.learn._risk_weights import balanced_eta
from halftruth.prior._belief import ESTIMATE, PriorEstimate, belief

if TYPE_CHECKING:  # PyTorch loads when a network is trained
    from halftruth.learn._torch_losses import PULoss

__all__ = ["PUClassifier"]

NOT_CALIBRATED = Note(
    "method", "Probabilities are σ(logit) as it was trained: no row was held out to calibrate them."
)
FOR_TARGET = Note("method", "It leans to the target prior.")


@dataclass(eq=False, repr=False, kw_only=True)
class PUClassifier(NetworkClassifier):
    """A classifier from known positives and unlabeled rows, linear or a network, by their PU risk.

    Parameters
    ----------
    hidden : sequence of int
        Units of the hidden layers, e.g. (100, 100), with ReLU between them. Empty: a linear model.
    prior : float, (low, high), PriorEstimate, "estimate" or None
        π, the share of positives in the population. A range counts at its middle, an estimate at its value;
        one made for the other population is converted. "estimate": by `estimate_prior_from_features` on the
        training rows. Without one nothing can be learned but a ranking; `BaggedPU` gives that.
    purity : float, (low, high) or PriorEstimate
        Share of the known positives that are positive.
    population : {"all", "unlabeled"}
        Whether all rows of the table are the population, or the unlabeled rows are (two samples).
    unlabeled : number
        The code of unlabeled rows in y, besides NaN. With -1 or NaN, 0 is a known negative.
    loss : {"logistic", "sigmoid", "ramp", "squared"}
        Of the margin, as in `risk`.
    correction, beta, gamma, leak
        As in `PULoss`: "non-negative" (nnPU), "none" (uPU), "absolute" or "leaky".
    eta : float in [−1, 1], optional
        Only where y has known negatives: 1 learns from P and U, 0 from P and N, −1 from N and U. By default
        the mix whose risk is least noisy for the numbers of rows.
    target_prior : float, optional
        Learn for a population with this share of positives, e.g. 0.5 where they are rare. Probabilities are
        those of the true population nonetheless, and so is `predict`; ``decision_function(X) >= 0`` is the
        decision for the target. Of losses other than the logistic only calibration brings them back.
    learning_rate : float, optional
        Of Adam. By default 0.01 for a linear model, 0.001 with hidden layers.
    weight_decay : float
        Of Adam, decoupled from its steps; it spares the constants.
    batch_size : int, optional
        Rows of all kinds in a batch. By default 512, fewer where a pass would make less than 20 steps.
    max_epochs : int
        Passes over the rows at most.
    patience : int
        Passes without a lower held-out risk that end the training.
    validation_fraction : float in [0, 1)
        Share of the rows, of each kind, that is held out for early stopping and calibration, for both the
        same rows. It must hold 5 known positives; known negatives too few to be split are all learned from.
        With 0 all passes are made and probabilities are σ(logit) as trained.
    calibration : str or None
        Method of `Calibrator` by which held-out logits become probabilities; None: σ(logit). "auto": "platt";
        but for the logistic loss only where the held-out rows refute σ(logit), which ``notes_`` tells.
        Methods other than "platt" read σ(logit), and have ties where it rounds to 1.
    device : {"auto", "cpu", "cuda"}
        "auto" takes CUDA where PyTorch finds it.
    random_state : int, RandomState or None
        The same number gives the same weights on the same machine and number of threads.
    verbose : bool
        Write the risks of each pass to stderr.

    Attributes
    ----------
    prior_ : float
        π that it learned with.
    layers_, scaling_
        The network, as weights and constants of each layer, and how its features are standardised.
    calibrator_ : Calibrator or None
        From logits, with the shift, to probabilities.
    shift_ : float
        Added to logits before they become probabilities: from the target prior to the prior, for the
        logistic loss.
    history_ : dict of lists
        After each pass: ``training_risk``, corrected and averaged over its batches, and ``held_out_risk``.
    n_epochs_ : int
        Passes that the kept weights have made.
    notes_ : tuple of str
        What a reader should know of the fit.
    classes_, n_features_in_, feature_names_in_
        As scikit-learn sets them; the classes are 0 and 1.

    Notes
    -----
    What is watched for early stopping is the unbiased risk of the same loss, without correction and for the
    same target prior, on the rows held out: it is what the correction approximates, and rows that were not
    learned do not drive it down. The weights where it was least are kept.

    The logistic loss is least at the logit of the posterior, and few held-out positives tell less than the
    training did. So by default σ(logit) is kept unless Spiegelhalter's test (`calibration_test`) on the rows
    held out refutes it: p < 0.05, or p < 0.005 where Platt's line is steeper, as noise of few positives often
    makes it by far too much. The line never falls, so it keeps the order; where held-out positives rank no
    higher than the rest it is flat, and a warning says so.

    The rows held out are looked at twice, for the pass to keep and for calibration, and both are a little too
    hopeful of them: judge the model by other rows, e.g. with `cross_val_evidence`.

    Training needs PyTorch (``pip install 'halftruth[torch]'``); prediction, `save` and `load` do not.

    Examples
    --------
    >>> from halftruth.learn import PUClassifier
    >>> X, y = [[5.0], [4.0], [6.0], [1.0], [0.0], [0.5], [1.5]], [1, 1, 0, 0, 0, 0, 0]
    >>> model = PUClassifier(prior=0.4, validation_fraction=0, random_state=0).fit(X, y)
    >>> model.predict([[5.5], [0.2]])
    array([1, 0])
    """

    purity: Purity = 1.0
    population: Population = "all"
    unlabeled: float = 0
    correction: Literal["non-negative", "none", "absolute", "leaky"] = "non-negative"
    beta: float = 0.0
    gamma: float = 1.0
    leak: float = 0.0
    eta: float | None = None
    target_prior: float | None = None

    def fit(self, X: Features, y: ArrayLike) -> PUClassifier:
        """Learn from rows labeled in part.

        Parameters
        ----------
        X : (n, k) array or data frame of numbers
        y : (n,) array
            1 known positive, ``unlabeled`` or NaN unlabeled, 0 known negative where it is not that code.
        """
        from halftruth.learn._network_training import fit_network

        plan, rng = self._plan()
        x = self._rows(X, reset=True)
        strata = read_labels(self, x, y)
        self.prior_, purity = self._shares(x, strata, rng)
        learned, held_out = self._split([np.flatnonzero(mask) for mask in strata.masks if mask.any()], rng)
        watched = strata.sizes if held_out is None or len(held_out) == 3 else (*strata.sizes[:2], 0)
        loss, risk = self._losses(strata.sizes, watched, purity)
        # Known negatives that the risk gives no weight are not passed to it.
        n_strata = 3 if loss.weights.used[2] else 2
        split = learned[:n_strata], held_out and held_out[:n_strata]
        scaled = self._train(x, lambda rows: fit_network(plan, loss, risk, rows, *split))
        proper = self.loss == PROPER
        # The logit of the posterior moves with the prior by the difference of their logits (Bayes' rule).
        moved = proper and self.target_prior is not None
        prior = self._prior_of(watched, strata.sizes)
        self._calibrate(
            PLATT if self.calibration == AUTO and not proper else self.calibration,
            scaled,
            held_out,
            lambda scores: _held_out_evidence(scores, watched, prior, purity, self.population),
            self._notes(held_out is not None),
            float(logit(self.prior_) - logit(self.target_prior)) if moved else 0.0,
        )
        return self

    def _check_choices(self) -> None:
        super()._check_choices()
        _checks.choice(self.population, "population", POPULATIONS)

    def _notes(self, held_out: bool) -> tuple[Note, ...]:
        notes: tuple[Note, ...] = () if held_out else (NOT_CALIBRATED,)
        if self.loss != PROPER and (not held_out or self.calibration is None):
            notes += (Note("method", NO_POSTERIOR.format(self.loss)),)
            notes += () if self.target_prior is None else (FOR_TARGET,)
        return notes

    def _shares(self, x: Matrix, strata: Strata, rng: np.random.RandomState) -> tuple[float, float]:
        """π of the population and ρ, as the evidence of these rows reads them."""
        if self.prior is None:
            raise NotIdentifiable(
                f"PUClassifier needs the class prior. Pass {arg('prior', ...)}, the share of positives in "
                f"the population, or {arg('prior', 'estimate')}; to rank only, BaggedPU needs none."
            )
        prior, purity = self.prior, belief(self.purity, "purity", closed_at_one=True).value
        if isinstance(prior, str) and prior == ESTIMATE:
            from halftruth.prior._from_features import estimate_prior_from_features

            rows = ~strata.negative
            prior = estimate_prior_from_features(
                x[rows],
                strata.positive[rows],
                purity=1.0 if purity is None else purity,
                n_refits=0,  # they are for the interval, and the value alone is used
                rng=random_seed(rng),
            )
        elif isinstance(prior, str):
            raise InputError(
                f"{arg('prior')} of PUClassifier must be a number, a pair (low, high), a PriorEstimate or "
                f"{ESTIMATE!r}, got {prior!r}. Pass the share of positives in the population."
            )
        share = belief(prior, "prior")
        assert share.value is not None
        whose = share.population or self.population
        # Evidence converts an estimate that was made for the other population, so it reads the prior as one.
        point = PriorEstimate(value=share.value, low=share.value, high=share.value, population=whose)
        evidence = PositiveUnlabeled.from_labels(
            strata.with_nan, np.zeros(len(x)), prior=point, purity=purity, population=self.population
        )
        return evidence.prior_ends()[0], float(evidence.purity.value or 1.0)

    def _losses(self, sizes: StratumSizes, watched: StratumSizes, purity: float) -> tuple[PULoss, PULoss]:
        """What is made small, and what is watched: the same risk, corrected and not.

        ``watched`` are the sizes of the strata held out, without known negatives where these are few.
        """
        from halftruth.learn._torch_losses import PULoss

        eta = self._eta(sizes, purity)
        pu_loss = partial(
            PULoss,
            purity=purity,
            population=self.population,
            target_prior=self.target_prior,
            loss=self.loss,
            beta=self.beta,
            gamma=self.gamma,
            leak=self.leak,
        )
        prior, watched_eta = self._prior_of(watched, sizes), eta if watched[2] else None
        return (
            pu_loss(self.prior_, correction=self.correction, sizes=sizes, eta=eta),
            pu_loss(prior, correction="none", sizes=watched, eta=watched_eta),
        )

    def _eta(self, sizes: StratumSizes, purity: float) -> float | None:
        """The share of what unlabeled rows say, where there are known negatives beside them."""
        if self.eta is not None:
            advice = "Leave it out for the least noisy mix."
            eta = _checks.inside(self.eta, "eta", -1.0, 1.0, closed="both", advice=advice)
            if not sizes[2]:
                raise InputError(
                    f"{arg('eta')} needs known negatives, and {arg('y')} has none. Leave it out."
                )
            return eta
        if not sizes[2]:
            return None
        return balanced_eta(self.prior_, sizes, purity=purity, population=self.population)

    def _prior_of(self, watched: StratumSizes, sizes: StratumSizes) -> float:
        """π where known negatives are no part of the table."""
        return self.prior_ * (sum(sizes) / sum(watched) if self.population == "all" else 1.0)


def _held_out_evidence(
    scores: list[Vector], sizes: StratumSizes, prior: float, purity: float, population: Population
) -> PositiveUnlabeled:
    """Evidence of the rows held out; each stands for its share of all, so that the strata keep theirs."""
    names = ("positive", "unlabeled", "negative")
    present = [(name, n) for name, n in zip(names, sizes, strict=True) if n]
    strata: dict[str, Any] = {}
    for (name, n), score in zip(present, scores, strict=True):
        strata |= {name: score, f"{name}_weight": np.full(len(score), n / len(score))}
    return PositiveUnlabeled(**strata, prior=prior, purity=purity, population=population)
