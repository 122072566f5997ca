"""What the text of an option says, refused where it cannot be right: before a long file is read."""

from __future__ import annotations

import ast
import inspect
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from halftruth import _checks, _registry
from halftruth._errors import InputError
from halftruth._registry import REGISTRY, Metric
from halftruth.cli._how_known import parse_selection
from halftruth.evidence import Labeled
from halftruth.files._number_columns import share_of
from halftruth.inference._best_threshold import read_aim
from halftruth.prior._belief import ESTIMATE, belief
from halftruth.prior._inputs import read_knowledge
from halftruth.results._intervals import METHODS

if TYPE_CHECKING:
    from halftruth.cli._options import MetricOptions, ShareOptions

__all__ = [
    "ESTIMATE", "RequestedMetric", "Share", "check_shares", "metric_settings", "parse_knowledge",
    "parse_metric", "parse_metrics", "parse_names", "parse_pair", "parse_share", "row_label",
    "share_settings",
]  # fmt: skip

Number = TypeVar("Number", int, float)
Share = float | tuple[float, float] | str | None
"""A number, a range, the word that asks for an estimate, or nothing."""


# Shares ----------------------------------------------------------------------------------------------


def parse_share(text: str | None, name: str) -> Share:
    """A prior or a purity: a number, a range low..high, or the word that asks for an estimate."""
    if text is None or text == ESTIMATE:
        return text
    try:
        numbers = [float(end) for end in text.split("..")]
    except ValueError:
        numbers = []
    if len(numbers) == 1:
        return numbers[0]
    if len(numbers) == 2:
        return numbers[0], numbers[1]
    point = re.sub(r"(?<=\d),(?=\d)", ".", text)
    hint = share_of(text) or (point if point != text else None)
    raise InputError(
        f"--{name} must be a number such as 0.3 or a range such as 0.02..0.05, or the word {ESTIMATE}; got "
        f"{text!r}.{f' Write {hint}.' if hint else ''}"
    )


def parse_pair(
    text: str | None, name: str, sign: str, kind: Callable[[str], Number], example: str
) -> tuple[Number, Number] | None:
    """Two numbers with a sign between them."""
    if text is None:
        return None
    try:
        first, second = map(kind, text.split(sign))
    except ValueError:
        raise InputError(f"--{name} must read like {example}, got {text!r}.") from None
    return first, second


def parse_knowledge(within: str | None, labeled_sample: str | None) -> dict[str, Any]:
    """What is known of α besides the scores, where something is."""
    ends = parse_pair(within, "within", "..", float, "0.01..0.1")
    if ends is not None and not 0 <= ends[0] < ends[1] <= 1:
        turned = ends[1], ends[0]
        remedy = f" Write {turned[0]:g}..{turned[1]:g}." if 0 <= turned[0] < turned[1] <= 1 else ""
        raise InputError(f"--within must satisfy 0 <= low < high <= 1, got {within}.{remedy}")
    known = {"within": ends, "labeled_sample": parse_pair(labeled_sample, "labeled-sample", "/", int, "7/50")}
    return {name: value for name, value in known.items() if value is not None}


def share_settings(options: ShareOptions) -> dict[str, Any]:
    """What is known of the shares of the evidence, refused here where it cannot be right."""
    prior, purity = parse_share(options.prior, "prior"), parse_share(options.purity, "purity")
    known = parse_knowledge(options.within, options.labeled_sample)
    check_shares(known, prior, purity)
    selection = parse_selection(options.selection)
    return {
        "prior": prior,
        "purity": purity,
        "selection": selection,
        "known": known,
        "population": options.population,
    }


def check_shares(known: dict[str, Any], prior: Share, purity: Share) -> None:
    """Refuse shares that cannot be, and what is known besides the scores where it says nothing."""
    if purity == ESTIMATE != prior:
        raise InputError(
            "--purity estimate goes with --prior estimate: scores say something of both together. Pass both, "
            "or a number for the purity."
        )
    for name, share in (("prior", prior), ("purity", purity)):
        if share != ESTIMATE:
            belief(share, name, closed_at_one=name == "purity")
    if not known:
        return
    option = f"--{next(iter(known)).replace('_', '-')}"
    if prior != ESTIMATE:
        raise InputError(f"{option} goes with --prior estimate. Pass that too, or leave {option} out.")
    if purity == ESTIMATE:
        raise InputError(f"{option} does not go with --purity estimate. Pass the purity as a number.")
    purest = purity if isinstance(purity, float) else 1.0
    read_knowledge(purest, known.get("within"), known.get("labeled_sample"))


# Settings of evaluations -----------------------------------------------------------------------------


def parse_names(lists: Iterable[str] | None) -> list[str] | None:
    """Names from comma-separated lists; None where there is none."""
    names = [name.strip() for text in lists or () for name in text.split(",")]
    return [name for name in names if name] or None


def parse_threshold(text: str | None) -> float | str | None:
    """A number, or the text that says what the threshold is chosen for."""
    if text is None:
        return None
    try:
        return _checks.threshold(float(text))
    except ValueError:
        read_aim(text)
        return text


def metric_settings(options: MetricOptions, **more: Any) -> dict[str, Any]:
    """The settings of a call, refused here where the library would refuse them, before a file is read."""
    threshold = parse_threshold(options.threshold)
    settings = vars(options) | more | {"metrics": parse_metrics(options.metrics), "threshold": threshold}
    _checks.confidence_level(options.confidence_level)
    if more.get("method") is not None:
        _checks.choice(more["method"], "method", METHODS)
        if isinstance(threshold, str):
            raise InputError("--method does not go with a --threshold that is chosen. Leave one out.")
    for request in _requested(options.metrics):
        # A threshold that is yet to be chosen is as good as any.
        request.metric.bind(0.0 if isinstance(threshold, str) else threshold, **dict(request.parameters))
    return settings


# Metrics as they are written: `roc_auc`, `partial_auc(max_fpr=0.1)` ----------------------------------

_CALL = re.compile(r"\s*([^\s()]+)\s*(?:\((.*)\))?\s*", flags=re.DOTALL)
PLAIN = (bool, int, float, str, type(None))  # what a parameter may be
BINS, MOST_BINS = "n_bins", 10_000  # more bins tell nothing more, and take the memory of a machine


@dataclass(frozen=True)
class RequestedMetric:
    """A metric that was asked for, and its parameters."""

    name: str
    parameters: tuple[tuple[str, Any], ...] = ()

    @property
    def label(self) -> str:
        """The name of its row: the same however it was ordered, spaced and quoted."""
        order = _order(self.name)
        ordered = sorted(self.parameters, key=lambda pair: order.get(pair[0], len(order)))
        settings = ", ".join(f"{name}={value!r}" for name, value in ordered)
        return f"{self.name}({settings})" if settings else self.name

    @property
    def metric(self) -> Metric:
        """What the registry says of it, once name and parameters are known to be right."""
        metric = _registry.get(self.name)
        _, *takes = inspect.signature(metric.function).parameters.values()
        known = [parameter.name for parameter in takes]
        names = [name for name, _ in self.parameters]
        needed = [x.name for x in takes if x.default is x.empty and x.name != "threshold"]
        wrong = [f"has no parameter {name!r}" for name in names if name not in known]
        wrong += [f"was given {name!r} twice" for name in known if names.count(name) > 1]
        wrong += [f"needs {name}" for name in needed if name not in names]
        if wrong:
            raise InputError(f"--metrics: {self.name} {wrong[0]}; {_takes(metric, known)}")
        bins = dict(self.parameters).get(BINS)
        if isinstance(bins, (int, float)) and bins > MOST_BINS:
            raise InputError(f"--metrics {self.label}: {BINS} must be at most {MOST_BINS:,}.")
        return metric

    @property
    def needs_threshold(self) -> bool:
        """Whether it is a rate at --threshold, and not at one of its own."""
        return self.metric.threshold and "threshold" not in dict(self.parameters)

    @property
    def call(self) -> Any:
        """As `evaluate` takes it."""
        return partial(self.metric.function, **dict(self.parameters)) if self.parameters else self.name

    def check(self) -> None:
        """Refuse, on a few rows made up, parameters that are refused on any."""
        metric, parameters = self.metric, dict(self.parameters)
        if "k" in parameters:  # how large it may be, the rows say
            _check_k(self.label, parameters["k"])
            return
        if not parameters:
            return
        # What is wrong with the parameters shows with few bins too, and at once.
        if isinstance(parameters.get(BINS), int):
            parameters[BINS] = min(parameters[BINS], 10)
        # Any rows do that have both classes and no ties: 7 and 40 have no common divisor.
        rows = Labeled(np.arange(40) % 3 == 0, np.arange(40) * 7 % 40 / 40)
        try:
            with warnings.catch_warnings(action="ignore"):
                metric.bind(0.5, **parameters)(rows.measure())
        except InputError as error:
            raise error.about(f"--metrics {self.label}") from error


def _check_k(label: str, k: Any) -> None:
    if not isinstance(k, (int, float)) or not k > 0 or (k > 1 and not isinstance(k, int)):
        raise InputError(
            f"--metrics {label}: k must be a number of cases from 1, or a fraction in (0, 1), got {k!r}."
        )


def _order(name: str) -> dict[str, int]:
    """The places of a metric's parameters; none where there is no such metric."""
    takes = inspect.signature(REGISTRY[name].function).parameters if name in REGISTRY else {}
    return {parameter: place for place, parameter in enumerate(takes)}


def _takes(metric: Metric, known: list[str]) -> str:
    if not known:
        return f"it takes none. Write {metric.name}."
    shown = metric.example or ({"threshold": 0.5} if metric.threshold else {known[0]: 15})
    example = ", ".join(f"{name}={value!r}" for name, value in shown.items())
    return f"it takes {', '.join(known)}. Write e.g. '{metric.name}({example})'."


def parse_metrics(texts: Iterable[str] | None) -> list[Any] | dict[str, Any] | None:
    """What comma-separated lists ask for, as `evaluate` takes it; None where they ask for nothing."""
    requests = _requested(texts)
    if texts is not None and not requests:
        raise InputError("--metrics names no metric. Write e.g. --metrics roc_auc, or leave it out.")
    labels = [request.label for request in requests]
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise InputError(f"--metrics names {twice} more than once. Name each row once.")
    if any(request.parameters for request in requests):
        return {request.label: request.call for request in requests}
    return [request.name for request in requests] or None


def _requested(texts: Iterable[str] | None) -> list[RequestedMetric]:
    """The metrics of comma-separated lists."""
    return [parse_metric(metric) for text in texts or () for metric in _split(text)]


def parse_metric(text: str) -> RequestedMetric:
    """One metric that there is, with parameters that it takes."""
    request = _read(text)
    request.check()  # before anything is read
    return request


def row_label(text: str) -> str:
    """The name of the row of a metric, whether there is one or not."""
    return _read(text).label


def _read(text: str) -> RequestedMetric:
    """Parameters are literals or bare words; nothing is ever evaluated."""
    match = _CALL.fullmatch(text)
    if match is None:
        raise _malformed(text)
    name, inside = match.groups()
    return RequestedMetric(name, () if inside is None else tuple(_parameters(text, inside)))


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


def _split(text: str) -> list[str]:
    """The items of a list at commas outside parentheses; empty ones are left out."""
    items, depth = [""], 0
    for sign in text:
        depth += (sign == "(") - (sign == ")")
        if sign == "," and depth <= 0:
            items.append("")
        else:
            items[-1] += sign
    return [item for item in items if item.strip()]
