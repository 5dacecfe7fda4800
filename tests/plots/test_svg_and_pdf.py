"""One walk through a figure writes the SVG text and the PDF that matplotlib would write in two."""

from __future__ import annotations

import io
import re
import zlib
from typing import Any

import numpy as np
import pytest

import possnet as pn
from possnet import plots

pytest.importorskip("matplotlib")

from possnet.plots.figure_style import _styled
from possnet.plots.svg_and_pdf import _rounded_numbers, draw_svg_and_pdf


def read_page(content: bytes) -> bytes:
    streams = re.findall(rb"stream\r?\n(.*?)endstream", content, flags=re.DOTALL)
    return zlib.decompress(streams[0].rstrip(b"\r\n"))


def saved_alone(figure: Any) -> tuple[str, bytes]:
    """What matplotlib itself writes, in two walks."""
    text, page = io.StringIO(), io.BytesIO()
    with _styled():
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
        with _rounded_numbers():
            figure.savefig(page, format="pdf", facecolor="white")
    return text.getvalue(), page.getvalue()


@pytest.fixture(scope="module")
def figures() -> dict[str, Any]:
    asia = pn.load_example("asia")
    results = pn.evaluate(["asia"], rows=[50, 200], imprecision=1, process="traced", repeats=2, rng=1, workers=1)
    return {
        "curves": plots.learning_curves(results),
        "heat map": plots.variable_heatmap(results, "asia"),
        "bounds": plots.bounds_figure(pn.identify_degrees(asia), truth=asia),
        "drawing": plots.drawing_figure(pn.draw_network(asia)),
    }


@pytest.mark.parametrize("kind", ["curves", "heat map", "bounds", "drawing"])
def test_one_walk_writes_what_two_would(figures: dict[str, Any], kind: str) -> None:
    """The same SVG text; in the PDF, as many texts, markers and lines, at the same places."""
    figure = figures[kind]
    before = figure.dpi, figure.get_facecolor()
    with _styled():
        text, content = draw_svg_and_pdf(figure)
    assert (figure.dpi, figure.get_facecolor()) == before
    expected_text, expected = saved_alone(figure)
    assert text == expected_text
    page, expected_page = read_page(content), read_page(expected)
    places, wanted = (
        np.array(
            [[float(number) for number in line.split()] for line in re.findall(rb"^(.*) cm$", p, flags=re.MULTILINE)]
        )
        for p in (page, expected_page)
    )
    assert len(wanted) > 5
    assert places == pytest.approx(wanted, abs=0.2)  # points: text is measured in slightly different ways
    for operator in (rb" Do$", rb"^S$", rb"^B$", rb"^f$"):
        assert len(re.findall(operator, page, flags=re.MULTILINE)) == len(
            re.findall(operator, expected_page, flags=re.MULTILINE)
        ), operator


def test_lines_of_bounds_are_equally_high_in_all_panels_and_markers_are_whole() -> None:
    """Panels of few and of many lines; at the ends of the axes, there is room for half a marker."""
    pump = pn.load_example("pump")
    for columns in (1, 2):
        figure = plots.bounds_figure(pn.identify_degrees(pump), truth=pump, columns=columns)
        figure.draw_without_rendering()
        wide, total = figure.get_size_inches()
        boxes = [axes.get_position() for axes in figure.axes]
        lines = [box.height * total / len(axes.texts) for axes, box in zip(figure.axes, boxes, strict=True)]
        assert lines == pytest.approx([lines[0]] * len(lines))
        for axes, box in zip(figure.axes, boxes, strict=True):
            low, high = axes.get_xlim()
            assert min(-low, high - 1.0) / (high - low) * box.width * wide * 72 >= 5.2 / 2
            assert all(label.get_window_extent().x0 >= 0 for label in axes.texts)
        for first, second in zip(boxes, boxes[1:], strict=False):
            assert first.y0 >= second.y1 or first.x1 <= second.x0
