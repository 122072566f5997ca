"""The page is for everyone: axe-core finds nothing serious, and a keyboard is enough."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import halftruth as ht
from halftruth.simulate import GaussianClasses

from .conftest import DRAWN
from .reports import metrics_of, slide

pytestmark = pytest.mark.browser

VIEWS = {
    "light": {},
    "dark": {"color_scheme": "dark"},
    "phone": {"width": 375, "height": 740},
    "dark phone": {"width": 375, "height": 740, "color_scheme": "dark"},
}


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("accessibility")
    population = GaussianClasses(prior=0.3)
    noisy = population.positive_unlabeled(200, 900, rng=0, purity=0.85)
    ht.evaluate(noisy, threshold=0.5, n_resamples=50).to_html(folder / "noisy.html")
    unknown = population.positive_unlabeled(200, 900, rng=1, prior=None)
    ht.evaluate(unknown, n_resamples=50).to_html(folder / "unknown.html")
    ht.evaluate(population.labeled(600, rng=2), n_resamples=50).to_html(folder / "labeled.html")
    rng = np.random.default_rng(3)
    y = rng.random(600) < 0.3
    label = np.where(y & (rng.random(600) < 0.5), 1.0, np.nan)
    models = {
        name: ht.PositiveUnlabeled.from_labels(label, rng.normal(shift * y), prior=0.3)
        for name, shift in (("a", 2.0), ("b", 1.5), ("c", 1.0))
    }
    ht.compare(models, n_resamples=50).to_html(folder / "comparison.html")
    return {path.stem: path for path in folder.iterdir()}


def serious(page: Any) -> list[str]:
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [
        f"{fault['id']} ({fault['impact']}): {fault['help']}: {[node['html'][:120] for node in fault['nodes'][:3]]}"
        for fault in found
        if fault["impact"] in {"serious", "critical"}
    ]


@pytest.mark.parametrize("name", ["noisy", "unknown", "labeled", "comparison"])
@pytest.mark.parametrize("view", VIEWS)
def test_axe_finds_nothing_serious(name: str, view: str, reports: dict[str, Path], open_page: Any) -> None:
    page = open_page(reports[name], **VIEWS[view])
    assert serious(page) == []
    if name != "labeled":
        for slider in ("#prior", "#selection"):
            slide(page, slider, 800)
            assert serious(page) == []


def test_axe_can_find_something(tmp_path: Path, open_page: Any) -> None:
    path = tmp_path / "faulty.html"
    path.write_text("<!doctype html><title>x</title><html lang=en><main><h1>x</h1><input></main>")
    assert any(fault.startswith("label (critical)") for fault in serious(open_page(path)))


def test_a_keyboard_is_enough(reports: dict[str, Path], open_page: Any) -> None:
    page = open_page(reports["noisy"])
    home = metrics_of(page)
    page.focus("#prior")
    page.keyboard.press("End")
    page.evaluate(DRAWN)
    assert metrics_of(page) != home
    reached = []
    for _ in range(40):
        reached.append(page.evaluate("document.activeElement.id"))
        page.keyboard.press("Tab")
    sliders = [f"{name}{part}" for name in ("prior", "purity", "selection") for part in ("", "-number")]
    wanted = [*sliders, "reset", "roc", "pr", "threshold", "csv"]
    assert [name for name in dict.fromkeys(reached) if name in wanted] == wanted
    page.focus("#reset")
    page.keyboard.press("Enter")
    page.evaluate(DRAWN)
    assert metrics_of(page) == home


def test_arrows_move_along_a_curve(reports: dict[str, Path], open_page: Any) -> None:
    page = open_page(reports["noisy"])
    before = page.get_attribute("#roc", "aria-label"), page.inner_text("#confusion [data-cell=tp]")
    page.focus("#roc")
    page.keyboard.press("ArrowRight")
    page.evaluate(DRAWN)
    after = page.get_attribute("#roc", "aria-label"), page.inner_text("#confusion [data-cell=tp]")
    assert before[0] != after[0]
    assert before[1] != after[1]


@pytest.mark.parametrize("name", ["noisy", "comparison"])
def test_every_picture_is_in_words_too(name: str, reports: dict[str, Path], open_page: Any) -> None:
    page = open_page(reports[name])
    drawings = page.locator("svg").evaluate_all(
        "all => all.map(svg => [svg.getAttribute('role'), svg.getAttribute('aria-label') ?? '', "
        "svg.closest('[aria-hidden=true]') !== null])"
    )
    shown = [words for role, words, hidden in drawings if not hidden]
    assert len(shown) >= 6
    assert all(role == "img" for role, _, hidden in drawings if not hidden)
    assert len(set(shown)) == len(shown)
    assert all(any(character.isdigit() for character in words) for words in shown if words)
