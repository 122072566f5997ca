"""All validation of user input: array-likes in, clean float64 vectors out, or an error that helps."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from halftruth._errors import InputError, arg, call

__all__ = [
    "SHARES", "Vector", "at_rows", "binary_labels", "choice", "confidence_level", "count", "finite",
    "inside", "instance", "labeled_sample", "native", "number", "partial_labels", "positive_probabilities",
    "probabilities", "refuse_values", "refuse_zeros", "scores", "share", "threshold", "unlabeled_code",
    "vector", "weights",
]  # fmt: skip

Vector = NDArray[np.float64]
T = TypeVar("T")
Word = TypeVar("Word", bound=str)

_TAKES_MISSING = "a number, or NaN/None for unlabeled"


def native(values: Any, name: str) -> NDArray[Any]:
    """Bring any accepted container to a NumPy array, missing values as NaN."""
    library = type(values).__module__.partition(".")[0]
    if library == "torch":
        tensor = values.detach().cpu().resolve_neg()
        return np.asarray((tensor.double() if tensor.is_floating_point() else tensor).numpy())
    if isinstance(values, np.ma.MaskedArray):
        return np.asarray(np.ma.filled(values.astype(np.float64), np.nan))
    if library in {"pandas", "polars", "pyarrow"}:
        import narwhals as nw

        series = nw.from_native(values, allow_series=True, pass_through=True)
        if isinstance(series, nw.DataFrame) and len(series.columns) == 1:
            series = series[series.columns[0]]
        if isinstance(series, nw.Series) and (series.dtype.is_numeric() or series.dtype == nw.Boolean):
            return np.asarray(series.cast(nw.Float64).to_numpy())
    try:
        return np.asarray(values)
    except ValueError as error:
        raise InputError(
            argument=name,
            must="be a one-dimensional sequence of numbers",
            got="nested sequences of different lengths",
            remedy="Pass one number for each row.",
        ) from error


def _objects_to_float(array: NDArray[Any], name: str) -> Vector:
    """Labels may hold None or pd.NA; everything else in an object array is refused."""
    out = np.empty(array.shape, dtype=np.float64)
    for position, item in enumerate(array.tolist()):
        if item is None or type(item).__name__ in {"NAType", "NaTType"}:
            out[position] = np.nan
        elif isinstance(item, (bool, int, float, np.number, np.bool_)):
            out[position] = float(item)
        else:
            raise InputError(
                f"{arg(name)} must hold {_TAKES_MISSING}; got {item!r} at index {position}.",
                argument=name,
                remedy="Map your labels to 1 (positive), 0 (negative) and NaN (unlabeled).",
            )
    return out


def vector(values: Any, name: str, *, missing: bool = False, length: int | None = None) -> Vector:
    """One-dimensional float64 array of finite numbers (NaN only where ``missing``)."""
    array = native(values, name)
    if array.ndim != 1:
        hint = (
            f"Pass the positive class's column, {name}[:, 1]."
            if array.ndim == 2 and array.shape[1] == 2
            else "Pass one number for each row."
        )
        raise InputError(argument=name, must="be one-dimensional", got=f"shape {array.shape}", remedy=hint)
    if missing and array.dtype.kind in "OUS":
        array = _objects_to_float(array, name)  # of text it raises, with what labels must be
    if array.dtype.kind not in "fiub":
        raise InputError(
            argument=name,
            must="be numeric",
            got=f"dtype {array.dtype}",
            remedy="Convert it first, e.g. with .astype(float).",
        )
    out = np.array(array, dtype=np.float64)
    # A finite sum has finite terms, and costs a fraction of a look at each.
    with np.errstate(over="ignore", invalid="ignore"):
        suspect = not np.isfinite(out.sum())
    if suspect:
        bad = np.isinf(out) if missing else ~np.isfinite(out)
        refuse_values(bad, out, name, "be finite", "NaN or infinite value(s)", "Drop or repair these rows.")
    if length is not None and len(out) != length:
        raise InputError(
            f"{arg(name)} has length {len(out)}, but the rows it belongs to number {length}.",
            argument=name,
            remedy="Pass one value for each row.",
        )
    return out


def refuse_values(
    bad: NDArray[np.bool_], out: Vector, name: str, must: str, got: str, remedy: str, *, digits: str = ""
) -> None:
    """Raise where a value is bad, with how many are and where the first is, in a format of ``digits``."""
    if bad.any():
        first = int(np.argmax(bad))
        got = f"{int(bad.sum())} {got}, the first ({out[first]:{digits}}) at index {first}"
        raise InputError(argument=name, must=must, got=got, remedy=remedy)


def scores(values: Any, name: str, *, length: int | None = None) -> Vector:
    """Finite scores, at least one; −0.0 becomes 0.0 so that equal scores are one atom."""
    out = vector(values, name, length=length)
    if len(out) == 0:
        raise InputError(f"{arg(name)} is empty.", argument=name, remedy="Pass at least one score.")
    out += 0.0
    return out


def matrix(values: Any, name: str, *, length: int | None = None) -> Vector:
    """Finite numbers, (n, k); trees and distances both want them."""
    to_numpy = getattr(values, "to_numpy", None)
    try:
        x = np.asarray(values if to_numpy is None else to_numpy(), dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"{arg(name)} must hold numbers only. Encode what is not, or pass a classifier or pipeline that "
            "does."
        ) from None
    if x.ndim != 2 or x.shape[1] == 0:
        raise InputError(f"{arg(name)} must be two-dimensional, rows by features, got shape {x.shape}.")
    if length is not None and len(x) != length:
        raise InputError(
            argument=name, must=f"have a row for each of the {length} scores", got=f"{len(x)} rows"
        )
    if not np.isfinite(x).all():
        count = int((~np.isfinite(x)).sum())
        raise InputError(
            f"{arg(name)} must be finite, got {count} NaN or infinite value(s). Impute or drop them, or pass "
            "a classifier that takes them."
        )
    return x


def weights(values: Any, name: str, *, length: int) -> Vector | None:
    """Non-negative weights with a positive sum, or None for equal weights."""
    if values is None:
        return None
    out = vector(values, name, length=length)
    remedy = "A weight says how many rows a row stands for."
    refuse_values(out < 0, out, name, "not be negative", "negative value(s)", remedy)
    if not out.any():
        raise InputError(
            f"{arg(name)} is zero for all {length} row(s).",
            argument=name,
            remedy=f"Give at least one row a positive weight, or leave {arg(name)} out for equal weights.",
        )
    return out


def probabilities(values: Any, name: str, *, length: int | None = None) -> Vector:
    """Numbers in [0, 1]."""
    out = vector(values, name, length=length)
    remedy = "Pass probabilities, not margins or percentages."
    refuse_values((out < 0) | (out > 1), out, name, "lie in [0, 1]", "value(s) outside", remedy)
    return out


def positive_probabilities(values: Any, name: str, *, length: int | None = None, why: str) -> Vector:
    """Numbers in (0, 1]: they are divided by."""
    out = probabilities(values, name, length=length)
    refuse_zeros(out, name, why)
    return out


def refuse_zeros(values: Vector, name: str, why: str) -> None:
    """Refuse zeros among numbers that are divided by."""
    zeros = values == 0
    if zeros.any():
        got = f"{int(zeros.sum())} zero(s), the first at index {int(np.argmax(zeros))}"
        raise InputError(argument=name, must="be greater than 0", got=got, remedy=why)


def _refuse_codes(out: Vector, allowed: NDArray[np.bool_], name: str, remedy: str) -> None:
    if not allowed.all():
        codes = np.unique(out[~allowed])
        first = int(np.argmax(~allowed))
        shown = ", ".join(f"{code:g}" for code in codes[:5]) + (", …" if len(codes) > 5 else "")
        raise InputError(
            f"{arg(name)} holds {int((~allowed).sum())} label(s) outside the code: {shown} (the first "
            f"at index {first}).",
            argument=name,
            remedy=remedy,
        )


def binary_labels(values: Any, name: str, *, length: int | None = None) -> NDArray[np.bool_]:
    """Labels 0 and 1, as booleans (True = positive)."""
    array = native(values, name)
    # Whole numbers are never missing: two looks at them, and no copy.
    whole = array.ndim == 1 and array.dtype.kind in "bui" and len(array) == length != 0
    if whole and array.min() >= 0 and array.max() <= 1:
        return np.asarray(array == 1)
    out = vector(values, name, missing=True, length=length)
    if np.isnan(out).any():
        raise InputError(
            f"{arg(name)} has {int(np.isnan(out).sum())} missing label(s), the first at index "
            f"{int(np.argmax(np.isnan(out)))}.",
            argument=name,
            remedy="If those rows are unlabeled, use PositiveUnlabeled.from_labels; else drop them.",
        )
    remedy = "Labeled data take 0 (negative) and 1 (positive)."
    _refuse_codes(out, (out == 0) | (out == 1), name, remedy)
    return np.asarray(out == 1)


def unlabeled_code(value: Any) -> float:
    """The number that stands for unlabeled in a label column."""
    advice = f"Pass {arg('unlabeled', 0)} or {arg('unlabeled', -1)}, the code of the unlabeled rows."
    code = number(value, "unlabeled", advice)
    if code == 1:
        raise InputError(
            f"{arg('unlabeled')} must not be 1, the code of the positives; got {value!r}.",
            argument="unlabeled",
            remedy=advice,
        )
    return code


def at_rows(values: Any, name: str, mask: NDArray[np.bool_]) -> Vector:
    """The values of the rows in ``mask``, from a column of all rows or of these rows only."""
    column = vector(values, name, missing=True)
    if len(column) == len(mask) != mask.sum():
        absent = mask & np.isnan(column)
        if absent.any():
            raise InputError(
                argument=name,
                must="be given for every positive row",
                got=f"NaN for {int(absent.sum())} of them, the first at index {int(np.argmax(absent))}",
            )
        return np.asarray(column[mask])
    if len(column) != mask.sum():
        raise InputError(
            argument=name,
            must=f"have one value for each of {len(mask)} rows or {int(mask.sum())} positives",
            got=len(column),
        )
    return column


def partial_labels(
    values: Any, name: str, *, unlabeled: float | None, length: int
) -> dict[str, NDArray[np.bool_]]:
    """Masks of the strata in a label column: 1 positive, 0 negative, NaN or `unlabeled` unlabeled."""
    if unlabeled is not None:
        unlabeled = unlabeled_code(unlabeled)
    out = vector(values, name, missing=True, length=length)
    is_unlabeled = np.isnan(out)
    if unlabeled is not None:
        is_unlabeled |= out == unlabeled
    positive = out == 1
    negative = (out == 0) & ~is_unlabeled
    remedy = (
        "The code is 1 positive, 0 negative, NaN unlabeled; name another code for unlabeled rows, "
        f"e.g. {arg('unlabeled', -1)}."
    )
    _refuse_codes(out, is_unlabeled | positive | negative, name, remedy)
    if not is_unlabeled.any():
        codes = "no NaN" if unlabeled is None else f"no NaN and no {unlabeled:g}"
        raise InputError(
            f"{arg(name)} has no unlabeled row ({codes}).",
            argument=name,
            remedy=f"If 0 means unlabeled, pass {arg('unlabeled', 0)}; if every row is labeled, use Labeled.",
        )
    if not positive.any():
        raise InputError(
            f"{arg(name)} has no positive row (no 1).",
            argument=name,
            remedy="PU evidence needs known positives.",
        )
    return {"positive": positive, "unlabeled": is_unlabeled, "negative": negative}


def number(value: Any, name: str, advice: str = "Pass a real number.") -> float:
    """A real number, not NaN; no guess is made at strings and booleans."""
    try:
        out = np.nan if isinstance(value, (bool, np.bool_, str, bytes)) else float(value)
    except (TypeError, ValueError):
        out = np.nan
    if np.isnan(out):
        raise InputError(argument=name, must="be a real number", got=repr(value), remedy=advice)
    return out


def finite(value: Any, name: str) -> float:
    """A finite float."""
    out = number(value, name)
    if np.isinf(out):
        raise InputError(argument=name, must="be finite", got=repr(value), remedy="Pass a real number.")
    return out


def inside(value: Any, name: str, low: float, high: float, *, closed: str = "neither", advice: str) -> float:
    """A float between ``low`` and ``high``; ends count on the ``closed`` side: left, right, both."""
    out = number(value, name, advice)
    at_left, at_right = closed in ("left", "both"), closed in ("right", "both")
    if not ((low < out or (at_left and out == low)) and (out < high or (at_right and out == high))):
        left, right = "[" if at_left else "(", "]" if at_right else ")"
        limits = f"{left}{low:g}, {high:g}{right}"
        raise InputError(argument=name, must=f"lie in {limits}", got=repr(value), remedy=advice)
    return out


SHARES = {
    "prior": "Pass the positive fraction of the population, not the odds or a percentage; for 'at most' "
    "a range with a small positive low end.",
    "purity": "Pass the share of the known positives that are truly positive.",
}


def share(value: Any, name: str, *, closed_at_one: bool = False) -> float:
    """A number in (0, 1), or in (0, 1] where ``closed_at_one``."""
    closed = "right" if closed_at_one else "neither"
    return inside(value, name, 0.0, 1.0, closed=closed, advice=SHARES.get(name, "Pass a fraction."))


def instance(value: Any, name: str, kind: type[T], remedy: str = "") -> T:
    """An object of this class."""
    if not isinstance(value, kind):
        got = type(value).__name__
        raise InputError(argument=name, must=f"be a {kind.__name__}", got=got, remedy=remedy)
    return value


def choice(value: Any, name: str, allowed: tuple[Word, ...]) -> Word:
    """One of a few words."""
    if not isinstance(value, str) or value not in allowed:
        words = " or ".join(repr(word) for word in allowed)
        raise InputError(argument=name, must=f"be {words}", got=repr(value))
    return next(word for word in allowed if word == value)


def confidence_level(value: Any) -> float:
    """A number in (0, 1), read as a fraction."""
    return inside(value, "confidence_level", 0.0, 1.0, advice="Pass 0.95 for 95%.")


def count(value: Any, name: str, *, least: int) -> int:
    """A whole number not below ``least``."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise InputError(argument=name, must=f"be a whole number of at least {least}", got=repr(value))
    return int(value)


def labeled_sample(value: Any, name: str = "labeled_sample") -> tuple[int, int]:
    """(positives found, cases labeled) of a random sample of rows."""
    try:
        k, m = value
    except (TypeError, ValueError):
        raise InputError(
            argument=name, must="be a pair (positives found, cases labeled)", got=repr(value)
        ) from None
    m = count(m, name, least=1)
    k = count(k, name, least=0)
    if k > m:
        raise InputError(
            f"{arg(name)} has {k} positives among {m} cases.",
            argument=name,
            remedy=f"Pass {call('(positives, cases)', 'sample')}.",
        )
    return k, m


def threshold(value: Any) -> float:
    """A threshold on the score's own scale; inf calls no case positive."""
    return number(value, "threshold", "Pass one number on the scale of the scores.")
