"""Triangulation by elimination orders: the price of exact computation on a graph.

Eliminating a node connects its neighbours and removes it; the node and its neighbours at that moment are a *clique*, and
the product of their numbers of states is the size of a table. A good order keeps the sum of these sizes small. Finding the
best is hard; greedy rules come close, and none of them wins everywhere:

- ``fill``: the node that needs the fewest new edges;
- ``weight``: the node whose clique has the smallest table;
- ``weighted-fill``: the node whose new edges have the smallest total weight (the product of the sizes of their ends);
- ``order``: the nodes as they are numbered, which for grids and chains, written row by row, beats all others.

Sets of nodes are integers (bit k is node k), so that connecting neighbours is a few machine operations; a heap holds the
costs, and only nodes near a change are priced again (Kjaerulff 1990 describes the rules).
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence

EliminationRule: TypeAlias = Literal["fill", "weight", "weighted-fill", "order"]


@dataclass(frozen=True, slots=True)
class Elimination:
    """An order of the nodes, the clique (a set of nodes as an integer) that each one left with, and all table entries."""

    order: tuple[int, ...]
    cliques: tuple[int, ...]
    entries: int


def iterate_bits(mask: int) -> Iterator[int]:
    """Positions of the set bits of an integer, lowest first.

    >>> list(iterate_bits(0b10110))
    [1, 2, 4]
    """
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def triangulate(neighbours: Sequence[int], sizes: Sequence[int]) -> Elimination:
    """The cheapest of the eliminations that the rules find.

    >>> square = [0b1010, 0b0101, 0b1010, 0b0101]
    >>> triangulate(square, [2, 2, 2, 2]).entries
    22
    """
    return min(
        (eliminate(neighbours, sizes, rule) for rule in get_args(EliminationRule)),
        key=lambda elimination: elimination.entries,
    )


def eliminate(
    neighbours: Sequence[int],
    sizes: Sequence[int],
    rule: EliminationRule,
    *,
    rng: random.Random | None = None,
    give_up: int | None = None,
    last: int = 0,
) -> Elimination:
    """Greedy elimination by one rule; ties go to the smaller table, then to the first node (or by ``rng``).

    Simplicial nodes, whose neighbours are all adjacent, go first: they add no edges. Prices are renewed for the
    neighbours of an eliminated node, and checked once more when a node is about to be chosen. With ``give_up`` the run
    stops, unfinished, once its entries pass that number. Nodes in ``last`` (as bits) go after all others.

    >>> eliminate([0b10, 0b101, 0b10], [2, 3, 4], "fill")
    Elimination(order=(0, 1, 2), cliques=(3, 6, 4), entries=22)
    """
    near = list(neighbours)
    order: list[int] = []
    cliques: list[int] = []
    entries = _eliminate_simplicial(near, sizes, order, cliques, last)
    left = [not last >> node & 1 for node in range(len(near))]
    for node in order:
        left[node] = False
    draws = [rng.random() if rng else float(node) for node in range(len(near))]
    price = _PRICES[rule]
    current = {node: (*price(node, near, sizes), draws[node]) for node, there in enumerate(left) if there}
    heap = [(cost, node) for node, cost in current.items()]
    heapify(heap)
    while heap:
        cost, node = heappop(heap)
        if not left[node] or cost != current[node]:
            continue
        checked = (*price(node, near, sizes), draws[node])
        if checked > cost:
            current[node] = checked
            heappush(heap, (checked, node))
            continue
        left[node] = False
        around = near[node]
        order.append(node)
        cliques.append(around | 1 << node)
        entries += _table_entries(node, around, sizes)
        if give_up is not None and entries >= give_up:
            break
        _remove_node(node, near)
        while around:
            lowest = around & -around
            around ^= lowest
            changed = lowest.bit_length() - 1
            if last & lowest:
                continue
            renewed = (*price(changed, near, sizes), draws[changed])
            if renewed != current[changed]:
                current[changed] = renewed
                heappush(heap, (renewed, changed))
    for node in iterate_bits(last):
        order.append(node)
        cliques.append(near[node] | 1 << node)
        entries += _table_entries(node, near[node], sizes)
        _remove_node(node, near)
    return Elimination(tuple(order), tuple(cliques), entries)


def _eliminate_simplicial(
    near: list[int], sizes: Sequence[int], order: list[int], cliques: list[int], last: int
) -> int:
    """Eliminate simplicial nodes, whose neighbours are all adjacent, while there are any; the entries of their tables."""
    entries = 0
    gone = last
    waiting = list(range(len(near) - 1, -1, -1))
    while waiting:
        node = waiting.pop()
        if gone >> node & 1:
            continue
        around = near[node]
        rest = around
        while rest:
            lowest = rest & -rest
            if around & ~near[lowest.bit_length() - 1] != lowest:
                break
            rest ^= lowest
        if rest:
            continue
        gone |= 1 << node
        order.append(node)
        cliques.append(around | 1 << node)
        entries += _table_entries(node, around, sizes)
        mask = ~(1 << node)
        while around:
            lowest = around & -around
            around ^= lowest
            other = lowest.bit_length() - 1
            near[other] &= mask
            waiting.append(other)
    return entries


def _remove_node(node: int, near: list[int]) -> None:
    """Connect the neighbours of a node with each other, and take it out."""
    around = near[node]
    mask = ~(1 << node)
    rest = around
    while rest:
        lowest = rest & -rest
        rest ^= lowest
        other = lowest.bit_length() - 1
        near[other] = (near[other] | around) & mask & ~lowest


def _table_entries(node: int, around: int, sizes: Sequence[int]) -> int:
    entries = sizes[node]
    while around:
        lowest = around & -around
        around ^= lowest
        entries *= sizes[lowest.bit_length() - 1]
    return entries


def _price_fill(node: int, near: list[int], sizes: Sequence[int]) -> tuple[float, float]:
    around = rest = near[node]
    missing = 0
    entries = sizes[node]
    while rest:
        lowest = rest & -rest
        rest ^= lowest
        other = lowest.bit_length() - 1
        missing += (around & ~near[other]).bit_count() - 1
        entries *= sizes[other]
    return missing, entries


def _price_weight(node: int, near: list[int], sizes: Sequence[int]) -> tuple[float, float]:
    return _table_entries(node, near[node], sizes), 0.0


def _price_weighted_fill(node: int, near: list[int], sizes: Sequence[int]) -> tuple[float, float]:
    around = rest = near[node]
    missing = 0
    entries = sizes[node]
    while rest:
        lowest = rest & -rest
        rest ^= lowest
        other = lowest.bit_length() - 1
        lacking = around & ~near[other] & ~lowest
        entries *= sizes[other]
        weight = 0
        while lacking:
            low = lacking & -lacking
            lacking ^= low
            weight += sizes[low.bit_length() - 1]
        missing += sizes[other] * weight
    return missing, entries


def _price_order(node: int, _near: list[int], _sizes: Sequence[int]) -> tuple[float, float]:
    return node, 0.0


_PRICES = {"fill": _price_fill, "weight": _price_weight, "weighted-fill": _price_weighted_fill, "order": _price_order}
