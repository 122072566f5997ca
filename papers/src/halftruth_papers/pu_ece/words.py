"""Numbers and names as the page of the PU-ECE paper says them."""

from __future__ import annotations

from collections.abc import Sequence

SMALL = ("no", "one", "two", "three", "four", "five")


def signed(number: float, digits: str = ".2f") -> str:
    """A number for people, its minus sign as long as a plus; what rounds to zero has no sign.

    Examples
    --------
    >>> signed(-0.333), signed(0.5, "+.1f"), signed(-0.0001)
    ('−0.33', '+0.5', '0.00')
    """
    text = format(number, digits)
    return text.replace("-", "−") if any(digit in text for digit in "123456789") else text.lstrip("+-")


def capital(text: str) -> str:
    """With its first letter large.

    Examples
    --------
    >>> capital("bank clients of MNIST")
    'Bank clients of MNIST'
    """
    return text[:1].upper() + text[1:]


def listed(names: Sequence[str]) -> str:
    """One after the other.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def counted(number: int) -> str:
    """A small number as a word.

    Examples
    --------
    >>> counted(2), counted(12)
    ('two', '12')
    """
    return SMALL[number] if number < len(SMALL) else f"{number:,}"


def spans(chosen: Sequence[int], steps: Sequence[int]) -> str:
    """Those that were chosen of ascending steps; neighbours as one span.

    Examples
    --------
    >>> spans([10, 100, 1000, 10_000], [10, 50, 100, 1000, 10_000])
    '10 and 100 to 10,000'
    """
    runs: list[list[int]] = []
    for i, step in enumerate(steps):
        if step not in chosen:
            continue
        if runs and i and steps[i - 1] == runs[-1][-1]:
            runs[-1].append(step)
        else:
            runs.append([step])
    texts = [f"{run[0]:,} to {run[-1]:,}" if len(run) > 1 else f"{run[0]:,}" for run in runs]
    return listed(texts)
