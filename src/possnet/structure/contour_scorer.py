"""Searches by a measure of dependence on contours (see `possnet.dependence`)."""

from __future__ import annotations

from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from possnet.dependence import CONTOUR_MEASURES, conditional_dependence, count_pairs, measure_dependence
from possnet.structure.chow_liu import spanning_tree
from possnet.structure.contingency import ContingencyTables
from possnet.structure.search_graph import parent_sets_of

if TYPE_CHECKING:
    from possnet.aliases import Bools, Floats
    from possnet.structure.score_registry import SearchProblem
    from possnet.structure.search_result import SearchResult


class ContourScorer:
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

    def fill_values(self, result: SearchResult) -> None:
        """Measures of the required edges; those of the others are known from the search."""
        for (parent, child), value in self._required_values(self._problem.constraints.required).items():
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
            problem.clock.check()
            contour = pairs.contour(first, second)
            weights[a, b] = weights[b, a] = measure_dependence(self._name, contour, problem.conjunction)
            if not CONTOUR_MEASURES[self._name].symmetric:
                weights[b, a] = measure_dependence(self._name, contour.T, problem.conjunction)
        result = spanning_tree(weights, problem.constraints, problem.threshold, problem.names)
        result.rows = pairs.rows
        return result
