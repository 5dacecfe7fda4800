"""Bounds in the explorer: answers carry them, bars show them as a band, edits narrow them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import possnet as pn
from possnet.explorer.evidence_answers import answer_evidence
from possnet.explorer.request_types import AnswerRequest, EditRequest, HistoryRequest, ResetRequest
from possnet.explorer.session import Session, step_history
from possnet.explorer.table_pages import edit_table, reset_tables
from tests.explorer.test_page import opened, settled, state
from tests.serving import Server, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator

CLINIC = pn.load_example("clinic")


def bounded_clinic() -> pn.Network:
    """The clinic with every degree below 1 known to half of it, and nothing known of flu in summer."""
    tables = {v.name: CLINIC.table(v.name) for v in CLINIC.variables}
    lower = {name: np.where(table < 1.0, table / 2.0, table) for name, table in tables.items()}
    upper = {name: table.copy() for name, table in tables.items()}
    lower["flu"][1], upper["flu"][1] = 0.0, 1.0
    return CLINIC.with_bounds(lower, upper)


NET = bounded_clinic()


@pytest.fixture(scope="module")
def bounded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    path: Path = tmp_path_factory.mktemp("bounded") / "clinic.json"
    pn.write_network(NET, path)
    with serving(path) as server:
        yield server


def widths(row: Locator) -> dict[str, float]:
    """The lengths of a card's bars, as shares of the rail."""
    rail = float(row.locator(".rail").get_attribute("width") or 0)
    kinds = ("band", "possible", "necessary")
    return {kind: float(row.locator(f".{kind}").get_attribute("width") or 0) / rail for kind in kinds}


@pytest.mark.needs("browser")
def test_bars_show_the_band_between_the_bounds(browser: Browser, bounded: Server) -> None:
    with opened(browser, bounded) as page:
        settled(page, state(page, "fever", "high").click)
        expected = pn.Inference(NET).marginal_bounds({"fever": "high"})
        for name, bounds in expected.items():
            least, most = bounds.necessities()
            for k, label in enumerate(bounds.variables[0].states):
                (low, high), row = bounds[label], state(page, name, label)
                shares = {"band": high, "possible": low, "necessary": least[k]}
                assert widths(row) == pytest.approx(shares, abs=0.01), (name, label)
                words = f"{row.locator('title').text_content()}".split(". ", 1)[1]
                assert words in (row.get_attribute("aria-label") or "")
                for part, ends in zip(words.split("; "), ((low, high), (least[k], most[k])), strict=True):
                    said = [float(number) for number in re.findall(r"\d\.\d{3}", part)]
                    assert [said[0], said[-1]] == pytest.approx(ends, abs=6e-4), (name, label)
                    assert ("known to lie between" in part) == (len(said) == 2)
        said = re.findall(r"\d\.\d{3}", page.locator("#degree").inner_text())[1:]
        low, high = pn.Inference(NET).evidence_bounds({"fever": "high"})
        assert [float(number) for number in said] == pytest.approx([low, high], abs=6e-4)
        page.locator('.head[data-name="flu"]').click()
        panel = page.locator("#panel tr").filter(has=page.locator('[data-state="no"]'))
        low, high = expected["flu"]["no"]
        assert low < high
        shown = panel.locator("td").nth(2).inner_text().split("–")
        assert [float(end) for end in shown] == pytest.approx([low, high], abs=6e-3)
        assert "Π is only known to lie between" in (panel.get_attribute("title") or "")
        shares = {kind: panel.locator(f".{kind}").evaluate("bar => bar.style.width") for kind in ("band", "possible")}
        assert [float(share.rstrip("%")) for share in shares.values()] == pytest.approx(
            [100 * high, 100 * low], abs=0.1
        )
        assert page.locator(".legend").get_by_text("possible at most").is_visible()


@pytest.mark.needs("browser")
def test_a_network_without_bounds_has_no_bands(browser: Browser, clinic: Server) -> None:
    with opened(browser, clinic) as page:
        assert {row.get_attribute("width") for row in page.locator(".card .band").all()} == {"0.0"}
        assert page.locator(".card .point:not([visibility=hidden])").count() == 0
        assert not page.locator(".legend").get_by_text("possible at most").is_visible()
        assert "known to" not in (state(page, "fever", "high").locator("title").text_content() or "")


@pytest.mark.needs("browser")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_band_can_be_told_from_the_bar_and_from_the_card(browser: Browser, bounded: Server, scheme: str) -> None:
    with opened(browser, bounded, color_scheme=scheme) as page:
        row = state(page, "flu", "yes")
        fills = [
            [int(c) for c in re.findall(r"\d+", locator.evaluate("shape => getComputedStyle(shape).fill"))]
            for locator in (page.locator(".card .frame").first, row.locator(".band"), row.locator(".possible"))
        ]
        for first, second in ((0, 1), (1, 2)):
            assert max(abs(a - b) for a, b in zip(fills[first], fills[second], strict=True)) >= 30


def test_answers_carry_the_bounds_of_the_library() -> None:
    session = Session.from_network(NET)
    answer = answer_evidence(session, AnswerRequest({"fever": ["high", "mild"]}))
    evidence = {"fever": {"high", "mild"}}
    assert answer["degree_bounds"] == pn.Inference(NET).evidence_bounds(evidence)
    for name, bounds in pn.Inference(NET).marginal_bounds(evidence).items():
        least, most = bounds.necessities()
        ends = {"lower": bounds.lower, "upper": bounds.upper, "least": least, "most": most}
        assert answer["bounds"][name] == {end: degrees.tolist() for end, degrees in ends.items()}
    assert "bounds" not in answer_evidence(Session.from_network(CLINIC), AnswerRequest({}))


def test_an_edited_context_is_given_and_the_others_keep_their_bounds() -> None:
    session = Session.from_network(NET)
    edited = edit_table(session, EditRequest("flu", {1: [1.0, 0.25]}, 0))
    bounds, before = edited.network.bounds, NET.bounds
    assert bounds is not None
    assert before is not None
    for end, old in zip(bounds, before, strict=True):
        assert end["flu"][1].tolist() == [1.0, 0.25]
        assert end["flu"][0].tolist() == old["flu"][0].tolist()
        assert end["cough"].tolist() == old["cough"].tolist()
    again = edit_table(edited, EditRequest("season", {0: [1.0, 0.5]}, 1))
    reset = reset_tables(again, ResetRequest(2, "flu")).network.bounds
    assert reset is not None
    assert reset.lower["flu"].tolist() == before.lower["flu"].tolist()
    assert reset.upper["season"].tolist() == [1.0, 0.5]
    assert step_history(edited, HistoryRequest("undo", 1)).network == NET
