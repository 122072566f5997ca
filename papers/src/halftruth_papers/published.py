"""What the papers published: their data sets, and the tables that they print."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib import resources


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """A data set as a paper used it.

    Parameters
    ----------
    name : str
    definition : str
        The positive class.
    n, n_positive : int
        Rows and positives, as published.
    n_labeled : int
        Rows that the paper labels in its experiments.
    sha256 : str, optional
        Of the file. None: as listed in the folder's MANIFEST.json, if at all.
    aliases : tuple of str
        Further names that the file may have.
    partial : str, optional
        Name of a file known to hold a part of the rows.
    partial_sha256 : str, optional
        Of that file.

    Examples
    --------
    >>> from halftruth_papers.published import DATASETS
    >>> DATASETS["pima"].n, DATASETS["pima"].n_positive, DATASETS["pima"].file
    (768, 268, 'pima.npz')
    """

    name: str
    definition: str
    n: int
    n_positive: int
    n_labeled: int = 1000
    sha256: str | None = None
    aliases: tuple[str, ...] = ()
    partial: str | None = None
    partial_sha256: str | None = None

    @property
    def file(self) -> str:
        """Name of the file."""
        return f"{self.name}.npz"


DATASETS: dict[str, Dataset] = {
    dataset.name: dataset
    for dataset in (
        Dataset(
            name="bank",
            definition="the client subscribed; the first 45,000 rows of bank-full",
            n=45000,
            n_positive=5188,
            sha256="be18290ad8739a5843d153a14599e3e8dec1c4a7b8ca3287be1565a73bd2fe9f",
        ),
        Dataset(
            name="concrete",
            definition="compressive strength above its mean",
            n=1030,
            n_positive=490,
            n_labeled=100,
            sha256="6c43c24540327b14264ffeffd41663eafa141488319c60dafb9b6341d22fb458",
        ),
        Dataset(
            name="gas",
            definition="ethanol, against acetone",
            n=5574,
            n_positive=2565,
            aliases=("gas_drift", "gas_sensor"),
            partial="gas_partial.npz",
        ),
        Dataset(
            name="housing",
            definition="median value above its mean",
            n=506,
            n_positive=209,
            n_labeled=100,
            sha256="8a7a1b79751365171a15175d8a1d2cc57a1a13ee9da8fb802e4cf0122ae8a38d",
        ),
        Dataset(
            name="landsat",
            definition="class 7, very damp grey soil",
            n=6435,
            n_positive=1508,
            aliases=("satimage", "statlog", "statlog_landsat", "sat"),
        ),
        Dataset(
            name="mushroom",
            definition="poisonous",
            n=8124,
            n_positive=3916,
            sha256="8d5a694bdfaa7f2f290231dfea163f7629138ea8bbf52d802454b820f213c7d2",
        ),
        Dataset(
            name="pageblocks",
            definition="any block but text",
            n=5473,
            n_positive=560,
            n_labeled=100,
            aliases=("pageblock", "page_blocks", "page-blocks"),
        ),
        Dataset(
            name="pendigits",
            definition="digits 0, 1 and 2",
            n=10992,
            n_positive=3430,
            sha256="1f47ac8aff2de4f8f3c6321c80b74c5744bab9d0ae19408b7fc9495aae589b83",
            aliases=("pendigit", "penbased"),
        ),
        Dataset(
            name="pima",
            definition="diabetes",
            n=768,
            n_positive=268,
            n_labeled=100,
            sha256="2baa4a088fe0ba8bfd523b9fdd298b76fa99cd0a48360f39aab922edc6b754f5",
        ),
        Dataset(
            name="shuttle",
            definition="class 4, high",
            n=58000,
            n_positive=8903,
            sha256="e1a8841880482b68431ad2bb2a160b157339a42314794cf668cec9c572b776b4",
        ),
        Dataset(name="spambase", definition="spam", n=4601, n_positive=1813, aliases=("spam",)),
        Dataset(
            name="wine",
            definition="quality 6 and above, red and white together",
            n=6497,
            n_positive=4113,
            sha256="e3128a3e9dd7369ec40f959d0b74e94e697e388a95dadef605bcae16bc9eb325",
        ),
    )
}
"""Of Jain et al. 2017, by name, in the order of the paper's tables."""
COVTYPE = Dataset(
    name="covtype",
    definition="class 2, lodgepole pine",
    n=581_012,
    n_positive=283_301,
    partial="covtype_sub.npz",
    partial_sha256="7a9cce04440eb00606b59207a9f5fafb161d2394858cb212a02880dfa9535639",
)
"""Of Claesen et al. 2015."""


def printed_rows(table: str) -> list[dict[str, str]]:
    """The rows of a printed table, by column, from the CSV file of this name.

    Examples
    --------
    >>> printed_rows("bpm_table1")[0]["method"]
    'uncalibrated'
    """
    path = resources.files("halftruth_papers") / "paper_tables" / f"{table}.csv"
    with path.open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines))
