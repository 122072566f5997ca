"""What the text of an option says, refused where it cannot be right: before a long file is read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from halftruth._errors import InputError
from halftruth.cli import metrics

Number = TypeVar("Number", int, float)
ESTIMATE = "estimate"
"""The word of `halftruth.prior._belief`, which would load NumPy before it is needed."""


def share(text: str | None, name: str) -> float | tuple[float, float] | str | None:
    """A prior or a purity: a number, a range low..high, or the word that asks for an estimate."""
    if text is None or text == ESTIMATE:
        return text
    ends = text.split("..")
    try:
        numbers = [float(end) for end in ends]
    except ValueError:
        numbers = []
    if len(numbers) == 1:
        return numbers[0]
    if len(numbers) == 2:
        return numbers[0], numbers[1]
    from halftruth.files._number_columns import share_of

    point = re.sub(r"(?<=\d),(?=\d)", ".", text)
    hint = share_of(text) or (point if point != text else None)
    raise InputError(
        f"--{name} must be a number such as 0.3 or a range such as 0.02..0.05, or the word {ESTIMATE}; got "
        f"{text!r}.{f' Write {hint}.' if hint else ''}"
    )


def pair(
    text: str | None, name: str, sign: str, kind: Callable[[str], Number], example: str
) -> tuple[Number, Number] | None:
    """Two numbers with a sign between them."""
    if text is None:
        return None
    try:
        one, other = map(kind, text.split(sign))
    except ValueError:
        raise InputError(f"--{name} must read like {example}, got {text!r}.") from None
    return one, other


def names(lists: Iterable[str] | None) -> list[str] | None:
    """Names from comma-separated lists; None where there is none."""
    found = [name.strip() for text in lists or () for name in text.split(",")]
    return [name for name in found if name] or None


def shares(
    prior: str | None, purity: str | None, within: str | None = None, labeled_sample: str | None = None
) -> dict[str, Any]:
    """What is known of the shares of the evidence, refused here where it cannot be right."""
    given = {"prior": share(prior, "prior"), "purity": share(purity, "purity")}
    known = known_besides(within, labeled_sample)
    check_shares(known, **given)
    return {**given, "known": known}


def check_shares(known: dict[str, Any], prior: Any, purity: Any) -> None:
    """Refuse shares that cannot be, and what is known besides the scores where it says nothing."""
    from halftruth.prior._belief import belief

    if purity == ESTIMATE != prior:
        raise InputError(
            "--purity estimate goes with --prior estimate: scores say something of both together. Pass both, "
            "or a number for the purity."
        )
    for name, each in (("prior", prior), ("purity", purity)):
        if each != ESTIMATE:
            belief(each, name, closed_at_one=name == "purity")
    if not known:
        return
    option = f"--{next(iter(known)).replace('_', '-')}"
    if prior != ESTIMATE:
        raise InputError(f"{option} goes with --prior estimate. Pass that too, or leave {option} out.")
    if purity == ESTIMATE:
        raise InputError(f"{option} does not go with --purity estimate. Pass the purity as a number.")
    from halftruth.prior._inputs import read_knowledge

    purest = purity if isinstance(purity, float) else 1.0
    read_knowledge(purest, known.get("within"), known.get("labeled_sample"))


def known_besides(within: str | None, labeled_sample: str | None) -> dict[str, Any]:
    """What is known of α besides the scores, where something is."""
    between = pair(within, "within", "..", float, "0.01..0.1")
    if between is not None and not 0 <= between[0] < between[1] <= 1:
        turned = between[1], between[0]
        remedy = f" Write {turned[0]:g}..{turned[1]:g}." if 0 <= turned[0] < turned[1] <= 1 else ""
        raise InputError(f"--within must satisfy 0 <= low < high <= 1, got {within}.{remedy}")
    known = {
        "within": between,
        "labeled_sample": pair(labeled_sample, "labeled-sample", "/", int, "7/50"),
    }
    return {name: value for name, value in known.items() if value is not None}


def settings(asked: list[str] | None, **given: Any) -> dict[str, Any]:
    """The settings of a call, refused here where the library would refuse them, before a file is read."""
    from halftruth import _checks
    from halftruth.results._intervals import METHODS

    given["metrics"] = metrics.read(asked)
    _checks.confidence_level(given["confidence_level"])
    if given["threshold"] is not None:
        _checks.threshold(given["threshold"])
    if given.get("method") is not None:
        _checks.choice(given["method"], "method", METHODS)
    for each in metrics.listed(asked):
        each.metric.bind(given["threshold"], **dict(each.parameters))
    return given
