"""Dong et al. (2025): calibration by binomial process modeling."""

from halftruth_papers.reproduction import Paper

PAPER = Paper(
    name="bpm",
    title="Dong et al., binomial process modeling",
    citation="Dong, Jiang, Pan, Yu 2025: calibration by a binomial process.",
    home="halftruth_papers.bpm.paper:BinomialProcessModeling",
    columns=("table", "from", "metric", "column", "value"),
)
