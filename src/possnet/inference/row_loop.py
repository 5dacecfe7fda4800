"""Marginals given rows of evidence, one row after the other, each by a query on the network that its evidence leaves.

A query cuts all tables to what one row leaves open and plans a tree for that alone (see `possnet.inference.pruning`). What
rows have in common is lost but for rows that are equal, so that this is the way for few rows, and for rows whose sets of
states leave large tables open in ever other places.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from possnet.dataset import group_rows
from possnet.inference.pruning import plan_pruned, prune_factors, run_pruned

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from possnet.aliases import Floats
    from possnet.dataset import CodedColumn
    from possnet.inference.batched import RowBlock
    from possnet.inference.conditioning import Budget
    from possnet.inference.factor_graph import FactorGraph
    from possnet.inference.plan import Plan
    from possnet.inference.pruning import PrunedFactors
    from possnet.inference.semirings import Semiring

_ROWS: Final = 1 << 15  # of a block, at most
_SAMPLE: Final = 8  # rows, at most, from which the time is estimated: to plan one takes half as long as to answer it
_PLANS: Final = 64  # that are kept
# Measured on one machine; compared with the estimates of the other ways.
_SECONDS_A_QUERY: Final = 6e-5
_SECONDS_A_FINDING: Final = 7e-6
_SECONDS_A_FACTOR: Final = 6e-6
_SECONDS_A_VARIABLE: Final = 1.2e-5
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
        self._plans: dict[tuple[tuple[int, ...], tuple[tuple[int, ...], ...]], Plan] = {}
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
        """Estimate of the time that the loop takes if all rows that may differ do, from the trees of a few of them."""
        seconds, sample = [], min(max(self.distinct // 8, 2), _SAMPLE)
        for row in sorted({(2 * k + 1) * self._rows // (2 * sample) for k in range(sample)}):
            known = self._findings.of_row(row)
            left, plan = self._plan_row(known)
            open_variables = len(self._graph.sizes) - left.absent.bit_count()
            seconds.append(
                _SECONDS_A_QUERY
                + _SECONDS_A_FINDING * len(known)
                + _SECONDS_A_FACTOR * len(left.scopes)
                + _SECONDS_A_VARIABLE * open_variables
                + _SECONDS_AN_ENTRY * plan.entries
            )
        return self.distinct * sum(seconds) / len(seconds)

    def run_blocks(self) -> Iterator[RowBlock]:
        """Blocks of rows, the table (rows, states) of the target, and the value of every row; equal rows once."""
        size = self._graph.sizes[self._target]
        for start in range(0, self._rows, _ROWS):
            block = slice(start, min(start + _ROWS, self._rows))
            codes = [column.codes[block] for column in self._columns.values()]
            groups = group_rows(codes, [len(column) for column in self._columns.values()], block.stop - start)
            tables, totals = np.zeros((len(groups), size)), np.zeros(len(groups))
            for k, row in enumerate((start + groups.first).tolist()):
                left, plan = self._plan_row(self._findings.of_row(row))
                totals[k], tables[k] = run_pruned(self._graph, [self._target], left, plan, self._semiring, self._budget)
            yield block, {self._target: tables[groups.inverse]}, totals[groups.inverse]

    def _plan_row(self, known: dict[int, Floats]) -> tuple[PrunedFactors, Plan]:
        """What a row leaves of the network, and its tree: one for all rows that leave as many states of each family."""
        left = prune_factors(self._graph, [self._target], known, self._semiring)
        key = left.sizes, tuple(left.scopes)
        plan = self._plans.get(key)
        if plan is None:
            plan = plan_pruned(left, [self._target])
            if len(self._plans) < _PLANS:
                self._plans[key] = plan
        return left, plan


class _Findings:
    """What rows say of the variables."""

    def __init__(self, columns: Mapping[int, CodedColumn]) -> None:
        self._columns = [
            (v, column.codes, [None if whole else d for whole, d in zip(column.is_whole, column.degrees, strict=True)])
            for v, column in columns.items()
        ]

    def of_row(self, row: int) -> dict[int, Floats]:
        """Degrees of the states of the variables that a row says something of."""
        known = {}
        for v, codes, cells in self._columns:
            degrees = cells[codes.item(row)]
            if degrees is not None:
                known[v] = degrees
        return known
