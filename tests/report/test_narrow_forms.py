"""Drawings for narrow screens say what their captions say; pale bars and thin lines are seen; numbers of axes do not touch."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

import possnet as pn
from possnet.drawing import COLOURS, Bar, Group, Rectangle, draw_bars, measure_text
from possnet.plots import COLOURS as PLOT_COLOURS, draw_network
from possnet.plots.panel_grid import thin_out
from possnet.report.html_page import ReportPicture, figure_markup
from possnet.report.report_pictures import draw_form
from tests.browsing import contrast


def rgb(colour: str) -> str:
    return f"rgb({', '.join(str(int(colour[k : k + 2], 16)) for k in (1, 3, 5))})"


@pytest.mark.parametrize("name", ["asia", "clinic", "pump"])
def test_a_wide_network_keeps_its_bars_in_a_narrow_drawing(name: str) -> None:
    network = pn.load_example(name)
    narrow, usual = draw_network(network, widest=430.0).scene, draw_network(network).scene
    assert narrow.width <= 430.0
    assert narrow.shows_degrees

    def titles(shapes: Any) -> set[str]:
        return {shape.title for shape in shapes if isinstance(shape, Group)}

    assert titles(narrow.shapes) == titles(usual.shapes)


def test_a_drawing_without_bars_has_a_caption_without_bars() -> None:
    small, large = pn.load_example("clinic"), pn.random_network(24, rng=3)
    assert draw_form(small, "small", 1).scene.shows_degrees
    assert not draw_form(large, "large", 1).scene.shows_degrees
    assert draw_form(large, "large", 2).scene.shows_degrees
    words = figure_markup(ReportPicture("", "<svg/>", "with bars", "x", "<svg/>", "large.", "names alone"))
    assert '<span class="two">large. with bars</span><span class="one">large. names alone</span>' in words


@pytest.mark.parametrize("scheme", [0, 1])
def test_what_is_drawn_stands_out_from_the_page(scheme: int) -> None:
    """A contrast of 3 (WCAG 1.4.11) for lines and for the ends of bars; shades, grids and frames do not count."""
    quiet = {"rule", "band", "paper", *(name for name in PLOT_COLOURS if name.startswith("heat"))}
    paper = rgb(PLOT_COLOURS["paper"][scheme])
    for name, colours in PLOT_COLOURS.items():
        assert name in quiet or contrast(rgb(colours[scheme]), paper) >= 3.0, name
    card = rgb(COLOURS["card"][scheme])
    bars = draw_bars([Bar("none", 1.0, 0.4), Bar("mild", 0.6), Bar("high", 0.5, band=(0.2, 0.5))], title="fever").scene
    filled = [part for g in bars.shapes if isinstance(g, Group) for part in g.shapes if isinstance(part, Rectangle)]
    filled = [part for part in filled if part.fill not in {"", "card"}]
    assert len(filled) == 5
    for part in filled:
        assert contrast(rgb(COLOURS[part.stroke or part.fill][scheme]), card) >= 3.0, part


def test_numbers_below_an_axis_do_not_touch() -> None:
    texts, places = ["30", "100", "300", "1,000", "10,000", "∞"], [0.07, 0.22, 0.35, 0.5, 0.78, 1.0]
    shown = [(place, text) for place, text in zip(places, thin_out(texts, places, 1.2), strict=True) if text]
    assert shown[0][1] == "30"
    assert shown[-1][1] == "∞"
    assert len(shown) >= 3
    for (x, left), (y, right) in pairwise(shown):
        assert x + measure_text(left, 8.0) / 144 < y - measure_text(right, 8.0) / 144
