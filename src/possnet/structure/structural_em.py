"""Hill climbing over traced BIC.

Moves add, remove or turn an edge, or *rearrange* a few at once. A child takes the place of its parent: a -> b, a -> c
becomes b -> a, b -> c, and d -> a stays (``exchange``) or becomes a -> d (``re-root``). Children move up to their
grandparent: a -> b -> c becomes a -> b, a -> c, for all children of b (``lift``) or for c alone (``replace``). Without
these the climb is easily lost on a wrong hub, for what a hidden state explains shows only when all its children hang from
it; a child with sharper cells than its parent looks like the better hub to its siblings.

Moves are ranked by local gains (see `possnet.structure.traced_score`), and the best are scored by EM over the components
that they change. Where there are many rows, the climb begins on some of them, and goes on from there on all: moves are then
estimated on some, and checked on all before they are made. Gains and scores of the first part are estimates. The tabu list
is for few variables only, where all moves can be tried.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from possnet.structure.hill_climbing import climb_once, climb_with_restarts
from possnet.structure.search_graph import CompiledConstraints, SearchGraph, parent_sets_of
from possnet.structure.search_result import ACTIONS, MoveRecord, SearchResult

if TYPE_CHECKING:
    from collections.abc import Collection

    from possnet.aliases import Bools, Floats, Progress
    from possnet.structure.options import Options
    from possnet.structure.search_result import EdgeMove
    from possnet.structure.traced_score import TracedScore

_ALL_PAIRS: Final = 20
_WIDTH: Final = 6
_PERTURBATIONS: Final = 4
_LEAST: Final = 1.0  # nats: twice what EM leaves to gain
_SOME: Final = 10_000


class _TracedClimber:
    """A structure, and the gains of its moves as far as they are known."""

    margin = _LEAST

    def __init__(self, score: TracedScore, graph: SearchGraph, some: TracedScore | None) -> None:
        self.score, self.some, self.graph = score, some, graph
        self.total = score.total(parent_sets_of(graph.edges))
        self.touched: set[int] = set()
        self._about: dict[EdgeMove, float] = {}

    def gain(self, move: EdgeMove) -> float:
        """What a move gains, by EM on all rows."""
        return self.score.total(parent_sets_of(_changed(self.graph.edges, move))) - self.total

    def about(self, move: EdgeMove) -> float:
        """What a move gains, by EM on some of the rows if there are many."""
        if move not in self._about:
            if self.some is None:
                self._about[move] = self.gain(move)
            else:
                edges = self.graph.edges
                self._about[move] = _estimated(self.score, self.some, edges, _changed(edges, move))
        return self._about[move]

    def best_move(
        self,
        recent: Collection[frozenset[int]],
        best: float,  # noqa: ARG002 - nothing recent is ever undone
        *,
        upward: bool,
    ) -> tuple[EdgeMove, list[EdgeMove]] | None:
        move, gains = _chosen(self, set(recent), least=_LEAST if upward else None)
        if move is None:
            return None
        close = gains[move] - _LEAST
        return move, [other for other, gain in gains.items() if gain >= close and other != move]

    def random_move(self, rng: np.random.Generator) -> EdgeMove | None:
        moves = [*self.removals(), *self.reversals(), *self.additions()]
        return moves[int(rng.integers(len(moves)))] if moves else None

    def apply_move(self, move: EdgeMove) -> None:
        self.graph = SearchGraph(self.graph.constraints, _changed(self.graph.edges, move))
        self.total = self.score.total(parent_sets_of(self.graph.edges))
        self._about = {}
        self.touched = set(move[1:])

    def additions(self) -> list[EdgeMove]:
        """Edges to add, the largest local gain first."""
        gains = self.local_gains()
        found = [(-float(gains[p, c]), (0, p, c)) for p, c in np.argwhere(self.graph.may_add()).tolist()]
        return [move for _, move in sorted(found)]

    def removals(self) -> list[EdgeMove]:
        """Edges to remove, the smallest local loss first."""
        found = [(self._loss(p, c), (1, p, c)) for p, c in np.argwhere(self.graph.may_delete()).tolist()]
        return [move for _, move in sorted(found)]

    def reversals(self) -> list[EdgeMove]:
        """Edges to turn, the largest local gain first."""
        gains, reversals = self.local_gains(), np.argwhere(self.graph.may_reverse()).tolist()
        found = [(self._loss(p, c) - float(gains[c, p]), (2, p, c)) for p, c in reversals]
        return [move for _, move in sorted(found)]

    def rearrangements(self, *, everywhere: bool) -> list[EdgeMove]:
        """Several edges at once: all such moves, or those around the last change."""
        edges, limits = self.graph.edges, self.graph.constraints
        moves: list[EdgeMove] = []
        for parent, child in np.argwhere(edges).tolist():
            if everywhere or {parent, child} & self.touched:
                if edges[parent].sum() > 1:
                    moves += [(3, parent, child)] + [(4, parent, child)] * bool(edges[:, parent].any())
                if edges[child].sum() > 1:
                    moves.append((5, parent, child))
                moves += [(6, parent, k) for k in np.flatnonzero(edges[child] & ~edges[parent]).tolist()]
        found = []
        for move in dict.fromkeys(moves):
            after = _changed(edges, move)
            kept = not (limits.required & ~after).any() and not (after & ~limits.allowed).any()
            narrow = after.sum(axis=0).max() <= limits.max_parents
            if kept and narrow and not np.diag(SearchGraph(limits, after).reach).any():
                found.append(move)
        return found

    def local_gains(self) -> Floats:
        """What each family would gain by each further parent, by its local likelihood."""
        return np.stack([self.score.additions(k, self.graph.parents(k)) for k in range(self.score.size)], axis=1)

    def _loss(self, parent: int, child: int) -> float:
        """What the family would lose without an edge, by its local likelihood."""
        score, above = self.score, self.graph.parents(child)
        rest = tuple(k for k in above if k != parent)
        lost = score.local(child, above) - score.local(child, rest)
        return lost - score.penalty(child, above) + score.penalty(child, rest)


def _estimated(score: TracedScore, some: TracedScore, edges: Bools, changed: Bools) -> float:
    """What a change of structure gains on all rows, told from some of them.

    A likelihood at its maximum is too high by half a nat for every free parameter, on some rows as on all.
    """
    before, after = parent_sets_of(edges), parent_sets_of(changed)
    raised = some.log_likelihood(after) - some.log_likelihood(before)
    price = sum(score.penalty(k, p) for k, p in enumerate(after))
    price -= sum(score.penalty(k, p) for k, p in enumerate(before))
    free = price / score.price / 2.0
    factor = score.columns.total / max(some.columns.total, 1)
    return factor * (raised - free) + free - price


class TracedGains:
    """Gains of parents by EM over components, for K2: of the best of the few that look best."""

    def __init__(self, score: TracedScore) -> None:
        self.score, self.size = score, score.size
        self._some = score.some(_SOME)
        nothing = np.zeros((self.size, self.size), dtype=np.bool_)
        self._free = CompiledConstraints(nothing, ~nothing, self.size)

    def gains(self, child: int, parents: tuple[int, ...], among: Bools, edges: Bools) -> Floats:
        """What the best variable gains as one more parent in a structure with these edges; local losses of others."""
        local = np.where(among, self.score.additions(child, parents), -np.inf)
        found = np.where(local > 0.0, -np.inf, local)
        search = _TracedClimber(self.score, SearchGraph(self._free, edges), self._some)
        best = np.argsort(-local, kind="stable")[:_WIDTH].tolist()
        moves: list[EdgeMove] = [(0, k, child) for k in best if local[k] > 0.0]
        if self._some is not None:
            moves.sort(key=lambda move: -search.about(move))
        for move in moves:
            found[move[1]] = search.gain(move)
            if self._some is not None and found[move[1]] > 0.0:
                break
        return found

    def begin(self, required: Bools) -> float:
        """Score of the required edges alone."""
        return self.score.total(parent_sets_of(required))

    def finish(self, found: SearchResult, required: Bools) -> None:  # noqa: ARG002
        """EM to its end, and what the score would lose without each edge."""
        refit_by_em(self.score, found)
        _value(_TracedClimber(self.score, SearchGraph(self._free, found.edges), self._some), found)


def _changed(edges: Bools, move: EdgeMove) -> Bools:
    """The edges after a move."""
    action, parent, child = move
    after = edges.copy()
    if action < 3:  # add, delete or turn
        after[parent, child] = action == 0
        after[child, parent] = action == 2
    elif action == 6:  # in place of those of its own children that are parents of the child
        after[edges[parent], child] = False
        after[parent, child] = True
    elif action == 5:  # all children of the child hang from the parent
        after[parent] |= edges[child]
        after[child] = False
    else:
        after[parent] = False
        after[child] |= edges[parent]
        after[child, child] = False
        if action == 4:
            after[parent] |= edges[:, parent]
            after[:, parent] = False
        after[child, parent] = True
    return after


def climb_traced(
    score: TracedScore, constraints: CompiledConstraints, options: Options, progress: Progress
) -> SearchResult:
    """The best structure found from the required edges alone, and from random changes of it."""
    some = score.some(_SOME)
    edges, begun = constraints.required, list[MoveRecord]()
    if some is not None:
        edges, begun = _climb_on_some(score, some, constraints, options, progress)

    def begin(edges: Bools) -> _TracedClimber:
        return _TracedClimber(score, SearchGraph(constraints, edges), some)

    tabu = options.tabu if _is_small(score) else 0
    best = climb_with_restarts(begin, edges, begun, options, tabu=tabu, perturbations=_PERTURBATIONS, progress=progress)
    refit_by_em(score, best)
    search = begin(best.edges)
    for move in search.additions()[:_WIDTH]:
        best.gains["add", move[1], move[2]] = search.about(move)
    _value(search, best)
    return best


def _is_small(score: TracedScore) -> bool:
    """Whether all moves can be tried."""
    return score.size * (score.size - 1) <= _ALL_PAIRS


def _climb_on_some(
    score: TracedScore, some: TracedScore, constraints: CompiledConstraints, options: Options, progress: Progress
) -> tuple[Bools, list[MoveRecord]]:
    """Where a climb on some of the rows ends, and its moves; their gains and scores on all rows are estimated."""
    search = _TracedClimber(some, SearchGraph(constraints), None)
    first = SearchResult(constraints.required, search.total, [])
    climb_once(search, first, tabu=0, max_steps=options.max_steps, progress=progress)
    edges, total = constraints.required, score.total(parent_sets_of(constraints.required))
    moves = []
    for move in first.moves:
        after = _changed(edges, (ACTIONS.index(move.action), move.parent, move.child))
        gain = _estimated(score, some, edges, after)
        edges, total = after, total + gain
        moves.append(move._replace(gain=gain, score=total))
    return edges, moves


def _chosen(
    search: _TracedClimber, banned: set[frozenset[int]], least: float | None
) -> tuple[EdgeMove | None, dict[EdgeMove, float]]:
    """The best move, which must gain at least so much, on all rows too; and the gains of all that were tried."""
    refused: set[EdgeMove] = set()
    while True:
        gains = _gains(search, banned, refused)
        best = min(gains, key=lambda move: (-gains[move], move), default=None)
        if best is None or least is None:
            return best, gains
        if gains[best] <= least:
            return None, gains
        if search.some is None or search.gain(best) > least:
            return best, gains
        refused.add(best)


def _gains(search: _TracedClimber, banned: set[frozenset[int]], refused: set[EdgeMove]) -> dict[EdgeMove, float]:
    """Gains of moves by EM over components.

    Of all moves where there are few. Otherwise of the additions that look best and of rearrangements around the last
    change; if none of these is any good, of the deletions and reversals that look best and all rearrangements; then of
    further additions, a few at a time.
    """

    def evaluate(moves: list[EdgeMove]) -> dict[EdgeMove, float]:
        tried = [move for move in moves if frozenset(move[1:]) not in banned and move not in refused]
        return {move: search.about(move) for move in tried}

    additions = search.additions()
    if _is_small(search.score):
        return evaluate([*additions, *search.removals(), *search.reversals(), *search.rearrangements(everywhere=True)])
    gains = evaluate([*additions[:_WIDTH], *search.rearrangements(everywhere=False)])
    if max(gains.values(), default=0.0) <= _LEAST:
        others = [*search.removals()[: 2 * _WIDTH], *search.reversals()[: 2 * _WIDTH]]
        gains |= evaluate([*others, *search.rearrangements(everywhere=True)])
    promising = int((search.local_gains()[search.graph.may_add()] > 0.0).sum())
    for start in range(_WIDTH, promising + _WIDTH, _WIDTH):
        if max(gains.values(), default=0.0) > _LEAST:
            break
        gains |= evaluate(additions[start : start + _WIDTH])
    return gains


def _value(search: _TracedClimber, best: SearchResult) -> None:
    """What the score would lose without each edge."""
    for parent, child in np.argwhere(best.edges).tolist():
        best.gains["delete", parent, child] = search.about((1, parent, child))


def refit_by_em(score: TracedScore, found: SearchResult) -> None:
    """The score of a structure, by EM to its end."""
    families = parent_sets_of(found.edges)
    score.polish(families)
    found.score = score.total(families)
