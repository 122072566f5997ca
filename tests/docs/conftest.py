import re
from collections.abc import Callable
from types import ModuleType

import pytest

LIBRARIES = {
    "torch": r"(PU|Confidence)Classifier\(|>>> (import|from) .*torch",
    "torchmetrics": r"ht\.training\.",
    "ibis": r">>> (import|from) .*ibis",
}
"""Optional libraries, and what in a page needs them."""


@pytest.fixture
def libraries(require: Callable[[str], ModuleType]) -> Callable[[str], None]:
    """``libraries(text)``: require what the examples of a page need."""

    def needed(text: str) -> None:
        for library, pattern in LIBRARIES.items():
            if re.search(pattern, text):
                require(library)

    return needed
