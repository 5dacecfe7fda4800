"""The graph while it is searched: which moves keep it acyclic and within the constraints."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from possnet.structure.bit_sets import bits_of, list_bits

if TYPE_CHECKING:
    from possnet.aliases import Bools


@dataclass(frozen=True)
class CompiledConstraints:
    """Edges that must be, and edges that may be, as matrices (parent, child), and the most parents of a variable."""

    required: Bools
    allowed: Bools
    max_parents: int

    @cached_property
    def required_bits(self) -> list[int]:
        """For every child the parents that it must have."""
        return column_bits(self.required)

    @cached_property
    def allowed_bits(self) -> list[int]:
        """For every child the parents that it may have."""
        return column_bits(self.allowed)


class SearchGraph:
    """A DAG as a matrix (parent, child), with its transitive closure, and the moves that keep it acyclic and allowed.

    Ancestors and descendants are bits of a number for each variable, so that a move costs a few operations for each of
    them; as matrices they are made when they are asked for.

    >>> graph = SearchGraph(CompiledConstraints(np.zeros((3, 3), bool), ~np.eye(3, dtype=bool), 2))
    >>> graph.set_edge(0, 1, present=True)
    0
    >>> graph.may_add().astype(int).tolist()
    [[0, 0, 1], [0, 0, 1], [1, 1, 0]]
    >>> graph.parents(1), graph.may_reverse().astype(int).tolist()
    ((0,), [[0, 1, 0], [0, 0, 0], [0, 0, 0]])
    """

    def __init__(self, constraints: CompiledConstraints, edges: Bools | None = None) -> None:
        self.constraints = constraints
        self.edges: Bools = (constraints.required if edges is None else edges).copy()
        self._parent_bits, self._children = column_bits(self.edges), column_bits(self.edges.T)
        self._parents = [tuple(list_bits(bits)) for bits in self._parent_bits]
        self._allowed, self._required = constraints.allowed_bits, constraints.required_bits
        self._below = _collect_reached(self._children)

    @cached_property
    def _above(self) -> list[int]:
        """For every variable its ancestors; needed once an edge is moved."""
        return _collect_reached(self._parent_bits)

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

    def set_edge(self, parent: int, child: int, *, present: bool) -> int:
        """Add or delete an edge; the variables, as bits, to or from which moves may be possible that were not."""
        above, below = self._above[parent] | 1 << parent, self._below[child] | 1 << child
        self.edges[parent, child] = present
        rest = [k for k in self._parents[child] if k != parent]
        parents = self._parents[child] = tuple(sorted([*rest, parent]) if present else rest)
        self._parent_bits[child] = bits_of(parents)
        if present:
            self._children[parent] |= 1 << child
            for node in list_bits(above):
                self._below[node] |= below
            for node in list_bits(below):
                self._above[node] |= above
            return 0
        self._children[parent] &= ~(1 << child)
        _reach_again(above, self._children, self._below)
        _reach_again(below, self._parent_bits, self._above)
        return above | below

    def reverse_edge(self, parent: int, child: int) -> int:
        """Reverse an edge; the variables, as bits, to or from which moves may be possible that were not."""
        freed = self.set_edge(parent, child, present=False)
        self.set_edge(child, parent, present=True)
        return freed

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


def column_bits(matrix: Bools) -> list[int]:
    """Every column of a matrix as bits of a number.

    >>> column_bits(np.array([[False, True], [True, True]]))
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


def _collect_reached(following: list[int]) -> list[int]:
    """What is reached from every node of an acyclic graph, as bits, from the nodes that follow it.

    >>> [format(bits, "03b") for bits in _collect_reached([0b000, 0b100, 0b001])]
    ['000', '101', '001']
    """
    listed = [list_bits(bits) for bits in following]
    n_before = [0] * len(following)
    for after in listed:
        for k in after:
            n_before[k] += 1
    order = [node for node, number in enumerate(n_before) if not number]
    for node in order:  # grows while it is walked
        for k in listed[node]:
            n_before[k] -= 1
            if not n_before[k]:
                order.append(k)
    reached = [0] * len(following)
    for node in reversed(order):
        reached[node] = _reach(node, following, reached)
    return reached


def _reach(node: int, following: list[int], reached: list[int]) -> int:
    bits = following[node]
    for k in list_bits(bits):
        bits |= reached[k]
    return bits


def _reach_again(nodes: int, following: list[int], reached: list[int]) -> None:
    """What some nodes reach after an edge was deleted, those that reached least first: they follow the others.

    >>> reached = [0b110, 0b100, 0b000]
    >>> _reach_again(0b011, [0b010, 0b000, 0b000], reached)
    >>> reached
    [2, 0, 0]
    """
    for node in sorted(list_bits(nodes), key=lambda k: reached[k].bit_count()):
        reached[node] = _reach(node, following, reached)


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
    return [tuple(list_bits(bits)) for bits in column_bits(edges)]
