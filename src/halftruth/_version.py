"""The version of halftruth, written here and nowhere else."""

__version__ = "0.1.0"
