"""One column of a data set as codes: the distinct cells that occur, and for every row the number of its cell."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np

from possnet.kernels import bitmaps
from possnet.kernels.grouping import sum_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from possnet.aliases import Bools, Codes, Ints, Words
    from possnet.arrow import Cell
    from possnet.variables import Variable


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """Codes (rows) into the distinct cells of a column; made by `Dataset.column`, which keeps it. All arrays are read-only.

    Attributes
    ----------
    codes
        Number of every row's cell, in the smallest unsigned type that holds it.
    octets
        The cells that occur as masks (cells, bytes), low bits first, in the order of the integers that they are. A cell
        that was given as unknown stands apart, last, with the mask of the whole domain.
    unknown
        The code of the cell that was given as unknown, or None if there is none.
    weights
        Weight of every row, or None.

    >>> import possnet as pn
    >>> column = pn.Dataset.from_table({"a": ["x", None, {"x", "y"}, "x"]}).column("a")
    >>> column.codes, column.unknown, column.masks, column.cells, column.counts
    (array([0, 2, 1, 0], dtype=uint8), 2, [1, 3, 0], [('x',), ('x', 'y'), None], array([2, 1, 1]))
    >>> column.fill_unknown().codes
    array([0, 1, 1, 0], dtype=uint8)
    """

    variable: Variable
    codes: NDArray[np.unsignedinteger]
    octets: NDArray[np.uint8]
    unknown: int | None = None
    weights: Ints | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self.codes.flags.writeable = self.octets.flags.writeable = False

    def __len__(self) -> int:
        """Number of distinct cells."""
        return len(self.octets)

    @cached_property
    def sets(self) -> Bools:
        """The cells as sets of states (cells, states); an unknown one is the whole domain."""
        sets = bitmaps.unpack_sets(self.octets, len(self.variable))
        sets.flags.writeable = False
        return sets

    @cached_property
    def masks(self) -> list[int]:
        """The cells as integers, bit k for state k; 0 for an unknown one."""
        masks = [int.from_bytes(octets.tobytes(), "little") for octets in self.octets]
        return masks if self.unknown is None else [*masks[:-1], 0]

    @cached_property
    def cells(self) -> list[Cell]:
        """The cells as tuples of states; None for an unknown one."""
        cells: list[Cell] = [tuple(compress(self.variable.states, inside)) for inside in self.sets]
        return cells if self.unknown is None else [*cells[:-1], None]

    @cached_property
    def sizes(self) -> Ints:
        """Number of states in every cell."""
        sizes: Ints = np.bitwise_count(self.octets).sum(axis=1, dtype=np.int64)
        return sizes

    @cached_property
    def counts(self) -> Ints:
        """How often each cell stands, rows counted with their weights."""
        return sum_weights(self.codes, self.weights, len(self))

    @cached_property
    def ambiguous(self) -> Bools:
        """Which rows have a cell of several states, or one given as unknown."""
        unclear: Bools = self.sizes > 1
        if self.unknown is not None:
            unclear[self.unknown] = True
        return np.take(unclear, self.codes)

    @property
    def is_precise(self) -> bool:
        """Whether every cell is a single state, and none was given as unknown."""
        return self.unknown is None and bool((self.sizes == 1).all())

    def fill_unknown(self) -> CodedColumn:
        """The same column with every unknown cell as the whole domain."""
        return self._filled

    @cached_property
    def _filled(self) -> CodedColumn:
        if self.unknown is None:
            return self
        last = self.unknown - 1  # the whole domain, if it occurs, has the largest mask
        if last >= 0 and self.sizes[last] == len(self.variable):
            return replace(
                self, codes=np.minimum(self.codes, self.codes.dtype.type(last)), octets=self.octets[:-1], unknown=None
            )
        return replace(self, unknown=None)

    def take_rows(self, rows: Ints | slice, weights: Ints | None) -> CodedColumn:
        """The column of some rows, with the cells that occur among them."""
        codes = self.codes[rows]
        occurs = np.bincount(codes, minlength=len(self)) > 0
        unknown = self.unknown if self.unknown is not None and occurs[-1] else None
        if occurs.all():
            return CodedColumn(self.variable, codes.copy(), self.octets, unknown, weights)
        kept = np.flatnonzero(occurs)
        numbers = np.zeros(len(self), dtype=_code_type(len(kept)))
        numbers[kept] = np.arange(len(kept))
        return CodedColumn(
            self.variable, numbers[codes], self.octets[kept], None if unknown is None else len(kept) - 1, weights
        )


def decode_column(
    variable: Variable, words: Words, rows: int, absent: Words | None, weights: Ints | None
) -> CodedColumn:
    """Column of bitmaps (states, words), and of the bitmap of the cells given as unknown, if there are any."""
    size = len(variable)
    counts = bitmaps.count_bits(words)
    missing = None if absent is None else bitmaps.unpack(absent, rows)
    n_missing = 0 if missing is None else int(missing.sum())
    if int(counts.sum()) == rows + (size - 1) * n_missing:  # single states, for no cell is empty
        states = np.flatnonzero(counts > n_missing)
        codes, octets = _number_states(bitmaps.decode_states(words, rows), states, size, missing)
        unknown = None if missing is None else len(states)
    else:
        numbers, octets = bitmaps.decode_cells(words, rows)
        unknown = None
        if missing is not None:
            unknown = len(octets) - 1  # the whole domain has the largest mask
            if np.count_nonzero(numbers == unknown) > n_missing:
                unknown += 1
                octets = np.vstack([octets, octets[-1]])
                numbers[missing] = unknown
        codes = numbers.astype(_code_type(len(octets)))
    return CodedColumn(variable, codes, np.ascontiguousarray(octets), unknown, weights)


def _number_states(
    numbers: Codes, states: Ints, size: int, missing: Bools | None
) -> tuple[NDArray[np.unsignedinteger], NDArray[np.uint8]]:
    """Codes and masks of single states that occur, the whole domain last where cells are missing."""
    octets = np.zeros((len(states), -(-size // 8)), dtype=np.uint8)
    octets[np.arange(len(states)), states >> 3] = 1 << (states & 7)
    kind = _code_type(len(states) + (missing is not None))
    if len(states) < size:
        place = np.zeros(1 << max((size - 1).bit_length(), 0), dtype=kind)
        place[states] = np.arange(len(states))
        numbers = place[numbers]
    codes = numbers.astype(kind, copy=False)
    if missing is not None:
        codes[missing] = len(states)
        octets = np.vstack([octets, np.packbits(np.ones(size, dtype=np.bool_), bitorder="little")])
    return codes, octets


def _code_type(size: int) -> np.dtype[np.unsignedinteger]:
    return np.min_scalar_type(max(size - 1, 0))
