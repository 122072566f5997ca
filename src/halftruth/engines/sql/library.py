"""Ibis, which is optional: the one place where it is imported, with Arrow, in which its results come."""

from halftruth._errors import MissingDependency

try:
    import ibis
    import pyarrow  # noqa: ICN001
except ModuleNotFoundError as error:
    raise MissingDependency(
        "Reading a table of a SQL engine needs Ibis and PyArrow: pip install 'halftruth[ibis]'"
    ) from error

__all__ = ["ibis", "pyarrow"]
