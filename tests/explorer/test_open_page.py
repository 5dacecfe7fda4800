"""Files that are dropped on the page, edges that are drawn from a rim, gates, and learning and comparing by keyboard alone."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import possnet as pn
from possnet.io import decode_network
from possnet.metrics import compare_tables
from tests.browsing import watched
from tests.explorer.test_page import opened, settled
from tests.explorer.test_workbench import WINDOW, card, drag, middle
from tests.serving import Server, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.needs("browser")
ASIA, CLINIC = pn.load_example("asia"), pn.load_example("clinic")
LONG = 60_000
DROP = """(where, [name, content]) => {
    const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([bytes], name));
    for (const kind of ["dragenter", "dragover", "drop"]) {
        const event = new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer });
        if (!where.dispatchEvent(event)) continue; // taken
        if (kind !== "dragenter") throw new Error(`nobody takes the ${kind}: the browser would leave the page`);
    }
}"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top: Path = tmp_path_factory.mktemp("dropped")
    pn.write_network(ASIA, top / "asia.json")
    pn.write_data(pn.sample(CLINIC, 120, process="precise", rng=4), top / "rows.csv")
    return top


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    """An explorer on an empty canvas at first; every test opens what it needs."""
    with serving(None, folder=folder) as running:
        yield running


def drop(page: Page, place: str, path: Path) -> None:
    """Drop a file on a part of the page, as a person would from another window."""
    page.locator(place).evaluate(DROP, [path.name, base64.b64encode(path.read_bytes()).decode()])


def replace_network(server: Server, kind: str, name: str = "") -> None:
    revision = server.ask("/api/network").document["revision"]
    assert server.ask("/api/open", {"kind": kind, "name": name, "revision": revision}).status == 200


def test_a_network_and_a_table_are_dropped_on_the_page(
    browser: Browser, server: Server, folder: Path, tmp_path: Path
) -> None:
    from playwright.sync_api import expect

    (tmp_path / "<b>bad.json").write_text("{", encoding="utf-8")
    (tmp_path / "rows.exe").write_text("MZ", encoding="utf-8")
    (tmp_path / "ward.csv").write_text("note,flu\n?,yes\n?,no\n", encoding="utf-8")
    with watched(browser, server.address, **WINDOW) as (page, _):
        page.locator("#start h3").first.wait_for()
        drop(page, "#start", folder / "asia.json")
        expect(page.locator("#start")).to_be_hidden()
        expect(page.locator("h1")).to_have_text("asia")
        assert decode_network(server.ask("/api/download").body, "page") == ASIA
        for path, words in ((tmp_path / "<b>bad.json", "bad"), (tmp_path / "rows.exe", "'.exe'")):
            drop(page, "#stage", path)
            expect(page.locator("#notice")).to_contain_text(words)
        expect(page.locator(".card")).to_have_count(8)  # nothing has changed
        drop(page, "#stage", tmp_path / "ward.csv")
        lines = page.locator(".columns tbody tr")
        expect(lines).to_have_count(2, timeout=LONG)
        expect(lines.first).to_contain_text("left out: it holds no state at all")
        expect(page.get_by_label("use note")).to_be_disabled()
        expect(page.get_by_label("use flu")).to_be_checked()
        page.get_by_role("button", name="Learn", exact=True).click()
        expect(page.locator(".card")).to_have_count(1, timeout=LONG)  # what can be used is learned from
        page.locator("#open").click()
        page.get_by_role("button", name="rows.csv").click()  # a table of the folder
        expect(lines).to_have_count(8, timeout=LONG)
        expect(page.locator("[data-tab=data]")).to_contain_text("rows.csv · 120 rows, 8 columns")


def test_an_edge_is_drawn_from_any_side_of_a_card_and_refused_where_it_closes_a_cycle(
    browser: Browser, server: Server
) -> None:
    from playwright.sync_api import expect

    replace_network(server, "example", "asia")
    with opened(browser, server) as page:
        frame = card(page, "asia").locator(".frame").bounding_box()
        assert frame is not None
        rims = {
            "left": (frame["x"] - 2, frame["y"] + frame["height"] / 2),
            "right": (frame["x"] + frame["width"] + 2, frame["y"] + frame["height"] / 2),
            "above": (frame["x"] + frame["width"] / 2, frame["y"] - 2),
        }
        target = middle(card(page, "dysp").bounding_box())
        edges = len(ASIA.dag.edges)
        for side, start in rims.items():
            page.mouse.move(*start)
            page.mouse.down()
            page.mouse.move(*target, steps=4)
            expect(page.locator(".edge.drawn")).to_have_count(1)  # the edge to be, from the card to the pointer
            expect(page.locator(".card.aimed .head")).to_have_attribute("data-name", "dysp")
            if side == "left":
                page.mouse.up()
                expect(page.locator(".edge-hit")).to_have_count(edges + 1)
                settled(page, lambda: page.keyboard.press("Control+z"))
            else:
                page.mouse.move(5, 300, steps=2)
                page.mouse.up()  # nowhere: nothing is drawn
            expect(page.locator(".edge.drawn")).to_have_count(0)
            expect(page.locator(".edge-hit")).to_have_count(edges)
        drag(
            page, middle(card(page, "dysp").locator(".port").bounding_box()), middle(card(page, "smoke").bounding_box())
        )
        expect(page.locator("#notice")).to_contain_text("it would close a cycle, smoke -> bronc -> dysp -> smoke")
        drag(page, rims["left"], middle(card(page, "asia").bounding_box()))
        expect(page.locator("#notice")).to_contain_text("asia")  # an edge to itself is refused too
        expect(page.locator(".edge-hit")).to_have_count(edges)
        assert page.locator(".card.aimed").count() == 0


def test_gates_fill_a_table_in_the_browser_as_the_library_does(browser: Browser, server: Server) -> None:
    from playwright.sync_api import expect

    replace_network(server, "example", "asia")
    parents = [ASIA.variable(name) for name in ASIA.dag.parents("either")]
    with opened(browser, server) as page:
        page.locator('.head[data-name="either"]').click()
        page.locator(".form > summary").click()
        page.locator(".gates > summary").click()
        for kind, key in (("or", "inhibition"), ("and", "substitution")):
            page.get_by_label("Gate", exact=True).select_option(kind)
            for k, parent in enumerate(parents):
                page.get_by_label(f"{parent.name}: possibility that it does not act so").fill(f"0.{k + 1}")
            page.get_by_label("leak: possibility").fill("0.05")
            page.get_by_role("button", name="Fill the table").click()
            numbers = {parent.name: 0.1 * (k + 1) for k, parent in enumerate(parents)}
            gate = getattr(pn, f"gate_{kind}")(ASIA.variable("either"), parents, **{key: numbers}, leak=0.05)
            expect(page.locator("#notice")).to_have_text("The table of either is filled.")
            expect(page.locator("#undo")).to_have_attribute(
                "title", f"Undo: fill the table of either with {kind.upper()}"
            )
            net = decode_network(server.ask("/api/download").body, "page")
            assert np.array_equal(net.table("either"), gate.table)
            for cell, degree in zip(page.locator(".degrees input").all(), gate.table.ravel(), strict=True):
                expect(cell).to_have_value(f"{degree:.4g}")
            settled(page, lambda: page.keyboard.press("Control+z"))
        page.get_by_label("leak: possibility").fill("1.5")
        page.get_by_role("button", name="Fill the table").click()
        expect(page.locator(".form .wrong")).to_have_text("A gate takes numbers from 0 to 1.")
        assert decode_network(server.ask("/api/download").body, "page") == ASIA


def focus_by_tab(page: Page, name: str, key: str = "Tab", most: int = 60) -> None:
    """Press Tab until something of a name has the focus."""
    script = "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent"
    for _ in range(most):
        page.keyboard.press(key)
        if page.evaluate(script) == name:
            return
    raise AssertionError(f"{name} is not reached by {key}")


def open_tab(page: Page, name: str) -> None:
    """Open a tab of the dock by the arrow keys."""
    page.locator("#tabs [tabindex='0']").focus()
    page.keyboard.press("Home")
    for _ in range(12):
        if page.evaluate("document.activeElement.id") == f"tab-{name}":
            break
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.locator(f"#pane-{name}").wait_for()


def test_learning_and_comparing_by_keyboard_alone(browser: Browser, server: Server, folder: Path) -> None:
    from playwright.sync_api import expect

    replace_network(server, "example", "clinic")
    with opened(browser, server) as page:
        page.locator("#open").focus()
        page.keyboard.press("Enter")
        page.locator("#start h3").first.wait_for()
        for _ in range(20):
            if page.evaluate("document.activeElement.textContent").startswith("rows.csv"):
                break
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(page.locator(".columns tbody tr")).to_have_count(8, timeout=LONG)
        focus_by_tab(page, "What to learn")
        page.keyboard.press("ArrowDown")
        expect(page.get_by_label("What to learn")).to_have_value("keep")
        focus_by_tab(page, "Learn")
        page.keyboard.press("Enter")
        expect(page.locator("#undo")).to_have_attribute("title", "Undo: learn from rows.csv", timeout=LONG)
        learned = decode_network(server.ask("/api/download").body, "page")
        rows = pn.read_data(folder / "rows.csv").with_domains(CLINIC.variables)
        assert learned.dag == CLINIC.dag
        assert all(
            np.array_equal(learned.table(v.name), pn.fit(CLINIC.dag, rows).table(v.name)) for v in CLINIC.variables
        )
        open_tab(page, "compare")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Compare with"
        page.keyboard.press("ArrowDown")  # one step before
        worst = compare_tables(CLINIC, learned).tables[0]
        line = page.locator(".tornado .line").first
        expect(line).to_contain_text(worst.name)
        focus_by_tab(page, line.get_attribute("aria-label") or "")
        page.keyboard.press("Enter")
        expect(page.locator(".pair-tables h3")).to_have_text(f"{worst.name}: both tables")
        page.keyboard.press("Escape")
        expect(page.locator("#dock")).to_be_hidden()
        settled(page, lambda: page.keyboard.press("Control+z"))
        assert decode_network(server.ask("/api/download").body, "page") == CLINIC
