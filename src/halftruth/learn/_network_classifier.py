"""What classifiers by a network share: checked rows, prediction without PyTorch, probabilities, files."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, Note, arg
from halftruth.calibration._calibration_test import calibration_test
from halftruth.calibration.calibrators._calibration_methods import METHODS
from halftruth.calibration.calibrators._calibrator import FLAT, Calibrator
from halftruth.calibration.calibrators._parametric import LineCurve
from halftruth.evidence import Evidence
from halftruth.learn._learner import Features, Learner, Prior, RandomState, random_seed
from halftruth.learn._network_arrays import Layer, Matrix, Scaling, load_network, logits, save_network

if TYPE_CHECKING:  # PyTorch loads when a network is trained
    from halftruth.learn._network_training import Plan, Trained

__all__ = ["AUTO", "NO_POSTERIOR", "PLATT", "PROPER", "Device", "LossName", "NetworkClassifier"]

StratumRows: TypeAlias = list[NDArray[np.intp]]  # row numbers of each stratum, the known positives first

LossName: TypeAlias = Literal["logistic", "sigmoid", "ramp", "squared"]
Device: TypeAlias = Literal["auto", "cpu", "cuda"]

AUTO = "auto"
PLATT = "platt"
DEVICES = ("auto", "cpu", "cuda")
LOSSES = ("logistic", "sigmoid", "ramp", "squared")
PROPER = "logistic"
"""The loss whose least risk is at the logit of the posterior, so that σ(logit) needs no calibration."""
KINDS = ("known positives", "unlabeled rows", "known negatives")
FEWEST = 5  # known positives held out: a risk by fewer would be noise
LEVEL, STRICT, N_RESAMPLES = 0.05, 0.005, 1000
"""Of the test of σ(logit); strict where the line is steeper, as noise of few positives often makes it."""
NO_POSTERIOR = (
    "The {!r} loss does not make σ(logit) a probability of being positive, and nothing was calibrated."
)
KEPT = "Probabilities are σ(logit): the rows held out do not refute them (p = {:.2g})."
MENDED = "σ(logit) is too {} for the rows held out (p = {:.2g}): probabilities are by Platt's line."


@dataclass(eq=False, repr=False)  # see `WrappingLearner`
class NetworkClassifier(Learner):
    """A linear model or a network with a logit for each row; subclasses say how it learns."""

    hidden: int | Sequence[int] = ()
    _: KW_ONLY
    prior: Prior = None
    loss: LossName = "logistic"
    learning_rate: float | None = None
    weight_decay: float = 0.01
    batch_size: int | None = None
    max_epochs: int = 200
    patience: int = 10
    validation_fraction: float = 0.2
    calibration: str | None = AUTO
    device: Device = "auto"
    random_state: RandomState = None
    verbose: bool = False

    # --- What the two learn alike ---------------------------------------------------------------

    def _check_choices(self) -> None:
        """Refuse a setting that is none of its words, also one that comes from a file."""
        _checks.choice(self.loss, "loss", LOSSES)
        _checks.choice(self.device, "device", DEVICES)
        if self.calibration is not None:
            _checks.choice(self.calibration, "calibration", (AUTO, *METHODS))

    def _rows(self, X: Features, *, reset: bool) -> Matrix:
        """Finite numbers, rows by features."""
        x = validate_data(
            self, X, reset=reset, dtype=np.float64, ensure_all_finite=False, ensure_min_samples=1 + reset
        )
        if not np.isfinite(x).all():
            bad = ~np.isfinite(x)
            row = int(np.argmax(bad.any(axis=1)))
            raise InputError(
                f"`X` must be finite, got {int(bad.sum())} NaN or infinite (inf) value(s), the first in row "
                f"{row}. Impute or drop them, e.g. by an imputer before this step of a pipeline."
            )
        return np.asarray(x)

    def _plan(self) -> tuple[Plan, np.random.RandomState]:
        """The settings of the training, checked before any row is looked at, and the generator of seeds."""
        from halftruth.learn._network_training import Plan  # raises here if PyTorch is missing

        self._check_choices()
        rng = check_random_state(self.random_state)
        units = np.atleast_1d(self.hidden).tolist()
        hidden = tuple(_checks.count(n_units, "hidden", least=1) for n_units in units)
        usual, size = 1e-3 if hidden else 1e-2, self.batch_size
        step = usual if self.learning_rate is None else self.learning_rate
        plan = Plan(
            hidden=hidden,
            learning_rate=_checks.inside(
                step, "learning_rate", 0.0, np.inf, advice="Pass a small step, e.g. 0.001."
            ),
            weight_decay=_checks.inside(
                self.weight_decay, "weight_decay", 0.0, np.inf, closed="left", advice="0 is none."
            ),
            batch_size=None if size is None else _checks.count(size, "batch_size", least=1),
            max_epochs=_checks.count(self.max_epochs, "max_epochs", least=1),
            patience=_checks.count(self.patience, "patience", least=1),
            device=self.device,
            seeds=(random_seed(rng), random_seed(rng)),
            verbose=bool(self.verbose),
        )
        return plan, rng

    def _split(
        self, strata: StratumRows, rng: np.random.RandomState
    ) -> tuple[StratumRows, StratumRows | None]:
        """Rows to learn from and rows held out, the share of each stratum; the first are the positives.

        Known negatives too few to be split are all learned from.
        """
        advice = "Pass 0 to hold out no row."
        share = _checks.inside(
            self.validation_fraction, "validation_fraction", 0.0, 1.0, closed="left", advice=advice
        )
        if share == 0:
            return strata, None
        sizes = [round(share * len(rows)) for rows in strata]
        unsplit = strata[2:] if len(strata) > 2 and not 0 < sizes[2] < len(strata[2]) else []
        split = strata[:2] if unsplit else strata
        for name, rows, size, least in zip(KINDS, split, sizes, (FEWEST, 1, 1), strict=False):
            if size < least or size >= len(rows):
                raise InputError(
                    f"`validation_fraction`={share:g} holds out {size} of {len(rows)} {name}. Early "
                    f"stopping needs {least} of them, and one to learn from. Pass another share; or 0: "
                    f"then all {arg('max_epochs')} passes are made and nothing is calibrated."
                )
        mixed = [rng.permutation(rows) for rows in split]
        pairs = [(rows[size:], rows[:size]) for rows, size in zip(mixed, sizes, strict=False)]
        return [learned for learned, _ in pairs] + unsplit, [held_out for _, held_out in pairs]

    def _train(self, x: Matrix, fit: Callable[[Matrix], Trained]) -> Matrix:
        """Train on standardised features, which are returned, by what ``fit`` does with them."""
        self.scaling_ = Scaling.of(x)
        scaled = self.scaling_(x)
        trained = fit(scaled)
        self.layers_: list[Layer] = trained.layers
        self.history_ = {"training_risk": trained.training_risk, "held_out_risk": trained.held_out_risk}
        self.n_epochs_: int = trained.n_epochs
        self.classes_ = np.array([0, 1])
        return scaled

    def _calibrate(
        self,
        method: str | None,
        scaled: Matrix,
        held_out: StratumRows | None,
        evidence: Callable[[list[Vector]], Evidence],
        notes: tuple[Note, ...],
        shift: float = 0.0,
    ) -> None:
        """Learn the way from held-out logits, by stratum, to probabilities; not where none was held out.

        "auto" is Platt's line where a test refutes σ(logit).
        """
        self.notes_, self.shift_ = notes, shift
        self.calibrator_: Calibrator | None = None
        if method is None or held_out is None:
            return
        scores = [logits(self.layers_, scaled[rows]) + shift for rows in held_out]
        calibrator = Calibrator(PLATT, scale="score") if method in (PLATT, AUTO) else Calibrator(method)
        calibrator.fit(evidence([_calibrator_input(calibrator, logit) for logit in scores]))
        if method == AUTO:
            sigmoid = evidence([np.asarray(expit(logit)) for logit in scores])
            refuted, note = _test_sigmoid(calibrator, sigmoid)
            self.notes_ += (note,)
            if not refuted:
                return
        self.calibrator_ = calibrator
        self.notes_ += calibrator.notes_
        if FLAT in calibrator.notes_:
            warnings.warn(f"All probabilities are alike. {FLAT}", UserWarning, stacklevel=3)

    # --- What both give -------------------------------------------------------------------------

    def decision_function(self, X: Features) -> Vector:
        """The logit of each row (n,): higher is more likely positive. PyTorch is not needed."""
        check_is_fitted(self)
        return logits(self.layers_, self.scaling_(self._rows(X, reset=False)))

    def predict_proba(self, X: Features) -> Matrix:
        """Probabilities (n, 2) of 0 and of 1, being positive, in the order of the logits."""
        logit = self.decision_function(X) + self.shift_
        calibrator = self.calibrator_
        if calibrator is None:
            positive = expit(logit)
        else:
            positive = calibrator.predict(_calibrator_input(calibrator, logit))
        return np.column_stack([1 - positive, positive])

    def save(self, path: str | Path) -> None:
        """Write the fitted model to an .npz file without pickle, whole or not at all.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from halftruth.learn import PositiveConfidenceClassifier
        >>> model = PositiveConfidenceClassifier(validation_fraction=0).fit([[0.0], [1.0]], [0.2, 0.9])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "model.npz")
        ...     model.save(path)
        ...     again = PositiveConfidenceClassifier.load(path)
        >>> bool(again.predict_proba([[0.3]])[0, 1] == model.predict_proba([[0.3]])[0, 1])
        True
        """
        check_is_fitted(self)
        save_network(self, path)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """A model that `save` wrote. Nothing in the file is run, and PyTorch is not needed.

        Examples
        --------
        >>> from halftruth.learn import PUClassifier
        >>> PUClassifier.load("nowhere.npz")
        Traceback (most recent call last):
        halftruth._errors.InputError: There is no file nowhere.npz.
        """
        model: Self = load_network(cls, path)
        return model


def _test_sigmoid(line: Calibrator, evidence: Evidence) -> tuple[bool, Note]:
    """Whether evidence of σ(logit) refutes it in favour of the line, and a note that says so."""
    assert isinstance(line.curve_, LineCurve)
    p = calibration_test(evidence, "spiegelhalter", n_resamples=N_RESAMPLES).p_value
    # A slope below 1 draws probabilities in: they were too sure.
    word, level = ("sure", LEVEL) if line.curve_.slope < 1 else ("timid", STRICT)
    return p < level, Note("method", MENDED.format(word, p) if p < level else KEPT.format(p))


def _calibrator_input(calibrator: Calibrator, logit: Vector) -> Vector:
    """Platt's line is in the logit itself; the other methods take a probability."""
    return logit if calibrator.method == PLATT else np.asarray(expit(logit))
