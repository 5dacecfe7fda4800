"""The explorer's page in a browser: what a click does is what the library says, for mouse and keyboard, in any window."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import possnet as pn
from tests.browsing import contrast, luminance, watched
from tests.serving import Server, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page, Route

pytestmark = pytest.mark.needs("browser")
CLINIC, ASIA = pn.load_example("clinic"), pn.load_example("asia")
DEGREES = """Object.fromEntries([...document.querySelectorAll('.card')].map(card => [
    card.querySelector('.head').dataset.name,
    Object.fromEntries([...card.querySelectorAll('.state')].map(row => [row.dataset.state, [
        Number(row.dataset.pi), Number(row.dataset.n), row.querySelector('.possible').width.baseVal.value
            / row.querySelector('.rail').width.baseVal.value]]))]))"""


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


def state(page: Page, name: str, label: str) -> Locator:
    card = page.locator(".card").filter(has=page.locator(f'.head[data-name="{name}"]'))
    return card.locator(f'.state[data-state="{label}"]')


def shows(page: Page, net: pn.Network, evidence: dict[str, set[str]]) -> None:
    """Every bar on the page is that of the library."""
    expected = pn.Inference(net).marginals(evidence or None)
    degrees = page.evaluate(DEGREES)
    assert degrees.keys() == expected.keys()
    for name, pi in expected.items():
        for label, (possible, certain, drawn) in degrees[name].items():
            assert possible == pytest.approx(pi[label], abs=1e-12), (name, label)
            assert certain == pytest.approx(pi.necessity({label}), abs=1e-12)
            assert drawn == pytest.approx(pi[label], abs=0.01)


def test_clicks_say_what_is_known_and_every_bar_follows(browser: Browser, clinic: Server) -> None:
    with opened(browser, clinic) as page:
        shows(page, CLINIC, {})
        settled(page, state(page, "fever", "mild").click)
        shows(page, CLINIC, {"fever": {"mild"}})
        settled(page, state(page, "fever", "high").click)
        settled(page, state(page, "rash", "spots").click)
        record = {"fever": {"mild", "high"}, "rash": {"spots"}}
        shows(page, CLINIC, record)
        assert (
            page.locator("#degree").inner_text() == f"Π(evidence) = {pn.Inference(CLINIC).possibility_of(record):.3f}"
        )
        assert page.locator("#chips li span").all_inner_texts() == ["fever = mild or high", "rash = spots"]
        before = pn.Inference(CLINIC).query("flu")["yes"]
        ghost = state(page, "flu", "yes").locator(".ghost")
        assert ghost.get_attribute("visibility") is None
        rail = state(page, "flu", "yes").locator(".rail")
        left, room = (float(rail.get_attribute(name) or 0) for name in ("x", "width"))
        assert float(ghost.get_attribute("x") or 0) + 1.6 == pytest.approx(left + room * before, abs=0.1)
        page.reload()
        page.locator("body[data-settled]").wait_for()
        shows(page, CLINIC, record)  # the address keeps it
        settled(page, state(page, "fever", "mild").click)
        shows(page, CLINIC, {"fever": {"high"}, "rash": {"spots"}})
        settled(page, page.get_by_role("button", name="clear the evidence on rash").click)
        shows(page, CLINIC, {"fever": {"high"}})
        settled(page, page.get_by_role("button", name="Clear evidence", exact=True).click)
        shows(page, CLINIC, {})
        assert "#" not in page.url
        page.locator("#file-menu summary").click()
        page.get_by_role("button", name="Copy link").click()
        page.locator("#notice").get_by_text("link").wait_for()
        assert page.locator(".card .ghost:not([visibility=hidden])").count() == 0


def test_the_panel_says_what_to_ask_next_with_a_preview_of_every_answer(browser: Browser, clinic: Server) -> None:
    with opened(browser, clinic) as page:
        settled(page, state(page, "fever", "high").click)
        page.locator('.head[data-name="measles"]').click()
        page.locator(".asking summary").click()
        page.locator(".questions li").first.wait_for()
        expected = [q for q in pn.next_questions(CLINIC, "measles", {"fever": {"high"}}) if q.reduction > 0]
        assert page.locator(".questions button").all_inner_texts() == [q.name for q in expected[:5]]
        preview = page.locator(".questions button").first.get_attribute("title") or ""
        assert "widespread: yes 1.000, no 0.213" in preview.splitlines()
        settled(page, state(page, "rash", "spots").click)
        after = pn.next_questions(CLINIC, "measles", {"fever": {"high"}, "rash": {"spots"}})[0].name
        page.locator(f'.questions li:first-child button:text-is("{after}")').wait_for()
        settled(page, state(page, "measles", "yes").click)
        assert not page.locator(".asking").is_visible()  # what is known is not to be settled


def test_the_last_click_wins(browser: Browser, clinic: Server) -> None:
    with opened(browser, clinic) as page:
        held: list[Route] = []
        page.route("**/api/answer", lambda route: held.append(route) if not held else route.continue_())
        state(page, "fever", "mild").click()
        settled(page, state(page, "fever", "high").click)
        assert len(held) == 1
        shows(page, CLINIC, {"fever": {"mild", "high"}})


def test_the_most_possible_configuration_is_marked(browser: Browser, clinic: Server) -> None:
    with opened(browser, clinic, "#rash=widespread&cough=none") as page:
        settled(page, page.get_by_role("button", name="Most possible").click)
        best = pn.Inference(CLINIC).most_possible({"rash": "widespread", "cough": "none"})
        marked = page.evaluate(
            "Object.fromEntries([...document.querySelectorAll('.state.best')]"
            ".map(row => [row.closest('.card').querySelector('.head').dataset.name, row.dataset.state]))"
        )
        assert marked == best.configuration
        assert (
            f"one of {best.ties} configurations of possibility {best.possibility:.3f}."
            in page.locator("#configuration").inner_text()
        )
        settled(page, page.get_by_role("button", name="Most possible").click)
        assert page.locator(".state.best").count() == 0


def test_a_subnormal_network_has_no_necessities(browser: Browser, tmp_path: Path) -> None:
    rash = pn.Variable("rash", ("yes", "no"))
    pn.write_network(pn.Network.subnormal((rash,), pn.Dag({"rash": ()}), {"rash": [0.5, 0.2]}), tmp_path / "n.json")
    with serving(tmp_path / "n.json") as server, opened(browser, server) as page:
        assert state(page, "rash", "yes").get_attribute("aria-label") == "rash = yes, possibility 0.500"
        page.locator(".head").click()
        assert page.locator("#panel .states .digits").all_inner_texts() == ["0.500", "", "0.200", ""]


def test_impossible_evidence_is_said_plainly_and_undone(browser: Browser) -> None:
    with serving("asia") as server, opened(browser, server, "#lung=yes") as page:
        settled(page, state(page, "either", "no").click)
        banner = page.get_by_role("alert")
        assert "possibility 0" in banner.inner_text()
        assert "you clicked either = no" in banner.inner_text()
        assert page.locator("#degree").inner_text() == "Π(evidence) = 0"
        settled(page, page.get_by_role("button", name="Undo the last click").click)
        assert banner.is_hidden()
        shows(page, ASIA, {"lung": {"yes"}})
        settled(page, state(page, "either", "yes").click)
        shows(page, ASIA, {"lung": {"yes"}, "either": {"yes"}})


def test_a_table_is_edited_and_downloaded(browser: Browser, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    def cell(row: int, column: int) -> Locator:
        return page.locator(f"tr[data-context='{row}'] input").nth(column)

    with serving("asia") as server, opened(browser, server, "#xray=yes") as page:
        page.locator(".head[data-name=lung]").click()
        apply, wrong = page.get_by_role("button", name="Apply"), page.locator(".editor .wrong")
        cell(1, 1).fill("1.5")
        expect(wrong).to_contain_text("“1.5”; expected a number from 0 to 1")
        expect(apply).to_be_disabled()
        cell(1, 1).fill("0,5")
        cell(1, 0).fill("0.2")
        expect(wrong).to_contain_text("given smoke = no peak at 0.5; expected 1")
        expect(apply).to_be_disabled()
        page.get_by_role("button", name="Normalise").click()
        expect(cell(1, 0)).to_have_value("0.4")
        apply.click()
        expect(page.locator("#edits")).to_have_text("1 table edited")
        table = pn.normalise_tables({"lung": [ASIA.table("lung")[0], [0.2, 0.5]]})["lung"]
        edited = ASIA.with_table("lung", table)
        degree = pn.Inference(edited).query("smoke", {"xray": "yes"})["no"]
        expect(state(page, "smoke", "no")).to_have_attribute("data-pi", re.compile(f"^{degree:.6g}"))
        shows(page, edited, {"xray": {"yes"}})
        with page.expect_download() as download:
            page.locator("#file-menu summary").click()
            page.get_by_text("Download").click()
        download.value.save_as(tmp_path / download.value.suggested_filename)
        assert pn.read_network(tmp_path / "asia.json") == edited
        for button, expected in (("Undo", ASIA), ("Redo", edited), ("Reset", ASIA)):
            page.get_by_role("button", name=button, exact=True).click()
            expect(cell(1, 0)).to_have_value(f"{expected.table('lung')[1, 0]:g}")
            shown = pn.Inference(expected).query("lung", {"xray": "yes"})["no"]
            expect(state(page, "lung", "no")).to_have_attribute("data-pi", re.compile(f"^{shown:.6g}"))
            shows(page, expected, {"xray": {"yes"}})


def test_the_keyboard_is_enough(browser: Browser, clinic: Server) -> None:
    focused = "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent"
    with opened(browser, clinic) as page:
        for _ in range(24):
            page.keyboard.press("Tab")
            if str(page.evaluate(focused)).endswith(": details"):
                break
        first = page.evaluate("document.activeElement.dataset.name")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.dataset.name") != first
        page.keyboard.press("ArrowLeft")
        assert page.evaluate("document.activeElement.dataset.name") == first
        page.keyboard.press("ArrowDown")
        settled(page, lambda: page.keyboard.press("Enter"))
        label = CLINIC.variable(first).states[0]
        shows(page, CLINIC, {first: {label}})
        assert page.evaluate("document.activeElement.getAttribute('aria-checked')") == "true"
        page.keyboard.press("ArrowDown")
        settled(page, lambda: page.keyboard.press("Space"))
        shows(page, CLINIC, {first: {label, CLINIC.variable(first).states[1]}})
        settled(page, lambda: page.keyboard.press("Delete"))
        shows(page, CLINIC, {})
        page.keyboard.press("ArrowUp")
        page.keyboard.press("ArrowUp")
        outline = page.evaluate("getComputedStyle(document.activeElement.querySelector('.hit')).strokeWidth")
        assert float(outline.removesuffix("px")) >= 2
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.tagName + document.activeElement.textContent") == f"H2{first}"
        page.keyboard.press("Tab")
        settled(page, lambda: page.keyboard.press("Space"))
        shows(page, CLINIC, {first: {label}})
        page.keyboard.press("Escape")
        assert page.locator("#panel").is_hidden()
        assert page.evaluate("document.activeElement.dataset.name") == first


def odd_network() -> pn.Network:
    """Names that would like to be more than names, and more states than a card shows."""
    bold = pn.Variable("<b>bold</b><img src=x onerror=boom()>", ("<script>boom()</script>", 'a"b&|=#', "%41"))
    many = pn.Variable("多い " + "long " * 20, tuple(f"Zustand №{k}" for k in range(100)), ordered=True)
    table = [[1 - 0.01 * abs(k - 40) for k in range(100)], [0.005 * k for k in range(99)] + [1.0], [1.0] * 100]
    dag = pn.Dag({bold.name: (), many.name: (bold.name,)})
    return pn.Network(
        (bold, many), dag, {bold.name: [1, 0.4, 0.2], many.name: table}, name="<i>odd</i>", conjunction=pn.MIN
    )


def test_names_are_only_names_and_many_states_are_cut(browser: Browser, tmp_path: Path) -> None:
    net = odd_network()
    bold, many = net.variables
    pn.write_network(net, tmp_path / "odd.json")
    with serving(tmp_path / "odd.json") as server, opened(browser, server) as page:
        settled(page, page.locator(".state").nth(1).click)
        page.reload()
        page.locator("body[data-settled]").wait_for()
        shows(page, net, {bold.name: {bold.states[1]}})
        assert page.locator("h1").inner_text() == "<i>odd</i>"
        card = page.locator(".card").nth(1)
        shown = [row.get_attribute("data-state") for row in card.locator(".state").all()]
        degrees = pn.Inference(net).query(many.name, {bold.name: bold.states[1]})
        assert set(shown) == set(sorted(many.states, key=lambda s: (-degrees[s], many.states.index(s)))[:7])
        page.get_by_text("93 more").click()
        assert page.locator("#panel h2").inner_text().strip() == many.name.strip()
        assert page.locator("#panel .states tbody tr").count() == 100
        settled(page, page.locator("#panel .toggle").nth(3).click)
        assert many.states[3] in [row.get_attribute("data-state") for row in card.locator(".state").all()]
        assert (
            page.locator("b:not(#reading b, #panel :is(.neighbours, .ends) b), img, i:not(.swatch, #panel i)").count()
            == 0
        )
        assert page.evaluate("document.querySelectorAll('script').length") == 1


def test_the_policy_is_in_force(browser: Browser, clinic: Server) -> None:
    page = browser.new_page()
    page.goto(clinic.address)
    page.locator("body[data-settled]").wait_for()
    page.evaluate(
        "() => { const s = document.createElement('script'); s.textContent = 'window.ran = true'; document.body.append(s);"
        " const d = document.createElement('div'); d.setAttribute('style', 'color: rgb(1, 2, 3)'); d.id = 'styled';"
        " document.body.append(d); }"
    )
    assert page.evaluate("window.ran === undefined")
    assert page.evaluate("getComputedStyle(document.getElementById('styled')).color") != "rgb(1, 2, 3)"
    assert page.evaluate("fetch('http://127.0.0.1:9/').then(() => 'sent', error => error.name)") == "TypeError"
    page.close()


@pytest.mark.parametrize(
    ("width", "height", "scheme"), [(400, 800, "light"), (400, 800, "dark"), (1280, 800, "dark"), (1920, 1080, "light")]
)
def test_every_window_shows_all_cards_readably(
    browser: Browser, clinic: Server, width: int, height: int, scheme: str
) -> None:
    window = {"viewport": {"width": width, "height": height}, "color_scheme": scheme}
    with opened(browser, clinic, "#fever=mild", **window) as page:
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        stage = page.locator("#stage").bounding_box()
        assert stage is not None
        for card in page.locator(".card .frame").all():
            box = card.bounding_box()
            assert box is not None
            assert stage["x"] <= box["x"]
            assert box["x"] + box["width"] <= stage["x"] + stage["width"]
            assert stage["y"] <= box["y"]
            assert width < 560 or box["y"] + box["height"] <= stage["y"] + stage["height"]  # a phone is scrolled
        rows = [row.bounding_box() for row in page.locator(".state .hit").all()]
        assert width > 560 or min(row["height"] for row in rows if row is not None) >= 24
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (luminance(paper) < 0.1) == (scheme == "dark")
        inks = page.evaluate(
            "['h1', '#kind', '.legend', 'summary', '#degree'].map(s => getComputedStyle(document.querySelector(s)).color)"
            ".concat(['.name', '.label', '.number'].map(s => getComputedStyle(document.querySelector(s)).fill))"
        )
        assert min(contrast(ink, paper) for ink in inks) >= 4.5
        page.locator(".head").first.click()
        panel = page.locator("#panel").bounding_box()
        assert panel is not None
        assert panel["x"] + panel["width"] <= width
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_zoom_pan_find_and_odd_links(browser: Browser, tmp_path: Path) -> None:
    net = pn.random_network(200, max_parents=1, states=(2, 3), rng=1)
    pn.write_network(net, tmp_path / "large.json")
    with serving(tmp_path / "large.json") as server, opened(browser, server, "#nobody=x&%E0=%&=") as page:
        assert page.locator("#notice").inner_text().startswith("The link names what this network lacks")
        assert page.locator(".card").count() == 200
        shows(page, net, {})
        world = page.locator(".world")
        fitted = world.get_attribute("transform")
        page.get_by_label("Zoom in").click()
        zoomed = world.get_attribute("transform")
        assert zoomed != fitted
        page.mouse.move(30, 400)
        page.mouse.down()
        page.mouse.move(130, 450, steps=3)
        page.mouse.up()
        assert world.get_attribute("transform") != zoomed
        assert page.locator("#chips li").count() == 0  # a drag is no click
        page.mouse.wheel(0, 300)
        page.get_by_label("Fit to window").click()
        assert world.get_attribute("transform") == fitted
        last = net.variables[-1].name
        page.get_by_label("Find a variable").fill(last.upper())
        page.keyboard.press("Enter")
        assert page.locator("#panel h2").inner_text() == last
        box = page.locator(f'.head[data-name="{last}"]').bounding_box()
        assert box is not None
        assert box["height"] > 20
        label = net.variables[-1].states[0]
        settled(page, state(page, last, label).click)
        shows(page, net, {last: {label}})


def test_a_long_table_in_two_windows_keeps_every_digit_and_every_edit(browser: Browser, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    a, b = pn.Variable("a", tuple(map(str, range(120)))), pn.Variable("b", tuple("stuvwxy"))
    rng = np.random.default_rng(1)
    tables = pn.normalise_tables({"a": rng.random(120), "b": rng.random((120, 7))})
    pn.write_network(pn.Network((a, b), pn.Dag({"a": (), "b": ("a",)}), tables), tmp_path / "long.json")

    least = {row: int(tables["b"][row].argmin()) for row in (2, 5, 100)}  # not the peak

    def cell(page: Page, row: int) -> Locator:
        return page.locator(f"tr[data-context='{row}'] input").nth(least[row])

    with serving(tmp_path / "long.json") as server, opened(browser, server) as first, opened(browser, server) as second:
        for page in (first, second):
            page.locator(".head[data-name=b]").click()
        first.get_by_role("button", name="The next contexts").click()
        cell(first, 100).fill("0.5")
        first.get_by_role("button", name="The contexts before").click()
        cell(first, 2).fill("0.5")
        first.get_by_role("button", name="Apply").click()
        expect(first.locator("#edits")).to_have_text("1 table edited")
        cell(second, 5).fill("0.5")
        second.get_by_role("button", name="Apply").click()
        expect(second.locator(".editor .wrong")).to_contain_text("edited in another window")
        expect(cell(second, 2)).to_have_value("0.5")
        second.get_by_role("button", name="Apply").click()
        expect(second.get_by_role("button", name="Apply")).to_be_disabled()  # once the server has taken it
        expect(second.locator(".editor .wrong")).to_have_text("")
        settled(first, first.locator(".state").first.click)
        expect(cell(first, 5)).to_have_value("0.5")
        expected = tables["b"].copy()
        for row, column in least.items():
            expected[row, column] = 0.5
        (tmp_path / "now.json").write_bytes(server.ask("/api/download").body)
        assert np.array_equal(pn.read_network(tmp_path / "now.json").table("b"), expected)
