"""Kiryo, Futami and Sugiyama: the calibration error from positives and unlabeled."""

from halftruth_papers.reproduction import SEED, Option, Paper

DEVICE = Option(
    name="device",
    kind=str,
    default="auto",
    help="Where networks are trained; auto: CUDA if there.",
    choices=("auto", "cpu", "cuda"),
)
PAPER = Paper(
    name="pu-ece",
    title="PU-ECE",
    citation="Kiryo, Futami, Sugiyama: calibration error from positives and unlabeled.",
    home="halftruth_papers.pu_ece.paper:CalibrationError",
    columns=("table", "model", "setting", "column", "value"),
    options=(DEVICE, SEED),
    examples=(" --device cpu", " --rng 1"),
)
