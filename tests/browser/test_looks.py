"""What a reader sees: pictures of ink, on a wide screen, a phone, in the dark and on paper."""

from __future__ import annotations

import io
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

import halftruth as ht
from halftruth.simulate import GaussianClasses

from .conftest import DRAWN
from .reports import slide

pytestmark = pytest.mark.browser

PICTURES = ("#roc", "#pr", "#reliability", "#distribution")
PHONE = {"width": 375, "height": 740}
Pixels = NDArray[np.int16]

# The size on the screen of every text that is shown; a drawing is scaled with its frame.
TEXT_SIZES = """() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const sizes = [];
    while (walker.nextNode()) {
        const text = walker.currentNode, parent = text.parentElement;
        if (!text.data.trim() || parent.closest('script, style, noscript, option') || !parent.checkVisibility()) continue;
        const scale = parent.ownerSVGElement ? Math.abs(parent.getScreenCTM().d) : 1;
        sizes.push([parseFloat(getComputedStyle(parent).fontSize) * scale, text.data.trim().slice(0, 40)]);
    }
    return sizes;
}"""


# Name, left, top, width and height of what is shown, in pixels of the whole page.
BOXES = """selectors => selectors.flatMap(selector => [...document.querySelectorAll(selector)].map((svg, i) => {
    const {left, top, width, height} = svg.getBoundingClientRect();
    const corner = [left + scrollX, top + scrollY];
    return [`${selector} ${i}`, ...[...corner, width, height].map(Math.round)];
}))"""


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("looks")
    population = GaussianClasses(prior=0.3)
    noisy = population.positive_unlabeled(300, 1500, rng=0, purity=0.85)
    ht.evaluate(noisy, threshold=0.5, n_resamples=50).to_html(folder / "one.html")
    rng = np.random.default_rng(1)
    label = np.where(rng.random(900) < 0.2, 1.0, np.nan)
    models = {
        name: ht.PositiveUnlabeled.from_labels(
            label, rng.beta(1 + sharp * (label == 1), 2.0), prior=0.3, population="all"
        )
        for name, sharp in (("the first model", 4), ("a second one with a longer name", 3), ("third", 1))
    }
    ht.compare(models, threshold=0.5, n_resamples=50).to_html(folder / "three.html")
    many = {f"{'a name without a space'.replace(' ', '_' * i)} {i}": noisy for i in range(5)}
    ht.compare(many, threshold=0.5, n_resamples=20).to_html(folder / "five.html")
    return {path.stem: path for path in folder.iterdir()}


def picture_of(page: Any) -> Pixels:
    """All of a page."""
    with Image.open(io.BytesIO(page.screenshot(full_page=True))) as image:
        return np.asarray(image.convert("RGB"), dtype=np.int16)


def pictures(page: Any) -> dict[str, Pixels]:
    """Its charts, cut out of it."""
    whole = picture_of(page)
    boxes = page.evaluate(BOXES, [*PICTURES, "#sensitivity svg"])
    return {name: whole[y : y + height, x : x + width] for name, x, y, width, height in boxes}


def ink(picture: Pixels) -> NDArray[np.bool_]:
    """Where a picture differs from its background, the colour that most of it has."""
    colours, counts = np.unique(picture.reshape(-1, 3), axis=0, return_counts=True)
    return np.abs(picture - colours[counts.argmax()]).max(axis=-1) > 24


def coloured(picture: Pixels) -> NDArray[np.bool_]:
    """Curves and areas; axes, grid and words are grey, or nearly so."""
    return picture.max(axis=-1) - picture.min(axis=-1) > 60


def luminance(css: str) -> float:
    """Relative luminance of an rgb(...) colour, as contrast is defined by."""
    parts = np.asarray([float(part) for part in css[css.index("(") + 1 : -1].split(",")[:3]]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(page: Any, selector: str) -> float:
    """Of a text with what the page paints behind everything."""
    text, behind = (
        luminance(page.locator(each).first.evaluate(f"e => getComputedStyle(e).{name}"))
        for each, name in ((selector, "color"), ("body", "backgroundColor"))
    )
    return (max(text, behind) + 0.05) / (min(text, behind) + 0.05)


@pytest.mark.parametrize("name", ["one", "three"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pictures_are_drawn_in_pixels(
    name: str, scheme: str, reports: dict[str, Path], open_page: Any
) -> None:
    drawn = pictures(open_page(reports[name], color_scheme=scheme))
    assert len(drawn) >= len(PICTURES) + 3
    for where, picture in drawn.items():
        assert ink(picture).mean() > 0.005, f"{where} is blank"
        # A curve reaches across its frame.
        columns = coloured(picture).any(axis=0)
        assert columns.sum() > 0.5 * picture.shape[1] > 60, f"{where} has no curve"


def differ(one: dict[str, Pixels], other: dict[str, Pixels]) -> dict[str, bool]:
    """Of the large charts: whether more changed than a pixel here and there."""
    assert one.keys() == other.keys()
    changed = {name: (np.abs(one[name] - other[name]).max(axis=-1) > 24).sum() for name in one}
    return {name: count > 100 for name, count in changed.items() if not name.startswith("#sensitivity")}


def test_pictures_follow_the_sliders(reports: dict[str, Path], open_page: Any) -> None:
    page = open_page(reports["one"])
    before = pictures(page)
    for slider in ("#prior", "#purity"):
        slide(page, slider, 900)
        moved = differ(before, pictures(page))
        assert len(moved) == len(PICTURES)
        assert all(moved.values()), slider
        page.click("#reset")
        page.evaluate(DRAWN)
        assert not any(differ(before, pictures(page)).values())


def test_three_models_have_three_colours(reports: dict[str, Path], open_page: Any) -> None:
    picture = pictures(open_page(reports["three"]))["#roc 0"]
    strokes = picture[coloured(picture)]
    hues, counts = np.unique(strokes // 16, axis=0, return_counts=True)
    assert (counts > 60).sum() >= 3, dict(zip(map(tuple, hues.tolist()), counts.tolist(), strict=True))


# --- Phone, dark, paper ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["one", "three", "five"])
def test_a_phone_shows_all_without_scrolling_aside(
    name: str, reports: dict[str, Path], open_page: Any
) -> None:
    page = open_page(reports[name], **PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    small = [(size, text) for size, text in page.evaluate(TEXT_SIZES) if size < 11.99]
    assert not small
    for where, x, _, width, _ in page.evaluate(BOXES, [*PICTURES, "#sensitivity svg"]):
        assert 0 <= x < x + width <= 375, where
        assert width >= 120, where


@pytest.mark.parametrize("name", ["one", "three"])
def test_dark_is_dark_and_readable(name: str, reports: dict[str, Path], open_page: Any) -> None:
    light, dark = (open_page(reports[name], color_scheme=scheme) for scheme in ("light", "dark"))
    for page, low, high in ((light, 0.8, 1.0), (dark, 0.0, 0.1)):
        assert low <= luminance(page.evaluate("getComputedStyle(document.body).backgroundColor")) <= high
        for selector in ("#answer", "#metrics td", "#metrics th", "#notes li", "label"):
            assert contrast(page, selector) >= 4.5, selector
    assert picture_of(light).mean() > 200
    assert picture_of(dark).mean() < 60


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_prints(scheme: str, reports: dict[str, Path], open_page: Any) -> None:
    from pypdf import PdfReader

    page = open_page(reports["one"], color_scheme=scheme)
    answer = page.inner_text("#answer")
    made = PdfReader(io.BytesIO(page.pdf(format="A4", print_background=True)))
    assert 1 <= len(made.pages) <= 8
    text = unicodedata.normalize("NFKC", " ".join(each.extract_text() for each in made.pages))  # no ligatures
    assert set(answer.split()) <= set(text.split())
    page.emulate_media(media="print", color_scheme=scheme)
    assert luminance(page.evaluate("getComputedStyle(document.body).backgroundColor")) > 0.9
    assert contrast(page, "#answer") >= 7
    for where, picture in pictures(page).items():
        assert ink(picture).mean() > 0.005, f"{where} is blank on paper"


def test_without_scripts_the_answer_stands(reports: dict[str, Path], open_page: Any) -> None:
    page = open_page(reports["one"], javascript=False)
    assert page.locator("#answer").inner_text().strip()
    assert page.locator("#metrics td").count() >= 9
