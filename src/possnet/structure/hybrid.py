"""Hybrid learners: tests of conditional dependence, then a search that lowers conditional non-specificity.

After R. Sangüesa, U. Cortés and A. Gisolfi (1998), whose exact formulas are not at hand; the definitions are ours.

1. *Tests.* Two variables are dependent given others when their distributions are not similar enough (see
   `possnet.dependence.similarity`). The *skeleton* starts with the pairs that are dependent given nothing. A pair
   leaves it when a set of one (trees) or up to two (DAGs) neighbours makes it independent, its *separating set*: the
   neighbours at the beginning of each round, so that the order of the variables does not matter (Colombo and Maathuis
   2014). A set that determines one of the two separates nothing: what does not vary shows no dependence. Connected
   components between which a pair is dependent given nothing are connected again by the most dependent such pair;
   near-copies of a variable would else separate each other from all the rest.
2. *Search.* The conditional non-specificity of a variable is U(X, parents) - U(parents). A tree's sum of these is the same
   from every root, and lowest for the heaviest spanning tree by specificity gain within the skeleton. For a DAG, a - c - b
   becomes a v-structure where c is not in the separating set of a and b; Meek's first two rules follow; then every
   variable takes from its neighbours before it, best first, those that lower its conditional non-specificity by more than
   a threshold, as K2 by contours does: specificity gain has no price for parents, so that their number is bounded too.

They are there to compare with. Tests and search look at contours, by which children of an imprecise parent stay dependent
given it, so that they are joined; ``docs/structures-found.md`` has the figures beside those of other methods.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, combinations
from typing import TYPE_CHECKING, Final, NamedTuple, cast

import numpy as np

from possnet.dependence import nonspecificity, similarity_dependence
from possnet.structure.chow_liu import spanning_tree
from possnet.structure.contingency import ContingencyTables
from possnet.structure.k2 import search_order
from possnet.structure.sized_cache import SizedCache

if TYPE_CHECKING:
    from possnet.aliases import Bools, Floats, Ints
    from possnet.structure.coded_rows import CodedRows
    from possnet.structure.score_registry import Scorer, SearchProblem
    from possnet.structure.search_graph import CompiledConstraints
    from possnet.structure.search_result import SearchResult


_KEPT: Final = 1 << 24  # entries of counts in the cache


class StateCounts:
    """Counts N of sets of variables: rows whose cells contain each configuration, in a cache.

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
        """Whether others determine a variable: in each of their configurations every state is in all rows or in none."""
        rows = self.counts_of(*given).reshape(-1, 1)
        both = self.counts_of(*given, one).reshape(-1, self.tables.states[one])
        return bool(((both == 0) | (both == rows)).all())


class Skeleton(NamedTuple):
    """The skeleton after the tests: a symmetric matrix of edges, and the separating sets of the pairs without one."""

    edges: Bools
    separating_sets: dict[tuple[int, int], tuple[int, ...]]


def find_skeleton(counts: StateCounts, problem: SearchProblem, *, deepest: int) -> Skeleton:
    """Pairs that no set of up to ``deepest`` neighbours makes independent; required pairs stay."""
    constraints, errors = problem.constraints, problem.search.errors
    size = len(constraints.required)
    must = constraints.required | constraints.required.T
    possible = constraints.allowed | constraints.allowed.T
    strength = np.zeros((size, size))
    for a, b in combinations(range(size), 2):
        problem.clock.check()
        strength[a, b] = strength[b, a] = counts.pair_dependence(a, b, (), errors)
    skeleton: Bools = (strength > 0.0) & possible | must
    separating_sets: dict[tuple[int, int], tuple[int, ...]] = {
        (a, b): () for a, b in combinations(range(size), 2) if not skeleton[a, b]
    }
    for depth in range(1, deepest + 1):
        before = skeleton.copy()
        pairs = np.argwhere(np.triu(before)).tolist()
        for done, (a, b) in enumerate(pairs):
            problem.clock.check()
            if not must[a, b]:
                separating_set = _find_separating_set(counts, before, a, b, depth, errors)
                if separating_set is not None:
                    skeleton[a, b] = skeleton[b, a] = False
                    separating_sets[a, b] = separating_set
            problem.progress(done + 1, len(pairs))
    _reconnect_parts(skeleton, strength, possible, separating_sets)
    return Skeleton(skeleton, separating_sets)


def _reconnect_parts(
    skeleton: Bools, strength: Floats, possible: Bools, separating_sets: dict[tuple[int, int], tuple[int, ...]]
) -> None:
    """Connect the components of the skeleton by their most dependent pairs, as far as there are any."""
    part = list(range(len(skeleton)))

    def merge(a: int, b: int) -> None:
        old, new = part[b], part[a]
        part[:] = [new if k == old else k for k in part]

    for a, b in np.argwhere(np.triu(skeleton)).tolist():
        merge(a, b)
    dependent = np.argwhere(np.triu((strength > 0.0) & possible)).tolist()
    for a, b in sorted(dependent, key=lambda pair: (-strength[pair[0], pair[1]], pair)):
        if part[a] != part[b]:
            merge(a, b)
            skeleton[a, b] = skeleton[b, a] = True
            separating_sets.pop((a, b), None)


def _find_separating_set(
    counts: StateCounts, skeleton: Bools, first: int, second: int, depth: int, errors: float
) -> tuple[int, ...] | None:
    """Neighbours of one of two variables that make them independent and determine neither, if there are."""
    pair = {first, second}
    near = [[k for k in np.flatnonzero(skeleton[end]).tolist() if k not in pair] for end in (first, second)]
    for chosen in dict.fromkeys(chain(*(combinations(neighbours, depth) for neighbours in near))):
        independent = counts.pair_dependence(first, second, chosen, errors) == 0.0
        if independent and not any(counts.determines(chosen, one) for one in pair):
            return chosen
    return None


def learn_hybrid_tree(problem: SearchProblem) -> SearchResult:
    """The spanning forest of lowest non-specificity within the skeleton."""
    counts = StateCounts(problem.rows)
    skeleton = find_skeleton(counts, problem, deepest=1)
    size = len(problem.names)
    weights = np.full((size, size), -np.inf)
    alone = [counts.nonspecificity(k) for k in range(size)]
    for a, b in np.argwhere(np.triu(skeleton.edges)).tolist():
        weights[a, b] = weights[b, a] = max(alone[a] + alone[b] - counts.nonspecificity(a, b), 0.0)
    return spanning_tree(weights, problem.constraints, -np.inf, problem.names)


def learn_hybrid_dag(problem: SearchProblem) -> SearchResult:
    """Parents that lower conditional non-specificity, within the skeleton, in an order that its orientation suggests."""
    constraints = problem.constraints
    skeleton = find_skeleton(StateCounts(problem.rows), problem, deepest=2)
    order = _extend_order(_orient_edges(constraints, skeleton), skeleton.edges, constraints)
    within = replace(constraints, allowed=constraints.allowed & skeleton.edges)
    scorer = cast("Scorer", problem.measure.make_scorer(problem))  # that of k2
    result = search_order(scorer, order, within, problem.threshold)
    scorer.fill_values(result)
    return result


def _orient_edges(constraints: CompiledConstraints, skeleton: Skeleton) -> Bools:
    """Edges that the constraints, the v-structures and Meek's first two rules direct; contradictions stay undirected."""
    edges = skeleton.edges
    arrows: Bools = edges & constraints.allowed & ~constraints.allowed.T | constraints.required

    def direct(parent: int, child: int) -> bool:
        if arrows[parent, child] or arrows[child, parent] or not constraints.allowed[parent, child]:
            return False
        arrows[parent, child] = True
        return True

    for child in range(len(edges)):
        for a, b in combinations(np.flatnonzero(edges[:, child]).tolist(), 2):
            if not edges[a, b] and child not in skeleton.separating_sets.get((a, b), (child,)):
                direct(a, child)
                direct(b, child)
    changed = True
    while changed:
        changed = False
        for a, b in np.argwhere(edges & ~arrows & ~arrows.T).tolist():
            new_v_structure = (arrows[:, a] & ~edges[:, b]).any()
            cycle = (arrows[a] & arrows[:, b]).any()
            if new_v_structure or cycle:
                changed = direct(a, b) or changed
    return arrows


def _extend_order(arrows: Bools, edges: Bools, constraints: CompiledConstraints) -> list[int]:
    """A topological order of a DAG that extends the arrows, by removing sinks (Dor and Tarsi 1992).

    Of several sinks the last variable is removed; where contradictory arrows leave no sink, the last variable that is no
    required parent.
    """
    left = list(range(len(arrows)))
    order: list[int] = []
    while left:
        sinks = [k for k in left if not arrows[k, left].any()]
        harmless = [k for k in sinks if _makes_no_v_structure(k, left, arrows, edges)]
        ready = harmless or sinks or [k for k in left if not constraints.required[k, left].any()]
        order.append(ready[-1])
        left.remove(ready[-1])
    return order[::-1]


def _makes_no_v_structure(sink: int, left: list[int], arrows: Bools, edges: Bools) -> bool:
    """Whether all undirected neighbours of a sink are adjacent to all its other neighbours."""
    near = [k for k in left if k != sink and edges[sink, k]]
    undirected = [k for k in near if not arrows[k, sink]]
    return all(edges[a, b] for a in undirected for b in near if a != b)
