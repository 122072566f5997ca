"""Network classifiers on disk: arrays with a JSON header, and no code."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from halftruth import _checks, _storage
from halftruth._errors import HalftruthError, InputError
from halftruth.calibration.calibrators.calibrator import Calibrator
from halftruth.learn.layers import Layer, Scaling
from halftruth.prior._belief import PriorEstimate

SCHEMA = 1


def save(model: Any, path: str | Path) -> None:
    """Write a fitted model.

    Of a prior that was estimated, its replicates are left out; a generator given as random_state too.
    """
    names = getattr(model, "feature_names_in_", None)
    header = {
        "params": {name: _plain(value) for name, value in model.get_params(deep=False).items()},
        "calibrator": None if model.calibrator_ is None else model.calibrator_.to_dict(),
        "feature_names": None if names is None else [str(name) for name in names],
        "history": model.history_,
        "n_epochs": model.n_epochs_,
        "prior": model.prior_,
        "shift": model.shift_,
        "notes": list(model.notes_),
    }
    arrays = {"center": model.scaling_.center, "factor": model.scaling_.factor}
    for i, (weight, constant) in enumerate(model.layers_):
        arrays |= {f"weight{i}": weight, f"constant{i}": constant}
    _storage.save(path, _what(type(model)), SCHEMA, header, arrays)


def load(cls: type, path: str | Path) -> Any:
    """Read a model of this class."""
    header, arrays = _storage.load(path, _what(cls), SCHEMA)
    try:
        out: Any = cls(**{name: _restored(name, value) for name, value in header["params"].items()})
        out._check_words()
        center, factor = _vector(arrays, "center"), _vector(arrays, "factor")
        out.n_features_in_ = len(center)
        if len(factor) != len(center):
            raise InputError(f"it has {len(center)} centers and {len(factor)} factors")
        out.scaling_ = Scaling(center, factor)
        out.layers_ = _layers(arrays, out.n_features_in_)
        stored, names = header["calibrator"], header["feature_names"]
        out.calibrator_ = None if stored is None else Calibrator.from_dict(stored)
        if names is not None:
            if len(_texts(names)) != len(center):
                raise InputError(f"it has {len(names)} names of {len(center)} features")
            out.feature_names_in_ = np.asarray(names, dtype=object)
        out.history_ = {str(name): [float(x) for x in seen] for name, seen in header["history"].items()}
        out.n_epochs_ = _checks.count(header["n_epochs"], "n_epochs", least=0)
        out.prior_, out.notes_ = _checks.share(header["prior"], "prior"), tuple(_texts(header["notes"]))
        out.shift_ = _checks.finite(header["shift"], "shift")
    except (HalftruthError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{path} is a damaged {_what(cls)}: {error}") from error
    out.classes_ = np.array([0, 1])
    return out


def _what(cls: type) -> str:
    return f"halftruth {cls.__name__}"


def _layers(arrays: _storage.Arrays, inputs: int) -> list[Layer]:
    """Layers that fit one another, from the features to one logit."""
    layers: list[Layer] = []
    while f"weight{len(layers)}" in arrays:
        weight, constant = (np.asarray(arrays[f"{name}{len(layers)}"]) for name in ("weight", "constant"))
        outputs = weight.shape[-1]
        if weight.shape != (inputs, outputs) or constant.shape != (1, outputs):
            raise InputError(f"layer {len(layers)} has shapes {weight.shape} and {constant.shape}")
        if not all(part.dtype == np.float64 and np.isfinite(part).all() for part in (weight, constant)):
            raise InputError(f"layer {len(layers)} does not hold finite numbers")
        layers.append((weight, constant))
        inputs = outputs
    if not layers or inputs != 1:
        raise InputError("its last layer does not give one logit")
    return layers


def _texts(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise InputError(f"it has {value!r} where a list of texts should be")
    return value


def _vector(arrays: _storage.Arrays, name: str) -> _checks.Vector:
    return _checks.vector(arrays[name], name)


def _plain(value: Any) -> Any:
    """A setting as JSON holds it."""
    if isinstance(value, PriorEstimate):
        return {"estimate": value.to_dict()}
    if isinstance(value, (np.integer, np.floating, np.bool_)):
        return value.item()
    if isinstance(value, (np.random.RandomState, np.random.Generator)):
        return None
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [_plain(each) for each in value]
    return value


def _restored(name: str, value: Any) -> Any:
    if isinstance(value, dict):
        told = value["estimate"]
        return PriorEstimate(**told | {"notes": tuple(told["notes"])})
    return tuple(value) if isinstance(value, list) else value
