"""Two sites with different shares of positives, evaluated with one prior and with two."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from .story_files import StoryFile, wine_cellars
from .told import Told

FEW = ["--metrics", "roc_auc,precision", "--threshold", "0.6", "--n-resamples", "200"]
SITES = ("red", "white")


@pytest.fixture(scope="module")
def cellars(data_dir: Path) -> StoryFile:
    return wine_cellars(data_dir)


@pytest.fixture
def by_site(cellars: StoryFile, tmp_path: Path) -> list[str]:
    return ["evaluate", cellars.write(tmp_path / "sites.csv"), "--by", "site", *FEW]


def precision(rows: StoryFile) -> float:
    """Of the full labels, by counting."""
    return float(rows.y[rows.frame["score"] >= 0.6].mean())


def test_priors_by_name_end_with_the_right_numbers(
    cellars: StoryFile, by_site: list[str], told: Callable[..., Told]
) -> None:
    priors = {site: round(cellars.rows("site", site).prior, 4) for site in SITES}
    result = told(
        *by_site, "--prior", ",".join(f"{site}={prior}" for site, prior in priors.items()), "--strict"
    )
    assert result.status == 0
    result.nothing_is_wrong()
    assert "was taken for every site" not in "".join((*result.texts.values(), *result.notes.values()))
    for site in SITES:
        rows = cellars.rows("site", site)
        for metric, truth in (("roc_auc", rows.auc), ("precision", precision(rows))):
            low, high = result.interval(metric, "site", site)
            assert low < truth < high
            assert low < result.value(metric, "site", site) < high
        assert result.json["priors"][site]["prior"] == pytest.approx(priors[site])
        for row in result.records("site", site):
            assert (row["prior_source"], float(row["prior"])) == (
                "given for this site",
                pytest.approx(priors[site]),
            )


def test_one_prior_for_both_is_said_in_every_format_with_the_figures_against_it(
    cellars: StoryFile, by_site: list[str], told: Callable[..., Told]
) -> None:
    prior = f"{cellars.prior:.3f}"
    result = told(*by_site, "--prior", prior)
    shared = f"One prior, π = {prior}, was taken for every site."
    known = cellars.frame["label"].notna().groupby(cellars.frame["site"]).mean()
    figures = f"Known positives are {known['red']:.2%} of site = red and {known['white']:.2%} of site = white"
    for line in (shared, figures):
        for form, text in result.texts.items():
            assert line in text, form
        assert any(note.startswith(line) for note in result.json["notes"])
        assert all(line in notes for notes in result.notes.values())
    for form in ("table", "markdown"):
        assert result.out[form].startswith(shared)
    assert {row["prior_source"] for row in result.csv} == {"one for every site"}
    # Each is wrong where the warning says that it may be.
    for site, side in (("red", 1), ("white", -1)):
        rows = cellars.rows("site", site)
        assert result.value("roc_auc", "site", site) * side > rows.auc * side
    assert result.interval("roc_auc", "site", "red")[0] > cellars.rows("site", "red").auc


def test_a_random_half_of_the_rows_as_a_site_brings_no_warning(
    cellars: StoryFile, told: Callable[..., Told], tmp_path: Path
) -> None:
    site = np.random.default_rng(0).choice(["north", "south"], len(cellars.y))
    halves = StoryFile(cellars.frame.assign(site=site), cellars.y)
    result = told("evaluate", halves.write(tmp_path / "halves.csv"), "--by", "site", *FEW, "--prior", "0.633")
    result.nothing_is_wrong()
    assert result.json["notes"] == ["One prior, π = 0.633, was taken for every site."]
    assert not any("Known positives are" in text for text in (*result.texts.values(), *result.notes.values()))


def test_a_site_without_a_prior_is_refused_by_name(by_site: list[str], run: Any) -> None:
    status, out, err = run(*by_site, "--prior", "red=0.53")
    assert (status, out) == (2, "")
    assert "--prior has no share for 'white'" in err
