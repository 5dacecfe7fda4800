"""A block of rows for the counting kernels: its columns as bitmaps, state codes and cell codes, computed on demand."""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from possnet.kernels import bitmaps, tally

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from possnet.aliases import Bools, Codes, Floats, Ints, Weights, Words
    from possnet.dataset import Dataset
    from possnet.kernels.graded_cells import GradedCells


BLOCK: Final = 1 << 20
"""Rows that are counted at a time: the bitmaps of a family then stay in the cache."""


FOCAL_BLOCK: Final = 1 << 17
"""Rows that are counted at a time where they are grouped, which takes eight bytes a row."""


class DegreeCodes(NamedTuple):
    """A column with graded cells: the cell number of every row, and the degrees (cells, states) of all cells.

    The first ``n_sets`` cells are sets; the others are graded.
    """

    codes: NDArray[np.unsignedinteger]
    degrees: Floats
    n_sets: int


class RowBlock:
    """Rows ``start`` to ``start + rows`` of a data set, in the columns of some variables."""

    def __init__(
        self, data: Dataset, names: list[str], start: int, rows: int, scratch: tally.Scratch | None = None
    ) -> None:
        first, last = start // 64, -(-(start + rows) // 64)
        self.rows = rows
        self.scratch = tally.Scratch() if scratch is None else scratch
        self._data, self._rows = data, slice(start, start + rows)
        self.weights: Weights | None = None if data.weights is None else data.weights[self._rows]
        self._words = {name: data.bitmaps(name)[:, first:last] for name in names}
        self._state_counts: dict[str, Ints] = {}
        self._graded: dict[str, GradedCells | None] = {}
        self._graded_words: dict[str, Words] = {}
        self._coded: dict[str, DegreeCodes] = {}

    @property
    def total(self) -> int | float:
        """Sum of the weights."""
        return self.rows if self.weights is None else self.weights.sum().item()

    @property
    def is_whole(self) -> bool:
        """Whether all weights are whole numbers."""
        return self.weights is None or self.weights.dtype.kind != "f"

    @property
    def digit_count(self) -> int:
        """Number of binary digits of the largest weight, of whole ones."""
        return 1 if self.weights is None else max(int(self.weights.max(initial=0)).bit_length(), 1)

    @cached_property
    def weight_digits(self) -> list[Words] | None:
        """Binary digits of the weights as bitmaps, lowest first; None if every row counts once."""
        if self.weights is None:
            return None
        whole = self.weights.astype(np.int64, copy=False)
        return [bitmaps.pack((whole >> bit & 1).astype(np.uint8)) for bit in range(self.digit_count)]

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

    def cell_size_sum(self, name: str) -> int | float:
        """Sum of the sizes of all cells, weighted; the size of a graded cell is the sum of its degrees."""
        if self.weights is None:
            size: int | float = int(self.state_counts(name).sum())
        else:
            words = self._words[name]
            size = sum(self.weights[bitmaps.unpack(bitmap, self.rows)].sum().item() for bitmap in words)
        cells = self.graded_cells(name)
        if cells is None:
            return size
        excess = ((cells.degrees > 0.0).sum(axis=1) - cells.degrees.sum(axis=1))[cells.codes]
        return size - float(excess.sum() if self.weights is None else excess @ self.weights[cells.rows])

    def graded_cells(self, name: str) -> GradedCells | None:
        """The graded cells of a column in these rows."""
        if name not in self._graded:
            cells = self._data.graded_cells(name)
            if cells is not None:
                first, last = np.searchsorted(cells.rows, (self._rows.start, self._rows.stop))
                part = slice(first, last)
                cells = cells._replace(rows=cells.rows[part] - self._rows.start, codes=cells.codes[part])
            self._graded[name] = cells if cells is not None and len(cells.rows) else None
        return self._graded[name]

    def graded_words(self, names: Sequence[str]) -> Words | None:
        """Bitmap of the rows with a graded cell in one of some columns; None if there are none."""
        words: Words | None = None
        for name in names:
            cells = self.graded_cells(name)
            if cells is not None:
                if name not in self._graded_words:
                    marks = np.zeros(self.rows, dtype=np.bool_)
                    marks[cells.rows] = True
                    self._graded_words[name] = bitmaps.pack(marks)
                own = self._graded_words[name]
                words = own if words is None else words | own
        return words

    def degree_codes(self, name: str) -> DegreeCodes:
        """Cell number of every row, with the degrees of all cells."""
        if name not in self._coded:
            words, size = self._words[name], len(self._words[name])
            if size <= 8:  # a mask is the number of its set
                masks, sets = bitmaps.decode_masks(words, self.rows)[:, 0], bitmaps.sets_of(range(1 << size), size)
            else:
                masks, sets = self.cell_codes(name)  # type: ignore[assignment]
            cells, degrees = self.graded_cells(name), sets.astype(np.float64)
            if cells is not None:
                degrees = np.vstack([degrees, cells.degrees])
            codes = masks.astype(np.min_scalar_type(len(degrees)), copy=False)
            if cells is not None:
                codes = codes if codes.flags.writeable and codes.flags.owndata else codes.copy()
                codes[cells.rows] = len(sets) + cells.codes
            self._coded[name] = DegreeCodes(codes, degrees, len(sets))
        return self._coded[name]

    def hide_rows(self, name: str, hidden: Words) -> RowBlock:
        """The same rows with empty cells of one column in some of them, for kernels that read bitmaps alone."""
        other = copy(self)
        other._words = self._words | {name: self._words[name] & ~hidden}
        other._state_counts = {n: counts for n, counts in self._state_counts.items() if n != name}
        return other

    def mask_weights(self, hidden: Words) -> Weights:
        """The weights, 0 for some rows."""
        weights: Weights = np.ones(self.rows, dtype=np.int64) if self.weights is None else self.weights.copy()
        weights[bitmaps.unpack(hidden, self.rows)] = 0
        return weights

    def with_weights(self, weights: Weights) -> RowBlock:
        """The same rows with other weights."""
        other = copy(self)
        other.weights = weights
        other.__dict__.pop("weight_digits", None)
        return other


def split_blocks(
    data: Dataset, names: list[str], scratch: tally.Scratch | None = None, size: int = BLOCK
) -> Iterator[RowBlock]:
    """The rows of a data set, block by block."""
    for start in range(0, len(data), size):
        yield RowBlock(data, names, start, min(size, len(data) - start), scratch)
