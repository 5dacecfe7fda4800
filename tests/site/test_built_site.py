"""The built site in a browser: it opens from the file system, asks nobody for anything, fits every screen, and is searched."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

from tests.conftest import AXE, SITE
from tests.paths import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.needs("site"), pytest.mark.needs("browser")]
SITE_FOLDER = SITE.parent
OPENED = [
    "index",
    "start/own-table",
    "tutorials/teaching-in-an-hour",
    "explanation/degrees",
    "reference/learning",
    "reference/registries",
    "cli",
]


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    """One page for all tests."""
    context = browser.new_context()
    opened = context.new_page()
    yield opened
    context.close()


def list_requests(page: Page, name: str) -> list[str]:
    """What a page asks for."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((SITE_FOLDER / f"{name}.html").as_uri(), wait_until="load")
    return asked


@pytest.mark.parametrize("name", OPENED)
def test_a_page_asks_for_nothing_outside_and_fails_at_nothing(page: Page, name: str) -> None:
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("requestfailed", lambda request: problems.append(request.url))
    asked = list_requests(page, name)
    assert len(asked) > 3
    assert [url for url in asked if not url.startswith((SITE_FOLDER.as_uri(), "data:"))] == []
    assert problems == []


@pytest.mark.parametrize("width", [400, 1280, 1920])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_is_wider_than_its_screen(page: Page, width: int, scheme: Literal["light", "dark"]) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)
    for name in OPENED:
        page.goto((SITE_FOLDER / f"{name}.html").as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        background = page.evaluate("getComputedStyle(document.body).backgroundColor")
        red = int(background.removeprefix("rgb(").split(",")[0])
        assert (red < 100) == (scheme == "dark"), name


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("coarsening", "what-em-assumes"),
        ("Dempster-Shafer", "glossary"),
        ("partial labels", "scikit-learn"),
        ("imputation", "ambiguous-records"),
        ("MPE", "most-possible"),
        ("noisy-or", "glossary"),
        ("fuzzy", "glossary"),
        ("XDSL", "formats"),
    ],
)
def test_the_search_works_from_the_file_system_and_knows_the_words_of_the_field(
    page: Page, words: str, expected: str
) -> None:
    page.goto((SITE_FOLDER / "search.html").as_uri() + f"?q={words}")
    page.wait_for_selector("ul.search li a")
    page.wait_for_function("document.querySelector('.search-summary')?.innerText.includes('found')")
    links = page.eval_on_selector_all("ul.search li a", "links => links.slice(0, 3).map(link => link.href)")
    assert any(expected in link for link in links), links


@pytest.mark.needs("axe")
def test_pages_are_accessible(page: Page) -> None:
    for name in OPENED:
        page.goto((SITE_FOLDER / f"{name}.html").as_uri())
        page.evaluate(AXE.read_text(encoding="utf-8"))
        found = page.evaluate("axe.run({runOnly: ['wcag2a', 'wcag2aa']})")
        assert [(rule["id"], rule["nodes"][0]["html"]) for rule in found["violations"]] == [], name


def test_formulas_are_mathml(page: Page) -> None:
    page.goto((SITE_FOLDER / "explanation/degrees.html").as_uri())
    assert page.locator("math").count() >= 5
    assert page.evaluate("document.querySelector('math').getBoundingClientRect().width") > 20


def test_names_of_the_mathematics_show_their_equation_and_their_example(page: Page) -> None:
    for place, name in (("learning", "fit"), ("inference", "Inference.query"), ("values", "to_possibility")):
        page.goto((SITE_FOLDER / f"reference/{place}.html").as_uri())
        entry = page.locator(f"dl:has(> dt[id='possnet.{name}'])")
        assert entry.locator("math").first.bounding_box() is not None
        assert entry.locator("math").count() >= 1
        assert ">>>" in entry.inner_text()
        assert "--------" not in entry.inner_text()


def test_a_file_that_a_page_shows_can_be_saved(page: Page) -> None:
    page.goto((SITE_FOLDER / "start/own-table.html").as_uri())
    link = page.locator("a[download='garden.csv']")
    with page.expect_download() as download:
        link.click()
    lines = Path(download.value.path()).read_text(encoding="utf-8").splitlines()
    assert lines[:2] == ["light,soil,leaves,pests", "sun,dry,wilted,no"]
    assert len(lines) == 21


def test_registries_list_their_entries(page: Page) -> None:
    page.goto((SITE_FOLDER / "reference/registries.html").as_uri())
    text = page.locator("dl:has(> dt[id='possnet.learners.LEARNERS'])").inner_text()
    assert all(name in text for name in ("likelihood", "em", "cut"))
    assert "Metric(" not in text


def test_links_of_the_built_site_lead_somewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "docs/_site")
    from check_site import check_links  # type: ignore[import-not-found]

    pages, links, broken = check_links(Path(SITE_FOLDER))
    assert pages > 80
    assert links > 5000
    assert broken == []
