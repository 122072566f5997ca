"""Scores from files of any size and format, through an embedded DuckDB.

``_file_paths`` finds the files of a path, ``_duckdb_source`` opens them, ``_cell_meanings`` says in SQL what
they mean, ``_checked_rows`` gets rows or bins and says what is wrong with them. ``_read_files`` reads scores
and labels, ``_number_columns`` other numbers; ``_write_column`` writes the rows again with one column more.
"""

from halftruth.files._checked_rows import BinnedRows, ExactRows
from halftruth.files._duckdb_source import Source
from halftruth.files._read_files import read

__all__ = ["BinnedRows", "ExactRows", "Source", "read"]
