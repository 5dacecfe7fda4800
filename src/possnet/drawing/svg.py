"""SVG text of graphs and bars: plain numbers and texts in, a picture out.

Colours are CSS variables with a light and a dark set, so that one picture suits a light page, a dark page and paper.
Nothing is fetched from anywhere.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from functools import cache
from html import escape as escape_marks
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from possnet.drawing.layered_layout import Layout, compute_layout, reachable_nodes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Detail: TypeAlias = Literal["bars", "short", "names"]
EdgeKind: TypeAlias = Literal["edge", "added", "removed", "turned"]
_LINE: Final = 15.0
_HEAD: Final = 22.0
_BAR: Final = 64.0
_PAD: Final = 9.0
_WIDTHS: Final = {**dict.fromkeys("mwMW@%", 0.92), **dict.fromkeys("fijlrtI.,:;|!'()[] ", 0.34)}
COLOURS: Final = {
    "ink": ("#1d2733", "#e7edf3"),
    "soft": ("#5c6b7a", "#a9b8c6"),
    "card": ("#ffffff", "#1b242d"),
    "edge": ("#8796a5", "#70808f"),
    "line": ("#c7d0d9", "#3d4a56"),
    "possible": ("#a9cfe0", "#2f5f75"),
    "necessary": ("#0b6e99", "#5ec1e8"),
    "mark": ("#c44e28", "#f08a5d"),
    "added": ("#1f8a4c", "#58c98b"),
    "removed": ("#c44e28", "#f08a5d"),
    "turned": ("#7a4fb5", "#b796e8"),
    "paper": ("#ffffff", "#131a21"),
}
_WORDS: Final = ("possible (Π)", "certain (N)")
_KINDS: Final[dict[EdgeKind, str]] = {
    "edge": "",
    "added": "only in the second",
    "removed": "only in the first",
    "turned": "turned in the second",
}
_DASHES: Final = {"removed": "6 4", "turned": "1.5 3.5"}


def escape_markup(text: str) -> str:
    r"""A text for mark-up, whatever is in it; characters that no mark-up may hold become a sign of replacement.

    >>> escape_markup("a<b") == "a&lt;b", escape_markup("a\x01") == "a\N{REPLACEMENT CHARACTER}"
    (True, True)
    """
    return escape_marks(replace_forbidden(text), quote=True)


def replace_forbidden(text: str) -> str:
    r"""A text without the control characters and half characters that XML forbids.

    >>> replace_forbidden("tab\tstays") == "tab\tstays"
    True
    """
    return re.sub("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\ud800-\\udfff\\ufffe\\uffff]", "\N{REPLACEMENT CHARACTER}", text)


class Picture(str):
    """SVG or HTML text that a notebook shows as a picture.

    >>> Picture("<svg></svg>")._repr_html_()
    '<svg></svg>'
    """

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(self)


@dataclass(frozen=True, slots=True)
class Bar:
    """One state: its label, how far it is possible (length) and certain (filled part).

    ``other`` is a second degree to compare with, drawn as a tick.
    """

    label: str
    possible: float
    necessary: float = 0.0
    other: float | None = None


@dataclass(frozen=True, slots=True)
class Card:
    """One node: its states as bars, whether it is marked (evidence), and how long labels may be."""

    bars: tuple[Bar, ...] = ()
    marked: bool = False
    longest: int = 16


def measure_text(text: str, size: float = 11.0) -> float:
    """About how wide a text is in a sans-serif font.

    >>> measure_text("mill") < measure_text("MMMM"), measure_text("ab") < measure_text("熱病")
    (True, True)
    """
    return size * sum(map(_letter_width, text))


@cache
def _letter_width(letter: str) -> float:
    if unicodedata.east_asian_width(letter) in {"W", "F"}:
        return 1.0
    return _WIDTHS.get(letter, 0.7 if letter.isupper() else 0.56)


def draw_graph(
    parents: Mapping[str, Sequence[str]],
    cards: Mapping[str, Card] | None = None,
    *,
    detail: Detail | None = None,
    over: Mapping[str, Sequence[str]] | None = None,
    title: str = "",
    words: tuple[str, str] = _WORDS,
) -> Picture:
    """A DAG in layers, every node a card with its states as bars.

    Parameters
    ----------
    detail
        ``bars`` for all states, ``short`` for at most three, ``names`` for none; by default as much as stays clear: bars
        up to 20 nodes, three up to 60, names beyond.
    over
        A second DAG over the same nodes: edges that only it has, that it lacks, and that it turns are coloured.
    words
        What the length of a bar and its filled part mean.

    >>> picture = draw_graph({"a": (), "b": ("a",)}, {"a": Card((Bar("yes", 1.0, 0.4), Bar("no", 0.6)))})
    >>> picture.startswith("<svg"), picture.count("marker-end"), "yes" in picture
    (True, 1, True)
    """
    shown = detail or ("bars" if len(parents) <= 20 else "short" if len(parents) <= 60 else "names")
    known = cards or {}
    kept = {name: _limit_bars(known.get(name, Card()), shown) for name in parents}
    sizes = {name: _size(name, card) for name, card in kept.items()}
    tight = len(parents) > 60
    edges = _merge_edges(parents, over)
    layout = compute_layout(
        _orient_acyclic(parents, edges), sizes, gap=12.0 if tight else 22.0, rise=34.0 if tight else 44.0
    )
    body = [_edge(edge, kind, layout, sizes) for edge, kind in edges.items()]
    body += [_node(name, kept[name], layout, sizes[name]) for name in parents]
    entries = _legend_entries(list(kept.values()), set(edges.values()), words)
    return _page("".join(body), layout.width, layout.height, title or "graph", entries)


def draw_bars(bars: Sequence[Bar], *, title: str = "") -> Picture:
    """The states of one variable as bars: length is possibility, the filled part necessity.

    >>> draw_bars([Bar("none", 1.0, 0.4), Bar("mild", 0.6)], title="fever").count("<rect")
    8
    """
    card = Card(tuple(bars), longest=40)
    width, height = _size(title, card)
    layout = Layout({title: (width / 2, height / 2)}, {}, width, height)
    return _page(
        _node(title, card, layout, (width, height)), width, height, title, _legend_entries([card], set(), _WORDS)
    )


def _merge_edges(
    parents: Mapping[str, Sequence[str]], over: Mapping[str, Sequence[str]] | None
) -> dict[tuple[str, str], EdgeKind]:
    """Every edge of one or two graphs as (parent, child), and which of them has it; a turned edge as the second has it."""
    first = [(parent, child) for child, above in parents.items() for parent in above]
    if over is None:
        return dict.fromkeys(first, "edge")
    second = {(parent, child) for child, above in over.items() for parent in above}
    edges: dict[tuple[str, str], EdgeKind] = {}
    for parent, child in first:
        if (child, parent) in second:
            edges[child, parent] = "turned"
        else:
            edges[parent, child] = "edge" if (parent, child) in second else "removed"
    for child, above in over.items():
        for parent in above:
            edges.setdefault((parent, child), "added")
    return edges


def _orient_acyclic(
    parents: Mapping[str, Sequence[str]], edges: Mapping[tuple[str, str], EdgeKind]
) -> dict[str, list[str]]:
    """Parents for the layout: those of the first graph, and every other edge in a direction that closes no cycle."""
    found = {child: list(above) for child, above in parents.items()}
    for parent, child in edges:
        if parent not in found[child] and child not in found[parent]:
            upper, lower = (child, parent) if child in reachable_nodes(parent, found) else (parent, child)
            found[lower].append(upper)
    return found


def _legend_entries(cards: Sequence[Card], kinds: set[EdgeKind], words: tuple[str, str]) -> list[tuple[str, str]]:
    """What the legend explains: (sign, words)."""
    bars = [bar for card in cards for bar in card.bars if bar.possible >= 0.0]
    entries = []
    if bars:
        entries += [("possible", words[0]), ("necessary", words[1])]
    if any(bar.other is not None for bar in bars):
        entries.append(("other", "Π in the first network"))
    if any(card.marked for card in cards):
        entries.append(("known", "known"))
    return entries + [(kind, told) for kind, told in _KINDS.items() if kind in kinds and told]


def _limit_bars(card: Card, detail: Detail) -> Card:
    """The most possible states, in their order, if there are more than fit."""
    if detail == "names":
        return replace(card, bars=())
    most = 3 if detail == "short" else 12
    if len(card.bars) <= most:
        return card
    best = sorted(range(len(card.bars)), key=lambda k: (-card.bars[k].possible, k))[: most - 1]
    more = Bar(f"… {len(card.bars) - most + 1} more", -1.0)
    return replace(card, bars=(*(card.bars[k] for k in sorted(best)), more))


def clip_text(text: str, most: int = 24) -> str:
    """A text cut short.

    >>> clip_text("temperature", 6)
    'tempe…'
    """
    return text if len(text) <= most else text[: most - 1] + "…"


def _size(name: str, card: Card) -> tuple[float, float]:
    head = measure_text(clip_text(name), 12.0) + 2 * _PAD
    if not card.bars:
        return max(head, 34.0), _HEAD
    return max(head, _labels(card) + _BAR + 30.0 + 3 * _PAD), _HEAD + _LINE * len(card.bars) + 7.0


def _labels(card: Card) -> float:
    """The width of the widest label."""
    return max((measure_text(clip_text(bar.label, card.longest)) for bar in card.bars), default=0.0)


def _node(name: str, card: Card, layout: Layout, size: tuple[float, float]) -> str:
    (cx, cy), (width, height) = layout.nodes[name], size
    x, y = cx - width / 2, cy - height / 2
    frame = "mark" if card.marked else "line"
    parts = [
        f'<g class="node"><title>{escape_markup(_described(name, card))}</title>',
        _rect(x, y, width, height, 6, fill="card", stroke=frame, thick=2.0 if card.marked else 1.2),
        _text(clip_text(name), cx, y + 15.5, 12.0, "ink", anchor="middle", weight=600),
    ]
    labels = _labels(card)
    for number, bar in enumerate(card.bars):
        middle = y + _HEAD + _LINE * (number + 0.5)
        parts.append(_text(clip_text(bar.label, card.longest), x + _PAD, middle + 4.0, 11.0, "ink"))
        if bar.possible < 0.0:
            continue
        left = x + 2 * _PAD + labels
        room = width - 3 * _PAD - labels - 30.0
        parts.append(_bar(left, middle, room, bar))
        parts.append(_text(f"{bar.possible:.2f}", x + width - _PAD, middle + 4.0, 10.0, "soft", anchor="end"))
    return "".join(parts) + "</g>"


def _bar(left: float, middle: float, room: float, bar: Bar) -> str:
    top = middle - 4.0
    parts = [_rect(left, top, room, 8.0, 2, stroke="line", thick=0.8)]
    for share, colour in ((bar.possible, "possible"), (bar.necessary, "necessary")):
        if share > 0.0:
            parts.append(_rect(left, top, room * min(share, 1.0), 8.0, 2, fill=colour))
    if bar.other is not None:
        parts.append(_rect(left + room * min(max(bar.other, 0.0), 1.0) - 1.2, top - 2.0, 2.4, 12.0, fill="mark"))
    return "".join(parts)


def _rect(
    x: float, y: float, width: float, height: float, rx: int = 0, *, fill: str = "", stroke: str = "", thick: float = 0
) -> str:
    inside = f"var(--{fill})" if fill else "none"
    line = f' stroke="var(--{stroke})" stroke-width="{thick}"' if stroke else ""
    place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect {place} rx="{rx}" fill="{inside}"{line}/>'


def _described(name: str, card: Card) -> str:
    if not card.bars:
        return name
    told = ", ".join(f"{bar.label} {bar.possible:.2f}" for bar in card.bars if bar.possible >= 0.0)
    return f"{name}: {told}"


def _edge(edge: tuple[str, str], kind: EdgeKind, layout: Layout, sizes: Mapping[str, tuple[float, float]]) -> str:
    """A smooth line between the lower edge of a card and the upper edge of another, with a tip at the child."""
    upward = edge not in layout.edges
    upper, lower = edge[::-1] if upward else edge
    points = list(layout.edges[upper, lower])
    above, below = (5.0, 0.0) if upward else (0.0, 5.0)
    points[0] = (points[0][0], points[0][1] + sizes[upper][1] / 2 + above)
    points[-1] = (points[-1][0], points[-1][1] - sizes[lower][1] / 2 - below)
    text = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    for (x0, y0), (x1, y1) in pairwise(points):
        bend = 0.5 * (y1 - y0)
        curve = f"C{x0:.1f} {y0 + bend:.1f} {x1:.1f} {y1 - bend:.1f} {x1:.1f} {y1:.1f}"
        text += f"L{x1:.1f} {y1:.1f}" if x0 == x1 else curve
    return _path(text, kind, "start" if upward else "end")


def _path(text: str, kind: str, end: str) -> str:
    dashes = f' stroke-dasharray="{_DASHES[kind]}"' if kind in _DASHES else ""
    return (
        f'<path d="{text}" fill="none" stroke="var(--{kind})" stroke-width="{1.4 if kind == "edge" else 2.2}"{dashes} '
        f'marker-{end}="url(#tip-{kind})"/>'
    )


def _text(text: str, x: float, y: float, size: float, colour: str, *, anchor: str = "start", weight: int = 400) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" fill="var(--{colour})" text-anchor="{anchor}" '
        f'font-weight="{weight}">{escape_markup(text)}</text>'
    )


def _legend(entries: Sequence[tuple[str, str]], top: float) -> tuple[str, float]:
    """A line of signs and their meanings, and how wide it is."""
    parts, x, middle = [], 0.0, top + 9.0
    for sign, words in entries:
        if sign in {"possible", "necessary"}:
            parts.append(_rect(x, top + 4.0, 22.0, 9.0, 2, fill=sign))
        elif sign == "known":
            parts.append(_rect(x + 1.0, top + 3.0, 20.0, 11.0, 3, stroke="mark", thick=2.0))
        elif sign == "other":
            parts.append(_rect(x + 9.0, top + 2.0, 2.4, 13.0, fill="mark"))
        else:
            parts.append(_path(f"M{x:.1f} {middle:.1f}L{x + 17:.1f} {middle:.1f}", sign, "end"))
        parts.append(_text(words, x + 28.0, middle + 4.0, 11.0, "soft"))
        x += 28.0 + measure_text(words) + 18.0
    return "".join(parts), x


def css_colours(colours: Mapping[str, tuple[str, str]]) -> tuple[str, str]:
    """Colours as CSS variables, for light pages and for dark ones.

    >>> css_colours({"ink": ("#000", "#fff")})
    ('--ink:#000', '--ink:#fff')
    """
    light = ";".join(f"--{name}:{pair[0]}" for name, pair in colours.items())
    dark = ";".join(f"--{name}:{pair[1]}" for name, pair in colours.items())
    return light, dark


def _page(body: str, width: float, height: float, title: str, entries: Sequence[tuple[str, str]]) -> Picture:
    margin = 10.0
    if entries:
        legend, wide = _legend(entries, height + 14.0)
        body, width, height = body + legend, max(width, wide), height + 32.0
    light, dark = css_colours(COLOURS)
    tips = "".join(
        f'<marker id="tip-{kind}" viewBox="0 0 8 8" refX="2" refY="4" markerWidth="7" markerHeight="7" '
        f'orient="auto-start-reverse" markerUnits="userSpaceOnUse"><path d="M0 0L8 4L0 8z" fill="var(--{kind})"/></marker>'
        for kind in _KINDS
        if f"url(#tip-{kind})" in body
    )
    whole = (width + 2 * margin, height + 2 * margin)
    return Picture(
        f'<svg xmlns="http://www.w3.org/2000/svg" class="possnet" role="img" aria-label="{escape_markup(title)}" '
        f'width="{whole[0]:.0f}" height="{whole[1]:.0f}" style="--w:{whole[0]:.0f}px" '
        f'viewBox="{-margin:g} {-margin:g} {whole[0]:.0f} {whole[1]:.0f}" '
        'font-family="system-ui, sans-serif">'
        f"<style>svg.possnet{{{light};max-width:100%;height:auto}}"
        f"@media (prefers-color-scheme:dark){{svg.possnet{{{dark}}}}}"
        f"@media print{{svg.possnet{{{light}}}}}</style>"
        f"<defs>{tips}</defs>{body}</svg>"
    )
