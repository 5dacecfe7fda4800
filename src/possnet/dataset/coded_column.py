"""One column of a data set as codes: the distinct cells that occur, and for every row the number of its cell."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np

from possnet.kernels import bitmaps
from possnet.kernels.graded_cells import grade_cells
from possnet.kernels.grouping import group_rows, sum_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from possnet.aliases import Bools, Codes, Floats, Ints, Weights, Words
    from possnet.arrow import Cell
    from possnet.kernels.graded_cells import GradedCells
    from possnet.variables import Variable


_FEW_CELLS = 64  # that are looked at one by one


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """Codes (rows) into the distinct cells of a column; made by `Dataset.column`, which keeps it. All arrays are read-only.

    Attributes
    ----------
    codes
        Number of every row's cell, in the smallest unsigned type that holds it.
    octets
        The cells that occur as masks (cells, bytes), low bits first, in the order of the integers that they are. After
        them come the graded cells, with the masks of their supports. A cell that was given as unknown stands apart, last,
        with the mask of the whole domain.
    unknown
        The code of the cell that was given as unknown, or None if there is none.
    grades
        Degrees of the graded cells (graded cells, states); None if every cell is a set.

    Examples
    --------
    >>> import possnet as pn
    >>> column = pn.Dataset.from_table({"a": ["x", None, {"x", "y"}, "x"]}).column("a")
    >>> column.codes, column.unknown, column.cell_masks, column.cells, column.count_cells()
    (array([0, 2, 1, 0], dtype=uint8), 2, [1, 3, 0], [('x',), ('x', 'y'), None], array([2, 1, 1]))
    >>> column.fill_unknown().codes
    array([0, 1, 1, 0], dtype=uint8)
    """

    variable: Variable
    codes: NDArray[np.unsignedinteger]
    octets: NDArray[np.uint8]
    unknown: int | None
    grades: Floats | None = None

    def __post_init__(self) -> None:
        self.codes.flags.writeable = self.octets.flags.writeable = False
        if self.grades is not None:
            self.grades.flags.writeable = False

    def __len__(self) -> int:
        """Number of distinct cells."""
        return len(self.octets)

    @cached_property
    def cell_sets(self) -> Bools:
        """The cells as sets of states (cells, states); an unknown one is the whole domain."""
        sets = bitmaps.unpack_sets(self.octets, len(self.variable))
        sets.flags.writeable = False
        return sets

    @cached_property
    def degrees(self) -> Floats:
        """Degrees of the states in every cell (cells, states): 1 and 0 for a set, those of a graded cell."""
        degrees: Floats = self.cell_sets.astype(np.float64)
        if self.grades is not None:
            degrees[self.first_graded : self.first_graded + len(self.grades)] = self.grades
        degrees.flags.writeable = False
        return degrees

    @property
    def first_graded(self) -> int:
        """Code of the first graded cell, after those that are sets."""
        return len(self) - (0 if self.grades is None else len(self.grades)) - (self.unknown is not None)

    @cached_property
    def is_whole(self) -> Bools:
        """Which cells say nothing: the whole domain as a set, or unknown."""
        whole: Bools = self.cell_sizes == len(self.variable)
        if self.grades is not None:
            whole[self.first_graded : self.first_graded + len(self.grades)] = False
        return whole

    @cached_property
    def findings(self) -> list[int | Floats | None]:
        """What every cell says: a state, degrees of several, or nothing.

        >>> from possnet.variables import Variable
        >>> fever = Variable("fever", ("none", "mild", "high"))
        >>> code_column(fever, np.arange(3), np.array([[2], [6], [7]], dtype=np.uint8), None).findings
        [1, array([0., 1., 1.]), None]
        """
        whole = (1 << len(self.variable)) - 1
        said: list[int | Floats | None] = [
            None if mask in (0, whole) else self.degrees[code] if mask & (mask - 1) else mask.bit_length() - 1
            for code, mask in enumerate(self.cell_masks)
        ]
        if self.grades is not None:
            for code, own in enumerate(self.grades, self.first_graded):
                certain = np.count_nonzero(own) == 1 and own.max() == 1.0
                said[code] = int(own.argmax()) if certain else own
        return said

    @cached_property
    def is_blank(self) -> bool:
        """Whether no cell says anything."""
        if self.grades is None and len(self.octets) <= _FEW_CELLS:
            whole = (1 << len(self.variable)) - 1
            return all(mask in (0, whole) for mask in self.cell_masks)
        return bool(self.is_whole.all())

    @cached_property
    def cell_masks(self) -> list[int]:
        """The cells as integers, bit k for state k; 0 for an unknown one."""
        if self.octets.shape[1] == 1:
            masks: list[int] = self.octets[:, 0].tolist()
        else:
            masks = [int.from_bytes(octets.tobytes(), "little") for octets in self.octets]
        return masks if self.unknown is None else [*masks[:-1], 0]

    @cached_property
    def cells(self) -> list[Cell]:
        """The cells as tuples of states; None for an unknown one."""
        cells: list[Cell] = [tuple(compress(self.variable.states, inside)) for inside in self.cell_sets]
        return cells if self.unknown is None else [*cells[:-1], None]

    @cached_property
    def cell_degrees(self) -> list[dict[str, float]]:
        """The cells as states with their degrees, those of degree 0 left out; an unknown one is the whole domain."""
        return [
            {state: degree for state, degree in zip(self.variable.states, degrees, strict=True) if degree > 0.0}
            for degrees in self.degrees.tolist()
        ]

    @cached_property
    def cell_sizes(self) -> Ints:
        """Number of states in every cell."""
        sizes: Ints = np.bitwise_count(self.octets).sum(axis=1, dtype=np.int64)
        return sizes

    @cached_property
    def first_states(self) -> Ints:
        """The first state of every cell."""
        place = np.argmax(self.octets != 0, axis=1)
        octet = self.octets[np.arange(len(self)), place].astype(np.int16)
        states: Ints = 8 * place + np.bitwise_count((octet & -octet) - 1)
        return states

    def count_cells(self, weights: Weights | None = None) -> Weights:
        """How often each cell stands, rows counted with their weights if they have any."""
        return sum_weights(self.codes, weights, len(self))

    @cached_property
    def is_ambiguous(self) -> Bools:
        """Which rows have a cell of several states, or one given as unknown."""
        if self.is_precise:
            return np.zeros(len(self.codes), dtype=np.bool_)
        unclear: Bools = (self.cell_sizes > 1) | self.unknown_cells
        return np.take(unclear, self.codes)

    @property
    def unknown_cells(self) -> Bools:
        """Which of the cells was given as unknown."""
        return _mark_cell(self.unknown, len(self))

    @property
    def is_precise(self) -> bool:
        """Whether every cell is a single state, and none was given as unknown."""
        if self.unknown is None and len(self.octets) <= _FEW_CELLS:
            return all(not mask & (mask - 1) for mask in self.cell_masks)
        return self.unknown is None and bool((self.cell_sizes == 1).all())

    def fill_unknown(self) -> CodedColumn:
        """The same column with every unknown cell as the whole domain."""
        return self._filled_column

    @cached_property
    def _filled_column(self) -> CodedColumn:
        if self.unknown is None:
            return self
        return code_column(
            self.variable, self.codes, self.octets, None, grades=self.graded_numbers(), table=self.grades
        )

    def take_rows(self, rows: Ints | slice) -> CodedColumn:
        """The column of some rows, with the cells that occur among them."""
        return code_column(
            self.variable,
            self.codes[rows],
            self.octets,
            self.unknown,
            grades=self.graded_numbers(),
            table=self.grades,
            in_order=True,
        )

    def graded_cells(self) -> GradedCells | None:
        """The graded cells: their rows, and their degrees."""
        if self.grades is None:
            return None
        numbers = self.graded_numbers()[self.codes]
        rows = np.flatnonzero(numbers >= 0)
        return grade_cells(rows, numbers[rows], self.grades)

    def graded_numbers(self) -> Ints:
        """Number of every cell's degrees in ``grades``; -1 for sets."""
        numbers = np.full(len(self), -1, dtype=np.int64)
        if self.grades is not None:
            numbers[self.first_graded : self.first_graded + len(self.grades)] = np.arange(len(self.grades))
        return numbers


def code_column(
    variable: Variable,
    codes: Codes,
    octets: NDArray[np.uint8],
    unknown: int | Bools | None,
    occurs: Bools | None = None,
    *,
    grades: Ints | None = None,
    table: Floats | None = None,
    in_order: bool = False,
) -> CodedColumn:
    """Column of codes into any list of masks (cells, bytes): equal masks become one cell, those that do not occur none.

    ``unknown`` is the number of the mask that was given as unknown, or marks several; ``occurs`` marks the masks that
    occur, if that is known; masks ``in_order`` are distinct and sorted already, graded ones after the sets and the unknown
    one last. ``grades`` is for every mask the number of its degrees in ``table`` (distinct degrees, states), -1 for sets.

    >>> import possnet as pn
    >>> masks = np.array([[3], [1], [3], [2]], dtype=np.uint8)
    >>> column = code_column(pn.Variable("a", ("x", "y")), np.array([3, 0, 2, 0]), masks, 2)
    >>> column.codes, column.cells
    (array([0, 1, 2, 1], dtype=uint8), [('y',), ('x', 'y'), None])
    """
    apart = unknown if isinstance(unknown, np.ndarray) else _mark_cell(unknown, len(octets))
    kept = np.flatnonzero(np.bincount(codes, minlength=len(octets)) if occurs is None else occurs)
    numbers, first = np.arange(len(kept)), kept
    if not in_order:
        # numbered by the unknown mark, then by the degrees, then by the highest byte, and so on down
        bytes_of_cells = [column[kept] for column in (apart, *octets.T[::-1])]
        sizes = [2, *[256] * octets.shape[1]]
        if table is not None and grades is not None:
            bytes_of_cells.insert(1, grades[kept] + 1)
            sizes.insert(1, len(table) + 1)
        cells = group_rows(bytes_of_cells, sizes, len(kept))
        numbers, first = cells.inverse, kept[cells.first]
    code_type = np.min_scalar_type(max(len(first) - 1, 0))
    if np.array_equal(numbers, np.arange(len(octets))):
        coded = codes.astype(code_type, copy=not codes.flags.owndata)
    else:
        numbering = np.zeros(len(octets), dtype=code_type)
        numbering[kept] = numbers
        coded = np.take(numbering, codes, mode="clip")
    chosen = None
    if table is not None and grades is not None and (grades[first] >= 0).any():
        chosen = table[grades[first][grades[first] >= 0]]
    return CodedColumn(variable, coded, octets[first], len(first) - 1 if apart[kept].any() else None, chosen)


def decode_column(
    variable: Variable, words: Words, rows: int, absent: Words | None, graded: GradedCells | None = None
) -> CodedColumn:
    """Column of bitmaps (states, words), of the bitmap of the cells given as unknown, and of graded cells, if any."""
    column = _decode_sets(variable, words, rows, absent)
    if graded is None:
        return column
    sets = len(column) if column.unknown is None else column.unknown
    supports = np.packbits(graded.degrees > 0.0, axis=1, bitorder="little")
    octets = np.vstack([column.octets[:sets], supports, column.octets[sets:]])
    codes = column.codes.astype(np.int64)
    codes[codes >= sets] += len(supports)
    codes[graded.rows] = sets + graded.codes
    grades = np.full(len(octets), -1, dtype=np.int64)
    grades[sets : sets + len(supports)] = np.arange(len(supports))
    unknown = None if column.unknown is None else sets + len(supports)
    return code_column(variable, codes, octets, unknown, grades=grades, table=graded.degrees, in_order=True)


def _decode_few(variable: Variable, words: Words, rows: int, absent: Words | None) -> CodedColumn:
    """Column of a few sets, cell by cell: what numpy's calls cost is more than the work."""
    masks = [0] * rows
    for state, bits in enumerate(words[:, 0].tolist()):
        for row in range(rows):
            masks[row] |= (bits >> row & 1) << state
    missing = 0 if absent is None else int(absent[0])
    kinds = sorted({mask for row, mask in enumerate(masks) if not missing >> row & 1})
    places = {mask: place for place, mask in enumerate(kinds)}
    codes = [len(kinds) if missing >> row & 1 else places[mask] for row, mask in enumerate(masks)]
    if missing:
        kinds.append((1 << len(variable)) - 1)
    width = -(-len(variable) // 8)
    octets = np.frombuffer(b"".join([mask.to_bytes(width, "little") for mask in kinds]), dtype=np.uint8)
    unknown = len(kinds) - 1 if missing else None
    return CodedColumn(variable, np.array(codes, dtype=np.uint8), octets.reshape(-1, width), unknown)


def _decode_sets(variable: Variable, words: Words, rows: int, absent: Words | None) -> CodedColumn:
    """Column of sets, a graded cell as its support."""
    size = len(variable)
    if 0 < rows * size <= _FEW_CELLS:
        return _decode_few(variable, words, rows, absent)
    counts = bitmaps.count_bits(words)
    n_missing = 0 if absent is None else int(bitmaps.count_bits(absent))
    codes: Codes
    if int(counts.sum()) == rows + (size - 1) * n_missing:  # single states, for no cell is empty
        states = np.arange(size)
        octets = np.zeros((size, -(-size // 8)), dtype=np.uint8)
        octets[states, states >> 3] = 1 << (states & 7)
        codes, occurs = bitmaps.decode_states(words, rows), counts > n_missing
    else:
        codes, octets = bitmaps.decode_cells(words, rows)
        occurs = np.ones(len(octets), dtype=np.bool_)
        if absent is not None:  # the last one, the whole domain, may stand for unknown cells alone
            occurs[-1] = np.count_nonzero(codes == len(octets) - 1) > n_missing
    if absent is None:
        return code_column(variable, codes, octets, None, occurs, in_order=True)
    codes = np.where(bitmaps.unpack(absent, rows), len(octets), codes)
    octets = np.vstack([octets, np.packbits(np.ones(size, dtype=np.bool_), bitorder="little")])
    return code_column(variable, codes, octets, len(octets) - 1, np.append(occurs, True), in_order=True)


def _mark_cell(number: int | None, size: int) -> Bools:
    return np.equal(np.arange(size), -1 if number is None else number)
