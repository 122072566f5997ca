"""Jain, White and Radivojac (2017): the true performance recovered from positives and unlabeled."""

from halftruth_papers.reproduction import Option, Paper

BLOCKS = ("networks", "forest")
"""Families of models: as in the paper, and ours."""
PAPER = Paper(
    name="jain",
    title="Jain et al.",
    citation="Jain, White, Radivojac 2017: recovering true classifier performance.",
    home="halftruth_papers.jain.paper:TruePerformance",
    columns=("table", "rho", "who", "column", "error"),
    rows="errors",
    options=(
        Option(
            name="repeats",
            kind=int,
            help="Of every experiment.  [default: 10; quick: 1]",
            metavar="N",
            least=1,
        ),
        Option(
            name="blocks",
            kind=list,
            default=BLOCKS,
            help="Models: networks, forest.  [default: both]",
            metavar="NAME,...",
            choices=BLOCKS,
        ),
        Option(name="jobs", kind=int, help="Processes.  [default: cores]", metavar="N", least=1),
    ),
    examples=(" --blocks forest --jobs 2", " --repeats 10"),
)
