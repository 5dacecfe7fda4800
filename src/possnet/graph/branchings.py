"""The heaviest branching of a directed graph with weights (Chu and Liu 1965; Edmonds 1967)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from possnet.aliases import Floats, Ints


def heaviest_branching(weights: Floats) -> Ints:
    """The parent of every node in the branching (a forest directed away from its roots) of largest total weight.

    ``weights`` are (parent, child), -inf where there is no edge; edges of weight 0 or less are left out. Roots have the
    parent -1. Of edges that weigh the same, the one from the first node is taken.

    An extra root with an edge of weight 0 to every node makes the branching an arborescence: every node takes its heaviest
    incoming edge; a cycle is contracted to one node, whose incoming edges weigh what they gain over the edge of the cycle
    that they replace; and so on until there is no cycle.

    >>> heaviest_branching(np.array([[0, 3, 1], [4, 0, 2], [0, 0, 0]]))
    array([ 1, -1,  1])
    """
    size = len(weights)
    padded = np.full((size + 1, size + 1), -np.inf)
    padded[1:, 1:] = np.where(weights > 0.0, weights, -np.inf)
    padded[0, 1:] = 0.0
    np.fill_diagonal(padded, -np.inf)
    parents = _heaviest_arborescence(padded)
    return parents[1:] - 1


def _heaviest_arborescence(weights: Floats) -> Ints:
    """The parent of every node in the heaviest arborescence from node 0, which reaches all others; 0 is its own."""
    size = len(weights)
    parents: Ints = weights.argmax(axis=0)
    parents[0] = 0
    cycle = _find_cycle(parents)
    if not cycle:
        return parents
    inside = np.zeros(size, dtype=np.bool_)
    inside[cycle] = True
    outside = np.flatnonzero(~inside)  # the contracted cycle comes last
    members = np.flatnonzero(inside)
    gained = weights[np.ix_(outside, members)] - weights[parents[members], members]
    leaving = weights[np.ix_(members, outside)]
    contracted = np.full((len(outside) + 1, len(outside) + 1), -np.inf)
    contracted[:-1, :-1] = weights[np.ix_(outside, outside)]
    contracted[:-1, -1], contracted[-1, :-1] = gained.max(axis=1), leaving.max(axis=0)
    chosen = _heaviest_arborescence(contracted)
    for place, node in enumerate(outside.tolist()):
        above = int(chosen[place])
        parents[node] = members[leaving[:, place].argmax()] if above == len(outside) else outside[above]
    entering = int(chosen[-1])  # breaks the cycle at the member that gains most
    parents[members[gained[entering].argmax()]] = outside[entering]
    return parents


def _find_cycle(parents: Ints) -> list[int]:
    """The nodes of a cycle that does not hold node 0; empty if there is none."""
    checked = np.zeros(len(parents), dtype=np.bool_)
    checked[0] = True
    for start in range(1, len(parents)):
        path: list[int] = []
        node = start
        while not checked[node]:
            checked[node] = True
            path.append(node)
            node = int(parents[node])
        if node in path:
            return path[path.index(node) :]
    return []
