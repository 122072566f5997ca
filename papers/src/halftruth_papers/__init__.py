"""Papers done again on the data sets at hand: their figures beside ours, on one HTML page each.

The command ``halftruth reproduce PAPER`` does the same.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from halftruth_papers import bayes_error, bpm, claesen, jain, pu_ece

__all__ = ["PAPERS", "reproduce"]

PAPERS = {module.PAPER.name: module.PAPER for module in (jain, claesen, pu_ece, bpm, bayes_error)}
"""The records of the papers, by name."""


def reproduce(
    paper: str,
    data: str | Path | None = None,
    out: str | Path | None = None,
    *,
    quick: bool = False,
    progress: bool = True,
    **options: Any,
) -> Path:
    """Do the experiments of a paper again and write them on one HTML page, theirs beside ours.

    What is done is kept: a run that was stopped goes on where it was.

    Parameters
    ----------
    paper : {"jain", "claesen", "pu-ece", "bpm", "bayes-error"}
    data : path, optional
        Folder of the data sets; by default what HALFTRUTH_DATA names. Files are checked before the work.
        Only "jain" needs some: the others leave out what is not there, and the page says so.
    out : path, optional
        Folder for the page, its tables as CSV, and the results by which a stopped run goes on; by default
        halftruth-PAPER.
    quick : bool
        A rough version, within two minutes on two cores.
    progress : bool
        Show progress on a terminal.
    **options
        Of all but "jain": ``rng``, the seed, by default 0. Of "jain": ``repeats`` (by default 10, or 1 if
        quick; the paper has 50), ``blocks`` ("networks", as in the paper, and "forest") and ``jobs``, the
        processes, on which no result depends. Of "pu-ece": ``device``, where networks are trained, "auto",
        "cpu" or "cuda": a hundred of each kind side by side with CUDA, three on the CPU.

    Returns
    -------
    Path
        Of the page.

    Examples
    --------
    >>> import halftruth_papers
    >>> halftruth_papers.reproduce("jain", "data", quick=True)  # doctest: +SKIP
    PosixPath('halftruth-jain/jain.html')
    """
    from halftruth._checks import choice
    from halftruth_papers.reproduction import run

    record = PAPERS[choice(paper, "paper", tuple(PAPERS))]
    return run(record, data, out, quick=quick, progress=progress, **options).page
