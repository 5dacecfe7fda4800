"""Hill climbing over traced BIC.

Moves add, remove or turn an edge, or *rearrange* a few at once. A child takes the place of its parent: a -> b, a -> c
becomes b -> a, b -> c, and d -> a stays (``exchange``) or becomes a -> d (``re-root``). Children move up to their
grandparent: a -> b -> c becomes a -> b, a -> c, for all children of b (``lift``) or for c alone (``replace``). Without
these the climb is easily lost on a wrong hub, for what a hidden state explains shows only when all its children hang from
it; a child with sharper cells than its parent looks like the better hub to its siblings.

Moves are ranked by local gains (see `possnet.structure.traced`), and the best are scored by EM over the components that
they change. Where there are many rows, the climb begins on some of them, and goes on from there on all: moves are then
estimated on some, and checked on all before they are made. Gains and scores of the first part are estimates. The tabu list
is for few variables only, where all moves can be tried.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from possnet.structure.graphs import Constraints, Graph, families_of
from possnet.structure.walks import ACTIONS, Found, Move, climb, walk

if TYPE_CHECKING:
    from collections.abc import Collection

    from possnet.aliases import Bools, Floats, Progress
    from possnet.structure.options import Options
    from possnet.structure.traced import TracedScore
    from possnet.structure.walks import Step

_ALL_PAIRS: Final = 20
_WIDTH: Final = 6
_SHAKES: Final = 4
_LEAST: Final = 1.0  # nats: twice what EM leaves to gain
_SOME: Final = 10_000


class _Search:
    """A structure, and the gains of its moves as far as they are known."""

    margin = _LEAST

    def __init__(self, score: TracedScore, graph: Graph, some: TracedScore | None) -> None:
        self.score, self.some, self.graph = score, some, graph
        self.total = score.total(families_of(graph.edges))
        self.touched: set[int] = set()
        self._about: dict[Step, float] = {}

    def gain(self, move: Step) -> float:
        """What a move gains, by EM on all rows."""
        return self.score.total(families_of(_changed(self.graph.edges, move))) - self.total

    def about(self, move: Step) -> float:
        """What a move gains, by EM on some of the rows if there are many."""
        if move not in self._about:
            if self.some is None:
                self._about[move] = self.gain(move)
            else:
                edges = self.graph.edges
                self._about[move] = _estimated(self.score, self.some, edges, _changed(edges, move))
        return self._about[move]

    def best_step(
        self,
        recent: Collection[frozenset[int]],
        best: float,  # noqa: ARG002 - nothing recent is ever undone
        *,
        upward: bool,
    ) -> tuple[Step, list[Step]] | None:
        move, gains = _chosen(self, set(recent), least=_LEAST if upward else None)
        if move is None:
            return None
        close = gains[move] - _LEAST
        return move, [other for other, gain in gains.items() if gain >= close and other != move]

    def random_step(self, chance: np.random.Generator) -> Step | None:
        moves = [*self.removals(), *self.turns(), *self.additions()]
        return moves[int(chance.integers(len(moves)))] if moves else None

    def make(self, move: Step) -> None:
        self.graph = Graph(self.graph.constraints, _changed(self.graph.edges, move))
        self.total = self.score.total(families_of(self.graph.edges))
        self._about = {}
        self.touched = set(move[1:])

    def additions(self) -> list[Step]:
        """Edges to add, the largest local gain first."""
        gains = self.local_gains()
        found = [(-float(gains[p, c]), (0, p, c)) for p, c in np.argwhere(self.graph.may_add()).tolist()]
        return [move for _, move in sorted(found)]

    def removals(self) -> list[Step]:
        """Edges to remove, the smallest local loss first."""
        found = [(self._loss(p, c), (1, p, c)) for p, c in np.argwhere(self.graph.may_delete()).tolist()]
        return [move for _, move in sorted(found)]

    def turns(self) -> list[Step]:
        """Edges to turn, the largest local gain first."""
        gains, turns = self.local_gains(), np.argwhere(self.graph.may_turn()).tolist()
        found = [(self._loss(p, c) - float(gains[c, p]), (2, p, c)) for p, c in turns]
        return [move for _, move in sorted(found)]

    def rearrangements(self, *, everywhere: bool) -> list[Step]:
        """Several edges at once: all such moves, or those around the last change."""
        edges, limits = self.graph.edges, self.graph.constraints
        moves: list[Step] = []
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
            if kept and narrow and not np.diag(Graph(limits, after).reach).any():
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
    before, after = families_of(edges), families_of(changed)
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
        self._free = Constraints(nothing, ~nothing, self.size)

    def gains(self, child: int, parents: tuple[int, ...], among: Bools, edges: Bools) -> Floats:
        """What the best variable gains as one more parent in a structure with these edges; local losses of others."""
        local = np.where(among, self.score.additions(child, parents), -np.inf)
        found = np.where(local > 0.0, -np.inf, local)
        search = _Search(self.score, Graph(self._free, edges), self._some)
        best = np.argsort(-local, kind="stable")[:_WIDTH].tolist()
        moves: list[Step] = [(0, k, child) for k in best if local[k] > 0.0]
        if self._some is not None:
            moves.sort(key=lambda move: -search.about(move))
        for move in moves:
            found[move[1]] = search.gain(move)
            if self._some is not None and found[move[1]] > 0.0:
                break
        return found

    def begin(self, required: Bools) -> float:
        """Score of the required edges alone."""
        return self.score.total(families_of(required))

    def finish(self, found: Found, required: Bools) -> None:  # noqa: ARG002
        """EM to its end, and what the score would lose without each edge."""
        told_by_em(self.score, found)
        _value(_Search(self.score, Graph(self._free, found.edges), self._some), found)


def _changed(edges: Bools, move: Step) -> Bools:
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


def climb_traced(score: TracedScore, constraints: Constraints, options: Options, progress: Progress) -> Found:
    """The best structure found from the required edges alone, and from random changes of it."""
    some = score.some(_SOME)
    edges, begun = constraints.required, list[Move]()
    if some is not None:
        edges, begun = _climb_on_some(score, some, constraints, options, progress)

    def begin(edges: Bools) -> _Search:
        return _Search(score, Graph(constraints, edges), some)

    tabu = options.tabu if _is_small(score) else 0
    best = climb(begin, edges, begun, options, tabu=tabu, shakes=_SHAKES, progress=progress)
    told_by_em(score, best)
    search = begin(best.edges)
    for move in search.additions()[:_WIDTH]:
        best.gains["add", move[1], move[2]] = search.about(move)
    _value(search, best)
    return best


def _is_small(score: TracedScore) -> bool:
    """Whether all moves can be tried."""
    return score.size * (score.size - 1) <= _ALL_PAIRS


def _climb_on_some(
    score: TracedScore, some: TracedScore, constraints: Constraints, options: Options, progress: Progress
) -> tuple[Bools, list[Move]]:
    """Where a climb on some of the rows ends, and its moves; their gains and scores on all rows are estimated."""
    search = _Search(some, Graph(constraints), None)
    first = Found(constraints.required, search.total, [])
    walk(search, first, tabu=0, max_steps=options.max_steps, progress=progress)
    edges, total = constraints.required, score.total(families_of(constraints.required))
    moves = []
    for move in first.moves:
        after = _changed(edges, (ACTIONS.index(move.action), move.parent, move.child))
        gain = _estimated(score, some, edges, after)
        edges, total = after, total + gain
        moves.append(move._replace(gain=gain, score=total))
    return edges, moves


def _chosen(search: _Search, banned: set[frozenset[int]], least: float | None) -> tuple[Step | None, dict[Step, float]]:
    """The best move, which must gain at least so much, on all rows too; and the gains of all that were tried."""
    refused: set[Step] = set()
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


def _gains(search: _Search, banned: set[frozenset[int]], refused: set[Step]) -> dict[Step, float]:
    """Gains of moves by EM over components.

    Of all moves where there are few. Otherwise of the additions that look best and of rearrangements around the last
    change; if none of these is any good, of the removals and turns that look best and all rearrangements; then of further
    additions, a few at a time.
    """

    def evaluate(moves: list[Step]) -> dict[Step, float]:
        tried = [move for move in moves if frozenset(move[1:]) not in banned and move not in refused]
        return {move: search.about(move) for move in tried}

    additions = search.additions()
    if _is_small(search.score):
        return evaluate([*additions, *search.removals(), *search.turns(), *search.rearrangements(everywhere=True)])
    gains = evaluate([*additions[:_WIDTH], *search.rearrangements(everywhere=False)])
    if max(gains.values(), default=0.0) <= _LEAST:
        others = [*search.removals()[: 2 * _WIDTH], *search.turns()[: 2 * _WIDTH]]
        gains |= evaluate([*others, *search.rearrangements(everywhere=True)])
    promising = int((search.local_gains()[search.graph.may_add()] > 0.0).sum())
    for start in range(_WIDTH, promising + _WIDTH, _WIDTH):
        if max(gains.values(), default=0.0) > _LEAST:
            break
        gains |= evaluate(additions[start : start + _WIDTH])
    return gains


def _value(search: _Search, best: Found) -> None:
    """What the score would lose without each edge."""
    for parent, child in np.argwhere(best.edges).tolist():
        best.gains["delete", parent, child] = search.about((1, parent, child))


def told_by_em(score: TracedScore, found: Found) -> None:
    """The score of a structure, by EM to its end."""
    families = families_of(found.edges)
    score.polish(families)
    found.score = score.total(families)
