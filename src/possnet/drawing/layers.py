"""A directed acyclic graph in layers (Sugiyama, Tagawa and Toda 1981): parents above children, few crossings, short edges.

1. A node's layer is the length of the longest path to it; nodes without parents then sink towards their children.
2. An edge over several layers gets a point in each layer that it passes.
3. Every layer is ordered by the mean place of its neighbours, downwards and upwards by turns; the order with the fewest
   crossings is kept.
4. Places along a layer are found by pulling every node towards the mean of its neighbours, as far as the nodes beside it
   allow.

Components are laid out apart and set side by side, single nodes last. Everything is deterministic.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Layout", "Sizes", "layered"]

Sizes: TypeAlias = "Mapping[str, tuple[float, float]]"
_SWEEPS = 24
_PULLS = 60


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everything is: centres of nodes, the points of every edge from parent to child, and the size of the whole."""

    nodes: dict[str, tuple[float, float]]
    edges: dict[tuple[str, str], list[tuple[float, float]]]
    width: float
    height: float


@dataclass(slots=True)
class _Point:
    """A node, or a place where an edge passes a layer."""

    name: str | None
    width: float
    height: float
    layer: int
    above: list[int]
    below: list[int]
    x: float = 0.0


def layered(
    parents: Mapping[str, Sequence[str]], sizes: Sizes, *, gap: float = 24.0, rise: float = 46.0, aspect: float = 1.6
) -> Layout:
    """Layout of a DAG whose nodes have the given widths and heights.

    >>> found = layered({"a": (), "b": ("a",)}, {"a": (40, 20), "b": (40, 20)})
    >>> found.nodes["a"][1] < found.nodes["b"][1], found.nodes["a"][0] == found.nodes["b"][0]
    (True, True)
    """
    parts = [_component(group, parents, sizes, gap, rise) for group in _groups(parents)]
    parts.sort(key=lambda part: (len(part.nodes) == 1, -len(part.nodes)))
    return _packed(parts, gap, aspect)


def _groups(parents: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Connected components, nodes in the order given."""
    near: dict[str, set[str]] = {name: set() for name in parents}
    for child, above in parents.items():
        for parent in above:
            near[child].add(parent)
            near[parent].add(child)
    seen: set[str] = set()
    groups = []
    for name in parents:
        if name in seen:
            continue
        reached, waiting = {name}, [name]
        while waiting:
            for other in near[waiting.pop()] - reached:
                reached.add(other)
                waiting.append(other)
        seen |= reached
        groups.append([n for n in parents if n in reached])
    return groups


def _component(names: list[str], parents: Mapping[str, Sequence[str]], sizes: Sizes, gap: float, rise: float) -> Layout:
    points, layers, chains = _points(names, parents, sizes)
    _order(points, layers)
    _place(points, layers, gap)
    heights = [max(points[k].height for k in layer) for layer in layers]
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


def _points(
    names: list[str], parents: Mapping[str, Sequence[str]], sizes: Sizes
) -> tuple[list[_Point], list[list[int]], dict[tuple[str, str], list[int]]]:
    """Nodes and passing points in their layers, and the points of every edge."""
    depth = _depths(names, parents)
    points = [_Point(name, *sizes[name], depth[name], [], []) for name in names]
    place = {name: k for k, name in enumerate(names)}
    chains = {}
    for child in names:
        for parent in parents[child]:
            chain = [place[parent]]
            for layer in range(depth[parent] + 1, depth[child]):
                points.append(_Point(None, 2.0, 0.0, layer, [], []))
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


def _depths(names: list[str], parents: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Longest path from a root; then nodes without parents come down to just above their first child."""
    depth: dict[str, int] = {}
    waiting = list(names)
    while waiting:
        later = []
        for name in waiting:
            if all(parent in depth for parent in parents[name]):
                depth[name] = max((depth[parent] + 1 for parent in parents[name]), default=0)
            else:
                later.append(name)
        waiting = later
    for name in names:
        children = [depth[child] for child in names if name in parents[child]]
        if not parents[name] and children:
            depth[name] = min(children) - 1
    return depth


def _order(points: list[_Point], layers: list[list[int]]) -> None:
    """Order every layer for few crossings; ``layers`` ends in the best order found."""
    best, fewest = [list(layer) for layer in layers], _crossings(points, layers)
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
        found = _crossings(points, layers)
        if found < fewest:
            best, fewest = [list(layer) for layer in layers], found
    for layer, kept in zip(layers, best, strict=True):
        layer[:] = kept


def _crossings(points: list[_Point], layers: list[list[int]]) -> int:
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


def _place(points: list[_Point], layers: list[list[int]], gap: float) -> None:
    """Places along the layers: packed at first, then pulled towards neighbours."""
    for layer in layers:
        x = 0.0
        for k in layer:
            x += points[k].width / 2
            points[k].x = x
            x += points[k].width / 2 + _gap(points[k], gap)
        shift = (x - gap) / 2
        for k in layer:
            points[k].x -= shift
    for pull in range(_PULLS):
        order = layers if pull % 2 == 0 else layers[::-1]
        for layer in order:
            _pull(points, layer, gap, down=pull % 2 == 0, both=pull >= _PULLS - 4)


def _gap(point: _Point, gap: float) -> float:
    return gap if point.name is not None else gap * 0.6


def _pull(points: list[_Point], layer: list[int], gap: float, *, down: bool, both: bool) -> None:
    """Move a layer's points to the mean of their neighbours, in blocks that would overlap otherwise."""
    wanted = []
    for k in layer:
        point = points[k]
        near = (
            point.above + point.below if both else (point.above if down else point.below) or point.below or point.above
        )
        weight = 4.0 if point.name is None else 1.0
        wanted.append((fmean(points[n].x for n in near) if near else point.x, weight))
    offsets = [0.0]
    for before, after in pairwise(layer):
        room = (points[before].width + points[after].width) / 2 + _gap(points[before], gap)
        offsets.append(offsets[-1] + room)
    blocks: list[list[float]] = []  # weight, mean of (wanted - offset), first member: pool adjacent violators
    for number, (x, weight) in enumerate(wanted):
        blocks.append([weight, x - offsets[number], float(number)])
        while len(blocks) > 1 and blocks[-2][1] > blocks[-1][1]:
            late = blocks.pop()
            early = blocks[-1]
            early[1] = (early[0] * early[1] + late[0] * late[1]) / (early[0] + late[0])
            early[0] += late[0]
    ends = [int(block[2]) for block in blocks[1:]] + [len(layer)]
    start = 0
    for block, end in zip(blocks, ends, strict=True):
        for number in range(start, end):
            points[layer[number]].x = block[1] + offsets[number]
        start = end


def _packed(parts: list[Layout], gap: float, aspect: float) -> Layout:
    """Components in rows, so that the whole is about as wide as ``aspect`` times its height."""
    area = sum((part.width + gap) * (part.height + gap) for part in parts)
    widest = max(*(part.width for part in parts), (area * aspect) ** 0.5)
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
