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

from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from possnet.structure.graphs import Constraints, Graph, families_of
from possnet.structure.walks import ACTIONS, Found, Move, restart, walk

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from numpy.typing import NDArray

    from possnet.structure.traced import TracedScore
    from possnet.structure.walks import Step

    Bools: TypeAlias = NDArray[np.bool_]
    Table: TypeAlias = NDArray[np.float64]

__all__ = ["TracedGains", "climb_traced", "told_by_em"]

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
        self.total = score.total(self.families(graph))
        self.touched: set[int] = set()
        self._about: dict[Step, float] = {}

    @staticmethod
    def families(graph: Graph) -> list[tuple[int, ...]]:
        return families_of(graph.edges)

    @property
    def is_small(self) -> bool:
        """Whether all moves can be tried."""
        return self.score.size * (self.score.size - 1) <= _ALL_PAIRS

    def after(self, move: Step) -> Graph:
        action, parent, child = move
        changed = self.graph.copy()
        if action >= 3:
            edges = _rearranged(changed.edges, move)
            return Graph(len(edges), changed.constraints, edges)
        if action == 2:
            changed.turn(parent, child)
        else:
            changed.change(parent, child, present=action == 0)
        return changed

    def gain(self, move: Step) -> float:
        """What a move gains, by EM on all rows."""
        return self.score.total(self.families(self.after(move))) - self.total

    def about(self, move: Step) -> float:
        """What a move gains, by EM on some of the rows if there are many."""
        if move not in self._about:
            if self.some is None:
                self._about[move] = self.gain(move)
            else:
                before, after = self.families(self.graph), self.families(self.after(move))
                self._about[move] = _estimated(self.score, self.some, before, after)
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
        self.graph = self.after(move)
        self.total = self.score.total(self.families(self.graph))
        self._about = {}
        self.touched = set(move[1:])

    def additions(self) -> list[Step]:
        """Edges to add, the largest local gain first."""
        gains = np.stack([self.score.additions(k, self.graph.parents(k)) for k in range(self.score.size)], axis=1)
        found = [(-float(gains[p, c]), (0, p, c)) for p, c in np.argwhere(self.graph.may_add()).tolist()]
        return [move for _, move in sorted(found)]

    def promising(self) -> int:
        """How many additions have a local gain."""
        gains = np.stack([self.score.additions(k, self.graph.parents(k)) for k in range(self.score.size)], axis=1)
        return int((gains[self.graph.may_add()] > 0.0).sum())

    def removals(self) -> list[Step]:
        """Edges to remove, the smallest local loss first."""
        found = [(self._loss(p, c), (1, p, c)) for p, c in np.argwhere(self.graph.may_delete()).tolist()]
        return [move for _, move in sorted(found)]

    def turns(self) -> list[Step]:
        """Edges to turn, the largest local gain first."""
        found = []
        for parent, child in np.argwhere(self.graph.may_turn()).tolist():
            gained = float(self.score.additions(parent, self.graph.parents(parent))[child])
            found.append((self._loss(parent, child) - gained, (2, parent, child)))
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
            after = _rearranged(edges, move)
            kept = not (limits.required & ~after).any() and not (after & ~limits.allowed).any()
            if kept and after.sum(axis=0).max() <= limits.max_parents:
                graph = Graph(len(edges), limits, after)
                if not np.diag(graph.reach).any():
                    found.append(move)
        return found

    def _loss(self, parent: int, child: int) -> float:
        """What the family would lose without an edge, by its local likelihood."""
        score, above = self.score, self.graph.parents(child)
        rest = tuple(k for k in above if k != parent)
        lost = score.local(child, above) - score.local(child, rest)
        return lost - score.penalty(child, above) + score.penalty(child, rest)


def _estimated(
    score: TracedScore, some: TracedScore, before: list[tuple[int, ...]], after: list[tuple[int, ...]]
) -> float:
    """What a change of structure gains on all rows, told from some of them.

    A likelihood at its maximum is too high by half a nat for every free parameter, on some rows as on all.
    """
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

    def gains(self, child: int, parents: tuple[int, ...], among: Bools, edges: Bools) -> Table:
        """What the best variable gains as one more parent in a structure with these edges; local losses of others."""
        local = np.where(among, self.score.additions(child, parents), -np.inf)
        found = np.where(local > 0.0, -np.inf, local)
        before = families_of(edges)
        after: dict[int, list[tuple[int, ...]]] = {}
        for k in np.argsort(-local, kind="stable")[:_WIDTH].tolist():
            if local[k] > 0.0:
                after[k] = [*before[:child], tuple(sorted((*parents, k))), *before[child + 1 :]]
        ranked = list(after)
        if self._some is not None:
            about = {k: _estimated(self.score, self._some, before, wider) for k, wider in after.items()}
            ranked = sorted(after, key=lambda k: -about[k])
        now = self.score.total(before)
        for k in ranked:
            found[k] = self.score.total(after[k]) - now
            if self._some is not None and found[k] > 0.0:
                break
        return found

    def begin(self, required: Bools) -> float:
        """Score of the required edges alone."""
        return self.score.total(families_of(required))

    def finish(self, found: Found, required: Bools) -> None:
        """EM to its end, and what the score would lose without each edge."""
        told_by_em(self.score, found)
        limits = Constraints(required, ~np.eye(self.size, dtype=np.bool_), self.size)
        _value(_Search(self.score, Graph(self.size, limits, found.edges), self._some), found)


def _rearranged(edges: Bools, move: Step) -> Bools:
    """The edges after an exchange, a re-root, a lift or a replacement."""
    action, parent, child = move
    after = edges.copy()
    if action == 6:  # in place of those of its own children that are parents of the child
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
    score: TracedScore,
    constraints: Constraints,
    *,
    tabu: int,
    restarts: int,
    max_steps: int | None,
    chance: np.random.Generator,
    progress: Callable[[int, int], None] | None = None,
) -> Found:
    """The best structure found from the required edges alone, and from random changes of it."""
    some = score.some(_SOME)
    graph = Graph(score.size, constraints)
    begun: list[Move] = []
    if some is not None:
        graph, begun = _climb_on_some(score, some, graph, max_steps, progress)
    search = _Search(score, graph, some)
    tabu = tabu if search.is_small else 0
    best = Found(search.graph.edges.copy(), search.total, begun)
    left = None if max_steps is None else max_steps - len(begun)
    walk(search, best, tabu=tabu, max_steps=left, progress=progress)
    best = restart(
        lambda edges: _Search(score, Graph(score.size, constraints, edges), some),
        best, restarts=restarts, shakes=_SHAKES, chance=chance, tabu=tabu, max_steps=max_steps, progress=progress,
    )  # fmt: skip
    _finish(score, best, constraints, some)
    return best


def _climb_on_some(
    score: TracedScore,
    some: TracedScore,
    graph: Graph,
    max_steps: int | None,
    progress: Callable[[int, int], None] | None,
) -> tuple[Graph, list[Move]]:
    """Where a climb on some of the rows ends, and its moves; their gains and scores on all rows are estimated."""
    search = _Search(some, graph, None)
    first = Found(graph.edges.copy(), search.total, [])
    walk(search, first, tabu=0, max_steps=max_steps, progress=progress)
    replay = _Search(some, graph, None)
    total = score.total(_Search.families(graph))
    moves = []
    for move in first.moves:
        before = _Search.families(replay.graph)
        replay.graph = replay.after((ACTIONS.index(move.action), move.parent, move.child))
        gain = _estimated(score, some, before, _Search.families(replay.graph))
        total += gain
        moves.append(move._replace(gain=gain, score=total))
    return replay.graph, moves


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
    if search.is_small:
        return evaluate([*additions, *search.removals(), *search.turns(), *search.rearrangements(everywhere=True)])
    gains = evaluate([*additions[:_WIDTH], *search.rearrangements(everywhere=False)])
    if max(gains.values(), default=0.0) <= _LEAST:
        others = [*search.removals()[: 2 * _WIDTH], *search.turns()[: 2 * _WIDTH]]
        gains |= evaluate([*others, *search.rearrangements(everywhere=True)])
    for start in range(_WIDTH, search.promising() + _WIDTH, _WIDTH):
        if max(gains.values(), default=0.0) > _LEAST:
            break
        gains |= evaluate(additions[start : start + _WIDTH])
    return gains


def _finish(score: TracedScore, best: Found, constraints: Constraints, some: TracedScore | None) -> None:
    """EM to its end for the structure that is kept, what its edges are worth, and what nearly made it."""
    graph = Graph(score.size, constraints, best.edges)
    score.polish(_Search.families(graph))
    best.score = score.total(_Search.families(graph))
    search = _Search(score, graph, some)
    for move in search.additions()[:_WIDTH]:
        best.gains["add", move[1], move[2]] = search.about(move)
    _value(search, best)


def _value(search: _Search, best: Found) -> None:
    """What the score would lose without each edge."""
    for parent, child in np.argwhere(best.edges).tolist():
        best.gains["delete", parent, child] = search.about((1, parent, child))


def told_by_em(score: TracedScore, found: Found) -> None:
    """The score of a structure, by EM to its end."""
    families = families_of(found.edges)
    score.polish(families)
    found.score = score.total(families)
