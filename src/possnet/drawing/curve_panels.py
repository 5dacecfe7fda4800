"""Curves as SVG: small panels side by side, every line labelled where it ends."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, log10
from typing import TYPE_CHECKING, Final

from possnet.drawing.number_format import format_number
from possnet.drawing.scene import Arrow, Group, Label, Rectangle, Scene
from possnet.drawing.svg import render_svg
from possnet.drawing.text_metrics import measure_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from possnet.drawing.scene import Point
    from possnet.drawing.svg import Drawing

_WIDTH: Final = 150.0
_HEIGHT: Final = 96.0
_LEFT: Final = 34.0
_TOP: Final = 24.0
_BOTTOM: Final = 30.0
_LINE: Final = 12.0  # the least distance between two labels
_IN_A_ROW: Final = 4
_COLOURS: Final = ("mark", "necessary", "added", "reversed", "ink", "soft")


@dataclass(frozen=True, slots=True)
class PlainCurve:
    """A line through points (x, y), its label, and the colour of `possnet.drawing.COLOURS` that it has; dashed if asked."""

    label: str
    points: tuple[tuple[float, float], ...]
    colour: str = ""
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class CurvePanel:
    """Curves over one pair of axes, and what stands above them."""

    title: str
    curves: tuple[PlainCurve, ...]


def draw_curves(
    panels: Sequence[CurvePanel], *, title: str, x: str = "", y: str = "", logarithmic: bool = False
) -> Drawing:
    """Draw panels of curves, at most four in a row, all on the same axes.

    Colours go by label, in the order in which labels first stand. A point has its numbers as a tooltip.

    Parameters
    ----------
    x, y
        What the axes show; y stands in the title of the picture.
    logarithmic
        Whether equal ratios of x, which then is positive, are equally far apart.

    Examples
    --------
    >>> picture = draw_curves([CurvePanel("rows", (PlainCurve("EM", ((100, 0.9), (1000, 0.97))),))], title="affinity")
    >>> picture.startswith("<svg"), "EM: 1000, 0.97" in picture
    (True, True)
    """
    points = [point for panel in panels for curve in panel.curves for point in curve.points]
    if not points:
        return render_svg(Scene(title, (Label("nothing to draw", 0.0, 12.0, 11.0, "soft"),), 100.0, 16.0))
    axes = _Axes.of(points, logarithmic=logarithmic)
    labels = list(dict.fromkeys(curve.label for panel in panels for curve in panel.curves))
    colours = {label: _COLOURS[number % len(_COLOURS)] for number, label in enumerate(labels)}
    room = 12.0 + max(measure_text(label, 10.0) for label in labels)
    step = (_LEFT + _WIDTH + room + 8.0, _TOP + _HEIGHT + _BOTTOM)
    shapes: list[Label | Arrow | Group] = []
    for number, panel in enumerate(panels):
        row, column = divmod(number, _IN_A_ROW)
        corner = (_LEFT + column * step[0], _TOP + row * step[1])
        shapes += _draw_panel(panel, corner, axes, colours, x)
    columns, rows = min(len(panels), _IN_A_ROW), -(-len(panels) // _IN_A_ROW)
    name = f"{title}: {y} by {x}" if x and y else title
    return render_svg(Scene(name, tuple(shapes), columns * step[0], rows * step[1]))


@dataclass(frozen=True, slots=True)
class _Axes:
    """The ranges of both axes."""

    left: float
    right: float
    low: float
    high: float
    logarithmic: bool

    @classmethod
    def of(cls, points: Sequence[tuple[float, float]], *, logarithmic: bool) -> _Axes:
        """Ranges that hold all points, with a margin above and below; a point alone stands in the middle."""
        places = [log10(x) if logarithmic else x for x, _ in points]
        heights = [y for _, y in points]
        margin = 0.08 * (max(heights) - min(heights)) or 0.5 * abs(heights[0]) or 0.5
        wide = max(places) - min(places) > 0.0
        left, right = (min(places), max(places)) if wide else (min(places) - 0.5, max(places) + 0.5)
        return cls(left, right, min(heights) - margin, max(heights) + margin, logarithmic)

    def list_ticks(self) -> list[float]:
        """Round numbers within the range of y: the least of 1, 2 and 5 times a power of ten that gives at most four."""
        step = 10.0 ** floor(log10((self.high - self.low) / 4.0))
        step = next(step * k for k in (1.0, 2.0, 5.0, 10.0) if (self.high - self.low) / (step * k) <= 4.0)
        return [k * step for k in range(ceil(self.low / step), floor(self.high / step) + 1)]

    def place(self, point: tuple[float, float], corner: Point) -> Point:
        """Where a point is drawn in a panel whose upper left corner is given."""
        x = log10(point[0]) if self.logarithmic else point[0]
        across, up = (x - self.left) / (self.right - self.left), (point[1] - self.low) / (self.high - self.low)
        return corner[0] + _WIDTH * across, corner[1] + _HEIGHT * (1.0 - up)


def _draw_panel(
    panel: CurvePanel, corner: Point, axes: _Axes, colours: dict[str, str], x: str
) -> list[Label | Arrow | Group]:
    """The frame, the curves and the labels of a panel."""
    left, top = corner
    bottom = top + _HEIGHT
    shapes: list[Label | Arrow | Group] = [
        Label(panel.title, left, top - 9.0, 11.0, "ink", weight=600),
        Arrow((left, top), (((left, bottom),), ((left + _WIDTH, bottom),)), "line", 1.0, tip="none"),
    ]
    values = sorted({point[0] for curve in panel.curves for point in curve.points})
    shown = values if len(values) <= 3 else [values[0], values[-1]]
    bottoms = [(value, axes.place((value, axes.low), corner)[0]) for value in shown]
    shapes += [Label(f"{value:,g}", place, bottom + 12.0, 9.0, "soft", "middle") for value, place in bottoms]
    shapes.append(Label(x, left + _WIDTH / 2, bottom + 23.0, 9.0, "soft", "middle"))
    for value in axes.list_ticks():
        height = axes.place((1.0, value), corner)[1]
        shapes.append(Arrow((left - 3.0, height), (((left, height),),), "line", 1.0, tip="none"))
        shapes.append(Label(format_number(value), left - 5.0, height + 3.0, 9.0, "soft", "end"))
    ends = _spread_labels([axes.place(curve.points[-1], corner)[1] for curve in panel.curves])
    for curve, height in zip(panel.curves, ends, strict=True):
        shapes += _draw_curve(curve, curve.colour or colours[curve.label], corner, axes, height)
    return shapes


def _draw_curve(
    curve: PlainCurve, colour: str, corner: Point, axes: _Axes, height: float
) -> list[Label | Arrow | Group]:
    """A line, its points with their numbers, and its label at the height of its end."""
    places = [axes.place(point, corner) for point in curve.points]
    dashes = (4.0, 3.0) if curve.dashed else ()
    shapes: list[Label | Arrow | Group] = []
    if len(places) > 1:
        shapes.append(Arrow(places[0], tuple((place,) for place in places[1:]), colour, 1.8, dashes, "none"))
    if not curve.dashed and len(places) <= 12:
        for point, (x, y) in zip(curve.points, places, strict=True):
            dot = Rectangle(x - 2.5, y - 2.5, 5.0, 5.0, 2, colour)
            shapes.append(Group(f"{curve.label}: {point[0]:g}, {format_number(point[1])}", (dot,)))
    shapes.append(Label(curve.label, corner[0] + _WIDTH + 7.0, height + 3.0, 10.0, colour))
    return shapes


def _spread_labels(heights: Sequence[float]) -> list[float]:
    """Heights of labels, moved apart where they would overlap, in the same order.

    >>> _spread_labels([10.0, 12.0, 50.0])
    [5.0, 17.0, 50.0]
    """
    order = sorted(range(len(heights)), key=heights.__getitem__)
    groups: list[tuple[list[int], float]] = []  # labels that touch, and the middle of them
    for k in order:
        members, middle = [k], heights[k]
        while groups and middle - (len(members) - 1) * _LINE / 2 < groups[-1][1] + (len(groups[-1][0]) + 1) * _LINE / 2:
            others, centre = groups.pop()
            middle = (middle * len(members) + centre * len(others)) / (len(members) + len(others))
            members = others + members
        groups.append((members, middle))
    spread = [0.0] * len(heights)
    for members, middle in groups:
        for place, k in enumerate(members):
            spread[k] = middle + (place - (len(members) - 1) / 2) * _LINE
    return spread
