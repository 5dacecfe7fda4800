"""Maximum-weight spanning trees (Chow and Liu 1968; Kruskal 1956), and the choice of their roots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from possnet.errors import InputError
from possnet.structure.search_result import MoveRecord, SearchResult

if TYPE_CHECKING:
    from possnet.aliases import Floats
    from possnet.structure.search_graph import CompiledConstraints

_ROUNDING: Final = 1e-9  # relative: weights that differ by less are equal


def spanning_tree(
    weights: Floats, constraints: CompiledConstraints, threshold: float, names: list[str], base: float = 0.0
) -> SearchResult:
    """The heaviest spanning forest of the pairs above the threshold, each tree directed from the root that weighs most.

    ``weights`` are (parent, child); a pair has the larger of its two. Required pairs come first; every tree has the first
    root, among those that break no constraint, with the largest sum of directed weights. The value of an edge is its
    directed weight; the score of the forest is ``base`` plus their sum.

    >>> from possnet.structure.search_graph import CompiledConstraints
    >>> free = CompiledConstraints(np.zeros((3, 3), bool), ~np.eye(3, dtype=bool), 2)
    >>> result = spanning_tree(np.array([[0, 3, 1], [3, 0, 2], [1, 2, 0]]), free, 0.0, ["a", "b", "c"])
    >>> np.argwhere(result.edges).tolist(), result.score, result.gains["add", 0, 2]
    ([[0, 1], [1, 2]], 5.0, -1.0)
    """
    size = len(weights)
    edges = np.zeros((size, size), dtype=np.bool_)
    if constraints.max_parents < 1:
        return SearchResult(edges, base, [])
    weight = np.maximum(weights, weights.T).astype(np.float64)
    possible = constraints.allowed | constraints.allowed.T
    required = constraints.required | constraints.required.T
    first, second = np.triu_indices(size, 1)
    pairs = sorted(
        zip(first.tolist(), second.tolist(), strict=True), key=lambda pair: (not required[pair], -weight[pair], pair)
    )
    trees = list(range(size))
    near: list[list[int]] = [[] for _ in range(size)]
    tree_edges: list[tuple[int, int]] = []
    for a, b in pairs:
        if trees[a] == trees[b]:
            if required[a, b]:
                raise InputError(
                    f"learn_structure: required edges close a cycle at {names[a]!r} - {names[b]!r}; expected a tree"
                )
            continue
        if required[a, b] or (possible[a, b] and weight[a, b] > threshold):
            old, new = trees[b], trees[a]
            trees = [new if tree == old else tree for tree in trees]
            near[a].append(b)
            near[b].append(a)
            tree_edges.append((a, b))
    for tree in dict.fromkeys(trees):
        members = [k for k in range(size) if trees[k] == tree]
        for parent, child in _orient_from_best_root(members, near, weights, constraints, names):
            edges[parent, child] = True
    result = SearchResult(edges, base, [])
    others = np.where(possible & ~required, weight, -np.inf)
    for a, b in tree_edges:
        parent, child = (a, b) if edges[a, b] else (b, a)
        gain = float(weights[parent, child])
        result.score += gain
        ties = () if required[a, b] else tuple(("add", *pair) for pair in _tied_pairs(a, b, others, near))
        result.moves.append(MoveRecord("add", parent, child, gain, result.score, ties))
        result.gains["delete", parent, child] = -gain
    weakest = _weakest_edges(np.where(required, np.inf, weight), near)  # what is required cannot be replaced
    for a, b in pairs:
        lacking = weakest[a, b] if trees[a] == trees[b] else 0.0
        if (a, b) not in tree_edges and possible[a, b] and np.isfinite(weight[a, b] - lacking):
            parent, child = _heavier_direction(a, b, weights, constraints)
            result.gains["add", parent, child] = float(weight[a, b] - lacking)
    return result


def _orient_from_best_root(
    members: list[int], near: list[list[int]], weights: Floats, constraints: CompiledConstraints, names: list[str]
) -> list[tuple[int, int]]:
    """Edges of a tree, directed away from its best root."""
    best: tuple[float, list[tuple[int, int]]] | None = None
    for root in members:
        arrows = _edges_from(root, near)
        if any(not constraints.allowed[arrow] or constraints.required[arrow[::-1]] for arrow in arrows):
            continue
        total = float(sum(weights[arrow] for arrow in arrows))
        if best is None or total > best[0] + _ROUNDING * max(abs(best[0]), 1.0):
            best = total, arrows
    if best is None:
        raise InputError(
            f"learn_structure: no root of the tree around {names[members[0]]!r} keeps all constraints; expected "
            "constraints that a tree can keep, or another method"
        )
    return best[1]


def _edges_from(root: int, near: list[list[int]], parent: int = -1) -> list[tuple[int, int]]:
    """Edges of a tree, directed away from a root; without the part on the side of its parent."""
    arrows: list[tuple[int, int]] = []
    waiting = [(root, parent)]
    while waiting:
        node, parent = waiting.pop(0)
        for other in near[node]:
            if other != parent:
                arrows.append((node, other))
                waiting.append((other, node))
    return arrows


def _tied_pairs(a: int, b: int, weight: Floats, near: list[list[int]]) -> list[tuple[int, int]]:
    """Pairs that weigh the same as an edge and connect the two parts that the tree falls into without it."""
    beyond = np.zeros(len(weight), dtype=np.bool_)
    beyond[[b, *(child for _, child in _edges_from(b, near, parent=a))]] = True
    same = np.abs(weight - weight[a, b]) <= _ROUNDING * max(abs(weight[a, b]), 1.0)
    same[a, b] = same[b, a] = False
    return [(a, b) for a, b in np.argwhere(np.triu(same & (beyond[:, np.newaxis] != beyond), 1)).tolist()]


def _heavier_direction(a: int, b: int, weights: Floats, constraints: CompiledConstraints) -> tuple[int, int]:
    """The direction of a pair that weighs more, of those allowed."""
    forward, back = constraints.allowed[a, b], constraints.allowed[b, a]
    return (b, a) if back and (not forward or weights[b, a] > weights[a, b]) else (a, b)


def _weakest_edges(weight: Floats, near: list[list[int]]) -> Floats:
    """Weight of the weakest edge on the path between every two variables of a tree."""
    weakest = np.full(weight.shape, np.inf)
    for root in range(len(weight)):
        for parent, child in _edges_from(root, near):
            weakest[root, child] = min(weakest[root, parent], weight[parent, child])
    return weakest
