"""The result of a search over structures, and the moves that led to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from possnet.structure.search_clock import CONVERGED

if TYPE_CHECKING:
    from possnet.aliases import Bools

    EdgeMove: TypeAlias = tuple[int, int, int]

ACTIONS: Final = ("add", "delete", "reverse")
"""What a move (action, parent, child) of one edge does, by the number of its action."""

NEAR_MISSES: Final = 20
"""How many additions that were not made a result shows."""


class MoveRecord(NamedTuple):
    """A move that was made: the action and its edge, what the score gained, the score after it, and the moves that tied."""

    action: str
    parent: int
    child: int
    gain: float
    score: float
    ties: tuple[tuple[str, int, int], ...]


@dataclass(slots=True)
class SearchResult:
    """The structure that a search returns.

    Attributes
    ----------
    edges
        The DAG as a matrix (parent, child).
    score
        Its score, or the sum of the measures of its edges.
    moves
        The moves that led there.
    gains
        What ``delete`` of every edge would gain, and ``add`` of the best edges that it lacks: (action, parent, child).
    families
        Score of each family, where the score is a sum over families.
    order
        The order of the variables, if the search used one.
    rows
        Number of rows of the data, where the search counted them itself.
    stopped
        Why the search stopped; see `possnet.structure.search_clock`.
    remark
        What the measure took from the rows, for people.
    """

    edges: Bools
    score: float
    moves: list[MoveRecord]
    gains: dict[tuple[str, int, int], float] = field(default_factory=dict)
    families: list[float] | None = None
    order: list[int] | None = None
    rows: int | float | None = None
    stopped: str = CONVERGED
    remark: str = ""
