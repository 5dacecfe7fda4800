"""Where the cards of a network are: the layers of `possnet.drawing`, with rows tall enough to click."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from possnet.drawing import clip_text, compute_layout, measure_text

if TYPE_CHECKING:
    from possnet.network import Network
    from possnet.variables import Variable

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


def compute_card_layout(network: Network, shape: Shape = "wide") -> dict[str, Any]:
    """Cards, edges and the size of the whole, for a wide window or a tall one.

    Of a few layouts, the one that fills such a window best; of a network with more than 100 nodes, the first.

    >>> import possnet as pn
    >>> layout = compute_card_layout(pn.load_example("clinic"))
    >>> sorted(layout), len(layout["cards"]), layout["edges"][0]["to"]
    (['cards', 'edges', 'head', 'height', 'line', 'pad', 'width'], 8, 'measles')
    """
    variables = network.variables
    _, most, gap, rise = next(density for density in _DENSITIES if len(variables) <= density[0])
    sizes = {variable.name: _card_size(variable, most) for variable in variables}
    parents = {variable.name: network.dag.parents(variable.name) for variable in variables}
    aspects = _ASPECTS[shape][: 1 if len(variables) > _MANY else 3]
    layouts = [compute_layout(parents, sizes, gap=gap, rise=rise, aspect=aspect) for aspect in aspects]
    layout = min(layouts, key=lambda layout: max(layout.width, layout.height * _WINDOWS[shape]))
    cards = []
    for variable in variables:
        (x, y), (width, height) = layout.nodes[variable.name], sizes[variable.name]
        cards.append(
            {
                "x": round(x - width / 2, 1),
                "y": round(y - height / 2, 1),
                "width": round(width, 1),
                "height": height,
                "labels": round(_label_width(variable), 1),
                "rows": len(variable) if len(variable) <= most else most - 1,
                "name": clip_text(variable.name, _NAME),
                "letters": round(min(22.0, 13.0 * (width - 12.0) / _head_width(variable)), 1),
            }
        )
    edges = [
        {"from": parent, "to": child, "points": [[round(x, 1), round(y, 1)] for x, y in line]}
        for (parent, child), line in layout.edges.items()
    ]
    size = {"width": round(layout.width, 1), "height": round(layout.height, 1)}
    return {"cards": cards, "edges": edges, **size, "head": _HEAD, "line": _LINE, "pad": _PAD}


def _head_width(variable: Variable) -> float:
    return max(_BOLD * measure_text(clip_text(variable.name, _NAME), 13.0), 1.0)


def _label_width(variable: Variable) -> float:
    labels = {clip_text(state, _LABEL) for state in variable.states} | {"more"}
    return _BOLD * max(measure_text(label, 12.0) for label in labels)


def _card_size(variable: Variable, most: int) -> tuple[float, float]:
    width = max(_head_width(variable) + 2 * _PAD + 30.0, _BOX + _label_width(variable) + _BAR + _NUMBER + 4 * _PAD)
    return width, _HEAD + _LINE * min(len(variable), most) + 8.0
