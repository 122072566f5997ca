"""Names of groups: the values of a column as text, the same whatever engine they come from."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time
from decimal import Decimal
from typing import Any

import numpy as np


def names(column: Any, nan: Any = None) -> Any:
    """The text of each value of an Arrow column, as DuckDB writes it; masked where there is none.

    Where ``nan`` is one the value is NaN, whatever became of it on its way.
    """
    dictionary = column.combine_chunks().dictionary_encode()
    texts = [_text(value) for value in _values(dictionary.dictionary)]
    code = dictionary.indices.fill_null(0).to_numpy(zero_copy_only=False)
    empty = np.asarray(dictionary.indices.is_null())
    each = np.asarray(texts or [""], dtype=object)[code]
    if nan is not None:
        each, empty = np.where(nan == 1, "nan", each), empty & (nan != 1)
    return np.ma.masked_array(each, empty)


def _values(column: Any) -> list[Any]:
    if str(column.type) == "float":  # shortest in single precision
        return [float(str(value)) for value in column.to_numpy()]
    return list(column.to_pylist())


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(UTC)
    text = format(value, "f") if isinstance(value, Decimal) else str(value)
    if isinstance(value, (datetime, time)):
        fraction = re.sub(r"(\.\d*?)0+(?=$|[+-])", r"\1", text)
        return re.sub(r"\+00:00$", "+00", fraction.replace(".+", "+"))
    return text
