"""Grow-shrink trees: the parents of one variable among those before it in an order, every step kept.

Parents are grown from the required ones, the best addition first while the score rises, then shrunk, the worst first
(Margaritis and Thrun 1999). For another order the same steps are mostly made again: the sets of parents that were grown
are nodes of a tree, each with its additions sorted by score, so that following a path costs no scoring (Andrews, Ramsey,
Sanchez Romero, Camchong and Kummerfeld 2023). Growing is greedy and misses parents that pay only together. Therefore every
family that ended a path, or that another search comes to, is kept, and an answer is the best family known that the order
allows.
"""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from possnet.structure.bit_sets import bits_of
from possnet.structure.hill_climbing import rounding_of
from possnet.structure.search_graph import parents_of

if TYPE_CHECKING:
    from possnet.structure.hill_climbing import FamilyScorer
    from possnet.structure.search_graph import CompiledConstraints
# Families of equal score tie, and the first in the order of the columns is taken; by the last bits of the scores, which are
# differences of large sums, it would be any.
_DIGITS: Final = 6


@dataclass(slots=True)
class _Node:
    """Parents that were grown: their score, the additions that raise it, best first, and whether it was shrunk."""

    parents: tuple[int, ...]
    score: float
    additions: list[int] | None = None
    shrunk: bool = False


class GrowShrinkTree:
    """Parents of one variable by a decomposable score. Sets of variables are bits of a number.

    >>> import possnet as pn
    >>> from possnet.structure.coded_rows import CodedRows
    >>> from possnet.structure.decomposable_scores import DecomposableScore
    >>> from possnet.structure.search_graph import CompiledConstraints
    >>> data = pn.Dataset.from_table({"a": ["x", "y"] * 50, "b": ["u", "v"] * 50})
    >>> free = CompiledConstraints(np.zeros((2, 2), bool), ~np.eye(2, dtype=bool), 1)
    >>> tree = GrowShrinkTree(DecomposableScore(CodedRows(data)), 1, free)
    >>> [parents for _, parents in (tree.best_family(0b00), tree.best_family(0b01))]
    [(), (0,)]
    """

    def __init__(self, score: FamilyScorer, child: int, constraints: CompiledConstraints) -> None:
        self._score, self._child = score, child
        self._allowed = constraints.allowed[:, child]
        self._most = constraints.max_parents
        self._required = parents_of(constraints.required, child)
        self._root = bits_of(self._required)
        self._nodes: dict[int, _Node] = {}
        self._families: list[tuple[float, int, tuple[int, ...], float]] = []  # -score rounded, bits, parents, score
        self._known: set[int] = set()
        self._relevant = 0  # variables on which an answer may depend
        self._answers: dict[int, tuple[float, tuple[int, ...]]] = {}

    def best_family(self, before: int) -> tuple[float, tuple[int, ...]]:
        """Score and parents of the best family known whose parents are required or among ``before``."""
        before |= self._root
        answer = self._answers.get(before & self._relevant)
        if answer is None:
            self._follow_path(before)
            answer = next((score, parents) for _, bits, parents, score in self._families if bits & before == bits)
            self._answers[before & self._relevant] = answer
        return answer

    def keep_family(self, score: float, parents: tuple[int, ...]) -> None:
        """Keep a family that keeps the constraints, for orders that allow it."""
        bits = bits_of(parents)
        if bits not in self._known:
            self._known.add(bits)
            insort(self._families, (round(-score, _DIGITS), bits, parents, score))
            self._relevant |= bits
            self._answers.clear()

    def _follow_path(self, before: int) -> None:
        """Grow the parents along a path of the tree, which is extended where it ends, and shrink them."""
        bits, parents = self._root, self._required
        while True:
            node = self._nodes.get(bits)
            if node is None:
                node = self._nodes[bits] = _Node(parents, self._score.score_family(self._child, parents))
            if node.additions is None:
                node.additions = self._list_additions(node)
            addition = next((k for k in node.additions if before >> k & 1), None)
            if addition is None:
                break
            bits |= 1 << addition
            parents = tuple(sorted((*node.parents, addition)))
        if not node.shrunk:
            node.shrunk = True
            self.keep_family(*self._shrink_parents(node))

    def _list_additions(self, node: _Node) -> list[int]:
        """Variables that raise the score as one more parent, best first."""
        if len(node.parents) >= self._most:
            return []
        scores = np.where(self._allowed, self._score.score_additions(self._child, node.parents), -np.inf)
        raising = np.flatnonzero(scores > node.score + rounding_of(node.score))
        self._relevant |= bits_of(raising.tolist())
        best_first: list[int] = raising[np.argsort(-scores[raising].round(_DIGITS), kind="stable")].tolist()
        return best_first

    def _shrink_parents(self, node: _Node) -> tuple[float, tuple[int, ...]]:
        """Score and parents after deleting parents, the worst first, while the score rises."""
        score, parents = node.score, node.parents
        while True:
            smaller = [tuple(p for p in parents if p != k) for k in parents if k not in self._required]
            scores = [self._score.score_family(self._child, rest) for rest in smaller]
            if not scores or max(scores) <= score + rounding_of(score):
                return score, parents
            score = max(scores)
            parents = smaller[scores.index(score)]
