"""Addresses of engines, and what their drivers say of them, without the passwords."""

from __future__ import annotations

import re
from urllib.parse import unquote

from halftruth.engines.sql.complaints import complaint

SPECIAL = "@/?#[]"
"""Characters that end a password, or an address, unless they are percent-encoded."""
SHORTEST = 4
"""Shorter passwords are found in ordinary words: to mask them there would tell their letters."""
WHOLE = re.compile(r"(?s)((?:[A-Za-z][\w+.-]*://)?+[^:]*:)(.*)(@[^@]*)")
"""What comes before the password, from the user's colon to the last @ whatever stands between, and after."""
IN_AUTHORITY = re.compile(r"(?s)([A-Za-z][\w+.-]*://[^:/?#]*:)([^/?#]*)(@.*)")
"""The same for the password as Ibis finds it: no part of the path or the parameters."""
PARAMETER = r"(?i)((?:pass|pwd|token|secret|key)\w*=)[^&\s]"


def masked(engine: str) -> str:
    """An address that may be shown."""
    before, secret, after = _parts(engine)
    if secret is None:
        return _parameters(engine)
    if re.search(f"{PARAMETER}*$", secret):  # the last @ is within a parameter
        after = re.sub(r"^[^&\s]*", "@***", after)
    return _parameters(f"{before}***{after}")


def for_ibis(engine: str) -> str:
    """An address whose password Ibis reads as it is meant: it takes a + for a space."""
    found = IN_AUTHORITY.fullmatch(engine)
    return engine if found is None else found[1] + _sent(found[2]) + found[3]


def is_unclear(engine: str) -> bool:
    """Whether it is uncertain where the password of an address ends."""
    secret = _parts(engine)[1]
    return secret is not None and any(sign in secret for sign in SPECIAL)


def told(error: Exception, engine: str) -> str:
    """What a driver complains of, if nothing in it may be of the password."""
    text = complaint(error)
    if is_unclear(engine):
        return type(error).__name__
    secret = _parts(engine)[1] or ""
    for each in sorted({secret, unquote(secret), _sent(secret)} - {""}, key=len, reverse=True):
        if len(each) >= SHORTEST:
            text = text.replace(each, "***")
        elif re.search(rf"(?<!\w){re.escape(each)}(?!\w)", text):
            return type(error).__name__
    return _parameters(text)


def _sent(secret: str) -> str:
    """A password as it is handed to Ibis."""
    return secret.replace("+", "%2B")


def _parts(engine: str) -> tuple[str, str | None, str]:
    """What is before the password, the password, and what is after it."""
    found = WHOLE.fullmatch(engine)
    return (found[1], found[2], found[3]) if found else (engine, None, "")


def _parameters(text: str) -> str:
    return re.sub(f"{PARAMETER}+", r"\1***", text)
