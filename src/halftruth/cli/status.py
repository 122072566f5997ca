"""Exit statuses."""

FINE = 0
FAILED = 1
"""Only ever a gate (`--require`) that did not hold."""
USAGE = 2
"""Bad usage or bad input."""
UNIDENTIFIED = 3
"""The evidence does not determine what was asked for."""
UNEXPECTED = 70
INTERRUPTED = 130
