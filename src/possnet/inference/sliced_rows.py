"""Marginals given rows of evidence, by one junction tree whose tables hold only what a row leaves open.

Rows of the same pattern at a node have slices of one shape (see `possnet.inference.slice_layout`) and are computed
together; of rows that agree in all that matters at and below a node one is computed for all. A message over no open
variable is a number and goes to the value of its rows at once, so that what evidence separates stays apart without being
looked for. Where the patterns of a node are too many, rows that leave the same variables open are computed together:
a family or a message that is of no account in some of them is 1 there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from possnet.inference.factor_graph import to_semiring
from possnet.inference.observed_rows import RowObserver
from possnet.inference.slice_messages import LineTables
from possnet.inference.slice_passes import SlicePasses

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from possnet.aliases import Bools
    from possnet.dataset import CodedColumn
    from possnet.inference.batched import RowBlock
    from possnet.inference.factor_graph import FactorGraph
    from possnet.inference.observed_rows import ObservedRows
    from possnet.inference.semirings import Semiring
    from possnet.inference.slice_layout import SliceTree

_ROWS = 1 << 15  # of a block, at most
# Measured on one machine; compared with the estimates of the other ways.
_SECONDS_A_NODE = 5.5e-5
_SECONDS_A_SLICE = 2.7e-5
_SECONDS_AN_ENTRY = 2.3e-9
_SECONDS_A_CODE = 3e-8  # of a row at a node


class SlicedInference:
    """Inference for rows of evidence, by one tree of slices.

    Parameters
    ----------
    budget
        Bytes that the messages of a block of rows may take.
    """

    def __init__(self, tree: SliceTree, graph: FactorGraph, semiring: Semiring, budget: int) -> None:
        self._tree, self._target, self._graph, self._semiring = tree, tree.target, graph, semiring
        self._observer = RowObserver(graph, semiring)
        self._tables = LineTables(graph.tables_in(semiring), semiring.one)
        self._budget = budget

    def least_seconds(self, rows: int) -> float:
        """Time that no rows can be scheduled in less."""
        codes = rows if self._target is not None else 3 * rows
        return len(self._tree.nodes) * (_SECONDS_A_NODE + _SECONDS_A_CODE * codes)

    def schedule(
        self, columns: Mapping[int, CodedColumn], rows: int, wanted: Mapping[int, Bools], start: int = 0
    ) -> SlicedBlock:
        """The next rows, as many as may be computed together, with all their slices found."""
        stop = min(start + _ROWS, rows)
        while True:
            observed = self._observer.observe(columns, np.arange(start, stop), wanted)
            passes = self._prepare(columns, observed)
            if passes.bytes_sent <= self._budget or stop - start == 1:
                break
            stop = start + (stop - start) // 2
        groups, entries = passes.count_work()
        seconds = _SECONDS_A_SLICE * groups + _SECONDS_AN_ENTRY * entries
        seconds = (1 if self._target is not None else 4) * seconds + self.least_seconds(stop - start)
        return SlicedBlock(slice(start, stop), observed, passes, seconds * rows / (stop - start))

    def run_blocks(
        self, columns: Mapping[int, CodedColumn], rows: int, wanted: Mapping[int, Bools], first: SlicedBlock
    ) -> Iterator[RowBlock]:
        """Blocks of rows, the tables (wanted rows of the block, states) of every wanted variable, the values of rows."""
        block = first
        while True:
            yield self._run_block(block, wanted)
            if block.rows.stop == rows:
                break
            block = self.schedule(columns, rows, wanted, block.rows.stop)

    def _run_block(self, block: SlicedBlock, wanted: Collection[int]) -> RowBlock:
        observed, semiring = block.observed, self._semiring
        total = self._observer.combine_precise(observed)
        with np.errstate(divide="ignore", invalid="ignore"):
            answer = block.passes.collect(total)
            if self._target is not None and answer is not None:
                return block.rows, {self._target: answer}, total
            tables = {v: np.full((len(total), self._graph.sizes[v]), semiring.zero) for v in wanted}
            for v, table in tables.items():
                (precise,) = np.nonzero(~observed.is_open[v])
                table[precise, observed.states[v, precise]] = semiring.one
            block.passes.distribute([v for v in tables if observed.wanted[v].any()], tables)
        return block.rows, {v: table[observed.wanted[v]] for v, table in tables.items()}, total

    def _prepare(self, columns: Mapping[int, CodedColumn], observed: ObservedRows) -> SlicePasses:
        is_open = self._observer.find_relevant(observed)
        vectors = {}
        for v, column in columns.items():
            if ((column.cell_sizes != 1) & ~column.is_whole).any():
                vectors[v] = to_semiring(np.ascontiguousarray(column.degrees.T), self._semiring)
        passes = SlicePasses(self._tree, self._tables, vectors, observed, is_open, self._semiring)
        passes.schedule()
        return passes


@dataclass(frozen=True, slots=True)
class SlicedBlock:
    """Some rows with their slices found, and the time that as many as all rows are estimated to take."""

    rows: slice
    observed: ObservedRows
    passes: SlicePasses
    seconds: float
