"""Papers done again on the data sets at hand: their figures beside ours, on one HTML page each.

Data sets are files in a folder, by default the one that HALFTRUTH_DATA names. The pages need matplotlib:
``pip install 'halftruth[plot]'``.

Examples
--------
>>> import halftruth as ht
>>> ht.reproduce.jain("data", quick=True)  # doctest: +SKIP
PosixPath('halftruth-jain/jain.html')
"""

from __future__ import annotations

from halftruth.reproduce.bayes_run import bayes_error
from halftruth.reproduce.bpm_run import bpm
from halftruth.reproduce.claesen_run import claesen
from halftruth.reproduce.jain_run import jain
from halftruth.reproduce.pu_ece_run import pu_ece

__all__ = ["bayes_error", "bpm", "claesen", "jain", "pu_ece"]
