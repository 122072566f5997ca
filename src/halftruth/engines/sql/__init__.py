"""Histograms from a table of any SQL engine, through Ibis: one GROUP BY, whose sums are fetched.

``_connections`` opens an engine by its address (``_spark`` a session), ``_engine_tables`` finds a table,
``_sql_columns`` says what its columns mean; ``_sql_histogram`` is the query, ``_sql_reading`` sends it.
"""

from halftruth.engines.sql._connections import open_table
from halftruth.engines.sql._sql_reading import expression, read

__all__ = ["expression", "open_table", "read"]
