"""Drawings of graphs and of bars: every node a card with its states, every edge an arrow, and a legend below."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from possnet.drawing.layered_layout import compute_layout, reachable_nodes
from possnet.drawing.scene import Arrow, Group, Label, Rectangle, Scene
from possnet.drawing.svg import Drawing, render_svg
from possnet.drawing.text_metrics import clip_text, measure_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from possnet.drawing.layered_layout import Layout, Sizes
    from possnet.drawing.scene import Point

Detail: TypeAlias = Literal["bars", "short", "names"]
EdgeKind: TypeAlias = Literal["edge", "added", "removed", "reversed"]
_LINE: Final = 15.0
_HEAD: Final = 22.0
_BAR: Final = 64.0
_PAD: Final = 9.0
_NUMBER: Final = 30.0
_BAND_NUMBER: Final = 56.0
_LEGEND: Final = 320.0  # the least width at which the legend is broken into lines
_FILLS: Final = ("possible", "necessary")
_PALE: Final = ("band",)
_MEANINGS: Final = ("possible (Π)", "certain (N)")
_BAND_MEANINGS: Final = ("possible at least (Π)", "certain at least (N)")
_SIDES: Final = ("the first", "the second")
_EDGE_KINDS: Final[dict[EdgeKind, str]] = {
    "added": "only in {1}",
    "removed": "only in {0}",
    "reversed": "reversed in {1}",
}
_LINE_COLOUR: Final = "necessary"
_DASHES: Final[dict[EdgeKind, tuple[float, ...]]] = {"removed": (6, 4), "reversed": (1.5, 3.5)}


@dataclass(frozen=True, slots=True)
class Bar:
    """One state: its label, how far it is possible (length) and certain (filled part).

    ``other`` is a second degree to compare with, drawn as a tick. If the degree is known only within bounds, ``band`` has
    them: the bar is solid up to the lower and light up to the upper one. A bar without a degree is a remark. ``fill`` is
    the name of a colour of its own (see `draw_graph`).
    """

    label: str
    possible: float | None
    necessary: float = 0.0
    other: float | None = None
    band: tuple[float, float] | None = None
    fill: str = ""

    @property
    def number(self) -> str:
        """The degree in figures, or its bounds if they differ in them.

        >>> Bar("yes", 0.5).number, Bar("yes", 0.5, band=(0.25, 0.5)).number, Bar("yes", 1.0, band=(1.0, 1.0)).number
        ('0.50', '0.25–0.50', '1.00')
        """
        ends = [f"{end:.2f}" for end in self.band or (self.possible or 0.0,)]
        return ends[0] if ends[0] == ends[-1] else "–".join(ends)


@dataclass(frozen=True, slots=True)
class Card:
    """One node: its states as bars, whether it is marked (evidence), and how long labels may be."""

    bars: tuple[Bar, ...] = ()
    marked: bool = False
    longest: int = 16

    @property
    def label_width(self) -> float:
        """The width of the widest label."""
        return max((measure_text(clip_text(bar.label, self.longest)) for bar in self.bars), default=0.0)

    @property
    def number_width(self) -> float:
        """The room for degrees in figures, more if some are bounds."""
        return _BAND_NUMBER if any("–" in bar.number for bar in self.bars) else _NUMBER


@dataclass(frozen=True, slots=True)
class Line:
    """How one edge is drawn: its thickness, how opaque it is, whether it has a tip, and its tooltip."""

    thickness: float = 1.4
    opacity: float = 1.0
    directed: bool = True
    title: str = ""


def draw_graph(
    parents: Mapping[str, Sequence[str]],
    cards: Mapping[str, Card] | None = None,
    *,
    detail: Detail | None = None,
    over: Mapping[str, Sequence[str]] | None = None,
    lines: Mapping[tuple[str, str], Line] | None = None,
    meanings: Sequence[tuple[Line, str]] = (),
    title: str = "",
    words: tuple[str, str] = _MEANINGS,
    fills: Mapping[str, str] | None = None,
    other_word: str = "Π in the first network",
    mark_word: str = "known",
    sides: tuple[str, str] = _SIDES,
    widest: float = inf,
) -> Drawing:
    """Draw a DAG in layers, every node a card with its states as bars.

    Parameters
    ----------
    detail
        ``bars`` for all states, ``short`` for at most three, ``names`` for none; by default as much as stays clear: bars
        up to 20 nodes, three up to 60, names beyond.
    over
        A second DAG over the same nodes: edges that only it has, that it lacks, and that it reverses are coloured.
    lines, meanings
        How edges (parent, child) are drawn, all alike by default, and what such lines mean, for the legend.
    words
        What the length of a bar and its filled part mean.
    fills
        Colours that bars have of their own, and what they mean; those that occur are in the legend, in place of ``words``.
    other_word, mark_word
        What a tick and a marked frame mean.
    sides
        What the graph and the one over it are called in the legend.
    widest
        The width to keep to, if that can be done with more layers and the same cards; the legend may be wider.

    Examples
    --------
    >>> picture = draw_graph({"a": (), "b": ("a",)}, {"a": Card((Bar("yes", 1.0, 0.4), Bar("no", 0.6)))})
    >>> picture.startswith("<svg"), picture.count("marker-end"), "yes" in picture
    (True, 1, True)
    """
    chosen = detail or ("bars" if len(parents) <= 20 else "short" if len(parents) <= 60 else "names")
    shown = {name: _limit_bars((cards or {}).get(name, Card()), chosen) for name in parents}
    sizes = {name: _card_size(name, card) for name, card in shown.items()}
    gap, rise = (12.0, 34.0) if len(parents) > 60 else (22.0, 44.0)
    edges = _merge_edges(parents, over)
    layout = _fit_layout(_orient_acyclic(parents, edges), sizes, gap, rise, widest)
    styles: Mapping[tuple[str, str], Line] = lines or {}
    arrows = [_edge_arrow(edge, styles.get(edge, kind), layout, sizes) for edge, kind in edges.items()]
    nodes = [_card_group(name, card, layout.nodes[name], sizes[name]) for name, card in shown.items()]
    legend = [
        *_legend_entries(list(shown.values()), set(edges.values()), words, fills, (other_word, mark_word), sides),
        *meanings,
    ]
    return _with_legend([*arrows, *nodes], (layout.width, layout.height), title or "graph", legend)


def _fit_layout(parents: Mapping[str, Sequence[str]], sizes: Sizes, gap: float, rise: float, widest: float) -> Layout:
    """The layout as it comes, or, if that is too wide, the one with the widest layers that fits; else the narrowest."""
    layout = compute_layout(parents, sizes, gap=gap, rise=rise)
    room = widest
    while layout.width > widest and room > 0.4 * widest:  # edges that pass a layer need room beside its cards
        other = compute_layout(parents, sizes, gap=gap, rise=rise, widest=room)
        layout = min(layout, other, key=lambda each: each.width)
        room -= 0.1 * widest
    return layout


def draw_bars(bars: Sequence[Bar], *, title: str = "") -> Drawing:
    """Draw the states of one variable as bars: length is possibility, the filled part necessity.

    >>> draw_bars([Bar("none", 1.0, 0.4), Bar("mild", 0.6)], title="fever").count("<rect")
    8
    """
    card = Card(tuple(bars), longest=40)
    width, height = _card_size(title, card)
    group = _card_group(title, card, (width / 2, height / 2), (width, height))
    return _with_legend([group], (width, height), title, _legend_entries([card], set(), _MEANINGS))


def _merge_edges(
    parents: Mapping[str, Sequence[str]], over: Mapping[str, Sequence[str]] | None
) -> dict[tuple[str, str], EdgeKind]:
    """Every edge of one or two graphs as (parent, child), and which of them has it; a reversed one as in the second."""
    first = [(parent, child) for child, above in parents.items() for parent in above]
    if over is None:
        return dict.fromkeys(first, "edge")
    second = dict.fromkeys((parent, child) for child, above in over.items() for parent in above)
    edges: dict[tuple[str, str], EdgeKind] = {}
    for parent, child in first:
        if (child, parent) in second:
            edges[child, parent] = "reversed"
        else:
            edges[parent, child] = "edge" if (parent, child) in second else "removed"
    for edge in second:
        edges.setdefault(edge, "added")
    return edges


def _orient_acyclic(parents: Mapping[str, Sequence[str]], edges: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Parents for the layout: those of the first graph, and every other edge in a direction that closes no cycle."""
    oriented = {child: list(above) for child, above in parents.items()}
    for parent, child in edges:
        if parent not in oriented[child] and child not in oriented[parent]:
            upper, lower = (child, parent) if child in reachable_nodes(parent, oriented) else (parent, child)
            oriented[lower].append(upper)
    return oriented


def _limit_bars(card: Card, detail: Detail) -> Card:
    """The most possible states, in their order, if there are more than fit."""
    if detail == "names":
        return replace(card, bars=())
    most = 3 if detail == "short" else 12
    if len(card.bars) <= most:
        return card
    best = sorted(range(len(card.bars)), key=lambda k: (-(card.bars[k].possible or 0.0), k))[: most - 1]
    more = Bar(f"… {len(card.bars) - most + 1} more", None)
    return replace(card, bars=(*(card.bars[k] for k in sorted(best)), more))


def _card_size(name: str, card: Card) -> tuple[float, float]:
    head = measure_text(clip_text(name), 12.0) + 2 * _PAD
    if not card.bars:
        return max(head, 34.0), _HEAD
    if all(bar.possible is None for bar in card.bars):
        return max(head, card.label_width + 2.5 * _PAD), _HEAD + _LINE * len(card.bars) + 7.0
    return max(head, card.label_width + _BAR + card.number_width + 3 * _PAD), _HEAD + _LINE * len(card.bars) + 7.0


def _card_group(name: str, card: Card, centre: Point, size: tuple[float, float]) -> Group:
    width, height = size
    x, y = centre[0] - width / 2, centre[1] - height / 2
    frame, thickness = ("mark", 2.0) if card.marked else ("line", 1.2)
    shapes: list[Rectangle | Label] = [
        Rectangle(x, y, width, height, 6, "card", frame, thickness),
        Label(clip_text(name), centre[0], y + 15.5, 12.0, "ink", "middle", 600),
    ]
    left = x + 2 * _PAD + card.label_width
    room = width - 3 * _PAD - card.label_width - card.number_width
    degrees = []
    for number, bar in enumerate(card.bars):
        middle = y + _HEAD + _LINE * (number + 0.5)
        shapes.append(Label(clip_text(bar.label, card.longest), x + _PAD, middle + 4.0, 11.0, "ink"))
        if bar.possible is not None:
            shapes += _bar_rectangles(left, middle - 4.0, room, bar)
            shapes.append(Label(bar.number, x + width - _PAD, middle + 4.0, 10.0, "soft", "end"))
            degrees.append(f"{bar.label} {bar.number}")
    words = degrees or [bar.label for bar in card.bars]
    return Group(f"{name}: {', '.join(words)}" if words else name, tuple(shapes))


def _bar_rectangles(left: float, top: float, room: float, bar: Bar) -> Iterator[Rectangle]:
    yield Rectangle(left, top, room, 8.0, 2, stroke="line", thickness=0.8)
    shares = [(bar.possible, bar.fill or "possible"), (bar.necessary, "necessary")]
    if bar.band is not None:
        shares[0:1] = [(bar.band[1], "band"), (bar.band[0], "possible")]
    for share, colour in shares:
        if share:  # pale bars have an outline, so that their ends are seen as well as the strong part's
            frame, thickness = ("outline", 0.8) if colour in _PALE else ("", 0.0)
            yield Rectangle(left, top, room * min(share, 1.0), 8.0, 2, colour, frame, thickness)
    if bar.other is not None:
        yield Rectangle(left + room * min(max(bar.other, 0.0), 1.0) - 1.2, top - 2.0, 2.4, 12.0, fill="mark")


def _edge_arrow(edge: tuple[str, str], style: Line | EdgeKind, layout: Layout, sizes: Sizes) -> Arrow:
    """A smooth line between the lower side of a card and the upper side of another, with a tip at the child."""
    upward = edge not in layout.edges
    upper, lower = edge[::-1] if upward else edge
    points = list(layout.edges[upper, lower])
    arrow = _styled_arrow(points[0], (), style)
    room = 0.0 if arrow.tip == "none" else arrow.tip_size * 5.0 / 7.0
    above, below = (room, 0.0) if upward else (0.0, room)
    points[0] = (points[0][0], points[0][1] + sizes[upper][1] / 2 + above)
    points[-1] = (points[-1][0], points[-1][1] - sizes[lower][1] / 2 - below)
    segments: list[tuple[Point, ...]] = []
    for (x0, y0), (x1, y1) in pairwise(points):
        bend = 0.5 * (y1 - y0)
        segments.append(((x1, y1),) if x0 == x1 else ((x0, y0 + bend), (x1, y1 - bend), (x1, y1)))
    turned = "start" if upward and arrow.tip == "end" else arrow.tip
    return replace(arrow, start=points[0], segments=tuple(segments), tip=turned)


def _styled_arrow(start: Point, segments: tuple[tuple[Point, ...], ...], style: Line | EdgeKind) -> Arrow:
    if isinstance(style, Line):
        tip: Literal["end", "none"] = "end" if style.directed else "none"
        return Arrow(start, segments, _LINE_COLOUR, style.thickness, (), tip, style.opacity, style.title)
    return Arrow(start, segments, style, 1.4 if style == "edge" else 2.2, _DASHES.get(style, ()))


def _legend_entries(
    cards: Sequence[Card],
    kinds: set[EdgeKind],
    words: tuple[str, ...],
    meanings: Mapping[str, str] | None = None,
    signs: tuple[str, str] = ("", "known"),
    sides: tuple[str, str] = _SIDES,
) -> list[tuple[Rectangle | EdgeKind, str]]:
    """Signs, as they would be drawn at the origin, and their meanings."""
    bars = [bar for card in cards for bar in card.bars if bar.possible is not None]
    entries: list[tuple[Rectangle | EdgeKind, str]] = []
    fills, has_bands = list(_FILLS), any(bar.band is not None for bar in bars)
    if has_bands:
        fills, words = [*fills, "band"], (*_BAND_MEANINGS, "possible at most")
    if meanings is not None:
        used = {bar.fill for bar in bars}
        fills, words = map(list, zip(*(pair for pair in meanings.items() if pair[0] in used), strict=True))  # type: ignore[assignment]
    if bars:
        entries += [
            (Rectangle(0.0, 4.0, 22.0, 9.0, 2, fill, *(("outline", 0.8) if fill in _PALE else ())), word)
            for fill, word in zip(fills, words, strict=True)
        ]
    if any(bar.other is not None for bar in bars):
        entries.append((Rectangle(9.0, 2.0, 2.4, 13.0, fill="mark"), signs[0]))
    if any(card.marked for card in cards):
        entries.append((Rectangle(1.0, 3.0, 20.0, 11.0, 3, stroke="mark", thickness=2.0), signs[1]))
    return [*entries, *((kind, meaning.format(*sides)) for kind, meaning in _EDGE_KINDS.items() if kind in kinds)]


def _with_legend(
    shapes: list[Arrow | Group],
    size: tuple[float, float],
    title: str,
    entries: Sequence[tuple[Rectangle | Line | EdgeKind, str]],
) -> Drawing:
    """The drawing of some shapes, with a line of signs and their meanings below."""
    (width, height), x, top = size, 0.0, size[1] + 14.0
    legend: list[Rectangle | Label | Arrow] = []
    for sign, meaning in entries:
        room = 28.0 + measure_text(meaning) + 18.0
        if x > 0.0 and x + room > max(size[0], _LEGEND):
            x, top = 0.0, top + 18.0
        if isinstance(sign, Rectangle):
            legend.append(replace(sign, x=x + sign.x, y=top + sign.y))
        else:
            arrow = _styled_arrow((x, top + 9.0), (((x + 22, top + 9.0),),), sign)
            end = x + 22 - (0.0 if arrow.tip == "none" else 0.75 * arrow.tip_size)
            legend.append(replace(arrow, segments=(((end, top + 9.0),),)))
        legend.append(Label(meaning, x + 28.0, top + 13.0, 11.0, "soft"))
        x += room
        width, height = max(width, x), top + 18.0
    return render_svg(Scene(title, (*shapes, *legend), width, height))
