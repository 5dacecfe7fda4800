"""Numbers as evidence in the explorer: asked of the server, and typed into the panel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

import possnet as pn
from tests.explorer.test_page import opened, settled, shows, state
from tests.serving import Server, serving

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

AGE = pn.Variable(
    "age", ("young", "middle", "old"), ordered=True, bins=pn.Bins((0, 20, 40, 110), open_ended=False, unit="years")
)
INCOME = pn.Variable("income", ("low", "high"))
NET = pn.Network(
    (AGE, INCOME),
    pn.Dag({"age": (), "income": ("age",)}),
    {"age": [0.6, 1, 0.8], "income": [[1, 0.1], [1, 0.5], [0.3, 1]]},
)


@pytest.fixture(scope="module")
def ages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    path: Path = tmp_path_factory.mktemp("ages") / "net.json"
    pn.write_network(NET, path)
    with serving(path) as server:
        yield server


@pytest.mark.parametrize(
    ("text", "states"),
    [("30", ["middle"]), (">=40", ["old"]), ("15..30", ["young", "middle"]), ("old", ["old"]), ("?", list(AGE.states))],
)
def test_the_server_says_which_states_a_reading_speaks_of(ages: Server, text: str, states: list[str]) -> None:
    assert ages.ask("/api/reading", {"variable": "age", "text": text}).document == {"states": states}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("age", "150", "'age': 150 lies outside 0..110 years"),
        ("age", "lots", "'age': 'lots' is not a reading"),
        ("income", "30", "'30' is not a state of 'income'"),
        ("agee", "30", "no variable 'agee'"),
    ],
)
def test_the_server_refuses_other_readings_with_a_sentence(ages: Server, name: str, text: str, message: str) -> None:
    reply = ages.ask("/api/reading", {"variable": name, "text": text})
    assert reply.status == 422
    assert message in reply.document["error"]


def test_the_network_tells_which_variables_take_numbers(ages: Server) -> None:
    variables = {v["name"]: v["bins"] for v in ages.ask("/api/network").document["variables"]}
    assert variables == {"age": {"text": "edges 0, 20, 40, 110 years, closed", "unit": "years"}, "income": None}


@pytest.mark.needs("browser")
def test_a_number_typed_into_the_panel_is_evidence(browser: Browser, ages: Server) -> None:
    with opened(browser, ages) as page:
        page.locator('.head[data-name="income"]').click()
        assert page.locator("#panel .number").count() == 0
        page.locator('.head[data-name="age"]').click()
        field = page.get_by_label("age as a number")
        for text, states in {"30": {"middle"}, ">=40": {"old"}, "15-30": {"young", "middle"}}.items():
            field.fill(text)
            settled(page, lambda: field.press("Enter"))
            shows(page, NET, {"age": states})
        assert page.locator("#chips li span").all_inner_texts() == ["age = young or middle"]
        settled(page, state(page, "age", "young").click)
        shows(page, NET, {"age": {"middle"}})
        field.fill("150")
        field.press("Enter")
        page.locator("#panel .number .wrong", has_text="150 lies outside 0..110 years").wait_for()
        assert field.get_attribute("aria-invalid") == "true"
        shows(page, NET, {"age": {"middle"}})
        field.fill("?")
        settled(page, page.get_by_role("button", name="Set", exact=True).click)
        shows(page, NET, {})
        assert page.locator("#panel .number .wrong").inner_text() == ""
