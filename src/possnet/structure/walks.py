"""A walk from structure to structure: up while that gains, on for a while at a peak, and from random changes of the best.

At a peak the walk goes on for a few moves, downhill if need be, without undoing what it did last (the tabu list; Glover
1989); then from random changes of the best structure (restarts). The best structure ever seen is kept, so that its score
never falls.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    import numpy as np

    from possnet.aliases import Bools, Progress
    from possnet.structure.graphs import Graph
    from possnet.structure.options import Options

    Step: TypeAlias = tuple[int, int, int]

ACTIONS = ("add", "delete", "turn", "exchange", "re-root", "lift", "replace")
"""What a step (action, parent, child) does, by the number of its action."""


class Move(NamedTuple):
    """One step: what was done to which edge (as it was, or is), the gain, the score after it, and what tied."""

    action: str
    parent: int
    child: int
    gain: float
    score: float
    ties: tuple[tuple[str, int, int], ...]


@dataclass(slots=True)
class Found:
    """Where a search ended: edges, score, the moves that led there, gains of moves not made, the order if one was used."""

    edges: Bools
    score: float
    moves: list[Move]
    gains: dict[tuple[str, int, int], float] = field(default_factory=dict)
    families: list[float] | None = None
    order: list[int] | None = None


class Walker(Protocol):
    """A structure, and what the steps from it gain."""

    graph: Graph

    @property
    def total(self) -> float:
        """Score of the structure."""
        ...

    @property
    def margin(self) -> float:
        """What a score must gain to count as better."""
        ...

    def best_step(
        self, recent: Collection[frozenset[int]], best: float, *, upward: bool
    ) -> tuple[Step, list[Step]] | None:
        """The best step that does not undo a recent one, which must gain something if ``upward``; and those that tie.

        A walker may undo one after all if that passes the best score so far.
        """
        ...

    def random_step(self, chance: np.random.Generator) -> Step | None:
        """Any step that can be made."""
        ...

    def make(self, step: Step) -> None:
        """Make a step."""
        ...


def walk(walker: Walker, best: Found, *, tabu: int, max_steps: int | None, progress: Progress) -> None:
    """Climb; ``best`` is brought up to date whenever the score passes all before."""
    moves = list(best.moves)
    begun = len(moves)
    recent: deque[frozenset[int]] = deque(maxlen=max(tabu, 1))
    downhill = 0
    while max_steps is None or len(moves) - begun < max_steps:
        chosen = walker.best_step(recent if downhill else (), best.score, upward=downhill >= tabu)
        if chosen is None:
            break
        step, ties = chosen
        _make(walker, moves, step, ties)
        if tabu:
            recent.append(frozenset(step[1:]))
        if walker.total > best.score + walker.margin:
            best.edges, best.score, best.moves = walker.graph.edges.copy(), walker.total, list(moves)
            downhill = 0
        else:
            downhill += 1
        progress(len(moves), 0)


def climb(
    begin: Callable[[Bools], Walker],
    edges: Bools,
    moves: list[Move],
    options: Options,
    *,
    tabu: int,
    shakes: int,
    progress: Progress,
) -> Found:
    """The best structure of a walk from some edges, where moves have led, and of walks from random changes of the best."""
    most, chance = options.max_steps, options.chance
    walker = begin(edges)
    best = Found(edges, walker.total, moves)
    walk(walker, best, tabu=tabu, max_steps=None if most is None else most - len(moves), progress=progress)
    for _ in range(options.restarts):
        walker = begin(best.edges)
        known = Found(best.edges, best.score, list(best.moves))
        for _ in range(shakes):
            step = walker.random_step(chance)
            if step is None:
                break
            _make(walker, known.moves, step, [])
        walk(walker, known, tabu=tabu, max_steps=most, progress=progress)
        if known.score > best.score + walker.margin:
            best = known
    return best


def _make(walker: Walker, moves: list[Move], step: Step, ties: list[Step]) -> None:
    before = walker.total
    walker.make(step)
    action, parent, child = step
    tied = tuple((ACTIONS[a], p, c) for a, p, c in ties)
    moves.append(Move(ACTIONS[action], parent, child, walker.total - before, walker.total, tied))
