"""A scene: the shapes of a picture with their coordinates and colours, before any file format.

`possnet.drawing.svg` makes SVG text of it and `possnet.plots.drawing_figure` a matplotlib figure. Colours are names of
`possnet.drawing.COLOURS`; x grows to the right and y downwards, as in SVG; 96 units are an inch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Point: TypeAlias = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A rectangle with rounded corners; filled, outlined, or both."""

    x: float
    y: float
    width: float
    height: float
    radius: int = 0
    fill: str = ""
    stroke: str = ""
    thickness: float = 0.0


@dataclass(frozen=True, slots=True)
class Label:
    """A text on a base line, from a point onwards, around it or up to it."""

    text: str
    x: float
    y: float
    size: float
    colour: str
    anchor: Literal["start", "middle", "end"] = "start"
    weight: int = 400


@dataclass(frozen=True, slots=True)
class Arrow:
    """A line with a tip at its start, at its end, or without one, and its title: a tooltip.

    A segment is one point, the end of a straight line, or three: two control points and the end of a cubic Bézier curve.
    """

    start: Point
    segments: tuple[tuple[Point, ...], ...]
    colour: str
    thickness: float
    dashes: tuple[float, ...] = ()
    tip: Literal["start", "end", "none"] = "end"
    opacity: float = 1.0
    title: str = ""

    @property
    def tip_size(self) -> int:
        """Length and width of the tip: that of a thick line is larger."""
        return max(7, round(4.0 + 2.2 * self.thickness))


@dataclass(frozen=True, slots=True)
class Group:
    """Shapes that belong together, and their title: a tooltip, and the text for screen readers."""

    title: str
    shapes: tuple[Rectangle | Label, ...]


@dataclass(frozen=True, slots=True)
class Scene:
    """Shapes in the order in which they are drawn, the size of what they cover, and the margin around it."""

    title: str
    shapes: tuple[Rectangle | Label | Arrow | Group, ...]
    width: float
    height: float
    margin: float = 10.0

    @property
    def shows_degrees(self) -> bool:
        """Whether any card has bars; a graph that is drawn by names alone has none.

        >>> Scene("", (Group("rash", (Rectangle(0, 0, 9, 8, fill="possible"),)),), 9, 8).shows_degrees
        True
        """
        groups = (shape for shape in self.shapes if isinstance(shape, Group))
        return any(isinstance(part, Rectangle) and part.fill == "possible" for group in groups for part in group.shapes)
