"""What tests of bounds share."""

from collections.abc import Iterator
from functools import cache

import pytest

from halftruth.rank_bounds import _rank_paths


@pytest.fixture(scope="module")
def bands_once() -> Iterator[None]:
    """Each band is worked out once: metrics and cases by the hundred ask for the same few."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_rank_paths, "counts", cache(_rank_paths.counts))
        yield
