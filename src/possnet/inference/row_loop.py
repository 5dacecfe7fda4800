"""Marginals given rows of evidence, one row after the other, each by a question about what its evidence leaves open.

What rows have in common is lost but for rows that are equal and for the programs of those that leave the same open (see
`possnet.inference.questions`), so that this is the way for few rows, and for rows whose sets of states leave large tables
open in ever other places.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from possnet.dataset import group_rows
from possnet.inference.evidence import Findings
from possnet.inference.questions import Questions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from possnet.aliases import Floats, Ints
    from possnet.dataset import CodedColumn
    from possnet.inference.batched import RowBlock
    from possnet.inference.conditioning import Budget
    from possnet.inference.factor_graph import FactorGraph
    from possnet.inference.questions import ComponentRun
    from possnet.inference.semirings import Semiring

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
        self._graph, self._columns, self._rows = graph, columns, rows
        self._target, self._semiring, self._budget = target, semiring, budget
        self._questions = graph.derive(Questions)
        self._answers: dict[int, tuple[float, Floats]] = {}
        self._prices: dict[int, tuple[float, list[ComponentRun]]] = {}
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
        for row in {(2 * k + 1) * self._rows // (2 * sample) for k in range(sample)} - self._prices.keys():
            self._price_row(row)
        runs = [run for _, own in self._prices.values() for run in own]
        programs = {run.key: run for run in runs}
        share = max(2 * len(programs) / max(len(runs), 1) - 1, 0.0)  # of the rows to come that need others
        seconds = sum([own for own, _ in self._prices.values()])
        seconds += share * _SECONDS_A_NEW_VARIABLE * sum([run.variables for run in programs.values()])
        return self.distinct * seconds / len(self._prices)

    def _price_row(self, row: int) -> None:
        """Answer a row, and note what that takes but for new programs."""
        findings = self._read_row(row)
        runs: list[ComponentRun] = []
        self._answers[row] = self._answer(findings, runs)
        seconds = _SECONDS_A_QUERY + _SECONDS_A_FINDING * len(findings.states) + _SECONDS_A_SET * len(findings.degrees)
        for run in runs:
            seconds += _SECONDS_A_RUN + _SECONDS_A_PART * run.parts + _SECONDS_AN_ENTRY * run.entries
            seconds += (_SECONDS_A_PLANNED_VARIABLE if run.planned else _SECONDS_A_VARIABLE) * run.variables
        self._prices[row] = seconds, runs

    def run_blocks(self) -> Iterator[RowBlock]:
        """Blocks of rows, the table (rows, states) of the target, and the value of every row; equal rows once."""
        size = self._graph.sizes[self._target]
        for start in range(0, self._rows, _ROWS):
            block = slice(start, min(start + _ROWS, self._rows))
            first, inverse = self._group_rows(block)
            tables, totals = np.zeros((len(first), size)), np.zeros(len(first))
            for k, row in enumerate(first):
                answer = self._answers.get(row)
                totals[k], tables[k] = self._answer(self._read_row(row)) if answer is None else answer
            yield block, {self._target: tables[inverse]}, totals[inverse]

    def _group_rows(self, block: slice) -> tuple[list[int], Ints | slice]:
        """A row of every kind in a block, and of each row its kind."""
        if block.stop - block.start <= _UNGROUPED:
            return list(range(block.start, block.stop)), slice(None)
        codes = [column.codes[block] for column in self._columns.values()]
        groups = group_rows(codes, [len(column) for column in self._columns.values()], block.stop - block.start)
        return (block.start + groups.first).tolist(), groups.inverse

    def _answer(self, findings: Findings, runs: list[ComponentRun] | None = None) -> tuple[float, Floats]:
        """The value of a row, and the table of the target."""
        value, table = self._questions.answer([self._target], findings, self._semiring, self._budget, runs)
        return value, np.zeros(self._graph.sizes[self._target]) if table is None else table

    def _read_row(self, row: int) -> Findings:
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
