"""Metrics as they are written on the command line: `roc_auc`, `partial_auc(max_fpr=0.1)`."""

from __future__ import annotations

import ast
import inspect
import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from halftruth._errors import InputError

if TYPE_CHECKING:
    from halftruth._registry import Metric

_CALL = re.compile(r"\s*([^\s()]+)\s*(?:\((.*)\))?\s*", flags=re.DOTALL)
PLAIN = (bool, int, float, str, type(None))
"""What a parameter may be."""
BINS, MOST_BINS = "n_bins", 10_000
"""More bins tell nothing more, and take the memory of a machine."""


@dataclass(frozen=True)
class Asked:
    """A metric that was asked for, and its parameters."""

    name: str
    parameters: tuple[tuple[str, Any], ...] = ()

    @property
    def label(self) -> str:
        """The name of its row: the same however it was ordered, spaced and quoted."""
        order = _order(self.name)
        ordered = sorted(self.parameters, key=lambda each: order.get(each[0], len(order)))
        given = ", ".join(f"{name}={value!r}" for name, value in ordered)
        return f"{self.name}({given})" if given else self.name

    @property
    def metric(self) -> Metric:
        """What the registry says of it, once name and parameters are known to be right."""
        from halftruth import _registry

        metric = _registry.get(self.name)
        _, *takes = inspect.signature(metric.function).parameters.values()
        known = [each.name for each in takes]
        given = [name for name, _ in self.parameters]
        needed = [x.name for x in takes if x.default is x.empty and x.name != "threshold"]
        wrong = [f"has no parameter {name!r}" for name in given if name not in known]
        wrong += [f"was given {name!r} twice" for name in known if given.count(name) > 1]
        wrong += [f"needs {name}" for name in needed if name not in given]
        if wrong:
            raise InputError(f"--metrics: {self.name} {wrong[0]}; {_takes(metric, known)}")
        bins = dict(self.parameters).get(BINS)
        if isinstance(bins, (int, float)) and bins > MOST_BINS:
            raise InputError(f"--metrics {self.label}: {BINS} must be at most {MOST_BINS:,}.")
        return metric

    @property
    def call(self) -> Any:
        """As `evaluate` takes it."""
        return partial(self.metric.function, **dict(self.parameters)) if self.parameters else self.name

    def check(self) -> None:
        """Refuse, on a few rows made up, parameters that are refused on any."""
        metric, given = self.metric, dict(self.parameters)
        if "k" in given:  # how large it may be, the rows say
            _check_k(self.label, given["k"])
            return
        if not given:
            return
        if isinstance(given.get(BINS), int):
            given[BINS] = min(given[BINS], 10)
        import numpy as np

        from halftruth.evidence import Labeled

        rows = Labeled(np.arange(40) % 3 == 0, np.arange(40) * 7 % 40 / 40)
        try:
            with warnings.catch_warnings(action="ignore"):
                metric.bind(0.5, **given)(rows.measure())
        except InputError as error:
            raise error.about(f"--metrics {self.label}") from error


def _check_k(label: str, k: Any) -> None:
    if not isinstance(k, (int, float)) or not k > 0 or (k > 1 and not isinstance(k, int)):
        raise InputError(
            f"--metrics {label}: k must be a number of cases from 1, or a fraction in (0, 1), got {k!r}."
        )


def _order(name: str) -> dict[str, int]:
    """The places of a metric's parameters; none where there is no such metric."""
    from halftruth._registry import REGISTRY

    takes = inspect.signature(REGISTRY[name].function).parameters if name in REGISTRY else {}
    return {each: place for place, each in enumerate(takes)}


def _takes(metric: Metric, known: list[str]) -> str:
    if not known:
        return f"it takes none. Write {metric.name}."
    shown = metric.example or ({"threshold": 0.5} if metric.threshold else {known[0]: 15})
    example = ", ".join(f"{name}={value!r}" for name, value in shown.items())
    return f"it takes {', '.join(known)}. Write e.g. '{metric.name}({example})'."


def read(texts: Iterable[str] | None) -> list[Any] | dict[str, Any] | None:
    """What comma-separated lists ask for, as `evaluate` takes it; None where they ask for nothing."""
    asked = listed(texts)
    if texts is not None and not asked:
        raise InputError("--metrics names no metric. Write e.g. --metrics roc_auc, or leave it out.")
    labels = [each.label for each in asked]
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise InputError(f"--metrics names {twice} more than once. Name each row once.")
    if any(each.parameters for each in asked):
        return {each.label: each.call for each in asked}
    return [each.name for each in asked] or None


def listed(texts: Iterable[str] | None) -> list[Asked]:
    """The metrics of comma-separated lists."""
    return [metric(part) for text in texts or () for part in _parts(text)]


def metric(text: str) -> Asked:
    """One metric that there is, with parameters that it takes."""
    asked = _read(text)
    asked.check()  # before anything is read
    return asked


def canonical(text: str) -> str:
    """The name of the row of a metric, whether there is one or not."""
    return _read(text).label


def _read(text: str) -> Asked:
    """Parameters are literals or bare words; nothing is ever evaluated."""
    found = _CALL.fullmatch(text)
    if found is None:
        raise _malformed(text)
    name, inside = found.groups()
    return Asked(name, () if inside is None else tuple(_parameters(text, inside)))


def _parameters(text: str, inside: str) -> Iterator[tuple[str, Any]]:
    try:
        # As the arguments of a call, so that Python's own rules say where each begins and ends.
        call = ast.parse(f"_({inside})", mode="eval").body
        if not isinstance(call, ast.Call) or call.args or not isinstance(call.func, ast.Name):
            raise _malformed(text)
        for keyword in call.keywords:
            word = keyword.value
            value = word.id if isinstance(word, ast.Name) else ast.literal_eval(word)
            if keyword.arg is None or not isinstance(value, PLAIN):
                raise _malformed(text)
            yield keyword.arg, _whole(value)
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError) as error:
        raise error if isinstance(error, InputError) else _malformed(text) from None


def _whole(value: Any) -> Any:
    """A number without a fraction as an integer, so that 10 and 10.0 are one."""
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 1 << 53
    return int(value) if whole else value


def _malformed(text: str) -> InputError:
    return InputError(
        f"--metrics must read like roc_auc or 'partial_auc(max_fpr=0.1)': a name, perhaps with parameters "
        f"that are numbers, words, True or False; got {text.strip()!r}."
    )


def _parts(text: str) -> Iterator[str]:
    """The parts of a list at commas outside parentheses; empty ones are left out."""
    depth, part = 0, ""
    for sign in text:
        depth += (sign == "(") - (sign == ")")
        if sign == "," and depth <= 0:
            yield from filter(str.strip, [part])
            part = ""
        else:
            part += sign
    yield from filter(str.strip, [part])
