"""Where the cards of a network are: the layers of `possnet.drawing`, with rows tall enough to click."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
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
Shape: TypeAlias = Literal["wide", "tall"]
_WINDOWS: Final[dict[Shape, float]] = {"wide": 1.9, "tall": 0.72}
_ASPECTS: Final[dict[Shape, tuple[float, ...]]] = {"wide": (1.0, 1.6, 2.4), "tall": (0.6, 0.4, 1.0)}
_DENSITIES: Final = ((20, 8, 28.0, 54.0), (60, 5, 22.0, 38.0), (20_000, 4, 16.0, 34.0))  # up to nodes: rows, gap, rise
_MANY: Final = 100
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
    cards: list[dict[str, Any]] = []
    for variable in network.variables:
        (x, y), (width, height) = places[variable.name], _card_size(variable, most)
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
    return {"cards": cards, "edges": edges, **size, "head": _HEAD, "line": _LINE, "pad": _PAD}


def arrange_cards(network: Network, arrangement: Arrangement | None, shape: Shape = "wide") -> Arrangement:
    """The arrangement that there is, or else the layout as one: nothing moves by itself any more.

    >>> import possnet as pn
    >>> clinic = pn.load_example("clinic")
    >>> place_cards(clinic, arrange_cards(clinic, None)) == place_cards(clinic, None)
    True
    """
    return arrangement or Arrangement(*_compute_places(network.variables, network.dag, shape))


@lru_cache(maxsize=8)
def _compute_places(variables: tuple[Variable, ...], dag: Dag, shape: Shape) -> tuple[Places, Lines]:
    """Left upper corners of the cards and lines of the edges.

    Of a few layouts, the one that fills such a window best; of a network with more than 100 nodes, the first.
    """
    _, most, gap, rise = _choose_density(len(variables))
    sizes = {variable.name: _card_size(variable, most) for variable in variables}
    parents = {variable.name: dag.parents(variable.name) for variable in variables}
    aspects = _ASPECTS[shape][: 1 if len(variables) > _MANY else 3]
    layouts = [compute_layout(parents, sizes, gap=gap, rise=rise, aspect=aspect) for aspect in aspects if parents]
    if not layouts:
        return {}, {}
    layout = min(layouts, key=lambda layout: max(layout.width, layout.height * _WINDOWS[shape]))
    corners = {name: (x - sizes[name][0] / 2, y - sizes[name][1] / 2) for name, (x, y) in layout.nodes.items()}
    return corners, {edge: tuple(line) for edge, line in layout.edges.items()}


def _choose_density(nodes: int) -> tuple[int, int, float, float]:
    return next(density for density in _DENSITIES if nodes <= density[0])


def _head_width(variable: Variable) -> float:
    return max(_BOLD * measure_text(clip_text(variable.name, _NAME), 13.0), 1.0)


def _label_width(variable: Variable) -> float:
    labels = {clip_text(state, _LABEL) for state in variable.states} | {"more"}
    return _BOLD * max(measure_text(label, 12.0) for label in labels)


def _card_size(variable: Variable, most: int) -> tuple[float, float]:
    width = max(_head_width(variable) + 2 * _PAD + 30.0, _BOX + _label_width(variable) + _BAR + _NUMBER + 4 * _PAD)
    return width, _HEAD + _LINE * min(len(variable), most) + 8.0
