"""The page of a hold-out check and its figures: the numbers of the check, on narrow and wide screens, light and dark."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import possnet as pn
from possnet import plots
from tests.browsing import contrast, luminance, watched

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def result() -> pn.Check:
    clinic = pn.load_example("clinic")
    rows = pn.sample(clinic, 400, imprecision=0.4, process="traced", rng=1)
    truth = pn.sample(clinic, 400, process="precise", rng=1).column("rash")
    later = pn.Variable("later", clinic.variable("rash").states)
    with_truth = pn.Dataset.from_rows([later], [(truth.cells[code],) for code in truth.codes])
    data = rows.with_columns([with_truth.column("later")])
    return pn.check(pn.Recipe(dag=clinic.dag), data, truth={"rash": "later"}, folds=2)


def lines(axes: Any) -> dict[str, tuple[list[float], list[float]]]:
    return {line.get_label(): (list(line.get_xdata()), list(line.get_ydata())) for line in axes.get_lines()}


def test_bars_and_markers_are_accuracy_and_baselines_best_first(result: pn.Check) -> None:
    (axes,) = plots.accuracy_bars(result.variables).axes
    shown = [label.get_text() for label in axes.get_yticklabels()]
    cells = [result[name] for name in shown]
    assert set(shown) == set(result)
    bars: Any = axes.patches
    assert [bar.get_width() for bar in bars] == [c.accuracy for c in cells]
    assert [c.accuracy for c in cells] == sorted(c.accuracy or 0.0 for c in cells)
    assert lines(axes)["most frequent state"][0] == [c.baseline for c in cells]
    assert lines(axes)["random state"][0] == [c.random for c in cells]
    many = {f"a variable with a name of many letters, number {k}": cells[0] for k in range(60)}
    assert len(plots.accuracy_bars(many).axes[0].patches) == 40


def test_curves_are_what_the_cuts_and_claims_keep(result: pn.Check) -> None:
    held, size, claims = plots.reliability_curves(result.variables, result.overall).axes
    cuts = result.overall.cut_curve
    assert lines(held)["all cells"] == ([p.level for p in cuts], [p.coverage for p in cuts])
    assert lines(held)["promised"] == ([0.0, 1.0], [1.0, 0.0])
    assert len(held.get_lines()) == len(result.variables) + 2
    assert [p.size for p in cuts] in [y for _, y in lines(size).values()]
    points = [p for p in result.overall.claim_curve if p.claimed * result.overall.rows >= 20]
    assert lines(claims)["claims that are right"] == ([p.necessity for p in points], [p.right for p in points])
    for axes in (held, size, claims):
        low, high = axes.get_ylim()
        assert all(low <= y <= high for _, ys in lines(axes).values() for y in ys)
    one = {"rash": result["rash"]}
    assert "the cells" in lines(plots.reliability_curves(one, result["rash"]).axes[0])


def test_the_page_has_the_verdict_every_figure_and_how_it_was_made(result: pn.Check, tmp_path: Path) -> None:
    page = pn.write_check(result, tmp_path / "check.html")
    text = page.read_text("utf-8")
    for part in result.verdict.split("; "):
        assert part[1:] in text
    table = re.findall(r'<td data-v="([^"]+)">', text)
    for cells in (*result.variables.values(), *result.resolved.values()):
        for share in (cells.accuracy, cells.baseline, *cells.coverage.values()):
            assert f"{share:.6g}" in table
    assert "rows left out of learning, fold by fold (2 folds); 400 rows" in text
    assert text == pn.write_check(result, tmp_path / "again.html").read_text("utf-8")
    assert "<title>A trial</title>" in pn.write_check(result, page, title="A trial").read_text("utf-8")
    with pytest.raises(pn.InputError, match=r"check.txt: unknown suffix '.txt'; expected .html"):
        pn.write_check(result, tmp_path / "check.txt")


def test_without_matplotlib_the_page_has_tables_and_says_so(
    result: pn.Check, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("possnet.report.check_page.has_matplotlib", lambda: False)
    text = pn.write_check(result, tmp_path / "check.html").read_text("utf-8")
    assert "<svg" not in text
    assert "Bars and curves need matplotlib" in text
    assert "<table" in text


def test_a_check_of_sets_alone_has_curves_and_no_bars(tmp_path: Path) -> None:
    variable = pn.Variable("a", ("x", "y", "z"))
    net = pn.Network((variable,), pn.Dag({"a": ()}), {"a": [1, 0.3, 0.01]})
    found = pn.check(net, pn.Dataset.from_rows((variable,), [({"x", "y"},), ({"y", "z"},)]))
    text = pn.write_check(found, tmp_path / "check.html").read_text("utf-8")
    assert text.count("<svg") == 1
    assert "count as held where the cut meets the set" in text


@pytest.mark.needs("browser")
@pytest.mark.parametrize(("width", "scheme"), [(400, "light"), (1400, "dark")])
def test_the_page_is_readable_and_asks_nobody(
    browser: Browser, result: pn.Check, tmp_path: Path, width: int, scheme: str
) -> None:
    page = pn.write_check(result, tmp_path / "check.html")
    with watched(browser, page.as_uri(), viewport={"width": width, "height": 900}, color_scheme=scheme) as (tab, asked):
        assert [url for url in asked if not url.startswith("data:")] == [page.as_uri()]
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
        marks = "['h1', '.kind', '.answer p', 'figcaption', 'td', 'dd', 'nav a']"
        colours = tab.evaluate(f"{marks}.map(s => getComputedStyle(document.querySelector(s)).color)")
        paper = tab.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (luminance(paper) < 0.1) == (scheme == "dark")
        assert all(contrast(colour, paper) >= 4.5 for colour in colours)
