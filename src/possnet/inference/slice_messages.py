"""What is kept of the nodes of a tree of slices: their combinations of codes, what they send, and what they receive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from possnet.aliases import Floats, Ints
    from possnet.inference.slice_layout import Pattern


@dataclass(slots=True)
class SliceMessages:
    """What a node sends: for every pattern of its separator a table (entries, columns), whose first column is 1.

    ``bits`` and ``columns`` say where every row finds its message; 0 and 0 where it has none.
    """

    bits: Ints
    columns: Ints
    widths: dict[int, int]
    tables: dict[int, Floats]

    @property
    def count(self) -> int:
        """Columns of the widest table."""
        return max(self.widths.values())


@dataclass(slots=True)
class PatternSlices:
    """Combinations of one pattern, from ``begin`` to ``end``, and the first column of their messages (-1: numbers)."""

    pattern: Pattern
    begin: int
    end: int
    column: int


@dataclass(slots=True)
class NodeWork:
    """The rows that matter at a node, the combination of each, and the code of every part in every combination."""

    rows: Ints
    keys: Ints
    codes: list[Ints]
    groups: list[PatternSlices]
    count: int
    vectors: tuple[int, ...]
    children: list[int]
    is_merged: bool


@dataclass(slots=True)
class ReceivedMessages:
    """What a node received, for its combinations together with columns of that; keys are those of its rows.

    ``tables`` are those of the messages, by open variables of the separator: none at a root.
    """

    keys: Ints
    combinations: Ints
    columns: Ints
    tables: dict[int, Floats]

    def find(self, group: PatternSlices) -> tuple[int, int]:
        """From where to where the slices of a pattern are."""
        start, stop = np.searchsorted(self.combinations, [group.begin, group.end]).tolist()
        return start, stop


@dataclass(slots=True)
class AskedColumns:
    """A child's pattern and open variables, the combinations that it waits for, and the column of the first."""

    bits: int
    scope: tuple[int, ...]
    places: Ints
    column: int

    def fill(self, tables: Mapping[int, Floats], projected: Floats, begin: int) -> None:
        """Put the columns that are waited for, of combinations from ``begin`` on, where they belong."""
        width = projected.shape[1]
        first, last = np.searchsorted(self.places, [begin, begin + width]).tolist()
        chosen = projected if last - first == width else projected[:, self.places[first:last] - begin]
        tables[self.bits][:, self.column + first : self.column + last] = chosen


class AnswerTables:
    """What a node below needs to know, pattern by pattern."""

    def __init__(self, count: int) -> None:
        self._columns = np.zeros(count, dtype=np.int64)
        self.widths: dict[int, int] = {}
        self.tables: dict[int, Floats] = {}

    def reserve(self, bits: int, places: Ints) -> int:
        """Columns for some combinations; the first is returned."""
        column = self.widths.get(bits, 0)
        self.widths[bits] = column + len(places)
        self._columns[places] = np.arange(column, column + len(places))
        return column

    def allocate(self, entries: Mapping[int, int]) -> None:
        """Make the tables, with so many entries a column."""
        self.tables = {bits: np.empty((entries[bits], width)) for bits, width in self.widths.items()}

    def join(self, rows: Ints, keys: Ints, n_rows: int) -> SliceMessages:
        """All of them, for rows whose combinations are given as keys."""
        columns = np.zeros(n_rows, dtype=np.int64)
        columns[rows] = self._columns[keys]
        return SliceMessages(columns, columns, self.widths, self.tables)


class LineTables:
    """The tables of all families, each in a line; and with as many ones behind it, for rows where it is of no account."""

    def __init__(self, tables: Sequence[Floats], one: float) -> None:
        self.flat = [np.ascontiguousarray(table).reshape(-1) for table in tables]
        self._one = one
        self._with_ones: dict[int, Floats] = {}

    def with_ones(self, family: int) -> Floats:
        """A table with ones behind it, made when first asked for."""
        if family not in self._with_ones:
            table = self.flat[family]
            self._with_ones[family] = np.concatenate([table, np.full(len(table), self._one)])
        return self._with_ones[family]
