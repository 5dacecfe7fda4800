"""Where the cards of a network are: the layers of `possnet.drawing`, with rows tall enough to click."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from possnet.drawing import Layout, clip_text, compute_layout, measure_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from possnet.drawing import Sizes
    from possnet.network import Network
    from possnet.variables import Variable

Shape: TypeAlias = Literal["wide", "tall"]
_WINDOWS: Final[dict[Shape, float]] = {"wide": 1.9, "tall": 0.72}
_ASPECTS: Final[dict[Shape, tuple[float, ...]]] = {"wide": (1.0, 1.6, 2.4), "tall": (0.6, 0.4, 1.0)}
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


def compute_card_layout(network: Network, shape: Shape = "wide") -> dict[str, Any]:
    """Cards, edges and the size of the whole, for a wide window or a tall one.

    >>> import possnet as pn
    >>> found = compute_card_layout(pn.load_example("clinic"))
    >>> sorted(found), len(found["cards"]), found["edges"][0]["to"]
    (['cards', 'edges', 'head', 'height', 'line', 'pad', 'width'], 8, 'measles')
    """
    nodes = len(network.variables)
    most = 8 if nodes <= 20 else 5 if nodes <= 60 else 4
    sizes = {variable.name: _size(variable, most) for variable in network.variables}
    parents = {variable.name: network.dag.parents(variable.name) for variable in network.variables}
    layout = _layout(parents, sizes, shape)
    cards = []
    for variable in network.variables:
        (x, y), (width, height) = layout.nodes[variable.name], sizes[variable.name]
        cards.append(
            {
                "x": round(x - width / 2, 1),
                "y": round(y - height / 2, 1),
                "width": round(width, 1),
                "height": height,
                "labels": round(_labels(variable), 1),
                "rows": len(variable) if len(variable) <= most else most - 1,
                "name": clip_text(variable.name, _NAME),
                "letters": round(min(22.0, 13.0 * (width - 12.0) / _head(variable)), 1),
            }
        )
    edges = [
        {"from": parent, "to": child, "points": [[round(x, 1), round(y, 1)] for x, y in line]}
        for (parent, child), line in layout.edges.items()
    ]
    return {
        "cards": cards,
        "edges": edges,
        "width": round(layout.width, 1),
        "height": round(layout.height, 1),
        "head": _HEAD,
        "line": _LINE,
        "pad": _PAD,
    }


def _layout(parents: Mapping[str, Sequence[str]], sizes: Sizes, shape: Shape) -> Layout:
    """The layout that fills a window of the shape best; of a large network, the first."""
    nodes = len(sizes)
    gap, rise = (28.0, 54.0) if nodes <= 20 else (22.0, 38.0) if nodes <= 60 else (16.0, 34.0)
    tried = _ASPECTS[shape][: 1 if nodes > _MANY else 3]
    layouts = [compute_layout(parents, sizes, gap=gap, rise=rise, aspect=aspect) for aspect in tried]
    return min(layouts, key=lambda found: max(found.width, found.height * _WINDOWS[shape]))


def _head(variable: Variable) -> float:
    return max(_BOLD * measure_text(clip_text(variable.name, _NAME), 13.0), 1.0)


def _labels(variable: Variable) -> float:
    labels = {clip_text(state, _LABEL) for state in variable.states} | {"more"}
    return _BOLD * max(measure_text(label, 12.0) for label in labels)


def _size(variable: Variable, most: int) -> tuple[float, float]:
    width = max(_head(variable) + 2 * _PAD + 30.0, _BOX + _labels(variable) + _BAR + _NUMBER + 4 * _PAD)
    return width, _HEAD + _LINE * min(len(variable), most) + 8.0
