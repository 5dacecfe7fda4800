"""Panels of curves in a grid: a row for each kind of rows, a column for each imprecision, lines labelled where they end.

A panel is a value, so that what is drawn can be tested without drawing. All panels share their axes. What a learner
converges to with endless rows stands at the end of the axis, at ∞, as an open marker in its learner's colour: never under
a line. Lines drawn later are thinner than those before, so that two that coincide are both seen. A panel that is alone in
its row is as wide as the grid.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp, log
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final

from possnet.drawing import measure_text
from possnet.plots.figure_style import (
    COLOURS,
    PANEL,
    WIDTHS,
    Columns,
    LineStyle,
    hover_id,
    new_figure,
    place_absent_labels,
    tidy_axes,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SIZE: Final = 8.0
_LEFT, _TOP, _BOTTOM, _TITLE, _ROW_TITLE, _GAP = 0.56, 0.26, 0.4, 0.25, 0.15, 0.13
_LABEL_ROOM: Final = {1: 1.0, 2: 1.4}  # the most inches for labels beside the panels
_MARGIN: Final = 0.07  # inches beside the first and the last marker
_SPACING: Final = 1.25  # lines of text, in their size
IGNORANCE: Final = LineStyle("ignorance", (0, (1, 1.6)), "")


@dataclass(frozen=True, slots=True)
class Point:
    """A mean, half the width of its interval, what the pointer is told, and the ends of a range that is shown instead."""

    place: float
    mean: float
    half: float = 0.0
    text: str = ""
    ends: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Curve:
    """A line: its label (none for one that stays in the background), its look, its points, and where it would end at ∞."""

    label: str
    style: LineStyle
    points: tuple[Point, ...]
    limit: Point | None = None
    shade: float = 0.15

    @property
    def end(self) -> float:
        """The height at which it leaves the panel, where its label belongs."""
        return self.points[-1].mean if self.limit is None else self.limit.mean


@dataclass(frozen=True, slots=True)
class Panel:
    """Curves under a title; ``key`` names it for links, ``row`` is the title of the row of panels that it belongs to."""

    key: str
    row: str
    title: str
    curves: tuple[Curve, ...]

    @property
    def whole_title(self) -> str:
        """What it shows, without the panels around it."""
        return ", ".join(filter(None, (self.row, self.title)))

    @property
    def labelled(self) -> list[Curve]:
        """Curves with a label."""
        return [curve for curve in self.curves if curve.label]


@dataclass(frozen=True, slots=True)
class Axis:
    """What panels share: the places that occur with their texts, a scale of logarithms or not, and whether ∞ is shown."""

    label: str
    places: tuple[float, ...]
    texts: tuple[str, ...]
    endless: bool = False
    log_places: bool = False
    log_heights: bool = False

    @property
    def is_single(self) -> bool:
        """Whether there is a single place, so that there are no lines to draw."""
        return len(self.places) == 1

    @property
    def infinity(self) -> float:
        """Where ∞ stands."""
        first, last = self.places[0], self.places[-1]
        return last * max((last / first) ** 0.36, 2.1) if self.log_places else last + 0.3 * (last - first)

    def interval(self, point: Point) -> tuple[float, float]:
        """The ends of a point's interval; on a scale of logarithms that of the logarithm (delta method): positive.

        >>> Axis("rows", (1.0,), ("1",)).interval(Point(1.0, 0.5, 0.1))
        (0.4, 0.6)
        """
        if point.ends is not None:
            return point.ends
        if self.log_heights and point.mean > 0.0:
            factor = exp(min(point.half / point.mean, 3.0))
            return point.mean / factor, point.mean * factor
        return point.mean - point.half, point.mean + point.half


def draw_grid(
    rows: Sequence[Sequence[Panel]],
    axis: Axis,
    *,
    heading: str,
    ylabel: str,
    columns: Columns,
    truth: float | None = None,
) -> Figure:
    """Draw rows of panels under a heading; in one column of a paper, the panels stand below each other.

    ``truth`` is the height of the truth, which is kept in view.
    """
    if columns == 1:
        rows = [[panel] for row in rows for panel in row]
    rows = [[replace(row[0], row="", title=row[0].whole_title)] if len(row) == 1 else row for row in rows]
    across = max(map(len, rows))
    room = min(max(_label_width(row[-1], columns) for row in rows), _LABEL_ROOM[columns]) + 0.2
    height = _panel_height(rows, columns)
    lines = wrap(heading, 100 if columns == 2 else 46)
    top = _TOP + 0.15 * (len(lines) - 1)
    heads = [_TITLE + (_ROW_TITLE if row[0].row else 0.0) for row in rows]
    total = top + len(rows) * height + sum(heads) + _BOTTOM
    limits = _height_limits(rows, axis, truth)
    wide, gap = WIDTHS[columns] - _LEFT - room, _panel_gap(axis)
    with new_figure(WIDTHS[columns], total, placed=True) as figure:
        figure.text(0.06 / WIDTHS[columns], 1 - 0.06 / total, "\n".join(lines), va="top", ha="left", weight="bold")
        for number, row in enumerate(rows):
            width = (wide - gap * (across - 1)) / across if len(row) > 1 else wide
            bottom = total - top - (number + 1) * height - sum(heads[: number + 1])
            if row[0].row:
                above = (bottom + height + _TITLE - 0.04) / total
                figure.text(_LEFT / WIDTHS[columns], above, row[0].row, va="bottom", ha="left", weight="bold")
            for place, panel in enumerate(row):
                left = _LEFT + place * (width + gap)
                box = (left / WIDTHS[columns], bottom / total, width / WIDTHS[columns], height / total)
                axes = figure.add_axes(box)
                axes.set_gid(f"{PANEL}{panel.key}")
                _draw_panel(axes, panel, axis, limits, width)
                _label_axes(
                    axes,
                    ylabel if place == 0 and columns == 2 else "",
                    first=place == 0,
                    last=number == len(rows) - 1,
                    height=height,
                    width=width,
                )
            _write_labels(axes, row[-1], limits, axis, height, columns)
        figure.text((_LEFT + wide / 2) / WIDTHS[columns], 0.05 / total, axis.label, va="bottom", ha="center")
        return figure


def _panel_gap(axis: Axis) -> float:
    """Inches between two panels: so many that the last number of one does not touch the first of the next."""
    texts = [*axis.texts, "∞"] if axis.endless else axis.texts
    beside = sum(measure_text(text, _SIZE) / 144 - _MARGIN for text in (texts[0], texts[-1]))
    return max(_GAP, beside + 0.08)


def _panel_height(rows: Sequence[Sequence[Panel]], columns: Columns) -> float:
    """Inches: enough for the labels of every row, and no more than a page of a paper for all."""
    lines = max(sum(len(_wrap_label(curve.label, columns)) for curve in row[-1].labelled) for row in rows)
    least = lines * _SIZE * _SPACING / 72 + 0.04
    usual = 1.5 if len(rows) < 4 else 1.15 if len(rows) < 7 else 0.95
    return max(least, usual)


def _height_limits(rows: Sequence[Sequence[Panel]], axis: Axis, truth: float | None) -> tuple[float, float]:
    """The heights that all panels show: every mean, every interval and every limit, with some room."""
    heights = [] if truth is None else [truth]
    for panel in (panel for row in rows for panel in row):
        for curve in panel.curves:
            heights += [end for point in curve.points for end in axis.interval(point)]
            heights += [curve.limit.mean] if curve.limit is not None else []
    low, high = min(heights), max(heights)
    if axis.log_heights:
        low = min((y for y in heights if y > 0.0), default=0.01)
        return low / 1.25, max(high, low) * 1.25
    pad = 0.06 * (high - low) or 0.05
    return low - pad, high + pad


def _draw_panel(axes: Axes, panel: Panel, axis: Axis, limits: tuple[float, float], width: float) -> None:
    """Draw the curves of a panel that is ``width`` inches wide."""
    tidy_axes(axes)  # before there are many ticks, each of which would be changed
    learned = [curve for curve in panel.curves if curve.style.marker and curve.label]
    for curve in panel.curves:
        if curve not in learned:
            _draw_background(axes, curve, axis)
    for number, curve in enumerate(learned):
        _draw_curve(axes, curve, axis, number, len(learned))
    if axis.log_places and not axis.is_single:
        axes.set_xscale("log")
    places, texts = list(axis.places), list(axis.texts)
    if axis.is_single:
        places = [0.0]
        axes.set_xlim(-3.0, 3.0)
    elif axis.endless:
        places, texts = [*places, axis.infinity], [*texts, "∞"]
    axes.set_xticks(places, texts)
    axes.xaxis.minorticks_off()
    if not axis.is_single:
        ends = [(log(x) if axis.log_places else x) for x in (places[0], places[-1])]
        beside = _MARGIN / (width - 2 * _MARGIN) * (ends[1] - ends[0])
        axes.set_xlim(*((exp(x) if axis.log_places else x) for x in (ends[0] - beside, ends[1] + beside)))
    if axis.log_heights:
        _set_log_heights(axes, limits)
    axes.set_ylim(*limits)
    axes.set_title(panel.title, pad=3.5)


def _set_log_heights(axes: Axes, limits: tuple[float, float]) -> None:
    """Make the heights logarithmic, with three numbers beside them or more, however near the limits are."""
    from matplotlib.ticker import LogLocator

    axes.set_yscale("log")
    ratio = limits[1] / limits[0]
    steps = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0) if ratio < 6 else (1.0, 2.0, 5.0) if ratio < 120 else (1.0,)
    axes.yaxis.set_major_locator(LogLocator(subs=steps))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.yaxis.minorticks_off()


def _draw_background(axes: Axes, curve: Curve, axis: Axis) -> None:
    """Draw what curves are compared with: the line of ignorance, or the networks behind a mean."""
    style, xs = curve.style, [point.place for point in curve.points]
    look: dict[str, Any] = {"color": COLOURS[style.colour][0], "ls": style.dashes, "lw": 1.5 if curve.label else 0.6}
    look |= {"label": curve.label or "_background", "zorder": 1.5}
    means = [point.mean for point in curve.points]
    if axis.is_single or len(set(means)) == 1:
        axes.axhline(means[0], **look)
    else:
        axes.plot(xs, means, **look)


def _draw_curve(axes: Axes, curve: Curve, axis: Axis, number: int, among: int) -> None:
    """Draw a curve with its interval; the later, the thinner, so that no curve hides another."""
    style, colour = curve.style, COLOURS[curve.style.colour][0]
    xs, means = [point.place for point in curve.points], [point.mean for point in curve.points]
    later = number / max(1, among - 1)
    look: dict[str, Any] = {"color": colour, "ls": style.dashes if number else "-", "marker": style.marker}
    look |= {"ms": 5.8 - 2.2 * later, "lw": 2.5 - 1.2 * later, "zorder": 2.0 + later, "label": curve.label}
    ends = [axis.interval(point) for point in curve.points]
    texts = [point.text for point in curve.points]
    if axis.is_single:  # learners beside each other, so that their bars can be told apart
        shift = 4.0 * (number - (among - 1) / 2) / among
        error = [[means[0] - ends[0][0]], [ends[0][1] - means[0]]]
        bars = axes.errorbar([shift], means, yerr=error, capsize=3, **look)
        bars.lines[0].set_gid(hover_id(texts))
        xs = [shift]
    else:
        if any(point.half or point.ends for point in curve.points):
            low, high = [end[0] for end in ends], [end[1] for end in ends]
            axes.fill_between(xs, low, high, color=colour, alpha=curve.shade, lw=0, zorder=1.2)
            for end in (low, high):  # the shade alone would be too pale to be seen by everyone
                axes.plot(xs, end, color=colour, lw=0.4, label="_end", zorder=1.3)
        axes.plot(xs, means, gid=hover_id(texts), **look)
    if curve.limit is not None:
        at = (
            axis.infinity if axis.endless and not axis.is_single else curve.limit.place if not axis.is_single else xs[0]
        )
        if axis.endless and not axis.is_single:
            axes.plot([xs[-1], at], [means[-1], curve.limit.mean], color=colour, ls=":", lw=0.9, zorder=1.8)
        ring: dict[str, Any] = {"marker": style.marker, "ms": 7.5 - later, "mfc": "none", "mew": 1.3, "ls": ""}
        ring |= {"color": colour, "label": f"_limit of {curve.label}", "zorder": 3.2}
        axes.plot([at], [curve.limit.mean], gid=hover_id([curve.limit.text]), **ring)


def _label_axes(axes: Axes, ylabel: str, *, first: bool, last: bool, height: float, width: float) -> None:
    """Numbers on the outer sides of the grid alone, those at its ends within their panel; none over another."""
    if ylabel and 0.062 * len(ylabel) < height + 0.2:
        axes.set_ylabel(ylabel)
    if not first:
        axes.tick_params(labelleft=False)
    if axes.get_xscale() == "log" or len(axes.get_xticks()) > 1:
        texts = [tick.get_text() for tick in axes.get_xticklabels()]
        places = (axes.transLimits.transform(axes.transScale.transform([(x, 1.0) for x in axes.get_xticks()])))[:, 0]
        axes.set_xticks(axes.get_xticks(), thin_out(texts, (places * width).tolist(), width + 0.12))
    if not last:
        axes.tick_params(labelbottom=False)
    place_absent_labels(axes)


def thin_out(texts: Sequence[str], places: Sequence[float], width: float) -> list[str]:
    """Texts below an axis of a width, all in inches, without those that would touch another: the last and the first stay.

    >>> thin_out(["30", "100", "300", "1,000", "∞"], [0.1, 0.4, 0.6, 0.85, 1.2], 1.4)
    ['30', '100', '', '1,000', '∞']
    """
    halves = [measure_text(text, _SIZE) / 144 + 0.03 for text in texts]
    shown: list[int] = []
    order = [0, *range(len(texts) - 1, 0, -1)] if len(texts) > 1 else [0]
    for k in order:
        inside = places[k] + halves[k] <= width
        if inside and all(abs(places[k] - places[other]) >= halves[k] + halves[other] for other in shown):
            shown.append(k)
    return [text if k in shown else "" for k, text in enumerate(texts)]


def _wrap_label(label: str, columns: Columns) -> list[str]:
    return wrap(label, 15 if columns == 1 else 22, break_on_hyphens=False) or [""]


def _label_width(panel: Panel, columns: Columns) -> float:
    lines = (line for curve in panel.labelled for line in _wrap_label(curve.label, columns))
    return max((measure_text(line, _SIZE) for line in lines), default=0.0) / 72 * 1.08 + 0.15


def _write_labels(
    axes: Axes, panel: Panel, limits: tuple[float, float], axis: Axis, height: float, columns: Columns
) -> None:
    """Write every curve's label where it ends, pushed apart where they would touch, with its marker before it."""
    low, high = (log(y) if axis.log_heights else y for y in limits)
    curves = sorted(panel.labelled, key=lambda curve: curve.end)
    texts = [_wrap_label(curve.label, columns) for curve in curves]
    wanted = [((log(max(c.end, 1e-9)) if axis.log_heights else c.end) - low) / (high - low) for c in curves]
    unit = _SIZE * _SPACING / 72 / height
    places = spread_apart(wanted, [unit * len(lines) for lines in texts])
    width = axes.get_position().width * WIDTHS[columns]
    for curve, lines, place, want in zip(curves, texts, places, wanted, strict=True):
        colour = COLOURS[curve.style.colour][0]
        look: dict[str, Any] = {"transform": axes.transAxes, "clip_on": False, "color": colour, "label": "_label"}
        axes.plot([1.0, 1 + 0.07 / width], [want, place], lw=0.7, **look)
        if curve.style.marker:
            axes.plot([1 + 0.12 / width], [place], marker=curve.style.marker, ms=4.2, ls="", **look)
        else:
            axes.plot([1 + 0.07 / width, 1 + 0.17 / width], [place] * 2, ls=":", lw=1.5, **look)
        axes.text(1 + 0.2 / width, place, "\n".join(lines), transform=axes.transAxes, va="center", linespacing=1.05)


def spread_apart(wanted: Sequence[float], sizes: Sequence[float]) -> list[float]:
    """Places near the wanted ones, in their order (from low to high), within 0 to 1; labels of these sizes do not touch.

    >>> [round(place, 2) for place in spread_apart([0.5, 0.5, 0.9], [0.2, 0.2, 0.2])]
    [0.4, 0.6, 0.9]
    """
    places = list(wanted)
    for _ in range(60):
        for k in range(len(places) - 1):
            overlap = (sizes[k] + sizes[k + 1]) / 2 - (places[k + 1] - places[k])
            if overlap > 0.0:
                places[k] -= overlap / 2
                places[k + 1] += overlap / 2
        places = [min(max(place, size / 2), 1 - size / 2) for place, size in zip(places, sizes, strict=True)]
    return places
