"""A directed acyclic graph in layers (Sugiyama, Tagawa and Toda 1981): parents above children, few crossings, short edges.

1. Layers are filled from above, up to a width, the nodes at the head of long paths first (Coffman and Graham 1972); nodes
   with more children than parents then come down to their children.
2. An edge over several layers gets a point in each layer that it passes.
3. Every layer is ordered by the mean place of its neighbours, downwards and upwards by turns; the order with the fewest
   crossings is kept.
4. Places along a layer: see `possnet.drawing.layer_placement`. Long edges run straight down past the layers between
   their ends.

Components are laid out apart and set side by side, single nodes last. Everything is deterministic.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import pairwise
from math import inf
from statistics import fmean
from typing import TYPE_CHECKING, TypeAlias

from possnet.drawing.layer_placement import place_points

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

Sizes: TypeAlias = "Mapping[str, tuple[float, float]]"
_SWEEPS = 24


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everything is: centres of nodes, the points of every edge from parent to child, and the size of the whole."""

    nodes: dict[str, tuple[float, float]]
    edges: dict[tuple[str, str], list[tuple[float, float]]]
    width: float
    height: float


@dataclass(slots=True)
class _LayerPoint:
    """A node, or a place where an edge passes a layer."""

    name: str | None
    width: float
    height: float
    layer: int
    above: list[int]
    below: list[int]
    x: float = 0.0


def compute_layout(
    parents: Mapping[str, Sequence[str]],
    sizes: Sizes,
    *,
    gap: float = 24.0,
    rise: float = 46.0,
    aspect: float = 1.6,
    widest: float = inf,
) -> Layout:
    """Lay out a DAG whose nodes have the given widths and heights.

    ``widest`` is how wide the nodes of a layer may be together; edges that pass them can make the drawing wider.

    >>> layout = compute_layout({"a": (), "b": ("a",)}, {"a": (40, 20), "b": (40, 20)})
    >>> layout.nodes["a"][1] < layout.nodes["b"][1], layout.nodes["a"][0] == layout.nodes["b"][0]
    (True, True)
    """
    parts = [
        _layout_component(group, parents, sizes, gap, rise, aspect, widest) for group in _connected_components(parents)
    ]
    if not parts:
        return Layout({}, {}, 0.0, 0.0)
    parts.sort(key=lambda part: (len(part.nodes) == 1, -len(part.nodes)))
    return _pack_components(parts, gap, aspect, widest)


def _connected_components(parents: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Connected components, nodes in the order given."""
    near: dict[str, set[str]] = {name: set() for name in parents}
    for child, above in parents.items():
        for parent in above:
            near[child].add(parent)
            near[parent].add(child)
    seen: set[str] = set()
    groups = []
    for name in parents:
        if name not in seen:
            group = reachable_nodes(name, near)
            seen |= group
            groups.append([n for n in parents if n in group])
    return groups


def reachable_nodes(start: str, near: Mapping[str, Collection[str]]) -> set[str]:
    """The nodes that can be reached from a node along its neighbours, itself included.

    >>> sorted(reachable_nodes("a", {"a": ("b",), "b": (), "c": ("a",)}))
    ['a', 'b']
    """
    reached, waiting = {start}, [start]
    while waiting:
        fresh = set(near[waiting.pop()]) - reached
        reached |= fresh
        waiting += fresh
    return reached


def _layout_component(
    names: list[str],
    parents: Mapping[str, Sequence[str]],
    sizes: Sizes,
    gap: float,
    rise: float,
    aspect: float,
    widest: float,
) -> Layout:
    area = sum((sizes[name][0] + gap) * (sizes[name][1] + rise) for name in names)
    widths = {name: sizes[name][0] + gap for name in names}
    most = min(1.2 * (area * aspect) ** 0.5, widest + gap)
    points, layers, chains = _build_points(names, parents, sizes, _assign_layers(names, parents, widths, most))
    _order_layers(points, layers)
    xs = place_points(
        layers,
        [point.above for point in points],
        [point.below for point in points],
        [point.name is None for point in points],
        [point.width + (gap if point.name is not None else gap * 0.5) for point in points],
    )
    for point, x in zip(points, xs, strict=True):
        point.x = x
    heights = [max(points[k].height for k in layer) for layer in layers]
    if len(layers) > 1:  # a flat drawing gets more room between its layers
        flat = (max(xs) - min(xs)) / (2.0 * aspect) - sum(heights)
        rise = min(max(rise, flat / (len(layers) - 1)), 3.0 * rise)
    tops = [sum(heights[:k]) + rise * k for k in range(len(layers))]
    middle = [top + height / 2 for top, height in zip(tops, heights, strict=True)]
    left = min(p.x - p.width / 2 for p in points)
    right = max(p.x + p.width / 2 for p in points)
    nodes = {p.name: (p.x - left, middle[p.layer]) for p in points if p.name is not None}
    edges = {}
    for edge, chain in chains.items():
        line = []
        for k in chain:
            x, layer = points[k].x - left, points[k].layer
            if points[k].name is not None:
                line.append((x, middle[layer]))
            else:  # straight through the whole layer, beside the nodes there
                line += [(x, tops[layer]), (x, tops[layer] + heights[layer])]
        edges[edge] = line
    return Layout(nodes, edges, right - left, tops[-1] + heights[-1])


def _build_points(
    names: list[str], parents: Mapping[str, Sequence[str]], sizes: Sizes, depth: Mapping[str, int]
) -> tuple[list[_LayerPoint], list[list[int]], dict[tuple[str, str], list[int]]]:
    """Nodes and passing points in their layers, and the points of every edge."""
    points = [_LayerPoint(name, *sizes[name], depth[name], [], []) for name in names]
    place = {name: k for k, name in enumerate(names)}
    chains = {}
    for child in names:
        for parent in parents[child]:
            chain = [place[parent]]
            for layer in range(depth[parent] + 1, depth[child]):
                points.append(_LayerPoint(None, 2.0, 0.0, layer, [], []))
                chain.append(len(points) - 1)
            chain.append(place[child])
            for upper, lower in pairwise(chain):
                points[upper].below.append(lower)
                points[lower].above.append(upper)
            chains[parent, child] = chain
    layers: list[list[int]] = [[] for _ in range(max(p.layer for p in points) + 1)]
    for number, point in enumerate(points):
        layers[point.layer].append(number)
    return points, layers, chains


def _assign_layers(
    names: list[str], parents: Mapping[str, Sequence[str]], widths: Mapping[str, float], most: float
) -> dict[str, int]:
    """Layers filled from above, the start of the longest path first, each up to a width; then nodes come down.

    Those with more children than parents come down to just above their first child, if there is room.
    """
    below: dict[str, list[str]] = {name: [] for name in names}
    for child in names:
        for parent in parents[child]:
            below[parent].append(child)
    ahead: dict[str, int] = {}
    for name in TopologicalSorter(below).static_order():
        ahead[name] = max((ahead[child] + 1 for child in below[name]), default=0)
    depth: dict[str, int] = {}
    waiting = list(names)
    filled: list[float] = []
    while waiting:
        ready = [n for n in waiting if all(depth.get(p, len(filled)) < len(filled) for p in parents[n])]
        used = 0.0
        for name in sorted(ready, key=lambda n: -ahead[n]):
            if used == 0.0 or used + widths[name] <= most:
                depth[name] = len(filled)
                used += widths[name]
        filled.append(used)
        waiting = [n for n in waiting if n not in depth]
    for name in sorted(names, key=lambda name: -depth[name]):
        if len(below[name]) > len(parents[name]):
            for lower in range(min(depth[child] for child in below[name]) - 1, depth[name], -1):
                if filled[lower] + widths[name] <= most:
                    filled[depth[name]] -= widths[name]
                    filled[lower] += widths[name]
                    depth[name] = lower
                    break
    layers = sorted(set(depth.values()))  # all nodes of a layer may have come down
    return {name: layers.index(layer) for name, layer in depth.items()}


def _order_layers(points: list[_LayerPoint], layers: list[list[int]]) -> None:
    """Order every layer for few crossings; ``layers`` ends in the best order."""
    best, fewest = [list(layer) for layer in layers], _count_crossings(points, layers)
    for sweep in range(_SWEEPS):
        if fewest == 0:
            break
        down = sweep % 2 == 0
        for layer in layers[1:] if down else layers[-2::-1]:
            beside = {k: place for other in layers for place, k in enumerate(other)}
            keys = {}
            for place, k in enumerate(layer):
                near = points[k].above if down else points[k].below
                keys[k] = (fmean(beside[n] for n in near) if near else place, place if sweep % 4 < 2 else -place)
            layer.sort(key=keys.__getitem__)
        crossings = _count_crossings(points, layers)
        if crossings < fewest:
            best, fewest = [list(layer) for layer in layers], crossings
    for layer, kept in zip(layers, best, strict=True):
        layer[:] = kept


def _count_crossings(points: list[_LayerPoint], layers: list[list[int]]) -> int:
    """Pairs of edges between neighbouring layers that cross."""
    total = 0
    for upper, lower in pairwise(layers):
        place = {k: p for p, k in enumerate(lower)}
        seen: list[int] = []
        for k in upper:
            ends = sorted(place[n] for n in points[k].below)
            total += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return total


def _pack_components(parts: list[Layout], gap: float, aspect: float, most: float) -> Layout:
    """Components in rows, so that the whole is about as wide as ``aspect`` times its height."""
    area = sum((part.width + gap) * (part.height + gap) for part in parts)
    widest = max(*(part.width for part in parts), min((area * aspect) ** 0.5, most))
    nodes: dict[str, tuple[float, float]] = {}
    edges: dict[tuple[str, str], list[tuple[float, float]]] = {}
    x = y = height = width = 0.0
    for part in parts:
        if x > 0.0 and x + part.width > widest:
            x, y, height = 0.0, y + height + 2 * gap, 0.0
        nodes.update({name: (px + x, py + y) for name, (px, py) in part.nodes.items()})
        edges.update({edge: [(px + x, py + y) for px, py in line] for edge, line in part.edges.items()})
        x += part.width + 2 * gap
        width, height = max(width, x - 2 * gap), max(height, part.height)
    return Layout(nodes, edges, width, y + height)
