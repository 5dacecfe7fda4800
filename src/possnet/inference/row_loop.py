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

    from possnet.aliases import Floats
    from possnet.dataset import CodedColumn
    from possnet.inference.batched import RowBlock
    from possnet.inference.conditioning import Budget
    from possnet.inference.factor_graph import FactorGraph
    from possnet.inference.questions import ComponentRun
    from possnet.inference.semirings import Semiring

_ROWS: Final = 1 << 15  # of a block, at most
_SAMPLE: Final = 8  # rows, at most, from which the time is estimated; their answers are kept
# Measured on one machine; compared with the estimates of the other ways.
_SECONDS_A_QUERY: Final = 1.2e-5
_SECONDS_A_FINDING: Final = 3e-7
_SECONDS_A_RUN: Final = 6e-6  # of a component
_SECONDS_A_PART: Final = 1.5e-6
_SECONDS_A_VARIABLE: Final = 4e-6
_SECONDS_A_NEW_VARIABLE: Final = 1.2e-5
_SECONDS_AN_ENTRY: Final = 1.3e-9


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
        self.distinct = 1
        for column in columns.values():
            self.distinct *= len(column)
            if self.distinct >= rows:
                self.distinct = rows
                break

    @cached_property
    def _findings(self) -> _Findings:
        return _Findings(self._columns)

    @property
    def least_seconds(self) -> float:
        """Time that no loop takes less than, whatever is observed."""
        return self.distinct * _SECONDS_A_QUERY

    @cached_property
    def seconds(self) -> float:
        """Estimate of the time that the loop takes if all rows that may differ do, from a few of them that are answered."""
        sample = min(max(self.distinct // 8, 2), _SAMPLE)
        rows = sorted({(2 * k + 1) * self._rows // (2 * sample) for k in range(sample)})
        runs: list[ComponentRun] = []
        seconds = _SECONDS_A_QUERY * len(rows)
        for row in rows:
            findings = self._read_row(row)
            seconds += _SECONDS_A_FINDING * len(findings.states) + _SECONDS_A_PART * len(findings.degrees)
            self._answers[row] = self._answer(findings, runs)
        for run in runs:
            seconds += _SECONDS_A_RUN + _SECONDS_A_PART * run.parts
            seconds += _SECONDS_A_VARIABLE * run.variables + _SECONDS_AN_ENTRY * run.entries
        programs = {run.key: run for run in runs}
        share = max(2 * len(programs) / max(len(runs), 1) - 1, 0.0)  # of the rows to come that need others
        seconds += share * _SECONDS_A_NEW_VARIABLE * sum(run.variables for run in programs.values())
        return self.distinct * seconds / len(rows)

    def run_blocks(self) -> Iterator[RowBlock]:
        """Blocks of rows, the table (rows, states) of the target, and the value of every row; equal rows once."""
        size = self._graph.sizes[self._target]
        for start in range(0, self._rows, _ROWS):
            block = slice(start, min(start + _ROWS, self._rows))
            codes = [column.codes[block] for column in self._columns.values()]
            groups = group_rows(codes, [len(column) for column in self._columns.values()], block.stop - start)
            tables, totals = np.zeros((len(groups), size)), np.zeros(len(groups))
            for k, row in enumerate((start + groups.first).tolist()):
                answer = self._answers.get(row)
                totals[k], tables[k] = self._answer(self._read_row(row)) if answer is None else answer
            yield block, {self._target: tables[groups.inverse]}, totals[groups.inverse]

    def _answer(self, findings: Findings, runs: list[ComponentRun] | None = None) -> tuple[float, Floats]:
        """The value of a row, and the table of the target."""
        value, table = self._questions.answer([self._target], findings, self._semiring, self._budget, runs)
        return value, np.zeros(self._graph.sizes[self._target]) if table is None else table

    def _read_row(self, row: int) -> Findings:
        """What a row says of the variables."""
        states: dict[int, int] = {}
        degrees: dict[int, Floats] = {}
        for v, column in self._columns.items():
            found = column.findings[column.codes.item(row)]
            if type(found) is int:
                states[v] = found
            elif found is not None:
                degrees[v] = found
        return Findings(states, degrees)
