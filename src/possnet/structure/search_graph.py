"""The graph while it is searched: which moves keep it acyclic and within the constraints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from possnet.aliases import Bools


@dataclass(frozen=True, slots=True)
class CompiledConstraints:
    """Edges that must be, and edges that may be, as matrices (parent, child), and the most parents of a variable."""

    required: Bools
    allowed: Bools
    max_parents: int


class SearchGraph:
    """A DAG as a matrix (parent, child), with its transitive closure, and the moves that keep it acyclic and allowed.

    >>> graph = SearchGraph(CompiledConstraints(np.zeros((3, 3), bool), ~np.eye(3, dtype=bool), 2))
    >>> graph.set_edge(0, 1, present=True)
    >>> graph.may_add().astype(int).tolist()
    [[0, 0, 1], [0, 0, 1], [1, 1, 0]]
    >>> graph.parents(1), graph.may_reverse().astype(int).tolist()
    ((0,), [[0, 1, 0], [0, 0, 0], [0, 0, 0]])
    """

    def __init__(self, constraints: CompiledConstraints, edges: Bools | None = None) -> None:
        self.constraints = constraints
        self.edges: Bools = (constraints.required if edges is None else edges).copy()
        self._close_paths()

    def parents(self, child: int) -> tuple[int, ...]:
        """Parents of a variable, sorted."""
        return parents_of(self.edges, child)

    def set_edge(self, parent: int, child: int, *, present: bool) -> None:
        """Add or delete an edge."""
        self.edges[parent, child] = present
        if present:
            above = self.reach[:, parent].copy()
            above[parent] = True
            below = self.reach[child].copy()
            below[child] = True
            self.reach |= above[:, np.newaxis] & below
        else:
            self._close_paths()

    def reverse_edge(self, parent: int, child: int) -> None:
        """Reverse an edge."""
        self.set_edge(parent, child, present=False)
        self.set_edge(child, parent, present=True)

    def may_add(self) -> Bools:
        """Edges (parent, child) that could be added."""
        full = self.edges.sum(axis=0) >= self.constraints.max_parents
        allowed: Bools = self.constraints.allowed & ~self.edges & ~self.reach.T & ~full
        return allowed

    def may_delete(self) -> Bools:
        """Edges that could be deleted."""
        return self.edges & ~self.constraints.required

    def may_reverse(self) -> Bools:
        """Edges that could be reversed: no other path leads from parent to child."""
        detour = self.edges.astype(np.float32) @ self.reach.astype(np.float32) > 0.0
        full = self.edges.sum(axis=0) >= self.constraints.max_parents
        allowed: Bools = self.may_delete() & ~detour & self.constraints.allowed.T & ~full[:, np.newaxis]
        return allowed

    def _close_paths(self) -> None:
        reach = self.edges.astype(np.float32)
        size = 1
        while size < len(reach):
            wider = np.minimum(reach + reach @ reach, 1.0)
            if np.array_equal(wider, reach):
                break
            reach, size = wider, 2 * size
        self.reach: Bools = reach > 0.0


def parents_of(edges: Bools, child: int) -> tuple[int, ...]:
    """Parents of a variable in a matrix (parent, child), sorted.

    >>> parents_of(np.array([[False, True], [False, False]]), 1)
    (0,)
    """
    return tuple(np.flatnonzero(edges[:, child]).tolist())


def parent_sets_of(edges: Bools) -> list[tuple[int, ...]]:
    """Parents of every variable.

    >>> parent_sets_of(np.array([[False, True], [False, False]]))
    [(), (0,)]
    """
    return [parents_of(edges, child) for child in range(len(edges))]
