"""Names of tables on a command line: parts between dots, in double quotes where a dot is their own."""

from __future__ import annotations

import re

from halftruth._errors import InputError
from halftruth.files.messages import quoted

QUOTED = r'"(?:[^"]|"")+"'
PART = rf'{QUOTED}|[^".][^.]*'
"""A quote within an unquoted part is one of its letters."""
MOST = 3


def parts(name: str) -> tuple[str, ...]:
    """The table, after its schema and its catalog where they are named.

    Examples
    --------
    >>> from halftruth.engines.sql.identifiers import parts
    >>> parts("fraud.scores"), parts('fraud."scores.csv"')
    (('fraud', 'scores'), ('fraud', 'scores.csv'))
    """
    found = _written(name)
    if not 0 < len(found) <= MOST:
        raise InputError(
            f"A table must be named table, schema.table or catalog.schema.table, got {quoted(name)}. A part "
            f"with a dot of its own stands in double quotes, and a quote in it twice: '\"my.table\"'."
        )
    return tuple(each[1:-1].replace('""', '"') if each.startswith('"') else each for each in found)


def has_quotes(name: str) -> bool:
    """Whether a part of a name stands in quotes: whatever it looks like, it is then a table's."""
    return any(each.startswith('"') for each in _written(name))


def in_quotes(table: str) -> str:
    """A table as one part of a name, in quotes."""
    return '"' + table.replace('"', '""') + '"'


def _written(name: str) -> list[str]:
    """The parts as they are written; none where it is unclear what is a part."""
    if not re.fullmatch(rf"(?:{PART})(?:\.(?:{PART}))*", name):
        return []
    return re.findall(rf"({PART})(?:\.|\Z)", name)
