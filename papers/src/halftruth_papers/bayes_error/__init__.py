"""Ishida et al. (2023): the Bayes error from soft labels."""

from halftruth_papers.reproduction import Paper

PAPER = Paper(
    name="bayes-error",
    title="Ishida et al., the Bayes error",
    citation="Ishida et al. 2023: the Bayes error from soft labels.",
    home="halftruth_papers.bayes_error.paper:BayesError",
    columns=("table", "of", "for", "column", "value"),
)
