"""Counts of the cells of all pairs of variables, as they stand, in one pass over a data set or a stream."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np

from possnet.dataset import Dataset, batches_of, cut_batches, require_rows
from possnet.kernels import bitmaps, cross_counts
from possnet.limits import refuse_over

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from possnet.aliases import Bools, Progress, Weights
    from possnet.dataset import Batches, CodedColumn
    from possnet.variables import Variable

_TABLE: Final = 300  # bytes that a table takes beside its counts
MOST_CELLS: Final = 256
"""Distinct cells of a variable that are told apart: the most frequent ones of the first batch, then of the next ones."""


class CellPairs:
    """Number of rows with each pair of cells of each pair of variables; made by `count_cell_pairs`.

    Cells of a variable are numbered as they come, up to `MOST_CELLS`. The number after these stands for all further cells
    together, the one after that for a missing cell; `table` drops both for the first variable, and the missing cell for
    the second.

    >>> import possnet as pn
    >>> data = pn.Dataset.from_table({"a": ["x", {"x", "y"}, "y", None], "b": ["u", "v", "v", "v"]})
    >>> pairs = count_cell_pairs(data)
    >>> pairs
    CellPairs(2 variables, 4 rows)
    >>> pairs.table(0, 1), pairs.cell_sets(0).astype(int).tolist()
    (array([[0, 1], [1, 0], [1, 0]]), [[1, 0], [0, 1], [1, 1]])
    """

    def __init__(self, variables: tuple[Variable, ...]) -> None:
        self.variables = variables
        self.rows: int | float = 0
        self.numbers: list[dict[int, int]] = [{} for _ in variables]  # mask -> number of the cell
        width = MOST_CELLS + 2
        refuse_over(
            (8 * sum(min(1 << len(v), width) for v in variables) ** 2 + _TABLE * len(variables) ** 2) // 2,
            f"counting the cells of all pairs of {len(variables)} variables",
            "use fewer variables or states",
        )
        nothing = np.zeros((2, 2), dtype=np.int64)
        self._tables: dict[tuple[int, int], Weights] = dict.fromkeys(combinations(range(len(variables)), 2), nothing)

    def cell_sets(self, number: int) -> Bools:
        """The cells of a variable that are told apart (cells, states)."""
        return bitmaps.sets_of(list(self.numbers[number]), len(self.variables[number]))

    def table(self, first: int, second: int) -> Weights:
        """Rows by the cell of the first variable and by that of the second; the last column may be further cells."""
        counts = self._tables[first, second] if first < second else self._tables[second, first].T
        known, columns = len(self.numbers[first]), len(self.numbers[second])
        further = counts[:known, columns : columns + 1]
        return (
            np.concatenate([counts[:known, :columns], further], axis=1) if further.any() else counts[:known, :columns]
        )

    def add_rows(self, batch: Dataset) -> None:
        """Count the rows of one more batch."""
        columns = [self._number_cells(k, batch.column(v.name), batch) for k, v in enumerate(self.variables)]
        sizes = [len(numbers) + 2 for numbers in self.numbers]
        self.rows += batch.total
        for first, codes in enumerate(columns[:-1]):
            later = range(first + 1, len(columns))
            counted = cross_counts.by_codes(
                codes, sizes[first], [columns[k] for k in later], [sizes[k] for k in later], batch.weights
            )
            place = 0
            for k in later:
                part = counted[:, place : place + sizes[k]]
                place += sizes[k]
                self._tables[first, k] = _add_tables(part, self._tables[first, k])

    def _number_cells(self, number: int, column: CodedColumn, batch: Dataset) -> NDArray[np.intp]:
        """The number of every row's cell; new cells are numbered by how often they stand."""
        numbers, counts = self.numbers[number], column.count_cells(batch.weights)
        order = np.argsort(-counts, kind="stable").tolist()
        for k in order:
            mask = column.cell_masks[k]
            if mask and counts[k] and mask not in numbers and len(numbers) < MOST_CELLS:
                numbers[mask] = len(numbers)
        further, missing = len(numbers), len(numbers) + 1
        of_cell = np.array([numbers.get(m, further) if m else missing for m in column.cell_masks] or [0], dtype=np.intp)
        return np.take(of_cell, column.codes)

    def __repr__(self) -> str:
        return f"CellPairs({len(self.variables)} variables, {self.rows:,} rows)"


def count_cell_pairs(data: Dataset | Batches, *, progress: Progress | None = None) -> CellPairs:
    """Count the pairs of cells of every pair of variables in one pass; a row counts with its weight, degrees by their cuts.

    >>> import possnet as pn
    >>> count_cell_pairs(pn.Dataset.from_table({"a": ["x", "y"], "b": ["u", "u"]})).table(1, 0)
    array([[1, 1]])
    """
    require_rows(data, "count_cell_pairs")
    pairs = CellPairs(tuple(data.variables))
    total = len(data) if isinstance(data, Dataset) else data.rows or 0
    done = 0
    for batch in batches_of(cut_batches(data)):
        pairs.add_rows(batch)
        done += len(batch)
        if progress is not None:
            progress(done, total)
    return pairs


def _add_tables(table: Weights, known: Weights) -> Weights:
    """The counts of a batch plus those of the batches before, whose numbers for further and missing cells were lower."""
    rows, columns = known.shape
    own = np.r_[0 : rows - 2, len(table) - 2 : len(table)]
    others = np.r_[0 : columns - 2, table.shape[1] - 2 : table.shape[1]]
    sums: Weights = table.astype(np.result_type(table, known))
    sums[np.ix_(own, others)] += known
    return sums
