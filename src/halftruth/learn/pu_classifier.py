"""PUClassifier: a linear model or a network that learns from positives and unlabeled rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length, column_or_1d

from halftruth import checks
from halftruth.belief import ESTIMATE, PriorEstimate, belief
from halftruth.checks import Vector
from halftruth.errors import InputError, NotIdentifiable
from halftruth.evidence import PositiveUnlabeled
from halftruth.learn.labels import Strata, split_labels
from halftruth.learn.layers import Scaling
from halftruth.learn.mixing import balanced_eta
from halftruth.learn.network_classifier import NetworkClassifier, check_calibration, random

NOT_CALIBRATED = "Probabilities are σ(logit) as it was trained: no row was held out to calibrate them."
NO_POSTERIOR = "The {!r} loss does not make σ(logit) a probability of being positive."


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
        Where y has known negatives: 1 learns from P and U, 0 from P and N, −1 from N and U. By default the
        mix whose risk is least noisy for the numbers of rows.
    target_prior : float, optional
        Learn for a population with this share of positives, e.g. 0.5 where they are rare. Probabilities are
        those of the true population nonetheless, and so is `predict`; ``decision_function(X) >= 0`` is the
        decision for the target.
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
        Share of the rows, of each kind, that is held out for early stopping and calibration. It must hold 5
        known positives. With 0 all passes are made and probabilities are σ(logit) as trained.
    calibration : str or None
        Method of `Calibrator` by which held-out logits become probabilities; None: σ(logit).
    device : {"auto", "cpu", "cuda"}
        "auto" takes CUDA where PyTorch finds it.
    random_state : int, RandomState or None
        The same number gives the same weights on the same machine and number of threads.
    verbose : bool
        Write the risks of each pass to stderr.

    Attributes
    ----------
    classes_ : array
        0 and 1.
    prior_ : float
        π that it learned with.
    layers_ : list of (weights, constants)
        The network, on standardised features.
    scaling_ : Scaling
        How features are standardised; one that never changed has no part.
    calibrator_ : Calibrator or None
        From logits to probabilities.
    history_ : dict of lists
        After each pass: ``training_risk``, corrected and averaged over its batches, and ``held_out_risk``.
    n_epochs_ : int
        Passes that the kept weights have made.
    notes_ : tuple of str
        What a reader should know of the fit.
    n_features_in_, feature_names_in_
        As scikit-learn sets them.

    Notes
    -----
    What is watched for early stopping is the unbiased risk of the same loss, without correction (and for the
    same target prior) on the rows held out: it is what the correction approximates, and rows that were not
    learned do not drive it down. The weights where it was least are kept.

    The logits of the held-out rows then become probabilities by the log loss from positives and unlabeled
    rows. The curve never falls, so it keeps the order. Where held-out positives rank no higher than the rest
    it is flat, and a warning says so: nothing is turned round.

    Training needs PyTorch (``pip install 'halftruth[torch]'``); prediction, `save` and `load` do not.

    Examples
    --------
    >>> import numpy as np, halftruth as ht
    >>> from halftruth.learn import PUClassifier
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(2000) < 0.4
    >>> X = rng.normal(2.0 * truth[:, None], 1.0, (2000, 2))
    >>> y = (truth & (rng.random(2000) < 0.5)).astype(int)  # half of the positives are known
    >>> model = PUClassifier(prior=0.4, random_state=0).fit(X, y)
    >>> bool((model.predict(X) == truth).mean() > 0.9)
    True
    """

    def __init__(
        self,
        hidden: Any = (),
        *,
        prior: Any = None,
        purity: Any = 1.0,
        population: str = "all",
        unlabeled: float = 0,
        loss: str = "logistic",
        correction: str = "non-negative",
        beta: float = 0.0,
        gamma: float = 1.0,
        leak: float = 0.0,
        eta: float | None = None,
        target_prior: float | None = None,
        learning_rate: float | None = None,
        weight_decay: float = 0.01,
        batch_size: int | None = None,
        max_epochs: int = 200,
        patience: int = 10,
        validation_fraction: float = 0.2,
        calibration: str | None = "platt",
        device: str = "auto",
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.hidden = hidden
        self.prior = prior
        self.purity = purity
        self.population = population
        self.unlabeled = unlabeled
        self.loss = loss
        self.correction = correction
        self.beta = beta
        self.gamma = gamma
        self.leak = leak
        self.eta = eta
        self.target_prior = target_prior
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.calibration = calibration
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> PUClassifier:
        """Learn from rows labeled in part.

        Parameters
        ----------
        X : (n, k) array or data frame of numbers
        y : (n,) array
            1 known positive, ``unlabeled`` or NaN unlabeled, 0 known negative where it is not that code.

        Returns
        -------
        PUClassifier

        Examples
        --------
        >>> from halftruth.learn import PUClassifier
        >>> X, y = [[5.0], [4.0], [6.0], [1.0], [0.0], [0.5], [1.5]], [1, 1, 0, 0, 0, 0, 0]
        >>> model = PUClassifier(prior=0.4, validation_fraction=0, random_state=0).fit(X, y)
        >>> model.predict([[5.5], [0.2]])
        array([1, 0])
        """
        from halftruth.learn.fitting import fitted

        check_calibration(self.calibration)
        x = self._rows(X, reset=True)
        strata = self._strata(x, y)
        rng = random(self.random_state)
        plan = self._plan(rng)
        self.prior_, purity = self._shares(x, strata, rng)
        loss, risk = self._losses(strata, purity)
        masks = (strata.positive, strata.unlabeled, strata.negative)
        rows = [np.flatnonzero(mask) for mask in masks if mask.any()]
        learned, held_out = self._split(rows, rng)
        self.scaling_ = Scaling.of(x)
        scaled = self.scaling_(x)
        used = 3 if loss.weights.used[2] else 2
        self._keep(fitted(plan, loss, risk, scaled, learned[:used], held_out and held_out[:used]))
        self.notes_ = self._notes(held_out is not None)
        self._calibrate(
            self.calibration,
            scaled,
            held_out,
            lambda parts: _held_out(parts, strata.sizes, self.prior_, purity, self.population),
        )
        return self

    def _notes(self, held_out: bool) -> tuple[str, ...]:
        bare = not held_out or self.calibration is None
        no_posterior = (NO_POSTERIOR.format(self.loss),) if bare and self.loss != "logistic" else ()
        return (() if held_out else (NOT_CALIBRATED,)) + no_posterior

    def _strata(self, x: Any, y: Any) -> Strata:
        if y is None:
            raise InputError("PUClassifier requires y to be passed, but the target y is None.")
        labels = column_or_1d(y, warn=True)
        check_consistent_length(x, labels)
        return split_labels(labels, self.unlabeled)

    def _shares(self, x: Any, strata: Strata, rng: np.random.RandomState) -> tuple[float, float]:
        """π of the population and ρ, as the evidence of these rows reads them."""
        if self.prior is None:
            raise NotIdentifiable(
                "PUClassifier needs the class prior: positives and unlabeled rows alone do not tell how "
                "many of these are positive. Pass prior=…, the share of positives in the population, or "
                'prior="estimate"; to rank only, BaggedPU needs none.'
            )
        given, purity = self.prior, belief(self.purity, "purity", closed_at_one=True).value
        if isinstance(given, str) and given == ESTIMATE:
            from halftruth.prior.features import estimate_prior_from_features

            rows = ~strata.negative
            given = estimate_prior_from_features(
                x[rows],
                strata.positive[rows],
                purity=1.0 if purity is None else purity,
                rng=rng.randint(2**31 - 1),
            )
        read = belief(given, "prior")
        assert read.value is not None
        whose = read.population or self.population
        checks.choice(whose, "population", ("all", "unlabeled"))
        point = PriorEstimate(value=read.value, low=read.value, high=read.value, population=whose)
        y = np.where(strata.positive, 1.0, np.where(strata.negative, 0.0, np.nan))
        evidence = PositiveUnlabeled.from_labels(
            y, np.zeros(len(y)), prior=point, purity=purity, population=self.population
        )
        return evidence.prior_ends()[0], float(evidence.purity.value or 1.0)

    def _losses(self, strata: Strata, purity: float) -> tuple[Any, Any]:
        """What is made small, and what is watched: the same risk, corrected and not."""
        from halftruth.learn.losses import MARGIN, PULoss

        checks.choice(self.loss, "loss", tuple(MARGIN))
        told: dict[str, Any] = {"purity": purity, "population": self.population}
        eta = None
        if strata.sizes[2]:
            eta = balanced_eta(self.prior_, strata.sizes, **told) if self.eta is None else self.eta
        told |= {"sizes": strata.sizes, "eta": eta, "target_prior": self.target_prior, "loss": self.loss}
        corrected = PULoss(
            self.prior_, correction=self.correction, beta=self.beta, gamma=self.gamma, leak=self.leak, **told
        )
        return corrected, PULoss(self.prior_, correction="none", **told)


def _held_out(
    scores: list[Vector], sizes: tuple[int, ...], prior: float, purity: float, population: str
) -> PositiveUnlabeled:
    """Evidence of the rows held out; each stands for its share of all, so that the strata keep theirs."""
    names = ("positive", "unlabeled", "negative")
    kinds = [name for name, n in zip(names, sizes, strict=True) if n]
    counts = [n for n in sizes if n]
    weights = {
        f"{name}_weight": np.full(len(part), n / len(part))
        for name, part, n in zip(kinds, scores, counts, strict=True)
    }
    parts = dict(zip(kinds, scores, strict=True))
    return PositiveUnlabeled(**parts, **weights, prior=prior, purity=purity, population=population)
