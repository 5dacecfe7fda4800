"""Drawings as matplotlib figures, so that they can be saved for papers beside the other figures."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from math import atan2, cos, sin
from typing import TYPE_CHECKING, Any

from possnet.plots.figure_style import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from possnet.drawing import Picture

_SVG = "{http://www.w3.org/2000/svg}"
_FONT = 0.92  # the figure's font is wider than the one that drawings are measured with


def drawing_figure(picture: Picture) -> Figure:
    """A drawing of `possnet.drawing` in its light colours, as a figure; 96 of its units are an inch.

    >>> from possnet.drawing import Bar, draw_bars
    >>> figure = drawing_figure(draw_bars([Bar("none", 1.0, 0.4)], title="fever"))
    >>> len(figure.axes), len(figure.axes[0].texts) >= 3
    (1, True)
    """
    root = ET.fromstring(picture)  # noqa: S314 - our own text
    x, y, width, height = (float(number) for number in root.attrib["viewBox"].split())
    style = "".join(text.text or "" for text in root.iter(f"{_SVG}style"))
    colours = dict(re.findall(r"--([\w-]+):(#[0-9a-f]+)", style.partition("@media")[0]))
    with new_figure(width / 96, height / 96) as figure:
        figure.set_layout_engine("none")
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set_xlim(x, x + width)
        axes.set_ylim(y + height, y)
        axes.set_axis_off()
        for number, element in enumerate(root.iter()):
            kind = element.tag.removeprefix(_SVG)
            if kind == "rect":
                _rectangle(axes, element.attrib, colours, number)
            elif kind == "text":
                _text(axes, element, colours, number)
            elif kind == "path" and "stroke" in element.attrib:
                _path(axes, element.attrib, colours, number)
        return figure


def _colour(text: str | None, colours: dict[str, str]) -> str:
    name = re.match(r"var\(--([\w-]+)\)", text or "none")
    return colours[name[1]] if name else text or "none"


def _rectangle(axes: Axes, given: dict[str, str], colours: dict[str, str], order: int) -> None:
    from matplotlib.patches import FancyBboxPatch

    x, y, width, height = (float(given[name]) for name in ("x", "y", "width", "height"))
    radius = min(float(given.get("rx", 0)), width / 2, height / 2)
    axes.add_patch(
        FancyBboxPatch(
            (x, y),
            width,
            height,
            boxstyle=f"round,pad=0,rounding_size={radius}" if radius > 0.1 else "square,pad=0",
            facecolor=_colour(given.get("fill"), colours),
            edgecolor=_colour(given.get("stroke"), colours),
            lw=0.75 * float(given.get("stroke-width", 0)),
            zorder=order,
        )
    )


def _text(axes: Axes, element: ET.Element, colours: dict[str, str], order: int) -> None:
    given = element.attrib
    sides: dict[str, Any] = {"start": "left", "middle": "center", "end": "right"}
    axes.text(
        float(given["x"]),
        float(given["y"]),
        element.text or "",
        fontsize=0.75 * _FONT * float(given["font-size"]),
        color=_colour(given["fill"], colours),
        ha=sides[given["text-anchor"]],
        va="baseline",
        weight="bold" if given.get("font-weight") == "600" else "normal",
        zorder=order,
    )


def _path(axes: Axes, given: dict[str, str], colours: dict[str, str], order: int) -> None:
    from matplotlib.patches import PathPatch, Polygon
    from matplotlib.path import Path

    points: list[tuple[float, float]] = []
    codes: list[Any] = []
    for letter, numbers in re.findall(r"([MLC])([^MLC]*)", given["d"]):
        values = [float(number) for number in numbers.split()]
        pairs = list(zip(values[::2], values[1::2], strict=True))
        points += pairs
        codes += [{"M": Path.MOVETO, "L": Path.LINETO, "C": Path.CURVE4}[letter]] * len(pairs)
    colour = _colour(given["stroke"], colours)
    dashes = [0.5 * float(n) for n in given.get("stroke-dasharray", "").split()]
    axes.add_patch(
        PathPatch(
            Path(points, codes),
            facecolor="none",
            edgecolor=colour,
            lw=0.75 * float(given["stroke-width"]),
            ls=(0, tuple(dashes)) if dashes else "-",
            zorder=order,
        )
    )
    backwards = points[::-1] if "marker-end" in given else points
    x1, y1 = backwards[0]
    x0, y0 = next(point for point in backwards if point != backwards[0])
    turn = atan2(y1 - y0, x1 - x0)
    tip = [(-1.75, -3.5), (5.25, 0.0), (-1.75, 3.5)]
    corners = [(x1 + u * cos(turn) - v * sin(turn), y1 + u * sin(turn) + v * cos(turn)) for u, v in tip]
    axes.add_patch(Polygon(corners, closed=True, facecolor=colour, edgecolor="none", zorder=order))
