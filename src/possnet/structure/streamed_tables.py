"""Contingency tables of rows that are not in memory: a stream, or files on a cluster.

A search asks for the tables of many families at once (`StreamedTables.prefetch`), and one pass over the rows counts them
all: a hill climb makes a pass for every move. A pass counts batch by batch (`FamilyTables.count_batch`), and the counts of
two parts of the rows add up to the counts of both (`FamilyTables.merge_parts`), exactly and in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from possnet.dataset import batches_of, cut_batches, group_rows
from possnet.em import count_em_cells, number_cells
from possnet.kernels import bitmaps
from possnet.structure.coded_rows import CodedRows
from possnet.structure.contingency import CandidateTables, ContingencyTables, FamilyQuery

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from possnet.dataset import Batches, Dataset
    from possnet.em import CellCounts
    from possnet.variables import Variable


class CountedTable(NamedTuple):
    """Combinations of the parents' cells that occur, and counts of shape (combinations, child, sum of candidates)."""

    combinations: NDArray[np.int32]
    counts: NDArray[Any]


CountFamilies: TypeAlias = Callable[[Sequence[FamilyQuery]], list[CountedTable]]
"""One pass over the rows: the table of every query."""


class RowSummary(CodedRows):
    """The distinct cells of every variable and how many rows have each: what a search knows of rows it does not hold."""

    def __init__(self, variables: Sequence[Variable], n_rows: float, counts: CellCounts, *, weighted: bool) -> None:
        self.variables = tuple(variables)
        domain = {variable.name: variable for variable in variables}
        masks = number_cells(domain, counts)
        self.masks = [masks[variable.name] for variable in variables]
        self.n_cells = [len(cells) for cells in self.masks]
        self.sets = [bitmaps.sets_of(cells, len(v)) for cells, v in zip(self.masks, variables, strict=True)]
        self.has_missing = [False] * len(self.masks)
        self.codes = []
        self.weights = np.zeros(0) if weighted else None
        self.total = n_rows if isinstance(n_rows, int) else round(n_rows, 6)
        self.n_rows = int(n_rows) or 0
        self._counts = [
            np.array([counts[v.name].get(mask, 0) for mask in cells])
            for cells, v in zip(self.masks, variables, strict=True)
        ]

    @classmethod
    def from_stream(cls, data: Dataset | Batches) -> RowSummary:
        """The summary of rows, in one pass; unknown cells are the whole domain."""
        rows = cut_batches(data)
        n_rows, counts = count_em_cells({v.name: v for v in rows.variables}, rows, "focal")
        return cls(rows.variables, n_rows, counts, weighted=not isinstance(n_rows, int))

    def cell_counts(self, number: int) -> NDArray[Any]:
        """Number of rows with each cell of a variable."""
        return self._counts[number]

    def code_batch(self, batch: Dataset) -> CodedRows:
        """Rows as numbers of cells of this summary."""
        codes = []
        for number, variable in enumerate(self.variables):
            column = batch.column(variable.name).fill_unknown()
            place = {mask: k for k, mask in enumerate(self.masks[number])}
            kind = np.min_scalar_type(max(len(place) - 1, 0))
            table = np.array([place.get(mask, 0) for mask in column.cell_masks] or [0], dtype=kind)
            codes.append(np.take(table, column.codes))
        weights = batch.weights
        if weights is not None and not weights.all():
            kept = np.flatnonzero(weights)
            codes, weights = [column[kept] for column in codes], weights[kept]
        coded: CodedRows = copy(self)
        coded._hold_rows(codes, weights)
        return coded


class FamilyTables:
    """Tables of some queries, counted batch by batch."""

    def __init__(self, summary: RowSummary, queries: Sequence[FamilyQuery]) -> None:
        self.summary, self.queries = summary, list(queries)
        self._parts: list[list[CountedTable]] = [[] for _ in self.queries]

    def count_batch(self, batch: Dataset) -> None:
        """Count the rows of a batch."""
        if not len(batch):
            return
        tables = ContingencyTables(self.summary.code_batch(batch))
        for query, parts in zip(self.queries, self._parts, strict=True):
            parts.append(_count_query(tables, query))
            if len(parts) > 8:
                parts[:] = [self._merge(query, parts)]

    def list_tables(self) -> list[CountedTable]:
        """The tables of all batches so far."""
        return [self._merge(query, parts) for query, parts in zip(self.queries, self._parts, strict=True)]

    def merge_parts(self, parts: Sequence[list[CountedTable]]) -> list[CountedTable]:
        """The tables of several parts of the rows together, from those of each."""
        return [
            self._merge(query, list(same)) for query, same in zip(self.queries, zip(*parts, strict=True), strict=True)
        ]

    def _merge(self, query: FamilyQuery, parts: list[CountedTable]) -> CountedTable:
        sizes = self.summary.n_cells
        if not parts:
            width = sum(sizes[k] for k in query.candidates) if query.child is not None else 1
            shape = (0, 1 if query.child is None else sizes[query.child], width)
            return CountedTable(np.zeros((0, len(query.parents)), dtype=np.int32), np.zeros(shape, dtype=np.int64))
        if len(parts) == 1:
            return parts[0]
        combinations = np.concatenate([part.combinations for part in parts])
        counts = np.concatenate([part.counts for part in parts])
        groups = group_rows(list(combinations.T), [sizes[k] for k in query.parents], len(combinations))
        total = np.zeros((len(groups), *counts.shape[1:]), dtype=counts.dtype)
        np.add.at(total, groups.inverse, counts)
        return CountedTable(groups.combinations.astype(np.int32), total)


def _count_query(tables: ContingencyTables, query: FamilyQuery) -> CountedTable:
    """The table of a query in coded rows; only combinations of the parents' cells that occur."""
    _, combinations = tables.group_cells(query.parents)
    if query.child is None:
        return CountedTable(combinations, tables.cell_counts(query.parents)[:, np.newaxis, np.newaxis])
    blocks = list(tables.count_cells(query.parents, query.child, query.candidates))
    counts = np.concatenate([block.counts for block in blocks], axis=2)
    if len(counts) != len(combinations):  # counted by bitmaps: combinations that do not occur stand there too
        sizes = [tables.n_cells[k] for k in query.parents]
        counts = counts[np.ravel_multi_index(tuple(combinations.T), sizes)]
    return CountedTable(combinations, counts)


def count_stream(summary: RowSummary, data: Dataset | Batches, queries: Sequence[FamilyQuery]) -> list[CountedTable]:
    """The tables of all queries, in one pass over the rows of a stream."""
    tables = FamilyTables(summary, queries)
    for batch in batches_of(cut_batches(data)):
        tables.count_batch(batch)
    return tables.list_tables()


class StreamedTables(ContingencyTables):
    """Contingency tables of rows that are counted elsewhere, a pass at a time.

    >>> import possnet as pn
    >>> rows = pn.sample_batches(pn.load_example("asia"), 1000, rng=1, batch=300)
    >>> summary = RowSummary.from_stream(rows)
    >>> tables = StreamedTables(summary, lambda queries: count_stream(summary, rows, queries))
    >>> sum(int(table.counts.sum()) for table in tables.count_cells((), 1, [0]))
    1000
    >>> tables.passes
    1
    """

    is_streamed = True

    def __init__(self, summary: RowSummary, count: CountFamilies) -> None:
        super().__init__(summary)
        self._count = count
        self._ready: dict[FamilyQuery, CountedTable] = {}
        self.passes = 0

    def prefetch(self, queries: Sequence[FamilyQuery]) -> None:
        """Count the tables of all queries in one pass; they are kept until the next one."""
        wanted = [query for query in queries if not self._is_known(query)]
        if not wanted:
            return
        self.passes += 1
        self._ready = dict(zip(wanted, self._count(wanted), strict=True))

    def _is_known(self, query: FamilyQuery) -> bool:
        return query in self._ready or (query.child is None and len(query.parents) < 2)

    def _look_up(self, query: FamilyQuery) -> CountedTable:
        if query not in self._ready:
            self.prefetch([query])
        return self._ready[query]

    def group_cells(self, chosen: tuple[int, ...]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The combinations of cells that occur; there are no rows here to number."""
        none = np.zeros(0, dtype=np.int32)
        if not chosen:
            return none, np.zeros((1, 0), dtype=np.int32)
        if len(chosen) == 1:
            occurring = np.flatnonzero(self.rows.cell_counts(chosen[0])).astype(np.int32)
            return none, occurring[:, np.newaxis]
        known = next((query for query in self._ready if query.parents == chosen), FamilyQuery(chosen, None, ()))
        return none, self._look_up(known).combinations

    def cell_counts(self, chosen: tuple[int, ...]) -> NDArray[Any]:
        """Number of rows with each combination of cells that occurs."""
        if not chosen:
            return np.array([self.rows.total])
        if len(chosen) == 1:
            counts = self.rows.cell_counts(chosen[0])
            return counts[counts > 0]
        return self._look_up(FamilyQuery(chosen, None, ())).counts[:, 0, 0]

    def count_cells(self, parents: tuple[int, ...], child: int, candidates: Sequence[int]) -> Iterator[CandidateTables]:
        """Rows by the cells of parents that occur together, of the child, and of each candidate."""
        counted = self._look_up(self._find_query(parents, child, candidates))
        query = next(query for query, table in self._ready.items() if table is counted)
        starts = np.cumsum([0, *(self.n_cells[k] for k in query.candidates)])
        place = {k: slice(starts[n], starts[n + 1]) for n, k in enumerate(query.candidates)}
        chosen = list(candidates)
        counts = np.concatenate([counted.counts[:, :, place[k]] for k in chosen], axis=2)
        yield CandidateTables(chosen, [self.n_cells[k] for k in chosen], counts)

    def _find_query(self, parents: tuple[int, ...], child: int, candidates: Sequence[int]) -> FamilyQuery:
        """A query that was answered and holds these candidates, or one of its own."""
        for query in self._ready:
            if query.parents == parents and query.child == child and set(candidates) <= set(query.candidates):
                return query
        return FamilyQuery(parents, child, tuple(candidates))
