"""What rows of evidence observe: states of precise cells, and which variables are open, or of no account, in which row.

A variable is *open* in a row that does not observe it precisely. It is *barren* if nothing is observed at it or below and
its degrees are not wanted: the rows of its table peak at 1, so it may be left out. Whatever the open variables of a row
share no family with, step by step, is separated from them by the evidence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from possnet.inference.semirings import MAX_MIN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from possnet.aliases import Bools, Floats, Ints
    from possnet.dataset import CodedColumn
    from possnet.inference.factor_graph import FactorGraph
    from possnet.inference.semirings import Semiring


@dataclass(frozen=True, slots=True)
class ObservedRows:
    """The observed and open variables of some rows; all arrays are (variables, rows).

    Attributes
    ----------
    states
        The state of every precise cell.
    is_open
        Whether the cell is not precise and the variable not barren.
    is_kept
        Whether the variable's family matters: it is not barren.
    codes
        Variable -> number of every row's cell.
    wanted
        Variable -> whether it is wanted in a row.
    """

    states: NDArray[np.int64]
    is_open: Bools
    is_kept: Bools
    codes: dict[int, Ints]
    wanted: dict[int, Bools]


class RowObserver:
    """Finds what rows observe, for the tables of a network in a semiring.

    Attributes
    ----------
    bounds
        Of every family whether it can make evidence impossible, or bounds its possibility: it has zeros, or minima are
        taken.
    """

    def __init__(self, graph: FactorGraph, semiring: Semiring) -> None:
        self._graph, self._semiring = graph, semiring
        self._children: list[list[int]] = [[] for _ in graph.sizes]
        for family, scope in enumerate(graph.scopes):
            for parent in scope[:-1]:
                self._children[parent].append(family)
        self._tables = graph.tables_in(semiring)
        self.bounds = [semiring is MAX_MIN or bool((table == semiring.zero).any()) for table in self._tables]

    def observe(self, columns: Mapping[int, CodedColumn], rows: Ints, wanted: Mapping[int, Bools]) -> ObservedRows:
        """The observed state, and the open and barren variables, of some rows."""
        codes = {v: np.asarray(column.codes[rows], dtype=np.int64) for v, column in columns.items()}
        chosen = {v: mask[rows] for v, mask in wanted.items()}
        shape = len(self._graph.sizes), len(rows)
        states = np.zeros(shape, dtype=np.int64)
        is_open, is_vacuous, is_kept = (np.ones(shape, dtype=np.bool_) for _ in range(3))
        for v, column in columns.items():
            states[v] = column.first_states[codes[v]]
            is_open[v] = (column.cell_sizes != 1)[codes[v]]
            is_vacuous[v] = column.is_whole[codes[v]]
        for v in reversed(self._graph.order):
            if self._graph.has_peaks[v]:
                barren = is_vacuous[v] & is_open[v]
                for child in self._children[v]:
                    barren &= ~is_kept[child]
                if v in chosen:
                    barren &= ~chosen[v]
                is_kept[v] = ~barren
        is_open &= is_kept
        return ObservedRows(states, is_open, is_kept, codes, chosen)

    def combine_precise(self, observed: ObservedRows) -> Floats:
        """The value of every row's families that are observed precisely as a whole."""
        total = np.full(observed.is_open.shape[1], self._semiring.one)
        for family, scope in enumerate(self._graph.scopes):
            if self.bounds[family]:
                (rows,) = np.nonzero(observed.is_kept[family] & ~observed.is_open[list(scope)].any(axis=0))
                entries = self._tables[family][tuple(observed.states[v, rows] for v in scope)]
                total[rows] = self._semiring.combine(total[rows], entries)
        return total

    def find_relevant(self, observed: ObservedRows) -> Bools:
        """Which open variables matter in which row: those that families link to wanted ones, or to a family that bounds."""
        is_open, is_kept, scopes = observed.is_open, observed.is_kept, self._graph.scopes
        reached = np.zeros_like(is_open)
        for v, mask in observed.wanted.items():
            reached[v] = mask
        for family, scope in enumerate(scopes):
            if self.bounds[family]:
                for v in scope:
                    reached[v] |= is_kept[family]
        reached &= is_open
        linking = [k for k in self._graph.order if (is_open[list(scopes[k])].sum(axis=0) > 1).any()]
        before, after = -1, int(np.count_nonzero(reached))
        while before < after < is_open.size:
            for k in linking:
                places = list(scopes[k])
                reached[places] |= is_open[places] & (reached[places].any(axis=0) & is_kept[k])
            linking.reverse()  # forth and back, so that the ends of a chain meet in two sweeps
            before, after = after, int(np.count_nonzero(reached))
        return reached
