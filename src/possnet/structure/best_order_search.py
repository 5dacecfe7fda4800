"""BOSS, best order score search: structures by orders of the variables (Andrews et al. 2023).

An order stands for the structure in which every variable has its best parents among those before it
(`GrowShrinkTree`). Each variable in turn is put at the place that gives the best structure, all places being tried,
until none moves: one step can so change the direction of many edges, which hill climbing would have to do edge by edge,
downhill. Where no variable moves, hill climbing goes on from the structure, since it deletes and reverses single edges
that growing got wrong, and what it comes to is put in order again.

The first order is that of hill climbing's own structure, so that the result is never worse; the others are random. All
share one set of trees: a later order finds most families scored.

Of few variables the scores of all families are known, and all orders are compared, by dynamic programming
(`possnet.structure.exact_orders`): no structure is better.

B. Andrews, J. Ramsey, R. Sanchez Romero, J. Camchong, E. Kummerfeld: Fast scalable and accurate discovery of DAGs using the
best order score search and grow-shrink trees. NeurIPS 2023.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from possnet.structure.column_copies import find_copies, set_aside
from possnet.structure.exact_orders import find_best_structure
from possnet.structure.grow_shrink_tree import GrowShrinkTree
from possnet.structure.hill_climbing import climb_from, fill_gains, rounding_of, score_families
from possnet.structure.k2 import draw_order
from possnet.structure.search_clock import run_until_stopped
from possnet.structure.search_graph import column_bits, parent_sets_of
from possnet.structure.search_result import MoveRecord, SearchResult

if TYPE_CHECKING:
    from possnet.aliases import Bools
    from possnet.structure.decomposable_scores import DecomposableScore
    from possnet.structure.family_table import FamilyTable
    from possnet.structure.hill_climbing import FamilyScorer
    from possnet.structure.score_registry import SearchProblem
    from possnet.structure.search_graph import CompiledConstraints

_CUBE: Final = 1 << 18  # cells of the data cube of few variables: to fill it takes less time than to search some orders
_RANDOM_ORDERS: Final = 10  # more hardly raised the score on networks of up to 56 variables


def search_best_order(score: DecomposableScore, problem: SearchProblem) -> SearchResult:
    """The best structure of all orders of few variables, else of some orders.

    Copies of columns are leaves; of few variables only where no other structure is better, as it may be if another column
    tells nearly as much of a copy with fewer states.
    """
    families = score.tabulate_families(_CUBE)
    copies = find_copies(score, problem.constraints) if families is None or families.has_alike() else {}
    apart = replace(problem, constraints=set_aside(problem.constraints, copies)) if copies else problem
    best = _search_some_orders(score, apart) if families is None else _search_all_orders(families, apart)
    best.edges = best.edges.copy()
    best.edges[list(copies.values()), list(copies)] = True
    if families is not None and copies:
        free = _search_all_orders(families, problem)
        apart_total, free_total = (sum(score_families(families, result.edges)) for result in (best, free))
        if free_total > apart_total + rounding_of(free_total):
            best = free
    best.order = sort_nodes(best.edges, best.order or draw_order(problem.constraints, None))
    best.moves = list_additions(families or score, best, problem.constraints)
    fill_gains(families or score, problem, best)
    best.score = float(sum(best.families or ()))
    return best


def _search_all_orders(families: FamilyTable, problem: SearchProblem) -> SearchResult:
    """The best structure of all."""
    best = SearchResult(problem.constraints.required, -np.inf, [])

    def search_all() -> None:
        problem.clock.check()
        best.order, parents = find_best_structure(families.scores, problem.constraints)
        best.edges = np.zeros_like(problem.constraints.required)
        for child, chosen in enumerate(parents):
            best.edges[list(chosen), child] = True
        problem.progress(1, 1)

    best.stopped = run_until_stopped(search_all)
    return best


def _search_some_orders(score: FamilyScorer, problem: SearchProblem) -> SearchResult:
    """The best structure of the order of hill climbing's structure, and of random orders."""
    search, rng = _OrderSearch(score, problem), problem.make_rng()
    best = search.best

    def search_some() -> None:
        search.climb(problem.constraints.required)
        search.improve(sort_nodes(best.edges, list(range(score.size))))
        for _ in range(_RANDOM_ORDERS if problem.search.restarts is None else problem.search.restarts):
            search.improve(draw_order(problem.constraints, rng))

    best.stopped = run_until_stopped(search_some)
    return best


class _OrderSearch:
    """The trees of all variables, the best structure so far, and the steps of the search."""

    def __init__(self, score: FamilyScorer, problem: SearchProblem) -> None:
        self.score, self.problem = score, problem
        self.trees = [GrowShrinkTree(score, child, problem.constraints) for child in range(score.size)]
        self.best = SearchResult(problem.constraints.required, -np.inf, [])
        self.placed = 0
        to_the_peak = replace(problem.search, max_steps=None)
        self._climbs = replace(problem, search=to_the_peak, progress=lambda _done, _total: None)

    def climb(self, edges: Bools) -> SearchResult:
        """The peak of a climb by single edges, whose families are kept."""
        peak = SearchResult(edges, -np.inf, [])
        try:
            climb_from(self.score, self._climbs, peak)
        finally:
            if peak.score > self.best.score + rounding_of(peak.score):
                self.best.edges, self.best.score = peak.edges, peak.score
        for child, parents in enumerate(parent_sets_of(peak.edges)):
            self.trees[child].keep_family(self.score.score_family(child, parents), parents)
        return peak

    def improve(self, order: list[int]) -> None:
        """Sort an order and climb from its structure in turns while that helps."""
        reached = -np.inf
        while True:
            reached = max(reached, self.sort_order(order))
            peak = self.climb(self.edges_of(order))
            if peak.score <= reached + rounding_of(peak.score):
                return
            reached, order = peak.score, sort_nodes(peak.edges, order)

    def sort_order(self, order: list[int]) -> float:
        """Put every variable at its best place until none moves; the score."""
        while True:
            before, total = list(order), 0.0
            for variable in before:
                self.problem.clock.check()
                total = self.place_variable(variable, order)
                self.placed += 1
                self.problem.progress(self.placed, 0)
            if order == before:
                return total

    def place_variable(self, variable: int, order: list[int]) -> float:
        """Put a variable at its best place, if that is better than where it is; the score then."""
        place = order.index(variable)
        order.remove(variable)
        scores = self.score_places(variable, order)
        best = max(self.allowed_places(variable, order), key=scores.__getitem__)
        if scores[best] <= scores[place] + rounding_of(scores[place]):
            best = place
        order.insert(best, variable)
        return scores[best]

    def score_places(self, variable: int, others: list[int]) -> list[float]:
        """Score of the structure with the variable at each place among the others."""
        own, scores, befores = self.trees[variable].best_family, [], []
        total, before = 0.0, 0
        for other in others:  # as long as they stand before it, they do without it
            scores.append(total + own(before)[0])
            befores.append(before)
            total += self.trees[other].best_family(before)[0]
            before |= 1 << other
        scores.append(total + own(before)[0])
        total = 0.0
        for k in range(len(others) - 1, -1, -1):  # behind it they may have it as a parent
            total += self.trees[others[k]].best_family(befores[k] | 1 << variable)[0]
            scores[k] += total
        return scores

    def allowed_places(self, variable: int, others: list[int]) -> range:
        """Places behind all required parents and before all required children."""
        required = self.problem.constraints.required
        above, below = required[others, variable], required[variable, others]
        first = int(np.flatnonzero(above)[-1]) + 1 if above.any() else 0
        last = int(np.flatnonzero(below)[0]) if below.any() else len(others)
        return range(first, last + 1)

    def edges_of(self, order: list[int]) -> Bools:
        """The structure of an order."""
        edges = np.zeros((len(order), len(order)), dtype=np.bool_)
        before = 0
        for child in order:
            edges[list(self.trees[child].best_family(before)[1]), child] = True
            before |= 1 << child
        return edges


def sort_nodes(edges: Bools, order: list[int]) -> list[int]:
    """A topological order, in which of several nodes that could be next the first of ``order`` is.

    >>> sort_nodes(np.array([[0, 0, 0], [0, 0, 0], [1, 0, 0]], bool), [0, 1, 2])
    [1, 2, 0]
    """
    above = column_bits(edges)
    left, sorted_nodes, before = list(order), [], 0
    while left:
        following = next(k for k in left if not above[k] & ~before)
        sorted_nodes.append(following)
        left.remove(following)
        before |= 1 << following
    return sorted_nodes


def list_additions(score: FamilyScorer, result: SearchResult, constraints: CompiledConstraints) -> list[MoveRecord]:
    """How the structure is put together along its order: the parents of each variable, best first."""
    begun = parent_sets_of(constraints.required)
    total = sum(score.score_family(child, parents) for child, parents in enumerate(begun))
    chosen = parent_sets_of(result.edges)
    moves = []
    for child in result.order or ():
        parents = begun[child]
        left = set(chosen[child]) - set(parents)
        current = score.score_family(child, parents)
        while left:
            extended = {k: tuple(sorted((*parents, k))) for k in sorted(left)}
            values = {k: score.score_family(child, family) for k, family in extended.items()}
            added = max(values, key=values.__getitem__)
            gain = values[added] - current
            total, current, parents = total + gain, values[added], extended[added]
            left.remove(added)
            moves.append(MoveRecord("add", added, child, gain, total, ()))
    return moves
