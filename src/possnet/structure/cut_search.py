"""The search by cut-BIC: a method on the scores of families, then moves that heed what contexts can be.

The joint degree J(x, a) of a family is at most ρ(a), the joint possibility of its parents' configuration, and the rows tell
the marginals that bound it: ρ(u) = max over A of g_A(u), by the parent's own family. Given the structure the score is a sum
over families, parents first, but a family's term depends on those above it. So a method searches by the families on their
own (`possnet.structure.cut_score`), whose sum is never below the score; from there single edges are added, deleted and
turned while the score rises. For most moves that upper bound says that they cannot gain.

A family costs milliseconds to fit, and there are many. The cells themselves are a Bayesian network with the same edges, for
a child's cell depends on its parents' cells alone: random-set BIC counts it quickly and tells who is near whom, but no
directions. So the method looks for parents in the Markov blanket of that network's best structure; the single edges that
follow may be any.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from possnet.structure.best_order_search import search_best_order, sort_nodes
from possnet.structure.cut_score import CutScore
from possnet.structure.decomposable_scores import DecomposableScore
from possnet.structure.hill_climbing import rounding_of
from possnet.structure.score_registry import EdgeWorth
from possnet.structure.search_clock import CONVERGED, run_until_stopped
from possnet.structure.search_graph import CompiledConstraints, SearchGraph, parent_sets_of
from possnet.structure.search_result import ACTIONS, MoveRecord

if TYPE_CHECKING:
    from collections.abc import Sequence

    from possnet.aliases import Bools, Floats
    from possnet.possibility import Conjunction
    from possnet.structure.score_registry import RunnableMethod, SearchProblem
    from possnet.structure.search_result import SearchResult


_ALL_ACTIONS: tuple[int, ...] = (0, 1, 2)
# With parents from Markov blankets, ten restarts never found a better structure than none in 46 networks of 8 variables.
_RESTARTS: Final = 1
_ROUNDS: Final = 4  # of searches, while the imprecision rises


class CutStructures:
    """Cut-BIC of whole structures, contexts being as possible as the families above tell.

    >>> import possnet as pn
    >>> from possnet.structure.coded_rows import CodedRows
    >>> x, y = pn.Variable("x", ("1", "2")), pn.Variable("y", ("1", "2"))
    >>> net = pn.Network((x, y), pn.Dag({"x": (), "y": ("x",)}), {"x": [1, 0.8], "y": [[1, 0.1], [1, 0.8]]})
    >>> score = CutStructures(CutScore(CodedRows(pn.sample(net, 5000, rng=1), missing=True)), pn.PRODUCT)
    >>> edge = np.array([[False, True], [False, False]])
    >>> score.score_structure(edge) > score.score_structure(edge & False) > score.score_structure(edge.T)
    True
    """

    def __init__(self, families: CutScore, conjunction: Conjunction) -> None:
        self.families, self._conjunction = families, conjunction

    def score_structure(self, edges: Bools) -> float:
        """Score of a structure."""
        return float(sum(self.score_families(edges)))

    def score_families(self, edges: Bools) -> list[float]:
        """The term of every family."""
        size, parent_sets = len(edges), parent_sets_of(edges)
        marginals: list[Floats] = [np.zeros(0)] * size
        lineage: list[frozenset[int]] = [frozenset()] * size
        scores = [0.0] * size
        for child in sort_nodes(edges, list(range(size))):
            parents = parent_sets[child]
            lineage[child] = frozenset({child}).union(*(lineage[p] for p in parents))
            ceiling = self.bound_contexts([marginals[p] for p in parents], [lineage[p] for p in parents])
            fit = self.families.fit_family(child, parents, ceiling)
            marginals[child] = fit.marginal
            scores[child] = fit.log_likelihood - self.families.penalty(child, parents)
        return scores

    def bound_contexts(self, marginals: Sequence[Floats], lineage: Sequence[frozenset[int]]) -> Floats:
        """The largest ρ(a) of every configuration of parents, in table order, by their marginals.

        Parents without a common ancestor are independent: it is the conjunction of their marginals. Others are at most as
        possible as each.
        """
        groups: list[tuple[frozenset[int], list[int]]] = []
        for place, line in enumerate(lineage):
            related = [group for group in groups if group[0] & line]
            groups = [group for group in groups if group not in related]
            together = [place, *(k for _, places in related for k in places)]
            groups.append((line.union(*(other for other, _ in related)), together))
        axes = [
            m.reshape([-1 if k == place else 1 for k in range(len(marginals))]) for place, m in enumerate(marginals)
        ]
        ceiling: Floats = np.ones([1] * len(marginals))
        for _, places in groups:
            highest = axes[places[0]]
            for place in places[1:]:
                highest = np.minimum(highest, axes[place])
            ceiling = self._conjunction.combine(ceiling, highest)
        return ceiling.reshape(-1)


class _EdgeChange(NamedTuple):
    """A move, the structure after it, and the most that it can gain."""

    action: int
    parent: int
    child: int
    edges: Bools
    bound: float


def search_cuts(method: RunnableMethod, problem: SearchProblem) -> SearchResult:
    """What a method returns by the families on their own, improved by single edges while the score of all rises.

    A tree stays one: only its root moves. The order of ``k2`` stays, and its structure as it is. The search is repeated
    while the families of its structure tell another imprecision than it was made with.
    """
    families = CutScore(problem.rows)
    candidates = None
    if method.several_parents and not method.uses_order:
        restarts = _RESTARTS if problem.search.restarts is None else problem.search.restarts
        candidates = list_candidates(families, problem)
        problem = replace(problem, search=replace(problem.search, restarts=restarts))
    for _ in range(_ROUNDS):
        result = _search_once(method, problem, families, candidates)
        before, families = families, families.fit_imprecision(result.edges)
        if families is before or result.stopped != CONVERGED:
            break
    score = CutStructures(families, problem.conjunction)
    result.score = score.score_structure(result.edges)
    result.moves = _shift_totals(result.moves, result.score)
    result.gains = _list_gains(score, result, problem.constraints, single=not method.several_parents)
    result.remark = str(families.imprecision)
    return result


def _search_once(
    method: RunnableMethod, problem: SearchProblem, families: CutScore, candidates: Bools | None
) -> SearchResult:
    """The search by one imprecision."""
    near = families if candidates is None else families.restrict_additions(candidates)
    measure = replace(problem.measure, make_scorer=lambda _: near, decomposable=True)
    result = method.run(replace(problem, measure=measure))
    score = CutStructures(families, problem.conjunction)
    value = score.score_structure(result.edges)
    result = replace(result, families=None, moves=_shift_totals(result.moves, value), score=value)
    if result.stopped == CONVERGED and not method.uses_order:
        bounded, actions = problem, _ALL_ACTIONS
        if not method.several_parents:
            bounded, actions = replace(problem, constraints=_single_parents(problem.constraints)), (2,)
        result.stopped = run_until_stopped(lambda: improve_structure(score, result, bounded, actions))
    return result


def _single_parents(constraints: CompiledConstraints) -> CompiledConstraints:
    return replace(constraints, max_parents=min(constraints.max_parents, 1))


def list_candidates(families: CutScore, problem: SearchProblem) -> Bools:
    """Variables (parent, child) that may be parents: the Markov blanket in the best structure by random-set BIC.

    The search is not bound by the constraints, whose directions it could not heed.
    """
    apart = ~np.eye(families.size, dtype=np.bool_)
    free = CompiledConstraints(~apart & False, apart, families.size - 1)
    options = replace(problem.search, restarts=None, max_steps=None)
    cells = DecomposableScore(families.rows, counting="cells")
    quiet = replace(problem, constraints=free, search=options, progress=lambda _done, _total: None)
    screened = search_best_order(cells, quiet)
    if screened.stopped == "interrupted":
        raise KeyboardInterrupt
    edges = screened.edges
    counts = edges.astype(np.int64)
    return (edges | edges.T | (counts @ counts.T > 0) | problem.constraints.required) & apart


def improve_structure(
    score: CutStructures, result: SearchResult, problem: SearchProblem, actions: tuple[int, ...] = _ALL_ACTIONS
) -> None:
    """Make the best move of one edge while there is one that gains; the result is updated in place."""
    most = problem.search.max_steps
    while most is None or len(result.moves) < most:
        best, gained = None, rounding_of(result.score)
        for change in _list_changes(score, result.edges, problem, actions):
            if change.bound <= gained:
                break
            problem.clock.check()
            gain = score.score_structure(change.edges) - result.score
            if gain > gained:
                best, gained = change, gain
        if best is None:
            return
        result.edges, result.score = best.edges, result.score + gained
        move = MoveRecord(ACTIONS[best.action], best.parent, best.child, gained, result.score, ())
        result.moves.append(move)
        problem.progress(len(result.moves), 0)


def _list_changes(
    score: CutStructures, edges: Bools, problem: SearchProblem, actions: tuple[int, ...]
) -> list[_EdgeChange]:
    """Moves that can be made, those that can gain most first.

    A family on its own is never worse than among others: a move gains at most what its families gain on their own, and what
    the families below it lack of theirs.
    """
    graph, single = SearchGraph(problem.constraints, edges), score.families
    terms, before = score.score_families(edges), parent_sets_of(edges)
    slack = np.array([single.score_family(k, parents) - terms[k] for k, parents in enumerate(before)])
    changes = []
    possible, reach = (graph.may_add(), graph.may_delete(), graph.may_reverse()), graph.reach
    for action in actions:
        for parent, child in np.argwhere(possible[action]).tolist():
            after = edges.copy()
            after[parent, child] = action == 0
            after[child, parent] |= action == 2
            changed = (parent, child) if action == 2 else (child,)
            below = np.asarray(reach[list(changed)].any(axis=0))
            below[list(changed)] = False
            bound = float(slack[below].sum())
            for k in changed:
                bound += _bound_family(single, k, before[k], after) - terms[k]
            changes.append(_EdgeChange(action, parent, child, after, bound))
    return sorted(changes, key=lambda change: -change.bound)


def _bound_family(single: CutScore, child: int, before: tuple[int, ...], after: Bools) -> float:
    """Score of the child's family on its own; of a family with one more parent that cannot be better, that without it."""
    parents = tuple(np.flatnonzero(after[:, child]).tolist())
    added = set(parents) - set(before)
    if not added:
        return single.score_family(child, parents)
    return float(np.maximum(single.score_additions(child, before)[added.pop()], single.score_family(child, before)))


def _shift_totals(moves: list[MoveRecord], score: float) -> list[MoveRecord]:
    """The moves with totals that lead up to the score."""
    return [move._replace(score=move.score - moves[-1].score + score) for move in moves]


def _list_gains(
    score: CutStructures, result: SearchResult, constraints: CompiledConstraints, *, single: bool
) -> dict[tuple[str, int, int], float]:
    """What the score would lose without each edge, and gain by each further one that may pay for its parameters.

    Of a search that was stopped only what its edges are worth: its time is up.
    """
    edges, total, gains = result.edges, score.score_structure(result.edges), {}
    bounded = _single_parents(constraints) if single else constraints
    added = SearchGraph(bounded, edges).may_add() & (result.stopped == CONVERGED)
    for child, parents in enumerate(parent_sets_of(edges)):
        if added[:, child].any():
            added[:, child] &= np.isfinite(score.families.score_additions(child, parents))
    for action, moves in (("delete", edges), ("add", added)):
        for parent, child in np.argwhere(moves).tolist():
            changed = edges.copy()
            changed[parent, child] = action == "add"
            gains[action, parent, child] = score.score_structure(changed) - total
    return gains


def follows_law(problem: SearchProblem, result: SearchResult) -> bool:
    """Whether the rows look like alpha-cut rows of a structure, as far as BIC tells."""
    families = CutScore(problem.rows).fit_imprecision(result.edges)
    return families.measure_misfit(result.edges) <= 1.0


class CutWeigher:
    """Edges by cut-BIC of the whole structure."""

    def __init__(self, problem: SearchProblem) -> None:
        self._families, self._conjunction = CutScore(problem.rows), problem.conjunction

    def weigh_edge(self, rest: Bools, parent: int, child: int) -> EdgeWorth:
        """The score with the edge, minus that without."""
        wider = rest.copy()
        wider[parent, child] = True
        score = CutStructures(self._families.fit_imprecision(wider), self._conjunction)
        value = score.score_structure(wider) - score.score_structure(rest)
        price = sum(
            sign * score.families.penalty(child, parent_sets_of(edges)[child])
            for sign, edges in ((1.0, wider), (-1.0, rest))
        )
        return EdgeWorth(value, value + price, price)
