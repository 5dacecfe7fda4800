"""Programs of variable elimination: how a question is answered is worked out once, then only run.

Variables leave one after the other, each with the parts that hold it (bucket elimination: Dechter 1999), first the one
whose combination is the smallest. The order and all shapes follow from which variables the parts hold and from how many
states are left of them, not from the numbers in them: a program serves every question that leaves the same open.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from math import prod
from typing import TYPE_CHECKING

import numpy as np

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
        >>> program = write_program([(0,), (0, 1)], {0: 2, 1: 2}, (1,), 100)
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
    scopes: Sequence[tuple[int, ...]], sizes: Mapping[int, int], targets: Sequence[int], most: int
) -> EliminationProgram | None:
    """The program for parts over some variables, which projects all but the targets out; None if it is large.

    Parameters
    ----------
    scopes
        The variables of every part, in the order of their numbers.
    sizes
        How many states are left of every variable.
    most
        Entries that all combinations may have together.

    Examples
    --------
    >>> write_program([(0,), (0, 1)], {0: 2, 1: 3}, (1,), 100).steps
    [([(0, (2, 1)), (1, None)], 0)]
    >>> write_program([(0,), (0, 1)], {0: 2, 1: 3}, (1,), 5) is None
    True
    """
    scopes = list(scopes)
    kept = sorted(targets)
    shape = tuple([sizes[target] for target in kept])
    entries = prod(shape)
    if entries > most:
        return None
    holding: dict[int, set[int]] = {v: set() for v in sizes}
    near: dict[int, set[int]] = {v: set() for v in sizes}  # what leaves together with a variable, itself included
    for number, scope in enumerate(scopes):
        for v in scope:
            holding[v].add(number)
            near[v].update(scope)
    prices = {v: prod([sizes[u] for u in near[v]]) for v in sizes if v not in kept}
    waiting = [(price, v) for v, price in prices.items()]
    heapify(waiting)
    left, steps = set(range(len(scopes))), []
    while waiting:
        price, v = heappop(waiting)
        if prices.get(v) != price:  # gone, or priced anew since
            continue
        entries += price
        if entries > most:
            return None
        del prices[v]
        numbers, inside = holding.pop(v), sorted(near[v])
        axis, result = inside.index(v), len(scopes)
        steps.append((_shape_operands(numbers, scopes, inside, sizes), axis))
        del inside[axis]
        rest, size = set(inside), sizes[v]
        scopes.append(tuple(inside))
        left -= numbers
        left.add(result)
        for u in inside:
            own = holding[u]
            own -= numbers
            own.add(result)
            before = prices.get(u)
            if before is None:
                continue
            price, neighbours = before // size, near[u]
            for new in rest - neighbours:
                price *= sizes[new]
            neighbours |= rest
            neighbours.discard(v)
            if price != before:
                prices[u] = price
                heappush(waiting, (price, u))
    last = [(number, tuple([sizes[u] if u in scopes[number] else 1 for u in kept])) for number in sorted(left)]
    axes = None if kept == [*targets] else tuple([kept.index(target) for target in targets])
    return EliminationProgram(steps, last, shape, axes, entries)


def _shape_operands(
    numbers: set[int], scopes: Sequence[tuple[int, ...]], inside: Sequence[int], sizes: Mapping[int, int]
) -> list[tuple[int, tuple[int, ...] | None]]:
    """Parts, those that hold all variables last, and the shapes that they take; None for one that holds all variables."""
    if len(numbers) == 1:
        return [(number, None) for number in numbers]
    shaped: list[tuple[int, tuple[int, ...] | None]] = []
    for number in sorted(numbers):
        scope = scopes[number]
        if len(scope) == len(inside):
            shaped.append((number, None))
        else:
            shaped.insert(0, (number, tuple([sizes[u] if u in scope else 1 for u in inside])))
    return shaped
