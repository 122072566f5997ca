"""Histograms from a table of any SQL engine, through Ibis: one GROUP BY, whose sums are fetched."""

from halftruth.engines.sql.connections import open_table
from halftruth.engines.sql.reading import expression, read

__all__ = ["expression", "open_table", "read"]
