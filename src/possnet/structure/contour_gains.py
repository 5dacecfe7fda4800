"""Contours of families: what a further parent adds by the measures of `possnet.dependence`."""

from __future__ import annotations

from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np

from possnet.dependence import (
    CONTOUR_MEASURES,
    conditional_dependence,
    count_pairs,
    measure_dependence,
    nonspecificity,
    similarity_dependence,
)
from possnet.structure.chow_liu import spanning_tree
from possnet.structure.contingency import ContingencyTables
from possnet.structure.search_graph import parent_sets_of
from possnet.structure.sized_cache import SizedCache

if TYPE_CHECKING:
    from possnet.aliases import Bools, Floats, Ints
    from possnet.structure.coded_rows import CodedRows
    from possnet.structure.score_registry import SearchProblem
    from possnet.structure.search_result import SearchResult

_KEPT: Final = 1 << 24  # entries


class StateCounts:
    """N of sets of variables: rows whose cells contain each configuration; the last ones are kept.

    >>> import possnet as pn
    >>> from possnet.structure.coded_rows import CodedRows
    >>> data = pn.Dataset.from_table({"a": ["x", {"x", "y"}, "y"], "b": ["u", "v", "v"]})
    >>> counts = StateCounts(CodedRows(data))
    >>> counts.counts_of(1, 0).tolist(), counts.counts_of(0).tolist(), counts.counts_of().tolist()
    ([[1, 0], [1, 2]], [2, 2], 3)
    """

    def __init__(self, rows: CodedRows) -> None:
        self.rows, self.tables = rows, ContingencyTables(rows)
        self._counts: SizedCache[Ints] = SizedCache(_KEPT, lambda counts: counts.size)

    def counts_of(self, *chosen: int) -> Ints:
        """Counts with the axes as named."""
        key = tuple(sorted(chosen))
        counts = self._counts.get_or_compute(key, lambda: self._count_states(key))
        return counts.transpose([key.index(k) for k in chosen])

    def _count_states(self, key: tuple[int, ...]) -> Ints:
        if not key:
            return np.array(self.rows.total)
        if len(key) == 1:
            return self.rows.cell_counts(key[0]) @ self.rows.sets[key[0]].astype(np.int64)
        *parents, child, last = key
        (table,) = self.tables.count_states(tuple(parents), child, [last])
        shape = tuple(self.tables.states[k] for k in key)
        return np.rint(table.counts).astype(np.int64).reshape(shape)

    def nonspecificity(self, *chosen: int) -> float:
        """Non-specificity U of the contour of a set; of nothing it is 0."""
        return nonspecificity(self.counts_of(*chosen)) if chosen else 0.0

    def pair_dependence(self, first: int, second: int, given: tuple[int, ...], errors: float) -> float:
        """Dependence of two variables given others, by similarity (see `possnet.dependence.similarity`)."""
        sizes = self.tables.states
        both = self.counts_of(*given, first, second).reshape(-1, sizes[first], sizes[second])
        ones = self.counts_of(*given, first).reshape(-1, sizes[first])
        others = self.counts_of(*given, second).reshape(-1, sizes[second])
        return similarity_dependence(both, ones, others, self.counts_of(*given).reshape(-1), errors=errors)

    def determines(self, given: tuple[int, ...], one: int) -> bool:
        """Whether a variable has the same cell, as far as states show it, in all rows of each configuration of others."""
        rows = self.counts_of(*given).reshape(-1, 1)
        both = self.counts_of(*given, one).reshape(-1, self.tables.states[one])
        return bool(((both == 0) | (both == rows)).all())


class ContourGains:
    """What each variable would add as one more parent, by a measure on contours, given the parents there are."""

    def __init__(self, problem: SearchProblem) -> None:
        self.size = len(problem.names)
        self._problem, self._name = problem, problem.measure.name
        self._gains: dict[tuple[int, tuple[int, ...]], Floats] = {}

    @cached_property
    def _tables(self) -> ContingencyTables:
        return ContingencyTables(self._problem.rows)

    def parent_gains(self, child: int, parents: tuple[int, ...], among: Bools, edges: Bools) -> Floats:  # noqa: ARG002
        """Measure of child and candidate given the parents; -inf for the child and its parents."""
        key = child, parents
        if key not in self._gains:
            others = [k for k in range(self.size) if k != child and k not in parents]
            gains = np.full(self.size, -np.inf)
            for tables in self._tables.count_states(parents, child, others) if others else ():
                for k, table in zip(tables.candidates, tables.split_tables(), strict=True):
                    cube = table.transpose(0, 2, 1)
                    gains[k] = conditional_dependence(self._name, cube, self._problem.conjunction)
            self._gains[key] = gains
        return self._gains[key]

    def score_required(self, required: Bools) -> float:
        """Sum of the measures of the required edges."""
        return float(sum(self._required_values(required).values()))

    def fill_values(self, result: SearchResult, required: Bools) -> None:
        """Measures of the required edges."""
        for (parent, child), value in self._required_values(required).items():
            result.gains["delete", parent, child] = -value

    def _required_values(self, required: Bools) -> dict[tuple[int, int], float]:
        """Measure of every required edge given the required parents before it."""
        values = {}
        for child, parents in enumerate(parent_sets_of(required)):
            for place, parent in enumerate(parents):
                gains = self.parent_gains(child, parents[:place], required[:, child], required)
                values[parent, child] = float(gains[parent])
        return values

    def grow_tree(self, problem: SearchProblem) -> SearchResult:
        """The tree by the measure of every pair (parent, child), in one pass over the data."""
        pairs = count_pairs(problem.data, progress=problem.progress)
        weights = np.full((self.size, self.size), -np.inf)
        for (a, first), (b, second) in combinations(enumerate(problem.names), 2):
            contour = pairs.contour(first, second)
            weights[a, b] = weights[b, a] = measure_dependence(self._name, contour, problem.conjunction)
            if not CONTOUR_MEASURES[self._name].symmetric:
                weights[b, a] = measure_dependence(self._name, contour.T, problem.conjunction)
        result = spanning_tree(weights, problem.constraints, problem.threshold, problem.names)
        result.rows = pairs.rows
        return result
