"""Eliminations for many rows whose parts have few distinct columns: what several rows share is computed once.

At a clique rows may be all different although every part of it takes few values: then the combination of the first few
parts is still the same for many rows. Every step of an elimination (see `possnet.inference.elimination_steps`) is
computed for the distinct combinations of the columns that it takes, one large table after the other, so that each stays
in the processor's cache. Rows are put in an order in which those that agree in the first steps are neighbours, and are
worked on some at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from possnet.inference.code_columns import number_combinations

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from possnet.aliases import Floats, Ints
    from possnet.inference.elimination_steps import EliminationStep, Shape
    from possnet.inference.semirings import Semiring

_WORTH_SHARING = 0.7  # of the work without it
_ALONE = 1 << 11  # entries of a table that is worth calls of its own
_PIECE = 1 << 19  # entries of the results of a step for some rows


@dataclass(slots=True)
class SharedTable:
    """A table (columns, axes of variables) whose columns rows share.

    Attributes
    ----------
    codes
        The number of every row's column among those in use, of which every one is some row's; None if it is one.
    used
        The columns in use; None if all are.
    """

    values: Floats
    codes: Ints | None
    used: Ints | None = None

    @property
    def count(self) -> int:
        """How many columns are in use."""
        return len(self.values) if self.used is None else len(self.used)

    def choose(self, rows: Ints) -> SharedTable:
        """The table of some rows; it must have all columns in use."""
        if self.codes is None:
            return self
        used, places = share_codes(self.codes[rows])
        return SharedTable(self.values, places, used)

    def columns(self, rows: Ints | None) -> Ints | None:
        """The columns of some rows; or None: all as they are. Rows are None for one row of every column in use."""
        if self.codes is None or rows is None:
            return self.used
        numbers = self.codes[rows]
        return numbers if self.used is None else self.used[numbers]

    def take(self, rows: Ints | None) -> Floats:
        """The tables of some rows; see `columns`."""
        columns = self.columns(rows)
        return self.values if columns is None else self.values.take(columns, axis=0, mode="clip")


_NOTHING = SharedTable(np.empty(0), None)


class KeptMemory:
    """Memory for the results of a run's operations, used again by the next run: new pages cost more than the numbers."""

    def __init__(self) -> None:
        self._pieces: list[Floats] = []
        self._taken = 0

    def start(self) -> None:
        """All memory is free again."""
        self._taken = 0

    def take(self, shape: Shape) -> Floats:
        """An array of unknown contents."""
        size = prod(shape)
        if self._taken == len(self._pieces):
            self._pieces.append(np.empty(size))
        elif self._pieces[self._taken].size < size:
            self._pieces[self._taken] = np.empty(size)
        piece = self._pieces[self._taken]
        self._taken += 1
        return piece[:size].reshape(shape)


@dataclass(slots=True)
class SharingOrder:
    """In which order rows are worked on, and where pieces of them begin and end: 0 is the first of ``ends``."""

    rows: Ints
    ends: list[int]


def order_for_sharing(steps: Sequence[EliminationStep], codes: Sequence[Ints | None]) -> SharingOrder | None:
    """The order of rows in which those that agree in the first steps are neighbours; None if too few agree.

    ``codes`` are those of every row in every part; None if all rows have one.
    """
    keys: list[Ints | None] = list(codes)
    step_keys: list[tuple[Ints, int]] = []  # the key of every step, and the entries of its table
    for step in steps:
        for first, second in step.merges:
            keys.append(_number_together([keys[first], keys[second]]))
        key = _number_together([keys[number] for number in step.rest])
        keys.append(key)
        if key is not None:
            step_keys.append((key, prod(step.shape[:-1])))
    if not step_keys:
        return None
    length = len(step_keys[0][0])
    work = sum(size * (int(key.max()) + 1) for key, size in step_keys)
    if work > _WORTH_SHARING * length * sum(size for _, size in step_keys):
        return None
    rows = np.lexsort([key for key, _ in reversed(step_keys)])
    seen = []
    for key, size in step_keys:
        ordered = key[rows]
        seen.append((np.cumsum(np.concatenate([[True], ordered[1:] != ordered[:-1]])), max(_PIECE // size, 1)))
    ends = [0]
    while ends[-1] < length:
        begin = ends[-1]
        ends.append(min(int(np.searchsorted(count, count[begin] + most)) for count, most in seen))
    return SharingOrder(rows, ends)


def run_sharing_steps(
    steps: Sequence[EliminationStep], parts: Sequence[SharedTable], shape: Shape, semiring: Semiring, memory: KeptMemory
) -> SharedTable:
    """`possnet.inference.elimination_steps.run_steps` for parts whose columns, here the first axis, rows share.

    >>> from possnet.inference.elimination_steps import schedule_elimination
    >>> from possnet.inference.semirings import SUM_PRODUCT
    >>> parts = [
    ...     SharedTable(np.array([[1.0, 2.0]]), None),
    ...     SharedTable(np.array([[1.0, 1.0], [3.0, 4.0]]), np.array([1, 0, 1])),
    ... ]
    >>> result = run_sharing_steps(schedule_elimination([(2, 1), (2, 64)], 1), parts, (2,), SUM_PRODUCT, KeptMemory())
    >>> result.values.tolist(), result.codes.tolist()
    ([[3.0], [11.0]], [1, 0, 1])
    """
    values = list(parts)
    memory.start()
    last = len(steps) - 1
    axis = 0
    while axis <= last:
        step = steps[axis]
        merges, rest = step.merges, step.rest
        if merges and rest == [len(values) + len(merges) - 1]:  # what is left is the last merge
            merges, rest = merges[:-1], list(merges[-1])
        for first, second in merges:
            values.append(_combine(values[first], values[second], semiring, memory))
        if len(merges) < len(step.merges):
            values.append(_NOTHING)  # for no one else
        stop = axis if axis == last else axis + 1
        while stop < last and not steps[stop].merges and steps[stop].rest == [len(values) + stop - axis - 1]:
            stop += 1  # nothing comes in: the next axis leaves with this one
        result = _project([values[number] for number in rest], (axis, stop), shape, semiring, memory)
        values += [result] * max(stop - axis, 1)
        axis = max(stop, axis + 1)
    return values[-1]


def _project(
    tables: Sequence[SharedTable], axes: tuple[int, int], shape: Shape, semiring: Semiring, memory: KeptMemory
) -> SharedTable:
    """The combination of tables with the axes from the first to before the last projected out, each then of length 1."""
    if not tables:  # nothing holds the variables: their states are all alike
        alike = semiring.project.reduce(np.full(prod(shape[axes[0] : axes[1]]), semiring.one))
        return SharedTable(np.full((1,) * (len(shape) + 1), alike), None)
    table = tables[0]
    for other in tables[1:-1]:
        table = _combine(table, other, semiring, memory)
    if len(tables) > 1:
        return _combine(table, tables[-1], semiring, memory, axes)
    return SharedTable(_reduce(table.take(None), axes, semiring), table.codes)


def _reduce(values: Floats, axes: tuple[int, int], semiring: Semiring) -> Floats:
    """Axes of variables projected out of all columns; those before them have length 1."""
    count, *shape = values.shape
    left = [1] * axes[1] + shape[axes[1] :]
    flat: Floats = semiring.project.reduce(values.reshape(count, prod(shape[: axes[1]]), -1), axis=1)
    return flat.reshape(count, *left)


def _combine(
    first: SharedTable, second: SharedTable, semiring: Semiring, memory: KeptMemory, axes: tuple[int, int] | None = None
) -> SharedTable:
    """The combination of two tables for the combinations of columns that occur, some axes projected out if given."""
    codes, rows = _join(first, second)
    shape = tuple(map(max, first.values.shape[1:], second.values.shape[1:]))
    if prod(shape) < _ALONE:
        table = semiring.combine(first.take(rows), second.take(rows))
        return SharedTable(table if axes is None else _reduce(table, axes, semiring), codes)
    count = len(rows) if rows is not None else max(first.count, second.count)
    columns = [_pick(table, rows, count) for table in (first, second)]
    pairs = zip(*columns, strict=True)
    buffer = memory.take(shape)
    left = shape if axes is None else ((1,) * axes[1] + shape[axes[1] :])
    result = memory.take((count, *left))
    if axes is None:
        for (one, other), out in zip(pairs, result, strict=True):
            semiring.combine(one, other, out=out)
        return SharedTable(result, codes)
    states = buffer.reshape(prod(shape[: axes[1]]), -1)
    for (one, other), out in zip(pairs, result.reshape(count, -1), strict=True):
        semiring.combine(one, other, out=buffer)
        semiring.project.reduce(states, 0, None, out)
    return SharedTable(result, codes)


def _pick(table: SharedTable, rows: Ints | None, count: int) -> Iterable[Floats]:
    """The table's column for every combination of columns."""
    columns = table.columns(rows)
    if columns is None:
        return table.values if len(table.values) == count else [table.values[0]] * count
    if len(columns) < count:
        columns = np.repeat(columns, count)
    return map(table.values.__getitem__, columns.tolist())


def _join(first: SharedTable, second: SharedTable) -> tuple[Ints | None, Ints | None]:
    """The number of every row's combination of columns, and a row of each; None and None if there is one combination.

    The rows are None also if the combinations are the columns of a table as they are.
    """
    if first.codes is None or second.codes is None or first.codes is second.codes:
        return first.codes if second.codes is None else second.codes, None
    columns = [(first.codes, first.count), (second.codes, second.count)]
    return number_combinations(columns)


def share_codes(codes: Ints) -> tuple[Ints, Ints | None]:
    """The distinct codes, and the place of every row's among them; None if it is one.

    >>> share_codes(np.array([7, 3, 7]))
    (array([3, 7]), array([1, 0, 1]))
    >>> share_codes(np.array([3, 3]))
    (array([3]), None)
    """
    distinct, places = np.unique(codes, return_inverse=True)
    return distinct, places if len(distinct) > 1 else None


def _number_together(columns: Sequence[Ints | None]) -> Ints | None:
    """The number of every row's combination of codes; None if there is one only."""
    varying = [(column, int(column.max()) + 1) for column in columns if column is not None]
    if len(varying) < 2:
        return varying[0][0] if varying else None
    return number_combinations(varying)[0]
