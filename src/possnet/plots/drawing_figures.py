"""Drawings as matplotlib figures, so that they can be saved for papers beside the other figures."""

from __future__ import annotations

from math import atan2, cos, sin
from typing import TYPE_CHECKING, Any, Final

from possnet.doors import check_arguments
from possnet.drawing import COLOURS, Arrow, Group, Label, Rectangle
from possnet.plots.figure_style import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from possnet.drawing import Drawing

_POINTS: Final = 0.75  # of a unit of the scene: 96 units or 72 points are an inch
_FONT: Final = 0.92  # the figure's font is wider than the one that drawings are measured with
_SIDES: Final[dict[str, Any]] = {"start": "left", "middle": "center", "end": "right"}
_TIP: Final = ((-0.25, -0.5), (0.75, 0.0), (-0.25, 0.5))  # corners of a tip of size 1 that points to the right


@check_arguments
def drawing_figure(drawing: Drawing) -> Figure:
    """Draw the scene of a drawing as a figure, in its light colours; 96 of its units are an inch.

    >>> from possnet.drawing import Bar, draw_bars
    >>> figure = drawing_figure(draw_bars([Bar("none", 1.0, 0.4)], title="fever"))
    >>> len(figure.axes), len(figure.axes[0].texts) >= 3
    (1, True)
    """
    scene = drawing.scene
    margin, width, height = scene.margin, scene.width + 2 * scene.margin, scene.height + 2 * scene.margin
    with new_figure(width / 96, height / 96, placed=True) as figure:
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set_xlim(-margin, width - margin)
        axes.set_ylim(height - margin, -margin)
        axes.set_axis_off()
        shapes = [part for shape in scene.shapes for part in (shape.shapes if isinstance(shape, Group) else (shape,))]
        for order, shape in enumerate(shapes):
            if isinstance(shape, Rectangle):
                _add_rectangle(axes, shape, order)
            elif isinstance(shape, Label):
                _add_label(axes, shape, order)
            else:
                _add_arrow(axes, shape, order)
        return figure


def _light_colour(name: str) -> str:
    return COLOURS[name][0] if name else "none"


def _add_rectangle(axes: Axes, shape: Rectangle, order: int) -> None:
    from matplotlib.patches import FancyBboxPatch

    radius = min(float(shape.radius), shape.width / 2, shape.height / 2)
    axes.add_patch(
        FancyBboxPatch(
            (shape.x, shape.y),
            shape.width,
            shape.height,
            boxstyle=f"round,pad=0,rounding_size={radius}" if radius > 0.1 else "square,pad=0",
            facecolor=_light_colour(shape.fill),
            edgecolor=_light_colour(shape.stroke),
            lw=_POINTS * shape.thickness,
            zorder=order,
        )
    )


def _add_label(axes: Axes, shape: Label, order: int) -> None:
    axes.text(
        shape.x,
        shape.y,
        shape.text,
        fontsize=_POINTS * _FONT * shape.size,
        color=_light_colour(shape.colour),
        ha=_SIDES[shape.anchor],
        va="baseline",
        weight="bold" if shape.weight >= 600 else "normal",
        zorder=order,
    )


def _add_arrow(axes: Axes, shape: Arrow, order: int) -> None:
    from matplotlib.patches import PathPatch, Polygon
    from matplotlib.path import Path

    points = [shape.start, *(point for segment in shape.segments for point in segment)]
    codes: list[Any] = [Path.MOVETO]
    for segment in shape.segments:
        codes += [Path.LINETO] if len(segment) == 1 else [Path.CURVE4] * 3
    colour = _light_colour(shape.colour)
    dashes = (0, tuple(0.5 * dash for dash in shape.dashes)) if shape.dashes else "-"
    line = Path(points, codes)
    width = _POINTS * shape.thickness
    axes.add_patch(PathPatch(line, fc="none", ec=colour, lw=width, ls=dashes, zorder=order, alpha=shape.opacity))
    if shape.tip == "none":
        return
    backwards = points[::-1] if shape.tip == "end" else points
    x1, y1 = backwards[0]
    x0, y0 = next(point for point in backwards if point != backwards[0])
    angle = atan2(y1 - y0, x1 - x0)
    tip = [(shape.tip_size * u, shape.tip_size * v) for u, v in _TIP]
    corners = [(x1 + u * cos(angle) - v * sin(angle), y1 + u * sin(angle) + v * cos(angle)) for u, v in tip]
    axes.add_patch(Polygon(corners, closed=True, fc=colour, ec="none", zorder=order, alpha=shape.opacity))
