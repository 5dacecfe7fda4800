"""Data in the page: a table is dropped, looked at, learned from, stepped through and checked, by mouse and by keyboard."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import possnet as pn
from tests.browsing import serious_findings, watched
from tests.conftest import AXE
from tests.serving import Server, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.needs("browser")
CLINIC = pn.load_example("clinic")
LONG = 60_000


@pytest.fixture(scope="module")
def ward() -> Iterator[Server]:
    with serving("clinic") as server:
        yield server


@contextmanager
def opened(browser: Browser, server: Server, **options: Any) -> Iterator[Page]:
    """The page in a window, its data tab open; it must ask only its own server."""
    window = {"viewport": {"width": 1280, "height": 800}, "reduced_motion": "reduce"} | options
    with watched(browser, server.address, **window) as (page, asked):
        page.locator("body[data-settled]").wait_for()
        page.locator("#tab-data").click()
        yield page
        assert [url for url in asked if not url.startswith((server.origin, "data:"))] == []


def settled(page: Page, action: Callable[[], object]) -> None:
    """Do something, and wait until the page shows the answer."""
    before = int(page.locator("body").get_attribute("data-settled") or 0)
    action()
    page.locator(f"body:not([data-settled='{before}'])").wait_for(timeout=LONG)


def choose(page: Page, path: Path) -> None:
    """Open a table, and wait for its columns."""
    page.get_by_label("A table with rows").set_input_files(path)
    page.locator("#pane-data > p > b").get_by_text(path.name, exact=True).wait_for(
        timeout=LONG
    )  # not of the table before
    page.locator(".columns tbody tr").first.wait_for(timeout=LONG)


def chips(page: Page) -> list[str]:
    return page.locator("#chips li span").all_inner_texts()


def test_a_table_shows_its_columns_and_its_rows_become_evidence(browser: Browser, ward: Server, tmp_path: Path) -> None:
    table = tmp_path / "patients.csv"
    rows = "\n".join(f"{36 + k / 10:.1f},?,no,b<i>" for k in range(20))
    table.write_text(f"temp,flu,rash,ward\n{rows}\n38.0,yes|no,spots|none,a\n", encoding="utf-8")
    # the rash of the table has another state than that of the network, which says so
    with opened(browser, ward) as page:
        choose(page, table)
        lines = page.locator(".columns tbody tr").all_inner_texts()
        assert lines[1 + 1].split()[:3] == ["flu", "no,", "yes"]
        assert "95 %" in lines[2]  # unknown
        assert page.get_by_text("b<i>").first.is_visible()  # a name is never more than a name
        page.get_by_label("bins of temp", exact=True).select_option("edges")
        page.get_by_label("edges of the bins of temp").fill("36.5, 37.5")
        page.get_by_label("use ward").uncheck()
        page.get_by_role("button", name="Read again").click()
        page.locator(".columns tbody tr").first.get_by_text("36.5..37.5").wait_for(timeout=LONG)
        assert not page.get_by_label("use ward").is_checked()
        page.get_by_label("edges of the bins of temp").fill("warm")
        page.get_by_role("button", name="Read again").click()
        page.get_by_text("temp: expected edges such as 37.5, 38.5.").wait_for()
        number = page.get_by_label("Number of the row")
        number.fill("21")
        settled(page, lambda: number.press("Enter"))
        assert chips(page) == ["rash = none or spots"]  # both states of flu say nothing
        assert page.get_by_text("Left out: temp: no variable of the network.").is_visible()
        expected = pn.Inference(CLINIC).marginals({"rash": {"none", "spots"}})
        certain = [name for name, pi in expected.items() if (pi.degrees == 1).sum() < len(pi.degrees)]
        settled(page, page.get_by_role("button", name="Complete this row").click)
        assert len(chips(page)) == len(certain)
        settled(page, lambda: page.keyboard.press("Control+z"))
        settled(page, page.get_by_role("button", name="The row before").click)
        assert chips(page) == []  # rash = no is no state of the network
        assert page.get_by_text("rash: no state no in the network").is_visible()


def test_learning_reports_progress_and_is_stopped(browser: Browser, ward: Server, tmp_path: Path) -> None:
    pn.write_data(pn.sample(pn.random_network(14, rng=1), 10_000, imprecision=0.8, rng=1), tmp_path / "many.csv")
    with opened(browser, ward) as page:
        choose(page, tmp_path / "many.csv")
        page.get_by_role("button", name="Learn", exact=True).click()
        page.locator(".job").wait_for()
        assert page.get_by_role("progressbar").is_visible()
        page.get_by_role("button", name="Stop").focus()
        page.keyboard.press("Enter")
        page.get_by_text("Learning was stopped; nothing has changed.").wait_for()
        assert page.locator(".card").count() == 8


def test_what_is_learned_takes_the_page_and_is_checked(browser: Browser, ward: Server, tmp_path: Path) -> None:
    data = pn.sample(CLINIC, 150, process="precise", rng=4)
    pn.write_data(data, tmp_path / "few.csv")
    with opened(browser, ward) as page:
        choose(page, tmp_path / "few.csv")
        page.get_by_label("How to search for a structure").select_option("mwst")
        settled(page, page.get_by_role("button", name="Learn", exact=True).click)
        page.locator("#notice").get_by_text("The learned network is on the page").wait_for(timeout=LONG)
        learned = pn.Recipe("mwst").learn(data)
        assert page.locator(".edges .edge").count() == len(learned.dag.edges)
        page.get_by_label("What to check").select_option("0")
        page.get_by_role("button", name="Check", exact=True).click()
        picture = page.locator(".reliability img")
        picture.wait_for(timeout=LONG)
        assert (picture.get_attribute("alt") or "").startswith("Reliability: promised 0.1, held ")
        assert picture.evaluate("image => image.decode().then(() => image.naturalWidth > 100)")
        settled(page, page.locator("#undo").click)
        assert page.locator(".edges .edge").count() == len(CLINIC.dag.edges)


@pytest.mark.needs("axe")
def test_bad_tables_are_told_and_the_tab_is_accessible(browser: Browser, ward: Server, tmp_path: Path) -> None:
    (tmp_path / "noise.parquet").write_bytes(b"PAR1" + bytes(range(256)))
    (tmp_path / "<img src=x onerror=alert(1)>.csv").write_text("a,b\n1\n", encoding="utf-8")
    with opened(browser, ward, bypass_csp=True) as page:
        for name, words in (("noise.parquet", "noise.parquet: "), ("<img src=x onerror=alert(1)>.csv", ", row 1")):
            page.get_by_label("A table with rows").set_input_files(tmp_path / name)
            page.get_by_role("status").get_by_text(words).first.wait_for(timeout=LONG)
        pn.write_data(pn.sample(CLINIC, 30, process="precise", rng=1), tmp_path / "good.csv")
        choose(page, tmp_path / "good.csv")
        settled(page, page.get_by_role("button", name="The next row").click)
        assert serious_findings(page, AXE) == []
        page.set_viewport_size({"width": 400, "height": 800})
        assert len(chips(page)) == 8
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
