"""Greedy search: hill climbing by adding, removing and turning edges (see `possnet.structure.walks`).

A move changes one or two families, and the score is a sum over families, so that only their gains are computed again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from possnet.structure.graphs import Graph
from possnet.structure.walks import ACTIONS, Found, climb

if TYPE_CHECKING:
    from collections.abc import Collection

    from possnet.aliases import Bools, Floats, Progress
    from possnet.structure.graphs import Constraints
    from possnet.structure.options import Options
    from possnet.structure.scores import SetScore
    from possnet.structure.walks import Step

_ROUNDING: Final = 1e-9
_SHAKES: Final = 8


class _Climber:
    """A graph and the gains of all its moves."""

    def __init__(self, score: SetScore, graph: Graph) -> None:
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

    @property
    def margin(self) -> float:
        return _ROUNDING * max(abs(self.total), 1.0)

    def refresh(self, child: int) -> None:
        """Gains of the moves that change a family, after it changed."""
        parents = self.graph.parents(child)
        now = self.families[child] = self.score.family(child, parents)
        self.adding[:, child] = self.score.additions(child, parents) - now
        self.removing[:, child] = -np.inf
        for place, parent in enumerate(parents):
            rest = parents[:place] + parents[place + 1 :]
            self.removing[parent, child] = self.score.family(child, rest) - now

    def gains(self) -> Floats:
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

    def best_step(
        self, recent: Collection[frozenset[int]], best: float, *, upward: bool
    ) -> tuple[Step, list[Step]] | None:
        gains, margin = self.gains(), self.margin
        for pair in recent:
            first, second = sorted(pair)
            for a, b in ((first, second), (second, first)):
                stale = gains[:, a, b] + self.total <= best + margin
                gains[stale, a, b] = -np.inf
        top = float(gains.max(initial=-np.inf))
        if not np.isfinite(top) or (upward and top <= margin):
            return None
        ties = _steps(gains >= top - margin)
        step = max(ties, key=lambda tie: gains[tie])
        return step, [tie for tie in ties if tie != step]

    def random_step(self, chance: np.random.Generator) -> Step | None:
        possible = _steps(np.isfinite(self.gains()))
        return possible[chance.choice(len(possible))] if possible else None

    def make(self, step: Step) -> None:
        action, parent, child = step
        if action == 2:
            self.graph.turn(parent, child)
            self.refresh(parent)
        else:
            self.graph.change(parent, child, present=action == 0)
        self.refresh(child)


def climb_greedily(score: SetScore, constraints: Constraints, options: Options, progress: Progress) -> Found:
    """The best structure found from the required edges alone, and from random changes of it."""

    def begin(edges: Bools) -> _Climber:
        return _Climber(score, Graph(constraints, edges))

    best = climb(begin, constraints.required, [], options, tabu=options.tabu, shakes=_SHAKES, progress=progress)
    _left_over(begin(best.edges), best)
    return best


def _left_over(climber: _Climber, best: Found) -> None:
    """Gains of all moves from the best structure: what each edge is worth, and what nearly made it."""
    gains = climber.gains()
    best.families = climber.families.tolist()
    for action, parent, child in _steps(np.isfinite(gains)):
        best.gains[ACTIONS[action], parent, child] = float(gains[action, parent, child])
    for parent, child in np.argwhere(best.edges).tolist():  # required edges cannot be removed, but are worth something
        best.gains["delete", parent, child] = float(climber.removing[parent, child])


def _steps(chosen: Bools) -> list[Step]:
    return [(action, parent, child) for action, parent, child in np.argwhere(chosen).tolist()]
