"""The workbench in a browser: a network is built, saved, found and looked at by mouse, and by keyboard alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import possnet as pn
from tests.browsing import contrast, serious_findings, watched
from tests.conftest import AXE
from tests.explorer.test_page import opened, settled, state
from tests.serving import Server, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page, Route

pytestmark = pytest.mark.needs("browser")
LARGE = pn.random_network(300, max_parents=1, states=(2, 3), rng=1)
WINDOW = {"viewport": {"width": 1280, "height": 800}, "reduced_motion": "reduce"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a large network and one with a table of a million degrees."""
    top: Path = tmp_path_factory.mktemp("bench")
    pn.write_network(LARGE, top / "large.json")
    roots = [pn.Variable(name, tuple(f"{name}{k}" for k in range(100))) for name in "pqr"]
    net = pn.Network(
        roots,
        pn.Dag({"p": (), "q": (), "r": ("p", "q")}),
        {
            "p": np.ones(100),
            "q": np.ones(100),
            "r": np.ones((100, 100, 100)),
        },
    )
    pn.write_network(net, top / "million.json")
    return top


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    with serving(None, folder=folder) as running:
        yield running


def card(page: Page, name: str) -> Locator:
    return page.locator(".card").filter(has=page.locator(f'.head[data-name="{name}"]'))


def show_start(page: Page, server: Server) -> None:
    """The start page, which is there by itself only before something was opened."""
    page.locator("body[data-settled]").wait_for()
    if server.ask("/api/network").document["started"]:
        page.locator("#open").click()
    page.locator("#start h3").first.wait_for()


def middle(box: Any) -> tuple[float, float]:
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(page: Page, start: tuple[float, float], end: tuple[float, float]) -> None:
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end, steps=4)
    page.mouse.up()


def now(server: Server, tmp_path: Path) -> pn.Network:
    (tmp_path / "now.json").write_bytes(server.ask("/api/download").body)
    return pn.read_network(tmp_path / "now.json")


def test_a_network_is_built_saved_and_undone_by_mouse(
    browser: Browser, server: Server, folder: Path, tmp_path: Path
) -> None:
    from playwright.sync_api import expect

    with watched(browser, server.address, **WINDOW) as (page, _):
        page.get_by_role("button", name="Empty canvas").click()
        expect(page.locator("#start")).to_be_hidden()
        for name, states, place in (("flu", "yes, no", (300, 260)), ("fever", "none, mild, high", (420, 560))):
            page.mouse.dblclick(*place)
            expect(page.get_by_label("Name", exact=True)).to_be_focused()
            page.keyboard.type(name)
            page.keyboard.press("Enter")
            expect(page.locator("#panel h2")).to_have_text(name)
            expect(page.get_by_label("States, with commas")).to_be_focused()
            page.keyboard.type(states)
            page.keyboard.press("Tab")
            expect(card(page, name).locator(".state")).to_have_count(len(states.split(",")))
        box = card(page, "flu").locator(".frame").bounding_box()
        assert box is not None
        assert abs(box["x"] - 220) < 12  # it stays where it was made
        drag(
            page, middle(card(page, "flu").locator(".port").bounding_box()), middle(card(page, "fever").bounding_box())
        )
        expect(page.locator(".edge-hit")).to_have_count(1)
        drag(
            page, middle(card(page, "fever").locator(".port").bounding_box()), middle(card(page, "flu").bounding_box())
        )
        expect(page.locator("#notice")).to_contain_text("it would close a cycle, flu -> fever -> flu")
        before = card(page, "fever").bounding_box()
        drag(page, middle(page.locator('.head[data-name="fever"]').bounding_box()), (700, 420))
        expect(page.locator("#undo")).to_have_attribute("title", "Undo: move fever")
        assert card(page, "fever").bounding_box() != before
        net = now(server, tmp_path)
        assert net.dag.edges == (("flu", "fever"),)
        assert net.table("fever").tolist() == [[1, 1, 1]] * 2
        page.get_by_text("Fill the table with a gate").click()
        page.get_by_label("Gate").select_option("max")
        page.get_by_role("button", name="Fill the table").click()
        expect(page.locator(".form .wrong")).to_contain_text("not ordered")
        settled(page, state(page, "fever", "high").click)
        page.locator("#file-menu summary").click()
        page.get_by_role("button", name="Save", exact=True).click()
        page.get_by_label("Name of the file").fill("built")
        page.get_by_role("button", name="Save", exact=True).last.click()
        expect(page.locator("#file-state")).to_have_text("built.json")
        assert pn.read_network(folder / "built.json") == net
        page.keyboard.press("Control+z")  # the click on a state, then the card, then the edge
        expect(page.locator("#chips li")).to_have_count(0)
        page.keyboard.press("Control+z")
        page.keyboard.press("Control+z")
        expect(page.locator(".edge-hit")).to_have_count(0)
        page.keyboard.press("Control+Shift+z")
        expect(page.locator(".edge-hit")).to_have_count(1)
        page.locator(".edge-hit").dispatch_event("click", {"clientX": 500, "clientY": 400})
        page.get_by_role("button", name="Delete edge").click()
        expect(page.locator(".edge-hit")).to_have_count(0)
        page.get_by_role("button", name="Delete variable").click()
        expect(page.locator(".card")).to_have_count(1)


def test_a_network_is_built_by_keyboard_alone(browser: Browser, server: Server, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    with watched(browser, server.address, **WINDOW) as (page, _):
        page.locator("body[data-settled]").wait_for()
        if server.ask("/api/network").document["started"]:
            page.locator("#open").focus()
            page.keyboard.press("Enter")
        page.locator("#start h3").first.wait_for()
        expect(page.get_by_role("button", name="Empty canvas")).to_be_focused() if page.locator(
            "#start .close"
        ).count() == 0 else page.get_by_role("button", name="Empty canvas").focus()
        page.keyboard.press("Enter")
        expect(page.locator("#start")).to_be_hidden()
        page.locator("#add").focus()
        for name, states in (("rain", "yes, no"), ("wet", "yes, no, damp")):
            page.keyboard.press("Enter")
            expect(page.get_by_label("Name", exact=True)).to_be_focused()
            page.keyboard.type(name)
            page.keyboard.press("Enter")
            expect(page.get_by_label("States, with commas")).to_be_focused()
            page.keyboard.type(states)
            page.keyboard.press("Enter")
            expect(card(page, name).locator(".state")).to_have_count(len(states.split(",")))
            page.locator("#add").focus()
        page.get_by_label("Add to parents").focus()
        page.keyboard.type("rain")
        page.keyboard.press("Enter")
        expect(page.locator(".edge-hit")).to_have_count(1)
        page.locator("tr[data-context='0'] input").nth(1).focus()
        page.keyboard.type("0.3")
        page.keyboard.press("Enter")
        expect(page.get_by_role("button", name="Discard")).to_be_disabled()
        page.keyboard.press("Escape")
        focused = page.locator('.head[data-name="wet"]')
        expect(focused).to_be_focused()
        label = focused.get_attribute("aria-label") or ""
        assert "parents rain; no children" in label
        place = card(page, "wet").get_attribute("transform")
        page.keyboard.press("Alt+ArrowRight")
        expect(card(page, "wet")).not_to_have_attribute("transform", place or "")
        expect(focused).to_be_focused()
        page.keyboard.press("ArrowDown")
        settled(page, lambda: page.keyboard.press("Enter"))
        expect(page.locator("#chips li span")).to_have_text("wet = yes")
        rain = page.locator('.head[data-name="rain"]').get_attribute("aria-label") or ""
        assert "children wet" in rain
        assert now(server, tmp_path).table("wet")[0].tolist() == [1, 0.3, 1]
        page.keyboard.press("Shift+Delete")
        expect(page.locator(".card")).to_have_count(1)
        page.keyboard.press("Control+z")
        expect(page.locator(".card")).to_have_count(2)


def test_pictures_are_downloaded_as_they_stand(browser: Browser, clinic: Server, tmp_path: Path) -> None:
    with opened(browser, clinic, "#fever=mild") as page:
        for button, start in (("SVG", b"<svg "), ("PNG", b"\x89PNG"), ("a page", b"<!doctype html>")):
            page.locator("#file-menu summary").click()
            with page.expect_download() as download:
                page.get_by_role("button", name=f"Picture as {button}").click()
            path = tmp_path / download.value.suggested_filename
            download.value.save_as(path)
            assert path.name.startswith("clinic.")
            assert path.read_bytes().startswith(start)
    text = (tmp_path / "clinic.html").read_text("utf-8")
    assert "fever = mild" in text
    assert "<script" not in text
    with watched(browser, (tmp_path / "clinic.html").as_uri(), **WINDOW) as (page, asked):
        assert page.locator("svg .card").count() == 8
        assert page.locator("svg .frame").first.evaluate("shape => getComputedStyle(shape).stroke") != "none"
        assert len(asked) == 1  # it needs nothing else


def letters_apart(one: str, other: str) -> int:
    """Letters inserted, deleted, replaced, or swapped with the next one, by the definition."""
    if not one or not other:
        return len(one) + len(other)
    steps = [
        letters_apart(one[1:], other) + 1,
        letters_apart(one, other[1:]) + 1,
        letters_apart(one[1:], other[1:]) + (one[0] != other[0]),
    ]
    if len(one) > 1 and len(other) > 1 and one[0] == other[1] and one[1] == other[0]:
        steps.append(letters_apart(one[2:], other[2:]) + 1)
    return min(steps)


def spelt_nearly(text: str, names: list[str], most: int) -> list[str]:
    """The eight names that are nearest to a text, if they are near enough, as the page proposes them."""
    near = sorted((letters_apart(text.lower(), name.lower()), k) for k, name in enumerate(names))
    return [f"did you mean {names[k]}?" for apart, k in near if apart <= most][:8]


def test_a_variable_is_found_as_soon_as_its_card_is_there(browser: Browser, server: Server) -> None:
    from playwright.sync_api import expect

    held: list[Route] = []
    with watched(browser, server.address, **WINDOW) as (page, _):
        show_start(page, server)
        # the bars are still being computed
        page.route("**/api/answer", lambda route: route.continue_() if held else held.append(route))
        page.get_by_role("button", name="large.json").click()
        expect(page.locator(".card")).to_have_count(300)
        expect(page.locator("#start")).to_be_hidden()
        page.get_by_label("Find a variable").click()
        page.keyboard.type("X29")
        begins = [v.name for v in LARGE.variables if v.name.startswith("x29")]
        expect(page.locator("#suggestions li")).to_have_text(begins[:8])
        settled(page, held[0].continue_)
        expect(page.locator("#suggestions li")).to_have_text(begins[:8])  # the bars have come, and nothing is closed
        page.route("**/api/network*", lambda route: held.append(route) if len(held) == 1 else route.continue_())
        with page.expect_request("**/api/network*"):
            page.reload(wait_until="commit")
        page.get_by_label("Find a variable").click()
        page.keyboard.type("X29")  # before the page knows any name
        held[1].continue_()
        expect(page.locator("#suggestions li")).to_have_text(begins[:8])


def test_a_large_network_is_found_focused_and_dimmed(browser: Browser, server: Server) -> None:
    from playwright.sync_api import expect

    names = [v.name for v in LARGE.variables]
    with watched(browser, server.address, **WINDOW) as (page, _):
        show_start(page, server)
        page.get_by_role("button", name="large.json").click()
        expect(page.locator(".card")).to_have_count(300)
        assert page.locator(".state").count() < 300 * 2  # rows are drawn for what is near
        find = page.get_by_label("Find a variable")
        for typo, most in (("X2299", 2), ("2x99", 2), ("92", 1), ("x301", 2)):
            expected = [name for name in names if typo.lower() in name.lower()] or spelt_nearly(typo, names, most)
            find.fill(typo)
            expect(page.locator("#suggestions li")).to_have_text(expected[:8])
        find.fill("nobody")
        expect(page.locator("#suggestions li")).to_have_text(["no such variable"])
        find.fill("X2299")
        page.keyboard.press("Enter")  # the nearest name is taken
        name = spelt_nearly("X2299", names, 2)[0].removeprefix("did you mean ").removesuffix("?")
        expect(page.locator("#panel h2")).to_have_text(name)
        stage, shown = page.locator("#stage").bounding_box(), card(page, name).bounding_box()
        assert stage is not None
        assert shown is not None
        assert stage["x"] <= shown["x"] <= stage["x"] + stage["width"] - shown["width"]
        assert stage["y"] <= shown["y"] <= stage["y"] + stage["height"] - shown["height"]
        label = LARGE.variable(name).states[-1]
        settled(page, state(page, name, label).click)
        page.get_by_role("tab", name="Overview").click()
        page.get_by_label("dim it").check()
        reached = {v for v in names if v == name or not LARGE.dag.d_separated(v, name)}
        dim = page.evaluate("[...document.querySelectorAll('.card.tone-dim .head')].map(head => head.dataset.name)")
        assert set(dim) == set(names) - reached
        assert page.locator(".changes li").all_inner_texts() == list_changes(LARGE, {name: label})
        page.get_by_label("dim it").uncheck()
        page.get_by_label("Neighbourhood").select_option("1")
        dim = page.evaluate("[...document.querySelectorAll('.card.tone-dim .head')].map(head => head.dataset.name)")
        assert set(names) - set(dim) == {name, *LARGE.dag.parents(name), *LARGE.dag.children(name)}


def list_changes(net: pn.Network, evidence: dict[str, str]) -> list[str]:
    """What the overview says of every variable whose possibilities some evidence moved, the most first."""
    engine = pn.Inference(net)
    before, after = engine.marginals(), engine.marginals(evidence)
    moves = []
    for v in net.variables:
        gaps = after[v.name].degrees - before[v.name].degrees
        k = int(np.abs(gaps).argmax())
        if v.name not in evidence and abs(gaps[k]) > 5e-4:
            was, now = float(before[v.name].degrees[k]), float(after[v.name].degrees[k])
            moves.append((-abs(gaps[k]), f"{v.name} {v.states[k]} {in_words(was)} → {in_words(now)}"))
    assert moves, "evidence that moves nothing shows nothing"
    return [words for _, words in sorted(moves, key=lambda move: move[0])][:20]


def in_words(degree: float) -> str:
    return "<.01" if 0 < degree < 0.005 else ">.99" if 0.995 <= degree < 1 else f"{degree:.2f}"


def test_a_table_of_a_million_degrees_is_edited_by_context(browser: Browser, server: Server) -> None:
    from playwright.sync_api import expect

    with watched(browser, server.address, **WINDOW) as (page, _):
        show_start(page, server)
        page.get_by_role("button", name="million.json").click()
        page.locator('.head[data-name="r"]').click()
        expect(page.locator(".pages")).to_contain_text("contexts 1 to 5 of 10,000")
        page.get_by_role("button", name="The next contexts").click()
        expect(page.locator(".pages")).to_contain_text("contexts 6 to 10 of 10,000")
        page.get_by_label("Context: p").select_option("p73")
        expect(page.locator(".pages")).to_contain_text("contexts 7,306 to 7,310 of 10,000")
        page.get_by_label("Context: q").focus()
        page.keyboard.type("q21")  # by keyboard alone: the choice keeps the focus
        expect(page.locator("tr[data-context='7321'] input")).to_have_count(100)
        assert page.locator(".degrees input").count() == 500
        expect(page.get_by_label("Context: q")).to_be_focused()
        page.get_by_label("r4 given p73, q21").fill("0.25")
        page.get_by_label("r99 given p73, q21").fill("0")
        page.get_by_role("button", name="Apply").click()
        expect(page.locator("#edits")).to_have_text("1 table edited")
        expect(page.locator("tr[data-context='7321'].draft")).to_have_count(0)
        expect(page.get_by_label("r4 given p73, q21")).to_have_value("0.25")
        row = server.ask("/api/table", {"variable": "r", "start": 7321}).document["rows"][0]
        assert row["context"] == ["p73", "q21"]
        assert row["degrees"] == [1.0] * 4 + [0.25] + [1.0] * 94 + [0.0]
        settled(page, page.locator("#undo").click)
        expect(page.get_by_label("r4 given p73, q21")).to_have_value("1")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_bars_frames_and_edges_can_be_told_apart(browser: Browser, clinic: Server, scheme: str) -> None:
    with opened(browser, clinic, "#fever=mild", color_scheme=scheme) as page:
        style = "(shape, name) => getComputedStyle(shape)[name]"
        frame = page.locator(".card .frame").first
        paper = frame.evaluate(style, "fill")
        possible = page.locator(".card .possible").first.evaluate(style, "fill")
        necessary = page.locator(".card .necessary").first.evaluate(style, "fill")
        others = [
            frame.evaluate(style, "stroke"),
            page.locator(".edge").first.evaluate(style, "stroke"),
            page.locator(".card .box").first.evaluate(style, "stroke"),
            page.locator(".card .rail").first.evaluate(style, "stroke"),
        ]
        assert (
            min(contrast(possible, paper), contrast(possible, necessary), *(contrast(line, paper) for line in others))
            >= 3
        )


def test_a_sheet_leaves_its_card_in_sight_and_turning_lays_out_anew(browser: Browser, clinic: Server) -> None:
    with opened(browser, clinic, viewport={"width": 400, "height": 800}) as page:
        page.locator('.head[data-name="flu"]').click()
        page.locator("#panel h2").wait_for()
        page.wait_for_timeout(100)
        shown, sheet = card(page, "flu").locator(".frame").bounding_box(), page.locator("#dock").bounding_box()
        assert shown is not None
        assert sheet is not None
        assert shown["y"] + shown["height"] <= sheet["y"] + 1
        small = [
            box
            for box in (b.bounding_box() for b in page.locator("button:visible").all())
            if box and box["height"] < 23.5
        ]
        assert small == []
        tall = page.locator(".card").first.get_attribute("transform")
        page.set_viewport_size({"width": 900, "height": 400})
        page.locator(f'.card:not([transform="{tall}"])').first.wait_for()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.needs("axe")
def test_axe_has_nothing_to_say(browser: Browser, clinic: Server, server: Server) -> None:
    with opened(browser, clinic, "#fever=mild", bypass_csp=True) as page:
        page.locator('.head[data-name="measles"]').click()
        page.locator(".form summary").first.click()
        assert serious_findings(page, AXE) == []
        page.get_by_role("tab", name="Overview").click()
        assert serious_findings(page, AXE) == []
    with watched(browser, server.address, bypass_csp=True, **WINDOW) as (page, _):
        show_start(page, server)
        assert serious_findings(page, AXE) == []


def test_forced_colours_keep_every_part_visible(browser: Browser, clinic: Server) -> None:
    with opened(browser, clinic, "#fever=mild", forced_colors="active") as page:
        fills = {
            kind: page.locator(f".card .{kind}").first.evaluate("shape => getComputedStyle(shape).fill")
            for kind in ("frame", "possible", "necessary")
        }
        assert len(set(fills.values())) == 3, json.dumps(fills)


def test_names_tell_edges_evidence_and_what_was_before_to_those_who_do_not_see(
    browser: Browser, clinic: Server
) -> None:
    clinic_net = pn.load_example("clinic")
    engine = pn.Inference(clinic_net)
    before, now = engine.query("flu"), engine.query("flu", {"fever": "mild"})
    with opened(browser, clinic, "#fever=mild") as page:
        label = page.locator('.head[data-name="fever"]').get_attribute("aria-label") or ""
        assert "known to be mild" in label
        assert "parents measles, flu; no children" in label
        label = page.locator('.head[data-name="flu"]').get_attribute("aria-label") or ""
        assert f"possibility changed: yes from {in_words(before['yes'])} to {in_words(now['yes'])}" in label
        assert "parents season; children fever, cough" in label
        row = state(page, "flu", "yes").get_attribute("aria-label") or ""
        assert row.startswith(f"flu = yes, possibility {now['yes']:.3f}, necessity ")
        assert row.endswith(f", possibility before the evidence {before['yes']:.3f}")
        assert page.locator(".edge-hit title").all_text_contents() == [
            f"{parent} → {child}" for parent, child in clinic_net.dag.edges
        ]


def test_bars_move_unless_motion_is_to_be_reduced(browser: Browser, clinic: Server) -> None:
    script = "bar => getComputedStyle(bar).transitionDuration"
    for motion, expected in (("reduce", "0s"), ("no-preference", "0.28s")):
        with opened(browser, clinic, reduced_motion=motion) as page:
            assert page.locator(".card .possible").first.evaluate(script) == expected
