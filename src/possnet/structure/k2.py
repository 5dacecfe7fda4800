"""K2: the parents of each variable among those before it (Cooper and Herskovits 1992), by a score or a measure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from possnet.structure.search_graph import parent_sets_of, parents_of
from possnet.structure.search_result import MoveRecord, SearchResult

if TYPE_CHECKING:
    from possnet.aliases import Bools, Floats, Progress
    from possnet.structure.scores import FamilyScore
    from possnet.structure.search_graph import CompiledConstraints


class Gains(Protocol):
    """What each variable would add as one more parent."""

    @property
    def size(self) -> int:
        """Number of variables."""
        ...

    def gains(self, child: int, parents: tuple[int, ...], among: Bools, edges: Bools) -> Floats:
        """Gain of each variable ``among`` some as one more parent, given the edges there are; -inf where that cannot be."""
        ...

    def begin(self, required: Bools) -> float:
        """The score, or the sum of the measures, of the required edges alone."""
        ...

    def finish(self, found: SearchResult, required: Bools) -> None:
        """Fill in what the edges of the structure that is kept are worth, and its families."""
        ...


class ScoreGains:
    """Gains by a score that falls apart into families."""

    def __init__(self, score: FamilyScore) -> None:
        self.score, self.size = score, score.size

    def gains(self, child: int, parents: tuple[int, ...], among: Bools, edges: Bools) -> Floats:  # noqa: ARG002
        """Score with one more parent, minus the score without."""
        return self.score.score_additions(child, parents) - self.score.score_family(child, parents)

    def begin(self, required: Bools) -> float:
        """Score of the required edges alone."""
        return float(sum(self.score.score_family(k, parents) for k, parents in enumerate(parent_sets_of(required))))

    def finish(self, found: SearchResult, required: Bools) -> None:  # noqa: ARG002
        """What the score would lose without each edge, and the score of every family."""
        found.families = [self.score.score_family(k, parents) for k, parents in enumerate(parent_sets_of(found.edges))]
        found.score = float(sum(found.families))
        for parent, child in np.argwhere(found.edges).tolist():
            rest = tuple(k for k in parents_of(found.edges, child) if k != parent)
            found.gains["delete", parent, child] = self.score.score_family(child, rest) - found.families[child]


def search_order(gains: Gains, order: list[int], constraints: CompiledConstraints, threshold: float) -> SearchResult:
    """Parents of every variable, best first, while each adds more than the threshold.

    >>> from possnet.structure.search_graph import CompiledConstraints
    >>> class Fixed:
    ...     size = 2
    ...     def gains(self, child, parents, among, edges):
    ...         return np.array([-np.inf, 0.5]) if child == 0 else np.array([0.4, -np.inf])
    ...     def begin(self, required):
    ...         return 0.0
    >>> free = CompiledConstraints(np.zeros((2, 2), bool), ~np.eye(2, dtype=bool), 1)
    >>> found = search_order(Fixed(), [1, 0], free, 0.0)
    >>> found.score, [move[:3] for move in found.moves]
    (0.5, [('add', 1, 0)])
    """
    edges = constraints.required.copy()
    moves: list[MoveRecord] = []
    total = gains.begin(constraints.required)
    left: dict[tuple[str, int, int], float] = {}
    for place, child in enumerate(order):
        before = np.zeros(gains.size, dtype=np.bool_)
        before[order[:place]] = True
        before &= constraints.allowed[:, child]
        while True:
            parents = parents_of(edges, child)
            among = before & ~edges[:, child]
            values = np.where(among, gains.gains(child, parents, among, edges), -np.inf)
            best = int(values.argmax())
            if values[best] <= threshold or len(parents) >= constraints.max_parents:
                for k in np.flatnonzero(np.isfinite(values)).tolist():
                    left["add", k, child] = float(values[k])
                break
            ties = [k for k in np.flatnonzero(values >= values[best] - 1e-12).tolist() if k != best]
            edges[best, child] = True
            total += float(values[best])
            moves.append(
                MoveRecord("add", best, child, float(values[best]), total, tuple(("add", k, child) for k in ties))
            )
    for move in moves:
        left["delete", move.parent, move.child] = -move.gain
    return SearchResult(edges, total, moves, left, order=order)


def draw_order(constraints: CompiledConstraints, rng: np.random.Generator | None) -> list[int]:
    """An order in which required parents stand before their children, and tiers are kept where they can be.

    A random one, or without ``rng`` the first: that of the data where nothing is in its way.
    """
    one_way = constraints.allowed & ~constraints.allowed.T
    order: list[int] = []
    left = list(range(len(constraints.required)))
    while left:
        ready = [k for k in left if not (constraints.required[left, k] | one_way[left, k]).any()]
        ready = ready or [k for k in left if not constraints.required[left, k].any()]
        chosen = ready[0 if rng is None else int(rng.integers(len(ready)))]
        order.append(chosen)
        left.remove(chosen)
    return order


def search_orders(
    gains: Gains, orders: list[list[int]], constraints: CompiledConstraints, threshold: float, progress: Progress
) -> SearchResult:
    """What K2 finds along the order whose families gain most in all."""
    tried = []
    for done, order in enumerate(orders, start=1):
        tried.append(search_order(gains, order, constraints, threshold))
        progress(done, len(orders))
    best = max(tried, key=lambda found: found.score)
    gains.finish(best, constraints.required)
    return best
