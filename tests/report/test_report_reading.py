"""Reading the report: what is there after five seconds, values under the pointer, filters, links, copies, and paper."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import possnet as pn
from possnet.experiment import read_experiment
from possnet.report.narrative import state_question
from possnet.report.terms import TERMS
from possnet.report.verdicts import judge_rows
from tests.browsing import serious_findings, watched
from tests.conftest import AXE

if TYPE_CHECKING:
    from playwright.sync_api import Browser

OPEN_ALL = "document.querySelectorAll('details').forEach(d => { d.open = true; })"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("reading") / "run"
    how: dict[str, Any] = {"rows": [50, 400], "imprecision": [0.5, 1], "repeats": 2, "rng": 1, "workers": 1}
    pn.evaluate(["clinic", "pump"], **how, process=["alpha-cut", "traced"], out=path)
    return pn.write_report(path).parent


@pytest.mark.needs("browser")
@pytest.mark.parametrize("width", [400, 1280, 1920])
def test_three_questions_are_answered_at_the_top_of_the_page(browser: Browser, folder: Path, width: int) -> None:
    """After five seconds: can it be learned, by what and how well beside knowing nothing, and would more rows help?"""
    verdicts = judge_rows(read_experiment(folder).results)
    with watched(browser, (folder / "report.html").as_uri(), viewport={"width": width, "height": 1000}) as (page, _):
        cards = page.locator(".card").all()
        assert len(cards) == len(verdicts) == 2
        for card, verdict in zip(cards, verdicts, strict=True):
            text = re.sub(r"\s+", " ", card.inner_text())
            assert ("Learnable" in text) == verdict.is_learnable
            assert f"{verdict.means[verdict.best]:.2f}" in text
            assert f"knowing nothing {verdict.ignorance:.2f}" in (card.locator("svg").get_attribute("aria-label") or "")
            assert re.search(r"more rows (?:hardly |do not )?help", text)
        if width > 1000:  # both cards, and the links below them, are in the first window
            assert page.locator("nav").bounding_box()["y"] < 1000  # type: ignore[index]
            assert cards[0].bounding_box()["y"] == cards[1].bounding_box()["y"]  # type: ignore[index]


@pytest.mark.needs("browser")
@pytest.mark.needs("axe")
@pytest.mark.parametrize(("width", "scheme"), [(400, "light"), (1280, "dark"), (1280, "light")])
def test_axe_finds_nothing_serious(browser: Browser, folder: Path, width: int, scheme: str) -> None:
    window = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
    with watched(browser, (folder / "report.html").as_uri(), **window) as (page, _):
        page.evaluate(OPEN_ALL)
        assert serious_findings(page, AXE) == []


@pytest.mark.needs("browser")
def test_filters_show_what_was_chosen_and_the_best_learner_is_marked(browser: Browser, folder: Path) -> None:
    summaries = read_experiment(folder).results.summary("child_affinity")
    with watched(browser, (folder / "report.html").as_uri()) as (page, _):
        page.evaluate(OPEN_ALL)
        page.locator("select[data-column='0']").select_option("pump")
        page.locator("select[data-column='4']").select_option("EM")
        shown = page.locator("tbody tr:visible")
        assert shown.count() == sum(s.network == "pump" and s.learner == "em" for s in summaries)
        assert page.locator("output").inner_text() == f"{shown.count()} of {len(summaries)} lines"
        page.locator("select[data-column='4']").select_option("")
        settings: dict[tuple[object, ...], dict[str, float]] = {}
        for s in summaries:
            settings.setdefault(s[:4], {})[f"{s.mean:.6g}"] = s.mean
        best = {max(means, key=means.__getitem__) for means in settings.values()}
        marked = page.evaluate("[...document.querySelectorAll('tr.best')].map(r => r.cells[5].dataset.v)")
        assert set(marked) == best
        assert len(marked) == len(settings)


@pytest.mark.needs("browser")
def test_links_open_what_is_folded_and_panels_have_addresses(browser: Browser, folder: Path) -> None:
    with watched(browser, f"{(folder / 'report.html').as_uri()}#figure-curves-pump") as (page, _):
        assert page.locator("#figure-curves-pump").is_visible()
        assert page.locator("#learning-curves").get_attribute("open") is not None
        panel = page.locator("#figure-curves-pump .two g[id$='panel-pump-traced-1']")
        assert panel.count() == 1
        panel.locator("text").first.click()
        assert page.evaluate("location.hash").endswith("panel-pump-traced-1")
        names = page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
        assert len(names) == len(set(names))


@pytest.mark.needs("browser")
def test_figures_and_their_captions_are_copied(browser: Browser, folder: Path) -> None:
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto((folder / "report.html").as_uri())
    figure = page.locator("#figure-overview")
    figure.get_by_role("button", name="copy LaTeX caption").click()
    figure.get_by_role("button", name="copied").wait_for()
    figure.get_by_role("button", name="copy LaTeX caption").wait_for()  # it says so for a moment
    latex = page.evaluate("navigator.clipboard.readText()")
    assert latex.startswith("\\includegraphics{figures/overview.pdf}\n\\caption{2 networks, 400 rows: ")
    assert "95 \\%" in latex or "thin lines" in latex
    figure.get_by_role("button", name="copy figure").click()
    figure.get_by_role("button", name="copied").wait_for()
    assert page.evaluate("navigator.clipboard.read().then(items => items[0].types)") == ["image/png"]
    context.close()
    for link in re.findall(r'href="(figures/[^"]+)"', (folder / "report.html").read_text(encoding="utf-8")):
        assert (folder / link).exists()


def test_every_figure_is_named_by_its_message_and_has_its_network_inside(folder: Path) -> None:
    text = (folder / "report.html").read_text(encoding="utf-8")
    labels = re.findall(r'<svg class="plot" role="img" aria-label="([^"]+)"', text)
    assert len(labels) >= 10
    assert all(re.match(r"(clinic|pump|2 networks)[,:] ", label) and label.endswith(".") for label in labels)
    for figure in re.findall(r"<figure id=\"figure-\w+-(clinic|pump)\">(.*?)</figure>", text, flags=re.DOTALL):
        forms = re.findall(r"<svg.*?</svg>", figure[1], flags=re.DOTALL)
        assert len(forms) == 2
        for form in forms:
            words = "".join(re.findall(r"<text[^>]*>([^<]*)", form))
            assert figure[0] in words


def test_the_title_is_short_and_every_term_is_explained_once(folder: Path, tmp_path: Path) -> None:
    text = (folder / "report.html").read_text(encoding="utf-8")
    explained = re.findall(r"<dfn title=\"([^\"]+)\" tabindex=\"0\">([^<]+)</dfn>", text)
    names = [name.lower() for _, name in explained]
    assert len(names) == len(set(names))
    assert {
        "counting",
        "em",
        "cut likelihood",
        "alpha-cut rows",
        "traced rows",
        "imprecision",
        "knowing nothing",
    } <= set(names)
    assert all(len(meaning) <= 110 for meaning in TERMS.values())
    assert "dfn::after" in text  # on paper, in brackets
    long = {f"a network with quite a long name, number {k}": pn.random_network(3, rng=k) for k in range(4)}
    for networks in (long, dict([next(iter(long.items()))]), {"x" * 300: pn.random_network(3, rng=1)}):
        how: dict[str, Any] = {"rows": [20, 30], "imprecision": 1, "learners": "likelihood", "repeats": 1, "rng": 1}
        results = pn.evaluate(
            networks, **how, workers=1, out=tmp_path / str(len(networks)) / str(len(next(iter(networks))))
        )
        assert len(state_question(results.experiment)) <= 110
        assert state_question(results.experiment).endswith("learned back from 20 to 30 imprecise rows?")


def test_of_many_networks_the_hardest_are_shown_and_the_page_says_what_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    networks = {f"net {k}": pn.random_network(3, rng=k) for k in range(12)}
    how: dict[str, Any] = {"rows": 30, "imprecision": [0.25, 0.5, 0.75, 1], "repeats": 1, "rng": 1, "workers": 1}
    results = pn.evaluate(networks, **how, out=tmp_path / "run")

    def draw_nothing(*_: Any, **__: Any) -> str:
        return "<svg></svg>"

    monkeypatch.setattr("possnet.report.report_files.save_figure", draw_nothing)
    text = pn.write_report(results.experiment).read_text(encoding="utf-8")
    ends: dict[str, dict[tuple[str, float], float]] = {}
    for s in results.summary("child_affinity"):
        own = ends.setdefault(s.network, {})
        own[s.process, s.imprecision] = max(s.mean, own.get((s.process, s.imprecision), 0.0))
    hardest = sorted(networks, key=lambda name: sum(ends[name].values()))[:4]
    shown = {name.replace("_", " ") for name in re.findall(r'<figure id="figure-variables-([^"]+)"', text)}
    assert shown == set(hardest)
    sentence = text.partition("Left out: figures of ")[2].partition(";")[0]
    assert all((name in sentence) == (name not in shown) for name in ("net 2", "net 3", "net 4", "net 5", "net 6"))
    assert len(text) < 2_000_000
    monkeypatch.setattr("possnet.report.report_files._MOST_BYTES", len(text) - 8_000)
    short = pn.write_report(results.experiment).read_text(encoding="utf-8")
    left_out = short.partition("To keep this page small, ")[2].partition(".</p>")[0]
    assert "contexts-" in left_out  # what matters least
    assert "overview" not in left_out
    assert len(re.findall(r'<figure id="figure-curves-', short)) == 4
