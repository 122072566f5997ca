"""Ibis, which is optional: the one place where it is imported."""

from halftruth.errors import MissingDependency

try:
    import ibis
except ModuleNotFoundError as error:
    raise MissingDependency(
        "Reading a table of a SQL engine needs Ibis: pip install 'halftruth[ibis]'"
    ) from error

__all__ = ["ibis"]
