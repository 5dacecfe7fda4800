"""Moves that change the parents of one or several variables at once.

Besides ``add``, ``delete`` and ``reverse``, a climb over hidden states needs moves of several edges: a hidden state
explains its children only when all of them depend on it, and a child whose cells are sharper than its parent's looks like
the better parent of its siblings. Each of these moves is one step out of such a trap:

- ``swap``: another variable takes the place of one parent of a child.
- ``exchange``: a child takes the place of its parent: a -> b, a -> c becomes b -> a, b -> c; d -> a stays.
- ``re-root``: the same, and a's own parents become its children.
- ``lift``: all children of a child move up to the parent: a -> b -> c becomes a -> b, a -> c.
- ``sink``: all other children of a parent move down to a child: a -> b, a -> c becomes a -> b -> c.
- ``replace``: a takes the place of those of its children that are parents of c.
- ``fork``: a -> b becomes h -> a, h -> b for a common parent h of both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from possnet.structure.search_graph import parent_sets_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from possnet.aliases import Bools
    from possnet.structure.search_graph import CompiledConstraints


class FamilyMove(NamedTuple):
    """What a move is called, the edge it is named after, and the parents of every variable after it."""

    action: str
    parent: int
    child: int
    families: tuple[tuple[int, ...], ...]

    def changed_from(self, families: tuple[tuple[int, ...], ...]) -> list[int]:
        """The children whose parents are others than before."""
        return [k for k, (old, new) in enumerate(zip(families, self.families, strict=True)) if old != new]


def change_parents(
    families: tuple[tuple[int, ...], ...], action: str, parent: int, child: int, parents: tuple[int, ...]
) -> FamilyMove:
    """The move that gives one child other parents.

    >>> change_parents(((), ()), "add", 0, 1, (0,)).families
    ((), (0,))
    """
    return FamilyMove(action, parent, child, (*families[:child], parents, *families[child + 1 :]))


def list_rearrangements(edges: Bools, hubs: Mapping[tuple[int, int], Iterable[int]]) -> Iterator[FamilyMove]:
    """Moves of several edges around every edge; ``hubs`` are the common parents by which ``fork`` may explain it."""
    for parent, child in np.argwhere(edges).tolist():
        siblings = edges[parent].copy()
        siblings[child] = False
        above = edges[:, parent]
        if siblings.any():
            yield _exchange(edges, parent, child, re_root=False)
            if above.any():
                yield _exchange(edges, parent, child, re_root=True)
            sunk = edges.copy()
            sunk[parent, siblings] = False
            sunk[child, siblings] = True
            yield _to_move("sink", parent, child, sunk)
        elif above.any():
            yield _exchange(edges, parent, child, re_root=True)
        if edges[child].sum() > 1:
            lifted = edges.copy()
            lifted[parent] |= edges[child]
            lifted[child] = False
            yield _to_move("lift", parent, child, lifted)
        for grandchild in np.flatnonzero(edges[child] & ~edges[parent]).tolist():
            replaced = edges.copy()
            replaced[edges[parent], grandchild] = False
            replaced[parent, grandchild] = True
            yield _to_move("replace", parent, grandchild, replaced)
        for hub in hubs[parent, child]:
            if hub not in {parent, child} and not (edges[hub, parent] and edges[hub, child]):
                forked = edges.copy()
                forked[parent, child] = False
                forked[hub, parent] = forked[hub, child] = True
                forked[parent, hub] = forked[child, hub] = False
                yield _to_move("fork", hub, child, forked)


def keeps_constraints(move: FamilyMove, constraints: CompiledConstraints) -> bool:
    """Whether the structure after a move is acyclic and within the constraints."""
    edges = edges_of(move.families)
    within = not (constraints.required & ~edges).any() and not (edges & ~constraints.allowed).any()
    if not within or edges.sum(axis=0).max(initial=0) > constraints.max_parents:
        return False
    return is_acyclic(move.families)


def is_acyclic(families: tuple[tuple[int, ...], ...]) -> bool:
    """Whether no variable is its own ancestor: variables without children among the rest are taken away until none is left.

    >>> is_acyclic(((), (0,), (0, 1))), is_acyclic(((2,), (0,), (1,)))
    (True, False)
    """
    n_children = [0] * len(families)
    for parents in families:
        for parent in parents:
            n_children[parent] += 1
    leaves = [k for k, number in enumerate(n_children) if not number]
    for leaf in leaves:  # grows while it is walked
        for parent in families[leaf]:
            n_children[parent] -= 1
            if not n_children[parent]:
                leaves.append(parent)
    return len(leaves) == len(families)


def edges_of(families: tuple[tuple[int, ...], ...]) -> Bools:
    """The matrix (parent, child) of the parents of every variable.

    >>> edges_of(((), (0,))).astype(int).tolist()
    [[0, 1], [0, 0]]
    """
    edges = np.zeros((len(families), len(families)), dtype=np.bool_)
    for child, parents in enumerate(families):
        edges[list(parents), child] = True
    return edges


def _exchange(edges: Bools, parent: int, child: int, *, re_root: bool) -> FamilyMove:
    """The child takes the place of its parent."""
    changed = edges.copy()
    changed[parent] = False
    changed[child] |= edges[parent]
    changed[child, child] = False
    if re_root:
        changed[parent] |= edges[:, parent]
        changed[:, parent] = False
    changed[child, parent] = True
    return _to_move("re-root" if re_root else "exchange", parent, child, changed)


def _to_move(action: str, parent: int, child: int, edges: Bools) -> FamilyMove:
    return FamilyMove(action, parent, child, tuple(parent_sets_of(edges)))
