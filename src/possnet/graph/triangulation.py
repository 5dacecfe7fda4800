"""Elimination orders: the price of exact computation on a graph.

Eliminating a node joins its neighbours and removes it; the node and its neighbours at that moment are a *clique*, and the
product of their numbers of states is the size of a table. A good order keeps the sum of these sizes small. Finding the best
is hard; greedy rules come close, and none of them wins everywhere:

- ``fill``: the node that needs the fewest new edges;
- ``weight``: the node whose clique has the smallest table;
- ``weighted-fill``: the node whose new edges have the smallest total weight (the product of the sizes of their ends).

Sets of nodes are integers (bit k is node k), so that joining neighbours is a few machine operations; a heap holds the
costs, and only nodes whose surroundings changed are priced again (Kjaerulff 1990 describes the rules).
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Elimination", "Rule", "bits", "eliminate", "triangulate"]

Rule: TypeAlias = Literal["fill", "weight", "weighted-fill"]


@dataclass(frozen=True, slots=True)
class Elimination:
    """An order of the nodes, the clique (a set of nodes as an integer) that each one left with, and the cells in all."""

    order: tuple[int, ...]
    cliques: tuple[int, ...]
    cells: int


def bits(mask: int) -> Iterator[int]:
    """Positions of the set bits of an integer, lowest first.

    >>> list(bits(0b10110))
    [1, 2, 4]
    """
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def triangulate(neighbours: Sequence[int], sizes: Sequence[int], *, restarts: int = 0) -> Elimination:
    """The cheapest elimination found by all rules, and by ``restarts`` more runs that break ties at random.

    >>> square = [0b1010, 0b0101, 0b1010, 0b0101]
    >>> triangulate(square, [2, 2, 2, 2]).cells
    22
    """
    best: Elimination | None = None
    for rule in get_args(Rule):
        found = eliminate(neighbours, sizes, rule)
        if best is None or found.cells < best.cells:
            best = found
    assert best is not None  # noqa: S101 - there is at least one rule
    chance = random.Random(0)  # noqa: S311 - breaks ties, the same way every time
    for attempt in range(restarts):
        rule = get_args(Rule)[attempt % len(get_args(Rule))]
        found = eliminate(neighbours, sizes, rule, chance=chance, give_up=best.cells)
        if found.cells < best.cells:
            best = found
    return best


def eliminate(
    neighbours: Sequence[int],
    sizes: Sequence[int],
    rule: Rule,
    *,
    chance: random.Random | None = None,
    give_up: int | None = None,
) -> Elimination:
    """Greedy elimination by one rule; ties go to the smaller table, then to the first node (or by ``chance``).

    With ``give_up`` the run stops, unfinished, as soon as its cells pass that number.

    >>> eliminate([0b10, 0b101, 0b10], [2, 3, 4], "fill")
    Elimination(order=(0, 1, 2), cliques=(3, 6, 4), cells=22)
    """
    near = list(neighbours)
    count = len(near)
    price = _PRICES[rule]
    draws = [chance.random() if chance else node for node in range(count)]
    current: list[tuple[float, float, float]] = [(0.0, 0.0, 0.0)] * count
    heap = []
    for node in range(count):
        current[node] = (*price(node, near, sizes), draws[node])
        heap.append((current[node], node))
    heapify(heap)
    left = [True] * count
    order: list[int] = []
    cliques: list[int] = []
    cells = 0
    while heap:
        cost, node = heappop(heap)
        if not left[node] or cost != current[node]:
            continue
        left[node] = False
        around = near[node]
        order.append(node)
        cliques.append(around | 1 << node)
        cells += _table(node, around, sizes)
        if give_up is not None and cells >= give_up:
            break
        for changed in bits(_remove(node, near, rule)):
            renewed = (*price(changed, near, sizes), draws[changed])
            if renewed != current[changed]:
                current[changed] = renewed
                heappush(heap, (renewed, changed))
    return Elimination(tuple(order), tuple(cliques), cells)


def _remove(node: int, near: list[int], rule: Rule) -> int:
    """Join the neighbours of a node, take it out, and tell whose price may have changed."""
    around = near[node]
    bit = 1 << node
    touched = around
    for other in bits(around):
        added = around & ~near[other] & ~(1 << other)
        near[other] = (near[other] | added) & ~bit
        if added and rule != "weight":
            for end in bits(added):
                touched |= near[other] & near[end]
    return touched & ~bit


def _table(node: int, around: int, sizes: Sequence[int]) -> int:
    cells = sizes[node]
    for other in bits(around):
        cells *= sizes[other]
    return cells


def _price_fill(node: int, near: list[int], sizes: Sequence[int]) -> tuple[float, float]:
    around = near[node]
    missing = 0
    for other in bits(around):
        missing += (around & ~near[other]).bit_count() - 1
    return missing, _as_float(_table(node, around, sizes))


def _price_weight(node: int, near: list[int], sizes: Sequence[int]) -> tuple[float, float]:
    return _as_float(_table(node, near[node], sizes)), 0.0


def _price_weighted_fill(node: int, near: list[int], sizes: Sequence[int]) -> tuple[float, float]:
    around = near[node]
    missing = 0
    for other in bits(around):
        lacking = around & ~near[other] & ~(1 << other)
        missing += sizes[other] * sum(sizes[end] for end in bits(lacking))
    return missing, _as_float(_table(node, around, sizes))


def _as_float(cells: int) -> float:
    return float(cells) if cells.bit_length() < 1000 else float("inf")


_PRICES = {"fill": _price_fill, "weight": _price_weight, "weighted-fill": _price_weighted_fill}
