"""The story of docs/explorer.md as a test: build the clinic from nothing, load rows, learn, ask why, compare, save."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import possnet as pn
from tests.browsing import watched
from tests.paths import ROOT
from tests.serving import serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.needs("browser")


def test_the_clinic_is_built_learned_explained_compared_and_saved(browser: Browser, tmp_path: Path) -> None:
    story = runpy.run_path(str(ROOT / "examples/figures/explorer_story.py"))
    rows = story["write_rows"](tmp_path)
    told: list[str] = []
    window = {"viewport": {"width": 1280, "height": 800}, "reduced_motion": "reduce"}
    with serving(None, folder=tmp_path) as server, watched(browser, server.address, **window) as (page, _):
        story["tell_story"](page, rows, told.append)
        worst = page.locator(".tornado .line .text").first.inner_text()
    assert told == ["build", "rows", "learned", "why", "compare"]
    clinic = pn.load_example("clinic")
    saved = pn.read_network(tmp_path / "my-clinic.json")
    assert set(saved.dag.edges) == set(clinic.dag.edges)
    assert {v.name: v.states for v in saved.variables} == {v.name: v.states for v in clinic.variables}
    frame = pn.read_data(rows).with_domains(saved.variables)
    learned = pn.fit(saved.dag, frame)
    assert all((saved.table(v.name) == learned.table(v.name)).all() for v in saved.variables)
    from possnet.metrics import compare_tables

    assert worst == compare_tables(clinic, saved).tables[0].name
