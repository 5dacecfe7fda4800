"""Contingency tables: counts of a family with every candidate parent at once.

For a child, its parents and some candidates, a table has the axes (parents' configurations, child, candidate): one for each
candidate, side by side. Tables *of cells* count rows whose cells equal given cells. Tables *of states* are made of them by
matrices from cells to states: of 0 and 1 for the rows that contain a configuration, of 1/|A| for rows shared among what
they contain. Tables of states can be counted by bitmaps too; whichever is cheaper is done. Where columns have so many
distinct cells that tables of cells would be large, states are counted by bitmaps.
"""

from __future__ import annotations

from functools import cached_property
from itertools import accumulate, groupby
from math import inf, prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np

from possnet.dataset import group_rows
from possnet.kernels import bitmaps, cross_counts, grouping
from possnet.limits import refuse_over
from possnet.structure.sized_cache import SizedCache

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from possnet.aliases import Bools, Floats, Ints, Words
    from possnet.structure.coded_rows import CodedRows

    Counted: TypeAlias = Ints | Floats

DENSE: Final = 1 << 24
"""Most entries of a table of cells; beyond, states are counted, or only the combinations that occur."""
_ENTRIES: Final = 1 << 22  # of tables side by side
_WORDS: Final = 1 << 25  # of bitmaps kept
_GROUPS: Final = 1 << 24  # numbers in groupings of rows kept
_WORD: Final = 0.9  # nanoseconds: AND, population count and sum of 64 rows
_PAIR: Final = 50.0  # the beginning of such a sum
_ROW: Final = 1.1  # a row in a histogram of a few columns
_COLUMN: Final = 8000.0  # the beginning of such a histogram, for each column
_ENTRY: Final = 15.0  # an entry of its table
_STACKED_ROW: Final = 2.2  # a row in one histogram of all columns
_MULTIPLICATION: Final = 0.02  # of a matrix product
_MARK: Final = 0.8  # a row marked in a context
_KEYS: Final = 1 << 20  # numbers of the histograms of several columns at once
_SHORT: Final = 1 << 11  # rows of which bitmaps save less than it takes to make them
_LONG: Final = 1 << 13  # rows of a bitmap that costs more than what a subtraction does
_SMALL: Final = 1 << 16  # entries of tables for which occurring combinations are not looked for
_MULTIPLIED: Final = 1 << 29  # multiplications by which all pairs are counted


class CandidateTables(NamedTuple):
    """Tables of some candidates side by side: counts of shape (parents' configurations, child, sum of the sizes)."""

    candidates: list[int]
    sizes: list[int]
    counts: Counted

    @property
    def starts(self) -> list[int]:
        """Where the table of each candidate begins on the last axis."""
        return list(accumulate(self.sizes[:-1], initial=0))

    def split_tables(self) -> list[Counted]:
        """The table of each candidate."""
        spans = zip(self.starts, self.sizes, strict=True)
        return [self.counts[:, :, start : start + size] for start, size in spans]


class FamilyQuery(NamedTuple):
    """Tables that are wanted: of parents, a child and each candidate; or, without a child, of the parents' cells alone."""

    parents: tuple[int, ...]
    child: int | None
    candidates: tuple[int, ...]


class ContingencyTables:
    """Contingency tables of the rows, and what is kept to make them fast.

    >>> import possnet as pn
    >>> from possnet.structure.coded_rows import CodedRows
    >>> data = pn.Dataset.from_table({"a": ["x", {"x", "y"}, "y"], "b": ["u", "v", "v"]})
    >>> tables = ContingencyTables(CodedRows(data))
    >>> [counted.counts[0].tolist() for counted in tables.count_cells((), 1, [0])]
    [[[1, 0, 0], [0, 1, 1]]]
    >>> [counted.counts[0].tolist() for counted in tables.count_states((), 1, [0])]
    [[[1, 0], [1, 2]]]
    """

    is_streamed = False
    """Whether the rows are not in memory, so that tables should be asked for in advance."""

    def __init__(self, rows: CodedRows) -> None:
        self.rows = rows
        self.n_cells = rows.n_cells
        self.states = [len(variable) for variable in rows.variables]
        self._words: SizedCache[Words] = SizedCache(_WORDS, lambda words: words.size)
        self._groups: SizedCache[tuple[NDArray[np.int32], NDArray[np.int32]]] = SizedCache(
            _GROUPS, lambda groups: groups[0].size + groups[1].size
        )
        self._matrices: dict[bool, list[Floats]] = {}
        self._side_by_side: dict[bool, Words] = {}
        self._stacked: Ints | None = None
        self._placed: Ints | None = None

    def prefetch(self, queries: Sequence[FamilyQuery]) -> None:
        """Take note of tables that will be asked for; rows in memory need none."""

    def group_cells(self, chosen: tuple[int, ...]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Number of every row's combination of cells among those that occur, and these combinations."""

        def make() -> tuple[NDArray[np.int32], NDArray[np.int32]]:
            codes = [self.rows.codes[k] for k in chosen]
            groups = group_rows(codes, [self.n_cells[k] for k in chosen], self.rows.n_rows)
            return groups.inverse.astype(np.int32), groups.combinations

        return self._groups.get_or_compute(chosen, make)

    def cell_counts(self, chosen: tuple[int, ...]) -> NDArray[Any]:
        """Number of rows with each combination of cells that occurs."""
        numbers, combinations = self.group_cells(chosen)
        return grouping.sum_weights(numbers, self.rows.weights, len(combinations))

    def count_cells(self, parents: tuple[int, ...], child: int, candidates: Sequence[int]) -> Iterator[CandidateTables]:
        """Rows by the cells of parents that occur together, of the child, and of each candidate."""
        full = prod(self.n_cells[k] for k in (*parents, child))
        if self._prefers_product(full, [self.n_cells[k] for k in candidates]):
            yield self._multiply_cells(parents, child, list(candidates))
            return
        if self._prefers_bitmaps(full, [self.n_cells[k] for k in candidates], states=False):
            yield from self._count_bitmaps(parents, child, candidates, states=False)
            return
        size = self.n_cells[child]
        if 0 < full * sum(self.n_cells[k] for k in candidates) <= min(_SMALL, DENSE):
            base, contexts = self._number_cells((*parents, child)), full // size
        else:
            numbers, combinations = self.group_cells(parents)
            contexts = len(combinations)
            largest = 16 * contexts * size * max((self.n_cells[k] for k in candidates), default=1)
            if largest > DENSE:
                refuse_over(
                    largest,
                    f"counting {size:,} distinct cells of {self.rows.variables[child].name!r} with those of a parent",
                    "use fewer rows, or bins or states that give fewer distinct cells",
                )
            base = numbers.astype(np.int64) * size + self.rows.codes[child]
        for block in self._split_candidates(contexts * size, candidates, self.n_cells):
            sizes = [self.n_cells[k] for k in block]
            counts = self._count_codes(base, contexts * size, block, sizes)
            yield CandidateTables(block, sizes, counts.reshape(contexts, size, sum(sizes)))

    def joint_counts(self) -> NDArray[Any]:
        """Rows with each combination of the cells of all variables, flat; the first variable changes fastest."""
        numbers = self._number_cells(tuple(range(len(self.n_cells)))[::-1])
        return grouping.sum_weights(numbers, self.rows.weights, prod(self.n_cells))

    def count_pairs(self) -> Iterator[CandidateTables]:
        """The tables of every variable as the child, without parents, with all variables as candidates.

        One matrix product of cells with cells makes all of them, with itself too; nothing where that would be large.
        """
        size, rows = sum(self.n_cells), self.rows.n_rows
        if not self._is_multipliable() or rows * size * size > _MULTIPLIED:
            return
        marks = self._cell_marks if rows < _LONG else self._mark_cells()  # which is not needed again
        counts = self._multiply_marks(marks, marks)
        starts = accumulate(self.n_cells[:-1], initial=0)
        for start, cells in zip(starts, self.n_cells, strict=True):
            yield CandidateTables(
                list(range(len(self.n_cells))), self.n_cells, counts[np.newaxis, start : start + cells]
            )

    def _is_multipliable(self) -> bool:
        """Whether rows can be counted by a matrix product: exactly, and with a small matrix."""
        size, rows, weights = sum(self.n_cells), self.rows.n_rows, self.rows.weights
        whole = weights is None or (weights.dtype.kind != "f" and self.rows.total < 1 << 52)
        return rows > 0 and whole and max(rows, size) * size <= DENSE

    @cached_property
    def _cell_marks(self) -> Floats:
        return self._mark_cells()

    def _mark_cells(self) -> Floats:
        """The matrix (cells of all columns, rows) of 1 for the rows with a cell; its numbers add up exactly."""
        codes = np.stack(self.rows.codes)
        cells = np.concatenate([np.arange(size, dtype=codes.dtype) for size in self.n_cells])
        # floats of 32 bits add up to 2**24 exactly
        kind: Any = np.float32 if self.rows.weights is None else np.float64
        marks: Floats = (np.repeat(codes, self.n_cells, axis=0) == cells[:, np.newaxis]).astype(kind)
        return marks

    def _multiply_marks(self, some: Floats, others: Floats) -> Ints:
        """Rows, or their weights, that have each of some marks and each of some others."""
        weighted = some if self.rows.weights is None else some * self.rows.weights
        counts: Ints = (weighted @ others.T).astype(np.int64)
        return counts

    def _multiply_cells(self, parents: tuple[int, ...], child: int, candidates: list[int]) -> CandidateTables:
        """Rows by the cells of parents and child, and of each candidate, by a matrix product with all columns."""
        cells = [self.n_cells[k] for k in (*parents, child)]
        numbers = self._number_cells((*parents, child)).astype(np.int32)
        marks = np.arange(prod(cells), dtype=np.int32)[:, np.newaxis] == numbers
        counts = self._multiply_marks(marks.astype(self._cell_marks.dtype), self._cell_marks)
        if len(candidates) < len(self.n_cells):
            counts = counts[:, _mark_places(candidates, self.n_cells)]
        sizes = [self.n_cells[k] for k in candidates]
        return CandidateTables(candidates, sizes, counts.reshape(prod(cells[:-1]), cells[-1], sum(sizes)))

    def _prefers_product(self, contexts: int, sizes: Sequence[int]) -> bool:
        """Whether a matrix product with all columns is cheaper than one histogram of them, and than bitmaps."""
        rows, columns = self.rows.n_rows, len(self.n_cells)
        if rows >= _LONG or not self._is_multipliable() or not self._is_stackable(columns):
            return False
        multiplied = contexts * rows * (sum(self.n_cells) * _MULTIPLICATION + _MARK)
        return multiplied < min(columns * rows * _STACKED_ROW, self._bitmap_cost(contexts, sizes, states=False))

    def count_states(
        self, parents: tuple[int, ...], child: int, candidates: Sequence[int]
    ) -> Iterator[CandidateTables]:
        """Rows that contain each configuration of the parents, state of the child and state of the candidate."""
        full = prod(self.states[k] for k in (*parents, child))
        refuse_over(
            16 * full * max((self.states[k] for k in candidates), default=1),
            f"counting {self.rows.variables[child].name!r} with {len(parents) + 1} parents",
            "set max_parents",
        )
        if self._prefers_bitmaps(full, [self.states[k] for k in candidates], states=True):
            yield from self._count_bitmaps(parents, child, candidates, states=True)
            return
        few = [k for k in candidates if self.table_size(parents, child, self.n_cells[k]) <= DENSE]
        many = [k for k in candidates if k not in few]
        if few:
            yield from self._contract_cells(parents, child, few, shared=False)
        if many:
            yield from self._count_bitmaps(parents, child, many, states=True)

    def table_size(self, parents: tuple[int, ...], child: int, cells: int) -> int:
        """Entries of a table of cells, at most, with a candidate of so many cells."""
        above = min(prod(self.n_cells[k] for k in parents), max(self.rows.n_rows, 1))
        return above * self.n_cells[child] * cells

    def share_states(
        self, parents: tuple[int, ...], child: int, candidates: Sequence[int]
    ) -> Iterator[CandidateTables]:
        """Rows shared equally among the configurations that they contain."""
        yield from self._contract_cells(parents, child, candidates, shared=True)

    def cell_matrices(self, *, shared: bool) -> list[Floats]:
        """For every variable the matrix (cells, states) of 1, or 1/|A|, for the states of a cell."""
        if shared not in self._matrices:
            inside = [sets.astype(np.float64) for sets in self.rows.sets]
            self._matrices[shared] = [m / m.sum(axis=1, keepdims=True) for m in inside] if shared else inside
        return self._matrices[shared]

    def column_bitmaps(self, number: int, *, states: bool) -> Words:
        """Bitmaps of a column's states, or of its cells; the last ones asked for are kept."""
        codes, sets = self.rows.codes[number], self.rows.sets[number]
        return self._words.get_or_compute(
            (number, states),
            lambda: bitmaps.encode_cells(codes, sets) if states else bitmaps.encode_codes(codes, len(sets)),
        )

    def _count_bitmaps(
        self, parents: tuple[int, ...], child: int, candidates: Sequence[int], *, states: bool
    ) -> Iterator[CandidateTables]:
        sizes = self.states if states else self.n_cells
        size, rows = sizes[child], self.rows.n_rows
        number = prod(sizes[k] for k in (*parents, child))
        needed = 8 * -(-rows // 64) * (number + max(sizes[k] for k in candidates))
        if needed > 8 * _WORDS:
            refuse_over(
                needed, f"bitmaps of {number:,} configurations of {len(parents) + 1} variables", "set max_parents"
            )
        above = [self.column_bitmaps(k, states=states) for k in (*parents, child)]
        contexts = bitmaps.cross_columns(above, bitmaps.ones(rows))
        for block in self._split_candidates(number, candidates, sizes):
            words = self._join_bitmaps(block, sizes, states=states)
            widths = [sizes[k] for k in block]
            counts: Counted
            if self._drops_last(states=states):
                counts = cross_counts.by_partitions(contexts, words, widths)
            elif self.rows.weights is None:
                counts = cross_counts.by_bitmaps(contexts, words)
            else:
                counts = cross_counts.by_weights(contexts, words, rows, self.rows.weights)
            yield CandidateTables(block, widths, counts.reshape(number // size, size, sum(widths)))

    def _drops_last(self, *, states: bool) -> bool:
        """Whether the last cell of every column is not counted: cells part the rows, and it has what the others leave."""
        return not states and self.rows.weights is None and self.rows.n_rows >= _LONG

    def _join_bitmaps(self, chosen: list[int], sizes: list[int], *, states: bool) -> Words:
        """Bitmaps of several columns to be counted, side by side; those of all columns are kept where they are small."""
        if self._drops_last(states=states):
            sizes = [size - 1 for size in sizes]

        def join(columns: Iterable[int]) -> Words:
            return np.concatenate([self.column_bitmaps(k, states=states)[: sizes[k]] for k in columns])

        if sum(sizes) * -(-self.rows.n_rows // 64) > _KEYS:
            return join(chosen)
        if states not in self._side_by_side:
            self._side_by_side[states] = join(range(len(sizes)))
        words = self._side_by_side[states]
        return words if len(chosen) == len(sizes) else words[_mark_places(chosen, sizes)]

    def _stack_codes(self) -> Ints:
        """The codes of all columns (columns, rows)."""
        if self._stacked is None:
            self._stacked = np.array(self.rows.codes, dtype=np.int64).reshape(len(self.n_cells), self.rows.n_rows)
        return self._stacked

    def _stack_places(self) -> Ints:
        """The same where the cells of all columns are numbered one column after the other."""
        if self._placed is None:
            starts = list(accumulate(self.n_cells[:-1], initial=0))
            self._placed = self._stack_codes() + np.array(starts)[:, np.newaxis]
        return self._placed

    def _number_cells(self, chosen: tuple[int, ...]) -> Ints:
        """Number of every row's combination of cells among all that could occur."""
        columns = self._stack_codes() if self._is_stackable(len(self.n_cells)) else self.rows.codes
        numbers = columns[chosen[0]].astype(np.int64)
        for k in chosen[1:]:
            numbers *= self.n_cells[k]
            numbers += columns[k]
        return numbers

    def _count_codes(self, base: Ints, contexts: int, chosen: list[int], sizes: list[int]) -> Counted:
        """`cross_counts.by_codes` of some columns; all of them in one histogram where the rows are few."""
        rows, weights = self.rows, self.rows.weights
        if not self._is_stackable(len(chosen)):
            return cross_counts.by_codes(base, contexts, [rows.codes[k] for k in chosen], sizes, weights)
        if 2 * len(chosen) < len(self.n_cells):
            width, columns = sum(sizes), self._stack_codes()[chosen]
            columns += np.array(list(accumulate(sizes[:-1], initial=0)))[:, np.newaxis]
        else:  # columns that are not wanted cost less than leaving them out
            width, columns = sum(self.n_cells), self._stack_places()
        keys = (columns + base * width).ravel()
        repeated = None if weights is None else np.broadcast_to(weights, columns.shape).ravel()
        counts = grouping.sum_weights(keys, repeated, contexts * width).reshape(contexts, width)
        return counts if width == sum(sizes) else counts[:, _mark_places(chosen, self.n_cells)]

    def _is_stackable(self, columns: int) -> bool:
        return columns > 1 and len(self.n_cells) * self.rows.n_rows <= _KEYS

    def _contract_cells(
        self, parents: tuple[int, ...], child: int, candidates: Sequence[int], *, shared: bool
    ) -> Iterator[CandidateTables]:
        matrices = self.cell_matrices(shared=shared)
        _, combinations = self.group_cells(parents)
        refuse_over(
            16 * len(combinations) * prod(self.states[k] for k in parents),
            f"sharing rows among the configurations of {len(parents)} parents",
            "set max_parents",
        )
        above = self.spread_cells(parents, combinations, shared=shared)
        for by_cells in self.count_cells(parents, child, candidates):
            counts = by_cells.counts.astype(np.float64)
            if len(above) != len(counts):  # counted by bitmaps: combinations that do not occur stand there too
                counts = counts[np.ravel_multi_index(tuple(combinations.T), [self.n_cells[k] for k in parents])]
            flat = counts.reshape(len(above), counts.shape[1] * counts.shape[2])
            by_parents = (above.T @ flat).reshape(above.shape[1], *counts.shape[1:])
            by_child = np.einsum("pcx,ci->pix", by_parents, matrices[child], optimize=True)
            chosen = by_cells.candidates
            cells = zip(chosen, by_cells._replace(counts=by_child).split_tables(), strict=True)
            states = np.concatenate([table @ matrices[k] for k, table in cells], axis=2)
            yield CandidateTables(chosen, [self.states[k] for k in chosen], states)

    def spread_cells(self, chosen: tuple[int, ...], combinations: NDArray[np.int32], *, shared: bool) -> Floats:
        """Matrix (combinations of cells, configurations of states) of products of `cell_matrices`."""
        matrices = self.cell_matrices(shared=shared)
        spread = np.ones((len(combinations), 1))
        for column, k in zip(combinations.T, chosen, strict=True):
            width = spread.shape[1] * self.states[k]
            spread = (spread[:, :, np.newaxis] * matrices[k][column][:, np.newaxis]).reshape(len(combinations), width)
        return spread

    def _prefers_bitmaps(self, contexts: int, sizes: Sequence[int], *, states: bool) -> bool:
        rows = self.rows.n_rows
        length = -(-rows // 64)
        if self.rows.weights is not None or rows == 0:
            return False
        if rows < _SHORT and not states and self._is_stackable(len(self.n_cells)):
            return False
        if sum(sizes) * length > _WORDS or contexts * length > _WORDS:
            return False
        read_off = self._bitmap_cost(contexts, sizes, states=states)
        if self._is_stackable(len(sizes)):
            return read_off < len(sizes) * rows * _STACKED_ROW
        return read_off < len(sizes) * (rows * _ROW + _COLUMN) + contexts * sum(sizes) * _ENTRY

    def _bitmap_cost(self, contexts: int, sizes: Sequence[int], *, states: bool) -> float:
        """Nanoseconds of counting by bitmaps; infinite for rows with weights, which bitmaps are slow for."""
        if self.rows.weights is not None:
            return inf
        counted = sum(sizes) - (len(sizes) if self._drops_last(states=states) else 0)
        return contexts * counted * (-(-self.rows.n_rows // 64) * _WORD + _PAIR)

    def _split_candidates(self, contexts: int, candidates: Sequence[int], sizes: Sequence[int]) -> Iterator[list[int]]:
        """Candidates in blocks whose tables side by side stay small."""
        limit = max(_ENTRIES // max(contexts, 1), 1)
        if sum(sizes[k] for k in candidates) <= limit:
            yield list(candidates)
            return
        ends = accumulate(sizes[k] for k in candidates)
        for _, block in groupby(zip(candidates, ends, strict=True), key=lambda pair: (pair[1] - 1) // limit):
            yield [k for k, _ in block]


def _mark_places(chosen: list[int], sizes: list[int]) -> Bools:
    """Which of the cells of all columns, one column after the other, are those of some columns.

    >>> _mark_places([0, 2], [1, 2, 1])
    array([ True, False, False,  True])
    """
    is_chosen = np.zeros(len(sizes), dtype=np.bool_)
    is_chosen[chosen] = True
    return np.repeat(is_chosen, sizes)
