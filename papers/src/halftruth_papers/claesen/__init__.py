"""Claesen et al. (2015): bounds of rankings from the ranks of known positives."""

from halftruth_papers.reproduction import Paper

PAPER = Paper(
    name="claesen",
    title="Claesen et al.",
    citation="Claesen, Davis, De Smet, De Moor 2015: bounds from ranks of positives.",
    home="halftruth_papers.claesen.paper:RankingBounds",
    columns=("table", "setting", "band", "column", "value"),
)
