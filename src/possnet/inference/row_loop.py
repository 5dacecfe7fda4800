"""Marginals given rows of evidence, one row after the other, each by a question about what its evidence leaves open.

What rows have in common is lost but for rows that are equal and for the programs of those that leave the same open (see
`possnet.inference.questions`), so that this is the way for few rows, and for rows whose sets of states leave large tables
open in ever other places.
"""

from __future__ import annotations

from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Final

import numpy as np

from possnet.dataset import group_rows
from possnet.errors import TooLarge
from possnet.inference.evidence import Findings
from possnet.inference.factor_graph import to_semiring
from possnet.inference.junction_tree import JunctionTree
from possnet.inference.questions import Questions
from possnet.inference.tree_layout import layout_of_structure

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from possnet.aliases import Bools, Floats, Ints
    from possnet.dataset import CodedColumn
    from possnet.inference.batched import RowBlock
    from possnet.inference.conditioning import Budget
    from possnet.inference.factor_graph import FactorGraph
    from possnet.inference.questions import ComponentRun
    from possnet.inference.semirings import Semiring
    from possnet.inference.tree_layout import TreeLayout

_ROWS: Final = 1 << 15  # of a block, at most
_UNGROUPED: Final = 4  # rows that are not compared with each other
_SAMPLE: Final = 8  # rows, at most, from which the time is estimated; their answers are kept
# Measured on one machine; compared with the estimates of the other ways.
_SECONDS_A_QUERY: Final = 1e-5
_SECONDS_A_FINDING: Final = 3e-7
_SECONDS_A_SET: Final = 3e-6  # of states, or of degrees
_SECONDS_A_RUN: Final = 4e-6  # of a component
_SECONDS_A_PART: Final = 1.2e-6
_SECONDS_A_VARIABLE: Final = 2e-6
_SECONDS_A_PLANNED_VARIABLE: Final = 1.2e-5  # by a junction tree
_SECONDS_A_NEW_VARIABLE: Final = 5e-6  # of a program that is not there yet
_SECONDS_AN_ENTRY: Final = 2e-9
_SHARE_OF_CALIBRATION: Final = 0.5  # of the time that a plan states


class _RowQuestions:
    """Questions about variables given rows of evidence, whose answers and prices are kept."""

    def __init__(
        self, graph: FactorGraph, columns: Mapping[int, CodedColumn], semiring: Semiring, budget: Budget
    ) -> None:
        self._graph, self._columns, self._semiring, self._budget = graph, columns, semiring, budget
        self._questions = graph.derive(Questions)
        self._answers: dict[tuple[int, int], tuple[float, Floats]] = {}
        self._prices: dict[tuple[int, int], tuple[float, list[ComponentRun]]] = {}

    def estimate_seconds(self, sample: Iterable[tuple[int, int]]) -> float:
        """Estimate of the time of a question, from some (row, variable) that are answered."""
        for row, target in sorted({*sample} - self._prices.keys()):
            self._price(row, target)
        runs = [run for _, own in self._prices.values() for run in own]
        programs = {run.key: run for run in runs}
        share = max(2 * len(programs) / max(len(runs), 1) - 1, 0.0)  # of the questions to come that need others
        seconds = sum([own for own, _ in self._prices.values()])
        seconds += share * _SECONDS_A_NEW_VARIABLE * sum([run.variables for run in programs.values()])
        return seconds / len(self._prices)

    def ask(self, row: int, target: int, runs: list[ComponentRun] | None = None) -> tuple[float, Floats]:
        """The value of a row, and the table of a variable given the row (see `Questions.answer`)."""
        known = self._answers.get((row, target))
        return self._answer(target, self.read_row(row), runs) if known is None else known

    def read_row(self, row: int) -> Findings:
        """What a row says of the variables."""
        states: dict[int, int] = {}
        degrees: dict[int, Floats] = {}
        for v, column in self._columns.items():
            cell = column.findings[column.codes.item(row)]
            if isinstance(cell, int):
                states[v] = cell
            elif cell is not None:
                degrees[v] = cell
        return Findings(states, degrees)

    def value_of(self, row: int) -> float:
        """The value of a row; `TooLarge` if the question does not fit in memory."""
        return self._questions.answer([], self.read_row(row), self._semiring, self._budget, [])[0]

    def _price(self, row: int, target: int) -> None:
        """Answer a question, and note what that takes but for new programs; endless where it does not fit in memory."""
        findings = self.read_row(row)
        runs: list[ComponentRun] = []
        try:
            self._answers[row, target] = self._answer(target, findings, runs)
        except TooLarge:
            self._prices[row, target] = inf, []
            return
        seconds = _SECONDS_A_QUERY + _SECONDS_A_FINDING * len(findings.states) + _SECONDS_A_SET * len(findings.degrees)
        for run in runs:
            seconds += _SECONDS_A_RUN + _SECONDS_A_PART * run.parts + _SECONDS_AN_ENTRY * run.entries
            seconds += (_SECONDS_A_PLANNED_VARIABLE if run.planned else _SECONDS_A_VARIABLE) * run.variables
        self._prices[row, target] = seconds, runs

    def _answer(self, target: int, findings: Findings, runs: list[ComponentRun] | None = None) -> tuple[float, Floats]:
        value, table = self._questions.answer([target], findings, self._semiring, self._budget, runs)
        return value, np.full(self._graph.sizes[target], self._semiring.zero) if table is None else table


class LoopInference:
    """Some rows of evidence, and a loop of queries about one target.

    Parameters
    ----------
    budget
        What a query may take.

    Attributes
    ----------
    distinct
        Number of rows, or of those that differ if it cannot be as large.
    """

    def __init__(
        self,
        graph: FactorGraph,
        columns: Mapping[int, CodedColumn],
        rows: int,
        target: int,
        semiring: Semiring,
        budget: Budget,
    ) -> None:
        self._columns, self._rows, self._target, self._size = columns, rows, target, graph.sizes[target]
        self._asked = _RowQuestions(graph, columns, semiring, budget)
        self.distinct = 1
        for column in columns.values():
            self.distinct *= len(column)
            if self.distinct >= rows:
                self.distinct = rows
                break

    @property
    def least_seconds(self) -> float:
        """Time that no loop takes less than, whatever is observed."""
        return self.distinct * _SECONDS_A_QUERY

    @cached_property
    def rough_seconds(self) -> float:
        """Estimate of the time that the loop takes if all rows that may differ do, from two that are answered."""
        return self._estimate_seconds(2)

    @cached_property
    def seconds(self) -> float:
        """The same from more rows, an eighth of all or a few."""
        return self._estimate_seconds(min(max(self.distinct // 8, 2), _SAMPLE))

    def _estimate_seconds(self, sample: int) -> float:
        rows = [(2 * k + 1) * self._rows // (2 * sample) for k in range(sample)]
        return self.distinct * self._asked.estimate_seconds([(row, self._target) for row in rows])

    def run_blocks(self) -> Iterator[RowBlock]:
        """Blocks of rows, the table (rows, states) of the target, and the value of every row; equal rows once."""
        for start in range(0, self._rows, _ROWS):
            block = slice(start, min(start + _ROWS, self._rows))
            first, inverse = self._group_rows(block)
            tables, totals = np.zeros((len(first), self._size)), np.zeros(len(first))
            for k, row in enumerate(first):
                totals[k], tables[k] = self._asked.ask(row, self._target)
            yield block, {self._target: tables[inverse]}, totals[inverse]

    def _group_rows(self, block: slice) -> tuple[list[int], Ints | slice]:
        """A row of every kind in a block, and of each row its kind."""
        if block.stop - block.start <= _UNGROUPED:
            return list(range(block.start, block.stop)), slice(None)
        codes = [column.codes[block] for column in self._columns.values()]
        groups = group_rows(codes, [len(column) for column in self._columns.values()], block.stop - block.start)
        return (block.start + groups.first).tolist(), groups.inverse


class CellLoop:
    """A few rows of evidence, and a loop: of queries about the variables that are wanted of each, or of calibrations.

    Parameters
    ----------
    wanted
        Of every variable the rows that it is wanted for.
    budget
        What a query may take.
    """

    def __init__(
        self,
        graph: FactorGraph,
        columns: Mapping[int, CodedColumn],
        rows: int,
        wanted: Mapping[int, Bools],
        semiring: Semiring,
        budget: Budget,
    ) -> None:
        self._graph, self._rows, self._semiring, self._limit = graph, rows, semiring, budget.limit
        self._asked = _RowQuestions(graph, columns, semiring, budget)
        self._wanted = {v: [row for row, own in enumerate(mask.tolist()) if own] for v, mask in wanted.items()}
        self._n_cells = sum([len(own) for own in self._wanted.values()])

    @property
    def least_seconds(self) -> float:
        """Time that no loop takes less than, whatever is observed."""
        return max(self._n_cells, self._rows) * _SECONDS_A_QUERY

    @property
    def seconds(self) -> float:
        """Estimate of the time that a loop of queries takes, from the first and the last cell."""
        cells = [(own[0], v) for v, own in self._wanted.items() if own]
        return self._n_cells * self._asked.estimate_seconds([cells[0], cells[-1]]) if cells else 0.0

    def run_blocks(self) -> Iterator[RowBlock]:
        """All rows as one block, the tables (wanted rows, states) of the variables, and the value of every row.

        `TooLarge` if a question does not fit in memory: a cell is not worth what fixing variables in turn may take.

        Tables of a row are each multiplied by a number of their own where conditioning divides by it.
        """
        totals: dict[int, float] = {}
        tables = {}
        for v, rows in self._wanted.items():
            tables[v] = np.zeros((len(rows), self._graph.sizes[v]))
            for k, row in enumerate(rows):
                totals[row], tables[v][k] = self._asked.ask(row, v, [])
        for row in range(self._rows):
            if row not in totals:
                totals[row] = self._asked.value_of(row)
        yield slice(0, self._rows), tables, np.array([totals[row] for row in range(self._rows)])

    @property
    def seconds_by_trees(self) -> float:
        """Estimate of the time of one junction tree, whose evidence changes from row to row; endless if it does not fit."""
        plan = self._layout.plan
        return self._rows * _SHARE_OF_CALIBRATION * plan.seconds if plan.fits_lean(self._limit) else inf

    def run_trees(self) -> Iterator[RowBlock]:
        """The same as `run_blocks`, by one junction tree whose evidence changes from row to row."""
        graph, semiring = self._graph, self._semiring
        factors = graph.tables_in(semiring)
        layout = self._layout
        tree = JunctionTree(layout.plan, graph.scopes, factors, semiring, normalised=graph.has_peaks, layout=layout)
        totals = np.full(self._rows, semiring.zero)
        tables = {v: np.full((len(rows), graph.sizes[v]), semiring.zero) for v, rows in self._wanted.items()}
        of_row: dict[int, list[tuple[int, int]]] = {}
        for v, rows in self._wanted.items():
            for k, row in enumerate(rows):
                of_row.setdefault(row, []).append((v, k))
        with np.errstate(divide="ignore", invalid="ignore"):
            for row in range(self._rows):
                known = self._asked.read_row(row).as_degrees(graph.sizes)
                tree.set_evidence({v: to_semiring(degrees, semiring) for v, degrees in known.items()})
                totals[row] = tree.collect()
                if totals[row] > semiring.zero and row in of_row:
                    marginals = tree.distribute()
                    for v, k in of_row[row]:
                        tables[v][k] = marginals[v].reshape(-1)
        yield slice(0, self._rows), tables, totals

    @property
    def _layout(self) -> TreeLayout:
        return layout_of_structure(self._graph.sizes, self._graph.scopes)
