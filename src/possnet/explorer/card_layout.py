"""Where the cards of a network are: the layers of `possnet.drawing`, with rows tall enough to click."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import ceil, sqrt
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from possnet.drawing import clip_text, compute_layout, measure_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from possnet.graph import Dag
    from possnet.network import Network
    from possnet.variables import Variable

Point: TypeAlias = tuple[float, float]
Places: TypeAlias = "dict[str, Point]"
Lines: TypeAlias = "dict[tuple[str, str], tuple[Point, ...]]"
Shape: TypeAlias = Literal["wide", "tall", "narrow"]
_WINDOWS: Final[dict[Shape, float]] = {"wide": 1.9, "tall": 0.72, "narrow": 0.5}
_ASPECTS: Final[dict[Shape, tuple[float, ...]]] = {
    "wide": (1.0, 1.6, 2.4),
    "tall": (0.6, 0.4, 1.0),
    "narrow": (0.4,),
}
_PHONE: Final = 428.0  # the width of a narrow window, less its margins, where rows are as high as a finger needs
_FINGER: Final = 27.0  # the height of a row that a finger can hit
_DENSITIES: Final = ((20, 8, 28.0, 54.0), (60, 5, 22.0, 38.0), (20_000, 4, 16.0, 34.0))  # up to nodes: rows, gap, rise
_MANY: Final = 100
_CROWD: Final = 260  # cards or edges from which on a layout with lines of its own takes seconds
_SWEEPS: Final = 6
_HEAD: Final = 27.0
_LINE: Final = 20.0
_BAR: Final = 78.0
_PAD: Final = 10.0
_NUMBER: Final = 26.0
_BOX: Final = 15.0
_BOLD: Final = 1.08
_NAME: Final = 26
_LABEL: Final = 18


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Places that someone has given to cards: name -> left upper corner; and the bends of edges between them."""

    places: Mapping[str, Point]
    lines: Mapping[tuple[str, str], tuple[Point, ...]]


def place_cards(network: Network, arrangement: Arrangement | None, shape: Shape = "wide") -> dict[str, Any]:
    """Cards, edges and the size of the whole: as arranged, or else as laid out for a wide window or a tall one.

    >>> import possnet as pn
    >>> clinic = pn.load_example("clinic")
    >>> layout = place_cards(clinic, None)
    >>> sorted(layout), len(layout["cards"]), layout["edges"][0]["to"]
    (['cards', 'edges', 'head', 'height', 'line', 'pad', 'width', 'x', 'y'], 8, 'measles')
    """
    places, lines = _compute_places(network.variables, network.dag, shape)
    if arrangement is not None:
        places = {**places, **arrangement.places}
        lines = dict(arrangement.lines)
    most = _choose_density(len(network.variables))[1]
    line = _FINGER if shape == "narrow" else _LINE
    cards: list[dict[str, Any]] = []
    for variable in network.variables:
        (x, y), (width, height) = places[variable.name], _card_size(variable, most, line)
        cards.append(
            {
                "x": round(x, 1),
                "y": round(y, 1),
                "width": round(width, 1),
                "height": height,
                "labels": round(_label_width(variable), 1),
                "rows": len(variable) if len(variable) <= most else most - 1,
                "name": clip_text(variable.name, _NAME),
                "letters": round(min(22.0, 13.0 * (width - 12.0) / _head_width(variable)), 1),
            }
        )
    edges = [
        {"from": parent, "to": child, "points": [[round(x, 1), round(y, 1)] for x, y in lines.get((parent, child), ())]}
        for parent, child in network.dag.edges
    ]
    left, top = (min((card[side] for card in cards), default=0.0) for side in ("x", "y"))
    size = {
        "x": left,
        "y": top,
        "width": round(max((card["x"] + card["width"] for card in cards), default=0.0) - left, 1),
        "height": round(max((card["y"] + card["height"] for card in cards), default=0.0) - top, 1),
    }
    return {"cards": cards, "edges": edges, **size, "head": _HEAD, "line": line, "pad": _PAD}


def arrange_cards(network: Network, arrangement: Arrangement | None, shape: Shape = "wide") -> Arrangement:
    """The arrangement that there is, or else the layout as one: nothing moves by itself any more.

    >>> import possnet as pn
    >>> clinic = pn.load_example("clinic")
    >>> place_cards(clinic, arrange_cards(clinic, None)) == place_cards(clinic, None)
    True
    """
    return arrangement or Arrangement(*_compute_places(network.variables, network.dag, shape))


def find_free_place(
    network: Network, arrangement: Arrangement, variable: Variable, wanted: Point | None = None
) -> Point:
    """The place that is wanted for a new card, or the nearest one below it that no card covers; else one on the right."""
    most = _choose_density(len(network.variables) + 1)[1]
    width, height = _card_size(variable, most)
    boxes = [(*arrangement.places[v.name], *_card_size(v, most)) for v in network.variables]
    if wanted is None:
        right = max((x + w for x, _, w, _ in boxes), default=0.0)
        wanted = (right + 40.0 if boxes else 0.0, min((y for _, y, _, _ in boxes), default=0.0))
    x, y = wanted
    for _ in range(len(boxes) + 1):
        hit = [b for b in boxes if b[0] < x + width and x < b[0] + b[2] and b[1] < y + height and y < b[1] + b[3]]
        if not hit:
            break
        y = max(b[1] + b[3] for b in hit) + 16.0
    return x, y


@lru_cache(maxsize=8)
def _compute_places(variables: tuple[Variable, ...], dag: Dag, shape: Shape) -> tuple[Places, Lines]:
    """Left upper corners of the cards and lines of the edges.

    Of a few layouts, the one that fills such a window best; of a network with more than 100 nodes, the first.
    """
    _, most, gap, rise = _choose_density(len(variables))
    if shape == "narrow":
        return _stack_cards(variables, dag, most), {}
    sizes = {variable.name: _card_size(variable, most) for variable in variables}
    if len(variables) > _CROWD or len(dag.edges) > _CROWD:
        return _layer_cards(dag, sizes, _WINDOWS[shape], gap, rise), {}
    parents = {variable.name: dag.parents(variable.name) for variable in variables}
    aspects = _ASPECTS[shape][: 1 if len(variables) > _MANY else 3]
    layouts = [compute_layout(parents, sizes, gap=gap, rise=rise, aspect=aspect) for aspect in aspects if parents]
    if not layouts:
        return {}, {}
    layout = min(layouts, key=lambda layout: max(layout.width, layout.height * _WINDOWS[shape]))
    corners = {name: (x - sizes[name][0] / 2, y - sizes[name][1] / 2) for name, (x, y) in layout.nodes.items()}
    return corners, {edge: tuple(line) for edge, line in layout.edges.items()}


def _stack_cards(variables: tuple[Variable, ...], dag: Dag, most: int) -> Places:
    """Left upper corners in lines as wide as a phone, parents before their children."""
    sizes = {variable.name: _card_size(variable, most, _FINGER) for variable in variables}
    places: Places = {}
    line: list[str] = []
    top = 0.0

    def close_line() -> float:
        room = _PHONE - sum(sizes[name][0] for name in line)
        x, step = max(room, 0.0) / (2 * len(line)), max(room, 0.0) / len(line)
        for name in line:
            places[name] = (x, top)
            x += sizes[name][0] + step
        return top + max(sizes[name][1] for name in line) + 30.0

    for name in dag.topological_order():
        if line and (sum(sizes[other][0] + 12.0 for other in line) + sizes[name][0] > _PHONE):
            top = close_line()
            line = []
        line.append(name)
    if line:
        close_line()
    return places


def _layer_cards(dag: Dag, sizes: dict[str, Point], window: float, gap: float, rise: float) -> Places:
    """Left upper corners for a crowd of cards: layers by the longest way from a root, broken into lines that suit a window.

    Lines are ordered by the middle of their neighbours (Sugiyama's barycentres), a few times up and down. Long edges have
    no points of their own here: with thousands of them, keeping them apart takes minutes and shows nothing.
    """
    order = dag.topological_order()
    depth: dict[str, int] = {}
    for name in order:
        depth[name] = 1 + max((depth[parent] for parent in dag.parents(name)), default=-1)
    area = sum((width + gap) * (height + rise) for width, height in sizes.values())
    widest = max(sqrt(area * window), *(width for width, _ in sizes.values()))
    place = {name: float(k) for k, name in enumerate(order)}
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        for name in order if down else reversed(order):
            near = dag.parents(name) if down else dag.children(name)
            if near:
                place[name] = sum(place[other] for other in near) / len(near)
    layers: dict[int, list[str]] = {}
    for name in order:
        layers.setdefault(depth[name], []).append(name)
    places: Places = {}
    top = 0.0
    for layer in layers.values():
        total = sum(sizes[name][0] + gap for name in layer)
        lines: list[list[str]] = [[] for _ in range(max(1, ceil(total / widest)))]
        for k, name in enumerate(sorted(layer, key=place.__getitem__)):
            lines[k % len(lines)].append(name)  # neighbours above each other, each line over the whole width
        for line in lines:
            room = sum(sizes[name][0] + gap for name in line) - gap
            x = (widest - room) / 2
            for name in line:
                places[name] = (x, top)
                x += sizes[name][0] + gap
            top += max(sizes[name][1] for name in line) + rise
        top += rise
    return places


def _choose_density(nodes: int) -> tuple[int, int, float, float]:
    return next(density for density in _DENSITIES if nodes <= density[0])


def _head_width(variable: Variable) -> float:
    return max(_BOLD * measure_text(clip_text(variable.name, _NAME), 13.0), 1.0)


def _label_width(variable: Variable) -> float:
    labels = {clip_text(state, _LABEL) for state in variable.states} | {"more"}
    return _BOLD * max(measure_text(label, 12.0) for label in labels)


def _card_size(variable: Variable, most: int, line: float = _LINE) -> tuple[float, float]:
    width = max(_head_width(variable) + 2 * _PAD + 30.0, _BOX + _label_width(variable) + _BAR + _NUMBER + 4 * _PAD)
    return width, _HEAD + line * min(len(variable), most) + 8.0
