"""Small matrices want one thread: more only wait for each other."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])


def single_threaded(function: Function) -> Function:
    """The function with the linear algebra of one thread."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

        with threadpool_limits(limits=1, user_api="blas"):
            return function(*args, **kwargs)

    return cast("Function", call)
