"""A block of rows for the counting kernels: its columns as bitmaps, state codes and cell codes, computed on demand."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from possnet.kernels import bitmaps, tally

if TYPE_CHECKING:
    from collections.abc import Iterator

    from possnet.aliases import Bools, Codes, Ints, Words
    from possnet.dataset import Dataset


BLOCK: Final = 1 << 20
"""Rows that are counted at a time: the bitmaps of a family then stay in the cache."""


FOCAL_BLOCK: Final = 1 << 17
"""Rows that are counted at a time where they are grouped, which takes eight bytes a row."""


class RowBlock:
    """Rows ``start`` to ``start + rows`` of a data set, in the columns of some variables."""

    def __init__(
        self, data: Dataset, names: list[str], start: int, rows: int, scratch: tally.Scratch | None = None
    ) -> None:
        first, last = start // 64, -(-(start + rows) // 64)
        self.rows = rows
        self.scratch = tally.Scratch() if scratch is None else scratch
        self._data, self._rows = data, slice(start, start + rows)
        self.weights = None if data.weights is None else data.weights[self._rows]
        self._words = {name: data.bitmaps(name)[:, first:last] for name in names}
        self._state_counts: dict[str, Ints] = {}

    @property
    def total(self) -> int:
        """Sum of the weights."""
        return self.rows if self.weights is None else int(self.weights.sum())

    @property
    def digit_count(self) -> int:
        """Number of binary digits of the largest weight."""
        return 1 if self.weights is None else max(int(self.weights.max(initial=0)).bit_length(), 1)

    @cached_property
    def weight_digits(self) -> list[Words] | None:
        """Binary digits of the weights as bitmaps, lowest first; None if every row counts once."""
        if self.weights is None:
            return None
        return [bitmaps.pack((self.weights >> bit & 1).astype(np.uint8)) for bit in range(self.digit_count)]

    def words(self, name: str) -> Words:
        """Bitmaps of a column."""
        return self._words[name]

    def state_counts(self, name: str) -> Ints:
        """Number of cells that contain each state, weights apart."""
        if name not in self._state_counts:
            self._state_counts[name] = bitmaps.count_bits(self._words[name])
        return self._state_counts[name]

    def mean_size(self, name: str) -> float:
        """Mean number of states in a cell."""
        return float(self.state_counts(name).sum()) / self.rows

    def is_precise(self, name: str) -> bool:
        """Whether every cell is a single state: as many members as rows, for no cell is empty."""
        return int(self.state_counts(name).sum()) == self.rows

    def state_codes(self, name: str) -> Codes:
        """State number of every row of a precise column."""
        column = self._data.column(name)
        codes = column.codes[self._rows]
        return codes if len(column) == len(column.variable) and column.is_precise else column.first_states[codes]

    def cell_codes(self, name: str) -> tuple[Codes, Bools]:
        """Cell number of every row, and the distinct cells (cells, states); an unknown cell is the whole domain."""
        column = self._data.column(name).fill_unknown()
        return column.codes[self._rows], column.cell_sets

    def is_coded(self, name: str) -> bool:
        """Whether a column was decoded already."""
        return self._data.is_coded(name)

    def cell_size_sum(self, name: str) -> int:
        """Sum of the sizes of all cells, weighted."""
        if self.weights is None:
            return int(self.state_counts(name).sum())
        words = self._words[name]
        return sum(int(self.weights[bitmaps.unpack(bitmap, self.rows)].sum()) for bitmap in words)


def split_blocks(
    data: Dataset, names: list[str], scratch: tally.Scratch | None = None, size: int = BLOCK
) -> Iterator[RowBlock]:
    """The rows of a data set, block by block."""
    for start in range(0, len(data), size):
        yield RowBlock(data, names, start, min(size, len(data) - start), scratch)
