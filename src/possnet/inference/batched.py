"""Questions for every row of a data set, blocks of rows at a time.

One target needs a collect pass alone, if the tree is rooted at it. For many targets a variable's marginal is read from the
clique that eliminates it, only for the rows that ask for it; branches that hold nothing that is asked for are not entered.
Equal pieces of evidence are computed once (see `possnet.inference.message_passing`).
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from possnet.inference.message_passing import (
    CliqueLayout,
    Projection,
    RowPasses,
    RowSchedule,
    combine_parts,
    factor_parts,
)
from possnet.inference.semirings import MAX_MIN, MAX_SUM, ROUNDING, conditioned
from possnet.threads import cores, in_order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from possnet.aliases import Bools, Floats, Ints
    from possnet.dataset import CodedColumn
    from possnet.inference.plan import Plan
    from possnet.inference.semirings import Semiring

T = TypeVar("T")
_ROWS = 1 << 15
_THREADS = 4


class RowInference:
    """A plan with tables and a semiring, ready for any number of rows of evidence.

    Parameters
    ----------
    budget
        Bytes that the messages of one block of rows may take.
    """

    def __init__(
        self,
        plan: Plan,
        scopes: Sequence[tuple[int, ...]],
        tables: Sequence[Floats],
        semiring: Semiring,
        budget: int,
    ) -> None:
        self.semiring = semiring
        self._plan = plan
        self._layouts = [CliqueLayout(plan, clique) for clique in plan.cliques]
        self._potentials = [
            combine_parts(factor_parts(plan, k, scopes, tables), clique.shape, semiring).reshape(-1, 1)
            for k, clique in enumerate(plan.cliques)
        ]
        self._n_factors = len(tables)
        self._threads = min(cores(), _THREADS)
        separators = sum(layout.separator for layout in self._layouts)
        self._most = max(min(budget // (16 * max(separators, 1) * self._threads), _ROWS), 1)

    def query_rows(self, target: int, columns: Mapping[int, CodedColumn], rows: int) -> Floats:
        """Unnormalised table of one variable for every row, shape (rows, states); the plan eliminates it last."""
        answers = np.empty((rows, self._plan.sizes[target]))
        for block, table in self._run_blocks(columns, rows, lambda passes, _: passes.collect(target)):
            answers[block] = table
        return answers

    def marginal_blocks(
        self, columns: Mapping[int, CodedColumn], rows: int, wanted: Mapping[int, Bools]
    ) -> Iterator[tuple[int, int, dict[int, Floats], Bools]]:
        """First row, end, the degrees (wanted rows of the block, states) of every wanted variable, the possible rows.

        Degrees are conditioned on the row; those of an impossible row are NaN.
        """

        def run(passes: RowPasses, block: slice) -> tuple[dict[int, Floats], Bools]:
            asked = {v: np.flatnonzero(mask[block]) for v, mask in wanted.items()}
            total = passes.collect()[:, 0]
            tables = self._read_marginals(passes, {v: rows for v, rows in asked.items() if len(rows)})
            degrees = {v: self._condition_rows(table, total[asked[v]]) for v, table in tables.items()}
            none = {v: np.zeros((0, self._plan.sizes[v])) for v, rows in asked.items() if not len(rows)}
            return degrees | none, total > self.semiring.zero

        for block, (degrees, possible) in self._run_blocks(columns, rows, run):
            yield block.start, block.stop, degrees, possible

    def _run_blocks(
        self,
        columns: Mapping[int, CodedColumn],
        rows: int,
        work: Callable[[RowPasses, slice], T],
    ) -> Iterator[tuple[slice, T]]:
        """Every block of rows and the result of the work on it, in order; threads run some at a time."""
        scopes = [(v,) for v in columns]
        tables = [np.where(column.cell_sets.T, self.semiring.one, self.semiring.zero) for column in columns.values()]
        n_codes = [table.shape[1] for table in tables]

        def run(start: int) -> tuple[slice, T]:
            block = slice(start, min(start + self._most, rows))
            codes = [np.asarray(column.codes[block], dtype=np.int64) for column in columns.values()]
            schedule = RowSchedule(self._plan, self._layouts, scopes, codes, n_codes, block.stop - start)
            with np.errstate(divide="ignore", invalid="ignore"):
                return block, work(RowPasses(schedule, self._potentials, tables, self.semiring), block)

        return in_order(run, range(0, rows, self._most), self._threads)

    def _read_marginals(self, passes: RowPasses, asked: Mapping[int, Ints]) -> dict[int, Floats]:
        """Marginals (asked rows, states), unnormalised, of the variables asked for."""
        plan, schedule = self._plan, passes.schedule
        reads: dict[int, list[tuple[Floats, Projection]]] = {}
        marginals: dict[int, Floats] = {}
        for v in asked:
            clique, (combinations, _) = plan.cliques[plan.home[v]], schedule.down(plan.home[v])
            marginals[v] = np.empty((plan.sizes[v], combinations.count))
            projection = Projection(clique.shape, (v,), clique.variables)
            reads.setdefault(plan.home[v], []).append((marginals[v], projection))

        def read(number: int, chosen: slice, belief: Floats) -> None:
            for marginal, projection in reads[number]:
                marginal[:, chosen] = projection.project_rows(belief, self.semiring)

        passes.distribute(reads, read)
        return {v: marginals[v][:, schedule.down(plan.home[v])[0].keys[rows]].T for v, rows in asked.items()}

    def _condition_rows(self, rows: Floats, total: Floats) -> Floats:
        """Degrees of every row conditioned on the row, whose own possibility is ``total``."""
        if self.semiring is MAX_MIN:
            tops = total[:, np.newaxis]
            rows = np.minimum(rows, tops)  # what lies in other components
        else:
            tops = rows.max(axis=1, keepdims=True)
        rounding: float | Floats = ROUNDING
        if self.semiring is MAX_SUM:
            rounding = np.maximum(ROUNDING, 1e-15 * np.abs(total) * sqrt(self._n_factors))[:, np.newaxis]
        degrees = conditioned(rows, tops, self.semiring, rounding)
        degrees[total <= self.semiring.zero] = np.nan
        return degrees
