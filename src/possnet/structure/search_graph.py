"""The graph while it is searched: which moves keep it acyclic and within the constraints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from possnet.aliases import Bools, Ints


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
        self._parents = parent_sets_of(self.edges)
        self._close_paths()

    def parents(self, child: int) -> tuple[int, ...]:
        """Parents of a variable, sorted."""
        return self._parents[child]

    def set_edge(self, parent: int, child: int, *, present: bool) -> None:
        """Add or delete an edge."""
        self.edges[parent, child] = present
        self._parents[child] = parents_of(self.edges, child)
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
        may: Bools = self.constraints.allowed & ~(self.edges | self.reach.T)
        full = self._list_full()
        if full:
            may[:, full] = False
        return may

    def may_delete(self) -> Bools:
        """Edges that could be deleted."""
        return self.edges & ~self.constraints.required

    def may_reverse(self) -> Bools:
        """Edges that could be reversed: no other path leads from parent to child."""
        allowed = np.zeros_like(self.edges)
        parents, children = np.nonzero(self.edges)
        allowed[parents, children] = self.turnable(parents, children)
        return allowed

    def turnable(self, parents: Ints, children: Ints) -> Bools:
        """Which of some edges could be reversed."""
        detour = (self.edges[parents] & self.reach.T[children]).any(axis=1)
        bound = self.constraints
        turnable: Bools = bound.allowed[children, parents] & ~(bound.required[parents, children] | detour)
        full = self._list_full()
        return turnable & ~np.isin(parents, full) if full else turnable

    def _list_full(self) -> list[int]:
        """Variables that may have no further parent."""
        most = self.constraints.max_parents
        if most >= len(self._parents) - 1:
            return []
        return [child for child, parents in enumerate(self._parents) if len(parents) >= most]

    def _close_paths(self) -> None:
        """Descendants of every node, as bits of a number, from those of its children."""
        size = len(self.edges)
        children: list[list[int]] = [[] for _ in range(size)]
        for child, parents in enumerate(self._parents):
            for parent in parents:
                children[parent].append(child)
        length = -(-size // 8)
        below = b"".join(bits.to_bytes(length, "little") for bits in _collect_below(children))
        octets = np.frombuffer(below, dtype=np.uint8).reshape(size, length)
        self.reach: Bools = np.unpackbits(octets, axis=1, count=size, bitorder="little").view(np.bool_)


def _collect_below(children: list[list[int]]) -> list[int]:
    """Descendants of every node of an acyclic graph, as bits of a number.

    >>> [format(bits, "03b") for bits in _collect_below([[], [2], [0]])]
    ['000', '101', '001']
    """
    n_parents = [0] * len(children)
    for following in children:
        for child in following:
            n_parents[child] += 1
    order = [node for node, number in enumerate(n_parents) if not number]
    for node in order:  # grows while it is walked
        for child in children[node]:
            n_parents[child] -= 1
            if not n_parents[child]:
                order.append(child)
    below = [0] * len(children)
    for node in reversed(order):
        for child in children[node]:
            below[node] |= below[child] | 1 << child
    return below


def parents_of(edges: Bools, child: int) -> tuple[int, ...]:
    """Parents of a variable in a matrix (parent, child), sorted.

    >>> parents_of(np.array([[False, True], [False, False]]), 1)
    (0,)
    """
    return tuple(edges[:, child].nonzero()[0].tolist())


def parent_sets_of(edges: Bools) -> list[tuple[int, ...]]:
    """Parents of every variable.

    >>> parent_sets_of(np.array([[False, True], [False, False]]))
    [(), (0,)]
    """
    parents: list[list[int]] = [[] for _ in range(len(edges))]
    for parent, child in np.argwhere(edges).tolist():
        parents[child].append(parent)
    return [tuple(chosen) for chosen in parents]
