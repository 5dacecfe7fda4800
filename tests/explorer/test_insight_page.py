"""Why, what matters, ask next, what if and compare on the page, by mouse and by keyboard: what it shows is what the library says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import possnet as pn
from possnet.metrics import compare_tables
from tests.browsing import serious_findings, watched
from tests.conftest import AXE
from tests.serving import Server, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

pytestmark = pytest.mark.needs("browser")
CLINIC = pn.load_example("clinic")
RECORD = {"fever": {"mild", "high"}, "rash": {"spots"}}
LINK = "#fever=mild|high&rash=spots"


@pytest.fixture(scope="module")
def asia() -> Iterator[Server]:
    with serving("asia") as server:
        yield server


@contextmanager
def opened(browser: Browser, server: Server, hash_: str = "", **options: Any) -> Iterator[Page]:
    """The page in a window; it must ask only its own server."""
    window = {"viewport": {"width": 1280, "height": 800}, "reduced_motion": "reduce"} | options
    with watched(browser, server.address + hash_, **window) as (page, asked):
        page.locator("body[data-settled]").wait_for()
        yield page
        assert [url for url in asked if not url.startswith((server.origin, "data:"))] == []


def settled(page: Page, action: Callable[[], object]) -> None:
    """Do something, and wait until the page shows the answer."""
    before = int(page.locator("body").get_attribute("data-settled") or 0)
    action()
    page.locator(f"body:not([data-settled='{before}'])").wait_for()


def card(page: Page, name: str) -> Locator:
    return page.locator(".card").filter(has=page.locator(f'.head[data-name="{name}"]'))


def state(page: Page, name: str, label: str) -> Locator:
    return card(page, name).locator(f'.state[data-state="{label}"]')


def pane(page: Page, name: str) -> Locator:
    page.locator(f"#tab-{name}").click()
    return page.locator(f'[data-tab="{name}"]')


def lit(page: Page, tone: str) -> dict[str, str]:
    """Variable -> state that is marked."""
    script = """tone => Object.fromEntries([...document.querySelectorAll(`.state.tone-${tone}`)].map(row =>
        [row.closest('.card').querySelector('.head').dataset.name, row.dataset.state]))"""
    marked = page.evaluate(script, tone)
    assert isinstance(marked, dict)
    return marked


def test_a_click_on_a_degree_lights_its_story_and_its_rival(browser: Browser, clinic: Server) -> None:
    why = pn.explain(CLINIC, "measles", RECORD, "yes")
    with opened(browser, clinic, LINK) as page:
        state(page, "measles", "yes").locator(".ask-why").click()
        page.locator(".story.rival").wait_for()
        different = {name for name in why.story if why.story[name] != why.rival[name]}
        assert lit(page, "story") == {name: why.story[name] for name in different}
        assert lit(page, "rival") == {name: why.rival[name] for name in different}
        lines = page.locator(".story").first.locator("tbody tr").all_inner_texts()
        assert len(lines) == sum(factor.decisive for factor in why.story_factors)
        assert lines[0].split() == ["contact", "=", "yes", "0.200"]
        assert page.locator(".edge.tone-both").count() == 1  # measles -> rash lowers both
        assert page.locator("#chips li").count() == 2  # it asked, it did not say
        settled(page, page.get_by_role("button", name="Try it: with rash = widespread").click)
        assert "rash = widespread" in page.locator("#chips").inner_text()
        page.locator(".story").first.get_by_text("nothing").wait_for(state="detached")
        pane(page, "next")
        assert lit(page, "story") == {}


def test_by_keyboard_alone_why_is_asked_and_a_tab_is_left(browser: Browser, clinic: Server) -> None:
    with opened(browser, clinic, LINK) as page:
        page.locator('.head[data-name="measles"]').focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("w")
        page.locator(".story.rival").wait_for()
        assert page.locator('[data-tab="why"]').evaluate("pane => pane.contains(document.activeElement)")
        page.keyboard.press("Tab")  # the variable
        page.keyboard.press("Tab")  # its state
        assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Its state"
        page.keyboard.press("ArrowDown")
        page.locator(".story h3").get_by_text("Its best rival, measles = yes").wait_for()
        page.locator("#tab-why").focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        page.locator(".tornado .line").first.wait_for()
        page.keyboard.press("Escape")
        assert page.locator("#dock").is_hidden()


def test_the_tornado_and_the_questions_are_those_of_the_library(browser: Browser, clinic: Server) -> None:
    with opened(browser, clinic, LINK) as page:
        state(page, "measles", "yes").locator(".ask-why").click()
        tab = pane(page, "matters")
        tab.locator(".tornado .line").first.wait_for()
        shares = pn.contributions(CLINIC, "measles", RECORD, "yes")
        curves = pn.sensitivity(CLINIC, "measles", "yes", RECORD)
        lines = tab.locator(".tornado .digits").all_inner_texts()
        assert lines[: len(shares)] == [f"+{share.possibility:.3f}" for share in shares]
        assert lines[len(shares)] == f"{curves[0].low:.3f} – {curves[0].high:.3f}"
        tab.locator(".tornado .line").nth(len(shares)).hover()
        assert lit(page, "asked") == {"rash": "spots", "measles": "no"}
        tab = pane(page, "next")
        tab.locator(".answers .line").first.wait_for()
        assert page.locator(".tone-asked").count() == 0
        best = next(q for q in pn.next_questions(CLINIC, "measles", RECORD) if q.reduction > 0)
        assert tab.locator(".next .near").first.inner_text() == best.name
        label, answer = max(best.answers.items(), key=lambda pair: pair[1].weight)
        line = tab.locator(".answers .line").first
        line.hover()
        preview = state(page, "measles", "yes").locator(".second")
        rail = state(page, "measles", "yes").locator(".rail")
        room = float(rail.get_attribute("width") or 0)
        assert float(preview.get_attribute("width") or 0) == pytest.approx(room * answer.target["yes"], abs=0.1)
        settled(page, line.click)
        assert f"{best.name} = {label}" in page.locator("#chips").inner_text()


def test_doing_is_marked_compared_and_undone(browser: Browser, clinic: Server) -> None:
    with opened(browser, clinic, LINK) as page:
        tab = pane(page, "whatif")
        tab.get_by_role("button", name="Keep the present as A").click()
        tab.get_by_label("The variable to set").select_option("flu")
        settled(page, tab.get_by_role("button", name="do yes").click)
        assert "tone-done" in (card(page, "flu").get_attribute("class") or "")
        assert page.locator(".edge.tone-cut").count() == 1
        assert page.locator("#doing li").inner_text().startswith("do flu = yes")
        done = pn.Inference(CLINIC.do({"flu": "yes"})).marginals(RECORD)
        for name, pi in done.items():
            for label in pi.variables[0].states:
                shown = float(state(page, name, label).get_attribute("data-pi") or -1)
                assert shown == pytest.approx(pi[label], abs=1e-12)
        tab.locator(".paired").first.wait_for()
        both = pn.scenarios(CLINIC, {"A": RECORD, "B": pn.Scenario(RECORD, {"flu": "yes"})})
        moved = [name for name, gap in both.differences().items() if gap > 5e-4]
        assert tab.locator(".paired caption").all_inner_texts() == moved
        settled(page, lambda: page.keyboard.press("Control+z"))
        assert page.locator("#doing li").count() == 0
        settled(page, page.locator("#redo").click)
        settled(page, state(page, "flu", "no").click)  # what is seen is not done
        assert page.locator("#doing li").count() == 0
        assert "flu = no" in page.locator("#chips").inner_text()


def test_a_contradiction_is_named_and_one_click_leads_out(browser: Browser, asia: Server) -> None:
    with opened(browser, asia, "#either=no&lung=yes&smoke=no") as page:
        box = page.get_by_role("region", name="Ways out of the contradiction")
        box.wait_for()
        assert box.locator("li").all_inner_texts() == ["either = no and lung = yes"]
        marked = page.locator(".card.tone-conflict .head").evaluate_all("heads => heads.map(head => head.dataset.name)")
        assert sorted(marked) == ["either", "lung"]
        settled(page, box.get_by_role("button", name="Admit lung = no too").click)
        assert box.is_hidden()
        assert page.locator(".tone-conflict").count() == 0
        settled(page, lambda: page.keyboard.press("Control+z"))
        settled(page, box.get_by_role("button", name="Drop lung = yes").click)
        assert page.locator("#chips li").count() == 2


def test_edits_and_a_second_file_are_compared_in_colour_the_worst_table_first(browser: Browser, tmp_path: Path) -> None:
    other = pn.Network(
        CLINIC.variables,
        pn.Dag({v.name: CLINIC.dag.parents(v.name) if v.name != "rash" else () for v in CLINIC.variables}),
        {v.name: CLINIC.table(v.name) for v in CLINIC.variables if v.name != "rash"} | {"rash": [1, 0.5, 0.5]},
        name="<img src=x onerror=alert(1)>",
    ).with_table("contact", [0.25, 1])
    pn.write_network(other, tmp_path / "other.json")
    with serving("clinic") as server, opened(browser, server) as page:
        tab = pane(page, "compare")
        tab.get_by_text("The same as clinic in every table and edge.").wait_for()
        tab.get_by_label("Compare with").select_option("file")
        tab.get_by_label("The second network").set_input_files(tmp_path / "other.json")
        tab.locator(".tornado .line").first.wait_for()
        expected = compare_tables(other, CLINIC)
        assert [line.split("\n")[0] for line in tab.locator(".tornado .line").all_inner_texts()] == list(
            expected.changed
        )
        assert tab.get_by_text("<img src=x onerror=alert(1)>").count() == 1
        assert page.locator(".edge.tone-new").count() == 1
        worst = expected.tables[0]
        assert f"Δ {worst.largest:.3f}" in (card(page, worst.name).text_content() or "")
        tab.locator(".tornado .line").first.click()
        tab.locator(".paired").first.wait_for()
        pair = expected.pair_tables(worst.name)
        row = tab.locator(".paired").first.locator("tbody tr").first.locator(".digits").all_inner_texts()
        assert row == [f"{pair.first[worst.contexts[0], 0]:.3f}", f"{pair.second[worst.contexts[0], 0]:.3f}"]
        (tmp_path / "bad.json").write_text("{", encoding="utf-8")
        tab.get_by_label("The second network").set_input_files(tmp_path / "bad.json")
        tab.get_by_role("status").get_by_text("bad.json").wait_for()


@pytest.mark.needs("axe")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_tab_is_accessible(browser: Browser, clinic: Server, scheme: str) -> None:
    with opened(browser, clinic, LINK, color_scheme=scheme, bypass_csp=True) as page:
        for name, shown in (("why", ".story"), ("matters", ".tornado .line"), ("next", ".answers"), ("whatif", ".slot"),
                            ("compare", ".plain")):  # fmt: skip
            tab = pane(page, name)
            tab.locator(shown).first.wait_for()
            assert serious_findings(page, AXE, "#dock") == [], name
        assert serious_findings(page, AXE) == []  # with the marks of the last tab on the picture
