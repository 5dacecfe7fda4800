"""Marginals given every row of a data set, by one junction tree for all rows, blocks of rows at a time.

One target needs a collect pass alone, if the tree is rooted at it. For many targets a variable's marginal is read from the
clique that eliminates it, only for the rows where it is wanted; branches without a wanted variable are not entered.
Equal pieces of evidence are computed once (see `possnet.inference.message_passing`).
"""

from __future__ import annotations

from math import log2, sqrt
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from possnet.inference.factor_graph import to_semiring
from possnet.inference.message_passing import CliqueLayout, Potential, factor_parts
from possnet.inference.row_passes import RowPasses
from possnet.inference.row_schedule import RowSchedule
from possnet.inference.semirings import MAX_MIN, ROUNDING, condition_degrees
from possnet.threads import cores, in_order

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from possnet.aliases import Bools, Floats
    from possnet.dataset import CodedColumn
    from possnet.inference.plan import Plan
    from possnet.inference.semirings import Semiring

    RowBlock: TypeAlias = tuple[slice, dict[int, Floats], Floats]
    """Some rows, tables (wanted rows, states) of every wanted variable, and the value of every row."""

_ROWS = 1 << 15  # of a block, at most
_THREADS = 4  # at most
_SAMPLE = 64  # rows from which the number of combinations is estimated
# Measured on one machine; compared with the estimates of the other ways.
_SECONDS_AN_ENTRY = 2e-9
_SECONDS_A_CLIQUE = 7e-5
_SECONDS_A_CODE = 2e-8  # of a row at a clique
_PASSES = 6  # that all marginals cost: what rows receive from above is less often the same


class RowInference:
    """A plan with tables and a semiring, ready for any number of rows of evidence.

    Parameters
    ----------
    target
        The only variable that will be asked for, which the plan eliminates last; or None.
    budget
        Bytes that the messages of one block of rows may take.
    """

    def __init__(
        self,
        plan: Plan,
        scopes: Sequence[tuple[int, ...]],
        tables: Sequence[Floats],
        semiring: Semiring,
        target: int | None,
        budget: int,
    ) -> None:
        self._plan, self._semiring, self._target = plan, semiring, target
        self._layouts = [CliqueLayout(plan, clique) for clique in plan.cliques]
        self._potentials = [
            Potential(factor_parts(plan, k, scopes, tables), layout, semiring) for k, layout in enumerate(self._layouts)
        ]
        self._threads = min(cores(), _THREADS)
        separators = sum(layout.separator for layout in self._layouts)
        self._most = max(min(budget // (16 * max(separators, 1) * self._threads), _ROWS), 1)

    def run_blocks(
        self, columns: Mapping[int, CodedColumn], rows: int, wanted: Mapping[int, Bools]
    ) -> Iterator[RowBlock]:
        """Blocks of rows, the tables (wanted rows of the block, states) of every wanted variable, the value of every row.

        ``wanted`` says for every variable of interest which rows it is wanted for. Threads run some blocks at a time.
        """
        semiring, plan = self._semiring, self._plan
        scopes = [(v,) for v in columns]
        tables = [to_semiring(np.ascontiguousarray(column.degrees.T), semiring) for column in columns.values()]
        n_codes = [table.shape[1] for table in tables]

        def run(start: int) -> RowBlock:
            block = slice(start, min(start + self._most, rows))
            codes = [np.asarray(column.codes[block], dtype=np.int64) for column in columns.values()]
            schedule = RowSchedule(plan, self._layouts, scopes, codes, n_codes, block.stop - start)
            passes = RowPasses(schedule, self._potentials, tables, semiring)
            with np.errstate(divide="ignore", invalid="ignore"):
                result = passes.collect(self._target)
                if self._target is not None:
                    return block, {self._target: result}, semiring.project.reduce(result, axis=1)
                asked = {v: np.flatnonzero(mask[block]) for v, mask in wanted.items()}
                marginals = {v: np.zeros((0, plan.sizes[v])) for v in asked}
                marginals |= passes.read_marginals({v: chosen for v, chosen in asked.items() if len(chosen)})
                return block, marginals, result[:, 0]

        return in_order(run, range(0, rows, self._most), self._threads)

    def bound_seconds(self, rows: int) -> float:
        """Upper bound of the time: as if no two rows had any evidence in common."""
        passes = 1 if self._target is not None else _PASSES
        return passes * _SECONDS_AN_ENTRY * self._plan.entries * rows + self.least_seconds(rows)

    def estimate_seconds(self, columns: Mapping[int, CodedColumn], rows: int) -> float:
        """Time that the rows would take, from the combinations of evidence in a few of them and how fast these grow."""
        if not rows:
            return 0.0
        sample = np.linspace(0, rows - 1, min(rows, _SAMPLE)).astype(np.int64)
        entries = []
        for chosen in (sample[::2], sample) if rows > len(sample) else (sample,):
            codes = [np.asarray(column.codes[chosen], dtype=np.int64) for column in columns.values()]
            scopes, n_codes = [(v,) for v in columns], [len(column) for column in columns.values()]
            schedule = RowSchedule(self._plan, self._layouts, scopes, codes, n_codes, len(chosen))
            entries.append(
                sum(layout.entries * up.count for layout, up in zip(self._layouts, schedule.up, strict=True))
            )
        growth = log2(max(entries[-1], 1) / max(entries[0], 1))  # Heaps' law: a power of the number of rows
        entries_of_all = float(entries[-1] * (rows / len(sample)) ** growth)
        passes = 1 if self._target is not None else _PASSES
        return passes * _SECONDS_AN_ENTRY * entries_of_all + self.least_seconds(rows)

    def least_seconds(self, rows: int) -> float:
        """Time that no rows take less than."""
        return len(self._layouts) * (_SECONDS_A_CLIQUE + _SECONDS_A_CODE * rows)


def condition_rows(table: Floats, total: Floats, semiring: Semiring, n_factors: int) -> Floats:
    """Degrees (rows, states) conditioned on each row, whose own possibility is ``total``; NaN where that is 0."""
    if semiring is MAX_MIN:
        tops = total[:, np.newaxis]
        table = np.minimum(table, tops)  # the table lacks what lies in other components
    else:
        tops = table.max(axis=1, keepdims=True)
    rounding: float | Floats = ROUNDING
    with np.errstate(divide="ignore", invalid="ignore"):
        if semiring.is_logarithmic:
            rounding = np.maximum(ROUNDING, 1e-15 * np.abs(total) * sqrt(n_factors))[:, np.newaxis]
        degrees = condition_degrees(table, tops, semiring, rounding)
    degrees[total <= semiring.zero] = np.nan
    return degrees
