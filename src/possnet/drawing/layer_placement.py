"""Places along the layers of a drawing: long edges straight, every node near its neighbours, nothing too close.

The points that a long edge passes form a block, which has one place; every other point is a block of its own. A block
wants the mean place of its neighbours. Blocks that would come too close are pushed apart, once all to the right and once
all to the left; the mean of both keeps order and distances (the constraints are linear) and favours no side. Every round
moves blocks towards the places they want, then pushes them apart. Brandes and Köpf (2002) also begin with blocks, but line
nodes up with one neighbour each, which makes drawings of many nodes two to three times as wide.
"""

from __future__ import annotations

from graphlib import TopologicalSorter
from itertools import pairwise
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

    Layers: TypeAlias = Sequence[Sequence[int]]

_ROUNDS: Final = 80
_WIDTH: Final = 1.15


def place_points(
    layers: Layers, above: Layers, below: Layers, passing: Sequence[bool], room: Sequence[float]
) -> list[float]:
    """Place of every point along its layer.

    Parameters
    ----------
    layers
        Points of every layer, from left to right; every point in one layer.
    above, below
        Neighbours of every point in the layers next to its own.
    passing
        Which points are only passed by a long edge; these have one neighbour above and one below.
    room
        How much room every point needs: the places of two neighbours are at least half the sum of theirs apart.

    Examples
    --------
    >>> place_points([[0], [1, 2]], [[], [0], [0]], [[1, 2], [], []], [False] * 3, [10.0] * 3)
    [5.0, 0.0, 10.0]
    """
    first = _break_blocks(_form_blocks(layers, above, passing), layers, room)
    gaps = _required_gaps(layers, first, room)
    order = _left_to_right(gaps)
    near: dict[int, list[int]] = {block: [] for block in order}
    for k, block in enumerate(first):
        near[block] += [first[n] for n in (*above[k], *below[k]) if first[n] != block]
    x = _push_apart(dict.fromkeys(order, 0.0), gaps, order)
    for _ in range(_ROUNDS):
        means = {block: sum(x[n] for n in others) / len(others) for block, others in near.items() if others}
        x = _push_apart({block: (x[block] + 2.0 * means.get(block, x[block])) / 3.0 for block in order}, gaps, order)
    least = min(x.values())
    return [x[block] - least for block in first]


def _form_blocks(layers: Layers, above: Layers, passing: Sequence[bool]) -> list[int]:
    """Of every point, the first point of its block; a long edge that crosses another one is broken there."""
    first = list(range(sum(map(len, layers))))
    for upper, lower in pairwise(layers):
        where = {k: place for place, k in enumerate(upper)}
        last = -1
        for k in lower:
            if passing[k] and passing[above[k][0]] and where[above[k][0]] > last:
                last = where[above[k][0]]
                first[k] = first[above[k][0]]
    return first


def _break_blocks(first: list[int], layers: Layers, room: Sequence[float]) -> list[int]:
    """Blocks broken where they make the drawing too wide.

    The least width is that of the longest row of blocks. Such a row can go from one layer to another along a block, so that
    it is longer than any layer; blocks are broken there until no row is much longer than the widest layer.
    """
    most = _WIDTH * max(sum(room[k] for k in layer) for layer in layers)
    level = {k: number for number, layer in enumerate(layers) for k in layer}
    broken = list(first)
    while True:
        row = _longest_row(broken, layers, room, most)
        cuts = {broken[end]: max(level[end], level[start]) for (_, end), (start, _) in pairwise(row)}
        cuts = {block: at for block, at in cuts.items() if level[block] < at}
        if not cuts:
            return broken
        heads: dict[int, int] = {}
        for k in sorted(range(len(broken)), key=level.__getitem__):
            block = broken[k]
            if block in cuts and level[k] >= cuts[block]:
                broken[k] = heads.setdefault(block, k)


def _longest_row(first: Sequence[int], layers: Layers, room: Sequence[float], most: float) -> list[tuple[int, int]]:
    """Neighbours (left, right) along the longest row of blocks, or none if no row is longer than ``most``."""
    gaps = _required_gaps(layers, first, room)
    nearest: dict[tuple[int, int], tuple[int, int]] = {}
    for layer in layers:
        for left, right in pairwise(layer):
            pair = (first[left], first[right])
            if (room[left] + room[right]) / 2 == gaps[pair[0]][pair[1]]:
                nearest.setdefault(pair, (left, right))
    reach = dict.fromkeys(gaps, 0.0)
    before: dict[int, int] = {}
    for block in _left_to_right(gaps):
        for other, gap in gaps[block].items():
            if reach[block] + gap > reach[other]:
                reach[other], before[other] = reach[block] + gap, block
    block = max(reach, key=reach.__getitem__)
    if reach[block] <= most:
        return []
    row = []
    while block in before:
        row.append(nearest[before[block], block])
        block = before[block]
    return row[::-1]


def _required_gaps(layers: Layers, first: Sequence[int], room: Sequence[float]) -> dict[int, dict[int, float]]:
    """Block -> the blocks to its right, and how far away they must be."""
    gaps: dict[int, dict[int, float]] = {block: {} for block in first}
    for layer in layers:
        for left, right in pairwise(layer):
            beside = gaps[first[left]]
            beside[first[right]] = max(beside.get(first[right], 0.0), (room[left] + room[right]) / 2)
    return gaps


def _left_to_right(gaps: dict[int, dict[int, float]]) -> list[int]:
    """Blocks in a topological order: each before those to its right."""
    return list(TopologicalSorter(gaps).static_order())[::-1]


def _push_apart(wanted: dict[int, float], gaps: dict[int, dict[int, float]], order: list[int]) -> dict[int, float]:
    """Places near the wanted ones and far enough apart: the mean of pushing all to the right and all to the left."""
    right, left = dict(wanted), dict(wanted)
    for block in order:
        for other, gap in gaps[block].items():
            right[other] = max(right[other], right[block] + gap)
    for block in reversed(order):
        for other, gap in gaps[block].items():
            left[block] = min(left[block], left[other] - gap)
    return {block: (right[block] + left[block]) / 2 for block in order}
