"""In which order the parts of a clique are combined, found from their shapes alone, once for any number of rows.

A message of a clique is the combination of its parts with its residual variables projected out. They leave one by one, in
elimination order, and each takes along only the parts that hold it (bucket elimination: Dechter 1999): what does not hold
the first variable is combined when the table is smaller. Before that, parts whose union is small are combined with each
other, so that few passes go over the whole table.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from possnet.aliases import Floats
    from possnet.inference.semirings import Semiring

    Shape: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class EliminationStep:
    """Parts are numbered as given; each merge makes the next number, and so does the result of each step but the last.

    Attributes
    ----------
    merges
        Pairs of parts to combine first.
    rest
        What is combined then, the smallest first.
    shape
        The shape of that combination, before the axis of the step leaves.
    """

    merges: list[tuple[int, int]]
    rest: list[int]
    shape: Shape


def schedule_merges(shapes: list[Shape], numbers: Sequence[int]) -> tuple[list[tuple[int, int]], list[int]]:
    """Which of some parts to combine with each other before all are, and what is left of them, the smallest first.

    The shape of every combination is appended to ``shapes``. Equal shapes always merge; others do, those with the smallest
    union first, while that is no larger than one of them or far smaller than the union of all.

    >>> shapes = [(2, 1), (2, 1), (1, 3), (2, 3)]
    >>> schedule_merges(shapes, range(4)), shapes[4:]
    (([(0, 1), (4, 3)], [2, 5]), [(2, 1), (2, 3)])
    """
    merges: list[tuple[int, int]] = []

    def merge(first: int, second: int) -> int:
        merges.append((first, second))
        shapes.append(tuple(map(max, shapes[first], shapes[second])))
        return len(shapes) - 1

    of_shape: dict[Shape, int] = {}
    for number in numbers:
        shape = shapes[number]
        of_shape[shape] = merge(of_shape[shape], number) if shape in of_shape else number
    waiting = list(of_shape.values())
    whole = prod(max(sizes) for sizes in zip(*(shapes[number] for number in waiting), strict=True)) if waiting else 1
    limit = max(whole // 8, 1)

    def price(pair: tuple[int, int]) -> int:
        return prod(map(max, shapes[pair[0]], shapes[pair[1]]))

    while len(waiting) > 2:
        pairs = [
            pair for pair in combinations(waiting, 2) if price(pair) <= max(limit, *(prod(shapes[k]) for k in pair))
        ]
        if not pairs:
            break
        first, second = min(pairs, key=price)
        waiting = [number for number in waiting if number not in {first, second}] + [merge(first, second)]
    return merges, sorted(waiting, key=lambda number: prod(shapes[number]))


def schedule_elimination(shapes: Sequence[Shape], eliminated: int) -> list[EliminationStep]:
    """Steps that project the first axes out of a combination of parts, one after the other; a last one combines the rest.

    >>> for step in schedule_elimination([(2, 3, 1), (1, 3, 1), (1, 1, 4)], 2):
    ...     print(step)
    EliminationStep(merges=[], rest=[0], shape=(2, 3, 1))
    EliminationStep(merges=[(1, 3)], rest=[4], shape=(1, 3, 1))
    EliminationStep(merges=[], rest=[5, 2], shape=(1, 1, 4))
    """
    known = list(shapes)
    waiting: list[list[int]] = [[] for _ in range(eliminated + 1)]

    def wait(number: int) -> None:
        held = [axis for axis, size in enumerate(known[number][:eliminated]) if size > 1]
        waiting[held[0] if held else eliminated].append(number)

    for number in range(len(known)):
        wait(number)
    steps = []
    for axis in range(eliminated + 1):
        merges, rest = schedule_merges(known, waiting[axis])
        width = len(shapes[0]) if shapes else 0
        shape = tuple([max((known[number][k] for number in rest), default=1) for k in range(width)])
        steps.append(EliminationStep(merges, rest, shape))
        if axis < eliminated:  # also where nothing holds the axis: a number, which stands for its states
            known.append((*shape[:axis], 1, *shape[axis + 1 :]))
            wait(len(known) - 1)
    return steps


def _project_product(parts: Sequence[Floats], axis: int, semiring: Semiring, buffer: Floats) -> Floats:
    """Combination of parts with an axis projected out, which stays with length 1; axes before it have length 1.

    The combination is written into the buffer, if that is large enough.

    >>> from possnet.inference.semirings import SUM_PRODUCT
    >>> _project_product([np.array([[1.0], [10.0]]), np.array([[1.0, 2.0], [3.0, 4.0]])], 0, SUM_PRODUCT, np.empty(4))
    array([[31., 42.]])
    """
    table = parts[0]
    for part in parts[1:-1]:
        table = semiring.combine(table, part)
    if len(parts) > 1:
        shape = tuple(map(max, table.shape, parts[-1].shape))
        out = buffer[: prod(shape)].reshape(shape) if prod(shape) <= buffer.size else np.empty(shape)
        table = semiring.combine(table, parts[-1], out=out)
    left = (*table.shape[:axis], 1, *table.shape[axis + 1 :])
    projected: Floats = semiring.project.reduce(table.reshape(table.shape[axis], -1), axis=0)
    return projected.reshape(left)


def run_steps(
    steps: Sequence[EliminationStep], parts: list[Floats], shape: Shape, semiring: Semiring, buffer: Floats
) -> Floats:
    """The combination of parts with the first axes projected out; they, and axes that no part holds, have length 1.

    ``steps`` are those of `schedule_elimination` for the parts' axes; one more, of rows, is the last.

    >>> from possnet.inference.semirings import SUM_PRODUCT
    >>> steps = schedule_elimination([(1, 3)], 1)
    >>> run_steps(steps, [np.array([[[1.0], [2.0], [3.0]]])], (2, 3), SUM_PRODUCT, np.empty(0)).ravel()
    array([2., 4., 6.])
    """
    values = list(parts)
    for axis, step in enumerate(steps[:-1]):
        values += _merge_values(step, values, semiring)
        if step.rest:
            values.append(_project_product([values[number] for number in step.rest], axis, semiring, buffer))
        else:  # nothing holds this variable: its states are all alike
            alike = semiring.project.reduce(np.full(shape[axis], semiring.one))
            values.append(np.full((1,) * (len(shape) + 1), alike))
    values += _merge_values(steps[-1], values, semiring)
    table = np.full((1,) * (len(shape) + 1), semiring.one)
    for count, number in enumerate(steps[-1].rest):
        table = semiring.combine(table, values[number]) if count else values[number]
    return table


def _merge_values(step: EliminationStep, values: Sequence[Floats], semiring: Semiring) -> list[Floats]:
    known = list(values)
    for first, second in step.merges:
        known.append(semiring.combine(known[first], known[second]))
    return known[len(values) :]
