"""A trained network as plain arrays: what was learned, and what is on disk, needs no PyTorch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from halftruth import _checks, _storage
from halftruth._errors import HalftruthError, InputError, as_notes, notes_to_dict
from halftruth.calibration.calibrators._calibrator import Calibrator
from halftruth.prior._belief import PriorEstimate

__all__ = ["BLOCK", "Layer", "Matrix", "Scaling", "load_network", "logits", "save_network"]

Matrix: TypeAlias = NDArray[np.float64]
Layer: TypeAlias = tuple[Matrix, Matrix]  # weights (inputs, outputs) and constants (1, outputs)
Json: TypeAlias = float | str | bool | list["Json"] | dict[str, "Json"] | None

BLOCK = 65_536  # rows whose hidden units are held at a time
SCHEMA = 1


def logits(layers: Sequence[Layer], x: Matrix) -> Matrix:
    """Logits of rows by a network's arrays.

    Examples
    --------
    >>> import numpy as np
    >>> logits([(np.array([[2.0], [-1.0]]), np.array([[0.5]]))], np.array([[1.0, 1.0]]))
    array([1.5])
    """
    return np.concatenate([_block(layers, x[i : i + BLOCK]) for i in range(0, max(len(x), 1), BLOCK)])


def _block(layers: Sequence[Layer], unit: Matrix) -> Matrix:
    for i, (weight, constant) in enumerate(layers):
        unit = (unit if i == 0 else np.maximum(unit, 0)) @ weight + constant
    return unit[:, 0]


@dataclass(frozen=True, eq=False)
class Scaling:
    """Features brought to mean 0 and variance 1; one that never changes is taken out."""

    center: Matrix
    factor: Matrix

    @classmethod
    def of(cls, x: Matrix) -> Scaling:
        """The scaling of these rows.

        Examples
        --------
        >>> import numpy as np
        >>> Scaling.of(np.array([[1.0, 7.0], [3.0, 7.0]]))(np.array([[3.0, 9.0]]))
        array([[1., 0.]])
        """
        with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
            center = x.mean(axis=0)
            distance = x - center
            # Squares of very large and very small numbers overflow or vanish: distances are squared in units
            # of the farthest.
            farthest = np.abs(distance).max(axis=0)
            unit = np.where(farthest > 0, farthest, 1.0)
            spread = unit * np.sqrt(np.mean((distance / unit) ** 2, axis=0))
            # The mean of a constant feature may be rounded, so that its distances are not quite 0.
            constant = (np.ptp(x, axis=0) == 0) | (farthest == 0)
            factor = np.where(constant, 0.0, 1 / np.where(constant, 1.0, spread))
        bad = ~(np.isfinite(center) & np.isfinite(factor)) | ((factor == 0) & ~constant)
        if bad.any():
            column = int(np.argmax(bad))
            raise InputError(
                f"`X` cannot be standardised: feature {column} (from 0) runs from {x[:, column].min():g} to "
                f"{x[:, column].max():g}, which 64-bit numbers do not hold. Pass it in other units."
            )
        return cls(center, factor)

    def __call__(self, x: Matrix) -> Matrix:
        return np.asarray((x - self.center) * self.factor)


# --- On disk: arrays with a JSON header, and no code ----------------------------------------------


def save_network(model: Any, path: str | Path) -> None:
    """Write a fitted network classifier.

    Of a prior that was estimated, its replicates are left out; a generator given as random_state too.
    """
    names = getattr(model, "feature_names_in_", None)
    header = {
        "params": {name: _to_json(value) for name, value in model.get_params(deep=False).items()},
        "calibrator": None if model.calibrator_ is None else model.calibrator_.to_dict(),
        "feature_names": None if names is None else [str(name) for name in names],
        "history": model.history_,
        "n_epochs": model.n_epochs_,
        "prior": model.prior_,
        "shift": model.shift_,
        **notes_to_dict(model.notes_),
    }
    arrays = {"center": model.scaling_.center, "factor": model.scaling_.factor}
    for i, (weight, constant) in enumerate(model.layers_):
        arrays |= {f"weight{i}": weight, f"constant{i}": constant}
    _storage.save(path, _title(type(model)), SCHEMA, header, arrays)


def load_network(cls: type, path: str | Path) -> Any:
    """Read a network classifier of this class."""
    header, arrays = _storage.load(path, _title(cls), SCHEMA)
    try:
        model: Any = cls(**{name: _from_json(value) for name, value in header["params"].items()})
        model._check_choices()
        center, factor = _vector(arrays, "center"), _vector(arrays, "factor")
        model.n_features_in_ = len(center)
        if len(factor) != len(center):
            raise InputError(f"it has {len(center)} centers and {len(factor)} factors")
        model.scaling_ = Scaling(center, factor)
        model.layers_ = _layers(arrays, model.n_features_in_)
        stored, names = header["calibrator"], header["feature_names"]
        model.calibrator_ = None if stored is None else Calibrator.from_dict(stored)
        if names is not None:
            if len(_texts(names)) != len(center):
                raise InputError(f"it has {len(names)} names of {len(center)} features")
            model.feature_names_in_ = np.asarray(names, dtype=object)
        model.history_ = {
            str(name): [float(risk) for risk in risks] for name, risks in header["history"].items()
        }
        model.n_epochs_ = _checks.count(header["n_epochs"], "n_epochs", least=0)
        model.prior_ = _checks.share(header["prior"], "prior")
        model.notes_ = as_notes(_texts(header["notes"]), _texts(header.get("note_kinds", [])))
        model.shift_ = _checks.finite(header["shift"], "shift")
    except (HalftruthError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{path} is a damaged {_title(cls)}: {error}") from error
    model.classes_ = np.array([0, 1])
    return model


def _title(cls: type) -> str:
    return f"halftruth {cls.__name__}"


def _layers(arrays: _storage.Arrays, inputs: int) -> list[Layer]:
    """Layers that fit one another, from the features to one logit."""
    layers: list[Layer] = []
    while f"weight{len(layers)}" in arrays:
        weight, constant = (np.asarray(arrays[f"{name}{len(layers)}"]) for name in ("weight", "constant"))
        outputs = weight.shape[-1]
        if weight.shape != (inputs, outputs) or constant.shape != (1, outputs):
            raise InputError(f"layer {len(layers)} has shapes {weight.shape} and {constant.shape}")
        if not all(array.dtype == np.float64 and np.isfinite(array).all() for array in (weight, constant)):
            raise InputError(f"layer {len(layers)} does not hold finite numbers")
        layers.append((weight, constant))
        inputs = outputs
    if not layers or inputs != 1:
        raise InputError("its last layer does not give one logit")
    return layers


def _texts(value: Json) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise InputError(f"it has {value!r} where a list of texts should be")
    return [str(text) for text in value]


def _vector(arrays: _storage.Arrays, name: str) -> _checks.Vector:
    return _checks.vector(arrays[name], name)


def _to_json(value: Any) -> Json:
    """A setting as JSON holds it."""
    if isinstance(value, PriorEstimate):
        return {"estimate": value.to_dict()}
    if isinstance(value, (np.integer, np.floating, np.bool_)):
        return value.item()
    if isinstance(value, (np.random.RandomState, np.random.Generator)):
        return None
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [_to_json(element) for element in value]
    return value  # type: ignore[no-any-return]


def _from_json(value: Any) -> Any:
    """A setting as it was given: only an estimate of the prior is stored as a dictionary."""
    if isinstance(value, dict):
        stored = value["estimate"]
        notes = as_notes(stored["notes"], stored.get("note_kinds", ()))
        held = {field.name for field in fields(PriorEstimate)}
        return PriorEstimate(**{name: x for name, x in stored.items() if name in held} | {"notes": notes})
    return tuple(value) if isinstance(value, list) else value
