"""Programs of variable elimination: what a question about a small network costs in calls is found once, then only run.

Variables leave one after the other, each with the parts that hold it (bucket elimination: Dechter 1999), first the one
whose combination is the smallest. The order and all shapes follow from which variables the parts hold and from how many
states are left of them, not from the numbers in them: a program serves every question that leaves the same open.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from possnet.graph import iterate_bits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from possnet.aliases import Floats
    from possnet.inference.semirings import Semiring


@dataclass(frozen=True, slots=True)
class EliminationProgram:
    """Parts are numbered as given; the result of every step is one more.

    Attributes
    ----------
    steps
        What each step combines, parts and the shapes that they take (None: their own), and the axis that it projects out.
    last
        The parts that are left, and their shapes among the axes of the targets.
    shape
        Numbers of states of the targets.
    axes
        The targets in the order in which they were asked for, among those of ``shape``; None if it is the same.
    entries
        Of all tables that are combined.
    """

    steps: list[tuple[list[tuple[int, tuple[int, ...] | None]], int]]
    last: list[tuple[int, tuple[int, ...]]]
    shape: tuple[int, ...]
    axes: tuple[int, ...] | None
    entries: int

    def run(self, parts: list[Floats], semiring: Semiring) -> Floats:
        """The combination of all parts over the targets; ``parts`` has axes in the order of the variables' numbers.

        >>> from possnet.inference.semirings import MAX_PRODUCT
        >>> program = write_program([0b01, 0b11], {0: 2, 1: 2}, (1,), 100)
        >>> program.run([np.array([1.0, 0.5]), np.array([[1.0, 0.2], [0.3, 1.0]])], MAX_PRODUCT)
        array([1. , 0.5])
        """
        combine, project = semiring.combine, semiring.project.reduce
        values = list(parts)
        for operands, axis in self.steps:
            (first, inside), *others = operands
            table = values[first] if inside is None else values[first].reshape(inside)
            for number, inside in others:
                value = values[number]
                table = combine(table, value if inside is None else value.reshape(inside))
            values.append(project(table, axis))
        table = np.full(self.shape, semiring.one)
        for number, shape in self.last:
            combine(table, values[number].reshape(shape), out=table)
        return table if self.axes is None else table.transpose(self.axes).copy()


def write_program(
    masks: Sequence[int], sizes: Mapping[int, int], targets: Sequence[int], most: int
) -> EliminationProgram | None:
    """The program for parts over some variables (as bits), which projects all but the targets out; None if it is large.

    Parameters
    ----------
    sizes
        How many states are left of every variable.
    most
        Entries that all combinations may have together.

    Examples
    --------
    >>> write_program([0b01, 0b11], {0: 2, 1: 3}, (1,), 100).steps
    [([(0, (2, 1)), (1, None)], 0)]
    >>> write_program([0b01, 0b11], {0: 2, 1: 3}, (1,), 5) is None
    True
    """
    masks = list(masks)
    kept = sum(1 << target for target in targets)
    shape = tuple([sizes[target] for target in sorted(targets)])
    entries = prod(shape)
    if entries > most:
        return None
    holding: dict[int, set[int]] = {v: set() for v in sizes}
    for number, mask in enumerate(masks):
        for v in iterate_bits(mask):
            holding[v].add(number)
    unions, prices = {}, {}

    def price(v: int) -> int:
        """The entries of what leaves with a variable."""
        union = 0
        for number in holding[v]:
            union |= masks[number]
        if unions.get(v) != union:
            unions[v] = union
            prices[v] = prod([sizes[u] for u in iterate_bits(union)])
        return prices[v]

    waiting = [(price(v), v) for v in sizes if not kept >> v & 1]
    heapify(waiting)
    left, steps = set(range(len(masks))), []
    gone: set[int] = set()
    while waiting:
        cost, v = heappop(waiting)
        if v in gone or cost != prices[v]:
            continue
        entries += cost
        if entries > most:
            return None
        gone.add(v)
        numbers, union = holding.pop(v), unions[v]
        inside = [*iterate_bits(union)]
        steps.append((_shape_operands(numbers, masks, inside, sizes), inside.index(v)))
        inside.remove(v)
        left -= numbers
        left.add(len(masks))
        for u in inside:
            holding[u] -= numbers
            holding[u].add(len(masks))
        masks.append(union & ~(1 << v))
        for u in inside:
            if not kept >> u & 1:
                before = prices[u]
                if price(u) != before:
                    heappush(waiting, (prices[u], u))
    inside = sorted(targets)
    last = [(number, tuple([sizes[u] if masks[number] >> u & 1 else 1 for u in inside])) for number in sorted(left)]
    in_order = all(one < other for one, other in pairwise(targets))
    axes = None if in_order else tuple([inside.index(target) for target in targets])
    return EliminationProgram(steps, last, shape, axes, entries)


def _shape_operands(
    numbers: set[int], masks: Sequence[int], inside: Sequence[int], sizes: Mapping[int, int]
) -> list[tuple[int, tuple[int, ...] | None]]:
    """Parts, the smallest first, and the shapes that they take among some variables; None for one that holds them all."""
    shaped = []
    for number in numbers:
        mask = masks[number]
        shape = tuple([sizes[u] if mask >> u & 1 else 1 for u in inside])
        shaped.append((prod(shape), number, None if mask.bit_count() == len(inside) else shape))
    shaped.sort(key=lambda item: item[:2])
    return [(number, shape) for _, number, shape in shaped]
