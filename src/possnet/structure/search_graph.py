"""The graph while it is searched: which moves keep it acyclic and within the constraints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from possnet.structure.bit_sets import bits_of, list_bits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from possnet.aliases import Bools


@dataclass(frozen=True, slots=True)
class CompiledConstraints:
    """Edges that must be, and edges that may be, as matrices (parent, child), and the most parents of a variable."""

    required: Bools
    allowed: Bools
    max_parents: int


class SearchGraph:
    """A DAG as a matrix (parent, child), with its transitive closure, and the moves that keep it acyclic and allowed.

    Ancestors and descendants are bits of a number for each variable, so that a move costs a few operations for each of
    them; as matrices they are made when they are asked for.

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
        self._parent_bits = [bits_of(parents) for parents in self._parents]
        self._allowed, self._required = _column_bits(constraints.allowed), _column_bits(constraints.required)
        self._close_paths()

    @property
    def reach(self) -> Bools:
        """Whether a directed path leads from the first variable to the second."""
        return _matrix_of(self._below)

    def parents(self, child: int) -> tuple[int, ...]:
        """Parents of a variable, sorted."""
        return self._parents[child]

    def children(self, parent: int) -> list[int]:
        """Children of a variable, sorted."""
        return list_bits(self._children[parent])

    def set_edge(self, parent: int, child: int, *, present: bool) -> None:
        """Add or delete an edge."""
        self.edges[parent, child] = present
        parents = self._parents[child] = parents_of(self.edges, child)
        self._parent_bits[child] = bits_of(parents)
        if not present:
            self._close_paths()
            return
        self._children[parent] |= 1 << child
        above, below = self._above[parent] | 1 << parent, self._below[child] | 1 << child
        for node in list_bits(above):
            self._below[node] |= below
        for node in list_bits(below):
            self._above[node] |= above

    def reverse_edge(self, parent: int, child: int) -> None:
        """Reverse an edge."""
        self.set_edge(parent, child, present=False)
        self.set_edge(child, parent, present=True)

    def addable_parents(self, child: int) -> int:
        """Variables, as bits, that could be added as parents."""
        if len(self._parents[child]) >= self.constraints.max_parents:
            return 0
        return self._allowed[child] & ~(self._parent_bits[child] | self._below[child])

    def is_deletable(self, parent: int, child: int) -> bool:
        """Whether an edge could be deleted."""
        return not self._required[child] >> parent & 1

    def is_reversible(self, parent: int, child: int) -> bool:
        """Whether an edge could be reversed: no other path leads from parent to child."""
        return (
            bool(self._allowed[parent] >> child & 1)
            and not self._required[child] >> parent & 1
            and len(self._parents[parent]) < self.constraints.max_parents
            and not self._children[parent] & self._above[child]
        )

    def may_add(self) -> Bools:
        """Edges (parent, child) that could be added."""
        may: Bools = _matrix_of([self.addable_parents(child) for child in range(len(self._parents))]).T
        return may

    def may_delete(self) -> Bools:
        """Edges that could be deleted."""
        return self.edges & ~self.constraints.required

    def may_reverse(self) -> Bools:
        """Edges that could be reversed."""
        may = np.zeros_like(self.edges)
        for child, parents in enumerate(self._parents):
            for parent in parents:
                may[parent, child] = self.is_reversible(parent, child)
        return may

    def _close_paths(self) -> None:
        """Children, descendants and ancestors of every node."""
        children: list[list[int]] = [[] for _ in self._parents]
        for child, parents in enumerate(self._parents):
            for parent in parents:
                children[parent].append(child)
        self._children = [bits_of(following) for following in children]
        self._below = _collect_below(children)
        self._above = _collect_below(self._parents)


def _column_bits(matrix: Bools) -> list[int]:
    """Every column of a matrix as bits of a number.

    >>> _column_bits(np.array([[False, True], [True, True]]))
    [2, 3]
    """
    return [int.from_bytes(octets, "little") for octets in np.packbits(matrix.T, axis=1, bitorder="little")]


def _matrix_of(rows: list[int]) -> Bools:
    """The matrix whose rows are bits of numbers.

    >>> _matrix_of([2, 3]).astype(int).tolist()
    [[0, 1], [1, 1]]
    """
    size = len(rows)
    length = -(-size // 8)
    octets = np.frombuffer(b"".join(bits.to_bytes(length, "little") for bits in rows), dtype=np.uint8)
    matrix: Bools = np.unpackbits(octets.reshape(size, length), axis=1, count=size, bitorder="little").view(np.bool_)
    return matrix


def _collect_below(children: Sequence[Sequence[int]]) -> list[int]:
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
