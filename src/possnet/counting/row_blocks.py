"""A block of rows while it is counted: its columns in the forms that the kernels want, each made when first needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from possnet.kernels import bitmaps, tally

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from possnet.aliases import Bools, Ints, Words
    from possnet.dataset import Dataset


BLOCK: Final = 1 << 20
"""Rows that are counted at a time: the bitmaps of a family then stay in the cache."""


FOCAL_BLOCK: Final = 1 << 17
"""The same where the cells of every column are numbered, which takes four bytes a cell."""


class Block:
    """Rows of some variables."""

    def __init__(
        self, data: Dataset, names: list[str], start: int, rows: int, scratch: tally.Scratch | None = None
    ) -> None:
        first, last = start // 64, -(-(start + rows) // 64)
        self.rows = rows
        self.scratch = tally.Scratch() if scratch is None else scratch
        self.weights = None if data.weights is None else data.weights[start : start + rows]
        self._words = {name: data.bitmaps(name)[:, first:last] for name in names}
        self._state_counts: dict[str, Ints] = {}
        self._codes: dict[str, NDArray[np.unsignedinteger]] = {}
        self._cells: dict[str, tuple[NDArray[np.int32], Bools]] = {}
        self._planes: list[Words] | None = None

    @property
    def total(self) -> int:
        """Sum of the weights."""
        return self.rows if self.weights is None else int(self.weights.sum())

    @property
    def digit_count(self) -> int:
        """Number of binary digits of the largest weight."""
        return 1 if self.weights is None else max(int(self.weights.max(initial=0)).bit_length(), 1)

    @property
    def digits(self) -> list[Words] | None:
        """Binary digits of the weights as bitmaps, lowest first; None if every row counts once."""
        if self.weights is not None and self._planes is None:
            shifts = range(self.digit_count)
            self._planes = [bitmaps.pack((self.weights >> bit & 1).astype(np.uint8)) for bit in shifts]
        return self._planes

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

    def codes(self, name: str) -> NDArray[np.unsignedinteger]:
        """State number of every row of a precise column."""
        if name not in self._codes:
            self._codes[name] = bitmaps.decode_states(self._words[name], self.rows)
        return self._codes[name]

    def cells(self, name: str) -> tuple[NDArray[np.int32], Bools]:
        """Cell number of every row, and the distinct cells (cells, states)."""
        if name not in self._cells:
            if self.is_precise(name):
                codes = self.codes(name).astype(np.int32)
                self._cells[name] = codes, np.eye(len(self._words[name]), dtype=np.bool_)
            else:
                numbers, octets = bitmaps.decode_cells(self._words[name], self.rows)
                self._cells[name] = numbers.astype(np.int32), bitmaps.unpack_sets(octets, len(self._words[name]))
        return self._cells[name]

    def knows_cells(self, name: str) -> bool:
        """Whether the cell numbers of a column were made already."""
        return name in self._cells

    def cell_size_sum(self, name: str) -> int:
        """Sum of the sizes of all cells, weighted."""
        if self.weights is None:
            return int(self.state_counts(name).sum())
        words = self._words[name]
        return sum(int(self.weights[bitmaps.unpack(bitmap, self.rows)].sum()) for bitmap in words)


def blocks_of(
    data: Dataset, names: list[str], scratch: tally.Scratch | None = None, size: int = BLOCK
) -> Iterator[Block]:
    """The rows of a data set, block by block."""
    for start in range(0, len(data), size):
        yield Block(data, names, start, min(size, len(data) - start), scratch)
