"""The README's examples run, and what it shows of the demo is what the demo prints."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest

import halftruth as ht
from halftruth import demo
from halftruth.cli import main

ROOT = Path(__file__).parents[2]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


# Pages that also show commands are run with these, by tests/docs/test_site.py.
PAGES = [page for page in sorted(ROOT.glob("docs/*.md")) if "\n$ halftruth " not in page.read_text()]


@pytest.mark.parametrize("page", ["README.md", *(str(page.relative_to(ROOT)) for page in PAGES)])
def test_examples_of_the_pages_run(page, libraries):
    libraries((ROOT / page).read_text())
    result = doctest.testfile(str(ROOT / page), module_relative=False, optionflags=FLAGS)
    assert result.failed == 0
    assert result.attempted > 0 or page != "README.md"


def figures(text):
    """The rows of a demo table: metric and its numbers."""
    rows = re.findall(r"^ *([a-z_0-9]+)((?: +(?:to +)?[-.0-9]+)+)$", text, re.M)
    return {name: [float(x) for x in re.findall(r"[-.0-9]+", numbers)] for name, numbers in rows}


def test_the_demo_prints_what_the_readme_shows(capsys):
    demo.main()
    printed = figures(capsys.readouterr().out)
    shown = figures((ROOT / "README.md").read_text().partition("## Nine recipes")[0])
    assert list(shown) == list(printed) == list(demo.ROWS)
    for name in demo.ROWS:
        # Other versions of scikit-learn move the last digit.
        assert shown[name] == pytest.approx(printed[name], abs=0.004)
        _, value, low, high, truth = printed[name]
        assert low <= value <= high
        assert low <= truth <= high


def test_the_guide_shows_what_its_first_example_prints():
    data = ht.simulate.GaussianClasses(prior=0.3).draw_strata(500, 5000, rng=1)
    evidence = ht.PositiveUnlabeled(data.positive.score, data.unlabeled.score, prior=0.3)
    rows = ["roc_auc", "average_precision", "precision", "recall"]
    assert str(ht.evaluate(evidence, rows, threshold=0.5)) in (ROOT / "docs/python.md").read_text()


def test_the_commands_of_the_readme_run_from_top_to_bottom(tmp_path, monkeypatch, capsys):
    text = (ROOT / "README.md").read_text().partition("## Nine recipes")[2]
    commands = re.findall(r"^halftruth (.*)$", text, re.M)
    assert {command.split()[0] for command in commands} == {
        "demo",
        "evaluate",
        "plan-review",
        "prior",
        "calibrate",
        "bayes-error",
    }
    monkeypatch.chdir(tmp_path)
    k = ht.simulate.VoteMixture(1.0, 0.5, 2.0).draw(2000, 5, rng=0).k
    Path("votes.csv").write_text("yes\n" + "\n".join(map(str, k.tolist())) + "\n")
    shown = ""
    for command in commands:
        assert main(shlex.split(command)) == 0
        shown += capsys.readouterr().out
    assert "Too good to be true" in shown
    assert Path("monday.npz").is_file()
    pages = ["halftruth-demo.html", "noisy.html", "report.html"]
    assert sorted(path.name for path in tmp_path.glob("*.html")) == pages
    assert "calibrator.json" in {path.name for path in tmp_path.iterdir()}


def test_the_picture_of_the_readme_is_there():
    (picture,) = re.findall(r"!\[[^]]+\]\(([^)]+)\)", (ROOT / "README.md").read_text())
    assert (ROOT / picture).read_bytes().startswith(b"\x89PNG")


def test_every_metric_is_in_the_index():
    from halftruth._registry import REGISTRY

    page = (ROOT / "docs/metrics.md").read_text()
    names = [*REGISTRY, *(n for n in dir(ht) if n.endswith("_curve")), "best_threshold"]
    missing = [name for name in names if f"`{name}`" not in page]
    assert not missing
