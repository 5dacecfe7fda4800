"""Greedy search: hill climbing by adding, removing and turning edges, with a tabu list and restarts.

A move changes one or two families, and the score is a sum over families, so that only their gains are computed again. At a
peak the walk goes on for a few moves, downhill if need be, without undoing what it did last (the tabu list; Glover 1989);
then from random changes of the best structure (restarts). The best structure ever seen is kept, so that its score never
falls.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np

from possnet.structure.graphs import Graph

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from possnet.structure.graphs import Constraints
    from possnet.structure.scores import FamilyScore

    Bools: TypeAlias = NDArray[np.bool_]
    Table: TypeAlias = NDArray[np.float64]

__all__ = ["Found", "Move", "climb_greedily"]

_ROUNDING: Final = 1e-9
_SHAKES: Final = 8
ACTIONS: Final = ("add", "delete", "turn")


class Move(NamedTuple):
    """One step: what was done to which edge (as it was, or is), the gain, the score after it, and how many tied."""

    action: str
    parent: int
    child: int
    gain: float
    score: float
    ties: tuple[tuple[str, int, int], ...]


@dataclass(slots=True)
class Found:
    """Where a search ended: the edges, the score, the moves that led there, and gains of moves not made."""

    edges: Bools
    score: float
    moves: list[Move]
    gains: dict[tuple[str, int, int], float] = field(default_factory=dict)
    families: list[float] | None = None


class _Climber:
    """A graph and the gains of all its moves."""

    def __init__(self, score: FamilyScore, graph: Graph) -> None:
        self.score, self.graph = score, graph
        size = score.size
        self.families = np.zeros(size)
        self.adding = np.full((size, size), -np.inf)
        self.removing = np.full((size, size), -np.inf)
        for child in range(size):
            self.refresh(child)

    @property
    def total(self) -> float:
        return float(self.families.sum())

    def refresh(self, child: int) -> None:
        """Gains of the moves that change a family, after it changed."""
        parents = self.graph.parents(child)
        now = self.families[child] = self.score.family(child, parents)
        self.adding[:, child] = self.score.additions(child, parents) - now
        self.removing[:, child] = -np.inf
        for place, parent in enumerate(parents):
            rest = parents[:place] + parents[place + 1 :]
            self.removing[parent, child] = self.score.family(child, rest) - now

    def gains(self) -> Table:
        """Gains of every move, shape (actions, parent, child); -inf where it cannot be made."""
        graph = self.graph
        with np.errstate(invalid="ignore"):
            turning = self.removing + self.adding.T
        return np.stack(
            [
                np.where(graph.may_add(), self.adding, -np.inf),
                np.where(graph.may_delete(), self.removing, -np.inf),
                np.where(graph.may_turn(), turning, -np.inf),
            ]
        )

    def make(self, action: int, parent: int, child: int) -> None:
        if action == 2:
            self.graph.turn(parent, child)
            self.refresh(parent)
        else:
            self.graph.change(parent, child, present=action == 0)
        self.refresh(child)


def climb_greedily(
    score: FamilyScore,
    constraints: Constraints,
    *,
    tabu: int,
    restarts: int,
    max_steps: int | None,
    chance: np.random.Generator,
    progress: Callable[[int, int], None] | None = None,
) -> Found:
    """The best structure found from the required edges alone, and from random changes of it."""
    climber = _Climber(score, Graph(score.size, constraints))
    best = Found(climber.graph.edges.copy(), climber.total, [])
    _walk(climber, best, tabu, max_steps, progress)
    for _ in range(restarts):
        climber = _Climber(score, Graph(score.size, constraints, best.edges))
        known = Found(best.edges, best.score, list(best.moves))
        for _ in range(_SHAKES):
            gains = climber.gains()
            possible = np.flatnonzero(np.isfinite(gains))
            if not len(possible):
                break
            move = _move(int(chance.choice(possible)), gains.shape)
            _record(climber, known, move, float(gains[move]), ())
        _walk(climber, known, tabu, max_steps, progress)
        if known.score > best.score + _ROUNDING * max(abs(best.score), 1.0):
            best = known
    _left_over(score, best, constraints)
    return best


def _walk(
    climber: _Climber,
    best: Found,
    tabu: int,
    max_steps: int | None,
    progress: Callable[[int, int], None] | None,
) -> None:
    """Climb; ``best`` is brought up to date whenever the score passes all before."""
    moves = list(best.moves)
    begun = len(moves)
    recent: deque[frozenset[int]] = deque(maxlen=max(tabu, 1))
    downhill = 0
    while max_steps is None or len(moves) - begun < max_steps:
        gains = climber.gains()
        total = climber.total
        tolerance = _ROUNDING * max(abs(total), 1.0)
        for pair in recent if downhill else ():
            first, second = sorted(pair)
            for a, b in ((first, second), (second, first)):
                stale = gains[:, a, b] + total <= best.score + tolerance
                gains[stale, a, b] = -np.inf
        top = float(gains.max(initial=-np.inf))
        if not np.isfinite(top) or (top <= tolerance and downhill >= tabu):
            break
        move = _move(int(gains.argmax()), gains.shape)
        tied = np.argwhere(gains >= top - tolerance)
        ties = tuple((ACTIONS[a], int(p), int(c)) for a, p, c in tied if (a, p, c) != move)
        known = Found(best.edges, best.score, moves)
        _record(climber, known, move, top, ties)
        if tabu:
            recent.append(frozenset(move[1:]))
        if climber.total > best.score + tolerance:
            best.edges, best.score, best.moves = climber.graph.edges.copy(), climber.total, list(moves)
            downhill = 0
        else:
            downhill += 1
        if progress is not None:
            progress(len(moves), 0)


def _record(climber: _Climber, found: Found, move: tuple[int, int, int], gain: float, ties: object) -> None:
    climber.make(*move)
    action, parent, child = move
    listed = ties if isinstance(ties, tuple) else ()
    found.moves.append(Move(ACTIONS[action], parent, child, gain, climber.total, listed))


def _move(flat: int, shape: tuple[int, ...]) -> tuple[int, int, int]:
    action, parent, child = (int(k) for k in np.unravel_index(flat, shape))
    return action, parent, child


def _left_over(score: FamilyScore, best: Found, constraints: Constraints) -> None:
    """Gains of all moves from the best structure: what each edge is worth, and what nearly made it."""
    climber = _Climber(score, Graph(score.size, constraints, best.edges))
    gains = climber.gains()
    best.families = climber.families.tolist()
    for action, parent, child in np.argwhere(np.isfinite(gains)).tolist():
        best.gains[ACTIONS[action], parent, child] = float(gains[action, parent, child])
    for parent, child in np.argwhere(best.edges).tolist():  # required edges cannot be removed, but are worth something
        best.gains["delete", parent, child] = float(climber.removing[parent, child])
