"""What an engine complains of, in one line."""

from __future__ import annotations

import re

from halftruth.files.messages import excerpt


def complaint(error: BaseException) -> str:
    """The line of an engine's message that says most."""
    text = str(error) or type(error).__name__
    lines = [line.strip(": ") for line in text.splitlines() if line.strip(": ")]
    # Java: the call that failed comes first, the cause last, between them where it happened.
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    told = [line for line in lines if not line.startswith("An error occurred while calling")]
    line = (causes[-1:] or told or lines or [text])[0]
    return excerpt(re.sub(r"^([\w$]+\.)+\w*(Exception|Error): ", "", line), 240)
