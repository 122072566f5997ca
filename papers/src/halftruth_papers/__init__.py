"""Papers done again on the data sets at hand: their figures beside ours, on one HTML page each.

Data sets are files in a folder, by default the one that HALFTRUTH_DATA names. The command
``halftruth reproduce PAPER`` does the same.

Examples
--------
>>> from halftruth_papers.jain.run import jain
>>> jain("data", quick=True)  # doctest: +SKIP
PosixPath('halftruth-jain/jain.html')
"""

from __future__ import annotations
