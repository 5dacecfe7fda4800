"""Structural EM: hill climbing, K2 and trees by traced BIC.

Moves add, delete or reverse an edge, or *rearrange* a few at once. A child takes the place of its parent: a -> b, a -> c
becomes b -> a, b -> c, and d -> a stays (``exchange``) or becomes a -> d (``re-root``). Children move up to their
grandparent: a -> b -> c becomes a -> b, a -> c, for all children of b (``lift``) or for c alone (``replace``). Without
these the climb is easily stuck at a local maximum with a wrong hub: a hidden state explains its children only when all of
them depend on it, and a child whose cells are sharper than its parent's looks like the better parent of its siblings.

Moves are ranked by local gains (see `possnet.structure.traced_score`), and the best are scored by EM over the components
that they change. Where there are many rows, the climb begins on a sample of them, and goes on from there on all: moves are
then estimated on the sample, and checked on all rows before they are made. Gains and scores of the first part are
estimates. The tabu list is for few variables only, where all moves can be tried.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from possnet.structure.chow_liu import spanning_tree
from possnet.structure.hill_climbing import climb_once, climb_with_restarts
from possnet.structure.search_graph import CompiledConstraints, SearchGraph, parent_sets_of
from possnet.structure.search_result import ACTIONS, MoveRecord, SearchResult
from possnet.structure.traced_score import TracedScore

if TYPE_CHECKING:
    from collections.abc import Collection

    from possnet.aliases import Bools, Floats
    from possnet.structure.coded_rows import CodedRows
    from possnet.structure.score_registry import SearchProblem
    from possnet.structure.search_result import EdgeMove

_ALL_PAIRS: Final = 20  # ordered pairs of variables up to which every move is scored
_WIDTH: Final = 6  # moves of one kind that are scored at a time
_PERTURBATIONS: Final = 4  # random moves before a restart
_LEAST_GAIN: Final = 1.0  # nats: twice what EM leaves to gain
_SAMPLED_ROWS: Final = 10_000  # rows on which the climb begins, and by which moves are estimated
_ADD, _DELETE, _REVERSE, _EXCHANGE, _RE_ROOT, _LIFT, _REPLACE = range(len(ACTIONS))


class _TracedClimber:
    """A structure, and the gains of its moves as far as they are known."""

    margin = _LEAST_GAIN

    def __init__(self, score: TracedScore, graph: SearchGraph, sampled: TracedScore | None) -> None:
        self.score, self.sampled, self.graph = score, sampled, graph
        self.total = score.score_structure(parent_sets_of(graph.edges))
        self.changed: set[int] = set()
        self._estimates: dict[EdgeMove, float] = {}

    def exact_gain(self, move: EdgeMove) -> float:
        """What a move gains, by EM on all rows."""
        return self.score.score_structure(parent_sets_of(_edges_after(self.graph.edges, move))) - self.total

    def estimated_gain(self, move: EdgeMove) -> float:
        """What a move gains, by EM on a sample of the rows if there are many."""
        if move not in self._estimates:
            if self.sampled is None:
                self._estimates[move] = self.exact_gain(move)
            else:
                edges = self.graph.edges
                self._estimates[move] = _estimate_gain(self.score, self.sampled, edges, _edges_after(edges, move))
        return self._estimates[move]

    def best_move(
        self,
        tabu_list: Collection[frozenset[int]],
        best: float,  # noqa: ARG002 - no aspiration: nothing in the tabu list is ever undone
        *,
        upward: bool,
    ) -> tuple[EdgeMove, list[EdgeMove]] | None:
        """The best move, which must gain more than `_LEAST_GAIN` on all rows if ``upward``, and those that tie."""
        refused: set[EdgeMove] = set()
        while True:
            gains = self._promising_gains(set(tabu_list), refused)
            move = min(gains, key=lambda move: (-gains[move], move), default=None)
            if move is None or (upward and gains[move] <= _LEAST_GAIN):
                return None
            if not upward or self.sampled is None or self.exact_gain(move) > _LEAST_GAIN:
                close = gains[move] - _LEAST_GAIN
                return move, [other for other, gain in gains.items() if gain >= close and other != move]
            refused.add(move)

    def random_move(self, rng: np.random.Generator) -> EdgeMove | None:
        moves = [*self._list_deletions(), *self._list_reversals(), *self.list_additions()]
        return moves[int(rng.integers(len(moves)))] if moves else None

    def apply_move(self, move: EdgeMove) -> None:
        self.graph = SearchGraph(self.graph.constraints, _edges_after(self.graph.edges, move))
        self.total = self.score.score_structure(parent_sets_of(self.graph.edges))
        self._estimates = {}
        self.changed = set(move[1:])

    def list_additions(self) -> list[EdgeMove]:
        """Edges to add, the largest local gain first."""
        gains = self._local_gains()
        losses = [(-float(gains[p, c]), (_ADD, p, c)) for p, c in np.argwhere(self.graph.may_add()).tolist()]
        return [move for _, move in sorted(losses)]

    def _list_deletions(self) -> list[EdgeMove]:
        """Edges to delete, the smallest local loss first."""
        deletable = np.argwhere(self.graph.may_delete()).tolist()
        return [move for _, move in sorted((self._local_loss(p, c), (_DELETE, p, c)) for p, c in deletable)]

    def _list_reversals(self) -> list[EdgeMove]:
        """Edges to reverse, the largest local gain first."""
        gains, reversible = self._local_gains(), np.argwhere(self.graph.may_reverse()).tolist()
        losses = [(self._local_loss(p, c) - float(gains[c, p]), (_REVERSE, p, c)) for p, c in reversible]
        return [move for _, move in sorted(losses)]

    def _list_rearrangements(self, *, everywhere: bool) -> list[EdgeMove]:
        """Several edges at once: all such moves that are allowed, or those around the last change."""
        edges, limits = self.graph.edges, self.graph.constraints
        moves: list[EdgeMove] = []
        for parent, child in np.argwhere(edges).tolist():
            if everywhere or {parent, child} & self.changed:
                if edges[parent].sum() > 1:
                    moves.append((_EXCHANGE, parent, child))
                    if edges[:, parent].any():
                        moves.append((_RE_ROOT, parent, child))
                if edges[child].sum() > 1:
                    moves.append((_LIFT, parent, child))
                moves += [(_REPLACE, parent, k) for k in np.flatnonzero(edges[child] & ~edges[parent]).tolist()]
        allowed = []
        for move in dict.fromkeys(moves):
            changed = _edges_after(edges, move)
            kept = not (limits.required & ~changed).any() and not (changed & ~limits.allowed).any()
            narrow = changed.sum(axis=0).max() <= limits.max_parents
            if kept and narrow and not np.diag(SearchGraph(limits, changed).reach).any():
                allowed.append(move)
        return allowed

    def _promising_gains(self, tabu: set[frozenset[int]], refused: set[EdgeMove]) -> dict[EdgeMove, float]:
        """Gains of moves by EM over components.

        Of all moves where there are few. Otherwise of the additions that look best and of rearrangements around the last
        change; if none of these is any good, of the deletions and reversals that look best and all rearrangements; then of
        further additions, a few at a time.
        """

        def evaluate(moves: list[EdgeMove]) -> dict[EdgeMove, float]:
            tried = [move for move in moves if frozenset(move[1:]) not in tabu and move not in refused]
            return {move: self.estimated_gain(move) for move in tried}

        additions = self.list_additions()
        if _is_small(self.score):
            others = [*self._list_deletions(), *self._list_reversals(), *self._list_rearrangements(everywhere=True)]
            return evaluate([*additions, *others])
        gains = evaluate([*additions[:_WIDTH], *self._list_rearrangements(everywhere=False)])
        if max(gains.values(), default=0.0) <= _LEAST_GAIN:
            others = [*self._list_deletions()[: 2 * _WIDTH], *self._list_reversals()[: 2 * _WIDTH]]
            gains |= evaluate([*others, *self._list_rearrangements(everywhere=True)])
        promising = int((self._local_gains()[self.graph.may_add()] > 0.0).sum())
        for start in range(_WIDTH, promising + _WIDTH, _WIDTH):
            if max(gains.values(), default=0.0) > _LEAST_GAIN:
                break
            gains |= evaluate(additions[start : start + _WIDTH])
        return gains

    def _local_gains(self) -> Floats:
        """What each family would gain by each further parent, by its local likelihood."""
        return np.stack([self.score.local_gains(k, self.graph.parents(k)) for k in range(self.score.size)], axis=1)

    def _local_loss(self, parent: int, child: int) -> float:
        """What the family would lose without an edge, by its local likelihood."""
        score, parents = self.score, self.graph.parents(child)
        rest = tuple(k for k in parents if k != parent)
        lost = score.local_log_likelihood(child, parents) - score.local_log_likelihood(child, rest)
        return lost - score.penalty(child, parents) + score.penalty(child, rest)


class TracedScorer:
    """Structure searches by traced BIC: hill climbing (structural EM; Friedman 1997), K2 and trees."""

    def __init__(self, rows: CodedRows) -> None:
        self.score = TracedScore(rows)
        self.size = self.score.size
        self._sampled = self.score.sample_rows(_SAMPLED_ROWS)
        nothing = np.zeros((self.size, self.size), dtype=np.bool_)
        self._free = CompiledConstraints(nothing, ~nothing, self.size)

    def parent_gains(self, child: int, parents: tuple[int, ...], among: Bools, edges: Bools) -> Floats:
        """What the best variable gains as one more parent in a structure with these edges; local losses of others."""
        local = np.where(among, self.score.local_gains(child, parents), -np.inf)
        gains = np.where(local > 0.0, -np.inf, local)
        climber = _TracedClimber(self.score, SearchGraph(self._free, edges), self._sampled)
        best = np.argsort(-local, kind="stable")[:_WIDTH].tolist()
        moves: list[EdgeMove] = [(_ADD, k, child) for k in best if local[k] > 0.0]
        if self._sampled is not None:
            moves.sort(key=lambda move: -climber.estimated_gain(move))
        for move in moves:
            gains[move[1]] = climber.exact_gain(move)
            if self._sampled is not None and gains[move[1]] > 0.0:
                break
        return gains

    def score_required(self, required: Bools) -> float:
        """Score of the required edges alone."""
        return self.score.score_structure(parent_sets_of(required))

    def fill_values(self, result: SearchResult) -> None:
        """Score after EM has converged, and what it would lose without each edge."""
        refit_by_em(self.score, result)
        _fill_deletions(_TracedClimber(self.score, SearchGraph(self._free, result.edges), self._sampled), result)

    def grow_tree(self, problem: SearchProblem) -> SearchResult:
        """The tree by what each variable gains as the only parent of each other, and its score."""
        weights = np.stack([self.score.local_gains(k, ()) for k in range(self.size)], axis=1)
        base = self.score.score_structure([()] * self.size)
        result = spanning_tree(weights, problem.constraints, problem.threshold, problem.names, base)
        refit_by_em(self.score, result)
        return result

    def climb_structures(self, problem: SearchProblem) -> SearchResult:
        """The best structure of a hill climbing from the required edges, and from perturbations of the best."""
        score, sampled, constraints = self.score, self._sampled, problem.constraints
        edges, moves = constraints.required, list[MoveRecord]()
        if sampled is not None:
            edges, moves = _climb_sample(score, sampled, problem)

        def start(edges: Bools) -> _TracedClimber:
            return _TracedClimber(score, SearchGraph(constraints, edges), sampled)

        tabu = problem.search.tabu if _is_small(score) else 0
        best = climb_with_restarts(start, edges, moves, problem, tabu=tabu, perturbations=_PERTURBATIONS)
        refit_by_em(score, best)
        climber = start(best.edges)
        for move in climber.list_additions()[:_WIDTH]:
            best.gains["add", move[1], move[2]] = climber.estimated_gain(move)
        _fill_deletions(climber, best)
        return best


def refit_by_em(score: TracedScore, result: SearchResult) -> None:
    """Set the score of a structure after EM has converged."""
    families = parent_sets_of(result.edges)
    score.refit(families)
    result.score = score.score_structure(families)


def _is_small(score: TracedScore) -> bool:
    """Whether all moves can be tried."""
    return score.size * (score.size - 1) <= _ALL_PAIRS


def _climb_sample(score: TracedScore, sampled: TracedScore, problem: SearchProblem) -> tuple[Bools, list[MoveRecord]]:
    """The structure that a climb on a sample of the rows returns, and its moves with estimated gains and scores."""
    required = problem.constraints.required
    climber = _TracedClimber(sampled, SearchGraph(problem.constraints), None)
    first = SearchResult(required, climber.total, [])
    climb_once(climber, first, tabu=0, max_steps=problem.search.max_steps, progress=problem.progress)
    edges, total = required, score.score_structure(parent_sets_of(required))
    moves = []
    for move in first.moves:
        changed = _edges_after(edges, (ACTIONS.index(move.action), move.parent, move.child))
        gain = _estimate_gain(score, sampled, edges, changed)
        edges, total = changed, total + gain
        moves.append(move._replace(gain=gain, score=total))
    return edges, moves


def _estimate_gain(score: TracedScore, sampled: TracedScore, edges: Bools, changed: Bools) -> float:
    """What a change of structure gains on all rows, estimated from a sample of them.

    A likelihood at its maximum is too high by half a nat for every free parameter, on the sample as on all rows.
    """
    old, new = parent_sets_of(edges), parent_sets_of(changed)
    raised = sampled.log_likelihood(new) - sampled.log_likelihood(old)
    price = sum(score.penalty(k, p) for k, p in enumerate(new))
    price -= sum(score.penalty(k, p) for k, p in enumerate(old))
    bias = price / score.price / 2.0
    factor = score.rows.total / max(sampled.rows.total, 1)
    return factor * (raised - bias) + bias - price


def _edges_after(edges: Bools, move: EdgeMove) -> Bools:
    """The edges after a move."""
    action, parent, child = move
    changed = edges.copy()
    if action in {_ADD, _DELETE, _REVERSE}:
        changed[parent, child] = action == _ADD
        changed[child, parent] = action == _REVERSE
    elif action == _REPLACE:  # in place of those of its own children that are parents of the child
        changed[edges[parent], child] = False
        changed[parent, child] = True
    elif action == _LIFT:  # all children of the child become children of the parent
        changed[parent] |= edges[child]
        changed[child] = False
    else:  # the child takes the place of its parent
        changed[parent] = False
        changed[child] |= edges[parent]
        changed[child, child] = False
        if action == _RE_ROOT:
            changed[parent] |= edges[:, parent]
            changed[:, parent] = False
        changed[child, parent] = True
    return changed


def _fill_deletions(climber: _TracedClimber, best: SearchResult) -> None:
    """What the score would lose without each edge."""
    for parent, child in np.argwhere(best.edges).tolist():
        best.gains["delete", parent, child] = climber.estimated_gain((_DELETE, parent, child))
